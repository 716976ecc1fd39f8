"""Columns of times to milliseconds since 1970 UTC. A time without zone is read in a zone that was named, or refused.

Local time is worked out with ``zoneinfo`` so that it needs no zone database besides the one that Python uses.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from energy.errors import InputFileError, MappingError
from energy.importers.convert import Ints, Mask, Refusals, numbers, plain, texts
from energy.importers.mapping import ColumnRule

if TYPE_CHECKING:
    import pyarrow as pa

_SCALE_MS = {"s": 1000.0, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY_MS = 86_400_000
EARLIEST_MS = (datetime(2010, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
LATEST_MS = (datetime(2100, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
_FAR_MS = 1 << 52  # beyond every time that is accepted, and within the range of every step on the way


def zone_of(name: str) -> tzinfo:
    """Return an IANA time zone.

    Raises
    ------
    InputFileError
        The name is not an IANA zone.

    Examples
    --------
    >>> zone_of("Europe/Berlin").key
    'Europe/Berlin'

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

    values = plain(table.column(rule.column))
    kind = values.type
    if rule.unit is not None:
        result, present = _counted(table, rule, refusals)
    elif pa.types.is_timestamp(kind):
        result, present = _of_timestamps(values, rule, timezone, refusals)
    elif pa.types.is_string(kind):
        result, present = _of_texts(texts(table, rule.column), rule, timezone, refusals)
    elif pa.types.is_null(kind):
        return np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    else:
        raise MappingError(
            f"Column {rule.column} holds {kind}, not times: add `unit: s` (or ms) and `origin` to the mapping."
        )
    outside = present & ((result < EARLIEST_MS) | (result >= LATEST_MS))
    refusals.add_where(
        outside, f"{rule.column} is not between 2010 and 2100: correct it, or check unit and origin in the mapping"
    )
    return result, present & ~outside


def _counted(table: pa.Table, rule: ColumnRule, refusals: Refusals) -> tuple[Ints, Mask]:
    if rule.unit not in _SCALE_MS:
        raise MappingError(f"Column {rule.column}: unit {rule.unit} is no unit of counted times; use s, ms, us or ns.")
    if rule.origin is None:
        raise MappingError(
            f"Column {rule.column} counts {rule.unit}: add the `origin`, for Unix time `origin: 1970-01-01T00:00:00Z`."
        )
    origin = parse_instant(rule.origin, None)
    if isinstance(origin, str):
        raise MappingError(f"Column {rule.column}: origin {rule.origin} {origin}.")
    array, present = numbers(table, rule.column, refusals, least=-1e300)
    if rule.open_end is not None:
        present = present & (array != rule.open_end)
    counted = np.clip(np.where(present, array, 0.0) * _SCALE_MS[rule.unit], -_FAR_MS, _FAR_MS)
    return origin + np.rint(counted).astype(np.int64), present


def _of_timestamps(values: Any, rule: ColumnRule, timezone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    present = np.asarray(pc.is_valid(values))
    whole = values.cast(pa.timestamp(values.type.unit)).cast(pa.int64())
    counted = np.asarray(whole.fill_null(0) if whole.null_count else whole)
    if values.type.unit == "s":
        as_ms = np.clip(counted, -_FAR_MS // 1000, _FAR_MS // 1000) * 1000
    else:
        as_ms = counted // {"ms": 1, "us": 1000, "ns": 1_000_000}[values.type.unit]
    if values.type.tz is not None:
        return as_ms, present
    if timezone is None and present.any():
        raise _without_zone(rule.column)
    return as_ms if timezone is None else _of_local(as_ms, present, rule, timezone, refusals)[0], present


def _without_zone(column: str) -> InputFileError:
    return InputFileError(
        f"times in column {column} carry no zone: name it with --timezone ZONE (IANA, such as Europe/Berlin or UTC). "
        "Nothing was stored."
    )


def _of_local(local: Ints, present: Mask, rule: ColumnRule, timezone: str, refusals: Refusals) -> tuple[Ints, Mask]:
    """Take a zone's offset away. Clocks change on few days: only the times of those are looked at one by one."""
    zone = zone_of(timezone)
    local = np.where(present, np.clip(local, EARLIEST_MS - _DAY_MS, LATEST_MS + _DAY_MS), EARLIEST_MS)
    day, of_row = np.unique(local // _DAY_MS, return_inverse=True)
    offsets = np.array([_offset_of_day(number, zone) for number in day.tolist()] or [0], np.int64)
    offset = offsets[of_row]
    result = local - offset
    changing = np.flatnonzero((offset == _CHANGES) & present)
    distinct, place = np.unique(local[changing], return_inverse=True)
    for number, moment_ms in enumerate(distinct.tolist()):
        moment = (_EPOCH + moment_ms * _MILLISECOND).replace(tzinfo=None)
        parsed = _in_zone(moment, zone, timezone)
        rows = changing[place == number]
        if isinstance(parsed, str):
            for row in rows.tolist():
                refusals.add(row, f"{rule.column} {moment.isoformat(sep=' ')} {parsed}")
            parsed = EARLIEST_MS
        result[rows] = parsed
    return result, present


_CHANGES = 1 << 62  # stands for "the offset is not the same all day"


def _offset_of_day(number: int, zone: tzinfo) -> int:
    """Return a local day's offset in ms, or ``_CHANGES``; the hours around it are looked at too."""
    first = (_EPOCH + timedelta(days=number)).replace(tzinfo=None)
    around = {
        (first + timedelta(hours=hours)).replace(tzinfo=zone, fold=fold).utcoffset() or timedelta()
        for hours in (-3, 0, 12, 24, 27)
        for fold in (0, 1)
    }
    return next(iter(around)) // _MILLISECOND if len(around) == 1 else _CHANGES


def _of_texts(values: Any, rule: ColumnRule, timezone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    present = np.asarray(pc.is_valid(values))
    if not present.any():
        return np.zeros(len(values), np.int64), present
    try:
        aware = values.cast(pa.timestamp("us", "UTC"))
        return np.asarray(aware.cast(pa.int64()).fill_null(0)) // 1000, present
    except pa.ArrowInvalid:
        pass  # without offset, or in another form
    try:
        naive = values.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return _one_by_one(values, present, rule, timezone, refusals)
    if timezone is None:
        raise _without_zone(rule.column)
    return _of_local(np.asarray(naive.cast(pa.int64()).fill_null(0)) // 1000, present, rule, timezone, refusals)


def _one_by_one(
    values: Any, present: Mask, rule: ColumnRule, timezone: str | None, refusals: Refusals
) -> tuple[Ints, Mask]:
    result, present = np.zeros(len(values), np.int64), present.copy()
    seen: dict[str, int | str] = {}
    for row, text in enumerate(values.to_pylist()):
        if text is None:
            continue
        if text not in seen:
            seen[text] = parse_instant(text, timezone)
        parsed = seen[text]
        if isinstance(parsed, str):
            if parsed == _NO_ZONE:
                raise _without_zone(rule.column)
            present[row] = False
            refusals.add(row, f"{rule.column} {text[:60]} {parsed}")
        else:
            result[row] = parsed
    return result, present


_NO_ZONE = "carries no zone: write its offset, such as Z"


def parse_instant(text: str, timezone: str | None) -> int | str:
    """Return ms since 1970 UTC, or what is wrong with the text.

    Examples
    --------
    >>> parse_instant("1970-01-01T01:00:01+01:00", None)
    1000
    >>> parse_instant("2026-03-29T02:30:00", "Europe/Berlin")
    'in Europe/Berlin does not exist there (clocks go forward): give the time in UTC or with its offset'

    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return "is no ISO 8601 time: write it as 2026-01-31T14:05:00Z"
    if moment.tzinfo is not None:
        return (moment - _EPOCH) // _MILLISECOND
    return _NO_ZONE if timezone is None else _in_zone(moment, zone_of(timezone), timezone)


def _in_zone(moment: datetime, zone: tzinfo, timezone: str) -> int | str:
    """Return ms since 1970 UTC of a local time, or why it is none or two."""
    if not 2 <= moment.year <= 9998:
        return -_FAR_MS  # refused by its year
    early, late = moment.replace(tzinfo=zone, fold=0), moment.replace(tzinfo=zone, fold=1)
    if early.utcoffset() != late.utcoffset():
        exists = early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == moment
        why = "occurs twice there (clocks go back)" if exists else "does not exist there (clocks go forward)"
        return f"in {timezone} {why}: give the time in UTC or with its offset"
    return (early - _EPOCH) // _MILLISECOND
