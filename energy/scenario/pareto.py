"""The Pareto front: rows of which no other is as good in every figure and better in one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import ScenarioError

Numbers = NDArray[np.float64]

#: Candidates that are compared with the front at once.
_AT_ONCE = 512


def front(figures: ArrayLike) -> NDArray[np.intp]:
    """Return the rows on the front of figures that are all to be small.

    Parameters
    ----------
    figures : array_like, shape (n, k)
        A row with NaN in any figure is not known, and on no front.

    Returns
    -------
    array of int, shape (m,)
        Rows in their order; of equal rows all.

    Raises
    ------
    ScenarioError
        There is no figure.

    Notes
    -----
    Rows are looked at in the order of their sums (after scaling each figure to its range): one that comes later cannot
    dominate one that came before, so each block is compared with the front so far and with itself only.

    Examples
    --------
    >>> front([[1.0, 4.0], [2.0, 2.0], [3.0, 3.0], [4.0, 1.0], [2.0, 2.0]]).tolist()
    [0, 1, 3, 4]

    """
    values = np.atleast_2d(np.asarray(figures, dtype=np.float64))
    if values.ndim != 2 or values.shape[1] == 0:
        raise ScenarioError("A Pareto front needs one figure or more.")
    known = np.flatnonzero(~np.isnan(values).any(axis=1))
    some = values[known]
    if not len(some):
        return known
    ranks = np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in some.T], axis=1)
    order = np.lexsort((*ranks.T[::-1], ranks.sum(axis=1)))
    kept = np.empty((0, ranks.shape[1]), dtype=ranks.dtype)
    on_front: list[NDArray[np.intp]] = []
    for start in range(0, len(order), _AT_ONCE):
        block = order[start : start + _AT_ONCE]
        block = block[~_dominated(ranks[block], kept)]
        block = block[~_dominated(ranks[block], ranks[block])]
        kept = np.unique(np.concatenate([kept, ranks[block]]), axis=0)
        on_front.append(block)
    return known[np.sort(np.concatenate(on_front))]


def _dominated(rows: NDArray[np.intp], by: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which rows some other row is as good as in all figures, and better in one."""
    found = np.zeros(len(rows), np.bool_)
    for start in range(0, len(by), 4096):
        some = by[start : start + 4096]
        as_good = np.ones((len(rows), len(some)), np.bool_)
        better = np.zeros((len(rows), len(some)), np.bool_)
        for mine, its in zip(rows.T, some.T, strict=True):
            as_good &= its[None, :] <= mine[:, None]
            better |= its[None, :] < mine[:, None]
        found |= (as_good & better).any(axis=1)
    return found
