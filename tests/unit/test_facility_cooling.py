"""Cooling by hour: a published example, what must always hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.errors import FacilityError, UnknownNameError
from energy.facility.cases import all_cases, case, curves, split
from energy.facility.cooling import Outdoors
from energy.facility.design import Design, LiquidDesign
from energy.facility.plant import Plant, System
from energy.facility.power_chain import FractionChain
from energy.facility.reuse import Reuse
from energy.facility.site_year import Facility, facility_hours
from energy.weather import psychrometrics as air

CASES = [one.case_id for one in all_cases()]
WET = [
    one.case_id for one in all_cases() if one.system.chiller == "water_cooled" and one.system.economiser != "airside"
]


def outdoors(dry_c, humidity, pressure_pa=101_325.0):
    dry = np.atleast_1d(np.asarray(dry_c, dtype=float))
    ratio = air.humidity_ratio(dry, humidity, pressure_pa)
    return Outdoors(dry, air.wet_bulb_c(dry, ratio, pressure_pa), ratio, np.full(dry.shape, pressure_pa))


def design(case_id, **changed):
    return Design(**{"name": case_id, "case_id": case_id, "rated_it_kw": 1000.0, "it_load": 1.0, **changed})


def hours(case_id, air_outside, load=1.0, **changed):
    facility = design(case_id, **changed).facility()
    share = None if facility.reuse is None else np.full(air_outside.dry_bulb_c.shape, 0.4)
    return facility_hours(facility, air_outside, np.full(air_outside.dry_bulb_c.shape, load), share)


# Inputs and result of the example that the authors of the published model print for a midsize hall with waterside
# economiser: 9 C, 10 % relative humidity.
EXAMPLE = {
    "ups_efficiency": 0.894746094,
    "distribution_loss_fraction": 0.0284082031,
    "lighting_fraction": 0.0472167969,
    "sensible_heat_ratio": 0.951835937,
    "air_rise_k": 9.49707031,
    "air_fan_pressure_pa": 650.488281,
    "air_fan_efficiency": 0.613867188,
    "humidifier_pump_pressure_pa": 6.41894531e6,
    "humidifier_pump_efficiency": 0.650976563,
    "coil_effectiveness": 0.690283203,
    "chilled_water_rise_k": 6.91894531,
    "tower_approach_k": 3.35986328,
    "exchanger_approach_k": 2.10712891,
    "economiser_pump_pressure_pa": 1.56284191e5,
    "economiser_pump_efficiency": 0.668945312,
    "chilled_pump_pressure_pa": 1.71884552e5,
    "chilled_pump_efficiency": 0.745117188,
    "chiller_part_load": 0.308984375,
    "tower_range_k": 5.09960938,
    "tower_pump_pressure_pa": 2.46235102e5,
    "tower_pump_efficiency": 0.708007812,
    "drift_fraction": 0.00293588867,
    "cycles_of_concentration": 11.1650391,
    "tower_water_to_air": 0.272070313,
    "tower_fan_pressure_pa": 395.898438,
    "tower_fan_efficiency": 0.611914063,
    "supply_high_c": 28.7041016,
    "supply_low_c": 15.4423828,
    "cop_spread": -0.0917968750,
    "fan_heat_fraction": 0.0,
    "fan_exponent": 2.7,
    "fan_floor": 0.25,
}
EXAMPLE_PUE, EXAMPLE_WUE = 1.339160993824991, 2.417390377483526


def test_the_published_example_comes_out():
    plant, fractions = split(EXAMPLE)
    facility = Facility(System("water_cooled", "waterside"), plant, FractionChain(**fractions))
    found = facility_hours(facility, outdoors(9.0, 0.10), np.ones(1))
    assert found.heat["chiller"][0] == 0.0  # the economiser carries all at this wet bulb
    assert found.facility[0] == pytest.approx(EXAMPLE_PUE, abs=6e-4)
    # the example leaves the latent heat out of its tower, and we do not: the tower's water is 1/SHR of its
    moisture = 3600.0 * found.water["humidified"][0]
    tower = found.withdrawn_l_per_h[0] - moisture
    assert tower * EXAMPLE["sensible_heat_ratio"] + moisture == pytest.approx(EXAMPLE_WUE, rel=1e-3)


@pytest.mark.parametrize("case_id", CASES)
@settings(deadline=None, max_examples=60)
@given(dry_c=st.floats(-30.0, 48.0), humidity=st.floats(0.02, 1.0), load=st.floats(0.05, 1.0))
def test_pue_is_at_least_one_and_every_part_is_no_less_than_zero(case_id, dry_c, humidity, load):
    found = hours(case_id, outdoors(dry_c, humidity), load)
    assert found.facility[0] >= load
    for part in (*found.parts.values(), *found.water.values()):
        assert np.all(part >= 0.0)


@pytest.mark.parametrize("case_id", WET)
@settings(deadline=None, max_examples=60)
@given(dry_c=st.floats(-20.0, 45.0), one=st.floats(0.02, 1.0), other=st.floats(0.02, 1.0))
def test_a_hotter_wet_bulb_never_lowers_water_cooled_pue(case_id, dry_c, one, other):
    low, high = (hours(case_id, outdoors(dry_c, humidity)).facility[0] for humidity in sorted((one, other)))
    assert low <= high + 1e-9


@pytest.mark.parametrize("case_id", WET)
@settings(deadline=None, max_examples=60)
@given(one=st.floats(-20.0, 45.0), other=st.floats(-20.0, 45.0), humidity=st.floats(0.05, 1.0))
def test_a_hotter_hour_of_equal_humidity_never_lowers_water_cooled_pue(case_id, one, other, humidity):
    low, high = (hours(case_id, outdoors(dry_c, humidity)).facility[0] for dry_c in sorted((one, other)))
    assert low <= high + 1e-6


LIQUID = LiquidDesign("direct_to_chip", "as built", "dry_cooler", "water_cooled")


@pytest.mark.parametrize("case_id", CASES)
@pytest.mark.parametrize("wet", [False, True])
@settings(deadline=None, max_examples=60)
@given(dry_c=st.floats(-20.0, 45.0), humidity=st.floats(0.05, 1.0), load=st.floats(0.1, 1.0))
def test_energy_and_water_balance_in_each_hour(case_id, wet, dry_c, humidity, load):
    changed = {}
    if wet and case(case_id).system.chiller == "water_cooled":
        changed = {"liquid": LIQUID, "reuse": Reuse(0.4, 60.0, 3.0, 0.5)}
    found = hours(case_id, outdoors(dry_c, humidity), load, **changed)
    heat = {name: float(np.sum(value)) for name, value in found.heat.items()}
    into = heat["hall"] + heat["latent"] + heat.get("captured", 0.0)
    out = sum(heat.get(name, 0.0) for name in ("outside_air", "economiser", "chiller", "reused_of_loop"))
    assert into == pytest.approx(out, abs=1e-12)
    work = float(np.sum(found.parts.get("chiller", 0.0)))
    leaves = heat.get("tower", 0.0) + heat.get("condenser", 0.0)
    assert leaves == pytest.approx(heat.get("economiser", 0.0) + heat.get("chiller", 0.0) + work, abs=1e-12)
    blow_down = 3600.0 * np.sum(found.water.get("blow_down", 0.0))
    assert float(np.sum(found.withdrawn_l_per_h - found.consumed_l_per_h)) == pytest.approx(blow_down, abs=1e-12)
    assert found.facility[0] == pytest.approx(load + sum(float(np.sum(part)) for part in found.parts.values()))


def test_evaporation_carries_the_tower_heat():
    found = hours("midsize_water_cooled", outdoors(25.0, 0.5))
    plant = design("midsize_water_cooled").facility().plant
    mean_c = outdoors(25.0, 0.5).wet_bulb_c + plant.of("tower_approach_k") + plant.of("tower_range_k") / 2.0
    latent = 2500.5 - 2.3097 * mean_c - 0.0013 * mean_c**2
    assert found.water["evaporated"] * latent == pytest.approx(found.heat["tower"])


def test_outside_air_carries_all_or_nothing_by_its_window():
    warm, cold, dry, damp = (
        hours("midsize_water_cooled_airside", outdoors(dry_c, humidity)).heat["chiller"][0]
        for dry_c, humidity in ((40.0, 0.2), (12.0, 0.6), (12.0, 0.03), (24.0, 0.98))
    )
    assert cold == 0.0
    assert min(warm, dry, damp) > 1.0


def test_dry_air_is_moistened_where_the_plant_can_and_takes_no_chiller():
    found = hours("large_airside_adiabatic", outdoors(20.0, 0.05))
    assert found.heat["chiller"][0] == 0.0
    assert found.water["humidified"][0] > 0.0


def test_hours_outside_a_curve_are_marked():
    found = hours("midsize_air_cooled", outdoors([20.0, 41.0], 0.2))
    assert found.outside_fit["air-cooled chiller above 35 C"].tolist() == [False, True]


def test_chillers_are_worse_when_hotter_even_beyond_the_fit():
    temperatures = np.linspace(-10.0, 60.0, 141)
    for curve in curves().values():
        for load in (0.1, 0.25, 0.6, 1.0):
            cop = curve.cop(temperatures, np.array(load))
            assert np.all(np.diff(cop) <= 1e-9)
            assert np.all(cop > 0.0)


def test_what_the_plant_lacks_is_named():
    with pytest.raises(FacilityError, match="does not state air_rise_k"):
        Plant().of("air_rise_k")
    with pytest.raises(FacilityError, match="Nearest: supply_high_c"):
        design("hyperscale", values={"suply_high_c": 25.0})
    with pytest.raises(UnknownNameError, match="hyperscale"):
        design("hyperscal")
    with pytest.raises(FacilityError, match="leaves hours without cooling"):
        System("none", "airside")
    with pytest.raises(FacilityError, match="no chilled water"):
        System("direct_expansion", "waterside")
    with pytest.raises(FacilityError, match="needs the economiser airside"):
        System("water_cooled", "none", adiabatic=True)


def test_every_case_states_what_its_system_needs():
    for one in all_cases():
        plant, _ = split(one.middle())
        for name in one.system.needed:
            assert plant.of(name) is not None
