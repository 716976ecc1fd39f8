"""Generation by technology and UTC hour: the mean over the year behind each set of hourly intensity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from energy.catalogue import _tables
from energy.catalogue._grids import HOURS
from energy.catalogue.profiles import IntensitySet, intensity_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class GenerationMix:
    """Mean generation of each UTC hour of a zone and year, in MWh an hour at the plants.

    ``mean_mwh`` is the mean of all measured hours by technology, ``by_hour_mwh`` its parts by hour, shape (24,).
    Negative generation is counted as none, storage is left out. The arrays cannot be written.
    """

    about: IntensitySet
    n_hours: int
    mean_mwh: Mapping[str, float]
    by_hour_mwh: Mapping[str, NDArray[np.float64]]


@cache
def generation_mix(zone_id: str) -> GenerationMix:
    """Return the mix of a set, by its identifier or the identifier of its zone.

    Parameters
    ----------
    zone_id : str
        As for :func:`energy.catalogue.profiles.intensity_set`.

    Raises
    ------
    UnknownNameError
        There is no such set; the message gives the nearest identifiers.

    Examples
    --------
    >>> mix = generation_mix("FRA")
    >>> max(mix.mean_mwh, key=mix.mean_mwh.get), mix.by_hour_mwh["nuclear"].shape
    ('nuclear', (24,))

    """
    import numpy as np

    about = intensity_set(zone_id)
    rows = [row for row in _tables.rows("generation_hour") if row.text("profile_set") == about.profile_set]
    by_hour = {row.text("technology"): np.array([row.number(column) for column in HOURS]) for row in rows}
    for values in by_hour.values():
        values.setflags(write=False)
    return GenerationMix(
        about,
        rows[0].integer("n_hours"),
        {row.text("technology"): row.number("mean_mwh") for row in rows},
        by_hour,
    )
