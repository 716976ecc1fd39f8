"""The questions that a report asks the ledger: each once, grouped, and limited to the quarter.

Every query has a total order, so that the same ledger gives the same report.
"""

from __future__ import annotations

SETTINGS = "SELECT key_name, key_value FROM ref.setting ORDER BY key_name"

SITES = "SELECT site_id, site_name, zone_id, timezone FROM core.site ORDER BY site_name, site_id"

CHIPS = "SELECT chip_id, chip_name FROM ref.chip ORDER BY chip_id"

CHIP_POWER = """
SELECT chip_id, chip_state, power_chip_w, power_chip_low_w, power_chip_high_w, source, status
FROM ref.chip_power ORDER BY chip_id, chip_state
"""

CLOCK = """
SELECT local_date, local_hour, count(*) AS hours
FROM ref.calendar_hour WHERE quarter = ? GROUP BY local_date, local_hour ORDER BY local_date, local_hour
"""

INSTALLED = """
SELECT calendar.month, chips.site_id, chips.chip_id, sum(chips.installed_chip_h) AS installed_chip_h
FROM core.installed_hour AS chips
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = chips.hour_utc
WHERE calendar.quarter = ?
GROUP BY calendar.month, chips.site_id, chips.chip_id
ORDER BY calendar.month, chips.site_id, chips.chip_id
"""

HOSTS = """
SELECT inventory.site_id, inventory.chip_id, inventory.chip_name_given, inventory.status,
    count(DISTINCT inventory.host) AS host_count, min(inventory.node_overhead) AS overhead_least,
    max(inventory.node_overhead) AS overhead_most, min(inventory.node_overhead_low) AS overhead_low,
    max(inventory.node_overhead_high) AS overhead_high
FROM core.host AS inventory
JOIN (
    SELECT DISTINCT chips.host FROM core.installed_hour AS chips
    JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = chips.hour_utc WHERE calendar.quarter = ?
) AS present ON present.host = inventory.host
GROUP BY inventory.site_id, inventory.chip_id, inventory.chip_name_given, inventory.status
ORDER BY inventory.site_id, inventory.chip_id, inventory.chip_name_given, inventory.status
"""

ENERGY = """
SELECT * FROM main.energy_monthly WHERE quarter = ?
ORDER BY month, site_id, owner_kind, owner, chip_id, tier, attribution
"""

EMISSIONS = """
SELECT * FROM main.emissions_monthly WHERE quarter = ?
ORDER BY method, month, site_id, owner_kind, owner, chip_id, tier, scope, category, basis
"""

PUE = """
SELECT site.site_id, site.source, site.status, min(site.pue) AS pue_least, max(site.pue) AS pue_most,
    count(*) AS hours
FROM core.pue_hour AS site
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = site.hour_utc
WHERE calendar.quarter = ?
GROUP BY site.site_id, site.source, site.status
ORDER BY site.site_id, site.source, site.status
"""

# Which bases meet in a sum: asked of the hours, which are few, for each quarter from the first to the last given.
BASES = """
SELECT DISTINCT calendar.quarter, used.site_id, used.method, used.factor_id, fact.boundary,
    fact.factor_attribution, fact.gases, fact.gwp_set
FROM core.factor_hour AS used
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = used.hour_utc
JOIN ref.factor AS fact ON fact.factor_id = used.factor_id
WHERE calendar.quarter BETWEEN ? AND ?
ORDER BY calendar.quarter, used.site_id, used.method, used.factor_id
"""

FACTORS_USED = """
SELECT * FROM main.factors_used WHERE quarter = ?
ORDER BY site_id, method, factor_id, year_policy, year_note, note
"""

# Asked of the tables behind the views of the same rows: the set-aside first, so that a short list shows them.
INSTRUMENTS = """
SELECT * FROM core.instrument WHERE quarter = ? ORDER BY is_accepted, used_facility_mwh DESC, instrument_id
"""

MARKET_COVER = """
SELECT * FROM core.market_cover WHERE quarter = ?
ORDER BY method DESC, site_id, cover_kind, instrument_kind, instrument_id
"""

JOBS = """
SELECT *, count(*) OVER () AS job_count FROM main.jobs WHERE quarter = ?
ORDER BY energy_facility_kwh DESC NULLS LAST, job_key, chip_id
LIMIT 10
"""


def job_emissions(count: int) -> str:
    """Return the query for the emissions of ``count`` jobs: parameters are the quarter, then their keys."""
    marks = ", ".join("?" * count)
    return f"""
SELECT job_key, chip_id, method, sum(emissions_kgco2e) AS emissions_kgco2e,
    sum(emissions_low_kgco2e) AS emissions_low_kgco2e, sum(emissions_high_kgco2e) AS emissions_high_kgco2e
FROM main.emission_lines
WHERE quarter = ? AND job_key IN ({marks})
GROUP BY job_key, chip_id, method
ORDER BY job_key, chip_id, method
"""


BATCHES = """
SELECT batch_id, format, file_name, file_sha256, mapping_sha256, site_id, rows_read, rows_accepted, rows_rejected,
    rows_duplicate, note
FROM raw.batch ORDER BY batch_id
"""

TELEMETRY = "SELECT partition_path, content_sha256 FROM raw.telemetry_file ORDER BY partition_path"

REJECT_REASONS = """
SELECT batch_id, file_name, reason, count(*) AS row_count
FROM raw.rejects GROUP BY batch_id, file_name, reason ORDER BY row_count DESC, file_name, reason, batch_id
"""

REJECT_EXAMPLES = """
SELECT batch_id, file_name, row_number, reason, row_text FROM raw.rejects ORDER BY batch_id, row_number, reason LIMIT 25
"""

RECONCILIATION = "SELECT * FROM main.reconciliation WHERE quarter = ? ORDER BY month, site_id"

HOURS = """
SELECT calendar.local_date, calendar.local_hour, line.site_id, line.tier,
    sum(line.chip_h) AS chip_h, sum(line.energy_facility_kwh) AS energy_facility_kwh
FROM main.energy_hourly AS line
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = line.hour_utc
WHERE line.quarter = ?
GROUP BY calendar.local_date, calendar.local_hour, line.site_id, line.tier
ORDER BY calendar.local_date, calendar.local_hour, line.site_id, line.tier
"""

# A gap: between the first and the last reading of a host, an hour whose readings lack more than a hundredth.
GAPS = """
WITH reading AS (
    SELECT device.host, readings.hour_utc, sum(readings.covered_chip_ms) AS covered_chip_ms
    FROM core.device_hour AS readings
    JOIN core.device AS device ON device.device_key = readings.device_key
    JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = readings.hour_utc
    WHERE calendar.quarter = ?
    GROUP BY device.host, readings.hour_utc
),
span AS (
    SELECT host, min(hour_utc) AS first_hour, max(hour_utc) AS last_hour FROM reading GROUP BY host
)
SELECT chips.site_id, chips.host, chips.hour_utc,
    CAST(chips.installed_chip_h * 3600000 AS BIGINT) AS expected_chip_ms,
    coalesce(reading.covered_chip_ms, 0) AS covered_chip_ms
FROM core.installed_hour AS chips
JOIN span ON span.host = chips.host AND chips.hour_utc > span.first_hour AND chips.hour_utc < span.last_hour
LEFT JOIN reading ON reading.host = chips.host AND reading.hour_utc = chips.hour_utc
WHERE coalesce(reading.covered_chip_ms, 0) < 0.99 * 3600000 * chips.installed_chip_h
ORDER BY chips.site_id, chips.host, chips.hour_utc
"""

# Whether any site states water, and whether one names own plants.
STATED = """
SELECT (SELECT count(*) FROM core.wue_hour) + (SELECT count(*) FROM core.grid_water_hour) > 0 AS water,
    (SELECT count(*) FROM core.supply_hour WHERE load_facility_kwh IS NOT NULL) > 0 AS own_plants
"""

WATER = """
SELECT site_id, owner_kind, owner, sum(energy_it_kwh) AS energy_it_kwh,
    sum(water_withdrawn_l) AS water_withdrawn_l, sum(water_withdrawn_low_l) AS water_withdrawn_low_l,
    sum(water_withdrawn_high_l) AS water_withdrawn_high_l,
    sum(water_consumed_l) AS water_consumed_l, sum(water_consumed_low_l) AS water_consumed_low_l,
    sum(water_consumed_high_l) AS water_consumed_high_l,
    sum(water_off_site_consumed_l) AS water_off_site_consumed_l,
    sum(water_off_site_consumed_low_l) AS water_off_site_consumed_low_l,
    sum(water_off_site_consumed_high_l) AS water_off_site_consumed_high_l
FROM main.water_monthly
WHERE quarter = ?
GROUP BY site_id, owner_kind, owner
ORDER BY site_id, owner_kind, owner
"""

WATER_SOURCES = """
WITH line AS (
    SELECT water.site_id, water.quarter, water.energy_it_kwh, water.energy_purchased_facility_kwh,
        water.water_withdrawn_l, water.water_consumed_l, water.water_off_site_consumed_l,
        rate.source, rate.status, rate.note,
        grid.source AS grid_source, grid.status AS grid_status, grid.note AS grid_note
    FROM main.water_hourly AS water
    LEFT JOIN core.wue_hour AS rate ON rate.site_id = water.site_id AND rate.hour_utc = water.hour_utc
    LEFT JOIN core.grid_water_hour AS grid ON grid.site_id = water.site_id AND grid.hour_utc = water.hour_utc
)
SELECT site_id, 'site' AS what, source, status, note, sum(energy_it_kwh) AS energy,
    coalesce(sum(water_withdrawn_l), sum(water_consumed_l)) AS water_l
FROM line WHERE quarter = ? AND source IS NOT NULL GROUP BY site_id, source, status, note
UNION ALL
SELECT site_id, 'power stations' AS what, grid_source, grid_status, grid_note, sum(energy_purchased_facility_kwh),
    sum(water_off_site_consumed_l)
FROM line WHERE quarter = ? AND grid_source IS NOT NULL GROUP BY site_id, grid_source, grid_status, grid_note
ORDER BY site_id, what DESC, source
"""

# Lines for the auditor's sample, drawn by a hash of their key: nobody picks them, and the draw repeats.
SAMPLE = """
SELECT hour_utc, site_id, host, owner_kind, owner, job_key, chip_id, tier, attribution, chip_h, energy_chip_kwh,
    node_overhead, pue, energy_facility_kwh
FROM main.energy_hourly
WHERE quarter = ? AND energy_facility_kwh IS NOT NULL
ORDER BY md5(concat_ws('|', CAST(epoch(hour_utc) AS BIGINT), host, owner_kind, owner, job_key, tier, attribution)),
    chip_id, chip_h, energy_chip_kwh
LIMIT 25
"""


def sample_factors(count: int) -> str:
    """Return the query for the factors of ``count`` lines: parameters are pairs of site and hour."""
    pairs = " OR ".join(["(site_id = ? AND hour_utc = ?)"] * count)
    return f"""
SELECT site_id, hour_utc, method, intensity_gco2e_per_kwh_facility, factor_id, grid_share
FROM core.factor_hour JOIN core.supply_hour USING (site_id, hour_utc)
WHERE {pairs} ORDER BY site_id, hour_utc, method
"""


def sample_jobs(count: int) -> str:
    """Return the query for the log lines of ``count`` jobs: parameters are their keys."""
    marks = ", ".join("?" * count)
    return f"""
SELECT job.job_key, job.job_id, batch.file_name, job.row_number
FROM core.job AS job JOIN raw.batch AS batch ON batch.batch_id = job.batch_id
WHERE job.job_key IN ({marks}) ORDER BY job.job_key
"""


_HISTORY_ENERGY = """
SELECT quarter, sum(chip_h) AS chip_h,
    sum(CASE WHEN owner_kind = 'idle' THEN chip_h ELSE 0 END) AS idle_chip_h,
    sum(CASE WHEN owner_kind = 'project' THEN chip_h ELSE 0 END) AS project_chip_h,
    sum(CASE WHEN owner_kind = 'unallocated' THEN chip_h ELSE 0 END) AS unallocated_chip_h,
    sum(energy_it_kwh) AS energy_it_kwh, sum(energy_facility_kwh) AS energy_facility_kwh,
    sum(energy_facility_low_kwh) AS energy_facility_low_kwh, sum(energy_facility_high_kwh) AS energy_facility_high_kwh
FROM main.energy_monthly WHERE {of_site}quarter >= ? AND quarter < ? GROUP BY quarter ORDER BY quarter
"""
HISTORY_ENERGY = _HISTORY_ENERGY.format(of_site="")
HISTORY_ENERGY_OF_SITE = _HISTORY_ENERGY.format(of_site="site_id = ? AND ")

HISTORY_EMISSIONS = """
SELECT quarter, site_id, method, sum(emissions_kgco2e) AS emissions_kgco2e,
    sum(emissions_low_kgco2e) AS emissions_low_kgco2e, sum(emissions_high_kgco2e) AS emissions_high_kgco2e
FROM main.emissions_monthly WHERE quarter >= ? AND quarter < ?
GROUP BY quarter, site_id, method ORDER BY quarter, site_id, method
"""
