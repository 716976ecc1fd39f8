"""Heat handed over for use outside the site: how much, how warm, and the heat pump that lifts it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from energy.errors import FacilityError

Numbers = NDArray[np.float64]
ABSOLUTE_C = 273.15


@dataclass(frozen=True, slots=True, eq=False)
class Reuse:
    """What a user outside takes.

    ``share`` : fraction of the loop's heat, one number or one per month (12); ``needed_c`` : C at the boundary;
    ``exchanger_k`` : K lost in the heat exchanger; ``second_law`` : heat pump's COP over Carnot's, None without one.
    """

    share: float | tuple[float, ...]
    needed_c: float
    exchanger_k: float
    second_law: float | None = None

    def __post_init__(self) -> None:
        """Refuse shares outside 0 to 1, and another number of months than 12."""
        shares = np.atleast_1d(np.asarray(self.share, dtype=np.float64))
        if shares.size not in (1, 12) or not np.all((shares >= 0.0) & (shares <= 1.0)):
            raise FacilityError("Heat reuse: share must be one fraction from 0 to 1, or twelve of them, by month.")
        for name, value, most in (("needed_c", self.needed_c, 150.0), ("exchanger_k", self.exchanger_k, 50.0)):
            if not 0.0 <= value <= most:
                raise FacilityError(f"Heat reuse: {name} {value:g} lies outside 0 to {most:g}.")
        if self.second_law is not None and not 0.0 < self.second_law < 1.0:
            raise FacilityError(f"Heat reuse: second_law {self.second_law:g} must lie between 0 and 1; 0.5 is usual.")

    def by_hour(self, start_utc: NDArray[np.datetime64]) -> Numbers:
        """Return the share of each hour, by the month in UTC."""
        shares = np.atleast_1d(np.asarray(self.share, dtype=np.float64))
        months = start_utc.astype("datetime64[M]").astype(np.int64) % 12
        return np.broadcast_to(shares, (12,))[months]


@dataclass(frozen=True, slots=True)
class Reused:
    """Per kW of rated IT: ``taken`` from the loop, ``pump`` electricity, ``delivered`` = taken + pump."""

    taken: Numbers
    pump: Numbers
    delivered: Numbers


def reuse_heat(one: Reuse, heat_kw: Numbers, return_c: Numbers, share: Numbers) -> Reused:
    """Return the heat that is handed over.

    Parameters
    ----------
    one : Reuse
    heat_kw : array, kW
        Heat of the loop.
    return_c : array, C
        Water that comes back from IT.
    share : array, fraction
        Of :meth:`Reuse.by_hour`.

    Returns
    -------
    Reused

    Raises
    ------
    FacilityError
        The loop is colder than what is needed, and there is no heat pump.

    Notes
    -----
    COP = eta T_h/(T_h - T_c) in kelvin, eta the second-law efficiency.

    Examples
    --------
    >>> pumped = Reuse(share=1.0, needed_c=70.0, exchanger_k=2.0, second_law=0.5)
    >>> found = reuse_heat(pumped, np.array(1.0), np.array(42.0), np.array(1.0))
    >>> float(found.delivered.round(3))
    1.212

    """
    taken = heat_kw * share
    source_c = np.asarray(return_c, dtype=np.float64) - one.exchanger_k
    lift = np.maximum(one.needed_c - source_c, 0.0)
    if np.any(lift > 0.0) and one.second_law is None:
        raise FacilityError(
            f"Heat reuse: the loop gives {float(np.min(source_c)):g} C behind the exchanger and {one.needed_c:g} C is "
            "needed: state second_law of a heat pump, warm the loop, or ask for less."
        )
    # 1/COP; without a lift no heat pump runs
    per_heat = lift / ((one.second_law or 1.0) * (one.needed_c + ABSOLUTE_C))
    pump = taken * per_heat / (1.0 - per_heat)
    return Reused(taken, pump, taken + pump)
