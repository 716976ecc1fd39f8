"""Supply: sun, wind, battery and grid of a site by hour, the 24/7 score beside annual matching, rule beside optimum."""

from __future__ import annotations

import streamlit as st

from energy.errors import EnergyError
from energy.report.numbers import THIN, plain
from energy.ui import (
    figures,
    grid_data,
    shell,
    site_run,
    site_view,
    site_weather,
    supply_data,
    supply_tables,
    supply_view,
    tables,
)
from energy.ui.filters import row
from energy.ui.notices import heading, notes, notice
from energy.ui.site_filters import PlantFilters
from energy.ui.site_weather import by_day, sentence
from energy.ui.supply_data import FACES, GOAL_WORDS, MOUNTINGS, OWN, HoursFile, SupplyAsked, SupplyFound

_WEATHER, _ZONE = "ashburn-leesburg-virginia-typical", "US-PJM"
_TILTS = {str(degrees): f"{degrees}°" for degrees in range(0, 91, 5)}
_MOUNTING = "single axis"
_MOST_KW, _MOST_PRICE = 1e7, 10.0
_YES_NO = {"no": "Own surplus", "yes": "Also the grid"}


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = PlantFilters("supply")
    key, asked, week, goal, grid = _asked(filters)
    file_key, file = _own_hours()
    description = site_run.digest_of(key, asked, file_key, goal, grid)
    wanted = filters.pressed("optimum", description)
    filters.done()
    place = site_weather.choices()[key].place
    title.title(f"Sun, wind and battery of a site in {place}, hour by hour")
    if filters.resets:
        notice("", filters.resets)
    try:
        found = site_run.supply(key, asked, file_key, file)
    except EnergyError as error:
        notice("Not computed.", [str(error)])
        return
    _figures(found)
    chosen = supply_tables.week_of(found, found.dispatch, int(week))
    heading(
        f"In the week {chosen.words} own plants and battery meet {_met(chosen)} of the load",
        "Power at the site's meter by hour, standard time, by the greedy rule; grey: no sun",
    )
    supply_view.week(chosen, "supply.week")
    notes(["Above the line through 0: what meets load and battery. Below it: what is stored or left over."])
    _matched(found)
    tables.block(supply_tables.months_table(found), energy_unit=supply_tables.energy_unit(found))
    _against(found, filters, goal, grid == "yes", description, wanted, int(week))
    heading("Take it with you", "What is shown, by hour, in UTC")
    site_view.download(
        lambda: supply_tables.hour_rows(found, found.dispatch),
        "Download hours (CSV)",
        "supply_hours.csv",
        "supply.hours",
    )
    notes([site_weather.origin(found.weather), *(sentence(text) for text in found.notes)])


def _asked(filters: PlantFilters) -> tuple[str, SupplyAsked, str, str, str]:
    """Show the filters; return name of the weather, description, week, goal of the optimum, where it charges from."""
    first = row([5, 3, 4])
    with first[0]:
        options = site_weather.options(with_sun=True)
        key = filters.choice("Weather", "weather", options, _WEATHER, help_="Hourly years with sun or cloud cover.")
    with first[1]:
        load = filters.needed("Load at the meter, kW", "load_kw", 1000.0, least=0.1, most=_MOST_KW, step=100.0)
    with first[2]:
        mounting = filters.choice("PV mounting", "mounting", MOUNTINGS, _MOUNTING)
    fixed = mounting != _MOUNTING
    second, third = row(4 if fixed else 2), row([3, 3, 2, 4])
    with second[0]:
        pv = filters.needed("PV, kW (DC)", "pv_kw", 3000.0, least=0.0, most=_MOST_KW, step=100.0)
    with second[1]:
        wind = filters.needed("Wind, kW", "wind_kw", 500.0, least=0.0, most=_MOST_KW, step=100.0)
    tilt, faces = "0", "equator"
    if fixed:
        with second[2]:
            tilt = filters.slider("PV tilt", "tilt", _TILTS, "30")
        with second[3]:
            faces = filters.choice("PV facing", "faces", FACES, "equator")
    with third[0]:
        capacity = filters.needed("Battery, usable kWh", "battery_kwh", 4000.0, least=0.0, most=_MOST_KW, step=500.0)
    with third[1]:
        power = filters.needed("Battery, kW", "battery_kw", 1000.0, least=0.0, most=_MOST_KW, step=100.0)
    with third[2]:
        trip = filters.needed("Round trip, %", "round_trip", 90.0, least=10.0, most=100.0, step=1.0)
    with third[3]:
        weather = site_run.weather(key)
        weeks = supply_tables.week_options(weather.start_utc, weather.standard_offset_h)
        week = filters.slider("Week shown", "week", weeks, "27")
    with st.expander("Prices, intensity, carbon-free share of the grid; goal of the optimum"):
        price, peak, sold, zone, intensity, share = _prices(filters)
        left, right = row(2)
        with left:
            goal = filters.choice("Optimum of", "goal", supply_data.GOALS, "cost", buttons=True)
        with right:
            words = "The greedy rule never charges from the grid."
            grid = filters.choice("Optimum charges from", "grid", _YES_NO, "no", buttons=True, help_=words)
    asked = SupplyAsked(
        load_kw=load,
        pv_kw=pv,
        mounting=mounting,
        tilt_deg=float(tilt),
        faces=faces,
        wind_kw=wind,
        battery_kwh=capacity,
        battery_kw=power,
        round_trip=trip / 100.0,
        price=price,
        peak_price=peak,
        sold_price=sold,
        zone=zone,
        intensity_g=intensity,
        share=share,
    )
    return key, asked, week, goal, grid


def _prices(
    filters: PlantFilters,
) -> tuple[float | None, float | None, float | None, str, float | None, float | None]:
    """Show the fields of price, intensity and carbon-free share; empty is not known."""
    above, below = row(3), row(3)
    with above[0]:
        price = _usd(filters, "Price, USD/kWh", "price", 0.08, "Empty: not known.")
    with above[1]:
        peak = _usd(filters, "Price 16:00 to 21:00, USD/kWh", "peak", 0.16, "Empty: as at other hours.")
    with above[2]:
        sold = _usd(filters, "Paid for excess, USD/kWh", "sold", None, "Empty: excess gains nothing.")
    with below[0]:
        zones = {OWN: "A value of my own"} | grid_data.zone_options()
        zone = filters.choice("Intensity of", "zone", zones, _ZONE if _ZONE in zones else OWN)
    with below[1]:
        intensity = None
        if zone == OWN:
            label = "Intensity, gCO₂e/kWh at the meter"
            intensity = filters.number(
                label,
                "intensity",
                None,
                least=0.0,
                most=5000.0,
                step=10.0,
                optional=True,
                help_="Empty: not known.",
            )
    with below[2]:
        percent = filters.number(
            "Carbon-free share of the grid, %",
            "carbon_free",
            None,
            least=0.0,
            most=100.0,
            step=1.0,
            optional=True,
            help_="Empty: not known, and the score is of own plants alone.",
        )
    return price, peak, sold, zone, intensity, None if percent is None else percent / 100.0


def _usd(filters: PlantFilters, label: str, name: str, default: float | None, help_: str) -> float | None:
    most = _MOST_PRICE
    return filters.number(label, name, default, least=-most, most=most, step=0.01, optional=True, help_=help_)


def _own_hours() -> tuple[str, HoursFile | None]:
    """Let the reader bring hours of load, price and intensity."""
    with st.expander("Hours of your own: load, price, intensity (CSV)"):
        file = st.file_uploader(
            "One row an hour of the weather; a column's name says its unit, as load_facility_kw",
            type=["csv"],
            key="supply.file",
            max_upload_size=20,
        )
    if file is None:
        return "", None
    content = file.getvalue()
    digest = site_run.digest_of(file.name, content)
    try:
        found = site_run.hours_file(digest, file.name, content)
    except EnergyError as error:
        notice("File not used.", [str(error), "The values above are shown. Nothing was stored."])
        return "", None
    names = [name for name in ("load", "price", "intensity") if getattr(found, name) is not None]
    notice(
        "", [f"{file.name}: {', '.join(names)} by hour in place of the values above. A link does not carry the file."]
    )
    return digest, found


def _figures(found: SupplyFound) -> None:
    steps = supply_tables.steps_of(found)
    shown = supply_tables.figures_of(found)
    body = "".join(figures.html(one, 10, "", steps.get(one.cell.id, ())) for one in shown)
    st.html(f'<div class="en"><div class="en-figs">{body}</div></div>')
    rough = (
        " Sun is made from cloud cover: rough." if found.sun is not None and found.sun.source == "from clouds" else ""
    )
    notes(
        [
            f"Nothing is measured; one year of weather, so ranges are not known.{rough} By the greedy rule: "
            "surplus charges, a deficit discharges, the grid does the rest; the battery starts empty."
        ]
    )
    figures.first()


def _met(chosen: supply_tables.Week) -> str:
    load = float(chosen.load.sum())
    met = float((chosen.direct + chosen.discharge).sum())
    return supply_tables.score_text(met / load) if load else "none"


def _matched(found: SupplyFound) -> None:
    """Show the 24/7 score by hour and day, with the annual figure in words."""
    best = found.own if found.with_grid is None else found.with_grid
    values = best.score_by_hour[0]
    unmatched = supply_tables.unmatched_hours(values)
    annual = supply_tables.score_text(found.own.annual_matching)
    whose = "own plants" if found.with_grid is None else "own plants and the grid's carbon-free share"
    hours = f"{plain(unmatched, 0)} of {plain(found.weather.hours, 0)} hours"
    heading(
        f"{hours} are not wholly matched, though the year claims {annual}" if unmatched else "Every hour is matched",
        f"24/7 score by hour and day, % of the load met by {whose} in its own hour",
    )
    grid = by_day(found.weather.start_utc, found.weather.standard_offset_h, 100.0 * values)
    site_view.hour_by_day(grid, "24/7 score", "%", "load", "supply.matched", decimals=0)
    notes(
        [
            site_weather.clock_note(found.weather.standard_offset_h, grid.days),
            "Annual matching lets noon's excess stand for the night; the score does not. Excess stands apart.",
        ]
    )


def _against(
    found: SupplyFound, filters: PlantFilters, goal: str, from_grid: bool, description: str, wanted: bool, week: int
) -> None:
    """Show the greedy rule beside the optimum, which is computed on demand."""
    known = supply_data.goals(found)
    if goal not in known:
        lack = "a price" if goal == "cost" else "an intensity"
        heading("Greedy rule beside optimum", f"The optimum of {GOAL_WORDS[goal]} needs {lack}: state it above")
        return
    if not wanted:
        heading(
            "How far is the greedy rule from the optimum?",
            f"A linear program over the year makes {GOAL_WORDS[goal]} least; it takes about half a second",
        )
        st.button("Compute the optimum", on_click=filters.press, args=("optimum", description), key="supply.compute")
        return
    try:
        best, terms = site_run.optimum(description, goal, from_grid, found)
    except EnergyError as error:
        notice("Not computed.", [str(error)])
        return
    gap = supply_data.gap_pct(best, terms, found.dispatch)
    how_far = "is not to be told in percent" if gap is None else f"is {_percent(gap)} above the optimum of"
    heading(
        f"The greedy rule {how_far} {GOAL_WORDS[goal]}"
        if gap is not None
        else f"The gap in {GOAL_WORDS[goal]} {how_far}",
        "The optimum knows every hour in advance, so it is a bound for any controller; greedy knows none",
    )
    tables.block(supply_tables.against_table(found, best), energy_unit=supply_tables.energy_unit(found))
    chosen = supply_tables.week_of(found, best.dispatch, week)
    heading(f"The optimum in the week {chosen.words}", "As the week above, by the optimum")
    supply_view.week(chosen, "supply.week.optimum")
    site_view.download(
        lambda: supply_tables.hour_rows(found, best.dispatch),
        "Download hours of the optimum (CSV)",
        "supply_hours_optimum.csv",
        "supply.hours.optimum",
    )
    lines = [f"Solved in {plain(best.seconds, 2)}{THIN}s."]
    if goal == "matching" and from_grid:
        lines.append("For the score the battery holds own surplus only: charging from the grid was left out.")
    if best.netted_h:
        lines.append(f"Opposite flows were netted in {best.netted_h} h, since one meter sees the difference alone.")
    notes(lines)


def _percent(value: float) -> str:
    value = max(value, 0.0)
    if value < 0.005:
        return f"less than 0.01{THIN}%"
    return f"{plain(value, 2 if value < 10.0 else 0)}{THIN}%"


shell.run_free(page)
