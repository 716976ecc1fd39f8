"""A query's result: its table with the unit of each column, what the columns mean, and a chart on request."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from energy.report import numbers
from energy.report.numbers import MINUS, THIN
from energy.ui import frames

if TYPE_CHECKING:
    from energy.ledger.query import Result, ResultColumn

_SIGNIFICANT, _MOST_DECIMALS = 5, 9
_LONGEST_TEXT = 200
_HUGE = Decimal(10) ** 15


def table(result: Result) -> None:
    """Show the rows: as HTML up to twenty rows, above that as a sortable table that scrolls in its own box.

    Parameters
    ----------
    result : Result
        Of a query.
    """
    if [column.name for column in result.columns] == ["explain_key", "explain_value"]:
        st.code("\n".join(str(row[1]).rstrip() for row in result.rows()), language=None)
        return
    if result.row_count <= frames.MOST_HTML_ROWS:
        st.html(html(result))
        return
    st.dataframe(
        frame(result),
        column_config=_config(result),
        hide_index=True,
        height=frames.height(result.row_count),
        placeholder=numbers.NO_DATA,
        key="sql.frame",
        alt=f"Result of {numbers.plain(result.row_count, 0)} rows: "
        + ", ".join(column.label for column in result.columns),
    )


def html(result: Result) -> str:
    """Return a short result as an HTML table, the unit of each column under its name.

    Parameters
    ----------
    result : Result
        Of a query.
    """
    lists = [[row[place] for row in result.rows()] for place in range(len(result.columns))]
    texts = [
        numbers_text(values) if column.is_number else [text(value) for value in values]
        for column, values in zip(result.columns, lists, strict=True)
    ]
    head = "".join(_head(column) for column in result.columns)
    body = "".join(
        "<tr>"
        + "".join(_cell(column, line[place]) for column, line in zip(result.columns, texts, strict=True))
        + "</tr>"
        for place in range(result.row_count)
    )
    return (
        '<div class="en"><div class="en-scroll" role="region" tabindex="0" aria-label="Result of the query">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _head(column: ResultColumn) -> str:
    side = ' class="num"' if column.is_number else ""
    unit = escape(column.unit_label) or "&nbsp;"
    return f'<th scope="col"{side} title="{escape(column.meaning)}"><code>{escape(column.name)}</code><br>{unit}</th>'


def _cell(column: ResultColumn, words: str) -> str:
    kinds = ["num" if column.is_number else "short" if len(words) < 40 else "long"]
    kinds += ["muted"] if words == numbers.NO_DATA else []
    return f'<td class="{" ".join(kinds)}">{escape(words)}</td>'


def places_of(values: Sequence[Decimal]) -> int:
    """Return the one count of decimals of a column: five digits of its largest number, less shared zeros at the end.

    Examples
    --------
    >>> places_of([Decimal("1234.5678"), Decimal(2)]), places_of([Decimal(12), Decimal(7)]), places_of([])
    (1, 0, 0)

    """
    largest = max((abs(value) for value in values), default=Decimal(0))
    places = min(_MOST_DECIMALS, max(0, _SIGNIFICANT - 1 - largest.adjusted())) if largest else 0
    with localcontext() as context:
        context.prec = 400  # a DOUBLE may have 309 digits before its point
        while places and all(_rounded(value, places) == _rounded(value, places - 1) for value in values):
            places -= 1
    return places


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def numbers_text(values: Sequence[Any]) -> list[str]:
    """Write a column of numbers for reading; a missing one is "no data", a small one never reads 0.

    Examples
    --------
    >>> [one.replace(THIN, " ") for one in numbers_text([Decimal("1234.56"), None, Decimal(0), Decimal("0.001")])]
    ['1 234.6', 'no data', '0.0', '< 0.1']

    """
    exact = [None if value is None else numbers.exact(value) for value in values]
    finite = [value for value in exact if value is not None and value.is_finite()]
    places = places_of(finite)
    return [_number(value, places) for value in exact]


def _number(value: Decimal | None, places: int) -> str:
    if value is None:
        return numbers.NO_DATA
    if not value.is_finite():
        return str(value).lower().replace("-", MINUS)
    if abs(value) >= _HUGE:
        return f"{value:.4e}".replace("-", MINUS).replace("+", "")
    least = Decimal(1).scaleb(-places)
    if value and abs(value) < least / 2:
        return f"{'<' if value > 0 else '>'}{THIN}{numbers.plain(least if value > 0 else -least, places)}"
    return numbers.plain(value, places)


def text(value: Any) -> str:
    """Write what is no number: instants in UTC, lists as they are, long texts cut.

    Examples
    --------
    >>> text(None), text(True), text("a  b"), text(datetime(2026, 3, 31, 14, 30))
    ('no data', 'true', 'a  b', '2026-03-31 14:30')

    """
    if value is None:
        return numbers.NO_DATA
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        seconds = f"{value:%Y-%m-%d %H:%M:%S}" if value.second or value.microsecond else f"{value:%Y-%m-%d %H:%M}"
        return f"{seconds} UTC" if value.tzinfo is not None else seconds
    words = str(value)
    return words if len(words) <= _LONGEST_TEXT else words[: _LONGEST_TEXT - 1] + "…"


def frame(result: Result) -> Any:
    """Return a long result as a data frame; its columns are numbered, since names may repeat.

    Parameters
    ----------
    result : Result
        Of a query.
    """
    import pyarrow as pa

    pd: Any = importlib.import_module("pandas")  # comes with streamlit
    data: dict[str, Any] = {}
    for place, (column, values) in enumerate(zip(result.columns, result.table.columns, strict=True)):
        if column.is_number:
            data[str(place)] = pd.Series(values.cast(pa.float64()).to_pandas(), dtype="float64")
        else:
            data[str(place)] = pd.Series(
                [None if one is None else text(one) for one in values.to_pylist()], dtype="object"
            )
    return pd.DataFrame(data)


def _config(result: Result) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for place, (column, values) in enumerate(zip(result.columns, result.table.columns, strict=True)):
        help_ = column.meaning or None
        if column.is_number:
            out[str(place)] = st.column_config.NumberColumn(column.label, help=help_, format=_format(values))
        else:
            out[str(place)] = st.column_config.TextColumn(column.label, help=help_)
    return out


def _format(values: Any) -> str:
    """Choose the decimals by the largest number; the search for shared zeros is for short tables."""
    import pyarrow as pa
    import pyarrow.compute

    if pa.types.is_integer(values.type):
        return "%d"
    found = pa.compute.min_max(values.cast(pa.float64()))
    ends = [one.as_py() for one in (found["min"], found["max"])]
    known = [numbers.exact(one) for one in ends if one is not None]
    largest = max((abs(one) for one in known if one.is_finite()), default=Decimal(0))
    places = min(_MOST_DECIMALS, max(0, _SIGNIFICANT - 1 - largest.adjusted())) if largest else 0
    return f"%.{places}f"


def meanings(result: Result) -> str:
    """Return the columns of a result as HTML: name, unit, meaning; what a reader without a pointer cannot hover.

    Parameters
    ----------
    result : Result
        Of a query.
    """
    lines = "".join(
        f"<dt><code>{escape(column.name)}</code> {escape(column.unit_label or 'no unit')}</dt>"
        f"<dd>{escape(column.meaning or f'Made by the query; type {column.type}.')}</dd>"
        for column in result.columns
    )
    return f'<div class="en en-schema"><details><summary>Columns and units</summary><dl>{lines}</dl></details></div>'
