"""The way back of a number: from its readings over node overhead and PUE to the factor, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from energy.report.amounts import Amount, add, ratio, total
from energy.report.display import figure_text
from energy.report.facts import QuarterFacts
from energy.report.model import Cell, Selection
from energy.report.numbers import THIN
from energy.report.sections._cells import METHOD_LABELS, TIER_WORDS, amount_cell
from energy.report.sections._figures import pue_amount
from energy.report.sections.scope2 import applied_factor
from energy.schema import TIERS

BOUNDARIES = ("energy_chip", "energy_it", "energy_facility")
_TIER_STATUS = {
    "measured": "given",
    "integrated": "given",
    "modelled": "estimate",
    "default": "default",
    "missing": "no data",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way back: what, how much, how sure, how known, from where.

    Attributes
    ----------
    step : str
        What the step is.
    cell : Cell
        Raw value with unit and range.
    status : str
        given, catalogue, default, estimate, derived; or no data.
    source : str
        Where the value comes from.
    subtotal : bool
        Whether the steps above lead to this value.
    """

    step: str
    cell: Cell
    status: str
    source: str
    subtotal: bool = False

    @property
    def value(self) -> str:
        """The value as people read it, with its unit."""
        text = figure_text(self.cell)
        return f"{text.value}{THIN}{text.unit}" if text.unit else text.value

    @property
    def range(self) -> str:
        """The 95 % range as people read it; empty for exact values."""
        return figure_text(self.cell).range


def _step(name: str, amount: Amount, unit: str, status: str, source: str, subtotal: bool = False) -> Step:
    return Step(name, amount_cell("", amount, unit), status, source, subtotal)


def energy_chain(facts: QuarterFacts, selection: Selection, boundary: str = "energy_facility") -> list[Step]:
    """Return the steps from the readings to the energy of a selection at one boundary."""
    depth = BOUNDARIES.index(boundary)
    rows = facts.energy_rows(selection)
    sites = {row["site_id"] for row in rows}
    steps = _tier_steps(facts, rows)
    chip, it = total(rows, "energy_chip"), total(rows, "energy_it")
    steps.append(_step("Chip energy", chip, "kWh_chip", "derived", "Sum of the lines above", True))
    if depth >= 1:
        statuses = _words(row["status"] for row in facts.hosts if row["site_id"] in sites)
        overhead = _quotient(it, chip, rows)
        source = "site.yaml or catalogue: section 3, node overhead"
        steps.append(_step("× node overhead, mean", overhead, "kWh_it/kWh_chip", statuses, source))
        steps.append(_step("IT energy", it, "kWh_it", "derived", "Sum over lines: chip energy × node overhead", True))
    if depth >= 2:
        stated = [row for row in facts.pue if row["site_id"] in sites]
        words = _words(row["source"] for row in stated)
        statuses = _words(row["status"] for row in stated)
        steps.append(
            _step("× PUE, weighted by IT energy", pue_amount(facts, selection), "kWh_facility/kWh_it", statuses, words)
        )
        facility = total(rows, "energy_facility")
        steps.append(
            _step("Facility energy", facility, "kWh_facility", "derived", "Sum over lines: IT energy × PUE", True)
        )
    return steps


def _tier_steps(facts: QuarterFacts, rows: list[dict[str, Any]]) -> list[Step]:
    steps = []
    files = _words(row["file_name"] for row in facts.batches)
    for tier in TIERS:
        own = [row for row in rows if row["tier"] == tier]
        if not own:
            continue
        source, status = f"Files of section 11: {files}", _TIER_STATUS[tier]
        if tier == "default":
            source = "Default power of each chip: section 3; times from " + files
            if facts.settings.get("default_power") == "own readings":
                source = (
                    f"Mean of the ledger's own readings of each chip, as site.yaml asks: section 3; times from {files}"
                )
                status = "estimate"
        if tier == "missing":
            source = "No reading, and no default for a chip that is not disclosed"
        amount = total(own, "energy_chip")
        steps.append(_step(f"Chip energy, {TIER_WORDS[tier]}", amount, "kWh_chip", status, source))
    return steps


def _quotient(upper: Amount, lower: Amount, rows: list[dict[str, Any]]) -> Amount:
    if not upper.value or not lower.value:
        return Amount(None, mark="no data", reason="No energy is known here.")
    ends = []
    for end in ("low", "high"):
        part, whole = add(rows, f"energy_it_{end}_kwh"), add(rows, f"energy_chip_{end}_kwh")
        ends.append(ratio(part, whole) if part and whole else None)
    return Amount(ratio(upper.value, lower.value), low=ends[0], high=ends[1])


def _words(values: Iterable[str | None]) -> str:
    return ", ".join(sorted({value for value in values if value})) or "not stated"


def emission_chain(facts: QuarterFacts, selection: Selection, method: str) -> list[Step]:
    """Return the steps from the readings to the emissions of a selection by one method."""
    steps = energy_chain(facts, selection)
    rows = facts.emission_rows(method, selection)
    sites = {row["site_id"] for row in rows}
    for entry in facts.factors_used:
        if entry["method"] == method and entry["site_id"] in sites:
            steps.append(_factor_step(facts, entry))
    covered = total(rows, "energy_facility")
    if rows and covered.value != facts.energy_total("energy_facility", selection).value:
        steps.append(
            _step("Facility energy with such a factor", covered, "kWh_facility", "derived", "Part of the energy", True)
        )
    own = [row for row in facts.factors_used if row["method"] == method and row["site_id"] in sites]
    bought = "facility energy"
    if any(row["energy_purchased_facility_kwh"] != row["energy_facility_kwh"] for row in own):
        bought = "facility energy × share bought from the grid"
    words = f"Sum over lines: {bought} × factor of the hour, {method}"
    steps.append(
        _step(
            f"Scope 2, {METHOD_LABELS[method].lower()}",
            facts.emission_total(method, selection),
            "kgCO2e",
            "derived",
            words,
            True,
        )
    )
    return steps


def _factor_step(facts: QuarterFacts, entry: dict[str, Any]) -> Step:
    value = applied_factor(entry)
    amount = Amount(value) if value is not None else Amount(None, mark="no data", reason="No energy to weigh by.")
    year = "no year" if entry["factor_year"] is None else str(entry["factor_year"])
    parts = [
        entry["factor_id"],
        entry["publisher"],
        entry["source"],
        f"edition {entry['edition']}" if entry["edition"] else "no edition",
        f"year {year}",
        entry["boundary"],
        entry["gases"],
        f"GWP {entry['gwp_set']}" if entry["gwp_set"] else "",
        f"licence {entry['licence']}" if entry["licence"] else "licence not stated",
        entry["year_note"],
        entry["note"],
    ]
    name = facts.site_names.get(entry["site_id"], entry["site_id"])
    words = "; ".join(part for part in parts if part)
    return _step(f"× factor at {name}", amount, "gCO2e/kWh_facility", entry["status"] or "catalogue", words)


def result_step(name: str, cell: Cell, source: str) -> Step:
    """Return the last step, for a value that is not itself a sum of lines."""
    return Step(name, cell, "derived", source, True)
