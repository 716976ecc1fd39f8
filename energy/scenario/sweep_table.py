"""The rows of a sweep as one table, Parquet or CSV: a column for each key that moves, each figure and its ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import ScenarioError
from energy.scenario.chain import LAYOUT
from energy.scenario.figure_units import UNITS, column_of
from energy.scenario.specification import field_of
from energy.scenario.sweep import Block
from energy.scenario.sweep_file import Sweep

Numbers = NDArray[np.float64]

#: Key of the metadata that holds the sweep as it was written.
METADATA = b"energy.sweep"
_KINDS = (".parquet", ".csv")


def axis_column(key: str) -> str:
    """Return the column of a key that moves: section and field, with the unit of its numbers.

    Examples
    --------
    >>> axis_column("system.power_limit"), axis_column("site.pue"), axis_column("supply")
    ('system_power_limit_w', 'site_pue', 'supply')

    """
    section, field = field_of(key)
    return f"{section}_{field}" if field else section


class Table:
    """Turns blocks of a sweep into Arrow tables of one schema."""

    def __init__(self, sweep: Sweep) -> None:
        import pyarrow as pa

        self._axes = [(place, key) for place, axis in enumerate(sweep.axes) for key in axis.values]
        self._values = {key: _axis_values(sweep, place, key) for place, key in self._axes}
        fields: list[Any] = [pa.field("row", pa.int64(), nullable=False)]
        for _, key in self._axes:
            kind = pa.float64() if self._values[key].dtype.kind == "f" else pa.string()
            fields.append(pa.field(axis_column(key), kind))
        fields += [pa.field(f"layout_{name}", pa.int32()) for name in LAYOUT]
        for name, unit in UNITS.items():
            about = {b"unit": unit.encode()}
            fields += [pa.field(column_of(name, end), pa.float64(), metadata=about) for end in ("", "low", "high")]
        fields.append(pa.field("reason", pa.string()))
        from energy import __version__

        about = {METADATA: json.dumps({"sweep": sweep.text, "version": __version__}).encode()}
        self.schema = pa.schema(fields, metadata=about)

    def of(self, block: Block) -> Any:
        """Return the rows of a block; what is not known is null."""
        import pyarrow as pa

        count = len(block.rows)
        columns: list[Any] = [pa.array(block.rows)]
        columns += [pa.array(self._values[key][block.places[place]]) for place, key in self._axes]
        nothing = pa.nulls(count, pa.float64())
        for name in LAYOUT:
            values = block.layout.get(name)
            columns.append(pa.nulls(count, pa.int32()) if values is None else _nullable(values).cast(pa.int32()))
        for name in UNITS:
            column = block.figures.get(name)
            columns.append(nothing if column is None else _nullable(column.value))
            ends = None if column is None else column.ends
            columns += [nothing, nothing] if ends is None else [_nullable(ends[2]), _nullable(ends[3])]
        if block.reasons:
            columns.append(pa.array([block.reasons.get(row) for row in block.rows.tolist()], pa.string()))
        else:
            columns.append(pa.nulls(count, pa.string()))
        return pa.Table.from_arrays(columns, schema=self.schema)


def _axis_values(sweep: Sweep, place: int, key: str) -> NDArray[Any]:
    """Return the values of a key: numbers where the scenario reads numbers, else text as written."""
    if all(isinstance(one, float) for one in sweep.read[key]):
        return np.array(sweep.read[key], dtype=np.float64)
    written = sweep.axes[place].values[key]
    return np.array([one if isinstance(one, str) else json.dumps(one, default=str) for one in written], dtype=object)


def _nullable(values: Numbers) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.float64(), from_pandas=True)  # NaN is null


@contextmanager
def writing(sweep: Sweep, path: Path) -> Iterator[Any]:
    """Write blocks into a file that appears when all are in it; gives the function that takes one.

    Columns that no row has are left out. Parquet by the name's end ``.parquet``, CSV by ``.csv``.

    Raises
    ------
    ScenarioError
        The file exists, its folder does not, or its name ends otherwise.
    """
    import pyarrow.parquet as pq

    if path.suffix not in _KINDS:
        raise ScenarioError(f"{path}: the rows are written as .parquet or .csv: name such a file.")
    if path.exists():
        raise ScenarioError(f"{path} exists: name another file, or remove it first.")
    if not path.absolute().parent.is_dir():
        raise ScenarioError(f"{path.parent}: no such folder: make it, or name another.")
    table = Table(sweep)
    staged = path.with_name(f".{path.name}.{os.getpid()}.all")
    ready = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with pq.ParquetWriter(staged, table.schema, compression="zstd") as writer:
            yield lambda block: writer.write_table(table.of(block))
        _without_empty(staged, ready, path.suffix)
        ready.replace(path)
    finally:
        staged.unlink(missing_ok=True)
        ready.unlink(missing_ok=True)


def _without_empty(staged: Path, ready: Path, kind: str) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    with pq.ParquetFile(staged) as file:
        meta = file.metadata
        groups = [meta.row_group(at) for at in range(meta.num_row_groups)]
        empty = {
            at
            for at in range(meta.num_columns)
            if all(
                one.column(at).statistics is not None and one.column(at).statistics.null_count == one.num_rows
                for one in groups
            )
        }
        names = [name for at, name in enumerate(file.schema_arrow.names) if at not in empty or name == "row"]
        schema = pa.schema([file.schema_arrow.field(name) for name in names], metadata=file.schema_arrow.metadata)
        if kind == ".csv":
            with pyarrow.csv.CSVWriter(ready, schema) as writer:
                for batch in file.iter_batches(columns=names):
                    writer.write_batch(batch)
            return
        with pq.ParquetWriter(ready, schema, compression="zstd") as out:
            for batch in file.iter_batches(columns=names):
                out.write_batch(batch)
