"""Liquid cooling: a loop takes a share of the heat of IT, the air side the rest.

Fans in the servers belong to IT power and largely vanish with cold plates, so PUE alone would mislead: IT power falls
and PUE with it may rise. :func:`server_power` keeps both sides comparable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.errors import FacilityError, UnknownNameError, did_you_mean
from energy.facility.cooling import Cooling, Outdoors, carry_by_water, chill
from energy.facility.machines import Curve
from energy.facility.plant import Chiller, Plant, System
from energy.units import takes

Numbers = NDArray[np.float64]
AIR = "air"


@dataclass(frozen=True, slots=True)
class Liquid:
    """One technology; each figure with its range. All are recalled, status ``estimate``."""

    liquid_id: str
    title: str
    capture_fraction: float
    capture_fraction_low: float
    capture_fraction_high: float
    supply_c: float
    supply_c_low: float
    supply_c_high: float
    rise_k: float
    pump_fraction: float
    pump_fraction_low: float
    pump_fraction_high: float
    server_fan_fraction: float
    server_fan_fraction_low: float
    server_fan_fraction_high: float
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop as built.

    ``heat_sink`` : dry_cooler or waterside (tower); ``chiller`` : what carries the rest, none where the water may be
    warmer; the other figures as of :class:`Liquid`, each a number or an array that broadcasts.
    """

    liquid_id: str
    capture_fraction: float | Numbers
    supply_c: float | Numbers
    rise_k: float | Numbers
    pump_fraction: float | Numbers
    heat_sink: Literal["dry_cooler", "waterside"] = "dry_cooler"
    chiller: Chiller = "none"

    @property
    def return_c(self) -> Numbers:
        """Temperature of the water that comes back, C."""
        result: Numbers = np.asarray(self.supply_c, dtype=np.float64) + np.asarray(self.rise_k)
        return result


@cache
def all_liquids() -> Mapping[str, Liquid]:
    """Return all technologies by identifier; ``air`` is what the others replace.

    Examples
    --------
    >>> all_liquids()["direct_to_chip"].capture_fraction
    0.75

    """
    return {row.text("liquid_id"): build(Liquid, row) for row in _tables.rows("facility_liquid")}


def liquid(name: str) -> Liquid:
    """Return a technology.

    Raises
    ------
    UnknownNameError
        There is none of that name; the message gives the nearest.

    Examples
    --------
    >>> liquid("rear_door").supply_c
    20.0

    """
    known = all_liquids()
    if name not in known:
        raise UnknownNameError(f"There is no liquid cooling {name!r}: {', '.join(known)}.{did_you_mean(name, known)}")
    return known[name]


def loop(name: str, **chosen: Any) -> Loop:
    """Return a loop of a technology, with other figures where they are given.

    Raises
    ------
    UnknownNameError
        There is no such technology.
    FacilityError
        A share lies outside 0 to 1.

    Examples
    --------
    >>> float(loop("direct_to_chip", supply_c=40.0).return_c)
    50.0

    """
    one = liquid(name)
    if one.liquid_id == AIR:
        raise FacilityError("Liquid cooling: air has no loop. Leave liquid out, or name a technology.")
    parts = {key: getattr(one, key) for key in ("capture_fraction", "supply_c", "rise_k", "pump_fraction")}
    built = Loop(liquid_id=one.liquid_id, **(parts | chosen))
    share = np.asarray(built.capture_fraction)
    if not np.all((share >= 0.0) & (share <= 1.0)):
        raise FacilityError(
            f"Liquid cooling: capture_fraction {float(share.flat[0]):g} of {name} lies outside 0 to 1: a fraction "
            "of the heat of IT."
        )
    return built


@takes("kW_it", power_air_cooled="kW_it", fans_air="", fans_liquid="")
def server_power(power_air_cooled: Any, fans_air: Any, fans_liquid: Any) -> Any:
    """Return the IT power of the same servers under another cooling.

    Parameters
    ----------
    power_air_cooled : Quantity, kW_it
        Power at the plugs of the air-cooled servers, fans included.
    fans_air, fans_liquid : float
        Share of the fans in IT power: air-cooled, and with the other cooling.

    Returns
    -------
    Quantity, kW_it
        P (1 - s_air)/(1 - s_liquid): what computes stays the same.

    Raises
    ------
    UnitError
        The power is none of IT.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(round(server_power(quantity(100.0, "kW_it"), 0.12, 0.03).magnitude, 2))
    90.72

    """
    return power_air_cooled * (1.0 - fans_air) / (1.0 - fans_liquid)


def cool_loop(
    done: Cooling, built: Loop, plant: Plant, outdoors: Outdoors, curves: Mapping[str, Curve], captured_kw: Numbers
) -> None:
    """Add what a loop does with the heat that it captures; :func:`energy.facility.cooling.tower` comes after.

    The loop's pumps draw a fraction of the captured heat; their own heat is not added to it.
    """
    system = System(built.chiller, built.heat_sink)
    done.add("power", "loop_pumps", captured_kw * built.pump_fraction)
    carried = carry_by_water(done, system, plant, outdoors, captured_kw, built.supply_c, built.rise_k)
    if built.chiller != "none":
        chill(done, system, plant, outdoors, curves[built.chiller], captured_kw - carried)
