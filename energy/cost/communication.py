"""Seconds that chips talk to each other in a step: what each group moves, how often, and what computing hides.

All collectives of a scenario are evaluated at once (:func:`energy.cost.links.collectives_s`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.activations import tokens_on_a_chip
from energy.cost.architecture import Architecture
from energy.cost.kernels.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, REDUCE_SCATTER
from energy.cost.links import CONTEXT, DATA, EXPERT, PIPELINE, REACHED_OUTSIDE, TENSOR, Groups, collectives_s
from energy.cost.mapping import PRECISIONS, RECOMPUTE, Mapping
from energy.cost.passes import Passes, value_bytes

if TYPE_CHECKING:
    from energy.cost.step import Work

Numbers = NDArray[np.float64]

#: Part of a hidden collective's time that computing loses to it (compute units and bandwidth that it takes).
_CONTENTION = np.array(0.08)
_FP16 = PRECISIONS.index("fp16")
# Numbers as arrays: see energy.cost.kernels.collectives.
_NOTHING, _ONE, _TWO, _STAGE_3 = (np.array(number) for number in (0.0, 1.0, 2.0, 3.0))
#: Exchanges of a mixture layer by recompute, kind of a tensor collective without and with sequence parallelism; kind of
#: a reduction of gradients by stage of ZeRO, gathers of weights by it, bytes of a gradient by it and precision.
_REDUCTION = np.array([ALL_REDUCE, REDUCE_SCATTER, REDUCE_SCATTER, REDUCE_SCATTER])
_EXCHANGES = np.array([6.0 if name == "full" else 4.0 for name in RECOMPUTE])
_TENSOR_KIND = np.array([ALL_REDUCE, ALL_GATHER])
_GATHERS = np.array([0.0, 1.0, 1.0, 2.0])
_GRADIENT_BYTES = np.where(np.arange(len(PRECISIONS)) == _FP16, 2.0, np.array([[4.0], [4.0], [4.0], [2.0]]))


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Parameters that one chip of the mean stage holds before ZeRO: without experts, and of experts; who shares them.

    ``ranks`` and ``expert_ranks`` are the chips that hold the same parameters of both kinds.
    """

    dense: Numbers
    expert: Numbers
    ranks: Numbers
    expert_ranks: Numbers

    @property
    def both(self) -> Numbers:
        """Return all parameters of the chip."""
        return self.dense + self.expert

    @property
    def sharded(self) -> Numbers:
        """Return the parameters of the chip's own part where ranks divide them."""
        return np.asarray(self.dense / self.ranks + self.expert / np.maximum(self.expert_ranks, _ONE))


def held_parameters(dense: Numbers, experts: Numbers, m: Mapping) -> Held:
    """Return what one chip of the mean stage holds of a model's parameters.

    Parameters
    ----------
    dense, experts : array of float
        Parameters of the whole model outside experts, and of all experts.
    m : Mapping
        Scenarios.

    Examples
    --------
    >>> eight = Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=8, precision="bf16",
    ...                    tensor_parallel_size=2, data_parallel_size=4, expert_parallel_size=4)
    >>> held = held_parameters(np.array([10.0]), np.array([80.0]), eight)
    >>> held.dense.tolist(), held.expert.tolist(), held.expert_ranks.tolist()
    ([5.0], [20.0], [2.0])

    """
    t, p, e = m.tensor_parallel_size, m.pipeline_parallel_size, m.expert_parallel_size
    ranks = m.data_parallel_size * m.context_parallel_size
    on_one = dense / (t * p)
    if not np.count_nonzero(e > _ONE):
        return Held(on_one, experts / (t * p), ranks, ranks)
    split = np.where(e > 1, e, t)
    return Held(on_one, experts / (split * p), ranks, ranks * t / split)


@dataclass(frozen=True, slots=True, eq=False)
class Talk:
    """Seconds of one collective of each kind: between tensor ranks those of one part of a layer in one direction.

    ``ring`` is a hand-over of keys and values, ``hand_over`` one between pipeline stages. ``shared_parameters`` are
    those of a chip that its data ranks share; stage 3 gathers and reduces one layer at a time, the others all.
    """

    tensor: Numbers
    ring: Numbers | None
    expert: Numbers | None
    hand_over: Numbers
    gather: Numbers
    reduce: Numbers
    shared_parameters: Numbers


def talk(a: Architecture, m: Mapping, groups: Groups, held: Held, expert_imbalance: Numbers) -> Talk:
    """Return the collectives of scenarios, all at once.

    With sequence parallelism tensor ranks gather and scatter, without it they reduce (arXiv 2205.05198, section 4.2).
    Each tensor rank hands its part of a frame to the next stage; the receivers gather it inside the domain (arXiv
    2104.04473, section 4.1). A token goes once to each node that holds one of its experts, and is copied there
    (arXiv 2412.19437, section 3.2).
    """
    t, value, tokens, split = m.tensor_parallel_size, value_bytes(m), tokens_on_a_chip(m), m.sequence_parallel
    frame = tokens * a.hidden * value
    stage = m.zero_stage.astype(np.intp)
    shared, at_a_time = _shared(a, m, held)
    asked: list[tuple[int, ArrayLike, ArrayLike]] = [
        (TENSOR, _TENSOR_KIND[split.astype(np.intp)], frame),
        (DATA, ALL_GATHER, at_a_time * np.maximum(value, _TWO)),
        (DATA, _REDUCTION[stage], at_a_time * _GRADIENT_BYTES[stage, m.precision]),
        (PIPELINE, ALL_TO_ALL, _TWO * frame / t),
    ]
    places: dict[str, int] = {}
    once = np.ones(1)
    if np.count_nonzero(split):
        places["scatter"] = len(asked)
        asked.append((TENSOR, REDUCE_SCATTER, frame))
    together = groups.together
    if together[CONTEXT]:
        places["ring"] = len(asked)
        kv = np.where(a.is_mla, a.heads, np.maximum(a.kv_heads, t)) / t
        asked.append((CONTEXT, ALL_TO_ALL, 2.0 * tokens * kv * (a.qk_dim + a.v_dim) * value))
    if together[EXPERT]:
        places["expert"] = len(asked)
        asked.append((EXPERT, ALL_TO_ALL, frame / t * a.experts_active * expert_imbalance))
        k, nodes = np.maximum(a.experts_active, 1.0), groups.rows.size[EXPERT] / groups.rows.inside[EXPERT]
        once = nodes * (1.0 - (1.0 - 1.0 / nodes) ** k) / k
    found = collectives_s(groups, asked, once)
    chosen = {name: found[place] for name, place in places.items()}
    tensor = found[0]
    if "scatter" in chosen:
        tensor = tensor + split * chosen["scatter"]
    return Talk(tensor, chosen.get("ring"), chosen.get("expert"), found[3], found[1], found[2], shared)


def _shared(a: Architecture, m: Mapping, held: Held) -> tuple[Numbers, Numbers]:
    """Return the parameters of a chip that data ranks share, and those that they gather or reduce at a time."""
    if held.expert_ranks is held.ranks:
        shared = held.both
    else:
        share = np.maximum(held.expert_ranks - 1.0, 0.0) / np.maximum(held.ranks - 1.0, 1.0)
        shared = held.dense + held.expert * np.minimum(share, 1.0)
    layers = np.where(m.zero_stage >= _STAGE_3, a.layers / m.pipeline_parallel_size, _ONE)
    return shared, shared / layers


def tensor_s(a: Architecture, m: Mapping, one: Talk, passes_again: Numbers) -> Numbers:
    """Return tensor-parallel collectives of one layer: for each of its two parts one each way, and in recompute.

    Mixtures whose experts are not split by tensor ranks need none for them; parallel blocks share one.
    """
    split = a.moe_layers * (m.expert_parallel_size <= _ONE)
    parts = np.where(a.parallel_block, _ONE, _ONE + (a.dense_layers + split) / a.layers)
    return parts * (_TWO + passes_again) * one.tensor


def context_s(m: Mapping, talking: Talk, one: Passes) -> Numbers | float:
    """Return what the ring of keys and values of one layer shows beyond the attention that hides it."""
    c, hop = m.context_parallel_size, talking.ring
    if hop is None:
        return 0.0
    core = one.attention_forward / c
    forward = hop + (c - 2.0) * np.maximum(hop - core, 0.0)
    backward = 2.0 * hop + (c - 2.0) * np.maximum(2.0 * hop - 2.5 * core, 0.0)
    return np.where(c > 1, forward + backward, 0.0)


def expert_s(a: Architecture, m: Mapping, one: Talk) -> Numbers | float:
    """Return all-to-all of the mean layer: out and home, forward and backward, and in full recompute."""
    if one.expert is None:
        return 0.0
    return _EXCHANGES[m.recompute] * one.expert * a.moe_layers / a.layers


def data_s(a: Architecture, m: Mapping, work: Work, groups: Groups, one: Talk, layer: Numbers) -> Numbers:
    """Return exposed collectives over data ranks of a step.

    Stage 0 reduces gradients once a step, 1 and 2 scatter them and gather weights: the part that the stack hides runs
    beside the last backward and first forward pass. Stage 3 gathers each layer's weights forward and backward and
    scatters its gradients in every micro batch; a layer is as slow as the slower of both. Slices of a torus each hold
    all weights and reduce the sum of their gradients once a step (arXiv 1910.02054).

    Parameters
    ----------
    a, m, work, groups, one
        Scenarios and their collectives.
    layer : array of float
        Seconds that the mean layer computes in a micro batch, which hide what runs beside it.

    """
    hidden = work.overlap.data
    whole = m.zero_stage >= _STAGE_3
    depth = a.layers / m.pipeline_parallel_size
    each = (_GATHERS[m.zero_stage.astype(np.intp)] * one.gather + one.reduce) / work.overlap.data_rate
    sharded = np.count_nonzero(whole)
    all_whole = sharded == whole.size
    if not all_whole:
        busy, beside = layer * depth, each * hidden
        once = each - beside + np.maximum(beside - busy, _NOTHING) + _CONTENTION * np.minimum(beside, busy)
        if not sharded:
            return np.asarray(once)
    open_part = np.maximum(each - layer * hidden, _NOTHING) + _CONTENTION * np.minimum(each, layer)
    every = m.micro_batches * (depth * open_part + each)
    if work.fabric.has_torus:
        between = 2.0 * (groups.slices - 1.0) / groups.slices * one.shared_parameters * 4.0 / groups.data.size
        every = every + between / (work.fabric.outside_bytes_per_s * REACHED_OUTSIDE) * (1.0 - hidden)
    return np.asarray(every if all_whole else np.where(whole, every, once))
