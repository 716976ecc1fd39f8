"""The chain of one number, written out once: board → node → meter → emissions. The page to show a newcomer.

The ledger's views multiply the same way in SQL (``ledger/sql``); a test holds both sides equal on random rows.
"""

from __future__ import annotations

from typing import Any

from energy.units import Quantity, takes


@takes("kWh_chip", power="kW_chip/chip", chips="chip", duration="h")
def board_energy(power: Any, chips: Any, duration: Any) -> Any:
    """Return the energy at the boards: E_chip = P x n x t.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> print(board_energy(q(400.0, "W_chip/chip"), q(8.0, "chip"), q(3.0, "h")).to("kWh_chip"))
    9.600000000000001 kWh_chip

    """
    return power * chips * duration


@takes("kWh_it", energy_chip="kWh_chip", node_overhead="kWh_it/kWh_chip")
def node_energy(energy_chip: Any, node_overhead: Any) -> Any:
    """Return the energy at the node's plug: E_it = E_chip x node overhead (host, memory, fans, power supplies)."""
    return energy_chip * node_overhead


@takes("kWh_facility", energy_it="kWh_it", pue="kWh_facility/kWh_it")
def meter_energy(energy_it: Any, pue: Any) -> Any:
    """Return the energy at the site's meter: E_facility = E_it x PUE (ISO/IEC 30134-2)."""
    return energy_it * pue


@takes("kWh_facility", energy_facility="kWh_facility", grid_share="")
def purchased_energy(energy_facility: Any, grid_share: Any) -> Any:
    """Return the energy bought from the grid: E_facility x share that own plants behind the meter do not give."""
    return energy_facility * grid_share


@takes("kgCO2e", energy_facility="kWh_facility", intensity="kgCO2e/kWh_facility")
def scope_2_emissions(energy_facility: Any, intensity: Any) -> Any:
    """Return Scope 2 emissions: E x factor, as purchased (``units.as_purchased``; Scope 2 Guidance, 2015)."""
    return energy_facility * intensity


def chain(
    power: Quantity,
    chips: Quantity,
    duration: Quantity,
    node_overhead: Quantity | float,
    pue: Quantity | float,
    intensities: dict[str, Quantity],
) -> dict[str, Quantity]:
    """Return every step of the chain, from watts to kilograms.

    Parameters
    ----------
    power : Quantity, W_chip/chip
        Board power of one chip; scalar or array, as all others.
    chips : Quantity, chip
    duration : Quantity, h
    node_overhead : Quantity or float, kWh_it/kWh_chip
    pue : Quantity or float, kWh_facility/kWh_it
    intensities : dict of Quantity, gCO2e/kWh_facility
        Factor by method; the results stand side by side and are never added.

    Returns
    -------
    dict of Quantity
        ``energy_chip``, ``energy_it``, ``energy_facility``, ``emissions_<method>``.

    Raises
    ------
    UnitError
        A quantity stands at another boundary; the message names the missing step.

    Examples
    --------
    Llama 2 70B as published (arXiv 2307.09288): 1,720,320 A100-hours at 400 W.
    >>> from energy.units import quantity as q
    >>> steps = chain(q(400.0, "W_chip/chip"), q(1.0, "chip"), q(1_720_320.0, "h"), 1.0, 1.1,
    ...               {"location": q(385.0, "gCO2e/kWh_facility")})
    >>> round(steps["emissions_location"].to("tCO2e").magnitude, 2)
    291.42

    """
    energy_chip = board_energy(power, chips, duration)
    energy_it = node_energy(energy_chip, node_overhead)
    energy_facility = meter_energy(energy_it, pue)
    steps = {"energy_chip": energy_chip, "energy_it": energy_it, "energy_facility": energy_facility}
    for method, intensity in intensities.items():
        steps[f"emissions_{method}"] = scope_2_emissions(energy_facility, intensity)
    return steps
