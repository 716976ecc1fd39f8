"""Free tables: one row an hour, headings with units; lines ``# key: value`` above them say place and source."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np

from energy.errors import WeatherError, did_you_mean
from energy.weather.readers._parsed import Parsed
from energy.weather.readers._text import numbers, one_number
from energy.weather.readers._times import labels_of
from energy.weather.readers._units import QUANTITIES, folded, headings
from energy.weather.year import Convention, Kind, WeatherYear

_TEXTS = ("place", "source", "licence")
_NUMBERS = ("elevation_m", "latitude_deg", "longitude_deg", "standard_offset_h", "irradiance_offset_h")
_KEYS = (*_TEXTS, *_NUMBERS, "kind", "convention", "note")


def read_table(
    name: str,
    lines: list[str],
    standard_offset_h: float | None = None,
    *,
    zone: str | None = None,
    convention: Convention | None = None,
    columns: Mapping[str, str] | None = None,
) -> Parsed:
    """Return the weather of a free table.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : list of str
    standard_offset_h : float, h, optional
        Standard time less UTC, where the labels are in standard time.
    zone : str, optional
        IANA name, where the labels are of a clock with summer time.
    convention : beginning, ending or instant, optional
        What a label names, where its heading does not say (``start_utc``, ``hour_ending``).
    columns : mapping of str to str, optional
        Heading to field, such as ``{"Outside [°F]": "dry_bulb_c"}``, for headings that are not known.

    Raises
    ------
    WeatherError
        No times, no dry bulb, no unit, or a cell is none.

    """
    about, notes, start = _head(name, lines)
    try:
        rows = list(csv.reader(lines[start:], delimiter=_delimiter(lines[start])))
    except csv.Error as error:
        raise WeatherError(f"{name} is no table of text: {error}.") from None
    names = [cell.strip() for cell in rows[0]]
    body = [row for row in rows[1:] if any(row)]
    if not body:
        raise WeatherError(f"{name} has no rows.")
    if short := [row for row in body if len(row) < len(names)]:
        raise WeatherError(f"{name}: a row has {len(short[0])} cells, and there are {len(names)} headings.")
    if len(set(names)) != len(names):
        raise WeatherError(f"{name}: a heading stands twice: {next(one for one in names if names.count(one) > 1)!r}.")
    cells = dict(zip(names, zip(*body, strict=False), strict=False))
    offset = standard_offset_h if standard_offset_h is not None else about.get("standard_offset_h")
    by_name = {folded(column): values for column, values in cells.items()}
    times, said, kind, more = labels_of(name, by_name, start + 2, zone, offset)
    known = said or about.pop("convention", None)
    if known is None and convention is None:
        raise WeatherError(
            f"{name}: what do its times name? Give convention: beginning or ending of the hour, or instant; or name "
            "the column start_utc or hour_ending_utc."
        )
    found = headings(names, name, dict(columns or {}))
    if not any(one.field == "dry_bulb_c" for one in found):
        raise WeatherError(
            f"{name} has no column for the dry bulb, such as dry_bulb_c: name it by columns."
            f"{did_you_mean('dry_bulb_c', names)}"
        )
    values = {one.field: one.converted(numbers(name, one.column, cells[one.column], start + 2)) for one in found}
    if offset is not None:
        about["standard_offset_h"] = offset
    about.pop("convention", None)
    return Parsed(
        name=name,
        times=times,
        columns=values,
        kind=about.pop("kind", kind),
        convention=convention or known or "beginning",
        about={"source": name} | about,
        notes=[*notes, *more],
    )


def _delimiter(line: str) -> str:
    return max((",", ";", "\t"), key=line.count)


def _head(name: str, lines: list[str]) -> tuple[dict[str, Any], list[str], int]:
    """Return what lines before the headings say, the notes among them, and where the headings are."""
    about: dict[str, Any] = {}
    notes: list[str] = []
    start = 0
    while start < len(lines) and lines[start].startswith("#"):
        key, colon, value = lines[start].lstrip("# ").partition(":")
        key, value = folded(key), value.strip()
        start += 1
        if not colon:
            continue
        if key not in _KEYS:
            raise WeatherError(f"{name}, line {start}: there is no key {key!r}.{did_you_mean(key, _KEYS)}")
        if key == "note":
            notes.append(value)
        else:
            about[key] = one_number(name, key, value) if key in _NUMBERS else value
    for key, choices in (("kind", get_args(Kind)), ("convention", get_args(Convention))):
        if key in about and about[key] not in choices:
            raise WeatherError(f"{name}: {key} is {about[key]!r}, and not {', '.join(choices)}.")
    if start == len(lines):
        raise WeatherError(f"{name} has no headings.")
    return about, notes, start


def write_table(weather: WeatherYear, path: Path) -> None:
    """Write a year as a table that :func:`energy.weather.readers.read_weather` reads to the same year.

    Parameters
    ----------
    weather : WeatherYear
    path : Path
        Written whole or not at all; a missing hour is an empty cell.

    Raises
    ------
    WeatherError
        The file cannot be written.

    """
    lines = [f"# {key}: {getattr(weather, key)}" for key in (*_TEXTS, "kind", *_NUMBERS) if _has(weather, key)]
    lines += [f"# note: {note}" for note in weather.notes]
    fields = [field for field in QUANTITIES if field != "dew_point_c" and getattr(weather, field) is not None]
    lines.append(",".join(["start_utc", *fields]))
    texts = [[f"{stamp}Z" for stamp in np.datetime_as_string(weather.start_utc, unit="s")]]
    texts += [["" if np.isnan(one) else repr(one) for one in getattr(weather, field).tolist()] for field in fields]
    lines += [",".join(row) for row in zip(*texts, strict=True)]
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise WeatherError(f"{path} cannot be written: {error.strerror}.") from None


def _has(weather: WeatherYear, key: str) -> bool:
    return getattr(weather, key) not in (None, "")
