-- Times for which a site's job log is whole: the windows of its files, merged where they meet.
INSERT INTO core.log_window
WITH file_window AS (
    SELECT DISTINCT job.site_id, batch.from_utc, batch.to_utc
    FROM raw.batch AS batch
    JOIN raw.job AS job ON job.batch_id = batch.batch_id
    WHERE batch.from_utc IS NOT NULL AND batch.to_utc IS NOT NULL
),
reach AS (
    SELECT *, max(to_utc) OVER (
        PARTITION BY site_id ORDER BY from_utc, to_utc ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_utc
    FROM file_window
),
island AS (
    SELECT *, sum(CASE WHEN before_utc IS NULL OR from_utc > before_utc THEN 1 ELSE 0 END)
        OVER (PARTITION BY site_id ORDER BY from_utc, to_utc) AS number
    FROM reach
)
SELECT site_id, min(from_utc), max(to_utc) FROM island GROUP BY site_id, number ORDER BY site_id, min(from_utc);
