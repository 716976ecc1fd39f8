"""``energy compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from energy.cli._app import JsonOption, app, print_json, say

if TYPE_CHECKING:
    from energy.scenario.compare import Comparison

#: Rounding of a part over the results.
_NOTHING = 1e-12
#: Ratios that people know by their name alone.
_RATIOS = ("kWh_it/kWh_chip", "kWh_facility/kWh_it")


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.yaml", help="Scenario file.")],
    second: Annotated[Path, typer.Argument(metavar="B.yaml", help="Scenario file that it is compared with.")],
    as_json: JsonOption = False,
) -> None:
    """Compare two scenarios: the difference by cause.

    Time, energy and emissions by method; the parts add up to the difference.
    """
    from energy.scenario import read_scenario, training_run
    from energy.scenario.compare import compare as compared

    runs = [training_run(read_scenario(path), path.parent) for path in (first, second)]
    names = (first.stem, second.stem) if first.stem != second.stem else (str(first), str(second))
    found = compared(runs[0], runs[1], names)
    if as_json:
        print_json("compare/1", **found.document())
        return
    say("\n".join(_lines(found)))


def _lines(found: Comparison) -> list[str]:
    lines = [f"A: {found.names[0]}", f"B: {found.names[1]}"]
    for one in found.differences:
        change = one.second - one.first
        share = f", {change / one.first:+.1%}" if one.first else ""
        unit = _words(one.unit)
        lines += ["", f"{one.name.replace('_', ' ')}: A {one.first:,.4g}, B {one.second:,.4g} {unit}{share}"]
        for driver, part in one.parts.items():
            first, second = one.drivers[driver]
            shown = part if abs(part) > _NOTHING * max(one.first, one.second) else 0.0
            text = f"  {driver:24}{shown:>+16,.4g}   {first:,.4g} to {second:,.4g} {_words(one.driver_units[driver])}"
            lines.append(text.rstrip())
        ends = "" if one.low is None else f"   95 %: {one.low:+,.4g} to {one.high:+,.4g}"
        lines.append(f"  {'B less A':24}{change:>+16,.4g}{ends}")
    return [*lines, "", *(f"note: {note}" for note in found.notes)]


def _words(unit: str) -> str:
    from energy.units import quantity, words

    if not unit or unit in _RATIOS:
        return ""
    return words(quantity(1.0, unit).units)
