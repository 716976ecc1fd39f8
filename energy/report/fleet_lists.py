"""Lists of the fleet's page: the jobs with the most energy, the devices with the most hours without a reading."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import localcontext
from typing import Any

from energy.report import numbers
from energy.report.amounts import Amount, add, not_added_or_total, total
from energy.report.facts import UNDISCLOSED, QuarterFacts
from energy.report.fleet_choice import ALL, WHOLE, Choice, hosts_of, where_of
from energy.report.model import Cell, Column, Row, TableBlock
from energy.report.sections._cells import amount_cell, job_columns, minute_text, share_of, value_cell

TOP_JOBS = 100
MOST_DEVICES = 200
_PRECISION = 60  # sums of DECIMAL(38,12) stay exact


def devices(facts: QuarterFacts, choice: Choice = WHOLE) -> TableBlock:
    """Return the devices that were read at some time, those with most hours without a reading first.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    choice : Choice
        Site and chip limit the devices.
    """
    hosts = hosts_of(facts, choice.chip)
    rows = facts.reader.rows(
        "SELECT site_id, host, device_index, sum(chip_h) AS chip_h, "
        "sum(CASE WHEN tier = 'missing' THEN chip_h ELSE 0 END) AS missing_chip_h FROM main.device_coverage "
        "WHERE quarter = ? GROUP BY site_id, host, device_index "
        "ORDER BY missing_chip_h DESC, host, device_index",
        [facts.quarter.key],
    )
    if choice.site != ALL:
        rows = [row for row in rows if row["site_id"] == choice.site]
    if hosts is not None:
        rows = [row for row in rows if row["host"] in hosts]
    columns = (
        Column("device", "Device", kind="text"),
        Column("site", "Site", kind="text"),
        Column("chip_hours", "Chip-hours", "chip*h", decimals=0),
        Column("missing", "Without reading", "chip*h", decimals=0),
        Column("share", "With reading", kind="share"),
    )
    made = tuple(_device_row(facts, row) for row in rows[:MOST_DEVICES])
    more = f"; the first {MOST_DEVICES} of {numbers.plain(len(rows), 0)}" if len(rows) > MOST_DEVICES else ""
    sub = f"Devices that were read at some time, most hours without a reading first, {facts.quarter.text}{more}"
    note = "Boards that were never read are not listed: the table by tier counts their chip-hours."
    return TableBlock("fleet.devices", "Coverage by device", sub, columns, made, (note,))


def _device_row(facts: QuarterFacts, row: dict[str, Any]) -> Row:
    key = f"{row['host']}.{row['device_index']}"
    prefix = f"fleet.devices.{key}"
    read = share_of(row["chip_h"] - row["missing_chip_h"], row["chip_h"])
    cells = (
        Cell(f"{prefix}.device", f"{row['host']}, board {row['device_index']}"),
        value_cell(
            f"{prefix}.site", facts.site_names.get(row["site_id"], row["site_id"]), reason="Not in the inventory."
        ),
        Cell(f"{prefix}.chip_hours", row["chip_h"], "chip*h"),
        Cell(f"{prefix}.missing", row["missing_chip_h"], "chip*h"),
        value_cell(f"{prefix}.share", read, "%", "There are no chip-hours."),
    )
    return Row(key, cells)


# --- jobs ---
def top_jobs(facts: QuarterFacts, choice: Choice = WHOLE) -> TableBlock:
    """Return the jobs with the most facility energy among the lines of a choice, with Scope 2 by each method.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    choice : Choice
        What the lines are limited to; where a tier is chosen, a job counts with its part in that tier.
    """
    with localcontext() as context:
        context.prec = _PRECISION
        where, values = where_of(facts, choice)
        jobs = facts.reader.rows(_JOBS.format(where=where), [*values, TOP_JOBS])
        emissions: dict[tuple[int, str | None, str], list[dict[str, Any]]] = {}
        if jobs:
            keys = sorted({row["job_key"] for row in jobs})
            found = facts.reader.rows(_job_emissions(where, len(keys)), [*values, *keys])
            for row in found:
                emissions.setdefault((row["job_key"], row["chip_id"], row["method"]), []).append(row)
        rows = tuple(_job_row(facts, number, job, emissions) for number, job in enumerate(jobs, start=1))
        return _jobs_table(facts, jobs, rows)


_JOBS = """
WITH run AS (
    SELECT line.job_key, line.chip_id, min(line.owner) AS owner, sum(line.chip_h) AS chip_h,
        sum(CASE WHEN line.tier IN ('measured', 'integrated', 'modelled') THEN line.chip_h ELSE 0 END)
            AS covered_chip_h,
        sum(line.energy_facility_kwh) AS energy_facility_kwh,
        sum(line.energy_facility_low_kwh) AS energy_facility_low_kwh,
        sum(line.energy_facility_high_kwh) AS energy_facility_high_kwh
    FROM main.energy_hourly AS line
    WHERE {where} AND line.job_key IS NOT NULL
    GROUP BY line.job_key, line.chip_id
)
SELECT run.*, job.job_id, job.site_id, job.job_type, job.state,
    job.start_utc, count(*) OVER () AS job_count, sum(run.energy_facility_kwh) OVER () AS all_energy_facility_kwh
FROM run JOIN core.job AS job ON job.job_key = run.job_key
ORDER BY run.energy_facility_kwh DESC NULLS LAST, run.job_key, run.chip_id
LIMIT ?
"""


def _job_emissions(where: str, count: int) -> str:
    marks = ", ".join("?" * count)
    return (
        "SELECT line.job_key, line.chip_id, line.method, sum(line.emissions_kgco2e) AS emissions_kgco2e, "
        "sum(line.emissions_low_kgco2e) AS emissions_low_kgco2e, "
        "sum(line.emissions_high_kgco2e) AS emissions_high_kgco2e FROM main.emission_lines AS line "
        f"WHERE {where} AND line.job_key IN ({marks}) GROUP BY line.job_key, line.chip_id, line.method "
        "ORDER BY line.job_key, line.chip_id, line.method"
    )


def _jobs_table(facts: QuarterFacts, jobs: Sequence[dict[str, Any]], rows: tuple[Row, ...]) -> TableBlock:
    count = jobs[0]["job_count"] if jobs else 0
    whole = jobs[0]["all_energy_facility_kwh"] if jobs else None
    part = f", {numbers.share(add(jobs, 'energy_facility_kwh'), whole)} of the energy of jobs" if whole else ""
    columns = job_columns(facts)
    sub = (
        f"Shown {numbers.plain(len(rows), 0)} of {numbers.plain(count, 0)} rows{part}; the part of each job inside "
        f"{facts.quarter.text}; Scope 2 by method, never added"
    )
    notes = () if len(rows) == count else (f"All jobs: `SELECT * FROM jobs WHERE quarter = '{facts.quarter.key}'`.",)
    return TableBlock("fleet.jobs", "The jobs with the most facility energy", sub, columns, rows, notes)


def _job_row(
    facts: QuarterFacts,
    number: int,
    job: dict[str, Any],
    emissions: dict[tuple[int, str | None, str], list[dict[str, Any]]],
) -> Row:
    prefix = f"fleet.jobs.{number}"
    chip = job["chip_id"] or UNDISCLOSED
    site = job["site_id"]
    cells = [
        Cell(f"{prefix}.job", job["job_id"]),
        Cell(f"{prefix}.project", job["owner"]),
        value_cell(f"{prefix}.job_type", job["job_type"], reason="The log names no kind."),
        Cell(f"{prefix}.site", facts.site_names.get(site, site)),
        Cell(f"{prefix}.chip", facts.chip_names.get(chip, chip)),
        Cell(f"{prefix}.start", minute_text(job["start_utc"])),
        value_cell(f"{prefix}.state", job["state"], reason="The log names no state."),
        Cell(f"{prefix}.chip_hours", job["chip_h"], "chip*h"),
        value_cell(
            f"{prefix}.with_readings", share_of(job["covered_chip_h"], job["chip_h"]), "%", "It has no chip-hours."
        ),
        amount_cell(f"{prefix}.energy_facility", total([job], "energy_facility"), "kWh_facility"),
    ]
    for method in facts.methods:
        own = emissions.get((job["job_key"], job["chip_id"], method), [])
        amount = not_added_or_total(own, "emissions", facts.bases_of(method, {site}), facts.mix_allowed)
        if not own:
            amount = Amount(None, mark="no data", reason=f"No {method} factors at the site.")
        cells.append(amount_cell(f"{prefix}.{method}", amount, "kgCO2e"))
    return Row(str(number), tuple(cells))
