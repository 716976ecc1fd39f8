"""Watts of racks, and energy of runs by two rules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import PowerError, UnitError
from energy.power.node import node_power, parts_of
from energy.power.rack import rack_input, rack_power, switch_watts
from energy.power.run_energy import constant_power_energy, run_energy
from energy.power.states import States, state_power
from energy.units import quantity


@pytest.fixture(scope="module")
def node():
    chips = state_power("nvidia_h100_sxm5_80", States(busy=1.0, compute=np.array([0.1, 0.5]), memory=0.3))
    return node_power(parts_of("DGX H100"), chips)


def test_a_rack_is_its_nodes_and_switches_through_its_own_supplies(node):
    rack = rack_power(node, 4, switches_w=1400.0, shelf_efficiency=0.97, cooling="liquid")
    assert np.allclose(sum(rack.parts_it_w.values()), rack.power_it_w)
    assert np.all(rack.power_it_w > 4 * node.power_it_w + 1400.0)
    plain = rack_power(node, 4)
    assert np.allclose(plain.power_it_w, 4 * node.power_it_w), "nothing is added that is not there"
    edges = (rack.power_it_low_w, rack.power_it_low80_w, rack.power_it_w, rack.power_it_high80_w, rack.power_it_high_w)
    assert all(np.all(a <= b) for a, b in pairwise(edges))


def test_supplies_in_series_multiply():
    nodes, none = quantity(80.0, "kW_it"), quantity(0.0, "kW_it")
    one = rack_input(nodes, none, 0.95, 0.0)
    assert rack_input(one, none, 0.9, 0.0).to("kW_it").magnitude == pytest.approx(80.0 / (0.95 * 0.9))


def test_board_watts_are_no_rack_watts():
    with pytest.raises(UnitError):
        rack_input(quantity(80.0, "kW_chip"), quantity(0.0, "kW_it"), 1.0, 0.0)
    with pytest.raises(UnitError):
        rack_input(quantity(80.0, "kW_facility"), quantity(0.0, "kW_it"), 1.0, 0.0)


def test_tiers_of_switches_add_up():
    leaf, three = switch_watts(64, 400.0), switch_watts(64, 400.0, 3)
    assert three == pytest.approx(5 * leaf)
    assert switch_watts(128, 400.0) == pytest.approx(2 * leaf)


@pytest.mark.parametrize(
    "call",
    [
        lambda node: rack_power(node, 0),
        lambda node: rack_power(node, 1, switches_w=-1.0),
        lambda node: rack_power(node, 1, shelf_efficiency=1.01),
        lambda node: rack_power(node, 1, cooling="immersion"),
        lambda node: switch_watts(8, 400.0, 0),
        lambda node: run_energy([0.0, 1.0], [1.0, -1.0], 1.0),
        lambda node: run_energy([1.0, 0.0], [1.0, 1.0], 1.0),
        lambda node: run_energy([0.0, 1.0], [1.0, np.nan], 1.0),
        lambda node: run_energy([-2.0, -1.0], [1.0, 1.0], 10.0),
    ],
)
def test_what_is_no_rack_or_no_trace_is_refused(node, call):
    with pytest.raises(PowerError) as caught:
        call(node)
    assert "\n" not in str(caught.value)


@given(
    watts=st.floats(100.0, 20_000.0),
    before=st.integers(0, 60),
    length=st.integers(2, 500),
)
def test_a_log_that_is_cut_to_the_run_gives_the_same_by_both_rules(watts, before, length):
    time = np.arange(-before, length + 1, dtype=np.float64)
    found = run_energy(time, np.full(time.shape, watts), float(length))
    assert found.energy_run_it_j == pytest.approx(watts * length)
    assert found.window_over_run == pytest.approx(1.0)


def test_idle_in_the_log_lowers_the_figure_by_the_rule_of_mlperf_only():
    run = np.arange(0.0, 101.0)
    cut = run_energy(run, np.full(run.shape, 7000.0), 100.0)
    longer = np.concatenate([np.arange(-60.0, 0.0), run])
    idle_first = run_energy(longer, np.where(longer < 0, 2000.0, 7000.0), 100.0)
    assert idle_first.energy_run_it_j == pytest.approx(cut.energy_run_it_j)
    assert idle_first.window_over_run < 0.8
    energy = constant_power_energy(quantity(7.0, "kW_it"), quantity(100.0, "s")).to("J_it")
    assert energy.magnitude == pytest.approx(cut.energy_run_it_j)
