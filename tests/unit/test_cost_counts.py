"""Parameters, FLOPs and bytes of memory-bound operations, by part and convention."""

from __future__ import annotations

import numpy as np
import pytest

from energy.catalogue import all_models
from energy.catalogue.parameters import ACTIVE_EXCEPTIONS, EXCEPTIONS, parameters_of
from energy.cost.architecture import Architecture
from energy.cost.conventions import CONVENTIONS, converted, flops_per_token, tokens_per_second
from energy.cost.counts import (
    forward_flops_per_token,
    parameters,
    step_flops,
    training_flops_per_token,
    visible_tokens,
)
from energy.cost.mapping import RECOMPUTE, Mapping
from energy.cost.traffic import memory_bound_bytes
from energy.errors import CostError

SHAPED = [one for one in all_models() if one.kind == "transformer decoder"]
FULL, SELECTIVE = RECOMPUTE.index("full"), RECOMPUTE.index("selective")


def _mapping(**changes: object) -> Mapping:
    given: dict = {"sequence_length": 2048, "micro_batch_size": 1, "global_batch_size": 8, "precision": "bf16"}
    return Mapping.of(**given | changes)


@pytest.mark.parametrize("one", SHAPED, ids=[one.model_id for one in SHAPED])
def test_parameters_agree_with_the_published_within_five_percent(one) -> None:
    counts = parameters(Architecture.of_model(one.model_id))
    within = abs(counts.total[0] / 1e9 / one.params_total_b - 1) <= 0.05
    assert within == (one.model_id not in EXCEPTIONS)
    if one.params_active_b and one.model_id not in {*EXCEPTIONS, *ACTIVE_EXCEPTIONS}:
        assert counts.active[0] / 1e9 == pytest.approx(one.params_active_b, rel=0.05)


def test_models_that_are_no_decoders_agree_too() -> None:
    names = ["bert_base", "bert_large", "t5_3b", "t5_11b", "switch_c"]
    published = [one.params_total_b for name in names for one in all_models() if one.model_id == name]
    np.testing.assert_allclose(parameters(Architecture.of_model(names)).total / 1e9, published, rtol=0.05)


def test_the_catalogue_and_the_engine_count_the_same_but_for_norms_biases_and_hybrids() -> None:
    for one in SHAPED:
        if one.attention == "hybrid":
            continue
        counts, other = parameters(Architecture.of_model(one.model_id)), parameters_of(one)
        assert other is not None
        assert counts.total[0] - counts.norms[0] == other.total, one.model_id


def test_matrices_cost_two_flops_for_each_active_weight() -> None:
    some = Architecture.of_model(["llama31_8b", "deepseek_v3", "mixtral_8x7b", "gpt3_175b", "qwen3_next_80b"])
    counts, flops = parameters(some), forward_flops_per_token(some, 4096)
    in_layers = counts.attention + counts.linear + counts.mlp + counts.shared_experts + counts.router
    np.testing.assert_allclose(flops.matrices, 2 * (in_layers + counts.experts_active))
    np.testing.assert_allclose(flops.logits, 2 * some.vocab * some.hidden)


def test_gpt3_costs_what_the_published_closed_form_says() -> None:
    one = Architecture.of_shape(
        layers=96, hidden=12288, heads=96, vocab=51200, ffn=49152, gated=False, tied_embeddings=True
    )
    s, h, layers, vocab = 2048, 12288, 96, 51200
    published = 96 * layers * h**2 * (1 + s / (6 * h) + vocab / (16 * layers * h))
    assert flops_per_token(one, s, "sc21")[0] == pytest.approx(published, rel=1e-12)
    # arXiv 2205.05198, appendix A: model FLOPs 72 B L s h^2 (1 + s / 6h + V / 12hL).
    model = 72 * layers * h**2 * (1 + s / (6 * h) + vocab / (12 * layers * h))
    assert flops_per_token(one, s, "model_full")[0] == pytest.approx(model, rel=1e-12)
    # Selective recompute adds one forward pass of the scores: 72 ... (1 + s / 6h) + 4 s h for each layer.
    selective = flops_per_token(one, s, "hardware_full", SELECTIVE)[0]
    assert selective - model == pytest.approx(4 * s * h * layers, rel=1e-9)


def test_mla_has_its_own_widths() -> None:
    one = Architecture.of_model("deepseek_v3")
    flops = forward_flops_per_token(one, 4096)
    assert flops.scores[0] == 61 * 2 * 128 * (192 + 128) * 4096 / 2
    held = 7168 * 1536 + 1536 * 128 * 192 + 7168 * (512 + 64) + 512 * 128 * (128 + 128)
    assert flops.query_key_value[0] == 61 * 2 * held
    assert flops.projection[0] == 61 * 2 * 128 * 128 * 7168


def test_grouped_queries_shrink_keys_and_values_and_not_the_scores() -> None:
    one = Architecture.of_model(["llama2_70b"])
    wide = Architecture.of_shape(
        layers=80, hidden=8192, heads=64, vocab=32000, ffn=28672, gated=True, tied_embeddings=False
    )
    few, many = forward_flops_per_token(one, 4096), forward_flops_per_token(wide, 4096)
    assert few.scores[0] == many.scores[0]
    assert many.query_key_value[0] - few.query_key_value[0] == 80 * 2 * 2 * 8192 * 128 * (64 - 8)


def test_windows_stop_the_scores_from_growing() -> None:
    mistral, gemma, llama4 = (Architecture.of_model(name) for name in ("mistral_7b", "gemma3_27b", "llama4_scout"))
    for one, near in ((mistral, 4096), (gemma, 1024)):
        full, slid = visible_tokens(one, 131072)
        assert full[0] == 65536
        # Counted token by token: the i-th sees min(i, w).
        counted = np.minimum(np.arange(131072) + 0.5, near).mean()
        assert slid[0] == pytest.approx(counted, rel=1e-6)
    _, chunk = visible_tokens(llama4, 131072)
    assert chunk[0] == 4096
    assert forward_flops_per_token(gemma, 131072).scores[0] == pytest.approx(
        2 * 32 * 256 * (10 * 65536 + 52 * visible_tokens(gemma, 131072)[1][0]), rel=1e-12
    )


def test_a_window_longer_than_the_sequence_is_none() -> None:
    one = Architecture.of_model("mistral_7b")
    assert visible_tokens(one, 2048)[1][0] == 1024


def test_encoders_see_both_ways() -> None:
    bert = Architecture.of_model("bert_large")
    assert forward_flops_per_token(bert, 512).scores[0] == 24 * 4 * 16 * 64 * 512
    t5 = Architecture.of_model("t5_11b")
    # Encoder and cross attention see all, the decoder itself half.
    assert forward_flops_per_token(t5, 512).scores[0] == 4 * 128 * 128 * 512 * (24 + 24 + 12)


def test_linear_layers_do_not_grow_with_the_sequence() -> None:
    one = Architecture.of_model("qwen3_next_80b")
    short, long = forward_flops_per_token(one, 4096), forward_flops_per_token(one, 262144)
    assert short.linear_core[0] == long.linear_core[0] > 0
    assert long.scores[0] == 64 * short.scores[0]


def test_recompute_is_a_line_of_its_own() -> None:
    one = Architecture.of_model("gpt3_175b")
    none, full, selective = (training_flops_per_token(one, 2048, code) for code in (0, FULL, SELECTIVE))
    assert none.recompute.total[0] == 0
    assert full.recompute.total[0] == full.forward.total[0] - full.forward.logits[0]
    assert selective.recompute.total[0] == selective.forward.scores[0]
    assert none.model[0] == full.model[0] == selective.model[0] == 3 * none.forward.total[0]


def test_lora_leaves_out_the_gradient_of_frozen_weights() -> None:
    one = Architecture.of_model("llama31_70b")
    full, lora = training_flops_per_token(one, 4096), training_flops_per_token(one, 4096, lora_rank=16)
    saved = full.forward.matrices + full.forward.logits
    assert full.model[0] - lora.model[0] == pytest.approx((saved - lora.adapters)[0], rel=1e-12)
    # Rank 16 on seven matrices of a layer: r (in + out) each.
    widths = 4 * 8192 + 8192 + 2 * 1024 + 8192 + 3 * (8192 + 28672)
    assert lora.adapters[0] == 6 * 16 * 80 * widths


def test_a_step_is_all_tokens_of_the_batch() -> None:
    one, mapping = Architecture.of_model("llama31_8b"), _mapping(global_batch_size=64, recompute="full")
    step, token = step_flops(one, mapping), training_flops_per_token(one, 2048, FULL)
    assert step.hardware[0] == pytest.approx(token.hardware[0] * 64 * 2048, rel=1e-12)


def test_conventions_of_one_run_mean_one_time() -> None:
    one = Architecture.of_model(["llama31_8b", "mistral_7b"])
    for given in CONVENTIONS:
        for wanted in CONVENTIONS:
            there = converted(400.0, one, 32768, given, wanted, FULL)
            np.testing.assert_allclose(
                tokens_per_second(there, one, 32768, wanted, FULL),
                tokens_per_second(400.0, one, 32768, given, FULL),
                rtol=1e-12,
            )


def test_unknown_conventions_and_sequences_are_refused() -> None:
    one = Architecture.of_model("llama31_8b")
    with pytest.raises(CostError, match=r"'model_casual' is not known: .* Nearest: model_causal"):
        flops_per_token(one, 2048, "model_casual")
    for length in (0, -1, float("nan")):
        with pytest.raises(CostError, match="sequence_length is"):
            forward_flops_per_token(one, length)


def test_memory_bound_bytes_of_gpt3_by_hand() -> None:
    one = Architecture.of_model("gpt3_175b")
    tokens, h, a, s = 2048, 12288, 96, 2048
    forward, backward = memory_bound_bytes(one, _mapping(attention_fused=False))
    assert forward.norms[0] == 2 * 4 * h * tokens
    assert backward.norms[0] == 2 * 6 * h * tokens
    assert forward.residual[0] == 2 * 6 * h * tokens
    assert forward.activation[0] == 4 * 4 * h * tokens
    assert forward.softmax[0] == 4 * a * s * tokens
    assert backward.softmax[0] == 6 * a * s * tokens
    assert forward.dropout[0] == 5 * (2 * h + a * s) * tokens
    assert forward.rotary[0] == forward.routing[0] == 0


def test_sequence_parallelism_splits_norms_and_a_fused_attention_has_no_softmax() -> None:
    one = Architecture.of_model("llama31_8b")
    alone, _ = memory_bound_bytes(one, _mapping(tensor_parallel_size=8))
    split, _ = memory_bound_bytes(one, _mapping(tensor_parallel_size=8, sequence_parallel=True))
    assert alone.norms[0] == 8 * split.norms[0]
    assert alone.activation[0] == split.activation[0]
    assert alone.softmax[0] == 0
