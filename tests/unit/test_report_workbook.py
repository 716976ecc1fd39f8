"""The workbook: formulas give their cached values and the report's, follow a changed row, and never add too much."""

import hashlib
import io
import os
import subprocess
import sys
import time
import zipfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from hypothesis import given
from hypothesis import strategies as st
from report_fixture import empty_ledger, small_ledger
from workbook_reader import Book

from energy import report
from energy.errors import ReportError
from energy.report import json_twin, workbook
from energy.report.facts import load_facts
from energy.report.model import TableBlock
from energy.report.period import Quarter
from energy.report.workbook.cells import Keys, clean_text
from energy.report.workbook.formulas import plain_keys
from energy.report.workbook.rows import ledger_tables

GOLDEN = Path(__file__).parents[1] / "golden" / "workbook_small.txt"
SHEETS = ["Summary", "Read me", "Checks", "Energy rows", "Emission rows", "Factors", "Jobs", "Coverage", "Files",
          "Rejects", "Settings", "Glossary"]  # fmt: skip
ROW_SHEETS = SHEETS[3:]
ODD_PROJECTS = (
    "=1+1",
    "a*",
    "A*",
    "1e3",
    "1000",
    ">5",
    "@x",
    "+cmd|' /C calc'!A0",
    "mar-26",
    "x\x01",
    "x\\x01",
    "TRUE",
)


@pytest.fixture(scope="module")
def built():
    with small_ledger() as reader:
        made = report.build(reader, "2026Q1")
        yield made, workbook.content(made)


@pytest.fixture(scope="module")
def book(built):
    return Book(built[1])


def content_of(projects=("llm-pretrain", "bio"), basis_mix="CO2+CO2e", change=None):
    with small_ledger(projects=projects, basis_mix=basis_mix) as reader:
        if change:
            reader.connection.execute(change)
        made = report.build(reader, "2026Q1")
        return made, workbook.content(made)


def close(left, right):
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return abs(left - right) <= 1e-9 * max(1, abs(right))
    return left == right


def wrong(book):
    """Return each formula whose value is not the cached one."""
    return [
        (sheet, cell, formula, book.cached[sheet][cell].value, book.value(sheet, cell))
        for sheet, cell, formula in book.all_formulas()
        if not close(book.value(sheet, cell), book.cached[sheet][cell].value)
    ]


def find(sheet, text, column=1):
    return next(row for row in range(1, sheet.max_row + 1) if sheet.cell(row, column).value == text)


def column_of(sheet, head):
    return next(cell.column for cell in sheet[2] if cell.value == head)


# --- formulas ---
def test_every_formula_gives_its_cached_value(book):
    assert len(book.all_formulas()) > 250
    assert wrong(book) == []


def test_figures_are_formulas_that_equal_the_json_twin(built, book):
    cells = {cell.id: cell for cell in built[0].cells()}
    summary = book.formulas["Summary"]
    seen = 0
    for row in range(1, summary.max_row + 1):
        cell = cells.get(summary.cell(row, 2).value)
        if cell is None:
            continue
        for column, exact in ((4, cell.value), (5, cell.low), (6, cell.high)):
            place = summary.cell(row, column)
            if exact is not None:
                assert place.data_type == "f", place.coordinate
                assert close(book.value("Summary", place.coordinate), float(exact)), cell.id
                seen += 1
            else:
                assert place.data_type != "f"
    assert seen > 20


def test_tables_are_formulas_that_equal_the_json_twin(built, book):
    tables = {b.caption: b for s in built[0].sections for b in s.blocks if isinstance(b, TableBlock)}
    summary, seen = book.formulas["Summary"], 0
    for caption in ("By month", "By site", "By chip", "By project"):
        line = find(summary, caption) + 2
        for row in tables[caption].rows:
            cells = {column.key: cell for column, cell in zip(tables[caption].columns, row.cells, strict=True)}
            places = {"chip_hours": 3, "energy_facility": 4, "location": 8, "market": 11, "hourly": 14}
            for key, column in places.items():
                ends = [cells[key].value, cells[key].low, cells[key].high][: 1 if key == "chip_hours" else 3]
                for shift, exact in enumerate(ends):
                    place = summary.cell(line, column + shift)
                    if exact is not None:
                        assert place.data_type == "f"
                        assert close(book.value("Summary", place.coordinate), float(exact)), (caption, row.key, key)
                        seen += 1
            line += 1
    assert seen > 100


@pytest.mark.parametrize(
    "name", ["energy_facility_kwh", "energy_facility_low_kwh", "emissions_location_kgco2e", "pue", "all_checks"]
)
def test_totals_have_names(book, name):
    assert book.named(name)


def test_a_changed_row_changes_totals_and_fails_its_checks(built):
    book = Book(built[1])
    sheet = book.formulas["Energy rows"]
    cell = sheet.cell(3, column_of(sheet, "Facility energy, kWh_facility"))
    before = book.named("energy_facility_kwh")
    assert book.named("all_checks") == "OK"
    book.change("Energy rows", cell.coordinate, cell.value + 5)
    assert book.named("energy_facility_kwh") == pytest.approx(before + 5, rel=1e-12)
    assert book.named("all_checks") == "differs"


def test_a_changed_emission_row_fails_its_checks(built):
    book = Book(built[1])
    sheet = book.formulas["Emission rows"]
    cell = sheet.cell(3, column_of(sheet, "Emissions, kgCO₂e"))
    book.change("Emission rows", cell.coordinate, cell.value * 1.001)
    checks = book.formulas["Checks"]
    bad = [
        checks.cell(row, 1).value
        for row in range(8, checks.max_row + 1)
        if book.value("Checks", f"F{row}") == "differs"
    ]
    assert "Facility energy × factor / 1000 = emission rows" in " ".join(bad) or len(bad) >= 2
    assert book.named("all_checks") == "differs"


def test_a_lost_row_fails_the_checks(built):
    book = Book(built[1])
    for cell in book.formulas["Coverage"][3]:
        book.change("Coverage", cell.coordinate, None)
    assert book.named("all_checks") == "differs"


def test_an_error_in_a_check_is_not_taken_for_agreement(built):
    book = Book(built[1])
    book.change("Checks", "F9", "#VALUE!")
    assert book.named("all_checks") == "differs"


# --- keys that a spreadsheet would confuse, and texts that it would run ---
def test_odd_projects_stay_text_and_stay_apart():
    odd = ODD_PROJECTS
    for first, second in zip(odd[::2], odd[1::2], strict=True):
        made, content = content_of(projects=(first, second))
        book = Book(content)
        assert wrong(book) == []
        assert book.named("all_checks") == "OK"
        tables = {b.id: b for s in made.sections for b in s.blocks if isinstance(b, TableBlock)}
        summary = book.formulas["Summary"]
        line = find(summary, "By project") + 2
        for row in tables["emissions.by_project"].rows:
            assert close(book.value("Summary", f"D{line}"), float(row.cells[2].value)), row.key
            assert summary.cell(line, 1).data_type == "s"
            line += 1


def test_no_text_of_the_ledger_becomes_a_formula_or_a_link():
    _, content = content_of(projects=('=HYPERLINK("http://x")', "http://example.org"))
    book = Book(content)
    for sheet, cell, formula in book.all_formulas():
        assert "HYPERLINK" not in formula, (sheet, cell)
    names = {row[3].value: row[3] for row in book.formulas["Energy rows"].iter_rows(min_row=3)}
    assert names['=HYPERLINK("http://x")'].data_type == "s"
    assert names['=HYPERLINK("http://x")'].quotePrefix
    assert names["http://example.org"].hyperlink is None


@given(st.lists(st.text(max_size=6), max_size=8, unique=True))
def test_labels_of_keys_are_as_many_as_the_keys(keys):
    made = Keys({"owner_key": keys})
    assert len({made.label("owner_key", key) for key in keys}) == len(keys)


@given(st.text(alphabet=st.characters(), max_size=50))
def test_every_cleaned_text_is_xml(text):
    ElementTree.fromstring("<a>" + clean_text(text).translate({38: "&amp;", 60: "&lt;", 62: "&gt;"}) + "</a>")


@given(st.lists(st.sampled_from(["a", "A", "ａ", "a ", "a*", "1", "b1", "b-1", "b-c", "true", "x.y"]), unique=True))
def test_sumifs_gets_only_keys_that_it_tells_apart(keys):
    plain = plain_keys(keys)
    assert not plain & {"a*", "1", "true", "b1", "b-1", "a ", "ａ"}
    assert ("a" in plain) == ("a" in keys and not {"A", "ａ", "a "} & set(keys))


def test_a_long_text_is_cut_and_says_so():
    _, content = content_of(change="UPDATE raw.rejects SET row_text = repeat('x', 40000)")
    cell = Book(content).formulas["Rejects"]["F3"].value
    assert len(cell) <= 32767
    assert "cut here" in cell


# --- what must not be added, what is missing ---
def test_what_the_report_does_not_add_is_not_added_here():
    made, content = content_of(basis_mix="")
    book = Book(content)
    assert {cell.id: cell.mark for cell in made.cells()}["front.scope2_market"] == "not added"
    summary = book.formulas["Summary"]
    line = find(summary, "front.scope2_market", 2)
    assert [summary.cell(line, column).value for column in (4, 5, 6)] == ["not added"] * 3
    line = find(summary, "By site") + 4
    assert summary.cell(line, 1).value == "Total"
    assert summary.cell(line, 11).value == "not added"
    words = " ".join(str(summary.cell(row, 1).value) for row in range(1, summary.max_row + 1))
    assert "basis_mix" in words
    # No formula adds the market method over sites of different bases.
    apart = {"lul", "phx"}
    for sheet, cell, formula in book.all_formulas():
        if '"market"' in formula and "emissions_kgco2e" in formula.split(",")[0]:
            assert any(key in formula for key in apart) or "$B" in formula, (sheet, cell, formula)
    assert wrong(book) == []
    assert book.named("all_checks") == "OK"


def test_missing_energy_is_an_empty_cell_never_zero(book):
    sheet = book.formulas["Energy rows"]
    tier, energy = column_of(sheet, "Tier"), column_of(sheet, "Facility energy, kWh_facility")
    missing = [row for row in sheet.iter_rows(min_row=3) if row[tier - 1].value == "missing"]
    assert missing
    assert all(row[energy - 1].value is None for row in missing)


def test_no_data_on_summary_is_words_with_a_reason(built, book):
    by_chip = find(book.formulas["Summary"], "undisclosed", 2)
    assert book.value("Summary", f"D{by_chip}") == "no data"
    assert book.value("Summary", f"G{by_chip}") == "not applicable"


# --- form ---
def test_sheets_headers_units_and_print(book):
    assert book.formulas.sheetnames == SHEETS
    for title in ROW_SHEETS:
        sheet = book.formulas[title]
        assert sheet.freeze_panes == "B3"
        assert sheet.auto_filter.ref
        assert sheet.print_title_rows == "$1:$2"
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert not sheet.merged_cells.ranges
    for title in ("Energy rows", "Emission rows", "Jobs", "Coverage", "Factors"):
        for cell in book.formulas[title][2]:
            column = book.formulas[title].iter_cols(cell.column, cell.column, 3, 12, values_only=True)
            if any(isinstance(value, float) for value in next(column)):
                assert ", " in cell.value, (title, cell.value)


def test_months_are_dates_and_instants_are_utc(book):
    assert book.formulas["Energy rows"]["A3"].value == datetime(2026, 1, 1)
    jobs = book.formulas["Jobs"]
    assert jobs.cell(3, column_of(jobs, "Start, UTC")).value == datetime(2026, 1, 5)


def test_properties_have_the_reporting_date_and_no_clock(built, book):
    found = book.formulas.properties
    assert found.title == "Carbon report, 2026 Q1"
    assert found.created == datetime(2026, 3, 31)
    with zipfile.ZipFile(io.BytesIO(built[1])) as archive:
        for info in archive.infolist():
            assert info.date_time[0] == 1980
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert f"{time.gmtime().tm_year}-{time.gmtime().tm_mon:02}-{time.gmtime().tm_mday:02}T".encode() not in text


def test_read_me_names_the_run_and_the_twin(built, book):
    sheet = book.formulas["Read me"]
    words = {sheet.cell(row, 1).value: sheet.cell(row, 2).value for row in range(1, sheet.max_row + 1)}
    assert words["Run"] == built[0].run_id
    assert words["SHA-256 of report.json"] == hashlib.sha256(json_twin.text(built[0]).encode()).hexdigest()
    assert set(book.names) - {"_xlnm._FilterDatabase"} <= set(words)


def test_jobs_beyond_the_limit_are_counted_and_added_up():
    with small_ledger() as reader:
        facts = load_facts(reader, Quarter(2026, 1))
        made = report.build(reader, "2026Q1")
        few = type(made)(**{name: getattr(made, name) for name in made.__dataclass_fields__} | {
            "rows": lambda: ledger_tables(facts, job_limit=1, reject_limit=1)
        })  # fmt: skip
        book = Book(workbook.content(few))
    assert wrong(book) == []
    assert book.named("all_checks") == "OK"
    assert "Shown 1 of 4 lines" in book.formulas["Jobs"]["A1"].value
    assert "Shown 1 of 2" in book.formulas["Rejects"]["A1"].value
    shown = sum(book.named("jobs_energy_facility_kwh"))
    left = [book.named(f"jobs_not_shown_{kind}_energy_facility_kwh") for kind in ("project", "unallocated")]
    with small_ledger() as reader:
        whole = reader.rows("SELECT sum(energy_facility_kwh) AS kwh FROM main.jobs WHERE quarter = '2026Q1'")[0]["kwh"]
    assert close(shown + sum(left), float(whole))


def test_an_empty_quarter_says_so():
    ledger = empty_ledger()
    book = Book(workbook.content(report.build(ledger, "2026Q1")))
    ledger.connection.close()
    assert book.formulas.sheetnames == ["Read me"]
    assert "no rows" in " ".join(str(row[1].value) for row in book.formulas["Read me"].iter_rows())


def test_a_closed_ledger_is_a_stated_error(tmp_path):
    with small_ledger() as reader:
        made = report.build(reader, "2026Q1")
    with pytest.raises(ReportError, match="while the ledger is open"):
        report.write(made, tmp_path, ("xlsx",))
    assert list(tmp_path.iterdir()) == []


# --- the same bytes ---
SCRIPT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from report_fixture import small_ledger
from energy import report
from energy.report import workbook
with small_ledger() as reader:
    print(hashlib.sha256(workbook.content(report.build(reader, "2026Q1"))).hexdigest())
"""


def test_the_same_bytes_in_other_processes(built):
    wanted = hashlib.sha256(built[1]).hexdigest()
    for seed, zone, language in (("1", "Pacific/Auckland", "C"), ("77", "America/St_Johns", "de_DE.UTF-8")):
        environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language, "LANG": language}
        found = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(Path(__file__).resolve().parents[1])],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert found.stdout.strip() == wanted


# --- what a reviewer reads ---
def listing(book):
    out = []
    for sheet in book.formulas:
        out.append(f"== {sheet.title}: {sheet.dimensions}")
        rows = range(1, sheet.max_row + 1) if sheet.title in ("Summary", "Checks", "Factors") else range(1, 4)
        for row in rows:
            for cell in sheet[row]:
                if cell.value is None or (sheet.title == "Read me" and row > 1):
                    continue
                shown = f"  -> {book.cached[sheet.title][cell.coordinate].value}" if cell.data_type == "f" else ""
                out.append(f"{cell.coordinate}: {cell.value}{shown}")
    out.append("== Names")
    out += [f"{name}: {book.names[name]}" for name in sorted(book.names)]
    return "\n".join(out) + "\n"


def test_the_listing_is_the_golden_one(book):
    found = listing(book)
    if os.environ.get("ENERGY_UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    known = GOLDEN.read_text(encoding="utf-8")
    assert found == known, (
        "renew with ENERGY_UPDATE_GOLDEN=1 pytest tests/unit/test_report_workbook.py and read the difference"
    )


def test_exact_totals_of_the_report_are_reached_to_the_tolerance(built, book):
    total = {cell.id: cell.value for cell in built[0].cells()}["front.energy_facility"]
    assert isinstance(total, Decimal)
    assert abs(Decimal(repr(book.named("energy_facility_kwh"))) - total) < Decimal("1e-9")


def test_the_example_writes_the_workbook(small_ledger):
    content = (small_ledger / "report" / "report.xlsx").read_bytes()
    book = Book(content)
    assert book.cached["Summary"]["B5"].value == "OK"
    assert wrong(book) == []
    assert book.named("all_checks") == "OK"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE core.energy_hour SET energy_chip_kwh = NULL, energy_chip_low_kwh = NULL, energy_chip_high_kwh = NULL",
        "DELETE FROM core.factor_hour",
        "DELETE FROM core.factor_hour WHERE site_id = 'lul' AND method = 'market'",
        "DELETE FROM core.installed_hour",
        "DELETE FROM core.job",
        "DELETE FROM core.energy_hour WHERE owner_kind <> 'idle'",
        "DELETE FROM raw.batch",
        "UPDATE core.energy_hour SET energy_chip_kwh = 0, energy_chip_low_kwh = 0, energy_chip_high_kwh = 0",
        "UPDATE core.site SET site_name = 'One name'",
    ],
)
def test_a_ledger_with_gaps_gives_a_workbook_whose_formulas_hold(change):
    made, content = content_of(change=change)
    book = Book(content)
    assert wrong(book) == []
    texts = [cell.value for sheet in book.cached for row in sheet.iter_rows() for cell in row]
    assert not [text for text in texts if isinstance(text, str) and text.lower() in ("nan", "inf")]
    cells = {cell.id: cell for cell in made.cells()}
    line = find(book.formulas["Summary"], "front.energy_facility", 2)
    value = cells["front.energy_facility"].value
    assert book.value("Summary", f"D{line}") == ("no data" if value is None else pytest.approx(float(value)))


def test_energy_without_a_factor_fails_the_check_of_cover():
    _, content = content_of(change="DELETE FROM core.factor_hour WHERE site_id = 'lul' AND method = 'market'")
    book = Book(content)
    checks = book.formulas["Checks"]
    line = find(checks, "Market covers all facility energy")
    assert book.value("Checks", f"F{line}") == "differs"
    assert book.named("all_checks") == "differs"
    assert book.cached["Summary"]["B5"].value == "differs"
