"""What is missing, what share is known how, and the next command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy.errors import EnergyError, LedgerError
from energy.ledger.reader import Ledger
from energy.ledger.site_file import read_site_file


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
    findings: list[Finding] = []
    try:
        site_file = read_site_file(folder)
    except EnergyError as error:
        return Diagnosis(str(folder), None, (Finding("missing", str(error), f"energy init {folder}"),))
    try:
        ledger = Ledger(folder)
    except LedgerError as error:
        if not (folder / "ledger.duckdb").exists():
            text = f"site.yaml describes {len(site_file.sites)} sites; no file was ingested yet."
            finding = Finding("missing", text, f"energy ingest jobs FILE --ledger {folder}")
            return Diagnosis(str(folder), None, (finding,))
        return Diagnosis(str(folder), None, (Finding("missing", str(error), ""),))
    with ledger:
        for look in (_files, _rejects, _quarters, _tiers, _undisclosed, _unplaced, _over_full, _unmatched, _balance):
            findings += look(ledger, folder)
        return Diagnosis(str(folder), ledger.version, tuple(sorted(findings, key=lambda item: _RANK[item.level])))


_RANK = {"missing": 0, "check": 1, "good": 2}


def _percent(part: Any, whole: Any) -> float:
    return 100.0 * float(part or 0) / float(whole) if whole else 0.0


def _files(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT format, count(*) AS files, sum(rows_accepted) AS rows FROM raw.batch GROUP BY 1 ORDER BY 1"
    )
    have = {row["format"]: row for row in rows}
    findings = [
        Finding("good", f"{row['format']}: {row['files']} file(s), {int(row['rows']):,} rows", "") for row in rows
    ]
    if "jobs" not in have:
        text = "no scheduler log: energy has no owner, and idle is not known"
        findings.append(Finding("missing", text, f"energy ingest jobs FILE --ledger {folder}"))
    if "power" not in have:
        text = "no readings of boards: all energy is by default power"
        findings.append(Finding("missing", text, f"energy ingest power FILE --ledger {folder}"))
    return findings


def _rejects(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT file_name, reason, count(*) AS refused, min(row_number) AS first FROM raw.rejects "
        "GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10"
    )
    return [
        Finding(
            "check",
            f"{row['refused']:,} row(s) of {row['file_name']} refused, first row {row['first']}: {row['reason']}",
            "",
        )
        for row in rows
    ]


def _quarters(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT quarter, count(DISTINCT hour_utc) AS hours FROM ref.calendar_hour "
        "WHERE hour_utc IN (SELECT hour_utc FROM core.energy_hour) GROUP BY 1 ORDER BY 1"
    )
    if not rows:
        return [Finding("missing", "no hour has energy", f"energy ingest jobs FILE --ledger {folder}")]
    fullest = max(rows, key=lambda row: row["hours"])["quarter"]
    listed = ", ".join(f"{row['quarter']} ({row['hours']} h)" for row in rows)
    return [Finding("good", f"quarters with data: {listed}", f"energy report {fullest} --ledger {folder} --out report")]


def _tiers(ledger: Ledger, folder: Path) -> list[Finding]:
    rows = ledger.rows(
        "SELECT tier, sum(chip_h) AS chip_h, sum(energy_chip_kwh) AS energy FROM coverage GROUP BY 1 ORDER BY 1"
    )
    hours = sum(row["chip_h"] for row in rows)
    energy = sum(row["energy"] or 0 for row in rows)
    text = "; ".join(
        f"{row['tier']} {_percent(row['chip_h'], hours):.1f} % of chip-hours"
        + (f", {_percent(row['energy'], energy):.1f} % of board energy" if row["energy"] is not None else ", no energy")
        for row in rows
    )
    read = _percent(sum(row["chip_h"] for row in rows if row["tier"] in ("measured", "integrated")), hours)
    remedy = "" if read > 90 else f"energy ingest power FILE --ledger {folder}"
    return [Finding("good" if read > 90 else "check", f"how the energy is known: {text}", remedy)]


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
    rows = ledger.rows(
        "WITH given AS (SELECT host, hour_utc, sum(chip_h) AS chip_h FROM core.energy_hour WHERE job_key IS NOT NULL "
        "GROUP BY 1, 2) SELECT given.host, count(*) AS hours FROM given JOIN core.installed_hour AS installed "
        "ON installed.host = given.host AND installed.hour_utc = given.hour_utc "
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
