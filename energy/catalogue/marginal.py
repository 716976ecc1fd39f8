"""Marginal intensity by month and hour: what one kWh more or less would have changed, in 14 regions of the US."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from energy.catalogue import _tables
from energy.catalogue._grids import month_hour
from energy.catalogue._names import find, grouped
from energy.catalogue._records import build

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MarginalSet:
    """One region and year of hourly marginal intensity, in ``gCO2/kWh``; combustion only.

    It is no average: never to be used for Scope 2, nor mixed with an average in one sum. Negative values occur (one
    kWh more lets another unit run that emits less): they are kept.
    """

    marginal_id: str
    region: str
    name: str
    year: int
    mean_gco2_per_kwh: float
    low_gco2_per_kwh: float
    high_gco2_per_kwh: float
    n_hours: int
    n_negative_hours: int
    coverage: float
    time_base: str
    publisher: str
    source: tuple[str, ...]
    edition: str
    licence: str
    status: str
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class MarginalProfile:
    """Average day of each month: ``values[month - 1, hour]`` in ``gCO2/kWh``; the array cannot be written.

    The hour is that of ``about.time_base``, which is not UTC.
    """

    about: MarginalSet
    unit: str
    values: NDArray[np.float64]


@cache
def all_marginal() -> tuple[MarginalSet, ...]:
    """Return what holds for each region, in the order of the table.

    Examples
    --------
    >>> len(all_marginal())
    14

    """
    return tuple(build(MarginalSet, row) for row in _tables.rows("marginal_sets"))


@cache
def _by_id() -> Mapping[str, MarginalSet]:
    return {one.marginal_id: one for one in all_marginal()}


def marginal_set(name: str) -> MarginalSet:
    """Return what holds for a region, by identifier, AVERT code or name.

    Raises
    ------
    UnknownNameError
        When the region is not known; the message gives the nearest names.

    Examples
    --------
    >>> marginal_set("AVERT MIDA").year
    2023

    """
    names = grouped(
        (text, one.marginal_id)
        for one in all_marginal()
        for text in (one.marginal_id, one.region, f"AVERT {one.region}", one.name)
    )
    shown = [text for one in all_marginal() for text in (one.region, one.name)]
    return _by_id()[find(name, names, "marginal region", shown)]


def marginal_profile(name: str) -> MarginalProfile:
    """Return the average day of each month of a region.

    Raises
    ------
    UnknownNameError
        When the region is not known; the message gives the nearest names.

    Examples
    --------
    >>> marginal_profile("Texas").values.shape
    (12, 24)

    """
    about = marginal_set(name)
    rows = [row for row in _tables.rows("marginal_month_hour") if row.text("marginal_id") == about.marginal_id]
    return MarginalProfile(about, "gCO2/kWh", month_hour(rows, "marginal_month_hour.csv", about.marginal_id))
