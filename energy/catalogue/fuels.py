"""Fuels of generators, what comes before them, and electricity by technology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.errors import FactorError, UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Fuel:
    """Combustion of one fuel, per heat by its higher heating value, and per litre where that was read.

    CO2 of a biogenic fuel stands outside the scopes; its CH4 and N2O are inside (GHG Protocol).
    """

    fuel: str
    category: str
    co2_kg_per_mmbtu: float
    ch4_g_per_mmbtu: float
    n2o_g_per_mmbtu: float
    co2_kg_per_l: float | None
    is_biogenic: bool
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class Upstream:
    """What comes before or behind a delivery, in kg CO2e per ``per_unit``: well to tank, losses, supply, treatment."""

    item: str
    stage: str
    per_unit: str
    value_kgco2e_per_unit: float
    year: str
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class Technology:
    """Electricity of one technology in g CO2e per kWh generated, of one set of factors."""

    technology: str
    boundary: str
    value_gco2e_per_kwh: float
    publication: str
    source: tuple[str, ...]
    status: str
    note: str


@cache
def all_fuels() -> tuple[Fuel, ...]:
    """Return all fuels, in the order of the table.

    Examples
    --------
    >>> all_fuels()[0].fuel
    'diesel'

    """
    return tuple(build(Fuel, row) for row in _tables.rows("fuels"))


def fuel(name: str) -> Fuel:
    """Return a fuel by name.

    Raises
    ------
    UnknownNameError
        When it is not in the table; the message gives the nearest.

    Examples
    --------
    >>> fuel("Diesel").co2_kg_per_l
    2.69719665

    """
    known = {one.fuel: one for one in all_fuels()}
    found = known.get(" ".join(name.casefold().split()))
    if found is None:
        raise UnknownNameError(f"The fuel {name!r} is not in the catalogue.{did_you_mean(name, known)}")
    return found


@cache
def all_upstream() -> tuple[Upstream, ...]:
    """Return all upstream factors, in the order of the table.

    Examples
    --------
    >>> {one.year for one in all_upstream()}
    {'2025'}

    """
    return tuple(build(Upstream, row) for row in _tables.rows("upstream_factors"))


def upstream(item: str, stage: str, per_unit: str) -> Upstream:
    """Return an upstream factor.

    Raises
    ------
    FactorError
        There is none for the item, the stage and the unit; the message names what there is.

    Examples
    --------
    >>> upstream("electricity", "losses", "kWh").value_kgco2e_per_unit
    0.01853

    """
    for one in all_upstream():
        if (one.item, one.stage, one.per_unit) == (item, stage, per_unit):
            return one
    wanted = f"{item}, {stage}, per {per_unit}"
    names = [f"{one.item}, {one.stage}, per {one.per_unit}" for one in all_upstream()]
    raise FactorError(f"No upstream factor for {wanted}.{did_you_mean(wanted, names)}")


@cache
def _technologies() -> Mapping[tuple[str, str], Mapping[str, Technology]]:
    found: dict[tuple[str, str], dict[str, Technology]] = {}
    for row in _tables.rows("generation_factors"):
        one = build(Technology, row)
        found.setdefault((one.publication, one.boundary), {})[one.technology] = one
    return found


def technology_sets() -> tuple[tuple[str, str], ...]:
    """Return the sets of factors: publication and boundary.

    Examples
    --------
    >>> ("IPCC AR5", "lifecycle") in technology_sets()
    True

    """
    return tuple(_technologies())


def technologies(publication: str, boundary: str) -> Mapping[str, Technology]:
    """Return the factors of one set by technology.

    Raises
    ------
    FactorError
        There is no such set.

    Examples
    --------
    >>> technologies("Electricity Maps defaults", "direct")["coal"].value_gco2e_per_kwh
    760.0

    """
    found = _technologies().get((publication, boundary))
    if found is None:
        have = "; ".join(f"{name} ({kind})" for name, kind in technology_sets())
        raise FactorError(f"No factors by technology of {publication!r} ({boundary}): there are {have}.")
    return found
