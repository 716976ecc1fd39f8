"""The report on a small ledger: acceptance checks of its contents, and exactness."""

import csv
import io
import json
import sys
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from report_fixture import MemoryLedger, empty_ledger, small_ledger

from energy import report
from energy.errors import ReportError, UnknownNameError
from energy.report import csv_twin, html, json_twin
from energy.report.build import build_from
from energy.report.explain import steps_of
from energy.report.facts import load_facts
from energy.report.model import ChartBlock, FigureBlock, TableBlock
from energy.report.period import Quarter

GOLDEN = Path(__file__).parents[1] / "golden" / "report_small.json"


@pytest.fixture(scope="module")
def ledger():
    with small_ledger() as reader:
        yield reader


@pytest.fixture(scope="module")
def built(ledger):
    return report.build(ledger, "2026Q1")


@pytest.fixture(scope="module")
def cells(built):
    return {cell.id: cell for cell in built.cells()}


@pytest.fixture(scope="module")
def page(built):
    return html.text(built)


def table(built, table_id):
    blocks = [block for section in built.sections for block in section.blocks]
    return next(block for block in blocks if isinstance(block, TableBlock) and block.id == table_id)


def rows_of(built, name):
    text = csv_twin.files(built)[f"{name}.csv"]
    return list(csv.DictReader(io.StringIO(text)))


def total(rows, column):
    return sum((Decimal(row[column]) for row in rows if row[column]), Decimal(0))


# --- acceptance check 1: every figure of page 1 is the sum of rows in the data twin ---
@pytest.mark.parametrize("end", ["", "_low", "_high"])
@pytest.mark.parametrize("boundary", ["it", "facility"])
def test_front_energy_is_the_sum_of_the_twin(built, cells, boundary, end):
    cell = cells[f"front.energy_{boundary}"]
    value = {"": cell.value, "_low": cell.low, "_high": cell.high}[end]
    assert value == total(rows_of(built, "energy_monthly"), f"energy_{boundary}{end}_kwh")


@pytest.mark.parametrize("method", ["location", "market", "hourly"])
def test_front_emissions_are_the_sum_of_the_twin(built, cells, method):
    rows = [row for row in rows_of(built, "emissions_monthly") if row["method"] == method]
    assert cells[f"front.scope2_{method}"].value == total(rows, "emissions_kgco2e")


def test_front_ratios_and_chip_hours_follow_from_the_twin(built, cells):
    rows = rows_of(built, "energy_monthly")
    facility, it = total(rows, "energy_facility_kwh"), total(rows, "energy_it_kwh")
    used = total([row for row in rows if row["owner_kind"] == "project"], "chip_h")
    assert abs(cells["front.pue"].value - facility / it) < Decimal("1e-11")
    assert cells["front.chip_hours_project"].value == used
    assert abs(cells["front.intensity_energy"].value - facility / used) < Decimal("1e-11")


def test_sums_are_exact_where_doubles_are_not(built, cells):
    values = [
        Decimal(row["energy_facility_kwh"]) for row in rows_of(built, "energy_monthly") if row["energy_facility_kwh"]
    ]
    assert cells["front.energy_facility"].value == sum(values)
    assert all(value.as_tuple().exponent >= -12 for value in values)


# --- acceptance check 2: parts with idle and unallocated equal the total ---
@pytest.mark.parametrize("name", ["by_project", "by_chip", "by_site", "by_month"])
@pytest.mark.parametrize("column", ["chip_hours", "energy_facility", "location", "market", "hourly"])
def test_rows_equal_the_total(cells, built, name, column):
    block = table(built, f"emissions.{name}")
    parts = [cells[f"{block.id}.{row.key}.{column}"].value or Decimal(0) for row in block.rows if row.kind == "row"]
    assert sum(parts) == cells[f"{block.id}.total.{column}"].value


def test_idle_and_unallocated_are_last_and_always_shown(built):
    keys = [row.key for row in table(built, "emissions.by_project").rows]
    assert keys[-3:] == ["idle", "unallocated", "total"]


def test_by_project_equals_section_5_by_site(cells):
    assert (
        cells["emissions.by_project.total.energy_facility"].value == cells["energy.by_site.total.energy_facility"].value
    )
    for site in ("lul", "phx"):
        one, other = cells[f"emissions.by_site.{site}.energy_facility"], cells[f"energy.by_site.{site}.energy_facility"]
        assert one.value == other.value


def test_a_project_named_idle_is_not_idle():
    with small_ledger(projects=("idle", "total")) as reader:
        ids = [cell.id for cell in report.build(reader, "2026Q1").cells()]
    assert "emissions.by_project.project:idle.location" in ids
    assert "emissions.by_project.idle.location" in ids
    assert len(ids) == len(set(ids))


# --- acceptance check 4: both methods wherever one is ---
def test_both_methods_stand_in_each_table_that_has_one(built):
    for section in built.sections:
        for block in section.blocks:
            if isinstance(block, TableBlock):
                keys = [column.key for column in block.columns]
                assert ("location" in keys) == ("market" in keys), block.id
                if "location" in keys:
                    assert keys.index("location") < keys.index("market")
            if isinstance(block, ChartBlock) and block.kind in ("method_bars", "lines"):
                assert [series.key for series in block.series] == ["location", "market"]
            if isinstance(block, FigureBlock):
                methods = [figure.method for figure in block.figures if figure.method in ("location", "market")]
                assert methods == ["location", "market"] * (len(methods) // 2)


# --- acceptance check 5: no factor without year and source ---
def test_each_factor_has_year_and_source(built, cells):
    origin = table(built, "factors.origin")
    assert {row.key for row in origin.rows} == {"se-loc-2024", "se-res-2023", "aznm-loc-2022", "aznm-hours-2024"}
    for row in origin.rows:
        for field in ("factor_year", "source", "publisher", "licence", "boundary"):
            assert cells[f"factors.origin.{row.key}.{field}"].value


def test_factors_come_by_share_of_emissions_and_old_ones_are_highlighted(built):
    rows = table(built, "factors.applied").rows
    emissions = [next(cell.value for cell in row.cells if cell.id.endswith(".emissions")) for row in rows]
    assert emissions == sorted(emissions, reverse=True)
    flags = {row.cells[0].value: row.flag for row in rows}
    assert flags == {
        "aznm-loc-2022": "older than two years", "se-res-2023": "older than two years",
        "se-loc-2024": "", "aznm-hours-2024": "",
    }  # fmt: skip


# --- acceptance check 6: same inputs, same bytes ---
def test_a_second_run_gives_the_same_bytes(tmp_path, built):
    with small_ledger() as reader:
        again = report.build(reader, "2026Q1")
    for folder, one in (("a", built), ("b", again)):
        report.write(one, tmp_path / folder)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["emissions_monthly.csv", "energy_monthly.csv", "report.csv", "report.html", "report.json"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_run_is_named_by_its_inputs_and_version(built):
    with small_ledger() as reader:
        reader.version = 4
        other = report.build(reader, "2026Q1")
    assert other.run_id != built.run_id
    assert len(built.run_id) == 12


def test_the_json_twin_equals_the_golden_file(built):
    """Read the difference, and when it is meant, write the file again: python tests/unit/test_report_build.py."""
    assert json_twin.text(built) == GOLDEN.read_text(encoding="utf-8")


# --- acceptance check 7: a gap in the readings shows on page 1 ---
def test_a_gap_shows_on_the_front_page(built, cells):
    lines = built.sections[0].blocks[0].lines
    gap = next(line for line in lines if "lul-1" in line)
    assert "2026-01-05 02:00 to 2026-01-05 04:00 UTC" in gap
    assert "16.0 chip-hours" in gap
    assert cells["data_quality.gaps.1.lost"].value == 16


def test_the_reservations_name_tiers_chips_factors_and_what_is_left_out(built):
    words = " ".join(built.sections[0].blocks[0].lines)
    for part in ("default power", "no known energy", "does not disclose", "older than the activity", "CO₂ only",
                 "mixes CO2 only+CO2e", "refused", "not in this report", "18 of 2\u202f160 hours"):  # fmt: skip
        assert part in words


# --- acceptance check 10: a quarter without rows says so ---
def test_an_empty_quarter_says_what_the_ledger_covers(ledger):
    empty = report.build(ledger, "2026Q2")
    assert empty.empty
    assert empty.sections[0].lead == "2026 Q2 has no rows. The ledger covers 5 Jan 2026 to 29 Mar 2026."
    assert "2026 Q2 has no rows." in html.text(empty)
    assert json_twin.document(empty)["empty"] is True


def test_an_empty_ledger_says_so():
    assert "no rows at all" in report.build(empty_ledger(), "2026Q1").sections[0].lead


@pytest.mark.parametrize("text", ["2026", "2026-Q1", "2026Q5", "Q1", ""])
def test_another_form_of_the_quarter_is_refused_with_those_held(ledger, text):
    with pytest.raises(ReportError, match=r"Write it as 2026Q1\. The ledger holds 2026Q1"):
        report.build(ledger, text)


# --- bases ---
def test_a_mix_of_bases_is_not_added_unless_it_is_named(built, cells):
    with small_ledger(basis_mix="") as reader:
        strict = report.build(reader, "2026Q1")
    found = {cell.id: cell for cell in strict.cells()}
    total_cell = found["scope2.by_site.total.market"]
    assert (total_cell.value, total_cell.mark) == (None, "not added")
    assert "basis_mix: CO2 only+CO2e" in total_cell.reason
    assert found["scope2.by_site.lul.market"].value == cells["scope2.by_site.lul.market"].value
    assert found["scope2.by_site.total.location"].value == cells["scope2.by_site.total.location"].value
    assert "not added" in html.text(strict)
    assert "The market total is not added" in " ".join(strict.sections[0].blocks[0].lines)


@pytest.mark.parametrize(("named", "is_added"), [("CO2+CO2e", False), ("CO2+CO2e, production+consumption", True)])
def test_production_and_consumption_are_a_mix_too(named, is_added):
    with small_ledger(basis_mix=named, residual_attribution="consumption") as reader:
        found = {cell.id: cell for cell in report.build(reader, "2026Q1").cells()}
    total_cell = found["scope2.by_site.total.market"]
    assert (total_cell.value is not None) == is_added
    if not is_added:
        assert total_cell.reason.endswith("basis_mix: production+consumption")


def test_the_share_of_each_basis_is_shown(built):
    bases = table(built, "scope2.bases")
    words = [row.cells[1].value for row in bases.rows if row.cells[0].value == "market"]
    assert words == ["direct, production, CO2 only", "direct, production, CO2e, AR5"]
    shares = [row.cells[4].value for row in bases.rows if row.cells[0].value == "market"]
    assert sum(shares) == 1


# --- missing is not zero ---
def test_missing_energy_is_no_data_with_its_reason(cells):
    missing = cells["data_quality.tiers.missing.energy_facility"]
    assert (missing.value, missing.mark) == (None, "no data")
    assert missing.reason
    chip = cells["energy.by_chip.undisclosed.energy_facility"]
    assert (chip.value, chip.mark) == (None, "no data")
    assert cells["data_quality.tiers.measured.energy_facility"].value == 0


def test_every_mark_has_a_reason(cells):
    assert all(cell.reason for cell in cells.values() if cell.mark)
    assert all(cell.mark for cell in cells.values() if cell.value is None)


def test_hourly_says_for_which_share_it_is(built):
    figures = next(block for block in built.sections[0].blocks if isinstance(block, FigureBlock)).figures
    hourly = next(figure for figure in figures if figure.method == "hourly")
    assert hourly.known.startswith("for 23")


# --- sample, files, rejects ---
def test_the_traced_lines_recompute(built):
    rows = table(built, "assurance.sample").rows
    assert len(rows) == 25
    assert {cell.value for row in rows for cell in row.cells if cell.id.endswith(".again")} == {"equal"}


def test_files_and_rejects_are_listed(built, cells):
    assert cells["assurance.files.1.sha256"].value == "1" * 64
    assert cells["assurance.rejects.1.rows"].value == 2
    assert cells["assurance.reject_examples.1.line"].value == 4


# --- html ---
VOID = {"meta", "link", "br", "img", "hr", "input"}
SELF_CLOSING = {"path", "rect", "circle"}


class Nesting(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.faults, self.ids, self.links, self.urls, self.drawings = [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.append(found["id"])
        if found.get("href", "").startswith("#"):
            self.links.append(found["href"][1:])
        self.urls += [value for name, value in attributes if name in ("src", "href") and value and value[0] != "#"]
        if tag == "svg":
            self.drawings.append(found)
        if tag not in VOID and tag not in SELF_CLOSING:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID and tag not in SELF_CLOSING:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in SELF_CLOSING:
            return
        if not self.open or self.open[-1] != tag:
            self.faults.append((tag, self.open[-3:]))
        else:
            self.open.pop()


def test_the_page_nests_and_loads_nothing(page):
    parser = Nesting()
    parser.feed(page)
    assert parser.faults == []
    assert parser.open == []
    assert parser.urls == []
    assert "http" not in page.replace("http-equiv", "")
    assert "@import" not in page
    assert len(parser.ids) == len(set(parser.ids))
    assert set(parser.links) <= set(parser.ids)


def test_every_chart_has_a_title_a_description_and_two_widths(page, built):
    charts = [block for section in built.sections for block in section.blocks if isinstance(block, ChartBlock)]
    assert {chart.kind for chart in charts} >= {"tier_bars", "method_bars", "heat", "strip"}
    for chart in charts:
        assert chart.alt.endswith(".")
        assert len(chart.alt) > 60
        for width in (720, 360):
            name = f"{chart.id.replace('.', '-')}-{width}"
            assert f'<title id="{name}-t">' in page
            assert f'<desc id="{name}-d">' in page


def test_tables_have_captions_and_scopes(page):
    assert page.count("<table") == page.count("<caption>")
    assert page.count('scope="row"') > 50
    assert '<html lang="en">' in page


def test_texts_of_the_ledger_are_escaped(page):
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page


def test_words_follow_the_guide(page):
    visible = page[page.index("<body>") :].lower()
    for word in ("carbon neutral", "sustainable", "savings of", "n/a", "approx", "~", "!<"):
        assert word not in visible
    assert "nan" not in visible.split()


# --- json and csv ---
def test_the_json_names_its_schema_and_has_no_float(built):
    document = json.loads(json_twin.text(built), parse_float=lambda text: pytest.fail(f"a float: {text}"))
    assert document["schema"] == "report/1"
    assert document["data"]["energy_monthly"]
    figure = document["sections"][0]["blocks"][1]["figures"][0]
    assert figure["id"] == "front.energy_facility"
    assert {"value", "unit", "low", "high", "known", "tier_shares"} <= set(figure)


def test_csv_has_units_and_every_value(built, cells):
    rows = list(csv.DictReader(io.StringIO(csv_twin.files(built)["report.csv"])))
    assert [row["cell_id"] for row in rows] == [cell.id for cell in built.cells()]
    facility = next(row for row in rows if row["cell_id"] == "front.energy_facility")
    assert facility["unit"] == "kWh_facility"
    assert Decimal(facility["value"]) == cells["front.energy_facility"].value


def test_only_asked_formats_are_written(tmp_path, built):
    assert [path.name for path in report.write(built, tmp_path, ("json",))] == ["report.json"]
    with pytest.raises(ReportError, match="html, json, csv"):
        report.write(built, tmp_path, ("pdf",))
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_nothing_is_left_half_written(tmp_path, built, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        report.write(built, tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- verify and explain ---
def test_verify_finds_nothing_in_an_honest_report(tmp_path, built, ledger):
    report.write(built, tmp_path, ("json",))
    assert report.verify(tmp_path / "report.json", ledger) == []


def test_verify_names_what_was_changed(tmp_path, built, ledger):
    path = report.write(built, tmp_path, ("json",))[0]
    document = json.loads(path.read_text(encoding="utf-8"))
    figure = document["sections"][0]["blocks"][1]["figures"][0]
    figure["value"] = str(Decimal(figure["value"]) + Decimal("0.000000000001"))
    document["data"]["energy_monthly"].pop()
    path.write_text(json.dumps(document), encoding="utf-8")
    found = report.verify(path, ledger)
    assert [item.id.split(".")[0] for item in found] == ["front", "data"]
    assert found[0].text.startswith("front.energy_facility: reported ")
    assert found[1].reported is None


def test_verify_says_when_the_ledger_has_changed(tmp_path, built):
    path = report.write(built, tmp_path, ("json",))[0]
    with small_ledger() as reader:
        reader.version = 4
        reader.connection.execute(
            "UPDATE core.energy_hour SET energy_chip_kwh = energy_chip_kwh + 1 WHERE owner = 'bio'"
        )
        ids = {item.id for item in report.verify(path, reader)}
    assert {"ledger_version", "run_id", "front.energy_facility", "emissions.by_project.bio.location"} <= ids
    assert "emissions.by_project.llm-pretrain.location" not in ids


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "estimate/1", "quarter": "2026Q1"}'])
def test_verify_refuses_another_file(tmp_path, ledger, text):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError, match="is not a report"):
        report.verify(path, ledger)
    with pytest.raises(ReportError, match="cannot be read"):
        report.verify(tmp_path / "absent.json", ledger)


def test_explain_goes_from_the_readings_to_the_factor(ledger, cells):
    steps = report.explain("front.scope2_market", ledger)
    subtotals = [step.step for step in steps if step.subtotal]
    assert subtotals == ["Chip energy", "IT energy", "Facility energy", "Scope 2, market"]
    assert steps[-1].cell.value == cells["front.scope2_market"].value
    factor = next(step for step in steps if step.step == "× factor at Luleå")
    for part in ("Example agency", "made up for tests", "edition 1", "year 2023", "direct", "licence CC0"):
        assert part in factor.source
    assert all(step.status for step in steps)


@pytest.mark.parametrize("end", ["energy_facility", "energy_it", "pue", "intensity_location", "chip_hours_idle"])
def test_explain_ends_at_the_value_itself(ledger, cells, end):
    assert report.explain(f"front.{end}", ledger, "2026Q1")[-1].cell.value == cells[f"front.{end}"].value


def test_explain_of_a_part_ends_at_the_part(ledger, cells):
    name = "emissions.by_project.bio.location"
    steps = report.explain(name, ledger)
    assert steps[-1].cell.value == cells[name].value
    assert [step.step for step in steps if step.step.startswith("× factor")] == ["× factor at Phoenix"]


def test_the_way_back_of_every_value_ends_at_the_value(ledger):
    facts = load_facts(ledger, Quarter(2026, 1))
    for cell in build_from(facts).cells():
        steps = steps_of(cell, facts)
        assert (steps[-1].cell.value, steps[-1].cell.mark) == (cell.value, cell.mark), cell.id
        assert all(step.value for step in steps)


def test_explain_names_the_nearest_values(ledger):
    with pytest.raises(UnknownNameError, match=r"Nearest: front\.energy_facility"):
        report.explain("front.enrgy_facility", ledger)
    with pytest.raises(ReportError, match="2026 Q2 has no rows"):
        report.explain("front.pue", ledger, "2026Q2")
    with pytest.raises(ReportError, match="no rows at all"):
        report.explain("front.pue", empty_ledger())


# --- earlier quarters ---
def test_a_part_of_an_earlier_quarter_is_nothing_to_compare_with():
    with small_ledger() as reader:
        _as_earlier_quarter(reader)
        figures = next(
            b for b in report.build(reader, "2026Q1").sections[0].blocks if isinstance(b, FigureBlock)
        ).figures
        assert all(figure.changes == () for figure in figures)


def test_changes_stand_beside_figures_when_the_earlier_quarter_is_whole(monkeypatch):
    monkeypatch.setattr("energy.report.period.Held.whole", lambda self, quarter: quarter.key in self.quarters)
    with small_ledger() as reader:
        _as_earlier_quarter(reader)
        built = report.build(reader, "2026Q1")
    figures = next(block for block in built.sections[0].blocks if isinstance(block, FigureBlock)).figures
    facility = next(figure for figure in figures if figure.cell.id == "front.energy_facility")
    assert [words for words, _ in facility.changes] == ["on 2025\u202fQ4"]
    assert facility.changes[0][1].endswith("\u202f%")
    assert built.sections[0].lead.startswith("Against 2025 Q4: facility energy ")
    assert "on 2025\u202fQ4" in html.text(built)


def test_quarters_are_drawn_as_lines(monkeypatch):
    monkeypatch.setattr("energy.report.period.Held.whole", lambda self, quarter: quarter.key in self.quarters)
    with small_ledger() as reader:
        _as_earlier_quarter(reader)
        reader.connection.execute("UPDATE ref.calendar_hour SET quarter = '2025Q3' WHERE month = '2026-02'")
        built = report.build(reader, "2026Q1")
        chart = next(block for block in built.sections[0].blocks if isinstance(block, ChartBlock))
    assert (chart.kind, chart.categories) == ("lines", ("2025 Q3", "2025 Q4", "2026 Q1"))
    assert "2025 Q3" in html.text(built)


def _as_earlier_quarter(reader: MemoryLedger) -> None:
    """Call the hours of January another quarter."""
    reader.connection.execute("UPDATE ref.calendar_hour SET quarter = '2025Q4' WHERE month = '2026-01'")


# --- the ledger is asked once ---
def test_each_monthly_view_is_asked_once():
    with small_ledger() as reader:
        reader.asked.clear()
        report.build(reader, "2026Q1")
        asked = [
            sql for sql in reader.asked if "FROM main.energy_monthly" in sql or "FROM main.emissions_monthly" in sql
        ]
        assert len(asked) == 2
        assert all("quarter = ?" in sql for sql in asked)


def test_facts_never_mix_methods(ledger):
    facts = load_facts(ledger, Quarter(2026, 1))
    for method in facts.methods:
        assert {row["method"] for row in facts.emission_rows(method)} == {method}


def test_the_day_with_23_hours_is_named(built):
    heat = next(b for s in built.sections for b in s.blocks if isinstance(b, ChartBlock) and b.kind == "heat")
    hours = {series.key: series.values[heat.categories.index("2026-03-29")] for series in heat.series}
    assert hours["01"] is None
    assert hours["00"] is not None
    assert hours["02"] is not None


if __name__ == "__main__":
    with small_ledger() as golden_ledger:
        GOLDEN.write_text(json_twin.text(report.build(golden_ledger, "2026Q1")), encoding="utf-8")
