"""What a row's printed rates say against its own model: which depth or sequence length was run.

A row that prints TFLOP/s and tokens/s of a chip prints the FLOPs of a token, whatever it prints of the model. Where
they are a quarter away from those of the named model in each convention, the row contradicts itself, and the FLOPs say
what was run: the sequence length where none is printed, else the depth that is a whole number of layers for each
pipeline rank. What was found must give the printed FLOPs within two per cent, or the row stays as it is. A quarter
leaves alone what counts of other people differ by (windows, latent attention, extra heads: up to a sixth).

A row that prints samples/s but no sequence length may have had shorter samples than assumed: they are halved until the
chips run at no more than their peak. Measured memory and step times are never used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from energy.cost.architecture import Architecture
from energy.cost.conventions import flops_per_token
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.mapping import RECOMPUTE
from energy.cost.requests import Request
from energy.cost.search import USUAL_SEQUENCE

#: What the FLOPs of a token may be away from the named model's, and what is found from them.
CONTRADICTS, AGREES = 0.25, 0.02
#: Attention counted causal or full: sources often print FLOPs without saying which. With layers computed again where
#: they may have been.
_COUNTED, _WITH_RECOMPUTE = ("model_causal", "model_full"), ("hardware_causal", "hardware_full")
_FULL = RECOMPUTE.index("full")
_LENGTHS = tuple(2.0**power for power in range(7, 21))
_COUNTS = (
    *("layers", "full_attention_layers", "window_attention_layers", "linear_layers"),
    *("encoder_layers", "cross_attention_layers", "dense_layers", "moe_layers"),
)


def reconciled(request: Request, rates: Mapping[str, float | None], notes: list[str]) -> Request:
    """Return the request of what a row's rates say was run; nearly always the same.

    Parameters
    ----------
    request : Request
        As the row names it.
    rates : mapping
        ``tflops_per_s_per_chip``, ``tokens_per_s_per_chip`` and ``samples_per_s_total`` as printed, or None.
    notes : list of str
        Takes what was changed, and contradictions that nothing resolves.

    Examples
    --------
    >>> model = Architecture.of_model("Llama 2 7B")
    >>> asked = Request(architecture=model, kind="dense", chip="amd_mi300x", chips=8, precision="bf16",
    ...                 pipeline_parallel_size=8)
    >>> notes = []
    >>> found = reconciled(asked, {"tflops_per_s_per_chip": 235.7, "tokens_per_s_per_chip": 10057.0}, notes)
    >>> float(found.architecture.layers[0])
    16.0

    """
    tflops, tokens = rates.get("tflops_per_s_per_chip"), rates.get("tokens_per_s_per_chip")
    if request.shape_is_assumed or request.is_lora or request.kind not in ("dense", "moe", "encoder"):
        named = request
    elif tflops and tokens and tflops > 0 and tokens > 0:
        named = _from_flops(request, tflops * 1e12 / tokens, notes)
    else:
        named = request
    samples = rates.get("samples_per_s_total")
    if named.sequence_length is None and not tokens and samples and samples > 0:
        return _within_peak(named, samples, notes)
    return named


def _from_flops(request: Request, printed: float, notes: list[str]) -> Request:
    shape, length = request.architecture, request.sequence_length or USUAL_SEQUENCE
    every = (*_COUNTED, *(_WITH_RECOMPUTE if request.recompute in (None, "full", "alternate") else ()))
    if _nearest(shape, length, every, printed) <= CONTRADICTS:
        return request
    said = f"TFLOP/s over tokens/s are {printed:.3g} FLOP a token, which the named model cannot have:"
    if request.sequence_length is None:
        errors = [_nearest(shape, one, _COUNTED, printed) for one in _LENGTHS]
        best = int(np.argmin(errors))
        if errors[best] <= AGREES:
            notes.append(f"{said} they fit a sequence of {_LENGTHS[best]:g} tokens, which is taken.")
            return replace(request, sequence_length=_LENGTHS[best])
    depth, error = _depth(request, length, printed)
    if depth is not None and error <= AGREES:
        layers = f"{depth.layers[0]:g} of its {shape.layers[0]:g} layers"
        notes.append(f"{said} they fit {layers} within {error:.1%}, which are taken.")
        return replace(request, architecture=depth)
    notes.append(f"{said} nothing that could have been run fits them, and the row is taken as it is printed.")
    return request


def _nearest(shape: Architecture, length: float, conventions: tuple[str, ...], printed: float) -> float:
    """Return the smallest relative difference of any convention, of hardware with all layers computed again."""
    counted = [float(np.asarray(flops_per_token(shape, length, one, _FULL))[0]) for one in conventions]
    return min(abs(one / printed - 1.0) for one in counted)


def _depth(request: Request, length: float, printed: float) -> tuple[Architecture | None, float]:
    """Return the nearest depth of whole layers for each pipeline rank, and how far its FLOPs are away.

    Only of models whose layers are all alike: of others the FLOPs do not say which were left out.
    """
    shape, step = request.architecture, int(request.pipeline_parallel_size or 1)
    counts = {name: float(getattr(shape, name)[0]) for name in _COUNTS}
    whole = counts["layers"]
    if any(one not in (0.0, whole) for one in counts.values()) or step < 1:
        return None, np.inf
    found: tuple[Architecture | None, float] = (None, np.inf)
    for layers in range(step, 2 * int(whole) + 1, step):
        changed: dict[str, Any] = {name: np.array([float(layers) if one > 0 else 0.0]) for name, one in counts.items()}
        other = replace(shape, **changed)
        error = _nearest(other, length, _COUNTED, printed)
        if error < found[1]:
            found = (other, error)
    return found


def _within_peak(request: Request, samples_per_s: float, notes: list[str]) -> Request:
    """Return the request with samples short enough for the chips' peak, where the usual length is not."""
    peak = peak_flop_per_s(kernel_chip(request.chip), request.precision) * request.chips
    usual = request.usual_sequence_length
    length = usual
    while length > 1 and samples_per_s * length * _least_flops(request, length) > peak:
        length /= 2.0
    if length == usual:
        return request
    notes.append(
        f"{samples_per_s:g} samples/s of {usual:g} tokens would be more than the peak of the chips: samples of "
        f"{length:g} tokens are the longest that are not, and are taken."
    )
    return replace(request, sequence_length=length, sequence_is_assumed=True)


def _least_flops(request: Request, length: float) -> float:
    counted = float(np.asarray(flops_per_token(request.architecture, length, "model_causal"))[0])
    return counted * 2.0 / 3.0 if request.is_lora else counted
