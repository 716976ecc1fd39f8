"""Files larger than memory pass through the disk, packed ones are read as they are, and threads change no digit."""

import gzip
import resource

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingest_helpers import at, content, job, ledger, reading, rows, table, take

from energy.demo import SITE_FILE
from energy.example import write
from energy.ledger import telemetry as store_of_readings
from energy.ledger.intake import Request, ingest
from energy.ledger.reader import Ledger


def many_readings(path, days=3):
    lines = [
        f"2026-01-{5 + day:02d}T{minute // 60:02d}:{minute % 60:02d}:00Z,"
        f"h100-00{host},{gpu},{300 + minute % 97 + gpu},50"
        for minute in range(0, 1440, 7)
        for day in range(days)
        for host in (1, 2)
        for gpu in range(3)
    ]
    return table(path, "power", *lines)


def listed(folder):
    return rows(folder, "SELECT partition_path, content_sha256, row_count FROM raw.telemetry_file ORDER BY 1")


def test_spilling_gives_the_same_files(tmp_path, monkeypatch):
    path = many_readings(tmp_path / "a.csv")
    whole, spilt = ledger(tmp_path / "whole"), ledger(tmp_path / "spilt")
    take(whole, "power", path)
    monkeypatch.setattr(store_of_readings, "_BYTES_IN_MEMORY", 500)
    monkeypatch.setattr("energy.importers.tabular._CSV_BLOCK_BYTES", 1 << 13)
    spills = []
    real = store_of_readings.Stage._spill
    monkeypatch.setattr(store_of_readings.Stage, "_spill", lambda stage: (spills.append(1), real(stage)))
    take(spilt, "power", path)
    assert len(spills) > 3
    assert listed(spilt) == listed(whole)
    assert content(spilt) == content(whole)
    assert not (spilt / ".build-stage").exists()


@pytest.mark.parametrize("kind", ["gz", "zst", "gz of two members", "parquet", "parquet of many row groups"])
def test_packing_changes_nothing(tmp_path, kind):
    path = many_readings(tmp_path / "a.csv", days=1)
    text = path.read_bytes()
    packed = tmp_path / "b.bin"
    if kind.startswith("parquet"):
        header, *lines = text.decode().splitlines()
        cells = list(zip(*(line.split(",") for line in lines), strict=True))
        columns = dict(zip(header.split(","), map(pa.array, cells), strict=True))
        columns["ts"] = columns["ts"].cast(pa.timestamp("s", "UTC"))
        columns["gpu"] = columns["gpu"].cast(pa.uint8())
        pq.write_table(pa.table(columns), packed, row_group_size=37 if "many" in kind else None)
    elif kind == "zst":
        packed.write_bytes(pa.compress(text, "zstd", asbytes=True))
    elif kind == "gz":
        packed.write_bytes(gzip.compress(text))
    else:
        packed.write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))
    plain, other = ledger(tmp_path / "plain"), ledger(tmp_path / "other")
    take(plain, "power", path)
    take(other, "power", packed)
    assert listed(other) == listed(plain)


def test_rows_of_several_batches_meet_each_other(tmp_path, monkeypatch):
    """A run that a file repeats far below counts once, also when its rows come in different batches."""
    monkeypatch.setattr("energy.importers.tabular._CSV_BLOCK_BYTES", 1 << 11)
    lines = [job(number) for number in range(200)]
    folder = ledger(tmp_path / "ledger")
    done = take(folder, "jobs", table(tmp_path / "a.csv", "jobs", *lines, *lines, job(7, gpu_num=5)))
    assert (done.rows_accepted, done.rows_duplicate, done.rows_rejected) == (200, 200, 1)
    assert rows(folder, "SELECT count(*) AS n, count(DISTINCT job_key) AS keys FROM core.job") == [
        {"n": 200, "keys": 200}
    ]


def test_readings_of_several_batches_meet_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr("energy.importers.tabular._CSV_BLOCK_BYTES", 1 << 11)
    lines = [reading(minute) for minute in range(300)]
    folder = ledger(tmp_path / "ledger")
    done = take(folder, "power", table(tmp_path / "a.csv", "power", *lines, *lines, reading(7, power=1)))
    assert (done.rows_accepted, done.rows_duplicate, done.rows_rejected) == (300, 300, 1)


def test_totals_of_every_view_are_equal_on_one_and_two_threads(tmp_path):
    jobs, nodes, power, allocations, _ = write(tmp_path / "inputs", scale=0.05)
    window = {"covers_from": at("2026-01-01"), "covers_to": at("2026-04-01")}
    requests = [
        Request("hosts", nodes),
        Request("jobs", jobs, **window),
        Request("allocations", allocations),
        Request("power", power),
    ]
    found = []
    for threads in (1, 2):
        folder = ledger(tmp_path / f"ledger-{threads}", SITE_FILE)
        ingest(folder, requests, threads=threads)
        for reading_threads in (1, 2):
            with Ledger(folder, threads=reading_threads) as opened:
                found.append(view_totals(opened))
    assert found[0]
    assert all(other == found[0] for other in found[1:])


def view_totals(opened):
    """Sum every number of every view, by site where it has one: the exact decimals, not their text."""
    out = {}
    views = opened.rows("SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal ORDER BY 1")
    for view in (row["view_name"] for row in views):
        columns = opened.rows(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? AND schema_name = 'main'", [view]
        )
        sums = [
            f"sum(CAST({row['column_name']} AS DECIMAL(38, 12))) AS {row['column_name']}"
            for row in columns
            if row["data_type"].startswith(("DECIMAL", "BIGINT", "DOUBLE"))
        ]
        by = "site_id" if any(row["column_name"] == "site_id" for row in columns) else "'all' AS site_id"
        out[view] = opened.rows(f"SELECT {by}, count(*) AS n, {', '.join(sums)} FROM {view} GROUP BY ALL ORDER BY 1")
    return out


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """Ten times the rows in the same days take far less than ten times the memory."""
    monkeypatch.setattr(store_of_readings, "_BYTES_IN_MEMORY", 200_000)
    monkeypatch.setattr("energy.importers.tabular.ROWS_PER_BATCH", 50_000)
    size = 2_000_000
    path = tmp_path / "a.parquet"
    second = pa.array(range(size))
    day = 86_400
    stamp = pa.compute.add(second, 1_767_571_200).cast(pa.timestamp("s", "UTC"))  # 23 days of one device
    columns = {"ts": stamp, "host": pa.repeat("h100-001", size), "gpu": pa.repeat(0, size)}
    pq.write_table(pa.table(columns | {"power_w": pa.repeat(300.0, size), "gpu_util_pct": pa.repeat(50, size)}), path)
    del columns, stamp, second
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    folder = ledger(tmp_path / "ledger")
    done = take(folder, "power", path)
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert done.rows_accepted == size
    assert len(listed(folder)) == -(-size // day)
    assert grown_mb < 600
