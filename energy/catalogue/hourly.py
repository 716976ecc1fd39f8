"""Hourly grid intensity of whole years, where licence and size allow: US balancing areas, 2022."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from energy.catalogue.profiles import BOUNDARIES, IntensitySet, basis_of, intensity_sets
from energy.catalogue.zones import zones_by_id
from energy.errors import FactorError, UnknownNameError, did_you_mean
from energy.resources import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TENTHS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class IntensityHours:
    """Every hour of one zone and calendar year (UTC).

    ``values[i]`` is the intensity of the hour that starts at ``hour_utc[i]``, in ``unit``; NaN where it was not
    measured, never zero. The table holds tenths of a gram. The arrays cannot be written.
    """

    about: IntensitySet
    boundary: str
    unit: str
    gases: str
    gwp_set: str
    hour_utc: NDArray[np.datetime64]
    values: NDArray[np.float64]


def hours_available() -> tuple[tuple[str, int], ...]:
    """Return zone and year of all whole years.

    Examples
    --------
    >>> ("US-PJM", 2022) in hours_available()
    True

    """
    return tuple((one.zone_id, one.year) for one in intensity_sets() if one.hours_file)


@cache
def hours(zone_id: str, year: int, boundary: str = "direct") -> IntensityHours:
    """Return every hour of a year of a zone.

    Parameters
    ----------
    zone_id : str
        Identifier of a zone, not any of its other names.
    year : int
        Calendar year.
    boundary : str
        ``direct`` (combustion only) or ``lifecycle``.

    Raises
    ------
    UnknownNameError
        When the zone or the boundary is not known.
    FactorError
        When there are no hours of this zone and year; nothing is taken instead.

    Examples
    --------
    >>> year = hours("US-ERCO", 2022)
    >>> year.values.shape, str(year.hour_utc[0])
    ((8760,), '2022-01-01T00')

    """
    if boundary not in BOUNDARIES:
        raise UnknownNameError(f"The boundary {boundary!r} is not known: {' or '.join(BOUNDARIES)}.")
    if zone_id not in zones_by_id():
        hint = did_you_mean(zone_id, zones_by_id())
        raise UnknownNameError(f"The zone identifier {zone_id!r} is not in the catalogue.{hint}")
    for about in intensity_sets():
        if about.hours_file and (about.zone_id, about.year) == (zone_id, year):
            return _read(about, boundary)
    have = ", ".join(f"{zone} {of}" for zone, of in hours_available())
    raise FactorError(f"There are no hours of {zone_id} in {year}; there are: {have}.")


def _read(about: IntensitySet, boundary: str) -> IntensityHours:
    import numpy as np
    import pyarrow.parquet as parquet

    column = f"{about.zone_id} {boundary}"
    table = parquet.read_table(resource("datasets") / about.hours_file, columns=[column])
    # A column with empty cells becomes float with NaN, one without becomes integer.
    values = table.column(column).to_numpy().astype(np.float64) / _TENTHS
    first = np.datetime64(f"{about.year}-01-01T00", "h")
    hour_utc = first + np.arange(values.size).astype("timedelta64[h]")
    for array in (values, hour_utc):
        array.setflags(write=False)
    gases, gwp_set = basis_of(boundary)
    return IntensityHours(about, boundary, "gCO2e/kWh_generation", gases, gwp_set, hour_utc, values)
