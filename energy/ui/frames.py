"""Long tables: sortable, with units in the head and the meaning of each column from the field registry as help."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import streamlit as st

from energy.report import numbers
from energy.report.display import ColumnFormat, cell_text, column_format, header
from energy.report.model import Cell, Column, TableBlock
from energy.report.numbers import THIN
from energy.ui import tables
from energy.ui.notices import heading, notes

if TYPE_CHECKING:
    from energy.schema import Field

MOST_HTML_ROWS = 20
_ROW_PX, _MOST_PX = 35, 420


def block(table: TableBlock, *, meanings: Mapping[str, Field] | None = None, key: str = "") -> None:
    """Show a table: as HTML up to twenty rows, above that as a sortable one that scrolls in its own box.

    Parameters
    ----------
    table : TableBlock
        What is shown; all of it is in the download.
    meanings : mapping of str to Field, optional
        Key of a column to the field of the registry that says what it means.
    key : str
        Key of the table and its download; the table's id by default.
    """
    name = key or table.id
    if len(table.rows) <= MOST_HTML_ROWS:
        tables.block(table, key=name)
        return
    heading(table.caption, table.sub)
    frame, config = framed(table, meanings or {})
    st.dataframe(
        frame,
        column_config=config,
        hide_index=True,
        height=height(len(frame)),
        placeholder=numbers.NO_DATA,
        key=f"frame.{name}",
        alt=f"{table.caption}. {table.sub}.",
    )
    notes([*table.notes, *_reasons(table)])
    tables.download(tables.csv_rows(table), f"{table.id}.csv", name)


def height(rows: int) -> int:
    """Return the height of a table of so many rows, px.

    Examples
    --------
    >>> height(3), height(1000)
    (142, 420)

    """
    return min((rows + 1) * _ROW_PX + 2, _MOST_PX)


def framed(table: TableBlock, meanings: Mapping[str, Field]) -> tuple[Any, dict[str, Any]]:
    """Return a table as a data frame of one unit per column, and how its columns are named.

    Parameters
    ----------
    table : TableBlock
        The table.
    meanings : mapping of str to Field
        Key of a column to its field of the registry.
    """
    pd: Any = importlib.import_module("pandas")  # comes with streamlit
    data: dict[str, Any] = {}
    config: dict[str, Any] = {}
    for place, column in enumerate(table.columns):
        cells = [row.cells[place] for row in table.rows]
        form = column_format(column, cells)
        found = meanings.get(column.key)
        help_ = found.meaning if found else None
        values, kind = _column(column, cells, form)
        data[column.key] = pd.Series(values, dtype="float64" if kind == "number" else "object")
        config[column.key] = _config(column, form, kind, help_, pinned=place == 0)
        spans = [cell_text(cell, column, form).range for cell in cells] if kind == "number" else []
        if any(spans):
            data[f"{column.key}.range"] = pd.Series(spans, dtype="object")
            config[f"{column.key}.range"] = st.column_config.TextColumn(
                f"Range, 95{THIN}%", help=f"Of {header(column, form)}.", alignment="right"
            )
    return pd.DataFrame(data), config


def _column(column: Column, cells: Sequence[Cell], form: ColumnFormat) -> tuple[list[Any], str]:
    """Return the values of a column; marks other than "no data" are words, so the column becomes one of words."""
    if column.kind in ("text", "code"):
        return [cell_text(cell, column, form).value for cell in cells], "text"
    if any(cell.mark not in ("", "no data") for cell in cells):
        return [cell_text(cell, column, form).value for cell in cells], "words"
    factor = Decimal("0.01") if column.kind == "share" else form.factor
    return [None if cell.value is None else float(Decimal(cell.value) / factor) for cell in cells], "number"


def _config(column: Column, form: ColumnFormat, kind: str, help_: str | None, *, pinned: bool) -> Any:
    label = f"{column.label}, %" if column.kind == "share" and "%" not in column.label else header(column, form)
    if kind == "number":
        decimals = 1 if column.kind == "share" else form.decimals
        return st.column_config.NumberColumn(label, help=help_, format=f"%.{decimals}f")
    side: Any = "right" if kind == "words" else "left"
    return st.column_config.TextColumn(label, help=help_, alignment=side, pinned=pinned)


def _reasons(table: TableBlock) -> list[str]:
    """Say why values are marked, each reason once."""
    found = {
        (cell.mark, cell.reason) for row in table.rows for cell in row.cells if cell.mark and cell.mark != "no data"
    }
    return [f"{mark}: {reason}" for mark, reason in sorted(found)]
