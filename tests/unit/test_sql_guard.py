"""Every escape from the guarded SQL door is refused, in one line with its place, and the ledger's bytes stay."""

from __future__ import annotations

import hashlib

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy.errors import EnergyError, SqlError
from energy.ledger import Ledger
from energy.ledger.guarded import Guarded
from energy.ledger.sql_guard import LARGEST_SIZE, LONGEST_TEXT, place_of_byte

NOT_A_SELECT = [
    "DELETE FROM core.job", "insert into core.job select * from core.job", "UPDATE core.job SET host = 'x'",
    "CREATE TABLE x (a int)", "CREATE TEMP TABLE x AS SELECT 1", "CREATE OR REPLACE VIEW jobs AS SELECT 1",
    "DROP TABLE core.job", "ALTER TABLE core.job DROP host", "TRUNCATE core.job", "COPY jobs TO 'x.csv'",
    "COPY core.job FROM 'x.csv'", "EXPORT DATABASE 'x'", "IMPORT DATABASE 'x'", "ATTACH 'x' AS x", "DETACH x",
    "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list", "SET memory_limit = '90GB'", "RESET memory_limit",
    "SET VARIABLE x = 1", "USE memory", "CALL pragma_version()", "CHECKPOINT", "VACUUM", "BEGIN", "COMMIT",
    "PREPARE x AS SELECT 1", "EXECUTE x", "DEALLOCATE x", "CREATE SECRET x (TYPE s3)", "CREATE MACRO f() AS 1",
    "COMMENT ON TABLE core.job IS 'x'", "ANALYZE",
    "MERGE INTO core.job USING jobs ON true WHEN MATCHED THEN DELETE",
]  # fmt: skip
HIDDEN_WRITES = [
    ("SELECT 1; DROP TABLE core.job", (1, 11), "DROP"),
    ("SELECT 1;\n  DELETE FROM core.job", (2, 3), "DELETE"),
    ("/* a; */ -- b\n DELETE FROM core.job", (2, 2), "DELETE"),
    ("WITH d AS (DELETE FROM core.job RETURNING *) SELECT * FROM d", (1, 12), "DELETE"),
    ("WITH d AS (INSERT INTO core.job SELECT * FROM core.job RETURNING *) FROM d", (1, 12), "INSERT"),
    ("EXPLAIN ANALYZE DELETE FROM core.job", (1, 17), "DELETE"),
    ("EXPLAIN COPY jobs TO 'x'", (1, 9), "COPY"),
]
READS_ELSEWHERE = [
    "SELECT * FROM 'x.parquet'", "SELECT * FROM \"/etc/passwd\"", "FROM 'x.csv'", "TABLE \"x.json\"",
    "DESCRIBE 'x.parquet'", "SUMMARIZE 'x.csv'", "SUMMARIZE SELECT * FROM 'x.csv'",
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_text('/etc/passwd')", "FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_parquet('x')", "SELECT * FROM parquet_metadata('x')", "SELECT * FROM read_json_auto('x')",
    "SELECT * FROM glob('*')", "SELECT * FROM sniff_csv('x')", "SELECT * FROM sqlite_scan('a', 'b')",
    "SELECT * FROM read_duckdb('x')", "SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('jobs')",
    "SELECT (SELECT count(*) FROM read_text('/etc/passwd'))",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM read_text('/etc/passwd'))",
    "WITH a AS (SELECT * FROM read_text('/etc/passwd')) SELECT 1",
    "SELECT * FROM jobs JOIN LATERAL (SELECT * FROM glob('*')) ON true",
    "SELECT 1 UNION ALL SELECT 2 FROM glob('*')", "SELECT 1 ORDER BY (SELECT 1 FROM glob('*'))",
    "SELECT list_transform([1], lambda x: getenv('HOME'))",
    "WITH a AS (WITH \"/etc/passwd\" AS (SELECT 1) FROM \"/etc/passwd\") SELECT * FROM a, \"/etc/passwd\"",
    "SELECT getenv('HOME')", "SELECT current_setting('secret_directory')", "SELECT getvariable('x')",
    "SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_databases()", "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_temporary_files()", "SELECT * FROM pg_catalog.pg_settings", "SELECT * FROM duckdb_logs()",
    "SELECT * FROM pragma_database_size()", "SHOW DATABASES", "SHOW memory_limit", "SELECT write_log('x')",
    "SELECT nextval('x')", "SELECT setseed(0.5)", "SELECT json_serialize_sql('SELECT 1')", "SELECT sleep_ms(1)",
    "SELECT * FROM memory.main.x", "SELECT * FROM system.information_schema.tables", "SELECT * FROM sqlite_master",
    "SELECT * FROM test_all_types()", "SELECT * FROM json_execute_serialized_sql('{}')",
    "SELECT * FROM register_external_resource('x')", "SELECT $1", "SELECT ?", "SELECT * FROM ledger",
]  # fmt: skip
MAKES_TOO_MUCH = [
    "SELECT repeat('x', 10000000000)", "SELECT length(repeat('x', 3000000000))", "SELECT 'x'.repeat(100000000)",
    "SELECT repeat('x', 5000 + 5000000)", "SELECT repeat(repeat(repeat('x', 10000), 10000), 10000)",
    "WITH a AS (SELECT repeat('x', 10000) AS x), b AS (SELECT repeat(x, 10000) AS x FROM a) SELECT length(x) FROM b",
    "SELECT len(range(500000000))", "SELECT len(generate_series(1, 1000000000))",
    "SELECT [x FOR x IN range(100000000)]",
    "SELECT list_resize([1], 1000000000)", "SELECT lpad('x', 2000000000, 'y')", "SELECT rpad('x', 2000000000, 'y')",
    "SELECT printf('%2000000000d', 1)", "SELECT printf('%*d', 2000000000, 1)", "SELECT format('{:2000000000}', 1)",
    "SELECT format('{:{}}', 'x', 2000000000)", "SELECT bitstring('1', 4000000000)",
    "SELECT replace('aaaa', 'a', (SELECT string_agg(job_id, '') FROM jobs))",
    "SELECT sum(n) FROM (SELECT len(range(n::bigint)) AS n FROM (SELECT 4000000000 AS n))",
]  # fmt: skip


@pytest.fixture(scope="module")
def ledger(small_ledger):
    with Ledger(small_ledger, threads=2) as opened:
        yield opened


@pytest.fixture(scope="module", autouse=True)
def _bytes_stay(small_ledger):
    def state() -> dict[str, str]:
        return {
            str(path.relative_to(small_ledger)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in small_ledger.rglob("*")
            if path.is_file()
        }

    before = state()
    yield
    assert state() == before


def one_line(error: EnergyError) -> str:
    text = str(error)
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 600
    return text


@pytest.mark.parametrize("text", NOT_A_SELECT)
def test_only_select_is_allowed(ledger, text):
    with pytest.raises(SqlError) as raised:
        ledger.sql(text)
    assert one_line(raised.value) == f"Only SELECT is allowed. Line 1, column 1: {text.split()[0].upper()}."


@pytest.mark.parametrize(("text", "place", "word"), HIDDEN_WRITES)
def test_a_hidden_write_is_named_with_its_place(ledger, text, place, word):
    with pytest.raises(SqlError) as raised:
        ledger.sql(text)
    line, column = place
    assert one_line(raised.value) == f"Only SELECT is allowed. Line {line}, column {column}: {word}."


@pytest.mark.parametrize("text", READS_ELSEWHERE)
def test_nothing_but_the_ledger_is_read(ledger, text):
    with pytest.raises(SqlError) as raised:
        ledger.sql(text)
    one_line(raised.value)
    assert raised.value.line is not None


@pytest.mark.parametrize("text", MAKES_TOO_MUCH)
def test_nothing_is_made_that_cannot_be_stopped(ledger, text):
    with pytest.raises(SqlError, match=r"written out|together"):
        ledger.sql(text, timeout_s=5)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT lpad(month, 10, ' '), repeat('█', 20) FROM coverage", "SELECT range FROM range(24)",
        "SELECT printf('%5.1f', chip_h::double) FROM coverage", "SELECT replace(host, 'node-', '') FROM energy_hourly",
        "SELECT [x * 2 FOR x IN range(5)]", f"SELECT len(range({LARGEST_SIZE}))", "FROM jobs", "TABLE coverage",
        "VALUES (1)",
        "SELECT 1;", ";SELECT 1", "SHOW TABLES", "DESCRIBE jobs", "SUMMARIZE coverage", "EXPLAIN SELECT * FROM jobs",
        "EXPLAIN ANALYZE SELECT count(*) FROM jobs", "EXPLAIN (FORMAT json) FROM jobs",
        "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'jobs'",
        "SELECT table_name FROM information_schema.tables", "SELECT * FROM ledger.main.coverage",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
        "PIVOT coverage ON tier IN ('default') USING sum(chip_h)", "UNPIVOT coverage ON chip_h INTO NAME n VALUE v",
        "WITH \"DELETE\" AS (SELECT 'DROP TABLE x; -- ' AS \"copy\") SELECT * FROM \"DELETE\"",
    ],
)  # fmt: skip
def test_what_is_harmless_runs(ledger, text):
    assert ledger.sql(text).row_count > 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM glob('/*')", "FROM '/etc/hostname'",
        "ATTACH 'other.duckdb'", "COPY (SELECT 1) TO 'out.csv'", "SET enable_external_access = true",
        "SET lock_configuration = false", "SET memory_limit = '90GB'", "SET temp_directory = '/tmp'",
        "RESET memory_limit",
        "INSTALL httpfs", "LOAD httpfs", "CREATE TABLE core.x (a int)", "DELETE FROM core.job",
        "CREATE PERSISTENT SECRET s (TYPE http)",
    ],
)  # fmt: skip
def test_the_second_wall_stands_without_the_first(small_ledger, text):
    guarded = Guarded((small_ledger / "ledger.duckdb").resolve())
    with pytest.raises(duckdb.Error), guarded.connection() as connection:
        connection.execute(text).fetchall()


def test_two_statements_are_one_too_many(ledger):
    with pytest.raises(SqlError, match=r"One query is wanted, this text has 2\. Line 1, column 11: SELECT\."):
        ledger.sql("SELECT 1; SELECT 2")


@pytest.mark.parametrize("text", ["", "  \n", "-- nothing", "/* x */ ;"])
def test_an_empty_query_says_what_to_write(ledger, text):
    with pytest.raises(SqlError, match="The query is empty"):
        ledger.sql(text)


def test_a_query_beyond_measure_is_not_read(ledger):
    with pytest.raises(SqlError, match="shorten it"):
        ledger.sql("SELECT " + "1 + " * LONGEST_TEXT + "1")


@pytest.mark.parametrize("text", ["SELECT " + "(" * 5000 + "1" + ")" * 5000, "SELECT " + "- " * 20000 + "1",
                                  "SELECT 1" + " + 1" * 20000, "SELECT 'a\0b'", "SELECT '\ud800'"])  # fmt: skip
def test_a_deep_or_broken_text_is_one_line_or_an_answer(ledger, text):
    try:
        ledger.sql(text, timeout_s=5)
    except SqlError as error:
        one_line(error)


@given(st.text(max_size=30), st.integers(0, 100))
def test_places_count_characters_not_bytes(text, at):
    index = min(at, len(text))
    line, column = place_of_byte(text, len(text[:index].encode()))
    lines = text[:index].split("\n")
    assert (line, column) == (len(lines), len(lines[-1]) + 1)


WORDS = st.sampled_from([
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "jobs", "energy_hourly", "pue", "sum(", ")", "(", ",", "*", ";",
    "DELETE", "COPY", "core.job", "'x'", '"', "'", "--", "/*", "$$", "WITH a AS (", "EXPLAIN", "UNION", "1", "1e9", "+",
    "||", "repeat(", "range(", "read_csv(", "[", "]", "{", "}", "::int", "?", "$1", "lambda x:", "EXCLUDE", "PIVOT",
    "ON", "SET", "ATTACH", "INTO", "\n", "é", "JOIN", "USING (", "LIMIT 5", "OVER (", "HAVING", "NULL", "CASE WHEN",
    "THEN", "END", "VALUES (", "SHOW TABLES", "DESCRIBE", "CREATE TABLE t AS", "t", ".", "energy_it_kwh", "method",
])  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.lists(WORDS, max_size=14).map(" ".join), st.text(max_size=40)))
def test_any_text_is_an_answer_or_one_line(ledger, text):
    try:
        ledger.sql(text, timeout_s=3, memory="64MB", row_limit=10)
    except SqlError as error:
        one_line(error)
