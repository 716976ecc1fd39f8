"""What chips do in training where only the model FLOPs utilisation is known: the profile of published runs like it.

``power_training.csv`` holds, by utilisation, the medians of what the cost engine says of published training runs
(``scripts/fit_training_profile.py``). No measured power is in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.cost.profile import Profile
from energy.errors import PowerError

Numbers = NDArray[np.float64]
_STATES = ("compute", "compute_rate", "memory_bound", "communication", "idle")


class Utilisation(NamedTuple):
    """Model FLOPs utilisation with the range of what it may be."""

    value: float
    low: float
    high: float


def usual_utilisation() -> Utilisation:
    """Return the utilisation of training of which nothing is said: median, 10th and 90th percentile of published runs.

    Examples
    --------
    >>> found = usual_utilisation()
    >>> 0.1 < found.low < found.value < found.high < 0.7
    True

    """
    rows = _tables.rows("power_training")
    mfu = np.array([row.number("mfu") for row in rows])
    share = np.cumsum([row.number("rows") for row in rows])
    middle = (share - np.array([row.number("rows") for row in rows]) / 2.0) / share[-1]
    value, low, high = (float(np.interp(wanted, middle, mfu)) for wanted in (0.5, 0.1, 0.9))
    return Utilisation(value, low, high)


def training_profile(mfu: float) -> Profile:
    """Return the profile of training at a model FLOPs utilisation, arrays ``(1,)``.

    Parameters
    ----------
    mfu : float, 0 to 1
        Rate of the model's own operations over the dense peak.

    Raises
    ------
    PowerError
        The utilisation is not between 0 and 1.

    Examples
    --------
    >>> low, high = training_profile(0.2), training_profile(0.5)
    >>> bool(low.compute_rate[0] < high.compute_rate[0]), bool(low.communication[0] > high.communication[0])
    (True, True)

    """
    if not 0.0 < mfu < 1.0:
        raise PowerError(f"The model FLOPs utilisation is {mfu:g}: give a share between 0 and 1.")
    rows = _tables.rows("power_training")
    known = np.array([row.number("mfu") for row in rows])
    values = {name: np.interp([mfu], known, [row.number(name) for row in rows]) for name in _STATES}
    return Profile(**values)
