"""Labels of free tables: UTC, offsets, a named zone with its summer time, a standard time, or seconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from energy.errors import WeatherError, did_you_mean
from energy.weather.readers._text import calendar, numbers, plain_times
from energy.weather.year import Convention, Instants, Kind, utc_instants

Cells = Mapping[str, Sequence[str]]

#: heading of a column of labels -> what it says of the convention
LABELS: dict[str, Convention | None] = {
    "start_utc": "beginning",
    "hour_beginning_utc": "beginning",
    "hour_beginning": "beginning",
    "end_utc": "ending",
    "hour_ending_utc": "ending",
    "instant_utc": "instant",
    "time_utc": None,
    "timestamp_utc": None,
    "time": None,
    "timestamp": None,
    "datetime": None,
    "date_time": None,
    "date": None,
}
_UNIX = {f"time_unix_{unit}": unit for unit in ("s", "ms", "us", "ns")}
_PARTS = ("month", "day")
_ZONED = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)$")


def labels_of(
    name: str, cells: Cells, first_line: int, zone: str | None, standard_offset_h: float | None
) -> tuple[Instants, Convention | None, Kind, list[str]]:
    """Return labels in UTC, what the heading says that they name, the kind of year, and notes.

    Parameters
    ----------
    name : str
        Of the file.
    cells : mapping of str to sequence of str
        Columns by heading, in lower case with underscores.
    first_line : int
        Of the data, for messages.
    zone : str, optional
        IANA name such as ``Europe/Berlin``, for labels on that clock.
    standard_offset_h : float, h, optional
        For labels in standard time.

    Raises
    ------
    WeatherError
        There is no column of times, a time is none, or its zone is not known.

    """
    for column, unit in _UNIX.items():
        if column in cells:
            values = numbers(name, column, cells[column], first_line)
            if not np.all(np.abs(values) < 9e18):
                raise WeatherError(f"{name}: a cell of {column} is empty, or no count of {unit} since 1970.")
            whole = values.astype(np.int64)  # whole seconds stay exact, also in nanoseconds
            return whole.astype(f"datetime64[{unit}]").astype("datetime64[s]"), None, "historical", []
    column = next((one for one in LABELS if one in cells), "")
    if column and not all(part in cells for part in _PARTS):
        times = _instants(name, column, cells[column], zone, standard_offset_h)
        return times, LABELS[column], "historical", []
    return _from_parts(name, cells, first_line, standard_offset_h)


def _from_parts(
    name: str, cells: Cells, first_line: int, standard_offset_h: float | None
) -> tuple[Instants, Convention, Kind, list[str]]:
    """Return labels of month, day and hour in standard time."""
    hour_column = next((one for one in ("hour_ending", "hour_beginning") if one in cells), "")
    if not hour_column or any(part not in cells for part in _PARTS):
        raise WeatherError(
            f"{name} has no column of times: write start_utc, or month, day and hour_ending."
            f"{did_you_mean('start_utc', cells)}"
        )
    if standard_offset_h is None:
        raise WeatherError(f"{name} has standard time: give standard_offset_h, its hours from UTC.")
    month, day, hour = (numbers(name, one, cells[one], first_line) for one in (*_PARTS, hour_column))
    has_year = "year" in cells
    year = numbers(name, "year", cells["year"], first_line) if has_year else np.full(month.size, 2021.0)
    labels, kind, notes = calendar(name, year, month, day, hour, is_typical=not has_year)
    convention: Convention = "ending" if hour_column == "hour_ending" else "beginning"
    return labels - np.timedelta64(round(standard_offset_h * 3600.0), "s"), convention, kind, notes if has_year else []


def _instants(
    name: str, column: str, texts: Sequence[str], zone: str | None, standard_offset_h: float | None
) -> Instants:
    is_utc = column.endswith("_utc")
    texts = [text.strip() for text in texts]
    zoned = [bool(_ZONED.search(text, 10)) for text in texts]
    if any(zoned) != all(zoned):
        raise WeatherError(f"{name}, column {column}: some times have a zone and some have none. Write all as UTC.")
    if all(text.endswith("Z") for text in texts):
        return plain_times(name, column, (text[:-1] for text in texts))
    if all(zoned):
        try:
            return utc_instants([datetime.fromisoformat(text) for text in texts])
        except (ValueError, OverflowError):
            raise WeatherError(f"{name}, column {column}: a time is none, such as 2026-01-01T00:00+02:00.") from None
    local = plain_times(name, column, texts)
    if is_utc:
        return local
    if zone is not None:
        return _from_clock(name, local, zone)
    if standard_offset_h is not None:
        standard: Any = local - np.timedelta64(round(standard_offset_h * 3600.0), "s")
        return utc_instants(standard)
    raise WeatherError(
        f"{name}, column {column}: the times have no zone. Write them in UTC in a column start_utc, give zone, as "
        "Europe/Berlin, for a clock with summer time, or standard_offset_h for standard time."
    )


def _from_clock(name: str, local: Instants, zone: str) -> Instants:
    """Return instants of a clock: the hour that comes twice in autumn is told apart by its order."""
    from zoneinfo import ZoneInfo

    try:
        clock = ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise WeatherError(f"The time zone {zone!r} is not known: give an IANA name, as Europe/Berlin.") from None
    moments: list[datetime] = local.astype("datetime64[us]").tolist()
    first = [_offset(clock, moment, 0) for moment in moments]
    second = [_offset(clock, moment, 1) for moment in moments]
    early, late = np.array(first, dtype="timedelta64[s]"), np.array(second, dtype="timedelta64[s]")
    skipped = early < late  # the clock leaps over these
    if skipped.any():
        when = local[int(np.argmax(skipped))]
        raise WeatherError(f"{name}: the clock of {zone} never shows {when}. Give UTC, or the right zone.")
    instants: Any = local - early
    twice = early != late
    again = twice & np.isin(local, _repeated(local)) & ~_first_of_each(local)
    instants[again] = (local - late)[again]
    result: Instants = instants
    return result


def _repeated(local: Instants) -> Instants:
    values, counts = np.unique(local, return_counts=True)
    return np.asarray(values[counts > 1])


def _first_of_each(local: Instants) -> Any:
    mask = np.zeros(local.size, dtype=bool)
    mask[np.unique(local, return_index=True)[1]] = True
    return mask


def _offset(clock: Any, moment: datetime, fold: int) -> timedelta:
    found = moment.replace(tzinfo=clock, fold=fold).utcoffset()
    return timedelta(0) if found is None else found
