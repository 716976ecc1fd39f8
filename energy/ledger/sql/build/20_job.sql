-- Jobs that ran. Of one run in several files the latest file counts: a job that was still running there has ended here.
-- A job has the site and the chip that its host had when it started: site.yaml may be corrected after a log was read.
INSERT INTO core.job
WITH placed AS (
    SELECT job.* REPLACE (
        coalesce(host.site_id, job.site_id) AS site_id,
        CASE WHEN host.host IS NOT NULL AND job.chip_name_given IS NULL THEN host.chip_id
            ELSE coalesce(host.chip_id, job.chip_id) END AS chip_id
    )
    FROM raw.job AS job
    LEFT JOIN core.host AS host ON host.host = job.host
        AND (host.from_utc IS NULL OR host.from_utc <= job.start_utc)
        AND (host.to_utc IS NULL OR host.to_utc > job.start_utc)
    WHERE job.start_utc IS NOT NULL
),
ranked AS (
    SELECT job.*, batch.to_utc AS log_end_utc, row_number() OVER (
        PARTITION BY job.job_id, job.start_utc, job.site_id, job.host
        ORDER BY job.end_utc IS NULL, job.batch_id DESC
    ) AS rank
    FROM placed AS job
    JOIN raw.batch AS batch ON batch.batch_id = job.batch_id
)
SELECT
    job_key, batch_id, row_number, job_id, site_id, host, user_name, project, job_type, state, submit_utc, start_utc,
    end_utc, greatest(start_utc, coalesce(end_utc, log_end_utc)) AS counted_end_utc, chip_id, chip_name_given,
    chip_count, energy_chip_kwh
FROM ranked
WHERE rank = 1
ORDER BY job_key;
