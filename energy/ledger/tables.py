"""Rows into tables of a version, and single rows out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


def first_row(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: list[Any] | None = None
) -> tuple[Any, ...] | None:
    """Return the first row; fetches all, since an unfinished result holds the connection."""
    rows = connection.execute(sql, parameters).fetchall()
    return rows[0] if rows else None


def instants(hours: Any) -> Any:
    """Return starts of hours (datetime64, UTC) as Arrow takes them into a table."""
    import numpy as np
    import pyarrow as pa

    return pa.array(hours.astype("datetime64[ms]").astype(np.int64)).cast(pa.timestamp("ms", "UTC"))


def insert(connection: duckdb.DuckDBPyConnection, table_name: str, columns: dict[str, Any]) -> None:
    """Append columns (lists or arrays, in the table's names) to a table."""
    import pyarrow as pa

    rows = pa.table(columns)
    if rows.num_rows:
        names = ", ".join(rows.column_names)
        connection.register("incoming", rows)
        connection.execute(f"INSERT INTO {table_name} ({names}) SELECT {names} FROM incoming")
        connection.unregister("incoming")


def insert_rows(connection: duckdb.DuckDBPyConnection, table_name: str, rows: list[dict[str, Any]]) -> None:
    """Append rows given as dicts of equal keys."""
    if rows:
        insert(connection, table_name, {name: [row[name] for row in rows] for name in rows[0]})
