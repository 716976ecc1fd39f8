"""Speed-ups from software alone, as its makers printed them: how much a stack gained on one chip between two dates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build


@dataclass(frozen=True, slots=True)
class SoftwareGain:
    """One factor: speed at ``later`` over speed at ``earlier``; below 1 it is a regression. ``note`` says of what."""

    gain_id: str
    stack: str
    chip: str
    workload: str
    earlier: str
    later: str
    speedup_factor: float
    source: tuple[str, ...]
    status: str
    note: str


@cache
def all_software_gains() -> tuple[SoftwareGain, ...]:
    """Return all factors, in the order of the table.

    Examples
    --------
    >>> min(one.speedup_factor for one in all_software_gains()) < 1
    True

    """
    return tuple(build(SoftwareGain, row) for row in _tables.rows("software_maturity"))
