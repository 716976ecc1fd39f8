"""Where the sun stands in each hour: for the hours that irradiance means belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Instants = NDArray[np.datetime64]

_GRID_S = 43_200
_DELTA_T_S = 67.0  # terrestrial less universal time, as pvlib takes it; a second moves the sun by 0.00004 degrees
_DEGREES_PER_H = 15.0
_HORIZON_DEG = -0.8333  # upper limb with refraction: rise and set as almanacs print them
_REFRACTION_AT_HORIZON_DEG = 0.5667


@dataclass(frozen=True, slots=True, eq=False)
class Sun:
    """The sun of each hour at its place.

    Attributes
    ----------
    zenith_deg : array, shape (n,)
        Apparent (refracted), in the middle of the part of the hour that has sun; over 90 where it has none.
    azimuth_deg : array, shape (n,)
        Clockwise from north.
    daylight : array, shape (n,)
        Share of the hour between sunrise and sunset.
    """

    zenith_deg: Numbers
    azimuth_deg: Numbers
    daylight: Numbers


def sun_of_hours(
    middle_utc: Instants,
    latitude_deg: Any,
    longitude_deg: Any,
    pressure_pa: Any,
    dry_bulb_c: Any,
    *,
    is_mean: Any = True,
) -> Sun:
    """Return the sun's place for hourly values of irradiance.

    Parameters
    ----------
    middle_utc : array of datetime64, shape (n,)
        Middle of each hour, or the instant where the values are instantaneous.
    latitude_deg, longitude_deg : float or array, shape (n,), degrees
        North and east are positive; an array serves the hours of many places in one call.
    pressure_pa, dry_bulb_c : float or array, shape (n,), Pa and C
        For the refraction near the horizon.
    is_mean : bool or array of bool, shape (n,)
        The values are means over the hour: in the hours of sunrise and sunset the sun is taken in the middle of the
        part that has sun. Otherwise the sun of the instant.

    Returns
    -------
    Sun
        Arrays of shape (n,).

    Notes
    -----
    Declination and hour angle by the solar position algorithm of NREL (pvlib.spa; Reda and Andreas 2004) on a grid of
    12 h, linear between, which is within 0.0003 degrees of the algorithm itself. The parallax of the sun (0.002
    degrees) is left out. With cos w0 = (sin(-0.8333) - sin lat sin dec) / (cos lat cos dec) the hour from H - 7.5 to
    H + 7.5 degrees has sun where it lies within -w0 and w0; the middle of that part is taken. Within 7.5 degrees of
    midnight the second part of an hour of midnight sun is left out.

    Examples
    --------
    >>> noon = np.array(["2026-06-21T12:00"], dtype="datetime64[s]")
    >>> found = sun_of_hours(noon, 51.48, 0.0, 101325.0, 20.0)
    >>> found.zenith_deg.round(1).tolist(), found.daylight.tolist()
    ([28.0], [1.0])

    """
    from pvlib import spa

    declination, greenwich = _declination_and_hour_angle(middle_utc)
    hour_angle = (greenwich + longitude_deg + 180.0) % 360.0 - 180.0
    latitude = np.radians(latitude_deg)
    sine = np.sin(latitude) * np.sin(declination)
    cosine = np.cos(latitude) * np.cos(declination)
    edge = (np.sin(np.radians(_HORIZON_DEG)) - sine) / np.maximum(cosine, 1e-12)
    set_deg = np.degrees(np.arccos(np.maximum(np.minimum(edge, 1.0), -1.0)))
    half = _DEGREES_PER_H / 2.0
    always = edge <= -1.0
    low = np.where(always, hour_angle - half, np.maximum(hour_angle - half, -set_deg))
    high = np.where(always, hour_angle + half, np.minimum(hour_angle + half, set_deg))
    daylight = np.maximum(high - low, 0.0) / _DEGREES_PER_H
    middle = np.where(is_mean & (daylight > 0.0), (low + high) / 2.0, hour_angle)
    turned = np.radians(middle)
    elevation = np.degrees(np.arcsin(np.minimum(sine + cosine * np.cos(turned), 1.0)))
    refraction = spa.atmospheric_refraction_correction(
        np.asarray(pressure_pa) / 100.0, dry_bulb_c, elevation, _REFRACTION_AT_HORIZON_DEG
    )
    azimuth = np.degrees(
        np.arctan2(np.sin(turned), np.cos(turned) * np.sin(latitude) - np.tan(declination) * np.cos(latitude))
    )
    return Sun(90.0 - elevation - refraction, azimuth + 180.0, daylight)


def _declination_and_hour_angle(instants: Instants) -> tuple[Numbers, Numbers]:
    """Return the declination in radians and the hour angle at Greenwich in degrees."""
    from pvlib import spa

    seconds = instants.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    first, last = np.floor(seconds.min() / _GRID_S), np.ceil(seconds.max() / _GRID_S) + 1.0
    grid = np.arange(first, last + 1.0) * _GRID_S
    sidereal, ascension, declination = spa.solar_position_numpy(
        grid, 0.0, 0.0, 0.0, 1013.25, 12.0, _DELTA_T_S, 0.5667, 1, sst=True
    )
    # only what is slow is interpolated: how far the true sun is ahead of the mean one, a few degrees around zero
    ahead = (sidereal - ascension - grid / 240.0) % 360.0 - 180.0
    hour_angle = np.interp(seconds, grid, ahead) + seconds / 240.0 - 180.0
    return np.interp(seconds, grid, np.radians(declination)), hour_angle
