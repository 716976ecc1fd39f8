"""Drawings of the page Site: hour by day, losses by month, power side by side, how often a PUE is exceeded."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from energy.report.charts import ticks
from energy.report.numbers import NO_DATA, THIN, plain
from energy.ui import charts, tables, theme, words
from energy.ui.charts import Figure
from energy.ui.notices import heading
from energy.ui.site_data import SiteFound
from energy.ui.site_tables import fan_fractions, losses_by_month, part_words
from energy.ui.site_weather import MONTHS, DayGrid

Numbers = NDArray[np.float64]
_HEAT_PX, _LINE_PX, _ROW_PX, _BAR_PX = 210, 280, 26, 40
_POINTS = 201
HOURS = {"tickvals": [0, 6, 12, 18, 23], "ticktext": ["00", "06", "12", "18", "23"], "showgrid": False}


def hour_by_day(grid: DayGrid, name: str, unit: str, ramp: str, key: str, *, decimals: int = 2, end: str = "") -> None:
    """Draw hours by day with a ramp, the highest hour ringed.

    Parameters
    ----------
    grid : DayGrid
        With at least one value.
    name : str
        The quantity, for the alternative text.
    unit : str
        Empty for a ratio.
    ramp : str
        A ramp of ``tokens.json``.
    key : str
        Key of the element.
    decimals : int
        Of what is written.
    end : str
        What the ring marks, for people; empty for no ring.
    """
    high, *top = grid.highest
    low, *least = grid.lowest
    tail = f"{THIN}{unit}" if unit else ""
    colours = theme.colours()
    missing = int(np.isnan(grid.values).sum())
    ends = [f"{plain(value, decimals)}{tail}" for value in (low, high)]
    st.html(f'<div class="en en-key">{ramp_key(ends[0], ends[1], ramp, end, gap=missing > 0)}</div>')
    steps = colours["ramp"][ramp]
    common: Figure = {"type": "heatmap", "x": list(grid.days), "y": list(range(24)), "showscale": False}
    cells = common | {
        "z": np.round(grid.values, 3).astype(np.float32),  # an array: lists of 8,760 numbers take 50 ms to check
        "colorscale": [[place / (len(steps) - 1), colour] for place, colour in enumerate(steps)],
        "hovertemplate": f"%{{x|%-d %b}}, %{{y:02d}}:00: %{{z:.{decimals}f}}{tail}<extra></extra>",
        "hoverongaps": False,
    }
    data = [cells]
    if missing:
        grey = [[0, colours["no_data"]], [1, colours["no_data"]]]
        absent = np.where(np.isnan(grid.values), np.float32(1.0), np.float32(np.nan))
        data.insert(0, common | {"z": absent, "colorscale": grey, "hoverinfo": "skip"})
    if end:
        data += ring(grid.days[top[1]], top[0])
    layout = {
        "height": _HEAT_PX,
        "xaxis": {"type": "date", "dtick": "M2", "tick0": f"{grid.days[0][:4]}-01-01", "tickformat": "%b"}
        | {"showgrid": False, "ticklabelmode": "period"},
        "yaxis": {"range": [23.5, -0.5], **HOURS},
    }
    alt = (
        f"Heat map of {name}, hour by day: lowest {ends[0]} on {grid.when(least[0], least[1])}, highest {ends[1]} on "
        f"{grid.when(top[0], top[1])}. {missing} of {grid.values.size} cells have no data."
    )
    charts.draw({"data": data, "layout": layout}, alt, key)


def rounded(values: Numbers, digits: int = 3) -> list[list[float | None]]:
    """Return rows for a drawing: what is not known is null."""
    return [[None if one != one else one for one in row] for row in np.round(values, digits).tolist()]


def ring(x: Any, y: float) -> list[Figure]:
    """Return a ring around a cell, readable on any colour."""
    surface = theme.colours()["surface"]
    mark = {"type": "scatter", "mode": "markers", "x": [x], "y": [y], "hoverinfo": "skip"}
    return [
        mark | {"marker": {"symbol": "circle-open", "size": 13, "color": colour, "line": {"width": width}}}
        for colour, width in ((surface["page"], 5), (surface["ink"], 2.5))
    ]


def ramp_key(low: str, high: str, ramp: str, end: str = "", *, gap: bool = False) -> str:
    """Return the key of a ramp as HTML: both ends, what the ring marks, and what has no data."""
    colours = theme.colours()
    style = f"background:linear-gradient(90deg,{','.join(colours['ramp'][ramp])})"
    absent = f'<span><i style="background:{colours["no_data"]}"></i>{NO_DATA}</span>' if gap else ""
    ringed = f'<span><i class="ring"></i>{escape(end)}</span>' if end else ""
    return f'<span>{escape(low)}<span class="ramp" style="{style}"></span>{escape(high)}</span>{ringed}{absent}'


def names_axis(names: Sequence[str]) -> Figure:
    """Return an axis with a name for each row, the first on top."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [escape(name) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
    }


def losses(found: SiteFound) -> None:
    """Draw the losses by part and month as a share of IT energy."""
    parts, it = losses_by_month(found)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 100.0 * np.vstack(list(parts.values())) / it
    names = [part_words(name) for name in parts]
    most = float(np.nanmax(shares))
    row, month = np.unravel_index(int(np.nanargmax(shares)), shares.shape)
    top = f"{plain(most, 1)}{THIN}%"
    heading(
        f"{names[0]}: the largest loss of the year, {_share(parts, it, 0)} of IT energy",
        "Energy of each part over IT energy of the month",
    )
    st.html(f'<div class="en en-key">{ramp_key("0", f"{top} of IT energy", "overhead")}</div>')
    steps = theme.colours()["ramp"]["overhead"]
    hover = [
        [f"{escape(name)}, {MONTHS[place]}: {plain(float(shares[at, place]), 2)}{THIN}%" for place in range(12)]
        for at, name in enumerate(names)
    ]
    cells = {
        "type": "heatmap",
        "x": list(range(12)),
        "y": list(range(len(names))),
        "z": rounded(shares),
        "zmin": 0.0,
        "zmax": most,
        "colorscale": [[place / (len(steps) - 1), colour] for place, colour in enumerate(steps)],
        "showscale": False,
        "hovertext": hover,
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
    }
    layout = {
        "height": _ROW_PX * len(names) + 40,
        "xaxis": {"range": [-0.5, 11.5], "tickvals": list(range(0, 12, 2)), "ticktext": MONTHS[::2], "showgrid": False},
        "yaxis": names_axis(names),
    }
    said = "; ".join(f"{name} {_share(parts, it, at)}" for at, name in enumerate(names))
    alt = (
        f"Heat map of losses by part and month over IT energy: highest {names[int(row)]} in {MONTHS[int(month)]} with "
        f"{top}. Of the year: {said}."
    )
    charts.draw({"data": [cells], "layout": layout}, alt, "site.losses")


def _share(parts: dict[str, Numbers], it: Numbers, place: int) -> str:
    values = list(parts.values())[place]
    return f"{plain(100.0 * float(values.sum()) / float(it.sum()), 1)}{THIN}%"


def side_by_side(found: SiteFound) -> None:
    """Draw what the same computing draws with air and with liquid, per kW of air-cooled IT."""
    if found.air is None:
        return
    fans = fan_fractions(found.design)
    base = found.air.annual.energy_it_kwh
    rows = []
    for year, share in ((found.air, fans[0]), (found.year, fans[1])):
        one = year.annual
        it = one.energy_it_kwh
        rows.append([part / base for part in (it * (1.0 - share), it * share, one.energy_facility_kwh - it)])
    colours = theme.colours()
    load, muted = colours["ramp"]["load"], colours["surface"]["muted"]
    parts = (
        ("computing", load[2], ""),
        ("fans of servers", load[4], ""),
        ("cooling and power chain", colours["ramp"]["overhead"][2], "/"),
    )
    key = "".join(
        f'<span><i style="background:{colour}"></i>{name}: air {plain(rows[0][at], 3)}, liquid '
        f"{plain(rows[1][at], 3)}{THIN}kW</span>"
        for at, (name, colour, _) in enumerate(parts)
    )
    st.html(f'<div class="en en-key">{key}</div>')
    data: list[Figure] = []
    for at, (name, colour, hatch) in enumerate(parts):
        marker: Figure = {"color": colour, "line": {"width": 1, "color": muted}}
        if hatch:
            marker["pattern"] = {"shape": hatch, "size": 6, "solidity": 0.25, "fillmode": "overlay", "fgcolor": muted}
        bar = {"type": "bar", "orientation": "h", "x": [row[at] for row in rows], "y": [0, 1], "marker": marker}
        texts = [
            f"{side}, {name}: {plain(row[at], 3)}{THIN}kW" for side, row in zip(("Air", "Liquid"), rows, strict=True)
        ]
        data.append(bar | {"hovertext": texts, "hoverinfo": "text"})
    totals = [sum(row) for row in rows]
    ends = {"type": "scatter", "mode": "text", "x": totals, "y": [0, 1], "textposition": "middle right"}
    text = [f"\u00a0\u00a0{plain(total, 3)}{THIN}kW" for total in totals]
    ink = {"size": 13, "color": colours["surface"]["ink"]}
    data.append(ends | {"text": text, "textfont": ink, "cliponaxis": False, "hoverinfo": "skip"})
    marks = ticks(max(totals))
    layout = {
        "barmode": "stack",
        "height": 2 * _BAR_PX + 50,
        "xaxis": {"showgrid": True, "range": [0, max(totals) * 1.2], "tickvals": marks},
        "yaxis": names_axis(["Air", "Liquid"]),
    }
    alt = (
        f"Bars of power at the meter per kW of air-cooled IT, the same computing: air {plain(totals[0], 3)} kW, liquid "
        f"{plain(totals[1], 3)} kW, each as computing, fans of servers, and cooling with the power chain."
    )
    charts.draw({"data": data, "layout": layout}, alt, "site.sides")


def duration(found: SiteFound) -> None:
    """Draw which PUE is exceeded in which share of the hours, for air and for liquid."""
    colours = theme.colours()
    lines = [("Air" if found.design.liquid is None else "Liquid", found.year, colours["ramp"]["overhead"][3])]
    if found.air is not None:
        lines.insert(0, ("Air", found.air, colours["surface"]["ink"]))
    places = np.linspace(0.0, 100.0, _POINTS)
    data: list[Figure] = []
    labels: list[Figure] = []
    said = []
    for number, (name, year, colour) in enumerate(lines):
        values = np.nanpercentile(year.pue, 100.0 - places).tolist()
        dash = "solid" if number == 0 else "dash"
        line = {"type": "scatter", "mode": "lines", "x": places.tolist(), "y": [round(one, 4) for one in values]}
        hover = f"{name}: PUE above %{{y:.2f}} in %{{x:.0f}}{THIN}% of hours<extra></extra>"
        data.append(line | {"line": {"color": colour, "width": 2, "dash": dash}, "hovertemplate": hover})
        label = {"x": 98, "y": values[-1], "xanchor": "right", "showarrow": False}
        text = f"<b>{name}</b>, year {plain(year.annual.pue, 2)}"
        labels.append(label | {"text": text, "font": {"size": 13, "color": colour}})
        said.append(f"{name} from {plain(values[0], 2)} to {plain(values[-1], 2)}")
    for rank, label in enumerate(sorted(labels, key=lambda one: -one["y"])):
        label["yshift"] = 16 if rank == 0 else -14
    shares = [0, 25, 50, 75, 100]
    everything = [value for one in data for value in one["y"]]
    layout = {
        "height": _LINE_PX,
        "xaxis": {"range": [0, 103], "tickvals": shares, "ticktext": [f"{one}{THIN}%" for one in shares]},
        "yaxis": {"range": [1.0, 1.0 + 1.08 * (max(everything) - 1.0)], "tickformat": ".2f", "nticks": 6},
        "annotations": labels,
    }
    alt = f"Lines of PUE exceeded in a share of the hours of the year: {'; '.join(said)}."
    charts.draw({"data": data, "layout": layout}, alt, "site.duration")


def download(rows: Any, label: str, file_name: str, key: str, *, mime: str = "text/csv") -> None:
    """Offer a file that is made when it is asked for.

    Parameters
    ----------
    rows : callable
        Returns the rows of a CSV, or a text.
    label, file_name, key, mime : str
    """

    def made() -> bytes:
        found = rows()
        return found.encode() if isinstance(found, str) else tables.csv_bytes(found)

    st.download_button(
        label or words.DOWNLOAD_DATA, made, file_name=file_name, mime=mime, key=f"download.{key}", on_click="ignore"
    )
