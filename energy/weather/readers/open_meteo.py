"""CSV of the Open-Meteo API: the header names place and zone; labels are instants, sums are of the hour before."""

from __future__ import annotations

import numpy as np

from energy.errors import WeatherError
from energy.weather.readers._parsed import Parsed
from energy.weather.readers._text import Numbers, numbers, one_number, plain_times, split_rows
from energy.weather.readers._units import headings
from energy.weather.year import Instants

_LICENCE = "CC BY 4.0, Weather data by Open-Meteo.com"
_HEAD = ("latitude", "longitude", "elevation", "utc_offset_seconds")
_OF_HOUR_BEFORE = ("ghi_w_per_m2", "dni_w_per_m2", "dhi_w_per_m2")


def is_open_meteo(lines: list[str]) -> bool:
    """Say whether lines are those of Open-Meteo's CSV."""
    return "utc_offset_seconds" in lines[0] and lines[0].split(",")[0].strip() in ("latitude", "location_id")


def read_open_meteo(name: str, lines: list[str], standard_offset_h: float | None = None) -> Parsed:
    """Return the hours of a file of Open-Meteo.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : list of str
    standard_offset_h : float, h, optional
        Of the place, for days on a clock; the labels carry their own offset in the header.

    Raises
    ------
    WeatherError
        The header is not whole, there are several places, or a row is none.

    """
    keys = [cell.strip() for cell in lines[0].split(",")]
    start = next((place for place, line in enumerate(lines) if line.split(",")[0].strip() == "time"), None)
    if start is None or any(key not in keys for key in _HEAD) or len(lines) < 2:
        raise WeatherError(f"{name} is of Open-Meteo, but its header lacks {', '.join(_HEAD)} or the line time,….")
    if "location_id" in keys or any(line.strip() for line in lines[2:start]):
        raise WeatherError(f"{name} has several places: ask Open-Meteo for one at a time.")
    about = dict(zip(keys, (cell.strip() for cell in lines[1].split(",")), strict=False))
    latitude, longitude, elevation, offset_s = (one_number(name, key, about.get(key, "")) for key in _HEAD)
    names = [cell.strip() for cell in lines[start].split(",")]
    stop = next((place for place in range(start + 1, len(lines)) if not lines[place].strip()), len(lines))
    rows = split_rows(name, lines[start + 1 : stop], start + 2, len(names))
    cells = dict(zip(names, zip(*rows, strict=False), strict=False))
    if not rows:
        raise WeatherError(f"{name} has no rows.")
    found = headings([one for one in names if one != "time"], name, {})
    columns = {one.field: one.converted(numbers(name, one.column, cells[one.column], start + 2)) for one in found}
    notes = []
    if any(field in columns for field in _OF_HOUR_BEFORE):
        columns |= {field: _moved(columns[field]) for field in _OF_HOUR_BEFORE if field in columns}
        notes.append("irradiance is the mean of the hour before its label: moved there; the last hour has none")
    zone = offset_s / 3600.0
    return Parsed(
        name=name,
        times=_labels(name, cells["time"]) - np.timedelta64(round(offset_s), "s"),
        columns=columns,
        kind="historical",
        convention="instant",
        about={
            "place": f"{latitude:g} N, {longitude:g} E",
            "elevation_m": elevation,
            "latitude_deg": latitude,
            "longitude_deg": longitude,
            "standard_offset_h": zone if standard_offset_h is None else standard_offset_h,
            "source": f"{name} (Open-Meteo)",
            "licence": _LICENCE,
        },
        notes=notes,
        open_ended=_OF_HOUR_BEFORE,
    )


def _moved(values: Numbers) -> Numbers:
    return np.append(values[1:], np.nan)


def _labels(name: str, texts: tuple[str, ...]) -> Instants:
    """Return labels as they stand, local by the header's offset: ISO texts, or seconds since 1970 in UTC."""
    if texts[0].strip().lstrip("-").isdigit():
        raise WeatherError(f"{name} has times in seconds: ask Open-Meteo for timeformat=iso8601.")
    return plain_times(name, "time", texts)
