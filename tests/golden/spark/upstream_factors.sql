/* Rates of scope 3 category 3 by site and quarter; null where what they need is not held, and the note says what. */
SELECT
  quarter,
  site_id,
  category,
  basis,
  upstream_gco2e_per_kwh_facility,
  note
FROM core.upstream_rate
