"""Kernel times: physical limits, measured values, shapes of arrays, kin of unmeasured chips, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.catalogue import _tables, all_chips
from energy.cost.kernels import (
    attention_backward_time_s,
    attention_time_s,
    gemm_time_s,
    memory_bound_time_s,
    models,
    node_collective_time_s,
    supports,
)
from energy.cost.kernels.attention import attention_bands, attention_shape, keys_per_query
from energy.cost.kernels.coefficients import PRECISIONS, kernel_chip, kin, measured_chips, precision
from energy.cost.kernels.collectives import GROUP_SIZES, KINDS, KNOTS, lender_of, surfaces, wire_bytes
from energy.cost.kernels.surface import Grid
from energy.cost.kernels.validation import compare_attention, compare_gemm
from energy.errors import CostError, EnergyError, UnknownNameError

H100, A100, H200, B200 = "nvidia_h100_sxm5_80", "nvidia_a100_sxm4_80", "nvidia_h200_sxm", "nvidia_b200_sxm"
MEASURED = sorted({(row.text("chip_id"), row.text("precision")) for row in _tables.rows("kernel_gemm")})
SIZE = st.integers(7, 15).map(lambda power: 2.0**power)
# Below, some measured kernels are slower at the smallest k than at the next.
LARGE = st.integers(10, 15).map(lambda power: 2.0**power)


# --- matrix products


@pytest.mark.parametrize(("chip", "wanted"), MEASURED)
def test_no_product_beats_the_peak_or_the_memory(chip, wanted):
    known, format_ = kernel_chip(chip), precision(wanted)
    m, n, k = (np.array(size) for size in zip((64, 8192, 8192), (16384, 8192, 8192), (1, 65536, 65536), strict=True))
    time = gemm_time_s(chip, wanted, m, n, k).time_s
    # The measured card of Intel runs at its printed peak: a tenth of slack is the error of the fit.
    assert (2 * m * n * k / time < known.peaks_flop_per_s[wanted] * 1.1).all()
    assert format_.input_bytes * n[2] * k[2] / time[2] < known.bandwidth_bytes_per_s * 1.1


@given(LARGE, LARGE, LARGE, st.sampled_from(MEASURED))
@settings(max_examples=60, deadline=None)
def test_four_times_the_work_takes_longer(m, n, k, pair):
    small, large = gemm_time_s(*pair, m, n, [k, 4 * k]).time_s
    wide = gemm_time_s(*pair, m, 4 * n, k).time_s[0]
    assert large > small
    assert wide > small


@given(st.lists(st.tuples(st.sampled_from(MEASURED), SIZE, SIZE, SIZE), min_size=1, max_size=20))
@settings(max_examples=30, deadline=None)
def test_an_array_of_mixed_chips_equals_scalar_calls(rows):
    pairs, m, n, k = zip(*rows, strict=True)
    chips, formats = zip(*pairs, strict=True)
    time, sigma = gemm_time_s(chips, formats, m, n, k)
    for place, (pair, *sizes) in enumerate(rows):
        alone = gemm_time_s(*pair, *sizes)
        assert alone.time_s.shape == (1,)
        assert time[place] == pytest.approx(alone.time_s[0], rel=1e-12)
        assert sigma[place] == alone.sigma_fraction[0]


def test_many_products_pass_in_blocks():
    m = np.linspace(1, 30_000, 70_001)
    time = gemm_time_s(H100, "bf16", m, 4096, 4096).time_s
    assert time.shape == m.shape
    assert time[-1] == gemm_time_s(H100, "bf16", m[-1], 4096, 4096).time_s[0]


def test_half_the_precision_is_faster_but_not_twice():
    wide, narrow = (gemm_time_s(H100, wanted, 8192, 8192, 8192).time_s[0] for wanted in ("bf16", "fp8"))
    assert 1.2 < wide / narrow < 2


def test_backward_shapes_are_not_twice_the_forward_shape():
    forward = gemm_time_s(H100, "bf16", 2048, 16384, 4096).time_s[0]
    backward = gemm_time_s(H100, "bf16", [2048, 4096], [4096, 16384], [16384, 2048]).time_s.sum()
    assert backward != pytest.approx(2 * forward, rel=1e-3)
    assert backward == pytest.approx(2 * forward, rel=0.3)


def test_every_rate_of_the_catalogue_has_an_answer_or_a_stated_reason():
    answered = 0
    for chip in all_chips():
        for wanted in kernel_chip(chip.chip_id).peaks_flop_per_s:
            try:
                time, sigma = gemm_time_s(chip.chip_id, wanted, [16, 4096], 4096, 4096)
            except CostError as error:
                assert "memory bandwidth" in str(error)
                continue
            answered += 1
            assert np.isfinite(time).all()
            assert (sigma > 0).all()
            assert 2 * 4096**3 / time[1] < kernel_chip(chip.chip_id).peaks_flop_per_s[wanted] * 1.1
    assert answered > 300


def test_the_band_widens_with_the_distance_of_the_kin():
    found = models([(H100, "bf16"), ("nvidia_h20", "bf16"), ("nvidia_v100_sxm2_32", "fp16"), ("amd_mi300x", "bf16")])
    assert found.kin_steps == (0, 1, 2, 3)
    assert (np.diff(found.sigma) > 0).all()
    assert (found.band95 > found.sigma).all()


def test_another_format_of_a_measured_chip_is_no_measurement_of_it():
    found = models([(H100, "fp16"), (H100, "tf32"), (A100, "int8")])
    assert found.kin_steps == (0, 2, 2)


def test_a_chip_that_is_left_out_is_described_by_its_kin_without_a_band():
    out = models([(H200, "bf16")], excluded=frozenset({H200}))
    assert (out.kin_ids, out.kin_steps) == ((H100,), (1,))
    assert np.isnan(out.sigma).all()


def test_cards_with_gddr_are_no_kin_of_data_centre_chips_of_the_same_name():
    known = {name: kernel_chip(name) for name in (B200, "nvidia_rtx_pro_6000_server")}
    assert kin(kernel_chip("nvidia_rtx_5090"), known) == ("nvidia_rtx_pro_6000_server", 1)
    assert kin(kernel_chip("nvidia_b100"), known) == (B200, 1)


def test_a_card_outside_the_catalogue_lends_to_nobody_else():
    assert measured_chips(["intel_arc_pro_b60"], kernel_chip("intel_gaudi3")) == {}
    assert list(measured_chips(["intel_arc_pro_b60"], kernel_chip("Intel Arc Pro B60"))) == ["intel_arc_pro_b60"]


# --- refusals


def test_a_precision_that_the_chip_lacks_names_those_it_has():
    with pytest.raises(CostError, match=r"has no rate in fp8; it has fp64, fp32, tf32, fp16, bf16, int8, int4"):
        gemm_time_s(A100, "fp8", 1, 1, 1)
    assert not supports(A100, "fp8")
    assert supports(A100, "bfloat16")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gemm_time_s("H100 SXM6", "bf16", 1, 1, 1), UnknownNameError, "not in the catalogue"),
        (lambda: gemm_time_s(H100, "bf15", 1, 1, 1), UnknownNameError, "Nearest: bf16"),
        (lambda: gemm_time_s(H100, "bf16", 0, 1, 1), CostError, "The size m is 0"),
        (lambda: gemm_time_s(H100, "bf16", 1, -4, 1), CostError, "The size n is -4"),
        (lambda: gemm_time_s(H100, "bf16", 1, 1, np.nan), CostError, "The size k is nan"),
        (lambda: gemm_time_s(H100, "bf16", [1, 2], [1, 2, 3], 1), CostError, "different shapes"),
        (lambda: gemm_time_s([H100], ["bf16", "fp8"], 1, 1, 1), CostError, "1 chips and 2 precisions"),
        (lambda: models([]), CostError, "No chip is given"),
        (lambda: gemm_time_s("graphcore_gc2", "fp16", 1, 1, 1), CostError, "memory bandwidth of graphcore_gc2"),
        (lambda: attention_time_s(H200, "bf16", 1, 30, 8, 128, 1, 1), CostError, "30 query heads cannot share 8"),
        (lambda: attention_time_s(H200, "bf16", 1, 8, 8, 128, 9, 8), CostError, "9 queries but 8 keys"),
        (lambda: attention_time_s(H200, "bf16", 1, 8, 8, 128, 8, 8, window=-1), CostError, "window"),
        (lambda: node_collective_time_s(H100, "allreduce", 1, 2), UnknownNameError, "Nearest: all_reduce"),
        (lambda: node_collective_time_s(H100, "all_reduce", -1, 2), CostError, "message_bytes"),
        (lambda: node_collective_time_s("apple_m1", "all_reduce", 1, 2), CostError, "no scale-up link"),
        (lambda: memory_bound_time_s(H100, 0), CostError, "moved_bytes is 0"),
        (lambda: compare_gemm({"chip": [], "dtype": []}), CostError, "no column m"),
    ],
)
def test_wrong_input_is_refused_in_one_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, EnergyError)


def test_all_precisions_have_bytes_and_a_measured_likeness():
    measured = {wanted for _, wanted in MEASURED}
    assert all(one.input_bytes > 0 and set(one.like) & measured for one in PRECISIONS.values())


# --- attention


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 80), st.booleans())
@settings(max_examples=200, deadline=None)
def test_pairs_under_the_mask_equal_a_count(queries, before, window, causal):
    keys = queries + before
    rows, columns = np.arange(queries)[:, None] + before, np.arange(keys)[None]
    mask = (columns <= rows) if causal else np.ones((queries, keys), dtype=bool)
    if window and causal:
        mask &= columns > rows - window
    expected = mask.sum() / queries if causal or not window else min(keys, window)
    assert keys_per_query(queries, keys, causal=causal, window=window)[0] == pytest.approx(expected)


def test_causal_attention_costs_about_half():
    half, whole = (
        attention_time_s(H200, "bf16", 1, 32, 8, 128, 16384, 16384, causal=c).time_s[0] for c in (True, False)
    )
    assert 1.6 < whole / half < 2.1


def test_a_window_makes_long_prompts_cheap():
    limited, whole = (attention_time_s(H200, "bf16", 1, 32, 8, 128, 16384, 16384, window=w).time_s[0] for w in (128, 0))
    assert limited < whole / 5


def test_decoding_reads_the_cache_no_faster_than_the_memory():
    batch, keys = 64, 32768
    time = attention_time_s(H200, "bf16", batch, 64, 8, 128, 1, keys).time_s[0]
    rate = 2 * batch * 8 * 128 * keys * 2 / time
    assert 0.6 * 4.8e12 < rate < 4.8e12


def test_a_group_of_heads_that_falls_back_is_slow_where_it_was_measured_so():
    few, many = (attention_time_s("nvidia_gb200", "bf16", 64, heads, 1, 128, 1, 2048).time_s[0] for heads in (8, 128))
    assert many > 10 * few


def test_an_array_of_prompts_and_queries_equals_scalar_calls():
    batch, query, keys, window = [1, 2, 64, 1], [512, 4096, 1, 8192], [512, 4096, 4096, 8192], [0, 128, 0, 0]
    width = [128, 64, 128, 96]
    together = attention_time_s(H100, "bf16", batch, 32, 8, width, query, keys, window=window)
    for at in range(4):
        alone = attention_time_s(H100, "bf16", batch[at], 32, 8, width[at], query[at], keys[at], window=window[at])
        assert together.time_s[at] == pytest.approx(alone.time_s[0], rel=1e-12)
        assert together.sigma_fraction[at] == alone.sigma_fraction[0]


def test_narrow_values_of_latent_attention_cost_less():
    square = attention_time_s(H200, "bf16", 1, 16, 16, 192, 8192, 8192).time_s[0]
    narrow = attention_time_s(H200, "bf16", 1, 16, 16, 192, 8192, 8192, value_dim=128).time_s[0]
    assert 0.75 < narrow / square < 0.95


def test_what_was_not_measured_has_a_wider_band():
    shape = attention_shape(1, 32, 8, 128, 4096, 4096)
    sigmas = [attention_bands(chip, "bf16", shape)[0].sigma_fraction[0] for chip in (B200, A100, "amd_mi300x")]
    assert sigmas == sorted(sigmas)
    assert len(set(sigmas)) == 3


def test_sixteen_bit_formats_are_one_and_others_are_no_measurement():
    shape = attention_shape(1, 32, 8, 128, 4096, 4096)
    brain, half, narrow = (attention_bands(H200, wanted, shape)[0] for wanted in ("bf16", "fp16", "fp8"))
    assert (half.time_s, half.sigma_fraction) == (brain.time_s, brain.sigma_fraction)
    assert narrow.sigma_fraction[0] > 2 * brain.sigma_fraction[0]
    assert narrow.time_s[0] < brain.time_s[0]


def test_backward_is_slower_and_less_sure():
    forward = attention_time_s(H200, "bf16", 1, 32, 8, 128, 4096, 4096)
    backward = attention_backward_time_s(forward)
    assert 2 <= backward.time_s[0] / forward.time_s[0] <= 3
    assert backward.sigma_fraction[0] > forward.sigma_fraction[0]


# --- operations that move bytes


def test_bytes_over_bandwidth_plus_launches():
    one, ten = memory_bound_time_s(H100, 1e6, launches=[1, 10]).time_s
    assert ten > 5 * one
    small, large = memory_bound_time_s(H100, [1e9, 2e9], launches=0).time_s
    assert large == pytest.approx(2 * small)


# --- collectives


def test_one_chip_has_nobody_to_talk_to():
    for kind in KINDS:
        assert wire_bytes(kind, 1e9, 1)[0] == 0
        assert node_collective_time_s(H100, kind, 1e9, [1, 2]).time_s[0] == 0


def test_every_surface_rises_with_its_bytes_on_any_link():
    """(1 + x) exp(c) never falls between knots: then a time rises with bytes and falls with bandwidth."""
    known = surfaces()
    ln_ratio = known.ln_ratio[:-KNOTS].reshape(-1, KNOTS)
    x = 2.0 ** np.linspace(-10, 10, 4001)
    for row in ln_ratio:
        time = (1 + x) * np.exp(np.interp(np.log2(x), np.arange(KNOTS) - 8.0, row))
        assert (np.diff(time) >= -1e-12).all()
        assert row[0] == 0


@given(st.sampled_from(KINDS), st.floats(2, 64), st.floats(1e3, 1e10))
@settings(max_examples=100, deadline=None)
def test_a_larger_group_is_not_much_faster_at_the_same_message(kind, count, size):
    """The fitted sizes are independent of each other: a gather of 2.7 MB over eight takes 0.70 of that over four."""
    one, two = node_collective_time_s("nvidia_a100_sxm4_80", kind, size, [count, 2 * count]).time_s
    assert two > 0.69 * one


def test_a_chip_borrows_from_its_maker_and_a_card_from_a_slot():
    assert lender_of("nvidia_h800_sxm5")[0] in (H100, "nvidia_h200_sxm")
    assert lender_of("nvidia_v100_sxm2_32")[0] == "nvidia_a100_sxm4_80"
    assert lender_of("nvidia_l40s") == ("nvidia_l40s", 0)
    assert lender_of("nvidia_rtx_4090")[0] == "nvidia_rtx_pro_6000_server"
    assert lender_of("amd_mi300x")[0] == lender_of("google_tpu_v5p")[0] == ""


def test_a_size_that_a_chip_lacks_is_that_of_its_generation():
    eight = [
        node_collective_time_s(chip, "all_gather", 1e8, 8).time_s[0] for chip in ("nvidia_gb200", "nvidia_b200_sxm")
    ]
    assert eight[0] == pytest.approx(eight[1], rel=0.1)
    assert surfaces().efficiency.size == (len(surfaces().position) + 1) * len(KINDS) * len(GROUP_SIZES)


def test_a_measured_all_reduce_may_exceed_the_link_because_the_switch_adds_up():
    size = 2.0**29
    time = node_collective_time_s(H100, "all_reduce", size, 8).time_s[0]
    assert wire_bytes("all_reduce", size, 8)[0] / time > 0.9 * 450e9
    assert node_collective_time_s(H100, "all_reduce", 256, 8).time_s[0] == pytest.approx(15.7e-6, rel=0.1)


def test_a_kin_lends_its_efficiency_and_not_its_link():
    rows = [
        node_collective_time_s("nvidia_h20", "all_gather", 1e9, 8, bandwidth_bytes_per_s=rate)
        for rate in (450e9, 225e9)
    ]
    assert rows[1].time_s[0] / rows[0].time_s[0] == pytest.approx(2, rel=0.05)
    measured = node_collective_time_s(H100, "all_gather", 1e9, 8)
    assert rows[0].sigma_fraction[0] >= measured.sigma_fraction[0] * 0.9
    other = node_collective_time_s("amd_mi300x", "all_gather", 1e9, 8)
    assert other.sigma_fraction[0] > 0.3


# --- the correction between knots


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_a_plane_in_the_logarithms_is_met_exactly_and_held_outside(values):
    grid = Grid(((1, 8, 64), (1, 4), (1, 2, 1024)))
    plane = np.array(
        [np.log2(a) + 2 * np.log2(b) - np.log2(c) for a in (1, 8, 64) for b in (1, 4) for c in (1, 2, 1024)]
    )
    x = np.array(values)
    got = grid.value(plane[None], 0, [x, x, x])
    inside = [np.log2(np.clip(x, 1, top)) for top in (64, 4, 1024)]
    assert got == pytest.approx(inside[0] + 2 * inside[1] - inside[2], abs=1e-9)


# --- comparison with measured tables


def test_a_row_without_an_answer_is_named_and_not_dropped():
    table = {
        "chip": ["NVIDIA H100 SXM", "Nobody", "NVIDIA A100 80GB SXM", H100],
        "dtype": ["bfloat16", "bfloat16", "fp8", "bf16"],
        "m": [4096, 4096, 4096, 0],
        "n": [4096] * 4,
        "k": [4096] * 4,
        "latency_ms": [0.1743] * 4,
    }
    found = compare_gemm(table)
    assert sorted(found.reasons) == [1, 2, 3]
    assert "fp8" in found.reasons[2]
    assert np.isnan(found.predicted_s).tolist() == [False, True, True, True]
    assert found.low95_s[0] < found.low80_s[0] < found.predicted_s[0] < found.high80_s[0] < found.high95_s[0]


def test_one_bad_attention_row_does_not_take_its_neighbours_along():
    table = {
        "chip": ["NVIDIA H200 SXM"] * 2,
        "op": ["context_attention"] * 2,
        "attn_dtype": ["bfloat16"] * 2,
        "kv_cache_dtype": ["bfloat16"] * 2,
        "head_dim": [128, 128],
        "window_size": [0, 0],
        "batch_size": [1, 1],
        "input_len": [8192, 0],
        "num_heads": [32, 32],
        "num_key_value_heads": [8, 8],
        "step": [0, 0],
        "latency_ms": [0.9, 0.9],
    }
    found = compare_attention(table)
    assert list(found.reasons) == [1]
    assert np.isfinite(found.predicted_s[0])
