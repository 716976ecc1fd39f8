"""``energy spread``."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from energy.cli._app import JsonOption, app, print_json, say

if TYPE_CHECKING:
    from energy.carbon.spread import SpreadLine


@app.command()
def spread(
    what: Annotated[str, typer.Argument(metavar="PLACE|QUARTER", help="Zone, country, cloud region; or 2026Q1.")],
    energy: Annotated[str | None, typer.Option(metavar="TEXT", help='At the meter, for a place: "1 GWh".')] = None,
    year: Annotated[int | None, typer.Option(help="Of the activity, for a place.")] = None,
    ledger: Annotated[Path | None, typer.Option("--ledger", help="Ledger folder, for a quarter.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show one energy under every factor set held.

    No range of an estimate: for one place public factors differ by boundary, year, edition, borders, gases.
    """
    if re.fullmatch(r"\d{4}Q[1-4]", what):
        if ledger is None or energy is not None or year is not None:
            raise typer.BadParameter(f"A quarter needs its ledger and nothing else: energy spread {what} --ledger DIR")
        from energy.carbon.spread import width
        from energy.ledger import Ledger
        from energy.ledger.spread import spread_of_quarter

        with Ledger(ledger) as opened:
            sites = spread_of_quarter(opened, what)
        if as_json:
            found = [asdict(one) | {"width": asdict(width(one.lines))} for one in sites]
            print_json("spread/1", quarter=what, sites=found)
            return
        for one in sites:
            say(f"site {one.site_id}, zone {one.zone_id}: {one.energy_facility_kwh:,.0f} kWh at the meter in {what}")
            say("\n".join(_table(one.lines)) + "\n")
        return
    if energy is None or year is None or ledger is not None:
        raise typer.BadParameter(f'A place needs energy and year: energy spread {what} --energy "1 GWh" --year 2026')
    from energy.carbon.spread import spread as spread_of
    from energy.carbon.spread import width
    from energy.units import read

    amount = read(energy, "kWh_facility", field="--energy").value
    lines = spread_of(what, amount, year)
    if as_json:
        kwh = float(amount.to("kWh_facility").magnitude)
        print_json(
            "spread/1",
            place=what,
            year=year,
            energy_facility_kwh=kwh,
            lines=[asdict(line) for line in lines],
            width=asdict(width(lines)),
        )
        return
    say("\n".join(_table(lines)))


def _table(lines: tuple[SpreadLine, ...]) -> list[str]:
    """Return the lines as a table, lowest first, the chosen one marked."""
    found = [f"  {'factor':32}{'g/kWh':>8}{'kg CO2e':>16}{'ratio':>7}  differs in"]
    for line in lines:
        mark = ">" if line.is_chosen else " "
        why = f"chosen: location-based, {line.year_note}" if line.is_chosen else "; ".join(line.reasons)
        figures = f"{line.intensity_gco2e_per_kwh_facility:>8.1f}{line.emissions_kgco2e:>16,.0f}"
        found.append(f"{mark} {line.factor_id:32}{figures}{line.ratio_to_chosen:>7.2f}  {why}")
    return [*found, _last(lines)]


def _last(lines: tuple[SpreadLine, ...]) -> str:
    """Return how far the lines lie apart, as the last line."""
    from energy.carbon.spread import WIDE_FROM, width

    found = width(lines)
    zeros = f"; {found.zero_lines} of zero left out of the ratio" if found.zero_lines else ""
    if found.highest_over_lowest is None:
        return f"one line above zero: no spread{zeros}"
    word = "wide spread" if found.is_wide else f"spread below {WIDE_FROM:g}"
    return (
        f"{word}: the highest ({found.highest_id}) is {found.highest_over_lowest:.1f} times the lowest "
        f"({found.lowest_id}){zeros}"
    )
