"""Weather that the package has: hourly years of places, years made from monthly normals, climate stations.

Nothing stands in for another place unless it is asked for: ``within_km`` says how far away weather may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import weather as tables
from energy.catalogue.cloud import CloudRegion, cloud_region_by_name
from energy.errors import AmbiguousNameError, UnknownNameError, WeatherError, did_you_mean
from energy.weather.choice import SEED, Basis, WeatherChoice, place_of
from energy.weather.year import Kind, WeatherYear

Numbers = NDArray[np.float64]

EARTH_KM = 6371.0
#: up to here the best kind of weather is taken, an hourly file before normals; beyond it the nearest
BEST_WITHIN_KM = 100.0
_ORDER: dict[str, int] = {"typical": 0, "historical": 1, "synthesised": 2}


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where something lies, and what weather it has."""

    latitude_deg: float
    longitude_deg: float
    choice: WeatherChoice


def weather_of(
    place: str, year: int | None = None, *, kind: Kind | None = None, within_km: float | None = None, seed: int = SEED
) -> WeatherYear:
    """Return a year of weather of a place, climate zone, station or cloud region.

    Parameters
    ----------
    place : str
        ``Frankfurt``, ``ASHRAE zone 4A``, ``aws eu-central-1``, a data-centre place such as ``Luleå, Sweden``.
    year : int, optional
        A calendar year; only a historical file of it will do. Without it the best: typical, else the latest historical
        year, else one synthesised from monthly normals.
    kind : historical, typical or synthesised, optional
        Only that kind.
    within_km : float, km, optional
        How far away the weather may be. Without it only the place's own will do.
    seed : int
        Of synthesised hours.

    Returns
    -------
    WeatherYear
        ``kind`` says which it is; the notes name weather that stands in, with its distance.

    Raises
    ------
    UnknownNameError
        The place is not known; the message has the nearest names.
    WeatherError
        There is no such weather; the message has what there is.

    Examples
    --------
    >>> year = weather_of("Frankfurt", 2024)
    >>> year.kind, year.hours, float(year.dry_bulb_c.mean().round(1))
    ('historical', 8784, 11.8)
    >>> weather_of("aws eu-central-1", within_km=50).notes[-1]
    'weather of Frankfurt, 1 km from aws eu-central-1, stands in'

    """
    return find_weather(place, year, kind=kind, within_km=within_km).read(seed)


def find_weather(
    place: str, year: int | None = None, *, kind: Kind | None = None, within_km: float | None = None
) -> WeatherChoice:
    """Return which weather :func:`weather_of` takes, without reading it.

    Parameters
    ----------
    place, year, kind, within_km
        As in :func:`weather_of`.

    Raises
    ------
    UnknownNameError
        The place is not known; the message has the nearest names.
    WeatherError
        There is no such weather; the message has what there is.

    Examples
    --------
    >>> found = find_weather("Helsinki")
    >>> found.kind, found.basis, found.distance_km
    ('synthesised', 'monthly normals', 0.0)

    """
    _check(kind, within_km)
    own = _own(place)
    if own:
        fits = _fitting(own, year, kind)
        if fits:
            return fits[0]
        if within_km is None:
            raise WeatherError(f"{own[0].place} has {_listed(own)}{_not_that(year, kind)}")
    name, latitude, longitude = _where(place)
    return weather_near(latitude, longitude, name, year, kind=kind, within_km=within_km)


def weather_near(
    latitude_deg: float,
    longitude_deg: float,
    name: str = "",
    year: int | None = None,
    *,
    kind: Kind | None = None,
    within_km: float | None = None,
) -> WeatherChoice:
    """Return the best weather near a place: an hourly file, else monthly normals, else a climate station.

    Up to 100 km the better kind is taken before the nearer place, beyond it the nearest.

    Parameters
    ----------
    latitude_deg, longitude_deg : float, deg
        North and east are positive.
    name : str, optional
        Of the place, for notes.
    year, kind, within_km
        As in :func:`weather_of`.

    Raises
    ------
    WeatherError
        None is near enough; the message has the nearest.

    Examples
    --------
    >>> found = weather_near(50.1, 8.7, within_km=100)
    >>> found.place, round(found.distance_km), found.kind
    ('Frankfurt', 3, 'historical')

    """
    _check(kind, within_km)
    if not (-90.0 <= latitude_deg <= 90.0 and -180.0 <= longitude_deg <= 180.0):
        raise WeatherError(f"{latitude_deg:g}, {longitude_deg:g} is no latitude and longitude in degrees.")
    asked = name or f"{latitude_deg:g}, {longitude_deg:g}"
    pool = [spot for spot in _spots() if _fitting((spot.choice,), year, kind)]
    if not pool:
        raise WeatherError(f"No place has weather{_of_what(year, kind)}. Years there are: {_years()}.")
    distance = distances_km(
        latitude_deg,
        longitude_deg,
        np.array([spot.latitude_deg for spot in pool]),
        np.array([spot.longitude_deg for spot in pool]),
    )
    if within_km is not None and distance.min() <= within_km:
        at = min(
            np.flatnonzero(distance <= within_km).tolist(), key=lambda at: _nearness(pool[at], float(distance[at]))
        )
        return replace(pool[at].choice, asked=asked, distance_km=float(distance[at]))
    at = int(np.argmin(distance))
    nearest = f"the nearest{_of_what(year, kind)} is that of {pool[at].choice.place}, {distance[at]:.0f} km away"
    remedy = f"Allow it with within_km={int(np.ceil(distance[at]))}, or give a file."
    limit = "of its own" if within_km is None else f"within {within_km:g} km"
    raise WeatherError(f"{asked} has no weather {limit}: {nearest}, from {_article(pool[at].choice)}. {remedy}")


def all_weather() -> tuple[WeatherChoice, ...]:
    """Return all weather of the package: hourly years, then normals, then stations.

    Examples
    --------
    >>> [sum(one.basis == basis for one in all_weather()) for basis in get_args(Basis)]
    [25, 57, 68]

    """
    return (*_hourly_choices(), *_normal_choices(), *_station_choices())


def distances_km(latitude_deg: float, longitude_deg: float, latitudes_deg: Any, longitudes_deg: Any) -> Numbers:
    """Return great-circle distances from a place to others.

    Parameters
    ----------
    latitude_deg, longitude_deg : float, deg
    latitudes_deg, longitudes_deg : array, shape (n,), deg

    Returns
    -------
    array, shape (n,), km
        On a sphere of 6,371 km (haversine).

    Examples
    --------
    >>> distances_km(0.0, 0.0, [0.0, 90.0], [1.0, 0.0]).round(1).tolist()
    [111.2, 10007.5]

    """
    here, there = np.radians(latitude_deg), np.radians(np.asarray(latitudes_deg, dtype=np.float64))
    east = np.radians(np.asarray(longitudes_deg, dtype=np.float64) - longitude_deg)
    half = np.sin((there - here) / 2.0) ** 2 + np.cos(here) * np.cos(there) * np.sin(east / 2.0) ** 2
    result: Numbers = 2.0 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(half, 1.0)))
    return result


def _check(kind: str | None, within_km: float | None) -> None:
    if kind is not None and kind not in get_args(Kind):
        raise WeatherError(
            f"The kind {kind!r} is not known: {', '.join(get_args(Kind))}.{did_you_mean(kind, get_args(Kind))}"
        )
    if within_km is not None and not within_km >= 0.0:
        raise WeatherError(f"within_km is {within_km:g}: give kilometres, zero or more.")


# --- what there is ---


@cache
def _hourly_choices() -> tuple[WeatherChoice, ...]:
    found = []
    for one in tables.all_weather_hours():
        name = place_of(one.place_id).name
        kind: Kind = "typical" if one.kind == "typical" else "historical"
        found.append(
            WeatherChoice(name, name, kind, "hourly file", one.year, 0.0, one.weather_id, one.licence, one.source)
        )
    return tuple(found)


@cache
def _normal_choices() -> tuple[WeatherChoice, ...]:
    return tuple(
        WeatherChoice(
            one.name, one.name, "synthesised", "monthly normals", None, 0.0, one.place_id, one.licence, one.source
        )
        for one in tables.all_weather_places()
        if one.normals
    )


@cache
def _station_choices() -> tuple[WeatherChoice, ...]:
    basis: Basis = "degree days of a station"
    return tuple(
        WeatherChoice(
            one.station, one.station, "synthesised", basis, None, 0.0, one.station_id, "single facts", one.source
        )
        for one in tables.all_weather_stations()
    )


@cache
def _spots() -> tuple[_Spot, ...]:
    """Return all weather that lies somewhere: all but the climate zones."""
    home = {one.weather_id: one.place_id for one in tables.all_weather_hours()}
    spots = []
    for choice in (*_hourly_choices(), *_normal_choices()):
        place = place_of(home.get(choice.key, choice.key))
        if place.latitude_deg is not None and place.longitude_deg is not None:
            spots.append(_Spot(place.latitude_deg, place.longitude_deg, choice))
    for station, choice in zip(tables.all_weather_stations(), _station_choices(), strict=True):
        spots.append(_Spot(station.latitude_deg, station.longitude_deg, choice))
    return tuple(spots)


def _own(name: str) -> tuple[WeatherChoice, ...]:
    """Return the weather of a place, zone or station itself, the best first; none where the name is another thing."""
    try:
        place = tables.weather_place(name)
    except AmbiguousNameError:
        raise
    except UnknownNameError:
        station = next(
            (one for one in tables.all_weather_stations() if name.casefold() in (one.station.casefold(), one.wmo)),
            None,
        )
        return tuple(one for one in _station_choices() if station is not None and one.key == station.station_id)
    years = {one.weather_id for one in tables.all_weather_hours() if one.place_id == place.place_id}
    found = [one for one in _hourly_choices() if one.key in years]
    found += [one for one in _normal_choices() if one.key == place.place_id]
    return tuple(sorted(found, key=_better))


def _where(name: str) -> tuple[str, float, float]:
    """Return name and coordinates of a place that has no weather of its own, or not the kind that was asked for."""
    folded = tables.plain(name).casefold().strip()
    for station in tables.all_weather_stations():
        if folded in (tables.plain(station.place).casefold(), tables.plain(station.place).casefold().partition(",")[0]):
            return station.place, station.place_latitude_deg, station.place_longitude_deg
        if folded in (station.station.casefold(), station.wmo):
            return station.station, station.latitude_deg, station.longitude_deg
    try:
        place = tables.weather_place(name)
    except UnknownNameError:
        return _cloud(name)
    if place.latitude_deg is None or place.longitude_deg is None:
        raise WeatherError(f"{place.name} lies nowhere: it has monthly normals only, and nothing is near it.")
    return place.name, place.latitude_deg, place.longitude_deg


def _cloud(name: str) -> tuple[str, float, float]:
    try:
        region: CloudRegion = cloud_region_by_name(name)
    except UnknownNameError:
        known = [text for one in tables.all_weather_places() for text in (one.name, *one.other_names)]
        known += [text for one in tables.all_weather_stations() for text in (one.place, one.station)]
        hint = did_you_mean(name, known)
        raise UnknownNameError(
            f"No weather is known of {name!r}: it is no place, climate zone, station or cloud region here.{hint}"
        ) from None
    if region.latitude_deg is None or region.longitude_deg is None:
        raise WeatherError(f"The coordinates of {name} are not known: give a place or a file.")
    return f"{region.provider} {region.region}", region.latitude_deg, region.longitude_deg


def _fitting(found: tuple[WeatherChoice, ...], year: int | None, kind: Kind | None) -> list[WeatherChoice]:
    return [one for one in found if (year is None or one.year == year) and (kind is None or one.kind == kind)]


def _better(one: WeatherChoice) -> tuple[int, int]:
    return _ORDER[one.kind], -(one.year or 0)


def _nearness(spot: _Spot, distance_km: float) -> tuple[bool, int, float, tuple[int, int]]:
    is_far = bool(distance_km > BEST_WITHIN_KM)
    return is_far, 0 if is_far else get_args(Basis).index(spot.choice.basis), float(distance_km), _better(spot.choice)


def _article(one: WeatherChoice) -> str:
    return f"{'an' if one.basis.startswith('h') else ''} {one.basis}".strip()


def _listed(own: tuple[WeatherChoice, ...]) -> str:
    words = [f"{one.kind} {one.year}" if one.year else f"a {one.kind} year" for one in own]
    return ", ".join(words)


def _of_what(year: int | None, kind: str | None) -> str:
    return "".join((f" of {year}" if year is not None else "", f" of kind {kind}" if kind is not None else ""))


def _not_that(year: int | None, kind: str | None) -> str:
    remedy = f": weather_of(place).for_year({year}) maps a year to it by month, day and hour" if year else ""
    return f", and none{_of_what(year, kind)}{remedy}."


def _years() -> str:
    return ", ".join(sorted({str(one.year) for one in _hourly_choices() if one.year}))


def places_with_weather() -> Iterator[str]:
    """Yield the names of all places with weather, and of stations' places.

    Examples
    --------
    >>> "Luleå, Sweden" in set(places_with_weather())
    True

    """
    yield from (one.name for one in tables.all_weather_places())
    yield from (one.place for one in tables.all_weather_stations())
