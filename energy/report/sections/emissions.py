"""Section 6: emissions by use. Idle and unallocated close the gap to the site total, so the parts equal the sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from energy.report import numbers, queries
from energy.report.amounts import Amount, add, not_added_or_total
from energy.report.facts import LAST_OWNERS, UNDISCLOSED, QuarterFacts
from energy.report.model import Block, Cell, ChartBlock, Column, Row, Section, Selection, TableBlock
from energy.report.sections._cells import (
    METHOD_LABELS,
    RANGE_NOTE,
    TOTAL_NOTE,
    amount_cell,
    energy_cell,
    job_columns,
    method_cells,
    method_columns,
    minute_text,
    share_of,
    tier_series,
    value_cell,
)

NUMBER, ID, TITLE = 6, "emissions", "Emissions by use"
_CHART_OWNERS = 12


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    blocks: list[Block] = [
        _chart(facts),
        _table(
            facts, "by_project", "By project", "Project", [(key, key, (("owner_key", key),)) for key in facts.owners]
        ),
        _table(
            facts,
            "by_chip",
            "By chip",
            "Chip",
            [(key, facts.chip_names[key], (("chip", key),)) for key in facts.chips_by_energy],
        ),
        _table(
            facts,
            "by_site",
            "By site",
            "Site",
            [(key, facts.site_names.get(key, key), (("site_id", key),)) for key in facts.site_ids],
        ),
        _table(facts, "by_month", "By month", "Month", [(key, key, (("month", key),)) for key in facts.quarter.months]),
        _jobs(facts),
    ]
    return Section(NUMBER, ID, TITLE, _lead(facts), tuple(blocks))


def _lead(facts: QuarterFacts) -> str:
    whole = add(facts.energy, "energy_facility_kwh")
    parts = []
    for owner in LAST_OWNERS:
        amount = facts.energy_total("energy_facility", (("owner_key", owner),))
        parts.append(f"{owner} chips take {numbers.share(amount.value or 0, whole)}")
    return (
        f"Of facility energy, {' and '.join(parts)}; both stand at the end of each table, and the rows equal the total."
    )


def _chart(facts: QuarterFacts) -> ChartBlock:
    projects = [owner for owner in facts.owners if owner not in LAST_OWNERS]
    shown, rest = projects[:_CHART_OWNERS], projects[_CHART_OWNERS:]
    groups = [(name, {name}) for name in shown]
    if rest:
        groups.append((f"{len(rest)} others", set(rest)))
    groups += [(name, {name}) for name in LAST_OWNERS]
    rows = [[row for row in facts.energy if row["owner_key"] in names] for _, names in groups]
    sums = [add(part, "energy_facility_kwh") or 0 for part in rows]
    largest = max(range(len(groups)), key=lambda place: sums[place])
    alt = (
        f"Horizontal bars of facility energy by project in {facts.quarter.text}, split by how the energy is known. "
        f"The longest is {groups[largest][0]} with {numbers.share(sums[largest], sum(sums))} of the total; "
        "idle and unallocated are last."
    )
    return ChartBlock(
        "emissions.chart_by_project",
        "tier_bars",
        f"{groups[largest][0]} takes {numbers.share(sums[largest], sum(sums))} of facility energy"
        if any(sums)
        else "Facility energy by project",
        f"Facility energy by project, {facts.quarter.text}, split by how it is known",
        alt,
        "kWh_facility",
        tuple(name for name, _ in groups),
        tier_series(rows, "energy_facility_kwh"),
        "emissions.by_project",
    )


def _table(
    facts: QuarterFacts, name: str, caption: str, head: str, groups: Sequence[tuple[str, str, Selection]]
) -> TableBlock:
    table_id = f"emissions.{name}"
    columns = (
        Column("name", head, kind="text"),
        Column("chip_hours", "Chip-hours", "chip*h", decimals=0),
        Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
        *method_columns(facts),
    )
    rows = [_row(facts, table_id, key, label, selection) for key, label, selection in groups]
    rows.append(_row(facts, table_id, "total", "Total", (), "sum"))
    return TableBlock(
        table_id,
        caption,
        f"Facility energy and Scope 2 by {_method_words(facts)}, {facts.quarter.text}; the methods are never added",
        columns,
        tuple(rows),
        (TOTAL_NOTE, RANGE_NOTE),
    )


def _method_words(facts: QuarterFacts) -> str:
    names = [METHOD_LABELS[name].lower() for name in facts.methods]
    return ", ".join(names[:-1]) + " and " + names[-1]


def _row(facts: QuarterFacts, table_id: str, key: str, label: str, selection: Selection, kind: str = "row") -> Row:
    prefix = f"{table_id}.{key}"
    return Row(
        key,
        (
            Cell(f"{prefix}.name", label),
            Cell(f"{prefix}.chip_hours", facts.chip_hours(selection), "chip*h"),
            energy_cell(facts, f"{prefix}.energy_facility", "energy_facility", selection),
            *method_cells(facts, prefix, selection),
        ),
        "sum" if kind == "sum" else "row",
    )


def _jobs(facts: QuarterFacts) -> TableBlock:
    jobs = facts.reader.rows(queries.JOBS, [facts.quarter.key])
    emissions: list[dict[str, Any]] = []
    if jobs:
        keys = sorted({row["job_key"] for row in jobs})
        emissions = facts.reader.rows(queries.job_emissions(len(keys)), [facts.quarter.key, *keys])
    columns = job_columns(facts)
    rows = [_job_row(facts, number, job, emissions) for number, job in enumerate(jobs, start=1)]
    count = jobs[0]["job_count"] if jobs else 0
    shown = add(jobs, "energy_facility_kwh")
    whole = add(facts.energy, "energy_facility_kwh")
    return TableBlock(
        "emissions.top_jobs",
        "The ten jobs with the most facility energy",
        f"Shown {len(jobs)} of {numbers.plain(count, 0)} jobs, {numbers.share(shown, whole)} of facility energy; "
        f"the part of each job inside {facts.quarter.text}",
        columns,
        tuple(rows),
    )


def _job_row(facts: QuarterFacts, number: int, job: dict[str, Any], emissions: list[dict[str, Any]]) -> Row:
    key = str(number)
    prefix = f"emissions.top_jobs.{key}"
    chip = job["chip_id"] or UNDISCLOSED
    own = [row for row in emissions if row["job_key"] == job["job_key"] and row["chip_id"] == job["chip_id"]]
    cells = [
        value_cell(f"{prefix}.job", job["job_id"]),
        value_cell(f"{prefix}.project", job["owner"]),
        value_cell(f"{prefix}.job_type", job["job_type"], reason="The log names no kind."),
        value_cell(f"{prefix}.site", facts.site_names.get(job["site_id"], job["site_id"])),
        value_cell(f"{prefix}.chip", facts.chip_names.get(chip, chip)),
        value_cell(f"{prefix}.start", minute_text(job["start_utc"])),
        value_cell(f"{prefix}.state", job["state"], reason="The log names no state."),
        value_cell(f"{prefix}.chip_hours", job["chip_h"], "chip*h"),
        value_cell(f"{prefix}.with_readings", share_of(job["covered_chip_h"], job["chip_h"]), "%"),
        amount_cell(f"{prefix}.energy_facility", not_added_or_total([job], "energy_facility"), "kWh_facility"),
    ]
    for method in facts.methods:
        rows = [row for row in own if row["method"] == method]
        amount = not_added_or_total(rows, "emissions", facts.bases_of(method, {job["site_id"]}), facts.mix_allowed)
        if not rows:
            amount = Amount(None, mark="no data", reason=f"No {method} factors at the site.")
        ids = facts.factor_ids(method, {job["site_id"]}) if rows else ()
        cells.append(amount_cell(f"{prefix}.{method}", amount, "kgCO2e", factor_ids=ids))
    return Row(key, tuple(cells))
