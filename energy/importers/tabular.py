"""CSV (plain, .gz, .zst) and Parquet as batches of columns with the row numbers of the file."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import InputFileError, MappingError, did_you_mean
from energy.importers.base import Reject

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH = 1 << 20
_CSV_BLOCK_BYTES = 16 << 20
_DELIMITERS = ",;\t|"


@dataclass(slots=True)
class RawBatch:
    """Columns as the file has them, the row number of each row, and rows that could not be cut into columns."""

    table: pa.Table
    row_number: np.ndarray[Any, np.dtype[np.int64]]
    rejects: list[Reject] = field(default_factory=list)


def is_parquet(path: Path) -> bool:
    """Tell whether the file starts as a Parquet file does."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def check_readable(path: Path) -> None:
    """Refuse what is no file, cannot be read, or is empty.

    Raises
    ------
    InputFileError
        One line with the file, the rule and the remedy.
    """
    if not path.exists():
        near = did_you_mean(path.name, [item.name for item in path.parent.glob("*")] if path.parent.is_dir() else [])
        raise InputFileError(f"{path}: no such file.{near}")
    if path.is_dir():
        raise InputFileError(f"{path} is a folder: name the files in it.")
    if path.stat().st_size == 0:
        raise InputFileError(f"{path.name} is empty (0 bytes): nothing was stored. Export it again.")


def _first_line(path: Path) -> str:
    import pyarrow as pa

    try:
        with pa.input_stream(str(path)) as stream:
            head = stream.read(1 << 16)
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(f"{path.name}: cannot be unpacked ({_one_line(error)}). Nothing was stored.") from error
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # the window may cut a sign at its end
            raise InputFileError(
                f"{path.name}: byte {error.start + 1} is not UTF-8. Save the file as UTF-8. Nothing was stored."
            ) from error
        text = head[: error.start].decode("utf-8-sig")
    line = text.split("\n", 1)[0].rstrip("\r")
    if not line.strip():
        raise InputFileError(f"{path.name}, line 1: the header is blank. Nothing was stored.")
    return line


def _delimiter(line: str) -> str:
    return str(max(_DELIMITERS, key=line.count))


def header_of(path: Path) -> list[str]:
    """Return the file's column names.

    Raises
    ------
    InputFileError
        The file is missing, empty, or has a name twice.
    """
    check_readable(path)
    if is_parquet(path):
        return list(_parquet(path).schema_arrow.names)
    line = _first_line(path)
    names = [name.strip() for name in next(csv.reader([line], delimiter=_delimiter(line)))]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputFileError(f"{path.name}, line 1: column {twice[0]} occurs twice. Rename one. Nothing was stored.")
    return names


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(f"{path.name}: not a whole Parquet file ({_one_line(error)}). Copy it again.") from error


def _one_line(error: Exception) -> str:
    return str(error).splitlines()[0][:160] if str(error) else type(error).__name__


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


def _parquet_batches(path: Path, columns: list[str], dictionary: list[str]) -> Iterator[RawBatch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _parquet(path).schema_arrow
    texts = [name for name in dictionary if pa.types.is_string(schema.field(name).type)]
    first = 1
    try:
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(batch_size=ROWS_PER_BATCH, columns=columns):
                table = pa.Table.from_batches([batch])
                yield RawBatch(table, np.arange(first, first + table.num_rows, dtype=np.int64))
                first += table.num_rows
    except (OSError, pa.ArrowException) as error:
        raise InputFileError(
            f"{path.name}, after row {first - 1}: damaged Parquet ({_one_line(error)}). Nothing was stored."
        ) from error


def _csv_batches(path: Path, columns: list[str], dictionary: list[str]) -> Iterator[RawBatch]:
    import pyarrow as pa
    import pyarrow.csv as pc

    line = _first_line(path)
    invalid: list[tuple[int, str, int, int]] = []

    def on_invalid(row: Any) -> str:
        invalid.append((row.number, row.text, row.actual_columns, row.expected_columns))
        return "skip"

    names = header_of(path)
    options = {
        "read_options": pc.ReadOptions(use_threads=False, block_size=_CSV_BLOCK_BYTES, column_names=names, skip_rows=1),
        "parse_options": pc.ParseOptions(
            delimiter=_delimiter(line), invalid_row_handler=on_invalid, ignore_empty_lines=False
        ),
        "convert_options": pc.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            include_columns=columns,
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    first = 2
    try:
        with pa.input_stream(str(path)) as stream, pc.open_csv(stream, **options) as reader:
            for batch in reader:
                numbers, rejects, first = _line_numbers(first, batch.num_rows, invalid)
                yield RawBatch(pa.Table.from_batches([batch]), numbers, rejects)
        _, rejects, _ = _line_numbers(first, 0, invalid, to_the_end=True)
        if rejects:
            yield RawBatch(
                pa.table({name: pa.array([], pa.string()) for name in columns}), np.zeros(0, np.int64), rejects
            )
    except StopIteration:
        return
    except (OSError, pa.ArrowException) as error:
        message = _one_line(error)
        if "Empty CSV" in message:
            return
        raise InputFileError(f"{path.name}, near line {first}: {message}. Nothing was stored.") from error


def _line_numbers(
    first: int, count: int, invalid: list[tuple[int, str, int, int]], *, to_the_end: bool = False
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[Reject], int]:
    """Return line numbers for ``count`` valid rows from ``first``, stepping over the lines that the parser refused.

    Returns the numbers, the refused rows among them, and the next line. Refused rows leave ``invalid``.
    """
    refused = {number for number, _, _, _ in invalid if number is not None}
    numbers = np.arange(first, first + count + len(refused), dtype=np.int64)
    numbers = numbers[~np.isin(numbers, list(refused))][:count] if refused else numbers
    following = int(numbers[-1]) + 1 if count else first
    rejects, later = [], []
    for number, text, actual, expected in invalid:
        if not to_the_end and number is not None and number > following:
            later.append((number, text, actual, expected))
            continue
        following = max(following, (number or 0) + 1) if number == following else following
        if text.strip():
            reason = f"{actual} values where the header names {expected}: complete or remove the line"
            rejects.append(Reject(number or following, reason, text[:200]))
    invalid[:] = later
    return numbers, rejects, following
