"""How sure a run is: its inputs drawn together, and which of them matter most.

Inputs are time, power of a chip, node overhead, PUE and water per kWh, each with the bands that its model gives. One
draw of an input moves every result that uses it, so results are correlated as they should be; two runs share the draw
of an input that rests on the same sources. PUE and water of one facility are drawn apart, which they are not quite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from energy.cost.estimates import Figure
from energy.errors import ScenarioError
from energy.scenario.training import TrainingRun

Numbers = NDArray[np.float64]

#: Figures that are inputs, in the order of the chain.
INPUTS = ("chip_hours", "power_per_chip", "node_overhead", "pue", "wue_withdrawn", "wue_consumed")
_ENERGY = ("chip_hours", "power_per_chip")
_AT_PLUG = (*_ENERGY, "node_overhead")
_AT_METER = (*_AT_PLUG, "pue")
#: Result -> inputs that it is a product of; what else is in it is taken as it is.
_OF = {
    "chip_hours": ("chip_hours",),
    "energy_chips": _ENERGY,
    "energy_it": _AT_PLUG,
    "energy_facility": _AT_METER,
    "energy_grid": _AT_METER,
    "water_grid_consumed": _AT_METER,
    "water_site_withdrawn": (*_AT_PLUG, "wue_withdrawn"),
    "water_site_consumed": (*_AT_PLUG, "wue_consumed"),
    "emissions_location": _AT_METER,
    "emissions_market": _AT_METER,
    "emissions_hourly": _AT_METER,
}
DRAWS = 5000
SEED = 20260101
#: Standard deviations of a 95 % range of normal errors.
_OF_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Lever:
    """One input of a result: its ends, and the result at them with all other inputs at their middle."""

    name: str
    unit: str
    low: float
    high: float
    result_at_low: float
    result_at_high: float

    def document(self) -> dict[str, object]:
        """Return the entry of ``levers`` in ``estimate/1``."""
        return asdict(self)

    @property
    def width(self) -> float:
        """How far the result moves between the ends."""
        return abs(self.result_at_high - self.result_at_low)


def results_of(run: TrainingRun) -> tuple[str, ...]:
    """Return the names of the results of a run that its inputs make.

    A market-based total with contracts is left out: what they cover does not grow with the energy.
    """
    return tuple(
        name
        for name, inputs in _OF.items()
        if name in run.figures
        and run.figures[name].value is not None
        and all(one in run.figures for one in inputs)
        and not (name == "emissions_market" and run.scenario.contracts)
    )


def draws(runs: Sequence[TrainingRun], count: int = DRAWS, seed: int = SEED) -> tuple[dict[str, Numbers], ...]:
    """Return draws of the results of runs, together.

    Parameters
    ----------
    runs : sequence of TrainingRun
    count : int
        Draws of each.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    tuple of dict of arrays, shape (count,)
        One for each run, by result.

    Raises
    ------
    ScenarioError
        ``count`` is none.

    Notes
    -----
    ln of an input is split-normal: below the middle with the width of its lower 95 % end, above it of its upper one, so
    that 95 % lie between both. An input without ends is exact. A result is its middle times the inputs over theirs.

    Examples
    --------
    >>> from energy.scenario import parse_scenario, training_run
    >>> text = "{work: {model: Llama 3.1 8B, tokens: 1e12}, system: {chip: H100 SXM, chips: 64}}"
    >>> run = training_run(parse_scenario(text))
    >>> found = draws([run, run], 100)
    >>> bool((found[0]["energy_chips"] == found[1]["energy_chips"]).all())
    True

    """
    if count < 1:
        raise ScenarioError(f"{count} draws: give 1 or more.")
    generator = np.random.default_rng(seed)
    drawn: dict[tuple[str, tuple[str, ...]], Numbers] = {}
    found = []
    for run in runs:
        moved: dict[str, Numbers] = {}
        for name in INPUTS:
            if name not in run.figures or run.figures[name].value is None:
                continue
            key = (name, run.figures[name].sources)
            if key not in drawn:
                drawn[key] = generator.standard_normal(count)
            moved[name] = _relative(run.figures[name], drawn[key])
        found.append(_results(run, moved))
    return tuple(found)


def _relative(figure: Figure, normal: Numbers) -> Numbers:
    """Return draws of an input over its middle."""
    if figure.low is None or figure.high is None or not figure.known > 0.0 or not figure.low > 0.0:
        return np.ones(normal.size)
    below, above = math.log(figure.known / figure.low), math.log(figure.high / figure.known)
    drawn = np.minimum(normal, 0.0) * below + np.maximum(normal, 0.0) * above
    return np.asarray(np.exp(drawn / _OF_95), dtype=np.float64)


def _results(run: TrainingRun, moved: Mapping[str, Numbers]) -> dict[str, Numbers]:
    found = {}
    for name in results_of(run):
        product = np.asarray(run.figures[name].known)
        for one in _OF[name]:
            product = product * moved[one]
        found[name] = product
    return found


def tornado(run: TrainingRun, result: str) -> tuple[Lever, ...]:
    """Return which inputs move a result most, widest first; those that are exact are left out.

    Parameters
    ----------
    run : TrainingRun
    result : str
        Such as ``emissions_location``.

    Raises
    ------
    ScenarioError
        The run has no such result; the message names those that it has.

    Examples
    --------
    >>> from energy.scenario import parse_scenario, training_run
    >>> text = "{work: {model: Llama 3.1 8B, tokens: 1e12}, system: {chip: H100 SXM, chips: 64}}"
    >>> [one.name for one in tornado(training_run(parse_scenario(text)), "energy_chips")]
    ['chip_hours', 'power_per_chip']

    """
    known = results_of(run)
    if result not in known:
        raise ScenarioError(f"The run has no result {result}: it has {', '.join(known) or 'none'}.")
    middle = run.figures[result].known
    levers = []
    for name in _OF[result]:
        one = run.figures[name]
        if one.low is None or one.high is None or one.low == one.high or not one.known > 0.0:
            continue
        ends = (middle * one.low / one.known, middle * one.high / one.known)
        levers.append(Lever(name, one.unit, one.low, one.high, *ends))
    return tuple(sorted(levers, key=lambda lever: -lever.width))


def headline(run: TrainingRun) -> str | None:
    """Return the result furthest along the chain: emissions by place, else energy at the meter, plug or chips."""
    known = results_of(run)
    order = ("emissions_location", "energy_grid", "energy_facility", "energy_it", "energy_chips")
    return next((name for name in order if name in known), None)
