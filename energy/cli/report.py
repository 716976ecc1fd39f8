"""Commands on reports: report, verify, explain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from energy.cli._app import JsonOption, LedgerOption, app, print_json, say


@app.command()
def report(
    quarter: Annotated[str, typer.Argument(metavar="QUARTER", help="Such as 2026Q1.")],
    ledger: LedgerOption,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    formats: Annotated[str, typer.Option("--format", help="Any of html,json,csv,xlsx.")] = "html,json,csv,xlsx",
    as_json: JsonOption = False,
) -> None:
    """Write the carbon report of a quarter."""
    from energy.errors import ReportError
    from energy.ledger.reader import Ledger
    from energy.report import build, write
    from energy.report.text import headline

    wanted = tuple(part.strip().lower() for part in formats.split(",") if part.strip())
    if not wanted:
        raise ReportError("--format names no format: give any of html,json,csv,xlsx.")
    if out.is_file():
        raise ReportError(f"{out} is a file: name a folder with --out.")
    with Ledger(ledger) as reader:
        made = build(reader, quarter)
        paths = write(made, out, wanted)
    _keep(ledger, made.ledger_version)
    if as_json:
        print_json(
            "report-files/1",
            quarter=made.quarter,
            ledger_version=made.ledger_version,
            run_id=made.run_id,
            empty=made.empty,
            files=[str(path) for path in paths],
        )
        return
    say(headline(made))
    for path in paths:
        say(f"  {path}")


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
        print_json(
            "verify/1",
            ledger_version=version,
            equal=not differences,
            differences=[item.text for item in differences],
        )
    elif not differences:
        say(f"Equal: every value of {document.name} is what version {version} of the ledger gives.")
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

        print_json(
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
        say(f"{number:2}. {step.step}: {step.value}")
        if step.range:
            say(f"      range   {step.range}")
        say(f"      status  {step.status}")
        say(f"      source  {step.source}")
