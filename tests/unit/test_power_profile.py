"""Watts of chips in training from the utilisation profile."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.cost.profile import Profile
from energy.errors import PowerError
from energy.power.phases import phases
from energy.power.profile import profile_power
from energy.power.states import curve_of, idle_watts
from energy.power.utilisation import levels_of
from energy.scenario import parse_scenario, training_run

H100, A100 = "nvidia_h100_sxm5_80", "nvidia_a100_sxm4_80"
SHARED = Path(__file__).parents[3] / "shared" / "validation"


def of(compute, rate, memory, communication, idle):
    return Profile(*(np.atleast_1d(np.asarray(one, float)) for one in (compute, rate, memory, communication, idle)))


def mixed(parts, rate):
    total = sum(parts)
    compute, memory, communication, idle = (one / total for one in parts)
    return of(compute, rate, memory, communication, idle)


PARTS = st.tuples(*(st.floats(0.01, 1.0) for _ in range(4)))


@given(PARTS, st.floats(0.01, 1.0), st.sampled_from([H100, A100, "amd_mi300x", "google_tpu_v4"]))
def test_watts_lie_between_idle_and_the_limit_in_their_bands(parts, rate, chip):
    found = profile_power(chip, mixed(parts, rate), "bf16")
    levels = levels_of(chip)
    ends = (found.power_chip_low_w, found.power_chip_low80_w, found.power_chip_w)
    ends += (found.power_chip_high80_w, found.power_chip_high_w)
    assert np.all(np.diff(np.stack(ends)[:, 0]) >= 0)
    assert levels.idle.value <= ends[0][0] and ends[-1][0] <= levels.most_w * (1 + 1e-12)


@given(PARTS, st.floats(0.05, 0.9))
def test_a_faster_rate_never_draws_less(parts, rate):
    slow, fast = (profile_power(H100, mixed(parts, one), "bf16").power_chip_w[0] for one in (rate, rate * 1.1))
    assert fast >= slow


@given(PARTS, st.floats(0.05, 1.0), st.floats(150.0, 690.0))
def test_a_limit_never_adds_watts_and_is_held(parts, rate, limit):
    free = profile_power(H100, mixed(parts, rate), "bf16").power_chip_w[0]
    held = profile_power(H100, mixed(parts, rate), "bf16", power_limit_w=limit).power_chip_w[0]
    assert held <= free * (1 + 1e-12)
    # measured boards draw a little above a limit that is below what their work wants at least
    assert held <= max(1.1 * limit, 0.6 * free)


def test_arrays_are_answered_as_each_alone():
    rng = np.random.default_rng(5)
    shares = rng.dirichlet([4, 1, 1, 1], 50).T
    rate = rng.uniform(0.1, 0.8, 50)
    whole = profile_power(H100, of(shares[0], rate, *shares[1:]), "bf16").power_chip_w
    alone = [
        profile_power(H100, of(*shares[:1, i], rate[i], *shares[1:, i]), "bf16").power_chip_w[0] for i in range(50)
    ]
    np.testing.assert_allclose(whole, alone, rtol=1e-12)


def test_chips_that_only_wait_draw_their_context():
    found = profile_power(H100, of(0.0, 0.5, 0.0, 0.0, 1.0), "bf16")
    curve = curve_of(H100, "bf16")
    assert found.power_chip_w[0] == pytest.approx(idle_watts(H100, curve, 700.0).context_w)


def test_shares_are_those_of_the_profile():
    found = phases(of(0.6, 0.4, 0.2, 0.15, 0.05))
    assert found.shares[:, 0].tolist() == [0.6, 0.2, 0.15, 0.05]
    assert found.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("bad", [(0.5, 0.5, 0.1, 0.1, 0.1), (0.6, 0.4, 0.2, 0.15, float("nan"))])
def test_shares_that_are_none_are_refused(bad):
    with pytest.raises(PowerError, match="add up to"):
        profile_power(H100, of(*bad), "bf16")


@pytest.mark.parametrize("limit", [10.0, 0.0, -5.0, float("nan")])
def test_a_limit_below_idle_is_refused(limit):
    with pytest.raises(PowerError, match="give a limit above"):
        profile_power(H100, of(0.6, 0.4, 0.2, 0.15, 0.05), "bf16", power_limit_w=limit)


def test_a_limit_above_the_maximum_changes_nothing():
    one = of(0.6, 0.4, 0.2, 0.15, 0.05)
    free, wide = profile_power(H100, one, "bf16"), profile_power(H100, one, "bf16", power_limit_w=900.0)
    assert free.power_chip_w == wide.power_chip_w


# --- published ---

LORA = """
work: {model: Llama 2 70B, adapters: true, sequence_length: 8192, global_batch: 8}
system: {chip: H100 SXM5 80GB, chips: 8}
software: {framework: NeMo, precision: fp8, tensor_parallel: 4, pipeline_parallel: 1, micro_batch: 1, recompute: none}
"""
SYSTEM = {
    "suite": "training",
    "benchmark": "llama2_70b_lora",
    "accelerator": "nvidia_h100_sxm",
    "total_accelerators": "8.0",
}


def test_boards_of_a_measured_node_are_inside_the_80_band():
    """The node of MLPerf's LoRA run: what it draws above itself when idle, and the chips' own idle power, is chips."""
    path = SHARED / "mlperf_power.csv"
    if not path.exists():
        pytest.skip("../shared/validation/mlperf_power.csv is not here")
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if all(row[name] == value for name, value in SYSTEM.items())]
    rows = [row for row in rows if row["low_power_w"] and row["measured_at"].startswith("DC")]
    assert rows
    figure = training_run(parse_scenario(LORA)).figures["power_per_chip"]
    for row in rows:
        above = (float(row["average_node_power_w"]) - float(row["low_power_w"])) / 8
        low, high = above + 72.5, above + 121.7  # idle boards, bare and with a process
        assert figure.low80 < high and figure.high80 > low, (figure, low, high)
        assert figure.value < float(row["average_node_power_w"]) / 8


def test_boards_of_published_runs_draw_less_than_the_systems_around_them():
    """V100 and TPU v4 rows print the measured power of the system per chip: chips, host, fans, network."""
    path = SHARED / "training_energy.csv"
    if not path.exists():
        pytest.skip("../shared/validation/training_energy.csv is not here")
    with path.open(encoding="utf-8") as file:
        measured = {
            row["accelerator"]: float(row["power_per_accelerator_w"])
            for row in csv.DictReader(file)
            if row["power_basis"].startswith("measured system")
        }
    text = (Path(__file__).parents[2] / "datasets/examples/scenarios/gpt3_175b_v100.yaml").read_text(encoding="utf-8")
    v100 = training_run(parse_scenario(text)).figures["power_per_chip"]
    assert v100.value < measured["nvidia_v100_sxm2"] < v100.high * 1.6
