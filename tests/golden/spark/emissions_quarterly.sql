/* Emissions by quarter, owner and method: the sum of its months, which is exact. */
SELECT
  quarter,
  site_id,
  owner_kind,
  owner,
  scope,
  category,
  method,
  basis,
  CAST(SUM(chip_h) AS DECIMAL(38, 12)) AS chip_h,
  CAST(SUM(energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
  CAST(SUM(energy_facility_low_kwh) AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
  CAST(SUM(energy_facility_high_kwh) AS DECIMAL(38, 12)) AS energy_facility_high_kwh,
  CAST(SUM(emissions_kgco2e) AS DECIMAL(38, 12)) AS emissions_kgco2e,
  CAST(SUM(emissions_low_kgco2e) AS DECIMAL(38, 12)) AS emissions_low_kgco2e,
  CAST(SUM(emissions_high_kgco2e) AS DECIMAL(38, 12)) AS emissions_high_kgco2e
FROM main.emissions_monthly
GROUP BY
  quarter,
  site_id,
  owner_kind,
  owner,
  scope,
  category,
  method,
  basis
