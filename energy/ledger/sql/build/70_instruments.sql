-- Certificates and contracts once each: a row of a file that says it was cancelled wins over one that does not yet.
CREATE OR REPLACE TEMP TABLE instrument_once AS
SELECT * EXCLUDE (place) FROM (
    SELECT *, row_number() OVER (
        PARTITION BY instrument_id ORDER BY cancellation_id IS NULL, batch_id, row_number
    ) AS place
    FROM raw.instrument
)
WHERE place = 1;
INSERT INTO core.certificate BY NAME SELECT * FROM instrument_once WHERE instrument_kind = 'certificate';
INSERT INTO core.contract BY NAME SELECT * FROM instrument_once WHERE instrument_kind <> 'certificate';
DROP TABLE instrument_once;
INSERT INTO core.delivery_hour BY NAME
SELECT instrument_id, hour_utc, min(energy_facility_mwh) AS energy_facility_mwh
FROM raw.delivery_hour
GROUP BY instrument_id, hour_utc;
