"""How fast files come in: rows/s of reading, checking and storing, the whole time with the build, and peak memory.

Run ``python benchmarks/bench_ingest.py [--job-rows N] [--power-rows N]``. The inputs are generated in a temporary
folder: jobs with unique ids as Parquet, and one-minute readings of 1,000 devices on hosts of 8. "rows" is the time of
import, checks and storage of the rows (staging and raw insert); "with build" is the whole ``ingest`` call. Each ingest
runs in a process of its own, so that the peak is that of one file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHIPS = 8
HOSTS = 125
START_S = 1_767_225_600  # 2026-01-01T00:00:00Z
SITE_FILE = f"""\
factor_policy: nearest any
sites:
  bench:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.3
    hosts:
      - {{pattern: "node-[001-{HOSTS:03d}]", chip: NVIDIA H100 80GB HBM3, chips: {CHIPS}}}
"""


def _hosts(places: np.ndarray) -> pa.Array:
    names = pa.array([f"node-{number:03d}" for number in range(1, HOSTS + 1)])
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), names).cast(pa.string())


def _times(seconds: np.ndarray) -> pa.Array:
    return pa.array(seconds * 1_000_000).cast(pa.timestamp("us", "UTC"))


def write_jobs(path: Path, rows: int) -> None:
    """Write short jobs of one chip, each host a queue of jobs one after the other on each of its chips."""
    place = np.arange(rows)
    slot = place % (HOSTS * CHIPS)
    length = max(60, 90 * 86_400 // (rows // (HOSTS * CHIPS) + 1))
    start = START_S + (place // (HOSTS * CHIPS)) * length
    project = pa.array(["vision", "speech", "bio", "llm"]).take(pa.array(place % 4))
    table = pa.table(
        {
            "job_id": pa.array(place + 5_000_000).cast(pa.string()),
            "user": pa.array([f"u{number}" for number in range(97)]).take(pa.array(place % 97)),
            "project": project,
            "host": _hosts(slot // CHIPS),
            "gpu_model": pa.array(["NVIDIA H100 80GB HBM3"] * rows),
            "node_num": pa.array(np.ones(rows, np.int64)),
            "gpu_num": pa.array(np.ones(rows, np.int64)),
            "type": project,
            "state": pa.array(["COMPLETED"] * rows),
            "submit_time": _times(start - 5),
            "start_time": _times(start),
            "end_time": _times(start + length - 1),
        }
    )
    pq.write_table(table, path)


def write_power(path: Path, rows: int) -> None:
    """Write minute after minute of all devices, as a monitoring system exports them."""
    devices = HOSTS * CHIPS
    with pq.ParquetWriter(path, _power_schema()) as writer:
        for first in range(0, rows, 1 << 20):
            row = np.arange(first, min(rows, first + (1 << 20)))
            device = row % devices
            table = pa.table(
                {
                    "ts": _times(START_S + row // devices * 60),
                    "host": _hosts(device // CHIPS),
                    "gpu": pa.array((device % CHIPS).astype(np.int8)),
                    "power_w": pa.array((300 + row % 317).astype(np.float32)),
                    "gpu_util_pct": pa.array((row % 101).astype(np.int8)),
                }
            )
            writer.write_table(table.cast(_power_schema()))


def _power_schema() -> pa.Schema:
    stamp = pa.timestamp("us", "UTC")
    kinds = {"ts": stamp, "host": pa.string(), "gpu": pa.int8(), "power_w": pa.float32(), "gpu_util_pct": pa.int8()}
    return pa.schema(list(kinds.items()))


def run(format_name: str, path: Path, folder: Path) -> dict[str, float]:
    """Ingest one file and return seconds for rows and for the whole, and the peak of memory in MB."""
    from energy.ledger.intake import Request, ingest

    marks: dict[str, float] = {}
    began = time.perf_counter()
    results = ingest(
        folder,
        [Request(format_name, path)],
        progress=lambda text: marks.update({text.split()[0]: time.perf_counter() - began}),
    )
    whole = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows_s = marks["building"] - marks["reading"]
    return {"rows": results[0].rows_accepted, "rows_s": rows_s, "whole_s": whole, "peak_mb": peak}


def main() -> None:
    """Write the inputs, ingest each in its own process, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-rows", type=int, default=2_000_000)
    parser.add_argument("--power-rows", type=int, default=10_000_000)
    parser.add_argument("--run", nargs=3, metavar=("FORMAT", "FILE", "LEDGER"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        print(json.dumps(run(chosen.run[0], Path(chosen.run[1]), Path(chosen.run[2]))))
        return
    with tempfile.TemporaryDirectory() as name:
        for format_name, rows, write in (
            ("jobs", chosen.job_rows, write_jobs),
            ("power", chosen.power_rows, write_power),
        ):
            folder = Path(name) / format_name
            folder.mkdir()
            (folder / "site.yaml").write_text(SITE_FILE, encoding="utf-8")
            path = Path(name) / f"{format_name}.parquet"
            write(path, rows)
            command = [sys.executable, __file__, "--run", format_name, str(path), str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{format_name}: {done.stderr.strip()}")
            found = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{format_name:6} {found['rows']:12,.0f} rows  {found['rows'] / found['rows_s']:12,.0f} rows/s  "
                f"rows {found['rows_s']:7.2f} s  with build {found['whole_s']:7.2f} s  peak {found['peak_mb']:6,.0f} MB"
            )


if __name__ == "__main__":
    main()
