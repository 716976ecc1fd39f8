"""Shapes from the ``config.json`` of Hugging Face models: one reader for each family of configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from energy.errors import CostError, did_you_mean

Config = Mapping[str, Any]
Shape = dict[str, Any]
#: Whole numbers below it are exact in the arrays that they go into.
_MOST = 2**53


def shape_of_config(config: Config) -> Shape:
    """Return the arguments of :meth:`Architecture.of_shape` for a configuration.

    A configuration of a model that also sees pictures (``text_config``) is read for its language part alone.

    Raises
    ------
    CostError
        When ``model_type`` is missing or not known (the message gives the nearest), or a key is missing.

    Examples
    --------
    >>> shape_of_config({"model_type": "mamba"})
    Traceback (most recent call last):
    ...
    energy.errors.CostError: The model_type 'mamba' is not known: bert, bloom, deepseek_v2, deepseek_v3, falcon, \
gemma, gemma2, gemma3, gemma3_text, gpt2, gpt_neox, gpt_oss, llama, mistral, mixtral, olmo2, opt, phi, phi3, qwen2, \
qwen2_moe, qwen3, qwen3_moe, qwen3_next. Nearest: llama, gemma. Give the shape with Architecture.of_shape.

    """
    kind = config.get("model_type")
    if isinstance(config.get("text_config"), Mapping) and kind not in _READERS:
        return shape_of_config(config["text_config"])
    if isinstance(config.get("text_config"), Mapping):
        return shape_of_config({"model_type": kind, **config["text_config"]})
    if not isinstance(kind, str) or kind not in _READERS:
        hint = did_you_mean(str(kind), _READERS) if isinstance(kind, str) else ""
        raise CostError(
            f"The model_type {kind!r} is not known: {', '.join(sorted(_READERS))}."
            f"{hint} Give the shape with Architecture.of_shape."
        )
    return _divided(_READERS[kind](config))


def _divided(shape: Shape) -> Shape:
    """Return a shape whose heads share out evenly; raise for one whose heads do not, which no model can run."""
    heads, groups, hidden = shape["heads"], shape.get("kv_heads"), shape["hidden"]
    if groups and heads % groups:
        raise CostError(f"{heads} attention heads cannot share {groups} key-value heads: one has to divide the other.")
    if heads and shape.get("head_dim") is None and hidden % heads:
        raise CostError(f"A width of {hidden} does not divide by {heads} heads: add head_dim, or correct one of them.")
    return shape


def _whole(config: Config, *keys: str) -> int:
    """Return the first of the keys that is there, as a positive whole number."""
    for key in keys:
        value = config.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < _MOST:
            raise CostError(f"{key} of the configuration is {value!r}: give a whole number.")
        if value != int(value):
            raise CostError(f"{key} of the configuration is {value!r}: give a whole number.")
        return int(value)
    raise CostError(f"The configuration of {config.get('model_type')} has no {' or '.join(keys)}: add it.")


def _optional(config: Config, default: int, *keys: str) -> int:
    return _whole(config, *keys) if any(config.get(key) is not None for key in keys) else default


def _llama(config: Config, *, tied: bool = False, window: bool = False) -> Shape:
    """Return the shape of the gated, rotary family; ``tied`` is what the class takes when the file is silent."""
    heads = _whole(config, "num_attention_heads")
    shape: Shape = {
        "layers": _whole(config, "num_hidden_layers"),
        "hidden": _whole(config, "hidden_size"),
        "heads": heads,
        "kv_heads": _optional(config, heads, "num_key_value_heads"),
        "vocab": _whole(config, "vocab_size"),
        "ffn": _whole(config, "intermediate_size"),
        "gated": True,
        "tied_embeddings": bool(config.get("tie_word_embeddings", tied)),
    }
    if config.get("head_dim") is not None:
        shape["head_dim"] = _whole(config, "head_dim")
    if window and config.get("sliding_window") is not None:
        shape["window"] = _whole(config, "sliding_window")
    return shape


def _qwen(config: Config) -> Shape:
    shape = _llama(config)
    if config.get("use_sliding_window"):
        # Layers from this one on slide.
        full = _optional(config, 0, "max_window_layers")
        shape["window"] = _whole(config, "sliding_window")
        shape["window_attention_layers"] = max(0, shape["layers"] - full)
    return shape


def _gemma(config: Config) -> Shape:
    return _llama(config, tied=True)


def _gemma2(config: Config) -> Shape:
    return {**_layered_window(config, _llama(config, tied=True), every=2), "norms_per_layer": 4}


def _gemma3(config: Config) -> Shape:
    every = _optional(config, 6, "sliding_window_pattern")
    return {**_layered_window(config, _llama(config, tied=True), every=every), "norms_per_layer": 4}


def _layered_window(config: Config, shape: Shape, every: int) -> Shape:
    if config.get("sliding_window") is None:
        return shape
    shape["window"] = _whole(config, "sliding_window")
    kinds = config.get("layer_types")
    if isinstance(kinds, list):
        shape["window_attention_layers"] = kinds.count("sliding_attention")
    else:
        shape["global_every"] = every
    return shape


def _mixture(config: Config, shape: Shape, experts: int, width: int) -> Shape:
    return shape | {
        "experts": experts,
        "experts_active": _whole(config, "num_experts_per_tok", "experts_per_token"),
        "moe_ffn": width,
    }


def _mixtral(config: Config) -> Shape:
    width = _whole(config, "intermediate_size")
    return _mixture(config, _llama(config, window=True), _whole(config, "num_local_experts"), width)


def _gpt_oss(config: Config) -> Shape:
    width = _whole(config, "intermediate_size")
    shape = _layered_window(config, {**_llama(config), "biases": True}, every=2)
    return _mixture(config, shape, _whole(config, "num_local_experts", "num_experts"), width)


def _qwen_moe(config: Config) -> Shape:
    shape = _mixture(config, _qwen(config), _whole(config, "num_experts"), _whole(config, "moe_intermediate_size"))
    dense = config.get("mlp_only_layers") or []
    step = _optional(config, 1, "decoder_sparse_step")
    mixtures = sum(1 for i in range(shape["layers"]) if i not in dense and (i + 1) % step == 0)
    shape["moe_layers"] = mixtures
    shared = _optional(config, 0, "shared_expert_intermediate_size")
    if shared % shape["moe_ffn"]:
        raise CostError(
            f"shared_expert_intermediate_size {shared} is not a multiple of moe_intermediate_size {shape['moe_ffn']}: "
            "give the shape with Architecture.of_shape."
        )
    return shape | {"shared_experts": shared // shape["moe_ffn"]}


def _qwen3_next(config: Config) -> Shape:
    return _qwen_moe(config) | {
        "full_attention_every": _optional(config, 4, "full_attention_interval"),
        "linear_key_heads": _whole(config, "linear_num_key_heads"),
        "linear_value_heads": _whole(config, "linear_num_value_heads"),
        "linear_key_dim": _whole(config, "linear_key_head_dim"),
        "linear_value_dim": _whole(config, "linear_value_head_dim"),
        "attention_gate": True,
    }


def _deepseek(config: Config) -> Shape:
    rope, nope = _whole(config, "qk_rope_head_dim"), _whole(config, "qk_nope_head_dim")
    shape = _llama(config) | {
        "kv_heads": _whole(config, "num_attention_heads"),
        "head_dim": rope + nope,
        "v_dim": _whole(config, "v_head_dim"),
        "q_lora": _optional(config, 0, "q_lora_rank"),
        "kv_lora": _whole(config, "kv_lora_rank"),
        "rope_dim": rope,
    }
    if config.get("n_routed_experts") is None:
        return shape
    shape = _mixture(config, shape, _whole(config, "n_routed_experts"), _whole(config, "moe_intermediate_size"))
    return shape | {
        "shared_experts": _optional(config, 0, "n_shared_experts"),
        "first_dense_layers": _optional(config, 0, "first_k_dense_replace"),
        "moe_every": _optional(config, 1, "moe_layer_freq"),
    }


def _plain(config: Config, *, tied: bool = True) -> Shape:
    """Return the shape of the family with two matrices in a feed-forward part, by either of the two sets of keys."""
    hidden = _whole(config, "hidden_size", "n_embd")
    return {
        "layers": _whole(config, "num_hidden_layers", "n_layer"),
        "hidden": hidden,
        "heads": _whole(config, "num_attention_heads", "n_head"),
        "vocab": _whole(config, "vocab_size"),
        "ffn": _optional(config, 4 * hidden, "intermediate_size", "ffn_dim", "n_inner"),
        "gated": False,
        "tied_embeddings": bool(config.get("tie_word_embeddings", tied)),
        "biases": True,
    }


def _gpt2(config: Config) -> Shape:
    dropout = bool(config.get("resid_pdrop", 0.1))
    return _plain(config) | {"positions": _whole(config, "n_positions", "n_ctx"), "dropout": dropout}


def _gpt_neox(config: Config) -> Shape:
    return _plain(config, tied=False) | {"parallel_block": bool(config.get("use_parallel_residual", True))}


def _falcon(config: Config) -> Shape:
    shape = _plain(config)
    if config.get("new_decoder_architecture"):
        shape["kv_heads"] = _optional(config, shape["heads"], "num_kv_heads")
    elif config.get("multi_query", True):
        shape["kv_heads"] = 1
    return shape | {
        "ffn": _optional(config, 4 * shape["hidden"], "ffn_hidden_size"),
        "biases": bool(config.get("bias", False)),
        "rotary": not config.get("alibi", False),
        "parallel_block": bool(config.get("parallel_attn", True)),
    }


def _bloom(config: Config) -> Shape:
    return _plain(config) | {"rotary": False, "dropout": bool(config.get("hidden_dropout", 0.0))}


def _opt(config: Config) -> Shape:
    if config.get("word_embed_proj_dim") not in (None, config.get("hidden_size")):
        raise CostError(
            f"word_embed_proj_dim {config['word_embed_proj_dim']} differs from hidden_size {config['hidden_size']}: "
            "a projected embedding is not modelled; give the shape with Architecture.of_shape."
        )
    return _plain(config) | {
        # The table holds two more rows than there are positions.
        "positions": _whole(config, "max_position_embeddings") + 2,
        "dropout": bool(config.get("dropout", 0.1)),
    }


def _phi(config: Config) -> Shape:
    shape = _plain(config, tied=False) | {"parallel_block": True, "norms_per_layer": 1}
    if config.get("num_key_value_heads") is not None:
        shape["kv_heads"] = _whole(config, "num_key_value_heads")
    return shape


def _bert(config: Config) -> Shape:
    shape = _plain(config)
    return shape | {
        "encoder_layers": shape["layers"],
        "positions": _whole(config, "max_position_embeddings") + _optional(config, 2, "type_vocab_size"),
        "dropout": bool(config.get("hidden_dropout_prob", 0.1)),
    }


def _mistral(config: Config) -> Shape:
    return _llama(config, window=True)


_READERS: Mapping[str, Callable[[Config], Shape]] = {
    "llama": _llama,
    "mistral": _mistral,
    "mixtral": _mixtral,
    "phi3": _mistral,
    "olmo2": _llama,
    "qwen2": _qwen,
    "qwen3": _qwen,
    "qwen2_moe": _qwen_moe,
    "qwen3_moe": _qwen_moe,
    "qwen3_next": _qwen3_next,
    "gemma": _gemma,
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "gemma3_text": _gemma3,
    "gpt_oss": _gpt_oss,
    "deepseek_v2": _deepseek,
    "deepseek_v3": _deepseek,
    "gpt2": _gpt2,
    "gpt_neox": _gpt_neox,
    "falcon": _falcon,
    "bloom": _bloom,
    "opt": _opt,
    "phi": _phi,
    "bert": _bert,
}
