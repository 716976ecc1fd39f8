"""Software Carbon Intensity (ISO/IEC 21031:2024, SCI 1.1) and its profile for AI.

SCI = (O + M) per R. Only location-based or marginal intensity enters O: certificates, contracts and offsets may not
lower it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from energy.errors import BasisError, FactorError
from energy.provenance import Basis
from energy.units import Quantity, takes


@takes("kgCO2e", embodied="kgCO2e", lifespan="h", reserved="h", resource_share="")
def embodied_share(embodied: Any, lifespan: Any, reserved: Any, resource_share: Any = 1.0) -> Any:
    """Return the part of embodied emissions that a use takes: M = TE × TiR/EL × RR/ToR.

    Parameters
    ----------
    embodied : Quantity, kgCO2e
        Whole, of the hardware.
    lifespan, reserved : Quantity, h
        Expected life, and time reserved.
    resource_share : float
        Resources reserved over all resources of the hardware, 0 to 1.

    Raises
    ------
    FactorError
        The lifespan is not above zero, or a share is outside 0 to 1.

    Examples
    --------
    >>> from energy.units import quantity
    >>> share = embodied_share(quantity(1000.0, "kgCO2e"), quantity(4 * 8760.0, "h"), quantity(1.0, "h"), 1.0)
    >>> round(float(share.to("gCO2e").magnitude), 6)
    28.538813

    """
    if not bool(np.all(np.asarray(lifespan) > 0)):
        raise FactorError(f"A lifespan of {lifespan} h: give the expected life, above zero.")
    if not bool(np.all((np.asarray(resource_share) >= 0) & (np.asarray(resource_share) <= 1))):
        raise FactorError(f"A share of resources of {resource_share}: give a fraction from 0 to 1.")
    if not bool(np.all((np.asarray(reserved) >= 0) & (np.asarray(reserved) <= np.asarray(lifespan)))):
        raise FactorError(f"Reserved for {reserved} h of a life of {lifespan} h: give a time within the life.")
    return embodied * (reserved / lifespan) * resource_share


def software_carbon_intensity(
    operational: Quantity, embodied: Quantity, functional_units: Quantity, basis: Basis
) -> Any:
    """Return emissions per functional unit: (O + M) / R; over several periods the sums, never the mean of ratios.

    Parameters
    ----------
    operational, embodied : Quantity, kgCO2e
        Scalars or arrays over periods, which are added. ``embodied`` is the share of :func:`embodied_share`.
    functional_units : Quantity
        R in its own unit: ``token``, ``request``, ``FLOP``; the same kind for all periods.
    basis : Basis
        Of the operational emissions.

    Raises
    ------
    BasisError
        The operational emissions are market-based, or the embodied ones whole.
    FactorError
        R is zero: then there is no intensity.

    Examples
    --------
    SCI for AI, section 9.1.1 (the summary there prints 0.13 g per million tokens: a slip of 1,000).

    >>> from energy.units import quantity as q
    >>> found = software_carbon_intensity(q(5000.0, "kgCO2e"), q(1500.0, "kgCO2e"), q(50e9, "token"),
    ...                                   Basis(method="location"))
    >>> round(float(found.to("gCO2e/Mtoken").magnitude), 6)
    130.0

    """
    if basis.method == "market":
        raise BasisError(
            "SCI of market-based emissions: ISO/IEC 21031 takes location-based or marginal intensity only."
        )
    if basis.embodied == "whole":
        raise BasisError("SCI of whole embodied emissions: take the share of the use (embodied_share).")
    total = (operational + embodied).to("kgCO2e")
    units = functional_units
    if np.ndim(units.magnitude) > 0:
        units = units.sum()
    if np.ndim(total.magnitude) > 0:
        total = total.sum()
    if not float(units.magnitude) > 0:
        raise FactorError("SCI per zero functional units: there is no intensity without work; report the emissions.")
    return total / units
