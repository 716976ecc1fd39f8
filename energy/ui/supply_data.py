"""What the page Supply asks: load, plants, battery, prices, intensity by hour; their dispatch by rule and optimum."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.catalogue.profiles import BOUNDARIES, IntensityProfile, all_profiles
from energy.errors import EnergyError, SupplyError
from energy.supply.battery import Battery
from energy.supply.dispatch import Dispatch, greedy
from energy.supply.matching import Matching, matching_of
from energy.supply.optimum import Optimum, Terms, optimal
from energy.supply.photovoltaics import PhotovoltaicSystem, PhotovoltaicYear, photovoltaic_year
from energy.supply.specification import column_of
from energy.supply.wind import cubic_curve, wind_power
from energy.ui.site_weather import local
from energy.units import quantity, scale, unit_of_column
from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]

OWN = "own"
MOUNTINGS: Mapping[str, str] = {
    "single axis": "Follows the sun",
    "open rack": "Fixed, open rack",
    "roof": "Fixed, on a roof",
}
FACES: Mapping[str, str] = {"equator": "The equator", "east": "East", "west": "West"}
GOALS: Mapping[str, str] = {"cost": "Cost", "carbon": "Emissions", "matching": "24/7 score"}
GOAL_WORDS: Mapping[str, str] = {
    "cost": "the cost of energy",
    "carbon": "average emissions",
    "matching": "load that is not carbon-free",
}
PEAK_FROM, PEAK_TO = 16, 21
# Turbines of the worked example: cubic curve, an estimate of any one turbine.
MAST_M, HUB_M, SHEAR, CUT_IN, RATED, CUT_OUT, WIND_LOSSES = 10.0, 100.0, 0.143, 3.0, 12.0, 25.0, 0.1
_UNITS = {"load": "kW_facility", "price": "USD/kWh_facility", "intensity": "kgCO2e/kWh_facility"}


@dataclass(frozen=True, slots=True)
class SupplyAsked:
    """What the reader describes. None: not known.

    Powers in kW, ``battery_kwh`` usable; ``round_trip``, ``share`` : fractions; prices in USD/kWh_facility;
    ``intensity_g`` in gCO2e/kWh_facility where ``zone`` is ``own``, else the zone's average days.
    """

    load_kw: float
    pv_kw: float
    mounting: str
    tilt_deg: float
    faces: str
    wind_kw: float
    battery_kwh: float
    battery_kw: float
    round_trip: float
    price: float | None
    peak_price: float | None
    sold_price: float | None
    zone: str
    intensity_g: float | None
    share: float | None


@dataclass(frozen=True, slots=True, eq=False)
class HoursFile:
    """Hours that a reader brought: kW_facility, USD/kWh_facility, kgCO2e/kWh_facility; None where there are none."""

    name: str
    load: Numbers | None
    price: Numbers | None
    intensity: Numbers | None


@dataclass(frozen=True, slots=True, eq=False)
class SupplyFound:
    """Hours of a site with its plants, by the greedy rule; prices and intensity are None where they are not known.

    ``price`` : USD/kWh_facility; ``intensity`` : kgCO2e/kWh_facility, of what ``intensity_of`` names; powers by hour
    in kW, which is kWh of the hour.
    """

    asked: SupplyAsked
    weather: WeatherYear
    sun: PhotovoltaicYear | None
    pv_kw: Numbers
    wind_kw: Numbers
    battery: Battery
    dispatch: Dispatch
    own: Matching
    with_grid: Matching | None
    price: Numbers | None
    intensity: Numbers | None
    intensity_of: str
    notes: tuple[str, ...]

    @property
    def direct_kwh(self) -> Numbers:
        """Own generation that meets the load in its hour, kWh_facility, shape (n,)."""
        one = self.dispatch
        result: Numbers = np.minimum(one.load_facility_kwh, one.generation_facility_kwh)[0]
        return result


def supply_of(asked: SupplyAsked, weather: WeatherYear, hours: HoursFile | None = None) -> SupplyFound:
    """Return the hours of a site with its plants and battery, by the greedy rule.

    Parameters
    ----------
    asked : SupplyAsked
    weather : WeatherYear
    hours : HoursFile, optional
        Load, price and intensity by hour, in place of those of ``asked``.

    Raises
    ------
    SupplyError
        Weather lacks what a plant needs, hours do not fit, or a library is not installed.

    """
    count = weather.hours
    notes: list[str] = []
    load = _hourly(hours, "load", count)
    if load is None:
        load = np.full(count, asked.load_kw)
    sun = _sun(asked, weather)
    pv = np.zeros(count) if sun is None else sun.power_facility_kw
    if sun is not None:
        notes += sun.notes
        if sun.missing_h:
            raise SupplyError(f"{sun.missing_h} h of sun have no weather; nothing is assumed. Choose other weather.")
    wind = _wind(asked, weather, notes)
    efficiency = float(np.sqrt(asked.round_trip))
    battery = Battery(asked.battery_kwh, asked.battery_kw, asked.battery_kw, efficiency, efficiency)
    by_rule = greedy(load, pv + wind, [battery])
    price, intensity = _price(asked, weather, hours), _intensity(asked, weather, hours, notes)
    return SupplyFound(
        asked=asked,
        weather=weather,
        sun=sun,
        pv_kw=pv,
        wind_kw=wind,
        battery=battery,
        dispatch=by_rule,
        own=matching_of(by_rule, 0.0),
        with_grid=None if asked.share is None else matching_of(by_rule, asked.share),
        price=price,
        intensity=intensity,
        intensity_of=_whose(asked, hours),
        notes=tuple(dict.fromkeys(notes)),
    )


def _hourly(hours: HoursFile | None, name: str, count: int) -> Numbers | None:
    values: Numbers | None = None if hours is None else getattr(hours, name)
    if hours is not None and values is not None and values.size != count:
        raise SupplyError(f"{hours.name} has {values.size} rows, and the weather {count} h: one row an hour is due.")
    return values


def _sun(asked: SupplyAsked, weather: WeatherYear) -> PhotovoltaicYear | None:
    if not asked.pv_kw:
        return None
    azimuth = {"east": 90.0, "west": 270.0}.get(asked.faces, 180.0 if (weather.latitude_deg or 0.0) >= 0.0 else 0.0)
    follows = asked.mounting == "single axis"
    system = PhotovoltaicSystem(
        asked.pv_kw,
        asked.mounting,  # type: ignore[arg-type]  # a key of MOUNTINGS; the system refuses others
        0.0 if follows else asked.tilt_deg,
        180.0 if follows else azimuth,
    )
    return photovoltaic_year(weather, system)


def _wind(asked: SupplyAsked, weather: WeatherYear, notes: list[str]) -> Numbers:
    if not asked.wind_kw:
        return np.zeros(weather.hours)
    if weather.wind_speed_m_per_s is None:
        raise SupplyError(f"The weather of {weather.place} has no wind: set wind to 0, or choose other weather.")
    curve = cubic_curve(CUT_IN, RATED, CUT_OUT)
    notes.append(
        f"wind: {curve.source}; {CUT_IN:g}, {RATED:g} and {CUT_OUT:g} m/s, hub at {HUB_M:g} m over a mast of "
        f"{MAST_M:g} m, shear {SHEAR:g}, losses {WIND_LOSSES:.0%}"
    )
    found = wind_power(
        quantity(asked.wind_kw, "kW_facility"),
        quantity(weather.wind_speed_m_per_s, "m/s"),
        quantity(MAST_M, "m"),
        quantity(HUB_M, "m"),
        SHEAR,
        curve,
        quantity(weather.dry_bulb_c, "degC"),
        quantity(weather.pressure_pa, "Pa"),
        WIND_LOSSES,
    )
    return np.asarray(found.magnitude, dtype=np.float64)


def _price(asked: SupplyAsked, weather: WeatherYear, hours: HoursFile | None) -> Numbers | None:
    """Return the price by hour; from 16 to 21 of standard time the one of the evening, where there is one."""
    brought = _hourly(hours, "price", weather.hours)
    if brought is not None or asked.price is None:
        return brought
    found = np.full(weather.hours, asked.price)
    if asked.peak_price is not None:
        clock = hour_of_day(weather)
        found[(clock >= PEAK_FROM) & (clock < PEAK_TO)] = asked.peak_price
    return found


def hour_of_day(weather: WeatherYear) -> NDArray[np.int64]:
    """Return the hour of each row on the clock of standard time, shape (n,)."""
    clock = local(weather.start_utc, weather.standard_offset_h).astype("datetime64[h]").astype(np.int64)
    result: NDArray[np.int64] = clock % 24
    return result


def profile_of(zone_id: str) -> IntensityProfile:
    """Return the average days of a zone: direct where it is known, else lifecycle.

    Examples
    --------
    >>> profile_of("US-PJM").boundary, profile_of("CHE").boundary
    ('direct', 'lifecycle')

    """
    known = {one.boundary: one for one in all_profiles() if one.zone_id == zone_id}
    return next(known[boundary] for boundary in BOUNDARIES if boundary in known)


def _intensity(asked: SupplyAsked, weather: WeatherYear, hours: HoursFile | None, notes: list[str]) -> Numbers | None:
    brought = _hourly(hours, "intensity", weather.hours)
    if brought is not None:
        return brought
    if asked.zone == OWN:
        return None if asked.intensity_g is None else np.full(weather.hours, asked.intensity_g / 1000.0)
    profile = profile_of(asked.zone)
    start = weather.start_utc
    months = start.astype("datetime64[M]").astype(np.int64) % 12
    found = profile.values[months, start.astype("datetime64[h]").astype(np.int64) % 24] / 1000.0
    notes.append(
        f"intensity: average day of each month of {asked.zone}, {profile.year}, {profile.boundary}, per kWh generated "
        f"and taken as purchased with the same number ({profile.publisher}; {profile.licence})"
    )
    absent = int(np.isnan(found).sum())
    if absent:
        notes.append(f"intensity: {absent} h of {asked.zone} were not measured, so emissions are not known")
        return None
    return np.asarray(found, dtype=np.float64)


def _whose(asked: SupplyAsked, hours: HoursFile | None) -> str:
    if hours is not None and hours.intensity is not None:
        return hours.name
    return "as stated" if asked.zone == OWN else asked.zone


def goals(found: SupplyFound) -> dict[str, str]:
    """Return the goals that can be computed: cost with a price, emissions with an intensity."""
    known = {"cost": found.price is not None, "carbon": found.intensity is not None, "matching": True}
    return {name: words for name, words in GOALS.items() if known[name]}


def terms_of(found: SupplyFound, goal: str, *, charge_from_grid: bool) -> Terms:
    """Return what an hour's energy counts for with a goal.

    Raises
    ------
    SupplyError
        Price or intensity is not known.
    """
    count = found.weather.hours
    sold = None
    weights: Numbers | None
    if goal == "matching":
        weights = np.full(count, 1.0 - (found.asked.share or 0.0))
    else:
        weights = found.price if goal == "cost" else found.intensity
    if weights is None:
        raise SupplyError(f"The goal {goal} needs {'a price' if goal == 'cost' else 'an intensity'}: state it.")
    if goal == "cost" and found.asked.sold_price is not None:
        sold = np.full(count, found.asked.sold_price)
    return Terms(weights, sold, may_charge_from_grid=charge_from_grid and goal != "matching")


def optimum_of(found: SupplyFound, goal: str, *, charge_from_grid: bool) -> tuple[Optimum, Terms]:
    """Return the best dispatch for a goal, with every hour known in advance; it leaves as much stored as the rule.

    Raises
    ------
    SupplyError
        Price or intensity is not known, or scipy is not installed.
    """
    terms, rule = terms_of(found, goal, charge_from_grid=charge_from_grid), found.dispatch
    best = optimal(
        rule.load_facility_kwh,
        rule.generation_facility_kwh,
        found.battery,
        terms,
        end_at_least_kwh=float(rule.stored_kwh[0, -1]),
    )
    return best, terms


def gap_pct(best: Optimum, terms: Terms, rule: Dispatch) -> float | None:
    """Return how far the greedy rule is above the bound of the optimum, in percent of it; None of a bound of 0."""
    value = terms.value_of(rule)
    if best.bound:
        return (value - best.bound) / abs(best.bound) * 100.0
    return 0.0 if value == 0.0 else None


def hours_file(name: str, content: bytes) -> HoursFile:
    r"""Return the hours of a reader's CSV: columns whose names carry a unit of power, price or intensity.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes

    Raises
    ------
    SupplyError
        There is no such column, two of a kind, or a cell that is no number.

    Examples
    --------
    >>> found = hours_file("a.csv", b"load_facility_mw,note\n2,x\n3,y\n")
    >>> found.load.tolist(), found.price
    ([2000.0, 3000.0], None)

    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name).name or "hours.csv")
        path.write_bytes(content)
        columns = _columns(path)
        found: dict[str, Any] = {
            kind: None if column is None else column_of(path, column, _UNITS[kind]) for kind, column in columns.items()
        }
    load = found["load"]
    if load is not None and (load < 0.0).any():
        raise SupplyError(f"{name}, column {columns['load']}: a load is below zero. Give what the site draws.")
    return HoursFile(name, **found)


def _columns(path: Path) -> dict[str, str | None]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            head = next(csv.reader(stream), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise SupplyError(f"{path.name} is no CSV text in UTF-8: {error}.") from None
    found: dict[str, str | None] = {}
    for kind, unit in _UNITS.items():
        fitting = [column for column in head if _fits(column, unit)]
        if len(fitting) > 1:
            raise SupplyError(f"{path.name} has {len(fitting)} columns of {kind}: {', '.join(fitting)}. Leave one.")
        found[kind] = fitting[0] if fitting else None
    if not any(found.values()):
        raise SupplyError(
            f"{path.name} has no column whose name says its unit: load_facility_kw, price_usd_per_kwh_facility or "
            "intensity_gco2e_per_kwh_facility."
        )
    return found


def _fits(column: str, unit: str) -> bool:
    try:
        said = unit_of_column(column)
        return said is not None and scale(said, unit) > 0.0
    except EnergyError:
        return False
