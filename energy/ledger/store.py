"""A ledger is a folder: versions side by side, one writer, readers that never wait.

``ledger.duckdb`` is a symlink to the published version ``ledger-<n>.duckdb`` (mode 0444). A writer holds a lock, builds
the next version under a temporary name, checkpoints it, and swaps the link. What a killed writer leaves behind is
cleaned by the next writer; the published version is never touched.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from energy.errors import LedgerError

if TYPE_CHECKING:
    import duckdb

Config = dict[str, str | bool | int | float | list[str]]

LINK_NAME = "ledger.duckdb"
KEPT_VERSIONS = 5
PINNED_FILE = "reported-versions.txt"
TELEMETRY_FOLDER = "telemetry"
_VERSION = re.compile(r"ledger-(\d+)\.duckdb\Z")
_LOCK_WAIT_S = 30.0
MEMORY_LIMIT = "512MB"


def settings(threads: int | None = None) -> Config:
    """Return the settings of every connection: nothing is downloaded, memory is bounded."""
    chosen: Config = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": MEMORY_LIMIT,
        "preserve_insertion_order": False,
    }
    if threads is not None:
        chosen["threads"] = threads
    return chosen


def published(folder: Path) -> Path:
    """Return the file of the published version.

    Raises
    ------
    LedgerError
        The folder is no ledger, or holds no version yet.
    """
    if not folder.is_dir():
        raise LedgerError(
            f"No ledger at {folder}. Build the example with `energy demo`, or start one with `energy init`."
        )
    link = folder / LINK_NAME
    if not link.exists():
        raise LedgerError(f"The ledger at {folder} holds no data yet: bring some in with `energy ingest`.")
    return link.resolve()


def version_of(path: Path) -> int:
    """Return the number of a version's file."""
    match = _VERSION.search(path.name)
    if match is None:
        raise LedgerError(f"{path.name} is no version of a ledger (ledger-<number>.duckdb).")
    return int(match.group(1))


def versions(folder: Path) -> list[int]:
    """Return the numbers of all versions in the folder, ascending."""
    return sorted(version_of(path) for path in folder.glob("ledger-*.duckdb") if _VERSION.search(path.name))


def kept_version(folder: Path, number: int) -> Path:
    """Return the file of a version that is still kept.

    Raises
    ------
    LedgerError
        It is not there; lists those that are.
    """
    published(folder)
    path = folder / f"ledger-{number}.duckdb"
    if not path.exists():
        have = ", ".join(map(str, versions(folder)))
        raise LedgerError(f"The ledger at {folder} no longer has version {number}; it has {have}.")
    return path


@dataclass(slots=True)
class Build:
    """The next version while it is written."""

    folder: Path
    version: int
    path: Path
    connection: duckdb.DuckDBPyConnection


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's write lock.

    Raises
    ------
    LedgerError
        Another writer is at work and did not finish in time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        deadline = time.monotonic() + _LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise LedgerError(
                        f"Another writer is at work in {folder}: wait for it to finish, then try again."
                    ) from error
                time.sleep(0.05)
        yield


@contextmanager
def next_version(folder: Path, threads: int | None = None) -> Iterator[Build]:
    """Build and publish the next version; on any error nothing is published and the build is removed."""
    with locked(folder):
        clean(folder)
        present = versions(folder)
        number = (present[-1] if present else 0) + 1
        path = folder / f".build-{number}.duckdb"
        if (folder / LINK_NAME).exists():
            shutil.copyfile(published(folder), path)
            path.chmod(0o644)
        connection = _connect(path, threads)
        try:
            yield Build(folder, number, path, connection)
            connection.execute("CHECKPOINT")
            connection.close()
            _publish(folder, path, number)
        except BaseException:
            connection.close()
            for leftover in (path, path.with_name(path.name + ".wal")):
                leftover.unlink(missing_ok=True)
            _remove_orphan_telemetry(folder)
            raise
        _prune(folder)


def _connect(path: Path, threads: int | None) -> duckdb.DuckDBPyConnection:
    import duckdb

    config = settings(threads)
    # readable by every DuckDB client since 1.4
    config["storage_compatibility_version"] = "v1.4.0"
    config["temp_directory"] = str(path.parent / ".build-spill")
    connection = duckdb.connect(str(path), config=config)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _publish(folder: Path, path: Path, number: int) -> None:
    with path.open("rb") as handle:
        os.fsync(handle.fileno())
    path.chmod(0o444)
    target = folder / f"ledger-{number}.duckdb"
    path.rename(target)
    link = folder / ".build-link"
    link.unlink(missing_ok=True)
    link.symlink_to(target.name)
    link.replace(folder / LINK_NAME)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clean(folder: Path) -> None:
    """Remove what a killed writer left: builds, staging, and versions that were renamed but never linked."""
    leftovers = list(folder.glob(".build-*"))
    for path in leftovers:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    link = folder / LINK_NAME
    current = version_of(link.resolve()) if link.exists() else 0
    unlinked = [number for number in versions(folder) if number > current]
    for number in unlinked:
        (folder / f"ledger-{number}.duckdb").unlink()
    if leftovers or unlinked:
        _remove_orphan_telemetry(folder)


def pin(folder: Path, version: int) -> None:
    """Keep a version for good: a report was made from it."""
    path = folder / PINNED_FILE
    kept = pinned(folder)
    if version not in kept:
        staged = folder / ".build-pinned"
        staged.write_text("".join(f"{number}\n" for number in sorted({*kept, version})))
        staged.replace(path)


def pinned(folder: Path) -> set[int]:
    """Return the versions that reports were made from."""
    path = folder / PINNED_FILE
    return {int(line) for line in path.read_text().split()} if path.exists() else set()


def _prune(folder: Path) -> None:
    kept = set(versions(folder)[-KEPT_VERSIONS:]) | pinned(folder)
    removed = [number for number in versions(folder) if number not in kept]
    for number in removed:
        (folder / f"ledger-{number}.duckdb").unlink()
    if removed:
        _remove_orphan_telemetry(folder)


def _remove_orphan_telemetry(folder: Path) -> None:
    """Remove telemetry files that no kept version lists."""
    import duckdb

    root = folder / TELEMETRY_FOLDER
    files = {str(path.relative_to(folder)) for path in root.rglob("*.parquet")} if root.is_dir() else set()
    if not files:
        return
    listed: set[str] = set()
    for number in versions(folder):
        with duckdb.connect(str(folder / f"ledger-{number}.duckdb"), read_only=True, config=settings()) as connection:
            listed |= {row[0] for row in connection.execute("SELECT partition_path FROM raw.telemetry_file").fetchall()}
    for name in sorted(files - listed):
        (folder / name).unlink(missing_ok=True)
