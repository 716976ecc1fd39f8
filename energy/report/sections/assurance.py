"""Section 11: what an auditor needs to recompute the report and to trace a line back to its file."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from energy.report import numbers, queries
from energy.report.amounts import ratio
from energy.report.facts import QuarterFacts
from energy.report.model import Block, Cell, Column, Prose, Row, Section, TableBlock
from energy.report.sections._cells import METHOD_LABELS, minute_text, text_cell, value_cell
from energy.report.sections._chain import emission_chain
from energy.report.sections._checks import disagreeing

NUMBER, ID, TITLE = 11, "assurance", "Assurance pack"
# A product of doubles, cast once: equal to this relative difference when computed again by another route.
_TOLERANCE = Decimal("1e-9")


def build(facts: QuarterFacts) -> Section:
    """Build the section."""
    blocks: list[Block] = [
        _recompute(facts),
        *(_way_back(facts, method) for method in facts.methods),
        _files(facts),
        *_rejects(facts),
        _reconciliation(facts),
        _sample(facts),
    ]
    bad = len(disagreeing(facts))
    checks = len(facts.reconciliation)
    lead = f"{checks - bad} of {checks} reconciliations of site and month agree. The report is not assured."
    return Section(NUMBER, ID, TITLE, lead, tuple(blocks))


def _recompute(facts: QuarterFacts) -> Prose:
    return Prose(
        "assurance.recompute",
        "Recompute and trace",
        (
            "The first command recomputes every value from the ledger and lists each difference; the second prints the "
            "way back of one value to the factor and the file.",
        ),
        commands=(
            "energy verify report.json --ledger DIR",
            f"energy explain front.scope2_location --ledger DIR  # {facts.quarter.key}",
        ),
        terms=(
            ("Ledger version", str(facts.reader.version)),
            ("Status", "Draft, not assured. No statement of management, assurer or materiality is recorded."),
        ),
    )


def _way_back(facts: QuarterFacts, method: str) -> TableBlock:
    """Show the chain behind one headline; energy and PUE of the front page are steps of it."""
    table_id = f"assurance.way_back_{method}"
    rows = []
    for number, step in enumerate(emission_chain(facts, (), method), start=1):
        prefix = f"{table_id}.{number}"
        cells = (
            Cell(f"{prefix}.step", step.step),
            text_cell(f"{prefix}.value", step.value),
            Cell(f"{prefix}.range", step.range or (numbers.RANGE_UNKNOWN if not step.cell.mark else step.cell.mark)),
            text_cell(f"{prefix}.status", step.status),
            text_cell(f"{prefix}.source", step.source),
        )
        rows.append(Row(str(number), cells, "sum" if step.subtotal else "row"))
    columns = (
        Column("step", "Step", kind="text"),
        Column("value", "Value"),
        Column("range", f"Range (95{numbers.THIN}%)"),
        Column("status", "Status", kind="text"),
        Column("source", "Source", kind="text"),
    )
    caption = f"Where Scope 2, {METHOD_LABELS[method].lower()}, comes from"
    sub = f"From the readings to the total of {facts.quarter.text}; energy explain front.scope2_{method}"
    return TableBlock(table_id, caption, sub, columns, tuple(rows))


def _files(facts: QuarterFacts) -> TableBlock:
    rows = []
    for entry in facts.batches:
        key = str(entry["batch_id"])
        prefix = f"assurance.files.{key}"
        cells = (
            Cell(f"{prefix}.file", entry["file_name"]),
            Cell(f"{prefix}.format", entry["format"]),
            *(Cell(f"{prefix}.{name}", entry[name]) for name in _COUNTS),
            Cell(f"{prefix}.sha256", entry["file_sha256"]),
            Cell(f"{prefix}.mapping_sha256", entry["mapping_sha256"]),
        )
        rows.append(Row(key, cells))
    columns = (
        Column("file", "File", kind="text"),
        Column("format", "Format", kind="text"),
        *(Column(name, label) for name, label in _COUNTS.items()),
        Column("sha256", "SHA-256 of the file", kind="code"),
        Column("mapping_sha256", "SHA-256 of its mapping", kind="code"),
    )
    return TableBlock(
        "assurance.files", "Input files", "Every file of this version of the ledger", columns, tuple(rows)
    )


_COUNTS = {
    "rows_read": "Rows read",
    "rows_accepted": "Stored",
    "rows_rejected": "Refused",
    "rows_duplicate": "Held already",
}


def _rejects(facts: QuarterFacts) -> list[Block]:
    reasons = facts.reader.rows(queries.REJECT_REASONS)
    if not reasons:
        return [Prose("assurance.rejects", "Refused rows", ("No row was refused: 0 of all rows read.",))]
    rows = []
    for number, entry in enumerate(reasons, start=1):
        prefix = f"assurance.rejects.{number}"
        cells = (
            Cell(f"{prefix}.reason", entry["reason"]),
            Cell(f"{prefix}.file", entry["file_name"]),
            Cell(f"{prefix}.rows", entry["row_count"]),
        )
        rows.append(Row(str(number), cells))
    columns = (Column("reason", "Reason", kind="text"), Column("file", "File", kind="text"), Column("rows", "Rows"))
    total = sum(entry["row_count"] for entry in reasons)
    counted = TableBlock(
        "assurance.rejects",
        "Refused rows by reason",
        f"{numbers.plain(total, 0)} rows in all",
        columns,
        tuple(rows),
    )
    return [counted, _reject_examples(facts)]


def _reject_examples(facts: QuarterFacts) -> TableBlock:
    rows = []
    for number, entry in enumerate(facts.reader.rows(queries.REJECT_EXAMPLES), start=1):
        prefix = f"assurance.reject_examples.{number}"
        cells = (
            Cell(f"{prefix}.file", entry["file_name"]),
            Cell(f"{prefix}.line", entry["row_number"]),
            Cell(f"{prefix}.reason", entry["reason"]),
            text_cell(f"{prefix}.text", entry["row_text"], "The text was not kept."),
        )
        rows.append(Row(str(number), cells))
    columns = (
        Column("file", "File", kind="text"),
        Column("line", "Line"),
        Column("reason", "Reason", kind="text"),
        Column("text", "Row as read", kind="code"),
    )
    return TableBlock(
        "assurance.reject_examples", "Refused rows: examples", "The first 25 at most", columns, tuple(rows)
    )


_CHECKS = (
    ("installed", "installed_chip_h", "Installed", "chip*h"),
    ("accounted", "accounted_chip_h", "Accounted", "chip*h"),
    ("difference_chip_h", "difference_chip_h", "Difference", "chip*h"),
    ("read", "read_energy_chip_kwh", "Chip energy read", "kWh_chip"),
    ("owned", "owned_energy_chip_kwh", "Chip energy owned", "kWh_chip"),
    ("difference_energy", "difference_energy_chip_kwh", "Difference in chip energy", "kWh_chip"),
)


def _reconciliation(facts: QuarterFacts) -> TableBlock:
    rows = []
    apart = disagreeing(facts)
    for entry in facts.reconciliation:
        key = f"{entry['site_id']}.{entry['month']}"
        prefix = f"assurance.reconciliation.{key}"
        unchecked = entry["difference_chip_h"] is None and entry["difference_energy_chip_kwh"] is None
        result = "differs" if entry in apart else "not checked" if unchecked else "agrees"
        absent = "No readings in this month." if entry["read_energy_chip_kwh"] is None else "No inventory."
        cells = (
            Cell(f"{prefix}.name", f"{facts.site_names.get(entry['site_id'], entry['site_id'])}, {entry['month']}"),
            *(value_cell(f"{prefix}.{name}", entry[column], unit, absent) for name, column, _, unit in _CHECKS),
            Cell(f"{prefix}.result", result),
        )
        rows.append(Row(key, cells, flag="differs" if result == "differs" else ""))
    columns = (
        Column("name", "Site, month", kind="text"),
        *(Column(name, label, unit) for name, _, label, unit in _CHECKS),
        Column("result", "Result", kind="text"),
    )
    return TableBlock(
        "assurance.reconciliation",
        "Reconciliation",
        "Chip-hours installed against accounted; chip energy of the readings against what owners were given",
        columns,
        tuple(rows),
        ("A row agrees when both differences are within a millionth of a unit or 1e-9 of the sum: lines are rounded.",),
    )


_OWN_PLANTS = ("Emissions: facility energy × the share bought from the grid in that hour × factor.",)


def _sample(facts: QuarterFacts) -> TableBlock:
    lines = facts.reader.rows(queries.SAMPLE, [facts.quarter.key])
    factors: dict[tuple[Any, Any, str], dict[str, Any]] = {}
    jobs: dict[Any, dict[str, Any]] = {}
    if lines:
        pairs = sorted({(line["site_id"], line["hour_utc"]) for line in lines})
        asked = facts.reader.rows(queries.sample_factors(len(pairs)), [part for pair in pairs for part in pair])
        factors = {(row["site_id"], row["hour_utc"], row["method"]): row for row in asked}
        keys = sorted({line["job_key"] for line in lines if line["job_key"] is not None})
        if keys:
            jobs = {row["job_key"]: row for row in facts.reader.rows(queries.sample_jobs(len(keys)), keys)}
    columns = (
        Column("hour", "Hour, UTC", kind="text"),
        Column("host", "Host", kind="text"),
        Column("owner", "Owner", kind="text"),
        Column("tier", "Tier", kind="text"),
        Column("energy_chip", "Chip energy", "kWh_chip", decimals=3),
        Column("overhead", "× node overhead", "kWh_it/kWh_chip"),
        Column("pue", "× PUE", "kWh_facility/kWh_it"),
        Column("energy_facility", "= facility energy", "kWh_facility", decimals=3),
        Column("again", "Recomputed", kind="text"),
        *(
            Column(name, f"{METHOD_LABELS[name]} factor", "gCO2e/kWh_facility", decimals=1)
            for name in facts.methods[:2]
        ),
        *(Column(f"{name}_emissions", METHOD_LABELS[name], "kgCO2e") for name in facts.methods[:2]),
        Column("from", "Job and its line", kind="text"),
    )
    rows = [_sample_row(facts, number, line, factors, jobs) for number, line in enumerate(lines, start=1)]
    return TableBlock(
        "assurance.sample",
        "Lines traced from the total to the file",
        f"{len(rows)} lines drawn by a hash of their key; a line is one owner on one host in one hour",
        columns,
        tuple(rows),
        (
            "Recomputed: chip energy × node overhead × PUE, multiplied again outside the ledger, equal to 1e-9.",
            *_OWN_PLANTS * any(row["grid_share"] != 1.0 for row in factors.values()),
        ),
    )


def _sample_row(
    facts: QuarterFacts,
    number: int,
    line: dict[str, Any],
    factors: dict[tuple[Any, Any, str], dict[str, Any]],
    jobs: dict[Any, dict[str, Any]],
) -> Row:
    prefix = f"assurance.sample.{number}"
    overhead, pue = Decimal(repr(line["node_overhead"])), Decimal(repr(line["pue"]))
    again = line["energy_chip_kwh"] * overhead * pue
    facility = line["energy_facility_kwh"]
    equal = abs(again - facility) <= _TOLERANCE * max(abs(facility), Decimal("0.001"))
    cells = [
        text_cell(f"{prefix}.hour", minute_text(line["hour_utc"])),
        text_cell(f"{prefix}.host", line["host"], "Given to the site, not to a host."),
        Cell(f"{prefix}.owner", line["owner"]),
        Cell(f"{prefix}.tier", line["tier"]),
        Cell(f"{prefix}.energy_chip", line["energy_chip_kwh"], "kWh_chip"),
        Cell(f"{prefix}.overhead", overhead, "kWh_it/kWh_chip"),
        Cell(f"{prefix}.pue", pue, "kWh_facility/kWh_it"),
        Cell(f"{prefix}.energy_facility", facility, "kWh_facility"),
        Cell(f"{prefix}.again", "equal" if equal else f"differs: {again.normalize()}"),
    ]
    used = [factors.get((line["site_id"], line["hour_utc"], method)) for method in facts.methods[:2]]
    values = [None if one is None else Decimal(repr(one["intensity_gco2e_per_kwh_facility"])) for one in used]
    for method, value in zip(facts.methods, values, strict=False):
        cells.append(value_cell(f"{prefix}.{method}", value, "gCO2e/kWh_facility", f"No {method} factor."))
    shares = {Decimal(repr(one["grid_share"])) for one in used if one is not None}
    bought = facility * next(iter(shares), Decimal(1))  # of one site and hour; own plants emit nothing of scope 2
    for method, value in zip(facts.methods, values, strict=False):
        product = None if value is None else ratio(bought * value, Decimal(1000))
        cells.append(value_cell(f"{prefix}.{method}_emissions", product, "kgCO2e", f"No {method} factor."))
    job = jobs.get(line["job_key"])
    origin = f"{job['job_id']}: {job['file_name']}, line {job['row_number']}" if job else None
    absent = "No job held the chip: no line of a job log." if line["owner_kind"] == "idle" else "No job is known."
    cells.append(text_cell(f"{prefix}.from", origin, absent))
    return Row(str(number), tuple(cells))
