"""Typical year of PVGIS: UTC, labels are instants, and the header says how far after the label the sun was seen."""

from __future__ import annotations

import re

import numpy as np

from energy.errors import WeatherError
from energy.weather.readers._parsed import Parsed
from energy.weather.readers._text import calendar, grid, numbers, one_number
from energy.weather.year import HOUR

# field: (name of the column, factor to the unit of the field)
FIELDS: dict[str, tuple[str, float]] = {
    "dry_bulb_c": ("T2m", 1.0),
    "relative_humidity": ("RH", 0.01),
    "pressure_pa": ("SP", 1.0),
    "ghi_w_per_m2": ("G(h)", 1.0),
    "dni_w_per_m2": ("Gb(n)", 1.0),
    "dhi_w_per_m2": ("Gd(h)", 1.0),
    "wind_speed_m_per_s": ("WS10m", 1.0),
}
_LABEL = re.compile(r"\d{8}:\d{4}$")
_LICENCE = "PVGIS (c) European Union, reuse with attribution"


def is_pvgis(lines: list[str]) -> bool:
    """Say whether lines are those of a PVGIS file."""
    return lines[0].startswith("Latitude (decimal degrees):")


def read_pvgis(name: str, lines: list[str], standard_offset_h: float | None = None) -> Parsed:
    """Return the typical year of a PVGIS file.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : list of str
    standard_offset_h : float, h, optional
        Of the place, for days on a clock; the labels are UTC.

    Raises
    ------
    WeatherError
        The header is not whole, the file is a series of another kind, or a row is none.

    """
    start = next((place for place, line in enumerate(lines) if line.startswith("time(UTC)")), None)
    names = [] if start is None else [cell.strip() for cell in lines[start].split(",")]
    if start is None or any(column not in names for column, _ in FIELDS.values()):
        raise WeatherError(
            f"{name} is of PVGIS, but no typical year with {', '.join(column for column, _ in FIELDS.values())}: "
            "download its TMY as CSV."
        )
    head = dict(line.split(":", 1) for line in lines[:start] if ":" in line)
    latitude, longitude, elevation = (
        one_number(name, what, head.get(what, ""))
        for what in ("Latitude (decimal degrees)", "Longitude (decimal degrees)", "Elevation (m)")
    )
    stop = start + 1
    while stop < len(lines) and _LABEL.match(lines[stop].partition(",")[0]):
        stop += 1
    texts = lines[start + 1 : stop]
    if not texts:
        raise WeatherError(f"{name} has no rows with a label such as 20180101:0000.")
    cells = grid(name, texts, start + 2, {column: names.index(column) for column, _ in FIELDS.values()})
    year, month, day, hour, minute = (
        numbers(name, "time(UTC)", [text[part] for text in texts], start + 2)
        for part in (slice(0, 4), slice(4, 6), slice(6, 8), slice(9, 11), slice(11, 13))
    )
    labels, kind, notes = calendar(name, year, month, day, hour + minute / 60.0, is_typical=True)
    full = labels.astype("datetime64[h]").astype("datetime64[s]")
    late = (labels - full) / HOUR
    if not np.all(late == late[0]):
        raise WeatherError(f"{name}: labels stand at several minutes of the hour.")
    said = head.get("Irradiance Time Offset (h)")
    if said is None:
        notes.append("the header states no irradiance offset: the sun is that of the label")
    offset = float(late[0]) + (0.0 if said is None else one_number(name, "Irradiance Time Offset (h)", said))
    return Parsed(
        name=name,
        times=full,
        columns={
            field: cells[column] * factor + 0.0  # + 0.0: the files write -0.0
            for field, (column, factor) in FIELDS.items()
        },
        kind=kind,
        convention="instant",
        about={
            "place": f"{latitude:.3f} N, {longitude:.3f} E",
            "elevation_m": elevation,
            "latitude_deg": latitude,
            "longitude_deg": longitude,
            "irradiance_offset_h": offset,
            "standard_offset_h": 0.0 if standard_offset_h is None else standard_offset_h,
            "source": f"{name} (PVGIS TMY)",
            "licence": _LICENCE,
        },
        notes=notes,
    )
