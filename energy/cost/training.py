"""From what a user knows of a training run to its mapping, step time, bands and utilisation.

What is not given is searched: all feasible layouts in one vectorised evaluation, and the fastest that fits in memory is
taken and named. The same code answers one question and thousands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from energy.cost.architecture import Architecture
from energy.cost.footprint import held, needed_bytes
from energy.cost.links import Fabric
from energy.cost.mapping import OFFLOADS, RECOMPUTE, Mapping, codes_of
from energy.cost.offload import has_link, link_bytes_per_s
from energy.cost.passes import Passes
from energy.cost.remedies import what_would_fit
from energy.cost.requests import Request, clock_of, memory_gb_of, nan_if_none, refuse_numbers, stream_of
from energy.cost.search import USUAL_SEQUENCE, candidates, shown, unknown
from energy.cost.stack import (
    Factor,
    attention_slowdown,
    engine_family,
    factor_of,
    overlap_of,
    stack,
    stack_family,
    terms,
)
from energy.cost.step import StepTime, Work, kernel_passes, step_time
from energy.errors import CostError

Numbers = NDArray[np.float64]

#: A 95 % band over an 80 % band of the same normal errors.
WIDE_OVER_NARROW = 1.53
_NORMAL_80 = 1.2816
#: Half width of the 80 % band of ln time that each thing adds which is not told.
NOT_TOLD_LN = {"layout": 0.12, "micro_batch_size": 0.10, "sequence_length": 0.15, "shape": 0.15}
#: Below so many tokens a sequence is too short for ranks that share it.
SHARED_SEQUENCE = 16384.0
#: Memory that is left for fragments, so that a layout counts as fitting.
_USABLE_MEMORY = 0.97
#: Chips with less memory than this keep weights on chip and stream the rest: layouts are not judged by memory.
_SRAM_GB = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A request with its mapping of one scenario, and what was assumed or searched, a line each."""

    request: Request
    mapping: Mapping
    family: str
    asked: Request | None = None
    recompute_share: float = 1.0
    notes: tuple[str, ...] = field(default=())

    @property
    def spread_ln(self) -> float:
        """Return what was not told adds to the half width of the 80 % band of ln time.

        From the errors of the published dense runs with those columns blanked (``docs/cost.md``).
        """
        asked = self.asked or self.request
        layout = asked.tensor_parallel_size is None or asked.pipeline_parallel_size is None
        parts = (
            (layout and asked.chips > 1, NOT_TOLD_LN["layout"]),
            (asked.micro_batch_size is None, NOT_TOLD_LN["micro_batch_size"]),
            (asked.sequence_length is None or asked.sequence_is_assumed, NOT_TOLD_LN["sequence_length"]),
            (asked.shape_is_assumed, NOT_TOLD_LN["shape"]),
        )
        return math.sqrt(sum(size * size for counts, size in parts if counts))


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Step time of plans: states, totals in seconds with bands, the stack's factor."""

    step: StepTime
    time_s: Numbers
    low80_s: Numbers
    high80_s: Numbers
    low_s: Numbers
    high_s: Numbers
    factor: Factor
    work: Work
    kernel_sigma: Numbers


def plan(request: Request) -> Plan:
    """Return the mapping of a request: what is given, and the fastest feasible layout for the rest.

    Raises
    ------
    CostError
        When nothing that is asked for can run: sizes that do not divide, or no layout fits in memory.

    Examples
    --------
    >>> from energy.cost.architecture import Architecture
    >>> from energy.cost.requests import Request
    >>> one = plan(Request(architecture=Architecture.of_model("Llama 3.1 70B"), kind="dense",
    ...                    chip="nvidia_h100_sxm5_80", chips=64, precision="bf16", sequence_length=8192,
    ...                    global_batch_size=128, framework="megatron-core"))
    >>> float(one.mapping.chips[0]), one.family
    (64.0, 'megatron_core')

    """
    family = engine_family(stack_family(request.framework, request.chip), request.zero_stage)
    notes: list[str] = []
    if request.must_fit:
        refuse_numbers(request)
    filled = defaults(request, family, notes)
    searched = unknown(filled)
    layouts = candidates(filled, family, notes)
    share, fits = recompute_shares(filled, family, layouts)
    work = work_of([filled], [family], layouts, share)
    if not fits.any():
        if request.must_fit:
            raise CostError(_does_not_fit(filled, family, layouts))
        if len(fits) > 1:
            notes.append("No layout fits in memory by our count: the one that needs least is taken.")
        least = needed_bytes(filled, family, layouts)
        fits = least <= least.min() * 1.0001
    seconds = step_time(work).total / layouts.tokens_per_step
    best = int(np.argmin(np.where(fits, seconds, np.inf)))
    chosen = layouts[best]
    if filled.global_batch_size is None:
        batch, tokens = float(chosen.global_batch_size[0]), float(chosen.tokens_per_step[0])
        notes.append(f"No global batch is given: {batch:g} sequences, {tokens / 1e6:.3g} million tokens, are assumed.")
    if searched and len(layouts) > 1:
        said = ", ".join(f"{name} {shown(chosen, name)}" for name in searched)
        notes.append(f"Not given, taken from {len(layouts)} layouts as the fastest that fits: {said}.")
    if 0.0 < share[best] < 1.0 and RECOMPUTE[int(chosen.recompute[0])] == "full":
        notes.append(f"Recompute is used on {share[best]:.0%} of the layers, as much as memory asks for.")
    return Plan(filled, chosen, family, request, float(share[best]), tuple(notes))


def recompute_shares(request: Request, family: str, candidates: Mapping) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the part of the layers that full recompute is used on, and which layouts fit.

    Where nobody said how much is computed again, as many layers are as memory asks for. A layout that is given whole
    is taken at its word unless the request says otherwise.
    """
    n, room = len(candidates), memory_gb_of(request)
    full = np.asarray(candidates.recompute == RECOMPUTE.index("full"))
    if room is None or room < _SRAM_GB:
        return np.ones(n), ~full if request.recompute is None and not full.all() else np.ones(n, np.bool_)
    # Our count of memory is about a tenth off: a layout that ran is not refused for that.
    usable = room * 2.0**30 * (_USABLE_MEMORY if request.must_fit else 1.08)
    needs = needed_bytes(request, family, candidates)
    if n == 1 and not request.must_fit:
        return np.ones(1), np.ones(1, np.bool_)
    share = np.ones(n)
    if request.recompute is None:
        bare = needed_bytes(request, family, replace(candidates, recompute=np.zeros(n, np.int8)))
        part = np.clip((bare - usable) / np.maximum(bare - needs, 1.0), 0.0, 1.0)
        share = np.where(full, part, 1.0)
    return share, needs <= usable


def answer(plans: Sequence[Plan], *, factors: bool = True) -> Answer:
    """Return the step time of plans, all at once.

    Parameters
    ----------
    plans : sequence of Plan
        Of :func:`plan`.
    factors : bool
        Whether to apply the stacks' factors; without them physics alone speaks, and the bands are NaN.
    """
    mapping = concat([one.mapping for one in plans])
    requests, families = [one.request for one in plans], [one.family for one in plans]
    work = work_of(requests, families, mapping, np.array([one.recompute_share for one in plans]))
    kernel = kernel_passes(work)
    raw = step_time(work, kernel)
    n = len(plans)
    if not factors:
        nothing = Factor(np.ones(n), np.zeros(n, np.int64), np.full(n, np.nan), np.full(n, np.nan))
        return _banded(raw, nothing, work, kernel)
    known = factor_of(
        [terms(f, one.chip, one.kind, one.precision, year=one.year) for f, one in zip(families, requests, strict=True)]
    )
    wider = widened(known, np.array([one.spread_ln for one in plans]), kernel.sigma_fraction)
    return _banded(raw.with_factor(known.factor), wider, work, kernel)


def widened(factor: Factor, spread_ln: Numbers, kernel_sigma: Numbers) -> Factor:
    """Return a factor with bands for what was not told, and for kernels of chips whose runs nobody published.

    Examples
    --------
    >>> one = np.ones(1)
    >>> known = Factor(one, np.array([2]), 0.12 * one, 0.2 * one)
    >>> bool(widened(known, 0.16 * one, 0.3 * one).ln80[0].round(9) == 0.2)
    True

    """
    kernels = np.where(factor.sources == 0, _NORMAL_80 * kernel_sigma, 0.0)
    own = np.hypot(spread_ln, kernels)
    return replace(factor, ln80=np.hypot(factor.ln80, own), ln95=np.hypot(factor.ln95, WIDE_OVER_NARROW * own))


def _banded(step: StepTime, factor: Factor, work: Work, kernel: Passes) -> Answer:
    total = step.total
    return Answer(
        step,
        total,
        total * np.exp(-factor.ln80),
        total * np.exp(factor.ln80),
        total * np.exp(-factor.ln95),
        total * np.exp(factor.ln95),
        factor,
        work,
        kernel.sigma_fraction,
    )


def concat(mappings: Sequence[Mapping]) -> Mapping:
    """Return mappings one after another."""
    names = Mapping.__slots__
    return Mapping(*(np.concatenate([getattr(one, name) for one in mappings]) for name in names))


def work_of(requests: Sequence[Request], families: Sequence[str], mapping: Mapping, share: Numbers) -> Work:
    """Return the scenarios of requests, one for each mapping or one for all."""
    n = len(mapping)
    fabric = Fabric.of(
        [one.chip for one in requests],
        chips_per_node=[nan_if_none(one.chips_per_node) for one in requests],
        outside_gbit_per_s_per_chip=[nan_if_none(one.outside_gbit_per_s_per_chip) for one in requests],
    )
    overlap = overlap_of(families)
    clock = np.array([clock_of(one) for one in requests])
    stream = np.array([stream_of(one) for one in requests])
    imbalance = np.array([one.expert_imbalance for one in requests])
    slow = np.array([attention_slowdown(one, r.chip) for one, r in zip(families, requests, strict=True)])
    lora = np.array([one.is_lora for one in requests])
    parts = Architecture.concat([one.architecture for one in requests])
    if len(requests) == 1 and n > 1:
        at = np.zeros(n, np.intp)
        fabric, overlap, clock, stream, imbalance = fabric[at], overlap[at], clock[at], stream[at], imbalance[at]
        slow, lora = slow[at], lora[at]
    chips = tuple(one.chip for one in requests)
    slower = _slower_memory(requests, n)
    return Work(parts, mapping, chips, fabric, overlap, imbalance, clock, stream, slow, share, lora, slower)


def _slower_memory(requests: Sequence[Request], n: int) -> Numbers | None:
    """Return the rates of memories that tensors are offloaded to, bytes/s; None where nothing is."""
    used = [bool(codes_of([one.offload], OFFLOADS, "offload")[0]) for one in requests]
    if not any(used):
        return None
    rates = [
        (one.host_bytes_per_s or link_bytes_per_s(one.chip, one.offload_to)) if slower else math.nan
        for one, slower in zip(requests, used, strict=True)
    ]
    return np.broadcast_to(np.array(rates), (n,))


def defaults(request: Request, family: str, notes: list[str]) -> Request:
    """Return the request with what its stack does where it is not told, and a sequence and batch."""
    known = stack(family)
    changes: dict[str, object] = {}
    if request.sequence_length is None:
        changes["sequence_length"] = request.usual_sequence_length
        notes.append(f"No sequence length is given: {changes['sequence_length']:g} tokens are assumed.")
    if request.zero_stage is None:
        changes["zero_stage"] = float(known.zero_stage)
    if request.attention_fused is None:
        changes["attention_fused"] = known.attention_fused
    if request.virtual_stages is None and not known.interleaves and request.schedule is None:
        changes["virtual_stages"] = 1.0
    if request.context_parallel_size is None and (request.sequence_length or USUAL_SEQUENCE) < SHARED_SEQUENCE:
        changes["context_parallel_size"] = 1.0
    if request.expert_parallel_size is None and not (request.architecture.moe_layers > 0).any():
        changes["expert_parallel_size"] = 1.0
    return replace(request, **changes)  # type: ignore[arg-type]


def _does_not_fit(request: Request, family: str, candidates: Mapping) -> str:
    """Return what fills the chip in the layout that needs least, and what would help."""
    memory = held(request, family, candidates)
    least = int(np.argmin(memory.needed))
    room = memory_gb_of(request) or 0.0
    largest = [one for one in memory.culprits(least).items() if one[0] != "allocator"]
    first = ", ".join(f"{name.replace('_', ' ')} {size / 2**30:.1f} GiB" for name, size in largest[:2])
    linked = request.host_bytes_per_s is not None or has_link(request.chip)
    every = what_would_fit(request.architecture, candidates, room, least)
    # A request has no optimiser to choose, and a chip without a host link nothing to offload to.
    barred = ("optimiser",) if linked else ("optimiser", "offload")
    helps = [one for one in every if not one.change.startswith(barred)]
    said = " or ".join(one.change for one in helps[:2])
    remedy = f"What fits: {said}." if said else "Give more chips, or a chip with more memory."
    needs = f"{memory.needed_gib[least]:.1f} GiB are needed, most for {first}"
    return f"The model does not fit in the {room:g} GB of {request.chip}: {needs}. {remedy}"
