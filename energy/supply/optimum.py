"""The best dispatch of one site over its hours: a linear program, solved by HiGHS."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.supply.battery import Battery, batteries_of
from energy.supply.dispatch import Dispatch, dispatched, hours_of_sites
from energy.supply.extra import needs

Numbers = NDArray[np.float64]
_SAME_HOUR_KWH = 1e-6
_END_SLACK = 1e-9  # a dispatch that ends where another did must not fail by rounding
_TIE_BREAK = 1e-6  # ten times what the solver tells apart


@dataclass(frozen=True, slots=True)
class Terms:
    """What an hour's energy counts for, in the goal's unit per kWh_facility, and the limits of the connection.

    Attributes
    ----------
    grid_per_kwh : array, shape (hours,)
        Of energy from the grid: a price, an intensity, or the share that is not carbon-free.
    sold_per_kwh : array, shape (hours,), or None
        Gained for energy fed in; None: feeding in gains nothing.
    grid_limit_kw, sold_limit_kw : float or None
        Of the connection in each direction; None: no limit.
    wear_per_kwh : float
        Of energy that leaves the battery.
    may_charge_from_grid : bool
        Otherwise the battery holds own surplus only, and gives to the load only.
    """

    grid_per_kwh: Numbers
    sold_per_kwh: Numbers | None = None
    grid_limit_kw: float | None = None
    sold_limit_kw: float | None = None
    wear_per_kwh: float = 0.0
    may_charge_from_grid: bool = False

    def value_of(self, dispatch: Dispatch) -> float:
        """Return what a dispatch of one site counts for: lower is better."""
        bought = float(self.grid_per_kwh @ dispatch.grid_facility_kwh[0])
        wear = self.wear_per_kwh * float(dispatch.discharge_facility_kwh.sum())
        if self.sold_per_kwh is None:
            return bought + wear
        most = np.inf if self.sold_limit_kw is None else self.sold_limit_kw
        sold = np.where(self.sold_per_kwh > 0.0, np.minimum(dispatch.excess_facility_kwh[0], most), 0.0)
        return bought + wear - float(self.sold_per_kwh @ sold)


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The best dispatch and what is known of it.

    Attributes
    ----------
    dispatch : Dispatch
        Of one site.
    value : float
        Of the dispatch, in the goal's unit.
    bound : float
        No dispatch does better, to 1e-6 of what is charged. Equal to the value, but where the program charges and
        discharges, or buys and sells, in one hour to gain by a negative price or by a higher one for what is sold: one
        meter sees the difference alone.
    seconds : float, s
        To build and to solve.
    netted_h : int
        Hours in which that was taken out of the dispatch.
    """

    dispatch: Dispatch
    value: float
    bound: float
    seconds: float
    netted_h: int


def optimal(
    load_facility_kwh: Any,
    generation_facility_kwh: Any,
    battery: Battery,
    terms: Terms,
    *,
    end_at_least_kwh: float | None = None,
) -> Optimum:
    """Return the dispatch of one site that counts for least over all hours, each hour known in advance.

    Parameters
    ----------
    load_facility_kwh, generation_facility_kwh : array, shape (hours,), kWh
    battery : Battery
    terms : Terms
    end_at_least_kwh : float, kWh, optional
        What the cells hold at the end; without it what they held at the start. To compare with another dispatch, what
        that one left.

    Returns
    -------
    Optimum

    Raises
    ------
    SupplyError
        Hours are missing, or nothing serves the load within the limits.

    Notes
    -----
    Over hours h: minimise sum(w g + wear d - v e) with g + d - c - e >= load - generation; s = k s' + eta_c c - d /
    eta_d; bounds of power, window and connection. The grid serves load and battery only, g <= load + c; where the
    battery may not charge from it, g + d <= load, which leaves own generation alone to c and e. g from the grid, c and
    d charge and discharge, e sold, s stored; the slack of the balance is curtailed. Sparse; a cost of 1e-6 of the mean
    weight on charging keeps the battery still where nothing is gained; the optimum is right to that part of what is
    charged.

    Examples
    --------
    >>> battery = Battery(10.0, 5.0, 5.0, 1.0, 1.0)
    >>> prices = Terms(np.array([0.1, 0.5]), may_charge_from_grid=True)
    >>> found = optimal([2.0, 2.0], [0.0, 0.0], battery, prices)
    >>> found.dispatch.grid_facility_kwh.round(6).tolist(), round(found.value, 6)
    ([[4.0, 0.0]], 0.4)

    """
    needs("scipy")
    from scipy import optimize  # noqa: F401 - the clock is of this dispatch, not of the first import

    began = time.perf_counter()
    load = hours_of_sites(load_facility_kwh, "The load")
    generation = hours_of_sites(generation_facility_kwh, "The generation", load.shape)
    if load.shape[0] != 1:
        raise SupplyError(f"optimal() takes one site, got {load.shape[0]}: call it for each.")
    _check(terms, load.shape[1])
    end = battery.initial_state * battery.capacity_kwh if end_at_least_kwh is None else end_at_least_kwh
    solved, bound = _solve(load[0], generation[0], battery, terms, end)
    dispatch, netted = dispatch_of(solved, load, generation, battery)
    return Optimum(dispatch, terms.value_of(dispatch), bound, time.perf_counter() - began, netted)


def _check(terms: Terms, hours: int) -> None:
    for name in ("grid_per_kwh", "sold_per_kwh"):
        values = getattr(terms, name)
        if values is not None and (values.shape != (hours,) or not np.isfinite(values).all()):
            raise SupplyError(f"{name} has the shape {values.shape} or missing values; {hours} finite ones are needed.")


def _solve(load: Numbers, generation: Numbers, battery: Battery, terms: Terms, end_kwh: float) -> tuple[Numbers, float]:
    """Return the variables c, d, g, s and, where energy is sold, e as rows, and the least value.

    Curtailment is the slack of the balance. Where nothing is sold and no weight is below zero, no more is bought than
    is needed, and that own surplus alone charges is a bound of c: these rows are left out, which halves the time.
    """
    needs("scipy")
    from scipy import optimize, sparse

    hours = load.size
    own = batteries_of([battery])
    kept = float(own.kept[0])
    one = sparse.identity(hours, format="csr")
    cells = one - sparse.diags([np.full(hours - 1, kept)], offsets=[-1], shape=(hours, hours), format="csr")
    nothing = sparse.csr_matrix((hours, hours))
    sells = terms.sold_per_kwh is not None
    balance = [one, -one, -one, nothing, one]
    limits = [-one, nothing, one] if terms.may_charge_from_grid else [nothing, one, one]
    limited = [*limits, nothing, nothing]
    columns = 5 if sells else 4
    is_plain = not sells and float(terms.grid_per_kwh.min()) >= 0.0
    rows = [balance[:columns]] if is_plain else [balance[:columns], limited[:columns]]
    stored = [-battery.charge_efficiency * one, one / battery.discharge_efficiency, nothing, cells, nothing]
    first = np.zeros(hours)
    first[0] = kept * own.first_kwh[0]
    # in units of the mean weight, since the solver's tolerances are absolute
    unit = float(np.abs(terms.grid_per_kwh).mean()) or 1.0
    moved = np.repeat([_TIE_BREAK, terms.wear_per_kwh / unit], hours)
    sold = [] if terms.sold_per_kwh is None else [-terms.sold_per_kwh / unit]
    bounds = _bounds(load, generation, battery, terms, end_kwh, is_plain=is_plain)
    answer = optimize.linprog(
        np.concatenate([moved, terms.grid_per_kwh / unit, np.zeros(hours), *sold]),
        A_ub=sparse.bmat(rows, format="csc"),
        b_ub=np.concatenate([generation - load] if is_plain else [generation - load, load]),
        A_eq=sparse.hstack(stored[:columns], format="csc"),
        b_eq=first,
        bounds=bounds[: columns * hours],
        method="highs-ds",
    )
    if answer.status == 2:
        raise SupplyError(
            f"Dispatch: nothing serves the load of {load.max():g} kW at most within the grid limit of "
            f"{terms.grid_limit_kw} kW and an end of {end_kwh:g} kWh in the cells: raise the limit or the battery."
        )
    if answer.status != 0:
        raise SupplyError(f"Dispatch: the program was not solved ({answer.message.splitlines()[0]}).")
    solved: Numbers = answer.x.reshape(columns, hours)
    return solved, unit * float(answer.fun - _TIE_BREAK * solved[0].sum())


def _bounds(
    load: Numbers, generation: Numbers, battery: Battery, terms: Terms, end_kwh: float, *, is_plain: bool
) -> Numbers:
    """Return least and most of c, d, g, s, e, shape (5 hours, 2)."""
    own = batteries_of([battery])
    most_kwh = float(own.most_kwh[0])
    if end_kwh > most_kwh + 1e-9:
        raise SupplyError(f"The battery cannot end with {end_kwh:g} kWh: its window ends at {most_kwh:g} kWh.")
    # with a leak the cells may sink below the window by themselves, no faster than from its end
    least_kwh = own.least_kwh[0] * own.kept[0] ** np.arange(1.0, load.size + 1.0)
    bounds = np.zeros((5, load.size, 2))
    bounds[0, :, 1] = battery.charge_power_kw
    bounds[1, :, 1] = battery.discharge_power_kw
    bounds[2, :, 1] = np.inf if terms.grid_limit_kw is None else terms.grid_limit_kw
    bounds[3, :, 0], bounds[3, :, 1] = least_kwh, most_kwh
    bounds[3, -1, 0] = max(float(least_kwh[-1]), min(end_kwh, most_kwh) - _END_SLACK * most_kwh)
    bounds[4, :, 1] = np.inf if terms.sold_limit_kw is None else terms.sold_limit_kw
    if is_plain:
        bounds[1, :, 1] = np.minimum(bounds[1, :, 1], load)
        if not terms.may_charge_from_grid:
            bounds[0, :, 1] = np.minimum(bounds[0, :, 1], generation)
    return bounds.reshape(-1, 2)


def dispatch_of(solved: Numbers, load: Numbers, generation: Numbers, battery: Battery) -> tuple[Dispatch, int]:
    """Return the dispatch of a program's c, d, g, s (and e), and the hours in which opposite flows were netted.

    Flows are made from the change of the cells, so charge and discharge exclude each other and every hour balances.
    """
    own = batteries_of([battery])
    stored = np.concatenate([own.first_kwh, np.minimum(np.maximum(solved[3], 0.0), own.most_kwh[0])])[None, :]
    change = stored[:, 1:] - own.kept[:, None] * stored[:, :-1]
    charge = np.maximum(change, 0.0) / battery.charge_efficiency
    discharge = np.maximum(-change, 0.0) * battery.discharge_efficiency
    together = np.minimum(solved[0], solved[1]) > _SAME_HOUR_KWH
    if len(solved) > 4:
        together |= np.minimum(solved[2], solved[4]) > _SAME_HOUR_KWH
    return dispatched(load, generation, charge, discharge, stored, own), int(np.count_nonzero(together))
