"""Fit the power of matrix products: seven coefficients per chip, precision and library, and a correction by shape."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from fit_robust import correction, groups, parameters, penalty
from numpy.typing import NDArray

from energy.cost.kernels.coefficients import measured_names
from energy.cost.kernels.gemm import GRID
from energy.power.gemm import ANY_LIBRARY, Loads, loads, prior_fraction
from energy.power.states import COEFFICIENTS, curve_of
from energy.validation.power import steadiness

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
NAMES = {"bfloat16": "bf16", "nvfp4": "fp4", "fp8": "fp8", "fp8_block": "fp8_block"}
FITTED = (*COEFFICIENTS, "gap_us")
START = {
    "base_fraction": 0.2,
    "ceiling_fraction": 1.0,
    "memory_gain": 2.0,
    "cache_gain": 1.0,
    "memory_exponent": 1.0,
    "compute_gain": 4.0,
    "compute_exponent": 0.7,
    "gap_us": 4.0,
}
# In rows: how strongly each coefficient is held at its start, since p0 and s have a physical meaning.
PULL = np.array([3.0, 1e6, 3.0, 3.0, 10.0, 3.0, 3.0, 3.0])
CEILING = 0.99
STIFF = penalty(GRID, (0.1, 0.1, 0.1), 0.02)
FOLDS = 5
MOST_ROWS = 5000  # for the coefficients; the correction takes all


def load(folder: Path) -> dict[tuple[str, str, str], Columns]:
    """Return the measured products by chip, precision and library, in the order of the file."""
    table = pq.read_table(folder / "gemm_power.parquet").to_pydict()
    columns = {name: np.array(values) for name, values in table.items()}
    library = np.array([text.split()[0] for text in columns["framework"]])
    result = {}
    for name, chip_id in measured_names().items():
        for kind, wanted in NAMES.items():
            for one in np.unique(library):
                rows = (columns["chip"] == name) & (columns["dtype"] == kind) & (library == one)
                if rows.any():
                    result[chip_id, wanted, str(one)] = {key: values[rows] for key, values in columns.items()}
    return result


def steady(rows: Columns) -> NDArray[np.bool_]:
    """Return the rows whose reading agrees with those of neighbouring shapes: only these are fitted."""
    return steadiness(rows["m"], rows["n"], rows["k"], rows["power_w"]) == "steady"


def _sizes(rows: Columns) -> list[Floats]:
    return [rows[name].astype(np.float64) for name in "mnk"]


def _part(found: Loads, which: NDArray[Any]) -> Loads:
    return Loads(found.compute[which], found.memory[which], found.cached[which], found.time_s[which])


def _coefficients(found: Loads, log_fraction: Floats) -> dict[str, float]:
    chosen = np.random.default_rng(7).permutation(len(log_fraction))[:MOST_ROWS]
    part, target = _part(found, chosen), log_fraction[chosen]
    start = np.log(list((START | {"ceiling_fraction": CEILING}).values()))

    def ratio(theta: Floats) -> Floats:
        return np.log(prior_fraction(dict(zip(FITTED, np.exp(theta), strict=True)), part)) - target

    theta = parameters(ratio, start, PULL)
    return {name: float(f"{value:.4g}") for name, value in zip(FITTED, np.exp(theta), strict=True)}


def _errors(by_steady: Floats, by_all: Floats) -> dict[str, float]:
    size, relative = np.abs(by_steady), np.abs(np.expm1(by_steady))
    return {
        "mape_fraction": round(float(relative.mean()), 4),
        "median_error_fraction": round(float(np.median(relative)), 4),
        "mape_all_fraction": round(float(np.abs(np.expm1(by_all)).mean()), 4),
        "band80_ln": round(float(np.quantile(size, 0.8)), 4),
        "band95_ln": round(float(np.quantile(size, 0.95)), 4),
    }


def fit(key: tuple[str, str, str], rows: Columns, *, surface: bool) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the row of coefficients, and those of the correction by shape where it is asked for.

    Errors are of whole shapes (n, k) left out of coefficients and correction.
    """
    found = loads(key[0], key[1], *_sizes(rows), rows["latency_ms"] * 1e-3)
    target = np.log(rows["power_w"] / rows["power_limit_w"])
    clean = steady(rows) if "steady" not in rows else rows["steady"]
    folds = groups(rows["n"].astype(np.int64) * 1_000_000 + rows["k"], FOLDS)
    predicted = np.empty(len(target))
    for fold in range(FOLDS):
        train, test = clean & (folds != fold), folds == fold
        values = _coefficients(_part(found, train), target[train])
        predicted[test] = np.log(prior_fraction(values, _part(found, test)))
        if surface:
            rest = target[train] - np.log(prior_fraction(values, _part(found, train)))
            knots = correction(GRID, [size[train] for size in _sizes(rows)], rest, STIFF)
            predicted[test] += GRID.value(knots[None], 0, [size[test] for size in _sizes(rows)])
    error = np.minimum(predicted, 0.0) - target
    values = _coefficients(_part(found, clean), target[clean])
    row: dict[str, Any] = {
        "chip_id": key[0],
        "precision": key[1],
        **values,
        "rows": len(target),
        "steady_rows": int(clean.sum()),
        **_errors(error[clean], error),
        "source": "aiconfig",
        "status": "derived",
    }
    print(f"{' '.join(key):40} {_errors(error[clean], error)} {values}", file=sys.stderr, flush=True)
    if not surface:
        return row, []
    rest = target[clean] - np.log(prior_fraction(values, _part(found, clean)))
    knots = correction(GRID, [size[clean] for size in _sizes(rows)], rest, STIFF)
    by_m = np.rint(knots.reshape(len(GRID.knots[0]), -1) * 1000).astype(int)
    own = {"chip_id": key[0], "precision": key[1], "library": key[2]}
    end = {"source": "aiconfig", "status": "derived"}
    lines = [
        {**own, "m": int(m), "ln_ratio_permille": ";".join(str(value) for value in line), **end}
        for m, line in zip(GRID.knots[0], by_m, strict=True)
    ]
    return row | {"library": key[2]}, lines


def together(data: dict[tuple[str, str, str], Columns]) -> dict[tuple[str, str, str], Columns]:
    """Return the products of all libraries of a chip and precision, each row steady or not in its own library."""
    result: dict[tuple[str, str, str], Columns] = {}
    for (chip_id, wanted, _), rows in data.items():
        own = rows | {"steady": steady(rows)}
        key = (chip_id, wanted, ANY_LIBRARY)
        known = result.get(key)
        result[key] = own if known is None else {name: np.concatenate([known[name], own[name]]) for name in own}
    return result


def left_out(data: dict[tuple[str, str, str], Columns]) -> dict[int, Floats]:
    """Return logarithmic errors of steady rows of chips predicted from kin, by the distance of that kin."""
    result: dict[int, list[Floats]] = {}
    blackwell = {"nvidia_b200_sxm", "nvidia_gb200"}
    for (chip_id, wanted, _), rows in data.items():
        found = loads(chip_id, wanted, *_sizes(rows), rows["latency_ms"] * 1e-3)
        for excluded in ({chip_id}, blackwell if chip_id in blackwell else {chip_id}):
            one = curve_of(chip_id, wanted, excluded=frozenset(excluded))
            values = {name: getattr(one, name) for name in COEFFICIENTS} | {"gap_us": START["gap_us"]}
            part = _part(found, rows["steady"])
            target = np.log(rows["power_w"] / rows["power_limit_w"])[rows["steady"]]
            errors = np.log(prior_fraction(values, part)) - target
            result.setdefault(one.kin_step, []).append(errors)
            print(
                f"{chip_id} {wanted} from {one.kin_id} step {one.kin_step}: {np.abs(np.expm1(errors)).mean():.3f}",
                file=sys.stderr,
                flush=True,
            )
    return {step: np.concatenate(parts) for step, parts in result.items()}
