"""Append typed rows once: new ones are stored, equal ones counted, contradictions refused with what they contradict.

An equal row of another file is stored too, under its own batch: ``core`` counts a run once, and taking one of two
overlapping files back leaves what the other one says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from energy.ledger.tables import insert

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Shape:
    """How rows of one format are told apart.

    Attributes
    ----------
    key : tuple of str
        Columns that name the thing.
    values : tuple of str
        Columns that rows of one key must agree in.
    closing : tuple of str
        Columns that a later log may add: the first is empty while the thing is still open.
    """

    table: str
    key: tuple[str, ...]
    values: tuple[str, ...]
    closing: tuple[str, ...] = ()


SHAPES = {
    "jobs": Shape(
        "raw.job",
        ("job_id", "start_utc", "site_id", "host"),
        ("chip_count", "chip_id", "project"),
        ("end_utc", "energy_chip_kwh", "energy_it_kwh"),
    ),
    "allocations": Shape("raw.allocation", ("job_id", "host", "device_index", "start_utc"), (), ("end_utc",)),
    "instruments": Shape(
        "raw.instrument",
        ("instrument_id",),
        (
            "instrument_kind",
            "energy_facility_mwh",
            "intensity_gco2e_per_kwh_facility",
            "vintage_from_utc",
            "vintage_to_utc",
            "market",
            "site_id",
            "conveys_rate",
            "is_sole_claim",
            "is_delivered",
            "goes_to_reporter",
        ),
        ("cancellation_id", "beneficiary", "claimed_from_utc", "claimed_to_utc"),  # of those that are cancelled later
    ),
    "deliveries": Shape("raw.delivery_hour", ("instrument_id", "hour_utc"), ("energy_facility_mwh",)),
    "grid-hours": Shape(
        "raw.grid_hour",
        ("hour_utc", "grid_zone", "site_id", "boundary", "factor_attribution", "series_kind"),
        ("intensity_gco2e_per_kwh_generation", "intensity_gco2e_per_kwh_facility", "gases", "gwp_set"),
    ),
    "fuel-purchases": Shape(
        "raw.fuel_purchase",
        ("document_id", "document_line", "site_id", "fuel", "from_date"),
        ("to_date", "fuel_volume_l", "fuel_heat_kwh"),
    ),
    "hosts": Shape("raw.host", ("host", "from_utc"), ("site_id", "chip_id", "installed_chip_count", "to_utc")),
}


@dataclass(slots=True)
class Counts:
    """What became of the rows of one file."""

    read: int = 0
    accepted: int = 0
    duplicates: int = 0


def insert_rejects(
    connection: duckdb.DuckDBPyConnection, rejects: pa.Table, batch_id: int, format_name: str, file_name: str
) -> None:
    """Append refused rows of one file."""
    if rejects.num_rows:
        import pyarrow as pa

        size = rejects.num_rows
        whose = {
            "batch_id": pa.repeat(pa.scalar(batch_id, pa.int64()), size),
            "format": pa.repeat(pa.scalar(format_name), size),
            "file_name": pa.repeat(pa.scalar(file_name), size),
        }
        insert(connection, "raw.rejects", whose | {name: rejects.column(name) for name in rejects.column_names})


def append_rows(
    connection: duckdb.DuckDBPyConnection, table: pa.Table, format_name: str, batch_id: int, file_name: str
) -> Counts:
    """Store the rows of one batch of an importer; ``read`` of the result is left to the caller."""
    shape = SHAPES[format_name]
    connection.register("incoming", _whole(table, shape))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT *, {_hash(shape, 'incoming')} AS key_hash FROM incoming"
    )
    connection.unregister("incoming")
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE suspect AS SELECT key_hash FROM fresh GROUP BY key_hash HAVING count(*) > 1 "
        f"UNION SELECT {_hash(shape, 'known')} AS key_hash FROM {shape.table} AS known "
        f"WHERE {_hash(shape, 'known')} IN (SELECT key_hash FROM fresh)"
    )
    if not _one(connection, "SELECT count(*) FROM suspect"):
        _insert(connection, shape, table, batch_id, "")
        return Counts(0, table.num_rows, 0)
    _judge(connection, shape, batch_id)
    _refuse(connection, shape, format_name, batch_id, file_name)
    stored = "WHERE row_number NOT IN (SELECT line FROM verdict WHERE NOT is_stored)"
    _insert(connection, shape, table, batch_id, stored)
    refused = _one(connection, "SELECT count(*) FROM verdict WHERE contradicts")
    equal = _one(connection, "SELECT count(*) FROM verdict WHERE is_equal AND NOT contradicts")
    return Counts(0, table.num_rows - refused - equal, equal)


def _whole(table: pa.Table, shape: Shape) -> pa.Table:
    """Return the table with every column that rows are compared by; one that the format does not have is null."""
    import pyarrow as pa

    for name in (*shape.values, *shape.closing):
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows, pa.float64()))
    return table


def _one(connection: Any, sql: str) -> int:
    return int(connection.execute(sql).fetchall()[0][0])


def _hash(shape: Shape, name: str) -> str:
    return f"hash({', '.join(f'{name}.{column}' for column in shape.key)})"


def _insert(
    connection: duckdb.DuckDBPyConnection, shape: Shape, table: pa.Table, batch_id: int, condition: str
) -> None:
    columns = [name for name in table.column_names if name != "row_number"]
    key_column, key_value = "", ""
    if shape.table == "raw.job":
        first = _one(connection, "SELECT coalesce(max(job_key), 0) FROM raw.job")
        key_column = ", job_key"
        # whole numbers in the order of the file; a line may hold a run on several hosts, which are several rows
        key_value = f", {first} + row_number() OVER (ORDER BY row_number, host)"
    names = "".join(f", {name}" for name in columns)
    connection.execute(
        f"INSERT INTO {shape.table} (batch_id, row_number{names}{key_column}) "
        f"SELECT {batch_id}, row_number{names}{key_value} FROM fresh {condition}"
    )


def _packed(columns: tuple[str, ...]) -> str:
    fields = ", ".join(f"{name} := {name}" for name in columns)
    return f"struct_pack({fields or 'nothing := 0'})"


def _judge(connection: duckdb.DuckDBPyConnection, shape: Shape, batch_id: int) -> None:
    """Compare each row of a key that occurs more than once with what came first, stored rows before fresh ones.

    The first row gives the values of its key, and the first closed row that agrees with it the closing ones. A refused
    row is nothing that a later one could contradict or equal.
    """
    names = ", ".join((*shape.key, *shape.values, *shape.closing))
    is_closed = f"{shape.closing[0]} IS NOT NULL" if shape.closing else "true"
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE lined AS
        SELECT *, row_number() OVER (ORDER BY is_fresh, batch_id, line) AS place,
            dense_rank() OVER (ORDER BY {", ".join(shape.key)}) AS thing,
            {_packed(shape.values)} AS vals, {_packed(shape.closing)} AS closing, {is_closed} AS is_closed
        FROM (
            SELECT false AS is_fresh, batch_id, row_number AS line, {names} FROM {shape.table} AS known
            WHERE {_hash(shape, "known")} IN (SELECT key_hash FROM suspect)
            UNION ALL SELECT true, {batch_id}, row_number, {names} FROM fresh
            WHERE key_hash IN (SELECT key_hash FROM suspect)
        )
        """
    )
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE verdict AS
        WITH opening AS (SELECT thing, min(place) AS place FROM lined GROUP BY thing),
        ref AS (SELECT lined.* FROM lined JOIN opening ON opening.place = lined.place),
        ending AS (
            SELECT lined.thing, min(lined.place) AS place FROM lined JOIN ref ON ref.thing = lined.thing
            WHERE lined.is_closed AND lined.vals IS NOT DISTINCT FROM ref.vals GROUP BY lined.thing
        ),
        closed AS (SELECT lined.* FROM lined JOIN ending ON ending.place = lined.place),
        judged AS (
            SELECT lined.*, ref.vals AS ref_vals, closed.closing AS ref_closing,
                lined.vals IS DISTINCT FROM ref.vals AS other_values,
                lined.is_closed AND closed.place IS NOT NULL AND lined.closing IS DISTINCT FROM closed.closing
                    AS other_closing,
                CASE WHEN lined.is_closed THEN closed.place < lined.place ELSE ref.place < lined.place END AS is_equal,
                CASE WHEN lined.vals IS DISTINCT FROM ref.vals THEN ref.batch_id ELSE closed.batch_id END AS ref_batch,
                CASE WHEN lined.vals IS DISTINCT FROM ref.vals THEN ref.line ELSE closed.line END AS ref_line
            FROM lined JOIN ref ON ref.thing = lined.thing LEFT JOIN closed ON closed.thing = lined.thing
        )
        SELECT *, other_values OR other_closing AS contradicts,
            NOT (other_values OR other_closing) AND row_number() OVER (
                PARTITION BY thing, batch_id, is_closed, other_values OR other_closing ORDER BY place
            ) = 1 AS is_stored
        FROM judged
        """
    )
    connection.execute("DELETE FROM verdict WHERE NOT is_fresh")


def _refuse(
    connection: duckdb.DuckDBPyConnection, shape: Shape, format_name: str, batch_id: int, file_name: str
) -> None:
    differing = ", ".join(
        f"CASE WHEN vals.{name} IS DISTINCT FROM ref_vals.{name} "
        f"THEN concat('{name} ', coalesce(CAST(ref_vals.{name} AS VARCHAR), 'empty')) END"
        for name in shape.values
    )
    closing = ", ".join(
        f"CASE WHEN other_closing AND closing.{name} IS DISTINCT FROM ref_closing.{name} "
        f"THEN concat('{name} ', coalesce(CAST(ref_closing.{name} AS VARCHAR), 'empty')) END"
        for name in shape.closing
    )
    parts = ", ".join(part for part in (differing, closing) if part)
    shown = ", ".join(
        f"concat('{name}=', CAST({name} AS VARCHAR))" for name in (*shape.key, *shape.values, *shape.closing)
    )
    connection.execute(
        f"""
        INSERT INTO raw.rejects (batch_id, format, file_name, row_number, reason, row_text)
        SELECT {batch_id}, ?, ?, line,
            CASE WHEN ref_batch = {batch_id}
                THEN concat('contradicts row ', ref_line, ' of this file, which has ', concat_ws(', ', {parts}),
                    ' for the same {shape.key[0]}: keep the right one')
                ELSE concat('contradicts row ', ref_line, ' of batch ', ref_batch, ', which has ',
                    concat_ws(', ', {parts}), ' for the same {shape.key[0]}: if this row is right, take that ',
                    'file back first with `energy withdraw ', ref_batch, '`') END,
            concat_ws(', ', {shown})
        FROM verdict WHERE contradicts
        """,
        [format_name, file_name],
    )
