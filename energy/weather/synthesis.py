"""A year of hours from twelve monthly normals, where no hourly file exists: seeded, and marked as synthesised.

Daily means follow the months with a scatter from day to day; the day's wave has the month's mean daily range; the
vapour pressure follows the day with a scatter of its own. Monthly means of temperature and relative humidity come out
as given. The scatters are those of 23 hourly years (``scripts/fit_weather_scatter.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import WeatherError
from energy.weather import psychrometrics as air
from energy.weather.year import WeatherYear, weather_year

Numbers = NDArray[np.float64]

YEAR = 2021  # a year of 8,760 h that begins with a Friday; WeatherYear.for_year maps it to any other
DAYS = 365
WARMEST_HOUR = 15
# Standard deviation of a daily mean about its month, K, per K of half the range of the monthly means; fitted.
SCATTER_K, SCATTER_PER_K = 0.92, 0.19
DAY_MEMORY = 0.6  # correlation of a day's temperature with the day before; fitted, 0.48 to 0.68
HUMIDITY_SCATTER, HUMIDITY_MEMORY = 0.17, 0.5  # of ln of a day's vapour pressure over saturation; fitted
HOUR_SCATTER, HOUR_MEMORY = 0.12, 0.9  # of ln of the vapour pressure within a day; fitted, memory assumed
_BALANCING = 12


def synthesised_year(
    *,
    place: str,
    mean_temp_c: Any,
    daily_range_k: Any,
    relative_humidity: Any,
    elevation_m: float,
    source: str,
    seed: int,
    pressure_pa: Any = None,
    standard_offset_h: float = 0.0,
    **optional: Any,
) -> WeatherYear:
    """Return a year of hours with the given monthly means.

    Parameters
    ----------
    place, source : str
    mean_temp_c : array, shape (12,), C
        Mean dry bulb of each month.
    daily_range_k : array, shape (12,), K
        Mean daily maximum less mean daily minimum.
    relative_humidity : array, shape (12,), fraction
        Mean of each month.
    elevation_m : float, m
    seed : int
        The same seed gives the same hours.
    pressure_pa : array, shape (12,), Pa, optional
        Mean of each month; without it that of the standard atmosphere.
    standard_offset_h : float, h
        Standard time less UTC: where in UTC the day's wave lies.
    **optional
        Further fields of :class:`~energy.weather.year.WeatherYear`, such as coordinates and licence.

    Returns
    -------
    WeatherYear
        8,760 h of kind ``synthesised``; no irradiance, no wind.

    Raises
    ------
    WeatherError
        A list has not twelve numbers, or a value is none that air has.

    Notes
    -----
    T(t) = month(d) + s e(d) + R/2 cos(2 pi (h - 15)/24), with e an AR(1) series of days, s = 0.92 K + 0.19 A, A half
    the range of the monthly means. Left out one place at a time, s errs by 0.6 K (root mean square).

    Examples
    --------
    >>> months = [0, 2, 6, 10, 15, 18, 20, 19, 16, 11, 5, 2]
    >>> year = synthesised_year(place="a town", mean_temp_c=months, daily_range_k=[9] * 12,
    ...     relative_humidity=[0.7] * 12, elevation_m=100.0, source="example", seed=1)
    >>> july = year.start_utc.astype("datetime64[M]") == np.datetime64("2021-07")
    >>> float(year.dry_bulb_c[july].mean().round(3)), float(year.relative_humidity[july].mean().round(3))
    (20.0, 0.7)

    """
    means, ranges, humidity = (
        _twelve(values, name, place)
        for values, name in (
            (mean_temp_c, "mean_temp_c"),
            (daily_range_k, "daily_range_k"),
            (relative_humidity, "relative_humidity"),
        )
    )
    if np.any((humidity <= 0.0) | (humidity > 1.0)):
        raise WeatherError(
            f"Weather of {place}: relative_humidity is a fraction above 0 up to 1: divide percent by 100."
        )
    if np.any(ranges < 0.0):
        raise WeatherError(f"Weather of {place}: daily_range_k is below 0: give maximum less minimum of the day.")
    random = np.random.default_rng(seed)
    start = np.arange(f"{YEAR}-01-01T00", f"{YEAR + 1}-01-01T00", dtype="datetime64[h]")
    month = start.astype("datetime64[M]").astype(np.int64) % 12
    temperature = _temperature(means, ranges, month, standard_offset_h, random)
    relative = _humidity(humidity, temperature, month, random)
    pressure = None if pressure_pa is None else _twelve(pressure_pa, "pressure_pa", place)[month]
    notes = (*optional.pop("notes", ()), f"hours synthesised from monthly normals, seed {seed}")
    return weather_year(
        times=start,
        dry_bulb_c=temperature,
        relative_humidity=relative,
        pressure_pa=pressure,
        place=place,
        elevation_m=elevation_m,
        source=source,
        kind="synthesised",
        convention="beginning",
        standard_offset_h=standard_offset_h,
        notes=notes,
        **optional,
    )


def _twelve(values: Any, name: str, place: str) -> Numbers:
    try:
        found: Numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WeatherError(f"Weather of {place}: {name} must be twelve numbers, one for each month.") from None
    if found.shape != (12,) or not np.all(np.isfinite(found)):
        raise WeatherError(f"Weather of {place}: {name} must be twelve numbers, one for each month.")
    return found


def _series(size: int, memory: float, random: np.random.Generator) -> Numbers:
    """Return an AR(1) series of unit variance; it recurs in time, so it loops."""
    noise = random.standard_normal(size)
    found = noise.copy()
    for step in range(1, size):
        found[step] = memory * found[step - 1] + np.sqrt(1.0 - memory * memory) * noise[step]
    return found


def _by_hour(days: Numbers) -> Numbers:
    result: Numbers = np.interp(np.arange(days.size * 24) / 24.0, np.arange(days.size) + 0.5, days)
    return result


def _temperature(
    means: Numbers, ranges: Numbers, month: NDArray[np.int64], offset_h: float, random: np.random.Generator
) -> Numbers:
    lengths = np.bincount(month, minlength=12) / 24.0
    middles = np.cumsum(lengths) - lengths / 2.0
    around = np.concatenate([[middles[-1] - DAYS], middles, [middles[0] + DAYS]])

    def daily(values: Numbers) -> Numbers:
        found: Numbers = np.interp(np.arange(DAYS) + 0.5, around, np.concatenate([values[-1:], values, values[:1]]))
        return found

    scatter = SCATTER_K + SCATTER_PER_K * (means.max() - means.min()) / 2.0
    local = (np.arange(month.size) + 0.5 + offset_h) % 24.0
    wave = np.cos(2.0 * np.pi * (local - WARMEST_HOUR) / 24.0)
    found = _by_hour(daily(means) + scatter * _series(DAYS, DAY_MEMORY, random)) + 0.5 * _by_hour(daily(ranges)) * wave
    drift = means - np.bincount(month, weights=found, minlength=12) / np.bincount(month, minlength=12)
    result: Numbers = found + drift[month]
    return result


def _humidity(means: Numbers, temperature: Numbers, month: NDArray[np.int64], random: np.random.Generator) -> Numbers:
    days = _by_hour(temperature.reshape(DAYS, 24).mean(axis=1))
    noise = HUMIDITY_SCATTER * _by_hour(_series(DAYS, HUMIDITY_MEMORY, random))
    noise = noise + HOUR_SCATTER * _series(temperature.size, HOUR_MEMORY, random)
    shape = air.saturation_pressure_pa(days) / air.saturation_pressure_pa(temperature) * np.exp(noise)
    count = np.bincount(month, minlength=12)
    level = means.copy()
    for _ in range(_BALANCING):
        found = np.minimum(level[month] * shape, 1.0)
        level = level * means / (np.bincount(month, weights=found, minlength=12) / count)
    result: Numbers = np.minimum(level[month] * shape, 1.0)
    return result
