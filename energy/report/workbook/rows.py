"""The rows that only the workbook shows; they are asked for when it is written, while the ledger is open."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from energy.errors import EnergyError, ReportError
from energy.report import queries
from energy.report.model import DataTable

if TYPE_CHECKING:
    from energy.report.facts import QuarterFacts

# A sheet has 1,048,576 rows; far fewer open quickly. What lies beyond stands on a line of its own, never cut unsaid.
JOB_LIMIT = 5_000
REJECT_LIMIT = 2_000

_RUN_EMISSIONS = """
SELECT job_key, chip_id,
    sum(CASE WHEN method = 'location' THEN emissions_kgco2e END) AS location_emissions_kgco2e,
    sum(CASE WHEN method = 'market' THEN emissions_kgco2e END) AS market_emissions_kgco2e,
    sum(CASE WHEN method = 'hourly' THEN emissions_kgco2e END) AS hourly_emissions_kgco2e
FROM main.emission_lines WHERE quarter = ? AND job_key IS NOT NULL GROUP BY job_key, chip_id
"""

JOBS = f"""
WITH emission AS ({_RUN_EMISSIONS})
SELECT run.job_id, run.site_id, run.host, CASE WHEN job.project IS NULL THEN 'unallocated' ELSE 'project' END
    AS owner_kind, run.owner, run.user_name, run.job_type, run.state, run.start_utc, run.end_utc, run.chip_id,
    run.chip_h, run.covered_chip_h, run.energy_chip_kwh, run.energy_facility_kwh, run.energy_facility_low_kwh,
    run.energy_facility_high_kwh, emission.location_emissions_kgco2e, emission.market_emissions_kgco2e,
    emission.hourly_emissions_kgco2e
FROM main.jobs AS run
JOIN core.job AS job ON job.job_key = run.job_key
LEFT JOIN emission ON emission.job_key = run.job_key AND emission.chip_id IS NOT DISTINCT FROM run.chip_id
WHERE run.quarter = ?
ORDER BY run.energy_facility_kwh DESC NULLS LAST, run.job_key, run.chip_id
LIMIT {{limit}}
"""

JOB_SUMS = """
SELECT CASE WHEN job.project IS NULL THEN 'unallocated' ELSE 'project' END AS owner_kind, count(*) AS row_count,
    sum(run.chip_h) AS chip_h, sum(run.covered_chip_h) AS covered_chip_h, sum(run.energy_chip_kwh) AS energy_chip_kwh,
    sum(run.energy_facility_kwh) AS energy_facility_kwh, sum(run.energy_facility_low_kwh) AS energy_facility_low_kwh,
    sum(run.energy_facility_high_kwh) AS energy_facility_high_kwh
FROM main.jobs AS run JOIN core.job AS job ON job.job_key = run.job_key
WHERE run.quarter = ? GROUP BY 1 ORDER BY 1
"""

COVERAGE = """
SELECT month, site_id, chip_id, owner_kind, tier, chip_h, energy_chip_kwh FROM main.coverage WHERE quarter = ?
ORDER BY month, site_id, chip_id, owner_kind, tier
"""

# Between which overheads the lines of a site lie: what a ratio of sums must lie between too.
CHAIN = """
SELECT site_id, min(node_overhead) AS overhead_least, max(node_overhead) AS overhead_most, min(pue) AS pue_least,
    max(pue) AS pue_most
FROM main.energy_hourly WHERE quarter = ? AND energy_facility_kwh IS NOT NULL GROUP BY site_id ORDER BY site_id
"""

REJECTS = """
SELECT batch_id, format, file_name, row_number, reason, row_text FROM raw.rejects
ORDER BY batch_id, row_number, reason, row_text LIMIT {limit}
"""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ENERGY_COLUMNS = _names(
    "month site_id owner_kind owner_key chip tier attribution chip_h energy_chip_kwh energy_chip_low_kwh "
    "energy_chip_high_kwh energy_it_kwh energy_it_low_kwh energy_it_high_kwh energy_facility_kwh "
    "energy_facility_low_kwh energy_facility_high_kwh"
)
EMISSION_COLUMNS = _names(
    "month site_id owner_kind owner_key chip tier scope category method basis factor_ids chip_h "
    "energy_facility_kwh energy_facility_low_kwh energy_facility_high_kwh emissions_kgco2e "
    "emissions_low_kgco2e emissions_high_kgco2e"
)
FACTOR_COLUMNS = _names(
    "site_id method basis factor_id energy_facility_kwh energy_purchased_facility_kwh "
    "intensity_gco2e_per_kwh_facility emissions_kgco2e "
    "factor_kind zone_id factor_year boundary factor_attribution gases gwp_set publisher source edition "
    "licence status year_policy year_note note"
)
JOB_COLUMNS = _names(
    "job_id site_id host owner_kind owner user_name job_type state start_utc end_utc chip_id chip_h "
    "covered_chip_h energy_chip_kwh energy_facility_kwh energy_facility_low_kwh energy_facility_high_kwh "
    "location_emissions_kgco2e market_emissions_kgco2e hourly_emissions_kgco2e"
)
JOB_SUM_COLUMNS = _names(
    "owner_kind row_count chip_h covered_chip_h energy_chip_kwh energy_facility_kwh "
    "energy_facility_low_kwh energy_facility_high_kwh"
)
COVERAGE_COLUMNS = _names("month site_id chip_id owner_kind tier chip_h energy_chip_kwh")
CHAIN_COLUMNS = _names("site_id overhead_least overhead_most pue_least pue_most")
RECONCILIATION_COLUMNS = _names(
    "month site_id installed_chip_h accounted_chip_h read_energy_chip_kwh owned_energy_chip_kwh"
)
FILE_COLUMNS = _names(
    "batch_id format file_name file_sha256 mapping_sha256 site_id rows_read rows_accepted rows_rejected "
    "rows_duplicate note"
)
REJECT_COLUMNS = _names("batch_id format file_name row_number reason row_text")
SETTING_COLUMNS = _names("kind name value unit low high status source")


def ledger_tables(
    facts: QuarterFacts, job_limit: int = JOB_LIMIT, reject_limit: int = REJECT_LIMIT
) -> tuple[DataTable, ...]:
    """Return the rows of the quarter for the workbook's sheets.

    Parameters
    ----------
    facts : QuarterFacts
        What the report was made from; its ledger must still be open.
    job_limit, reject_limit : int
        Rows of these sheets; what is left out is counted and added up in a table of its own.

    Raises
    ------
    ReportError
        When the ledger no longer answers.
    """
    try:
        return _tables(facts, job_limit, reject_limit)
    except EnergyError:
        raise
    except Exception as error:  # of the database, whose classes only the ledger knows
        raise ReportError(
            f"The workbook needs rows of the ledger, which does not answer ({str(error).splitlines()[0][:120]}): "
            "write it while the ledger is open."
        ) from error


def _tables(facts: QuarterFacts, job_limit: int, reject_limit: int) -> tuple[DataTable, ...]:
    quarter, ask = facts.quarter.key, facts.reader.rows
    jobs = ask(JOBS.format(limit=int(job_limit)), [quarter, quarter])
    sums = ask(JOB_SUMS, [quarter])
    telemetry = ask(queries.TELEMETRY)
    listed = "\n".join(f"{row['partition_path']} {row['content_sha256']}" for row in telemetry)
    digest = hashlib.sha256(listed.encode()).hexdigest()
    emissions = [
        row | {"factor_ids": " ".join(facts.factor_ids(row["method"], {row["site_id"]}))} for row in facts.emissions
    ]
    return (
        _table("energy", ENERGY_COLUMNS, facts.energy),
        _table("emissions", EMISSION_COLUMNS, emissions),
        _table("factors", FACTOR_COLUMNS, facts.factors_used),
        _table("jobs", JOB_COLUMNS, _job_rows(facts, jobs)),
        _table("job_sums", JOB_SUM_COLUMNS, sums),
        _table("coverage", COVERAGE_COLUMNS, ask(COVERAGE, [quarter])),
        _table("chain", CHAIN_COLUMNS, ask(CHAIN, [quarter])),
        _table("reconciliation", RECONCILIATION_COLUMNS, facts.reconciliation),
        _table("files", FILE_COLUMNS, facts.batches),
        DataTable("telemetry", ("file_count", "sha256"), ((len(telemetry), digest),)),
        _table("reject_reasons", ("batch_id", "file_name", "reason", "row_count"), ask(queries.REJECT_REASONS)),
        _table("rejects", REJECT_COLUMNS, ask(REJECTS.format(limit=int(reject_limit)))),
        _table("settings", SETTING_COLUMNS, _settings(facts)),
    )


def _table(name: str, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> DataTable:
    return DataTable(name, tuple(columns), tuple(tuple(row[column] for column in columns) for row in rows))


def _job_rows(facts: QuarterFacts, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Take away the emissions of jobs whose site's factors must not be added."""
    apart = {
        site: {f"{method}_emissions_kgco2e": "not added" for method in facts.methods if facts.unnamed(method, {site})}
        for site in {row["site_id"] for row in rows}
    }
    return [row | apart[row["site_id"]] for row in rows]


def _settings(facts: QuarterFacts) -> list[dict[str, Any]]:
    """Return every assumption in one form: settings, PUE, node overhead, power of chips without a reading."""
    empty: dict[str, Any] = dict.fromkeys(SETTING_COLUMNS)
    found: list[dict[str, Any]] = [
        {"kind": "setting", "name": name, "value": value, "source": "site.yaml and the build"}
        for name, value in sorted(facts.settings.items())
    ]
    found += [
        {
            "kind": "PUE: least and most of its hours", "name": row["site_id"], "unit": "kWh_facility/kWh_it",
            "low": row["pue_least"], "high": row["pue_most"], "status": row["status"], "source": row["source"],
        }
        for row in facts.pue
    ]  # fmt: skip
    found += [
        {
            "kind": "node overhead: ends of the 95 % range", "name": f"{row['site_id']}, {row['chip']}",
            "value": row["overhead_least"] if row["overhead_least"] == row["overhead_most"] else None,
            "unit": "kWh_it/kWh_chip", "low": row["overhead_low"], "high": row["overhead_high"],
            "status": row["status"], "source": f"{row['host_count']} hosts",
        }
        for row in facts.hosts
    ]  # fmt: skip
    found += [
        {
            "kind": f"power of a chip without a reading, {row['chip_state']}", "name": row["chip_id"],
            "value": row["power_chip_w"], "unit": "W_chip/chip", "low": row["power_chip_low_w"],
            "high": row["power_chip_high_w"], "status": row["status"], "source": row["source"],
        }
        for row in facts.reader.rows(queries.CHIP_POWER)
    ]  # fmt: skip
    return [empty | row for row in found]
