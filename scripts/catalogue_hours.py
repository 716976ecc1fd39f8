"""Hourly grid intensity: the average day of each month, whole years, and marginal intensity."""

from __future__ import annotations

import math
from calendar import isleap, monthrange
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from catalogue_fields import HOURS_FILE
from catalogue_io import Row, short

FUELS = ("coal", "gas", "oil", "nuclear", "hydro", "wind", "solar", "biomass", "geothermal", "other")
EIA, ENTSOE = ("us_eia930_2022", "eia930_2022"), ("eu_entsoe_2019_2020", "entsoe_2020")
EIA_NOTE = "stamps taken as UTC and as the start of the hour; the copy states neither"
OLD_NOTE = "2020 was a year of low demand; pumped storage is left out"
YEAR_2019 = "pumped storage is left out"

# (zone of the file, zone here, (file, source), calendar year, what a user must know)
PROFILES: list[tuple[str, str, tuple[str, str], int, str]] = [
    ("US-CISO", "US-CISO", EIA, 2022, EIA_NOTE),
    ("US-PJM", "US-PJM", EIA, 2022, EIA_NOTE),
    ("US-ERCO", "US-ERCO", EIA, 2022, EIA_NOTE),
    ("DE", "DEU", ENTSOE, 2020, OLD_NOTE),
    *((zone, zone, EIA, 2022, EIA_NOTE) for zone in ("US-AZPS", "US-BPAT", "US-MISO", "US-NYIS", "US-SOCO")),
    ("AT", "AUT", ENTSOE, 2020, OLD_NOTE),
    ("BE", "BEL", ENTSOE, 2020, OLD_NOTE),
    (
        "CH",
        "CHE",
        ENTSOE,
        2019,
        f"{YEAR_2019}; the data have no thermal generation: the direct intensity is not known",
    ),
    ("CZ", "CZE", ENTSOE, 2020, OLD_NOTE),
    ("DK", "DNK", ENTSOE, 2020, OLD_NOTE),
    ("ES", "ESP", ENTSOE, 2020, OLD_NOTE),
    ("FI", "FIN", ENTSOE, 2020, OLD_NOTE),
    ("FR", "FRA", ENTSOE, 2020, f"{OLD_NOTE}; coal slightly below zero in 599 hours: counted as zero"),
    ("GB", "GBR", ENTSOE, 2020, f"{OLD_NOTE}; without Northern Ireland"),
    ("IE", "IRL", ENTSOE, 2020, f"{OLD_NOTE}; 120 hours are missing"),
    ("IT", "ITA", ENTSOE, 2020, OLD_NOTE),
    ("NL", "NLD", ENTSOE, 2020, f"{OLD_NOTE}; the data have 88 of about 120 TWh"),
    ("NO", "NOR", ENTSOE, 2019, YEAR_2019),
    ("PL", "POL", ENTSOE, 2020, OLD_NOTE),
    (
        "SE",
        "SWE",
        ENTSOE,
        2019,
        f"{YEAR_2019}; all thermal generation is in 'other': too high, 55.9 lifecycle over the year, Ember has 42.3",
    ),
]
# source: (publisher, edition, licence)
PUBLISHERS = {
    "eia930_2022": ("US EIA", "EIA-930, {year}", "US public domain"),
    "entsoe_2020": ("ENTSO-E", "Transparency Platform, {year}", "CC BY 4.0 (recalled: verify before a release)"),
}
BOUNDARIES = ("direct", "lifecycle")


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour that was wholly measured."""

    stamp: datetime
    generation: float
    direct: float
    lifecycle: float

    def value(self, boundary: str) -> float:
        """Return the intensity of a boundary."""
        return self.direct if boundary == "direct" else self.lifecycle


def measured(shared: Path, file: str, zone: str, year: int) -> tuple[list[Hour], bool]:
    """Return the hours that were wholly measured, and whether the zone reports any combustion.

    An hour is missing when a fuel that the zone reports at all has an empty cell: as zero, it would shift the mix.
    """
    import pyarrow.parquet as parquet

    table = parquet.read_table(shared / f"grid/hourly/{file}.parquet", filters=[("zone", "=", zone)]).to_pylist()
    fuels = [f"{fuel}_mwh" for fuel in FUELS if any(row[f"{fuel}_mwh"] is not None for row in table)]
    hours = []
    for row in table:
        stamp, direct, lifecycle = row["datetime_utc"], row["gco2_per_kwh_direct"], row["gco2e_per_kwh_lifecycle"]
        if stamp.year != year or direct is None or lifecycle is None or any(row[fuel] is None for fuel in fuels):
            continue
        generation = math.fsum(max(0.0, row[fuel]) for fuel in fuels)  # as the two derived columns treat negatives
        if generation > 0:
            hours.append(Hour(stamp, generation, direct, lifecycle))
    return hours, any(f"{fuel}_mwh" in fuels for fuel in ("coal", "gas", "oil", "other"))


def month_rows(name: str, zone_id: str, year: int, source: str, hours: Sequence[Hour], burns: bool) -> list[Row]:
    """Return the average day of each month of one zone, weighted by generation, for both boundaries."""
    cells: dict[tuple[int, int], list[Hour]] = defaultdict(list)
    for hour in hours:
        cells[hour.stamp.month, hour.stamp.hour].append(hour)
    rows = []
    for month in range(1, 13):
        count = sum(len(cells[month, hour]) for hour in range(24))
        for boundary in BOUNDARIES:
            row: Row = {
                "profile_set": name,
                "zone_id": zone_id,
                "year": year,
                "month": month,
                "boundary": boundary,
                "n_hours": count,
                "coverage": round(count / (24 * monthrange(year, month)[1]), 6),
                "source": source,
                "status": "derived",
            }
            for hour in range(24):
                sample = cells[month, hour]
                if sample and (burns or boundary == "lifecycle"):
                    weight = math.fsum(item.generation for item in sample)
                    total = math.fsum(item.generation * item.value(boundary) for item in sample)
                    row[f"hour_{hour:02}"] = round(total / weight, 3)
            rows.append(row)
    return rows


def intensity(shared: Path) -> tuple[list[Row], list[Row], dict[str, list[int | None]]]:
    """Return the sets, their months, and the whole years as columns of tenths of a gram."""
    sets: list[Row] = []
    months: list[Row] = []
    columns: dict[str, list[int | None]] = {}
    for zone, zone_id, (file, source), year, note in PROFILES:
        hours, burns = measured(shared, file, zone, year)
        publisher, edition, licence = PUBLISHERS[source]
        name = f"{zone_id.lower()}-{year}"
        sets.append(
            {
                "profile_set": name,
                "zone_id": zone_id,
                "year": year,
                "attribution": "production",
                "publisher": publisher,
                "source": source,
                "edition": edition.format(year=year),
                "licence": licence,
                "n_hours": len(hours),
                "coverage": round(len(hours) / (8784 if isleap(year) else 8760), 6),
                "hours_file": HOURS_FILE if source == "eia930_2022" else "",
                "status": "derived",
                "note": note,
            }
        )
        months += month_rows(name, zone_id, year, source, hours, burns)
        if source == "eia930_2022":
            columns |= {f"{zone_id} {boundary}": year_column(hours, year, boundary) for boundary in BOUNDARIES}
    return sets, months, columns


def year_column(hours: Sequence[Hour], year: int, boundary: str) -> list[int | None]:
    """Return one value per hour of a year in tenths of a gram; None where the hour was not measured."""
    values: list[int | None] = [None] * (8784 if isleap(year) else 8760)
    for hour in hours:
        place = (hour.stamp.timetuple().tm_yday - 1) * 24 + hour.stamp.hour
        values[place] = round(10 * hour.value(boundary))
    return values


def write_hours(path: Path, columns: dict[str, list[int | None]]) -> None:
    """Write whole years, one column of small integers per zone and boundary."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = pa.table({name: pa.array(values, pa.int16()) for name, values in columns.items()})
    parquet.write_table(table, path, compression="zstd", compression_level=19, write_statistics=False)


# --- marginal intensity ---

AVERT_FILE = "us_avert_marginal_2023"
# Names of the regions (recalled). Alaska and Hawaii are constants, averages of eGRID and no marginal rates: left out.
AVERT_REGIONS = {
    "CA": "California",
    "CENT": "Central",
    "FL": "Florida",
    "MIDA": "Mid-Atlantic",
    "MIDW": "Midwest",
    "NCSC": "Carolinas",
    "NE": "New England",
    "NW": "Northwest",
    "NY": "New York",
    "RM": "Rocky Mountains",
    "SE": "Southeast",
    "SW": "Southwest",
    "TE": "Texas",
    "TN": "Tennessee",
}


def marginal(shared: Path) -> tuple[list[Row], list[Row]]:
    """Return the sets of marginal intensity and their months."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(shared / f"grid/hourly/{AVERT_FILE}.parquet").to_pylist()
    sets, months = [], []
    for region, name in AVERT_REGIONS.items():
        rows = sorted((row for row in table if row["avert_region"] == region), key=lambda row: row["hour_of_year"])
        identifier = f"avert2023-{region}"
        values = [row["gco2_per_kwh"] for row in rows]
        sets.append(
            {
                "marginal_id": identifier,
                "region": region,
                "name": name,
                "year": 2023,
                "mean_gco2_per_kwh": round(math.fsum(values) / len(values), 3),
                "low_gco2_per_kwh": short(round(min(values), 1)),
                "high_gco2_per_kwh": short(round(max(values), 1)),
                "n_hours": len(values),
                "n_negative_hours": sum(value < 0 for value in values),
                "coverage": round(len(values) / 8760, 6),
                "time_base": "the region's own local time; standard or summer time is not stated",
                "publisher": "US EPA",
                "source": "avert_2023",
                "edition": "AVERT v4.3, 2023",
                "licence": "US public domain",
                "status": "derived",
                "note": "marginal, CO2 only; of which kWh is not stated in the copy; names of regions recalled; "
                "negative hours are kept",
            }
        )
        months += marginal_months(identifier, rows)
    return sets, months


def marginal_months(identifier: str, rows: Iterable[dict[str, Any]]) -> list[Row]:
    """Return the average day of each month: plain means, as a marginal rate has no generation to weight it with."""
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for row in rows:
        cells[row["month"], row["hour_of_year"] % 24].append(row["gco2_per_kwh"])
    return [
        {
            "marginal_id": identifier,
            "month": month,
            **{
                f"hour_{hour:02}": round(math.fsum(cells[month, hour]) / len(cells[month, hour]), 3)
                for hour in range(24)
            },
            "n_hours": sum(len(cells[month, hour]) for hour in range(24)),
            "source": "avert_2023",
            "status": "derived",
        }
        for month in range(1, 13)
    ]
