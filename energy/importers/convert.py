"""Columns of a file to typed arrays; what cannot be read becomes a reason for its row, never a default."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from energy.errors import MappingError
from energy.importers.base import Batch, rejects_table

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.importers.tabular import RawBatch

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_NO_NUMBER = {"nan", "+nan", "-nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
_SHOWN = 200


class Refusals:
    """Reasons by row of one batch; a row keeps its first reason."""

    def __init__(self, raw: RawBatch) -> None:
        self._raw = raw
        self._code = np.zeros(raw.table.num_rows, np.int32)
        self._reasons: dict[str, int] = {"": 0}

    def add(self, row: int, reason: str) -> None:
        """Refuse one row."""
        if self._code[row] == 0:
            self._code[row] = self._reasons.setdefault(reason, len(self._reasons))

    def add_where(self, mask: Mask, reason: str) -> None:
        """Refuse every row of the mask."""
        if mask.any():
            self._code[mask & (self._code == 0)] = self._reasons.setdefault(reason, len(self._reasons))

    def add_each(self, mask: Mask, reason: Any) -> None:
        """Refuse every row of the mask; ``reason`` takes the row's place and returns its own words."""
        for row in np.flatnonzero(mask & (self._code == 0)).tolist():
            self.add(row, reason(row))

    def batch(self, columns: dict[str, Any]) -> Batch:
        """Return the accepted rows of these columns, and the refused rows."""
        import pyarrow as pa

        raw = self._raw
        table = pa.table({"row_number": pa.array(raw.row_number), **columns})
        read = raw.table.num_rows + len(raw.rejects)
        if not self._code.any() and not raw.rejects:
            return Batch(table, rejects_table(), read)
        accepted = pa.array(self._code == 0)
        refused = pa.concat_tables([rejects_table(raw.rejects), self._rejects()]).sort_by("row_number")
        return Batch(table.filter(accepted), refused, read)

    def _rejects(self) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        at = pa.array(np.flatnonzero(self._code))
        rows = self._raw.table.take(at)
        parts = []
        for name in rows.column_names:
            value = _shown(rows.column(name)).fill_null("")
            parts.append(pc.binary_join_element_wise(pa.scalar(f"{name}="), value, pa.scalar("")))
        text = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*parts, pa.scalar(", ")), 0, _SHOWN)
        reasons = pa.array(list(self._reasons), pa.string())
        return pa.table(
            {
                "row_number": pa.array(self._raw.row_number).take(at),
                "reason": reasons.take(pa.array(self._code[self._code > 0])),
                "row_text": text,
            }
        )


def _shown(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as text for people; times with zone in UTC, since naming another needs a zone database."""
    import pyarrow as pa

    values = plain(column)
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        naive = values.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.int64()).cast(pa.timestamp(kind.unit))
        import pyarrow.compute as pc

        return pc.binary_join_element_wise(naive.cast(pa.string()), pa.scalar("Z"), pa.scalar(""))
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())


def plain(column: Any) -> Any:
    """Return a column as one array without dictionary, texts as ``string``."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        chunks = column.chunks or [pa.array([], column.type)]
        column = chunks[0] if len(chunks) == 1 else pa.concat_arrays([plain(chunk) for chunk in chunks])
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    return column


def texts(table: pa.Table, column: str) -> pa.Array:
    """Return a column as trimmed text; empty becomes null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain(table.column(column))
    if not pa.types.is_string(values.type):
        values = _shown(values)
    trimmed = pc.utf8_trim_whitespace(values)
    blank = pc.equal(trimmed, "").fill_null(False)
    return pc.if_else(blank, pa.scalar(None, pa.string()), trimmed) if pc.any(blank).as_py() else trimmed


@dataclass(frozen=True, slots=True)
class Words:
    """A column of few distinct texts: a code per row, -1 where there is none, and the texts."""

    code: Ints
    names: list[str]

    @property
    def absent(self) -> Mask:
        """Rows without a text."""
        return self.code < 0

    def array(self) -> pa.Array:
        """Return the column as a dictionary array."""
        import pyarrow as pa

        indices = pa.array(self.code.astype(np.int32), mask=self.absent)
        return pa.DictionaryArray.from_arrays(indices, pa.array(self.names, pa.string()))

    def where(self, chosen: list[bool]) -> Mask:
        """Return the rows whose text is chosen; ``chosen`` has one entry per name."""
        return np.append(np.array(chosen, bool), False)[self.code]


def words(table: pa.Table, column: str) -> Words:
    """Return a column of few distinct texts: look-ups are then made once per text, not once per row."""
    import pyarrow as pa

    chunked = table.column(column)
    values = chunked.combine_chunks() if not isinstance(chunked, pa.Array) else chunked
    if isinstance(values, pa.ChunkedArray):
        values = plain(values)
    if not (pa.types.is_dictionary(values.type) and pa.types.is_string(values.type.value_type)):
        values = texts(table, column).dictionary_encode()
    given = [None if name is None else name.strip() for name in values.dictionary.to_pylist()]
    place: dict[str, int] = {}
    code_of = np.array([place.setdefault(name, len(place)) if name else -1 for name in given] + [-1], np.int64)
    indices = np.asarray(values.indices.fill_null(-1) if values.null_count else values.indices)
    return Words(code_of[indices], list(place))


def numbers(
    table: pa.Table, column: str, refusals: Refusals, *, least: float = 0.0, whole: bool = False, most: float = math.inf
) -> tuple[Floats, Mask]:
    """Return a column as float64, and which rows have a value.

    NaN, infinity, texts that are no plain number, values under ``least`` or over ``most``, and with ``whole`` values
    with a fraction, are refused with their row. Rows without a value are 0 in the array: look at the mask.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = plain(table.column(column))
    kind = values.type
    if pa.types.is_string(kind):
        array, present = _numbers_of_text(values, column, refusals)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        present = np.asarray(pc.is_valid(values))
        floats = values.cast(pa.float64(), safe=False)
        array = np.asarray(floats.fill_null(0.0) if floats.null_count else floats)
    else:
        raise MappingError(f"Column {column} holds {kind}, not numbers: map another column.")
    good = _check_numbers(array, present, column, refusals, (least, most), whole=whole)
    return (array if good.all() else np.where(good, array, 0.0)), good


def _check_numbers(
    array: Floats, present: Mask, column: str, refusals: Refusals, limits: tuple[float, float], *, whole: bool
) -> Mask:
    least, most = limits
    finite = np.isfinite(array)
    if not finite.all():
        refusals.add_where(present & ~finite, f"{column} is not a finite number: leave the row out, or give the value")
        array = np.where(finite, array, least)
    outside = present & ((array < least) | (array > most))
    if outside.any():
        rule = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
        refusals.add_each(
            outside & finite,
            lambda row: f"{column} is {array[row]:g}; it must be {rule}: correct the value or leave the row out",
        )
    good: Mask = present & finite & ~outside
    if whole:
        broken = good & (array != np.rint(array))
        refusals.add_each(broken, lambda row: f"{column} is {array[row]:g}; it must be a whole number: correct it")
        good &= ~broken
    return good


def _numbers_of_text(values: Any, column: str, refusals: Refusals) -> tuple[Floats, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(values)
    present = np.asarray(pc.and_(pc.is_valid(trimmed), pc.not_equal(trimmed, "").fill_null(False)))
    digits = pc.if_else(pa.array(present), trimmed, "0")
    try:
        return np.asarray(digits.cast(pa.float64())), present
    except pa.ArrowInvalid:
        pass  # some row is no number: find out which
    array, present = np.zeros(len(digits)), present.copy()
    for row, text in enumerate(digits.to_pylist()):
        if _NUMBER.match(text):
            array[row] = float(text)
        elif text.casefold() in _NO_NUMBER:
            array[row] = math.nan
        else:
            present[row] = False
            refusals.add(
                row,
                f"`{text[:60]}` in {column}, a column of numbers: write the number with a decimal point and without "
                "unit",
            )
    return array, present
