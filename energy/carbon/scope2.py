"""Scope 2 factors of a site by hour: location-based, market-based, and hourly where the zone has hours.

GHG Protocol Scope 2 Guidance (2015): both totals over all operations, always labelled. Location-based takes the average
factor of the grid; market-based takes instruments, then the residual mix; where a zone has no residual mix, the grid
average, and its absence is disclosed. Production-based factors are restated per kWh purchased (``as_purchased``): the
number stays, grid losses belong to Scope 3 category 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy.carbon.lookup import Choice, choose, year_note
from energy.catalogue.factors import Factor
from energy.catalogue.profiles import IntensityProfile, all_profiles
from energy.errors import FactorError
from energy.units import as_purchased, quantity

METHODS = ("location", "market", "hourly")
NO_RESIDUAL = "no residual mix is known for the zone: the location-based factor stands in (disclosed, Scope 2 Guidance)"
FIXED_FUELS = (
    "made with one fixed factor per fuel: its level differs from the zone's annual factor, so hourly less "
    "location-based is not the effect of the hours alone"
)
RESTATED = "per kWh generated, restated as purchased, number unchanged"


@dataclass(frozen=True, slots=True)
class FactorHours:
    """Factor of one site and method for many hours.

    Attributes
    ----------
    hours : array of datetime64[h], shape (n,)
    intensity_gco2e_per_kwh_facility : array, shape (n,)
    factor_id, year_policy, year_note, note : str
        The same for all these hours.
    """

    site_id: str
    method: str
    factor_id: str
    hours: npt.NDArray[np.datetime64]
    intensity_gco2e_per_kwh_facility: npt.NDArray[np.float64]
    year_policy: str
    year_note: str
    note: str


@dataclass(frozen=True, slots=True)
class SiteZones:
    """Zones of a site: of its annual factor, of its residual mix, of its hours (None: no hourly method)."""

    site_id: str
    zone_id: str
    residual_zone_id: str
    hourly_zone_id: str | None
    boundary: str | None
    policy: str


def factor_hours(zones: SiteZones, hours: npt.NDArray[np.datetime64]) -> list[FactorHours]:
    """Return the factors of a site for its hours, by method and year.

    Parameters
    ----------
    zones : SiteZones
        From ``site.yaml``.
    hours : array of datetime64[h]
        UTC hours with energy.

    Raises
    ------
    FactorError
        The zone has no location-based factor, or none that the policy allows.

    Examples
    --------
    >>> hours = np.array(["2026-01-01T00", "2026-01-01T01"], dtype="datetime64[h]")
    >>> site = SiteZones("a", "CAMX", "CAMX", None, None, "nearest earlier")
    >>> [(item.method, item.factor_id) for item in factor_hours(site, hours)][0]
    ('location', 'egrid2023r2-CAMX')

    """
    years = hours.astype("datetime64[Y]").astype(int) + 1970
    out: list[FactorHours] = []
    for year in np.unique(years).tolist():
        of_year = hours[years == year]
        location = choose(zones.zone_id, "location", year, zones.policy, zones.boundary)
        if location is None:
            raise FactorError(
                f"Site {zones.site_id}: zone {zones.zone_id} has no location-based factor in the catalogue. Choose a "
                "zone with one (energy catalogue zones), or add the factor to datasets/factors_annual.csv."
            )
        out.append(_constant(zones.site_id, "location", location, of_year))
        residual = choose(zones.residual_zone_id, "residual", year, zones.policy)
        if residual is None:
            out.append(_constant(zones.site_id, "market", location, of_year, NO_RESIDUAL))
        else:
            out.append(_constant(zones.site_id, "market", residual, of_year))
        if zones.hourly_zone_id is not None:
            out.append(_hourly(zones, location.factor, year, of_year))
    return out


def restated(factor: Factor | IntensityProfile, value: float) -> tuple[float, str]:
    """Return a factor per kWh at the meter, and the note of its restatement (empty for consumption-based ones)."""
    if factor.attribution == "consumption":
        return value, ""
    return float(as_purchased(quantity(value, "gCO2e/kWh_generation")).magnitude), RESTATED


def _notes(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _constant(
    site_id: str, method: str, choice: Choice, hours: npt.NDArray[np.datetime64], note: str = ""
) -> FactorHours:
    value, said = restated(choice.factor, choice.factor.value)
    only_co2 = "CO2 only: CH4 and N2O are not in the factor" if choice.factor.gases == "CO2 only" else ""
    return FactorHours(
        site_id,
        method,
        choice.factor.factor_id,
        hours,
        np.full(hours.size, value),
        choice.year_policy,
        choice.year_note,
        _notes(said, only_co2, note),
    )


def profile_of(zone_id: str, boundary: str) -> IntensityProfile | None:
    """Return the hourly profile of a zone with this boundary, if the catalogue has one."""
    return next((item for item in all_profiles() if item.zone_id == zone_id and item.boundary == boundary), None)


def _hourly(zones: SiteZones, location: Factor, year: int, hours: npt.NDArray[np.datetime64]) -> FactorHours:
    """Give each hour the mean of its month and hour of day in the profile's year."""
    zone_id = str(zones.hourly_zone_id)
    profile = profile_of(zone_id, location.boundary)
    if profile is None:
        have = ", ".join(sorted({item.zone_id for item in all_profiles()}))
        raise FactorError(
            f"Site {zones.site_id}: no hourly intensity ({location.boundary}) for zone {zone_id}. Zones with hours: "
            f"{have}. Correct or remove hourly_zone in site.yaml."
        )
    if profile.year != year and zones.policy == "exact":
        raise FactorError(
            f"Site {zones.site_id}: the hours of zone {zone_id} are of {profile.year}, the activity is of {year}, and "
            "the policy is `exact`. Remove hourly_zone, or set factor_policy to `nearest earlier`."
        )
    month = hours.astype("datetime64[M]").astype(int) % 12
    hour = (hours.astype("datetime64[h]") - hours.astype("datetime64[D]")).astype(int)
    values = profile.values[month, hour]
    unknown = np.isnan(values)
    if unknown.any():
        raise FactorError(
            f"Site {zones.site_id}: the hours of zone {zone_id} lack month {int(month[unknown][0]) + 1}, hour "
            f"{int(hour[unknown][0])} UTC. Remove hourly_zone in site.yaml."
        )
    _, said = restated(profile, 0.0)
    return FactorHours(
        zones.site_id,
        "hourly",
        profile.profile_id,
        hours,
        values,
        zones.policy,
        year_note(profile.year, year, "mean by month and UTC hour"),
        _notes(said, FIXED_FUELS, profile.note),
    )
