"""24/7 matching and shifting of load: no netting over hours, energy conserved, deadlines kept, bases apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from energy.errors import BasisError, EnergyError, SupplyError, UnitError
from energy.provenance import Basis
from energy.supply.battery import Battery
from energy.supply.dispatch import greedy
from energy.supply.matching import combined, matching, matching_of
from energy.supply.optimum import Terms, optimal
from energy.supply.shifting import added, in_place, in_time, in_time_and_place, saving
from energy.units import quantity

HOURS = 48
amounts = st.floats(0.0, 1e4, allow_subnormal=False)
hourly = arrays(np.float64, HOURS, elements=amounts)
shares = arrays(np.float64, HOURS, elements=st.floats(0.0, 1.0))
# a solver takes what is below its tolerance for zero: three digits behind the point
coarse = st.integers(0, 100_000).map(lambda thousandths: thousandths / 1000.0)
both_signs = st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000.0)


def kwh(values):
    return quantity(np.asarray(values, dtype=float), "kWh_facility")


@given(load=hourly, contracted=hourly, share=shares)
@settings(max_examples=60, deadline=None)
def test_score_never_exceeds_one_and_never_nets_hours(load, contracted, share):
    if load.sum() == 0.0:
        with pytest.raises(SupplyError, match="no load"):
            matching(kwh(load), kwh(contracted), share)
        return
    found = matching(kwh(load), kwh(contracted), share)
    assert 0.0 <= found.score <= 1.0 + 1e-12
    alone = matching(kwh(load), kwh(contracted), 0.0)
    # without the grid the hours can never beat the year
    assert alone.score <= alone.annual_matching + 1e-12
    used = alone.contracted_used_facility_kwh + alone.excess_facility_kwh
    np.testing.assert_allclose(used[0], contracted, rtol=1e-12, atol=1e-9)
    assert np.isnan(found.score_by_hour[0][load == 0.0]).all()


def test_worked_score():
    """Three hours by hand: contracted 0, 30, 5 of loads 10, 10, 10; the grid is half clean."""
    found = matching(kwh([10, 10, 10]), kwh([0, 30, 5]), 0.5)
    assert found.score == pytest.approx((5.0 + 10.0 + 7.5) / 30.0)
    assert found.annual_matching == 1.0
    assert found.excess_facility_kwh.sum() == 20.0
    assert found.score_by_hour[0].tolist() == [0.5, 1.0, 0.75]


def test_regions_combine_by_load():
    big, small = matching(kwh([90.0]), kwh([0.0]), 0.0), matching(kwh([10.0]), kwh([10.0]), 0.0)
    assert combined([big, small]) == pytest.approx(0.1)


def test_it_energy_is_no_energy_of_the_meter():
    with pytest.raises(UnitError):
        matching(quantity(np.ones(3), "kWh_it"), kwh(np.ones(3)), 0.0)


@given(load=hourly, generation=hourly, capacity=amounts, share=shares)
@settings(max_examples=40, deadline=None)
def test_a_battery_of_own_surplus_helps_by_what_it_gives(load, generation, capacity, share):
    if load.sum() == 0.0:
        return
    battery = Battery(capacity, capacity, capacity, 0.9, 0.9)
    with_it = matching_of(greedy(load, generation, [battery]), share)
    without = matching(kwh(load), kwh(generation), share)
    assert with_it.score >= without.score - 1e-9
    assert with_it.score <= 1.0 + 1e-9
    found = greedy(load, generation, [battery])
    used = with_it.contracted_used_facility_kwh.sum()
    direct = np.minimum(load, generation).sum()
    assert used == pytest.approx(direct + found.discharge_facility_kwh.sum(), rel=1e-9, abs=1e-6)


def test_energy_bought_for_the_battery_stays_what_it_was():
    """Charged at night from a dirty grid and given at day, it makes nothing carbon-free."""
    prices = Terms(np.array([0.1, 1.0]), may_charge_from_grid=True)
    dispatch = optimal([5.0, 5.0], [0.0, 0.0], Battery(10.0, 5.0, 5.0, 1.0, 1.0), prices).dispatch
    assert dispatch.discharge_facility_kwh.sum() == pytest.approx(5.0, abs=1e-6)
    assert matching_of(dispatch, [0.0, 1.0]).score == pytest.approx(0.0, abs=1e-6)
    assert matching_of(dispatch, [1.0, 0.0]).score == pytest.approx(1.0, abs=1e-6)


def test_what_a_battery_held_at_the_start_is_of_unknown_origin():
    found = greedy([5.0], [0.0], [Battery(10.0, 5.0, 5.0, 1.0, 1.0, initial_state=1.0)])
    assert found.grid_facility_kwh.sum() == 0.0
    assert matching_of(found, 1.0).score == 0.0


@given(
    load=arrays(np.float64, HOURS, elements=coarse),
    extra=arrays(np.float64, HOURS, elements=coarse),
    signal=arrays(np.float64, HOURS, elements=both_signs),
    latest=st.integers(0, 60),
)
@settings(max_examples=40, deadline=None)
def test_shifting_in_time_conserves_energy_and_the_optimum_is_best(load, extra, signal, latest):
    rule = in_time(load, load + extra, signal, latest_h=latest)
    best = in_time(load, load + extra, signal, latest_h=latest, rule="optimum")
    scale = max(1.0, load.sum())
    for found in (rule, best):
        assert found.after_it_kwh.sum() == pytest.approx(load.sum(), abs=1e-9 * scale)
        assert (found.after_it_kwh[0] <= load + extra + 1e-6 * scale).all()
        done, come = np.cumsum(found.after_it_kwh[0]), np.cumsum(load)
        assert (done <= come + 1e-6 * scale).all()
        assert (done[latest:] >= come[: max(HOURS - latest, 0)] - 1e-6 * scale).all()
    values = [float(signal @ found.after_it_kwh[0]) for found in (best, rule, in_time(load, load, signal, latest_h=0))]
    assert values[0] <= values[1] + 1e-6 * scale
    assert values[1] <= values[2] + 1e-6 * scale


@given(
    load=arrays(np.float64, (3, 12), elements=coarse),
    extra=arrays(np.float64, (3, 12), elements=coarse),
    signal=arrays(np.float64, (3, 12), elements=both_signs),
    latest=st.integers(0, 12),
)
@settings(max_examples=30, deadline=None)
def test_shifting_in_place_and_both_together(load, extra, signal, latest):
    place = in_place(load, load + extra, signal)
    both = in_time_and_place(load, load + extra, signal, latest_h=latest)
    scale = max(1.0, load.sum())
    np.testing.assert_allclose(place.after_it_kwh.sum(axis=0), load.sum(axis=0), atol=1e-9 * scale)
    assert both.after_it_kwh.sum() == pytest.approx(load.sum(), abs=1e-8 * scale)
    at_home, moved, both_moved = (float((signal * one).sum()) for one in (load, place.after_it_kwh, both.after_it_kwh))
    assert both_moved <= moved + 1e-6 * scale
    assert moved <= at_home + 1e-6 * scale


def test_no_room_is_said():
    with pytest.raises(SupplyError, match="hour 1"):
        in_time([1.0, 5.0], 2.0, [1.0, 1.0], latest_h=3)
    with pytest.raises(SupplyError, match="lack 1 kWh in hour 0"):
        in_place([[2.0], [1.0]], [[1.0], [1.0]], [[1.0], [2.0]])
    with pytest.raises(SupplyError, match="does not fit"):
        in_time_and_place([[5.0, 0.0]], [[2.0, 2.0]], [[1.0, 1.0]], latest_h=1)


def test_savings_by_average_and_marginal_are_never_added():
    shift = in_time([1.0, 0.0], 1.0, [0.5, 0.2], latest_h=1)
    average = saving(shift, [0.5, 0.2], 1.2, Basis(method="hourly"))
    marginal = saving(shift, [0.3, 0.6], 1.2, Basis(method="marginal"))
    assert average.saved_kgco2e == pytest.approx(0.36)
    assert marginal.saved_kgco2e == pytest.approx(-0.36)  # the same shift does harm at the margin
    with pytest.raises(BasisError, match="side by side"):
        added([average, marginal])
    with pytest.raises(BasisError, match="method"):
        saving(shift, [0.5, 0.2], 1.2, Basis())
    assert added([average, average]).saved_kgco2e == pytest.approx(0.72)


@pytest.mark.parametrize("bad", [[0.1, np.nan], [0.1, np.inf]])
def test_a_signal_with_gaps_is_refused(bad):
    with pytest.raises(EnergyError, match="lacks"):
        in_time([1.0, 0.0], 1.0, bad, latest_h=1)
