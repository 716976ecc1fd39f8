"""Command line: each command is parse → one core call → print. Results to stdout, everything else to stderr.

Only typer is imported at the top, so that ``energy --help`` starts at once.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from energy.errors import EnergyError

if TYPE_CHECKING:
    from datetime import datetime
    from types import FrameType

    from energy.ledger.intake import Ingested

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="The ledger of AI's energy: energy, carbon and where each number comes from.",
)

LedgerOption = Annotated[Path, typer.Option("--ledger", help="Ledger folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


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
            _flush()
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


def _say(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
    except BrokenPipeError:
        _reader_left()


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _reader_left()


def _reader_left() -> None:
    """Go on without output: whoever read it (``head``) has seen enough, which is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command(*words: object) -> str:
    """Return a command as a shell takes it."""
    return shlex.join(str(word) for word in words)


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
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make.")] = Path("energy-demo"),
    as_json: JsonOption = False,
) -> None:
    """Build an example ledger and write its carbon report.

    A whole quarter of an invented fleet, generated on the spot; running it again changes nothing.
    """
    from energy.demo import run_demo

    result = run_demo(folder, progress=_progress)
    if as_json:
        _json("demo/1", **result.document())
    else:
        _say(result.text())


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the new ledger.")],
    zone: Annotated[str, typer.Option(help="Grid zone of the first site; see `energy catalogue zones`.")] = "DEU",
    as_json: JsonOption = False,
) -> None:
    """Start a ledger: a folder with a site.yaml to fill in."""
    from energy.catalogue.zones import zone_match
    from energy.ledger import init as start

    match = zone_match(zone)
    path = start(folder, match.zone.zone_id)
    following = _command("energy", "ingest", "jobs", "FILE", "--ledger", folder)
    note = match.note if match.relation != "same" else ""
    if as_json:
        _json("init/1", site_file=str(path), zone=match.zone.zone_id, note=note or None, next=following)
        return
    _say(f"Wrote {path}. Describe your sites and hosts there, then:")
    _say(f"  {following}")
    if note:
        _say(f"Zone {match.zone.zone_id} stands for {zone}: {note}")


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
    start, end = _instant(covers_from, "--covers-from"), _instant(covers_to, "--covers-to")
    taken = _instant(time, "--time")
    with with_standard_input(files, sys.stdin.buffer) as paths:
        requests = [
            Request(format_name, path, mapping, site, timezone, start, end, host, taken) for path in files_of(paths)
        ]
        results = take_in(ledger, requests, progress=_progress)
    if as_json:
        from dataclasses import asdict

        _json("ingest/1", ledger=str(ledger), files=[asdict(result) for result in results])
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
        _json("detect/1", files=found)
        return
    for entry in found:
        listed = "; ".join(f"{item['format']}: {item['reason']}" for item in entry["formats"])
        _say(f"{entry['file']}: {listed or 'no known format; a table can be read with --mapping (docs/importers.md)'}")


def _say_ingested(results: list[Ingested], ledger: Path) -> None:
    for result in results:
        if result.batch_id is None:
            _say(f"{result.file_name}: " + "; ".join(result.notes))
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
            _say(f"  by reason: {_command('energy', 'doctor', ledger)}")


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
def rebuild(ledger: LedgerOption, as_json: JsonOption = False) -> None:
    """Make a new version after site.yaml was changed.

    The same files are counted again under the new description of the fleet; earlier versions stay.
    """
    from energy.ledger.intake import rebuild as again

    version = again(ledger)
    if as_json:
        _json("rebuild/1", ledger=str(ledger), ledger_version=version)
    else:
        _say(f"Published version {version}.")


@app.command()
def withdraw(
    batch: Annotated[int, typer.Argument(metavar="BATCH", help="Batch number, as ingest printed it.")],
    ledger: LedgerOption,
    as_json: JsonOption = False,
) -> None:
    """Take one ingested file back; earlier versions stay.

    Makes a new version without the file's rows.
    """
    from energy.ledger import withdraw as take_back

    name = take_back(ledger, batch)
    if as_json:
        _json("withdraw/1", ledger=str(ledger), batch_id=batch, file_name=name)
        return
    _say(f"Took back batch {batch} ({name}). Reports that used it are restated when they are made again.")


@app.command()
def report(
    quarter: Annotated[str, typer.Argument(metavar="QUARTER", help="Such as 2026Q1.")],
    ledger: LedgerOption,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    formats: Annotated[str, typer.Option("--format", help="Any of html,json,csv.")] = "html,json,csv",
    as_json: JsonOption = False,
) -> None:
    """Write the carbon report of a quarter."""
    from energy.errors import ReportError
    from energy.ledger.reader import Ledger
    from energy.report import build, write
    from energy.report.text import headline

    wanted = tuple(part.strip().lower() for part in formats.split(",") if part.strip())
    if not wanted:
        raise ReportError("--format names no format: give any of html,json,csv.")
    if out.is_file():
        raise ReportError(f"{out} is a file: name a folder with --out.")
    with Ledger(ledger) as reader:
        made = build(reader, quarter)
        paths = write(made, out, wanted)
    _keep(ledger, made.ledger_version)
    if as_json:
        _json(
            "report-files/1",
            quarter=made.quarter,
            ledger_version=made.ledger_version,
            run_id=made.run_id,
            empty=made.empty,
            files=[str(path) for path in paths],
        )
        return
    _say(headline(made))
    for path in paths:
        _say(f"  {path}")


def _keep(ledger: Path, version: int) -> None:
    """Keep the version that a report rests on; a ledger that may only be read is left as it is, and it is said."""
    from energy.ledger.store import pin

    try:
        pin(ledger, version)
    except OSError as error:
        sys.stderr.write(f"energy: note: version {version} could not be marked as reported ({error.strerror}).\n")


@app.command()
def verify(
    document: Annotated[Path, typer.Argument(metavar="REPORT.json", help="The report's JSON twin.")],
    ledger: LedgerOption,
    as_json: JsonOption = False,
) -> None:
    """Recompute a report and compare every value.

    The ledger's version that the report names is used, if it is still kept. Leaves with 1 when anything differs.
    """
    from energy.errors import ReportError
    from energy.ledger.reader import Ledger
    from energy.report import verify as compare
    from energy.report.verify import load_document

    version = load_document(document).get("ledger_version")
    if not isinstance(version, int):
        raise ReportError(f"{document} names no version of a ledger: it is no whole report.json. Write it again.")
    with Ledger(ledger, version=version) as reader:
        differences = compare(document, reader)
    if as_json:
        _json(
            "verify/1",
            ledger_version=version,
            equal=not differences,
            differences=[item.text for item in differences],
        )
    elif not differences:
        _say(f"Equal: every value of {document.name} is what version {version} of the ledger gives.")
    if differences:
        first = "; ".join(item.text for item in differences[:3])
        raise ReportError(f"{document.name} differs from its recomputation in {len(differences)} places: {first}.")


@app.command()
def explain(
    cell: Annotated[str, typer.Argument(metavar="CELL", help="Id of a value, such as front.energy_facility.")],
    ledger: LedgerOption,
    quarter: Annotated[str | None, typer.Option(help="Such as 2026Q1; the latest by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the way back of one value to its sources.

    Ids of values stand in report.csv and report.json, and behind each value of report.html.
    """
    from energy.ledger.reader import Ledger
    from energy.report import explain as steps_of

    with Ledger(ledger) as reader:
        steps = steps_of(cell, reader, quarter)
    if as_json:
        from energy.report.json_twin import cell_document

        _json(
            "explain/1",
            cell=cell,
            steps=[
                {
                    "step": step.step,
                    **{name: value for name, value in cell_document(step.cell).items() if name != "id"},
                    "text": step.value,
                    "status": step.status,
                    "source": step.source,
                    "subtotal": step.subtotal,
                }
                for step in steps
            ],
        )
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
    """Say what is missing, what is measured, what to do next."""
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

    Says what is unverified; a value that nobody published prints "not known".
    """
    from energy.catalogue.listing import entries, entry_lines, one, table_lines

    if name is None:
        listed = entries(kind)
        if as_json:
            _json("catalogue/1", kind=kind, entries=listed)
        else:
            _say("\n".join(table_lines(kind, listed)))
        return
    shown = one(kind, name)
    if as_json:
        _json("catalogue-entry/1", kind=kind, entry=shown)
    else:
        _say("\n".join(entry_lines(shown)))


if __name__ == "__main__":
    main()
