"""TMY3 of the US national solar radiation data base: local standard time, labels name the end of each hour."""

from __future__ import annotations

import csv

import numpy as np

from energy.errors import WeatherError
from energy.weather.readers._parsed import Parsed
from energy.weather.readers._text import calendar, grid, numbers, one_number

# field: (name of the column, factor to the unit of the field)
FIELDS: dict[str, tuple[str, float]] = {
    "dry_bulb_c": ("Dry-bulb (C)", 1.0),
    "dew_point_c": ("Dew-point (C)", 1.0),
    "relative_humidity": ("RHum (%)", 0.01),
    "pressure_pa": ("Pressure (mbar)", 100.0),
    "ghi_w_per_m2": ("GHI (W/m^2)", 1.0),
    "dni_w_per_m2": ("DNI (W/m^2)", 1.0),
    "dhi_w_per_m2": ("DHI (W/m^2)", 1.0),
    "wind_speed_m_per_s": ("Wspd (m/s)", 1.0),
    "cloud_cover": ("TotCld (tenths)", 0.1),
}
_DATE, _TIME = "Date (MM/DD/YYYY)", "Time (HH:MM)"
_PARTS = ("month", "day", "year", "hour", "minute")
_MISSING = -9900.0


def is_tmy3(lines: list[str]) -> bool:
    """Say whether lines are those of a TMY3 file."""
    return len(lines) > 2 and lines[1].lstrip('"').startswith("Date (MM/DD/YYYY)")


def read_tmy3(name: str, lines: list[str], standard_offset_h: float | None = None) -> Parsed:
    """Return the typical year of a TMY3 file.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : list of str
    standard_offset_h : float, h, optional
        In place of the one that the file states.

    Raises
    ------
    WeatherError
        The header is not whole, a column is absent, or a row is none.

    """
    head = next(csv.reader(lines[:1]))
    names = [cell.strip() for cell in next(csv.reader(lines[1:2]))]
    if len(head) < 7:
        raise WeatherError(
            f"{name}: the first line of a TMY3 file has station, name, state, zone, place and elevation."
        )
    wanted = [_DATE, _TIME, *(column for column, _ in FIELDS.values())]
    if lacking := [column for column in wanted if column not in names]:
        raise WeatherError(f"{name} has no column {lacking[0]}: it is no whole TMY3 file.")
    offset, latitude, longitude, elevation = (
        one_number(name, what, cell)
        for what, cell in zip(("time zone", "latitude", "longitude", "elevation"), head[3:7], strict=True)
    )
    if names[:2] != [_DATE, _TIME] or any(line[2:3] + line[5:6] + line[13:14] != "//:" for line in lines[2:]):
        raise WeatherError(f"{name}: rows of TMY3 begin with MM/DD/YYYY,HH:MM.")
    month, day, year, hour, minute = (
        numbers(name, what, [line[part] for line in lines[2:]], 3)
        for what, part in zip(_PARTS, map(slice, (0, 3, 6, 11, 14), (2, 5, 10, 13, 16)), strict=True)
    )
    hour += minute / 60.0
    labels, kind, notes = calendar(name, year, month, day, hour, is_typical=True)
    columns = {}
    cells = grid(name, lines[2:], 3, {column: names.index(column) for column, _ in FIELDS.values()})
    for field, (column, factor) in FIELDS.items():
        values = cells[column]
        columns[field] = np.where(values <= _MISSING, np.nan, values) * factor
    zone = offset if standard_offset_h is None else standard_offset_h
    return Parsed(
        name=name,
        times=labels - np.timedelta64(round(zone * 3600.0), "s"),
        columns=columns,
        kind=kind,
        convention="ending",
        about={
            "place": ", ".join(part.strip() for part in head[1:3]),
            "elevation_m": elevation,
            "latitude_deg": latitude,
            "longitude_deg": longitude,
            "standard_offset_h": zone,
            "source": f"{name} (TMY3, station {head[0]})",
            "licence": "US government work",
        },
        notes=notes,
    )
