"""Section 2: what is in the report, what is not, and by which clock."""

from __future__ import annotations

from decimal import Decimal

from energy.report import numbers, queries
from energy.report.amounts import add, ratio
from energy.report.facts import SETTING_CONSOLIDATION, SETTING_ENTITY, QuarterFacts
from energy.report.model import Cell, Column, Prose, Row, Section, TableBlock
from energy.report.period import day_text
from energy.report.sections._cells import METHOD_LABELS, text_cell, value_cell

NUMBER, ID, TITLE = 2, "boundary", "Boundary and period"

_EXCLUDED = (
    (
        "scope1",
        "Scope 1: fuel of generators, refrigerants",
        "what site.yaml states of it is in the ledger's view emissions_by_scope",
    ),
    (
        "scope3",
        "Scope 3: upstream of electricity, losses of the grid",
        "what the catalogue knows of it is in the ledger's view emissions_by_scope",
    ),
    ("embodied", "Scope 3: embodied hardware", "not covered in this version"),
    ("water", "Water withdrawn, consumed, and of electricity", "site.yaml states none"),
    ("generation", "On-site generation and batteries", "site.yaml states none"),
    ("hosts", "Hosts without chips, storage and network outside the nodes", "not in the inventory of the ledger"),
)


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    return Section(
        NUMBER,
        ID,
        TITLE,
        f"The report covers: {boundary_line(facts)}.",
        (_terms(facts), _sites(facts), _excluded(facts)),
    )


def boundary_line(facts: QuarterFacts) -> str:
    """Say the boundary in one line."""
    sites = len(facts.site_ids)
    hosts = len({row["site_id"] for row in facts.hosts}) and sum(row["host_count"] for row in facts.hosts)
    consolidation = facts.settings.get(SETTING_CONSOLIDATION)
    parts = [f"{sites} site{'' if sites == 1 else 's'}", f"{hosts} hosts", "Scope 2 of their electricity"]
    return ", ".join(([consolidation] if consolidation else []) + parts)


def _terms(facts: QuarterFacts) -> Prose:
    quarter = facts.quarter
    hours = sum(row["hours"] for row in facts.clock)
    gases = sorted({row["gases"] for row in facts.factors_used})
    sets = sorted({row["gwp_set"] for row in facts.factors_used if row["gwp_set"] and row["gwp_set"] != "none"})
    terms = (
        ("Entity", facts.settings.get(SETTING_ENTITY) or f"Not stated; `{SETTING_ENTITY}` of site.yaml names it."),
        (
            "Consolidation",
            facts.settings.get(SETTING_CONSOLIDATION)
            or f"Not stated; `{SETTING_CONSOLIDATION}` of site.yaml names operational control, "
            "financial control or equity share.",
        ),
        (
            "Period",
            f"{day_text(quarter.first_day)} to {day_text(quarter.last_day)}, {numbers.plain(hours, 0)} hours; "
            "the first instant is in, the last is out.",
        ),
        ("Reporting time zone", f"{facts.timezone}; the quarter begins and ends at its midnight."),
        ("Methods", ", ".join(METHOD_LABELS[method].lower() for method in facts.methods) + "; never added"),
        ("Gases in the factors", ", ".join(gases) or "No factor is used."),
        (
            "Global-warming potentials",
            ", ".join(sets) + ", as baked in the factors" if sets else "The factors name no set.",
        ),
    )
    return Prose("boundary.terms", terms=terms)


def _sites(facts: QuarterFacts) -> TableBlock:
    columns = (
        Column("name", "Site", kind="text"),
        Column("zone", "Grid zone", kind="text"),
        Column("timezone", "Time zone", kind="text"),
        Column("hosts", "Hosts"),
        Column("chips", "Chips, mean of the quarter", decimals=1),
        Column("kinds", "Kinds of chip", kind="text"),
    )
    hours = Decimal(sum(row["hours"] for row in facts.clock))
    places = {row["site_id"]: row for row in facts.sites}
    rows = []
    for site in facts.site_ids:
        prefix = f"boundary.sites.{site}"
        place = places.get(site, {})
        installed = [row for row in facts.installed if row["site_id"] == site]
        chip_h = add(installed, "installed_chip_h")
        kinds = sorted({facts.chip_names[row["chip"]] for row in installed})
        cells = (
            Cell(f"{prefix}.name", facts.site_names.get(site, site)),
            text_cell(f"{prefix}.zone", place.get("zone_id")),
            text_cell(f"{prefix}.timezone", place.get("timezone")),
            Cell(f"{prefix}.hosts", sum(row["host_count"] for row in facts.hosts if row["site_id"] == site)),
            value_cell(
                f"{prefix}.chips", ratio(chip_h, hours) if chip_h and hours else None, "", "No inventory of chips."
            ),
            text_cell(f"{prefix}.kinds", ", ".join(kinds), "No inventory of chips."),
        )
        rows.append(Row(site, cells))
    return TableBlock("boundary.sites", "Sites in the boundary", f"{facts.quarter.text}", columns, tuple(rows))


def _excluded(facts: QuarterFacts) -> TableBlock:
    stated = facts.reader.rows(queries.STATED)[0]
    dropped = {key for key, is_there in (("water", stated["water"]), ("generation", stated["own_plants"])) if is_there}
    rows = [
        Row(key, (Cell(f"boundary.excluded.{key}.what", what), Cell(f"boundary.excluded.{key}.why", why)))
        for key, what, why in _EXCLUDED
        if key not in dropped
    ]
    return TableBlock(
        "boundary.excluded",
        "Not in this report",
        "None of these is 0: this report does not say how large they are",
        (Column("what", "What", kind="text"), Column("why", "Why", kind="text")),
        tuple(rows),
    )
