"""Declaration of every table and field of ``datasets/``: the script writes it into ``datapackage.json``.

The readers in ``energy.catalogue`` check each file against that document, so a field is declared once: in
``catalogue_fields_hardware.py``, ``catalogue_fields_grid.py``, ``catalogue_fields_kernels.py``,
``catalogue_fields_training.py``, ``catalogue_fields_power.py`` or ``catalogue_fields_mlperf.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catalogue_field_kinds import Field
from catalogue_fields_accelerators import FIELDS as ACCELERATORS
from catalogue_fields_accelerators import TABLES as ACCELERATOR_TABLES
from catalogue_fields_facility import FIELDS as FACILITY
from catalogue_fields_facility import TABLES as FACILITY_TABLES
from catalogue_fields_fuels import FIELDS as FUELS
from catalogue_fields_fuels import TABLES as FUEL_TABLES
from catalogue_fields_grid import FIELDS as GRID
from catalogue_fields_hardware import FIELDS as HARDWARE
from catalogue_fields_kernels import FIELDS as KERNELS
from catalogue_fields_kernels import TABLES as KERNEL_TABLES
from catalogue_fields_mix import FIELDS as MIX
from catalogue_fields_mix import FOREIGN_KEYS as MIX_KEYS
from catalogue_fields_mix import TABLES as MIX_TABLES
from catalogue_fields_mlperf import FIELDS as MLPERF
from catalogue_fields_mlperf import TABLES as MLPERF_TABLES
from catalogue_fields_node import FIELDS as NODE
from catalogue_fields_node import TABLES as NODE_TABLES
from catalogue_fields_power import FIELDS as POWER
from catalogue_fields_power import TABLES as POWER_TABLES
from catalogue_fields_training import FIELDS as TRAINING
from catalogue_fields_training import TABLES as TRAINING_TABLES
from catalogue_fields_weather import FIELDS as WEATHER
from catalogue_fields_weather import FOREIGN_KEYS as WEATHER_KEYS
from catalogue_fields_weather import TABLES as WEATHER_TABLES

HOURS_FILE = "intensity_hours_us_2022.parquet"
FIELDS: dict[str, list[Field]] = (
    HARDWARE | GRID | FACILITY | FUELS | KERNELS | TRAINING | POWER | NODE | MLPERF | ACCELERATORS | WEATHER | MIX
)

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "chips": (
        "Accelerators, one row per form factor",
        ["chip_id"],
        "Own table of facts; sources and licences per row (CC BY 4.0: Epoch AI, AcmeTrace; single facts elsewhere)",
    ),
    "chip_aliases": ("Names of chips as logs write them", ["alias", "dialect"], "Own table of facts"),
    "chip_ambiguous": ("Short names that are refused", ["name", "chip_id"], "Own table of facts"),
    "nodes": ("Servers, racks, pods and cloud instances", ["node_id"], "Own table of facts; sources per row"),
    "node_aliases": ("Names of nodes as bills and logs write them", ["alias"], "Own table of facts"),
    "links": ("Links, ports, adapters, switches", ["link_id"], "Own table of facts; sources per row"),
    "memories": ("Memory technologies", ["memory_id"], "Own table of facts; sources per row"),
    "energy_per_op": ("Energy per operation", ["operation_id"], "Own table of facts; sources per row"),
    "achievable_matmul": (
        "Best measured matrix rate of few chips",
        ["chip_id", "number_format"],
        "Single facts cited; the source's table is CC BY-SA and is not carried",
    ),
    "models": (
        "Models: shape, parameters, training",
        ["model_id"],
        "Own table of facts; training figures after Epoch AI, CC BY 4.0",
    ),
    "prices": (
        "Prices of chips, each on its date",
        ["price_id"],
        "Own table of facts; Epoch AI, CC BY 4.0, and sources per row",
    ),
    "electricity_prices": (
        "Prices of electricity",
        ["price_id"],
        "US public domain (EIA); CC BY 4.0 (Ember); Eurostat, reuse with the source named; single facts elsewhere",
    ),
    "software_maturity": ("Speed-ups by software alone", ["gain_id"], "Own table of facts; sources per row"),
    "zones": ("Grid zones and their links", ["zone_id"], "Own table of facts"),
    "zone_aliases": ("Names of places and cloud regions", ["alias", "zone_id"], "Own table of facts"),
    "factors_annual": (
        "Annual grid factors, location and residual",
        ["factor_id"],
        "Per row: CC BY 4.0 (Ember, Our World in Data), US public domain (eGRID), single facts cited (AIB, Green-e)",
    ),
    "intensity_sets": (
        "Sets of hourly grid intensity",
        ["profile_set"],
        "US public domain (EIA-930); CC BY 4.0, recalled (ENTSO-E)",
    ),
    "intensity_month_hour": (
        "Average day of each month, grid intensity by UTC hour",
        ["profile_set", "month", "boundary"],
        "US public domain (EIA-930); CC BY 4.0, recalled (ENTSO-E)",
    ),
    "marginal_sets": ("Sets of marginal intensity", ["marginal_id"], "US public domain (EPA AVERT)"),
    "marginal_month_hour": (
        "Average day of each month, marginal intensity",
        ["marginal_id", "month"],
        "US public domain (EPA AVERT)",
    ),
    "td_losses": ("Losses of transmission and distribution", ["zone_id"], "CC BY 4.0 (World Bank)"),
    "cloud_regions": ("Cloud regions and their grid zones", ["provider", "region"], "Own table of facts"),
    "cloud_region_annual": (
        "What providers publish of their regions by year",
        ["provider", "region", "location", "year"],
        "Single facts of providers; Google's after region-carbon-info, Apache-2.0",
    ),
    **FACILITY_TABLES,
    **FUEL_TABLES,
    **KERNEL_TABLES,
    **TRAINING_TABLES,
    **POWER_TABLES,
    **NODE_TABLES,
    **ACCELERATOR_TABLES,
    **MLPERF_TABLES,
    **WEATHER_TABLES,
    **MIX_TABLES,
    "sources": ("Sources of all tables", ["source"], "Own table of facts"),
}

FOREIGN_KEYS: dict[str, list[tuple[str, str, str]]] = {
    **WEATHER_KEYS,
    **MIX_KEYS,
    "chip_aliases": [("chip_id", "chips", "chip_id")],
    "chip_ambiguous": [("chip_id", "chips", "chip_id")],
    "nodes": [("accelerator_chip_id", "chips", "chip_id")],
    "power_devices": [("chip_id", "chips", "chip_id"), ("like_chip_id", "chips", "chip_id")],
    "node_aliases": [("node_id", "nodes", "node_id")],
    "energy_per_op": [("chip_id", "chips", "chip_id")],
    "achievable_matmul": [("chip_id", "chips", "chip_id")],
    "models": [("training_chip_id", "chips", "chip_id")],
    "prices": [("chip_id", "chips", "chip_id")],
    "zones": [
        ("country_zone_id", "zones", "zone_id"),
        ("annual_zone_id", "zones", "zone_id"),
        ("hourly_zone_id", "zones", "zone_id"),
    ],
    "zone_aliases": [("zone_id", "zones", "zone_id"), ("hourly_zone_id", "zones", "zone_id")],
    "factors_annual": [("zone_id", "zones", "zone_id")],
    "intensity_sets": [("zone_id", "zones", "zone_id")],
    "intensity_month_hour": [
        ("zone_id", "zones", "zone_id"),
        ("profile_set", "intensity_sets", "profile_set"),
    ],
    "marginal_month_hour": [("marginal_id", "marginal_sets", "marginal_id")],
    "td_losses": [("zone_id", "zones", "zone_id")],
    "cloud_regions": [
        ("country_zone_id", "zones", "zone_id"),
        ("egrid_subregion", "zones", "zone_id"),
        ("zone_id", "zones", "zone_id"),
        ("hourly_zone_id", "zones", "zone_id"),
    ],
}


def hours_resource(columns: Sequence[str]) -> dict[str, Any]:
    """Return the description of the file with every hour of a year."""
    unit = "0.1 gCO2e/kWh_generation"
    text = "Intensity of the hours of 2022 in UTC, in order; null: not measured. Tenths of a gram."
    fields = [{"name": name, "type": "integer", "unit": unit, "description": text} for name in columns]
    return {
        "name": "intensity-hours-us-2022",
        "title": "Every hour of 2022, US balancing areas, direct and lifecycle",
        "path": HOURS_FILE,
        "profile": "data-resource",
        "format": "parquet",
        "licenses": [{"title": "US public domain (EIA-930)"}],
        "sources": [{"title": "eia930_2022, explained in sources.csv", "path": "sources.csv"}],
        "schema": {"fields": fields},
    }


def datapackage(
    tables: Sequence[str], hour_fields: Sequence[str], further: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Return the Frictionless description of all tables, and of further files."""
    resources = []
    for name in tables:
        title, key, licence = TABLES[name]
        schema: dict[str, Any] = {"fields": FIELDS[name], "missingValues": [""], "primaryKey": key}
        if name in FOREIGN_KEYS:
            schema["foreignKeys"] = [
                {"fields": field, "reference": {"resource": resource, "fields": target}}
                for field, resource, target in FOREIGN_KEYS[name]
            ]
        resources.append(
            {
                "name": name.replace("_", "-"),
                "title": title,
                "path": f"{name}.csv",
                "profile": "tabular-data-resource",
                "encoding": "utf-8",
                "licenses": [{"title": licence}],
                "sources": [{"title": "per row: column source, explained in sources.csv", "path": "sources.csv"}],
                "schema": schema,
            }
        )
    return {
        "profile": "data-package",
        "name": "energy-catalogue",
        "title": "Catalogue of the energy package: hardware, models, prices, grid zones and factors",
        "description": "Curated facts. An empty cell is unknown, never zero. Written by scripts/curate_catalogue.py.",
        "resources": [*resources, hours_resource(hour_fields), *further],
    }
