"""Several gases as one: CO2 equivalents by one GWP set, and leaks of refrigerants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from energy.catalogue.gases import Refrigerant, gwp, refrigerant
from energy.errors import FactorError, UnitError
from energy.provenance import Basis
from energy.units import Quantity, quantity

_SETS_OF_REFRIGERANTS = ("AR5", "AR6")


def co2_equivalent(gases: Mapping[str, Quantity], gwp_set: str) -> tuple[Quantity, Basis]:
    """Return masses or rates of several gases as CO2e, all by one GWP set over 100 years.

    Parameters
    ----------
    gases : mapping of str to Quantity
        Formula -> mass of the gas, or its mass per anything (``lb/MWh_generation``); scalars or arrays.
    gwp_set : str
        ``AR4``, ``AR5`` or ``AR6``; the same for all gases.

    Returns
    -------
    Quantity, Basis
        Sum of mass × GWP in kgCO2e (per the same thing), and its basis: ``CO2 only`` where nothing else was given.

    Raises
    ------
    UnitError
        A value is no mass of gas, or the gases are not per the same thing.
    FactorError
        No gas is given, or the set has no GWP for one.

    Notes
    -----
    CO2e = Σ m_i GWP_i. Source: IPCC assessment reports, as named in ``gases.csv``.

    Examples
    --------
    eGRID2022, CAMX: AR5, all three rates in lb/MWh.

    >>> rates = {gas: quantity(value, "lb/MWh_generation") for gas, value in
    ...          (("CO2", 497.443), ("CH4", 0.03), ("N2O", 0.004))}
    >>> found, basis = co2_equivalent(rates, "AR5")
    >>> round(float(found.to("kgCO2e/MWh_generation").magnitude), 4), basis.gwp_set
    (226.4982, 'AR5')

    """
    if not gases:
        raise FactorError("CO2 equivalents of no gas at all: give at least CO2.")
    terms: list[Quantity] = []
    for name, amount in gases.items():
        if not isinstance(amount, Quantity):
            raise UnitError(f"{name} is a number without unit: give a mass of gas, such as quantity(2.0, 'kg').")
        term = amount * quantity(gwp(name, gwp_set), "kgCO2e/kg")
        if terms and term.dimensionality != terms[0].dimensionality:
            raise UnitError(
                f"{name} is in {amount.units}, {next(iter(gases))} is not: give all gases per the same thing."
            )
        terms.append(term)
    total: Any = sum(terms[1:], start=terms[0]).to_base_units()
    only = {name.strip().casefold() for name in gases} == {"co2"}
    basis = Basis(gases="CO2 only") if only else Basis(gases="CO2e", gwp_set=gwp_set)
    if total.dimensionality == quantity(1.0, "kgCO2e").dimensionality:
        return total.to("kgCO2e"), basis
    return total, basis


@dataclass(frozen=True, slots=True)
class Leak:
    """Emissions of a leak, with the refrigerant's row (its status says whether its GWP was verified)."""

    emissions: Quantity
    basis: Basis
    refrigerant: Refrigerant


def leak(name: str, mass: Quantity, gwp_set: str) -> Leak:
    """Return the scope 1 emissions of refrigerant that leaked or was topped up.

    Parameters
    ----------
    name : str
        Refrigerant or immersion fluid of the catalogue.
    mass : Quantity, kg
        Charge lost in the period; scalar or array.
    gwp_set : str
        ``AR5`` or ``AR6``.

    Raises
    ------
    UnitError
        ``mass`` is no mass.
    FactorError
        The mass is negative or not a number, or the set has no GWP for the refrigerant.

    Notes
    -----
    E = m × GWP. GHG Protocol Corporate Standard, fugitive emissions [K]; GWP of blends weighted by mass.

    Examples
    --------
    >>> round(float(leak("R-134a", quantity(2.0, "kg"), "AR6").emissions.magnitude), 6)
    3060.0

    """
    row = refrigerant(name)
    value = getattr(row, f"gwp100_{gwp_set.lower()}", None) if gwp_set in _SETS_OF_REFRIGERANTS else None
    if value is None:
        raise FactorError(f"{row.refrigerant} has no GWP in {gwp_set}: use {' or '.join(_SETS_OF_REFRIGERANTS)}.")
    if not isinstance(mass, Quantity) or mass.dimensionality != quantity(1.0, "kg").dimensionality:
        raise UnitError(
            f"leak(): mass takes kilograms of refrigerant, got {getattr(mass, 'units', type(mass).__name__)}."
        )
    kilograms = mass.to("kg").magnitude
    if not bool((kilograms >= 0).all() if hasattr(kilograms, "all") else kilograms >= 0):
        raise FactorError(f"A leak of {mass}: give what was lost, as a mass of zero or more.")
    emissions = (mass * quantity(value, "kgCO2e/kg")).to("kgCO2e")
    return Leak(emissions, Basis(gases="CO2e", gwp_set=gwp_set), row)
