"""What cumulative energy counters say between readings, and how short gaps are bridged: arrays in, arrays out.

All arrays have one entry for each reading, in order of device, then time. Energies are whole microjoules, powers whole
milliwatts, times whole milliseconds; ``NOT_READ`` stands for what was not read. What readings do not tell is unknown,
and never zero. Each result depends on the readings of the same device near it only, so that a series may be cut
anywhere if each part is given its neighbours (``boundary_rows``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Whole = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

NOT_READ = -1
BRIDGE_MS = 900_000  # a quarter of an hour: what European meters and markets give one value for
MOST_BRIDGE_MS = 3_600_000  # of readings that are far apart: no bridge is longer than the hours that are added up
LATE_BY_NUMERATOR, LATE_BY_DENOMINATOR = 3, 2  # later than half an interval, a reading is missing in between
_LEAST_OF_POWER, _MOST_OF_POWER = 0.7, 1.4  # a coarse counter stands still and then rises by about what power says
_MOST_OF_A_RISE = 2.0  # at the end of a series it may stand still for less than this many of its largest rises


@dataclass(frozen=True, slots=True)
class Counted:
    """For each reading, what the counter says until the device's next reading.

    Attributes
    ----------
    is_good : bool array
        The energy until the next reading is known from the counter.
    power_milliw, interval_ms : int array
        Mean power by the counter where it is good, and time to the device's next reading (0 for the last one).
    fell, wrapped, ambiguous, stood, jumped : int array
        How often the counter fell (restart), went once through its range, could have gone through it once more, stood
        still, or rose by more than can be; all but wraps make the energy unknown. Counted where such a time begins.
    least_microj : int array
        What is certain of an ambiguous wrap ("between this and more"), where it begins; 0 elsewhere.
    is_unclear : bool array
        The counter stands still or may have wrapped once more: what was drawn may be far from what was drawn beside it.
    """

    is_good: Mask
    power_milliw: Ints
    interval_ms: Ints
    fell: Ints
    wrapped: Ints
    ambiguous: Ints
    stood: Ints
    jumped: Ints
    least_microj: Ints
    is_unclear: Mask


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of readings of one device in which its counter stays the same, and the rise to the next run.

    ``begin`` and ``close`` are rows; ``close`` is the first row of the next run, or the last row of an open one.
    """

    begin: Ints
    close: Ints
    is_closed: Mask
    flat: Ints
    rise: Ints
    length_ms: Ints


def _runs(device: Whole, time: Ints, counter: Ints) -> _Runs:
    at = np.flatnonzero(counter != NOT_READ)
    of, value = device[at], counter[at]
    new = np.ones(at.size, bool)
    new[1:] = (of[1:] != of[:-1]) | (value[1:] != value[:-1])
    first = np.flatnonzero(new)
    following = np.append(first[1:], at.size)
    is_closed = np.zeros(first.size, bool)
    is_closed[:-1] = of[first[1:]] == of[first[:-1]]
    begin = at[first]
    close = np.where(is_closed, at[np.minimum(following, at.size - 1)], at[following - 1])
    return _Runs(
        begin, close, is_closed, following - first - 1, counter[close] - counter[begin], time[close] - time[begin]
    )


def steps_ms(device_key: Whole, time_ms: Whole) -> Ints:
    """Return the time from each reading to the next one of its device; 0 for a device's last.

    Examples
    --------
    >>> steps_ms(np.array([1, 1, 2]), np.array([5, 9, 0])).tolist()
    [4, 0, 0]

    """
    step = np.zeros(time_ms.size, np.int64)
    np.subtract(time_ms[1:], time_ms[:-1], out=step[:-1])
    step[:-1] *= device_key[1:] == device_key[:-1]
    return step


def is_late(step_ms: Ints, sampling_ms: Ints) -> Mask:
    """Return whether a reading is missing between two: they are over one and a half sampling intervals apart.

    Examples
    --------
    >>> is_late(np.array([60_000, 90_000, 120_000]), np.array([60_000] * 3)).tolist()
    [False, False, True]

    """
    late: Mask = step_ms * LATE_BY_DENOMINATOR > sampling_ms * LATE_BY_NUMERATOR
    return late


def _energy_by_power(power: Ints, step: Ints, runs: _Runs) -> Floats:
    """Return the energy over each run by its power readings; NaN where some are missing."""
    known = power != NOT_READ
    # whole numbers that run over their 64 bits still have the right differences: the same in every part of a series
    energy = np.concatenate([[0], np.cumsum(np.where(known, power, 0) * step)])
    gaps = np.concatenate([[0], np.cumsum(~known)])
    whole = gaps[runs.close] == gaps[runs.begin]
    return np.where(whole, energy[runs.close] - energy[runs.begin], np.nan)


def counted_intervals(
    device_key: Whole,
    time_ms: Whole,
    counter_microj: Ints,
    power_milliw: Whole,
    most_milliw: Floats,
    range_microj: Ints | None = None,
) -> Counted:
    """Return the energy between readings of one device by its cumulative counter.

    A counter that falls has gone through its range once, where its range is known and the energy is no more than the
    device can draw; else it has restarted, and the energy of that time is not known from it. Where the device could
    have gone through the range once more, only a least energy is known. A counter that stands still is coarse where its
    next rise is about what power says over the whole time, and stuck otherwise: a board never draws nothing. Readings
    of power between two readings of the counter get the counter's mean.

    Parameters
    ----------
    device_key, time_ms : int array
        In order of device and time, each once.
    counter_microj, power_milliw : int array
        ``NOT_READ`` where a reading has none.
    most_milliw : array
        The most that each reading's device can draw: what tells a jump from a load, and a wrap from a restart.
    range_microj : int array, optional
        The counter counts from 0 to just below this and begins again; ``NOT_READ`` where that is not known.

    Returns
    -------
    Counted

    Notes
    -----
    P = (c[j] - c[i]) / (t[j] - t[i]), with c[j] + range for c[j] if c fell and that is at most P_most. Whole
    microjoules over whole milliseconds are milliwatts; the mean is rounded to a whole one.

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> found = counted_intervals(
    ...     one(1, 1, 1), one(0, 10, 20), one(50, 90, 20), one(-1, -1, -1), np.full(3, 5.0), one(100, 100, 100)
    ... )
    >>> found.power_milliw.tolist(), found.wrapped.tolist(), found.is_good.tolist()
    ([4, 3, 0], [0, 1, 0], [True, True, False])

    """
    step = steps_ms(device_key, time_ms)
    size = time_ms.size
    if not size or not (counter_microj != NOT_READ).any():
        nothing, never = np.zeros(size, np.int64), np.zeros(size, bool)
        return Counted(never, nothing, step, nothing, nothing, nothing, nothing, nothing, nothing, never)
    runs = _runs(device_key, time_ms.astype(np.int64, copy=False), counter_microj)
    by_power = _energy_by_power(power_milliw.astype(np.int64, copy=False), step, runs)
    limit = most_milliw[runs.begin] * runs.length_ms
    span = np.zeros(runs.begin.size, np.int64)
    if range_microj is not None:
        span = np.maximum(np.maximum(range_microj[runs.begin], range_microj[runs.close]), 0)
    down = runs.is_closed & (runs.rise < 0)
    wrapped = down & (runs.rise + span >= 0) & (runs.rise + span <= limit) & (span > 0)
    fell = down & ~wrapped
    rise = runs.rise + np.where(wrapped, span, 0)
    ambiguous = runs.is_closed & ~fell & (span > 0) & (rise.astype(np.float64) + span <= limit)
    jumped = runs.is_closed & ~fell & (rise > limit)
    coarse = (rise >= _LEAST_OF_POWER * by_power) & (rise <= _MOST_OF_POWER * by_power)
    good = runs.is_closed & ~fell & ~ambiguous & ~jumped & ((runs.flat == 0) | coarse)
    small = ~runs.is_closed & (by_power <= _MOST_OF_A_RISE * _largest_rise(device_key, runs, rise, good))
    stood = np.where(good | small, 0, runs.flat)
    least = np.where(ambiguous, rise, 0)
    is_good, power = _over_rows(size, runs, rise, good)
    is_unclear, _ = _over_rows(size, runs, rise, ~good & (ambiguous | (runs.flat > 0)))
    return Counted(
        is_good,
        power,
        step,
        fell=_at(size, runs.begin, fell),
        wrapped=_at(size, runs.begin, wrapped & ~ambiguous),
        ambiguous=_at(size, runs.begin, ambiguous),
        stood=_at(size, runs.begin, stood),
        jumped=_at(size, runs.begin, jumped),
        least_microj=_at(size, runs.begin, least),
        is_unclear=is_unclear,
    )


def _largest_rise(device_key: Whole, runs: _Runs, rise: Ints, good: Mask) -> Ints:
    """Return for each run the largest good rise of its device."""
    _, place = np.unique(device_key[runs.begin], return_inverse=True)
    largest = np.zeros(place.max() + 1, np.int64)
    np.maximum.at(largest, place, np.where(good, rise, 0))
    return np.asarray(largest[place])


def _over_rows(size: int, runs: _Runs, rise: Ints, good: Mask) -> tuple[Mask, Ints]:
    """Return which readings the chosen runs cover, and the mean power of their rise there."""
    begin, close = runs.begin[good], runs.close[good]
    power, is_good = np.zeros(size, np.int64), np.zeros(size, bool)
    mean = np.rint(rise[good] / np.maximum(runs.length_ms[good], 1)).astype(np.int64)
    count = close - begin + ~runs.is_closed[good]
    row = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    is_good[row], power[row] = True, np.repeat(mean, count)
    return is_good, power


def _at(size: int, row: Ints, values: npt.NDArray[np.generic]) -> Ints:
    out = np.zeros(size, np.int64)
    out[row] = values
    return out


def boundary_rows(device_key: Whole, time_ms: Whole, counter_microj: Ints, *, at_end: bool) -> Ints:
    """Return which readings of a day the next one (``at_end``) or the one before must know, in order.

    Of a device without counter that is its last (first) two readings, as one of them may say nothing. A counter tells
    energy between readings that differ, and a restart is bridged by what is known beside it: of a counter it is
    everything since the beginning of its last interval but one, or until the end of its second.

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> boundary_rows(one(1, 1, 1, 2, 2), one(0, 1, 2, 0, 1), one(5, 6, 8, -1, -1), at_end=True).tolist()
    [1, 2, 3, 4]

    """
    size = device_key.size
    if not size:
        return np.zeros(0, np.int64)
    edge = np.flatnonzero(np.append(True, device_key[1:] != device_key[:-1]))  # the first row of each device
    last = np.append(edge[1:], size) - 1
    two = np.minimum(last - edge + 1, 2)
    count = two.copy()
    if (counter_microj != NOT_READ).any():
        begin = _runs(device_key, time_ms.astype(np.int64, copy=False), counter_microj).begin
        from_run, to_run = np.searchsorted(begin, edge), np.searchsorted(begin, last, side="right")
        counted = np.flatnonzero(to_run > from_run)
        if at_end:
            reach = np.maximum(to_run[counted] - 2, from_run[counted])
            count[counted] = last[counted] - begin[reach] + 1
        else:
            reach = np.minimum(from_run[counted] + 2, to_run[counted] - 1)
            # a day with fewer intervals says all it has
            more = from_run[counted] + 2 >= to_run[counted]
            count[counted] = np.where(more, last[counted], begin[reach]) - edge[counted] + 1
    count = np.maximum(count, two)
    start = last - count + 1 if at_end else edge
    return np.repeat(start - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))


@dataclass(frozen=True, slots=True)
class Held:
    """Which time each reading stands for, [start, end), and at which power.

    Attributes
    ----------
    row : int array
        The reading, counting into what was given.
    start_ms, end_ms, power_milliw : int array
    is_bridged : bool array
        The time is a gap, and the power an estimate.
    """

    row: Ints
    start_ms: Ints
    end_ms: Ints
    power_milliw: Ints
    is_bridged: Mask


def held_and_bridged(
    device_key: Ints, time_ms: Ints, power_milliw: Ints, sampling_ms: Ints, counted_ms: Ints, may_bridge: Mask
) -> Held:
    """Return the time that each reading stands for, short gaps bridged at the mean of the powers beside them.

    A reading is held until the device's next reading, at most for its sampling interval; a next one that comes less
    than half an interval late is in time, since then no reading is missing between them. A longer gap is bridged from
    the last known instant to the next reading if that is at most ``BRIDGE_MS``, or two sampling intervals up to
    ``MOST_BRIDGE_MS``; a reading of power is not held besides. What is longer stays a gap.

    Parameters
    ----------
    device_key, time_ms, power_milliw : int array
        In order of device and time.
    sampling_ms : int array
        Sampling interval.
    counted_ms : int array
        Time after the reading over which its energy was counted: the power is its mean; 0 where it was not.
    may_bridge : bool array
        The time after the reading may be bridged: not where a counter stands still and nothing tells why.

    Returns
    -------
    Held
        In order of device and time; a bridge after a counted energy is an entry of its own.

    Notes
    -----
    P = (P_before + P_after) / 2 over the gap, in whole milliwatts (half ones down).

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> minute, none, yes = one(*[60_000] * 3), one(0, 0, 0), np.ones(3, dtype=bool)
    >>> held = held_and_bridged(one(1, 1, 1), one(0, 60_000, 240_000), one(10, 30, 50), minute, none, yes)
    >>> held.end_ms.tolist(), held.power_milliw.tolist(), held.is_bridged.tolist()
    ([60000, 240000, 300000], [10, 40, 50], [False, True, False])

    """
    step = steps_ms(device_key, time_ms)
    has_next = step > 0
    in_time = has_next & ~is_late(step, sampling_ms)
    if counted_ms.any():
        in_time = (in_time & (counted_ms == 0)) | (has_next & (counted_ms == step))
        stands = np.where(counted_ms > 0, counted_ms, sampling_ms)
        end = time_ms + np.where(in_time, step, np.where(has_next, np.minimum(stands, step), stands))
    else:
        end = time_ms + np.where(in_time, step, sampling_ms)
    row = np.arange(time_ms.size)
    is_bridged = np.zeros(time_ms.size, bool)
    gap = np.flatnonzero(has_next & ~in_time & may_bridge & (counted_ms < step))
    longest = np.maximum(BRIDGE_MS, np.minimum(2 * sampling_ms[gap], MOST_BRIDGE_MS))
    gap = gap[step[gap] - counted_ms[gap] <= longest]
    if not gap.size:
        return Held(row, time_ms, end, power_milliw, is_bridged)
    mean = (power_milliw[gap] + power_milliw[gap + 1]) // 2
    is_counted = counted_ms[gap] > 0
    power, alone, after = power_milliw.copy(), gap[~is_counted], gap[is_counted]
    power[alone], end[alone], is_bridged[alone] = mean[~is_counted], time_ms[alone] + step[alone], True
    return Held(
        np.insert(row, after + 1, after),
        np.insert(time_ms, after + 1, end[after]),
        np.insert(end, after + 1, time_ms[after] + step[after]),
        np.insert(power, after + 1, mean[is_counted]),
        np.insert(is_bridged, after + 1, True),
    )
