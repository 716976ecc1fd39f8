"""Global warming potentials of gases and refrigerants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.errors import CatalogueError, FactorError, UnknownNameError, did_you_mean

GWP_SETS = ("AR4", "AR5", "AR6")


@dataclass(frozen=True, slots=True)
class Gas:
    """Potentials of one gas in kg CO2e per kg, over 100 years; None where a report has none."""

    gas: str
    gwp100_ar4: float | None
    gwp100_ar5: float | None
    gwp100_ar6: float | None
    gwp20_ar6: float | None
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class Refrigerant:
    """Potentials of one refrigerant or fluid in kg CO2e per kg, over 100 years, mass-weighted over its parts."""

    refrigerant: str
    composition: tuple[str, ...]
    gwp100_ar5: float | None
    gwp100_ar6: float | None
    source: tuple[str, ...]
    status: str
    note: str


@cache
def all_gases() -> tuple[Gas, ...]:
    """Return all gases, in the order of the table.

    Examples
    --------
    >>> all_gases()[0].gas
    'CO2'

    """
    return tuple(build(Gas, row) for row in _tables.rows("gases"))


@cache
def _gases() -> Mapping[str, Gas]:
    return {one.gas.casefold(): one for one in all_gases()}


def gas(name: str) -> Gas:
    """Return a gas by its formula.

    Raises
    ------
    UnknownNameError
        When it is not in the table; the message gives the nearest.

    Examples
    --------
    >>> gas("CH4").gwp100_ar5, gas("ch4").gwp100_ar6
    (28.0, 27.9)

    """
    found = _gases().get(name.strip().casefold())
    if found is None:
        hint = did_you_mean(name, (one.gas for one in all_gases()))
        raise UnknownNameError(f"The gas {name!r} is not in the catalogue.{hint}")
    return found


def gwp(name: str, gwp_set: str) -> float:
    """Return the potential of a gas over 100 years, in kg CO2e per kg, by one assessment report.

    Raises
    ------
    UnknownNameError
        The gas or the report is not known.
    FactorError
        The report has no value for the gas; none of another report is taken.

    Examples
    --------
    >>> gwp("N2O", "AR6"), gwp("CO2", "AR5")
    (273.0, 1.0)

    """
    if gwp_set not in GWP_SETS:
        raise UnknownNameError(
            f"The GWP set {gwp_set!r} is not known: {', '.join(GWP_SETS)}.{did_you_mean(gwp_set, GWP_SETS)}"
        )
    value: float | None = getattr(gas(name), f"gwp100_{gwp_set.lower()}")
    if value is None:
        raise FactorError(f"{gas(name).gas} has no GWP in {gwp_set}: choose a report that has one.")
    return value


@cache
def all_refrigerants() -> tuple[Refrigerant, ...]:
    """Return all refrigerants and fluids, in the order of the table.

    Examples
    --------
    >>> "R-134a" in {one.refrigerant for one in all_refrigerants()}
    True

    """
    return tuple(build(Refrigerant, row) for row in _tables.rows("refrigerants"))


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


@cache
def _refrigerants() -> Mapping[str, Refrigerant]:
    known: dict[str, Refrigerant] = {}
    for one in all_refrigerants():
        outside, _, inside = one.refrigerant.partition(" (")
        # "R-744 (CO2)" and "Novec 649 / FK-5-1-12" go by each of their names; "R-1234ze(E)" is one name
        names = [one.refrigerant, outside, *(one.refrigerant.split(" / ")), inside.rstrip(")")]
        for name in filter(None, map(_plain, names)):
            if known.setdefault(name, one) is not one:
                raise CatalogueError(f"refrigerants.csv: two rows go by {name!r}.")
    return known


def refrigerant(name: str) -> Refrigerant:
    """Return a refrigerant by its number or name; hyphens, spaces and case do not matter.

    Raises
    ------
    UnknownNameError
        When it is not in the table; the message gives the nearest.

    Examples
    --------
    >>> refrigerant("R134a").gwp100_ar6, refrigerant("r-410a").gwp100_ar5
    (1530.0, 1923.5)

    """
    found = _refrigerants().get(_plain(name))
    if found is None:
        hint = did_you_mean(name, (one.refrigerant for one in all_refrigerants()))
        raise UnknownNameError(f"The refrigerant {name!r} is not in the catalogue.{hint}")
    return found
