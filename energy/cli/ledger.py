"""Commands on a ledger folder: init, rebuild, withdraw, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from energy.cli._app import JsonOption, LedgerOption, app, command_text, print_json, say


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
    following = command_text("energy", "ingest", "jobs", "FILE", "--ledger", folder)
    note = match.note if match.relation != "same" else ""
    if as_json:
        print_json("init/1", site_file=str(path), zone=match.zone.zone_id, note=note or None, next=following)
        return
    say(f"Wrote {path}. Describe your sites and hosts there, then:")
    say(f"  {following}")
    if note:
        say(f"Zone {match.zone.zone_id} stands for {zone}: {note}")


@app.command()
def rebuild(ledger: LedgerOption, as_json: JsonOption = False) -> None:
    """Make a new version after site.yaml was changed.

    The same files are counted again under the new description of the fleet; earlier versions stay.
    """
    from energy.ledger.intake import rebuild as again

    version = again(ledger)
    if as_json:
        print_json("rebuild/1", ledger=str(ledger), ledger_version=version)
    else:
        say(f"Published version {version}.")


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
        print_json("withdraw/1", ledger=str(ledger), batch_id=batch, file_name=name)
        return
    say(f"Took back batch {batch} ({name}). Reports that used it are restated when they are made again.")


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

        print_json("doctor/1", **asdict(found), next=found.next_command)
        return
    say(f"Ledger {found.folder}, version {found.version if found.version is not None else 'none yet'}")
    for finding in found.findings:
        say(f"  {finding.level:8} {finding.text}")
    if found.next_command:
        say(f"Next: {found.next_command}")
