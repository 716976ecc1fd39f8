"""Lines, cells and calendars that the formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.errors import WeatherError
from energy.weather.year import HOUR, Instants, Kind

Numbers = NDArray[np.float64]

TYPICAL_YEAR, TYPICAL_LEAP_YEAR = 2021, 2020  # calendars of typical years, whose months come from several
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?)?")  # else NumPy guesses
_LARGEST_FILE = 200e6  # bytes; a year of hours has 2 MB at most


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text file in UTF-8, UTF-16 or Latin-1.

    Raises
    ------
    WeatherError
        It cannot be read, is empty, far too large, or no text.

    """
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise WeatherError(f"{path} has {path.stat().st_size / 1e6:.0f} MB: no year of hourly weather is so large.")
        data = path.read_bytes()
    except OSError as error:
        raise WeatherError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", errors="replace")
    elif b"\x00" in data[:4096] or data[:2] in (b"PK", b"\x1f\x8b"):
        raise WeatherError(f"{path.name} is no text: unpack it, and give the EPW or CSV file in it.")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise WeatherError(f"{path.name} is empty.")
    return lines


def grid(name: str, lines: Sequence[str], first_line: int, columns: Mapping[str, int]) -> dict[str, Numbers]:
    """Return columns of numbers from rows without quoted commas; an empty cell is NaN.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    lines : sequence of str
        Rows of the data.
    first_line : int
        Line of the first of them, from 1.
    columns : mapping of str to int
        Name to place in the row; what follows the last of them is not looked at.

    Raises
    ------
    WeatherError
        A row is short or a cell is no number; the message has its line.

    """
    last = max(columns.values()) + 1
    chosen = itemgetter(*columns.values())
    cells = chain.from_iterable(chosen(line.split(",", last)) for line in lines)
    try:
        # one row at a time and no list of rows: half the time of columns made of lists
        table = np.fromiter(map(float, cells), dtype=np.float64, count=len(lines) * len(columns))
    except (ValueError, IndexError):
        rows = split_rows(name, lines, first_line, last, last)
        return {column: numbers(name, column, [row[at] for row in rows], first_line) for column, at in columns.items()}
    return dict(zip(columns, np.ascontiguousarray(table.reshape(len(lines), len(columns)).T), strict=True))


def split_rows(name: str, lines: Sequence[str], first_line: int, needed: int, most: int = -1) -> list[list[str]]:
    """Return the cells of rows that have no quoted commas, each with at least ``needed`` cells.

    Raises
    ------
    WeatherError
        A row is short; the message has its line.

    """
    rows = [line.split(",", most) for line in lines]
    if rows and min(map(len, rows)) < needed:
        place = next(index for index, row in enumerate(rows) if len(row) < needed)
        raise WeatherError(
            f"{name}, line {first_line + place}: {len(rows[place])} cells, and {needed} are due. Is the file cut off?"
        )
    return rows


def numbers(name: str, column: str, cells: Sequence[str], first_line: int) -> Numbers:
    """Return a column of numbers; an empty cell is NaN.

    Raises
    ------
    WeatherError
        A cell is no number; the message has its line.

    """
    try:
        return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        pass
    found = np.full(len(cells), np.nan)
    for index, cell in enumerate(cells):  # only where a cell is empty or wrong: the line has to be named
        if not cell.strip():
            continue
        try:
            found[index] = float(cell)
        except ValueError:
            raise WeatherError(
                f"{name}, line {first_line + index}, column {column}: {cell.strip()!r} is no number. "
                "Leave unknown cells empty."
            ) from None
    return found


def one_number(name: str, what: str, cell: str) -> float:
    """Return a number of a header.

    Raises
    ------
    WeatherError
        It is none.

    """
    try:
        found = float(cell)
    except ValueError:
        found = np.nan
    if not np.isfinite(found):
        raise WeatherError(f"{name}: {what} in the header is {cell.strip()!r}, no number.")
    return found


def days_of(name: str, years: NDArray[np.int64], months: Numbers, days: Numbers) -> Instants:
    """Return calendar days as datetime64[D].

    Raises
    ------
    WeatherError
        A date is none.

    """
    wrong = ~((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31))
    if not wrong.any():
        month = (years - 1970) * 12 + months.astype(np.int64) - 1
        starts = month.astype("datetime64[M]")
        found: Instants = starts.astype("datetime64[D]") + (days.astype(np.int64) - 1).astype("timedelta64[D]")
        wrong = found.astype("datetime64[M]") != starts
    if wrong.any():
        place = int(np.argmax(wrong))
        raise WeatherError(
            f"{name}: {years[place]:.0f}-{months[place]:02.0f}-{days[place]:02.0f} is no date "
            f"(row {place + 1} of the data)."
        )
    return found


def calendar(
    name: str, years: Numbers, months: Numbers, days: Numbers, hours: Numbers, *, is_typical: bool
) -> tuple[Instants, Kind, list[str]]:
    """Return local labels from calendar columns, whether the year is a typical one, and notes.

    Parameters
    ----------
    years, months, days : array, shape (n,)
    hours : array, shape (n,), h
        Since midnight, 0 to 24.
    is_typical : bool
        The format says so; else the year is typical where its rows do not follow each other by their own years.

    Raises
    ------
    WeatherError
        A date or an hour is none.

    """
    if not np.all((hours >= 0.0) & (hours <= 24.0)):
        raise WeatherError(f"{name}: an hour lies outside 0 to 24.")
    if np.isnan(years).any() or not np.all((years > 1700) & (years < 2300)):
        raise WeatherError(f"{name}: a year is none.")
    seconds = np.round(hours * 3600.0).astype(np.int64).astype("timedelta64[s]")
    own = years.astype(np.int64)
    if not is_typical:
        labels = days_of(name, own, months, days).astype("datetime64[s]") + seconds
        # one step back of a year and more is a typical year; anything smaller is for the check of doubles and order
        if not np.any(np.abs(np.diff(labels)) > HOUR * 24 * 300):
            return labels, "historical", []
    has_leap_day = bool(np.any((months == 2) & (days == 29)))
    one_year = np.full(own.size, TYPICAL_LEAP_YEAR if has_leap_day else TYPICAL_YEAR)
    labels = days_of(name, one_year, months, days).astype("datetime64[s]") + seconds
    note = f"months of {own.min()} to {own.max()} on the calendar of {one_year[0]}"
    return labels, "typical", [note]


def plain_times(name: str, column: str, texts: Iterable[str]) -> Instants:
    """Return times that are written without a zone, as datetime64[s].

    Raises
    ------
    WeatherError
        A time is none.

    """
    found = [text.strip() for text in texts]
    wrong = next((text for text in found if not _TIME.fullmatch(text)), None)
    if wrong is None:
        try:
            return np.array([text.replace(" ", "T") for text in found], dtype="datetime64[s]")
        except ValueError as error:
            wrong = str(error).rpartition(": ")[2] or "one"
    raise WeatherError(f"{name}, column {column}: {wrong!r} is no time, such as 2026-01-01T00:00.")
