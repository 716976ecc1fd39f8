"""Bring files in, or take them back: all or nothing, each row once, refused rows kept with their reason."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from energy.errors import InputFileError, LedgerError, MappingError
from energy.importers import Context, importer
from energy.importers.base import KnownFormat, detect, known_format
from energy.importers.mapping import Mapping, load_mapping, match_mapping
from energy.importers.progress import followed, watched
from energy.importers.tabular import header_of
from energy.ledger.build import build, create_schema
from energy.ledger.fleet import context_of, follow
from energy.ledger.grid_series import placed
from energy.ledger.known_jobs import with_chip_counts
from energy.ledger.requests import GRID_OPTIONS, check_request, told
from energy.ledger.requests import Request as Request
from energy.ledger.rows import Counts, append_rows, insert_rejects
from energy.ledger.site_file import SiteFile, read_site_file
from energy.ledger.store import Build, next_version, published
from energy.ledger.tables import first_row, insert_rows

_ROW_TABLES = (
    "raw.job",
    "raw.allocation",
    "raw.host",
    "raw.instrument",
    "raw.delivery_hour",
    "raw.grid_hour",
    "raw.fuel_purchase",
    "raw.rejects",
    "raw.batch",
)


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file.

    Attributes
    ----------
    batch_id : int or None
        None: the very same file was ingested before, and nothing changed.
    """

    file_name: str
    format: str
    batch_id: int | None
    mapping: str
    rows_read: int
    rows_accepted: int
    rows_rejected: int
    rows_duplicate: int
    first_reject: str
    notes: tuple[str, ...]


class _NothingNewError(Exception):
    """Leaves the build of a version that would be equal to the published one."""


def ingest(
    folder: Path,
    requests: Sequence[Request],
    *,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
    reading: Callable[[str], None] | None = None,
) -> list[Ingested]:
    """Read files into a new version of the ledger.

    Parameters
    ----------
    folder : Path
        Ledger folder with its ``site.yaml``.
    requests : sequence of Request
        Files; either all of them are stored, or nothing is.
    threads : int, optional
        Threads of the database.
    progress : callable, optional
        Receives a line per step.
    reading : callable, optional
        Receives rows and percent of the file's bytes again and again while a file is read.

    Returns
    -------
    list of Ingested
        One per request.

    Raises
    ------
    EnergyError
        A file, mapping or ``site.yaml`` cannot be read; the published version stays as it is.

    Notes
    -----
    A file that is known and had no row refused is not read again. One with refused rows is: what refused them may have
    been mended. Where nothing at all is new, no version is made.
    """
    say = progress or (lambda _: None)
    folder = Path(folder)
    requests = [replace(request, path=Path(request.path)) for request in requests]
    for request in requests:
        check_request(request)
    site_file = read_site_file(folder)
    known = _known(folder, site_file, requests)
    if known is not None:
        return known
    results: list[Ingested] = []
    try:
        with next_version(folder, threads) as work:
            create_schema(work.connection)
            changed = _site_file_changed(work.connection, site_file)
            for request in requests:
                say(f"reading {request.path.name}")
                with watched(request.path, reading):
                    results.append(_ingest_one(work, site_file, request))
            _leave_if(all(result.batch_id is None for result in results) and not changed)
            say("building the ledger")
            _build(work, site_file)
            say(f"publishing version {work.version}")
    except _NothingNewError:
        return results
    return results


def _leave_if(nothing_new: bool) -> None:
    if nothing_new:
        raise _NothingNewError


def _build(work: Build, site_file: SiteFile) -> None:
    follow(work, site_file)
    build(work, site_file)


def rebuild(folder: Path, *, threads: int | None = None) -> int:
    """Make a new version from the same files after ``site.yaml`` was changed; return its number.

    Raises
    ------
    SiteFileError
        Stored rows have no place in the changed file; nothing is published.
    """
    site_file = read_site_file(folder)
    published(folder)
    with next_version(folder, threads) as work:
        create_schema(work.connection)
        _build(work, site_file)
        return work.version


def withdraw(folder: Path, batch_id: int, *, threads: int | None = None) -> str:
    """Take back one ingested file: a new version without its rows. Earlier versions stay as they are.

    Returns
    -------
    str
        Name of the file that was taken back.

    Raises
    ------
    LedgerError
        No such batch; lists those that there are.
    """
    site_file = read_site_file(folder)
    published(folder)
    with next_version(folder, threads) as work:
        connection = work.connection
        create_schema(connection)
        batches = dict(connection.execute("SELECT batch_id, file_name FROM raw.batch ORDER BY 1").fetchall())
        if batch_id not in batches:
            have = ", ".join(f"{number} ({name})" for number, name in batches.items()) or "none"
            raise LedgerError(f"No batch {batch_id} in the ledger; batches: {have}.")
        _take_out(work, batch_id)
        _build(work, site_file)
        return str(batches[batch_id])


def _take_out(work: Build, batch_id: int) -> None:
    from energy.ledger.readings import withdraw_readings

    withdraw_readings(work, batch_id)
    for table in _ROW_TABLES:
        work.connection.execute(f"DELETE FROM {table} WHERE batch_id = ?", [batch_id])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _site_file_changed(connection: Any, site_file: SiteFile) -> bool:
    """Tell whether ``site.yaml`` says something else than it did for this version."""
    row = first_row(connection, "SELECT key_value FROM ref.setting WHERE key_name = 'site_file_sha256'")
    return row is not None and row[0] != hashlib.sha256(site_file.model_dump_json().encode()).hexdigest()


_SAME_FILE = (
    "SELECT batch_id, rows_rejected, rows_accepted + rows_duplicate AS rows FROM raw.batch "
    "WHERE file_sha256 = ? AND format = ? AND mapping_sha256 = coalesce(?, mapping_sha256) "
    "ORDER BY batch_id DESC LIMIT 1"
)


def _known(folder: Path, site_file: SiteFile, requests: Sequence[Request]) -> list[Ingested] | None:
    """Return the answer without taking the lock where all files are known and nothing was refused or changed."""
    from energy.ledger.reader import Ledger

    try:
        published(folder)
    except LedgerError:
        return None
    results = []
    with Ledger(folder) as ledger:
        setting = ledger.rows("SELECT key_value FROM ref.setting WHERE key_name = 'site_file_sha256'")
        digest = hashlib.sha256(site_file.model_dump_json().encode()).hexdigest()
        if not setting or setting[0]["key_value"] != digest:
            return None
        for request in requests:
            found = ledger.rows(_SAME_FILE, [_sha256(request.path), request.format, told(request)])
            if not found or found[0]["rows_rejected"]:
                return None
            results.append(_nothing_new(request, found[0]["batch_id"]))
    return results


def _nothing_new(request: Request, batch_id: int, refused: int = 0, first: str = "") -> Ingested:
    note = (
        f"the same file was ingested before as batch {batch_id}: nothing changed (to read it another way, "
        f"`energy withdraw {batch_id}` first)"
    )
    notes = (note, f"its {refused:,} refused row(s) are still refused, first: {first}") if refused else (note,)
    return Ingested(request.path.name, request.format, None, "", 0, 0, 0, 0, "", notes)


def _ingest_one(work: Build, site_file: SiteFile, request: Request) -> Ingested:
    """Read one file; a file with refused rows takes the place of its earlier reading."""
    connection = work.connection
    state = request.path.stat()
    digest = _sha256(request.path)
    same = first_row(connection, _SAME_FILE, [digest, request.format, told(request)])
    if same is not None and same[1] == 0:
        return _nothing_new(request, same[0])
    follow(work, site_file)
    before: set[tuple[Any, ...]] = set()
    if same is not None:
        before = set(_reject_rows(connection, same[0]))
        _take_out(work, same[0])
        batch_id = int(same[0])
    else:
        batch_id = int((first_row(connection, "SELECT coalesce(max(batch_id), 0) + 1 FROM raw.batch") or (1,))[0])
    file = _read(work, site_file, request, batch_id)
    if (state.st_mtime_ns, state.st_size) != (request.path.stat().st_mtime_ns, request.path.stat().st_size):
        raise InputFileError(f"{request.path.name} changed while it was read: wait until it is whole, then try again.")
    refused = _reject_rows(connection, batch_id)
    first = f"{request.path.name}, {_place(request.path)} {refused[0][0]}: {refused[0][1]}" if refused else ""
    _insert_batch(work, request, file, digest, len(refused))
    if same is not None and set(refused) == before and file.counts.accepted + file.counts.duplicates == same[2]:
        return _nothing_new(request, batch_id, len(refused), first)
    return Ingested(
        request.path.name,
        request.format,
        batch_id,
        file.mapping_name,
        file.counts.read,
        file.counts.accepted,
        len(refused),
        file.counts.duplicates,
        first,
        tuple(file.notes),
    )


def _place(path: Path) -> str:
    from energy.importers.tabular import is_parquet

    return "row" if is_parquet(path) else "line"


def _reject_rows(connection: Any, batch_id: int) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT row_number, reason FROM raw.rejects WHERE batch_id = ? ORDER BY ALL", [batch_id]
    ).fetchall()
    return rows


@dataclass(slots=True)
class _File:
    """One file as it was read."""

    batch_id: int
    mapping_name: str
    mapping_sha256: str
    counts: Counts
    notes: list[str]
    window: tuple[datetime | None, datetime | None] = field(default=(None, None))


def _read(work: Build, site_file: SiteFile, request: Request, batch_id: int) -> _File:
    """Import, check and store the rows of one file; one of another format is an error that names the format."""
    try:
        file = _read_as_told(work, site_file, request, batch_id)
    except (InputFileError, MappingError) as error:
        if other := _looks_like(request):
            raise type(error)(f"{error} The file looks like {other}.") from error
        raise
    refused = int((first_row(work.connection, _REFUSED, [batch_id]) or (0,))[0])
    if refused > file.counts.accepted + file.counts.duplicates and (other := _looks_like(request, mostly_refused=True)):
        raise InputFileError(
            f"{request.path.name} looks like {other}, not {request.format}: {refused:,} of {file.counts.read:,} rows "
            f"cannot be read as {request.format}. Nothing was stored."
        )
    return file


_REFUSED = "SELECT count(*) FROM raw.rejects WHERE batch_id = ?"


def _looks_like(request: Request, *, mostly_refused: bool = False) -> str:
    """Return the other known format that a file is of by its first bytes, and how to ingest it; empty for none."""
    try:
        found = detect(request.path)
    except InputFileError:
        return ""
    others = [(name, reason) for name, reason in found if name != request.format]
    if not others or (len(others) < len(found) and not mostly_refused):
        return ""
    name, reason = others[0]
    return f"{name} ({reason}): try `energy ingest {name}`"


def _read_as_told(work: Build, site_file: SiteFile, request: Request, batch_id: int) -> _File:
    reader = importer(request.format)
    context = replace(
        context_of(work.connection, site_file, request.site, request.timezone),
        **{name: getattr(request, name) for name in ("host", "time", *GRID_OPTIONS)},
    )
    known = known_format(request.format)
    try:
        if known is not None:
            return _read_known(work, request, batch_id, known, context)
        if hasattr(reader, "shape"):
            file = _read_statement(work, request, batch_id, reader, context)
            if request.format == "grid-hours":
                file.notes += placed(work.connection, site_file, batch_id)
            return file
        mapping = _mapping(request)
        batches = followed(reader.read(request.path, mapping, context), request.path)
        if request.format == "power":
            from energy.ledger.readings import store_readings

            counts = store_readings(work, batches, mapping, batch_id, context, request.path.name)
        else:
            counts = _store_rows(work, batches, request, batch_id, request.format)
    except (InputFileError, MappingError) as error:
        if request.path.name in str(error):
            raise
        raise type(error)(f"{request.path.name}: {error}") from error
    file = _File(batch_id, mapping.name, mapping.sha256, counts, list(context.notes))
    if request.format == "jobs":
        _set_window(work, request, file)
    return file


def _read_known(work: Build, request: Request, batch_id: int, known: KnownFormat, context: Context) -> _File:
    """Import, check and store the rows of one file of a known format, which needs no mapping."""
    if request.mapping is not None:
        raise MappingError(f"{request.path.name}: {known.name} is a known format and takes no --mapping: leave it out.")
    batches = followed(known.read(request.path, None, context), request.path)
    if known.kind == "jobs":
        counts = _store_rows(work, with_chip_counts(batches, context), request, batch_id, "jobs")
    else:
        from energy.ledger.known_readings import store_known_readings

        counts = store_known_readings(work, batches, known.kind, batch_id, context, request.path.name, request.format)
    file = _File(batch_id, known.name, told(request) or "", counts, list(context.notes))
    if known.kind == "jobs" and getattr(known, "is_whole_log", True):
        _set_window(work, request, file)
    return file


def _read_statement(work: Build, request: Request, batch_id: int, reader: Any, context: Context) -> _File:
    """Import, check and store a statement of certificates, contracts or deliveries, whose header says what it is."""
    if request.mapping is not None:
        raise MappingError(f"{request.path.name}: {reader.name} takes no --mapping: its header says what it holds.")
    batches = followed(reader.read(request.path, None, context), request.path)
    counts = _store_rows(work, batches, request, batch_id, reader.shape)
    if not counts.read:
        raise InputFileError(f"{request.path.name} has a header and no rows: nothing to ingest, nothing was stored.")
    return _File(batch_id, reader.name, told(request) or "", counts, list(context.notes))


def _set_window(work: Build, request: Request, file: _File) -> None:
    """Set the time for which the log is whole, and say so."""
    file.window = start, end = _window(work, request, file.batch_id)
    if start is not None and end is not None:
        file.notes.append(f"the log counts as whole from {start:%Y-%m-%dT%H:%MZ} to {end:%Y-%m-%dT%H:%MZ}")


def _insert_batch(work: Build, request: Request, file: _File, digest: str, refused: int) -> None:
    insert_rows(
        work.connection,
        "raw.batch",
        [
            {
                "batch_id": file.batch_id,
                "format": request.format,
                "file_name": request.path.name,
                "file_sha256": digest,
                "mapping_sha256": file.mapping_sha256,
                "site_id": request.site,
                "from_utc": file.window[0],
                "to_utc": file.window[1],
                "rows_read": file.counts.read,
                "rows_accepted": file.counts.accepted,
                "rows_rejected": refused,
                "rows_duplicate": file.counts.duplicates,
                "note": "; ".join(file.notes) or None,
            }
        ],
    )


def _mapping(request: Request) -> Mapping:
    if request.mapping is not None:
        return load_mapping(request.mapping, request.format)
    return match_mapping(header_of(request.path), request.format, request.path.name)


def _store_rows(work: Build, batches: Any, request: Request, batch_id: int, shape: str) -> Counts:
    counts = Counts()
    for batch in batches:
        counts.read += batch.rows_read
        insert_rejects(work.connection, batch.rejects, batch_id, request.format, request.path.name)
        if batch.table.num_rows:
            part = append_rows(work.connection, batch.table, shape, batch_id, request.path.name)
            counts.accepted += part.accepted
            counts.duplicates += part.duplicates
    return counts


def _window(work: Build, request: Request, batch_id: int) -> tuple[datetime | None, datetime | None]:
    """Return the time for which the log is whole: as told, else from its first start to the end of its last day.

    A log in which nothing ran says so of the time in which its jobs were handed in and given up.
    """
    first, last, rows = first_row(
        work.connection,
        "SELECT coalesce(min(start_utc), min(least(submit_utc, end_utc))), coalesce("
        "max(greatest(start_utc, coalesce(end_utc, start_utc))), max(greatest(submit_utc, end_utc))), count(*) "
        "FROM raw.job WHERE batch_id = ?",
        [batch_id],
    ) or (None, None, 0)
    start, end = request.covers_from, request.covers_to
    if not rows:
        return None, None
    if first is None and (start is None or end is None):
        raise InputFileError(
            f"{request.path.name}: no job has a start, so the time that the log covers is not known: give "
            "--covers-from and --covers-to."
        )
    if start is None:
        start = first.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if end is None:
        midnight = last.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        end = midnight + timedelta(days=1 if midnight < last or midnight <= start else 0)
    if start >= end:
        raise InputFileError(
            f"{request.path.name}: the log's window ends ({end:%Y-%m-%dT%H:%MZ}) before it starts "
            f"({start:%Y-%m-%dT%H:%MZ}): correct --covers-from and --covers-to."
        )
    return start.astimezone(UTC), end.astimezone(UTC)
