"""Parameters of a decoder from its shape, as its published configuration states it.

Counted are attention, feed-forward, router, embeddings and learned positions; norms and biases are left out. The counts
agree with the published totals within 5 % but for :data:`EXCEPTIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from energy.catalogue.models import Model

# Models whose published total differs by more than 5 %, with the reason.
EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "gopher_280b": "relative-position weights are not in the formula",
        "chinchilla_70b": "relative-position weights are not in the formula",
        "gemma3_4b": "the published total includes a vision tower",
    }
)
# Models whose published active count differs by more than 5 % though the total agrees, with the reason.
ACTIVE_EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "glam_1_2t": "dense layers are gated, experts are not",
        "deepseek_v2_lite": "the published active count leaves the embedding table out",
        "gpt_oss_20b": "the published active count leaves the embedding table out",
        "gpt_oss_120b": "the published active count leaves the embedding table out",
        "qwen3_next_80b": "linear attention has another shape; the published count is rounded",
        "qwen35_397b": "linear attention has another shape; the published count is rounded",
    }
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Counts from the shape; ``active`` is what one token passes through, the embedding tables included."""

    total: int
    active: int
    attention: int
    feed_forward: int
    embedding: int


def parameters_of(model: Model) -> Parameters | None:
    """Return the parameters of a decoder, or None where the shape is not known or is none of a decoder.

    Parameters
    ----------
    model : Model
        Of the catalogue.

    Examples
    --------
    >>> from energy.catalogue import model
    >>> round(parameters_of(model("Llama 3.1 8B")).total / 1e9, 2)
    8.03
    >>> parameters_of(model("GPT-4")) is None
    True

    """
    attention = _attention(model)
    forward = _feed_forward(model)
    if model.kind != "transformer decoder" or attention is None or forward is None:
        return None
    if model.layers is None or model.hidden is None or model.vocab is None or model.tied_embeddings is None:
        return None
    tables = model.vocab * (1 if model.tied_embeddings else 2)
    if model.learned_positions:
        tables += model.context or 0
    embedding = tables * model.hidden
    in_layers = model.layers * attention
    held, used = forward
    return Parameters(
        total=in_layers + held + embedding,
        active=in_layers + used + embedding,
        attention=in_layers,
        feed_forward=held,
        embedding=embedding,
    )


def _attention(model: Model) -> int | None:
    """Return the weights of one layer's attention."""
    hidden, heads = model.hidden, model.heads
    if hidden is None or heads is None:
        return None
    if model.attention == "MLA":
        lora, nope, rope, value = model.kv_lora, model.qk_nope_dim, model.qk_rope_dim, model.v_dim
        if lora is None or nope is None or rope is None or value is None:
            return None
        query_width = heads * (nope + rope)
        # The small models of the family project queries without a low-rank step.
        query = hidden * query_width if model.q_lora is None else model.q_lora * (hidden + query_width)
        return query + hidden * (lora + rope) + lora * heads * (nope + value) + heads * value * hidden
    if model.kv_heads is None or model.head_dim is None:
        return None
    return 2 * hidden * model.head_dim * (heads + model.kv_heads)


def _feed_forward(model: Model) -> tuple[int, int] | None:
    """Return the weights of all layers' feed-forward parts: held, and used by one token."""
    if model.layers is None or model.hidden is None or not model.ffn_kind:
        return None
    per_width = (3 if model.ffn_kind.startswith("gated") else 2) * model.hidden
    if model.experts is None:
        return None if model.ffn is None else (model.layers * per_width * model.ffn,) * 2
    if model.moe_ffn is None or model.experts_active is None:
        return None
    mixtures = (model.layers - (model.first_dense_layers or 0)) // (model.moe_every or 1)
    dense = model.layers - mixtures
    if dense and model.ffn is None:
        return None
    always = dense * per_width * (model.ffn or 0)
    router = model.hidden * model.experts
    shared = model.shared_experts or 0
    held = mixtures * (per_width * model.moe_ffn * (model.experts + shared) + router)
    used = mixtures * (per_width * model.moe_ffn * (model.experts_active + shared) + router)
    return always + held, always + used


def cache_bytes_per_token(model: Model, bytes_per_value: float = 2.0) -> float | None:
    """Return the bytes that one token adds to the key-value cache, or None where the shape is not known.

    Sliding-window layers stop growing at the window, and a hybrid model grows in a quarter of its layers only: for both
    this is an upper bound (``note`` says which).

    Parameters
    ----------
    model : Model
        Of the catalogue.
    bytes_per_value : float
        Bytes of one stored number.

    Examples
    --------
    >>> from energy.catalogue import model
    >>> cache_bytes_per_token(model("Llama 3.1 8B"))
    131072.0

    """
    if model.layers is None:
        return None
    if model.attention == "MLA":
        if model.kv_lora is None or model.qk_rope_dim is None:
            return None
        return model.layers * (model.kv_lora + model.qk_rope_dim) * bytes_per_value
    if model.kv_heads is None or model.head_dim is None:
        return None
    return 2 * model.layers * model.kv_heads * model.head_dim * bytes_per_value
