"""Fit the time of matrix products: eight physical parameters and a correction per chip and precision."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from fit_robust import correction, groups, parameters, penalty, screened, summary
from numpy.typing import NDArray

from energy.cost.kernels import gemm
from energy.cost.kernels.coefficients import bandwidth_bytes_per_s, kernel_chip, measured_names, peak_flop_per_s
from energy.cost.kernels.coefficients import precision as precision_of

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
START = {
    "launch_us": 4.0,
    "compute_efficiency": 0.85,
    "tile_loss": 0.2,
    "fill_k": 200.0,
    "quantisation": 0.5,
    "memory_efficiency": 0.85,
    "cache_speedup": 1.5,
    "sharpness": 3.0,
}
PULL = np.array([0.0, 5.0, 20.0, 10.0, 5.0, 5.0, 20.0, 20.0])
STIFF = penalty(gemm.GRID, (0.1, 0.1, 0.1), 0.02)
FOLDS_SHAPE, FOLDS_M = 5, 4
NAMES = {"bfloat16": "bf16", "nvfp4": "fp4", "fp8": "fp8", "fp8_block": "fp8_block"}


def load(folder: Path) -> dict[tuple[str, str], Columns]:
    """Return the measured products by chip and precision, in the order of the file."""
    table = pq.read_table(folder / "gemm_latency.parquet").to_pydict()
    columns = {name: np.array(values) for name, values in table.items()}
    result = {}
    for name, chip_id in measured_names().items():
        for kind, wanted in NAMES.items():
            rows = (columns["chip"] == name) & (columns["dtype"] == kind)
            if rows.any():
                result[chip_id, wanted] = {one: values[rows] for one, values in columns.items()}
    return result


def _parameters(theta: Floats, chip_id: str, wanted: str) -> gemm.GemmParameters:
    chip, format_ = kernel_chip(chip_id), precision_of(wanted)
    values = dict(zip(gemm.FITTED, np.exp(theta), strict=True))
    values["quantisation"] = 1 / (1 + np.exp(-theta[4]))
    assert chip.cache_bytes is not None
    assert chip.compute_units is not None
    return gemm.GemmParameters(
        **values,
        peak_flop_per_s=peak_flop_per_s(chip, wanted),
        bandwidth_bytes_per_s=bandwidth_bytes_per_s(chip),
        cache_bytes=chip.cache_bytes,
        compute_units=chip.compute_units,
        input_bytes=format_.input_bytes,
        output_bytes=format_.output_bytes,
    )


def _held_out(sizes: list[Floats], ratio: Floats, clean: NDArray[np.bool_], folds: NDArray[np.int64]) -> Floats:
    """Return the correction for each row, from the rows of other folds; NaN where the fold is negative."""
    predicted = np.full(len(ratio), np.nan)
    for fold in range(folds.max() + 1):
        train, test = clean & (folds != fold), folds == fold
        values = correction(gemm.GRID, [size[train] for size in sizes], ratio[train], STIFF, rounds=2)
        predicted[test] = gemm.GRID.value(values[None], 0, [size[test] for size in sizes])
    return predicted


def fit(chip_id: str, wanted: str, rows: Columns) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the row of ``kernel_gemm`` and the rows of ``kernel_gemm_surface`` of one chip and precision."""
    sizes = [rows[name].astype(np.float64) for name in "mnk"]
    measured = np.log(rows["latency_ms"] * 1e-3)
    start = np.log(list(START.values()))
    start[0], start[4] = np.log(max(rows["latency_ms"].min() * 900, 0.5)), 0.0

    def ratio_of(theta: Floats) -> Floats:
        return np.log(gemm.prior_time_s(_parameters(theta, chip_id, wanted), *sizes)) - measured

    clean = ~screened(ratio_of(start), [rows[name] for name in "mnk"])

    def clean_ratio(theta: Floats) -> Floats:
        return ratio_of(theta)[clean]

    theta = parameters(clean_ratio, start, PULL)
    rounded = {name: float(f"{value:.4g}") for name, value in _values(theta).items()}
    own = replace(_parameters(theta, chip_id, wanted), **rounded)
    ratio = measured - np.log(gemm.prior_time_s(own, *sizes))
    by_shape = _held_out(sizes, ratio, clean, groups(rows["n"] * 1_000_000 + rows["k"], FOLDS_SHAPE)) - ratio
    inner = np.unique(rows["m"])[1:-1]
    fold_m = np.where(np.isin(rows["m"], inner), np.searchsorted(inner, rows["m"]) % FOLDS_M, -1)
    by_m = _held_out(sizes, ratio, clean, fold_m) - ratio
    by_m = by_m[fold_m >= 0]
    values = correction(gemm.GRID, [size[clean] for size in sizes], ratio[clean], STIFF)
    best = float((2 * np.prod(sizes, axis=0) / (rows["latency_ms"] * 1e-3)).max() / own.peak_flop_per_s)
    shape, length = summary(by_shape), summary(by_m)
    both = summary(np.concatenate([by_shape, by_m]))
    row = {
        "chip_id": chip_id,
        "precision": wanted,
        **rounded,
        "best_fraction_of_peak": round(best, 4),
        "median_error_m_fraction": length["median_error_fraction"],
        "rows": len(measured),
        "screened": int((~clean).sum()),
        **shape,
        "sigma_fraction": both["sigma_fraction"],
        "band95_ln": both["band95_ln"],
        "source": "aiconfig",
        "status": "derived",
        "note": str(rows["framework"][0]),
    }
    prior = float(np.median(np.abs(np.expm1(ratio))))
    print(f"{chip_id:28} {wanted:10} prior {prior:.3f} shape {shape} m {length}", file=sys.stderr, flush=True)
    return row, _surface(chip_id, wanted, values)


def _values(theta: Floats) -> dict[str, float]:
    values = dict(zip(gemm.FITTED, (float(one) for one in np.exp(theta)), strict=True))
    values["quantisation"] = float(1 / (1 + np.exp(-theta[4])))
    return values


def _surface(chip_id: str, wanted: str, values: Floats) -> list[dict[str, Any]]:
    by_m = np.rint(values.reshape(len(gemm.GRID.knots[0]), -1) * 1000).astype(int)
    return [
        {
            "chip_id": chip_id,
            "precision": wanted,
            "m": int(m),
            "ln_ratio_permille": ";".join(str(value) for value in line),
            "source": "aiconfig",
            "status": "derived",
        }
        for m, line in zip(gemm.GRID.knots[0], by_m, strict=True)
    ]


# Who predicts whom, by the distance of the kin: the chips in a set count as not measured together.
FAMILIES = {
    "Hopper": {"nvidia_h100_sxm5_80", "nvidia_h200_sxm"},
    "Ampere": {"nvidia_a100_sxm4_80"},
    "Ada": {"nvidia_l40s"},
    "Blackwell": {
        "nvidia_b200_sxm",
        "nvidia_b300_sxm",
        "nvidia_gb200",
        "nvidia_gb300",
        "nvidia_rtx_pro_6000_server",
    },
}


def left_out(data: dict[tuple[str, str], Columns]) -> dict[int, list[tuple[str, str, Floats]]]:
    """Return errors of chips predicted from their kin, by the distance of that kin, with chip and precision."""
    result: dict[int, list[tuple[str, str, Floats]]] = {}
    everyone = frozenset(chip_id for chip_id, _ in data)
    for (chip_id, wanted), rows in data.items():
        family = next((members for members in FAMILIES.values() if chip_id in members), {chip_id})
        own_vendor = {one for one in everyone if kernel_chip(one).vendor == kernel_chip(chip_id).vendor}
        seen: set[int] = set()
        for excluded in ({chip_id}, family, own_vendor):
            if excluded >= everyone:
                continue
            try:
                model = gemm.models([(chip_id, wanted)], excluded=frozenset(excluded))
            except ValueError:  # nobody else was measured in a comparable precision
                continue
            if model.kin_steps[0] in seen:
                continue
            seen.add(model.kin_steps[0])
            time = model.time_s(0, rows["m"], rows["n"], rows["k"]).time_s
            errors = np.log(time / (rows["latency_ms"] * 1e-3))
            result.setdefault(model.kin_steps[0], []).append((chip_id, wanted, errors))
            from_ = model.kin_ids[0]
            print(f"{chip_id:28} {wanted:10} from {from_:28} {summary(errors)}", file=sys.stderr, flush=True)
    return result
