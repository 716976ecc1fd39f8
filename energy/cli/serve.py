"""``energy app``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from energy.cli._app import app

_NEEDED = ("streamlit", "plotly")
_WITHOUT = "ENERGY_WITHOUT_SIGN_IN"  # as energy.ui.sign_in reads it, which refuses other addresses than this machine


@app.command("app")
def serve(
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Ledger folder; by default the one opened last, or ./energy-demo.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Address to listen on; one that others reach needs sign-in (docs/app.md).")
    ] = "localhost",
    without_sign_in: Annotated[
        bool,
        typer.Option("--without-sign-in", help="Let everybody who reaches the address see and upload."),
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser window.")
    ] = True,
) -> None:
    """Start the app: the ledger in the browser."""
    from importlib.util import find_spec

    from energy.errors import EnergyError, LedgerError

    lacking = [name for name in _NEEDED if find_spec(name) is None]
    if lacking:
        raise EnergyError(f"The app needs {' and '.join(lacking)}: install with `pip install 'energy[app]'`.")
    environment = dict(os.environ)
    if ledger is not None:
        if not ledger.is_dir():
            raise LedgerError(
                f"No ledger at {ledger}. Build the example with `energy demo`, or start one with `energy init`."
            )
        environment["ENERGY_LEDGER"] = str(ledger.resolve())
    # the variable opens one address only, and a forgotten one must not open what the command does not say
    environment.pop(_WITHOUT, None)
    if without_sign_in:
        environment[_WITHOUT] = address
    sys.stdout.flush()
    # the server takes the place of this process: Ctrl-C and signals reach it as they are
    os.execve(sys.executable, _command(port, address, open_browser), environment)


def _command(port: int, address: str, open_browser: bool) -> list[str]:
    """Return the words that start the server; its other settings stand in .streamlit/config.toml beside app.py."""
    from energy.resources import resource

    return [
        *(sys.executable, "-m", "energy.ui", "run", str(resource("app.py"))),
        *("--server.port", str(port)),
        *("--server.address", address),
        *("--server.headless", "false" if open_browser else "true"),
        *("--browser.gatherUsageStats", "false"),
    ]
