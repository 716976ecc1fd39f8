"""Figures of one run: their bands, how they combine, what is not known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy import catalogue
from energy.cost.architecture import Architecture
from energy.cost.estimates import Figure, estimate
from energy.cost.requests import Request, usual_precision
from energy.errors import CostError

WIDTH = st.floats(0.01, 1.0)


def figure(value, width, status="estimate", source="a"):
    near, wide = math.exp(width), math.exp(1.53 * width)
    return Figure(value, "x", value / near, value * near, value / wide, value * wide, status, (source,))


@given(st.floats(1e-3, 1e9), st.floats(1e-3, 1e9), WIDTH, WIDTH, st.floats(0.0, 1.0))
def test_a_product_is_as_sure_as_both_together(one, two, wide, narrow, share):
    found = figure(one, wide).joined(figure(two, narrow), 2.0, "y", share=share)
    assert found.value == pytest.approx(2.0 * one * two)
    expected = math.hypot(wide, share * narrow)
    assert math.log(found.high80 / found.value) == pytest.approx(expected)
    assert math.log(found.value / found.low80) == pytest.approx(expected)
    assert found.low < found.low80 < found.value < found.high80 < found.high


def test_a_product_has_the_weaker_status_and_both_sources():
    found = figure(1.0, 0.1, "given", "a").joined(figure(1.0, 0.1, "estimate", "b"), 1.0, "y")
    assert found.status == "estimate" and found.sources == ("a", "b") and found.unit == "y"


def test_a_product_with_a_figure_without_bands_has_none():
    found = figure(2.0, 0.1).joined(Figure(3.0, "x"), 1.0, "y")
    assert found.value == 6.0 and found.ends == (None, None, None, None)


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6), WIDTH)
def test_a_rate_exchanges_the_ends(amount, value, width):
    found = figure(value, width).over(amount, "y")
    assert found.low < found.low80 < found.value < found.high80 < found.high
    back = found.over(amount, "x")
    assert back.low80 == pytest.approx(figure(value, width).low80)


def test_what_is_not_known_is_null_and_says_what_to_give():
    found = Figure.not_known("USD", "give --price")
    assert found.value is None and found.status == "no data"
    with pytest.raises(CostError, match="give --price"):
        found.times(2.0, "USD")


def test_times_and_hours_of_a_run_belong_together():
    request = Request(
        architecture=Architecture.of_model("Llama 3.1 8B"),
        kind="dense",
        chip="nvidia_h100_sxm5_80",
        chips=64,
        precision="bf16",
        framework="megatron-core",
    )
    figures = estimate(request, tokens=1e12).figures
    assert figures["chip_hours"].value == pytest.approx(figures["training_time"].value * 24 * 64)
    assert figures["throughput"].value * figures["training_time"].value * 86400 == pytest.approx(1e12)
    assert all(one.status == "estimate" and one.sources for one in figures.values())
    assert "training_time" not in estimate(request).figures
    with pytest.raises(CostError, match="tokens is nan"):
        estimate(request, tokens=float("nan"))


def test_no_band_goes_beyond_the_dense_peak_and_each_holds_its_value():
    small, reached = Architecture.of_model("Llama 3.2 1B"), []
    for chip in catalogue.all_chips():
        try:
            precision = usual_precision(chip.chip_id)
            found = estimate(Request(architecture=small, kind="dense", chip=chip.chip_id, chips=8, precision=precision))
        except CostError:
            continue
        used = found.figures["hardware_flop_utilisation"]
        assert used.high <= max(100.0, used.value) * (1 + 1e-9), chip.chip_id
        said = any("dense peak" in note for note in found.notes)
        assert said == (used.high >= 100.0 - 1e-9), chip.chip_id
        reached.append(said)
        for one in found.figures.values():
            assert one.low <= one.low80 <= one.value <= one.high80 <= one.high, chip.chip_id
    assert any(reached) and not all(reached)


@pytest.mark.parametrize(("recompute", "share"), [("none", 0.0), ("selective", 1.0), ("full", 1.0)])
def test_the_share_of_recompute_is_of_what_is_computed_again(recompute, share):
    shape = Architecture.of_model("Llama 3.1 8B")
    request = Request(
        architecture=shape, kind="dense", chip="nvidia_h100_sxm5_80", chips=8, precision="bf16", recompute=recompute
    )
    layout = estimate(request).layout
    assert (layout["recompute"], layout["recompute_share"]) == (recompute, share)


def test_a_product_with_an_exact_figure_keeps_the_order_of_its_ends():
    exact = Figure(2.0, "h", 2.0, 2.0, 2.0, 2.0)
    wide = Figure(5.0, "W", 4.0, 6.0, 3.0, 8.0)
    for one, other in ((exact, wide), (wide, exact), (exact, exact)):
        found = one.joined(other, 1.0, "Wh")
        assert found.low <= found.low80 <= found.value <= found.high80 <= found.high
