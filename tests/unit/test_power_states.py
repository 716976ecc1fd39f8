"""Watts by state, under limits, of products, in serving, and from below: what is told, and what is refused."""

from __future__ import annotations

import csv
from itertools import pairwise

import numpy as np
import pytest

from energy.catalogue import _tables
from energy.errors import PowerError, UnitError, UnknownNameError
from energy.power.bottom_up import cross_check, link_energy, memory_energy, operation_energy
from energy.power.caps import cap_of, capped_power, slow_down
from energy.power.gemm import gemm_power
from energy.power.serving import joined, serving, serving_power, shape_of
from energy.power.states import States, busy_power, curve_of, idle_watts, load_of, state_power
from energy.units import quantity
from energy.validation.inference_energy import inference_energy
from energy.validation.power import power, steadiness
from energy.validation.power_caps import power_caps


def watts(chip: str, wanted: str = "bf16", **states: float) -> float:
    return float(state_power(chip, States(**states), wanted).power_chip_w)


def test_states_stand_in_their_order():
    chip = "nvidia_h100_sxm5_80"
    idle, context = watts(chip, idle=1.0), watts(chip, idle_context=1.0)
    waiting = watts(chip, communication=1.0)
    memory, full = watts(chip, busy=1.0, memory=0.5), watts(chip, busy=1.0, compute=0.7, memory=0.3)
    assert idle < context < memory < full <= 700.0
    assert watts(chip, stall=1.0) == context
    assert 0.60 <= waiting / full <= 0.70, "a chip that waits in a collective is not idle"


def test_power_is_the_mean_over_time():
    chip = "nvidia_b200_sxm"
    parts = watts(chip, idle=1.0), watts(chip, communication=1.0), watts(chip, busy=1.0, compute=0.4)
    mixed = watts(chip, idle=0.5, communication=0.2, busy=0.3, compute=0.4)
    assert mixed == pytest.approx(0.5 * parts[0] + 0.2 * parts[1] + 0.3 * parts[2])


@pytest.mark.parametrize("chip", ["nvidia_a100_sxm4_80", "nvidia_h100_sxm5_80", "nvidia_l40s"])
def test_measured_idle_of_a_chip_is_what_its_readings_say(chip):
    read = {
        row.text("state"): row.number("power_chip_w")
        for row in _tables.rows("power_states")
        if row.text("chip_id") == chip
    }
    found = idle_watts(chip, curve_of(chip), curve_of(chip).power_limit_w)
    assert found.idle_w == read["idle"]
    assert found.context_w == read["idle_context"]


def test_a_chip_nobody_measured_gets_an_estimate_with_a_wider_range():
    measured, kin, far = (curve_of(name) for name in ("nvidia_h200_sxm", "nvidia_h100_sxm5_80", "amd_mi300x"))
    assert (measured.status, kin.status, far.status) == ("derived", "estimate", "estimate")
    assert measured.bands.ln80 < kin.bands.ln80 < far.bands.ln80
    assert measured.bands.ln95 < kin.bands.ln95 < far.bands.ln95
    assert far.power_limit_w == 750.0, "shares of its own limit, not the donor's watts"


def test_a_chip_left_out_is_not_its_own_donor():
    assert curve_of("nvidia_h200_sxm", excluded=frozenset({"nvidia_h200_sxm"})).kin_id != "nvidia_h200_sxm"


def test_the_range_holds_the_value_and_stays_between_idle_and_the_overshoot_of_the_limit():
    load = np.linspace(0.0, 1.0, 11)
    found = state_power("amd_mi300x", States(busy=1.0, compute=load, memory=load))
    order = (
        found.power_chip_low_w,
        found.power_chip_low80_w,
        found.power_chip_w,
        found.power_chip_high80_w,
        found.power_chip_high_w,
    )
    assert all(np.all(a <= b) for a, b in pairwise(order))
    assert found.power_chip_high_w.max() <= 1.1 * 750.0


@pytest.mark.parametrize(
    ("states", "words"),
    [
        (States(busy=0.5), "add up to 0.5"),
        (States(busy=1.2, idle=-0.2), "share idle is -0.2"),
        (States(busy=1.0, compute=float("nan")), "share compute is nan"),
        (States(busy=1.0, memory=2.0), "share memory is 2"),
        (States(idle=[0.5, 0.6], busy=[0.5, 0.5]), "add up to 1.1"),
    ],
)
def test_impossible_states_are_refused_with_the_rule(states, words):
    with pytest.raises(PowerError, match=words):
        state_power("nvidia_h100_sxm5_80", states)


def test_a_limit_below_idle_and_unknown_chips_are_refused():
    with pytest.raises(PowerError, match="give a limit above"):
        state_power("nvidia_h100_sxm5_80", States(idle=1.0), power_limit_w=50.0)
    with pytest.raises(UnknownNameError, match="nvidia_h100"):
        curve_of("nvidia_h100_sxm5_8")


def test_watts_of_a_node_are_no_watts_of_a_chip():
    for wrong in (quantity(700.0, "W_it"), quantity(700.0, "W_facility"), 700.0):
        with pytest.raises(UnitError):
            busy_power(wrong, 0.2, 1.0, 1.0)


def test_a_cap_holds_power_and_costs_time():
    one = cap_of("nvidia_v100_pcie")
    values = one.ceiling_fraction, one.sharpness, one.floor_fraction
    limits = np.array([100.0, 150.0, 200.0, 250.0, 2500.0])
    power_w = capped_power.kernel(225.0, limits, *values)
    assert np.all(np.diff(power_w) > 0)
    assert np.all(power_w[:2] < limits[:2])
    assert power_w[-1] == pytest.approx(225.0, rel=1e-3)
    slower = slow_down.kernel(225.0, power_w, one.slow_linear, one.slow_square)
    assert np.all(np.diff(slower) <= 0)
    assert slower[0] > 1.2
    assert slower[-1] == pytest.approx(1.0, abs=1e-3)


def test_a_card_nobody_capped_takes_all_cards_together():
    other = cap_of("amd_mi300x")
    assert not other.measured
    assert "any" in other.source


def test_products_draw_more_the_larger_they_are_up_to_the_limit():
    m = np.array([1.0, 256.0, 8192.0])
    found = gemm_power("nvidia_gb200", "bf16", m, np.full(3, 8192.0), np.full(3, 8192.0), library="vllm")
    assert found.measured
    assert found.power_chip_w[0] < found.power_chip_w[2] <= 1200.0
    lower = gemm_power("nvidia_gb200", "bf16", m, 8192.0, 8192.0, np.array([1e-4, 1e-4, 1e-3]), power_limit_w=900.0)
    assert lower.power_chip_w.max() <= 900.0


def test_products_on_a_chip_nobody_measured_say_so():
    assert not gemm_power("nvidia_h100_sxm5_80", "bf16", 4096.0, 4096.0, 4096.0).measured
    with pytest.raises(PowerError, match="not above zero"):
        gemm_power("nvidia_h100_sxm5_80", "bf16", 4096.0, 4096.0, 4096.0, 0.0)


def work(**changes):
    values = {
        "params_total_b": 70.0,
        "batch": 64.0,
        "tokens_per_s": 1200.0,
        "output_tokens": 500.0,
        "chips": 4.0,
    } | changes
    return serving("nvidia_h100_sxm5_80", "lm-arena-chat", "meta-llama/Llama-3.1-70B-Instruct", **values)


def test_serving_draws_more_the_faster_it_is():
    slow, fast = (serving_power(work(tokens_per_s=rate)).power_chip_w[0] for rate in (300.0, 2400.0))
    assert 72.5 < slow < fast < 700.0


def test_rows_together_are_rows_alone():
    some = [work(batch=float(batch)) for batch in (8, 32, 128)]
    together = serving_power(joined(some)).power_chip_w
    assert together == pytest.approx([serving_power(one).power_chip_w[0] for one in some])


def test_a_model_of_unknown_shape_is_told_from_its_size_and_says_so():
    assert not shape_of("openai/gpt-oss-120b", 117.0).assumed
    assert shape_of("acme/unheard-of", 8.0).assumed


def test_serving_without_tokens_is_refused():
    with pytest.raises(PowerError, match="tokens_per_s"):
        serving_power(work(tokens_per_s=0.0, step_s=0.01))


def test_from_below_is_a_floor_and_parts_add_up():
    for chip, wanted in (("nvidia_h200_sxm", "bf16"), ("nvidia_b200_sxm", "fp8"), ("nvidia_b200_sxm", "fp4")):
        found = cross_check(chip, wanted, 0.5, 0.3)
        parts = found.context_chip_w + found.arithmetic_chip_w + found.memory_chip_w + found.link_chip_w
        assert found.bottom_up_chip_w == pytest.approx(parts)
        assert found.bottom_up_low_chip_w <= found.bottom_up_chip_w <= found.bottom_up_high_chip_w
        assert found.bottom_up_chip_w < found.top_down_chip_w


def test_narrow_formats_far_memories_and_light_have_their_energies():
    assert operation_energy("fp4").energy_pj < operation_energy("fp8").energy_pj < operation_energy("bf16").energy_pj
    assert memory_energy("cxl_dram").energy_pj > memory_energy("hbm3e").energy_pj
    far = cross_check("nvidia_h200_sxm", "bf16", 0.3, 0.3, memory_technology="cxl_dram")
    near = cross_check("nvidia_h200_sxm", "bf16", 0.3, 0.3)
    assert far.memory_chip_w > near.memory_chip_w
    light = cross_check("nvidia_h200_sxm", "bf16", 0.3, 0.3, link="optics_pluggable", link_bytes_per_s=50e9)
    assert light.link_chip_w == pytest.approx(50e9 * 8 * link_energy("optics_pluggable").energy_pj * 1e-12)
    with pytest.raises(PowerError, match="choose a link"):
        link_energy("nvlink4")


def written(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_suite_power_keeps_unsteady_readings_and_tells_them_apart(tmp_path):
    sizes = [1024 * step for step in range(1, 10)]
    base = {"chip": "NVIDIA H200 SXM", "framework": "vllm 1", "dtype": "bfloat16", "n": 8192, "k": 8192}
    rows = [
        base | {"m": m, "latency_ms": 2 * m * 8192**2 / 650e12 * 1e3, "power_w": 690, "power_limit_w": 700}
        for m in sizes
    ]
    rows[4]["power_w"] = 150
    rows += [base | {"m": 0, "latency_ms": 1, "power_w": 690, "power_limit_w": 700}]
    rows += [base | {"m": 8, "chip": "abacus", "latency_ms": 1, "power_w": 690, "power_limit_w": 700}]
    found = power(written(tmp_path / "gemm.csv", rows))
    assert len(found.compared) == 9
    assert len(found.failures) == 2
    reading = [dict(one.groups)["reading"] for one in found.compared]
    assert reading[4] == "unsteady"
    assert reading[3] == "steady"
    steady = [
        abs(one.predicted / one.measured - 1) for one in found.compared if dict(one.groups)["reading"] == "steady"
    ]
    assert max(steady) < 0.1


def test_few_readings_are_alone():
    size = np.array([1.0, 2.0])
    assert steadiness(size, size, size, np.array([100.0, 200.0])).tolist() == ["alone", "alone"]


def test_suite_inference_energy_answers_and_says_why_not(tmp_path):
    row = {
        "dataset": "ML.ENERGY benchmark v3",
        "task": "lm-arena-chat",
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "params_total_b": 8,
        "weight_precision": "bfloat16",
        "gpu": "H100",
        "n_gpus": 1,
        "mean_batch_size": 64,
        "mean_output_tokens": 500,
        "tokens_per_s": 5000,
        "gpu_power_per_gpu_w": 500,
    }
    rows = [row, row | {"tokens_per_s": ""}, row | {"gpu": "H1000"}, row | {"gpu_power_per_gpu_w": ""}]
    found = inference_energy(written(tmp_path / "energy.csv", rows))
    assert len(found.compared) == 1
    assert [one.row_id for one in found.failures] == ["line 3", "line 4", "line 5"]
    one = found.compared[0]
    assert one.low < one.low80 < one.predicted < one.high80 < one.high


def test_suite_power_caps_takes_the_highest_limit_as_an_input(tmp_path):
    row = {"gpu": "nvidia_v100_pcie", "dataset": "a", "network": "b", "batch_size": 8, "optimizer": "adam"}
    rows = [
        row | {"power_limit_w": limit, "average_gpu_power_w": watt, "time_per_epoch_s": 10}
        for limit, watt in ((100, 96), (250, 220), (200, 185))
    ]
    found = power_caps(written(tmp_path / "caps.csv", rows))
    assert [one.row_id for one in found.failures] == ["line 3"]
    assert all(abs(one.predicted / one.measured - 1) < 0.1 for one in found.compared)


def test_loads_add():
    one = curve_of("nvidia_h200_sxm")
    both = load_of(one, 0.5, 0.5)
    assert both == pytest.approx(load_of(one, 0.5, 0.0) + load_of(one, 0.0, 0.5))
