"""How many samples an MLPerf benchmark needs to reach its target, as a function of the global batch.

Points are those of the reference (convergence points of mlcommons/logging); for benchmarks without any, the medians of
submissions. They are made monotone (a larger batch never needs fewer samples) and interpolated in the logarithms.
Below the first point the samples stay; above the last the last slope goes on, and the result says that it is outside.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.cost.mlperf_names import benchmarks, round_year
from energy.errors import CostError, UnknownNameError, did_you_mean

Numbers = NDArray[np.float64]


@cache
def curve(benchmark: str, year: float | None = None) -> tuple[Numbers, Numbers]:
    """Return the points of a benchmark: batch sizes, ascending, and samples to the target.

    Parameters
    ----------
    benchmark : str
        Of :func:`energy.cost.mlperf_names.benchmarks`.
    year : float, optional
        When: some benchmarks changed their target or their recipe. The latest without it.

    Raises
    ------
    UnknownNameError
        When there is no such benchmark.

    Examples
    --------
    >>> batch, samples = curve("llama31_8b")
    >>> float(batch[0]), bool(np.all(np.diff(samples) >= 0))
    (16.0, True)

    """
    if benchmark not in benchmarks():
        raise UnknownNameError(f"No convergence of {benchmark!r} is known.{did_you_mean(benchmark, benchmarks())}")
    rows = [row for row in _tables.rows("mlperf_convergence") if row.text("benchmark") == benchmark]
    until = {row.text("until_round") for row in rows}
    ends = {one: round_year(one) if one else np.inf for one in until}
    fits = [one for one in until if (not one if year is None else ends[one] > year - 0.01)]
    edition = min(fits or until, key=lambda one: ends[one])
    points = sorted(
        (row.number("global_batch_size"), row.number("samples")) for row in rows if row.text("until_round") == edition
    )
    batch, samples = np.array(points).T
    return batch, samples


def samples_to_target(
    benchmark: str, global_batch_size: ArrayLike, year: float | None = None
) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the samples to the target, and whether the batch lies within the points that are known.

    Parameters
    ----------
    benchmark : str
        Of :func:`energy.cost.mlperf_names.benchmarks`.
    global_batch_size : array_like
        Samples of one step on all chips.
    year : float, optional
        See :func:`curve`.

    Raises
    ------
    CostError
        When a batch is not positive.

    Examples
    --------
    >>> samples, inside = samples_to_target("resnet", [4096, 1e6])
    >>> round(samples[0] / 1281167), inside.tolist()
    (40, [True, False])

    """
    batch = np.atleast_1d(np.asarray(global_batch_size, np.float64))
    if not np.all(batch > 0):
        raise CostError(f"A global batch of {float(batch[~(batch > 0)][0]):g} samples: give one or more.")
    known, samples = curve(benchmark, year)
    size, needed, asked = np.log(known), np.log(samples), np.log(batch)
    slope = 0.0 if len(size) < 2 else (needed[-1] - needed[-2]) / (size[-1] - size[-2])
    beyond = np.maximum(asked - size[-1], 0.0)
    inside = (batch >= known[0] * 0.999) & (batch <= known[-1] * 1.001)
    # One point is no curve: the benchmark's samples do not depend on the batch as far as anyone published.
    return np.exp(np.interp(asked, size, needed) + slope * beyond), inside | (len(size) < 2)


def monotone(values: Numbers, weights: Numbers) -> Numbers:
    """Return the nearest values that never fall: neighbours that do are pooled to their weighted mean.

    Examples
    --------
    >>> monotone(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist()
    [1.0, 2.5, 2.5, 4.0]

    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, first, some), (other, second, more) = pools[-2:]
            pools[-2:] = [((one * first + other * second) / (first + second), first + second, some + more)]
    return np.concatenate([np.full(count, value) for value, _, count in pools])
