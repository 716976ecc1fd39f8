"""Section 1: the quarter on one page."""

from __future__ import annotations

from decimal import Decimal

from energy.provenance import differences
from energy.report import numbers, queries
from energy.report.amounts import ZERO, add
from energy.report.display import value_text
from energy.report.facts import HISTORY_QUARTERS, LAST_OWNERS, READING_TIERS, UNDISCLOSED, QuarterFacts
from energy.report.model import Block, ChartBlock, FigureBlock, Notice, Section, Series
from energy.report.period import Quarter
from energy.report.sections._cells import METHOD_LABELS, RANGE_NOTE
from energy.report.sections._checks import disagreeing
from energy.report.sections._figures import headline, history_total
from energy.report.sections._gaps import gap_lines

NUMBER, ID, TITLE = 1, "front", "The quarter on one page"
_GAPS_ON_FRONT = 3


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    notes = [
        "The Scope 2 figures are one quantity by different methods; they are never added.",
        RANGE_NOTE,
        "These figures are rounded to the digits that their range allows; tables show more.",
    ]
    if not facts.history_energy:
        notes.append("The ledger holds no earlier quarter as a whole, so no change is shown.")
    blocks: list[Block] = [
        Notice("Open reservations.", tuple(reservations(facts))),
        FigureBlock("front.figures", "The quarter in figures", headline(facts), tuple(notes)),
        _chart(facts),
    ]
    return Section(NUMBER, ID, TITLE, lead(facts), tuple(blocks))


def lead(facts: QuarterFacts) -> str:
    """Say in one sentence what matters most: the change, or without history the largest parts."""
    change = _change_sentence(facts)
    whole = add(facts.energy, "energy_facility_kwh")
    if not whole:
        known = "is 0" if whole is not None else "is not known"
        return f"Facility energy {known} for {facts.quarter.text}."
    projects = [owner for owner in facts.owners if owner not in LAST_OWNERS]
    idle = facts.energy_total("energy_facility", (("owner_key", "idle"),)).value or ZERO
    parts = []
    if projects:
        first = facts.energy_total("energy_facility", (("owner_key", projects[0]),)).value
        parts.append(f"Project {projects[0]} takes {numbers.share(first, whole)} of facility energy")
    words = f"idle chips {numbers.share(idle, whole)}" if parts else f"Idle chips take {numbers.share(idle, whole)}"
    parts.append(words)
    site = _heaviest_site(facts)
    sentence = " and ".join(parts)
    return (f"{change} " if change else "") + sentence + (f"; {site}." if site else ".")


def _change_sentence(facts: QuarterFacts) -> str:
    before = {row["quarter"]: row["energy_facility_kwh"] for row in facts.history_energy}
    earlier = facts.quarter.previous
    now = facts.energy_total("energy_facility").value
    if now is None or not before.get(earlier.key):
        return ""
    words = [f"facility energy {numbers.change(now, before[earlier.key])}"]
    for method in facts.methods[:2]:
        change = numbers.change(facts.emission_total(method).value, history_total(facts, earlier.key, method))
        words.append(f"{method}-based emissions {change}")
    return f"Against {earlier.text}: {', '.join(words)}."


def _heaviest_site(facts: QuarterFacts) -> str:
    if len(facts.site_ids) < 2:
        return ""
    whole = facts.emission_total("location").value
    if not whole:
        return ""
    sums = {site: facts.emission_total("location", (("site_id", site),)).value or ZERO for site in facts.site_ids}
    site = max(facts.site_ids, key=lambda key: sums[key])
    market = facts.emission_total("market").value
    own = facts.emission_total("market", (("site_id", site),)).value
    name = facts.site_names.get(site, site)
    words = f"{name} emits {numbers.share(sums[site], whole)} of Scope 2 by location"
    if own is None or not market:
        return f"{words}; there is no total by market"
    return f"{words} and {numbers.share(own, market)} by market"


def reservations(facts: QuarterFacts) -> list[str]:
    """Return what a reader must know before using the figures, the weightiest first."""
    return [
        *_period_lines(facts),
        *_tier_lines(facts),
        *gap_lines(facts, _GAPS_ON_FRONT),
        *_factor_lines(facts),
        *_reconciliation_lines(facts),
        _absent_line(facts),
    ]


def _absent_line(facts: QuarterFacts) -> str:
    if facts.reader.rows(queries.STATED)[0]["water"]:
        return "Scope 1 and Scope 3 are not in this report; water is in section 8."
    return "Scope 1, Scope 3 and water are not in this report."


def _period_lines(facts: QuarterFacts) -> list[str]:
    quarter, held = facts.quarter, facts.held
    if held.whole(quarter):
        return []
    hours = (numbers.plain(count, 0) for count in (held.hours_of(quarter), quarter.hours))
    return [f"The ledger holds {' of '.join(hours)} hours of the quarter; the rest is not in the totals."]


def _tier_lines(facts: QuarterFacts) -> list[str]:
    shares = dict(facts.tier_shares("energy_facility_kwh"))
    readings = sum((shares.get(tier, ZERO) for tier in READING_TIERS), ZERO)
    parts = [f"{numbers.share(readings, 1)} of facility energy rests on energy or power readings"]
    own = facts.settings.get("default_power") == "own readings"
    unread = "on the mean of the ledger's own readings of the same chip" if own else "on default power of the chips"
    words = {"modelled": "on utilisation readings", "default": unread}
    parts += [f"{numbers.share(shares[tier], 1)} {text}" for tier, text in words.items() if tier in shares]
    lines = [", ".join(parts) + "."] if shares else ["No facility energy is known."]
    missing = dict(facts.tier_shares("chip_h")).get("missing")
    if missing:
        lines.append(f"{numbers.share(missing, 1)} of chip-hours have no known energy and are not in the totals.")
    undisclosed = facts.chip_hours((("chip", UNDISCLOSED),))
    if undisclosed:
        lines.append(
            f"The log does not disclose the chip for {numbers.share(undisclosed, facts.chip_hours())} of chip-hours."
        )
    return lines


def _factor_lines(facts: QuarterFacts) -> list[str]:
    lines = []
    older = [words for method in facts.methods if (words := _older_years(facts, method))]
    if older:
        lines.append(f"Factors are older than the activity of {facts.quarter.year}: {', '.join(older)}.")
    undated = [row for row in facts.factors_used if row["factor_year"] is None]
    if undated:
        lines.append("A factor has no year; section 10 names it.")
    only_co2 = [words for method in facts.methods if (words := _co2_only(facts, method))]
    if only_co2:
        lines.append(f"Factors hold CO₂ only, without CH₄ and N₂O: {', '.join(only_co2)} of facility energy.")
    for method in facts.methods:
        blocked = facts.unnamed(method, facts.site_ids)
        label = METHOD_LABELS[method].lower()
        if blocked:
            lines.append(f"The {label} total is not added: its factors mix {', '.join(blocked)}.")
        elif mixed := _mixed(facts, method):
            lines.append(f"The {label} total mixes {mixed}, as basis_mix allows; section 7 gives the shares.")
        covered = facts.method_share(method)
        if method != "hourly" and covered is not None and covered < 1:
            lines.append(f"The {label} method has factors for {numbers.share(covered, 1)} of facility energy only.")
    return lines


def _co2_only(facts: QuarterFacts, method: str) -> str:
    """Say for which share of facility energy a method's factor holds CO2 alone; empty when none does."""
    rows = [row for row in facts.factors_used if row["method"] == method and row["gases"] == "CO2 only"]
    if not rows:
        return ""
    residual = " (residual mix)" if all(row["factor_kind"] == "residual" for row in rows) else ""
    share = numbers.share(add(rows, "energy_facility_kwh"), add(facts.energy, "energy_facility_kwh"))
    return f"{METHOD_LABELS[method].lower()}{residual} {share}"


def _mixed(facts: QuarterFacts, method: str) -> str:
    return ", ".join("+".join(values) for values in differences(facts.bases_of(method, facts.site_ids)).values())


def _older_years(facts: QuarterFacts, method: str) -> str:
    """Say the years of a method's factors that lie before the activity's; empty when none does."""
    years = {row["factor_year"] for row in facts.factors_used if row["method"] == method}
    older = sorted(year for year in years if year is not None and year < facts.quarter.year)
    if not older:
        return ""
    span = str(older[0]) if len(older) == 1 else f"{older[0]} to {older[-1]}"
    return f"{METHOD_LABELS[method].lower()} {span}"


def _reconciliation_lines(facts: QuarterFacts) -> list[str]:
    bad = disagreeing(facts)
    rejected = sum(row["rows_rejected"] for row in facts.batches)
    lines = []
    if bad:
        lines.append(
            f"{len(bad)} of {len(facts.reconciliation)} reconciliations of site and month do not agree; section 11."
        )
    if rejected:
        lines.append(f"{numbers.plain(rejected, 0)} input rows were refused; section 11.")
    return lines


def _chart(facts: QuarterFacts) -> ChartBlock:
    """Draw quarters as lines where the ledger holds several, else the months as bars."""
    if len(facts.history_energy) > 1:
        return _quarters(facts)
    months = facts.quarter.months
    series = []
    for method in facts.methods[:2]:
        amounts = [facts.emission_total(method, (("month", month),)) for month in months]
        series.append(
            Series(
                method,
                METHOD_LABELS[method],
                tuple(amount.value for amount in amounts),
                tuple(amount.low for amount in amounts),
                tuple(amount.high for amount in amounts),
            )
        )
    return ChartBlock(
        "front.chart_scope2",
        "method_bars",
        "Scope 2 by month, both methods",
        f"Scope 2 by month, {facts.quarter.text}; line at the end of a bar: 95 % range",
        "Horizontal bars, two for each month: location-based above, market-based below. " + _extremes(months, series),
        "kgCO2e",
        months,
        tuple(series),
        "emissions.by_month",
    )


def _extremes(categories: tuple[str, ...], series: list[Series]) -> str:
    parts = []
    for one in series:
        known = [(category, value) for category, value in zip(categories, one.values, strict=True) if value is not None]
        if known:
            first, last = known[0], known[-1]
            parts.append(
                f"{one.label}: {value_text(first[1], 'kgCO2e')} in {first[0]}, "
                f"{value_text(last[1], 'kgCO2e')} in {last[0]}."
            )
        else:
            parts.append(f"{one.label}: no data.")
    return " ".join(parts)


def _quarters(facts: QuarterFacts) -> ChartBlock:
    last = facts.quarter
    names: list[Quarter] = [last]
    held = {row["quarter"] for row in facts.history_energy}  # whole quarters only
    while len(names) < HISTORY_QUARTERS and names[0].previous.key >= min(held):
        names.insert(0, names[0].previous)
    series = []
    for method in facts.methods[:2]:
        values: list[Decimal | None] = [history_total(facts, name.key, method) for name in names[:-1]]
        values.append(facts.emission_total(method).value)
        series.append(Series(method, METHOD_LABELS[method], tuple(values)))
    categories = tuple(name.text for name in names)
    return ChartBlock(
        "front.chart_scope2",
        "lines",
        "Scope 2 by quarter, both methods",
        f"Scope 2 by quarter, {categories[0]} to {categories[-1]}",
        "Two lines by quarter, location with circles, market with squares. " + _extremes(categories, series),
        "kgCO2e",
        categories,
        tuple(series),
    )
