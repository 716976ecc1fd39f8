"""The SQL page: what is refused and in which words, units of results, links, downloads, charts."""

from __future__ import annotations

import csv
import io
import json

import pytest
from app_helpers import markup, words

from energy.ledger.saved_queries import saved_queries
from energy.report.numbers import THIN
from energy.ui import sql_chart, sql_run, sql_view

PAGE = "sql.py"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


def asked(test, text):
    """Type a query and run it."""
    test.text_area(key="sql.text").set_value(text)
    return next(button for button in test.button if button.label == "Run").click().run()


@pytest.fixture(scope="module")
def opened(small_ledger):
    from energy.ledger import Ledger

    class Opened:
        key = ("folder", 1, 1)

        def __init__(self, ledger):
            self.ledger = ledger

    with Ledger(small_ledger) as ledger:
        yield Opened(ledger)


def test_every_saved_query_answers_with_units(start, small_ledger):
    test = start(small_ledger, PAGE)
    for query in saved_queries():
        test.selectbox(key="sql.saved").set_value(query.id).run()
        seen = plain(test)
        assert not test.exception, query.id
        assert "rows from ledger version" in seen, query.id
        assert " ".join(query.note.replace("`", "").split()) in seen, query.id
        assert test.text_area(key="sql.text").value.strip() == query.sql


def test_the_unit_stands_under_the_name_of_each_column(start, small_ledger):
    seen = markup(start(small_ledger, PAGE, saved="three-boundaries"))
    for name, unit in (("energy_chip_mwh", "MWh_chip"), ("energy_it_mwh", "MWh_it"), ("pue", "kWh_facility/kWh_it")):
        assert f"<code>{name}</code><br>{unit}" in seen


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("DELETE FROM jobs", "Only SELECT is allowed. Line 1, column 1: DELETE."),
        ("SELECT 1;\nDROP TABLE jobs", "DROP"),
        ("SELECT *\nFROM job", "Nearest: jobs"),
        ("SELECT energy_it_kwh + chip_h AS x FROM energy_hourly", "Cannot add"),
        ("SELECT sum(pue) FROM energy_hourly", "sum(pue * energy_it_kwh) / sum(energy_it_kwh)"),
        ("SELECT * FROM read_csv('/etc/passwd')", "not allowed"),
        ("", ""),
        ("SELEC", "Line 1"),
        ("SELECT '\x00'", ""),
    ],
)
def test_what_is_refused_is_said_in_a_line_and_the_query_stays(start, small_ledger, text, said):
    test = asked(start(small_ledger, PAGE), text)
    assert not test.exception
    seen = plain(test)
    assert said in seen
    assert "could not be computed" not in seen
    assert test.text_area(key="sql.text").value == text


def test_an_error_shows_its_place_in_the_query(start, small_ledger):
    test = asked(start(small_ledger, PAGE), "SELECT month,\n  energy_it_kwh + chip_h AS x\nFROM energy_hourly")
    code = test.code[0].value
    assert code.splitlines()[0] == "  energy_it_kwh + chip_h AS x"
    assert code.splitlines()[1].strip() == "^"


def test_a_query_without_end_is_stopped(start, small_ledger, monkeypatch):
    monkeypatch.setattr(sql_run, "TIMEOUT_S", 0.3)
    test = asked(start(small_ledger, PAGE), "SELECT count(*) AS row_count FROM range(1000000000000) AS t(x)")
    assert "Stopped after 0.3 s" in plain(test)
    assert "energy sql --timeout" in plain(test)


def test_a_long_result_is_cut_for_the_screen_and_whole_in_the_download(opened, monkeypatch):
    monkeypatch.setattr(sql_run, "ROW_LIMIT", 25)
    answer = sql_run.run(opened, "SELECT range AS n FROM range(1000)")
    assert (answer.result.row_count, answer.result.total_rows) == (25, 1000)
    whole = list(csv.reader(io.StringIO(sql_run.file_of(opened, answer, "csv").decode())))
    assert len(whole) == 1001
    assert len(json.loads(sql_run.file_of(opened, answer, "json"))["rows"]) == 1000


def test_what_is_too_large_for_one_kind_of_file_is_not_offered_as_it(start, small_ledger, opened, monkeypatch):
    text = "SELECT repeat('x', 9000) AS x FROM range(20000)"
    assert sql_run.kinds_of(sql_run.run(opened, text).result) == (("parquet",), ("csv", "json"))
    test = asked(start(small_ledger, PAGE), text)
    assert "too many for a download as CSV and JSON" in plain(test)


def test_the_screen_says_how_many_rows_there_are(start, small_ledger, monkeypatch):
    monkeypatch.setattr(sql_run, "ROW_LIMIT", 25)
    test = asked(start(small_ledger, PAGE), "SELECT range AS n FROM range(1000)")
    assert "The first 25 of 1 000 rows are shown. The download has all." in plain(test)


def test_parquet_carries_units_and_exact_values(opened):
    import pyarrow.parquet

    answer = sql_run.run(opened, "SELECT site_id, energy_it_kwh FROM energy_monthly ORDER BY ALL")
    table = pyarrow.parquet.read_table(io.BytesIO(sql_run.file_of(opened, answer, "parquet")))
    assert table.schema.field("energy_it_kwh").metadata[b"unit"] == b"kWh_it"
    assert table["energy_it_kwh"].to_pylist() == [row[1] for row in answer.result.rows()]


def test_the_json_is_the_command_line_s(opened, small_ledger):
    from typer.testing import CliRunner

    from energy.cli import app

    text = "SELECT site_id, month, energy_it_kwh FROM energy_monthly ORDER BY ALL LIMIT 5"
    printed = CliRunner().invoke(app, ["sql", text, "--ledger", str(small_ledger), "--json"]).stdout
    ours = json.loads(sql_run.file_of(opened, sql_run.run(opened, text), "json"))
    assert ours == json.loads(printed)


def test_what_is_not_checked_is_said(start, small_ledger):
    seen = plain(asked(start(small_ledger, PAGE), "SELECT [1, 2] AS x, unnest([1]) AS y FROM jobs LIMIT 1"))
    assert "Not checked: x, y" in seen


def test_names_may_repeat(start, small_ledger):
    seen = plain(asked(start(small_ledger, PAGE), "SELECT chip_h, chip_h FROM jobs"))
    assert "two columns have one name" in seen
    assert "could not be computed" not in seen


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'inf'::DOUBLE AS a, 'nan'::DOUBLE AS b, 1e300 AS c, NULL AS d, TRUE AS e",
        "SELECT * FROM jobs WHERE false",
        "EXPLAIN SELECT * FROM jobs",
        "DESCRIBE jobs",
        "SHOW TABLES",
        "SUMMARIZE jobs",
        "SELECT '<b>bold</b>' AS html, repeat('x', 9000) AS long",
        "SELECT INTERVAL 1 DAY AS a, DATE '2026-01-01' AS b, {'k': 1} AS c, 'x'::BLOB AS d, TIME '12:00' AS e",
        "SELECT *, hour_utc AS again FROM energy_hourly LIMIT 200",
        "SELECT 170141183460469231731687303715884105727::HUGEINT AS a FROM range(30)",
        "SELECT 'inf'::DOUBLE AS a, NULL AS b, {'k': [1]} AS c FROM range(30)",
    ],
)
def test_odd_results_are_shown(start, small_ledger, text):
    test = asked(start(small_ledger, PAGE), text)
    seen = words(test)
    assert "could not be computed" not in seen
    assert "<b>bold</b>" not in markup(test)


# --- links ---
def test_a_link_holds_the_query_and_the_page_says_that_it_ran(start, small_ledger):
    text = "SELECT month, sum(chip_h) AS chip_h FROM energy_monthly GROUP BY month"
    test = start(small_ledger, PAGE, q=text)
    assert test.text_area(key="sql.text").value == text
    assert "This query came with the link and was run" in plain(test)
    assert test.query_params["q"] == text
    assert test.selectbox(key="sql.saved").value == ""


def test_a_link_to_an_unknown_saved_query_names_the_nearest(start, small_ledger):
    test = start(small_ledger, PAGE, saved="top-job", v="0.1")
    assert "No saved named top-job. Nearest: top-jobs" in plain(test)
    assert "rows from ledger version" in plain(test)


def test_a_link_that_asks_to_delete_is_refused(start, small_ledger):
    seen = plain(start(small_ledger, PAGE, q="DROP TABLE jobs"))
    assert "Only SELECT is allowed. Line 1, column 1: DROP." in seen


def test_a_query_too_long_for_a_link_says_so(start, small_ledger):
    text = "SELECT 1 AS n -- " + "x" * 3000
    test = asked(start(small_ledger, PAGE), text)
    assert "3 017 characters; a link holds up to 2 000" in plain(test)
    assert "q" not in test.query_params


def test_an_own_query_leaves_the_saved_one(start, small_ledger):
    test = asked(start(small_ledger, PAGE, saved="top-jobs"), "SELECT 1 AS n")
    assert test.selectbox(key="sql.saved").value == ""
    assert test.query_params["q"] == "SELECT 1 AS n"


def test_earlier_queries_come_back(start, small_ledger):
    test = asked(start(small_ledger, PAGE), "SELECT 1 AS first_one")
    test = asked(test, "SELECT 2 AS second_one")
    test.selectbox(key="sql.history").set_value(1).run()
    assert test.text_area(key="sql.text").value == "SELECT 1 AS first_one"
    assert "first_one" in words(test)


# --- charts ---
def test_a_chart_stands_in_the_link_and_has_its_unit(start, small_ledger):
    test = start(small_ledger, PAGE, saved="energy-with-idle-share", y="energy_facility_mwh", x="owner")
    assert "energy_facility_mwh by owner" in plain(test)
    spec = json.loads(test.get("plotly_chart")[0].proto.spec)
    assert spec["layout"]["xaxis"]["title"]["text"] == "MWh_facility"


def test_a_link_s_chart_of_a_column_that_is_not_there_is_named(start, small_ledger):
    test = start(small_ledger, PAGE, saved="energy-with-idle-share", y="energy_facility_mw")
    assert "No y named energy_facility_mw. Nearest: energy_facility_mwh" in plain(test)


def test_several_rows_for_one_name_are_not_added_nor_drawn(opened):
    result = sql_run.run(opened, "SELECT method, month, emissions_kgco2e FROM emissions_monthly").result
    assert "several rows for" in sql_chart.refusal(result, "month")


def test_a_chart_s_text_names_extremes_and_gaps():
    text = sql_chart.alternative("month", "energy_it_kwh", "kWh_it", ["a", "b", "c"], [3.0, None, 1.0], line=False)
    assert text == (
        "Horizontal bars of energy_it_kwh (kWh_it) by month, 3 rows. Lowest 1 at c, highest 3 at a. "
        "In 1 of them there is no data."
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_an_instant_across_gives_a_line_and_negative_values_are_inside(opened, sign):
    text = (
        f"SELECT hour_utc, {sign} * sum(chip_h) AS x FROM energy_hourly GROUP BY hour_utc ORDER BY hour_utc LIMIT 100"
    )
    result = sql_run.run(opened, text).result
    across, values = sql_chart.axes(result)
    assert ([one.name for one in across], [one.name for one in values]) == (["hour_utc"], ["x"])
    heights = [float(row[1]) for row in result.rows()]
    low, high = sql_chart._span(heights, 1.05)["range"]
    assert low <= min(0.0, *heights) <= max(0.0, *heights) <= high


def test_the_browser_of_views_names_every_column_with_its_unit():
    from energy.schema import TABLES
    from energy.ui.sql_schema import html, unit_words

    seen = html()
    for table in TABLES.values():
        for column in table.columns:
            assert f"<code>{column.field.name}</code> {unit_words(column.field)}" in seen


def test_html_of_a_result_marks_missing_values(opened):
    result = sql_run.run(opened, "SELECT NULL::DOUBLE AS a, 'x' AS b").result
    assert '<td class="num muted">no data</td>' in sql_view.html(result)
