/* PUE, share bought and the factors of all methods of a site and hour, side by side in one row. */
SELECT
  site_hour.hour_utc,
  calendar.month,
  calendar.quarter,
  site_hour.site_id,
  site_hour.pue,
  site_hour.pue_low,
  site_hour.pue_high,
  supply.grid_share,
  location.intensity_gco2e_per_kwh_facility AS location_gco2e_per_kwh_facility,
  location_fact.basis AS location_basis,
  market.intensity_gco2e_per_kwh_facility AS market_gco2e_per_kwh_facility,
  market_fact.basis AS market_basis,
  hourly.intensity_gco2e_per_kwh_facility AS hourly_gco2e_per_kwh_facility,
  hourly_fact.basis AS hourly_basis,
  matched.intensity_gco2e_per_kwh_facility AS matched_gco2e_per_kwh_facility,
  matched_fact.basis AS matched_basis
FROM core.pue_hour AS site_hour
JOIN ref.calendar_hour AS calendar
  ON calendar.hour_utc = site_hour.hour_utc
JOIN core.supply_hour AS supply
  ON supply.site_id = site_hour.site_id AND supply.hour_utc = site_hour.hour_utc
LEFT JOIN core.factor_hour AS location
  ON location.site_id = site_hour.site_id
  AND location.hour_utc = site_hour.hour_utc
  AND location.method = 'location'
LEFT JOIN ref.factor AS location_fact
  ON location_fact.factor_id = location.factor_id
LEFT JOIN core.factor_hour AS market
  ON market.site_id = site_hour.site_id
  AND market.hour_utc = site_hour.hour_utc
  AND market.method = 'market'
LEFT JOIN ref.factor AS market_fact
  ON market_fact.factor_id = market.factor_id
LEFT JOIN core.factor_hour AS hourly
  ON hourly.site_id = site_hour.site_id
  AND hourly.hour_utc = site_hour.hour_utc
  AND hourly.method = 'hourly'
LEFT JOIN ref.factor AS hourly_fact
  ON hourly_fact.factor_id = hourly.factor_id
LEFT JOIN core.factor_hour AS matched
  ON matched.site_id = site_hour.site_id
  AND matched.hour_utc = site_hour.hour_utc
  AND matched.method = 'hourly matched'
LEFT JOIN ref.factor AS matched_fact
  ON matched_fact.factor_id = matched.factor_id
