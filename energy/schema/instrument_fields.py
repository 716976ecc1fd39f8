"""Columns and tables of certificates, contracts and what they cover: declared here, listed with all others."""

from __future__ import annotations

from energy.schema.model import Field

INSTRUMENT_KINDS = ("certificate", "contract", "supplier rate")
SERIES_KINDS = ("average", "marginal")
PERIOD_KINDS = ("delivery", "use")
RESULTS = ("passed", "failed", "not applicable", "not stated")
_CRITERIA = (
    "conveys the direct emission rate",
    "is the only instrument with the claim",
    "tracked and cancelled for the reporter",
    "vintage close to the consumption",
    "same market as the consumption",
    "supplier rate of delivered energy, with certificates",
    "all instruments of a direct contract go to the reporter",
    "residual mix known, or its absence disclosed",
)


def _text(name: str, meaning: str, allowed: tuple[str, ...] = ()) -> Field:
    return Field(name, "VARCHAR", None, meaning, allowed=allowed)


def _instant(name: str, meaning: str) -> Field:
    return Field(name, "TIMESTAMPTZ", None, meaning)


def _stated(name: str, meaning: str) -> Field:
    return Field(name, "BOOLEAN", None, f"{meaning} Null: not stated.")


def _mwh(name: str, meaning: str, additive: str = "yes") -> Field:
    return Field(name, "DECIMAL(38,12)", "MWh_facility", meaning, additive=additive, minimum=0.0)  # type: ignore[arg-type]


def _amount(name: str, unit: str, meaning: str, additive: str = "yes") -> Field:
    return Field(name, "DOUBLE", unit, meaning, additive=additive, minimum=0.0)  # type: ignore[arg-type]


INSTRUMENT_FIELDS: list[Field] = [
    _text(
        "instrument_id",
        "Numbers of a certificate, first to last, or the name of a contract or rate. Null: no instrument covers.",
    ),
    _text("instrument_kind", "Level of the hierarchy: what stands first covers first.", INSTRUMENT_KINDS),
    _text("market", "Market that an instrument was issued in, or that a site consumes in, as it is stated."),
    _text("registry", "Register that holds the certificate."),
    _text("cancellation_id", "Cancellation, retirement or redemption. Null: none is stated."),
    _text("beneficiary", "For whom it was cancelled."),
    _text("register_status", "State as the register writes it."),
    _text("technology", "Plant and technology as the file writes them."),
    _text("reading_quality", "Quality of a reading as the file writes it."),
    _instant("vintage_from_utc", "First instant of the generation."),
    _instant("vintage_to_utc", "End of the generation, not included."),
    _instant("claimed_from_utc", "First instant of the consumption that it was cancelled for. Null: not stated."),
    _instant("claimed_to_utc", "End of the consumption that it was cancelled for, not included. Null: not stated."),
    _stated("conveys_rate", "Whether it conveys the emission rate, as stated."),
    _stated("is_sole_claim", "Whether it is the only instrument with the claim, as stated."),
    _stated("is_delivered", "Whether a supplier rate rests on delivered energy with certificates, as stated."),
    _stated("goes_to_reporter", "Whether all instruments of the contract go to the reporter, as stated."),
    Field("is_accepted", "BOOLEAN", None, "Whether no criterion failed and none that applies was left unstated."),
    _text("failed_criteria", "Criteria that it does not meet, each with the reason. Empty: it was accepted."),
    _text("cover_kind", "instrument: covered by it; uncovered: covered by none.", ("instrument", "uncovered")),
    _mwh("energy_facility_mwh", "Electricity at the site's meter."),
    _mwh("covered_facility_mwh", "Purchase that an instrument covers, or none.", "within method"),
    Field(
        "upstream_gco2e_per_kwh_facility",
        "DOUBLE",
        "gCO2e/kWh_facility",
        "Scope 3 category 3 per kWh bought. Null: not held.",
        additive="no",
        weight="energy_purchased_facility_kwh",
        minimum=0.0,
    ),
    Field("biogenic_co2_kg", "DOUBLE", "kg", "CO2 of biomass, outside the scopes.", additive="yes", minimum=0.0),
    _text("grid_zone", "Grid zone as the file or --zone names it."),
    _text("series_kind", "average: of all that a zone makes or uses; marginal: of one kWh more.", SERIES_KINDS),
    _text("document_id", "Invoice or delivery note."),
    _text("document_line", "Line of the document. Null: the document has one for this fuel and day."),
    _text("supplier", "Who delivered it, as the document writes it."),
    _text("fuel", "Fuel of the catalogue."),
    _text("from_date", "First day that it counts for, as 2026-01-31."),
    _text("to_date", "Day after the last that it counts for, as 2026-01-31."),
    _text("period_kind", "delivery: counted on the day of its delivery; use: burnt over the period.", PERIOD_KINDS),
    _text("unit_given", "Unit as the file writes it."),
    _amount("amount_given", "", "Amount in the unit of the file.", "no"),
    _amount("fuel_volume_l", "L", "Volume of the fuel. Null: it was given by mass or heat."),
    _amount("fuel_heat_kwh", "kWh", "Heat of the fuel by its higher heating value. Null: volume counts."),
    _mwh("offered_facility_mwh", "What no earlier quarter used of it.", "no"),
    _mwh("used_facility_mwh", "What it covers in the quarter."),
    _mwh("left_facility_mwh", "What is left after the quarter: surplus unless a later quarter takes it.", "no"),
    *(
        _text(f"criterion_{number}", f"Quality criterion {number}: {words}.", RESULTS)
        for number, words in enumerate(_CRITERIA, 1)
    ),
]
_STATED = "conveys_rate is_sole_claim is_delivered goes_to_reporter"
_INSTRUMENT = (
    "instrument_id! instrument_kind! energy_facility_mwh intensity_gco2e_per_kwh_facility vintage_from_utc! "
    "vintage_to_utc! market site_id registry cancellation_id beneficiary register_status technology "
    f"claimed_from_utc claimed_to_utc {_STATED}"
)
_RESULTS = " ".join(f"criterion_{number}!" for number in range(1, 9))
# layer, name, what one row is, columns, key, note
INSTRUMENT_TABLES: tuple[tuple[str, str, str, str, tuple[str, ...], str], ...] = (
    (
        "raw",
        "instrument",
        "one certificate, contract or supplier rate, as ingested",
        f"batch_id! row_number! {_INSTRUMENT}",
        ("instrument_id",),
        "",
    ),
    (
        "raw",
        "delivery_hour",
        "energy that a contract delivered in one hour, as ingested",
        "batch_id! row_number! instrument_id! hour_utc! energy_facility_mwh! reading_quality",
        ("instrument_id", "hour_utc"),
        "",
    ),
    (
        "core",
        "certificate",
        "one certificate or range of certificates, once each",
        f"batch_id! row_number! {_INSTRUMENT}",
        ("instrument_id",),
        "",
    ),
    (
        "core",
        "contract",
        "one contract or supplier rate, once each",
        f"batch_id! row_number! {_INSTRUMENT}",
        ("instrument_id",),
        "Energy is null where the hours of its deliveries say it.",
    ),
    (
        "core",
        "delivery_hour",
        "energy that a contract delivered in one hour, once each",
        "instrument_id! hour_utc! energy_facility_mwh!",
        ("instrument_id", "hour_utc"),
        "",
    ),
    (
        "core",
        "instrument",
        "one instrument assessed against the consumption of one quarter",
        "quarter! instrument_id! instrument_kind! market site_id offered_facility_mwh! used_facility_mwh! "
        f"left_facility_mwh! intensity_gco2e_per_kwh_facility is_accepted! {_RESULTS} failed_criteria!",
        ("quarter", "instrument_id"),
        "What one quarter used is not offered to the next. A contract with hours is taken month by month.",
    ),
    (
        "core",
        "market_cover",
        "what covers the purchase of one site in one quarter: an instrument, or none",
        "quarter! site_id! method! market cover_kind! instrument_id instrument_kind covered_facility_mwh! "
        "intensity_gco2e_per_kwh_facility! emissions_kgco2e! note",
        (),
        "By method; there are rows only where instruments were ingested.",
    ),
)
OTHER_SCOPE_TABLES: tuple[tuple[str, str, str, str, tuple[str, ...], str], ...] = (
    (
        "raw",
        "grid_hour",
        "one intensity of one grid zone in one hour, as ingested",
        "batch_id! row_number! grid_zone! zone_id site_id hour_utc! boundary! factor_attribution! series_kind! "
        "intensity_gco2e_per_kwh_generation intensity_gco2e_per_kwh_facility gases! gwp_set! status! publisher!",
        ("grid_zone", "site_id", "hour_utc", "boundary", "factor_attribution", "series_kind"),
        "Per kWh generated where it is of production, per kWh bought where it is of consumption; row_number is the "
        "first line of the hour. site_id: it was told by --site.",
    ),
    (
        "raw",
        "fuel_purchase",
        "one line of a fuel invoice or delivery note, as ingested",
        "batch_id! row_number! document_id! document_line supplier site_id! fuel! from_date! to_date! period_kind! "
        "amount_given! unit_given! fuel_volume_l fuel_heat_kwh note!",
        ("document_id", "document_line", "site_id", "fuel", "from_date"),
        "",
    ),
    (
        "core",
        "upstream_rate",
        "rate of one activity of scope 3 category 3 for one site and quarter",
        "quarter! site_id! category! basis upstream_gco2e_per_kwh_facility note!",
        ("quarter", "site_id", "category"),
        "",
    ),
    (
        "core",
        "other_emission",
        "emissions of one owner in one quarter that are not Scope 2",
        "quarter! site_id! owner_kind! owner! scope! category! method basis energy_purchased_facility_kwh "
        "emissions_kgco2e biogenic_co2_kg note!",
        (),
        "Scope 1 has no method; fuels and leaks are spread evenly over the days of their period. Null emissions: not "
        "reckoned, as the note says; null biogenic CO2: the line is none of a combustion.",
    ),
)
# name, what one row is, columns
INSTRUMENT_VIEWS: tuple[tuple[str, str, str], ...] = (
    (
        "instruments",
        "one instrument in one quarter: the eight quality criteria, what it covers, what is left",
        "quarter instrument_id instrument_kind market site_id offered_facility_mwh used_facility_mwh "
        f"left_facility_mwh intensity_gco2e_per_kwh_facility is_accepted {_RESULTS.replace('!', '')} failed_criteria",
    ),
    (
        "market_coverage",
        "what covers the purchase of one site in one quarter by one method",
        "quarter site_id method market cover_kind instrument_id instrument_kind covered_facility_mwh "
        "intensity_gco2e_per_kwh_facility emissions_kgco2e note",
    ),
    (
        "emissions_by_scope",
        "emissions of one owner in one quarter by scope and category",
        "quarter site_id owner_kind owner scope category method basis emissions_kgco2e note",
    ),
    (
        "upstream_factors",
        "rate of one activity of scope 3 category 3 for one site and quarter",
        "quarter site_id category basis upstream_gco2e_per_kwh_facility note",
    ),
)
