"""What the page Compare & sweep says: two scenarios by cause, and the rows of a sweep; without Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.errors import ScenarioError
from energy.importers.yaml_text import read_text
from energy.report.display import figure_text
from energy.report.model import Cell, Column, Row, TableBlock
from energy.report.numbers import THIN
from energy.resources import resource
from energy.scenario.compare import Comparison, Difference, compare
from energy.scenario.figure_units import UNITS
from energy.scenario.sweep import Block, Outcome, moved_of, run
from energy.scenario.sweep_file import Sweep, parse_sweep
from energy.ui import scenario_run
from energy.ui.scenario_data import keys_of, label, starts

Numbers = NDArray[np.float64]

#: Rows that a page computes; more are for the command.
MOST_ROWS = 20_000
SHOWN_ROWS = 20


@dataclass(frozen=True, slots=True, eq=False)
class SweepFound:
    """A sweep with what it found and the figures of its rows."""

    sweep: Sweep
    outcome: Outcome
    figures: Mapping[str, Numbers]


@cache
def sweeps() -> Mapping[str, str]:
    """Return the worked sweeps: name of the file -> what it is called."""
    paths = sorted(resource("datasets/examples/sweeps").glob("*.yaml"))
    return {path.stem: parse_sweep(read_text(path, ScenarioError), path.name, path.parent).name for path in paths}


def text_of(name: str) -> str:
    """Return a worked sweep as written."""
    return read_text(resource("datasets/examples/sweeps") / f"{name}.yaml", ScenarioError)


def compared(first: str, second: str) -> Comparison:
    """Return the difference of two worked scenarios.

    Raises
    ------
    EnergyError
        One cannot run: one line.
    """
    runs = [scenario_run.found(scenario_run.text_of(keys_of(name), {})).run for name in (first, second)]
    return compare(runs[0], runs[1], (starts()[first], starts()[second]))


def swept(text: str) -> SweepFound:
    """Return what a sweep's text finds.

    Raises
    ------
    ScenarioError
        It is no sweep, or has more rows than a page computes.
    """
    sweep = parse_sweep(text, "sweep", Path(resource("datasets/examples/sweeps")))
    if len(sweep) > MOST_ROWS:
        raise ScenarioError(
            f"{sweep.name}: {len(sweep):,} rows; this page computes {MOST_ROWS:,}: run `energy sweep`, or give fewer "
            "values."
        )
    figures = {name: np.full(len(sweep), np.nan) for name in UNITS}

    def each(block: Block) -> None:
        for name, column in block.figures.items():
            figures[name][block.rows] = column.value

    outcome = run(sweep, top=SHOWN_ROWS, each=each)
    known = {name: values for name, values in figures.items() if not np.isnan(values).all()}
    return SweepFound(sweep, outcome, known)


def parts_table(found: Difference) -> TableBlock:
    """Return one result's difference by cause."""
    columns = (
        Column("cause", "Cause", kind="text"),
        Column("first", "A", kind="text"),
        Column("second", "B", kind="text"),
        Column("part", "Part of the difference", found.unit, ranged=True),
    )
    rows = []
    for name, part in found.parts.items():
        one, two = found.drivers[name]
        unit = found.driver_units[name].replace("_", " ")
        texts = [f"{value:,.4g} {unit}".replace(",", THIN).strip() for value in (one, two)]
        cells = (
            Cell(f"compare.{name}", _upper(name)),
            *(Cell(f"compare.{name}.{at}", t) for at, t in enumerate(texts)),
        )
        rows.append(Row(name, (*cells, Cell(f"compare.{name}.part", _exact(part), found.unit))))
    sum_cells = [Cell("compare.sum", "B less A")]
    wholes = [figure_text(Cell("", _exact(value), found.unit)) for value in (found.first, found.second)]
    sum_cells += [Cell(f"compare.sum.{at}", f"{one.value}{THIN}{one.unit}") for at, one in enumerate(wholes)]
    ends = (None, None) if found.low is None or found.high is None else (_exact(found.low), _exact(found.high))
    sum_cells.append(Cell("compare.sum.part", _exact(found.second - found.first), found.unit, *ends))
    rows.append(Row("sum", tuple(sum_cells), kind="sum"))
    return TableBlock("compare.parts", f"{label(found.name)} by cause", "", columns, tuple(rows))


def rows_table(found: SweepFound, rows: list[int], caption: str, key: str) -> TableBlock:
    """Return rows of a sweep: what moved, and the figures that matter."""
    axes = [name for axis in found.sweep.axes for name in axis.values]
    named = dict.fromkeys((found.sweep.best, *(one.figure for one in found.sweep.limits), *found.sweep.pareto))
    figures = [name for name in named if name is not None and name in found.figures]
    columns = [Column("row", "Row", kind="text")]
    columns += [Column(f"key.{name}", name, kind="text") for name in axes]
    columns += [Column(name, label(name), UNITS[name]) for name in figures]
    out = []
    for row in rows:
        moved = moved_of(found.sweep, row)
        cells = [Cell(f"{key}.{row}", str(row))]
        cells += [Cell(f"{key}.{row}.{name}", str(moved[name])) for name in axes]
        cells += [_figure_cell(f"{key}.{row}.{name}", found.figures[name][row], UNITS[name]) for name in figures]
        out.append(Row(str(row), tuple(cells)))
    return TableBlock(key, caption, "", tuple(columns), tuple(out))


def _figure_cell(name: str, value: float, unit: str) -> Cell:
    if np.isnan(value):
        return Cell(name, None, unit, mark="no data", reason="the row cannot run, or has no such figure")
    return Cell(name, _exact(value), unit)


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.9g}")


def _upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def sentence(found: SweepFound) -> str:
    """Say how many rows ran and kept the limits."""
    one = found.outcome
    said = f"{_count(one.rows)} rows, {_count(one.ran)} can run"
    return f"{said}, {_count(one.feasible)} keep all limits" if found.sweep.limits else said


def _count(number: int) -> str:
    return f"{number:,}".replace(",", THIN)


def limits_of(found: SweepFound) -> list[str]:
    """Say of each limit how many rows keep it, and what the best would be without it."""
    lines = []
    best = found.outcome.best[0][0] if found.outcome.best else None
    for one in found.sweep.limits:
        kept = f"{one.text}: {_count(found.outcome.kept.get(one.text, 0))} rows keep it"
        least = found.outcome.without.get(one.text)
        if best and least is not None:
            change = least / best - 1.0
            kept += "; it does not bind" if change > -1e-12 else f"; without it the best would be {change:+.1%}"
        lines.append(kept.replace("-", "−"))
    nearest = found.outcome.nearest
    if not found.outcome.feasible and nearest is not None:
        lines.append(f"No row keeps all limits; row {nearest[1]} comes nearest, {nearest[0]:.3g} times over one.")
    common = sorted(found.outcome.reasons.items(), key=lambda item: -item[1])[:3]
    lines += [f"{count} rows cannot run: {text}" for text, count in common]
    lines += [f"{label(name)} is not known: {text}" for name, text in found.outcome.not_told.items()]
    return lines
