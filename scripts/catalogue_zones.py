"""Zones, names of places, and cloud regions of the curated tables."""

from __future__ import annotations

from pathlib import Path

import catalogue_places as places
from catalogue_hours import PROFILES
from catalogue_io import Row, number, read

EGRID_ZONES = "eGRID2022"
WITH_HOURS = tuple(zone_id for _, zone_id, *_ in PROFILES)


def country_names(shared: Path) -> dict[str, str]:
    """Return the names of countries by ISO code."""
    names = {
        row["iso3"]: row["entity"]
        for row in read(shared / "grid/country_annual_carbon_intensity.csv")
        if row["source"] == "owid_2025" and row["iso3"]
    }
    return names | places.COUNTRY_NAMES


def zones(shared: Path) -> list[Row]:
    """Return countries, eGRID subregions and balancing areas, with their links."""
    names = country_names(shared)
    rows = []
    for pair in places.COUNTRIES:
        iso3, iso2 = pair.split(":")
        rows.append(
            {
                "zone_id": iso3,
                "kind": "country",
                "name": names[iso3],
                "iso2": iso2,
                "country_zone_id": iso3,
                "annual_zone_id": iso3,
                "hourly_zone_id": iso3 if iso3 in WITH_HOURS else "",
                "full_disclosure": "true" if iso3 in places.FULL_DISCLOSURE else "false",
                "source": "iso_3166;owid_2025",
                "status": "catalogue",
                "note": places.FULL_DISCLOSURE.get(iso3, ""),
            }
        )
    return [*rows, world(), *subregions(shared), *balancing_areas()]


def world() -> Row:
    """Return the world: for comparison, never a stand-in for a place that is not known."""
    return {
        "zone_id": places.WORLD,
        "kind": "world",
        "name": "World",
        "country_zone_id": places.WORLD,
        "annual_zone_id": places.WORLD,
        "full_disclosure": "false",
        "source": "owid_2025",
        "status": "catalogue",
        "note": "average of the world, only where it is asked for by name: it stands in for no place",
    }


def subregions(shared: Path) -> list[Row]:
    """Return the eGRID subregions of the 2022 edition."""
    note = "the link to the hourly zone is an approximation (borders differ; recalled)"
    rows = []
    for row in read(shared / "grid/us_egrid_subregions.csv"):
        if row["edition"] != EGRID_ZONES or row["subregion"] == "US":
            continue
        hourly = places.SUBREGION_HOURLY.get(row["subregion"], "")
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
        for zone_id, (name, annual, status, note) in places.BALANCING_AREAS.items()
    ]


def zone_aliases(shared: Path) -> list[Row]:
    """Return names of countries, price areas and states."""
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
        for alias, zone_id, relation, hourly, status, note in places.ZONE_ALIASES
    ]
    rows += country_aliases() + price_areas(shared)
    for names, (zone_ids, hourly, text) in places.STATES.items():
        for name in filter(None, names):
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
    return rows


def country_aliases() -> list[Row]:
    """Return other names of countries; a name of two countries has a row for each and is refused."""
    return [
        {
            "alias": alias,
            "zone_id": zone_id,
            "relation": "same",
            "source": "iso_3166",
            "status": "estimate",
            "note": "name recalled",
        }
        for alias, zone_id in places.COUNTRY_ALIASES
    ]


def price_areas(shared: Path) -> list[Row]:
    """Return price areas and provinces, for which their country stands."""
    countries = country_names(shared)
    return [
        {
            "alias": name,
            "zone_id": zone_id,
            "relation": "part_of",
            "source": "cloud_regions",
            "status": "estimate",
            "note": f"{what} {name} has no factor: {countries[zone_id]} is used; its own intensity may differ much",
        }
        for names, (zone_id, what) in places.PRICE_AREAS.items()
        for name in names.split()
    ]


# --- cloud regions ---


def cloud_regions(shared: Path) -> list[Row]:
    """Return every region with the zones that serve it; the assignments to eGRID subregions are recalled."""
    rows = []
    for row in read(shared / "grid/cloud_regions.csv"):
        country = row["country_iso3"]
        hourly = places.CLOUD_HOURLY.get(row["electricity_maps_zone"], country if country in WITH_HOURS else "")
        names = ("region", "provider", "latitude_deg", "longitude_deg", "watttime_region", "egrid_subregion", "note")
        whole = row["confidence"] == "recalled"
        rows.append(
            {name: row[name] for name in names}
            | {
                "location": row["location_name"],
                "country_zone_id": country,
                "electricity_zone": row["electricity_maps_zone"],
                "zone_id": row["egrid_subregion"] or country,
                "hourly_zone_id": hourly,
                "source": "recalled" if whole else "cloud_regions",
                "confidence": row["confidence"],
                "recalled_fields": "all" if whole else "egrid_subregion;zone_id" if row["egrid_subregion"] else "",
            }
        )
    return rows


def cloud_region_annual(shared: Path) -> list[Row]:
    """Return what providers publish by region and year; a grid intensity printed as 0 is no factor and left out."""
    rows = []
    for row in read(shared / "grid/cloud_region_annual.csv"):
        grid = row["provider_grid_hourly_weighted_gco2e_per_kwh"]
        zero = number(grid) == 0
        suspect = row["note"].startswith("suspect") or zero
        rows.append(
            {
                "provider": row["provider"],
                "region": row["region"],
                "location": row["location"],
                "year": row["year"],
                "pue": row["pue"],
                "wue_l_per_kwh": row["wue_l_per_kwh"],
                "cfe_hourly_fraction": row["provider_cfe_hourly_fraction"],
                "cfe_annual_fraction": row["provider_cfe_annual_fraction"],
                "market_based_gco2e_per_kwh": row["provider_market_based_gco2e_per_kwh"],
                "grid_gco2e_per_kwh": "" if zero else grid,
                "suspect": "true" if suspect else "false",
                "source": "google_cfe;gsf_cloud" if row["provider"] == "gcp" else "gsf_cloud",
                "status": "estimate" if suspect else "catalogue",
                "note": row["note"] or ("the published 0 is no usable factor" if zero else ""),
            }
        )
    return rows
