"""Give the energy of readings to whoever held the device, one telemetry file at a time (``power.readings``).

A file is read again only when it, or the allocations of its day, have changed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.catalogue.chips import chip
from energy.ledger.telemetry import NONE, Arrays, day_number, read_day
from energy.power.chip import chip_power
from energy.power.readings import DAY_MS, TIER_CODES, Allocations, OwnedEnergy, Readings, energy_by_owner

if TYPE_CHECKING:
    import duckdb

MEASURED, INTEGRATED, MODELLED = range(3)


def register_devices(connection: duckdb.DuckDBPyConnection) -> None:
    """Give a key to every device that an allocation names and that has none yet; readings made theirs at ingest."""
    connection.execute(
        """
        INSERT INTO core.device
        SELECT (SELECT coalesce(max(device_key), 0) FROM core.device)
            + row_number() OVER (ORDER BY fresh.host, fresh.device_index), fresh.host, fresh.device_index
        FROM (
            SELECT DISTINCT host, device_index FROM raw.allocation
            EXCEPT SELECT host, device_index FROM core.device
        ) AS fresh
        """
    )


def attribute(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Bring ``core.device_hour`` up to date with the version's telemetry files and allocations."""
    files = connection.execute(
        "SELECT partition_path, site_id, local_date FROM raw.telemetry_file ORDER BY partition_path"
    ).fetchall()
    done: dict[str, str] = dict(
        connection.execute("SELECT partition_path, allocation_sha256 FROM core.attributed_file").fetchall()
    )
    current = {path for path, _, _ in files}
    kept: dict[str, str] = {}
    fresh: list[tuple[str, int, OwnedEnergy]] = []
    days_to_clear = {(Path(path).parts[1], Path(path).parts[2]) for path in set(done) - current}
    for path, site_id, date in files:
        number = day_number(date)
        held = _allocations(connection, site_id, number)
        digest = _digest(held, _tdp_by_device(connection, site_id))
        kept[path] = digest
        if done.get(path) != digest:
            days_to_clear.add((f"site={site_id}", f"date={date}"))
            owned = energy_by_owner(_readings(read_day(folder / path), connection, site_id), held)
            fresh.append((path, number, owned))
    for site_part, date_part in sorted(days_to_clear):
        _clear(connection, site_part.partition("=")[2], day_number(date_part.partition("=")[2]))
    for _, number, owned in fresh:
        _insert(connection, number, owned)
    connection.execute("DELETE FROM core.attributed_file")
    _insert_rows(connection, kept)


def _insert_rows(connection: duckdb.DuckDBPyConnection, kept: dict[str, str]) -> None:
    import pyarrow as pa

    if kept:
        connection.register("incoming", pa.table({"path": list(kept), "digest": list(kept.values())}))
        connection.execute("INSERT INTO core.attributed_file SELECT path, digest FROM incoming")
        connection.unregister("incoming")


def _allocations(connection: duckdb.DuckDBPyConnection, site_id: str, number: int) -> Allocations:
    """Return what was held on devices of a site on one day, with times in ms of that day."""
    start = number * DAY_MS
    rows = connection.execute(
        "SELECT allocation_key, device_key, chip_count, epoch_ms(start_utc) - ? AS start_ms, "
        "epoch_ms(end_utc) - ? AS end_ms FROM core.allocation WHERE site_id = ? AND device_key IS NOT NULL "
        "AND epoch_ms(start_utc) < ? AND epoch_ms(end_utc) > ? ORDER BY allocation_key",
        [start, start, site_id, start + DAY_MS, start],
    ).fetchnumpy()
    whole = {name: np.asarray(rows[name]).astype(np.int64) for name in ("allocation_key", "device_key")}
    times = {name: np.asarray(rows[name]).astype(np.int64) for name in ("start_ms", "end_ms")}
    share = np.asarray(rows["chip_count"]).astype(np.float64)
    return Allocations(whole["allocation_key"], whole["device_key"], share, times["start_ms"], times["end_ms"])


def _digest(held: Allocations, power: dict[int, tuple[float, float]]) -> str:
    digest = hashlib.sha256()
    for values in (held.allocation_key, held.device_key, held.share, held.start_ms, held.end_ms):
        digest.update(np.ascontiguousarray(values).tobytes())
    digest.update(repr(sorted(power.items())).encode())
    return digest.hexdigest()


def _tdp_by_device(connection: duckdb.DuckDBPyConnection, site_id: str) -> dict[int, tuple[float, float]]:
    """Return (idle, maximum) watts of each device of a site whose chip is known."""
    rows = connection.execute(
        "SELECT device.device_key, max(host.chip_id) FROM core.device AS device JOIN core.host AS host "
        "ON host.host = device.host WHERE host.site_id = ? AND host.chip_id IS NOT NULL GROUP BY 1 ORDER BY 1",
        [site_id],
    ).fetchall()
    out = {}
    for device_key, chip_id in rows:
        known = chip(chip_id)
        if known.idle_w is not None and known.tdp_w is not None:
            out[int(device_key)] = (known.idle_w, known.tdp_w)
    return out


def _readings(rows: Arrays, connection: duckdb.DuckDBPyConnection, site_id: str) -> Readings:
    """Turn stored rows into power by tier: energy first, then power, then utilisation through the curve.

    A row that gives utilisation alone, of a chip that is not disclosed, is no reading: its time stays a gap.
    """
    power = rows["power_milliw"].astype(np.int64)
    tier = np.full(power.size, INTEGRATED, np.int64)
    has_energy = rows["energy_microj"] != NONE
    interval = rows["interval_ms"].astype(np.int64)
    power[has_energy] = np.rint(rows["energy_microj"][has_energy] / interval[has_energy]).astype(np.int64)
    tier[has_energy] = MEASURED
    only_use = (power == NONE) & ~has_energy
    keep = np.ones(power.size, bool)
    if only_use.any():
        known = _tdp_by_device(connection, site_id)
        device = rows["device_key"][only_use]
        watts = np.array([known.get(key, (np.nan, np.nan)) for key in device.tolist()])
        modelled: Any = chip_power.kernel(watts[:, 0], watts[:, 1], rows["utilisation_pct"][only_use] / 100.0)
        at = np.flatnonzero(only_use)
        keep[at[~np.isfinite(modelled)]] = False
        power[at] = np.where(np.isfinite(modelled), np.rint(np.nan_to_num(modelled) * 1000), 0).astype(np.int64)
        tier[at] = MODELLED
    columns = (rows["device_key"].astype(np.int64), rows["time_ms"].astype(np.int64), power, interval, tier)
    return Readings(*(column if keep.all() else column[keep] for column in columns))


def _clear(connection: duckdb.DuckDBPyConnection, site_id: str, number: int) -> None:
    connection.execute(
        "DELETE FROM core.device_hour WHERE epoch_ms(hour_utc) >= ? AND epoch_ms(hour_utc) < ? AND device_key IN ("
        "SELECT device.device_key FROM core.device AS device JOIN core.host AS host ON host.host = device.host "
        "WHERE host.site_id = ?)",
        [number * DAY_MS, (number + 1) * DAY_MS, site_id],
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
    connection.execute("INSERT INTO core.device_hour SELECT * FROM incoming")
    connection.unregister("incoming")
