"""The fleet of a quarter, for the app: who used which chips, what stood idle, which hours have no readings.

Every number is a sum of the same lines as the report's: this module only chooses and groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from typing import Any

from energy.report import numbers
from energy.report.amounts import ZERO, add
from energy.report.display import value_text
from energy.report.explain import steps_of
from energy.report.facts import LAST_OWNERS, READING_TIERS, QuarterFacts
from energy.report.fleet_choice import ALL, WHOLE, Choice, narrowed
from energy.report.model import Cell, ChartBlock, Column, Figure, Prose, Row, Selection, Series, TableBlock
from energy.report.numbers import THIN
from energy.report.overview import breakdown
from energy.report.sections import data_quality
from energy.report.sections._cells import (
    RANGE_NOTE,
    TIER_WORDS,
    TOTAL_NOTE,
    energy_cell,
    minute_text,
    share_of,
    value_cell,
)
from energy.report.sections._chain import Step
from energy.report.sections._figures import headline
from energy.report.sections._gaps import gaps
from energy.schema import TIERS

_PRECISION = 60  # sums of DECIMAL(38,12) stay exact
_LONG_GAP_H = 24
_GAPS_NAMED = 8
_NO_IDLE = "Idle chips belong to no project: choose all projects."
_NO_INVENTORY = "No inventory covers this quarter: energy ingest hosts brings one in."
_IDLE_UNKNOWN = "Without an inventory nobody knows what stood idle."


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the page shows of one choice.

    Attributes
    ----------
    line_count : int
        Lines of the ledger, by month, that the choice leaves.
    figures : tuple of Figure
        At most eight, location before market.
    ways_back : dict of str to tuple of Step
        Id of a figure to the steps that lead to it.
    by_project, by_chip, by_tier : tuple of ChartBlock and TableBlock
        Bars and their table.
    idle : TableBlock or None
        Idle chips by site and chip; none where one project is chosen.
    strip : ChartBlock
        Share of chip-hours by tier, each day and site.
    long_gaps : tuple of str
        Gaps of over a day, in words.
    gaps : TableBlock or Prose
        All gaps, or that there are none.
    """

    line_count: int
    figures: tuple[Figure, ...]
    ways_back: dict[str, tuple[Step, ...]]
    by_project: tuple[ChartBlock, TableBlock]
    by_chip: tuple[ChartBlock, TableBlock]
    by_tier: tuple[ChartBlock, TableBlock]
    idle: TableBlock | None
    strip: ChartBlock
    long_gaps: tuple[str, ...]
    gaps: TableBlock | Prose
    notes: tuple[str, ...] = field(default=())


def fleet(facts: QuarterFacts, choice: Choice = WHOLE) -> Fleet:
    """Choose what the page shows.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    choice : Choice
        What the lines are limited to.
    """
    with localcontext() as context:
        context.prec = _PRECISION
        own = narrowed(facts, choice)
        strip, tiers, found = _quality(own)
        shown = _figures(own, choice)
        ways = {
            figure.cell.id: tuple(steps_of(figure.cell, own))
            for figure in shown
            if figure.cell.value is not None and figure.cell.selection is not None
        }
        return Fleet(
            len(own.energy),
            shown,
            ways,
            _said(_by_project(own, choice), own, choice, choice.project),
            _said(breakdown(own, "chip"), own, choice, own.chip_names.get(choice.chip, ALL)),
            (_tier_bars(own, choice), replace(tiers, id="fleet.tiers", caption="By tier")),
            _idle(own) if choice.project in (ALL, "idle") and _idle_known(own) else None,
            _strip(strip, own, choice),
            long_gaps(own),
            found,
            _notes(choice),
        )


def _quality(facts: QuarterFacts) -> tuple[ChartBlock, TableBlock, TableBlock | Prose]:
    """Return the report's strip, table of tiers, and table of gaps (words where there is no gap)."""
    blocks = data_quality.build(facts).blocks
    strip = next(block for block in blocks if isinstance(block, ChartBlock))
    tiers = next(block for block in blocks if isinstance(block, TableBlock) and block.id == "data_quality.tiers")
    found = next(block for block in blocks if isinstance(block, TableBlock | Prose) and block.id == "data_quality.gaps")
    return strip, tiers, found


def _notes(choice: Choice) -> tuple[str, ...]:
    out = ["Scope 2 is one quantity by two methods; the figures are never added.", RANGE_NOTE]
    if choice.project != ALL or choice.tier != ALL:
        out.insert(1, "Installed chips and gaps are those of all projects and tiers: hosts belong to none.")
    return tuple(out)


# --- figures ---
def _figures(facts: QuarterFacts, choice: Choice) -> tuple[Figure, ...]:
    found = {figure.cell.id.removeprefix("front."): figure for figure in headline(facts)}
    named = [found["energy_facility"], found["scope2_location"], found["scope2_market"]]
    own = [replace(figure, cell=replace(figure.cell, id=f"fleet.{_last(figure)}")) for figure in named]
    return (
        _installed(facts),
        _given(facts),
        _idle_share(facts, choice),
        _read_share(facts),
        own[0],
        _idle_energy(facts, choice, found["energy_facility"]),
        *own[1:],
    )


def _last(figure: Figure) -> str:
    return figure.cell.id.rsplit(".", 1)[1]


def _hours_cell(name: str, hours: Decimal | None) -> Cell:
    return value_cell(f"fleet.{name}", hours, "chip*h", _NO_INVENTORY)


def _installed(facts: QuarterFacts) -> Figure:
    hours = add(facts.installed, "installed_chip_h")
    chips = None if hours is None else hours / facts.quarter.hours
    known = "" if chips is None else f"{numbers.plain(chips, 0)} chips on average"
    return Figure("Chip-hours available", _hours_cell("installed", hours), "exact", known)


def _given(facts: QuarterFacts) -> Figure:
    hours = facts.chip_hours((("owner_kind", "project"),))
    installed = add(facts.installed, "installed_chip_h")
    known = f"{numbers.share(hours, installed)} of these" if installed else "of an unknown number"
    return Figure("Chip-hours given to projects", _hours_cell("given", hours), "exact", known)


def _idle_known(facts: QuarterFacts) -> bool:
    """Tell whether idle hours can be known: installed less given needs what is installed."""
    return bool(facts.installed or facts.energy_rows((("owner_kind", "idle"),)))


def _idle_share(facts: QuarterFacts, choice: Choice) -> Figure:
    label = "Idle, share of chip-hours"
    if choice.project not in (ALL, "idle"):
        return Figure(label, Cell("fleet.idle", None, mark="not applicable", reason=_NO_IDLE), "exact", _NO_IDLE)
    if not _idle_known(facts):
        return Figure(label, Cell("fleet.idle", None, mark="no data", reason=_IDLE_UNKNOWN), "exact", _IDLE_UNKNOWN)
    idle, whole = facts.chip_hours((("owner_kind", "idle"),)), facts.chip_hours()
    if not whole:
        why = "There are no chip-hours."
        return Figure(label, Cell("fleet.idle", None, mark="no data", reason=why), "exact", why)
    return Figure(label, Cell("fleet.idle", numbers.share(idle, whole)), "exact", f"{_chip_hours(idle)} of these")


def _chip_hours(hours: Decimal) -> str:
    return value_text(hours, "chip*h")


def _read_share(facts: QuarterFacts) -> Figure:
    shares = dict(facts.tier_shares("chip_h"))
    read = sum((shares.get(tier, ZERO) for tier in READING_TIERS), ZERO)
    if not shares:
        why = "There are no chip-hours."
        return Figure("With readings", Cell("fleet.read", None, mark="no data", reason=why), "exact", why)
    missing = shares.get("missing")
    known = "of chip-hours, energy counter or power"
    if missing:
        known += f"; nothing is known of {numbers.share(missing, 1)}"
    return Figure("With readings", Cell("fleet.read", numbers.share(read, 1)), "exact", known)


def _idle_energy(facts: QuarterFacts, choice: Choice, whole: Figure) -> Figure:
    label = "Facility energy of idle chips"
    if choice.project not in (ALL, "idle"):
        cell = Cell("fleet.idle_energy", None, "kWh_facility", mark="not applicable", reason=_NO_IDLE)
        return Figure(label, cell, "hollow", _NO_IDLE)
    if not _idle_known(facts):
        cell = Cell("fleet.idle_energy", None, "kWh_facility", mark="no data", reason=_IDLE_UNKNOWN)
        return Figure(label, cell, "hollow", _IDLE_UNKNOWN)
    selection: Selection = (("owner_kind", "idle"),)
    cell = energy_cell(facts, "fleet.idle_energy", "energy_facility", selection)
    shares = dict(facts.tier_shares("energy_facility_kwh", selection))
    read = sum((shares.get(tier, ZERO) for tier in READING_TIERS), ZERO)
    dot = "half" if read else "hollow"
    part = numbers.share(cell.value if isinstance(cell.value, Decimal) else None, facility_of(whole))
    return Figure(label, cell, dot, f"{part} of facility energy; {numbers.share(read, 1)} from readings")  # type: ignore[arg-type]


def facility_of(figure: Figure) -> Decimal | None:
    """Return the value of a figure, where it has one."""
    return figure.cell.value if isinstance(figure.cell.value, Decimal) else None


# --- bars ---
def _said(
    pair: tuple[ChartBlock, TableBlock], facts: QuarterFacts, choice: Choice, one: str
) -> tuple[ChartBlock, TableBlock]:
    """Say in heading and line below what the bars are limited to; one bar alone is no answer to "which takes most"."""
    chart, table = pair
    heading = chart.heading
    if one != ALL:
        heading = f"Facility energy of {one}"
    elif not choice.whole:
        heading = heading.replace("of facility energy", "of the facility energy chosen")
    return (
        replace(chart, heading=heading, sub=_limited(chart.sub, facts, choice), alt=_limited(chart.alt, facts, choice)),
        replace(table, sub=_limited(table.sub, facts, choice)),
    )


def _limited(text: str, facts: QuarterFacts, choice: Choice) -> str:
    """Put the words of the choice behind the quarter."""
    names = {"site_id": facts.site_names, "chip": facts.chip_names, "tier": TIER_WORDS}
    chosen = [names.get(column, {}).get(value, value) for column, value in choice.selection]
    said = text.replace(facts.quarter.text, ", ".join([facts.quarter.text, *chosen]), 1)
    return said.replace(f"{numbers.NO_DATA} facility", numbers.NO_DATA)


def _by_project(facts: QuarterFacts, choice: Choice) -> tuple[ChartBlock, TableBlock]:
    """Leave idle and unallocated out only where the choice leaves them out: else an empty row says an exact 0."""
    chart, table = breakdown(facts, "project")
    absent = [name for name in LAST_OWNERS if choice.project not in (ALL, name)]
    if not _idle_known(facts):
        absent.append("idle")  # not known is not 0
    places = [place for place, name in enumerate(chart.categories) if name not in absent]
    series = tuple(replace(one, values=tuple(one.values[place] for place in places)) for one in chart.series)
    rows = tuple(row for row in table.rows if row.key not in absent)
    names = tuple(chart.categories[place] for place in places)
    return replace(chart, categories=names, series=series), replace(table, rows=rows)


def _tier_bars(facts: QuarterFacts, choice: Choice) -> ChartBlock:
    sums = {tier: add(facts.energy_rows((("tier", tier),)), "energy_facility_kwh") for tier in TIERS}
    present = [tier for tier in TIERS if sums[tier] is not None]
    whole = facts.energy_total("energy_facility").value
    series = tuple(
        Series(tier, tier, tuple((sums[one] or ZERO) if one == tier else ZERO for one in present)) for tier in present
    )
    heading = "How is the energy known?"
    if present and whole:
        top = max(present, key=lambda tier: sums[tier] or ZERO)
        which = "facility energy" if choice.whole else "the facility energy chosen"
        heading = f"{numbers.share(sums[top], whole)} of {which} rests on {TIER_WORDS[top]}"
    parts = "; ".join(f"{tier} {value_text(sums[tier], 'kWh_facility')}" for tier in present)
    unknown = facts.chip_hours((("tier", "missing"),))
    notes = (f"{_chip_hours(unknown)} have no known energy and are in no bar.",) if unknown else ()
    return ChartBlock(
        "fleet.chart_by_tier",
        "tier_bars",
        heading,
        _limited(f"Facility energy by how it is known, {facts.quarter.text}", facts, choice)
        + f"; sum {numbers.NO_DATA if whole is None else value_text(whole, 'kWh_facility')}",
        _limited(f"Horizontal bars of facility energy by tier, {facts.quarter.text}", facts, choice)
        + f": {parts or 'no data'}.",
        "kWh_facility",
        tuple(present),
        series,
        "fleet.tiers",
        notes,
    )


# --- idle ---
def _idle(facts: QuarterFacts) -> TableBlock:
    rows = []
    for site in facts.site_ids:
        for chip in facts.chips_by_energy:
            selection: Selection = (("site_id", site), ("chip", chip))
            if facts.energy_rows(selection) or any(_of(row, selection) for row in facts.installed):
                name = f"{facts.site_names.get(site, site)}, {facts.chip_names[chip]}"
                rows.append(_idle_row(facts, f"{site}.{chip}", name, selection))
    rows.sort(key=lambda row: -_known(row.cells[2]))
    rows.append(replace(_idle_row(facts, "total", "Total", ()), kind="sum"))
    columns = (
        Column("name", "Site, chip", kind="text"),
        Column("installed", "Available", "chip*h", decimals=0),
        Column("idle", "Idle", "chip*h", decimals=0),
        Column("share", "Idle share", kind="share"),
        Column("energy", "Facility energy of idle chips", "kWh_facility", ranged=True),
    )
    sub = f"Chips that no job held, most chip-hours first, {facts.quarter.text}"
    return TableBlock("fleet.idle", "Idle by site and chip", sub, columns, tuple(rows), (TOTAL_NOTE,))


def _of(row: dict[str, Any], selection: Selection) -> bool:
    return all(row[name] == value for name, value in selection)


def _known(cell: Cell) -> Decimal:
    return cell.value if isinstance(cell.value, Decimal) else ZERO


def _idle_row(facts: QuarterFacts, key: str, name: str, selection: Selection) -> Row:
    prefix = f"fleet.idle.{key}"
    installed = add((row for row in facts.installed if _of(row, selection)), "installed_chip_h")
    idle: Selection = (*selection, ("owner_kind", "idle"))
    hours = facts.chip_hours(idle)
    cells = (
        Cell(f"{prefix}.name", name),
        value_cell(f"{prefix}.installed", installed, "chip*h", "The inventory holds no such chip."),
        Cell(f"{prefix}.idle", hours, "chip*h"),
        value_cell(f"{prefix}.share", share_of(hours, facts.chip_hours(selection)), "%", "There are no chip-hours."),
        energy_cell(facts, f"{prefix}.energy", "energy_facility", idle),
    )
    return Row(key, cells)


# --- coverage ---
def _strip(strip: ChartBlock, facts: QuarterFacts, choice: Choice) -> ChartBlock:
    """Give the report's strip the days without readings as its answer, where there are some."""
    days = len(strip.categories)
    read = [
        any(
            series.values[place]
            for series in strip.series
            if series.key.rsplit("|", 1)[1] in (*READING_TIERS, "modelled")
        )
        for place in range(days)
    ]
    heading = f"{sum(read)} of {days} days have readings" if facts.hours else strip.heading
    alt = f"{strip.alt} {_limited(facts.quarter.text, facts, choice)}."
    return replace(strip, id="fleet.strip", heading=heading, sub=_limited(strip.sub, facts, choice), alt=alt)


def long_gaps(facts: QuarterFacts) -> tuple[str, ...]:
    """Name the gaps of over a day, the largest loss first.

    Parameters
    ----------
    facts : QuarterFacts
        Its gaps are those between the first and the last reading of each host.
    """
    found = [gap for gap in gaps(facts) if gap.hours > _LONG_GAP_H]
    lines = [
        f"Host {gap.host} {'has no readings' if gap.whole else 'lacks part of its readings'} from "
        f"{minute_text(gap.first_hour)} to {minute_text(gap.end)} UTC ({gap.hours}{THIN}h). "
        "These hours are estimated; the total says so."
        for gap in found[:_GAPS_NAMED]
    ]
    if len(found) > _GAPS_NAMED:
        lines.append(f"{len(found) - _GAPS_NAMED} more gaps are longer than a day: the table lists them.")
    return tuple(lines)
