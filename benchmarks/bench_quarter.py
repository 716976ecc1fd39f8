"""The whole example quarter: ingest and build, report, ``energy demo``; time and peak memory of each.

Run: ``python benchmarks/bench_quarter.py``. Every step is a process of its own, so its peak memory is its own; figures
are shown, never asserted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIGABYTE = 1e9
MEMORY_TARGET_GB = 1.0

INGEST = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from energy.ledger.intake import Request, ingest
folder, inputs = Path(sys.argv[1]), Path(sys.argv[2])
start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
ingest(folder, [
    Request("hosts", inputs / "nodes.csv"),
    Request("jobs", inputs / "jobs_2026q1.parquet", covers_from=start, covers_to=end),
    Request("allocations", inputs / "job_gpu_alloc_week.csv"),
    Request("power", inputs / "gpu_power_1min_week.parquet"),
])
"""
REPORT = """
import sys
from pathlib import Path
from energy.ledger.reader import Ledger
from energy.report import build, write
with Ledger(Path(sys.argv[1])) as reader:
    write(build(reader, "2026Q1"), Path(sys.argv[2]))
"""


def measure(arguments: list[str]) -> tuple[float, float]:
    """Return wall time (s) and peak resident memory (GB) of one process."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    taken = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(arguments)[:80]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return taken, usage.ru_maxrss * unit / GIGABYTE


def show(name: str, arguments: list[str], target_s: float) -> None:
    """Measure a step and print it beside its targets."""
    taken, peak = measure(arguments)
    met = "met" if taken <= target_s and peak <= MEMORY_TARGET_GB else "MISSED"
    print(f"{name:24} {taken:6.1f} s (target {target_s:.0f})  {peak:5.2f} GB (target {MEMORY_TARGET_GB:.0f})  {met}")


def main() -> None:
    """Measure and print."""
    from energy.demo import SITE_FILE
    from energy.example import write

    with tempfile.TemporaryDirectory() as place:
        ledger = Path(place) / "ledger"
        ledger.mkdir()
        (ledger / "site.yaml").write_text(SITE_FILE, encoding="utf-8")
        begin = time.perf_counter()
        write(Path(place) / "inputs")
        print(f"{'inputs generated':24} {time.perf_counter() - begin:6.1f} s")
        show("ingest and build", ["-c", INGEST, str(ledger), str(Path(place) / "inputs")], 30)
        show("report, all formats", ["-c", REPORT, str(ledger), str(Path(place) / "report")], 5)
        show("energy demo", ["-m", "energy.cli", "demo", str(Path(place) / "demo")], 60)


if __name__ == "__main__":
    main()
