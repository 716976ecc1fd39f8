"""One entry of the catalogue: every value with unit and status, its sources, and the spread of factors of its zone."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from energy.catalogue.factors import Factor
from energy.catalogue.sources import Source
from energy.report import numbers
from energy.report.charts import ticks
from energy.report.numbers import THIN
from energy.ui import charts, frames, theme
from energy.ui.notices import heading, notes

_NOT_KNOWN = "not known"
_NONE = "none"
_ROW_PX = 44
# Ends of names that say the unit again, and words that are not written small.
_UNIT_ENDS = (
    "_gb_per_s_per_direction", "_gbit_per_s_total", "_gb_per_s", "_l_per_kwh", "_pct_of_output", "_gco2_per_kwh",
    "_usd_per_kwh", "_tflops", "_tops", "_billion", "_per_gb", "_mm2", "_kw", "_gb", "_mb", "_pj", "_w", "_b",
)  # fmt: skip
_CAPITALS = {
    "tdp": "TDP", "fp64": "FP64", "fp32": "FP32", "tf32": "TF32", "fp16": "FP16", "bf16": "BF16", "fp8": "FP8",
    "fp6": "FP6", "fp4": "FP4", "int8": "INT8", "int4": "INT4", "sram": "SRAM", "dram": "DRAM", "cpu": "CPU",
    "nics": "NICs", "vcpu": "vCPU", "usd": "USD", "gwp": "GWP", "iso2": "ISO 3166 code", "pue": "PUE", "wue": "WUE",
    "mfu": "MFU", "egrid": "eGRID", "watttime": "WattTime",
}  # fmt: skip


def words(value: Any) -> str:
    """Write a value as the catalogue has it: nothing is rounded away, a year is no amount.

    Examples
    --------
    >>> words(None), words(True), words(226.498), words("SXM5"), words(1979.0)
    ('not known', 'yes', '226.498', 'SXM5', '1979')

    """
    if value is None or value == "":
        return _NOT_KNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}".replace("-", numbers.MINUS) if isinstance(value, float) else str(value)


def listing(kind: str, rows: Sequence[Mapping[str, Any]], units: Mapping[str, str]) -> None:
    """Show entries as a table; the unit stands in the head.

    Parameters
    ----------
    kind : str
        The catalogue.
    rows : sequence of mapping
        Entries with the same columns.
    units : mapping of str to str
        Unit of each column that has one.
    """
    names = [name for name in rows[0] if name == "unverified" or any(row[name] not in (None, "") for row in rows)]
    if len(rows) <= frames.MOST_HTML_ROWS:
        st.html(_table(kind, names, rows, units))
        return
    pd: Any = importlib.import_module("pandas")  # comes with streamlit
    data, config = {}, {}
    for place, name in enumerate(names):
        values = [row[name] for row in rows]
        label = _label(name, units)
        if _numeric(values):
            data[name] = pd.Series(values, dtype="float64")
            config[name] = st.column_config.NumberColumn(label, format="%d" if name == "year" else None)
        else:
            empty = _NONE if name == "unverified" else None
            shown = [empty if value in (None, "") else words(value) for value in values]
            data[name] = pd.Series(shown, dtype="object")
            config[name] = st.column_config.TextColumn(label, pinned=place == 0)
    st.dataframe(
        pd.DataFrame(data),
        column_config=config,
        hide_index=True,
        height=frames.height(min(len(rows), 8)),
        placeholder=_NOT_KNOWN,
        key=f"catalogue.table.{kind}",
        alt=f"{len(rows)} entries of {kind}: {', '.join(_label(name, units) for name in names)}",
    )


def _numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def name_of(field: str, unit: str = "") -> str:
    """Write the name of a field for people; the unit, which stands beside it, is not said twice.

    Parameters
    ----------
    field : str
        As the table names it.
    unit : str
        Its unit, where it has one.

    Examples
    --------
    >>> name_of("memory_bandwidth_gb_per_s", "GB/s"), name_of("tdp_w", "W"), name_of("unverified")
    ('Memory bandwidth', 'TDP', 'Not verified')

    """
    if field == "unverified":
        return "Not verified"
    stem = next((field.removesuffix(end) for end in _UNIT_ENDS if unit and field.endswith(end)), field)
    text = " ".join(_CAPITALS.get(word, word) for word in stem.split("_")).replace("sparsity 2 4", "sparsity 2:4")
    return text[:1].upper() + text[1:] if text.split(" ")[0] not in _CAPITALS.values() else text


def _label(name: str, units: Mapping[str, str]) -> str:
    unit = units.get(name, "")
    return f"{name_of(name, unit)}, {unit}" if unit else name_of(name)


def _table(kind: str, names: Sequence[str], rows: Sequence[Mapping[str, Any]], units: Mapping[str, str]) -> str:
    numeric = {name: _numeric([row[name] for row in rows]) for name in names}
    head = "".join(
        f'<th scope="col" class="{"num" if numeric[name] else "short"}">{escape(_label(name, units))}</th>'
        for name in names
    )
    body = "".join(
        "<tr>" + "".join(_cell(row[name], name, numeric=numeric[name]) for name in names) + "</tr>" for row in rows
    )
    return (
        f'<div class="en"><div class="en-scroll" role="region" tabindex="0" aria-label="Entries of {escape(kind)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _cell(value: Any, name: str, *, numeric: bool) -> str:
    text = _NONE if name == "unverified" and value == "" else words(value)
    kinds = ["num" if numeric else "short" if len(text) < 40 else "long"]
    kinds += ["muted"] if text == _NOT_KNOWN else []
    return f'<td class="{" ".join(kinds)}">{escape(text)}</td>'


def record(rows: Sequence[Mapping[str, Any]]) -> None:
    """Show one entry field by field; what is not known is folded away, and counted.

    Parameters
    ----------
    rows : sequence of mapping
        Field, value, unit and status, as ``energy.catalogue.listing.one`` gives them.
    """
    known = [row for row in rows if row["value"] not in (None, "") and row["field"] != "source"]
    absent = [str(row["field"]) for row in rows if row["value"] in (None, "")]
    whole = next((str(row["value"]) for row in rows if row["field"] == "status"), "")
    body = "".join(
        f'<tr><th scope="row" class="short">{escape(name_of(str(row["field"]), row.get("unit", "")))}</th>'
        f'<td>{escape(words(row["value"]))}{_unit(row)}</td><td class="long{"" if row["status"] else " muted"}">'
        f"{escape(row['status'] or whole)}</td></tr>"
        for row in known
        if row["field"] != "status"
    )
    more = ""
    if absent:
        listed = ", ".join(name_of(name) for name in absent)
        count = "One field is" if len(absent) == 1 else f"{len(absent)} fields are"
        more = f'<details class="en-schema"><summary>{count} not known</summary><p>{escape(listed)}</p></details>'
    st.html(
        '<div class="en"><div class="en-scroll" role="region" tabindex="0" aria-label="The entry">'
        '<table><thead><tr><th scope="col">Field</th><th scope="col">Value</th><th scope="col">Status</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>{more}</div>"
    )


def _unit(row: Mapping[str, Any]) -> str:
    unit = row.get("unit", "")
    return f"{THIN}{escape(unit)}" if unit and unit != "year" else ""


def sources(found: Sequence[Source]) -> None:
    """Show sources in words; no address is asked for.

    Parameters
    ----------
    found : sequence of Source
        Of one entry.
    """
    body = "".join(
        f"<dt><code>{escape(one.source)}</code></dt><dd>{escape(one.title)}. {escape(one.where)}"
        f"{f', {escape(one.as_of)}' if one.as_of else ''}. Licence: {escape(one.licence or _NOT_KNOWN)}. "
        f"{escape(one.quality)}</dd>"
        for one in found
    )
    heading("Sources")
    st.html(f'<div class="en en-schema"><dl>{body}</dl></div>')


def dots(group: Sequence[Factor], zone: str, used: str) -> None:
    """Draw a dot for each source on one axis, its range as a line where it has one.

    Parameters
    ----------
    group : sequence of Factor
        In one unit.
    zone : str
        Name of the zone.
    used : str
        Id of the factor whose entry is open: its dot is filled.
    """
    unit = group[0].unit
    low, high = min(group, key=lambda one: one.value), max(group, key=lambda one: one.value)
    apart = f"{numbers.plain(100 * (high.value / low.value - 1), 0)}{THIN}%" if low.value else "more than 0"
    heading(
        f"Public factors of {zone} lie {apart} apart",
        f"Latest factor of each publisher, kind, boundary and gases; {unit}",
    )
    names = [_name(one) for one in group]
    alt = f"Dots of {len(group)} factors of {zone} in {unit}: " + "; ".join(
        f"{name} {one.value:g}" for name, one in zip(names, group, strict=True)
    )
    charts.draw(_dots(group, names, used), f"{alt}.", f"spread.{group[0].factor_id}")
    notes(["They answer different questions (location or residual, direct or lifecycle): they are never averaged."])


def _name(one: Factor) -> str:
    return f"{one.publisher} {one.year}, {one.kind}, {one.boundary}, {one.gases}"


def _dots(group: Sequence[Factor], names: Sequence[str], used: str) -> charts.Figure:
    surface = theme.colours()["surface"]
    places = list(range(len(group)))
    values = [one.value for one in group]
    ends = [(one.low, one.high) for one in group]
    largest = max([*values, *(high for _, high in ends if high is not None)])
    marks = ticks(largest)
    dot = {
        "type": "scatter",
        "mode": "markers",
        "x": values,
        "y": places,
        "marker": {
            "size": 11,
            "color": surface["ink"],
            "symbol": ["circle" if one.factor_id == used else "circle-open" for one in group],
            "line": {"width": 2},
        },
        "hovertext": [f"{name}: {one.value:g}{THIN}{one.unit}" for name, one in zip(names, group, strict=True)],
        "hoverinfo": "text",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [0 if high is None else high - value for value, (_, high) in zip(values, ends, strict=True)],
            "arrayminus": [0 if low is None else value - low for value, (low, _) in zip(values, ends, strict=True)],
            "color": surface["ink"],
            "thickness": 1.2,
            "width": 0,
        },
    }
    # Names stand above their dots, inside the plot: beside it they would leave a phone no room for the axis.
    labels = [
        {
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": place - 0.32,
            "text": f"{escape(name)}: <b>{value:g}</b>",
            "showarrow": False,
            "font": {"size": 13, "color": surface["ink"]},
        }
        for place, name, value in zip(places, names, values, strict=True)
    ]
    return {
        "data": [dot],
        "layout": {
            "height": _ROW_PX * len(group) + 50,
            "xaxis": {"showgrid": True, "range": [0, max(marks[-1], largest * 1.03)], "tickvals": marks},
            "yaxis": {"range": [len(group) - 0.5, -0.7], "visible": False},
            "annotations": labels,
        },
    }
