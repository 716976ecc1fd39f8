"""Time to train of MLPerf benchmarks: samples to the target, time of a sample, and what measured systems differ by.

    T = S(B) t / n + S(B) / B x step overhead,    t = F / (r P) + A / (0.8 W)

S are the samples that the global batch B needs (:mod:`energy.cost.mlperf_convergence`), F and A FLOPs and bytes of one
sample, P the peak of the format, W the memory bandwidth, r a share of the peak, n chips. Where stacks train in 8 or 4
bits, three quarters of F run at that rate and the rest at the one of 16 bits. The measured time differs by a factor
that ``scripts/fit_mlperf.py`` fits as a sum of few shrunken terms in ln time:

    ln T(measured) / T = sum over columns x of theta_x(benchmark, chip) x

with the columns :data:`COLUMNS` (constant, doublings of the chips, of the batch of a chip, years, the share of other
nodes) and theta a sum over groups (all, kind, benchmark, chip family, their pairs, chip): never a row, never a
submitter. Bands are quantiles of the errors of rows that were left out of the fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.cost.mlperf_convergence import samples_to_target
from energy.cost.mlperf_names import Part, benchmark_name, benchmarks, part, round_year, taken_as
from energy.errors import CostError

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]

#: What the factor depends on by number, and the groups whose coefficients add up for each.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "constant": (
        *("all", "kind", "benchmark", "family", "chip"),
        *("kind_family", "benchmark_family", "benchmark_chip"),
    ),
    "chips": ("all", "benchmark", "benchmark_family"),
    "chips_above_64": ("all", "benchmark"),
    "batch": ("all", "benchmark"),
    "year": ("all", "benchmark", "benchmark_family"),
    "nodes": ("all", "benchmark"),
}
COLUMNS = tuple(GROUPS)
#: What the memory reaches, the part of FLOPs in a narrow format, and from when stacks trained in it.
MEMORY_REACHED, NARROW_PART, EIGHT_BITS_FROM, FOUR_BITS_FROM = 0.8, 0.75, 2022.7, 2025.7
#: Years that a trend goes on beyond the rounds that were seen.
_TREND_BEFORE, _TREND_BEYOND = 0.3, 0.7
#: Half widths of ln time, 80 % and 95 %, that an unknown round adds in quadrature: with all rounds blanked, about that
#: share of the published results lies inside.
_UNDATED = (0.32, 0.75)
#: Levels of the band: the count lies within those seen of benchmark and chip; outside of them; the chip is new to the
#: benchmark; its family is; the benchmark was never seen.
LEVELS = ("seen", "count", "chip", "family", "benchmark")


@dataclass(frozen=True, slots=True, eq=False)
class TimeToTrain:
    """Time to train in minutes with its bands, and what it is made of; arrays of one length.

    ``level`` says by :data:`LEVELS` what nobody measured; ``physics_min`` is the time before the fitted factor.
    """

    time_min: Numbers
    low80_min: Numbers
    high80_min: Numbers
    low_min: Numbers
    high_min: Numbers
    physics_min: Numbers
    samples: Numbers
    steps: Numbers
    level: Places
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Scenarios: distinct pairs of benchmark and part, the pair of each scenario, and its numbers without blanks."""

    pairs: tuple[tuple[str, Part], ...]
    pair: Places
    chips: Numbers
    batch: Numbers
    year: Numbers
    nodes: Numbers
    dated: NDArray[np.bool_]
    assumed: tuple[str, ...]


def time_to_train(
    benchmark: str | Sequence[str],
    chip: str | Sequence[str],
    chips: ArrayLike,
    *,
    round_name: str | Sequence[str] = "",
    global_batch_size: ArrayLike = np.nan,
    nodes: ArrayLike = np.nan,
) -> TimeToTrain:
    """Return the time to train of MLPerf benchmarks, by the rule of MLPerf (run start to target).

    Parameters
    ----------
    benchmark, chip : str or sequence of str
        Names of the catalogue or of submissions.
    chips : array_like
        Accelerators (TPU chips, not cores; sockets of processors).
    round_name : str or sequence of str
        Round, which dates the software: ``v5.1``. Empty: the last one that was seen of the benchmark.
    global_batch_size : array_like
        Samples of one step on all chips. NaN: what submissions of that benchmark use on so many chips.
    nodes : array_like
        Machines. NaN: as few as usual ones.

    Raises
    ------
    UnknownNameError
        When a benchmark or chip is not known; the message gives the nearest.
    CostError
        When a number is not positive, or no rate of the chip is known.

    Examples
    --------
    >>> found = time_to_train("gpt3", "nvidia_h100_sxm5_80", [512, 1024], round_name="v4.1")
    >>> bool(45 < found.time_min[0] < 55), bool(found.low80_min[0] < found.time_min[0] < found.high80_min[0])
    (True, True)
    >>> bool(1.6 < found.time_min[0] / found.time_min[1] < 2.1)
    True

    """
    asked = ask(benchmark, chip, chips, round_name=round_name, global_batch_size=global_batch_size, nodes=nodes)
    seconds, samples, inside = physics(asked)
    factor = np.exp(np.sum(theta(asked.pairs)[asked.pair] * columns(asked), axis=1))
    level = levels(asked)
    near, far = (
        np.where(asked.dated, width, np.hypot(width, more))
        for width, more in zip(_widths(asked, level), _UNDATED, strict=True)
    )
    time = seconds / 60.0 * factor
    notes = tuple(
        " ".join(text for text in (one, "" if fine else _OUTSIDE, _LEVEL_NOTES[where]) if text)
        for one, fine, where in zip(asked.assumed, inside.tolist(), level.tolist(), strict=True)
    )
    return TimeToTrain(
        time,
        time * np.exp(-near),
        time * np.exp(near),
        time * np.exp(-far),
        time * np.exp(far),
        seconds / 60.0,
        samples,
        samples / asked.batch,
        level,
        notes,
    )


_OUTSIDE = "The global batch lies outside the convergence points: samples are extrapolated."
_LEVEL_NOTES = (
    "",
    "So many chips lie outside what was submitted with this chip.",
    "Nobody submitted this chip on this benchmark.",
    "Nobody submitted this chip family on this benchmark.",
    "No submission of this benchmark is known: physics and its kind of work only.",
)


def ask(
    benchmark: str | Sequence[str],
    chip: str | Sequence[str],
    chips: ArrayLike,
    *,
    round_name: str | Sequence[str] = "",
    global_batch_size: ArrayLike = np.nan,
    nodes: ArrayLike = np.nan,
) -> Asked:
    """Return scenarios with what is blank filled and noted; see :func:`time_to_train`."""
    texts = [np.atleast_1d(np.asarray(one, np.str_)) for one in (benchmark, chip, round_name)]
    numbers = [np.atleast_1d(np.asarray(one, np.float64)) for one in (chips, global_batch_size, nodes)]
    try:
        *wide, count, batch, machines = np.broadcast_arrays(*texts, *numbers)
    except ValueError:
        raise CostError("Benchmarks, chips and numbers have different lengths: give one or as many of each.") from None
    for name, values, blank in (("chips", count, False), ("samples of a step", batch, True), ("nodes", machines, True)):
        bad = ~((values > 0) & np.isfinite(values)) & ~(np.isnan(values) & blank)
        if bad.any():
            raise CostError(f"{float(values[bad][0]):g} {name}: give a number above zero.")
    joined = np.char.add(np.char.add(np.char.add(np.char.add(wide[0], "\n"), wide[1]), "\n"), wide[2])
    distinct, at = np.unique(joined, return_inverse=True)
    named = [_resolved(*one.split("\n")) for one in distinct.tolist()]
    pairs = tuple(dict.fromkeys((one[0], one[1]) for one in named))
    pair = np.array([pairs.index((one[0], one[1])) for one in named], np.intp)[at]
    year = np.array([one[2] for one in named])[at]
    per_node = np.array([one.usual_per_node for _, one in pairs], np.float64)[pair]
    usual = np.exp(_of(pairs, "batch_ln_intercept")[pair] + _of(pairs, "batch_ln_slope")[pair] * np.log(count))
    usual = np.clip(usual, _of(pairs, "batch_low")[pair], _of(pairs, "batch_high")[pair])
    dated = np.array([one[3] for one in named], np.bool_)[at]
    read_as = np.array([taken_as(one.split("\n")[1]) for one in distinct.tolist()])[at].tolist()
    assumed = [
        " ".join(text for text, is_there in zip((name, *_ASSUMED), (bool(name), *blanks), strict=True) if is_there)
        for name, *blanks in zip(
            read_as, (~dated).tolist(), np.isnan(batch).tolist(), np.isnan(machines).tolist(), strict=True
        )
    ]
    return Asked(
        pairs,
        pair,
        np.array(count),
        np.where(np.isnan(batch), usual, batch),
        year,
        np.where(np.isnan(machines), np.ceil(count / per_node), machines),
        dated,
        tuple(assumed),
    )


_ASSUMED = (
    "No round is given: software of the last one with this benchmark.",
    "No global batch is given: what submissions use on so many chips.",
    "No nodes are given: the fewest usual ones.",
)


def _resolved(benchmark: str, chip: str, round_name: str) -> tuple[str, Part, float, bool]:
    year = round_year(round_name) if round_name.strip() else None
    name = benchmark_name(benchmark, year)
    return name, part(chip), benchmarks()[name].number("last_year") if year is None else year, year is not None


def _of(pairs: Sequence[tuple[str, Part]], column: str) -> Numbers:
    return np.array([benchmarks()[name].number(column) for name, _ in pairs])


def physics(asked: Asked) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
    """Return seconds before any factor, samples to the target, and whether the batch lies within known points."""
    samples = np.empty(len(asked.pair))
    inside = np.empty(len(asked.pair), np.bool_)
    names = np.array([name for name, _ in asked.pairs])[asked.pair]
    for name in np.unique(names):
        for year in np.unique(asked.year[names == name]):
            there = (names == name) & (asked.year == year)
            samples[there], inside[there] = samples_to_target(str(name), asked.batch[there], float(year))
    peak16, peak8, peak4, bandwidth = (
        np.array([getattr(one, name) for _, one in asked.pairs])[asked.pair]
        for name in ("peak16_flop_per_s", "peak8_flop_per_s", "peak4_flop_per_s", "bandwidth_bytes_per_s")
    )
    bits = _of(asked.pairs, "narrowest_bits")[asked.pair]
    narrow = np.where((bits <= 8) & (asked.year > EIGHT_BITS_FROM), np.maximum(peak16, peak8), peak16)
    narrow = np.where((bits <= 4) & (asked.year > FOUR_BITS_FROM), np.maximum(narrow, peak4), narrow)
    flop = _of(asked.pairs, "flop_per_sample")[asked.pair] / _of(asked.pairs, "reached_fraction")[asked.pair]
    moved = _of(asked.pairs, "bytes_per_sample")[asked.pair]
    one = flop * ((1.0 - NARROW_PART) / peak16 + NARROW_PART / narrow) + moved / (MEMORY_REACHED * bandwidth)
    overhead = _of(asked.pairs, "step_overhead_s")[asked.pair]
    return samples * one / asked.chips + samples / asked.batch * overhead, samples, inside


def columns(asked: Asked) -> Numbers:
    """Return the numbers that the factor depends on, one row for each scenario, in the order of :data:`COLUMNS`."""
    doublings = np.log2(asked.chips / 8.0)
    first, last = _of(asked.pairs, "first_year")[asked.pair], _of(asked.pairs, "last_year")[asked.pair]
    year = np.minimum(np.maximum(asked.year, first - _TREND_BEFORE), last + _TREND_BEYOND)
    return np.stack(
        [
            np.ones(len(asked.pair)),
            doublings,
            np.maximum(doublings - 3.0, 0.0),
            np.log2(asked.batch / asked.chips) / 3.0,
            year - 2022.0,
            1.0 - 1.0 / np.maximum(asked.nodes, 1.0),
        ],
        axis=1,
    )


def keys(benchmark: str, one: Part) -> dict[str, str]:
    """Return the key of a pair in each group.

    Examples
    --------
    >>> keys("gpt3", part("nvidia_h200_sxm"))["kind_family"]
    'language_model|Hopper'

    """
    kind = benchmarks()[benchmark].text("kind")
    return {
        "all": "",
        "kind": kind,
        "benchmark": benchmark,
        "family": one.family,
        "chip": one.name,
        "kind_family": f"{kind}|{one.family}",
        "benchmark_family": f"{benchmark}|{one.family}",
        "benchmark_chip": f"{benchmark}|{one.name}",
    }


@cache
def _coefficients() -> Mapping[tuple[str, str, str], _tables.Row]:
    table = _tables.rows("mlperf_coefficients")
    return {(row.text("column"), row.text("group"), row.text("key")): row for row in table}


def theta(pairs: Sequence[tuple[str, Part]]) -> Numbers:
    """Return the coefficients of pairs for each of :data:`COLUMNS`; a group that was never seen adds nothing."""
    table = _coefficients()
    found = np.zeros((len(pairs), len(COLUMNS)))
    for place, (name, one) in enumerate(pairs):
        own = keys(name, one)
        for at, (column, groups) in enumerate(GROUPS.items()):
            hits = [table[column, group, own[group]] for group in groups if (column, group, own[group]) in table]
            found[place, at] = sum(row.number("ln_factor") for row in hits)
    return found


def levels(asked: Asked) -> Places:
    """Return the place in :data:`LEVELS` of each scenario."""
    table = _coefficients()
    found = np.empty((len(asked.pairs), 3))
    for place, (name, one) in enumerate(asked.pairs):
        own = keys(name, one)
        pair = table.get(("constant", "benchmark_chip", own["benchmark_chip"]))
        if pair is not None:
            found[place] = 0, pair.number("chips_low"), pair.number("chips_high")
            continue
        seen = [("constant", group, own[group]) in table for group in ("benchmark_family", "benchmark")]
        found[place] = 2.0 if seen[0] else 3.0 if seen[1] else 4.0, 0.0, np.inf
    base, low, high = found[asked.pair].T
    outside = (asked.chips < low * 0.999) | (asked.chips > high * 1.001)
    return np.where((base == 0) & outside, 1, base).astype(np.intp)


@cache
def _bands() -> Mapping[tuple[str, str], _tables.Row]:
    return {(row.text("level"), row.text("benchmark")): row for row in _tables.rows("mlperf_bands")}


def _widths(asked: Asked, level: Places) -> tuple[Numbers, Numbers]:
    """Return half widths of ln time, 80 % and 95 %: those of the benchmark at this level, else of the level."""
    widths = np.array(
        [
            [
                [row.number("ln_half_width80"), row.number("ln_half_width95")]
                for row in (_bands().get((name, benchmark)) or _bands()[name, ""] for name in LEVELS)
            ]
            for benchmark, _ in asked.pairs
        ]
    )
    chosen = widths[asked.pair, level]
    return chosen[:, 0], chosen[:, 1]
