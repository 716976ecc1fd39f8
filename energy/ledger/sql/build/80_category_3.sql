-- Scope 3 category 3 by owner: purchase of the quarter x rate of the site, where one is held.
INSERT INTO core.other_emission BY NAME
WITH bought AS (
    SELECT
        calendar.quarter,
        line.site_id,
        line.owner_kind,
        line.owner,
        CAST(sum(CAST(
            CAST(line.energy_chip_kwh * line.node_overhead * site_hour.pue AS DECIMAL(38, 12)) * supply.grid_share
            AS DECIMAL(38, 12)
        )) AS DECIMAL(38, 12)) AS energy_purchased_facility_kwh
    FROM core.energy_hour AS line
    JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = line.hour_utc
    JOIN core.pue_hour AS site_hour ON site_hour.site_id = line.site_id AND site_hour.hour_utc = line.hour_utc
    JOIN core.supply_hour AS supply ON supply.site_id = line.site_id AND supply.hour_utc = line.hour_utc
    WHERE line.energy_chip_kwh IS NOT NULL
    GROUP BY calendar.quarter, line.site_id, line.owner_kind, line.owner
)
SELECT
    bought.quarter,
    bought.site_id,
    bought.owner_kind,
    bought.owner,
    '3' AS scope,
    rate.category,
    'location' AS method,
    rate.basis,
    bought.energy_purchased_facility_kwh,
    CAST(bought.energy_purchased_facility_kwh * rate.upstream_gco2e_per_kwh_facility / 1000 AS DECIMAL(38, 12))
        AS emissions_kgco2e,
    rate.note
FROM bought
JOIN core.upstream_rate AS rate ON rate.quarter = bought.quarter AND rate.site_id = bought.site_id
WHERE rate.upstream_gco2e_per_kwh_facility IS NOT NULL;
