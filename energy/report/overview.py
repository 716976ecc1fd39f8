"""The quarter at a glance, for the app: the report's own figures, charts and tables, limited to a site if asked.

Every number is the report's: this module only chooses and groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext

from energy.errors import UnknownNameError, did_you_mean
from energy.report import numbers, queries
from energy.report.amounts import ZERO, add
from energy.report.display import value_text
from energy.report.explain import steps_of
from energy.report.facts import LAST_OWNERS, QuarterFacts
from energy.report.model import Cell, ChartBlock, Column, Figure, Row, Selection, Series, TableBlock
from energy.report.sections import data_quality, energy_section, front
from energy.report.sections._cells import (
    METHOD_LABELS,
    RANGE_NOTE,
    TOTAL_NOTE,
    energy_cell,
    method_cells,
    method_columns,
    tier_series,
)
from energy.report.sections._chain import Step
from energy.report.sections._figures import headline

_PRECISION = 60  # sums of DECIMAL(38,12) stay exact
_MOST_BARS = 12
_NOT_COVERED = "Not covered in this version."
_ABSENT = (("scope1", "Scope 1", "kgCO2e"), ("scope3", "Scope 3", "kgCO2e"), ("water", "Water", ""))
DIMENSIONS = {"project": "owner_key", "chip": "chip", "site": "site_id"}


@dataclass(frozen=True, slots=True)
class Overview:
    """What the Overview shows of one quarter.

    Attributes
    ----------
    lead : str
        What matters most, in a sentence.
    reservations : tuple of str
        What a reader must know first, the weightiest first.
    figures : tuple of Figure
        At most eight, location before market.
    notes : tuple of str
        What holds for all figures.
    scope2, load : ChartBlock or None
        Scope 2 by quarter or month, and mean power by hour and day.
    tiers : TableBlock
        How each part is known.
    ways_back : dict of str to tuple of Step
        Id of a figure to the steps that lead to it.
    """

    lead: str
    reservations: tuple[str, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    scope2: ChartBlock | None
    load: ChartBlock | None
    tiers: TableBlock
    ways_back: dict[str, tuple[Step, ...]]


def limited(facts: QuarterFacts, site_id: str) -> QuarterFacts:
    """Return the facts of one site alone.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    site_id : str
        A site with rows in the quarter.

    Raises
    ------
    UnknownNameError
        When the quarter has no such site.
    """
    if site_id not in facts.site_ids:
        raise UnknownNameError(
            f"No site named {site_id} in {facts.quarter.text}.{did_you_mean(site_id, facts.site_ids)}"
        )

    def own(rows: list[dict[str, object]]) -> list[dict[str, object]]:
        return [row for row in rows if row["site_id"] == site_id]

    quarters = [row["quarter"] for row in facts.history_energy]
    keys = [site_id, min(quarters), facts.quarter.key] if quarters else []
    earlier = facts.reader.rows(queries.HISTORY_ENERGY_OF_SITE, keys) if keys else []
    return replace(
        facts,
        sites=own(facts.sites),
        installed=own(facts.installed),
        hosts=own(facts.hosts),
        energy=own(facts.energy),
        emissions=own(facts.emissions),
        pue=own(facts.pue),
        bases=own(facts.bases),
        factors_used=own(facts.factors_used),
        reconciliation=own(facts.reconciliation),
        hours=own(facts.hours),
        gaps=own(facts.gaps),
        history_energy=[row for row in earlier if row["quarter"] in quarters],
        history_emissions=own(facts.history_emissions),
    )


def overview(facts: QuarterFacts) -> Overview:
    """Choose what the Overview shows.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger, or of one site by :func:`limited`.
    """
    with localcontext() as context:
        context.prec = _PRECISION
        section = front.build(facts)
        shown = _figures(facts)
        charts = [block for block in section.blocks if isinstance(block, ChartBlock)]
        load = [block for block in energy_section.build(facts).blocks if isinstance(block, ChartBlock)]
        tables = {block.id: block for block in data_quality.build(facts).blocks if isinstance(block, TableBlock)}
        known = [figure.cell for figure in shown if figure.cell.value is not None]
        ways = {cell.id: tuple(steps_of(cell, facts)) for cell in known}
        return Overview(
            section.lead,
            tuple(front.reservations(facts)),
            shown,
            _notes(facts),
            charts[0] if charts else None,
            load[0] if load else None,
            tables["data_quality.tiers"],
            ways,
        )


def _figures(facts: QuarterFacts) -> tuple[Figure, ...]:
    found = {figure.cell.id.removeprefix("front."): figure for figure in headline(facts)}
    absent = [
        Figure(label, Cell(f"front.{name}", None, unit, mark="no data", reason=_NOT_COVERED), "hollow", _NOT_COVERED)
        for name, label, unit in _ABSENT
    ]
    first = [found[name] for name in ("energy_facility", "energy_it", "scope2_location", "scope2_market")]
    return (*first, *(found.get(figure.cell.id.removeprefix("front."), figure) for figure in absent), found["pue"])


def _notes(facts: QuarterFacts) -> tuple[str, ...]:
    lines = ["Scope 2 is one quantity by different methods; the figures are never added."]
    if "hourly" in facts.methods:
        amount = facts.emission_total("hourly")
        share = facts.method_share("hourly")
        if amount.value is not None:
            words = value_text(amount.value, "kgCO2e", amount.low, amount.high)
            part = "" if share == 1 else f", for {numbers.share(share, 1)} of facility energy"
            lines.append(f"By hourly factors, a third method outside the standard's two: {words}{part}.")
    return (*lines, RANGE_NOTE, "The figures are rounded to the digits that their range allows; tables show more.")


def _members(facts: QuarterFacts, dimension: str) -> list[tuple[str, str]]:
    """Return the members of a dimension in the order of the bars, each with its name for people."""
    if dimension == "project":
        return [(key, key) for key in facts.owners]
    if dimension == "chip":
        return [(key, facts.chip_names[key]) for key in facts.chips_by_energy]
    if dimension == "site":
        rows = {key: facts.energy_rows((("site_id", key),)) for key in facts.site_ids}
        sums = {key: add(rows[key], "energy_facility_kwh") or ZERO for key in facts.site_ids}
        return [(key, facts.site_names.get(key, key)) for key in sorted(sums, key=lambda key: (-sums[key], key))]
    raise UnknownNameError(f"No grouping named {dimension}.{did_you_mean(dimension, DIMENSIONS)}")


def breakdown(facts: QuarterFacts, dimension: str, energy_unit: str = "") -> tuple[ChartBlock, TableBlock]:
    """Split facility energy and Scope 2 by project, chip or site: bars by tier, and a table with both methods.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger, or of one site by :func:`limited`.
    dimension : str
        ``project``, ``chip`` or ``site``.
    energy_unit : str
        Unit of energy that the reader asks for; by default the fitting prefix.

    Raises
    ------
    UnknownNameError
        For another dimension.
    """
    with localcontext() as context:
        context.prec = _PRECISION
        members = _members(facts, dimension)
        return _bars(facts, dimension, members, energy_unit), _table(facts, dimension, members)


def _bars(facts: QuarterFacts, dimension: str, members: Sequence[tuple[str, str]], energy_unit: str) -> ChartBlock:
    column = DIMENSIONS[dimension]
    named = [entry for entry in members if entry[0] not in LAST_OWNERS or dimension != "project"]
    last = [entry for entry in members if entry not in named]
    shown = named if len(named) + len(last) <= _MOST_BARS else named[: _MOST_BARS - 1 - len(last)]
    groups: list[tuple[str, list[dict[str, object]]]] = [
        (name, facts.energy_rows(((column, key),))) for key, name in shown
    ]
    rest = named[len(shown) :]
    if rest:
        keys = {key for key, _ in rest}
        groups.append((f"{len(rest)} others", [row for row in facts.energy if row[column] in keys]))
    groups += [(name, facts.energy_rows(((column, key),))) for key, name in last]
    whole = facts.energy_total("energy_facility").value
    total = value_text(whole, "kWh_facility", energy_unit=energy_unit)
    return ChartBlock(
        f"overview.chart_by_{dimension}",
        "tier_bars",
        _answer(dimension, named, whole, lambda key: facts.energy_total("energy_facility", ((column, key),)).value),
        f"Facility energy by {dimension}, {facts.quarter.text}; sum {total}",
        f"Horizontal bars of facility energy by {dimension}, {facts.quarter.text}, split by how it is known. "
        + _largest(groups, energy_unit),
        "kWh_facility",
        tuple(name for name, _ in groups),
        tier_series([rows for _, rows in groups], "energy_facility_kwh"),
        f"overview.by_{dimension}",
    )


def _answer(
    dimension: str, named: Sequence[tuple[str, str]], whole: Decimal | None, energy: Callable[[str], Decimal | None]
) -> str:
    if not named or not whole:
        return f"Facility energy by {dimension}"
    key, name = named[0]
    return f"{name} takes {numbers.share(energy(key), whole)} of facility energy"


def _largest(groups: Sequence[tuple[str, Sequence[dict[str, object]]]], energy_unit: str) -> str:
    words = []
    for name, rows in groups:
        known = add(rows, "energy_facility_kwh")
        text = "no data" if known is None else value_text(known, "kWh_facility", energy_unit=energy_unit)
        words.append(f"{name} {text}")
    return "; ".join(words) + "."


def _table(facts: QuarterFacts, dimension: str, members: Sequence[tuple[str, str]]) -> TableBlock:
    table_id = f"overview.by_{dimension}"
    entries: list[tuple[str, str, Selection]] = [(key, name, ((DIMENSIONS[dimension], key),)) for key, name in members]
    rows = []
    for key, name, selection in (*entries, ("total", "Total", ())):
        prefix = f"{table_id}.{key}"
        cells = (
            Cell(f"{prefix}.name", name),
            energy_cell(facts, f"{prefix}.energy_facility", "energy_facility", selection),
            *method_cells(facts, prefix, selection),
        )
        rows.append(Row(key, cells, "sum" if key == "total" and not selection else "row"))
    methods = ", ".join(METHOD_LABELS[name].lower() for name in facts.methods)
    return TableBlock(
        table_id,
        f"By {dimension}",
        f"Facility energy and Scope 2 by method ({methods}), {facts.quarter.text}; methods are never added",
        (
            Column("name", dimension.capitalize(), kind="text"),
            Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
            *method_columns(facts),
        ),
        tuple(rows),
        (TOTAL_NOTE,),
    )


def chart_rows(chart: ChartBlock) -> list[tuple[str, ...]]:
    """Return a chart's data as exact texts: one row for each category and series, with a head.

    Parameters
    ----------
    chart : ChartBlock
        Any chart of the report.
    """
    out: list[tuple[str, ...]] = [("category", "series", "value", "low", "high", "unit")]
    for series in chart.series:
        out += zip(
            chart.categories,
            [series.key] * len(chart.categories),
            map(_plain, series.values),
            map(_plain, series.low or [None] * len(chart.categories)),
            map(_plain, series.high or [None] * len(chart.categories)),
            [chart.unit] * len(chart.categories),
            strict=True,
        )
    return out


def _plain(value: Decimal | None) -> str:
    return "" if value is None else f"{value:f}"


__all__ = ["DIMENSIONS", "Overview", "Series", "breakdown", "chart_rows", "limited", "overview"]
