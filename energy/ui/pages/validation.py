"""Validation: predicted against published, by suite; how far off we are, where, and what is not answered."""

from __future__ import annotations

import math

import streamlit as st

from energy.report.numbers import THIN, plain
from energy.ui import charts, figures, shell, tables, theme, validation_data
from energy.ui.filters import row
from energy.ui.notices import heading, notes, notice
from energy.ui.site_filters import PlantFilters
from energy.ui.site_view import download
from energy.ui.validation_data import Found
from energy.validation.results import shipped
from energy.validation.suites import SUITES

_FIRST, _HEIGHT_PX = "training", 380


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = PlantFilters("validation")
    left, middle, right = row([6, 3, 3])
    with left:
        suite = filters.choice("Suite", "suite", validation_data.options(), _FIRST)
    found = validation_data.results()[suite]
    quantities = {name: name.replace("_", " ") for name in found["quantities"]}
    with middle:
        quantity = filters.choice("Quantity", "quantity", quantities, next(iter(quantities)))
    groups = validation_data.groups_of(suite)
    group = ""
    if groups:
        with right:
            group = filters.choice("By", "by", {name: name.replace("_", " ") for name in groups}, groups[0])
    filters.done()
    if filters.resets:
        notice("", filters.resets)
    median = found["median_ape_pct"]
    words = SUITES[suite].compares
    off = "no row is answered" if median is None else f"half of the rows are within {median:.1f}{THIN}%"
    title.title(f"{words[:1].upper()}{words[1:]}: {off}")
    _figures(suite)
    heading(
        "Error by size of the published value",
        f"Size of a dot: rows; hollow: published values outside our 95{THIN}% band; beyond ±60{THIN}% at the edge",
    )
    _dots(found, quantity)
    if group:
        tables.block(validation_data.group_table(suite, group))
    reasons = validation_data.reasons_table(suite)
    if reasons is not None:
        tables.block(reasons)
    further = [f"{name.replace('_', ' ')}: {value:.4g}" for name, value in found.items() if _is_further(name, value)]
    notes(
        [
            f"Rows: {found['data']} of the reference data, which are not part of the package. Results of version "
            f"{shipped()['version']}, made by `python -m energy.validation.docs docs`.",
            *validation_data.fitted(suite),
            *further,
            f"On rows of your own: `energy validate {suite} --data FILE --rows OUT.csv`.",
        ]
    )
    download(lambda: validation_data.csv_rows(suite), "What is drawn (CSV)", f"validation_{suite}.csv", "validation")


_KNOWN = ("rows", "answered", "mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "within_10pct")


def _is_further(name: str, value: object) -> bool:
    return isinstance(value, float) and name not in (*_KNOWN, "inside_80pct", "inside_95pct")


def _figures(suite: str) -> None:
    shown = validation_data.figures_of(suite)
    body = "".join(figures.html(one, 25) for one in shown)
    st.html(f'<div class="en"><div class="en-figs">{body}</div></div>')
    figures.first()


def _dots(found: Found, quantity: str) -> None:
    bins = found["quantities"][quantity]["bins"]
    colours = theme.colours()
    load, surface = colours["ramp"]["load"], colours["surface"]
    most = max(one[2] for one in bins)
    sizes = [6.0 + 16.0 * math.sqrt(one[2] / most) for one in bins]
    data = []
    for is_hollow in (False, True):
        some = [(one, size) for one, size in zip(bins, sizes, strict=True) if (one[3] * 2 > one[2]) == is_hollow]
        if not some:
            continue
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [one[0] for one, _ in some],
                "y": [one[1] for one, _ in some],
                "marker": {
                    "size": [size for _, size in some],
                    "symbol": "circle-open" if is_hollow else "circle",
                    "color": load[4] if is_hollow else load[3],
                    "opacity": 0.85,
                    "line": {"width": 1.5, "color": load[4]},
                },
                "hovertext": [
                    f"{one[2]} rows near {plain(one[0], 3)}, error near {one[1]:+.0f}{THIN}%, {one[3]} outside the band"
                    for one, _ in some
                ],
                "hoverinfo": "text",
            }
        )
    band = [
        {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": -end, "y1": end, "line": {"width": 0}}
        | {"fillcolor": surface["rule"], "opacity": 0.35, "layer": "below"}
        for end in (25, 10)
    ]
    span = max(one[0] for one in bins) / min(one[0] for one in bins)
    layout = {
        "height": _HEIGHT_PX,
        "showlegend": False,
        "xaxis": {"type": "log" if span > 20 else "linear", "nticks": 7, "showgrid": False},
        "yaxis": {"range": [-64, 64], "tickvals": [-50, -25, -10, 0, 10, 25, 50], "ticksuffix": f"{THIN}%"},
        "shapes": band,
    }
    rows, outside = sum(one[2] for one in bins), sum(one[3] for one in bins)
    alt = (
        f"Dots of {rows} rows of {quantity.replace('_', ' ')}: error in percent by the published value; "
        f"{outside} published values lie outside our 95 % band."
    )
    charts.draw({"data": data, "layout": layout}, alt, "validation.dots")


shell.run_free(page)
