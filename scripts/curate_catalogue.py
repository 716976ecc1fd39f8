"""Write the curated tables of ``datasets/`` from the shared reference tables.

Run from the repository: ``python scripts/curate_catalogue.py [SHARED_DATA]`` (default ``../shared/data``). What is
taken is listed in ``catalogue_selection.py``, what each column means in ``catalogue_fields.py``. The same input gives
the same bytes. Facts only: no row of a share-alike or non-commercial source. Country factors come from the edition of
Our World in Data (CC BY 4.0), not from the later Ember values: the only copy of those at hand is labelled CC BY-SA, and
they revise the past, so a row of each side by side would show a step that did not happen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import catalogue_factors as factors
import catalogue_selection as selection
from catalogue_fields import FIELDS, datapackage
from catalogue_io import Row, number, read, short, write

ROOT = Path(__file__).resolve().parent.parent
IDLE_SHARE, IDLE_SHARE_SMALL, IDLE_LOW, IDLE_HIGH, SMALL_CARD_W = 0.15, 0.20, 0.08, 0.25, 150.0


# --- chips and nodes ---


def recalled(row: dict[str, str], table: str) -> str:
    """Return the recalled fields of a row that the curated table carries."""
    carried = {field["name"] for field in FIELDS[table]} | {"all"}
    return ";".join(name for name in row["recalled_fields"].split(";") if name in carried)


def idle(row: dict[str, str]) -> Row:
    """Return idle power with range and origin.

    Where the shared table has a measured or recalled board value, it is used. Modelled values, values of another part
    and empty cells give way to the rule of the chips README: 15 % of the rated power, 20 % for small cards, 8 to 25 %.
    """
    tdp, value, kind = number(row["tdp_w"]), number(row["idle_w"]), row["idle_kind"]
    if tdp is None:
        return {}
    if value is not None and not kind.startswith(("modelled", "taken from")) and "at the wall" not in kind:
        status = "recalled" if "idle_w" in row["recalled_fields"].split(";") else "read"
        low, high, range_status = selection.IDLE_RANGES.get(
            row["chip_id"], (min(value, IDLE_LOW * tdp), max(value, IDLE_HIGH * tdp), "default")
        )
        return idle_cells(value, low, high, status, range_status, kind)
    small = tdp <= SMALL_CARD_W
    share = IDLE_SHARE_SMALL if small else IDLE_SHARE
    note = f"rule of thumb: {100 * share:g} % of the rated power ({'small card' if small else 'data-centre card'})"
    if not small and not row["memory_type"].startswith("HBM"):
        note += "; the rule is stated for cards with HBM"
    low, rule, high = IDLE_LOW * tdp, share * tdp, IDLE_HIGH * tdp
    if value is not None and kind.startswith("taken from"):
        rule, note = value, f"{kind}, measured 60 to 63 W"
    elif value is not None and "at the wall" in kind:
        note += f"; the whole computer idles at {value:g} W at the wall, which bounds it"
        scale = min(1.0, value / rule)
        low, rule, high = low * scale, min(rule, value), min(high, value)
    elif value is not None:
        note += f"; the modelled {value:g} W of the source is a fixed share too and known to be too low"
    return idle_cells(rule, low, high, "default", "default", note)


def idle_cells(value: float, low: float, high: float, status: str, range_status: str, note: str) -> Row:
    """Return the cells of idle power."""
    return {
        "idle_w": short(value),
        "idle_low_w": short(low),
        "idle_high_w": short(high),
        "idle_status": status,
        "idle_range_status": range_status,
        "idle_note": note,
    }


def chips(shared: Path) -> list[Row]:
    """Return the selected chips."""
    by_id = {row["chip_id"]: row for row in read(shared / "chips/chips.csv")}
    rows = []
    for chip_id in selection.CHIPS:
        row = by_id[chip_id]
        power = idle(row)
        flagged = recalled(row, "chips").split(";")
        if power.get("idle_status") != "recalled":
            flagged = [name for name in flagged if name != "idle_w"]
        carried = {name: row[name] for name in (field["name"] for field in FIELDS["chips"]) if name in row}
        rows.append(
            carried
            | {"idle_w": ""}
            | power
            | {
                "status_of_product": row["status"],
                "power_boundary": "it" if chip_id in selection.SYSTEM_POWER else "chip",
                "recalled_fields": ";".join(name for name in flagged if name),
                "note": row["notes"].strip(),
            }
        )
    return rows


def chip_aliases() -> list[Row]:
    """Return the aliases that hold everywhere, then those of one dialect."""
    rows = [
        {
            "alias": alias,
            "chip_id": chip_id,
            "seen_in": seen_in,
            "source": "log_names",
            "status": "estimate" if seen_in == selection.SEEN_RECALLED else "catalogue",
        }
        for seen_in, names in selection.ALIASES.items()
        for alias, chip_id in names.items()
    ]
    rows += [
        {
            "alias": alias,
            "chip_id": chip_id,
            "dialect": dialect,
            "seen_in": seen_in,
            "source": "log_names",
            "status": "estimate" if "assumed" in note else "catalogue",
            "note": note,
        }
        for dialect, alias, chip_id, seen_in, note in selection.DIALECT_ALIASES
    ]
    return rows


def chip_ambiguous() -> list[Row]:
    """Return the short names that are refused, one row per chip that they fit."""
    return [
        {"name": name, "chip_id": chip_id, "source": "log_names", "status": "catalogue"}
        for names, chip_ids in selection.AMBIGUOUS.items()
        for name in names
        for chip_id in chip_ids.split()
    ]


def nodes(shared: Path) -> list[Row]:
    """Return the selected nodes."""
    by_id = {row["node_id"]: row for row in read(shared / "chips/nodes.csv")}
    columns = [field["name"] for field in FIELDS["nodes"]]
    return [
        {name: by_id[node_id][name] for name in columns if name in by_id[node_id]}
        | {"recalled_fields": recalled(by_id[node_id], "nodes"), "note": by_id[node_id]["notes"].strip()}
        for node_id in selection.NODES
    ]


# --- zones ---


def zones(shared: Path) -> list[Row]:
    """Return countries, eGRID subregions and balancing areas, with their links."""
    names = {
        row["iso3"]: row["entity"]
        for row in read(shared / "grid/country_annual_carbon_intensity.csv")
        if row["source"] == "owid_2025" and row["iso3"]
    }
    rows = []
    for pair in selection.COUNTRIES:
        iso3, iso2 = pair.split(":")
        rows.append(
            {
                "zone_id": iso3,
                "kind": "country",
                "name": names[iso3],
                "iso2": iso2,
                "country_zone_id": iso3,
                "annual_zone_id": iso3,
                "hourly_zone_id": selection.COUNTRY_HOURLY.get(iso3, ""),
                "full_disclosure": "true" if iso3 in selection.FULL_DISCLOSURE else "false",
                "source": "iso_3166;owid_2025",
                "status": "catalogue",
                "note": selection.FULL_DISCLOSURE.get(iso3, ""),
            }
        )
    return rows + subregions(shared) + balancing_areas()


def subregions(shared: Path) -> list[Row]:
    """Return the eGRID subregions of the 2022 edition."""
    note = "the link to the hourly zone is an approximation (borders differ; recalled)"
    rows = []
    for row in read(shared / "grid/us_egrid_subregions.csv"):
        if row["edition"] != selection.EGRID_2022 or row["subregion"] == "US":
            continue
        hourly = selection.SUBREGION_HOURLY.get(row["subregion"], "")
        rows.append(
            {
                "zone_id": row["subregion"],
                "kind": "egrid_subregion",
                "name": row["subregion_name"],
                "country_zone_id": "USA",
                "annual_zone_id": row["subregion"],
                "hourly_zone_id": hourly,
                "full_disclosure": "false",
                "source": "egrid2022",
                "status": "catalogue",
                "note": note if hourly else "",
            }
        )
    return rows


def balancing_areas() -> list[Row]:
    """Return the balancing areas with an hourly profile."""
    return [
        {
            "zone_id": zone_id,
            "kind": "balancing_area",
            "name": name,
            "country_zone_id": "USA",
            "annual_zone_id": annual,
            "hourly_zone_id": zone_id,
            "full_disclosure": "false",
            "source": "eia930_2022;cloud_regions",
            "status": status,
            "note": note,
        }
        for zone_id, (name, annual, status, note) in selection.BALANCING_AREAS.items()
    ]


def zone_aliases(shared: Path) -> list[Row]:
    """Return names of countries, price areas and states, then the cloud regions."""
    rows = [
        {
            "alias": alias,
            "zone_id": zone_id,
            "relation": relation,
            "hourly_zone_id": hourly,
            "source": "cloud_regions" if "Electricity Maps" in note else "iso_3166",
            "status": status,
            "note": note,
        }
        for alias, zone_id, relation, hourly, status, note in selection.ZONE_ALIASES
    ]
    for names, (zone_ids, hourly, text) in selection.STATES.items():
        for name in names:
            for zone_id in zone_ids.split():
                note = f"US state; {zone_id} stands for it (recalled)" + (f": {text}" if text else "")
                rows.append(
                    {
                        "alias": name,
                        "zone_id": zone_id,
                        "relation": "part_of",
                        "hourly_zone_id": hourly,
                        "source": "iso_3166;egrid2022",
                        "status": "estimate",
                        "note": note,
                    }
                )
    return rows + cloud_aliases(shared)


def cloud_aliases(shared: Path) -> list[Row]:
    """Return one alias per cloud region whose country or subregion is a zone here."""
    countries = {pair.split(":")[0] for pair in selection.COUNTRIES}
    rows = []
    for row in read(shared / "grid/cloud_regions.csv"):
        zone_id = row["egrid_subregion"] or row["country_iso3"]
        if row["provider"] not in selection.CLOUD_PROVIDERS or row["country_iso3"] not in countries:
            continue
        note = row["location_name"]
        if row["egrid_subregion"]:
            note += "; eGRID subregion recalled"
        if row["note"]:
            note += f"; {row['note']}"
        rows.append(
            {
                "alias": f"{row['provider']} {row['region']}",
                "zone_id": zone_id,
                "relation": "part_of",
                "hourly_zone_id": selection.CLOUD_HOURLY.get(row["electricity_maps_zone"], ""),
                "source": "cloud_regions",
                "status": "estimate" if row["egrid_subregion"] else "catalogue",
                "note": note,
            }
        )
    return rows


# --- sources and the data package ---


def sources(shared: Path, tables: dict[str, list[Row]]) -> list[Row]:
    """Return the sources that any row names, in a stable order."""
    known = {row["source"]: row for row in read(shared / "chips/sources.csv")}
    columns = ("title", "where", "as_of", "licence", "quality")
    for key, values in selection.SOURCES.items():
        known[key] = {"source": key, **dict(zip(columns, values, strict=True))}
    used = {key for rows in tables.values() for row in rows for key in str(row["source"]).split(";")}
    if missing := used - set(known):
        raise SystemExit(f"sources without a line: {sorted(missing)}")
    return [known[key] | {"licence": known[key]["licence"] or "none: from no source"} for key in sorted(used)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write all tables and the data package."""
    parser = argparse.ArgumentParser(description="Write datasets/ from the shared reference tables.")
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--out", type=Path, default=ROOT / "datasets")
    options = parser.parse_args(arguments)
    shared: Path = options.shared
    hourly = factors.profiles(shared)
    tables = {
        "chips": chips(shared),
        "chip_aliases": chip_aliases(),
        "chip_ambiguous": chip_ambiguous(),
        "nodes": nodes(shared),
        "zones": zones(shared),
        "zone_aliases": zone_aliases(shared),
        "factors_annual": factors.annual(shared),
        "intensity_sets": factors.profile_sets(hourly),
        "intensity_month_hour": hourly,
    }
    tables["sources"] = sources(shared, tables)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        write(options.out / f"{name}.csv", [field["name"] for field in FIELDS[name]], rows)
        print(f"{name}: {len(rows)} rows", file=sys.stderr)
    text = json.dumps(datapackage(list(tables)), indent=1, ensure_ascii=False)
    (options.out / "datapackage.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
