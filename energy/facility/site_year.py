"""A site by hour: IT load and weather in, power by part, PUE, water and reused heat out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import FacilityError
from energy.facility.cases import curves
from energy.facility.cooling import Cooling, Outdoors, cool_air, tower
from energy.facility.liquid import Loop, cool_loop
from energy.facility.plant import Plant, System
from energy.facility.power_chain import AnyChain
from energy.facility.reuse import Reuse, reuse_heat
from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]
SECONDS = 3600.0
CONSUMED = ("evaporated", "humidified", "drift")


@dataclass(frozen=True, slots=True, eq=False)
class Facility:
    """A site that can be computed; parameters are numbers, or arrays that broadcast over hours."""

    system: System
    plant: Plant
    chain: AnyChain
    loop: Loop | None = None
    reuse: Reuse | None = None


@dataclass(slots=True, eq=False)
class Hours:
    """Power, water and heat by hour, per kW of rated IT.

    ``it`` and ``parts`` : kW; ``water`` : kg/s, which is L/s; ``heat`` : kW; ``reused`` : kW handed over;
    ``outside_fit`` : bool by cause.
    """

    it: Numbers
    parts: dict[str, Numbers]
    water: dict[str, Numbers]
    heat: dict[str, Numbers]
    reused: Numbers
    outside_fit: dict[str, NDArray[np.bool_]]

    @property
    def facility(self) -> Numbers:
        """Power at the site's meter, kW per kW of rated IT."""
        return self.it + np.asarray(sum(self.parts.values(), np.zeros(())), dtype=np.float64)

    @property
    def withdrawn_l_per_h(self) -> Numbers:
        """Water taken in, litres an hour per kW of rated IT."""
        return SECONDS * np.asarray(sum(self.water.values(), np.zeros(())), dtype=np.float64)

    @property
    def consumed_l_per_h(self) -> Numbers:
        """Water that does not come back as blow-down, litres an hour per kW of rated IT."""
        parts = (self.water[name] for name in CONSUMED if name in self.water)
        return SECONDS * np.asarray(sum(parts, np.zeros(())), dtype=np.float64)


def outdoors_of(weather: WeatherYear) -> Outdoors:
    """Return the outside air of a year of weather."""
    return Outdoors(weather.dry_bulb_c, weather.wet_bulb_c, weather.humidity_ratio, weather.pressure_pa)


def facility_hours(facility: Facility, outdoors: Outdoors, it_load: Any, reuse_share: Any = None) -> Hours:
    """Return what a site does in each hour, per kW of rated IT.

    Parameters
    ----------
    facility : Facility
    outdoors : Outdoors
        Arrays of shape (n,) or (sites, n).
    it_load : array, fraction of rated IT power
        Broadcasts against the weather.
    reuse_share : array, fraction, optional
        Share of the loop's heat that is handed over; needed with heat reuse.

    Returns
    -------
    Hours

    Raises
    ------
    FacilityError
        The load lies outside 0 to 1, a parameter is absent, or heat is reused without a loop.

    Notes
    -----
    Heat in the hall's air = IT heat not captured + losses of the power chain in the hall + lighting (+ fans).
    Transformers outside carry all that the site draws.
    """
    it = np.asarray(it_load, dtype=np.float64)
    wrong = (it < 0.0) | (it > 1.0)
    if wrong.any():
        raise FacilityError(
            f"IT load of {float(it[wrong].flat[0]):g} lies outside 0 to 1: it is a fraction of the rated IT power."
        )
    inside, full = facility.chain.inside(it), facility.chain.inside(np.ones(()))
    captured = np.zeros(()) if facility.loop is None else np.asarray(facility.loop.capture_fraction, dtype=np.float64)
    heat = it * (1.0 - captured) + sum(inside.values())
    rated = (1.0 - captured) + sum(full.values())
    done = Cooling()
    cool_air(done, facility.system, facility.plant, outdoors, curves(), heat, rated)
    reused = np.zeros(np.shape(it))
    if facility.loop is not None:
        reused = _loop_and_reuse(done, facility, facility.loop, outdoors, it * captured, reuse_share)
    elif facility.reuse is not None:
        raise FacilityError("Heat reuse needs a liquid loop, whose water is warm enough: state liquid.")
    tower(done, facility.plant, outdoors)
    parts = {**inside, **done.power}
    parts |= facility.chain.outside(it + np.asarray(sum(parts.values(), np.zeros(()))))
    return Hours(it, parts, done.water, done.heat, reused, done.outside_fit)


def _loop_and_reuse(
    done: Cooling, facility: Facility, loop: Loop, outdoors: Outdoors, captured: Numbers, share: Any
) -> Numbers:
    """Add the loop, less the heat that is handed over, and return that."""
    done.add("heat", "captured", captured)
    delivered = np.zeros(np.shape(captured))
    if facility.reuse is not None:
        if share is None:
            raise FacilityError("Heat reuse: no share by hour was given.")
        found = reuse_heat(facility.reuse, captured, loop.return_c, np.asarray(share, dtype=np.float64))
        done.add("heat", "reused_of_loop", found.taken)
        done.add("power", "heat_pump", found.pump)
        captured, delivered = captured - found.taken, found.delivered
    cool_loop(done, loop, facility.plant, outdoors, curves(), captured)
    return delivered


@dataclass(frozen=True, slots=True)
class Annual:
    """Sums of a year's hours that have weather, and their ratios: energy over energy.

    ``pue`` : kWh_facility/kWh_it; ``wue_…`` : L/kWh_it; ``erf`` : reused heat over facility energy;
    ``energy_by_part_kwh`` : at the facility, IT among them.
    """

    hours: int
    missing_h: int
    energy_it_kwh: float
    energy_facility_kwh: float
    energy_by_part_kwh: Mapping[str, float]
    water_withdrawn_l: float
    water_consumed_l: float
    heat_reused_kwh: float
    pue: float
    wue_withdrawn_l_per_kwh_it: float
    wue_consumed_l_per_kwh_it: float
    erf: float


def annual(hours: Hours, rated_it_kw: float) -> Annual:
    """Return the sums of one site's hours.

    Parameters
    ----------
    hours : Hours
        Arrays of shape (n,).
    rated_it_kw : float, kW

    Raises
    ------
    FacilityError
        No hour has weather, or IT draws nothing.

    """
    power, withdrawn = hours.facility, hours.withdrawn_l_per_h
    known = ~np.isnan(power) & ~np.isnan(withdrawn)
    it = np.broadcast_to(hours.it, power.shape)

    def total(values: Any) -> float:
        return float(np.sum(np.broadcast_to(values, power.shape)[known])) * rated_it_kw

    energy_it = total(it)
    if not energy_it > 0.0:
        raise FacilityError("No hour has both weather and IT power, and PUE is energy over IT energy. Check both.")
    energy = total(power)
    water, consumed = total(withdrawn), total(hours.consumed_l_per_h)
    reused = total(hours.reused)
    return Annual(
        hours=int(power.size),
        missing_h=int(power.size - np.count_nonzero(known)),
        energy_it_kwh=energy_it,
        energy_facility_kwh=energy,
        energy_by_part_kwh={"it": energy_it} | {name: total(part) for name, part in hours.parts.items()},
        water_withdrawn_l=water,
        water_consumed_l=consumed,
        heat_reused_kwh=reused,
        pue=energy / energy_it,
        wue_withdrawn_l_per_kwh_it=water / energy_it,
        wue_consumed_l_per_kwh_it=consumed / energy_it,
        erf=reused / energy,
    )


def warnings(hours: Hours) -> tuple[str, ...]:
    """Return one line for each range that some hours leave, with their number."""
    size = int(np.size(hours.facility))
    found = []
    for cause, flags in hours.outside_fit.items():
        count = int(np.count_nonzero(np.broadcast_to(flags, np.shape(hours.facility))))
        if count:
            found.append(f"{cause}: {count} of {size} h lie outside what curve or loop is made for")
    return tuple(found)
