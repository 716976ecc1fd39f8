"""Columns of a file to typed arrays; what cannot be read becomes a reason for its row, never a default."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt

from energy.errors import InputFileError, MappingError
from energy.importers.base import Reject
from energy.importers.mapping import ColumnRule

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_SCALE_MS = {"s": 1000.0, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
_EARLIEST_MS = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp() * 1000)
_LATEST_MS = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


class Refusals:
    """Reasons by row of one batch; a row keeps its first reason."""

    def __init__(self, table: pa.Table, row_number: Ints) -> None:
        self._table = table
        self._row_number = row_number
        self._reason: dict[int, str] = {}

    def add(self, row: int, reason: str) -> None:
        """Refuse one row."""
        self._reason.setdefault(row, reason)

    def add_where(self, mask: Mask, reason: str) -> None:
        """Refuse every row of the mask."""
        for row in np.flatnonzero(mask).tolist():
            self._reason.setdefault(row, reason)

    def accepted(self) -> Mask:
        """Return the rows without a reason."""
        mask = np.ones(self._table.num_rows, dtype=bool)
        if self._reason:
            mask[list(self._reason)] = False
        return mask

    def rejects(self) -> list[Reject]:
        """Return the refused rows in the order of the file."""
        out = []
        for row in sorted(self._reason):
            values = {name: self._table.column(name)[row].as_py() for name in self._table.column_names}
            text = ", ".join(f"{name}={'' if value is None else value}" for name, value in values.items())
            out.append(Reject(int(self._row_number[row]), self._reason[row], text[:200]))
        return out


def texts(table: pa.Table, column: str) -> pa.Array:
    """Return a column as trimmed text; empty becomes null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _single(table, column)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if not pa.types.is_string(values.type):
        values = values.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _single(table: pa.Table, column: str) -> pa.Array:
    import pyarrow as pa

    chunks = table.column(column)
    return chunks.chunk(0) if chunks.num_chunks == 1 else pa.concat_arrays(chunks.chunks or [pa.array([], chunks.type)])


def numbers(table: pa.Table, column: str, refusals: Refusals, *, least: float = 0.0) -> tuple[Floats, Mask]:
    """Return a column as float64, and which rows have a value.

    NaN, infinity, texts that are no plain number, and values under ``least`` are refused with their row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _single(table, column)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type):
        raise MappingError(f"Column {column} holds {values.type}, not numbers: map another column.")
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        array, present = _numbers_of_text(values, column, refusals)
    else:
        present = np.asarray(pc.is_valid(values))
        array = np.asarray(values.cast(pa.float64(), safe=False).fill_null(0.0))
    broken = present & ~np.isfinite(array)
    if broken.any():
        refusals.add_where(broken, f"{column} is not a finite number: leave the row out, or give the value")
    low = present & np.isfinite(array) & (array < least)
    if low.any():
        for row in np.flatnonzero(low).tolist():
            refusals.add(
                row, f"{column} is {array[row]:g}; it must be at least {least:g}: correct the value or leave it out"
            )
    return array, present & ~broken & ~low


def _numbers_of_text(values: Any, column: str, refusals: Refusals) -> tuple[Floats, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(values)
    present = np.asarray(pc.and_(pc.is_valid(trimmed), pc.not_equal(trimmed, "")).fill_null(False))
    plain = pc.if_else(pa.array(present), trimmed, "0").fill_null("0")
    try:
        return np.asarray(plain.cast(pa.float64())), present
    except pa.ArrowInvalid:
        pass  # some row is no number: find out which, one by one
    array = np.zeros(len(plain))
    for row, text in enumerate(plain.to_pylist()):
        if _NUMBER.match(text):
            array[row] = float(text)
        elif text.casefold() in ("nan", "inf", "-inf", "infinity", "-infinity"):
            array[row] = math.nan
        else:
            present[row] = False
            refusals.add(
                row,
                f"`{text}` in {column}, a column of numbers: write the number with a decimal point and without unit",
            )
    return array, present


def zone_of(name: str) -> tzinfo:
    """Return an IANA time zone.

    Raises
    ------
    InputFileError
        The name is not an IANA zone.

    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputFileError(f"{name} is no IANA time zone; write one such as Europe/Berlin or UTC.") from error


def instants(table: pa.Table, rule: ColumnRule, timezone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    """Return a column of times as ms since 1970 UTC, and which rows have one.

    Accepts timestamps with zone, ISO 8601 texts with offset, counted times with unit and origin, and times without
    zone where a time zone is given; a local time that does not exist or occurs twice is refused with its row.

    Raises
    ------
    InputFileError
        Times carry no zone and none was given.
    """
    import pyarrow as pa

    values = _single(table, rule.column)
    if rule.unit is not None:
        result, present = _counted(table, rule, refusals)
    elif pa.types.is_timestamp(values.type):
        result, present = _of_timestamps(values, rule, timezone, refusals)
    elif pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
        result, present = _of_texts(texts(table, rule.column), rule, timezone, refusals)
    elif pa.types.is_null(values.type):
        return np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    else:
        raise MappingError(
            f"Column {rule.column} holds {values.type}, not times: add `unit: s` (or ms) and `origin` to the mapping."
        )
    outside = present & ((result < _EARLIEST_MS) | (result >= _LATEST_MS))
    if outside.any():
        refusals.add_where(
            outside, f"{rule.column} is not between 2010 and 2100: check the unit and origin of the mapping"
        )
    return result, present & ~outside


def _counted(table: pa.Table, rule: ColumnRule, refusals: Refusals) -> tuple[Ints, Mask]:
    if rule.unit not in _SCALE_MS:
        raise MappingError(f"Column {rule.column}: unit {rule.unit} is no unit of counted times; use s, ms, us or ns.")
    if rule.origin is None:
        raise MappingError(
            f"Column {rule.column} counts {rule.unit}: add the `origin`, for Unix time `origin: 1970-01-01T00:00:00Z`."
        )
    origin = _parse_instant(rule.origin, None)
    if isinstance(origin, str):
        raise MappingError(f"Column {rule.column}: origin {rule.origin}: {origin}.")
    array, present = numbers(table, rule.column, refusals, least=-1e18)
    if rule.open_end is not None:
        present &= array != float(rule.open_end)
    return origin + np.rint(np.where(present, array, 0.0) * _SCALE_MS[rule.unit]).astype(np.int64), present


def _of_timestamps(values: Any, rule: ColumnRule, timezone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    present = np.asarray(pc.is_valid(values))
    if values.type.tz is None:
        if timezone is None:
            raise _without_zone(rule.column)
        return _local_times(values, present, rule, timezone, refusals)
    as_ms = values.cast(pa.timestamp("ms", values.type.tz), safe=False).cast(pa.int64())
    return np.asarray(as_ms.fill_null(0)), present


def _without_zone(column: str) -> InputFileError:
    return InputFileError(
        f"Times in {column} carry no zone: name it with --timezone ZONE (IANA, such as Europe/Berlin or UTC). "
        "Nothing was stored."
    )


def _local_times(values: Any, present: Mask, rule: ColumnRule, timezone: str, refusals: Refusals) -> tuple[Ints, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    zone_of(timezone)
    naive = values.cast(pa.timestamp("ms"), safe=False)
    try:
        aware = pc.assume_timezone(naive, timezone, ambiguous="raise", nonexistent="raise")
        return np.asarray(aware.cast(pa.int64()).fill_null(0)), present
    except pa.ArrowInvalid:
        pass  # some local time is absent or double: find the rows
    early = pc.assume_timezone(naive, timezone, ambiguous="earliest", nonexistent="earliest")
    late = pc.assume_timezone(naive, timezone, ambiguous="latest", nonexistent="latest")
    first = np.asarray(early.cast(pa.int64()).fill_null(0))
    second = np.asarray(late.cast(pa.int64()).fill_null(0))
    odd = present & (first != second)
    for row in np.flatnonzero(odd).tolist():
        absent = second[row] - first[row] <= 1
        why = "does not exist there (clocks go forward)" if absent else "occurs twice there (clocks go back)"
        text = naive[row].as_py().isoformat(sep=" ")
        refusals.add(row, f"{rule.column} {text} in {timezone} {why}: give the time in UTC or with its offset")
    return first, present & ~odd


def _of_texts(values: Any, rule: ColumnRule, timezone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    present = np.asarray(pc.is_valid(values))
    if not present.any():
        return np.zeros(len(values), np.int64), present
    try:
        aware = values.cast(pa.timestamp("us", "UTC"))
        return np.asarray(aware.cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64()).fill_null(0)), present
    except pa.ArrowInvalid:
        pass  # without offset, or in another form
    try:
        naive = values.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return _one_by_one(values, present, rule, timezone, refusals)
    if timezone is None:
        raise _without_zone(rule.column)
    return _local_times(naive, present, rule, timezone, refusals)


def _one_by_one(
    values: Any, present: Mask, rule: ColumnRule, timezone: str | None, refusals: Refusals
) -> tuple[Ints, Mask]:
    result = np.zeros(len(values), np.int64)
    seen: dict[str, int | str] = {}
    for row, text in enumerate(values.to_pylist()):
        if text is None:
            continue
        if text not in seen:
            seen[text] = _parse_instant(text, timezone)
        parsed = seen[text]
        if isinstance(parsed, str):
            if parsed == "carries no zone":
                raise _without_zone(rule.column)
            present[row] = False
            refusals.add(row, f"{rule.column} `{text}` {parsed}")
        else:
            result[row] = parsed
    return result, present


def _parse_instant(text: str, timezone: str | None) -> int | str:
    """Return ms since 1970 UTC, or what is wrong with the text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return "is no ISO 8601 time: write it as 2026-01-31T14:05:00Z"
    if moment.tzinfo is None:
        if timezone is None:
            return "carries no zone"
        zone = zone_of(timezone)
        early, late = moment.replace(tzinfo=zone, fold=0), moment.replace(tzinfo=zone, fold=1)
        if early.utcoffset() != late.utcoffset():
            exists = early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == moment
            why = "occurs twice there (clocks go back)" if exists else "does not exist there (clocks go forward)"
            return f"in {timezone} {why}: give the time in UTC or with its offset"
        moment = early
    return int(moment.timestamp() * 1000)
