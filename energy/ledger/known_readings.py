"""Store the readings of a known format: each row to its device, each board once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from energy.errors import InputFileError
from energy.importers import Context
from energy.importers.base import Reject, rejects_table
from energy.importers.kinds import ACTIVITY
from energy.importers.places import outside_periods
from energy.ledger.devices import NODE_INDEX, Devices
from energy.ledger.fleet import HostSites
from energy.ledger.packages import BY_DIE, most_devices, not_stated, once_each
from energy.ledger.readings import list_staged, telemetry_files
from energy.ledger.rows import Counts, insert_rejects
from energy.ledger.store import Build
from energy.ledger.telemetry import NOT_KNOWN_MS, Stage

if TYPE_CHECKING:
    import pyarrow as pa


def store_known_readings(
    work: Build, batches: Any, kind: str, batch_id: int, context: Context, file_name: str, format_name: str
) -> Counts:
    """Stage the readings of one file of a known format, merge them with the stored days, and list the new files.

    Parameters
    ----------
    kind : str
        ``board_readings`` or ``node_readings``; ``part_readings`` are counted and not stored.

    Raises
    ------
    InputFileError
        No row of the file is a reading that can be stored.
    """
    devices = Devices.of(work.connection)
    sites = HostSites(context.hosts)
    stage = Stage(work.folder, batch_id, lambda *_: 0, sites, None, NOT_KNOWN_MS)
    counts = Counts()
    modules = parts = dies = 0
    unclear: set[str] = set()
    for batch in batches:
        counts.read += batch.rows_read
        insert_rejects(work.connection, batch.rejects, batch_id, format_name, file_name)
        table = batch.table
        if kind == "part_readings":
            parts += table.num_rows
            continue
        if kind == "board_readings":
            module = np.asarray([scope == "module" for scope in table.column("scope").to_pylist()], bool)
            modules += int(module.sum())
            table = _filter(table, ~module)
        if table.num_rows:
            table, refused = _placed(table, kind, context, sites, by_die=format_name in BY_DIE)
            insert_rejects(work.connection, refused, batch_id, format_name, file_name)
        if kind == "board_readings" and table.num_rows:
            if format_name in BY_DIE:
                unclear |= not_stated(table, context.hosts)
            packages = once_each(table, context.hosts, by_die=format_name in BY_DIE)
            table, dies = packages.table, dies + packages.joined
            insert_rejects(work.connection, rejects_table(packages.rejects), batch_id, format_name, file_name)
        if table.num_rows:
            stage.add_placed(*_with_devices(table, kind, devices))
    if modules:
        context.notes.append(f"{modules:,} readings are of modules with a processor, not of boards: not used")
    if dies:
        context.notes.append(f"{dies:,} readings are of dies for which another one reports: each package counts once")
    if unclear:
        context.notes.append(
            f"{', '.join(sorted(unclear)[:3])}: as many dies were read as site.yaml has chips, which are taken as "
            "packages of several dies: write chips_are: dies if they count dies"
        )
    if parts:
        context.notes.append(
            f"{parts:,} readings are of parts inside nodes, which node_overhead covers: checked, not stored, not added"
        )
    staged = stage.finish(telemetry_files(work.connection))
    devices.store(work.connection)
    if staged.joined:
        context.notes.append(f"{staged.joined:,} rows were joined with others of the same device and time")
    return list_staged(work, staged, counts, batch_id, file_name, format_name, context)


def _filter(table: pa.Table, keep: npt.NDArray[np.bool_]) -> pa.Table:
    import pyarrow as pa

    return table if keep.all() else table.filter(pa.array(keep))


def _placed(
    table: pa.Table, kind: str, context: Context, sites: HostSites, *, by_die: bool = False
) -> tuple[pa.Table, pa.Table]:
    """Fill in ``--host``, refuse rows that have no place, and forget utilisation of parts of a board."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if context.host is not None:
        host = pc.fill_null(table.column("host").combine_chunks(), context.host)
        table = table.set_column(table.column_names.index("host"), "host", host)
    names = ["host", "device_index"] if kind == "board_readings" else ["host"]
    text = [pc.fill_null(table.column(name).combine_chunks().cast(pa.string()), "") for name in names]
    placed = pc.binary_join_element_wise(*text, "\x1f").dictionary_encode()
    reasons = [
        _no_place(*value.split("\x1f"), context=context, by_die=by_die) for value in placed.dictionary.to_pylist()
    ]
    bad = np.array([reason is not None for reason in reasons])[np.asarray(placed.indices)]
    time_ms = np.asarray(table.column("time_ms").combine_chunks())
    away = ~bad & (sites.codes(pc.fill_null(_host_of(table), "").dictionary_encode(), time_ms) < 0)
    rejects = []
    for row in np.flatnonzero(bad).tolist():
        host, *index = placed[row].as_py().split("\x1f")
        said = f"host={host}" + (f", device_index={index[0]}" if index else "")
        rejects.append(Reject(table.column("row_number")[row].as_py(), str(reasons[placed.indices[row].as_py()]), said))
    for row in np.flatnonzero(away).tolist():
        host = placed[row].as_py().split("\x1f")[0]
        rejects.append(
            Reject(table.column("row_number")[row].as_py(), outside_periods(host, int(time_ms[row])), f"host={host}")
        )
    table = _filter(table, ~(bad | away))
    if kind == "board_readings" and table.num_rows:
        part = pc.is_valid(table.column("instance").combine_chunks())
        for name in ("utilisation_pct", *ACTIVITY):
            whole = pc.if_else(part, pa.scalar(None, pa.float32()), table.column(name).combine_chunks())
            table = table.set_column(table.column_names.index(name), name, whole)
    return table, rejects_table(rejects)


def _no_place(host: str, index: str = "", *, context: Context, by_die: bool = False) -> str | None:
    """Return why a reading has no place: no host, a host of no site, or a board that the host does not have."""
    if not host:
        return "the reading names no host: pass --host HOST"
    periods = context.hosts.get(host)
    if not periods:
        return f"host {host} is in no site: add it to hosts in site.yaml, or ingest an inventory"
    most = max(most_devices(period, by_die=by_die) for period in periods)
    if index and int(index) >= most:
        known = f" (0 to {most - 1})" if most else ""
        return f"device {index} of host {host}, which has {most}{known}: correct the index, or chips in site.yaml"
    return None


def _host_of(table: pa.Table) -> pa.Array:
    import pyarrow as pa

    return table.column("host").combine_chunks().cast(pa.string())


def _with_devices(table: pa.Table, kind: str, devices: Devices) -> tuple[pa.Table, npt.NDArray[np.int32]]:
    """Return the table and the device key of each row, by one look-up per distinct device."""
    import pyarrow as pa
    import pyarrow.compute as pc

    host = _host_of(table)
    table = table.set_column(table.column_names.index("host"), "host", host.dictionary_encode())
    text = [host]
    if kind == "board_readings":
        names = ("device_index", "uuid", "serial")
        text += [pc.fill_null(table.column(name).combine_chunks().cast(pa.string()), "") for name in names]
    joined = pc.binary_join_element_wise(*text, "\x1f").dictionary_encode()
    distinct = [value.split("\x1f") for value in joined.dictionary.to_pylist()]
    keys = np.zeros(len(distinct), np.int32)
    for place, value in enumerate(distinct):
        if kind == "node_readings":
            keys[place] = devices.key(value[0], NODE_INDEX)
        else:
            index = int(value[1]) if value[1] else None
            if index is None and not value[2] and not value[3]:
                raise InputFileError(f"readings of host {value[0]} name no device: neither index nor UUID nor serial.")
            keys[place] = devices.key(value[0], index, value[2] or None, value[3] or None)
    codes = np.asarray(joined.indices)
    if kind == "node_readings":
        size = table.num_rows
        table = table.append_column("utilisation_pct", pa.nulls(size, pa.float32()))
        table = table.append_column("energy_microj", pa.nulls(size, pa.int64()))
    return table, keys[codes]
