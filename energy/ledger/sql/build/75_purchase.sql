-- What each site buys from the grid in each hour with energy: the base of what instruments cover.
CREATE OR REPLACE TEMP TABLE purchase_hour AS
SELECT
    line.site_id,
    line.hour_utc,
    calendar.quarter,
    coalesce(sum(
        CAST(line.energy_chip_kwh * line.node_overhead * site_hour.pue AS DECIMAL(38, 12))
    ), 0) * any_value(supply.grid_share) / 1000 AS purchased_facility_mwh
FROM core.energy_hour AS line
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = line.hour_utc
JOIN core.pue_hour AS site_hour ON site_hour.site_id = line.site_id AND site_hour.hour_utc = line.hour_utc
JOIN core.supply_hour AS supply ON supply.site_id = line.site_id AND supply.hour_utc = line.hour_utc
GROUP BY line.site_id, line.hour_utc, calendar.quarter;
