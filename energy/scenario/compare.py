"""Two runs side by side, and their difference split by cause so that the causes add up to it.

A result is a product of drivers: work, peak of the chips (chip and precision), utilisation, interruptions, power, node
overhead, PUE, share bought, factor of the grid. The effect of one driver depends on the others; its Shapley value is
the mean effect over all orders in which the drivers can be exchanged (Shapley, A value for n-person games, 1953), so
that nothing is left over and no order is preferred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import ScenarioError
from energy.scenario.training import TrainingRun
from energy.scenario.uncertainty import DRAWS, draws

Numbers = NDArray[np.float64]

#: Drivers that stand below the line: more of them is less of the result.
_DIVISORS = ("peak of the chips", "utilisation")
_UNITS = {
    "chip-hours": "h",
    "work": "EFLOP",
    "peak of the chips": "TFLOP/s",
    "power of a chip": "kW_chip",
    "node overhead": "kWh_it/kWh_chip",
    "PUE": "kWh_facility/kWh_it",
    "grid": "kgCO2e/kWh_facility",
}
#: EFLOP of an hour at 1 TFLOP/s.
_EFLOP = 3.6e-3
_METHODS = ("location", "market", "hourly")


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of two runs, and the part of each driver in what lies between; parts add up to ``second - first``.

    ``low`` and ``high`` hold 95 % of ``second - first`` (None: not known). ``drivers`` holds the value of each driver
    in both runs, ``driver_units`` their units.
    """

    name: str
    unit: str
    first: float
    second: float
    low: float | None
    high: float | None
    parts: dict[str, float]
    drivers: dict[str, tuple[float, float]]
    driver_units: dict[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs take, and why they differ."""

    names: tuple[str, str]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return the content of ``compare/1``."""
        return {"names": self.names, "differences": [asdict(one) for one in self.differences], "notes": self.notes}


def parts_of_product(first: ArrayLike, second: ArrayLike) -> Numbers:
    """Return the Shapley part of each factor in the difference of two products.

    Parameters
    ----------
    first, second : array_like, shape (k,)
        Factors of both products, zero or more; k up to about fifteen, since all 2^k mixtures are computed at once.

    Returns
    -------
    array, shape (k,)
        Adds up to prod(second) - prod(first).

    Notes
    -----
    φ_i = Σ_S |S|! (k - |S| - 1)! / k! · (f(S ∪ i) - f(S)), over the sets S of the other factors that are exchanged.

    Examples
    --------
    >>> parts_of_product([2.0, 3.0], [4.0, 5.0]).tolist()
    [8.0, 6.0]

    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    count = one.size
    sets = np.arange(2**count)
    inside = (sets[:, None] >> np.arange(count)) & 1 == 1
    value = np.where(inside, two, one).prod(axis=1)
    size = inside.sum(axis=1)
    weight = np.array([factorial(s) * factorial(max(count - s - 1, 0)) for s in range(count + 1)]) / factorial(count)
    parts = [
        float((weight[size[without]] * (value[without | (1 << place)] - value[without])).sum())
        for place in range(count)
        for without in [sets[~inside[:, place]]]
    ]
    return np.array(parts)


def compare(first: TrainingRun, second: TrainingRun, names: tuple[str, str] = ("A", "B")) -> Comparison:
    r"""Return the difference of two runs by cause.

    Parameters
    ----------
    first, second : TrainingRun
        With the whole run's energy: tokens, or chip-hours, and watts.
    names : tuple of str
        What to call them.

    Returns
    -------
    Comparison
        For each result that both have: time of the chips, energies, emissions by method.

    Raises
    ------
    ScenarioError
        One of them has no energy of the whole run.

    Examples
    --------
    >>> from energy.scenario import parse_scenario, training_run
    >>> text = "{work: {model: Llama 3.1 8B, tokens: 1e12}, system: {chip: CHIP, chips: 64}}"
    >>> runs = [training_run(parse_scenario(text.replace("CHIP", chip))) for chip in ("A100 SXM4 80GB", "H100 SXM")]
    >>> found = compare(*runs).differences[-1]
    >>> found.name, sorted(found.parts)
    ('energy_chips', ['peak of the chips', 'power of a chip', 'utilisation', 'work'])
    >>> abs(sum(found.parts.values()) - (found.second - found.first)) < 1e-6 * found.first
    True

    """
    for name, run in zip(names, (first, second), strict=True):
        if "energy_chips" not in run.figures or run.figures["energy_chips"].value is None:
            raise ScenarioError(f"{name} has no energy of a whole run: give work.tokens, or work.chip_hours and watts.")
    chains = _chains(first, second)
    drawn = draws((first, second))
    differences = tuple(
        _difference(name, first, chain_a, chain_b, _range(name, drawn)) for name, (chain_a, chain_b) in chains.items()
    )
    notes = ["Parts are mean effects over all orders of exchange (Shapley): they add up, and no order is preferred."]
    notes.append(
        f"95 % of a difference from {DRAWS:,} draws of both runs together: an input that rests on the same sources in "
        "both has one error."
    )
    left_out = {name for run in (first, second) for name in run.figures if name.startswith("emissions_")} - set(chains)
    notes += [f"{name.replace('_', ' ')}: not compared, since only one run has it." for name in sorted(left_out)]
    if any(run.scenario.contracts for run in (first, second)):
        notes.append("Contracts are in the market-based factor as the mean over all that is bought.")
    return Comparison(names, differences, tuple(notes))


Chain = Mapping[str, float]


def _chains(first: TrainingRun, second: TrainingRun) -> dict[str, tuple[Chain, Chain]]:
    """Return the drivers of both runs by result; a result is left out where one run does not have it."""
    time = [_time(run, split=_is_modelled(first) and _is_modelled(second)) for run in (first, second)]
    energy = [one | _power(run) for one, run in zip(time, (first, second), strict=True)]
    found: dict[str, tuple[Chain, Chain]] = {
        "chip_hours": (time[0], time[1]),
        "energy_chips": (energy[0], energy[1]),
    }
    if not _both(first, second, "energy_it"):
        return found
    energy = [one | {"node overhead": _value(run, "node_overhead")} for one, run in _pairs(energy, first, second)]
    found["energy_it"] = (energy[0], energy[1])
    if not _both(first, second, "energy_facility"):
        return found
    energy = [one | {"PUE": _value(run, "pue")} for one, run in _pairs(energy, first, second)]
    found["energy_facility"] = (energy[0], energy[1])
    if any("energy_grid" in run.figures for run in (first, second)):
        energy = [one | {"share bought": _bought(run)} for one, run in _pairs(energy, first, second)]
        found["energy_grid"] = (energy[0], energy[1])
    for method in _METHODS:
        if _both(first, second, f"emissions_{method}"):
            factor = [one | {"grid": _intensity(run, method)} for one, run in _pairs(energy, first, second)]
            found[f"emissions_{method}"] = (factor[0], factor[1])
    return found


def _pairs(chains: Sequence[dict[str, float]], *runs: TrainingRun) -> list[tuple[dict[str, float], TrainingRun]]:
    return list(zip(chains, runs, strict=True))


def _both(first: TrainingRun, second: TrainingRun, name: str) -> bool:
    return name in first.figures and name in second.figures


def _value(run: TrainingRun, name: str) -> float:
    return run.figures[name].known


def _is_modelled(run: TrainingRun) -> bool:
    return run.estimate is not None and run.scenario.work.chip_hours is None


def _time(run: TrainingRun, *, split: bool) -> dict[str, float]:
    """Return drivers of the chip-hours: themselves, or work over peak and utilisation; the hours lost beside them."""
    hours = _value(run, "chip_hours")
    if not split:
        return {"chip-hours": hours}
    utilisation = _value(run, "model_flop_utilisation") / 100.0
    rate = _value(run, "model_flop_rate_per_chip")
    # in hours of a chip that does 1 TFLOP/s, so that work over peak over utilisation is hours
    return {"work": hours * rate, "peak of the chips": utilisation / rate, "utilisation": 1.0 / utilisation}


def _power(run: TrainingRun) -> dict[str, float]:
    power = _value(run, "power_per_chip")
    lost = _value(run, "energy_chips") / (_value(run, "chip_hours") * power / 1000.0)
    found = {"power of a chip": power / 1000.0}
    return found if abs(lost - 1.0) < 1e-9 else found | {"interruptions": lost}


def _bought(run: TrainingRun) -> float:
    return _value(run, "energy_grid") / _value(run, "energy_facility") if "energy_grid" in run.figures else 1.0


def _intensity(run: TrainingRun, method: str) -> float:
    """Return kgCO2e per kWh bought; where nothing is bought, of the factor that would hold."""
    bought = _value(run, "energy_facility") * _bought(run)
    if bought > 0.0:
        return _value(run, f"emissions_{method}") / bought
    return _value(run, f"intensity_{method}") / 1000.0


def _range(name: str, drawn: Sequence[Mapping[str, Numbers]]) -> tuple[float | None, float | None]:
    """Return the ends that hold 95 % of the differences; none where a run has no draws of it."""
    if any(name not in one for one in drawn):
        return None, None
    low, high = np.percentile(drawn[1][name] - drawn[0][name], (2.5, 97.5))
    return float(low), float(high)


def _difference(
    name: str, run: TrainingRun, first: Chain, second: Chain, ends: tuple[float | None, float | None]
) -> Difference:
    """Return one result's difference; a driver that only one run names is one in the other."""
    every = list(dict.fromkeys((*first, *second)))
    one = np.array([first.get(driver, 1.0) for driver in every])
    two = np.array([second.get(driver, 1.0) for driver in every])
    parts = parts_of_product(one, two)

    def shown(driver: str, value: float) -> float:
        if driver == "work":
            return value * _EFLOP
        return 1.0 / value if driver in _DIVISORS else value

    return Difference(
        name,
        run.figures[name].unit if name in run.figures else "kWh_facility",
        float(one.prod()),
        float(two.prod()),
        *ends,
        dict(zip(every, parts.tolist(), strict=True)),
        {
            driver: (shown(driver, float(a)), shown(driver, float(b)))
            for driver, a, b in zip(every, one, two, strict=True)
        },
        {driver: _UNITS.get(driver, "") for driver in every},
    )
