"""What the page Site says of a year: headline figures, losses by month, liquid against air, operators' figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from energy.catalogue.cloud import all_cloud_regions, cloud_years
from energy.facility.design import Design
from energy.facility.liquid import AIR, liquid
from energy.facility.operators import Published, published
from energy.facility.results import FacilityYear
from energy.report import Step
from energy.report.model import Cell, Column, Figure, Row, TableBlock
from energy.report.numbers import THIN, share
from energy.ui.site_data import SiteFound, upper
from energy.ui.site_weather import MONTHS, by_day, month_sums, months_of
from energy.weather.places import distances_km

Numbers = NDArray[np.float64]

PUE, WUE, PER_IT = "kWh_facility/kWh_it", "L/kWh_it", "kW_facility/kW_it"
NEAR_KM = 150.0
_PARTS = {"ups": "UPS", "it": "IT"}


def fan_fractions(design: Design) -> tuple[float, float]:
    """Return the share of server fans in IT power: air-cooled, and as designed."""
    before = liquid(AIR).server_fan_fraction
    return before, before if design.liquid is None else liquid(design.liquid.technology).server_fan_fraction


def _cell(
    name: str, value: float, unit: str, ends: tuple[float, float, float] | None = None, factor: float = 1.0
) -> Cell:
    low, high = (None, None) if ends is None else (_exact(ends[0] * factor), _exact(ends[2] * factor))
    return Cell(f"site.{name}", _exact(value), unit, low, high)


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.9g}")


def figures_of(found: SiteFound) -> list[Figure]:
    """Return the headline figures, PUE and water first; ranges are the 5th to 95th percentile."""
    one, ends, year = found.year.annual, found.bounds, found.year
    factor, (_, fans) = found.design.fan_factor, fan_fractions(found.design)
    grid = by_day(year.start_utc, year.weather.standard_offset_h, year.pue)
    worst, *where = grid.highest
    inside = f"{factor * fans:.2f}{THIN}kW of it in the fans of servers"
    out = [
        Figure("Annual PUE", _cell("pue", one.pue, PUE, ends.pue), "hollow", "facility over IT energy of the year"),
        Figure(
            "Site power per kW of air-cooled IT",
            _cell("power", one.pue * factor, PER_IT, ends.pue, factor),
            "hollow",
            inside,
        ),
    ]
    for name, said in (("withdrawn", "all water taken in"), ("consumed", "what does not come back")):
        value, bounds = (getattr(part, f"wue_{name}_l_per_kwh_it") for part in (one, ends))
        out.append(Figure(f"WUE, {name}", _cell(f"wue_{name}", value, WUE, bounds), "hollow", f"{said}, per IT energy"))
    energy = _cell("energy", one.energy_facility_kwh, "kWh_facility", ends.pue, one.energy_it_kwh)
    out += [
        Figure("Worst hour, PUE", _cell("worst", worst, PUE), "hollow", grid.when(where[0], where[1])),
        Figure("Facility energy of the year", energy, "hollow", "at the site's meter"),
        Figure(
            "Water withdrawn in the year",
            _cell("water", one.water_withdrawn_l, "L", ends.wue_withdrawn_l_per_kwh_it, one.energy_it_kwh),
            "hollow",
            "at the site",
        ),
    ]
    saved = found.saved_fraction
    if saved is not None:
        words = f"{share(Decimal(f'{abs(saved):.5f}'), 1)} {'less' if saved >= 0.0 else 'more'}"
        known = "facility energy with liquid, the same computing"
        out.append(Figure("Liquid against air", Cell("site.saved", words), "hollow", known))
    return out


def steps_of(found: SiteFound) -> dict[str, list[Step]]:
    """Return the ways back of PUE, facility energy and WUE, by the id of their figure."""
    one = found.year.annual
    rated = f"{found.design.built_it_kw:,.0f} kW as built, load {float(found.design.it_load):.0%}".replace(",", THIN)
    steps = [Step("IT energy", Cell("", _exact(one.energy_it_kwh), "kWh_it"), "given", rated)]
    steps += [
        Step(part_words(name), Cell("", _exact(value), "kWh_facility"), *_known(found.design, name))
        for name, value in one.energy_by_part_kwh.items()
        if name != "it"
    ]
    steps.append(
        Step(
            "Facility energy",
            Cell("", _exact(one.energy_facility_kwh), "kWh_facility"),
            "derived",
            "sum of the parts",
            True,
        )
    )
    pue = Step("PUE", Cell("", _exact(one.pue), PUE), "derived", "facility energy over IT energy", True)
    litres = Step("Water withdrawn", Cell("", _exact(one.water_withdrawn_l), "L"), *_known(found.design, "water"))
    wue = Cell("", _exact(one.wue_withdrawn_l_per_kwh_it), WUE)
    return {
        "site.pue": [*steps, pue],
        "site.energy": steps,
        "site.wue_withdrawn": [
            litres,
            steps[0],
            Step("WUE, withdrawn", wue, "derived", "water over IT energy", True),
        ],
    }


def _known(design: Design, part: str) -> tuple[str, str]:
    """Return status and source of a part's parameters: a loop's are of its technology, others of the case."""
    chosen = design.case
    if part == "loop_pumps" and design.liquid is not None:
        one = liquid(design.liquid.technology)
        return one.status, f"{one.liquid_id}: {', '.join(one.source)}"
    if part == "dry_cooler_fans":
        own = chosen.ranges["dry_cooler_fan_fraction"]
        return own.status, own.source
    return chosen.status, f"{chosen.case_id}: {', '.join(chosen.source)}"


def part_words(name: str) -> str:
    """Return a part of the site in words.

    Examples
    --------
    >>> part_words("ups"), part_words("chilled_water_pumps")
    ('UPS', 'Chilled water pumps')

    """
    return _PARTS.get(name, upper(name.replace("_", " ")))


def losses_by_month(found: SiteFound) -> tuple[dict[str, Numbers], Numbers]:
    """Return energy by part and month, kWh_facility, the greatest part first, and IT energy by month."""
    year = found.year
    months = months_of(year.start_utc, year.weather.standard_offset_h)
    known = np.where(np.isnan(year.facility_kw), np.nan, 1.0)
    parts = {
        name: month_sums(months, known * np.broadcast_to(values, months.shape))
        for name, values in year.parts_kw.items()
    }
    parts = dict(sorted(parts.items(), key=lambda item: -float(item[1].sum())))
    return parts, month_sums(months, known * year.it_kw)


def months_table(found: SiteFound) -> TableBlock:
    """Return energy by part and month; the sums are the annual figures."""
    parts, it = losses_by_month(found)
    fans = fan_fractions(found.design)[1]
    rows = [_month_row("Computing and the rest of IT", it * (1.0 - fans), it)]
    rows.append(_month_row("Fans of servers, in IT", it * fans, it))
    rows += [_month_row(part_words(name), values, it) for name, values in parts.items()]
    rows.append(_month_row("Whole site", it + np.asarray(sum(parts.values(), np.zeros(12))), it, kind="sum"))
    columns = (
        Column("part", "Part", kind="text"),
        Column("year", "Year", "kWh_facility", decimals=2),
        Column("share", "Of IT", kind="share"),
        *(Column(name, name, "kWh_facility", decimals=2) for name in MONTHS),
    )
    return TableBlock(
        "site.months",
        "Energy by part and month",
        "At the facility: IT counted at the meter with the same number",
        columns,
        tuple(rows),
        ("Totals are sums of unrounded values.",),
    )


def _month_row(name: str, values: Numbers, it: Numbers, kind: str = "row") -> Row:
    total = float(values.sum())
    cells = [
        Cell(f"site.months.{name}", name),
        _cell(f"months.{name}.year", total, "kWh_facility"),
        Cell(f"site.months.{name}.share", _exact(total / float(it.sum()))),
        *(
            _cell(f"months.{name}.{month}", float(one), "kWh_facility")
            for month, one in zip(MONTHS, values, strict=True)
        ),
    ]
    return Row(name, tuple(cells), "sum" if kind == "sum" else "row")


def comparison(found: SiteFound) -> TableBlock:
    """Return the same computing with air and with liquid; the last row is liquid less air."""
    before, after = fan_fractions(found.design)
    sides = [] if found.air is None else [("Air", found.air, before)]
    sides.append(("Air" if found.air is None else "Liquid", found.year, after))
    base = sides[0][1].annual.energy_it_kwh
    lines = [(name, _side(year, fans, base)) for name, year, fans in sides]
    if len(lines) == 2:
        pairs = zip(lines[0][1], lines[1][1], strict=True)
        # the same computing twice differs by rounding alone
        lines.append(("Liquid less air", [0.0 if math.isclose(wet, dry) else wet - dry for dry, wet in pairs]))
    columns = (
        Column("side", "Cooling", kind="text"),
        Column("computing", "Computing", "kWh_it"),
        Column("fans", "Fans of servers", "kWh_it"),
        Column("facility", "Facility energy", "kWh_facility"),
        Column("power", "Site power per kW of air-cooled IT", PER_IT, decimals=3),
        Column("pue", "PUE", PUE, decimals=2),
        Column("peak", "Highest power at the meter", "kW_facility"),
        Column("wue", "WUE, withdrawn", WUE, decimals=2),
        Column("water", "Water withdrawn", "L"),
    )
    rows = tuple(
        Row(name, (Cell(f"site.sides.{name}", name), *(_cell(f"sides.{name}.{column.key}", value, column.unit)
            for column, value in zip(columns[1:], values, strict=True))))
        for name, values in lines
    )  # fmt: skip
    return TableBlock(
        "site.sides",
        "The same computing, cooled by air and by liquid",
        "Year; fans of servers belong to IT energy, so they are in the denominator of PUE",
        columns,
        rows,
        (
            "Both rows have the same hours and parameters, so their ranges move together: they do not subtract, and "
            "the range of the difference is not known.",
        ),
    )


def _side(year: FacilityYear, fans: float, base_it_kwh: float) -> list[float]:
    one = year.annual
    return [
        one.energy_it_kwh * (1.0 - fans),
        one.energy_it_kwh * fans,
        one.energy_facility_kwh,
        one.energy_facility_kwh / base_it_kwh,
        one.pue,
        float(np.nanmax(year.facility_kw)),
        one.wue_withdrawn_l_per_kwh_it,
        one.water_withdrawn_l,
    ]


@dataclass(frozen=True, slots=True)
class Near:
    """What an operator published of a region near a place; ``place`` and ``distance_km`` are the region's."""

    printed: Published
    place: str
    distance_km: float


def published_near(latitude_deg: float | None, longitude_deg: float | None) -> list[Near]:
    """Return the last PUE and WUE that operators published of regions within 150 km, the nearest first.

    Examples
    --------
    >>> [one.printed.provider for one in published_near(50.1, 8.7)][:1]
    ['aws']

    """
    if latitude_deg is None or longitude_deg is None:
        return []
    out = []
    for region in all_cloud_regions():
        if region.latitude_deg is None or region.longitude_deg is None:
            continue
        away = float(
            distances_km(latitude_deg, longitude_deg, np.array(region.latitude_deg), np.array(region.longitude_deg))
        )
        if away > NEAR_KM:
            continue
        years = [
            one.year
            for one in cloud_years(region.provider, region.region)
            if one.pue is not None or one.wue_l_per_kwh is not None
        ]
        if years:
            printed = published(region.provider, region.region, max(years))
            out.append(Near(printed, region.location, away))
    return sorted(out, key=lambda one: (one.distance_km, one.printed.name))


def published_table(near: Sequence[Near], found: SiteFound) -> TableBlock:
    """Return what operators print beside what is computed here."""
    here = found.year.annual
    rows = [
        Row(
            "computed",
            (
                Cell("site.published.computed", "Computed above"),
                Cell("site.published.computed.place", found.year.weather.place),
                _cell("published.computed.distance", 0.0, "km"),
                Cell("site.published.computed.year", found.year.weather.kind),
                _cell("published.computed.pue", here.pue, PUE),
                _cell("published.computed.wue", here.wue_withdrawn_l_per_kwh_it, WUE),
                Cell("site.published.computed.note", "modelled; WUE withdrawn"),
            ),
        )
    ]
    for one in near:
        key, printed = f"{one.printed.provider}-{one.printed.region}", one.printed
        remark = "; ".join(part for part in ("suspect" if printed.suspect else "", printed.note) if part)
        rows.append(
            Row(
                key,
                (
                    Cell(f"site.published.{key}", f"{printed.provider} {printed.region}"),
                    Cell(f"site.published.{key}.place", one.place),
                    _cell(f"published.{key}.distance", one.distance_km, "km"),
                    Cell(f"site.published.{key}.year", str(printed.year)),
                    _maybe(f"{key}.pue", printed.pue, PUE),
                    _maybe(f"{key}.wue", printed.wue_l_per_kwh_it, WUE),
                    Cell(f"site.published.{key}.note", f"{', '.join(printed.source)}{'; ' + remark if remark else ''}"),
                ),
            )
        )
    columns = (
        Column("whose", "Whose figure", kind="text"),
        Column("place", "Place", kind="text"),
        Column("distance", "Distance", "km"),
        Column("year", "Year", kind="text"),
        Column("pue", "PUE", PUE),
        Column("wue", "WUE", WUE),
        Column("note", "Source and remark", kind="text"),
    )
    return TableBlock(
        "site.published",
        "Published by operators near this place",
        f"The last year of each region within {NEAR_KM:.0f}{THIN}km; their fleets, not this design",
        columns,
        tuple(rows),
    )


def _maybe(name: str, value: float | None, unit: str) -> Cell:
    if value is None:
        return Cell(f"site.published.{name}", None, unit, mark="no data", reason="the operator printed none")
    return _cell(f"published.{name}", value, unit)


def hour_rows(found: SiteFound) -> list[list[str]]:
    """Return every hour as texts with a head; what is not known is empty."""
    year = found.year
    columns: dict[str, Numbers] = {
        "dry_bulb_c": year.weather.dry_bulb_c,
        "wet_bulb_c": year.weather.wet_bulb_c,
        "power_it_kw": year.it_kw,
        "power_facility_kw": year.facility_kw,
        "pue": year.pue,
        "wue_withdrawn_l_per_kwh_it": year.wue_withdrawn_l_per_kwh_it,
        "wue_consumed_l_per_kwh_it": year.wue_consumed_l_per_kwh_it,
        **{f"power_{name}_kw": values for name, values in year.parts_kw.items()},
    }
    return hourly_rows(year.start_utc, columns)


def hourly_rows(start_utc: NDArray[np.datetime64], columns: Mapping[str, Numbers]) -> list[list[str]]:
    """Return columns of hours as texts with a head, the start of each hour first.

    Examples
    --------
    >>> hourly_rows(np.array(["2026-01-01T00"], "datetime64[s]"), {"pue": np.array([np.nan])})
    [['start_utc', 'pue'], ['2026-01-01T00:00:00Z', '']]

    """
    size = start_utc.size
    texts = [
        ["" if value != value else f"{value:.8g}" for value in np.broadcast_to(values, (size,)).tolist()]
        for values in columns.values()
    ]
    body = zip((f"{moment}Z" for moment in start_utc), *texts, strict=True)
    return [["start_utc", *columns], *(list(line) for line in body)]
