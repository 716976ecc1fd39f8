/* Certificates, contracts and supplier rates of a quarter: what each criterion says, what they cover, what is left. */
SELECT
  quarter,
  instrument_id,
  instrument_kind,
  market,
  site_id,
  offered_facility_mwh,
  used_facility_mwh,
  left_facility_mwh,
  intensity_gco2e_per_kwh_facility,
  is_accepted,
  criterion_1,
  criterion_2,
  criterion_3,
  criterion_4,
  criterion_5,
  criterion_6,
  criterion_7,
  criterion_8,
  failed_criteria
FROM core.instrument
