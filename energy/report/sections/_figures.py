"""The headline figures: how each is known, and how it changed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from energy.report import numbers
from energy.report.amounts import ZERO, Amount, add, ratio
from energy.report.facts import READING_TIERS, QuarterFacts
from energy.report.model import Cell, Dot, Figure, Selection
from energy.report.numbers import THIN
from energy.report.sections._cells import amount_cell, emission_cell, energy_cell

_MOSTLY = Decimal("0.9")
_METHOD_FIGURE = {"location": "Scope 2, location-based", "market": "Scope 2, market-based", "hourly": "Scope 2, hourly"}


def pue_amount(facts: QuarterFacts, selection: Selection = ()) -> Amount:
    """Return facility energy over IT energy: the energy-weighted PUE; its range is that of the stated PUE."""
    rows = facts.energy_rows(selection)
    facility, it = add(rows, "energy_facility_kwh"), add(rows, "energy_it_kwh")
    if not facility or not it:
        return Amount(None, mark="no data", reason="No facility energy is known here.")
    ends = []
    for end in ("low", "high"):
        upper, lower = add(rows, f"energy_facility_{end}_kwh"), add(rows, f"energy_it_{end}_kwh")
        ends.append(ratio(upper, lower) if upper and lower else None)
    return Amount(ratio(facility, it), low=ends[0], high=ends[1])


def reading_share(facts: QuarterFacts, selection: Selection = ()) -> Decimal:
    """Return the share of facility energy whose chip energy comes from energy or power readings."""
    shares = dict(facts.tier_shares("energy_facility_kwh", selection))
    return sum((shares.get(tier, ZERO) for tier in READING_TIERS), ZERO)


def _dot(readings: Decimal, factors: bool) -> Dot:
    if not readings:
        return "hollow"
    return "filled" if readings >= _MOSTLY and not factors else "half"


def headline(facts: QuarterFacts) -> tuple[Figure, ...]:
    """Return the figures of the front page: facility and IT energy, both methods, PUE, chip-hours, intensities."""
    out = [
        _energy(facts, "energy_facility", "Facility energy"),
        _energy(facts, "energy_it", "IT energy"),
        *(_emissions(facts, method) for method in facts.methods),
        _pue(facts),
        *_chip_hours(facts),
        *_intensities(facts),
    ]
    return tuple(out)


def _energy(facts: QuarterFacts, quantity: str, label: str) -> Figure:
    readings = reading_share(facts)
    cell = energy_cell(facts, f"front.{quantity}", quantity)
    return Figure(
        label,
        cell,
        _dot(readings, factors=True),
        f"{numbers.share(readings, 1)} from readings",
        changes=_changes(facts, cell.value, f"{quantity}_kwh"),
        tier_shares=facts.tier_shares("energy_facility_kwh"),
    )


def _emissions(facts: QuarterFacts, method: str) -> Figure:
    readings = reading_share(facts)
    cell = emission_cell(facts, f"front.scope2_{method}", method)
    covered = facts.method_share(method)
    known = f"{numbers.share(readings, 1)} from readings"
    if covered is not None and covered < 1:
        known = f"for {numbers.share(covered, 1)} of facility energy"
    return Figure(
        _METHOD_FIGURE[method],
        cell,
        _dot(readings, factors=True),
        known,
        method=method,
        changes=_emission_changes(facts, cell.value, method),
        tier_shares=facts.tier_shares("energy_facility_kwh"),
    )


def _pue(facts: QuarterFacts) -> Figure:
    stated = {row["status"] for row in facts.pue}
    words = f"{', '.join(sorted(stated))}, weighted by IT energy" if stated else "not stated"
    cell = amount_cell("front.pue", pue_amount(facts), "kWh_facility/kWh_it")
    return Figure("PUE", cell, "half" if stated == {"given"} else "hollow", words)


def _chip_hours(facts: QuarterFacts) -> list[Figure]:
    whole = facts.chip_hours()
    out = []
    labels = {
        "project": "Chip-hours given to projects",
        "idle": "Chip-hours idle",
        "unallocated": "Chip-hours without an owner",
    }
    for kind, label in labels.items():
        value = facts.chip_hours((("owner_kind", kind),))
        if kind == "unallocated" and not value:
            continue
        changes = _changes(facts, value, f"{kind}_chip_h")
        cell = Cell(f"front.chip_hours_{kind}", value, "chip*h", selection=None)
        out.append(Figure(label, cell, "exact", f"{numbers.share(value, whole)} of chip-hours", changes=changes))
    return out


def _intensities(facts: QuarterFacts) -> list[Figure]:
    used = facts.chip_hours((("owner_kind", "project"),))
    readings = reading_share(facts)
    energy = facts.energy_total("energy_facility").over(used)
    out = [
        Figure(
            "Facility energy per chip-hour of projects",
            amount_cell("front.intensity_energy", energy, "kWh_facility/chip*h"),
            _dot(readings, factors=True),
            "idle energy included",
        )
    ]
    for method in facts.methods[:2]:
        amount = facts.emission_total(method).over(used, factor=1000)
        cell_id = f"front.intensity_{method}"
        out.append(
            Figure(
                f"{_METHOD_FIGURE[method]}, per chip-hour of projects",
                amount_cell(cell_id, amount, "gCO2e/chip*h"),
                _dot(readings, factors=True),
                "idle energy included",
                method=method,
            )
        )
    return out


def _earlier(facts: QuarterFacts) -> list[str]:
    """Return the quarters to compare with: the one before and that of last year, as far as the ledger has them."""
    have = {row["quarter"] for row in facts.history_energy}
    return [quarter.key for quarter in (facts.quarter.previous, facts.quarter.year_earlier) if quarter.key in have]


def _changes(facts: QuarterFacts, now: Any, column: str) -> tuple[tuple[str, str], ...]:
    """Return the change on the earlier quarters that the ledger holds whole."""
    earlier = {row["quarter"]: row[column] for row in facts.history_energy}
    return tuple((_on(key), numbers.change(now, earlier.get(key))) for key in _earlier(facts))


def _emission_changes(facts: QuarterFacts, now: Any, method: str) -> tuple[tuple[str, str], ...]:
    return tuple((_on(key), numbers.change(now, history_total(facts, key, method))) for key in _earlier(facts))


def history_total(facts: QuarterFacts, quarter: str, method: str) -> Decimal | None:
    """Return the emissions of an earlier quarter; ``None`` where there are none or their bases must not be added."""
    rows = [row for row in facts.history_emissions if row["quarter"] == quarter and row["method"] == method]
    if facts.unnamed(method, {row["site_id"] for row in rows}, quarter):
        return None
    return add(rows, "emissions_kgco2e")


def _on(key: str) -> str:
    return f"on {key[:4]}{THIN}{key[4:]}"
