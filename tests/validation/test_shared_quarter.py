"""The shared synthetic quarter through the real ingest equals its expected totals."""

import json
from collections import defaultdict

import pytest
from ingest_helpers import at, ledger, rows

from energy.catalogue import chip
from energy.demo import SITE_FILE
from energy.ledger.intake import Request, ingest

HOURS_TOLERANCE = 1e-4
KWH_TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def quarter(shared_folder, tmp_path_factory):
    source = shared_folder / "data/inputs/synthetic_quarter"
    folder = ledger(tmp_path_factory.mktemp("quarter"), SITE_FILE)
    window = {"covers_from": at("2026-01-01"), "covers_to": at("2026-04-01")}
    results = ingest(
        folder,
        [
            Request("hosts", source / "nodes.csv"),
            Request("jobs", source / "jobs_2026q1.parquet", **window),
            Request("allocations", source / "job_gpu_alloc_week.csv"),
            Request("power", source / "gpu_power_1min_week.parquet"),
        ],
    )
    assert [result.rows_rejected for result in results] == [0, 0, 0, 0]
    return folder, json.loads((source / "expected.json").read_text(encoding="utf-8")), results


def by_chip(expected, place):
    """Return amounts by (chip id, the other part of the key); ``place`` is where the chip's name stands."""
    out = defaultdict(float)
    for key, amount in expected.items():
        parts = key.split(" | ")
        out[chip(parts.pop(place)).chip_id, *parts] += amount
    return dict(out)


def test_counts(quarter):
    folder, expected, results = quarter
    assert results[1].rows_accepted == expected["jobs"]
    open_jobs = rows(folder, "SELECT count(*) AS n FROM core.job WHERE end_utc IS NULL")[0]["n"]
    assert open_jobs == expected["running_at_end"]
    early = "SELECT count(*) AS n FROM core.job WHERE start_utc < TIMESTAMPTZ '2026-01-01 00:00:00+00'"
    assert rows(folder, early)[0]["n"] == expected["started_before_quarter"]


def test_gpu_hours_by_project_and_model(quarter):
    folder, expected, _ = quarter
    found = rows(
        folder,
        "SELECT owner, chip_id, sum(chip_h) AS h FROM energy_hourly WHERE quarter = '2026Q1' "
        "AND owner_kind = 'project' GROUP BY ALL",
    )
    hours = {(row["chip_id"], row["owner"]): float(row["h"]) for row in found}
    assert hours == pytest.approx(by_chip(expected["gpu_hours_in_quarter"], 1), abs=HOURS_TOLERANCE)
    assert sum(hours.values()) == pytest.approx(expected["gpu_hours_total"], abs=HOURS_TOLERANCE)


def test_installed_gpu_hours(quarter):
    folder, expected, _ = quarter
    found = rows(
        folder,
        "SELECT chip_id, sum(installed_chip_h) AS h FROM core.installed_hour AS installed JOIN ref.calendar_hour AS "
        "calendar ON calendar.hour_utc = installed.hour_utc WHERE quarter = '2026Q1' GROUP BY ALL",
    )
    installed = {(row["chip_id"],): float(row["h"]) for row in found}
    assert installed == by_chip(expected["installed_gpu_hours"], 0)


def test_energy_of_the_week_by_project_and_model(quarter):
    folder, expected, _ = quarter
    first, last = expected["week_power"]["window"]
    found = rows(
        folder,
        "SELECT owner, chip_id, sum(energy_chip_kwh) AS kwh FROM energy_hourly WHERE tier = 'integrated' "
        f"AND hour_utc >= TIMESTAMPTZ '{first}' AND hour_utc < TIMESTAMPTZ '{last}' GROUP BY ALL",
    )
    energy = {(row["chip_id"], row["owner"].replace("idle", "(idle)")): float(row["kwh"]) for row in found}
    assert energy == pytest.approx(by_chip(expected["week_power"]["kwh"], 0), abs=KWH_TOLERANCE)


def test_books_balance(quarter):
    folder, _, _ = quarter
    found = rows(folder, "SELECT * FROM reconciliation WHERE quarter = '2026Q1'")
    assert found
    for row in found:
        assert abs(row["difference_chip_h"]) < 1e-3
        assert abs(row["difference_energy_chip_kwh"] or 0) < 1e-6  # null: a month without readings
