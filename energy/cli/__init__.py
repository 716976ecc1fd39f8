"""Command line: each command is parse → one core call → print. Results to stdout, everything else to stderr.

Only typer is imported at the top, so that ``energy --help`` starts at once.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from energy.cli import (
    catalogue,
    compare,
    demo,
    estimate,
    facility,
    grid,
    ingest,
    ledger,
    report,
    serve,
    spread,
    sql,
    supply,
    sweep,
    validate,
    when,
)
from energy.cli._app import app, flush
from energy.errors import EnergyError

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["app", "main"]

# In the order of --help: what a newcomer needs first stands first.
ROOMS = (
    demo,
    ledger,
    ingest,
    report,
    catalogue,
    serve,
    spread,
    grid,
    sql,
    estimate,
    sweep,
    compare,
    facility,
    supply,
    validate,
    when,
)
ORDER = (
    "demo",
    "init",
    "ingest",
    "doctor",
    "sql",
    "report",
    "verify",
    "explain",
    "serve",
    "estimate",
    "sweep",
    "compare",
    "when",
    "facility",
    "supply",
    "spread",
    "grid",
    "catalogue",
    "validate",
    "rebuild",
    "withdraw",
)
app.registered_commands.sort(key=lambda command: ORDER.index(command.callback.__name__ if command.callback else ""))


class _Stopped(BaseException):
    """Ctrl-C: not a KeyboardInterrupt, which Python turns into its own way out wherever it has passed."""


def main() -> None:
    """Run the command line; a stated error is one line on stderr and exit code 1, never a traceback."""
    stops: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        stops.append(number)
        raise _Stopped

    before = signal.signal(signal.SIGINT, stop)
    try:
        try:
            app()
        finally:
            flush()
    except (_Stopped, Exception) as error:
        # whoever was interrupted may have made another error of it
        _fail("stopped; the published ledger is as it was." if stops else _words_of(error))
    finally:
        signal.signal(signal.SIGINT, before)


def _words_of(error: BaseException) -> str:
    """Return an error as one line that says what to do; with ENERGY_DEBUG an internal one is raised again."""
    if isinstance(error, EnergyError):
        return str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}. Check the path, its permissions and the free space."
    if os.environ.get("ENERGY_DEBUG"):
        raise error
    text = (str(error).splitlines() or [""])[0][:200]
    return f"internal error ({type(error).__name__}: {text}). Run again with ENERGY_DEBUG=1 and report what it prints."


def _fail(message: str) -> NoReturn:
    sys.stderr.write("energy: " + " ".join(message.split()) + "\n")
    sys.exit(1)
