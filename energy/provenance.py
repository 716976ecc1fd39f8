"""Where a number came from, how sure we are, and on which accounting basis it stands.

Units see dimensions and measurement boundaries. What they cannot see (GWP set, direct or lifecycle, location or market,
whole or amortised, consumed or withdrawn) is a field of :class:`Basis`, and combining two bases raises unless the
caller names the mix. Plain numbers here: the unit stands beside the range, in the quantity or the column.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from energy.errors import BasisError, EnergyError, did_you_mean

Item = TypeVar("Item")


class Status(StrEnum):
    """How a number is known, strongest first; a result has the weakest status of what made it.

    ``given``: the user or a meter said it. ``catalogue``: a published figure for just this thing. ``derived``: computed
    from others by a stated formula. ``estimate``: a model's answer for this case. ``default``: nobody said anything
    about this case, a typical figure stands in.
    """

    GIVEN = "given"
    CATALOGUE = "catalogue"
    DERIVED = "derived"
    ESTIMATE = "estimate"
    DEFAULT = "default"


_STRENGTH = {status: place for place, status in enumerate(Status)}


def weakest(statuses: Iterable[Status | str]) -> Status:
    """Return the status of a result that was made from numbers of these statuses: the weakest wins.

    Parameters
    ----------
    statuses : iterable of Status or str
        At least one.

    Returns
    -------
    Status
        The one that stands last in :class:`Status`.

    Raises
    ------
    EnergyError
        There is none, or a word is no status.

    Examples
    --------
    >>> weakest(["given", "default", "catalogue"]).value
    'default'

    """
    known = [status_of(status) for status in statuses]
    if not known:
        raise EnergyError("weakest() got no status: a result without any input has no status.")
    return max(known, key=_STRENGTH.__getitem__)


def status_of(word: Status | str) -> Status:
    """Return the status of a word.

    Raises
    ------
    EnergyError
        With the nearest words.

    Examples
    --------
    >>> status_of("given").value
    'given'

    """
    try:
        return Status(word)
    except ValueError:
        allowed = [status.value for status in Status]
        raise EnergyError(f"{word!r} is no status: use {', '.join(allowed)}.{did_you_mean(word, allowed)}") from None


@dataclass(frozen=True, slots=True)
class Source:
    """A publication, data set or file that a number was read in.

    Attributes
    ----------
    id : str
        Short key, unique in the catalogue.
    title, publisher : str
        As the publisher writes them.
    edition : str
        Version, issue or month of publication; empty where the source has none.
    year : int or None
        Year that the source was published; ``None`` where it does not say.
    licence : str
        SPDX id or the publisher's own words.
    where : str
        Page, table, address or commit where the value stands.
    recalled : bool
        Written from general knowledge and not seen in the source: shown as unverified, never the only ground of a test.
    """

    id: str
    title: str
    publisher: str = ""
    edition: str = ""
    year: int | None = None
    licence: str = ""
    where: str = ""
    recalled: bool = False

    def __post_init__(self) -> None:
        if not self.id or not self.title:
            raise EnergyError(f"A source needs an id and a title, got id={self.id!r}, title={self.title!r}.")

    def cited(self) -> str:
        """Return one line for people.

        Examples
        --------
        >>> Source("ar6", "AR6 WG1 chapter 7", publisher="IPCC", year=2021, where="table 7.15").cited()
        'IPCC, AR6 WG1 chapter 7, 2021, table 7.15'

        """
        parts = [self.publisher, self.title, self.edition, str(self.year or ""), self.where]
        return ", ".join(part for part in parts if part) + (" (recalled, unverified)" if self.recalled else "")


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


# What each field of a basis may hold; None = not applicable.
BASIS_VALUES: dict[str, tuple[str, ...]] = {
    "gwp_set": ("AR4", "AR5", "AR6", "CO2 only"),
    "boundary": ("direct", "lifecycle"),
    "attribution": ("production", "consumption"),
    "method": ("location", "market", "hourly", "marginal"),
    "embodied": ("whole", "amortised"),
    "water": ("consumed", "withdrawn"),
}
_BASIS_REMEDIES = {
    "gwp_set": "recompute one with the other's GWP set",
    "boundary": "take both direct or both lifecycle",
    "attribution": "restate the production factor as purchased, or take one kind of factor",
    "method": "methods are never added: report them side by side",
    "embodied": "amortise the whole, or compare whole with whole",
    "water": "take both consumed or both withdrawn",
}
_JOIN = " + "


@dataclass(frozen=True, slots=True)
class Basis:
    """What units cannot see of a number; ``None`` = not applicable.

    Attributes
    ----------
    gwp_set : str or None
        ``AR4``, ``AR5``, ``AR6``, ``CO2 only``.
    boundary : str or None
        ``direct`` (combustion) or ``lifecycle`` (with upstream).
    attribution : str or None
        ``production`` (what a zone generates) or ``consumption`` (what it uses).
    method : str or None
        Of Scope 2: ``location``, ``market``, ``hourly``, ``marginal``.
    embodied : str or None
        ``whole`` or ``amortised``.
    water : str or None
        ``consumed`` or ``withdrawn``.
    mix : str or None
        The name that the caller gave to a mix; fields then may hold several values, such as ``AR5 + AR6``.
    """

    gwp_set: str | None = None
    boundary: str | None = None
    attribution: str | None = None
    method: str | None = None
    embodied: str | None = None
    water: str | None = None
    mix: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in BASIS_VALUES.items():
            value = getattr(self, name)
            parts = [] if value is None else value.split(_JOIN)
            for part in parts:
                if part not in allowed:
                    raise BasisError(
                        f"Basis.{name} is {value!r}: use {', '.join(allowed)}, or None.{did_you_mean(part, allowed)}"
                    )
            if len(parts) > 1 and not self.mix:
                raise BasisError(f"Basis.{name} is {value!r} without a name for the mix: set mix='…'.")

    def described(self) -> str:
        """Return the fields that apply, as one line for people; a mix is shown.

        Examples
        --------
        >>> Basis(gwp_set="AR5", boundary="lifecycle").described()
        'GWP set AR5, boundary lifecycle'

        """
        labels = {"gwp_set": "GWP set"}
        shown = [f"{labels.get(n, n)} {getattr(self, n)}" for n in BASIS_VALUES if getattr(self, n) is not None]
        return ", ".join(shown) + (f" (mix: {self.mix})" if self.mix else "")


def combine(a: Basis, b: Basis, *, mix: str | None = None) -> Basis:
    """Return the basis of a number that was made from two numbers.

    A field that applies to one side only is taken from it. Two different values raise, unless the caller names the mix;
    the result then shows both values and the name. A mix that was named earlier stays named.

    Parameters
    ----------
    a, b : Basis
        Bases of the two numbers.
    mix : str, optional
        Name of an intended mix, such as ``"factor only published with AR5"``.

    Returns
    -------
    Basis
        The combined basis.

    Raises
    ------
    BasisError
        A field differs and the mix was not named: field, both values and the remedy.

    Examples
    --------
    >>> combine(Basis(gwp_set="AR6"), Basis(boundary="direct")).described()
    'GWP set AR6, boundary direct'
    >>> combine(Basis(gwp_set="AR5"), Basis(gwp_set="AR6"), mix="supplier's factor").described()
    "GWP set AR5 + AR6 (mix: supplier's factor)"

    """
    values: dict[str, str | None] = {}
    mixed = False
    for name, allowed in BASIS_VALUES.items():
        parts_a, parts_b = (set((getattr(side, name) or "").split(_JOIN)) - {""} for side in (a, b))
        both = parts_a | parts_b
        # A part of a mix that has a name already brings nothing new.
        differs = bool(parts_a and parts_b and parts_a != parts_b)
        covered = (len(parts_a) > 1 and parts_b <= parts_a) or (len(parts_b) > 1 and parts_a <= parts_b)
        if differs and not covered:
            if not mix:
                raise BasisError(
                    f"{name} differs: {getattr(a, name)} and {getattr(b, name)} cannot be combined; "
                    f"{_BASIS_REMEDIES[name]}, or name the mix with combine(a, b, mix='…')."
                )
            mixed = True
        values[name] = _JOIN.join(value for value in allowed if value in both) or None
    names = _unique([*(side.mix for side in (a, b) if side.mix), *([mix] if mixed and mix else [])])
    return Basis(**values, mix="; ".join(names) or None)


def _unique(items: Iterable[Item]) -> list[Item]:
    return list(dict.fromkeys(items))


@dataclass(frozen=True, slots=True)
class Provenance:
    """What stands behind one result, beside its unit and range.

    Attributes
    ----------
    status : Status
        Weakest status of what made it.
    factors : tuple of str
        Ids of the factors that made it, in order of use.
    basis : Basis
        Accounting basis.
    recalled : bool
        Something in it was written from general knowledge and is not verified.
    notes : tuple of str
        Lines such as "boundary from the field" or "as purchased: …".
    """

    status: Status
    factors: tuple[str, ...] = ()
    basis: Basis = field(default_factory=Basis)
    recalled: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", status_of(self.status))

    def noted(self, *lines: str) -> Provenance:
        """Return the same provenance with more notes.

        Examples
        --------
        >>> Provenance(Status.GIVEN).noted("CO2 only").notes
        ('CO2 only',)

        """
        return replace(self, notes=tuple(_unique([*self.notes, *lines])))


def merge(parts: Iterable[Provenance], *, mix: str | None = None) -> Provenance:
    """Return the provenance of a result made from several numbers.

    Status: the weakest. Factors and notes: each once, in order. Recalled: if any part is. Basis: :func:`combine`.

    Parameters
    ----------
    parts : iterable of Provenance
        At least one.
    mix : str, optional
        Name of an intended mix of bases.

    Returns
    -------
    Provenance
        Of the result.

    Raises
    ------
    BasisError
        Bases differ and the mix was not named.
    EnergyError
        There are no parts.

    Examples
    --------
    >>> made = merge([Provenance(Status.GIVEN), Provenance(Status.CATALOGUE, factors=("grid-de-2025",))])
    >>> made.status.value, made.factors
    ('catalogue', ('grid-de-2025',))

    """
    items = list(parts)
    if not items:
        raise EnergyError("merge() got no provenance: a result without any input has none.")
    basis = items[0].basis
    for item in items[1:]:
        basis = combine(basis, item.basis, mix=mix)
    return Provenance(
        weakest(item.status for item in items),
        tuple(_unique(name for item in items for name in item.factors)),
        basis,
        any(item.recalled for item in items),
        tuple(_unique(line for item in items for line in item.notes)),
    )
