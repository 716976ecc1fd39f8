"""Memory of a planned run: what a chip holds by culprit, with bands, as its tools would show it.

The count of :mod:`energy.cost.memory` with what the request and its stack say: adapters without gradients and moments
of the frozen weights, layers that are computed again in part, where routing is applied. A caching allocator reserves no
more than the chip has, so that a step that fits never shows more than the chip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from energy.cost.mapping import RECOMPUTE, Mapping
from energy.cost.memory import Memory, State, chip_memory
from energy.cost.requests import Request, memory_gb_of

if TYPE_CHECKING:
    from energy.cost.training import Plan

#: Families whose expert kernels multiply by the weights of routing inside, so that no output of experts is kept
#: (fused activation of Megatron-Core's experts since 2025; an estimate for the versions of a family).
ROUTING_INSIDE = ("nemo", "megatron_core")
#: Half widths of ln memory, 80 % and 95 %, of a run whose layout, batch and length are told, and of one where
#: one of them is assumed: errors of published totals whose source was left out (``scripts/fit_memory.py``).
TOLD_LN80, TOLD_LN95 = 0.07, 0.13
ASSUMED_LN80, ASSUMED_LN95 = 0.35, 0.55


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of one chip by culprit, the largest first, and the ends of the bands of their sum."""

    culprits: dict[str, float]
    low80: float
    high80: float
    low: float
    high: float

    @property
    def total(self) -> float:
        """Return the sum in bytes."""
        return math.fsum(self.culprits.values())


def held(request: Request, family: str, mapping: Mapping) -> Memory:
    """Return the count of layouts of a request, ``(n,)``; of adapters the state of frozen weights is left out."""
    state = State.of(mapping)
    if request.is_lora:
        nothing = np.zeros(len(mapping))
        state = replace(state, gradient_bytes=nothing, master_bytes=nothing, moment_bytes=nothing)
    return chip_memory(request.architecture, mapping, state, routed_output_kept=family not in ROUTING_INSIDE)


def footprint(one: Plan) -> Footprint:
    """Return what a chip of a planned run holds.

    Examples
    --------
    >>> from energy.cost.architecture import Architecture
    >>> from energy.cost.training import plan
    >>> run = plan(Request(architecture=Architecture.of_model("Llama 3.1 8B"), kind="dense", chip="nvidia_h100_sxm5_80",
    ...                    chips=8, precision="bf16", sequence_length=8192, global_batch_size=16,
    ...                    micro_batch_size=1, framework="torchtitan"))
    >>> found = footprint(run)
    >>> bool(found.low80 < found.total < found.high80 <= 80 * 2**30)
    True

    """
    whole = held(one.request, one.family, one.mapping)
    parts = [(one.recompute_share, whole)]
    if RECOMPUTE[int(one.mapping.recompute[0])] == "full" and one.recompute_share < 1.0:
        bare = replace(one.mapping, recompute=np.zeros(1, np.int8))
        parts.append((1.0 - one.recompute_share, held(one.request, one.family, bare)))
    else:
        parts = [(1.0, whole)]
    sizes = {
        f.name: math.fsum(share * float(getattr(part, f.name)[0]) for share, part in parts) for f in fields(Memory)
    }
    needed = math.fsum(share * float(part.needed[0]) for share, part in parts)
    room = memory_gb_of(one.request)
    limit = math.inf if room is None else max(room * 2.0**30, needed)
    sizes["allocator"] -= max(math.fsum(sizes.values()) - limit, 0.0)
    total = math.fsum(sizes.values())
    near, far = half_widths(one)
    ends = [total * math.exp(width) for width in (-near, near, -far, far)]
    low80, high80, low, high = (min(end, limit) if needed < limit else end for end in ends)
    return Footprint(dict(sorted(sizes.items(), key=lambda item: -item[1])), low80, high80, low, high)


def half_widths(one: Plan) -> tuple[float, float]:
    """Return the half widths of ln memory, 80 % and 95 %, by what was told."""
    asked = one.asked or one.request
    layout = asked.chips > 1 and (asked.tensor_parallel_size is None or asked.pipeline_parallel_size is None)
    guessed = asked.shape_is_assumed or asked.sequence_is_assumed or asked.sequence_length is None
    if layout or guessed or asked.micro_batch_size is None:
        return ASSUMED_LN80, ASSUMED_LN95
    return TOLD_LN80, TOLD_LN95


def needed_bytes(request: Request, family: str, mapping: Mapping) -> NDArray[np.float64]:
    """Return what layouts need, in bytes: without what an allocator gives back when memory is short."""
    return held(request, family, mapping).needed
