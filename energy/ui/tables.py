"""Tables: those of the report as HTML with units and ranges, long ones as described data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from energy.report.display import CellText, ColumnFormat, cell_text, column_format, header
from energy.report.model import Column, Row, TableBlock
from energy.report.numbers import THIN
from energy.ui import words
from energy.ui.notices import notes, rich

if TYPE_CHECKING:
    from energy.schema import Field

_LONG = 28  # characters: a text column with longer cells may wrap
_RANGE_HEAD = f"Range, 95{THIN}%"


def block(table: TableBlock, *, energy_unit: str = "", key: str = "", limit: int | None = None) -> None:
    """Show a table of the report, its notes and its download.

    Parameters
    ----------
    table : TableBlock
        What is shown; all of it is in the download.
    energy_unit : str
        Unit of energy that the reader asks for.
    key : str
        Key of the download button; the table's id by default.
    limit : int, optional
        How many rows are shown; sums are always shown.
    """
    shown = table.rows
    if limit is not None and len(table.rows) > limit:
        shown = (*table.rows[:limit], *(row for row in table.rows[limit:] if row.kind == "sum"))
    st.html(html(table, shown, energy_unit))
    more = [words.filtered(len(shown), len(table.rows))] if len(shown) < len(table.rows) else []
    notes([*more, *table.notes])
    download(csv_rows(table), f"{table.id}.csv", key or table.id)


def html(table: TableBlock, rows: Sequence[Row] | None = None, energy_unit: str = "") -> str:
    """Return a table as HTML: one unit and one count of decimals per column, ranges in columns of their own."""
    shown = table.rows if rows is None else rows
    forms = [
        column_format(column, [row.cells[place] for row in shown], energy_unit)
        for place, column in enumerate(table.columns)
    ]
    texts = [
        [cell_text(cell, column, form) for cell, column, form in zip(row.cells, table.columns, forms, strict=True)]
        for row in shown
    ]
    ranged = [any(line[place].range for line in texts) for place in range(len(table.columns))]
    head = "".join(
        _head(column, form, with_range) for column, form, with_range in zip(table.columns, forms, ranged, strict=True)
    )
    long = [any(len(line[place].value) > _LONG for line in texts) for place in range(len(table.columns))]
    body = "".join(
        f"<tr{' class=sum' if row.kind == 'sum' else ''}>{_line(table.columns, line, ranged, long)}</tr>"
        for row, line in zip(shown, texts, strict=True)
    )
    sub = f"<span>{rich(table.sub)}</span>" if table.sub else ""
    return (
        f'<div class="en"><div class="en-scroll" role="region" tabindex="0" aria-label="{escape(table.caption)}">'
        f"<table><caption>{rich(table.caption)}{sub}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div></div>"
    )


def _head(column: Column, form: ColumnFormat, with_range: bool) -> str:
    number = column.kind in ("number", "share")
    cells = f'<th scope="col"{" class=num" if number else ""}>{escape(header(column, form))}</th>'
    return cells + (f'<th scope="col" class="num">{_RANGE_HEAD}</th>' if with_range else "")


def _line(columns: Sequence[Column], line: Sequence[CellText], ranged: Sequence[bool], long: Sequence[bool]) -> str:
    out = []
    for place, (column, text) in enumerate(zip(columns, line, strict=True)):
        number = column.kind in ("number", "share")
        kinds = ["num"] if number else ["long" if long[place] else "short"]
        kinds += ["muted"] if text.muted else []
        title = f' title="{escape(text.title)}"' if text.title else ""
        tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
        out.append(f'<{tag}{scope} class="{" ".join(kinds)}"{title}>{escape(text.value)}</{tag}>')
        if ranged[place]:
            out.append(f'<td class="num muted">{escape(text.range or _no_range(text))}</td>')
    return "".join(out)


def _no_range(text: CellText) -> str:
    """Say why there is no range: nothing to have one, an exact 0, or lines without one."""
    if text.muted:
        return "not applicable"
    return "exact" if text.value == "0" else "not known"


def csv_rows(table: TableBlock) -> list[list[str]]:
    """Return a table as exact texts, with a head; each value has its unit and the ends of its range."""
    out = [["row", "column", "value", "unit", "low", "high", "mark", "reason"]]
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            ends = ["" if end is None else f"{end:f}" for end in (cell.low, cell.high)]
            value = "" if cell.value is None else str(cell.value)
            out.append([row.key, column.key, value, cell.unit, *ends, cell.mark, cell.reason])
    return out


def csv_bytes(rows: Iterable[Sequence[Any]]) -> bytes:
    r"""Return rows as CSV: UTF-8, line feed, decimal point.

    Examples
    --------
    >>> csv_bytes([["a", "b"], [1, "x,y"]])
    b'a,b\n1,"x,y"\n'

    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


def download(rows: Iterable[Sequence[Any]], file_name: str, key: str) -> None:
    """Offer rows as a CSV file, under what they were drawn from."""
    st.download_button(
        words.DOWNLOAD_DATA,
        csv_bytes(rows),
        file_name=file_name,
        mime="text/csv",
        key=f"download.{key}",
        on_click="ignore",
        type="tertiary",
    )


def column_config(fields: Iterable[Field]) -> dict[str, Any]:
    """Return what ``st.dataframe`` needs to name columns: label with unit, meaning as help.

    Parameters
    ----------
    fields : iterable of Field
        Of the field registry, as ``energy.schema.table("main.jobs").fields.values()``.
    """
    out: dict[str, Any] = {}
    for field in fields:
        label = f"{field.name}, {field.unit}" if field.unit else field.name
        out[field.name] = st.column_config.Column(label=label, help=field.meaning)
    return out
