"""A correction over three sizes: multilinear between knots in the logarithm of each size, constant beyond the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
BLOCK = 1 << 15  # points per pass: all intermediate arrays stay in the cache of one core


@dataclass(frozen=True, slots=True)
class Grid:
    """Knots along three sizes, each ascending and above zero."""

    knots: tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]

    @property
    def size(self) -> int:
        """Return the number of knots of the grid.

        Examples
        --------
        >>> Grid(((1, 2), (1, 2, 4), (1, 8))).size
        12

        """
        a, b, c = self.knots
        return len(a) * len(b) * len(c)

    def corners(self, sizes: Sequence[Floats]) -> tuple[Whole, Floats]:
        """Return the eight knots around each point, and their weights, which add up to one.

        Parameters
        ----------
        sizes : sequence of three arrays
            Sizes above zero, all of shape ``(n,)``. Beyond the outer knots the value at the edge holds.

        Returns
        -------
        tuple of arrays
            Flat positions and weights, both of shape ``(8, n)``.

        Examples
        --------
        >>> at, weight = Grid(((1, 4), (1, 2), (1, 2))).corners([np.array([2.0])] + [np.array([1.0])] * 2)
        >>> weight.sum(axis=0), (at * weight).sum(axis=0)
        (array([1.]), array([2.]))

        """
        positions, fractions = zip(
            *(_cell(size, one) for size, one in zip(sizes, self.knots, strict=True)), strict=True
        )
        strides = (len(self.knots[1]) * len(self.knots[2]), len(self.knots[2]), 1)
        at = np.zeros((1, len(fractions[0])), dtype=np.intp)
        weight = np.ones((1, len(fractions[0])))
        for position, fraction, stride in zip(positions, fractions, strides, strict=True):
            at = np.concatenate([at + position * stride, at + (position + 1) * stride])
            weight = np.concatenate([weight * (1.0 - fraction), weight * fraction])
        return at, weight

    def value(self, table: Floats, which: Whole | int, sizes: Sequence[Floats]) -> Floats:
        """Return the value between the knots.

        Parameters
        ----------
        table : array
            One row of ``size`` values per surface.
        which : array of int or int
            Row of the table for each point, or one for all.
        sizes : sequence of three arrays
            As for `corners`.

        Examples
        --------
        >>> Grid(((1, 4), (1, 2), (1, 2))).value(np.arange(8.0)[None], 0, [np.array([2.0])] + [np.array([1.0])] * 2)
        array([2.])

        """
        at, weight = self.corners(sizes)
        return np.asarray((table.ravel()[at + np.asarray(which) * self.size] * weight).sum(axis=0), dtype=np.float64)


@cache
def _logarithms(knots: tuple[float, ...]) -> Floats:
    return np.log2(np.asarray(knots, dtype=np.float64))


def _cell(size: Floats, knots: tuple[float, ...]) -> tuple[Whole, Floats]:
    logs = _logarithms(knots)
    inside = np.minimum(np.maximum(np.log2(size), logs[0]), logs[-1])
    position = np.searchsorted(logs[1:-1], inside, side="right")
    return position, (inside - logs[position]) / (logs[position + 1] - logs[position])
