-- Energy at the chip, one line per owner, host, hour and tier. Every line of a host-hour comes from one of four sources:
-- readings of a device that a job holds, readings shared among the jobs of a host, a job's own measurement, a default.
-- Time is whole milliseconds of chips, energy of readings whole microjoules; a gap of readings is filled by the default
-- power of the chip's state, and where the chip is not disclosed it stays null (tier "missing"), never 0.
CREATE OR REPLACE TEMP TABLE piece AS
SELECT piece.*, piece.chip_count * (piece.end_ms - piece.start_ms) AS chip_ms,
    -- OpenCost lists what nobody asked for as a job of its own
    CASE WHEN starts_with(job.job_type, '__idle__') THEN 'idle' ELSE 'busy' END AS chip_state,
    instance_job.job_key IS NOT NULL AS is_instance
FROM (
    SELECT allocation_key, job_key, site_id, host, device_key, chip_id, chip_count,
        make_timestamptz(hour_number * 3600000000) AS hour_utc,
        greatest(start_ms, hour_number * 3600000) AS start_ms, least(end_ms, (hour_number + 1) * 3600000) AS end_ms
    FROM (
        SELECT *, epoch_ms(start_utc) AS start_ms, epoch_ms(end_utc) AS end_ms,
            unnest(range(epoch_ms(start_utc) // 3600000, (epoch_ms(end_utc) - 1) // 3600000 + 1)) AS hour_number
        FROM core.allocation
        WHERE end_utc > start_utc
    )
) AS piece
JOIN core.job AS job ON job.job_key = piece.job_key
LEFT JOIN instance_job ON instance_job.job_key = piece.job_key;

-- what was modelled keeps the name of its model behind its tier until ranges are set: each has its own
CREATE OR REPLACE TEMP TABLE reading AS
SELECT reading.device_key, device.host, reading.hour_utc, reading.allocation_key,
    CASE WHEN reading.power_model IS NULL THEN reading.tier ELSE 'modelled by ' || reading.power_model END AS tier,
    reading.sample_count, reading.covered_chip_ms, reading.energy_chip_microj
FROM core.device_hour AS reading
JOIN core.device AS device ON device.device_key = reading.device_key;

-- What a host has left after the devices that are known to be held. A host that was read when site.yaml has it nowhere
-- has no chips here, but its readings still find an owner.
CREATE OR REPLACE TEMP TABLE host_hour AS
WITH held AS (
    -- sums of decimals: the same in any order
    SELECT host, hour_utc,
        sum(CASE WHEN device_key IS NOT NULL THEN CAST(chip_ms AS DECIMAL(38, 9)) ELSE 0 END) AS device_ms,
        sum(CASE WHEN device_key IS NULL AND NOT is_instance THEN CAST(chip_ms AS DECIMAL(38, 9)) ELSE 0 END) AS job_ms,
        bool_or(is_instance) AS has_instances
    FROM piece
    WHERE host IS NOT NULL
    GROUP BY host, hour_utc
),
held_in_log AS (
    SELECT piece.host, piece.hour_utc, sum(CAST(piece.chip_count * (
        least(piece.end_ms, epoch_ms(log_window.to_utc)) - greatest(piece.start_ms, epoch_ms(log_window.from_utc))
    ) AS DECIMAL(38, 9))) AS held_ms
    FROM piece
    JOIN core.log_window AS log_window ON log_window.site_id = piece.site_id
        AND epoch_ms(log_window.from_utc) < piece.end_ms AND epoch_ms(log_window.to_utc) > piece.start_ms
    WHERE piece.host IS NOT NULL AND NOT piece.is_instance
    GROUP BY piece.host, piece.hour_utc
),
logged AS (SELECT host, hour_utc, sum(logged_chip_ms) AS logged_ms FROM known_hour GROUP BY host, hour_utc),
unplaced AS (SELECT DISTINCT site_id, hour_utc FROM piece WHERE host IS NULL AND chip_ms > 0),
present AS (
    SELECT hour_utc, site_id, host, chip_id, CAST(installed_chip_h * 3600000 AS DOUBLE) AS installed_ms
    FROM core.installed_hour
    UNION ALL
    SELECT reading.hour_utc, host.site_id, host.host, host.chip_id, 0.0
    FROM reading
    JOIN core.host AS host ON host.host = reading.host
    ANTI JOIN core.installed_hour AS installed
        ON installed.host = reading.host AND installed.hour_utc = reading.hour_utc
    QUALIFY row_number() OVER (PARTITION BY reading.host, reading.hour_utc ORDER BY host.from_utc NULLS FIRST) = 1
),
room AS (
    SELECT present.hour_utc, present.site_id, present.host, present.chip_id,
        greatest(0.0, present.installed_ms - CAST(coalesce(held.device_ms, 0) AS DOUBLE)) AS free_ms,
        CAST(coalesce(held.job_ms, 0) AS DOUBLE) AS job_ms,
        -- which boards are cut into instances is not known: what is left of such a host is neither idle nor busy
        CASE WHEN unplaced.site_id IS NULL AND NOT coalesce(held.has_instances, false) THEN CAST(coalesce(logged.logged_ms, 0) AS DOUBLE) ELSE 0.0 END AS logged_ms,
        CAST(coalesce(held_in_log.held_ms, 0) AS DOUBLE) AS held_ms
    FROM present
    LEFT JOIN held ON held.host = present.host AND held.hour_utc = present.hour_utc
    LEFT JOIN held_in_log ON held_in_log.host = present.host AND held_in_log.hour_utc = present.hour_utc
    LEFT JOIN logged ON logged.host = present.host AND logged.hour_utc = present.hour_utc
    LEFT JOIN unplaced ON unplaced.site_id = present.site_id AND unplaced.hour_utc = present.hour_utc
)
SELECT *, logged_ms > 0 AS idle_is_known, greatest(free_ms, job_ms) AS whole_ms,
    least(greatest(0.0, free_ms - job_ms), greatest(0.0, logged_ms - held_ms)) AS idle_ms
FROM room;

-- who may claim it: jobs without device, chips that are idle, and time of which the log says nothing
CREATE OR REPLACE TEMP TABLE claim AS
SELECT hour_utc, site_id, host, chip_id, NULL AS job_key, 'idle' AS chip_state, idle_ms AS chip_ms,
    CASE WHEN whole_ms = 0 THEN 1.0 ELSE idle_ms / whole_ms END AS fraction
FROM host_hour
WHERE idle_is_known
UNION ALL
SELECT hour_utc, site_id, host, chip_id, NULL, 'unknown', greatest(0.0, free_ms - job_ms) - idle_ms,
    CASE WHEN whole_ms = 0 THEN 1.0 ELSE (greatest(0.0, free_ms - job_ms) - idle_ms) / whole_ms END
FROM host_hour
WHERE NOT idle_is_known OR greatest(0.0, free_ms - job_ms) > idle_ms
UNION ALL
SELECT piece.hour_utc, piece.site_id, piece.host, piece.chip_id, piece.job_key, piece.chip_state, piece.chip_ms,
    piece.chip_ms / host_hour.whole_ms
FROM piece
JOIN host_hour ON host_hour.host = piece.host AND host_hour.hour_utc = piece.hour_utc
WHERE piece.device_key IS NULL AND piece.chip_ms > 0 AND NOT piece.is_instance;

CREATE OR REPLACE TEMP TABLE line AS
-- 1 readings of a device that a job holds
SELECT reading.hour_utc, piece.site_id, piece.host, piece.job_key, piece.chip_id, reading.tier, 'device' AS attribution,
    'busy' AS chip_state, CAST(reading.covered_chip_ms AS DOUBLE) AS chip_ms,
    CASE WHEN reading.sample_count = 0 AND reading.energy_chip_microj = 0 THEN NULL
        ELSE CAST(reading.energy_chip_microj AS DOUBLE) END AS microj
FROM reading
JOIN piece ON piece.allocation_key = reading.allocation_key AND piece.hour_utc = reading.hour_utc
UNION ALL
-- a reading may be held past the end of its job, into an hour that the job has no part of
SELECT reading.hour_utc, allocation.site_id, allocation.host, allocation.job_key, allocation.chip_id, reading.tier,
    'device', 'busy', CAST(reading.covered_chip_ms AS DOUBLE), CAST(reading.energy_chip_microj AS DOUBLE)
FROM reading
JOIN core.allocation AS allocation ON allocation.allocation_key = reading.allocation_key
ANTI JOIN piece ON piece.allocation_key = reading.allocation_key AND piece.hour_utc = reading.hour_utc
UNION ALL
-- 2 the rest of that job's time on the device: a gap; parts of a board are rounded to whole ms wherever a job begins
SELECT piece.hour_utc, piece.site_id, piece.host, piece.job_key, piece.chip_id, 'default', 'none', 'busy',
    piece.chip_ms - coalesce(covered.covered_chip_ms, 0), NULL
FROM piece
LEFT JOIN (
    SELECT allocation_key, hour_utc, sum(covered_chip_ms) AS covered_chip_ms FROM reading
    WHERE allocation_key IS NOT NULL GROUP BY allocation_key, hour_utc
) AS covered ON covered.allocation_key = piece.allocation_key AND covered.hour_utc = piece.hour_utc
WHERE piece.device_key IS NOT NULL
    AND piece.chip_ms - coalesce(covered.covered_chip_ms, 0) > CASE WHEN piece.chip_count = 1 THEN 0.5 ELSE 5 END
UNION ALL
-- 3 readings that no device allocation claims, shared among jobs without device and idle by chip-time
SELECT claim.hour_utc, claim.site_id, claim.host, claim.job_key,
    claim.chip_id, pool.tier,
    CASE WHEN claim.fraction = 1 THEN 'device' ELSE 'host share' END,
    claim.chip_state, pool.covered_chip_ms * claim.fraction,
    CASE WHEN pool.sample_count = 0 AND pool.energy_chip_microj = 0 THEN NULL
        ELSE pool.energy_chip_microj * claim.fraction END
FROM claim
JOIN (
    SELECT host, hour_utc, tier, sum(sample_count) AS sample_count, sum(covered_chip_ms) AS covered_chip_ms,
        CAST(sum(energy_chip_microj) AS DOUBLE) AS energy_chip_microj
    FROM reading WHERE allocation_key IS NULL GROUP BY host, hour_utc, tier
) AS pool ON pool.host = claim.host AND pool.hour_utc = claim.hour_utc
WHERE claim.fraction > 0
UNION ALL
-- 4 the rest of the time of jobs without device, and of idle chips: no reading
SELECT claim.hour_utc, claim.site_id, claim.host, claim.job_key, claim.chip_id, 'default', 'none', claim.chip_state,
    claim.chip_ms - coalesce(pool.covered_chip_ms, 0) * claim.fraction, NULL
FROM claim
LEFT JOIN (
    SELECT host, hour_utc, sum(covered_chip_ms) AS covered_chip_ms FROM reading
    WHERE allocation_key IS NULL GROUP BY host, hour_utc
) AS pool ON pool.host = claim.host AND pool.hour_utc = claim.hour_utc
WHERE claim.chip_ms - coalesce(pool.covered_chip_ms, 0) * claim.fraction > 0.5
    AND claim.chip_state <> 'unknown'
UNION ALL
-- 5 jobs of no known host, hours without a reading of a host before it was installed or after it was removed, and
-- instances of boards
SELECT piece.hour_utc, piece.site_id, piece.host, piece.job_key, piece.chip_id, 'default', 'none', piece.chip_state,
    piece.chip_ms, NULL
FROM piece
LEFT JOIN host_hour ON host_hour.host = piece.host AND host_hour.hour_utc = piece.hour_utc
WHERE piece.device_key IS NULL AND piece.chip_ms > 0 AND (host_hour.host IS NULL OR piece.is_instance);

-- A node's overhead: as site.yaml gives it, or by the line of its node at the mean power of its boards in that hour, or
-- mean power of the plug over that of the boards where both were read for nearly the whole hour. Less than 1 cannot be:
-- such a plug is not believed, and a line ends there.
CREATE OR REPLACE TEMP TABLE host_hour_overhead AS
WITH given AS (
    SELECT installed.host, installed.hour_utc, min(installed.installed_chip_h) AS installed_chip_h,
        min(host.node_overhead) AS node_overhead, min(host.node_overhead_low) AS node_overhead_low,
        min(host.node_overhead_high) AS node_overhead_high, min(host.status) AS status, min(host.from_utc) AS from_utc
    FROM core.installed_hour AS installed
    JOIN core.host AS host ON host.host = installed.host
        AND (host.from_utc IS NULL OR installed.hour_utc >= date_trunc('hour', host.from_utc))
        AND (host.to_utc IS NULL OR installed.hour_utc < host.to_utc)
    GROUP BY installed.host, installed.hour_utc
),
board_power AS (
    SELECT line.host, line.hour_utc, CAST(sum(CAST(CASE WHEN line.tier = 'default'
            THEN line.chip_ms * power.power_chip_w ELSE coalesce(line.microj, 0) / 1000 END AS DECIMAL(38, 6))) AS DOUBLE)
            / CAST(sum(CAST(line.chip_ms AS DECIMAL(38, 6))) AS DOUBLE) AS mean_w
    FROM line
    JOIN (SELECT DISTINCT host FROM node_line) AS node ON node.host = line.host
    LEFT JOIN ref.chip_power AS power ON power.chip_id = line.chip_id AND power.chip_state = line.chip_state
    GROUP BY line.host, line.hour_utc
    HAVING sum(line.chip_ms) > 0
),
by_line AS (
    SELECT given.host, given.hour_utc,
        greatest(1.0, node_line.slope + node_line.fixed_w / board_power.mean_w) AS node_overhead,
        greatest(1.0, node_line.slope_low + node_line.fixed_low_w / board_power.mean_w) AS node_overhead_low,
        greatest(1.0, node_line.slope_high + node_line.fixed_high_w / board_power.mean_w) AS node_overhead_high
    FROM given
    JOIN node_line ON node_line.host = given.host AND node_line.from_utc IS NOT DISTINCT FROM given.from_utc
    JOIN board_power ON board_power.host = given.host AND board_power.hour_utc = given.hour_utc
    WHERE board_power.mean_w > 0
),
boards AS (
    SELECT host, hour_utc, CAST(sum(energy_chip_microj) AS DOUBLE) AS microj,
        CAST(sum(covered_chip_ms) AS DOUBLE) AS covered_chip_ms
    FROM reading
    WHERE tier IN ('measured', 'integrated')
    GROUP BY host, hour_utc
),
measured AS (
    SELECT given.host, given.hour_utc,
        (node.energy_it_microj / node.covered_ms)
            / (boards.microj / boards.covered_chip_ms * CAST(given.installed_chip_h AS DOUBLE)) AS node_overhead
    FROM given
    JOIN core.node_hour AS node ON node.host = given.host AND node.hour_utc = given.hour_utc
    JOIN boards ON boards.host = given.host AND boards.hour_utc = given.hour_utc
    WHERE node.covered_ms >= 0.95 * 3600000 AND boards.microj > 0
        AND boards.covered_chip_ms >= 0.95 * 3600000 * given.installed_chip_h
)
SELECT given.host, given.hour_utc,
    coalesce(measured.node_overhead, by_line.node_overhead, given.node_overhead) AS node_overhead,
    coalesce(measured.node_overhead, by_line.node_overhead_low, given.node_overhead_low) AS node_overhead_low,
    coalesce(measured.node_overhead, by_line.node_overhead_high, given.node_overhead_high) AS node_overhead_high,
    CASE WHEN measured.host IS NULL THEN given.status ELSE 'derived' END AS node_overhead_status
FROM given
LEFT JOIN by_line ON by_line.host = given.host AND by_line.hour_utc = given.hour_utc
LEFT JOIN measured ON measured.host = given.host AND measured.hour_utc = given.hour_utc
    AND measured.node_overhead >= 1;

-- A job's own measured energy wins over everything that was given to it above. Energy at the plug is only the job's
-- own where it held its hosts whole; it is restated at the chip by the node's overhead, and comes back at the plug.
CREATE OR REPLACE TEMP TABLE owned_line AS
WITH alone AS (
    SELECT job_key FROM (
        SELECT held.job_key, sum(held.chip_count) AS chip_count, max(host.installed_chip_count) AS installed_chip_count
        FROM core.allocation AS held
        LEFT JOIN core.host AS host ON host.host = held.host
        ANTI JOIN instance_job ON instance_job.job_key = held.job_key
        GROUP BY held.job_key, held.host
    )
    GROUP BY job_key
    HAVING bool_and(installed_chip_count IS NOT NULL AND chip_count >= installed_chip_count)
),
own AS (
    SELECT job.job_key, job.energy_chip_kwh,
        CASE WHEN job.energy_chip_kwh IS NULL THEN job.energy_it_kwh END AS energy_it_kwh,
        CAST(sum(CAST(piece.chip_ms AS DECIMAL(38, 9))) AS DOUBLE) AS chip_ms
    FROM core.job AS job
    JOIN piece ON piece.job_key = job.job_key
    LEFT JOIN alone ON alone.job_key = job.job_key
    WHERE job.energy_chip_kwh IS NOT NULL OR (job.energy_it_kwh IS NOT NULL AND alone.job_key IS NOT NULL)
    GROUP BY job.job_key, job.energy_chip_kwh, job.energy_it_kwh
    HAVING sum(CAST(piece.chip_ms AS DECIMAL(38, 9))) > 0
)
SELECT line.* FROM line ANTI JOIN own ON own.job_key = line.job_key
UNION ALL
SELECT piece.hour_utc, piece.site_id, piece.host, piece.job_key, piece.chip_id, 'measured', 'job', 'busy', piece.chip_ms,
    coalesce(own.energy_chip_kwh, own.energy_it_kwh / coalesce(overhead.node_overhead, any_host.node_overhead))
        * 3600000000000 * piece.chip_ms / own.chip_ms
FROM piece
JOIN own ON own.job_key = piece.job_key
LEFT JOIN host_hour_overhead AS overhead ON overhead.host = piece.host AND overhead.hour_utc = piece.hour_utc
LEFT JOIN (SELECT host, min(node_overhead) AS node_overhead FROM core.host GROUP BY host) AS any_host
    ON any_host.host = piece.host
WHERE piece.chip_ms > 0
UNION ALL
-- a run shorter than the clock of its log has energy and no time, one whose chips are not known energy and no chip-hours
SELECT make_timestamptz(hour_number * 3600000000), site_id, host, job_key, chip_id, 'measured', 'job', 'busy', 0,
    energy_chip_kwh * 3600000000000
        * (least(end_ms, (hour_number + 1) * 3600000) - greatest(start_ms, hour_number * 3600000)) / (end_ms - start_ms)
FROM (
    SELECT *, unnest(range(start_ms // 3600000, (end_ms - 1) // 3600000 + 1)) AS hour_number
    FROM (
        SELECT job.site_id, job.host, job.job_key, job.chip_id, job.energy_chip_kwh, epoch_ms(job.start_utc) AS start_ms,
            greatest(epoch_ms(job.counted_end_utc), epoch_ms(job.start_utc) + 1) AS end_ms
        FROM core.job AS job
        ANTI JOIN own ON own.job_key = job.job_key
        WHERE job.energy_chip_kwh > 0
    )
);

-- Readings that such a measurement replaces on a host whose boards no allocation names: the job's share of them.
INSERT INTO core.replaced_hour
SELECT claim.hour_utc, claim.site_id,
    CAST(sum(CAST(pool.energy_chip_microj * claim.fraction / 3600000000000.0 AS DECIMAL(38, 12))) AS DECIMAL(38, 12))
FROM claim
JOIN (
    SELECT host, hour_utc, CAST(sum(energy_chip_microj) AS DOUBLE) AS energy_chip_microj
    FROM reading WHERE allocation_key IS NULL GROUP BY host, hour_utc
) AS pool ON pool.host = claim.host AND pool.hour_utc = claim.hour_utc
JOIN (SELECT DISTINCT job_key FROM owned_line WHERE attribution = 'job') AS own ON own.job_key = claim.job_key
WHERE claim.fraction > 0
GROUP BY claim.hour_utc, claim.site_id
ORDER BY claim.hour_utc, claim.site_id;

-- Energy and its 95 % range. Modelled by the time with a kernel: that time follows from the energy, since power is linear
-- in it, and both ends move along with it. By activity: the band of the curve. A bridged gap: from idle to the limit.
-- least and greatest pass over a null: an energy that is not known must have no range either.
CREATE OR REPLACE TEMP TABLE ranged AS
WITH summed AS (
    SELECT hour_utc, site_id, host, job_key, chip_id, tier, attribution, chip_state,
        CAST(sum(CAST(chip_ms / 3600000.0 AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS chip_h,
        CAST(sum(CAST(microj / 3600000000000.0 AS DECIMAL(38, 12))) AS DECIMAL(38, 12)) AS energy_chip_kwh
    FROM owned_line
    GROUP BY hour_utc, site_id, host, job_key, chip_id, tier, attribution, chip_state
),
other AS (
    SELECT summed.hour_utc, summed.site_id, summed.host, summed.job_key, summed.chip_id, summed.attribution,
        summed.chip_state, summed.chip_h,
        CASE WHEN summed.tier = 'default' AND power.power_chip_w IS NULL THEN 'missing' ELSE summed.tier END AS tier,
        CASE WHEN summed.tier = 'default' THEN CAST(summed.chip_h * power.power_chip_w / 1000 AS DECIMAL(38, 12))
            ELSE summed.energy_chip_kwh END AS energy_chip_kwh,
        CASE WHEN summed.tier = 'default' THEN CAST(summed.chip_h * power.power_chip_low_w / 1000 AS DECIMAL(38, 12))
            ELSE CAST(summed.energy_chip_kwh * (1 - $reading_error) AS DECIMAL(38, 12)) END AS energy_chip_low_kwh,
        CASE WHEN summed.tier = 'default' THEN CAST(summed.chip_h * power.power_chip_high_w / 1000 AS DECIMAL(38, 12))
            ELSE CAST(summed.energy_chip_kwh * (1 + $reading_error) AS DECIMAL(38, 12)) END AS energy_chip_high_kwh
    FROM summed
    LEFT JOIN ref.chip_power AS power ON power.chip_id = summed.chip_id AND power.chip_state = summed.chip_state
    WHERE NOT starts_with(summed.tier, 'modelled')
),
modelled AS (
    SELECT summed.hour_utc, summed.site_id, summed.host, summed.job_key, summed.chip_id, summed.attribution,
        summed.chip_state, summed.chip_h, summed.energy_chip_kwh,
        CASE WHEN summed.energy_chip_kwh IS NULL THEN NULL ELSE CAST(least(summed.energy_chip_kwh, greatest(
            summed.chip_h * model.idle_low_w / 1000,
            CASE summed.tier
                WHEN 'modelled by kernel time' THEN summed.chip_h * model.idle_low_w / 1000
                    + (summed.energy_chip_kwh - summed.chip_h * model.idle_w / 1000)
                    * (model.running_low_w - model.idle_low_w) / (model.running_w - model.idle_w)
                WHEN 'modelled by activity' THEN summed.energy_chip_kwh * model.active_low_ratio
                ELSE summed.chip_h * model.idle_low_w / 1000 END
        )) AS DECIMAL(38, 12)) END AS energy_chip_low_kwh,
        CASE WHEN summed.energy_chip_kwh IS NULL THEN NULL ELSE CAST(greatest(summed.energy_chip_kwh, least(
            summed.chip_h * model.limit_w * $overshoot / 1000,
            CASE summed.tier
                WHEN 'modelled by kernel time' THEN summed.chip_h * model.idle_high_w / 1000
                    + (summed.energy_chip_kwh - summed.chip_h * model.idle_w / 1000)
                    * (model.running_high_w - model.idle_high_w) / (model.running_w - model.idle_w)
                WHEN 'modelled by activity' THEN summed.energy_chip_kwh * model.active_high_ratio
                ELSE summed.chip_h * model.limit_w / 1000 END
        )) AS DECIMAL(38, 12)) END AS energy_chip_high_kwh
    FROM summed
    LEFT JOIN power_model AS model ON model.chip_id = summed.chip_id
    WHERE starts_with(summed.tier, 'modelled')
)
SELECT hour_utc, site_id, host, job_key, chip_id, tier, attribution, chip_state, chip_h, energy_chip_kwh,
    energy_chip_low_kwh, energy_chip_high_kwh
FROM other
UNION ALL
SELECT hour_utc, site_id, host, job_key, chip_id, 'modelled', attribution, chip_state,
    CAST(sum(chip_h) AS DECIMAL(38, 12)), CAST(sum(energy_chip_kwh) AS DECIMAL(38, 12)),
    CAST(sum(energy_chip_low_kwh) AS DECIMAL(38, 12)), CAST(sum(energy_chip_high_kwh) AS DECIMAL(38, 12))
FROM modelled
GROUP BY hour_utc, site_id, host, job_key, chip_id, attribution, chip_state;

INSERT INTO core.energy_hour
SELECT
    ranged.hour_utc,
    ranged.site_id,
    ranged.host,
    CASE WHEN ranged.job_key IS NOT NULL AND job.project IS NOT NULL THEN 'project'
        WHEN ranged.chip_state = 'idle' THEN 'idle' ELSE 'unallocated' END,
    CASE WHEN ranged.job_key IS NOT NULL AND job.project IS NOT NULL THEN job.project
        WHEN ranged.chip_state = 'idle' THEN 'idle' ELSE 'unallocated' END,
    ranged.job_key,
    ranged.chip_id,
    ranged.tier,
    ranged.attribution,
    ranged.chip_h,
    ranged.energy_chip_kwh,
    ranged.energy_chip_low_kwh,
    ranged.energy_chip_high_kwh,
    coalesce(overhead.node_overhead, any_host.node_overhead, site.node_overhead),
    coalesce(overhead.node_overhead_low, any_host.node_overhead_low, site.node_overhead_low),
    coalesce(overhead.node_overhead_high, any_host.node_overhead_high, site.node_overhead_high),
    coalesce(overhead.node_overhead_status, any_host.status, site.status)
FROM ranged
LEFT JOIN core.job AS job ON job.job_key = ranged.job_key
LEFT JOIN host_hour_overhead AS overhead ON overhead.host = ranged.host AND overhead.hour_utc = ranged.hour_utc
LEFT JOIN (
    SELECT host, min(node_overhead) AS node_overhead, min(node_overhead_low) AS node_overhead_low,
        min(node_overhead_high) AS node_overhead_high, min(status) AS status
    FROM core.host GROUP BY host
) AS any_host ON any_host.host = ranged.host
JOIN site_overhead AS site ON site.site_id = ranged.site_id
WHERE ranged.chip_h > 0 OR ranged.energy_chip_kwh IS NOT NULL
ORDER BY ranged.hour_utc, ranged.site_id, ranged.host, ranged.job_key;
