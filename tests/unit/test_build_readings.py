"""Readings through the whole ingest on tiny fleets: who is given what, reckoned by hand. kWh at the board."""

from __future__ import annotations

import math

import pytest
from tiny_fleet import (
    A100,
    BUSY_HIGH_W,
    BUSY_KW,
    BUSY_LOW_W,
    CONTEXT_W,
    H100,
    IDLE_KW,
    IDLE_W,
    WORKING_W,
    Fleet,
    at,
    every_minute,
    holds,
    host,
    job,
    site,
)

from energy.ledger.intake import withdraw

DAY = ("2026-01-05 00:00", "2026-01-06 00:00")


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-12)


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path / "ledger", {"a": site([host("h1", 2)])})


def test_a_gap_in_the_middle_of_a_job_is_filled_with_the_default_and_said_so(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 12:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(
            every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:40", w=600)
            + every_minute("h1", 0, "2026-01-05 11:10", "2026-01-05 12:00", w=300)
        ),
    )
    busy = "owner = 'p'"
    assert fleet.total("chip_h", "tier", where=busy) == near({"integrated": 1.5, "default": 0.5})
    read = 0.6 * 40 / 60 + 0.3 * 50 / 60
    assert fleet.total("energy_chip_kwh", "tier", where=busy) == near(
        {"integrated": read, "default": BUSY_KW[H100] * 0.5}
    )
    # the gap lies in both hours: 20 min of the first, 10 min of the second
    by_hour = fleet.total("chip_h", "hour_utc", where=f"{busy} AND tier = 'default'")
    assert sorted(by_hour.values()) == near([1 / 6, 1 / 3])
    assert fleet.total("chip_h", "owner") == near({"p": 2, "idle": 46})
    assert fleet.total("energy_chip_kwh", "owner")["idle"] == near(46 * IDLE_KW[H100])
    assert fleet.balance() == {"a": [0, 0]}


def test_a_reading_is_held_no_longer_than_its_interval(fleet):
    read = [{"time": at(f"2026-01-05 10:{minute:02}"), "host": "h1", "gpu": 0, "w": 600} for minute in (0, 20, 40)]
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(read, interval="120 s"),
    )
    assert fleet.total("chip_h", "tier", where="owner = 'p'") == near({"integrated": 0.1, "default": 0.9})
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 0.06})


def test_two_jobs_share_a_board_by_fractions_and_the_rest_is_idle(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 0.25, *held, project="p"), job("2", "h1", 0.5, *held, project="q")], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held), holds("2", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, *held, w=400)),
    )
    read = "tier = 'integrated'"
    assert fleet.total("energy_chip_kwh", "owner", where=read) == near({"p": 0.1, "q": 0.2, "idle": 0.1})
    assert fleet.total("chip_h", "owner", where=read) == near({"p": 0.25, "q": 0.5, "idle": 0.25})
    assert fleet.total("chip_h", "tier") == near({"integrated": 1, "default": 47})
    assert fleet.balance() == {"a": [0, 0]}


def test_shares_in_thirds_leave_no_crumbs(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    third = 0.333333333
    fleet.ingest(
        fleet.jobs([job(name, "h1", third, *held) for name in "123"], *DAY),
        fleet.allocations([holds(name, "h1", 0, *held) for name in "123"]),
        fleet.readings(every_minute("h1", 0, *held, w=300)),
    )
    assert fleet.total("chip_h", "tier", where="owner = 'p'") == pytest.approx({"integrated": 1}, abs=1e-6)
    assert fleet.total("energy_chip_kwh", where="owner = 'p'") == pytest.approx({"all": 0.3}, rel=1e-6)


def test_jobs_without_device_share_what_their_host_has_left(fleet):
    fleet.sites["a"]["hosts"] = [host("h1", 4)]
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    half = ("2026-01-05 10:00", "2026-01-05 10:30")
    readings = [row for gpu in range(4) for row in every_minute("h1", gpu, *held, w=100 * (gpu + 1))]
    fleet.ingest(
        fleet.jobs(
            [
                job("known", "h1", 1, *held, project="known"),
                job("one", "h1", 1, *held, project="one"),
                job("half", "h1", 2, *half, project="half"),
            ],
            *DAY,
        ),
        fleet.allocations([holds("known", "h1", 3, *held)]),
        fleet.readings(readings),
    )
    # boards 0, 1, 2 read 0.6 kWh for 3 chip-hours: one job of 1 chip-hour, one of 2 x 0.5, one chip-hour idle
    energy = fleet.total("energy_chip_kwh", "owner", "attribution", where="tier = 'integrated'")
    assert energy == near(
        {
            ("known", "device"): 0.4,
            ("one", "host share"): 0.2,
            ("half", "host share"): 0.2,
            ("idle", "host share"): 0.2,
        }
    )
    assert fleet.total("chip_h", "owner", where="tier = 'integrated'") == near(
        {"known": 1, "one": 1, "half": 1, "idle": 1}
    )
    assert fleet.balance() == {"a": [0, 0]}


def test_a_device_that_half_the_hour_lacks_is_shared_and_the_rest_is_default(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:30", w=600)),
    )
    # 0.3 kWh over 0.5 chip-hours, half of both to the job, half to the idle chip
    hour = "hour_utc = TIMESTAMPTZ '2026-01-05 10:00:00+00'"
    assert fleet.total("energy_chip_kwh", "owner", "tier", where=hour) == near(
        {
            ("p", "integrated"): 0.15,
            ("idle", "integrated"): 0.15,
            ("p", "default"): 0.75 * BUSY_KW[H100],
            ("idle", "default"): 0.75 * IDLE_KW[H100],
        }
    )


def test_a_job_s_own_energy_wins_over_readings_and_is_not_counted_twice(fleet):
    held = ("2026-01-05 10:30", "2026-01-05 12:30")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held, kwh=1.0)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, *held, w=600)),
    )
    lines = fleet.total("energy_chip_kwh", "hour_utc", "tier", "attribution", where="owner = 'p'")
    assert {key[1:] for key in lines} == {("measured", "job")}
    assert [lines[key] for key in sorted(lines)] == near([0.25, 0.5, 0.25])
    assert fleet.total("chip_h", "owner") == near({"p": 2, "idle": 46})
    assert fleet.balance() == {"a": [0, 0]}


def test_a_job_s_own_energy_wins_on_a_shared_host_and_leaves_the_others_alone(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    readings = [row for gpu in (0, 1) for row in every_minute("h1", gpu, *held, w=500)]
    fleet.ingest(
        fleet.jobs(
            [job("1", "h1", 1, *held, project="own", kwh=0.2), job("2", "h1", 1, *held, project="q", kwh=None)], *DAY
        ),
        fleet.readings(readings),
    )
    assert fleet.total("energy_chip_kwh", "owner", where="owner <> 'idle'") == near({"own": 0.2, "q": 0.5})


def test_a_run_without_length_keeps_its_energy(fleet):
    moment = "2026-01-05 10:00"
    fleet.ingest(fleet.jobs([job("1", "h1", 1, moment, moment, kwh=0.001)], *DAY))
    assert fleet.total("energy_chip_kwh", where="owner = 'p'") == near({"all": 0.001})
    assert fleet.total("chip_h", where="owner = 'p'") == near({"all": 0})
    assert fleet.total("chip_h") == near({"all": 48})


def modelled_hour(fleet, readings, **top):
    """Return the line of one hour of one board that a job holds, of which no power was read."""
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.top |= top
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(readings),
    )
    (line,) = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")
    assert (line["tier"], line["attribution"]) == ("modelled", "device")
    return [float(line[f"energy_chip_{end}kwh"]) for end in ("", "low_", "high_")]


def hour(**values):
    return every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", **values)


def test_the_time_with_a_kernel_is_a_share_of_time_and_no_load(fleet):
    """A held board stands with context for the rest; the ends of the range move along with the time."""
    value, low, high = modelled_hour(fleet, hour(use=40))
    context, busy, idle = CONTEXT_W[H100] / 1000, BUSY_KW[H100], IDLE_KW[H100]
    assert value == near(round(context + 0.4 * (busy - context), 6))
    share = (value - idle) / (busy - idle)
    assert low == near(0.059 + share * (BUSY_LOW_W / 1000 - 0.059))
    assert value < high < share * BUSY_HIGH_W / 1000 + (1 - share) * 0.2


def test_a_board_without_a_kernel_stands_with_context_where_a_job_holds_it_and_bare_where_none_does(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 12:00", use=0)),
    )
    assert fleet.total("energy_chip_kwh", "owner", where="tier = 'modelled'") == near(
        {"p": CONTEXT_W[H100] / 1000, "idle": IDLE_KW[H100]}
    )


def test_activity_of_the_parts_is_a_load_and_wins_over_the_time_with_a_kernel(fleet):
    value, low, high = modelled_hour(fleet, hour(use=100, sm=0.5))
    assert value == near(round(0.5 * CONTEXT_W[H100] + 0.5 * WORKING_W[H100], 3) / 1000)
    assert 0.059 < low < value < high <= 0.77
    assert high / value == near(min(math.exp(0.3391), BUSY_HIGH_W / WORKING_W[H100]))


def test_tensor_and_dram_activity_give_the_load_while_the_board_is_active(fleet):
    load = 2.221 * (0.2 / 0.8) ** 1.006 + 4.673 * (0.4 / 0.8) ** 0.9875
    busy = CONTEXT_W[H100] + (0.99 * 700 - CONTEXT_W[H100]) * (1 - math.exp(-load))
    value, _, _ = modelled_hour(fleet, hour(sm=0.8, tensor=0.4, dram=0.2))
    assert value == pytest.approx((0.2 * CONTEXT_W[H100] + 0.8 * busy) / 1000, rel=1e-5)


def test_a_stated_working_share_moves_both_default_and_modelled_power(fleet):
    value, _, _ = modelled_hour(fleet, hour(use=100), default_working_share={"value": 0.9, "low": 0.8, "high": 1.0})
    stated = CONTEXT_W[H100] + 0.9 * (WORKING_W[H100] - CONTEXT_W[H100])
    assert value == near(round(stated, 3) / 1000)
    watts = fleet.total("power_chip_w", "chip_state", view="ref.chip_power", where="chip_id LIKE '%h100%'")
    assert watts == near({"busy": stated, "idle": IDLE_W[H100]})


def test_idle_boards_stand_with_context_where_site_yaml_says_so(fleet):
    fleet.top["default_idle"] = "context"
    fleet.ingest(fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", "2026-01-05 11:00")], *DAY))
    assert fleet.total("energy_chip_kwh", "owner")["idle"] == near(47 * CONTEXT_W[H100] / 1000)


def test_hours_that_were_read_do_not_depend_on_any_model(tmp_path):
    """Two ledgers with other defaults: the lines of readings are equal to the last digit."""
    lines, defaults = [], []
    for number, top in enumerate(({}, {"default_working_share": 0.9, "default_idle": "context"})):
        fleet = Fleet(tmp_path / str(number) / "ledger", {"a": site([host("h1", 2)])}, top)
        fleet.folder.parent.mkdir()
        held = ("2026-01-05 10:10", "2026-01-05 11:25")
        fleet.ingest(
            fleet.jobs([job("1", "h1", 1, *held)], *DAY),
            fleet.allocations([holds("1", "h1", 0, *held)]),
            fleet.readings(every_minute("h1", 0, "2026-01-05 09:40", "2026-01-05 11:10", w=333.333, use=77)),
        )
        sql = "SELECT * FROM energy_hourly WHERE tier = 'integrated' ORDER BY ALL"
        lines.append([tuple(row.values()) for row in fleet.rows(sql)])
        defaults.append(fleet.total("energy_chip_kwh", where="tier = 'default'")["all"])
    assert lines[0] == lines[1]
    assert len(lines[0]) == 4
    assert defaults[0] < defaults[1]


def test_an_energy_that_is_not_known_has_no_range(fleet):
    """A job too short for a sample, on a board of which only utilisation was read."""
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00:10", "2026-01-05 10:00:50")], *DAY),
        fleet.allocations([holds("1", "h1", 0, "2026-01-05 10:00:10", "2026-01-05 10:00:50")]),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", use=100)),
    )
    (line,) = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")
    assert float(line["chip_h"]) == near(40 / 3600)
    assert [line[f"energy_chip_{end}kwh"] for end in ("", "low_", "high_")] == [None] * 3
    assert line["energy_facility_high_kwh"] is None
    assert fleet.total("energy_chip_kwh", where="tier = 'modelled'") == near({"all": round(BUSY_KW[H100], 6)})


def test_utilisation_is_read_with_the_chip_of_its_time(tmp_path):
    """A host whose boards were replaced at noon: each reading through the curve of its own board."""
    fleet = Fleet(
        tmp_path / "ledger",
        {
            "a": site(
                [
                    host("h1", 1, A100, to="2026-01-05T12:00:00Z"),
                    host("h1", 1, H100, **{"from": "2026-01-05T12:00:00Z"}),
                ]
            )
        },
    )
    fleet.ingest(
        fleet.jobs([job("other", "h1", 1, "2026-01-05 23:00", "2026-01-05 23:10")], *DAY),
        fleet.readings(every_minute("h1", 0, "2026-01-05 11:00", "2026-01-05 13:00", use=50)),
    )
    assert fleet.total("energy_chip_kwh", "chip_id", where="tier = 'modelled'") == pytest.approx(
        {
            "nvidia_a100_sxm4_80": (BUSY_KW[A100] + IDLE_KW[A100]) / 2,
            "nvidia_h100_sxm5_80": (BUSY_KW[H100] + IDLE_KW[H100]) / 2,
        },
        rel=1e-5,  # whole milliwatts
    )
    assert fleet.total("chip_h", "chip_id", where="owner = 'idle'") == pytest.approx(
        {"nvidia_a100_sxm4_80": 12, "nvidia_h100_sxm5_80": 12 - 1 / 6}
    )


def test_counted_energy_is_measured_and_wins_over_power(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, *held, j=30_000, w=1)),
    )
    lines = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")
    assert [line["tier"] for line in lines] == ["measured"]
    assert float(lines[0]["energy_chip_kwh"]) == near(60 * 30_000 / 3.6e6)
    assert float(lines[0]["energy_chip_low_kwh"]) == near(0.95 * 0.5)
    assert float(lines[0]["energy_chip_high_kwh"]) == near(1.05 * 0.5)


def test_a_job_shorter_than_the_interval_has_no_energy_of_its_own(fleet):
    short = ("2026-01-05 10:10:10", "2026-01-05 10:10:50")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *short)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *short)]),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", w=300)),
    )
    (line,) = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")
    assert float(line["chip_h"]) == near(40 / 3600)
    assert line["energy_chip_kwh"] is None
    # nothing is lost: the neighbours have it
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 0.3})
    assert fleet.total("chip_h", where="tier = 'integrated'") == near({"all": 1})
    assert fleet.balance() == {"a": [0, 0]}


def test_readings_outside_the_log_are_unallocated_and_nothing_is_made_up_around_them(fleet):
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 01:00", "2026-01-05 02:00")], *DAY),
        fleet.readings(every_minute("h1", 0, "2026-01-07 10:00", "2026-01-07 10:30", w=500)),
    )
    outside = "hour_utc >= TIMESTAMPTZ '2026-01-06 00:00:00+00'"
    (line,) = fleet.rows(f"SELECT * FROM energy_hourly WHERE {outside}")
    assert (line["owner_kind"], line["owner"], line["tier"]) == ("unallocated", "unallocated", "integrated")
    assert (float(line["energy_chip_kwh"]), float(line["chip_h"])) == near((0.25, 0.5))


def test_a_log_that_ends_inside_an_hour_knows_idle_chips_only_that_far(fleet):
    """Window to 10:30; a board is read all hour; the half hour outside the log is nobody's, not idle."""
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", None)], "2026-01-05 10:00", "2026-01-05 10:30"),
        fleet.allocations([holds("1", "h1", 0, "2026-01-05 10:00", "2026-01-06 10:00")]),
    )
    assert fleet.total("chip_h", "owner") == near({"p": 0.5, "idle": 0.5})
    fleet.ingest(fleet.readings(every_minute("h1", 1, "2026-01-05 10:00", "2026-01-05 11:00", w=90)))
    # of 2 chips x 1 h the job holds 0.5, 0.5 are idle in the log, 1 lies outside it; the read board is shared over 1.5
    energy = fleet.total("energy_chip_kwh", "owner", where="tier = 'integrated'")
    assert energy == near({"idle": 0.09 / 3, "unallocated": 0.09 * 2 / 3})
    assert fleet.total("chip_h", "owner", "tier") == near(
        {
            ("p", "default"): 0.5,
            ("idle", "integrated"): 1 / 3,
            ("unallocated", "integrated"): 2 / 3,
            ("idle", "default"): 0.5 - 1 / 3,
        }
    )


def test_readings_of_a_host_before_its_first_day_are_kept(tmp_path):
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 1, **{"from": "2026-01-06"})])})
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-06 01:00", "2026-01-06 02:00")], "2026-01-05 00:00", "2026-01-07 00:00"),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", w=500)),
    )
    early = "hour_utc < TIMESTAMPTZ '2026-01-06 00:00:00+00'"
    assert fleet.total("energy_chip_kwh", "owner", "tier", where=early) == near({("unallocated", "integrated"): 0.5})
    assert fleet.balance() == {"a": [0, 0]}


def test_a_job_on_a_host_before_its_first_day_takes_its_readings_once(tmp_path):
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 1, **{"from": "2026-01-06"})])})
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 10:00", "2026-01-05 11:00")], "2026-01-05 00:00", "2026-01-07 00:00"),
        fleet.readings(every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", w=500)),
    )
    early = "hour_utc < TIMESTAMPTZ '2026-01-06 00:00:00+00'"
    assert fleet.total("energy_chip_kwh", "owner", "tier", where=early) == near({("p", "integrated"): 0.5})


def test_a_device_named_by_two_rows_is_held_once(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 2, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held), holds("1", "h1", 0, "2026-01-05 09:00", "2026-01-05 12:00")]),
        fleet.readings(every_minute("h1", 0, *held, w=600) + every_minute("h1", 1, *held, w=200)),
    )
    assert fleet.total("chip_h", "owner", "tier") == near({("p", "integrated"): 2, ("idle", "default"): 46})
    assert fleet.total("energy_chip_kwh", "owner", where="tier = 'integrated'") == near({"p": 0.8})


def test_more_devices_than_chips_are_held_in_equal_parts(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1.5, *held)], *DAY),
        fleet.allocations([holds("1", "h1", gpu, *held) for gpu in (0, 1)]),
        fleet.readings([row for gpu in (0, 1) for row in every_minute("h1", gpu, *held, w=400)]),
    )
    assert fleet.total("chip_h", "owner") == near({"p": 1.5, "idle": 46.5})
    assert fleet.total("energy_chip_kwh", "owner", where="tier = 'integrated'") == near({"p": 0.6, "idle": 0.2})


def test_a_board_read_by_two_files_counts_once(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    first = every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:40", w=500)
    longer = every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 11:00", w=500)
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *held)], *DAY), fleet.readings(first))
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 0.5 * 40 / 60})
    fleet.ingest(fleet.readings(longer))
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 0.5})


def test_a_host_that_moves_between_two_files_of_a_day_counts_once(tmp_path):
    """site.yaml is corrected between two exports of one day: the second file lies under the other site."""
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 1)]), "b": site([host("h2", 1)], pue=2.0)})
    rows = [job("1", "h1", 1, *held), job("2", "h2", 1, *held)]
    early = every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:40", w=500)
    fleet.ingest(fleet.jobs(rows, *DAY), fleet.readings(early))
    fleet.sites = {"a": site([host("h3", 1)]), "b": site([host("h1", 1), host("h2", 1)], pue=2.0)}
    fleet.ingest(fleet.readings(every_minute("h1", 0, *held, w=500)))
    assert fleet.total("energy_chip_kwh", "site_id", where="tier = 'integrated'") == near({"b": 0.5})
    assert fleet.total("chip_h", "owner", "site_id") == near({("p", "b"): 2, ("idle", "b"): 46})
    assert {row["pue"] for row in fleet.rows("SELECT DISTINCT pue FROM energy_hourly")} == {2.0}


def test_a_reading_held_past_its_job_stays_with_it_in_the_next_hour(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(every_minute("h1", 0, "2026-01-05 09:59:30", "2026-01-05 11:00:30", w=600)),
    )
    energy = fleet.total("energy_chip_kwh", "owner", "hour_utc", where="tier = 'integrated' AND energy_chip_kwh > 0")
    half_minute = 0.6 / 120
    assert energy == near(
        {
            ("idle", at("2026-01-05 09:00")): half_minute,
            ("idle", at("2026-01-05 10:00")): half_minute,
            ("p", at("2026-01-05 10:00")): 0.6 - half_minute,
            ("p", at("2026-01-05 11:00")): half_minute,
        }
    )
    assert fleet.total("chip_h", where="owner = 'p'") == near({"all": 1})


def test_devices_that_become_known_later_change_the_owners_of_old_readings(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    read = [row for gpu in (0, 1) for row in every_minute("h1", gpu, *held, w=200 + 400 * gpu)]
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *held)], *DAY), fleet.readings(read))
    assert fleet.total("energy_chip_kwh", "owner", where="tier = 'integrated'") == near({"p": 0.4, "idle": 0.4})
    fleet.ingest(fleet.allocations([holds("1", "h1", 1, *held)]))
    assert fleet.total("energy_chip_kwh", "owner", where="tier = 'integrated'") == near({"p": 0.6, "idle": 0.2})


def test_readings_that_are_withdrawn_leave_nothing_behind(fleet):
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.readings(every_minute("h1", 0, *held, w=600)),
        fleet.readings(every_minute("h1", 1, *held, w=200)),
        fleet.readings(every_minute("h1", 1, "2026-01-04 10:00", "2026-01-04 11:00", w=200)),
    )
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 1.0})
    withdraw(fleet.folder, 3)
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 0.8})
    withdraw(fleet.folder, 4)
    assert fleet.total("energy_chip_kwh", where="tier = 'integrated'") == near({"all": 0.6})
    withdraw(fleet.folder, 2)
    assert fleet.total("chip_h", "owner", "tier") == near({("p", "default"): 1, ("idle", "default"): 47})


def test_a_device_known_for_a_part_of_a_run_is_not_known(fleet):
    """A job that changed its board: its share of the host's readings, not all of the first board's."""
    held = ("2026-01-05 10:00", "2026-01-05 11:00")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], *DAY),
        fleet.allocations([holds("1", "h1", 0, "2026-01-05 10:00", "2026-01-05 10:30")]),
        fleet.readings(every_minute("h1", 0, *held, w=600) + every_minute("h1", 1, *held, w=200)),
    )
    assert fleet.total("energy_chip_kwh", "owner", "attribution", where="tier = 'integrated'") == near(
        {("p", "host share"): 0.4, ("idle", "host share"): 0.4}
    )


def test_a_sampler_that_jitters_leaves_no_slivers_of_default_power():
    import numpy as np

    from energy.power.counters import held_and_bridged

    times = np.array([0, 60_010, 120_005, 183_000, 1_300_000], dtype=np.int64)
    ones = np.ones(times.size, dtype=np.int64)
    held = held_and_bridged(ones, times, ones, 60_000 * ones, 0 * ones, ones.astype(bool))
    # 63 s is in time, over 15 minutes stays a gap after 60 s
    assert held.end_ms.tolist() == [60_010, 120_005, 183_000, 243_000, 1_360_000]
    assert held.start_ms.tolist() == times.tolist()
    assert not held.is_bridged.any()
