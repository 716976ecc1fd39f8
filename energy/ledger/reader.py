"""Reading a published version: it never waits for a writer, and never mixes versions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from energy.errors import LedgerError
from energy.ledger.store import kept_version, published, settings, version_of

if TYPE_CHECKING:
    import pyarrow as pa


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
        config = settings(threads) | {"enable_external_access": False}
        try:
            self._connection = duckdb.connect(str(path), read_only=True, config=config)
        except duckdb.Error as error:
            raise LedgerError(
                f"{path.name} cannot be opened ({str(error).splitlines()[0][:120]}): close the program that has it "
                "open for writing; other DuckDB clients open it with -readonly."
            ) from error
        self._connection.execute("SET TimeZone = 'UTC'")

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts, in the order of the query."""
        cursor = self._connection.cursor()
        try:
            result = cursor.execute(sql, list(parameters))
            names = [column[0] for column in result.description]
            return [dict(zip(names, values, strict=True)) for values in result.fetchall()]
        finally:
            cursor.close()

    def arrow(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows of a query as an Arrow table."""
        cursor = self._connection.cursor()
        try:
            return cursor.sql(sql, params=list(parameters)).to_arrow_table()
        finally:
            cursor.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
