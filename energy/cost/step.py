"""Seconds of one training step by state, for arrays of scenarios.

    step = m w + bubble w + imbalance + exposed communication + optimiser + host

with m micro batches of w seconds on the mean stage, and a bubble of (p - 1) / v or less
(:mod:`energy.cost.schedules`). A state is what the chips do at the time; what is hidden behind
computing is not counted, what is not hidden is exposed. See docs/cost.md for each term and its source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy import catalogue
from energy.cost.architecture import Architecture
from energy.cost.communication import Held, context_s, data_s, expert_s, held_parameters, talk, tensor_s
from energy.cost.counts import parameters, step_flops
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s, supports
from energy.cost.links import Fabric, Groups
from energy.cost.mapping import PRECISIONS, Mapping
from energy.cost.offload import exposed_s
from energy.cost.passes import MEMORY_REACHED, Passes, passes
from energy.cost.schedules import bubble_passes
from energy.errors import CostError

Numbers = NDArray[np.float64]

#: Bytes that mixed-precision Adam reads and writes for each parameter (docs/cost.md).
_ADAM_BYTES = np.array(30.0)
#: What a product writes anyway apart, the gradient of a micro batch is read, added up in FP32 and written.
_GRADIENT_BYTES = np.array(6.0)
# Numbers as arrays: see energy.cost.kernels.collectives.
_NOTHING, _HALF, _ONE, _TWO, _STAGE_3 = (np.array(number) for number in (0.0, 0.5, 1.0, 2.0, 3.0))
#: What is computed again by code of recompute: part of a forward pass, that of the layers which full recompute is used
#: on, attention core, launches over the usual ones.
_PASS_AGAIN = np.array([0.0, 0.0, 0.5, 0.0])
_LAYERS_AGAIN = np.array([0.0, 0.0, 0.0, 1.0])
_CORE_AGAIN = np.array([0.0, 1.0, 0.0, 0.0])
_LAUNCHES = np.array([1.0, 1.0, 1.0, 1.3])
#: Shapes and passes that are kept for the next call.
_MOST_KEPT = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """What a software stack hides of each kind of communication, as fractions, and what its host costs.

    ``step_s`` is spent on each step, ``layer_launch_s`` is what the host needs to launch one layer forward and
    backward: chips wait when they are faster. ``operations_fused`` is the part of memory-bound traffic that a compiler
    saves (below zero where eager operations move more than they need). ``data_rate`` is what collectives over data
    ranks reach of a pipelined ring. ``routing_s`` is what each mixture layer waits in a micro batch for the host.
    """

    tensor: Numbers
    data: Numbers
    expert: Numbers
    pipeline: Numbers
    step_s: Numbers
    layer_launch_s: Numbers
    operations_fused: Numbers
    data_rate: Numbers
    routing_s: Numbers

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
    offload: Numbers
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
    of the layers that full recompute is used on, ``is_lora`` whether only adapters are trained, ``offload_bytes_per_s``
    the rate of the slower memory, None where no scenario uses one.
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
    offload_bytes_per_s: Numbers | None = None


def kernel_passes(work: Work) -> Passes:
    """Return the seconds of one micro batch of each scenario, each distinct set of shapes evaluated once."""
    a, m = work.architecture, work.mapping
    n = len(m)
    if n == 1:
        return _kept_passes(work)
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
    parts = (
        *(m.micro_batch_size, m.sequence_length, m.context_parallel_size, m.tensor_parallel_size),
        *(m.expert_parallel_size, m.sequence_parallel, m.attention_fused, m.precision, work.expert_imbalance),
        *(work.clock, work.stream, work.attention_slowdown, work.is_lora),
    )
    key = (work.chips[0], _shape_bytes(a), *[one.item() for one in parts])
    found = _KEPT.get(key)
    if found is None:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        precision = PRECISIONS[int(m.precision[0])]
        found = _limited(passes(a, m, work.chips[0], precision, expert_imbalance=work.expert_imbalance), work)
        _KEPT[key] = found
    return found


_KEPT: dict[tuple[object, ...], Passes] = {}


@lru_cache(maxsize=_MOST_KEPT)
def _shape_bytes(a: Architecture) -> bytes:
    return b"".join([getattr(a, name).tobytes() for name in a.__slots__])


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
    a, m, overlap = work.architecture, work.mapping, work.overlap
    groups = Groups.of(work.fabric, m)
    p, count = m.pipeline_parallel_size, m.micro_batches
    layers = a.layers / p
    kept = _ONE - overlap.operations_fused
    forward_memory = one.memory_forward * kept
    memory = forward_memory + one.memory_backward * kept
    code = m.recompute
    share = _PASS_AGAIN[code] + _LAYERS_AGAIN[code] * work.recompute_share
    again = _recomputed(one, m, forward_memory, share) if np.count_nonzero(code) else 0.0
    held = held_parameters(*_counts(a), m)
    talking = talk(a, m, groups, held, work.expert_imbalance)
    tensor = tensor_s(a, m, talking, share) * (_ONE - overlap.tensor)
    context = context_s(m, talking, one)
    expert = expert_s(a, m, talking) * (_ONE - overlap.expert)
    matmul = one.matmul_forward + one.matmul_backward
    attention = one.attention_forward + one.attention_backward
    layer = matmul + attention + memory + again + tensor + context + expert
    last = one.end_memory * kept
    end = one.end_matmul + last
    frozen = work.is_lora.astype(np.float64)
    trained = _ONE - frozen
    rate = _bandwidth(work) * MEMORY_REACHED
    whole = (m.zero_stage < _STAGE_3).astype(np.float64)
    gradients = _GRADIENT_BYTES * held.both / rate * whole * trained
    mean = layers * layer + end / p + gradients
    slowest = _slowest_stage(a, m, layer, end) + gradients
    send = _TWO * m.virtual_stages * talking.hand_over * (_ONE - overlap.pipeline)
    launch = np.maximum(overlap.layer_launch_s * layers * _LAUNCHES[code] - mean, _NOTHING)
    data = data_s(a, m, work, groups, talking, mean / np.maximum(layers, _ONE))
    in_layers = count * layers
    optimiser = _optimiser_bytes(m, held) / rate * trained
    return StepTime(
        matmul=in_layers * matmul + count * one.end_matmul / p,
        attention=in_layers * attention,
        memory_bound=in_layers * memory + count * (last / p + gradients),
        recompute=in_layers * again,
        tensor_communication=in_layers * tensor,
        context_communication=in_layers * context,
        expert_communication=in_layers * expert,
        pipeline_communication=count * send,
        data_communication=data * (_ONE - frozen * whole),
        bubble=bubble_passes(m) * (mean + send),
        imbalance=count * (slowest - mean),
        optimiser=optimiser,
        offload=_offload_s(work, held, mean, optimiser),
        host=overlap.step_s + count * (launch + _routing_s(work)),
        framework=np.zeros(len(m)),
    )


def _recomputed(one: Passes, m: Mapping, memory: Numbers, share: Numbers) -> Numbers:
    """Return what recompute adds to one layer: ``share`` of its forward pass, or that of the attention core."""
    core = np.where(m.attention_fused, _NOTHING, one.attention_forward + _HALF * one.memory_forward)
    whole = one.matmul_forward + one.attention_forward + memory
    return np.asarray(share * whole + _CORE_AGAIN[m.recompute] * core)


def _routing_s(work: Work) -> Numbers | float:
    """Return what a micro batch waits for the host to learn how many tokens each expert has.

    Published mixtures on chips with their processor on the board (GB200, GB300) capture layers in graphs and do not.
    """
    a, m = work.architecture, work.mapping
    if not np.count_nonzero(a.moe_layers):
        return 0.0
    return a.moe_layers / m.pipeline_parallel_size * work.overlap.routing_s * _by_chip(work, _host_is_apart)


def _offload_s(work: Work, held: Held, mean: Numbers, optimiser: Numbers) -> Numbers:
    """Return what transfers of offloaded tensors show; nothing where nothing is offloaded."""
    if work.offload_bytes_per_s is None:
        return np.zeros(len(work.mapping))
    m = work.mapping
    updated = np.where(m.zero_stage >= 1, held.sharded, held.both) * (1.0 - work.is_lora)
    return exposed_s(work.architecture, m, work.offload_bytes_per_s, (held.both, updated), mean, optimiser)


def _slowest_stage(a: Architecture, m: Mapping, layer: Numbers, end: Numbers) -> Numbers:
    """Return the seconds of a micro batch on the stage that sets the pace.

    Layers that do not divide go to stages before the last, which has the logits (as :mod:`energy.cost.stages` says).
    """
    layers = a.layers / m.pipeline_parallel_size
    low = np.floor(layers)
    return low * layer + np.maximum((np.ceil(layers) - low) * layer, end)


def _counts(a: Architecture) -> tuple[Numbers, Numbers]:
    """Return the parameters of models: without experts, and of experts; of one model kept for the next call."""
    return _kept_counts(a) if len(a) == 1 else _counted(a)


def _counted(a: Architecture) -> tuple[Numbers, Numbers]:
    counts = parameters(a)
    return counts.total - counts.experts, counts.experts


_kept_counts = lru_cache(maxsize=_MOST_KEPT)(_counted)


def _optimiser_bytes(m: Mapping, held: Held) -> Numbers:
    """Return the bytes that mixed-precision Adam moves: 30 for each parameter of the chip's part."""
    return _ADAM_BYTES * np.where(m.zero_stage >= _ONE, held.sharded, held.both)


def _bandwidth(work: Work) -> Numbers:
    """Return the memory bandwidth of each scenario's chip in bytes/s."""
    return _by_chip(work, _bandwidths)


def _by_chip(work: Work, table: Callable[[str], Numbers]) -> Numbers:
    """Return the numbers of each scenario's chip in its precision, from a table by precision of each chip."""
    if len(work.chips) == 1:
        return np.asarray(table(work.chips[0])[work.mapping.precision])
    place = {name: at for at, name in enumerate(dict.fromkeys(work.chips))}
    tables = np.stack([table(name) for name in place])
    return np.asarray(tables[[place[name] for name in work.chips], work.mapping.precision])


@cache
def _host_is_apart(chip: str) -> Numbers:
    return np.full(len(PRECISIONS), 0.0 if "C2C" in catalogue.chip(chip).host_link else 1.0)


@cache
def _bandwidths(chip: str) -> Numbers:
    return np.full(len(PRECISIONS), kernel_chip(chip).bandwidth_bytes_per_s or np.nan)


@cache
def _peaks(chip: str) -> Numbers:
    """Return the peaks of a chip by precision; NaN where it has none."""
    known = kernel_chip(chip)
    return np.array([peak_flop_per_s(known, one) if supports(chip, one) else np.nan for one in PRECISIONS])


def peaks(work: Work) -> Numbers:
    """Return the dense peak of each scenario's chip and precision, in FLOP/s."""
    found = _by_chip(work, _peaks)
    if not (found > 0).all():
        at = int(np.argmin(found > 0))
        chip = work.chips[at if len(work.chips) > 1 else 0]
        peak_flop_per_s(kernel_chip(chip), PRECISIONS[int(work.mapping.precision[at])])
    return found


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
