"""Hourly matching of instruments, and what a change does: methods of their own, never added to the annual totals.

Hourly matching follows the draft revision of the Scope 2 standard (consultation of October 2025), not in force.
Marginal and avoided emissions are consequential: they stand in a statement of their own (GHG Protocol; SCI).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import FactorError
from energy.provenance import Basis
from energy.units import Quantity, quantity, takes

Numbers = NDArray[np.float64]
DRAFT = "hourly matching after the draft revision of Scope 2 (2025), not in force"


@dataclass(frozen=True, slots=True)
class HourlyMatched:
    """Hourly matched market-based emissions of one market.

    Attributes
    ----------
    emissions_kgco2e : array, shape (h,)
    covered_mwh : array, shape (n, h)
        By instrument and hour.
    uncovered_mwh, surplus_mwh : array, shape (h,)
        Surplus of one hour covers no other.
    basis : Basis
        Method ``hourly``.
    label : str
        What the method is; belongs beside every figure of it.
    """

    emissions_kgco2e: Numbers
    covered_mwh: Numbers
    uncovered_mwh: Numbers
    surplus_mwh: Numbers
    basis: Basis
    label: str


def hourly_matched(
    load_mwh: ArrayLike,
    instruments_mwh: ArrayLike,
    instruments_gco2e_per_kwh: ArrayLike,
    residual_gco2e_per_kwh: ArrayLike,
) -> HourlyMatched:
    """Return market-based emissions where an instrument covers only consumption of its own hour and market.

    Parameters
    ----------
    load_mwh : array, shape (h,)
        Gross purchase at the meters of one market.
    instruments_mwh : array, shape (n, h)
        Energy of each accepted instrument by hour, in the order in which they cover.
    instruments_gco2e_per_kwh : array, shape (n,)
        Their rates.
    residual_gco2e_per_kwh : array, shape (h,), or float
        Of the uncovered hours: a residual mix, or a fossil one where none is known [K].

    Returns
    -------
    HourlyMatched

    Raises
    ------
    FactorError
        A value is negative or not a number, or the hours do not fit.

    Notes
    -----
    MB_h = Σ_i E_i,h EF_i + (load_h − Σ_i E_i,h) EF_residual,h with Σ_i E_i,h ≤ load_h.

    Examples
    --------
    >>> found = hourly_matched([10.0, 10.0], [[4.0, 18.0]], [0.0], 400.0)
    >>> found.emissions_kgco2e.tolist(), found.surplus_mwh.tolist()
    ([2400.0, 0.0], [0.0, 8.0])

    """
    load = _amounts("load_mwh", load_mwh)
    supply = _amounts("instruments_mwh", instruments_mwh)
    rates = _amounts("instruments_gco2e_per_kwh", instruments_gco2e_per_kwh)
    residual = np.broadcast_to(_amounts("residual_gco2e_per_kwh", residual_gco2e_per_kwh), load.shape)
    if load.ndim != 1 or supply.shape != (rates.size, load.size) or rates.ndim != 1:
        raise FactorError(
            f"Hours do not fit: load {load.shape}, instruments {supply.shape}, their rates {rates.shape}; expected "
            "(h,), (n, h), (n,)."
        )
    reached = np.minimum(np.cumsum(supply, axis=0), load)
    covered = np.diff(reached, axis=0, prepend=0.0)
    all_covered = reached[-1] if rates.size else np.zeros_like(load)
    uncovered = load - all_covered
    return HourlyMatched(
        emissions_kgco2e=rates @ covered + uncovered * residual,
        covered_mwh=covered,
        uncovered_mwh=uncovered,
        surplus_mwh=supply.sum(axis=0) - all_covered,
        basis=Basis(method="hourly"),
        label=DRAFT,
    )


@takes("kgCO2e", change="kWh_facility", marginal="gCO2e/kWh_facility")
def avoided(change: Any, marginal: Any) -> Any:
    """Return what a change of consumption does to emissions: Σ ΔE_h × marginal factor_h; below zero is avoided.

    Parameters
    ----------
    change : Quantity, kWh_facility
        After less before, by hour; arrays are added up.
    marginal : Quantity, gCO2e/kWh_facility
        Marginal factor by hour, which may be negative. State baseline, region, operating or build margin with it.

    Notes
    -----
    Consequential: never part of an inventory, never taken off scope 2. WattTime's figures are lb/MWh, AVERT's lb/kWh.

    Examples
    --------
    >>> from energy.units import quantity
    >>> shift = quantity(np.array([-10.0, 10.0]), "kWh_facility")
    >>> print(avoided(shift, quantity(np.array([900.0, 400.0]), "gCO2e/kWh_facility")))
    -5.0 kgCO2e

    """
    result = np.sum(np.asarray(change) * marginal) / 1000.0
    if not np.isfinite(result):
        raise FactorError(
            "A change or a marginal factor of an hour is not known: leave out no hour silently, fill or cut."
        )
    return float(result)


def effective_intensity(grid: Quantity, carbon_free_share: float) -> Quantity:
    """Return the intensity of what is not carbon-free by a provider's table: (1 − CFE) × grid intensity.

    An approximation for ranking regions; a high carbon-free share alone does not make a region cleaner.

    Raises
    ------
    FactorError
        The share is not from 0 to 1.

    Examples
    --------
    >>> from energy.units import quantity
    >>> central = effective_intensity(quantity(454.0, "gCO2e/kWh_facility"), 0.93)
    >>> west = effective_intensity(quantity(78.0, "gCO2e/kWh_facility"), 0.90)
    >>> round(float(central.magnitude), 2), round(float(west.magnitude), 2)
    (31.78, 7.8)

    """
    if not 0 <= carbon_free_share <= 1:
        raise FactorError(f"A carbon-free share of {carbon_free_share}: give a fraction from 0 to 1.")
    return quantity(grid.magnitude * (1.0 - carbon_free_share), grid.units)


def _amounts(name: str, values: ArrayLike) -> Numbers:
    array = np.asarray(values, dtype=np.float64)
    if not bool(np.all(np.isfinite(array) & (array >= 0))):
        raise FactorError(f"{name} holds a value that is negative or not a number: give each hour, zero or more.")
    return array
