"""Small makers of cells and rows, so that a section reads as a list of what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from energy.report.amounts import QUANTITIES, ZERO, Amount, LedgerRow, ratio
from energy.report.facts import QuarterFacts
from energy.report.model import Cell, Column, Row, Selection, Series, TableBlock, Value
from energy.schema import TIERS

TOTAL_NOTE = "Totals are sums of unrounded values."
RANGE_NOTE = (
    "Low and high are sums of the lines' lows and highs, as if all errors had one direction. They are meant to hold "
    "95 % and are not tested against meters (section 3, Ranges); the ranges of the grid factors are not in them."
)
TIER_WORDS = {
    "measured": "measured by an energy counter",
    "integrated": "power readings, each held for its interval",
    "modelled": "utilisation and a power model, or a short gap bridged",
    "default": "default power of the chip",
    "missing": "not known",
}
OWNER_WORDS = {"idle": "idle", "unallocated": "unallocated"}
METHOD_LABELS = {
    "location": "Location",
    "market": "Market",
    "hourly": "Hourly",
    "hourly matched": "Hourly matched (draft)",
}


def amount_cell(
    cell_id: str,
    amount: Amount,
    unit: str,
    selection: Selection | None = None,
    factor_ids: tuple[str, ...] = (),
) -> Cell:
    """Make a cell of an amount with its range or its mark."""
    return Cell(cell_id, amount.value, unit, amount.low, amount.high, amount.mark, amount.reason, selection, factor_ids)


def text_cell(cell_id: str, text: str | None, absent: str = "") -> Cell:
    """Make a cell of words; without words it says that there are none, and why."""
    return Cell(cell_id, text) if text else Cell(cell_id, None, mark="no data", reason=absent or "Not stated.")


def value_cell(cell_id: str, value: Value, unit: str = "", reason: str = "") -> Cell:
    """Make a cell of an exact value."""
    if value is None:
        return Cell(cell_id, None, unit, mark="no data", reason=reason)
    return Cell(cell_id, value, unit)


def energy_cell(facts: QuarterFacts, cell_id: str, quantity: str, selection: Selection = ()) -> Cell:
    """Make a cell of the energy of a selection; an owner without any line has none: an exact 0."""
    amount = facts.energy_total(quantity, selection)
    if amount.value is None and not facts.energy_rows(selection):
        amount = Amount(ZERO)
    return amount_cell(cell_id, amount, QUANTITIES[quantity][3], selection)


def emission_cell(facts: QuarterFacts, cell_id: str, method: str, selection: Selection = ()) -> Cell:
    """Make a cell of the emissions of a selection by one method, with the factors that made it."""
    rows = facts.emission_rows(method, selection)
    amount = facts.emission_total(method, selection)
    if not rows and not facts.energy_rows(selection):
        amount = Amount(ZERO)
    elif not rows and method == "hourly":
        amount = Amount(None, mark="no data", reason="The zone has no hourly factors.")
    factor_ids = facts.factor_ids(method, {row["site_id"] for row in rows})
    return amount_cell(cell_id, amount, "kgCO2e", (("method", method), *selection), factor_ids)


def method_columns(facts: QuarterFacts) -> tuple[Column, ...]:
    """One column for each method, all alike, location first."""
    return tuple(Column(name, METHOD_LABELS[name], "kgCO2e", ranged=True) for name in facts.methods)


def job_columns(facts: QuarterFacts) -> tuple[Column, ...]:
    """Return the columns of a table of jobs."""
    return (
        Column("job", "Job", kind="text"),
        Column("project", "Project", kind="text"),
        Column("job_type", "Kind", kind="text"),
        Column("site", "Site", kind="text"),
        Column("chip", "Chip", kind="text"),
        Column("start", "Start, UTC", kind="text"),
        Column("state", "State", kind="text"),
        Column("chip_hours", "Chip-hours", "chip*h", decimals=0),
        Column("with_readings", "With readings", kind="share"),
        Column("energy_facility", "Facility energy", "kWh_facility", ranged=True),
        *method_columns(facts),
    )


def method_cells(facts: QuarterFacts, prefix: str, selection: Selection) -> tuple[Cell, ...]:
    """Return the cells for :func:`method_columns`."""
    return tuple(emission_cell(facts, f"{prefix}.{name}", name, selection) for name in facts.methods)


def row_of(table_id: str, key: str, parts: Mapping[str, Value | tuple[Value, str]], flag: str = "") -> Row:
    """Make a row of plain values: column -> value, or value and unit."""
    cells = []
    for name, part in parts.items():
        value, unit = part if isinstance(part, tuple) else (part, "")
        cell_id = f"{table_id}.{key}.{name}"
        cells.append(value_cell(cell_id, value, unit, "Not stated."))
    return Row(key, tuple(cells), flag=flag)


def plain_table(
    table_id: str,
    caption: str,
    sub: str,
    columns: tuple[Column, ...],
    rows: Iterable[Row],
    notes: tuple[str, ...] = (),
) -> TableBlock:
    """Make a table of prepared rows."""
    return TableBlock(table_id, caption, sub, columns, tuple(rows), notes)


def tier_series(rows_by_category: Sequence[Sequence[LedgerRow]], column: str) -> tuple[Series, ...]:
    """Split each category's sum by tier, for bars."""
    out = []
    for tier in TIERS:
        values = tuple(
            sum((row[column] for row in rows if row["tier"] == tier and row[column] is not None), ZERO)
            for rows in rows_by_category
        )
        if any(values):
            out.append(Series(tier, tier, values))
    return tuple(out)


def share_of(part: Decimal | None, whole: Decimal | None) -> Decimal | None:
    """Divide for a share; ``None`` where there is no whole."""
    return None if part is None or not whole else ratio(part, whole)


def minute_text(instant: datetime | None) -> str | None:
    """Write an instant as date and minute, in UTC."""
    return None if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
