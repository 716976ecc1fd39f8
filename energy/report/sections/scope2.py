"""Section 7: Scope 2 of each site by each method, the factor and how it was chosen, and the bases that meet."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from energy.report import numbers
from energy.report.amounts import add, ratio
from energy.report.facts import QuarterFacts
from energy.report.model import Block, Cell, ChartBlock, Column, Row, Section, Series, TableBlock
from energy.report.sections._cells import (
    METHOD_LABELS,
    RANGE_NOTE,
    TOTAL_NOTE,
    energy_cell,
    method_cells,
    method_columns,
    share_of,
    text_cell,
    value_cell,
)
from energy.report.sections._instruments import instrument_tables

NUMBER, ID, TITLE = 7, "scope2", "Scope 2 by site"


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    blocks: list[Block] = [_chart(facts), _by_site(facts), _treatment(facts), *instrument_tables(facts), _bases(facts)]
    return Section(NUMBER, ID, TITLE, _lead(facts), tuple(blocks))


def _lead(facts: QuarterFacts) -> str:
    hourly = facts.method_share("hourly") if "hourly" in facts.methods else None
    words = "Both methods stand side by side for every site; they are one quantity and are never added."
    if hourly:
        return f"{words} Hourly factors exist for {numbers.share(hourly, 1)} of facility energy."
    return f"{words} No zone of the sites has hourly factors."


def _chart(facts: QuarterFacts) -> ChartBlock:
    names = tuple(facts.site_names.get(site, site) for site in facts.site_ids)
    series = []
    words = []
    for method in facts.methods[:2]:
        amounts = [facts.emission_total(method, (("site_id", site),)) for site in facts.site_ids]
        series.append(
            Series(
                method,
                METHOD_LABELS[method],
                tuple(amount.value for amount in amounts),
                tuple(amount.low for amount in amounts),
                tuple(amount.high for amount in amounts),
            )
        )
        if facts.unnamed(method, facts.site_ids):
            words.append(f"{METHOD_LABELS[method]}: the sites stand on different bases and are not added.")
            continue
        whole = sum((amount.value for amount in amounts if amount.value is not None), Decimal(0))
        parts = [f"{name} {numbers.share(amount.value, whole)}" for name, amount in zip(names, amounts, strict=True)]
        words.append(f"{METHOD_LABELS[method]}: {', '.join(parts)} of the sum.")
    return ChartBlock(
        "scope2.chart_by_site",
        "method_bars",
        "Scope 2 by site, both methods",
        f"Scope 2 by site, {facts.quarter.text}; line at the end of a bar: 95 % range",
        "Horizontal bars, two for each site: location-based above, market-based below. " + " ".join(words),
        "kgCO2e",
        names,
        tuple(series),
        "scope2.by_site",
    )


def treatment(row: dict[str, Any]) -> str:
    """Say in words what kind of factor stands for the grid, of which year and where it departs from the rule."""
    kinds = {
        "residual": "residual mix",
        "location": "grid average",
        "month-hour profile": "profile of month and hour",
        "hourly series": "ingested hours",
    }
    kind = kinds.get(row["factor_kind"] or "", row["factor_kind"] or "kind not stated")
    year = str(row["factor_year"]) if row["factor_year"] is not None else "year not stated"
    note = f"; {row['note']}" if row["note"] else ""
    return f"{kind}, {year}{note}"


def _by_site(facts: QuarterFacts) -> TableBlock:
    rows = []
    for site in (*facts.site_ids, "total"):
        prefix = f"scope2.by_site.{site}"
        total = site == "total"
        selection = () if total else (("site_id", site),)
        used = [row for row in facts.factors_used if row["site_id"] == site and row["method"] == "market"]
        market = Cell(f"{prefix}.treatment", None, mark="not applicable", reason="A total has no factor of its own.")
        if not total:
            words = " / ".join(sorted({treatment(row) for row in used}))
            market = text_cell(f"{prefix}.treatment", words, "No market factor.")
        cells = (
            Cell(f"{prefix}.name", "Total" if total else facts.site_names.get(site, site)),
            energy_cell(facts, f"{prefix}.energy_facility", "energy_facility", selection),
            *method_cells(facts, prefix, selection),
            market,
        )
        rows.append(Row(site, cells, "sum" if total else "row"))
    columns = (
        Column("name", "Site", kind="text"),
        Column("energy_facility", "Facility energy", "kWh_facility"),
        *method_columns(facts),
        Column("treatment", "Market treatment", kind="text"),
    )
    notes = [TOTAL_NOTE, RANGE_NOTE]
    for method in facts.methods:
        blocked = facts.unnamed(method, facts.site_ids)
        if blocked:
            notes.append(
                f"{METHOD_LABELS[method]}: not added, the factors mix {', '.join(blocked)}. "
                "Name the mix in basis_mix of site.yaml to add them."
            )
    sub = f"Both methods, {facts.quarter.text}; energy at the site's meter"
    return TableBlock("scope2.by_site", "Scope 2 by site", sub, columns, tuple(rows), tuple(notes))


def _treatment(facts: QuarterFacts) -> TableBlock:
    order = {method: place for place, method in enumerate(facts.methods)}
    used = [row for row in facts.factors_used if row["method"] in order]
    used.sort(key=lambda row: (facts.site_ids.index(row["site_id"]), order[row["method"]]))
    counts: dict[str, int] = {}
    rows = []
    for entry in used:
        key = f"{entry['site_id']}.{entry['method']}"
        counts[key] = counts.get(key, 0) + 1
        rows.append(_treatment_row(facts, key if counts[key] == 1 else f"{key}.{counts[key]}", entry))
    columns = (
        Column("site", "Site", kind="text"),
        Column("method", "Method", kind="text"),
        Column("factor", "Factor, facility", "gCO2e/kWh_facility", decimals=1),
        Column("kind", "Kind, year, treatment", kind="text"),
        Column("boundary", "Boundary", kind="text"),
        Column("year", "Year against the activity", kind="text"),
        Column("energy_facility", "Facility energy", "kWh_facility"),
        Column("emissions", "Emissions", "kgCO2e"),
    )
    return TableBlock(
        "scope2.treatment",
        "Factor and treatment of each site",
        "Factor as purchased, at the site's meter; an hourly factor is the mean over the energy",
        columns,
        tuple(rows),
    )


def applied_factor(entry: dict[str, Any]) -> Decimal | None:
    """Return the factor as applied; of a profile, whose value changes by the hour, the mean over the energy."""
    if entry["factor_kind"] != "month-hour profile" and entry["method"] != "hourly":
        return Decimal(repr(float(entry["intensity_gco2e_per_kwh_facility"])))
    energy, emissions = entry["energy_purchased_facility_kwh"], entry["emissions_kgco2e"]
    return ratio(emissions * 1000, energy) if energy and emissions is not None else None


def _treatment_row(facts: QuarterFacts, key: str, entry: dict[str, Any]) -> Row:
    prefix = f"scope2.treatment.{key}"
    cells = (
        Cell(f"{prefix}.site", facts.site_names.get(entry["site_id"], entry["site_id"])),
        Cell(f"{prefix}.method", METHOD_LABELS[entry["method"]].lower()),
        value_cell(f"{prefix}.factor", applied_factor(entry), "gCO2e/kWh_facility", "No energy to weigh by."),
        Cell(f"{prefix}.kind", treatment(entry)),
        text_cell(f"{prefix}.boundary", f"{entry['boundary'] or 'not stated'}, {entry['gases']}"),
        text_cell(f"{prefix}.year", entry["year_note"]),
        value_cell(f"{prefix}.energy_facility", entry["energy_facility_kwh"], "kWh_facility", "No energy is known."),
        value_cell(f"{prefix}.emissions", entry["emissions_kgco2e"], "kgCO2e", "No energy is known."),
    )
    return Row(key, cells)


def _bases(facts: QuarterFacts) -> TableBlock:
    rows = []
    for method in facts.methods:
        used = [row for row in facts.factors_used if row["method"] == method]
        whole = add(facts.energy, "energy_facility_kwh")
        for number, basis in enumerate(sorted({row["basis"] for row in used}), start=1):
            own = [row for row in used if row["basis"] == basis]
            key = f"{method}.{number}"
            prefix = f"scope2.bases.{key}"
            sites = sorted({facts.site_names.get(row["site_id"], row["site_id"]) for row in own})
            part = add(own, "energy_facility_kwh")
            cells = (
                Cell(f"{prefix}.method", METHOD_LABELS[method].lower()),
                Cell(f"{prefix}.basis", basis),
                Cell(f"{prefix}.sites", ", ".join(sites)),
                value_cell(f"{prefix}.energy_facility", part, "kWh_facility", "No energy is known."),
                value_cell(f"{prefix}.share", share_of(part, whole), "%", "No energy is known."),
                value_cell(f"{prefix}.emissions", add(own, "emissions_kgco2e"), "kgCO2e", "No energy is known."),
            )
            rows.append(Row(key, cells))
    columns = (
        Column("method", "Method", kind="text"),
        Column("basis", "Basis of the factors", kind="text"),
        Column("sites", "Sites", kind="text"),
        Column("energy_facility", "Facility energy", "kWh_facility"),
        Column("share", "Share of energy", kind="share"),
        Column("emissions", "Emissions", "kgCO2e"),
    )
    allowed = facts.mix_allowed
    note = f"basis_mix names: {allowed}." if allowed else "basis_mix names no mix: bases that differ are not added."
    return TableBlock(
        "scope2.bases",
        "Bases that meet in each method",
        "Boundary, attribution, gases and GWP set; within a method they are added only when basis_mix names the mix",
        columns,
        tuple(rows),
        (note,),
    )
