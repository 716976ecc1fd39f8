"""Optimiser state, weights or activations in a slower memory: where it lies, what it costs, what it frees.

    optimizer             master weights and moments (12 bytes with Adam) are streamed through the chip once a step
    optimizer+parameters  also the weights, read forward and backward in each micro batch
    activations           what layers keep is written out in the forward pass and read in the backward one

After ZeRO-Offload (arXiv 2101.06840) and ZeRO-Infinity (arXiv 2104.07857), with the update on the chip; links carry
both ways at once, and what is hidden behind the optimiser or the passes is not counted. Gradients stay on the chip. The
memory is the host's, or CXL memory behind the same link of the chip.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from energy import catalogue
from energy.cost.activations import activation_bytes_per_layer
from energy.cost.architecture import Architecture
from energy.cost.mapping import OFFLOADS, Mapping
from energy.errors import CostError, did_you_mean

Numbers = NDArray[np.float64]

#: Memories that offloaded tensors may lie in; CXL by the link of ``links.csv``.
TIERS = ("host", "cxl2", "cxl3")
#: What copies reach of the link's rate; an estimate.
REACHED = 0.8
#: Values of the optimiser's state in one of the two blocks on their way; an estimate.
BLOCK_VALUES = 5e7
#: Master weight and two moments of mixed-precision Adam.
_ADAM_BYTES = 12.0
_OPTIMIZER, _PARAMETERS, _ACTIVATIONS = (OFFLOADS.index(x) for x in OFFLOADS[1:])


@cache
def link_bytes_per_s(chip: str, tier: str = "host") -> float:
    """Return the rate at which a chip reaches a slower memory, one way, in bytes/s.

    Parameters
    ----------
    chip : str
        Name of the catalogue.
    tier : str
        One of :data:`TIERS`; CXL memory is no faster than the chip's own link to the host.

    Raises
    ------
    CostError
        When the tier is not known, or the catalogue knows no host link of the chip.

    Examples
    --------
    >>> [round(link_bytes_per_s(chip, "cxl3") / 1e9, 1) for chip in ("nvidia_h100_sxm5_80", "nvidia_a100_sxm4_80")]
    [50.4, 24.8]
    >>> link_bytes_per_s("google_tpu_v5p")
    Traceback (most recent call last):
    ...
    energy.errors.CostError: The catalogue knows no host link of google_tpu_v5p: give host_bytes_per_s, or offload none.

    """
    if tier not in TIERS:
        raise CostError(f"offload_to {tier!r} is not known: {', '.join(TIERS)}.{did_you_mean(tier, TIERS)}")
    known = catalogue.chip(chip)
    own = _host_gb_per_s(known.host_link)
    if own is None:
        raise CostError(f"The catalogue knows no host link of {known.chip_id}: give host_bytes_per_s, or offload none.")
    if tier != "host":
        own = min(own, catalogue.link(tier).bandwidth_gb_per_s_per_direction or own)
    return REACHED * own * 1e9


def has_link(chip: str) -> bool:
    """Return whether the catalogue knows the rate of a chip's link to its host.

    Examples
    --------
    >>> has_link("amd_mi300x"), has_link("google_tpu_v5p")
    (True, False)

    """
    return _host_gb_per_s(catalogue.chip(chip).host_link) is not None


def _host_gb_per_s(text: str) -> float | None:
    """Return the rate of the chip's host link, of several the first."""
    rate = re.search(r"(\d+(?:\.\d+)?) GB/s", text)
    if rate:
        return float(rate[1])
    found = re.search(r"PCIe (\d)\.0(?: x(\d+))?", text)
    if found is None:
        return None
    whole = catalogue.link(f"pcie{found[1]}_x16").bandwidth_gb_per_s_per_direction
    return None if whole is None else whole * float(found[2] or 16) / 16.0


def exposed_s(
    architecture: Architecture,
    mapping: Mapping,
    rate: Numbers,
    held: tuple[Numbers, Numbers],
    micro_batch_s: Numbers,
    optimiser_s: Numbers,
) -> Numbers:
    """Return the seconds of a step that transfers take beyond what hides them.

    Parameters
    ----------
    architecture, mapping
        Scenarios.
    rate : array
        Bytes/s one way; NaN where nothing is offloaded.
    held : two arrays
        Parameters of a chip: those whose gradients it adds up, and those that its optimiser updates.
    micro_batch_s, optimiser_s : array
        Seconds of one micro batch on the mean stage, and of the optimiser on the chip.

    Examples
    --------
    >>> one = Mapping.of(sequence_length=4096, micro_batch_size=1, global_batch_size=8, precision="bf16",
    ...                  offload=["none", "optimizer"])
    >>> llama, same = Architecture.of_model("Llama 3.1 8B"), np.full(2, 8e9)
    >>> exposed_s(llama, one, np.array([np.nan, 48e9]), (same, same), np.ones(2), np.zeros(2)).tolist()
    [0.0, 2.0]

    """
    code, count = mapping.offload, mapping.micro_batches
    moved = np.where(code > 0, 1.0 / rate, 0.0)
    weights = 2.0 * held[1] * moved
    state = _ADAM_BYTES * held[1] * moved + np.where(code == _PARAMETERS, weights, 0.0)
    late = np.maximum(state - optimiser_s, 0.0)
    streamed = count * np.maximum(2.0 * weights - micro_batch_s, 0.0)
    found = np.where(code == _OPTIMIZER, late, np.where(code == _PARAMETERS, late + streamed, 0.0))
    if (code == _ACTIVATIONS).any():
        layers = architecture.layers / mapping.pipeline_parallel_size
        each = activation_bytes_per_layer(architecture, mapping).total * layers * moved
        # A third of a micro batch is its forward pass, as FLOPs are.
        out, home = np.maximum(each - micro_batch_s / 3.0, 0.0), np.maximum(each - micro_batch_s * 2.0 / 3.0, 0.0)
        found = np.where(code == _ACTIVATIONS, count * (out + home), found)
    return np.asarray(found)


def kept_share(mapping: Mapping, layers: Numbers, in_flight: Numbers) -> Numbers:
    """Return the part of kept activations that stays on the chip: two layers of one micro batch, else all.

    Examples
    --------
    >>> one = Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=8, precision="bf16",
    ...                  offload=["none", "activations"])
    >>> kept_share(one, np.full(2, 10.0), np.full(2, 4.0)).tolist()
    [1.0, 0.05]

    """
    if not mapping.offload.any():
        return np.ones(1)
    few = np.minimum(2.0 / np.maximum(layers * in_flight, 1.0), 1.0)
    return np.where(mapping.offload == _ACTIVATIONS, few, 1.0)


def off_chip(mapping: Mapping) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where the optimiser's state lies off the chip, and where the weights do.

    Examples
    --------
    >>> one = Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=8, precision="bf16", offload=OFFLOADS)
    >>> [array.tolist() for array in off_chip(one)]
    [[False, True, True, False], [False, False, True, False]]

    """
    code = mapping.offload
    return (code == _OPTIMIZER) | (code == _PARAMETERS), np.asarray(code == _PARAMETERS)
