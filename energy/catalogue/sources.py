"""Sources: what the keys of ``source`` mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.errors import UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Source:
    """One source: title, place, date of its edition, licence, and what kind of source it is."""

    source: str
    title: str
    where: str
    as_of: str
    licence: str
    quality: str


@cache
def all_sources() -> tuple[Source, ...]:
    """Return all sources, by key.

    Examples
    --------
    >>> "recalled" in {one.source for one in all_sources()}
    True

    """
    return tuple(build(Source, row) for row in _tables.rows("sources"))


@cache
def _by_key() -> Mapping[str, Source]:
    return {one.source: one for one in all_sources()}


def source(key: str) -> Source:
    """Return the source that a key means.

    Raises
    ------
    UnknownNameError
        When there is none; the message gives the nearest keys.

    Examples
    --------
    >>> source("owid_2025").licence
    'CC BY 4.0; attribute Ember and Our World in Data'

    """
    if key not in _by_key():
        raise UnknownNameError(f"The source {key!r} is not in the catalogue.{did_you_mean(key, _by_key())}")
    return _by_key()[key]
