-- Mean board power of each chip and state in the ledger's own readings, and how far the daily means of single boards
-- lie apart. Whole microjoules over whole milliseconds are milliwatts.
SELECT
    chip_id,
    chip_state,
    CAST(sum(energy_chip_microj) AS DOUBLE) / CAST(sum(covered_chip_ms) AS DOUBLE) / 1000 AS power_chip_w,
    quantile_cont(day_w, 0.1) AS power_chip_low80_w,
    quantile_cont(day_w, 0.9) AS power_chip_high80_w,
    quantile_cont(day_w, 0.025) AS power_chip_low_w,
    quantile_cont(day_w, 0.975) AS power_chip_high_w,
    CAST(sum(covered_chip_ms) AS DOUBLE) / 3600000 AS chip_h,
    count(DISTINCT host) AS hosts,
    count(*) AS board_days
FROM (
    SELECT
        host.chip_id,
        device.host,
        CASE WHEN reading.allocation_key IS NOT NULL THEN 'busy' ELSE 'idle' END AS chip_state,
        sum(reading.energy_chip_microj) AS energy_chip_microj,
        sum(reading.covered_chip_ms) AS covered_chip_ms,
        CAST(sum(reading.energy_chip_microj) AS DOUBLE) / CAST(sum(reading.covered_chip_ms) AS DOUBLE) / 1000 AS day_w
    FROM core.device_hour AS reading
    JOIN core.device AS device ON device.device_key = reading.device_key
    JOIN core.host AS host ON host.host = device.host
        AND (host.from_utc IS NULL OR reading.hour_utc >= host.from_utc)
        AND (host.to_utc IS NULL OR reading.hour_utc < host.to_utc)
    WHERE reading.tier IN ('measured', 'integrated')
        AND host.chip_id IS NOT NULL
        AND (
            reading.allocation_key IS NOT NULL
            OR (
                -- idle is only known where the log is whole and no job without device could hold the board
                EXISTS (
                    SELECT 1 FROM core.log_window AS log_window
                    WHERE log_window.site_id = host.site_id
                        AND reading.hour_utc >= log_window.from_utc AND reading.hour_utc < log_window.to_utc
                )
                AND NOT EXISTS (
                    SELECT 1 FROM core.allocation AS loose
                    WHERE loose.device_key IS NULL
                        AND (loose.host = device.host OR (loose.host IS NULL AND loose.site_id = host.site_id))
                        AND loose.start_utc < reading.hour_utc + INTERVAL 1 HOUR AND loose.end_utc > reading.hour_utc
                )
            )
        )
    GROUP BY host.chip_id, device.host, reading.device_key, date_trunc('day', reading.hour_utc),
        CASE WHEN reading.allocation_key IS NOT NULL THEN 'busy' ELSE 'idle' END
    HAVING sum(reading.covered_chip_ms) >= 1800000
) AS board_day
GROUP BY chip_id, chip_state
ORDER BY chip_id, chip_state;
