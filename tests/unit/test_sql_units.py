"""Units of SQL: what right queries give, what wrong ones say and where, and that every view keeps its declaration."""

import time
from pathlib import Path

import duckdb
import pytest

from energy.errors import SqlUnitError
from energy.ledger import unit_check
from energy.ledger.unit_check import MACRO_STATEMENTS, check_view, infer
from energy.schema import TABLES, table
from energy.schema.ddl import create_table

SQL_FOLDER = Path(unit_check.__file__).parents[1] / "sql"
VIEWS = sorted(path.stem for path in SQL_FOLDER.glob("*.sql"))
JOBS = "FROM core.job AS job JOIN ref.chip_power AS power USING (chip_id)"
HOURS = "FROM energy_hourly e JOIN core.factor_hour f ON f.site_id = e.site_id AND f.hour_utc = e.hour_utc"
SECONDS = "date_diff('second', start_utc, end_utc)"

# Query -> unit of each column; None: no unit (text, key, instant); "?": not checked.
RIGHT = [
    ("SELECT owner, energy_it_kwh FROM energy_monthly", [None, "kWh_it"]),
    ("SELECT Energy_IT_kWh AS E FROM Energy_Monthly", ["kWh_it"]),
    ("SELECT main.energy_monthly.chip_h FROM main.energy_monthly", ["chip*h"]),
    ("SELECT sum(energy_it_kwh) / 1000 AS energy_it_mwh FROM energy_monthly", ["MWh_it"]),
    ("SELECT sum(energy_it_kwh) / 1e3 AS mwh FROM energy_monthly", ["MWh_it"]),
    ("SELECT sum(energy_it_kwh) * 3.6 AS total_mj FROM energy_monthly", ["MJ_it"]),
    ("SELECT round(sum(energy_it_kwh) / (10 * 100), 1)::double AS x_mwh FROM energy_monthly", ["MWh_it"]),
    (f"SELECT sum(power_chip_w * chip_count * {SECONDS}) / 3.6e6 AS energy_chip_kwh {JOBS}", ["kWh_chip"]),
    (f"SELECT sum(power_chip_w * chip_count * {SECONDS}) / (60 * 60) / 1000 AS energy_chip_kwh {JOBS}", ["kWh_chip"]),
    (f"SELECT chip_count * {SECONDS} / 3600 AS job_chip_h, avg(power_chip_w) OVER () AS p "
     f"{JOBS}", ["chip*h", "W_chip/chip"]),
    ("SELECT sum(pue * energy_it_kwh) / sum(energy_it_kwh) AS pue FROM energy_hourly", ["kWh_facility/kWh_it"]),
    ("SELECT sum(energy_facility_kwh) / nullif(sum(energy_it_kwh), 0) FROM energy_hourly", ["kWh_facility/kWh_it"]),
    ("SELECT sum(energy_facility_kwh / pue) AS energy_it_kwh FROM energy_hourly", ["kWh_it"]),
    ("SELECT min(pue), max(pue), median(pue), quantile_cont(pue, 0.9) FROM energy_hourly", ["kWh_facility/kWh_it"] * 4),
    ("SELECT any_value(pue), arg_max(pue, hour_utc), arg_max(host, pue), first(pue ORDER BY hour_utc) "
     "FROM energy_hourly",
     ["kWh_facility/kWh_it", "kWh_facility/kWh_it", None, "kWh_facility/kWh_it"]),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY energy_it_kwh), stddev(energy_it_kwh), "
     "sqrt(variance(energy_it_kwh)) FROM energy_hourly", ["kWh_it", "kWh_it", "kWh_it"]),
    ("SELECT count(*), count(DISTINCT host), row_number() OVER () FROM energy_hourly GROUP BY month", ["", "", ""]),
    ("SELECT count(DISTINCT device_key) AS chip_count FROM core.device", ["chip"]),
    ("SELECT 100 * sum(covered_chip_h) / sum(chip_h) AS share_pct, sum(covered_chip_h) / sum(chip_h) "
     "FROM jobs", ["%", ""]),
    ("SELECT sum(tier = 'measured'), avg((tier = 'measured')::int) FROM energy_hourly", ["", ""]),
    ("SELECT coalesce(sum(CASE WHEN tier = 'missing' THEN chip_h ELSE 0 END), 0) FROM energy_hourly", ["chip*h"]),
    ("SELECT if(tier = 'measured', energy_it_kwh, NULL), greatest(energy_it_kwh, 0), "
     "abs(-energy_it_kwh) FROM energy_hourly",
     ["kWh_it", "kWh_it", "kWh_it"]),
    ("SELECT energy_it_kwh - lag(energy_it_kwh, 1, 0) OVER (PARTITION BY host ORDER BY hour_utc) AS d "
     "FROM energy_hourly",
     ["kWh_it"]),
    ("SELECT sum(energy_it_kwh) OVER w FROM energy_hourly WINDOW w AS (PARTITION BY host)", ["kWh_it"]),
    ("SELECT date_diff('hour', start_utc, end_utc), epoch(end_utc - start_utc), end_utc - start_utc FROM core.job",
     ["h", "s", None]),
    ("SELECT date_trunc('day', hour_utc), extract(hour FROM hour_utc), strftime(hour_utc, '%Y'), upper(owner) || 'x' "
     "FROM energy_hourly", [None] * 4),
    ("WITH a AS (SELECT month, sum(energy_it_kwh) AS e FROM energy_monthly GROUP BY month), b AS "
     "(SELECT sum(e) AS e FROM a) "
     "SELECT a.e / b.e AS share, a.e - b.e FROM a, b", ["", "kWh_it"]),
    ("WITH RECURSIVE r(n, e_kwh) AS (SELECT 1, energy_it_kwh FROM energy_monthly UNION ALL "
     "SELECT n + 1, e_kwh * 2 FROM r WHERE n < 5) SELECT n, e_kwh FROM r", ["", "kWh_it"]),
    ("SELECT month, energy_it_kwh FROM energy_monthly UNION ALL SELECT 'none', 0", [None, "kWh_it"]),
    ("SELECT energy_it_kwh / 1000 AS x_mwh FROM energy_monthly UNION ALL SELECT energy_it_kwh / 1e3 "
     "FROM energy_monthly",
     ["MWh_it"]),
    ("SELECT energy_it_kwh FROM energy_monthly UNION BY NAME SELECT month, energy_it_kwh FROM energy_monthly",
     ["kWh_it", None]),
    ("SELECT energy_it_kwh AS a, a * 2 AS b, a + b AS c FROM energy_hourly", ["kWh_it"] * 3),
    ("SELECT host FROM energy_hourly h WHERE energy_it_kwh > (SELECT avg(energy_it_kwh) FROM energy_hourly x "
     "WHERE x.host = h.host)", [None]),
    ("SELECT a.energy_it_kwh - b.energy_it_kwh AS d, month FROM energy_monthly a JOIN energy_monthly b USING (month)",
     ["kWh_it", None]),
    ("FROM energy_monthly SELECT energy_it_kwh", ["kWh_it"]),
    ("SELECT * EXCLUDE (job_key) FROM (SELECT job_key, chip_h, pue FROM "
     "energy_hourly)", ["chip*h", "kWh_facility/kWh_it"]),
    ("SELECT t.a FROM (SELECT energy_it_kwh FROM energy_hourly) AS t(a)", ["kWh_it"]),
    ("SELECT energy_facility_kwh - counted_at_facility(energy_it_kwh) AS overhead_kwh FROM "
     "energy_hourly", ["kWh_facility"]),
    ("SELECT as_purchased(intensity_gco2e_per_kwh_generation) FROM ref.factor", ["gCO2e/kWh_facility"]),
    ("WITH p AS (SELECT 1.2 AS pue) SELECT sum(energy_it_kwh * p.pue) FROM energy_monthly, p", ["kWh_facility"]),
    ("SELECT month, method, sum(emissions_kgco2e) / 1000 AS emissions_tco2e FROM emissions_monthly GROUP BY ALL",
     [None, None, "tCO2e"]),
    ("SELECT sum(emissions_kgco2e) FROM emissions_monthly WHERE month = '2026-01' AND method = 'location'", ["kgCO2e"]),
    ("SELECT sum(emissions_kgco2e) FILTER (WHERE method = 'market'), sum(CASE method WHEN 'location' "
     "THEN emissions_kgco2e END) "
     "FROM emissions_monthly", ["kgCO2e", "kgCO2e"]),
    ("SELECT sum(a.emissions_kgco2e) FROM emissions_monthly a JOIN emissions_monthly b USING (month, method) "
     "GROUP BY method", ["kgCO2e"]),
    (f"SELECT sum(energy_facility_kwh) {HOURS} AND f.method = 'location'", ["kWh_facility"]),
    ("SELECT sum(sum(emissions_kgco2e)) OVER (PARTITION BY method ORDER BY month) FROM emissions_monthly "
     "GROUP BY month, method", ["kgCO2e"]),
    ("SELECT m.method, (SELECT sum(e.emissions_kgco2e) FROM emissions_monthly e WHERE e.method = m.method) "
     "FROM emissions_quarterly m", [None, "kgCO2e"]),
    ("SELECT sum(emissions_kgco2e) / sum(energy_facility_kwh) * 1000 AS intensity_gco2e_per_kwh_facility "
     "FROM emissions_monthly WHERE method IN ('location')", ["gCO2e/kWh_facility"]),
]  # fmt: skip

NOT_CHECKED = [
    (
        "SELECT list(energy_it_kwh), [1, 2], {'a': 1}, list_transform([1], lambda x: x + 1) FROM energy_hourly",
        ["?"] * 4,
    ),
    ("SELECT COLUMNS('energy.*') FROM energy_hourly", ["?"]),
    ("PIVOT energy_monthly ON month USING sum(energy_it_kwh)", ["?"]),
    ("SELECT quantile_cont(pue, [0.1, 0.9]), some_function(pue) FROM energy_hourly", ["?", "?"]),
    ("SELECT r.range, energy_it_kwh FROM range(10) AS r, energy_hourly", ["?", "kWh_it"]),
    ("SELECT table_name FROM information_schema.tables", ["?"]),
    ("DESCRIBE energy_hourly", ["?"]),
]

# A § stands before the place that the message must name.
WRONG = [
    ("SELECT §energy_facility_kwh + emissions_kgco2e FROM emission_lines", "Cannot add kWh_facility and kgCO2e"),
    ("SELECT owner,\n       1 + 2,\n       §e.energy_it_kwh - e.energy_facility_kwh\nFROM energy_hourly "
     "e", "Cannot subtract"),
    ("SELECT §energy_it_kwh + 5 FROM energy_hourly", "a bare number: give the number its unit"),
    ("SELECT coalesce(pue, §1.2) FROM energy_hourly", "a bare number"),
    ("SELECT CASE WHEN tier = 'x' THEN energy_it_kwh ELSE §'n/a' END FROM energy_hourly", "kWh_it and a text"),
    ("SELECT greatest(energy_it_kwh, §energy_chip_kwh) FROM energy_hourly", "Cannot compare kWh_it and kWh_chip"),
    ("SELECT sum(energy_it_kwh) AS §energy_it_mwh FROM energy_monthly", "divide by 1000"),
    ("SELECT sum(energy_it_kwh) / 1000 AS §total_gwh FROM energy_monthly", "divide by 1e\\+06"),
    ("SELECT energy_it_kwh AS §energy_facility_kwh FROM energy_monthly", "multiply by PUE"),
    ("SELECT count(*) AS §chips_h FROM energy_hourly", "says h, the expression is a bare number"),
    ("SELECT host AS §pue FROM energy_hourly", "the expression is a text"),
    (f"SELECT sum(power_chip_w * chip_count * {SECONDS}) / 1000 AS §energy_chip_kwh {JOBS}", "divide by 3.6e\\+06"),
    ("WITH a AS (SELECT month, energy_it_kwh * 1 AS §e_kgco2e FROM energy_monthly) SELECT 1 FROM a", "says kgCO2e"),
    ("SELECT §sum(pue) FROM energy_hourly", r"sum\(pue \* energy_it_kwh\) / sum\(energy_it_kwh\)"),
    ("SELECT §avg(pue) FROM energy_hourly", r"ratio, its plain mean is wrong: write sum\(pue \* energy_it_kwh\)"),
    ("SELECT §avg(energy_facility_kwh / energy_it_kwh) FROM energy_hourly", "divide the sums"),
    ("SELECT §sum(node_overhead * pue) FROM energy_hourly", "may not be summed"),
    ("SELECT avg(power_chip_w), §sum(power_chip_w) FROM ref.chip_power", "may not be summed"),
    ("SELECT §sum(chip_count) FROM core.job", "rows overlap"),
    ("SELECT §sum(job_key) FROM jobs", "key or year"),
    ("SELECT sum(x) FROM (SELECT §sum(intensity_gco2e_per_kwh_facility) AS x FROM "
     "emission_lines)", "may not be summed"),
    ("SELECT month, §sum(emissions_kgco2e) FROM emissions_monthly GROUP BY month", "Methods are never added"),
    ("SELECT §sum(e) FROM (SELECT month, sum(emissions_kgco2e) AS e FROM emissions_monthly GROUP BY month, method)",
     "no longer say which"),
    ("SELECT method, §sum(chip_h) FROM emissions_monthly GROUP BY ROLLUP (method)", "Methods are never added"),
    (f"SELECT §sum(e.energy_facility_kwh) {HOURS}", "Methods are never added"),
    ("SELECT §sum(CASE WHEN method = 'market' THEN emissions_kgco2e WHEN method = 'location' THEN "
     "emissions_kgco2e END) "
     "FROM emissions_monthly", "Methods are never added"),
    ("SELECT month, §sum(sum(emissions_kgco2e)) OVER (ORDER BY month) FROM emissions_monthly GROUP BY month, method",
     "PARTITION BY"),
    ("SELECT §sum((SELECT sum(e.emissions_kgco2e) FROM emissions_monthly e WHERE e.method = m.method)) "
     "FROM emissions_quarterly m", "Methods are never added"),
    ("SELECT host FROM energy_hourly\nWHERE tier = 'measured' AND §energy_it_kwh > "
     "chip_h", "Cannot compare kWh_it and chip"),
    ("SELECT count(*) FILTER (WHERE §energy_it_kwh > energy_chip_kwh) FROM energy_hourly", "node overhead"),
    ("SELECT month FROM energy_monthly GROUP BY month HAVING §sum(energy_it_kwh) > sum(chip_h)", "Cannot compare"),
    ("SELECT a.pue FROM energy_hourly a JOIN core.pue_hour b ON §a.energy_it_kwh = b.pue", "Cannot compare"),
    ("SELECT host FROM energy_hourly WHERE §energy_it_kwh BETWEEN 0 AND chip_h", "Cannot compare"),
    ("SELECT host FROM energy_hourly WHERE §energy_it_kwh IN (SELECT energy_chip_kwh FROM "
     "energy_hourly)", "Cannot compare"),
    ("SELECT host FROM energy_hourly h WHERE EXISTS (SELECT 1 FROM core.job j\nWHERE §j.energy_chip_kwh "
     "> h.energy_it_kwh)",
     "Cannot compare"),
    ("SELECT host FROM energy_hourly ORDER BY §energy_it_kwh + chip_h", "Cannot add"),
    ("SELECT host FROM energy_hourly QUALIFY rank() OVER (ORDER BY §energy_it_kwh + chip_h) = 1", "Cannot add"),
    ("SELECT energy_it_kwh FROM energy_monthly UNION ALL\nSELECT §energy_facility_kwh FROM "
     "energy_monthly", "multiply by PUE"),
    ("SELECT energy_it_kwh AS a_kwh FROM energy_monthly UNION ALL SELECT energy_it_kwh / 1000 AS §b_gwh "
     "FROM energy_monthly",
     "divide by 1e\\+06"),
    ("SELECT month FROM energy_monthly UNION ALL SELECT §month, energy_it_kwh FROM energy_monthly", "1 and 2 columns"),
    ("SELECT ln(energy_it_kwh / energy_it_kwh), §ln(energy_it_kwh) FROM energy_hourly", "divide by a reference value"),
    ("SELECT §counted_at_facility(energy_facility_kwh) FROM energy_hourly", "upwards only"),
    ("SELECT §as_purchased(intensity_gco2e_per_kwh_facility) FROM ref.factor", "takes a factor per kWh_generation"),
    ("SELECT pue,\n  §mont FROM energy_hourly", "No column named mont. Nearest: month"),
    ("SELECT §e.mont FROM energy_hourly e", "No column named mont in e"),
    ("SELECT pue FROM §energy_houly", "Nearest: energy_hourly"),
    ("SELECT pue FROM §core.pue_hours", "Nearest: core.pue_hour"),
    ("SELECT §x.pue FROM energy_hourly e", "No table or alias named x"),
    ("SELECT §host FROM energy_hourly a JOIN energy_hourly b ON a.month = b.month", "write a.host"),
    ("SELECT pue FROM energy_hourly JOIN core.pue_hour USING (§nope)", "nope"),
    ("SELECT pue FROM energy_hourly WHERE §AND", "Not readable as SQL"),
    ("SELECT (1 + 2 §FROM energy_hourly", r"Expecting \)"),
    ("SELECT pue FROM energy_hourly\nWHERE host = §'abc", "not closed"),
    ("SELECT pue FROM energy_hourly; SELECT §1", "One query is wanted"),
]  # fmt: skip


def view_sql(name):
    return (SQL_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def one_basis(sql, *tables):
    """Infer as in a ledger whose factors of each method stand on one basis, or on a mix that is named."""
    return infer(sql, *tables, mixed=frozenset())


def shown(column):
    return {"checked": column.unit, "no unit": None, "not checked": "?"}[column.status]


@pytest.mark.parametrize(("sql", "expected"), RIGHT + NOT_CHECKED)
def test_right_queries_have_their_units(sql, expected):
    assert [shown(column) for column in one_basis(sql)] == expected


@pytest.mark.parametrize(("marked", "message"), WRONG)
def test_wrong_queries_say_where_and_why(marked, message):
    before, after = marked.split("§")
    with pytest.raises(SqlUnitError, match=message) as caught:
        one_basis(before + after)
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert (caught.value.line, caught.value.column) == place


@pytest.fixture(scope="module")
def database():
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    for layer in ("raw", "ref", "core"):
        connection.execute(f"CREATE SCHEMA {layer}")
    for found in TABLES.values():
        connection.execute(
            create_table(found) if found.kind == "table" else f"CREATE VIEW {found.full_name} AS {view_sql(found.name)}"
        )
    for statement in MACRO_STATEMENTS:
        connection.execute(statement)
    yield connection
    connection.close()


@pytest.mark.parametrize(("sql", "expected"), [case for case in RIGHT + NOT_CHECKED if "some_function" not in case[0]])
def test_the_queries_of_this_page_run(database, sql, expected):
    rows = database.execute(sql)
    if "?" not in expected:
        assert len(rows.description) == len(expected)
    rows.fetchall()


def test_names_and_additivity_come_back_as_written():
    columns = one_basis(
        "SELECT Method, count(*), sum(emissions_kgco2e) AS Total, max(pue) AS p FROM emissions_monthly "
        "JOIN energy_hourly USING (month) GROUP BY Method"
    )
    assert [column.name for column in columns] == ["Method", "COUNT(*)", "Total", "p"]
    assert [column.additive for column in columns] == ["not a number", "yes", "within method", "no"]


def test_a_filter_on_the_method_makes_columns_summable():
    inner = "SELECT month, emissions_kgco2e AS e FROM emissions_monthly WHERE method = 'location'"
    assert one_basis(inner)[1].additive == "yes"
    assert one_basis(f"SELECT sum(e) FROM ({inner})")[0].unit == "kgCO2e"


def test_a_literal_factor_without_a_name_stays_open():
    (column,) = one_basis("SELECT sum(energy_it_kwh) / 1000 AS x FROM energy_monthly")
    assert (column.unit, column.status) == (None, "not checked")
    assert "kWh_it or MWh_it" in column.note
    # A plain multiple has just one spelling, so nothing is open.
    assert one_basis("SELECT sum(energy_it_kwh) / 2 AS x FROM energy_monthly")[0].unit == "kWh_it"


def test_the_message_is_as_promised():
    with pytest.raises(SqlUnitError) as caught:
        one_basis(
            "WITH leak AS (SELECT 1.0 AS a_kg) SELECT chip_h,\n             energy_facility_kwh + a_kg FROM jobs, leak"
        )
    assert str(caught.value) == "Cannot add kWh_facility and kg. Line 2, column 14."


def test_own_tables_may_be_given():
    own = {"main.thing": table("core.pue_hour"), "core.pue_hour": table("core.pue_hour")}
    assert one_basis("SELECT pue FROM core.pue_hour", own)[0].unit == "kWh_facility/kWh_it"
    with pytest.raises(SqlUnitError, match="No table or view named energy_hourly"):
        one_basis("SELECT pue FROM energy_hourly", own)


def test_it_takes_milliseconds():
    sql = (
        "SELECT month, sum(energy_it_kwh) / 1000 AS energy_it_mwh FROM energy_monthly WHERE tier <> 'x' GROUP BY month"
    )
    one_basis(sql)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        one_basis(sql)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.02  # measured 0.001; the margin is for busy machines


# --- views ---


def test_every_declared_view_has_a_file_and_every_file_a_declaration():
    assert sorted(VIEWS) == sorted(found.name for found in TABLES.values() if found.kind == "view")


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_gives_what_is_declared(name):
    columns = check_view(table(f"main.{name}"), view_sql(name))
    assert [column.name for column in columns] == [column.field.name for column in table(f"main.{name}").columns]
    assert "not checked" not in {column.status for column in columns}


# View -> what is replaced, by what, and what the message says.
BROKEN = {
    "coverage": ("sum(energy_chip_kwh)", "sum(energy_it_kwh)", "kWh_it"),
    "device_coverage": ("sum(energy_chip_microj) / 3600000000000", "sum(energy_chip_microj) / 3600000", "divide by"),
    "emission_lines": ("line.energy_facility_kwh *", "line.energy_it_kwh *", "multiply by PUE"),
    "emissions_hourly": ("AS emissions_kgco2e", "AS emissions_tco2e", "says tCO2e"),
    "emissions_by_scope": ("emissions_kgco2e,\n", "energy_facility_kwh AS emissions_kgco2e,\n", "emissions_kgco2e"),
    "emissions_monthly": ("/ 1000 * 1e12", "/ 100 * 1e12", "divide by 1000"),
    "emissions_quarterly": ("category, method, basis\n", "category, basis\n", "Methods are never added"),
    "energy_hourly": ("node_overhead * site_hour.pue AS", "node_overhead * site_hour.pue * site_hour.pue AS", "twice"),
    "energy_monthly": ("sum(energy_it_low_kwh)", "avg(energy_it_low_kwh)", "summable: yes, the query gives: no"),
    "factors_used": ("intensity_gco2e_per_kwh_facility / 1000", "intensity_gco2e_per_kwh_facility", "divide by 1000"),
    "instruments": ("left_facility_mwh,", "criterion_1 AS left_facility_mwh,", "left_facility_mwh"),
    "market_coverage": ("covered_facility_mwh,", "emissions_kgco2e AS covered_facility_mwh,", "covered_facility_mwh"),
    "upstream_factors": ("    basis,", "    upstream_gco2e_per_kwh_facility AS basis,", "basis"),
    "jobs": ("THEN chip_h ELSE", "THEN energy_chip_kwh ELSE", "covered_chip_h says chip"),
    "reconciliation": ("3600000000000", "3600000000", "divide by"),
    "site_hourly": ("hourly.intensity_gco2e_per_kwh_facility AS", "site_hour.pue AS", "says gCO2e"),
    "supply_hourly": ("supply.grid_facility_kwh,", "supply.grid_share AS grid_facility_kwh,", "says kWh_facility"),
    "water_hourly": ("line.energy_it_kwh * site_water", "line.energy_facility_kwh * site_water", "water_withdrawn_l"),
    "water_monthly": ("sum(water_consumed_l)", "avg(water_consumed_l)", "summable: yes, the query gives: no"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_broken_copy_of_each_view_is_refused(name):
    old, new, message = BROKEN[name]
    sql = view_sql(name)
    broken = sql.replace(old, new)
    assert broken != sql
    with pytest.raises(SqlUnitError, match=message) as caught:
        check_view(table(f"main.{name}"), broken)
    assert caught.value.line > 1


def test_a_factor_that_contradicts_no_name_is_not_seen():
    # A thousandth of it in kg, or the same in t? The name says kg, so the checker must believe it: docs/sql_units.md.
    sql = view_sql("emissions_monthly").replace("sum(emissions_kgco2e)", "sum(emissions_kgco2e) / 1000")
    assert check_view(table("main.emissions_monthly"), sql)


COVERAGE = "SELECT month, quarter, site_id, chip_id, owner_kind, tier, chip_h, energy_chip_kwh FROM main.energy_hourly"
UNFIT = [
    (COVERAGE.replace("month, quarter", "§quarter, month"), "month is declared, the query gives quarter"),
    (COVERAGE.replace(", energy_chip_kwh", "").replace("chip_h", "§chip_h"), "lacks energy_chip_kwh"),
    (COVERAGE.replace("energy_chip_kwh", "energy_chip_kwh, §host"), "host is not declared"),
    (COVERAGE.replace("chip_h,", "§odd(chip_h) AS chip_h,"), "odd"),
    ("SELECT §* FROM main.coverage", r"not use \*"),
    ("§FROM main.coverage", r"not use \*"),
    (f"{COVERAGE} GROUP BY ALL", "GROUP BY ALL"),
    (f"{COVERAGE} QUALIFY row_number() OVER (ORDER BY month) = 1", "QUALIFY"),
    (f"{COVERAGE} ASOF JOIN §core.pue_hour AS p ON energy_hourly.hour_utc >= p.hour_utc", "kind ASOF"),
    (COVERAGE.replace("chip_h,", "§list(chip_h) AS chip_h,"), "a list"),
    (COVERAGE.replace("chip_h,", "§{'a': chip_h} AS chip_h,").replace("§{'a': chip_h", "{'a': §chip_h"), "a struct"),
    (COVERAGE.replace("chip_h,", "list_transform(chip_h, lambda §x: x) AS chip_h,"), "a lambda"),
    (COVERAGE.replace("chip_h,", "COLUMNS('chip_h'),"), "COLUMNS"),
    (COVERAGE.replace("chip_h,", "§fsum(chip_h) AS chip_h,"), "DECIMAL"),
    (COVERAGE.replace("chip_h,", "§epoch(hour_utc - hour_utc) AS chip_h,"), "epoch"),
    (f"{COVERAGE} PIVOT (sum(chip_h) FOR month IN ('2026-01'))", "PIVOT"),
    ("SELECT range AS month FROM §range(3)", "a table function"),
    ("§SHOW TABLES", "must be one query"),
    (COVERAGE.replace("tier, chip_h", "tier, energy_chip_kwh AS §chip_h"), "says chip"),
    (COVERAGE.replace("owner_kind", "chip_h AS §owner_kind"), "declared without unit, the query gives chip"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "message"), UNFIT)
def test_views_use_the_portable_subset_and_the_declared_columns(marked, message):
    sql = marked.replace("§", "")
    with pytest.raises(SqlUnitError, match=message) as caught:
        check_view(table("main.coverage"), sql)
    if "§" in marked:
        assert (caught.value.line, caught.value.column) == (1, marked.index("§") + 1)


def test_an_expression_is_summed_within_its_method_only_if_the_view_says_so():
    with pytest.raises(SqlUnitError, match="summable: yes, the query gives: within method"):
        check_view(table("main.coverage"), COVERAGE.replace("energy_hourly", "emission_lines").replace(
            "energy_chip_kwh", "NULL AS energy_chip_kwh"
        ))  # fmt: skip


# --- bases: a sum of emissions keeps to one, unless the ledger says that they agree or names the mix ---
RANKED = (
    "SELECT place, §sum(e.energy_facility_kwh * f.location_gco2e_per_kwh_facility) FROM energy_hourly AS e JOIN "
    "(SELECT site_id, hour_utc, location_gco2e_per_kwh_facility, {} AS place FROM site_hourly) AS f "
    "USING (site_id, hour_utc) GROUP BY place"
)
ALL_BASES = "location_basis, market_basis, hourly_basis, matched_basis"
KEPT = [
    RANKED.replace("§", "").format(f"dense_rank() OVER (ORDER BY site_id, {ALL_BASES})"),
    "SELECT basis, sum(emissions_kgco2e) FROM emissions_monthly WHERE method = 'market' GROUP BY basis",
    "SELECT method, basis, avg(emissions_kgco2e) FROM emissions_monthly GROUP BY ALL",
    "SELECT sum(emissions_kgco2e) FROM emissions_monthly WHERE method = 'market' AND basis = 'direct, CO2e'",
    "SELECT sum(emissions_kgco2e) FILTER (basis = 'x' AND method = 'market') FROM emissions_monthly",
    "SELECT sum(e) FROM (SELECT emissions_kgco2e AS e FROM emissions_monthly WHERE method = 'market' AND basis = 'x')",
    "SELECT basis, sum(e) FROM (SELECT basis, method, sum(emissions_kgco2e) AS e FROM emissions_monthly "
    "GROUP BY basis, method) WHERE method = 'market' GROUP BY basis",
    "SELECT sum(emissions_kgco2e) OVER (PARTITION BY method, basis) FROM emissions_monthly",
    "SELECT sum(l.emissions_kgco2e - m.emissions_kgco2e) FROM emissions_monthly AS l JOIN emissions_monthly AS m "
    "ON l.basis = m.basis WHERE l.method = 'market' AND m.method = 'market' AND m.basis = 'x'",
    "SELECT sum(CASE basis WHEN 'x' THEN emissions_kgco2e END) FROM emissions_monthly WHERE method = 'market'",
    "SELECT method, sum(energy_facility_kwh) FROM emissions_monthly GROUP BY method",
    "SELECT sum(energy_facility_kwh) FROM energy_hourly",
    "SELECT max(emissions_kgco2e), min(intensity_gco2e_per_kwh_facility) FROM emission_lines",
]
ADDED = [
    ("SELECT method, §sum(emissions_kgco2e) FROM emissions_quarterly GROUP BY method", "Add basis to GROUP BY"),
    ("SELECT §sum(emissions_kgco2e) FROM emission_lines WHERE method = 'market'", "filter to one, or name the mix"),
    ("SELECT §avg(emissions_kgco2e) FROM emission_lines WHERE method = 'market'", "Bases are not added"),
    ("SELECT §sum(emissions_kgco2e) FILTER (method = 'market') FROM emission_lines", "Bases are not added"),
    ("SELECT §sum(e) FROM (SELECT sum(emissions_kgco2e) AS e FROM emissions_monthly WHERE method = 'market' "
     "GROUP BY basis)", "no longer say which"),
    ("SELECT §sum(emissions_kgco2e) OVER (PARTITION BY method) FROM emissions_monthly", "Add basis to PARTITION BY"),
    ("SELECT §sum(e.energy_facility_kwh * f.intensity_gco2e_per_kwh_facility) FROM energy_hourly AS e "
     "JOIN core.factor_hour AS f USING (site_id, hour_utc) WHERE f.method = 'market'", "no longer say which"),
    ("SELECT §sum(l.emissions_kgco2e + m.emissions_kgco2e) FROM emissions_monthly AS l JOIN emissions_monthly AS m "
     "USING (month) WHERE l.method = 'market' AND m.method = 'market' AND l.basis = 'x'", "Bases are not added"),
    ("SELECT §sum(CASE WHEN basis = 'x' THEN emissions_kgco2e WHEN basis = 'y' THEN emissions_kgco2e END) "
     "FROM emissions_monthly WHERE method = 'market'", "Bases are not added"),
    ("SELECT §sum(emissions_kgco2e) / 1000 AS emissions_tco2e FROM emissions_monthly WHERE method = 'market' "
     "GROUP BY month", "Bases are not added"),
    (RANKED.format("dense_rank() OVER (ORDER BY site_id)"), "no longer say which"),
    (RANKED.format("dense_rank() OVER (ORDER BY location_basis)"), "no longer say which"),
    (RANKED.format(f"row_number() OVER (ORDER BY {ALL_BASES})"), "no longer say which"),
    (RANKED.format(f"dense_rank() OVER (PARTITION BY site_id ORDER BY {ALL_BASES})"), "no longer say which"),
]  # fmt: skip


@pytest.mark.parametrize("sql", KEPT)
def test_sums_that_keep_to_one_basis_are_right(sql):
    assert infer(sql)
    assert infer(sql, mixed=frozenset({"market"}))


@pytest.mark.parametrize(("marked", "message"), ADDED)
def test_sums_over_several_bases_are_refused_where_the_ledger_has_them(marked, message):
    before, after = marked.split("§")
    for mixed in (None, frozenset({"market"})):
        with pytest.raises(SqlUnitError, match=message) as caught:
            infer(before + after, mixed=mixed)
        assert (caught.value.line, caught.value.column) == (1, len(before) + 1)
    assert infer(before + after, mixed=frozenset())


def test_a_method_of_one_basis_may_be_summed_beside_a_mixed_one():
    mixed = frozenset({"market"})
    for sql in (
        "SELECT sum(emissions_kgco2e) FROM emissions_monthly WHERE method = 'location'",
        "SELECT sum(emissions_kgco2e) FILTER (method = 'location') FROM emissions_monthly",
        "SELECT sum(CASE WHEN method = 'location' THEN emissions_kgco2e END) FROM emissions_monthly",
        "SELECT sum(e) FROM (SELECT emissions_kgco2e AS e FROM emissions_monthly WHERE method = 'location')",
    ):
        assert infer(sql, mixed=mixed)[0].unit == "kgCO2e"
