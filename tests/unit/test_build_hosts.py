"""Hosts through the whole ingest: installed later, moved, replaced, over-full, undisclosed; jobs without a host."""

from __future__ import annotations

import pytest
from tiny_fleet import (
    A100,
    BUSY_HIGH_W,
    BUSY_KW,
    BUSY_LOW_W,
    H100,
    IDLE_KW,
    Fleet,
    at,
    every_minute,
    holds,
    host,
    job,
    site,
)

from energy.errors import LedgerError

DAY = ("2026-01-05 00:00", "2026-01-06 00:00")
HELD = ("2026-01-05 10:00", "2026-01-05 11:00")
NOON = "2026-01-05T12:00:00Z"


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-12)


def fleet_of(tmp_path, *hosts, **changes):
    return Fleet(tmp_path / "ledger", {"a": site(hosts, **changes)})


def test_three_hosts_add_up(tmp_path):
    fleet = fleet_of(tmp_path, host("h[1-2]", 4), host("h3", 2, A100))
    fleet.ingest(
        fleet.jobs(
            [
                job("1", "h1", 4, "2026-01-05 00:00", "2026-01-05 12:00"),
                job("2", "h2", 1, "2026-01-05 06:00", "2026-01-05 06:45", project="q"),
                job("3", "h3", 2, "2026-01-05 23:30", None, project="q"),
            ],
            *DAY,
        )
    )
    assert fleet.total("chip_h", "owner", "chip_id") == near(
        {
            ("p", "nvidia_h100_sxm5_80"): 48,
            ("q", "nvidia_h100_sxm5_80"): 0.75,
            ("idle", "nvidia_h100_sxm5_80"): 8 * 24 - 48.75,
            ("q", "nvidia_a100_sxm4_80"): 1,
            ("idle", "nvidia_a100_sxm4_80"): 47,
        }
    )
    board = {
        "p": 48 * BUSY_KW[H100],
        "q": 0.75 * BUSY_KW[H100] + 1 * BUSY_KW[A100],
        "idle": (192 - 48.75) * IDLE_KW[H100] + 47 * IDLE_KW[A100],
    }
    assert fleet.total("energy_chip_kwh", "owner") == near(board)
    assert fleet.total("energy_it_kwh", "owner") == near({key: value * 1.25 for key, value in board.items()})
    assert fleet.total("energy_facility_kwh", "owner") == near({key: value * 1.5 for key, value in board.items()})
    assert fleet.balance() == {"a": [0, 0]}


def test_a_chip_that_is_not_disclosed_has_hours_and_no_energy(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 2, "secret"), host("h2", 1))
    fleet.top["undisclosed_chips"] = ["secret"]
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h2", 1, *HELD)], *DAY))
    lines = fleet.rows("SELECT * FROM energy_hourly WHERE host = 'h1'")
    assert {(line["tier"], line["chip_id"]) for line in lines} == {("missing", None)}
    for name in ("chip", "it", "facility"):
        for end in ("", "low_", "high_"):
            assert {line[f"energy_{name}_{end}kwh"] for line in lines} == {None}
    assert fleet.total("chip_h", "owner", where="host = 'h1'") == near({"p": 1, "idle": 47})
    # the sum over both hosts says what is known, and never 0 for what is not
    assert fleet.total("energy_chip_kwh", "owner") == near({"p": BUSY_KW[H100], "idle": 23 * IDLE_KW[H100]})
    assert fleet.rows("SELECT emissions_kgco2e FROM emission_lines WHERE host = 'h1'")[0]["emissions_kgco2e"] is None
    quarter = fleet.total("emissions_kgco2e", "method", view="emissions_quarterly")
    assert quarter["location"] == near((BUSY_KW[H100] + 23 * IDLE_KW[H100]) * 1.5 * 0.271779)


def test_readings_of_an_undisclosed_chip_are_energy_all_the_same(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 1, "secret"))
    fleet.top["undisclosed_chips"] = ["secret"]
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *HELD)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *HELD)]),
        fleet.readings(
            every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:30", w=500, use=None)
            + every_minute("h1", 0, "2026-01-05 10:30", "2026-01-05 11:00", w=None, use=90)
        ),
    )
    # utilisation alone says nothing of a chip that is not known
    assert fleet.total("energy_chip_kwh", "tier", where="owner = 'p'") == {"integrated": 0.25, "missing": None}
    assert fleet.total("chip_h", "tier", where="owner = 'p'") == near({"integrated": 0.5, "missing": 0.5})


def test_a_host_counts_from_its_first_instant_to_its_last(tmp_path):
    fleet = fleet_of(
        tmp_path,
        host("h1", 2, **{"from": "2026-01-05T10:15:00Z"}),
        host("h2", 4, to="2026-01-05T00:30:00Z"),
        host("h3", 1, **{"from": "2026-02-01"}),
    )
    fleet.ingest(fleet.jobs([job("1", "h1", 1, "2026-01-05 11:00", "2026-01-05 12:00")], *DAY))
    assert fleet.total("chip_h", "owner", "host") == near(
        {("p", "h1"): 1, ("idle", "h1"): 2 * 13.75 - 1, ("idle", "h2"): 2}
    )
    assert fleet.balance() == {"a": [0, 0]}


def test_boards_replaced_inside_an_hour_count_once(tmp_path):
    half_past = "2026-01-05T12:30:00Z"
    fleet = fleet_of(
        tmp_path,
        host("h1", 2, A100, to=half_past, node_overhead=1.5),
        host("h1", 4, **{"from": half_past}),
    )
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, "2026-01-05 12:00", "2026-01-05 12:30")], *DAY),
        fleet.readings(every_minute("h1", 0, "2026-01-05 12:00", "2026-01-05 13:00", w=240)),
    )
    assert fleet.total("chip_h") == near({"all": 2 * 12.5 + 4 * 11.5})
    assert fleet.total("chip_h", "chip_id", where="owner = 'p'") == near({"nvidia_a100_sxm4_80": 0.5})
    twelve = "hour_utc = TIMESTAMPTZ '2026-01-05 12:00:00+00'"
    assert fleet.total("chip_h", where=twelve) == near({"all": 3})
    assert fleet.total("energy_chip_kwh", where=f"{twelve} AND tier = 'integrated'") == near({"all": 0.24})
    assert fleet.total("energy_chip_kwh", "owner", where=f"{twelve} AND tier = 'integrated'") == near(
        {"p": 0.24 / 6, "idle": 0.24 * 5 / 6}
    )
    assert fleet.balance() == {"a": [0, 0]}


def test_a_host_that_moves_takes_its_energy_along(tmp_path):
    fleet = Fleet(
        tmp_path / "ledger",
        {
            "a": site([host("h1", 1, to=NOON), host("h2", 1)]),
            "b": site([host("h1", 1, **{"from": NOON}), host("h3", 1)], pue=2.0, zone="ERCT"),
        },
    )
    runs = [
        job("1", "h1", 1, "2026-01-05 11:00", "2026-01-05 12:00"),
        job("2", "h1", 1, "2026-01-05 12:00", "2026-01-05 13:00"),
        job("3", "h2", 1, *HELD),
        job("4", "h3", 1, *HELD),
    ]
    fleet.ingest(fleet.jobs(runs, *DAY))
    assert fleet.total("energy_facility_kwh", "site_id", where="owner = 'p'") == near(
        {"a": 2 * BUSY_KW[H100] * 1.25 * 1.2, "b": 2 * BUSY_KW[H100] * 1.25 * 2}
    )
    assert fleet.total("chip_h", "site_id", "owner") == near(
        {("a", "p"): 2, ("a", "idle"): 11 + 23, ("b", "p"): 2, ("b", "idle"): 11 + 23}
    )
    assert fleet.balance() == {"a": [0, 0], "b": [0, 0]}


def test_a_host_given_out_twice_keeps_the_log_s_hours_and_is_shown(tmp_path):
    """Two jobs of 2 chips on a host of 2: readings are shared, the log's own time stays, the balance tells."""
    fleet = fleet_of(tmp_path, host("h1", 2))
    fleet.ingest(
        fleet.jobs([job("1", "h1", 2, *HELD), job("2", "h1", 2, *HELD, project="q")], *DAY),
        fleet.readings([row for gpu in (0, 1) for row in every_minute("h1", gpu, *HELD, w=500)]),
    )
    ten = "hour_utc = TIMESTAMPTZ '2026-01-05 10:00:00+00'"
    assert fleet.total("energy_chip_kwh", "owner", where=f"{ten} AND tier = 'integrated'") == near({"p": 0.5, "q": 0.5})
    assert fleet.total("chip_h", "owner", where=ten) == near({"p": 2, "q": 2})
    assert fleet.balance()["a"] == [2, 0]


def test_a_board_given_out_twice_gives_each_reading_once(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 1))
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h1", 1, *HELD, project="q")], *DAY),
        fleet.allocations([holds("1", "h1", 0, *HELD), holds("2", "h1", 0, *HELD)]),
        fleet.readings(every_minute("h1", 0, *HELD, w=500)),
    )
    read = "tier = 'integrated'"
    assert fleet.total("energy_chip_kwh", "owner", where=read) == near({"p": 0.25, "q": 0.25})
    assert fleet.balance()["a"] == [1, 0]


def test_jobs_without_a_host_hide_idle_chips_only_while_they_run(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 4))
    rows = [
        job("1", None, 2, *HELD, chip=H100),
        job("2", "h1", 1, *HELD, project="q", chip=None),
    ]
    fleet.ingest(fleet.jobs(rows, *DAY, site="a"))
    assert fleet.total("chip_h", "owner", "host") == near({("p", None): 2, ("q", "h1"): 1, ("idle", "h1"): 4 * 23})
    assert fleet.total("energy_chip_kwh", "owner") == near(
        {"p": 2 * BUSY_KW[H100], "q": BUSY_KW[H100], "idle": 92 * IDLE_KW[H100]}
    )
    assert fleet.total("energy_facility_kwh", where="owner = 'p'") == near({"all": 2 * BUSY_KW[H100] * 1.25 * 1.2})


def test_readings_that_a_job_without_host_may_own_are_unallocated(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 2))
    fleet.ingest(
        fleet.jobs([job("1", None, 1, *HELD, chip=H100)], *DAY, site="a"),
        fleet.readings(every_minute("h1", 0, *HELD, w=500)),
    )
    ten = "hour_utc = TIMESTAMPTZ '2026-01-05 10:00:00+00' AND host = 'h1'"
    assert fleet.total("energy_chip_kwh", "owner", where=ten) == near({"unallocated": 0.5})


def test_a_job_without_a_project_is_unallocated_and_not_idle(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 2))
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD, project=None)], *DAY))
    assert fleet.total("energy_chip_kwh", "owner_kind") == near(
        {"unallocated": BUSY_KW[H100], "idle": 47 * IDLE_KW[H100]}
    )


def test_a_project_named_idle_is_still_a_project(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 1))
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD, project="idle")], *DAY))
    assert fleet.total("energy_chip_kwh", "owner_kind", "owner") == near(
        {("project", "idle"): BUSY_KW[H100], ("idle", "idle"): 23 * IDLE_KW[H100]}
    )


def test_node_overhead_of_a_host_wins_over_its_site_s(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 1, node_overhead={"value": 1.5, "low": 1.4, "high": 1.6}), host("h2", 1))
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h2", 1, *HELD)], *DAY))
    it = fleet.total("energy_it_kwh", "host", where="owner = 'p'")
    assert it == near({"h1": BUSY_KW[H100] * 1.5, "h2": BUSY_KW[H100] * 1.25})
    (line,) = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p' AND host = 'h1'")
    assert float(line["energy_facility_low_kwh"]) == near(BUSY_LOW_W / 1000 * 1.4 * 1.2)
    assert float(line["energy_facility_high_kwh"]) == near(BUSY_HIGH_W / 1000 * 1.6 * 1.2)


def test_every_line_is_in_order_and_none_is_negative(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 2), host("h2", 1, "secret"), pue={"value": 1.2, "low": 1.1, "high": 1.4})
    fleet.top["undisclosed_chips"] = ["secret"]
    fleet.ingest(
        fleet.jobs(
            [
                job("1", "h1", 0.5, *HELD),
                job("2", "h1", 1, "2026-01-05 10:20", "2026-01-05 10:20:30"),
                job("3", "h2", 1, *HELD),
            ],
            *DAY,
        ),
        fleet.allocations([holds("1", "h1", 0, *HELD)]),
        fleet.readings(
            every_minute("h1", 0, "2026-01-05 10:00", "2026-01-05 10:30", w=0, use=None)
            + every_minute("h1", 1, "2026-01-05 10:10", "2026-01-05 12:00", w=None, use=100)
        ),
    )
    lines = fleet.rows("SELECT * FROM energy_hourly")
    assert {line["tier"] for line in lines} == {"integrated", "modelled", "default", "missing"}
    for line in lines:
        assert line["chip_h"] >= 0
        for name in ("chip", "it", "facility"):
            low, value, high = (line[f"energy_{name}_{end}kwh"] for end in ("low_", "", "high_"))
            assert (low is None) == (value is None) == (high is None)
            assert (value is None) == (line["tier"] == "missing") or line["attribution"] == "device"
            if value is not None:
                assert 0 <= low <= value <= high, line
    assert at("2026-01-05 23:00") == max(line["hour_utc"] for line in lines)


@pytest.mark.parametrize("kwh", [1.8e6, 2e7])
def test_energy_that_nothing_draws_is_refused_and_less_adds_up(tmp_path, kwh):
    fleet = fleet_of(tmp_path, host("h1", 8))
    run = job("1", "h1", 8, "2026-01-05 10:00", "2026-01-05 11:00") | {"kwh": kwh}
    log = fleet.jobs([run], *HELD)
    if kwh > 1e7:
        with pytest.raises(LedgerError, match=r"site a, host h1, 2026-01-05T10:00Z: .* more than 3,000,000") as caught:
            fleet.ingest(log)
        assert "\n" not in str(caught.value)
        return
    fleet.ingest(log)
    lines = fleet.total("emissions_kgco2e", "method", view="emission_lines")
    assert fleet.total("emissions_kgco2e", "method", view="emissions_quarterly") == lines
    assert fleet.total("energy_facility_kwh", view="energy_hourly")["all"] == near(kwh * 1.25 * 1.2)
