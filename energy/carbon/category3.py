"""Scope 3 category 3: upstream of fuels and electricity, and losses on the way, each with its base stated.

GHG Protocol, Technical Guidance for Calculating Scope 3 Emissions, category 3, activities A to C. Activity D (resale)
is of utilities and not built. Category 3 follows the method of scope 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from energy.catalogue.fuels import Upstream, upstream
from energy.errors import FactorError
from energy.units import Quantity, quantity, takes

_PER_KWH_GENERATION = "gCO2e/kWh_generation"


def upstream_of_fuel(name: str, amount: Quantity) -> tuple[Quantity, Upstream]:
    """Return activity A: well to tank of a fuel that was bought, and the factor used (United Kingdom, 2025).

    Parameters
    ----------
    name : str
        Fuel of the catalogue.
    amount : Quantity, L or kWh (heat, higher heating value)

    Raises
    ------
    FactorError
        The fuel has no factor per litre, or none per heat.

    Examples
    --------
    >>> emissions, row = upstream_of_fuel("diesel", quantity(1000.0, "L"))
    >>> round(float(emissions.magnitude), 2), row.source
    (624.09, ('desnz_2025',))

    """
    is_heat = amount.dimensionality == quantity(1.0, "kWh").dimensionality
    row = upstream(name, "well to tank", "kWh HHV" if is_heat else "L")
    per = "kgCO2e/kWh" if is_heat else "kgCO2e/L"
    return (amount * quantity(row.value_kgco2e_per_unit, per)).to("kgCO2e"), row


@takes(
    "kgCO2e",
    energy_facility="kWh_facility",
    lifecycle="gCO2e/kWh_facility",
    combustion="gCO2e/kWh_facility",
    losses="gCO2e/kWh_facility",
)
def upstream_of_electricity(energy_facility: Any, lifecycle: Any, combustion: Any, losses: Any = None) -> Any:
    """Return activity B: what comes before the power station, for purchased electricity.

    Parameters
    ----------
    energy_facility : Quantity, kWh_facility
        Gross purchase.
    lifecycle, combustion : Quantity, gCO2e/kWh_facility
        Factors of the same place, year, attribution and GWP set; restate production-based ones with ``as_purchased``.
    losses : Quantity, gCO2e/kWh_facility, optional
        Share of the lifecycle factor that stands for transmission and distribution; leave it out where the lifecycle
        factor has none in it.

    Raises
    ------
    FactorError
        The lifecycle factor is below what it must contain: the factors are not of one place, year or set.

    Notes
    -----
    B = E (EF_lifecycle − EF_combustion − EF_losses). Technical Guidance, table 3.1.

    Examples
    --------
    >>> per = "gCO2e/kWh_facility"
    >>> print(upstream_of_electricity(quantity(1000.0, "kWh_facility"), quantity(450.0, per), quantity(400.0, per)))
    50.0 kgCO2e

    """
    before = np.asarray(lifecycle) - combustion - (0.0 if losses is None else losses)
    if bool(np.any(before < 0)):
        raise FactorError(
            f"Upstream of electricity is {float(np.min(before)):g} g/kWh: the lifecycle factor is below the combustion "
            "factor and losses that it contains. Take factors of one place, year and set."
        )
    result = energy_facility * before / 1000.0
    return float(result) if np.ndim(result) == 0 else result


@takes("kWh_generation", energy_facility="kWh_facility", loss_of_output="")
def lost_of_output(energy_facility: Any, loss_of_output: Any) -> Any:
    """Return the energy lost on the way where the loss rate is a fraction of what was generated.

    Notes
    -----
    Lost = E L / (1 − L). World Bank and eGRID losses are of output [K].

    Examples
    --------
    >>> print(round(float(lost_of_output(quantity(1000.0, "kWh_facility"), 0.05).magnitude), 4))
    52.6316

    """
    loss = _fraction(loss_of_output, "output")
    return energy_facility * loss / (1.0 - loss)


@takes("kWh_generation", energy_facility="kWh_facility", loss_of_consumption="")
def lost_of_consumption(energy_facility: Any, loss_of_consumption: Any) -> Any:
    """Return the energy lost on the way where the loss rate is a fraction of what was consumed: E l.

    Examples
    --------
    >>> print(lost_of_consumption(quantity(1000.0, "kWh_facility"), 0.05))
    50.0 kWh_generation

    """
    return energy_facility * _fraction(loss_of_consumption, "consumption")


@takes("kgCO2e", lost="kWh_generation", lifecycle=_PER_KWH_GENERATION)
def losses_of_electricity(lost: Any, lifecycle: Any) -> Any:
    """Return activity C: emissions of the energy that was lost on the way, upstream and combustion.

    Parameters
    ----------
    lost : Quantity, kWh_generation
        Of :func:`lost_of_output` or :func:`lost_of_consumption`.
    lifecycle : Quantity, gCO2e/kWh_generation
        Lifecycle factor per kWh generated.

    Examples
    --------
    >>> lost = lost_of_output(quantity(1000.0, "kWh_facility"), 0.05)
    >>> print(round(float(losses_of_electricity(lost, quantity(400.0, "gCO2e/kWh_generation")).magnitude), 4))
    21.0526

    """
    return lost * lifecycle / 1000.0


def united_kingdom(energy_facility: Quantity) -> dict[str, Quantity]:
    """Return the parts of category 3 of electricity bought in the United Kingdom by its printed factors of 2025.

    Returns
    -------
    dict of Quantity, kgCO2e
        ``losses`` (combustion of what was lost), ``upstream`` (well to tank of generation), ``upstream_of_losses``.

    Examples
    --------
    >>> parts = united_kingdom(quantity(1.0, "GWh_facility"))
    >>> {name: round(float(part.to("tCO2e").magnitude), 3) for name, part in parts.items()}
    {'losses': 18.53, 'upstream': 45.9, 'upstream_of_losses': 3.97}

    """
    rows = {
        "losses": upstream("electricity", "losses", "kWh"),
        "upstream": upstream("electricity", "well to tank", "kWh"),
        "upstream_of_losses": upstream("electricity lost on the way", "well to tank", "kWh"),
    }
    return {
        name: (energy_facility * quantity(row.value_kgco2e_per_unit, "kgCO2e/kWh_facility")).to("kgCO2e")
        for name, row in rows.items()
    }


def _fraction(value: Any, base: str) -> Any:
    if not bool(np.all((np.asarray(value) >= 0) & (np.asarray(value) < 1))):
        raise FactorError(f"A loss of {value} of {base}: give a fraction from 0 to below 1 (5 % is 0.05).")
    return value
