"""Seconds of one training step by state, for arrays of scenarios.

    step = m w + (p - 1) / v w + imbalance + exposed communication + optimiser + host

with m micro batches of w seconds on the mean stage. A state is what the chips do at the time; what is hidden behind
computing is not counted, what is not hidden is exposed. See docs/cost.md for each term and its source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.activations import tokens_on_a_chip
from energy.cost.architecture import Architecture
from energy.cost.counts import parameters, step_flops
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.links import REACHED_OUTSIDE, Fabric, Groups, exchange_s, gather_s, reduce_s, send_s
from energy.cost.mapping import PRECISIONS, RECOMPUTE, Mapping
from energy.cost.passes import MEMORY_REACHED, Passes, passes, value_bytes
from energy.errors import CostError

Numbers = NDArray[np.float64]

#: Bytes that mixed-precision Adam reads and writes for each parameter (docs/cost.md).
_ADAM_BYTES = 30.0
#: Part of a hidden collective's time that computing loses to it (compute units and bandwidth that it takes).
_CONTENTION = 0.08
_FULL, _ALTERNATE = RECOMPUTE.index("full"), RECOMPUTE.index("alternate")
_SELECTIVE = RECOMPUTE.index("selective")


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """What a software stack hides of each kind of communication, as fractions, and what its host costs.

    ``step_s`` is spent on each step, ``layer_launch_s`` is what the host needs to launch one layer forward and
    backward: chips wait when they are faster. ``operations_fused`` is the part of memory-bound traffic that a compiler
    saves (below zero where eager operations move more than they need). ``data_rate`` is what collectives over data
    ranks reach of a pipelined ring.
    """

    tensor: Numbers
    data: Numbers
    expert: Numbers
    pipeline: Numbers
    step_s: Numbers
    layer_launch_s: Numbers
    operations_fused: Numbers
    data_rate: Numbers

    def __getitem__(self, index: NDArray[np.generic] | Sequence[int]) -> Self:
        """Return the settings at ``index``."""
        return type(self)(*(getattr(self, one.name)[index] for one in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class StepTime:
    """Seconds of one step by state, arrays ``(n,)``. ``framework`` is what the stack's factor adds to the rest."""

    matmul: Numbers
    attention: Numbers
    memory_bound: Numbers
    recompute: Numbers
    tensor_communication: Numbers
    context_communication: Numbers
    expert_communication: Numbers
    pipeline_communication: Numbers
    data_communication: Numbers
    bubble: Numbers
    imbalance: Numbers
    optimiser: Numbers
    host: Numbers
    framework: Numbers

    @property
    def total(self) -> Numbers:
        """Return the time of a step in seconds."""
        return np.asarray(np.sum([getattr(self, one.name) for one in fields(self)], axis=0))

    def states(self, scenario: int = 0) -> dict[str, float]:
        """Return the seconds of one scenario by state, in the order of the class."""
        return {one.name: float(getattr(self, one.name)[scenario]) for one in fields(self)}

    def with_factor(self, factor: ArrayLike) -> Self:
        """Return the step of a stack that takes ``factor`` times as long; below one every state shrinks."""
        by = np.asarray(factor, np.float64)
        less = np.minimum(by, 1.0)
        states = {one.name: getattr(self, one.name) * less for one in fields(self)}
        states["framework"] = states["framework"] + self.total * np.maximum(by - 1.0, 0.0)
        return type(self)(**states)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A scenario's parts, arrays or sequences of one length: shapes, mapping, chips, links and stack.

    ``clock`` and ``stream`` are the chip's clock and memory bandwidth over the catalogue's (1 where nothing limits it),
    ``attention_slowdown`` the time of the stack's attention kernel over the measured one, ``recompute_share`` the part
    of the layers that full recompute is used on, ``is_lora`` whether only adapters are trained.
    """

    architecture: Architecture
    mapping: Mapping
    chips: tuple[str, ...]
    fabric: Fabric
    overlap: Overlap
    expert_imbalance: Numbers
    clock: Numbers
    stream: Numbers
    attention_slowdown: Numbers
    recompute_share: Numbers
    is_lora: NDArray[np.bool_]


def kernel_passes(work: Work) -> Passes:
    """Return the seconds of one micro batch of each scenario, each distinct set of shapes evaluated once."""
    a, m = work.architecture, work.mapping
    n = len(m)
    if n == 1:
        return _limited(_kept_passes(work), work)
    which = np.array(work.chips) if len(work.chips) > 1 else np.full(n, work.chips[0])
    names, chip_codes = np.unique(which, return_inverse=True)
    if n > 32:
        keys = _keys(work, chip_codes.ravel())
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    else:
        first, inverse = np.arange(n), np.arange(n)
    made: list[tuple[NDArray[np.intp], Passes]] = []
    for chip_code, precision in {(int(chip_codes.flat[i]), int(m.precision[i])) for i in first}:
        rows = np.flatnonzero((chip_codes.ravel()[first] == chip_code) & (m.precision[first] == precision))
        own = first[rows]
        one = passes(
            a[own] if len(a) > 1 else a,
            m[own],
            str(names[chip_code]),
            PRECISIONS[precision],
            expert_imbalance=work.expert_imbalance[own],
        )
        made.append((rows, one))
    whole = {one.name: np.empty(len(first)) for one in fields(Passes)}
    for rows, one in made:
        for name, values in whole.items():
            values[rows] = getattr(one, name)
    return _limited(Passes(**whole)[inverse.ravel()], work)


def _limited(one: Passes, work: Work) -> Passes:
    """Return the passes on chips whose clock or bandwidth is not the rated one."""
    if all((one_limit == 1.0).all() for one_limit in (work.clock, work.stream, work.attention_slowdown)):
        return _without_weight_gradients(one, work)
    by_clock = ("matmul_forward", "matmul_backward", "end_matmul")
    by_kernel = ("attention_forward", "attention_backward")
    by_stream = ("memory_forward", "memory_backward", "end_memory")
    changed = {name: getattr(one, name) / work.clock for name in by_clock}
    changed |= {name: getattr(one, name) / work.stream for name in by_stream}
    changed |= {name: getattr(one, name) / work.clock * work.attention_slowdown for name in by_kernel}
    return _without_weight_gradients(replace(one, **changed), work)


def _without_weight_gradients(one: Passes, work: Work) -> Passes:
    """Return the passes where adapters alone are trained: of a backward product only the gradient of the input."""
    if not work.is_lora.any():
        return one
    half = np.where(work.is_lora, 0.5, 1.0)
    return replace(
        one, matmul_backward=one.matmul_backward * half, end_matmul=one.end_matmul * np.where(work.is_lora, 2 / 3, 1.0)
    )


def _kept_passes(work: Work) -> Passes:
    """Return the passes of one scenario, those of the last shapes kept."""
    a, m = work.architecture, work.mapping
    sizes = (m.micro_batch_size, m.sequence_length, m.context_parallel_size, m.tensor_parallel_size)
    flags = (m.expert_parallel_size, m.sequence_parallel, m.attention_fused, m.precision, work.expert_imbalance)
    shape = b"".join([getattr(a, name).tobytes() for name in a.__slots__])
    key = (work.chips[0], shape, *(float(one[0]) for one in sizes), *(float(one[0]) for one in flags))
    found = _KEPT.get(key)
    if found is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        precision = PRECISIONS[int(m.precision[0])]
        found = passes(a, m, work.chips[0], precision, expert_imbalance=work.expert_imbalance)
        _KEPT[key] = found
    return found


_KEPT: dict[tuple[object, ...], Passes] = {}
_MOST_KEPT = 4096


def _keys(work: Work, chip_codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return one number for each scenario, equal where all that kernels depend on is equal (a random projection)."""
    a, m = work.architecture, work.mapping
    weights = np.random.default_rng(20260401).uniform(1.0, 2.0, 64)
    parts = [
        chip_codes,
        m.precision,
        m.micro_batch_size,
        m.sequence_length,
        m.context_parallel_size,
        m.tensor_parallel_size,
        m.expert_parallel_size,
        m.sequence_parallel,
        m.attention_fused,
        work.expert_imbalance,
    ]
    if len(a) > 1:
        parts += [getattr(a, one.name) for one in fields(a)]
    key = np.zeros(len(m))
    for weight, part in zip(weights, parts, strict=False):
        key += weight * np.asarray(part, np.float64)
    return key


def step_time(work: Work, kernel: Passes | None = None) -> StepTime:
    """Return the seconds of one step by state, before the stack's factor.

    Parameters
    ----------
    work : Work
        Scenarios; the mapping is checked before (:meth:`Mapping.check`).
    kernel : Passes, optional
        Of :func:`kernel_passes`, where they are known already.

    Raises
    ------
    CostError
        When a chip lacks the precision or its memory bandwidth is not known.
    """
    one = kernel_passes(work) if kernel is None else kernel
    a, m = work.architecture, work.mapping
    groups = Groups.of(work.fabric, m)
    p, v, count = m.pipeline_parallel_size, m.virtual_stages, m.micro_batches
    layers = a.layers / p
    kept = 1.0 - work.overlap.operations_fused
    memory = (one.memory_forward + one.memory_backward) * kept
    again = _recomputed(one, m, kept, work.recompute_share)
    tensor = _tensor_s(a, m, groups, work.recompute_share) * (1.0 - work.overlap.tensor)
    context = _context_s(a, m, groups, one)
    expert = _expert_s(a, m, work.fabric, groups, work.expert_imbalance) * (1.0 - work.overlap.expert)
    layer = one.matmul_forward + one.matmul_backward + one.attention_forward + one.attention_backward
    layer = layer + memory + again + tensor + context + expert
    last = one.end_memory * kept
    end = one.end_matmul + last
    trained = np.where(work.is_lora, 0.0, 1.0)
    held, rate = _held(a, m), _bandwidth(work) * MEMORY_REACHED
    # What a product writes anyway apart, the gradient of a micro batch is read, added up in FP32 and written.
    gradients = np.where(m.zero_stage < 3, 6.0 * (held[0] + held[1]) / rate, 0.0) * trained
    mean = layers * layer + end / p + gradients
    slowest = _slowest_stage(a, m, layer, end) + gradients
    send = _send_s(a, m, work.fabric, groups) * (1.0 - work.overlap.pipeline)
    launch = np.maximum(work.overlap.layer_launch_s * layers * np.where(m.recompute == _FULL, 1.3, 1.0) - mean, 0.0)
    data = _data_s(a, m, work, groups, held, mean / np.maximum(layers, 1.0))
    return StepTime(
        matmul=count * (layers * (one.matmul_forward + one.matmul_backward) + one.end_matmul / p),
        attention=count * layers * (one.attention_forward + one.attention_backward),
        memory_bound=count * (layers * memory + last / p + gradients),
        recompute=count * layers * again,
        tensor_communication=count * layers * tensor,
        context_communication=count * layers * context,
        expert_communication=count * layers * expert,
        pipeline_communication=count * send,
        data_communication=data * np.where(work.is_lora & (m.zero_stage < 3), 0.0, 1.0),
        bubble=(p - 1.0) / v * (mean + send),
        imbalance=count * (slowest - mean),
        optimiser=_optimiser_bytes(m, held) / rate * trained,
        host=work.overlap.step_s + count * launch,
        framework=np.zeros(len(m)),
    )


def _recomputed(one: Passes, m: Mapping, kept: Numbers, part: Numbers) -> Numbers:
    """Return what recompute adds to one layer: its forward pass, or that of the attention core."""
    whole = one.matmul_forward + one.attention_forward + one.memory_forward * kept
    core = np.where(m.attention_fused, 0.0, one.attention_forward + 0.5 * one.memory_forward)
    share = np.where(m.recompute == _FULL, part, np.where(m.recompute == _ALTERNATE, 0.5, 0.0))
    return share * whole + np.where(m.recompute == _SELECTIVE, core, 0.0)


def _tensor_s(a: Architecture, m: Mapping, groups: Groups, part: Numbers) -> Numbers:
    """Return tensor-parallel collectives of one layer: two gathers and two scatters each way, again on full recompute.

    An all-reduce is a scatter and a gather, so sequence parallelism sends the same. Mixtures whose experts are not
    split by tensor ranks need none for them; parallel blocks share one.
    """
    frame = tokens_on_a_chip(m) * a.hidden * value_bytes(m)
    split = np.where(m.expert_parallel_size > 1, 0.0, 1.0)
    parts = np.where(a.parallel_block, 1.0, 1.0 + (a.dense_layers + a.moe_layers * split) / a.layers)
    ways = 2.0 + np.where(m.recompute == _FULL, part, np.where(m.recompute == _ALTERNATE, 0.5, 0.0))
    return 2.0 * parts * ways * gather_s(groups.tensor, frame)


def _context_s(a: Architecture, m: Mapping, groups: Groups, one: Passes) -> Numbers:
    """Return what the ring of keys and values of one layer shows beyond the attention that hides it."""
    c = m.context_parallel_size
    if not (c > 1).any():
        return np.zeros(len(m))
    kv = np.where(a.is_mla, a.heads, np.maximum(a.kv_heads, m.tensor_parallel_size)) / m.tensor_parallel_size
    block = tokens_on_a_chip(m) * kv * (a.qk_dim + a.v_dim) * value_bytes(m)
    link = groups.context.bytes_per_s
    # A ring passes its one block at the pace of one port, not of all ports of the node.
    alone = link / np.where(groups.context.crosses, groups.context.inside, 1.0)
    hop = block / alone + groups.context.latency_s
    core = one.attention_forward / c
    forward = hop + (c - 2.0) * np.maximum(hop - core, 0.0)
    backward = 2.0 * hop + (c - 2.0) * np.maximum(2.0 * hop - 2.5 * core, 0.0)
    return np.where(c > 1, forward + backward, 0.0)


def _expert_s(a: Architecture, m: Mapping, fabric: Fabric, groups: Groups, imbalance: Numbers) -> Numbers:
    """Return all-to-all of the mean layer: out and home, forward and backward."""
    if not ((m.expert_parallel_size > 1) & (a.moe_layers > 0)).any():
        return np.zeros(len(m))
    sent = tokens_on_a_chip(m) / m.tensor_parallel_size * a.experts_active * a.hidden * value_bytes(m) * imbalance
    ways = 4.0 + np.where(m.recompute == _FULL, 2.0, 0.0)
    # A token goes once to each node that holds one of its experts, and is copied there (DeepEP, HybridEP).
    nodes = groups.expert.size / groups.expert.inside
    k = np.maximum(a.experts_active, 1.0)
    once = nodes * (1.0 - (1.0 - 1.0 / nodes) ** k) / k
    return ways * exchange_s(fabric, groups.expert, sent, once) * a.moe_layers / a.layers


def _slowest_stage(a: Architecture, m: Mapping, layer: Numbers, end: Numbers) -> Numbers:
    """Return the seconds of a micro batch on the stage that sets the pace.

    Layers that do not divide go to stages before the last, which has the logits (as :mod:`energy.cost.stages` says).
    """
    p = m.pipeline_parallel_size
    low = np.floor(a.layers / p)
    most = np.where(p > 1, np.ceil(a.layers / p), 0.0)
    return np.maximum(most * layer, low * layer + end)


def _send_s(a: Architecture, m: Mapping, fabric: Fabric, groups: Groups) -> Numbers:
    """Return the hand-overs of one micro batch between stages, there and back, for each piece of the model."""
    # Each tensor rank sends its part; the receivers gather it inside the domain (arXiv 2104.04473, section 4.1).
    frame = tokens_on_a_chip(m) * a.hidden * value_bytes(m) / m.tensor_parallel_size
    one = send_s(fabric, groups.pipeline_stride, frame)
    return np.where(m.pipeline_parallel_size > 1, 2.0 * m.virtual_stages * one, 0.0)


def _held(a: Architecture, m: Mapping) -> tuple[Numbers, Numbers]:
    """Return the parameters that one chip of the mean stage holds before ZeRO: without experts, and of experts."""
    counts = parameters(a)
    t, p = m.tensor_parallel_size, m.pipeline_parallel_size
    split = np.where(m.expert_parallel_size > 1, m.expert_parallel_size, t)
    return (counts.total - counts.experts) / (t * p), counts.experts / (split * p)


def _data_s(
    a: Architecture, m: Mapping, work: Work, groups: Groups, on_chip: tuple[Numbers, Numbers], layer: Numbers
) -> Numbers:
    """Return exposed collectives over data ranks.

    Stage 0 reduces gradients once a step, 1 and 2 scatter them and gather weights: the part that the stack hides runs
    beside the last backward and first forward pass. Stage 3 gathers each layer's weights forward and backward and
    scatters its gradients in every micro batch; a layer is as slow as the slower of both. Slices of a torus each hold
    all weights and reduce the sum of their gradients once a step.
    """
    (dense, expert), count, overlap, fabric = on_chip, m.micro_batches, work.overlap, work.fabric
    if not ((m.data_parallel_size > 1) | (m.context_parallel_size > 1)).any():
        return np.zeros(len(m))
    ranks = m.data_parallel_size * m.context_parallel_size
    expert_ranks = np.where(m.expert_parallel_size > 1, ranks * m.tensor_parallel_size / m.expert_parallel_size, ranks)
    share = np.where(ranks > 1, np.maximum(expert_ranks - 1.0, 0.0) / np.maximum(ranks - 1.0, 1.0), 0.0)
    held = dense + expert * np.minimum(share, 1.0)
    fp16 = m.precision == PRECISIONS.index("fp16")
    gradient = np.where(fp16 | (m.zero_stage >= 3), 2.0, 4.0)
    wide = np.where(value_bytes(m) > 2.0, 4.0, 2.0)
    hidden, slower = overlap.data, 1.0 / overlap.data_rate
    once = reduce_s(groups.data, held * gradient)
    sharded = gather_s(groups.data, held * gradient) + gather_s(groups.data, held * wide)
    late = np.where(m.zero_stage == 0, once, sharded) * slower
    depth = a.layers / m.pipeline_parallel_size
    busy = layer * depth
    shown = (
        late * (1.0 - hidden) + np.maximum(late * hidden - busy, 0.0) + _CONTENTION * np.minimum(late * hidden, busy)
    )
    each = 2.0 * gather_s(groups.shards, held * wide / depth) + gather_s(groups.shards, held * gradient / depth)
    each = each * slower
    between = 2.0 * (groups.slices - 1.0) / groups.slices * held * 4.0 / groups.shards.size
    between = between / (fabric.outside_bytes_per_s * REACHED_OUTSIDE) * (1.0 - hidden)
    open_part = np.maximum(each - layer * hidden, 0.0) + _CONTENTION * np.minimum(each, layer)
    every = count * (depth * open_part + each) + between
    return np.where(ranks > 1, np.where(m.zero_stage >= 3, every, shown), 0.0)


def _optimiser_bytes(m: Mapping, held: tuple[Numbers, Numbers]) -> Numbers:
    """Return the bytes that mixed-precision Adam moves: 30 for each parameter of the chip's part."""
    dense, expert = held
    ranks = m.data_parallel_size * m.context_parallel_size
    expert_ranks = np.where(m.expert_parallel_size > 1, ranks * m.tensor_parallel_size / m.expert_parallel_size, ranks)
    on = m.zero_stage >= 1
    part = np.where(on, dense / ranks + expert / np.maximum(expert_ranks, 1.0), dense + expert)
    return _ADAM_BYTES * part


def _bandwidth(work: Work) -> Numbers:
    """Return the memory bandwidth of each scenario's chip in bytes/s."""
    return _by_chip(work, lambda chip, _: kernel_chip(chip).bandwidth_bytes_per_s or np.nan)


def _by_chip(work: Work, value: Callable[[str, str], float]) -> Numbers:
    precisions = work.mapping.precision.astype(np.int64)
    names, codes = np.unique(np.array(work.chips), return_inverse=True)
    pairs = codes.ravel() * len(PRECISIONS) + precisions
    table = np.full(len(names) * len(PRECISIONS), np.nan)
    for pair in set(pairs.tolist()):
        table[pair] = value(str(names[pair // len(PRECISIONS)]), PRECISIONS[pair % len(PRECISIONS)])
    return np.asarray(table[pairs], np.float64)


def peaks(work: Work) -> Numbers:
    """Return the dense peak of each scenario's chip and precision, in FLOP/s."""
    return _by_chip(work, lambda chip, precision: peak_flop_per_s(kernel_chip(chip), precision))


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What a step time means: tokens/s of all chips, model and hardware FLOP utilisation (causal attention at half)."""

    tokens_per_s: Numbers
    mfu: Numbers
    hfu: Numbers


def rates(work: Work, seconds: Numbers, *, lora_rank: ArrayLike = 0) -> Rates:
    """Return tokens/s and utilisation of steps of ``seconds``."""
    if not (seconds > 0).all():
        raise CostError("A step takes no time: the scenario has no work.")
    m = work.mapping
    flops = step_flops(work.architecture, m, lora_rank=lora_rank)
    whole = seconds * m.chips * peaks(work)
    return Rates(m.tokens_per_step / seconds, flops.model / whole, flops.hardware / whole)
