"""Section 3: how the energy is known, what is missing, and the rules that fill and share it."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal

from energy.report import numbers, queries
from energy.report.amounts import ZERO, ratio
from energy.report.facts import UNDISCLOSED, QuarterFacts
from energy.report.model import Block, Cell, ChartBlock, Column, Prose, Row, Section, Selection, Series, TableBlock
from energy.report.sections._cells import (
    RANGE_NOTE,
    TIER_WORDS,
    TOTAL_NOTE,
    energy_cell,
    minute_text,
    share_of,
    text_cell,
    value_cell,
)
from energy.report.sections._figures import reading_share
from energy.report.sections._gaps import gaps
from energy.schema import ATTRIBUTIONS, TIERS

NUMBER, ID, TITLE = 3, "data_quality", "Method and data quality"
_GAPS_SHOWN = 50
_ATTRIBUTION_WORDS = {
    "device": "the device's own reading, in hours when one job or none held it",
    "host share": "a share of the host's readings, by chips held and time",
    "job": "energy that the job log itself states",
    "none": "no reading: default power, or not known",
}
_RULES = (
    (
        "Activity times factor",
        "Chip energy × node overhead = IT energy; IT energy × PUE of the hour = facility energy; facility energy × "
        "grid factor of the hour = Scope 2.",
    ),
    (
        "Power readings",
        "A power reading is held until the next one, at most for its sampling interval. A gap of up to 15 minutes, or "
        "of two intervals up to an hour, is bridged at the mean of the powers beside it and counts as modelled; a "
        "longer one takes default power, never 0. A counter of energy gives the energy between two of its readings.",
    ),
    (
        "Shared hosts",
        "Where the log says how many chips of a host a job held, but not which, the host's readings are shared by "
        "chips and time.",
    ),
    (
        "Idle",
        "A chip-hour that no job held is idle. Its energy is shown as idle and is not spread over projects.",
    ),
    ("Unallocated", "Energy of a time for which no owner is known. It closes the gap to the site's total."),
    (
        "Default power",
        "A chip-hour without reading takes the power of its chip, busy or idle, with the range in the table: the "
        "catalogue's, or the mean of the ledger's own readings of that chip where site.yaml asks for it. A chip that "
        "is not disclosed has no default: its energy is not known.",
    ),
    (
        "Ranges",
        "Readings: the error that assumptions name, an estimate. Default power: what single boards were "
        "read at in production, idle boards apart, or the spread of single boards that were read here. Node overhead: "
        "as site.yaml states, or by the model of a node. PUE: as site.yaml states. "
        "Grid factors: no source gives a range, so none is included. No range has been tested against meters.",
    ),
)


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    blocks: list[Block] = [_tiers(facts), _strip(facts), _coverage(facts), _gaps(facts), _attribution(facts)]
    blocks += [Prose("data_quality.rules", "Rules", terms=_RULES), _pue(facts), _overhead(facts), _default_power(facts)]
    share = numbers.share(reading_share(facts), 1) if facts.energy_total("energy_facility").value else "none"
    lead = f"Of facility energy, {share} rests on energy or power readings; each other tier is named below."
    return Section(NUMBER, ID, TITLE, lead, tuple(blocks))


def _tiers(facts: QuarterFacts) -> TableBlock:
    chip_shares = dict(facts.tier_shares("chip_h"))
    energy_shares = dict(facts.tier_shares("energy_facility_kwh"))
    rows = []
    for tier in (*TIERS, "total"):
        prefix = f"data_quality.tiers.{tier}"
        selection: Selection = () if tier == "total" else (("tier", tier),)
        whole = Decimal(1) if tier == "total" else None
        if tier == "missing":
            why = "Not known: no reading and no default. Not in the totals."
            has = bool(facts.energy_rows(selection))
            energy = Cell(f"{prefix}.energy_facility", None, "kWh_facility", mark="no data", reason=why)
            if not has:
                energy = Cell(f"{prefix}.energy_facility", ZERO, "kWh_facility")
        else:
            energy = energy_cell(facts, f"{prefix}.energy_facility", "energy_facility", selection)
        cells = (
            Cell(f"{prefix}.name", "Total" if tier == "total" else tier),
            text_cell(f"{prefix}.meaning", "all tiers" if tier == "total" else TIER_WORDS[tier]),
            Cell(f"{prefix}.chip_hours", facts.chip_hours(selection), "chip*h"),
            Cell(f"{prefix}.chip_share", whole or chip_shares.get(tier, ZERO), "%"),
            energy,
            Cell(f"{prefix}.energy_share", whole or energy_shares.get(tier, ZERO), "%"),
        )
        rows.append(Row(tier, cells, "sum" if tier == "total" else "row"))
    columns = (
        Column("name", "Tier", kind="text"),
        Column("meaning", "How the energy is known", kind="text"),
        Column("chip_hours", "Chip-hours", "chip*h", decimals=0),
        Column("chip_share", "Share of chip-hours", kind="share"),
        Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
        Column("energy_share", "Share of energy", kind="share"),
    )
    sub = f"Best first; shares of chip-hours and of known facility energy, {facts.quarter.text}"
    return TableBlock(
        "data_quality.tiers", "How the energy is known", sub, columns, tuple(rows), (TOTAL_NOTE, RANGE_NOTE)
    )


def _strip(facts: QuarterFacts) -> ChartBlock:
    """Share of chip-hours with readings, by day and site."""
    sums: dict[tuple[str, str, str], Decimal] = defaultdict(lambda: ZERO)
    for row in facts.hours:
        sums[row["site_id"], str(row["local_date"]), row["tier"]] += row["chip_h"]
    days = tuple(sorted({str(row["local_date"]) for row in facts.clock}))
    series = []
    words = []
    for site in facts.site_ids:
        name = facts.site_names.get(site, site)
        wholes = [sum((sums[site, day, tier] for tier in TIERS), ZERO) for day in days]
        for tier in TIERS:
            values = tuple(
                ratio(sums[site, day, tier], whole) if whole else None for day, whole in zip(days, wholes, strict=True)
            )
            series.append(Series(f"{site}|{tier}", name, values))
        shares = facts.tier_shares("chip_h", (("site_id", site),))
        words.append(f"{name}: " + ", ".join(f"{tier} {numbers.share(part, 1)}" for tier, part in shares) + ".")
    return ChartBlock(
        "data_quality.strip",
        "strip",
        "Which days have readings?",
        f"Share of chip-hours by tier, each day and site, {facts.quarter.text}",
        "Strip for each site, one column a day, split by how the energy is known. " + " ".join(words),
        "",
        days,
        tuple(series),
        "data_quality.coverage",
    )


def _coverage(facts: QuarterFacts) -> TableBlock:
    rows = []
    for site in facts.site_ids:
        for chip in facts.chips_by_energy:
            for month in facts.quarter.months:
                selection = (("site_id", site), ("chip", chip), ("month", month))
                if facts.energy_rows(selection):
                    rows.append(_coverage_row(facts, site, chip, month, selection))
    columns = (
        Column("name", "Site, chip, month", kind="text"),
        Column("chip_hours", "Chip-hours", "chip*h", decimals=0),
        *(Column(tier, tier, kind="share") for tier in TIERS),
    )
    return TableBlock(
        "data_quality.coverage",
        "Coverage by site, chip and month",
        "Share of chip-hours by tier",
        columns,
        tuple(rows),
    )


def _coverage_row(facts: QuarterFacts, site: str, chip: str, month: str, selection: Selection) -> Row:
    key = f"{site}.{chip}.{month}"
    prefix = f"data_quality.coverage.{key}"
    shares = dict(facts.tier_shares("chip_h", selection))
    cells = (
        Cell(f"{prefix}.name", f"{facts.site_names.get(site, site)}, {facts.chip_names[chip]}, {month}"),
        Cell(f"{prefix}.chip_hours", facts.chip_hours(selection), "chip*h"),
        *(Cell(f"{prefix}.{tier}", shares.get(tier, ZERO), "%") for tier in TIERS),
    )
    return Row(key, cells)


def _gaps(facts: QuarterFacts) -> TableBlock | Prose:
    found = gaps(facts)
    if not found:
        words = "Between the first and the last reading of each host no hour lacks readings."
        if not any(row["tier"] in ("measured", "integrated", "modelled") for row in facts.energy):
            words = "No host has readings in this quarter, so there is no series that could have a gap."
        return Prose("data_quality.gaps", "Gaps in the readings", (words,))
    rows = []
    for number, gap in enumerate(found[:_GAPS_SHOWN], start=1):
        prefix = f"data_quality.gaps.{number}"
        cells = (
            Cell(f"{prefix}.host", gap.host),
            Cell(f"{prefix}.site", facts.site_names.get(gap.site_id, gap.site_id)),
            text_cell(f"{prefix}.from", minute_text(gap.first_hour)),
            text_cell(f"{prefix}.to", minute_text(gap.end)),
            Cell(f"{prefix}.hours", gap.hours, "h"),
            Cell(f"{prefix}.lost", gap.lost_chip_h, "chip*h"),
            Cell(f"{prefix}.kind", "whole host" if gap.whole else "part of the host"),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("host", "Host", kind="text"),
        Column("site", "Site", kind="text"),
        Column("from", "From, UTC", kind="text"),
        Column("to", "To, UTC", kind="text"),
        Column("hours", "Length", "h"),
        Column("lost", "Without reading", "chip*h", decimals=1),
        Column("kind", "What is missing", kind="text"),
    )
    return TableBlock(
        "data_quality.gaps",
        "Gaps in the readings",
        f"Shown {len(rows)} of {len(found)}; hours between a host's first and last reading that lack more than 1 %",
        columns,
        tuple(rows),
        ("Chip-hours without reading are filled by the default power, or stay missing where the chip has none.",),
    )


def _attribution(facts: QuarterFacts) -> TableBlock:
    rows = []
    whole = facts.chip_hours()
    for name in ATTRIBUTIONS:
        selection = (("attribution", name),)
        prefix = f"data_quality.attribution.{name}"
        hours = facts.chip_hours(selection)
        cells = (
            Cell(f"{prefix}.name", name),
            Cell(f"{prefix}.meaning", _ATTRIBUTION_WORDS[name]),
            Cell(f"{prefix}.chip_hours", hours, "chip*h"),
            value_cell(f"{prefix}.chip_share", share_of(hours, whole), "%", "There are no chip-hours."),
            energy_cell(facts, f"{prefix}.energy_facility", "energy_facility", selection),
        )
        rows.append(Row(name, cells))
    columns = (
        Column("name", "Rule", kind="text"),
        Column("meaning", "How energy came to its owner", kind="text"),
        Column("chip_hours", "Chip-hours", "chip*h", decimals=0),
        Column("chip_share", "Share of chip-hours", kind="share"),
        Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
    )
    return TableBlock("data_quality.attribution", "Allocation rules at work", facts.quarter.text, columns, tuple(rows))


def _pue(facts: QuarterFacts) -> TableBlock:
    rows = []
    for number, entry in enumerate(facts.pue, start=1):
        prefix = f"data_quality.pue.{number}"
        cells = (
            Cell(f"{prefix}.site", facts.site_names.get(entry["site_id"], entry["site_id"])),
            Cell(f"{prefix}.least", Decimal(repr(entry["pue_least"])), "kWh_facility/kWh_it"),
            Cell(f"{prefix}.most", Decimal(repr(entry["pue_most"])), "kWh_facility/kWh_it"),
            Cell(f"{prefix}.hours", entry["hours"], "h"),
            text_cell(f"{prefix}.status", entry["status"]),
            text_cell(f"{prefix}.source", entry["source"]),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("site", "Site", kind="text"),
        Column("least", "Least PUE of an hour", "kWh_facility/kWh_it"),
        Column("most", "Greatest", "kWh_facility/kWh_it"),
        Column("hours", "For", "h"),
        Column("status", "Status", kind="text"),
        Column("source", "Source", kind="text"),
    )
    return TableBlock("data_quality.pue", "PUE and its source", facts.quarter.text, columns, tuple(rows))


def _overhead(facts: QuarterFacts) -> TableBlock:
    rows = []
    for number, entry in enumerate(facts.hosts, start=1):
        prefix = f"data_quality.overhead.{number}"
        low, high = (
            None if entry[name] is None else Decimal(repr(entry[name])) for name in ("overhead_low", "overhead_high")
        )
        given = entry["chip_name_given"]
        name = given if entry["chip"] == UNDISCLOSED and given else facts.chip_names.get(entry["chip"], entry["chip"])
        cells = (
            Cell(f"{prefix}.site", facts.site_names.get(entry["site_id"], entry["site_id"])),
            text_cell(f"{prefix}.chip", name),
            Cell(f"{prefix}.hosts", entry["host_count"]),
            Cell(f"{prefix}.overhead", Decimal(repr(entry["overhead_most"])), "kWh_it/kWh_chip", low, high),
            text_cell(f"{prefix}.status", entry["status"]),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("site", "Site", kind="text"),
        Column("chip", "Chip", kind="text"),
        Column("hosts", "Hosts"),
        Column("overhead", "Node overhead", "kWh_it/kWh_chip", ranged=True),
        Column("status", "Status", kind="text"),
    )
    return TableBlock(
        "data_quality.overhead",
        "Node overhead",
        "IT energy over chip energy: processors, memory, fans, power supplies",
        columns,
        tuple(rows),
    )


def _default_power(facts: QuarterFacts) -> TableBlock:
    rows = []
    for entry in facts.reader.rows(queries.CHIP_POWER):
        key = f"{entry['chip_id']}.{entry['chip_state']}"
        prefix = f"data_quality.default_power.{key}"
        value, low, high = (
            Decimal(repr(entry[name])) for name in ("power_chip_w", "power_chip_low_w", "power_chip_high_w")
        )
        cells = (
            Cell(f"{prefix}.chip", facts.chip_names.get(entry["chip_id"], entry["chip_id"])),
            Cell(f"{prefix}.state", entry["chip_state"]),
            Cell(f"{prefix}.power", value, "W_chip/chip", low, high),
            text_cell(f"{prefix}.status", entry["status"]),
            text_cell(f"{prefix}.source", entry["source"]),
        )
        rows.append(Row(key, cells))
    columns = (
        Column("chip", "Chip", kind="text"),
        Column("state", "State", kind="text"),
        Column("power", "Chip power", "W_chip/chip", ranged=True, decimals=0),
        Column("status", "Status", kind="text"),
        Column("source", "Source", kind="text"),
    )
    return TableBlock(
        "data_quality.default_power",
        "Default power of a chip without reading",
        "Power at the chip's board; busy: held by a job, idle: held by none",
        columns,
        tuple(rows),
    )
