"""Counters of known formats, brought to a ledger: each joule once, and power where a counter cannot be trusted."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import content, ledger, rows, take
from known_ledger import COUNTER, DEVICES, MINUTE, SITE, board, faults, fleet, read, sample, scrape

from energy.ledger.counters import counted_intervals
from energy.ledger.diagnosis import doctor
from energy.ledger.intake import Request, ingest
from energy.ledger.telemetry import NONE


@pytest.fixture
def folder(tmp_path):
    return fleet(tmp_path)


def test_counters_chain_over_files(folder, tmp_path):
    """Two scrapes in two files, in one call or two, say the same; the last reading is held for the usual step."""
    one = scrape(tmp_path / "one.prom", *board([(0, 600)], [(0, 1000)]))
    two = scrape(tmp_path / "two.prom", *board([(1, 600)], [(1, 1000 + 36_000)]))
    take(folder, "dcgm", two)
    take(folder, "dcgm", one)
    assert read(folder) == {("h-1", 0, "integrated"): (60, 36_000), ("h-1", 0, "measured"): (60, 36_000)}
    other = ledger(tmp_path / "other", SITE.format(overhead=1.25))
    ingest(other, [Request("dcgm", one), Request("dcgm", two)], threads=1)
    assert content(other) == content(folder)


def test_a_counter_knows_what_missing_readings_do_not(folder, tmp_path):
    minutes = [0, 1, 2, 12, 13]
    path = scrape(tmp_path / "r.prom", *board([(m, 300) for m in minutes], [(m, m * 24_000.0) for m in minutes]))
    take(folder, "dcgm", path)
    assert read(folder) == {("h-1", 0, "measured"): (780, 13 * 24_000), ("h-1", 0, "integrated"): (60, 18_000)}
    assert faults(folder) == (0, 0, 0)
    both = rows(folder, "SELECT energy_by_counter_chip_kwh AS c, energy_by_power_chip_kwh AS p FROM core.counter_hour")
    assert float(both[0]["c"]) == pytest.approx(3 * 24_000 / 3.6e6, abs=1e-9)  # where both were read in time
    assert float(both[0]["p"]) == pytest.approx(3 * 18_000 / 3.6e6, abs=1e-9)
    assert any("counter less power +33.3 %" in finding.text for finding in doctor(folder).findings)


def test_a_long_counted_interval_does_not_reach_back_to_midnight(folder, tmp_path):
    take(
        folder,
        "dcgm",
        scrape(
            tmp_path / "r.prom",
            *board([], [(0, 0.0), (1, 6000.0), (2, 12_000.0), (602, 3_612_000.0)], gpu=0),
            *board([], [(0, 0.0), (600, 3_600_000.0)], gpu=1),
        ),
    )
    assert read(folder) == {("h-1", 0, "measured"): (602 * 60, 3_612_000), ("h-1", 1, "measured"): (36_000, 3_600_000)}


def test_power_between_two_readings_of_the_counter(folder, tmp_path):
    """One file may give power every minute and another the counter every ten."""
    take(folder, "dcgm", scrape(tmp_path / "p.prom", *board([(minute, 500) for minute in range(21)])))
    take(folder, "dcgm", scrape(tmp_path / "c.prom", *board([], [(0, 0.0), (10, 330_000.0), (20, 660_000.0)])))
    assert read(folder) == {("h-1", 0, "measured"): (1200, 660_000), ("h-1", 0, "integrated"): (60, 30_000)}


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ([0, 30, 60, 2, 32], (1, 0, 0)),  # restarted, or wrapped
        ([0, 30, 30, 30, 30], (0, 3, 0)),
        ([0, 30, 30, 30, 60], (0, 2, 0)),
        ([0, 30, 9000, 9030, 9060], (0, 0, 1)),
    ],
    ids=["fell", "stuck", "stuck for a while", "jumped"],
)
def test_power_stands_in_for_a_counter_that_cannot_be_trusted(folder, tmp_path, counters, expected):
    lines = board([(m, 500) for m in range(5)], [(m, kilojoules * 1000.0) for m, kilojoules in enumerate(counters)])
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert faults(folder) == expected
    assert sum(row["j"] for row in rows(folder, DEVICES)) == pytest.approx(5 * 30_000)
    told = [finding.text for finding in doctor(folder).findings if "board 0 of h-1" in finding.text]
    assert told == [
        f"board 0 of h-1: counter fell {expected[0]}, stood still {expected[1]}, jumped {expected[2]} times; "
        "counter less power +0.0 % where both were read"
    ]


def test_a_coarse_counter_counts_once(folder, tmp_path):
    """A plug's counter in steps of 0.1 kWh stands still between its steps: no energy twice, and nothing is stuck."""
    count = 55
    answers = [
        {
            "@odata.type": "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
            "PowerWatts": {"Reading": 2400, "ReadingUnits": "W"},
            "EnergykWh": {"Reading": int(minute * 0.4 + 1e-9) / 10},
            "Timestamp": f"2026-01-05T08:{minute:02d}:00Z",
        }
        for minute in range(count)
    ]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(answers), encoding="utf-8")
    take(folder, "redfish", path, host="h-1")
    node = rows(folder, "SELECT covered_ms, energy_it_microj FROM core.node_hour")[0]
    assert float(node["covered_ms"]) == count * MINUTE
    assert float(node["energy_it_microj"]) / 3.6e12 == pytest.approx(2.4 * count / 60, rel=0.03)
    assert faults(folder) == (0, 0, 0)


def test_a_board_without_counter(folder, tmp_path):
    lines = board([(minute, 30 if minute < 10 else 180) for minute in range(50)], host="p-1", modelName="Tesla P100")
    lines += [sample(COUNTER, 0, 9223372036854775794, host="p-1")]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert read(folder) == {("p-1", 0, "integrated"): (3000, (10 * 30 + 40 * 180) * 60)}
    assert rows(folder, "SELECT count(*) AS n FROM core.counter_hour")[0]["n"] == 0


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(1, 5_000_000),
            st.one_of(st.none(), st.integers(0, 10**12)),
            st.one_of(st.none(), st.integers(1, 700_000)),
        ),
        max_size=30,
    )
)
def test_no_energy_is_counted_twice(readings):
    """Whatever a counter does, its energy is at most the sum of its rises; where it only rises it is all of it."""
    device = np.array(sorted(one[0] for one in readings), np.int32)
    day = {
        "device_key": device,
        "time_ms": np.cumsum([one[1] % 2_000_000 + 1 for one in readings]).astype(np.int32),
        "counter_microj": np.array([NONE if one[2] is None else one[2] for one in readings], np.int64),
        "power_milliw": np.array([NONE if one[3] is None else one[3] for one in readings], np.int32),
    }
    counted = counted_intervals(day, np.full(device.size, 1e12))
    for key in np.unique(device):
        mine = device == key
        known = day["counter_microj"][mine & (day["counter_microj"] != NONE)]
        rises = np.diff(known)
        energy = float((counted.power_milliw * counted.interval_ms)[mine & counted.is_good].sum())
        rounding = float(counted.interval_ms[mine].sum())
        assert energy <= rises[rises > 0].sum() + rounding
        if (rises > 0).all() and known.size:
            assert energy >= known[-1] - known[0] - rounding
        if known.size:
            assert counted.fell[mine].sum() == (rises < 0).sum()
            assert counted.stood[mine].sum() <= (rises == 0).sum()
