"""Times of hourly grid files as ms since 1970 UTC: UTC by the format, times with an offset, and local times.

A local hour that the clocks repeat is told by the order of the rows: where a time stands twice, the first is summer
time. Where it stands once nobody can tell, and the row is left out and counted.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import InputFileError
from energy.importers.times import zone_of

if TYPE_CHECKING:
    from energy.importers.grid_text import TextTable

Instants = NDArray[np.int64]
Mask = NDArray[np.bool_]
_HOUR_MS = 3_600_000
_EPOCH = datetime(1970, 1, 1)
_UTC_END = r"(Z|\s*UTC|[+-]00(:?00)?)$"


def utc_ms(table: TextTable, column: str, pattern: str = "") -> Instants:
    """Return a column of UTC times, as a format defines them.

    Parameters
    ----------
    table : TextTable
    column : str
        Texts of ISO 8601 without offset or with the offset 0, or of ``pattern``.
    pattern : str
        Of ``strptime``.

    Raises
    ------
    InputFileError
        A text is no such time.
    """
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(table.table.column(column).combine_chunks())
    plain = texts if pattern else pc.replace_substring_regex(texts, _UTC_END, "")
    found, given = _parsed(plain, pattern)
    if not given.all():
        at = int(np.flatnonzero(~given)[0])
        raise InputFileError(
            f"{table.path.name}, line {table.lines[at]}, column {column}: {str(texts[at].as_py())[:40]!r} is no UTC "
            "time of this format. Nothing was read."
        )
    return found


def any_ms(table: TextTable, column: str, timezone: str | None) -> tuple[Instants, Mask]:
    """Return a column of times with offsets, or of local times in a zone that was named, and which rows have one.

    Raises
    ------
    InputFileError
        A text is no time, or times carry no offset and no zone was named.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(table.table.column(column).combine_chunks())
    try:
        aware = pc.cast(texts, pa.timestamp("ms", "UTC"))
    except pa.ArrowInvalid:
        found, given = _parsed(texts, "")
        if not given.all():
            at = int(np.flatnonzero(~given)[0])
            raise InputFileError(
                f"{table.path.name}, line {table.lines[at]}, column {column}: {str(texts[at].as_py())[:40]!r} is no "
                "time. Write 2026-01-31T14:00Z in every row, or local times without offset in every row."
            ) from None
        if timezone is None:
            raise InputFileError(
                f"{table.path.name}: times in column {column} carry no zone: name it with --timezone ZONE (IANA, such "
                "as Europe/Berlin or UTC), or call the column time_utc if they are UTC. Nothing was read."
            ) from None
        return local_ms(found, zone_of(timezone), table.path.name)
    return np.asarray(aware.cast(pa.int64())), np.ones(len(aware), dtype=bool)


def _parsed(texts: Any, pattern: str) -> tuple[Instants, Mask]:
    """Return texts without offset as ms of their own clock, and which are such times."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pattern:
        found = pc.strptime(texts, format=pattern, unit="s", error_is_null=True)
    else:
        shape = pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?$")
        found = pc.cast(_only(texts, shape), pa.timestamp("us"))
    given = np.asarray(pc.is_valid(found).to_numpy(zero_copy_only=False), dtype=bool)
    whole = pc.cast(pc.cast(found, pa.timestamp("ms")), pa.int64())
    return np.asarray(pc.fill_null(whole, 0).to_numpy(zero_copy_only=False)), given


def _only(texts: Any, mask: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    # a month 13 passes the shape; the cast refuses the whole column then, so such texts are looked at one by one
    kept = pc.if_else(mask, texts, pa.scalar(None, pa.string()))
    try:
        pc.cast(kept, pa.timestamp("us"))
    except pa.ArrowInvalid:
        return pa.array([text if _is_time(text) else None for text in kept.to_pylist()], pa.string())
    return kept


def _is_time(text: str | None) -> bool:
    if text is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def local_ms(
    local: Instants, zone: tzinfo, file_name: str, group: NDArray[np.int64] | None = None, has_value: Mask | None = None
) -> tuple[Instants, Mask]:
    """Return local times as UTC, and which can be told.

    Parameters
    ----------
    local : array of int, shape (r,)
        ms of the local clock, in the order of the file.
    zone : tzinfo
    file_name : str
        For the message.
    group : array of int, shape (r,), optional
        Rows of one time in different groups are no repetition: one group for each technology.
    has_value : array of bool, shape (r,), optional
        Rows with a value; others may have a time that does not exist.

    Returns
    -------
    utc : array of int, shape (r,)
    told : array of bool, shape (r,)
        False for a repeated hour that stands once, and for a row without value whose time does not exist.

    Raises
    ------
    InputFileError
        A row with a value has a local time that does not exist.

    Examples
    --------
    >>> from zoneinfo import ZoneInfo
    >>> twice = np.array(["2026-10-25T02:00", "2026-10-25T02:00"], dtype="datetime64[ms]").astype(np.int64)
    >>> utc, told = local_ms(twice, ZoneInfo("Europe/Berlin"), "a.csv")
    >>> utc.astype("datetime64[ms]").astype(str).tolist(), told.tolist()
    (['2026-10-25T00:00:00.000', '2026-10-25T01:00:00.000'], [True, True])

    """
    hour, of_row = np.unique(local // _HOUR_MS, return_inverse=True)
    early, late, exists = (np.array(one) for one in zip(*(_offsets(int(one), zone) for one in hour), strict=True))
    changes = (early != late)[of_row]
    absent = changes & ~exists[of_row]
    valued = np.ones(local.shape, dtype=bool) if has_value is None else has_value
    if bool(np.any(absent & valued)):
        at = int(np.flatnonzero(absent & valued)[0])
        raise InputFileError(
            f"{file_name}: {np.datetime64(int(local[at]), 'ms')} does not exist in {zone} (clocks go forward) and has "
            "values: the times are of another zone. Nothing was read."
        )
    twice = changes & exists[of_row]
    rank, count = _rank(local, np.zeros_like(local) if group is None else group)
    offset = np.where(twice & (rank > 0), late[of_row], early[of_row])
    return local - offset, ~absent & (~twice | (count == 2))


def _offsets(hour: int, zone: tzinfo) -> tuple[int, int, bool]:
    """Return the first and the second offset of a local hour in ms, and whether the hour exists."""
    moment = _EPOCH + timedelta(hours=hour)
    first, second = (moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    ms = [int((one.utcoffset() or timedelta()).total_seconds() * 1000) for one in (first, second)]
    exists = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == moment
    return ms[0], ms[1], exists


def _rank(local: Instants, group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row how many rows of its group and time stand before it, and how many there are."""
    key = np.stack([group, local])
    order = np.lexsort((np.arange(local.size), local, group))
    sorted_key = key[:, order]
    first = np.concatenate([[True], (sorted_key[:, 1:] != sorted_key[:, :-1]).any(axis=0)])
    run = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    rank, count = np.empty_like(local), np.empty_like(local)
    rank[order] = np.arange(local.size) - starts[run]
    count[order] = np.bincount(run)[run]
    return rank, count
