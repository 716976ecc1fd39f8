/* Both sides of each check must agree; a difference is a defect of the data or of the ledger, and is shown. */
/* Chip-hours are compared in the hours for which the site's log is whole or a device was read. Readings that a job's own */
/* measurement replaces are no part of what was read: they stand beside it, and were not given to any owner. */
WITH installed AS (
  SELECT
    calendar.month,
    calendar.quarter,
    chips.site_id,
    CAST(SUM(chips.installed_chip_h) AS DECIMAL(38, 12)) AS installed_chip_h
  FROM core.installed_hour AS chips
  JOIN ref.calendar_hour AS calendar
    ON calendar.hour_utc = chips.hour_utc
  GROUP BY
    calendar.month,
    calendar.quarter,
    chips.site_id
), known AS (
  SELECT DISTINCT
    site_id,
    hour_utc
  FROM core.installed_hour
), accounted AS (
  SELECT
    line.month,
    line.quarter,
    line.site_id,
    CAST(SUM(CASE WHEN NOT known.hour_utc IS NULL THEN line.chip_h ELSE 0 END) AS DECIMAL(38, 12)) AS accounted_chip_h,
    CAST(SUM(
      CASE
        WHEN line.tier IN ('measured', 'integrated', 'modelled') AND line.attribution <> 'job'
        THEN line.energy_chip_kwh
        ELSE 0
      END
    ) AS DECIMAL(38, 12)) AS owned_energy_chip_kwh
  FROM main.energy_hourly AS line
  LEFT JOIN known
    ON known.site_id = line.site_id AND known.hour_utc = line.hour_utc
  GROUP BY
    line.month,
    line.quarter,
    line.site_id
), place AS (
  SELECT
    host,
    hour_utc,
    MIN(site_id) AS site_id
  FROM core.energy_hour
  GROUP BY
    host,
    hour_utc
), own AS (
  SELECT DISTINCT
    job_key
  FROM core.energy_hour
  WHERE
    attribution = 'job'
), shared AS (
  SELECT
    calendar.month,
    replaced.site_id,
    CAST(SUM(replaced.replaced_energy_chip_kwh) AS DECIMAL(38, 12)) AS energy_chip_kwh
  FROM core.replaced_hour AS replaced
  JOIN ref.calendar_hour AS calendar
    ON calendar.hour_utc = replaced.hour_utc
  GROUP BY
    calendar.month,
    replaced.site_id
), readings AS (
  SELECT
    calendar.month,
    COALESCE(chips.site_id, place.site_id) AS site_id,
    CAST(SUM(CASE WHEN own.job_key IS NULL THEN reading.energy_chip_microj END) / 3600000000000 AS DECIMAL(38, 12)) AS read_energy_chip_kwh,
    CAST(SUM(CASE WHEN NOT own.job_key IS NULL THEN reading.energy_chip_microj ELSE 0 END) / 3600000000000 AS DECIMAL(38, 12)) AS held_energy_chip_kwh
  FROM core.device_hour AS reading
  JOIN ref.calendar_hour AS calendar
    ON calendar.hour_utc = reading.hour_utc
  JOIN core.device AS device
    ON device.device_key = reading.device_key
  LEFT JOIN core.installed_hour AS chips
    ON chips.host = device.host AND chips.hour_utc = reading.hour_utc
  LEFT JOIN place
    ON place.host = device.host AND place.hour_utc = reading.hour_utc
  LEFT JOIN core.allocation AS held
    ON held.allocation_key = reading.allocation_key
  LEFT JOIN own
    ON own.job_key = held.job_key
  GROUP BY
    calendar.month,
    COALESCE(chips.site_id, place.site_id)
)
SELECT
  accounted.month,
  accounted.quarter,
  accounted.site_id,
  installed.installed_chip_h,
  accounted.accounted_chip_h,
  CAST(accounted.accounted_chip_h - installed.installed_chip_h AS DECIMAL(38, 12)) AS difference_chip_h,
  CAST(readings.read_energy_chip_kwh - COALESCE(shared.energy_chip_kwh, 0) AS DECIMAL(38, 12)) AS read_energy_chip_kwh,
  CAST(readings.held_energy_chip_kwh + COALESCE(shared.energy_chip_kwh, 0) AS DECIMAL(38, 12)) AS replaced_energy_chip_kwh,
  accounted.owned_energy_chip_kwh,
  CAST(accounted.owned_energy_chip_kwh - (
    readings.read_energy_chip_kwh - COALESCE(shared.energy_chip_kwh, 0)
  ) AS DECIMAL(38, 12)) AS difference_energy_chip_kwh
FROM accounted
LEFT JOIN installed
  ON installed.month = accounted.month AND installed.site_id = accounted.site_id
LEFT JOIN readings
  ON readings.month = accounted.month AND readings.site_id = accounted.site_id
LEFT JOIN shared
  ON shared.month = accounted.month AND shared.site_id = accounted.site_id
