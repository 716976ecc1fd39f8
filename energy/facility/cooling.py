"""Cooling of a hall by hour: which machine carries the heat, what it draws, what water it takes.

Equations of Lei and Masanet (Resources, Conservation and Recycling 182, 2022, 106323), in the order of
``docs/facility.md``. Everything is per kW of rated IT power, so that plants of any size are one computation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.facility import machines
from energy.facility.economisers import outside_air, share_carried
from energy.facility.machines import Curve, fan_kw, pump_kw, tower_water
from energy.facility.plant import Plant, System

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outdoors:
    """Outside air of the hours, arrays that broadcast against the plant's parameters."""

    dry_bulb_c: Numbers
    wet_bulb_c: Numbers
    humidity_ratio: Numbers
    pressure_pa: Numbers


@dataclass(slots=True)
class Cooling:
    """What a plant does, hour by hour, per kW of rated IT.

    Attributes
    ----------
    power : dict of str to array, kW
        By part.
    water : dict of str to array, kg/s
        evaporated, humidified, drift, blow_down: together what is withdrawn.
    heat : dict of str to array, kW
        outside_air, economiser, chiller: what carries it; tower, condenser: where what left the coil leaves the site.
    outside_fit : dict of str to array of bool
        By cause: where a curve is used beyond what it was fitted on, or water is warmer than asked.

    """

    power: dict[str, Numbers] = field(default_factory=dict)
    water: dict[str, Numbers] = field(default_factory=dict)
    heat: dict[str, Numbers] = field(default_factory=dict)
    outside_fit: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def add(self, kind: str, name: str, value: Any) -> None:
        """Add to one part of power, water or heat."""
        parts: dict[str, Numbers] = getattr(self, kind)
        parts[name] = parts[name] + value if name in parts else np.asarray(value, dtype=np.float64)

    def flag(self, cause: str, hours: Any) -> None:
        """Mark hours outside a range."""
        known = self.outside_fit.get(cause)
        self.outside_fit[cause] = hours if known is None else known | hours

    def total(self, kind: str) -> Numbers:
        """Return the sum of the parts of power or water."""
        parts: dict[str, Numbers] = getattr(self, kind)
        return np.asarray(sum(parts.values(), np.zeros(())), dtype=np.float64)


def cool_air(
    done: Cooling,
    system: System,
    plant: Plant,
    outdoors: Outdoors,
    curves: Mapping[str, Curve],
    heat_kw: Any,
    rated_heat_kw: Any,
) -> None:
    """Add what the air side of a hall does.

    Parameters
    ----------
    done : Cooling
        Parts are added to it; :func:`tower` comes last, once for all loops.
    system : System
    plant : Plant
        Parameters, each a number or an array that broadcasts.
    outdoors : Outdoors
    curves : mapping of str to Curve
        By kind of chiller.
    heat_kw, rated_heat_kw : array, kW per kW of rated IT
        Sensible heat in the hall's air: now, and that the fans are laid out for.

    Raises
    ------
    FacilityError
        The plant does not state a parameter that the system needs.

    """
    heat = np.asarray(heat_kw, dtype=np.float64)
    supply_c = plant.of("supply_high_c")
    if system.chiller == "direct_expansion":
        supply_c = 0.5 * (supply_c + plant.of("supply_low_c"))
    fans = _air_fans(plant, outdoors, heat, np.asarray(rated_heat_kw), supply_c)
    done.add("power", "air_fans", fans)
    heat = heat + fans * plant.of("fan_heat_fraction")
    done.add("heat", "hall", heat)
    left = _outside_air(done, system, plant, outdoors, heat) if system.economiser == "airside" else heat
    coil = left / plant.of("sensible_heat_ratio")
    done.add("heat", "latent", coil - left)
    _humidify(done, system, plant, coil - left)
    if system.economiser in ("waterside", "dry_cooler"):
        warm_c = supply_c + plant.of("air_rise_k")
        cold_c = warm_c - plant.of("air_rise_k") / plant.of("coil_effectiveness")
        carried = carry_by_water(done, system, plant, outdoors, coil, cold_c, plant.of("chilled_water_rise_k"))
        flow = carried / (machines.CHILLED_WATER_KJ_PER_KG_K * plant.of("chilled_water_rise_k"))
        pumps = pump_kw(flow, plant.of("economiser_pump_pressure_pa"), plant.of("economiser_pump_efficiency"))
        done.add("power", "economiser_pumps", pumps)
        coil = coil - carried
    if system.chiller != "none":
        chill(done, system, plant, outdoors, curves[system.chiller], coil)


def _air_fans(plant: Plant, outdoors: Outdoors, heat: Numbers, rated: Numbers, supply_c: Numbers) -> Numbers:
    """Return the power of the hall's air fans: at the rated flow, times the relative flow to an exponent."""
    flow = rated / (machines.AIR_KJ_PER_KG_K * plant.of("air_rise_k"))
    volume = machines.air_volume_m3_per_kg(supply_c, 0.0, outdoors.pressure_pa)
    power = fan_kw(flow, volume, plant.of("air_fan_pressure_pa"), plant.of("air_fan_efficiency"))
    share = np.maximum(heat / rated, plant.of("fan_floor"))
    result: Numbers = power if np.all(share == 1.0) else power * share ** plant.of("fan_exponent")
    return result


def _outside_air(done: Cooling, system: System, plant: Plant, outdoors: Outdoors, heat: Numbers) -> Numbers:
    """Let outside air carry the heat where it may, and return the heat that is left."""
    names = ("supply_low_c", "supply_high_c", "dew_point_low_c", "dew_point_high_c", "humidity_low", "humidity_high")
    found = outside_air(
        outdoors.dry_bulb_c,
        outdoors.humidity_ratio,
        outdoors.pressure_pa,
        **{name: plant.of(name) for name in names},
        adiabatic=system.adiabatic,
    )
    carried = np.where(found.carries, heat, 0.0)
    done.add("heat", "outside_air", carried)
    if system.adiabatic:
        # return air is mixed in below the lower set point, so only as much outside air as the heat needs is moistened
        rise = found.supply_enthalpy + machines.AIR_KJ_PER_KG_K * plant.of("air_rise_k") - found.outside_enthalpy
        done.add("water", "humidified", carried / rise * found.moisture)
    return heat - carried


def _humidify(done: Cooling, system: System, plant: Plant, latent: Numbers) -> None:
    """Put the moisture back that the coil takes out; a direct expansion unit boils it."""
    moisture = latent / machines.VAPOUR_KJ_PER_KG
    done.add("water", "humidified", moisture)
    if system.chiller == "direct_expansion":
        done.add("power", "humidifier", latent)
        return
    pumped = pump_kw(moisture, plant.of("humidifier_pump_pressure_pa"), plant.of("humidifier_pump_efficiency"))
    done.add("power", "humidifier", pumped)


def carry_by_water(
    done: Cooling, system: System, plant: Plant, outdoors: Outdoors, heat: Numbers, cold_c: Any, rise_k: Any
) -> Numbers:
    """Let tower or dry-cooler water carry what it can of a loop's heat, and return what it carries.

    Without a chiller it carries all, and hours in which its water is warmer than the loop asks are marked.
    """
    if system.economiser == "waterside":
        available = outdoors.wet_bulb_c + plant.of("tower_approach_k")
    else:
        available = outdoors.dry_bulb_c + plant.of("dry_cooler_approach_k")
    share = share_carried(available + plant.of("exchanger_approach_k"), cold_c, np.asarray(cold_c) + rise_k)
    if system.chiller == "none":
        done.flag("water warmer than the loop asks", (share < 1.0) & (heat > 0.0))
        share = np.ones_like(share)
    carried: Numbers = heat * share
    done.add("heat", "economiser", carried)
    if system.economiser == "waterside":
        done.add("heat", "tower", carried)
    else:
        done.add("power", "dry_cooler_fans", carried * plant.of("dry_cooler_fan_fraction"))
        done.add("heat", "condenser", carried)
    return carried


def chill(done: Cooling, system: System, plant: Plant, outdoors: Outdoors, curve: Curve, heat: Numbers) -> None:
    """Let the chiller carry heat: its electricity, its pumps, and the heat that it rejects."""
    part_load = None if system.chiller == "direct_expansion" else plant.of("chiller_part_load")
    is_wet = system.chiller == "water_cooled"
    condenser_c = outdoors.wet_bulb_c + plant.of("tower_approach_k") if is_wet else outdoors.dry_bulb_c
    cop = curve.cop(condenser_c, part_load)
    if system.chiller == "direct_expansion":
        cop = np.where(condenser_c <= machines.COLD_EXPANSION_BELOW_C, machines.COLD_EXPANSION_COP, cop)
    work = heat / (cop * (1.0 + plant.of("cop_spread")))
    done.add("power", "chiller", work)
    done.add("heat", "chiller", heat)
    done.add("heat", "tower" if is_wet else "condenser", heat + work)
    name, used = system.chiller.replace("_", "-"), heat > 0.0
    done.flag(f"{name} chiller above {curve.t_max_c:g} C", used & (condenser_c > curve.t_max_c))
    if part_load is not None and curve.plr_min is not None:
        done.flag(f"{name} chiller under {curve.plr_min:.0%} load", used & (part_load < curve.plr_min))
    if system.chiller != "direct_expansion":
        flow = heat / (machines.CHILLED_WATER_KJ_PER_KG_K * plant.of("chilled_water_rise_k"))
        pumps = pump_kw(flow, plant.of("chilled_pump_pressure_pa"), plant.of("chilled_pump_efficiency"))
        done.add("power", "chilled_water_pumps", pumps)


def tower(done: Cooling, plant: Plant, outdoors: Outdoors) -> None:
    """Add water, pumps and fans of the cooling tower, for all heat that leaves by it; nothing where none does."""
    if "tower" not in done.heat:
        return
    cold_c = outdoors.wet_bulb_c + plant.of("tower_approach_k")
    water = tower_water(
        done.heat["tower"],
        cold_c,
        plant.of("tower_range_k"),
        plant.of("drift_fraction"),
        plant.of("cycles_of_concentration"),
    )
    done.add("water", "evaporated", water.evaporated)
    done.add("water", "drift", water.drift)
    done.add("water", "blow_down", water.blow_down)
    pumps = pump_kw(water.circulated, plant.of("tower_pump_pressure_pa"), plant.of("tower_pump_efficiency"))
    done.add("power", "tower_pumps", pumps)
    volume = machines.air_volume_m3_per_kg(outdoors.dry_bulb_c, outdoors.humidity_ratio, outdoors.pressure_pa)
    flow = water.evaporated / plant.of("tower_water_to_air")
    fans = fan_kw(flow, volume, plant.of("tower_fan_pressure_pa"), plant.of("tower_fan_efficiency"))
    done.add("power", "tower_fans", fans)
