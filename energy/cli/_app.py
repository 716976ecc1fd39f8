"""The command line's one app, and how commands speak: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
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


_LEAST_BETWEEN_S = 0.2


class _Line:
    """The one line on stderr that is written again and again, and when that was last done."""

    shown = False
    written_s = 0.0


def show_progress(text: str) -> None:
    """Print a step, on a terminal only."""
    if sys.stderr.isatty():
        end_reading()
        sys.stderr.write(f"… {text}\n")
        _Line.written_s = time.monotonic()


def show_reading(text: str) -> None:
    """Write the line that says how far a file was read over itself, a few times a second; a short file has none."""
    now = time.monotonic()
    if sys.stderr.isatty() and now - _Line.written_s >= _LEAST_BETWEEN_S:
        width = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r\x1b[K  {text}"[: width + 3])
        sys.stderr.flush()
        _Line.shown, _Line.written_s = True, now


def end_reading() -> None:
    """Take the line away, so that nothing is written behind it."""
    if _Line.shown:
        sys.stderr.write("\r\x1b[K")
        _Line.shown = False


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
