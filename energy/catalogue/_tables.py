"""Strict reading of the tables of ``datasets/``.

``datapackage.json`` declares every column; a cell that breaks its rule stops the reading with file, line, column, rule.
An empty cell is unknown and becomes None, never zero.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from energy.errors import CatalogueError
from energy.resources import resource

Value = str | float | int | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """One declared column."""

    name: str
    type: str
    required: bool
    allowed: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One checked row; the getters say whether None is possible."""

    values: dict[str, Value]
    line: int

    def text(self, column: str) -> str:
        """Return a text; empty when unknown."""
        value = self.values[column]
        return "" if value is None else str(value)

    def number(self, column: str) -> float:
        """Return a required number."""
        value = self.maybe_number(column)
        if value is None:
            raise CatalogueError(f"Line {self.line}, column {column}: the number is empty.")
        return value

    def maybe_number(self, column: str) -> float | None:
        """Return a number, or None when it is unknown."""
        value = self.values[column]
        return None if value is None else float(value)

    def integer(self, column: str) -> int:
        """Return a required whole number."""
        return int(self.number(column))

    def maybe_integer(self, column: str) -> int | None:
        """Return a whole number, or None when it is unknown."""
        value = self.maybe_number(column)
        return None if value is None else int(value)

    def flag(self, column: str) -> bool:
        """Return a required true or false."""
        return self.values[column] is True

    def maybe_flag(self, column: str) -> bool | None:
        """Return true or false, or None when it is unknown."""
        value = self.values[column]
        return None if value is None else value is True

    def words(self, column: str) -> tuple[str, ...]:
        """Return the parts of a text that semicolons separate."""
        return tuple(word for word in self.text(column).split(";") if word)


def _column(field: dict[str, Any]) -> Column:
    rule = field.get("constraints", {})
    return Column(
        field["name"],
        field["type"],
        bool(rule.get("required", False)),
        tuple(rule.get("enum", ())),
        rule.get("minimum"),
        rule.get("maximum"),
        field.get("unit", ""),
    )


@cache
def package() -> dict[str, Any]:
    """Return the data package: every file of ``datasets/`` with its fields, units and licences."""
    document: dict[str, Any] = json.loads((resource("datasets") / "datapackage.json").read_text(encoding="utf-8"))
    return document


def units(table: str) -> dict[str, str]:
    """Return the unit of each column of a table; empty where it has none.

    Examples
    --------
    >>> units("chips")["tdp_w"]
    'W'

    """
    return {column.name: column.unit for column in declared(table)[0]}


@cache
def declared(table: str) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the columns and the primary key that the data package declares for a table."""
    for entry in package()["resources"]:
        if entry["path"] == f"{table}.csv":
            schema = entry["schema"]
            return tuple(_column(field) for field in schema["fields"]), tuple(schema["primaryKey"])
    raise CatalogueError(f"datapackage.json declares no table {table}.csv: write it with scripts/curate_catalogue.py.")


@cache
def rows(table: str) -> tuple[Row, ...]:
    """Return the checked rows of a table of the catalogue."""
    columns, key = declared(table)
    return read(resource("datasets") / f"{table}.csv", columns, key)


def read(path: Path, columns: Sequence[Column], key: Sequence[str]) -> tuple[Row, ...]:
    """Read and check a CSV file.

    Raises
    ------
    CatalogueError
        When the header is not the declared one, a cell breaks its rule, or a key occurs twice.

    """
    seen: dict[tuple[Value, ...], int] = {}
    result = []
    for row in _checked(path, columns):
        identity = tuple(row.values[name] for name in key)
        if identity in seen:
            rule = f"the key is already on line {seen[identity]}"
            raise _broken(path, row.line, ", ".join(key), "; ".join(str(part) for part in identity), rule)
        seen[identity] = row.line
        result.append(row)
    return tuple(result)


def _checked(path: Path, columns: Sequence[Column]) -> Iterator[Row]:
    names = [column.name for column in columns]
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        header = next(reader, [])
        if header != names:
            raise _broken(path, 1, "header", ",".join(header), f"declared is {','.join(names)}")
        for cells in reader:
            line = reader.line_num
            if len(cells) != len(names):
                raise _broken(path, line, "all", str(len(cells)), f"{len(names)} cells are declared")
            yield Row({c.name: _cell(path, line, c, text) for c, text in zip(columns, cells, strict=True)}, line)


def _cell(path: Path, line: int, column: Column, text: str) -> Value:
    if text == "":
        if column.required:
            raise _broken(path, line, column.name, text, "a value is required")
        return None
    if text != text.strip():
        raise _broken(path, line, column.name, text, "no space at either end")
    if column.allowed and text not in column.allowed:
        raise _broken(path, line, column.name, text, f"allowed are {', '.join(column.allowed)}")
    if column.type == "string":
        return text
    if column.type == "boolean":
        if text not in ("true", "false"):
            raise _broken(path, line, column.name, text, "true or false")
        return text == "true"
    try:
        value = int(text) if column.type == "integer" else float(text)
    except ValueError:
        raise _broken(path, line, column.name, text, f"not a {column.type}") from None
    if not math.isfinite(value):
        raise _broken(path, line, column.name, text, "not finite")
    if column.minimum is not None and value < column.minimum:
        raise _broken(path, line, column.name, text, f"at least {column.minimum}")
    if column.maximum is not None and value > column.maximum:
        raise _broken(path, line, column.name, text, f"at most {column.maximum}")
    return value


def _broken(path: Path, line: int, column: str, text: str, rule: str) -> CatalogueError:
    return CatalogueError(f"{path.name}, line {line}, column {column}: {text!r} breaks the rule: {rule}.")
