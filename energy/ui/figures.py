"""The figure of five lines: label, value with unit, its range as bar and text, how it is known, how it changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from html import escape

import streamlit as st

from energy.report import Step
from energy.report.display import bar_scale, figure_text
from energy.report.model import Figure
from energy.report.numbers import RANGE_UNKNOWN, THIN

_FIRST, _FIRST_PAUSE_S = "figures.first", 0.35
_PAIR = ("location", "market")
_SQUARES = {"location": "location", "market": "market", "hourly": "hourly"}
_BOUNDARY = {"kWh_facility": "facility", "kWh_it": "IT", "kWh_chip": "chip"}


def first() -> None:
    """Let a reader's browser draw the figures before it is busy with the library of charts, once in a session."""
    if _FIRST not in st.session_state:
        st.session_state[_FIRST] = True
        time.sleep(_FIRST_PAUSE_S)


def block(
    figures: Sequence[Figure],
    *,
    energy_unit: str = "",
    ways_back: Mapping[str, Sequence[Step]] | None = None,
    commands: Mapping[str, str] | None = None,
) -> None:
    """Show figures on one scale of ranges, location and market side by side at every width.

    Parameters
    ----------
    figures : sequence of Figure
        At most eight; market directly after location.
    energy_unit : str
        Unit of energy that the reader asks for; by default the fitting prefix.
    ways_back : mapping of str to sequence of Step, optional
        Id of a value to the steps that lead to it; each figure with one can be opened.
    commands : mapping of str to str, optional
        Id of a value to the command that prints the same way back.
    """
    scale = bar_scale(figure.cell for figure in figures)
    parts: list[str] = []
    for figure in figures:
        steps = (ways_back or {}).get(figure.cell.id, ())
        command = (commands or {}).get(figure.cell.id, "")
        inner = html(figure, scale, energy_unit, steps, command)
        if figure.method == _PAIR[0] and len(figures) > 1:
            inner = '<div class="en-pair">' + inner
        elif figure.method == _PAIR[1] and len(figures) > 1:
            inner += "</div>"
        parts.append(inner)
    st.html(f'<div class="en"><div class="en-figs">{"".join(parts)}</div></div>')
    st.html(f'<div class="en en-note"><p>{escape(scale_note(scale))}</p></div>')


def scale_note(scale: int) -> str:
    """Say what the bars and dots mean.

    Examples
    --------
    >>> scale_note(25).replace(THIN, " ")[:66]
    'Bars: 95 % range, all on one scale of ±25 % around the value. Dot '

    """
    return (
        f"Bars: 95{THIN}% range, all on one scale of ±{scale}{THIN}% around the value. Dot filled: at least 90{THIN}% "
        "measured; half: partly measured, or measured activity × published factor; hollow: nothing measured."
    )


def html(figure: Figure, scale: int, energy_unit: str = "", steps: Sequence[Step] = (), command: str = "") -> str:
    """Return one figure as HTML.

    Parameters
    ----------
    figure : Figure
        What is shown.
    scale : int
        Half the width of the bar, in percent of the value.
    energy_unit : str
        Unit of energy that the reader asks for.
    steps : sequence of Step
        The way back.
    command : str
        The command that prints it.
    """
    cell = figure.cell
    text = figure_text(cell, energy_unit)
    square = f'<i style="background:var(--{_SQUARES[figure.method]})"></i>' if figure.method in _SQUARES else ""
    out = [f'<div class="label">{square}{escape(figure.label)}</div>']
    if text.muted:
        out.append(f'<div class="value absent">{escape(text.value)}</div><div class="known">{escape(text.title)}</div>')
        return f'<div class="en-fig">{"".join(out)}</div>'
    unit = "" if text.unit == "ratio" else text.unit
    small = f"<small>{escape(unit)}</small>" if unit else ""
    out.append(f'<div class="value">{escape(text.value)}{small}</div>')
    if figure.dot != "exact":
        out.append(_bar(figure, scale))
        out.append(f'<div class="span">{escape(text.range or RANGE_UNKNOWN)}</div>')
    out.append(f'<div class="known">{escape(figure.known)}</div>')
    if figure.changes:
        changes = ", ".join(f"{change} {against}" for against, change in figure.changes)
        out.append(f'<div class="known">{escape(changes)}</div>')
    if steps:
        out.append(_way_back(figure.label, steps, command))
    return f'<div class="en-fig">{"".join(out)}</div>'


def _bar(figure: Figure, scale: int) -> str:
    """Draw low to high; an end past the scale becomes a point."""
    cell = figure.cell
    kind = {"half": " half", "hollow": " hollow"}.get(figure.dot, "")
    if not isinstance(cell.value, Decimal) or not cell.value or cell.low is None or cell.high is None:
        return ""
    ends = [50 + 50 * float((end / cell.value - 1) * 100) / scale for end in (cell.low, cell.high)]
    first, last = max(ends[0], 0.0), min(ends[1], 100.0)
    points = ('<s class="down"></s>' if ends[0] < first else "") + ('<s class="up"></s>' if ends[1] > last else "")
    return (
        f'<div class="en-bar{kind}"><b style="left:{first:.1f}%;width:{max(last - first, 0.5):.1f}%"></b>'
        f"{points}<u></u></div>"
    )


def _way_back(label: str, steps: Sequence[Step], command: str) -> str:
    """Return the steps behind a figure, closed until they are asked for."""
    lines = []
    for step in steps:
        span = f" ({escape(step.range)})" if step.range and step.range != RANGE_UNKNOWN else ""
        kind = ' class="sub"' if step.subtotal else ""
        lines.append(
            f"<li{kind}>{escape(step.step)}<br>{escape(step.value)}{span}"
            f'<br><span class="muted">{escape(step.status)}; {escape(step.source)}</span></li>'
        )
    last = f"<p><code>{escape(command)}</code></p>" if command else ""
    return (
        f'<details><summary aria-label="Where does {escape(label)} come from">Where from</summary>'
        f'<div class="en-why"><p class="muted">Step, value (95{THIN}% range), status and source</p>'
        f"<ol>{''.join(lines)}</ol>{last}</div></details>"
    )
