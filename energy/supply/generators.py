"""Emergency generators: the fuel of test runs and outages; what it emits is `carbon.combustion`."""

from __future__ import annotations

from typing import Any

from energy.errors import SupplyError
from energy.units import takes


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
