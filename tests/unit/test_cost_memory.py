"""Activations by the published formulas, state bytes, stages, fit and remedies."""

from __future__ import annotations

import numpy as np
import pytest

from energy.cost.activations import activation_bytes_per_layer, layer_activations
from energy.cost.architecture import Architecture
from energy.cost.counts import layer_weights, parameters
from energy.cost.mapping import Mapping
from energy.cost.memory import FRAMEWORK_BYTES, OPTIMISERS, State, chip_memory
from energy.cost.remedies import check_fits, what_would_fit
from energy.cost.stages import stages
from energy.errors import CostError

# Shapes of arXiv 2205.05198, table 3: 22, 175, 530 and 1008 billion parameters.
PAPER = [(48, 6144, 64), (96, 12288, 96), (105, 20480, 128), (128, 25600, 160)]
S, V = 2048, 51200


def _paper(shape: tuple[int, int, int], **changes: object) -> Architecture:
    layers, hidden, heads = shape
    given: dict = {"vocab": V, "ffn": 4 * hidden, "gated": False, "tied_embeddings": True, "positions": S}
    return Architecture.of_shape(
        layers=layers, hidden=hidden, heads=heads, dropout=True, biases=True, **given | changes
    )


def _mapping(**changes: object) -> Mapping:
    given: dict = {
        "sequence_length": S,
        "micro_batch_size": 1,
        "global_batch_size": 64,
        "precision": "bf16",
        "attention_fused": False,
    }
    return Mapping.of(**given | changes)


@pytest.mark.parametrize("shape", PAPER)
@pytest.mark.parametrize("b", [1, 4])
@pytest.mark.parametrize("t", [1, 8])
def test_a_layer_keeps_what_the_published_formulas_say(shape: tuple[int, int, int], b: int, t: int) -> None:
    _, h, a = shape
    one = _paper(shape)
    given: dict = {"micro_batch_size": b, "tensor_parallel_size": t}
    sbh, scores = S * b * h, 5 * a * S / h

    def kept(**more: object) -> float:
        return float(activation_bytes_per_layer(one, _mapping(**given, **more)).total[0])

    # Table 2 of the paper, line by line.
    assert kept() == pytest.approx(sbh * (10 + 24 / t + scores / t), rel=1e-12)
    assert kept(sequence_parallel=True) == pytest.approx(sbh / t * (34 + scores), rel=1e-12)
    assert kept(recompute="selective") == pytest.approx(sbh * (10 + 24 / t), rel=1e-12)
    assert kept(recompute="selective", sequence_parallel=True) == pytest.approx(sbh * 34 / t, rel=1e-12)
    assert kept(recompute="full") == pytest.approx(2 * sbh, rel=1e-12)


@pytest.mark.parametrize("shape", PAPER)
def test_the_split_of_a_layer_is_the_published_one(shape: tuple[int, int, int]) -> None:
    _, h, a = shape
    one = layer_activations(_paper(shape), _mapping())
    # Section 4.1: attention 11 sbh + 5 a s^2 b, MLP 19 sbh, norms 4 sbh; the masks of dropout, one in each, and the
    # inputs of norms stand in the frame here.
    assert one.attention[0] == (11 - 1) * h
    assert one.scores[0] == 5 * a * S
    assert one.mlp[0] == (19 - 1) * h
    assert one.frame[0] == (4 + 2) * h


def test_a_fused_attention_keeps_one_statistic_for_each_row() -> None:
    one = _paper(PAPER[1])
    fused = activation_bytes_per_layer(one, _mapping(attention_fused=True))
    assert fused.scores[0] == 4 * 96 * S
    assert fused.total[0] - fused.scores[0] == 34 * S * 12288


def test_pipelines_hold_what_the_paper_says() -> None:
    """Section 4.2: 1F1B keeps L layers' worth on the first stage, interleaving 1 + (p - 1) / (p v) times that."""
    one = _paper(PAPER[1])
    for v in (1, 2, 3):
        mapping = _mapping(pipeline_parallel_size=8, virtual_stages=v, tensor_parallel_size=8)
        first = next(iter(stages(one, mapping)))
        factor = 1 + 7 / (8 * v) if v > 1 else 1.0
        assert first.layers[0] * first.in_flight[0] == pytest.approx(96 * factor, rel=1e-12)
    few = _mapping(pipeline_parallel_size=8, global_batch_size=2)
    assert next(iter(stages(one, few))).in_flight[0] == 2


def test_grouped_queries_and_gates_are_counted_by_tensors() -> None:
    llama = Architecture.of_model("llama31_8b")
    h, f, kv = 4096, 14336, 8 * 128
    one = layer_activations(llama, _mapping(attention_fused=True))
    assert one.attention[0] == 2 * (h + h + 2 * kv + h)
    assert one.mlp[0] == 2 * (h + 3 * f)
    assert one.frame[0] == 2 * 2 * h
    # Fewer key-value heads than ranks are held on each.
    wide = layer_activations(llama, _mapping(attention_fused=True, tensor_parallel_size=32, sequence_parallel=True))
    assert wide.attention[0] == 2 * (h + h + 2 * 32 * 128 + h) / 32


def test_fp8_halves_inputs_of_products_only() -> None:
    llama = Architecture.of_model("llama31_8b")
    h, f = 4096, 14336
    whole, half = (layer_activations(llama, _mapping(attention_fused=True, precision=p)) for p in ("bf16", "fp8"))
    assert whole.mlp[0] - half.mlp[0] == h + f
    # The output of a fused attention is kept in 16 bits for its own backward pass, and in 8 for the product.
    assert whole.attention[0] - half.attention[0] == h - h
    eager = layer_activations(llama, _mapping(attention_fused=True, precision="fp8"), operands_in_16_bits=True)
    assert eager.mlp[0] == whole.mlp[0]


def test_mixtures_keep_the_tokens_they_send() -> None:
    one = Architecture.of_model("mixtral_8x7b")
    h, f = 4096, 14336
    kept = layer_activations(one, _mapping(attention_fused=True))
    assert kept.mixture[0] == 2 * h + 2 * h * 2 + 8 * 8 + 2 * 3 * f * 2


def test_state_takes_the_known_bytes_for_each_parameter() -> None:
    def total(optimiser: str = "adam", **changes: object) -> float:
        state = State.of(_mapping(**changes), optimiser)
        parts = (state.weight_bytes, state.gradient_bytes, state.master_bytes, state.moment_bytes)
        return float((sum(parts) + state.gradient_copy_bytes)[0])

    assert total() == 18
    assert total(precision="fp16") == 20
    assert total(zero_stage=3) == 16
    assert total(precision="fp32") == 16
    assert total("adam_8bit") == 12
    assert total("sgd") == 10
    with pytest.raises(CostError, match=r"The optimiser 'adamw' is not known: .* Nearest: adam"):
        total("adamw")
    assert set(OPTIMISERS) >= {"adam", "adam_bf16_moments", "adam_8bit", "sgd", "adafactor"}


def test_zero_divides_what_its_stage_says() -> None:
    llama = Architecture.of_model("llama31_8b")
    count = parameters(llama).total[0]
    held = chip_memory(llama, _mapping(data_parallel_size=16, zero_stage=[0, 1, 2, 3], attention_fused=True))
    np.testing.assert_allclose(held.optimiser, count * 12 * np.array([1, 1 / 16, 1 / 16, 1 / 16]))
    np.testing.assert_allclose(held.gradients, count * np.array([4, 4, 4 / 16, 2 / 16]))
    np.testing.assert_allclose(held.weights, count * 2 * np.array([1, 1, 1, 1 / 16]))


def test_replicated_state_is_not_divided_by_tensor_ranks() -> None:
    llama, deepseek = Architecture.of_model("llama31_8b"), Architecture.of_model("deepseek_v3")
    norms = parameters(llama).norms[0]
    one, eight = (chip_memory(llama, _mapping(tensor_parallel_size=t)).weights[0] / 2 for t in (1, 8))
    assert eight == pytest.approx((one - norms) / 8 + norms, rel=1e-12)
    weights = layer_weights(deepseek)
    whole = 61 * (weights.latent + weights.norms)[0] + 58 * weights.router[0] + 7168
    one, eight = (chip_memory(deepseek, _mapping(tensor_parallel_size=t)).weights[0] / 2 for t in (1, 8))
    assert eight == pytest.approx((one - whole) / 8 + whole, rel=1e-12)


def test_few_key_value_heads_are_held_several_times() -> None:
    falcon = Architecture.of_model("falcon_7b")
    key_value = layer_weights(falcon).key_value[0] * 32
    total, norms = parameters(falcon).total[0], parameters(falcon).norms[0] - 0
    held = chip_memory(falcon, _mapping(tensor_parallel_size=71)).weights[0] / 2
    assert held == pytest.approx((total - norms - key_value) / 71 + key_value + norms, rel=1e-12)


def test_experts_are_divided_by_expert_ranks() -> None:
    one = Architecture.of_model("deepseek_v3")
    counts = parameters(one)
    held = chip_memory(one, _mapping(expert_parallel_size=64, data_parallel_size=64, zero_stage=1))
    rest = counts.total - counts.experts
    np.testing.assert_allclose(held.weights, 2 * (rest + counts.experts / 64))
    # Each expert lives on one chip of the 64: its optimiser has nobody to share with.
    np.testing.assert_allclose(held.optimiser, 12 * (rest / 64 + counts.experts / 64))


def test_first_and_last_stage_carry_the_tables() -> None:
    one = Architecture.of_model("llama31_405b")
    p = _mapping(pipeline_parallel_size=16, tensor_parallel_size=8, sequence_parallel=True, attention_fused=True)
    layers = [float(stage.layers[0]) for stage in stages(one, p)]
    # 126 layers over 16 stages: the ends have one less than the middle.
    assert layers == [7.0, 8.0, 7.0]
    # A large vocabulary and few kept activations: the last stage with its logits is the fullest.
    small = _mapping(pipeline_parallel_size=2, recompute="full", attention_fused=True)
    assert chip_memory(Architecture.of_model("gemma3_1b"), small).logits[0] == S * (262144 * 10 + 4 * 1152)
    # Many kept activations: the first stage is.
    assert chip_memory(one, p).logits[0] == 0


def test_dense_first_layers_lie_in_the_first_stage() -> None:
    one = Architecture.of_model("deepseek_v3")
    first, _, last = stages(one, _mapping(pipeline_parallel_size=16))
    assert first.parts[0][0] == 3
    assert first.parts[1][0] == first.layers[0] - 3
    assert last.parts[0][0] == 0


def test_the_sum_is_the_total_and_the_largest_comes_first() -> None:
    held = chip_memory(Architecture.of_model("llama31_70b"), _mapping(tensor_parallel_size=8, data_parallel_size=8))
    culprits = held.culprits()
    assert sum(culprits.values()) == pytest.approx(held.total[0], rel=1e-12)
    assert list(culprits.values()) == sorted(culprits.values(), reverse=True)
    assert culprits["framework"] == FRAMEWORK_BYTES
    assert held.total_gib[0] == held.total[0] / 2**30


def test_fits_takes_the_memory_as_sold() -> None:
    held = chip_memory(Architecture.of_model("llama32_1b"), _mapping(attention_fused=True))
    assert held.fits(held.needed_gib[0]).tolist() == [True]
    assert held.fits(held.needed_gib[0] * 0.999).tolist() == [False]


def test_what_would_make_it_fit_makes_it_fit() -> None:
    one = Architecture.of_model("llama31_70b")
    mapping = _mapping(
        sequence_length=8192,
        global_batch_size=128,
        micro_batch_size=2,
        tensor_parallel_size=8,
        pipeline_parallel_size=4,
        data_parallel_size=4,
        attention_fused=True,
    )
    assert not chip_memory(one, mapping).fits(80)[0]
    found = what_would_fit(one, mapping, 80)
    assert found
    assert all(remedy.needed_gib <= 80 for remedy in found)
    assert any(remedy.change.startswith("zero_stage") or "recompute" in remedy.change for remedy in found)
    with pytest.raises(CostError) as caught:
        check_fits(one, mapping, 80)
    assert "of its 80 GiB" in str(caught.value)
    assert found[0].change in str(caught.value)
    assert "\n" not in str(caught.value)
    check_fits(one, mapping, 1000)


def test_a_weight_is_gathered_only_where_it_was_sharded() -> None:
    llama = Architecture.of_model("llama31_8b")
    alone = chip_memory(llama, _mapping(zero_stage=[0, 3], attention_fused=True))
    assert alone.communication.tolist() == [0.0, 0.0]
    shared = chip_memory(llama, _mapping(zero_stage=[0, 3], data_parallel_size=8, attention_fused=True))
    assert shared.communication[0] == 0.0 < shared.communication[1]
