"""What the readers of hourly grid files share: columns as text, times, numbers, and rows put on whole hours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.carbon.hours import HOUR_MS, GridHours, HourGaps, IntensityOfHours, OnHours, on_hours
from energy.errors import FactorError, InputFileError, did_you_mean
from energy.importers.tabular import header_of, read_batches

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = NDArray[np.float64]
Instants = NDArray[np.int64]
_EARLIEST_MS, _LATEST_MS = (int(np.datetime64(f"{year}-01-01", "ms").astype(np.int64)) for year in (2000, 2100))
NOT_GIVEN = ("", "n/e", "N/A", "NA", "-", "n/a", "null", "NULL")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says of a file beyond what stands in it; None: the file must say it.

    ``zone`` chooses one of several, or names the only one. ``timezone`` is the IANA zone of times without one.
    """

    zone: str | None = None
    timezone: str | None = None
    boundary: str | None = None
    attribution: str | None = None


@dataclass(slots=True)
class TextTable:
    """A CSV file as columns of text."""

    path: Path
    table: pa.Table
    lines: NDArray[np.int64]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.table.column_names)

    def texts(self, column: str) -> list[str]:
        """Return a column as texts without blanks at their ends; a cell that is absent is empty."""
        return [("" if text is None else text.strip()) for text in self.table.column(column).to_pylist()]

    def only(self, rows: NDArray[np.bool_]) -> TextTable:
        """Return the rows where the mask is true."""
        import pyarrow as pa

        return TextTable(self.path, self.table.filter(pa.array(rows)), self.lines[rows])

    def numbers(self, column: str, *, grouped: bool = False) -> Numbers:
        """Return a column as numbers; what the file does not give is not a number.

        Parameters
        ----------
        column : str
        grouped : bool
            Whether the format writes commas between thousands.

        Raises
        ------
        InputFileError
            A cell is neither a finite number nor one of the marks of an absent value.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.utf8_trim_whitespace(self.table.column(column).combine_chunks())
        if grouped:
            text = pc.replace_substring(text, ",", "")
        absent = pc.is_in(text, value_set=pa.array(NOT_GIVEN))
        text = pc.if_else(absent, pa.scalar(None, pa.string()), text)
        try:
            found = np.asarray(pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        except pa.ArrowInvalid:
            found = np.array([_number(one) for one in text.to_pylist()])
        given = np.asarray(pc.is_valid(text).to_numpy(zero_copy_only=False), dtype=bool)
        wrong = given & ~np.isfinite(found)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise InputFileError(
                f"{self.path.name}, line {self.lines[at]}, column {column}: {str(text[at].as_py())[:40]!r} is no "
                "number. Correct it, or leave the cell empty where the value is not known."
            )
        return found


def _number(text: str | None) -> float:
    if text is None:
        return np.nan
    try:
        return float(text)
    except ValueError:
        return np.nan


def read_text_table(path: Path) -> TextTable:
    """Return a CSV file (comma, semicolon or tab; plain or packed) as columns of text.

    Raises
    ------
    InputFileError
        The file is missing, empty, no CSV in UTF-8, has a column twice, no row, or a row that does not fit the header.
    """
    import pyarrow as pa

    batches = list(read_batches(path, header_of(path)))
    for batch in batches:
        for reject in batch.rejects:
            raise InputFileError(f"{path.name}, line {reject.row_number}: {reject.reason}. Nothing was read.")
    if not sum(batch.table.num_rows for batch in batches):
        raise InputFileError(f"{path.name} has a header and no row: export it again.")
    lines = np.concatenate([batch.row_number for batch in batches])
    return TextTable(path, pa.concat_tables([batch.table for batch in batches]), lines)


def chosen_zone(path: Path, found: Sequence[str], asked: str | None, where: str) -> str:
    """Return the one zone to read.

    Raises
    ------
    InputFileError
        The file has several and none was named, or not the one that was.
    """
    names = sorted(set(found))
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    if asked is None:
        if len(names) == 1:
            return names[0]
        raise InputFileError(f"{path.name} has {len(names)} zones in {where} ({shown}): name one with --zone.")
    folded = {name.casefold(): name for name in names}
    if asked.casefold() not in folded:
        raise InputFileError(
            f"{path.name} has no zone {asked!r} in {where}; it has {shown}.{did_you_mean(asked, names)}"
        )
    return folded[asked.casefold()]


def need(path: Path, names: Iterable[str], wanted: Sequence[str], what: str) -> None:
    """Refuse a header that lacks a column of the format.

    Raises
    ------
    InputFileError
        With the nearest names.
    """
    have = list(names)
    for name in wanted:
        if name not in have:
            raise InputFileError(
                f"{path.name}: {what} needs the column {name!r}, which the header does not have."
                f"{did_you_mean(name, have)} Nothing was read."
            )


def hours_of(
    path: Path,
    start_ms: Instants,
    duration_ms: Instants | None,
    columns: Mapping[str, Numbers],
    lines: Instants | None = None,
) -> tuple[OnHours, dict[str, Numbers]]:
    """Return rows on whole hours, by column; with ``lines`` of the rows, the first line of each hour too.

    Raises
    ------
    InputFileError
        Rows do not fit into hours, or a time is not between 2000 and 2100.
    """
    outside = (start_ms < _EARLIEST_MS) | (start_ms >= _LATEST_MS)
    if outside.any():
        when = np.datetime64(int(start_ms[np.flatnonzero(outside)[0]]), "ms")
        raise InputFileError(
            f"{path.name}: the time {when} is not between 2000 and 2100: correct it. Nothing was read."
        )
    try:
        found = on_hours(start_ms, duration_ms, np.vstack(list(columns.values())))
    except FactorError as error:
        raise InputFileError(f"{path.name}: {error}") from error
    if lines is not None:
        found = replace(found, first_line=_first_lines(start_ms // HOUR_MS, lines, found.hour_utc.size))
    return found, dict(zip(columns, found.values, strict=True))


def _first_lines(hour: Instants, lines: Instants, count: int) -> Instants:
    first = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(first, hour - hour.min(), lines)
    return np.where(first == np.iinfo(np.int64).max, 0, first)


def estimated_fraction(estimated: Numbers, known: Numbers) -> float | None:
    """Return the share of known hours that are estimated in any part; None where none is known."""
    count = int(np.isfinite(known).sum())
    return float(((estimated > 0) & np.isfinite(known)).sum() / count) if count else None


def known_technologies(columns: Mapping[str, Numbers]) -> tuple[dict[str, Numbers], tuple[str, ...]]:
    """Return the technologies with a value in any row, and the names of the others: a zone need not have all."""
    present = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    return present, tuple(name for name in columns if name not in present)


def added(columns: Sequence[tuple[str, Numbers]]) -> dict[str, Numbers]:
    """Add columns of one technology; a sum with an unknown part is unknown.

    Examples
    --------
    >>> found = added([("coal", np.array([1.0, 2.0])), ("coal", np.array([3.0, np.nan]))])
    >>> found["coal"].tolist()
    [4.0, nan]

    """
    out: dict[str, Numbers] = {}
    for name, values in columns:
        out[name] = out[name] + values if name in out else values
    return out


@dataclass(frozen=True, slots=True)
class GridFormat:
    """One format of hourly grid data.

    ``matches`` tells a file by its header; ``layout`` says where the layout is known from.
    """

    name: str
    meaning: str
    layout: str
    matches: Callable[[Path, Sequence[str]], bool]
    read: Callable[[Path, Asked], GridHours]


def built(
    path: Path,
    file_format: str,
    zone: str,
    on: OnHours,
    *,
    publisher: str,
    intensity: Sequence[IntensityOfHours] = (),
    generation: Mapping[str, Any] | None = None,
    gaps: HourGaps | None = None,
    estimated: float | None = None,
    notes: Iterable[str] = (),
    untold: Iterable[int] = (),
) -> GridHours:
    """Return the hours of a file, whose arrays cannot be written; ``untold`` are lines whose local time is twofold."""
    arrays = {name: np.asarray(values) for name, values in (generation or {}).items()}
    for one in (on.hour_utc, *arrays.values(), *(item.values_gco2e_per_kwh for item in intensity)):
        one.setflags(write=False)
    return GridHours(
        zone=zone,
        hour_utc=on.hour_utc,
        intensity=tuple(intensity),
        generation_mwh=arrays,
        publisher=publisher,
        source_file=path.name,
        file_format=file_format,
        status="given",
        gaps=gaps or on.gaps,
        estimated_fraction=estimated,
        notes=tuple(notes),
        first_line=on.first_line,
        refused=tuple(sorted([*_refused(on, [*arrays.values(), *_values(intensity)]), *_untold(untold)])),
    )


def _values(intensity: Iterable[IntensityOfHours]) -> list[Numbers]:
    return [one.values_gco2e_per_kwh for one in intensity]


def _untold(lines: Iterable[int]) -> list[tuple[int, str]]:
    reason = "a local hour that the clocks repeat stands once: whether it is the first or the second cannot be told"
    return [(int(line), f"{reason}; name it in UTC") for line in lines]


def _refused(on: OnHours, columns: Sequence[Numbers]) -> list[tuple[int, str]]:
    """Return line and reason of each hour that has rows and no value in any column."""
    if on.first_line is None or not columns:
        return []
    unknown = np.isnan(np.vstack(columns)).all(axis=0) & (on.first_line > 0)
    out = []
    for place in np.flatnonzero(unknown).tolist():
        hour = f"hour {on.hour_utc[place]}:00Z"
        if on.is_conflicting[place]:
            why = "two rows of one time contradict each other: keep the right one"
        elif on.is_partial[place]:
            why = "its rows do not cover 60 minutes: export the whole hour"
        else:
            why = "no cell has a value: leave the row out where it is not known"
        out.append((int(on.first_line[place]), f"{hour}: {why}"))
    return out
