"""Runs that known formats tell, brought to a ledger: hours, and energy that a run or its node reported."""

import json

import pytest
from ingest_helpers import ledger, rows, take
from known_ledger import CODECARBON, H100, SITE, board, fleet, run, sacct, scrape
from tiny_fleet import A100, BUSY_KW, IDLE_KW

from energy.ledger.diagnosis import doctor


@pytest.fixture
def folder(tmp_path):
    return fleet(tmp_path)


@pytest.mark.parametrize("overhead", [1.0, 1.25, 1.7])
def test_energy_of_a_run_that_held_its_hosts_whole(tmp_path, overhead):
    folder = ledger(tmp_path / "ledger", SITE.format(overhead=overhead))
    path = sacct(tmp_path / "s.txt", run(1, "h-[1-2]", 4, 7_200_001, nodes=2), run(2, "h-3", 1, 3_600_000))
    take(folder, "slurm-sacct", path, timezone="UTC")
    stored = rows(folder, "SELECT job_id, host, CAST(energy_it_kwh AS DOUBLE) AS kwh FROM core.job ORDER BY 1, 2")
    half = pytest.approx(7_200_001 / 3.6e6 / 2, rel=1e-12)
    assert [tuple(row.values()) for row in stored] == [("1", "h-1", half), ("1", "h-2", half), ("2", "h-3", 1.0)]
    lines = rows(
        folder,
        "SELECT job.job_id, line.tier, line.attribution, sum(line.energy_it_kwh) AS kwh, sum(line.chip_h) AS h "
        "FROM energy_hourly AS line JOIN core.job AS job ON job.job_key = line.job_key GROUP BY ALL ORDER BY ALL",
    )
    assert [(row["job_id"], row["tier"], row["attribution"], float(row["h"])) for row in lines] == [
        ("1", "measured", "job", 8.0),
        ("2", "default", "none", 2.0),  # energy at the plug of a shared node is not the run's
    ]
    assert float(lines[0]["kwh"]) == pytest.approx(7_200_001 / 3.6e6, abs=1e-9)
    assert float(lines[1]["kwh"]) == pytest.approx(2 * BUSY_KW[H100] * overhead, rel=1e-9)


def test_a_reported_energy_takes_the_place_of_readings(folder, tmp_path):
    minutes = [(minute, 500) for minute in range(60)]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board(minutes), *board(minutes, gpu=1)))
    hour = {"start": "08:00:00", "end": "09:00:00"}
    take(folder, "slurm-sacct", sacct(tmp_path / "s.txt", run(1, joules=4_500_000, **hour)), timezone="UTC")
    own = "SELECT tier, attribution, CAST(energy_it_kwh AS DOUBLE) AS kwh FROM energy_hourly WHERE job_key IS NOT NULL"
    expected = [("measured", "job", pytest.approx(1.25, abs=1e-9))]
    assert [tuple(row.values()) for row in rows(folder, own)] == expected
    listed = tmp_path / "given.csv"
    times = "2026-01-05T08:00:00Z,2026-01-05T09:00:00Z"
    listed.write_text(f"job_id,host,gpu,start_time,end_time\n1,h-1,0,{times}\n1,h-1,1,{times}\n", encoding="utf-8")
    take(folder, "allocations", listed)
    assert [tuple(row.values()) for row in rows(folder, own)] == expected
    apart = rows(folder, "SELECT sum(coalesce(difference_energy_chip_kwh, 0)) AS kwh FROM reconciliation")
    assert float(apart[0]["kwh"]) == 0


def test_every_run_of_a_requeued_job_counts(folder, tmp_path):
    path = sacct(tmp_path / "s.txt", run(1, end="01:00:00"), run(1, start="02:00:00", end="03:30:00"))
    assert take(folder, "slurm-sacct", path, timezone="UTC").rows_accepted == 2
    assert rows(folder, "SELECT CAST(sum(chip_h) AS DOUBLE) AS h FROM jobs")[0]["h"] == pytest.approx(5)


def test_instances_have_hours_and_no_energy(folder, tmp_path):
    """An instance is no whole board; what is left of its host is neither idle nor busy."""
    lines = [run(1, "a-1", 14, 9_000_000, kind=":1g.10gb", account="mig"), run(2, "a-1", 3, account="whole")]
    take(folder, "slurm-sacct", sacct(tmp_path / "s.txt", *lines), timezone="UTC")
    assert rows(folder, "SELECT chip_id FROM core.job ORDER BY job_id")[0]["chip_id"] is None
    shown = rows(
        folder,
        "SELECT owner, tier, CAST(sum(chip_h) AS DOUBLE) AS h, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh "
        "FROM energy_hourly WHERE host = 'a-1' AND hour_utc < TIMESTAMPTZ '2026-01-05 02:00Z' "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert [tuple(row.values()) for row in shown] == [
        ("mig", "missing", 28.0, None),
        ("whole", "default", 6.0, pytest.approx(6 * BUSY_KW[A100])),
    ]
    assert not any("more chips given out" in finding.text for finding in doctor(folder).findings)


def test_readings_of_a_host_with_instances_are_not_idle(folder, tmp_path):
    take(
        folder,
        "slurm-sacct",
        sacct(tmp_path / "s.txt", run(1, "a-1", 2, kind=":1g.10gb", start="08:00:00", end="09:00:00")),
        timezone="UTC",
    )
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board([(minute, 200) for minute in range(60)], host="a-1")))
    shown = rows(
        folder,
        "SELECT owner, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly "
        "WHERE host = 'a-1' AND hour_utc = TIMESTAMPTZ '2026-01-05 08:00Z' GROUP BY 1 ORDER BY 1",
    )
    assert [tuple(row.values()) for row in shown] == [("p", None), ("unallocated", pytest.approx(0.2))]


def test_idle_that_opencost_lists_is_idle(folder, tmp_path):
    def entry(name, gpus):
        return {
            "name": f"cl/{name}",
            "properties": {"cluster": "cl", "node": "h-1", "namespace": name.split("/")[0], "pod": name.split("/")[1]},
            "window": {"start": "2026-01-05T00:00:00Z", "end": "2026-01-06T00:00:00Z"},
            "start": "2026-01-05T00:00:00Z",
            "end": "2026-01-06T00:00:00Z",
            "minutes": 1440,
            "gpuHours": gpus * 24.0,
        }

    path = tmp_path / "o.json"
    entries = {name: entry(name, gpus) for name, gpus in (("bio/a", 1), ("__idle__/__idle__", 1))}
    path.write_text(json.dumps({"code": 200, "data": [entries]}), encoding="utf-8")
    take(folder, "opencost", path)
    shown = rows(
        folder,
        "SELECT owner_kind, owner, CAST(sum(chip_h) AS DOUBLE) AS h, "
        "CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly WHERE host = 'h-1' "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert [tuple(row.values()) for row in shown] == [
        ("idle", "idle", 24.0, pytest.approx(24 * IDLE_KW[H100])),
        ("project", "bio", 24.0, pytest.approx(24 * BUSY_KW[H100])),
    ]


def test_codecarbon_has_energies_and_no_window(folder, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text(CODECARBON + f"2026-01-05T10:30:00,bio,r1,7200,0.1,0.5,0.7,DEU,1,1 x {H100}\n", encoding="utf-8")
    take(folder, "codecarbon", path, timezone="UTC", host="h-1")
    assert rows(folder, "SELECT * FROM core.log_window") == []
    shown = rows(
        folder,
        "SELECT owner, tier, attribution, CAST(sum(chip_h) AS DOUBLE) AS h, "
        "CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly GROUP BY ALL",
    )
    assert [tuple(row.values()) for row in shown] == [("bio", "measured", "job", pytest.approx(2), pytest.approx(0.5))]


def test_a_run_whose_chips_are_not_known(tmp_path, folder, monkeypatch):
    """Its energy counts over its time, without chip-hours; with neither chips nor energy there is nothing to count."""
    path = tmp_path / "e.csv"
    cells = "2026-01-05T10:30:00,bio,{},7200,0.1,{},0.7,DEU"
    path.write_text(CODECARBON + cells.format("r1", 0.5) + "\n" + cells.format("r2", 0) + "\n", encoding="utf-8")
    done = take(folder, "codecarbon", path, timezone="UTC", host="h-1")
    assert (done.rows_read, done.rows_accepted, done.rows_rejected) == (2, 1, 1)
    assert "neither how many chips" in done.first_reject
    assert any("without chip-hours" in note for note in done.notes)
    shown = rows(
        folder,
        "SELECT hour(hour_utc) AS h, CAST(chip_h AS DOUBLE) AS chip_h, "
        "CAST(energy_chip_kwh AS DOUBLE) AS kwh FROM energy_hourly ORDER BY 1",
    )
    assert [(row["chip_h"], row["kwh"]) for row in shown] == [(0, pytest.approx(kwh)) for kwh in (0.125, 0.25, 0.125)]
