"""How fast answers of Prometheus and exporters' texts are read, in MB/s of the file.

Run: ``python benchmarks/bench_prometheus.py``. Times are shown, never asserted.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from energy.importers.base import Context
from energy.importers.dcgm import importer as dcgm
from energy.importers.prometheus_range import importer as prometheus_range

START_S = 1_767_600_000
SERIES, SAMPLES = 100, 11_000  # Prometheus gives at most 11,000 samples a series
REPEATS = 5
LABELS = 'UUID="GPU-{0}",gpu="{1}",device="nvidia{1}",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-{2}",pod="p-{0}"'


def write_range(path: Path, indent: int | None) -> None:
    """Write an answer to query_range: a day of 100 boards."""
    result = [
        {
            "metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "Hostname": f"gpu-{n // 8}", "UUID": f"GPU-{n}"},
            "values": [[START_S + 8 * k, f"{500 + (n * 31 + k * 7) % 200}.{k % 1000:03d}"] for k in range(SAMPLES)],
        }
        for n in range(SERIES)
    ]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    separators = (",", ":") if indent is None else None
    path.write_text(json.dumps(answer, indent=indent, separators=separators), encoding="utf-8")


def write_scrapes(path: Path) -> None:
    """Write an exposition text with times: 100 boards, 300 scrapes, with a metric that is not read."""
    lines = []
    for scrape in range(300):
        for name in ("POWER_USAGE", "TOTAL_ENERGY_CONSUMPTION", "GPU_UTIL", "MEMORY_TEMP"):
            lines += [
                f"DCGM_FI_DEV_{name}{{{LABELS.format(n, n % 8, n // 8)}}} {60 + scrape % 40} {START_S + 30 * scrape}000"
                for n in range(SERIES)
            ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rate(importer: Any, path: Path) -> str:
    """Return the median rate of reading a file."""
    times, rows = [], 0
    for _ in range(REPEATS):
        context = Context(None, "UTC", {}, lambda name, dialect: None)
        start = time.perf_counter()
        rows = sum(batch.table.num_rows for batch in importer.read(path, None, context))
        times.append(time.perf_counter() - start)
    size = path.stat().st_size / 1e6
    seconds = statistics.median(times)
    return f"{size:.0f} MB, {rows:,} rows: {size / seconds:.0f} MB/s, {rows / seconds / 1e6:.2f} million rows/s"


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        compact, pretty, text = (Path(folder) / name for name in ("compact.json", "pretty.json", "scrapes.prom"))
        write_range(compact, None)
        write_range(pretty, 2)
        write_scrapes(text)
        print(f"Python {sys.version.split()[0]}")
        print(f"query_range, compact: {rate(prometheus_range, compact)}")
        print(f"query_range, indented: {rate(prometheus_range, pretty)}")
        print(f"DCGM exporter's text: {rate(dcgm, text)}")


if __name__ == "__main__":
    main()
