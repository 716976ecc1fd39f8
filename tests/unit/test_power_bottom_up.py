"""Power from operations and bytes: parts add up, memory behind CXL and optical links add, some have no floor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.catalogue.chips import all_chips, chip
from energy.errors import EnergyError, PowerError, UnitError, UnknownNameError
from energy.power.accelerators import device, usual_precision
from energy.power.bottom_up import (
    EnergyOf,
    bit_power,
    cross_check,
    link_energy,
    memory_energy,
    moving,
    operation_energy,
    own_memory,
)
from energy.power.card import card_lines, power_card
from energy.units import quantity

CURVES = [one.chip_id for one in all_chips() if device(one.chip_id).model == "curve" and one.power_boundary == "chip"]


@pytest.mark.parametrize("name", CURVES)
def test_the_sum_of_parts_is_a_floor_of_the_curve(name):
    """Arithmetic and memory never draw more than the chip: the rest is moving, control and leakage."""
    try:
        found = cross_check(name, usual_precision(name), 0.7, 0.2)
    except EnergyError as error:
        assert any(words in str(error) for words in ("memory", "plug")), error
        return
    parts = found.context_chip_w + found.arithmetic_chip_w + found.memory_chip_w + found.link_chip_w
    assert parts == pytest.approx(found.bottom_up_chip_w)
    assert found.bottom_up_low_chip_w <= found.bottom_up_chip_w <= found.bottom_up_high_chip_w
    assert found.bottom_up_chip_w < found.top_down_chip_w
    assert found.missing_fraction is not None and 0.0 < found.missing_fraction < 1.0


@pytest.mark.parametrize("name", ["cerebras_wse3", "intel_loihi2", "mythic_m1076", "amd_epyc_7742"])
def test_what_has_no_second_estimate_says_why(name):
    with pytest.raises(PowerError, match=f"The power of {name}"):
        cross_check(name, "int8", 0.5, 0.5)
    assert any(line.startswith("Not told from operations and bytes") for line in card_lines(power_card(name)))


def test_memory_behind_cxl_costs_more_than_the_chips_own():
    own = cross_check("nvidia_h100_sxm5_80", "bf16", 0.1, 0.5)
    cxl = cross_check("nvidia_h100_sxm5_80", "bf16", 0.1, 0.5, memory_technology="cxl_dram")
    assert cxl.memory_chip_w / own.memory_chip_w == pytest.approx(
        memory_energy("cxl_dram").energy_pj / memory_energy(own_memory(chip("nvidia_h100_sxm5_80"))).energy_pj
    )


def test_co_packaged_optics_are_cooler_than_pluggable_ones_and_copper_than_both():
    at = 400e9 / 8.0
    watts = [moving(link_energy(name), at).power_chip_w for name in ("copper_dac", "optics_cpo", "optics_pluggable")]
    assert watts[0] < watts[1] < watts[2]
    assert watts[2] == pytest.approx(400e9 * link_energy("optics_pluggable").energy_pj * 1e-12)


@given(rate=st.floats(0.0, 1e13), energy=st.floats(0.01, 100.0))
def test_moving_twice_the_bytes_takes_twice_the_watts(rate, energy):
    per_bit = EnergyOf(energy, energy / 2.0, energy * 2.0, "a test")
    once, twice = moving(per_bit, rate), moving(per_bit, 2.0 * rate)
    assert twice.power_chip_w == pytest.approx(2.0 * once.power_chip_w, abs=1e-8)
    assert once.power_chip_low_w <= once.power_chip_w <= once.power_chip_high_w


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(PowerError, match="bytes/s"):
        moving(memory_energy("cxl_dram"), rate)


def test_bytes_are_no_bits_and_a_plug_is_no_chip():
    energy, rate = quantity(20.0, "pJ_chip/bit"), quantity(100.0, "GB/s")
    assert bit_power(energy, rate).to("W_chip").magnitude == pytest.approx(16.0)
    assert bit_power(energy, quantity(800.0, "Gbit/s")).to("W_chip").magnitude == pytest.approx(16.0)
    for wrong in (quantity(20.0, "pJ_it/bit"), quantity(20.0, "W_chip")):
        with pytest.raises(UnitError):
            bit_power(wrong, rate)


def test_narrow_formats_take_less():
    assert operation_energy("fp4").energy_pj < operation_energy("fp8").energy_pj < operation_energy("bf16").energy_pj


def test_an_unknown_memory_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Nearest"):
        cross_check("nvidia_h100_sxm5_80", "bf16", 0.5, 0.5, memory_technology="HBM9")
