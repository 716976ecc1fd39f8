"""A chart of a query's result: bars over a text column, a line over instants; the reader chooses both columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from energy.report import numbers
from energy.report.charts import ticks
from energy.report.numbers import THIN
from energy.ui import charts, theme
from energy.ui.notices import heading, notes
from energy.ui.sql_view import numbers_text, text

if TYPE_CHECKING:
    from energy.ledger.query import Result, ResultColumn

MOST_ROWS = 2_000
MOST_BARS = 30
_ROW_PX, _LINE_PX = 30, 300
_HOURS_WITHIN_DAYS, _DAYS_WITHIN_DAYS = 2, 366


def axes(result: Result) -> tuple[list[ResultColumn], list[ResultColumn]]:
    """Return the columns that may stand across (text, instants) and those that have values.

    Parameters
    ----------
    result : Result
        Of a query.
    """
    names = [column.name for column in result.columns]
    single = [column for column in result.columns if names.count(column.name) == 1]
    across = [column for column in single if column.type.startswith(("VARCHAR", "DATE", "TIMESTAMP"))]
    values = [column for column in single if column.is_number]
    if not 0 < result.row_count <= MOST_ROWS or result.truncated:
        return [], []
    return (across, values) if across and values else ([], [])


def refusal(result: Result, across: str) -> str:
    """Say why a column cannot stand across; empty where it can.

    Parameters
    ----------
    result : Result
        Of a query.
    across : str
        Name of the column.
    """
    values = _values(result, across)
    if len(set(values)) < len(values):
        twice = text(Counter(values).most_common(1)[0][0])
        return f"{across} has several rows for {twice}: group by {across}, hold the other columns, or choose another."
    return ""


def _values(result: Result, name: str) -> list[Any]:
    place = [column.name for column in result.columns].index(name)
    values: list[Any] = result.table.columns[place].to_pylist()
    return values


def show(result: Result, across: ResultColumn, value: ResultColumn) -> None:
    """Draw one column over another.

    Parameters
    ----------
    result : Result
        Of a query.
    across : ResultColumn
        Text or instants, each value once.
    value : ResultColumn
        Numbers.
    """
    unit = value.unit_label or "no unit"
    line = not across.type.startswith("VARCHAR")
    rows = list(zip(_values(result, across.name), _values(result, value.name), strict=True))
    if line:
        rows = sorted((row for row in rows if row[0] is not None), key=lambda row: row[0])
    shown = rows if line else rows[:MOST_BARS]
    heading(f"{value.name} by {across.name}", f"{unit}; {numbers.plain(len(shown), 0)} of {len(rows)} rows")
    names, values = [text(row[0]) for row in shown], [row[1] for row in shown]
    figure = _line([row[0] for row in shown], names, values, unit) if line else _bars(names, values, unit)
    charts.draw(figure, alternative(across.name, value.name, unit, names, values, line=line), "sql")
    if len(shown) < len(rows):
        notes([f"The first {MOST_BARS} rows are drawn, in the order of the query."])


def alternative(across: str, value: str, unit: str, names: Sequence[str], values: Sequence[Any], *, line: bool) -> str:
    """Return the alternative text: kind, quantity, extremes, gaps.

    Parameters
    ----------
    across, value : str
        Names of the columns.
    unit : str
        Unit of the values.
    names, values : sequence
        What is drawn.
    line : bool
        Whether it is a line.
    """
    kind = "Line" if line else "Horizontal bars"
    words = numbers_text(values)
    known = [(one, place) for place, one in enumerate(values) if one is not None]
    if not known:
        return f"{kind} of {value} by {across}: no data in any of {len(values)} rows."
    low, high = min(known)[1], max(known)[1]
    gaps = len(values) - len(known)
    said = f" In {gaps} of them there is no data." if gaps else ""
    return (
        f"{kind} of {value} ({unit}) by {across}, {len(values)} rows. Lowest {words[low]} at {names[low]}, "
        f"highest {words[high]} at {names[high]}.{said}"
    )


def _span(values: Sequence[float], room: float) -> dict[str, Any]:
    low, high = min([0.0, *values]), max([0.0, *values])
    if low < 0:
        wide = high - low
        return {"range": [low - (room - 1) * wide, high + (room - 1) * wide]}
    marks = ticks(high)
    texts = [f"{mark:,g}".replace(",", THIN) for mark in marks]
    return {"range": [0, max(marks[-1], high * room)], "tickvals": marks, "ticktext": texts}


def _title(unit: str) -> dict[str, Any]:
    return {"title": {"text": unit, "font": {"size": 13}}}


def _bars(names: Sequence[str], values: Sequence[Any], unit: str) -> charts.Figure:
    surface = theme.colours()["surface"]
    places = list(range(len(names)))
    heights = [0.0 if value is None else float(value) for value in values]
    words = numbers_text(values)
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": places,
        "x": heights,
        "marker": {"color": surface["muted"]},
        "hovertext": [f"{name}: {word}{THIN}{unit}" for name, word in zip(names, words, strict=True)],
        "hoverinfo": "text",
    }
    labels = {
        "type": "scatter",
        "mode": "text",
        "x": [max(height, 0.0) for height in heights],
        "y": places,
        "text": [f"\u00a0\u00a0{word}" for word in words],
        "textposition": "middle right",
        "textfont": {"size": 13, "color": surface["ink"]},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    short = [name if len(name) <= 22 else name[:21] + "…" for name in names]
    return {
        "data": [bars, labels],
        "layout": {
            "height": _ROW_PX * len(names) + 64,
            "xaxis": {"showgrid": True, **_span(heights, 1.22), **_title(unit)},
            "yaxis": {"tickvals": places, "ticktext": short, "range": [len(names) - 0.5, -0.5], "showgrid": False},
        },
    }


def _line(instants: Sequence[date | datetime], names: Sequence[str], values: Sequence[Any], unit: str) -> charts.Figure:
    ink = theme.colours()["surface"]["ink"]
    heights = [None if value is None else float(value) for value in values]
    words = numbers_text(values)
    line = {
        "type": "scatter",
        "mode": "lines+markers" if len(values) <= 60 else "lines",
        "x": [instant.isoformat() for instant in instants],
        "y": heights,
        "connectgaps": False,
        "line": {"color": ink, "width": 2},
        "marker": {"size": 6, "color": ink},
        "hovertext": [f"{name}: {word}{THIN}{unit}" for name, word in zip(names, words, strict=True)],
        "hoverinfo": "text",
    }
    known = [height for height in heights if height is not None]
    # The unit stands above the axis: a title beside it would be turned.
    above = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 4}
    return {
        "data": [line],
        "layout": {
            "height": _LINE_PX,
            "margin": {"l": 4, "r": 8, "t": 28, "b": 4, "pad": 4},
            "yaxis": _span(known, 1.05),
            "xaxis": {"nticks": 6, "tickformat": _day_format(instants)},
            "annotations": [above | {"text": unit, "showarrow": False, "font": {"size": 13}}],
        },
    }


def _day_format(instants: Sequence[Any]) -> str:
    """Write hours where all lie within two days, days within a year, else months."""
    days = (instants[-1] - instants[0]).days if len(instants) > 1 else 0
    if days < _HOURS_WITHIN_DAYS:
        return "%H:%M<br>%-d %b %Y"
    return "%-d %b<br>%Y" if days < _DAYS_WITHIN_DAYS else "%b %Y"
