"""Watts by activity, by time with a kernel, and by the scheduler alone: order, ends, units, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.catalogue.chips import all_chips, chip
from energy.errors import PowerError, UnitError
from energy.power.defaults import default_power
from energy.power.states import OVERSHOOT, States, state_power
from energy.power.utilisation import (
    DEFAULT_LOAD,
    WORKING_SHARE,
    Watts,
    active_power_range,
    activity_power,
    held_power,
    levels_of,
    running_power,
    share_of,
    use_power,
)
from energy.units import quantity

KNOWN = [item.chip_id for item in all_chips() if item.tdp_w is not None and item.idle_w is not None]
SHARE = st.floats(0.0, 1.0)


def ordered(watts: Watts) -> bool:
    return watts.low <= watts.low80 <= watts.value <= watts.high80 <= watts.high


@pytest.mark.parametrize("name", KNOWN)
def test_every_chip_of_the_catalogue_has_levels_in_their_order(name):
    levels = levels_of(name)
    watts = (levels.idle, levels.context, held_power(levels), active_power_range(levels))
    assert all(ordered(item) for item in watts)
    assert all(item.low > 0 and item.high <= OVERSHOOT * levels.limit_w * (1 + 1e-12) for item in watts)
    assert levels.idle.value <= levels.context.value < levels.light_w < levels.working_w < levels.limit_w
    assert levels.context.value < held_power(levels).value < levels.working_w


@given(st.sampled_from(KNOWN), SHARE, SHARE, st.booleans())
def test_power_rises_with_the_time_with_a_kernel_from_idle_to_running(name, one, other, held):
    levels = levels_of(name)
    low, high = use_power(levels, sorted((one, other)), [held, held])
    rest = levels.context.value if held else levels.idle.value
    assert rest - 1e-9 <= low <= high + 1e-9
    assert high <= held_power(levels).value + 1e-9


@given(st.sampled_from(KNOWN), SHARE, SHARE, SHARE)
def test_power_of_activity_is_that_of_the_states(name, active, tensor, dram):
    """A board active all the time is a busy board of that load; nothing else is known of it."""
    levels = levels_of(name)
    (found,) = activity_power(levels, [1.0], [tensor], [dram], [True])
    states = state_power(name, States(busy=1.0, compute=tensor, memory=dram))
    assert found == pytest.approx(float(states.power_chip_w))
    (part,) = activity_power(levels, [active], [np.nan], [np.nan], [True])
    assert part == pytest.approx(levels.context.value + active * (levels.working_w - levels.context.value))


def test_an_activity_that_was_not_read_is_the_default_and_none_is_not_known():
    levels = levels_of("nvidia_h100_sxm5_80")
    nan = np.nan
    found = activity_power(
        levels,
        [nan, nan, nan, 0.0],
        [DEFAULT_LOAD.compute, nan, nan, nan],
        [nan, DEFAULT_LOAD.memory, nan, nan],
        [False] * 4,
    )
    assert found[:2] == pytest.approx([levels.working_w] * 2)
    assert np.isnan(found[2])
    assert found[3] == levels.idle.value


def test_the_share_of_a_site_narrows_the_range():
    levels = levels_of("nvidia_h100_sxm5_80")
    usual, stated = held_power(levels), held_power(levels, share_of(0.51, 0.45, 0.6))
    assert usual.value == stated.value
    assert usual.low < stated.low < stated.high < usual.high
    assert ordered(stated)


def test_default_power_is_of_states_and_says_from_where():
    h100 = chip("nvidia_h100_sxm5_80")
    busy, bare, warm = (
        default_power(h100, "busy"),
        default_power(h100, "idle"),
        default_power(h100, "idle", idle="context"),
    )
    assert bare.power_chip_w < warm.power_chip_w < busy.power_chip_w
    assert "acme_trace" in busy.source
    assert "power_chip.csv: nvidia_h200_sxm" in busy.source
    assert "as site.yaml states" in default_power(h100, "busy", share_of(0.9, 0.9, 0.9)).source
    assert {item.status for item in (busy, bare, warm)} == {"default"}


def test_what_is_not_known_is_refused():
    with pytest.raises(PowerError, match="use busy or idle"):
        default_power(chip("nvidia_h100_sxm5_80"), "asleep")
    with pytest.raises(PowerError, match="low, value, high in order"):
        share_of(0.5, 0.6, 0.9)
    with pytest.raises(PowerError, match="from 0 to 1"):
        share_of(0.5, 0.4, 1.1)


def test_the_plug_s_watts_are_no_board_s():
    board, plug = quantity(100.0, "W_chip/chip"), quantity(500.0, "W_it")
    with pytest.raises(UnitError):
        running_power(board, plug, WORKING_SHARE.value)
    assert str(running_power(board, quantity(0.5, "kW_chip/chip"), 0.5).units) == "W_chip/chip"
