"""How fast Slurm accounting comes in: rows/s from text to typed rows of kind ``jobs``.

Run: ``python benchmarks/bench_sacct.py [--lines N]``. The text is generated in a temporary folder as ``sacct
--parsable2`` writes it: 30 % jobs on one to four nodes and 70 % steps, local times of Berlin, typed GPUs, energies.
The second figure is a log of jobs alone (``sacct -X``).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from energy.importers import Context, HostPeriod
from energy.importers.slurm_sacct import importer

HEADER = (
    "JobIDRaw|JobID|Cluster|User|Account|Partition|QOS|JobName|State|Submit|Start|End|Elapsed|ElapsedRaw|NNodes|"
    "AllocTRES|ConsumedEnergy|ConsumedEnergyRaw|NodeList|ExitCode"
)
NODES = 125
TARGET = 100_000
STEPS = (".batch", ".extern", ".0")


def lines_of(count: int, *, steps: bool) -> list[str]:
    """Return lines of a log."""
    first = datetime(2026, 1, 1)
    lines: list[str] = []
    number = 0
    while len(lines) < count:
        number += 1
        start = first + timedelta(seconds=37 * number % 7_000_000)
        span = 60 + number * 7919 % 80_000
        nodes = 1 + number % 4 if number % 5 == 0 else 1
        at = number % (NODES - nodes) + 1
        hosts = f"node-{at:03d}" if nodes == 1 else f"node-[{at:03d}-{at + nodes - 1:03d}]"
        gpus, joules = 8 * nodes, 5000 * nodes * span
        times = "|".join(f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in (start, start, start + timedelta(seconds=span)))
        rest = (
            f"{times}|{span // 3600:02d}:{span // 60 % 60:02d}:{span % 60:02d}|{span}|{nodes}|billing=112,cpu=112,"
            f"gres/gpu:h100={gpus},gres/gpu={gpus},mem={number % 64}G,node={nodes}|{joules / 1e6:.2f}M|{joules}|"
            f"{hosts}|0:0"
        )
        head = f"siteA|user{number % 97}|project{number % 13}|h100|normal|train|COMPLETED"
        lines.append(f"{number}|{number}|{head}|{rest}")
        if steps:
            lines += [f"{number}{step}|{number}{step}|siteA|||||{step}|COMPLETED|{rest}"[:-1] for step in STEPS]
    return lines[:count]


def measure(path: Path, lines: int, name: str) -> None:
    """Read a log five times and print the median rate."""
    period = (HostPeriod("hall", "nvidia_h100_sxm5_80", 8),)
    hosts = {f"node-{number:03d}": period for number in range(1, NODES + 1)}
    taken, rows, refused = [], 0, 0
    for _ in range(5):
        context = Context(None, "Europe/Berlin", hosts, lambda name, dialect: "nvidia_h100_sxm5_80")
        start = time.perf_counter()
        batches = list(importer.read(path, None, context))
        taken.append(time.perf_counter() - start)
        rows, refused = sum(b.table.num_rows for b in batches), sum(b.rejects.num_rows for b in batches)
    rate = lines / statistics.median(taken)
    met = "met" if rate >= TARGET else "MISSED"
    print(f"{name:16} {rate:12,.0f} rows/s (target {TARGET:,})  {met}; {rows:,} typed rows, {refused:,} refused")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=200_000)
    count = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in (("jobs and steps", True), ("jobs alone", False)):
            path = Path(folder) / "sacct.txt"
            path.write_text("\n".join([HEADER, *lines_of(count, steps=steps)]) + "\n", encoding="utf-8")
            measure(path, count, name)


if __name__ == "__main__":
    main()
