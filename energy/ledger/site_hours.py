"""PUE and water of each site and hour: constants of ``site.yaml``, modelled from weather, or printed by an operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import EnergyError, SiteFileError
from energy.facility.pue import pue_by_hour, value_by_hour
from energy.ledger.site_facility import SiteFacility, site_facility
from energy.ledger.site_file import FILE_NAME, Period, Site, SiteFile, constant_periods
from energy.ledger.tables import insert, instants

if TYPE_CHECKING:
    import duckdb

    from energy.facility.operators import Published
    from energy.facility.results import SiteRatios

Numbers = NDArray[np.float64]
Hours = NDArray[np.datetime64]
Ends = tuple[Numbers, Numbers, Numbers]
_ENDS = ("", "_low", "_high")


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where the values of one table come from, by hour or for all: source, status, note."""

    source: Any
    status: str
    note: str | None = None

    def columns(self, size: int) -> dict[str, Any]:
        """Return the columns that say so."""
        source = [self.source] * size if isinstance(self.source, str) else self.source
        return {"source": source, "status": [self.status] * size, "note": [self.note] * size}


_GIVEN = Origin(FILE_NAME, "given")


def fill_site_hours(
    connection: duckdb.DuckDBPyConnection, site_file: SiteFile, folder: Path, hours: Mapping[str, Hours]
) -> None:
    """Set PUE, WUE and water of the grid for each site and hour with energy.

    Parameters
    ----------
    connection : DuckDBPyConnection
        The version that is built.
    site_file : SiteFile
    folder : Path
        The ledger's; files that a site names lie there.
    hours : mapping of site id to array of datetime64, shape (n,)
        Starts of UTC hours with energy.

    Raises
    ------
    SiteFileError
        An hour has no PUE or no stated water, or the weather, design or operator's figure cannot be read.

    """
    for site_id, of_site in hours.items():
        site = site_file.sites[site_id]
        modelled = _modelled(site_id, site, folder, of_site)
        pue, origin = _pue(site_id, site, of_site, modelled)
        columns = {f"pue{end}": values for end, values in zip(_ENDS, pue, strict=True)}
        _insert(connection, "core.pue_hour", site_id, of_site, columns, origin)
        water = _water(site_id, site, of_site, modelled)
        if water is not None:
            kinds, origin = water
            columns = {
                f"wue_{kind}{end}_l_per_kwh_it": values
                for kind, ends in kinds.items()
                for end, values in zip(_ENDS, ends, strict=True)
            }
            _insert(connection, "core.wue_hour", site_id, of_site, columns, origin)
        _grid_water(connection, site_id, site, of_site)


def _insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    site_id: str,
    hours: Hours,
    columns: dict[str, Any],
    origin: Origin,
) -> None:
    first = {"site_id": [site_id] * hours.size, "hour_utc": instants(hours)}
    insert(connection, table, first | columns | origin.columns(hours.size))


def _modelled(site_id: str, site: Site, folder: Path, hours: Hours) -> tuple[SiteRatios, Origin] | None:
    """Return ratios and their origin of a site that names a facility."""
    if site.facility is None:
        return None
    from energy.facility.results import ratios_by_hour

    found = site_facility(site_id, site.facility, site.weather, folder)
    try:
        ratios = ratios_by_hour(found.design, found.weather, hours)
    except EnergyError as error:
        raise SiteFileError(f"{FILE_NAME}: sites.{site_id}: {error}") from None
    return ratios, Origin(_sources(found, ratios.own_weather), "estimate", "; ".join(ratios.warnings) or None)


def _sources(found: SiteFacility, own_weather: NDArray[np.bool_]) -> list[str]:
    words = {flag: found.source(own_weather=flag) for flag in (True, False)}
    return [words[flag] for flag in own_weather.tolist()]


def _pue(site_id: str, site: Site, hours: Hours, modelled: tuple[SiteRatios, Origin] | None) -> tuple[Ends, Origin]:
    if modelled is not None:
        return modelled[0].pue, modelled[1]
    if site.published is not None and site.published.pue:
        found = _published(site_id, site)
        return _constant(found.pue, "PUE", found, hours), _origin_of(found)
    return pue_by_hour(site_id, hours, site.pue_periods()), _GIVEN


def _water(
    site_id: str, site: Site, hours: Hours, modelled: tuple[SiteRatios, Origin] | None
) -> tuple[dict[str, Ends], Origin] | None:
    """Return WUE by kind; what is stated goes before what is modelled, and a kind that is not known is left out."""
    stated = site.wue_l_per_kwh_it
    if stated is not None:
        kinds = {"withdrawn": stated.withdrawn, "consumed": stated.consumed}
        key = "wue_l_per_kwh_it"
        found = {kind: _by_hour(site_id, f"{key}.{kind}", hours, given) for kind, given in kinds.items() if given}
        _check_kinds(site_id, found)
        return found, _GIVEN
    if site.published is not None and site.published.wue is not None:
        printed = _published(site_id, site)
        return {site.published.wue: _constant(printed.wue_l_per_kwh_it, "WUE", printed, hours)}, _origin_of(printed)
    if modelled is not None:
        ratios, origin = modelled
        parts = {"withdrawn": ratios.wue_withdrawn_l_per_kwh_it, "consumed": ratios.wue_consumed_l_per_kwh_it}
        return parts, origin
    return None


def _check_kinds(site_id: str, found: Mapping[str, Ends]) -> None:
    if len(found) == 2 and bool(np.any(found["consumed"][0] > found["withdrawn"][0])):
        raise SiteFileError(
            f"{FILE_NAME}: sites.{site_id}.wue_l_per_kwh_it: more is consumed than withdrawn, and what is consumed was "
            "taken in before. Correct one."
        )


def _grid_water(connection: duckdb.DuckDBPyConnection, site_id: str, site: Site, hours: Hours) -> None:
    stated = site.grid_water_l_per_kwh_facility
    if stated is None:
        return
    ends = _by_hour(site_id, "grid_water_l_per_kwh_facility.consumed", hours, stated.consumed)
    columns = {f"grid_water_consumed{end}_l_per_kwh_facility": values for end, values in zip(_ENDS, ends, strict=True)}
    origin = Origin(f"{FILE_NAME}: {stated.source}", "given")
    _insert(connection, "core.grid_water_hour", site_id, hours, columns, origin)


def _by_hour(site_id: str, key: str, hours: Hours, periods: tuple[Period, ...]) -> Ends:
    return value_by_hour(site_id, hours, constant_periods(periods), key)


def _published(site_id: str, site: Site) -> Published:
    from energy.facility.operators import published

    if site.published is None:
        raise SiteFileError(f"{FILE_NAME}: sites.{site_id} names no published figures.")
    try:
        return published(site.published.provider, site.published.region, site.published.year)
    except EnergyError as error:
        raise SiteFileError(f"{FILE_NAME}: sites.{site_id}.published: {error}") from None


def _constant(value: float | None, what: str, found: Published, hours: Hours) -> Ends:
    """Return a printed figure for all hours; its range is not known."""
    if value is None:
        raise SiteFileError(f"{FILE_NAME}: {found.provider} printed no {what} of {found.region} for {found.year}.")
    values = np.full(hours.size, value)
    return values, values, values


def _origin_of(found: Published) -> Origin:
    note = "; ".join(part for part in ("suspect" if found.suspect else "", found.note) if part)
    return Origin(f"{found.name} ({'; '.join(found.source)})", found.status, note or None)
