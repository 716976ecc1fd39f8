r"""Power under a limit, and the slow-down that goes with it.

With the power \(P_0\) of the work at the highest limit and the enforced limit \(L\):

    P = ((P0^-q + (s L)^-q)^(-r/q) + (f P0)^r)^(1/r), r = 12
    ln(t / t0) = a x + b x², x = ln(P0 / P), not below zero

Boards hold 0.9 to 0.97 of their limit (s), join it softly because work comes in bursts (q), and cannot go below a share
of what the work wants (f). Coefficients per card are fitted by ``scripts/fit_power.py`` on the epochs of training that
Zeus measured (``power_caps.csv``); other chips take those of all cards together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.errors import PowerError
from energy.power.states import Bands
from energy.units import takes

Numbers = NDArray[np.float64]
ANY_CHIP = "any"
_FLOOR_SHARPNESS = 12.0
COEFFICIENTS = ("ceiling_fraction", "sharpness", "floor_fraction")


@dataclass(frozen=True, slots=True)
class Cap:
    """Coefficients of a chip under a limit; ``measured`` where the chip itself was."""

    chip_id: str
    ceiling_fraction: float
    sharpness: float
    floor_fraction: float
    slow_linear: float
    slow_square: float
    bands: Bands
    band95_time_ln: float
    measured: bool
    source: str


@takes(
    "W_chip/chip",
    uncapped_power="W_chip/chip",
    power_limit="W_chip/chip",
    ceiling_fraction="",
    sharpness="",
    floor_fraction="",
)
def capped_power(
    uncapped_power: Any, power_limit: Any, ceiling_fraction: Any, sharpness: Any, floor_fraction: Any
) -> Any:
    """Return the board power of work under a limit.

    Parameters
    ----------
    uncapped_power : Quantity, W_chip/chip
        Power of the same work at the highest limit.
    power_limit : Quantity, W_chip/chip
        Enforced limit.
    ceiling_fraction, sharpness, floor_fraction : float or array
        Of `cap_of`.

    Returns
    -------
    Quantity, W_chip/chip
        Rises with the limit and with the uncapped power.

    Raises
    ------
    UnitError
        An argument is not a power per chip.

    Examples
    --------
    >>> from energy.units import quantity
    >>> one = cap_of("nvidia_a40")
    >>> watts = quantity(280.0, "W_chip/chip"), quantity(200.0, "W_chip/chip")
    >>> power = capped_power(*watts, one.ceiling_fraction, one.sharpness, one.floor_fraction)
    >>> bool(170 < power.magnitude < 200)
    True

    """
    reached = ceiling_fraction * power_limit
    # In shares of the uncapped power: the powers of plain watts would lose digits.
    joined = (1.0 + (uncapped_power / reached) ** sharpness) ** (-1.0 / sharpness)
    return uncapped_power * (joined**_FLOOR_SHARPNESS + floor_fraction**_FLOOR_SHARPNESS) ** (1.0 / _FLOOR_SHARPNESS)


@takes("", uncapped_power="W_chip/chip", power="W_chip/chip", slow_linear="", slow_square="")
def slow_down(uncapped_power: Any, power: Any, slow_linear: Any, slow_square: Any) -> Any:
    """Return the time of work under a limit over its time without.

    Parameters
    ----------
    uncapped_power, power : Quantity, W_chip/chip
        Power at the highest limit, and under the limit.
    slow_linear, slow_square : float or array
        Of `cap_of`.

    Returns
    -------
    float or array
        At least 1: a limit does not make work faster.

    Raises
    ------
    UnitError
        An argument is not a power per chip.

    Examples
    --------
    >>> from energy.units import quantity
    >>> slow_down(quantity(200.0, "W_chip/chip"), quantity(200.0, "W_chip/chip"), 0.1, 0.8)
    <Quantity(1.0, 'dimensionless')>

    """
    missing = np.log(uncapped_power / power)
    return np.exp(np.maximum(slow_linear * missing + slow_square * missing * np.abs(missing), 0.0))


@cache
def cap_of(chip_id: str) -> Cap:
    """Return the coefficients of a chip under a limit; those of all measured cards together where it was not measured.

    Raises
    ------
    PowerError
        The table has no coefficients at all.

    Examples
    --------
    >>> cap_of("nvidia_v100_pcie").measured, cap_of("nvidia_h100_sxm5_80").measured
    (True, False)

    """
    rows = {row.text("chip_id"): row for row in _tables.rows("power_caps")}
    row = rows.get(chip_id, rows.get(ANY_CHIP))
    if row is None:
        raise PowerError(f"power_caps.csv has no coefficients for {chip_id}: run scripts/fit_power.py.")
    return Cap(
        chip_id,
        row.number("ceiling_fraction"),
        row.number("sharpness"),
        row.number("floor_fraction"),
        row.number("slow_linear"),
        row.number("slow_square"),
        Bands(row.number("band80_ln"), row.number("band95_ln")),
        row.number("band95_time_ln"),
        chip_id in rows,
        f"power_caps.csv: {row.text('chip_id')} ({row.text('source')})",
    )
