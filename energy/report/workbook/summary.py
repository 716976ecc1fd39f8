"""Sheet "Summary": the figures of the front page and the tables by month, site, chip and project, as live formulas."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from energy.report import numbers
from energy.report.amounts import ratio
from energy.report.facts import READING_TIERS
from energy.report.model import Cell, Figure, FigureBlock, Row, Selection, TableBlock
from energy.report.workbook.book import TITLE_HEIGHT, Book
from energy.report.workbook.cells import (
    ERROR,
    METHOD_COLOURS,
    MONTH,
    MUTED,
    RATIO,
    RULE,
    SHARE,
    month_day,
    number_format,
    reference,
)
from energy.report.workbook.formulas import Condition, count_where, quoted, sum_where
from energy.report.workbook.row_sheets import unit_text

TITLE = "Summary"
_TOP_ROWS = 5
_A, _B, _C, _D, _LOW, _HIGH, _SHARE, _METHODS = range(8)
_TABLES = ("emissions.by_month", "emissions.by_site", "emissions.by_chip", "emissions.by_project")
_NAMES = {
    "front.energy_facility": "energy_facility{}_kwh",
    "front.energy_it": "energy_it{}_kwh",
    "front.scope2_location": "emissions_location{}_kgco2e",
    "front.scope2_market": "emissions_market{}_kgco2e",
    "front.scope2_hourly": "emissions_hourly{}_kgco2e",
    "front.pue": "pue{}",
    "front.chip_hours_project": "chip_hours_project{}",
    "front.chip_hours_idle": "chip_hours_idle{}",
    "front.chip_hours_unallocated": "chip_hours_unallocated{}",
    "front.intensity_energy": "intensity_energy{}_kwh_facility_per_chip_h",
    "front.intensity_location": "intensity_location{}_gco2e_per_chip_h",
    "front.intensity_market": "intensity_market{}_gco2e_per_chip_h",
}
_NARROWEST, _DECIMALS_WIDTH = 11, 3.5
_KNOWN = "How it is known"
_PLACES = 3  # decimals beyond this crowd a column


@dataclass
class Made:
    """The sheet, and where the parts of its tables stand: by table id and column key, the cells of the rows."""

    sheet: Any
    parts: dict[tuple[str, str], str] = field(default_factory=dict)
    blocks: list[TableBlock] = field(default_factory=list)


def write(book: Book) -> Made:
    """Write the sheet; returns where its tables stand, for the checks."""
    sheet = book.sheet(TITLE, 1)
    _head(book, sheet)
    figures = [block for section in book.report.sections for block in section.blocks if isinstance(block, FigureBlock)]
    line = _TOP_ROWS + 1
    for block in figures:
        line = _figures(book, sheet, line, block)
    made = Made(sheet)
    tables = {
        block.id: block for section in book.report.sections for block in section.blocks if isinstance(block, TableBlock)
    }
    for name in _TABLES:
        if name in tables:
            line = _table(book, sheet, line, tables[name], made)
    _notes(book, sheet, line, tuple(dict.fromkeys(note for block in made.blocks for note in block.notes)))
    sheet.set_column(_A, _A, 46)
    sheet.set_column(_B, _B, 26)
    sheet.set_column(_C, _C, 17)
    largest = max((int(cell.value) for cell in book.report.cells() if isinstance(cell.value, Decimal)), default=0)
    sheet.set_column(_D, 30, max(_NARROWEST, len(f"{largest:,}") + _DECIMALS_WIDTH))
    sheet.freeze_panes(_TOP_ROWS, 1)
    sheet.activate()
    return made


def _head(book: Book, sheet: Any) -> None:
    report, pen = book.report, book.pen
    pen.text(sheet, 0, 0, report.title, bold=True, font_size=16)
    sheet.set_row(0, TITLE_HEIGHT)
    pen.text(sheet, 1, 0, report.subtitle)
    pen.text(sheet, 2, 0, f"Boundary: {report.boundary}")
    pen.text(
        sheet, 3, 0,
        f"Status {report.status}; ledger version {report.ledger_version}; run {report.run_id}. "
        "Each figure is a formula on the row sheets; the two Scope 2 methods are never added.",
        font_color=MUTED,
    )  # fmt: skip
    pen.text(sheet, 4, 0, "All checks (sheet Checks)", bold=True, bottom=1, bottom_color=RULE)


def verdict(book: Book, made: Made, result: str) -> None:
    """Write at the top whether all checks agree, once they are known."""
    book.pen.formula(made.sheet, 4, 1, "all_checks", result, bold=True, bottom=1, bottom_color=RULE)
    warn(book, made.sheet, 4, 1, 4, 1)


def warn(book: Book, sheet: Any, *area: int) -> None:
    """Set the words "differs" and errors apart in bold and colour."""
    style = book.pen.workbook.add_format({"bold": True, "font_color": ERROR})
    sheet.conditional_format(*area, {"type": "text", "criteria": "begins with", "value": "differs", "format": style})
    sheet.conditional_format(*area, {"type": "errors", "format": style})


def _header(book: Book, sheet: Any, line: int, words: list[tuple[str, str]]) -> None:
    for column, (text, colour) in enumerate(words):
        style: dict[str, Any] = {"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"}
        style["align"] = "left" if column <= _B or text == _KNOWN else "right"
        if text == _KNOWN:
            style |= {"indent": 1, "text_wrap": False}
        if colour:
            style["font_color"] = colour
        book.pen.text(sheet, line, column, text, **style)
    sheet.set_row(line, 42)


# --- the figures of the front page ---
def _figures(book: Book, sheet: Any, line: int, block: FigureBlock) -> int:
    book.pen.text(sheet, line, 0, block.caption, bold=True, font_size=12)
    heads = ["Figure", "Id, for energy explain", "Unit", "Value", "Low, 95 %", "High, 95 %", "Share from readings, %",
             _KNOWN]  # fmt: skip
    _header(book, sheet, line + 1, [(text, "") for text in heads])
    line += 2
    reasons: dict[str, None] = {}
    for figure in block.figures:
        _figure(book, sheet, line, figure)
        if figure.cell.mark:
            reasons.setdefault(f"{figure.label}: {_reason(figure.cell)}")
        line += 1
    return _notes(book, sheet, line, (*reasons, *block.notes))


def _figure(book: Book, sheet: Any, line: int, figure: Figure) -> None:
    cell = figure.cell
    colour = {"font_color": METHOD_COLOURS[figure.method]} if figure.method in METHOD_COLOURS else {}
    book.pen.text(sheet, line, _A, figure.label, **colour)
    book.pen.text(sheet, line, _B, cell.id, font_color=MUTED)
    book.pen.text(sheet, line, _C, unit_text(cell.unit) or "count", align="right")
    form = _figure_form(cell)
    for column, end, value in ((_D, "", cell.value), (_LOW, "_low", cell.low), (_HIGH, "_high", cell.high)):
        formula = _figure_formula(cell.id, end)
        if value is None:
            _mark(book, sheet, line, column, cell, end)
        elif formula and not cell.mark:
            book.pen.formula(sheet, line, column, formula, value, form, **({"bold": True} if not end else {}))
        else:
            book.pen.value(sheet, line, column, value, form)
        if cell.id in _NAMES:
            words = f"{figure.label}{end.replace('_', ', ')}, {unit_text(cell.unit)}"
            book.name(_NAMES[cell.id].format(end), TITLE, (line, column), None, words)
    if figure.tier_shares:
        part = sum((share for tier, share in figure.tier_shares if tier in READING_TIERS), Decimal(0))
        readings = "+".join(sum_where("energy_rows_energy_facility_kwh", [_tier(tier)]) for tier in READING_TIERS)
        formula = f"({readings})/energy_facility_kwh"
        book.pen.formula(sheet, line, _SHARE, formula, part, SHARE)
    book.pen.text(sheet, line, _METHODS, figure.known, font_color=MUTED, indent=1)


def _tier(tier: str) -> Condition:
    return Condition("energy_rows_tier", quoted(tier))


def _figure_formula(cell_id: str, end: str) -> str:
    """Return the formula of a figure of the front page; empty for a figure that no rows of the workbook hold."""
    name = cell_id.removeprefix("front.")
    if name in ("energy_facility", "energy_it"):
        return sum_where(f"energy_rows_{name}{end}_kwh")
    if name.startswith("scope2_"):
        condition = Condition("emission_rows_method", quoted(name.removeprefix("scope2_")))
        return sum_where(f"emission_rows_emissions{end}_kgco2e", [condition])
    if name.startswith("chip_hours_") and not end:
        return sum_where(
            "energy_rows_chip_h", [Condition("energy_rows_owner_kind", quoted(name[len("chip_hours_") :]))]
        )
    if name == "pue":
        return f"energy_facility{end}_kwh/energy_it{end}_kwh"
    if name == "intensity_energy":
        return f"energy_facility{end}_kwh/chip_hours_project"
    if name in ("intensity_location", "intensity_market"):
        return f"emissions_{name.removeprefix('intensity_')}{end}_kgco2e*1000/chip_hours_project"
    return ""


def _figure_form(cell: Cell) -> str:
    if cell.unit in ("kWh_facility/kWh_it",):
        return RATIO
    return number_format(_decimals([cell]))


def _decimals(cells: list[Cell]) -> int:
    """Return the decimals that the greatest value allows: two digits of half its range, else three digits."""
    known = [cell for cell in cells if isinstance(cell.value, Decimal | int) and not cell.mark]
    if not known:
        return 0
    top = max(known, key=lambda cell: abs(Decimal(cell.value or 0)))
    assert isinstance(top.value, Decimal | int)
    return max(0, min(numbers.places(top.value, top.low, top.high), _PLACES))


def _mark(book: Book, sheet: Any, line: int, column: int, cell: Cell, end: str, **style: Any) -> None:
    """Write the words that stand in place of a number."""
    words: str = cell.mark or numbers.NO_DATA
    if end and not cell.mark:
        exact = cell.value == 0 or cell.unit == "chip*h" or not cell.unit
        words = "exact" if exact else numbers.RANGE_UNKNOWN
    book.pen.text(sheet, line, column, words, **(style | {"font_color": MUTED, "align": "right"}))


def _reason(cell: Cell) -> str:
    """Say why a number is absent; a reason that begins with its mark says it once."""
    return cell.reason if cell.reason.lower().startswith(cell.mark) else f"{cell.mark}: {cell.reason}"


def _notes(book: Book, sheet: Any, line: int, notes: tuple[str, ...]) -> int:
    for note in notes:
        book.pen.text(sheet, line, 0, note, font_color=MUTED, font_size=9)
        line += 1
    return line + 1


# --- the tables ---
def _table(book: Book, sheet: Any, line: int, block: TableBlock, made: Made) -> int:
    made.blocks.append(block)
    book.pen.text(sheet, line, 0, block.caption, bold=True, font_size=12)
    methods = [column for column in block.columns if column.unit == "kgCO2e"]
    energy = "kWh_facility"
    heads = [(block.columns[0].label, ""), ("Key", ""), ("Chip-hours, chip·h", ""), (f"Facility energy, {energy}", ""),
             (f"Low, 95 %, {energy}", ""), (f"High, 95 %, {energy}", ""), ("Share from readings, %", "")]  # fmt: skip
    for method in methods:
        colour = METHOD_COLOURS.get(method.key, "")
        heads += [(f"{method.label}, kgCO₂e", colour), ("Low, 95 %, kgCO₂e", colour), ("High, 95 %, kgCO₂e", colour)]
    _header(book, sheet, line + 1, heads)
    first = line + 2
    places = {column.key: _decimals([row.cells[at] for row in block.rows]) for at, column in enumerate(block.columns)}
    for line, row in enumerate(block.rows, first):
        _row(book, sheet, line, block, row, places)
    last = first + sum(row.kind == "row" for row in block.rows) - 1
    keys = ["chip_hours", "energy_facility", *(method.key for method in methods)]
    for key, column in zip(keys, (_C, _D, *range(_METHODS, _METHODS + 3 * len(methods), 3)), strict=True):
        area = f"{reference(first, column, True, True)}:{reference(last, column, True, True)}"
        made.parts[block.id, key] = f"{TITLE}!{area}"
    reasons = dict.fromkeys(_reason(cell) for row in block.rows for cell in row.cells if cell.mark and cell.reason)
    return _notes(book, sheet, first + len(block.rows), tuple(reasons))


def _row(book: Book, sheet: Any, line: int, block: TableBlock, row: Row, places: dict[str, int]) -> None:
    cells = {column.key: cell for column, cell in zip(block.columns, row.cells, strict=True)}
    style: dict[str, Any] = {"bold": True, "top": 1, "bottom": 1} if row.kind == "sum" else {}
    name, energy = cells.pop(block.columns[0].key), cells.pop("energy_facility")
    hours = cells.pop("chip_hours")
    selection: Selection = energy.selection or ()
    key = selection[0] if selection else ("", "")
    book.pen.text(sheet, line, _A, book.keys.label(key[0], str(name.value)), **style)
    if key[0] == "month":
        book.pen.value(sheet, line, _B, month_day(key[1]), MONTH, align="left", font_color=MUTED)
    else:
        book.pen.text(sheet, line, _B, book.keys.label(*key), **(style | {"font_color": MUTED}))
    where = _conditions(book, "energy_rows", selection, line)
    form = number_format(places["chip_hours"])
    book.pen.formula(sheet, line, _C, sum_where("energy_rows_chip_h", where), hours.value, form, **style)
    form = number_format(places["energy_facility"])
    _ranged(book, sheet, line, _D, energy, "energy_rows_energy_facility{}_kwh", where, form, style)
    _readings(book, sheet, line, selection, where, style)
    for column, (method, cell) in enumerate(cells.items()):
        chosen = [
            Condition("emission_rows_method", quoted(method)), *_conditions(book, "emission_rows", selection, line)
        ]  # fmt: skip
        values, at = "emission_rows_emissions{}_kgco2e", _METHODS + 3 * column
        _ranged(book, sheet, line, at, cell, values, chosen, number_format(places[method]), style)


def _conditions(book: Book, prefix: str, selection: Selection, line: int) -> list[Condition]:
    key_cell = reference(line, _B, column_fixed=True)
    return [
        Condition(f"{prefix}_{column}", key_cell, column == "month" or book.keys.plain(column, key), column != "month")
        for column, key in selection
    ]


def _ranged(
    book: Book, sheet: Any, line: int, column: int, cell: Cell, values: str, where: list[Condition], form: str,
    style: dict[str, Any],
) -> None:  # fmt: skip
    """Write value, low and high; what is not added or not known stays words, and no formula adds it."""
    for place, (end, value) in enumerate((("", cell.value), ("_low", cell.low), ("_high", cell.high))):
        formula = sum_where(values.format(end), where)
        if value is not None:
            book.pen.formula(sheet, line, column + place, formula, value, form, **style)
        elif cell.mark == "no data":
            words = f"IF({count_where(values.format(end), where)}=0,{quoted(cell.mark)},{formula})"
            book.pen.formula(
                sheet, line, column + place, words, cell.mark, form, **(style | {"font_color": MUTED, "align": "right"})
            )
        else:
            _mark(book, sheet, line, column + place, cell, end, **style)


def _readings(
    book: Book, sheet: Any, line: int, selection: Selection, where: list[Condition], style: dict[str, Any]
) -> None:
    whole = book.total("energy", "energy_facility_kwh", selection)
    tiers = [(("tier", tier), *selection) for tier in READING_TIERS]
    part = sum((book.total("energy", "energy_facility_kwh", own) for own in tiers), Decimal(0))
    parts = "+".join(sum_where("energy_rows_energy_facility_kwh", [_tier(tier), *where]) for tier in READING_TIERS)
    energy = reference(line, _D)
    formula = f'IF(N({energy})=0,"not applicable",({parts})/{energy})'
    cached = ratio(part, whole) if whole else "not applicable"
    muted = {} if whole else {"font_color": MUTED, "align": "right"}
    book.pen.formula(sheet, line, _SHARE, formula, cached, SHARE, **(style | muted))
