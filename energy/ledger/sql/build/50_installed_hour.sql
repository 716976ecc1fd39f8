-- Installed chips by host and hour, for the time that is known: where the job log is whole, or a device was read.
-- Logs and periods of hosts may start and end inside an hour, so time is counted in milliseconds.
CREATE OR REPLACE TEMP TABLE known_hour AS
WITH period AS (
    SELECT row_number() OVER (ORDER BY host, from_utc) AS period_number, host, site_id, chip_id, installed_chip_count,
        coalesce(epoch_ms(from_utc), -9000000000000) AS from_ms, coalesce(epoch_ms(to_utc), 9000000000000) AS to_ms,
        count(*) OVER (PARTITION BY host) AS periods
    FROM core.host
    WHERE installed_chip_count > 0
),
logged AS (
    SELECT period_number, unnest(range(from_ms // 3600000, (to_ms - 1) // 3600000 + 1)) AS hour_number, from_ms, to_ms
    FROM (
        SELECT period.period_number, greatest(period.from_ms, epoch_ms(log_window.from_utc)) AS from_ms,
            least(period.to_ms, epoch_ms(log_window.to_utc)) AS to_ms
        FROM period
        JOIN core.log_window AS log_window ON log_window.site_id = period.site_id
    )
    WHERE to_ms > from_ms
),
read AS (
    SELECT DISTINCT device.host, epoch_ms(reading.hour_utc) // 3600000 AS hour_number
    FROM core.device_hour AS reading
    JOIN core.device AS device ON device.device_key = reading.device_key
),
part AS (
    -- windows of one site never overlap: their parts of an hour add up
    SELECT period_number, hour_number,
        least(to_ms, (hour_number + 1) * 3600000) - greatest(from_ms, hour_number * 3600000) AS logged_ms, 0 AS read_ms
    FROM logged
    UNION ALL
    SELECT period.period_number, read.hour_number, 0,
        least(period.to_ms, (read.hour_number + 1) * 3600000) - greatest(period.from_ms, read.hour_number * 3600000)
    FROM read
    JOIN period ON period.host = read.host AND period.from_ms < (read.hour_number + 1) * 3600000
        AND period.to_ms > read.hour_number * 3600000
),
known AS (
    SELECT period_number, hour_number, sum(logged_ms) AS logged_ms, greatest(sum(logged_ms), sum(read_ms)) AS known_ms
    FROM part
    GROUP BY period_number, hour_number
)
SELECT make_timestamptz(known.hour_number * 3600000000) AS hour_utc, period.period_number, period.periods,
    period.site_id, period.host, period.chip_id,
    CAST(period.installed_chip_count * known.logged_ms AS BIGINT) AS logged_chip_ms,
    CAST(period.installed_chip_count * known.known_ms AS BIGINT) AS installed_chip_ms
FROM known
JOIN period ON period.period_number = known.period_number;

-- one row per host and hour: a host that changes inside an hour is shown as what it was for most of it
INSERT INTO core.installed_hour
SELECT hour_utc, site_id, host, chip_id, CAST(installed_chip_ms / 3600000 AS DECIMAL(38, 12))
FROM known_hour
WHERE periods = 1
UNION ALL
SELECT hour_utc, site_id, host, chip_id, CAST(all_chip_ms / 3600000 AS DECIMAL(38, 12))
FROM (
    SELECT *, sum(installed_chip_ms) OVER (PARTITION BY host, hour_utc) AS all_chip_ms, row_number() OVER (
        PARTITION BY host, hour_utc ORDER BY installed_chip_ms DESC, period_number DESC
    ) AS place
    FROM known_hour
    WHERE periods > 1
)
WHERE place = 1
ORDER BY hour_utc, host;
