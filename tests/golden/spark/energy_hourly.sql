/* Energy at the three boundaries, one row per owner, host, hour and tier. */
/* chip -> node by the node's overhead, node -> facility by the site's PUE of the hour. Null stays null. */
SELECT
  line.hour_utc,
  calendar.month,
  calendar.quarter,
  line.site_id,
  line.host,
  line.owner_kind,
  line.owner,
  line.job_key,
  line.chip_id,
  line.tier,
  line.attribution,
  line.chip_h,
  line.energy_chip_kwh,
  line.energy_chip_low_kwh,
  line.energy_chip_high_kwh,
  line.node_overhead,
  CAST(line.energy_chip_kwh * line.node_overhead AS DECIMAL(38, 12)) AS energy_it_kwh,
  CAST(line.energy_chip_low_kwh * line.node_overhead_low AS DECIMAL(38, 12)) AS energy_it_low_kwh,
  CAST(line.energy_chip_high_kwh * line.node_overhead_high AS DECIMAL(38, 12)) AS energy_it_high_kwh,
  site_hour.pue,
  CAST(line.energy_chip_kwh * line.node_overhead * site_hour.pue AS DECIMAL(38, 12)) AS energy_facility_kwh,
  CAST(line.energy_chip_low_kwh * line.node_overhead_low * site_hour.pue_low AS DECIMAL(38, 12)) AS energy_facility_low_kwh,
  CAST(line.energy_chip_high_kwh * line.node_overhead_high * site_hour.pue_high AS DECIMAL(38, 12)) AS energy_facility_high_kwh
FROM core.energy_hour AS line
JOIN ref.calendar_hour AS calendar
  ON calendar.hour_utc = line.hour_utc
JOIN core.pue_hour AS site_hour
  ON site_hour.site_id = line.site_id AND site_hour.hour_utc = line.hour_utc
