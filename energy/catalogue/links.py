"""Links: inside a chip group, between nodes, to the host; ports, adapters and switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import find, grouped
from energy.catalogue._records import Verified, build


@dataclass(frozen=True, slots=True)
class Link(Verified):
    """One link. None is unknown, never zero.

    ``bandwidth_gb_per_s_per_direction`` is one way, per the unit in ``per`` (chip, link, port, node, adapter, switch);
    1 GB = 1e9 bytes. ``scope`` is ``model constant`` for the two start-up times that are no products. ``chip_ids`` are
    the chips that have it.
    """

    link_id: str
    name: str
    generation: str
    scope: str
    year: int | None
    bandwidth_gb_per_s_per_direction: float | None
    per: str
    lanes_or_links: str
    latency_us: float | None
    energy_pj_per_bit: float | None
    reach: str
    chip_ids: tuple[str, ...]
    used_by: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str


@cache
def all_links() -> tuple[Link, ...]:
    """Return all links, in the order of the table.

    Examples
    --------
    >>> all_links()[0].link_id
    'nvlink1'

    """
    return tuple(build(Link, row) for row in _tables.rows("links"))


@cache
def _by_id() -> Mapping[str, Link]:
    return {one.link_id: one for one in all_links()}


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    return grouped(
        (name, one.link_id) for one in all_links() for name in (one.link_id, one.name, f"{one.name} {one.generation}")
    )


def link(name: str) -> Link:
    """Return the link that a name means, exactly: identifier, name, or name with generation.

    Raises
    ------
    AmbiguousNameError
        When the name has several generations; the message lists them.
    UnknownNameError
        When the name is not in the catalogue; the message gives the nearest names.

    Examples
    --------
    >>> link("NVLink 4").bandwidth_gb_per_s_per_direction
    450.0
    >>> link("NVLink")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    energy.errors.AmbiguousNameError: The link name 'NVLink' fits several: nvlink1, nvlink2, ...

    """
    shown = [text for one in all_links() for text in (one.link_id, one.name)]
    return _by_id()[find(name, _names(), "link", shown)]
