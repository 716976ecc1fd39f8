"""A fleet small enough to reckon by hand, taken in through the real ingest.

H100: bare idle 72.5 W (59 to 72.5), with context 121.7 W, maximum 700 W, at the default load 648 W, so busy without a
reading 121.7 + 0.53 (648 - 121.7) = 401 W. A100: idle 62 W, with context 80 W, maximum 400 W, at the default load
371 W, so busy 80 + 0.53 (371 - 80) = 234 W.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from energy.ledger.intake import Request, ingest
from energy.ledger.reader import Ledger

H100 = "NVIDIA H100 80GB HBM3"
A100 = "NVIDIA A100-SXM4-80GB"


def default_load_w(limit: float, context: float, memory: tuple[float, float], compute: tuple[float, float]) -> float:
    """Reckon the watts at 0.4 of peak and 0.3 of the bandwidth from gain and exponent of each (power_chip.csv)."""
    load = memory[0] * 0.3 ** memory[1] + compute[0] * 0.4 ** compute[1]
    return context + (0.99 * limit - context) * (1 - math.exp(-load))


# neither has a curve of its own: both take the H200's, of the nearest generation that was measured
IDLE_W = {H100: 72.5, A100: 62.0}
CONTEXT_W = {H100: 121.7, A100: 80.0}
WORKING_W = {
    H100: default_load_w(700.0, 121.7, (2.221, 1.006), (4.673, 0.9875)),
    A100: default_load_w(400.0, 80.0, (2.221, 1.006), (4.673, 0.9875)),
}
BUSY_W = {chip: CONTEXT_W[chip] + 0.53 * (WORKING_W[chip] - CONTEXT_W[chip]) for chip in WORKING_W}
# lowest reading of a board on which kernels run, and the band of the H200's curve on its kin (power_transfer.csv)
BUSY_LOW_W = BUSY_W[H100] * math.exp(
    -math.hypot(math.log((CONTEXT_W[H100] - 0.03 * (WORKING_W[H100] - CONTEXT_W[H100])) / BUSY_W[H100]), 0.3391)
)
BUSY_HIGH_W = 1.1 * 700.0
BUSY_KW, IDLE_KW = ({chip: watts[chip] / 1000 for chip in watts} for watts in (BUSY_W, IDLE_W))
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def at(text: str) -> datetime:
    """Read a time of UTC: ``2026-01-05 10:30``."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def site(hosts: Sequence[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Describe one site: overhead 1.25 and PUE 1.2 unless told otherwise."""
    plain = {"zone": "RFCE", "pue": 1.2, "node_overhead": 1.25, "hosts": list(hosts)}
    return plain | changes


def host(name: str, chips: int, chip: str = H100, **changes: Any) -> dict[str, Any]:
    """Describe one host."""
    return {"pattern": name, "chip": chip, "chips": chips} | changes


@dataclass
class Fleet:
    """A ledger folder and the files brought to it."""

    folder: Path
    sites: dict[str, Any]
    top: dict[str, Any] = field(default_factory=dict)
    files: int = 0

    def describe(self) -> None:
        """Write ``site.yaml``."""
        self.folder.mkdir(exist_ok=True)
        text = {"factor_policy": "nearest earlier", "reporting_timezone": "UTC"} | self.top | {"sites": self.sites}
        (self.folder / "site.yaml").write_text(yaml.safe_dump(text), encoding="utf-8")

    def _table(self, format_name: str, rows: Sequence[dict[str, Any]], mapping: dict[str, Any]) -> tuple[Path, Path]:
        self.files += 1
        path = self.folder.parent / f"{format_name}-{self.files}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
        rules = path.with_suffix(".yaml")
        rules.write_text(yaml.safe_dump({"format": format_name, **mapping}), encoding="utf-8")
        return path, rules

    def jobs(self, rows: Sequence[dict[str, Any]], start: str, end: str, **options: Any) -> Request:
        """Make a scheduler log that is whole from ``start`` to ``end``."""
        columns: dict[str, Any] = {"job_id": "id", "start_utc": "start", "end_utc": "end", "chip_count": "chips"}
        optional = {"host": "host", "project": "project", "chip_name": "chip"}
        columns |= {name: column for name, column in optional.items() if column in rows[0]}
        if "kwh" in rows[0]:
            columns["energy"] = {"column": "kwh", "unit": "kWh_chip"}
        path, mapping = self._table("jobs", rows, {"columns": columns})
        return Request("jobs", path, str(mapping), covers_from=at(start), covers_to=at(end), **options)

    def allocations(self, rows: Sequence[dict[str, Any]]) -> Request:
        """Make a list of devices given to jobs."""
        columns = {"job_id": "id", "host": "host", "device_index": "gpu", "start_utc": "start", "end_utc": "end"}
        path, mapping = self._table("allocations", rows, {"columns": columns})
        return Request("allocations", path, str(mapping))

    def readings(self, rows: Sequence[dict[str, Any]], interval: str = "60 s") -> Request:
        """Make a file of readings: any of w (watts), use (percent), j (joules), and sm, tensor, dram (shares)."""
        columns: dict[str, Any] = {"time_utc": "time", "host": "host", "device_index": "gpu"}
        known = {"w": ("power", "W_chip"), "use": ("utilisation", "%"), "j": ("energy", "J_chip")}
        known |= {"sm": ("sm_active", "1"), "tensor": ("tensor_active", "1"), "dram": ("dram_active", "1")}
        columns |= {name: {"column": key, "unit": unit} for key, (name, unit) in known.items() if key in rows[0]}
        path, mapping = self._table("power", rows, {"interval": interval, "columns": columns})
        return Request("power", path, str(mapping))

    def ingest(self, *requests: Request) -> None:
        """Take files in; every row must be accepted."""
        self.describe()
        for done in ingest(self.folder, requests, threads=1):
            assert done.rows_rejected == 0, done.first_reject

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Ask the published version."""
        with Ledger(self.folder, threads=1) as ledger:
            return ledger.rows(sql)

    def total(self, value: str, *keys: str, view: str = "energy_hourly", where: str = "true") -> dict[Any, Any]:
        """Sum a column by keys; a sum of nulls is None."""
        names = ", ".join(keys) or "'all'"
        out: dict[Any, Any] = {}
        for row in self.rows(
            f"SELECT {names}, CAST(sum({value}) AS DOUBLE) AS amount FROM {view} WHERE {where} GROUP BY ALL"
        ):
            *key, amount = row.values()
            out[key[0] if len(key) == 1 else tuple(key)] = amount
        return out

    def balance(self) -> dict[str, list[float]]:
        """Sum the differences of the reconciliation by site: chip-hours, energy."""
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for row in self.rows("SELECT * FROM reconciliation"):
            sums[row["site_id"]][0] += float(row["difference_chip_h"] or 0)
            sums[row["site_id"]][1] += float(row["difference_energy_chip_kwh"] or 0)
        return {key: [round(value, 6) for value in values] for key, values in sums.items()}


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return "" if value is None else value


def job(number: str, where: str | None, chips: float, start: str, end: str | None, **more: Any) -> dict[str, Any]:
    """Make one run of a job of project ``p``, unless ``more`` says otherwise."""
    row = {
        "id": number,
        "host": where,
        "project": "p",
        "chips": chips,
        "start": at(start),
        "end": None if end is None else at(end),
    }
    return row | more


def holds(number: str, where: str, gpu: int, start: str, end: str) -> dict[str, Any]:
    """Give one device to a job."""
    return {"id": number, "host": where, "gpu": gpu, "start": at(start), "end": at(end)}


def every_minute(where: str, gpu: int, start: str, end: str, **values: Any) -> list[dict[str, Any]]:
    """Read one device at every full minute of ``[start, end)``."""
    first = at(start)
    count = int((at(end) - first) / MINUTE)
    return [{"time": first + minute * MINUTE, "host": where, "gpu": gpu, **values} for minute in range(count)]
