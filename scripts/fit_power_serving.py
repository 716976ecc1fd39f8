"""Fit the power of serving language models; errors are of whole models, and of whole chips, left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from fit_robust import parameters
from numpy.typing import NDArray

from energy.power.serving import CORE, FAMILIES, Serving, fraction, joined, loads, traits
from energy.validation.serving_rows import NEEDED, kind_of, measured_w, work_of
from energy.validation.statistics import read_rows

Floats = NDArray[np.float64]
START = dict(zip(CORE, np.log([1.5, 1.5, 1.5, 3.0, 3.0, 0.7, 0.7]), strict=True))
PULL_CORE, PULL_BASE, PULL_TERM = 3.0, 5.0, 1.0  # in rows

# part of the name: layers, key-value bytes of a token in 16 bits, experts, active ones, active parameters where the
# measurements leave them out. From published configurations, recalled; windows count by their share of the layers.
SHAPES: dict[str, tuple[int, int, int, int, float | None]] = {
    "Qwen3-Coder-480B": (62, 253952, 160, 8, None),
    "Qwen3-235B": (94, 192512, 128, 8, None),
    "Qwen3-VL-235B": (94, 192512, 128, 8, None),
    "30B-A3B": (48, 98304, 128, 8, None),
    "Qwen3-14B": (40, 163840, 0, 0, None),
    "Qwen3-32B": (64, 262144, 0, 0, None),
    "Qwen3-VL-32B": (64, 262144, 0, 0, None),
    "starcoder2-15b": (40, 81920, 0, 0, None),
    "starcoder2-7b": (32, 65536, 0, 0, None),
    "starcoder2-3b": (30, 30720, 0, 0, None),
    "CodeLlama-7b": (32, 524288, 0, 0, None),
    "CodeLlama-13b": (40, 819200, 0, 0, None),
    "CodeLlama-34b": (48, 196608, 0, 0, None),
    "DeepSeek-R1": (61, 70272, 256, 8, None),
    "DeepSeek-V3": (61, 70272, 256, 8, None),
    "chameleon-7b": (32, 524288, 0, 0, None),
    "chameleon-30b": (48, 196608, 0, 0, None),
    "codegemma-1.1-2b": (18, 18432, 0, 0, None),
    "codegemma-7b": (28, 458752, 0, 0, None),
    "gemma-2-27b": (46, 376832, 0, 0, None),
    "gemma-2-9b": (42, 344064, 0, 0, None),
    "gemma-2-2b": (26, 106496, 0, 0, None),
    "gemma-3-12b": (48, 98304, 0, 0, None),
    "gemma-3-27b": (62, 126976, 0, 0, None),
    "llava-1.5-7b": (32, 524288, 0, 0, None),
    "llava-1.5-13b": (40, 819200, 0, 0, None),
    "llava-next-8b": (32, 131072, 0, 0, None),
    "Llama-3.1-8B": (32, 131072, 0, 0, None),
    "Llama-3.1-70B": (80, 327680, 0, 0, None),
    "Llama-3.3-70B": (80, 327680, 0, 0, None),
    "Llama-3.1-405B": (126, 516096, 0, 0, None),
    "Llama-4-Maverick": (48, 196608, 128, 1, None),
    "Llama-4-Scout": (48, 196608, 16, 1, None),
    "Phi-3-mini": (32, 393216, 0, 0, None),
    "Phi-3-vision": (32, 393216, 0, 0, None),
    "Phi-3-medium": (40, 204800, 0, 0, None),
    "Mistral-7B": (32, 131072, 0, 0, None),
    "Mistral-Nemo": (40, 163840, 0, 0, None),
    "Mixtral-8x7B": (32, 131072, 8, 2, 13.0),
    "Mixtral-8x22B": (56, 229376, 8, 2, 39.0),
    "Nemotron-Nano-12B": (62, 24576, 0, 0, None),
    "gpt-oss-120b": (36, 36864, 128, 4, None),
    "gpt-oss-20b": (24, 24576, 32, 4, None),
}


def models() -> list[dict[str, Any]]:
    """Return the shapes of the models."""
    names = ("layers", "kv_bytes_per_token", "experts", "experts_active", "params_active_b")
    return [
        {
            "name_part": part,
            **{name: "" if value is None else value for name, value in zip(names, shape, strict=True)},
            "source": "recalled",
            "status": "estimate",
        }
        for part, shape in SHAPES.items()
    ]


def _fit(work: Serving, log_fraction: Floats, excluded: frozenset[str] = frozenset()) -> dict[str, float]:
    load, trait = loads(work, excluded=excluded), traits(work, excluded=excluded)
    names = [*CORE, *trait]
    start = np.array([START.get(name, 0.0) for name in names])
    pull = np.array(
        [PULL_CORE if name in CORE else PULL_BASE if name.startswith("base ") else PULL_TERM for name in names]
    )
    pull[0] = PULL_BASE

    def ratio(theta: Floats) -> Floats:
        return np.log(fraction(dict(zip(names, theta, strict=True)), load, trait)) - log_fraction

    theta = parameters(ratio, start, pull)
    return {name: float(f"{value:.5g}") for name, value in zip(names, theta, strict=True)}


def _predicted(values: dict[str, float], work: Serving, excluded: frozenset[str] = frozenset()) -> Floats:
    found = fraction(values, loads(work, excluded=excluded), traits(work, excluded=excluded))
    return np.asarray(np.log(found), dtype=np.float64)


def _left_out(work: Serving, target: Floats, labels: NDArray[Any]) -> Floats:
    errors = np.empty(len(target))
    for label in np.unique(labels):
        test = labels == label
        errors[test] = _predicted(_fit(work[~test], target[~test]), work[test]) - target[test]
    return errors


def fit(path: Path) -> tuple[list[dict[str, Any]], dict[int, Floats]]:
    """Return the rows of ``power_serving`` and the errors on chips left out, by the distance of the kin."""
    rows = read_rows(path, NEEDED)
    work = joined([work_of(row)[0] for row in rows])
    watts = np.array([measured_w(row) for row in rows], dtype=np.float64)
    target = np.log(watts / loads(work)["limit_w"])
    model = np.array([row["model"] for row in rows])
    kind = np.array([kind_of(row) for row in rows])
    dense = kind == "dense"
    newer = np.array([not row["dataset"].endswith("v2") for row in rows])
    errors = _left_out(work, target, model)
    values = _fit(work, target)
    size, relative = np.abs(errors), np.abs(np.expm1(errors))
    values |= {
        "band80_ln": round(float(np.quantile(size, 0.8)), 4),
        "band95_ln": round(float(np.quantile(size, 0.95)), 4),
        "left_out_mape all": round(float(relative.mean()), 4),
        "left_out_mape dense": round(float(relative[dense].mean()), 4),
        "left_out_mape mixture": round(float(relative[kind == "mixture"].mean()), 4),
        "left_out_mape hybrid": round(float(relative[kind == "hybrid"].mean()), 4),
        "left_out_mape dense version 3": round(float(relative[dense & newer].mean()), 4),
        "left_out_bias all": round(float(np.expm1(errors).mean()), 4),
    }
    print({name: value for name, value in values.items() if "_" in name}, file=sys.stderr)
    own = np.abs(np.expm1(_predicted(_fit(work, target), work) - target))
    print(f"in the fit: {own.mean():.4f}, dense {own[dense].mean():.4f}", file=sys.stderr)
    terms = [
        {"term": name, "value": value, "source": "mlenergy", "status": "derived"} for name, value in values.items()
    ]
    return terms, _chips_left_out(work, target)


def _chips_left_out(work: Serving, target: Floats) -> dict[int, Floats]:
    found: dict[int, list[Floats]] = {}
    for chip_id in FAMILIES.values():
        test, excluded = work.chip == chip_id, frozenset({chip_id})
        values = _fit(work[~test], target[~test], excluded)
        errors = _predicted(values, work[test], excluded) - target[test]
        step = int(loads(work[test], excluded=excluded)["kin_step"][0])
        found.setdefault(step, []).append(errors)
        print(f"{chip_id} left out, kin {step}: {np.abs(np.expm1(errors)).mean():.3f}", file=sys.stderr)
    return {step: np.concatenate(parts) for step, parts in found.items()}
