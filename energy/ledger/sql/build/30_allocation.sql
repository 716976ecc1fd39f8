-- Chips given to jobs: by device where an allocation names it and covers the whole run, else by host.
INSERT INTO core.allocation
WITH slot AS (
    -- where a board was exchanged, the log does not say which of the two it means: such runs share their host's readings
    SELECT host, device_index, min(device_key) AS device_key
    FROM core.device
    WHERE device_scope = 'board'
    GROUP BY host, device_index
    HAVING count(*) = 1
),
by_device AS (
    -- several rows may name one device for one run: a later export with another end, or two overlapping rows
    SELECT DISTINCT job.job_key, job.site_id, job.host, device.device_key, job.chip_id, job.chip_count,
        job.start_utc, job.counted_end_utc AS end_utc
    FROM core.job AS job
    JOIN given_allocation AS given
        ON given.job_id = job.job_id AND given.host = job.host
        AND given.start_utc <= job.start_utc
        AND (given.end_utc IS NULL OR given.end_utc >= job.counted_end_utc)
    JOIN slot AS device ON device.host = given.host AND device.device_index = given.device_index
    ANTI JOIN instance_job ON instance_job.job_key = job.job_key
),
counted AS (SELECT *, count(*) OVER (PARTITION BY job_key) AS devices FROM by_device),
usable AS (SELECT * FROM counted WHERE devices <= ceil(chip_count)),
piece AS (
    -- where the log gives more devices than chips, a job holds an equal part of each
    SELECT job_key, site_id, host, device_key, chip_id, least(1.0, chip_count / devices) AS chip_count, start_utc, end_utc
    FROM usable
    UNION ALL
    SELECT job.job_key, job.site_id, job.host, NULL, job.chip_id, job.chip_count - coalesce(held.devices, 0),
        job.start_utc, job.counted_end_utc
    FROM core.job AS job
    LEFT JOIN (SELECT job_key, max(devices) AS devices FROM usable GROUP BY job_key) AS held ON held.job_key = job.job_key
    WHERE job.chip_count - coalesce(held.devices, 0) > 0
)
SELECT
    job_key * 65536 + row_number() OVER (PARTITION BY job_key ORDER BY device_key NULLS LAST) AS allocation_key,
    job_key, site_id, host, device_key, chip_id, chip_count, start_utc, end_utc
FROM piece
ORDER BY allocation_key;
