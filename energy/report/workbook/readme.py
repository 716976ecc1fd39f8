"""Sheet "Read me": what the workbook is, how its sheets hang together, and the names of its totals."""

from __future__ import annotations

from typing import Any

from energy.report.model import Notice
from energy.report.workbook.book import TITLE_HEIGHT, Book
from energy.report.workbook.cells import MUTED, row_height

TITLE = "Read me"
_WORDS_WIDTH = 92
_SHEETS = (
    ("Summary", "The figures of the report's first page; by month, site, chip and project. Formulas only."),
    ("Checks", "Each check compares two sides by formula; the cell named all_checks says whether all agree."),
    ("Energy rows", "Energy by month, site, owner, chip and tier, as the ledger adds it: what Summary adds."),
    ("Emission rows", "Emissions of the same energy, once for each Scope 2 method."),
    ("Factors", "Each factor with its source; energy × factor / 1000 beside the emissions of the ledger."),
    ("Jobs", "Jobs by facility energy; jobs that are not shown are added up under the rows."),
    ("Coverage", "Chip-hours and chip energy by how they are known (tier)."),
    ("Files", "Files that were taken in, with the hashes of their bytes and of their mapping."),
    ("Rejects", "Rows that were refused, with the reason."),
    ("Settings", "What was assumed: settings, PUE, node overhead, power of chips without a reading."),
    ("Glossary", "Terms and columns, with unit and meaning."),
)
_FORMULAS = (
    "Row sheets hold values. Every total on Summary is a formula on them: change a row, and the totals follow.",
    "SUMIFS adds the rows whose key equals column B of the line. Where SUMIFS would confuse a key with another (case, "
    "wildcards, numbers, dates), the formula is SUMPRODUCT with EXACT.",
    "The right sides of the checks that name the ledger are values: they stay when a row is changed, and the check "
    "then says differs.",
    "Cells are doubles of 15 digits, the ledger adds decimals of 12 places: checks allow a difference of 1e-9 of the "
    "right side. Values in report.json are exact.",
    "Low and high are ends of the 95 % range, added as if all errors had one direction: the widest range.",
    "Location and market are one quantity by two methods, and hourly a third: they are never added.",
    "Dates are UTC where the header says so; months are of the reporting time zone.",
)
_MARKS = (
    ("empty cell on a row sheet, no data", "Not known; never 0."),
    ("0", "Measured or counted, and nil."),
    ("not applicable", "The quantity cannot exist here."),
    ("not added", "The parts rest on different bases, and basis_mix in site.yaml does not name their mix: there is "
     "no total, here as in the report. The reason stands under the table."),
    ("exact", "A count or a 0: it has no range."),
    ("range not known", "Some of the lines have no range."),
    ("1.2E-05", "Not 0, and smaller than the last digit of its column."),
)  # fmt: skip


def prepare(book: Book) -> Any:
    """Add the sheet in its place; its words follow when all names are known."""
    return book.sheet(TITLE, 0, landscape=False)


def write(book: Book, sheet: Any) -> None:
    """Write the sheet."""
    line = _head(book, sheet)
    line = _heading(book, sheet, line, "Sheets")
    for name, words in _SHEETS:
        style = book.pen.style(font_color="#2F4156", underline=1)
        sheet.write_url(line, 0, f"internal:'{name}'!A1", style, name)
        line = _line(book, sheet, line, "", words)
    line = _heading(book, sheet, line + 1, "How formulas link")
    for number, words in enumerate(_FORMULAS, 1):
        line = _line(book, sheet, line, str(number), words)
    line = _heading(book, sheet, line + 1, "What stands in place of a number")
    for mark, words in _MARKS:
        line = _line(book, sheet, line, mark, words)
    line = _heading(book, sheet, line + 1, "Names of cells and columns")
    for name in sorted(book.names):
        line = _line(book, sheet, line, name, book.names[name])


def empty(book: Book) -> None:
    """Write the only sheet of a quarter without rows: it says so."""
    sheet = book.sheet(TITLE, 0, landscape=False)
    line = _head(book, sheet)
    for section in book.report.sections:
        for block in section.blocks:
            if isinstance(block, Notice):
                line = _line(book, sheet, line, block.word, " ".join(block.lines))


def _head(book: Book, sheet: Any) -> int:
    report = book.report
    sheet.set_column(0, 0, 46)
    sheet.set_column(1, 1, _WORDS_WIDTH)
    book.pen.text(sheet, 0, 0, report.title, bold=True, font_size=16)
    sheet.set_row(0, TITLE_HEIGHT)
    facts = (
        ("What this is", "The workbook of the carbon report: the same figures as report.html and report.json."),
        ("Entity", report.entity or "not stated in site.yaml"),
        ("Period", f"{report.first_day} to {report.last_day}, both included; time zone {report.timezone}"),
        ("Boundary", report.boundary),
        ("Status", report.status),
        ("Version of the ledger", str(report.ledger_version)),
        ("Version of the code", report.code_version),
        ("Run", report.run_id),
        ("SHA-256 of report.json", book.report_sha256),
        ("To check it", "energy verify report.json --ledger DIR"),
    )
    line = 2
    for name, words in facts:
        line = _line(book, sheet, line, name, words)
    return line + 1


def _heading(book: Book, sheet: Any, line: int, words: str) -> int:
    for column, text in enumerate((words, "")):
        book.pen.text(sheet, line, column, text, bold=True, font_size=12, bottom=1)
    return line + 1


def _line(book: Book, sheet: Any, line: int, name: str, words: str) -> int:
    if name:
        book.pen.text(sheet, line, 0, name, font_color=MUTED)
    book.pen.text(sheet, line, 1, words, text_wrap=True)
    sheet.set_row(line, row_height([(words, _WORDS_WIDTH)]))
    return line + 1
