"""The hours of a scenario's site: PUE, water, what own plants leave to buy, and factors of the grid by hour.

With a first hour they are the hours of the run itself; with a year alone they are all hours of that year, for which the
run stands as their mean. Nothing is assumed: what the scenario does not name has no hours here.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.carbon.scope2 import FactorHours, SiteZones, factor_hours
from energy.catalogue import zone
from energy.catalogue.zones import Zone, abroad
from energy.errors import EnergyError, ScenarioError, SiteFileError, SupplyError
from energy.importers.yaml_text import parse_yaml, read_text
from energy.scenario.specification import Scenario, Site

if TYPE_CHECKING:
    from energy.facility.design import LiquidDesign
    from energy.facility.results import YearFigures
    from energy.ledger.site_facility import SiteFacility

Numbers = NDArray[np.float64]
Hours = NDArray[np.datetime64]
Ends = tuple[Numbers, Numbers, Numbers]

#: A run that lasts longer than this is no run; it also bounds the memory.
_LONGEST_H = 10 * 8784


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Hours that count, and how long the run is in each, h; ``is_year``: the run stands for the mean of a year."""

    start_utc: Hours
    duration_h: Numbers
    is_year: bool


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """PUE, and water in L/kWh_it by kind, as value, low and high by hour; status and what they rest on.

    ``server_cooling`` is what the facility takes the heat of its servers by; empty where it does not say.
    """

    pue: Ends | None
    water: Mapping[str, Ends]
    status: str
    source: str
    notes: tuple[str, ...] = ()
    server_cooling: str = ""


def span_of(scenario: Scenario, elapsed_h: float) -> Span | None:
    """Return the hours that a run of some length counts in; None where neither a first hour nor a year is given.

    Raises
    ------
    ScenarioError
        The run with a first hour is longer than ten years.

    Examples
    --------
    >>> from energy.scenario.specification import parse_scenario
    >>> text = "{work: {model: a}, system: {chip: b, chips: 1}, dates: {start: 2026-03-01T14:00Z}}"
    >>> span_of(parse_scenario(text), 2.5).duration_h.tolist()
    [1.0, 1.0, 0.5]

    """
    dates = scenario.dates
    if dates.start is not None:
        if elapsed_h > _LONGEST_H:
            raise ScenarioError(
                f"The run lasts {elapsed_h:,.0f} h, more than ten years from dates.start: give more chips, or "
                "dates.year alone for the mean of a year."
            )
        count = int(np.ceil(elapsed_h))
        first = np.datetime64(dates.start, "h")
        duration = np.ones(count)
        duration[-1] = elapsed_h - (count - 1)
        return Span(first + np.arange(count), duration, False)
    if dates.year is None:
        return None
    year = int(dates.year)
    hours = np.arange(np.datetime64(f"{year}-01-01T00", "h"), np.datetime64(f"{year + 1}-01-01T00", "h"))
    return Span(hours, np.full(hours.size, elapsed_h / hours.size), True)


def ratios_of(site: Site, span: Span | None, folder: Path) -> Ratios | None:
    """Return PUE and water of the site by hour, shape (n,); None where the scenario says nothing of either.

    Raises
    ------
    ScenarioError
        PUE or water is named in two ways, or a facility has no hours to be computed for.
    SiteFileError, FacilityError, WeatherError, UnknownNameError
        The facility, its weather or the published figures cannot be read.

    """
    named = [name for name in ("pue", "facility", "published") if getattr(site, name) is not None]
    if len(named) > 1:
        raise ScenarioError(f"site has {' and '.join(named)}, which each say the PUE: give one.")
    if site.weather is not None and site.facility is None:
        raise ScenarioError("site.weather has no effect without site.facility: name a facility, or leave it out.")
    count = 1 if span is None else span.start_utc.size
    given = {
        kind: _same(value, count)
        for kind, value in (
            ("withdrawn", site.wue_withdrawn_l_per_kwh_it),
            ("consumed", site.wue_consumed_l_per_kwh_it),
        )
        if value is not None
    }
    if site.facility is not None:
        found = _modelled(site, span, folder)
        return found if not given else Ratios(found.pue, given, found.status, found.source, found.notes)
    if site.published is not None:
        return _published(site, count, given)
    if site.pue is None and not given:
        return None
    return Ratios(None if site.pue is None else _same(site.pue, count), given, "given", "given in the scenario")


def _same(value: float, count: int) -> Ends:
    one = np.full(count, value)
    return one, one, one


def _modelled(site: Site, span: Span | None, folder: Path) -> Ratios:
    from energy.facility.results import ratios_by_hour

    if span is None:
        raise ScenarioError("site.facility is computed by the hour: give dates.start or dates.year (--year).")
    try:
        found, of_year = _facility(site, folder)
    except SiteFileError as error:
        raise ScenarioError(str(error).replace("the ledger's folder", "the folder of the scenario")) from None
    hours = ratios_by_hour(found.design, found.weather, span.start_utc, of_year)
    own = bool(hours.own_weather.all())
    water = {"withdrawn": hours.wue_withdrawn_l_per_kwh_it, "consumed": hours.wue_consumed_l_per_kwh_it}
    load = "PUE and water by hour are those of the facility as a whole, at the load that its design names."
    notes = [load, *hours.warnings]
    source = found.source(own_weather=own)
    return Ratios(hours.pue, water, "estimate", source, tuple(notes), _server_cooling(found.design.liquid))


#: Worked facilities with their weather that are kept for the next scenario, the oldest first.
_KEPT: OrderedDict[str, tuple[SiteFacility, YearFigures]] = OrderedDict()
_MOST_KEPT = 32


def _facility(site: Site, folder: Path) -> tuple[SiteFacility, YearFigures]:
    """Return a facility in its weather with its year; those that no file holds, which may be written anew, are kept."""
    from energy.facility.results import year_figures
    from energy.ledger.site_facility import site_facility

    key = json.dumps([site.facility, site.weather], sort_keys=True, default=str)
    if key in _KEPT:
        _KEPT.move_to_end(key)
        return _KEPT[key]
    name = site.facility if isinstance(site.facility, str) else "site"
    place = site_facility(name, site.facility, site.weather, folder, "site")
    found = place, year_figures(place.design, place.weather)
    if not any(_is_file(text, folder) for text in _texts([site.facility, site.weather])):
        _KEPT[key] = found
        while len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _is_file(text: str, folder: Path) -> bool:
    return "." in text and (folder / text).is_file()


def _server_cooling(loop: LiquidDesign | None) -> str:
    """Return how servers of a facility give off their heat, in the words of nodes: behind rear doors they have fans."""
    if loop is None or loop.technology == "rear_door":
        return "air"
    return "immersion" if "immersion" in loop.technology else "liquid"


def _published(site: Site, count: int, given: Mapping[str, Ends]) -> Ratios:
    from energy.facility.operators import published

    said = site.published
    if said is None:
        raise ScenarioError("site.published is empty: name provider, region and year.")
    found = published(said.provider, said.region, said.year)
    if found.pue is None:
        raise ScenarioError(f"site.published: {found.name}: no PUE was printed. Give site.pue or another year.")
    notes = ["A PUE of a whole year holds in each hour."]
    if found.wue_l_per_kwh_it is not None and not given:
        notes.append(
            f"WUE {found.wue_l_per_kwh_it:g} L/kWh (IT) was printed, not whether it is withdrawn or consumed: "
            "give it as site.wue_withdrawn or site.wue_consumed."
        )
    source = f"{found.name} ({', '.join(found.source)})"
    return Ratios(_same(found.pue, count), given, "catalogue", source, tuple(notes))


def factors_of(site: Site, span: Span | None) -> list[FactorHours]:
    """Return the factors of the site's grid for each hour: location-based, market-based without contracts, hourly.

    Raises
    ------
    ScenarioError
        The factor is named in two ways, a year or a policy is missing, or a key has no effect.
    FactorError, UnknownNameError
        The zone is not known, or has no factor that the policy allows.

    """
    if site.intensity_gco2e_per_kwh_facility is not None:
        if site.zone is not None:
            raise ScenarioError("site has intensity and zone, which each say the factor: give one.")
        hours = np.array(["1970-01-01T00"], dtype="datetime64[h]") if span is None else span.start_utc
        value = np.full(hours.size, site.intensity_gco2e_per_kwh_facility)
        given = "the factor is given: whether it is of the year of the run is not known"
        return [FactorHours("site", "location", "given in the scenario", hours, value, "given", given, "")]
    if site.zone is None:
        idle = ("residual_zone", "hourly_zone", "boundary", "factor_policy")
        unused = next((name for name in idle if getattr(site, name) is not None), None)
        if unused is not None:
            raise ScenarioError(f"site.{unused} has no effect without site.zone: name the zone, or leave it out.")
        return []
    if span is None:
        raise ScenarioError("Factors of a zone have years: give dates.year (--year) or dates.start.")
    place = zone(site.zone)
    if not place.annual_zone_id:
        raise ScenarioError(
            f"site.zone: {place.zone_id} has hours but no annual factor: {place.note}. Set zone to an annual zone "
            "(energy catalogue zones) and hourly_zone to this one."
        )
    residual = _of_the_country(place, "residual_zone", site.residual_zone) or place
    hourly = _of_the_country(place, "hourly_zone", site.hourly_zone)
    zones = SiteZones(
        "site",
        place.annual_zone_id,
        residual.annual_zone_id or residual.zone_id,
        None if hourly is None else hourly.zone_id,
        site.boundary,
        site.factor_policy or "exact",
    )
    try:
        return factor_hours(zones, span.start_utc)
    except EnergyError as error:
        raise ScenarioError(str(error).replace("in site.yaml", "under site:").replace("Site site:", "site:")) from None


def _of_the_country(place: Zone, key: str, name: str | None) -> Zone | None:
    """Return another zone that stands in for a place: its borders may differ, its country may not."""
    if name is None:
        return None
    other = zone(name)
    if said := abroad(place, other):
        raise ScenarioError(f"site.{key}: {said}.")
    return other


@dataclass(frozen=True, slots=True, eq=False)
class Bought:
    """Share of each hour's energy that is bought, 0 to 1, and energies of the own plants by name and hour."""

    grid_share: Numbers
    energy_facility_kwh: Mapping[str, Numbers]
    source: str
    notes: tuple[str, ...]


def bought_of(scenario: Scenario, span: Span | None, load_facility_kw: Numbers, folder: Path) -> Bought | None:
    """Return what own plants and a battery leave to buy; None where the scenario has no supply.

    Parameters
    ----------
    scenario : Scenario
        Its ``supply`` names a file, or has its keys: plants and battery; ``load`` is the whole site's, the run's own
        without it.
    span : Span or None
    load_facility_kw : array, shape (n,) or (rows, n), kW_facility
        Of the run, or of several of the same hours.
    folder : Path
        Where files lie.

    Raises
    ------
    ScenarioError
        There are no hours, a key has no effect here, or the site's load is less than the run's.
    SupplyError, WeatherError
        A plant or its weather cannot be computed.

    """
    if scenario.supply is None:
        return None
    if span is None:
        raise ScenarioError("Own plants are computed by the hour: give dates.start or dates.year (--year).")
    from energy.ledger.site_facility import site_facility, weather_of_site, weather_words
    from energy.supply.dispatch import greedy
    from energy.supply.site_supply import battery_of, plants, weather_of_file
    from energy.supply.specification import supply_file

    keys, base = _supply_keys(scenario.supply, folder)
    named = keys.pop("weather", None) if isinstance(keys.get("weather"), str) else None
    asked = supply_file({"load": "0 kW", **keys}, "supply")
    weather, words = weather_of_file(asked, base), ""
    if weather is None and named is not None:
        weather = weather_of_site(named, "supply", base)
    if weather is None and scenario.site.facility is not None:
        weather = site_facility("site", scenario.site.facility, scenario.site.weather, folder, "site").weather
    if weather is not None:
        words = f"; weather of {weather_words(weather, None, base)}"
        weather = weather.at(span.start_utc)
    load = load_facility_kw if "load" not in keys else asked.load.hours(span.start_utc.size, base)
    if bool(np.any(load < load_facility_kw * (1.0 - 1e-9))):
        raise ScenarioError(
            f"supply.load of {float(load.min()):g} kW is less than the run's own {float(load_facility_kw.max()):g} kW "
            "at the meter: it is the whole site's load."
        )
    own = plants(asked, weather, span.start_utc.size, base)
    loads = np.broadcast_to(load, load_facility_kw.shape).reshape(-1, span.start_utc.size)
    made = np.broadcast_to(own.generation_facility_kwh, loads.shape)
    flows = greedy(loads, made, [battery_of(asked)] * len(loads)).checked()
    grid = flows.grid_facility_kwh.reshape(load_facility_kw.shape)
    share = np.divide(grid, load, out=np.ones(grid.shape), where=load > 0.0)
    parts = {"generation": made, "excess": flows.excess_facility_kwh}
    energies = {name: values.reshape(load_facility_kw.shape) for name, values in parts.items()}
    return Bought(share, energies, f"modelled: own plants and battery by the greedy rule{words}", own.notes)


def _supply_keys(supply: str | dict[str, Any], folder: Path) -> tuple[dict[str, Any], Path]:
    """Return the keys of ``supply`` and what paths in them start from."""
    base = folder
    if isinstance(supply, str):
        path = folder / supply
        if not path.is_file():
            raise ScenarioError(f"supply: {supply} is no file beside the scenario: put it there, or write keys.")
        base = path.parent
        supply = parse_yaml(read_text(path, SupplyError), path.name, SupplyError)
    if not isinstance(supply, dict):
        raise ScenarioError("supply: give keys with their values, such as photovoltaics or battery.")
    idle = next((key for key in supply if key in ("grid", "dispatch", "shifting", "generators")), None)
    if idle is not None:
        raise ScenarioError(
            f"supply.{idle} has no effect here: a run buys what plants and battery by the greedy rule leave. Leave it "
            "out, or ask `energy supply`."
        )
    if not {"photovoltaics", "wind"} & set(supply):
        raise ScenarioError("supply: no plant: name photovoltaics or wind.")
    return dict(supply), base
