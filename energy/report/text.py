"""The front page as lines of text, for the command line."""

from __future__ import annotations

from typing import Any

from energy.report.display import figure_text
from energy.report.model import FigureBlock, Notice, Report


def figures(report: Report) -> list[dict[str, Any]]:
    """Return the front page's figures: id, label, and value, unit and range as people read them."""
    out = []
    for block in report.sections[0].blocks:
        if isinstance(block, FigureBlock):
            for figure in block.figures:
                text = figure_text(figure.cell)
                out.append(
                    {
                        "id": figure.cell.id,
                        "label": figure.label,
                        "value": text.value,
                        "unit": text.unit,
                        "range": text.range,
                        "known": figure.known,
                    }
                )
    return out


def headline(report: Report) -> str:
    """Return the front page in lines of text: title, figures with ranges, open reservations."""
    lines = [f"{report.title}: {report.subtitle}"]
    for figure in figures(report):
        span = f"  ({figure['range']})" if figure["range"] else ""
        lines.append(f"  {figure['label']:<44} {figure['value']:>10} {figure['unit']}{span}")
    for block in report.sections[0].blocks:
        if isinstance(block, Notice):
            lines.append(f"  {block.word} {block.lines[0]}" if block.lines else f"  {block.word}")
            lines += [f"    {line}" for line in block.lines[1:]]
    return "\n".join(lines)
