"""A quarter of 1,000 owners x 10 sites x 4 methods, aggregated over hourly lines that are not stored.

Run: ``python benchmarks/bench_methods.py``. Made-up rows fill the real tables (21.8 million lines of energy), and the
real views are asked in a process of their own with two threads; figures are shown, never asserted.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from energy.ledger import build
from energy.schema import TABLES
from energy.schema.ddl import create_table

OWNERS, SITES, HOURS = 1000, 10, 2160
METHODS = ("location", "market", "hourly", "hourly matched")
TARGET_S, TARGET_GB, GIGABYTE = 3.0, 1.0, 1e9
ASK = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
connection.execute("SET threads = 2; SET memory_limit = '700MB'; SET enable_progress_bar = false; SET TimeZone = 'UTC'")
begin = time.perf_counter()
rows = connection.execute(sys.argv[2]).fetchall()
print(len(rows), time.perf_counter() - begin)
"""
QUESTIONS = {
    "emissions_quarterly, values": "SELECT quarter, site_id, owner, method, basis, sum(emissions_kgco2e) "
    "FROM main.emissions_quarterly WHERE quarter = '2026Q1' GROUP BY ALL",
    "emissions_quarterly, all": "SELECT * FROM main.emissions_quarterly WHERE quarter = '2026Q1'",
    "emissions_monthly, values": "SELECT month, site_id, owner, method, basis, sum(emissions_kgco2e) "
    "FROM main.emissions_monthly WHERE quarter = '2026Q1' GROUP BY ALL",
    "emission_lines, values": "SELECT quarter, site_id, owner, method, basis, sum(emissions_kgco2e) "
    "FROM main.emission_lines WHERE quarter = '2026Q1' GROUP BY ALL",
}


def fill(path: Path, owners: int = OWNERS, sites: int = SITES, hours: int = HOURS) -> None:
    """Write the tables and views with made-up rows; hours come in order, as the ledger writes them."""
    names = ", ".join(f"('{name}', {place})" for place, name in enumerate(METHODS))
    hour = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + INTERVAL (h) HOUR"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'; SET threads = 2")
        for layer in ("raw", "ref", "core"):
            connection.execute(f"CREATE SCHEMA {layer}")
        for table in TABLES.values():
            if table.kind == "table":
                connection.execute(create_table(table))
        connection.execute(
            f"INSERT INTO ref.calendar_hour SELECT {hour} AS t, strftime(t, '%Y-%m-%d'), hour(t), "
            f"strftime(t, '%Y-%m'), '2026Q1', 2026 FROM range({hours}) AS r(h)"
        )
        places = f"range({hours}) AS r(h), range({sites}) AS q(s)"
        site = f"'site-' || s AS site_id, {hour} AS hour_utc, '-' AS source, 'given' AS status"
        connection.execute(
            f"INSERT INTO core.pue_hour BY NAME SELECT {site}, 1.2 + h % 24 / 100.0 AS pue, 1.1 AS pue_low, "
            f"1.5 AS pue_high FROM {places} ORDER BY hour_utc"
        )
        connection.execute(
            f"INSERT INTO core.supply_hour BY NAME SELECT {site}, 1.0 AS grid_share FROM {places} ORDER BY hour_utc"
        )
        connection.execute(
            f"INSERT INTO core.factor_hour BY NAME SELECT 'site-' || s AS site_id, {hour} AS hour_utc, name AS method, "
            "'factor-' || name AS factor_id, 300.1 + 17 * n + s + h % 24 AS intensity_gco2e_per_kwh_facility, "
            f"'exact' AS year_policy, '-' AS year_note FROM {places}, (VALUES {names}) AS v(name, n) ORDER BY hour_utc"
        )
        connection.execute(
            "INSERT INTO ref.factor BY NAME SELECT 'factor-' || name AS factor_id, 'direct' AS basis, "
            "'location' AS factor_kind, '-' AS zone_id, 2026 AS factor_year, 'direct' AS boundary, "
            "'production' AS factor_attribution, 'CO2e' AS gases, 'AR5' AS gwp_set, '-' AS publisher, '-' AS source, "
            f"'-' AS edition, '-' AS licence, 'catalogue' AS status FROM (VALUES {names}) AS v(name, n)"
        )
        connection.execute(
            f"INSERT INTO core.energy_hour BY NAME SELECT {hour} AS hour_utc, 'site-' || s AS site_id, "
            "'host-' || s AS host, 'project' AS owner_kind, 'team-' || o AS owner, 'x' AS chip_id, "
            "'measured' AS tier, 'device' AS attribution, 1.0 AS chip_h, "
            "((h * 7 + s * 13 + o * 31) % 1000 + 1) / 37.0 AS energy_chip_kwh, "
            "energy_chip_kwh * 0.9 AS energy_chip_low_kwh, energy_chip_kwh * 1.1 AS energy_chip_high_kwh, "
            "1.25 AS node_overhead, 1.2 AS node_overhead_low, 1.3 AS node_overhead_high, "
            f"'given' AS node_overhead_status FROM {places}, range({owners}) AS p(o) ORDER BY h, s"
        )
        for view in (table for table in TABLES.values() if table.kind == "view"):
            sql = (Path(build.__file__).parent / "sql" / f"{view.name}.sql").read_text(encoding="utf-8")
            connection.execute(f"CREATE VIEW {view.full_name} AS {sql}")


def ask(path: Path, sql: str) -> tuple[str, float, float, float]:
    """Return the rows and seconds of a question, and processor time (s) and peak memory (GB) of its process."""
    process = subprocess.Popen([sys.executable, "-c", ASK, str(path), sql], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {sql}")
    rows, seconds = text.split()
    unit = 1 if sys.platform == "darwin" else 1024
    return rows, float(seconds), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / GIGABYTE


def main() -> None:
    """Fill, ask, print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "methods.duckdb"
        if not path.exists():
            begin = time.perf_counter()
            # in a process of its own: the peak memory of a child begins at that of its parent
            filling = multiprocessing.get_context("spawn").Process(target=fill, args=(path,))
            filling.start()
            filling.join()
            print(f"filled in {time.perf_counter() - begin:.0f} s, {path.stat().st_size / GIGABYTE:.2f} GB")
        for name, sql in QUESTIONS.items():
            rows, seconds, processor_s, peak = ask(path, sql)
            met = "met" if seconds <= TARGET_S and peak <= TARGET_GB else "MISSED"
            print(
                f"{name:28} {rows:>7} rows {seconds:6.2f} s (target {TARGET_S:.0f}), "
                f"{processor_s:5.2f} s of processors, "
                f"{peak:5.2f} GB  {met}"
            )


if __name__ == "__main__":
    main()
