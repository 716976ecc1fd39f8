"""The fleet of a quarter: the parts that filters leave add up to the whole; idle and gaps are never lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from energy.report.fleet import fleet, long_gaps
from energy.report.fleet_choice import WHOLE, Choice, narrowed
from energy.report.fleet_lists import devices, top_jobs
from energy.schema import METHODS, TIERS

QUARTER = "2026Q1"


@pytest.fixture(scope="module")
def facts(small_ledger):
    from energy.ledger import Ledger
    from energy.report import held_quarters, parse_quarter
    from energy.report.facts import load_facts

    with Ledger(small_ledger) as reader:
        yield load_facts(reader, parse_quarter(QUARTER), held_quarters(reader))


def choices(facts, name):
    keys = {
        "site": facts.site_ids,
        "project": facts.owners,
        "chip": facts.chips_by_energy,
        "tier": TIERS,
    }[name]
    return [Choice(**{name: key}) for key in keys]


@pytest.mark.parametrize("name", ["site", "project", "chip", "tier"])
def test_the_choices_of_each_filter_add_up_to_the_whole(facts, name):
    parts = [narrowed(facts, choice) for choice in choices(facts, name)]
    whole = facts.energy_total("energy_facility").value
    assert sum(part.energy_total("energy_facility").value or 0 for part in parts) == whole
    assert sum(part.chip_hours() for part in parts) == facts.chip_hours()
    for method in facts.methods:
        stated = facts.emission_total(method).value
        assert sum(part.emission_total(method).value or 0 for part in parts) == stated


@pytest.mark.parametrize("name", ["site", "project", "chip", "tier"])
def test_the_strip_counts_the_hours_of_its_choice(facts, name):
    for choice in choices(facts, name):
        own = narrowed(facts, choice)
        assert sum(row["chip_h"] for row in own.hours) == own.chip_hours()


def test_bases_that_must_not_meet_are_not_added_here_either(facts):
    used = [row for row in facts.bases if row["method"] == "market" and row["quarter"] == QUARTER]
    other = used[0] | {"factor_id": "other", "boundary": "lifecycle"}
    mixed = replace(facts, bases=[*facts.bases, other])
    seen = fleet(mixed, Choice(chip=facts.chips_by_energy[0]))
    cells = {figure.cell.id: figure.cell for figure in seen.figures}
    assert cells["fleet.scope2_market"].mark == "not added"
    assert cells["fleet.scope2_location"].value is not None
    markets = [row.cells[-1 - (len(facts.methods) - 1 - METHODS.index("market"))] for row in top_jobs(mixed).rows]
    assert {cell.mark for cell in markets} == {"not added"}


def test_idle_and_unallocated_stand_last_unless_a_project_is_chosen(facts):
    everything, table = fleet(facts).by_project
    assert everything.categories[-2:] == ("idle", "unallocated")
    assert [row.key for row in table.rows[-3:]] == ["idle", "unallocated", "total"]
    one = fleet(facts, Choice(project=facts.owners[0]))
    assert one.by_project[0].categories == (facts.owners[0],)
    assert one.idle is None
    assert {figure.cell.mark for figure in one.figures if "idle" in figure.cell.id} == {"not applicable"}


def test_a_part_is_never_called_the_whole(facts):
    chip = facts.chips_by_energy[0]
    part = fleet(facts, Choice(chip=chip))
    for chart in (part.by_project[0], part.by_chip[0], part.by_tier[0], part.strip):
        assert facts.chip_names[chip] in chart.sub
        assert facts.chip_names[chip] in chart.alt
        assert "of facility energy" not in chart.heading
    assert part.by_chip[0].heading == f"Facility energy of {facts.chip_names[chip]}"


def test_location_stands_before_market_and_there_are_at_most_eight_figures(facts):
    figures = fleet(facts).figures
    methods = [figure.method for figure in figures if figure.method]
    assert methods == ["location", "market"]
    assert len(figures) <= 8


def test_the_idle_table_adds_up(facts):
    *rows, total = fleet(facts).idle.rows
    for place in (1, 2, 4):
        assert sum(row.cells[place].value or 0 for row in rows) == total.cells[place].value
    assert total.cells[2].value == facts.chip_hours((("owner_kind", "idle"),))


def test_the_jobs_are_those_of_the_view_of_jobs(facts):
    table = top_jobs(facts)
    stated = facts.reader.rows(
        "SELECT job_id, chip_h, covered_chip_h, energy_facility_kwh FROM jobs WHERE quarter = ? "
        "ORDER BY energy_facility_kwh DESC NULLS LAST, job_key, chip_id LIMIT 100",
        [QUARTER],
    )
    cells = [{cell.id.rsplit(".", 1)[1]: cell.value for cell in row.cells} for row in table.rows]
    assert [cell["job"] for cell in cells] == [row["job_id"] for row in stated]
    assert [cell["energy_facility"] for cell in cells] == [row["energy_facility_kwh"] for row in stated]
    assert [cell["chip_hours"] for cell in cells] == [row["chip_h"] for row in stated]


def test_the_share_of_the_jobs_shown_is_of_all_jobs(facts):
    from energy.report import numbers

    shown = sum(row.cells[9].value or Decimal(0) for row in top_jobs(facts).rows)
    whole = facts.reader.rows("SELECT sum(energy_facility_kwh) AS x FROM jobs WHERE quarter = ?", [QUARTER])[0]["x"]
    assert f"{numbers.share(shown, whole)} of the energy of jobs" in top_jobs(facts).sub


def test_the_jobs_of_a_tier_count_with_their_part_in_it(facts):
    parts: dict[str, Decimal] = {}
    for tier in ("integrated", "default"):
        for row in top_jobs(facts, Choice(tier=tier)).rows:
            parts[row.cells[0].value] = parts.get(row.cells[0].value, Decimal(0)) + row.cells[7].value
    whole = {row.cells[0].value: row.cells[7].value for row in top_jobs(facts).rows}
    shared = [job for job in whole if job in parts]
    assert shared
    assert all(parts[job] <= whole[job] for job in shared)


def test_a_gap_of_over_a_day_is_named_with_its_hours(facts):
    first = datetime(2026, 2, 14, 2, tzinfo=UTC)

    def hours(host, count):
        row = {"site_id": facts.site_ids[0], "host": host, "expected_chip_ms": 8 * 3_600_000, "covered_chip_ms": 0}
        return [row | {"hour_utc": first + timedelta(hours=hour)} for hour in range(count)]

    named = long_gaps(replace(facts, gaps=[*hours("long-1", 52), *hours("short-1", 24)]))
    assert len(named) == 1
    assert "Host long-1 has no readings from 2026-02-14 02:00 to 2026-02-16 06:00 UTC (52" in named[0]


def test_devices_are_limited_by_site_and_chip(facts):
    assert devices(facts).rows
    for chip in facts.chips_by_energy:
        assert len(devices(facts, Choice(chip=chip)).rows) <= len(devices(facts).rows)
    assert not devices(facts, Choice(site="elsewhere")).rows


def test_the_whole_choice_limits_nothing(facts):
    assert narrowed(facts, WHOLE) is facts
