"""The report for machines: ``report.json``, schema ``report/1``.

Numbers are texts with a decimal point, as exact as the ledger holds them; keys are sorted, so equal reports are equal
bytes.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from energy.report.model import (
    SCHEMA,
    Block,
    Cell,
    ChartBlock,
    Figure,
    FigureBlock,
    Notice,
    Prose,
    Report,
    Section,
    Series,
    TableBlock,
)


def decimal_text(value: Decimal) -> str:
    """Write a decimal without exponent and without trailing zeros.

    Examples
    --------
    >>> decimal_text(Decimal("1.500000000000")), decimal_text(Decimal("1E+3")), decimal_text(Decimal("0E-12"))
    ('1.5', '1000', '0')

    """
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def plain(value: Any) -> Any:
    """Return a value as JSON holds it: decimals as text, instants in ISO 8601."""
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, float):
        return repr(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def cell_document(cell: Cell) -> dict[str, Any]:
    """Return one cell; fields that say nothing are left out, the value never."""
    out: dict[str, Any] = {"id": cell.id, "value": plain(cell.value)}
    if cell.unit:
        out["unit"] = cell.unit
    if cell.low is not None and cell.high is not None:
        out |= {"low": plain(cell.low), "high": plain(cell.high)}
    if cell.mark:
        out |= {"mark": cell.mark, "reason": cell.reason}
    if cell.factor_ids:
        out["factor_ids"] = list(cell.factor_ids)
    if cell.selection is not None:
        out["selection"] = dict(cell.selection)
    return out


def document(report: Report) -> dict[str, Any]:
    """Return the whole report as a JSON document."""
    return {
        "schema": SCHEMA,
        "quarter": report.quarter,
        "title": report.title,
        "period": {"first_day": report.first_day, "last_day": report.last_day, "timezone": report.timezone},
        "entity": report.entity or None,
        "boundary": report.boundary,
        "status": report.status,
        "ledger_version": report.ledger_version,
        "code_version": report.code_version,
        "run_id": report.run_id,
        "empty": report.empty,
        "inputs": [{"file_name": name, "sha256": digest} for name, digest in report.inputs],
        "sections": [_section(section) for section in report.sections],
        "data": {
            table.name: [
                {name: plain(value) for name, value in zip(table.columns, row, strict=True)} for row in table.rows
            ]
            for table in report.data
        },
    }


def text(report: Report) -> str:
    """Return the document as text: sorted keys, one value a line, line feed at the end."""
    return json.dumps(document(report), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _section(section: Section) -> dict[str, Any]:
    return {
        "number": section.number,
        "id": section.id,
        "title": section.title,
        "lead": section.lead,
        "blocks": [_block(block) for block in section.blocks],
    }


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, FigureBlock):
        figures = [_figure(figure) for figure in block.figures]
        return {
            "kind": "figures",
            "id": block.id,
            "caption": block.caption,
            "figures": figures,
            "notes": list(block.notes),
        }
    if isinstance(block, TableBlock):
        return _table(block)
    if isinstance(block, ChartBlock):
        return _chart(block)
    if isinstance(block, Notice):
        return {"kind": "notice", "word": block.word, "lines": list(block.lines)}
    assert isinstance(block, Prose)
    return {
        "kind": "prose",
        "id": block.id,
        "heading": block.heading,
        "paragraphs": list(block.paragraphs),
        "terms": [{"term": term, "text": words} for term, words in block.terms],
        "commands": list(block.commands),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "label": figure.label,
        "known": figure.known,
        "dot": figure.dot,
        "method": figure.method or None,
        "changes": [{"against": against, "text": words} for against, words in figure.changes],
        "tier_shares": {tier: plain(part) for tier, part in figure.tier_shares},
        **cell_document(figure.cell),
    }


def _table(block: TableBlock) -> dict[str, Any]:
    return {
        "kind": "table",
        "id": block.id,
        "caption": block.caption,
        "sub": block.sub,
        "columns": [
            {"key": column.key, "label": column.label, "unit": column.unit or None} for column in block.columns
        ],
        "rows": [
            {
                "key": row.key,
                "kind": row.kind,
                "flag": row.flag or None,
                "cells": [cell_document(cell) for cell in row.cells],
            }
            for row in block.rows
        ],
        "notes": list(block.notes),
    }


def _chart(block: ChartBlock) -> dict[str, Any]:
    return {
        "kind": "chart",
        "id": block.id,
        "chart": block.kind,
        "heading": block.heading,
        "sub": block.sub,
        "alt": block.alt,
        "unit": block.unit or None,
        "table_id": block.table_id or None,
        "categories": list(block.categories),
        "series": [_series(series) for series in block.series],
        "notes": list(block.notes),
    }


def _series(series: Series) -> dict[str, Any]:
    out: dict[str, Any] = {
        "key": series.key,
        "label": series.label,
        "values": [plain(value) for value in series.values],
    }
    if any(value is not None for value in series.low):
        out |= {"low": [plain(value) for value in series.low], "high": [plain(value) for value in series.high]}
    return out
