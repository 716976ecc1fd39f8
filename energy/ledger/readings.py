"""Store the readings of one file beside the ledger, and take them out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from energy.errors import EnergyError, MappingError
from energy.importers import Context
from energy.importers.base import rejects_table
from energy.importers.mapping import Mapping
from energy.ledger.devices import Devices
from energy.ledger.fleet import HostSites
from energy.ledger.packages import once_each
from energy.ledger.rows import Counts, insert_rejects
from energy.ledger.store import Build
from energy.ledger.tables import insert_rows
from energy.ledger.telemetry import DayFile, Stage, Staged, day_number, read_all, write_day

if TYPE_CHECKING:
    import duckdb


def telemetry_files(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, int], str]:
    """Return the version's file of each site and day."""
    return {
        (site_id, day_number(date)): path
        for path, site_id, date in connection.execute(
            "SELECT partition_path, site_id, local_date FROM raw.telemetry_file ORDER BY 1"
        ).fetchall()
    }


def forget_file(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Take a telemetry file off the version's list; the file itself stays for earlier versions."""
    for table in ("raw.telemetry_file", "raw.telemetry_batch"):
        connection.execute(f"DELETE FROM {table} WHERE partition_path = ?", [path])


def list_file(connection: duckdb.DuckDBPyConnection, day: DayFile) -> None:
    """Put a telemetry file on the version's list."""
    columns = ("partition_path", "content_sha256", "site_id", "local_date", "row_count")
    insert_rows(connection, "raw.telemetry_file", [{name: getattr(day, name) for name in columns}])
    insert_rows(
        connection,
        "raw.telemetry_batch",
        [
            {"batch_id": number, "partition_path": day.partition_path, "row_count": count}
            for number, count in day.by_batch.items()
        ],
    )


def withdraw_readings(work: Build, batch_id: int) -> None:
    """Write the days of one file again without its rows."""
    connection = work.connection
    touched = connection.execute(
        "SELECT file.partition_path, file.site_id, file.local_date FROM raw.telemetry_batch AS part "
        "JOIN raw.telemetry_file AS file ON file.partition_path = part.partition_path WHERE part.batch_id = ?",
        [batch_id],
    ).fetchall()
    for path, site_id, date in touched:
        rows = read_all(work.folder / path)
        keep = rows["batch_id"] != batch_id
        forget_file(connection, path)
        if keep.any():
            kept = {name: values[keep] for name, values in rows.items()}
            list_file(connection, write_day(work.folder, (site_id, day_number(date)), kept))


def store_readings(
    work: Build, batches: Any, mapping: Mapping, batch_id: int, context: Context, file_name: str
) -> Counts:
    """Stage the readings of one file, merge them with the stored days, and list the new files."""
    devices = Devices.of(work.connection)
    stage = Stage(work.folder, batch_id, devices.key, HostSites(context.hosts), _interval_ms(mapping, file_name))
    counts = Counts()
    for batch in batches:
        counts.read += batch.rows_read
        insert_rejects(work.connection, batch.rejects, batch_id, "power", file_name)
        packages = once_each(batch.table, context.hosts, by_die=False)
        insert_rejects(work.connection, rejects_table(packages.rejects), batch_id, "power", file_name)
        if packages.table.num_rows:
            stage.add(packages.table)
    staged = stage.finish(telemetry_files(work.connection))
    devices.store(work.connection)
    if mapping.interval is not None:
        staged.interval_ms = 0  # given: nothing to say
    return list_staged(work, staged, counts, batch_id, file_name, "power", context)


def list_staged(
    work: Build, staged: Staged, counts: Counts, batch_id: int, file_name: str, format_name: str, context: Context
) -> Counts:
    """Put the merged days on the version's list, store what was refused, and complete the counts."""
    connection = work.connection
    current = telemetry_files(connection)
    for day in staged.days:
        if (day.site_id, day_number(day.local_date)) in current:
            forget_file(connection, current[(day.site_id, day_number(day.local_date))])
        list_file(connection, day)
    for rejects in staged.rejects:
        insert_rejects(connection, rejects, batch_id, format_name, file_name)
    counts.duplicates, counts.accepted = staged.duplicates, staged.accepted
    if staged.interval_ms:
        context.notes.append(f"sampling interval {staged.interval_ms / 1000:g} s, found in the file")
    return counts


def _interval_ms(mapping: Mapping, file_name: str) -> int | None:
    from energy import units

    if mapping.interval is None:
        return None
    try:
        seconds = float(units.read(mapping.interval, "s", field="interval").value.magnitude)
    except EnergyError as error:
        raise MappingError(f"{file_name}: mapping: {error}") from error
    if not 0.001 <= seconds <= 86_400:
        raise MappingError(
            f"{file_name}: mapping: interval must be between 1 ms and 1 day, got {mapping.interval}: correct it."
        )
    return round(seconds * 1000)
