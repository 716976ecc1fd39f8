"""How a value of the report is written: its unit in words with the boundary, one prefix per column, its digits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from energy.report import numbers
from energy.report.model import Cell, Column, Value
from energy.report.numbers import THIN

_WHOLE_CHIP_HOURS = 10  # from here on a part of a chip-hour is of no use to a reader
UNIT_DEPTH = 3  # decimals beyond this crowd a table


@dataclass(frozen=True, slots=True)
class UnitWords:
    """How a machine unit reads: the ladder of its prefixes, or its words alone."""

    family: str = ""
    to_base: Decimal = Decimal(1)
    words: str = ""
    per: str = ""
    boundary: str = ""
    decimals: int | None = None


_K = Decimal(1000)
UNITS: dict[str, UnitWords] = {
    "": UnitWords(decimals=0),
    "chip": UnitWords(words="chips"),
    "chip*h": UnitWords(words="chip-hours"),
    "h": UnitWords(words="hours", decimals=0),
    "%": UnitWords(),
    "kWh_chip": UnitWords("Wh", _K, boundary="chip"),
    "kWh_it": UnitWords("Wh", _K, boundary="IT"),
    "kWh_facility": UnitWords("Wh", _K, boundary="facility"),
    "W_facility": UnitWords("W", boundary="facility"),
    "W_chip/chip": UnitWords("W", boundary="chip"),
    "kgCO2e": UnitWords("gCO2e", _K),
    "kWh_facility/chip*h": UnitWords("Wh", _K, per="/chip-hour", boundary="facility"),
    "gCO2e/chip*h": UnitWords("gCO2e", per="/chip-hour"),
    "gCO2e/kWh_facility": UnitWords(words="g/kWh"),
    "gCO2e/kWh_generation": UnitWords(words="g/kWh"),
    "MWh_generation": UnitWords("Wh", _K * _K, boundary="generation"),
    "kWh_facility/kWh_it": UnitWords(words="ratio", decimals=2),
    "kWh_it/kWh_chip": UnitWords(words="ratio", decimals=2),
    "kWh": UnitWords("Wh", _K),
    "kW_facility": UnitWords("W", _K, boundary="facility"),
    "kW_facility/kW_it": UnitWords(words="kW", decimals=2),
    "L": UnitWords("l"),
    "L/kWh_it": UnitWords(words="L/kWh", decimals=2),
    "USD": UnitWords("USD"),
    "km": UnitWords(words="km", decimals=0),
    "s": UnitWords(words="s", decimals=2),
    "day": UnitWords(words="days", decimals=1),
    "token/s": UnitWords(words="tokens/s", decimals=0),
    "TFLOP/s": UnitWords(words="TFLOP/s", decimals=0),
    "GiB": UnitWords(words="GiB", decimals=1),
    "J_chip/token": UnitWords(words="J/token", decimals=3),
}


# Units of energy that a reader may ask for in place of the fitting prefix: how many of them one Wh is.
ENERGY_UNITS: dict[str, Decimal] = {
    "kWh": Decimal("1e-3"),
    "MWh": Decimal("1e-6"),
    "GWh": Decimal("1e-9"),
    "GJ": Decimal("3.6e-6"),
}


@dataclass(frozen=True, slots=True)
class CellText:
    """A value as people read it; ``muted`` for words in place of a number, whose reason is ``title``."""

    value: str
    unit: str = ""
    range: str = ""
    muted: bool = False
    title: str = ""


def figure_text(cell: Cell, energy_unit: str = "") -> CellText:
    """Write a headline value with its own prefix and its range.

    Parameters
    ----------
    cell : Cell
        The value.
    energy_unit : str
        A key of ``ENERGY_UNITS`` that the reader asks for; by default the fitting prefix.

    Examples
    --------
    >>> cell = Cell("front.energy_facility", Decimal(1284370), "kWh_facility", Decimal(1252000), Decimal(1317000))
    >>> text = figure_text(cell)
    >>> (text.value, text.unit, text.range.replace(THIN, " "))
    ('1.284', 'GWh', '1.252 – 1.317')

    """
    if cell.mark or cell.value is None:
        return CellText(cell.mark or numbers.NO_DATA, muted=True, title=cell.reason)
    if isinstance(cell.value, str):
        return CellText(cell.value)
    unit = UNITS[cell.unit]
    value = Decimal(cell.value)
    if energy_unit and unit.family == "Wh" and not unit.per:
        return _asked(cell, value, unit.to_base * ENERGY_UNITS[energy_unit], energy_unit)
    if unit.family:
        scaled = [None if part is None else part * unit.to_base for part in (value, cell.low, cell.high)]
        text, name, span = numbers.figure(scaled[0], scaled[1], scaled[2], unit.family)
        return CellText(text, name + unit.per, span)
    decimals = unit.decimals if unit.decimals is not None else max(min(numbers.places(value), UNIT_DEPTH), 0)
    if cell.unit == "chip*h" and abs(value) >= _WHOLE_CHIP_HOURS:
        decimals = 0
    span = "" if cell.low is None or cell.high is None else numbers.span(cell.low, cell.high, decimals)
    return CellText(numbers.plain(value, decimals), unit.words, span)


def _asked(cell: Cell, value: Decimal, factor: Decimal, unit: str) -> CellText:
    """Write an energy in the unit that the reader asks for, with the digits of its range."""
    low, high = (None if end is None else end * factor for end in (cell.low, cell.high))
    decimals = numbers.places(value * factor, low, high)
    if low is None or high is None:
        return CellText(numbers.plain(value * factor, max(decimals, 0)), unit, numbers.RANGE_UNKNOWN)
    return CellText(numbers.plain(value * factor, decimals), unit, numbers.span(low, high, decimals))


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """One prefix and one count of decimals for a whole column."""

    factor: Decimal
    unit: str
    decimals: int


def column_format(column: Column, cells: Iterable[Cell], energy_unit: str = "") -> ColumnFormat:
    """Choose the prefix and the digits of a column by its greatest value; its range decides how many are known.

    ``energy_unit`` is a key of ``ENERGY_UNITS`` that the reader asks for.
    """
    unit = UNITS[column.unit]
    size, low, high = Decimal(0), None, None
    for cell in cells:
        if isinstance(cell.value, Decimal | int) and not cell.mark and abs(Decimal(cell.value)) > size:
            size, low, high = abs(Decimal(cell.value)), cell.low, cell.high
    factor, name = Decimal(1), unit.words
    if energy_unit and unit.family == "Wh" and not unit.per:
        factor, name = 1 / (unit.to_base * ENERGY_UNITS[energy_unit]), energy_unit
    elif unit.family:
        step, text = numbers.step(size * unit.to_base, unit.family)
        factor, name = step / unit.to_base, text + unit.per
    if column.decimals is not None or unit.decimals is not None:
        fixed = column.decimals if column.decimals is not None else unit.decimals
        return ColumnFormat(factor, name, fixed or 0)
    if column.ranged and low is not None and high is not None:
        decimals = numbers.places(size / factor, low / factor, high / factor)
    else:
        decimals = numbers.places(size / factor)
    return ColumnFormat(factor, name, max(0, min(decimals, UNIT_DEPTH)))


def cell_text(cell: Cell, column: Column, form: ColumnFormat) -> CellText:
    """Write one cell in the format of its column; a value that would round to 0 says that it is smaller."""
    if cell.mark or cell.value is None:
        return CellText(cell.mark or numbers.NO_DATA, muted=True, title=cell.reason)
    if isinstance(cell.value, str):
        return CellText(cell.value)
    if column.kind == "share":
        return CellText(numbers.share(cell.value, 1))
    if not cell.value:
        return CellText("0", form.unit)
    scaled = Decimal(cell.value) / form.factor
    least = Decimal(1).scaleb(-form.decimals)
    if scaled and abs(scaled) < least / 2:
        text = f"<{THIN}{numbers.plain(least, form.decimals)}"
    else:
        text = numbers.plain(scaled, form.decimals)
    span = ""
    if column.ranged and cell.low is not None and cell.high is not None:
        span = numbers.span(cell.low / form.factor, cell.high / form.factor, form.decimals)
    return CellText(text, form.unit, span)


def header(column: Column, form: ColumnFormat) -> str:
    """Write the head of a column: words, then the unit.

    Examples
    --------
    >>> column = Column("facility", "Facility energy", "kWh_facility")
    >>> header(column, ColumnFormat(Decimal(1000), "MWh", 1))
    'Facility energy, MWh'

    """
    named = not form.unit or form.unit in column.label.lower()
    return column.label if named else f"{column.label}, {form.unit}"


def value_text(
    value: Value, unit: str, low: Decimal | None = None, high: Decimal | None = None, energy_unit: str = ""
) -> str:
    """Write a value with its unit and boundary in running text; ``energy_unit`` as in :func:`figure_text`."""
    text = figure_text(Cell("", value, unit, low, high), energy_unit)
    boundary = UNITS[unit].boundary
    words = f"{text.value}{THIN}{text.unit}" if text.unit else text.value
    return f"{words} {boundary}" if boundary else words


def bar_scale(cells: Iterable[Cell]) -> int:
    """Choose the smallest scale, in percent around the value, that holds the ranges of all figures.

    Examples
    --------
    >>> bar_scale([Cell("a", Decimal(100), "kgCO2e", Decimal(88), Decimal(113))])
    25

    """
    widest = Decimal(0)
    for cell in cells:
        if isinstance(cell.value, Decimal) and cell.value and cell.low is not None and cell.high is not None:
            ends = (cell.value - cell.low, cell.high - cell.value)
            widest = max(widest, *(abs(end / cell.value) * 100 for end in ends))
    return next((scale for scale in (10, 25, 50) if widest <= scale), 100)
