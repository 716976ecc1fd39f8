"""Time through the whole ingest: edges of hours, months, quarters and logs, local calendars, runs that go on."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tiny_fleet import BUSY_KW, H100, HOUR, IDLE_KW, Fleet, at, every_minute, holds, host, job, site

JANUARY_5 = ("2026-01-05 00:00", "2026-01-06 00:00")
JANUARY_6 = ("2026-01-06 00:00", "2026-01-07 00:00")


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-12)


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path / "ledger", {"a": site([host("h1", 2)])})


def test_a_run_over_every_edge_is_cut_at_each(fleet):
    """From 2025-12-31 22:30 to 2026-01-01 01:15: 1.5 h in the old quarter, 1.25 h in the new one."""
    fleet.ingest(
        fleet.jobs([job("1", "h1", 2, "2025-12-31 22:30", "2026-01-01 01:15")], "2025-12-31 00:00", "2026-01-02 00:00")
    )
    assert fleet.total("chip_h", "quarter", where="owner = 'p'") == near({"2025Q4": 3.0, "2026Q1": 2.5})
    assert fleet.total("chip_h", "month", where="owner = 'p'") == near({"2025-12": 3.0, "2026-01": 2.5})
    by_hour = fleet.total("chip_h", "hour_utc", where="owner = 'p'")
    first = at("2025-12-31 22:00")
    assert by_hour == near({first: 1.0, first + HOUR: 2.0, first + 2 * HOUR: 2.0, first + 3 * HOUR: 0.5})
    assert fleet.total("chip_h", "quarter") == near({"2025Q4": 48, "2026Q1": 48})
    rows = fleet.rows("SELECT quarter, chip_h, energy_chip_kwh, energy_facility_kwh FROM jobs ORDER BY 1")
    assert [float(row["chip_h"]) for row in rows] == near([3.0, 2.5])
    assert [float(row["energy_facility_kwh"]) for row in rows] == near(
        [hours * BUSY_KW[H100] * 1.25 * 1.2 for hours in (3, 2.5)]
    )


def test_a_run_over_the_edge_of_a_month_and_a_day_with_readings(fleet):
    held = ("2026-01-31 23:30", "2026-02-01 00:30")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], "2026-01-31 00:00", "2026-02-02 00:00"),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        # half past each minute: the day's last reading ends at midnight, the first of the next day stands back to it
        fleet.readings(every_minute("h1", 0, "2026-01-31 23:30:30", "2026-02-01 00:30:30", w=600)),
    )
    read = fleet.total("energy_chip_kwh", "month", where="owner = 'p' AND tier = 'integrated'")
    # 29 readings of a minute and one of half a minute; then half a minute since midnight and 30 of a minute
    assert read == near({"2026-01": 0.6 * 29.5 / 60, "2026-02": 0.6 * 30.5 / 60})
    assert fleet.total("chip_h", "month", "tier", where="owner = 'p'") == near(
        {("2026-01", "integrated"): 29.5 / 60, ("2026-01", "default"): 0.5 / 60, ("2026-02", "integrated"): 0.5}
    )
    # the job's last reading is held 30 s past its end: that time is idle, its energy stays with the job
    assert fleet.total("chip_h", where="owner = 'idle' AND tier = 'integrated'") == near({"all": 0.5 / 60})
    assert fleet.total("energy_chip_kwh", where="owner = 'idle' AND tier = 'integrated'") == {"all": None}


def test_a_running_job_counts_to_the_end_of_its_log(fleet):
    fleet.ingest(fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", None)], "2026-01-05 00:00", "2026-01-05 12:30"))
    assert fleet.total("chip_h", "owner") == near({"p": 2.5, "idle": 25 - 2.5})
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", "2026-01-05 13:00")], "2026-01-05 12:30", "2026-01-05 15:00")
    )
    assert fleet.total("chip_h", "owner") == near({"p": 3, "idle": 27})


def test_a_job_that_still_runs_in_the_next_log_counts_to_its_end(fleet):
    row = job("1", "h1", 1, "2026-01-05 10:00", None)
    fleet.ingest(fleet.jobs([row, job("2", "h1", 1, "2026-01-05 01:00", "2026-01-05 02:00")], *JANUARY_5))
    fleet.ingest(fleet.jobs([row, job("3", "h1", 1, "2026-01-06 01:00", "2026-01-06 02:00")], *JANUARY_6))
    assert fleet.total("chip_h", "owner") == near({"p": 14 + 1 + 24 + 1, "idle": 96 - 40})


def test_an_older_log_that_comes_later_does_not_open_a_job_again(fleet):
    closed = job("1", "h1", 1, "2026-01-05 10:00", "2026-01-06 03:00")
    fleet.ingest(fleet.jobs([closed], *JANUARY_6))
    fleet.ingest(fleet.jobs([closed | {"end": None}, job("2", "h1", 1, "2026-01-05 01:00", "2026-01-05 02:00")],
                            *JANUARY_5))  # fmt: skip
    assert fleet.total("chip_h", "owner") == near({"p": 17 + 1, "idle": 96 - 18})


def test_a_job_that_began_before_its_log_counts_whole_and_nothing_is_idle_there(fleet):
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-04 22:00", "2026-01-05 02:00")], "2026-01-05 00:00", "2026-01-06 00:00")
    )
    before = "hour_utc < TIMESTAMPTZ '2026-01-05 00:00:00+00'"
    assert fleet.total("chip_h", "owner", where=before) == near({"p": 2})
    assert fleet.total("chip_h", "owner", where=f"NOT {before}") == near({"p": 2, "idle": 46})


def test_logs_that_meet_or_overlap_inside_an_hour_count_it_once(fleet):
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 08:00", "2026-01-05 09:00")], "2026-01-05 08:00", "2026-01-05 10:20"),
        fleet.jobs([job("2", "h1", 1, "2026-01-05 11:00", "2026-01-05 12:00")], "2026-01-05 10:40", "2026-01-05 12:00"),
        fleet.jobs([job("3", "h1", 1, "2026-01-05 11:00", "2026-01-05 12:00")], "2026-01-05 11:00", "2026-01-05 12:00"),
    )
    # 2 chips, 2 h 20 min and 1 h 20 min of log, 3 chip-hours of jobs
    assert fleet.total("chip_h", "owner") == near({"p": 3, "idle": 2 * (220 / 60) - 3})
    ten = "hour_utc = TIMESTAMPTZ '2026-01-05 10:00:00+00'"
    assert fleet.total("chip_h", where=ten) == near({"all": 2 * 40 / 60})
    assert fleet.total("energy_chip_kwh", where=ten) == near({"all": 2 * 40 / 60 * IDLE_KW[H100]})
    assert fleet.balance() == {"a": [0, 0]}


def test_readings_in_an_hour_with_two_logs_count_once(fleet):
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 08:00", "2026-01-05 09:00")], "2026-01-05 08:00", "2026-01-05 10:20"),
        fleet.jobs([job("2", "h1", 1, "2026-01-05 11:00", "2026-01-05 12:00")], "2026-01-05 10:40", "2026-01-05 12:00"),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", w=90)),
    )
    ten = "hour_utc = TIMESTAMPTZ '2026-01-05 10:00:00+00' AND tier = 'integrated'"
    # two thirds of the hour are in a log
    assert fleet.total("energy_chip_kwh", "owner", where=ten) == near({"idle": 0.06, "unallocated": 0.03})


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Europe/Berlin"])
def test_a_quarter_has_the_hours_of_its_zone(tmp_path, zone):
    """A whole quarter in one zone is 2,160 h, less the hour that the clocks lose in March."""
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 1)])}, {"reporting_timezone": zone})
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2025-12-31 00:00", "2025-12-31 01:00")], "2025-12-30 00:00", "2026-04-03 00:00")
    )
    local = ZoneInfo(zone)
    start, end = (datetime(2026, month, 1, tzinfo=local).timestamp() for month in (1, 4))
    assert fleet.total("chip_h", "quarter")["2026Q1"] == near((end - start) / 3600)
    lost = 0 if zone == "UTC" else 1
    assert fleet.total("chip_h", "quarter")["2026Q1"] == near(2160 - lost)
    assert sum(fleet.total("chip_h", "quarter").values()) == near(94 * 24)


def test_a_job_at_midnight_utc_is_last_year_s_in_new_york_and_this_year_s_in_berlin(tmp_path):
    rows = [job("1", "h1", 1, "2025-12-31 22:30", "2026-01-01 05:30")]
    found = {}
    for zone in ("America/New_York", "Europe/Berlin"):
        fleet = Fleet(tmp_path / zone.replace("/", "-"), {"a": site([host("h1", 1)])}, {"reporting_timezone": zone})
        fleet.ingest(fleet.jobs(rows, "2025-12-31 00:00", "2026-01-02 00:00"))
        found[zone] = fleet.total("chip_h", "quarter", where="owner = 'p'")
    # New York's year begins at 05:00 UTC, Berlin's at 23:00 UTC
    assert found["America/New_York"] == near({"2025Q4": 6.5, "2026Q1": 0.5})
    assert found["Europe/Berlin"] == near({"2025Q4": 0.5, "2026Q1": 6.5})


@pytest.mark.parametrize(
    ("zone", "day", "hours", "twice"),
    [
        ("America/New_York", "2026-03-08", 23, None),
        ("America/New_York", "2026-11-01", 25, 1),
        ("Europe/Berlin", "2026-03-29", 23, None),
        ("Europe/Berlin", "2026-10-25", 25, 2),
    ],
)
def test_days_of_23_and_25_hours(tmp_path, zone, day, hours, twice):
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 1)])}, {"reporting_timezone": zone})
    midnight = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone))
    first = datetime.fromtimestamp(midnight.timestamp(), tz=at("2026-01-01").tzinfo)
    window = [f"{first + shift * HOUR:%Y-%m-%d %H:%M}" for shift in (-24, 49)]
    fleet.ingest(fleet.jobs([job("1", "h1", 1, window[0], window[1])], *window))
    of_day = fleet.rows(f"SELECT local_hour FROM ref.calendar_hour WHERE local_date = '{day}' ORDER BY hour_utc")
    clock = [row["local_hour"] for row in of_day]
    assert len(clock) == hours
    assert [hour for hour in range(24) if clock.count(hour) == 2] == ([] if twice is None else [twice])
    energy = fleet.rows(
        "SELECT sum(energy_chip_kwh) AS kwh FROM energy_hourly JOIN ref.calendar_hour USING (hour_utc) "
        f"WHERE local_date = '{day}'"
    )
    assert float(energy[0]["kwh"]) == near(hours * BUSY_KW[H100])


def test_the_quarter_s_edge_at_the_end_of_summer_time(tmp_path):
    """Berlin's fourth quarter of 2026 begins at 22:00 UTC (summer time) and ends at 23:00 UTC: 2,209 h."""
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 1)])}, {"reporting_timezone": "Europe/Berlin"})
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-09-30 21:00", "2026-12-31 23:00")], "2026-09-30 20:00", "2027-01-01 12:00")
    )
    assert fleet.total("chip_h", "quarter", where="owner = 'p'") == near({"2026Q3": 1, "2026Q4": 92 * 24 + 1})


def test_the_same_file_again_changes_nothing(fleet):
    request = fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", None)], "2026-01-05 00:00", "2026-01-06 00:00")
    fleet.ingest(request)
    before = fleet.total("energy_facility_kwh", "owner", "tier")
    fleet.ingest(request)
    assert fleet.total("energy_facility_kwh", "owner", "tier") == before
