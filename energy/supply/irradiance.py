"""Irradiance and air of the hours that have sun, of many places in one row of arrays, checked against the sun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.supply.extra import needs
from energy.supply.sun import Sun, sun_of_hours
from energy.weather.year import HOUR, WeatherYear

Numbers = NDArray[np.float64]
Source = Literal["measured", "from global", "from clouds", "clear sky"]

#: Mean distance of global from beam x cos z + diffuse over the mean of global. TMY3 files have 0.002, TMYx files 0.08
#: (their beam fits the sun of half an hour earlier), a clock that is wrong by an hour 0.12 and more.
CLOSURE_LIMIT = 0.10
#: Sunlit hours from which the mean says anything of a source: a few hours near sunrise alone are always apart.
_ENOUGH_LIT_H = 100
_CLOSES_WELL = 0.03
_OTHER_CLOCKS_H = (-1.0, -0.5, 0.5, 1.0)
#: Share of beam and diffuse that falls in hours without sun; files of a right clock have less than 0.001.
DARK_LIMIT = 0.004
#: The same where the values are of one instant, which may lie in the night while the hour has sun.
DARK_LIMIT_OF_INSTANTS = 0.015
_STANDARD_PA, _STANDARD_C = 101_325.0, 12.0


@dataclass(frozen=True, slots=True, eq=False)
class Irradiance:
    """Hours with sun and weather of several places, one after the other; all arrays have the shape (m,).

    ``spans[i]`` are the hours of place i, ``lit`` their rows in its year, ``before`` the place here of the hour before,
    -1 where that had no sun.
    """

    spans: tuple[slice, ...]
    lit: NDArray[np.intp]
    before: NDArray[np.intp]
    zenith_deg: Numbers
    azimuth_deg: Numbers
    beam: Numbers
    diffuse: Numbers
    horizontal: Numbers
    extraterrestrial: Numbers
    dry_bulb_c: Numbers
    dry_bulb_before_c: Numbers
    wind_m_per_s: Numbers
    missing: tuple[NDArray[np.bool_], ...]
    sources: tuple[Source, ...]
    notes: tuple[tuple[str, ...], ...]


def irradiance_of(weathers: Sequence[WeatherYear], *, clear_sky: bool = False) -> Irradiance:
    """Return the hours with sun of all places.

    Raises
    ------
    SupplyError
        A place, its irradiance or its wind is not known, or beam, diffuse and global do not fit the sun.

    Examples
    --------
    >>> from energy.weather.year import weather_year
    >>> hours = np.arange("2026-06-21T00", "2026-06-22T00", dtype="datetime64[h]")
    >>> flat = np.zeros(24)
    >>> day = weather_year(
    ...     times=hours, dry_bulb_c=flat + 20.0, relative_humidity=flat + 0.5, place="a roof", elevation_m=0.0,
    ...     source="example", kind="historical", convention="beginning", latitude_deg=51.5, longitude_deg=0.0,
    ...     wind_speed_m_per_s=flat + 2.0)
    >>> found = irradiance_of([day], clear_sky=True)
    >>> found.lit.size, found.sources
    (18, ('clear sky',))

    """
    needs("pvlib")
    sun = _sun(weathers)
    sizes = np.cumsum([0, *(one.hours for one in weathers)])
    spans: list[slice] = []
    parts, missing, sources, notes = [], [], [], []
    for index, weather in enumerate(weathers):
        rows = slice(int(sizes[index]), int(sizes[index + 1]))
        own = Sun(sun.zenith_deg[rows], sun.azimuth_deg[rows], sun.daylight[rows])
        part, lacks, source, said = _of_place(weather, own, clear_sky=clear_sky)
        first = spans[-1].stop if spans else 0
        part["before"] = np.where(part["before"] >= 0, part["before"] + first, -1)
        spans.append(slice(first, first + part["lit"].size))
        parts.append(part)
        missing.append(lacks)
        sources.append(source)
        notes.append(said)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Irradiance(spans=tuple(spans), missing=tuple(missing), sources=tuple(sources), notes=tuple(notes), **joined)


def _sun(weathers: Sequence[WeatherYear]) -> Sun:
    """Return the sun of all hours of all places, one after the other."""
    for one in weathers:
        if one.latitude_deg is None or one.longitude_deg is None:
            raise SupplyError(f"Weather of {one.place} names no latitude and longitude: the sun needs both.")
        if one.wind_speed_m_per_s is None:
            raise SupplyError(
                f"Weather of {one.place} has no wind speed, which cools the modules: give a file with it."
            )
    counts = [one.hours for one in weathers]
    return sun_of_hours(
        np.concatenate([one.sun_utc for one in weathers]),
        np.repeat(np.array([one.latitude_deg for one in weathers], dtype=np.float64), counts),
        np.repeat(np.array([one.longitude_deg for one in weathers], dtype=np.float64), counts),
        _known([one.pressure_pa for one in weathers], _STANDARD_PA),
        _known([one.dry_bulb_c for one in weathers], _STANDARD_C),
        is_mean=np.repeat(np.array([one.irradiance_offset_h == 0.5 for one in weathers]), counts),
    )


def _known(parts: Sequence[Numbers], standard: float) -> Numbers:
    """Return values for the refraction of the sun, the standard where the air is not known.

    A missing temperature must not hide the sun: the hour has sun, and its power is missing, not zero.
    """
    values = np.concatenate(parts)
    return np.where(np.isnan(values), standard, values)


def _of_place(
    weather: WeatherYear, sun: Sun, *, clear_sky: bool
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.bool_], Source, tuple[str, ...]]:
    """Return the arrays of one place, its hours without weather, what the irradiance rests on, and notes."""
    from pvlib import irradiance

    wind = weather.wind_speed_m_per_s
    lacks = np.isnan(weather.dry_bulb_c) | np.isnan(weather.pressure_pa)
    lacks |= np.isnan(wind) if wind is not None else False
    day = _day_of_year(weather)
    extraterrestrial = np.asarray(irradiance.get_extra_radiation(day), dtype=np.float64)
    up = (sun.daylight > 0.0) & (sun.zenith_deg < 90.0)
    beam, diffuse, source, notes = _beam_and_diffuse(weather, sun, up, day, extraterrestrial, clear_sky=clear_sky)
    lacks |= np.isnan(beam) | np.isnan(diffuse)
    lacks &= up  # in the dark nothing is needed
    lit = np.flatnonzero(up & ~lacks)
    _check_dark(weather, beam, diffuse, up)
    horizontal = beam * np.cos(np.radians(sun.zenith_deg)) + diffuse
    if source == "measured":
        notes += _closure(weather, horizontal, lit)
    earlier = np.maximum(lit - 1, 0)
    follows = (lit > 0) & (weather.start_utc[lit] - weather.start_utc[earlier] == HOUR)
    place = np.full(weather.hours, -1)
    place[lit] = np.arange(lit.size)
    earlier_air = weather.dry_bulb_c[earlier]
    arrays = {
        "lit": lit,
        "before": np.where(follows, place[earlier], -1),
        "zenith_deg": sun.zenith_deg[lit],
        "azimuth_deg": sun.azimuth_deg[lit],
        "beam": beam[lit],
        "diffuse": diffuse[lit],
        "horizontal": horizontal[lit],
        "extraterrestrial": extraterrestrial[lit],
        "dry_bulb_c": weather.dry_bulb_c[lit],
        "dry_bulb_before_c": np.where(follows & ~np.isnan(earlier_air), earlier_air, weather.dry_bulb_c[lit]),
        "wind_m_per_s": np.zeros(0) if wind is None else wind[lit],
    }
    return arrays, lacks, source, notes


def _day_of_year(weather: WeatherYear) -> Numbers:
    days = weather.start_utc.astype("datetime64[D]")
    result: Numbers = (days - days.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.float64) + 1.0
    return result


def _beam_and_diffuse(
    weather: WeatherYear,
    sun: Sun,
    up: NDArray[np.bool_],
    day: Numbers,
    extraterrestrial: Numbers,
    *,
    clear_sky: bool,
) -> tuple[Numbers, Numbers, Source, tuple[str, ...]]:
    """Return beam and diffuse irradiance, from the best that the weather has."""
    beam, diffuse, whole = weather.dni_w_per_m2, weather.dhi_w_per_m2, weather.ghi_w_per_m2
    if clear_sky:
        _, beam, diffuse = _clear_sky(weather, sun, up, extraterrestrial)
        return beam, diffuse, "clear sky", ("a sky without clouds: an upper bound, never a forecast",)
    if beam is not None and diffuse is not None:
        return beam, diffuse, "measured", ()
    if whole is not None:
        beam, diffuse = _split(whole, sun, up, day)
        return beam, diffuse, "from global", ("beam and diffuse split from global irradiance by Erbs",)
    if weather.cloud_cover is not None:
        clear, _, _ = _clear_sky(weather, sun, up, extraterrestrial)
        beam, diffuse = _split(clear * (1.0 - 0.75 * weather.cloud_cover**3.4), sun, up, day)
        note = "rough: irradiance made from cloud cover; the year of seven places erred by -21 % to +1 %, median -13 %"
        return beam, diffuse, "from clouds", (note,)
    raise SupplyError(
        f"Weather of {weather.place} has neither irradiance nor cloud cover: give a file that has, or ask for the "
        "clear sky, which is an upper bound."
    )


def _split(whole: Numbers, sun: Sun, up: NDArray[np.bool_], day: Numbers) -> tuple[Numbers, Numbers]:
    """Return beam and diffuse of global irradiance (Erbs, Klein and Duffie 1982)."""
    from pvlib import irradiance

    found = irradiance.erbs(whole[up], sun.zenith_deg[up], day[up])
    beam, diffuse = np.zeros(whole.size), np.zeros(whole.size)
    beam[up], diffuse[up] = found["dni"], found["dhi"]
    return beam, diffuse


def _clear_sky(
    weather: WeatherYear, sun: Sun, up: NDArray[np.bool_], extraterrestrial: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Return global, beam and diffuse of a sky without clouds (Ineichen and Perez 2002, monthly turbidity)."""
    import pandas as pd
    from pvlib import atmosphere, clearsky

    # by month, and linear from mid-month to mid-month: pvlib's own way between them is one that pandas takes away
    months = pd.DatetimeIndex([f"2023-{month:02}-15" for month in range(1, 13)], tz="UTC")
    place = (weather.latitude_deg, weather.longitude_deg)
    monthly = clearsky.lookup_linke_turbidity(months, *place, interp_turbidity=False).to_numpy()
    turbidity = np.interp(_day_of_year(weather)[up], months.day_of_year, monthly, period=365.25)
    mass = atmosphere.get_absolute_airmass(atmosphere.get_relative_airmass(sun.zenith_deg[up]), weather.pressure_pa[up])
    found = clearsky.ineichen(sun.zenith_deg[up], mass, turbidity, weather.elevation_m, extraterrestrial[up])
    parts = []
    for name in ("ghi", "dni", "dhi"):
        whole = np.zeros(weather.hours)
        whole[up] = found[name]
        parts.append(whole)
    return parts[0], parts[1], parts[2]


def _check_dark(weather: WeatherYear, beam: Numbers, diffuse: Numbers, up: NDArray[np.bool_]) -> None:
    """Refuse weather whose sun shines in the night: its clock or its place is wrong. A few hours alone tell nothing."""
    if int(up.sum()) < _ENOUGH_LIT_H:
        return
    light = np.nan_to_num(beam) + np.nan_to_num(diffuse)
    total = float(light.sum())
    share = float(light[~up].sum()) / total if total > 0.0 else 0.0
    limit = DARK_LIMIT if weather.irradiance_offset_h == 0.5 else DARK_LIMIT_OF_INSTANTS
    if share > limit:
        raise SupplyError(
            f"Weather of {weather.place}: {share:.1%} of beam and diffuse falls in hours without sun ({limit:.1%} "
            "at most): check its time zone, the interval convention, latitude and longitude."
        )


def _closure(weather: WeatherYear, horizontal: Numbers, lit: NDArray[np.intp]) -> tuple[str, ...]:
    """Compare global irradiance with its parts, where the weather has all three."""
    if weather.ghi_w_per_m2 is None:
        return ("the weather has no global irradiance: beam x cos z + diffuse is taken, and no closure is checked",)
    whole = weather.ghi_w_per_m2[lit]
    known = ~np.isnan(whole)
    total = float(whole[known].sum())
    if total <= 0.0:
        return ()
    if int(known.sum()) < _ENOUGH_LIT_H:
        return (f"the weather's clock is not checked: {int(known.sum())} hours of sun say too little of it",)
    apart = whole[known] - horizontal[lit][known]
    mean, bias = float(np.abs(apart).sum()) / total, round(float(apart.sum()) / total, 3) + 0.0
    hint = _better_clock(weather, mean) if mean > _CLOSES_WELL else ""
    if mean > CLOSURE_LIMIT:
        raise SupplyError(
            f"Weather of {weather.place}: global irradiance differs from beam x cos z + diffuse by {mean:.1%} on the "
            f"mean ({CLOSURE_LIMIT:.0%} at most): check its time zone, the interval convention and the place.{hint}"
        )
    note = f"global irradiance and beam x cos z + diffuse differ by {mean:.1%} on the mean, {bias:+.1%} in the sum"
    return (note + "." + hint if hint else note,)


def _better_clock(weather: WeatherYear, mean: float) -> str:
    """Return a sentence on the hour whose sun fits the irradiance much better, if there is one."""
    three = (weather.ghi_w_per_m2, weather.dni_w_per_m2, weather.dhi_w_per_m2)
    whole, beam, diffuse = (np.asarray(one, dtype=np.float64) for one in three)
    found = {}
    for shift in _OTHER_CLOCKS_H:
        sun = sun_of_hours(
            weather.sun_utc + np.timedelta64(round(shift * 3600.0), "s"),
            weather.latitude_deg,
            weather.longitude_deg,
            _known([weather.pressure_pa], _STANDARD_PA),
            _known([weather.dry_bulb_c], _STANDARD_C),
        )
        up = sun.zenith_deg < 90.0
        parts = (beam * np.cos(np.radians(sun.zenith_deg)) + diffuse)[up]
        found[shift] = float(np.nansum(np.abs(whole[up] - parts)) / np.nansum(whole[up]))
    best = min(found, key=found.__getitem__)
    if found[best] > 0.6 * mean:
        return ""
    when = "later" if best > 0 else "earlier"
    return f" The sun of {abs(best):g} h {when} fits better ({found[best]:.1%})."
