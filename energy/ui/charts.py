"""The report's charts in the browser: heading, drawing with alternative text, key, notes, and its data to download.

The drawing repeats what the heading, the alternative text and a table say; nothing is known by hovering alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from html import escape
from typing import Any

import streamlit as st

from energy.report import numbers
from energy.report.charts import ticks
from energy.report.display import ColumnFormat, column_format
from energy.report.model import Cell, ChartBlock, Column, Series
from energy.report.numbers import THIN
from energy.report.overview import chart_rows
from energy.ui import tables, theme
from energy.ui.notices import heading, notes

TIER_LABELS = {
    "measured": "measured",
    "integrated": "integrated power",
    "modelled": "utilisation × power model",
    "default": "default power",
    "missing": "not known",
}
_HATCH = {"modelled": "/", "default": "x"}
_SYMBOLS = {"location": "circle", "market": "square", "hourly": "triangle-up"}
_ROW_PX, _LINE_PX, _HEAT_PX, _STRIP_PX = 32, 280, 270, 52
_BAR = 0.38
_MOST_TICKS = 6

Figure = dict[str, Any]


def show(chart: ChartBlock, *, energy_unit: str = "", key: str = "") -> None:
    """Show a chart of the report.

    Parameters
    ----------
    chart : ChartBlock
        Its kind chooses the drawing.
    energy_unit : str
        Unit of energy that the reader asks for; by default the fitting prefix.
    key : str
        Key of the drawing and its download; the chart's id by default.
    """
    form = unit_of(chart, energy_unit)
    named = not form.unit or form.unit in chart.sub
    heading(chart.heading, chart.sub if named else f"{chart.sub}; in {form.unit}")
    if key_html := _key(chart, form):
        st.html(f'<div class="en en-key">{key_html}</div>')
    draw(_DRAWERS[chart.kind](chart, form), chart.alt, key or chart.id)
    notes(chart.notes)
    tables.download(chart_rows(chart), f"{chart.id}.csv", f"{key or chart.id}.chart")


def draw(figure: Figure, alt: str, key: str) -> None:
    """Draw a figure of plain dicts in the reader's theme.

    Parameters
    ----------
    figure : dict
        ``data`` and ``layout`` of plotly; the layout is laid over the theme's.
    alt : str
        Kind, quantity, period, extremes and gaps, in one to three sentences.
    key : str
        Key of the element.
    """
    import plotly.graph_objects as go

    base = theme.template(theme.name())
    own = figure["layout"]
    axes = {name: base[name] | own.get(name, {}) | {"tickfont": base[name]["tickfont"]} for name in ("xaxis", "yaxis")}
    drawn = go.Figure({"data": figure["data"], "layout": base | own | axes | {"template": "none"}})
    st.plotly_chart(drawn, theme=None, config=theme.CHART_CONFIG, alt=alt, key=f"chart.{key}")


def unit_of(chart: ChartBlock, energy_unit: str = "") -> ColumnFormat:
    """Return the one prefix and the decimals of a chart's numbers."""
    values: list[Decimal] = [value for series in chart.series for value in series.values if value is not None]
    if chart.kind == "tier_bars":
        values = _sums(chart)
    cells = [Cell("", value, chart.unit) for value in values]
    return column_format(Column("value", "", chart.unit), cells, energy_unit)


def _sums(chart: ChartBlock) -> list[Decimal]:
    places = range(len(chart.categories))
    return [sum((series.values[place] or Decimal(0) for series in chart.series), Decimal(0)) for place in places]


def _scaled(values: Sequence[Decimal | None], form: ColumnFormat) -> list[float | None]:
    return [None if value is None else float(value / form.factor) for value in values]


def _words(value: Decimal | None, form: ColumnFormat) -> str:
    if value is None:
        return numbers.NO_DATA
    return f"{numbers.plain(value / form.factor, form.decimals)}{THIN}{form.unit}".rstrip(THIN)


def _value_axis(largest: float, room: float = 1.0) -> dict[str, Any]:
    """Return an axis from 0 with at most six round ticks; ``room`` leaves space for labels behind the bars."""
    marks = ticks(largest)
    texts = [f"{mark:,g}".replace(",", THIN) for mark in marks]
    return {"range": [0, max(marks[-1], largest * room)], "tickvals": marks, "ticktext": texts}


def _tier_bars(chart: ChartBlock, form: ColumnFormat) -> Figure:
    colours = theme.colours()
    sums = _sums(chart)
    places = list(range(len(chart.categories)))
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "y": places,
            "x": _scaled(series.values, form),
            "marker": tier_marker(series.key),
            "hovertext": [
                f"{escape(name)}, {TIER_LABELS[series.key]}: {_words(value, form)}"
                for name, value in zip(chart.categories, series.values, strict=True)
            ],
            "hoverinfo": "text",
        }
        for series in chart.series
    ]
    data.append(_labels([float(total / form.factor) for total in sums], places, sums, form, colours["surface"]["ink"]))
    largest = max((float(total / form.factor) for total in sums), default=0.0)
    return {
        "data": data,
        "layout": {
            "barmode": "stack",
            "height": _ROW_PX * len(places) + 40,
            "xaxis": {"showgrid": True, **_value_axis(largest, 1.22)},
            "yaxis": _names(chart.categories),
        },
    }


def _names(categories: Sequence[str]) -> dict[str, Any]:
    places = list(range(len(categories)))
    return {
        "tickvals": places,
        "ticktext": [_short(name) for name in categories],
        "range": [len(places) - 0.5, -0.5],
        "showgrid": False,
    }


def _short(name: str, most: int = 22) -> str:
    """Shorten a name for an axis; the table under the chart has it whole."""
    return escape(name if len(name) <= most else name[: most - 1] + "…")


def _labels(
    ends: Sequence[float], places: Sequence[float], values: Sequence[Decimal | None], form: ColumnFormat, ink: str
) -> dict[str, Any]:
    """Write values behind the ends of bars."""
    texts = [
        "\u00a0\u00a00" if value == 0 else f"\u00a0\u00a0{numbers.plain(value / form.factor, form.decimals)}"
        for value in values
        if value is not None
    ]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [end for end, value in zip(ends, values, strict=True) if value is not None],
        "y": [place for place, value in zip(places, values, strict=True) if value is not None],
        "text": texts,
        "textposition": "middle right",
        "textfont": {"size": 13, "color": ink},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def tier_marker(tier: str) -> dict[str, Any]:
    """Return how a tier is filled: more ink is closer to a meter; the outline keeps pale ones visible.

    Parameters
    ----------
    tier : str
        One of ``energy.schema.TIERS``.
    """
    colours = theme.colours()
    marker: dict[str, Any] = {
        "color": colours["tier"][tier],
        "line": {"width": 1, "color": colours["surface"]["muted"]},
    }
    if tier in _HATCH:
        marker["pattern"] = {
            "shape": _HATCH[tier],
            "size": 6,
            "solidity": 0.25,
            "fillmode": "overlay",
            "fgcolor": colours["surface"]["muted"],
        }
    return marker


def _method_bars(chart: ChartBlock, form: ColumnFormat) -> Figure:
    colours = theme.colours()
    data: list[dict[str, Any]] = []
    ends: list[float] = []
    count = len(chart.series)
    for number, series in enumerate(chart.series):
        values, highs = _scaled(series.values, form), _scaled(series.high or series.values, form)
        places = [place + (number - (count - 1) / 2) * (_BAR + 0.04) for place in range(len(chart.categories))]
        data.append(_method_bar(chart, series, places, form))
        reach = [max(value or 0.0, high or 0.0) for value, high in zip(values, highs, strict=True)]
        ends += reach
        data.append(_labels(reach, places, series.values, form, colours["method"][series.key]))
    return {
        "data": data,
        "layout": {
            "barmode": "overlay",
            "height": (26 * count + 22) * len(chart.categories) + 44,
            "xaxis": {"showgrid": True, **_value_axis(max(ends, default=0.0), 1.2)},
            "yaxis": _names(chart.categories),
        },
    }


def _method_bar(chart: ChartBlock, series: Series, places: list[float], form: ColumnFormat) -> dict[str, Any]:
    colours = theme.colours()
    values = _scaled(series.values, form)
    bar: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "y": places,
        "x": values,
        "width": _BAR,
        "marker": {"color": colours["method"][series.key]},
        "hovertext": [
            f"{escape(name)}, {series.label.lower()}: {_words(value, form)}"
            for name, value in zip(chart.categories, series.values, strict=True)
        ],
        "hoverinfo": "text",
    }
    if series.low and series.high:
        lows, highs = _scaled(series.low, form), _scaled(series.high, form)
        bar["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [0 if v is None or h is None else h - v for v, h in zip(values, highs, strict=True)],
            "arrayminus": [0 if v is None or low is None else v - low for v, low in zip(values, lows, strict=True)],
            "color": colours["surface"]["ink"],
            "thickness": 1.2,
            "width": 4,
        }
    return bar


def _lines(chart: ChartBlock, form: ColumnFormat) -> Figure:
    colours = theme.colours()
    data: list[dict[str, Any]] = []
    notes_at_end: list[dict[str, Any]] = []
    largest = 0.0
    for series in chart.series:
        colour = colours["method"][series.key]
        values = _scaled(series.values, form)
        if series.low and series.high:
            data += _band(chart.categories, _scaled(series.low, form), _scaled(series.high, form), colour)
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": list(range(len(values))),
                "y": values,
                "connectgaps": False,
                "cliponaxis": False,
                "line": {"color": colour, "width": 2},
                "marker": {"symbol": _SYMBOLS[series.key], "size": 8, "color": colour},
                "hovertext": [
                    f"{escape(name)}, {series.label.lower()}: {_words(value, form)}"
                    for name, value in zip(chart.categories, series.values, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
        largest = max([largest, *(value for value in values if value is not None)])
        if values[-1] is not None:
            words = f"{series.label} {numbers.plain((series.values[-1] or Decimal(0)) / form.factor, form.decimals)}"
            notes_at_end.append({"y": values[-1], "text": words, "color": colour})
    shown = list(range(0, len(chart.categories), max(1, -(-len(chart.categories) // 5))))
    return {
        "data": data,
        "layout": {
            "height": _LINE_PX,
            "xaxis": {"tickvals": shown, "ticktext": [chart.categories[place] for place in shown]},
            "yaxis": _value_axis(largest, 1.05),
            "annotations": _end_labels(notes_at_end, len(chart.categories) - 1),
        },
    }


def _band(categories: Sequence[str], low: list[float | None], high: list[float | None], colour: str) -> list[Figure]:
    places = [place for place in range(len(categories)) if low[place] is not None and high[place] is not None]
    corners = [*places, *reversed(places)]
    edge = [*(high[place] for place in places), *(low[place] for place in reversed(places))]
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    fill = f"rgba({red},{green},{blue},0.13)"
    shape = {"type": "scatter", "x": corners, "y": edge, "fill": "toself", "mode": "none", "fillcolor": fill}
    return [shape | {"hoverinfo": "skip"}] if len(places) > 1 else []


def _end_labels(entries: list[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    """Write the upper line's label above its end, the lower one's below."""
    out = []
    for number, entry in enumerate(sorted(entries, key=lambda one: -one["y"])):
        out.append(
            {
                "x": place,
                "y": entry["y"],
                "text": f"<b>{escape(entry['text'])}</b>",
                "font": {"size": 13, "color": entry["color"]},
                "showarrow": False,
                "xanchor": "right",
                "yshift": 16 if number == 0 else -16,
            }
        )
    return out


def _heat(chart: ChartBlock, form: ColumnFormat) -> Figure:
    colours = theme.colours()
    ramp = colours["ramp"]["load"]
    rows = [_scaled(series.values, form) for series in chart.series]
    days = list(range(len(chart.categories)))
    hours = list(range(len(rows)))
    absent = [[1 if value is None else None for value in row] for row in rows]
    hover = [
        [
            f"{day}, {series.label}: {_words(value, form)}"
            for day, value in zip(chart.categories, series.values, strict=True)
        ]
        for series in chart.series
    ]
    scale = [[place / (len(ramp) - 1), colour] for place, colour in enumerate(ramp)]
    known = [(value, hour, day) for hour, row in enumerate(rows) for day, value in enumerate(row) if value is not None]
    _, top_hour, top_day = max(known)
    common = {"type": "heatmap", "x": days, "y": hours, "showscale": False, "hoverinfo": "text", "hovertext": hover}
    ring = {
        "type": "scatter",
        "mode": "markers",
        "x": [top_day],
        "y": [top_hour],
        "marker": {
            "symbol": "circle-open",
            "size": 13,
            "color": colours["surface"]["ink"],
            "line": {"width": 2.5},
        },
        "hoverinfo": "skip",
    }
    halo = ring | {"marker": ring["marker"] | {"color": colours["surface"]["page"], "line": {"width": 5}}}  # type: ignore[operator]
    missing = common | {"z": absent, "colorscale": [[0, colours["no_data"]], [1, colours["no_data"]]]}
    return {
        "data": [missing, common | {"z": rows, "colorscale": scale}, halo, ring],
        "layout": {
            "height": _HEAT_PX,
            "xaxis": _day_axis(chart.categories),
            "yaxis": {
                "range": [len(hours) - 0.5, -0.5],
                "tickvals": [0, 6, 12, 18, 23],
                "ticktext": ["00", "06", "12", "18", "23"],
                "showgrid": False,
            },
        },
    }


def _day_axis(days: Sequence[str]) -> dict[str, Any]:
    """Name the first of each month, else the first and the last day."""
    from datetime import date

    named = [place for place, day in enumerate(days) if day.endswith("-01")] or sorted({0, len(days) - 1})
    texts = [f"{date.fromisoformat(days[place]):%-d %b}" for place in named]
    return {"range": [-0.5, len(days) - 0.5], "tickvals": named, "ticktext": texts, "showgrid": False}


def _strip(chart: ChartBlock, form: ColumnFormat) -> Figure:
    """Draw a strip for each site, a column for each day, the best tier at the bottom."""
    del form
    groups: dict[str, list[Series]] = {}
    for series in chart.series:
        groups.setdefault(series.key.rsplit("|", 1)[0], []).append(series)
    data: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    days = list(range(len(chart.categories)))
    pitch = 1.6
    for place, group in enumerate(groups.values()):
        floor = (len(groups) - 1 - place) * pitch
        bases = [floor] * len(days)
        for series in group:
            heights = [float(value or 0) for value in series.values]
            tier = series.key.rsplit("|", 1)[1]
            marker = tier_marker(tier)
            marker["line"] = {"width": 0}
            texts = [
                f"{day}, {series.label}, {TIER_LABELS[tier]}: {numbers.share(value, 1)}"
                for day, value in zip(chart.categories, series.values, strict=True)
            ]
            bar = {"type": "bar", "x": days, "y": heights, "base": list(bases), "width": 1, "marker": marker}
            data.append(bar | {"hovertext": texts, "hoverinfo": "text"})
            bases = [base + height for base, height in zip(bases, heights, strict=True)]
        label = {"x": 0, "xref": "paper", "y": floor + 1, "yanchor": "bottom", "xanchor": "left", "showarrow": False}
        marks.append(label | {"text": escape(group[0].label), "font": {"size": 13}})
    return {
        "data": data,
        "layout": {
            "barmode": "overlay",
            "bargap": 0,
            "margin": {"l": 20, "r": 20, "t": 4, "b": 4},
            "height": _STRIP_PX * len(groups) + 46,
            "xaxis": _day_axis(chart.categories),
            "yaxis": {"range": [0, pitch * len(groups)], "visible": False},
            "annotations": marks,
        },
    }


_DRAWERS: dict[str, Callable[[ChartBlock, ColumnFormat], Figure]] = {
    "tier_bars": _tier_bars,
    "method_bars": _method_bars,
    "lines": _lines,
    "heat": _heat,
    "strip": _strip,
}


# --- keys ---
def _key(chart: ChartBlock, form: ColumnFormat) -> str:
    if chart.kind == "tier_bars":
        return tier_key([series.key for series in chart.series])
    if chart.kind == "strip":
        present = {series.key.rsplit("|", 1)[1] for series in chart.series if any(series.values)}
        return tier_key([tier for tier in TIER_LABELS if tier in present])
    if chart.kind == "heat":
        return _ramp_key(chart, form)
    if chart.kind == "method_bars":
        colours = theme.colours()
        return "".join(
            f'<span><i style="background:{colours["method"][series.key]}"></i>{escape(series.label.lower())}</span>'
            for series in chart.series
        )
    return ""


def tier_key(tiers: Sequence[str]) -> str:
    """Return the key of tiers as HTML: colour, hatch and word."""
    colours = theme.colours()
    muted = colours["surface"]["muted"]
    hatches = {
        "modelled": f"repeating-linear-gradient(135deg,{muted} 0 1px,transparent 1px 4px)",
        "default": f"repeating-linear-gradient(45deg,{muted} 0 1px,transparent 1px 4px),"
        f"repeating-linear-gradient(135deg,{muted} 0 1px,transparent 1px 4px)",
    }
    out = []
    for tier in tiers:
        image = f"background-image:{hatches[tier]};" if tier in hatches else ""
        edge = "border-style:dashed;" if tier == "missing" else ""
        style = f"background-color:{colours['tier'][tier]};{image}{edge}"
        out.append(f'<span><i style="{style}"></i>{TIER_LABELS[tier]}</span>')
    return "".join(out)


def _ramp_key(chart: ChartBlock, form: ColumnFormat) -> str:
    colours = theme.colours()
    known = [value for series in chart.series for value in series.values if value is not None]
    low, high = (numbers.plain(end / form.factor, form.decimals) for end in (min(known), max(known)))
    ramp = f"background:linear-gradient(90deg,{','.join(colours['ramp']['load'])})"
    gap = any(value is None for series in chart.series for value in series.values)
    absent = f'<span><i style="background:{colours["no_data"]}"></i>{numbers.NO_DATA}</span>' if gap else ""
    return (
        f'<span>{low}<span class="ramp" style="{ramp}"></span>{high}{THIN}{escape(form.unit)}</span>'
        f'<span><i class="ring"></i>highest hour</span>{absent}'
    )
