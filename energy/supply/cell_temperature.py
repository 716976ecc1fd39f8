"""Temperature of the cells of a photovoltaic module under sun, wind and air."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_KELVIN = 273.15
_STEFAN_BOLTZMANN = 5.669e-8
_EMISSIVITY, _ABSORPTION = 0.84, 0.83
_LENGTH_M = 0.5
_TILT_SINE = 0.5  # Fuentes writes the sine of 30 degrees for every module, and PVWatts with him
_CAPACITY_J_PER_M2_K = 11_000.0
_WIND_SHARE = (5.0 / 9.144) ** 0.2  # from 9.144 m to the module's 5 m, as PVWatts has it
_SWEEPS, _ENOUGH_K = 10, 1e-3


def fuentes_c(
    irradiance_w_per_m2: Numbers,
    before_w_per_m2: Numbers,
    dry_bulb_c: Numbers,
    dry_bulb_before_c: Numbers,
    wind_m_per_s: Numbers,
    place_before: NDArray[np.intp],
    installed_noct_c: Any,
) -> Numbers:
    """Return cell temperatures of hours with sun by the model of Fuentes, all hours and places at once.

    Parameters
    ----------
    irradiance_w_per_m2, before_w_per_m2 : array, shape (n,), W/m2
        On the plane of the module, in this hour and in the one before.
    dry_bulb_c, dry_bulb_before_c : array, shape (n,), C
    wind_m_per_s : array, shape (n,), m/s
        At about 10 m.
    place_before : array of int, shape (n,)
        Where in these arrays the hour before stands; -1 where it had no sun and the module was as warm as the air.
    installed_noct_c : float or array, shape (n,), C
        Nominal operating temperature as installed: 45 on an open rack, 49 on a roof (PVWatts).

    Returns
    -------
    array, shape (n,), C

    Notes
    -----
    M. K. Fuentes, A simplified thermal model for flat-plate photovoltaic arrays, SAND85-0330, 1987, with the constants
    of pvlib.temperature.fuentes, which is the model of PVWatts. That function walks through the hours; an hour's end
    depends on its start by exp(-h/c x 3600 s), 0.04 in calm air and less in wind, so a few sweeps over all hours give
    the same to a thousandth of a kelvin.

    Examples
    --------
    >>> one = np.array([800.0])
    >>> air = np.array([20.0])
    >>> fuentes_c(one, one, air, air, np.array([1.0]), np.array([-1]), 45.0).round(0).tolist()
    [46.0]

    """
    noct = np.asarray(installed_noct_c, dtype=np.float64) + _KELVIN
    convection_ratio, ground_ratio, capacity = _calibrated(noct)
    air = dry_bulb_c + _KELVIN
    sky = 0.68 * (0.0552 * air**1.5) + 0.32 * air
    wind = wind_m_per_s * _WIND_SHARE + 1e-4
    sun, sun_before = irradiance_w_per_m2 * _ABSORPTION, before_w_per_m2 * _ABSORPTION
    known = place_before >= 0
    module = air + 0.03 * irradiance_w_per_m2
    for _ in range(_SWEEPS):
        start = np.where(known, module[place_before], dry_bulb_before_c + _KELVIN)
        convection = convection_ratio * _convection((module + air) / 2.0, wind, np.abs(module - air), turbulent=True)
        to_sky = _EMISSIVITY * _STEFAN_BOLTZMANN * (module**2 + sky**2) * (module + sky)
        ground = air + ground_ratio * (module - air)
        to_ground = _EMISSIVITY * _STEFAN_BOLTZMANN * (module**2 + ground**2) * (module + ground)
        losses = convection + to_sky + to_ground
        eigenvalue = -losses / capacity * 3600.0
        decay = np.exp(eigenvalue)
        gains = convection * air + to_sky * sky + to_ground * ground + sun_before + (sun - sun_before) / eigenvalue
        after = start * decay + ((1.0 - decay) * gains + sun - sun_before) / losses
        change = np.max(np.abs(after - module), initial=0.0)
        module = after
        if change < _ENOUGH_K:
            break
    return module - _KELVIN


def sandia_c(irradiance_w_per_m2: Numbers, dry_bulb_c: Numbers, wind_m_per_s: Numbers) -> Numbers:
    """Return cell temperatures by the model of Sandia, for modules of glass and polymer on an open rack.

    Parameters
    ----------
    irradiance_w_per_m2, dry_bulb_c, wind_m_per_s : array, shape (n,), W/m2, C and m/s

    Returns
    -------
    array, shape (n,), C

    Notes
    -----
    T = T_air + G exp(-3.56 - 0.075 v) + 3 G / 1000: King, Boyson and Kratochvil, SAND2004-3535, as in
    pvlib.temperature.sapm_cell.

    Examples
    --------
    >>> sandia_c(np.array([1000.0]), np.array([20.0]), np.array([1.0])).round(1).tolist()
    [49.4]

    """
    from pvlib import temperature

    constants = temperature.TEMPERATURE_MODEL_PARAMETERS["sapm"]["open_rack_glass_polymer"]
    found: Numbers = temperature.sapm_cell(irradiance_w_per_m2, dry_bulb_c, wind_m_per_s, **constants)
    return found


def _convection(mean_k: Any, wind_m_per_s: Any, difference_k: Any, *, turbulent: bool) -> Any:
    """Return free and forced convection of one side in W/(m2 K)."""
    density = 0.003484 * 101_325.0 / mean_k
    viscosity = 0.24237e-6 * mean_k**0.76 / density
    conductivity = 2.1695e-4 * mean_k**0.84
    reynolds = wind_m_per_s * _LENGTH_M / viscosity
    carried = density * wind_m_per_s * 1007.0
    forced = 0.8600 / np.sqrt(reynolds) * carried / 0.71**0.67
    if turbulent:
        forced = np.where(reynolds > 1.2e5, 0.0282 / reynolds**0.2 * carried / 0.71**0.4, forced)
    grashof = 9.8 / mean_k * difference_k * _LENGTH_M**3 / viscosity**2 * _TILT_SINE
    free = 0.21 * (grashof * 0.71) ** 0.32 * conductivity / _LENGTH_M
    return np.cbrt(free**3 + forced**3)


def _calibrated(noct_k: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return convection of both sides over that of the top, ground to air, and heat capacity, at the nominal point."""
    rise = noct_k - 293.15
    top = _convection((noct_k + 293.15) / 2.0, 1.0, rise, turbulent=False)
    ground_loss = _EMISSIVITY * _STEFAN_BOLTZMANN * (noct_k**2 + 293.15**2) * (noct_k + 293.15)
    sky_loss = _EMISSIVITY * _STEFAN_BOLTZMANN * (noct_k**4 - 282.21**4)
    back = (_ABSORPTION * 800.0 - sky_loss - top * rise) / ((ground_loss + top) * rise)
    ground = (noct_k**4 - back * (noct_k**4 - 293.15**4)) ** 0.25
    ground = np.minimum(np.maximum(ground, 293.15), noct_k)
    both = _ABSORPTION * 800.0 - _EMISSIVITY * _STEFAN_BOLTZMANN * (2.0 * noct_k**4 - 282.21**4 - ground**4)
    capacity = _CAPACITY_J_PER_M2_K * np.where(noct_k > 321.15, 1.0 + (noct_k - 321.15) / 12.0, 1.0)
    return both / (top * rise), (ground - 293.15) / rise, capacity
