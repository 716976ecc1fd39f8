"""Shapes: from the catalogue, from configurations, from numbers; and what is refused with which words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from energy.catalogue import all_models
from energy.cost.architecture import Architecture
from energy.cost.counts import parameters
from energy.errors import CostError, UnknownNameError

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
_NEOX = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "intermediate_size": 16384}
_DEEPSEEK = {
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "vocab_size": 129280,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "tie_word_embeddings": False,
}
_QWEN_MOE = {
    "num_hidden_layers": 48,
    "hidden_size": 2048,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
    "mlp_only_layers": [],
    "decoder_sparse_step": 1,
}
_QWEN_NEXT = _QWEN_MOE | {
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "intermediate_size": 5120,
    "moe_intermediate_size": 512,
    "num_experts": 512,
    "num_experts_per_tok": 10,
    "shared_expert_intermediate_size": 512,
    "full_attention_interval": 4,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
}
_GEMMA = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 256000}
_GPT2 = {"n_layer": 48, "n_embd": 1600, "n_head": 25, "vocab_size": 50257, "n_positions": 1024}
_BLOOM = {"n_layer": 70, "hidden_size": 14336, "n_head": 112, "vocab_size": 250880}
_OPT = {"ffn_dim": 16384, "max_position_embeddings": 2048, "vocab_size": 50272}
_OSS = {
    "num_hidden_layers": 24,
    "hidden_size": 2880,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "intermediate_size": 2880,
    "num_local_experts": 32,
    "num_experts_per_tok": 4,
    "vocab_size": 201088,
    "sliding_window": 128,
}
# Configuration and the published total, in 1e9.
CONFIGS = [
    (LLAMA, 8.03),
    (LLAMA | {"model_type": "mistral", "vocab_size": 32000, "sliding_window": 4096}, 7.24),
    (
        LLAMA | {"model_type": "mixtral", "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2},
        46.7,
    ),
    (
        LLAMA
        | {"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28}
        | {"num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064},
        7.616,
    ),
    (
        LLAMA | {"model_type": "qwen3", "num_hidden_layers": 36, "intermediate_size": 12288, "vocab_size": 151936},
        8.19,
    ),
    (_QWEN_MOE | {"model_type": "qwen3_moe"}, 30.53),
    (_QWEN_NEXT | {"model_type": "qwen3_next"}, 80.0),
    (
        _GEMMA
        | {"model_type": "gemma2", "num_hidden_layers": 42, "hidden_size": 3584, "intermediate_size": 14336}
        | {"sliding_window": 4096},
        9.242,
    ),
    (
        {
            "model_type": "gemma3",
            "text_config": _GEMMA
            | {"num_hidden_layers": 62, "hidden_size": 5376, "num_attention_heads": 32, "num_key_value_heads": 16}
            | {"head_dim": 128, "intermediate_size": 21504, "vocab_size": 262144, "sliding_window": 1024},
        },
        27.4,
    ),
    (_DEEPSEEK | {"model_type": "deepseek_v3"}, 671.0),
    (_GPT2 | {"model_type": "gpt2"}, 1.558),
    (_NEOX | {"model_type": "gpt_neox", "vocab_size": 50432}, 6.857),
    (
        {"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71}
        | {"vocab_size": 65024, "multi_query": True},
        7.2,
    ),
    (_BLOOM | {"model_type": "bloom"}, 176.247),
    (_NEOX | _OPT | {"model_type": "opt"}, 6.7),
    (_NEOX | {"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "vocab_size": 51200}, 2.78),
    (
        {"model_type": "bert", "num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12}
        | {"intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512},
        0.11,
    ),
    (_OSS | {"model_type": "gpt_oss"}, 20.9),
]


@pytest.mark.parametrize(("config", "published_b"), CONFIGS, ids=[one["model_type"] for one, _ in CONFIGS])
def test_a_configuration_gives_the_published_parameters(config: dict, published_b: float) -> None:
    total = parameters(Architecture.of_config(config)).total[0] / 1e9
    assert total == pytest.approx(published_b, rel=0.05)


def test_a_configuration_and_the_catalogue_give_the_same_shape() -> None:
    for config, name in ((LLAMA, "llama31_8b"), (_DEEPSEEK | {"model_type": "deepseek_v3"}, "deepseek_v3")):
        read, known = Architecture.of_config(config), Architecture.of_model(name)
        for field in Architecture.__dataclass_fields__:
            assert getattr(read, field)[0] == getattr(known, field)[0], field


def test_a_configuration_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    assert Architecture.of_config(path).kv_heads.tolist() == [8.0]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({**LLAMA, "model_type": "lama"}, "The model_type 'lama' is not known"),
        ({key: value for key, value in LLAMA.items() if key != "hidden_size"}, "has no hidden_size: add it"),
        ({**LLAMA, "num_hidden_layers": "32"}, "num_hidden_layers of the configuration is '32'"),
        ({**LLAMA, "num_hidden_layers": float("nan")}, "num_hidden_layers of the configuration is nan"),
        ({**LLAMA, "num_hidden_layers": float("inf")}, "num_hidden_layers of the configuration is inf"),
        ({**LLAMA, "num_hidden_layers": 10**400}, "num_hidden_layers of the configuration is 1000"),
        ({**LLAMA, "num_hidden_layers": 0}, "layers is 0"),
        ({**LLAMA, "num_key_value_heads": 7}, "32 attention heads cannot share 7 key-value heads"),
        ({**LLAMA, "num_attention_heads": 24, "hidden_size": 4100}, "A width of 4100 does not divide by 24 heads"),
        ({}, "The model_type None is not known"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_one_line(config: dict, words: str) -> None:
    with pytest.raises(CostError) as caught:
        Architecture.of_config(config)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_configuration_is_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "config.json"
    with pytest.raises(CostError, match="cannot be read"):
        Architecture.of_config(broken)
    for text, words in (("{", "is no JSON"), ("[1]", "holds no object")):
        broken.write_text(text, encoding="utf-8")
        with pytest.raises(CostError, match=words):
            Architecture.of_config(broken)


def test_every_language_model_of_the_catalogue_has_a_shape_or_says_what_is_missing() -> None:
    made = 0
    for one in all_models():
        try:
            Architecture.of_model(one.model_id)
            made += 1
        except CostError as error:
            assert one.kind != "transformer decoder"
            assert one.name in str(error)
            assert "\n" not in str(error)
    assert made >= 95


def test_unknown_and_foreign_models_are_refused_with_a_remedy() -> None:
    with pytest.raises(UnknownNameError, match=r"Llama 3\.1 8B"):
        Architecture.of_model("Llama 3.1 8")
    with pytest.raises(CostError, match="not a language model: use its forward_gflop_per_item"):
        Architecture.of_model("ResNet-50")
    with pytest.raises(CostError, match="not published"):
        Architecture.of_model("GPT-4")
    with pytest.raises(CostError, match="No model is named"):
        Architecture.of_model([])


def test_layers_are_counted_by_kind() -> None:
    names = ["gemma3_27b", "mistral_7b", "gpt_oss_20b", "qwen3_next_80b", "llama4_maverick", "bert_base", "t5_11b"]
    one = Architecture.of_model([*names, "deepseek_v3", "llama2_7b"])
    assert one.full_attention_layers.tolist() == [10, 0, 12, 12, 12, 12, 48, 61, 32]
    assert one.window_attention_layers.tolist() == [52, 32, 12, 0, 36, 0, 0, 0, 0]
    assert one.linear_layers.tolist() == [0, 0, 0, 36, 0, 0, 0, 0, 0]
    assert one.moe_layers.tolist() == [0, 0, 24, 48, 24, 0, 0, 58, 0]
    assert one.encoder_layers.tolist() == [0, 0, 0, 0, 0, 12, 24, 0, 0]
    np.testing.assert_array_equal(one.dense_layers + one.moe_layers, one.layers)
    np.testing.assert_array_equal(one.attention_layers + one.linear_layers, one.layers)


def test_arrays_index_and_concatenate() -> None:
    both = Architecture.of_model(["llama2_7b", "llama2_70b", "llama2_7b"])
    assert len(both) == 3
    assert both[1].kv_heads.tolist() == [8.0]
    assert both[[2, 0]].hidden.tolist() == [4096.0, 4096.0]
    assert both[both.hidden > 5000].layers.tolist() == [80.0]
    assert len(Architecture.concat([both, both[:1]])) == 4
    with pytest.raises(CostError, match="no architectures"):
        Architecture.concat([])


_SHAPE = {"layers": 2, "hidden": 64, "heads": 4, "vocab": 100, "ffn": 256, "gated": True, "tied_embeddings": True}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"layers": 0}, "layers is 0: give a whole number, 1 or more"),
        ({"layers": 2.5}, "layers is 2.5"),
        ({"hidden": float("nan")}, "hidden is nan"),
        ({"heads": -4}, "heads is -4"),
        ({"ffn": 0}, "There are 2 dense_layers without a width: give ffn"),
        ({"experts": 8}, "There are 2 moe_layers without a width: give moe_ffn"),
        ({"experts": 8, "moe_ffn": 32, "experts_active": 9}, "experts_active 9 is more than the 8 experts"),
        ({"heds": 3}, "'heds' is no part of a shape. Nearest: heads"),
        ({"layers": [2, 3], "hidden": [64, 64, 64]}, "different lengths"),
        ({"vocab": "many"}, "vocab is 'many'"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(change: dict, words: str) -> None:
    with pytest.raises(CostError) as caught:
        Architecture.of_shape(**_SHAPE | change)
    assert words in str(caught.value)


def test_the_package_loads_nothing_before_it_is_used(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "import energy.cost, sys; print([m for m in ('numpy', 'energy.catalogue') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"
