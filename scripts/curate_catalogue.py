"""Write the curated tables of ``datasets/`` from the shared reference tables.

Run from the repository: ``python scripts/curate_catalogue.py [SHARED_DATA]`` (default ``../shared/data``). Names are in
``catalogue_selection.py`` and ``catalogue_places.py``, what each column means in ``catalogue_fields_*.py``. The same
input gives the same bytes. Facts only: no row of a share-alike or non-commercial table. Country factors come from the
edition of Our World in Data (CC BY 4.0), not from the later Ember values: the only copy of those at hand is labelled
CC BY-SA, and they revise the past, so a row of each side by side would show a step that did not happen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import catalogue_devices
import catalogue_facility as facility
import catalogue_factors as factors
import catalogue_fuels as fuels
import catalogue_hardware as hardware
import catalogue_hours as hourly
import catalogue_kernels as kernels
import catalogue_mix as mix
import catalogue_weather as weather
import catalogue_zones as zones
from catalogue_fields import FIELDS, HOURS_FILE, datapackage
from catalogue_fields_mlperf import TABLES as MLPERF_TABLES
from catalogue_fields_node import TABLES as NODE_TABLES
from catalogue_fields_power import TABLES as POWER_TABLES
from catalogue_fields_weather import WEATHER_FILE
from catalogue_fields_weather import hours_resource as weather_resource
from catalogue_io import Row, read, write
from catalogue_sources import SOURCES

ROOT = Path(__file__).resolve().parent.parent


def sources(shared: Path, tables: dict[str, list[Row]]) -> list[Row]:
    """Return the sources that any row names, in a stable order."""
    known = {row["source"]: row for folder in ("chips", "models") for row in read(shared / folder / "sources.csv")}
    columns = ("title", "where", "as_of", "licence", "quality")
    for key, values in (SOURCES | weather.SOURCES).items():
        known[key] = {"source": key, **dict(zip(columns, values, strict=True))}
    used = {key for rows in tables.values() for row in rows for key in str(row["source"]).split(";")}
    if missing := used - set(known):
        raise SystemExit(f"sources without a line: {sorted(missing)}")
    return [known[key] | {"licence": known[key]["licence"] or "none: from no source"} for key in sorted(used)]


def curated(shared: Path) -> tuple[dict[str, list[Row]], dict[str, list[int | None]]]:
    """Return the rows of all tables, and the whole years of hourly intensity."""
    sets, months, columns = hourly.intensity(shared)
    marginal_sets, marginal_months = hourly.marginal(shared)
    tables = {
        "chips": hardware.chips(shared),
        "chip_aliases": hardware.chip_aliases(),
        "chip_ambiguous": hardware.chip_ambiguous(),
        "nodes": hardware.nodes(shared),
        "node_aliases": hardware.node_aliases(),
        "links": hardware.links(shared),
        "memories": hardware.memories(shared),
        "energy_per_op": hardware.energy_per_op(shared),
        "achievable_matmul": hardware.achievable_matmul(shared),
        "models": hardware.models(shared),
        "prices": hardware.prices(shared),
        "electricity_prices": hardware.electricity_prices(shared),
        "software_maturity": hardware.software_maturity(shared),
        "zones": zones.zones(shared),
        "zone_aliases": zones.zone_aliases(shared),
        "factors_annual": factors.annual(shared),
        "intensity_sets": sets,
        "intensity_month_hour": months,
        "generation_hour": mix.generation_hours(shared),
        "marginal_sets": marginal_sets,
        "marginal_month_hour": marginal_months,
        "td_losses": factors.losses(shared),
        "gases": fuels.gases(shared),
        "refrigerants": fuels.refrigerants(shared),
        "fuels": fuels.fuels(shared),
        "upstream_factors": fuels.upstream(shared),
        "generation_factors": fuels.technologies(shared),
        **facility.tables(shared),
        **weather.tables(shared),
        "cloud_regions": zones.cloud_regions(shared),
        "cloud_region_annual": zones.cloud_region_annual(shared),
        "kernel_chips": kernels.kernel_chips(),
        **kernels.fitted(ROOT / "datasets"),
        "stack_factors": kept(ROOT / "datasets/stack_factors.csv"),
        **{table: kept(ROOT / f"datasets/{table}.csv") for table in (*POWER_TABLES, *NODE_TABLES, *MLPERF_TABLES)},
    }
    tables["power_devices"] = catalogue_devices.devices(tables["chips"])
    for name in ("power_training", "power_diffusion"):
        tables[name] = kept(ROOT / f"datasets/{name}.csv")
    tables["sources"] = sources(shared, tables)
    return tables, columns


def kept(path: Path) -> list[Row]:
    """Return the table that a fit script wrote, as it is; empty where it has not run."""
    return [*read(path)] if path.exists() else []


def main(arguments: Sequence[str] | None = None) -> None:
    """Write all tables, the whole years and the data package."""
    parser = argparse.ArgumentParser(description="Write datasets/ from the shared reference tables.")
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--out", type=Path, default=ROOT / "datasets")
    options = parser.parse_args(arguments)
    tables, columns = curated(options.shared)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        write(options.out / f"{name}.csv", [field["name"] for field in FIELDS[name]], rows)
        print(f"{name}: {len(rows)} rows", file=sys.stderr)
    hourly.write_hours(options.out / HOURS_FILE, columns)
    air = weather.hours(options.shared)
    hourly.write_hours(options.out / WEATHER_FILE, air)
    further = [weather_resource(list(air))]
    text = json.dumps(datapackage(list(tables), list(columns), further), indent=1, ensure_ascii=False)
    (options.out / "datapackage.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
