"""Load, own generation, battery and grid hour by hour: the greedy rule, and what every dispatch must hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.supply.battery import Batteries, Battery, batteries_of

Numbers = NDArray[np.float64]
BALANCE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Dispatch:
    """Energy of each hour at the site's meter (boundary facility); arrays of shape (sites, hours), kWh.

    Attributes
    ----------
    load_facility_kwh, generation_facility_kwh : array
        Given.
    charge_facility_kwh, discharge_facility_kwh : array
        Into and out of the battery, at its AC side.
    grid_facility_kwh : array
        Taken from the grid.
    excess_facility_kwh : array
        Neither used nor stored: fed in, or curtailed.
    stored_kwh : array, shape (sites, hours + 1)
        In the cells at the start of each hour, and at the end.
    batteries : Batteries
    """

    load_facility_kwh: Numbers
    generation_facility_kwh: Numbers
    charge_facility_kwh: Numbers
    discharge_facility_kwh: Numbers
    grid_facility_kwh: Numbers
    excess_facility_kwh: Numbers
    stored_kwh: Numbers
    batteries: Batteries

    @property
    def balance_error_kwh(self) -> float:
        """The largest gap of any hour, of the site's balance and of the cells'."""
        site = (
            self.generation_facility_kwh
            + self.discharge_facility_kwh
            + self.grid_facility_kwh
            - self.load_facility_kwh
            - self.charge_facility_kwh
            - self.excess_facility_kwh
        )
        own = self.batteries
        cells = (
            self.stored_kwh[:, 1:]
            - own.kept[:, None] * self.stored_kwh[:, :-1]
            - own.charge_efficiency[:, None] * self.charge_facility_kwh
            + self.discharge_facility_kwh / own.discharge_efficiency[:, None]
        )
        return float(max(np.abs(site).max(initial=0.0), np.abs(cells).max(initial=0.0)))

    @property
    def full_cycles(self) -> Numbers:
        """Energy released by the cells over their capacity, per site; NaN without a battery."""
        released = self.discharge_facility_kwh.sum(axis=1) / self.batteries.discharge_efficiency
        capacity = self.batteries.capacity_kwh
        cycles: Numbers = np.divide(released, capacity, out=np.full(capacity.size, np.nan), where=capacity > 0.0)
        return cycles

    def checked(self) -> Dispatch:
        """Return itself.

        Raises
        ------
        SupplyError
            An hour does not balance to 1e-9 of the largest flow, a flow is below zero, the cells leave their window.
        """
        flows = (
            self.charge_facility_kwh,
            self.discharge_facility_kwh,
            self.grid_facility_kwh,
            self.excess_facility_kwh,
        )
        scale = max(1.0, *(float(part.max(initial=0.0)) for part in (*flows, self.load_facility_kwh, self.stored_kwh)))
        if not (error := self.balance_error_kwh) <= BALANCE_TOLERANCE * scale:
            raise SupplyError(f"Dispatch: an hour is {error:.3g} kWh out of balance; report it with the inputs.")
        least = min(float(part.min(initial=0.0)) for part in flows)
        over = float((self.stored_kwh - self.batteries.most_kwh[:, None]).max(initial=0.0))
        if min(least, -over) < -BALANCE_TOLERANCE * scale:
            raise SupplyError(
                f"Dispatch: a flow of {least:.3g} kWh, or {over:.3g} kWh over the window of the battery; report it."
            )
        return self


def hours_of_sites(values: Any, name: str, shape: tuple[int, ...] | None = None) -> Numbers:
    """Return hourly values as an array of shape (sites, hours), checked.

    Parameters
    ----------
    values : array, shape (hours,) or (sites, hours)
    name : str
        For messages.
    shape : tuple, optional
        To be filled by one site's values or one hour's.

    Raises
    ------
    SupplyError
        A value is missing, not finite or below zero, or the shape does not fit.

    Examples
    --------
    >>> hours_of_sites([1.0, 2.0], "load").shape
    (1, 2)

    """
    found = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if shape is not None:
        try:
            found = np.broadcast_to(found, shape)
        except ValueError:
            raise SupplyError(
                f"{name} has the shape {found.shape}, {shape[0]} sites of {shape[1]} h are needed."
            ) from None
    bad = ~(np.isfinite(found) & (found >= 0.0))
    if bad.any():
        site, hour = (int(one[0]) for one in np.nonzero(bad))
        raise SupplyError(
            f"{name}: {int(bad.sum())} of {found.size} hours are missing or negative, first hour {hour} of site {site} "
            f"({found[site, hour]:g}): fill or leave out these hours, nothing is put in their place."
        )
    return found


def greedy(load_facility_kwh: Any, generation_facility_kwh: Any, batteries: Sequence[Battery]) -> Dispatch:
    """Return the dispatch of the greedy rule: surplus charges, a deficit discharges, the grid does the rest.

    Parameters
    ----------
    load_facility_kwh, generation_facility_kwh : array, shape (hours,) or (sites, hours), kWh
        Of each hour.
    batteries : sequence of Battery
        One a site.

    Returns
    -------
    Dispatch
        Arrays of shape (sites, hours).

    Raises
    ------
    SupplyError
        Hours are missing or shapes differ.

    Notes
    -----
    What an hour would do to the cells does not depend on their state, only its bounds do: s' = min(k s + step, most),
    not below min(least, k s). That recursion runs over hours, for all sites at once; the rest is arithmetic on whole
    arrays. It never charges from the grid.

    Examples
    --------
    >>> battery = Battery(10.0, 5.0, 5.0, 1.0, 1.0)
    >>> found = greedy([2.0, 2.0, 2.0], [5.0, 0.0, 0.0], [battery])
    >>> found.grid_facility_kwh.tolist(), found.stored_kwh.tolist()
    ([[0.0, 0.0, 1.0]], [[0.0, 3.0, 1.0, 0.0]])

    """
    load = hours_of_sites(load_facility_kwh, "The load")
    generation = hours_of_sites(generation_facility_kwh, "The generation", load.shape)
    if len(batteries) != load.shape[0]:
        raise SupplyError(
            f"There are {len(batteries)} batteries for {load.shape[0]} sites: one each, of 0 kWh for none."
        )
    own = batteries_of(batteries)
    surplus = generation - load
    taken = np.minimum(np.maximum(surplus, 0.0), own.charge_power_kw[:, None]) * own.charge_efficiency[:, None]
    given = np.minimum(np.maximum(-surplus, 0.0), own.discharge_power_kw[:, None]) / own.discharge_efficiency[:, None]
    stored = _stored(np.ascontiguousarray((taken - given).T), own)
    change = stored[:, 1:] - own.kept[:, None] * stored[:, :-1]
    charge = np.minimum(np.maximum(change, 0.0) / own.charge_efficiency[:, None], np.maximum(surplus, 0.0))
    discharge = np.minimum(np.maximum(-change, 0.0) * own.discharge_efficiency[:, None], np.maximum(-surplus, 0.0))
    return dispatched(load, generation, charge, discharge, stored, own)


def dispatched(
    load: Numbers, generation: Numbers, charge: Numbers, discharge: Numbers, stored: Numbers, own: Batteries
) -> Dispatch:
    """Return the hours of flows: what is left over or lacking goes to or comes from the grid; the balance is checked.

    Parameters
    ----------
    load, generation, charge, discharge : arrays, shape (sites, hours), kWh_facility
    stored : array, shape (sites, hours + 1), kWh in the cells
    own : Batteries
    """
    net = load - generation + charge - discharge
    return Dispatch(
        load_facility_kwh=load,
        generation_facility_kwh=generation,
        charge_facility_kwh=charge,
        discharge_facility_kwh=discharge,
        grid_facility_kwh=np.maximum(net, 0.0),
        excess_facility_kwh=np.maximum(-net, 0.0),
        stored_kwh=stored,
        batteries=own,
    ).checked()


def _stored(steps: Numbers, own: Batteries) -> Numbers:
    """Return the energy in the cells, shape (sites, hours + 1), from what each hour would do, shape (hours, sites)."""
    hours, sites = steps.shape
    levels = np.empty((hours + 1, sites))
    levels[0] = own.first_kwh
    kept = own.kept
    leaks = bool(np.any(kept < 1.0))
    state, floor = own.first_kwh.copy(), own.least_kwh.copy()
    for hour in range(hours):
        if leaks:
            np.multiply(state, kept, out=state)
            np.minimum(state, own.least_kwh, out=floor)
        np.add(state, steps[hour], out=state)
        np.minimum(state, own.most_kwh, out=state)
        np.maximum(state, floor, out=state)
        levels[hour + 1] = state
    return np.ascontiguousarray(levels.T)
