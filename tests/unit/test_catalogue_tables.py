"""The tables against their declaration, and the strictness of the reader."""

import csv
import json
import random
import re
from pathlib import Path

import pytest

from energy.catalogue import _tables
from energy.catalogue._names import index
from energy.errors import CatalogueError
from energy.resources import resource

DATASETS = resource("datasets")
PACKAGE = json.loads((DATASETS / "datapackage.json").read_text(encoding="utf-8"))
CSV = [entry for entry in PACKAGE["resources"] if entry["path"].endswith(".csv")]
TABLES = [entry["path"].removesuffix(".csv") for entry in CSV]
COLUMNS = (
    _tables.Column("name", "string", True, (), None, None),
    _tables.Column("kind", "string", False, ("a", "b"), None, None),
    _tables.Column("value", "number", False, (), 0, 10),
    _tables.Column("count", "integer", False, (), None, None),
    _tables.Column("on", "boolean", False, (), None, None),
)


def test_every_table_is_declared():
    assert {path.name for path in DATASETS.glob("*.*")} == {
        "datapackage.json",
        *(e["path"] for e in PACKAGE["resources"]),
    }


def test_the_folder_stays_small():
    assert sum(path.stat().st_size for path in DATASETS.rglob("*") if path.is_file()) < 6e6
    assert (DATASETS / "intensity_hours_us_2022.parquet").stat().st_size < 1e6


def test_the_file_of_hours_is_declared():
    parquet = pytest.importorskip("pyarrow.parquet")
    (entry,) = [entry for entry in PACKAGE["resources"] if entry["path"].startswith("intensity_hours")]
    schema = parquet.read_schema(DATASETS / entry["path"])
    assert schema.names == [field["name"] for field in entry["schema"]["fields"]]
    assert {str(kind) for kind in schema.types} == {"int16"}
    assert entry["licenses"]


@pytest.mark.parametrize("entry", CSV, ids=lambda entry: entry["path"])
def test_headers_agree_and_fields_are_described(entry):
    fields = entry["schema"]["fields"]
    with (DATASETS / entry["path"]).open(encoding="utf-8", newline="") as stream:
        assert next(csv.reader(stream)) == [field["name"] for field in fields]
    for field in fields:
        assert field["type"] in ("string", "number", "integer", "boolean")
        assert field["description"]
        assert isinstance(field["unit"], str)
    assert entry["licenses"]
    assert entry["sources"]


@pytest.mark.parametrize("table", TABLES)
def test_rows_obey_their_rules_and_name_source_and_status(table):
    sources = {row.text("source") for row in _tables.rows("sources")}
    rows = _tables.rows(table)
    assert rows
    for row in rows:
        assert set(row.words("source")) <= sources
        assert row.words("source")
        if table != "sources":
            assert row.values.get("status") or row.values.get("confidence")


@pytest.mark.parametrize("entry", CSV, ids=lambda entry: entry["path"])
def test_foreign_keys_hold(entry):
    for key in entry["schema"].get("foreignKeys", []):
        target = key["reference"]
        known = {row.text(target["fields"]) for row in _tables.rows(target["resource"])}
        used = {row.text(key["fields"]) for row in _tables.rows(entry["path"].removesuffix(".csv"))}
        assert used - {""} <= known


def test_every_source_is_used():
    used = {key for table in TABLES if table != "sources" for row in _tables.rows(table) for key in row.words("source")}
    assert used == {row.text("source") for row in _tables.rows("sources")}


def _read(tmp_path, text, key=("name",)):
    path = tmp_path / "t.csv"
    path.write_text("name,kind,value,count,on\n" + text, encoding="utf-8")
    return _tables.read(path, COLUMNS, key)


def test_an_empty_cell_is_none(tmp_path):
    (row,) = _read(tmp_path, "x,,,,\n")
    assert row.maybe_number("value") is None
    assert row.maybe_integer("count") is None
    assert row.text("kind") == ""
    with pytest.raises(CatalogueError, match="column value"):
        row.number("value")
    (zero,) = _read(tmp_path, "x,a,0,0,true\n")
    assert zero.maybe_number("value") == 0
    assert zero.flag("on")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,1,1,true\n", "line 2, column name: '' breaks the rule: a value is required"),
        ("x,c,1,1,true\n", "column kind: 'c' breaks the rule: allowed are a, b"),
        ("x,a,much,1,true\n", "column value: 'much' breaks the rule: not a number"),
        ("x,a,nan,1,true\n", "not finite"),
        ("x,a,inf,1,true\n", "not finite"),
        ("x,a,-1,1,true\n", "at least 0"),
        ("x,a,11,1,true\n", "at most 10"),
        ("x,a,1,1.5,true\n", "not a integer"),
        ("x,a,1,1,yes\n", "true or false"),
        ("x ,a,1,1,true\n", "no space"),
        ("x,a,1,1\n", "5 cells are declared"),
        ("x,a,1,1,true\nx,b,2,2,false\n", "line 3, column name: 'x' breaks the rule: the key is already on line 2"),
    ],
)
def test_a_broken_cell_stops_the_reading(tmp_path, text, message):
    with pytest.raises(CatalogueError) as caught:
        _read(tmp_path, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("t.csv, line")


def test_a_wrong_header_stops_the_reading(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,value\nx,1\n", encoding="utf-8")
    with pytest.raises(CatalogueError, match="column header"):
        _tables.read(path, COLUMNS, ("name",))


def test_an_undeclared_table_is_refused():
    with pytest.raises(CatalogueError, match="no table nothing"):
        _tables.declared("nothing")


def test_one_name_for_two_things_is_an_error_of_the_catalogue():
    with pytest.raises(CatalogueError, match="means both"):
        index([("A-1", "x"), ("a 1", "y")], "Chip")
    names = [("A-1", "x"), ("a 1", "x"), ("b", "y")]
    random.Random(1).shuffle(names)
    assert index(names, "Chip") == {"a 1": "x", "b": "y"}


def test_what_is_recalled_keeps_its_mark():
    for table in TABLES:
        columns = {column.name for column in _tables.declared(table)[0]}
        if "recalled_fields" not in columns:
            continue
        for row in _tables.rows(table):
            flagged = set(row.words("recalled_fields"))
            assert flagged <= columns | {"all"}, (table, row.line)
            assert (row.text("confidence") == "recalled") == ("all" in flagged), (table, row.line)
            if set(row.words("source")) == {"recalled"}:
                assert row.text("confidence") == "recalled", (table, row.line)


def test_an_empty_cell_stays_unknown_and_no_number_is_a_text():
    for table in TABLES:
        for column in _tables.declared(table)[0]:
            for row in _tables.rows(table):
                value = row.values[column.name]
                assert value is None or value != "", (table, column.name)
                if column.type in ("number", "integer") and value is not None:
                    assert not isinstance(value, str)


def test_the_page_of_the_catalogue_counts_right():
    page = (Path(__file__).resolve().parents[2] / "docs/catalogue.md").read_text(encoding="utf-8")
    counts = {name: int(number.replace(",", "")) for name, number in re.findall(r"`(\w+)\.csv` ([\d,]+)", page)}
    assert counts == {table: len(_tables.rows(table)) for table in TABLES}
