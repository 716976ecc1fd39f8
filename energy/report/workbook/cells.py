"""Values in cells: texts that stay texts, numbers with their format, formulas with their cached value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from energy.report.workbook.formulas import plain_keys

INK, MUTED, RULE, PANEL, ERROR = "#1B1F24", "#565E67", "#D5D9DD", "#F4F5F6", "#B3261E"
METHOD_COLOURS = {"location": "#1559B0", "market": "#A34800", "hourly": "#7A2048"}
_FONT = "Arial"
_LONGEST = 32_767  # characters of a cell
_HIGHEST = 400  # points; a program shows 409 at most
_CUT = " (cut here: the whole text stands in the ledger)"
# Signs that XML cannot hold or that no reader can see; a line feed and a tab stay.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n")
WHOLE, PLAIN_INTEGER, RATIO, SMALL = "#,##0", "0", "0.00", "0.0E+00;-0.0E+00;0"
SHARE = '[=0]0%;[<0.0005]"< 0.1%";0.0%'
DATE, MINUTE, MONTH = "yyyy-mm-dd", "yyyy-mm-dd hh:mm", "yyyy-mm"


def clean_text(text: str) -> str:
    """Return the text as a cell can hold it: control characters are written out, not dropped.

    Examples
    --------
    >>> len(clean_text("a" + chr(1) + "b")), len(clean_text("x" * 40_000))
    (6, 32767)

    """
    plain = _HIDDEN.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - len(_CUT)] + _CUT


def number_format(decimals: int) -> str:
    """Return a format with thousands; what would round to 0 is shown by its power of ten.

    Examples
    --------
    >>> number_format(0), number_format(3)
    ('[=0]0;[<0.5]0.0E+00;#,##0', '[=0]0;[<0.0005]0.0E+00;#,##0.000')

    """
    least = Decimal(5).scaleb(-decimals - 1)
    digits = "#,##0" + ("." + "0" * decimals if decimals else "")
    return f"[=0]0;[<{least:f}]0.0E+00;{digits}"


class Keys:
    """Keys of the columns that formulas select by: their text in a cell, and whether SUMIFS may compare it."""

    def __init__(self, columns: dict[str, Iterable[str]]) -> None:
        self._labels = {column: _labels(keys) for column, keys in columns.items()}
        self._plain = {column: plain_keys(labels.values()) for column, labels in self._labels.items()}

    def label(self, column: str, key: str) -> str:
        """Return the text of a key, different from that of every other key of the column."""
        return self._labels.get(column, {}).get(key, key)

    def plain(self, column: str, key: str) -> bool:
        """Tell whether SUMIFS finds this key alone."""
        return self.label(column, key) in self._plain.get(column, frozenset())


def _labels(keys: Iterable[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    taken: set[str] = set()
    for key in sorted(set(keys)):
        label, number = clean_text(key), 1
        while label in taken:
            number += 1
            mark = f" ({number})"
            label = clean_text(key)[: _LONGEST - len(mark)] + mark
        taken.add(label)
        out[key] = label
    return out


class Pen:
    """Writes cells of one workbook; formats that are alike are made once."""

    def __init__(self, workbook: Any) -> None:
        self.workbook = workbook
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def style(self, **properties: Any) -> Any:
        """Return the format of these properties on the base of font, size and ink."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            base = {"font_name": _FONT, "font_size": 10, "font_color": INK, "valign": "top"}
            self._formats[key] = self.workbook.add_format(base | properties)
        return self._formats[key]

    def text(self, sheet: Any, row: int, column: int, text: str, **properties: Any) -> None:
        """Write a text; one that begins like a formula is marked as text, so that it stays text when edited."""
        plain = clean_text(text)
        if plain.startswith(_ACTIVE):
            properties |= {"quote_prefix": True}
        sheet.write_string(row, column, plain, self.style(**properties))

    def value(self, sheet: Any, row: int, column: int, value: Any, form: str = "", **properties: Any) -> None:
        """Write a value by its type; nothing where there is none."""
        if value is None:
            if properties:
                sheet.write_blank(row, column, None, self.style(**properties))
            return
        if isinstance(value, str):
            self.text(sheet, row, column, value, **properties)
            return
        style = self.style(**({"num_format": form} if form else {}), **properties)
        if isinstance(value, datetime):
            sheet.write_datetime(row, column, value.astimezone(UTC).replace(tzinfo=None), style)
        elif isinstance(value, date):
            sheet.write_datetime(row, column, datetime(value.year, value.month, value.day), style)
        elif isinstance(value, bool):
            sheet.write_boolean(row, column, value, style)
        else:
            sheet.write_number(row, column, float(value), style)

    def formula(
        self, sheet: Any, row: int, column: int, formula: str, cached: Any, form: str = "", **properties: Any
    ) -> None:
        """Write a formula (without its equals sign) with the value that programs show which do not compute."""
        style = self.style(**({"num_format": form} if form else {}), **properties)
        value = cached if isinstance(cached, str) else float(cached)
        sheet.write_formula(row, column, f"={formula}", style, value)


def _lines(text: str, width: float) -> int:
    return -(-max(len(text), 1) // int(width))


def row_height(texts: Iterable[tuple[str, float]]) -> float:
    """Return the height, in points, of a row with wrapped texts: each with its column's width in characters.

    Examples
    --------
    >>> row_height([("short", 40)]), row_height([("x" * 90, 40), ("short", 40)])
    (15, 42)

    """
    lines = max(
        (sum(-(-max(len(part), 1) // int(width)) for part in text.split("\n")) for text, width in texts), default=1
    )
    return min(15 if lines == 1 else 14 * lines, _HIGHEST)


def month_day(month: str) -> date:
    """Return the first day of a month, as a workbook holds it.

    Examples
    --------
    >>> month_day("2026-02")
    datetime.date(2026, 2, 1)

    """
    return date(int(month[:4]), int(month[5:7]), 1)


def reference(row: int, column: int, row_fixed: bool = False, column_fixed: bool = False) -> str:
    """Return the address of a cell; rows and columns count from 0.

    Examples
    --------
    >>> reference(4, 1), reference(4, 27, row_fixed=True, column_fixed=True)
    ('B5', '$AB$5')

    """
    letters, rest = "", column + 1
    while rest:
        rest, place = divmod(rest - 1, 26)
        letters = chr(65 + place) + letters
    return f"{'$' if column_fixed else ''}{letters}{'$' if row_fixed else ''}{row + 1}"
