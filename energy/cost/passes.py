"""Seconds of one micro batch on one chip: matrix products, attention and memory-bound operations of the mean layer.

Each layer's products are evaluated in their three shapes: forward C[T, n] = X[T, k] W[k, n], gradient of the input
[T, k] over n, gradient of the weight [k, n] over T. Products of experts are one grouped kernel: rows of all local
experts, each rounded up to a tile of 128.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from energy.cost.activations import VALUE_BYTES, tokens_on_a_chip
from energy.cost.architecture import Architecture
from energy.cost.kernels import attention, gemm
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.kernels.memory_bound import STREAM_EFFICIENCY
from energy.cost.mapping import PRECISIONS, Mapping
from energy.cost.traffic import memory_bound_bytes

Numbers = NDArray[np.float64]

#: What memory-bound kernels reach of the rated bandwidth, and what starting one costs where the next is queued.
MEMORY_REACHED, LAUNCH_S = STREAM_EFFICIENCY, 2e-6
#: Kernels of a layer that only move data, forward and backward.
_MEMORY_KERNELS = (8.0, 12.0)
_TILE = 128.0
_LOW = (PRECISIONS.index("fp8"), PRECISIONS.index("fp4"), PRECISIONS.index("int8"))
#: Casting an operand to a short format: 16 bits read, two copies (by row and by column) of about a byte written.
_CAST_BYTES = 4.0
#: Times that a routed token is written or read again on its way: sorted by expert, staged for the exchange, padded,
#: weighted, brought home; chosen with sight of published mixtures.
_ROUTED_COPIES = 12.0
#: Loss: logits read, copied in FP32, their gradient written and cast, in bytes of each.
_LOSS_BYTES = 14.0
#: Efficiency of the batched products of attention that is not fused, against the peak.
_UNFUSED_EFFICIENCY = 0.55
#: Time of a product whose columns or inner length is a multiple of only so many 16-bit values, over an aligned one:
#: tensor units load lines of 128 bytes (NVIDIA, Matrix Multiplication Background, section 4.1). Sizes chosen with sight
#: of the BLOOM trials of two widths.
_ALIGNMENT = ((64.0, 1.0), (32.0, 1.15), (16.0, 1.3), (8.0, 1.5), (1.0, 2.0))


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Matrix products of all layers: how many, and sizes of one; ``groups`` experts in one grouped kernel."""

    count: Numbers
    rows: Numbers
    columns: Numbers
    inner: Numbers
    groups: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Passes:
    """Seconds of one micro batch on one chip, arrays ``(n,)``: of the mean layer by pass, and of the last stage's end.

    ``sigma_fraction`` is the relative standard deviation of products and attention together.
    """

    matmul_forward: Numbers
    matmul_backward: Numbers
    attention_forward: Numbers
    attention_backward: Numbers
    memory_forward: Numbers
    memory_backward: Numbers
    end_matmul: Numbers
    end_memory: Numbers
    sigma_fraction: Numbers

    @property
    def forward(self) -> Numbers:
        """Return the forward pass of the mean layer."""
        return self.matmul_forward + self.attention_forward + self.memory_forward

    @property
    def backward(self) -> Numbers:
        """Return the backward pass of the mean layer."""
        return self.matmul_backward + self.attention_backward + self.memory_backward

    def __getitem__(self, index: NDArray[np.generic]) -> Self:
        """Return the passes at ``index``."""
        return type(self)(*(getattr(self, one.name)[index] for one in fields(self)))


def kernel_precision(chip: str, precision: str) -> str:
    """Return the format of the kernel measurements that a training precision means on a chip.

    Blackwell scales FP8 in blocks of 32 in hardware (MXFP8), Hopper by tensor.

    Examples
    --------
    >>> kernel_precision("nvidia_b200_sxm", "fp8"), kernel_precision("nvidia_h100_sxm5_80", "fp8")
    ('fp8_block', 'fp8')

    """
    if precision == "fp8" and kernel_chip(chip).family.startswith("Blackwell"):
        return "fp8_block"
    return precision


def wide_precision(chip: str, precision: str) -> str:
    """Return the 16-bit format that attention and logits keep beside short products; the format itself from 16 up.

    Examples
    --------
    >>> wide_precision("nvidia_h100_sxm5_80", "fp8"), wide_precision("nvidia_p100_sxm2", "fp32")
    ('bf16', 'fp32')

    """
    if PRECISIONS.index(precision) in _LOW:
        return "bf16"
    return precision


def products(a: Architecture, m: Mapping, expert_imbalance: Numbers) -> tuple[list[Product], Product]:
    """Return the products of the layers by kind, and that of the logits."""
    t, tokens = m.tensor_parallel_size, tokens_on_a_chip(m)
    one = np.ones(np.broadcast_shapes(tokens.shape, a.hidden.shape))
    mixers = a.attention_layers + a.cross_attention_layers
    found: list[Product] = []

    def add(count: Numbers, columns: Numbers, inner: Numbers, rows: Numbers = tokens, groups: Numbers = one) -> None:
        if np.any(count > 0):
            sizes = (np.maximum(np.broadcast_to(size, one.shape), 1.0) for size in (rows, columns, inner, groups))
            found.append(Product(np.broadcast_to(count, one.shape), *sizes))

    held = np.maximum(a.kv_heads, t)
    plain = np.where(a.is_mla, 0.0, mixers)
    gate = np.where(a.attention_gate, a.heads * a.qk_dim, 0.0)
    add(plain, (a.heads * a.qk_dim + gate + held * (a.qk_dim + a.v_dim)) / t, a.hidden)
    latent = np.where(a.is_mla, mixers, 0.0)
    add(latent, a.q_lora + a.kv_lora + a.rope_dim, a.hidden)
    add(latent, a.heads * a.qk_dim / t, np.where(a.q_lora > 0, a.q_lora, a.hidden))
    add(latent, a.heads * (a.qk_dim - a.rope_dim + a.v_dim) / t, a.kv_lora)
    add(mixers, a.hidden, a.heads * a.v_dim / t)
    wide = 2.0 * a.linear_key_heads * a.linear_key_dim + 2.0 * a.linear_value_heads * a.linear_value_dim
    add(a.linear_layers, wide / t, a.hidden)
    add(a.linear_layers, a.hidden, a.linear_value_heads * a.linear_value_dim / t)
    doors = np.where(a.gated, 2.0, 1.0)
    add(a.dense_layers, doors * a.ffn / t, a.hidden)
    add(a.dense_layers, a.hidden, a.ffn / t)
    if np.any(a.moe_layers > 0):
        shared = np.where(a.shared_experts > 0, a.moe_layers, 0.0)
        add(shared, doors * a.shared_ffn / t, a.hidden)
        add(shared, a.hidden, a.shared_ffn / t)
        split = np.where(m.expert_parallel_size > 1, m.expert_parallel_size, 1.0)
        cut = np.where(m.expert_parallel_size > 1, 1.0, t)
        local = np.maximum(a.experts / split, 1.0)
        rows = tokens * a.experts_active / np.where(m.expert_parallel_size > 1, t, 1.0) * expert_imbalance
        add(a.moe_layers, doors * a.moe_ffn / cut, a.hidden, rows, local)
        add(a.moe_layers, a.hidden, a.moe_ffn / cut, rows, local)
    logits = Product(one, tokens * one, np.ceil(a.vocab / t) * one, a.hidden * one, one)
    return found, logits


def passes(
    architecture: Architecture, mapping: Mapping, chip: str, precision: str, *, expert_imbalance: Numbers | None = None
) -> Passes:
    """Return the seconds of one micro batch on one chip of a kind.

    Parameters
    ----------
    architecture : Architecture
        As many as scenarios.
    mapping : Mapping
        Scenarios of one precision.
    chip, precision : str
        Chip of the catalogue and name of :data:`energy.cost.mapping.PRECISIONS`.
    expert_imbalance : array of float, optional
        Tokens of the busiest expert rank over the mean; 1 where left out (routing forced even).

    Raises
    ------
    CostError
        When the chip lacks the precision.

    Examples
    --------
    >>> llama = Architecture.of_model("Llama 3.1 8B")
    >>> mapping = Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=8, precision="bf16")
    >>> one = passes(llama, mapping, "nvidia_h100_sxm5_80", "bf16")
    >>> bool(0.002 < one.forward[0] < 0.01)
    True

    """
    a, m = architecture, mapping
    imbalance = np.ones(len(m)) if expert_imbalance is None else expert_imbalance
    narrow, wide = kernel_precision(chip, precision), wide_precision(chip, precision)
    bandwidth = kernel_chip(chip).bandwidth_bytes_per_s or np.nan
    found, logits = products(a, m, imbalance)
    forward, backward, variance = _products_s(found, chip, narrow, bandwidth)
    end, end_back, _ = _products_s([logits], chip, wide, bandwidth)
    cores, cores_back, core_sigma = _attention_s(a, m, chip, wide)
    moved, moved_back = memory_bound_bytes(a, m)
    casts = _casts(found, m) / a.layers + _routed_bytes(a, m)
    rate = bandwidth * MEMORY_REACHED
    matmul = forward + backward
    sigma = np.sqrt(variance + (core_sigma * (cores + cores_back)) ** 2) / np.maximum(
        matmul + cores + cores_back, 1e-12
    )
    tokens = tokens_on_a_chip(m)
    shape = np.broadcast_shapes(tokens.shape, a.layers.shape)
    loss = tokens * (_LOSS_BYTES * a.vocab / m.tensor_parallel_size + 10.0 * a.hidden)
    return Passes(
        matmul_forward=forward / a.layers,
        matmul_backward=backward / a.layers,
        attention_forward=cores / a.layers,
        attention_backward=cores_back / a.layers,
        memory_forward=(moved.total + casts) / rate + _MEMORY_KERNELS[0] * LAUNCH_S,
        memory_backward=(moved_back.total + casts) / rate + _MEMORY_KERNELS[1] * LAUNCH_S,
        end_matmul=end + end_back,
        end_memory=loss / rate,
        sigma_fraction=np.broadcast_to(sigma, shape),
    )


def _products_s(found: list[Product], chip: str, precision: str, bandwidth: float) -> tuple[Numbers, Numbers, Numbers]:
    """Return seconds of all layers forward and backward, and the variance of their sum (errors of a chip are one)."""
    model = gemm.model(chip, precision)
    rows, columns, inner = (np.stack([getattr(one, name) for one in found]) for name in ("rows", "columns", "inner"))
    groups = np.stack([one.groups for one in found])
    counts = np.stack([one.count for one in found])
    each = np.ceil(rows / groups / _TILE) * _TILE * groups
    together = np.where(groups > 1, each, rows)
    floor = groups * columns * inner * 2.0 / (bandwidth * MEMORY_REACHED) * (groups > 1)
    n = rows.size
    sizes = [
        np.concatenate([part.ravel() for part in parts])
        for parts in (
            (together, together, inner * groups),
            (columns, inner, columns),
            (inner, columns, np.maximum(rows / groups, 1.0)),
        )
    ]
    times = model.time_s(0, *sizes)
    slower = np.maximum(_misaligned(columns), _misaligned(inner))
    one, two, three = (times.time_s[i * n : (i + 1) * n].reshape(rows.shape) * slower for i in range(3))
    forward = (counts * np.maximum(one, floor)).sum(axis=0)
    backward = (counts * (np.maximum(two, floor) + np.maximum(three, floor))).sum(axis=0)
    sigma = float(times.sigma_fraction.flat[0])
    return forward, backward, (sigma * (forward + backward)) ** 2


def _misaligned(size: Numbers) -> Numbers:
    """Return how much longer a product takes for the alignment of a size."""
    slower = np.full(size.shape, _ALIGNMENT[-1][1])
    for multiple, factor in reversed(_ALIGNMENT[:-1]):
        slower = np.where(np.remainder(size, multiple) == 0, factor, slower)
    return slower


def _attention_s(a: Architecture, m: Mapping, chip: str, precision: str) -> tuple[Numbers, Numbers, Numbers]:
    """Return seconds of the attention cores of all layers forward and backward, and their sigma."""
    shape = np.broadcast_shapes(m.micro_batch_size.shape, a.layers.shape)
    t, c = m.tensor_parallel_size, m.context_parallel_size
    heads = np.broadcast_to(np.maximum(a.heads / t, 1.0), shape)
    kv = np.where(a.is_mla, a.heads, a.kv_heads)
    kv = np.broadcast_to(np.maximum(np.where(kv > 0, kv, a.heads) / t, 1.0), shape)
    kv = np.where(heads % kv == 0, kv, 1.0)
    batch, s = np.broadcast_to(m.micro_batch_size, shape), np.broadcast_to(m.sequence_length, shape)
    qk, v = np.broadcast_to(a.qk_dim, shape), np.broadcast_to(a.v_dim, shape)
    cross = a.cross_attention_layers
    both = np.minimum(a.encoder_layers, a.full_attention_layers)
    peak = peak_flop_per_s(kernel_chip(chip), precision)
    window = np.where(a.window_is_chunk, a.window / 2.0, a.window)
    forward, sigma = np.zeros(shape), np.zeros(shape)
    parts = (
        (a.full_attention_layers - both, True, np.zeros(shape)),
        (both + cross, False, np.zeros(shape)),
        (a.window_attention_layers, True, np.broadcast_to(window, shape)),
    )
    fused = np.broadcast_to(m.attention_fused, shape)
    for layers, causal, width in parts:
        count = np.broadcast_to(layers, shape)
        rows = (count > 0) & fused
        if rows.any():
            sizes = (batch[rows], heads[rows], kv[rows], np.maximum(qk[rows], 1.0), s[rows], s[rows])
            one = attention.attention_time_s(
                chip, precision, *sizes, causal=causal, window=width[rows], value_dim=np.maximum(v[rows], 1.0)
            )
            forward[rows] += (count * 1.0 / np.broadcast_to(c, shape))[rows] * one.time_s
            sigma[rows] = one.sigma_fraction
    back = attention.BACKWARD_RATIO * forward
    bare = ~fused
    if bare.any():
        # Scores of the whole square, masked afterwards; products of two matrices for each head.
        scores = batch * heads * s * s / c * (a.attention_layers + cross)
        moved = (
            2.0
            * VALUE_BYTES[m.precision]
            * scores
            / ((kernel_chip(chip).bandwidth_bytes_per_s or np.nan) * MEMORY_REACHED)
        )
        # Heads are narrow, so that writing and reading scores limits the products about as much as the units do.
        unfused = np.hypot(2.0 * scores * (qk + v) * _misaligned(qk) / (peak * _UNFUSED_EFFICIENCY), moved)
        forward, back = np.where(bare, unfused, forward), np.where(bare, 2.0 * unfused, back)
        sigma = np.where(bare, 0.3, sigma)
    linear = a.linear_layers * a.linear_value_heads / t * tokens_on_a_chip(m)
    linear = linear * 6.0 * a.linear_key_dim * a.linear_value_dim / (peak * 0.15)
    return forward + linear, back + 2.5 * linear, sigma


def _casts(found: list[Product], m: Mapping) -> Numbers | float:
    """Return the bytes that casting operands to a short format moves in one pass, all layers."""
    low = np.isin(m.precision, _LOW)
    if not low.any():
        return 0.0
    moved = sum(one.count * one.rows * (one.inner + one.columns) / 2.0 for one in found)
    return np.where(low, _CAST_BYTES * moved, 0.0)


def _routed_bytes(a: Architecture, m: Mapping) -> Numbers:
    """Return the bytes that copies of routed tokens move in one pass of the mean layer, beyond the two of `traffic`."""
    copies = tokens_on_a_chip(m) * a.experts_active * a.hidden / m.tensor_parallel_size * a.moe_layers / a.layers
    return _ROUTED_COPIES * VALUE_BYTES[m.precision] * copies


def value_bytes(mapping: Mapping) -> Numbers:
    """Return the bytes of a value that is sent between chips."""
    return VALUE_BYTES[mapping.precision]
