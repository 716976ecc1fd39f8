"""Section 10: every factor that was used, by its share of emissions, with year, source and licence."""

from __future__ import annotations

from typing import Any

from energy.report.amounts import ZERO, add
from energy.report.facts import QuarterFacts
from energy.report.model import Cell, Column, Row, Section, TableBlock
from energy.report.sections._cells import METHOD_LABELS, share_of, text_cell, value_cell
from energy.report.sections.scope2 import applied_factor

NUMBER, ID, TITLE = 10, "factors", "Factors used"
_OLD_YEARS = 2


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    used = _ordered(facts)
    flagged = {row["factor_id"] for row in used if flag_of(facts, row)}
    count = len({row["factor_id"] for row in used})
    lead = f"{count} factors were used; {len(flagged)} are highlighted: older than two years, without a year, or later."
    return Section(NUMBER, ID, TITLE, lead, (_applied(facts, used), _origin(facts, used)))


def _ordered(facts: QuarterFacts) -> list[dict[str, Any]]:
    """Put the factors by emissions, most first; within equal ones by name."""
    return sorted(
        facts.factors_used,
        key=lambda row: (
            -(row["emissions_kgco2e"] or ZERO),
            row["factor_id"],
            row["site_id"],
            row["method"],
            row["year_note"] or "",
        ),
    )


def flag_of(facts: QuarterFacts, row: dict[str, Any]) -> str:
    """Say why a factor deserves a second look; empty when it does not."""
    year = row["factor_year"]
    if year is None:
        return "no year"
    if facts.quarter.year - year > _OLD_YEARS:
        return "older than two years"
    return "later than the activity" if year > facts.quarter.year else ""


def _applied(facts: QuarterFacts, used: list[dict[str, Any]]) -> TableBlock:
    rows = []
    totals = {method: add(facts.emission_rows(method), "emissions_kgco2e") for method in facts.methods}
    for number, entry in enumerate(used, start=1):
        prefix = f"factors.applied.{number}"
        zone = {row["site_id"]: row["zone_id"] for row in facts.sites}.get(entry["site_id"])
        region = f"; of zone {entry['zone_id']}" if entry["zone_id"] and entry["zone_id"] != zone else ""
        flag = flag_of(facts, entry)
        cells = (
            Cell(f"{prefix}.factor", entry["factor_id"]),
            Cell(f"{prefix}.method", METHOD_LABELS.get(entry["method"], entry["method"]).lower()),
            Cell(f"{prefix}.site", facts.site_names.get(entry["site_id"], entry["site_id"])),
            value_cell(f"{prefix}.value", applied_factor(entry), "gCO2e/kWh_facility", "No energy to weigh by."),
            value_cell(f"{prefix}.year", _year(entry), reason="The source names no year."),
            text_cell(
                f"{prefix}.choice", f"{entry['year_policy'] or 'not stated'}: {entry['year_note'] or ''}{region}"
            ),
            value_cell(f"{prefix}.energy_facility", entry["energy_facility_kwh"], "kWh_facility", "No energy known."),
            value_cell(f"{prefix}.emissions", entry["emissions_kgco2e"], "kgCO2e", "No energy known."),
            value_cell(
                f"{prefix}.share",
                share_of(entry["emissions_kgco2e"], totals.get(entry["method"])),
                "%",
                "No emissions by this method.",
            ),
            Cell(f"{prefix}.look", flag or "none"),
        )
        rows.append(Row(str(number), cells, flag=flag))
    columns = (
        Column("factor", "Factor", kind="code"),
        Column("method", "Method", kind="text"),
        Column("site", "Site", kind="text"),
        Column("value", "Value, facility", "gCO2e/kWh_facility", decimals=1),
        Column("year", "Year", kind="text"),
        Column("choice", "How its year was chosen", kind="text"),
        Column("energy_facility", "Applied to, facility", "kWh_facility"),
        Column("emissions", "Emissions", "kgCO2e"),
        Column("share", "Share of its method", kind="share"),
        Column("look", "Highlight", kind="text"),
    )
    return TableBlock(
        "factors.applied",
        "Factors by share of emissions",
        f"Each factor as it was applied in {facts.quarter.text}; the share is of the emissions by the same method",
        columns,
        tuple(rows),
        ("Shares compare factors of one method, also where their bases must not be added to a total.",),
    )


def _year(entry: dict[str, Any]) -> str | None:
    return None if entry["factor_year"] is None else str(entry["factor_year"])


_ORIGIN = (
    ("factor_kind", "Kind"),
    ("zone_id", "Zone"),
    ("factor_year", "Year"),
    ("boundary", "Boundary"),
    ("factor_attribution", "Attribution"),
    ("gases", "Gases"),
    ("gwp_set", "GWP set"),
    ("publisher", "Publisher"),
    ("source", "Source"),
    ("edition", "Edition"),
    ("licence", "Licence"),
    ("status", "Status"),
)


def _origin(facts: QuarterFacts, used: list[dict[str, Any]]) -> TableBlock:
    seen: dict[str, dict[str, Any]] = {}
    for entry in used:
        seen.setdefault(entry["factor_id"], entry)
    rows = []
    for factor_id, entry in seen.items():
        prefix = f"factors.origin.{factor_id}"
        cells = [Cell(f"{prefix}.factor", factor_id)]
        for name, label in _ORIGIN:
            text = None if entry[name] is None else str(entry[name])
            cells.append(text_cell(f"{prefix}.{name}", text, f"The source states no {label.lower()}."))
        rows.append(Row(factor_id, tuple(cells), flag=flag_of(facts, entry)))
    return TableBlock(
        "factors.origin",
        "Where each factor comes from",
        "As published; values born per kWh generated are restated as purchased",
        (Column("factor", "Factor", kind="code"), *(Column(name, label, kind="text") for name, label in _ORIGIN)),
        tuple(rows),
    )
