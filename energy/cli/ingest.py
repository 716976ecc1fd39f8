"""``energy ingest``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from energy.cli._app import JsonOption, app, command_text, end_reading, print_json, say, show_progress, show_reading
from energy.errors import EnergyError

if TYPE_CHECKING:
    from datetime import datetime

    from energy.ledger.intake import Ingested


@app.command()
def ingest(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="jobs, power, allocations, hosts, or a known format; see --detect.")
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Files, folders of files, or - for standard input.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option("--ledger", help="Ledger folder.")] = None,
    detect: Annotated[bool, typer.Option("--detect", help="Name the format of each FILE; store nothing.")] = False,
    mapping: Annotated[str | None, typer.Option(help="Mapping file, or name of a built-in one.")] = None,
    site: Annotated[str | None, typer.Option(help="Site of rows that name no host.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times that carry none.")] = None,
    covers_from: Annotated[str | None, typer.Option(help="The job log is whole from here, e.g. 2026-01-01.")] = None,
    covers_to: Annotated[str | None, typer.Option(help="... to here; running jobs are counted until then.")] = None,
    host: Annotated[str | None, typer.Option(help="Host of a file that names none.")] = None,
    time: Annotated[str | None, typer.Option(help="When a snapshot without time was taken.")] = None,
    zone: Annotated[str | None, typer.Option(help="Zone of grid-hours with several or none.")] = None,
    boundary: Annotated[str | None, typer.Option(help="Of grid-hours without: direct or lifecycle.")] = None,
    attribution: Annotated[str | None, typer.Option(help="Likewise: production or consumption.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Read files into the ledger: all of them, or nothing.

    Makes a new version; refused rows are kept with their reasons.
    """
    from energy.importers.paths import files_of, with_standard_input
    from energy.ledger import ingest as take_in
    from energy.ledger.intake import Request

    if detect:
        _detect([Path(format_name), *(files or [])], as_json)
        return
    if not files or ledger is None:
        missing = "FILE" if not files else "--ledger"
        raise typer.BadParameter(f"{missing} is missing: energy ingest FORMAT FILE... --ledger DIR")
    reading = show_reading if sys.stderr.isatty() else None
    start, end = _instant(covers_from, "--covers-from"), _instant(covers_to, "--covers-to")
    taken = _instant(time, "--time")
    with with_standard_input(files, sys.stdin.buffer) as paths:
        requests = [
            Request(format_name, path, mapping, site, timezone, start, end, host, taken, zone, boundary, attribution)
            for path in files_of(paths)
        ]
        try:
            results = take_in(ledger, requests, progress=show_progress, reading=reading)
        finally:
            end_reading()
    if as_json:
        from dataclasses import asdict

        print_json("ingest/1", ledger=str(ledger), files=[asdict(result) for result in results])
    else:
        _say_ingested(results, ledger)
    for result in results:
        if result.rows_rejected and not (result.rows_accepted or result.rows_duplicate):
            from energy.errors import InputFileError

            raise InputFileError(
                f"All {result.rows_rejected:,} rows were refused; first {result.first_reject.rstrip('.')}. "
                "Correct what it names and ingest the file again; `energy ingest --detect FILE` tells another format."
            )


def _detect(paths: list[Path], as_json: bool) -> None:
    """Name the format of each file with the reason; a table needs a mapping, and says which built-in one fits."""
    from energy.importers.base import detect
    from energy.importers.mapping import built_in_mappings
    from energy.importers.tabular import header_of

    found: list[dict[str, Any]] = []
    for path in paths:
        formats = [{"format": name, "reason": reason} for name, reason in detect(path)]
        if not formats:
            try:
                have = set(header_of(path))
            except EnergyError:
                have = set()
            formats = [
                {"format": mapping.format, "reason": f"has the columns of the built-in mapping {mapping.name}"}
                for mapping in built_in_mappings()
                if have.issuperset(mapping.source_columns())
            ]
        found.append({"file": str(path), "formats": formats})
    if as_json:
        print_json("detect/1", files=found)
        return
    for entry in found:
        listed = "; ".join(f"{item['format']}: {item['reason']}" for item in entry["formats"])
        say(f"{entry['file']}: {listed or 'no known format; a table can be read with --mapping (docs/importers.md)'}")


def _say_ingested(results: list[Ingested], ledger: Path) -> None:
    for result in results:
        if result.batch_id is None:
            say(f"{result.file_name}: " + "; ".join(result.notes))
            continue
        say(
            f"{result.file_name}: {result.rows_accepted:,} of {result.rows_read:,} rows stored as batch "
            f"{result.batch_id} (mapping {result.mapping}); {result.rows_duplicate:,} there already, "
            f"{result.rows_rejected:,} refused."
        )
        for note in result.notes:
            say(f"  {note}")
        if result.first_reject:
            say(f"  first refused: {result.first_reject}")
            say(f"  by reason: {command_text('energy', 'doctor', ledger)}")


def _instant(text: str | None, option: str) -> datetime | None:
    from datetime import UTC
    from datetime import datetime as moment

    if text is None:
        return None
    try:
        value = moment.fromisoformat(text)
    except ValueError as error:
        from energy.errors import InputFileError

        raise InputFileError(f"{option} {text} is no date: write it as 2026-01-31 or 2026-01-31T14:00:00Z.") from error
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
