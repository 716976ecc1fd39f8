-- Water of each energy line. On the site: IT energy x WUE (per IT energy: PUE has no place in it).
-- At power stations: energy bought from the grid x water per kWh of it. Null where no figure is stated, never 0.
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
    line.tier,
    line.energy_it_kwh,
    CAST(line.energy_facility_kwh * supply.grid_share AS DECIMAL(38, 12)) AS energy_purchased_facility_kwh,
    site_water.wue_withdrawn_l_per_kwh_it,
    site_water.wue_consumed_l_per_kwh_it,
    grid_water.grid_water_consumed_l_per_kwh_facility,
    CAST(line.energy_it_kwh * site_water.wue_withdrawn_l_per_kwh_it
        AS DECIMAL(38, 12)) AS water_withdrawn_l,
    CAST(line.energy_it_low_kwh * site_water.wue_withdrawn_low_l_per_kwh_it
        AS DECIMAL(38, 12)) AS water_withdrawn_low_l,
    CAST(line.energy_it_high_kwh * site_water.wue_withdrawn_high_l_per_kwh_it
        AS DECIMAL(38, 12)) AS water_withdrawn_high_l,
    CAST(line.energy_it_kwh * site_water.wue_consumed_l_per_kwh_it
        AS DECIMAL(38, 12)) AS water_consumed_l,
    CAST(line.energy_it_low_kwh * site_water.wue_consumed_low_l_per_kwh_it
        AS DECIMAL(38, 12)) AS water_consumed_low_l,
    CAST(line.energy_it_high_kwh * site_water.wue_consumed_high_l_per_kwh_it
        AS DECIMAL(38, 12)) AS water_consumed_high_l,
    CAST(line.energy_facility_kwh * supply.grid_share
        * grid_water.grid_water_consumed_l_per_kwh_facility AS DECIMAL(38, 12)) AS water_off_site_consumed_l,
    CAST(line.energy_facility_low_kwh * supply.grid_share
        * grid_water.grid_water_consumed_low_l_per_kwh_facility AS DECIMAL(38, 12)) AS water_off_site_consumed_low_l,
    CAST(line.energy_facility_high_kwh * supply.grid_share
        * grid_water.grid_water_consumed_high_l_per_kwh_facility AS DECIMAL(38, 12)) AS water_off_site_consumed_high_l
FROM main.energy_hourly AS line
JOIN core.supply_hour AS supply ON supply.site_id = line.site_id AND supply.hour_utc = line.hour_utc
LEFT JOIN core.wue_hour AS site_water
    ON site_water.site_id = line.site_id AND site_water.hour_utc = line.hour_utc
LEFT JOIN core.grid_water_hour AS grid_water
    ON grid_water.site_id = line.site_id AND grid_water.hour_utc = line.hour_utc
