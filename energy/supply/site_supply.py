"""One site's hours with its plants, battery and grid: what ``energy supply`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.carbon.combustion import combustion
from energy.errors import SupplyError
from energy.provenance import Basis
from energy.supply.battery import Battery, faded_capacity, limited_by_c_rate
from energy.supply.dispatch import Dispatch, greedy
from energy.supply.generators import fuel_of_runs
from energy.supply.matching import matching_of
from energy.supply.optimum import Optimum, Terms, optimal
from energy.supply.photovoltaics import PhotovoltaicSystem, PhotovoltaicYear, photovoltaic_year
from energy.supply.shifting import Shift, in_time, saving
from energy.supply.specification import Generators, SupplyFile, Wind, column_of
from energy.supply.typical import tmy3_weather
from energy.supply.wind import cubic_curve, wind_power
from energy.units import quantity
from energy.weather.readers import read_weather
from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]
_HOURS_OF_A_YEAR = 8760
_NETTED = 1e-5
_GOALS = {"cost": "the cost of energy", "carbon": "average emissions", "matching": "load that is not carbon-free"}
_NO_BATTERY = Battery(0.0, 0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its unit; None is not known."""

    value: float | None
    unit: str


@dataclass(frozen=True, slots=True, eq=False)
class SiteSupply:
    """What was found: figures by group, the hours themselves, and notes.

    ``figures[group][name]`` are of all hours; ``greedy`` is always there, ``optimum`` where a goal was named.
    """

    name: str
    hours: int
    figures: Mapping[str, Mapping[str, Figure]]
    greedy: Dispatch
    optimum: Optimum | None
    photovoltaics: PhotovoltaicYear | None
    notes: tuple[str, ...]


def site_supply(asked: SupplyFile, folder: Path) -> SiteSupply:
    """Return the hours and figures of a supply file.

    Parameters
    ----------
    asked : SupplyFile
    folder : Path
        Where the files lie that it names.

    Returns
    -------
    SiteSupply

    Raises
    ------
    SupplyError
        A file or a value does not fit.
    """
    weather = weather_of_file(asked, folder)
    count = _hours(asked, weather, folder)
    load = asked.load.hours(count, folder)
    notes: list[str] = []
    figures: dict[str, dict[str, Figure]] = {}
    shifted = _shifted(asked, load, folder, figures)
    load = load if shifted is None else load + _pue(asked) * (shifted.after_it_kwh - shifted.before_it_kwh)[0]
    own = plants(asked, weather, count, folder)
    sun = own.photovoltaics
    notes += own.notes
    if sun is not None:
        figures["photovoltaics"] = {
            "energy_facility": Figure(sun.energy_facility_kwh, "kWh_facility"),
            **{f"lost_to_{word}": Figure(sun.energy_parts_kwh[part], "kWh") for part, word in _LOST.items()},
        }
    if own.wind_facility_kwh is not None:
        figures["wind"] = {"energy_facility": Figure(float(own.wind_facility_kwh.sum()), "kWh_facility")}
    generation = own.generation_facility_kwh
    battery = battery_of(asked)
    by_rule = greedy(load, generation, [battery])
    figures["greedy"] = _figures_of(by_rule, asked, folder, notes)
    best = _optimum(asked, by_rule, battery, folder, figures, notes)
    _fading(asked, by_rule, figures)
    if asked.generators is not None:
        figures["generators"] = _generators(asked.generators)
    return SiteSupply(asked.name, count, figures, by_rule, best, sun, tuple(dict.fromkeys(notes)))


@dataclass(frozen=True, slots=True, eq=False)
class Plants:
    """What the plants of a supply file give by hour, shape (n,), and notes; None: there is no such plant."""

    generation_facility_kwh: Numbers
    photovoltaics: PhotovoltaicYear | None
    wind_facility_kwh: Numbers | None
    notes: tuple[str, ...]


def plants(asked: SupplyFile, weather: WeatherYear | None, count: int, folder: Path) -> Plants:
    """Return what sun and wind give in each hour of some weather.

    Parameters
    ----------
    asked : SupplyFile
    weather : WeatherYear or None
        Hours of the plants; None where nothing needs weather.
    count : int
        Number of hours, the weather's where there is one.
    folder : Path
        Where the files lie that the supply file names.

    Raises
    ------
    SupplyError
        A plant lacks weather or a value, or weather has gaps in hours with sun.

    """
    notes: list[str] = []
    generation = np.zeros(count)
    sun = _sun(asked, weather)
    if sun is not None:
        if sun.missing_h:
            raise SupplyError(f"{sun.missing_h} h of sun have no weather: fill them in the file, nothing is assumed.")
        generation = generation + sun.power_facility_kw
        notes += sun.notes
    blown = None
    if asked.wind is not None:
        blown = _wind(asked.wind, weather, count, folder, notes)
        generation = generation + blown
    return Plants(generation, sun, blown, tuple(notes))


_LOST = {part: part for part in ("reflection", "temperature", "conversion", "clipping")} | {"losses": "system"}


def weather_of_file(asked: SupplyFile, folder: Path) -> WeatherYear | None:
    """Return the weather that a supply file names, or None.

    Raises
    ------
    SupplyError, WeatherError
        It names two, or it cannot be read.

    """
    if asked.weather is None:
        return None
    one = asked.weather
    if one.typical is not None and one.model_fields_set <= {"typical", "clear_sky"}:
        return tmy3_weather(one.typical)
    if one.file is None or one.typical is not None:
        raise SupplyError("weather needs file, or typical alone: a year that ships with pvlib, such as 723170TYA.CSV.")
    return read_weather(
        folder / one.file,
        standard_offset_h=one.standard_offset_h,
        convention=one.convention,
        place=one.place,
        elevation_m=one.elevation,
        latitude_deg=one.latitude_deg,
        longitude_deg=one.longitude_deg,
        kind=one.kind,
    )


def _hours(asked: SupplyFile, weather: WeatherYear | None, folder: Path) -> int:
    if weather is not None:
        return weather.hours
    if asked.load.constant is None:
        return int(column_of(folder / asked.load.file, asked.load.column, asked.load.unit).size)
    return _HOURS_OF_A_YEAR


def _sun(asked: SupplyFile, weather: WeatherYear | None) -> PhotovoltaicYear | None:
    if asked.photovoltaics is None:
        return None
    if weather is None:
        raise SupplyError("photovoltaics need weather: add weather with a file.")
    one = asked.photovoltaics
    optional = {
        name: value
        for name in ("dc_ac_ratio", "inverter_efficiency", "losses", "module", "albedo")
        if (value := getattr(one, name)) is not None
    }
    system = PhotovoltaicSystem(one.capacity, one.mounting, one.tilt_deg, one.azimuth_deg, **optional)
    return photovoltaic_year(weather, system, clear_sky=asked.weather is not None and asked.weather.clear_sky)


def _wind(one: Wind, weather: WeatherYear | None, count: int, folder: Path, notes: list[str]) -> Numbers:
    if one.profile is not None:
        return one.capacity * one.profile.hours(count, folder) * (1.0 - one.losses)
    named = ("measured_height", "hub_height", "shear_exponent", "cut_in", "rated", "cut_out")
    lacking = [name for name in named if getattr(one, name) is None]
    if lacking or weather is None or weather.wind_speed_m_per_s is None:
        lack = ", ".join(f"wind.{name}" for name in lacking) or "weather with wind"
        raise SupplyError(f"wind needs a profile, or {', '.join(named)} and weather with wind; missing: {lack}.")
    curve = cubic_curve(*(float(getattr(one, name)) for name in named[3:]))
    notes.append(f"wind: power curve of {curve.source}")
    found = wind_power(
        quantity(one.capacity, "kW_facility"),
        quantity(weather.wind_speed_m_per_s, "m/s"),
        quantity(one.measured_height, "m"),
        quantity(one.hub_height, "m"),
        one.shear_exponent,
        curve,
        quantity(weather.dry_bulb_c, "degC"),
        quantity(weather.pressure_pa, "Pa"),
        one.losses,
    )
    return np.asarray(found.magnitude, dtype=np.float64)


def battery_of(asked: SupplyFile) -> Battery:
    """Return the battery of a supply file; one of no capacity where it names none."""
    one = asked.battery
    if one is None:
        return _NO_BATTERY
    powers = [one.charge_power, one.discharge_power]
    if one.c_rate_per_h is not None:
        powers = [limited_by_c_rate(one.capacity, power, one.c_rate_per_h) for power in powers]
    return Battery(
        capacity_kwh=one.capacity,
        charge_power_kw=powers[0],
        discharge_power_kw=powers[1],
        charge_efficiency=one.charge_efficiency,
        discharge_efficiency=one.discharge_efficiency,
        minimum_state=one.minimum_state,
        maximum_state=one.maximum_state,
        initial_state=one.minimum_state if one.initial_state is None else one.initial_state,
        self_discharge_per_h=one.self_discharge_per_h,
    )


def _series(asked: SupplyFile, name: str, count: int, folder: Path) -> Numbers | None:
    found = None if asked.grid is None else getattr(asked.grid, name)
    return None if found is None else found.hours(count, folder)


def _figures_of(found: Dispatch, asked: SupplyFile, folder: Path, notes: list[str]) -> dict[str, Figure]:
    """Return energy, money, emissions and scores of a dispatch; what cannot be told is left out, with a note."""
    count = found.load_facility_kwh.shape[1]
    parts = ("load", "generation", "charge", "discharge", "grid", "excess")
    figures = {
        f"{name}_energy": Figure(float(getattr(found, f"{name}_facility_kwh").sum()), "kWh_facility") for name in parts
    }
    cycles = float(found.full_cycles[0])
    if np.isfinite(cycles):
        figures["full_cycles"] = Figure(cycles, "")
    share = _series(asked, "carbon_free_share", count, folder)
    if found.load_facility_kwh.sum() > 0.0:
        own = matching_of(found, 0.0)
        figures["score_24_7"] = Figure(None if share is None else matching_of(found, share).score, "")
        figures["score_24_7_own_plants"] = Figure(own.score, "")
        figures["annual_matching"] = Figure(own.annual_matching, "")
    if share is None:
        notes.append("no score_24_7: grid.carbon_free_share is not known")
    terms = _terms(asked, "cost", count, folder)
    if terms is not None:
        figures["energy_cost"] = Figure(terms.value_of(found), "USD")
    for name, key in (("intensity", "emissions_average"), ("marginal_intensity", "emissions_marginal")):
        intensity = _series(asked, name, count, folder)
        if intensity is not None:
            figures[key] = Figure(float(intensity @ found.grid_facility_kwh[0]), "kgCO2e")
    if "emissions_marginal" in figures:
        notes.append("emissions by average and by marginal intensity answer two questions and are never added")
    return figures


def _terms(asked: SupplyFile, goal: str, count: int, folder: Path) -> Terms | None:
    """Return what hours count for, or None where the file does not say."""
    if asked.grid is None:
        return None
    sold = None
    if goal == "cost":
        weights, sold = _series(asked, "price", count, folder), _series(asked, "sold_price", count, folder)
    elif goal == "carbon":
        weights = _series(asked, "intensity", count, folder)
    else:
        share = _series(asked, "carbon_free_share", count, folder)
        weights = np.ones(count) if share is None else 1.0 - share
    if weights is None:
        return None
    may_charge = asked.dispatch is not None and asked.dispatch.charge_from_grid and goal != "matching"
    return Terms(weights, sold, asked.grid.limit, asked.grid.sold_limit, may_charge_from_grid=may_charge)


def _optimum(
    asked: SupplyFile,
    by_rule: Dispatch,
    battery: Battery,
    folder: Path,
    figures: dict[str, dict[str, Figure]],
    notes: list[str],
) -> Optimum | None:
    """Return the best dispatch for the goal, and how far the greedy rule is from it."""
    if asked.dispatch is None:
        notes.append("no dispatch.goal: the greedy rule alone was run")
        return None
    goal = asked.dispatch.goal
    count = by_rule.load_facility_kwh.shape[1]
    terms = _terms(asked, goal, count, folder)
    if terms is None:
        key = {"cost": "price", "carbon": "intensity"}.get(goal, "carbon_free_share")
        raise SupplyError(f"dispatch.goal {goal} needs grid.{key}: add it.")
    if goal == "matching" and asked.dispatch.charge_from_grid:
        notes.append("for the score the battery holds own surplus only: charge_from_grid was left out")
    best = optimal(
        by_rule.load_facility_kwh,
        by_rule.generation_facility_kwh,
        battery,
        terms,
        end_at_least_kwh=float(by_rule.stored_kwh[0, -1]),
    )
    unit = {"cost": "USD", "carbon": "kgCO2e"}.get(goal, "kWh_facility")
    value = terms.value_of(by_rule)
    gap = (value - best.bound) / abs(best.bound) * 100.0 if best.bound else 0.0 if value == 0.0 else None
    figures["optimum"] = {
        **_figures_of(best.dispatch, asked, folder, notes),
        "goal_of_greedy": Figure(value, unit),
        "goal_of_optimum": Figure(best.value, unit),
        "goal_bound": Figure(best.bound, unit),
        "gap_of_greedy": Figure(gap, "%"),
        "time": Figure(best.seconds, "s"),
    }
    notes.append(f"the optimum makes {_GOALS[goal]} least and knows every hour in advance; greedy does not")
    if best.value - best.bound > _NETTED * abs(best.bound):
        notes.append(f"opposite flows of the optimum were netted in {best.netted_h} h: the bound lies below its value")
    if asked.grid is not None and asked.grid.limit is not None:
        over = int(np.count_nonzero(by_rule.grid_facility_kwh > asked.grid.limit * (1.0 + 1e-9)))
        if over:
            notes.append(f"the greedy rule exceeds grid.limit in {over} h, so its gap is no fair comparison")
    return best


def _fading(asked: SupplyFile, found: Dispatch, figures: dict[str, dict[str, Figure]]) -> None:
    one = asked.battery
    if one is None or (one.calendar_fade_per_year is None and one.cycle_fade_per_full_cycle is None):
        return
    if one.calendar_fade_per_year is None or one.cycle_fade_per_full_cycle is None:
        raise SupplyError("battery: fading needs calendar_fade_per_year and cycle_fade_per_full_cycle: give both.")
    years = found.load_facility_kwh.shape[1] / _HOURS_OF_A_YEAR
    left = faded_capacity(
        quantity(one.capacity, "kWh"),
        quantity(years, "yr"),
        float(found.full_cycles[0]),
        quantity(one.calendar_fade_per_year, "1/yr"),
        one.cycle_fade_per_full_cycle,
    )
    figures["greedy"]["capacity_at_end"] = Figure(float(left.magnitude), "kWh")


def _pue(asked: SupplyFile) -> float:
    if asked.shifting is None:
        raise SupplyError("There is no shifting in the file.")
    return asked.shifting.pue


def _shifted(asked: SupplyFile, load: Numbers, folder: Path, figures: dict[str, dict[str, Figure]]) -> Shift | None:
    """Return the load shifted by the greedy rule, with savings by each intensity that the file has, never mixed."""
    one = asked.shifting
    if one is None:
        return None
    signal = _series(asked, one.by, load.size, folder)
    if signal is None:
        raise SupplyError(f"shifting.by {one.by} needs grid.{one.by}: add it.")
    it = load / one.pue
    flexible = one.flexible_share * it
    room = one.capacity - (it - flexible)
    if room.min() < 0.0:
        raise SupplyError(f"shifting.capacity of {one.capacity:g} kW (IT) is below the load that cannot wait.")
    found = in_time(flexible, room, signal * one.pue, latest_h=one.latest_h)
    best = in_time(flexible, room, signal * one.pue, latest_h=one.latest_h, rule="optimum")
    unit = "USD" if one.by == "price" else "kgCO2e"
    figures["shifting"] = {
        "moved_energy": Figure(found.moved_it_kwh, "kWh_it"),
        **{
            f"saved_{key}": Figure(float((signal * one.pue) @ (part.before_it_kwh - part.after_it_kwh)[0]), unit)
            for key, part in (("greedy", found), ("optimum", best))
        },
    }
    for name, method in (("intensity", "hourly"), ("marginal_intensity", "marginal")):
        intensity = _series(asked, name, load.size, folder)
        if intensity is not None:
            saved = saving(found, intensity, one.pue, Basis(method=method)).saved_kgco2e
            figures["shifting"][f"saved_emissions_{method}"] = Figure(saved, "kgCO2e")
    return found


def _generators(one: Generators) -> dict[str, Figure]:
    burnt: Any
    if one.fuel is not None:
        burnt = quantity(one.fuel, "L")
    else:
        names = ("rated_power", "output", "duration", "standing_fuel", "fuel_per_energy")
        lacking = [name for name in names if getattr(one, name) is None]
        if lacking:
            raise SupplyError(f"generators need fuel, or {', '.join(names)}; missing: {', '.join(lacking)}.")
        units = ("kW_facility", "kW_facility", "h", "L/h/kW_facility", "L/kWh_facility")
        burnt = fuel_of_runs(*(quantity(getattr(one, name), unit) for name, unit in zip(names, units, strict=True)))
    found = combustion(one.fuel_name, burnt, one.gwp_set)
    return {
        "fuel": Figure(float(burnt.to("L").magnitude), "L"),
        "emissions_scope_1": Figure(float(found.emissions.to("kgCO2e").magnitude), "kgCO2e"),
        **{name.lower(): Figure(float(mass.to("kg").magnitude), "kg") for name, mass in found.gases.items()},
    }
