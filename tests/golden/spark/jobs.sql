/* One run of one job in one quarter: a job over the edge of a quarter has a row in each. */
WITH run AS (
  SELECT
    quarter,
    job_key,
    chip_id,
    MIN(owner) AS owner, /* one for all lines of a job */
    CAST(SUM(chip_h) AS DECIMAL(38, 12)) AS chip_h,
    CAST(SUM(CASE WHEN tier IN ('measured', 'integrated', 'modelled') THEN chip_h ELSE 0 END) AS DECIMAL(38, 12)) AS covered_chip_h,
    CAST(SUM(energy_chip_kwh) AS DECIMAL(38, 12)) AS energy_chip_kwh,
    CAST(SUM(energy_chip_low_kwh) AS DECIMAL(38, 12)) AS energy_chip_low_kwh,
    CAST(SUM(energy_chip_high_kwh) AS DECIMAL(38, 12)) AS energy_chip_high_kwh,
    CAST(SUM(energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
    CAST(SUM(energy_facility_low_kwh) AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
    CAST(SUM(energy_facility_high_kwh) AS DECIMAL(38, 12)) AS energy_facility_high_kwh
  FROM main.energy_hourly
  WHERE
    NOT job_key IS NULL
  GROUP BY
    quarter,
    job_key,
    chip_id
)
SELECT
  run.quarter,
  run.job_key,
  job.job_id,
  job.site_id,
  job.host,
  run.owner,
  job.user_name,
  job.job_type,
  job.state,
  job.start_utc,
  job.end_utc,
  run.chip_id,
  run.chip_h,
  run.covered_chip_h,
  run.energy_chip_kwh,
  run.energy_chip_low_kwh,
  run.energy_chip_high_kwh,
  run.energy_facility_kwh,
  run.energy_facility_low_kwh,
  run.energy_facility_high_kwh
FROM run
JOIN core.job AS job
  ON job.job_key = run.job_key
