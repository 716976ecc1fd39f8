"""What the page Validation says of a suite: statistics, groups and reasons as tables; without Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from energy.catalogue import _tables
from energy.report.model import Cell, Column, Figure, Row, TableBlock
from energy.report.numbers import THIN
from energy.validation.results import shipped
from energy.validation.suites import SUITES

Found = Mapping[str, Any]

_FITS = {
    "training": ("Factors of software stacks are fitted on these rows. Left out of the fit:", "stack_factors"),
    "mlperf": ("Factors are fitted on these rows. Available systems, by what was left out:", "mlperf_coefficients"),
}
_PAGES = {"memory": "cost", "gemm": "cost", "pue": "facility", "pv": "supply", "standards": "methods"}
_COLUMNS = (
    ("answered", "Rows"),
    ("mape_pct", "Mean error"),
    ("median_ape_pct", "Median"),
    ("bias_pct", "Bias"),
    ("inside_80pct", "In the 80 % band"),
    ("inside_95pct", "In the 95 % band"),
)


@cache
def results() -> Mapping[str, Found]:
    """Return the shipped results by suite."""
    found: Mapping[str, Found] = shipped()["suites"]
    return found


def options() -> dict[str, str]:
    """Return the suites with results: name -> what it compares."""
    return {name: f"{name}: {SUITES[name].compares}" for name in SUITES if name in results()}


def fitted(suite: str) -> list[str]:
    """Say what of a suite was fitted on its own rows: the errors of a fit flatter, those of rows left out do not."""
    if suite in _FITS:
        words, table = _FITS[suite]
        note = next(note for note in (row.text("note") for row in _tables.rows(table)) if "left out" in note)
        return [words, *note.split("; ")]
    page = _PAGES.get(suite, "power")
    return [f"What is fitted on these rows, and how far off the fit is where they were left out: docs/{page}.md."]


def _percent(name: str, value: float | None) -> Cell:
    if value is None:
        return Cell(name, None, "%", mark="not applicable", reason="the suite has no bands, or no rows")
    return Cell(name, Decimal(f"{value:.1f}"), "%")


def _said(name: str, value: float | None) -> Cell:
    return _percent(name, value) if value is None else Cell(name, f"{value:.1f}{THIN}%".replace("-", "−"))


def figures_of(suite: str) -> list[Figure]:
    """Return the headline figures of a suite."""
    found = results()[suite]
    answered = Cell("validation.answered", int(found["answered"]))
    lines = [
        ("median_ape_pct", "Median error", "half of the rows are nearer"),
        ("mape_pct", "Mean error", "of absolute errors over the measured value"),
        ("bias_pct", "Bias", "mean error with its sign"),
        ("within_10pct", f"Within 10{THIN}%", "of answered rows"),
        ("inside_80pct", f"Inside the 80{THIN}% band", "80 is right"),
        ("inside_95pct", f"Inside the 95{THIN}% band", "95 is right"),
    ]
    out = [Figure("Rows answered", answered, "exact", f"of {found['rows']:,}".replace(",", THIN))]
    out += [Figure(words, _said(f"validation.{name}", found[name]), "exact", known) for name, words, known in lines]
    return out


def groups_of(suite: str) -> Sequence[str]:
    """Return the groups that a suite's rows have."""
    return list(results()[suite]["groups"])


def group_table(suite: str, group: str) -> TableBlock:
    """Return the statistics by the values of a group."""
    rows = []
    for value, one in results()[suite]["groups"][group].items():
        cells = [Cell(f"validation.{group}.{value}", value or "not told")]
        cells.append(Cell(f"validation.{group}.{value}.answered", int(one["answered"])))
        cells += [_percent(f"validation.{group}.{value}.{name}", one[name]) for name, _ in _COLUMNS[1:]]
        rows.append(Row(value, tuple(cells)))
    columns = [Column("value", group.replace("_", " ").capitalize(), kind="text"), Column("answered", "Rows")]
    columns += [Column(name, f"{words}, %", "%", decimals=1) for name, words in _COLUMNS[1:]]
    return TableBlock("validation.groups", f"By {group.replace('_', ' ')}", "", tuple(columns), tuple(rows))


def reasons_table(suite: str) -> TableBlock | None:
    """Return why rows were not answered, the most frequent first; None where all were."""
    found = results()[suite]["reasons"]
    if not found:
        return None
    rows = [
        Row(str(at), (Cell(f"validation.reason.{at}", text), Cell(f"validation.reason.{at}.rows", int(count))))
        for at, (text, count) in enumerate(found)
    ]
    columns = (Column("reason", "Reason", kind="text"), Column("rows", "Rows"))
    return TableBlock("validation.reasons", "Rows that are not answered", "", columns, tuple(rows))


def csv_rows(suite: str) -> list[list[Any]]:
    """Return the bins of a suite."""
    out: list[list[Any]] = [["quantity", "measured_middle", "error_pct_middle", "rows", "rows_outside_95pct"]]
    for quantity, one in results()[suite]["quantities"].items():
        out += [[quantity, *line] for line in one["bins"]]
    return out
