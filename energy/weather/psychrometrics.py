"""Moist air: saturation, humidity ratio, dew point and wet bulb, on plain arrays of any shape.

Kernels of millions of hours: plain numbers with their unit in the name, no quantities. Saturation pressure after Hyland
and Wexler, the other equations after ASHRAE Fundamentals 2017, chapter 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import WeatherError

Numbers = NDArray[np.float64]

MASS_RATIO = 0.621945  # of water vapour to dry air, kg/kg
ZERO_C_IN_K = 273.15
LOWEST_C, HIGHEST_C = -100.0, 200.0
STEPS = 12
TOLERANCE_K = 1e-7

# Hyland and Wexler (1983): ln p = c0/T + c1 + c2 T + c3 T^2 + c4 T^3 + c5 T^4 + c6 ln T, T in kelvin.
_ICE = (-5.6745359e3, 6.3925247, -9.677843e-3, 6.2215701e-7, 2.0747825e-9, -9.484024e-13, 4.1635019)
_WATER = (-5.8002206e3, 1.3914993, -4.8640239e-2, 4.1764768e-5, -1.4452093e-8, 0.0, 6.5459673)


def _logarithm_and_slope(temperature_c: Numbers) -> tuple[Numbers, Numbers]:
    """Return ln of the saturation pressure in Pa and its slope per kelvin."""
    kelvin = temperature_c + ZERO_C_IN_K
    log = np.log(kelvin)
    found = []
    for c0, c1, c2, c3, c4, c5, c6 in (_ICE, _WATER):
        value = c0 / kelvin + c1 + kelvin * (c2 + kelvin * (c3 + kelvin * (c4 + kelvin * c5))) + c6 * log
        slope = c2 + kelvin * (2 * c3 + kelvin * (3 * c4 + kelvin * 4 * c5)) + (c6 - c0 / kelvin) / kelvin
        found.append((value, slope))
    frozen = temperature_c < 0.0
    return np.where(frozen, found[0][0], found[1][0]), np.where(frozen, found[0][1], found[1][1])


def _in_range(temperature_c: Any, what: str) -> Numbers:
    values = np.asarray(temperature_c, dtype=np.float64)
    wrong = (values < LOWEST_C) | (values > HIGHEST_C)
    if wrong.any():
        raise WeatherError(
            f"{what} of {float(values[wrong].flat[0]):g} C lies outside {LOWEST_C:g} to {HIGHEST_C:g} C, where "
            "saturation is known: check the unit, temperatures are in degrees Celsius."
        )
    return values


def saturation_pressure_pa(temperature_c: Any) -> Numbers:
    """Return the saturation pressure of water vapour, over ice below 0 C.

    Parameters
    ----------
    temperature_c : array, C
        From -100 to 200; NaN stays NaN.

    Returns
    -------
    array, Pa
        Of the same shape.

    Raises
    ------
    WeatherError
        A temperature lies outside the range of the equation.

    Notes
    -----
    Hyland and Wexler 1983, ASHRAE Fundamentals 2017 chapter 1 equations 5 and 6.

    Examples
    --------
    >>> saturation_pressure_pa([-20.0, 0.0, 20.0]).round(1).tolist()
    [103.3, 611.2, 2338.8]

    """
    return np.exp(_logarithm_and_slope(_in_range(temperature_c, "A temperature"))[0])


def standard_pressure_pa(elevation_m: Any) -> Numbers:
    """Return the pressure of the standard atmosphere at an elevation.

    Parameters
    ----------
    elevation_m : array, m
        Above sea level.

    Returns
    -------
    array, Pa
        p = 101325 (1 - 2.25577e-5 z)^5.25588 (ASHRAE Fundamentals 2017, chapter 1 equation 3).

    Examples
    --------
    >>> float(standard_pressure_pa(1500.0).round(0))
    84556.0

    """
    return 101325.0 * (1.0 - 2.25577e-5 * np.asarray(elevation_m, dtype=np.float64)) ** 5.25588


def humidity_ratio_of_vapour(vapour_pressure_pa: Any, pressure_pa: Any) -> Numbers:
    """Return kg of water per kg of dry air, W = 0.621945 pv/(p - pv).

    Parameters
    ----------
    vapour_pressure_pa, pressure_pa : array, Pa
        Partial pressure of the vapour, and the whole.

    Returns
    -------
    array, kg/kg

    Examples
    --------
    >>> float(humidity_ratio_of_vapour(1000.0, 101325.0).round(6))
    0.006199

    """
    vapour = np.asarray(vapour_pressure_pa, dtype=np.float64)
    return MASS_RATIO * vapour / (np.asarray(pressure_pa, dtype=np.float64) - vapour)


def vapour_pressure_pa(humidity_ratio: Any, pressure_pa: Any) -> Numbers:
    """Return the partial pressure of the vapour, the inverse of :func:`humidity_ratio_of_vapour`.

    Parameters
    ----------
    humidity_ratio : array, kg/kg
        Water over dry air.
    pressure_pa : array, Pa
        Of the air.

    Returns
    -------
    array, Pa

    Examples
    --------
    >>> float(vapour_pressure_pa(humidity_ratio_of_vapour(1000.0, 101325.0), 101325.0).round(6))
    1000.0

    """
    ratio = np.asarray(humidity_ratio, dtype=np.float64)
    return np.asarray(pressure_pa, dtype=np.float64) * ratio / (MASS_RATIO + ratio)


def humidity_ratio(dry_bulb_c: Any, relative_humidity: Any, pressure_pa: Any) -> Numbers:
    """Return kg of water per kg of dry air.

    Parameters
    ----------
    dry_bulb_c : array, C
    relative_humidity : array, fraction 0 to 1
    pressure_pa : array, Pa

    Returns
    -------
    array, kg/kg

    Raises
    ------
    WeatherError
        A temperature or a humidity lies outside its range.

    Examples
    --------
    >>> float(humidity_ratio(25.0, 0.5, 101325.0).round(5))
    0.00988

    """
    share = np.asarray(relative_humidity, dtype=np.float64)
    wrong = (share < 0.0) | (share > 1.0)
    if wrong.any():
        raise WeatherError(
            f"A relative humidity of {float(share[wrong].flat[0]):g} is no fraction from 0 to 1: divide percent by 100."
        )
    return humidity_ratio_of_vapour(share * saturation_pressure_pa(dry_bulb_c), pressure_pa)


def enthalpy_kj_per_kg(dry_bulb_c: Any, ratio: Any) -> Numbers:
    """Return the enthalpy of moist air per kg of dry air, h = 1.006 T + W (2501 + 1.86 T).

    Parameters
    ----------
    dry_bulb_c : array, C
    ratio : array, kg/kg
        Humidity ratio.

    Returns
    -------
    array, kJ/kg

    Examples
    --------
    >>> float(enthalpy_kj_per_kg(25.0, 0.01).round(3))
    50.625

    """
    temperature = np.asarray(dry_bulb_c, dtype=np.float64)
    return 1.006 * temperature + np.asarray(ratio, dtype=np.float64) * (2501.0 + 1.86 * temperature)


def dew_point_c(vapour_pa: Any) -> Numbers:
    """Return the temperature at which a vapour pressure saturates, frost point below 0 C.

    Parameters
    ----------
    vapour_pa : array, Pa
        Above 0; NaN stays NaN, and 0 has no dew point: -infinity.

    Returns
    -------
    array, C

    Notes
    -----
    Newton on ln p, which is nearly straight in the temperature, from the Magnus formula; to 1e-7 K.

    Examples
    --------
    >>> float(dew_point_c(saturation_pressure_pa(-7.0)).round(6))
    -7.0

    """
    vapour = np.asarray(vapour_pa, dtype=np.float64)
    dry = vapour <= 0.0
    log = np.log(np.where(dry, 1.0, vapour))
    scaled = log - np.log(611.2)
    found = np.clip(243.12 * scaled / (17.62 - scaled), LOWEST_C, HIGHEST_C)
    for _ in range(STEPS):
        value, slope = _logarithm_and_slope(found)
        step = (value - log) / slope
        found = found - step
        if not np.any(np.abs(step) > TOLERANCE_K):
            break
    result: Numbers = np.where(dry, -np.inf, found)
    return result


def wet_bulb_c(dry_bulb_c: Any, ratio: Any, pressure_pa: Any) -> Numbers:
    """Return the thermodynamic wet-bulb temperature.

    Parameters
    ----------
    dry_bulb_c : array, C
    ratio : array, kg/kg
        Humidity ratio.
    pressure_pa : array, Pa

    Returns
    -------
    array, C
        At most the dry bulb.

    Raises
    ------
    WeatherError
        A temperature lies outside the range of the saturation equation.

    Notes
    -----
    Solves the psychrometer equation (ASHRAE Fundamentals 2017, chapter 1 equations 33 and 35)
    W = ((2501 - 2.326 t) Ws(t) - 1.006 (T - t)) / (2501 + 1.86 T - 4.186 t), over ice with 2830, 0.24 and 2.1. Its
    right side rises and is convex in t, so Newton from above converges from one side; 4 to 6 steps to 1e-7 K. At 0 C
    the two equations do not meet; where the one over water has a root at 0 C or above, that is taken.

    Examples
    --------
    >>> float(wet_bulb_c(30.0, humidity_ratio(30.0, 0.4, 101325.0), 101325.0).round(2))
    20.06

    """
    dry = _in_range(dry_bulb_c, "A dry bulb")
    water = np.asarray(ratio, dtype=np.float64)
    pressure = np.asarray(pressure_pa, dtype=np.float64)
    dry, water, pressure = np.broadcast_arrays(dry, water, pressure)
    freezing = humidity_ratio_of_vapour(saturation_pressure_pa(0.0), pressure)
    over_ice = (dry < 0.0) | ((2501.0 * freezing - 1.006 * dry) / (2501.0 + 1.86 * dry) > water)
    heat, less, more = (np.where(over_ice, *pair) for pair in ((2830.0, 2501.0), (0.24, 2.326), (2.1, 4.186)))
    found = np.where(over_ice, np.minimum(dry, -1e-9), dry)
    for _ in range(STEPS):
        log, log_slope = _logarithm_and_slope(found)
        vapour = np.exp(log)
        saturated = MASS_RATIO * vapour / (pressure - vapour)
        saturated_slope = saturated * log_slope * pressure / (pressure - vapour)
        below = heat + 1.86 * dry - more * found
        above = (heat - less * found) * saturated - 1.006 * (dry - found)
        slope = ((heat - less * found) * saturated_slope - less * saturated + 1.006 + more * water) / below
        step = (above / below - water) / slope
        found = found - step
        if not np.any(np.abs(step) > TOLERANCE_K):
            break
    result: Numbers = np.minimum(found, dry)
    return result
