"""Watts by activity, by time with a kernel, and by the scheduler alone: order, ends, units, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.catalogue import _tables
from energy.catalogue.chips import all_chips, chip
from energy.errors import PowerError, UnitError
from energy.ledger.overheads import node_line
from energy.power.accelerators import device
from energy.power.boards import board_parts, is_at_plug, is_plain
from energy.power.defaults import default_power
from energy.power.profile import board_watts
from energy.power.scopes import superchip
from energy.power.states import OVERSHOOT, States, curve_of, idle_watts, state_power
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

KNOWN = [item.chip_id for item in all_chips()]
PLAIN = [name for name in KNOWN if is_plain(name)]
SHARE = st.floats(0.0, 1.0)


def ordered(watts: Watts) -> bool:
    return watts.low <= watts.low80 <= watts.value <= watts.high80 <= watts.high


@pytest.mark.parametrize("name", KNOWN)
def test_every_chip_of_the_catalogue_has_levels_in_their_order(name):
    levels = levels_of(name)
    watts = (levels.idle, levels.context, held_power(levels), active_power_range(levels))
    assert all(ordered(item) for item in watts)
    assert all(item.low > 0 and item.high <= levels.most_w * (1 + 1e-12) for item in watts)
    assert levels.idle.value <= levels.context.value < levels.light_w <= levels.working_w < levels.limit_w
    assert levels.most_w >= OVERSHOOT * levels.limit_w
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
    assert found == pytest.approx(float(board_watts(name, States(busy=1.0, compute=tensor, memory=dram), "bf16")))
    (part,) = activity_power(levels, [active], [np.nan], [np.nan], [True])
    assert part == pytest.approx(levels.context.value + active * (levels.working_w - levels.context.value))


@pytest.mark.parametrize("name", PLAIN)
def test_boards_with_a_limit_of_their_own_follow_the_curve_of_states_to_the_last_bit(name):
    curve = curve_of(name)
    watts = idle_watts(name, curve, curve.power_limit_w)
    working = state_power(name, States(busy=1.0, compute=DEFAULT_LOAD.compute, memory=DEFAULT_LOAD.memory))
    busy, bare, warm = (
        default_power(chip(name), "busy"),
        default_power(chip(name), "idle"),
        default_power(chip(name), "idle", idle="context"),
    )
    assert (bare.power_chip_w, warm.power_chip_w) == watts
    assert busy.power_chip_w == running_power.kernel(watts.context_w, float(working.power_chip_w), WORKING_SHARE.value)


@pytest.mark.parametrize("item", all_chips(), ids=lambda item: item.chip_id)
def test_no_chip_draws_more_bare_than_with_context(item):
    levels = levels_of(item.chip_id)
    assert levels.idle.value <= levels.context.value
    measured = {
        row.text("state"): row.number("power_chip_w")
        for row in _tables.rows("power_states")
        if row.text("chip_id") == item.chip_id
    }
    # a rule of thumb gives way to a reading
    assert levels.idle.value <= measured.get("idle_context", np.inf)
    assert levels.context.value == measured.get("idle_context", levels.context.value)


@pytest.mark.parametrize("name", ["cerebras_wse3", "intel_loihi2", "sambanova_sn40l", "huawei_ascend_910c"])
def test_nothing_stands_around_a_system_at_its_plug(name):
    assert is_at_plug(name)
    line = node_line(name, 4)
    assert (line.slope, line.fixed_w, line.value) == pytest.approx((1.0, 0.0, 1.0), abs=1e-9)


def test_the_gpu_of_a_superchip_is_no_module_and_its_processor_stands_around_it():
    found, module = levels_of("nvidia_gh200_96"), device("nvidia_gh200_96")
    twin = levels_of("nvidia_h100_sxm5_80")
    assert module.limit_w.value > found.limit_w == twin.limit_w
    assert found.working_w == pytest.approx(twin.working_w)
    assert board_parts("nvidia_gh200_96", 1).cpu_tdp_w == superchip("nvidia_gh200_96").processor_limit_w.value
    assert "GPU of a module" in default_power(chip("nvidia_gh200_96"), "busy").source


def test_a_chip_whose_maker_measured_its_work_does_not_draw_its_thermal_maximum():
    held = default_power(chip("google_tpu_v3"), "busy")
    most = chip("google_tpu_v3").tdp_w
    assert most is not None and device("google_tpu_v3").typical_w == 220.0
    assert held.power_chip_w < levels_of("google_tpu_v3").working_w < 262.0 < 0.6 * most


@pytest.mark.parametrize("name", [item.chip_id for item in all_chips() if item.tdp_w is None])
def test_a_chip_without_a_published_limit_has_a_wide_range_instead_of_a_refusal(name):
    held = default_power(chip(name), "busy")
    assert held.power_chip_high_w > 2.0 * held.power_chip_w > 4.0 * held.power_chip_low_w
    assert "power_devices.csv" in held.source


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
    usual, stated = held_power(levels), held_power(levels, share_of(0.53, 0.45, 0.6))
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
