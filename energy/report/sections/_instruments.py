"""Tables of the market method: what covers each site's purchase, and what the criteria say of each instrument."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from energy.report.facts import QuarterFacts
from energy.report.model import Block, Cell, Column, Row, TableBlock
from energy.report.sections._cells import text_cell, value_cell

MOST_INSTRUMENTS = 50
_REST = {"uncovered": "not covered", "instrument": "instruments of the same hour"}


def instrument_tables(facts: QuarterFacts) -> list[Block]:
    """Return the tables; none where the ledger has no instruments."""
    tables: list[Block] = []
    if facts.market_cover:
        tables.append(_coverage(facts))
    if facts.instruments:
        tables.append(_criteria(facts))
    return tables


def _decimal(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(repr(float(value)))


def _kwh(energy_mwh: Decimal) -> Decimal:
    return Decimal(energy_mwh) * 1000


def _coverage(facts: QuarterFacts) -> TableBlock:
    rows = []
    for number, entry in enumerate(facts.market_cover, start=1):
        prefix = f"scope2.coverage.{number}"
        who = entry["instrument_id"] or _REST[entry["cover_kind"]]
        cells = (
            Cell(f"{prefix}.site", facts.site_names.get(entry["site_id"], entry["site_id"])),
            Cell(f"{prefix}.method", entry["method"]),
            Cell(f"{prefix}.instrument", who),
            text_cell(f"{prefix}.kind", entry["instrument_kind"] or entry["note"]),
            value_cell(f"{prefix}.energy", _kwh(entry["covered_facility_mwh"]), "kWh_facility"),
            value_cell(
                f"{prefix}.rate",
                _decimal(entry["intensity_gco2e_per_kwh_facility"]),
                "gCO2e/kWh_facility",
                "Not stated.",
            ),
            value_cell(f"{prefix}.emissions", entry["emissions_kgco2e"], "kgCO2e"),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("site", "Site", kind="text"),
        Column("method", "Method", kind="text"),
        Column("instrument", "Covered by", kind="text"),
        Column("kind", "Kind of instrument, or factor of the rest", kind="text"),
        Column("energy", "Purchase", "kWh_facility"),
        Column("rate", "Rate", "gCO2e/kWh_facility", decimals=1),
        Column("emissions", "Emissions", "kgCO2e"),
    )
    notes = (
        "What is not covered carries the residual mix; where none is known, the location-based factor, disclosed.",
    )
    return TableBlock(
        "scope2.coverage",
        "What covers the purchase of each site",
        "Gross purchase from the grid in the quarter, by instrument; exports are not netted off",
        columns,
        tuple(rows),
        notes,
    )


def _words(entry: dict[str, Any]) -> str:
    return "accepted" if entry["is_accepted"] else f"set aside: {entry['failed_criteria']}"


def _criteria(facts: QuarterFacts) -> TableBlock:
    shown = facts.instruments[:MOST_INSTRUMENTS]
    rows = []
    for number, entry in enumerate(shown, start=1):
        prefix = f"scope2.instruments.{number}"
        cells = (
            Cell(f"{prefix}.instrument", entry["instrument_id"]),
            Cell(f"{prefix}.kind", entry["instrument_kind"]),
            text_cell(f"{prefix}.market", entry["market"]),
            value_cell(f"{prefix}.offered", _kwh(entry["offered_facility_mwh"]), "kWh_facility"),
            value_cell(f"{prefix}.used", _kwh(entry["used_facility_mwh"]), "kWh_facility"),
            value_cell(f"{prefix}.left", _kwh(entry["left_facility_mwh"]), "kWh_facility"),
            Cell(f"{prefix}.result", _words(entry)),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("instrument", "Instrument", kind="text"),
        Column("kind", "Kind", kind="text"),
        Column("market", "Market", kind="text"),
        Column("offered", "Offered", "kWh_facility"),
        Column("used", "Used", "kWh_facility"),
        Column("left", "Left", "kWh_facility"),
        Column("result", "Quality criteria of the Scope 2 Guidance, table 7.1", kind="text"),
    )
    notes = ["What is left of an accepted instrument is offered to later quarters; it changes no total."]
    if len(facts.instruments) > len(shown):
        notes.append(f"The first {len(shown)} of {len(facts.instruments):,}; all are in the view instruments.")
    return TableBlock(
        "scope2.instruments",
        "Instruments and the eight quality criteria",
        "An instrument that fails one criterion is set aside as a whole; what is not stated is not passed",
        columns,
        tuple(rows),
        tuple(notes),
    )
