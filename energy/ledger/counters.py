"""Stored counters through the kernel of ``power.counters``, and what a counter says against what power says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from energy.ledger.telemetry import NONE, Arrays
from energy.power import counters
from energy.power.counters import Counted, is_late
from energy.power.readings import DAY_MS, HOUR_MS

if TYPE_CHECKING:
    import duckdb

_MICROJ_PER_KWH = 3.6e12


def counted_intervals(rows: Arrays, most_milliw: npt.NDArray[np.float64]) -> Counted:
    """Return the energy between readings of one device by its counter (``power.counters.counted_intervals``).

    Parameters
    ----------
    rows : dict of arrays
        In the order of device and time, with ``counter_microj`` (``NONE``: not read).
    most_milliw : array
        The most that each row's board can draw.
    """
    return counters.counted_intervals(
        rows["device_key"],
        rows["time_ms"],
        rows["counter_microj"],
        rows["power_milliw"],
        most_milliw,
        rows.get("counter_range_microj"),
    )


def insert_counter_hours(connection: duckdb.DuckDBPyConnection, number: int, rows: Arrays, counted: Counted) -> None:
    """Store, by device and hour, the faults of counters and both energies over intervals that have both in time."""
    import pyarrow as pa

    own = (rows["time_ms"] >= 0) & (rows["time_ms"] < DAY_MS)
    devices = np.unique(rows["device_key"][own & (rows["counter_microj"] != NONE)])
    if not devices.size:
        return
    of_device = own & np.isin(rows["device_key"], devices)
    device_hour = rows["device_key"][of_device].astype(np.int64) * 24 + rows["time_ms"][of_device] // HOUR_MS
    hours, place = np.unique(device_hour, return_inverse=True)
    in_time = ~is_late(counted.interval_ms, rows["interval_ms"].astype(np.int64))
    both = counted.is_good & (rows["power_milliw"] != NONE) & in_time
    length = counted.interval_ms.astype(np.float64)

    def total(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(place, weights=values[of_device], minlength=hours.size).astype(np.float64)

    counts = {
        "restart_count": counted.fell,
        "wrap_count": counted.wrapped,
        "ambiguous_wrap_count": counted.ambiguous,
        "stuck_count": counted.stood,
        "jump_count": counted.jumped,
    }
    energies = {
        "energy_by_counter_chip_kwh": np.where(both, counted.power_milliw * length, 0.0),
        "energy_by_power_chip_kwh": np.where(both, rows["power_milliw"] * length, 0.0),
        "least_energy_chip_kwh": counted.least_microj.astype(np.float64),
    }
    table = pa.table(
        {
            "device_key": hours // 24,
            "hour_utc": pa.array(number * DAY_MS + hours % 24 * HOUR_MS).cast(pa.timestamp("ms", "UTC")),
            **{name: total(values.astype(np.float64)).astype(np.int64) for name, values in counts.items()},
            **{name: total(values) / _MICROJ_PER_KWH for name, values in energies.items()},
        }
    )
    connection.register("incoming", table)
    names = ", ".join(table.column_names)
    connection.execute(f"INSERT INTO core.counter_hour ({names}) SELECT {names} FROM incoming")
    connection.unregister("incoming")
