"""How much of a load is carbon-free in its own hour (24/7), beside what a whole year would claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.supply.dispatch import Dispatch, hours_of_sites
from energy.units import takes

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Carbon-free energy of hours; arrays of shape (sites, hours), sums over all of them.

    Attributes
    ----------
    load_facility_kwh, contracted_used_facility_kwh, grid_used_facility_kwh : array, kWh
        Load, and what of it own or contracted plants and the grid's carbon-free share meet in the same hour.
    excess_facility_kwh : array, kWh
        Contracted and neither used nor stored in its hour: never carried over, reported apart.
    score_by_hour : array, fraction
        NaN where there is no load.
    score : float, fraction
        24/7: weighted by energy.
    annual_matching : float, fraction
        Contracted over load of the whole time, at most 1: another figure, never to be shown alone.
    """

    load_facility_kwh: Numbers
    contracted_used_facility_kwh: Numbers
    grid_used_facility_kwh: Numbers
    excess_facility_kwh: Numbers
    score_by_hour: Numbers
    score: float
    annual_matching: float


@takes(None, load="kWh_facility", contracted="kWh_facility", grid_share="")
def matching(load: Any, contracted: Any, grid_share: Any) -> Matching:
    """Return the 24/7 score of a load with plants or contracts of the same grid region.

    Parameters
    ----------
    load, contracted : Quantity, array of shape (hours,) or (sites, hours), kWh_facility
        Of each hour.
    grid_share : float or array, fraction
        Carbon-free share of the grid in each hour; 0 counts contracts alone.

    Returns
    -------
    Matching

    Raises
    ------
    SupplyError
        Hours are missing, a share lies outside 0 to 1, or there is no load.

    Notes
    -----
    used = min(contracted, load); grid = (load - used) x share; score = sum(used + grid) / sum(load). Hours without load
    are left out of the hourly figure. Annual matching = min(1, sum contracted / sum load). Method: Google, 24/7
    Carbon-Free Energy: Methodologies and Metrics, 2021 (recalled).

    Examples
    --------
    >>> from energy.units import quantity
    >>> night_and_day = quantity(np.array([10.0, 10.0]), "kWh_facility")
    >>> sun = quantity(np.array([0.0, 20.0]), "kWh_facility")
    >>> found = matching(night_and_day, sun, 0.2)
    >>> round(found.score, 3), found.annual_matching, found.excess_facility_kwh.tolist()
    (0.6, 1.0, [[0.0, 10.0]])

    """
    asked = hours_of_sites(load, "The load")
    offered = hours_of_sites(contracted, "Contracted energy", asked.shape)
    used = np.minimum(offered, asked)
    return _matching(
        asked, used, _share(grid_share, asked.shape) * (asked - used), offered - used, float(offered.sum())
    )


def matching_of(dispatch: Dispatch, grid_share: Any) -> Matching:
    """Return the 24/7 score of sites whose own generation is carbon-free and partly stored.

    Stored energy counts in the hour in which it is given, as what it was when it was taken: own, or the grid's with its
    share of that hour. Cells mix what they hold. What they hold at the start is of unknown origin and counts as not
    carbon-free.

    Parameters
    ----------
    dispatch : Dispatch
    grid_share : float or array of shape (hours,) or (sites, hours), fraction

    Returns
    -------
    Matching

    Raises
    ------
    SupplyError
        A share lies outside 0 to 1, or there is no load.

    Examples
    --------
    >>> from energy.supply.battery import Battery
    >>> from energy.supply.dispatch import greedy
    >>> found = greedy([10.0, 10.0], [25.0, 0.0], [Battery(10.0, 10.0, 10.0, 1.0, 1.0)])
    >>> one = matching_of(found, 0.0)
    >>> one.score, one.excess_facility_kwh.tolist()
    (1.0, [[5.0, 0.0]])

    """
    load = dispatch.load_facility_kwh
    share = _share(grid_share, load.shape)
    direct = np.minimum(load, dispatch.generation_facility_kwh)
    own_charge = np.minimum(dispatch.charge_facility_kwh, dispatch.generation_facility_kwh - direct)
    bought = dispatch.charge_facility_kwh - own_charge
    own_part, grid_part = _stored_shares(dispatch, own_charge, bought * share)
    to_load = np.minimum(dispatch.discharge_facility_kwh, load - direct)
    used = direct + own_part * to_load
    from_grid = np.minimum(dispatch.grid_facility_kwh, load - direct - to_load)
    grid_used = share * from_grid + grid_part * to_load
    return _matching(load, used, grid_used, dispatch.excess_facility_kwh, float(dispatch.generation_facility_kwh.sum()))


def combined(parts: Sequence[Matching]) -> float:
    """Return the score of several regions: each weighted by its load.

    Raises
    ------
    SupplyError
        There are none, or they have no load.

    Examples
    --------
    >>> from energy.units import quantity
    >>> one, three = (quantity(np.array([value]), "kWh_facility") for value in (1.0, 3.0))
    >>> combined([matching(one, one, 0.0), matching(three, 0.0 * three, 0.0)])
    0.25

    """
    total = sum(float(part.load_facility_kwh.sum()) for part in parts)
    if not total > 0.0:
        raise SupplyError("No region has a load: a score needs one.")
    return sum(part.score * float(part.load_facility_kwh.sum()) for part in parts) / total


def _share(grid_share: Any, shape: tuple[int, ...]) -> Numbers:
    share = hours_of_sites(grid_share, "The grid's carbon-free share", shape)
    if share.max(initial=0.0) > 1.0:
        raise SupplyError(f"The grid's carbon-free share is {share.max():g}; it is a fraction from 0 to 1.")
    return share


def _matching(load: Numbers, used: Numbers, grid_used: Numbers, excess: Numbers, offered_kwh: float) -> Matching:
    total = float(load.sum())
    if not total > 0.0:
        raise SupplyError("There is no load in any hour: a score needs one.")
    met = used + grid_used
    return Matching(
        load_facility_kwh=load,
        contracted_used_facility_kwh=used,
        grid_used_facility_kwh=grid_used,
        excess_facility_kwh=excess,
        score_by_hour=np.divide(met, load, out=np.full(load.shape, np.nan), where=load > 0.0),
        score=float(met.sum()) / total,
        annual_matching=min(1.0, offered_kwh / total),
    )


def _stored_shares(dispatch: Dispatch, own: Numbers, clean: Numbers) -> tuple[Numbers, Numbers]:
    """Return which share of the energy in the cells is own, and which the grid's carbon-free, when each hour draws.

    A recursion over hours, for all sites at once: an hour's charge mixes in after its discharge.
    """
    cells = dispatch.batteries
    kept = cells.kept[:, None] * dispatch.stored_kwh[:, :-1]
    released = dispatch.discharge_facility_kwh / cells.discharge_efficiency[:, None]
    left = cells.kept[:, None] * (1.0 - np.divide(released, kept, out=np.zeros_like(kept), where=kept > 0.0))
    pools = np.zeros((2, len(cells.kept)))
    steps = np.stack([own, clean]) * cells.charge_efficiency[:, None]
    held = np.empty_like(steps)
    columns, fractions = np.ascontiguousarray(np.moveaxis(steps, 2, 0)), np.ascontiguousarray(left.T)
    for hour in range(columns.shape[0]):
        held[:, :, hour] = pools
        pools *= fractions[hour]
        pools += columns[hour]
    stored = dispatch.stored_kwh[:, :-1]
    shares = np.divide(held, stored, out=np.zeros_like(held), where=stored > 0.0)
    shares = np.minimum(shares, 1.0)  # rounding of emptied cells
    return shares[0], shares[1]
