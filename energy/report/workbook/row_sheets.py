"""Sheets of rows, one row of the ledger a line: what the formulas add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from energy.report.amounts import ratio
from energy.report.model import Prose
from energy.report.workbook.book import Book
from energy.report.workbook.cells import (
    DATE,
    MINUTE,
    MONTH,
    MUTED,
    PLAIN_INTEGER,
    SMALL,
    WHOLE,
    month_day,
    number_format,
    reference,
    row_height,
)
from energy.report.workbook.formulas import Condition, quoted, sum_where
from energy.schema.fields import FIELDS

HEADER_ROW = 1
FIRST_ROW = 2
_WIDEST, _NARROWEST, _NUMBER_WIDTH = 36, 9, 15
_SAMPLE_ROWS = 500
_UNITS_OF_RATIO = ("kWh_facility/kWh_it", "kWh_it/kWh_chip")
_LABELS = {
    "site_id": "Site",
    "owner_kind": "Kind of owner",
    "owner_key": "Owner",
    "chip_id": "Chip",
    "chip_h": "Chip-hours",
    "covered_chip_h": "Chip-hours with readings",
    "energy_chip": "Chip energy",
    "energy_it": "IT energy",
    "energy_facility": "Facility energy",
    "energy_purchased_facility": "Energy bought",
    "emissions": "Emissions",
    "location_emissions": "Emissions, location",
    "market_emissions": "Emissions, market",
    "hourly_emissions": "Emissions, hourly",
    "intensity_gco2e_per_kwh_facility": "Factor",
    "factor_id": "Factor",
    "factor_ids": "Factors of the site",
    "factor_attribution": "Attribution",
    "gwp_set": "GWP set",
    "start_utc": "Start, UTC",
    "end_utc": "End, UTC",
    "user_name": "User",
    "job_type": "Kind of work",
    "job_id": "Job",
    "batch_id": "Batch",
    "file_sha256": "SHA-256 of the file",
    "mapping_sha256": "SHA-256 of the mapping",
    "row_text": "Row as read",
    "row_number": "Row in the file",
}
_MORE_UNITS = {"location_emissions_kgco2e": "kgCO2e", "market_emissions_kgco2e": "kgCO2e",
               "hourly_emissions_kgco2e": "kgCO2e"}  # fmt: skip


def label(name: str) -> str:
    """Return the words of a column.

    Examples
    --------
    >>> label("energy_facility_low_kwh"), label("rows_read")
    ('Facility energy, low', 'Rows read')

    """
    base = name.removesuffix("_kwh").removesuffix("_kgco2e")
    for end in ("low", "high"):
        if base.endswith(f"_{end}"):
            return f"{label(base.removesuffix(f'_{end}'))}, {end}"
    return _LABELS.get(base, base.replace("_", " ").capitalize())


def unit_text(unit: str) -> str:
    """Write a unit for a header.

    Examples
    --------
    >>> unit_text("gCO2e/kWh_facility"), unit_text("chip*h")
    ('gCO₂e/kWh_facility', 'chip·h')

    """
    return unit.replace("CO2e", "CO₂e").replace("*", "·")


def header(name: str) -> str:
    """Return words and unit of a column.

    Examples
    --------
    >>> header("energy_facility_kwh"), header("tier")
    ('Facility energy, kWh_facility', 'Tier')

    """
    unit = _unit(name)
    return f"{label(name)}, {unit_text(unit)}" if unit else label(name)


def _unit(name: str) -> str:
    known = FIELDS.get(name)
    return (known.unit if known is not None else _MORE_UNITS.get(name)) or ""


def _form(name: str) -> str:
    """Return the number format of a column, by its unit."""
    if name == "month":
        return MONTH
    if name.endswith("_utc"):
        return MINUTE
    unit = _unit(name)
    if unit:
        return number_format(4 if unit in _UNITS_OF_RATIO else 3)
    return WHOLE if name.startswith("rows_") or name == "row_count" else PLAIN_INTEGER


@dataclass(frozen=True)
class _Sheet:
    title: str
    table: str
    prefix: str = ""
    named: tuple[str, ...] | None = ()  # None: every column
    heads: tuple[str, ...] = ()


SHEETS = {
    "energy": _Sheet("Energy rows", "energy", "energy_rows", None),
    "emissions": _Sheet("Emission rows", "emissions", "emission_rows", None),
    "jobs": _Sheet("Jobs", "jobs", "jobs", ("owner_kind", "chip_h", "energy_facility_kwh")),
    "coverage": _Sheet("Coverage", "coverage", "coverage_rows", ("tier", "chip_h", "energy_chip_kwh")),
    "files": _Sheet("Files", "files", "files", ("file_name",)),
    "rejects": _Sheet("Rejects", "rejects", "rejects", ("row_number",)),
    "settings": _Sheet("Settings", "settings"),
}


def write(book: Book) -> None:
    """Write the sheets of rows in the order in which an auditor walks them."""
    _rows(book, SHEETS["energy"], _note(book, "energy", "Sums of hours by month, site, owner, chip and tier."))
    _rows(
        book,
        SHEETS["emissions"],
        _note(book, "emissions", "Each energy row once for each method: never add rows of two methods."),
    )
    _factors(book)
    _jobs(book)
    _rows(book, SHEETS["coverage"], _note(book, "coverage", 'Tier "missing" has chip-hours and no known energy.'))
    _files(book)
    _rejects(book)
    _rows(book, SHEETS["settings"], _note(book, "settings", "What was assumed; ends are of the 95 % range."))
    _glossary(book)


def _note(book: Book, table: str, words: str) -> str:
    return f"{len(book.tables[table].rows):,} rows. {words} An empty cell is no data, never 0."


def _rows(book: Book, spec: _Sheet, note: str) -> Any:
    """Write a table: a note, the header, then the rows; columns get names for the formulas."""
    table = book.tables[spec.table]
    sheet = _start(book, spec.title, note, [header(name) for name in table.columns], table.columns, table.rows)
    forms = [_form(name) for name in table.columns]
    for row, values in enumerate(table.rows, FIRST_ROW):
        for column, (name, value, form) in enumerate(zip(table.columns, values, forms, strict=True)):
            _cell(book, sheet, row, column, name, value, form)
        _fit(sheet, row, values)
    last = FIRST_ROW + max(len(table.rows), 1) - 1
    for column, name in enumerate(table.columns):
        if spec.prefix and (spec.named is None or name in spec.named):
            words = f"column {header(name)} of sheet {spec.title}"
            book.name(f"{spec.prefix}_{name}", spec.title, (FIRST_ROW, column), (last, column), words)
    return sheet


def _fit(sheet: Any, row: int, values: Sequence[Any]) -> None:
    """Make a row as high as its wrapped texts need."""
    wrapped = [(value, _WIDEST) for value in values if isinstance(value, str) and len(value) > _WIDEST]
    if wrapped:
        sheet.set_row(row, row_height(wrapped))


def _cell(book: Book, sheet: Any, row: int, column: int, name: str, value: Any, form: str) -> None:
    if isinstance(value, str):
        if name == "month":
            book.pen.value(sheet, row, column, month_day(value), MONTH, align="left")
            return
        muted = {"font_color": MUTED} if value == "not added" else {}
        wrap = {"text_wrap": True} if len(value) > _WIDEST else {}
        book.pen.text(sheet, row, column, book.keys.label(name, value), **muted, **wrap)
    else:
        left = {"align": "left"} if form in (MINUTE, PLAIN_INTEGER) else {}
        book.pen.value(sheet, row, column, value, form, **(left if value is not None else {}))


def _start(
    book: Book, title: str, note: str, heads: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Any:
    sheet = book.sheet(title, HEADER_ROW)
    book.pen.text(sheet, 0, 0, f"{title}, {book.report.quarter}. {note}", font_color=MUTED)
    for column, words in enumerate(heads):
        number = bool(_unit(names[column])) if column < len(names) else False
        book.pen.text(
            sheet, HEADER_ROW, column, words, bold=True, text_wrap=True, bottom=1, valign="bottom",
            align="right" if number else "left",
        )  # fmt: skip
        sample = [row[column] for row in rows[:_SAMPLE_ROWS]] if column < len(names) else []
        sheet.set_column(column, column, _width(words, sample))
    sheet.set_row(HEADER_ROW, 42)
    sheet.freeze_panes(FIRST_ROW, 1)
    sheet.autofilter(HEADER_ROW, 0, HEADER_ROW + max(len(rows), 1), len(heads) - 1)
    return sheet


def _width(words: str, sample: Sequence[Any]) -> float:
    texts = [len(value) for value in sample if isinstance(value, str)]
    if not texts:
        return _NUMBER_WIDTH
    longest_word = max(len(word) for word in words.split())
    return max(_NARROWEST, longest_word + 3, min(max(texts) + 2, _WIDEST))


# --- factors: emissions once more, by formula ---
_BY_HOUR = "mean of the hours"


def by_the_hour(row: dict[str, Any]) -> bool:
    """Tell whether a factor has another value in each hour, so that one product cannot give its emissions."""
    return bool(row["factor_kind"] == "month-hour profile" or row["method"] in ("hourly", "hourly matched"))


def _factors(book: Book) -> None:
    """Write energy × factor beside the emissions of the ledger."""
    table = book.tables["factors"]
    title, prefix = "Factors", "factor_rows"
    names = list(table.columns)
    at_emissions = names.index("emissions_kgco2e")
    more = ("Energy bought × factor, kgCO₂e", "Difference, kgCO₂e", "The factor is")
    heads = [header(name) for name in names]
    heads[at_emissions] = "Emissions in the ledger, kgCO₂e"
    heads[at_emissions + 1 : at_emissions + 1] = more
    columns = [*names[: at_emissions + 1], "", "", "", *names[at_emissions + 1 :]]
    rows = book.rows("factors")
    sample = [[row.get(name) for name in columns] for row in rows]
    note = _note(
        book, "factors", "Energy bought × factor / 1000 gives the emissions again, wherever the factor is one value."
    )
    sheet = _start(book, title, note, heads, _units_of(columns), sample)
    sheet.set_column(at_emissions + 3, at_emissions + 3, 20)
    sheet.fit_to_pages(2, 0)  # many columns: the left page has the numbers, the right one the sources
    sheet.repeat_columns(0, 1)
    uses = Counter((row["site_id"], row["method"], row["basis"]) for row in rows)
    for line, row in enumerate(rows, FIRST_ROW):
        for column, name in enumerate(columns):
            if name:
                _cell(book, sheet, line, column, name, row[name], _form(name))
        _fit(sheet, line, list(row.values()))
        _factor_formulas(book, sheet, line, columns, row, uses[row["site_id"], row["method"], row["basis"]] == 1)
    last = FIRST_ROW + max(len(rows), 1) - 1
    for name in (
        "site_id",
        "method",
        "basis",
        "energy_facility_kwh",
        "energy_purchased_facility_kwh",
        "intensity_gco2e_per_kwh_facility",
        "emissions_kgco2e",
    ):
        column = columns.index(name)
        book.name(f"{prefix}_{name}", title, (FIRST_ROW, column), (last, column), f"column {heads[column]} of {title}")


def _units_of(columns: Sequence[str]) -> list[str]:
    """Give the columns of formulas the name of a column with their unit, and the last, of words, one without."""
    added = iter(("emissions_kgco2e", "emissions_kgco2e", "note"))
    return [name or next(added) for name in columns]


def _factor_formulas(book: Book, sheet: Any, line: int, columns: list[str], row: dict[str, Any], alone: bool) -> None:
    place = {name: reference(line, columns.index(name)) for name in columns if name}
    energy_at = columns.index("energy_facility_kwh")
    emissions_at = columns.index("emissions_kgco2e")
    form = number_format(3)
    energy, bought, emissions = (
        row[name] for name in ("energy_facility_kwh", "energy_purchased_facility_kwh", "emissions_kgco2e")
    )
    if bought is not None and bought == energy:
        bought_at = columns.index("energy_purchased_facility_kwh")
        book.pen.formula(sheet, line, bought_at, place["energy_facility_kwh"], bought, form)
    if alone and energy is not None:
        conditions = [
            Condition("emission_rows_site_id", place["site_id"], book.keys.plain("site_id", row["site_id"])),
            Condition("emission_rows_method", place["method"]),
            Condition("emission_rows_basis", place["basis"], book.keys.plain("basis", row["basis"])),
        ]
        formula = sum_where("emission_rows_energy_facility_kwh", conditions)
        book.pen.formula(sheet, line, energy_at, formula, energy, form)
    if bought is None or emissions is None:
        book.pen.text(sheet, line, emissions_at + 1, "no data", font_color=MUTED, align="right")
        return
    if by_the_hour(row):
        factor_at = columns.index("intensity_gco2e_per_kwh_facility")
        if bought:
            formula = f"{place['emissions_kgco2e']}*1000/{place['energy_purchased_facility_kwh']}"
            book.pen.formula(sheet, line, factor_at, formula, ratio(emissions * 1000, bought), form)
        for column in (emissions_at + 1, emissions_at + 2):
            book.pen.text(sheet, line, column, "not applicable", font_color=MUTED, align="right")
        book.pen.text(sheet, line, emissions_at + 3, _BY_HOUR, indent=1)
        return
    intensity = Decimal(repr(float(row["intensity_gco2e_per_kwh_facility"])))
    product = bought * intensity / 1000
    formula = f"{place['energy_purchased_facility_kwh']}*{place['intensity_gco2e_per_kwh_facility']}/1000"
    book.pen.formula(sheet, line, emissions_at + 1, formula, product, form)
    difference = f"{reference(line, emissions_at + 1)}-{place['emissions_kgco2e']}"
    book.pen.formula(sheet, line, emissions_at + 2, difference, product - emissions, SMALL)
    book.pen.text(sheet, line, emissions_at + 3, "one value", indent=1)


# --- jobs: the largest, and what is left out ---
def _jobs(book: Book) -> None:
    shown = book.rows("jobs")
    count = sum(row["row_count"] for row in book.rows("job_sums"))
    left = count - len(shown)
    note = "One line for each job and kind of chip, its part inside the quarter, by facility energy, most first."
    if left:
        note += f" Shown {len(shown):,} of {count:,} lines: the others are added up under the rows."
    sheet = _rows(book, SHEETS["jobs"], _note(book, "jobs", note))
    columns = book.tables["jobs"].columns
    line = FIRST_ROW + max(len(shown), 1) + 1
    sums = ("chip_h", "covered_chip_h", "energy_chip_kwh", "energy_facility_kwh", "energy_facility_low_kwh",
            "energy_facility_high_kwh")  # fmt: skip
    for kind in ("project", "unallocated"):
        whole = {row["owner_kind"]: row for row in book.rows("job_sums")}.get(kind)
        own = (("owner_kind", kind),)
        number = (whole["row_count"] if whole else 0) - len(book.rows("jobs", own))
        book.pen.text(sheet, line, 0, f"{number:,} lines not shown, {kind}", bold=True)
        for name in sums:
            value = (whole[name] if whole and whole[name] is not None else Decimal(0)) - book.total("jobs", name, own)
            book.pen.value(sheet, line, columns.index(name), value, number_format(3), bold=True)
        cell = (line, columns.index("energy_facility_kwh"))
        book.name(
            f"jobs_not_shown_{kind}_energy_facility_kwh", "Jobs", cell, None,
            f"facility energy of jobs that are not shown, {kind}, kWh_facility",
        )  # fmt: skip
        line += 1


def _files(book: Book) -> None:
    found = book.rows("telemetry")[0]
    note = (
        f"Every file that was taken in. Readings of them lie in {found['file_count']:,} telemetry files; "
        f"SHA-256 of their list of paths and hashes: {found['sha256']}."
    )
    _rows(book, SHEETS["files"], _note(book, "files", note))


def _rejects(book: Book) -> None:
    whole = sum(row["row_count"] for row in book.rows("reject_reasons"))
    shown = len(book.tables["rejects"].rows)
    note = "Rows that were refused, with the reason."
    if whole > shown:
        note += f" Shown {shown:,} of {whole:,}; the others stand in raw.rejects of the ledger."
    _rows(book, SHEETS["rejects"], _note(book, "rejects", note))


def _glossary(book: Book) -> None:
    """Write the terms of the report, then each column with its unit and meaning."""
    terms = [
        (term, "", words)
        for section in book.report.sections
        if section.id == "glossary"
        for block in section.blocks
        if isinstance(block, Prose)
        for term, words in block.terms
    ]
    named = dict.fromkeys(name for key in SHEETS for name in book.tables[SHEETS[key].table].columns if name in FIELDS)
    columns = [(header(name), name, FIELDS[name].meaning) for name in (*named, "intensity_gco2e_per_kwh_facility")]
    heads = ("Term or column", "Name in the ledger", "Meaning")
    rows, widths = [*terms, *columns], (40, 36, 100)
    sheet = _start(book, "Glossary", "Terms of the report, then the columns of the sheets.", heads, (), rows)
    for row, values in enumerate(rows, FIRST_ROW):
        for column, text in enumerate(values):
            book.pen.text(sheet, row, column, text, **({"text_wrap": True} if column != 1 else {"font_color": MUTED}))
        sheet.set_row(row, row_height(((values[0], widths[0]), (values[2], widths[2]))))
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width)


__all__ = ["DATE", "FIRST_ROW", "SHEETS", "by_the_hour", "header", "label", "quoted", "unit_text", "write"]
