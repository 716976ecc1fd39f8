"""Drawings of the page Compare & sweep: the bridge from A to B, and the rows of a sweep with their front."""

from __future__ import annotations

import numpy as np

from energy.report.numbers import THIN, plain
from energy.scenario.compare import Difference
from energy.ui import charts, theme
from energy.ui.charts import Figure
from energy.ui.compare_data import SweepFound
from energy.ui.scenario_data import label
from energy.ui.scenario_view import bars, form_of, shown, small

_SCATTER_PX = 340
_NOTHING = 1e-9


def bridge(found: Difference, names: tuple[str, str]) -> None:
    """Draw how the parts lead from A to B."""
    parts = [
        (name, part) for name, part in found.parts.items() if abs(part) > _NOTHING * max(found.first, found.second)
    ]
    form = form_of([found.first, found.second], found.unit)
    colours = theme.colours()
    ink, more, less = colours["surface"]["ink"], colours["ramp"]["overhead"][3], colours["ramp"]["load"][3]
    rows = [f"A: {names[0]}", *(name[:1].upper() + name[1:] for name, _ in parts), f"B: {names[1]}"]
    starts, widths, fills, texts = [0.0], [found.first], [ink], [shown(found.first, form)]
    at = found.first
    for _, part in parts:
        starts.append(min(at, at + part))
        widths.append(abs(part))
        fills.append(more if part > 0 else less)
        sign = "+" if part > 0 else "−"
        texts.append(f"{sign}{shown(abs(part), form)}")
        at += part
    starts.append(0.0)
    widths.append(found.second)
    fills.append(ink)
    texts.append(shown(found.second, form))
    alt = f"Bridge of {label(found.name)} from A to B: " + ", ".join(
        f"{row} {text}" for row, text in zip(rows, texts, strict=True)
    )
    bars([_short(row) for row in rows], starts, widths, fills, form, f"{alt}.", "compare.bridge", texts)


def _short(name: str, most: int = 30) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def scatter(found: SweepFound, across: str, up: str) -> None:
    """Draw rows by two figures, those that keep all limits apart, the front of the two and the best ringed."""
    from energy.scenario.figure_units import UNITS
    from energy.scenario.pareto import front

    x, y = found.figures[across], found.figures[up]
    known = ~(np.isnan(x) | np.isnan(y))
    keeps = known.copy()
    for one in found.sweep.limits:
        values = found.figures.get(one.figure, np.full(len(x), np.nan))
        keeps &= values <= one.value if one.is_most else values >= one.value
    colours = theme.colours()
    forms = [form_of(values[known].tolist(), UNITS[name]) for values, name in ((x, across), (y, up))]
    scaled = [values / float(form.factor) for values, form in zip((x, y), forms, strict=True)]
    both = np.where(keeps[:, None], np.stack([x, y], axis=1), np.nan)
    on = front(both)
    on = on[np.argsort(x[on])]

    def dots(which: np.ndarray, colour: str, symbol: str, size: int) -> Figure:
        rows = np.flatnonzero(which)
        return {
            "type": "scattergl" if len(rows) > 2000 else "scatter",
            "mode": "markers",
            "x": np.round(scaled[0][rows], 6).tolist(),
            "y": np.round(scaled[1][rows], 6).tolist(),
            "marker": {"color": colour, "symbol": symbol, "size": size},
            "hovertext": [f"row {row}" for row in rows.tolist()],
            "hoverinfo": "text+x+y",
        }

    muted, ink = colours["surface"]["muted"], colours["surface"]["ink"]
    line: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": scaled[0][on].tolist(),
        "y": scaled[1][on].tolist(),
        "line": {"color": ink, "width": 2, "shape": "hv"},
        "marker": {"color": ink, "size": 8},
        "hoverinfo": "skip",
    }
    data = [dots(known & ~keeps, muted, "circle-open", 6), dots(keeps, colours["ramp"]["load"][3], "circle", 7), line]
    layout = {
        "height": _SCATTER_PX,
        "showlegend": False,
        "xaxis": {"showgrid": True, "title": small(f"{label(across)}, {forms[0].unit}"), "nticks": 7},
        "yaxis": {"title": small(f"{label(up)}, {forms[1].unit}"), "nticks": 6},
    }
    alt = (
        f"Dots of {int(known.sum())} rows by {label(across)} and {label(up)}; {int(keeps.sum())} keep all limits, "
        f"{len(on)} are on the front of the two, from {plain(float(scaled[0][on].min()), 2) if len(on) else 'none'}"
        f"{THIN}{forms[0].unit}."
    )
    charts.draw({"data": data, "layout": layout}, alt, "sweep.scatter")
