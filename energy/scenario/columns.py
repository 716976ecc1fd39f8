"""Figures of many scenarios at once: one column of values with its bands, and the arithmetic of single figures."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.training import WIDE_OVER_NARROW

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values ``(n,)`` of one figure with its unit, and ``ends``: low80, high80, low, high, or None where not known.

    It is :class:`energy.cost.estimates.Figure` for arrays; NaN is not known.
    """

    value: Numbers
    unit: str
    ends: tuple[Numbers, Numbers, Numbers, Numbers] | None = field(default=None)

    @classmethod
    def exact(cls, value: ArrayLike, unit: str) -> Column:
        """Return given numbers, whose ends are themselves.

        Examples
        --------
        >>> Column.exact([1.0, 2.0], "h").ends[2].tolist()
        [1.0, 2.0]

        """
        one = np.asarray(value, dtype=np.float64)
        return cls(one, unit, (one, one, one, one))

    @classmethod
    def banded(cls, value: ArrayLike, low: ArrayLike, high: ArrayLike, unit: str) -> Column:
        """Return a column from its 95 % range: the 80 % band is narrower by 1.53 in logarithms.

        Examples
        --------
        >>> found = Column.banded([4.0], [1.0], [16.0], "h")
        >>> found.ends[0].round(3).tolist()
        [1.616]

        """
        middle, bottom, top = (np.asarray(one, dtype=np.float64) for one in (value, low, high))

        def narrow(end: Numbers) -> Numbers:
            positive = (middle > 0.0) & (end > 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                by_ratio = middle * np.exp(np.log(end / middle) / WIDE_OVER_NARROW)
            return np.asarray(np.where(positive, by_ratio, middle + (end - middle) / WIDE_OVER_NARROW))

        return cls(middle, unit, (narrow(bottom), narrow(top), bottom, top))

    def times(self, factor: ArrayLike, unit: str) -> Column:
        """Return this column times a factor."""
        by = np.asarray(factor, dtype=np.float64)
        ends = self.ends
        return Column(
            self.value * by,
            unit,
            None if ends is None else (ends[0] * by, ends[1] * by, ends[2] * by, ends[3] * by),
        )

    def over(self, amount: ArrayLike, unit: str) -> Column:
        """Return an amount over this column: a rate of a time, with the ends of the bands exchanged."""
        of = np.asarray(amount, dtype=np.float64)
        ends = self.ends
        return Column(
            of / self.value,
            unit,
            None if ends is None else (of / ends[1], of / ends[0], of / ends[3], of / ends[2]),
        )

    def joined(self, other: Column, factor: ArrayLike, unit: str, *, share: ArrayLike = 1.0) -> Column:
        """Return the product of two columns whose errors have nothing to do with each other.

        See :meth:`energy.cost.estimates.Figure.joined`, which this is for arrays.

        Examples
        --------
        >>> import numpy as np
        >>> ten = np.array([10.0])
        >>> hours = Column(ten, "h", (ten * 0.8, ten * 1.25, ten * 0.5, ten * 2.0))
        >>> watts = Column(50.0 * ten, "W", (40.0 * ten, 62.5 * ten, 25.0 * ten, 100.0 * ten))
        >>> energy = hours.joined(watts, 1e-3, "kWh")
        >>> energy.value.tolist(), energy.ends[1].round(2).tolist()
        ([5.0], [6.86])

        """
        value = self.value * other.value * np.asarray(factor, dtype=np.float64)
        if self.ends is None or other.ends is None:
            return Column(value, unit)
        found = []
        for sign, one, two in zip((-1.0, 1.0, -1.0, 1.0), self.ends, other.ends, strict=True):
            width = np.hypot(np.log(one / self.value), share * np.log(two / other.value))
            found.append(np.asarray(value * np.exp(sign * width)))
        return Column(value, unit, (found[0], found[1], found[2], found[3]))

    def __getitem__(self, rows: NDArray[np.intp]) -> Column:
        """Return the column at ``rows``."""
        ends = self.ends
        return Column(
            self.value[rows],
            self.unit,
            None if ends is None else (ends[0][rows], ends[1][rows], ends[2][rows], ends[3][rows]),
        )
