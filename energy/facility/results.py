"""A described site through a year of weather: hours, annual figures with ranges, liquid against air."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy.errors import FacilityError
from energy.facility.cooling import Outdoors
from energy.facility.design import Design
from energy.facility.site_year import Annual, Hours, annual, facility_hours, outdoors_of, warnings
from energy.facility.thermal import Kind, class_needed
from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]
SAMPLES, SEED, EVERY = 256, 1, 5
PERCENTILES = (5.0, 50.0, 95.0)
_CHUNK = 16


@dataclass(frozen=True, slots=True, eq=False)
class FacilityYear:
    """A site's year. Ratios by hour are NaN where IT draws nothing or weather is missing.

    ``pue`` : kWh_facility/kWh_it; ``wue_…`` : L/kWh_it; ``parts_kw`` : kW at the facility by part.
    """

    name: str
    weather: WeatherYear
    hours: Hours
    start_utc: NDArray[np.datetime64]
    it_kw: Numbers
    facility_kw: Numbers
    parts_kw: Mapping[str, Numbers]
    pue: Numbers
    wue_withdrawn_l_per_kwh_it: Numbers
    wue_consumed_l_per_kwh_it: Numbers
    annual: Annual
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def facility_year(design: Design, weather: WeatherYear) -> FacilityYear:
    """Return what a site does in each hour of its weather, and in the year.

    Parameters
    ----------
    design : Design
    weather : WeatherYear

    Returns
    -------
    FacilityYear

    Raises
    ------
    FacilityError
        The load has another number of hours than the weather, or the design cannot be computed.

    Notes
    -----
    PUE = E_facility/E_IT (ISO/IEC 30134-2, category 3: IT at its input); WUE = site water/E_IT (30134-9), withdrawn and
    consumed apart; blow-down is withdrawn and not consumed.

    """
    load = np.asarray(design.it_load, dtype=np.float64)
    if load.ndim == 1 and load.size != weather.hours:
        raise FacilityError(
            f"{design.name}: it_load has {load.size} h and the weather {weather.hours} h: give as many."
        )
    load = np.broadcast_to(load, (weather.hours,))
    share = None if design.reuse is None else design.reuse.by_hour(weather.start_utc)
    hours = facility_hours(design.facility(), outdoors_of(weather), load, share)
    rated = design.built_it_kw
    with np.errstate(divide="ignore", invalid="ignore"):
        it = np.where(load > 0.0, load, np.nan)
        ratios = [value / it for value in (hours.facility, hours.withdrawn_l_per_h, hours.consumed_l_per_h)]
    found = annual(hours, rated)
    notes = [*_classes(design), *weather.notes]
    if found.missing_h:
        notes.append(f"{found.missing_h} h without weather are left out of all sums")
    return FacilityYear(
        name=design.name,
        weather=weather,
        hours=hours,
        start_utc=weather.start_utc,
        it_kw=load * rated,
        facility_kw=hours.facility * rated,
        parts_kw={name: part * rated for name, part in hours.parts.items()},
        pue=ratios[0],
        wue_withdrawn_l_per_kwh_it=np.broadcast_to(ratios[1], load.shape),
        wue_consumed_l_per_kwh_it=np.broadcast_to(ratios[2], load.shape),
        annual=found,
        warnings=warnings(hours),
        notes=tuple(notes),
    )


def _classes(design: Design) -> list[str]:
    """Return one line for each supply temperature: the thermal class that the servers must have."""
    facility = design.facility()
    supplies: list[tuple[Kind, Any]] = [("air", facility.plant.supply_high_c)]
    supplies += [("liquid", facility.loop.supply_c)] if facility.loop is not None else []
    found = []
    for kind, supply in supplies:
        one = class_needed(kind, float(supply))
        needs = "hotter than any thermal class" if one is None else f"class {one.name} ({one.status}) or better"
        found.append(f"{kind} is supplied at up to {float(supply):g} C: {needs}")
    return found


@dataclass(frozen=True, slots=True)
class AnnualRange:
    """5th, 50th and 95th percentile of annual figures over the ranges of all parameters that are not stated."""

    samples: int
    seed: int
    pue: tuple[float, float, float]
    wue_withdrawn_l_per_kwh_it: tuple[float, float, float]
    wue_consumed_l_per_kwh_it: tuple[float, float, float]


def annual_range(
    design: Design, weather: WeatherYear, samples: int = SAMPLES, seed: int = SEED, every: int = EVERY
) -> AnnualRange:
    """Return the range of the annual figures from the ranges of the parameters.

    Parameters
    ----------
    design : Design
    weather : WeatherYear
    samples : int
        Points; each parameter is uniform in its range, stratified, and held over the year.
    seed : int
        The same seed gives the same range.
    every : int
        Every which hour is computed; a step that shares no factor with 24 meets all hours of the day.

    Returns
    -------
    AnnualRange

    Raises
    ------
    FacilityError
        The design cannot be computed.

    """
    rows = np.arange(0, weather.hours, every)
    outdoors = outdoors_of(weather.taken(rows))
    known = ~np.isnan(outdoors.wet_bulb_c)
    outdoors = Outdoors(*(getattr(outdoors, name)[known] for name in Outdoors.__slots__))
    load = np.broadcast_to(np.asarray(design.it_load, dtype=np.float64), (weather.hours,))[rows][known]
    share = None if design.reuse is None else design.reuse.by_hour(weather.start_utc)[rows][known]
    points = design.samples(samples, seed)
    found = []
    for first in range(0, samples, _CHUNK):
        chunk = {name: values[first : first + _CHUNK, None] for name, values in points.items()}
        found.append(_ratios(facility_hours(design.facility(chunk), outdoors, load, share), load))
    table = np.concatenate(found, axis=1)
    ends = [tuple(float(value) for value in np.percentile(row, PERCENTILES)) for row in table]
    return AnnualRange(samples, seed, *ends)  # type: ignore[arg-type]  # three percentiles each


def _ratios(hours: Hours, load: Numbers) -> Numbers:
    """Return annual PUE and both WUE of each sample, shape (3, samples)."""
    shape = np.broadcast_shapes(np.shape(hours.facility), np.shape(hours.withdrawn_l_per_h))
    parts = (hours.facility, hours.withdrawn_l_per_h, hours.consumed_l_per_h)
    return np.array([np.broadcast_to(part, shape).sum(axis=-1) / load.sum() for part in parts])


Ends = tuple[Numbers, Numbers, Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class SiteRatios:
    """Ratios of single hours, each as value, low and high, shape (n,).

    ``pue`` : kWh_facility/kWh_it; ``wue_…`` : L/kWh_it; ``own_weather`` : bool, the hour's own weather was known, not
    that of the same hour of another year.
    """

    pue: Ends
    wue_withdrawn_l_per_kwh_it: Ends
    wue_consumed_l_per_kwh_it: Ends
    own_weather: NDArray[np.bool_]
    warnings: tuple[str, ...]


class YearFigures(NamedTuple):
    """Annual figures of a facility in its weather, and their range: what the range of its hours is taken from."""

    bounds: AnnualRange
    year: Annual


def year_figures(design: Design, weather: WeatherYear) -> YearFigures:
    """Return annual figures and their range, for several calls of :func:`ratios_by_hour`.

    Raises
    ------
    FacilityError
        The design cannot be computed.

    """
    return YearFigures(annual_range(design, weather), facility_year(design, weather).annual)


def ratios_by_hour(
    design: Design, weather: WeatherYear, hours: NDArray[np.datetime64], of_year: YearFigures | None = None
) -> SiteRatios:
    """Return PUE and WUE with low and high for hours of any years.

    Parameters
    ----------
    design : Design
        Its IT load is one fraction.
    weather : WeatherYear
        Each hour takes its own weather where the source has it, else that of its month, day and hour.
    hours : array of datetime64, shape (n,)
        Starts of UTC hours.
    of_year : YearFigures, optional
        Of :func:`year_figures` for the same facility and weather, where they are known already.

    Returns
    -------
    SiteRatios
        The range is the one of the annual figure: what an hour takes beyond IT, and its water, times those of the 5th
        and 95th percentile over those of the year. A year without water in the middle of all ranges has the
        percentile itself added to each hour.

    Raises
    ------
    FacilityError
        An hour has no weather, or IT draws nothing.
    WeatherError
        The weather has no row for an hour.

    """
    if np.ndim(design.it_load) != 0:
        raise FacilityError(f"{design.name}: for PUE by hour of any year give it_load as one fraction.")
    bounds, year = of_year or year_figures(design, weather)
    there = facility_year(design, weather.at(hours))
    missing = np.isnan(there.pue) | np.isnan(there.wue_withdrawn_l_per_kwh_it)
    if missing.any():
        raise FacilityError(f"{design.name}: {int(missing.sum())} h have no PUE: weather or IT load is missing.")
    low, _, high = ((end - 1.0) / (year.pue - 1.0) for end in bounds.pue)
    overhead = there.pue - 1.0
    withdrawn, consumed = there.wue_withdrawn_l_per_kwh_it, there.wue_consumed_l_per_kwh_it
    return SiteRatios(
        (there.pue, 1.0 + overhead * min(low, 1.0), 1.0 + overhead * max(high, 1.0)),
        _water_ends(withdrawn, year.wue_withdrawn_l_per_kwh_it, bounds.wue_withdrawn_l_per_kwh_it),
        _water_ends(consumed, year.wue_consumed_l_per_kwh_it, bounds.wue_consumed_l_per_kwh_it),
        weather.has(hours),
        there.warnings,
    )


def _water_ends(by_hour: Numbers, of_year: float, bounds: tuple[float, float, float]) -> Ends:
    low, _, high = bounds
    if of_year > 0.0:
        return by_hour, by_hour * min(low / of_year, 1.0), by_hour * max(high / of_year, 1.0)
    return by_hour, by_hour, by_hour + high


def pue_and_range_by_hour(design: Design, weather: WeatherYear, hours: NDArray[np.datetime64]) -> Ends:
    """Return PUE with low and high for hours of any years, as :func:`energy.facility.pue.pue_by_hour` does.

    Parameters, range and errors are those of :func:`ratios_by_hour`.

    Returns
    -------
    tuple of three arrays, shape (n,), kWh_facility/kWh_it

    """
    return ratios_by_hour(design, weather, hours).pue


def liquid_against_air(design: Design, weather: WeatherYear) -> Mapping[str, Any]:
    """Return total power of the same computing with the design's liquid cooling and with air.

    PUE alone would mislead: fans leave IT power, so its denominator falls.

    Parameters
    ----------
    design : Design
        With a loop.
    weather : WeatherYear

    Returns
    -------
    mapping
        ``air`` and ``liquid``: :class:`Annual`; ``energy_saved_fraction``: of facility energy.

    Raises
    ------
    FacilityError
        The design has no loop.

    """
    if design.liquid is None:
        raise FacilityError(f"{design.name} has no liquid cooling to compare with air: state liquid.")
    air, wet = facility_year(design.with_air(), weather).annual, facility_year(design, weather).annual
    return {
        "air": air,
        "liquid": wet,
        "energy_saved_fraction": 1.0 - wet.energy_facility_kwh / air.energy_facility_kwh,
    }
