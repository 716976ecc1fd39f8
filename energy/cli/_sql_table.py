"""A query's result as text for people: names, units under them, numbers right-aligned."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from energy.report.numbers import MINUS, THIN

if TYPE_CHECKING:
    from energy.ledger.query import Result

NO_DATA = "no data"
_SIGNIFICANT = 5  # of a column's largest number; programs get every digit
_MOST_DECIMALS = 9
_WIDEST_TEXT = 60


def table_lines(result: Result) -> tuple[list[str], bool]:
    """Return the lines of the table, and whether numbers were rounded or texts cut."""
    rows = result.rows()
    shortened = False
    any_unit = any(column.unit_label for column in result.columns)
    columns = []
    for index, column in enumerate(result.columns):
        values = [row[index] for row in rows]
        cells, cut = _numbers(values) if column.is_number else _texts(values)
        shortened = shortened or cut
        head = [column.name, column.unit_label] if any_unit else [column.name]
        width = max(len(cell) for cell in (*head, *cells))
        columns.append(
            [cell.rjust(width) if column.is_number else cell.ljust(width) for cell in (*head, "─" * width, *cells)]
        )
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)], shortened


def _numbers(values: list[Any]) -> tuple[list[str], bool]:
    """Write one column of numbers with one count of decimals; trailing zeros that all share are left out."""
    numbers = [_decimal(value) for value in values]
    finite = [number for number in numbers if number is not None and number.is_finite()]
    largest = max((abs(number) for number in finite), default=Decimal(0))
    places = min(_MOST_DECIMALS, max(0, _SIGNIFICANT - 1 - largest.adjusted())) if largest else 0
    rounded = {number: _quantized(number, places) for number in finite}
    while places and all(number == _quantized(number, places - 1) for number in rounded.values()):
        places -= 1
    cells = [_cell(number, rounded.get(number) if number in rounded else None, places) for number in numbers]
    return cells, any(number != short for number, short in rounded.items())


def _quantized(number: Decimal, places: int) -> Decimal:
    from decimal import ROUND_HALF_UP, localcontext

    with localcontext() as context:
        context.prec = 400  # a DOUBLE may have 309 digits before its point
        return number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def _decimal(value: Any) -> Decimal | None:
    if value is None:
        return None
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _cell(number: Decimal | None, rounded: Decimal | None, places: int) -> str:
    if number is None:
        return NO_DATA
    if rounded is None:
        return str(number).lower().replace("-", MINUS)
    if not rounded and number:
        return f"{number:.1e}".replace("-", MINUS)  # small beside the others, but not zero
    if abs(number) >= Decimal(10) ** 15:
        return f"{number:.4e}".replace("-", MINUS).replace("+", "")
    return f"{rounded:,.{places}f}".replace(",", THIN).replace("-", MINUS)


def _texts(values: list[Any]) -> tuple[list[str], bool]:
    cells, cut = [], False
    for value in values:
        text = _text(value)
        if len(text) > _WIDEST_TEXT:
            text, cut = text[: _WIDEST_TEXT - 1] + "…", True
        cells.append(text)
    return cells, cut


def _text(value: Any) -> str:
    from datetime import datetime

    if value is None:
        return NO_DATA
    if isinstance(value, datetime):
        seconds = f"{value:%Y-%m-%d %H:%M:%S}" if value.second or value.microsecond else f"{value:%Y-%m-%d %H:%M}"
        return f"{seconds} UTC" if value.tzinfo is not None else seconds
    if isinstance(value, bool):
        return "true" if value else "false"
    text = " ".join(str(value).split())
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)  # nothing steers the terminal
