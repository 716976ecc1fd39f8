"""Hours of ingested grid series as the factors of the method ``hourly``, before the catalogue's mean by month and hour.

Which hours are a site's: those that were told to be (``--site``), then those of its ``hourly_zone``, then those of its
``zone``. Only the boundary of its location-based factor is taken, and where several attributions are held the one of
that factor first. Of an hour that no series covers:

- the catalogue's mean by month and hour stands in where ``site.yaml`` names an ``hourly_zone`` and the policy allows
  its year;
- else the location-based factor, in quarters of which a series covers any hour, unless the policy is ``exact``;
- else the quarter has no method ``hourly``: a part of a quarter would be read as the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.carbon.scope2 import RESTATED, FactorHours, SiteZones, factor_hours, profile_of
from energy.catalogue.factors import Factor, factor
from energy.catalogue.zones import zone
from energy.errors import SiteFileError, did_you_mean
from energy.ledger.bases import Reader
from energy.ledger.periods import ZoneSpan, hours_by_span
from energy.ledger.site_file import FILE_NAME, SiteFile
from energy.provenance import factor_basis
from energy.units import as_purchased, quantity

if TYPE_CHECKING:
    import duckdb

Hours = NDArray[np.datetime64]
KIND = "hourly series"
_ABOUT = (
    *("batch_id", "file_name", "grid_zone", "zone_id", "boundary", "factor_attribution", "gases", "gwp_set"),
    *("status", "publisher"),
)
_SERIES = """
SELECT
    dense_rank() OVER (
        ORDER BY series.batch_id, series.grid_zone, series.zone_id, series.factor_attribution, series.gases,
            series.gwp_set, series.status, series.publisher
    ) AS part,
    series.batch_id, batch.file_name, series.grid_zone, coalesce(series.zone_id, series.grid_zone) AS zone_id,
    series.boundary, series.factor_attribution, series.gases, series.gwp_set, series.status, series.publisher,
    epoch_ms(series.hour_utc) // 3600000 AS hour,
    coalesce(series.intensity_gco2e_per_kwh_generation, series.intensity_gco2e_per_kwh_facility) AS value
FROM raw.grid_hour AS series
JOIN raw.batch AS batch ON batch.batch_id = series.batch_id
WHERE series.series_kind = 'average' AND series.boundary = $boundary
    AND (series.site_id = $site OR (series.site_id IS NULL AND list_contains($zones, series.zone_id)))
ORDER BY series.site_id IS NULL, list_position($zones, series.zone_id), series.factor_attribution <> $attribution,
    series.batch_id, series.row_number
"""


@dataclass(frozen=True, slots=True)
class Told:
    """Factors of a site, and the rows of ``ref.factor`` of the series among them."""

    items: list[FactorHours]
    facts: list[dict[str, Any]]


def placed(connection: duckdb.DuckDBPyConnection, site_file: SiteFile, batch_id: int) -> list[str]:
    """Return in words which sites take the hours of one file.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built, with the rows of the file.
    site_file : SiteFile
    batch_id : int

    Raises
    ------
    SiteFileError
        The file was told to be of a site in another country.
    """
    rows = connection.execute(
        "SELECT DISTINCT grid_zone, zone_id, site_id FROM raw.grid_hour WHERE batch_id = ? AND series_kind = 'average'",
        [batch_id],
    ).fetchall()
    words = []
    for name, zone_id, site_id in rows:
        _check_place(site_file, batch_id, zone_id, site_id)
        sites = [site_id] if site_id else [one for one in site_file.sites if zone_id in _all_zones(site_file, one)]
        if sites:
            words.append(f"hours of {name} are the factors of site {', '.join(sites)} for the method hourly")
        else:
            words.append(
                f"no site takes these hours: none has zone or hourly_zone {zone_id}; name it in site.yaml, or withdraw "
                "the batch and say whose hours they are with --site"
            )
    return words


def _check_place(site_file: SiteFile, batch_id: int, zone_id: str | None, site_id: str | None) -> None:
    if site_id is None:
        return
    if site_id not in site_file.sites:
        raise SiteFileError(
            f"{FILE_NAME} has no site {site_id}, of which batch {batch_id} has grid hours."
            f"{did_you_mean(site_id, site_file.sites)} Put it back, or `energy withdraw {batch_id}`."
        )
    if zone_id is None:
        return
    there = zone(zone_id).country_zone_id
    for span in site_file.sites[site_id].zone_spans(site_id):
        here = zone(span.zone).country_zone_id
        if here != there:
            raise SiteFileError(
                f"Site {site_id} is in {here} ({span.zone}), and the grid hours of batch {batch_id} are of {zone_id} "
                f"in {there}: give --site of a site there, or correct zone in site.yaml. Nothing was stored."
            )


def _zones_of(span: ZoneSpan) -> list[str]:
    """Return the catalogue's zones whose hours a site takes in a period, the one named for hours first."""
    place = zone(span.zone)
    found = [span.hourly_zone, place.zone_id, place.annual_zone_id]
    return list(dict.fromkeys(one for one in found if one))


def _all_zones(site_file: SiteFile, site_id: str) -> set[str]:
    return {name for span in site_file.sites[site_id].zone_spans(site_id) for name in _zones_of(span)}


def site_factors(
    connection: duckdb.DuckDBPyConnection,
    site_file: SiteFile,
    site_id: str,
    hours: Hours,
    zones_of: Callable[[ZoneSpan], SiteZones],
) -> Told:
    """Return the factors of a site for its hours; the method ``hourly`` by ingested series where they cover an hour.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built: ``raw.grid_hour`` and ``ref.calendar_hour`` are filled.
    site_file : SiteFile
    site_id : str
    hours : array of datetime64[h], shape (n,)
        UTC hours with energy.
    zones_of : callable
        Zones of the site in one of its periods; only periods with energy are asked for.

    Returns
    -------
    Told

    Raises
    ------
    FactorError
        The zone has no location-based factor, or none that the policy allows.
    SiteFileError
        A series is of a site that is gone, or of another country.
    """
    for batch_id, zone_id in connection.execute(
        "SELECT DISTINCT batch_id, zone_id FROM raw.grid_hour WHERE site_id = ? ORDER BY ALL", [site_id]
    ).fetchall():
        _check_place(site_file, int(batch_id), zone_id, site_id)
    out = Told([], [])
    bare: list[FactorHours] = []  # location-based factors of hours in which nothing else stands for the hour
    for span, span_hours in hours_by_span(site_id, hours, site_file.sites[site_id].zone_spans(site_id)):
        zones = zones_of(span)
        annual = factor_hours(replace(zones, hourly_zone_id=None), span_hours)
        open_hours = [span_hours[:0]]
        out.items.extend(annual)
        for item in annual:
            if item.method != "location":
                continue
            found = list(_of_series(connection, span, item))
            out.items.extend(one for one, _ in found)
            out.facts.extend(fact for _, fact in found)
            covered = np.concatenate([item.hours[:0], *(one.hours for one, _ in found)])
            left = item.hours[~np.isin(item.hours, covered)]
            if not left.size:
                continue
            if _profile_stands_in(zones, item, bool(found)):
                open_hours.append(left)
            else:
                bare.append(_part(item, np.isin(item.hours, left)))
        profiles = np.concatenate(open_hours)
        if profiles.size:
            out.items.extend(one for one in factor_hours(zones, profiles) if one.method == "hourly")
    return _by_quarter(connection, out, bare, site_file.factor_policy)


def _profile_stands_in(zones: SiteZones, location: FactorHours, has_series: bool) -> bool:
    """Tell whether the mean by month and hour is taken; what the policy forbids is an error only without series."""
    if zones.hourly_zone_id is None:
        return False
    profile = profile_of(zones.hourly_zone_id, factor(location.factor_id).boundary)
    years = np.unique(location.hours.astype("datetime64[Y]").astype(int) + 1970).tolist()
    allowed = profile is not None and (zones.policy != "exact" or years == [profile.year])
    return allowed or not has_series


def _part(item: FactorHours, mask: NDArray[np.bool_]) -> FactorHours:
    values = item.intensity_gco2e_per_kwh_facility[mask]
    return replace(item, hours=item.hours[mask], intensity_gco2e_per_kwh_facility=values)


def _of_series(
    connection: duckdb.DuckDBPyConnection, span: ZoneSpan, location: FactorHours
) -> Iterator[tuple[FactorHours, dict[str, Any]]]:
    """Yield the hours of a year that series cover, a part for each file and series, with its row of ``ref.factor``."""
    standing: Factor = factor(location.factor_id)
    asked = {"boundary": standing.boundary, "attribution": standing.attribution}
    asked |= {"site": location.site_id}
    rows = connection.execute(_SERIES, asked | {"zones": _zones_of(span)}).fetchnumpy()
    if not len(rows["hour"]):
        return
    hours = rows["hour"].astype("datetime64[h]")
    _, first = np.unique(hours, return_index=True)  # rows stand in the order of what is taken first
    first = first[np.isin(hours[first], location.hours)]
    part = rows["part"][first]
    for number in np.unique(part).tolist():
        mine = first[part == number]
        about = {name: np.asarray(rows[name])[mine[:1]].tolist()[0] for name in _ABOUT}
        yield _series_part(location, about, hours[mine], rows["value"][mine])


def _series_part(
    location: FactorHours, about: dict[str, Any], hours: Hours, values: NDArray[np.float64]
) -> tuple[FactorHours, dict[str, Any]]:
    year = int(hours[0].astype("datetime64[Y]").astype(int)) + 1970
    produced = about["factor_attribution"] == "production"
    slug = re.sub(r"[^A-Za-z0-9]+", "-", about["grid_zone"]).strip("-")
    name = f"grid-hours-batch-{about['batch_id']}-{slug}-{about['boundary']}-{about['factor_attribution']}-{year}"
    if produced:
        values = np.asarray(as_purchased(quantity(values, "gCO2e/kWh_generation")).magnitude)
    only_co2 = "CO2 only: CH4 and N2O are not in the factor" if about["gases"] == "CO2 only" else ""
    item = FactorHours(
        location.site_id,
        "hourly",
        name,
        hours,
        values,
        "exact",
        "value of the hour itself",
        "; ".join(part for part in (RESTATED if produced else "", only_co2) if part),
    )
    return item, _fact(name, year, about)


def _fact(name: str, year: int, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "factor_id": name,
        "basis": factor_basis(about["boundary"], about["factor_attribution"], about["gases"], about["gwp_set"]).words,
        "factor_kind": KIND,
        "zone_id": about["zone_id"],
        "factor_year": year,
        "boundary": about["boundary"],
        "factor_attribution": about["factor_attribution"],
        "gases": about["gases"],
        "gwp_set": about["gwp_set"],
        "publisher": about["publisher"],
        "source": f"{about['file_name']} (batch {about['batch_id']})",
        "edition": f"batch {about['batch_id']}",
        "licence": "not stated in the file",
        "status": about["status"],
        "intensity_gco2e_per_kwh_generation": None,
        "intensity_gco2e_per_kwh_facility": None,
        "note": f"by hour; zone {about['grid_zone']} of the file",
    }


def _by_quarter(connection: duckdb.DuckDBPyConnection, told: Told, bare: Sequence[FactorHours], policy: str) -> Told:
    """Let the location-based factor stand in for hours without any, or leave the method out of their quarters."""
    if not bare or not told.facts:
        return told
    calendar = connection.execute(
        "SELECT epoch_ms(hour_utc) // 3600000 AS hour, quarter FROM ref.calendar_hour ORDER BY 1"
    ).fetchnumpy()
    hour, quarter = calendar["hour"].astype("datetime64[h]"), np.asarray(calendar["quarter"]).astype(str)

    def quarters(of: Hours) -> NDArray[np.str_]:
        return np.asarray(quarter[np.searchsorted(hour, of)])

    ids = {fact["factor_id"] for fact in told.facts}
    begun = {name for item in told.items if item.factor_id in ids for name in np.unique(quarters(item.hours)).tolist()}
    if policy == "exact":
        broken = {name for item in bare for name in np.unique(quarters(item.hours)).tolist()}
        kept = [
            _part(item, ~np.isin(quarters(item.hours), sorted(broken))) if item.method == "hourly" else item
            for item in told.items
        ]
        items = [item for item in kept if item.hours.size]
        used = {item.factor_id for item in items}
        return Told(items, [fact for fact in told.facts if fact["factor_id"] in used])
    for item in bare:
        part = _part(item, np.isin(quarters(item.hours), sorted(begun)))
        if part.hours.size:
            note = "no ingested series covers the hour: the location-based factor stands in"
            told.items.append(replace(part, method="hourly", note="; ".join(one for one in (note, part.note) if one)))
    return told


_COVER = """
SELECT
    supply.site_id, calendar.quarter, count(*) AS hours,
    count(fact.factor_id) FILTER (WHERE fact.factor_kind = 'hourly series') AS covered, count(fact.factor_id) AS hourly
FROM core.supply_hour AS supply
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = supply.hour_utc
LEFT JOIN core.factor_hour AS used
    ON used.site_id = supply.site_id AND used.hour_utc = supply.hour_utc AND used.method = 'hourly'
LEFT JOIN ref.factor AS fact ON fact.factor_id = used.factor_id
GROUP BY supply.site_id, calendar.quarter
ORDER BY supply.site_id, calendar.quarter
"""
_BATCHES = """
SELECT DISTINCT batch_id, grid_zone, zone_id, site_id FROM raw.grid_hour WHERE series_kind = 'average' ORDER BY batch_id
"""


def series_words(reader: Reader, site_file: SiteFile) -> tuple[list[str], list[str]]:
    """Return what ingested grid hours cover of each site and quarter, and what is amiss with them, in words.

    Parameters
    ----------
    reader : Reader
        A published version.
    site_file : SiteFile

    Returns
    -------
    good, amiss : list of str
        Sites whose hours are all covered; hours that are not, and files that no site takes.
    """
    good: list[str] = []
    amiss: list[str] = []
    batches = reader.rows(_BATCHES)
    if not batches:
        return good, amiss
    zones = {site_id: _all_zones(site_file, site_id) for site_id in site_file.sites}
    taken: set[str] = set()
    for row in batches:
        sites = {row["site_id"]} if row["site_id"] else {one for one in zones if row["zone_id"] in zones[one]}
        taken |= sites
        if not sites:
            amiss.append(
                f"grid hours of {row['grid_zone']} (batch {row['batch_id']}) are used by no site: name hourly_zone in "
                "site.yaml, or ingest them with --site"
            )
    for row in reader.rows(_COVER):
        if row["site_id"] not in taken:
            continue
        where = f"site {row['site_id']}, {row['quarter']}: ingested grid hours cover {row['covered']:,} of "
        where += f"{row['hours']:,} hours with energy"
        if row["covered"] == row["hours"]:
            good.append(where)
        elif not row["hourly"]:
            amiss.append(f"{where}, or fewer than all under factor_policy exact: no method hourly there")
        else:
            amiss.append(f"{where}; in the others what emission_lines names stands in")
    return good, amiss
