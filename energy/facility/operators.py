"""PUE and WUE as operators publish them, by region and year: the named alternative to computing a site."""

from __future__ import annotations

from dataclasses import dataclass

from energy.catalogue.cloud import cloud_region, cloud_years
from energy.errors import FacilityError


@dataclass(frozen=True, slots=True)
class Published:
    """What an operator printed; None where it printed none. ``name`` says whose figure it is."""

    name: str
    provider: str
    region: str
    year: int
    pue: float | None
    wue_l_per_kwh_it: float | None
    suspect: bool
    source: tuple[str, ...]
    status: str
    note: str


def published(provider: str, region: str, year: int) -> Published:
    """Return the PUE and WUE that an operator published of a region and year.

    Parameters
    ----------
    provider, region : str
        As in the catalogue of cloud regions.
    year : int

    Returns
    -------
    Published
        Of two rows of a year, the one that is not suspect.

    Raises
    ------
    UnknownNameError
        The provider or region is not known.
    FacilityError
        It published nothing for the year; the message names the years that exist. No other year is taken instead.

    Examples
    --------
    >>> found = published("aws", "us-east-1", 2023)
    >>> found.pue, found.name
    (1.15, 'published by aws for us-east-1, 2023')

    """
    place = cloud_region(provider, region)
    rows = [
        one for one in cloud_years(place.provider, place.region) if one.pue is not None or one.wue_l_per_kwh is not None
    ]
    hits = [one for one in rows if one.year == year]
    if not hits:
        years = ", ".join(str(one) for one in sorted({one.year for one in rows}))
        raise FacilityError(
            f"{place.provider} published neither PUE nor WUE of {place.region} for {year}: "
            + (f"there are {years}." if years else "nor for any other year. Compute the site instead.")
        )
    one = next((hit for hit in hits if not hit.suspect), hits[0])
    return Published(
        name=f"published by {one.provider} for {one.region}, {one.year}",
        provider=one.provider,
        region=one.region,
        year=one.year,
        pue=one.pue,
        wue_l_per_kwh_it=one.wue_l_per_kwh,
        suspect=one.suspect,
        source=one.source,
        status=one.status,
        note=one.note,
    )
