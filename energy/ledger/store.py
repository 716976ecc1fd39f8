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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from energy.errors import LedgerError

if TYPE_CHECKING:
    import duckdb

Config = dict[str, str | bool | int | float | list[str]]

_SPILL = ".build-spill"
_LINK_STAGED = ".build-link"
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
    _check_link(folder)
    link = folder / LINK_NAME
    if not link.exists():
        raise LedgerError(f"The ledger at {folder} holds no data yet: bring some in with `energy ingest`.")
    return link.resolve()


def _check_link(folder: Path) -> None:
    """Refuse a folder with versions of which none is published: the link was lost in copying, or points to nothing."""
    link = folder / LINK_NAME
    staged = folder / _LINK_STAGED
    unfinished = staged.readlink().name if staged.is_symlink() else ""
    present = [number for number in versions(folder) if f"ledger-{number}.duckdb" != unfinished]
    if not link.exists() and (present or link.is_symlink()):
        have = f"the newest of its versions is ledger-{present[-1]}.duckdb" if present else "no version is left in it"
        remedy = f"publish it with `ln -sf ledger-{present[-1]}.duckdb {link}`" if present else "restore it from a copy"
        raise LedgerError(f"The ledger at {folder} has lost its link {LINK_NAME}; {have}: {remedy}.")


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
        number = _next_number(folder)
        path = folder / f".build-{number}.duckdb"
        try:
            if (folder / LINK_NAME).exists():
                shutil.copyfile(published(folder), path)
                path.chmod(0o644)
            with closing(_connect(path, threads)) as connection:
                yield Build(folder, number, path, connection)
                connection.execute("CHECKPOINT")
            _publish(folder, path, number)
        except BaseException:
            clean(folder)
            raise
        _prune(folder)
        _remove(folder / _SPILL)


def _next_number(folder: Path) -> int:
    """Return a number that no version had: not even one that was reported and whose file is gone."""
    return max((*versions(folder), *pinned(folder)), default=0) + 1


def _connect(path: Path, threads: int | None) -> duckdb.DuckDBPyConnection:
    import duckdb

    config = settings(threads)
    # readable by every DuckDB client since 1.4
    config["storage_compatibility_version"] = "v1.4.0"
    config["temp_directory"] = str(path.parent / _SPILL)
    try:
        connection = duckdb.connect(str(path), config=config)
        connection.execute("SET TimeZone = 'UTC'")
    except duckdb.Error as error:
        words = " ".join(str(error).split())[:120]
        raise LedgerError(
            f"The published version in {path.parent} cannot be opened ({words}): put its file back from a copy of the "
            "ledger."
        ) from error
    return connection


def _publish(folder: Path, path: Path, number: int) -> None:
    with path.open("rb") as handle:
        os.fsync(handle.fileno())
    path.chmod(0o444)
    target = folder / f"ledger-{number}.duckdb"
    link = folder / _LINK_STAGED
    link.unlink(missing_ok=True)
    link.symlink_to(target.name)  # while it stands, it tells the next writer which version was never published
    path.rename(target)
    link.replace(folder / LINK_NAME)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clean(folder: Path) -> None:
    """Remove what a killed writer left: builds, staging, and versions that were renamed but never linked.

    What shows that a writer was killed goes last, so that cleaning which is itself killed is done again.
    """
    _check_link(folder)
    link, staged = folder / LINK_NAME, folder / _LINK_STAGED
    leftovers = [path for path in folder.glob(".build-*") if path.name != _PIN_STAGED]
    if not leftovers:
        return
    unfinished = staged.readlink().name if staged.is_symlink() else ""
    if link.is_symlink() and link.readlink().name == unfinished:
        unfinished = ""
    kept = [number for number in versions(folder) if f"ledger-{number}.duckdb" != unfinished]
    _remove_orphan_telemetry(folder, kept)
    if unfinished:
        (folder / unfinished).unlink(missing_ok=True)
    for path in leftovers:
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


_PIN_STAGED = ".build-pinned"


@contextmanager
def _pins(folder: Path) -> Iterator[None]:
    """Hold the list of reported versions: not the write lock, so that a report never waits for an ingest."""
    with (folder / ".pin-lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def pin(folder: Path, version: int) -> None:
    """Keep a version for good: a report was made from it.

    Raises
    ------
    LedgerError
        The version is gone already.
    """
    with _pins(folder):
        kept_version(folder, version)
        kept = pinned(folder)
        if version not in kept:
            staged = folder / _PIN_STAGED
            staged.write_text("".join(f"{number}\n" for number in sorted({*kept, version})))
            staged.replace(folder / PINNED_FILE)


def pinned(folder: Path) -> set[int]:
    """Return the versions that reports were made from.

    Raises
    ------
    LedgerError
        The list was edited into something else.
    """
    path = folder / PINNED_FILE
    try:
        return {int(line) for line in path.read_text(encoding="utf-8").split()} if path.exists() else set()
    except ValueError as error:
        raise LedgerError(f"{path} holds more than numbers of versions, one a line: correct it.") from error


def _prune(folder: Path) -> None:
    with _pins(folder):
        kept = set(versions(folder)[-KEPT_VERSIONS:]) | pinned(folder)
        removed = [number for number in versions(folder) if number not in kept]
        for number in removed:
            (folder / f"ledger-{number}.duckdb").unlink(missing_ok=True)
    if removed:
        _remove_orphan_telemetry(folder, versions(folder))


def _remove_orphan_telemetry(folder: Path, kept: list[int]) -> None:
    """Remove telemetry files that no kept version lists; none at all where a version cannot be asked."""
    import duckdb

    root = folder / TELEMETRY_FOLDER
    files = {str(path.relative_to(folder)) for path in root.rglob("*.parquet")} if root.is_dir() else set()
    if not files:
        return
    listed: set[str] = set()
    try:
        for number in kept:
            with duckdb.connect(str(folder / f"ledger-{number}.duckdb"), read_only=True, config=settings()) as version:
                listed |= {
                    row[0] for row in version.execute("SELECT partition_path FROM raw.telemetry_file").fetchall()
                }
    except duckdb.Error:
        return
    for name in sorted(files - listed):
        (folder / name).unlink(missing_ok=True)
