"""Hourly output of PVWatts: local standard time, labels name the beginning of each hour; no humidity, no zone."""

from __future__ import annotations

import csv

import numpy as np

from energy.errors import WeatherError
from energy.weather.readers._parsed import Parsed
from energy.weather.readers._text import TYPICAL_YEAR, calendar, grid, one_number

FIELDS = {
    "dry_bulb_c": "Ambient Temperature (C)",
    "dni_w_per_m2": "Beam Irradiance (W/m^2)",
    "dhi_w_per_m2": "Diffuse Irradiance (W/m^2)",
    "wind_speed_m_per_s": "Wind Speed (m/s)",
}
_FIRST = ("Month", "Day", "Hour")


def is_pvwatts(lines: list[str]) -> bool:
    """Say whether lines are those of an hourly file of PVWatts."""
    return lines[0].lstrip('"').startswith("PVWatts")


def read_pvwatts(name: str, lines: list[str], standard_offset_h: float | None = None) -> Parsed:
    """Return the typical year that PVWatts computed with.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : list of str
    standard_offset_h : float, h
        Standard time less UTC, which the file does not state.

    Raises
    ------
    WeatherError
        The header is not whole, no offset is given, or a row is none.

    """
    heads: dict[str, list[str]] = {}
    start = None
    for place, row in enumerate(csv.reader(lines[:60])):
        cells = [cell.strip() for cell in row]
        if tuple(cells[:3]) == _FIRST:
            start = place
            break
        if cells:
            heads[cells[0].rstrip(":")] = cells[1:]
    if start is None:
        raise WeatherError(f"{name} is of PVWatts, but has no table that begins with {', '.join(_FIRST)}.")
    names = [cell.strip() for cell in next(csv.reader(lines[start : start + 1]))]
    if lacking := [column for column in FIELDS.values() if column not in names]:
        raise WeatherError(f"{name} has no column {lacking[0]}: download the hourly file of PVWatts.")
    latitude = _head(name, heads, "Lat (deg N)")
    longitude = -_head(name, heads, "Long (deg W)")
    if standard_offset_h is None:
        raise WeatherError(
            f"{name} has local standard time and does not say which: give standard_offset_h, its hours from UTC "
            f"({round(longitude / 15.0):+d} by its longitude)."
        )
    kept = [line.replace('"', "") for line in lines[start + 1 :] if line.lstrip('"')[:1].isdigit()]
    if not kept:
        raise WeatherError(f"{name} has no hours.")
    found = grid(name, kept, start + 2, {column: names.index(column) for column in (*_FIRST, *FIELDS.values())})
    month, day, hour = (found[column] for column in _FIRST)
    labels, kind, _ = calendar(name, np.full(month.size, float(TYPICAL_YEAR)), month, day, hour, is_typical=True)
    return Parsed(
        name=name,
        times=labels - np.timedelta64(round(standard_offset_h * 3600.0), "s"),
        columns={field: found[column] for field, column in FIELDS.items()},
        kind=kind,
        convention="beginning",
        about={
            "place": " ".join(heads.get("Requested Location", [])).strip() or f"{latitude:g} N, {longitude:g} E",
            "elevation_m": _head(name, heads, "Elev (m)"),
            "latitude_deg": latitude,
            "longitude_deg": longitude,
            "standard_offset_h": standard_offset_h,
            "source": f"{name} (PVWatts)",
        },
        notes=["typical year; of which years its months are the file does not say"],
    )


def _head(name: str, heads: dict[str, list[str]], what: str) -> float:
    return one_number(name, what, next(iter(heads.get(what, [])), ""))
