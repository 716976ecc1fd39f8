"""One training run in figures: time, throughput, utilisation, memory, layout, states; for ``energy estimate``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from energy import catalogue
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.links import Groups, warnings_of
from energy.cost.mapping import RECOMPUTE
from energy.cost.memory import chip_memory
from energy.cost.profile import profile
from energy.cost.requests import Request
from energy.cost.step import rates
from energy.cost.training import Answer, Plan, answer, plan
from energy.errors import CostError

_LAYOUT = (
    *("tensor_parallel_size", "pipeline_parallel_size", "virtual_stages", "data_parallel_size"),
    *("context_parallel_size", "expert_parallel_size", "zero_stage", "micro_batch_size", "global_batch_size"),
    "sequence_length",
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One value with its unit and bands: ``low80`` to ``high80`` holds 80 %, ``low`` to ``high`` 95 % of such runs."""

    value: float
    unit: str
    low80: float | None = None
    high80: float | None = None
    low: float | None = None
    high: float | None = None

    def over(self, amount: float, unit: str) -> Figure:
        """Return an amount over this figure: a rate of a time, with the ends of the bands exchanged."""
        ends = (self.high80, self.low80, self.high, self.low)
        return Figure(amount / self.value, unit, *(None if one is None else amount / one for one in ends))

    def times(self, factor: float, unit: str) -> Figure:
        """Return this figure times a factor."""
        ends = (self.low80, self.high80, self.low, self.high)
        return Figure(self.value * factor, unit, *(None if one is None else one * factor for one in ends))


@dataclass(frozen=True, slots=True)
class Estimate:
    """Figures by name, layout, seconds by state, shares of the step, memory by culprit in GiB, and what to know."""

    figures: dict[str, Figure]
    layout: dict[str, Any]
    states_s: dict[str, float]
    profile: dict[str, float]
    memory_gib: dict[str, float]
    notes: tuple[str, ...] = field(default=())


def estimate(request: Request, *, tokens: float | None = None) -> Estimate:
    """Return the figures of one training run.

    Parameters
    ----------
    request : Request
        The run; what is None is searched.
    tokens : float, optional
        Tokens to train on, for the time of the whole run.

    Raises
    ------
    CostError
        When the run is not possible: see :func:`energy.cost.training.plan`.

    Examples
    --------
    >>> from energy.cost.architecture import Architecture
    >>> llama = Architecture.of_model("Llama 3.1 8B")
    >>> found = estimate(Request(architecture=llama, kind="dense", chip="nvidia_h100_sxm5_80", chips=64,
    ...                          precision="bf16", framework="megatron-core"), tokens=1e12)
    >>> found.figures["training_time"].unit, bool(1 < found.figures["training_time"].value < 60)
    ('day', True)

    """
    if tokens is not None and not 0 < tokens < float("inf"):
        raise CostError(f"tokens is {tokens:g}: give a finite number above zero.")
    one = plan(request)
    found = answer([one])
    mapping, work = one.mapping, found.work
    ends = (found.low80_s, found.high80_s, found.low_s, found.high_s)
    step = Figure(float(found.time_s[0]), "s", *(float(end[0]) for end in ends))
    in_step = float(mapping.tokens_per_step[0])
    figures = _figures(request, one, found, step)
    if tokens is not None:
        steps = tokens / in_step
        figures["training_time"] = step.times(steps / 86400.0, "day")
        figures["chip_hours"] = step.times(steps * request.chips / 3600.0, "h")
    held = _memory(one)
    room = catalogue.chip(request.chip).memory_gb
    figures["memory_per_chip"] = Figure(sum(held.values()), "GiB")
    layout: dict[str, Any] = {name: float(getattr(mapping, name)[0]) for name in _LAYOUT}
    layout |= {
        "sequence_parallel": bool(mapping.sequence_parallel[0]),
        "recompute": RECOMPUTE[int(mapping.recompute[0])],
    }
    layout |= {"recompute_share": one.recompute_share, "stack": one.family, "precision": one.request.precision}
    shares = profile(found.step, work)
    names = ("compute", "compute_rate", "memory_bound", "communication", "idle")
    notes = [*one.notes, *warnings_of(work.fabric, mapping, Groups.of(work.fabric, mapping))]
    if found.factor.sources[0] == 0:
        notes.append(f"No published run of the stack {one.family} on this chip family is known: the bands are wider.")
    if room is not None:
        layout["memory_of_chip_gb"] = room
    return Estimate(
        figures,
        layout,
        found.step.states(),
        {name: float(getattr(shares, name)[0]) for name in names},
        held,
        tuple(notes),
    )


def _figures(request: Request, one: Plan, found: Answer, step: Figure) -> dict[str, Figure]:
    """Return the figures that a step time means."""
    in_step, seconds = float(one.mapping.tokens_per_step[0]), float(found.time_s[0])
    used = rates(found.work, found.time_s)
    peak = peak_flop_per_s(kernel_chip(request.chip), one.request.precision)
    model, hardware = float(used.mfu[0]) * seconds, float(used.hfu[0]) * seconds
    return {
        "step_time": step,
        "throughput": step.over(in_step, "token/s"),
        "throughput_per_chip": step.over(in_step / request.chips, "token/s"),
        "model_flop_utilisation": step.over(model * 100.0, "%"),
        "hardware_flop_utilisation": step.over(hardware * 100.0, "%"),
        "model_flop_rate_per_chip": step.over(model * peak / 1e12, "TFLOP/s"),
    }


def _memory(one: Plan) -> dict[str, float]:
    """Return GiB by culprit, the largest first; where part of the layers is recomputed, between both."""
    shape, mapping = one.request.architecture, one.mapping
    held = chip_memory(shape, mapping).culprits()
    if RECOMPUTE[int(mapping.recompute[0])] == "full" and one.recompute_share < 1.0:
        bare = chip_memory(shape, replace(mapping, recompute=np.zeros(1, np.int8))).culprits()
        share = one.recompute_share
        held = {name: share * size + (1.0 - share) * bare[name] for name, size in held.items()}
    return {name: size / 2.0**30 for name, size in sorted(held.items(), key=lambda item: -item[1])}
