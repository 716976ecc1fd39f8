"""What a user knows of a training run: numbers, names, limits; what cannot be is refused here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from energy import catalogue
from energy.cost.architecture import Architecture
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.mapping import PRECISIONS, codes_of
from energy.errors import CostError


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One training run as far as it is known; None is searched or taken from the stack, and the plan says so.

    ``architecture`` has one entry. ``kind`` is one of :data:`energy.cost.stack.KINDS`. ``framework`` is what is printed
    of it, in any spelling. ``power_limit_w`` is a chip's cap, ``memory_bytes_per_s`` and ``memory_gb`` its bandwidth
    and memory where they are others than the catalogue's, ``chips_per_node`` and ``outside_gbit_per_s_per_chip`` its
    server's. ``schedule`` is one of :data:`energy.cost.mapping.SCHEDULES` or "interleaved"; None is 1f1b. ``offload``
    is one of :data:`energy.cost.mapping.OFFLOADS`, ``offload_to`` the memory that it lies in, ``host_bytes_per_s`` the
    rate to it where the catalogue knows none (:mod:`energy.cost.offload`). ``shape_is_assumed``: the architecture only
    has the right size, ``sequence_is_assumed``: the sequence length is a guess.
    """

    architecture: Architecture
    kind: str
    chip: str
    chips: float
    precision: str
    framework: str = ""
    sequence_length: float | None = None
    global_batch_size: float | None = None
    micro_batch_size: float | None = None
    tensor_parallel_size: float | None = None
    pipeline_parallel_size: float | None = None
    virtual_stages: float | None = None
    data_parallel_size: float | None = None
    context_parallel_size: float | None = None
    expert_parallel_size: float | None = None
    zero_stage: float | None = None
    sequence_parallel: bool | None = None
    attention_fused: bool | None = None
    recompute: str | None = None
    schedule: str | None = None
    offload: str = "none"
    offload_to: str = "host"
    host_bytes_per_s: float | None = None
    expert_imbalance: float = 1.0
    chips_per_node: float | None = None
    outside_gbit_per_s_per_chip: float | None = None
    power_limit_w: float | None = None
    memory_bytes_per_s: float | None = None
    memory_gb: float | None = None
    is_lora: bool = False
    is_finetuning: bool = False
    year: float | None = None
    shape_is_assumed: bool = False
    sequence_is_assumed: bool = False
    must_fit: bool = True

    @property
    def usual_sequence_length(self) -> float:
        """Return the tokens of a sequence where none is told."""
        short = self.is_lora or self.is_finetuning
        return 512.0 if self.kind == "encoder" else 1024.0 if short else 4096.0


def kind_of(architecture: Architecture) -> str:
    """Return the kind of work of one architecture.

    Examples
    --------
    >>> kind_of(Architecture.of_model("DeepSeek-V3")), kind_of(Architecture.of_model("Llama 3.1 8B"))
    ('moe', 'dense')

    """
    if architecture.linear_layers[0] > 0:
        return "hybrid"
    if architecture.moe_layers[0] > 0:
        return "moe"
    return "encoder" if architecture.encoder_layers[0] == architecture.layers[0] else "dense"


def usual_precision(chip: str) -> str:
    """Return the widest 16-bit format that a chip has products in; FP32 where it has none.

    Examples
    --------
    >>> usual_precision("nvidia_h100_sxm5_80"), usual_precision("apple_m2_ultra")
    ('bf16', 'fp16')

    """
    has = kernel_chip(chip).peaks_flop_per_s
    return next((one for one in ("bf16", "fp16", "fp32") if one in has), "fp32")


_WHOLE = (
    *("chips", "sequence_length", "global_batch_size", "micro_batch_size", "tensor_parallel_size"),
    *("pipeline_parallel_size", "virtual_stages", "data_parallel_size", "context_parallel_size"),
    *("expert_parallel_size", "chips_per_node"),
)


_ABOVE_ZERO = ("outside_gbit_per_s_per_chip", "power_limit_w", "memory_bytes_per_s", "memory_gb", "host_bytes_per_s")


def refuse_numbers(request: Request) -> None:
    """Raise for a number that cannot be, one of experts that the model lacks, and a precision that the chip lacks."""
    for name in _WHOLE:
        value = getattr(request, name)
        if value is not None and not (value >= 1 and value == np.floor(value) and np.isfinite(value)):
            raise CostError(f"{name} is {value:g}: give a whole number, 1 or more.")
    for name in (*_ABOVE_ZERO, "expert_imbalance"):
        value = getattr(request, name)
        if value is not None and not (value > 0 and np.isfinite(value)):
            raise CostError(f"{name} is {value:g}: give a finite number above zero.")
    if request.expert_imbalance != 1.0 and not (request.architecture.moe_layers > 0).any():
        raise CostError(f"expert_imbalance is {request.expert_imbalance:g} but the model has no experts: leave it out.")
    code = int(codes_of([request.precision], PRECISIONS, "precision")[0])
    peak_flop_per_s(kernel_chip(request.chip), PRECISIONS[code])


def nan_if_none(value: float | None) -> float:
    """Return a number for an array; what is not known is NaN."""
    return float("nan") if value is None else value


def memory_gb_of(request: Request) -> float | None:
    """Return the memory of the chip as sold, in GB; None where it is not known."""
    return catalogue.chip(request.chip).memory_gb if request.memory_gb is None else request.memory_gb


def clock_of(request: Request) -> float:
    """Return the clock under a power cap over that without one.

    Dynamic power goes with the clock and the square of a voltage that follows it, so the clock with about the cube
    root of what is above idle; an estimate.
    """
    if request.power_limit_w is None:
        return 1.0
    chip = catalogue.chip(request.chip)
    rated, idle = chip.tdp_w, chip.idle_w or 0.0
    if rated is None or request.power_limit_w >= rated:
        return 1.0
    return float(max((request.power_limit_w - idle) / (rated - idle), 0.05) ** (1.0 / 3.0))


def stream_of(request: Request) -> float:
    """Return the memory bandwidth over the catalogue's."""
    rated = catalogue.chip(request.chip).memory_bandwidth_gb_per_s
    if request.memory_bytes_per_s is None or rated is None:
        return 1.0
    return request.memory_bytes_per_s / (rated * 1e9)
