"""Weather on the pages Site and Supply: what there is to choose, a reader's own file, hours on a clock by day."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.catalogue.sources import source
from energy.catalogue.weather import all_weather_hours
from energy.errors import UnknownNameError, WeatherError
from energy.weather.choice import WeatherChoice
from energy.weather.places import all_weather
from energy.weather.readers import read_weather
from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]
Instants = NDArray[np.datetime64]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
OWN = "own file"
_PREFIX = {"hourly file": "", "monthly normals": "normals-", "degree days of a station": "station-"}
_SUN = {"ghi_w_per_m2", "dni_w_per_m2", "cloud_cover"}
_WORDS = {
    "monthly normals": "hours made from monthly normals",
    "degree days of a station": "hours made from degree days",
}


@cache
def choices() -> Mapping[str, WeatherChoice]:
    """Return all weather of the package by its name in the address.

    Examples
    --------
    >>> choices()["phoenix-arizona-typical"].place
    'Phoenix, Arizona'

    """
    return {f"{_PREFIX[one.basis]}{one.key}": one for one in all_weather()}


def options(*, with_sun: bool = False) -> dict[str, str]:
    """Return the weather to choose from, hourly years first, with how each is known.

    Parameters
    ----------
    with_sun : bool
        Only those with irradiance or cloud cover.

    Examples
    --------
    >>> options()["frankfurt-2023"], options()["normals-helsinki-vantaa"]
    ('Frankfurt, 2023', 'Helsinki (Vantaa), hours made from monthly normals')

    """
    sunny = {one.weather_id for one in all_weather_hours() if _SUN & set(one.quantities)}
    named = {
        key: f"{one.place}, {_known(one)}"
        for key, one in choices().items()
        if not with_sun or (one.basis == "hourly file" and one.key in sunny)
    }
    order = list(_PREFIX)
    return dict(sorted(named.items(), key=lambda item: (order.index(choices()[item[0]].basis), item[1])))


def _known(one: WeatherChoice) -> str:
    if one.basis in _WORDS:
        return _WORDS[one.basis]
    return "typical year" if one.year is None else str(one.year)


def status(weather: WeatherYear) -> str:
    """Return in words what kind of year it is."""
    kinds = {
        "historical": "a year that was",
        "typical": "a typical year, months of several years",
        "synthesised": "a synthesised year, hours made from monthly means by a seed: an estimate",
    }
    return kinds[weather.kind]


def origin(weather: WeatherYear) -> str:
    """Write source, licence and notes of the weather as one note."""
    keys = [key.strip() for key in weather.source.split(";")]
    titles = "; ".join(_title(key) for key in keys if key)
    notes = "".join(f" {sentence(note)}" for note in weather.notes)
    licence = weather.licence or "not stated"
    return f"Weather of {weather.place}: {status(weather)}. Source: {titles}. Licence: {licence}.{notes}"


def sentence(text: str) -> str:
    """Write a note as a sentence.

    Examples
    --------
    >>> sentence("rough: from clouds"), sentence("Done.")
    ('Rough: from clouds.', 'Done.')

    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _title(key: str) -> str:
    try:
        return source(key).title
    except UnknownNameError:
        return key  # a file of the reader's own names itself


def uploaded(name: str, content: bytes, place: str = "", elevation_m: float | None = None) -> WeatherYear:
    """Return the weather of a file that a reader brought.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes
    place : str
        For tables that do not say it.
    elevation_m : float, m, optional
        For tables that do not say it.

    Raises
    ------
    WeatherError
        The file cannot be read, or does not hold a year.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name).name or "weather.csv")
        path.write_bytes(content)
        found = read_weather(path, place=place or None, elevation_m=elevation_m, source=path.name)
    if found.hours < 8760:
        raise WeatherError(f"{name} has {found.hours} h; a year has 8,760: annual figures need all of it.")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class DayGrid:
    """Hours on a clock of standard time: ``values[hour, day]``, NaN where the year has no such hour or no value."""

    days: tuple[str, ...]
    values: Numbers

    @property
    def highest(self) -> tuple[float, int, int]:
        """The highest value with its hour and the place of its day."""
        hour, day = np.unravel_index(int(np.nanargmax(self.values)), self.values.shape)
        return float(self.values[hour, day]), int(hour), int(day)

    @property
    def lowest(self) -> tuple[float, int, int]:
        """The lowest value with its hour and the place of its day."""
        hour, day = np.unravel_index(int(np.nanargmin(self.values)), self.values.shape)
        return float(self.values[hour, day]), int(hour), int(day)

    def when(self, hour: int, day: int) -> str:
        """Write an hour of a day."""
        return f"{date.fromisoformat(self.days[day]):%-d %b}, {hour:02}:00"


def local(start_utc: Instants, offset_h: float) -> Instants:
    """Return instants on the clock of standard time."""
    seconds = start_utc.astype("datetime64[s]").astype(np.int64) + round(offset_h * 3600.0)
    return seconds.astype("datetime64[s]")


def by_day(start_utc: Instants, offset_h: float, values: Numbers) -> DayGrid:
    """Return hours as hour by day.

    Parameters
    ----------
    start_utc : array of datetime64, shape (n,)
    offset_h : float, h
        Of standard time from UTC.
    values : array, shape (n,)

    Returns
    -------
    DayGrid

    Examples
    --------
    >>> hours = np.datetime64("2023-01-01T00", "s") + np.arange(48) * np.timedelta64(3600, "s")
    >>> grid = by_day(hours, 1.0, np.arange(48.0))
    >>> grid.days, grid.values[1, 0], grid.when(*grid.highest[1:])
    (('2023-01-01', '2023-01-02', '2023-01-03'), np.float64(0.0), '3 Jan, 00:00')

    """
    clock = local(start_utc, offset_h)
    day = clock.astype("datetime64[D]")
    hour = ((clock - day) // np.timedelta64(3600, "s")).astype(np.int64)
    days, place = np.unique(day, return_inverse=True)
    grid = np.full((24, days.size), np.nan)
    grid[hour, place] = values
    return DayGrid(tuple(str(one) for one in days), grid)


def months_of(start_utc: Instants, offset_h: float) -> NDArray[np.int64]:
    """Return the month of each hour on the clock of standard time, from 0."""
    result: NDArray[np.int64] = local(start_utc, offset_h).astype("datetime64[M]").astype(np.int64) % 12
    return result


def month_sums(months: NDArray[np.int64], values: Numbers) -> Numbers:
    """Return sums by month, shape (12,); hours without a value are left out.

    Examples
    --------
    >>> month_sums(np.array([0, 0, 11]), np.array([1.0, np.nan, 3.0])).tolist()[::11]
    [1.0, 3.0]

    """
    known = ~np.isnan(values)
    return np.bincount(months[known], weights=values[known], minlength=12).astype(np.float64)


def clock_note(offset_h: float, days: Sequence[str]) -> str:
    """Say which clock the days are on, and why their ends may be grey."""
    sign = "+" if offset_h >= 0.0 else "−"
    hours, minutes = divmod(round(abs(offset_h) * 60.0), 60)
    clock = f"UTC{sign}{hours}" + (f":{minutes:02}" if minutes else "")
    ends = " The year is one of UTC, so its first and last day on this clock lack hours." if offset_h else ""
    return f"Hours are of standard time ({clock}), without summer time.{ends if len(days) > 365 else ''}"
