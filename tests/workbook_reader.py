"""Compute the formulas of a workbook as a spreadsheet does, for the few functions that the report uses.

It reads with openpyxl what xlsxwriter wrote, and knows nothing of the program that wrote it.
"""

from __future__ import annotations

import io
import re
from datetime import date, datetime
from typing import Any

import openpyxl
from openpyxl.utils.cell import range_boundaries

TOKEN = re.compile(
    r"""(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?)|"(?P<text>(?:[^"]|"")*)"|(?P<area>(?:'[^']+'!|[A-Za-z]+!)?\$?[A-Z]{1,3}
    \$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)(?![\w(])|(?P<name>[A-Za-z_][\w.]*)|(?P<sign><=|>=|<>|[-+*/=<>&(),])""",
    re.VERBOSE,
)


class Book:
    """A workbook whose formulas can be computed; what is put into ``changed`` stands in place of a cell's value."""

    def __init__(self, content: bytes) -> None:
        self.formulas = openpyxl.load_workbook(io.BytesIO(content))
        self.cached = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
        self.names = {name: found.attr_text for name, found in self.formulas.defined_names.items()}
        self.changed: dict[tuple[str, str], Any] = {}
        self._known: dict[tuple[str, str], Any] = {}

    def change(self, sheet: str, cell: str, value: Any) -> None:
        self.changed[sheet, cell] = value
        self._known.clear()

    def all_formulas(self) -> list[tuple[str, str, str]]:
        return [
            (sheet.title, cell.coordinate, cell.value)
            for sheet in self.formulas
            for row in sheet.iter_rows()
            for cell in row
            if cell.data_type == "f"
        ]

    def value(self, sheet: str, cell: str) -> Any:
        if (sheet, cell) in self.changed:
            return self.changed[sheet, cell]
        if (sheet, cell) not in self._known:
            found = self.formulas[sheet][cell]
            self._known[sheet, cell] = (
                Parser(self, sheet, found.value[1:]).all() if found.data_type == "f" else plain(found.value)
            )
        return self._known[sheet, cell]

    def named(self, name: str) -> Any:
        """Return the value of a named cell, or the list of values of a named column."""
        values = self.area("", self.names[name])
        return values if ":" in self.names[name] else values[0]

    def area(self, sheet: str, text: str) -> list[Any]:
        where, _, cells = text.rpartition("!")
        title = where.strip("'") or sheet
        left, top, right, bottom = range_boundaries(cells.replace("$", ""))
        return [
            self.value(title, self.formulas[title].cell(row, column).coordinate)
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
        ]


def plain(value: Any) -> Any:
    """Return a date as its serial number, as cells compare it."""
    if isinstance(value, datetime):
        return (value - datetime(1899, 12, 30)).total_seconds() / 86400
    return value


def number(value: Any) -> float:
    if isinstance(value, (int, float)):
        return value
    return 0.0 if value is None else float("nan")  # an error of the cell: equal to nothing, so no test passes on it


def matches(value: Any, criterion: Any) -> bool:
    """Compare as SUMIFS does, without wildcards: formulas must not give it keys that hold any."""
    if isinstance(criterion, str):
        if criterion.startswith(">="):
            return isinstance(value, (int, float)) and value >= float(criterion[2:])
        assert not re.search(r"[*?~<>=]", criterion), criterion
        return isinstance(value, str) and value.casefold() == criterion.casefold()
    return value == criterion


def each(left: Any, right: Any, rule: Any) -> Any:
    if isinstance(left, list):
        return [rule(item, right) for item in left]
    return rule(left, right)


class Parser:
    """A formula, computed while it is read."""

    def __init__(self, book: Book, sheet: str, text: str) -> None:
        self.book, self.sheet = book, sheet
        self.tokens, place = [], 0
        while place < len(text):
            found = TOKEN.match(text, place)
            assert found, (text, place)
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()
        self.at = 0

    def all(self) -> Any:
        value = self.comparison()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return value

    def take(self, *signs: str) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def comparison(self) -> Any:
        left = self.sum()
        while sign := self.take("<=", ">=", "<>", "=", "<", ">"):
            right = self.sum()
            rules = {
                "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<=": lambda a, b: a <= b,
                ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
            }  # fmt: skip
            left = each(left, right, rules[sign])
        return left

    def sum(self) -> Any:
        left = self.product()
        while sign := self.take("+", "-"):
            right = self.product()
            left = number(left) + number(right) if sign == "+" else number(left) - number(right)
        return left

    def product(self) -> Any:
        left = self.factor()
        while sign := self.take("*", "/"):
            right = self.factor()
            if sign == "/" and number(right) == 0:
                left = float("nan")
            else:
                left = number(left) * number(right) if sign == "*" else number(left) / number(right)
        return left

    def factor(self) -> Any:
        if self.take("-"):
            value = self.factor()
            return [-number(item) for item in value] if isinstance(value, list) else -number(value)
        if self.take("("):
            value = self.comparison()
            assert self.take(")")
            return value
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return float(text)
        if kind == "text":
            return text.replace('""', '"')
        if kind == "area":
            values = self.book.area(self.sheet, text)
            return values if ":" in text else values[0]
        if self.take("("):
            return self.call(text)
        return self.book.named(text)

    def call(self, name: str) -> Any:
        arguments = []
        while not self.take(")"):
            arguments.append(self.comparison())
            self.take(",")
        return FUNCTIONS[name](*arguments)


def sum_ifs(values: list[Any], *pairs: Any) -> float:
    chosen = [all(map(matches, row, pairs[1::2])) for row in zip(*pairs[::2], strict=True)]
    return sum(value for value, wanted in zip(values, chosen, strict=True) if wanted and isinstance(value, float | int))


def sum_product(*columns: list[Any]) -> float:
    total = 0.0
    for row in zip(*columns, strict=True):
        part = 1.0
        for value in row:
            part *= value if isinstance(value, (int, float)) else 0.0
        total += part
    return total


FUNCTIONS = {
    "SUM": lambda values: sum(value for value in values if isinstance(value, (int, float))),
    "SUMIFS": sum_ifs,
    "SUMPRODUCT": sum_product,
    "COUNT": lambda values: sum(isinstance(value, (int, float)) for value in values),
    "COUNTA": lambda values: sum(value is not None for value in values),
    "COUNTIF": lambda values, criterion: sum(matches(value, criterion) for value in values),
    "COUNTIFS": lambda *pairs: sum(all(map(matches, row, pairs[1::2])) for row in zip(*pairs[::2], strict=True)),
    "EXACT": lambda values, text: [value == text for value in values],
    "ISNUMBER": lambda values: [isinstance(value, (int, float)) for value in values],
    "ROWS": len,
    "IF": lambda condition, first, second: first if condition else second,
    "ABS": lambda value: abs(number(value)),
    "MAX": lambda *values: max(map(number, values)),
    "N": lambda value: value if isinstance(value, (int, float)) else 0.0,
    "DATE": lambda year, month, day: (date(int(year), int(month), int(day)) - date(1899, 12, 30)).days,
}
