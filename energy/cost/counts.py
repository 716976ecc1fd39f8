"""Parameters and FLOPs of an architecture by part, from the shape of each layer kind.

Convention: a multiply-add counts two, causal attention counts half of its square, recompute is a line of its own.
:mod:`energy.cost.conventions` converts to those in public use.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.architecture import Architecture
from energy.cost.mapping import RECOMPUTE, Mapping
from energy.errors import CostError

Numbers = NDArray[np.float64]

#: Tokens that a linear-attention kernel handles together (chunk of the published gated delta rule kernels).
LINEAR_CHUNK_TOKENS = 64.0
_ALTERNATE, _FULL = float(RECOMPUTE.index("alternate")), float(RECOMPUTE.index("full"))
_SELECTIVE = float(RECOMPUTE.index("selective"))


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """Weights of one layer of each kind, and of one expert; what tensor parallelism splits stands apart.

    ``query``, ``key_value`` and ``projection`` are split by heads (``key_value`` at most by its heads); ``latent``,
    the down projections of a compressed cache, is whole on each rank, as are ``router`` and ``norms``.
    """

    query: Numbers
    key_value: Numbers
    latent: Numbers
    projection: Numbers
    linear: Numbers
    mlp: Numbers
    expert: Numbers
    shared: Numbers
    router: Numbers
    norms: Numbers
    biases: Numbers

    @property
    def attention(self) -> Numbers:
        """Return the weights of one softmax attention."""
        return self.query + self.key_value + self.latent + self.projection


def layer_weights(architecture: Architecture) -> LayerWeights:
    """Return the weights of one layer by part.

    Attention h a d + 2 h k d + a d h; MLA h q + q a (nope + rope) + h (kv + rope) + kv a (nope + v) + a v h (paper of
    DeepSeek-V2, section 2.1); feed-forward 3 h f (gated) or 2 h f; router h E; gated delta net h (2 key + 2 value
    width) + 2 h heads + value width x h.

    Examples
    --------
    >>> one = layer_weights(Architecture.of_model("Llama 3.1 8B"))
    >>> float(one.attention[0]), float(one.mlp[0])
    (41943040.0, 176160768.0)

    """
    a = architecture
    width_query, width_out = a.heads * a.qk_dim, a.heads * a.v_dim
    low_rank = a.q_lora > 0
    query = np.where(low_rank, a.q_lora, a.hidden) * width_query
    query = query + np.where(a.attention_gate, a.hidden * width_query, 0.0)
    plain = a.hidden * a.kv_heads * (a.qk_dim + a.v_dim)
    key_value = np.where(a.is_mla, a.kv_lora * a.heads * (a.qk_dim - a.rope_dim + a.v_dim), plain)
    matrices = np.where(a.gated, 3.0, 2.0)
    linear_key = a.linear_key_heads * a.linear_key_dim
    linear_value = a.linear_value_heads * a.linear_value_dim
    in_linear = 2.0 * linear_key + 2.0 * linear_value + 2.0 * a.linear_value_heads
    norm_vectors = np.where(a.biases, 2.0, 1.0)
    in_biases = width_query + 2.0 * a.kv_heads * a.qk_dim + 2.0 * a.hidden + a.ffn
    return LayerWeights(
        query=query,
        key_value=key_value,
        latent=a.hidden * (a.q_lora + np.where(a.is_mla, a.kv_lora + a.rope_dim, 0.0)),
        projection=width_out * a.hidden,
        linear=a.hidden * (in_linear + linear_value),
        mlp=matrices * a.hidden * a.ffn,
        expert=matrices * a.hidden * a.moe_ffn,
        shared=matrices * a.hidden * a.shared_ffn,
        router=a.hidden * a.experts,
        norms=a.norms_per_layer * norm_vectors * a.hidden,
        biases=np.where(a.biases, in_biases, 0.0),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ParameterCounts:
    """Parameters by part, all layers together. ``experts_active`` is the part of ``experts`` that one token takes.

    ``logits`` is the output matrix where it does not share the embedding table.
    """

    embeddings: Numbers
    positions: Numbers
    logits: Numbers
    attention: Numbers
    linear: Numbers
    mlp: Numbers
    shared_experts: Numbers
    experts: Numbers
    router: Numbers
    norms: Numbers
    experts_active: Numbers

    @property
    def total(self) -> Numbers:
        """Return all that is held in memory."""
        return self._common + self.experts

    @property
    def active(self) -> Numbers:
        """Return what one token passes through, the embedding tables included."""
        return self._common + self.experts_active

    @property
    def _common(self) -> Numbers:
        tables = self.embeddings + self.positions + self.logits
        return tables + self.attention + self.linear + self.mlp + self.shared_experts + self.router + self.norms


def parameters(architecture: Architecture) -> ParameterCounts:
    """Return the parameters of each architecture by part; biases are counted with the norms.

    Examples
    --------
    >>> counts = parameters(Architecture.of_model(["Llama 3.1 70B", "DeepSeek-V3"]))
    >>> (counts.total / 1e9).round(1).tolist(), (counts.active / 1e9).round(1).tolist()
    ([70.6, 671.0], [70.6, 37.6])

    """
    a, one = architecture, layer_weights(architecture)
    table = a.vocab * a.hidden
    return ParameterCounts(
        embeddings=table,
        positions=a.positions * a.hidden,
        logits=np.where(a.tied_embeddings, 0.0, table),
        attention=one.attention * (a.attention_layers + a.cross_attention_layers),
        linear=one.linear * a.linear_layers,
        mlp=one.mlp * a.dense_layers,
        shared_experts=one.shared * a.moe_layers,
        experts=one.expert * a.experts * a.moe_layers,
        router=one.router * a.moe_layers,
        norms=(one.norms + one.biases) * a.layers + a.hidden,
        experts_active=one.expert * a.experts_active * a.moe_layers,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Flops:
    """FLOPs by part, as arrays ``(n,)``. ``scores`` are both products of attention: queries by keys, and by values."""

    query_key_value: Numbers
    scores: Numbers
    projection: Numbers
    linear: Numbers
    linear_core: Numbers
    mlp: Numbers
    shared_experts: Numbers
    experts: Numbers
    router: Numbers
    logits: Numbers

    @property
    def total(self) -> Numbers:
        """Return the sum of the parts."""
        return self.layers + self.logits

    @property
    def layers(self) -> Numbers:
        """Return the sum without the logits: what full recompute does again."""
        return self.cores + self.matrices

    @property
    def cores(self) -> Numbers:
        """Return what has no weights: products of attention and states of linear attention."""
        return self.scores + self.linear_core

    @property
    def matrices(self) -> Numbers:
        """Return the products with the weights of layers."""
        in_attention = self.query_key_value + self.projection + self.linear
        return in_attention + self.mlp + self.shared_experts + self.experts + self.router

    def scaled(self, factor: ArrayLike) -> Self:
        """Return each part times a factor, for example the tokens of a step."""
        by = np.asarray(factor, np.float64)
        return type(self)(*(getattr(self, one.name) * by for one in fields(self)))


def visible_tokens(architecture: Architecture, sequence_length: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return the mean number of tokens that a query sees, in full and in window layers of a decoder.

    Full s / 2; window w < s: w - w^2 / (2 s); chunk c < s: c / 2. Counted as a continuum, so that causal attention is
    exactly half of its square.

    Examples
    --------
    >>> full, near = visible_tokens(Architecture.of_model("Mistral 7B"), 16384)
    >>> float(full[0]), float(near[0])
    (8192.0, 3584.0)

    """
    s = _tokens(sequence_length)
    inside = np.minimum(np.where(architecture.window > 0, architecture.window, np.inf), s)
    slid = inside - inside * inside / (2.0 * s)
    return s / 2.0, np.where(architecture.window_is_chunk, inside / 2.0, slid)


def _tokens(sequence_length: ArrayLike) -> Numbers:
    s = np.atleast_1d(np.asarray(sequence_length, np.float64))
    if not (s >= 1).all():
        bad = s[~(s >= 1)]
        raise CostError(f"sequence_length is {bad[0]:g}: give tokens, 1 or more.")
    return s


def forward_flops_per_token(architecture: Architecture, sequence_length: ArrayLike) -> Flops:
    """Return the FLOPs of one token's forward pass by part, causal attention at half.

    Two for each weight of the layers that a token passes; attention 2 a (d_qk + d_v) for each token seen (see
    :func:`visible_tokens`; encoders and cross attention see all s); linear attention 6 d_k d_v for each value head
    (read, correct and write the state) plus its chunk. An encoder-decoder counts one token of each side.

    Parameters
    ----------
    architecture : Architecture
        One or many.
    sequence_length : array_like
        Tokens of a sequence.

    Examples
    --------
    >>> flops = forward_flops_per_token(Architecture.of_model("Llama 3.1 8B"), 8192)
    >>> float(flops.total[0] / 1e9), float(flops.scores[0] / 1e9)
    (17.156800512, 2.147483648)

    """
    a, one = architecture, layer_weights(architecture)
    s = _tokens(sequence_length)
    full, near = visible_tokens(a, s)
    # Encoder layers are full-attention layers that see both sides.
    both_sides = np.minimum(a.encoder_layers, a.full_attention_layers)
    seen = (a.full_attention_layers - both_sides) * full + a.window_attention_layers * near
    seen = seen + (both_sides + a.cross_attention_layers) * s
    cores = a.attention_layers + a.cross_attention_layers
    chunk = np.minimum(LINEAR_CHUNK_TOKENS, s)
    state = 6.0 * a.linear_key_dim * a.linear_value_dim + chunk * (2.0 * a.linear_key_dim + a.linear_value_dim)
    return Flops(
        query_key_value=2.0 * (one.query + one.key_value + one.latent) * cores,
        scores=2.0 * a.heads * (a.qk_dim + a.v_dim) * seen,
        projection=2.0 * one.projection * cores,
        linear=2.0 * one.linear * a.linear_layers,
        linear_core=a.linear_value_heads * state * a.linear_layers,
        mlp=2.0 * one.mlp * a.dense_layers,
        shared_experts=2.0 * one.shared * a.moe_layers,
        experts=2.0 * one.expert * a.experts_active * a.moe_layers,
        router=2.0 * one.router * a.moe_layers,
        logits=2.0 * a.hidden * a.vocab,
    )


@dataclass(frozen=True, slots=True, eq=False)
class TrainingFlops:
    """FLOPs of training by pass. ``recompute`` is what activations cost that were thrown away."""

    forward: Flops
    backward: Flops
    recompute: Flops
    adapters: Numbers

    @property
    def model(self) -> Numbers:
        """Return model FLOPs: forward and backward."""
        return self.forward.total + self.backward.total + self.adapters

    @property
    def hardware(self) -> Numbers:
        """Return hardware FLOPs: the recompute included."""
        return self.model + self.recompute.total


def training_flops_per_token(
    architecture: Architecture,
    sequence_length: ArrayLike,
    recompute: ArrayLike = 0,
    *,
    lora_rank: ArrayLike = 0,
) -> TrainingFlops:
    """Return the FLOPs of training by one token, by pass and part.

    Backward is twice the forward pass: the gradient of inputs and of weights. LoRA leaves out the gradient of the
    frozen weights, so 4 instead of 6 for each; its adapters, of rank r on each matrix of the layers, add 6 for each
    of their parameters.

    Parameters
    ----------
    architecture : Architecture
        One or many.
    sequence_length : array_like
        Tokens of a sequence.
    recompute : array_like of int
        Codes of :data:`energy.cost.mapping.RECOMPUTE`.
    lora_rank : array_like
        Rank of the adapters; 0 trains all weights.

    Examples
    --------
    >>> gpt3 = Architecture.of_model("GPT-3 175B")
    >>> full, lora = training_flops_per_token(gpt3, 2048), training_flops_per_token(gpt3, 2048, lora_rank=16)
    >>> round(float(lora.model[0] / full.model[0]), 3)
    0.673

    """
    forward = forward_flops_per_token(architecture, sequence_length)
    rank = np.asarray(lora_rank, np.float64)
    frozen = np.where(rank > 0, 1.0, 2.0)
    names = [one.name for one in fields(Flops)]
    backward = Flops(
        *(getattr(forward, name) * (2.0 if name in ("scores", "linear_core") else frozen) for name in names)
    )
    code = np.asarray(recompute, np.float64)
    whole = np.where(code == _FULL, 1.0, np.where(code == _ALTERNATE, 0.5, 0.0))
    core = np.where(code == _SELECTIVE, 1.0, whole)
    shares = {"scores": core, "linear_core": whole, "logits": np.zeros(1)}
    again = Flops(*(getattr(forward, name) * shares.get(name, whole) for name in names))
    return TrainingFlops(forward, backward, again, 6.0 * _adapter_parameters(architecture, rank))


def step_flops(architecture: Architecture, mapping: Mapping, *, lora_rank: ArrayLike = 0) -> TrainingFlops:
    """Return the FLOPs of one whole step on all chips: all tokens of the global batch.

    Examples
    --------
    >>> mapping = Mapping.of(sequence_length=2048, micro_batch_size=1, global_batch_size=64, precision="bf16",
    ...                      data_parallel_size=64, recompute="full")
    >>> step = step_flops(Architecture.of_model("GPT-3 175B"), mapping)
    >>> round(float(step.hardware[0] / step.model[0]), 3)
    1.332

    """
    one = training_flops_per_token(architecture, mapping.sequence_length, mapping.recompute, lora_rank=lora_rank)
    tokens = mapping.tokens_per_step
    return TrainingFlops(
        one.forward.scaled(tokens), one.backward.scaled(tokens), one.recompute.scaled(tokens), one.adapters * tokens
    )


def _adapter_parameters(architecture: Architecture, rank: Numbers) -> Numbers:
    """Return the parameters of adapters on the matrices of attention and of feed-forward layers: r (in + out) each."""
    a = architecture
    query, key_value, out = a.heads * a.qk_dim, a.kv_heads * (a.qk_dim + a.v_dim), a.heads * a.v_dim
    attention = 4.0 * a.hidden + query + key_value + out
    matrices = np.where(a.gated, 3.0, 2.0)
    mlp = matrices * (a.hidden + a.ffn)
    mixture = matrices * (a.experts_active * (a.hidden + a.moe_ffn) + a.shared_experts * (a.hidden + a.moe_ffn))
    return rank * (attention * a.attention_layers + mlp * a.dense_layers + mixture * a.moe_layers)
