"""Drawings of the page Grid: months by hours, the mix by hour, and dots with their ranges."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from energy.catalogue.mixes import GenerationMix
from energy.catalogue.profiles import IntensityProfile
from energy.report import numbers
from energy.report.charts import ticks
from energy.report.numbers import THIN
from energy.ui import charts, theme
from energy.ui.charts import Figure
from energy.ui.grid_data import MONTHS, Extremes, amount, label, ordered, when

Numbers = NDArray[np.float64]
_HEAT_PX, _ROW_PX, _MIX_ROW_PX = 300, 26, 28
_LABELLED_PX, _LINE_PX = 44, 17
# so many letters of a name fit on a telephone
_NAME_LETTERS = 46
_HOURS = {"tickvals": [0, 6, 12, 18, 23], "ticktext": ["00", "06", "12", "18", "23"], "showgrid": False}


def months_by_hours(profile: IntensityProfile, found: Extremes, name: str) -> None:
    """Draw the average day of each month, the highest hour ringed.

    Parameters
    ----------
    profile : IntensityProfile
    found : Extremes
        Of the profile.
    name : str
        Name of the zone.
    """
    _key(amount(found.low), amount(found.high), gap=bool(np.isnan(profile.values).any()))
    values = profile.values.T
    hover = [
        [f"{month}, {hour:02}:00 UTC: {_said(values[hour, place])}" for place, month in enumerate(MONTHS)]
        for hour in range(24)
    ]
    layout = {
        "height": _HEAT_PX,
        "xaxis": {"range": [-0.5, 11.5], "tickvals": list(range(0, 12, 2)), "ticktext": MONTHS[::2], "showgrid": False},
        "yaxis": {"range": [23.5, -0.5], **_HOURS},
    }
    figure = {"data": _cells(values, hover, (found.high_at[0], found.high_at[1])), "layout": layout}
    alt = (
        f"Heat map of {profile.boundary} grid intensity of {name} in {profile.year}, month by UTC hour, g/kWh "
        f"generated: lowest {found.low:.0f} in {when(found.low_at)}, highest {found.high:.0f} in "
        f"{when(found.high_at)}. {profile.n_hours} hours measured."
    )
    charts.draw(figure, alt, "grid.heat")


def _said(value: float) -> str:
    return amount(value) if np.isfinite(value) else "no data"


def _cells(
    values: Numbers, hover: list[list[str]], ring: tuple[int, int] | None, ramp_name: str = "intensity"
) -> list[Figure]:
    """Return heat-map cells with those that are absent in grey, and a ring around one (x, y)."""
    colours = theme.colours()
    ramp = colours["ramp"][ramp_name]
    known = [[float(one) if np.isfinite(one) else None for one in row] for row in values]
    absent = [[None if np.isfinite(one) else 1 for one in row] for row in values]
    common: Figure = {
        "type": "heatmap",
        "x": list(range(values.shape[1])),
        "y": list(range(values.shape[0])),
        "showscale": False,
        "hoverinfo": "text",
        "hovertext": hover,
    }
    scale = [[place / (len(ramp) - 1), colour] for place, colour in enumerate(ramp)]
    grey = [[0, colours["no_data"]], [1, colours["no_data"]]]
    data = [common | {"z": absent, "colorscale": grey}, common | {"z": known, "colorscale": scale}]
    if ring is None:
        return data
    mark = {"type": "scatter", "mode": "markers", "x": [ring[0]], "y": [ring[1]], "hoverinfo": "skip"}
    for colour, width in ((colours["surface"]["page"], 5), (colours["surface"]["ink"], 2.5)):
        line = {"symbol": "circle-open", "size": 13, "color": colour, "line": {"width": width}}
        data.append(mark | {"marker": line})
    return data


def _key(low: str, high: str, *, gap: bool, ring: str = "highest hour", ramp_name: str = "intensity") -> None:
    colours = theme.colours()
    ramp = f"background:linear-gradient(90deg,{','.join(colours['ramp'][ramp_name])})"
    absent = f'<span><i style="background:{colours["no_data"]}"></i>no data</span>' if gap else ""
    ringed = f'<span><i class="ring"></i>{escape(ring)}</span>' if ring else ""
    st.html(
        f'<div class="en en-key"><span>{escape(low)}<span class="ramp" style="{ramp}"></span>{escape(high)}</span>'
        f"{ringed}{absent}</div>"
    )


def mix_bars(mix: GenerationMix) -> None:
    """Draw the share of each technology as a bar, the most first."""
    names = ordered(mix)
    total = sum(mix.mean_mwh.values())
    shares = [100 * mix.mean_mwh[name] / total for name in names]
    ink = theme.colours()["surface"]
    places = list(range(len(names)))
    written = [numbers.share(Decimal(f"{share:.4f}"), 100) for share in shares]
    texts = [f"{label(name)}: {share}" for name, share in zip(names, written, strict=True)]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": shares,
        "y": places,
        "marker": {"color": ink["muted"]},
        "hovertext": texts,
        "hoverinfo": "text",
    }
    ends = {
        "type": "scatter",
        "mode": "text",
        "x": shares,
        "y": places,
        "text": [f"\u00a0{share}" for share in written],
        "textposition": "middle right",
        "textfont": {"size": 13, "color": ink["ink"]},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    layout = {
        "height": _MIX_ROW_PX * len(names) + 40,
        "xaxis": {"range": [0, max(shares) * 1.25], "showticklabels": False},
        "yaxis": _rows([label(name) for name in names]),
    }
    alt = f"Bars of the share of generation by technology in {mix.about.year}: {'; '.join(texts)}."
    charts.draw({"data": [bars, ends], "layout": layout}, alt, "grid.mix")


def mix_by_hour(mix: GenerationMix) -> None:
    """Draw the share of each technology in the generation of each UTC hour."""
    names = ordered(mix)
    made = np.vstack([mix.by_hour_mwh[name] for name in names])
    shares = 100 * made / made.sum(axis=0)
    _key("0", f"{shares.max():.0f}{THIN}% of the hour's generation", gap=False, ring="", ramp_name="load")
    hover = [
        [f"{label(name)}, {hour:02}:00 UTC: {shares[place, hour]:.1f}{THIN}%" for hour in range(24)]
        for place, name in enumerate(names)
    ]
    layout = {
        "height": _MIX_ROW_PX * len(names) + 40,
        "xaxis": {"range": [-0.5, 23.5], **_HOURS},
        "yaxis": _rows([label(name) for name in names]),
    }
    most = [f"{label(name)} most at {int(made[place].argmax()):02}:00" for place, name in enumerate(names)]
    alt = f"Heat map of shares of generation by technology and UTC hour, mean of {mix.about.year}: {'; '.join(most)}."
    charts.draw({"data": _cells(shares, hover, None, "load"), "layout": layout}, alt, "grid.mix_hours")


def _rows(names: Sequence[str]) -> Figure:
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [escape(name) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
    }


@dataclass(frozen=True, slots=True)
class Dot:
    """One line of a dot chart: its name, value, ends of its range where it has one, and how it is marked."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    filled: bool = False
    square: bool = False


def dots(entries: Sequence[Dot], alt: str, key: str, *, above: bool) -> None:
    """Draw a dot for each entry on one axis from 0, its range as a line.

    Parameters
    ----------
    entries : sequence of Dot
        From the top.
    alt : str
        What the chart says, in words.
    key : str
        Key of the element.
    above : bool
        Whether names stand above their dots, for long ones; else at the axis.
    """
    surface = theme.colours()["surface"]
    places = list(range(len(entries)))
    largest = max([one.value for one in entries] + [one.high for one in entries if one.high is not None])
    marks = ticks(largest)
    dot = {
        "type": "scatter",
        "mode": "markers",
        "x": [one.value for one in entries],
        "y": places,
        "marker": {
            "size": 11,
            "color": surface["ink"],
            "symbol": [f"{'square' if one.square else 'circle'}{'' if one.filled else '-open'}" for one in entries],
            "line": {"width": 2},
        },
        "hovertext": [f"{escape(one.name)}: {amount(one.value)}" for one in entries],
        "hoverinfo": "text",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [0 if one.high is None else one.high - one.value for one in entries],
            "arrayminus": [0 if one.low is None else one.value - one.low for one in entries],
            "color": surface["muted"],
            "thickness": 1.5,
            "width": 0,
        },
    }
    lines = [textwrap.wrap(one.name, _NAME_LETTERS) for one in entries]
    names = [
        {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "yanchor": "bottom",
            "y": place - 0.15,
            "align": "left",
            "text": f"{'<br>'.join(map(escape, lines[place]))}: <b>{one.value:.0f}</b>",
            "showarrow": False,
            "font": {"size": 13, "color": surface["ink"]},
        }
        for place, one in zip(places, entries, strict=True)
    ]
    room = {"range": [len(entries) - 0.5, -0.9], "visible": False}
    labelled = _LABELLED_PX + _LINE_PX * (max(map(len, lines), default=1) - 1)
    layout = {
        "height": (labelled if above else _ROW_PX) * len(entries) + 50,
        "xaxis": {"showgrid": True, "range": [0, max(marks[-1], largest * 1.03)], "tickvals": marks},
        "yaxis": room if above else _rows([one.name for one in entries]),
        "annotations": names if above else [],
    }
    charts.draw({"data": [dot], "layout": layout}, alt, key)
