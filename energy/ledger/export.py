"""A query's result as CSV, as JSON values and as Parquet."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from energy.errors import SqlError

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.ledger.query import Result, Running

_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def write_csv(result: Result, sink: BinaryIO) -> None:
    """Write a header of plain names and the rows: every digit, UTC as ``2026-01-01T00:00:00Z``, null as nothing.

    Parameters
    ----------
    result : Result
        What is written.
    sink : binary file
        Where it is written to.
    """
    import csv
    import io

    import pyarrow as pa
    import pyarrow.csv

    head = io.StringIO()
    csv.writer(head, lineterminator="\n").writerow([column.name for column in result.columns])
    sink.write(head.getvalue().encode())
    if not result.row_count:
        return
    columns = [_as_text(column) for column in result.table.columns]
    table = pa.Table.from_arrays(columns, names=[str(index) for index in range(len(columns))])
    pa.csv.write_csv(table, sink, pa.csv.WriteOptions(include_header=False, quoting_style="needed"))


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return what CSV can hold; a number stays one."""
    import json

    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        return _instants(column)
    if pa.types.is_nested(kind):
        texts = [None if value is None else json.dumps(value, ensure_ascii=False, default=str) for value in _py(column)]
        return pa.chunked_array([pa.array(texts, pa.string())])
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if plain or pa.types.is_decimal(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    return pa.chunked_array([pa.array([None if value is None else str(value) for value in _py(column)], pa.string())])


def _py(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values


def _instants(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return ISO 8601, without a fraction where no value has one."""
    import pyarrow as pa
    import pyarrow.compute

    zone = column.type.tz
    with contextlib.suppress(pa.ArrowInvalid):  # where a value has a fraction, all keep it
        column = column.cast(pa.timestamp("s", tz=zone))
    return pa.compute.strftime(column, format="%Y-%m-%dT%H:%M:%S" + ("Z" if zone else ""))


def json_rows(result: Result) -> list[list[Any]]:
    """Return the rows as JSON values: amounts as numbers, instants as ISO texts, null as null.

    Numbers that JSON has not are the texts ``Infinity``, ``-Infinity`` and ``NaN``.
    """
    lists = [_json_column(column) for column in result.table.columns]
    return [list(row) for row in zip(*lists, strict=True)]


def document(result: Result) -> dict[str, Any]:
    """Return what the JSON document ``sql/1`` holds beside its schema: columns with their units, counts and rows."""
    columns = [
        {
            "name": column.name,
            "unit": column.unit,
            "checked": column.checked,
            "meaning": column.meaning or None,
            "type": column.type,
        }
        for column in result.columns
    ]
    return {
        "ledger_version": result.ledger_version,
        "columns": columns,
        "row_count": result.row_count,
        "total_rows": result.total_rows,
        "rows": json_rows(result),
    }


def _json_column(column: pa.ChunkedArray) -> list[Any]:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return [None if value is None else int(value) for value in _py(column)]
    if pa.types.is_decimal(kind):
        return _py(column.cast(pa.float64()))
    if pa.types.is_floating(kind):
        return [_NOT_FINITE.get(str(value), value) for value in _py(column)]
    if pa.types.is_timestamp(kind):
        return _py(_instants(column))
    if pa.types.is_nested(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return _py(column)
    return _py(_as_text(column))


def write_parquet(query: Running, path: Path, row_limit: int | None = None) -> int:
    """Write a query's rows as they come, and return their number; on an error there is no file.

    Parameters
    ----------
    query : Running
        Unit and meaning of each column go into the metadata of its field.
    path : Path
        A new file: nothing is overwritten.
    row_limit : int, optional
        Most rows.

    Raises
    ------
    SqlError
        The file is there already, its folder is not, or two columns have one name.
    """
    import pyarrow.parquet

    names = query.schema.names
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SqlError(f"Two columns are named {twice}: give each its own name with AS.")
    if path.exists() or path.is_symlink():
        raise SqlError(f"{path} is there already: nothing is overwritten, choose another name.")
    if not path.parent.is_dir():
        raise SqlError(f"{path.parent} is no folder: make it first, or choose another.")
    handle, staged = tempfile.mkstemp(prefix=".energy-", suffix=".parquet", dir=path.parent)
    os.close(handle)
    rows = 0
    try:
        with pyarrow.parquet.ParquetWriter(staged, query.schema, compression="zstd") as writer:
            for batch in _first(query.batches, row_limit):
                writer.write_batch(batch)
                rows += batch.num_rows
        Path(staged).chmod(0o644)
        Path(staged).replace(path)
    finally:
        Path(staged).unlink(missing_ok=True)
    return rows


def _first(batches: Iterator[pa.RecordBatch], row_limit: int | None) -> Iterator[pa.RecordBatch]:
    left = row_limit
    for batch in batches:
        if left is None:
            yield batch
            continue
        if left > 0:
            yield batch.slice(0, left)
        left -= batch.num_rows
        if left <= 0:
            return
