"""Connections for a user's SQL: read-only, no files, no network, settings locked, memory bounded, stopped in time.

Each is a DuckDB of its own in memory with the version attached, because a limit of memory holds for a whole instance,
and readers of the same file in this process must agree on their settings.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from energy.errors import LedgerError, SqlError

if TYPE_CHECKING:
    import duckdb

MEMORY = "1GB"
TIMEOUT_S = 30.0
_LONGEST_TIMEOUT_S = 86_400.0
_IDLE_KEPT = 4
_INTERRUPT_AGAIN_S = 0.05  # an interrupt between two steps of a query is lost
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(K|M|G|T)(i?)B\Z", re.IGNORECASE)
_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}


def memory_bytes(memory: str) -> int:
    """Return a size in bytes.

    Raises
    ------
    SqlError
        It is no size, or less than 16 MB.

    Examples
    --------
    >>> memory_bytes("1GB"), memory_bytes("512 MiB")
    (1000000000, 536870912)

    """
    match = _SIZE.match(memory.strip())
    size = 0 if match is None else float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].upper()]
    if not 16_000_000 <= size <= 1e15:
        raise SqlError(f"{memory!r} is no limit of memory: write it as 512MB or 4GB, at least 16MB.")
    return int(size)


def checked_timeout(timeout_s: float) -> float:
    """Return a limit of time in seconds.

    Raises
    ------
    SqlError
        It is not a number between 0 and a day.
    """
    if not (math.isfinite(timeout_s) and 0 < timeout_s <= _LONGEST_TIMEOUT_S):
        raise SqlError(f"A limit of {timeout_s:g} s cannot be kept: give seconds above 0, up to 86,400.")
    return float(timeout_s)


class Guarded:
    """Guarded connections to one version; one serves one query at a time, idle ones are kept.

    Parameters
    ----------
    path : Path
        The version's file.
    threads : int, optional
        Threads of each connection.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self._path = path
        self._threads = threads
        self._idle: list[tuple[int, duckdb.DuckDBPyConnection]] = []
        self._lock = threading.Lock()

    @contextmanager
    def connection(self, memory: str = MEMORY) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend a connection; after an error it is not used again.

        Raises
        ------
        SqlError
            ``memory`` is no size.
        """
        size = memory_bytes(memory)
        with self._lock:
            found = next((entry for entry in self._idle if entry[0] == size), None)
            if found is not None:
                self._idle.remove(found)
        connection = self._open(size) if found is None else found[1]
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append((size, connection))
            surplus = self._idle.pop(0)[1] if len(self._idle) > _IDLE_KEPT else None
        if surplus is not None:
            surplus.close()

    def _open(self, size: int) -> duckdb.DuckDBPyConnection:
        import duckdb

        config: dict[str, str | bool | int | float | list[str]] = {
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "errors_as_json": True,  # the place of an error as a number
            "memory_limit": f"{size}B",
            "python_enable_replacements": False,
            "temp_directory": "",  # nothing is written, so nothing spills: the limit of memory is one
        }
        if self._threads is not None:
            config["threads"] = self._threads
        connection = duckdb.connect(":memory:", config=config)
        quoted = str(self._path).replace("'", "''")
        try:
            connection.execute(f"ATTACH '{quoted}' AS ledger (READ_ONLY)")
        except duckdb.Error as error:
            connection.close()
            raise LedgerError(f"{self._path.name} cannot be read any more: open the ledger again.") from error
        connection.execute("USE ledger")
        connection.execute("SET TimeZone = 'UTC'")
        # From here on neither files nor settings can be reached, whatever the text says.
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return connection

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()


class Limit:
    """Stops a connection's query after some seconds; DuckDB has no time-out of its own.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        What is interrupted.
    timeout_s : float
        Seconds.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, timeout_s: float) -> None:
        self.timeout_s = checked_timeout(timeout_s)
        self.passed = False
        self._connection = connection
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="energy-sql-limit", daemon=True)

    def _watch(self) -> None:
        wait = self.timeout_s
        while not self._done.wait(wait):
            self.passed = True
            self._connection.interrupt()
            wait = _INTERRUPT_AGAIN_S

    def check(self) -> None:
        """Raise when the time is over.

        Raises
        ------
        SqlError
            With the limit and the remedy.
        """
        if self.passed:
            raise SqlError(
                f"Stopped after {self.timeout_s:g} s: ask for less (WHERE month = '2026-01', a monthly view), "
                "or allow more time with --timeout (timeout_s in Python)."
            )

    def __enter__(self) -> Limit:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
