"""A plain CSV of hours: one row an hour, units in the names of its columns."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import WeatherError, did_you_mean
from energy.weather.year import Kind, WeatherYear, weather_year

Numbers = NDArray[np.float64]

DRY_BULB = ("dry_bulb_c", "temp_air_c")
PARTS = ("month", "day", "hour_ending")
OPTIONAL = ("ghi_w_per_m2", "dni_w_per_m2", "dhi_w_per_m2")
WIND = ("wind_speed_m_per_s", "wind_speed_10m_m_per_s")
TYPICAL_YEAR = 2021


def read_hourly_table(
    path: Path,
    *,
    place: str,
    elevation_m: float,
    source: str,
    kind: Kind,
    standard_offset_h: float | None = None,
    **optional: Any,
) -> WeatherYear:
    """Return a year of weather from a CSV file.

    Parameters
    ----------
    path : Path
        Columns ``time_utc`` (start of the hour), or ``month``, ``day``, ``hour_ending`` in standard time;
        ``dry_bulb_c`` or ``temp_air_c``; ``relative_humidity_pct`` or ``temp_dew_c``; optional
        ``pressure_pa``, irradiance, wind, clouds.
    place, source : str
    elevation_m : float, m
    kind : historical, typical or synthesised
    standard_offset_h : float, h
        Standard time less UTC; needed where the file has standard time.
    **optional
        Further fields of :class:`~energy.weather.year.WeatherYear`.

    Returns
    -------
    WeatherYear
        Empty cells are missing hours, never zero. A typical year gets the calendar of 2021.

    Raises
    ------
    WeatherError
        The file cannot be read, lacks a column, or has a value that is none.

    """
    rows, names = _rows(path)
    dry = next((name for name in DRY_BULB if name in names), None)
    if dry is None:
        raise WeatherError(f"{path.name} has no column {' or '.join(DRY_BULB)}.{did_you_mean(DRY_BULB[0], names)}")
    times, offset = _times(path, rows, names, standard_offset_h)
    humid = _column(path, rows, names, "relative_humidity_pct")
    wind = next((name for name in WIND if name in names), WIND[0])
    cloud = _column(path, rows, names, "cloud_cover_pct")
    found = {
        **{name: _column(path, rows, names, name) for name in OPTIONAL},
        "wind_speed_m_per_s": _column(path, rows, names, wind),
        "cloud_cover": None if cloud is None else cloud / 100.0,
    }
    return weather_year(
        times=times,
        dry_bulb_c=_column(path, rows, names, dry),
        relative_humidity=None if humid is None else humid / 100.0,
        dew_point_c=_column(path, rows, names, "temp_dew_c"),
        pressure_pa=_column(path, rows, names, "pressure_pa"),
        place=place,
        elevation_m=elevation_m,
        source=source,
        kind=kind,
        convention="beginning",
        standard_offset_h=offset,
        **(found | optional),
    )


def _rows(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            rows = list(reader)
    except OSError as error:
        raise WeatherError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise WeatherError(f"{path} is no CSV text in UTF-8: {error}.") from None
    if not rows:
        raise WeatherError(f"{path} has no rows.")
    return rows, list(reader.fieldnames or [])


def _column(path: Path, rows: list[dict[str, str]], names: list[str], name: str) -> Numbers | None:
    if name not in names:
        return None
    try:
        return np.array([float(row[name]) if row[name] else np.nan for row in rows])
    except (TypeError, ValueError):
        raise WeatherError(f"{path.name}, column {name}: a cell is no number. Leave unknown cells empty.") from None


def _times(
    path: Path, rows: list[dict[str, str]], names: list[str], offset_h: float | None
) -> tuple[NDArray[np.datetime64], float]:
    if "time_utc" in names:
        texts = [row["time_utc"] for row in rows]
        if not all(text.endswith(("Z", "+00:00")) for text in texts):
            raise WeatherError(f"{path.name}: a time_utc does not end with Z: write UTC, as 2026-01-01T00:00Z.")
        return _instants(path, [text.removesuffix("Z").removesuffix("+00:00") for text in texts]), offset_h or 0.0
    if not all(name in names for name in PARTS):
        hint = did_you_mean("time_utc", names)
        raise WeatherError(f"{path.name} has neither time_utc nor month, day and hour_ending.{hint}")
    if offset_h is None:
        raise WeatherError(f"{path.name} has standard time: give standard_offset_h, its hours from UTC.")
    days = _instants(path, [f"{TYPICAL_YEAR}-{row['month']:0>2}-{row['day']:0>2}" for row in rows])
    ends = _column(path, rows, names, "hour_ending")
    if ends is None or np.isnan(ends).any():
        raise WeatherError(f"{path.name}, column hour_ending: a cell is empty. Give hours from 1 to 24.")
    return days + np.round((ends - 1.0 - offset_h) * 3600.0).astype("timedelta64[s]"), offset_h


def _instants(path: Path, texts: list[str]) -> NDArray[np.datetime64]:
    try:
        return np.array(texts, dtype="datetime64[s]")
    except ValueError:
        raise WeatherError(f"{path.name}: a date or time is none. Write 2026-01-01T00:00Z.") from None
