"""Memory of a chip against rows that print it, by source."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from energy.cost.architecture import Architecture
from energy.cost.footprint import ASSUMED_LN80, ASSUMED_LN95, TOLD_LN80, TOLD_LN95
from energy.cost.mapping import Mapping
from energy.cost.memory import ALLOCATOR_SHARE, FRAMEWORK_BYTES, State, chip_memory
from energy.validation.memory import memory
from energy.validation.statistics import document
from energy.validation.training_rows import case_of, kind_of

# torchtitan's "selective" recomputes every second layer; it prints GiB of its allocator, without context. The notes of
# the BLOOM trials print GB as drivers show them.
SOURCES = ("bloom-prequel-early", "torchtitan-h100")
# Rows that nothing was chosen by: later trials of the same project (bigscience-workshop/bigscience,
# train/tr11-176B-ml/chronicles-prequel.md): hidden, layers, heads, data and pipeline ranks, micro batch, precision,
# GB. Left out is one that prints more for a micro batch of 2 (65 GB) than for 4 (56 GB).
LATER = (
    (14336, 72, 112, 4, 12, 1, "fp16", 29),
    (14336, 72, 112, 4, 12, 2, "fp16", 37),
    (14336, 72, 112, 4, 12, 4, "fp16", 49),
    (14336, 72, 112, 4, 12, 8, "fp16", 69),
    (14336, 72, 112, 8, 6, 1, "fp16", 38),
    (14336, 72, 112, 8, 6, 2, "fp16", 44),
    (14336, 72, 112, 8, 6, 4, "fp16", 56),
    (13824, 84, 108, 4, 12, 2, "fp16", 39),
    (13824, 84, 108, 4, 12, 4, "fp16", 52),
    (13824, 84, 108, 8, 6, 4, "fp16", 56),
    (14400, 8, 32, 1, 1, 1, "fp16", 67),
    (14400, 80, 96, 1, 10, 1, "fp16", 73),
    (14400, 80, 96, 2, 10, 1, "fp16", 51),
    (14400, 8, 32, 1, 1, 1, "bf16", 68),
    (14400, 80, 96, 1, 10, 1, "bf16", 75),
    (14400, 80, 96, 2, 10, 1, "bf16", 53),
)


def _numbers(row: dict[str, str]) -> dict[str, float]:
    found = {}
    for key, value in row.items():
        try:
            found[key] = float(value)
        except ValueError:
            continue
    return found


def _predicted(row: dict[str, str]) -> tuple[float, float]:
    """Return the bytes of a chip, with and without what the driver and libraries hold."""
    n, titan = _numbers(row), row["framework"] == "torchtitan"
    hidden, vocab, gated = n["hidden_size"], n["vocab_size"], row["gated_mlp"] == "true"
    heads = n.get("n_heads", 96.0)
    one = Architecture.of_shape(
        layers=n.get("n_layers") or round((n["params"] - vocab * hidden) / (12 * hidden**2)),
        hidden=hidden,
        heads=heads,
        kv_heads=n.get("n_kv_heads", heads),
        head_dim=n.get("head_dim", hidden / heads),
        vocab=vocab,
        ffn=n["ffn_hidden"],
        gated=gated,
        tied_embeddings=not gated,
        biases=not gated,
        rotary=gated,
    )
    stages, micro_batch = n["pp"], n["micro_batch_seqs"]
    if titan and stages > 1:
        # The row holds the batch of a data rank; the framework cuts it into as many parts as there are stages.
        micro_batch = micro_batch / min(stages, micro_batch)
    recompute = "alternate" if titan and row["recompute"] == "selective" else row["recompute"]
    mapping = Mapping.of(
        sequence_length=n["seq_len"],
        micro_batch_size=micro_batch,
        global_batch_size=n["global_batch_seqs"],
        precision=row["precision"],
        tensor_parallel_size=n["tp"],
        pipeline_parallel_size=stages,
        virtual_stages=2 if "Interleaved" in row["notes"] else n.get("vpp", 1.0),
        data_parallel_size=n["dp"],
        context_parallel_size=n["cp"],
        zero_stage=n["fsdp_zero_stage"],
        sequence_parallel=row["sequence_parallel"] == "true",
        attention_fused=titan,
        recompute=recompute,
    )
    mapping.check(one)
    total = float(chip_memory(one, mapping, operands_in_16_bits=titan).total[0])
    return total, total - FRAMEWORK_BYTES


def _rows(shared_folder: Path, source: str) -> list[dict[str, str]]:
    with (shared_folder / "validation" / "training_throughput.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["source_group"] == source]
    # A measurement that the source prints in several tables counts once.
    return [row for row in rows if row["memory_used_gb_per_chip"] and "suspect" not in row["notes"]]


@pytest.mark.parametrize("source", SOURCES)
def test_total_memory_is_within_ten_percent(shared_folder: Path, source: str) -> None:
    rows = _rows(shared_folder, source)
    printed = np.array([float(row["memory_used_gb_per_chip"]) for row in rows])
    totals = np.array([_predicted(row) for row in rows])
    assert len(rows) >= 18
    if source == "torchtitan-h100":
        assert np.mean(np.abs(totals[:, 1] / 2**30 / printed - 1)) < 0.10
    else:
        # Nobody says in which gigabytes: in each of them.
        for unit in (1e9, 2**20 * 1e3, 2**30):
            assert np.mean(np.abs(totals[:, 0] / unit / printed - 1)) < 0.10


def test_the_suite_is_within_ten_percent_and_its_bands_hold(shared_folder: Path) -> None:
    outcome = document(memory(shared_folder / "validation" / "training_throughput.csv"))
    assert outcome["answered"] == outcome["rows"] >= 64
    assert outcome["mape_pct"] <= 10.0
    assert 70.0 <= outcome["inside_80pct"] <= 95.0 <= outcome["inside_95pct"]
    by_source = {name: one["mape_pct"] for name, one in outcome["groups"]["source"].items()}
    # What the rows of one source print of memory leaves no room for an optimiser of the layers that their rates say.
    del by_source["primus-mi300x"]
    assert max(by_source.values()) <= 10.0


def test_the_script_gives_the_share_and_the_bands_again(shared_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import fit_memory as script

    rows = script.counted(shared_folder / "validation" / "training_throughput.csv")
    everything = np.ones(len(rows.printed), np.bool_)
    assert script.fitted(rows, everything) == pytest.approx(ALLOCATOR_SHARE, abs=0.005)
    for group, widths in (
        (rows.told, (TOLD_LN80, TOLD_LN95)),
        (~rows.told, (ASSUMED_LN80, ASSUMED_LN95)),
    ):
        sizes = np.empty(0)
        for source in np.unique(rows.source):
            own = rows.source == source
            errors = np.abs(rows.errors_ln(script.fitted(rows, ~own)))
            sizes = np.append(sizes, errors[own & group])
        assert np.quantile(sizes, [0.8, 0.95]) == pytest.approx(widths, rel=0.3)


def test_rates_contradict_the_model_of_one_source_only(shared_folder: Path) -> None:
    with (shared_folder / "validation" / "training_throughput.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if kind_of(row) != "convolution"]
    changed = {}
    for row in rows:
        notes = " ".join(case_of(row).notes)
        if "cannot have" in notes or "more than the peak" in notes:
            changed[row["row_id"]] = case_of(row)
    assert {name[:-4] for name in changed} == {"primus-mi300x", "intel-gaudi2-optimum"}
    assert {name for name in changed if name.startswith("intel")} == {"intel-gaudi2-optimum-002"}
    assert {float(one.request.architecture.layers[0]) for name, one in changed.items() if "primus" in name} == {16.0}


def test_later_trials_are_within_ten_percent() -> None:
    errors = []
    for hidden, layers, heads, data, stages, micro_batch, precision, printed in LATER:
        one = Architecture.of_shape(
            layers=layers,
            hidden=hidden,
            # Widths that are no whole number are kept as the source has them.
            heads=heads,
            vocab=250880,
            ffn=4 * hidden,
            gated=False,
            tied_embeddings=True,
            biases=True,
            rotary=False,
        )
        mapping = Mapping.of(
            sequence_length=2048,
            micro_batch_size=micro_batch,
            global_batch_size=2048,
            precision=precision,
            tensor_parallel_size=8,
            pipeline_parallel_size=stages,
            data_parallel_size=data,
            zero_stage=1,
            recompute="full",
            attention_fused=False,
        )
        # The framework of the time kept 16-bit gradients for both precisions.
        held = chip_memory(one, mapping, State.of(mapping, gradient_bytes=2.0))
        errors.append(held.total[0] / 1e9 / printed - 1)
    assert np.mean(np.abs(errors)) < 0.10
