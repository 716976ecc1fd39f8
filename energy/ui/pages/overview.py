"""Overview: the quarter in figures, how Scope 2 went, who used the energy, when, and how it is known."""

from __future__ import annotations

import streamlit as st

from energy.report.display import ENERGY_UNITS, figure_text
from energy.report.model import Cell
from energy.report.period import parse_quarter
from energy.ui import charts, data, figures, shell, tables, words
from energy.ui.filters import Filters, row
from energy.ui.notices import notes, notice
from energy.ui.state import Opened

_GROUPS = {"project": "Project", "chip": "Chip", "site": "Site"}
_RESERVATIONS = 3


def page(ledger: Opened) -> None:
    """Show the page."""
    quarters = data.quarter_options(ledger)
    title = st.empty()
    if not quarters:
        title.title("The quarter")
        notice("No data.", [words.NO_DATA_YET])
        return
    filters = Filters("overview")
    places = row([3, 4, 4, 4])
    with places[0]:
        quarter = filters.choice("Quarter", "quarter", quarters, data.latest(ledger))
    title.title(f"The quarter: {quarters[quarter]}")
    known = data.held(ledger)
    if quarter not in known.quarters:
        filters.done()
        _empty(ledger, quarter)
        return
    facts = data.facts(ledger, quarter)
    names = {site: facts.site_names.get(site, site) for site in facts.site_ids}
    everything = f"All {len(names)} sites" if len(names) > 1 else "The whole ledger"
    with places[1]:
        site = filters.choice("Site", "site", {data.ALL_SITES: everything} | names, data.ALL_SITES)
    with places[2]:
        group = filters.choice("By", "by", _GROUPS, "project", buttons=True)
    with places[3]:
        unit = filters.choice("Energy in", "unit", _units(ledger, quarter), _unit(ledger, quarter), buttons=True)
    filters.done()
    _show(ledger, quarter, site, group, unit)


def _units(ledger: Opened, quarter: str) -> dict[str, str]:
    """Return the units to choose from; GWh only where it is the fitting one."""
    names = [name for name in ENERGY_UNITS if name != "GWh" or _unit(ledger, quarter) == name]
    return {name: name for name in names}


def _unit(ledger: Opened, quarter: str) -> str:
    """Return the unit that fits the quarter's facility energy."""
    value = data.facts(ledger, quarter).energy_total("energy_facility").value
    fitting = figure_text(Cell("", value, "kWh_facility")).unit
    return fitting if fitting in ENERGY_UNITS else "kWh"


def _empty(ledger: Opened, quarter: str) -> None:
    notice("", [data.held(ledger).empty_message(parse_quarter(quarter))])
    latest = data.latest(ledger)

    def go() -> None:
        st.session_state["overview.quarter"] = latest

    st.button(f"Show {parse_quarter(latest).text}", on_click=go)


def _show(ledger: Opened, quarter: str, site: str, group: str, unit: str) -> None:
    seen = data.overview_of(ledger, quarter, site)
    lines = list(seen.reservations)
    notice("Open reservations.", lines[:_RESERVATIONS])
    if len(lines) > _RESERVATIONS:
        with st.expander(f"{len(lines) - _RESERVATIONS} more reservations"):
            notes(lines[_RESERVATIONS:])
    commands = {name: f"energy explain {name} --ledger DIR --quarter {quarter}" for name in seen.ways_back}
    whole = site == data.ALL_SITES  # the command explains the report's values, which are of all sites
    figures.block(seen.figures, energy_unit=unit, ways_back=seen.ways_back, commands=commands if whole else None)
    notes(seen.notes)
    figures.first()
    bars, table = data.breakdown_of(ledger, quarter, site, group, unit)
    left, right = st.columns([7, 5], gap="large")
    with left:
        if seen.scope2 is not None:
            charts.show(seen.scope2)
    with right:
        charts.show(bars, energy_unit=unit)
    if seen.load is not None:
        charts.show(seen.load)
    tables.block(table, energy_unit=unit)
    tables.block(seen.tiers, energy_unit=unit)


shell.run(page)
