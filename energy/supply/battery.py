"""A battery behind the meter: what it holds, what it gives, and how it fades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.units import takes

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Battery:
    """One battery with its inverter; energy in and out is counted at the AC side, energy held inside the cells.

    Attributes
    ----------
    capacity_kwh : float, kWh
        Of the cells, new. 0 is no battery.
    charge_power_kw, discharge_power_kw : float, kW
        At the AC side.
    charge_efficiency, discharge_efficiency : float, fraction
        Held over taken, given over released; their product is the round trip.
    minimum_state, maximum_state, initial_state : float, fraction of the capacity
        Window of the state of charge, and where the year begins.
    self_discharge_per_h : float, fraction
    """

    capacity_kwh: float
    charge_power_kw: float
    discharge_power_kw: float
    charge_efficiency: float
    discharge_efficiency: float
    minimum_state: float = 0.0
    maximum_state: float = 1.0
    initial_state: float = 0.0
    self_discharge_per_h: float = 0.0

    def __post_init__(self) -> None:
        for name in ("capacity_kwh", "charge_power_kw", "discharge_power_kw"):
            if not 0.0 <= (value := getattr(self, name)) < float("inf"):
                raise SupplyError(f"Battery: {name} is {value:g}; it is 0 or more.")
        for name in ("charge_efficiency", "discharge_efficiency"):
            if not 0.0 < (value := getattr(self, name)) <= 1.0:
                raise SupplyError(f"Battery: {name} is {value:g}; it is a fraction over 0, 1 at most.")
        if not 0.0 <= self.self_discharge_per_h < 1.0:
            raise SupplyError(
                f"Battery: self_discharge_per_h is {self.self_discharge_per_h:g}; it is a fraction of 0 to below 1."
            )
        if not 0.0 <= self.minimum_state <= self.initial_state <= self.maximum_state <= 1.0:
            raise SupplyError(
                f"Battery: states {self.minimum_state:g} (minimum), {self.initial_state:g} (initial) and "
                f"{self.maximum_state:g} (maximum) must lie in this order within 0 to 1."
            )

    @property
    def usable_kwh(self) -> float:
        """Energy of the cells between the ends of the window."""
        return self.capacity_kwh * (self.maximum_state - self.minimum_state)


def limited_by_c_rate(capacity_kwh: float, power_kw: float, c_rate_per_h: float) -> float:
    """Return the power that the cells allow: the smaller of the inverter's and the C-rate times the capacity.

    Parameters
    ----------
    capacity_kwh, power_kw : float, kWh and kW
    c_rate_per_h : float, 1/h
        0.5 empties the cells in two hours.

    Returns
    -------
    float, kW

    Raises
    ------
    SupplyError
        The rate is not over zero.

    Examples
    --------
    >>> limited_by_c_rate(1000.0, 800.0, 0.5)
    500.0

    """
    if not c_rate_per_h > 0.0:
        raise SupplyError(f"Battery: the C-rate is {c_rate_per_h:g} per hour; it is over 0.")
    return min(power_kw, c_rate_per_h * capacity_kwh)


@takes("kWh", capacity="kWh", age="yr", full_cycles="", calendar_fade="1/yr", cycle_fade="")
def faded_capacity(capacity: Any, age: Any, full_cycles: Any, calendar_fade: Any, cycle_fade: Any) -> Any:
    """Return what is left of a battery's capacity after years and cycles.

    Parameters
    ----------
    capacity : Quantity, kWh
        When new.
    age : Quantity, yr
    full_cycles : float
        Energy released by the cells over the capacity when new.
    calendar_fade : Quantity, 1/yr
        Share of the new capacity that is lost in a year; no figure stands in for one that is not known.
    cycle_fade : float
        Share that is lost in a full cycle: 0.2 over the cycles to 80 % that a maker warrants.

    Returns
    -------
    Quantity, kWh
        Not below zero.

    Raises
    ------
    UnitError
        An argument has another dimension.

    Notes
    -----
    C = C0 (1 - a t - b n): both losses in proportion and added, as warranties state them. Real cells lose more at first
    and depend on temperature and depth.

    Examples
    --------
    >>> from energy.units import quantity
    >>> new, years = quantity(1000.0, "kWh"), quantity(5.0, "yr")
    >>> print(faded_capacity(new, years, 1500.0, quantity(0.01, "1/yr"), 0.25 / 6000.0))
    887.5 kWh

    """
    return capacity * np.maximum(1.0 - calendar_fade * age - cycle_fade * full_cycles, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Batteries:
    """The batteries of several sites as arrays of shape (sites,)."""

    least_kwh: Numbers
    most_kwh: Numbers
    first_kwh: Numbers
    capacity_kwh: Numbers
    charge_power_kw: Numbers
    discharge_power_kw: Numbers
    charge_efficiency: Numbers
    discharge_efficiency: Numbers
    kept: Numbers


def batteries_of(several: Sequence[Battery]) -> Batteries:
    """Return the fields of batteries as arrays.

    Examples
    --------
    >>> batteries_of([Battery(10.0, 5.0, 5.0, 0.95, 0.95, 0.1, 0.9, 0.5)]).least_kwh.tolist()
    [1.0]

    """

    def each(name: str) -> Numbers:
        return np.array([getattr(one, name) for one in several], dtype=np.float64)

    capacity = each("capacity_kwh")
    return Batteries(
        least_kwh=each("minimum_state") * capacity,
        most_kwh=each("maximum_state") * capacity,
        first_kwh=each("initial_state") * capacity,
        capacity_kwh=capacity,
        charge_power_kw=each("charge_power_kw"),
        discharge_power_kw=each("discharge_power_kw"),
        charge_efficiency=each("charge_efficiency"),
        discharge_efficiency=each("discharge_efficiency"),
        kept=1.0 - each("self_discharge_per_h"),
    )
