"""Published time against published TFLOP/s: the counts under each row's stated convention connect the two."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from energy.cost.architecture import Architecture
from energy.cost.conventions import flops_per_token
from energy.cost.mapping import RECOMPUTE
from energy.errors import CostError

# What a row's words mean; by the first words that fit.
CONVENTION_OF = (
    ("Megatron-DeepSpeed hardware flops incl. recompute (older", "parameters_8n"),
    ("hardware flops incl. full recompute", "sc21"),
    ("model flops 6N + 12*L*d*T", "model_full"),
    ("llm-foundry model flops", "model_full"),
    ("MaxText model flops, non-causal", "model_full"),
    ("Megatron model flops (causal attention halved)", "model_causal"),
    ("MaxText model flops, causal", "model_causal"),
    # Recipes of v5p, before causal attention was halved there.
    ("MaxText model flops", "model_full"),
    ("NeMo model flops", "model_causal"),
)
# Sliding-window or per-layer-embedding models whose shape the row does not hold.
EXCEPTIONS = ("gemma",)
# Releases of Megatron Bridge before 26.06 print a sixth less for gpt-oss-120b than those since, which agree with ours.
# The recipe of Llama 4 Scout derives its number of chips; the one of Maverick, printed, agrees to six digits.
MIXTURES_OFF = ("gpt-oss-120b", "llama4-scout")
# LoRA rows print no rank.
LORA_ROWS = ("megatron-bridge-26.06-gb200-013", "megatron-bridge-26.06-gb200-014", "megatron-bridge-26.06-h100-005")


def _numbers(row: dict[str, str]) -> dict[str, float]:
    found = {}
    for key, value in row.items():
        try:
            found[key] = float(value)
        except ValueError:
            continue
    return found


def _tokens_per_second(n: dict[str, float]) -> float | None:
    if "tokens_per_s_per_chip" in n:
        return n["tokens_per_s_per_chip"]
    if all(key in n for key in ("iter_time_s", "global_batch_seqs", "seq_len")):
        return n["global_batch_seqs"] * n["seq_len"] / n["iter_time_s"] / n["n_chips"]
    return None


def _architecture(row: dict[str, str], n: dict[str, float]) -> Architecture | None:
    if row["model_family"] == "moe":
        try:
            return Architecture.of_model(row["model_name"])
        except (CostError, KeyError):
            return None
    if not all(key in n for key in ("hidden_size", "vocab_size", "seq_len")):
        return None
    hidden, vocab = n["hidden_size"], n["vocab_size"]
    # Rows that do not print layers or heads: the layers of the printed size, hidden = heads x width.
    layers = n.get("n_layers") or round((n["params"] - vocab * hidden) / (12 * hidden**2))
    heads = n.get("n_heads", 96.0)
    gated = row["gated_mlp"] == "true"
    return Architecture.of_shape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=n.get("n_kv_heads", heads),
        head_dim=n.get("head_dim", hidden / heads),
        vocab=vocab,
        ffn=n.get("ffn_hidden", 4 * hidden),
        gated=gated,
        tied_embeddings=not gated,
    )


def _convention(row: dict[str, str]) -> str | None:
    words = row["flops_convention"]
    if row["source_group"] == "paper-mt-nlg":
        # The formula of the time: full recompute in it (arXiv 2201.11990, section 2.3).
        return "sc21"
    return next((meaning for start, meaning in CONVENTION_OF if words.startswith(start)), None)


def _ratios(shared_folder: Path, family: str) -> list[tuple[str, str, float]]:
    found = []
    with (shared_folder / "validation" / "training_throughput.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            n = _numbers(row)
            rate, convention = _tokens_per_second(n), _convention(row)
            if row["model_family"] != family or rate is None or convention is None:
                continue
            if "tflops_per_s_per_chip" not in n or "seq_len" not in n:
                continue
            one = _architecture(row, n)
            if one is None:
                continue
            code = RECOMPUTE.index(row["recompute"]) if row["recompute"] in RECOMPUTE else 0
            # The rank is not printed; it moves the count by less than a percent.
            rank = 16 if row["task"] == "lora" else 0
            counted = flops_per_token(one, n["seq_len"], convention, code, lora_rank=rank)[0] * rate / 1e12
            found.append((row["row_id"], row["model_name"], counted / n["tflops_per_s_per_chip"]))
    return found


def test_dense_rows_agree_within_six_percent(shared_folder: Path) -> None:
    rows = _ratios(shared_folder, "dense")
    known = [(row, ratio) for row, name, ratio in rows if not name.startswith(EXCEPTIONS)]
    off = [(row, round(ratio, 3)) for row, ratio in known if abs(ratio - 1) > (0.07 if row in LORA_ROWS else 0.06)]
    assert len(rows) >= 325
    assert off == []
    assert np.median([abs(ratio - 1) for _, ratio in known]) < 0.005


def test_mixtures_of_known_shape_agree(shared_folder: Path) -> None:
    rows = _ratios(shared_folder, "moe")
    off = [(row, round(ratio, 3)) for row, name, ratio in rows if abs(ratio - 1) > 0.06 and name not in MIXTURES_OFF]
    assert len(rows) >= 110
    assert off == []


def test_gpt_oss_agrees_since_its_count_was_mended(shared_folder: Path) -> None:
    ratios = {row: ratio for row, name, ratio in _ratios(shared_folder, "moe") if name == "gpt-oss-120b"}
    since = [ratio for row, ratio in ratios.items() if "-26.06" in row or "-26.08" in row or "ironwood" in row]
    assert len(since) >= 8
    assert max(abs(ratio - 1) for ratio in since) < 0.01


def test_a_recipe_that_prints_enough_digits_agrees_to_six(shared_folder: Path) -> None:
    rows = [*_ratios(shared_folder, "dense"), *_ratios(shared_folder, "moe")]
    printed = {row: ratio for row, _, ratio in rows if row in ("tpu-recipes-v5p-002", "tpu-recipes-v5p-004")}
    for ratio in printed.values():
        np.testing.assert_allclose(ratio, 1.0, atol=5e-6)
