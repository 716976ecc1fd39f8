"""Emergency generators: test runs and outages, their fuel, and scope 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from energy.catalogue.fuels import Fuel, fuel
from energy.catalogue.gases import gas
from energy.errors import SupplyError
from energy.provenance import Basis
from energy.units import takes


@dataclass(frozen=True, slots=True)
class Combustion:
    """Scope 1 of burnt fuel.

    Attributes
    ----------
    fuel_l : float, L
    co2_kg, ch4_kg, n2o_kg : float, kg of each gas
    emissions_kgco2e : float, kg CO2e
        Of fossil fuel all three gases; of a biogenic one methane and nitrous oxide, its CO2 standing apart.
    biogenic_co2_kg : float, kg
        Outside the scopes.
    basis : Basis
    source : tuple of str
        Keys of the catalogue's sources.
    """

    fuel_l: float
    co2_kg: float
    ch4_kg: float
    n2o_kg: float
    emissions_kgco2e: float
    biogenic_co2_kg: float
    basis: Basis
    source: tuple[str, ...]


@takes(
    "L",
    rated_power="kW_facility",
    output="kW_facility",
    duration="h",
    standing="L/h/kW_facility",
    slope="L/kWh_facility",
)
def fuel_of_runs(rated_power: Any, output: Any, duration: Any, standing: Any, slope: Any) -> Any:
    """Return the fuel of generators that run at a part of their power.

    Parameters
    ----------
    rated_power, output : Quantity, kW_facility
        Of all units together: what they could give, and what they give (0: idling).
    duration : Quantity, h
        Of the tests or outages: 12 monthly tests of half an hour are 6 h.
    standing : Quantity, L/h/kW_facility
        Fuel of an idling unit over its rated power.
    slope : Quantity, L/kWh_facility
        More fuel for more output. Both from the maker's sheet, two points of its fuel curve.

    Returns
    -------
    Quantity, L

    Raises
    ------
    UnitError
        An argument has another dimension.
    SupplyError
        The output is above the rated power, or something is below zero.

    Notes
    -----
    F = (standing x rated + slope x output) x duration: the straight line of generator sheets. Typical for diesel, where
    there is no sheet: 0.08 L/h/kW and 0.25 L/kWh (Skarstein and Uhlen 1989, recalled and unverified).

    Examples
    --------
    >>> from energy.units import quantity
    >>> rated, half = quantity(2000.0, "kW_facility"), quantity(1000.0, "kW_facility")
    >>> standing, slope = quantity(0.08, "L/h/kW_facility"), quantity(0.25, "L/kWh_facility")
    >>> print(fuel_of_runs(rated, half, quantity(6.0, "h"), standing, slope))
    2460.0 L

    """
    for name, value in (("rated power", rated_power), ("duration", duration), ("standing fuel", standing)):
        if not value >= 0.0:
            raise SupplyError(f"Generators: a {name} of {value:g} is below zero or missing.")
    if not (0.0 <= output <= rated_power and slope >= 0.0):
        raise SupplyError(
            f"Generators: an output of {output:g} kW lies from 0 to the rated {rated_power:g} kW, and fuel per kWh is "
            f"not below zero, here {slope:g} L."
        )
    return (standing * rated_power + slope * output) * duration


@takes(None, quantity_burnt="L")
def combustion(quantity_burnt: Any, fuel_name: str = "diesel", *, gwp_set: str = "AR5") -> Combustion:
    """Return scope 1 of a quantity of fuel, by gas.

    Parameters
    ----------
    quantity_burnt : Quantity, L
        Delivered and burnt: measured fuel wins over fuel from a curve.
    fuel_name : str
        Of the catalogue; one with a factor per litre.
    gwp_set : str
        AR5 or AR6.

    Returns
    -------
    Combustion

    Raises
    ------
    SupplyError
        The quantity is below zero, the fuel has no factor per litre, or the set is not known.

    Notes
    -----
    CO2 = L x kg/L; CH4 and N2O = L x (MMBtu/L) x g/MMBtu, with MMBtu/L = (kg CO2 per L) / (kg CO2 per MMBtu). US EPA.
    Direct combustion only: what comes before the tank is scope 3 category 3.

    Examples
    --------
    >>> from energy.units import quantity
    >>> found = combustion(quantity(1000.0, "L"))
    >>> round(found.co2_kg, 1), round(found.emissions_kgco2e, 1), found.basis.words
    (2697.2, 2706.0, 'direct, CO2e, AR5')

    """
    burnt = float(quantity_burnt)
    if not burnt >= 0.0:
        raise SupplyError(f"Generators: {burnt:g} L of fuel is below zero or missing.")
    one = fuel(fuel_name)
    if one.co2_kg_per_l is None:
        raise SupplyError(
            f"The fuel {one.fuel} has no factor per litre in the catalogue: use one that has, such as diesel."
        )
    heat_mmbtu = burnt * one.co2_kg_per_l / one.co2_kg_per_mmbtu
    co2, ch4, n2o = (
        burnt * one.co2_kg_per_l,
        heat_mmbtu * one.ch4_g_per_mmbtu / 1000.0,
        heat_mmbtu * one.n2o_g_per_mmbtu / 1000.0,
    )
    emissions = ch4 * _gwp("CH4", gwp_set) + n2o * _gwp("N2O", gwp_set) + (0.0 if one.is_biogenic else co2)
    return Combustion(
        fuel_l=burnt,
        co2_kg=co2,
        ch4_kg=ch4,
        n2o_kg=n2o,
        emissions_kgco2e=emissions,
        biogenic_co2_kg=co2 if one.is_biogenic else 0.0,
        basis=Basis(gases="CO2e", gwp_set=gwp_set, boundary="direct"),
        source=_sources(one),
    )


def _sources(one: Fuel) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one.source, *gas("CH4").source, *gas("N2O").source)))


def _gwp(name: str, gwp_set: str) -> float:
    known = {"AR5": gas(name).gwp100_ar5, "AR6": gas(name).gwp100_ar6}
    found = known.get(gwp_set)
    if found is None:
        raise SupplyError(f"The GWP set {gwp_set!r} is none of {', '.join(known)}.")
    return found
