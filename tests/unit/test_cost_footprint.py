"""Memory of a planned run as tools show it: bands, the chip's limit, adapters, routing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from energy.cost.architecture import Architecture
from energy.cost.footprint import footprint, half_widths, held
from energy.cost.mapping import Mapping
from energy.cost.memory import ALLOCATOR_SHARE, chip_memory
from energy.cost.requests import Request
from energy.cost.training import plan

TOLD = Request(
    architecture=Architecture.of_model("Llama 3.1 8B"),
    kind="dense",
    chip="nvidia_h100_sxm5_80",
    chips=8,
    precision="bf16",
    sequence_length=8192,
    global_batch_size=16,
    micro_batch_size=1.0,
    tensor_parallel_size=1.0,
    pipeline_parallel_size=1.0,
    virtual_stages=1.0,
    context_parallel_size=1.0,
    recompute="full",
    framework="torchtitan",
)


def test_with_room_it_is_the_count() -> None:
    one = plan(TOLD)
    found = footprint(one)
    assert found.total == pytest.approx(held(one.request, one.family, one.mapping).total[0])
    assert found.total == pytest.approx(chip_memory(TOLD.architecture, one.mapping).total[0])
    tensors = found.total - found.culprits["allocator"] - found.culprits["framework"]
    assert found.culprits["allocator"] == pytest.approx(ALLOCATOR_SHARE * tensors)
    assert found.low < found.low80 < found.total < found.high80 < found.high


def test_an_allocator_reserves_no_more_than_the_chip_has() -> None:
    one = replace(TOLD, micro_batch_size=2.0, recompute="alternate", must_fit=False)
    wide = footprint(plan(replace(one, memory_gb=192.0)))
    assert wide.total > 80 * 2**30
    needed = held(one, "torchtitan", plan(one).mapping).needed[0]
    tight = footprint(plan(replace(one, memory_gb=needed / 2**30 + 1.0)))
    assert tight.total == pytest.approx(needed + 2**30)
    assert tight.high == pytest.approx(tight.total)
    assert wide.total - wide.culprits["allocator"] == pytest.approx(tight.total - tight.culprits["allocator"])


def test_what_does_not_fit_shows_what_it_needs() -> None:
    one = plan(replace(TOLD, micro_batch_size=16.0, recompute="none", must_fit=False))
    assert footprint(one).total == pytest.approx(held(one.request, one.family, one.mapping).needed[0])
    assert footprint(one).total > 80 * 2**30


@pytest.mark.parametrize(
    "unknown", ["micro_batch_size", "sequence_length", "tensor_parallel_size", "pipeline_parallel_size"]
)
def test_what_is_assumed_widens_the_band(unknown: str) -> None:
    assert half_widths(plan(replace(TOLD, **{unknown: None}))) > half_widths(plan(TOLD))


def test_adapters_hold_no_state_of_frozen_weights() -> None:
    one = plan(replace(TOLD, is_lora=True))
    found = footprint(one).culprits
    assert found["optimiser"] == found["gradients"] == 0 < found["weights"]


def test_routing_outside_keeps_what_leaves_the_experts() -> None:
    shape = Architecture.of_model("Qwen3 235B-A22B")
    mapping = Mapping.of(sequence_length=4096, micro_batch_size=1, global_batch_size=8, precision="bf16")
    inside, outside = (held(replace(TOLD, architecture=shape), name, mapping) for name in ("nemo", "primus"))
    more = outside.activations_mixture - inside.activations_mixture
    assert more[0] == 94 * 4096 * 8 * 4096 * 2
    assert (outside.activations_attention == inside.activations_attention).all()
