"""Stored counters of one day as energy between readings, and what a counter says against what power says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from energy.ledger.telemetry import NONE, Arrays, day_text

if TYPE_CHECKING:
    import duckdb

_MICROJ_PER_KWH = 3.6e12


@dataclass(frozen=True, slots=True)
class Counted:
    """For each row of a day, what the counter says until the device's next reading.

    Attributes
    ----------
    is_good : bool array
        The interval's energy is known from the counter.
    power_milliw, interval_ms : int array
        Mean power and length of the interval, where it is good.
    fell, stood, jumped : bool array
        Why it is not: the counter fell (restart or wrap), stood still under power, or rose by more than can be.
    """

    is_good: npt.NDArray[np.bool_]
    power_milliw: npt.NDArray[np.int64]
    interval_ms: npt.NDArray[np.int64]
    fell: npt.NDArray[np.bool_]
    stood: npt.NDArray[np.bool_]
    jumped: npt.NDArray[np.bool_]


def counted_intervals(rows: Arrays, most_milliw: npt.NDArray[np.float64]) -> Counted:
    """Return the energy between neighbouring readings of one device by its counter.

    A counter that falls has restarted: the energy of that interval is not known from it. One that stands still while
    the board draws power is stuck: a board never draws nothing. Energy over the end of the day is left to the other
    readings.

    Parameters
    ----------
    rows : dict of arrays
        One day in the order of device and time, with ``counter_microj`` (``NONE``: not read).
    most_milliw : array
        The most that each row's board can draw.

    Notes
    -----
    P = (c[i+1] - c[i]) / (t[i+1] - t[i]); whole microjoules over whole milliseconds are milliwatts.
    """
    size = rows["time_ms"].size
    counter, time = rows["counter_microj"], rows["time_ms"].astype(np.int64)
    rise, step = np.zeros(size, np.int64), np.ones(size, np.int64)
    pair = np.zeros(size, bool)
    if size > 1:
        pair[:-1] = (np.diff(rows["device_key"]) == 0) & (counter[1:] != NONE) & (counter[:-1] != NONE)
        rise[:-1] = np.where(pair[:-1], counter[1:] - counter[:-1], 0)
        step[:-1] = np.where(pair[:-1], np.diff(time), 1)
    fell = pair & (rise < 0)
    stood = pair & (rise == 0)
    jumped = pair & (rise > most_milliw * step)
    good = pair & ~fell & ~stood & ~jumped
    power = np.zeros(size, np.int64)
    power[good] = np.rint(rise[good] / step[good]).astype(np.int64)
    return Counted(good, power, step, fell, stood, jumped)


def insert_counter_days(connection: duckdb.DuckDBPyConnection, number: int, rows: Arrays, counted: Counted) -> None:
    """Store, for each device with a counter, its faults and both energies over the intervals that have both."""
    import pyarrow as pa

    has_counter = rows["counter_microj"] != NONE
    if not has_counter.any():
        return
    devices, place = np.unique(rows["device_key"][has_counter], return_inverse=True)
    both = counted.is_good & (rows["power_milliw"] != NONE)
    length = counted.interval_ms.astype(np.float64)

    def total(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(place, weights=values[has_counter], minlength=devices.size).astype(np.float64)

    table = pa.table(
        {
            "device_key": devices.astype(np.int64),
            "local_date": [day_text(number)] * devices.size,
            **{
                name: total(values.astype(np.float64)).astype(np.int64)
                for name, values in (
                    ("restart_count", counted.fell),
                    ("stuck_count", counted.stood),
                    ("jump_count", counted.jumped),
                )
            },
            "energy_by_counter_chip_kwh": total(np.where(both, counted.power_milliw * length, 0.0)) / _MICROJ_PER_KWH,
            "energy_by_power_chip_kwh": total(np.where(both, rows["power_milliw"] * length, 0.0)) / _MICROJ_PER_KWH,
        }
    )
    connection.register("incoming", table)
    connection.execute("INSERT INTO core.counter_day SELECT * FROM incoming")
    connection.unregister("incoming")
