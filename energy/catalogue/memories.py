"""Memory technologies: bandwidth, capacity, energy per bit, embodied carbon per GB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import find, grouped
from energy.catalogue._records import Verified, build


@dataclass(frozen=True, slots=True)
class Memory(Verified):
    """One memory technology. None is unknown, never zero.

    Bandwidth and capacity are per ``unit`` (stack, chip, channel, slot, drive); 1 GB = 1e9 bytes. ``energy_pj_per_bit``
    covers what ``energy_scope`` says; sources differ by a factor of two, which the low and high values carry.
    """

    memory_id: str
    name: str
    year: int | None
    bandwidth_gb_per_s_per_unit: float | None
    unit: str
    max_gb_per_unit: float | None
    energy_pj_per_bit: float | None
    energy_pj_per_bit_low: float | None
    energy_pj_per_bit_high: float | None
    energy_scope: str
    idle_w_per_gb: float | None
    kgco2e_per_gb: float | None
    kgco2e_per_gb_low: float | None
    kgco2e_per_gb_high: float | None
    latency_ns: float | None
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str


@cache
def all_memories() -> tuple[Memory, ...]:
    """Return all memories, in the order of the table.

    Examples
    --------
    >>> all_memories()[0].memory_id
    'hbm1'

    """
    return tuple(build(Memory, row) for row in _tables.rows("memories"))


@cache
def _by_id() -> Mapping[str, Memory]:
    return {one.memory_id: one for one in all_memories()}


def memory(name: str) -> Memory:
    """Return the memory technology that a name means, exactly.

    Raises
    ------
    UnknownNameError
        When the name is not in the catalogue; the message gives the nearest names.

    Examples
    --------
    >>> memory("HBM3e").bandwidth_gb_per_s_per_unit
    1229.0
    >>> memory("HBM9")
    Traceback (most recent call last):
    ...
    energy.errors.UnknownNameError: The memory 'HBM9' is not in the catalogue. Nearest: HBM, HBM4, HBM3.

    """
    names = grouped((text, one.memory_id) for one in all_memories() for text in (one.memory_id, one.name))
    return _by_id()[find(name, names, "memory", [one.name for one in all_memories()])]
