-- What covers the purchase of each site and quarter by one method, and what is left uncovered.
SELECT
    quarter,
    site_id,
    method,
    market,
    cover_kind,
    instrument_id,
    instrument_kind,
    covered_facility_mwh,
    intensity_gco2e_per_kwh_facility,
    emissions_kgco2e,
    note
FROM core.market_cover
