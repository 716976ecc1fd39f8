"""The command line's one app, and how commands speak: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="The ledger of AI's energy: energy, carbon and where each number comes from.",
)

LedgerOption = Annotated[Path, typer.Option("--ledger", help="Ledger folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def say(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
    except BrokenPipeError:
        _reader_left()


def flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _reader_left()


def _reader_left() -> None:
    """Go on without output: whoever read it (``head``) has seen enough, which is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command_text(*words: object) -> str:
    """Return a command as a shell takes it."""
    return shlex.join(str(word) for word in words)


def print_json(schema: str, **content: Any) -> None:
    import json

    say(json.dumps({"schema": schema, **content}, ensure_ascii=False, indent=2, default=str))


def show_progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"… {text}\n")


def _version(value: bool) -> None:
    if value:
        from energy import __version__

        say(f"energy {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    del version
