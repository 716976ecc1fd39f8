"""CSV (plain, .gz, .zst) and Parquet as batches of columns with the row numbers of the file."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from energy.errors import InputFileError, MappingError, did_you_mean
from energy.importers.base import Reject
from energy.importers.progress import watch_of
from energy.importers.text_input import check_readable, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

Item = TypeVar("Item")
Done = TypeVar("Done")
ROWS_PER_BATCH = 1 << 19
_CSV_BLOCK_BYTES = 16 << 20
_DELIMITERS = ",;\t|"
_LINE_END = re.compile(r"\r\n|\n|\r")
_LONGEST_HEADER = 1 << 16
Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(slots=True)
class RawBatch:
    """Columns as the file has them, the row number of each row, and rows that could not be cut into columns."""

    table: pa.Table
    row_number: Numbers
    rejects: list[Reject] = field(default_factory=list)


def is_parquet(path: Path) -> bool:
    """Tell whether the file starts as a Parquet file does."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _first_line(path: Path) -> str:
    import pyarrow as pa

    try:
        with unpacked(path) as stream:
            head = stream.read(_LONGEST_HEADER)
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path.name}: cannot be unpacked ({_one_line(error)}). Export or copy it again. Nothing was stored."
        ) from error
    text = _decoded(path, head)
    line = _LINE_END.split(text, maxsplit=1)[0]
    if not line.strip():
        raise InputFileError(
            f"{path.name}, line 1: the header is blank. Name the columns in line 1. Nothing was stored."
        )
    if len(head) == _LONGEST_HEADER and len(line) == len(text):
        raise InputFileError(f"{path.name}, line 1: no end of line in 64 kB: this is no CSV. Nothing was stored.")
    if line.count('"') % 2:
        raise InputFileError(
            f"{path.name}, line 1: a column name holds a line break or a lone quotation mark. Rename the column. "
            "Nothing was stored."
        )
    return line


def _decoded(path: Path, head: bytes) -> str:
    try:
        return head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4 or len(head) < _LONGEST_HEADER:  # else the window cut a sign at its end
            line = head[: error.start].count(b"\n") + 1
            raise InputFileError(
                f"{path.name}, line {line}: byte {error.start + 1} is not UTF-8. Save the file as UTF-8. "
                "Nothing was stored."
            ) from error
        return head[: error.start].decode("utf-8-sig")


def _delimiter(line: str) -> str:
    return str(max(_DELIMITERS, key=line.count))


def header_of(path: Path) -> list[str]:
    """Return the file's column names; a column without a name is called by its place.

    Raises
    ------
    InputFileError
        The file is missing, empty, or has a name twice.
    """
    check_readable(path)
    if is_parquet(path):
        names = list(_parquet(path).schema_arrow.names)
        where = path.name
    else:
        line = _first_line(path)
        try:
            cells = next(csv.reader([line], delimiter=_delimiter(line)))
        except csv.Error as error:
            raise InputFileError(
                f"{path.name}, line 1: cannot be cut into columns ({error}). Nothing was stored."
            ) from error
        names = [cell.strip() or f"(column {place})" for place, cell in enumerate(cells, 1)]
        where = f"{path.name}, line 1"
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputFileError(f"{where}: column {twice[0]} occurs twice. Rename one. Nothing was stored.")
    return names


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path.name}: not a whole Parquet file ({_one_line(error)}). Copy it again. Nothing was stored."
        ) from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:160] if str(error) else type(error).__name__


def read_batches(path: Path, columns: Sequence[str], dictionary: Sequence[str] = ()) -> Iterator[RawBatch]:
    """Yield the named columns of a file in batches.

    Parameters
    ----------
    path : Path
        CSV or Parquet.
    columns : sequence of str
        Columns to read; all must be there.
    dictionary : sequence of str
        Text columns with few distinct values: read as dictionaries, which is several times faster.

    Raises
    ------
    InputFileError
        The file cannot be read, or has a header and no rows.
    MappingError
        A column is not there; names the nearest.
    """
    header = header_of(path)
    for name in columns:
        if name not in header:
            raise MappingError(
                f"{path.name} has no column {name} that the mapping names.{did_you_mean(name, header)} "
                f"Columns: {', '.join(header)}."
            )
    rows = 0
    reader = _parquet_batches if is_parquet(path) else _csv_batches
    for batch in reader(path, list(columns), list(dictionary)):
        rows += batch.table.num_rows + len(batch.rejects)
        yield batch
    if rows == 0:
        raise InputFileError(f"{path.name} has a header and no rows: nothing to ingest, nothing was stored.")


def ahead(items: Iterator[Item], work: Callable[[Item], Done]) -> Iterator[Done]:
    """Work on the next item while the caller has the one before; results keep their order.

    Decoding and arithmetic on arrays leave Python's lock, so that the second core is used.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3]), lambda number: number * number))
    [1, 4, 9]

    """

    def following() -> Done | None:
        item = next(items, None)
        return None if item is None else work(item)

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(following)
        while (done := coming.result()) is not None:
            coming = pool.submit(following)
            yield done


def _parquet_batches(path: Path, columns: list[str], dictionary: list[str]) -> Iterator[RawBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _parquet(path).schema_arrow
    for name in columns:
        kind = schema.field(name).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise MappingError(f"{path.name}: column {name} holds {kind}, not single values: write a plain column.")
    texts = [name for name in dictionary if pa.types.is_string(schema.field(name).type)]
    first = 1
    watch = watch_of(path)
    try:
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in ahead(file.iter_batches(batch_size=ROWS_PER_BATCH, columns=columns), lambda batch: batch):
                table = pa.Table.from_batches([batch])
                if watch is not None:
                    watch.part = (first + table.num_rows - 1) / file.metadata.num_rows
                yield RawBatch(table, np.arange(first, first + table.num_rows, dtype=np.int64))
                first += table.num_rows
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path.name}, after row {first - 1}: damaged Parquet ({_one_line(error)}). Copy it again. "
            "Nothing was stored."
        ) from error


def _has_quotes(path: Path) -> bool:
    """Tell whether the file has quotation marks; an odd number of them swallows lines, and is refused."""
    import pyarrow as pa

    count = 0
    try:
        with unpacked(path) as stream:
            while chunk := stream.read(1 << 20):
                count += chunk.count(b'"')
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path.name}: cannot be unpacked to its end ({_one_line(error)}). Export or copy it again. "
            "Nothing was stored."
        ) from error
    if count % 2:
        raise InputFileError(
            f'{path.name}: a quotation mark is opened and never closed ({count} marks `"` in the file): close it, or '
            "write a mark inside a value twice. Nothing was stored."
        )
    return count > 0


def _csv_batches(path: Path, columns: list[str], dictionary: list[str]) -> Iterator[RawBatch]:
    import pyarrow as pa
    import pyarrow.csv as pc

    names = header_of(path)
    quoted = _has_quotes(path)
    lines = _Lines()
    kinds = {name: pa.string() for name in (names if quoted else columns)}
    kinds |= {name: pa.dictionary(pa.int32(), pa.string()) for name in dictionary if not quoted}
    options = {
        "read_options": pc.ReadOptions(use_threads=False, block_size=_CSV_BLOCK_BYTES, column_names=names, skip_rows=1),
        "parse_options": pc.ParseOptions(
            delimiter=_delimiter(_first_line(path)),
            invalid_row_handler=lines.refuse,
            ignore_empty_lines=False,
            newlines_in_values=quoted,
        ),
        "convert_options": pc.ConvertOptions(
            column_types=kinds,
            include_columns=list(kinds),  # all of them where values may hold line breaks: those count as lines
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    try:
        watch = watch_of(path)
        with (
            unpacked(path) as stream,
            pc.open_csv(stream if watch is None else watch.by_block(stream), **options) as reader,
        ):
            for number, batch in enumerate(reader, 1):
                if watch is not None:
                    watch.block(number)
                yield from _cut(lines, pa.Table.from_batches([batch]), columns, quoted=quoted)
        rest = pa.table({name: pa.array([], pa.string()) for name in columns})
        yield from _cut(lines, rest, columns, quoted=False, to_the_end=True)
    except (OSError, pa.ArrowException) as error:
        message = _one_line(error)
        if "Empty CSV" in message:
            return
        raise InputFileError(
            f"{path.name}, near line {lines.following}: {message}. Correct the file (UTF-8, one line a row). "
            "Nothing was stored."
        ) from error


def _cut(
    lines: _Lines, table: pa.Table, columns: list[str], *, quoted: bool, to_the_end: bool = False
) -> Iterator[RawBatch]:
    """Give the rows of one block their lines, and leave out those in which every column that is read is blank."""
    import pyarrow as pa

    breaks = _line_breaks(table) if quoted else None
    numbers, rejects = lines.number(table.num_rows, breaks, to_the_end=to_the_end)
    table = table.select(columns)
    said = np.zeros(table.num_rows, bool)
    for name in columns:
        column = table.column(name)
        if column.null_count < table.num_rows:
            said |= np.asarray(column.combine_chunks().is_valid()) if column.null_count else True
    if not said.all():
        table, numbers = table.filter(pa.array(said)), numbers[said]
    if table.num_rows or rejects:
        yield RawBatch(table, numbers, rejects)


def _line_breaks(table: pa.Table) -> Numbers:
    """Return how many line breaks the values of each row hold."""
    import pyarrow.compute as pc

    count = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        found = pc.count_substring(column, "\n").fill_null(0)
        count += np.asarray(found.combine_chunks()).astype(np.int64)
    return count


class _Lines:
    """Line numbers of rows: the parser tells the place of a row that it refuses, and nothing of the others.

    ``following`` is the line after the last one that was numbered.
    """

    def __init__(self) -> None:
        self.following = 2  # the header is line 1
        self._record = 2  # as the parser counts: a row of several lines is one
        self._refused: list[tuple[int, str, int, int]] = []

    def refuse(self, row: Any) -> str:
        """Note a row that has too few or too many values."""
        self._refused.append((row.number, row.text, row.actual_columns, row.expected_columns))
        return "skip"

    def number(self, count: int, breaks: Numbers | None, *, to_the_end: bool = False) -> tuple[Numbers, list[Reject]]:
        """Return the line of each of ``count`` rows, and the rows refused before, among and right after them."""
        refused = np.array([number for number, _, _, _ in self._refused], np.int64)
        record = np.arange(self._record, self._record + count + refused.size, dtype=np.int64)
        record = record[~np.isin(record, refused)][:count]
        end = int(record[-1]) + 1 if count else self._record
        while end in refused:
            end += 1
        passed = [item for item in self._refused if to_the_end or item[0] < end]
        self._refused = self._refused[len(passed) :]
        # lines of all records in order: each begins where the one before, with its line breaks, ended
        records = np.concatenate([record, np.array([item[0] for item in passed], np.int64)])
        extra = np.zeros(records.size, np.int64)
        if breaks is not None:
            extra[:count] = breaks
            extra[count:] = [item[1].count("\n") for item in passed]
        order = np.argsort(records, kind="stable")
        shift = np.zeros(records.size, np.int64)
        shift[order] = np.cumsum(extra[order]) - extra[order]
        line = records + (self.following - self._record) + shift
        self.following += end - self._record + int(extra.sum())
        self._record = end
        rejects = [
            Reject(
                int(at),
                f"{actual} values where the header names {expected}: complete or remove the line",
                " ".join(text.split())[:200],
            )
            for at, (_, text, actual, expected) in zip(line[count:], passed, strict=True)
        ]
        return line[:count], rejects
