"""Scope 1 of stated fuels and leaks, and scope 3 category 3 of what was bought: beside Scope 2, never in its totals.

Category 3 follows the location-based method. Activity B, what comes before the power station, is reckoned where a
direct and a lifecycle factor of the same zone and year are held; activity C, the losses on the way, where a lifecycle
factor and the country's losses (of output) are. Where something is not held the rate is null and says why.

Of a part of a country with direct factors alone (an eGRID subregion) B is the country's, and C is its own combustion
with that B, or its combustion alone where B is not reckoned. Each note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from energy.carbon.category3 import (
    losses_of_electricity,
    lost_of_output,
    united_kingdom,
    upstream_of_electricity,
    upstream_of_fuel,
)
from energy.carbon.combustion import combustion
from energy.carbon.greenhouse_gases import leak
from energy.carbon.lookup import Choice, choose, year_note
from energy.catalogue.factors import Factor, factors_for
from energy.catalogue.grid_losses import Losses, losses
from energy.catalogue.zones import zone
from energy.errors import EnergyError, FactorError
from energy.ledger.contracts import quarter_days
from energy.ledger.fuel_use import FuelBurnt, fuels_burnt
from energy.ledger.site_file import SiteFile
from energy.ledger.tables import insert_rows
from energy.provenance import Basis, combine_all, factor_basis, unnamed_mixes
from energy.units import as_purchased, quantity

if TYPE_CHECKING:
    import duckdb

UPSTREAM, LOSSES = "3 B upstream of electricity", "3 C losses of transmission and distribution"
FUEL_UPSTREAM = "3 A upstream of fuels"
COMBUSTION, FUGITIVE = "stationary combustion", "fugitive emissions"
_UK_YEAR = 2025


@dataclass(frozen=True, slots=True)
class Rate:
    """Emissions of category 3 per kWh bought, by activity; None: not held, and ``note`` says why."""

    category: str
    upstream_gco2e_per_kwh_facility: float | None
    basis: str | None
    note: str


def upstream_rates(zone_name: str, year: int, policy: str, basis_mix: str) -> tuple[Rate, Rate]:
    """Return the rates of activities B and C for a zone and year.

    Parameters
    ----------
    zone_name : str
        Zone of the site.
    year : int
        Year of the activity.
    policy : str
        Which year's factor may stand in.
    basis_mix : str
        Mixes of bases that ``site.yaml`` names.

    Examples
    --------
    >>> upstream, lost = upstream_rates("Germany", 2026, "nearest earlier", "")
    >>> upstream.upstream_gco2e_per_kwh_facility is None, lost.category
    (True, '3 C losses of transmission and distribution')

    """
    place = zone(zone_name)
    if place.zone_id == "GBR":
        return _printed(year, policy)
    own, country = place.annual_zone_id, place.country_zone_id
    if own != country and not _has(own, "lifecycle") and _has(own, "direct"):
        upstream = _or_reason(UPSTREAM, lambda: _of_country(own, country, year, policy, basis_mix))
        return upstream, _or_reason(LOSSES, lambda: _losses_of_part(own, upstream, year, policy, basis_mix))
    return (
        _or_reason(UPSTREAM, lambda: _upstream(own, year, policy, basis_mix)),
        _or_reason(LOSSES, lambda: _losses(own, year, policy)),
    )


def _has(zone_id: str, boundary: str) -> bool:
    return any(one.boundary == boundary for one in factors_for(zone_id, "location"))


def _or_reason(category: str, rate: Callable[[], Rate]) -> Rate:
    try:
        return rate()
    except EnergyError as error:
        return Rate(category, None, None, f"not reckoned: {error}")


def _held(zone_id: str, year: int, policy: str, boundary: str) -> Choice:
    if not _has(zone_id, boundary):
        raise FactorError(f"no {boundary} factor of zone {zone_id} is held")
    found = choose(zone_id, "location", year, policy, boundary)
    if found is None:
        raise FactorError(f"no factor of zone {zone_id} is held")
    return found


def _purchased(factor: Factor) -> Any:
    rate = quantity(factor.value, factor.unit)
    return as_purchased(rate) if factor.attribution == "production" else rate


def _basis(factor: Factor, boundary: str) -> Basis:
    return factor_basis(boundary, factor.attribution, factor.gases, factor.gwp_set)


def _upstream(zone_id: str, year: int, policy: str, basis_mix: str) -> Rate:
    whole, direct = (_held(zone_id, year, policy, boundary) for boundary in ("lifecycle", "direct"))
    if whole.factor.year != direct.factor.year:
        raise FactorError(f"the lifecycle factor is of {whole.factor.year}, the direct one of {direct.factor.year}.")
    bases = [_basis(one.factor, "lifecycle") for one in (whole, direct)]
    mixes = unnamed_mixes(bases, basis_mix)
    if mixes:
        raise FactorError(f"the lifecycle and the direct factor mix {', '.join(mixes)}: name it in basis_mix.")
    one = quantity(1.0, "kWh_facility")
    rate = upstream_of_electricity(one, _purchased(whole.factor), _purchased(direct.factor))
    note = f"{whole.factor.factor_id} less {direct.factor.factor_id}; {whole.year_note}"
    return Rate(UPSTREAM, float(rate.to("gCO2e").magnitude), bases[0].words, note)


def _of_country(own: str, country: str, year: int, policy: str, basis_mix: str) -> Rate:
    """Return activity B of a country for a part of it that has no lifecycle factor."""
    found = _upstream(country, year, policy, basis_mix)
    return replace(found, note=f"of {country} as a whole, since {own} has no lifecycle factor: {found.note}")


def _losses_of_part(own: str, upstream: Rate, year: int, policy: str, basis_mix: str) -> Rate:
    """Return activity C of a part of a country: its own combustion, with the country's upstream where that is held."""
    burnt, lost = _held(own, year, policy, "direct"), _losses_held(own, year, policy)
    rate, bases = quantity(burnt.factor.value, burnt.factor.unit), [_basis(burnt.factor, "direct")]
    before = upstream.upstream_gco2e_per_kwh_facility
    words = f"{burnt.factor.factor_id}, combustion alone (upstream {upstream.note})"
    if before is not None:
        # the upstream of a kWh generated is the number of the kWh bought: both are the same production-based factors
        rate, words = rate + quantity(before, "gCO2e/kWh_generation"), f"({burnt.factor.factor_id} + upstream of 3 B)"
        whole = _held(zone(own).country_zone_id, year, policy, "lifecycle")
        bases = [_basis(one.factor, "lifecycle") for one in (whole, burnt)]
    energy = lost_of_output(quantity(1.0, "kWh_facility"), lost.fraction_of_output)
    found = losses_of_electricity(energy, rate)
    note = f"{words} x {_loss_words(lost, year)}; {burnt.year_note}"
    return Rate(LOSSES, float(found.to("gCO2e").magnitude), combine_all(bases, basis_mix).words, note)


def _losses_held(zone_id: str, year: int, policy: str) -> Losses:
    lost = losses(zone_id)
    if (policy == "exact" and lost.year != year) or (policy == "nearest earlier" and lost.year > year):
        raise FactorError(f"losses of {lost.zone_id} are of {lost.year}, which the policy `{policy}` does not allow.")
    return lost


def _loss_words(lost: Losses, year: int) -> str:
    where = f"{lost.zone_id}, {'; '.join(lost.source)}, {lost.status}"
    return f"{lost.td_loss_pct_of_output:g} % of output ({where}; {year_note(lost.year, year, 'losses')})"


def _losses(zone_id: str, year: int, policy: str) -> Rate:
    whole, lost = _held(zone_id, year, policy, "lifecycle"), _losses_held(zone_id, year, policy)
    if whole.factor.attribution != "production":
        raise FactorError(f"{whole.factor.factor_id} is per kWh bought, not per kWh generated.")
    energy = lost_of_output(quantity(1.0, "kWh_facility"), lost.fraction_of_output)
    rate = losses_of_electricity(energy, quantity(whole.factor.value, whole.factor.unit))
    note = (
        f"{whole.factor.factor_id} x {lost.td_loss_pct_of_output:g} % of output ({lost.zone_id}, "
        f"{'; '.join(lost.source)}, {lost.status}); {whole.year_note}; {year_note(lost.year, year, 'losses')}"
    )
    return Rate(LOSSES, float(rate.to("gCO2e").magnitude), _basis(whole.factor, "lifecycle").words, note)


def _printed(year: int, policy: str) -> tuple[Rate, Rate]:
    """Return the printed factors of the United Kingdom, which state both activities by kWh bought."""
    if (policy == "exact" and year != _UK_YEAR) or (policy == "nearest earlier" and year < _UK_YEAR):
        why = f"not reckoned: printed factors are of {_UK_YEAR}, which the policy `{policy}` does not allow for {year}"
        return Rate(UPSTREAM, None, None, why), Rate(LOSSES, None, None, why)
    parts = {
        name: float(part.to("gCO2e").magnitude) for name, part in united_kingdom(quantity(1.0, "kWh_facility")).items()
    }
    note = f"printed factors of the United Kingdom (desnz_2025); {year_note(_UK_YEAR, year)}"
    basis = Basis(gases="CO2e", gwp_set="AR5").words
    return (
        Rate(UPSTREAM, parts["upstream"], basis, note),
        Rate(LOSSES, parts["losses"] + parts["upstream_of_losses"], basis, note),
    )


def fill_other_scopes(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    """Fill ``core.upstream_rate`` and ``core.other_emission``.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built: energy, PUE, supply and calendar of the hours are filled.
    site_file : SiteFile
        Zones, fuels, refrigerants, GWP set.
    """
    places = connection.execute(
        "SELECT DISTINCT line.site_id, calendar.quarter FROM core.pue_hour AS line "
        "JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = line.hour_utc ORDER BY ALL"
    ).fetchall()
    rows = []
    for site_id, quarter in places:
        for rate in _rates_of(site_file, site_id, quarter):
            values = {name: getattr(rate, name) for name in rate.__slots__}
            rows.append({"quarter": quarter, "site_id": site_id} | values)
    insert_rows(connection, "core.upstream_rate", rows)
    insert_rows(connection, "core.other_emission", list(_scope_1(connection, site_file)))


def _rates_of(site_file: SiteFile, site_id: str, quarter: str) -> tuple[Rate, ...]:
    zones = {span.zone for span in site_file.sites[site_id].zone_spans(site_id)}
    if len(zones) > 1:
        why = "not reckoned: the zone of the site changes, and category 3 takes one zone for a quarter"
        return Rate(UPSTREAM, None, None, why), Rate(LOSSES, None, None, why)
    return upstream_rates(zones.pop(), int(quarter[:4]), site_file.factor_policy, site_file.basis_mix or "")


def shares_of_quarters(start: date, end: date) -> dict[str, float]:
    """Return which share of the days of a half-open period lies in each quarter.

    Examples
    --------
    >>> shares_of_quarters(date(2026, 3, 22), date(2026, 4, 11))
    {'2026Q1': 0.5, '2026Q2': 0.5}

    """
    found = {}
    year, number = start.year, (start.month + 2) // 3
    while quarter_days(f"{year}Q{number}")[0] < end:
        first, after = quarter_days(f"{year}Q{number}")
        found[f"{year}Q{number}"] = (min(after, end) - max(first, start)).days / (end - start).days
        year, number = year + number // 4, number % 4 + 1
    return found


def _scope_1(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> Iterator[dict[str, Any]]:
    """Yield the lines of fuels and leaks: spread evenly over the days of their period, owner unallocated."""
    gwp_set = site_file.gwp_set or ""
    for use in fuels_burnt(connection, site_file):
        for quarter, share in shares_of_quarters(use.start, use.end).items():
            part = use.amount * share
            burnt = combustion(use.fuel, part, gwp_set)
            note = f"{_stated(burnt.fuel.fuel, part, use.whence)}; {'; '.join(burnt.fuel.source)}"
            biogenic = float(burnt.biogenic_co2.to("kg").magnitude)
            yield _line(use.site_id, quarter, "1", COMBUSTION, burnt.emissions, burnt.basis, note, biogenic)
            yield _fuel_upstream(use, quarter, part)
    for site_id, site in site_file.sites.items():
        for loss in site.refrigerants:
            for quarter, share in shares_of_quarters(loss.start, loss.end).items():
                part = quantity(loss.lost_kg * share, "kg")
                lost = leak(loss.refrigerant, part, gwp_set)
                row = lost.refrigerant
                note = f"{row.refrigerant}, {float(part.magnitude):g} kg; {'; '.join(row.source)}, {row.status}"
                yield _line(site_id, quarter, "1", FUGITIVE, lost.emissions, lost.basis, note)


def _stated(name: str, part: Any, whence: str) -> str:
    return f"{name}, {float(part.magnitude):g} {part.units:~}{f', {whence}' if whence else ''}"


def _fuel_upstream(use: FuelBurnt, quarter: str, part: Any) -> dict[str, Any]:
    """Return the line of what comes before the fuel; null with the reason where no factor of it is held."""
    try:
        emissions, row = upstream_of_fuel(use.fuel, part)
    except EnergyError as error:
        note = f"{_stated(use.fuel, part, use.whence)}, not reckoned: {error}"
        return _line(use.site_id, quarter, "3", FUEL_UPSTREAM, None, None, note)
    basis = Basis(gases="CO2e", gwp_set="AR5")
    note = f"{_stated(row.item, part, use.whence)}, {row.stage}; {'; '.join(row.source)}"
    return _line(use.site_id, quarter, "3", FUEL_UPSTREAM, emissions, basis, note)


def _line(
    site_id: str,
    quarter: str,
    scope: str,
    category: str,
    emissions: Any | None,
    basis: Basis | None,
    note: str,
    biogenic: float | None = None,
) -> dict[str, Any]:
    return {
        "quarter": quarter,
        "site_id": site_id,
        "owner_kind": "unallocated",
        "owner": "unallocated",
        "scope": scope,
        "category": category,
        "basis": None if basis is None else basis.words,
        "emissions_kgco2e": None if emissions is None else float(emissions.to("kgCO2e").magnitude),
        "biogenic_co2_kg": biogenic,
        "note": note,
    }
