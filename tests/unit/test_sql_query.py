"""A user's SQL: what comes back, what is refused for its units, and what is stopped."""

from __future__ import annotations

import importlib.util
import threading
import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest

import energy
from energy.errors import EnergyError, LedgerError, SqlError, SqlUnitError, UnknownNameError
from energy.ledger import Ledger
from energy.ledger.guarded import memory_bytes
from energy.ledger.saved_queries import saved_queries, saved_query

MONTHS = "SELECT month, sum(energy_it_kwh) AS energy_it_kwh FROM energy_monthly GROUP BY month ORDER BY month"


@pytest.fixture(scope="module")
def ledger(small_ledger):
    with energy.open(small_ledger) as opened:
        yield opened


# --- what comes back ---


def test_columns_carry_unit_meaning_and_type(ledger):
    month, amount = ledger.sql(MONTHS).columns
    assert (month.unit, month.checked, month.label, month.type) == (None, True, "month", "VARCHAR")
    assert (amount.unit, amount.checked, amount.label) == ("kWh_it", True, "energy_it_kwh [kWh_it]")
    assert amount.meaning.startswith("Electricity at the plug")


def test_rows_equal_those_of_the_plain_reader(ledger):
    result = ledger.sql(MONTHS)
    assert result.rows() == [tuple(row.values()) for row in ledger.rows(MONTHS)]
    assert (result.row_count, result.truncated, result.ledger_version) == (len(result.rows()), False, ledger.version)
    assert all(isinstance(row[1], Decimal) for row in result.rows())


def test_arrow_fields_carry_the_units(ledger):
    table = ledger.sql(MONTHS).arrow()
    assert table.schema.field("energy_it_kwh").metadata[b"unit"] == b"kWh_it"
    assert b"unit" not in table.schema.field("month").metadata
    plain = ledger.sql("SELECT count(*), sum(energy_it_kwh) / 1000 FROM energy_monthly").arrow().schema
    assert plain.field(0).metadata == {b"checked": b"true", b"unit": b""}
    assert plain.field(1).metadata == {b"checked": b"false"}


def test_instants_are_utc(ledger):
    ((hour,),) = ledger.sql("SELECT min(hour_utc) FROM energy_hourly").rows()
    assert hour == ledger.rows("SELECT min(hour_utc) AS hour FROM energy_hourly")[0]["hour"]
    assert hour.utcoffset() == datetime.now(UTC).utcoffset()


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_a_frame_has_floats_and_units(ledger):
    frame = ledger.sql(MONTHS).df()
    assert str(frame["energy_it_kwh"].dtype) == "float64"
    assert frame.attrs["units"] == {"month": None, "energy_it_kwh": "kWh_it"}
    assert len(frame) == ledger.sql(MONTHS).row_count


def test_without_pandas_the_remedy_is_named(ledger, monkeypatch):
    result = ledger.sql(MONTHS)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EnergyError, match=r"pip install 'energy\[pandas\]'"):
        result.df()


def test_an_empty_result_keeps_its_columns(ledger):
    result = ledger.sql("SELECT job_id, chip_h FROM jobs WHERE false")
    assert (result.rows(), result.row_count, result.truncated) == ([], 0, False)
    assert [column.unit for column in result.columns] == [None, "chip*h"]
    assert result.arrow().column_names == ["job_id", "chip_h"]


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_a_limit_keeps_the_first_rows_and_counts_all(ledger, limit):
    whole = ledger.sql("SELECT job_key FROM jobs ORDER BY job_key")
    cut = ledger.sql("SELECT job_key FROM jobs ORDER BY job_key", row_limit=limit)
    assert cut.rows() == whole.rows()[:limit]
    assert (cut.total_rows, cut.truncated) == (whole.row_count, True)


def test_order_survives_many_batches(ledger):
    rows = ledger.sql("SELECT range AS n FROM range(100000) ORDER BY n DESC").rows()
    assert [row[0] for row in rows] == list(range(99999, -1, -1))


def test_two_columns_of_one_name_are_both_kept(ledger):
    assert ledger.sql("SELECT 1 AS a, 2 AS a").rows() == [(1, 2)]


def test_a_text_under_another_name_has_not_its_meaning(ledger):
    (column,) = ledger.sql("SELECT owner AS host FROM energy_monthly").columns
    assert column.meaning == ""


# --- not checked, never refused ---


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COLUMNS('energy_it.*') FROM energy_hourly LIMIT 1", "SELECT list(chip_h) FROM coverage",
        "PIVOT coverage ON tier IN ('default') USING sum(chip_h)", "SELECT unnest([1, 2])",
        "SELECT rowid FROM core.job",
        "SELECT sum(energy_it_kwh) / 1000 FROM energy_monthly",
        "SELECT quantile_cont(chip_h, [0.1, 0.9]) FROM coverage",
    ],
)  # fmt: skip
def test_what_the_checker_cannot_follow_is_said(ledger, text):
    result = ledger.sql(text)
    assert result.row_count
    numbers = [column for column in result.columns if column.is_number or column.type.endswith("]")]
    assert numbers
    assert all(not column.checked and column.unit is None and "not checked" in column.label for column in numbers)


# --- errors with their place ---


@pytest.mark.parametrize(
    ("text", "kind", "words", "place"),
    [
        ("SELECT sum(pue) FROM energy_hourly", SqlUnitError, "sum(pue * energy_it_kwh)", (1, 8)),
        ("SELECT\n  'ö',\n  energy_it_kwh + chip_h\nFROM energy_hourly", SqlUnitError, "Cannot add", (3, 3)),
        ("SELECT method, sum(emissions_kgco2e)\nFROM emissions_monthly", SqlUnitError, "never added", (1, 16)),
        ("SELECT energy_it_kwhh FROM energy_hourly", SqlError, "Nearest: energy_it_kwh", (1, 8)),
        ("SELECT 'é',\n x.job_id FROM jobs j", SqlError, "alias named x", (2, 2)),
        ("SELECT *\nFROM jbos", SqlError, "Nearest: jobs", (2, 6)),
        ("SELECT 'ü', medain(chip_h) FROM jobs", SqlError, 'Did you mean "median"?', (1, 13)),
        ("SELECT job_id FORM jobs", SqlError, "Not readable as SQL", (1, 20)),
        ("SELECT\n 'abc", SqlError, "unterminated", (2, 2)),
        ("SELEC 1", SqlError, "SELEC", (1, 1)),
        ("SELECT 'ä', 'x'::int", SqlError, "Could not convert", (1, 16)),
    ],
)
def test_errors_are_one_line_with_line_and_column(ledger, text, kind, words, place):
    with pytest.raises(kind) as raised:
        ledger.sql(text)
    message = str(raised.value)
    assert words in message
    assert "\n" not in message
    assert (raised.value.line, raised.value.column) == place
    assert message.endswith(f"Line {place[0]}, column {place[1]}.")


# --- stopped ---

ENDLESS = [
    "SELECT count(*) FROM range(1000000000000)",
    "SELECT count(*) FROM jobs a, jobs b, jobs c, jobs d",
    "SELECT * FROM energy_hourly a, energy_hourly b",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "EXPLAIN ANALYZE SELECT count(*) FROM range(1000000000000)",
]


@pytest.mark.parametrize("text", ENDLESS)
def test_a_runaway_is_stopped_in_time_and_the_next_query_answers(ledger, text):
    start = time.monotonic()
    with pytest.raises(SqlError, match=r"Stopped after 0\.3 s: .* --timeout"):
        ledger.sql(text, timeout_s=0.3, row_limit=5)
    assert time.monotonic() - start < 5
    assert ledger.sql("SELECT 1").rows() == [(1,)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT list(range) FROM range(100000000)",
        "SELECT x FROM (SELECT repeat(range::text, 1000) AS x FROM range(1000000)) ORDER BY x",
        "SELECT string_agg(range::text, '') FROM range(1000000000)",
    ],
)
def test_memory_has_a_limit_with_a_remedy(ledger, text):
    with pytest.raises(SqlError, match=r"more than 64MB of memory: .* --memory"):
        ledger.sql(text, memory="64MB")


def test_a_result_beyond_the_limit_says_so(ledger):
    with pytest.raises(SqlError, match=r"The result is larger than 32MB after [\d,]+ rows"):
        ledger.sql("SELECT range, range + 1, range + 2 FROM range(100000000)", memory="32MB")


def test_the_rest_of_a_large_result_is_only_counted(ledger):
    result = ledger.sql("SELECT range FROM range(20000000)", memory="32MB", row_limit=3)
    assert (result.row_count, result.total_rows) == (3, 20_000_000)


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf")])
def test_a_limit_of_time_that_is_none_is_refused(ledger, timeout_s):
    with pytest.raises(SqlError, match="cannot be kept"):
        ledger.sql("SELECT 1", timeout_s=timeout_s)


@pytest.mark.parametrize("memory", ["", "5", "1 XB", "1KB", "-1GB", "1GB; SET x"])
def test_a_limit_of_memory_that_is_none_is_refused(memory):
    with pytest.raises(SqlError, match="no limit of memory"):
        memory_bytes(memory)


def test_threads_ask_at_the_same_time(ledger):
    wanted = ledger.sql(MONTHS).rows()
    got: list[object] = []

    def ask(stopped: bool) -> None:
        try:
            got.append(ledger.sql(ENDLESS[0] if stopped else MONTHS, timeout_s=0.4 if stopped else 30).rows())
        except SqlError as error:
            got.append(str(error)[:7])

    threads = [threading.Thread(target=ask, args=(index % 2 == 0,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, got)) == sorted([*["Stopped"] * 3, *[str(wanted)] * 3])


# --- opening ---


def test_open_takes_a_text_and_a_version(small_ledger):
    with energy.open(str(small_ledger), version=1) as opened:
        assert (type(opened), opened.version) == (Ledger, 1)
    with pytest.raises(LedgerError, match="no longer has version 9"):
        energy.open(small_ledger, version=9)


def test_a_version_that_is_gone_is_named(own_ledger):
    with energy.open(own_ledger) as opened:
        (own_ledger / "ledger-1.duckdb").rename(own_ledger / "away")
        with pytest.raises(LedgerError, match="open the ledger again"):
            opened.sql("SELECT 1")


# --- saved queries ---


@pytest.mark.parametrize("query", saved_queries(), ids=lambda query: query.id)
def test_saved_queries_answer_with_every_unit_known(ledger, query):
    result = ledger.sql(query.sql)
    assert result.row_count
    assert [column.label for column in result.columns if not column.checked] == []
    assert query.question.endswith("?")


def test_there_are_fifteen_saved_queries_and_names_are_helped():
    assert len(saved_queries()) == 15
    with pytest.raises(UnknownNameError, match="Nearest: top-jobs"):
        saved_query("top-job")


def test_shared_idle_energy_adds_up_to_what_sites_took(ledger):
    shared = ledger.sql(saved_query("energy-with-idle-share").sql)
    name = [column.name for column in shared.columns].index("energy_with_idle_facility_mwh")
    (whole,) = ledger.sql(
        "SELECT sum(energy_facility_kwh) / 1000 AS energy_facility_mwh FROM energy_monthly "
        "WHERE quarter = '2026Q1' AND owner_kind IN ('project', 'idle')"
    ).rows()
    assert float(sum(row[name] for row in shared.rows())) == pytest.approx(float(whole[0]), rel=1e-9)
