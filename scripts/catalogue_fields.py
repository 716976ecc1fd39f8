"""Declaration of every table and field of ``datasets/``: the script writes it into ``datapackage.json``.

The readers in ``energy.catalogue`` check each file against that document, so a field is declared once, here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

STATUS = ["catalogue", "derived", "estimate", "default"]
STATUS_TEXT = (
    "catalogue: read in the named source; derived: computed from values read there; estimate: recalled, assumed or "
    "read second-hand, to be verified; default: a rule of thumb."
)
CONFIDENCE_TEXT = "read: read in the named source but for the recalled fields; recalled: general knowledge, unverified."


def _field(name: str, description: str, type_: str = "string", unit: str = "", **constraints: Any) -> dict[str, Any]:
    field: dict[str, Any] = {"name": name, "type": type_, "unit": unit, "description": description}
    if constraints:
        field["constraints"] = constraints
    return field


def _key(name: str, description: str) -> dict[str, Any]:
    return _field(name, description, required=True, unique=True)


def _need(name: str, description: str, **constraints: Any) -> dict[str, Any]:
    return _field(name, description, required=True, **constraints)


def _number(name: str, unit: str, description: str, **constraints: Any) -> dict[str, Any]:
    return _field(name, description, "number", unit, **({"minimum": 0} | constraints))


def _count(name: str, unit: str, description: str, **constraints: Any) -> dict[str, Any]:
    return _field(name, description, "integer", unit, **({"minimum": 0} | constraints))


def _status() -> dict[str, Any]:
    return _need("status", STATUS_TEXT, enum=STATUS)


SOURCE = _need("source", "Keys of sources.csv, separated by semicolons.")
NOTE = _field("note", "What a user of the row must know.")
RATE = "TFLOP/s"

FIELDS: dict[str, list[dict[str, Any]]] = {
    "chips": [
        _key("chip_id", "Identifier: one chip in one form factor."),
        _need("vendor", "Maker."),
        _need("family", "Architecture or product line."),
        _need("chip", "Product name with form factor and memory where several exist."),
        _need("form_factor", "Board or module. Parts of one name and other form are other chips."),
        _need("status_of_product", "shipping, or announced: targets, not results."),
        _count("launch_year", "year", "Year of launch.", minimum=2010),
        _number("tdp_w", "W", "Rated power; tdp_kind says of what kind, power_boundary where."),
        _field("tdp_kind", "TDP, TBP, package maximum, system power, estimate, guess: not the same thing."),
        _need("power_boundary", "Where the watts are counted: chip (board) or it (whole system).", enum=["chip", "it"]),
        _number("typical_w", "W", "Typical power, only from a measurement or the vendor."),
        _number("idle_w", "W", "Power when on and without work; idle_status says how it is known."),
        _number("idle_low_w", "W", "Low end of the range of idle_w."),
        _number("idle_high_w", "W", "High end of the range of idle_w."),
        _field("idle_status", "How idle_w is known.", enum=["read", "recalled", "default"]),
        _field("idle_range_status", "How its range is known.", enum=["read", "recalled", "default"]),
        _field("idle_note", "Origin of idle_w."),
        _field("memory_type", "Memory that the bandwidth refers to."),
        _number("memory_gb", "GB", "Capacity, 1 GB = 1e9 bytes."),
        _number("memory_bandwidth_gb_per_s", "GB/s", "Peak bandwidth of that memory."),
        _number("fp32_tflops", RATE, "Dense peak, vector unit."),
        _number("fp16_tflops", RATE, "Dense peak, matrix unit where one exists."),
        _number("bf16_tflops", RATE, "Dense peak, matrix unit where one exists."),
        _number("fp8_tflops", RATE, "Dense peak, matrix unit."),
        _number("fp4_tflops", RATE, "Dense peak, matrix unit."),
        _number("int8_tops", "TOP/s", "Dense peak; for Apple the Neural Engine."),
        _number("link_gb_per_s_per_direction", "GB/s", "Sum of the scale-up links, one way."),
        SOURCE,
        _need("confidence", CONFIDENCE_TEXT, enum=["read", "recalled"]),
        _field("recalled_fields", "Fields of this row that are recalled, separated by semicolons; all: the whole row."),
        NOTE,
    ],
    "chip_aliases": [
        _need("alias", "Name as a log or a person writes it."),
        _need("chip_id", "Chip that it means."),
        _field("dialect", "Log format in which alone the name means this chip; empty: everywhere."),
        _need("seen_in", "Where the name was seen."),
        SOURCE,
        _status(),
        NOTE,
    ],
    "chip_ambiguous": [
        _need("name", "Short name that fits several chips: refused."),
        _need("chip_id", "One of the chips that it fits."),
        SOURCE,
        _status(),
    ],
    "nodes": [
        _key("node_id", "Identifier of a server, rack, pod or cloud instance."),
        _need("vendor", "Maker or cloud provider."),
        _need("system", "Product name."),
        _need("kind", "server, baseboard, rack, pod, system, workstation, cloud_instance."),
        _count("year", "year", "Year of launch.", minimum=2010),
        _field("accelerator_chip_id", "Chip of chips.csv."),
        _count("accelerator_count", "chip", "Number of accelerators."),
        _field("host_cpu", "Processor of the host."),
        _count("host_cpu_count", "", "Number of processors."),
        _number("host_dram_gb", "GB", "Memory of the host."),
        _number("max_kw", "kW_it", "Rated or maximum draw of the whole node at its plug."),
        _number("typical_kw", "kW_it", "Typical draw, only where a source says so."),
        _number("idle_kw", "kW_it", "Draw without work, only where measured."),
        _field("cooling", "air, liquid, or both."),
        SOURCE,
        _need("confidence", CONFIDENCE_TEXT, enum=["read", "recalled"]),
        _field("recalled_fields", "Fields of this row that are recalled, separated by semicolons; all: the whole row."),
        NOTE,
    ],
    "zones": [
        _key("zone_id", "Identifier: ISO 3166-1 alpha-3, eGRID subregion or US-<balancing area>."),
        _need("kind", "What the zone is.", enum=["country", "egrid_subregion", "balancing_area"]),
        _need("name", "Name for people."),
        _field("iso2", "ISO 3166-1 alpha-2, countries only. NA is Namibia."),
        _need("country_zone_id", "Country that the zone lies in, or itself."),
        _field("annual_zone_id", "Zone whose annual factors serve this one; itself where it has its own."),
        _field("hourly_zone_id", "Zone whose hourly profile serves this one; empty: none."),
        _field("full_disclosure", "true: the country has no residual mix.", "boolean", required=True),
        SOURCE,
        _status(),
        NOTE,
    ],
    "zone_aliases": [
        _need("alias", "Name that a person, a bill or a provider writes."),
        _need("zone_id", "Zone that it means. One alias with several zones is refused as ambiguous."),
        _need("relation", "same: the zone itself; part_of: a place inside it.", enum=["same", "part_of"]),
        _field("hourly_zone_id", "Zone whose hourly profile serves the place; empty: as the zone says."),
        SOURCE,
        _status(),
        NOTE,
    ],
    "factors_annual": [
        _key("factor_id", "Identifier."),
        _need("zone_id", "Zone of zones.csv."),
        _need(
            "kind",
            "location: average of the grid; residual: what certificates left over.",
            enum=["location", "residual"],
        ),
        _count("year", "year", "Year that the data describe.", required=True, minimum=2000),
        _number(
            "value_gco2e_per_kwh", "gCO2e/kWh", "Factor; attribution says of which kWh.", required=True, maximum=2000
        ),
        _number("low_gco2e_per_kwh", "gCO2e/kWh", "Low end, 95 %; empty: not known."),
        _number("high_gco2e_per_kwh", "gCO2e/kWh", "High end, 95 %; empty: not known."),
        _need("boundary", "direct: combustion only; lifecycle: with upstream.", enum=["direct", "lifecycle"]),
        _need(
            "attribution",
            "production: per kWh generated (kWh_generation); consumption: per kWh bought (kWh_facility).",
            enum=["production", "consumption"],
        ),
        _need("gases", "Gases in the factor.", enum=["CO2e", "CO2 only"]),
        _need(
            "gwp_set",
            "Global warming potentials: AR5, AR6, none (CO2 only), unstated (the source does not say).",
            enum=["AR5", "AR6", "none", "unstated"],
        ),
        _need("publisher", "Who publishes the figure."),
        SOURCE,
        _need("edition", "Edition of the publication."),
        _need("licence", "Licence of the figure."),
        _status(),
        NOTE,
    ],
    "intensity_sets": [
        _key("profile_set", "Identifier of the set: zone and year."),
        _need("zone_id", "Zone of zones.csv."),
        _count("year", "year", "Calendar year (UTC) of the hours.", required=True, minimum=2000),
        _need("attribution", "production: per kWh generated.", enum=["production"]),
        _need("publisher", "Who publishes the generation data."),
        SOURCE,
        _need("edition", "Edition of the publication."),
        _need("licence", "Licence of the data."),
        _count("n_hours", "", "Hours that were measured.", required=True, maximum=8784),
        _number("coverage", "", "Measured hours over hours of the year, 0 to 1.", required=True, maximum=1),
        _status(),
        NOTE,
    ],
    "intensity_month_hour": [
        _need("profile_set", "Identifier of the set: zone and year."),
        _need("zone_id", "Zone of zones.csv."),
        _count("year", "year", "Calendar year (UTC) of the hours.", required=True, minimum=2000),
        _count("month", "", "Calendar month, UTC.", required=True, minimum=1, maximum=12),
        _count("hour_utc", "h", "Hour of the day, UTC; the hour is [h, h + 1).", required=True, maximum=23),
        _number(
            "intensity_direct_gco2e_per_kwh_generation",
            "gCO2e/kWh_generation",
            "Mean of the hours, weighted by generation; CO2 of combustion only. Empty: no hour was measured.",
            maximum=2000,
        ),
        _number(
            "intensity_lifecycle_gco2e_per_kwh_generation",
            "gCO2e/kWh_generation",
            "Mean of the hours, weighted by generation; lifecycle medians of IPCC AR5 Annex III.",
            maximum=2000,
        ),
        _count("n_hours", "", "Hours that were measured.", required=True, maximum=31),
        _number("coverage", "", "Measured hours over hours of the calendar, 0 to 1.", required=True, maximum=1),
        SOURCE,
        _status(),
    ],
    "sources": [
        _key("source", "Key."),
        _need("title", "Title."),
        _need("where", "Where it was read."),
        _field("as_of", "Date of the edition."),
        _need("licence", "Licence, and what was taken."),
        _field("quality", "What kind of source it is."),
    ],
}

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
        ["profile_set", "month", "hour_utc"],
        "US public domain (EIA-930); CC BY 4.0, recalled (ENTSO-E)",
    ),
    "sources": ("Sources of all tables", ["source"], "Own table of facts"),
}

FOREIGN_KEYS: dict[str, list[tuple[str, str, str]]] = {
    "chip_aliases": [("chip_id", "chips", "chip_id")],
    "chip_ambiguous": [("chip_id", "chips", "chip_id")],
    "nodes": [("accelerator_chip_id", "chips", "chip_id")],
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
}


def datapackage(tables: Sequence[str]) -> dict[str, Any]:
    """Return the Frictionless description of all tables."""
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
        "profile": "tabular-data-package",
        "name": "energy-catalogue",
        "title": "Catalogue of the energy package: chips, nodes, grid zones and factors",
        "description": "Curated facts. An empty cell is unknown, never zero. Written by scripts/curate_catalogue.py.",
        "resources": resources,
    }
