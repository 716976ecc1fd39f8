"""Small ledgers and files for the tests of the way in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from energy.importers import Context, HostPeriod, importer
from energy.importers.mapping import load_mapping, match_mapping
from energy.importers.tabular import header_of
from energy.ledger.intake import Ingested, Request, ingest
from energy.ledger.reader import Ledger
from energy.ledger.site_file import expand_pattern, parse_site_file

H100 = "NVIDIA H100 80GB HBM3"
SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "h100-[001-003]", chip: NVIDIA H100 80GB HBM3, chips: 8}
      - {pattern: "a100-001", chip: NVIDIA A100-SXM4-80GB, chips: 8}
      - {pattern: "cpu-001", chip: NVIDIA H100 80GB HBM3, chips: 0}
"""
JOBS = "job_id,user,project,host,gpu_model,node_num,gpu_num,type,state,submit_time,start_time,end_time"
POWER = "ts,host,gpu,power_w,gpu_util_pct"
ALLOCATIONS = "job_id,host,gpu,start_time,end_time"
HOSTS = "host,gpu_model,gpus,site"
HEADERS = {"jobs": JOBS, "power": POWER, "allocations": ALLOCATIONS, "hosts": HOSTS}
GOOD = {
    "jobs": f"1,u,p,h100-001,{H100},1,4,T,COMPLETED,2026-01-05T08:00:00Z,2026-01-05T08:00:00Z,2026-01-05T10:00:00Z",
    "power": "2026-01-05T08:00:00Z,h100-001,0,500,80",
    "allocations": "1,h100-001,0,2026-01-05T08:00:00Z,2026-01-05T10:00:00Z",
    "hosts": f"x-1,{H100},8,hall",
}


def ledger(folder: Path, site: str = SITE) -> Path:
    """Make a ledger folder with its ``site.yaml``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(site, encoding="utf-8")
    return folder


def job(number: object = 1, **changes: object) -> str:
    """Make one line of a scheduler log."""
    row: dict[str, object] = dict(zip(JOBS.split(","), GOOD["jobs"].split(","), strict=True))
    row["job_id"] = number
    return ",".join(str(value) for value in (row | changes).values())


def reading(minute: int, host: str = "h100-001", gpu: object = 0, power: object = 500, use: object = 80) -> str:
    """Make one line of readings."""
    return f"2026-01-05T{8 + minute // 60:02d}:{minute % 60:02d}:00Z,{host},{gpu},{power},{use}"


def table(path: Path, format_name: str, *lines: str) -> Path:
    """Write a CSV with the header of a format."""
    path.write_text("\n".join([HEADERS[format_name], *lines]) + "\n", encoding="utf-8")
    return path


def take(folder: Path, format_name: str, path: Path, **options: Any) -> Ingested:
    """Ingest one file on one thread."""
    return ingest(folder, [Request(format_name, path, **options)], threads=1)[0]


def rows(folder: Path, sql: str) -> list[dict[str, Any]]:
    """Ask the published version."""
    with Ledger(folder, threads=1) as opened:
        return opened.rows(sql)


def rejects(folder: Path) -> list[tuple[int, str]]:
    """Return line and reason of every refused row."""
    return [
        (row["row_number"], row["reason"])
        for row in rows(folder, "SELECT row_number, reason FROM raw.rejects ORDER BY ALL")
    ]


TOTALS = (
    "SELECT quarter, owner, host, chip_id, tier, sum(chip_h) AS chip_h, sum(energy_chip_kwh) AS kwh, "
    "sum(energy_facility_kwh) AS facility FROM energy_hourly GROUP BY ALL ORDER BY ALL"
)


def totals(folder: Path) -> list[dict[str, Any]]:
    """Return totals to their last digit."""
    return rows(folder, TOTALS)


def content(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return what people read of a version, whole."""
    views = ("energy_hourly", "emissions_monthly", "jobs", "coverage", "reconciliation")
    with Ledger(folder, threads=1) as opened:
        return {name: opened.rows(f"SELECT * FROM {name} ORDER BY ALL") for name in views}


def leftovers(folder: Path) -> list[str]:
    """Return what a writer must not leave behind."""
    return sorted(path.name for path in folder.glob(".build-*"))


def telemetry(folder: Path) -> set[str]:
    """Return the telemetry files that lie in the folder."""
    return {str(path.relative_to(folder)) for path in (folder / "telemetry").rglob("*.parquet")}


def at(text: str) -> datetime:
    """Read a time of UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def context(site: str = SITE, **changes: Any) -> Context:
    """Return what an importer may ask about the fleet, without a ledger."""
    parsed = parse_site_file(site)
    hosts: dict[str, tuple[HostPeriod, ...]] = {}
    for site_id, described in parsed.sites.items():
        for group in described.hosts:
            period = HostPeriod(site_id, parsed.chip_of_name(group.chip), group.chips)
            hosts |= dict.fromkeys(expand_pattern(group.pattern), (period,))
    plain = Context(None, None, hosts, parsed.chip_of_name, tuple(parsed.sites))
    return replace(plain, **changes)


def read(
    format_name: str, path: Path, mapping: Path | None = None, **changes: Any
) -> tuple[Any, list[tuple[int, str]]]:
    """Import one file without a ledger: accepted rows as a table, refused rows as (line, reason)."""
    chosen = (
        match_mapping(header_of(path), format_name, path.name)
        if mapping is None
        else load_mapping(str(mapping), format_name)
    )
    batches = list(importer(format_name).read(path, chosen, context(**changes)))
    accepted = pa.concat_tables([batch.table for batch in batches], promote_options="permissive")
    refused = pa.concat_tables([batch.rejects for batch in batches]).to_pylist()
    assert accepted.num_rows + len(refused) == sum(batch.rows_read for batch in batches)
    return accepted, [(row["row_number"], row["reason"]) for row in refused]
