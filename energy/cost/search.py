"""Layouts to choose from: every combination of the sizes that a request leaves open, as arrays of scenarios."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from energy.cost.links import Fabric
from energy.cost.mapping import RECOMPUTE, SCHEDULES, Mapping, codes_of
from energy.cost.requests import Request
from energy.cost.stack import stack
from energy.errors import CostError

Numbers = NDArray[np.float64]

_SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
#: Sequences of a step where no batch is given: tokens of the usual step of a large run.
TOKENS_PER_STEP = 2.0**22
#: A step of more than so many times the usual tokens, or the tokens that fill the chips, trains another model: such
#: layouts would win by their batch alone.
MOST_OVER_USUAL = 2.0
#: Tokens of a sequence where none is told.
USUAL_SEQUENCE = 4096.0

#: What is searched, in the order of the options.
SEARCHED = (
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "virtual_stages",
    "context_parallel_size",
    "expert_parallel_size",
    "micro_batch_size",
    "recompute",
)


def unknown(request: Request) -> list[str]:
    """Return what a request leaves open."""
    return [name for name in SEARCHED if getattr(request, name) is None]


def shown(mapping: Mapping, name: str) -> str:
    """Return one number of a layout as people read it."""
    value = getattr(mapping, name)[0]
    return RECOMPUTE[int(value)] if name == "recompute" else f"{value:g}"


def options_of(request: Request) -> list[tuple[float, ...]]:
    """Return the values to try of each searched number, in the order of ``SEARCHED``."""
    # energy.cost.rows does the same for many requests at once: change both
    a = request.architecture
    heads, experts, layers = float(a.heads[0]), float(a.experts[0]), float(a.layers[0])
    domain = float(Fabric.of([request.chip]).domain_size[0])
    chips, s = request.chips, request.sequence_length or USUAL_SEQUENCE
    usual: dict[str, tuple[float, ...]] = {
        "tensor_parallel_size": tuple(x for x in _SIZES[:6] if x <= min(max(domain, 8.0), chips) and heads % x == 0),
        "pipeline_parallel_size": tuple(x for x in _SIZES[:6] if x <= chips and x <= layers),
        "virtual_stages": (1.0, 2.0, 4.0, 8.0),
        "context_parallel_size": tuple(x for x in _SIZES[:6] if x <= chips and s / x >= 4096),
        "expert_parallel_size": tuple(x for x in _SIZES if x <= chips and (x == 1 or experts % x == 0)),
        "micro_batch_size": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
        "recompute": tuple(float(RECOMPUTE.index(x)) for x in ("none", "selective", "full")),
    }
    usual |= _of_schedule(request, usual)
    found = []
    for name in SEARCHED:
        given = getattr(request, name)
        if given is None:
            found.append(usual[name] or (1.0,))
        elif name == "recompute":
            found.append((float(codes_of([given], RECOMPUTE, "recompute")[0]),))
        else:
            found.append((float(given),))
    return found


def _of_schedule(request: Request, usual: dict[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
    """Return the pipeline ranks and pieces that a schedule leaves to choose from."""
    if request.schedule is None:
        return {}
    code = int(codes_of([request.schedule], SCHEDULES, "schedule")[0])
    interleaved = "interleaved" in request.schedule.casefold()
    if code == 0 and not interleaved:
        return {"virtual_stages": (1.0,)}
    more = usual["virtual_stages"][1:] if interleaved else (2.0,)
    return {
        "virtual_stages": (1.0,) if code == SCHEDULES.index("zb-h1") else more,
        "pipeline_parallel_size": tuple(one for one in usual["pipeline_parallel_size"] if one > 1),
    }


def candidates(request: Request, family: str, notes: list[str]) -> Mapping:
    """Return the layouts to choose from.

    Parameters
    ----------
    request : Request
        With a sequence length; sizes of None are open.
    family : str
        Stack of :data:`energy.cost.stack.STACKS`.
    notes : list of str
        Takes what was assumed, a line each.

    Raises
    ------
    CostError
        When no layout can be, and the request must fit: which number does not divide what.
    """
    grid = np.stack(np.meshgrid(*options_of(request), indexing="ij"), axis=-1).reshape(-1, len(SEARCHED))
    t, p, v, c, e, b, r = grid.T
    d = request.chips / (t * p * c)
    b = _cut_for_pipeline(request, p, d, b, notes)
    whole = _batches(request, p, d, b)
    open_sizes = (p * v <= float(request.architecture.layers[0])) & ((p > 1) | (v == 1)) | (len(grid) == 1)
    good = open_sizes & (d >= 1) & (d == np.floor(d)) & (np.remainder(t * c * d, e) == 0) & (b * d <= whole)
    if request.micro_batch_size is None:
        good &= np.remainder(whole, b * np.maximum(d, 1.0)) == 0
    if request.must_fit and request.data_parallel_size is not None:
        good &= d == request.data_parallel_size
    if request.must_fit and request.global_batch_size is None:
        good &= _is_usual_batch(request, t, whole, good)
    if not good.any():
        if request.must_fit:
            _refuse_layout(request, grid[0], float(whole[0]))
        # A published layout ran, whatever its numbers say: the nearest that is one.
        d, good = np.maximum(np.round(d), 1.0), np.ones(len(d), np.bool_)
        whole = np.maximum(whole, b * d)
    columns = np.stack([t, p, np.where(p > 1, v, 1.0), c, e, b, r, d, whole])[:, good]
    made = mapping_of(request, family, columns)
    return _usable(request, made) if request.must_fit else made


def _cut_for_pipeline(request: Request, p: Numbers, d: Numbers, b: Numbers, notes: list[str]) -> Numbers:
    """Return the micro batch; one that is the whole batch of a rank would leave its pipeline empty, and is cut."""
    if request.global_batch_size is None or request.micro_batch_size is None:
        return b
    whole_rank = (p > 1) & (b >= request.global_batch_size / np.maximum(d, 1.0)) & (b > 1)
    if request.must_fit or not whole_rank.all():
        return b
    notes.append("The micro batch is the whole batch of a rank: taken as cut into one part for each stage.")
    return np.maximum(np.floor(b / np.minimum(p, b)), 1.0)


def _batches(request: Request, p: Numbers, d: Numbers, b: Numbers) -> Numbers:
    """Return the global batch: as given, or a step of the usual number of tokens that fills the pipeline."""
    if request.global_batch_size is not None:
        return np.full(len(d), float(request.global_batch_size))
    sequences = TOKENS_PER_STEP / (request.sequence_length or USUAL_SEQUENCE)
    return np.maximum(np.round(sequences / (b * d)), 4.0 * p) * b * d


def _is_usual_batch(request: Request, t: Numbers, whole: Numbers, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which batches that nobody gave are near the usual one, or the smallest that fills the chips."""
    usual = TOKENS_PER_STEP / (request.sequence_length or USUAL_SEQUENCE)
    inside = good & (t <= Fabric.of([request.chip]).domain_size[0])
    least = np.min(whole, where=inside if inside.any() else good, initial=np.inf)
    return np.asarray(whole <= MOST_OVER_USUAL * max(usual, least))


def mapping_of(request: Request, family: str, columns: Numbers, sequence_length: Numbers | None = None) -> Mapping:
    """Return layouts from their sizes, with what a request and its stack say of the rest.

    Parameters
    ----------
    request : Request
        Precision, attention, schedule, offload, and the sequence length where it is one for all.
    family : str
        Stack of :data:`energy.cost.stack.STACKS`.
    columns : array, shape (9, n)
        Sizes of tensor and pipeline ranks, virtual stages, context and expert ranks, micro batch, code of recompute,
        data ranks, global batch.
    sequence_length : array, shape (n,), optional
        Of each layout.
    """
    t, p, v, c, e, b, r, d, whole = columns
    modern = stack(family).attention_fused
    schedule = codes_of([request.schedule or "1f1b"], SCHEDULES, "schedule")
    sequence = np.asarray(t > 1) & (modern if request.sequence_parallel is None else request.sequence_parallel)
    return Mapping.of(
        sequence_length=request.sequence_length or USUAL_SEQUENCE if sequence_length is None else sequence_length,
        micro_batch_size=b,
        global_batch_size=whole,
        precision=request.precision,
        tensor_parallel_size=t,
        pipeline_parallel_size=p,
        virtual_stages=v,
        data_parallel_size=d,
        context_parallel_size=c,
        expert_parallel_size=e,
        zero_stage=request.zero_stage or 0.0,
        sequence_parallel=sequence,
        attention_fused=bool(request.attention_fused),
        recompute=r.astype(np.int8),
        # A published layout ran, whatever is said of its schedule.
        schedule=np.where((p > 1) | request.must_fit, schedule, 0),
        offload=request.offload,
    )


def _usable(request: Request, made: Mapping) -> Mapping:
    """Return the layouts that break no rule; where there is none, raise for the first."""
    usable = made.usable(request.architecture, request.chips)
    if not usable.any():
        first = made[:1]
        # What sequence parallelism, which nobody asked for, adds to the rules is said last.
        replace(first, sequence_parallel=np.zeros(1, np.bool_)).check(request.architecture, request.chips)
        first.check(request.architecture, request.chips)
    return made[np.flatnonzero(usable)]


def _refuse_layout(request: Request, first: Numbers, batch: float) -> None:
    """Raise with the number that does not divide: of what is given, the rest taken as one."""
    t, p, v, c, e, b, _ = first
    ranks = request.data_parallel_size or max(np.floor(request.chips / (t * p * c)), 1.0)
    Mapping.of(
        sequence_length=request.sequence_length or USUAL_SEQUENCE,
        micro_batch_size=b,
        global_batch_size=batch,
        precision=request.precision,
        tensor_parallel_size=t,
        pipeline_parallel_size=p,
        virtual_stages=v,
        data_parallel_size=ranks,
        context_parallel_size=c,
        expert_parallel_size=e,
        schedule=request.schedule or "1f1b",
    ).check(request.architecture, request.chips)
    raise CostError(
        f"No layout of {request.chips:g} chips divides a global batch of {batch:g} sequences and the model: give "
        "another number of chips or batch."
    )
