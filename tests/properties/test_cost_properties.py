"""Properties of the cost engine: arrays equal scalars, more sharding never holds more, conventions are one time."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.cost.activations import activation_bytes_per_layer
from energy.cost.architecture import Architecture
from energy.cost.conventions import CONVENTIONS, converted, flops_per_token
from energy.cost.counts import forward_flops_per_token, parameters, step_flops, training_flops_per_token
from energy.cost.mapping import RECOMPUTE, Mapping
from energy.cost.memory import chip_memory
from energy.cost.traffic import memory_bound_bytes
from energy.errors import CostError

NAMES = [
    "llama31_8b",
    "llama31_405b",
    "gpt3_175b",
    "deepseek_v3",
    "mixtral_8x7b",
    "gemma3_27b",
    "qwen3_next_80b",
    "llama4_maverick",
    "falcon_7b",
    "bert_large",
    "t5_11b",
]
MODELS = Architecture.of_model(NAMES)
powers = st.sampled_from([1, 2, 4, 8, 16])
# Other work on the machine may slow one example.
unhurried = settings(deadline=None, max_examples=60)
scenario = st.fixed_dictionaries(
    {
        "tensor_parallel_size": powers,
        "pipeline_parallel_size": powers,
        "virtual_stages": st.sampled_from([1, 2, 3]),
        "data_parallel_size": powers,
        "context_parallel_size": st.sampled_from([1, 2, 4]),
        "expert_parallel_size": powers,
        "zero_stage": st.sampled_from([0, 1, 2, 3]),
        "micro_batch_size": st.sampled_from([1, 2, 3]),
        "global_batch_size": st.sampled_from([96, 768]),
        "sequence_length": st.sampled_from([512, 2048, 32768]),
        "sequence_parallel": st.booleans(),
        "attention_fused": st.booleans(),
        "recompute": st.sampled_from(RECOMPUTE),
        "precision": st.sampled_from(["fp32", "fp16", "bf16", "fp8", "fp4"]),
    }
)
many = st.lists(st.tuples(st.integers(0, len(NAMES) - 1), scenario), min_size=1, max_size=8)


def _together(rows: list) -> tuple[Architecture, Mapping]:
    models = MODELS[[index for index, _ in rows]]
    return models, Mapping.of(**{key: [row[key] for _, row in rows] for key in rows[0][1]})


def _flat(result: object) -> dict[str, np.ndarray]:
    return {one.name: getattr(result, one.name) for one in fields(result)}  # type: ignore[arg-type]


@unhurried
@given(many)
def test_arrays_and_scalars_are_the_same_code(rows):
    models, mapping = _together(rows)
    answers = [
        _flat(chip_memory(models, mapping)),
        _flat(step_flops(models, mapping).recompute),
        _flat(memory_bound_bytes(models, mapping)[1]),
        _flat(parameters(models)),
        {"usable": mapping.usable(models)},
    ]
    for place in range(len(rows)):
        one, alone = models[place], mapping[place]
        single = [
            _flat(chip_memory(one, alone)),
            _flat(step_flops(one, alone).recompute),
            _flat(memory_bound_bytes(one, alone)[1]),
            _flat(parameters(one)),
            {"usable": alone.usable(one)},
        ]
        for together, apart in zip(answers, single, strict=True):
            for name, values in apart.items():
                np.testing.assert_allclose(together[name][place], values[0], rtol=1e-12, err_msg=name)


@unhurried
@given(many)
def test_the_filter_and_the_check_agree(rows):
    models, mapping = _together(rows)
    for place, usable in enumerate(mapping.usable(models)):
        try:
            mapping[place].check(models[place])
            assert usable
        except CostError as error:
            assert not usable
            assert "\n" not in str(error)


@unhurried
@given(many)
def test_all_culprits_are_finite_and_not_negative(rows):
    models, mapping = _together(rows)
    for name, values in _flat(chip_memory(models, mapping)).items():
        assert np.isfinite(values).all() and (values >= 0).all(), name


@unhurried
@given(st.integers(0, len(NAMES) - 1), scenario)
def test_more_recompute_never_keeps_more(index, row):
    order = [row | {"recompute": name} for name in RECOMPUTE]
    models, mapping = _together([(index, one) for one in order])
    kept = activation_bytes_per_layer(models, mapping).total
    assert (np.diff(kept[[0, 1]]) <= 0).all()
    assert (np.diff(kept[[0, 2, 3]]) <= 0).all()
    flops = training_flops_per_token(models, mapping.sequence_length, mapping.recompute).recompute.total
    assert flops[0] == 0
    assert (np.diff(flops[[0, 2, 3]]) > 0).all()


@unhurried
@given(st.integers(0, len(NAMES) - 1), scenario)
def test_more_zero_never_holds_more_state(index, row):
    models, mapping = _together([(index, row | {"zero_stage": stage}) for stage in (0, 1, 2, 3)])
    held = chip_memory(models, mapping)
    state = held.weights + held.gradients + held.optimiser
    assert (np.diff(state) <= 1e-6 * state[0]).all()


@unhurried
@given(st.integers(0, len(NAMES) - 1), scenario, st.sampled_from([2, 4]))
def test_activations_are_proportional_to_the_micro_batch(index, row, factor):
    models, mapping = _together([(index, row), (index, row | {"micro_batch_size": row["micro_batch_size"] * factor})])
    kept = activation_bytes_per_layer(models, mapping).total
    np.testing.assert_allclose(kept[1], factor * kept[0], rtol=1e-12)


@unhurried
@given(st.sampled_from(list(CONVENTIONS)), st.sampled_from(list(CONVENTIONS)), st.integers(1, 200000))
def test_conversion_there_and_back_is_the_figure(given_, wanted, length):
    there = converted(123.0, MODELS, length, given_, wanted, 3)
    np.testing.assert_allclose(converted(there, MODELS, length, wanted, given_, 3), 123.0, rtol=1e-12)


@unhurried
@given(st.integers(1, 1_000_000))
def test_conventions_stand_in_their_order(length):
    causal, full, hardware = (
        flops_per_token(MODELS, length, one, 3) for one in ("model_causal", "model_full", "hardware_full")
    )
    assert (causal <= full * (1 + 1e-12)).all()
    assert (full < hardware).all()


@unhurried
@given(st.integers(2, 500_000))
def test_forward_flops_grow_with_the_sequence_and_keep_their_matrices(length):
    short, long = forward_flops_per_token(MODELS, length), forward_flops_per_token(MODELS, length * 2)
    assert (long.scores >= short.scores).all()
    np.testing.assert_array_equal(short.matrices, long.matrices)
