"""Free cooling: outside air, tower water or a dry cooler instead of the chiller. Plain kernels of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.weather import psychrometrics as air

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OutsideAir:
    """What outside air does in an hour.

    ``carries`` : bool, the hour's heat leaves with outside air; ``supply_c`` : C, supply air then; ``moisture`` : kg of
    water to add per kg of outside air; ``enthalpy_kj_per_kg``, of supply and of outside air.
    """

    carries: NDArray[np.bool_]
    supply_c: Numbers
    moisture: Numbers
    supply_enthalpy: Numbers
    outside_enthalpy: Numbers


def outside_air(
    dry_bulb_c: Numbers,
    ratio: Numbers,
    pressure_pa: Numbers,
    *,
    supply_low_c: Any,
    supply_high_c: Any,
    dew_point_low_c: Any,
    dew_point_high_c: Any,
    humidity_low: Any,
    humidity_high: Any,
    adiabatic: bool,
) -> OutsideAir:
    """Return whether outside air carries the heat of an hour, all or none.

    Parameters
    ----------
    dry_bulb_c, ratio, pressure_pa : array, C, kg/kg, Pa
        Outside air.
    supply_low_c, supply_high_c, dew_point_low_c, dew_point_high_c : array, C
        Window of the supply air.
    humidity_low, humidity_high : array, fraction
        Window of its relative humidity.
    adiabatic : bool
        Dry outside air is moistened at constant enthalpy.

    Notes
    -----
    Outside air is used up to the upper set point, when its humidity ratio lies within the dew-point and humidity window
    at max(T, lower set point). Below the lower set point return air is mixed in, which may warm the supply until its
    relative humidity is inside, so only the dew point bounds it from above there where the plant also moistens air.
    """
    reference_c = np.maximum(dry_bulb_c, supply_low_c)
    saturated = air.saturation_pressure_pa(reference_c)
    from_vapour = air.humidity_ratio_of_vapour
    highest_dew = from_vapour(air.saturation_pressure_pa(dew_point_high_c), pressure_pa)
    lowest_dew = from_vapour(air.saturation_pressure_pa(dew_point_low_c), pressure_pa)
    low = np.maximum(from_vapour(np.asarray(humidity_low) * saturated, pressure_pa), lowest_dew)
    high = np.minimum(from_vapour(np.asarray(humidity_high) * saturated, pressure_pa), highest_dew)
    if adiabatic:
        high = np.where(dry_bulb_c < supply_low_c, highest_dew, high)
    is_dry = ratio < low
    carries = (dry_bulb_c <= supply_high_c) & (ratio <= high)
    enthalpy = air.enthalpy_kj_per_kg(dry_bulb_c, ratio)
    if not adiabatic:
        supply = air.enthalpy_kj_per_kg(reference_c, ratio)
        return OutsideAir(carries & ~is_dry, reference_c, np.zeros(np.shape(carries)), supply, enthalpy)
    moist = np.where(is_dry, low, ratio)
    moistened_c = (enthalpy - 2501.0 * moist) / (1.006 + 1.86 * moist)
    supply_c = np.maximum(np.where(is_dry, moistened_c, dry_bulb_c), supply_low_c)
    return OutsideAir(
        carries, supply_c, np.where(is_dry, low - ratio, 0.0), air.enthalpy_kj_per_kg(supply_c, moist), enthalpy
    )


def share_carried(available_c: Any, supply_c: Any, return_c: Any) -> Numbers:
    """Return the share of the heat that water of some temperature carries, clip((Tr - Tw)/(Tr - Ts), 0, 1).

    Parameters
    ----------
    available_c : array, C
        Water from tower or dry cooler behind the exchanger.
    supply_c, return_c : array, C
        Water that the hall needs, and that comes back.

    Examples
    --------
    >>> share_carried([10.0, 18.0, 30.0], 15.0, 21.0).tolist()
    [1.0, 0.5, 0.0]

    """
    warm = np.asarray(return_c, dtype=np.float64)
    result: Numbers = np.clip((warm - np.asarray(available_c)) / (warm - np.asarray(supply_c)), 0.0, 1.0)
    return result
