"""Speed-ups from software alone, as its makers printed them: how much a stack gained on one chip between two dates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.errors import UnknownNameError, did_you_mean


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


def software_gain(gain_id: str) -> SoftwareGain:
    """Return the factor with this identifier.

    Raises
    ------
    UnknownNameError
        When there is none; the message gives the nearest identifiers.

    Examples
    --------
    >>> software_gain("sw01").stack
    'CUDA'

    """
    known = {one.gain_id: one for one in all_software_gains()}
    if gain_id not in known:
        raise UnknownNameError(f"The software gain {gain_id!r} is not in the catalogue.{did_you_mean(gain_id, known)}")
    return known[gain_id]
