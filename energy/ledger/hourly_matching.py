"""Hourly matched method (draft revision of Scope 2): an instrument covers only purchases of the hour it was made in.

Certificates of at most one hour and the hours that contracts delivered take part. Within a market what a site has of
its own covers first; the rest is shared by the sites in proportion to what is left of their purchase in that hour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.carbon.instruments import KINDS, Assessment
from energy.carbon.matching import DRAFT, hourly_matched
from energy.ledger.tables import insert, insert_rows

if TYPE_CHECKING:
    import duckdb

METHOD = "hourly matched"
Numbers = NDArray[np.float64]
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Piece:
    """Energy of one accepted instrument in one UTC hour."""

    kind: str
    rate_gco2e_per_kwh: float
    market: str
    site_id: str
    hour_utc: datetime
    energy_mwh: float


def is_hourly(start: datetime, end: datetime) -> bool:
    """Tell whether a vintage lies within one UTC hour.

    Examples
    --------
    >>> ten = datetime(2026, 2, 1, 10, tzinfo=UTC)
    >>> is_hourly(ten, ten + timedelta(minutes=60)), is_hourly(ten, ten + timedelta(minutes=90))
    (True, False)

    """
    first = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return end.astimezone(UTC) <= first + _HOUR


def pieces(
    connection: duckdb.DuckDBPyConnection, assessed: Iterable[Assessment], quarter_hours: set[datetime]
) -> list[Piece]:
    """Return the hourly energy of accepted instruments in the hours of a quarter.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built.
    assessed : iterable of Assessment
        Certificates by their identifier, contracts by contract and month.
    quarter_hours : set of datetime
        Hours with a purchase, UTC.
    """
    accepted = {one.instrument.instrument_id: one.instrument for one in assessed if one.is_accepted}
    rows = connection.execute(
        "SELECT instrument_id, vintage_from_utc, vintage_to_utc, energy_facility_mwh FROM core.certificate "
        "WHERE vintage_to_utc <= vintage_from_utc + INTERVAL 1 HOUR UNION ALL "
        "SELECT concat(instrument_id, ' ', strftime(timezone('UTC', hour_utc), '%Y-%m')), hour_utc, "
        "hour_utc + INTERVAL 1 HOUR, energy_facility_mwh FROM core.delivery_hour ORDER BY ALL"
    ).fetchall()
    found = []
    for name, start, end, energy in rows:
        hour = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        one = accepted.get(name)
        if one is not None and hour in quarter_hours and is_hourly(start, end) and energy:
            rate = one.intensity_gco2e_per_kwh
            found.append(Piece(one.kind, rate, one.market, one.site_id, hour, float(energy)))
    return found


def matched_factors(
    load_mwh: Numbers,
    residual: Numbers,
    markets: Sequence[str],
    sites: Sequence[str],
    held: Iterable[Piece],
    hours: Any,
) -> tuple[Numbers, Numbers, float]:
    """Return the factor of each site and hour, what is covered there, and the surplus.

    Parameters
    ----------
    load_mwh, residual : arrays, shape (s, h)
        Purchase, MWh, and the factor of what is not covered, g/kWh.
    markets, sites : sequences of str, length s
    held : iterable of Piece
    hours : dict of datetime to int
        Place of each hour.

    Returns
    -------
    array (s, h), array (s, h), float
        g/kWh at the meter; MWh covered; MWh that covered nothing.

    Examples
    --------
    >>> hour = datetime(2026, 2, 1, 10, tzinfo=UTC)
    >>> piece = Piece("certificate", 0.0, "US", "", hour, 3.0)
    >>> factor, covered, surplus = matched_factors(
    ...     np.array([[1.0], [3.0]]), np.array([[400.0], [200.0]]), ["US", "US"], ["a", "b"], [piece], {hour: 0})
    >>> factor.ravel().tolist(), covered.ravel().tolist(), surplus
    ([100.0, 50.0], [0.75, 2.25], 0.0)

    """
    groups: dict[tuple[str, str], dict[tuple[int, float], Numbers]] = defaultdict(dict)
    for piece in held:
        key = (KINDS.index(piece.kind), piece.rate_gco2e_per_kwh)
        rows = groups[piece.market, piece.site_id]
        rows.setdefault(key, np.zeros(load_mwh.shape[1]))[hours[piece.hour_utc]] += piece.energy_mwh
    emissions, left, surplus = np.zeros_like(load_mwh), load_mwh.copy(), 0.0
    for bound in (True, False):  # what a site has of its own covers first
        for (market, site), rows in sorted(groups.items()):
            if bool(site) != bound:
                continue
            members = [n for n, name in enumerate(sites) if (name == site if site else markets[n] == market)]
            load = left[members].sum(axis=0)
            order = sorted(rows)
            done = hourly_matched(load, np.array([rows[key] for key in order]), [rate for _, rate in order], 0.0)
            # 0/0 where nothing is bought: nothing is covered there
            share = np.divide(left[members], load, out=np.zeros_like(left[members]), where=load > 0)
            emissions[members] += share * done.emissions_kgco2e
            left[members] = share * done.uncovered_mwh
            surplus += float(done.surplus_mwh.sum())
    total = emissions + left * residual
    factor = np.divide(total, load_mwh, out=residual.copy(), where=load_mwh > 0)
    return factor, load_mwh - left, surplus


def match_quarter(
    connection: duckdb.DuckDBPyConnection, quarter: str, markets: dict[str, str], assessed: Iterable[Assessment]
) -> None:
    """Write the hourly matched factors of one quarter, before the market factors are blended; none without hours.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built, with the temporary table ``purchase_hour``.
    quarter : str
    markets : dict
        Site to market.
    assessed : iterable of Assessment
        Of all instruments, whatever the market method used of them: the two methods are reckoned apart.
    """
    rows = connection.execute(
        "SELECT bought.site_id, bought.hour_utc, bought.purchased_facility_mwh, "
        "rest.intensity_gco2e_per_kwh_facility, rest.factor_id, rest.year_policy, rest.year_note, rest.note "
        "FROM purchase_hour AS bought JOIN core.factor_hour AS rest ON rest.site_id = bought.site_id "
        "AND rest.hour_utc = bought.hour_utc AND rest.method = 'market' WHERE bought.quarter = ? ORDER BY 1, 2",
        [quarter],
    ).fetchall()
    instants = sorted({row[1].astimezone(UTC) for row in rows})
    held = pieces(connection, assessed, set(instants))
    if not held:
        return
    hours = {hour: place for place, hour in enumerate(instants)}
    sites = sorted({row[0] for row in rows})
    place = [(sites.index(row[0]), hours[row[1].astimezone(UTC)]) for row in rows]
    at = tuple(np.array(place).T)
    load, rest = np.zeros((len(sites), len(hours))), np.zeros((len(sites), len(hours)))
    load[at], rest[at] = [row[2] for row in rows], [row[3] for row in rows]
    factor, covered, surplus = matched_factors(load, rest, [markets[site] for site in sites], sites, held, hours)
    insert(
        connection,
        "core.factor_hour",
        {
            "site_id": [row[0] for row in rows],
            "hour_utc": [row[1] for row in rows],
            "method": [METHOD] * len(rows),
            "factor_id": [row[4] for row in rows],
            "intensity_gco2e_per_kwh_facility": factor[at],
            "year_policy": [row[5] for row in rows],
            "year_note": [row[6] for row in rows],
            "note": ["; ".join(part for part in (DRAFT, row[7]) if part) for row in rows],
        },
    )
    _cover_rows(connection, quarter, sites, markets, load, rest, factor, covered, surplus)


def _cover_rows(
    connection: duckdb.DuckDBPyConnection,
    quarter: str,
    sites: Sequence[str],
    markets: dict[str, str],
    load: Numbers,
    rest: Numbers,
    factor: Numbers,
    covered: Numbers,
    surplus: float,
) -> None:
    out = []
    for number, site in enumerate(sites):
        open_mwh = load[number] - covered[number]
        open_kg = float((open_mwh * rest[number]).sum())
        whole_kg = float((load[number] * factor[number]).sum())
        parts = (
            ("instrument", float(covered[number].sum()), max(whole_kg - open_kg, 0.0)),
            ("uncovered", float(open_mwh.sum()), open_kg),
        )
        out += [
            {
                "quarter": quarter,
                "site_id": site,
                "method": METHOD,
                "market": markets[site] or None,
                "cover_kind": kind,
                "instrument_id": None,
                "instrument_kind": None,
                "covered_facility_mwh": energy,
                "intensity_gco2e_per_kwh_facility": emissions / energy,
                "emissions_kgco2e": emissions,
                "note": f"{DRAFT}; surplus of all markets {surplus:.6g} MWh" if kind == "instrument" else DRAFT,
            }
            for kind, energy, emissions in parts
            if energy > 0
        ]
    insert_rows(connection, "core.market_cover", out)
