/* Scope 2 of each energy line by each method that the site's zone supports. */
/* facility kWh x share bought from the grid x factor per facility kWh; the product is cast once, sums of it are exact. */
SELECT
  line.hour_utc,
  line.month,
  line.quarter,
  line.site_id,
  line.host,
  line.owner_kind,
  line.owner,
  line.job_key,
  line.chip_id,
  '2' AS scope,
  'purchased electricity' AS category,
  factor.method,
  line.tier,
  line.chip_h,
  line.energy_facility_kwh,
  line.energy_facility_low_kwh,
  line.energy_facility_high_kwh,
  supply.grid_share,
  fact.basis,
  factor.factor_id,
  fact.factor_year,
  fact.boundary,
  fact.factor_attribution,
  fact.gases,
  fact.gwp_set,
  factor.intensity_gco2e_per_kwh_facility,
  CAST(line.energy_facility_kwh * supply.grid_share * factor.intensity_gco2e_per_kwh_facility / 1000 AS DECIMAL(38, 12)) AS emissions_kgco2e,
  CAST(line.energy_facility_low_kwh * supply.grid_share * factor.intensity_gco2e_per_kwh_facility / 1000 AS DECIMAL(38, 12)) AS emissions_low_kgco2e,
  CAST(line.energy_facility_high_kwh * supply.grid_share * factor.intensity_gco2e_per_kwh_facility / 1000 AS DECIMAL(38, 12)) AS emissions_high_kgco2e
FROM main.energy_hourly AS line
JOIN core.factor_hour AS factor
  ON factor.site_id = line.site_id AND factor.hour_utc = line.hour_utc
JOIN core.supply_hour AS supply
  ON supply.site_id = line.site_id AND supply.hour_utc = line.hour_utc
LEFT JOIN ref.factor AS fact
  ON fact.factor_id = factor.factor_id
