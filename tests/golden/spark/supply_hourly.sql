/* Where the energy of a site came from, by hour. Null: the site has no meter of it and no plant is named. */
SELECT
  supply.hour_utc,
  calendar.month,
  calendar.quarter,
  supply.site_id,
  supply.load_facility_kwh,
  supply.generation_facility_kwh,
  supply.self_consumed_facility_kwh,
  supply.grid_facility_kwh,
  supply.excess_facility_kwh,
  supply.grid_share,
  supply.source,
  supply.status
FROM core.supply_hour AS supply
JOIN ref.calendar_hour AS calendar
  ON calendar.hour_utc = supply.hour_utc
