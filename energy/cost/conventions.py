"""Conventions in which FLOPs, TFLOP/s and utilisation are published, and the way from one to another.

A figure without its convention cannot be compared: at long sequences two of them differ by a factor of two.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.architecture import Architecture
from energy.cost.counts import parameters, training_flops_per_token
from energy.cost.mapping import RECOMPUTE
from energy.errors import CostError, did_you_mean

Numbers = NDArray[np.float64]

#: What each convention counts for one token of training.
CONVENTIONS: Mapping[str, str] = MappingProxyType(
    {
        "model_causal": "forward and backward, causal attention at half, windows as they are (Megatron since 2024)",
        "model_full": "forward and backward, attention at its full square even where causal (12 L h s; llm-foundry)",
        "hardware_causal": "model_causal and the recomputed forward pass",
        "hardware_full": "model_full and the recomputed forward pass (arXiv 2205.05198)",
        "sc21": "96 B s L h^2 (1 + s/6h + V/16Lh): full attention and full recompute, used or not (arXiv 2104.04473)",
        "parameters_6n": "six for each active parameter, attention left out",
        "parameters_8n": "eight for each active parameter: full recompute, no attention (early Megatron-DeepSpeed)",
    }
)
_FULL = RECOMPUTE.index("full")


def flops_per_token(
    architecture: Architecture,
    sequence_length: ArrayLike,
    convention: str,
    recompute: ArrayLike = 0,
    *,
    lora_rank: ArrayLike = 0,
) -> Numbers:
    """Return the FLOPs that a convention counts for one token of training.

    Parameters
    ----------
    architecture : Architecture
        One or many.
    sequence_length : array_like
        Tokens of a sequence.
    convention : str
        Of :data:`CONVENTIONS`.
    recompute : array_like of int
        Codes of :data:`energy.cost.mapping.RECOMPUTE`; only the hardware conventions look at it.
    lora_rank : array_like
        Rank of adapters on frozen weights; 0 trains all. The conventions by parameters alone do not look at it.

    Raises
    ------
    CostError
        When the convention is not known.

    Examples
    --------
    The published form and the count by parts agree for the architecture it was written for:

    >>> gpt3 = Architecture.of_model("GPT-3 175B")
    >>> counted = flops_per_token(gpt3, 2048, "sc21")[0]
    >>> published = 96 * 96 * 12288**2 * (1 + 2048 / (6 * 12288) + 50257 / (16 * 96 * 12288))
    >>> bool(abs(counted / published - 1) < 1e-12)
    True

    """
    if convention not in CONVENTIONS:
        hint = did_you_mean(convention, CONVENTIONS)
        raise CostError(f"The convention {convention!r} is not known: {', '.join(CONVENTIONS)}.{hint}")
    if convention.startswith("parameters"):
        each = 6.0 if convention == "parameters_6n" else 8.0
        sequence = np.atleast_1d(np.asarray(sequence_length, np.float64))
        return each * parameters(architecture).active * np.ones_like(sequence)
    code: ArrayLike = _FULL if convention == "sc21" else recompute
    counted = training_flops_per_token(architecture, sequence_length, code, lora_rank=lora_rank)
    total = counted.model if convention.startswith("model") else counted.hardware
    if convention.endswith("causal"):
        return total
    # The scores of every pass, brought from what is seen to the whole square.
    passes = counted.forward.scores + counted.backward.scores
    if not convention.startswith("model"):
        passes = passes + counted.recompute.scores
    return total + passes * (_square(architecture, sequence_length) / np.maximum(counted.forward.scores, 1.0) - 1.0)


def _square(architecture: Architecture, sequence_length: ArrayLike) -> Numbers:
    """Return the forward FLOPs of the scores as if each query saw all tokens."""
    a = architecture
    layers = a.attention_layers + a.cross_attention_layers
    square: Numbers = 2.0 * a.heads * (a.qk_dim + a.v_dim) * layers * np.asarray(sequence_length, np.float64)
    return square


def converted(
    value: ArrayLike,
    architecture: Architecture,
    sequence_length: ArrayLike,
    given: str,
    wanted: str,
    recompute: ArrayLike = 0,
) -> Numbers:
    """Return a figure in TFLOP/s, FLOPs or utilisation in another convention; the time behind it stays.

    Parameters
    ----------
    value : array_like
        The figure; a rate over one peak, any unit.
    architecture, sequence_length, recompute
        As for :func:`flops_per_token`.
    given, wanted : str
        Conventions of :data:`CONVENTIONS`.

    Examples
    --------
    >>> llama = Architecture.of_model("Llama 3.1 8B")
    >>> float(converted(400.0, llama, 131072, "model_full", "model_causal")[0].round(1))
    235.9

    """
    ratio = flops_per_token(architecture, sequence_length, wanted, recompute) / flops_per_token(
        architecture, sequence_length, given, recompute
    )
    return np.asarray(value, np.float64) * ratio


def tokens_per_second(
    tflops_per_chip: ArrayLike,
    architecture: Architecture,
    sequence_length: ArrayLike,
    convention: str,
    recompute: ArrayLike = 0,
) -> Numbers:
    """Return the tokens/s of a chip that a published TFLOP/s figure means.

    Parameters
    ----------
    tflops_per_chip : array_like
        TFLOP/s of one chip, in ``convention``.

    Examples
    --------
    >>> llama = Architecture.of_model("Llama 3.1 8B")
    >>> float(tokens_per_second(400.0, llama, 8192, "model_causal")[0].round())
    7771.0

    """
    each = flops_per_token(architecture, sequence_length, convention, recompute)
    return np.asarray(tflops_per_chip, np.float64) * 1e12 / each
