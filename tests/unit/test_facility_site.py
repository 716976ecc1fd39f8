"""A described site through a year: annual ratios, power chain, liquid cooling, heat reuse, leaks, YAML, command."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy import cli
from energy.errors import EnergyError, FacilityError, UnknownNameError
from energy.facility.cases import all_cases
from energy.facility.description import design_of, weather_of
from energy.facility.design import Design, LiquidDesign
from energy.facility.liquid import all_liquids, loop, server_power
from energy.facility.operators import published
from energy.facility.power_chain import loss_curves, stage, unit_losses, usual_chain
from energy.facility.refrigerants import leakage
from energy.facility.results import (
    annual_range,
    facility_year,
    liquid_against_air,
    pue_and_range_by_hour,
    ratios_by_hour,
)
from energy.facility.reuse import Reuse, reuse_heat
from energy.units import quantity
from energy.weather.synthesis import synthesised_year

MONTHS = [0.0, 2.0, 7.0, 12.0, 17.0, 22.0, 25.0, 24.0, 20.0, 13.0, 7.0, 2.0]


@pytest.fixture(scope="module")
def weather():
    return synthesised_year(
        place="a town",
        mean_temp_c=MONTHS,
        daily_range_k=[10.0] * 12,
        relative_humidity=[0.65] * 12,
        elevation_m=100.0,
        source="test",
        seed=3,
    )


def design(**changed):
    return Design(**{"name": "a", "case_id": "midsize_waterside", "rated_it_kw": 1000.0, "it_load": 0.8, **changed})


def liquid(technology="direct_to_chip", **changed):
    parts = {"technology": technology, "it_power": "air-cooled", "heat_sink": "dry_cooler", "chiller": "water_cooled"}
    return LiquidDesign(**{**parts, **changed})


def test_annual_pue_is_energy_over_energy_and_parts_add_up(weather):
    load = np.linspace(0.3, 1.0, 8760)
    year = facility_year(design(it_load=load, stages=usual_chain()), weather)
    annual = year.annual
    assert annual.pue == pytest.approx(year.facility_kw.sum() / year.it_kw.sum())
    assert abs(annual.pue - year.pue.mean()) > 1e-4  # the mean of hourly ratios is another number
    assert sum(annual.energy_by_part_kwh.values()) == pytest.approx(annual.energy_facility_kwh)
    assert annual.energy_it_kwh == pytest.approx(load.sum() * 1000.0)
    assert annual.wue_consumed_l_per_kwh_it <= annual.wue_withdrawn_l_per_kwh_it
    assert annual.water_withdrawn_l == pytest.approx(float(np.nansum(year.wue_withdrawn_l_per_kwh_it * year.it_kw)))


@pytest.mark.parametrize("case_id", [one.case_id for one in all_cases()])
def test_doubling_load_and_plant_changes_no_ratio(weather, case_id):
    one, two = (facility_year(design(case_id=case_id, rated_it_kw=size), weather).annual for size in (1000.0, 2000.0))
    assert two.pue == pytest.approx(one.pue, rel=1e-12)
    assert two.wue_withdrawn_l_per_kwh_it == pytest.approx(one.wue_withdrawn_l_per_kwh_it, rel=1e-12)
    assert two.energy_facility_kwh == pytest.approx(2.0 * one.energy_facility_kwh)


def test_fixed_losses_weigh_more_at_part_load_and_fans_less(weather):
    years = [facility_year(design(it_load=load, stages=usual_chain()), weather).annual for load in (0.1, 0.5, 1.0)]
    shares = {
        name: [year.energy_by_part_kwh[name] / year.energy_it_kwh for year in years]
        for name in ("ups", "lighting", "air_fans")
    }
    for name in ("ups", "lighting"):
        assert shares[name][0] > shares[name][1] > shares[name][2]
    assert shares["lighting"][1] == pytest.approx(2.0 * shares["lighting"][2])
    assert shares["air_fans"][1] < shares["air_fans"][2]
    assert years[0].pue > years[1].pue


def test_hours_without_weather_are_left_out_and_said(weather):
    from dataclasses import replace

    gap = weather.dry_bulb_c.copy()
    gap[:100] = np.nan
    holed = replace(weather, dry_bulb_c=gap, wet_bulb_c=np.where(np.isnan(gap), np.nan, weather.wet_bulb_c))
    year = facility_year(design(), holed)
    assert year.annual.missing_h == 100
    assert np.isnan(year.pue[:100]).all()
    assert year.annual.energy_it_kwh == pytest.approx(8660 * 800.0)
    assert any("left out" in note for note in year.notes)


def test_the_range_holds_the_middle_and_is_reproducible(weather):
    one = annual_range(design(it_load=1.0), weather, samples=64)
    again = annual_range(design(it_load=1.0), weather, samples=64)
    assert one == again
    assert one.pue[0] < one.pue[1] < one.pue[2]
    assert one != annual_range(design(it_load=1.0), weather, samples=64, seed=2)
    narrow = annual_range(design(it_load=1.0, values={"ups_efficiency": 0.9}), weather, samples=64)
    assert narrow.pue[2] - narrow.pue[0] < one.pue[2] - one.pue[0]


# --- power chain


@settings(deadline=None)
@given(st.floats(0.01, 1.0))
def test_two_sets_lose_more_than_one_at_part_load(load):
    curve = loss_curves()["ups_double_conversion_modern"]
    parts = (curve.no_load, curve.proportional, curve.square)
    one, two = (
        unit_losses(quantity(load, "kW_facility"), quantity(1.0, "kW_facility"), *parts, units).magnitude
        for units in (1.0, 2.0)
    )
    assert one == pytest.approx(0.010 + load * (0.010 + 0.015 * load))
    assert two == pytest.approx(2 * (0.010 + load / 2 * (0.010 + 0.015 * load / 2)))


def test_stages_stand_in_series_and_the_transformer_carries_cooling_too(weather):
    year = facility_year(design(stages=usual_chain()), weather)
    parts = year.hours.parts
    curve = loss_curves()["ups_double_conversion_modern"]
    through = year.hours.it + parts["wiring"]
    share = through / (1.1 * 1.25)
    expected = 1.1 * 1.25 * (curve.no_load + share * (curve.proportional + share * curve.square))
    assert parts["ups"] == pytest.approx(expected)
    before = year.hours.facility - parts["transformer"]
    other = loss_curves()["dry_type_transformer_modern"]
    share = before / 1.7
    assert parts["transformer"] == pytest.approx(1.7 * (other.no_load + other.square * share**2))


def test_an_overloaded_stage_is_refused(weather):
    small = (stage("ups", "ups_eco_mode", size=0.5),)
    with pytest.raises(FacilityError, match="size of at least"):
        facility_year(design(stages=small), weather)
    with pytest.raises(UnknownNameError, match="Nearest: ups_eco_mode"):
        stage("ups", "ups_eco", size=1.0)
    with pytest.raises(FacilityError, match="no effect"):
        design(stages=usual_chain(), values={"ups_efficiency": 0.9})


# --- liquid cooling


def test_liquid_cooling_saves_total_power_and_shows_the_fans(weather):
    found = liquid_against_air(design(liquid=liquid()), weather)
    fans = all_liquids()["air"].server_fan_fraction, all_liquids()["direct_to_chip"].server_fan_fraction
    factor = (1.0 - fans[0]) / (1.0 - fans[1])
    assert found["liquid"].energy_it_kwh == pytest.approx(found["air"].energy_it_kwh * factor)
    assert found["liquid"].energy_facility_kwh < found["air"].energy_facility_kwh
    assert 0.0 < found["energy_saved_fraction"] < 0.4
    with pytest.raises(FacilityError, match="no liquid cooling"):
        liquid_against_air(design(), weather)


def test_as_built_power_is_taken_back_to_air(weather):
    one = liquid_against_air(design(liquid=liquid()), weather)
    built = design(liquid=liquid()).built_it_kw
    other = liquid_against_air(design(rated_it_kw=built, liquid=liquid(it_power="as built")), weather)
    assert other["air"].energy_it_kwh == pytest.approx(one["air"].energy_it_kwh)
    assert other["energy_saved_fraction"] == pytest.approx(one["energy_saved_fraction"])


@pytest.mark.parametrize("technology", [name for name in all_liquids() if name != "air"])
def test_every_technology_computes_and_warm_water_needs_less_chilling(weather, technology):
    parts = {"technology": technology, "chiller": "water_cooled"}
    cold, warm = (
        facility_year(design(liquid=liquid(**parts, values={"supply_c": supply})), weather).annual
        for supply in (18.0, 45.0)
    )
    assert warm.energy_by_part_kwh["chiller"] < cold.energy_by_part_kwh["chiller"]
    assert warm.pue < cold.pue


def test_a_loop_without_chiller_marks_hours_that_are_too_warm(weather):
    cold = facility_year(design(liquid=liquid(chiller="none", values={"supply_c": 20.0})), weather)
    assert any("warmer than the loop asks" in text for text in cold.warnings)
    near = {"dry_cooler_approach_k": 1.0}
    warm = facility_year(design(values=near, liquid=liquid(chiller="none", values={"supply_c": 45.0})), weather)
    assert not any("warmer than the loop asks" in text for text in warm.warnings)


def test_server_power_round_trip_and_refusals():
    there = server_power(quantity(10.0, "kW_it"), 0.12, 0.03)
    assert server_power(there, 0.03, 0.12).magnitude == pytest.approx(10.0)
    with pytest.raises(EnergyError, match="air has no loop"):
        loop("air")
    with pytest.raises(UnknownNameError, match="Nearest: rear_door"):
        loop("reardoor")
    with pytest.raises(FacilityError, match="0 to 1"):
        loop("rear_door", capture_fraction=90.0)


# --- heat reuse and refrigerant


@settings(deadline=None)
@given(st.floats(0.01, 1.0), st.floats(30.0, 60.0), st.floats(30.0, 95.0))
def test_reused_heat_is_what_was_taken_and_the_pump(share, return_c, needed_c):
    found = reuse_heat(Reuse(share, needed_c, 3.0, 0.5), np.array(1.0), np.array(return_c), np.array(share))
    assert found.delivered == pytest.approx(found.taken + found.pump)
    assert found.taken == pytest.approx(share)
    assert (found.pump > 0.0) == (needed_c > return_c - 3.0)


def test_reuse_spares_the_dry_cooler_counts_its_pump_and_not_in_pue_alone(weather):
    wet = {"liquid": liquid("direct_to_chip_rack", chiller="none", values={"supply_c": 40.0})}
    without = facility_year(design(**wet), weather).annual
    reused = facility_year(design(**wet, reuse=Reuse(0.5, 70.0, 3.0, 0.5)), weather).annual
    fans = "dry_cooler_fans"
    assert reused.energy_by_part_kwh[fans] == pytest.approx(0.5 * without.energy_by_part_kwh[fans], rel=1e-6)
    assert reused.energy_by_part_kwh["heat_pump"] > 0.0
    assert 0.0 < reused.erf < 1.0
    assert reused.erf == pytest.approx(reused.heat_reused_kwh / reused.energy_facility_kwh)
    with pytest.raises(FacilityError, match="second_law"):
        facility_year(design(**wet, reuse=Reuse(0.5, 70.0, 3.0)), weather)
    with pytest.raises(FacilityError, match="needs a liquid loop"):
        facility_year(design(reuse=Reuse(0.5, 30.0, 3.0)), weather)
    with pytest.raises(FacilityError, match="twelve"):
        Reuse((0.1, 0.2), 30.0, 3.0)


def test_refrigerant_by_charge_by_heat_and_as_measured():
    by_heat = leakage("chiller", "R-134a", cooling_kw=1000.0)
    assert by_heat.leak_kg_per_y_low < by_heat.leak_kg_per_y < by_heat.leak_kg_per_y_high
    measured = leakage("chiller", "r134a", charge_kg=200.0, leak_fraction_per_y=0.04)
    assert (measured.leak_kg_per_y, measured.status) == (8.0, "given")
    with pytest.raises(FacilityError, match="charge_kg"):
        leakage("chiller", "R-134a")
    with pytest.raises(UnknownNameError, match="chiller"):
        leakage("chillers", "R-134a", charge_kg=1.0)


# --- PUE for other rooms, and as published


def test_pue_by_hour_covers_any_year_and_its_range(weather):
    hours = np.arange("2023-12-31T00", "2024-03-02T00", dtype="datetime64[h]")
    value, low, high = pue_and_range_by_hour(design(it_load=1.0), weather, hours)
    assert value.shape == hours.shape
    assert np.all(low >= 1.0)
    assert np.all((low <= value) & (value <= high))
    again, *_ = pue_and_range_by_hour(design(it_load=1.0), weather, hours[30:40])
    assert np.array_equal(again, value[30:40])


def test_the_hours_of_a_year_have_the_range_of_the_year(weather):
    one = design(it_load=1.0)
    year, bounds = facility_year(one, weather), annual_range(one, weather)
    found = ratios_by_hour(one, weather, weather.start_utc.astype("datetime64[h]"))
    assert np.array_equal(found.pue[0], year.pue)
    for name in ("wue_withdrawn_l_per_kwh_it", "wue_consumed_l_per_kwh_it"):
        value, low, high = getattr(found, name)
        assert np.array_equal(value, getattr(year, name))
        assert np.all((low <= value) & (value <= high))
        assert high.mean() == pytest.approx(max(getattr(bounds, name)[2], value.mean()), rel=1e-9)
        assert low.mean() == pytest.approx(min(getattr(bounds, name)[0], value.mean()), rel=1e-9)


def test_published_figures_are_named_and_never_of_another_year():
    found = published("aws", "us-east-1", 2022)
    assert found.pue == 1.16
    assert "2022" in found.name
    with pytest.raises(FacilityError, match="there are"):
        published("aws", "us-east-1", 2010)


# --- YAML and command


def site(**changed):
    values = {
        "name": "x",
        "case": "hyperscale",
        "rated_it": "2 MW",
        "it_load": 0.7,
        "weather": {
            "place": "p",
            "elevation": "10 m",
            "source": "s",
            "seed": 1,
            "mean_temp_c": MONTHS,
            "daily_range_k": [9.0] * 12,
            "relative_humidity": [0.6] * 12,
        },
    }
    return {**values, **changed}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"coolng": {}}, "Nearest: cooling"),
        ({"rated_it": "2"}, "rated_it"),
        ({"rated_it": "2 MW_facility"}, "rated_it"),
        ({"it_load": "0.7"}, "give a number"),
        ({"it_load": 70}, "0 to 1"),
        ({"case": "hyper"}, "Nearest: hyperscale"),
        ({"cooling": {"supply_hi_c": 20}}, "Nearest: supply_high_c"),
        ({"liquid": {"technology": "rear_door"}}, "it_power is missing"),
        (
            {"power_chain": {"stages": [{"name": "u", "component": "ups_eco_mode", "size": 1, "redundancy": "3N"}]}},
            "2N",
        ),
        ({"cooling": {"coil_effectiveness": 0.8}}, "has no effect"),
        ({"cooling": {"humidity_high": 80}}, "not in percent"),
        ({"cooling": {"air_rise_k": 0}}, "outside"),
        ({"cooling": {"air_rise_k": float("nan")}}, "finite"),
        ({"power_chain": {"stages": [{"name": "u", "component": "ups_eco_mode", "size": 1, "needed": 0.5}]}}, "whole"),
        ({"cooling": {"supply_high_c": 24, "fan_floor": "0.3"}}, "give a number"),
        ({"published": {"provider": "aws", "region": "us-east-1", "year": 1999}}, "published neither"),
        ({"heat_reuse": {"share": 0.2}}, "needed_c is missing"),
        ({"refrigerants": [{"machine": "chiller", "refrigerant": "R-9999", "charge": "3 kg"}]}, "R-9999"),
    ],
)
def test_what_a_site_file_says_wrong_is_one_line(changed, words):
    with pytest.raises(EnergyError, match=words) as caught:
        design_of(site(**changed), "x.yaml")
    assert "\n" not in str(caught.value)


def test_weather_of_a_site_is_a_file_or_normals_never_nothing(tmp_path):
    assert weather_of(site(), "x.yaml", tmp_path).hours == 8760
    assert weather_of(site(weather={"place": "Frankfurt", "year": 2024}), "x.yaml", tmp_path).hours == 8784
    with pytest.raises(EnergyError, match="Nearest"):
        weather_of(site(weather={"place": "Frankfort"}), "x.yaml", tmp_path)
    lacking = site()
    del lacking["weather"]
    with pytest.raises(FacilityError, match="weather is missing"):
        weather_of(lacking, "x.yaml", tmp_path)
    (tmp_path / "w.csv").write_text("start_utc,dry_bulb_c,relative_humidity_pct\n2026-01-01T00:00Z,5,80\n")
    named = {"place": "p", "elevation": "10 m", "source": "s", "file": "w.csv", "kind": "historical"}
    assert weather_of(site(weather=named), "x.yaml", tmp_path).hours == 1


def run(capsys, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["energy", *words])
    code = 0
    try:
        cli.main()
    except SystemExit as error:
        code = int(error.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("name", ["ashburn", "phoenix_liquid", "frankfurt_reuse"])
def test_worked_sites_compute(capsys, monkeypatch, name):
    code, out, _ = run(capsys, monkeypatch, "facility", name, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["schema"] == "facility/1"
    low, _, high = found["ranges_p05_p50_p95"]["pue"]
    assert 1.0 < low <= found["annual"]["pue"] <= high
    assert (found["liquid_against_air"] is None) == (name == "ashburn")


def test_the_command_writes_hours_and_says_what_is_wrong_in_one_line(capsys, monkeypatch, tmp_path):
    out = tmp_path / "hours.csv"
    code, text, _ = run(capsys, monkeypatch, "facility", "ashburn", "--year", "2024", "--hours", str(out))
    assert code == 0
    assert "PUE" in text
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 8784
    first = {name: float(value) for name, value in rows[0].items() if name.startswith("power_")}
    parts = sum(value for name, value in first.items() if name not in ("power_it_kw", "power_facility_kw"))
    assert first["power_facility_kw"] == pytest.approx(first["power_it_kw"] + parts, rel=1e-6)
    code, _, error = run(capsys, monkeypatch, "facility", "ashbrn")
    assert code == 1
    assert error.count("\n") == 1
    assert "Nearest: ashburn" in error


def test_the_thermal_class_of_each_supply_is_noted(weather):
    year = facility_year(design(values={"supply_high_c": 31.0}, liquid=liquid(values={"supply_c": 40.0})), weather)
    assert any("class A1" in note for note in year.notes)
    assert any("class W40" in note for note in year.notes)
    hot = facility_year(design(values={"supply_high_c": 60.0}), weather)
    assert any("hotter than any thermal class" in note for note in hot.notes)
