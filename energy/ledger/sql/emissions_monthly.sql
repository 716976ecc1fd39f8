-- Emissions by month, owner, chip and method.
-- Each line of energy is read once for all methods, and what is alike in many hours of a site is one small number
-- (place_id). Lines are rounded to 12 places as in energy_hourly and emission_lines, as whole trillionths, which sum
-- faster and exactly; so sums here and there are equal to the last digit. A method without a factor has no row.
WITH ranked AS (
    SELECT
        site.hour_utc,
        site.month,
        site.quarter,
        site.site_id,
        site.pue,
        site.pue_low,
        site.pue_high,
        site.grid_share,
        site.location_gco2e_per_kwh_facility,
        site.location_basis,
        site.market_gco2e_per_kwh_facility,
        site.market_basis,
        site.hourly_gco2e_per_kwh_facility,
        site.hourly_basis,
        site.matched_gco2e_per_kwh_facility,
        site.matched_basis,
        dense_rank() OVER (
            ORDER BY site.month, site.quarter, site.site_id,
                site.location_basis, site.market_basis, site.hourly_basis, site.matched_basis
        ) AS place_id
    FROM main.site_hourly AS site
),
place AS (
    SELECT
        hour_utc, site_id, place_id, pue, pue_low, pue_high, grid_share,
        location_gco2e_per_kwh_facility,
        market_gco2e_per_kwh_facility,
        hourly_gco2e_per_kwh_facility,
        matched_gco2e_per_kwh_facility
    FROM ranked
),
named AS (
    SELECT DISTINCT
        place_id, month, quarter, site_id,
        location_basis, market_basis, hourly_basis, matched_basis
    FROM ranked
),
line AS (
    SELECT
        place.place_id,
        energy.owner_kind,
        energy.owner,
        energy.chip_id,
        energy.tier,
        energy.chip_h,
        place.grid_share,
        place.location_gco2e_per_kwh_facility,
        place.market_gco2e_per_kwh_facility,
        place.hourly_gco2e_per_kwh_facility,
        place.matched_gco2e_per_kwh_facility,
        CAST(round(energy.energy_chip_kwh * energy.node_overhead * place.pue * 1e12) AS BIGINT) AS energy,
        CAST(round(energy.energy_chip_low_kwh * energy.node_overhead_low * place.pue_low * 1e12) AS BIGINT)
            AS energy_low,
        CAST(round(energy.energy_chip_high_kwh * energy.node_overhead_high * place.pue_high * 1e12) AS BIGINT)
            AS energy_high
    FROM core.energy_hour AS energy
    JOIN place ON place.site_id = energy.site_id AND place.hour_utc = energy.hour_utc
),
owned AS (
    SELECT
        line.place_id,
        line.owner_kind,
        line.owner,
        line.chip_id,
        line.tier,
        sum(line.chip_h) AS chip_h,
        sum(line.energy) AS energy,
        sum(line.energy_low) AS energy_low,
        sum(line.energy_high) AS energy_high,
        sum(CAST(round(line.energy / 1e12 * line.grid_share * line.location_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS location,
        sum(CAST(round(line.energy / 1e12 * line.grid_share * line.market_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS market,
        sum(CAST(round(line.energy / 1e12 * line.grid_share * line.hourly_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS hourly,
        sum(CAST(round(line.energy / 1e12 * line.grid_share * line.matched_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS matched,
        sum(CAST(round(line.energy_low / 1e12 * line.grid_share * line.location_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS location_low,
        sum(CAST(round(line.energy_low / 1e12 * line.grid_share * line.market_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS market_low,
        sum(CAST(round(line.energy_low / 1e12 * line.grid_share * line.hourly_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS hourly_low,
        sum(CAST(round(line.energy_low / 1e12 * line.grid_share * line.matched_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS matched_low,
        sum(CAST(round(line.energy_high / 1e12 * line.grid_share * line.location_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS location_high,
        sum(CAST(round(line.energy_high / 1e12 * line.grid_share * line.market_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS market_high,
        sum(CAST(round(line.energy_high / 1e12 * line.grid_share * line.hourly_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS hourly_high,
        sum(CAST(round(line.energy_high / 1e12 * line.grid_share * line.matched_gco2e_per_kwh_facility / 1000 * 1e12)
            AS BIGINT)) AS matched_high
    FROM line
    GROUP BY line.place_id, line.owner_kind, line.owner, line.chip_id, line.tier
),
by_method AS (
    SELECT
        named.month, named.quarter, named.site_id, owned.owner_kind, owned.owner, owned.chip_id, owned.tier,
        'location' AS method, named.location_basis AS basis,
        owned.chip_h, owned.energy, owned.energy_low, owned.energy_high,
        owned.location AS emitted, owned.location_low AS emitted_low, owned.location_high AS emitted_high
    FROM owned
    JOIN named ON named.place_id = owned.place_id
    WHERE named.location_basis IS NOT NULL
    UNION ALL
    SELECT
        named.month, named.quarter, named.site_id, owned.owner_kind, owned.owner, owned.chip_id, owned.tier,
        'market' AS method, named.market_basis AS basis,
        owned.chip_h, owned.energy, owned.energy_low, owned.energy_high,
        owned.market AS emitted, owned.market_low AS emitted_low, owned.market_high AS emitted_high
    FROM owned
    JOIN named ON named.place_id = owned.place_id
    WHERE named.market_basis IS NOT NULL
    UNION ALL
    SELECT
        named.month, named.quarter, named.site_id, owned.owner_kind, owned.owner, owned.chip_id, owned.tier,
        'hourly' AS method, named.hourly_basis AS basis,
        owned.chip_h, owned.energy, owned.energy_low, owned.energy_high,
        owned.hourly AS emitted, owned.hourly_low AS emitted_low, owned.hourly_high AS emitted_high
    FROM owned
    JOIN named ON named.place_id = owned.place_id
    WHERE named.hourly_basis IS NOT NULL
    UNION ALL
    SELECT
        named.month, named.quarter, named.site_id, owned.owner_kind, owned.owner, owned.chip_id, owned.tier,
        'hourly matched' AS method, named.matched_basis AS basis,
        owned.chip_h, owned.energy, owned.energy_low, owned.energy_high,
        owned.matched AS emitted, owned.matched_low AS emitted_low, owned.matched_high AS emitted_high
    FROM owned
    JOIN named ON named.place_id = owned.place_id
    WHERE named.matched_basis IS NOT NULL
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
    CAST(CAST(sum(energy) AS DECIMAL(26, 0)) * 0.000000000001 AS DECIMAL(38, 12)) AS energy_facility_kwh,
    CAST(CAST(sum(energy_low) AS DECIMAL(26, 0)) * 0.000000000001 AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
    CAST(CAST(sum(energy_high) AS DECIMAL(26, 0)) * 0.000000000001 AS DECIMAL(38, 12)) AS energy_facility_high_kwh,
    CAST(CAST(sum(emitted) AS DECIMAL(26, 0)) * 0.000000000001 AS DECIMAL(38, 12)) AS emissions_kgco2e,
    CAST(CAST(sum(emitted_low) AS DECIMAL(26, 0)) * 0.000000000001 AS DECIMAL(38, 12)) AS emissions_low_kgco2e,
    CAST(CAST(sum(emitted_high) AS DECIMAL(26, 0)) * 0.000000000001 AS DECIMAL(38, 12)) AS emissions_high_kgco2e
FROM by_method
GROUP BY month, quarter, site_id, owner_kind, owner, chip_id, tier, method, basis
