"""Nodes that run benchmarks: states in training, activity in inference, and what rows say of a system."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from energy.errors import PowerError, UnknownNameError
from energy.power.benchmarks import band_level, benchmark_power, limit_of, training_states, training_work
from energy.power.submissions import Submission, accelerator, processor, system_parts

INFERENCE = Submission("inference", "nvidia_h100_sxm", 8, "bert-99", host_cpu="Intel(R) Xeon(R) Platinum 8480C")
TRAINING = Submission("training", "nvidia_h100_sxm", 8, "llama2_70b_lora", "train", round_name="v4.0")


def watts(*rows: Submission) -> np.ndarray:
    return benchmark_power(rows).power_it_w


def test_tuned_systems_draw_less():
    assert watts(replace(INFERENCE, power_mode="max_q"))[0] < 0.8 * watts(INFERENCE)[0]


def test_one_stream_occupies_one_chip_of_many():
    card = Submission(
        "inference", "qualcomm_cloud_ai_100_pro", 8, "resnet50", host_cpu="AMD EPYC 7282 16-Core Processor"
    )
    offline, one, several = watts(card, replace(card, scenario="single_stream"), replace(card, scenario="multi_stream"))
    assert one < several < offline


def test_air_draws_more_than_water_on_the_same_row():
    board = Submission("inference", "nvidia_b200_sxm", 8, "llama3.1-405b")
    air, water = watts(replace(board, cooling="Air-cooled"), replace(board, cooling="Water-cooled"))
    assert 1.05 < air / water < 1.2


def test_more_nodes_wait_more_and_draw_less_each():
    one, eight, many = watts(*(replace(TRAINING, nodes=nodes) for nodes in (1, 8, 64)))
    assert one > eight > many > 0.5 * one


def test_time_without_work_is_told_apart():
    work = training_work("llama2_70b_lora", "nvidia_h100_sxm", 512, 8, "v4.0")
    states = training_states(work, 0.7)
    total = np.sum([np.asarray(getattr(states, name)) for name in ("busy", "communication", "stall")])
    assert total == pytest.approx(1.0)
    assert 0.0 < work.efficiency < 1.0


def test_watts_behind_the_supplies_are_below_those_of_the_plug():
    found = benchmark_power([INFERENCE, TRAINING])
    assert np.all(found.power_dc_chip_w < found.power_it_w)
    assert np.all(found.power_it_low_w < found.power_it_low80_w)
    assert np.all(found.power_it_high80_w < found.power_it_high_w)
    assert found.status == "estimate"


def test_a_chip_nobody_measured_has_a_wider_band():
    kin = Submission("inference", "nvidia_h200_nvl", 8, "llama2-70b-99")
    assert band_level(kin, system_parts(kin)) == "chip"
    new, seen = (benchmark_power([one]) for one in (kin, INFERENCE))
    assert np.log(new.power_it_high80_w / new.power_it_low80_w) > np.log(seen.power_it_high80_w / seen.power_it_low80_w)


def test_a_limit_that_was_set_holds():
    assert limit_of(replace(INFERENCE, power_limit_w=500.0)) == 500.0
    assert watts(replace(INFERENCE, power_limit_w=500.0))[0] < watts(INFERENCE)[0]


def test_names_of_processors():
    assert processor("Intel(R) Xeon(R) Platinum 8480C").tdp_w == 350.0
    assert processor("AMD EPYC 7742 64-Core Processor").tdp_w == 225.0, "the catalogue has it by name"
    assert processor("something else") is None


def test_a_boards_name_that_fits_two_is_told_apart_by_the_table():
    assert accelerator("nvidia_a100_pcie").chip_id == "nvidia_a100_pcie_40"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (replace(INFERENCE, power_mode="maxq"), "max_q"),
        (replace(INFERENCE, scenario="offlin"), "offline"),
        (replace(INFERENCE, suite="serving"), "inference"),
        (replace(INFERENCE, chips_per_node=0), "at least 1"),
        (replace(INFERENCE, accelerator="nvidia_h300_sxm"), "not in the catalogue"),
        (replace(TRAINING, benchmark="llama9"), "llama"),
    ],
)
def test_what_is_not_known_is_refused_with_what_is(row, words):
    with pytest.raises((PowerError, UnknownNameError)) as caught:
        benchmark_power([row])
    assert words in str(caught.value)
