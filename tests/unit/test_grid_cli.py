"""``energy grid``: what a file is, its gaps, means by month; hours as Parquet; one line where it cannot be read."""

from __future__ import annotations

import json
import sys

import pytest

from energy import cli

HOURS = "".join(
    f"2024-01-{1 + hour // 24:02}T{hour % 24:02}:00Z,{hour % 7},{10 - hour % 3},\n" for hour in range(30) if hour != 5
)
TABLE = "time_utc,generation_coal_mwh,generation_wind_mwh,generation_solar_mwh\n" + HOURS


def run(monkeypatch, capfd, *words: object) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["energy", "grid", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capfd.readouterr()
    return int(left.value.code or 0), out, err


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "hours.csv"
    path.write_text(TABLE)
    return path


def test_text_says_what_it_is_its_gaps_and_both_boundaries(monkeypatch, capfd, table):
    code, out, _ = run(monkeypatch, capfd, table, "--zone", "X")
    assert code == 0
    assert "X, not stated (hours.csv) (grid-table): 2024-01-01T00:00 to 2024-01-02T05:59 UTC, 30 h" in out
    assert "hours without any value 1 (no row 1" in out
    assert "average intensity, direct, production-based, CO2 only, derived" in out
    assert "average intensity, lifecycle, production-based, CO2e, derived" in out
    assert "29 of 30 h" in out
    assert "no value in any hour: solar" in out


def test_json_has_the_months_and_the_parquet_file_reads_the_same(monkeypatch, capfd, table, tmp_path):
    code, out, _ = run(monkeypatch, capfd, table, "--zone", "X", "--parquet", tmp_path / "x.parquet", "--json")
    assert code == 0
    first = json.loads(out)
    assert first["schema"] == "grid/1"
    _, out, _ = run(monkeypatch, capfd, tmp_path / "x.parquet", "--json")
    second = json.loads(out)
    assert {name: first[name] for name in first if name not in ("file", "parquet")} == {
        name: second[name] for name in second if name not in ("file", "parquet")
    }
    code, out, err = run(monkeypatch, capfd, table, "--zone", "X", "--parquet", tmp_path / "x.parquet")
    assert (code, out) == (1, "")
    assert "exists" in err


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (TABLE, (), "--zone"),
        (TABLE, ("--zone", "X", "--format", "entsoe"), "Nearest: entsoe-generation"),
        (TABLE.replace("wind", "windd"), ("--zone", "X"), "Nearest: wind"),
        ("a,b\n1,2\n", (), "no known grid format"),
        ("", (), "empty"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_nothing_is_written(monkeypatch, capfd, tmp_path, text, words, says):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    code, out, err = run(monkeypatch, capfd, path, *words, "--parquet", tmp_path / "out.parquet")
    assert (code, out) == (1, "")
    assert says in err
    assert len(err.splitlines()) == 1
    assert [item.name for item in tmp_path.iterdir()] == ["bad.csv"]
