"""Energy from cumulative counters, and from samples of power: pure kernels on NumPy arrays.

All arrays are in order of device, then time, with one entry for each reading. Energies are whole microjoules, powers
whole milliwatts, times whole milliseconds. An interval is between two neighbouring readings of one device. What an
interval's readings do not tell is unknown, and never zero: ``known`` says which are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

RESTART = 1  # the counter fell: it began again, or fell by more than its range explains
WRAP = 2  # the counter fell and went once through its range
AMBIGUOUS = 4  # the device could have gone through the range once more in this time: only a least energy is known
STUCK = 8  # the counter stood still while power was read
JUMP = 16  # more than the device can draw in this time
STILL = 32  # the counter stood still and nothing tells whether power was drawn
FLAG_NAMES = {
    RESTART: "restart",
    WRAP: "wrap",
    AMBIGUOUS: "ambiguous wrap",
    STUCK: "stuck",
    JUMP: "jump",
    STILL: "still",
}

# The coarsest step of a board's counter that stands for "in use" below: 1 J. Kilowatt-hours need their own.
STEP_MICROJ = 1_000_000
# Scrapes come a little late. Neighbours further apart than this many intervals have a scrape missing between them.
LATE = 1.5
NO_POWER = -1


@dataclass(frozen=True, slots=True)
class Intervals:
    """Energy between neighbouring readings of a counter, one entry per interval.

    Attributes
    ----------
    device_key : int array
    from_ms, to_ms : int array
    energy_microj : int array
        Meaningless where not ``known``.
    least_microj : int array
        What is certain: the energy where it is known; after a restart what the counter shows, after an ambiguous wrap
        the difference ("between this and more"); 0 otherwise.
    known : bool array
    flags : int array
        Sum of ``RESTART``, ``WRAP``, ``AMBIGUOUS``, ``STUCK``, ``JUMP`` and ``STILL``; ``flag_words`` names them.
    """

    device_key: Ints
    from_ms: Ints
    to_ms: Ints
    energy_microj: Ints
    least_microj: Ints
    known: Mask
    flags: Ints


@dataclass(frozen=True, slots=True)
class Totals:
    """Energy and time of each device.

    Attributes
    ----------
    device_key : int array
        Each device once.
    measured_microj, measured_ms : int array
        Of intervals that are known: between neighbours with no reading missing between them.
    held_microj, held_ms : int array
        The same and, before a gap, the last reading held for one interval (as the ledger does); what follows is
        unknown. Equal to ``measured`` where the rule holds nothing.
    bridged_microj, bridged_ms : int array
        With the gaps between the first and the last reading filled by the rule.
    """

    device_key: Ints
    measured_microj: Ints
    measured_ms: Ints
    held_microj: Ints
    held_ms: Ints
    bridged_microj: Ints
    bridged_ms: Ints


def flag_words(flags: int) -> list[str]:
    """Return the names of flags.

    Examples
    --------
    >>> flag_words(WRAP + AMBIGUOUS)
    ['wrap', 'ambiguous wrap']

    """
    return [name for flag, name in FLAG_NAMES.items() if flags & flag]


def _pairs(device_key: Ints, time_ms: Ints) -> npt.NDArray[np.intp]:
    """Return where intervals begin: readings that are followed by one of the same device.

    Raises
    ------
    ValueError
        The readings are not in order, or a device has two at one time.
    """
    if device_key.size != time_ms.size:
        raise ValueError(f"{device_key.size} devices and {time_ms.size} times: give one of each for a reading")
    same = device_key[1:] == device_key[:-1]
    if np.any(device_key[1:] < device_key[:-1]) or np.any(same & (time_ms[1:] <= time_ms[:-1])):
        raise ValueError("readings are not in order of device and time, or a device has two at one time: sort them")
    return np.flatnonzero(same)


def energy_of_counters(
    device_key: Ints,
    time_ms: Ints,
    counter_microj: Ints,
    most_milliw: Ints | int,
    *,
    range_microj: Ints | int = 0,
    power_milliw: Ints | None = None,
    step_microj: int = STEP_MICROJ,
) -> Intervals:
    """Return the energy of each interval between two readings of a cumulative counter.

    Parameters
    ----------
    device_key, time_ms, counter_microj : int array
        In order of device and time.
    most_milliw : int or int array
        The most that the device can draw: what tells a jump from a load, and a wrap from a restart.
    range_microj : int or int array
        The counter counts from 0 to just below this and begins again; 0 where it never does.
    power_milliw : int array, optional
        Power at each reading, ``NO_POWER`` where none was read: what tells a stuck counter from an idle device.
    step_microj : int
        The counter's step. A counter that stands still although more than a step was drawn is stuck.

    Returns
    -------
    Intervals

    Notes
    -----
    E_i = C_{i+1} - C_i; where C fell, E_i = C_{i+1} - C_i + range if E_i <= P_most (t_{i+1} - t_i), else unknown
    (restart). With E_i + range <= P_most (t_{i+1} - t_i) a further wrap is possible and E_i is only a least energy.

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> found = energy_of_counters(one(1, 1, 1), one(0, 1, 2), one(50, 90, 20), 100, range_microj=100)
    >>> found.energy_microj.tolist(), [flag_words(flag) for flag in found.flags.tolist()]
    ([40, 30], [[], ['wrap']])

    """
    at = _pairs(device_key, time_ms)
    first, last = counter_microj[at], counter_microj[at + 1]
    duration = time_ms[at + 1] - time_ms[at]
    most = np.asarray(most_milliw, dtype=np.float64)
    limit = (most[at] if most.ndim else most) * duration  # as floats: the product may be over 64 bits
    span = np.asarray(range_microj, dtype=np.int64)
    span = span[at] if span.ndim else np.full(at.size, span)
    change = last - first
    fell = change < 0
    wrapped = fell & (span > 0) & (change + span >= 0) & (change + span <= limit)
    energy = change + np.where(wrapped, span, 0)
    restart = fell & ~wrapped
    ambiguous = ~restart & (span > 0) & (energy.astype(np.float64) + span <= limit)
    jump = ~restart & (energy > limit)
    stuck, still = _standing(at, change, duration, power_milliw, step_microj)
    known = ~(restart | ambiguous | jump | stuck | still)
    least = np.where(known | ambiguous, energy, np.where(restart & (last <= limit), last, 0))
    flags = np.zeros(at.size, dtype=np.int64)
    for mask, flag in (
        (restart, RESTART),
        (wrapped, WRAP),
        (ambiguous, AMBIGUOUS),
        (stuck, STUCK),
        (jump, JUMP),
        (still, STILL),
    ):
        flags[mask] |= flag
    return Intervals(device_key[at], time_ms[at], time_ms[at + 1], energy, least, known, flags)


def _standing(
    at: npt.NDArray[np.intp], change: Ints, duration: Ints, power_milliw: Ints | None, step_microj: int
) -> tuple[Mask, Mask]:
    """Return which intervals have a counter that stands still under power, and which one that nothing explains."""
    standing = change == 0
    if power_milliw is None:
        return np.zeros(at.size, dtype=bool), standing
    before, after = power_milliw[at], power_milliw[at + 1]
    # the lesser of the two readings: a load that began at the end of the interval is no proof
    least = np.where(before == NO_POWER, after, np.where(after == NO_POWER, before, np.minimum(before, after)))
    drawn = least.astype(np.float64) * duration
    stuck = standing & (least > 0) & (drawn > step_microj)
    return stuck, standing & (least == NO_POWER)


def totals_of_counters(intervals: Intervals) -> Totals:
    """Add up intervals of counters by device; unknown ones are bridged at the mean power of the known ones beside them.

    Notes
    -----
    Bridged: P = mean of the powers of the nearest known intervals before and after, or the one that there is; a device
    without a known interval has no power to bridge with, and its unknown time is not in ``bridged_ms``.

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> found = energy_of_counters(one(1, 1, 1, 1), one(0, 10, 20, 30), one(100, 200, 5, 105), 1000)
    >>> totals = totals_of_counters(found)
    >>> totals.measured_microj.tolist(), totals.bridged_microj.tolist()
    ([200], [300])

    """
    duration = intervals.to_ms - intervals.from_ms
    known = intervals.known
    energy = np.where(known, intervals.energy_microj, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.where(known, energy / duration, np.nan)
    filled = np.where(known, energy, _whole(_beside(intervals.device_key, power) * duration))
    bridged = known | np.isfinite(_beside(intervals.device_key, power))
    return _by_device(
        intervals.device_key,
        (energy, np.where(known, duration, 0)),
        (energy, np.where(known, duration, 0)),
        (filled, np.where(bridged, duration, 0)),
    )


def _whole(values: Floats) -> Ints:
    return np.rint(np.nan_to_num(values, nan=0.0)).astype(np.int64)


def _beside(device_key: Ints, power: Floats) -> Floats:
    """Return the mean of the nearest finite powers before and after, of the same device; NaN where there is none."""
    place = np.arange(power.size)
    finite = np.isfinite(power)
    before = np.maximum.accumulate(np.where(finite, place, -1)) if power.size else place
    after = np.minimum.accumulate(np.where(finite, place, power.size)[::-1])[::-1] if power.size else place
    padded = np.append(power, np.nan)  # the place -1 and the place after the end are NaN
    keys = np.append(device_key, np.iinfo(np.int64).min)
    sides = [np.where(keys[side] == device_key, padded[side], np.nan) for side in (before, after)]
    there = np.isfinite(sides[0]).astype(np.int64) + np.isfinite(sides[1])
    total = np.nan_to_num(sides[0], nan=0.0) + np.nan_to_num(sides[1], nan=0.0)
    result: Floats = np.where(there > 0, total / np.maximum(there, 1), np.nan)
    return result


def energy_of_power(device_key: Ints, time_ms: Ints, power_milliw: Ints, interval_ms: Ints | int, rule: str) -> Totals:
    """Integrate samples of power by device.

    Parameters
    ----------
    device_key, time_ms, power_milliw : int array
        In order of device and time; samples without value are left out.
    interval_ms : int or int array
        Sampling interval. Neighbours further apart than ``LATE`` intervals have a gap between them.
    rule : {"hold", "trapezoid"}
        Hold the last sample, or join neighbours by a line.

    Returns
    -------
    Totals
        ``measured`` has no part of a gap; ``held`` has the first interval of each gap by the rule "hold".

    Notes
    -----
    hold: E = sum P_i (t_{i+1} - t_i); trapezoid: E = sum (P_i + P_{i+1}) / 2 (t_{i+1} - t_i).

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> totals = energy_of_power(one(1, 1, 1), one(0, 60, 240), one(10, 30, 50), 60, "hold")
    >>> totals.measured_microj.tolist(), totals.held_microj.tolist(), totals.bridged_microj.tolist()
    ([600], [2400], [6000])
    >>> energy_of_power(one(1, 1, 1), one(0, 60, 240), one(10, 30, 50), 60, "trapezoid").bridged_microj.tolist()
    [8400]

    """
    if rule not in ("hold", "trapezoid"):
        raise ValueError(f"no rule {rule}: use hold or trapezoid")
    at = _pairs(device_key, time_ms)
    interval = np.asarray(interval_ms, dtype=np.int64)
    interval = interval[at] if interval.ndim else np.full(at.size, interval)
    duration = time_ms[at + 1] - time_ms[at]
    near = duration <= LATE * interval
    before, after = power_milliw[at], power_milliw[at + 1]
    twice = 2 * before if rule == "hold" else before + after
    energy = twice * duration
    bridged = energy // 2 + (energy & 1 & (np.arange(at.size) & 1))  # halves of a µJ go up and down in turn
    measured = np.where(near, bridged, 0)
    held_ms = np.where(near, duration, interval if rule == "hold" else 0)
    held = np.where(near, bridged, before * held_ms)
    return _by_device(device_key[at], (measured, np.where(near, duration, 0)), (held, held_ms), (bridged, duration))


def _by_device(device_key: Ints, *columns: tuple[Ints, Ints]) -> Totals:
    """Add up (energy, time) columns by device; the readings are in order of device."""
    if device_key.size == 0:
        empty = np.zeros(0, dtype=np.int64)
        return Totals(empty, empty, empty, empty, empty, empty, empty)
    start = np.flatnonzero(np.append(True, device_key[1:] != device_key[:-1]))
    sums = [np.add.reduceat(value, start) for pair in columns for value in pair]
    return Totals(device_key[start], *sums)
