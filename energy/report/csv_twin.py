"""The report as CSV: every value in ``report.csv``, and the ledger's rows that the figures are sums of.

Point as decimal mark, no thousands mark, UTF-8, line feed, unit in a column of its own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from energy.report.json_twin import plain
from energy.report.model import Cell, FigureBlock, Report, TableBlock

_COLUMNS = (
    "quarter",
    "section",
    "table",
    "row",
    "column",
    "cell_id",
    "value",
    "unit",
    "low",
    "high",
    "mark",
    "reason",
    "factor_ids",
)


def files(report: Report) -> dict[str, str]:
    """Return the files by name: ``report.csv``, and one for each table of rows.

    Parameters
    ----------
    report : Report
        The report of a quarter.
    """
    out = {"report.csv": _text(_COLUMNS, _values(report))}
    for table in report.data:
        out[f"{table.name}.csv"] = _text(table.columns, table.rows)
    return out


def _values(report: Report) -> Iterable[tuple[Any, ...]]:
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, FigureBlock):
                for figure in block.figures:
                    yield (report.quarter, section.id, block.id, figure.label, "value", *_cell(figure.cell))
            elif isinstance(block, TableBlock):
                for row in block.rows:
                    for column, cell in zip(block.columns, row.cells, strict=True):
                        yield (report.quarter, section.id, block.id, row.key, column.key, *_cell(cell))


def _cell(cell: Cell) -> tuple[Any, ...]:
    return (
        cell.id,
        cell.value,
        cell.unit,
        cell.low,
        cell.high,
        cell.mark,
        cell.reason,
        " ".join(cell.factor_ids),
    )


def _text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if value is None else plain(value) for value in row])
    return out.getvalue()
