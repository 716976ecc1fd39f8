"""One training run in figures: time, throughput, utilisation, memory, layout, states; for ``energy estimate``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from energy.cost.footprint import footprint
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.links import Groups, warnings_of
from energy.cost.mapping import OFFLOADS, RECOMPUTE, SCHEDULES
from energy.cost.profile import profile
from energy.cost.requests import Request, memory_gb_of
from energy.cost.step import Rates, rates
from energy.cost.training import Answer, Plan, answer, plan
from energy.errors import CostError
from energy.provenance import weakest

_LAYOUT = (
    *("tensor_parallel_size", "pipeline_parallel_size", "virtual_stages", "data_parallel_size"),
    *("context_parallel_size", "expert_parallel_size", "zero_stage", "micro_batch_size", "global_batch_size"),
    "sequence_length",
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One value with its unit and bands: ``low80`` to ``high80`` holds 80 %, ``low`` to ``high`` 95 % of such runs.

    ``status`` is one of :class:`energy.provenance.Status`; ``sources`` names the tables and fits that made it. A value
    of None is not known (status ``no data``), and ``reason`` says what to give.
    """

    value: float | None
    unit: str
    low80: float | None = None
    high80: float | None = None
    low: float | None = None
    high: float | None = None
    status: str = "estimate"
    sources: tuple[str, ...] = ()
    reason: str | None = None

    @classmethod
    def with_ends(
        cls, value: float, unit: str, ends: Sequence[float | None], status: str, sources: tuple[str, ...]
    ) -> Figure:
        """Return a figure from the ends of its bands in the order of :attr:`ends`."""
        low80, high80, low, high = ends
        return cls(value, unit, low80, high80, low, high, status, sources)

    @classmethod
    def not_known(cls, unit: str, reason: str) -> Figure:
        """Return a figure without a value, and what to give for one."""
        return cls(None, unit, status="no data", reason=reason)

    @property
    def known(self) -> float:
        """Return the value.

        Raises
        ------
        CostError
            When there is none.
        """
        if self.value is None:
            raise CostError(self.reason or "The figure is not known.")
        return self.value

    @property
    def ends(self) -> tuple[float | None, ...]:
        """Return ``low80``, ``high80``, ``low``, ``high``."""
        return self.low80, self.high80, self.low, self.high

    def over(self, amount: float, unit: str) -> Figure:
        """Return an amount over this figure: a rate of a time, with the ends of the bands exchanged."""
        swapped = (self.high80, self.low80, self.high, self.low)
        ends = tuple(None if one is None else amount / one for one in swapped)
        return Figure.with_ends(amount / self.known, unit, ends, self.status, self.sources)

    def times(self, factor: float, unit: str) -> Figure:
        """Return this figure times a factor."""
        ends = tuple(None if one is None else one * factor for one in self.ends)
        return Figure.with_ends(self.known * factor, unit, ends, self.status, self.sources)

    def joined(self, other: Figure, factor: float, unit: str, *, share: float = 1.0) -> Figure:
        """Return the product of two figures whose errors have nothing to do with each other.

        Parameters
        ----------
        other : Figure
            With the same bands, above zero.
        factor : float
            On the value.
        unit : str
            Of the result.
        share : float
            Part of the result that rests on ``other`` too, 0 to 1; the rest rests on this figure alone.

        Notes
        -----
        ln(end / value) = sqrt(ln(end / value of this)² + (share ln(end / value of the other))²), for each end; so of
        positive numbers the product is as sure as both together.

        Examples
        --------
        >>> hours, watts = Figure(10.0, "h", 8.0, 12.5, 5.0, 20.0), Figure(500.0, "W", 400.0, 625.0, 250.0, 1000.0)
        >>> energy = hours.joined(watts, 1e-3, "kWh")
        >>> energy.value, round(energy.high80, 2)
        (5.0, 6.86)

        """
        value = self.known * other.known * factor
        found: list[float | None] = []
        for sign, one, two in zip((-1.0, 1.0, -1.0, 1.0), self.ends, other.ends, strict=True):
            if one is None or two is None:
                found.append(None)
                continue
            width = math.hypot(math.log(one / self.known), share * math.log(two / other.known))
            found.append(value * math.exp(sign * width))
        sources = tuple(dict.fromkeys((*self.sources, *other.sources)))
        return Figure.with_ends(value, unit, found, weakest((self.status, other.status)).value, sources)


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
    used = rates(work, found.time_s)
    seconds, at_peak_s = float(found.time_s[0]), float(used.hfu[0] * found.time_s[0])
    drawn = [float(end[0]) for end in (found.low80_s, found.high80_s, found.low_s, found.high_s)]
    bands = [max(end, min(at_peak_s, seconds)) for end in drawn]
    step = Figure.with_ends(seconds, "s", bands, "estimate", _sources(one, found))
    in_step = float(mapping.tokens_per_step[0])
    figures = _figures(request, one, used, step)
    if tokens is not None:
        steps = tokens / in_step
        figures["training_time"] = step.times(steps / 86400.0, "day")
        figures["chip_hours"] = step.times(steps * request.chips / 3600.0, "h")
    memory = footprint(one)
    ends = [end / 2.0**30 for end in (memory.low80, memory.high80, memory.low, memory.high)]
    counted = ("counts of energy.cost.memory",)
    figures["memory_per_chip"] = Figure.with_ends(memory.total / 2.0**30, "GiB", ends, "estimate", counted)
    held = {name: size / 2.0**30 for name, size in memory.culprits.items()}
    room = memory_gb_of(one.request)
    layout: dict[str, Any] = {name: float(getattr(mapping, name)[0]) for name in _LAYOUT}
    layout |= {
        "sequence_parallel": bool(mapping.sequence_parallel[0]),
        "recompute": RECOMPUTE[int(mapping.recompute[0])],
        "schedule": SCHEDULES[int(mapping.schedule[0])],
        "offload": OFFLOADS[int(mapping.offload[0])],
    }
    layout["recompute_share"] = 0.0 if layout["recompute"] == "none" else one.recompute_share
    layout |= {"stack": one.family, "precision": one.request.precision}
    shares = profile(found.step, work)
    names = ("compute", "compute_rate", "memory_bound", "communication", "idle")
    notes = [*one.notes, *warnings_of(work.fabric, mapping, Groups.of(work.fabric, mapping))]
    if found.factor.sources[0] == 0:
        notes.append(f"No published run of the stack {one.family} on this chip family is known: the bands are wider.")
    if bands != drawn:
        notes.append("The bands end where the chips run at their dense peak: no run is faster.")
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


def _figures(request: Request, one: Plan, used: Rates, step: Figure) -> dict[str, Figure]:
    """Return the figures that a step time means."""
    in_step, seconds = float(one.mapping.tokens_per_step[0]), step.known
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


def _sources(one: Plan, found: Answer) -> tuple[str, ...]:
    """Return what a step time rests on: measured kernels, links, and the stack's factor."""
    runs = int(found.factor.sources[0])
    seen = f"{one.family} on this chip family, {runs} published sources" if runs else f"{one.family}, no published run"
    return "kernel_gemm.csv, kernel_attention.csv", "links.csv, nodes.csv", f"stack_factors.csv: {seen}"
