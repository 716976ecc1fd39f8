"""Give the energy of readings to whoever held the device, one UTC day at a time (``power.readings``).

A day is read again only when its files, the allocations of that day or the chips of its hosts have changed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from energy.catalogue.chips import chip
from energy.importers.power import MOST_OF_TDP
from energy.importers.reading_rows import MOST_NODE_W
from energy.ledger.counters import Counted, counted_intervals, insert_counter_hours
from energy.ledger.telemetry import NONE, NOT_KNOWN_MS, Arrays, combined, day_number, read_day
from energy.power.chip import chip_power
from energy.power.readings import DAY_MS, TIER_CODES, Allocations, OwnedEnergy, Readings, energy_by_owner, sort_order

if TYPE_CHECKING:
    import duckdb

MEASURED, INTEGRATED, MODELLED = range(3)
_ALONE_MS = 30_000  # a device that was read once in a day: what exporters are collected at by default


def register_devices(connection: duckdb.DuckDBPyConnection) -> None:
    """Give a key to every device that an allocation names and that has none yet; readings made theirs at ingest."""
    connection.execute(
        """
        INSERT INTO core.device
        SELECT (SELECT coalesce(max(device_key), 0) FROM core.device)
            + row_number() OVER (ORDER BY fresh.host, fresh.device_index), fresh.host, fresh.device_index, 'board',
            NULL, NULL
        FROM (
            SELECT DISTINCT host, device_index FROM raw.allocation
            EXCEPT SELECT host, device_index FROM core.device
        ) AS fresh
        """
    )


def attribute(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Bring ``core.device_hour`` up to date with the version's telemetry files and allocations, UTC day by UTC day."""
    days: dict[int, list[str]] = {}
    for path, date in connection.execute(
        "SELECT partition_path, local_date FROM raw.telemetry_file ORDER BY partition_path"
    ).fetchall():
        days.setdefault(day_number(date), []).append(path)
    done: dict[str, str] = dict(
        connection.execute("SELECT partition_path, allocation_sha256 FROM core.attributed_file").fetchall()
    )
    for number in {day_number(Path(path).parts[2].partition("=")[2]) for path in done} - set(days):
        _clear(connection, number)
    kept: dict[str, str] = {}
    for number, paths in sorted(days.items()):
        held = _allocations(connection, number)
        curves = _curves(connection, number)
        digest = _digest(paths, held, curves)
        kept |= dict.fromkeys(paths, digest)
        if any(done.get(path) != digest for path in paths):
            _clear(connection, number)
            for rows in _day_rows(folder, paths):
                _set_intervals(rows)
                counted = counted_intervals(rows, _limits(rows, curves))
                insert_counter_hours(connection, number, rows, counted)
                _insert(connection, number, energy_by_owner(_readings(rows, curves, counted), held))
    connection.execute("DELETE FROM core.attributed_file")
    _insert_rows(connection, kept)


def _day_rows(folder: Path, paths: list[str]) -> list[Arrays]:
    """Read the files of one day; where a host changed its site between two files, its boards still count once."""
    days = [read_day(folder / path) for path in paths]
    devices = [np.unique(rows["device_key"]) for rows in days]
    if len(days) == 1 or np.unique(np.concatenate(devices)).size == sum(keys.size for keys in devices):
        return days
    # of two readings of one device and time the one that was stored first counts, as it does within a file
    days.sort(key=lambda rows: int(rows["batch_id"].min()))
    both = {name: np.concatenate([rows[name] for rows in days]) for name in days[0]}
    order = sort_order(both["device_key"], both["time_ms"].astype(np.int64))
    return [combined({name: values[order] for name, values in both.items()})]


def _set_intervals(rows: Arrays) -> None:
    """Give readings of files that do not tell their interval the most frequent step between such readings that day."""
    unknown = rows["interval_ms"] == NOT_KNOWN_MS
    if not unknown.any():
        return
    step = np.diff(rows["time_ms"])
    step = step[(np.diff(rows["device_key"]) == 0) & unknown[1:] & unknown[:-1]]
    values, count = np.unique(step, return_counts=True)
    usual = int(values[np.argmax(count)]) if step.size else _ALONE_MS
    rows["interval_ms"] = np.where(unknown, usual, rows["interval_ms"]).astype(np.int32)


def _insert_rows(connection: duckdb.DuckDBPyConnection, kept: dict[str, str]) -> None:
    import pyarrow as pa

    if kept:
        connection.register("incoming", pa.table({"path": list(kept), "digest": list(kept.values())}))
        connection.execute("INSERT INTO core.attributed_file SELECT path, digest FROM incoming")
        connection.unregister("incoming")


def _allocations(connection: duckdb.DuckDBPyConnection, number: int) -> Allocations:
    """Return what was held on devices on one day, with times in ms of that day."""
    start = number * DAY_MS
    rows = connection.execute(
        "SELECT allocation_key, device_key, chip_count, epoch_ms(start_utc) - ? AS start_ms, "
        "epoch_ms(end_utc) - ? AS end_ms FROM core.allocation WHERE device_key IS NOT NULL "
        "AND epoch_ms(start_utc) < ? AND epoch_ms(end_utc) > ? ORDER BY allocation_key",
        [start, start, start + DAY_MS, start],
    ).fetchnumpy()
    whole = {name: np.asarray(rows[name]).astype(np.int64) for name in ("allocation_key", "device_key")}
    times = {name: np.asarray(rows[name]).astype(np.int64) for name in ("start_ms", "end_ms")}
    share = np.asarray(rows["chip_count"]).astype(np.float64)
    return Allocations(whole["allocation_key"], whole["device_key"], share, times["start_ms"], times["end_ms"])


def _digest(paths: list[str], held: Allocations, curves: list[Curve]) -> str:
    """Return what a day's result depends on; a file's path holds the hash of its content."""
    digest = hashlib.sha256("\n".join(paths).encode())
    for values in (held.allocation_key, held.device_key, held.share, held.start_ms, held.end_ms):
        digest.update(np.ascontiguousarray(values).tobytes())
    digest.update(repr(curves).encode())
    return digest.hexdigest()


class Curve(NamedTuple):
    """Idle and maximum watts of a device while its host holds one kind of chip, times in ms of the day."""

    device_key: int
    start_ms: int
    end_ms: int
    idle_w: float
    tdp_w: float


def _curves(connection: duckdb.DuckDBPyConnection, number: int) -> list[Curve]:
    """Return the curves of one day's devices whose chip is known; a host may change its chips."""
    start = number * DAY_MS
    rows = connection.execute(
        "SELECT device.device_key, host.chip_id, coalesce(epoch_ms(host.from_utc) - ?, 0), "
        "coalesce(epoch_ms(host.to_utc) - ?, ?) FROM core.device AS device JOIN core.host AS host "
        "ON host.host = device.host WHERE device.device_scope = 'board' AND host.chip_id IS NOT NULL "
        "AND coalesce(epoch_ms(host.from_utc) < ?, true) "
        "AND coalesce(epoch_ms(host.to_utc) > ?, true) ORDER BY 1, 3, 2",
        [start, start, DAY_MS, start + DAY_MS, start],
    ).fetchall()
    return [
        Curve(int(device_key), max(0, int(begin)), min(DAY_MS, int(end)), known.idle_w, known.tdp_w)
        for device_key, known, begin, end in ((key, chip(name), begin, end) for key, name, begin, end in rows)
        if known.idle_w is not None and known.tdp_w is not None
    ]


def _modelled_w(rows: Arrays, curves: list[Curve]) -> npt.NDArray[np.float64]:
    """Return watts by utilisation; NaN where the chip is not known at that time."""
    watts = np.full((rows["time_ms"].size, 2), np.nan)
    begin = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="left")
    finish = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="right")
    for curve, first, last in zip(curves, begin.tolist(), finish.tolist(), strict=True):
        time = rows["time_ms"][first:last]
        watts[first:last][(time >= curve.start_ms) & (time < curve.end_ms)] = (curve.idle_w, curve.tdp_w)
    modelled: npt.NDArray[np.float64] = chip_power.kernel(watts[:, 0], watts[:, 1], rows["utilisation_pct"] / 100.0)
    return modelled


def _limits(rows: Arrays, curves: list[Curve]) -> npt.NDArray[np.float64]:
    """Return the most that each row's board can draw, in mW; of plugs and unknown chips what no node draws."""
    most = np.full(rows["time_ms"].size, MOST_NODE_W * 1000)
    begin = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="left")
    finish = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="right")
    for curve, first, last in zip(curves, begin.tolist(), finish.tolist(), strict=True):
        time = rows["time_ms"][first:last]
        most[first:last][(time >= curve.start_ms) & (time < curve.end_ms)] = MOST_OF_TDP * curve.tdp_w * 1000
    return most


def _readings(rows: Arrays, curves: list[Curve], counted: Counted) -> Readings:
    """Turn stored rows into power by tier: energy first, then power, then utilisation through the curve.

    A counter gives the energy until the device's next reading, also over readings that are missing in between.

    A row that gives utilisation alone, of a chip that is not disclosed, is no reading: its time stays a gap.
    """
    power = rows["power_milliw"].astype(np.int64)
    tier = np.full(power.size, INTEGRATED, np.int64)
    has_energy = rows["energy_microj"] != NONE
    interval = rows["interval_ms"].astype(np.int64)
    power[has_energy] = np.rint(rows["energy_microj"][has_energy] / interval[has_energy]).astype(np.int64)
    tier[has_energy] = MEASURED
    power[counted.is_good] = counted.power_milliw[counted.is_good]
    interval[counted.is_good] = counted.interval_ms[counted.is_good]
    tier[counted.is_good] = MEASURED
    only_use = (power == NONE) & ~has_energy
    keep = np.ones(power.size, bool)
    nothing = only_use & np.isnan(rows["utilisation_pct"])  # a counter alone, whose interval is not known
    keep[nothing] = False
    only_use &= ~nothing
    if only_use.any():
        modelled = _modelled_w({name: values[only_use] for name, values in rows.items()}, curves)
        at = np.flatnonzero(only_use)
        keep[at[~np.isfinite(modelled)]] = False
        power[at] = np.where(np.isfinite(modelled), np.rint(np.nan_to_num(modelled) * 1000), 0).astype(np.int64)
        tier[at] = MODELLED
    columns = (rows["device_key"].astype(np.int64), rows["time_ms"].astype(np.int64), power, interval, tier)
    readings = Readings(*(column if keep.all() else column[keep] for column in columns))
    return _from_its_time_on(readings, (rows["interval_ms"] if keep.all() else rows["interval_ms"][keep]))


def _from_its_time_on(readings: Readings, sampling_ms: npt.NDArray[np.int64]) -> Readings:
    """Keep a device's first reading from standing for more than one sampling interval before it.

    Counted energy until the next reading may have a long interval, which must not reach back to midnight: such a
    reading is cut in two, and only its first part is short enough to ask.
    """
    first = np.ones(readings.time_ms.size, bool)
    first[1:] = readings.device_key[1:] != readings.device_key[:-1]
    at = np.flatnonzero(first & (sampling_ms <= readings.time_ms) & (readings.time_ms < readings.interval_ms))
    if not at.size:
        return readings
    cut = sampling_ms[at].astype(np.int64)
    time = np.insert(readings.time_ms, at + 1, readings.time_ms[at] + cut)
    interval = readings.interval_ms.copy()
    interval[at] = cut
    interval = np.insert(interval, at + 1, readings.interval_ms[at] - cut)
    rest = (np.insert(values, at + 1, values[at]) for values in (readings.power_milliw, readings.tier_code))
    power, tier = rest
    return Readings(np.insert(readings.device_key, at + 1, readings.device_key[at]), time, power, interval, tier)


def _clear(connection: duckdb.DuckDBPyConnection, number: int) -> None:
    for table in ("core.device_hour", "core.node_hour", "core.counter_hour"):
        connection.execute(
            f"DELETE FROM {table} WHERE epoch_ms(hour_utc) >= ? AND epoch_ms(hour_utc) < ?",
            [number * DAY_MS, (number + 1) * DAY_MS],
        )


def _insert(connection: duckdb.DuckDBPyConnection, number: int, owned: OwnedEnergy) -> None:
    import pyarrow as pa

    hour_ms = number * DAY_MS + owned.hour * 3_600_000
    table = pa.table(
        {
            "device_key": owned.device_key,
            "hour_utc": pa.array(hour_ms).cast(pa.timestamp("ms", "UTC")),
            "allocation_key": pa.array(owned.allocation_key, mask=owned.allocation_key < 0),
            "tier": pa.array(np.array(TIER_CODES)[owned.tier_code]),
            "sample_count": owned.sample_count,
            "covered_chip_ms": owned.covered_ms,
            "energy_chip_microj": owned.energy_microj,
        }
    )
    connection.register("incoming", table)
    connection.execute(
        "INSERT INTO core.node_hour SELECT device.host, incoming.hour_utc, sum(incoming.sample_count), "
        "sum(incoming.covered_chip_ms), sum(incoming.energy_chip_microj) FROM incoming "
        "JOIN core.device AS device ON device.device_key = incoming.device_key "
        "WHERE device.device_scope = 'node' GROUP BY device.host, incoming.hour_utc"
    )
    connection.execute(
        "INSERT INTO core.device_hour SELECT incoming.* FROM incoming JOIN core.device AS device "
        "ON device.device_key = incoming.device_key WHERE device.device_scope = 'board'"
    )
    connection.unregister("incoming")
