"""Annual grid factors, and losses, of the curated tables."""

from __future__ import annotations

from pathlib import Path

import catalogue_places as places
from catalogue_io import Row, one, read, short

EGRID = {
    # edition: (prefix, source, status, subregions or all, GWP set)
    "eGRID2018": ("egrid2018", "egrid2018", "catalogue", None, "unstated"),
    "eGRID2022": ("egrid2022", "egrid2022", "derived", None, "AR5"),
    "eGRID2023 rev2": ("egrid2023r2", "egrid2023_rev2", "catalogue", {"CAMX", "RFCE", "US"}, "AR5"),
}
GREENE_2018 = "Green-e Energy Residual Mix 2018 edition"
GREENE_2025 = "Green-e 2025 edition (2023 data) + eGRID2023 CH4 and N2O"
AIB_2018 = "AIB European Residual Mixes 2018 v1.2"
AIB_2024 = "AIB European Residual Mixes 2024"
# Single facts, cited, for zones with many data centres, at most fifteen: the tables of AIB and Green-e are not openly
# licensed and are not redistributed.
RESIDUALS = [
    *((GREENE_2018, zone) for zone in ("CAMX", "RFCE", "ERCT", "SRVC", "NWPP")),
    (GREENE_2025, "CAMX"),
    *((AIB_2018, zone) for zone in ("DEU", "FRA", "NLD", "SWE", "NOR", "IRL", "FIN", "ITA")),
    (AIB_2024, "DEU"),
]

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
    """Return every year of every country, of one edition; a printed zero is impossible for a lifecycle: left out."""
    known = {pair.split(":")[0] for pair in places.COUNTRIES} | {places.WORLD}
    rows = [
        factor(
            f"owid2025-{row['iso3']}-{row['year']}",
            row["iso3"],
            "location",
            row["year"],
            float(row["gco2e_per_kwh"]),
            "lifecycle|production|CO2e|unstated",
            publisher="Ember, Energy Institute; Our World in Data",
            source="owid_2025",
            edition="mid-2025",
            licence="CC BY 4.0",
            status="catalogue",
        )
        for row in read(shared / "grid/country_annual_carbon_intensity.csv")
        if row["source"] == "owid_2025" and row["iso3"] in known and float(row["gco2e_per_kwh"]) > 0
    ]
    order = [*(pair.split(":")[0] for pair in places.COUNTRIES), places.WORLD]
    return sorted(rows, key=lambda row: (order.index(row["zone_id"]), row["year"]))


def egrid_factors(shared: Path) -> list[Row]:
    """Return eGRID 2018 and 2022 for all subregions and the three published CO2e rates of 2023."""
    rows = []
    for row in read(shared / "grid/us_egrid_subregions.csv"):
        prefix, source, status, wanted, gwp_set = EGRID[row["edition"]]
        # The second CAMX row of 2023 is CO2 only: its CO2e cells are empty and it is left out.
        if (wanted and row["subregion"] not in wanted) or not row["co2e_total_output_kg_per_mwh"]:
            continue
        recalled = "; GWP set taken as that of eGRID2022 (recalled)" if wanted else ""
        rows.append(
            factor(
                f"{prefix}-{row['subregion']}",
                "USA" if row["subregion"] == "US" else row["subregion"],
                "location",
                row["data_year"],
                float(row["co2e_total_output_kg_per_mwh"]),  # kg/MWh is g/kWh
                f"direct|production|CO2e|{gwp_set}",
                publisher="US EPA",
                source=source,
                edition=row["edition"],
                licence="US public domain",
                status=status,
                note=row["note"] + recalled,
            )
        )
    return rows


RESIDUAL_KEYS = {
    GREENE_2018: ("greene2018", "greene_2018", "direct|production|CO2 only|none"),
    GREENE_2025: ("greene2025", "greene_2025", "direct|production|CO2e|AR6"),
    AIB_2018: ("aib2018", "aib_2018", "direct|consumption|CO2 only|none"),
    AIB_2024: ("aib2024", "aib_2024", "direct|consumption|CO2 only|none"),
}


def residual_factors(shared: Path) -> list[Row]:
    """Return the selected residual mixes: single facts, cited."""
    table = read(shared / "grid/residual_mix.csv")
    rows = []
    for edition, zone_id in RESIDUALS:
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


def losses(shared: Path) -> list[Row]:
    """Return the losses of transmission and distribution, in percent of output."""
    own = {pair.split(":")[0] for pair in places.COUNTRIES} | {places.WORLD}
    return [
        {
            "zone_id": row["iso3"],
            "year": row["year"],
            "td_loss_pct_of_output": row["td_loss_pct_of_output"],
            "source": "wdi_losses",
            "status": "estimate" if row["confidence"] == "recalled" else "catalogue",
            "note": "recalled" if row["confidence"] == "recalled" else "",
        }
        for row in read(shared / "grid/td_losses.csv")
        if row["iso3"] in own
    ]
