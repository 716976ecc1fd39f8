"""A small ledger in memory for the tests of the report: hand-made core rows under the real DDL and views.

Two sites, three months, a few hours in each; readings with a gap, a chip that the log does not disclose, a default, an
hourly zone, a residual mix of CO2 only. All values are invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from energy.provenance import factor_basis
from energy.schema import TABLES
from energy.schema.ddl import create_table

SQL = Path(__file__).resolve().parents[1] / "energy" / "ledger" / "sql"
VIEW_ORDER = (
    "energy_hourly",
    "energy_monthly",
    "site_hourly",
    "emission_lines",
    "emissions_hourly",
    "emissions_monthly",
    "emissions_quarterly",
    "jobs",
    "coverage",
    "reconciliation",
    "factors_used",
    "supply_hourly",
    "water_hourly",
    "water_monthly",
)
HOUR = timedelta(hours=1)
FIRST = {
    1: datetime(2026, 1, 5, tzinfo=UTC),
    2: datetime(2026, 2, 10, tzinfo=UTC),
    3: datetime(2026, 3, 29, tzinfo=UTC),
}
HOURS = 6
GAP = (2, 3)  # of January, on host lul-1


class MemoryLedger:
    """What the report asks of a ledger, on a DuckDB in memory."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, version: int = 3) -> None:
        self.connection = connection
        self.version = version
        self.asked: list[str] = []

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        self.asked.append(sql)
        cursor = self.connection.execute(sql, list(parameters))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def insert(self, table: str, **values: Any) -> None:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(values.values()))


def empty_ledger() -> MemoryLedger:
    """Return a ledger with all tables and views, and no row."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone='UTC'")
    for layer in ("raw", "ref", "core"):
        connection.execute(f"CREATE SCHEMA {layer}")
    for table in TABLES.values():
        if table.kind == "table":
            connection.execute(create_table(table))
    for name in VIEW_ORDER:
        connection.execute(f"CREATE VIEW main.{name} AS {(SQL / f'{name}.sql').read_text(encoding='utf-8')}")
    return MemoryLedger(connection)


@contextmanager
def small_ledger(
    basis_mix: str = "CO2+CO2e",
    projects: Sequence[str] = ("llm-pretrain", "bio"),
    residual_attribution: str = "production",
) -> Iterator[MemoryLedger]:
    """Give the small ledger; an empty ``basis_mix`` forbids the market total."""
    ledger = empty_ledger()
    try:
        _reference(ledger, basis_mix, residual_attribution)
        _files(ledger)
        for quarter_month, first in FIRST.items():
            for place in range(HOURS):
                _hour(ledger, quarter_month, first + place * HOUR, place, projects)
        _jobs(ledger, projects)
        yield ledger
    finally:
        ledger.connection.close()


def _reference(ledger: MemoryLedger, basis_mix: str, residual_attribution: str) -> None:
    settings = {
        "reporting_timezone": "Europe/Dublin",
        "entity": "Example Compute Ltd (synthetic)",
        "consolidation": "operational control",
    }
    if basis_mix:
        settings["basis_mix"] = basis_mix
    for name, value in settings.items():
        ledger.insert("ref.setting", key_name=name, key_value=value)
    ledger.insert("core.site", site_id="lul", site_name="Luleå", zone_id="SE", timezone="Europe/Stockholm")
    ledger.insert("core.site", site_id="phx", site_name="Phoenix", zone_id="US-AZNM", timezone="America/Phoenix")
    for chip, name, busy, idle in (("h100-sxm", "H100 SXM", 600, 90), ("a100-sxm-80", "A100 SXM 80 GB", 330, 60)):
        ledger.insert(
            "ref.chip",
            chip_id=chip,
            chip_name=name,
            vendor="NVIDIA",
            family="x",
            form_factor="SXM",
            tdp_chip_w=700.0,
            tdp_kind="maximum",
            source="made up",
            status="catalogue",
        )
        for state, power in (("busy", busy), ("idle", idle)):
            ledger.insert(
                "ref.chip_power",
                chip_id=chip,
                chip_state=state,
                power_chip_w=power,
                power_chip_low80_w=power * 0.8,
                power_chip_high80_w=power * 1.1,
                power_chip_low_w=power * 0.7,
                power_chip_high_w=power * 1.2,
                source="made up",
                status="default",
            )
    hosts = (("lul-1", "lul", "h100-sxm", 8), ("phx-1", "phx", "a100-sxm-80", 4), ("phx-2", "phx", None, 2))
    for host, site, chip, count in hosts:
        ledger.insert(
            "core.host",
            host=host,
            site_id=site,
            chip_id=chip,
            chip_name_given=chip or "secret chip",
            installed_chip_count=count,
            node_overhead=1.25,
            node_overhead_low=1.15,
            node_overhead_high=1.4,
            status="default",
        )
    for index in range(8):
        ledger.insert("core.device", device_key=index + 1, host="lul-1", device_index=index, device_scope="board")
    _factor(ledger, "se-loc-2024", "location", "SE", 2024, "direct", "CO2e", "AR5", 9.1)
    _factor(ledger, "se-res-2023", "residual", "SE", 2023, "direct", "CO2 only", "none", 61.5, residual_attribution)
    _factor(ledger, "aznm-loc-2022", "location", "US-AZNM", 2022, "direct", "CO2e", "AR5", 352.7)
    _factor(ledger, "aznm-hours-2024", "month-hour profile", "US-AZNM", 2024, "direct", "CO2e", "AR5", 340.0)


def _factor(
    ledger: MemoryLedger, factor_id: str, kind: str, zone: str, year: int, boundary: str, gases: str,
    gwp_set: str, value: float, attribution: str = "production",
) -> None:  # fmt: skip
    ledger.insert(
        "ref.factor", factor_id=factor_id, basis=factor_basis(boundary, attribution, gases, gwp_set).words,
        factor_kind=kind, zone_id=zone, factor_year=year, boundary=boundary, factor_attribution=attribution,
        gases=gases, gwp_set=gwp_set, publisher="Example agency", source="made up for tests", edition="1",
        licence="CC0", status="catalogue", intensity_gco2e_per_kwh_facility=value,
    )  # fmt: skip


def _files(ledger: MemoryLedger) -> None:
    for batch, format_, name, read, rejected in ((1, "jobs", "jobs.csv", 12, 2), (2, "power", "power.parquet", 900, 0)):
        ledger.insert(
            "raw.batch",
            batch_id=batch,
            format=format_,
            file_name=name,
            file_sha256=str(batch) * 64,
            mapping_sha256="f" * 64,
            rows_read=read,
            rows_accepted=read - rejected,
            rows_rejected=rejected,
            rows_duplicate=0,
        )
    for line in (4, 9):
        ledger.insert(
            "raw.rejects",
            batch_id=1,
            format="jobs",
            file_name="jobs.csv",
            row_number=line,
            reason="end is before start; correct the row",
            row_text=f'j{line},2026-01-05,<b>&"',
        )
    ledger.insert(
        "raw.telemetry_file",
        partition_path="telemetry/site=lul/date=2026-01-05/a.parquet",
        content_sha256="a" * 64,
        site_id="lul",
        local_date="2026-01-05",
        row_count=900,
    )


_FACTORS = {
    ("lul", "location"): ("se-loc-2024", 9.1, 2024),
    ("lul", "market"): ("se-res-2023", 61.5, 2023),
    ("phx", "location"): ("aznm-loc-2022", 352.7, 2022),
    ("phx", "market"): ("aznm-loc-2022", 352.7, 2022),
    ("phx", "hourly"): ("aznm-hours-2024", 0.0, 2024),
}


def _hour(ledger: MemoryLedger, month: int, hour: datetime, place: int, projects: Sequence[str]) -> None:
    local = hour if (hour.month, hour.day, hour.hour) < (3, 29, 1) else hour + HOUR
    ledger.insert(
        "ref.calendar_hour",
        hour_utc=hour,
        local_date=f"{local:%Y-%m-%d}",
        local_hour=local.hour,
        month=f"2026-{month:02}",
        quarter="2026Q1",
        year=2026,
    )
    for site, pue in (("lul", 1.08), ("phx", 1.31)):
        ledger.insert(
            "core.pue_hour",
            site_id=site,
            hour_utc=hour,
            pue=pue,
            pue_low=pue - 0.03,
            pue_high=pue + 0.05,
            source="site.yaml",
            status="given",
        )
        ledger.insert(
            "core.supply_hour", site_id=site, hour_utc=hour, grid_share=1.0, source="site.yaml", status="given"
        )
    for (site, method), (factor_id, value, year) in _FACTORS.items():
        note = "no residual mix exists: grid average" if (site, method) == ("phx", "market") else None
        ledger.insert(
            "core.factor_hour",
            site_id=site,
            hour_utc=hour,
            method=method,
            factor_id=factor_id,
            intensity_gco2e_per_kwh_facility=value or 300.0 + 10 * place,
            year_policy="nearest earlier",
            year_note=f"{year} for activity of 2026: {2026 - year} years earlier",
            note=note,
        )
    for host, site, chip, count in (
        ("lul-1", "lul", "h100-sxm", 8), ("phx-1", "phx", "a100-sxm-80", 4), ("phx-2", "phx", None, 2),
    ):  # fmt: skip
        ledger.insert(
            "core.installed_hour", hour_utc=hour, site_id=site, host=host, chip_id=chip, installed_chip_h=count
        )
    _lines(ledger, month, hour, place, projects)


def _lines(ledger: MemoryLedger, month: int, hour: datetime, place: int, projects: Sequence[str]) -> None:
    first, second = projects
    read = month == 1 and place not in GAP
    # Luleå: six chips of the first project, one idle, one with no known owner.
    for owner_kind, owner, job, chips, watts in (
        ("project", first, 1, 6, 640.0 + 3 * place),
        ("idle", "idle", None, 1, 95.0),
        ("unallocated", "unallocated", 3, 1, 300.0),
    ):  # fmt: skip
        tier = "integrated" if read else "default"
        kwh = round(chips * watts / 1000, 6)
        spread = (0.98, 1.02) if read else (0.7, 1.2)
        _line(ledger, hour, "lul", "lul-1", owner_kind, owner, job, "h100-sxm", tier, chips, kwh, spread)
        if read:
            _reading(ledger, hour, chips, kwh, {"project": 1, "idle": 7, "unallocated": 8}[owner_kind])
    # Phoenix: a default half in use, and a chip that the log does not disclose.
    _line(ledger, hour, "phx", "phx-1", "project", second, 2, "a100-sxm-80", "default", 3, 0.99, (0.7, 1.2))
    _line(ledger, hour, "phx", "phx-1", "idle", "idle", None, "a100-sxm-80", "default", 1, 0.06, (0.7, 1.2))
    _line(ledger, hour, "phx", "phx-2", "project", second, 2, None, "missing", 2, None, (1, 1))


def _line(
    ledger: MemoryLedger, hour: datetime, site: str, host: str, owner_kind: str, owner: str, job: int | None,
    chip: str | None, tier: str, chips: float, kwh: float | None, spread: tuple[float, float],
) -> None:  # fmt: skip
    ledger.insert(
        "core.energy_hour", hour_utc=hour, site_id=site, host=host, owner_kind=owner_kind, owner=owner, job_key=job,
        chip_id=chip, tier=tier, attribution="device" if tier == "integrated" else "none", chip_h=chips,
        energy_chip_kwh=kwh, energy_chip_low_kwh=None if kwh is None else round(kwh * spread[0], 9),
        energy_chip_high_kwh=None if kwh is None else round(kwh * spread[1], 9), node_overhead=1.25,
        node_overhead_low=1.15, node_overhead_high=1.4, node_overhead_status="given",
    )  # fmt: skip


def _reading(ledger: MemoryLedger, hour: datetime, chips: int, kwh: float, first_device: int) -> None:
    total = round(kwh * 3_600_000_000_000)
    for index in range(chips):
        share = total // chips + (total % chips if index == 0 else 0)
        ledger.insert(
            "core.device_hour",
            device_key=first_device + index,
            hour_utc=hour,
            tier="integrated",
            sample_count=60,
            covered_chip_ms=3_600_000,
            energy_chip_microj=share,
        )


def _jobs(ledger: MemoryLedger, projects: Sequence[str]) -> None:
    for key, site, project, end in (
        (1, "lul", projects[0], None),
        (2, "phx", projects[1], FIRST[3]),
        (3, "lul", None, FIRST[3]),
    ):
        ledger.insert(
            "core.job",
            job_key=key,
            batch_id=1,
            row_number=key + 1,
            job_id=f"j{key}",
            site_id=site,
            project=project,
            job_type="Pretrain",
            state="RUNNING" if end is None else "COMPLETED",
            start_utc=FIRST[1],
            end_utc=end,
            counted_end_utc=FIRST[3] + HOURS * HOUR,
            chip_count=6.0,
        )
