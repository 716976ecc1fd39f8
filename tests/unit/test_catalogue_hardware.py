"""Links, memories, energies per operation, models, prices: names, refusals, marks, and the traps of their sources."""

import pytest

from energy.catalogue import (
    achieved,
    all_achieved,
    all_chips,
    all_electricity_prices,
    all_links,
    all_memories,
    all_models,
    all_operations,
    all_prices,
    all_software_gains,
    all_sources,
    cache_bytes_per_token,
    chip,
    electricity_price,
    electricity_prices_for,
    link,
    memory,
    model,
    operation,
    operations_for,
    parameters_of,
    price,
    prices_for,
    software_gain,
    source,
)
from energy.catalogue.parameters import ACTIVE_EXCEPTIONS, EXCEPTIONS
from energy.errors import AmbiguousNameError, UnknownNameError


def test_every_row_is_there():
    counts = {
        all_links: 73,
        all_memories: 20,
        all_operations: 158,
        all_models: 134,
        all_prices: 336,
        all_electricity_prices: 451,
        all_software_gains: 21,
        all_achieved: 8,
    }
    assert {read.__name__: len(read()) for read in counts} == {read.__name__: n for read, n in counts.items()}


@pytest.mark.parametrize("read", [all_links, all_memories, all_operations, all_models, all_prices, all_software_gains])
def test_every_entry_has_source_and_status(read):
    keys = {one.source for one in all_sources()}
    for one in read():
        assert one.source
        assert set(one.source) <= keys
        assert one.status in ("catalogue", "derived", "estimate")
        if getattr(one, "confidence", "read") == "recalled":
            assert one.status == "estimate"


@pytest.mark.parametrize(
    ("look_up", "name"),
    [
        (link, "NVLnk"),
        (link, ""),
        (memory, "HBM9"),
        (operation, "nothing"),
        (model, "Llama 9"),
        (price, "p9999"),
        (electricity_price, "e9999"),
        (software_gain, "sw99"),
        (source, "nobody"),
        (electricity_prices_for, "Atlantis"),
        (prices_for, "H10"),
    ],
)
def test_what_is_unknown_is_refused(look_up, name):
    with pytest.raises(UnknownNameError) as caught:
        look_up(name)
    assert not isinstance(caught.value, AmbiguousNameError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("look_up", "name", "fits"),
    [
        (link, "NVLink", "nvlink5"),
        (link, "PCIe", "pcie5_x16"),
        (operation, "fma", "fma_"),
        (model, "GPT-3", "gpt3_175b"),
        (model, "Meta", "llama2_7b"),
        (prices_for, "H100", "nvidia_h100_pcie_80"),
    ],
)
def test_what_fits_several_is_refused_with_the_list(look_up, name, fits):
    with pytest.raises(AmbiguousNameError, match=fits):
        look_up(name)


def test_links_are_one_way_and_name_their_chips():
    assert link("nvlink5").bandwidth_gb_per_s_per_direction == 900  # the brochure prints 1800, both directions
    assert link("TPU ICI v5p").per == "link"
    ids = {one.chip_id for one in all_chips()}
    for one in all_links():
        assert set(one.chip_ids) <= ids
    # a chip's own figure is the sum of its links
    for name in ("nvidia_a100_sxm4_80", "nvidia_h100_sxm5_80", "nvidia_b200_sxm"):
        (its,) = [one for one in all_links() if name in one.chip_ids and one.scope == "scale-up"]
        assert chip(name).link_gb_per_s_per_direction == its.bandwidth_gb_per_s_per_direction


def test_memories_carry_their_spread():
    for one in all_memories():
        if one.energy_pj_per_bit_low is not None and one.energy_pj_per_bit is not None:
            assert one.energy_pj_per_bit_low <= one.energy_pj_per_bit <= one.energy_pj_per_bit_high
    assert memory("HBM3").kgco2e_per_gb is None  # no sourced value exists
    assert memory("HBM2").is_recalled("energy_pj_per_bit")


def test_arithmetic_and_whole_chip_are_kept_apart():
    whole = [one for one in all_operations() if one.whole_chip]
    assert len(whole) > 80
    for one in whole:
        own = chip(one.chip_id)
        assert one.status == ("estimate" if own.is_recalled("tdp_w") or one.is_recalled("energy_pj") else "derived")
        assert one.source == ("chips_table",)
    assert operation("derived_google_tpu_v5p_int8").status == "estimate"  # its power is recalled
    assert operation("derived_google_tpu_v5e_bf16").status == "estimate"  # its power is an estimate
    assert operation("derived_nvidia_h100_sxm5_80_fp8").status == "derived"
    arithmetic = operations_for(operation="add", number_format="int", bits=8)
    assert all(not one.whole_chip for one in arithmetic)
    assert operations_for(operation="nothing") == ()


def test_measured_matrix_rates_are_few_and_below_peak():
    assert all(one.achieved_tflops < one.peak_dense_tflops for one in all_achieved())
    assert achieved("nvidia_h100_sxm5_80", "bf16").fraction_of_peak == 0.8033
    with pytest.raises(UnknownNameError, match="nvidia_a100_sxm4_80 bf16"):
        achieved("nvidia_t4", "bf16")


def test_parameters_agree_with_published_counts():
    counted = {one.model_id: (one, parameters_of(one)) for one in all_models()}
    total, active, seen = set(), set(), 0
    for name, (one, shape) in counted.items():
        if shape is None or one.params_total_b is None:
            continue
        seen += 1
        if abs(shape.total / 1e9 / one.params_total_b - 1) > 0.05:
            total.add(name)
        elif one.params_active_b and abs(shape.active / 1e9 / one.params_active_b - 1) > 0.05:
            active.add(name)
    assert seen > 90
    assert total == set(EXCEPTIONS)
    assert active == set(ACTIVE_EXCEPTIONS)


def test_parameters_by_hand():
    # Llama 2 7B: 32 layers of 4 attention matrices 4096² and 3 of 4096 x 11008, two tables of 32000 x 4096
    by_hand = 32 * (4 * 4096**2 + 3 * 4096 * 11008) + 2 * 32000 * 4096
    assert parameters_of(model("Llama 2 7B")).total == by_hand
    deepseek = parameters_of(model("DeepSeek-V3 671B"))
    assert (round(deepseek.total / 1e9), round(deepseek.active / 1e9)) == (671, 38)  # 37 without the input table
    assert parameters_of(model("BERT-base")) is None
    assert parameters_of(model("Gemini 1.0 Ultra")) is None


def test_cache_bytes():
    assert cache_bytes_per_token(model("Llama 2 7B")) == 2 * 32 * 32 * 128 * 2
    assert cache_bytes_per_token(model("DeepSeek-V3 671B")) == 61 * (512 + 64) * 2
    assert cache_bytes_per_token(model("GPT-4")) is None


def test_closed_models_are_estimates():
    for name in ("GPT-4", "Gemini 1.0 Ultra"):
        assert model(name).is_estimate
        assert model(name).status == "estimate"
    assert not model("Llama 3.1 405B").is_estimate
    # BLOOM is 70 layers of 14336: a public set of configurations has 96 of 12288, which is GPT-3
    assert (model("BLOOM 176B").layers, model("BLOOM 176B").hidden) == (70, 14336)


def test_prices_are_dated_or_said_to_be_undated():
    for one in all_prices():
        values = (
            one.usd_on_demand_per_chip_hour,
            one.usd_spot_per_chip_hour,
            one.usd_reserved_1y_per_chip_hour,
            one.usd_reserved_3y_per_chip_hour,
            one.usd_purchase_per_chip,
        )
        assert any(value is not None for value in values)
        assert all(value is None or value > 0 for value in values)
        assert (one.usd_purchase_per_chip is not None) == (one.kind == "purchase")
        assert one.price_date[:2] in ("20", "")
    dates = [one.price_date for one in prices_for("nvidia_a100_sxm4_80")]
    assert dates == sorted(dates)
    certain = prices_for("nvidia_h100_sxm5_80", kind="rental", estimates=False)
    assert certain
    assert all(one.status == "catalogue" and one.kind == "rental" for one in certain)
    with pytest.raises(UnknownNameError, match="rental, rental_block, purchase"):
        prices_for("T4", kind="gift")


def test_prices_of_electricity():
    (sweden,) = electricity_prices_for("Sweden", consumer="wholesale", period="2024")
    assert sweden.currency == "EUR"
    assert sweden.price_local_per_kwh != sweden.price_usd_per_kwh
    assert electricity_price("e0208").status == "estimate"  # Wisconsin: could not be read
    for one in all_electricity_prices():
        assert 0 < one.price_usd_per_kwh < 1


def test_software_gains_have_regressions_and_doubts():
    assert any(one.speedup_factor < 1 for one in all_software_gains())
    assert software_gain("sw01").status == "estimate"  # the best benchmark rather than the mean
