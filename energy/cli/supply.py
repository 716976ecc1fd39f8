"""``energy supply``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from energy.cli._app import JsonOption, app, print_json, say

if TYPE_CHECKING:
    from energy.supply.site_supply import Figure, SiteSupply


@app.command()
def supply(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="YAML of load, sun, wind, battery and grid.")],
    as_json: JsonOption = False,
) -> None:
    """Run a year of sun, wind and battery: grid energy, 24/7.

    The greedy rule always; with a goal the optimum as well, and the gap between them.
    """
    from dataclasses import asdict

    from energy.errors import SupplyError
    from energy.importers.yaml_text import parse_yaml, read_text
    from energy.supply.site_supply import site_supply
    from energy.supply.specification import supply_file

    asked = supply_file(parse_yaml(read_text(file, SupplyError), file.name, SupplyError), file.name)
    found = site_supply(asked, file.parent)
    if as_json:
        figures = {
            group: {name: asdict(figure) for name, figure in some.items()} for group, some in found.figures.items()
        }
        print_json("supply/1", name=found.name, hours=found.hours, figures=figures, notes=list(found.notes))
        return
    say("\n".join(_lines(found)))


def _lines(found: SiteSupply) -> list[str]:
    lines = [f"{found.name or 'site'}: {found.hours:,} h"]
    for group, figures in found.figures.items():
        lines += ["", group, *(_line(name, figure) for name, figure in figures.items())]
    if found.notes:
        lines += ["", *(f"note: {note}" for note in found.notes)]
    return lines


def _line(name: str, figure: Figure) -> str:
    from energy.units import words

    if figure.value is None:
        return f"  {name.replace('_', ' '):<28}{'not known':>16}"
    if figure.unit == "" and name != "full_cycles":
        return f"  {name.replace('_', ' '):<28}{figure.value:>15.1%}"
    digits = 0 if abs(figure.value) >= 1000.0 else 3
    shown = round(figure.value, digits) + 0.0  # no minus before a zero
    return f"  {name.replace('_', ' '):<28}{shown:>16,.{digits}f} {words(figure.unit)}".rstrip()
