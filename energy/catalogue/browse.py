"""The catalogue to look through: rows with source, edition, year and licence; search; where sources disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from energy.catalogue import _tables
from energy.catalogue.factors import KINDS as FACTOR_KINDS
from energy.catalogue.factors import Factor, factors_for
from energy.catalogue.listing import KINDS, entries, one
from energy.catalogue.sources import Source, source
from energy.errors import AmbiguousNameError, UnknownNameError

_YEAR_FIELDS = ("year", "launch_year", "price_date", "period", "as_of")
# Columns that the tables name otherwise, or not at all.
_COLUMN_OF = {"chips": {"name": "chip"}, "nodes": {"name": "system"}}


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: entries by key; or one that another name means; or why there is none.

    Attributes
    ----------
    keys : tuple of str
        Keys of the entries, in the order of the catalogue.
    message : str
        Why there is none, with the nearest names; or which entry the name means.
    """

    keys: tuple[str, ...]
    message: str = ""


@cache
def rows(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of a catalogue by key: main columns, then year, edition, source and licence as words.

    Raises
    ------
    UnknownNameError
        There is no such catalogue.

    Examples
    --------
    >>> rows("chips")["nvidia_h100_sxm5_80"]["tdp_w"]
    700.0
    >>> rows("factors")["egrid2022-CAMX"]["licence"]
    'US public domain'

    """
    listed = entries(kind)
    about = KINDS[kind]
    out: dict[str, dict[str, Any]] = {}
    for row, entry in zip(listed, about.function(about.listed)(), strict=True):
        out[_key(kind, row)] = row | _origin(entry)
    return out


def _key(kind: str, row: Mapping[str, Any]) -> str:
    """Return the name by which :func:`energy.catalogue.listing.one` finds an entry."""
    return f"{row['provider']} {row['region']}" if kind == "cloud-regions" else str(next(iter(row.values())))


def _origin(entry: Any) -> dict[str, Any]:
    """Return from when and where an entry is: its own words, else those of its sources."""
    if isinstance(entry, Source):
        return {"year": _year(entry), "where": entry.where, "quality": entry.quality}
    sources = [source(key) for key in entry.source]
    edition = getattr(entry, "edition", "") or _joined(one.as_of for one in sources)
    licence = getattr(entry, "licence", "") or _joined(one.licence for one in sources)
    return {"year": _year(entry), "edition": edition, "source": "; ".join(entry.source), "licence": licence}


def _joined(words: Any) -> str:
    return "; ".join(dict.fromkeys(word for word in words if word))


def _year(entry: Any) -> int | None:
    """Return the year of an entry, where it states one."""
    for name in _YEAR_FIELDS:
        text = str(getattr(entry, name, "") or "")[:4]
        if text.isdigit():
            return int(text)
    return None


def units(kind: str) -> Mapping[str, str]:
    """Return the unit of each column of :func:`rows` that has one.

    Examples
    --------
    >>> units("chips")["tdp_w"], units("nodes")["max_kw"]
    ('W', 'kW_it')

    """
    table = KINDS[kind].table
    found = dict(_tables.units(table))
    for name, column in _COLUMN_OF.get(table, {}).items():
        found[name] = found[column]
    return {name: unit for name, unit in found.items() if unit and unit != "year"}


def find(kind: str, text: str) -> Found:
    """Search a catalogue: every word must stand somewhere in an entry; else the text may be another name of one.

    Parameters
    ----------
    kind : str
        A catalogue.
    text : str
        Words; all entries where it is empty.

    Examples
    --------
    >>> find("chips", "h100 nvl").keys
    ('nvidia_h100_nvl_94',)
    >>> find("chips", "NVIDIA H100 80GB HBM3").message
    'NVIDIA H100 80GB HBM3 means nvidia_h100_sxm5_80.'
    >>> find("zones", "Swedn").message
    "The place 'Swedn' is not in the catalogue. Nearest: Sweden, SWE, SEN."

    """
    known = rows(kind)
    wanted = text.casefold().split()
    if not wanted:
        return Found(tuple(known))
    keys = tuple(key for key, row in known.items() if all(word in _words(row) for word in wanted))
    if keys:
        return Found(keys)
    try:
        meant = _meant(kind, text.strip(), known)
    except AmbiguousNameError as error:
        return Found((), str(error))
    except UnknownNameError as error:
        return Found((), str(error).partition(" All of them:")[0])
    return Found(meant, f"{text.strip()} means {', '.join(meant)}.")


def _words(row: Mapping[str, Any]) -> str:
    return " ".join(str(value) for value in row.values() if value is not None).casefold()


def _meant(kind: str, text: str, known: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys of what another name means; prices of a chip are several."""
    record = one(kind, text)
    named = [str(row["value"]) for row in record] + [str(row["field"]) for row in record]
    pairs = [f"{first} {second}" for first, second in pairwise(named)]
    found = dict.fromkeys(name for name in (*pairs, *named) if name in known)
    if not found:
        raise UnknownNameError(f"No entry of {kind} is named {text}.")
    return tuple(found) if kind in ("prices", "electricity-prices") else (next(iter(found)),)


def origins(kind: str, key: str) -> tuple[Source, ...]:
    """Return the sources of an entry.

    Parameters
    ----------
    kind : str
        A catalogue.
    key : str
        Key of the entry in :func:`rows`.

    Examples
    --------
    >>> [one.licence for one in origins("factors", "egrid2022-CAMX")]
    ['US public domain']

    """
    row = rows(kind)[key]
    keys = [key] if kind == "sources" else [name for name in str(row["source"]).split("; ") if name]
    return tuple(source(name) for name in keys)


def spread(zone_id: str) -> tuple[tuple[Factor, ...], ...]:
    """Return the latest factor of a zone from each publisher, kind, boundary and gas basis: a group for each unit.

    A factor per kWh generated and one per kWh at the meter are different units and never stand on one axis.

    Parameters
    ----------
    zone_id : str
        Identifier of a zone.

    Examples
    --------
    >>> [(one.publisher, one.kind) for one in spread("CAMX")[0]][:2]
    [('US EPA', 'location'), ('Green-e', 'residual')]

    """
    latest: dict[tuple[str, ...], Factor] = {}
    for kind in FACTOR_KINDS:
        for one_factor in factors_for(zone_id, kind):
            basis = (one_factor.publisher, kind, one_factor.boundary, one_factor.attribution, one_factor.gases)
            latest[basis] = one_factor  # by year and edition: the last one stays
    groups: dict[str, list[Factor]] = {}
    for one_factor in latest.values():
        groups.setdefault(one_factor.unit, []).append(one_factor)
    return tuple(tuple(group) for group in groups.values())


def zone_of(kind: str, key: str) -> str:
    """Return the zone whose factors serve an entry; empty where there is none.

    Examples
    --------
    >>> zone_of("zones", "SE-SE3"), zone_of("factors", "egrid2022-CAMX"), zone_of("chips", "nvidia_t4")
    ('SWE', 'CAMX', '')

    """
    from energy.catalogue.zones import zone_match, zones_by_id

    if kind not in ("zones", "factors", "cloud-regions"):
        return ""
    name = key if kind == "zones" else str(rows(kind)[key]["zone_id"] or "")
    try:
        found = zone_match(name).zone if name else None
    except (UnknownNameError, AmbiguousNameError):
        return ""
    if found is None:
        return ""
    return found.annual_zone_id if found.annual_zone_id in zones_by_id() else found.zone_id


def site_lines(kind: str, key: str) -> Sequence[str]:
    """Return lines of ``site.yaml`` that use an entry; none where a site file names no such thing.

    Examples
    --------
    >>> for line in site_lines("chips", "nvidia_t4"):
    ...     print(line)
    sites:
      my-site:
        hosts:
          - pattern: "node-[01-04]"
            chip: nvidia_t4
            chips: 8

    """
    if kind == "chips":
        group = ('      - pattern: "node-[01-04]"', f"        chip: {key}", "        chips: 8")
        return ("sites:", "  my-site:", "    hosts:", *group)
    zone = {"zones": key}.get(kind, "") or (
        str(rows(kind)[key]["zone_id"] or "") if kind in ("factors", "cloud-regions") else ""
    )
    if not zone:
        return ()
    lines = ["sites:", "  my-site:", f"    zone: {zone}"]
    if rows(kind)[key].get("kind") == "residual":
        return (*lines, f"    residual_zone: {zone}")
    hourly = str(rows(kind)[key].get("hourly_zone_id") or "")
    return (*lines, f"    hourly_zone: {hourly}") if hourly and hourly != zone else tuple(lines)
