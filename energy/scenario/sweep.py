"""A sweep run: every row through the whole chain, block by block, as columns; what is best, and where the front lies.

Axes of numbers are columns of one pass (:mod:`energy.scenario.chain`); each combination of the other axes (names,
places, hours) is a pass of its own. Rows that cannot run stay, with a reason and no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import EnergyError
from energy.scenario.chain import SIZES, VARIED, Chain, chain
from energy.scenario.columns import Column
from energy.scenario.figure_units import UNITS
from energy.scenario.pareto import front
from energy.scenario.specification import Scenario
from energy.scenario.sweep_file import Axis, Limit, Sweep
from energy.scenario.training import training_run

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Rows of one pass: it bounds the memory.
ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of a sweep: their numbers, the place of each on every axis, figures, layout and reasons.

    Columns are of all rows; NaN where a row cannot run or has no such figure. ``moved``: numbers of keys that move.
    """

    rows: Rows
    places: tuple[Rows, ...]
    figures: Mapping[str, Column]
    layout: Mapping[str, Numbers]
    reasons: Mapping[int, str]
    not_told: Mapping[str, str]
    moved: Mapping[str, Numbers] = field(default_factory=dict)


def blocks(sweep: Sweep, rows_at_once: int = ROWS_AT_ONCE) -> Iterator[Block]:
    r"""Yield the rows of a sweep, in blocks that each are of one combination of the axes without numbers.

    Parameters
    ----------
    sweep : Sweep
    rows_at_once : int
        Most rows of a block.

    Examples
    --------
    >>> from energy.scenario.sweep_file import parse_sweep
    >>> text = "base: {work: {model: Llama 3.1 8B, tokens: 1e12}, system: {chip: H100 SXM, chips: 8}}\n"
    >>> (one,) = blocks(parse_sweep(text + "axes: {system.chips: [8, 16, 32]}"))
    >>> one.figures["chip_hours"].value.shape
    (3,)

    """
    numbers = [place for place, axis in enumerate(sweep.axes) if _is_numeric(sweep, axis)]
    names = [place for place in range(len(sweep.axes)) if place not in numbers]
    values = {key: np.array(sweep.read[key]) for place in numbers for key in sweep.axes[place].values}
    inner = tuple(sweep.shape[place] for place in numbers)
    count = int(np.prod(inner, dtype=np.int64))
    for outer in np.ndindex(*(sweep.shape[place] for place in names)):
        for start in range(0, count, rows_at_once):
            flat = np.arange(start, min(start + rows_at_once, count))
            places: list[Rows] = [np.zeros(len(flat), dtype=np.intp)] * len(sweep.axes)
            for place, at in zip(names, outer, strict=True):
                places[place] = np.full(len(flat), at, dtype=np.intp)
            for place, where in zip(numbers, np.unravel_index(flat, inner) if inner else (), strict=True):
                places[place] = where
            moved = {key: values[key][places[place]] for place in numbers for key in sweep.axes[place].values}
            yield replace(_block(sweep, tuple(places), numbers, moved), moved=moved)


def _is_numeric(sweep: Sweep, axis: Axis) -> bool:
    """Return whether all keys of an axis are numbers that one pass can vary."""
    return all(key in VARIED and all(isinstance(one, float) for one in sweep.read[key]) for key in axis.values)


def _block(sweep: Sweep, places: tuple[Rows, ...], numbers: Sequence[int], moved: Mapping[str, Numbers]) -> Block:
    first = tuple(int(one[0]) for one in places)
    rows = np.ravel_multi_index(places, sweep.shape)
    count = len(rows)
    try:
        scenario = sweep.scenario(first)
        varied = moved or {"system.chips": np.full(count, scenario.system.chips)}
        sized = [place for place in numbers if set(sweep.axes[place].values) & set(SIZES)]
        groups = np.zeros(count, dtype=np.intp)
        for place in sized:
            groups = groups * sweep.shape[place] + places[place]
        if scenario.contracts:
            return _one_by_one(sweep, places, rows)
        found = chain(scenario, varied, sweep.folder, groups)
    except EnergyError as error:
        return Block(rows, places, {}, {}, dict.fromkeys(rows.tolist(), str(error)), {})
    return _whole(rows, places, found)


def _whole(rows: Rows, places: tuple[Rows, ...], found: Chain) -> Block:
    """Return columns of all rows, with NaN where one cannot run."""
    reasons = {int(rows[at]): text for at, text in found.reasons.items()}
    if len(found.rows) == len(rows):
        return Block(rows, places, found.figures, found.layout, reasons, found.not_told)

    def spread(some: Numbers) -> Numbers:
        every = np.full(len(rows), np.nan)
        every[found.rows] = some
        return every

    figures = {
        name: Column(
            spread(one.value),
            one.unit,
            None
            if one.ends is None
            else (spread(one.ends[0]), spread(one.ends[1]), spread(one.ends[2]), spread(one.ends[3])),
        )
        for name, one in found.figures.items()
    }
    layout = {name: spread(values) for name, values in found.layout.items()}
    return Block(rows, places, figures, layout, reasons, found.not_told)


def _one_by_one(sweep: Sweep, places: tuple[Rows, ...], rows: Rows) -> Block:
    """Return rows that contracts cover: each is a purchase of its own, and a run of its own."""
    values: dict[str, Numbers] = {}
    ends: dict[str, list[Numbers]] = {}
    reasons: dict[int, str] = {}
    for at, row in enumerate(rows.tolist()):
        try:
            run = training_run(sweep.scenario(tuple(int(one[at]) for one in places)), sweep.folder)
        except EnergyError as error:
            reasons[row] = str(error)
            continue
        for name, figure in run.figures.items():
            if name not in UNITS or figure.value is None:
                continue
            values.setdefault(name, np.full(len(rows), np.nan))[at] = figure.value
            for place, end in zip(
                ends.setdefault(name, list(np.full((4, len(rows)), np.nan))), figure.ends, strict=True
            ):
                place[at] = np.nan if end is None else end
    figures = {
        name: Column(one, UNITS[name], (ends[name][0], ends[name][1], ends[name][2], ends[name][3]))
        for name, one in values.items()
    }
    return Block(rows, places, figures, {}, reasons, {})


@dataclass(slots=True)
class Outcome:
    """What a sweep found: how many rows ran and kept the limits, the best of them, the front, and what binds.

    ``without`` is the least of ``best`` with each limit left out; ``kept`` how many rows keep each limit alone;
    ``nearest`` how far over its limits the nearest row is where none keeps them all.
    """

    rows: int = 0
    ran: int = 0
    feasible: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    not_told: dict[str, str] = field(default_factory=dict)
    best: list[tuple[float, int]] = field(default_factory=list)
    without: dict[str, float] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    nearest: tuple[float, int] | None = None
    front: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    front_figures: Numbers = field(default_factory=lambda: np.zeros((0, 0)))


def run(
    sweep: Sweep,
    *,
    top: int = 10,
    each: Callable[[Block], None] | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Outcome:
    r"""Run a sweep and return what it found.

    Parameters
    ----------
    sweep : Sweep
    top : int
        How many of the best rows to keep.
    each : callable, optional
        Called with each block: to write it, to show progress.
    rows_at_once : int
        Most rows of a block.

    Examples
    --------
    >>> from energy.scenario.sweep_file import parse_sweep
    >>> text = "base: {work: {model: Llama 3.1 8B, tokens: 1e12}, system: {chip: H100 SXM, chips: 8}}\n"
    >>> text += "axes: {system.chips: [64, 128, 256]}\nlimits: [training_time <= 10 day]\nbest: chip_hours"
    >>> found = run(parse_sweep(text))
    >>> found.rows, found.ran, found.feasible
    (3, 3, 2)

    """
    found = Outcome()
    for block in blocks(sweep, rows_at_once):
        _take(found, sweep, block, top)
        if each is not None:
            each(block)
    return found


def _take(found: Outcome, sweep: Sweep, block: Block, top: int) -> None:
    count = len(block.rows)
    found.rows += count
    found.ran += count - len(block.reasons)
    for text in block.reasons.values():
        found.reasons[text] = found.reasons.get(text, 0) + 1
    found.not_told |= block.not_told
    ran = np.array([row not in block.reasons for row in block.rows.tolist()]) if block.reasons else np.ones(count, bool)
    keeps = {one.text: _keeps(block, one) & ran for one in sweep.limits}
    for text, mask in keeps.items():
        found.kept[text] = found.kept.get(text, 0) + int(mask.sum())
    feasible = np.logical_and.reduce([ran, *keeps.values()])
    found.feasible += int(feasible.sum())
    if sweep.best is not None:
        _take_best(found, sweep, block, feasible, keeps, ran, top)
    if sweep.pareto:
        figures = np.stack([_value(block, name) for name in sweep.pareto], axis=1)
        some = np.flatnonzero(feasible)
        every = np.concatenate([found.front_figures.reshape(-1, len(sweep.pareto)), figures[some]])
        rows = np.concatenate([found.front, block.rows[some]])
        on = front(every)
        on = on[np.argsort(rows[on])]
        found.front, found.front_figures = rows[on], every[on]


def _take_best(
    found: Outcome,
    sweep: Sweep,
    block: Block,
    feasible: NDArray[np.bool_],
    keeps: Mapping[str, NDArray[np.bool_]],
    ran: NDArray[np.bool_],
    top: int,
) -> None:
    best = _value(block, str(sweep.best))
    known = np.flatnonzero(feasible & ~np.isnan(best))
    first = known[np.argsort(best[known], kind="stable")[:top]]
    found.best = sorted([*found.best, *zip(best[first].tolist(), block.rows[first].tolist(), strict=True)])[:top]
    for text in keeps:
        others = np.logical_and.reduce([ran, *(mask for name, mask in keeps.items() if name != text)])
        some = best[others & ~np.isnan(best)]
        if some.size:
            found.without[text] = min(found.without.get(text, np.inf), float(some.min()))
    if not found.feasible and sweep.limits and ran.any():
        over = np.max([_over(block, one) for one in sweep.limits], axis=0)
        at = int(np.argmin(np.where(ran & ~np.isnan(over), over, np.inf)))
        if np.isfinite(over[at]) and (found.nearest is None or over[at] < found.nearest[0]):
            found.nearest = (float(over[at]), int(block.rows[at]))


def _value(block: Block, name: str) -> Numbers:
    """Return a figure of all rows, or the number of a key that moves."""
    found = block.figures.get(name)
    if found is not None:
        return found.value
    return block.moved[name] if name in block.moved else np.full(len(block.rows), np.nan)


def _keeps(block: Block, limit: Limit) -> NDArray[np.bool_]:
    values = _value(block, limit.figure)
    return np.asarray(values <= limit.value if limit.is_most else values >= limit.value)


def _over(block: Block, limit: Limit) -> Numbers:
    """Return by which factor a figure breaks a limit; at most 1 where it keeps it."""
    values = _value(block, limit.figure)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(values / limit.value if limit.is_most else limit.value / values)


def places_of(sweep: Sweep, row: int) -> tuple[int, ...]:
    """Return where a row stands on each axis."""
    return tuple(int(one) for one in np.unravel_index(row, sweep.shape))


def moved_of(sweep: Sweep, row: int) -> dict[str, Any]:
    """Return the values of the axes of a row, as written."""
    where = places_of(sweep, row)
    return {key: values[at] for axis, at in zip(sweep.axes, where, strict=True) for key, values in axis.values.items()}


def scenario_of_row(sweep: Sweep, row: int) -> Scenario:
    """Return the scenario of a row."""
    return sweep.scenario(places_of(sweep, row))
