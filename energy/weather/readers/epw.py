"""EPW, the format of EnergyPlus: local standard time, labels name the end of each hour."""

from __future__ import annotations

import re

import numpy as np

from energy.errors import WeatherError
from energy.weather.readers._parsed import Parsed
from energy.weather.readers._text import calendar, grid, one_number

# field: (place in the row, code of a missing value, factor to the unit of the field)
FIELDS: dict[str, tuple[int, float, float]] = {
    "dry_bulb_c": (6, 99.9, 1.0),
    "dew_point_c": (7, 99.9, 1.0),
    "relative_humidity": (8, 999.0, 0.01),
    "pressure_pa": (9, 999_999.0, 1.0),
    "ghi_w_per_m2": (13, 9999.0, 1.0),
    "dni_w_per_m2": (14, 9999.0, 1.0),
    "dhi_w_per_m2": (15, 9999.0, 1.0),
    "wind_speed_m_per_s": (21, 999.0, 1.0),
    "cloud_cover": (22, 99.0, 0.1),
}
_TYPICAL = re.compile(r"TMY|IWEC|CWEC|INETI|ISHRAE|RMY|CTZ|period of record|typical", re.IGNORECASE)


def is_epw(lines: list[str]) -> bool:
    """Say whether lines are those of an EPW file."""
    return lines[0].upper().startswith("LOCATION,")


def read_epw(name: str, lines: list[str], standard_offset_h: float | None = None) -> Parsed:
    """Return the weather of an EPW file.

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
        The header is not whole, or a row is none.

    """
    start = next((place for place, line in enumerate(lines[:20]) if line.upper().startswith("DATA PERIODS")), None)
    head = [cell.strip() for cell in lines[0].split(",")]
    if start is None or len(head) < 10:
        raise WeatherError(f"{name} begins as an EPW file, but has no whole LOCATION or no DATA PERIODS line.")
    per_hour = lines[start].split(",")[2].strip() if lines[start].count(",") >= 2 else "1"
    if per_hour != "1":
        raise WeatherError(f"{name} has {per_hour} records an hour (DATA PERIODS): give hourly values.")
    latitude, longitude, offset, elevation = (
        one_number(name, what, cell)
        for what, cell in zip(("latitude", "longitude", "time zone", "elevation"), head[6:10], strict=True)
    )
    if start + 1 == len(lines):
        raise WeatherError(f"{name} has no rows after DATA PERIODS.")
    places = {"year": 0, "month": 1, "day": 2, "hour": 3} | {column: at for column, (at, _, _) in FIELDS.items()}
    found = grid(name, lines[start + 1 :], start + 2, places)
    year, month, day, hour = (found[what] for what in ("year", "month", "day", "hour"))
    if not np.all((hour >= 1.0) & (hour <= 24.0)):
        raise WeatherError(f"{name}: an hour lies outside 1 to 24; hours of EPW end with their label.")
    is_typical = bool(_TYPICAL.search(head[4])) or any(
        _TYPICAL.search(line) for line in lines[1:start] if "COMM" in line
    )
    labels, kind, notes = calendar(name, year, month, day, hour, is_typical=is_typical)
    columns = {}
    for column, (_, code, factor) in FIELDS.items():
        columns[column] = np.where(found[column] >= code, np.nan, found[column]) * factor
    zone = offset if standard_offset_h is None else standard_offset_h
    return Parsed(
        name=name,
        times=labels - np.timedelta64(round(zone * 3600.0), "s"),
        columns=columns,
        kind=kind,
        convention="ending",
        about={
            "place": ", ".join(part for part in head[1:4] if part not in ("", "-")),
            "elevation_m": elevation,
            "latitude_deg": latitude,
            "longitude_deg": longitude,
            "standard_offset_h": zone,
            "source": f"{name} ({head[4]}, station {head[5]})",
        },
        notes=notes,
    )
