-- Times for which a site's job log is whole: the windows of its files, merged where they meet.
INSERT INTO core.log_window
WITH file_window AS (
    SELECT DISTINCT coalesce(host.site_id, job.site_id) AS site_id, batch.from_utc, batch.to_utc
    FROM raw.batch AS batch
    JOIN raw.job AS job ON job.batch_id = batch.batch_id
    LEFT JOIN core.host AS host ON host.host = job.host
        AND (host.from_utc IS NULL OR host.from_utc <= coalesce(job.start_utc, batch.from_utc))
        AND (host.to_utc IS NULL OR host.to_utc > coalesce(job.start_utc, batch.from_utc))
    WHERE batch.format = 'jobs'
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
