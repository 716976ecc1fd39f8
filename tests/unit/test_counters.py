import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.importers.counters import (
    AMBIGUOUS,
    JUMP,
    RESTART,
    STILL,
    STUCK,
    WRAP,
    energy_of_counters,
    energy_of_power,
    flag_words,
    totals_of_counters,
)

MINUTE = 60_000
MOST = 1_000_000  # mW


def ints(*values):
    return np.array(values, dtype=np.int64)


def counted(counter, *, minutes=None, **given):
    times = ints(*(minutes or range(len(counter)))) * MINUTE
    given.setdefault("most_milliw", MOST)
    return energy_of_counters(np.ones(len(counter), dtype=np.int64), times, ints(*counter), **given)


def test_differences():
    found = counted([0, 5_000_000, 12_000_000])
    assert found.energy_microj.tolist() == [5_000_000, 7_000_000]
    assert found.known.all()
    assert not found.flags.any()


def test_restart_is_unknown_and_at_least_what_it_shows():
    found = counted([100_000_000, 2_000_000, 9_000_000])
    assert found.flags.tolist() == [RESTART, 0]
    assert found.known.tolist() == [False, True]
    assert found.least_microj.tolist() == [2_000_000, 7_000_000]


def test_wrap_needs_a_range():
    span = 262_143_328_850
    found = counted([262_000_000_000, 11_856_671_150], range_microj=span)
    assert found.energy_microj.tolist() == [12_000_000_000]
    assert found.flags.tolist() == [WRAP]
    assert found.known.all()
    assert counted([262_000_000_000, 11_856_671_150]).flags.tolist() == [RESTART]


def test_ambiguous_wrap_is_a_least_energy():
    found = counted([100_000_000_000, 110_000_000_000], minutes=(0, 60), range_microj=262_143_328_850)
    assert found.flags.tolist() == [AMBIGUOUS]
    assert found.known.tolist() == [False]
    assert found.least_microj.tolist() == [10_000_000_000]


def test_a_fall_that_a_wrap_does_not_explain_is_a_restart():
    found = counted([200_000_000_000, 1_000_000], range_microj=262_143_328_850, most_milliw=MOST)
    assert found.flags.tolist() == [RESTART]


def test_jump():
    found = counted([0, 61_000_000_000])
    assert found.flags.tolist() == [JUMP]
    assert found.least_microj.tolist() == [0]


def test_limit_by_reading():
    found = counted([0, 50_000_000_000, 100_000_000_000], most_milliw=ints(MOST, 100, MOST))
    assert found.flags.tolist() == [0, JUMP]


def test_stuck_under_power():
    power = ints(500_000, 500_000, 500_000)
    assert counted([7, 7, 7], power_milliw=power).flags.tolist() == [STUCK, STUCK]
    assert not counted([7, 7, 7], power_milliw=power).known.any()


def test_standing_still_without_power_is_unknown():
    assert counted([7, 7]).flags.tolist() == [STILL]
    found = counted([7, 7, 7], power_milliw=ints(-1, -1, 0))
    assert found.flags.tolist() == [STILL, 0]
    assert found.known.tolist() == [False, True]


def test_devices_are_apart():
    found = energy_of_counters(ints(1, 1, 2, 2), ints(0, 9, 0, 9), ints(5, 10, 3, 4), MOST)
    assert found.device_key.tolist() == [1, 2]
    assert found.energy_microj.tolist() == [5, 1]


def test_bridge():
    totals = totals_of_counters(counted([0, 60_000_000, 5, 120_000_005], minutes=(0, 1, 2, 3)))
    assert totals.measured_microj.tolist() == [180_000_000]
    assert totals.measured_ms.tolist() == [2 * MINUTE]
    assert totals.bridged_microj.tolist() == [270_000_000]
    unknown = totals_of_counters(counted([7, 7]))
    assert (unknown.measured_ms.tolist(), unknown.bridged_ms.tolist()) == ([0], [0])


def test_power_rules():
    device, times, power = np.ones(4, dtype=np.int64), ints(0, 1, 2, 5) * MINUTE, ints(100, 300, 500, 700)
    hold = energy_of_power(device, times, power, MINUTE, "hold")
    assert hold.measured_microj.tolist() == [400 * MINUTE]
    assert hold.held_microj.tolist() == [900 * MINUTE]
    assert hold.bridged_microj.tolist() == [1900 * MINUTE]
    assert (hold.measured_ms[0], hold.held_ms[0], hold.bridged_ms[0]) == (2 * MINUTE, 3 * MINUTE, 5 * MINUTE)
    line = energy_of_power(device, times, power, MINUTE, "trapezoid")
    assert line.measured_microj.tolist() == line.held_microj.tolist() == [600 * MINUTE]
    assert line.bridged_microj.tolist() == [2400 * MINUTE]


def test_late_scrapes_are_no_gap():
    totals = energy_of_power(ints(1, 1), ints(0, 66_000), ints(100, 100), MINUTE, "hold")
    assert totals.measured_ms.tolist() == [66_000]


def test_nothing():
    empty = ints()
    assert totals_of_counters(energy_of_counters(empty, empty, empty, MOST)).device_key.size == 0
    assert energy_of_power(ints(1), ints(0), ints(5), MINUTE, "hold").device_key.size == 0


def test_refused_arguments():
    with pytest.raises(ValueError, match="sort them"):
        energy_of_power(ints(1, 1), ints(5, 5), ints(1, 1), MINUTE, "hold")
    with pytest.raises(ValueError, match="sort them"):
        counted([1, 2], minutes=(2, 1))
    with pytest.raises(ValueError, match="no rule"):
        energy_of_power(ints(1), ints(5), ints(1), MINUTE, "simpson")
    with pytest.raises(ValueError, match="give one of each"):
        energy_of_power(ints(1), ints(5, 6), ints(1), MINUTE, "hold")
    assert flag_words(0) == []


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 50_000_000_000), min_size=1, max_size=30), st.integers(2**36, 2**40), st.integers(0, 2**36)
)
def test_wrapping_changes_nothing(steps, span, start):
    """A counter that wraps gives the same energies as one that does not, where one wrap is all that is possible."""
    counter = np.cumsum([start, *steps])
    plain = counted(counter.tolist())
    wrapped = counted((counter % span).tolist(), range_microj=span)
    assert plain.known.all()
    assert wrapped.energy_microj.tolist() == plain.energy_microj.tolist()
    assert wrapped.known.all()
    assert ((wrapped.flags == WRAP) | (wrapped.flags == 0)).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**6)), min_size=2, max_size=40))
def test_order_of_totals(samples):
    times = np.cumsum([gap for gap, _ in samples])
    power = ints(*(value for _, value in samples))
    totals = energy_of_power(np.ones(times.size, dtype=np.int64), times, power, MINUTE, "hold")
    assert totals.measured_microj[0] <= totals.held_microj[0] <= totals.bridged_microj[0]
    assert totals.bridged_microj[0] == int((power[:-1] * np.diff(times)).sum())
    assert totals.bridged_ms[0] == times[-1] - times[0]
