"""Section 5: electricity by site, month and chip; chip-hours installed, given to projects, idle."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from energy.report import numbers
from energy.report.amounts import ZERO, Amount, add, ratio
from energy.report.display import value_text
from energy.report.facts import QuarterFacts
from energy.report.model import Block, Cell, ChartBlock, Column, Row, Section, Selection, Series, TableBlock
from energy.report.sections._cells import RANGE_NOTE, TOTAL_NOTE, amount_cell, energy_cell, value_cell
from energy.report.sections._figures import pue_amount

NUMBER, ID, TITLE = 5, "energy", "Electricity"
_BOUNDARIES = (
    Column("energy_chip", "Chip energy", "kWh_chip", ranged=True),
    Column("energy_it", "IT energy", "kWh_it", ranged=True),
    Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
)


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    chart = _heat(facts)
    blocks: list[Block] = [_by_site(facts), _by_site_month(facts), _by_chip(facts)]
    if chart is not None:
        blocks.append(chart)
    return Section(NUMBER, ID, TITLE, _lead(facts), tuple(blocks))


def _lead(facts: QuarterFacts) -> str:
    facility = facts.energy_total("energy_facility")
    it = facts.energy_total("energy_it")
    pue = pue_amount(facts)
    if facility.value is None or it.value is None:
        return f"No facility energy is known: {facility.reason}"
    return (
        f"Facility energy is {_words(facility, 'kWh_facility')}, IT energy {_words(it, 'kWh_it')}; "
        f"the energy-weighted PUE is {value_text(pue.value, 'kWh_facility/kWh_it')}."
    )


def _words(amount: Amount, unit: str) -> str:
    return value_text(amount.value, unit, amount.low, amount.high)


def _energy_row(facts: QuarterFacts, table_id: str, key: str, label: str, selection: Selection, total: bool) -> Row:
    prefix = f"{table_id}.{key}"
    return Row(
        key,
        (
            Cell(f"{prefix}.name", label),
            *(energy_cell(facts, f"{prefix}.{column.key}", column.key, selection) for column in _BOUNDARIES),
            amount_cell(f"{prefix}.pue", pue_amount(facts, selection), "kWh_facility/kWh_it"),
        ),
        "sum" if total else "row",
    )


def _by_site(facts: QuarterFacts) -> TableBlock:
    table_id = "energy.by_site"
    rows = [
        _energy_row(facts, table_id, site, facts.site_names.get(site, site), (("site_id", site),), False)
        for site in facts.site_ids
    ]
    rows.append(_energy_row(facts, table_id, "total", "Total", (), True))
    return TableBlock(
        table_id,
        "By site",
        f"Electricity at three boundaries and energy-weighted PUE, {facts.quarter.text}",
        (Column("name", "Site", kind="text"), *_BOUNDARIES, Column("pue", "PUE", "kWh_facility/kWh_it", ranged=True)),
        tuple(rows),
        (TOTAL_NOTE, RANGE_NOTE),
    )


def _by_site_month(facts: QuarterFacts) -> TableBlock:
    table_id = "energy.by_site_month"
    rows = []
    for site in facts.site_ids:
        for month in facts.quarter.months:
            selection = (("site_id", site), ("month", month))
            if facts.energy_rows(selection):
                label = f"{facts.site_names.get(site, site)}, {month}"
                rows.append(_energy_row(facts, table_id, f"{site}.{month}", label, selection, False))
    return TableBlock(
        table_id,
        "By site and month",
        f"Months in {facts.timezone}",
        (
            Column("name", "Site, month", kind="text"),
            *_BOUNDARIES,
            Column("pue", "PUE", "kWh_facility/kWh_it", ranged=True),
        ),
        tuple(rows),
    )


def _by_chip(facts: QuarterFacts) -> TableBlock:
    table_id = "energy.by_chip"
    columns = (
        Column("name", "Chip", kind="text"),
        Column("installed", "Installed, chip-hours", "chip*h", decimals=0),
        Column("project", "Projects, chip-hours", "chip*h", decimals=0),
        Column("idle", "Idle, chip-hours", "chip*h", decimals=0),
        Column("unallocated", "Unallocated, chip-hours", "chip*h", decimals=0),
        Column("energy_chip", "Chip energy", "kWh_chip", ranged=True),
        Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
        Column("idle_facility", "of it idle", "kWh_facility"),
    )
    rows = [_chip_row(facts, chip, facts.chip_names[chip], (("chip", chip),), False) for chip in facts.chips_by_energy]
    rows.append(_chip_row(facts, "total", "Total", (), True))
    return TableBlock(
        table_id,
        "By chip",
        f"Chip-hours installed and how they were used, and the energy of all of them, {facts.quarter.text}",
        columns,
        tuple(rows),
        (TOTAL_NOTE, "Installed less projects, idle and unallocated is 0 when the ledger is whole: section 11."),
    )


def _chip_row(facts: QuarterFacts, key: str, label: str, selection: Selection, total: bool) -> Row:
    prefix = f"energy.by_chip.{key}"
    installed = add((row for row in facts.installed if not selection or row["chip"] == key), "installed_chip_h")
    return Row(
        key,
        (
            Cell(f"{prefix}.name", label),
            value_cell(f"{prefix}.installed", installed, "chip*h", "The inventory holds no such chip."),
            *(
                Cell(f"{prefix}.{kind}", facts.chip_hours((*selection, ("owner_kind", kind))), "chip*h")
                for kind in ("project", "idle", "unallocated")
            ),
            energy_cell(facts, f"{prefix}.energy_chip", "energy_chip", selection),
            energy_cell(facts, f"{prefix}.energy_facility", "energy_facility", selection),
            energy_cell(facts, f"{prefix}.idle_facility", "energy_facility", (*selection, ("owner_kind", "idle"))),
        ),
        "sum" if total else "row",
    )


def _heat(facts: QuarterFacts) -> ChartBlock | None:
    """Mean facility power of each local hour: energy over the hours of that name, of which a long day has two."""
    energy: dict[tuple[str, int], Decimal] = defaultdict(lambda: ZERO)
    for row in facts.hours:
        if row["energy_facility_kwh"] is not None:
            energy[str(row["local_date"]), row["local_hour"]] += row["energy_facility_kwh"]
    if not energy:
        return None
    hours = {(str(row["local_date"]), row["local_hour"]): row["hours"] for row in facts.clock}
    days = tuple(sorted({day for day, _ in hours}))
    power = {key: ratio(value * 1000, Decimal(hours.get(key, 1))) for key, value in energy.items()}
    top = max(sorted(power), key=lambda key: power[key])
    least = min(sorted(power), key=lambda key: power[key])
    series = tuple(
        Series(f"{hour:02}", f"{hour:02}:00", tuple(power.get((day, hour)) for day in days)) for hour in range(24)
    )
    odd = sorted({day for day in days if sum(hours.get((day, hour), 0) for hour in range(24)) != 24})
    notes = tuple(f"{day} has {sum(hours.get((day, hour), 0) for hour in range(24))} hours." for day in odd)
    absent = sum(hours.values()) - sum(hours[key] for key in power if key in hours)
    words = f"{top[0]}, {top[1]:02}:00 to {top[1] + 1:02}:00 {facts.timezone}"
    high, low = (value_text(power[key], "W_facility") for key in (top, least))
    return ChartBlock(
        "energy.heat",
        "heat",
        f"The highest hour is {words}",
        f"Mean facility power by hour and day, {facts.quarter.text}, {facts.timezone}; from {low} to {high}",
        f"Heat map of mean facility power, days across and hours down, 00 at the top, {facts.quarter.text}. "
        f"Lowest {low} on {least[0]} at {least[1]:02}:00, highest {high} on {words}. "
        f"{numbers.plain(absent, 0)} hours have no data.",
        "W_facility",
        days,
        series,
        notes=notes,
    )
