"""Fit the time to train of MLPerf benchmarks: ``datasets/mlperf_*.csv``.

Run from the repository: ``python scripts/fit_mlperf.py [FOLDER]`` (default ``../shared/validation``, with
``mlperf_training.csv`` and ``mlperf_convergence.csv``), after ``curate_catalogue.py`` has declared the tables. The same
input gives the same tables.

ln(measured / physics) of each result is a sum of terms (``energy.cost.mlperf.GROUPS``), each shrunken to zero by its
prior spread; results far from the fit are held back (Huber). A result that a submitter carried into a later round
counts once, in its first round. Bands come from results that were left out: one by one, by count, chip, family,
benchmark.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from catalogue_fields import FIELDS
from catalogue_io import read, write
from mlperf_work import BENCHMARKS, convergence

from energy.catalogue import _tables
from energy.cost import mlperf, mlperf_convergence, mlperf_names
from energy.cost.mlperf import GROUPS
from energy.cost.mlperf_names import part, round_year
from energy.validation.mlperf import NEEDED, Case, cases
from energy.validation.statistics import read_rows

ROOT = Path(__file__).resolve().parent.parent
#: Prior spreads in ln time for each unit of a column, by group; chosen by the likelihood of all results.
SPREAD = {
    "constant": dict(zip(GROUPS["constant"], (1.0, 0.5, 0.7, 0.3, 0.2, 0.15, 0.2, 0.15), strict=True)),
    "chips": {"all": 0.05, "benchmark": 0.08, "benchmark_family": 0.03},
    "chips_above_64": {"all": 0.05, "benchmark": 0.12},
    "batch": {"all": 0.1, "benchmark": 0.25},
    "year": {"all": 0.05, "benchmark": 0.10, "benchmark_family": 0.08},
    "nodes": {"all": 0.05, "benchmark": 0.10},
}
NOISE, HUBER = 0.08, 2.0
#: Errors needed for a band of their own, rows that the band of all counts beside them, narrowest bands.
ENOUGH, SHARED, FLOOR80, FLOOR95 = 12, 2, 0.03, 0.06
SMALLEST = 5e-4
#: Share of the errors that the narrow band holds. Results that the fit knows are met better than those left out: at the
#: level of what was submitted the share of the latter is chosen so that both lie about equally far from 80 %.
SHARE80, SHARE80_SEEN = 0.80, 0.74
SOURCE = "mlperf_results"
#: What is left out at each level of the band.
LEFT_OUT = {"seen": "single result", "chip": "chip on a benchmark", "family": "chip family on a benchmark"}

Floats = Any


def say(text: str) -> None:
    """Print a line beside the results."""
    print(text, file=sys.stderr)


def once(found: Sequence[Case]) -> list[Case]:
    """Return results without those that were carried into a later round."""
    kept: dict[tuple[object, ...], Case] = {}
    for one in sorted(found, key=lambda case: round_year(case.round_name)):
        kept.setdefault((one.submitter, one.benchmark, one.chip, one.chips, one.measured_min), one)
    return list(kept.values())


def ask(found: Sequence[Case]) -> mlperf.Asked:
    """Return results as scenarios."""
    return mlperf.ask(
        [one.benchmark for one in found],
        [one.chip for one in found],
        [one.chips for one in found],
        round_name=[one.round_name for one in found],
        global_batch_size=[one.global_batch_size for one in found],
        nodes=[one.nodes for one in found],
    )


class Design:
    """The terms of results as columns of numbers."""

    def __init__(self, asked: mlperf.Asked) -> None:
        numbers = mlperf.columns(asked)
        own = [mlperf.keys(name, one) for name, one in asked.pairs]
        self.names: list[tuple[str, str, str]] = []
        parts, spreads = [], []
        for at, (column, groups) in enumerate(GROUPS.items()):
            for group in groups:
                labels = np.array([one[group] for one in own])[asked.pair]
                for key in np.unique(labels):
                    values = np.where(labels == key, numbers[:, at], 0.0)
                    if np.any(values != 0.0):
                        self.names.append((column, group, str(key)))
                        parts.append(values)
                        spreads.append(SPREAD[column][group])
        self.matrix = np.stack(parts, axis=1)
        self.spread = np.array(spreads)
        self.kernel = (self.matrix * self.spread**2) @ self.matrix.T

    def fit(self, target: Floats) -> tuple[Floats, Floats]:
        """Return coefficients and the variance of each result's noise: large errors are held back."""
        robust = np.ones(len(target))
        for _ in range(6):
            noise = NOISE**2 / robust
            inner = np.linalg.solve(self.kernel + np.diag(noise), target)
            error = np.abs(target - self.kernel @ inner) / NOISE
            robust = np.minimum(1.0, HUBER / np.maximum(error, 1e-9))
        return self.spread**2 * (self.matrix.T @ inner), noise

    def left_out(self, target: Floats, noise: Floats, groups: Sequence[object]) -> Floats:
        """Return the error of each result in ln time, predicted without its group."""
        inverse = np.linalg.inv(self.kernel + np.diag(noise))
        inner = inverse @ target
        places: dict[object, list[int]] = {}
        for place, group in enumerate(groups):
            places.setdefault(group, []).append(place)
        error = np.empty(len(target))
        for at in places.values():
            error[at] = np.linalg.solve(inverse[np.ix_(at, at)], inner[at])
        return error


def left_out_groups(found: Sequence[Case]) -> dict[str, list[object]]:
    """Return what is left out together, by level of the band."""
    pairs = [(one.benchmark, part(one.chip)) for one in found]
    return {
        "seen": list(range(len(found))),
        "count": [(name, p.name, one.chips) for one, (name, p) in zip(found, pairs, strict=True)],
        "chip": [(name, p.name) for name, p in pairs],
        "family": [(name, p.family) for name, p in pairs],
        "benchmark": [name for name, _ in pairs],
    }


def coefficient_rows(found: Sequence[Case], design: Design, beta: Floats) -> list[dict[str, Any]]:
    """Return the table of coefficients; negligible ones are left out, but none that says what was seen."""
    rows = []
    submitters = np.array([one.submitter for one in found])
    chips = np.array([one.chips for one in found])
    for place, (column, group, key) in enumerate(design.names):
        seen = column == "constant" and group in ("benchmark", "benchmark_family", "benchmark_chip")
        if abs(beta[place]) < SMALLEST and not seen:
            continue
        there = design.matrix[:, place] != 0.0
        own = seen and group == "benchmark_chip"
        rows.append(
            {
                "column": column,
                "group": group,
                "key": key,
                "ln_factor": round(float(beta[place]), 4),
                "rows": int(there.sum()),
                "submitters": len(set(submitters[there])),
                "chips_low": f"{chips[there].min():g}" if own else None,
                "chips_high": f"{chips[there].max():g}" if own else None,
                "source": SOURCE,
                "status": "derived",
                "note": "",
            }
        )
    return rows


def band_rows(found: Sequence[Case], errors: dict[str, Floats]) -> list[dict[str, Any]]:
    """Return the table of bands: each level over all benchmarks, and benchmarks with errors enough."""
    names = np.array([one.benchmark for one in found])
    rows = []
    for level, error in errors.items():
        for name in ("", *sorted(set(names))):
            there = names == name if name else np.ones(len(names), np.bool_)
            if name and (there.sum() < ENOUGH or level in ("family", "benchmark")):
                continue
            size = np.abs(error[there])
            shares = (SHARE80_SEEN if level == "seen" else SHARE80, 0.95)
            near, far = (_width(size, np.abs(error), share, bool(name)) for share in shares)
            rows.append(
                {
                    "level": level,
                    "benchmark": name,
                    "ln_half_width80": round(max(near, FLOOR80), 4),
                    "ln_half_width95": round(max(far, FLOOR95), 4),
                    "median_error_fraction": round(float(np.median(np.abs(np.expm1(-error[there])))), 4),
                    "rows": int(there.sum()),
                    "source": SOURCE,
                    "status": "derived",
                    "note": "",
                }
            )
    return rows


def _width(size: Floats, everyone: Floats, share: float, shared: bool) -> float:
    """Return the quantile of errors; that of few rows lies between theirs and that of all."""
    own, all_rows = float(np.quantile(size, share)), float(np.quantile(everyone, share))
    return float(np.sqrt((len(size) * own**2 + SHARED * all_rows**2) / (len(size) + SHARED))) if shared else own


def usual_batch(chips: Floats, batches: Floats) -> tuple[float, float, float]:
    """Return slope and intercept of ln batch over ln chips, and the batch on few chips, of least mean error."""
    best = (np.inf, 0.0, 0.0, 0.0)
    for floor in np.unique(batches):
        for slope in np.linspace(0.0, 1.5, 31):
            above = batches > floor if np.any(batches > floor) else batches >= floor
            intercept = float(np.median(batches[above] - slope * chips[above]))
            error = float(np.mean(np.abs(np.maximum(floor, intercept + slope * chips) - batches)))
            best = min(best, (round(error, 9), float(slope), intercept, float(floor)))
    return best[1], best[2], float(np.exp(best[3]))


def batch_of(name: str, found: Sequence[Case], points: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the usual batch by count and the years of a benchmark."""
    own = [one for one in found if one.benchmark == name]
    known = [one for one in own if one.global_batch_size == one.global_batch_size]
    sizes = [float(row["global_batch_size"]) for row in points if row["benchmark"] == name]
    years = [round_year(one.round_name) for one in own] or [round_year("v6.0")]
    batches = [one.global_batch_size for one in known] or sizes
    slope, intercept, low = 0.0, float(np.log(min(batches))), float(min(batches))
    if len(known) >= 3:
        slope, intercept, low = usual_batch(np.log([one.chips for one in known]), np.log(batches))
    return {
        "batch_ln_intercept": round(float(intercept), 4),
        "batch_ln_slope": round(float(slope), 4),
        "batch_low": round(low),
        "batch_high": max(batches),
        "first_year": round(min(years), 3),
        "last_year": round(max(years), 3),
        "rows": len(own),
    }


def write_table(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write a table and forget what was read of it."""
    write(ROOT / f"datasets/{name}.csv", [one["name"] for one in FIELDS[name]], rows)
    for cached in (
        _tables.rows,
        mlperf_names.benchmarks,
        mlperf_names.benchmark_name,
        mlperf_convergence.curve,
        *(mlperf._coefficients, mlperf._bands),
    ):
        cached.cache_clear()


def report(found: Sequence[Case], own: Floats, errors: dict[str, Floats]) -> str:
    """Print the errors in and out of sample; return those out of sample as text."""
    available = np.array([one.availability.startswith("available") for one in found])
    noted = []
    for level, error in {"in the fit": own, **errors}.items():
        name = level if level == "in the fit" else f"{LEFT_OUT.get(level, level)} left out"
        ape = np.abs(np.expm1(-error[available])) * 100.0
        text = (
            f"{name}: median {np.median(ape):.1f} %, mean {ape.mean():.1f} %, 90 % below {np.quantile(ape, 0.9):.0f} %"
        )
        say(text)
        noted.append(text)
    return "; ".join(noted)


def main() -> None:
    """Fit, print the errors in and out of sample, write the tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/validation"
    results = read_rows(folder / "mlperf_training.csv", NEEDED)
    blank = {"batch_ln_intercept": 0, "batch_ln_slope": 0, "first_year": 0, "last_year": 0, "rows": 0}
    zero = blank | {"batch_low": 1, "batch_high": 1}
    write_table("mlperf_benchmarks", [row | zero for row in BENCHMARKS])
    found, failures = cases(results)
    for failure in failures:
        say(f"not answered: {failure.row_id}: {failure.reason}")
    points = convergence(read(folder / "mlperf_convergence.csv"), results)
    write_table("mlperf_convergence", points)
    write_table("mlperf_benchmarks", [row | batch_of(row["benchmark"], found, points) for row in BENCHMARKS])
    kept = once(found)
    asked = ask(kept)
    design = Design(asked)
    seconds, _, _ = mlperf.physics(asked)
    target = np.log([one.measured_min * 60.0 for one in kept]) - np.log(seconds)
    beta, noise = design.fit(target)
    errors = {level: design.left_out(target, noise, groups) for level, groups in left_out_groups(kept).items()}
    by_submitter = design.left_out(target, noise, [one.submitter for one in kept])
    text = report(kept, target - design.matrix @ beta, {**errors, "submitter": by_submitter})
    table = coefficient_rows(kept, design, beta)
    table[0]["note"] = text
    write_table("mlperf_coefficients", table)
    write_table("mlperf_bands", band_rows(kept, errors))
    near, _ = mlperf._widths(asked, np.zeros(len(kept), np.intp))
    known, new = (np.mean(np.abs(error) <= near) * 100 for error in (target - design.matrix @ beta, errors["seen"]))
    say(f"inside the 80 % band: in the fit {known:.1f} %, left out {new:.1f} %")
    say(f"{len(kept)} results of {len(found)}, {len(table)} coefficients")


if __name__ == "__main__":
    main()
