"""The report as plain values: computed once, then written as HTML, JSON and CSV.

A writer may choose how a value looks, never what it is. Every value has a dotted id that stays the same from one
version of the report to the next, so that ``energy explain`` and ``energy verify`` can name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

SCHEMA = "report/1"

Value: TypeAlias = Decimal | int | str | None
# Missing is not zero: what stands in place of a value, each with its reason.
Mark = Literal["", "no data", "not applicable", "below threshold", "not added"]
Dot = Literal["filled", "half", "hollow", "exact"]
# Which lines of the ledger a value is the sum of: column and value, in a fixed order.
Selection: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of the report.

    Attributes
    ----------
    id : str
        Stable dotted id, such as ``emissions.by_project.llm-pretrain.location``.
    value : Decimal, int, str or None
        In ``unit``; ``None`` where ``mark`` says why there is none.
    unit : str
        Unit text of ``units.txt``; the boundary is part of it. Empty for text and counts.
    low, high : Decimal or None
        Ends of the 95 % range; both ``None`` where no range is known or the value is exact.
    mark : str
        Empty, or what stands in place of the value.
    reason : str
        Why the mark stands there.
    selection : tuple of pairs
        The lines that the value is the sum of; ``None`` when it is no such sum.
    factor_ids : tuple of str
        Factors that made the value.
    """

    id: str
    value: Value
    unit: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    mark: Mark = ""
    reason: str = ""
    selection: Selection | None = None
    factor_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """One headline: a value with its name, how it is known, and how it changed."""

    label: str
    cell: Cell
    dot: Dot
    known: str
    method: str = ""
    changes: tuple[tuple[str, str], ...] = ()
    tier_shares: tuple[tuple[str, Decimal], ...] = ()


@dataclass(frozen=True, slots=True)
class FigureBlock:
    """The headline figures of a section, on one common scale of ranges."""

    id: str
    caption: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: words, then the unit of all its values.

    ``ranged`` asks the writers for the range beside the value; ``kind`` says how text and numbers are set.
    """

    key: str
    label: str
    unit: str = ""
    kind: Literal["text", "number", "share", "code"] = "number"
    ranged: bool = False
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table; a ``sum`` is set between rules, ``flagged`` with a mark and words."""

    key: str
    cells: tuple[Cell, ...]
    kind: Literal["row", "sum"] = "row"
    flag: str = ""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table: the first column names the row."""

    id: str
    caption: str
    sub: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """One series of a chart: a value, or ``None`` for no data, at each of the chart's categories."""

    key: str
    label: str
    values: tuple[Decimal | None, ...]
    low: tuple[Decimal | None, ...] = ()
    high: tuple[Decimal | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ChartBlock:
    """A chart as data; ``charts.py`` draws it. Its values stand in the table ``table_id`` too, where there is one."""

    id: str
    kind: Literal["tier_bars", "method_bars", "lines", "heat", "strip"]
    heading: str
    sub: str
    alt: str
    unit: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    table_id: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning with its first word, such as "Open reservations."."""

    word: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs, or terms with their definitions."""

    id: str
    heading: str = ""
    paragraphs: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    commands: tuple[str, ...] = ()


Block: TypeAlias = FigureBlock | TableBlock | ChartBlock | Notice | Prose


@dataclass(frozen=True, slots=True)
class Section:
    """One numbered section; ``lead`` is its answer in a sentence."""

    number: int
    id: str
    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows as the ledger holds them: what the figures are sums of."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report of a quarter."""

    quarter: str
    title: str
    subtitle: str
    first_day: str
    last_day: str
    timezone: str
    entity: str
    boundary: str
    status: str
    ledger_version: int
    code_version: str
    run_id: str
    empty: bool
    sections: tuple[Section, ...]
    inputs: tuple[tuple[str, str], ...] = ()
    data: tuple[DataTable, ...] = field(default=())
    # More rows of the ledger, for the workbook alone: asked for when it is written, while the ledger is open.
    rows: Callable[[], tuple[DataTable, ...]] | None = field(default=None, compare=False, repr=False)

    def cells(self) -> Iterator[Cell]:
        """Give every value of the report in the order of the pages."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, FigureBlock):
                    yield from (figure.cell for figure in block.figures)
                elif isinstance(block, TableBlock):
                    for row in block.rows:
                        yield from row.cells
