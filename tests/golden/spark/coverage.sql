/* How the energy of a month is known: chip-hours by tier. "missing" has hours and no energy. */
SELECT
  month,
  quarter,
  site_id,
  chip_id,
  owner_kind,
  tier,
  CAST(SUM(chip_h) AS DECIMAL(38, 12)) AS chip_h,
  CAST(SUM(energy_chip_kwh) AS DECIMAL(38, 12)) AS energy_chip_kwh
FROM main.energy_hourly
GROUP BY
  month,
  quarter,
  site_id,
  chip_id,
  owner_kind,
  tier
