"""``energy catalogue``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from energy.cli._app import JsonOption, app, print_json, say


@app.command()
def catalogue(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="chips, nodes, models, prices, zones, factors, … (a wrong name lists all)."
        ),
    ],
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One entry; all of them by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the catalogue holds, with sources.

    Says what is unverified; a value that nobody published prints "not known". A chip comes with its watts by state.
    """
    from energy.catalogue.listing import entries, entry_lines, one, table_lines

    if name is None:
        listed = entries(kind)
        if as_json:
            print_json("catalogue/1", kind=kind, entries=listed)
        else:
            say("\n".join(table_lines(kind, listed)))
        return
    shown = one(kind, name)
    power = _power(name) if kind == "chips" else None
    if as_json:
        print_json("catalogue-entry/1", kind=kind, entry=shown, **({} if power is None else {"power": power}))
        return
    say("\n".join(entry_lines(shown)))
    if power is not None:
        from energy.power.card import card_lines

        say("\n".join(["", *card_lines(power)]))


def _power(name: str) -> dict[str, Any]:
    """Return the power of a chip: its states, its curve, and the estimate from below."""
    from energy.power.card import power_card

    return power_card(name)
