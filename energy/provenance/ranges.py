"""A value with its range, and how ranges combine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from energy.errors import EnergyError


@dataclass(frozen=True, slots=True)
class Range:
    """A value with its 95 % range, and its 80 % band where a model gives one; all in one unit.

    Attributes
    ----------
    value : float
        Best figure.
    low, high : float or None
        Ends of the 95 % range; both ``None`` = range not known, which is not the same as a range of zero width.
    low80, high80 : float or None
        Ends of the 80 % band, inside the 95 % range.
    """

    value: float
    low: float | None = None
    high: float | None = None
    low80: float | None = None
    high80: float | None = None

    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name) for name in ("low", "low80", "value", "high80", "high")}
        for name, number in numbers.items():
            if number is not None and not math.isfinite(number):
                raise EnergyError(f"Range.{name} is {number}: what is not known is None, never NaN or infinity.")
        for low, high in (("low", "high"), ("low80", "high80")):
            if (numbers[low] is None) != (numbers[high] is None):
                raise EnergyError(f"Range has {low}={numbers[low]} and {high}={numbers[high]}: give both ends or none.")
        present = [(name, number) for name, number in numbers.items() if number is not None]
        for (left, smaller), (right, larger) in itertools.pairwise(present):
            if smaller > larger:
                raise EnergyError(f"Range has {left}={smaller} above {right}={larger}: ends enclose the value.")

    @property
    def known(self) -> bool:
        """Whether the 95 % range is known."""
        return self.low is not None

    @classmethod
    def exact(cls, value: float) -> Range:
        """Return a value without any uncertainty, such as a definition or a count."""
        return cls(value, value, value, value, value)

    @classmethod
    def sum(cls, parts: Iterable[Range]) -> Range:
        """Return the sum of fully correlated parts: low ends add up, and so do high ends.

        Parts that share their factors err together, so nothing averages out. One part whose range is not known makes
        the sum's range not known. The sum of nothing is exactly 0.

        Notes
        -----
        low = Σ low_i, high = Σ high_i. Source: fully correlated terms, IPCC 2006 Guidelines, volume 1, chapter 3.

        Examples
        --------
        >>> total = Range.sum([Range(10, 9, 12), Range(1, 0.5, 2)])
        >>> total.value, total.low, total.high
        (11.0, 9.5, 14.0)

        """
        items = list(parts)
        return cls(
            math.fsum(item.value for item in items),
            _sum_of([item.low for item in items]),
            _sum_of([item.high for item in items]),
            _sum_of([item.low80 for item in items]),
            _sum_of([item.high80 for item in items]),
        )

    def __add__(self, other: Range) -> Range:
        """Add a fully correlated part."""
        if not isinstance(other, Range):
            return NotImplemented
        return Range.sum([self, other])

    def __mul__(self, other: Range | float) -> Range:
        """Multiply: the ends are the least and the largest product of ends, as if both err together.

        Notes
        -----
        low = min(a b), high = max(a b) over the ends a and b of both factors: interval arithmetic.

        Examples
        --------
        >>> print((Range(100, 90, 110) * Range(1.5, 1.0, 2.0)).high)
        220.0

        """
        if isinstance(other, bool) or not isinstance(other, Range | float | int):
            return NotImplemented
        factor = other if isinstance(other, Range) else Range.exact(float(other))
        low, high = _product_of((self.low, self.high), (factor.low, factor.high))
        low80, high80 = _product_of((self.low80, self.high80), (factor.low80, factor.high80))
        return Range(self.value * factor.value, low, high, low80, high80)

    __rmul__ = __mul__


def _sum_of(ends: Sequence[float | None]) -> float | None:
    known = [end for end in ends if end is not None]
    return math.fsum(known) if len(known) == len(ends) else None


def _product_of(
    first: tuple[float | None, float | None], second: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    products = [a * b for a in first for b in second if a is not None and b is not None]
    return (min(products), max(products)) if len(products) == 4 else (None, None)
