"""Site: PUE, water and losses of a site by hour in its weather, and liquid cooling against air by total power."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from energy.errors import EnergyError
from energy.report.display import bar_scale
from energy.report.numbers import THIN, plain, share
from energy.ui import figures, shell, site_data, site_run, site_tables, site_view, site_weather, tables
from energy.ui.filters import row
from energy.ui.notices import heading, notes, notice
from energy.ui.site_data import NO_LIQUID, SiteAsked, SiteFound
from energy.ui.site_filters import PlantFilters
from energy.ui.site_weather import DayGrid, by_day, sentence
from energy.weather.year import WeatherYear

_WEATHER, _CASE, _LIQUID, _LOOP = "phoenix-arizona-typical", "large_waterside", "direct_to_chip", "dry-water-cooled"
_RATED_MW = 20.0
_AS = "as-given"
_LOADS = {str(percent): f"{percent}{THIN}%" for percent in range(10, 101, 5)}


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = PlantFilters("site")
    key, asked = _asked(filters)
    weather = _own_weather() or (key, site_run.weather(key))
    filters.done()
    if filters.resets:
        notice("", filters.resets)
    title.title(f"A site in {weather[1].place}, hour by hour")
    try:
        found = site_run.site(weather[0], asked, weather[1])
    except EnergyError as error:
        notice("Not computed.", [str(error)])
        return
    _warnings(found)
    _figures(found)
    _sides(found)
    _hours(found)
    site_view.losses(found)
    notes([_case_note(found)])
    with st.expander("Table: energy by part and month"):
        tables.block(site_tables.months_table(found))
    _published(found)
    heading("Take it with you", "What is shown, by hour, and the site as a file for `energy facility`")
    _downloads(found, asked, key if weather[0] == key else "")
    notes(
        [
            site_weather.origin(weather[1]),
            *(sentence(text) for text in found.year.notes if text not in weather[1].notes),
        ]
    )


def _asked(filters: PlantFilters) -> tuple[str, SiteAsked]:
    """Show the filters; return the name of the weather and the description."""
    first, second = row([5, 6, 4]), row([3, 3, 3, 3])
    with first[0]:
        key = filters.choice("Weather", "weather", site_weather.options(), _WEATHER)
    with first[1]:
        case_id = filters.choice("Cooling", "cooling", site_data.case_options(), _CASE)
    with first[2]:
        technology = filters.choice(
            "Liquid cooling",
            "liquid",
            site_data.liquid_options(),
            _LIQUID,
            help_="A loop takes a share of the heat of IT, the cooling beside it the rest.",
        )
    with second[0]:
        load = filters.slider("IT load, share of rated", "load", _LOADS, "80")
    with second[1]:
        rated = filters.needed("Rated IT, MW", "rated", _RATED_MW, least=0.01, most=5000.0, step=1.0)
    with second[2]:
        high = _set_point(filters, "Supply air, °C", "supply", case_id, "supply_high_c", range(15, 46))
    with second[3]:
        low = _lowest(filters, case_id)
    capture = loop_supply = None
    loop = "dry"
    if technology != NO_LIQUID:
        third = row([3, 3, 6])
        with third[0]:
            words = {_AS: site_data.loop_text(technology, "capture_fraction")}
            steps = words | {str(one): f"{one}{THIN}%" for one in range(5, 101, 5)}
            capture = _number(filters.slider("Heat of IT in the loop", "capture", steps, _AS), 0.01)
        with third[1]:
            words = {_AS: site_data.loop_text(technology, "supply_c")}
            steps = words | {str(one): f"{one}{THIN}°C" for one in range(15, 61)}
            loop_supply = _number(filters.slider("Water to the loop", "water", steps, _AS))
        with third[2]:
            loops = site_data.loop_options(case_id)
            first_of = [name for name in (_LOOP, "dry-air-cooled", "dry") if name in loops]
            loop = filters.choice("Loop cooled by", "loop", loops, first_of[0])
    return key, SiteAsked(case_id, int(load) / 100.0, rated, high, low, technology, capture, loop_supply, loop)


def _set_point(
    filters: PlantFilters, label: str, name: str, case_id: str, parameter: str, steps: range
) -> float | None:
    words = {_AS: site_data.set_point_text(case_id, parameter)} | {str(one): f"{one}{THIN}°C" for one in steps}
    return _number(filters.slider(label, name, words, _AS, help_=_HELP))


def _lowest(filters: PlantFilters, case_id: str) -> float | None:
    """Show the lower set point where the system reads it."""
    if not site_data.reads(case_id, "supply_low_c"):
        return None
    return _set_point(filters, "Supply air at the coldest, °C", "coldest", case_id, "supply_low_c", range(5, 31))


_HELP = "What is not stated is in the range of the case, and makes the range of the results."


def _number(step: str, factor: float = 1.0) -> float | None:
    return None if step == _AS else int(step) * factor


def _own_weather() -> tuple[str, WeatherYear] | None:
    """Let the reader bring a file of weather; it takes the place of the chosen one while it is there."""
    with st.expander("Weather of your own: EPW, TMY3, PVGIS, Open-Meteo, CSV"):
        file = st.file_uploader("File of hours, a whole year", key="site.file", max_upload_size=20)
        left, right = row(2)
        with left:
            place = st.text_input("Place, where the file does not say it", key="site.file.place")
        with right:
            height = st.number_input("Elevation, m, where the file does not say it", value=None, key="site.file.height")
    if file is None:
        return None
    content = file.getvalue()
    digest = site_run.digest_of(file.name, content, place, height)
    try:
        found = site_run.uploaded(digest, file.name, content, place, height)
    except EnergyError as error:
        notice("File not used.", [str(error), "The weather chosen above is shown. Nothing was stored."])
        return None
    notice("", [f"{file.name} is shown. A link to this page does not carry the file, but the weather chosen above."])
    return digest, found


def _warnings(found: SiteFound) -> None:
    """Say what is outside fitted ranges, and what kind of weather it is where it is none that was measured."""
    weather = found.year.weather
    if weather.kind == "synthesised":
        notice("Synthesised weather.", [f"{sentence(site_weather.status(weather))} See the note at the end."])
    lines = list(found.year.warnings)
    if found.air is not None:
        lines += [f"with air: {text}" for text in found.air.warnings if text not in found.year.warnings]
    if lines:
        notice("Outside the fitted range.", [sentence(text) for text in lines])


def _figures(found: SiteFound) -> None:
    shown = site_tables.figures_of(found)
    scale = bar_scale(figure.cell for figure in shown)
    steps = site_tables.steps_of(found)
    body = "".join(figures.html(one, scale, "", steps.get(one.cell.id, ())) for one in shown)
    st.html(f'<div class="en"><div class="en-figs">{body}</div></div>')
    notes(
        [
            f"Bars: 5th to 95th percentile over the ranges of what is not stated ({found.bounds.samples} points), all "
            f"on one scale of ±{scale}{THIN}% around the value; hollow: nothing measured. Ranges hold what the model "
            "does not know of the parameters, not how far the model itself is off: `energy validate pue`."
        ]
    )
    figures.first()


def _sides(found: SiteFound) -> None:
    """Show liquid against air by total power, since PUE alone would mislead."""
    table = site_tables.comparison(found)
    saved = found.saved_fraction
    if found.air is None or saved is None:
        heading(
            "Fans of servers are in the denominator of PUE",
            "Choose a liquid cooling above to set the same computing side by side by total power",
        )
        tables.block(table)
        return
    dry, wet = found.air.annual.pue, found.year.annual.pue
    amount = share(abs(saved), 1)
    word = "less" if saved >= 0.0 else "more"
    heading(
        f"With liquid the site draws {amount} {word} for the same computing; PUE goes from {plain(dry, 2)} to "
        f"{plain(wet, 2)}",
        "Power at the meter per kW of air-cooled IT, mean of the year",
    )
    site_view.side_by_side(found)
    notes(
        [
            "PUE alone would mislead: fans of servers belong to IT power and largely go with cold plates or immersion, "
            "so PUE's denominator falls. Total power compares the same computing. Shares of fans are recalled, "
            "status estimate."
        ]
    )
    tables.block(table)
    heading("How often a PUE is exceeded", "PUE against share of the hours; the axis starts at 1, the least possible")
    site_view.duration(found)


def _hours(found: SiteFound) -> None:
    """Show PUE, water and weather as hour by day."""
    year, weather = found.year, found.year.weather

    def grid(values: NDArray[np.float64]) -> DayGrid:
        return by_day(year.start_utc, weather.standard_offset_h, values)

    pue = grid(year.pue)
    high, *at = pue.highest
    heading(
        f"PUE is highest on {pue.when(at[0], at[1])}, {plain(high, 2)}",
        f"PUE by hour and day{_with(found)}; the lowest is {plain(pue.lowest[0], 2)}",
    )
    site_view.hour_by_day(pue, "PUE", "", "overhead", "site.pue", end="highest hour")
    notes([site_weather.clock_note(weather.standard_offset_h, pue.days)])
    water = grid(year.wue_withdrawn_l_per_kwh_it)
    if np.nanmax(water.values) > 0.0:
        high, *at = water.highest
        none = int(np.sum(water.values == 0.0))
        dry = f"; {share(none, int(np.sum(~np.isnan(water.values))))} of the hours draw none" if none else ""
        heading(
            f"Water is drawn most on {water.when(at[0], at[1])}, {plain(high, 2)}{THIN}L/kWh",
            f"WUE, withdrawn, L per kWh of IT by hour and day{_with(found)}{dry}",
        )
        site_view.hour_by_day(water, "WUE, withdrawn", "L/kWh", "water", "site.wue", end="highest hour")
    else:
        heading("The site draws no water in any hour", "WUE, withdrawn: 0 by design, not missing")
    for values, name, key in (
        (weather.wet_bulb_c, "Wet bulb", "wet"),
        (weather.dry_bulb_c, "Dry bulb", "dry"),
    ):
        air = grid(values)
        high, *at = air.highest
        heading(
            f"{name} reaches {plain(high, 1)}{THIN}°C on {air.when(at[0], at[1])}",
            f"{name} temperature of the air outside by hour and day, °C",
        )
        site_view.hour_by_day(
            air, f"{name.lower()} temperature", "°C", "load", f"site.{key}", decimals=1, end="highest hour"
        )


def _with(found: SiteFound) -> str:
    return " with air cooling" if found.air is None else " with liquid cooling"


def _case_note(found: SiteFound) -> str:
    one = found.design.case
    remark = f" {sentence(one.note)}" if one.note else ""
    return f"Cooling: {one.title}, `{one.case_id}`. Source: {', '.join(one.source)}. Status: {one.status}.{remark}"


def _published(found: SiteFound) -> None:
    """Show what operators print of regions near the place, as the named alternative."""
    weather = found.year.weather
    near = site_tables.published_near(weather.latitude_deg, weather.longitude_deg)
    if not near:
        where = "whose place is not known" if weather.latitude_deg is None else f"near {weather.place}"
        heading(
            f"No operator published a PUE or WUE {where}",
            f"Regions of the catalogue within {site_tables.NEAR_KM:.0f}{THIN}km; `energy catalogue cloud-regions`",
        )
        return
    tables.block(site_tables.published_table(near, found))
    notes(
        [
            "A published figure is the named alternative to computing a site: take it for that operator's region with "
            "`published:` in a site file. It says nothing of this design."
        ]
    )


def _downloads(found: SiteFound, asked: SiteAsked, key: str) -> None:
    site_view.download(lambda: site_tables.hour_rows(found), "Download hours (CSV)", "site_hours.csv", "site.hours")
    text = site_data.site_yaml(asked, site_weather.choices()[key]) if key else None
    if text is None:
        notes(
            ["No site file for this weather: a site file would name other weather by this place, or needs your file."]
        )
        return
    site_view.download(lambda: text, "Download the site (YAML)", "site.yaml", "site.yaml", mime="application/yaml")
    notes(["The same figures: `energy facility site.yaml`."])


shell.run_free(page)
