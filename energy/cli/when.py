"""``energy when``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from energy.cli._app import JsonOption, app, print_json, say


@app.command()
def when(
    scenarios: Annotated[list[Path], typer.Argument(metavar="SCENARIO.yaml...", help="One file for each site.")],
    within_h: Annotated[int, typer.Option("--within-h", help="First hours to try, from dates.start on.")] = 168,
    by: Annotated[str, typer.Option(metavar="RESULT", help="What to have least of.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Find the best hour to start, and the best of several sites.

    By hourly emissions where each site has hours, else by location-based ones, else by energy at the meter.
    """
    from energy.scenario import read_scenario
    from energy.scenario.when import document_of, starts_of

    found = {str(path): starts_of(read_scenario(path), within_h, path.parent) for path in scenarios}
    order = ("emissions_hourly", "emissions_location", "energy_facility")
    usual = next(name for name in order if all(name in one.values for one in found.values()))
    document = document_of(found, by or usual)
    if as_json:
        print_json("when/1", within_h=within_h, **document)
        return
    say("\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> list[str]:
    by, units = document["by"], document["units"]
    unit = _words(units[by])
    lines = [f"least {by.replace('_', ' ')}, {unit}"]
    for site in document["sites"]:
        lines += ["", site["site"]]
        earliest = site["earliest"][by]
        for which in ("best", "earliest", "worst"):
            one = site[which]
            change = f" ({one[by] / earliest - 1.0:+.1%})" if earliest and which != "earliest" else ""
            others = ", ".join(
                f"{name.replace('_', ' ')} {value:,.5g} {_words(units[name])}"
                for name, value in one.items()
                if name not in ("start_utc", by)
            )
            lines.append(f"  {which:9}{one['start_utc']}  {one[by]:>12,.5g}{change}; {others}")
    note = (
        "Average factors: they weigh the grid as it is. What a change of the hour causes is marginal, and not in here."
    )
    return [*lines, "", f"note: {note}"]


def _words(unit: str) -> str:
    from energy.units import quantity, words

    return words(quantity(1.0, unit).units)
