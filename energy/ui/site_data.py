"""What the page Site asks: options, the site that is described, its year, and the same site as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from energy.facility.cases import all_cases, case
from energy.facility.design import Design, LiquidDesign
from energy.facility.liquid import AIR, all_liquids, liquid
from energy.facility.results import AnnualRange, FacilityYear, annual_range, facility_year
from energy.report.numbers import THIN
from energy.weather.choice import WeatherChoice
from energy.weather.places import find_weather
from energy.weather.year import WeatherYear

NO_LIQUID = "none"
#: sink and chiller of the loop by its name in the address, in words, and the parameters of the case that it reads
LOOPS: Mapping[str, tuple[str, str, str, tuple[str, ...]]] = {
    "dry": ("dry_cooler", "none", "Dry cooler alone", ()),
    "dry-air-cooled": ("dry_cooler", "air_cooled", "Dry cooler, air-cooled chiller behind", ("chiller_part_load",)),
    "dry-water-cooled": (
        "dry_cooler",
        "water_cooled",
        "Dry cooler, water-cooled chiller behind",
        ("chiller_part_load", "tower_approach_k"),
    ),
    "tower": ("waterside", "none", "Tower alone", ("tower_approach_k",)),
    "tower-water-cooled": (
        "waterside",
        "water_cooled",
        "Tower, water-cooled chiller behind",
        ("chiller_part_load", "tower_approach_k"),
    ),
}


@dataclass(frozen=True, slots=True)
class SiteAsked:
    """What the reader describes. None: as the case or technology has it, with its range.

    ``load``, ``capture`` : fractions; ``rated_mw`` : MW of air-cooled servers; temperatures in C.
    """

    case_id: str
    load: float
    rated_mw: float
    supply_high_c: float | None
    supply_low_c: float | None
    liquid: str
    capture: float | None
    loop_supply_c: float | None
    loop: str


@dataclass(frozen=True, slots=True, eq=False)
class SiteFound:
    """A site's year with its range; with liquid cooling the same computing with air beside it."""

    design: Design
    year: FacilityYear
    bounds: AnnualRange
    air: FacilityYear | None

    @property
    def saved_fraction(self) -> float | None:
        """Share of facility energy that liquid cooling spares; None without it."""
        if self.air is None:
            return None
        return 1.0 - self.year.annual.energy_facility_kwh / self.air.annual.energy_facility_kwh


def case_options() -> dict[str, str]:
    """Return the cooling systems by size and title.

    Examples
    --------
    >>> case_options()["small_direct_expansion"]
    'Small: direct expansion'

    """
    return {one.case_id: f"{one.size_class.capitalize()}: {one.title}" for one in all_cases()}


def liquid_options() -> dict[str, str]:
    """Return the liquid technologies, none first."""
    found = {NO_LIQUID: "None: air alone"}
    return found | {name: upper(one.title) for name, one in all_liquids().items() if name != AIR}


def loop_options(case_id: str) -> dict[str, str]:
    """Return what may cool the loop: what the case has parameters for.

    Examples
    --------
    >>> list(loop_options("midsize_air_cooled")), len(loop_options("hyperscale"))
    (['dry', 'dry-air-cooled'], 5)

    """
    known = case(case_id).ranges
    return {name: words for name, (_, _, words, needed) in LOOPS.items() if all(one in known for one in needed)}


def reads(case_id: str, parameter: str) -> bool:
    """Tell whether the system of a case reads a set point.

    Examples
    --------
    >>> reads("hyperscale", "supply_low_c"), reads("midsize_waterside", "supply_low_c")
    (True, False)

    """
    return parameter in case(case_id).system.needed


def set_point_text(case_id: str, parameter: str) -> str:
    """Return in words what a case has for a set point.

    Examples
    --------
    >>> set_point_text("midsize_waterside", "supply_high_c").replace(THIN, " ")
    'As the case, 27–32 °C'

    """
    return _as("the case", case(case_id).ranges[parameter].low, case(case_id).ranges[parameter].high, f"{THIN}°C")


def loop_text(technology: str, parameter: str) -> str:
    """Return in words what a liquid technology has for a parameter of its loop."""
    one = liquid(technology)
    low, high = (float(getattr(one, f"{parameter}_{end}")) for end in ("low", "high"))
    if parameter == "capture_fraction":
        return _as("the technology", 100.0 * low, 100.0 * high, f"{THIN}%")
    return _as("the technology", low, high, f"{THIN}°C")


def upper(text: str) -> str:
    """Write the first letter large."""
    return text[:1].upper() + text[1:]


def _as(whose: str, low: float, high: float, unit: str) -> str:
    ends = f"{low:g}" if low == high else f"{low:g}–{high:g}"
    return f"As {whose}, {ends}{unit}"


def design_of(asked: SiteAsked, place: str) -> Design:
    """Return the design of what is asked.

    Raises
    ------
    FacilityError
        The values do not fit each other.
    """
    stated = {"supply_high_c": asked.supply_high_c, "supply_low_c": asked.supply_low_c}
    loop = None
    if asked.liquid != NO_LIQUID:
        sink, chiller, _, _ = LOOPS[asked.loop]
        own = {"capture_fraction": asked.capture, "supply_c": asked.loop_supply_c}
        loop = LiquidDesign(
            technology=asked.liquid,
            it_power="air-cooled",
            heat_sink=sink,  # type: ignore[arg-type]  # a key of LOOPS
            chiller=chiller,  # type: ignore[arg-type]  # a key of LOOPS
            values={name: value for name, value in own.items() if value is not None},
        )
    return Design(
        name=f"a site in {place}",
        case_id=asked.case_id,
        rated_it_kw=1000.0 * asked.rated_mw,
        it_load=asked.load,
        values={name: value for name, value in stated.items() if value is not None},
        liquid=loop,
    )


def found_of(asked: SiteAsked, weather: WeatherYear) -> SiteFound:
    """Return the year of a site, and with liquid cooling that of the same computing with air.

    Parameters
    ----------
    asked : SiteAsked
    weather : WeatherYear

    Raises
    ------
    FacilityError
        The site cannot be computed.

    Examples
    --------
    >>> from energy.ui.site_weather import choices
    >>> asked = SiteAsked("hyperscale", 0.8, 20.0, None, None, "none", None, None, "dry")
    >>> round(found_of(asked, choices()["phoenix-arizona-typical"].read()).year.annual.pue, 2)
    1.17

    """
    design = design_of(asked, weather.place)
    year, bounds = facility_year(design, weather), annual_range(design, weather)
    if design.liquid is None:
        return SiteFound(design, year, bounds, None)
    return SiteFound(design, year, bounds, facility_year(design.with_air(), weather))


def site_yaml(asked: SiteAsked, weather: WeatherChoice) -> str | None:
    """Return the same site as a file for ``energy facility``; None where its place would name other weather."""
    if find_weather(weather.place, weather.year).key != weather.key:
        return None
    lines = [
        f"name: {json.dumps(f'a site in {weather.place}', ensure_ascii=False)}",
        f"case: {asked.case_id}",
        f"rated_it: {asked.rated_mw:.12g} MW",
        f"it_load: {asked.load:.12g}",
        "weather:",
        f"  place: {json.dumps(weather.place, ensure_ascii=False)}",
        *([] if weather.year is None else [f"  year: {weather.year}"]),
    ]
    stated = {"supply_high_c": asked.supply_high_c, "supply_low_c": asked.supply_low_c}
    given = [f"  {name}: {value:g}" for name, value in stated.items() if value is not None]
    lines += ["cooling:", *given] if given else []
    if asked.liquid != NO_LIQUID:
        sink, chiller, _, _ = LOOPS[asked.loop]
        lines += ["liquid:", f"  technology: {asked.liquid}", "  it_power: air-cooled"]
        lines += [f"  heat_sink: {sink}", f"  chiller: {chiller}"]
        own = {"capture_fraction": asked.capture, "supply_c": asked.loop_supply_c}
        lines += [f"  {name}: {value:g}" for name, value in own.items() if value is not None]
    return "\n".join(lines) + "\n"
