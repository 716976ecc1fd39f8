"""Properties of the integration of readings, and agreement with a plain reference that walks the day tick by tick."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.power.counters import held_and_bridged
from energy.power.readings import (
    DAY_MS,
    HOUR_MS,
    TIER_CODES,
    Allocations,
    Readings,
    energy_by_owner,
    sort_order,
)

TICK_MS = 300_000
TICKS = DAY_MS // TICK_MS
NOBODY = -1
SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(1, 8))


@st.composite
def readings(draw, unit_ms=TICK_MS, devices=3, most=12):
    """Draw readings as tuples (device, time, power, interval, tier), no two of one device and time."""
    places = draw(
        st.lists(st.tuples(st.integers(1, devices), st.integers(0, DAY_MS // unit_ms - 1)), unique=True, max_size=most)
    )
    interval = draw(st.integers(1, 40)) * unit_ms
    return [
        (
            device,
            time * unit_ms,
            draw(st.integers(0, 1_500_000)),
            interval if draw(st.booleans()) else draw(st.integers(1, 40)) * unit_ms,
            draw(st.integers(0, len(TIER_CODES) - 1)),
        )
        for device, time in places
    ]


@st.composite
def allocations(draw, unit_ms=TICK_MS, devices=4, most=8, shares=SHARES):
    """Draw allocations as tuples (key, device, share, start, end); they overlap, are empty, or lie outside the day."""
    count = draw(st.integers(0, most))
    moment = st.integers(-30, DAY_MS // unit_ms + 30)
    out = []
    for key in range(count):
        start, end = sorted((draw(moment), draw(moment)))
        out.append((key, draw(st.integers(0, devices)), draw(st.sampled_from(shares)), start * unit_ms, end * unit_ms))
    return out


def integrate(read, held):
    """Run the function on tuples; return {(device, hour, allocation, tier): (samples, covered, energy)}."""
    whole = [np.array([row[place] for row in read], dtype=np.int64) for place in range(5)]
    order = sort_order(whole[0], whole[1])
    device, time, power, interval, tier = (column[order] for column in whole)
    stands = held_and_bridged(device, time, power, interval, np.zeros_like(time), np.zeros(time.size, dtype=bool))
    owned = energy_by_owner(
        Readings(device, time, power, np.minimum(stands.end_ms, DAY_MS), tier),
        Allocations(
            np.array([row[0] for row in held], dtype=np.int64),
            np.array([row[1] for row in held], dtype=np.int64),
            np.array([float(row[2]) for row in held]),
            np.array([row[3] for row in held], dtype=np.int64),
            np.array([row[4] for row in held], dtype=np.int64),
        ),
    )
    keys = zip(
        owned.device_key.tolist(),
        owned.hour.tolist(),
        owned.allocation_key.tolist(),
        owned.tier_code.tolist(),
        strict=True,
    )
    values = zip(owned.sample_count.tolist(), owned.covered_ms.tolist(), owned.energy_microj.tolist(), strict=True)
    result = dict(zip(keys, values, strict=True))
    assert len(result) == owned.hour.size, "a key occurs twice"
    return result


def total(result, place, *, by=lambda key: None):
    sums = defaultdict(int)
    for key, values in result.items():
        sums[by(key)] += values[place]
    return {key: value for key, value in sums.items() if value}


def hold_of(read):
    """Return [(device, start, end, power, time)] of each reading, by the rule and nothing else."""
    out = []
    by_device = defaultdict(list)
    for row in sorted(read):
        by_device[row[0]].append(row)
    for device, rows in by_device.items():
        for place, (_, time, power, interval, _) in enumerate(rows):
            following = rows[place + 1][1] if place + 1 < len(rows) else math.inf
            held = following if 2 * (following - time) <= 3 * interval else time + interval
            out.append((device, time, min(held, following, DAY_MS), power, time))
    return out


def holders(held, device, time):
    """Return {allocation: share} of a board at one instant; shares over the board are scaled to it."""
    shares = defaultdict(Fraction)
    for key, of_device, share, start, end in held:
        if of_device == device and start <= time < end:
            shares[key] += share
    given_out = sum(shares.values())
    if given_out > 1:
        return {key: share / given_out for key, share in shares.items()}
    if given_out < 1:
        shares[NOBODY] = 1 - given_out
    return shares


def walk(read, held):
    """Integrate tick by tick; exact fractions."""
    energy, covered = defaultdict(Fraction), defaultdict(Fraction)
    tier_of = {(row[0], row[1]): row[4] for row in read}
    for device, start, end, power, time in hold_of(read):
        owners = holders(held, device, time)
        for tick in range(start // TICK_MS, end // TICK_MS):
            at = tick * TICK_MS
            tier = tier_of[device, time]
            for key, share in owners.items():
                energy[device, at // HOUR_MS, key, tier] += power * TICK_MS * share
            for key, share in holders(held, device, at).items():
                covered[device, at // HOUR_MS, key, tier] += TICK_MS * share
    return energy, covered


@settings(deadline=None)
@given(readings(), allocations())
def test_agrees_with_a_walk_through_the_day(read, held):
    result = integrate(read, held)
    energy, covered = walk(read, held)
    slack = 2 * len(held) + 2  # shares of a board are rounded to whole microjoules and milliseconds in each part
    for key in {*result, *energy, *covered}:
        _, time_ms, microj = result.get(key, (0, 0, 0))
        assert abs(microj - energy.get(key, 0)) <= slack
        assert abs(time_ms - covered.get(key, 0)) <= slack


@settings(deadline=None)
@given(readings(), allocations(shares=(Fraction(1),), most=3, devices=2))
def test_whole_boards_agree_exactly(read, held):
    for_one = [row for place, row in enumerate(held) if all(row[1] != other[1] for other in held[:place])]
    result = integrate(read, for_one)
    energy, covered = walk(read, for_one)
    assert {key: values[2] for key, values in result.items() if values[2]} == {k: v for k, v in energy.items() if v}
    assert {key: values[1] for key, values in result.items() if values[1]} == {k: v for k, v in covered.items() if v}


@settings(deadline=None)
@given(readings(unit_ms=977, most=30), allocations(unit_ms=1013, shares=(*SHARES, Fraction(1, 3), Fraction(7, 10))))
def test_energy_is_conserved_to_the_last_microjoule(read, held):
    result = integrate(read, held)
    by_device = defaultdict(int)
    for device, start, end, power, _ in hold_of(read):
        by_device[device] += power * (end - start)
    assert total(result, 2, by=lambda key: key[0]) == {key: value for key, value in by_device.items() if value}
    assert min((value for values in result.values() for value in values), default=0) >= 0


@settings(deadline=None)
@given(readings(unit_ms=977, most=30), allocations(unit_ms=1013, shares=(*SHARES, Fraction(1, 3), Fraction(7, 10))))
def test_covered_time_is_exact_and_no_longer_than_the_wall_s(read, held):
    result = integrate(read, held)
    by_device = defaultdict(int)
    for device, start, end, _, _ in hold_of(read):
        by_device[device] += end - start
    assert total(result, 1, by=lambda key: key[0]) == by_device
    hours = total(result, 1, by=lambda key: key[:2])
    assert all(value <= HOUR_MS for value in hours.values())
    for key, (_, covered, _) in result.items():
        if key[2] != NOBODY:
            _, _, share, start, end = held[key[2]]
            overlap = max(0, min(end, (key[1] + 1) * HOUR_MS) - max(start, key[1] * HOUR_MS))
            assert covered <= overlap * share + 2 * len(held) + 2


@settings(deadline=None)
@given(readings(unit_ms=977, most=20), allocations(unit_ms=1013), st.randoms(use_true_random=False))
def test_the_order_of_the_input_means_nothing(read, held, random):
    expected = integrate(read, held)
    mixed_read, mixed_held = list(read), list(held)
    random.shuffle(mixed_read)
    random.shuffle(mixed_held)
    assert integrate(mixed_read, mixed_held) == expected


@settings(deadline=None)
@given(readings(unit_ms=977), allocations(unit_ms=1013, shares=(Fraction(1), Fraction(1, 2))), st.integers(0, DAY_MS))
def test_an_allocation_cut_in_two_at_any_instant_is_the_same(read, held, instant):
    parts = [
        (key, device, share, *bounds)
        for key, device, share, start, end in held
        for bounds in (((start, instant), (instant, end)) if start < instant < end else ((start, end),))
    ]
    one, two = integrate(read, held), integrate(read, parts)
    for key in {*one, *two}:
        samples, covered, energy = one.get(key, (0, 0, 0))
        other_samples, other_covered, other_energy = two.get(key, (0, 0, 0))
        assert samples == other_samples
        assert abs(energy - other_energy) <= len(held)
        assert abs(covered - other_covered) <= len(held)


@settings(deadline=None)
@given(readings(unit_ms=977), st.integers(0, DAY_MS), st.integers(0, DAY_MS), st.integers(-5_000_000, 5_000_000))
def test_an_edge_moved_where_no_reading_lies_changes_no_energy(read, start, end, move):
    start, end = sorted((start, end))
    low, high = sorted((end, end + move))
    # the moved edge passes the instants [low, high): no reading may lie there, nor may the edges cross
    if any(low <= row[1] < high for row in read) or low < start:
        return
    before = integrate(read, [(0, 1, Fraction(1), start, end)])
    after = integrate(read, [(0, 1, Fraction(1), start, end + move)])
    assert total(before, 2, by=lambda key: key) == total(after, 2, by=lambda key: key)


@settings(deadline=None)
@given(readings(unit_ms=977), allocations(unit_ms=1013))
def test_a_gap_gives_no_energy(read, held):
    result = integrate(read, held)
    covered = total(result, 1, by=lambda key: key[:2])
    power = defaultdict(list)
    for device, _, _, milliw, _ in hold_of(read):
        power[device].append(milliw)
    for (device, hour), energy in total(result, 2, by=lambda key: key[:2]).items():
        time_ms = covered[device, hour]
        assert min(power[device]) * time_ms <= energy <= max(power[device]) * time_ms


@settings(deadline=None)
@given(readings(unit_ms=977), allocations(unit_ms=1013, shares=(Fraction(1),)), st.integers(1, 1000))
def test_power_in_another_unit_scales_the_energy(read, held, factor):
    alone = [row for place, row in enumerate(held) if all(row[1] != other[1] for other in held[:place])]
    scaled = [(device, time, factor * power, interval, tier) for device, time, power, interval, tier in read]
    one, many = integrate(read, alone), integrate(scaled, alone)
    assert {key: (count, time, factor * energy) for key, (count, time, energy) in one.items()} == many


@settings(deadline=None)
@given(readings(unit_ms=977), allocations(unit_ms=1013), st.integers(1, 12))
def test_a_shift_by_whole_hours_shifts_the_hours(read, held, hours):
    shift = hours * HOUR_MS
    # nothing may touch an edge of the day, where the rule differs on purpose
    inside = [row for row in read if row[1] + 2 * row[3] + shift <= DAY_MS]
    clipped = [(key, device, share, max(start, 0), min(max(end, 0), DAY_MS - shift)) for key, device, share, start, end
               in held if start <= min(max(end, 0), DAY_MS - shift)]  # fmt: skip
    later = [(device, time + shift, *rest) for device, time, *rest in inside]
    moved = [(key, device, share, start + shift, end + shift) for key, device, share, start, end in clipped]
    one, two = integrate(inside, clipped), integrate(later, moved)
    assert {(device, hour + hours, key, tier): values for (device, hour, key, tier), values in one.items()} == two


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_an_allocation_of_another_day_holds_nothing(share):
    read = [(1, hour * HOUR_MS, 100_000, HOUR_MS, 1) for hour in range(24)]
    for start, end in ((-3 * DAY_MS, -DAY_MS), (2 * DAY_MS, 9_000 * DAY_MS), (DAY_MS, DAY_MS), (-5, 0), (7, 7)):
        result = integrate(read, [(0, 1, share, start, end)])
        assert {key[2] for key, values in result.items() if values != (0, 0, 0)} == {NOBODY}, (start, end)


def test_a_day_that_is_cut_out_ends_with_the_day():
    assert total(integrate([(1, DAY_MS - 10_000, 5, 60_000, 1)], []), 1) == {None: 10_000}
