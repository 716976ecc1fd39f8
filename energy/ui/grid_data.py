"""What the page Grid says of a zone: its hours, its mix, zones side by side, and the spread of factors, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from energy.carbon.spread import NOT_STATED, SpreadLine
from energy.catalogue.marginal import all_marginal, marginal_set
from energy.catalogue.mixes import GenerationMix
from energy.catalogue.profiles import IntensityProfile, all_profiles
from energy.catalogue.sources import source
from energy.catalogue.zones import zones_by_id
from energy.report.model import Cell, Column, Row, TableBlock
from energy.report.numbers import THIN, plain

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNIT = "gCO2e/kWh_generation"
NO_MARGINAL = "none"
MEANINGS = {
    "direct": "Direct: CO₂ of combustion at the plants alone.",
    "lifecycle": "Lifecycle: with building plants and supplying fuel, CO₂e.",
}


@dataclass(frozen=True, slots=True)
class Extremes:
    """Mean, lowest and highest mean of an hour of day in a month, with the places (month from 0, UTC hour)."""

    mean: float
    low: float
    low_at: tuple[int, int]
    high: float
    high_at: tuple[int, int]


def zone_options() -> dict[str, str]:
    """Return the zones with hours, by name."""
    found = {one.zone_id: f"{zones_by_id()[one.zone_id].name} ({one.zone_id}, {one.year})" for one in all_profiles()}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def profile_of(zone_id: str, boundary: str) -> IntensityProfile | None:
    """Return the average days of a zone with a boundary; None where the zone has none."""
    return next((one for one in all_profiles() if (one.zone_id, one.boundary) == (zone_id, boundary)), None)


def marginal_options() -> dict[str, str]:
    """Return the regions with marginal intensity, by name; which of them a zone lies in is for the reader to say."""
    known = sorted(all_marginal(), key=lambda one: one.name)
    return {NO_MARGINAL: "None"} | {one.region: f"{one.name} (AVERT {one.region}, {one.year})" for one in known}


def marginal_words(region: str) -> tuple[str, str]:
    """Return the mean of a region's marginal intensity with its unit, and what is known of it.

    Examples
    --------
    >>> marginal_words("TE")[1].split(",")[0]
    'Direct CO₂ of AVERT Texas 2023'

    """
    one = marginal_set(region)
    low, high = plain(one.low_gco2_per_kwh, 0), plain(one.high_gco2_per_kwh, 0)
    said = (
        f"Direct CO₂ of AVERT {one.name} {one.year}, hours from {low} to {high}; for decisions, never for an inventory"
    )
    return f"{plain(one.mean_gco2_per_kwh, 0)}{THIN}g/kWh", said


def marginal_origin(region: str) -> str:
    """Return source, licence and status of a region's marginal intensity."""
    one = marginal_set(region)
    return "Marginal. " + origin(one.publisher, one.edition, one.source, one.licence, one.status, one.note)


def extremes(profile: IntensityProfile) -> Extremes:
    """Return mean, lowest and highest of a profile.

    Examples
    --------
    >>> found = extremes(profile_of("US-CISO", "direct"))
    >>> found.low < found.mean < found.high
    True

    """
    values = profile.values
    low, high = (np.unravel_index(int(pick(values)), values.shape) for pick in (np.nanargmin, np.nanargmax))
    return Extremes(
        float(np.nanmean(values)),
        float(values[low]),
        (int(low[0]), int(low[1])),
        float(values[high]),
        (int(high[0]), int(high[1])),
    )


def when(place: tuple[int, int]) -> str:
    """Write a month and an hour.

    Examples
    --------
    >>> when((3, 20))
    'Apr, 20:00 UTC'

    """
    return f"{MONTHS[place[0]]}, {place[1]:02}:00 UTC"


def _cell(name: str, value: float | None, unit: str = UNIT, decimals: int = 1) -> Cell:
    if value is None or not np.isfinite(value):
        return Cell(name, None, unit, mark="no data", reason="no hour was measured")
    return Cell(name, Decimal(f"{value:.{decimals}f}"), unit)


def month_table(profile: IntensityProfile) -> TableBlock:
    """Return the average day of each month as a table: a row a month, a column an hour."""
    rows = tuple(
        Row(
            month,
            (
                Cell(f"grid.hours.{month}", month),
                *(_cell(f"grid.hours.{month}.{hour:02}", value) for hour, value in enumerate(values.tolist())),
            ),
        )
        for month, values in zip(MONTHS, profile.values, strict=True)
    )
    columns = (
        Column("month", "Month", kind="text"),
        *(Column(f"hour_{hour:02}", f"{hour:02}", UNIT, decimals=0) for hour in range(24)),
    )
    return TableBlock(
        "grid.hours",
        "Intensity by month and UTC hour",
        f"{profile.boundary.capitalize()}, g/kWh generated, mean of the hour over the month",
        columns,
        rows,
    )


def mix_table(mix: GenerationMix) -> TableBlock:
    """Return the generation by technology: the mean hour, its share, and the hours of day with the least and most."""
    total = sum(mix.mean_mwh.values())
    rows = []
    for name in ordered(mix):
        by_hour = mix.by_hour_mwh[name]
        cells = (
            Cell(f"grid.mix.{name}", label(name)),
            _cell(f"grid.mix.{name}.mean", mix.mean_mwh[name], "MWh_generation"),
            Cell(f"grid.mix.{name}.share", Decimal(f"{mix.mean_mwh[name] / total:.4f}")),
            Cell(f"grid.mix.{name}.least", f"{int(by_hour.argmin()):02}:00" if by_hour.any() else "never"),
            Cell(f"grid.mix.{name}.most", f"{int(by_hour.argmax()):02}:00" if by_hour.any() else "never"),
        )
        rows.append(Row(name, cells))
    columns = (
        Column("technology", "Technology", kind="text"),
        Column("mean", "Generation in the mean hour", "MWh_generation"),
        Column("share", "Share", kind="share"),
        Column("least", "Least at, UTC", kind="text"),
        Column("most", "Most at, UTC", kind="text"),
    )
    hours = f"Mean of {plain(mix.n_hours, 0)} measured hours of {mix.about.year}"
    sub = f"{hours}; negative generation as none, storage left out"
    return TableBlock("grid.mix", "Generation by technology", sub, columns, tuple(rows))


def ordered(mix: GenerationMix) -> list[str]:
    """Return technologies by generation, the most first; what the source does not name is last."""
    return sorted(mix.mean_mwh, key=lambda name: (name == "unknown", -mix.mean_mwh[name]))


def label(technology: str) -> str:
    """Return a technology in words."""
    return "Other, not named" if technology == "unknown" else technology.capitalize()


def side_by_side(boundary: str) -> list[tuple[IntensityProfile, Extremes]]:
    """Return all zones with hours of a boundary, the lowest mean first."""
    found = [(one, extremes(one)) for one in all_profiles() if one.boundary == boundary]
    return sorted(found, key=lambda item: item[1].mean)


def zones_table(zones: Sequence[tuple[IntensityProfile, Extremes]], boundary: str) -> TableBlock:
    """Return the zones side by side."""
    rows = tuple(
        Row(
            one.zone_id,
            (
                Cell(f"grid.zones.{one.zone_id}", f"{zones_by_id()[one.zone_id].name} ({one.zone_id})"),
                Cell(f"grid.zones.{one.zone_id}.year", str(one.year)),
                _cell(f"grid.zones.{one.zone_id}.mean", found.mean),
                _cell(f"grid.zones.{one.zone_id}.low", found.low),
                Cell(f"grid.zones.{one.zone_id}.low_at", when(found.low_at)),
                _cell(f"grid.zones.{one.zone_id}.high", found.high),
                Cell(f"grid.zones.{one.zone_id}.high_at", when(found.high_at)),
                Cell(f"grid.zones.{one.zone_id}.publisher", f"{one.publisher}; {one.licence}"),
            ),
        )
        for one, found in zones
    )
    columns = (
        Column("zone", "Zone", kind="text"),
        Column("year", "Year", kind="text"),
        Column("mean", "Mean", UNIT, decimals=0),
        Column("low", "Lowest hour", UNIT, decimals=0),
        Column("low_at", "when", kind="text"),
        Column("high", "Highest hour", UNIT, decimals=0),
        Column("high_at", "when", kind="text"),
        Column("publisher", "Publisher and licence", kind="text"),
    )
    return TableBlock(
        "grid.zones",
        "Zones with hours",
        f"{boundary.capitalize()}, per kWh generated; an hour is the mean of an hour of day over a month",
        columns,
        rows,
    )


def of_boundary(lines: Sequence[SpreadLine], boundary: str) -> list[SpreadLine]:
    """Return the lines of a spread that stand in one ratio: those of the boundary."""
    return [line for line in lines if line.boundary == boundary]


def shown(lines: Sequence[SpreadLine], boundary: str) -> list[SpreadLine]:
    """Return the lines that are drawn: those of the boundary, and those whose publisher does not say theirs."""
    return [line for line in lines if line.boundary in (boundary, NOT_STATED)]


def spread_table(lines: Sequence[SpreadLine], boundary: str) -> TableBlock:
    """Return the spread: every line with its reasons; ratios stand between lines of one boundary alone."""
    same = [line.intensity_gco2e_per_kwh_facility for line in of_boundary(lines, boundary)]
    low = min((value for value in same if value > 0), default=None)
    rows = []
    for line in lines:
        value = line.intensity_gco2e_per_kwh_facility
        if low is None or line.boundary != boundary:
            ratio = Cell("ratio", None, mark="not applicable", reason=f"boundary {line.boundary}, not {boundary}")
        else:
            ratio = Cell("ratio", Decimal(f"{value / low:.2f}"))
        name = line.factor_id
        rows.append(
            Row(
                name,
                (
                    Cell(f"grid.spread.{name}", name),
                    _cell(f"grid.spread.{name}.value", value, "gCO2e/kWh_facility", 2),
                    ratio,
                    Cell(f"grid.spread.{name}.boundary", line.boundary),
                    Cell(f"grid.spread.{name}.why", reason_of(line)),
                    Cell(f"grid.spread.{name}.status", f"{line.status}; {line.licence}"),
                ),
            )
        )
    columns = (
        Column("factor", "Factor", kind="code"),
        Column("value", "Intensity", "gCO2e/kWh_facility", decimals=1),
        Column("ratio", f"Over the lowest {boundary}", decimals=2),
        Column("boundary", "Boundary", kind="text"),
        Column("why", "Differs from the chosen one in", kind="text"),
        Column("status", "Status and licence", kind="text"),
    )
    sub = "As purchased, per kWh at the meter; the nearest year of each set is taken"
    return TableBlock("grid.spread", "Every factor set held for the place", sub, columns, tuple(rows))


def reason_of(line: SpreadLine) -> str:
    """Return why a line differs, or that it is the one chosen."""
    return "chosen: location-based" if line.is_chosen else "; ".join(line.reasons)


def origin(publisher: str, edition: str, keys: Sequence[str], licence: str, status: str, note: str = "") -> str:
    """Write source, licence and status of what is drawn, as one note.

    Examples
    --------
    >>> origin("US EIA", "EIA-930, 2022", ("eia930_2022",), "US public domain", "derived")[:43]
    'Source: US EIA, EIA-930, 2022 (US EIA-930 h'

    """
    titles = "; ".join(source(key).title for key in keys)
    end = f" Note: {note}." if note else ""
    return f"Source: {publisher}, {edition} ({titles}). Licence: {licence}. Status: {status}.{end}"


def amount(value: float) -> str:
    """Write an intensity with its unit."""
    return f"{value:.0f}{THIN}g/kWh"
