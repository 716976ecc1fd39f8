"""Watts of whole machines at their plug, and hosts of a slice."""

from __future__ import annotations

import pytest

from energy.catalogue.nodes import all_nodes
from energy.errors import PowerError, UnknownNameError
from energy.power.accelerators import device
from energy.power.machines import machine_power, slice_hosts

KNOWN = [one.node_id for one in all_nodes() if one.max_kw is not None or one.typical_kw is not None]


@pytest.mark.parametrize("name", KNOWN)
def test_every_published_machine_has_three_states_in_order(name):
    found = machine_power(name)
    for span in (found.idle_w, found.typical_w, found.greatest_w):
        assert 0.0 < span.low <= span.value <= span.high
    assert found.idle_w.value < found.typical_w.value <= found.greatest_w.value
    assert found.source


@pytest.mark.parametrize("name", ["cs_3", "ipu_m2000", "ipu_pod16", "groq_rack", "sambarack_sn40l_16", "mac_mini_m4"])
def test_machines_are_counted_at_their_plug(name):
    assert machine_power(name).boundary == "it"


def test_a_pod_of_which_only_chips_were_added_up_stays_at_the_chip():
    found = machine_power("tpu_v4_pod")
    assert found.boundary == "chip"
    assert found.typical_w.value / found.chips == pytest.approx(170.0, rel=0.01)


def test_a_machine_draws_more_than_its_chips_alone():
    assert machine_power("ipu_m2000").greatest_w.value > 4 * device("graphcore_gc200").limit_w.value
    assert machine_power("groq_node").greatest_w.value > 8 * device("groq_lpu_v1").limit_w.value


def test_a_wafer_and_its_system_are_one():
    assert machine_power("cs_3").greatest_w.value == device("cerebras_wse3").limit_w.value


def test_a_machine_of_which_nothing_is_published_names_the_other_way():
    with pytest.raises(PowerError, match=r"energy\.power\.node"):
        machine_power("tpu_v5p_host")
    with pytest.raises(UnknownNameError):
        machine_power("groq_rick")


def test_slices_are_whole_hosts():
    assert slice_hosts("google_tpu_v4", 64) == 16
    for chips in (0, 6, -4):
        with pytest.raises(PowerError, match="multiple of 4"):
            slice_hosts("google_tpu_v4", chips)
    with pytest.raises(PowerError, match="no host"):
        slice_hosts("amd_alveo_u50", 4)
