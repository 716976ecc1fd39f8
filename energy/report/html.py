"""The report for people: one HTML page that loads nothing, prints on A4 and Letter, and reads at 390 pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from energy.report import charts, numbers
from energy.report.amounts import ZERO, add, ratio
from energy.report.display import CellText, bar_scale, cell_text, column_format, figure_text, header
from energy.report.model import (
    Block,
    Cell,
    ChartBlock,
    Column,
    Figure,
    FigureBlock,
    Notice,
    Prose,
    Report,
    Row,
    TableBlock,
)
from energy.report.sections._cells import TIER_WORDS
from energy.resources import resource

_TEMPLATES = "reports/templates"
_WIDE_FROM = 9  # columns, ranges counted: a section with such a table prints on landscape pages
_RECORDS_FROM = 12  # columns of text alone: such a table is set as records
_SHORT_TEXT = 16  # characters: such a text, often a date or a host, stays on one line
_LONG_TEXT = 24  # characters: such a text gets a wider column
_PROSE = 80
_RANGE_HEAD = f"Range (95{numbers.THIN}%)"
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class _Head:
    label: str
    right: bool


def text(report: Report) -> str:
    """Return the page.

    Parameters
    ----------
    report : Report
        The report of a quarter.
    """
    folder = resource(_TEMPLATES)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["code"] = _code
    template = environment.from_string((folder / "report.html.jinja").read_text(encoding="utf-8"))
    css = (folder / "report.css").read_text(encoding="utf-8")
    sections = []
    for section in report.sections:
        blocks = [_view(block) for block in section.blocks]
        sections.append({"section": section, "blocks": blocks, "wide": any(view.get("wide") for view in blocks)})
    return template.render(report=report, css=Markup(css), sections=sections)


def _code(words: str) -> Markup:
    """Set words between backquotes as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(words))))


def _view(block: Block) -> dict[str, Any]:
    """Return what the template arranges: texts only, every number already written."""
    if isinstance(block, FigureBlock):
        return _figures(block)
    if isinstance(block, TableBlock):
        return _table(block)
    if isinstance(block, ChartBlock):
        return _chart(block)
    kind = "notice" if isinstance(block, Notice) else "prose"
    assert isinstance(block, (Notice, Prose))
    return {"kind": kind, "block": block}


# --- figures ---
def _figures(block: FigureBlock) -> dict[str, Any]:
    scale = bar_scale(figure.cell for figure in block.figures)
    against = [words for words, _ in block.figures[0].changes]
    rows = [_figure(figure, scale, len(against)) for figure in block.figures]
    return {"kind": "figures", "block": block, "rows": rows, "scale": scale, "against": against}


def _figure(figure: Figure, scale: int, changes: int) -> dict[str, Any]:
    shown = figure_text(figure.cell)
    words = [text for _, text in figure.changes] or ["not compared"] * changes
    return {
        "figure": figure,
        "text": shown,
        "reason": figure.cell.reason if shown.muted else "",
        "bar": Markup(_range_bar(figure, scale)),
        "changes": words,
        "known": figure.known,
    }


def _range_bar(figure: Figure, scale: int) -> str:
    """Draw low to high around the value, which stands in the middle; an end past the scale becomes a point."""
    cell = figure.cell
    if not isinstance(cell.value, Decimal) or not cell.value or cell.low is None or cell.high is None:
        return ""
    ends = [60 + 58 * float((end / cell.value - 1) * 100) / scale for end in (cell.low, cell.high)]
    first, last = max(ends[0], 2.0), min(ends[1], 118.0)
    tip = f'<path d="M{last - 4:.1f} 3L{last:.1f} 7L{last - 4:.1f} 11" class="tip"/>' if ends[1] > last else ""
    tip += f'<path d="M{first + 4:.1f} 3L{first:.1f} 7L{first + 4:.1f} 11" class="tip"/>' if ends[0] < first else ""
    half = '<path d="M60 4a3 3 0 0 0 0 6z" class="dot"/>' if figure.dot == "half" else ""
    kind = "dot" if figure.dot == "filled" else "hollow"
    return (
        '<svg class="rng" viewBox="0 0 120 14" aria-hidden="true"><path d="M2 7H118" class="axis"/>'
        f'<path d="M{first:.1f} 7H{last:.1f}" class="span"/>{tip}'
        f'<circle cx="60" cy="7" r="3" class="{kind}"/>{half}</svg>'
    )


# --- tables ---
def _table(block: TableBlock) -> dict[str, Any]:
    columns = list(block.columns)
    by_column = [[row.cells[place] for row in block.rows] for place in range(len(columns))]
    forms = [column_format(column, cells) for column, cells in zip(columns, by_column, strict=True)]
    shown = [
        [cell_text(cell, column, form) for cell, column, form in zip(row.cells, columns, forms, strict=True)]
        for row in block.rows
    ]
    ranged = [column.ranged and any(row[place].range for row in shown) for place, column in enumerate(columns)]
    heads = []
    for column, form, has_range in zip(columns, forms, ranged, strict=True):
        right = column.kind in ("number", "share")
        heads.append(_Head(header(column, form) if right else column.label, right))
        if has_range:
            heads.append(_Head(_RANGE_HEAD, True))
    rows = [_row(row, texts, columns, ranged) for row, texts in zip(block.rows, shown, strict=True)]
    records = len(columns) >= _RECORDS_FROM and all(column.kind in ("text", "code") for column in columns)
    reasons = _reasons(block)
    return {
        "kind": "records" if records else "table",
        "block": block,
        "heads": heads,
        "rows": rows,
        "wide": len(heads) >= _WIDE_FROM and not records,
        "reasons": reasons,
    }


def _row(row: Row, texts: list[CellText], columns: list[Column], ranged: list[bool]) -> dict[str, Any]:
    cells = []
    for shown, column, has_range, cell in zip(texts, columns, ranged, row.cells, strict=True):
        right = column.kind in ("number", "share")
        cells.append(
            {
                "id": cell.id,
                "text": shown.value,
                "class": " ".join(
                    name
                    for name, wanted in (
                        ("n", right),
                        ("m", shown.muted),
                        ("c", column.kind == "code"),
                        ("s", column.kind == "text" and len(shown.value) <= _SHORT_TEXT),
                        ("l", column.kind == "text" and len(shown.value) > _LONG_TEXT),
                        ("xl", column.kind == "text" and len(shown.value) > _PROSE),
                    )
                    if wanted
                ),
                "code": column.kind == "code" and not shown.muted,
            }
        )
        if has_range:
            words = shown.range or ("" if shown.muted else _no_range(cell))
            cells.append({"id": "", "text": words, "class": "n m", "code": False})
    return {"row": row, "cells": cells}


def _no_range(cell: Cell) -> str:
    return "exact" if cell.value == 0 else numbers.RANGE_UNKNOWN


def _reasons(block: TableBlock) -> list[str]:
    """Return why values are absent, each reason once: nothing needs a pointer to be read."""
    found: dict[str, str] = {}
    for row in block.rows:
        for cell in row.cells:
            if cell.mark and cell.reason and cell.mark != "not applicable":
                found.setdefault(cell.reason, cell.mark)
    return [f"{mark}: {reason}" if not reason.lower().startswith(mark) else reason for reason, mark in found.items()]


# --- charts ---
def _chart(block: ChartBlock) -> dict[str, Any]:
    drawings = [Markup(charts.svg(block, width)) for width in charts.WIDTHS]
    form = charts.unit_of(block)
    sub = block.sub
    if form.unit and block.kind not in ("heat", "strip"):  # these name their unit in the drawing, or have none
        first, *rest = block.sub.split(";", 1)
        sub = ";".join([f"{first}, {form.unit}", *rest])
    return {"kind": "chart", "block": block, "drawings": drawings, "sub": sub, "key": _tier_key(block)}


def _tier_key(block: ChartBlock) -> list[dict[str, Any]]:
    """Return the key of the tiers with their shares of the chart."""
    if block.kind not in ("tier_bars", "strip"):
        return []
    tiers: dict[str, Decimal] = {}
    for series in block.series:
        tier = series.key.rsplit("|", 1)[-1]
        part = add([{"value": value} for value in series.values], "value") or ZERO
        tiers[tier] = tiers.get(tier, ZERO) + part
    whole = sum(tiers.values(), ZERO)
    name = f"{block.id.replace('.', '-')}-key"
    out = []
    for tier, part in tiers.items():
        if not part:
            continue
        share = numbers.share(ratio(part, whole), 1) if block.kind == "tier_bars" else ""
        swatch = (
            f'<svg class="key" viewBox="0 0 14 14" aria-hidden="true">{charts.patterns(f"{name}-{tier}")}'
            f'<rect x=".5" y=".5" width="13" height="13" {charts.tier_fill(tier, f"{name}-{tier}")} '
            'stroke="var(--muted)"/></svg>'
        )
        out.append({"swatch": Markup(swatch), "tier": tier, "words": TIER_WORDS[tier], "share": share})
    return out
