"""Weather of places as tables: hourly years, monthly normals, stations; ``energy.weather`` makes years of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from energy.catalogue import _tables
from energy.catalogue._names import find, grouped
from energy.catalogue._records import build
from energy.errors import CatalogueError
from energy.resources import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HOURS_FILE = "weather_hours.parquet"
# Whole steps of the file in one unit of a field; datapackage.json says the same, and a test holds both equal.
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


@dataclass(frozen=True, slots=True)
class WeatherPlace:
    """A place or climate zone that has weather; a zone has no coordinates, elevation or clock."""

    place_id: str
    name: str
    other_names: tuple[str, ...]
    kind: str
    country: str
    latitude_deg: float | None
    longitude_deg: float | None
    elevation_m: float | None
    standard_offset_h: float | None
    normals: str
    licence: str
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class WeatherHours:
    """One hourly year of a place: what its hours are. ``year`` is None for a typical year."""

    weather_id: str
    place_id: str
    kind: str
    year: int | None
    first_utc: str
    hours: int
    convention: str
    irradiance_offset_h: float
    quantities: tuple[str, ...]
    licence: str
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class WeatherNormals:
    """Monthly means of a place, one value a month in tuples of twelve; None where a source has none."""

    place_id: str
    mean_temp_c: tuple[float, ...]
    daily_range_k: tuple[float, ...]
    relative_humidity: tuple[float, ...]
    pressure_pa: tuple[float, ...] | None
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WeatherStation:
    """A climate station near a data-centre place: ``distance_km`` lies between the two."""

    station_id: str
    wmo: str
    place: str
    place_latitude_deg: float
    place_longitude_deg: float
    station: str
    latitude_deg: float
    longitude_deg: float
    elevation_m: float
    standard_offset_h: float
    distance_km: float
    ashrae_climate_zone: str
    heating_design_c: float | None
    cooling_design_c: float | None
    hdd18_k_day: float
    cdd10_k_day: float
    annual_mean_c: float
    amplitude_k: float
    dataset: str
    source: tuple[str, ...]
    status: str
    note: str


@cache
def all_weather_places() -> tuple[WeatherPlace, ...]:
    """Return all places and climate zones, in the order of the table.

    Examples
    --------
    >>> all_weather_places()[0].name
    'Sydney'

    """
    return tuple(build(WeatherPlace, row) for row in _tables.rows("weather_places"))


@cache
def all_weather_hours() -> tuple[WeatherHours, ...]:
    """Return all hourly years, in the order of the table.

    Examples
    --------
    >>> sorted({one.kind for one in all_weather_hours()})
    ['historical', 'typical']

    """
    return tuple(build(WeatherHours, row) for row in _tables.rows("weather_years"))


@cache
def all_weather_stations() -> tuple[WeatherStation, ...]:
    """Return all climate stations, in the order of the table.

    Examples
    --------
    >>> all_weather_stations()[0].place
    'Ashburn, Virginia'

    """
    return tuple(build(WeatherStation, row) for row in _tables.rows("weather_stations"))


@cache
def weather_normals() -> Mapping[str, WeatherNormals]:
    """Return the monthly normals by place.

    Examples
    --------
    >>> weather_normals()["frankfurt"].mean_temp_c[6]
    20.56

    """
    months: dict[str, list[_tables.Row]] = {}
    for row in _tables.rows("weather_normals"):
        months.setdefault(row.text("place_id"), []).append(row)
    found = {}
    for place_id, rows in months.items():
        if [row.integer("month") for row in rows] != list(range(1, 13)):
            raise CatalogueError(f"weather_normals.csv: {place_id} has not the twelve months in their order.")
        pressures = [row.maybe_number("mean_pressure_pa") for row in rows]
        known = tuple(one for one in pressures if one is not None)
        found[place_id] = WeatherNormals(
            place_id=place_id,
            mean_temp_c=tuple(row.number("mean_temp_c") for row in rows),
            daily_range_k=tuple(row.number("mean_daily_max_c") - row.number("mean_daily_min_c") for row in rows),
            relative_humidity=tuple(row.number("mean_relative_humidity_pct") / 100.0 for row in rows),
            pressure_pa=known if len(known) == len(rows) else None,
            source=rows[0].words("source"),
        )
    return found


def plain(name: str) -> str:
    """Return a name without accents.

    Examples
    --------
    >>> plain("Zürich")
    'Zurich'

    """
    return "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))


@cache
def weather_names() -> Mapping[str, tuple[str, ...]]:
    """Return every folded name of a place or climate zone, with the identifiers that it fits.

    Examples
    --------
    >>> weather_names()["zurich"], weather_names()["4a"]
    (('zurich-kloten',), ('ashrae-4a',))

    """
    return grouped(
        (spelt, one.place_id)
        for one in all_weather_places()
        for name in (one.place_id, one.name, *one.other_names)
        for spelt in (name, plain(name))
    )


def weather_place(name: str) -> WeatherPlace:
    """Return a place or climate zone by its identifier or one of its names.

    Raises
    ------
    UnknownNameError
        It is not known; the message gives the nearest names.

    Examples
    --------
    >>> weather_place("zone 4A").place_id, weather_place("New York").place_id
    ('ashrae-4a', 'new-york-city')

    """
    known = weather_names()
    listed = [text for one in all_weather_places() for text in (one.name, *one.other_names)]
    place_id = find(plain(name), known, "place with weather", listed)
    return next(one for one in all_weather_places() if one.place_id == place_id)


def weather_columns(weather_id: str, quantities: tuple[str, ...], hours: int) -> dict[str, NDArray[np.float64]]:
    """Return the columns of an hourly year in the units of their names; NaN where an hour is missing.

    Parameters
    ----------
    weather_id : str
        Of :class:`WeatherHours`.
    quantities : tuple of str
        Which columns.
    hours : int
        Of the year.

    Examples
    --------
    >>> year = next(one for one in all_weather_hours() if one.weather_id == "frankfurt-2024")
    >>> weather_columns(year.weather_id, ("dry_bulb_c",), year.hours)["dry_bulb_c"].shape
    (8784,)

    """
    import numpy as np
    import pyarrow.parquet as parquet

    names = [f"{weather_id} {quantity}" for quantity in quantities]
    table = parquet.read_table(resource("datasets") / HOURS_FILE, columns=names, use_threads=False)
    return {
        quantity: table.column(name).to_numpy()[:hours].astype(np.float64) / STEPS[quantity]
        for quantity, name in zip(quantities, names, strict=True)
    }
