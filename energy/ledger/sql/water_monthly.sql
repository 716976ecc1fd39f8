-- Water by month and owner. A sum is null where no part of it is known.
SELECT
    month,
    quarter,
    site_id,
    owner_kind,
    owner,
    CAST(sum(energy_it_kwh) AS DECIMAL(38, 12)) AS energy_it_kwh,
    CAST(sum(energy_purchased_facility_kwh) AS DECIMAL(38, 12)) AS energy_purchased_facility_kwh,
    CAST(sum(water_withdrawn_l) AS DECIMAL(38, 12)) AS water_withdrawn_l,
    CAST(sum(water_withdrawn_low_l) AS DECIMAL(38, 12)) AS water_withdrawn_low_l,
    CAST(sum(water_withdrawn_high_l) AS DECIMAL(38, 12)) AS water_withdrawn_high_l,
    CAST(sum(water_consumed_l) AS DECIMAL(38, 12)) AS water_consumed_l,
    CAST(sum(water_consumed_low_l) AS DECIMAL(38, 12)) AS water_consumed_low_l,
    CAST(sum(water_consumed_high_l) AS DECIMAL(38, 12)) AS water_consumed_high_l,
    CAST(sum(water_off_site_consumed_l) AS DECIMAL(38, 12)) AS water_off_site_consumed_l,
    CAST(sum(water_off_site_consumed_low_l) AS DECIMAL(38, 12)) AS water_off_site_consumed_low_l,
    CAST(sum(water_off_site_consumed_high_l) AS DECIMAL(38, 12)) AS water_off_site_consumed_high_l
FROM main.water_hourly
GROUP BY month, quarter, site_id, owner_kind, owner
