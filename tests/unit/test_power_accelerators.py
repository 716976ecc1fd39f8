"""Every chip of the catalogue has watts by state with a range, at the boundary of what draws them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.catalogue.chips import all_chips, chip
from energy.errors import PowerError, UnknownNameError
from energy.power.accelerators import device, device_power, power_curve, shown_states, usual_precision
from energy.power.analogue import array_power, highest_products_per_s, product_energy
from energy.power.neuromorphic import event_energy, event_power, highest_events_per_s, inference_energy_j
from energy.power.node import node_power, parts_of
from energy.power.phases import phases
from energy.power.states import States, state_power
from energy.power.training import training_power, usual_node
from energy.power.training_profile import Utilisation, training_profile, usual_utilisation

IDS = [one.chip_id for one in all_chips()]
BY_EVENTS = [name for name in IDS if device(name).model == "events"]
BY_CONVERSIONS = [name for name in IDS if device(name).model == "conversions"]
SYSTEMS = [name for name in IDS if device(name).boundary == "it"]
share = st.floats(0.0, 1.0)


def edges(found) -> tuple[float, ...]:
    return tuple(
        float(one)
        for one in (found.power_low_w, found.power_low80_w, found.power_w, found.power_high80_w, found.power_high_w)
    )


@pytest.mark.parametrize("name", IDS)
def test_every_chip_answers_with_value_range_and_status(name):
    states = shown_states(name)
    assert states[0][0].state == "idle"
    for _, found in states:
        assert all(low <= high for low, high in pairwise(edges(found)))
        assert edges(found)[0] > 0.0
        assert found.status in ("catalogue", "derived", "estimate")
        assert found.unit == f"W_{device(name).boundary}/chip"
        assert found.source
    values = [float(found.power_w) for _, found in states]
    assert values[0] == min(values), "nothing draws less than idle"
    assert max(values) <= 1.1 * device(name).limit_w.value


@pytest.mark.parametrize("name", [name for name in IDS if device(name).model not in ("design", "processor")])
def test_power_of_every_chip_rises_with_its_load(name):
    assert np.all(np.diff(power_curve(name, np.linspace(0.0, 1.0, 6)).power_w) > 0.0)


def test_a_chip_nobody_has_heard_of_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="google_tpu_v5p"):
        device_power("google_tpu_v5q", States(idle=1.0))


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_counted_at_a_plug_is_no_chip_of_a_node(name):
    found = device_power(name, States(idle=1.0))
    assert found.unit == "W_it/chip"
    with pytest.raises(PowerError, match="at its plug"):
        found.state_power()


def test_which_are_systems():
    assert {"cerebras_wse3", "intel_loihi2", "sambanova_sn40l", "huawei_ascend_910c"} <= set(SYSTEMS)


def test_measured_chips_have_the_watts_of_their_states():
    states = States(busy=0.7, communication=0.2, idle=0.1, compute=0.5, memory=0.3)
    for name in ("nvidia_h200_sxm", "nvidia_b200_sxm", "nvidia_a100_sxm4_80"):
        assert float(device_power(name, states, "bf16").power_w) == pytest.approx(
            float(state_power(name, states, "bf16").power_chip_w)
        )


@pytest.mark.parametrize("name", ["aws_trainium1", "aws_trainium2", "aws_trainium3", "aws_inferentia1", "nvidia_rubin"])
def test_power_that_nobody_published_is_a_wide_estimate(name):
    unknown = device_power(name, States(busy=1.0, compute=0.6, memory=0.2), "bf16")
    known = device_power("amd_mi300x", States(busy=1.0, compute=0.6, memory=0.2), "bf16")

    def width(found) -> float:
        return float(np.log(found.power_high_w / found.power_low_w))

    assert unknown.status == "estimate"
    assert width(unknown) > width(known)
    assert "publish" in device(name).note


def test_watts_of_unpublished_chips_follow_their_makers_chips_before():
    """The ratio and factor of the script, from all chips whose power is known."""
    rated = [
        one
        for one in all_chips()
        if one.tdp_w is not None
        and one.tdp_w >= 100
        and one.power_boundary == "chip"
        and (one.launch_year or 0) >= 2017
    ]
    rated = [one for one in rated if (one.bf16_tflops or one.fp16_tflops) and one.family not in ("CPU", "M series")]
    errors = []
    for one in rated:
        before = [
            other
            for other in rated
            if other.vendor == one.vendor
            and (other.launch_year or 0) < (one.launch_year or 0)
            and other.memory_type[:3] == one.memory_type[:3]
        ]
        if before:
            kin = max(before, key=lambda other: (other.launch_year or 0, other.bf16_tflops or other.fp16_tflops or 0))
            rates = [other.bf16_tflops or other.fp16_tflops or 0.0 for other in (one, kin)]
            errors.append(np.log((one.tdp_w or 0) / rates[0] / ((kin.tdp_w or 0) / rates[1])))
    middle = float(np.median(errors))
    spread = float(np.quantile(np.abs(np.array(errors) - middle), 0.95))
    trainium = device("aws_trainium3").limit_w
    kin_w = (chip("aws_trainium2").tdp_w or 0.0) * 671 / 667
    assert trainium.value / kin_w == pytest.approx(np.exp(middle), rel=0.05)
    assert trainium.high / trainium.value == pytest.approx(np.exp(spread), rel=0.05)


@pytest.mark.parametrize(("name", "mean_w"), [("google_tpu_v3", 220.0), ("google_tpu_v4", 170.0)])
def test_usual_training_draws_what_the_maker_measured_on_average(name, mean_w):
    found = phases(training_profile(usual_utilisation().value))
    watts = device_power(name, found.states)
    assert float((found.shares * watts.power_w).sum()) == pytest.approx(mean_w, rel=1e-3)


def test_a_given_limit_takes_the_doubt_about_it_away():
    states = States(busy=1.0, compute=0.5, memory=0.2)
    guessed = device_power("google_tpu_v6e", states)
    given_limit = device_power("google_tpu_v6e", states, power_limit_w=400.0)
    assert float(given_limit.power_w) == pytest.approx(float(guessed.power_w))
    assert given_limit.power_high_w < guessed.power_high_w
    with pytest.raises(PowerError, match="give a limit above"):
        device_power("google_tpu_v6e", states, power_limit_w=10.0)


def test_a_card_with_a_design_draws_the_same_at_any_load():
    low, high = (device_power("amd_alveo_u280", States(busy=1.0, compute=load)).power_w for load in (0.1, 0.9))
    assert low == high
    waiting = device_power("amd_alveo_u280", States(idle_context=1.0)).power_w
    assert device_power("amd_alveo_u280", States(idle=1.0)).power_w < waiting < low


@pytest.mark.parametrize("name", ["amd_alveo_u280", "intel_loihi2", "mythic_m1076", "amd_epyc_7742"])
@pytest.mark.parametrize("states", [States(busy=0.4), States(busy=float("nan")), States(busy=1.4, idle=-0.4)])
def test_impossible_shares_are_refused(name, states):
    with pytest.raises(PowerError, match=r"add up to|The share"):
        device_power(name, states)


# --- events ---


@pytest.mark.parametrize("name", BY_EVENTS)
@given(a=share, b=share)
@settings(max_examples=20, deadline=None)
def test_events_cost_the_same_however_many_there_are(name, a, b):
    most = highest_events_per_s(name) / 2.0
    floor = float(event_power(name, 0.0).power_w)
    parts = [float(event_power(name, rate * most).power_w) - floor for rate in (a, b)]
    assert float(event_power(name, (a + b) * most).power_w) - floor == pytest.approx(sum(parts), abs=1e-9)


@pytest.mark.parametrize("name", BY_EVENTS)
def test_event_energy_times_rate_is_the_power_above_the_floor(name):
    rate = 0.3 * highest_events_per_s(name)
    dynamic = float(event_power(name, rate).power_w) - device(name).idle_w.value
    assert rate * event_energy(name).energy_pj * 1e-12 == pytest.approx(dynamic)
    assert event_energy(name).low_pj <= event_energy(name).energy_pj <= event_energy(name).high_pj


def test_idle_time_costs_the_floor():
    fast, slow = (float(inference_energy_j("intel_loihi2", 1e8, time)) for time in (1e-3, 1e-2))
    assert slow - fast == pytest.approx(9e-3 * device("intel_loihi2").idle_w.value)


@pytest.mark.parametrize("rate", [-1.0, float("nan"), 1e18])
def test_a_rate_that_no_chip_has_is_refused(rate):
    with pytest.raises(PowerError, match="more chips"):
        event_power("intel_loihi2", rate)


def test_a_gpu_has_no_events_and_no_arrays():
    with pytest.raises(PowerError, match="device_power"):
        event_power("nvidia_h100_sxm5_80", 1.0)
    with pytest.raises(PowerError, match="device_power"):
        array_power("nvidia_h100_sxm5_80", 1.0)


# --- analogue arrays ---


@pytest.mark.parametrize("name", [name for name in BY_CONVERSIONS if chip(name).int8_tops is not None])
@given(filled=st.floats(0.05, 1.0), rate=share)
@settings(max_examples=20, deadline=None)
def test_half_filled_arrays_pay_more_for_each_product(name, filled, rate):
    products = rate * filled * highest_products_per_s(name)
    part, full = array_power(name, products, filled), array_power(name, products, 1.0)
    assert part.power_w >= full.power_w - 1e-12
    assert all(low <= high + 1e-12 for low, high in pairwise(edges(part)))
    assert part.power_w <= device(name).limit_w.value * (1 + 1e-9)
    assert product_energy(name, filled).energy_pj >= product_energy(name).energy_pj


def test_arrays_do_no_more_than_they_hold():
    with pytest.raises(PowerError, match="use more chips"):
        array_power("mythic_m1076", 0.6 * highest_products_per_s("mythic_m1076"), 0.5)
    with pytest.raises(PowerError, match="above 0"):
        array_power("mythic_m1076", 1.0, 0.0)


# --- training ---


def test_more_utilisation_draws_more():
    watts = [
        float(training_power("nvidia_a100_sxm4_80", Utilisation(mfu, mfu, mfu)).power_w[0]) for mfu in (0.1, 0.3, 0.5)
    ]
    assert watts[0] < watts[1] < watts[2] < 400.0


@pytest.mark.parametrize("mfu", [0.0, -0.1, 1.0, float("nan")])
def test_a_utilisation_that_is_no_share_is_refused(mfu):
    with pytest.raises(PowerError, match="between 0 and 1"):
        training_profile(mfu)


@pytest.mark.parametrize("name", ["nvidia_h100_sxm5_80", "google_tpu_v3", "google_tpu_v4", "amd_mi300x"])
def test_a_node_of_any_chip_draws_more_than_its_chips(name):
    chips = training_power(name, usual_utilisation()).state_power()
    parts = usual_node(name)
    assert float(node_power(parts, chips).power_it_w[0]) > parts.chip_count * float(chips.power_chip_w[0])


def test_a_hosts_chips_are_joined_by_a_switch_only_where_they_are():
    assert usual_node("nvidia_v100_sxm2_16").switch_gb_per_s == 0.0
    assert usual_node("nvidia_h100_sxm5_80").switch_gb_per_s > 0.0
    assert parts_of("dgx_h100").chip_count == usual_node("nvidia_h100_sxm5_80").chip_count


def test_the_precision_of_a_curve_is_one_that_the_chip_has():
    for name in IDS:
        if device(name).model == "curve":
            assert power_curve(name, 0.5, usual_precision(name)).power_w > 0.0
