"""Load that may run later or elsewhere: by a greedy rule and by linear programs; energy is conserved, and asserted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import BasisError, SupplyError
from energy.provenance import Basis
from energy.supply.dispatch import hours_of_sites
from energy.supply.extra import needs

Numbers = NDArray[np.float64]
_TOLERANCE = 1e-9
_SOLVED = 1e-6  # of the solver, in capacities and deadlines; energy is conserved to the tolerance above


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """A load before and after; IT energy, since moving a job changes what the site adds to it.

    ``before_it_kwh`` and ``after_it_kwh`` have the shape (sites, hours); ``moved_it_kwh`` ran in another hour or place.
    """

    before_it_kwh: Numbers
    after_it_kwh: Numbers

    @property
    def moved_it_kwh(self) -> float:
        """Energy that runs in another hour or at another site than before."""
        return float(np.maximum(self.after_it_kwh - self.before_it_kwh, 0.0).sum())


@dataclass(frozen=True, slots=True)
class Saving:
    """What a shift saves by one intensity; ``basis.method`` says by which, and no two methods are ever added."""

    emissions_before_kgco2e: float
    emissions_after_kgco2e: float
    basis: Basis

    @property
    def saved_kgco2e(self) -> float:
        """Before less after; below zero where the shift does harm."""
        return self.emissions_before_kgco2e - self.emissions_after_kgco2e


def in_time(
    flexible_it_kwh: Any, capacity_it_kwh: Any, signal_per_kwh: Any, *, latest_h: int, rule: str = "greedy"
) -> Shift:
    """Return when load runs that may wait up to a number of hours, never starting before it came.

    Parameters
    ----------
    flexible_it_kwh : array, shape (hours,) or (sites, hours), kWh
        What comes in each hour.
    capacity_it_kwh : array of the same shape or float, kWh
        What may run in each hour; at least what comes, so that running at once is possible.
    signal_per_kwh : array of the same shape
        Price or intensity per kWh_it; the same signal times PUE where the site adds to it. May be below zero.
    latest_h : int
        Hours that load may wait; it ends within the data, so the last hours may wait less.
    rule : greedy or optimum
        Greedy places load by order of arrival in the cheapest hour that has room; the optimum is a linear program.

    Returns
    -------
    Shift

    Raises
    ------
    SupplyError
        Hours are missing, the capacity does not hold what comes, or energy was not conserved.

    Notes
    -----
    With one wait for all load, a schedule r is feasible where A(t - latest) <= R(t) <= A(t) with cumulated arrivals A
    and cumulated r, which is the program's only coupling. The greedy rule keeps room for what has yet to come in its
    own hour, so it never fails; it runs over hours, for all sites at once.

    Examples
    --------
    >>> in_time([1.0, 0.0, 0.0], 2.0, [3.0, 2.0, 1.0], latest_h=1).after_it_kwh.tolist()
    [[0.0, 1.0, 0.0]]

    """
    load = hours_of_sites(flexible_it_kwh, "The flexible load")
    room = hours_of_sites(capacity_it_kwh, "The capacity", load.shape)
    signal = _signal(signal_per_kwh, load.shape)
    if latest_h < 0:
        raise SupplyError(f"Load cannot wait {latest_h} h: give 0 or more.")
    _check_room(load, room)
    if rule == "greedy":
        after = _greedy_in_time(load, room, signal, latest_h)
    elif rule == "optimum":
        after = np.stack([_best_in_time(*one, latest_h) for one in zip(load, room, signal, strict=True)])
    else:
        raise SupplyError(f"The rule {rule!r} is neither greedy nor optimum.")
    _check_deadlines(load, after, latest_h)
    return _checked(load, after, room, axis=1)


def in_place(movable_it_kwh: Any, capacity_it_kwh: Any, signal_per_kwh: Any) -> Shift:
    """Return at which site load runs that may run at any of them in its own hour.

    Parameters
    ----------
    movable_it_kwh, capacity_it_kwh, signal_per_kwh : array, shape (sites, hours)
        As in :func:`in_time`; the sites hold the load of each hour together.

    Returns
    -------
    Shift

    Raises
    ------
    SupplyError
        Hours are missing, the sites do not hold the load of an hour, or energy was not conserved.

    Notes
    -----
    Each hour fills the sites in the order of their signal: with capacities alone that is the optimum of the hour.

    Examples
    --------
    >>> in_place([[2.0], [0.0]], [[2.0], [1.0]], [[5.0], [1.0]]).after_it_kwh.tolist()
    [[1.0], [1.0]]

    """
    load = hours_of_sites(movable_it_kwh, "The movable load")
    room = hours_of_sites(capacity_it_kwh, "The capacity", load.shape)
    signal = _signal(signal_per_kwh, load.shape)
    over = load.sum(axis=0) - room.sum(axis=0)
    if over.max(initial=0.0) > _TOLERANCE * max(1.0, float(load.max(initial=0.0))):
        raise SupplyError(f"All sites together lack {over.max():g} kWh in hour {int(over.argmax())}: add capacity.")
    order = np.argsort(signal, axis=0, kind="stable")
    ordered = np.take_along_axis(room, order, axis=0)
    earlier = np.cumsum(ordered, axis=0) - ordered
    filled = np.minimum(np.maximum(load.sum(axis=0) - earlier, 0.0), ordered)
    after = np.empty_like(load)
    np.put_along_axis(after, order, filled, axis=0)
    return _checked(load, after, room, axis=0)


def in_time_and_place(flexible_it_kwh: Any, capacity_it_kwh: Any, signal_per_kwh: Any, *, latest_h: int) -> Shift:
    """Return where and when load runs that may wait and may run at any site: a linear program over all sites.

    Parameters
    ----------
    flexible_it_kwh, capacity_it_kwh, signal_per_kwh : array, shape (sites, hours)
    latest_h : int
        As in :func:`in_time`.

    Returns
    -------
    Shift

    Raises
    ------
    SupplyError
        Hours are missing, or the sites do not hold the load in time.

    Examples
    --------
    >>> found = in_time_and_place([[2.0, 0.0], [0.0, 0.0]], 1.0, [[5.0, 4.0], [1.0, 3.0]], latest_h=1)
    >>> found.after_it_kwh.round(6).tolist()
    [[0.0, 0.0], [1.0, 1.0]]

    """
    load = hours_of_sites(flexible_it_kwh, "The flexible load")
    room = hours_of_sites(capacity_it_kwh, "The capacity", load.shape)
    after = _program(load.sum(axis=0), room, _signal(signal_per_kwh, load.shape), latest_h)
    _check_deadlines(load.sum(axis=0, keepdims=True), after.sum(axis=0, keepdims=True), latest_h)
    return _checked(load, after, room, axis=None)


def saving(shift: Shift, intensity_kgco2e_per_kwh_facility: Any, pue: Any, basis: Basis) -> Saving:
    """Return what a shift saves by one intensity, average or marginal.

    Parameters
    ----------
    shift : Shift
    intensity_kgco2e_per_kwh_facility : array, shape (hours,) or (sites, hours)
        May be below zero for a marginal one.
    pue : float or array of that shape, kWh_facility/kWh_it
    basis : Basis
        Its method must be named: ``marginal`` for what the grid would have done otherwise, ``hourly`` or ``location``
        for the average of the hour.

    Returns
    -------
    Saving

    Raises
    ------
    BasisError
        The basis names no method.
    SupplyError
        A value is missing.

    Examples
    --------
    >>> shift = in_time([1.0, 0.0], 1.0, [0.5, 0.2], latest_h=1)
    >>> found = saving(shift, [0.5, 0.2], 1.2, Basis(method="hourly"))
    >>> round(found.saved_kgco2e, 3), found.basis.method
    (0.36, 'hourly')

    """
    if basis.method is None:
        raise BasisError("A saving needs the method of its intensity: Basis(method='marginal') or (method='hourly').")
    weight = _signal(intensity_kgco2e_per_kwh_facility, shift.before_it_kwh.shape)
    weight = weight * hours_of_sites(pue, "The PUE", shift.before_it_kwh.shape)
    return Saving(float((weight * shift.before_it_kwh).sum()), float((weight * shift.after_it_kwh).sum()), basis)


def added(parts: list[Saving]) -> Saving:
    """Return the sum of savings of one method.

    Raises
    ------
    BasisError
        Their bases differ: savings by average and by marginal intensity are never added.
    SupplyError
        There are none.

    Examples
    --------
    >>> one = Saving(2.0, 1.0, Basis(method="marginal"))
    >>> added([one, one]).saved_kgco2e
    2.0

    """
    if not parts:
        raise SupplyError("There is no saving to add.")
    for part in parts:
        if part.basis != parts[0].basis:
            raise BasisError(
                f"Savings on the bases {parts[0].basis.described()!r} and {part.basis.described()!r} are never added: "
                "report them side by side."
            )
    return Saving(
        sum(part.emissions_before_kgco2e for part in parts),
        sum(part.emissions_after_kgco2e for part in parts),
        parts[0].basis,
    )


def _signal(values: Any, shape: tuple[int, ...]) -> Numbers:
    found = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
    if not np.isfinite(found).all():
        raise SupplyError(
            f"The signal lacks {int((~np.isfinite(found)).sum())} of {found.size} hours: fill or cut them."
        )
    return found


def _check_room(load: Numbers, room: Numbers) -> None:
    over = load - room
    if over.max(initial=0.0) > _TOLERANCE * max(1.0, float(load.max(initial=0.0))):
        site, hour = np.unravel_index(int(over.argmax()), over.shape)
        raise SupplyError(
            f"Site {site}, hour {hour}: {load[site, hour]:g} kWh come and {room[site, hour]:g} kWh may run: raise the "
            "capacity."
        )


def _checked(before: Numbers, after: Numbers, room: Numbers, *, axis: int | None) -> Shift:
    """Return the shift after its conservation was asserted: per site over time, per hour over sites, or in all."""
    lost = float(np.max(np.abs(before.sum(axis=axis) - after.sum(axis=axis)), initial=0.0))
    over = float(np.max(after - room, initial=0.0))
    total, most = float(before.sum()), float(room.max(initial=0.0))
    if lost > _TOLERANCE * (total + most) or over > _SOLVED * most or after.min(initial=0.0) < 0.0:
        raise SupplyError(f"A shift lost {lost:.3g} kWh or exceeds a capacity by {over:.3g} kWh; report it.")
    return Shift(before, after)


def _check_deadlines(load: Numbers, after: Numbers, latest_h: int) -> None:
    come, done = np.cumsum(load, axis=1), np.cumsum(after, axis=1)
    due = np.concatenate([np.zeros((len(come), min(latest_h, come.shape[1]))), come], axis=1)[:, : come.shape[1]]
    scale = _SOLVED * float(load.sum())
    if (done - come).max(initial=0.0) > scale or (due - done).max(initial=0.0) > scale:
        raise SupplyError("A shift ran load before it came or after its deadline; report it.")


def _greedy_in_time(load: Numbers, room: Numbers, signal: Numbers, latest_h: int) -> Numbers:
    """Place each hour's load in the cheapest hours with room until its deadline, all sites at once."""
    sites, hours = load.shape
    free = np.maximum(room - load, 0.0)  # what comes in an hour keeps its room until it is placed
    after = np.zeros_like(load)
    row = np.arange(sites)[:, None]
    for hour in np.flatnonzero(load.any(axis=0)):
        window = slice(hour, min(hour + latest_h + 1, hours))
        free[:, hour] += load[:, hour]
        order = np.argsort(signal[:, window], axis=1, kind="stable") + hour
        ordered = free[row, order]
        earlier = np.cumsum(ordered, axis=1) - ordered
        placed = np.minimum(np.maximum(load[:, hour : hour + 1] - earlier, 0.0), ordered)
        after[row, order] += placed
        free[row, order] -= placed
    return after


def _best_in_time(load: Numbers, room: Numbers, signal: Numbers, latest_h: int) -> Numbers:
    best: Numbers = _program(load, room[None, :], signal[None, :], latest_h)[0]
    return best


def _program(load: Numbers, room: Numbers, signal: Numbers, latest_h: int) -> Numbers:
    """Return the best schedule of one stream of load over sites: shape (sites, hours)."""
    needs("scipy")
    from scipy import optimize, sparse

    if latest_h < 0:
        raise SupplyError(f"Load cannot wait {latest_h} h: give 0 or more.")
    sites, hours = room.shape
    # in units of the load and of the signal, since the solver's tolerances are absolute
    unit = float(load.max(initial=0.0)) or 1.0
    weight = float(np.abs(signal).mean()) or 1.0
    come = np.cumsum(load / unit)
    due = np.concatenate([np.zeros(min(latest_h, hours)), come])[:hours]
    due = np.maximum(due - _TOLERANCE, 0.0)  # what just fits must not fail by rounding
    due[-1] = come[-1]  # all is done at the end
    one = sparse.identity(hours, format="csr")
    step = one - sparse.eye(hours, k=-1, format="csr")
    answer = optimize.linprog(
        np.concatenate([signal.ravel() / weight, np.zeros(hours)]),
        A_eq=sparse.hstack([*[one] * sites, -step], format="csc"),
        b_eq=np.zeros(hours),
        bounds=np.concatenate(
            [np.stack([np.zeros(room.size), room.ravel() / unit], axis=1), np.stack([due, come], axis=1)]
        ),
        method="highs-ds",
    )
    if answer.status == 2:
        raise SupplyError(f"The load does not fit within {latest_h} h and the capacity: allow more of either.")
    if answer.status != 0:
        raise SupplyError(f"The shift was not solved ({answer.message.splitlines()[0]}).")
    by_site = np.maximum(answer.x[: sites * hours].reshape(sites, hours), 0.0)
    # the cumulated load is within its bounds; single hours are made to follow it, so that no rounding adds up
    in_all = np.maximum(np.diff(answer.x[sites * hours :], prepend=0.0), 0.0)
    found = by_site.sum(axis=0)
    solved: Numbers = by_site * np.divide(in_all, found, out=np.zeros(hours), where=found > 0.0) * unit
    total = float(solved.sum())
    return solved * (float(load.sum()) / total) if total > 0.0 else solved
