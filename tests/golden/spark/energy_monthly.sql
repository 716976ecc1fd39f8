/* Energy by month, owner and chip. A sum is null where no part of it is known. */
SELECT
  month,
  quarter,
  site_id,
  owner_kind,
  owner,
  chip_id,
  tier,
  attribution,
  CAST(SUM(chip_h) AS DECIMAL(38, 12)) AS chip_h,
  CAST(SUM(energy_chip_kwh) AS DECIMAL(38, 12)) AS energy_chip_kwh,
  CAST(SUM(energy_chip_low_kwh) AS DECIMAL(38, 12)) AS energy_chip_low_kwh,
  CAST(SUM(energy_chip_high_kwh) AS DECIMAL(38, 12)) AS energy_chip_high_kwh,
  CAST(SUM(energy_it_kwh) AS DECIMAL(38, 12)) AS energy_it_kwh,
  CAST(SUM(energy_it_low_kwh) AS DECIMAL(38, 12)) AS energy_it_low_kwh,
  CAST(SUM(energy_it_high_kwh) AS DECIMAL(38, 12)) AS energy_it_high_kwh,
  CAST(SUM(energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
  CAST(SUM(energy_facility_low_kwh) AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
  CAST(SUM(energy_facility_high_kwh) AS DECIMAL(38, 12)) AS energy_facility_high_kwh
FROM main.energy_hourly
GROUP BY
  month,
  quarter,
  site_id,
  owner_kind,
  owner,
  chip_id,
  tier,
  attribution
