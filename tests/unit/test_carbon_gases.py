"""Gases, leaks and fuels: one GWP set per sum, litres and heat agree, nothing is taken silently."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.carbon.combustion import combustion
from energy.carbon.greenhouse_gases import co2_equivalent, leak
from energy.catalogue.fuels import all_fuels, all_upstream, fuel, technologies, technology_sets, upstream
from energy.catalogue.gases import GWP_SETS, all_refrigerants, gas, gwp, refrigerant
from energy.errors import FactorError, UnitError, UnknownNameError
from energy.provenance import combine
from energy.units import quantity as q

AMOUNTS = st.floats(0, 1e9)


@given(co2=AMOUNTS, ch4=AMOUNTS, n2o=AMOUNTS, gwp_set=st.sampled_from(GWP_SETS))
def test_co2_equivalents_are_the_weighted_sum_whatever_the_unit_of_mass(co2, ch4, n2o, gwp_set):
    in_kg = {"CO2": q(co2, "kg"), "CH4": q(ch4, "kg"), "N2O": q(n2o, "kg")}
    in_lb = {name: q(amount.magnitude / 0.45359237, "lb") for name, amount in in_kg.items()}
    first, basis = co2_equivalent(in_kg, gwp_set)
    second, _ = co2_equivalent(in_lb, gwp_set)
    by_hand = co2 + ch4 * gwp("CH4", gwp_set) + n2o * gwp("N2O", gwp_set)
    assert first.magnitude == pytest.approx(by_hand, rel=1e-12)
    assert second.magnitude == pytest.approx(by_hand, rel=1e-12)
    assert basis.gwp_set == gwp_set


def test_the_basis_of_co2_alone_has_no_gwp_set_and_two_sets_do_not_combine():
    _, only = co2_equivalent({"CO2": q(1.0, "kg")}, "AR5")
    assert (only.gases, only.gwp_set) == ("CO2 only", None)
    _, fifth = co2_equivalent({"CH4": q(1.0, "kg")}, "AR5")
    _, sixth = co2_equivalent({"CH4": q(1.0, "kg")}, "AR6")
    with pytest.raises(Exception, match="gwp_set differs"):
        combine(fifth, sixth)


@pytest.mark.parametrize(
    ("gases", "gwp_set", "kind", "says"),
    [
        ({}, "AR6", FactorError, "no gas at all"),
        ({"CH4": 3.0}, "AR6", UnitError, "number without unit"),
        ({"CO2": q(1.0, "kg"), "CH4": q(1.0, "kg/MWh_generation")}, "AR6", UnitError, "per the same thing"),
        ({"CH5": q(1.0, "kg")}, "AR6", UnknownNameError, "Nearest"),
        ({"CH4": q(1.0, "kg")}, "AR7", UnknownNameError, "AR4, AR5, AR6"),
    ],
)
def test_wrong_gases_are_refused_in_one_line(gases, gwp_set, kind, says):
    with pytest.raises(kind, match=says) as refused:
        co2_equivalent(gases, gwp_set)
    assert "\n" not in str(refused.value)


def test_blends_equal_the_weighted_sum_of_their_parts_where_these_are_known():
    checked = 0
    for one in all_refrigerants():
        parts = [part.strip().rsplit(" ", 1) for part in one.composition]
        try:
            sums = [
                sum(gwp(name, report) * float(share.rstrip("%")) / 100 for name, share in parts)
                for report in ("AR5", "AR6")
            ]
        except (UnknownNameError, FactorError):
            continue
        assert sums == pytest.approx([one.gwp100_ar5, one.gwp100_ar6], rel=1e-3), one.refrigerant
        checked += 1
    assert checked >= 10


@pytest.mark.parametrize("name", ["R134a", "r-134A", "R 134a"])
def test_spellings_of_a_refrigerant_mean_one(name):
    assert refrigerant(name).refrigerant == "R-134a"


def test_two_similar_refrigerants_stay_apart():
    assert refrigerant("R-1234ze(E)").gwp100_ar6 != refrigerant("R-1234yf").gwp100_ar6
    assert refrigerant("R-744").refrigerant == refrigerant("CO2").refrigerant
    with pytest.raises(UnknownNameError, match="Nearest"):
        refrigerant("R-135a")


def test_a_recalled_potential_shows_as_an_estimate():
    assert leak("R-1234yf", q(1.0, "kg"), "AR6").refrigerant.status == "estimate"
    assert leak("R-32", q(1.0, "kg"), "AR6").refrigerant.status == "derived"


@pytest.mark.parametrize(
    ("mass", "gwp_set", "says"),
    [
        (q(-1.0, "kg"), "AR6", "zero or more"),
        (q(float("nan"), "kg"), "AR6", "zero or more"),
        (q(1.0, "kg"), "AR4", "AR5"),
    ],
)
def test_wrong_leaks_are_refused(mass, gwp_set, says):
    with pytest.raises(FactorError, match=says):
        leak("R-32", mass, gwp_set)
    with pytest.raises(UnitError, match="kilograms"):
        leak("R-32", q(1.0, "kgCO2e"), "AR6")


@given(litres=st.just(0.0) | st.floats(1e-9, 1e7))
def test_diesel_by_the_litre_and_by_its_heat_emit_the_same(litres):
    by_volume = combustion("diesel", q(litres, "L"), "AR6")
    by_heat = combustion("diesel", by_volume.heat, "AR6")
    assert by_volume.emissions.magnitude == pytest.approx(by_heat.emissions.magnitude, rel=1e-12)
    assert by_volume.emissions.magnitude >= litres * 2.697 * 0.9999


def test_co2_of_biomass_stands_apart_and_its_other_gases_inside():
    for one in all_fuels():
        burnt = combustion(one.fuel, q(np.array([1.0, 2.0]), "MMBtu"), "AR5")
        others = one.ch4_g_per_mmbtu / 1000 * 28 + one.n2o_g_per_mmbtu / 1000 * 265
        fossil = 0.0 if one.is_biogenic else one.co2_kg_per_mmbtu
        assert burnt.emissions.magnitude.tolist() == pytest.approx([fossil + others, 2 * (fossil + others)])
        assert burnt.biogenic_co2.magnitude[0] == pytest.approx(one.co2_kg_per_mmbtu - fossil)


def test_electricity_is_no_heat_and_litres_need_a_factor():
    with pytest.raises(UnitError, match="efficiency"):
        combustion("diesel", q(10.0, "kWh_facility"), "AR6")
    with pytest.raises(FactorError, match="per litre"):
        combustion("propane", q(10.0, "L"), "AR6")
    with pytest.raises(UnknownNameError, match="diesel"):
        combustion("deisel", q(10.0, "L"), "AR6")
    with pytest.raises(FactorError, match="zero or more"):
        combustion("diesel", q(-1.0, "L"), "AR6")


def test_a_fuel_without_a_factor_is_not_a_fuel_with_factor_zero():
    with pytest.raises(UnknownNameError):
        fuel("hydrogen")
    assert all(one.co2_kg_per_mmbtu > 0 for one in all_fuels())


def test_every_set_of_technologies_has_what_its_name_says():
    for publication, boundary in technology_sets():
        found = technologies(publication, boundary)
        assert {one.boundary for one in found.values()} == {boundary}
        assert all(one.value_gco2e_per_kwh >= 0 for one in found.values())
    direct, lifecycle = (technologies("Electricity Maps defaults", kind) for kind in ("direct", "lifecycle"))
    assert all(lifecycle[name].value_gco2e_per_kwh >= direct[name].value_gco2e_per_kwh for name in direct)
    with pytest.raises(FactorError, match="IPCC AR5"):
        technologies("IPCC AR9", "lifecycle")


def test_upstream_factors_are_named_by_unit_and_refused_without():
    assert {one.per_unit for one in all_upstream() if one.item == "diesel"} == {"t", "L", "kWh LHV", "kWh HHV"}
    with pytest.raises(FactorError, match="Nearest"):
        upstream("diesel", "well to tank", "gal")


def test_methane_says_that_other_potentials_exist():
    assert "29.8" in gas("CH4").note


def test_diesel_by_the_gallon_is_what_the_epa_prints():
    """10.21 kg CO2 per US gallon (EPA emission factors hub, read)."""
    found = combustion("diesel", q(1.0, "gal"), "AR5")
    masses = {name: mass.to("kg").magnitude for name, mass in found.gases.items()}
    assert masses["CO2"] == pytest.approx(10.21, rel=1e-3)
    assert masses["CH4"] == pytest.approx(0.138 * 3.0 / 1000.0, rel=0.01)  # 0.138 MMBtu per gallon
    total = masses["CO2"] + 28.0 * masses["CH4"] + 265.0 * masses["N2O"]
    assert found.emissions.magnitude == pytest.approx(total, rel=1e-9)
    assert (found.basis.boundary, found.basis.gwp_set) == ("direct", "AR5")
