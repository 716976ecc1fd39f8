"""Give the energy of readings to whoever held the device, one UTC day at a time (``power.readings``).

A day is read again only when its files, those of the day before or after, the allocations of that day or the chips of
its hosts have changed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from energy.importers.power import MOST_OF_TDP
from energy.importers.reading_rows import MOST_NODE_W
from energy.ledger.counters import counted_intervals, insert_counter_hours
from energy.ledger.day_rows import DayRows
from energy.ledger.modelled import Curve, HeldSpans, Model, modelled_rows
from energy.ledger.telemetry import NONE, Arrays, day_number
from energy.power.counters import Counted, Held, held_and_bridged, is_late
from energy.power.readings import (
    BRIDGED,
    DAY_MS,
    INTEGRATED,
    MEASURED,
    POWER_MODELS,
    TIER_CODES,
    Allocations,
    Ints,
    OwnedEnergy,
    Readings,
    energy_by_owner,
)
from energy.power.utilisation import Share, levels_of

if TYPE_CHECKING:
    import duckdb

# a version that follows other rules is reckoned again
_RULES = "chained over midnight, short gaps bridged, use and activity through the curve of states"


def register_devices(connection: duckdb.DuckDBPyConnection) -> None:
    """Give a key to every device that an allocation names and that has none yet; readings made theirs at ingest."""
    connection.execute(
        """
        INSERT INTO core.device
        SELECT (SELECT coalesce(max(device_key), 0) FROM core.device)
            + row_number() OVER (ORDER BY fresh.host, fresh.device_index), fresh.host, fresh.device_index, 'board',
            NULL, NULL
        FROM (
            SELECT DISTINCT host, device_index FROM given_allocation
            EXCEPT SELECT host, device_index FROM core.device
        ) AS fresh
        """
    )


def attribute(connection: duckdb.DuckDBPyConnection, folder: Path, share: Share) -> None:
    """Bring ``core.device_hour`` up to date with the version's telemetry files and allocations, UTC day by UTC day.

    ``share`` is the working share of chips of which only the share of time with a kernel was read.
    """
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
    day_rows = DayRows(folder, days)
    for number, paths in sorted(days.items()):
        held = _allocations(connection, number)
        curves = _curves(connection, number)
        spans = _held_spans(connection, number)
        beside = [path for day in (number - 1, number, number + 1) for path in days.get(day, [])]
        digest = _digest(beside, held, curves, Model(spans, share))
        kept |= dict.fromkeys(paths, digest)
        if any(done.get(path) != digest for path in paths):
            _clear(connection, number)
            for rows in day_rows.of(number):
                counted = counted_intervals(rows, _limits(rows, curves))
                insert_counter_hours(connection, number, rows, counted)
                readings = _readings(rows, curves, counted, Model(spans, share))
                _insert(connection, number, energy_by_owner(readings, held))
    connection.execute("DELETE FROM core.attributed_file")
    _insert_rows(connection, kept)


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


# Where jobs name no device, a board is held for sure while the jobs of its host together hold every board of it.
_HELD_SPANS = """
WITH held AS (
    SELECT host, device_key, chip_count, epoch_ms(start_utc) - $start AS start_ms, epoch_ms(end_utc) - $start AS end_ms
    FROM core.allocation
    WHERE epoch_ms(start_utc) < $start + 2 * $day AND epoch_ms(end_utc) > $start - $day AND end_utc > start_utc
),
change AS (
    SELECT host, start_ms AS at_ms, CAST(chip_count AS DECIMAL(18, 6)) AS chips FROM held
    UNION ALL
    SELECT host, end_ms, -CAST(chip_count AS DECIMAL(18, 6)) FROM held
),
level AS (
    SELECT host, at_ms, sum(sum(chips)) OVER (PARTITION BY host ORDER BY at_ms) AS chips,
        lead(at_ms) OVER (PARTITION BY host ORDER BY at_ms) AS until_ms
    FROM change
    WHERE host IN (SELECT host FROM held WHERE device_key IS NULL AND host IS NOT NULL)
    GROUP BY host, at_ms
)
SELECT device_key, start_ms, end_ms FROM held WHERE device_key IS NOT NULL
UNION ALL
SELECT device.device_key, level.at_ms, level.until_ms
FROM level
JOIN core.host AS host ON host.host = level.host AND host.installed_chip_count > 0
    AND coalesce(epoch_ms(host.from_utc) - $start <= level.at_ms, true)
    AND coalesce(epoch_ms(host.to_utc) - $start > level.at_ms, true)
JOIN core.device AS device ON device.host = level.host AND device.device_scope = 'board'
WHERE level.until_ms IS NOT NULL AND level.chips >= host.installed_chip_count - 0.001
ORDER BY ALL
"""


def _held_spans(connection: duckdb.DuckDBPyConnection, number: int) -> HeldSpans:
    """Return when devices were held, from the day before to the day after: neighbours judge readings alike."""
    rows = connection.execute(_HELD_SPANS, {"start": number * DAY_MS, "day": DAY_MS}).fetchnumpy()
    return HeldSpans(*(np.asarray(rows[name]).astype(np.int64) for name in ("device_key", "start_ms", "end_ms")))


def _digest(paths: list[str], held: Allocations, curves: list[Curve], model: Model) -> str:
    """Return what a day's result depends on; a file's path holds the hash of its content."""
    digest = hashlib.sha256("\n".join([_RULES, *paths]).encode())
    spans = model.spans
    for values in (held.allocation_key, held.device_key, held.share, held.start_ms, held.end_ms, *spans):
        digest.update(np.ascontiguousarray(values).tobytes())
    digest.update(repr((curves, model.share)).encode())
    return digest.hexdigest()


def _curves(connection: duckdb.DuckDBPyConnection, number: int) -> list[Curve]:
    """Return the curves of one day's devices whose chip is known; a host may change its chips."""
    start = number * DAY_MS
    rows = connection.execute(
        "SELECT device.device_key, host.chip_id, coalesce(epoch_ms(host.from_utc) - ?, ?), "
        "coalesce(epoch_ms(host.to_utc) - ?, ?) FROM core.device AS device JOIN core.host AS host "
        "ON host.host = device.host WHERE device.device_scope = 'board' AND host.chip_id IS NOT NULL "
        "AND coalesce(epoch_ms(host.from_utc) < ?, true) "
        "AND coalesce(epoch_ms(host.to_utc) > ?, true) ORDER BY 1, 3, 2",
        [start, -DAY_MS, start, 2 * DAY_MS, start + 2 * DAY_MS, start - DAY_MS],
    ).fetchall()
    return [
        Curve(int(device_key), max(-DAY_MS, int(begin)), min(2 * DAY_MS, int(end)), levels_of(name))
        for device_key, name, begin, end in rows
    ]


def _limits(rows: Arrays, curves: list[Curve]) -> npt.NDArray[np.float64]:
    """Return the most that each row's board can draw, in mW; of plugs and unknown chips what no node draws."""
    most = np.full(rows["time_ms"].size, MOST_NODE_W * 1000)
    if not (rows["counter_microj"] != NONE).any():  # only a counter is judged by it
        return most
    begin = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="left")
    finish = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="right")
    for curve, first, last in zip(curves, begin.tolist(), finish.tolist(), strict=True):
        time = rows["time_ms"][first:last]
        is_there = (time >= curve.start_ms) & (time < curve.end_ms)
        most[first:last][is_there] = MOST_OF_TDP * curve.levels.limit_high_w * 1000
    return most


def _readings(rows: Arrays, curves: list[Curve], counted: Counted, model: Model) -> Readings:
    """Turn stored rows into power by tier: energy first, then power, then activity or use through a model.

    A counter gives the energy until the device's next reading, also over readings that are missing in between. Short
    gaps are bridged, with the tier "modelled". A row that gives utilisation alone, of a chip that is not disclosed, is
    no reading: its time stays a gap.
    """
    power = rows["power_milliw"].astype(np.int64)
    sampling = rows["interval_ms"].astype(np.int64)
    tier = np.full(power.size, INTEGRATED, np.int64)
    counted_ms = np.zeros(power.size, np.int64)
    has_energy = rows["energy_microj"] != NONE
    if has_energy.any():
        power[has_energy] = np.rint(rows["energy_microj"][has_energy] / sampling[has_energy]).astype(np.int64)
        tier[has_energy] = MEASURED
        # an energy is of its interval; where the next reading is a little late it stands until then, as power does
        alone = has_energy & is_late(counted.interval_ms, sampling)
        counted_ms[alone] = sampling[alone]
    power[counted.is_good] = counted.power_milliw[counted.is_good]
    counted_ms[counted.is_good] = counted.interval_ms[counted.is_good]
    tier[counted.is_good] = MEASURED
    keep = modelled_rows(rows, curves, model, power, tier)
    at = np.flatnonzero(keep)
    may_bridge = _may_bridge(keep, at, counted)
    device, time = rows["device_key"].astype(np.int64), rows["time_ms"].astype(np.int64)
    columns = [device, time, power, sampling, counted_ms]
    device, time, power, sampling, counted_ms = columns if keep.all() else [column[at] for column in columns]
    held = held_and_bridged(device, time, power, sampling, counted_ms, may_bridge)
    return _of_day(device, tier if keep.all() else tier[at], sampling, held, bool(counted_ms.any()))


def _may_bridge(keep: npt.NDArray[np.bool_], at: Ints, counted: Counted) -> npt.NDArray[np.bool_]:
    """Return which kept rows may be bridged to the next: no more than one row between says nothing, and why is clear.

    So a bridge depends on the intervals beside it alone, and days that are reckoned one by one agree on it.
    """
    if at.size in (0, keep.size):
        return np.ones(at.size, bool)
    unclear = np.cumsum(counted.is_unclear & ~keep)
    return np.append((unclear[at[1:]] == unclear[at[:-1]]) & (np.diff(at) <= 2), False)


def _of_day(device: Ints, tier: Ints, sampling: Ints, held: Held, has_counted: bool) -> Readings:
    """Cut what stands for a part of the day out of a series, long parts in pieces of one sampling interval.

    Each piece belongs to whoever holds the device when it begins, as if the missing readings were there.
    """
    start, end = np.maximum(held.start_ms, 0), np.minimum(held.end_ms, DAY_MS)
    inside = np.flatnonzero(end > start)
    row, power, start, end = (values[inside] for values in (held.row, held.power_milliw, start, end))
    tiers = tier[row]
    has_bridges = bool(held.is_bridged.any())
    if has_bridges:
        tiers[held.is_bridged[inside]] = BRIDGED
    if not (has_bridges or has_counted):
        return Readings(device[row], start, power, end, tiers)
    step = sampling[row]
    long = is_late(end - start, step)
    count = np.where(long, -((start - end) // step), 1)
    piece = np.repeat(np.arange(row.size), count)
    number = np.arange(piece.size) - np.repeat(np.cumsum(count) - count, count)
    from_ms = start[piece] + number * step[piece]
    to_ms = np.where(number == count[piece] - 1, end[piece], from_ms + step[piece])
    return Readings(device[row][piece], from_ms, power[piece], to_ms, tiers[piece])


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
            "power_model": pa.array(np.array(POWER_MODELS, object)[owned.tier_code], pa.string()),
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
