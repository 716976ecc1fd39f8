"""When to start a run, and where: what each first hour of a window would take, for one site or several.

A run draws evenly, so each start is a sliding sum over hours of PUE and of PUE times factor: all starts at once, from
running totals. Average factors only: what a change of the hour would cause in the grid is marginal, and not told here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import ScenarioError
from energy.scenario.hours import Span, factors_of, ratios_of, span_of
from energy.scenario.specification import Scenario
from energy.scenario.training import training_run

Numbers = NDArray[np.float64]
Hours = NDArray[np.datetime64]
_MOST_H = 8784
_NO_START = "dates.start is missing: it is the earliest hour in which the run could begin."


@dataclass(frozen=True, slots=True, eq=False)
class Starts:
    """What a run takes by its first hour, shape (n,): ``values[name]``, in ``units[name]``.

    ``energy_facility`` kWh_facility; ``emissions_…`` kgCO2e by method, never added; ``water_site_consumed`` L.
    """

    start_utc: Hours
    values: Mapping[str, Numbers]
    units: Mapping[str, str]

    def best(self, name: str) -> int:
        """Return the place of the first hour with the least of a result."""
        return int(np.argmin(self.values[name]))


def starts_of(scenario: Scenario, within_h: int, folder: Path = Path()) -> Starts:
    """Return what a run takes for each first hour from ``dates.start`` on.

    Parameters
    ----------
    scenario : Scenario
        With the whole run's energy, ``dates.start`` and a site whose PUE is known.
    within_h : int, h
        Number of first hours, 1 to 8784: the latest start is so many hours less one after ``dates.start``.
    folder : Path
        Where the files lie that the scenario names.

    Returns
    -------
    Starts

    Raises
    ------
    ScenarioError
        There is no first hour, no energy at the plug or no PUE; or own plants, whose battery ties hours together.

    Notes
    -----
    E(s) = E_it / T Σ_h d(h - s) PUE(h), and so for emissions with the factor of h; d is one hour, less in the last.
    Time and watts are those of the scenario whatever its start.

    Examples
    --------
    >>> from energy.scenario import parse_scenario
    >>> text = '''
    ... work: {model: Llama 3.1 8B, chip_hours: 6400 chip*h}
    ... system: {chip: H100 SXM, chips: 64, power_per_chip: 600 W, node_overhead: 1.5}
    ... site: {facility: ashburn, zone: SRVC, hourly_zone: US-MIDA-PJM, factor_policy: nearest any}
    ... dates: {start: 2023-07-01}
    ... '''
    >>> found = starts_of(parse_scenario(text), 48)
    >>> found.start_utc.size, sorted(found.values)[:2]
    (48, ['emissions_hourly', 'emissions_location'])

    """
    if not 1 <= within_h <= _MOST_H:
        raise ScenarioError(f"A window of {within_h} h: give 1 to {_MOST_H} first hours.")
    if scenario.dates.start is None:
        raise ScenarioError(_NO_START)
    if scenario.supply is not None:
        raise ScenarioError(
            "supply: a battery ties each hour to those before it: ask `energy estimate` for single starts."
        )
    hours, draw_kw = _length_and_draw(scenario, folder)
    one = span_of(scenario, hours)
    if one is None:
        raise ScenarioError(_NO_START)
    count = one.start_utc.size
    whole = Span(one.start_utc[0] + np.arange(count + within_h - 1), np.ones(count + within_h - 1), False)
    ratios = ratios_of(scenario.site, whole, folder)
    if ratios is None or ratios.pue is None:
        raise ScenarioError("The PUE of the site is not known: give site.pue or a facility.")
    pue, last_h = ratios.pue[0], float(one.duration_h[-1])
    values = {"energy_facility": draw_kw * _sliding(pue, count, last_h)}
    units = {"energy_facility": "kWh_facility"}
    if "consumed" in ratios.water:
        values["water_site_consumed"] = draw_kw * _sliding(ratios.water["consumed"][0], count, last_h)
        units["water_site_consumed"] = "L"
    factors = factors_of(scenario.site, whole)
    for method in dict.fromkeys(part.method for part in factors):
        of_method = [part.intensity_gco2e_per_kwh_facility for part in factors if part.method == method]
        values[f"emissions_{method}"] = draw_kw * _sliding(pue * np.concatenate(of_method), count, last_h) / 1000.0
        units[f"emissions_{method}"] = "kgCO2e"
    return Starts(whole.start_utc[:within_h], values, units)


def _length_and_draw(scenario: Scenario, folder: Path) -> tuple[float, float]:
    """Return how long a run lasts, h, and what it draws at the plugs, kW_it."""
    run = training_run(scenario, folder)
    for name, remedy in (("energy_it", "system.node_overhead"), ("energy_facility", "site.pue or a facility")):
        if name not in run.figures or run.figures[name].value is None:
            raise ScenarioError(f"{name.replace('_', ' ')} of the run is not known: give its work, power and {remedy}.")
    if "elapsed_time" in run.figures:
        hours = run.figures["elapsed_time"].known * 24.0
    else:
        hours = run.figures["chip_hours"].known / run.request.chips
    return hours, run.figures["energy_it"].known / hours


def _sliding(values: Numbers, count: int, last_h: float) -> Numbers:
    """Return the sum over ``count`` hours from each hour on, the last of them in part."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    whole = total[count - 1 : values.size] - total[: values.size - count + 1]
    return np.asarray(whole + last_h * values[count - 1 :], dtype=np.float64)


def started(scenario: Scenario, start_utc: np.datetime64) -> Scenario:
    """Return a scenario that begins in another hour."""
    moment = start_utc.astype("datetime64[s]").item()
    return scenario.model_copy(update={"dates": scenario.dates.model_copy(update={"start": moment})})


def document_of(found: Mapping[str, Starts], by: str) -> dict[str, Any]:
    """Return the content of ``when/1``: by site the earliest, best and worst start by one result.

    Raises
    ------
    ScenarioError
        A site does not have the result; the message names what it has.

    """
    sites: list[dict[str, Any]] = []
    for name, one in found.items():
        if by not in one.values:
            raise ScenarioError(f"{name} has no {by}: it has {', '.join(one.values)}.")
        places = {"earliest": 0, "best": one.best(by), "worst": int(np.argmax(one.values[by]))}
        sites.append(
            {"site": name}
            | {
                which: {"start_utc": f"{one.start_utc[place]}:00Z"}
                | {result: float(values[place]) for result, values in one.values.items()}
                for which, place in places.items()
            }
        )
    sites.sort(key=lambda site: site["best"][by])
    units = dict.fromkeys(name for one in found.values() for name in one.units)
    return {"by": by, "units": {name: _unit(found, name) for name in units}, "sites": sites}


def _unit(found: Mapping[str, Starts], name: str) -> str:
    return next(one.units[name] for one in found.values() if name in one.units)
