"""Grid intensity by month and UTC hour: the average day of each month."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from energy.catalogue import _tables
from energy.catalogue._grids import HOURS, month_hour
from energy.catalogue._names import find, grouped
from energy.catalogue._records import build
from energy.catalogue.zones import zones_by_id
from energy.errors import FactorError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BOUNDARIES = ("direct", "lifecycle")
_GASES = {"direct": ("CO2 only", "none"), "lifecycle": ("CO2e", "AR5")}


@dataclass(frozen=True, slots=True)
class IntensitySet:
    """One zone and year of hourly intensity: what holds for both boundaries. ``hours_file`` names the whole year."""

    profile_set: str
    zone_id: str
    year: int
    attribution: str
    publisher: str
    source: tuple[str, ...]
    edition: str
    licence: str
    n_hours: int
    coverage: float
    hours_file: str
    status: str
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class IntensityProfile:
    """Average day of each month of one zone and year.

    ``values[month - 1, hour_utc]`` is in ``unit``; NaN where no hour was measured. The array cannot be written.
    ``coverage`` is the share of the year's hours that were measured. It is one year of one grid, not a forecast.
    """

    profile_id: str
    zone_id: str
    year: int
    boundary: str
    attribution: str
    unit: str
    values: NDArray[np.float64]
    n_hours: int
    coverage: float
    gases: str
    gwp_set: str
    publisher: str
    source: tuple[str, ...]
    edition: str
    licence: str
    status: str
    note: str


@cache
def intensity_sets() -> tuple[IntensitySet, ...]:
    """Return what holds for each zone and year, in the order of the table.

    Examples
    --------
    >>> intensity_sets()[0].profile_set
    'us-ciso-2022'

    """
    return tuple(build(IntensitySet, row) for row in _tables.rows("intensity_sets"))


def intensity_set(name: str) -> IntensitySet:
    """Return what holds for a set, by its identifier or the identifier of its zone.

    Raises
    ------
    UnknownNameError
        When there is none; the message gives the nearest identifiers.

    Examples
    --------
    >>> intensity_set("US-PJM").year
    2022

    """
    known = grouped((text, one.profile_set) for one in intensity_sets() for text in (one.profile_set, one.zone_id))
    identifier = find(name, known, "profile", [one.zone_id for one in intensity_sets()])
    return next(one for one in intensity_sets() if one.profile_set == identifier)


def basis_of(boundary: str) -> tuple[str, str]:
    """Return the gases and the set of warming potentials of a boundary.

    Examples
    --------
    >>> basis_of("direct")
    ('CO2 only', 'none')

    """
    return _GASES[boundary]


@cache
def all_profiles() -> tuple[IntensityProfile, ...]:
    """Return all profiles: each zone with both boundaries, where both are known.

    Examples
    --------
    >>> [profile.profile_id for profile in all_profiles() if profile.boundary == "direct"][:4]
    ['us-ciso-2022-direct', 'us-pjm-2022-direct', 'us-erco-2022-direct', 'deu-2020-direct']

    """
    months: dict[tuple[str, str], list[_tables.Row]] = {}
    for row in _tables.rows("intensity_month_hour"):
        months.setdefault((row.text("profile_set"), row.text("boundary")), []).append(row)
    found = []
    for about in intensity_sets():
        for boundary in BOUNDARIES:
            rows = months[about.profile_set, boundary]
            # A source that reports no combustion leaves the direct intensity unknown: no profile, not one of zeros.
            if any(row.maybe_number(column) is not None for row in rows for column in HOURS):
                found.append(_profile(about, rows, boundary))
    return tuple(found)


profiles = all_profiles


def _profile(about: IntensitySet, months: list[_tables.Row], boundary: str) -> IntensityProfile:
    gases, gwp_set = basis_of(boundary)
    return IntensityProfile(
        profile_id=f"{about.profile_set}-{boundary}",
        zone_id=about.zone_id,
        year=about.year,
        boundary=boundary,
        attribution=about.attribution,
        unit="gCO2e/kWh_generation",
        values=month_hour(months, "intensity_month_hour.csv", about.profile_set),
        n_hours=about.n_hours,
        coverage=about.coverage,
        gases=gases,
        gwp_set=gwp_set,
        publisher=about.publisher,
        source=about.source,
        edition=about.edition,
        licence=about.licence,
        status=about.status,
        note=about.note,
    )


def profile(zone_id: str, boundary: str = "direct") -> IntensityProfile:
    """Return the hourly profile of a zone.

    Parameters
    ----------
    zone_id : str
        Identifier of a zone that has a profile itself: ``Zone.hourly_zone_id`` names it.
    boundary : str
        ``direct`` (combustion only) or ``lifecycle``.

    Raises
    ------
    UnknownNameError
        When the zone or the boundary is not known.
    FactorError
        When the zone has no profile of its own; nothing is taken instead.

    Examples
    --------
    >>> sunny = profile("US-CISO").values[3, 20]
    >>> evening = profile("US-CISO").values[3, 4]
    >>> bool(sunny < evening)
    True

    """
    if boundary not in BOUNDARIES:
        raise UnknownNameError(f"The boundary {boundary!r} is not known: {' or '.join(BOUNDARIES)}.")
    if zone_id not in zones_by_id():
        hint = did_you_mean(zone_id, zones_by_id())
        raise UnknownNameError(f"The zone identifier {zone_id!r} is not in the catalogue.{hint}")
    for one in all_profiles():
        if one.zone_id == zone_id and one.boundary == boundary:
            return one
    have = ", ".join(dict.fromkeys(one.zone_id for one in all_profiles() if one.boundary == boundary))
    raise FactorError(f"The zone {zone_id} has no hourly profile ({boundary}); these have one: {have}.")
