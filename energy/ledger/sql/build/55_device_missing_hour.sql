-- Time of each device that was read at some time, and that no reading covers, while its host was installed and known.
INSERT INTO core.device_missing_hour
WITH covered AS (
    SELECT device_key, hour_utc, sum(covered_chip_ms) AS covered_chip_ms
    FROM core.device_hour
    GROUP BY device_key, hour_utc
),
room AS (
    SELECT device.device_key, installed.hour_utc,
        CAST(installed.installed_chip_h * 3600000 AS DOUBLE) / max(host.installed_chip_count) AS chip_ms
    FROM core.device AS device
    JOIN (SELECT DISTINCT device_key FROM core.device_hour) AS read ON read.device_key = device.device_key
    JOIN core.installed_hour AS installed ON installed.host = device.host
    JOIN core.host AS host ON host.host = installed.host
        AND (host.from_utc IS NULL OR host.from_utc < installed.hour_utc + INTERVAL 1 HOUR)
        AND (host.to_utc IS NULL OR host.to_utc > installed.hour_utc)
    GROUP BY device.device_key, installed.hour_utc, installed.installed_chip_h
)
SELECT room.device_key, room.hour_utc,
    CAST((room.chip_ms - coalesce(covered.covered_chip_ms, 0)) / 3600000 AS DECIMAL(38, 12)) AS missing_chip_h
FROM room
LEFT JOIN covered ON covered.device_key = room.device_key AND covered.hour_utc = room.hour_utc
WHERE room.chip_ms - coalesce(covered.covered_chip_ms, 0) > 0.5
ORDER BY room.device_key, room.hour_utc;
