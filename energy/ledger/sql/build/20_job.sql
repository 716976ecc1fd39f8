-- Jobs that ran. Of one run in several files the latest file counts: a job that was still running there has ended here.
INSERT INTO core.job
WITH ranked AS (
    SELECT job.*, batch.to_utc AS log_end_utc, row_number() OVER (
        PARTITION BY job.job_id, job.start_utc, job.site_id, job.host
        ORDER BY job.end_utc IS NULL, job.batch_id DESC
    ) AS rank
    FROM raw.job AS job
    JOIN raw.batch AS batch ON batch.batch_id = job.batch_id
    WHERE job.start_utc IS NOT NULL
)
SELECT
    job_key, batch_id, row_number, job_id, site_id, host, user_name, project, job_type, state, submit_utc, start_utc,
    end_utc, greatest(start_utc, coalesce(end_utc, log_end_utc)) AS counted_end_utc, chip_id, chip_name_given,
    chip_count, energy_chip_kwh, energy_it_kwh
FROM ranked
WHERE rank = 1
ORDER BY job_key;
