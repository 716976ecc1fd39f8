"""Cumulative counters, and the bridging of gaps: the kernel on small arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.power.counters import (
    BRIDGE_MS,
    MOST_BRIDGE_MS,
    NOT_READ,
    boundary_rows,
    counted_intervals,
    held_and_bridged,
)

MINUTE = 60_000
MOST = 1_000_000.0  # mW
SPAN = 262_143_328_850  # the range of a processor's counter in the shared case of wrong number 4


def ints(*values):
    return np.array(values, dtype=np.int64)


def counted(counter, *, minutes=None, power=None, span=None, most=MOST, device=None):
    size = len(counter)
    times = ints(*(minutes or range(size))) * MINUTE
    return counted_intervals(
        ints(*(device or [1] * size)),
        times,
        ints(*(NOT_READ if value is None else value for value in counter)),
        ints(*(power or [NOT_READ] * size)),
        np.full(size, most),
        None if span is None else np.full(size, span),
    )


def energy(found):
    """Return the energy of each known interval in µJ, by the place where it begins."""
    return {
        int(place): int(found.power_milliw[place] * found.interval_ms[place]) for place in np.flatnonzero(found.is_good)
    }


def flags(found):
    return {
        name: np.flatnonzero(values).tolist()
        for name in ("fell", "wrapped", "ambiguous", "stood", "jumped")
        if (values := getattr(found, name)).any()
    }


def test_differences():
    found = counted([0, 6_000_000, 18_000_000])
    assert energy(found) == {0: 6_000_000, 1: 12_000_000}
    assert flags(found) == {}


def test_a_fall_without_range_is_a_restart():
    found = counted([100_000_000, 0, 6_000_000])
    assert flags(found) == {"fell": [0]}
    assert energy(found) == {1: 6_000_000}


def test_a_fall_that_fits_the_range_is_a_wrap():
    found = counted([262_000_000_000, 11_856_671_150], span=SPAN)
    assert energy(found) == {0: 12_000_000_000}
    assert flags(found) == {"wrapped": [0]}


@pytest.mark.parametrize(("first", "last"), [(200_000_000_000, 0), (300_000_000_000, 1_000_000)])
def test_a_fall_that_the_range_does_not_explain_is_a_restart(first, last):
    assert flags(counted([first, last], span=SPAN)) == {"fell": [0]}


def test_an_ambiguous_wrap_is_a_least_energy():
    found = counted([100_000_000_000, 110_000_000_000], minutes=(0, 60), span=SPAN)
    assert flags(found) == {"ambiguous": [0]}
    assert energy(found) == {}
    assert found.least_microj.tolist() == [10_000_000_000, 0]
    assert found.is_unclear.tolist() == [True, False]


def test_a_wrap_that_may_be_two_is_ambiguous():
    found = counted([200_000_000_000, 100_000_000_000], minutes=(0, 60), span=SPAN)
    assert flags(found) == {"ambiguous": [0]}
    assert found.least_microj[0] == SPAN - 100_000_000_000


def test_a_jump_is_more_than_the_device_can_draw():
    assert flags(counted([0, 60_000_000_000])) == {}
    found = counted([0, 60_000_000_001])
    assert flags(found) == {"jumped": [0]}
    assert energy(found) == {}


def test_a_counter_that_stands_still_is_unclear():
    found = counted([7, 7, 7, 6_000_007])
    assert flags(found) == {"stood": [0]}
    assert found.stood[0] == 2
    assert energy(found) == {}
    assert found.is_unclear.tolist() == [True, True, True, False]


def test_a_coarse_counter_is_spread_over_its_standstill():
    found = counted([0, 0, 0, 18_000_000, 36_000_000], power=[100] * 5)
    assert energy(found) == {0: 6_000_000, 1: 6_000_000, 2: 6_000_000, 3: 18_000_000}
    assert flags(found) == {}


def test_devices_are_apart():
    found = counted([6_000_000, 12_000_000, 0, 60_000], minutes=(0, 1, 0, 1), device=(1, 1, 2, 2))
    assert energy(found) == {0: 6_000_000, 2: 60_000}
    assert flags(found) == {}


def test_nothing():
    assert counted([]).is_good.size == 0
    assert flags(counted([None, None])) == {}


@given(st.lists(st.integers(1, 50_000_000), min_size=1, max_size=30), st.integers(2**36, 2**40), st.integers(0, 2**36))
def test_wrapping_changes_nothing(steps, span, start):
    """A counter that wraps gives the same energies as one that does not, where one wrap is all that is possible."""
    counter = start + np.cumsum([0, *(step * 1000 for step in steps)])
    plain, wrapped = counted(counter.tolist()), counted((counter % span).tolist(), span=span)
    assert plain.is_good[:-1].all()
    assert wrapped.power_milliw.tolist() == plain.power_milliw.tolist()
    assert wrapped.is_good.tolist() == plain.is_good.tolist()
    assert set(flags(wrapped)) <= {"wrapped"}
    assert wrapped.wrapped.sum() == counter[-1] // span - counter[0] // span


# what stands until when


def held(minutes, power, *, sampling=1, counted_minutes=None, may_bridge=True):
    size = len(minutes)
    found = held_and_bridged(
        np.ones(size, dtype=np.int64),
        ints(*(round(minute * MINUTE) for minute in minutes)),
        ints(*power),
        np.full(size, sampling * MINUTE),
        ints(*(counted_minutes or [0] * size)) * MINUTE,
        np.full(size, may_bridge),
    )
    columns = (found.start_ms / MINUTE, found.end_ms / MINUTE, found.power_milliw, found.is_bridged)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_short_gap_is_the_mean_of_its_sides_and_its_reading_is_not_held_besides():
    assert held((0, 1, 5), (100, 300, 600)) == [(0, 1, 100, False), (1, 5, 450, True), (5, 6, 600, False)]


@pytest.mark.parametrize(
    ("gap", "sampling", "is_bridged"),
    [
        (1.5, 1, False),
        (1.51, 1, True),
        (15, 1, True),
        (15.01, 1, False),
        (40, 20, True),
        (60, 30, True),
        (70, 35, False),
    ],
)
def test_how_long_a_gap_may_be(gap, sampling, is_bridged):
    assert (BRIDGE_MS, MOST_BRIDGE_MS) == (15 * MINUTE, 60 * MINUTE)
    first, _ = held((0, gap), (100, 300), sampling=sampling)
    expected = gap if is_bridged or gap <= 1.5 * sampling else sampling
    assert first == (0, expected, 200 if is_bridged else 100, is_bridged)


def test_a_bridge_after_a_counted_energy_begins_where_that_ends():
    assert held((0, 1, 3), (500, 600, 800), counted_minutes=(1, 1, 0)) == [
        (0, 1, 500, False),
        (1, 2, 600, False),
        (2, 3, 700, True),
        (3, 4, 800, False),
    ]


def test_what_is_unclear_is_not_bridged():
    assert held((0, 5), (100, 300), may_bridge=False) == [(0, 1, 100, False), (5, 6, 300, False)]


def test_a_counted_energy_is_neither_stretched_nor_cut():
    """Ten hours that were counted stand for ten hours, also if less than half of that is missing after them."""
    assert held((0, 700), (100, 300), counted_minutes=(600, 0)) == [(0, 600, 100, False), (700, 701, 300, False)]


@pytest.mark.parametrize(
    ("at_end", "counter", "expected"),
    [
        (True, [None, None, None], [1, 2]),
        (False, [None, None, None], [0, 1]),
        (True, [1, 2, 3, 4], [2, 3]),
        (False, [1, 2, 3, 4], [0, 1, 2]),
        (True, [1, 2, 2, 2], [0, 1, 2, 3]),
        (False, [1, 1, 2, 2, 3, 4], [0, 1, 2, 3, 4]),
        (True, [1, 2, 3, None, None], [1, 2, 3, 4]),
        (False, [7], [0]),
    ],
)
def test_what_a_neighbouring_day_must_know(at_end, counter, expected):
    values = ints(*(NOT_READ if value is None else value for value in counter))
    device = np.ones(values.size, dtype=np.int64)
    assert boundary_rows(device, np.arange(values.size), values, at_end=at_end).tolist() == expected
