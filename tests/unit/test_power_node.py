"""Watts of nodes at the plug: boundaries, parts, cooling, supplies, superchips, ranges; and what is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import EnergyError, PowerError, UnitError, UnknownNameError
from energy.power.node import NodePower, host_watts, node_overhead, node_power, parts_of, plug_power
from energy.power.node_parts import cooling_kind, host_classes, usual_parts
from energy.power.states import States, state_power
from energy.power.supplies import EFFICIENCY_AT_HALF_LOAD, efficiency, in_series, loss_scale, supply_input
from energy.units import quantity

WORK = States(busy=1.0, compute=0.4, memory=0.3)


def busy(parts) -> NodePower:
    return node_power(parts, state_power(parts.chip_id, WORK))


def eight(cooling: str | None = None):
    return parts_of(chip="nvidia_h100_sxm5_80", chips_per_node=8, cooling=cooling)


@pytest.mark.parametrize("name", ["DGX H100", "DGX A100 640GB", "gb200_nvl72", "aws_g5_xlarge", "gaudi3_8", "cs_3"])
def test_the_plug_is_the_sum_of_the_parts_and_the_loss(name):
    found = busy(parts_of(name))
    assert float(sum(found.parts_chip_w.values()) + found.supply_loss_w) == pytest.approx(float(found.power_it_w))
    edges = (
        found.power_it_low_w,
        found.power_it_low80_w,
        found.power_it_w,
        found.power_it_high80_w,
        found.power_it_high_w,
    )
    assert all(a <= b for a, b in pairwise(float(edge) for edge in edges))
    assert found.status == "estimate"


def test_node_watts_are_no_chip_watts_and_the_other_way_round():
    good = {
        "power_chip": quantity(600.0, "W_chip/chip"),
        "chip_count": quantity(8.0, "chip"),
        "power_host": quantity(1000.0, "W_chip"),
        "fan_share": 0.1,
        "power_rated": quantity(20_000.0, "W_chip"),
        "supply_scale": 1.0,
    }
    plug = plug_power(**good)
    assert str(plug.units) == "W_it"
    for wrong in ("power_chip", "power_host", "power_rated"):
        with pytest.raises(UnitError):
            plug_power(**(good | {wrong: plug}))
    with pytest.raises(UnitError):
        plug_power(**(good | {"chip_count": quantity(8.0, "W_chip")}))


def test_air_takes_about_a_sixth_more_than_liquid_and_immersion_takes_least():
    air, liquid, immersion = (float(busy(eight(way)).power_it_w) for way in ("air", "liquid", "immersion"))
    assert immersion < liquid < air
    assert 1.08 < air / immersion < 1.22


def test_fans_follow_the_heat_and_liquid_takes_them_out_of_it():
    air, liquid = busy(eight("air")).parts_chip_w, busy(eight("liquid")).parts_chip_w
    assert liquid["fans"] < 0.4 * air["fans"]
    assert liquid["chips"] == air["chips"], "cooling does not change the boards here"


def test_a_node_of_the_catalogue_has_its_own_parts_and_a_narrower_range():
    known, usual = busy(parts_of("DGX H100")), busy(eight())
    assert np.log(known.power_it_high80_w / known.power_it_low80_w) < np.log(
        usual.power_it_high80_w / usual.power_it_low80_w
    )
    assert parts_of("dgx_a100_640").network_gbit_per_s < parts_of("dgx_h100").network_gbit_per_s


def test_the_host_hardly_follows_the_load():
    idle, full = (float(host_watts(eight(), load).total_chip_w) for load in (0.0, 1.0))
    assert idle < full < 2.0 * idle, "the idle share dominates"
    rising = host_watts(eight(), np.linspace(0.0, 1.0, 11)).total_chip_w
    assert np.all(np.diff(rising) > 0)


def test_shares_of_idle_weigh_more_in_the_overhead_of_an_idle_node():
    parts = eight()
    overhead = [node_overhead(parts, watts).node_overhead for watts in (75.0, 200.0, 400.0, 690.0)]
    assert all(a > b for a, b in pairwise(overhead))
    assert 1.2 < overhead[-1] < 1.6
    found = node_overhead(parts, 650.0)
    assert 1.0 <= found.node_overhead_low <= found.node_overhead_low80 <= found.node_overhead
    assert found.node_overhead <= found.node_overhead_high80 <= found.node_overhead_high


def test_the_overhead_times_the_boards_is_the_node():
    parts = parts_of("DGX H100")
    chips = state_power(parts.chip_id, WORK)
    ratio = node_overhead(parts, float(chips.power_chip_w)).node_overhead
    assert ratio * 8 * float(chips.power_chip_w) == pytest.approx(float(node_power(parts, chips).power_it_w))


def test_the_power_of_a_superchip_module_already_holds_its_processor():
    module = usual_parts("nvidia_gh200_96", 1)
    assert module.cpu_count == 0.0
    assert module.dram_gb == 0.0
    found = busy(module)
    assert found.parts_chip_w["processors"] == 0.0
    assert found.parts_chip_w["memory"] == 0.0


def test_the_power_of_a_gpu_of_a_superchip_does_not_hold_its_processor():
    per_gpu = usual_parts("nvidia_gb200", 4)
    assert per_gpu.cpu_count == 2.0, "one Grace for two GPUs"
    assert busy(per_gpu).parts_chip_w["processors"] > 0.0
    gpu = usual_parts("nvidia_h100_sxm5_80", 1)
    same_board = state_power("nvidia_h100_sxm5_80", WORK)
    assert node_power(gpu, same_board).power_it_w > node_power(usual_parts("nvidia_gh200_96", 1), same_board).power_it_w


def test_a_system_whose_power_is_known_at_its_plug_gets_nothing_added():
    chips = state_power("cerebras_wse3", WORK)
    found = node_power(parts_of("cs_3"), chips)
    assert found.power_it_w == chips.power_chip_w
    assert found.supply_loss_w == 0.0
    assert "whole system" in found.source


def test_a_package_is_not_its_computer():
    parts = parts_of("mac_mini_m4")
    chips = state_power(parts.chip_id, WORK)
    assert node_power(parts, chips).power_it_w > chips.power_chip_w, "memory, board and supply come on top"


def test_an_instance_with_one_card_is_a_part_of_its_host():
    one, whole = parts_of("aws_g5_xlarge"), parts_of("aws_g5_48xlarge")
    assert one.cpu_count < 0.2 * whole.cpu_count


def test_arrays_of_states_come_back_in_their_shape():
    loads = np.linspace(0.0, 0.8, 12).reshape(3, 4)
    found = node_power(eight(), state_power("nvidia_h100_sxm5_80", States(busy=1.0, compute=loads)))
    assert found.power_it_w.shape == (3, 4)
    assert all(part.shape == (3, 4) for part in found.parts_chip_w.values())
    assert np.all(np.diff(found.power_it_w.ravel()) > 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (parts_of, "give one of the two"),
        (lambda: parts_of("DGX H100", chip="nvidia_l4"), "not both"),
        (lambda: parts_of("DGX H100", cooling="liquid"), "The catalogue says how"),
        (lambda: parts_of("DGX H10"), "Nearest: "),
        (lambda: parts_of(chip="nvidia_l4", chips_per_node=0), "at least 1"),
        (lambda: parts_of(chip="nvidia_l4", chips_per_node=1, cooling="lquid"), "liquid"),
        (lambda: parts_of(chip="nvidia_l4", chips_per_node=1, host_class="servr"), "server"),
        (lambda: node_overhead(eight(), 0.0), "needs chips that draw power"),
        (lambda: host_watts(eight(), 1.2), "host_load"),
        (lambda: efficiency(0.0), "above zero"),
        (lambda: efficiency(0.5, "titan"), "titanium"),
        (lambda: loss_scale(1.0), "below 1"),
        (lambda: in_series([]), "at least one"),
        (lambda: in_series([1.1]), "up to 1"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(call, words):
    with pytest.raises((PowerError, UnknownNameError)) as caught:
        call()
    assert isinstance(caught.value, EnergyError)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_class_of_host_can_stand_around_a_card():
    for name in host_classes():
        parts = usual_parts("nvidia_l4", 2, host_class=name)
        assert busy(parts).power_it_w >= busy(parts).parts_chip_w["chips"]


def test_words_of_submissions_say_how_a_node_is_cooled():
    assert [
        cooling_kind(words) for words in ("Air-cooled", "Water-cooled", "direct water", "passive", "air + rear door")
    ] == [
        "air",
        "liquid",
        "liquid",
        "passive",
        "air",
    ]


@pytest.mark.parametrize("kind", list(EFFICIENCY_AT_HALF_LOAD))
def test_a_supply_has_its_class_at_half_load_and_is_poor_at_little(kind):
    assert efficiency(0.5, kind) == pytest.approx(EFFICIENCY_AT_HALF_LOAD[kind])
    assert efficiency(0.05, kind) < efficiency(0.2, kind) < efficiency(0.5, kind)


def test_supplies_in_series_lose_more_than_each():
    assert in_series([0.975, 0.98]) == pytest.approx(0.975 * 0.98)
    with pytest.raises(UnitError):
        supply_input(quantity(1.0, "W_it"), quantity(2.0, "W_chip"), 1.0, quantity(1.0, "W_it/W_chip"))


@given(
    watts=st.floats(10.0, 1200.0),
    more=st.floats(1.0, 200.0),
    count=st.integers(1, 16),
    load=st.floats(0.0, 1.0),
)
def test_more_watts_of_chips_are_more_watts_of_the_node(watts, more, count, load):
    parts = usual_parts("nvidia_h100_sxm5_80", count)
    host = host_watts(parts, load).total_chip_w
    low, high = (
        plug_power.kernel(power, count, host, 0.1, parts.rated_w, loss_scale(0.96)) for power in (watts, watts + more)
    )
    assert high - low >= count * more * 1.1 * (1 - 1e-9), "no watt is lost between board and plug"
    assert low > count * watts + host
