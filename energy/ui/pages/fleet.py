"""Fleet & jobs: who used which chips, what stood idle, which jobs took most, which hours have no readings."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from energy.report.facts import LAST_OWNERS, QuarterFacts
from energy.report.fleet import Fleet
from energy.report.fleet_choice import ALL, Choice
from energy.report.model import ChartBlock, Prose
from energy.report.period import parse_quarter
from energy.schema import TIERS, Field, table
from energy.ui import charts, data, figures, fleet_data, frames, shell, tables, upload, words
from energy.ui.filters import Filters, row
from energy.ui.notices import heading, notes, notice
from energy.ui.state import Opened

_NAMES = ("site", "project", "chip", "tier")
_JOB_FIELDS = {
    "job": "job_id",
    "project": "owner",
    "job_type": "job_type",
    "site": "site_id",
    "chip": "chip_id",
    "start": "start_utc",
    "state": "state",
    "chip_hours": "chip_h",
    "with_readings": "covered_chip_h",
    "energy_facility": "energy_facility_kwh",
}
_STEPS_SHOWN = 5


def page(ledger: Opened) -> None:
    """Show the page."""
    _fleet(ledger)
    upload.panel()


def _fleet(ledger: Opened) -> None:
    quarters = data.quarter_options(ledger)
    title = st.empty()
    if not quarters:
        title.title("The fleet")
        notice("No data.", [words.NO_DATA_YET])
        return
    filters = Filters("fleet")
    places = row([3, 4, 4, 4, 4])
    with places[0]:
        quarter = filters.choice("Quarter", "quarter", quarters, data.latest(ledger))
    title.title(f"The fleet in {quarters[quarter]}")
    if quarter not in data.held(ledger).quarters:
        filters.done()
        _empty(ledger, quarter)
        return
    chosen = {}
    for place, (name, options) in zip(places[1:], _options(data.facts(ledger, quarter)).items(), strict=True):
        with place:
            chosen[name] = filters.choice(name.capitalize(), name, options, ALL)
    filters.done()
    _show(ledger, quarter, Choice(**chosen))


def _options(facts: QuarterFacts) -> dict[str, Mapping[str, str]]:
    projects = [name for name in facts.owners if name not in LAST_OWNERS]
    present = {line["tier"] for line in facts.energy}
    return {
        "site": {ALL: "All sites"} | {site: facts.site_names.get(site, site) for site in facts.site_ids},
        "project": {ALL: "All projects"} | {name: name for name in (*projects, *LAST_OWNERS)},
        "chip": {ALL: "All chips"} | {chip: facts.chip_names[chip] for chip in facts.chips_by_energy},
        "tier": {ALL: "All tiers"} | {tier: charts.TIER_LABELS[tier] for tier in TIERS if tier in present},
    }


def _empty(ledger: Opened, quarter: str) -> None:
    notice("", [data.held(ledger).empty_message(parse_quarter(quarter))])
    latest = data.latest(ledger)

    def go() -> None:
        st.session_state["fleet.quarter"] = latest

    st.button(f"Show {parse_quarter(latest).text}", on_click=go)


def _show(ledger: Opened, quarter: str, choice: Choice) -> None:
    seen = fleet_data.fleet_of(ledger, quarter, choice)
    if not seen.line_count:
        _nothing()
        return
    commands = {
        name: f"energy explain front.{name.removeprefix('fleet.')} --ledger DIR --quarter {quarter}"
        for name in seen.ways_back
        if name in ("fleet.energy_facility", "fleet.scope2_location", "fleet.scope2_market")
    }
    figures.block(seen.figures, ways_back=seen.ways_back, commands=commands if choice.whole else None)
    notes(seen.notes)
    _bars(seen)
    tables.block(seen.by_tier[1])
    fields = table("main.jobs").fields
    frames.block(
        fleet_data.jobs_of(ledger, quarter, choice),
        meanings={key: fields[name] for key, name in _JOB_FIELDS.items()} | _emission_fields(),
    )
    if seen.idle is not None:
        tables.block(seen.idle)
    _coverage(ledger, quarter, choice, seen)
    _next(ledger)


def _emission_fields() -> dict[str, Field]:
    field = table("main.emission_lines").field_of("emissions_kgco2e")
    return dict.fromkeys(("location", "market", "hourly"), field)


def _nothing() -> None:
    notice("", ["No line of this quarter fits all filters: shown 0 rows, 0 % of the energy."])

    def clear() -> None:
        for name in _NAMES:
            st.session_state[f"fleet.{name}"] = ALL

    st.button("Show all", on_click=clear)


def _bars(seen: Fleet) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        _chart(seen.by_project[0], "fleet.by_project")
    with right:
        _chart(seen.by_chip[0], "fleet.by_chip")
        _chart(seen.by_tier[0], "fleet.by_tier")
    with st.expander("Tables by project and by chip"):
        tables.block(seen.by_project[1], key="fleet.table_by_project")
        tables.block(seen.by_chip[1], key="fleet.table_by_chip")


def _chart(chart: ChartBlock, key: str) -> None:
    """Draw a chart; where no energy is known, say so in place of an empty one."""
    if chart.series:
        charts.show(chart, key=key)
        return
    heading(chart.heading, chart.sub)
    notes(["No energy is known here, so there is nothing to draw.", *chart.notes])


def _coverage(ledger: Opened, quarter: str, choice: Choice, seen: Fleet) -> None:
    charts.show(seen.strip)
    if seen.long_gaps:
        notice("Gaps of over a day.", seen.long_gaps)
    if isinstance(seen.gaps, Prose):
        heading(seen.gaps.heading)
        notes(seen.gaps.paragraphs)
    else:
        frames.block(seen.gaps, key="fleet.gaps")
    found = fleet_data.devices_of(ledger, quarter, choice)
    if found.rows:
        frames.block(found)


def _next(ledger: Opened) -> None:
    heading("What to do next", "What `energy doctor DIR` finds in the whole ledger; DIR is its folder")
    steps = fleet_data.next_steps(ledger)
    lines = [f"{text}. {f'Next: `{remedy}`' if remedy else ''}".strip() for text, remedy in steps[:_STEPS_SHOWN]]
    more = len(steps) - _STEPS_SHOWN
    notes([*lines, *([f"{more} more findings: `energy doctor DIR`."] if more > 0 else [])] or ["Nothing is missing."])


shell.run(page, without=upload.panel)
