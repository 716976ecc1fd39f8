"""What MLPerf benchmarks compute for a sample, and the samples they need: selections for ``fit_mlperf.py``.

FLOPs of decoder models are counted from their shapes. All other FLOPs and bytes are rounded estimates from the papers
of the networks; the fitted factor of each benchmark takes up their error: only a benchmark without results rests on
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from energy.cost import Architecture, training_flops_per_token
from energy.cost.mlperf_convergence import monotone
from energy.cost.mlperf_names import benchmark_name, round_year

Row = dict[str, Any]

_ESTIMATE = "FLOPs and bytes are rounded estimates (recalled)"
_MIXTURE = (
    "no result was at hand; sequence length recalled; mixtures reach about half the rate of dense models (estimate)"
)
#: Samples of one epoch: images, utterances, click records, nodes, sentence pairs, tokens.
EPOCH = {
    "resnet": 1_281_167,
    "ssd_resnet34": 117_266,
    "retinanet": 1_170_301,
    "maskrcnn": 117_266,
    "unet3d": 168,
    "rnnt": 278_528,
    "dlrm": 4_195_197_692,
    "dlrm_dcnv2": 4_195_197_692,
    "rgat": 94_605_581,
    "gnmt": 3_498_161,
    "transformer": 4_590_101 * 28,
}


def _decoder(model: str, tokens: int, lora_rank: int = 0) -> float:
    """Return the FLOPs of training on one sequence."""
    one = training_flops_per_token(Architecture.of_model(model), tokens, lora_rank=lora_rank)
    return float(one.model[0]) * tokens


def _row(
    name: str, title: str, kind: str, sample: str, work: tuple[float, float], overhead: float, **other: Any
) -> Row:
    usual: Row = {"reached_fraction": 0.4, "narrowest_bits": 16, "source": "mlperf_results;mlperf_work"}
    own = {"benchmark": name, "title": title, "kind": kind, "sample": sample, "step_overhead_s": overhead}
    flop, moved = (float(f"{value:.4g}") for value in work)
    end = {"status": "estimate", "note": _ESTIMATE}
    return usual | own | {"flop_per_sample": flop, "bytes_per_sample": moved} | end | other


def benchmarks() -> list[Row]:
    """Return the work of all benchmarks.

    The overhead of a step is the value on a grid of a few per decade that the likelihood of all results prefers.
    """
    image, counted = "image", {"note": "FLOPs counted from the shape; bytes are a rounded estimate (recalled)"}
    language = counted | {"narrowest_bits": 4}
    sequences = ("language_model", "sequence of 8192 tokens")
    mixture = {"narrowest_bits": 4, "reached_fraction": 0.2, "note": _MIXTURE}
    llama = "Llama 3.1"
    return [
        _row("resnet", "ResNet-50 v1.5, ImageNet", "image", image, (24.6e9, 0.35e9), 0.0047),
        _row("ssd_resnet34", "SSD-ResNet34, COCO (ssd until v1.1)", "image", image, (65e9, 0.9e9), 0.0),
        _row("retinanet", "RetinaNet-ResNeXt50, OpenImages (ssd from v2.0)", "image", image, (9e11, 1e10), 0.0),
        _row("maskrcnn", "Mask R-CNN, COCO", "image", image, (1.5e12, 1.5e10), 0.0074),
        _row("unet3d", "3D U-Net, KiTS19", "image", "volume", (3e12, 3e10), 0.006),
        _row("rnnt", "RNN-T, LibriSpeech", "speech", "utterance", (6e10, 1e9), 0.0063),
        _row("gnmt", "GNMT, WMT English to German", "translation", "sentence pair", (4e10, 2e8), 0.014),
        _row("transformer", "Transformer big, WMT English to German", "translation", "token", (1.3e9, 4e6), 0.0),
        _row(
            *("bert", "BERT-large, Wikipedia", "encoder", "sequence of up to 512 tokens", (6e11, 2e9), 0.029),
            narrowest_bits=8,
        ),
        _row(
            "gpt3",
            "GPT-3 175B, C4",
            "language_model",
            "sequence of 2048 tokens",
            (_decoder("gpt3_175b", 2048), 1e9),
            0.0,
        )
        | language,
        _row(
            "llama2_70b_lora",
            "Llama 2 70B, LoRA on GovReport",
            *sequences,
            (_decoder("llama2_70b", 8192, 16), 5e9),
            0.047,
        )
        | language,
        _row("llama31_405b", f"{llama} 405B, C4", *sequences, (_decoder("llama31_405b", 8192), 5e9), 0.0) | language,
        _row("llama31_8b", f"{llama} 8B, C4", *sequences, (_decoder("llama31_8b", 8192), 5e9), 0.0076) | language,
        _row("gpt_oss_20b", "gpt-oss-20b, C4", *sequences, (_decoder("gpt_oss_20b", 8192), 5e9), 0.01) | mixture,
        _row(
            *("deepseekv3_671b", "DeepSeek-V3 671B, C4", "language_model", "sequence of 4096 tokens"),
            *((_decoder("deepseek_v3", 4096), 5e9), 0.05),
        )
        | mixture,
        _row("stable_diffusion", "Stable Diffusion v2, LAION", "diffusion", image, (2.6e12, 1e10), 0.0088),
        _row("flux1", "FLUX.1, CC12M", "diffusion", image, (4e13, 3e10), 0.15, narrowest_bits=8),
        _row("dlrm", "DLRM, Criteo 1TB", "recommender", "record", (4.5e7, 2e5), 3.3e-4),
        _row("dlrm_dcnv2", "DLRM-DCNv2, Criteo multi-hot", "recommender", "record", (1e8, 3e5), 2.3e-4),
        _row("rgat", "R-GAT, IGB heterogeneous (gnn in v4)", "graph", "seed node", (5e9, 4e6), 0.028),
        _row(
            *("minigo", "MiniGo, 19x19", "reinforcement", "position", (3e11, 3e8), 0.0),
            note="no work of a position with its self-play is published: set so that the fitted factor is near one",
        ),
    ]


BENCHMARKS = benchmarks()
#: Editions of a curve that ended with a round, by benchmark.
_EDITIONS = {"rnnt": ("v1.1",), "stable_diffusion": ("v4.0", "v4.1"), "bert": ("v0.7",)}
#: A point of gpt3 in 4.1 is 2.5 times its neighbours and its own earlier value.
_REFUSED = {("gpt3", 3072.0, "4.1.0")}
#: No batch and no points are published: a constant that the fitted factor scales.
_CONSTANT = {"minigo": (8192.0, 40e6), "dlrm": (55296.0, 0.92 * EPOCH["dlrm"])}
#: Benchmarks without reference points: samples of submissions, in epochs where rounds print those.
_FROM_RESULTS = {"llama2_70b_lora": 1.0, "flux1": 1.0, "gnmt": EPOCH["gnmt"], "transformer": EPOCH["transformer"]}


def convergence(reference: Sequence[dict[str, str]], results: Sequence[dict[str, str]]) -> list[Row]:
    """Return the points of all benchmarks, monotone in the batch."""
    points: dict[tuple[str, str, float], list[float]] = {}
    for row in reference:
        _reference_point(row, points)
    for row in results:
        _result_point(row, points)
    known = {(name, edition) for name, edition, _ in points}
    for name, (batch, samples) in _CONSTANT.items():
        points[name, "", batch] = [samples]
        known.add((name, ""))
    rows = []
    for name, edition in sorted(known):
        own = {batch: values for (one, until, batch), values in points.items() if (one, until) == (name, edition)}
        sizes = sorted(own)
        logs = np.log([np.median(own[size]) for size in sizes])
        smooth = np.exp(monotone(logs, np.array([float(len(own[size])) for size in sizes])))
        measured = name in _FROM_RESULTS or name in _CONSTANT or edition == "v0.7"
        rows += [
            {
                "benchmark": name,
                "until_round": edition,
                "global_batch_size": f"{size:g}" if size < 1e6 else f"{size:.0f}",
                "samples": f"{samples:.5g}",
                "source": "mlperf_results" if measured else "mlperf_logging",
                "status": "estimate" if name == "minigo" else "derived",
                "note": "constant: no batch is published" if name == "minigo" else "",
            }
            for size, samples in zip(sizes, smooth.tolist(), strict=True)
        ]
    return rows


def _edition(name: str, year: float) -> str:
    return next((one for one in _EDITIONS.get(name, ()) if year < round_year(one) + 0.01), "")


def _reference_point(row: dict[str, str], points: dict[tuple[str, str, float], list[float]]) -> None:
    """Take a reference point; a later ruleset of the same edition replaces it. Fractions are of an epoch."""
    version = row["ruleset"].rsplit(".", 1)[0]
    if row["benchmark"] in ("dlrm", "qwen35_397b_grpo"):
        return  # The first is no fraction of an epoch; of the second no work of a sample is known.
    name = benchmark_name(row["benchmark"], round_year(version))
    batch, samples = float(row["global_batch_size"]), float(row["mean_epochs_or_samples_to_converge"])
    if (name, batch, row["ruleset"]) in _REFUSED:
        return
    if row["unit"] in ("epochs", "fraction of one epoch"):
        samples *= EPOCH[name]
    elif row["unit"] == "steps of one global batch":
        samples *= batch
    elif row["unit"] == "tokens":
        samples /= 2048.0
    points[name, _edition(name, round_year(version)), batch] = [samples]


def _result_point(row: dict[str, str], points: dict[tuple[str, str, float], list[float]]) -> None:
    """Take the samples of a submission where the reference has no points."""
    year = round_year(row["round"])
    name = benchmark_name(row["benchmark"], year)
    text, size = row["epochs_or_samples_to_converge_mean"], row["global_batch_size"]
    early = name == "bert" and row["round"] == "v0.7"
    epochs = name in ("gnmt", "transformer")
    if not text or not size or not (name in _FROM_RESULTS or early) or (epochs and year > 2020):
        return
    batch = float(size) * (256.0 if name == "transformer" and float(size) < 1e4 else 1.0)
    points.setdefault((name, _edition(name, year), batch), []).append(float(text) * _FROM_RESULTS.get(name, 1.0))
