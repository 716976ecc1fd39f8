"""Key performance indicators of ISO/IEC 30134 (EN 50600-4) over one period and one boundary.

All energies are of the same period and boundary; over less than 12 months they are interim values and are to be
labelled so. Annual figures are energy over energy, never means of ratios.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from energy.errors import FacilityError
from energy.units import takes

_PUE = "kWh_facility/kWh_it"
_ROUNDING = 1e-9


@takes(_PUE, energy_facility="kWh_facility", energy_it="kWh_it")
def power_usage_effectiveness(energy_facility: Any, energy_it: Any) -> Any:
    """Return PUE = E_DC / E_IT (ISO/IEC 30134-2). All carriers that cross the boundary count as energy.

    Parameters
    ----------
    energy_facility, energy_it : Quantity, kWh_facility, kWh_it
        Sums over the period, scalars or arrays.

    Raises
    ------
    FacilityError
        The energy of IT is missing or zero, or the site took less than its IT: PUE is at least 1.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> print(power_usage_effectiveness(q(12.0, "GWh_facility"), q(10.0, "GWh_it")))
    1.2 kWh_facility/kWh_it

    """
    it = _above_zero(energy_it, "energy of IT")
    ratio = np.asarray(energy_facility) / it
    if not bool(np.all(ratio >= 1.0 - _ROUNDING)):
        raise FacilityError(
            f"PUE would be {float(np.min(ratio)):g}: the site cannot take less than its IT. Compare the same period "
            "and boundary, and count all carriers."
        )
    return ratio if np.ndim(ratio) else float(ratio)


@takes("L/kWh_it", water="L", energy_it="kWh_it")
def water_usage_effectiveness(water: Any, energy_it: Any) -> Any:
    """Return WUE = water of the site / E_IT (ISO/IEC 30134-9). Say whether the water is withdrawn or consumed.

    Its denominator is energy of IT already: never multiply it by PUE.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> print(water_usage_effectiveness(q(3600.0, "m**3"), q(10.0, "GWh_it")))
    0.36 L/kWh_it

    """
    ratio = _zero_or_more(water, "water") / _above_zero(energy_it, "energy of IT")
    return ratio if np.ndim(ratio) else float(ratio)


@takes("", energy_reused="kWh_facility", energy_facility="kWh_facility")
def energy_reuse_factor(energy_reused: Any, energy_facility: Any) -> Any:
    """Return ERF = E_reuse / E_DC (ISO/IEC 30134-6), 0 to 1; heat handed over does not lower PUE.

    Raises
    ------
    FacilityError
        More was reused than was taken.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> float(energy_reuse_factor(q(1.8, "GWh_facility"), q(12.0, "GWh_facility")).magnitude)
    0.15

    """
    ratio = _zero_or_more(energy_reused, "energy reused") / _above_zero(energy_facility, "energy of the site")
    if not bool(np.all(ratio <= 1.0)):
        raise FacilityError(f"ERF would be {float(np.max(ratio)):g}: no more can be reused than the site takes.")
    return ratio if np.ndim(ratio) else float(ratio)


@takes("", energy_renewable="kWh_facility", energy_facility="kWh_facility")
def renewable_energy_factor(energy_renewable: Any, energy_facility: Any) -> Any:
    """Return REF = renewable energy owned or contracted / E_DC (ISO/IEC 30134-3), at most 1 by its definition.

    Certificates that were sold on are not counted; a contract and its certificates count once.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> float(renewable_energy_factor(q(9.0, "GWh_facility"), q(12.0, "GWh_facility")).magnitude)
    0.75

    """
    ratio = _zero_or_more(energy_renewable, "renewable energy") / _above_zero(energy_facility, "energy of the site")
    capped = np.minimum(ratio, 1.0)
    return capped if np.ndim(capped) else float(capped)


@takes("kgCO2e/kWh_it", emissions="kgCO2e", energy_it="kWh_it")
def carbon_usage_effectiveness(emissions: Any, energy_it: Any) -> Any:
    """Return CUE = CO2e of the energy used / E_IT (ISO/IEC 30134-8). Say whether location- or market-based.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> print(carbon_usage_effectiveness(q(480.0, "kgCO2e"), q(1000.0, "kWh_it")))
    0.48 kgCO2e/kWh_it

    """
    ratio = np.asarray(emissions) / _above_zero(energy_it, "energy of IT")
    return ratio if np.ndim(ratio) else float(ratio)


@takes("L", energy_it="kWh_it", pue=_PUE, intensity="L/kWh_facility")
def off_site_water(energy_it: Any, pue: Any, intensity: Any) -> Any:
    """Return water at the power stations: E_IT × PUE × water of the grid per kWh; stands beside the site's own.

    Examples
    --------
    >>> from energy.units import quantity as q
    >>> print(off_site_water(q(100.0, "kWh_it"), q(1.3, "kWh_facility/kWh_it"), q(3.0, "L/kWh_facility")))
    390.0 L

    """
    return energy_it * pue * intensity


def _above_zero(value: Any, what: str) -> Any:
    array = np.asarray(value, dtype=np.float64)
    if not bool(np.all(np.isfinite(array) & (array > 0))):
        raise FacilityError(f"The {what} is {value}: an indicator needs it, above zero, over the same period.")
    return array


def _zero_or_more(value: Any, what: str) -> Any:
    array = np.asarray(value, dtype=np.float64)
    if not bool(np.all(np.isfinite(array) & (array >= 0))):
        raise FacilityError(f"The {what} is {value}: give it, zero or more, over the same period.")
    return array
