-- What is known of each device in each hour: chip-hours and energy by the tier of its readings, and what none covers.
-- Devices that were never read are not listed: coverage has their chips.
WITH known AS (
    SELECT
        device_key,
        hour_utc,
        tier,
        CAST(sum(covered_chip_ms) / 3600000 AS DECIMAL(38, 12)) AS chip_h,
        CAST(sum(energy_chip_microj) / 3600000000000 AS DECIMAL(38, 12)) AS energy_chip_kwh
    FROM core.device_hour
    GROUP BY device_key, hour_utc, tier
    UNION ALL
    SELECT
        device_key,
        hour_utc,
        'missing' AS tier,
        missing_chip_h AS chip_h,
        CAST(NULL AS DECIMAL(38, 12)) AS energy_chip_kwh
    FROM core.device_missing_hour
)
SELECT
    known.hour_utc,
    calendar.month,
    calendar.quarter,
    installed.site_id,
    device.host,
    device.device_index,
    known.tier,
    known.chip_h,
    known.energy_chip_kwh
FROM known
JOIN core.device AS device ON device.device_key = known.device_key
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = known.hour_utc
LEFT JOIN core.installed_hour AS installed
    ON installed.host = device.host AND installed.hour_utc = known.hour_utc
