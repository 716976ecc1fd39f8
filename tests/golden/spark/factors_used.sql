/* Each factor as it was used in a quarter: what it is, how its year was chosen, what it was applied to. */
WITH use_of AS (
  SELECT
    line.quarter,
    line.site_id,
    factor.method,
    fact.basis,
    factor.factor_id,
    factor.intensity_gco2e_per_kwh_facility,
    factor.year_policy,
    factor.year_note,
    factor.note,
    line.energy_facility_kwh,
    CAST(line.energy_facility_kwh * supply.grid_share AS DECIMAL(38, 12)) AS energy_purchased_facility_kwh,
    CAST(line.energy_facility_kwh * supply.grid_share * factor.intensity_gco2e_per_kwh_facility / 1000 AS DECIMAL(38, 12)) AS emissions_kgco2e
  FROM main.energy_hourly AS line
  JOIN core.factor_hour AS factor
    ON factor.site_id = line.site_id AND factor.hour_utc = line.hour_utc
  JOIN core.supply_hour AS supply
    ON supply.site_id = line.site_id AND supply.hour_utc = line.hour_utc
  JOIN ref.factor AS fact
    ON fact.factor_id = factor.factor_id
)
SELECT
  use_of.quarter,
  use_of.site_id,
  use_of.method,
  use_of.basis,
  use_of.factor_id,
  fact.factor_kind,
  fact.zone_id,
  fact.factor_year,
  fact.boundary,
  fact.factor_attribution,
  fact.gases,
  fact.gwp_set,
  fact.publisher,
  fact.source,
  fact.edition,
  fact.licence,
  fact.status,
  MAX(use_of.intensity_gco2e_per_kwh_facility) AS intensity_gco2e_per_kwh_facility,
  use_of.year_policy,
  use_of.year_note,
  use_of.note,
  CAST(SUM(use_of.energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
  CAST(SUM(use_of.energy_purchased_facility_kwh) AS DECIMAL(38, 12)) AS energy_purchased_facility_kwh,
  CAST(SUM(use_of.emissions_kgco2e) AS DECIMAL(38, 12)) AS emissions_kgco2e
FROM use_of
JOIN ref.factor AS fact
  ON fact.factor_id = use_of.factor_id
GROUP BY
  use_of.quarter,
  use_of.site_id,
  use_of.method,
  use_of.basis,
  use_of.factor_id,
  fact.factor_kind,
  fact.zone_id,
  fact.factor_year,
  fact.boundary,
  fact.factor_attribution,
  fact.gases,
  fact.gwp_set,
  fact.publisher,
  fact.source,
  fact.edition,
  fact.licence,
  fact.status,
  use_of.year_policy,
  use_of.year_note,
  use_of.note
