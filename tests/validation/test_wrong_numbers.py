"""Wrong numbers that public tools have reported: water, watt-hours, places. The others stand with their importers.

Source: shared `data/cases/wrong_numbers.md`, cases 1, 2 and 6; facts restated, so that these run without it.
"""

from __future__ import annotations

import pytest

from energy.account import meter_energy, scope_2_emissions
from energy.catalogue.cloud import cloud_region
from energy.catalogue.factors import factors_for
from energy.catalogue.zones import zone, zone_match
from energy.errors import AmbiguousNameError, UnitError, UnknownNameError
from energy.units import quantity


def test_pue_is_counted_once_in_water():
    energy_it, pue = quantity(100.0, "kWh_it"), quantity(1.3, "kWh_facility/kWh_it")
    on_site = energy_it * quantity(0.5, "L/kWh_it")
    off_site = meter_energy(energy_it, pue) * quantity(3.0, "L/kWh_facility")
    assert on_site.to("L").magnitude == pytest.approx(50.0, rel=1e-12)
    assert off_site.to("L").magnitude == pytest.approx(390.0, rel=1e-12)
    assert (on_site + off_site).to("L").magnitude == pytest.approx(440.0, rel=1e-12)


def test_the_reported_defect_is_a_wrong_dimension():
    energy_facility = meter_energy(quantity(100.0, "kWh_it"), 1.3)
    with pytest.raises(UnitError):  # PUE on energy that holds it already: 507 L instead of 390
        meter_energy(energy_facility, 1.3)


@pytest.mark.parametrize(
    ("power_w", "hours", "grams_per_kwh", "grams"),
    [(10.153711771428572, 1.0, 98.0, 0.99506), (240.0, 24.0, 380.0, 2188.8)],
)
def test_watt_hours_are_no_kilowatt_hours(power_w, hours, grams_per_kwh, grams):
    energy = quantity(power_w, "W_facility") * quantity(hours, "h")
    emitted = scope_2_emissions(energy, quantity(grams_per_kwh, "gCO2e/kWh_facility"))
    assert emitted.to("gCO2e").magnitude == pytest.approx(grams, rel=1e-5)


@pytest.mark.parametrize("name", ["SWE", "Sweden", "sweden"])
def test_a_country_by_code_and_name(name):
    assert zone(name).zone_id == "SWE"


def test_a_price_zone_stands_for_its_country_and_says_so():
    match = zone_match("SE3")
    assert match.zone.zone_id == "SWE"
    assert match.relation == "part_of"
    assert match.note


def test_a_place_in_a_country_never_crashes_or_turns_into_an_average():
    try:
        match = zone_match("stockholm county", hint="SE")
    except UnknownNameError as error:
        assert "\n" not in str(error)
    else:
        assert match.zone.zone_id == "SWE"
        assert match.note


def test_stockholm_is_near_what_recent_sources_say():
    assert cloud_region("aws", "eu-north-1").country_zone_id == "SWE"
    assert zone("aws eu-north-1").zone_id == "SWE"
    assert 10 <= factors_for("SWE", "location")[-1].value <= 50


@pytest.mark.parametrize(("name", "hint"), [("us-east-1", "aws"), ("Virginia", "US"), ("US-VA", None)])
def test_virginia_by_region_name_and_code(name, hint):
    match = zone_match(name, hint=hint)
    assert match.zone.zone_id == "SRVC"
    assert "Virginia" in f"{match.note} {match.given} {match.zone.name}"


def test_a_misspelt_place_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="Virginia"):
        zone("virgina", hint="US")


def test_georgia_is_a_country_and_a_state():
    with pytest.raises(AmbiguousNameError):
        zone("Georgia")


@pytest.mark.parametrize("name", ["Atlantis", ""])
def test_no_place_is_no_place(name):
    with pytest.raises(UnknownNameError):
        zone(name)
