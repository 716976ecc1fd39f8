"""Bytes that memory-bound operations read and write: norms, residuals, activations, rotary, dropout, softmax, routing.

Each operation is counted as a kernel of its own that reads its inputs and writes its outputs once; a stack that fuses
two of them moves less, which is a matter of the stack's factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from energy.cost.activations import VALUE_BYTES, tokens_on_a_chip
from energy.cost.architecture import Architecture
from energy.cost.mapping import Mapping

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Bytes read and written on one chip by one pass of the mean layer over one micro batch, by operation."""

    norms: Numbers
    residual: Numbers
    activation: Numbers
    rotary: Numbers
    dropout: Numbers
    softmax: Numbers
    routing: Numbers

    @property
    def total(self) -> Numbers:
        """Return the sum of the operations."""
        in_frame = self.norms + self.residual + self.dropout
        return in_frame + self.activation + self.rotary + self.softmax + self.routing


def memory_bound_bytes(architecture: Architecture, mapping: Mapping) -> tuple[Traffic, Traffic]:
    """Return the bytes of the memory-bound operations of a layer: forward pass, backward pass.

    In values: norm 2 h forward (read, write) and 3 h backward (input, gradient, result); residual addition 3 h each
    way; gated activation 3 f and 5 f, plain 2 f and 3 f; rotary 2 (queries + keys) each way; dropout 2 h and a byte of
    mask; softmax that is not fused 2 a s and 3 a s, its dropout likewise; routing moves k copies of h out and home.

    Examples
    --------
    >>> llama = Architecture.of_model("Llama 3.1 8B")
    >>> mapping = Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=8, precision="bf16")
    >>> forward, backward = memory_bound_bytes(llama, mapping)
    >>> float(forward.total[0] / 2**20), float(forward.softmax[0])
    (1472.0, 0.0)

    """
    a, m = architecture, mapping
    value, tokens, t = VALUE_BYTES[m.precision], tokens_on_a_chip(m), m.tensor_parallel_size
    in_frame = tokens * a.hidden / np.where(m.sequence_parallel, t, 1.0)
    mixers = (a.attention_layers + a.cross_attention_layers) / a.layers
    hidden = (a.ffn * a.dense_layers + (a.experts_active * a.moe_ffn + a.shared_ffn) * a.moe_layers) / a.layers
    hidden = hidden * tokens * value / t
    held = np.where(a.is_mla, a.heads, np.maximum(a.kv_heads, t))
    turned = np.where(a.is_mla, a.rope_dim, a.qk_dim) * (a.heads + held) / t
    rotary = np.where(a.rotary, 2.0 * value * turned * tokens, 0.0) * mixers
    square = np.where(m.attention_fused, 0.0, a.heads / t * m.sequence_length * tokens) * mixers
    masked = np.where(a.dropout, 2.0 * value + 1.0, 0.0)
    dropout = masked * (2.0 * in_frame + square)
    residual = 2.0 * 3.0 * value * in_frame
    routing = 2.0 * value * (1.0 + a.experts_active) * in_frame * a.moe_layers / a.layers
    norms = a.norms_per_layer * value * in_frame
    shared = {"residual": residual, "rotary": rotary, "dropout": dropout, "routing": routing}
    forward = Traffic(
        norms=2.0 * norms,
        activation=np.where(a.gated, 3.0, 2.0) * hidden,
        softmax=2.0 * value * square,
        **shared,
    )
    backward = Traffic(
        norms=3.0 * norms,
        activation=np.where(a.gated, 5.0, 3.0) * hidden,
        softmax=3.0 * value * square,
        **shared,
    )
    return forward, backward
