"""Rows of measured energy in serving, as work that the power model takes."""

from __future__ import annotations

from energy.errors import PowerError
from energy.power.serving import Serving, serving, shape_of
from energy.validation.training_rows import Row, number, words

#: Boards as the benchmark names them: it ran on eight-way nodes of the SXM form.
CHIPS = {"H100": "nvidia_h100_sxm5_80", "A100-SXM4-40GB": "nvidia_a100_sxm4_40", "B200": "nvidia_b200_sxm"}
NEEDED = (
    *("task", "model", "params_total_b", "weight_precision", "gpu", "n_gpus", "mean_batch_size", "mean_output_tokens"),
    "tokens_per_s",
)


def work_of(row: Row) -> tuple[Serving, str]:
    """Return the work of a row and a note of what was assumed.

    Raises
    ------
    PowerError
        A number is missing.
    """
    gap_ms = number(row, "median_inter_token_ms")
    model, total = words(row, "model"), _needed(row, "params_total_b")
    one = serving(
        CHIPS.get(words(row, "gpu"), words(row, "gpu")),
        words(row, "task"),
        model,
        params_total_b=total,
        params_active_b=number(row, "params_active_b"),
        weight_precision=words(row, "weight_precision"),
        chips=_needed(row, "n_gpus"),
        replicas=number(row, "data_parallel") or 1.0,
        expert_parallel=number(row, "expert_parallel") or 1.0,
        stages=number(row, "pipeline_parallel") or 1.0,
        batch=_needed(row, "mean_batch_size"),
        tokens_per_s=_needed(row, "tokens_per_s"),
        output_tokens=_needed(row, "mean_output_tokens"),
        step_s=None if gap_ms is None else gap_ms / 1e3,
        software_2024=words(row, "dataset").endswith("v2"),
    )
    return one, "Layers and cache of the model are told from its size." if shape_of(model, total).assumed else ""


def _needed(row: Row, name: str) -> float:
    value = number(row, name)
    if value is None:
        raise PowerError(f"The row prints no {name}.")
    return value


def measured_w(row: Row) -> float | None:
    """Return the measured watts of one board."""
    each, total, chips = (number(row, name) for name in ("gpu_power_per_gpu_w", "gpu_power_total_w", "n_gpus"))
    if each is not None:
        return each
    return None if total is None or chips is None else total / chips


def kind_of(row: Row) -> str:
    """Return ``dense``, ``mixture`` of experts, or ``hybrid`` of state-space and attention layers."""
    shape = shape_of(words(row, "model"), number(row, "params_total_b") or 1.0)
    if "hybrid" in words(row, "architecture").casefold():
        return "hybrid"
    if shape.experts > 0 or words(row, "architecture").casefold().startswith("moe"):
        return "mixture"
    return "dense"
