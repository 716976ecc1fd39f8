"""Readings at the plug of nodes and of parts inside them, brought to a ledger."""

import pytest
from ingest_helpers import at, rows, take
from known_ledger import DEVICES, board, fleet, ipmi, scrape

from energy.ledger.diagnosis import doctor


@pytest.fixture
def folder(tmp_path):
    return fleet(tmp_path)


@pytest.mark.parametrize(
    ("watts", "minutes", "overhead", "status"),
    [(1500, 60, 1.5, "derived"), (900, 60, 1.25, "given"), (1500, 50, 1.25, "given")],
    ids=["read whole", "less than its boards", "not read whole"],
)
def test_overhead_of_a_node_from_its_plug(folder, tmp_path, watts, minutes, overhead, status):
    read_each = [(minute, 500) for minute in range(60)]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board(read_each), *board(read_each, gpu=1)))
    take(folder, "ipmi-dcmi", ipmi(tmp_path / "i.csv", watts, minutes))
    node = rows(folder, "SELECT CAST(energy_it_microj AS DOUBLE) AS e FROM core.node_hour")
    assert node[0]["e"] == pytest.approx(watts * minutes * 60e6)
    line = rows(folder, "SELECT node_overhead, node_overhead_status FROM core.energy_hour WHERE energy_chip_kwh > 0")
    assert [tuple(row.values()) for row in line] == [(pytest.approx(overhead), status)]
    total = rows(folder, "SELECT CAST(sum(energy_it_kwh) AS DOUBLE) AS it FROM energy_hourly")[0]["it"]
    assert total == pytest.approx(overhead)


def test_overhead_needs_all_boards(folder, tmp_path):
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board([(minute, 500) for minute in range(60)])))
    take(folder, "ipmi-dcmi", ipmi(tmp_path / "i.csv", 1500))
    assert {
        row["node_overhead_status"] for row in rows(folder, "SELECT node_overhead_status FROM core.energy_hour")
    } == {"given"}


def test_a_plug_is_no_board(folder, tmp_path):
    take(folder, "ipmi-dcmi", ipmi(tmp_path / "i.csv", 1500))
    assert rows(folder, DEVICES) == []
    assert any("no readings of boards" in finding.text for finding in doctor(folder).findings)


def test_parts_of_nodes_are_counted_and_not_stored(folder, tmp_path):
    text = 'kepler_node_cpu_joules_total{node_name="h-1",path="/sys/class/powercap/intel-rapl:0",zone="package"} 4000\n'
    path = scrape(tmp_path / "k.prom", text)
    done = take(folder, "kepler", path, time=at("2026-01-05 08:00"))
    assert (done.rows_read, done.rows_accepted) == (1, 0)
    assert any(note.startswith("1 readings are of parts inside nodes") for note in done.notes)
    assert rows(folder, "SELECT count(*) AS n FROM core.energy_hour")[0]["n"] == 0
