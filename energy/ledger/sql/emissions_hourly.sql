-- Emissions of a site by hour and method.
SELECT
    hour_utc,
    month,
    quarter,
    site_id,
    scope,
    category,
    method,
    basis,
    factor_id,
    CAST(sum(energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
    CAST(sum(energy_facility_low_kwh) AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
    CAST(sum(energy_facility_high_kwh) AS DECIMAL(38, 12)) AS energy_facility_high_kwh,
    CAST(sum(emissions_kgco2e) AS DECIMAL(38, 12)) AS emissions_kgco2e,
    CAST(sum(emissions_low_kgco2e) AS DECIMAL(38, 12)) AS emissions_low_kgco2e,
    CAST(sum(emissions_high_kgco2e) AS DECIMAL(38, 12)) AS emissions_high_kgco2e
FROM main.emission_lines
GROUP BY hour_utc, month, quarter, site_id, scope, category, method, basis, factor_id
