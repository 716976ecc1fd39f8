"""Memory of a chip in training, by culprit and pipeline stage: does it fit, what fills it, what would make it fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.activations import (
    VALUE_BYTES,
    LayerActivations,
    kept,
    layer_activations,
    tokens_on_a_chip,
)
from energy.cost.architecture import Architecture
from energy.cost.counts import LayerWeights, layer_weights
from energy.cost.mapping import PRECISIONS, Mapping, codes_of
from energy.cost.offload import BLOCK_VALUES, kept_share, off_chip
from energy.cost.stages import Stage, stages
from energy.errors import CostError

Numbers = NDArray[np.float64]

#: Bytes of master weights and of moments for each parameter.
OPTIMISERS: dict[str, tuple[float, float]] = {
    "adam": (4.0, 8.0),
    "adam_bf16_moments": (4.0, 4.0),
    "adam_8bit": (4.0, 2.0),
    "sgd_momentum": (4.0, 4.0),
    "sgd": (4.0, 0.0),
    "adafactor": (4.0, 0.0),
}
_OPTIMISER_BYTES = np.array(list(OPTIMISERS.values()))
#: What the driver, the runtime and the communication library hold before the first tensor: context and workspaces of
#: products 1 GiB, channels 1 GiB.
FRAMEWORK_BYTES = 2.0 * 2**30
#: Bucket of gradients on their way through ZeRO 1 and 2, in values (default of DeepSpeed).
BUCKET_VALUES = 5e8
#: Share of all tensors that a caching allocator reserves besides (rounding, fragments, blocks kept for the next
#: tensor); the one number here that is fitted to published totals (``scripts/fit_memory.py``), not counted.
ALLOCATOR_SHARE = 0.1075
#: What of it stays when memory is short: a caching allocator frees its unused blocks before it fails (PyTorch, notes on
#: CUDA semantics). Share of tensors that come and go, an estimate.
FRAGMENT_SHARE = 0.05
# FP32 and TF32 come first among the precisions.
_TF32 = PRECISIONS.index("tf32")
_FP16 = PRECISIONS.index("fp16")


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Bytes of each parameter in training, as arrays: weight, gradient, master copy, moments, FP32 copy of gradient."""

    weight_bytes: Numbers
    gradient_bytes: Numbers
    master_bytes: Numbers
    moment_bytes: Numbers
    gradient_copy_bytes: Numbers

    @classmethod
    def of(cls, mapping: Mapping, optimiser: ArrayLike = "adam", gradient_bytes: ArrayLike | None = None) -> Self:
        """Return the bytes that an optimiser needs.

        Weights have 16 bits beside an FP32 master; with FP32 products the weight is its own master. Gradients are
        added up in FP32 (18 bytes with Adam), but for FP16 runs, where they have 16 bits and the optimiser makes an
        FP32 copy of its share for the step (20 bytes, as DeepSpeed does), and for ZeRO stage 3 (16 bytes, whether
        2 + 2 + 12 or 4 + 4 + 8 in FP32).

        Parameters
        ----------
        mapping : Mapping
            For precision and ZeRO stage.
        optimiser : array_like of str
            Of :data:`OPTIMISERS`.
        gradient_bytes : array_like of float, optional
            Bytes of a gradient value, where another is kept.

        Examples
        --------
        >>> bf16 = Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=1, precision="bf16")
        >>> state = State.of(bf16)
        >>> float((state.weight_bytes + state.gradient_bytes + state.master_bytes + state.moment_bytes)[0])
        18.0

        """
        code = codes_of(optimiser, tuple(OPTIMISERS), "optimiser")
        master, moments = _OPTIMISER_BYTES[code, 0], _OPTIMISER_BYTES[code, 1]
        whole = mapping.precision <= _TF32
        short = (mapping.precision == _FP16) | (mapping.zero_stage == 3)
        gradient = np.where(short & ~whole, 2.0, 4.0) if gradient_bytes is None else np.asarray(gradient_bytes, float)
        shape = mapping.micro_batch_size.shape
        return cls(
            weight_bytes=np.where(whole, 4.0, 2.0),
            gradient_bytes=np.broadcast_to(gradient, shape),
            master_bytes=np.where(whole, 0.0, master),
            moment_bytes=np.broadcast_to(moments, shape),
            gradient_copy_bytes=np.where((gradient < 4.0) & (mapping.zero_stage < 3), 4.0, 0.0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Bytes of one chip by culprit, for the stage of the pipeline that holds most.

    ``working`` is the layer that is computed again or backwards at one time, ``logits`` what the loss holds,
    ``communication`` gathered weights, buckets and gathered inputs, ``allocator`` what a caching allocator reserves
    beyond tensors where it has room, ``framework`` context and library.
    """

    weights: Numbers
    gradients: Numbers
    optimiser: Numbers
    activations_frame: Numbers
    activations_attention: Numbers
    activations_scores: Numbers
    activations_linear: Numbers
    activations_mlp: Numbers
    activations_mixture: Numbers
    activations_layer_inputs: Numbers
    working: Numbers
    logits: Numbers
    communication: Numbers
    allocator: Numbers
    framework: Numbers

    @property
    def activations(self) -> Numbers:
        """Return all kept activations."""
        mixers = self.activations_attention + self.activations_scores + self.activations_linear
        parts = self.activations_mlp + self.activations_mixture
        return self.activations_frame + mixers + parts + self.activations_layer_inputs

    @property
    def tensors(self) -> Numbers:
        """Return all but what allocator and framework hold."""
        return self._state + self._passing

    @property
    def _state(self) -> Numbers:
        return self.weights + self.gradients + self.optimiser

    @property
    def _passing(self) -> Numbers:
        return self.activations + self.working + self.logits + self.communication

    @property
    def total(self) -> Numbers:
        """Return the sum of all culprits: what tools show where the chip has room."""
        return self.tensors + self.allocator + self.framework

    @property
    def needed(self) -> Numbers:
        """Return the bytes without which a step fails: the total, but of what the allocator reserves only fragments."""
        return self.tensors + FRAGMENT_SHARE * self._passing + self.framework

    @property
    def needed_gib(self) -> Numbers:
        """Return what is needed in GiB."""
        return self.needed / 2.0**30

    @property
    def total_gib(self) -> Numbers:
        """Return the total in GiB, the unit in which drivers and allocators report."""
        return self.total / 2.0**30

    def culprits(self, scenario: int = 0) -> dict[str, float]:
        """Return the bytes of one scenario by culprit, the largest first."""
        sizes = {one.name: float(getattr(self, one.name)[scenario]) for one in fields(self)}
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    def fits(self, memory_gb: ArrayLike) -> NDArray[np.bool_]:
        """Return where what is needed is at most the memory of a chip.

        Parameters
        ----------
        memory_gb : array_like
            As sold: memory is made in powers of two, so that the 80 GB of a chip are 80 GiB.

        """
        return np.asarray(self.needed <= np.asarray(memory_gb, np.float64) * 2.0**30)


def chip_memory(
    architecture: Architecture,
    mapping: Mapping,
    state: State | None = None,
    *,
    operands_in_16_bits: ArrayLike = False,
    routed_output_kept: ArrayLike = False,
) -> Memory:
    """Return the memory of one chip by culprit: of the first, second and last pipeline stage the one that holds most.

    Weights are split by tensor ranks, experts by expert ranks (by tensor ranks where there are none); norms, router
    and the latent projections of MLA are whole on each rank. ZeRO divides optimiser, gradients and weights by data x
    context ranks. The first stage keeps p micro batches (1F1B), with v pieces p + (p - 1) / v (arXiv 2205.05198,
    section 4.2); other schedules see :mod:`energy.cost.schedules`. Logits: 16 bits, FP32 copy, FP32 gradient of the
    vocabulary part.

    Parameters
    ----------
    architecture : Architecture
        One or as many as scenarios.
    mapping : Mapping
        Checked by :meth:`Mapping.check` before.
    state : State, optional
        Optimiser and bytes of gradients; without it :meth:`State.of` with Adam.
    operands_in_16_bits, routed_output_kept : array_like of bool
        See :func:`energy.cost.activations.layer_activations`.

    Examples
    --------
    >>> llama = Architecture.of_model("Llama 3.1 70B")
    >>> mapping = Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=128, precision="bf16",
    ...                      tensor_parallel_size=4, pipeline_parallel_size=4, data_parallel_size=4, zero_stage=1,
    ...                      sequence_parallel=True)
    >>> held = chip_memory(llama, mapping)
    >>> next(iter(held.culprits())), held.fits(80).tolist()
    ('activations_mlp', [False])

    """
    best: Memory | None = None
    choices = {"operands_in_16_bits": operands_in_16_bits, "routed_output_kept": routed_output_kept}
    for held in memory_by_stage(architecture, mapping, state, **choices):
        best = held if best is None else _larger(best, held)
    if best is None:
        raise CostError("There is no pipeline stage: give pipeline_parallel_size 1 or more.")
    return best


def memory_by_stage(
    architecture: Architecture,
    mapping: Mapping,
    state: State | None = None,
    *,
    operands_in_16_bits: ArrayLike = False,
    routed_output_kept: ArrayLike = False,
) -> Iterator[Memory]:
    """Yield the memory of a chip of the first, second and last pipeline stage, as far as any scenario has them.

    Parameters
    ----------
    architecture, mapping, state, operands_in_16_bits, routed_output_kept
        As for :func:`chip_memory`.

    Examples
    --------
    >>> mapping = Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=128, precision="bf16",
    ...                      tensor_parallel_size=8, pipeline_parallel_size=4, sequence_parallel=True)
    >>> [float(held.needed_gib[0].round()) for held in memory_by_stage(Architecture.of_model("Llama 3.1 70B"), mapping)]
    [63.0, 55.0, 48.0]

    """
    bytes_of = State.of(mapping) if state is None else state
    choices = {"operands_in_16_bits": operands_in_16_bits, "routed_output_kept": routed_output_kept}
    one = layer_activations(architecture, mapping, **choices)
    chip = _chip(architecture, mapping, layer_weights(architecture), one)
    for stage in stages(architecture, mapping):
        yield _stage_memory(architecture, mapping, bytes_of, one, chip, stage)


def _larger(one: Memory, other: Memory) -> Memory:
    more = other.needed > one.needed
    if not more.any():
        return one
    if more.all():
        return other
    return Memory(*(np.where(more, getattr(other, f.name), getattr(one, f.name)) for f in fields(Memory)))


@dataclass(frozen=True, slots=True, eq=False)
class _Chip:
    """What does not depend on the stage: parameters of a layer on one chip by kind, buffers, and ranks of ZeRO.

    ``ranks`` has, for the parameters outside experts and of experts, over how many chips optimiser, gradients and
    weights are divided; ``head`` is what the loss holds, ``layer`` the parameters of the widest layer.
    """

    softmax: Numbers
    linear: Numbers
    mlp: Numbers
    mixture: Numbers
    experts: Numbers
    norms: Numbers
    table: Numbers
    layer: Numbers
    tokens: Numbers
    frame_values: Numbers
    working: Numbers
    head: Numbers
    ranks: tuple[Numbers, Numbers]


def _chip(a: Architecture, m: Mapping, w: LayerWeights, one: LayerActivations) -> _Chip:
    t = m.tensor_parallel_size
    # Key-value heads fewer than ranks are held several times.
    copies = np.where(a.is_mla, 1.0, np.maximum(t / np.maximum(a.kv_heads, 1.0), 1.0))
    softmax = (w.query + w.projection + w.key_value * copies) / t + w.latent
    linear, mlp, mixture = w.linear / t, w.mlp / t, w.shared / t + w.router
    has_experts_split = m.expert_parallel_size > 1
    split = np.where(has_experts_split, m.expert_parallel_size, t)
    experts = w.expert * a.experts / split
    part = np.maximum(np.where(a.dense_layers > 0, mlp, 0.0), np.where(a.moe_layers > 0, mixture + experts, 0.0))
    layer = np.maximum(softmax, np.where(a.linear_layers > 0, linear, 0.0)) + part
    data = m.data_parallel_size * m.context_parallel_size
    expert_data = np.where(has_experts_split, np.maximum(t * data / split, 1.0), data)
    value, across = VALUE_BYTES[m.precision], np.where(m.sequence_parallel, t, 1.0)
    tokens = tokens_on_a_chip(m)
    frame_values = a.hidden * tokens / across
    return _Chip(
        softmax=softmax,
        linear=linear,
        mlp=mlp,
        mixture=mixture,
        experts=experts,
        norms=w.norms + w.biases / t,
        table=a.vocab * a.hidden / t,
        layer=layer,
        tokens=tokens,
        frame_values=frame_values,
        working=_working(a, m, one, tokens),
        head=(value + 8.0) * a.vocab / t * tokens + 2.0 * value * frame_values,
        ranks=(data, expert_data),
    )


def _stage_memory(
    a: Architecture, m: Mapping, state: State, one: LayerActivations, chip: _Chip, stage: Stage
) -> Memory:
    """Return the memory of a chip of one stage."""
    dense, expert = _parameters_on_a_chip(a, m, chip, stage)
    everything = dense + expert
    shared = dense / chip.ranks[0] + expert / chip.ranks[1]
    alone = m.pipeline_parallel_size < 2
    # Gradients of a pipeline add up whole until its last micro batch: stage 2 saves nothing there.
    gradients_shared = (m.zero_stage >= 3) | ((m.zero_stage == 2) & alone)
    stays = kept_share(m, stage.layers, stage.in_flight)
    acts = kept(one, m, stage.layers, stage.mixers, stage.parts).scaled(chip.tokens * stage.in_flight * stays)
    masks = np.where(stage.is_first & a.dropout, chip.frame_values * stage.in_flight, 0.0)
    logits = np.where(stage.is_last, chip.head, 0.0)
    communication = _communication(a, m, state, chip, everything, stage) + _in_transit(m, state, chip, shared, stage)
    dynamic = acts.total + masks + chip.working + logits + communication
    in_optimiser = state.master_bytes + state.moment_bytes + state.gradient_copy_bytes
    weights = state.weight_bytes * np.where(m.zero_stage >= 3, shared, everything)
    gradients = state.gradient_bytes * np.where(gradients_shared, shared, everything)
    optimiser = in_optimiser * np.where(m.zero_stage >= 1, shared, everything)
    if m.offload.any():
        no_optimiser, no_weights = off_chip(m)
        weights, optimiser = weights * ~no_weights, optimiser * ~no_optimiser
    return Memory(
        weights=weights,
        gradients=gradients,
        optimiser=optimiser,
        activations_frame=acts.frame + masks,
        activations_attention=acts.attention,
        activations_scores=acts.scores,
        activations_linear=acts.linear,
        activations_mlp=acts.mlp,
        activations_mixture=acts.mixture,
        activations_layer_inputs=acts.layer_inputs,
        working=np.broadcast_to(chip.working, dynamic.shape),
        logits=logits,
        communication=communication,
        allocator=ALLOCATOR_SHARE * (weights + gradients + optimiser + dynamic),
        framework=np.full(dynamic.shape, FRAMEWORK_BYTES),
    )


def _in_transit(m: Mapping, state: State, chip: _Chip, updated: Numbers, stage: Stage) -> Numbers:
    """Return what lies on the chip of tensors that are streamed: two blocks of the optimiser, weights of two layers."""
    if not m.offload.any():
        return np.zeros(1)
    no_optimiser, no_weights = off_chip(m)
    block = np.minimum(np.where(m.zero_stage >= 1, updated, np.inf), BLOCK_VALUES)
    blocks = 2.0 * block * (state.master_bytes + state.moment_bytes) * no_optimiser
    table = np.where(stage.is_first | stage.is_last, chip.table, 0.0)
    # Sharded weights are gathered anyway (:func:`_communication`).
    streamed = state.weight_bytes * (2.0 * chip.layer + table) * (no_weights & (m.zero_stage < 3))
    return np.asarray(blocks + streamed)


def _parameters_on_a_chip(a: Architecture, m: Mapping, chip: _Chip, stage: Stage) -> tuple[Numbers, Numbers]:
    """Return the parameters that one chip of a stage holds before ZeRO: without experts, and of experts."""
    # With one stage a tied output layer is the embedding table itself.
    own = np.where(a.tied_embeddings & (m.pipeline_parallel_size < 2), 0.0, chip.table)
    dense = (
        chip.softmax * stage.mixers[0]
        + chip.linear * stage.mixers[1]
        + chip.mlp * stage.parts[0]
        + chip.mixture * stage.parts[1]
        + chip.norms * stage.layers
        + np.where(stage.is_first, chip.table + a.positions * a.hidden, 0.0)
        + np.where(stage.is_last, own + a.hidden, 0.0)
    )
    return dense, chip.experts * stage.parts[1]


def _working(a: Architecture, m: Mapping, one: LayerActivations, tokens: Numbers) -> Numbers:
    """Return the bytes of the layer that is at work: computed again where recompute asks, and its gradients.

    Gradients in flight are those of the widest part: input and hidden part of the feed-forward, or the scores.
    """
    value, t = VALUE_BYTES[m.precision], m.tensor_parallel_size
    wide = np.where(a.dense_layers > 0, a.ffn, 0.0)
    wide = np.maximum(wide, np.where(a.moe_layers > 0, a.experts_active * a.moe_ffn + a.shared_ffn, 0.0))
    gradients = value * (np.where(a.gated, 3.0, 2.0) * wide / t + 2.0 * a.hidden)
    square = np.where(m.attention_fused, 0.0, 2.0 * value * a.heads / t * m.sequence_length)
    some = np.where(a.attention_layers > 0, 1.0, 0.0)
    again = one.frame + np.maximum(one.attention * some, np.where(a.linear_layers > 0, one.linear, 0.0))
    again = again + one.scores * some
    again = again + np.maximum(np.where(a.dense_layers > 0, one.mlp, 0.0), np.where(a.moe_layers > 0, one.mixture, 0.0))
    only_scores = np.where(m.attention_fused, 0.0, one.scores)
    layer = np.where(m.recompute >= 2, again, np.where(m.recompute == 1, only_scores, 0.0))
    at_work: Numbers = tokens * (layer + np.maximum(gradients, square))
    return at_work


def _communication(a: Architecture, m: Mapping, state: State, chip: _Chip, held: Numbers, stage: Stage) -> Numbers:
    """Return buffers of collectives.

    FSDP gathers the weights of two layers (one ahead) and of the widest table, and holds the gradients of one layer
    whole, in a pipeline those of its whole stage, with gradients in FP32; ZeRO 1 and 2 fill two buckets, one
    to reduce and one to gather; sequence parallelism gathers the input of a product; a pipeline keeps the output of
    each micro batch in flight until its backward pass.
    """
    in_pipeline = m.pipeline_parallel_size > 1
    table = np.where(stage.is_first | stage.is_last, chip.table, 0.0)
    layer = 2.0 * chip.layer * state.weight_bytes
    gathered = layer + np.maximum(chip.layer, table) * state.gradient_bytes + table * 2.0
    # Micro batches of a pipeline interleave, so that what was gathered stays, and gradients add up whole.
    gathered = np.where(in_pipeline, held * (state.weight_bytes + 4.0), gathered)
    bucket = 2.0 * np.minimum(held, BUCKET_VALUES) * 2.0
    zero = np.where(m.zero_stage >= 3, gathered, np.where(m.zero_stage >= 1, bucket, 0.0))
    inputs = np.where(m.sequence_parallel, 2.0 * (m.tensor_parallel_size - 1.0), 0.0)
    outputs = np.where(in_pipeline, stage.in_flight * m.virtual_stages, 0.0)
    in_and_out = VALUE_BYTES[m.precision] * (inputs + outputs) * chip.frame_values
    buffers: Numbers = np.where(chip.ranks[0] > 1, zero, 0.0) + in_and_out
    return buffers
