"""Offload to a slower memory: what it frees, what it costs, where it is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from energy.cost.architecture import Architecture
from energy.cost.mapping import OFFLOADS, Mapping
from energy.cost.memory import chip_memory
from energy.cost.offload import exposed_s, link_bytes_per_s
from energy.cost.profile import profile
from energy.cost.requests import Request
from energy.cost.training import answer, plan
from energy.errors import CostError

LLAMA = Architecture.of_model("Llama 3.1 8B")
REQUEST = Request(
    architecture=LLAMA,
    kind="dense",
    chip="nvidia_h100_sxm5_80",
    chips=8,
    precision="bf16",
    sequence_length=8192,
    global_batch_size=64,
    micro_batch_size=1.0,
    tensor_parallel_size=2.0,
    pipeline_parallel_size=1.0,
    recompute="none",
    framework="Megatron-Core",
)


def _mapping(**changes: object) -> Mapping:
    usual: dict = {
        "sequence_length": 8192,
        "micro_batch_size": 1,
        "global_batch_size": 8,
        "precision": "bf16",
        "offload": list(OFFLOADS),
    }
    return Mapping.of(**usual | changes)


def test_what_is_offloaded_leaves_the_chip() -> None:
    held = chip_memory(LLAMA, _mapping())
    assert held.optimiser[0] == held.optimiser[3] > 0 and held.optimiser[1] == held.optimiser[2] == 0
    assert held.weights[0] == held.weights[1] > 0 == held.weights[2]
    # Two of the 32 layers of the one micro batch stay.
    assert held.activations[3] == pytest.approx(held.activations[0] * 2 / 32)
    assert (held.gradients == held.gradients[0]).all()
    assert (held.total[1:] < held.total[0]).all() and held.total[2] < held.total[1]
    # What passes through is counted.
    assert (held.communication[1:3] > held.communication[0]).all()


def test_the_optimiser_takes_its_bytes_over_the_rate() -> None:
    n = len(OFFLOADS)
    rate, parameters, nothing = np.full(n, 50e9), np.full(n, 1e9), np.zeros(n)
    shown = exposed_s(LLAMA, _mapping(), rate, (parameters, parameters), nothing, nothing)
    assert shown[0] == 0
    assert shown[1] == pytest.approx(12e9 / 50e9)
    # Once a step also the weights back, and in each of the eight micro batches twice.
    assert shown[2] == pytest.approx((14e9 + 8 * 4e9) / 50e9)
    hidden = exposed_s(LLAMA, _mapping(), rate, (parameters, parameters), np.full(n, 100.0), np.full(n, 100.0))
    assert hidden.tolist() == [0.0] * n


@pytest.mark.parametrize("offload", OFFLOADS[1:])
def test_a_slower_memory_takes_longer(offload: str) -> None:
    rates = (None, 20e9, 1e9)
    asked = [replace(REQUEST, offload=offload, host_bytes_per_s=rate) for rate in rates]
    plain, *slow = answer([plan(REQUEST), *map(plan, asked)], factors=False).step.total
    assert plain <= slow[0] <= slow[1] < slow[2]


def test_a_profile_adds_up_with_offload() -> None:
    found = answer([plan(replace(REQUEST, offload="optimizer", host_bytes_per_s=1e9))])
    shares = profile(found.step, found.work)
    total = shares.compute + shares.memory_bound + shares.communication + shares.idle
    assert total[0] == pytest.approx(1.0)
    assert found.step.offload[0] > 0


def test_cxl_memory_is_no_faster_than_the_link_of_the_chip() -> None:
    for chip in ("nvidia_a100_sxm4_80", "nvidia_h100_sxm5_80", "nvidia_gb200"):
        assert link_bytes_per_s(chip, "cxl2") <= link_bytes_per_s(chip)
        assert link_bytes_per_s(chip, "cxl2") <= link_bytes_per_s(chip, "cxl3")
    assert link_bytes_per_s("nvidia_gb200") > link_bytes_per_s("nvidia_gb200", "cxl3")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"offload": "optimizer", "chip": "google_tpu_v5p"}, "give host_bytes_per_s"),
        ({"offload": "optimizer", "offload_to": "tape"}, "host, cxl2, cxl3"),
        ({"offload": "optimzer"}, "Nearest: optimizer"),
        ({"offload": "optimizer", "host_bytes_per_s": -1.0}, "host_bytes_per_s is -1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(changes: dict[str, object], words: str) -> None:
    with pytest.raises(CostError) as caught:
        plan(replace(REQUEST, **changes))
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_told_rate_serves_a_chip_without_a_known_link() -> None:
    told = replace(REQUEST, chip="google_tpu_v5p", offload="optimizer", host_bytes_per_s=32e9)
    assert answer([plan(told)]).step.offload[0] > 0


def test_offload_is_a_remedy_only_where_there_is_a_link() -> None:
    layout = {"tensor_parallel_size": 1.0, "recompute": "full", "chips": 1.0, "global_batch_size": 1.0}
    said = {}
    for chip in ("nvidia_h100_sxm5_80", "google_tpu_v5p"):
        with pytest.raises(CostError) as caught:
            plan(replace(REQUEST, **layout, chip=chip))
        said[chip] = "offload" in str(caught.value)
    assert said == {"nvidia_h100_sxm5_80": True, "google_tpu_v5p": False}
