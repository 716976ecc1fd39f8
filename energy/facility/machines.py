"""Fans, pumps, chillers, towers: kW per kW from flows and temperatures. Plain kernels of arrays of any shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

AIR_KJ_PER_KG_K = 1.01
CHILLED_WATER_KJ_PER_KG_K = 4.2
TOWER_WATER_KJ_PER_KG_K = 4.184
WATER_KG_PER_M3 = 1000.0
VAPOUR_KJ_PER_KG = 2266.0  # as in the published model, for moisture of the hall's air
DRY_AIR_J_PER_KG_K = 287.042
COLD_EXPANSION_BELOW_C, COLD_EXPANSION_COP = 15.0, 2.8
LOWEST_COP = 0.5
LEAST_PART_LOAD = 0.1  # of the published ranges; no chiller is said to run below


def air_volume_m3_per_kg(temperature_c: Any, ratio: Any, pressure_pa: Any) -> Numbers:
    """Return the volume of moist air per kg of dry air, v = 287.042 T (1 + 1.607858 W)/p.

    Examples
    --------
    >>> float(air_volume_m3_per_kg(20.0, 0.0, 101325.0).round(4))
    0.8305

    """
    kelvin = np.asarray(temperature_c, dtype=np.float64) + 273.15
    result: Numbers = DRY_AIR_J_PER_KG_K * kelvin * (1.0 + 1.607858 * np.asarray(ratio)) / np.asarray(pressure_pa)
    return result


def fan_kw(flow_kg_per_s: Any, volume_m3_per_kg: Any, pressure_pa: Any, efficiency: Any) -> Numbers:
    """Return fan power, P = m v dp / (1000 eta).

    Examples
    --------
    >>> float(fan_kw(1.0, 0.83, 500.0, 0.7).round(4))
    0.5929

    """
    result: Numbers = np.asarray(flow_kg_per_s) * volume_m3_per_kg * pressure_pa / (1000.0 * np.asarray(efficiency))
    return result


def pump_kw(flow_kg_per_s: Any, pressure_pa: Any, efficiency: Any) -> Numbers:
    """Return pump power, P = dp m / (1000 eta rho).

    Examples
    --------
    >>> float(pump_kw(10.0, 150_000.0, 0.7).round(4))
    2.1429

    """
    result: Numbers = np.asarray(flow_kg_per_s) * pressure_pa / (1000.0 * WATER_KG_PER_M3 * np.asarray(efficiency))
    return result


@dataclass(frozen=True, slots=True)
class Curve:
    """COP = c0 + c1 T + c2 L + c3 T L + c4 T^2 + c5 L^2, and where it was fitted."""

    c0: float
    c_t: float
    c_plr: float
    c_t_plr: float
    c_t2: float
    c_plr2: float
    t_min_c: float
    t_max_c: float
    plr_min: float | None
    plr_max: float | None
    rms_error_cop: float
    source: str

    def cop(self, temperature_c: Numbers, part_load: Numbers | None) -> Numbers:
        """Return the coefficient of performance.

        Below the lowest temperature the inputs are held at the edge of the fit: chillers hold their condensers warm.
        Above the highest, the curve goes on with its slope there, since a hotter condenser is never better. Below the
        lowest part load it goes on as fitted, down to a tenth. Callers say which hours lie outside.
        """
        load = np.zeros(())
        if part_load is not None and self.plr_max is not None:
            load = np.clip(part_load, LEAST_PART_LOAD, self.plr_max)
        inside = np.clip(temperature_c, self.t_min_c, self.t_max_c)
        value = self.c0 + inside * (self.c_t + self.c_t_plr * load + self.c_t2 * inside)
        value = value + load * (self.c_plr + self.c_plr2 * load)
        slope = np.minimum(self.c_t + self.c_t_plr * load + 2.0 * self.c_t2 * self.t_max_c, 0.0)
        result: Numbers = np.maximum(value + slope * np.maximum(temperature_c - self.t_max_c, 0.0), LOWEST_COP)
        return result


@dataclass(frozen=True, slots=True)
class TowerWater:
    """Water and air of a cooling tower, kg/s."""

    circulated: Numbers
    evaporated: Numbers
    drift: Numbers
    blow_down: Numbers


def tower_water(heat_kw: Any, water_out_c: Any, range_k: Any, drift_fraction: Any, cycles: Any) -> TowerWater:
    """Return the water of a cooling tower.

    Parameters
    ----------
    heat_kw : array, kW
        Heat that leaves by the tower.
    water_out_c : array, C
        Cold water: wet bulb and approach.
    range_k : array, K
        Warm less cold water.
    drift_fraction : array
        Drift over circulated water.
    cycles : array, above 1
        Cycles of concentration.

    Notes
    -----
    Evaporation = Q/(2500.5 - 2.3097 Tm - 0.0013 Tm^2) with the mean water temperature Tm; blow-down =
    max(evaporation/(CC - 1) - drift, 0). All heat leaves by evaporation (Lei and Masanet 2022).

    Examples
    --------
    >>> water = tower_water(2454.0, 18.0, 4.0, 0.0, 5.0)
    >>> float(water.evaporated.round(3)), float(water.blow_down.round(3))
    (1.0, 0.25)

    """
    heat = np.asarray(heat_kw, dtype=np.float64)
    mean_c = np.asarray(water_out_c) + np.asarray(range_k) / 2.0
    circulated = heat / (TOWER_WATER_KJ_PER_KG_K * np.asarray(range_k))
    evaporated = heat / (2500.5 - mean_c * (2.3097 + 0.0013 * mean_c))
    drift = circulated * drift_fraction
    blow_down = np.maximum(evaporated / (np.asarray(cycles) - 1.0) - drift, 0.0)
    return TowerWater(circulated, evaporated, drift, blow_down)
