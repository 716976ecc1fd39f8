"""Annual grid factors and hourly profiles of the curated tables."""

from __future__ import annotations

import math
from calendar import isleap, monthrange
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import catalogue_selection as selection
from catalogue_io import Row, one, read, short

FUELS = ("coal", "gas", "oil", "nuclear", "hydro", "wind", "solar", "biomass", "geothermal", "other")


# --- factors ---


def factor(factor_id: str, zone_id: str, kind: str, year: str, value: float, basis: str, **cells: str) -> Row:
    """Return a row; ``basis`` is boundary, attribution, gases and GWP set, separated by bars."""
    boundary, attribution, gases, gwp_set = basis.split("|")
    return {
        "factor_id": factor_id,
        "zone_id": zone_id,
        "kind": kind,
        "year": year,
        "value_gco2e_per_kwh": short(value),
        "boundary": boundary,
        "attribution": attribution,
        "gases": gases,
        "gwp_set": gwp_set,
        **cells,
    }


def country_factors(shared: Path) -> list[Row]:
    """Return the latest years of each country from one edition."""
    table: dict[str, dict[int, float]] = defaultdict(dict)
    for row in read(shared / "grid/country_annual_carbon_intensity.csv"):
        if row["source"] == "owid_2025" and row["boundary"] == "production_lifecycle":
            table[row["iso3"]][int(row["year"])] = float(row["gco2e_per_kwh"])
    rows = []
    for pair in selection.COUNTRIES:
        iso3 = pair.split(":")[0]
        rows += [
            factor(
                f"owid2025-{iso3}-{year}",
                iso3,
                "location",
                str(year),
                table[iso3][year],
                "lifecycle|production|CO2e|unstated",
                publisher="Ember, Energy Institute; Our World in Data",
                source="owid_2025",
                edition="mid-2025",
                licence="CC BY 4.0",
                status="catalogue",
            )
            for year in sorted(table[iso3])[-selection.OWID_YEARS :]
        ]
    return rows


def egrid_factors(shared: Path) -> list[Row]:
    """Return eGRID2022 for all subregions and the three published CO2e rates of eGRID2023."""
    rows = []
    for row in read(shared / "grid/us_egrid_subregions.csv"):
        first = row["edition"] == selection.EGRID_2022
        second = row["edition"] == "eGRID2023 rev2" and row["subregion"] in selection.EGRID_2023
        # The second CAMX row of 2023 is CO2 only: its CO2e cells are empty and it is left out.
        if not (first or second) or not row["co2e_total_output_kg_per_mwh"]:
            continue
        note = row["note"] if first else f"{row['note']}; GWP set taken as that of eGRID2022 (recalled)"
        rows.append(
            factor(
                f"{'egrid2022' if first else 'egrid2023r2'}-{row['subregion']}",
                "USA" if row["subregion"] == "US" else row["subregion"],
                "location",
                row["data_year"],
                float(row["co2e_total_output_kg_per_mwh"]),  # kg/MWh is g/kWh
                "direct|production|CO2e|AR5",
                publisher="US EPA",
                source="egrid2022" if first else "egrid2023_rev2",
                edition=row["edition"],
                licence="US public domain",
                status="derived" if first else "catalogue",
                note=note,
            )
        )
    return rows


RESIDUAL_KEYS = {
    selection.GREENE_2018: ("greene2018", "greene_2018", "direct|production|CO2 only|none"),
    selection.GREENE_2025: ("greene2025", "greene_2025", "direct|production|CO2e|AR6"),
    selection.AIB_2018: ("aib2018", "aib_2018", "direct|consumption|CO2 only|none"),
    selection.AIB_2024: ("aib2024", "aib_2024", "direct|consumption|CO2 only|none"),
}


def residual_factors(shared: Path) -> list[Row]:
    """Return the selected residual mixes: single facts, cited."""
    table = read(shared / "grid/residual_mix.csv")
    rows = []
    for edition, zone_id in selection.RESIDUALS:
        row = one(table, edition=edition, zone=zone_id)
        prefix, source, basis = RESIDUAL_KEYS[edition]
        how = (
            "Green-e subtracts certified sales from generation: per kWh generated"
            if row["publisher"] == "Green-e"
            else "AIB spreads untracked attributes over untracked consumption: per kWh bought"
        )
        rows.append(
            factor(
                f"{prefix}-{zone_id}-residual",
                zone_id,
                "residual",
                row["data_year"],
                float(row["gco2_per_kwh"]),
                basis,
                publisher=row["publisher"],
                source=source,
                edition=edition,
                licence="single fact cited; the publisher's table is not openly licensed",
                status="estimate" if row["source"].startswith("pinned constant") else "catalogue",
                note=f"{row['gases_note']}; {how}; {row['source']}",
            )
        )
    return rows


def annual(shared: Path) -> list[Row]:
    """Return all annual factors."""
    return [*country_factors(shared), *egrid_factors(shared), *residual_factors(shared)]


# --- hourly intensity ---


def hours(shared: Path, file: str, zone: str, year: int) -> list[tuple[int, int, float, float, float]]:
    """Return month, hour, generation, direct and lifecycle intensity of each hour that was wholly measured.

    An hour is missing when a fuel that the zone reports at all has an empty cell: as zero, it would shift the mix.
    """
    import pyarrow.parquet as parquet

    table = parquet.read_table(shared / f"grid/hourly/{file}.parquet", filters=[("zone", "=", zone)]).to_pylist()
    fuels = [f"{fuel}_mwh" for fuel in FUELS if any(row[f"{fuel}_mwh"] is not None for row in table)]
    measured = []
    for row in table:
        stamp, direct, lifecycle = row["datetime_utc"], row["gco2_per_kwh_direct"], row["gco2e_per_kwh_lifecycle"]
        if stamp.year != year or direct is None or lifecycle is None or any(row[fuel] is None for fuel in fuels):
            continue
        generation = math.fsum(max(0.0, row[fuel]) for fuel in fuels)  # as the two derived columns treat negatives
        if generation > 0:
            measured.append((stamp.month, stamp.hour, generation, direct, lifecycle))
    return measured


def profiles(shared: Path) -> list[Row]:
    """Return the average day of each month of each zone, weighted by generation."""
    rows = []
    for zone, zone_id, file, source, year in selection.PROFILES:
        cells: dict[tuple[int, int], list[tuple[float, float, float]]] = defaultdict(list)
        for month, hour, generation, direct, lifecycle in hours(shared, file, zone, year):
            cells[month, hour].append((generation, direct, lifecycle))
        for month in range(1, 13):
            for hour in range(24):
                sample = cells[month, hour]
                weight = math.fsum(generation for generation, _, _ in sample)
                direct_g = math.fsum(generation * value for generation, value, _ in sample)
                lifecycle_g = math.fsum(generation * value for generation, _, value in sample)
                rows.append(
                    {
                        "profile_set": f"{zone_id.lower()}-{year}",
                        "zone_id": zone_id,
                        "year": year,
                        "month": month,
                        "hour_utc": hour,
                        "intensity_direct_gco2e_per_kwh_generation": round(direct_g / weight, 3) if sample else "",
                        "intensity_lifecycle_gco2e_per_kwh_generation": round(lifecycle_g / weight, 3)
                        if sample
                        else "",
                        "n_hours": len(sample),
                        "coverage": round(len(sample) / monthrange(year, month)[1], 4),
                        "source": source,
                        "status": "derived",
                    }
                )
    return rows


def profile_sets(profile_rows: Iterable[Row]) -> list[Row]:
    """Return what holds for a whole profile."""
    measured: dict[str, int] = defaultdict(int)
    for row in profile_rows:
        measured[row["profile_set"]] += row["n_hours"]
    rows = []
    for _, zone_id, _, source, year in selection.PROFILES:
        publisher, edition, licence, status, note = selection.PROFILE_SETS[source]
        name = f"{zone_id.lower()}-{year}"
        rows.append(
            {
                "profile_set": name,
                "zone_id": zone_id,
                "year": year,
                "attribution": "production",
                "publisher": publisher,
                "source": source,
                "edition": edition,
                "licence": licence,
                "n_hours": measured[name],
                "coverage": round(measured[name] / (8784 if isleap(year) else 8760), 6),
                "status": status,
                "note": note,
            }
        )
    return rows
