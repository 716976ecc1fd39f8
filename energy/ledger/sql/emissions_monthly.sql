-- Emissions by month, owner, chip and method.
-- The factors of all methods stand in one row of a site and hour, so that each line of energy is read once. The
-- products are those of emission_lines, and their sums are equal to the last digit; a method without a factor has no row.
WITH place AS (
    SELECT
        supply.site_id,
        supply.hour_utc,
        supply.grid_share,
        location.intensity_gco2e_per_kwh_facility AS location_gco2e_per_kwh_facility,
        location_fact.basis AS location_basis,
        market.intensity_gco2e_per_kwh_facility AS market_gco2e_per_kwh_facility,
        market_fact.basis AS market_basis,
        hourly.intensity_gco2e_per_kwh_facility AS hourly_gco2e_per_kwh_facility,
        hourly_fact.basis AS hourly_basis,
        matched.intensity_gco2e_per_kwh_facility AS matched_gco2e_per_kwh_facility,
        matched_fact.basis AS matched_basis
    FROM core.supply_hour AS supply
    LEFT JOIN core.factor_hour AS location
        ON location.site_id = supply.site_id AND location.hour_utc = supply.hour_utc AND location.method = 'location'
    LEFT JOIN ref.factor AS location_fact ON location_fact.factor_id = location.factor_id
    LEFT JOIN core.factor_hour AS market
        ON market.site_id = supply.site_id AND market.hour_utc = supply.hour_utc AND market.method = 'market'
    LEFT JOIN ref.factor AS market_fact ON market_fact.factor_id = market.factor_id
    LEFT JOIN core.factor_hour AS hourly
        ON hourly.site_id = supply.site_id AND hourly.hour_utc = supply.hour_utc AND hourly.method = 'hourly'
    LEFT JOIN ref.factor AS hourly_fact ON hourly_fact.factor_id = hourly.factor_id
    LEFT JOIN core.factor_hour AS matched
        ON matched.site_id = supply.site_id AND matched.hour_utc = supply.hour_utc AND matched.method = 'hourly matched'
    LEFT JOIN ref.factor AS matched_fact ON matched_fact.factor_id = matched.factor_id
),
owned AS (
    SELECT
        line.month,
        line.quarter,
        line.site_id,
        line.owner_kind,
        line.owner,
        line.chip_id,
        line.tier,
        place.location_basis,
        place.market_basis,
        place.hourly_basis,
        place.matched_basis,
        CAST(sum(line.chip_h) AS DECIMAL(38, 12)) AS chip_h,
        CAST(sum(line.energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
        CAST(sum(line.energy_facility_low_kwh) AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
        CAST(sum(line.energy_facility_high_kwh) AS DECIMAL(38, 12)) AS energy_facility_high_kwh,
        CAST(sum(CAST(line.energy_facility_kwh * place.grid_share * place.location_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS location_kgco2e,
        CAST(sum(CAST(line.energy_facility_kwh * place.grid_share * place.market_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS market_kgco2e,
        CAST(sum(CAST(line.energy_facility_kwh * place.grid_share * place.hourly_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS hourly_kgco2e,
        CAST(sum(CAST(line.energy_facility_kwh * place.grid_share * place.matched_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS matched_kgco2e,
        CAST(sum(CAST(line.energy_facility_low_kwh * place.grid_share * place.location_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS location_low_kgco2e,
        CAST(sum(CAST(line.energy_facility_low_kwh * place.grid_share * place.market_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS market_low_kgco2e,
        CAST(sum(CAST(line.energy_facility_low_kwh * place.grid_share * place.hourly_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS hourly_low_kgco2e,
        CAST(sum(CAST(line.energy_facility_low_kwh * place.grid_share * place.matched_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS matched_low_kgco2e,
        CAST(sum(CAST(line.energy_facility_high_kwh * place.grid_share * place.location_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS location_high_kgco2e,
        CAST(sum(CAST(line.energy_facility_high_kwh * place.grid_share * place.market_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS market_high_kgco2e,
        CAST(sum(CAST(line.energy_facility_high_kwh * place.grid_share * place.hourly_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS hourly_high_kgco2e,
        CAST(sum(CAST(line.energy_facility_high_kwh * place.grid_share * place.matched_gco2e_per_kwh_facility / 1000
            AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS matched_high_kgco2e
    FROM main.energy_hourly AS line
    JOIN place ON place.site_id = line.site_id AND place.hour_utc = line.hour_utc
    GROUP BY
        line.month, line.quarter, line.site_id, line.owner_kind, line.owner, line.chip_id, line.tier,
        place.location_basis, place.market_basis, place.hourly_basis, place.matched_basis
),
by_method AS (
    SELECT
        month, quarter, site_id, owner_kind, owner, chip_id, tier, 'location' AS method, location_basis AS basis,
        chip_h, energy_facility_kwh, energy_facility_low_kwh, energy_facility_high_kwh,
        location_kgco2e AS emissions_kgco2e, location_low_kgco2e AS emissions_low_kgco2e,
        location_high_kgco2e AS emissions_high_kgco2e
    FROM owned
    WHERE location_basis IS NOT NULL
    UNION ALL
    SELECT
        month, quarter, site_id, owner_kind, owner, chip_id, tier, 'market' AS method, market_basis AS basis,
        chip_h, energy_facility_kwh, energy_facility_low_kwh, energy_facility_high_kwh,
        market_kgco2e AS emissions_kgco2e, market_low_kgco2e AS emissions_low_kgco2e,
        market_high_kgco2e AS emissions_high_kgco2e
    FROM owned
    WHERE market_basis IS NOT NULL
    UNION ALL
    SELECT
        month, quarter, site_id, owner_kind, owner, chip_id, tier, 'hourly' AS method, hourly_basis AS basis,
        chip_h, energy_facility_kwh, energy_facility_low_kwh, energy_facility_high_kwh,
        hourly_kgco2e AS emissions_kgco2e, hourly_low_kgco2e AS emissions_low_kgco2e,
        hourly_high_kgco2e AS emissions_high_kgco2e
    FROM owned
    WHERE hourly_basis IS NOT NULL
    UNION ALL
    SELECT
        month, quarter, site_id, owner_kind, owner, chip_id, tier, 'hourly matched' AS method, matched_basis AS basis,
        chip_h, energy_facility_kwh, energy_facility_low_kwh, energy_facility_high_kwh,
        matched_kgco2e AS emissions_kgco2e, matched_low_kgco2e AS emissions_low_kgco2e,
        matched_high_kgco2e AS emissions_high_kgco2e
    FROM owned
    WHERE matched_basis IS NOT NULL
)
SELECT
    month,
    quarter,
    site_id,
    owner_kind,
    owner,
    chip_id,
    tier,
    '2' AS scope,
    'purchased electricity' AS category,
    method,
    basis,
    CAST(sum(chip_h) AS DECIMAL(38, 12)) AS chip_h,
    CAST(sum(energy_facility_kwh) AS DECIMAL(38, 12)) AS energy_facility_kwh,
    CAST(sum(energy_facility_low_kwh) AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
    CAST(sum(energy_facility_high_kwh) AS DECIMAL(38, 12)) AS energy_facility_high_kwh,
    CAST(sum(emissions_kgco2e) AS DECIMAL(38, 12)) AS emissions_kgco2e,
    CAST(sum(emissions_low_kgco2e) AS DECIMAL(38, 12)) AS emissions_low_kgco2e,
    CAST(sum(emissions_high_kgco2e) AS DECIMAL(38, 12)) AS emissions_high_kgco2e
FROM by_method
GROUP BY month, quarter, site_id, owner_kind, owner, chip_id, tier, method, basis
