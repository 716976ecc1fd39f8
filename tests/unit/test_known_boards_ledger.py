"""Readings of boards in known formats, brought to a ledger: each board once, wherever it sits."""

import json

import pytest
from ingest_helpers import rejects, rows, take
from known_ledger import AT_MS, COUNTER, H100, POWER, USE, board, fleet, read, run, sacct, sample, scrape
from tiny_fleet import BUSY_KW


@pytest.fixture
def folder(tmp_path):
    return fleet(tmp_path)


def test_instances_of_a_board_are_one_board(folder, tmp_path):
    lines = [
        sample(metric, minute, value, GPU_I_ID=number, GPU_I_PROFILE="1g.10gb")
        for minute in range(3)
        for number in (7, 8, 9)
        for metric, value in ((POWER, 214.5), (USE, number * 10))
    ]
    done = take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert (done.rows_read, done.rows_accepted, done.rows_rejected) == (9, 3, 0)
    assert "6 rows were joined with others of the same device and time" in done.notes
    assert read(folder) == {("h-1", 0, "integrated"): (180, 214.5 * 180)}


def test_a_board_that_moves_to_another_host(folder, tmp_path):
    lines = board([(0, 500), (1, 500)], [(0, 0.0), (1, 30_000.0)], uuid="GPU-x")
    lines += board([(10, 400), (11, 400)], [(10, 90_000.0), (11, 114_000.0)], uuid="GPU-x", host="h-2", gpu=1)
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert read(folder) == {
        ("h-1", 0, "measured"): (60, 30_000),
        ("h-1", 0, "integrated"): (60, 30_000),
        ("h-2", 1, "measured"): (60, 24_000),
        ("h-2", 1, "integrated"): (60, 24_000),
    }


def test_a_board_that_leaves_its_slot_and_comes_back(folder, tmp_path):
    for number, gpu in enumerate((0, 1, 0)):
        lines = board([(number * 10, 500), (number * 10 + 1, 500)], uuid="GPU-x", gpu=gpu)
        take(folder, "dcgm", scrape(tmp_path / f"{number}.prom", *lines))
    known = rows(folder, "SELECT device_index FROM core.device ORDER BY 1")
    assert [row["device_index"] for row in known] == [0, 1]
    assert read(folder) == {("h-1", 0, "integrated"): (240, 120_000), ("h-1", 1, "integrated"): (120, 60_000)}


def test_a_board_by_its_name_alone_gets_its_index_later(folder, tmp_path):
    head = "timestamp, uuid, power.draw [W]"
    lines = [f"2026/01/05 08:0{minute}:00.000, GPU-x, 500.00 W" for minute in range(3)]
    path = tmp_path / "smi.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    take(folder, "nvidia-smi", path, host="h-1", timezone="UTC")
    assert [key[1] for key in read(folder)] == [-2]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board([(2, 500), (3, 500)], uuid="GPU-x", gpu=1)))
    assert read(folder) == {("h-1", 1, "integrated"): (240, 120_000)}


@pytest.mark.parametrize("first", ["readings", "allocation"])
def test_an_allocation_by_index_finds_the_board_by_name(folder, tmp_path, first):
    listed = tmp_path / "given.csv"
    listed.write_text(
        "job_id,host,gpu,start_time,end_time\n1,h-1,1,2026-01-05T08:00:00Z,2026-01-05T09:00:00Z\n", encoding="utf-8"
    )
    minutes = range(60)
    path = scrape(tmp_path / "r.prom", *board([(m, 100) for m in minutes]), *board([(m, 600) for m in minutes], gpu=1))
    files = {"readings": ("dcgm", path), "allocation": ("allocations", listed)}
    take(
        folder,
        "slurm-sacct",
        sacct(tmp_path / "s.txt", run(1, gpus=1, start="08:00:00", end="09:00:00")),
        timezone="UTC",
    )
    for name in (first, *({"readings", "allocation"} - {first})):
        take(folder, *files[name])
    line = rows(
        folder,
        "SELECT attribution, CAST(energy_chip_kwh AS DOUBLE) AS kwh FROM energy_hourly WHERE job_key IS NOT NULL",
    )
    assert [tuple(row.values()) for row in line] == [("device", pytest.approx(0.6))]


def test_a_board_that_was_exchanged(folder, tmp_path):
    """The log does not say which board of the slot it means: the run shares its host's readings, each once."""
    lines = board([(m, 500) for m in range(30)], uuid="GPU-x") + board([(m, 600) for m in range(30, 60)], uuid="GPU-y")
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    listed = tmp_path / "given.csv"
    listed.write_text(
        "job_id,host,gpu,start_time,end_time\n1,h-1,0,2026-01-05T08:00:00Z,2026-01-05T09:00:00Z\n", encoding="utf-8"
    )
    take(folder, "allocations", listed)
    path = sacct(tmp_path / "s.txt", run(1, gpus=2, start="08:00:00", end="09:00:00"))
    take(folder, "slurm-sacct", path, timezone="UTC")
    line = rows(
        folder,
        "SELECT tier, CAST(sum(chip_h) AS DOUBLE) AS h, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh "
        "FROM energy_hourly WHERE job_key IS NOT NULL GROUP BY 1 ORDER BY 1",
    )
    assert [tuple(row.values()) for row in line] == [
        ("default", 1.0, pytest.approx(BUSY_KW[H100])),
        ("integrated", 1.0, pytest.approx(0.55)),
    ]


def test_readings_that_have_no_place_are_refused(folder, tmp_path):
    lines = board([(0, 500)], host="nowhere") + board([(0, 500)], gpu=2) + board([(0, 500)], host=None)
    lines = [line.replace('Hostname="None",', "") for line in lines]
    done = take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert (done.rows_read, done.rows_accepted, done.rows_rejected) == (3, 0, 3)
    reasons = [reason for _, reason in rejects(folder)]
    assert "host nowhere is in no site" in reasons[0]
    assert reasons[1] == "device 2 of host h-1, which has 2 (0 to 1): correct the index, or chips in site.yaml"
    assert "--host" in reasons[2]


def test_power_and_counter_in_series_of_their_own(folder, tmp_path):
    labels = {"gpu": "0", "UUID": "GPU-0", "Hostname": "h-1", "modelName": H100}
    series = [
        {"metric": {"__name__": name, **labels}, "values": [[AT_MS / 1000 + 60 * m, str(value(m))] for m in range(4)]}
        for name, value in ((POWER, lambda _: 450), (COUNTER, lambda m: 1_000_000 + m * 30_000_000))
    ]
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}))
    done = take(folder, "prometheus-range", path)
    assert (done.rows_read, done.rows_accepted, done.rows_duplicate) == (8, 4, 0)
    assert read(folder) == {("h-1", 0, "measured"): (180, 90_000), ("h-1", 0, "integrated"): (60, 27_000)}
