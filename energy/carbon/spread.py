"""The same energy under every factor set that the catalogue holds for its place, with the reason of each difference.

For one place public factors differ by several times: boundary, attribution, year, edition, borders, gases. The spread
shows it; it is no range of an estimate, and its lines are never added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from energy.carbon.lookup import choose, year_note
from energy.carbon.scope2 import restated
from energy.catalogue.cloud import CloudRegion, CloudYear, cloud_region_by_name, cloud_years
from energy.catalogue.factors import Factor, factor, factors_for
from energy.catalogue.profiles import IntensityProfile, all_profiles
from energy.catalogue.sources import source
from energy.catalogue.zones import Zone, zone, zones_by_id
from energy.errors import FactorError, UnknownNameError
from energy.units import takes

PROVIDER, PROVIDER_MARKET = "provider's figure", "provider's figure, market-based"
NOT_STATED = "not stated"
# From this ratio of the highest line over the lowest on, the choice of the factor decides more than any efficiency.
WIDE_FROM = 2.0
#: Years that an activity can have; any other is a slip of the pen.
_CALENDAR = range(1900, 2101)
_PROVIDERS = {"aws": "Amazon Web Services", "azure": "Microsoft Azure", "gcp": "Google Cloud", "oci": "Oracle Cloud"}


@dataclass(frozen=True, slots=True)
class SpreadLine:
    """The emissions of the energy by one set of factors.

    ``reasons`` say in what it differs from the chosen line; empty for that line itself. ``ratio_to_chosen`` is its
    intensity over the chosen one.
    """

    factor_id: str
    kind: str
    zone_id: str
    year: int
    year_note: str
    boundary: str
    attribution: str
    gases: str
    gwp_set: str
    publisher: str
    edition: str
    source: tuple[str, ...]
    licence: str
    status: str
    intensity_gco2e_per_kwh_facility: float
    emissions_kgco2e: float
    ratio_to_chosen: float
    reasons: tuple[str, ...]
    is_chosen: bool


@takes(None, energy_facility="kWh_facility")
def spread(
    place: str, energy_facility: Any, year: int, policy: str = "nearest any", chosen_id: str = ""
) -> tuple[SpreadLine, ...]:
    """Return the emissions of an energy under every set of factors held for a place, lowest first.

    Parameters
    ----------
    place : str
        Zone, country or cloud region.
    energy_facility : Quantity, kWh_facility
        Energy at the meter.
    year : int
        Year of the activity; of each set the year nearest to it is taken, and said.
    policy : str
        Of the chosen line, as for :func:`energy.carbon.lookup.choose`.
    chosen_id : str
        Identifier of the chosen factor itself, in place of the policy.

    Returns
    -------
    tuple of SpreadLine
        One per publisher, edition, zone, kind and boundary: the zone's own, its country's, those of hours (their mean
        over the year), and for a cloud region the figures that its provider publishes, whose boundary and attribution
        are not stated. The chosen line is the location-based factor that the ledger would take.

    Raises
    ------
    UnknownNameError
        The place is not known.
    FactorError
        It has no location-based factor, or none under the policy; the energy is negative or not a number; or the year
        is none of 1900 to 2100.

    Examples
    --------
    >>> from energy.units import quantity
    >>> lines = spread("CAMX", quantity(1.0, "GWh_facility"), 2024)
    >>> chosen = next(line for line in lines if line.is_chosen)
    >>> chosen.factor_id, chosen.reasons, len(lines) > 3
    ('egrid2023r2-CAMX', (), True)

    """
    if year not in _CALENDAR:
        raise FactorError(f"The year {year} is none of {_CALENDAR[0]} to {_CALENDAR[-1]}: give that of the activity.")
    if not energy_facility >= 0:
        raise FactorError(f"An energy of {energy_facility:g} kWh at the meter: give what was used, zero or more.")
    here = zone(place)
    chosen = factor(chosen_id) if chosen_id else _usual(here, year, policy)
    lines = [
        _of_factor(one, energy_facility, year, zone_of)
        for zone_of in _zones(here)
        for one in _nearest((*factors_for(zone_of, "location"), *factors_for(zone_of, "residual")), year)
    ]
    lines += [_of_hours(one, energy_facility, year) for one in _profiles(here)]
    noted = dict(_of_provider(place, here, energy_facility, year))
    lines += list(noted)
    first = _of_factor(chosen, energy_facility, year, chosen.zone_id)
    if all(line.factor_id != first.factor_id for line in lines):
        lines.append(first)
    compared = [_against(line, first, noted.get(line, "")) for line in lines]
    return tuple(sorted(compared, key=lambda line: (line.intensity_gco2e_per_kwh_facility, line.factor_id)))


def _usual(here: Zone, year: int, policy: str) -> Factor:
    """Return the location-based factor that the ledger would take for a zone, or for the one that serves it."""
    for zone_id in dict.fromkeys((here.zone_id, here.annual_zone_id)):
        found = choose(zone_id, "location", year, policy) if zone_id else None
        if found is not None:
            return found.factor
    raise FactorError(f"Zone {here.zone_id} has no location-based factor in the catalogue: there is no spread.")


def _zones(here: Zone) -> tuple[str, ...]:
    """Return the zone itself, the one whose annual factors serve it, and its country; each once."""
    names = (here.zone_id, here.annual_zone_id, here.country_zone_id)
    return tuple(dict.fromkeys(name for name in names if name in zones_by_id()))


def _nearest(factors: Iterable[Factor], year: int) -> list[Factor]:
    """Return of each set the factor whose year is nearest; an earlier year before a later one."""
    best: dict[tuple[str, ...], Factor] = {}
    for one in factors:
        key = (one.publisher, one.edition, one.kind, one.boundary)
        held = best.get(key)
        if held is None or (abs(one.year - year), one.year > year) < (abs(held.year - year), held.year > year):
            best[key] = one
    return list(best.values())


def _profiles(here: Zone) -> list[IntensityProfile]:
    return [one for one in all_profiles() if one.zone_id in {here.zone_id, here.hourly_zone_id}]


def _of_factor(one: Factor, energy_kwh: float, year: int, zone_id: str) -> SpreadLine:
    value, _ = restated(one, one.value)
    kind = "annual average" if one.kind == "location" else "residual mix"
    return _line(one, one.factor_id, kind, zone_id, value, energy_kwh, year)


def _of_hours(one: IntensityProfile, energy_kwh: float, year: int) -> SpreadLine:
    value, _ = restated(one, float(np.nanmean(one.values)))
    return _line(one, one.profile_id, "mean of hours", one.zone_id, value, energy_kwh, year)


def _line(
    one: Factor | IntensityProfile, name: str, kind: str, zone_id: str, value: float, energy_kwh: float, year: int
) -> SpreadLine:
    return SpreadLine(
        factor_id=name,
        kind=kind,
        zone_id=zone_id,
        year=one.year,
        year_note=year_note(one.year, year),
        boundary=one.boundary,
        attribution=one.attribution,
        gases=one.gases,
        gwp_set=one.gwp_set,
        publisher=one.publisher,
        edition=one.edition,
        source=one.source,
        licence=one.licence,
        status=one.status,
        intensity_gco2e_per_kwh_facility=value,
        emissions_kgco2e=energy_kwh * value / 1000.0,
        ratio_to_chosen=1.0,
        reasons=(),
        is_chosen=False,
    )


def _of_provider(place: str, here: Zone, energy_kwh: float, year: int) -> list[tuple[SpreadLine, str]]:
    """Return the figures that a provider publishes of a region, each with what is suspect of it."""
    region = _region(place)
    if region is None:
        return []
    found = []
    for column, kind in (("grid_gco2e_per_kwh", PROVIDER), ("market_based_gco2e_per_kwh", PROVIDER_MARKET)):
        known = [one for one in cloud_years(region.provider, region.region) if getattr(one, column) is not None]
        if known:
            # of one year the row that nobody suspects; an earlier year before a later one at the same distance
            best = min(known, key=lambda one: (abs(one.year - year), one.year > year, one.suspect))
            line = _published(best, kind, getattr(best, column), here, energy_kwh, year)
            found.append((line, best.note if best.suspect else ""))
    return found


def _region(place: str) -> CloudRegion | None:
    try:
        return cloud_region_by_name(place)
    except UnknownNameError:
        return None  # a zone or a country: it has been found by its name already


def _published(one: CloudYear, kind: str, value: float, here: Zone, energy_kwh: float, year: int) -> SpreadLine:
    publisher = _PROVIDERS.get(one.provider, one.provider)
    return SpreadLine(
        factor_id=f"{one.provider}-{one.region}-{one.year}-{'grid' if kind == PROVIDER else 'market'}",
        kind=kind,
        zone_id=here.zone_id,
        year=one.year,
        year_note=year_note(one.year, year, "figure"),
        boundary=NOT_STATED,
        attribution=NOT_STATED,
        gases="CO2e",
        gwp_set="unstated",
        publisher=publisher,
        edition=f"{publisher} regions, {one.year}",
        source=one.source,
        licence="; ".join(dict.fromkeys(source(key).licence for key in one.source)),
        status=one.status,
        intensity_gco2e_per_kwh_facility=value,
        emissions_kgco2e=energy_kwh * value / 1000.0,
        ratio_to_chosen=1.0,
        reasons=(),
        is_chosen=False,
    )


@dataclass(frozen=True, slots=True)
class Width:
    """How far the lines lie apart. Lines of zero have no ratio: they are counted.

    ``is_wide``: the highest is at least twice the lowest above zero. ``highest_over_lowest`` is None below two lines.
    """

    lowest_id: str
    highest_id: str
    highest_over_lowest: float | None
    zero_lines: int
    is_wide: bool


def width(lines: tuple[SpreadLine, ...]) -> Width:
    """Return how far lines lie apart, over all kinds of them.

    Examples
    --------
    >>> from energy.units import quantity
    >>> found = width(spread("CAMX", quantity(1.0, "GWh_facility"), 2024))
    >>> found.highest_over_lowest > 1.0, found.zero_lines
    (True, 0)

    """
    above = sorted(
        (line for line in lines if line.intensity_gco2e_per_kwh_facility > 0),
        key=lambda line: line.intensity_gco2e_per_kwh_facility,
    )
    zeros = len(lines) - len(above)
    if not above:
        return Width("", "", None, zeros, is_wide=False)
    low, high = above[0], above[-1]
    if len(above) == 1:
        return Width(low.factor_id, high.factor_id, None, zeros, is_wide=False)
    ratio = high.intensity_gco2e_per_kwh_facility / low.intensity_gco2e_per_kwh_facility
    return Width(low.factor_id, high.factor_id, ratio, zeros, is_wide=ratio >= WIDE_FROM)


def _against(line: SpreadLine, chosen: SpreadLine, note: str = "") -> SpreadLine:
    return replace(
        line,
        ratio_to_chosen=line.intensity_gco2e_per_kwh_facility / chosen.intensity_gco2e_per_kwh_facility,
        is_chosen=line.factor_id == chosen.factor_id,
        reasons=(*_reasons(line, chosen), *((note,) if note else ())),
    )


def _reasons(line: SpreadLine, chosen: SpreadLine) -> tuple[str, ...]:
    """Return in what a line differs from the chosen one, most telling first."""
    if line.factor_id == chosen.factor_id:
        return ()
    found = []
    if line.kind != chosen.kind:
        found.append(f"{line.kind}, not {chosen.kind}")
    for what, name in (("boundary", "boundary"), ("attribution", "attribution"), ("gases", "gases")):
        if getattr(line, name) != getattr(chosen, name):
            found.append(f"{what} {getattr(line, name)}, not {getattr(chosen, name)}")
    if line.zone_id != chosen.zone_id:
        found.append(f"zone {line.zone_id}, not {chosen.zone_id}")
    if line.year != chosen.year:
        found.append(f"year {line.year}, not {chosen.year}")
    if line.gwp_set != chosen.gwp_set and line.gases == chosen.gases:
        found.append(f"GWP set {line.gwp_set}, not {chosen.gwp_set}")
    if (line.publisher, line.edition) != (chosen.publisher, chosen.edition):
        name = line.edition if line.publisher in line.edition else f"{line.publisher} {line.edition}"
        found.append(f"edition {name}")
    return tuple(found)
