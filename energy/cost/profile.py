"""What the chips do during a step, as shares of its time: the utilisation that a power model needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from energy.cost.counts import step_flops
from energy.cost.step import StepTime, Work, peaks

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Shares of a step, arrays ``(n,)`` that add up to one, and the rate while computing.

    ``compute`` is time in matrix products and attention, at ``compute_rate`` of the peak (recompute included);
    ``memory_bound`` moves data in the chip's memory; ``communication`` waits for data of other chips or of the host
    with links busy; ``idle`` waits for the pipeline, the slowest stage or the host. What a stack takes beyond the
    physics is spread over the states in proportion.
    """

    compute: Numbers
    compute_rate: Numbers
    memory_bound: Numbers
    communication: Numbers
    idle: Numbers


def profile(step: StepTime, work: Work) -> Profile:
    """Return the utilisation profile of steps.

    Examples
    --------
    >>> from energy.cost.architecture import Architecture
    >>> from energy.cost.requests import Request
    >>> from energy.cost.training import answer, plan
    >>> request = Request(architecture=Architecture.of_model("Llama 3.1 8B"), kind="dense", chip="nvidia_h100_sxm5_80",
    ...                   chips=8, precision="bf16", sequence_length=8192, global_batch_size=64, framework="torchtitan")
    >>> found = answer([plan(request)])
    >>> shares = profile(found.step, found.work)
    >>> float((shares.compute + shares.memory_bound + shares.communication + shares.idle)[0].round(9))
    1.0
    >>> bool(shares.compute[0] > 0.5), bool(shares.compute_rate[0] < 1.0)
    (True, True)

    """
    known = step.total - step.framework
    compute = step.matmul + step.attention + step.recompute
    moving = step.memory_bound + step.optimiser
    links = (
        step.tensor_communication
        + step.context_communication
        + step.expert_communication
        + step.pipeline_communication
        + step.data_communication
        + step.offload
    )
    flops = step_flops(work.architecture, work.mapping, lora_rank=np.where(work.is_lora, 16.0, 0.0))
    in_compute = compute / known * step.total * work.mapping.chips * peaks(work)
    return Profile(
        compute=compute / known,
        compute_rate=flops.hardware / in_compute,
        memory_bound=moving / known,
        communication=links / known,
        idle=(step.bubble + step.imbalance + step.host) / known,
    )
