"""What is missing, what share is known how, and the next command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy.errors import EnergyError, LedgerError
from energy.ledger.grid_series import series_words
from energy.ledger.model_check import inside_ranges
from energy.ledger.reader import Ledger
from energy.ledger.site_file import FILE_NAME, read_site_file
from energy.ledger.site_words import site_lines
from energy.ledger.store import LINK_NAME, version_of


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: how grave (``missing``, ``check``, ``good``), what, and what to do."""

    level: str
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor found."""

    folder: str
    version: int | None
    findings: tuple[Finding, ...]

    @property
    def next_command(self) -> str:
        """The first remedy that is a command."""
        return next((item.remedy for item in self.findings if item.remedy), "")


def doctor(folder: Path) -> Diagnosis:
    """Look through a ledger folder.

    Parameters
    ----------
    folder : Path
        Ledger folder.

    Returns
    -------
    Diagnosis
        Findings, most pressing first.

    Raises
    ------
    LedgerError
        There is no such folder.
    """
    if not folder.is_dir():
        raise LedgerError(f"No folder {folder}. Start a ledger with `energy init {folder}`.")
    try:
        site_file = read_site_file(folder)
    except EnergyError as error:
        remedy = f"edit {folder / FILE_NAME}" if (folder / FILE_NAME).exists() else _command("init", folder)
        return Diagnosis(str(folder), None, (Finding("missing", str(error), remedy),))
    link = folder / LINK_NAME
    if not link.exists() and not link.is_symlink():
        text = f"site.yaml describes {len(site_file.sites)} site(s); no file was ingested yet"
        finding = Finding("missing", text, _command("ingest jobs FILE", folder))
        return Diagnosis(str(folder), None, (finding,))
    try:
        ledger = Ledger(folder)
    except LedgerError as error:
        version = version_of(link.resolve()) if link.exists() else None
        return Diagnosis(str(folder), version, (Finding("missing", str(error), _command("rebuild", folder)),))
    findings: list[Finding] = []
    with ledger:
        for look in _LOOKS:
            findings += look(ledger, folder)
        return Diagnosis(str(folder), ledger.version, tuple(sorted(findings, key=lambda item: _RANK[item.level])))


def _command(words: str, folder: Path) -> str:
    """Return a command as a shell takes it."""
    where = shlex.quote(str(folder))
    return f"energy {words} {where}" if words == "init" else f"energy {words} --ledger {where}"


_MOST_LISTED = 10
_COUNTER_APART_PCT = 5.0
_MOSTLY_INSIDE_PCT = 80.0
_RANK = {"missing": 0, "check": 1, "good": 2}


def _percent(part: Any, whole: Any) -> float:
    return 100.0 * float(part or 0) / float(whole) if whole else 0.0


def _files(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows("SELECT batch_id, format, file_name, rows_accepted FROM raw.batch ORDER BY 1")
    findings = [
        Finding(
            "good", f"batch {row['batch_id']}: {row['format']}, {row['file_name']}, {row['rows_accepted']:,} rows", ""
        )
        for row in rows[-_MOST_LISTED:]
    ]
    if len(rows) > _MOST_LISTED:
        findings.append(Finding("good", f"{len(rows) - _MOST_LISTED} earlier batches are not listed here", ""))
    if not ledger.rows("SELECT job_key FROM raw.job LIMIT 1"):
        text = "no scheduler log: energy has no owner, and idle is not known"
        findings.append(Finding("missing", text, _command("ingest jobs FILE", folder)))
    if not ledger.rows("SELECT device_key FROM core.device_hour LIMIT 1"):
        text = "no readings of boards: all energy is by default power"
        findings.append(Finding("missing", text, _command("ingest power FILE", folder)))
    return findings


def _rejects(ledger: Ledger, folder: Path) -> list[Finding]:
    """Group refused rows by file and kind of reason: names and values in a reason do not make another kind."""
    rows = ledger.rows(
        "SELECT file_name, regexp_replace(split_part(reason, ':', 1), '[0-9]+|`[^`]*`|host [^ ]+', '…', 'g') AS kind, "
        "count(*) AS refused, min(row_number) AS first, arg_min(reason, row_number) AS reason "
        "FROM raw.rejects GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2"
    )
    findings = [
        Finding(
            "check",
            f"{row['refused']:,} row(s) of {row['file_name']} refused, first row {row['first']}: {row['reason']}",
            "",
        )
        for row in rows[:_MOST_LISTED]
    ]
    if len(rows) > _MOST_LISTED:
        more = sum(row["refused"] for row in rows[_MOST_LISTED:])
        findings.append(
            Finding("check", f"{more:,} more rows refused for {len(rows) - _MOST_LISTED} other reasons", "")
        )
    return findings


def _quarters(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT quarter, count(DISTINCT hour_utc) AS hours FROM ref.calendar_hour "
        "WHERE hour_utc IN (SELECT hour_utc FROM core.energy_hour) GROUP BY 1 ORDER BY 1"
    )
    if not rows:
        refused = ledger.rows("SELECT row_number FROM raw.rejects LIMIT 1")
        remedy = f"edit {folder / FILE_NAME}" if refused else _command("ingest jobs FILE", folder)
        return [Finding("missing", "no hour has a job or a reading", remedy)]
    fullest = max(rows, key=lambda row: row["hours"])["quarter"]
    listed = ", ".join(f"{row['quarter']} ({row['hours']} h)" for row in rows)
    return [Finding("good", f"quarters with data: {listed}", _command(f"report {fullest} --out report", folder))]


def _tiers(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT tier, sum(chip_h) AS chip_h, sum(energy_chip_kwh) AS energy FROM coverage GROUP BY 1 ORDER BY 1"
    )
    if not rows:
        return []
    hours = sum(row["chip_h"] for row in rows)
    energy = sum(row["energy"] or 0 for row in rows)
    text = "; ".join(
        f"{row['tier']} {_percent(row['chip_h'], hours):.1f} % of chip-hours"
        + (f", {_percent(row['energy'], energy):.1f} % of board energy" if row["energy"] is not None else ", no energy")
        for row in rows
    )
    read = _percent(sum(row["chip_h"] for row in rows if row["tier"] in ("measured", "integrated")), hours)
    remedy = "" if read > 90 else _command("ingest power FILE", folder)
    return [Finding("good" if read > 90 else "check", f"how the energy is known: {text}", remedy)]


def _model(ledger: Ledger, folder: Path) -> list[Finding]:
    """Say how the boards that were read lie against the power that boards without a reading take."""
    found = inside_ranges(ledger, read_site_file(folder))
    findings = []
    for state in ("busy", "idle"):
        rows = [row for row in found if row.chip_state == state]
        hours = sum(row.chip_h for row in rows)
        if not hours:
            continue
        inside80, inside95 = (
            _percent(sum(getattr(row, name) for row in rows), hours) for name in ("inside80_chip_h", "inside95_chip_h")
        )
        apart = _percent(sum(row.model_kwh - row.read_kwh for row in rows), sum(row.read_kwh for row in rows))
        text = (
            f"of your own readings of {state} boards ({hours:,.0f} chip-hours) {inside80:.0f} % lie inside the 80 % "
            f"and {inside95:.0f} % inside the 95 % range of power by the catalogue, apart by {apart:+.0f} % in energy"
        )
        findings.append(Finding("good" if inside95 >= _MOSTLY_INSIDE_PCT else "check", text, ""))
    return findings


def _undisclosed(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows("SELECT sum(chip_h) AS chip_h FROM coverage WHERE chip_id IS NULL")
    if not rows[0]["chip_h"]:
        return []
    total = ledger.rows("SELECT sum(chip_h) AS chip_h FROM coverage")[0]["chip_h"]
    share = _percent(rows[0]["chip_h"], total)
    text = f"{share:.1f} % of chip-hours are of chips that the logs do not disclose: they have hours and no energy"
    return [Finding("check", text, "")]


def _unplaced(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT site_id, count(*) AS jobs FROM core.job WHERE host IS NULL AND chip_count > 0 GROUP BY 1 ORDER BY 1"
    )
    return [
        Finding("check", f"{row['jobs']:,} jobs of {row['site_id']} name no host: idle chips there are not known", "")
        for row in rows
    ]


def _over_full(ledger: Ledger, folder: Path) -> list[Finding]:
    """Name hosts with more chips given out than they have; instances of boards (MIG) are no chips."""
    rows = ledger.rows(
        "WITH given AS (SELECT host, hour_utc, sum(chip_h) AS chip_h FROM core.energy_hour WHERE job_key IS NOT NULL "
        "GROUP BY 1, 2), cut AS (SELECT DISTINCT job.host FROM core.job AS job JOIN core.host AS host "
        "ON host.host = job.host WHERE job.chip_id IS NULL AND host.chip_id IS NOT NULL) "
        "SELECT given.host, count(*) AS hours FROM given JOIN core.installed_hour AS installed "
        "ON installed.host = given.host AND installed.hour_utc = given.hour_utc ANTI JOIN cut ON cut.host = given.host "
        "WHERE given.chip_h > installed.installed_chip_h + 0.001 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5"
    )
    return [
        Finding("check", f"host {row['host']}: more chips given out than it has, in {row['hours']} h", "")
        for row in rows
    ]


def _unmatched(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT count(*) AS given FROM (SELECT DISTINCT job_id, host FROM raw.allocation) AS given ANTI JOIN "
        "(SELECT job.job_id, job.host FROM core.allocation AS held JOIN core.job AS job ON job.job_key = held.job_key "
        "WHERE held.device_key IS NOT NULL) AS used ON used.job_id = given.job_id AND used.host = given.host"
    )
    count = rows[0]["given"]
    if not count:
        return []
    text = (
        f"{count:,} device allocations fit no job: their jobs are not in the ledger, or run longer than the allocation"
    )
    return [Finding("check", text, "")]


def _balance(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT month, site_id, difference_chip_h, difference_energy_chip_kwh FROM reconciliation "
        "WHERE abs(difference_chip_h) > 0.001 OR abs(difference_energy_chip_kwh) > 0.000001 ORDER BY 1, 2"
    )
    if not rows:
        return [Finding("good", "installed = given + idle in every month; energy of readings = energy of owners", "")]
    return [
        Finding(
            "check",
            f"{row['month']} {row['site_id']}: accounted less installed "
            f"{float(row['difference_chip_h'] or 0):.3f} chip h, owned less read "
            f"{float(row['difference_energy_chip_kwh'] or 0):.6f} kWh (chip)",
            "",
        )
        for row in rows
    ]


def _windows(ledger: Ledger, folder: Path) -> list[Finding]:
    """Name the times between two log windows of a site: idle and jobs are not known there."""
    rows = ledger.rows(
        "SELECT site_id, to_utc AS gap_from, lead(from_utc) OVER (PARTITION BY site_id ORDER BY from_utc) AS gap_to "
        "FROM core.log_window ORDER BY 1, 2"
    )
    return [
        Finding(
            "check",
            f"no job log of {row['site_id']} from {row['gap_from']:%Y-%m-%dT%H:%MZ} to {row['gap_to']:%Y-%m-%dT%H:%MZ}",
            "",
        )
        for row in rows
        if row["gap_to"] is not None and row["gap_to"] > row["gap_from"]
    ]


def _counters(ledger: Ledger, folder: Path) -> list[Finding]:
    """Name boards whose counter cannot be trusted: it fell, stood still, jumped, or disagrees with power."""
    rows = ledger.rows(
        "SELECT device.host, device.device_index, device.device_scope, sum(restart_count) AS fell, "
        "sum(stuck_count) AS stood, sum(jump_count) AS jumped, sum(energy_by_counter_chip_kwh) AS counted, "
        "sum(energy_by_power_chip_kwh) AS held, sum(wrap_count) AS wrapped, sum(ambiguous_wrap_count) AS unclear, "
        "CAST(sum(least_energy_chip_kwh) AS DOUBLE) AS least_kwh "
        "FROM core.counter_hour AS hour JOIN core.device AS device ON device.device_key = hour.device_key "
        "GROUP BY ALL ORDER BY 1, 2"
    )
    findings = []
    for row in rows:
        apart = _percent(row["counted"] - row["held"], row["held"])
        if not (row["fell"] or row["stood"] or row["jumped"] or row["unclear"] or abs(apart) > _COUNTER_APART_PCT):
            continue
        which = "plug" if row["device_scope"] == "node" else f"board {row['device_index']}"
        text = (
            f"{which} of {row['host']}: counter fell {row['fell']}, stood still {row['stood']}, "
            f"jumped {row['jumped']} times; counter less power {apart:+.1f} % where both were read"
        )
        if row["wrapped"] or row["unclear"]:
            text += f"; went {row['wrapped']} times through its range"
        if row["unclear"]:
            text += (
                f", and {row['unclear']} times perhaps once more (at least {row['least_kwh']:.6g} kWh, not counted): "
                "read it more often"
            )
        findings.append(Finding("check", text, ""))
    more = len(findings) - _MOST_LISTED
    if more > 0:
        return [*findings[:_MOST_LISTED], Finding("check", f"{more} more boards have such counters", "")]
    return findings


def _sites(ledger: Ledger, folder: Path) -> list[Finding]:
    return [Finding("good", line, "") for line in site_lines(ledger)]


def _grid_hours(ledger: Ledger, folder: Path) -> list[Finding]:
    good, amiss = series_words(ledger, read_site_file(folder))
    return [*(Finding("check", text, "") for text in amiss), *(Finding("good", text, "") for text in good)]


_LOOKS = (
    _files,
    _rejects,
    _quarters,
    _sites,
    _grid_hours,
    _windows,
    _tiers,
    _model,
    _undisclosed,
    _unplaced,
    _over_full,
    _unmatched,
    _counters,
    _balance,
)
