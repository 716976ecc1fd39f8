"""One place's weather, hour by hour: the only form in which cooling and supply take it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from energy.errors import WeatherError
from energy.weather import psychrometrics as air

Numbers = NDArray[np.float64]
Instants = NDArray[np.datetime64]
#: Years that weather is mapped to; any other is a slip of the pen.
_CALENDAR = range(1900, 2101)

Convention = Literal["beginning", "ending", "instant"]
Kind = Literal["historical", "typical", "synthesised"]

HOUR = np.timedelta64(3600, "s")
_ARRAYS = (
    "dry_bulb_c",
    "relative_humidity",
    "pressure_pa",
    "wet_bulb_c",
    "dew_point_c",
    "humidity_ratio",
    "ghi_w_per_m2",
    "dni_w_per_m2",
    "dhi_w_per_m2",
    "wind_speed_m_per_s",
    "cloud_cover",
)


@dataclass(frozen=True, slots=True, eq=False)
class WeatherYear:
    """Hours of weather at one place; make it with :func:`weather_year`, which derives and checks.

    Attributes
    ----------
    start_utc : array of datetime64[s], shape (n,)
        Start of the hour that each row stands for, whatever the source's labels mean.
    dry_bulb_c, wet_bulb_c, dew_point_c : array, shape (n,), C
        NaN where the source has none; see ``missing_h``.
    relative_humidity : array, shape (n,), fraction 0 to 1
    pressure_pa : array, shape (n,), Pa
        From the elevation where the source has none.
    humidity_ratio : array, shape (n,), kg of water per kg of dry air
    ghi_w_per_m2, dni_w_per_m2, dhi_w_per_m2 : array, shape (n,), W/m2, or None
        Mean over the hour, or the value at ``irradiance_offset_h``.
    wind_speed_m_per_s : array, shape (n,), m/s, or None
    cloud_cover : array, shape (n,), fraction, or None
    place, source, licence : str
    latitude_deg, longitude_deg : float or None
    elevation_m : float
    kind : historical, typical (months of several years) or synthesised (from normals, seeded)
    convention : beginning, ending or instant
        What the source's label names: the hour that begins there, ends there, or that very instant.
    irradiance_offset_h : float, h
        Where in the hour the sun stands that the irradiance belongs to: 0.5 for hourly means.
    standard_offset_h : float, h
        Of the place's standard time from UTC, for days on a clock; 0 where unknown.
    notes : tuple of str
        What was assumed or mapped, in words for a result.

    """

    start_utc: Instants
    dry_bulb_c: Numbers
    relative_humidity: Numbers
    pressure_pa: Numbers
    wet_bulb_c: Numbers
    dew_point_c: Numbers
    humidity_ratio: Numbers
    place: str
    elevation_m: float
    source: str
    kind: Kind
    convention: Convention
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    ghi_w_per_m2: Numbers | None = None
    dni_w_per_m2: Numbers | None = None
    dhi_w_per_m2: Numbers | None = None
    wind_speed_m_per_s: Numbers | None = None
    cloud_cover: Numbers | None = None
    irradiance_offset_h: float = 0.5
    standard_offset_h: float = 0.0
    licence: str = ""
    notes: tuple[str, ...] = ()

    @property
    def hours(self) -> int:
        """Number of hours."""
        return int(self.start_utc.size)

    @property
    def missing_h(self) -> int:
        """Hours without a dry bulb or a humidity; they are null, and count in no mean."""
        return int(np.count_nonzero(np.isnan(self.dry_bulb_c) | np.isnan(self.humidity_ratio)))

    @property
    def sun_utc(self) -> Instants:
        """The instants whose sun the irradiance belongs to, datetime64[s], shape (n,)."""
        return self.start_utc + np.timedelta64(round(self.irradiance_offset_h * 3600.0), "s")

    def for_year(self, year: int) -> WeatherYear:
        """Return the same weather on the hours of a calendar year in UTC.

        Parameters
        ----------
        year : int

        Returns
        -------
        WeatherYear
            8,760 or 8,784 h, each with the row of the same month, day and hour; 29 February repeats 28 February where
            the source has none, and is left out where the year has none. A note says so.

        Raises
        ------
        WeatherError
            An hour of the year has no row, or the year is none of 1900 to 2100.

        """
        if year not in _CALENDAR:
            raise WeatherError(f"The year {year} is none of {_CALENDAR[0]} to {_CALENDAR[-1]}: give a calendar year.")
        wanted = np.arange(f"{year}-01-01T00", f"{year + 1}-01-01T00", dtype="datetime64[h]")
        known, first = np.unique(_hour_of_leap_year(self.start_utc), return_index=True)
        keys = _hour_of_leap_year(wanted)
        leap_day = (keys >= 59 * 24) & (keys < 60 * 24)
        if not np.isin(keys[leap_day], known).all():
            keys = np.where(leap_day, keys - 24, keys)
        place = np.minimum(np.searchsorted(known, keys), known.size - 1)
        absent = known[place] != keys
        if absent.any():
            raise WeatherError(
                f"Weather of {self.place} ({self.hours} h) has no row for {wanted[absent][0]}Z and "
                f"{int(absent.sum()) - 1} more hours of the year: a year of hours is needed to map it to {year}."
            )
        note = f"weather of {self.kind} year mapped to {year} by month, day and hour"
        notes = tuple(dict.fromkeys((*self.notes, note)))
        return replace(self.taken(first[place]), start_utc=wanted.astype("datetime64[s]"), notes=notes)

    def at(self, hours: Instants) -> WeatherYear:
        """Return the weather of single hours of any years, for activity that is no whole calendar year.

        Parameters
        ----------
        hours : array of datetime64, shape (n,)
            Starts of UTC hours.

        Returns
        -------
        WeatherYear
            The very hour where a historical source has it, see :meth:`has`; else the row of the same month, day and
            hour, by the rule of :meth:`for_year`, and a note says for how many.

        Raises
        ------
        WeatherError
            An hour has no row.

        """
        wanted = hours.astype("datetime64[h]")
        known, first = np.unique(_hour_of_leap_year(self.start_utc), return_index=True)
        keys = _hour_of_leap_year(wanted)
        if not np.isin(np.arange(59 * 24, 60 * 24), known).all():
            keys = np.where((keys >= 59 * 24) & (keys < 60 * 24), keys - 24, keys)
        place = np.minimum(np.searchsorted(known, keys), known.size - 1)
        rows, own = first[place], self.has(wanted)
        absent = (known[place] != keys) & ~own
        if absent.any():
            raise WeatherError(
                f"Weather of {self.place} ({self.hours} h) has no row for {wanted[absent][0]}Z and "
                f"{int(absent.sum()) - 1} more hours that are asked for: give a file that has them."
            )
        starts = self.start_utc.astype("datetime64[h]")
        order = np.argsort(starts, kind="stable")
        rows[own] = order[np.searchsorted(starts[order], wanted[own])]
        mapped = int(wanted.size - own.sum())
        note = f"weather of {self.kind} year mapped by month, day and hour for {mapped} of {wanted.size} h"
        notes = tuple(dict.fromkeys((*self.notes, note))) if mapped else self.notes
        return replace(self.taken(rows), start_utc=wanted.astype("datetime64[s]"), notes=notes)

    def has(self, hours: Instants) -> NDArray[np.bool_]:
        """Return which hours are measured here themselves: those of a historical source alone, shape (n,)."""
        if self.kind != "historical":
            return np.zeros(hours.shape, dtype=bool)
        return np.isin(hours.astype("datetime64[h]"), self.start_utc.astype("datetime64[h]"))

    def taken(self, rows: NDArray[Any]) -> WeatherYear:
        """Return some rows, by a mask or by their places."""
        parts = {name: getattr(self, name) for name in ("start_utc", *_ARRAYS)}
        kept: dict[str, Any] = {name: None if part is None else part[rows] for name, part in parts.items()}
        return replace(self, **kept)


def _hour_of_leap_year(instants: Instants) -> NDArray[np.int64]:
    """Return hours since 1 January 00:00 UTC on a calendar that always has 29 February."""
    hours = instants.astype("datetime64[h]")
    years = hours.astype("datetime64[Y]")
    days = (hours.astype("datetime64[D]") - years.astype("datetime64[D]")).astype(np.int64)
    calendar = years.astype(np.int64) + 1970
    is_leap = (calendar % 4 == 0) & ((calendar % 100 != 0) | (calendar % 400 == 0))
    days = np.where(~is_leap & (days >= 59), days + 1, days)
    result: NDArray[np.int64] = days * 24 + (hours - hours.astype("datetime64[D]")).astype(np.int64)
    return result


def utc_instants(times: Any) -> Instants:
    """Return times as datetime64[s] in UTC.

    Parameters
    ----------
    times : array of datetime64, shape (n,), or sequence of aware datetime
        datetime64 is UTC by definition, in any unit; datetimes need a zone.

    Raises
    ------
    WeatherError
        A datetime has no zone.

    Examples
    --------
    >>> from datetime import datetime, timedelta, timezone
    >>> east = timezone(timedelta(hours=2))
    >>> utc_instants([datetime(2026, 1, 1, 2, tzinfo=east)]).tolist()
    [datetime.datetime(2026, 1, 1, 0, 0)]

    """
    if isinstance(times, np.ndarray) and times.dtype.kind == "M":
        return times.astype("datetime64[s]")
    moments = list(times)
    for moment in moments:
        if not isinstance(moment, datetime) or moment.utcoffset() is None:
            raise WeatherError(f"The time {moment} has no zone: give UTC, or name the zone of the file.")
    seconds = [round(moment.timestamp()) for moment in moments]
    return np.array(seconds, dtype=np.int64).astype("datetime64[s]")


def weather_year(
    *,
    times: Any,
    dry_bulb_c: Any,
    place: str,
    elevation_m: float,
    source: str,
    kind: Kind,
    convention: Convention,
    relative_humidity: Any = None,
    dew_point_c: Any = None,
    pressure_pa: Any = None,
    **optional: Any,
) -> WeatherYear:
    """Return a year of weather from what a file has, the rest of the moist air derived.

    Parameters
    ----------
    times : array of datetime64 in UTC, or sequence of aware datetime, shape (n,)
        Labels of the rows as the source has them; ``convention`` says what they name.
    dry_bulb_c : array, shape (n,), C
    place, source : str
    elevation_m : float, m
    kind : historical, typical or synthesised
    convention : beginning, ending or instant
    relative_humidity : array, shape (n,), fraction 0 to 1, optional
    dew_point_c : array, shape (n,), C, optional
        Used where there is no relative humidity; one of the two is needed.
    pressure_pa : array, shape (n,), Pa, optional
        Without it that of the standard atmosphere at the elevation, which a note says.
    **optional
        Further fields of :class:`WeatherYear`.

    Returns
    -------
    WeatherYear

    Raises
    ------
    WeatherError
        Times are naive, not rising or of another length; humidity is absent; a value is none that air has.

    Notes
    -----
    An instant stands for the hour that begins with it.

    Examples
    --------
    >>> year = weather_year(
    ...     times=np.array(["2026-01-01T01"], dtype="datetime64[h]"), dry_bulb_c=[20.0], relative_humidity=[0.5],
    ...     place="a hall", elevation_m=0.0, source="example", kind="historical", convention="ending")
    >>> str(year.start_utc[0]), float(year.wet_bulb_c.round(1)[0])
    ('2026-01-01T00:00:00', 13.8)

    """
    if convention not in get_args(Convention) or kind not in get_args(Kind):
        raise WeatherError(
            f"Weather of {place}: {kind!r} and {convention!r} must be one of {', '.join(get_args(Kind))} and one of "
            f"{', '.join(get_args(Convention))}."
        )
    start = utc_instants(times) - (HOUR if convention == "ending" else np.timedelta64(0, "s"))
    temperature = _column(dry_bulb_c, "dry_bulb_c", start.size, place)
    notes = list(optional.pop("notes", ()))
    if pressure_pa is None:
        notes.append(f"pressure of the standard atmosphere at {elevation_m:g} m")
        pressure = np.full(start.size, float(air.standard_pressure_pa(elevation_m)))
    else:
        pressure = _column(pressure_pa, "pressure_pa", start.size, place)
    if not np.all((pressure > 40_000.0) & (pressure < 115_000.0) | np.isnan(pressure)):
        raise WeatherError(f"Weather of {place}: a pressure is no air's, 40000 to 115000 Pa. Give pressures in Pa.")
    humidity, vapour = _humidity(temperature, relative_humidity, dew_point_c, start.size, place)
    ratio = air.humidity_ratio_of_vapour(vapour, pressure)
    optional = {
        name: _column(value, name, start.size, place) if name in _ARRAYS and value is not None else value
        for name, value in optional.items()
    }
    if start.size > 1 and not np.all(np.diff(start) > np.timedelta64(0, "s")):
        raise WeatherError(f"Weather of {place}: times must rise from row to row. Sort the rows and remove doubles.")
    return WeatherYear(
        start_utc=start,
        dry_bulb_c=temperature,
        relative_humidity=humidity,
        pressure_pa=pressure,
        wet_bulb_c=air.wet_bulb_c(temperature, ratio, pressure),
        dew_point_c=air.dew_point_c(vapour),
        humidity_ratio=ratio,
        place=place,
        elevation_m=float(elevation_m),
        source=source,
        kind=kind,
        convention=convention,
        notes=tuple(notes),
        **optional,
    )


def _column(values: Any, name: str, size: int, place: str) -> Numbers:
    column: Numbers = np.array(values, dtype=np.float64)
    if column.shape != (size,):
        raise WeatherError(f"Weather of {place}: {name} has the shape {column.shape}, and there are {size} times.")
    return column


def _humidity(temperature: Numbers, relative: Any, dew: Any, size: int, place: str) -> tuple[Numbers, Numbers]:
    """Return relative humidity and vapour pressure, from whichever of the two the source has."""
    saturated = air.saturation_pressure_pa(temperature)
    if relative is None and dew is None:
        raise WeatherError(f"Weather of {place} has neither relative_humidity nor dew_point_c: one is needed.")
    if relative is not None:
        humidity = _column(relative, "relative_humidity", size, place)
        if not np.all((humidity >= 0.0) & (humidity <= 1.0) | np.isnan(humidity)):
            raise WeatherError(
                f"Weather of {place}: a relative humidity is no fraction from 0 to 1: divide percent by 100."
            )
        return humidity, humidity * saturated
    vapour = air.saturation_pressure_pa(_column(dew, "dew_point_c", size, place))
    if np.any(vapour > saturated * 1.02):
        raise WeatherError(
            f"Weather of {place}: a dew point lies above its dry bulb. Check the columns and their units."
        )
    vapour = np.minimum(vapour, saturated)  # rounding of a saturated hour
    return vapour / saturated, vapour
