"""Reading a published version: it never waits for a writer, and never mixes versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from energy.errors import LedgerError
from energy.ledger.guarded import MEMORY, TIMEOUT_S, Guarded
from energy.ledger.layout import check_layout
from energy.ledger.store import kept_version, published, settings, version_of

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from energy.ledger.query import Result, Running


class Ledger:
    """One published version of a ledger, open for reading.

    Parameters
    ----------
    folder : Path
        The ledger's folder.
    threads : int, optional
        Threads of the database; totals are the same on any number.
    version : int, optional
        An earlier version that is still kept; the published one by default.

    Examples
    --------
    >>> with Ledger(Path("my-ledger")) as ledger:  # doctest: +SKIP
    ...     ledger.rows("SELECT count(*) AS row_count FROM jobs")
    """

    def __init__(self, folder: Path, threads: int | None = None, version: int | None = None) -> None:
        import duckdb

        self.folder = Path(folder)
        path = published(self.folder) if version is None else kept_version(self.folder, version)
        if version is None and not path.exists():  # replaced and removed since the link was read
            path = published(self.folder)
        self.version = version_of(path)
        # An instance of its own with the version attached: readers in one process need not agree on their settings.
        self._connection = duckdb.connect(":memory:", config=settings(threads))
        try:
            self._attach(path)
            with self._cursor() as cursor:
                check_layout(cursor, path.name, str(self.folder))
        except LedgerError:
            self._connection.close()
            raise
        self._guarded = Guarded(path, threads)

    def _attach(self, path: Path) -> None:
        import duckdb

        quoted = str(path).replace("'", "''")
        try:
            self._connection.execute(f"ATTACH '{quoted}' AS ledger (READ_ONLY)")
        except duckdb.Error as error:
            raise LedgerError(
                f"{path.name} cannot be opened ({str(error).splitlines()[0][:120]}): close the program that has it "
                "open for writing; other DuckDB clients open it with -readonly."
            ) from error
        self._connection.execute("SET GLOBAL TimeZone = 'UTC'")
        self._connection.execute("SET GLOBAL enable_external_access = false")

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._connection.cursor()
        try:
            cursor.execute("USE ledger")
            yield cursor
        finally:
            cursor.close()

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts, in the order of the query."""
        with self._cursor() as cursor:
            result = cursor.execute(sql, list(parameters))
            names = [column[0] for column in result.description]
            return [dict(zip(names, values, strict=True)) for values in result.fetchall()]

    def arrow(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows of a query as an Arrow table."""
        with self._cursor() as cursor:
            return cursor.sql(sql, params=list(parameters)).to_arrow_table()

    def sql(
        self, text: str, *, timeout_s: float = TIMEOUT_S, memory: str = MEMORY, row_limit: int | None = None
    ) -> Result:
        """Return the result of a user's query: guarded, its units checked, each column with its unit.

        Parameters
        ----------
        text : str
            One SELECT (or EXPLAIN, DESCRIBE, SHOW TABLES, SUMMARIZE) over the ledger's tables and views.
        timeout_s : float
            It is stopped after so many seconds, s.
        memory : str
            Most memory of the query, and of its result: ``1GB``.
        row_limit : int, optional
            Most rows that are kept; the others are only counted.

        Raises
        ------
        SqlError
            With line and column: refused, not readable, an unknown name; or it needs more time or memory.
        SqlUnitError
            Its units do not add up.

        Examples
        --------
        >>> with Ledger(Path("my-ledger")) as ledger:  # doctest: +SKIP
        ...     ledger.sql("SELECT month, sum(energy_it_kwh) AS energy_it_kwh FROM energy_monthly GROUP BY month").df()
        """
        from energy.ledger.query import ask

        return ask(self._guarded, text, self.version, timeout_s, memory, row_limit, self.mixed)

    @contextmanager
    def sql_batches(self, text: str, *, timeout_s: float = TIMEOUT_S, memory: str = MEMORY) -> Iterator[Running]:
        """Give columns, Arrow schema and batches of a query as they come: for results larger than memory.

        Raises
        ------
        SqlError
            As :meth:`sql`.
        """
        from energy.ledger.query import running

        with running(self._guarded, text, timeout_s, memory, self.mixed) as query:
            yield query

    @cached_property
    def mixed(self) -> frozenset[str]:
        """Scope 2 methods whose emissions stand on bases that ``basis_mix`` does not name: SQL does not add them."""
        from energy.ledger.bases import mixed_methods

        return mixed_methods(self)

    def close(self) -> None:
        """Close the connections."""
        self._guarded.close()
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_ledger(folder: str | Path, version: int | None = None) -> Ledger:
    """Open a ledger for reading: ``energy.open``.

    Parameters
    ----------
    folder : str or Path
        The ledger's folder.
    version : int, optional
        An earlier version that is still kept; the published one by default.

    Raises
    ------
    LedgerError
        The folder is no ledger, holds no data yet, or no longer has the version.
    """
    return Ledger(Path(folder), version=version)
