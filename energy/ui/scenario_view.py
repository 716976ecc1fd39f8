"""Drawings of the page Scenario: the way of the energy, emissions, states of a step, memory, what matters most."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape

import numpy as np
import streamlit as st

from energy.cost.estimates import Figure as RunFigure
from energy.report.charts import ticks
from energy.report.display import ColumnFormat, column_format
from energy.report.model import Cell, Column
from energy.report.numbers import THIN, plain
from energy.scenario.training import TrainingRun
from energy.scenario.uncertainty import Lever
from energy.ui import charts, theme
from energy.ui.charts import Figure
from energy.ui.scenario_data import cell_of, label
from energy.ui.site_view import names_axis

_ROW_PX, _BASE_PX, _LINE_PX = 30, 50, 260
#: Energy in the order of the chain, with what each step adds.
_CHAIN = (
    ("energy_chips", "Chips"),
    ("energy_it", "Nodes around them"),
    ("energy_facility", "Cooling and power chain"),
)


def form_of(values: Sequence[float], unit: str) -> ColumnFormat:
    """Return one prefix and one count of decimals for numbers of a unit."""
    cells = [Cell("", cell.value, cell.unit) for cell in (_cell(value, unit) for value in values)]
    return column_format(Column("value", "", unit), cells, "")


def small(text: str) -> Figure:
    """Return the title of an axis in the size of its numbers."""
    return {"text": text, "font": {"size": 13}}


def _cell(value: float, unit: str) -> Cell:
    return cell_of("", RunFigure(value, unit))


def shown(value: float, form: ColumnFormat) -> str:
    """Return a number with its unit, as people read it."""
    return f"{plain(value / float(form.factor), form.decimals)}{THIN}{form.unit}".rstrip(THIN)


def bars(
    names: Sequence[str],
    starts: Sequence[float],
    widths: Sequence[float],
    colours: Sequence[str],
    form: ColumnFormat,
    alt: str,
    key: str,
    texts: Sequence[str] | None = None,
) -> None:
    """Draw bars from a start on, with their amount behind them; ``texts`` where it is said in other words."""
    factor = float(form.factor)
    ink = theme.colours()["surface"]["ink"]
    muted = theme.colours()["surface"]["muted"]
    ends = [(start + max(width, 0.0)) / factor for start, width in zip(starts, widths, strict=True)]
    said = list(texts) if texts is not None else [shown(width, form) for width in widths]
    data: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "y": list(range(len(names))),
            "base": [start / factor for start in starts],
            "x": [width / factor for width in widths],
            "marker": {"color": list(colours), "line": {"width": 1, "color": muted}},
            "hovertext": [f"{escape(name)}: {text}" for name, text in zip(names, said, strict=True)],
            "hoverinfo": "text",
        },
        {
            "type": "scatter",
            "mode": "text",
            "x": ends,
            "y": list(range(len(names))),
            "text": [f"\u00a0\u00a0{text}" for text in said],
            "textposition": "middle right",
            "textfont": {"size": 13, "color": ink},
            "cliponaxis": False,
            "hoverinfo": "skip",
        },
    ]
    largest = max(ends, default=0.0)
    marks = ticks(largest)
    layout = {
        "height": _ROW_PX * len(names) + _BASE_PX,
        "showlegend": False,
        "xaxis": {"showgrid": True, "range": [0, largest * 1.45 or 1.0], "tickvals": marks, "title": small(form.unit)},
        "yaxis": names_axis(names),
    }
    charts.draw({"data": data, "layout": layout}, alt, key)


def waterfall(run: TrainingRun) -> None:
    """Draw how energy grows from the chips to the meter, and what of it is bought."""
    found = [(words, run.figures[name].known) for name, words in _CHAIN if name in run.figures]
    load, overhead = theme.colours()["ramp"]["load"], theme.colours()["ramp"]["overhead"]
    names, starts, widths, colours = [], [], [], []
    before = 0.0
    for place, (words, value) in enumerate(found):
        names.append(words)
        starts.append(before)
        widths.append(value - before)
        colours.append((load[4], load[2], overhead[2])[place])
        before = value
    names.append("Sum")
    starts.append(0.0)
    widths.append(before)
    colours.append(theme.colours()["surface"]["ink"])
    if "energy_grid" in run.figures:
        names.append("Bought from the grid")
        starts.append(0.0)
        widths.append(run.figures["energy_grid"].known)
        colours.append(theme.colours()["method"]["location"])
    form = form_of(widths, "kWh_facility")
    alt = "Bars of energy, each beginning where the one before ends: " + ", ".join(
        f"{name} {shown(width, form)}" for name, width in zip(names, widths, strict=True)
    )
    bars(names, starts, widths, colours, form, f"{alt}.", "scenario.chain")


def states(run: TrainingRun) -> None:
    """Draw the seconds of a step by what the chips do."""
    found = {} if run.estimate is None else run.estimate.states_s
    parts = sorted(((name, seconds) for name, seconds in found.items() if seconds > 0.0), key=lambda one: -one[1])
    total = sum(seconds for _, seconds in parts)
    ramp = theme.colours()["ramp"]
    work = ("matmul", "attention", "memory_bound", "recompute", "optimiser")
    colours = [ramp["load"][3] if name in work else ramp["overhead"][2] for name, _ in parts]
    names = [label(name) for name, _ in parts]
    texts = [f"{plain(seconds, 2)}{THIN}s, {plain(100 * seconds / total, 1)}{THIN}%" for _, seconds in parts]
    alt = "Bars of the seconds of one step: " + ", ".join(f"{a} {b}" for a, b in zip(names, texts, strict=True))
    values = [seconds for _, seconds in parts]
    form = ColumnFormat(Decimal(1), "s", 2)
    bars(names, [0.0] * len(parts), values, colours, form, f"{alt}.", "scenario.states", texts)


def memory(run: TrainingRun) -> None:
    """Draw what a chip holds by culprit."""
    found = {} if run.estimate is None else run.estimate.memory_gib
    parts = [(name, size) for name, size in found.items() if size > 0.05]
    ramp = theme.colours()["ramp"]["load"]
    names = [label(name) for name, _ in parts]
    texts = [f"{plain(size, 1)}{THIN}GiB" for _, size in parts]
    alt = "Bars of the memory of one chip: " + ", ".join(f"{a} {b}" for a, b in zip(names, texts, strict=True))
    starts = np.concatenate([[0.0], np.cumsum([size for _, size in parts])])[:-1].tolist()
    form = ColumnFormat(Decimal(1), "GiB", 1)
    widths = [size for _, size in parts]
    bars(names, starts, widths, [ramp[3]] * len(parts), form, f"{alt}.", "scenario.memory", texts)


def levers(found: Sequence[Lever], result: str, unit: str, middle: float) -> None:
    """Draw how far each input moves the result between the ends of its 95 % range."""
    colours = theme.colours()
    form = form_of([one.result_at_high for one in found] + [middle], unit)
    factor = float(form.factor)
    names = [label(one.name) for one in found]
    lows = [min(one.result_at_low, one.result_at_high) / factor for one in found]
    widths = [one.width / factor for one in found]
    texts = [
        f"{shown(low * factor, form)} to {shown((low + width) * factor, form)}"
        for low, width in zip(lows, widths, strict=True)
    ]
    data: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "y": list(range(len(names))),
            "base": lows,
            "x": widths,
            "marker": {"color": colours["ramp"]["load"][2], "line": {"width": 1, "color": colours["surface"]["muted"]}},
            "hovertext": [f"{escape(name)}: {text}" for name, text in zip(names, texts, strict=True)],
            "hoverinfo": "text",
        }
    ]
    line = {"type": "line", "x0": middle / factor, "x1": middle / factor, "y0": -0.5, "y1": len(names) - 0.5}
    least, most = min(lows), max(low + width for low, width in zip(lows, widths, strict=True))
    margin = 0.06 * (most - least)
    layout = {
        "height": _ROW_PX * len(names) + _BASE_PX,
        "xaxis": {"showgrid": True, "range": [least - margin, most + margin], "title": small(form.unit), "nticks": 6},
        "yaxis": names_axis(names),
        "shapes": [line | {"line": {"color": colours["surface"]["ink"], "width": 2}}],
    }
    alt = f"Bars of {label(result)} between the ends of each input: " + "; ".join(
        f"{name} {text}" for name, text in zip(names, texts, strict=True)
    )
    charts.draw({"data": data, "layout": layout}, f"{alt}.", "scenario.levers")


def strip(run: TrainingRun) -> None:
    """Say layout and memory in one line."""
    if run.estimate is None:
        return
    layout = run.estimate.layout
    sizes = (
        ("tensor", "tensor_parallel_size"),
        ("pipeline", "pipeline_parallel_size"),
        ("data", "data_parallel_size"),
        ("context", "context_parallel_size"),
        ("expert", "expert_parallel_size"),
    )
    said = " × ".join(f"{words} {layout[name]:g}" for words, name in sizes if layout[name] > 1) or "one rank"
    rest = f"micro batch {layout['micro_batch_size']:g}, recompute {layout['recompute']}, {layout['stack']}"
    st.html(f'<div class="en en-note"><p>{escape(f"Layout: {said}; {rest}.")}</p></div>')
