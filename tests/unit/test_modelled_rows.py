"""Activity and use of boards from files to watts: stored with other quantities, over midnight, against power."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_ledger import AT_MS, H100, fleet, sample, scrape
from tiny_fleet import BUSY_KW, CONTEXT_W, WORKING_W, Fleet, every_minute, holds, host, job, site
from tiny_fleet import H100 as CHIP

from energy.ledger.diagnosis import doctor
from energy.ledger.intake import Request, ingest
from energy.ledger.modelled import HeldSpans, is_held
from energy.ledger.reader import Ledger
from energy.power.readings import DAY_MS

DAY = ("2026-01-05 00:00", "2026-01-07 00:00")
SM, TENSOR = "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"


def tiny(tmp_path):
    return Fleet(tmp_path / "ledger", {"a": site([host("h1", 2)])})


def models(folder):
    with Ledger(folder) as ledger:
        rows = ledger.rows(
            "SELECT tier, power_model, CAST(sum(energy_chip_microj) AS DOUBLE) / 3.6e12 AS kwh, "
            "CAST(sum(covered_chip_ms) AS DOUBLE) / 3600000 AS chip_h FROM core.device_hour GROUP BY ALL ORDER BY ALL"
        )
    return {(row["tier"], row["power_model"]): (row["kwh"], row["chip_h"]) for row in rows}


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(-DAY_MS, 2 * DAY_MS), st.integers(0, DAY_MS)), max_size=8),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-DAY_MS, 2 * DAY_MS - 1)), min_size=1, max_size=8),
)
def test_a_device_is_held_when_some_allocation_holds_it(spans, rows):
    columns = [np.array(values, np.int64) for values in zip(*spans, strict=True)] or [np.zeros(0, np.int64)] * 3
    held = HeldSpans(columns[0], columns[1], columns[1] + columns[2])
    device, time = (np.array(values, np.int64) for values in zip(*rows, strict=True))
    expected = [any(key == one and start <= at < start + length for one, start, length in spans) for key, at in rows]
    assert is_held(device, time, held).tolist() == expected


def test_metrics_of_a_scrape_come_together_and_instances_say_nothing_of_their_board(tmp_path):
    folder = fleet(tmp_path)
    minutes = range(3)
    whole = [sample(SM, minute, 0.5) for minute in minutes] + [sample(TENSOR, minute, 0.1) for minute in minutes]
    part = [
        sample(SM, minute, 1.0, gpu=1, uuid="GPU-other", GPU_I_ID="7", GPU_I_PROFILE="1g.10gb") for minute in minutes
    ]
    ingest(folder, [Request("dcgm", scrape(tmp_path / "s.prom", *whole, *part))])
    ((kwh, hours),) = [models(folder)["modelled", "activity"]]
    assert set(models(folder)) == {("modelled", "activity")}
    assert hours == pytest.approx(3 / 60)
    assert 0.05 * 0.5 * CONTEXT_W[CHIP] / 1000 < kwh < 0.05 * WORKING_W[CHIP] / 1000


def test_a_range_of_prometheus_with_series_of_activity(tmp_path):
    folder = fleet(tmp_path)
    labels = {"gpu": "0", "UUID": "GPU-h-1-0", "Hostname": "h-1", "modelName": H100}
    times = [AT_MS / 1000 + 60 * minute for minute in range(4)]
    series = [
        {"metric": {"__name__": name, **labels}, "values": [[time, value] for time in times]}
        for name, value in ((SM, "1.0"), ("DCGM_FI_DEV_GPU_UTIL", "100"))
    ]
    path = tmp_path / "range.json"
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}))
    (done,) = ingest(folder, [Request("prometheus-range", path)])
    assert done.rows_rejected == 0
    kwh, hours = models(folder)["modelled", "activity"]
    # nothing says that a job holds it, and it is active all the time
    assert kwh / hours == pytest.approx(WORKING_W[CHIP] / 1000, rel=1e-5)


def test_power_wins_over_activity_and_activity_stays_for_the_hours_without(tmp_path):
    """Two files of one board and day: the columns of each survive the other, whichever comes first."""
    found = []
    for order in (0, 1):
        fleet = Fleet(tmp_path / str(order) / "ledger", {"a": site([host("h1", 2)])})
        fleet.folder.parent.mkdir()
        log = fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", "2026-01-05 12:00")], *DAY)
        given = fleet.allocations([holds("1", "h1", 0, "2026-01-05 10:00", "2026-01-05 12:00")])
        files = [
            fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", w=500)),
            fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 12:00", sm=0.5)),
        ]
        fleet.ingest(log, given)
        for request in files if order else files[::-1]:
            fleet.ingest(request)
        found.append(models(fleet.folder))
    assert found[0] == found[1]
    assert found[0]["integrated", None] == pytest.approx((0.5, 1.0))
    kwh, hours = found[0]["modelled", "activity"]
    assert (kwh, hours) == pytest.approx(((CONTEXT_W[CHIP] + WORKING_W[CHIP]) / 2000, 1.0), rel=1e-5)


def test_a_reading_is_held_over_midnight_with_the_state_of_its_own_time(tmp_path):
    """The board is held until midnight; the last reading of the day stands with context into the next."""
    fleet = tiny(tmp_path)
    held = ("2026-01-05 22:00", "2026-01-06 00:00")
    rows = [
        row | {"time": row["time"].replace(second=30)}
        for row in every_minute("h1", 0, "2026-01-05 23:00", "2026-01-06 01:00", use=0)
    ]
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *held)], *DAY), fleet.allocations([holds("1", "h1", 0, *held)]))
    fleet.ingest(fleet.readings(rows))
    kwh, hours = models(fleet.folder)["modelled", "kernel time"]
    assert hours == pytest.approx(2.0)
    assert kwh == pytest.approx((CONTEXT_W[CHIP] + 72.5) / 1000, rel=1e-9)


def test_allocations_that_come_later_turn_bare_idle_into_context(tmp_path):
    fleet = tiny(tmp_path)
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *held)], *DAY), fleet.readings(every_minute("h1", 0, *held, use=0)))
    before = models(fleet.folder)["modelled", "kernel time"][0]
    fleet.ingest(fleet.allocations([holds("1", "h1", 0, *held)]))
    after = models(fleet.folder)["modelled", "kernel time"][0]
    assert (before, after) == pytest.approx((0.0725, CONTEXT_W[CHIP] / 1000))


@pytest.mark.parametrize(("chips", "watts"), [((2,), "context"), ((1, 1), "context"), ((1,), "bare")])
def test_boards_of_a_host_that_jobs_without_devices_hold_whole_stand_with_context(tmp_path, chips, watts):
    """Which board a job holds is not told; where the jobs hold every board, each is held."""
    fleet = tiny(tmp_path)
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    jobs = [job(str(number), "h1", count, *held) for number, count in enumerate(chips)]
    readings = [row for gpu in (0, 1) for row in every_minute("h1", gpu, *held, use=0)]
    fleet.ingest(fleet.jobs(jobs, *DAY), fleet.readings(readings))
    kwh, hours = models(fleet.folder)["modelled", "kernel time"]
    assert hours == pytest.approx(2.0)
    assert kwh / hours == pytest.approx({"context": CONTEXT_W[CHIP], "bare": 72.5}[watts] / 1000)


def test_energy_of_several_models_in_one_hour_is_one_line_with_the_sum_of_their_ranges(tmp_path):
    fleet = tiny(tmp_path)
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:30", use=100)),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:30", "2026-01-05 11:00", sm=1.0)),
    )
    (line,) = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")
    assert float(line["energy_chip_kwh"]) == pytest.approx((BUSY_KW[CHIP] + WORKING_W[CHIP] / 1000) / 2, rel=1e-5)
    assert 0 < line["energy_chip_low_kwh"] < line["energy_chip_kwh"] < line["energy_chip_high_kwh"]
    assert {key[1] for key in models(fleet.folder)} == {"kernel time", "activity"}
    assert fleet.balance() == {"a": [0, 0]}


@pytest.mark.parametrize(
    ("watts", "words"),
    [
        (400, ("(2 chip-hours) 100 % lie inside the 80 % and 100 % inside the 95 %", "+0 % in energy")),
        (790, ("(2 chip-hours) 0 % lie inside the 80 % and 0 % inside the 95 %", "-49 % in energy")),
    ],
)
def test_the_doctor_says_how_own_readings_lie_against_the_model(tmp_path, watts, words):
    fleet = tiny(tmp_path)
    held = ("2026-01-05 10:00", "2026-01-05 12:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, *held, w=watts)),
    )
    (finding,) = [item for item in doctor(fleet.folder).findings if "readings of busy boards" in item.text]
    assert all(word in finding.text for word in words)
    assert finding.level == ("good" if watts == 400 else "check")
