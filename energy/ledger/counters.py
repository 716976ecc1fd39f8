"""Stored counters of one day as energy between readings, and what a counter says against what power says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from energy.ledger.telemetry import NONE, Arrays
from energy.power.readings import DAY_MS, HOUR_MS, LATE_BY_DENOMINATOR, LATE_BY_NUMERATOR, Ints

if TYPE_CHECKING:
    import duckdb

_MICROJ_PER_KWH = 3.6e12
_LEAST_OF_POWER, _MOST_OF_POWER = 0.7, 1.4  # a coarse counter stands still and then rises by about what power says
_MOST_OF_A_RISE = 2.0  # at the end of a day it may stand still for less than this many of its largest rises


@dataclass(frozen=True, slots=True)
class Counted:
    """For each row of a day, what the counter says until the device's next reading.

    Attributes
    ----------
    is_good : bool array
        The energy until the next reading is known from the counter.
    power_milliw, interval_ms : int array
        Mean power by the counter where it is good, and time to the device's next reading (0 for the last one).
    fell, stood, jumped : int array
        How often it is not known: the counter fell (restart or wrap), stood still, or rose by more than can be.
    """

    is_good: npt.NDArray[np.bool_]
    power_milliw: npt.NDArray[np.int64]
    interval_ms: npt.NDArray[np.int64]
    fell: npt.NDArray[np.int64]
    stood: npt.NDArray[np.int64]
    jumped: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of readings of one device in which its counter stays the same, and the rise to the next run.

    ``begin`` and ``close`` are rows; ``close`` is the first row of the next run, or the last row of an open one.
    """

    begin: Ints
    close: Ints
    is_closed: npt.NDArray[np.bool_]
    flat: Ints
    rise: Ints
    length_ms: Ints


def _runs(rows: Arrays) -> _Runs:
    at = np.flatnonzero(rows["counter_microj"] != NONE)
    device, counter = rows["device_key"][at], rows["counter_microj"][at]
    new = np.ones(at.size, bool)
    new[1:] = (device[1:] != device[:-1]) | (counter[1:] != counter[:-1])
    first = np.flatnonzero(new)
    following = np.append(first[1:], at.size)
    is_closed = np.zeros(first.size, bool)
    is_closed[:-1] = device[first[1:]] == device[first[:-1]]
    begin = at[first]
    close = np.where(is_closed, at[np.minimum(following, at.size - 1)], at[following - 1])
    time = rows["time_ms"].astype(np.int64)
    rise = rows["counter_microj"][close] - rows["counter_microj"][begin]
    return _Runs(begin, close, is_closed, following - first - 1, rise, time[close] - time[begin])


def _energy_by_power(rows: Arrays, step: Ints, runs: _Runs) -> npt.NDArray[np.float64]:
    """Return the energy over each run by its power readings; NaN where some are missing."""
    power = rows["power_milliw"]
    known = power != NONE
    energy = np.concatenate([[0.0], np.cumsum(np.where(known, power, 0).astype(np.float64) * step)])
    gaps = np.concatenate([[0], np.cumsum(~known)])
    whole = gaps[runs.close] == gaps[runs.begin]
    return np.where(whole, energy[runs.close] - energy[runs.begin], np.nan)


def counted_intervals(rows: Arrays, most_milliw: npt.NDArray[np.float64]) -> Counted:
    """Return the energy between readings of one device by its counter.

    A counter that falls has restarted or wrapped: the energy of that time is not known from it. One that stands still
    is coarse where its next rise is about what power says over the whole time, and stuck otherwise: a board never draws
    nothing. Readings of power between two readings of the counter get the counter's mean. Energy over the end of the
    day is left to the other readings.

    Parameters
    ----------
    rows : dict of arrays
        One day in the order of device and time, with ``counter_microj`` (``NONE``: not read).
    most_milliw : array
        The most that each row's board can draw.

    Notes
    -----
    P = (c[j] - c[i]) / (t[j] - t[i]); whole microjoules over whole milliseconds are milliwatts.
    """
    size = rows["time_ms"].size
    step, nothing = np.zeros(size, np.int64), np.zeros(size, np.int64)
    if size > 1:
        step[:-1] = np.where(np.diff(rows["device_key"]) == 0, np.diff(rows["time_ms"]), 0)
    if not size or not (rows["counter_microj"] != NONE).any():
        return Counted(np.zeros(size, bool), nothing, step, nothing, nothing, nothing)
    runs = _runs(rows)
    by_power = _energy_by_power(rows, step, runs)
    fell = runs.is_closed & (runs.rise < 0)
    jumped = runs.is_closed & (runs.rise > most_milliw[runs.begin] * runs.length_ms)
    coarse = (runs.rise >= _LEAST_OF_POWER * by_power) & (runs.rise <= _MOST_OF_POWER * by_power)
    good = runs.is_closed & ~fell & ~jumped & ((runs.flat == 0) | coarse)
    small = ~runs.is_closed & (by_power <= _MOST_OF_A_RISE * _largest_rise(rows, runs, good))
    stood = np.where(good | small, 0, runs.flat)
    return Counted(
        *_over_rows(size, runs, good),
        step,
        *(_at(size, runs.begin, values) for values in (fell, stood, jumped)),
    )


def _largest_rise(rows: Arrays, runs: _Runs, good: npt.NDArray[np.bool_]) -> Ints:
    """Return for each run the largest good rise of its device on that day."""
    _, place = np.unique(rows["device_key"][runs.begin], return_inverse=True)
    largest = np.zeros(place.max() + 1, np.int64)
    np.maximum.at(largest, place, np.where(good, runs.rise, 0))
    return np.asarray(largest[place])


def _over_rows(size: int, runs: _Runs, good: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return which rows a good rise covers, and its mean power there."""
    begin, close = runs.begin[good], runs.close[good]
    power, is_good = np.zeros(size, np.int64), np.zeros(size, bool)
    mean = np.rint(runs.rise[good] / runs.length_ms[good]).astype(np.int64)
    count = close - begin
    row = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    is_good[row], power[row] = True, np.repeat(mean, count)
    return is_good, power


def _at(size: int, row: Ints, values: npt.NDArray[np.generic]) -> Ints:
    out = np.zeros(size, np.int64)
    out[row] = values
    return out


def insert_counter_hours(connection: duckdb.DuckDBPyConnection, number: int, rows: Arrays, counted: Counted) -> None:
    """Store, by device and hour, the faults of counters and both energies over intervals that have both in time."""
    import pyarrow as pa

    devices = np.unique(rows["device_key"][rows["counter_microj"] != NONE])
    if not devices.size:
        return
    of_device = np.isin(rows["device_key"], devices)
    device_hour = rows["device_key"][of_device].astype(np.int64) * 24 + rows["time_ms"][of_device] // HOUR_MS
    hours, place = np.unique(device_hour, return_inverse=True)
    in_time = counted.interval_ms * LATE_BY_DENOMINATOR <= rows["interval_ms"] * LATE_BY_NUMERATOR
    both = counted.is_good & (rows["power_milliw"] != NONE) & in_time
    length = counted.interval_ms.astype(np.float64)

    def total(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(place, weights=values[of_device], minlength=hours.size).astype(np.float64)

    table = pa.table(
        {
            "device_key": hours // 24,
            "hour_utc": pa.array(number * DAY_MS + hours % 24 * HOUR_MS).cast(pa.timestamp("ms", "UTC")),
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
    connection.execute("INSERT INTO core.counter_hour SELECT * FROM incoming")
    connection.unregister("incoming")
    connection.unregister("incoming")
