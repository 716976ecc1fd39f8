"""The layout of a version's tables: what tells an older one, and how its rows are carried over to the present one."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING

from energy.errors import LedgerError
from energy.schema import TABLES, Table
from energy.schema.ddl import comments, create_table, layout_of

if TYPE_CHECKING:
    import duckdb

SETTING = "layout"
# Of the days that were attributed: emptied together, the next build makes them again from the stored readings.
_BY_DAY = ("core.device_hour", "core.node_hour", "core.counter_hour", "core.attributed_file")
# What cannot be made again from anything in the folder.
_KEPT = ("core.device",)


@cache
def layout() -> str:
    """Return the layout of all tables and views as one short hash.

    Examples
    --------
    >>> len(layout())
    12

    """
    parts = [f"{name} {layout_of(table)}" for name, table in sorted(TABLES.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def bring_up_to_date(connection: duckdb.DuckDBPyConnection) -> None:
    """Create each table that is not there; remake those of an older layout, with rows that nothing else has.

    Raises
    ------
    LedgerError
        Rows of an older layout do not fit: the files must be ingested again.
    """
    present = _present(connection)
    declared = {name: table for name, table in TABLES.items() if table.kind == "table"}
    older = {name for name in declared if name in present and present[name] != layout_of(declared[name])}
    if older & set(_BY_DAY):
        older |= set(_BY_DAY) & present.keys()
    for name, table in declared.items():
        if name not in present:
            _create(connection, table)
        elif name in older:
            _remake(connection, table, carry=name.startswith("raw.") or name in _KEPT)


def _present(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the layout of each table as its comment tells; empty where it tells none."""
    rows = connection.execute("SELECT schema_name, table_name, comment FROM duckdb_tables()").fetchall()
    return {f"{schema}.{name}": json.loads(comment or "{}").get("layout", "") for schema, name, comment in rows}


def _create(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    connection.execute("; ".join([create_table(table), *comments(table)]))


def _remake(connection: duckdb.DuckDBPyConnection, table: Table, *, carry: bool) -> None:
    import duckdb

    names = [column.field.name for column in table.columns]
    have = connection.execute(f"SELECT * FROM {table.full_name} LIMIT 0").description
    common = ", ".join(name for name in names if name in {column[0] for column in have or ()})
    old = f"{table.name}_of_older_layout"
    connection.execute(f"ALTER TABLE {table.full_name} RENAME TO {old}")
    _create(connection, table)
    if carry:
        try:
            connection.execute(f"INSERT INTO {table.full_name} ({common}) SELECT {common} FROM {table.layer}.{old}")
        except duckdb.Error as error:
            raise LedgerError(
                f"The rows of {table.full_name} were written by an older version and do not fit the present layout "
                f"({str(error).splitlines()[0][:120]}): ingest the files again into a new ledger."
            ) from error
    connection.execute(f"DROP TABLE {table.layer}.{old}")


def check_layout(connection: duckdb.DuckDBPyConnection, file_name: str, folder: str) -> None:
    """Refuse to read a version of another layout.

    Raises
    ------
    LedgerError
        With the command that makes a new version of the present layout.
    """
    import duckdb

    try:
        rows = connection.execute(
            f"SELECT key_name, key_value FROM ref.setting WHERE key_name IN ('{SETTING}', 'code_version')"
        ).fetchall()
    except duckdb.CatalogException:
        raise LedgerError(
            f"{file_name} is a DuckDB database and no version of a ledger: put the ledger's own file back from a copy."
        ) from None
    settings = dict(rows)
    if settings.get(SETTING) != layout():
        code_version = settings.get("code_version")
        written = f"energy {code_version}" if code_version else "another version of energy"
        raise LedgerError(
            f"{file_name} has another layout of tables (written by {written}, perhaps an earlier build of it): make a "
            f"new version with `energy rebuild --ledger {folder}`; to verify an earlier report, use the energy that "
            "wrote it."
        )
