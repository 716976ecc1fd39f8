"""Battery, greedy rule, optimum and sizes: balance in every hour, and no rule beats the optimum."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from energy.errors import SupplyError
from energy.supply.battery import Battery
from energy.supply.dispatch import greedy
from energy.supply.optimum import Terms, optimal
from energy.supply.sizing import Plant, Storage, Wanted, size

HOURS = 60
flows = st.floats(0.0, 1e5, allow_subnormal=False)
years = arrays(np.float64, HOURS, elements=flows)


def coarse(most):
    """Values with three digits behind the point: a solver takes what is below its tolerance for zero."""
    return st.integers(0, round(most * 1000)).map(lambda thousandths: thousandths / 1000.0)


@st.composite
def batteries(draw, flows=flows):
    states = sorted(draw(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)))
    return Battery(
        capacity_kwh=draw(flows),
        charge_power_kw=draw(flows),
        discharge_power_kw=draw(flows),
        charge_efficiency=draw(st.floats(0.5, 1.0)),
        discharge_efficiency=draw(st.floats(0.5, 1.0)),
        minimum_state=states[0],
        initial_state=states[1],
        maximum_state=states[2],
        self_discharge_per_h=draw(st.sampled_from([0.0, 1e-4, 0.05])),
    )


def by_hand(load, generation, battery):
    """The rule as one would tell it, hour by hour."""
    stored = battery.initial_state * battery.capacity_kwh
    grid = []
    for asked, made in zip(load, generation, strict=True):
        stored *= 1.0 - battery.self_discharge_per_h
        net = made - asked
        if net >= 0.0:
            room = max(battery.maximum_state * battery.capacity_kwh - stored, 0.0) / battery.charge_efficiency
            charge = min(net, battery.charge_power_kw, room)
            stored += charge * battery.charge_efficiency
            grid.append(0.0)
        else:
            held = max(stored - battery.minimum_state * battery.capacity_kwh, 0.0) * battery.discharge_efficiency
            discharge = min(-net, battery.discharge_power_kw, held)
            stored -= discharge / battery.discharge_efficiency
            grid.append(-net - discharge)
    return np.array(grid), stored


@given(load=years, generation=years, battery=batteries())
@settings(max_examples=60, deadline=None)
def test_greedy_is_the_rule_by_hand_and_balances(load, generation, battery):
    found = greedy(load, generation, [battery])
    grid, stored = by_hand(load, generation, battery)
    scale = max(1.0, load.max(), generation.max(), battery.capacity_kwh)
    assert found.balance_error_kwh <= 1e-9 * scale
    np.testing.assert_allclose(found.grid_facility_kwh[0], grid, atol=1e-9 * scale)
    assert found.stored_kwh[0, -1] == pytest.approx(stored, abs=1e-9 * scale)
    assert (np.minimum(found.charge_facility_kwh, found.discharge_facility_kwh) == 0.0).all()
    assert (np.minimum(found.grid_facility_kwh, found.excess_facility_kwh) == 0.0).all()


@given(load=years, generation=years, battery=batteries(), factor=st.sampled_from([1e-3, 2.0, 1e3]))
@settings(max_examples=25, deadline=None)
def test_doubling_load_and_plant_changes_no_ratio(load, generation, battery, factor):
    big = replace(
        battery,
        capacity_kwh=battery.capacity_kwh * factor,
        charge_power_kw=battery.charge_power_kw * factor,
        discharge_power_kw=battery.discharge_power_kw * factor,
    )
    one, many = greedy(load, generation, [battery]), greedy(load * factor, generation * factor, [big])
    scale = max(1.0, load.max(), generation.max(), battery.capacity_kwh)
    np.testing.assert_allclose(many.grid_facility_kwh / factor, one.grid_facility_kwh, atol=1e-9 * scale)


def test_sites_do_not_touch_each_other():
    rng = np.random.default_rng(4)
    load, generation = rng.random((5, HOURS)), rng.random((5, HOURS)) * 2.0
    several = [Battery(2.0, 0.5, 0.5, 0.9, 0.9, 0.1, 0.9, 0.2 + 0.1 * site) for site in range(5)]
    together = greedy(load, generation, several)
    for site in range(5):
        alone = greedy(load[site], generation[site], [several[site]])
        np.testing.assert_array_equal(together.grid_facility_kwh[site], alone.grid_facility_kwh[0])


@given(more=st.floats(1.0, 5.0))
@settings(max_examples=15, deadline=None)
def test_a_larger_battery_buys_no_more(more):
    rng = np.random.default_rng(8)
    load, generation = rng.random(HOURS), 2.0 * rng.random(HOURS)
    battery = Battery(3.0, 1.0, 1.0, 0.95, 0.95)
    large = replace(battery, capacity_kwh=3.0 * more)
    bought = [greedy(load, generation, [one]).grid_facility_kwh.sum() for one in (battery, large)]
    assert bought[1] <= bought[0] + 1e-9


@given(
    load=arrays(np.float64, HOURS, elements=coarse(100.0)),
    generation=arrays(np.float64, HOURS, elements=coarse(200.0)),
    battery=batteries(flows=coarse(500.0)),
    price=arrays(np.float64, HOURS, elements=coarse(2.0)),
    from_grid=st.booleans(),
    sells=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_no_rule_beats_the_optimum(load, generation, battery, price, from_grid, sells):
    rule = greedy(load, generation, [battery])
    terms = Terms(price, 0.5 * price if sells else None, may_charge_from_grid=from_grid)
    best = optimal(load, generation, battery, terms, end_at_least_kwh=float(rule.stored_kwh[0, -1]))
    scale = max(1.0, float(price.mean()) * (load.sum() + generation.sum()))
    assert best.dispatch.balance_error_kwh <= 1e-9 * 1e5
    assert best.value <= terms.value_of(rule) + 1e-5 * scale
    assert best.bound <= best.value + 1e-5 * scale
    assert best.value == pytest.approx(best.bound, abs=1e-5 * scale)
    assert best.dispatch.stored_kwh[0, -1] >= rule.stored_kwh[0, -1] - 1e-6 * scale


def test_optimum_of_two_prices_is_the_one_on_paper():
    battery = Battery(10.0, 4.0, 4.0, 0.8, 1.0)
    best = optimal([1.0, 5.0], [0.0, 0.0], battery, Terms(np.array([0.1, 1.0]), may_charge_from_grid=True))
    assert best.dispatch.grid_facility_kwh[0] == pytest.approx([5.0, 1.8], abs=1e-6)
    assert best.value == pytest.approx(0.5 + 1.8, abs=1e-6)


def test_a_still_battery_is_the_optimum_of_a_flat_price():
    rng = np.random.default_rng(1)
    load = rng.random(HOURS)
    best = optimal(
        load, 0.0 * load, Battery(5.0, 1.0, 1.0, 0.9, 0.9), Terms(np.full(HOURS, 0.08), may_charge_from_grid=True)
    )
    assert best.dispatch.charge_facility_kwh.sum() == pytest.approx(0.0, abs=1e-6)


def test_negative_prices_destroy_no_energy_and_the_bound_says_so():
    battery = Battery(4.0, 4.0, 4.0, 0.8, 0.8, initial_state=1.0)
    best = optimal([0.0, 0.0], [0.0, 0.0], battery, Terms(np.array([-1.0, -1.0]), may_charge_from_grid=True))
    assert best.bound <= best.value + 1e-9
    together = np.minimum(best.dispatch.charge_facility_kwh, best.dispatch.discharge_facility_kwh)
    assert together.max() == 0.0


def test_a_connection_that_is_too_small_is_said():
    with pytest.raises(SupplyError, match="grid limit of 1"):
        optimal([2.0, 2.0], [0.0, 0.0], Battery(1.0, 1.0, 1.0, 1.0, 1.0), Terms(np.ones(2), grid_limit_kw=1.0))


def test_a_limit_is_held():
    terms = Terms(np.ones(4), grid_limit_kw=1.5, may_charge_from_grid=True)
    best = optimal([1.0, 1.0, 2.0, 2.0], np.zeros(4), Battery(4.0, 1.0, 1.0, 1.0, 1.0), terms)
    assert best.dispatch.grid_facility_kwh.max() <= 1.5 + 1e-6


@pytest.mark.parametrize(
    ("load", "generation"),
    [
        ([1.0, np.nan], [0.0, 0.0]),
        ([1.0, -1.0], [0.0, 0.0]),
        ([1.0, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 1.0], [0.0, np.inf]),
    ],
)
def test_hours_that_are_none_are_refused(load, generation):
    with pytest.raises(SupplyError):
        greedy(load, generation, [Battery(1.0, 1.0, 1.0, 1.0, 1.0)])


@pytest.mark.parametrize(
    "change",
    [
        {"capacity_kwh": -1.0},
        {"charge_efficiency": 0.0},
        {"discharge_efficiency": 1.1},
        {"minimum_state": 0.6, "maximum_state": 0.5},
        {"initial_state": 0.95, "maximum_state": 0.9},
        {"charge_power_kw": float("nan")},
        {"self_discharge_per_h": 1.0},
    ],
)
def test_a_battery_that_is_none_is_refused(change):
    with pytest.raises(SupplyError):
        replace(Battery(1.0, 1.0, 1.0, 0.9, 0.9), **change)


def two_days():
    hours = np.arange(48)
    sun = np.maximum(0.0, np.sin(2.0 * np.pi * (hours - 6) / 24.0))
    return np.ones(48), sun, np.full(48, 0.4)


def chosen(least_score):
    load, sun, wind = two_days()
    plants = [Plant("sun", sun, 60.0, 40.0), Plant("wind", wind, 150.0, 30.0, most_kw=1.0)]
    storage = Storage(Battery(1.0, 0.5, 0.5, 0.95, 0.95), 20.0, 8.0)
    flat = np.ones(48)
    return size(load, plants, storage, Wanted(0.08 * flat, 0.4 * flat, 0.3 * flat, least_score=least_score))


def test_a_score_that_is_asked_for_is_reached_and_costs():
    scores = [None, 0.6, 0.9, 0.99]
    found = [chosen(score) for score in scores]
    for asked, one in zip(scores, found, strict=True):
        assert one.dispatch.balance_error_kwh < 1e-9
        if asked is not None:
            assert one.score >= asked - 1e-6
    values = [one.value for one in found]
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(values))
    assert found[-1].capacity_kw["wind"] <= 1.0 + 1e-6


def test_sizes_are_no_worse_than_sizes_nearby():
    """The optimum over capacities: the greedy year of any other sizes that reach the score costs no less."""
    best = chosen(0.9)
    load, sun, wind = two_days()
    rng = np.random.default_rng(6)
    year = 48.0 / 8760.0
    for _ in range(200):
        kw_sun, kw_wind, kwh = best.capacity_kw["sun"], best.capacity_kw["wind"], best.battery.capacity_kwh
        kw_sun, kwh = kw_sun * rng.uniform(0.5, 2.0), kwh * rng.uniform(0.5, 2.0)
        kw_wind = min(1.0, kw_wind * rng.uniform(0.5, 1.5))
        battery = Battery(kwh, 0.5 * kwh, 0.5 * kwh, 0.95, 0.95)
        rule = greedy(load, kw_sun * sun + kw_wind * wind, [battery])
        grid = rule.grid_facility_kwh.sum()
        if 1.0 - 0.7 * grid / load.sum() < 0.9 or rule.stored_kwh[0, -1] < rule.stored_kwh[0, 0]:
            continue
        cost = year * (60.0 * kw_sun + 150.0 * kw_wind + 20.0 * kwh) + 0.08 * grid
        assert cost >= best.value - 1e-6


def test_a_score_out_of_reach_is_said():
    load, sun, _ = two_days()
    storage = Storage(Battery(1.0, 0.5, 0.5, 0.95, 0.95), 20.0, 8.0, most_kwh=0.1)
    flat = np.ones(48)
    with pytest.raises(SupplyError, match="No sizes reach"):
        size(load, [Plant("sun", sun, 60.0, 40.0)], storage, Wanted(flat, flat, 0.0 * flat, least_score=0.99))
