"""Indicators of ISO/IEC 30134: ratios of sums over one boundary, refused where they would be no such thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import FacilityError, UnitError
from energy.facility.indicators import (
    carbon_usage_effectiveness,
    energy_reuse_factor,
    off_site_water,
    power_usage_effectiveness,
    renewable_energy_factor,
    water_usage_effectiveness,
)
from energy.units import quantity as q

SOME = st.floats(1e-3, 1e9)


@given(it=SOME, more=st.floats(0, 10))
def test_pue_does_not_depend_on_units_and_is_at_least_one(it, more):
    in_kwh = power_usage_effectiveness(q(it * (1 + more), "kWh_facility"), q(it, "kWh_it"))
    in_gwh = power_usage_effectiveness(q(it * (1 + more) / 1e6, "GWh_facility"), q(it / 1e3, "MWh_it"))
    assert in_kwh.magnitude == pytest.approx(1 + more)
    assert in_gwh.magnitude == pytest.approx(1 + more)


def test_a_year_is_energy_over_energy():
    monthly = power_usage_effectiveness(
        q(np.array([11.0, 150.0]), "kWh_facility"), q(np.array([10.0, 100.0]), "kWh_it")
    )
    year = power_usage_effectiveness(q(161.0, "kWh_facility"), q(110.0, "kWh_it"))
    assert monthly.magnitude.tolist() == pytest.approx([1.1, 1.5])
    assert year.magnitude == pytest.approx(161 / 110)


@pytest.mark.parametrize("it", [0.0, -1.0, float("nan")])
def test_an_indicator_without_energy_of_it_is_refused(it):
    for call in (
        lambda: power_usage_effectiveness(q(1.0, "kWh_facility"), q(it, "kWh_it")),
        lambda: water_usage_effectiveness(q(1.0, "L"), q(it, "kWh_it")),
        lambda: carbon_usage_effectiveness(q(1.0, "kgCO2e"), q(it, "kWh_it")),
    ):
        with pytest.raises(FacilityError, match="above zero"):
            call()


def test_pue_below_one_and_reuse_above_one_are_refused():
    with pytest.raises(FacilityError, match="cannot take less"):
        power_usage_effectiveness(q(9.0, "kWh_facility"), q(10.0, "kWh_it"))
    with pytest.raises(FacilityError, match="no more can be reused"):
        energy_reuse_factor(q(11.0, "kWh_facility"), q(10.0, "kWh_facility"))
    with pytest.raises(FacilityError, match="zero or more"):
        water_usage_effectiveness(q(-1.0, "L"), q(10.0, "kWh_it"))


def test_renewable_energy_counts_up_to_what_the_site_takes():
    assert renewable_energy_factor(q(20.0, "kWh_facility"), q(10.0, "kWh_facility")).magnitude == 1.0


def test_water_of_the_site_is_not_multiplied_by_pue_and_water_of_the_grid_is():
    pue = q(1.3, "kWh_facility/kWh_it")
    assert off_site_water(q(100.0, "kWh_it"), pue, q(3.0, "L/kWh_facility")).magnitude == pytest.approx(390.0)
    with pytest.raises(UnitError):
        off_site_water(q(130.0, "kWh_facility"), pue, q(3.0, "L/kWh_facility"))
    with pytest.raises(UnitError):
        water_usage_effectiveness(q(50.0, "L"), q(130.0, "kWh_facility"))
