/* Both sides of each check must agree; a difference is a defect of the data or of the ledger, and is shown. */
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
), accounted AS (
  SELECT
    month,
    quarter,
    site_id,
    CAST(SUM(chip_h) AS DECIMAL(38, 12)) AS accounted_chip_h,
    CAST(SUM(
      CASE
        WHEN tier IN ('measured', 'integrated', 'modelled') AND attribution <> 'job'
        THEN energy_chip_kwh
        ELSE 0
      END
    ) AS DECIMAL(38, 12)) AS owned_energy_chip_kwh
  FROM main.energy_hourly
  GROUP BY
    month,
    quarter,
    site_id
), readings AS (
  SELECT
    calendar.month,
    chips.site_id,
    CAST(SUM(reading.energy_chip_microj) / 3600000000000 AS DECIMAL(38, 12)) AS read_energy_chip_kwh
  FROM core.device_hour AS reading
  JOIN ref.calendar_hour AS calendar
    ON calendar.hour_utc = reading.hour_utc
  JOIN core.device AS device
    ON device.device_key = reading.device_key
  JOIN core.installed_hour AS chips
    ON chips.host = device.host AND chips.hour_utc = reading.hour_utc
  GROUP BY
    calendar.month,
    chips.site_id
)
SELECT
  accounted.month,
  accounted.quarter,
  accounted.site_id,
  installed.installed_chip_h,
  accounted.accounted_chip_h,
  CAST(accounted.accounted_chip_h - installed.installed_chip_h AS DECIMAL(38, 12)) AS difference_chip_h,
  readings.read_energy_chip_kwh,
  accounted.owned_energy_chip_kwh,
  CAST(accounted.owned_energy_chip_kwh - readings.read_energy_chip_kwh AS DECIMAL(38, 12)) AS difference_energy_chip_kwh
FROM accounted
LEFT JOIN installed
  ON installed.month = accounted.month AND installed.site_id = accounted.site_id
LEFT JOIN readings
  ON readings.month = accounted.month AND readings.site_id = accounted.site_id
