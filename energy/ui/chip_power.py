"""The power of a chip in the app: its watts by state as a table, and its curve with both ranges as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from energy.errors import EnergyError
from energy.power.card import power_card, watts
from energy.report.charts import ticks
from energy.report.numbers import THIN
from energy.ui import charts, theme
from energy.ui.notices import heading, notes, notice

_CHART_PX = 300
_LOADS = (0, 25, 50, 75, 100)
_WHERE = {"chip": "inside a node (chip)", "it": "at its plug (IT)"}
_LOAD_OF = {"curve": "dense peak", "events": "highest rate of events", "conversions": "highest rate of products"}
_WHEN = {
    "compute-bound": "when it is compute-bound",
    "full rate": "at its full rate",
    "running": "with a design at work",
    "busy": "when all cores work",
}
_RANGES = (("power_low_w", "power_high_w", "95 % range"), ("power_low80_w", "power_high80_w", "80 % range"))


def show(chip: str) -> None:
    """Show the power of a chip, or why it is not known.

    Parameters
    ----------
    chip : str
        Identifier of the catalogue.
    """
    try:
        card = power_card(chip)
    except EnergyError as error:
        notice("", [str(error)])
        return
    busiest = card["states"][-1]
    heading(
        f"{_named(card['device'])} draws {watts(busiest['power_w'])}{THIN}W {_WHEN[busiest['state']]}",
        f"W by state, counted {_WHERE[card['boundary']]}; status {busiest['status']}",
    )
    st.html(_table(card["states"]))
    if card["curve"]:
        charts.draw(_figure(card["curve"]), _alt(card), f"power.{card['chip_id']}")
    notes(_notes(card))


def _named(device: str) -> str:
    return device.capitalize() if device.startswith("half") else f"A {device}"


def _table(states: Sequence[Mapping[str, Any]]) -> str:
    body = "".join(
        f'<tr><th scope="row" class="short">{escape(state["state"])}</th><td class="num">{watts(state["power_w"])}</td>'
        f'<td class="num">{watts(state["power_low80_w"])} to {watts(state["power_high80_w"])}</td>'
        f'<td class="num">{watts(state["power_low_w"])} to {watts(state["power_high_w"])}</td>'
        f'<td class="long">{escape(state["meaning"])}</td></tr>'
        for state in states
    )
    head = "".join(
        f'<th scope="col" class="{kind}">{text}</th>'
        for kind, text in (("short", "State"), ("num", "W"), ("num", "80 %"), ("num", "95 %"), ("long", "What it does"))
    )
    return (
        '<div class="en"><div class="en-scroll" role="region" tabindex="0" aria-label="Watts by state">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _alt(card: Mapping[str, Any]) -> str:
    first, last = card["curve"][0], card["curve"][-1]
    return (
        f"Line of the power of {card['chip_id']} against its share of the {_LOAD_OF[card['model']]}, with the 80 % and "
        f"95 % ranges: from {watts(first['power_w'])} W without load to {watts(last['power_w'])} W "
        f"({watts(last['power_low_w'])} to {watts(last['power_high_w'])}) at full load."
    )


def _notes(card: Mapping[str, Any]) -> list[str]:
    lines = []
    if card["curve"]:
        beside = f" in {card['precision']}, no memory traffic beside" if card["precision"] else ""
        lines.append(f"Across: share of the {_LOAD_OF[card['model']]}{beside}. Shaded: 80 % and 95 % ranges.")
    below = card["from_below"]
    if "refused" not in below:
        lines.append(
            f"From operations and bytes, a floor: {watts(below['bottom_up_chip_w'])}{THIN}W where the curve says "
            f"{watts(below['top_down_chip_w'])}{THIN}W."
        )
    return [*lines, f"Source: {card['source']}.", *([card["note"]] if card["note"] else [])]


def _figure(curve: Sequence[Mapping[str, float]]) -> charts.Figure:
    surface = theme.colours()["surface"]
    across = [100.0 * point["load"] for point in curve]
    data: list[dict[str, Any]] = []
    for (low, high, name), opacity in zip(_RANGES, (0.12, 0.22), strict=True):
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [*across, *reversed(across)],
                "y": [*(point[high] for point in curve), *(point[low] for point in reversed(curve))],
                "fill": "toself",
                "fillcolor": _see_through(surface["interactive"], opacity),
                "line": {"width": 0},
                "hoverinfo": "skip",
                "name": name,
            }
        )
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": across,
            "y": [point["power_w"] for point in curve],
            "line": {"width": 2, "color": surface["ink"]},
            "hovertext": [f"{100 * point['load']:.0f} %: {watts(point['power_w'])}{THIN}W" for point in curve],
            "hoverinfo": "text",
            "name": "power",
        }
    )
    marks = ticks(max(point["power_high_w"] for point in curve))
    top = max(marks[-1], *(point["power_high_w"] for point in curve))
    return {
        "data": data,
        "layout": {
            "height": _CHART_PX,
            "showlegend": False,
            "xaxis": {"range": [0, 104], "tickvals": _LOADS, "ticktext": [f"{load}{THIN}%" for load in _LOADS]},
            "yaxis": {"range": [0, top], "tickvals": marks, "ticktext": [f"{watts(mark)}{THIN}W" for mark in marks]},
        },
    }


def _see_through(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
