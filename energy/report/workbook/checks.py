"""Sheet "Checks": each check is a formula that gives OK or differs; one cell says whether all agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from energy.report.amounts import ZERO, ratio
from energy.report.model import Cell, Selection
from energy.report.workbook.book import TITLE_HEIGHT, Book
from energy.report.workbook.cells import MUTED, SMALL, WHOLE, month_day, number_format
from energy.report.workbook.formulas import Condition, quoted, sum_where
from energy.report.workbook.row_sheets import SHEETS, by_the_hour
from energy.report.workbook.summary import Made, warn

TITLE = "Checks"
TOLERANCE = Decimal("1e-9")  # cells are doubles of 15 to 17 digits; the ledger adds decimals
_HEAD, _FIRST = 6, 7
_WORDS, _WHERE, _LEFT, _RIGHT, _DIFFERENCE, _RESULT = range(6)
_ENDS = ("", "_low", "_high")
_PART_WORDS = {"chip_hours": "chip-hours", "energy_facility": "facility energy"}


@dataclass(frozen=True)
class Check:
    """Two sides that must agree: formulas without the equals sign, or a value of the ledger.

    With ``upper``, the left side must lie between ``right`` and ``upper``. A reason in ``not_applicable`` stands in
    place of the comparison.
    """

    words: str
    where: str
    left: str = ""
    right: str = ""
    cached_left: Decimal = ZERO
    cached_right: Decimal = ZERO
    upper: Decimal | None = None
    not_applicable: str = ""


def write(book: Book, made: Made) -> str:
    """Write the sheet; returns ``OK`` or ``differs``, for all checks together."""
    checks = [
        *_ledger_totals(book),
        *_parts(book, made),
        *_owners(book),
        *_chain(book),
        *_methods(book),
        *_factors(book),
        *_tiers_and_jobs(book),
        *_reconciliation(book),
        *_counts(book),
    ]
    sheet = book.sheet(TITLE, _HEAD)
    last = _FIRST + len(checks) - 1
    _head(book, sheet, checks, last)
    for line, check in enumerate(checks, _FIRST):
        _row(book, sheet, line, check)
    warn(book, sheet, _FIRST, _RESULT, last, _RESULT)
    for column, width in enumerate((58, 46, 19, 19, 15, 16)):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(_FIRST, 1)
    sheet.autofilter(_HEAD, 0, last, _RESULT)
    return _together(checks)


def _together(checks: list[Check]) -> str:
    return "differs" if any(_result(check) == "differs" for check in checks) else "OK"


def _head(book: Book, sheet: Any, checks: list[Check], last: int) -> None:
    pen = book.pen
    pen.text(sheet, 0, 0, "Checks", bold=True, font_size=16)
    sheet.set_row(0, TITLE_HEIGHT)
    results = [_result(check) for check in checks]
    good = 'COUNTIF(checks_result,"OK")'
    absent = 'COUNTIF(checks_result,"not applicable")'
    lines = (
        ("All checks", f'IF({good}+{absent}=ROWS(checks_result),"OK","differs")',
         _together(checks)),
        ("Checks that agree", good, Decimal(results.count("OK"))),
        ("Checks that do not apply", absent, Decimal(results.count("not applicable"))),
        ("Tolerance: difference over the greater of 1 and the right side", "", TOLERANCE),
    )  # fmt: skip
    for line, (words, formula, cached) in enumerate(lines, 1):
        pen.text(sheet, line, 0, words, bold=line == 1)
        if formula:
            pen.formula(sheet, line, 1, formula, cached, "0", bold=line == 1, align="left")
        else:
            pen.value(sheet, line, 1, cached, SMALL, align="left")
    warn(book, sheet, 1, 1, 1, 1)
    heads = ("Check", "Where", "Left side", "Right side", "Difference", "Result")
    for column, words in enumerate(heads):
        right = _LEFT <= column <= _DIFFERENCE
        place = {"align": "right"} if right else {"indent": int(column == _RESULT)}
        pen.text(sheet, _HEAD, column, words, bold=True, bottom=1, **place)
    book.name("all_checks", TITLE, (1, 1), None, "OK when every check agrees")
    book.name("checks_tolerance", TITLE, (4, 1), None, "tolerance of the checks, relative above 1")
    book.name("checks_result", TITLE, (_FIRST, _RESULT), (last, _RESULT), "results of the checks")


def _apart(check: Check) -> Decimal:
    """Return by how much the sides differ; for bounds, by how much the left side lies outside."""
    if check.upper is None:
        return check.cached_left - check.cached_right
    return max(check.cached_right - check.cached_left, check.cached_left - check.upper, ZERO)


def _result(check: Check) -> str:
    if check.not_applicable:
        return "not applicable"
    return "OK" if abs(_apart(check)) <= TOLERANCE * max(Decimal(1), abs(check.cached_right)) else "differs"


def _row(book: Book, sheet: Any, line: int, check: Check) -> None:
    pen, at = book.pen, line + 1
    pen.text(sheet, line, _WORDS, check.words, text_wrap=True)
    pen.text(sheet, line, _WHERE, check.not_applicable or check.where, text_wrap=True)
    if check.not_applicable:
        pen.text(sheet, line, _RESULT, "not applicable", font_color=MUTED, indent=1)
        return
    whole = check.cached_left == int(check.cached_left) and check.cached_right == int(check.cached_right)
    form = WHOLE if whole else number_format(3)
    for column, formula, cached in ((_LEFT, check.left, check.cached_left), (_RIGHT, check.right, check.cached_right)):
        if formula:
            pen.formula(sheet, line, column, formula, cached, form)
        else:
            pen.value(sheet, line, column, cached, form)
    difference = f"C{at}-D{at}"
    if check.upper is not None:
        difference = f"MAX(D{at}-C{at},C{at}-{float(check.upper)!r},0)"
    pen.formula(sheet, line, _DIFFERENCE, difference, _apart(check), SMALL)
    result = f'IF(ABS(E{at})<=checks_tolerance*MAX(1,ABS(D{at})),"OK","differs")'
    pen.formula(sheet, line, _RESULT, result, _result(check), indent=1)


def _conditions(book: Book, prefix: str, selection: Selection) -> list[Condition]:
    """Return the conditions with the keys written into the formula; a month is a date."""
    out = []
    for column, key in selection:
        if column == "month":
            day = month_day(key)
            out.append(Condition(f"{prefix}_month", f"DATE({day.year},{day.month},1)", text=False))
            continue
        plain = column in ("method", "owner_kind", "tier") or book.keys.plain(column, key)
        out.append(Condition(f"{prefix}_{column}", quoted(book.keys.label(column, key)), plain))
    return out


def _sum(book: Book, table: str, column: str, selection: Selection = ()) -> tuple[str, Decimal]:
    prefix = {"energy": "energy_rows", "emissions": "emission_rows", "jobs": "jobs", "coverage": "coverage_rows",
              "factors": "factor_rows"}[table]  # fmt: skip
    formula = sum_where(f"{prefix}_{column}", _conditions(book, prefix, selection))
    return formula, book.total(table, column, selection)


def _pair(words: str, where: str, left: tuple[str, Decimal], right: tuple[str, Decimal]) -> Check:
    return Check(words, where, left[0], right[0], left[1], right[1])


def _ledger(value: Decimal | int) -> tuple[str, Decimal]:
    return "", Decimal(value)


# --- what is checked ---
def _cells(book: Book) -> dict[str, Cell]:
    return {cell.id: cell for cell in book.report.cells()}


def _ledger_totals(book: Book) -> Iterator[Check]:
    cells = _cells(book)
    for quantity, words in (("energy_facility", "facility energy"), ("energy_it", "IT energy")):
        cell = cells[f"front.{quantity}"]
        for end, value in zip(_ENDS, (cell.value, cell.low, cell.high), strict=True):
            if isinstance(value, Decimal):
                left = _sum(book, "energy", f"{quantity}{end}_kwh")
                yield _pair(
                    f"Rows add up to the ledger's {words}{end.replace('_', ', ')}", cell.id, left, _ledger(value)
                )
    for cell_id, cell in cells.items():
        if not cell_id.startswith("front.scope2_"):
            continue
        method = cell_id.removeprefix("front.scope2_")
        words = f"Rows add up to the ledger's emissions, {method}"
        if cell.mark:
            yield Check(words, cell_id, not_applicable=f"{cell.mark}: {cell.reason}")
            continue
        for end, value in zip(_ENDS, (cell.value, cell.low, cell.high), strict=True):
            if isinstance(value, Decimal):
                left = _sum(book, "emissions", f"emissions{end}_kgco2e", (("method", method),))
                yield _pair(words + end.replace("_", ", "), cell_id, left, _ledger(value))


def _parts(book: Book, made: Made) -> Iterator[Check]:
    for block in made.blocks:
        for place, column in enumerate(block.columns):
            area = made.parts.get((block.id, column.key))
            if area is None:
                continue
            cells = [row.cells[place] for row in block.rows]
            total = cells[-1]
            words = f"{block.caption}: rows add up to the total, {_PART_WORDS.get(column.key, column.label)}"
            if not isinstance(total.value, Decimal):
                yield Check(words, block.id, not_applicable=f"{total.mark}: {total.reason}")
                continue
            values = (cell.value for cell in cells[:-1])
            parts = sum((value for value in values if isinstance(value, Decimal)), ZERO)
            if column.key in _PART_WORDS:
                name = "chip_h" if column.key == "chip_hours" else "energy_facility_kwh"
                right = _sum(book, "energy", name)
            else:
                right = _sum(book, "emissions", "emissions_kgco2e", (("method", column.key),))
            yield _pair(words, block.id, (f"SUM({area})", parts), right)


def _sites(book: Book) -> list[str]:
    return sorted({row["site_id"] for row in book.rows("energy")})


def _owners(book: Book) -> Iterator[Check]:
    for site in _sites(book):
        own = (("site_id", site),)
        kinds = [
            _sum(book, "energy", "energy_facility_kwh", (*own, ("owner_kind", kind)))
            for kind in ("project", "idle", "unallocated")
        ]
        left = ("+".join(formula for formula, _ in kinds), sum((value for _, value in kinds), ZERO))
        right = _sum(book, "energy", "energy_facility_kwh", own)
        yield _pair("Projects + idle + unallocated = facility energy of the site", site, left, right)


def _chain(book: Book) -> Iterator[Check]:
    steps = (
        ("IT energy over chip energy lies within the node overheads of the lines", "energy_it_kwh", "energy_chip_kwh",
         "overhead"),
        ("Facility energy over IT energy lies within the PUE of the lines", "energy_facility_kwh", "energy_it_kwh",
         "pue"),
    )  # fmt: skip
    for bounds in book.rows("chain"):
        own = (("site_id", bounds["site_id"]),)
        for words, upper, lower, name in steps:
            over, under = _sum(book, "energy", upper, own), _sum(book, "energy", lower, own)
            if not under[1]:
                yield Check(words, bounds["site_id"], not_applicable=f"{bounds['site_id']}: the energy is 0")
                continue
            least, most = (Decimal(repr(float(bounds[f"{name}_{end}"]))) for end in ("least", "most"))
            where = f"{bounds['site_id']}: {least} to {most}"
            yield Check(
                words, where, f"{over[0]}/{under[0]}", "", ratio(over[1], under[1]), least, upper=most
            )  # fmt: skip


def _methods(book: Book) -> Iterator[Check]:
    location, market = (
        _sum(book, "emissions", "energy_facility_kwh", (("method", m),)) for m in ("location", "market")
    )
    whole = _sum(book, "energy", "energy_facility_kwh")
    yield _pair("Location and market cover the same facility energy", "all sites", location, market)
    yield _pair("Location covers all facility energy", "all sites", location, whole)
    yield _pair("Market covers all facility energy", "all sites", market, whole)


def _factors(book: Book) -> Iterator[Check]:
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in book.rows("factors"):
        groups.setdefault((row["site_id"], row["method"], row["basis"]), []).append(row)
    for (site, method, basis), rows in sorted(groups.items()):
        selection: Selection = (("site_id", site), ("method", method), ("basis", basis))
        where = f"{site}, {method}, {basis}"
        energy = _sum(book, "factors", "energy_facility_kwh", selection)
        yield _pair(
            "Energy under the factors = energy of the emission rows", where, energy,
            _sum(book, "emissions", "energy_facility_kwh", selection),
        )  # fmt: skip
        emissions = _sum(book, "emissions", "emissions_kgco2e", selection)
        yield _pair(
            "Emissions of the factors in the ledger = emission rows", where,
            _sum(book, "factors", "emissions_kgco2e", selection), emissions,
        )  # fmt: skip
        if any(by_the_hour(row) for row in rows):
            continue
        product = sum(
            (
                row["energy_purchased_facility_kwh"]
                * Decimal(repr(float(row["intensity_gco2e_per_kwh_facility"])))
                / 1000
                for row in rows
                if row["energy_purchased_facility_kwh"] is not None
            ),
            ZERO,
        )
        columns = "factor_rows_energy_purchased_facility_kwh,factor_rows_intensity_gco2e_per_kwh_facility"
        where_used = _conditions(book, "factor_rows", selection)
        terms = ",".join(f"--EXACT({condition.column},{condition.value})" for condition in where_used)
        formula = f"SUMPRODUCT({terms},{columns})/1000"
        yield _pair("Energy bought × factor / 1000 = emission rows", where, (formula, product), emissions)


def _tiers_and_jobs(book: Book) -> Iterator[Check]:
    for column, words in (("chip_h", "chip-hours"), ("energy_chip_kwh", "chip energy")):
        yield _pair(
            f"Energy rows = coverage rows, {words}", "all sites", _sum(book, "energy", column),
            _sum(book, "coverage", column),
        )  # fmt: skip
    shown = _sum(book, "jobs", "energy_facility_kwh", (("owner_kind", "project"),))
    sums = {row["owner_kind"]: row["energy_facility_kwh"] or ZERO for row in book.rows("job_sums")}
    left = (f"{shown[0]}+jobs_not_shown_project_energy_facility_kwh", sums.get("project", ZERO))
    right = _sum(book, "energy", "energy_facility_kwh", (("owner_kind", "project"),))
    yield _pair("Jobs of projects, shown and not shown = facility energy of projects", "all sites", left, right)


def _reconciliation(book: Book) -> Iterator[Check]:
    for row in book.rows("reconciliation"):
        own = (("site_id", row["site_id"]), ("month", row["month"]))
        where = f"{row['site_id']}, {row['month']}"
        installed, read, owned = (
            row[name] for name in ("installed_chip_h", "read_energy_chip_kwh", "owned_energy_chip_kwh")
        )
        words = "Chip-hours of the rows = installed chip-hours"
        if installed is None:
            yield Check(words, where, not_applicable=f"{where}: no inventory")
        else:
            yield _pair(words, where, _sum(book, "energy", "chip_h", own), _ledger(installed))
        words = "Energy given to owners = energy of all readings, in the ledger"
        if read is None or owned is None:
            yield Check(words, where, not_applicable=f"{where}: no readings")
        else:
            yield _pair(words, where, _ledger(owned), _ledger(read))


def _counts(book: Book) -> Iterator[Check]:
    for name, column in (("energy", "month"), ("emissions", "month"), ("jobs", "owner_kind"), ("coverage", "tier"),
                         ("files", "file_name"), ("rejects", "row_number")):  # fmt: skip
        count = Decimal(len(book.tables[name].rows))
        spec = SHEETS[name]
        words = f"Rows on the sheet {spec.title} = rows that the ledger gave"
        yield _pair(words, spec.title, (f"COUNTA({spec.prefix}_{column})", count), _ledger(count))
