"""``energy demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from energy.cli._app import JsonOption, app, print_json, say, show_progress


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make.")] = Path("energy-demo"),
    as_json: JsonOption = False,
) -> None:
    """Build an example ledger and write its carbon report.

    A whole quarter of an invented fleet, generated on the spot; running it again changes nothing.
    """
    from energy.demo import run_demo

    result = run_demo(folder, progress=show_progress)
    if as_json:
        print_json("demo/1", **result.document())
    else:
        say(result.text())
