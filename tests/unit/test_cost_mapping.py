"""Mappings: what is refused, in which words, and that the filter of a search says the same."""

from __future__ import annotations

import pytest

from energy.cost.architecture import Architecture
from energy.cost.mapping import Mapping
from energy.errors import CostError

LLAMA = Architecture.of_model("llama31_8b")
GIVEN: dict = {"sequence_length": 8192, "micro_batch_size": 1, "global_batch_size": 64, "precision": "bf16"}

BAD = [
    ({"tensor_parallel_size": 0}, "tensor_parallel_size is 0: give a whole number, 1 or more"),
    ({"tensor_parallel_size": -8}, "tensor_parallel_size is -8"),
    ({"tensor_parallel_size": 1.5}, "tensor_parallel_size is 1.5"),
    ({"global_batch_size": float("nan")}, "global_batch_size is nan"),
    ({"sequence_length": float("inf")}, "sequence_length is inf"),
    ({"zero_stage": 4}, "zero_stage is 4: give a whole number, 0 to 3"),
    ({"tensor_parallel_size": 6}, "tensor_parallel_size 6 does not divide the 32 attention heads: 4 or 8 does"),
    ({"tensor_parallel_size": 64}, "tensor_parallel_size 64 does not divide the 32 attention heads: 32 does"),
    ({"pipeline_parallel_size": 64}, "more than the 32 layers, embedding and loss: at most 34"),
    ({"pipeline_parallel_size": 8, "virtual_stages": 8}, "pipeline_parallel_size x virtual_stages = 64"),
    ({"virtual_stages": 2}, "interleaving needs 2 or more pipeline ranks"),
    ({"data_parallel_size": 48}, "= 48: 48 or 96 is"),
    ({"micro_batch_size": 3}, "global_batch_size 64 is not a multiple of micro_batch_size 3"),
    ({"context_parallel_size": 3}, "context_parallel_size 3 does not divide the 8192 tokens of the sequence: 2 or 4"),
    (
        {"sequence_length": 1001, "tensor_parallel_size": 4, "sequence_parallel": True},
        "1000 or 1004 is",
    ),
    ({"expert_parallel_size": 8, "data_parallel_size": 8}, "the model has no experts: give 1"),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_what_cannot_run_is_one_line_with_the_nearest_that_can(change: dict, words: str) -> None:
    mapping = Mapping.of(**GIVEN | change)
    with pytest.raises(CostError) as caught:
        mapping.check(LLAMA)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not mapping.usable(LLAMA).any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"recompute": "ful"}, "The recompute 'ful' is not known: none, selective, alternate, full. Nearest: full"),
        ({"precision": "bf8"}, "The precision 'bf8' is not known"),
        ({"recompute": 9}, "The recompute code 9 is not known"),
        ({"sequence_parallel": 1}, "sequence_parallel is 1: give true or false"),
        ({"micro_batch_size": "one"}, "micro_batch_size is 'one'"),
        ({"micro_batch_size": [1, 2], "tensor_parallel_size": [1, 2, 4]}, "different lengths"),
    ],
)
def test_what_is_no_mapping_is_refused_at_once(change: dict, words: str) -> None:
    with pytest.raises(CostError) as caught:
        Mapping.of(**GIVEN | change)
    assert words in str(caught.value)


def test_experts_divide_over_ranks_of_one_stage() -> None:
    mixture = Architecture.of_model("deepseek_v3")
    with pytest.raises(CostError, match="expert_parallel_size 48 does not divide the 256 experts: 32 or 64"):
        Mapping.of(**GIVEN, expert_parallel_size=48, data_parallel_size=64).check(mixture)
    with pytest.raises(CostError, match="expert_parallel_size 64 does not divide tensor x context x data"):
        Mapping.of(**GIVEN, expert_parallel_size=64, data_parallel_size=32).check(mixture)
    Mapping.of(**GIVEN, expert_parallel_size=64, data_parallel_size=32, tensor_parallel_size=2).check(mixture)


def test_few_key_value_heads_may_be_held_several_times() -> None:
    falcon = Architecture.of_model("falcon_40b")
    Mapping.of(**GIVEN, tensor_parallel_size=[4, 8, 16]).check(falcon)
    with pytest.raises(CostError, match="neither divides the 6 key-value heads nor is a multiple"):
        six = Architecture.of_shape(
            layers=2, hidden=1536, heads=24, kv_heads=6, vocab=100, ffn=6144, gated=True, tied_embeddings=True
        )
        Mapping.of(**GIVEN, tensor_parallel_size=4).check(six)


def test_the_number_of_chips_is_the_product() -> None:
    mapping = Mapping.of(**GIVEN, tensor_parallel_size=8, data_parallel_size=4)
    mapping.check(LLAMA, chips=32)
    with pytest.raises(CostError, match=r"32 chips follow from .* but there are 64: data_parallel_size 8 does"):
        mapping.check(LLAMA, chips=64)
    with pytest.raises(CostError, match="chips is nan"):
        mapping.check(LLAMA, chips=float("nan"))


def test_the_first_bad_scenario_is_named() -> None:
    with pytest.raises(CostError, match="Scenario 2: tensor_parallel_size 5"):
        Mapping.of(**GIVEN, tensor_parallel_size=[1, 2, 5, 7]).check(LLAMA)
    both = Architecture.concat([LLAMA, LLAMA])
    with pytest.raises(CostError, match="3 mappings do not pair with 2 architectures"):
        Mapping.of(**GIVEN, tensor_parallel_size=[1, 2, 4]).check(both)


def test_aliases_and_indexing() -> None:
    mapping = Mapping.of(**GIVEN | {"precision": ["bfloat16", "MXFP8", "nvfp4"]})
    assert mapping.operand_bytes.tolist() == [2.0, 1.0, 0.5]
    assert mapping[1:].operand_bytes.tolist() == [1.0, 0.5]
    assert len(mapping[0]) == 1


def test_published_layouts_can_run() -> None:
    """126 layers run in 128 pieces: embedding and loss are two of them (Megatron Bridge, Llama 3.1 405B)."""
    pieces = Mapping.of(**GIVEN, tensor_parallel_size=4, pipeline_parallel_size=16, virtual_stages=8)
    pieces.check(Architecture.of_model("llama31_405b"))
