"""Drawings of the page Supply: the hours of a week as stacked steps."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import streamlit as st

from energy.report.numbers import THIN, plain, step
from energy.ui import charts, theme
from energy.ui.charts import Figure
from energy.ui.supply_tables import Week

_PX = 300
_NIL_KWH = 1e-6  # what a solver leaves of nothing
_PARTS = (
    ("direct", "own plants, directly", 1),
    ("discharge", "out of the battery", 1),
    ("grid", "from the grid", 1),
    ("charge", "into the battery", -1),
    ("excess", "excess", -1),
)


def _marker(name: str) -> Figure:
    colours = theme.colours()
    load, muted = colours["ramp"]["load"], colours["surface"]["muted"]
    fill = {"direct": load[4], "discharge": load[2], "grid": colours["ramp"]["intensity"][2], "charge": load[2]}
    marker: Figure = {"color": fill.get(name, colours["surface"]["page"]), "line": {"width": 0}}
    if name in ("charge", "excess"):
        marker["pattern"] = {"shape": "/" if name == "charge" else ".", "size": 4, "fgcolor": muted, "solidity": 0.4}
        marker["pattern"] |= {"fillmode": "overlay"}
    return marker


def week(found: Week, key: str) -> None:
    """Draw the hours of a week: what meets the load above zero, what is stored or left over below; load as a line."""
    colours = theme.colours()
    top = max(float(found.load.max()), float((found.charge + found.excess).max()), 1e-9)
    factor, unit = step(Decimal(f"{top * 1000.0:.9g}"), "W")
    scaled = 1000.0 / float(factor)
    middles = [f"{str(one)[:13]}:30" for one in found.clock]
    data: list[Figure] = []
    sums = []
    swatches = []
    for name, words, sign in _PARTS:
        values: Any = getattr(found, name) * scaled
        total = float(getattr(found, name).sum())
        sums.append(f"{words} {_energy(total)}")
        swatches.append((name, f"{words}{' (below zero)' if sign < 0 else ''}: {_energy(total)}"))
        bar: Figure = {"type": "bar", "x": middles, "y": np.round(sign * values, 4), "marker": _marker(name)}
        hover = f"%{{x|%-d %b}}, %{{x|%H}}:00, {words}: %{{y:.3~g}}{THIN}{unit}<extra></extra>"
        data.append(bar | {"hovertemplate": hover})
    ends = [*(str(one) for one in found.clock), str(found.clock[-1] + np.timedelta64(3600, "s"))]
    levels = np.round([*found.load, found.load[-1]], 6) * scaled
    line = {"type": "scatter", "mode": "lines", "x": ends, "y": levels, "hoverinfo": "skip"}
    data.append(line | {"line": {"color": colours["surface"]["ink"], "width": 2, "shape": "hv"}})
    _key(swatches, _energy(float(found.load.sum())))
    layout = {
        "barmode": "relative",
        "bargap": 0,
        "height": _PX,
        "xaxis": {"type": "date", "dtick": 86_400_000, "tickformat": "%-d %b", "nticks": 7}
        | {"ticklabelmode": "period", "range": [ends[0], ends[-1]]},
        "yaxis": {
            "nticks": 6,
            "ticksuffix": f"{THIN}{unit}",
            "zeroline": True,
            "zerolinecolor": colours["surface"]["ink"],
        },
        "shapes": _nights(found),
    }
    alt = f"Stacked steps of each hour from {found.words}, load as a line. Of the week: {'; '.join(sums)}."
    charts.draw({"data": data, "layout": layout}, alt, key)


def _key(swatches: list[tuple[str, str]], load: str) -> None:
    """Show the key with the week's energies; patterns below zero are told by their words."""
    colours = theme.colours()
    ink, muted = colours["surface"]["ink"], colours["surface"]["muted"]
    hatches = {
        "charge": f"repeating-linear-gradient(135deg,{muted} 0 1px,transparent 1px 4px)",
        "excess": f"radial-gradient({muted} 1px,transparent 1px);background-size:4px 4px",
    }
    parts = []
    for name, words in swatches:
        marker, hatch = _marker(name), hatches.get(name, "none")
        parts.append(f'<span><i style="background-color:{marker["color"]};background-image:{hatch}"></i>{words}</span>')
    bar = f'<i style="height:0;border:0;border-top:2px solid {ink};vertical-align:3px"></i>'
    parts.append(f"<span>{bar}load: {load}</span>")
    st.html(f'<div class="en en-key">{"".join(parts)}</div>')


def _energy(kwh: float) -> str:
    if kwh < _NIL_KWH:
        return "0"
    factor, unit = step(Decimal(f"{kwh * 1000.0:.9g}"), "Wh")
    value = kwh * 1000.0 / float(factor)
    return f"{plain(value, 0 if value >= 100.0 or not value else 1)}{THIN}{unit}"


def _nights(found: Week) -> list[Figure]:
    """Return shades behind the hours without sun."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], found.night.astype(np.int8), [0]))))
    panel = theme.colours()["surface"]["panel"]
    ends = [*(str(one) for one in found.clock), str(found.clock[-1] + np.timedelta64(3600, "s"))]
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": ends[int(first)],
            "x1": ends[int(last)],
            "y0": 0,
            "y1": 1,
            "fillcolor": panel,
            "line": {"width": 0},
            "layer": "below",
        }
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    ]
