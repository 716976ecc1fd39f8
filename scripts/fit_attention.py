"""Fit the time of attention: six physical parameters and a correction per chip, kind of kernel and format."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from fit_robust import correction, groups, parameters, penalty, screened, summary
from numpy.typing import NDArray

from energy.cost.kernels import attention
from energy.cost.kernels.coefficients import (
    PRECISIONS,
    bandwidth_bytes_per_s,
    kernel_chip,
    measured_names,
    peak_flop_per_s,
)

Floats = NDArray[np.float64]
NAMES = {"bfloat16": "bf16", "fp8": "fp8"}
START = np.log([8.0, 0.6, 100.0, 1.0, 0.85, 3.0])
START[3] = 0.0
PULL = np.array([0.0, 5.0, 10.0, 5.0, 10.0, 20.0])
# A kernel for groups of up to 16 heads and another beyond: no smoothness across them is asked for.
STIFF = {
    "context": penalty(attention.GRIDS["context"], (0.3, 0.3, 0.3), 0.05),
    "generation": penalty(attention.GRIDS["generation"], (0.3, 0.3, 0.02), 0.02),
}
FOLDS = 5
KEY = ("chip", "op", "attn_dtype", "kv_cache_dtype", "head_dim")
# Rows of these frameworks print bandwidths above that of the chip for caches that exceed the L2 (README of the data).
SUSPECT_FRAMEWORK = "trtllm"


def load(folder: Path) -> dict[tuple[Any, ...], dict[str, NDArray[Any]]]:
    """Return the measured kernels by chip, operation, formats, width of a head and whether there is a window."""
    table = pq.read_table(folder / "attention_latency_power.parquet").to_pydict()
    columns = {name: np.array(values) for name, values in table.items()}
    columns["windowed"] = columns["window_size"] > 0
    labels = np.array(["|".join(str(part) for part in parts) for parts in zip(*(columns[k] for k in KEY), strict=True)])
    labels = np.char.add(labels, np.where(columns["windowed"], "|w", "|f"))
    result = {}
    for label in np.unique(labels):
        rows = labels == label
        part = {name: values[rows] for name, values in columns.items()}
        chip_id = measured_names()[str(part["chip"][0])]
        operation = str(part["op"][0]).removesuffix("_attention")
        formats = (NAMES[str(part["attn_dtype"][0])], NAMES[str(part["kv_cache_dtype"][0])])
        result[chip_id, operation, *formats, int(part["head_dim"][0]), bool(part["windowed"][0])] = part
    return result


def shape_of(rows: dict[str, NDArray[Any]]) -> attention.AttentionShape:
    """Return the shapes of measured rows; ``step`` tokens are in the cache before the input."""
    names = ("batch_size", "num_heads", "num_key_value_heads", "head_dim", "input_len")
    return attention.attention_shape(
        *(rows[name] for name in names), rows["input_len"] + rows["step"], window=rows["window_size"]
    )


def _parameters(theta: Floats, key: tuple[Any, ...]) -> attention.AttentionParameters:
    chip = kernel_chip(key[0])
    values = dict(zip(attention.FITTED, (float(one) for one in np.exp(theta)), strict=True))
    values["quantisation"] = float(1 / (1 + np.exp(-theta[3])))
    assert chip.compute_units is not None
    assert chip.cache_bytes is not None
    return attention.AttentionParameters(
        **values,
        peak_flop_per_s=peak_flop_per_s(chip, key[2]),
        bandwidth_bytes_per_s=bandwidth_bytes_per_s(chip),
        compute_units=chip.compute_units,
        input_bytes=PRECISIONS[key[2]].output_bytes,
        cache_bytes_per_value=PRECISIONS[key[3]].input_bytes,
        on_chip_bytes=chip.cache_bytes,
    )


def suspect(key: tuple[Any, ...], rows: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Return the rows of one query over a cache beyond the L2 whose bandwidth exceeds that of the chip."""
    chip, shape = kernel_chip(key[0]), shape_of(rows)
    if key[1] != "generation" or not str(rows["framework"][0]).startswith(SUSPECT_FRAMEWORK):
        return np.zeros(len(rows["step"]), dtype=bool)
    read = 2 * shape.batch * shape.kv_heads * shape.query_dim * shape.keys_per_query * PRECISIONS[key[3]].input_bytes
    assert chip.cache_bytes is not None
    return np.asarray(read > chip.cache_bytes)


def fit(key: tuple[Any, ...], rows: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the row of one kind of kernel."""
    operation, grid = key[1], attention.GRIDS[key[1]]
    shape, measured = shape_of(rows), np.log(rows["latency_ms"] * 1e-3)
    sizes = attention.coordinates(operation, shape)
    start = START.copy()
    start[0] = np.log(rows["latency_ms"].min() * 900)

    def ratio_of(theta: Floats) -> Floats:
        return np.log(attention.PRIORS[operation](_parameters(theta, key), shape)) - measured

    axes = [rows[name] for name in ("batch_size", "input_len", "num_heads", "num_key_value_heads")]
    axes[1] = axes[1] + rows["step"]
    doubtful = suspect(key, rows)
    clean = ~screened(ratio_of(start), axes) & ~doubtful

    def clean_ratio(theta: Floats) -> Floats:
        return ratio_of(theta)[clean]

    theta = parameters(clean_ratio, start, PULL)
    rounded = {name: float(f"{getattr(_parameters(theta, key), name):.4g}") for name in attention.FITTED}
    own = replace(_parameters(theta, key), **rounded)
    ratio = measured - np.log(attention.PRIORS[operation](own, shape))
    # Whole layouts of heads and whole lengths are left out in turn.
    heads = groups(rows["num_heads"] * 1000 + rows["num_key_value_heads"], FOLDS)
    lengths = groups(rows["input_len"] + rows["step"], FOLDS)
    errors = np.concatenate([_held_out(key, sizes, ratio, clean, folds)[~doubtful] for folds in (heads, lengths)])
    values = correction(grid, [size[clean] for size in sizes], ratio[clean], STIFF[operation])
    found = summary(errors)
    print(*key, len(ratio), f"prior {np.median(np.abs(np.expm1(ratio))):.3f}", found, file=sys.stderr, flush=True)
    note = str(rows["framework"][0])
    if doubtful.any():
        note += f"; {int(doubtful.sum())} rows beyond the L2 exceed the bandwidth: left out of fit and errors"
    return {
        **dict(zip(("chip_id", "operation", "precision", "kv_precision", "head_dim"), key, strict=False)),
        "windowed": "true" if key[5] else "false",
        **rounded,
        "rows": len(ratio),
        "screened": int((~clean).sum()),
        **found,
        "ln_ratio_permille": ";".join(str(value) for value in np.rint(values * 1000).astype(int)),
        "source": "aiconfig",
        "status": "derived",
        "note": note,
    }


def _held_out(
    key: tuple[Any, ...], sizes: list[Floats], ratio: Floats, clean: NDArray[np.bool_], folds: NDArray[np.int64]
) -> Floats:
    grid, predicted = attention.GRIDS[key[1]], np.full(len(ratio), np.nan)
    for fold in np.unique(folds):
        train, test = clean & (folds != fold), folds == fold
        values = correction(grid, [size[train] for size in sizes], ratio[train], STIFF[key[1]], rounds=2)
        predicted[test] = grid.value(values[None], 0, [size[test] for size in sizes])
    return predicted - ratio


def left_out(data: dict[tuple[Any, ...], dict[str, NDArray[Any]]]) -> dict[int, list[tuple[str, str, Floats]]]:
    """Return errors of chips predicted from their kin, by the distance of that kin."""
    blackwell = frozenset({"nvidia_b200_sxm", "nvidia_gb200"})
    result: dict[int, list[tuple[str, str, Floats]]] = {}
    for key, rows in data.items():
        outs = (frozenset({key[0]}), blackwell) if key[0] in blackwell else (frozenset({key[0]}),)
        for excluded in outs:
            step = 1 if key[0] in blackwell and excluded != blackwell else 2
            shape = shape_of(rows)
            found, _ = attention.attention_bands(key[0], key[2], shape, kv_precision=key[3], excluded=excluded)
            errors = np.log(found.time_s / (rows["latency_ms"] * 1e-3))[~suspect(key, rows)]
            result.setdefault(step, []).append((key[0], key[1], errors))
    for step, parts in result.items():
        print("attention, kin step", step, summary(np.concatenate([part[2] for part in parts])), file=sys.stderr)
    return result
