"""Colours, styles and the template of the charts, all from ``tokens.json``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif'
LOGO_TEXT = "energy"
# Options of every chart: nothing to zoom, nothing that hides behind a tool bar.
CHART_CONFIG: dict[str, Any] = {
    "displayModeBar": False,
    "displaylogo": False,
    "scrollZoom": False,
    "doubleClick": False,
    "responsive": True,
}


@cache
def tokens() -> dict[str, Any]:
    """Return the colours of both themes.

    Examples
    --------
    >>> tokens()["light"]["method"]["location"]
    '#1559B0'

    """
    found: dict[str, Any] = json.loads((_FOLDER / "tokens.json").read_text(encoding="utf-8"))
    return found


def name() -> str:
    """Return the theme of this reader's browser: ``light`` or ``dark``."""
    return "dark" if st.context.theme.type == "dark" else "light"


def colours() -> dict[str, Any]:
    """Return the colours of this reader's theme."""
    found: dict[str, Any] = tokens()[name()]
    return found


@cache
def css(theme: str) -> str:
    """Return the style sheet with the colours of a theme.

    Parameters
    ----------
    theme : str
        ``light`` or ``dark``.

    Examples
    --------
    >>> "--location: #5FA3F2" in css("dark")
    True

    """
    chosen = tokens()[theme]
    named = chosen["surface"] | chosen["method"] | chosen["scope"] | {"no-data": chosen["no_data"]}
    variables = "; ".join(f"--{key.replace('_', '-')}: {value}" for key, value in named.items())
    frame = f":root {{ --frame: {chosen['surface']['rule']}; }}"
    return f"{frame}\n.en {{ {variables}; }}\n" + (_FOLDER / "app.css").read_text(encoding="utf-8")


def load() -> None:
    """Give the page its styles; once in each run."""
    st.html(f"<style>{css(name())}</style>")


def logo(theme: str) -> str:
    """Return the mark beside the app's name: a range with its value."""
    ink = tokens()[theme]["surface"]["ink"]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="132" height="32" viewBox="0 0 132 32" role="img">'
        f'<title>{LOGO_TEXT}</title><g stroke="{ink}" fill="{ink}"><path d="M2 16H34" stroke-width="1.5"/>'
        '<path d="M9 16H27" stroke-width="4"/><circle cx="18" cy="16" r="5.5"/>'
        '<text x="44" y="22" stroke="none" font-family="sans-serif" font-size="18" font-weight="600">'
        f"{LOGO_TEXT}</text>"
        "</g></svg>"
    )


def template(theme: str) -> dict[str, Any]:
    """Return the layout that every chart starts from.

    Parameters
    ----------
    theme : str
        ``light`` or ``dark``.
    """
    surface = tokens()[theme]["surface"]
    ticks = {"size": 12, "color": surface["muted"]}
    axis = {
        "automargin": True,
        "fixedrange": True,
        "ticks": "",
        "tickfont": ticks,
        "gridcolor": surface["grid"],
        "zeroline": False,
        "showline": False,
        "separatethousands": True,
        "exponentformat": "none",
    }
    return {
        "font": {"family": FONT, "size": 13, "color": surface["ink"]},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 4, "r": 8, "t": 8, "b": 4, "pad": 4},
        "separators": ".\u202f",
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "bargap": 0.34,
        "hoverlabel": {
            "bgcolor": surface["panel"],
            "bordercolor": surface["rule"],
            "align": "left",
            "font": {"family": FONT, "size": 13, "color": surface["ink"]},
        },
        "xaxis": axis | {"showgrid": False},
        "yaxis": axis | {"showgrid": True},
    }
