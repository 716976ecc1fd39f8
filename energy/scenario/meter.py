"""A run from its chips on: node, meter, purchase, emissions, water, each a figure with its range and what made it.

Energy of the chips is spread evenly over the time of the run; hours weigh what they draw. So each factor here is a
weighted mean of hours, and the chain of :mod:`energy.account` over these means is the sum over the hours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.account import meter_energy, node_energy, purchased_energy, scope_2_emissions
from energy.carbon.instruments import Instrument, Use, assess
from energy.carbon.market import Site as BuyingSite
from energy.carbon.market import market_based
from energy.carbon.scope2 import NO_RESIDUAL, FactorHours
from energy.cost.estimates import Figure
from energy.cost.training import WIDE_OVER_NARROW
from energy.errors import ScenarioError
from energy.scenario.hours import Bought, Ratios, Span, bought_of, factors_of, ratios_of, span_of
from energy.scenario.specification import Contract, Scenario

Numbers = NDArray[np.float64]

_RANGE_NOT_KNOWN = "No source gives ranges of grid factors: the bands of emissions are those of the energy."


@dataclass(frozen=True, slots=True)
class Meter:
    """What a run takes at its site: figures by name, factors used, notes."""

    figures: dict[str, Figure] = field(default_factory=dict)
    factors: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


def at_site(scenario: Scenario, energy_it: Figure, elapsed_h: float, folder: Path) -> Meter:
    """Return what a run takes at its site.

    Parameters
    ----------
    scenario : Scenario
        Its ``site``, ``supply``, ``contracts`` and ``dates``.
    energy_it : Figure, kWh_it
        Of the whole run at the plugs of its nodes.
    elapsed_h : float, h
        From its first hour to its last.
    folder : Path
        Where the files lie that the scenario names.

    Returns
    -------
    Meter
        What is not named is left out.

    Raises
    ------
    EnergyError
        The site contradicts itself or cannot be computed: one line.

    Examples
    --------
    Llama 2 70B as published (arXiv 2307.09288), from its energy at the plug.

    >>> from energy.scenario.specification import parse_scenario
    >>> text = '''
    ... work: {model: Llama 2 70B}
    ... system: {chip: A100, chips: 2048}
    ... site: {pue: 1.1, intensity: 385 gCO2e/kWh}
    ... '''
    >>> found = at_site(parse_scenario(text), Figure(688_128.0, "kWh_it"), 840.0, Path())
    >>> round(found.figures["emissions_location"].known / 1000.0, 2)
    291.42

    """
    span = span_of(scenario, elapsed_h)
    ratios = ratios_of(scenario.site, span, folder)
    factors = factors_of(scenario.site, span)
    notes: list[str] = list(_notes_of(span, ratios))
    notes += check_cooling(scenario, ratios)
    figures: dict[str, Figure] = {}
    if ratios is not None:
        _add_water(figures, energy_it, ratios, _weights(span))
    if ratios is None or ratios.pue is None:
        for named, what in ((factors, "site.zone or site.intensity"), (scenario.supply, "supply")):
            if named:
                notes.append(
                    f"{what} is named and has no effect yet: the PUE is not known. Give site.pue or a facility."
                )
        return Meter(figures, (), tuple(notes))
    weights = _weights(span)
    pue = figures["pue"] = _mean(ratios.pue, weights, "kWh_facility/kWh_it", ratios)
    at_meter = float(meter_energy.kernel(1.0, pue.known))
    energy = figures["energy_facility"] = energy_it.joined(pue, at_meter / pue.known, "kWh_facility")
    by_hour = weights * ratios.pue[0] / float((weights * ratios.pue[0]).sum())
    load_kw = energy_it.known / elapsed_h * ratios.pue[0]
    bought = bought_of(scenario, span, load_kw, folder)
    grid, by_hour = _purchase(figures, energy, by_hour, bought, span)
    if bought is not None:
        notes += [f"Own plants: {bought.source}.", *bought.notes]
        notes.append("Bands of bought energy are those of the run with the plants' share of it as it is.")
    if scenario.site.grid_water_l_per_kwh_facility is not None:
        figures["water_grid_consumed"] = grid.times(scenario.site.grid_water_l_per_kwh_facility, "L")
    used = _add_emissions(figures, grid, by_hour, factors)
    notes += [f"{one['method']}: {one['note']}" for one in used if one["note"]]
    if used:
        notes.append(_RANGE_NOT_KNOWN)
    if used and "emissions_market" not in figures:
        notes.append(
            "Market-based emissions are not told: a given factor is one of the place. Name site.zone for both."
        )
    notes += _add_contracts(scenario, figures, grid, factors, by_hour, span)
    return Meter(figures, tuple(used), tuple(dict.fromkeys(notes)))


def energy_at_the_plug(energy_chips: Figure, overhead: Figure) -> Figure:
    """Return the energy of nodes from that of their chips and a node overhead, kWh_it."""
    at_plug = float(node_energy.kernel(1.0, overhead.known))
    return energy_chips.joined(overhead, at_plug / overhead.known, "kWh_it")


def _weights(span: Span | None) -> Numbers:
    """Return the share of the run's time in each hour."""
    if span is None:
        return np.ones(1)
    return span.duration_h / float(span.duration_h.sum())


def _notes_of(span: Span | None, ratios: Ratios | None) -> list[str]:
    notes = [] if ratios is None else list(ratios.notes)
    if span is not None and span.is_year:
        year = str(span.start_utc[0].astype("datetime64[Y]"))
        notes.append(f"No first hour is given (dates.start): the run stands for the mean of all hours of {year}.")
    return notes


def check_cooling(scenario: Scenario, ratios: Ratios | None) -> list[str]:
    """Hold the cooling of the nodes against that of the hall, and return what to know of it.

    Raises
    ------
    ScenarioError
        Nodes are said to be cooled in another way than the facility cools its servers.
    """
    hall, said = "" if ratios is None else ratios.server_cooling, scenario.system.cooling
    if not hall or scenario.system.node_overhead != "modelled":
        return []
    if said is not None and (said == "passive" or said != hall):
        raise ScenarioError(
            f"system.cooling is {said}, but servers of this facility are cooled by {hall}: give system.cooling {hall}, "
            "or another facility."
        )
    if said is None and hall != "air":
        return [
            f"Servers of this facility are cooled by {hall}; the modelled node overhead is that of usual nodes, which "
            f"may have fans: give system.cooling {hall}."
        ]
    return []


def _mean(ends: tuple[Numbers, Numbers, Numbers], weights: Numbers, unit: str, ratios: Ratios) -> Figure:
    """Return the mean over the hours; the ends of hours go together, since they are of one design."""
    value, low, high = (float((one * weights).sum()) for one in ends)
    return banded(value, low, high, unit, ratios.status, (ratios.source,))


def banded(value: float, low: float, high: float, unit: str, status: str, sources: tuple[str, ...]) -> Figure:
    """Return a figure from its 95 % range: the 80 % band is narrower by 1.53 in logarithms, as of normal errors."""

    def narrow(end: float) -> float:
        if value <= 0.0 or end <= 0.0:
            return value + (end - value) / WIDE_OVER_NARROW
        return value * math.exp(math.log(end / value) / WIDE_OVER_NARROW)

    return Figure(value, unit, narrow(low), narrow(high), low, high, status, sources)


def _add_water(figures: dict[str, Figure], energy_it: Figure, ratios: Ratios, weights: Numbers) -> None:
    """Add the site's water; a site that takes none has an exact zero."""
    for kind, ends in ratios.water.items():
        wue = _mean(ends, weights, "L/kWh_it", ratios)
        figures[f"wue_{kind}"] = wue
        if wue.known > 0.0 and (wue.low or 0.0) > 0.0:
            figures[f"water_site_{kind}"] = energy_it.joined(wue, 1.0, "L")
        else:
            low, high = (energy_it.known * (end or 0.0) for end in (wue.low, wue.high))
            figures[f"water_site_{kind}"] = banded(
                energy_it.known * wue.known, low, high, "L", ratios.status, (*energy_it.sources, ratios.source)
            )


def _purchase(
    figures: dict[str, Figure], energy: Figure, by_hour: Numbers, bought: Bought | None, span: Span | None
) -> tuple[Figure, Numbers]:
    """Add what is bought, and return it with the share of each hour in it."""
    if bought is None or span is None:
        return energy, by_hour
    drawn = by_hour * bought.grid_share
    share = float(drawn.sum())
    ends = tuple(None if end is None else float(purchased_energy.kernel(end, share)) for end in energy.ends)
    grid = figures["energy_grid"] = Figure.with_ends(
        float(purchased_energy.kernel(energy.known, share)),
        "kWh_facility",
        ends,
        "estimate",
        (*energy.sources, bought.source),
    )
    own = energy.times(1.0 - share, "kWh_facility")
    figures["energy_own_plants"] = Figure.with_ends(own.known, own.unit, own.ends, "estimate", grid.sources)
    for name, by_plants in bought.energy_facility_kwh.items():
        kwh = float((by_plants * span.duration_h).sum())
        figures[f"energy_{name}_of_plants"] = Figure(kwh, "kWh_facility", status="estimate", sources=(bought.source,))
    return grid, (drawn / share if share > 0.0 else by_hour)


def _add_emissions(
    figures: dict[str, Figure], grid: Figure, by_hour: Numbers, factors: Sequence[FactorHours]
) -> list[dict[str, Any]]:
    """Add Scope 2 emissions by method, which are never added, and return the factors that were used."""
    used: list[dict[str, Any]] = []
    for method in dict.fromkeys(one.method for one in factors):
        parts = [one for one in factors if one.method == method]
        values = np.concatenate([one.intensity_gco2e_per_kwh_facility for one in parts])
        intensity = float((values * by_hour).sum())
        ids = tuple(dict.fromkeys(one.factor_id for one in parts))
        status = "given" if ids == ("given in the scenario",) else "catalogue"
        sources = tuple(f"factor {one}" for one in ids)
        figures[f"intensity_{method}"] = Figure(intensity, "gCO2e/kWh_facility", status=status, sources=sources)
        ends = tuple(None if end is None else _emitted(end, intensity) for end in grid.ends)
        figures[f"emissions_{method}"] = Figure.with_ends(
            _emitted(grid.known, intensity), "kgCO2e", ends, "derived", (*grid.sources, *sources)
        )
        used += [
            {"method": method, "factor_id": one.factor_id, "year": one.year_note, "note": one.note} for one in parts
        ]
    return used


def _emitted(energy_facility_kwh: float, intensity_gco2e_per_kwh_facility: float) -> float:
    """Return kgCO2e."""
    return float(scope_2_emissions.kernel(energy_facility_kwh, intensity_gco2e_per_kwh_facility / 1000.0))


def _add_contracts(
    scenario: Scenario,
    figures: dict[str, Figure],
    grid: Figure,
    factors: Sequence[FactorHours],
    by_hour: Numbers,
    span: Span | None,
) -> list[str]:
    """Put instruments into the market-based total: each tested by the eight criteria, each used once."""
    if not scenario.contracts:
        return []
    market, reporter = scenario.site.market, scenario.site.reporter
    if market is None or reporter is None:
        raise ScenarioError("contracts are tested against who reports, and where: give site.reporter and site.market.")
    if span is None or "emissions_location" not in figures:
        raise ScenarioError(
            "contracts cover purchases with a factor and dates: give site.zone and dates.year or start."
        )
    residual = [one for one in factors if one.method == "market"]
    is_known = bool(residual) and not any(NO_RESIDUAL in one.note for one in residual)
    days = [span.start_utc[0].astype("datetime64[D]").item(), span.start_utc[-1].astype("datetime64[D]").item()]
    use = Use(reporter, days[0], days[1] + timedelta(days=1), frozenset({market}), residual_is_known=is_known)
    tested = assess([_instrument(one, market) for one in scenario.contracts], use)
    location = figures["intensity_location"].known
    rest = figures["intensity_market"].known if "intensity_market" in figures else location
    site = BuyingSite("site", market, grid.known / 1000.0, location, rest if is_known else None)
    found = market_based([site], tested)
    sources = (*grid.sources, *(f"contract {one.instrument_id}" for one in found.covers))
    figures["emissions_market"] = Figure(found.market_kgco2e, "kgCO2e", status="derived", sources=sources)
    covered = sum(one.energy_mwh for one in found.covers) * 1000.0
    figures["energy_covered_by_contracts"] = Figure(covered, "kWh_facility", status="derived", sources=sources)
    notes = [
        f"contract {one.instrument.instrument_id} covers nothing: {'; '.join(one.failed)}." for one in found.set_aside
    ]
    notes += [
        f"contract {name}: {mwh:,.1f} MWh are left over and change no total." for name, mwh in found.surplus_mwh.items()
    ]
    return [*notes, "The market-based total has no bands: what contracts cover does not grow with the energy."]


def _instrument(one: Contract, market: str) -> Instrument:
    return Instrument(
        instrument_id=one.id,
        kind=one.kind,
        energy_mwh=one.energy_kwh_facility / 1000.0,
        intensity_gco2e_per_kwh=one.intensity_gco2e_per_kwh_facility,
        vintage_from=one.vintage_from,
        vintage_to=one.vintage_to,
        market=market,
        site_id="site",
        conveys_rate=one.conveys_rate,
        is_sole_claim=one.is_sole_claim,
        is_delivered=one.is_delivered,
        goes_to_reporter=one.goes_to_reporter,
        registry=one.registry or "",
        cancellation_id=one.cancellation_id or "",
        beneficiary=one.beneficiary or "",
    )
