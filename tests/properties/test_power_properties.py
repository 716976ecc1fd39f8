"""Properties of power: it rises with every load, stays between idle and the limit, and no unit changes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.power.caps import cap_of, capped_power, slow_down
from energy.power.states import States, busy_power, curve_of, idle_watts, load_of, state_power
from energy.units import quantity

CHIPS = st.sampled_from(
    ["nvidia_h200_sxm", "nvidia_b200_sxm", "nvidia_gb200", "nvidia_a100_sxm4_80", "amd_mi300x", "nvidia_v100_pcie"]
)
PRECISIONS = st.sampled_from(["bf16", "fp16"])
SHARE = st.floats(0.0, 1.0)
CARDS = st.sampled_from(["nvidia_p100_pcie_16", "nvidia_v100_pcie", "nvidia_a40", "nvidia_h100_sxm5_80"])


@given(chip=CHIPS, wanted=PRECISIONS, one=st.tuples(SHARE, SHARE), other=st.tuples(SHARE, SHARE))
def test_more_load_never_draws_less(chip, wanted, one, other):
    less, more = np.minimum(one, other), np.maximum(one, other)
    low, high = (
        state_power(chip, States(busy=1.0, compute=load[0], memory=load[1]), wanted).power_chip_w
        for load in (less, more)
    )
    assert low <= high * (1 + 1e-12)


@given(
    chip=CHIPS,
    wanted=PRECISIONS,
    parts=st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5),
    load=st.tuples(SHARE, SHARE),
)
def test_power_is_between_idle_and_the_limit(chip, wanted, parts, load):
    names = ("idle", "idle_context", "busy", "communication", "stall")
    shares = dict(zip(names, np.array(parts) / sum(parts), strict=True))
    found = state_power(chip, States(**shares, compute=load[0], memory=load[1]), wanted)
    one = curve_of(chip, wanted)
    idle = idle_watts(chip, one, one.power_limit_w).idle_w
    assert idle * (1 - 1e-12) <= found.power_chip_w <= one.power_limit_w
    assert idle * (1 - 1e-12) <= found.power_chip_low_w <= found.power_chip_w <= found.power_chip_high_w


@given(chip=CHIPS, loads=st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=20))
def test_arrays_and_scalars_are_the_same_code(chip, loads):
    compute, memory = (np.array(values) for values in zip(*loads, strict=True))
    together = state_power(chip, States(busy=1.0, compute=compute, memory=memory)).power_chip_w
    alone = [float(state_power(chip, States(busy=1.0, compute=c, memory=m)).power_chip_w) for c, m in loads]
    assert together == pytest.approx(alone, rel=1e-12)


@settings(max_examples=40)
@given(limit=st.floats(50.0, 1500.0), load=st.floats(0.0, 10.0), base=st.floats(0.05, 0.4))
def test_no_unit_changes_power(limit, load, base):
    in_watts = busy_power(quantity(limit, "W_chip/chip"), base, 1.0, load)
    in_kilowatts = busy_power(quantity(limit / 1e3, "kW_chip/chip"), base, 1.0, load)
    assert in_watts.magnitude == pytest.approx(in_kilowatts.to("W_chip/chip").magnitude, rel=1e-12)
    assert in_watts.magnitude == pytest.approx(busy_power.kernel(limit, base, 1.0, load), rel=1e-12)


@given(card=CARDS, wanted=st.floats(20.0, 700.0), limits=st.tuples(st.floats(50.0, 700.0), st.floats(50.0, 700.0)))
def test_a_tighter_limit_never_draws_more_nor_runs_faster(card, wanted, limits):
    one = cap_of(card)
    tight, loose = sorted(limits)
    low, high = (
        float(capped_power.kernel(wanted, limit, one.ceiling_fraction, one.sharpness, one.floor_fraction))
        for limit in (tight, loose)
    )
    assert low <= high * (1 + 1e-12)
    assert high <= wanted * (1 + 1e-4)
    slow, quick = (float(slow_down.kernel(wanted, watt, one.slow_linear, one.slow_square)) for watt in (low, high))
    assert slow >= 1.0
    assert slow >= quick - 1e-9 or slow - 1.0 < 0.02


@given(chip=CHIPS, share=SHARE)
def test_cached_bytes_count_too(chip, share):
    one = curve_of(chip)
    assert load_of(one, 0.3, 0.2, share) >= load_of(one, 0.3, 0.2)
