"""Command line: each command is parse → one core call → print. Results to stdout, everything else to stderr.

Only typer is imported at the top, so that ``energy --help`` starts at once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from energy.errors import EnergyError

if TYPE_CHECKING:
    from datetime import datetime

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="The ledger of AI's energy: energy, carbon and where each number comes from.",
)

LedgerOption = Annotated[Path, typer.Option("--ledger", help="Ledger folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def main() -> None:
    """Run the command line; a stated error is one line on stderr and exit code 1, never a traceback."""
    try:
        app()
    except EnergyError as error:
        _fail(f"energy: {error}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _fail("energy: stopped; the published ledger is as it was.")
    except OSError as error:
        _fail(f"energy: {error.filename or 'the system'}: {error.strerror or error}. Nothing was published.")
    except Exception as error:
        if os.environ.get("ENERGY_DEBUG"):
            raise
        name = type(error).__name__
        text = (str(error).splitlines() or [""])[0][:200]
        _fail(f"energy: internal error ({name}: {text}). Run again with ENERGY_DEBUG=1 and report what it prints.")


def _fail(message: str) -> None:
    sys.stderr.write(" ".join(message.split()) + "\n")
    sys.exit(1)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _json(schema: str, **content: Any) -> None:
    import json

    _say(json.dumps({"schema": schema, **content}, ensure_ascii=False, indent=2, default=str))


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"… {text}\n")


def _version(value: bool) -> None:
    if value:
        from energy import __version__

        _say(f"energy {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder to make.")] = Path("energy-demo"),
    as_json: JsonOption = False,
) -> None:
    """Build an example ledger of a whole quarter and its carbon report."""
    from energy.demo import run_demo

    result = run_demo(folder, progress=_progress)
    if as_json:
        _json("demo/1", **result.document())
    else:
        _say(result.text())


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Folder of the new ledger.")],
    zone: Annotated[str, typer.Option(help="Grid zone of the first site.")] = "DEU",
) -> None:
    """Start a ledger: a folder with a site.yaml to fill in."""
    from energy.catalogue.zones import zone as look_up
    from energy.ledger import init as start

    path = start(folder, look_up(zone).zone_id)
    _say(f"Wrote {path}. Describe your sites and hosts there, then:")
    _say(f"  energy ingest jobs FILE --ledger {folder}")


@app.command()
def ingest(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="jobs, power, allocations or hosts.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="CSV (.gz, .zst too) or Parquet.")],
    ledger: LedgerOption,
    mapping: Annotated[str | None, typer.Option(help="Mapping file, or name of a built-in one.")] = None,
    site: Annotated[str | None, typer.Option(help="Site of rows that name no host.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times that carry none.")] = None,
    covers_from: Annotated[str | None, typer.Option(help="The job log is whole from here, e.g. 2026-01-01.")] = None,
    covers_to: Annotated[str | None, typer.Option(help="... to here; running jobs are counted until then.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Read files into a new version of the ledger: all of them, or nothing."""
    from energy.ledger import ingest as take_in
    from energy.ledger.intake import Request

    start, end = _instant(covers_from, "--covers-from"), _instant(covers_to, "--covers-to")
    requests = [Request(format_name, path, mapping, site, timezone, start, end) for path in files]
    results = take_in(ledger, requests, progress=_progress)
    if as_json:
        from dataclasses import asdict

        _json("ingest/1", ledger=str(ledger), files=[asdict(result) for result in results])
        return
    for result in results:
        if result.batch_id is None:
            _say(f"{result.file_name}: {result.notes[0]}")
            continue
        _say(
            f"{result.file_name}: {result.rows_accepted:,} of {result.rows_read:,} rows stored as batch "
            f"{result.batch_id} (mapping {result.mapping}); {result.rows_duplicate:,} there already, "
            f"{result.rows_rejected:,} refused."
        )
        for note in result.notes:
            _say(f"  {note}")
        if result.first_reject:
            _say(f"  first refused: {result.first_reject}")
            _say(f"  all of them: energy doctor {ledger}")


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


@app.command()
def rebuild(ledger: LedgerOption) -> None:
    """Make a new version from the same files, after site.yaml was changed."""
    from energy.ledger.intake import rebuild as again

    _say(f"Published version {again(ledger)}.")


@app.command()
def withdraw(
    batch: Annotated[int, typer.Argument(help="Batch number, as ingest printed it.")], ledger: LedgerOption
) -> None:
    """Take one ingested file back: a new version without its rows; earlier versions stay."""
    from energy.ledger import withdraw as take_back

    name = take_back(ledger, batch)
    _say(f"Took back batch {batch} ({name}). Reports that used it are restated when they are made again.")


@app.command()
def report(
    quarter: Annotated[str, typer.Argument(help="Such as 2026Q1.")],
    ledger: LedgerOption,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    formats: Annotated[str, typer.Option("--format", help="Any of html,json,csv.")] = "html,json,csv",
    as_json: JsonOption = False,
) -> None:
    """Write the carbon report of a quarter."""
    from energy.ledger.reader import Ledger
    from energy.ledger.store import pin
    from energy.report import build, write
    from energy.report.text import headline

    with Ledger(ledger) as reader:
        made = build(reader, quarter)
        paths = write(made, out, tuple(part.strip() for part in formats.split(",")))
        pin(ledger, reader.version)
    if as_json:
        _json(
            "report-files/1", quarter=quarter, ledger_version=made.ledger_version, files=[str(path) for path in paths]
        )
        return
    _say(headline(made))
    for path in paths:
        _say(f"  {path}")


@app.command()
def verify(
    document: Annotated[Path, typer.Argument(metavar="REPORT.json", help="The report's JSON twin.")],
    ledger: LedgerOption,
    as_json: JsonOption = False,
) -> None:
    """Recompute a report from the ledger's version that it names, and compare every value."""
    from energy.errors import ReportError
    from energy.ledger.reader import Ledger
    from energy.report import verify as compare
    from energy.report.verify import load_document

    version = load_document(document)["ledger_version"]
    with Ledger(ledger, version=int(version)) as reader:
        differences = compare(document, reader)
    if as_json:
        _json("verify/1", equal=not differences, differences=[item.text for item in differences])
    elif not differences:
        _say(f"Equal: every value of {document.name} is what version {version} of the ledger gives.")
    if differences:
        first = "; ".join(item.text for item in differences[:3])
        raise ReportError(f"{document.name} differs from its recomputation in {len(differences)} places: {first}.")


@app.command()
def explain(
    cell: Annotated[str, typer.Argument(help="Id of a value, such as front.energy_facility.")],
    ledger: LedgerOption,
    quarter: Annotated[str | None, typer.Option(help="Such as 2026Q1; the latest by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the way back of one value of the report, down to the lines of the datasets."""
    from energy.ledger.reader import Ledger
    from energy.report import explain as steps_of

    with Ledger(ledger) as reader:
        steps = steps_of(cell, reader, quarter)
    if as_json:
        from dataclasses import asdict

        _json("explain/1", cell=cell, steps=[asdict(step) for step in steps])
        return
    for number, step in enumerate(steps, 1):
        _say(f"{number:2}. {step.step}: {step.value}")
        if step.range:
            _say(f"      range   {step.range}")
        _say(f"      status  {step.status}")
        _say(f"      source  {step.source}")


@app.command()
def doctor(
    ledger: Annotated[Path, typer.Argument(metavar="DIR", help="Ledger folder.")],
    as_json: JsonOption = False,
) -> None:
    """Say what is missing, what share is measured, and what to do next."""
    from energy.ledger import doctor as look_through

    found = look_through(ledger)
    if as_json:
        from dataclasses import asdict

        _json("doctor/1", **asdict(found), next=found.next_command)
        return
    _say(f"Ledger {found.folder}, version {found.version if found.version is not None else 'none yet'}")
    for finding in found.findings:
        _say(f"  {finding.level:8} {finding.text}")
    if found.next_command:
        _say(f"Next: {found.next_command}")


@app.command()
def catalogue(
    kind: Annotated[str, typer.Argument(help="chips, nodes, zones or factors.")],
    name: Annotated[str | None, typer.Argument(help="One entry; all of them by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is known of chips, nodes, zones and factors, from where, and what is unverified."""
    from energy.catalogue.listing import entries, one

    if name is None:
        listed = entries(kind)
        if as_json:
            _json("catalogue/1", kind=kind, entries=listed)
        else:
            for row in listed:
                _say("  ".join(f"{value}" for value in row.values()))
        return
    shown = one(kind, name)
    if as_json:
        _json("catalogue-entry/1", kind=kind, entry=shown)
        return
    width = max(len(row["field"]) for row in shown)
    for row in shown:
        _say(f"{row['field']:{width}}  {row['value']}{'  (' + row['status'] + ')' if row['status'] else ''}")


if __name__ == "__main__":
    main()
