"""Category 3, hourly matching, mixes, trade between zones, software intensity: laws, and refusals in one line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from energy.carbon.category3 import (
    losses_of_electricity,
    lost_of_consumption,
    lost_of_output,
    upstream_of_electricity,
)
from energy.carbon.matching import avoided, effective_intensity, hourly_matched
from energy.carbon.mix import mix_intensity, traded_intensity
from energy.carbon.software import embodied_share, software_carbon_intensity
from energy.errors import BasisError, FactorError, UnitError
from energy.provenance import Basis
from energy.units import quantity as q

PER_KWH = "gCO2e/kWh_facility"


@given(energy=st.floats(0, 1e9), loss=st.floats(0, 0.9))
def test_losses_of_output_and_of_consumption_are_one_thing_in_two_bases(energy, loss):
    of_output = lost_of_output(q(energy, "kWh_facility"), loss)
    of_consumption = lost_of_consumption(q(energy, "kWh_facility"), loss / (1 - loss)) if loss < 0.5 else of_output
    assert of_output.magnitude == pytest.approx(of_consumption.magnitude, rel=1e-9)
    assert (of_output.magnitude + energy) * loss == pytest.approx(of_output.magnitude, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("loss", [1.0, -0.1, 5.0, float("nan")])
def test_a_loss_that_is_no_fraction_is_refused(loss):
    with pytest.raises(FactorError, match=r"5 % is 0\.05"):
        lost_of_output(q(1.0, "kWh_facility"), loss)


def test_category_3_refuses_factors_that_do_not_belong_together_and_wrong_boundaries():
    with pytest.raises(FactorError, match="one place, year and set"):
        upstream_of_electricity(q(1.0, "kWh_facility"), q(300.0, PER_KWH), q(400.0, PER_KWH))
    with pytest.raises(UnitError):
        upstream_of_electricity(q(1.0, "kWh_it"), q(450.0, PER_KWH), q(400.0, PER_KWH))
    with pytest.raises(UnitError):
        losses_of_electricity(q(1.0, "kWh_facility"), q(400.0, "gCO2e/kWh_generation"))


hours = st.integers(1, 30)
positive = st.floats(0, 1000)


@st.composite
def matched(draw):
    count, ways = draw(hours), draw(st.integers(0, 3))
    return (
        draw(hnp.arrays(np.float64, count, elements=positive)),
        draw(hnp.arrays(np.float64, (ways, count), elements=positive)),
        draw(hnp.arrays(np.float64, ways, elements=positive)),
    )


@given(case=matched())
def test_hourly_matching_conserves_energy_in_every_hour_and_carries_no_surplus(case):
    load, supply, rates = case
    found = hourly_matched(load, supply, rates, 500.0)
    assert found.covered_mwh.sum(axis=0) + found.uncovered_mwh == pytest.approx(load)
    assert found.covered_mwh.sum(axis=0) + found.surplus_mwh == pytest.approx(supply.sum(axis=0))
    assert (found.covered_mwh <= supply + 1e-9).all()
    assert (np.minimum(found.uncovered_mwh, found.surplus_mwh) < 1e-6).all()
    assert found.emissions_kgco2e == pytest.approx(
        (found.covered_mwh * rates[:, None]).sum(axis=0) + found.uncovered_mwh * 500.0
    )
    assert found.basis.method == "hourly"
    assert "not in force" in found.label


@given(case=matched())
def test_clean_hourly_matching_never_beats_clean_annual_matching(case):
    load, supply, rates = case
    hourly = hourly_matched(load, supply, np.zeros_like(rates), 500.0).emissions_kgco2e.sum()
    annual = max(load.sum() - supply.sum(), 0.0) * 500.0
    assert hourly >= annual - 1e-6


def test_hourly_matching_refuses_unknown_hours_and_shapes():
    with pytest.raises(FactorError, match="negative or not a number"):
        hourly_matched([1.0, np.nan], [[1.0, 1.0]], [0.0], 500.0)
    with pytest.raises(FactorError, match=r"\(h,\), \(n, h\), \(n,\)"):
        hourly_matched([1.0, 2.0], [[1.0]], [0.0], 500.0)


def test_avoided_keeps_negative_marginal_rates_and_refuses_unknown_hours():
    per = q(np.array([-100.0, 300.0]), PER_KWH)
    assert avoided(q(np.array([1.0, -1.0]), "kWh_facility"), per).magnitude == pytest.approx(-0.4)
    with pytest.raises(FactorError, match="not known"):
        avoided(q(np.array([1.0, np.nan]), "kWh_facility"), per)
    with pytest.raises(FactorError, match="fraction"):
        effective_intensity(q(400.0, PER_KWH), 93.0)


@given(
    coal=hnp.arrays(np.float64, 5, elements=st.floats(0, 100)),
    wind=hnp.arrays(np.float64, 5, elements=st.floats(0.01, 100)),
)
def test_the_intensity_of_a_mix_lies_between_its_parts_and_does_not_depend_on_scale(coal, wind):
    found = mix_intensity({"coal": coal, "wind": wind})
    assert ((found.intensity_gco2e_per_kwh >= 11.0 - 1e-9) & (found.intensity_gco2e_per_kwh <= 820.0 + 1e-9)).all()
    again = mix_intensity({"coal": 7 * coal, "wind": 7 * wind})
    assert again.intensity_gco2e_per_kwh == pytest.approx(found.intensity_gco2e_per_kwh)


def test_negative_unknown_and_stored_generation_follow_their_rules_and_are_counted():
    nan = float("nan")
    found = mix_intensity(
        {
            "coal": [100.0, -5.0, nan, nan],
            "wind": [0.0, 100.0, 100.0, nan],
            "hydro pumped storage": [9.0, 9.0, 9.0, 9.0],
        }
    )
    assert found.intensity_gco2e_per_kwh[:3].tolist() == [820.0, 11.0, 11.0]
    assert np.isnan(found.intensity_gco2e_per_kwh[3])
    assert dict(found.negative_mwh) == {"coal": -5.0}
    assert dict(found.unknown_hours) == {"coal": 1}
    assert found.storage == ("hydro pumped storage",)


def test_an_hour_without_generation_is_unknown_and_not_zero():
    assert np.isnan(mix_intensity({"coal": [0.0], "wind": [0.0]}).intensity_gco2e_per_kwh[0])


@pytest.mark.parametrize(
    ("mix", "says"),
    [
        ({"cole": [1.0]}, "Nearest: coal"),
        ({"battery": [1.0]}, "no technology"),
        ({"coal": [1.0], "gas": [1.0, 2.0]}, "hours"),
    ],
)
def test_wrong_mixes_are_refused(mix, says):
    with pytest.raises(FactorError, match=says):
        mix_intensity(mix)


@st.composite
def traders(draw):
    zones, count = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    made = draw(hnp.arrays(np.float64, (zones, count), elements=st.floats(10, 1000)))
    rate = draw(hnp.arrays(np.float64, (zones, count), elements=st.floats(0, 900)))
    links = [(first, second) for first in range(zones) for second in range(first + 1, zones)]
    flows = draw(hnp.arrays(np.float64, (len(links), count), elements=st.floats(-2, 2)))
    return made, rate, flows, links


@settings(max_examples=50)
@given(case=traders())
def test_trade_conserves_energy_and_emissions_and_stays_between_the_cleanest_and_the_dirtiest(case):
    made, rate, flows, links = case
    found = traded_intensity(made, rate, flows, links)
    assert found.consumption_mwh.sum(axis=0) == pytest.approx(made.sum(axis=0))
    assert found.emissions_kgco2e.sum(axis=0) == pytest.approx((made * rate).sum(axis=0), rel=1e-9, abs=1e-6)
    assert (found.intensity_gco2e_per_kwh >= rate.min(axis=0) - 1e-6).all()
    assert (found.intensity_gco2e_per_kwh <= rate.max(axis=0) + 1e-6).all()


def test_without_flows_consumption_is_production():
    found = traded_intensity([[5.0], [7.0]], [[100.0], [200.0]], np.empty((0, 1)), [])
    assert found.intensity_gco2e_per_kwh[:, 0].tolist() == [100.0, 200.0]


def test_a_zone_that_only_passes_on_has_the_intensity_of_what_it_takes():
    found = traded_intensity([[100.0], [0.0], [0.0]], [[300.0], [np.nan], [np.nan]], [[60.0], [60.0]], [(0, 1), (1, 2)])
    assert found.intensity_gco2e_per_kwh[:, 0].tolist() == [300.0, 300.0, 300.0]
    assert found.consumption_mwh[:, 0].tolist() == [40.0, 0.0, 60.0]


@pytest.mark.parametrize(
    ("made", "flows", "links", "says"),
    [
        ([[1.0], [1.0]], [[5.0]], [(0, 1)], "exports 5 MWh"),
        ([[1.0], [np.nan]], [[0.1]], [(0, 1)], "not known"),
        ([[1.0], [1.0]], [[np.nan]], [(0, 1)], "flow is not known"),
        ([[1.0], [1.0]], [[0.1]], [(0, 2)], "does not join"),
        ([[1.0], [0.0], [0.0]], [[2.0], [2.0]], [(1, 2), (2, 1)], "in a circle"),
    ],
)
def test_trade_that_cannot_be_is_refused(made, flows, links, says):
    with pytest.raises(FactorError, match=says):
        traded_intensity(made, np.full_like(np.asarray(made), 100.0), flows, links)


def test_software_intensity_adds_sums_and_refuses_what_the_standard_refuses():
    location = Basis(method="location")
    two = software_carbon_intensity(
        q(np.array([1.0, 9.0]), "kgCO2e"), q(0.0, "kgCO2e"), q(np.array([1.0, 1.0]), "request"), location
    )
    assert two.to("kgCO2e/request").magnitude == 5.0
    uneven = software_carbon_intensity(
        q(np.array([1.0, 9.0]), "kgCO2e"), q(0.0, "kgCO2e"), q(np.array([1.0, 99.0]), "request"), location
    )
    assert uneven.to("kgCO2e/request").magnitude == pytest.approx(0.1)
    one = q(1.0, "kgCO2e")
    with pytest.raises(BasisError, match="location-based or marginal"):
        software_carbon_intensity(one, one, q(1.0, "token"), Basis(method="market"))
    with pytest.raises(BasisError, match="embodied_share"):
        software_carbon_intensity(one, one, q(1.0, "token"), Basis(embodied="whole"))
    with pytest.raises(FactorError, match="zero functional units"):
        software_carbon_intensity(one, one, q(0.0, "token"), location)


@pytest.mark.parametrize(
    ("life", "reserved", "share", "says"),
    [(0.0, 1.0, 1.0, "lifespan"), (10.0, 11.0, 1.0, "within the life"), (10.0, 1.0, 1.5, "from 0 to 1")],
)
def test_shares_of_embodied_emissions_are_shares(life, reserved, share, says):
    with pytest.raises(FactorError, match=says):
        embodied_share(q(1.0, "kgCO2e"), q(life, "h"), q(reserved, "h"), share)
