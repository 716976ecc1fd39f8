"""From readings of devices to energy by device, hour, owner and tier: one UTC day at a time, exact in integers.

Until when a reading stands is said by ``counters.held_and_bridged``; a day is cut out of a series of readings, and what
is held over midnight begins there. What no reading covers is a gap, and a gap is never zero: it is left to the caller.
Power in whole milliwatts times whole milliseconds is whole microjoules: sums are the same in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
_TIME_BITS = 37  # a day has 8.64e7 ms < 2**37, which leaves 26 bits for devices in one int64 key
TIER_CODES = ("measured", "integrated", "modelled", "modelled", "modelled")
#: By what a tier code was modelled: their ranges differ, so they are kept apart.
POWER_MODELS = (None, None, "bridge", "kernel time", "activity")
MEASURED, INTEGRATED, BRIDGED, BY_KERNEL_TIME, BY_ACTIVITY = range(5)


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings of one day, one array entry each.

    Attributes
    ----------
    device_key : int array
    time_ms : int array
        Milliseconds since the start of the day, 0 to 86,399,999.
    power_milliw : int array
        Board power in whole milliwatts: read, or modelled from utilisation, or the mean of a counted energy.
    end_ms : int array
        Until when the reading stands: at most until the device's next reading, and until the end of the day.
    tier_code : int array
        Index into ``TIER_CODES``.
    """

    device_key: Ints
    time_ms: Ints
    power_milliw: Ints
    end_ms: Ints
    tier_code: Ints


@dataclass(frozen=True, slots=True)
class Allocations:
    """Boards given to jobs on that day: device, share of the board, and time in ms since the start of the day."""

    allocation_key: Ints
    device_key: Ints
    share: npt.NDArray[np.float64]
    start_ms: Ints
    end_ms: Ints


@dataclass(frozen=True, slots=True)
class OwnedEnergy:
    """Energy by device, hour, allocation (-1: no allocation) and tier; ``covered_ms`` is chip-time."""

    device_key: Ints
    hour: Ints
    allocation_key: Ints
    tier_code: Ints
    sample_count: Ints
    covered_ms: Ints
    energy_microj: Ints


def _key(device_key: Ints, time_ms: Ints) -> Ints:
    return (device_key << _TIME_BITS) + time_ms


def sort_order(device_key: Ints, time_ms: Ints) -> npt.NDArray[np.intp]:
    """Return the order by device, then time.

    Examples
    --------
    >>> sort_order(np.array([2, 1, 1]), np.array([0, 5, 3])).tolist()
    [2, 1, 0]

    """
    key = _key(device_key.astype(np.int64), time_ms)
    if key.size and bool(np.all(key[1:] >= key[:-1])):
        return np.arange(key.size)
    return np.argsort(key, kind="stable")


def _segments(allocations: Allocations) -> tuple[Ints, Ints, Ints]:
    """Cut each device's day at every start and end of an allocation; return sorted keys of the cuts.

    Returns the cut keys, and for each allocation the first and last+1 segment that it spans.
    """
    start = _key(allocations.device_key, np.clip(allocations.start_ms, 0, DAY_MS))
    end = _key(allocations.device_key, np.clip(allocations.end_ms, 0, DAY_MS))
    cuts = np.unique(np.concatenate([start, end]))
    return cuts, np.searchsorted(cuts, start), np.searchsorted(cuts, end)


def _ordered(allocations: Allocations) -> Allocations:
    """Put allocations in one order, so that no rounding depends on the order in which they were given."""
    key, device, share = allocations.allocation_key, allocations.device_key, allocations.share
    start, end = allocations.start_ms, allocations.end_ms
    order = np.lexsort((end, start, share, device, key))
    return Allocations(key[order], device[order], share[order], start[order], end[order])


def _expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return (row, position) for every position in ``[first, last)`` of each row."""
    count = last - first
    row = np.repeat(np.arange(first.size), count)
    offset = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    return row, first[row] + offset


def _sum_by(keys: tuple[Ints, ...], values: tuple[Ints, ...]) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
    """Sum integer columns by the distinct rows of the keys."""
    if keys[0].size == 0:
        return keys, values
    order = np.lexsort(keys[::-1])
    sorted_keys = [key[order] for key in keys]
    new = np.zeros(order.size, dtype=bool)
    new[0] = True
    for key in sorted_keys:
        new[1:] |= key[1:] != key[:-1]
    at = np.flatnonzero(new)
    return tuple(key[at] for key in sorted_keys), tuple(np.add.reduceat(value[order], at) for value in values)


def _runs(device: Ints, hour: Ints, segment: Ints, tier: Ints) -> Ints:
    """Return where a new run of equal device, hour, segment and tier starts; in ordered readings runs are long."""
    new = np.ones(device.size, dtype=bool)
    new[1:] = (
        (device[1:] != device[:-1]) | (hour[1:] != hour[:-1]) | (segment[1:] != segment[:-1]) | (tier[1:] != tier[:-1])
    )
    return np.flatnonzero(new)


def _energy_by_segment(
    readings: Readings, start: Ints, end: Ints, cuts: Ints
) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
    """Sum energy and count readings by device, hour, segment and tier; a reading belongs to the segment of its time."""
    device, power, tier = readings.device_key, readings.power_milliw, readings.tier_code
    segment = np.searchsorted(cuts, _key(device, readings.time_ms), side="right") - 1
    hour = start // HOUR_MS
    hour_end = np.minimum((hour + 1) * HOUR_MS, end)
    at = _runs(device, hour, segment, tier)
    keys: tuple[Ints, ...] = (device[at], hour[at], segment[at], tier[at])
    energy = np.add.reduceat(power * (hour_end - start), at)
    count = np.diff(np.append(at, device.size))
    crossing = np.flatnonzero(end > hour_end)
    if crossing.size:  # a reading held over the full hour: the rest belongs to the hours that follow
        row, next_hour = _expand(hour[crossing] + 1, (end[crossing] - 1) // HOUR_MS + 1)
        source = crossing[row]
        piece = np.minimum((next_hour + 1) * HOUR_MS, end[source]) - next_hour * HOUR_MS
        keys = tuple(
            np.concatenate([a, b])
            for a, b in zip(keys, (device[source], next_hour, segment[source], tier[source]), strict=True)
        )
        energy = np.concatenate([energy, power[source] * piece])
        count = np.concatenate([count, np.zeros(source.size, dtype=np.int64)])
    return _sum_by(keys, (count, energy))


def _covered_by_segment(
    readings: Readings, start: Ints, end: Ints, cuts: Ints
) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
    """Sum the covered time by device, hour, segment and tier, cut exactly at hours and at segments."""
    device, tier = readings.device_key, readings.tier_code
    new = np.ones(start.size, dtype=bool)
    new[1:] = (device[1:] != device[:-1]) | (start[1:] != end[:-1]) | (tier[1:] != tier[:-1])
    at = np.flatnonzero(new)
    span_start, span_end = start[at], end[np.append(at[1:], start.size) - 1]
    row, hour = _expand(span_start // HOUR_MS, (span_end - 1) // HOUR_MS + 1)
    piece_start = np.maximum(span_start[row], hour * HOUR_MS)
    piece_end = np.minimum(span_end[row], (hour + 1) * HOUR_MS)
    piece_device, piece_tier = device[at][row], tier[at][row]
    first = np.searchsorted(cuts, _key(piece_device, piece_start), side="right") - 1
    last = np.searchsorted(cuts, _key(piece_device, piece_end), side="left")
    part, segment = _expand(first, np.maximum(last, first + 1))
    bound = np.concatenate([np.full(1, np.iinfo(np.int64).min), cuts, np.full(1, np.iinfo(np.int64).max)])
    part_start = np.maximum(_key(piece_device[part], piece_start[part]), bound[segment + 1])
    part_end = np.minimum(_key(piece_device[part], piece_end[part]), bound[segment + 2])
    return _sum_by((piece_device[part], hour[part], segment, piece_tier[part]), (part_end - part_start,))


def _split_exact(amount: Ints, row: Ints, weight: npt.NDArray[np.float64]) -> Ints:
    """Split whole amounts by weights that add up to 1 per row; the last part of a row takes what rounding left."""
    part = np.floor(amount[row] * weight).astype(np.int64)
    left = amount.copy()
    np.subtract.at(left, row, part)
    last = np.append(np.flatnonzero(row[1:] != row[:-1]), row.size - 1)
    part[last] += left[row[last]]
    return part


def energy_by_owner(readings: Readings, allocations: Allocations) -> OwnedEnergy:
    """Integrate one day's readings and give the energy to the allocations that hold the boards.

    A reading belongs to whoever holds the board at its time. A shared board's energy follows the shares of the board;
    what nobody holds has allocation -1. Where the shares exceed the board, they are scaled to it.

    Parameters
    ----------
    readings : Readings
        In order of device and time (``sort_order``), at most one for a device and time, none of no length.
    allocations : Allocations
        Of the same day; may overlap.

    Returns
    -------
    OwnedEnergy
        Its energies add up to the sum of power times held time, to the last microjoule.

    Notes
    -----
    E = sum over readings of P x (t_end - t_start), the rectangle rule with each value held.

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> day = Readings(one(1, 1), one(0, 60_000), one(100_000, 200_000), one(60_000, 120_000), one(1, 1))
    >>> owned = energy_by_owner(day, Allocations(one(7), one(1), np.array([1.0]), one(30_000), one(90_000)))
    >>> list(zip(owned.allocation_key.tolist(), owned.energy_microj.tolist(), owned.covered_ms.tolist()))
    [(-1, 6000000000, 60000), (7, 12000000000, 60000)]

    """
    if readings.device_key.size == 0:
        empty = np.zeros(0, dtype=np.int64)
        return OwnedEnergy(empty, empty, empty, empty, empty, empty, empty)
    allocations = _ordered(allocations)
    start, end = readings.time_ms, readings.end_ms
    cuts, first, last = _segments(allocations)
    energy_keys, (count, energy) = _energy_by_segment(readings, start, end, cuts)
    time_keys, (covered,) = _covered_by_segment(readings, start, end, cuts)
    zero_of = np.zeros_like
    keys = tuple(np.concatenate([a, b]) for a, b in zip(energy_keys, time_keys, strict=True))
    keys, (count, energy, covered) = _sum_by(
        keys,
        (
            np.concatenate([count, zero_of(covered)]),
            np.concatenate([energy, zero_of(covered)]),
            np.concatenate([zero_of(energy), covered]),
        ),
    )
    return _give_to_allocations(keys, count, energy, covered, allocations, (cuts, first, last))


def _give_to_allocations(
    keys: tuple[Ints, ...],
    count: Ints,
    energy: Ints,
    covered: Ints,
    allocations: Allocations,
    segments: tuple[Ints, Ints, Ints],
) -> OwnedEnergy:
    device, hour, segment, tier = keys
    cuts, first, last = segments
    holder, held_segment = _expand(first, last)
    total_share = np.zeros(cuts.size)
    np.add.at(total_share, held_segment, allocations.share[holder])
    # one entry per (segment, holder), and one for the part of the board that nobody holds
    free = np.maximum(0.0, 1.0 - total_share)
    free[free < 1e-9] = 0.0
    scale = np.maximum(total_share, 1.0)
    entry_segment = np.concatenate([held_segment, np.flatnonzero(free > 0)])
    entry_key = np.concatenate([allocations.allocation_key[holder], np.full(int((free > 0).sum()), -1)])
    entry_weight = np.concatenate([allocations.share[holder] / scale[held_segment], free[free > 0]])
    order = np.argsort(entry_segment, kind="stable")
    entry_segment, entry_key, entry_weight = entry_segment[order], entry_key[order], entry_weight[order]
    # before a device's first cut, the segment found is another device's last one or -1: nobody holds the board there
    owned = segment >= 0
    owned[owned] = (cuts[segment[owned]] >> _TIME_BITS) == device[owned]
    begin = np.searchsorted(entry_segment, np.where(owned, segment, -1), side="left")
    finish = np.searchsorted(entry_segment, np.where(owned, segment, -2), side="right")
    row, entry = _expand(begin, finish)
    inside = owned[row]
    row, entry = row[inside], entry[inside]
    outside = np.flatnonzero(~owned)
    all_row = np.concatenate([row, outside])
    all_key = np.concatenate([entry_key[entry], np.full(outside.size, -1)])
    weight = np.concatenate([entry_weight[entry], np.ones(outside.size)])
    by_row = np.argsort(all_row, kind="stable")
    all_row, all_key, weight = all_row[by_row], all_key[by_row], weight[by_row]
    (out_device, out_hour, out_key, out_tier), (samples, time, joule) = _sum_by(
        (device[all_row], hour[all_row], all_key, tier[all_row]),
        (count[all_row], _split_exact(covered, all_row, weight), _split_exact(energy, all_row, weight)),
    )
    return OwnedEnergy(out_device, out_hour, out_key, out_tier, samples, time, joule)
