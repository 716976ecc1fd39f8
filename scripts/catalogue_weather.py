"""Weather of the curated tables: places, hourly years, monthly normals and climate stations."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from catalogue_fields_weather import STEPS
from catalogue_io import Row, number, read, short

SOURCES: dict[str, tuple[str, str, str, str, str]] = {
    "open_meteo": (
        "Open-Meteo historical weather, hourly, one year of sixteen places, and monthly means of 2020 to 2024",
        "github.com/HewlettPackard/sustain-cluster data/weather @293fbd1; open-meteo.com",
        "2024",
        "CC BY 4.0: Weather data by Open-Meteo.com (copy: MIT)",
        "reanalysis on a grid",
    ),
    "tmyx_dc_rl": (
        "TMYx 2007-2021, typical years of Climate.OneBuilding.Org from NOAA NCEI ISD and ERA5",
        "github.com/HewlettPackard/dc-rl @a92b475, EPW files",
        "2021",
        "NOAA ISD: public domain; ERA5: Copernicus licence, attribution (copy: MIT)",
        "stations; irradiance from reanalysis, its beam fits the sun of half an hour earlier",
    ),
    "tmy3_sinergym": (
        "TMY3 of NREL (2008): Aurora (Denver) and Pittsburgh",
        "github.com/ugr-sail/sinergym @f92ac94, EPW files",
        "2008",
        "US government work (copy: MIT)",
        "stations; irradiance modelled",
    ),
    "epw_means": (
        "Monthly means of typical years whose files are not carried (IWEC, INETI, TMY)",
        "EPW files in github.com/ugr-sail/sinergym @f92ac94, CityEnergyAnalyst and accim-samples 0.8.2",
        "2024",
        "single facts: means that were computed; IWEC files, all rights reserved, are not carried",
        "typical years of the 1980s to 2023",
    ),
    "ashrae_zone_means": (
        "Monthly means of a typical year for each ASHRAE climate zone",
        "github.com/nuoaleon/UEcalculator_dash_app @2546c9a src/data/climate data.xlsx",
        "2023",
        "single facts: means that were computed; the repository states no licence for the hours",
        "representative cities, most of them not named",
    ),
    "tmyx_stations": (
        "Design temperatures and degree days of climate stations, TMYx catalogue of Climate.OneBuilding.Org",
        "station index of package idfkit 1.1.1",
        "2025",
        "MIT (package); single facts",
        "mean and swing derived from degree days: monthly means err by 1.4 K",
    ),
}
_SOURCE_OF = (
    ("Open-Meteo", "open_meteo"),
    ("dc-rl", "tmyx_dc_rl"),
    ("724695_TMY3", "tmy3_sinergym"),
    ("725205_TMY3", "tmy3_sinergym"),
    ("UEcalculator", "ashrae_zone_means"),
    (".epw", "epw_means"),
    ("idfkit", "tmyx_stations"),
)
_CLOCKS = {  # standard time less UTC of places that the shared index does not have, h
    "Atlanta, Georgia": -5.0,
    "New York LaGuardia": -5.0,
    "Pittsburgh, Pennsylvania": -5.0,
    "Stockholm Arlanda": 1.0,
    "Helsinki (Vantaa)": 2.0,
    "Lisbon": 0.0,
    "Bogotá": -5.0,
    "Sydney airport": 10.0,
    "Tokyo Hyakuri": 9.0,
    "Singapore Changi": 8.0,
    "Shanghai Hongqiao": 8.0,
    "Zürich Kloten": 1.0,
    "London Gatwick": 0.0,
    "Ahmedabad": 5.5,
    "Palmas (Brazil)": -3.0,
}
_OTHER_NAMES = {
    "Ashburn (Leesburg), Virginia": "Ashburn;Leesburg;Leesburg, Virginia",
    "Phoenix, Arizona": "Phoenix",
    "Dallas-Fort Worth, Texas": "Dallas-Fort Worth",
    "Chicago, Illinois": "Chicago;Chicago O'Hare",
    "Seattle, Washington": "Seattle",
    "Atlanta, Georgia": "Atlanta",
    "Aurora (Denver), Colorado": "Aurora;Denver",
    "Pittsburgh, Pennsylvania": "Pittsburgh",
    "New York City": "New York",
    "New York LaGuardia": "LaGuardia",
    "Stockholm Arlanda": "Stockholm",
    "Helsinki (Vantaa)": "Helsinki;Vantaa",
    "Shanghai Hongqiao": "Shanghai",
    "Zürich Kloten": "Zürich",
    "Palmas (Brazil)": "Palmas",
}
_COUNTRIES = {
    "US": "USA",
    "DE": "DEU",
    "GB": "GBR",
    "AU": "AUS",
    "BR": "BRA",
    "CA": "CAN",
    "CL": "CHL",
    "IN": "IND",
} | {
    "JP": "JPN",
    "KR": "KOR",
    "SG": "SGP",
    "ZA": "ZAF",
    "Singapore Changi": "SGP",
    "Zürich Kloten": "CHE",
    "Ahmedabad": "IND",
    "Palmas (Brazil)": "BRA",
}
_ZONE = "ASHRAE zone "
_FIELD_OF = {
    "temp_air_c": "dry_bulb_c",
    "temp_dew_c": "dew_point_c",
    "relative_humidity_pct": "relative_humidity",
    "pressure_pa": "pressure_pa",
    "ghi_w_per_m2": "ghi_w_per_m2",
    "dni_w_per_m2": "dni_w_per_m2",
    "dhi_w_per_m2": "dhi_w_per_m2",
    "wind_speed_m_per_s": "wind_speed_m_per_s",
    "wind_speed_10m_m_per_s": "wind_speed_m_per_s",
    "cloud_cover_pct": "cloud_cover",
}


def source_of(text: str) -> str:
    """Return the key of the source that a shared table writes out."""
    return next(key for part, key in _SOURCE_OF if part in text)


def slug(name: str) -> str:
    """Return a name as an identifier: plain letters, digits and hyphens; climate zones by their code."""
    if name.startswith(_ZONE):
        return f"ashrae-{name.removeprefix(_ZONE).partition(':')[0].lower()}"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def standard_offset_h(zone: str) -> float:
    """Return standard time less UTC of a clock, which in the years at hand is the smaller offset of the year."""
    clock = ZoneInfo(zone)
    offsets = (datetime(2023, month, 1, tzinfo=UTC).astimezone(clock).utcoffset() for month in (1, 7))
    return min(one.total_seconds() / 3600.0 for one in offsets if one is not None)


def _index(shared: Path) -> list[Row]:
    rows = read(shared / "weather/index.csv")
    return [row for row in rows if row["file"].startswith(("openmeteo_", "tmy_"))]


def _normals(shared: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in read(shared / "weather/monthly_normals.csv"):
        found.setdefault(row["location"], []).append(row)
    return found


def places(shared: Path) -> list[Row]:
    """Return every place with hours or normals, and the climate zones."""
    index = {row["location"]: row for row in _index(shared)}
    rows: list[Row] = []
    for name, months in _normals(shared).items():
        first, source = months[0], source_of(months[0]["source"])
        is_zone = name.startswith(_ZONE)
        rows.append(
            {
                "place_id": slug(name),
                "name": name,
                "other_names": _zone_names(name) if is_zone else _OTHER_NAMES.get(name, ""),
                "kind": "climate zone" if is_zone else "place",
                "country": _COUNTRIES.get(name, _COUNTRIES.get(first["country"], first["country"])),
                **{column: first[column] for column in ("latitude_deg", "longitude_deg", "elevation_m")},
                "standard_offset_h": "" if is_zone else _clock(name, index),
                "normals": f"{first['method']}: {first['source'].partition(' (')[0].rpartition('/')[2]}",
                "licence": SOURCES[source][3],
                "source": source,
                "status": "derived",
                "note": "no coordinates or elevation: the pressure is that of the source" if is_zone else "",
            }
        )
    missing = set(index) - {row["name"] for row in rows}
    if missing:
        raise SystemExit(f"hourly places without normals: {sorted(missing)}")
    return rows


def _zone_names(name: str) -> str:
    code = name.removeprefix(_ZONE).partition(":")[0]
    return f"{_ZONE}{code};zone {code};{code}"


def _clock(name: str, index: dict[str, Row]) -> float:
    if name not in index:
        return _CLOCKS[name]
    zone = index[name]["source_time_zone"]
    return standard_offset_h(zone) if "/" in zone else float(index[name]["source_utc_offset_h"])


def years(shared: Path) -> tuple[list[Row], dict[str, list[int | None]]]:
    """Return the hourly years, and the columns of their file."""
    rows: list[Row] = []
    columns: dict[str, list[int | None]] = {}
    for about in _index(shared):
        hours = read(shared / "weather" / about["file"])
        is_typical = about["kind"] == "typical_year"
        place = slug(about["location"])
        weather_id = f"{place}-{'typical' if is_typical else about['year']}"
        fields = [field for column, field in _FIELD_OF.items() if column in hours[0]]
        for column, field in _FIELD_OF.items():
            if column in hours[0]:
                columns[f"{weather_id} {field}"] = [_steps(row[column], column, field) for row in hours]
        source = source_of(about["origin"])
        said = sorted({int(row["year"]) for row in hours}) if is_typical else []
        offset = float(about["source_utc_offset_h"]) if is_typical else 0.0
        first = f"2021-01-01T{round(-offset):02}:00Z" if is_typical else hours[0]["time_utc"]
        rows.append(
            {
                "weather_id": weather_id,
                "place_id": place,
                "kind": "typical" if is_typical else "historical",
                "year": "" if is_typical else about["year"],
                "first_utc": first,
                "hours": len(hours),
                "convention": "ending" if is_typical else "instant",
                "irradiance_offset_h": 0.5,
                "quantities": ";".join(fields),
                "licence": SOURCES[source][3],
                "source": source,
                "status": "catalogue",
                "note": f"months of {said[0]} to {said[-1]} on the calendar of 2021" if said else "",
            }
        )
    longest = max(len(values) for values in columns.values())
    return rows, {name: [*values, *[None] * (longest - len(values))] for name, values in columns.items()}


def _steps(text: str, column: str, field: str) -> int | None:
    """Return a cell in the whole steps of the file; an empty cell is a missing hour."""
    if not text:
        return None
    return round(float(text) * (0.01 if column.endswith("_pct") else 1.0) * STEPS[field])


def normals(shared: Path) -> list[Row]:
    """Return the monthly means of all places and zones."""
    names = (
        *("mean_temp_c", "mean_daily_min_c", "mean_daily_max_c", "mean_relative_humidity_pct", "mean_pressure_pa"),
        *("mean_ghi_kwh_per_m2_day", "mean_wind_speed_m_per_s", "mean_cloud_cover_pct"),
    )
    return [
        {"place_id": slug(name), "month": row["month"], "source": source_of(row["source"]), "status": "derived"}
        | {column: "" if row[column] == "" else short(float(row[column])) for column in names}
        for name, months in _normals(shared).items()
        for row in sorted(months, key=lambda row: int(row["month"]))
    ]


def stations(shared: Path) -> list[Row]:
    """Return the climate stations near data-centre places."""
    renamed = {
        "wmo": "station_wmo",
        "place": "location",
        "place_latitude_deg": "latitude_deg",
        "place_longitude_deg": "longitude_deg",
        "station": "station",
        "latitude_deg": "station_latitude_deg",
        "longitude_deg": "station_longitude_deg",
        "elevation_m": "elevation_m",
        "standard_offset_h": "utc_offset_h",
        "distance_km": "station_distance_km",
        "ashrae_climate_zone": "ashrae_climate_zone",
        "heating_design_c": "heating_design_db_c",
        "cooling_design_c": "cooling_design_db_c",
        "hdd18_k_day": "hdd18_k_day",
        "cdd10_k_day": "cdd10_k_day",
        "annual_mean_c": "derived_annual_mean_temp_c",
        "amplitude_k": "derived_seasonal_amplitude_k",
        "dataset": "dataset",
    }
    rows: list[Row] = []
    for row in read(shared / "weather/datacenter_climate_stations.csv"):
        error = number(row["derived_fit_error_k_day"])
        note = f"degree days are met within {error:g} K d" if error else ""
        known = {"source": source_of(row["source"]), "status": "derived", "note": note}
        rows.append(
            {"station_id": slug(row["location"])} | {name: row[column] for name, column in renamed.items()} | known
        )
    return rows


def hours(shared: Path) -> dict[str, list[int | None]]:
    """Return the columns of the file of hours, all of one length: shorter years end with missing cells."""
    return years(shared)[1]


def tables(shared: Path) -> dict[str, list[Row]]:
    """Return all tables of this room."""
    return {
        "weather_places": places(shared),
        "weather_years": years(shared)[0],
        "weather_normals": normals(shared),
        "weather_stations": stations(shared),
    }
