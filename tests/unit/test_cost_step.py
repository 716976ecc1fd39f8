"""Links, step time, stacks, bands: behaviour that any fit must keep."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.cost.architecture import Architecture
from energy.cost.estimates import estimate
from energy.cost.kernels import node_collective_time_s
from energy.cost.kernels.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, KINDS
from energy.cost.links import Fabric, Groups, collective_s, gather_s, group, reduce_s, warnings_of
from energy.cost.mapping import Mapping
from energy.cost.profile import profile
from energy.cost.requests import Request, kind_of, usual_precision
from energy.cost.stack import Terms, chip_family, factor_of, overlap_of, stack_family, terms
from energy.cost.step import StepTime, Work, rates, step_time
from energy.cost.training import answer, plan
from energy.errors import CostError, UnknownNameError

LLAMA = Architecture.of_model("Llama 3.1 70B")
MIXTURE = Architecture.of_model("Qwen3 235B-A22B")
H100 = "nvidia_h100_sxm5_80"
TENSOR, PIPELINE, DATA = "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"


def work_of(mapping: Mapping, shape: Architecture = LLAMA, chip: str = H100, stack: str = "megatron") -> Work:
    n = len(mapping)
    one, at = np.ones(n), np.zeros(n, np.intp)
    fabric, overlap = Fabric.of([chip])[at], overlap_of([stack])[at]
    return Work(shape, mapping, (chip,), fabric, overlap, one, one, one, one, one, np.zeros(n, np.bool_))


def mapping_of(**changes: object) -> Mapping:
    usual = {
        "sequence_length": 4096,
        "micro_batch_size": 1,
        "global_batch_size": 128,
        "precision": "bf16",
        TENSOR: 4,
        PIPELINE: 4,
        DATA: 4,
        "zero_stage": 1,
        "sequence_parallel": True,
    }
    return Mapping.of(**{**usual, **changes})


def seconds(shape: Architecture = LLAMA, chip: str = H100, **changes: object) -> StepTime:
    return step_time(work_of(mapping_of(**changes), shape, chip))


# --- links ---


@pytest.mark.parametrize(
    ("chip", "size"),
    [(H100, 8), ("nvidia_gb200", 72), ("google_tpu_v5e", 256), ("amd_mi300x", 8), ("nvidia_a100_sxm4_80", 8)],
)
def test_the_scale_up_domain_is_that_of_the_system(chip, size):
    assert Fabric.of([chip]).domain_size[0] == size


def test_a_group_beyond_the_domain_is_slower_than_one_inside():
    fabric, one = Fabric.of([H100]), np.array([1.0])
    inside, beyond = group(fabric, np.array([8.0]), one), group(fabric, np.array([16.0]), one)
    message = np.array([1e9])
    assert gather_s(beyond, message)[0] > 1.05 * gather_s(inside, message)[0]
    assert beyond.crosses[0] and not inside.crosses[0]


def test_who_crosses_follows_the_layout_of_ranks():
    groups = Groups.of(Fabric.of([H100]), mapping_of(**{TENSOR: 8, PIPELINE: 1, DATA: 16}))
    assert not groups.tensor.crosses[0]
    assert groups.data.crosses[0] and groups.data.inside[0] == 1


@pytest.mark.parametrize("sizes", [(4, 16, 1), (2, 4, 8), (1, 8, 4), (1, 16, 4)])
def test_a_chain_of_stages_beyond_the_domain_is_as_slow_as_its_hand_over_across(sizes):
    # two stages of these lie in one server, the chain does not
    tensor, stages, data = sizes
    mapping = mapping_of(**{TENSOR: tensor, PIPELINE: stages, DATA: data, "global_batch_size": 64 * data})
    bit = Fabric.of([H100], outside_gbit_per_s_per_chip=[1e-9])
    slow = step_time(replace(work_of(mapping), fabric=bit))
    assert slow.pipeline_communication[0] > 1e6 * seconds(**{TENSOR: 4, PIPELINE: 2, DATA: 1}).pipeline_communication[0]
    inside = mapping_of(**{TENSOR: 2, PIPELINE: 4, DATA: 1})
    assert step_time(replace(work_of(inside), fabric=bit)).total == pytest.approx(step_time(work_of(inside)).total)


def test_a_pair_of_a_mesh_has_one_link_and_a_whole_group_all():
    fabric, one = Fabric.of(["amd_mi300x"]), np.array([1.0])
    pair, whole = group(fabric, np.array([2.0]), one), group(fabric, np.array([8.0]), one)
    assert whole.link_bytes_per_s[0] == pytest.approx(7 * pair.link_bytes_per_s[0])


ANY_CHIP = st.sampled_from(
    [H100, "nvidia_gb200", "nvidia_rubin", "nvidia_l40s", "nvidia_t4", "amd_mi300x", "google_tpu_v5p", "apple_m2_ultra"]
)


@given(ANY_CHIP, st.sampled_from(range(4)), st.integers(2, 512), st.floats(1e2, 1e10), st.floats(1.01, 10))
@settings(deadline=None)
def test_collectives_rise_with_the_message_and_alone_cost_nothing(chip, kind, size, message, factor):
    fabric, one = Fabric.of([chip]), np.array([1.0])
    ranks = group(fabric, np.array([float(size)]), one)
    small, large = (collective_s(ranks, np.array([kind]), np.array([message * by])) for by in (1.0, factor))
    assert large[0] >= small[0] > 0
    assert collective_s(group(fabric, one, one), np.array([kind]), np.array([message]))[0] == 0


@given(ANY_CHIP, st.sampled_from(range(4)), st.integers(2, 64), st.floats(1e2, 1e10), st.floats(1.01, 10))
@settings(deadline=None)
def test_collectives_fall_with_the_bandwidth(chip, kind, size, message, factor):
    fabric, one = Fabric.of([chip]), np.array([1.0])
    faster = replace(
        fabric,
        inside_bytes_per_s=fabric.inside_bytes_per_s * factor,
        outside_bytes_per_s=fabric.outside_bytes_per_s * factor,
    )
    ranks, whole = np.array([float(size)]), np.array([message])
    slow, fast = (collective_s(group(on, ranks, one), np.array([kind]), whole)[0] for on in (fabric, faster))
    # By nanoseconds a start-up that is part of both may round either way.
    assert fast <= slow * (1 + 1e-12)


def test_an_all_reduce_costs_no_more_than_a_scatter_and_a_gather():
    for chip in (H100, "nvidia_a100_sxm4_80", "nvidia_b200_sxm"):
        ranks = group(Fabric.of([chip]), np.array([8.0]), np.array([1.0]))
        for message in (1e4, 1e6, 1e8):
            assert reduce_s(ranks, np.array([message]))[0] < 2.1 * gather_s(ranks, np.array([message]))[0]


def test_an_exchange_on_a_torus_pays_for_its_hops():
    fabric, one, message = Fabric.of(["google_tpu_v5p"]), np.array([1.0]), np.array([1e9])
    near, far = (group(fabric, np.array([size]), one, np.array([4096.0])) for size in (64.0, 4096.0))
    exchange = np.array([ALL_TO_ALL])
    assert collective_s(far, exchange, message)[0] > 2 * collective_s(near, exchange, message)[0]
    assert collective_s(far, np.array([ALL_GATHER]), message)[0] < collective_s(far, exchange, message)[0]


def test_many_collectives_at_once_are_each_alone():
    chips = [H100, "amd_mi300x", "google_tpu_v5p", "nvidia_gb200", "nvidia_t4"]
    fabric, sizes = Fabric.of(chips), np.array([[8.0, 8.0, 64.0, 64.0, 4.0], [16.0, 16.0, 4.0, 128.0, 2.0]])
    kinds, message = np.array([[ALL_REDUCE], [ALL_TO_ALL]]), np.full((2, 5), 3e7)
    together = collective_s(group(fabric, sizes, np.ones((2, 5))), kinds, message)
    for row in range(2):
        for place, chip in enumerate(chips):
            one = group(Fabric.of([chip]), sizes[row, place : place + 1], np.ones(1))
            assert collective_s(one, kinds[row], message[row, :1])[0] == pytest.approx(together[row, place])


def test_tensor_ranks_beyond_the_domain_are_said_with_their_cost():
    fabric, mapping = Fabric.of([H100]), mapping_of(**{TENSOR: 16, PIPELINE: 1})
    (said,) = [one for one in warnings_of(fabric, mapping, Groups.of(fabric, mapping)) if "scale-up" in one]
    found = re.search(r"16 is beyond .* takes (\S+) times as long as inside, where 8", said)
    assert found and float(found[1]) > 1.0


@pytest.mark.parametrize(("chip", "says"), [("huawei_ascend_910", True), ("nvidia_h100_sxm5_80", False)])
def test_a_chip_without_a_known_link_says_what_is_assumed(chip, says):
    mapping = mapping_of(data_parallel_size=4)
    fabric = Fabric.of([chip])
    said = warnings_of(fabric, mapping, Groups.of(fabric, mapping))
    assert any("knows no link between these chips" in one for one in said) == says


@pytest.mark.parametrize(
    ("chip", "says", "domain"),
    [
        ("nvidia_t4", "over their slots, 15.75 GB/s", 8),
        ("amd_mi300a", "by their family: 4 of them in pairs, 192 GB/s", 4),
        ("apple_m2_ultra", "over the network alone", 1),
    ],
)
def test_where_a_link_is_from_is_said(chip, says, domain):
    mapping, fabric = mapping_of(data_parallel_size=4), Fabric.of([chip])
    assert fabric.domain_size[0] == domain
    assert any(says in one for one in warnings_of(fabric, mapping, Groups.of(fabric, mapping)))


@pytest.mark.parametrize("chip", ["nvidia_a100_sxm4_80", "nvidia_h100_sxm5_80", "nvidia_b200_sxm", "nvidia_l40s"])
@pytest.mark.parametrize("size", [2, 4, 8])
def test_collectives_of_the_step_are_the_measured_ones(chip, size):
    ranks = group(Fabric.of([chip]), np.array([float(size)]), np.array([1.0]))
    for code, kind in enumerate(KINDS):
        for message in (1e4, 16e6, 512e6):
            measured = node_collective_time_s(chip, kind, message, size).time_s[0]
            assert collective_s(ranks, np.array([code]), np.array([message]))[0] == pytest.approx(measured, rel=1e-6)


def test_a_chip_without_a_known_network_says_what_is_assumed():
    mapping = mapping_of(**{TENSOR: 1, PIPELINE: 1, DATA: 16})
    fabric = Fabric.of(["nvidia_rtx_4090"])
    assert any("assumed" in one for one in warnings_of(fabric, mapping, Groups.of(fabric, mapping)))


# --- step ---


def test_states_are_finite_and_not_negative_and_add_up():
    step = seconds(
        **{"micro_batch_size": [1, 2, 4], "virtual_stages": [1, 2, 5], "recompute": ["none", "full", "none"]}
    )
    parts = np.stack([getattr(step, one.name) for one in fields(step)])
    assert np.isfinite(parts).all() and (parts >= 0).all()
    assert step.total == pytest.approx(parts.sum(axis=0))


def test_scenarios_at_once_equal_scenarios_one_by_one():
    rng = np.random.default_rng(3)
    n = 64
    mapping = mapping_of(
        **{
            TENSOR: rng.choice([1, 2, 4, 8], n),
            PIPELINE: rng.choice([1, 2, 4], n),
            "micro_batch_size": rng.choice([1, 2], n),
            "zero_stage": rng.choice([0, 1, 3], n),
            "precision": rng.choice(["bf16", "fp8"], n),
            "recompute": rng.choice(["none", "full"], n),
        }
    )
    together = step_time(work_of(mapping)).total
    alone = [step_time(work_of(mapping[i])).total[0] for i in range(n)]
    assert together == pytest.approx(alone, rel=1e-12)


def test_scenarios_of_several_chips_and_models_equal_those_alone():
    shapes = Architecture.concat([LLAMA, MIXTURE] * 20)
    chips = (H100, "nvidia_a100_sxm4_80", "google_tpu_v5p", H100) * 10
    mapping = mapping_of(**{"micro_batch_size": [1] * 40})
    work = work_of(mapping, shapes)
    together = step_time(replace(work, chips=chips, fabric=Fabric.of(chips))).total
    alone = [step_time(work_of(mapping[i], shapes[i], chips[i])).total[0] for i in range(40)]
    assert together == pytest.approx(alone, rel=1e-12)


def test_the_bubble_is_the_published_one_and_interleaving_divides_it():
    plain, cut = seconds(**{PIPELINE: 8}), seconds(**{PIPELINE: 8, "virtual_stages": 5})
    pipelined = plain.total - plain.imbalance - plain.data_communication - plain.optimiser - plain.host
    assert plain.bubble[0] / (pipelined - plain.bubble)[0] == pytest.approx(7 / 32, rel=1e-6)
    assert cut.bubble[0] < plain.bubble[0] / 4


@pytest.mark.parametrize("stages_of", [1, 2, 3, 4, 7, 16, 40])
def test_the_slowest_stage_is_the_one_that_the_count_of_stages_says(stages_of):
    from energy.cost.stages import stages

    mapping = mapping_of(**{PIPELINE: stages_of})
    step = step_time(work_of(mapping))
    plain = step_time(work_of(mapping_of(**{PIPELINE: 1})))
    layer = (plain.total - plain.data_communication - plain.optimiser - plain.host)[0] / 80
    most = max(float(one.layers[0]) for one in stages(LLAMA, mapping))
    pace = (step.matmul + step.attention + step.memory_bound + step.tensor_communication + step.imbalance)[0]
    assert most * layer * 0.95 < pace < (most + 3) * layer * 1.05


def test_full_recompute_costs_about_a_third_of_the_model_flops_and_selective_nothing_when_fused():
    none, full, selective = (seconds(recompute=one) for one in ("none", "full", "selective"))
    computed = (none.matmul + none.attention)[0]
    assert 0.25 < full.recompute[0] / computed < 0.45
    assert selective.recompute[0] == 0 == none.recompute[0]
    assert full.tensor_communication[0] == pytest.approx(1.5 * none.tensor_communication[0])


def test_selective_recompute_of_bare_scores_costs_little():
    full, selective = (seconds(recompute=one, attention_fused=False).recompute[0] for one in ("full", "selective"))
    assert 0 < selective < 0.4 * full


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_one_data_rank_sends_nothing(stage):
    assert seconds(**{DATA: 1, "zero_stage": stage}).data_communication[0] == 0


def test_nothing_is_sent_where_nothing_is_split():
    step = seconds(**{TENSOR: 1, PIPELINE: 1, DATA: 1, "sequence_parallel": False})
    for name in ("tensor", "context", "expert", "pipeline", "data"):
        assert getattr(step, f"{name}_communication")[0] == 0
    assert step.bubble[0] == step.imbalance[0] == 0


def test_sharded_weights_are_gathered_in_each_micro_batch():
    many, few = (
        seconds(zero_stage=3, micro_batch_size=one, **{TENSOR: 1, PIPELINE: 1, DATA: 64, "global_batch_size": 512})
        for one in (1, 8)
    )
    assert many.data_communication[0] > 4 * few.data_communication[0]


def test_sharding_divides_the_optimiser():
    whole, cut = seconds(zero_stage=0).optimiser[0], seconds(zero_stage=1).optimiser[0]
    assert whole == pytest.approx(4 * cut)


def test_half_the_precision_is_faster_but_not_twice():
    wide, narrow = seconds(precision="bf16").total[0], seconds(precision="fp8").total[0]
    assert 0.5 * wide < narrow < wide


def test_experts_far_away_cost_more_than_near_ones():
    near, far = (
        seconds(MIXTURE, expert_parallel_size=one, **{TENSOR: 1, PIPELINE: 4, DATA: 64, "global_batch_size": 1024})
        for one in (8, 64)
    )
    assert far.expert_communication[0] > 1.5 * near.expert_communication[0] > 0


def test_uneven_routing_costs():
    even = work_of(mapping_of(expert_parallel_size=8, **{TENSOR: 1, DATA: 16}), MIXTURE)
    uneven = replace(even, expert_imbalance=np.array([1.5]))
    assert step_time(uneven).total[0] > 1.1 * step_time(even).total[0]


def test_a_badly_aligned_width_is_slower_for_each_flop():
    aligned, odd = (
        Architecture.of_shape(
            layers=8, hidden=hidden, heads=96, ffn=4 * hidden, vocab=51200, gated=False, tied_embeddings=True
        )
        for hidden in (13824, 14400)
    )
    one, two = (step_time(work_of(mapping_of(**{TENSOR: 8, PIPELINE: 1}), shape)).matmul[0] for shape in (aligned, odd))
    assert two / one > 1.1 * (14400 / 13824) ** 2


def test_adapters_need_no_weight_gradient_no_optimiser_no_reduction():
    whole = work_of(mapping_of())
    adapters = replace(whole, is_lora=np.array([True]))
    all_of_it, part = step_time(whole), step_time(adapters)
    assert part.matmul[0] == pytest.approx(2 / 3 * all_of_it.matmul[0], rel=0.05)
    assert part.optimiser[0] == part.data_communication[0] == 0


def test_a_slower_clock_slows_products_and_a_slower_memory_the_rest():
    base = work_of(mapping_of())
    clock = step_time(replace(base, clock=np.array([0.8])))
    stream = step_time(replace(base, stream=np.array([0.5])))
    plain = step_time(base)
    assert clock.matmul[0] == pytest.approx(plain.matmul[0] / 0.8)
    assert clock.memory_bound[0] == pytest.approx(plain.memory_bound[0])
    assert stream.matmul[0] == pytest.approx(plain.matmul[0])
    assert stream.memory_bound[0] > plain.memory_bound[0]


@settings(max_examples=30)
@given(st.floats(0.5, 3.0))
def test_a_factor_multiplies_the_whole(factor):
    plain = seconds()
    assert plain.with_factor(factor).total[0] == pytest.approx(factor * plain.total[0])


def test_utilisation_counts_recompute_only_as_hardware():
    work = work_of(mapping_of(recompute=["none", "full"]))
    used = rates(work, step_time(work).total)
    assert used.mfu[0] == used.hfu[0]
    assert used.mfu[1] < used.hfu[1]
    assert used.mfu[1] < used.mfu[0] < 0.75


def test_a_chip_without_the_precision_is_refused_with_those_it_has():
    with pytest.raises(CostError, match="has no rate in fp8; it has"):
        seconds(chip="nvidia_a100_sxm4_80", precision="fp8")


@pytest.mark.parametrize("factor", [1.0, 0.9, 1.4])
def test_the_shares_of_a_profile_add_up(factor):
    work = work_of(mapping_of())
    step = step_time(work).with_factor(factor)
    shares = profile(step, work)
    assert (shares.compute + shares.memory_bound + shares.communication + shares.idle)[0] == pytest.approx(1.0)
    assert 0 < shares.compute_rate[0] < 1


# --- stacks and bands ---


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("Megatron-Bridge 26.04.01", "nemo"),
        ("NeMo", "nemo"),
        ("Megatron-DeepSpeed", "megatron_deepspeed"),
        ("DeepSpeed+Megatron", "megatron_deepspeed"),
        ("DeepSpeed ZeRO-3", "deepspeed"),
        ("Megatron-Core r0.8.0", "megatron_core"),
        ("llm-foundry/Composer", "llm_foundry"),
        ("Primus Megatron", "primus"),
        ("JAX", "xla"),
        ("Optimum Habana", "habana"),
        ("a framework of tomorrow", "other"),
    ],
)
def test_every_spelling_has_a_family(text, family):
    assert stack_family(text) == family


def own(family: str = "nemo", chip: str = H100, kind: str = "dense", **more: float | None) -> Terms:
    return terms(family, chip, kind, "bf16", **more)


def test_an_unseen_stack_or_chip_has_a_wider_band_and_a_factor_near_its_relatives():
    seen, elsewhere, nobody = factor_of([own(), own("llm_foundry", "amd_mi300x"), own("other", "aws_trainium2")]).ln80
    assert seen < elsewhere
    assert seen < nobody
    factor = factor_of([own("other", "aws_trainium2")]).factor[0]
    assert 0.8 < factor < 1.5


def test_software_changes_with_the_year_but_not_beyond_what_was_seen():
    first, last, later, untold = factor_of([own(kind="moe", year=one) for one in (2025.7, 2026.5, 2040.0, None)]).factor
    assert first > untold > last
    assert later == pytest.approx(last, rel=0.05)


def test_bands_hold_the_time_and_the_wider_holds_the_narrower():
    found = answer([plan(Request(architecture=LLAMA, kind="dense", chip=H100, chips=64, precision="bf16"))])
    assert found.low_s[0] < found.low80_s[0] < found.time_s[0] < found.high80_s[0] < found.high_s[0]


def test_chip_families_are_generations():
    assert chip_family("nvidia_h200_sxm") == chip_family(H100) != chip_family("nvidia_a100_sxm4_80")
    assert chip_family("google_tpu_v4") != chip_family("google_tpu_v5p")


# --- requests ---


def request_of(**changes: object) -> Request:
    usual = {"architecture": LLAMA, "kind": "dense", "chip": H100, "chips": 64.0, "precision": "bf16"}
    return Request(**{**usual, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"chips": 0.0}, "chips is 0"),
        ({"chips": float("nan")}, "chips is nan"),
        ({"chips": -8.0}, "chips is -8"),
        ({"chips": 7.5}, "chips is 7.5"),
        ({"micro_batch_size": 0.0}, "micro_batch_size is 0"),
        ({"precision": "fp9"}, "'fp9' is not known"),
        ({"recompute": "some"}, "'some' is not known"),
        ({"tensor_parallel_size": 6.0, "pipeline_parallel_size": 1.0, "chips": 6.0}, "attention heads: 4 or 8 does"),
        ({"tensor_parallel_size": 4.0, "pipeline_parallel_size": 3.0}, "chips follow from"),
        ({"global_batch_size": 65.0, "micro_batch_size": 2.0, "data_parallel_size": 64.0}, "not a multiple"),
        ({"chips": 2.0}, "does not fit in the 80 GB"),
        ({"power_limit_w": -1.0}, "power_limit_w is -1"),
    ],
)
def test_what_cannot_run_is_one_line_that_names_the_number(changes, words):
    with pytest.raises((CostError, UnknownNameError)) as caught:
        estimate(request_of(**changes))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_given_is_chosen_and_said():
    one = plan(request_of(sequence_length=4096.0, global_batch_size=256.0))
    assert one.mapping.usable(LLAMA, 64)[0]
    assert any("layouts" in note for note in one.notes)


@pytest.mark.parametrize("gbit", [1.0, 10.0, 400.0])
@pytest.mark.parametrize("chips", [64.0, 512.0, 4096.0])
def test_a_batch_that_nobody_gave_is_usual_and_said(chips, gbit):
    one = plan(request_of(chips=chips, outside_gbit_per_s_per_chip=gbit))
    tokens = float(one.mapping.tokens_per_step[0])
    assert 2e6 < tokens <= 2 * max(2**22, 4 * 4096 * chips / 8)  # no slow network is answered with a giant batch
    assert any(f"{float(one.mapping.global_batch_size[0]):g} sequences" in note for note in one.notes)
    told = plan(request_of(chips=chips, outside_gbit_per_s_per_chip=gbit, global_batch_size=1024.0))
    assert not any("global batch" in note for note in told.notes)


def test_experts_are_asked_about_only_where_there_are_some():
    with pytest.raises(CostError, match="expert_imbalance is 2 but the model has no experts"):
        plan(request_of(expert_imbalance=2.0))
    mixture = {"architecture": MIXTURE, "kind": "moe", "chips": 256.0}
    even, uneven = (answer([plan(request_of(expert_imbalance=x, **mixture))]).time_s[0] for x in (1.0, 2.0))
    assert uneven > even


@pytest.mark.parametrize("chip", ["nvidia_t4", "google_tpu_v2", "google_tpu_v4i", "cerebras_wse1"])
def test_a_remedy_is_one_that_a_request_can_ask_for(chip):
    small = {"architecture": Architecture.of_model("Llama 3.1 8B"), "chips": 8.0}
    with pytest.raises(CostError, match="does not fit") as caught:
        plan(request_of(chip=chip, precision=usual_precision(chip), **small))
    assert "optimiser adam" not in str(caught.value)


def test_what_is_given_is_kept():
    one = plan(request_of(tensor_parallel_size=8.0, pipeline_parallel_size=4.0, micro_batch_size=1.0))
    assert (one.mapping.tensor_parallel_size[0], one.mapping.pipeline_parallel_size[0]) == (8, 4)


def test_the_search_finds_nothing_slower_than_a_layout_given_by_hand():
    common = {"sequence_length": 4096.0, "global_batch_size": 256.0, "framework": "megatron-core"}
    free = answer([plan(request_of(**common))]).time_s[0]
    for tensor, stages in ((4.0, 4.0), (8.0, 2.0), (8.0, 4.0)):
        fixed = request_of(tensor_parallel_size=tensor, pipeline_parallel_size=stages, **common)
        assert free <= answer([plan(fixed)]).time_s[0] * 1.0001


def test_whole_runs_scale_with_their_tokens():
    one, ten = (estimate(request_of(), tokens=tokens).figures["training_time"] for tokens in (1e11, 1e12))
    assert ten.value == pytest.approx(10 * one.value)
    assert ten.low is not None and one.low is not None
    assert ten.low == pytest.approx(10 * one.low)


def test_kinds():
    assert kind_of(Architecture.of_model("BERT-large")) == "encoder"
    assert kind_of(MIXTURE) == "moe"


def test_telling_less_never_narrows_a_band():
    told = request_of(
        sequence_length=4096.0, tensor_parallel_size=4.0, pipeline_parallel_size=4.0, micro_batch_size=1.0
    )
    widths = []
    for less in ({}, {"micro_batch_size": None}, {"tensor_parallel_size": None}, {"sequence_length": None}):
        found = answer([plan(replace(told, **less))])
        widths.append(float(np.log(found.high80_s / found.low80_s)[0]))
    assert min(widths[1:]) > widths[0]


def test_partial_recompute_is_used_where_memory_asks_for_it_and_memory_says_so():
    one = plan(
        request_of(
            sequence_length=8192.0,
            global_batch_size=128.0,
            tensor_parallel_size=4.0,
            pipeline_parallel_size=4.0,
            micro_batch_size=1.0,
            framework="megatron-core",
            virtual_stages=1.0,
        )
    )
    assert 0 < one.recompute_share < 1
    assert any("of the layers" in note for note in one.notes)
