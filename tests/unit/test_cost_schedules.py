"""Pipeline schedules: micro batches in flight, bubbles, which rank holds the ends of the model, searches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.cost.architecture import Architecture
from energy.cost.mapping import SCHEDULES, Mapping, codes_of
from energy.cost.memory import chip_memory, memory_by_stage
from energy.cost.requests import Request
from energy.cost.schedules import bubble_passes, micro_batches_in_flight
from energy.cost.stages import stages
from energy.cost.training import answer, plan
from energy.errors import CostError

LLAMA = Architecture.of_model("Llama 3.1 70B")
PIECES = {"1f1b": 1, "zb-h1": 1, "zbv": 2, "v-half": 2, "v-min": 2}


def _mapping(p: float = 8, m: float = 64, **changes: object) -> Mapping:
    usual: dict = {
        "sequence_length": 4096,
        "micro_batch_size": 1,
        "global_batch_size": m,
        "precision": "bf16",
        "pipeline_parallel_size": p,
        "virtual_stages": list(PIECES.values()),
        "schedule": list(PIECES),
    }
    return Mapping.of(**usual | changes)


@given(st.integers(2, 64), st.integers(1, 512))
def test_schedules_keep_what_their_authors_print(p: int, m: int) -> None:
    found = micro_batches_in_flight(_mapping(p, m), np.zeros(5))
    # Table of the authors of arXiv 2405.15362: p, (p + 2) // 2 and (p + 4) // 3; of arXiv 2401.10241: as 1F1B.
    printed = [p, p, p, min((p + 2) // 2, p), min((p + 4) // 3, p)]
    assert found.tolist() == [min(one, m) for one in printed]


@given(st.integers(2, 64), st.integers(1, 512))
def test_bubbles_are_the_published_shares_of_a_step(p: int, m: int) -> None:
    passes = dict(zip(PIECES, bubble_passes(_mapping(p, m)), strict=True))
    assert passes["1f1b"] / (m + passes["1f1b"]) == pytest.approx((p - 1) / (m + p - 1))
    assert passes["zbv"] / (m + passes["zbv"]) == pytest.approx((p - 1) / (p - 1 + 6 * m))
    assert passes["zb-h1"] / m == pytest.approx((p - 1) / (3 * m))
    assert passes["zbv"] < passes["zb-h1"] < passes["v-half"] < passes["v-min"] < passes["1f1b"]


def test_zero_bubble_equals_one_by_one_simulation() -> None:
    """Play the passes of ZB-H1 in the order of its paper: the bubble and what each rank keeps come out."""
    p, m = 4, 12
    length, kept = _played(p, m)
    assert length == 3 * (m + bubble_passes(_mapping(p, m))[1])
    assert kept == micro_batches_in_flight(_mapping(p, m), np.zeros(5))[1]


def _played(p: int, m: int) -> tuple[int, int]:
    """Return the slots of a step of forward, backward and weight passes of one slot each, and the most kept."""
    end: dict[tuple[str, int, int], int] = {}
    orders = []
    for rank in range(p):
        order, warm = [("F", k) for k in range(p - rank)], p - rank
        for k in range(m):
            order.append(("B", k))
            # Each rank puts off its weight passes until p micro batches are kept.
            if k >= rank:
                order.append(("W", k - rank))
            if warm + k < m:
                order.append(("F", warm + k))
        order += [("W", k) for k in range(m - rank, m)]
        orders.append(order)
    place, clock = [0] * p, [0] * p
    while any(place[r] < len(orders[r]) for r in range(p)):
        for rank in range(p):
            while place[rank] < len(orders[rank]):
                kind, k = orders[rank][place[rank]]
                other = {"F": rank - 1, "B": rank + 1}.get(kind, -1)
                needed = (kind, other, k)
                if 0 <= other < p and needed not in end:
                    break
                start = max(clock[rank], end.get(needed, 0))
                clock[rank] = end[kind, rank, k] = start + 1
                place[rank] += 1
    most = 0
    for order in orders:
        held = 0
        for kind, _ in order:
            held += (kind == "F") - (kind == "W")
            most = max(most, held)
    # The optimiser of a rank needs no other one: a step is as long as its busiest rank's.
    length = max(end["W", rank, m - 1] - (end["F", rank, 0] - 1) for rank in range(p))
    return length, most


def test_a_v_gives_both_ends_of_the_model_to_the_first_rank() -> None:
    for one in stages(LLAMA, _mapping()):
        assert (one.is_first[2:] == one.is_last[2:]).all()
    first = next(iter(memory_by_stage(LLAMA, _mapping())))
    assert first.logits[:2].tolist() == [0.0, 0.0] and (first.logits[2:] > 0).all()
    # The output layer is a table of its own in this model.
    table = 128256 * 8192
    assert (first.weights[2] - first.weights[0]) / 2 == pytest.approx(table, rel=1e-3)


def test_fewer_micro_batches_in_flight_are_less_memory() -> None:
    held = chip_memory(LLAMA, _mapping())
    one, _, zbv, half, least = held.activations
    assert one == zbv > half > least
    assert half / zbv == pytest.approx(5 / 8) and least / zbv == pytest.approx(4 / 8)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("zbb", "zb-h1"), ("zero-bubble", "zb-h1"), ("ZB1P", "zb-h1"), ("v_half", "v-half"), ("interleaved", "1f1b")],
)
def test_schedules_have_other_names(name: str, meant: str) -> None:
    assert codes_of([name], SCHEDULES, "schedule") == SCHEDULES.index(meant)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pipeline_parallel_size": 1.0}, "pipeline_parallel_size is 1"),
        ({"pipeline_parallel_size": 4.0, "virtual_stages": 4.0}, "two pieces"),
        ({"schedule": "v-mni"}, "Nearest: v-min"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_in_one_line(changes: dict[str, object], words: str) -> None:
    with pytest.raises(CostError) as caught:
        plan(replace(_request("zbv"), **changes))
    assert words in str(caught.value) and "\n" not in str(caught.value)


def _request(schedule: str | None) -> Request:
    return Request(
        architecture=LLAMA,
        kind="dense",
        chip="nvidia_h100_sxm5_80",
        chips=64,
        precision="bf16",
        sequence_length=8192,
        global_batch_size=64,
        framework="Megatron-Core",
        schedule=schedule,
    )


def test_a_search_keeps_to_the_schedule() -> None:
    for name, pieces in PIECES.items():
        found = plan(_request(name)).mapping
        assert SCHEDULES[int(found.schedule[0])] == name
        assert found.virtual_stages[0] == pieces
        assert found.pipeline_parallel_size[0] > 1 or name == "1f1b"
    assert plan(_request("interleaved")).mapping.virtual_stages[0] > 1


def test_less_bubble_is_less_time_for_the_same_layout() -> None:
    layout = {"tensor_parallel_size": 4.0, "pipeline_parallel_size": 4.0, "micro_batch_size": 1.0, "recompute": "full"}
    times = answer([plan(replace(_request(name), **layout)) for name in ("1f1b", "zb-h1")]).step
    assert times.bubble[1] == pytest.approx(times.bubble[0] / 3)
    assert times.total[1] < times.total[0]
