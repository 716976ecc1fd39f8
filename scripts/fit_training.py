"""Fit the factors of software stacks, ``datasets/stack_factors.csv``, to published training runs.

Run from the repository: ``python scripts/fit_training.py [training_throughput.csv]`` (default
``../shared/validation/training_throughput.csv``), after ``curate_catalogue.py`` has declared the table and
``fit_kernels.py`` has fitted the kernels. The same input gives the same factors.

ln(measured / physics) of each row is a sum of terms, each shrunken to zero by its prior spread. Rows of one source
share its weight (the square root of their number counts), and rows far from the fit are held back (Huber). Bands come
from the errors of rows that were left out: source by source for a stack that was seen on the chip family, all rows
of stack and chip family for one that was not, all sources of one publisher for a new stack.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from catalogue_fields import FIELDS
from catalogue_io import write

from energy.catalogue import _tables
from energy.cost.stack import BAND, YEARLY, Terms, factor_of, year_weight
from energy.validation.statistics import read_rows
from energy.validation.training import NEEDED, Prepared, prepare

ROOT = Path(__file__).resolve().parent.parent
#: Prior spread of each term, in ln time; of the yearly one in ln time a year.
SPREAD = {
    "all": 0.05,
    "stack": 0.25,
    "chip": 0.15,
    "part": 0.10,
    "stack_chip": 0.10,
    "kind": 0.30,
    "stack_kind": 0.25,
    "chip_width": 0.12,
    YEARLY: 0.15,
    BAND: 0.0,
}
NOISE = 0.10
HUBER = 1.5
#: Rows of one source count as the square root of their number.
SOURCE_POWER = 0.5
#: Errors needed for a band of their own.
ENOUGH = 8
#: A trend over time needs so many dates, over so many years.
DATES, YEARS = 4, 0.5
PUBLISHER = re.compile(r"^(megatron-bridge|maxtext|tpu-recipes|mpt|megatron-sc21|primus|graphcore|vtrain|tf-cnn)")

Floats = Any


def publisher(source: str) -> str:
    """Return who published a source: the tables of one project belong together."""
    found = PUBLISHER.match(source)
    name = found[1] if found else source
    return "maxtext" if name == "tpu-recipes" else name


class Design:
    """The terms of rows as columns of numbers."""

    def __init__(self, rows: Sequence[Prepared]) -> None:
        years: dict[str, list[float]] = {}
        for one in rows:
            for name, key, value in one.terms:
                if name == YEARLY and value == value:
                    years.setdefault(key, []).append(value)
        self.years = {
            key: (min(found), max(found))
            for key, found in years.items()
            if len(set(found)) >= DATES and max(found) - min(found) >= YEARS
        }
        self.names: dict[tuple[str, str], int] = {}
        for one in rows:
            for name, key, value in one.terms:
                if value != 0.0 and (name != YEARLY or key in self.years):
                    self.names.setdefault((name, key), len(self.names))
        self.matrix = np.stack([self.row(one.terms) for one in rows])
        self.penalty = np.array([(NOISE / SPREAD[name]) ** 2 for name, _ in self.names])

    def row(self, terms: Terms) -> Floats:
        """Return the numbers of one row."""
        line = np.zeros(len(self.names))
        for name, key, value in terms:
            place = self.names.get((name, key))
            if place is not None:
                line[place] = year_weight(value, *self.years[key]) if name == YEARLY else value
        return line

    def fit(self, target: Floats, weight: Floats) -> Floats:
        """Return the coefficients: ridge regression, large errors held back."""
        robust = np.ones(len(target))
        for _ in range(30):
            own = self.matrix * (weight * robust)[:, None]
            beta = np.linalg.solve(own.T @ self.matrix + np.diag(self.penalty), own.T @ target)
            error = np.abs(target - self.matrix @ beta) / NOISE
            robust = np.minimum(1.0, HUBER / np.maximum(error, 1e-9))
        return beta


def weights(rows: Sequence[Prepared]) -> Floats:
    """Return the weight of each row."""
    names, place, count = np.unique([one.source for one in rows], return_inverse=True, return_counts=True)
    del names
    return count[place] ** -SOURCE_POWER


def left_out(rows: Sequence[Prepared], design: Design, target: Floats, weight: Floats, groups: Sequence[str]) -> Floats:
    """Return the error of each row in ln time, predicted without its group."""
    error = np.empty(len(rows))
    names = np.array(groups)
    for name in np.unique(names):
        away = names == name
        beta = design.fit(target, np.where(away, 0.0, weight))
        error[away] = target[away] - design.matrix[away] @ beta
    return error


def statistics(error: Floats, chosen: Floats) -> str:
    """Return MAPE and median APE of some rows as text; the error is of measured over predicted."""
    ape = np.abs(np.exp(-error[chosen]) - 1.0) * 100.0
    bias = np.mean(np.exp(-error[chosen]) - 1) * 100.0
    rows = int(chosen.sum())
    return f"rows {rows}, MAPE {ape.mean():.1f} %, median {np.median(ape):.1f} %, bias {bias:+.1f} %"


def rows_of_table(
    rows: Sequence[Prepared], design: Design, beta: Floats, own: Floats, errors: dict[str, Floats]
) -> list[dict[str, Any]]:
    """Return the table: factor and residual of each term, and bands of the groups that have one."""
    found = []
    sources = np.array([one.source for one in rows])
    keys = [{name: key for name, key, _ in one.terms} for one in rows]
    bands = {(name, one[name]) for one in keys for name in errors}
    for name, key in sorted({*design.names, *bands}, key=lambda one: (list(SPREAD).index(one[0]), one[1])):
        there = np.array([one.get(name) == key for one in keys])
        place = design.names.get((name, key))
        near = far = None
        if name in errors and there.sum() >= ENOUGH:
            near, far = (float(np.quantile(np.abs(errors[name][there]), share)) for share in (0.80, 0.95))
        elif name == BAND:
            continue
        low, high = design.years.get(key, (None, None)) if name == YEARLY else (None, None)
        found.append(
            {
                "term": name,
                "key": key,
                "ln_factor": 0.0 if place is None else round(float(beta[place]), 4),
                "rows": int(there.sum()),
                "sources": len(set(sources[there])),
                "median_error_fraction": round(float(np.median(np.abs(np.exp(-own[there]) - 1.0))), 4),
                "ln_half_width80": None if near is None else round(near, 4),
                "ln_half_width95": None if far is None else round(far, 4),
                "year_low": None if low is None else round(low, 3),
                "year_high": None if high is None else round(high, 3),
                "source": "train_runs",
                "status": "derived",
                "note": "",
            }
        )
    return found


def covered(own: Floats, width: Floats) -> str:
    """Return the share of errors inside a band as text."""
    return f"{np.mean(np.abs(own) <= width) * 100:.1f} %"


def main() -> None:
    """Fit, print the errors in and out of sample, write the table."""
    default = ROOT.parent / "shared/validation/training_throughput.csv"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    rows, failures = prepare(read_rows(path, NEEDED))
    for failure in failures:
        say(f"not answered: {failure.row_id}: {failure.reason}")
    design, weight = Design(rows), weights(rows)
    target = np.log([one.measured_s / one.physics_s for one in rows])
    beta = design.fit(target, weight)
    own = target - design.matrix @ beta
    by_source = left_out(rows, design, target, weight, [one.source for one in rows])
    apart = left_out(rows, design, target, weight, [publisher(one.source) for one in rows])
    by_pair = left_out(rows, design, target, weight, [_pair(one) for one in rows])
    table = rows_of_table(
        rows,
        design,
        beta,
        own,
        {BAND: by_source, "stack_chip": by_source, "stack": by_pair, "chip": apart, "all": apart},
    )
    # What validation cannot say, since it fits nothing: the errors out of sample stand beside the factor of all.
    table[0]["note"] = report(rows, own, by_source, apart)
    write(ROOT / "datasets" / "stack_factors.csv", [field["name"] for field in FIELDS["stack_factors"]], table)
    _tables.rows.cache_clear()
    factor = factor_of([one.terms for one in rows])
    for name, width in (("80 %", factor.ln80), ("95 %", factor.ln95)):
        say(f"inside the {name} band: in sample {covered(own, width)}, source left out {covered(by_source, width)}")


def say(text: str) -> None:
    """Print a line beside the results."""
    print(text, file=sys.stderr)


def report(rows: Sequence[Prepared], own: Floats, by_source: Floats, apart: Floats) -> str:
    """Print the errors by kind and source; return those out of sample as the note of the table."""
    kinds = np.array([one.kind for one in rows])
    many = np.array([_seen_elsewhere(one, rows) for one in rows])
    table_5 = np.array([one.source == "korthikanti-tab5" for one in rows])
    tests = {
        "dense": kinds == "dense",
        "dense of stacks in two or more sources": (kinds == "dense") & many,
        "mixtures": kinds == "moe",
        "hybrids": kinds == "hybrid",
        "all": kinds != "",
        "Korthikanti table 5": table_5,
    }
    noted = []
    for name, chosen in tests.items():
        if not chosen.any():
            continue
        say(f"{name}: in sample {statistics(own, chosen)}")
        for group, error in (("source", by_source), ("publisher", apart)):
            text = f"{name}, {group} left out: {statistics(error, chosen)}"
            say(text)
            noted.append(text)
    report_sources(rows, own, by_source)
    return "; ".join(noted)


def report_sources(rows: Sequence[Prepared], own: Floats, apart: Floats) -> None:
    """Print the errors of each source and kind, in sample and with the source left out."""
    labels = np.array([f"{one.source} {one.kind}" for one in rows])
    for label in np.unique(labels):
        there = labels == label
        say(f"  {label}: in {statistics(own, there)}; out {statistics(apart, there)}")


def _pair(one: Prepared) -> str:
    return next(key for name, key, _ in one.terms if name == "stack_chip")


def _seen_elsewhere(one: Prepared, rows: Sequence[Prepared]) -> bool:
    """Return whether another source has the same stack family on the same chip family."""
    return any(other.source != one.source and _pair(other) == _pair(one) for other in rows)


if __name__ == "__main__":
    main()
