"""How the package makes a year of weather from its tables: hours of a file, or hours from means of months."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import weather as tables
from energy.errors import WeatherError
from energy.weather.psychrometrics import standard_pressure_pa
from energy.weather.synthesis import synthesised_year
from energy.weather.year import HOUR, Kind, WeatherYear, weather_year

Numbers = NDArray[np.float64]
Basis = Literal["hourly file", "monthly normals", "degree days of a station"]

SEED = 1
# Swing of the months over that derived from degree days, K + K per K + K per degree of latitude; fitted by
# scripts/fit_weather_station.py. The derived one is too small at mild and maritime places.
SWING_K, SWING_PER_K, SWING_PER_DEG = -0.34, 0.78, 0.082
STATION_ERROR_K = 1.2  # mean absolute error of a monthly mean made from degree days, stations left out one at a time
_MIDDLES = np.array([15, 45, 74, 105, 135, 166, 196, 227, 258, 288, 319, 349])
_COLDEST_DAY_NORTH, _COLDEST_DAY_SOUTH = 18, 200


@dataclass(frozen=True, slots=True)
class WeatherChoice:
    """Weather that there is for a place, not yet read.

    Attributes
    ----------
    asked : str
        The place that was asked for.
    place : str
        Whose weather it is.
    kind : historical, typical or synthesised
        A year that was; months of several years; hours made from monthly means by a seed.
    basis : hourly file, monthly normals, or degree days of a station
    year : int or None
        Of a historical year.
    distance_km : float, km
        From the place that was asked for; 0 where the weather is its own.
    key : str
        Identifier in the tables of the catalogue.
    licence : str
    source : tuple of str
        Keys of ``sources.csv``.

    """

    asked: str
    place: str
    kind: Kind
    basis: Basis
    year: int | None
    distance_km: float
    key: str
    licence: str
    source: tuple[str, ...]

    def read(self, seed: int = SEED) -> WeatherYear:
        """Return the year; ``seed`` is that of synthesised hours.

        Raises
        ------
        CatalogueError
            A table of the package is not whole.

        """
        makers = {"hourly file": _hourly, "monthly normals": _normal, "degree days of a station": _station}
        found = makers[self.basis](self, seed)
        if self.distance_km == 0.0:
            return found
        note = f"weather of {self.place}, {self.distance_km:.0f} km from {self.asked}, stands in"
        return replace(found, notes=(*found.notes, note))


def place_of(place_id: str) -> tables.WeatherPlace:
    """Return a place by its identifier.

    Examples
    --------
    >>> place_of("frankfurt").elevation_m
    111.0

    """
    return next(one for one in tables.all_weather_places() if one.place_id == place_id)


def _hourly(choice: WeatherChoice, _seed: int) -> WeatherYear:
    about = next(one for one in tables.all_weather_hours() if one.weather_id == choice.key)
    place = place_of(about.place_id)
    columns = tables.weather_columns(about.weather_id, about.quantities, about.hours)
    if "relative_humidity" in columns:
        columns.pop("dew_point_c", None)  # the two say the same to a rounding, and one is taken
    first = np.datetime64(about.first_utc.removesuffix("Z"), "s")
    found = weather_year(
        times=first + np.arange(about.hours) * HOUR,
        place=choice.place,
        elevation_m=_elevation(place),
        source="; ".join(choice.source),
        kind=choice.kind,
        convention="beginning",
        licence=choice.licence,
        notes=(about.note,) if about.note else (),
        irradiance_offset_h=about.irradiance_offset_h,
        **_position(place.latitude_deg, place.longitude_deg, place.standard_offset_h),
        **columns,
    )
    # the file holds the start of each hour; what the source's labels named is said of the whole
    return replace(found, convention="ending" if about.convention == "ending" else "instant")


def _normal(choice: WeatherChoice, seed: int) -> WeatherYear:
    place, normals = place_of(choice.key), tables.weather_normals()[choice.key]
    return synthesised_year(
        place=choice.place,
        mean_temp_c=normals.mean_temp_c,
        daily_range_k=normals.daily_range_k,
        relative_humidity=normals.relative_humidity,
        pressure_pa=normals.pressure_pa,
        elevation_m=_elevation(place),
        source="; ".join(choice.source),
        licence=choice.licence,
        seed=seed,
        notes=(f"normals: {place.normals}",),
        **_position(place.latitude_deg, place.longitude_deg, place.standard_offset_h),
    )


def _elevation(place: tables.WeatherPlace) -> float:
    """Return the elevation; that of the standard atmosphere with the mean pressure where only that is known."""
    if place.elevation_m is not None:
        return place.elevation_m
    pressures = tables.weather_normals()[place.place_id].pressure_pa
    if pressures is None:
        raise WeatherError(f"{place.name} has neither elevation nor pressure in weather_places.csv.")
    heights = np.linspace(-450.0, 4000.0, 4451)
    return float(np.interp(-float(np.mean(pressures)), -standard_pressure_pa(heights), heights))


def _position(latitude_deg: float | None, longitude_deg: float | None, offset_h: float | None) -> dict[str, Any]:
    known: dict[str, Any] = {"latitude_deg": latitude_deg, "longitude_deg": longitude_deg}
    return known if offset_h is None else known | {"standard_offset_h": offset_h}


def month_means_c(annual_mean_c: float, swing_k: float, latitude_deg: float) -> Numbers:
    """Return mean temperatures of the months from mean and half swing of the year.

    Parameters
    ----------
    annual_mean_c : float, C
    swing_k : float, K
        Half of the difference of warmest and coldest day.
    latitude_deg : float, deg
        South of the equator the coldest day is in July.

    Returns
    -------
    array, shape (12,), C
        T = mean - swing cos(2 pi (d - 18)/365) in the middle of each month; d - 200 in the south.

    Examples
    --------
    >>> month_means_c(10.0, 12.0, 50.0).round(1)[[0, 6]].tolist()
    [-2.0, 22.0]

    """
    coldest = _COLDEST_DAY_SOUTH if latitude_deg < 0.0 else _COLDEST_DAY_NORTH
    result: Numbers = annual_mean_c - swing_k * np.cos(2.0 * np.pi * (_MIDDLES - coldest) / 365.0)
    return result


def station_months_c(station: tables.WeatherStation) -> Numbers:
    """Return mean temperatures of the months of a climate station, shape (12,), C, from its degree days.

    Examples
    --------
    >>> dublin = next(one for one in tables.all_weather_stations() if one.place == "Dublin, Ireland")
    >>> station_months_c(dublin).round(1)[[0, 6]].tolist()
    [5.2, 14.7]

    """
    swing = SWING_K + SWING_PER_K * station.amplitude_k + SWING_PER_DEG * abs(station.latitude_deg)
    return month_means_c(station.annual_mean_c, max(swing, 0.0), station.latitude_deg)


def _station(choice: WeatherChoice, seed: int) -> WeatherYear:
    """Make a year from a station's degree days; daily range and humidity are those of its climate zone's city."""
    station = next(one for one in tables.all_weather_stations() if one.station_id == choice.key)
    zone = tables.weather_normals()[tables.weather_place(f"ASHRAE zone {station.ashrae_climate_zone}").place_id]
    turn = 6 if station.latitude_deg < 0.0 else 0
    return synthesised_year(
        place=choice.place,
        mean_temp_c=station_months_c(station),
        daily_range_k=np.roll(zone.daily_range_k, turn),
        relative_humidity=np.roll(zone.relative_humidity, turn),
        elevation_m=station.elevation_m,
        source="; ".join(choice.source),
        licence=choice.licence,
        seed=seed,
        notes=(
            f"months from degree days, {STATION_ERROR_K:g} K off on the mean; daily range and humidity of the city of "
            f"ASHRAE zone {station.ashrae_climate_zone}",
        ),
        **_position(station.latitude_deg, station.longitude_deg, station.standard_offset_h),
    )
