"""A site for many rows at once: from energy at the plug to meter, purchase, emissions and water.

Rows share their site, so each hour is computed once. A row that begins at a first hour takes the mean of its own hours
from running totals; one that stands for a year takes the mean of all. See :mod:`energy.scenario.meter` for one run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.errors import ScenarioError
from energy.scenario.columns import Column
from energy.scenario.hours import Span, bought_of, factors_of, ratios_of, span_of
from energy.scenario.meter import check_cooling
from energy.scenario.specification import Scenario

Numbers = NDArray[np.float64]
Varied = Mapping[str, Numbers]

#: Rows times hours that are held at once.
_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class _Hours:
    """How means over the hours of each row are taken; ``elapsed_h`` is None where each row stands for all hours."""

    span: Span | None
    elapsed_h: Numbers | None

    def total(self, values: Numbers) -> Numbers:
        """Return the mean over a row's time of values by hour ``(hours,)`` or ``(rows, hours)``."""
        if self.elapsed_h is None:
            return np.atleast_1d(values.mean(axis=-1))
        count = np.ceil(self.elapsed_h).astype(np.intp)
        sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
        last = self.elapsed_h - (count - 1)
        if values.ndim == 1:
            whole, end = sums[count - 1], values[count - 1]
        else:
            row = np.arange(len(count))
            whole, end = sums[row, count - 1], values[row, count - 1]
        return np.asarray((whole + last * end) / self.elapsed_h)


def site_columns(
    scenario: Scenario, varied: Varied, energy_it: Column, elapsed_h: Numbers, folder: Path
) -> dict[str, Column]:
    """Return what rows take at their site.

    Parameters
    ----------
    scenario : Scenario
        Its ``site``, ``supply`` and ``dates``, the same for all rows.
    varied : mapping of str to array, shape (n,)
        Numbers of the site that differ: PUE, water, intensity.
    energy_it : Column, kWh_it
        Of each whole run.
    elapsed_h : array, shape (n,), h
        From its first hour to its last.
    folder : Path
        Where the files lie that the scenario names.

    Returns
    -------
    dict of Column
        As :func:`energy.scenario.meter.at_site`, without contracts.

    Raises
    ------
    ScenarioError
        The site contradicts itself, or has contracts: those cover a purchase as a whole, row by row.
    """
    if scenario.contracts:
        raise ScenarioError("contracts cover one purchase as a whole: they cannot be given for many rows at once.")
    span = span_of(scenario, float(elapsed_h.max()))
    is_own = span is not None and not span.is_year
    hours = _Hours(span, elapsed_h if is_own else None)
    site, count = scenario.site, len(elapsed_h)
    ratios = ratios_of(site, span, folder)
    check_cooling(scenario, ratios)
    figures: dict[str, Column] = {}
    if ratios is None:
        return figures

    def mean(ends: tuple[Numbers, Numbers, Numbers], key: str, unit: str) -> Column:
        if key in varied:
            return Column.exact(varied[key], unit)
        value, low, high = (np.broadcast_to(hours.total(one), (count,)) for one in ends)
        return Column.banded(value, low, high, unit)

    for kind, ends in ratios.water.items():
        wue = figures[f"wue_{kind}"] = mean(ends, f"site.wue_{kind}", "L/kWh_it")
        figures[f"water_site_{kind}"] = _water(energy_it, wue)
    if ratios.pue is None:
        return figures
    pue = figures["pue"] = mean(ratios.pue, "site.pue", "kWh_facility/kWh_it")
    energy = figures["energy_facility"] = energy_it.joined(pue, 1.0, "kWh_facility")
    drawn = np.ones_like(ratios.pue[0]) if "site.pue" in varied else ratios.pue[0]
    factors = _by_method(scenario, span)
    if scenario.supply is None:
        intensity = {name: hours.total(drawn * values) / hours.total(drawn) for name, values in factors.items()}
        grid = energy
    else:
        load_kw = energy_it.value / elapsed_h * (pue.value if "site.pue" in varied else 1.0)
        share, intensity, plants = _purchase(scenario, hours, load_kw, drawn, factors, folder)
        grid = figures["energy_grid"] = energy.times(share, "kWh_facility")
        figures["energy_own_plants"] = energy.times(1.0 - share, "kWh_facility")
        for name, mean_kw in plants.items():
            figures[f"energy_{name}_of_plants"] = Column(mean_kw * elapsed_h, "kWh_facility")
    if site.grid_water_l_per_kwh_facility is not None:
        per_kwh = varied.get("site.grid_water", np.full(count, site.grid_water_l_per_kwh_facility))
        figures["water_grid_consumed"] = grid.times(per_kwh, "L")
    for name, of_hours in intensity.items():
        values = varied["site.intensity"] if "site.intensity" in varied else np.broadcast_to(of_hours, (count,))
        figures[f"intensity_{name}"] = Column(values, "gCO2e/kWh_facility")
        figures[f"emissions_{name}"] = grid.times(values / 1000.0, "kgCO2e")
    return figures


def _water(energy_it: Column, wue: Column) -> Column:
    """Return the site's water; a site that takes none, or may, has ends in proportion."""
    with np.errstate(divide="ignore", invalid="ignore"):
        joined = energy_it.joined(wue, 1.0, "L")
    if joined.ends is None or wue.ends is None:
        return joined
    low, high = (energy_it.value * one for one in wue.ends[2:])
    plain = Column.banded(joined.value, low, high, "L")
    is_above = (wue.value > 0.0) & (wue.ends[2] > 0.0)
    ends = [np.where(is_above, one, other) for one, other in zip(joined.ends, plain.ends or (), strict=True)]
    return Column(joined.value, "L", (ends[0], ends[1], ends[2], ends[3]))


def _by_method(scenario: Scenario, span: Span | None) -> dict[str, Numbers]:
    """Return the factors by hour of each method."""
    found = factors_of(scenario.site, span)
    return {
        method: np.concatenate([one.intensity_gco2e_per_kwh_facility for one in found if one.method == method])
        for method in dict.fromkeys(one.method for one in found)
    }


def _purchase(
    scenario: Scenario,
    hours: _Hours,
    load_kw: Numbers,
    drawn: Numbers,
    factors: Mapping[str, Numbers],
    folder: Path,
) -> tuple[Numbers, dict[str, Numbers], dict[str, Numbers]]:
    """Return the share bought of each row, the intensity of what is bought by method, and mean kW of plants by name.

    A row draws ``load_kw`` times ``drawn`` of each hour, which is the PUE by hour, or one where rows have their own.
    """
    count = len(load_kw)
    share, empty = np.empty(count), np.empty((len(factors), count))
    intensity = dict(zip(factors, empty, strict=True))
    plants: dict[str, Numbers] = {}
    for some in _parts(count, drawn.size):
        part = _Hours(hours.span, None if hours.elapsed_h is None else hours.elapsed_h[some])
        bought = bought_of(scenario, hours.span, load_kw[some, None] * drawn, folder)
        if bought is None:
            raise ScenarioError("supply: no plant: name photovoltaics or wind.")
        weight = drawn * bought.grid_share
        whole, from_grid = part.total(drawn), part.total(weight)
        share[some] = from_grid / whole
        for name, values in factors.items():
            with np.errstate(divide="ignore", invalid="ignore"):
                of_grid = part.total(weight * values) / from_grid
            intensity[name][some] = np.where(from_grid > 0.0, of_grid, part.total(drawn * values) / whole)
        for name, values in bought.energy_facility_kwh.items():
            plants.setdefault(name, np.empty(count))[some] = part.total(values)
    return share, intensity, plants


def _parts(count: int, hours: int) -> Iterator[slice]:
    at_once = max(_AT_ONCE // hours, 1)
    for start in range(0, count, at_once):
        yield slice(start, min(start + at_once, count))
