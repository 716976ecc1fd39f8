"""Scope 1: what burning a fuel on site emits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energy.carbon.greenhouse_gases import co2_equivalent
from energy.catalogue.fuels import Fuel, fuel
from energy.errors import FactorError, UnitError
from energy.provenance import Basis
from energy.units import Quantity, quantity


@dataclass(frozen=True, slots=True)
class Combustion:
    """Emissions of a fuel that was burnt.

    Attributes
    ----------
    emissions : Quantity, kgCO2e
        Scope 1: fossil CO2 with CH4 and N2O; for a biogenic fuel CH4 and N2O alone.
    gases : mapping of str to Quantity, kg
        CO2, CH4, N2O by mass.
    biogenic_co2 : Quantity, kg
        CO2 of biomass, outside the scopes; zero for a fossil fuel.
    heat : Quantity, kWh
        By the higher heating value.
    basis : Basis
        With the GWP set.
    fuel : Fuel
        The row that was used.
    """

    emissions: Quantity
    gases: Mapping[str, Quantity]
    biogenic_co2: Quantity
    heat: Quantity
    basis: Basis
    fuel: Fuel


def combustion(name: str, amount: Quantity, gwp_set: str) -> Combustion:
    """Return what burning a fuel emits.

    Parameters
    ----------
    name : str
        Fuel of the catalogue.
    amount : Quantity, L or kWh (heat, higher heating value)
        Scalar or array. Electricity has a boundary in its unit and is refused: divide it by the efficiency of the
        generator first.
    gwp_set : str
        For CH4 and N2O.

    Raises
    ------
    UnitError
        The amount is neither a volume nor heat.
    FactorError
        It is negative or not a number, or nothing is known per litre of this fuel.

    Notes
    -----
    E = Q Σ f_i GWP_i, Q by the higher heating value. Per litre: Q = V f_CO2,litre / f_CO2,heat. Sources: US EPA, as in
    ``fuels.csv``. GHG Protocol: CO2 of biomass outside the scopes, its CH4 and N2O inside [K].

    Examples
    --------
    >>> burnt = combustion("diesel", quantity(1000.0, "L"), "AR6")
    >>> round(float(burnt.emissions.magnitude), 1)
    2706.2
    >>> float(combustion("biodiesel", quantity(1.0, "MMBtu"), "AR6").biogenic_co2.magnitude)
    73.84

    """
    row = fuel(name)
    heat = _heat(row, amount)
    gases = {
        "CO2": (heat * quantity(row.co2_kg_per_mmbtu, "kg/MMBtu")).to("kg"),
        "CH4": (heat * quantity(row.ch4_g_per_mmbtu, "g/MMBtu")).to("kg"),
        "N2O": (heat * quantity(row.n2o_g_per_mmbtu, "g/MMBtu")).to("kg"),
    }
    inside = {name: mass for name, mass in gases.items() if not (row.is_biogenic and name == "CO2")}
    emissions, basis = co2_equivalent(inside, gwp_set)
    biogenic = gases["CO2"] * (1.0 if row.is_biogenic else 0.0)
    return Combustion(emissions, gases, biogenic, heat.to("kWh"), replace(basis, boundary="direct"), row)


def _heat(row: Fuel, amount: Any) -> Any:
    if not isinstance(amount, Quantity):
        raise UnitError(f"{row.fuel}: an amount without unit; give litres or heat, such as quantity(100.0, 'L').")
    if not bool(np.all(np.asarray(amount.magnitude) >= 0)):
        raise FactorError(f"{row.fuel}: an amount of {amount}; give what was burnt, zero or more.")
    if amount.dimensionality == quantity(1.0, "kWh").dimensionality:
        return amount
    if amount.dimensionality != quantity(1.0, "L").dimensionality:
        raise UnitError(
            f"{row.fuel} in {amount.units}: give litres, or heat in kWh or MMBtu (higher heating value); electricity "
            "divided by the generator's efficiency is heat."
        )
    if row.co2_kg_per_l is None:
        raise FactorError(f"Nothing is known per litre of {row.fuel}: give its heat in kWh (higher heating value).")
    return amount * quantity(row.co2_kg_per_l / row.co2_kg_per_mmbtu, "MMBtu/L")
