"""What a step's groups send: behaviour that any surface of collectives must keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from energy.cost.architecture import Architecture
from energy.cost.communication import held_parameters, talk
from energy.cost.links import Fabric, Groups
from energy.cost.mapping import Mapping
from energy.cost.stack import overlap_of
from energy.cost.step import StepTime, Work, step_time

LLAMA, MIXTURE = Architecture.of_model("Llama 3.1 70B"), Architecture.of_model("Qwen3 235B-A22B")
H100 = "nvidia_h100_sxm5_80"
SIZES = ("tensor", "pipeline", "data", "context", "expert")


def mapping_of(**changes: object) -> Mapping:
    usual: dict[str, object] = {
        "sequence_length": 8192,
        "micro_batch_size": 1,
        "global_batch_size": 64,
        "precision": "bf16",
        "zero_stage": 1,
    }
    named = {f"{name}_parallel_size" if name in SIZES else name: value for name, value in changes.items()}
    return Mapping.of(**{**usual, **named})


def seconds(mapping: Mapping, shape: Architecture = LLAMA, fabric: Fabric | None = None) -> StepTime:
    n = len(mapping)
    one, at = np.ones(n), np.zeros(n, np.intp)
    links = Fabric.of([H100]) if fabric is None else fabric
    overlap = overlap_of(["megatron"])[at]
    return step_time(Work(shape, mapping, (H100,), links[at], overlap, one, one, one, one, one, np.zeros(n, np.bool_)))


def test_one_chip_talks_to_nobody():
    step = seconds(mapping_of())
    for name in ("tensor", "context", "expert", "pipeline", "data"):
        assert getattr(step, f"{name}_communication")[0] == 0


@pytest.mark.parametrize("size", [2, 4, 8])
def test_tensor_ranks_reduce_or_scatter_and_gather_about_as_long(size):
    """The same bytes either way; a switch that adds up makes the reduction cheaper, never dearer."""
    both = [
        seconds(mapping_of(tensor=size, sequence_parallel=split)).tensor_communication[0] for split in (False, True)
    ]
    assert 0.6 < both[0] / both[1] < 1.05


def test_each_kind_of_communication_falls_with_its_network():
    mapping = mapping_of(tensor=8, pipeline=2, data=4, context=2, zero_stage=3, sequence_parallel=True)
    fabric = Fabric.of([H100])
    wide = replace(fabric, outside_bytes_per_s=fabric.outside_bytes_per_s * 4)
    slow, fast = seconds(mapping), seconds(mapping, fabric=wide)
    assert fast.data_communication[0] < slow.data_communication[0]
    assert fast.pipeline_communication[0] < slow.pipeline_communication[0]
    assert fast.context_communication[0] <= slow.context_communication[0]
    assert fast.tensor_communication[0] == slow.tensor_communication[0], "tensor ranks stay inside the domain"


def test_experts_that_stay_in_a_domain_exchange_faster_than_those_that_leave_it():
    near, far = (
        seconds(mapping_of(expert=size, data=64, global_batch_size=64), MIXTURE).expert_communication[0]
        for size in (8, 64)
    )
    assert far > 1.5 * near


def test_stages_of_zero_send_what_they_shard():
    """Stages 1 and 2 send as much as stage 0, in two parts; stage 3 gathers twice in every micro batch."""
    held = held_parameters(np.array([1e9]), np.zeros(1), mapping_of(data=8))
    sent = [
        talk(LLAMA, mapping, Groups.of(Fabric.of([H100]), mapping), held, np.ones(1))
        for mapping in (mapping_of(data=8, zero_stage=stage) for stage in (0, 1, 3))
    ]
    assert sent[0].reduce[0] == pytest.approx(sent[1].reduce[0] + sent[1].gather[0], rel=0.5)
    assert sent[2].gather[0] < sent[1].gather[0], "one layer at a time"
    stages = [seconds(mapping_of(data=8, zero_stage=stage)).data_communication[0] for stage in (0, 1, 3)]
    assert stages[2] > stages[1] > 0


def test_many_scenarios_are_each_alone():
    mapping = mapping_of(
        tensor=[1, 8, 4, 2],
        pipeline=[1, 2, 1, 4],
        data=[8, 4, 2, 2],
        context=[1, 1, 4, 2],
        zero_stage=[3, 1, 0, 2],
        sequence_parallel=[False, True, False, True],
    )
    together = seconds(mapping)
    for place in range(len(mapping)):
        alone = seconds(mapping[place : place + 1])
        for name in ("tensor", "context", "pipeline", "data"):
            field = f"{name}_communication"
            assert getattr(alone, field)[0] == pytest.approx(getattr(together, field)[place], rel=1e-9)


def test_slices_of_a_torus_reduce_their_sums_over_the_network():
    fabric = Fabric.of(["google_tpu_v5e"])
    one, two = (mapping_of(data=size, zero_stage=3, global_batch_size=2 * size) for size in (256, 512))
    groups = [Groups.of(fabric, mapping) for mapping in (one, two)]
    assert [float(found.slices[0]) for found in groups] == [1.0, 2.0]
    assert groups[1].data.size[0] == 256
    slower = seconds(two, fabric=fabric).data_communication[0]
    assert slower > seconds(one, fabric=fabric).data_communication[0]


def test_a_bridge_joins_no_more_cards_than_it_has_ends():
    assert Fabric.of(["nvidia_h100_pcie_80"], chips_per_node=[8]).domain_size[0] == 2
    assert Fabric.of(["nvidia_l40s"], chips_per_node=[4]).domain_size[0] == 4
