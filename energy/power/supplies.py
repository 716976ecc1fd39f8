"""Power supplies: input from output by load, and several in series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import PowerError, UnknownNameError, did_you_mean
from energy.units import takes

Numbers = NDArray[np.float64]
#: Efficiency at half load by class of the 80 PLUS programme (read, ups_and_distribution.csv).
EFFICIENCY_AT_HALF_LOAD = {"titanium": 0.96, "platinum": 0.94, "gold": 0.90}
#: Loss over the rating: without load, in proportion to the load, with its square. Only the shape is used; an estimate
#: after the points of the 80 PLUS programme (recalled: titanium 0.90, 0.94, 0.96 at 10, 20 and 50 % load).
LOSS_SHAPE = (0.0105, 0.0093, 0.0228)


def loss_scale(efficiency_at_half_load: ArrayLike) -> Numbers:
    """Return what the shape of the loss is multiplied by, for an efficiency at half load.

    Raises
    ------
    PowerError
        The efficiency is not above 0.5 and below 1.

    Examples
    --------
    >>> float(loss_scale(0.90) / loss_scale(0.96)) > 2
    True

    """
    efficiency = np.asarray(efficiency_at_half_load, dtype=np.float64)
    wrong = ~((efficiency > 0.5) & (efficiency < 1.0))
    if wrong.any():
        bad = float(efficiency[wrong].flat[0])
        raise PowerError(f"The efficiency of a supply at half load is {bad:g}: give a share above 0.5 and below 1.")
    constant, linear, square = LOSS_SHAPE
    shape = constant + 0.5 * linear + 0.25 * square
    return np.asarray(0.5 * (1.0 / efficiency - 1.0) / shape, dtype=np.float64)


@takes("W_it", power_output="W_chip", power_rated="W_chip", scale="", counted="W_it/W_chip")
def supply_input(power_output: Any, power_rated: Any, scale: Any, counted: Any) -> Any:
    """Return the input of the supplies of a node, at its plug, from what its parts draw.

    Parameters
    ----------
    power_output : Quantity, W_chip
        Sum of all parts of the node behind the supplies.
    power_rated : Quantity, W_chip
        Rating of all supplies that share the load, spare ones too.
    scale : float or array
        Of `loss_scale`.
    counted : Quantity, W_it/W_chip
        1: a watt of a part is counted at the plug.

    Returns
    -------
    Quantity, W_it
        Rises with the output; never below it.

    Raises
    ------
    UnitError
        A power is not one of parts inside a node.

    Notes
    -----
    P_in = P_out + R s (a + b x + c x²), x = P_out / R: a loss without load, one in proportion, one of resistance.

    Examples
    --------
    >>> from energy.units import quantity
    >>> watts = quantity(5000.0, "W_chip"), quantity(10000.0, "W_chip")
    >>> plug = supply_input(*watts, loss_scale(0.96), quantity(1.0, "W_it/W_chip"))
    >>> bool(abs(5000.0 / plug.magnitude - 0.96) < 1e-9), str(plug.units)
    (True, 'W_it')

    """
    constant, linear, square = LOSS_SHAPE
    load = power_output / power_rated
    return counted * (power_output + power_rated * scale * (constant + linear * load + square * load * load))


def efficiency(load: ArrayLike, kind: str = "titanium") -> Numbers:
    """Return output over input of a supply of a class, by load.

    Parameters
    ----------
    load : array, above 0
        Output over rating.
    kind : str
        titanium, platinum or gold.

    Raises
    ------
    UnknownNameError
        There is no such class.
    PowerError
        A load is not above zero.

    Examples
    --------
    >>> [round(float(efficiency(share)), 3) for share in (0.1, 0.5, 1.0)]
    [0.896, 0.96, 0.959]

    """
    if kind not in EFFICIENCY_AT_HALF_LOAD:
        known = list(EFFICIENCY_AT_HALF_LOAD)
        raise UnknownNameError(
            f"The class of supplies {kind!r} is not known: {', '.join(known)}.{did_you_mean(kind, known)}"
        )
    share = np.asarray(load, dtype=np.float64)
    if not np.all(share > 0.0):
        raise PowerError("The load of a supply is a share of its rating above zero: an idle supply has no efficiency.")
    plug = supply_input.kernel(share, 1.0, loss_scale(EFFICIENCY_AT_HALF_LOAD[kind]), 1.0)
    return np.asarray(share / plug, dtype=np.float64)


def in_series(efficiencies: Sequence[ArrayLike]) -> Numbers:
    """Return the efficiency of supplies in series: shelf of the rack, then converter of the node, and so on.

    Raises
    ------
    PowerError
        There is none, or one is not above 0 and up to 1.

    Examples
    --------
    >>> round(float(in_series([0.975, 0.98])), 4)
    0.9555

    """
    if not efficiencies:
        raise PowerError("Supplies in series need at least one efficiency.")
    total = np.asarray(1.0, dtype=np.float64)
    for one in efficiencies:
        share = np.asarray(one, dtype=np.float64)
        if not np.all((share > 0.0) & (share <= 1.0)):
            raise PowerError("An efficiency in series is not above 0 and up to 1: give output over input.")
        total = np.asarray(total * share, dtype=np.float64)
    return total
