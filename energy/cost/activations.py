"""Bytes of activations that a layer keeps for its backward pass, counted tensor by tensor.

For the architecture of arXiv 2205.05198 (plain MLP, dropout, 16 bits) the sums are its formulas: s b h (34 + 5 a s / h)
unsharded, s b h (10 + 24 / t + 5 a s / (h t)) with tensor parallelism, the whole over t with sequence parallelism.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.architecture import Architecture
from energy.cost.counts import LINEAR_CHUNK_TOKENS
from energy.cost.mapping import OPERAND_BYTES, PRECISIONS, RECOMPUTE, Mapping

Numbers = NDArray[np.float64]

_NONE, _SELECTIVE, _ALTERNATE, _FULL = (RECOMPUTE.index(name) for name in ("none", "selective", "alternate", "full"))
#: Bytes of a value outside matrix products, by code of :data:`energy.cost.mapping.PRECISIONS`.
VALUE_BYTES = np.array([4.0 if name in ("fp32", "tf32") else 2.0 for name in PRECISIONS])


@dataclass(frozen=True, slots=True, eq=False)
class LayerActivations:
    """Bytes that one chip keeps for each token of a micro batch, for one layer of each kind, nothing recomputed.

    ``attention`` and ``linear`` are the two kinds of mixers, ``mlp`` and ``mixture`` the two kinds of feed-forward
    parts; ``scores`` is what an attention that is not fused keeps besides; ``frame`` holds inputs of norms and masks
    of dropout of any layer; ``layer_input`` is all that full recompute keeps.
    """

    frame: Numbers
    attention: Numbers
    scores: Numbers
    linear: Numbers
    mlp: Numbers
    mixture: Numbers
    layer_input: Numbers


def layer_activations(
    architecture: Architecture,
    mapping: Mapping,
    *,
    operands_in_16_bits: ArrayLike = False,
    routed_output_kept: ArrayLike = False,
) -> LayerActivations:
    """Return the activation bytes of a layer by kind, for a token on one chip.

    Split over tensor ranks are queries, keys, values, scores, the output of attention and the hidden part of the
    feed-forward; with sequence parallelism also inputs of norms and of column-parallel products, and masks.

    Parameters
    ----------
    architecture : Architecture
        One or many.
    mapping : Mapping
        Tensor and sequence parallelism, precision and fused attention.
    operands_in_16_bits : array_like of bool
        Inputs of products are kept in 16 bits and cast again, as eager FP8 does; else in the precision of the product.
    routed_output_kept : array_like of bool
        The weights of routing multiply the output of experts, which is then kept; newer kernels multiply inside.

    Examples
    --------
    >>> gpt3 = Architecture.of_model("GPT-3 175B")
    >>> plain = Mapping.of(sequence_length=2048, micro_batch_size=1, global_batch_size=1, precision="bf16",
    ...                    attention_fused=False)
    >>> one = layer_activations(gpt3, plain)
    >>> float((one.frame + one.attention + one.scores + one.mlp)[0]), 34 * 12288 + 5 * 96 * 2048
    (1400832.0, 1400832)

    """
    a, m = architecture, mapping
    t = m.tensor_parallel_size
    across = np.where(m.sequence_parallel, t, 1.0)
    value = VALUE_BYTES[m.precision]
    operand = np.where(np.asarray(operands_in_16_bits, np.bool_), value, np.minimum(OPERAND_BYTES[m.precision], value))
    mask = np.where(a.dropout, 1.0, 0.0)
    # A block with parallel parts gives both the same input.
    second_input = np.where(a.parallel_block & (a.norms_per_layer < 2), 0.0, 1.0)
    attention, scores = _attention(a, m, value, operand)
    hidden = np.where(a.gated, 2.0 * value, value) + operand
    mlp_in = operand * a.hidden / across * second_input
    taken = a.experts_active
    # What enters the experts, and where the weights of routing multiply what leaves them, that too.
    leaves = np.where(np.asarray(routed_output_kept, np.bool_), value, 0.0)
    routed = ((operand + leaves) * a.hidden * taken + 8.0 * a.experts) / across
    return LayerActivations(
        frame=(value * a.norms_per_layer + 2.0 * mask) * a.hidden / across,
        attention=attention,
        scores=scores,
        linear=_linear(a, t, across, value, operand),
        mlp=mlp_in + hidden * a.ffn / t,
        mixture=mlp_in + routed + hidden * (taken * a.moe_ffn + a.shared_ffn) / t,
        layer_input=value * a.hidden / across,
    )


def _attention(a: Architecture, m: Mapping, value: Numbers, operand: Numbers) -> tuple[Numbers, Numbers]:
    t = m.tensor_parallel_size
    across = np.where(m.sequence_parallel, t, 1.0)
    # Key-value heads fewer than ranks are held several times.
    held = np.where(a.is_mla, a.heads, np.maximum(a.kv_heads, t))
    projected = a.heads * a.qk_dim + held * (a.qk_dim + a.v_dim)
    latent = np.where(a.is_mla, 2.0 * (a.q_lora + a.kv_lora) + a.rope_dim, 0.0) / across
    out = a.heads * a.v_dim / t
    kept_out = np.where(m.attention_fused & (operand < value), value + operand, operand)
    gate = np.where(a.attention_gate, 2.0 * value * out, 0.0)
    attention = operand * a.hidden / across + value * (projected / t + latent) + kept_out * out + gate
    # Softmax, its dropout mask and what dropout leaves; a fused kernel keeps one FP32 statistic for each row.
    square = (value + np.where(a.dropout, value + 1.0, 0.0)) * m.sequence_length
    scores = a.heads / t * np.where(m.attention_fused, 4.0, square)
    return attention, scores


def _linear(a: Architecture, t: Numbers, across: Numbers, value: Numbers, operand: Numbers) -> Numbers:
    """Return the bytes of a gated delta net: inputs before and after the convolution, gate, output, states."""
    keys = a.linear_key_heads * a.linear_key_dim
    values = a.linear_value_heads * a.linear_value_dim
    states = values * a.linear_key_dim / LINEAR_CHUNK_TOKENS
    inside = value * (2.0 * (2.0 * keys + values) + 2.0 * values + states) + operand * values
    return operand * a.hidden / across + inside / t


@dataclass(frozen=True, slots=True, eq=False)
class KeptActivations:
    """Bytes by kind that a number of layers keeps after recompute, for each token of a micro batch on one chip."""

    frame: Numbers
    attention: Numbers
    scores: Numbers
    linear: Numbers
    mlp: Numbers
    mixture: Numbers
    layer_inputs: Numbers

    @property
    def total(self) -> Numbers:
        """Return the sum of the kinds."""
        mixers = self.frame + self.attention + self.scores + self.linear
        return mixers + self.mlp + self.mixture + self.layer_inputs

    def scaled(self, factor: ArrayLike) -> Self:
        """Return each kind times a factor, for example the tokens in flight."""
        by = np.asarray(factor, np.float64)
        return type(self)(*(getattr(self, one.name) * by for one in fields(self)))


def kept(
    one: LayerActivations,
    mapping: Mapping,
    layers: Numbers,
    mixers: tuple[Numbers, Numbers],
    parts: tuple[Numbers, Numbers],
) -> KeptActivations:
    """Return what layers keep under the mapping's recompute.

    Parameters
    ----------
    one : LayerActivations
        Of :func:`layer_activations`.
    mapping : Mapping
        Its recompute: none keeps all; selective drops the scores of an attention that is not fused; full keeps the
        input of each layer; alternate keeps the mean of all and full.
    layers : array
        Number of layers.
    mixers : two arrays
        Layers with softmax attention and with linear attention among them.
    parts : two arrays
        Layers with a dense feed-forward part and with a mixture among them.

    """
    code = mapping.recompute
    whole = np.where(code == _FULL, 0.0, np.where(code == _ALTERNATE, 0.5, 1.0))
    core = np.where((code == _SELECTIVE) & ~mapping.attention_fused, 0.0, whole)
    inputs = np.where(code == _FULL, 1.0, np.where(code == _ALTERNATE, 0.5, 0.0))
    return KeptActivations(
        frame=one.frame * layers * whole,
        attention=one.attention * mixers[0] * whole,
        scores=one.scores * mixers[0] * core,
        linear=one.linear * mixers[1] * whole,
        mlp=one.mlp * parts[0] * whole,
        mixture=one.mixture * parts[1] * whole,
        layer_inputs=one.layer_input * layers * inputs,
    )


def activation_bytes_per_layer(
    architecture: Architecture, mapping: Mapping, *, operands_in_16_bits: ArrayLike = False
) -> KeptActivations:
    """Return the bytes that the mean layer of a model keeps on one chip, for one micro batch.

    Examples
    --------
    >>> gpt3 = Architecture.of_model("GPT-3 175B")
    >>> mapping = Mapping.of(sequence_length=2048, micro_batch_size=1, global_batch_size=64, precision="bf16",
    ...                      tensor_parallel_size=8, sequence_parallel=True, attention_fused=False,
    ...                      recompute=["none", "selective", "full"])
    >>> (activation_bytes_per_layer(gpt3, mapping).total / 2**20).tolist()
    [342.0, 102.0, 6.0]

    """
    a = architecture
    one = layer_activations(a, mapping, operands_in_16_bits=operands_in_16_bits)
    layers = np.ones_like(a.layers)
    mixers = ((a.attention_layers + a.cross_attention_layers) / a.layers, a.linear_layers / a.layers)
    parts = (a.dense_layers / a.layers, a.moe_layers / a.layers)
    return kept(one, mapping, layers, mixers, parts).scaled(tokens_on_a_chip(mapping))


def tokens_on_a_chip(mapping: Mapping) -> Numbers:
    """Return the tokens of a micro batch that one chip sees: b s / c.

    Examples
    --------
    >>> tokens_on_a_chip(Mapping.of(sequence_length=8192, micro_batch_size=2, global_batch_size=2, precision="bf16",
    ...                             context_parallel_size=4)).tolist()
    [4096.0]

    """
    return mapping.micro_batch_size * mapping.sequence_length / mapping.context_parallel_size
