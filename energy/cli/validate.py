"""``energy validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from energy.cli._app import JsonOption, app, print_json, say
from energy.validation.suites import SUITES


@app.command()
def validate(
    suite: Annotated[
        str,
        typer.Argument(metavar="SUITE", help=f"{', '.join(SUITES)}."),
    ] = "training",
    data: Annotated[Path | None, typer.Option(metavar="FILE", help="A file with the suite's columns.")] = None,
    rows: Annotated[Path | None, typer.Option(metavar="OUT.csv", help="Write every row here.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare predicted with published figures: error statistics.

    Nothing is fitted. A row that cannot be answered counts as not answered and says why.
    """
    from energy.validation.statistics import document, write_rows
    from energy.validation.suites import run

    outcome = run(suite, data)
    if rows is not None:
        write_rows(outcome, rows)
    found = document(outcome)
    if as_json:
        print_json("validation/1", **found)
        return
    say("\n".join(_lines(found)))


def _lines(found: dict[str, Any]) -> list[str]:
    """Return the statistics as a table, all rows first, then by group."""
    lines = [f"{found['suite']}: {found['answered']} of {found['rows']} rows of {found['data']} answered", ""]
    lines.append(f"{'':44}{'rows':>7}{'MAPE %':>9}{'median %':>10}{'bias %':>9}{'in 80 %':>9}{'in 95 %':>9}")
    lines.append(_line("all", found))
    further = [name for name, value in found.items() if isinstance(value, float) and name not in _STATISTICS]
    lines += [f"{name.replace('_', ' ')}: {found[name]:.4g}" for name in further]
    for name, values in found["groups"].items():
        lines.append("")
        lines += [_line(f"{name} {value}", figures) for value, figures in values.items()]
    if found["failures"]:
        lines.append("")
        lines += [f"not answered: {one['row']}: {one['reason']}" for one in found["failures"][:20]]
    return lines


_STATISTICS = (
    *("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "within_10pct"),
    *("inside_80pct", "inside_95pct"),
)


def _line(label: str, figures: dict[str, Any]) -> str:
    cells = [figures[name] for name in ("mape_pct", "median_ape_pct", "bias_pct", "inside_80pct", "inside_95pct")]
    texts = ["–" if cell is None else f"{cell:.1f}" for cell in cells]
    widths = (9, 10, 9, 9, 9)
    shown = "".join(f"{text:>{width}}" for text, width in zip(texts, widths, strict=True))
    return f"{label[:43]:44}{figures['answered']:>7}{shown}"
