"""Section 8: water on the site, withdrawn and consumed, and at power stations. Left out where no site states any."""

from __future__ import annotations

from typing import Any

from energy.report import queries
from energy.report.amounts import add, ratio
from energy.report.display import value_text
from energy.report.facts import QuarterFacts
from energy.report.model import Cell, Column, Row, Section, TableBlock
from energy.report.sections._cells import OWNER_WORDS, text_cell, value_cell

NUMBER, ID, TITLE = 8, "water", "Water"
_KINDS = ("water_withdrawn", "water_consumed", "water_off_site_consumed")
_COLUMNS = (
    Column("energy_it", "IT energy", "kWh_it"),
    Column("water_withdrawn", "Site, withdrawn", "L", ranged=True),
    Column("water_consumed", "Site, consumed", "L", ranged=True),
    Column("water_off_site_consumed", "Power stations, consumed", "L", ranged=True),
)
_ABSENT = "No site of this row states it: not known, and not zero."


def build(facts: QuarterFacts) -> Section | None:
    """Build the section; None where no site of the quarter states water."""
    if not facts.reader.rows(queries.STATED)[0]["water"]:
        return None
    rows = facts.reader.rows(queries.WATER, [facts.quarter.key])
    if all(row[f"{kind}_l"] is None for row in rows for kind in _KINDS):
        return None
    by_site = _table(
        "water.site",
        "Water by site",
        rows,
        "site_id",
        lambda row: facts.site_names.get(row["site_id"], row["site_id"]),
        ("WUE is water over IT energy: it is multiplied by IT energy, never by facility energy.",),
    )
    by_owner = _table("water.owner", "Water by owner", rows, "owner", lambda row: _owner(row["owner"]), ())
    return Section(NUMBER, ID, TITLE, _lead(rows), (by_site, by_owner, _sources(facts)))


def _owner(name: str) -> str:
    return OWNER_WORDS.get(name, name)


def _lead(rows: list[dict[str, Any]]) -> str:
    words = ("withdrawn on the sites", "consumed on the sites", "consumed at power stations")
    known = [(add(rows, f"{kind}_l"), text) for kind, text in zip(_KINDS, words, strict=True)]
    parts = [f"{value_text(value, 'L')} {text}" for value, text in known if value is not None]
    return f"Water: {', '.join(parts)}. Withdrawn and consumed are two figures of the same water and are not added."


def _table(
    table_id: str, caption: str, rows: list[dict[str, Any]], key: str, label: Any, notes: tuple[str, ...]
) -> TableBlock:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    found = [_row(f"{table_id}.{number}", label(group[0]), group) for number, group in enumerate(groups.values(), 1)]
    found.append(_row(f"{table_id}.total", "Total", rows, total=True))
    head = Column("name", "Site" if key == "site_id" else "Owner", kind="text")
    sub = "A sum is of the sites that state this kind of water"
    return TableBlock(table_id, caption, sub, (head, *_COLUMNS), tuple(found), notes)


def _row(prefix: str, label: str, rows: list[dict[str, Any]], *, total: bool = False) -> Row:
    cells = [
        Cell(f"{prefix}.name", label),
        value_cell(f"{prefix}.energy_it", add(rows, "energy_it_kwh"), "kWh_it", "-"),
    ]
    for kind in _KINDS:
        value, low, high = (add(rows, f"{kind}{end}_l") for end in ("", "_low", "_high"))
        name = f"{prefix}.{kind}"
        cells.append(
            value_cell(name, None, "L", _ABSENT) if value is None else Cell(name, value, "L", low=low, high=high)
        )
    return Row(prefix.rsplit(".", 1)[-1], tuple(cells), "sum" if total else "row")


def _sources(facts: QuarterFacts) -> TableBlock:
    """Name where each rate comes from, with its mean over the hours' energy."""
    rows = []
    for number, entry in enumerate(facts.reader.rows(queries.WATER_SOURCES, [facts.quarter.key] * 2), start=1):
        prefix = f"water.source.{number}"
        rate = None if not entry["energy"] or entry["water_l"] is None else ratio(entry["water_l"], entry["energy"])
        cells = (
            Cell(f"{prefix}.site", facts.site_names.get(entry["site_id"], entry["site_id"])),
            Cell(f"{prefix}.what", entry["what"]),
            value_cell(f"{prefix}.rate", rate, "", "No energy to weigh by."),
            text_cell(f"{prefix}.source", entry["source"]),
            Cell(f"{prefix}.status", entry["status"]),
            text_cell(f"{prefix}.note", entry["note"], "Nothing to add."),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("site", "Site", kind="text"),
        Column("what", "What", kind="text"),
        Column("rate", "L/kWh", decimals=3),
        Column("source", "Source", kind="text"),
        Column("status", "Status", kind="text"),
        Column("note", "Note", kind="text"),
    )
    caption = "What the rates of water rest on"
    sub = "On the site by kWh of IT energy, at power stations by kWh bought; the mean over the energy"
    return TableBlock("water.source", caption, sub, columns, tuple(rows))
