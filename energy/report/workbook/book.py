"""The workbook as bytes: the same report gives the same file."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from energy.errors import ReportError
from energy.report import json_twin
from energy.report.model import DataTable, Report, Selection
from energy.report.workbook.cells import Keys, Pen, reference

_A4 = 9
_MARGIN_INCH = 0.5
TITLE_HEIGHT = 26
_KEY_COLUMNS = ("site_id", "owner_key", "chip")


@dataclass
class Book:
    """What every maker of a sheet works on."""

    report: Report
    tables: dict[str, DataTable]
    pen: Pen
    keys: Keys
    report_sha256: str
    names: dict[str, str] = field(default_factory=dict)  # named range -> what it is
    _records: dict[str, list[dict[str, Any]]] = field(default_factory=dict, repr=False)

    def sheet(self, title: str, repeat_to: int, landscape: bool = True) -> Any:
        """Add a sheet that prints fit to the width, with its first rows on each page."""
        sheet = self.pen.workbook.add_worksheet(title)
        if landscape:
            sheet.set_landscape()
        sheet.set_paper(_A4)
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(_MARGIN_INCH, _MARGIN_INCH, 0.6, 0.6)
        sheet.repeat_rows(0, repeat_to)
        sheet.hide_gridlines(2)
        sheet.set_footer(
            f"&L{self.report.title.replace('&', '&&')}, {self.report.status}, run {self.report.run_id}"
            f"&C{title}&RPage &P of &N"
        )
        return sheet

    def name(self, name: str, title: str, first: tuple[int, int], last: tuple[int, int] | None, words: str) -> None:
        """Name a cell, or the cells from ``first`` to ``last``."""
        cells = [reference(*cell, row_fixed=True, column_fixed=True) for cell in (first, *([last] if last else []))]
        self.pen.workbook.define_name(name, f"='{title}'!{':'.join(cells)}")
        self.names[name] = words

    def rows(self, table: str, selection: Selection = ()) -> list[dict[str, Any]]:
        """Return the rows of a table that a selection names."""
        if table not in self._records:
            found = self.tables[table]
            self._records[table] = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        return [row for row in self._records[table] if all(row[name] == value for name, value in selection)]

    def total(self, table: str, column: str, selection: Selection = ()) -> Decimal:
        """Add a column exactly over a selection, as a formula does: no value counts as nothing."""
        values = (row[column] for row in self.rows(table, selection))
        return sum((value for value in values if isinstance(value, Decimal)), Decimal(0))


def content(report: Report) -> bytes:
    """Return the workbook of a report.

    Parameters
    ----------
    report : Report
        From :func:`energy.report.build`, with its ledger still open: the workbook shows more rows than the report.

    Raises
    ------
    ReportError
        When the report was made without its rows, or the ledger no longer answers.
    """
    import xlsxwriter

    if report.rows is None and not report.empty:
        raise ReportError("This report has no rows for a workbook: make it with energy.report.build from a ledger.")
    tables = {table.name: table for table in report.rows()} if report.rows is not None else {}
    out = io.BytesIO()
    workbook = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    workbook.set_properties(_properties(report))
    workbook.set_size(1600, 1000)
    book = Book(report, tables, Pen(workbook), _keys(tables), _sha256(report))
    _sheets(book)
    workbook.close()
    return out.getvalue()


def _sheets(book: Book) -> None:
    from energy.report.workbook import checks, readme, row_sheets, summary

    if book.report.empty:
        readme.empty(book)
        return
    # Sheets stand in the order of reading; formulas refer to names, which need no order.
    made = summary.write(book)
    guide = readme.prepare(book)
    summary.verdict(book, made, checks.write(book, made))
    row_sheets.write(book)
    readme.write(book, guide)


def _keys(tables: dict[str, DataTable]) -> Keys:
    found: dict[str, set[str]] = {column: set() for column in (*_KEY_COLUMNS, "basis")}
    for table in tables.values():
        for column, keys in found.items():
            if column in table.columns:
                place = table.columns.index(column)
                keys.update(row[place] for row in table.rows if row[place] is not None)
    return Keys(dict(found))


def _sha256(report: Report) -> str:
    return hashlib.sha256(json_twin.text(report).encode()).hexdigest()


def _properties(report: Report) -> dict[str, Any]:
    last = date.fromisoformat(report.last_day)
    return {
        "title": report.title,
        "subject": report.subtitle,
        "company": report.entity,
        "category": "Carbon report",
        "keywords": f"{report.quarter}, Scope 2, energy",
        "comments": f"Run {report.run_id}, ledger version {report.ledger_version}, code {report.code_version}",
        # The date that the report is about: a clock would make each file another.
        "created": datetime(last.year, last.month, last.day),
    }
