"""Grid intensity by month and UTC hour: the average day of each month."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from energy.catalogue import _tables
from energy.catalogue.zones import zones_by_id
from energy.errors import CatalogueError, FactorError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BOUNDARIES = ("direct", "lifecycle")
_GASES = {"direct": ("CO2 only", "none"), "lifecycle": ("CO2e", "AR5")}
_MONTHS, _HOURS = 12, 24


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
def all_profiles() -> tuple[IntensityProfile, ...]:
    """Return all profiles: each zone with both boundaries.

    Examples
    --------
    >>> [profile.profile_id for profile in all_profiles() if profile.boundary == "direct"]
    ['us-ciso-2022-direct', 'us-pjm-2022-direct', 'us-erco-2022-direct', 'deu-2020-direct']

    """
    hours: dict[str, list[_tables.Row]] = {}
    for row in _tables.rows("intensity_month_hour"):
        hours.setdefault(row.text("profile_set"), []).append(row)
    return tuple(
        _profile(about, hours.get(about.text("profile_set"), []), boundary)
        for about in _tables.rows("intensity_sets")
        for boundary in BOUNDARIES
    )


profiles = all_profiles


def _profile(about: _tables.Row, hours: list[_tables.Row], boundary: str) -> IntensityProfile:
    gases, gwp_set = _GASES[boundary]
    return IntensityProfile(
        profile_id=f"{about.text('profile_set')}-{boundary}",
        zone_id=about.text("zone_id"),
        year=about.integer("year"),
        boundary=boundary,
        attribution=about.text("attribution"),
        unit="gCO2e/kWh_generation",
        values=_values(about, hours, boundary),
        n_hours=about.integer("n_hours"),
        coverage=about.number("coverage"),
        gases=gases,
        gwp_set=gwp_set,
        publisher=about.text("publisher"),
        source=about.words("source"),
        edition=about.text("edition"),
        licence=about.text("licence"),
        status=about.text("status"),
        note=about.text("note"),
    )


def _values(about: _tables.Row, hours: list[_tables.Row], boundary: str) -> NDArray[np.float64]:
    import numpy as np

    if len(hours) != _MONTHS * _HOURS:
        name = about.text("profile_set")
        raise CatalogueError(f"intensity_month_hour.csv: {name} has {len(hours)} rows, not {_MONTHS * _HOURS}.")
    values = np.full((_MONTHS, _HOURS), np.nan)
    for row in hours:
        value = row.maybe_number(f"intensity_{boundary}_gco2e_per_kwh_generation")
        if value is not None:
            values[row.integer("month") - 1, row.integer("hour_utc")] = value
    values.setflags(write=False)
    return values


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
    have = ", ".join(dict.fromkeys(one.zone_id for one in all_profiles()))
    raise FactorError(f"The zone {zone_id} has no hourly profile; these have one: {have}.")
