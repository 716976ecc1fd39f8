"""Many training runs of one model on one chip at once: sizes as arrays, everything else as one request says.

What :func:`energy.cost.training.plan` and :func:`energy.cost.estimates.estimate` do for one request, for arrays:
the layouts of all rows stand in one array, each row keeps the fastest that fits, and the step times of what was kept
are computed together. Rows that cannot run have a reason and no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from energy.cost.footprint import ASSUMED_LN80, ASSUMED_LN95, TOLD_LN80, TOLD_LN95, held
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.links import Fabric
from energy.cost.mapping import RECOMPUTE
from energy.cost.mapping import Mapping as Layouts
from energy.cost.profile import Profile, profile
from energy.cost.requests import Request, memory_gb_of, refuse_numbers
from energy.cost.search import (
    MOST_OVER_USUAL,
    SEARCHED,
    TOKENS_PER_STEP,
    USUAL_SEQUENCE,
    mapping_of,
    options_of,
)
from energy.cost.stack import engine_family, factor_of, stack_family, terms
from energy.cost.step import Work, kernel_passes, rates, step_time
from energy.cost.training import NOT_TOLD_LN, SHARED_SEQUENCE, defaults, recompute_shares, widened, work_of

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Fields of a request that may differ from row to row.
SIZES = ("chips", "sequence_length", "global_batch_size", "data_parallel_size", "expert_imbalance", *SEARCHED[:-1])
#: Layouts that are looked at together; it bounds the memory.
_AT_ONCE = 400_000
NO_LAYOUT = "no layout divides chips, batch and model, or keeps the rules of the sizes that are given"
NO_MEMORY = "no layout fits in the memory of the chip"


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What rows take, arrays ``(n,)`` of the rows that can run; ``rows`` says which, ``reasons`` why the others cannot.

    ``step_s`` and the ends of its bands in seconds; ``layouts`` as chosen; ``memory_bytes`` of a chip with its ends.
    """

    rows: Rows
    reasons: dict[int, str]
    layouts: Layouts
    step_s: Numbers
    step_ends_s: tuple[Numbers, Numbers, Numbers, Numbers]
    model_flop_utilisation: Numbers
    hardware_flop_utilisation: Numbers
    peak_flop_per_s: float
    profile: Profile
    memory_bytes: Numbers
    memory_ends_bytes: tuple[Numbers, Numbers, Numbers, Numbers]


def answers(request: Request, sizes: Mapping[str, Numbers]) -> Answers:
    """Return what many runs take.

    Parameters
    ----------
    request : Request
        What all rows have in common; a size that is None and not in ``sizes`` is searched.
    sizes : mapping of str to array, shape (n,)
        Of :data:`SIZES`: numbers that are valid each for itself.

    Returns
    -------
    Answers
        Equal to :func:`energy.cost.estimates.estimate` of each row.

    Raises
    ------
    CostError
        What no row can be: a precision that the chip lacks, experts of a model without.

    Examples
    --------
    >>> from energy.cost.architecture import Architecture
    >>> request = Request(architecture=Architecture.of_model("Llama 3.1 8B"), kind="dense", chip="nvidia_h100_sxm5_80",
    ...                   chips=8, precision="bf16", sequence_length=8192, global_batch_size=64, framework="torchtitan")
    >>> found = answers(request, {"chips": np.array([8.0, 7.0, 16.0])})
    >>> found.rows.tolist(), sorted(found.reasons), bool(found.step_s[0] > found.step_s[1])
    ([0, 2], [1], True)

    """
    n = len(next(iter(sizes.values())))
    first = replace(request, **{name: float(values[0]) for name, values in sizes.items()})  # type: ignore[arg-type]
    refuse_numbers(first)
    family = engine_family(stack_family(request.framework, request.chip), request.zero_stage)
    filled = _filled(request, first, family, sizes)
    kept = [
        _chosen(filled, request, family, {name: values[part] for name, values in sizes.items()}, part)
        for part in _parts(n, filled, sizes)
    ]
    rows = np.concatenate([one.rows for one in kept])
    layouts = _joined([one.layouts for one in kept])
    share = np.concatenate([one.share for one in kept])
    reasons = {row: text for one in kept for row, text in one.reasons.items()}
    mine = {name: values[rows] for name, values in sizes.items()}
    return _answered(filled, request, family, mine, rows, layouts, share, reasons)


def _filled(request: Request, first: Request, family: str, sizes: Mapping[str, Numbers]) -> Request:
    """Return the first row with what its stack does where it is not told; None is searched."""
    found = defaults(replace(first, context_parallel_size=first.context_parallel_size or 1.0), family, [])
    longest = float(np.max(sizes["sequence_length"])) if "sequence_length" in sizes else found.sequence_length or 0.0
    is_told = request.context_parallel_size is not None or "context_parallel_size" in sizes
    return found if is_told or longest < SHARED_SEQUENCE else replace(found, context_parallel_size=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    rows: Rows
    layouts: Layouts
    share: Numbers
    reasons: dict[int, str]


def _parts(n: int, filled: Request, sizes: Mapping[str, Numbers]) -> Iterator[Rows]:
    """Yield rows whose layouts are looked at together."""
    grid = _grid(filled, sizes)
    at_once = max(_AT_ONCE // max(grid.shape[1], 1), 1)
    for start in range(0, n, at_once):
        yield np.arange(start, min(start + at_once, n))


def _open(filled: Request, sizes: Mapping[str, Numbers]) -> list[str]:
    return [name for name in SEARCHED if name not in sizes and getattr(filled, name) is None]


def _grid(filled: Request, sizes: Mapping[str, Numbers]) -> Numbers:
    """Return all values of what is searched, ``(7, g)``; a size that rows give stands as NaN."""
    most = float(np.max(sizes["chips"])) if "chips" in sizes else filled.chips
    longest = float(np.max(sizes["sequence_length"])) if "sequence_length" in sizes else filled.sequence_length
    widest = replace(filled, chips=most, sequence_length=longest)
    options = [
        (np.nan,) if name in sizes else values for name, values in zip(SEARCHED, options_of(widest), strict=True)
    ]
    return np.stack(np.meshgrid(*options, indexing="ij"), axis=0).reshape(len(SEARCHED), -1)


def _chosen(filled: Request, asked: Request, family: str, sizes: Mapping[str, Numbers], rows: Rows) -> _Chosen:
    """Return the fastest layout that fits of each row."""
    grid = _grid(filled, sizes)
    row, place = (one.ravel() for one in np.indices((len(rows), grid.shape[1])))
    columns = grid[:, place]
    for at, name in enumerate(SEARCHED):
        if name in sizes:
            columns[at] = sizes[name][row]
    chips = sizes["chips"][row] if "chips" in sizes else np.full(len(row), filled.chips)
    length = _of(filled, sizes, "sequence_length", row, USUAL_SEQUENCE)
    data, whole, good = _possible(filled, asked, sizes, columns, row, chips, length)
    row, chips, length = row[good], chips[good], length[good]
    t, p, v, *rest = columns[:, good]
    made = mapping_of(filled, family, np.stack([t, p, np.where(p > 1, v, 1.0), *rest, data[good], whole[good]]), length)
    usable = np.flatnonzero(made.usable(filled.architecture, chips))
    made, row = made[usable], row[usable]
    share, fits = recompute_shares(filled, family, made) if len(made) else (np.ones(0), np.ones(0, np.bool_))
    is_possible, does_fit = np.zeros((2, len(rows)), np.bool_)
    is_possible[row], does_fit[row[fits]] = True, True
    reasons = dict.fromkeys(np.flatnonzero(~is_possible).tolist(), NO_LAYOUT)
    reasons |= dict.fromkeys(np.flatnonzero(is_possible & ~does_fit).tolist(), NO_MEMORY)
    fitting = np.flatnonzero(fits)
    made, row, share = made[fitting], row[fitting], share[fitting]
    if (row[1:] == row[:-1]).any():
        best = _fastest(_work(filled, family, made, share, sizes, row), made, row)
        made, row, share = made[best], row[best], share[best]
    return _Chosen(rows[row], made, share, {int(rows[one]): text for one, text in reasons.items()})


def _fastest(work: Work, made: Layouts, row: Rows) -> Rows:
    """Return the first of the fastest layouts of each row; rows stand together."""
    seconds = step_time(work).total / made.tokens_per_step
    starts = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
    least = np.repeat(np.minimum.reduceat(seconds, starts), np.diff(np.r_[starts, len(row)]))
    ties = np.flatnonzero(seconds == least)
    return ties[np.unique(row[ties], return_index=True)[1]]


def _of(filled: Request, sizes: Mapping[str, Numbers], name: str, row: Rows, usual: float) -> Numbers:
    return sizes[name][row] if name in sizes else np.full(len(row), getattr(filled, name) or usual)


def _possible(
    filled: Request,
    asked: Request,
    sizes: Mapping[str, Numbers],
    columns: Numbers,
    row: Rows,
    chips: Numbers,
    length: Numbers,
) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Return data ranks, global batch, and which layouts can be: as :func:`energy.cost.search.candidates` has it."""
    t, p, v, c, e, b, _ = columns
    is_open = _open(filled, sizes)
    data = chips / (t * p * c)
    layers = float(filled.architecture.layers[0])
    good = np.full(len(row), not is_open) | ((p * v <= layers) & ((p > 1) | (v == 1)))
    domain = _server(filled)
    limits = {
        "tensor_parallel_size": t <= np.minimum(max(domain, 8.0), chips),
        "pipeline_parallel_size": p <= chips,
        "context_parallel_size": (c == 1) | ((c <= chips) & (length / c >= 4096) & (length >= SHARED_SEQUENCE)),
        "expert_parallel_size": e <= chips,
    }
    for name in is_open:
        good &= limits.get(name, True)
    has_batch = "global_batch_size" in sizes or asked.global_batch_size is not None
    usual = TOKENS_PER_STEP / length
    with np.errstate(divide="ignore", invalid="ignore"):
        filling = np.maximum(np.round(usual / (b * data)), 4.0 * p) * b * data
        whole = _of(filled, sizes, "global_batch_size", row, np.nan) if has_batch else filling
        good &= (data >= 1) & (data == np.floor(data)) & (np.remainder(t * c * data, e) == 0) & (b * data <= whole)
        if "micro_batch_size" in is_open:
            good &= np.remainder(whole, b * np.maximum(data, 1.0)) == 0
    if "data_parallel_size" in sizes or asked.data_parallel_size is not None:
        good &= data == _of(filled, sizes, "data_parallel_size", row, np.nan)
    if not has_batch:
        good &= _is_usual(t, whole, good, row, usual, _server(filled))
    return data, whole, good


def _server(filled: Request) -> float:
    return float(Fabric.of([filled.chip]).domain_size[0])


def _is_usual(
    t: Numbers, whole: Numbers, good: NDArray[np.bool_], row: Rows, usual: Numbers, domain: float
) -> NDArray[np.bool_]:
    """Return which batches that nobody gave are near the usual one of their row, or the smallest that fills it."""
    count = int(row[-1]) + 1 if len(row) else 0
    inside, least = np.full(count, np.inf), np.full(count, np.inf)
    near = good & (t <= domain)
    np.minimum.at(inside, row[near], whole[near])
    np.minimum.at(least, row[good], whole[good])
    least = np.where(np.isfinite(inside), inside, least)
    return np.asarray(whole <= MOST_OVER_USUAL * np.maximum(usual, least[row]))


def _work(
    filled: Request, family: str, layouts: Layouts, share: Numbers, sizes: Mapping[str, Numbers], row: Rows
) -> Work:
    work = work_of([filled], [family], layouts, share)
    if "expert_imbalance" in sizes:
        work = replace(work, expert_imbalance=sizes["expert_imbalance"][row])
    return work


def _joined(parts: list[Layouts]) -> Layouts:
    names = Layouts.__slots__
    return Layouts(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))


def _answered(
    filled: Request,
    asked: Request,
    family: str,
    sizes: Mapping[str, Numbers],
    rows: Rows,
    layouts: Layouts,
    share: Numbers,
    reasons: dict[int, str],
) -> Answers:
    """Return times and memory of the layouts that were kept: sizes are those of their rows."""
    peak = peak_flop_per_s(kernel_chip(filled.chip), filled.precision)
    if not len(rows):
        nothing = np.zeros(0)
        none = (nothing, nothing, nothing, nothing)
        empty = Profile(nothing, nothing, nothing, nothing, nothing)
        return Answers(rows, reasons, layouts, nothing, none, nothing, nothing, peak, empty, nothing, none)
    work = _work(filled, family, layouts, share, sizes, np.arange(len(rows)))
    kernel = kernel_passes(work)
    known = factor_of([terms(family, filled.chip, filled.kind, filled.precision, year=filled.year)])
    step = step_time(work, kernel).with_factor(known.factor)
    seconds = step.total
    chips = sizes.get("chips", np.full(len(rows), filled.chips))
    wide = widened(known, _spread_ln(asked, sizes, chips), kernel.sigma_fraction)
    used = rates(work, seconds)
    at_peak = used.hfu * seconds
    drawn = (np.exp(sign * width) for width in (wide.ln80, wide.ln95) for sign in (-1.0, 1.0))
    ends = [np.maximum(seconds * one, np.minimum(at_peak, seconds)) for one in drawn]
    memory, memory_ends = _memory(filled, asked, family, sizes, layouts, share, chips)
    return Answers(
        rows,
        reasons,
        layouts,
        seconds,
        (ends[0], ends[1], ends[2], ends[3]),
        used.mfu,
        used.hfu,
        peak,
        profile(step, work),
        memory,
        memory_ends,
    )


def _is_told(asked: Request, sizes: Mapping[str, Numbers], name: str) -> bool:
    return name in sizes or getattr(asked, name) is not None


def _spread_ln(asked: Request, sizes: Mapping[str, Numbers], chips: Numbers) -> Numbers:
    """Return what was not told adds to the bands, as :attr:`energy.cost.training.Plan.spread_ln`."""
    layout = not (_is_told(asked, sizes, "tensor_parallel_size") and _is_told(asked, sizes, "pipeline_parallel_size"))
    found = np.where(layout & (chips > 1), NOT_TOLD_LN["layout"] ** 2, 0.0)
    for name in ("micro_batch_size", "sequence_length"):
        found = found + (0.0 if _is_told(asked, sizes, name) else NOT_TOLD_LN[name] ** 2)
    return np.sqrt(found)


def _memory(
    filled: Request,
    asked: Request,
    family: str,
    sizes: Mapping[str, Numbers],
    layouts: Layouts,
    share: Numbers,
    chips: Numbers,
) -> tuple[Numbers, tuple[Numbers, Numbers, Numbers, Numbers]]:
    """Return bytes of a chip with their bands, as :func:`energy.cost.footprint.footprint`."""
    whole = held(filled, family, layouts)
    total, needed = whole.total, whole.needed
    part = (layouts.recompute == RECOMPUTE.index("full")) & (share < 1.0)
    if part.any():
        bare = held(filled, family, replace(layouts, recompute=np.zeros(len(layouts), np.int8)))
        total = np.where(part, share * total + (1.0 - share) * bare.total, total)
        needed = np.where(part, share * needed + (1.0 - share) * bare.needed, needed)
    room = memory_gb_of(filled)
    limit = np.full(len(total), np.inf) if room is None else np.maximum(room * 2.0**30, needed)
    total = np.minimum(total, limit)
    layout = not (_is_told(asked, sizes, "tensor_parallel_size") and _is_told(asked, sizes, "pipeline_parallel_size"))
    guessed = not (_is_told(asked, sizes, "sequence_length") and _is_told(asked, sizes, "micro_batch_size"))
    assumed = (layout & (chips > 1)) | guessed
    near, far = np.where(assumed, ASSUMED_LN80, TOLD_LN80), np.where(assumed, ASSUMED_LN95, TOLD_LN95)
    ends = [total * np.exp(width) for width in (-near, near, -far, far)]
    ends = [np.where(needed < limit, np.minimum(end, limit), end) for end in ends]
    return total, (ends[0], ends[1], ends[2], ends[3])
