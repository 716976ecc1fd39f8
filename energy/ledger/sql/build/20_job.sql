-- Runs that hold instances of boards (MIG), by the profile that stands for the chip: 1g.10gb, a100_3g.20gb, 1g.5gb+me. An
-- instance is no whole board and its share is not known: it has no chip, and no energy of its own.
CREATE OR REPLACE TEMP TABLE instance_job AS
SELECT job_key FROM raw.job
WHERE regexp_full_match(chip_name_given, '(?i)(.*[_.-])?[0-9]+(c[.][0-9]+)?g[.][0-9]+gb([+._-][a-z0-9.+-]*)?');

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
    job_key, batch_id, row_number, job_id, site_id, ranked.host, user_name, project, job_type, state, submit_utc, start_utc,
    end_utc, greatest(start_utc, coalesce(end_utc, log_end_utc)) AS counted_end_utc,
    CASE WHEN job_key IN (SELECT job_key FROM instance_job) THEN NULL ELSE chip_id END AS chip_id, chip_name_given,
    -- where a log counts dies, the ledger counts their packages
    chip_count / coalesce(host_dies.dies, 1), energy_chip_kwh, energy_it_kwh
FROM ranked
LEFT JOIN host_dies ON host_dies.host = ranked.host AND coalesce(host_dies.from_utc <= ranked.start_utc, true)
    AND coalesce(host_dies.to_utc > ranked.start_utc, true)
WHERE rank = 1
ORDER BY job_key;
