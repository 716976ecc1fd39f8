"""A user's SQL on a published version: guarded, unit-checked, bounded in time, memory and rows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from energy.errors import EnergyError, SqlError, SqlReadError, SqlUnitError
from energy.ledger.guarded import Guarded, Limit, memory_bytes
from energy.ledger.sql_guard import Statement, allowed, place_of_byte

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from energy.ledger.unit_check import ColumnUnit

_BATCH_ROWS = 20_000
_NUMERIC = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    "BIGNUM", "FLOAT", "DOUBLE", "DECIMAL",
)  # fmt: skip
_NESTED = ("STRUCT", "MAP", "UNION", "LIST", "ARRAY", "JSON", "VARIANT")


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """One column of a result.

    Attributes
    ----------
    name : str
        As the query names it.
    unit : str or None
        ``kWh_facility``; ``""`` is a plain ratio or count; ``None``: no unit (text, key, instant), or not checked.
    checked : bool
        Whether the unit is known; what the checker does not know is said, never guessed.
    meaning : str
        The registry's sentence, where the column is one of the registry's.
    type : str
        DuckDB's type.
    """

    name: str
    unit: str | None
    checked: bool
    meaning: str
    type: str

    @property
    def unit_label(self) -> str:
        """The unit for a header: ``not checked`` where that is so, empty where there is none."""
        return (self.unit or "") if self.checked else "not checked"

    @property
    def label(self) -> str:
        """Name and unit.

        Examples
        --------
        >>> ResultColumn("energy_it_kwh", "kWh_it", True, "", "DOUBLE").label
        'energy_it_kwh [kWh_it]'

        """
        return f"{self.name} [{self.unit_label}]" if self.unit_label else self.name

    @property
    def is_number(self) -> bool:
        """Whether it is written right-aligned."""
        return self.type.startswith(_NUMERIC) and not self.type.endswith("]")


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Rows of a query with the unit of each column.

    Attributes
    ----------
    columns : tuple of ResultColumn
        In the order of the query.
    ledger_version : int
        Version that answered.
    seconds : float
        Time it took, s.
    total_rows : int
        Rows that the query has; more than ``row_count`` when ``truncated``.
    """

    columns: tuple[ResultColumn, ...]
    ledger_version: int
    seconds: float
    total_rows: int
    table: pa.Table

    @property
    def row_count(self) -> int:
        """Rows that are here."""
        return int(self.table.num_rows)

    @property
    def truncated(self) -> bool:
        """Whether ``row_limit`` left rows out."""
        return self.total_rows > self.row_count

    def arrow(self) -> pa.Table:
        """Return an Arrow table; unit, checked and meaning are in the metadata of each field."""
        return self.table

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows as tuples; amounts are exact decimals, instants carry UTC."""
        lists = [column.to_pylist() for column in self.table.columns]
        return list(zip(*lists, strict=True)) if lists else []

    def df(self) -> Any:
        """Return a pandas DataFrame; decimals become floats, units are in ``df.attrs["units"]``.

        Raises
        ------
        EnergyError
            pandas is not installed.
        """
        import importlib.util

        import pyarrow as pa

        if importlib.util.find_spec("pandas") is None:
            raise EnergyError(
                "A DataFrame needs pandas, which is not installed: pip install 'energy[pandas]', or take .arrow()."
            )
        columns = [
            column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column for column in self.table.columns
        ]
        frame = pa.Table.from_arrays(columns, names=self.table.column_names).to_pandas()
        frame.attrs["units"] = {column.name: column.unit for column in self.columns if column.checked}
        return frame


@dataclass(slots=True)
class Running:
    """A query whose columns are known and whose rows come in batches."""

    columns: tuple[ResultColumn, ...]
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@contextmanager
def running(guarded: Guarded, text: str, timeout_s: float, memory: str, mixed: frozenset[str]) -> Iterator[Running]:
    """Check a query, start it, and give its batches as they come; it is stopped when the time is over.

    Raises
    ------
    SqlError
        It is refused, cannot be read, its units do not add up, or it needs more time or memory than allowed.
    """
    with guarded.connection(memory) as connection, Limit(connection, timeout_s) as limit:
        with _translated(text, memory, limit):
            statement = allowed(connection, text)
            relation = _bound(connection, statement, memory, mixed)
            columns = _columns(statement, relation, mixed)
            limit.check()
            reader = relation.to_arrow_reader(_BATCH_ROWS)
            schema = _with_units(reader.schema, columns)
        # outside of it: what goes wrong with the caller's own files is not the query's error
        yield Running(columns, schema, _batches(reader, schema, text, memory, limit))


@contextmanager
def _translated(text: str, memory: str, limit: Limit) -> Iterator[None]:
    """Turn what DuckDB and Arrow raise into one line; when the time is over, that is the cause."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except SqlError:
        limit.check()
        raise
    except RecursionError:
        raise SqlError("The query is nested too deeply to be read: split it with WITH.") from None
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError, OverflowError, UnicodeError) as error:
        limit.check()
        raise _in_our_words(error, text, memory) from None


def ask(
    guarded: Guarded,
    text: str,
    version: int,
    timeout_s: float,
    memory: str,
    row_limit: int | None,
    mixed: frozenset[str],
) -> Result:
    """Return the result of a query: what :meth:`energy.ledger.Ledger.sql` does."""
    import pyarrow as pa

    if row_limit is not None and row_limit < 0:
        raise SqlError(f"A limit of {row_limit} rows cannot be kept: give 0 or more.")
    start = time.monotonic()
    kept: list[pa.RecordBatch] = []
    rows, held_bytes, most_bytes = 0, 0, memory_bytes(memory)
    with running(guarded, text, timeout_s, memory, mixed) as query:
        for batch in query.batches:
            room = batch.num_rows if row_limit is None else max(0, row_limit - rows)
            rows += batch.num_rows
            if not room:
                continue  # only counted
            kept.append(batch.slice(0, room))
            held_bytes += batch.nbytes
            if held_bytes > most_bytes:
                raise SqlError(
                    f"The result is larger than {memory} after {rows:,} rows: ask for less (LIMIT, fewer columns, "
                    "sums by month), write it with --parquet, or allow more with --memory (memory in Python)."
                )
        table = pa.Table.from_batches(kept, query.schema)
        return Result(query.columns, version, time.monotonic() - start, rows, table)


def _bound(
    connection: duckdb.DuckDBPyConnection, statement: Statement, memory: str, mixed: frozenset[str]
) -> duckdb.DuckDBPyRelation:
    """Bind names and types without running; names that do not exist are told with the nearest ones."""
    import duckdb

    try:
        return connection.sql(statement.text)
    except (duckdb.BinderException, duckdb.CatalogException):
        _units(statement.text, mixed)
        if statement.kind == "query":
            _say_place(connection, statement.text, memory)
        raise


def _say_place(connection: duckdb.DuckDBPyConnection, text: str, memory: str) -> None:
    """Let DuckDB say again what it cannot bind: a relation's error has no place, a statement's has."""
    import duckdb

    prefix = "EXPLAIN "
    try:
        connection.execute(prefix + text).fetchall()
    except duckdb.Error as error:
        raise _in_our_words(error, text, memory, len(prefix)) from None


def _units(text: str, mixed: frozenset[str]) -> list[ColumnUnit]:
    """Return the unit of each column: the one place where a user's query meets the checker of units."""
    from energy.ledger.unit_check import infer

    return infer(text, mixed=mixed)


def _columns(
    statement: Statement, relation: duckdb.DuckDBPyRelation, mixed: frozenset[str]
) -> tuple[ResultColumn, ...]:
    """Return the columns with their units.

    DuckDB has bound the names, so a name that the checker does not know is its own limit: not checked, not refused.
    """
    names, types = relation.columns, [str(kind) for kind in relation.types]
    units: Sequence[ColumnUnit] = ()
    if statement.kind == "query":
        try:
            units = _units(statement.text, mixed)
        except SqlReadError:
            units = ()
    if len(units) != len(names) or any(unit.name == "*" for unit in units):
        units = ()
    other_names = _renamed(statement.text)
    out = []
    for index, (name, kind) in enumerate(zip(names, types, strict=True)):
        plain_text = not kind.startswith((*_NUMERIC, *_NESTED)) and not kind.endswith("]")
        found = units[index] if units else None
        unit = found.unit if found is not None else None
        checked = plain_text or (found is not None and found.status != "not checked")
        meaning = _meaning(name, unit, checked, other_names)
        out.append(ResultColumn(name, unit, checked, meaning, kind.strip('"')))
    return tuple(out)


def _meaning(name: str, unit: str | None, checked: bool, other_names: frozenset[str]) -> str:
    from energy.schema import FIELDS

    field = FIELDS.get(name.lower())
    if field is None or not checked or field.unit != unit or (unit is None and name.lower() in other_names):
        return ""
    return field.meaning


def _renamed(text: str) -> frozenset[str]:
    """Return names that a query gives to something else, so that they need not mean what the registry says."""
    from sqlglot import exp

    from energy.ledger.unit_check.inference import parse

    try:
        tree = parse(text)
    except SqlUnitError:
        return frozenset()
    aliases = (node for node in tree.find_all(exp.Alias))
    other = (node.alias for node in aliases if not (isinstance(node.this, exp.Column) and node.this.name == node.alias))
    return frozenset(name.lower() for name in other)


def _with_units(schema: pa.Schema, columns: tuple[ResultColumn, ...]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            field.with_metadata(
                {
                    "checked": str(column.checked).lower(),
                    **({} if column.unit is None else {"unit": column.unit}),
                    **({"meaning": column.meaning} if column.meaning else {}),
                }
            )
            for field, column in zip(schema, columns, strict=True)
        ]
    )


def _batches(
    reader: pa.RecordBatchReader, schema: pa.Schema, text: str, memory: str, limit: Limit
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    while True:
        with _translated(text, memory, limit):
            batch = next(reader, None)
            limit.check()
        if batch is None:
            return
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _in_our_words(error: BaseException, text: str, memory: str, shift: int = 0) -> SqlError:
    """Return what DuckDB says as one line, with line and column where it names a place."""
    message, byte, said = _read_error(str(error))
    if "Out of Memory" in said or isinstance(error, MemoryError):
        return SqlError(
            f"The query needs more than {memory} of memory: ask for less (fewer rows in joins and sorts, sums by "
            "month), or allow more with --memory (memory in Python)."
        )
    if "INTERRUPT" in said:
        return SqlError("The query was stopped; nothing was changed.")
    if "maximum total string size" in message:
        return SqlError("The texts of the result are too large to be handed over: shorten them, as with left(x, 1000).")
    place = (None, None) if byte is None else place_of_byte(text, max(0, byte - shift))
    return SqlError(message.rstrip(".?") + ("?" if message.endswith("?") else "."), *place)


def _read_error(said: str) -> tuple[str, int | None, str]:
    """Return message, place in bytes, and the whole of what was said."""
    start, end = said.find("{"), said.rfind("}")
    message, byte = said.partition(": ")[2] or said, None
    if 0 <= start < end:
        try:
            content = json.loads(said[start : end + 1])
        except ValueError:
            content = {}
        if "exception_message" in content:
            message = str(content["exception_message"])
            position = str(content.get("position", ""))
            byte = int(position) if position.isdigit() else None
    message = (
        message.partition(", or SET ")[0]
        .partition("\n\nLINE")[0]
        .partition("\nCandidate functions:")[0]
        .partition("\n\tCandidate")[0]
    )
    return " ".join(message.split())[:400], byte, said
