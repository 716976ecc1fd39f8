"""Catalogue: what is known of chips, models, zones and factors, from which source, and what nobody verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from energy.catalogue import browse
from energy.catalogue.listing import KINDS, one
from energy.catalogue.zones import zones_by_id
from energy.report.model import Cell, Figure
from energy.ui import catalogue_view, chip_power, figures, shell, words
from energy.ui.filters import Filters, row
from energy.ui.notices import heading, notes, notice

_TITLES = {
    "chips": "Chips",
    "nodes": "Nodes",
    "links": "Links",
    "memories": "Memories",
    "operations": "Energy of operations",
    "models": "Models",
    "software": "Gains by software",
    "prices": "Prices of chips",
    "electricity-prices": "Prices of electricity",
    "zones": "Grid zones",
    "factors": "Grid factors by year",
    "profiles": "Average days of grids",
    "cloud-regions": "Cloud regions",
    "marginal": "Marginal emissions",
    "losses": "Grid losses",
    "weather": "Weather of places",
    "sources": "Sources",
}
_LEGEND = (
    "Status: catalogue, read from its source; derived, computed from values read; estimate, recalled or assumed. Not "
    "verified: fields that are recalled and that nobody verified."
)
_ENTRY, _SEEN = "catalogue.entry", "catalogue.seen"


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = Filters("catalogue")
    places = row([3, 4, 5])
    kinds = {kind: _TITLES.get(kind, kind) for kind in KINDS}
    with places[0]:
        kind = filters.choice("What", "kind", kinds, "chips")
    title.title(f"{kinds[kind]}: what is known, and from where")
    with places[1]:
        text = filters.text("Search", "search", placeholder="Words, or any name of an entry")
    found = browse.find(kind, text)
    known = browse.rows(kind)
    with places[2]:
        entry = _entry(filters, kind, text, found, known)
    filters.done()
    if found.message:
        notice("", [found.message])
    if not found.keys:
        return
    shown = [known[key] for key in found.keys]
    _figures(kind, shown)
    catalogue_view.listing(kind, shown, browse.units(kind))
    lines = [words.filtered(len(shown), len(known))] if len(shown) < len(known) else []
    notes([*lines, _LEGEND, f"The same list: `energy catalogue {kind}`."])
    _record(kind, entry)


def _entry(filters: Filters, kind: str, text: str, found: browse.Found, known: Mapping[str, Mapping[str, Any]]) -> str:
    """Choose one of the entries found; what was chosen of another list is no bad link."""
    options = {key: _label(key, known[key]) for key in found.keys}
    if not options:
        return ""
    before = st.session_state.get(_SEEN)
    if before not in (None, (kind, text)) and st.session_state.get(_ENTRY) not in options:
        st.session_state.pop(_ENTRY, None)
        if "entry" in st.query_params:
            del st.query_params["entry"]
    st.session_state[_SEEN] = (kind, text)
    return filters.choice("Entry", "entry", options, next(iter(options)))


def _label(key: str, entry: Mapping[str, Any]) -> str:
    name = entry.get("name") or entry.get("title") or entry.get("location") or ""
    return f"{key}: {name}"[:90] if name else key


def _figures(kind: str, shown: list[Mapping[str, Any]]) -> None:
    """Say how many there are, how old they are, and of how many something is not verified."""
    years = sorted(entry["year"] for entry in shown if entry.get("year"))
    out = [Figure("Entries", Cell("catalogue.count", len(shown)), "exact", f"of {kind.replace('-', ' ')}")]
    if years:
        span = Cell("catalogue.years", f"{years[0]} to {years[-1]}" if years[0] < years[-1] else str(years[0]))
        out.append(Figure("Years", span, "exact", "the oldest and the latest"))
    if "unverified" in shown[0]:
        count = sum(bool(entry["unverified"]) for entry in shown)
        out.append(Figure("With fields not verified", Cell("catalogue.unverified", count), "exact", "recalled values"))
    if "source" in shown[0] and kind != "sources":
        sources = {name for entry in shown for name in str(entry["source"]).split("; ") if name}
        out.append(Figure("Sources", Cell("catalogue.sources", len(sources)), "exact", "named in each entry"))
    body = "".join(figures.html(figure, 10) for figure in out)
    st.html(f'<div class="en"><div class="en-figs">{body}</div></div>')


def _record(kind: str, entry: str) -> None:
    left, right = st.columns([8, 4], gap="large")
    with left:
        heading(entry, f"One entry of {_TITLES.get(kind, kind).lower()}, every value with its unit and status")
        catalogue_view.record(one(kind, entry))
        notes([f"The same entry: `energy catalogue {kind} '{entry}'`."])
        if kind == "chips":
            chip_power.show(entry)
    with right:
        lines = browse.site_lines(kind, entry)
        if lines:
            heading("Use it in site.yaml", "Lines to copy; name, hosts and counts are yours")
            st.code("\n".join(lines), language="yaml")
        catalogue_view.sources(browse.origins(kind, entry))
    _spread(kind, entry)


def _spread(kind: str, entry: str) -> None:
    zone = browse.zone_of(kind, entry)
    if not zone:
        return
    groups = browse.spread(zone)
    name = f"{zones_by_id()[zone].name} ({zone})"
    for group in groups:
        if len(group) > 1:
            catalogue_view.dots(group, name, entry)
    if groups and all(len(group) == 1 for group in groups):
        heading(f"One public factor is known for {name}", "So there is no spread of sources to show")


shell.run_free(page)
