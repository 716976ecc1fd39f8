"""How much sun, wind and battery to build: capacities and dispatch in one linear program."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.supply.battery import Battery
from energy.supply.dispatch import Dispatch, greedy, hours_of_sites
from energy.supply.extra import needs
from energy.supply.optimum import dispatch_of

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plant:
    """A plant whose capacity is asked for.

    Attributes
    ----------
    name : str
    profile : array, shape (hours,), kWh_facility per kW of capacity and hour
    cost_usd_per_kw_y : float
        Of a year: investment written off, with operation.
    embodied_kgco2e_per_kw_y : float
        Of the making, over the years of service.
    most_kw : float or None
        What the site allows.
    """

    name: str
    profile: Numbers
    cost_usd_per_kw_y: float
    embodied_kgco2e_per_kw_y: float
    most_kw: float | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """A battery whose capacity is asked for.

    Attributes
    ----------
    unit : Battery
        Of 1 kWh: its powers are the C-rates; it begins the year as it ends it.
    cost_usd_per_kwh_y, embodied_kgco2e_per_kwh_y : float
        Of a year and a kWh of capacity.
    most_kwh : float or None
    """

    unit: Battery
    cost_usd_per_kwh_y: float
    embodied_kgco2e_per_kwh_y: float
    most_kwh: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the sizes are chosen for.

    Attributes
    ----------
    price_usd_per_kwh_facility, intensity_kgco2e_per_kwh_facility : array, shape (hours,)
        Of energy from the grid.
    usd_per_kgco2e : float
        What a kg counts for beside money, embodied carbon included; 0 leaves carbon out.
    usd_counts : bool
        False: carbon alone is made least.
    grid_cfe_share : array, shape (hours,)
        Carbon-free share of the grid, for the score; 0 counts own plants alone.
    least_score : float or None
        24/7 score that has to be reached.
    """

    price_usd_per_kwh_facility: Numbers
    intensity_kgco2e_per_kwh_facility: Numbers
    grid_cfe_share: Numbers
    usd_per_kgco2e: float = 0.0
    usd_counts: bool = True
    least_score: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """Chosen capacities, and the year with them.

    ``value`` is in USD, or in kg CO2e where money does not count; ``cost_usd`` and ``emissions_kgco2e`` are of the
    hours with plants, battery and grid, each in full. ``dispatch`` is the program's own; ``greedy_score`` says what the
    greedy rule makes of the same plants, since no operator knows the year in advance.
    """

    capacity_kw: Mapping[str, float]
    battery: Battery
    dispatch: Dispatch
    value: float
    cost_usd: float
    emissions_kgco2e: float
    score: float
    greedy_score: float
    seconds: float


def size(
    load_facility_kwh: Any,
    plants: Sequence[Plant],
    storage: Storage,
    wanted: Wanted,
    *,
    generation_facility_kwh: Any = 0.0,
) -> Size:
    """Return the capacities of plants and battery that count for least over the hours.

    Parameters
    ----------
    load_facility_kwh : array, shape (hours,), kWh
    plants : sequence of Plant
    storage : Storage
    wanted : Wanted
    generation_facility_kwh : array, shape (hours,), kWh
        Of plants that stand already.

    Returns
    -------
    Size

    Raises
    ------
    SupplyError
        Hours are missing, or the score is out of reach within what the site allows.

    Notes
    -----
    Variables: capacity of each plant and of the battery; by hour c, d, g, s as in
    :func:`energy.supply.optimum.optimal`, the battery charging from own generation only (c <= generation) and surplus
    sold for nothing. Costs of a year count for hours / 8,760. Score: 1 - sum(g (1 - share)) / sum(load), an inequality
    of the program where it is wanted.

    Examples
    --------
    >>> two = np.array([1.0, 0.0])
    >>> plant = Plant("sun", two, 8760.0, 0.0)
    >>> storage = Storage(Battery(1.0, 1.0, 1.0, 1.0, 1.0), 0.0, 0.0)
    >>> flat = np.ones(2)
    >>> found = size([1.0, 1.0], [plant], storage, Wanted(flat, flat, 0.0 * flat, least_score=1.0))
    >>> round(found.capacity_kw["sun"], 6), round(found.battery.capacity_kwh, 6), round(found.score, 6)
    (2.0, 1.0, 1.0)

    """
    began = time.perf_counter()
    load = hours_of_sites(load_facility_kwh, "The load")
    standing = hours_of_sites(generation_facility_kwh, "The generation", load.shape)
    if load.shape[0] != 1:
        raise SupplyError(f"size() takes one site, got {load.shape[0]}: call it for each.")
    profiles = [hours_of_sites(one.profile, f"The profile of {one.name}", load.shape)[0] for one in plants]
    solved = _solve(load[0], standing[0], plants, profiles, storage, wanted)
    count = len(plants)
    capacity = {one.name: float(value) for one, value in zip(plants, solved, strict=False)}
    battery = _scaled(storage.unit, float(solved[count]))
    hourly = solved[count + 1 :].reshape(4, load.size)
    generation = standing + sum(kw * one for kw, one in zip(capacity.values(), profiles, strict=True))
    if battery.capacity_kwh > 0.0:
        first = min(max(float(hourly[3, -1]) / battery.capacity_kwh, battery.minimum_state), battery.maximum_state)
        battery = replace(battery, initial_state=first)
    dispatch = dispatch_of(hourly, load, generation, battery)[0]
    return _priced(dispatch, battery, capacity, plants, storage, wanted, time.perf_counter() - began)


def _scaled(unit: Battery, capacity_kwh: float) -> Battery:
    scale = capacity_kwh / unit.capacity_kwh
    return replace(
        unit,
        capacity_kwh=capacity_kwh,
        charge_power_kw=unit.charge_power_kw * scale,
        discharge_power_kw=unit.discharge_power_kw * scale,
    )


def _weights(plants: Sequence[Plant], storage: Storage, wanted: Wanted, hours: int) -> tuple[Numbers, float, Numbers]:
    """Return what a kW of each plant, a kWh of battery and a kWh of each hour count for."""
    money, carbon = float(wanted.usd_counts), wanted.usd_per_kgco2e if wanted.usd_counts else 1.0
    year = hours / 8760.0
    plant = [money * one.cost_usd_per_kw_y + carbon * one.embodied_kgco2e_per_kw_y for one in plants]
    cell = money * storage.cost_usd_per_kwh_y + carbon * storage.embodied_kgco2e_per_kwh_y
    grid = money * wanted.price_usd_per_kwh_facility + carbon * wanted.intensity_kgco2e_per_kwh_facility
    return np.array(plant) * year, cell * year, grid


def _solve(
    load: Numbers,
    standing: Numbers,
    plants: Sequence[Plant],
    profiles: Sequence[Numbers],
    storage: Storage,
    wanted: Wanted,
) -> Numbers:
    """Return capacities of the plants and the battery, then c, d, g, s less what the window keeps."""
    needs("scipy")
    from scipy import optimize

    hours = load.size
    plant_weight, cell_weight, grid_weight = _weights(plants, storage, wanted, hours)
    if wanted.grid_cfe_share.shape != (hours,):
        raise SupplyError(f"The grid's carbon-free share has {wanted.grid_cfe_share.size} values, {hours} are needed.")
    if grid_weight.shape != (hours,) or not np.isfinite(grid_weight).all() or grid_weight.min() < 0.0:
        raise SupplyError(f"Prices and intensities must be {hours} finite values, none below zero, to choose sizes by.")
    # in units of the mean load and the mean weight, since the solver's tolerances are absolute
    unit, weight = float(load.mean()) or 1.0, float(grid_weight.mean()) or 1.0
    most = [(standing - load) / unit, standing / unit, np.zeros(3 * hours)]
    if wanted.least_score is not None:
        most.append(np.array([(1.0 - wanted.least_score) * load.sum() / unit]))
    limits = [None if one is None else one / unit for one in (*(one.most_kw for one in plants), storage.most_kwh)]
    costs = [plant_weight, np.array([cell_weight]), np.zeros(2 * hours), grid_weight, np.zeros(hours)]
    bounded, equal = _matrices(profiles, storage.unit, wanted)
    answer = optimize.linprog(
        np.concatenate(costs) / weight,
        A_ub=bounded,
        b_ub=np.concatenate(most),
        A_eq=equal,
        b_eq=np.zeros(hours),
        bounds=[*((0.0, one) for one in limits), *[(0.0, None)] * (4 * hours)],
        method="highs-ds",
    )
    if answer.status == 2:
        raise SupplyError(
            f"No sizes reach a score of {wanted.least_score} within what the site allows: ask for less, or allow more."
        )
    if answer.status != 0:
        raise SupplyError(f"The sizes were not found ({answer.message.splitlines()[0]}).")
    solved: Numbers = np.maximum(answer.x, 0.0) * unit
    solved[-hours:] += storage.unit.minimum_state * solved[len(plants)]
    return solved


def _matrices(profiles: Sequence[Numbers], unit: Battery, wanted: Wanted) -> tuple[Any, Any]:
    """Return what is bounded (balance, own charge, powers, window, score) and what is equal (cells, hour to hour).

    The columns are the capacities, then c, d, g, s by hour; s counts from the low end of the window.
    """
    from scipy import sparse

    hours = wanted.grid_cfe_share.size
    one = sparse.identity(hours, format="csr")
    made = [sparse.csc_matrix(-profile[:, None]) for profile in profiles]
    none = [sparse.csc_matrix((hours, 1)) for _ in profiles]

    def per_kwh(value: float) -> Any:
        return sparse.csc_matrix(np.full((hours, 1), value))

    rows = [
        [*made, per_kwh(0.0), one, -one, -one, None],
        [*made, per_kwh(0.0), one, None, None, None],
        [*none, per_kwh(-unit.charge_power_kw / unit.capacity_kwh), one, None, None, None],
        [*none, per_kwh(-unit.discharge_power_kw / unit.capacity_kwh), None, one, None, None],
        [*none, per_kwh(unit.minimum_state - unit.maximum_state), None, None, None, one],
    ]
    if wanted.least_score is not None:
        blank, wide = [sparse.csr_matrix((1, 1))] * (len(profiles) + 1), sparse.csr_matrix((1, hours))
        rows.append([*blank, wide, wide, sparse.csr_matrix((1.0 - wanted.grid_cfe_share)[None, :]), wide])
    kept = 1.0 - unit.self_discharge_per_h
    before = sparse.csr_matrix((np.ones(hours), (np.arange(hours), np.arange(-1, hours - 1) % hours)))
    lost = per_kwh((1.0 - kept) * unit.minimum_state)
    moved = [-unit.charge_efficiency * one, one / unit.discharge_efficiency, sparse.csr_matrix((hours, hours))]
    return sparse.bmat(rows, format="csc"), sparse.hstack([*none, lost, *moved, one - kept * before], format="csc")


def _score(dispatch: Dispatch, share: Numbers) -> float:
    total = float(dispatch.load_facility_kwh.sum())
    return 1.0 - float(((1.0 - share) * dispatch.grid_facility_kwh[0]).sum()) / total


def _priced(
    dispatch: Dispatch,
    battery: Battery,
    capacity: Mapping[str, float],
    plants: Sequence[Plant],
    storage: Storage,
    wanted: Wanted,
    seconds: float,
) -> Size:
    """Return the answer with its money, its carbon and its scores."""
    hours = dispatch.load_facility_kwh.size
    year = hours / 8760.0
    kwh = float(dispatch.batteries.capacity_kwh[0])
    grid = dispatch.grid_facility_kwh[0]
    usd = storage.cost_usd_per_kwh_y * kwh + sum(one.cost_usd_per_kw_y * capacity[one.name] for one in plants)
    made = storage.embodied_kgco2e_per_kwh_y * kwh
    made += sum(one.embodied_kgco2e_per_kw_y * capacity[one.name] for one in plants)
    cost = year * usd + float(wanted.price_usd_per_kwh_facility @ grid)
    carbon = year * made + float(wanted.intensity_kgco2e_per_kwh_facility @ grid)
    by_rule = greedy(dispatch.load_facility_kwh, dispatch.generation_facility_kwh, [battery])
    return Size(
        capacity_kw=MappingProxyType(dict(capacity)),
        battery=battery,
        dispatch=dispatch,
        value=cost + wanted.usd_per_kgco2e * carbon if wanted.usd_counts else carbon,
        cost_usd=cost,
        emissions_kgco2e=carbon,
        score=_score(dispatch, wanted.grid_cfe_share),
        greedy_score=_score(by_rule, wanted.grid_cfe_share),
        seconds=seconds,
    )
