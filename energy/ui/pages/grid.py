"""Grid: when a zone's electricity is low and high, what makes it, how zones compare, how far public factors differ."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from energy.carbon.spread import SpreadLine, spread, width
from energy.catalogue.mixes import generation_mix
from energy.catalogue.profiles import BOUNDARIES, IntensityProfile, intensity_set
from energy.catalogue.zones import zones_by_id
from energy.errors import EnergyError
from energy.report.model import Cell, Figure
from energy.report.numbers import share
from energy.ui import figures, frames, grid_data, grid_view, shell, tables
from energy.ui.filters import Filters, row
from energy.ui.grid_data import Extremes, amount, when
from energy.ui.grid_view import Dot
from energy.ui.notices import heading, notes, notice
from energy.units import quantity

_DEFAULT = "US-CISO"
_YEARS = {str(year): str(year) for year in range(2026, 2017, -1)}
_ENERGY_GWH = 1.0


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = Filters("grid")
    places = row([4, 4, 4, 2, 3])
    zones = grid_data.zone_options()
    with places[0]:
        zone = filters.choice("Zone", "zone", zones, _DEFAULT if _DEFAULT in zones else next(iter(zones)))
    with places[1]:
        options = {name: name.capitalize() for name in BOUNDARIES}
        meaning = " ".join(grid_data.MEANINGS.values())
        boundary = filters.choice("Boundary", "boundary", options, "lifecycle", buttons=True, help_=meaning)
    with places[2]:
        place = filters.text("Spread of factors for", "place", placeholder="The zone, or any country or cloud region")
    with places[3]:
        year = filters.choice("Year of use", "year", _YEARS, next(iter(_YEARS)))
    with places[4]:
        beside = filters.choice("Marginal beside", "marginal", grid_data.marginal_options(), grid_data.NO_MARGINAL)
    filters.done()
    name = zones_by_id()[zone].name
    title.title(f"The grid of {name} by hour, {boundary}")
    profile = grid_data.profile_of(zone, boundary)
    asked = place.strip() or zone
    lines, problem = _lines(asked, int(year))
    if problem and place.strip():
        notice("", [problem])
    _figures(profile, lines, boundary, beside)
    if profile is None:
        _absent(zone, name, boundary)
    else:
        _hours(profile, name)
    _mix(zone, name)
    _zones(zone, boundary)
    if lines:
        _spread(lines, asked, boundary, year)
    else:
        heading(f"No spread of factors for {asked}", problem)


def _lines(place: str, year: int) -> tuple[tuple[SpreadLine, ...], str]:
    """Return the spread of a place, or why there is none."""
    try:
        return spread(place, quantity(_ENERGY_GWH, "GWh_facility"), year), ""
    except EnergyError as error:
        return (), str(error)


def _figures(profile: IntensityProfile | None, lines: tuple[SpreadLine, ...], boundary: str, beside: str) -> None:
    """Show mean, lowest and highest hour, the marginal mean if asked, and how far public factors lie apart."""
    out = []
    if profile is not None:
        found = grid_data.extremes(profile)
        known = f"{share(profile.coverage, 1)} of the hours of {profile.year}, per kWh generated"
        for key, text, value, said in (
            ("mean", "Mean of the hours", found.mean, known),
            ("low", "Lowest hour", found.low, f"{when(found.low_at)}, mean of the month"),
            ("high", "Highest hour", found.high, f"{when(found.high_at)}, mean of the month"),
        ):
            cell = Cell(f"grid.{key}", Decimal(f"{value:.1f}"), grid_data.UNIT)
            out.append(Figure(text, cell, "hollow", said))
    if beside != grid_data.NO_MARGINAL:
        words, about = grid_data.marginal_words(beside)
        out.append(Figure("Marginal, mean", Cell("grid.marginal", words), "exact", about))
    same = tuple(grid_data.of_boundary(lines, boundary))
    ratio = width(same).highest_over_lowest
    if ratio is None:
        absent = Cell("grid.spread", None, mark="no data", reason=f"fewer than two {boundary} factors are held")
        out.append(Figure("Highest over lowest factor", absent, "exact", ""))
    else:
        wide = "; wide: the choice of the factor decides" if width(same).is_wide else ""
        ends = f"{len(same)} {boundary} sets of public factors{wide}"
        out.append(Figure("Highest over lowest factor", Cell("grid.spread", f"{ratio:.1f}"), "exact", ends))
    body = "".join(figures.html(figure, 10) for figure in out)
    st.html(f'<div class="en"><div class="en-figs">{body}</div></div>')
    notes(
        [
            f"{grid_data.MEANINGS[boundary]} Direct and lifecycle never stand in one ratio. Ranges are not "
            "known: the hours are generation times one fixed factor a fuel.",
            *([grid_data.marginal_origin(beside)] if beside != grid_data.NO_MARGINAL else []),
        ]
    )
    figures.first()


def _absent(zone: str, name: str, boundary: str) -> None:
    about = intensity_set(zone)
    notice("No data.", [f"{name} has no {boundary} intensity by hour: {about.note}. Not known is not zero."])

    def other() -> None:
        st.session_state["grid.boundary"] = "lifecycle"

    st.button("Show lifecycle", on_click=other)


def _hours(profile: IntensityProfile, name: str) -> None:
    found = grid_data.extremes(profile)
    heading(
        _answer(found), f"{profile.boundary.capitalize()} intensity, g/kWh generated, average day of each month, UTC"
    )
    grid_view.months_by_hours(profile, found, name)
    notes([_origin(profile), "One year of one grid, no forecast; an hour is weighted by what was generated in it."])
    table = grid_data.month_table(profile)
    with st.expander("Table: month by hour"):
        tables.block(table)


def _answer(found: Extremes) -> str:
    low, high = (
        f"{when(at)} ({amount(value)})" for at, value in ((found.low_at, found.low), (found.high_at, found.high))
    )
    return f"Lowest in {low}, highest in {high}"


def _origin(one: IntensityProfile) -> str:
    return grid_data.origin(one.publisher, one.edition, one.source, one.licence, one.status, one.note)


def _mix(zone: str, name: str) -> None:
    mix = generation_mix(zone)
    total = sum(mix.mean_mwh.values())
    first = grid_data.ordered(mix)[0]
    part = share(mix.mean_mwh[first], total)
    about = mix.about
    heading(
        f"{grid_data.label(first)} makes {part} of the generation of {name}",
        f"Share of the year's generation, and of each UTC hour's, {about.year}",
    )
    left, right = st.columns([5, 7], gap="large")
    with left:
        grid_view.mix_bars(mix)
    with right:
        grid_view.mix_by_hour(mix)
    notes([grid_data.origin(about.publisher, about.edition, about.source, about.licence, "derived", about.note)])
    tables.block(grid_data.mix_table(mix))


def _zones(zone: str, boundary: str) -> None:
    zones = grid_data.side_by_side(boundary)
    low, high = zones[0], zones[-1]
    heading(
        f"{_name(low[0])} has the lowest mean of the {len(zones)} zones with hours, {_name(high[0])} the highest",
        f"{boundary.capitalize()}, g/kWh generated: dot the mean, line from the lowest to the highest hour",
    )
    entries = [
        Dot(f"{one.zone_id} {one.year}", found.mean, found.low, found.high, filled=one.zone_id == zone)
        for one, found in zones
    ]
    alt = (
        f"Dots of the mean {boundary} intensity of {len(zones)} zones, g/kWh: from {_name(low[0])} "
        f"{low[1].mean:.0f} to {_name(high[0])} {high[1].mean:.0f}. The line of each goes from its lowest to its "
        "highest hour."
    )
    grid_view.dots(entries, alt, "grid.zones", above=False)
    years = sorted({str(one.year) for one, _ in zones})
    notes(
        [
            f"Filled: the zone above. Years differ ({', '.join(years)}); all rest on the same fixed factor of "
            "each fuel, so they compare with each other and not with annual factors. Sources and licences stand in "
            "the table.",
        ]
    )
    frames.block(grid_data.zones_table(zones, boundary))


def _name(one: IntensityProfile) -> str:
    return zones_by_id()[one.zone_id].name


def _spread(lines: tuple[SpreadLine, ...], asked: str, boundary: str, year: str) -> None:
    place = zones_by_id()[asked].name if asked in zones_by_id() else asked
    shown = grid_data.shown(lines, boundary)
    found = width(tuple(grid_data.of_boundary(lines, boundary)))
    if found.highest_over_lowest is None:
        heading(f"No two {boundary} factors are held for {place}", "So there is no spread of this boundary to show")
    else:
        heading(
            f"Public {boundary} factors of {place} differ {found.highest_over_lowest:.1f} times",
            f"g/kWh as purchased, for use in {year}: of each set the nearest year",
        )
    if shown:
        entries = [
            Dot(
                f"{line.publisher} {line.year}, {line.kind}, {line.zone_id}",
                line.intensity_gco2e_per_kwh_facility,
                filled=line.is_chosen,
                square=line.boundary != boundary,
            )
            for line in shown
        ]
        alt = f"Dots of {len(shown)} factors of {place}, g/kWh: " + "; ".join(
            f"{one.name} {one.value:.0f}" for one in entries
        )
        grid_view.dots(entries, f"{alt}.", "grid.spread", above=True)
        square = (
            " Square: its publisher does not state the boundary; in no ratio." if any(e.square for e in entries) else ""
        )
        chosen = next(line for line in lines if line.is_chosen)
        elsewhere = (
            "" if chosen in shown else f" The chosen factor, {chosen.factor_id}, is {chosen.boundary}: see the table."
        )
        notes(
            [
                f"Filled: the location-based factor that the ledger takes.{elsewhere}{square} They answer different "
                "questions and are never averaged or added."
            ]
        )
    tables.block(grid_data.spread_table(lines, boundary))
    keys = list(dict.fromkeys(key for line in lines for key in line.source))
    notes(
        [
            f"Sources: {', '.join(keys)} (`energy catalogue sources`). The same list: "
            f"`energy spread '{asked}' --energy '1 GWh' --year {year}`."
        ]
    )


shell.run_free(page)
