"""Named cooling systems with the ranges of their parameters, and the curves of chillers, from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.errors import FacilityError, UnknownNameError, did_you_mean
from energy.facility.machines import Curve
from energy.facility.plant import Plant, System

Numbers = NDArray[np.float64]
CHAIN = ("ups_efficiency", "distribution_loss_fraction", "lighting_fraction")
PLANT = tuple(field.name for field in fields(Plant))


@dataclass(frozen=True, slots=True)
class Range:
    """Low and high end of a parameter, and where they come from; equal where one value was chosen."""

    low: float
    high: float
    source: str
    status: str


@dataclass(frozen=True, slots=True)
class Case:
    """One system of the catalogue: machines, and a range for each parameter in the unit of its name."""

    case_id: str
    published_case: int | None
    size_class: str
    title: str
    system: System
    ranges: Mapping[str, Range]
    source: tuple[str, ...]
    status: str
    note: str

    def middle(self) -> dict[str, float]:
        """Return the middle of each range."""
        return {name: 0.5 * (one.low + one.high) for name, one in self.ranges.items()}

    def samples(self, count: int, seed: int) -> dict[str, Numbers]:
        """Return points of the ranges, uniform and independent, each parameter stratified (Latin hypercube).

        Parameters
        ----------
        count : int
            Number of points.
        seed : int
            The same seed gives the same points.

        Returns
        -------
        dict of str to array, shape (count,)

        Examples
        --------
        >>> points = case("midsize_waterside").samples(4, seed=1)["air_rise_k"]
        >>> bool(((points >= 5.0) & (points <= 10.0)).all())
        True

        """
        generator = np.random.default_rng([seed, self.published_case or 0])
        found = {}
        for name, one in sorted(self.ranges.items()):
            places = (generator.permutation(count) + generator.random(count)) / count
            found[name] = one.low + (one.high - one.low) * places
        return found


def split(values: Mapping[str, Any]) -> tuple[Plant, dict[str, Any]]:
    """Return the parameters of the plant, and those of the power chain.

    Raises
    ------
    FacilityError
        A name is no parameter.

    """
    for name in values:
        if name not in PLANT and name not in CHAIN:
            raise FacilityError(f"Cooling: there is no parameter {name!r}.{did_you_mean(name, (*PLANT, *CHAIN))}")
    plant = Plant(**{name: value for name, value in values.items() if name in PLANT})
    return plant, {name: value for name, value in values.items() if name in CHAIN}


@cache
def all_cases() -> tuple[Case, ...]:
    """Return all named systems, in the order of the table.

    Examples
    --------
    >>> [one.case_id for one in all_cases() if one.published_case == 10]
    ['small_direct_expansion']

    """
    ranges: dict[str, dict[str, Range]] = {}
    for row in _tables.rows("facility_parameters"):
        one = Range(row.number("low"), row.number("high"), row.text("source"), row.text("status"))
        ranges.setdefault(row.text("case_id"), {})[row.text("parameter")] = one
    found = []
    for row in _tables.rows("facility_cases"):
        chiller, economiser = row.text("chiller"), row.text("economiser")
        system = System(chiller, economiser, row.flag("adiabatic"))  # type: ignore[arg-type]  # checked by the table
        found.append(
            Case(
                case_id=row.text("case_id"),
                published_case=row.maybe_integer("published_case"),
                size_class=row.text("size_class"),
                title=row.text("title"),
                system=system,
                ranges=MappingProxyType(ranges[row.text("case_id")]),
                source=row.words("source"),
                status=row.text("status"),
                note=row.text("note"),
            )
        )
    return tuple(found)


def case(name: str) -> Case:
    """Return a named system.

    Raises
    ------
    UnknownNameError
        There is none of that name; the message gives the nearest.

    Examples
    --------
    >>> case("hyperscale").system.economiser
    'airside'

    """
    known = {one.case_id: one for one in all_cases()}
    if name not in known:
        raise UnknownNameError(f"There is no cooling case {name!r}: {', '.join(known)}.{did_you_mean(name, known)}")
    return known[name]


@cache
def curves() -> Mapping[str, Curve]:
    """Return the curve of the coefficient of performance of each kind of chiller.

    Examples
    --------
    >>> sorted(curves())
    ['air_cooled', 'direct_expansion', 'water_cooled']

    """
    return MappingProxyType({row.text("chiller"): build(Curve, row) for row in _tables.rows("facility_chillers")})
