"""Build the report of a quarter from a ledger, and write it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from decimal import localcontext
from functools import partial
from pathlib import Path
from typing import Any

from energy import __version__
from energy.errors import ReportError, did_you_mean
from energy.report import csv_twin, json_twin, queries
from energy.report.facts import SETTING_ENTITY, SETTING_TIMEZONE, QuarterFacts, load_facts
from energy.report.model import SCHEMA, DataTable, Notice, Report, Section
from energy.report.period import Quarter, Reader, day_text, held_quarters, parse_quarter
from energy.report.sections import SECTIONS
from energy.report.sections.boundary import boundary_line
from energy.report.workbook.rows import ledger_tables
from energy.schema import table

FORMATS = ("html", "json", "csv", "xlsx")
CLOSED_FORMATS = ("html", "json", "csv")  # written from the report alone, when the ledger is closed too
STATUS = "draft"
_PRECISION = 60  # sums of DECIMAL(38,12) stay exact
_RUN_ID_LENGTH = 12


def build(reader: Reader, quarter: str) -> Report:
    """Compute the report of a quarter.

    Parameters
    ----------
    reader : Reader
        The ledger.
    quarter : str
        As ``2026Q1``, in the reporting time zone.

    Returns
    -------
    Report
        For a quarter without rows a report that says so, with ``empty`` set.

    Raises
    ------
    ReportError
        When the quarter has another form.
    """
    held = held_quarters(reader)
    wanted = parse_quarter(quarter, held.quarters)
    with localcontext() as context:
        context.prec = _PRECISION
        if wanted.key not in held.quarters:
            return _empty(reader, wanted, held.empty_message(wanted))
        return build_from(load_facts(reader, wanted, held))


def build_from(facts: QuarterFacts) -> Report:
    """Compute the report from facts that are loaded already."""
    made = (make(facts) for make in SECTIONS)
    sections = tuple(section for section in made if section is not None)  # one without a subject has no place
    head = _head(facts.reader, facts.quarter, facts.settings, facts.batches)
    rows = partial(ledger_tables, facts)
    return Report(**head, boundary=boundary_line(facts), empty=False, sections=sections, data=_data(facts), rows=rows)


def _empty(reader: Reader, quarter: Quarter, message: str) -> Report:
    settings = {row["key_name"]: row["key_value"] for row in reader.rows(queries.SETTINGS)}
    notice = Notice("No data.", (message,))
    section = Section(1, "front", "The quarter on one page", message, (notice,))
    head = _head(reader, quarter, settings, reader.rows(queries.BATCHES))
    return Report(**head, boundary="no rows in this quarter", empty=True, sections=(section,))


def _head(reader: Reader, quarter: Quarter, settings: dict[str, str], batches: list[dict[str, Any]]) -> dict[str, Any]:
    entity = settings.get(SETTING_ENTITY, "")
    timezone = settings.get(SETTING_TIMEZONE) or "UTC"
    days = f"{day_text(quarter.first_day)} to {day_text(quarter.last_day)}"
    return {
        "quarter": quarter.key,
        "title": f"Carbon report, {quarter.text}",
        "subtitle": f"{entity + ', ' if entity else ''}{days}, quarter edges in {timezone}",
        "first_day": quarter.first_day.isoformat(),
        "last_day": quarter.last_day.isoformat(),
        "timezone": timezone,
        "entity": entity,
        "status": STATUS,
        "ledger_version": reader.version,
        "code_version": __version__,
        "run_id": _run_id(reader, quarter, settings, batches),
        "inputs": tuple((row["file_name"], row["file_sha256"]) for row in batches),
    }


def _run_id(reader: Reader, quarter: Quarter, settings: dict[str, str], batches: list[dict[str, Any]]) -> str:
    """Name the run by what it rests on: inputs, settings, versions; no clock, so the same run has the same name."""
    telemetry = reader.rows(queries.TELEMETRY)
    basis = [
        SCHEMA,
        __version__,
        reader.version,
        quarter.key,
        [[row["file_sha256"], row["mapping_sha256"]] for row in batches],
        [[row["partition_path"], row["content_sha256"]] for row in telemetry],
        sorted(settings.items()),
    ]
    digest = hashlib.sha256(json.dumps(basis, ensure_ascii=False).encode())
    return digest.hexdigest()[:_RUN_ID_LENGTH]


def _data(facts: QuarterFacts) -> tuple[DataTable, ...]:
    """Return the ledger's monthly rows with what a reader of the rows alone must know."""
    zones = {row["site_id"]: row["zone_id"] for row in facts.sites}
    energy = [column.field.name for column in table("main.energy_monthly").columns]
    emissions = [column.field.name for column in table("main.emissions_monthly").columns]
    more = ("zone_id", "factor_ids", "report_status", "ledger_version", "code_version", "reporting_timezone")
    energy_rows = tuple(tuple(row[name] for name in energy) for row in facts.energy)
    emission_rows = tuple(
        (
            *(row[name] for name in emissions),
            zones.get(row["site_id"]),
            " ".join(facts.factor_ids(row["method"], {row["site_id"]})),
            STATUS,
            facts.reader.version,
            __version__,
            facts.timezone,
        )
        for row in facts.emissions
    )
    return (
        DataTable("energy_monthly", tuple(energy), energy_rows),
        DataTable("emissions_monthly", (*emissions, *more), emission_rows),
    )


def write(report: Report, folder: Path, formats: Sequence[str] = CLOSED_FORMATS) -> list[Path]:
    """Write the report into a folder; nothing is left half-written.

    Parameters
    ----------
    report : Report
        From :func:`build`.
    folder : pathlib.Path
        Made when absent; files of the same names are replaced.
    formats : sequence of str
        Any of ``html``, ``json``, ``csv``, ``xlsx``; the first three by default. The workbook asks the ledger for more
        rows, so the ledger must be open.

    Returns
    -------
    list of pathlib.Path
        The files: ``report.html``, ``report.json``, ``report.csv``, ``energy_monthly.csv``, ``emissions_monthly.csv``,
        ``report.xlsx``.

    Raises
    ------
    ReportError
        For an unknown format, or a workbook whose ledger is closed.
    """
    files: dict[str, bytes] = {}
    for name in formats:
        if name not in FORMATS:
            raise ReportError(
                f"No report format named {name}; known are {', '.join(FORMATS)}.{did_you_mean(name, FORMATS)}"
            )
        files |= _files(report, name)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    staged = [(folder / f".{name}.{os.getpid()}.tmp", folder / name) for name in files]
    try:
        for temporary, final in staged:
            temporary.write_bytes(files[final.name])
        for temporary, final in staged:
            temporary.replace(final)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
    return [final for _, final in staged]


def _files(report: Report, name: str) -> dict[str, bytes]:
    if name == "json":
        return {"report.json": json_twin.text(report).encode()}
    if name == "csv":
        return {file: text.encode() for file, text in csv_twin.files(report).items()}
    if name == "xlsx":
        from energy.report import workbook

        return {"report.xlsx": workbook.content(report)}
    # The only writer that needs jinja2: JSON and CSV are written without loading it.
    from energy.report import html

    return {"report.html": html.text(report).encode()}
