"""Fields of the tables of weather: places, hourly years, monthly normals and climate stations."""

from __future__ import annotations

from typing import Any

from catalogue_field_kinds import NOTE, SOURCE, Field, count, field, key, need, number, status

WEATHER_FILE = "weather_hours.parquet"
#: field of a year of weather: whole steps in one unit of it, as the file stores it
STEPS = {
    "dry_bulb_c": 10.0,
    "dew_point_c": 10.0,
    "relative_humidity": 1000.0,
    "pressure_pa": 0.1,
    "ghi_w_per_m2": 1.0,
    "dni_w_per_m2": 1.0,
    "dhi_w_per_m2": 1.0,
    "wind_speed_m_per_s": 10.0,
    "cloud_cover": 100.0,
}
_STORED = {
    "dry_bulb_c": ("0.1 C", "Dry bulb"),
    "dew_point_c": ("0.1 C", "Dew point"),
    "relative_humidity": ("0.001", "Relative humidity"),
    "pressure_pa": ("10 Pa", "Pressure"),
    "ghi_w_per_m2": ("W/m2", "Global horizontal irradiance"),
    "dni_w_per_m2": ("W/m2", "Direct normal irradiance"),
    "dhi_w_per_m2": ("W/m2", "Diffuse horizontal irradiance"),
    "wind_speed_m_per_s": ("0.1 m/s", "Wind speed"),
    "cloud_cover": ("0.01", "Cloud cover"),
}
_HOURS_LICENCE = (
    "Per year, in weather_years.csv: CC BY 4.0, Weather data by Open-Meteo.com; NOAA ISD, public domain, with ERA5, "
    "Copernicus licence with attribution; US government work (TMY3)"
)

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "weather_places": (
        "Places and climate zones with weather",
        ["place_id"],
        "Own table of facts; licence of the weather per row",
    ),
    "weather_years": ("Hourly years of weather_hours.parquet", ["weather_id"], _HOURS_LICENCE),
    "weather_normals": (
        "Mean temperature, humidity and sun of each month",
        ["place_id", "month"],
        "Monthly means of files that are not carried; licence per place in weather_places.csv",
    ),
    "weather_stations": (
        "Climate stations near data centres: design temperatures and degree days",
        ["station_id"],
        "Single facts of the TMYx catalogue of Climate.OneBuilding.Org after idfkit, MIT",
    ),
}
FOREIGN_KEYS: dict[str, list[tuple[str, str, str]]] = {
    "weather_years": [("place_id", "weather_places", "place_id")],
    "weather_normals": [("place_id", "weather_places", "place_id")],
}


def _place() -> list[Field]:
    return [
        number("latitude_deg", "deg", "North is positive.", minimum=-90, maximum=90),
        number("longitude_deg", "deg", "East is positive.", minimum=-180, maximum=180),
        number("elevation_m", "m", "Above sea level.", minimum=-450),
        number("standard_offset_h", "h", "Standard time less UTC.", minimum=-12, maximum=14),
    ]


FIELDS: dict[str, list[Field]] = {
    "weather_places": [
        key("place_id", "Identifier."),
        need("name", "Name of the place or climate zone."),
        field("other_names", "Other names, separated by semicolons."),
        need("kind", "What it is.", enum=["place", "climate zone"]),
        field("country", "ISO code."),
        *_place(),
        field("normals", "What the monthly normals are means of; empty where there are none."),
        need("licence", "Licence of the weather that the normals are means of."),
        SOURCE,
        status(),
        NOTE,
    ],
    "weather_years": [
        key("weather_id", "Identifier, and the first word of the columns of the file."),
        need("place_id", "Place."),
        need("kind", "A year that was, or months of several.", enum=["historical", "typical"]),
        count("year", "year", "Calendar year; empty for a typical one."),
        need("first_utc", "Start of the hour of the first row."),
        count("hours", "h", "Rows.", required=True),
        need("convention", "What the source's labels name.", enum=["beginning", "ending", "instant"]),
        number("irradiance_offset_h", "h", "Where in the hour the sun of the irradiance stands.", required=True),
        need("quantities", "Fields that the file holds, separated by semicolons."),
        need("licence", "Licence and attribution."),
        SOURCE,
        status(),
        NOTE,
    ],
    "weather_normals": [
        need("place_id", "Place."),
        count("month", "", "1 to 12.", required=True, maximum=12),
        number("mean_temp_c", "C", "Mean dry bulb.", minimum=-60, required=True),
        number("mean_daily_min_c", "C", "Mean of the daily minima.", minimum=-70, required=True),
        number("mean_daily_max_c", "C", "Mean of the daily maxima.", minimum=-60, required=True),
        number("mean_relative_humidity_pct", "%", "Mean relative humidity.", maximum=100, required=True),
        number("mean_pressure_pa", "Pa", "Mean pressure."),
        number("mean_ghi_kwh_per_m2_day", "kWh/m2/d", "Mean global horizontal irradiation of a day: sunlight."),
        number("mean_wind_speed_m_per_s", "m/s", "Mean wind speed."),
        number("mean_cloud_cover_pct", "%", "Mean cloud cover.", maximum=100),
        SOURCE,
        status(),
    ],
    "weather_stations": [
        key("station_id", "Identifier: the place that the station serves."),
        need("wmo", "Number of the station in the World Meteorological Organization; one may serve two places."),
        need("place", "Data-centre place that the station is nearest to."),
        number("place_latitude_deg", "deg", "Of the place.", minimum=-90, maximum=90, required=True),
        number("place_longitude_deg", "deg", "Of the place.", minimum=-180, maximum=180, required=True),
        need("station", "Name of the station."),
        *_place(),
        number("distance_km", "km", "From the station to the place.", required=True),
        need("ashrae_climate_zone", "Climate zone: its city lends daily range and humidity to a synthesised year."),
        number("heating_design_c", "C", "Dry bulb that 99.6 % of the year's hours lie above.", minimum=-70),
        number("cooling_design_c", "C", "Dry bulb that 0.4 % of the year's hours lie above.", minimum=-70),
        number("hdd18_k_day", "K d", "Heating degree days below 18.3 C.", required=True),
        number("cdd10_k_day", "K d", "Cooling degree days above 10 C.", required=True),
        number("annual_mean_c", "C", "Mean dry bulb that fits both sums of degree days.", minimum=-60, required=True),
        number("amplitude_k", "K", "Half the yearly swing that fits both sums of degree days.", required=True),
        need("dataset", "Typical year that the statistics are of."),
        SOURCE,
        status(),
        NOTE,
    ],
}


def hours_resource(columns: list[str]) -> dict[str, Any]:
    """Return the description of the file of hours, whose columns are a year and a quantity each."""
    fields = []
    for name in columns:
        weather_id, quantity = name.split(" ")
        unit, title = _STORED[quantity]
        said = f"{title} of {weather_id}, whole steps. A missing cell is an hour that the year does not have."
        fields.append({"name": name, "type": "integer", "unit": unit, "description": said})
    return {
        "name": "weather-hours",
        "title": "Hourly weather of data-centre places, rows in the order of weather_years.csv: first_utc",
        "path": WEATHER_FILE,
        "profile": "data-resource",
        "format": "parquet",
        "licenses": [{"title": _HOURS_LICENCE}],
        "sources": [{"title": "per year in weather_years.csv, explained in sources.csv", "path": "weather_years.csv"}],
        "schema": {"fields": fields},
    }
