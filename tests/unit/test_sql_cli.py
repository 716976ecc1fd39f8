"""``energy sql`` as a stranger meets it."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pyarrow.parquet
import pytest

from energy import cli
from energy.cli._sql_table import table_lines
from energy.ledger import Ledger

MONTHS = "SELECT month, sum(energy_it_kwh) AS energy_it_kwh FROM energy_monthly GROUP BY month ORDER BY month"


@pytest.fixture
def run(monkeypatch, capfd, tmp_path, small_ledger):
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["energy", "sql", *map(str, words), "--ledger", str(small_ledger)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        out, err = capfd.readouterr()
        return int(left.value.code or 0), out, err

    return call


def test_a_table_shows_names_units_and_right_aligned_numbers(run):
    code, out, err = run(MONTHS)
    names, units, rule, first, *_ = out.splitlines()
    assert (code, err) == (0, "")
    assert names.split() == ["month", "energy_it_kwh"]
    assert units.split() == ["kWh_it"]
    assert set(rule) == {"─", " "}
    assert len({len(names), len(units), len(first)}) == 1  # the last column ends at one place
    assert "Shortened for reading" in out


def test_missing_reads_no_data_and_nothing_reads_no_rows(run):
    assert run("SELECT NULL::double AS x, NULL AS y")[1].count("no data") == 2
    assert run("SELECT job_id FROM jobs WHERE false")[1].endswith("\nNo rows.\n")


def test_a_long_table_is_cut_with_a_note(run):
    out = run("SELECT range AS n FROM range(2318400)")[1]
    assert out.endswith("The first 200 of 2\u202f318\u202f400 rows are shown; --csv, --json and --parquet have all.\n")
    assert len(run("SELECT range AS n FROM range(500)", "--limit", 3)[1].splitlines()) == 2 + 1 + 3 + 2
    screen = run("SELECT range AS n FROM range(20000)", "--limit", 15000)[1]
    assert "The first 10\u202f000 of 20\u202f000 rows" in screen


def test_numbers_are_rounded_alike_and_never_to_zero(small_ledger):
    with Ledger(small_ledger) as ledger:
        result = ledger.sql(
            "SELECT * FROM (VALUES (1234567.891, 1.5), (-0.0000001, 1.25), (NULL, 0), (0, NULL)) t(a, b)"
        )
    lines, shortened = table_lines(result)
    cells = [re.split(r"  +", line.strip()) for line in lines[3:]]
    assert [row[0] for row in cells] == ["1\u202f234\u202f568", "\u22121.0e\u22127", "no data", "0"]
    assert [row[1] for row in cells] == ["1.50", "1.25", "0.00", "no data"]
    assert shortened


def test_values_beyond_all_measure_are_written(run):
    code, out, err = run("SELECT 1e308, -1e308, 'NaN'::double, 'inf'::double, 170141183460469231731687303715884105727")
    assert (code, err) == (0, "")
    assert "nan" in out


def test_texts_cannot_steer_the_terminal(run):
    out = run("SELECT 'a' || chr(27) || '[2J' || chr(10) || 'b' AS x")[1]
    assert "\x1b" not in out
    assert "a\ufffd[2J b" in out


def test_csv_has_every_digit_and_tells_null_from_empty(run):
    code, out, err = run("SELECT 1.5::decimal(38,12) AS a, NULL AS b, '' AS c, [1] AS d, "
                         "TIMESTAMPTZ '2026-01-01 00:00:00+00' AS e", "--csv")  # fmt: skip
    assert (code, err) == (0, "")
    head, row = out.splitlines()
    assert head == "a,b,c,d,e"
    assert row == '1.500000000000,,"","[1]","2026-01-01T00:00:00Z"'


def test_csv_can_be_read_back(run, small_ledger):
    out = run("SELECT * FROM jobs ORDER BY job_key", "--csv")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    with Ledger(small_ledger) as ledger:
        wanted = ledger.rows("SELECT * FROM jobs ORDER BY job_key")
    assert [row["job_id"] for row in rows] == [row["job_id"] for row in wanted]
    assert [row["energy_chip_kwh"] for row in rows] == [
        "" if row["energy_chip_kwh"] is None else str(row["energy_chip_kwh"]) for row in wanted
    ]


def test_json_is_one_document_with_units(run):
    query = "SELECT month, sum(chip_h) AS chip_h, sum(energy_chip_kwh) / 1000, 1e999 AS x FROM coverage GROUP BY month"
    code, out, _ = run(query, "--json", "--limit", 1)
    document = json.loads(out)
    assert (code, document["schema"], document["row_count"]) == (0, "sql/1", 1)
    assert document["total_rows"] > 1
    assert [(column["unit"], column["checked"]) for column in document["columns"]] == [
        (None, True), ("chip*h", True), (None, False), ("", True),
    ]  # fmt: skip
    assert isinstance(document["rows"][0][1], float)
    assert document["rows"][0][3] == "Infinity"


def test_parquet_is_written_whole_with_units_and_never_over_a_file(run, tmp_path):
    code, out, _ = run("SELECT * FROM jobs", "--parquet", "jobs.parquet", "--limit", 25)
    assert (code, out) == (0, "Wrote 25 rows to jobs.parquet.\n")
    schema = pyarrow.parquet.read_table(tmp_path / "jobs.parquet").schema
    assert schema.field("energy_chip_kwh").metadata[b"unit"] == b"kWh_chip"
    before = (tmp_path / "jobs.parquet").read_bytes()
    code, out, err = run("SELECT 1 AS a", "--parquet", "jobs.parquet")
    assert (code, out) == (1, "")
    assert "nothing is overwritten" in err
    assert (tmp_path / "jobs.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SELECT a.host FROM energy_hourly a, energy_hourly b", "--timeout", "0.3"], "Stopped after 0.3 s"),
        (["SELECT 1 AS a, 2 AS a"], "Two columns are named a"),
        (["DELETE FROM core.job"], "Only SELECT is allowed. Line 1, column 1: DELETE."),
    ],
)
def test_a_failed_parquet_leaves_no_file(run, tmp_path, words, said):
    code, out, err = run(*words, "--parquet", "x.parquet")
    assert (code, out) == (1, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT sum(pue) FROM energy_hourly", "pue may not be summed"),
        ("SELECT energy_it_kwh + chip_h FROM energy_hourly", "Cannot add kWh_it and chip*h. Line 1, column 8."),
        ("DELETE FROM jobs", "Only SELECT is allowed. Line 1, column 1: DELETE."),
        ("SELECT * FROM jbos", "Nearest: jobs. Line 1, column 15."),
        ("SELECT 1 // 0", "Division by zero"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_an_error_is_one_line_and_nothing_on_stdout(run, query, said, form):
    code, out, err = run(query, *form)
    assert (code, out) == (1, "")
    assert err.startswith("energy: ")
    assert said in err
    assert err.count("\n") == 1


def test_the_query_comes_from_a_file_or_standard_input(run, tmp_path, monkeypatch):
    (tmp_path / "q.sql").write_bytes("\ufeffSELECT 'ü' AS x;\n".encode())
    assert run("--file", "q.sql", "--csv") == (0, 'x\n"ü"\n', "")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"SELECT 1 AS x\n-- end")))
    assert run("-", "--csv") == (0, "x\n1\n", "")
    (tmp_path / "q.sql").write_bytes(b"SELECT '\xff'")
    assert "is not UTF-8" in run("--file", "q.sql")[2]


@pytest.mark.parametrize("words", [[], ["SELECT 1", "--file", "x"], ["SELECT 1", "--csv", "--json"]])
def test_wrong_usage_is_2(run, words):
    assert run(*words)[0] == 2


def test_a_plan_is_shown_as_it_is_drawn(run):
    assert len(run("EXPLAIN SELECT count(*) FROM jobs")[1].splitlines()) > 3


def test_a_reader_who_leaves_is_no_error(small_ledger):
    query = "SELECT range FROM range(300000)"
    command = f'"{sys.executable}" -m energy.cli sql "{query}" --csv --ledger "{small_ledger}" | head -1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("range\n", "")
