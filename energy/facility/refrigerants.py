"""Refrigerant that leaks from chillers, direct expansion units and immersion tanks: kg a year, by kind and charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.catalogue.gases import refrigerant as known_refrigerant
from energy.errors import FacilityError, UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Machine:
    """Charge per heat moved, and share of the charge lost in a year, each with a range."""

    machine: str
    charge_kg_per_kw: float
    charge_kg_per_kw_low: float
    charge_kg_per_kw_high: float
    leak_fraction_per_y: float
    leak_fraction_per_y_low: float
    leak_fraction_per_y_high: float
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class Leakage:
    """Refrigerant lost in a year; mass, not CO2e."""

    refrigerant: str
    machine: str
    charge_kg: float
    leak_kg_per_y: float
    leak_kg_per_y_low: float
    leak_kg_per_y_high: float
    status: str
    source: tuple[str, ...]


@cache
def machines() -> Mapping[str, Machine]:
    """Return the known machines by name.

    Examples
    --------
    >>> sorted(machines())
    ['chiller', 'direct_expansion', 'two_phase_immersion']

    """
    return {row.text("machine"): build(Machine, row) for row in _tables.rows("facility_refrigerants")}


def leakage(
    machine: str,
    refrigerant: str,
    *,
    charge_kg: float | None = None,
    cooling_kw: float | None = None,
    leak_fraction_per_y: float | None = None,
) -> Leakage:
    """Return the refrigerant that leaks in a year.

    Parameters
    ----------
    machine : str
        chiller, direct_expansion, two_phase_immersion.
    refrigerant : str
        Of the catalogue, such as R-134a.
    charge_kg : float, kg, optional
        Charge of all machines; without it, from the heat that they move.
    cooling_kw : float, kW, optional
        Heat that the machines can move.
    leak_fraction_per_y : float, fraction per year, optional
        As measured by top-ups; without it the usual range of the machine.

    Returns
    -------
    Leakage

    Raises
    ------
    UnknownNameError
        The machine or the refrigerant is not known.
    FacilityError
        Neither charge nor heat is given, or a share lies outside 0 to 1.

    Examples
    --------
    >>> found = leakage("chiller", "R-134a", charge_kg=1000.0)
    >>> found.leak_kg_per_y, found.leak_kg_per_y_low, found.leak_kg_per_y_high
    (50.0, 20.0, 150.0)

    """
    if machine not in machines():
        hint = did_you_mean(machine, machines())
        raise UnknownNameError(f"There is no machine {machine!r} with refrigerant: {', '.join(machines())}.{hint}")
    one, name = machines()[machine], known_refrigerant(refrigerant).refrigerant
    if charge_kg is None and cooling_kw is None:
        raise FacilityError(f"Refrigerant {name}: give its charge_kg, or the cooling_kw of the machines.")
    if charge_kg is not None:
        charges = (charge_kg, charge_kg, charge_kg)
    else:
        per_kw = (one.charge_kg_per_kw, one.charge_kg_per_kw_low, one.charge_kg_per_kw_high)
        charges = tuple(float(cooling_kw or 0.0) * part for part in per_kw)  # type: ignore[assignment]  # three of three
    if leak_fraction_per_y is None:
        shares = (one.leak_fraction_per_y, one.leak_fraction_per_y_low, one.leak_fraction_per_y_high)
    elif 0.0 <= leak_fraction_per_y <= 1.0:
        shares = (leak_fraction_per_y,) * 3
    else:
        raise FacilityError(f"Refrigerant {name}: leak_fraction_per_y {leak_fraction_per_y:g} lies outside 0 to 1.")
    is_given = charge_kg is not None and leak_fraction_per_y is not None
    middle, low, high = (charge * share for charge, share in zip(charges, shares, strict=True))
    status = "given" if is_given else one.status
    return Leakage(name, machine, charges[0], middle, low, high, status, one.source)
