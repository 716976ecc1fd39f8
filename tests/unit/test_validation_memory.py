"""Suite of memory: rows with odd or missing fields, what is read from notes, bands."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from energy.cost.memory import ALLOCATOR_SHARE, FRAMEWORK_BYTES
from energy.validation.cells import possible
from energy.validation.memory import memory
from energy.validation.statistics import Outcome
from energy.validation.training_rows import case_of

GOOD = {
    "row_id": "a",
    "chip": "AMD Instinct MI300X",
    "n_chips": "8",
    "chips_per_node": "8",
    "framework": "Primus Megatron",
    "model_name": "llama2-7b",
    "model_family": "dense",
    "n_layers": "32",
    "hidden_size": "4096",
    "n_heads": "32",
    "n_kv_heads": "32",
    "ffn_hidden": "11008",
    "gated_mlp": "true",
    "vocab_size": "32000",
    "seq_len": "4096",
    "params": "6740000000",
    "precision": "bf16",
    "global_batch_seqs": "64",
    "micro_batch_seqs": "1",
    "tp": "1",
    "pp": "8",
    "vpp": "1",
    "dp": "1",
    "cp": "1",
    "ep": "1",
    "fsdp_zero_stage": "1",
    "sequence_parallel": "false",
    "recompute": "none",
    "tflops_per_s_per_chip": "",
    "tokens_per_s_per_chip": "",
    "samples_per_s_total": "",
    "memory_used_gb_per_chip": "30",
    "chip_note": "",
    "notes": "",
}


def _found(folder: Path, *rows: dict[str, str]) -> Outcome:
    path = folder / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(GOOD))
        writer.writeheader()
        writer.writerows(rows)
    return memory(path)


def test_a_band_holds_the_answer_and_is_wider_for_what_is_assumed(tmp_path: Path) -> None:
    told, assumed = _found(tmp_path, GOOD, {**GOOD, "row_id": "b", "micro_batch_seqs": ""}).compared
    for one in (told, assumed):
        assert one.low < one.low80 < one.predicted < one.high80 < one.high
    assert assumed.predicted == pytest.approx(told.predicted)
    assert assumed.high80 / assumed.predicted > told.high80 / told.predicted
    assert "Micro batch 1 is assumed" in assumed.note


@pytest.mark.parametrize("column", [name for name in GOOD if name not in ("row_id", "chip", "model_name")])
def test_a_missing_cell_is_answered(tmp_path: Path, column: str) -> None:
    found = _found(tmp_path, {**GOOD, column: ""})
    if column == "memory_used_gb_per_chip":
        assert found.compared == found.failures == ()
    else:
        assert len(found.compared) == 1 and found.compared[0].predicted > 0


@pytest.mark.parametrize("value", ["0", "-4", "3.5", "7e30", "nan", "inf", "seven"])
def test_odd_cells_are_answered_or_refused_in_one_line(tmp_path: Path, value: str) -> None:
    numbers = [name for name, cell in GOOD.items() if cell.isdigit()]
    rows = [{**GOOD, "row_id": name, name: value} for name in numbers]
    found = _found(tmp_path, *rows)
    assert len(found.compared) + len(found.failures) >= len(rows) - 1
    assert all("\n" not in one.reason for one in found.failures)
    assert all(0 < one.predicted < 1e4 for one in found.compared)


def test_many_odd_cells_at_once_never_stop_the_suite(tmp_path: Path) -> None:
    chance = random.Random(5)
    odd = ["", "0", "-1", "1e12", "3.5", "true", "7", "1,024"]
    rows = []
    for place in range(60):
        spoiled = chance.sample([name for name in GOOD if name != "row_id"], chance.randint(2, 9))
        rows.append({**GOOD, **{name: chance.choice(odd) for name in spoiled}, "row_id": str(place)})
    found = _found(tmp_path, *rows)
    assert found.compared and found.failures


@pytest.mark.parametrize(
    ("notes", "schedule", "pieces"),
    [
        ("pipeline schedule zbv; seq_len and batch not printed", "zbv", 2.0),
        ("pipeline schedule zbb", "zb-h1", 1.0),
        ("pipeline schedule zero-bubble", "zb-h1", 1.0),
        ("pipeline schedule V-Half", "v-half", 2.0),
        ("pipeline schedule v-min", "v-min", 2.0),
        ("pipeline schedule 1f1b", None, 1.0),
        ("vmap used", None, 1.0),
    ],
)
def test_the_schedule_is_read_from_the_notes(notes: str, schedule: str | None, pieces: float) -> None:
    request = case_of({**GOOD, "notes": notes}).request
    assert (request.schedule, request.virtual_stages) == (schedule, pieces)


def test_a_schedule_needs_a_pipeline() -> None:
    assert case_of({**GOOD, "notes": "schedule zbv", "pp": "1"}).request.schedule is None


def test_schedules_that_keep_less_need_less(tmp_path: Path) -> None:
    names = ("v-min", "v-half", "zbv")
    rows = [{**GOOD, "row_id": name, "notes": f"pipeline schedule {name}"} for name in names]
    sizes = [one.predicted for one in _found(tmp_path, *rows).compared]
    assert sizes == sorted(sizes) and sizes[0] < sizes[1] < sizes[2]


def test_measured_memory_changes_no_answer(tmp_path: Path) -> None:
    rows = [{**GOOD, "row_id": size, "memory_used_gb_per_chip": size} for size in ("1", "30", "500")]
    assert len({one.predicted for one in _found(tmp_path, *rows).compared}) == 1


def test_the_memory_of_a_chip_that_a_note_prints_counts() -> None:
    assert case_of({**GOOD, "chip_note": "custom board 96GB HBM2e 2.4 TB/s"}).request.memory_gb == 96.0
    assert case_of(GOOD).request.memory_gb is None


def test_only_what_cannot_be_is_left_out() -> None:
    notes: list[str] = []
    assert possible(GOOD, notes) == GOOD and notes == []
    spoiled = possible({**GOOD, "pp": "2.5", "fsdp_zero_stage": "7", "vocab_size": "0"}, notes)
    assert (spoiled["pp"], spoiled["fsdp_zero_stage"], spoiled["vocab_size"]) == ("", "", "")
    assert len(notes) == 3


def test_what_a_row_leaves_out_is_not_counted(tmp_path: Path) -> None:
    notes = ("", "torch.cuda.max_memory_reserved", "peak memory allocated")
    whole, reserved, tensors = (_found(tmp_path, {**GOOD, "notes": note}).compared[0].predicted for note in notes)
    assert whole - reserved == pytest.approx(FRAMEWORK_BYTES / 2**30)
    assert reserved / tensors == pytest.approx(1 + ALLOCATOR_SHARE)


def test_image_networks_are_refused(tmp_path: Path) -> None:
    found = _found(tmp_path, {**GOOD, "model_name": "ResNet50", "model_family": "cnn"})
    assert not found.compared and "image network" in found.failures[0].reason
