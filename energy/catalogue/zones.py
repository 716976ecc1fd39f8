"""Grid zones, and the names of places and cloud regions that lie in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import fold
from energy.catalogue._records import build
from energy.catalogue.cloud import all_cloud_regions, provider_ids
from energy.errors import AmbiguousNameError, CatalogueError, UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Zone:
    """One grid zone.

    ``annual_zone_id`` and ``hourly_zone_id`` name the zones whose factors serve this one: itself, or a zone with other
    borders (an approximation that ``note`` states), or empty. Following them is the caller's choice, never silent.
    ``full_disclosure``: the country has no residual mix, which is not the same as a factor of zero.
    """

    zone_id: str
    kind: str
    name: str
    iso2: str
    country_zone_id: str
    annual_zone_id: str
    hourly_zone_id: str
    full_disclosure: bool
    source: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class ZoneMatch:
    """What a name led to. ``relation`` is ``same``, or ``part_of`` when a place inside the zone was named."""

    given: str
    zone: Zone
    relation: str
    hourly_zone_id: str
    status: str
    note: str


@cache
def all_zones() -> tuple[Zone, ...]:
    """Return all zones, in the order of the table.

    Examples
    --------
    >>> sorted({zone.kind for zone in all_zones()})
    ['balancing_area', 'country', 'egrid_subregion', 'world']

    """
    return tuple(build(Zone, row) for row in _tables.rows("zones"))


@cache
def zones_by_id() -> Mapping[str, Zone]:
    """Return all zones by identifier.

    Examples
    --------
    >>> zones_by_id()["NAM"].iso2
    'NA'

    """
    return {zone.zone_id: zone for zone in all_zones()}


@cache
def _matches() -> Mapping[str, tuple[ZoneMatch, ...]]:
    """Return every known name with the zones that it may mean."""
    found: dict[str, list[ZoneMatch]] = {}

    def add(match: ZoneMatch) -> None:
        others = found.setdefault(fold(match.given), [])
        if all(other.zone.zone_id != match.zone.zone_id for other in others):
            others.append(match)

    for zone in all_zones():
        names = [zone.zone_id, zone.name, zone.iso2]
        if zone.kind == "egrid_subregion":
            names.append(f"eGRID {zone.zone_id}")
        for name in filter(None, names):
            add(ZoneMatch(name, zone, "same", zone.hourly_zone_id, zone.status, zone.note))
    for row in _tables.rows("zone_aliases"):
        alias, zone_id = row.text("alias"), row.text("zone_id")
        if zone_id not in zones_by_id():
            raise CatalogueError(f"zone_aliases.csv, line {row.line}: {alias!r} means {zone_id!r}, which is no zone.")
        zone = zones_by_id()[zone_id]
        hourly = row.text("hourly_zone_id") or zone.hourly_zone_id
        add(ZoneMatch(alias, zone, row.text("relation"), hourly, row.text("status"), row.text("note")))
    for region in all_cloud_regions():
        zone = zones_by_id()[region.zone_id]
        hourly = region.hourly_zone_id or zone.hourly_zone_id
        words = (region.location, "eGRID subregion recalled" if region.egrid_subregion else "", region.note)
        for name in region.names:
            add(ZoneMatch(name, zone, "part_of", hourly, region.status, "; ".join(filter(None, words))))
    return {name: tuple(matches) for name, matches in found.items()}


def _country_of(hint: str) -> str:
    """Return the country that a hint names."""
    for match in _matches().get(fold(hint), ()):
        if match.zone.kind == "country" and match.relation == "same":
            return match.zone.zone_id
    known = [text for zone in all_zones() if zone.kind == "country" for text in (zone.iso2, zone.zone_id, zone.name)]
    raise UnknownNameError(f"The hint {hint!r} is neither a country nor a cloud provider.{did_you_mean(hint, known)}")


def _with_provider(key: str) -> str:
    """Return a folded name with the provider's identifier in place of its longer names: "google cloud x" is "gcp x"."""
    for spelt in sorted(provider_ids(), key=len, reverse=True):
        if key.startswith(f"{spelt} "):
            return f"{provider_ids()[spelt]} {key.removeprefix(f'{spelt} ')}"
    return key


def zone_match(name: str, *, hint: str | None = None) -> ZoneMatch:
    """Return the zone that a name means, with how it was found.

    Use this where the result is shown: ``relation`` and ``note`` say when a place stands for a larger zone.

    Parameters
    ----------
    name : str
        Zone identifier, ISO code, country, eGRID subregion, US state, or cloud provider with region.
    hint : str, optional
        Country that the place lies in (ISO code or name), or a cloud provider: ``aws``, ``azure``, ``gcp`` and others.

    Raises
    ------
    AmbiguousNameError
        When the name fits several zones and no hint decides.
    UnknownNameError
        When the name or the hint is not known; the message gives the nearest names. Nothing is ever taken instead.

    Examples
    --------
    >>> match = zone_match("aws eu-north-1")
    >>> match.zone.zone_id, match.relation
    ('SWE', 'part_of')
    >>> zone_match("Virginia", hint="US").hourly_zone_id
    'US-PJM'
    >>> zone_match("Google Cloud europe-west1").zone.zone_id
    'BEL'

    """
    if not name.strip():
        raise UnknownNameError("The zone name is empty: name a country, an eGRID subregion or a cloud region.")
    country = None
    if hint is not None and hint.strip():
        if fold(hint) in provider_ids():
            prefix = f"{provider_ids()[fold(hint)]} "
            name = name if fold(name).startswith(prefix) else prefix + name.strip()
        else:
            country = _country_of(hint)
    key = _with_provider(fold(name))
    matches = [m for m in _matches().get(key, ()) if country is None or m.zone.country_zone_id == country]
    if len(matches) == 1:
        return matches[0]
    if matches:
        fits = ", ".join(f"{match.zone.zone_id} ({match.zone.name})" for match in matches)
        raise AmbiguousNameError(f"The place {name!r} fits several zones: {fits}. Name one, or give its country.")
    known = [
        match.given
        for candidates in _matches().values()
        for match in candidates
        if country is None or match.zone.country_zone_id == country
    ]
    within = f" within {country}" if country else ""
    raise UnknownNameError(f"The place {name!r} is not in the catalogue{within}.{did_you_mean(name, known)}")


def zone(name: str, *, hint: str | None = None) -> Zone:
    """Return the zone that a name means; see :func:`zone_match` for what it refuses.

    Examples
    --------
    >>> zone("sweden").zone_id, zone("NA").name
    ('SWE', 'Namibia')
    >>> zone("virgina", hint="US")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    energy.errors.UnknownNameError: The place 'virgina' is not in the catalogue within USA. Nearest: Virginia, ...

    """
    return zone_match(name, hint=hint).zone


def abroad(place: Zone, other: Zone) -> str:
    """Say why a zone cannot stand in for a place: its borders may differ, its country may not; empty where it can.

    Examples
    --------
    >>> abroad(zone("CAMX"), zone("US-CISO"))
    ''
    >>> abroad(zone("DEU"), zone("CAMX"))
    'CAMX lies in USA, and zone DEU in DEU: name a zone of the same country (energy catalogue zones)'

    """
    if other.country_zone_id == place.country_zone_id:
        return ""
    return (
        f"{other.zone_id} lies in {other.country_zone_id}, and zone {place.zone_id} in {place.country_zone_id}: name a "
        "zone of the same country (energy catalogue zones)"
    )
