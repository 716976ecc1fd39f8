"""Bring files in, or take them back: all or nothing, each row once, refused rows kept with their reason."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy.errors import EnergyError, InputFileError, LedgerError, MappingError, SiteFileError, did_you_mean
from energy.importers import Context, Reject, importer
from energy.importers.convert import zone_of
from energy.importers.mapping import Mapping, load_mapping, match_mapping
from energy.importers.tabular import check_readable, header_of
from energy.ledger.build import build, create_schema, first_row, insert_rows
from energy.ledger.site_file import SiteFile, expand_pattern, read_site_file
from energy.ledger.store import Build, next_version, published
from energy.ledger.telemetry import Stage, day_number

if TYPE_CHECKING:
    import pyarrow as pa

_RAW_TABLE = {"jobs": "raw.job", "allocations": "raw.allocation", "hosts": "raw.host"}
_KEY = {
    "jobs": ("job_id", "start_utc", "site_id", "host"),
    "allocations": ("job_id", "host", "device_index", "start_utc"),
    "hosts": ("host", "from_utc"),
}
_VALUES = {
    "jobs": ("end_utc", "chip_count", "chip_id", "project", "energy_chip_kwh"),
    "allocations": ("end_utc",),
    "hosts": ("site_id", "chip_id", "installed_chip_count", "to_utc"),
}
# a later export of the log may close a run that was still open: that is news, no conflict
_MAY_FOLLOW = {"jobs": "known.end_utc IS NULL", "allocations": "known.end_utc IS NULL", "hosts": "false"}


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


@dataclass(frozen=True, slots=True)
class Request:
    """One file to ingest and how to read it."""

    format: str
    path: Path
    mapping: str | None = None
    site: str | None = None
    timezone: str | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None


def ingest(
    folder: Path,
    requests: Sequence[Request],
    *,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
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

    Returns
    -------
    list of Ingested
        One per request.

    Raises
    ------
    EnergyError
        A file, mapping or ``site.yaml`` cannot be read; the published version stays as it is.
    """
    say = progress or (lambda _: None)
    for request in requests:
        check_readable(request.path)
    site_file = read_site_file(folder)
    results: list[Ingested] = []
    if all(_is_known(folder, request) for request in requests):
        return [_nothing_new(request) for request in requests]
    with next_version(folder, threads) as work:
        create_schema(work.connection)
        for request in requests:
            say(f"reading {request.path.name}")
            results.append(_ingest_one(work, site_file, request))
        say("building the ledger")
        build(work, site_file)
        say(f"publishing version {work.version}")
    return results


def rebuild(folder: Path, *, threads: int | None = None) -> int:
    """Make a new version from the same files after ``site.yaml`` was changed; return its number."""
    site_file = read_site_file(folder)
    published(folder)
    with next_version(folder, threads) as work:
        create_schema(work.connection)
        build(work, site_file)
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
        batches = dict(connection.execute("SELECT batch_id, file_name FROM raw.batch ORDER BY 1").fetchall())
        if batch_id not in batches:
            have = ", ".join(f"{number} ({name})" for number, name in batches.items()) or "none"
            raise LedgerError(f"No batch {batch_id} in the ledger; batches: {have}.")
        _withdraw_readings(work, batch_id)
        for table in ("raw.job", "raw.allocation", "raw.host", "raw.rejects", "raw.batch"):
            connection.execute(f"DELETE FROM {table} WHERE batch_id = ?", [batch_id])
        build(work, site_file)
        return str(batches[batch_id])


def _withdraw_readings(work: Build, batch_id: int) -> None:
    from energy.ledger.telemetry import read_day, write_day

    connection = work.connection
    touched = connection.execute(
        "SELECT file.partition_path, file.site_id, file.local_date FROM raw.telemetry_batch AS part "
        "JOIN raw.telemetry_file AS file ON file.partition_path = part.partition_path WHERE part.batch_id = ?",
        [batch_id],
    ).fetchall()
    for path, site_id, date in touched:
        rows = read_day(work.folder / path)
        keep = rows["batch_id"] != batch_id
        _forget_file(work, path)
        if keep.any():
            kept = {name: values[keep] for name, values in rows.items()}
            _list_file(work, write_day(work.folder, (site_id, day_number(date)), kept))


def _forget_file(work: Build, path: str) -> None:
    for table in ("raw.telemetry_file", "raw.telemetry_batch"):
        work.connection.execute(f"DELETE FROM {table} WHERE partition_path = ?", [path])


def _list_file(work: Build, day: Any) -> None:
    insert_rows(
        work.connection,
        "raw.telemetry_file",
        [
            {
                name: getattr(day, name)
                for name in ("partition_path", "content_sha256", "site_id", "local_date", "row_count")
            }
        ],
    )
    insert_rows(
        work.connection,
        "raw.telemetry_batch",
        [
            {"batch_id": number, "partition_path": day.partition_path, "row_count": count}
            for number, count in day.by_batch.items()
        ],
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_known(folder: Path, request: Request) -> bool:
    """Tell whether the same file was read before with nothing refused: there is nothing to do then."""
    from energy.ledger.reader import Ledger

    try:
        published(folder)
    except LedgerError:
        return False
    with Ledger(folder) as ledger:
        found = ledger.rows(
            "SELECT max(batch_id) AS batch_id FROM raw.batch "
            "WHERE file_sha256 = ? AND format = ? AND rows_rejected = 0",
            [_sha256(request.path), request.format],
        )
    return found[0]["batch_id"] is not None


def _nothing_new(request: Request) -> Ingested:
    note = "the same file was ingested before: nothing changed"
    return Ingested(request.path.name, request.format, None, "", 0, 0, 0, 0, "", (note,))


def _ingest_one(work: Build, site_file: SiteFile, request: Request) -> Ingested:
    connection = work.connection
    digest = _sha256(request.path)
    same = first_row(
        connection,
        "SELECT batch_id, rows_rejected FROM raw.batch WHERE file_sha256 = ? AND format = ?",
        [digest, request.format],
    )
    if same is not None and same[1] == 0:
        return _nothing_new(request)
    reader = importer(request.format)
    mapping = _mapping(request)
    context = _context(work, site_file, request)
    if same is not None:  # refused rows may be right by now: their reasons are looked at again
        connection.execute("DELETE FROM raw.rejects WHERE batch_id = ?", [same[0]])
    batch_id = _one(connection, "SELECT coalesce(max(batch_id), 0) + 1 FROM raw.batch")
    store = _store_readings if request.format == "power" else _store_rows
    counts = store(work, reader.read(request.path, mapping, context), request, mapping, batch_id, context)
    insert_rows(
        connection,
        "raw.rejects",
        [
            {
                "batch_id": batch_id,
                "format": request.format,
                "file_name": request.path.name,
                "row_number": reject.row_number,
                "reason": reject.reason,
                "row_text": reject.row_text,
            }
            for reject in counts.rejects
        ],
    )
    window = _window(work, request, batch_id) if request.format == "jobs" else (None, None)
    notes = list(context.notes)
    if window[1] is not None:
        notes.append(f"the log counts as whole from {window[0]:%Y-%m-%dT%H:%MZ} to {window[1]:%Y-%m-%dT%H:%MZ}")
    insert_rows(
        connection,
        "raw.batch",
        [
            {
                "batch_id": batch_id,
                "format": request.format,
                "file_name": request.path.name,
                "file_sha256": digest,
                "mapping_sha256": mapping.sha256,
                "site_id": request.site,
                "from_utc": window[0],
                "to_utc": window[1],
                "rows_read": counts.read,
                "rows_accepted": counts.accepted,
                "rows_rejected": len(counts.rejects),
                "rows_duplicate": counts.duplicates,
                "note": "; ".join(notes) or None,
            }
        ],
    )
    if same is not None:
        connection.execute("UPDATE raw.batch SET rows_rejected = 0 WHERE batch_id = ?", [same[0]])
    first = min(counts.rejects, key=lambda reject: reject.row_number, default=None)
    return Ingested(
        request.path.name,
        request.format,
        batch_id,
        mapping.name,
        counts.read,
        counts.accepted,
        len(counts.rejects),
        counts.duplicates,
        "" if first is None else f"{request.path.name}, row {first.row_number}: {first.reason}",
        tuple(notes),
    )


@dataclass(slots=True)
class _Counts:
    rejects: list[Reject]
    read: int = 0
    accepted: int = 0
    duplicates: int = 0


def _mapping(request: Request) -> Mapping:
    if request.mapping is not None:
        return load_mapping(request.mapping, request.format)
    return match_mapping(header_of(request.path), request.format, request.path.name)


def _context(work: Build, site_file: SiteFile, request: Request) -> Context:
    """Return what the importer may ask about the fleet."""
    if request.site is not None and request.site not in site_file.sites:
        near = did_you_mean(request.site, site_file.sites)
        raise SiteFileError(f"No site {request.site} in site.yaml.{near} Sites: {', '.join(site_file.sites)}.")
    if request.timezone is not None:
        zone_of(request.timezone)
    site: dict[str, str] = {}
    chip_id: dict[str, str | None] = {}
    chips: dict[str, int] = {}
    inventory = work.connection.execute(
        "SELECT host, site_id, chip_id, installed_chip_count FROM raw.host ORDER BY batch_id"
    ).fetchall()
    for host, site_id, host_chip, count in inventory:
        site[host], chip_id[host], chips[host] = site_id, host_chip, count
    for site_id, described in site_file.sites.items():
        for group in described.hosts:
            group_chip = site_file.chip_of_name(group.chip)
            for host in expand_pattern(group.pattern):
                site[host], chip_id[host], chips[host] = site_id, group_chip, group.chips
    return Context(
        site_id=request.site,
        timezone=request.timezone,
        site_of_host=site.get,
        chip_of_host=chip_id.get,
        chips_of_host=chips.get,
        chip_of_name=cache(site_file.chip_of_name),
        sites=tuple(site_file.sites),
    )


def _store_rows(
    work: Build, batches: Any, request: Request, mapping: Mapping, batch_id: int, context: Context
) -> _Counts:
    """Append typed rows that are new; count equal ones; refuse those that contradict what is stored."""
    del mapping, context
    counts = _Counts([])
    for batch in batches:
        counts.read += batch.rows_read
        counts.rejects += batch.rejects
        if batch.table.num_rows:
            _append(work, batch.table, request.format, batch_id, counts)
    return counts


def _append(work: Build, table: pa.Table, format_name: str, batch_id: int, counts: _Counts) -> None:
    connection = work.connection
    target = _RAW_TABLE[format_name]
    key = " AND ".join(f"known.{name} IS NOT DISTINCT FROM fresh.{name}" for name in _KEY[format_name])
    equal = " AND ".join(f"known.{name} IS NOT DISTINCT FROM fresh.{name}" for name in _VALUES[format_name])
    connection.register("incoming", table)
    partition = ", ".join(_KEY[format_name])
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT *, row_number() OVER (PARTITION BY {partition} "
        "ORDER BY row_number) AS occurrence FROM incoming"
    )
    connection.unregister("incoming")
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE verdict AS SELECT fresh.row_number, bool_or({equal}) AS is_equal, "
        f"bool_and({_MAY_FOLLOW[format_name]}) AS may_follow FROM fresh JOIN ("
        f"SELECT {partition}, {', '.join(_VALUES[format_name])} FROM {target} UNION ALL "
        f"SELECT {partition}, {', '.join(_VALUES[format_name])} FROM fresh WHERE occurrence = 1) AS known ON {key} "
        f"WHERE fresh.occurrence > 1 OR EXISTS (SELECT 1 FROM {target} AS known WHERE {key}) GROUP BY fresh.row_number"
    )
    counts.duplicates += _one(connection, "SELECT count(*) FROM verdict WHERE is_equal")
    for row_number, label in connection.execute(
        f"SELECT fresh.row_number, concat_ws(', ', {', '.join(f'fresh.{name}' for name in _KEY[format_name])}) "
        "FROM fresh JOIN verdict USING (row_number) WHERE NOT is_equal AND NOT may_follow ORDER BY 1"
    ).fetchall():
        reason = "contradicts a stored row of the same key: withdraw that file first if this row is right"
        counts.rejects.append(Reject(row_number, reason, str(label)))
    columns = [name for name in table.column_names if name not in ("row_number",)]
    key_column, key_value = "", ""
    if format_name == "jobs":
        key_column = ", job_key"
        key_value = f", (SELECT coalesce(max(job_key), 0) FROM {target}) + row_number() OVER (ORDER BY row_number)"
    before = _one(connection, f"SELECT count(*) FROM {target}")
    connection.execute(
        f"INSERT INTO {target} (batch_id, row_number, {', '.join(columns)}{key_column}) "
        f"SELECT {batch_id}, row_number, {', '.join(columns)}{key_value} FROM fresh "
        "WHERE row_number NOT IN (SELECT row_number FROM verdict WHERE is_equal OR NOT may_follow) ORDER BY row_number"
    )
    counts.accepted += _one(connection, f"SELECT count(*) FROM {target}") - before


def _one(connection: Any, sql: str) -> int:
    return int(connection.execute(sql).fetchall()[0][0])


def _window(work: Build, request: Request, batch_id: int) -> tuple[datetime | None, datetime | None]:
    """Return the time for which the log is whole: as told, else from its first start to the end of its last day."""
    first, last = first_row(
        work.connection,
        "SELECT min(start_utc), max(greatest(start_utc, coalesce(end_utc, start_utc))) FROM raw.job WHERE batch_id = ?",
        [batch_id],
    ) or (None, None)
    start, end = request.covers_from, request.covers_to
    if first is None:
        return start, end
    if start is None:
        start = first.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if end is None:
        midnight = last.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        end = midnight if midnight == last else midnight + timedelta(days=1)
    if start >= end:
        raise InputFileError(f"{request.path.name}: the log's window ends ({end:%Y-%m-%d}) before it starts.")
    return start, end


def _store_readings(
    work: Build, batches: Any, request: Request, mapping: Mapping, batch_id: int, context: Context
) -> _Counts:
    connection = work.connection
    known: dict[tuple[str, int], int] = {
        (host, index): key
        for key, host, index in connection.execute("SELECT device_key, host, device_index FROM core.device").fetchall()
    }
    first_new = len(known)
    following = max(known.values(), default=0) + 1

    def device_key(host: str, index: int) -> int:
        nonlocal following
        if (host, index) not in known:
            known[(host, index)] = following
            following += 1
        return known[(host, index)]

    stage = Stage(work.folder, batch_id, device_key, context.site_of_host, _interval_ms(mapping, request))
    counts = _Counts([])
    for batch in batches:
        counts.read += batch.rows_read
        counts.rejects += batch.rejects
        if batch.table.num_rows:
            stage.add(batch.table)
    current = {
        (site_id, day_number(date)): path
        for path, site_id, date in connection.execute(
            "SELECT partition_path, site_id, local_date FROM raw.telemetry_file"
        ).fetchall()
    }
    staged = stage.finish(current)
    fresh = list(known.items())[first_new:]
    insert_rows(
        connection,
        "core.device",
        [{"device_key": key, "host": host, "device_index": index} for (host, index), key in fresh],
    )
    for day in staged.days:
        if (day.site_id, day_number(day.local_date)) in current:
            _forget_file(work, current[(day.site_id, day_number(day.local_date))])
        _list_file(work, day)
    counts.rejects += staged.rejects
    counts.duplicates, counts.accepted = staged.duplicates, staged.accepted
    if mapping.interval is None and staged.interval_ms:
        context.notes.append(f"sampling interval {staged.interval_ms / 1000:g} s, found in the file")
    return counts


def _interval_ms(mapping: Mapping, request: Request) -> int | None:
    from energy import units

    if mapping.interval is None:
        return None
    try:
        seconds = float(units.read(mapping.interval, "s", field="interval").value.magnitude)
    except EnergyError as error:
        raise MappingError(f"{request.path.name}: mapping: {error}") from error
    if seconds <= 0:
        raise MappingError(f"{request.path.name}: mapping: interval must be longer than 0, got {mapping.interval}.")
    return round(seconds * 1000)
