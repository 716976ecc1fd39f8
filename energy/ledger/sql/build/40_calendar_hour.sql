-- Every hour with a job, a log or a reading; local dates in the reporting time zone ($timezone).
INSERT INTO ref.calendar_hour
WITH span AS (
    SELECT min(from_utc) AS first_utc, max(to_utc) AS last_utc FROM core.log_window
    UNION ALL SELECT min(start_utc), max(greatest(counted_end_utc, start_utc + INTERVAL 1 MICROSECOND)) FROM core.job
    UNION ALL SELECT min(CAST(local_date AS DATE)), max(CAST(local_date AS DATE)) + 1 FROM raw.telemetry_file
),
hour_list AS (
    SELECT unnest(generate_series(
        date_trunc('hour', min(first_utc)), max(last_utc) - INTERVAL 1 MICROSECOND, INTERVAL 1 HOUR
    )) AS hour_utc
    FROM span
),
local AS (SELECT hour_utc, timezone($timezone, hour_utc) AS moment FROM hour_list)
SELECT
    hour_utc,
    strftime(moment, '%Y-%m-%d'),
    hour(moment),
    strftime(moment, '%Y-%m'),
    year(moment) || 'Q' || quarter(moment),
    year(moment)
FROM local
ORDER BY hour_utc;
