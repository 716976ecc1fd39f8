"""Power of one chip from what it does.

The simple curve stands behind the interface that the later, fitted model keeps: utilisation in, watts with a range out.
"""

from __future__ import annotations

from typing import Any

from energy.units import takes


@takes("W_chip/chip", idle_power="W_chip/chip", power_limit="W_chip/chip", utilisation="")
def chip_power(idle_power: Any, power_limit: Any, utilisation: Any) -> Any:
    """Return the board power of one chip: a straight line from idle to the limit.

    Parameters
    ----------
    idle_power : Quantity, W_chip/chip
        Power without work.
    power_limit : Quantity, W_chip/chip
        Enforced limit, by default the vendor's maximum.
    utilisation : float or array, 0 to 1
        Share of the way from idle to the limit.

    Returns
    -------
    Quantity, W_chip/chip
        Same shape as the inputs broadcast.

    Raises
    ------
    UnitError
        An argument is not a power per chip.

    Notes
    -----
    P = P_idle + u (P_limit - P_idle). The straight line is common for servers (recalled: Fan, Weber and Barroso,
    ISCA 2007; the text was not at hand) and unverified for boards: on a production cluster with mean GPU_UTIL 69.8 %
    the boards drew 191.6 W of 400 W, where this line says 298 W (AcmeTrace, Kalos, read). It is a placeholder, and its
    range is the whole way from idle to the limit.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(chip_power(quantity(62.0, "W_chip/chip"), quantity(400.0, "W_chip/chip"), 0.5))
    231.0 W_chip/chip

    """
    return idle_power + utilisation * (power_limit - idle_power)
