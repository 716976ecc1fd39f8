"""Cloud regions: where they are, which grid zone serves them, and what their providers publish of them by year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import fold
from energy.catalogue._records import Verified, build
from energy.errors import UnknownNameError, did_you_mean

_PROVIDERS = {
    "aws": ("aws", "amazon", "amazon web services"),
    "azure": ("azure", "microsoft", "microsoft azure"),
    "gcp": ("gcp", "google", "google cloud", "google cloud platform"),
    "oci": ("oci", "oracle", "oracle cloud"),
    "ovh": ("ovh", "ovhcloud"),
}


@dataclass(frozen=True, slots=True)
class CloudRegion(Verified):
    """One region of one provider.

    ``electricity_zone`` is the zone name of Electricity Maps, ``egrid_subregion`` a recalled assignment. ``zone_id`` is
    the zone of this catalogue that serves the region's annual factors: the eGRID subregion, else the country.
    """

    provider: str
    region: str
    location: str
    country_zone_id: str
    latitude_deg: float | None
    longitude_deg: float | None
    electricity_zone: str
    watttime_region: str
    egrid_subregion: str
    zone_id: str
    hourly_zone_id: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str

    @property
    def status(self) -> str:
        """Return ``catalogue``, or ``estimate`` where the zone of the annual factor is recalled."""
        return "estimate" if self.is_recalled("zone_id") else "catalogue"

    @property
    def names(self) -> tuple[str, ...]:
        """Return provider with region, and with its name for people where that only differs by spaces.

        Examples
        --------
        >>> cloud_region("azure", "westeurope").names
        ('azure westeurope', 'azure West Europe')

        """
        same = fold(self.location).replace(" ", "") == fold(self.region)
        return (f"{self.provider} {self.region}", *((f"{self.provider} {self.location}",) if same else ()))


@dataclass(frozen=True, slots=True)
class CloudYear:
    """What a provider published of one region and year. None: not published.

    ``suspect``: the row's ``note`` says why the figure may be wrong. A grid intensity printed as 0 is left out.
    """

    provider: str
    region: str
    location: str
    year: int
    pue: float | None
    wue_l_per_kwh: float | None
    cfe_hourly_fraction: float | None
    cfe_annual_fraction: float | None
    market_based_gco2e_per_kwh: float | None
    grid_gco2e_per_kwh: float | None
    suspect: bool
    source: tuple[str, ...]
    status: str
    note: str


@cache
def all_cloud_regions() -> tuple[CloudRegion, ...]:
    """Return all regions, in the order of the table.

    Examples
    --------
    >>> sorted({one.provider for one in all_cloud_regions()})
    ['aws', 'azure', 'gcp', 'hlrs', 'itenos', 'oci', 'ovh']

    """
    return tuple(build(CloudRegion, row) for row in _tables.rows("cloud_regions"))


@cache
def all_cloud_years() -> tuple[CloudYear, ...]:
    """Return all published years of all regions, in the order of the table.

    Examples
    --------
    >>> min(one.year for one in all_cloud_years())
    2019

    """
    return tuple(build(CloudYear, row) for row in _tables.rows("cloud_region_annual"))


@cache
def _by_name() -> Mapping[tuple[str, str], CloudRegion]:
    return {
        (one.provider, fold(name.removeprefix(one.provider))): one for one in all_cloud_regions() for name in one.names
    }


@cache
def provider_ids() -> Mapping[str, str]:
    """Return every name of a provider, folded, with its identifier.

    Examples
    --------
    >>> provider_ids()["google cloud"]
    'gcp'

    """
    spelt = {name: provider for provider, names in _PROVIDERS.items() for name in names}
    return {fold(one.provider): one.provider for one in all_cloud_regions()} | spelt


def cloud_region(provider: str, region: str) -> CloudRegion:
    """Return a region of a provider.

    Parameters
    ----------
    provider : str
        Such as ``aws`` or ``Google Cloud``.
    region : str
        As the provider writes it; case and the kind of separator do not matter.

    Raises
    ------
    UnknownNameError
        When either is not known; the message gives the nearest names.

    Examples
    --------
    >>> here = cloud_region("aws", "us-east-1")
    >>> here.zone_id, here.hourly_zone_id, here.status
    ('SRVC', 'US-PJM', 'estimate')
    >>> cloud_region("aws", "us-east-9")
    Traceback (most recent call last):
    ...
    energy.errors.UnknownNameError: The region 'us-east-9' of aws is not in the catalogue. Nearest: us-east-2, \
us-east-1, us-west-2.

    """
    known = provider_ids().get(fold(provider))
    if known is None:
        hint = did_you_mean(provider, provider_ids())
        raise UnknownNameError(f"The cloud provider {provider!r} is not in the catalogue.{hint}")
    found = _by_name().get((known, fold(region)))
    if found is None:
        hint = did_you_mean(region, [one.region for one in all_cloud_regions() if one.provider == known])
        raise UnknownNameError(f"The region {region!r} of {known} is not in the catalogue.{hint}")
    return found


def cloud_region_by_name(name: str) -> CloudRegion:
    """Return the region that a provider and a region in one text mean: ``aws eu-north-1``.

    Raises
    ------
    UnknownNameError
        When it is not known; the message gives the nearest names.

    Examples
    --------
    >>> cloud_region_by_name("Google Cloud us-central1").zone_id
    'MROW'

    """
    text = fold(name)
    for provider in sorted(provider_ids(), key=len, reverse=True):
        if text.startswith(f"{provider} "):
            return cloud_region(provider, text.removeprefix(f"{provider} "))
    hint = did_you_mean(name, [text for one in all_cloud_regions() for text in one.names])
    raise UnknownNameError(f"The cloud region {name!r} is not in the catalogue: give provider and region.{hint}")


def cloud_years(provider: str, region: str) -> tuple[CloudYear, ...]:
    """Return what a provider published of a region, by year; empty where it published nothing.

    A year can have two rows, the suspect one last.

    Examples
    --------
    >>> [(one.year, one.pue) for one in cloud_years("aws", "us-east-1")]
    [(2021, None), (2022, 1.16), (2023, 1.15), (2024, 1.15)]

    """
    known = provider_ids().get(fold(provider), provider)
    found = [one for one in all_cloud_years() if one.provider == known and fold(one.region) == fold(region)]
    return tuple(sorted(found, key=lambda one: (one.year, one.suspect)))
