"""Rows that contradict themselves: which are changed, how, and that all others are left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from energy.cost.architecture import Architecture
from energy.cost.conventions import flops_per_token
from energy.cost.requests import Request
from energy.validation.contradictions import AGREES, CONTRADICTS, reconciled

LLAMA = Architecture.of_model("Llama 2 7B")
ASKED = Request(
    architecture=LLAMA,
    kind="dense",
    chip="nvidia_h100_sxm5_80",
    chips=8,
    precision="bf16",
    pipeline_parallel_size=4.0,
)


def _rates(shape: Architecture, length: float, factor: float = 1.0, convention: str = "model_causal") -> dict:
    each = float(np.asarray(flops_per_token(shape, length, convention, 3))[0]) * factor
    return {"tflops_per_s_per_chip": 300.0, "tokens_per_s_per_chip": 300e12 / each}


def _cut(layers: float) -> Architecture:
    whole = LLAMA.layers[0]
    names = ("layers", "full_attention_layers", "dense_layers")
    return replace(LLAMA, **{name: getattr(LLAMA, name) * layers / whole for name in names})


@pytest.mark.parametrize("convention", ["model_causal", "model_full", "hardware_causal", "hardware_full"])
@pytest.mark.parametrize("factor", [1 - 0.8 * CONTRADICTS, 1.0, 1 + 0.8 * CONTRADICTS])
def test_rates_that_fit_the_model_change_nothing(convention: str, factor: float) -> None:
    notes: list[str] = []
    assert reconciled(ASKED, _rates(LLAMA, 4096, factor, convention), notes) is ASKED
    assert notes == []


@pytest.mark.parametrize("layers", [4, 8, 16, 20, 64])
def test_the_depth_that_was_run_is_found(layers: int) -> None:
    notes: list[str] = []
    told = replace(ASKED, sequence_length=4096.0)
    found = reconciled(told, _rates(_cut(layers), 4096), notes)
    assert found.architecture.layers[0] == found.architecture.dense_layers[0] == layers
    assert found.sequence_length == 4096
    assert "layers" in notes[0] and len(notes) == 1


def test_a_depth_is_whole_layers_for_each_rank() -> None:
    notes: list[str] = []
    told = replace(ASKED, sequence_length=4096.0)
    assert reconciled(told, _rates(_cut(18), 4096), notes) is told
    assert "taken as it is printed" in notes[0]


def test_a_length_is_found_where_none_is_printed() -> None:
    notes: list[str] = []
    found = reconciled(ASKED, _rates(LLAMA, 65536), notes)
    assert found.sequence_length in (32768, 65536)  # the second causal or the first in full are the same
    assert found.architecture is LLAMA
    each = min(
        abs(float(np.asarray(flops_per_token(LLAMA, found.sequence_length, one))[0]) / _each(65536) - 1)
        for one in ("model_causal", "model_full")
    )
    assert each <= AGREES


def _each(length: float) -> float:
    return float(np.asarray(flops_per_token(LLAMA, length, "model_causal"))[0])


def test_adapters_and_assumed_shapes_are_left_alone() -> None:
    for one in (replace(ASKED, is_lora=True), replace(ASKED, shape_is_assumed=True), replace(ASKED, kind="hybrid")):
        assert reconciled(one, _rates(_cut(8), 4096), []) is one


def test_samples_are_short_enough_for_the_peak() -> None:
    peak = 8 * 989.4e12
    notes: list[str] = []
    usual = ASKED.usual_sequence_length
    just = {"samples_per_s_total": 0.9 * peak / (usual * _each(usual))}
    assert reconciled(ASKED, just, notes) is ASKED and notes == []
    much = {"samples_per_s_total": 7.0 * peak / (usual * _each(usual))}
    found = reconciled(ASKED, much, notes)
    assert found.sequence_length == usual / 8 and found.sequence_is_assumed
    assert "more than the peak" in notes[0]
    told = replace(ASKED, sequence_length=usual)
    assert reconciled(told, much, []) is told


@pytest.mark.parametrize("bad", [None, 0.0, -3.0])
def test_rates_that_say_nothing_change_nothing(bad: float | None) -> None:
    rates = {"tflops_per_s_per_chip": bad, "tokens_per_s_per_chip": bad, "samples_per_s_total": bad}
    assert reconciled(ASKED, rates, []) is ASKED
