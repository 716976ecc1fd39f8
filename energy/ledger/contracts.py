"""Instruments of the market method: assessed by quarter, used once, and brought into the factors of the hours.

Quarters are taken in order of date; what one used is not offered to the next. Within a quarter an instrument covers
energy of any hour: the covered part is spread evenly over the purchase of the site. So each hour's market factor is

    covered share × rates of the instruments + uncovered share × factor of what no instrument covers,

and the sum over owners is that of :func:`energy.carbon.market.market_based` (a property test holds both equal).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from energy.carbon.instruments import FAILED, Assessment, Instrument, Use, assess
from energy.carbon.market import MarketBased, Site, market_based
from energy.errors import FactorError, SiteFileError, did_you_mean
from energy.ledger.hourly_matching import match_quarter
from energy.ledger.instrument_ranges import claimed_twice
from energy.ledger.site_file import FILE_NAME, SiteFile
from energy.ledger.tables import insert_rows
from energy.provenance import factor_basis, unnamed_mixes

if TYPE_CHECKING:
    import duckdb

NO_RESIDUAL = "no residual mix is known: the location-based factor stands in"
_VINTAGE = ("vintage_from_utc", "vintage_to_utc")
_TERMS = (
    "intensity_gco2e_per_kwh_facility",
    "market",
    "site_id",
    "registry",
    "cancellation_id",
    "beneficiary",
    "claimed_from_utc",
    "claimed_to_utc",
    "conveys_rate",
    "is_sole_claim",
    "is_delivered",
    "goes_to_reporter",
)


@dataclass(frozen=True, slots=True)
class Held:
    """An instrument of the ledger: as it is assessed, and the period of consumption that it was cancelled for."""

    instrument: Instrument
    rate_gco2e_per_kwh: float | None
    claimed_from: datetime | None
    claimed_to: datetime | None


def market_of(site_file: SiteFile, place: str | None) -> str:
    """Return the market that a place of issue, or the name of a market, belongs to; itself where none is stated.

    Examples
    --------
    >>> market_of(SiteFile.model_construct(markets={"Europe": ("NO", "SE")}), "NO")
    'Europe'
    >>> market_of(SiteFile.model_construct(markets={}), "US")
    'US'

    """
    return next((name for name, places in site_file.markets.items() if place in places), place or "")


def cover(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    """Assess the instruments of the ledger by quarter, and bring what they cover into the market factors.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built: ``core.certificate``, ``core.contract``, ``core.factor_hour`` and the temporary table
        ``purchase_hour`` are filled.
    site_file : SiteFile
        Reporter, markets, rule of the vintage.

    Raises
    ------
    SiteFileError
        No reporter is named, or an instrument covers a site that ``site.yaml`` does not have.
    FactorError
        An instrument covers part of a purchase whose rest carries a lifecycle factor, and the mix is not named.
    """
    held = held_instruments(connection, site_file)
    if not held:
        return
    if not site_file.reporter:
        raise SiteFileError(
            f"{FILE_NAME} names no reporter, and the ledger has certificates or contracts: write `reporter:` with the "
            "name, or the names, for which they are cancelled."
        )
    left = {one.instrument.instrument_id: one.instrument.energy_mwh for one in held}
    shares: list[dict[str, Any]] = []
    for quarter, sites in _purchases(connection, site_file).items():
        offered = [
            replace(one, instrument=replace(one.instrument, energy_mwh=left[one.instrument.instrument_id]))
            for one in held
            if left[one.instrument.instrument_id] > 0 and _is_claimed_in(one, quarter)
        ]
        assessed = _assessed(offered, sites, quarter, site_file)
        found = market_based(sites, assessed)
        used: dict[str, float] = defaultdict(float)
        for part in found.covers:
            used[part.instrument_id] += part.energy_mwh
        before = dict(left)
        for name in used:
            left[name] = found.surplus_mwh.get(name, 0.0)
        rates = {one.instrument.instrument_id: one.rate_gco2e_per_kwh for one in offered}
        insert_rows(connection, "core.instrument", _instrument_rows(quarter, assessed, before, left, used, rates))
        insert_rows(connection, "core.market_cover", _cover_rows(quarter, sites, found, assessed))
        shares += _shares(quarter, sites, found)
        whole = [one for one in held if _is_claimed_in(one, quarter)]
        match_quarter(
            connection,
            quarter,
            {site.site_id: site.market for site in sites},
            _assessed(whole, sites, quarter, site_file),
        )
    _blend(connection, site_file, shares)


def held_instruments(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> list[Held]:
    """Return certificates, contracts and what contracts delivered by month, in the order of their identifiers.

    Raises
    ------
    SiteFileError
        An instrument covers a site that ``site.yaml`` does not have.
    """
    columns = f"instrument_id, instrument_kind, energy_facility_mwh, batch_id, {', '.join((*_VINTAGE, *_TERMS))}"
    cursor = connection.execute(
        f"SELECT {columns} FROM core.certificate UNION ALL SELECT {columns} FROM core.contract ORDER BY instrument_id"
    )
    names = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
    for row in rows:
        if row["site_id"] is not None and row["site_id"] not in site_file.sites:
            raise SiteFileError(
                f"{FILE_NAME} has no site {row['site_id']}, which instrument {row['instrument_id']} covers."
                f"{did_you_mean(row['site_id'], site_file.sites)} Put the site back, or take the file back with "
                f"`energy withdraw {row['batch_id']}`."
            )
    twice = claimed_twice((row["registry"] or "", row["instrument_id"]) for row in rows)
    for row in rows:
        if row["instrument_id"] in twice:
            row["is_sole_claim"] = False
    months = _deliveries(connection)
    terms = {row["instrument_id"]: row for row in rows if row["instrument_kind"] == "contract"}
    rows = [row for row in rows if row["instrument_id"] not in months] + [
        _of_month(name, month, energy, terms.get(name)) for name, of in months.items() for month, energy in of.items()
    ]
    return [_held(row, site_file) for row in rows if row["energy_facility_mwh"]]


def _deliveries(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[date, float]]:
    found: dict[str, dict[date, float]] = defaultdict(dict)
    for name, month, energy in connection.execute(
        "SELECT instrument_id, CAST(date_trunc('month', timezone('UTC', hour_utc)) AS DATE) AS month, "
        "CAST(sum(CAST(energy_facility_mwh AS DECIMAL(38, 12))) AS DOUBLE) FROM core.delivery_hour GROUP BY 1, 2 "
        "ORDER BY 1, 2"
    ).fetchall():
        found[name][month] = energy
    return dict(found)


def delivery_id(name: str, month: date) -> str:
    """Return the identifier of what a contract delivered in a month.

    Examples
    --------
    >>> delivery_id("ppa-1", date(2026, 3, 1))
    'ppa-1 2026-03'

    """
    return f"{name} {month:%Y-%m}"


def _of_month(name: str, month: date, energy: float, terms: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a contract delivered in one month as an instrument with the contract's terms, or without any."""
    after = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    stated: dict[str, Any] = dict.fromkeys(_TERMS) | dict(terms or {})
    number = stated["cancellation_id"]
    return stated | {
        "instrument_id": delivery_id(name, month),
        "instrument_kind": "contract",
        "energy_facility_mwh": energy,
        "vintage_from_utc": datetime.combine(month, time(), UTC),
        "vintage_to_utc": datetime.combine(after, time(), UTC),
        "cancellation_id": None if number is None else f"{number} {month:%Y-%m}",
    }


def _held(row: Mapping[str, Any], site_file: SiteFile) -> Held:
    rate = row["intensity_gco2e_per_kwh_facility"]
    names = {name.strip().casefold() for name in site_file.reporter}
    beneficiary = row["beneficiary"] or ""
    is_reporter = beneficiary.strip().casefold() in names
    instrument = Instrument(
        row["instrument_id"],
        row["instrument_kind"],
        float(row["energy_facility_mwh"]),
        0.0 if rate is None else rate,  # one without a rate covers nothing: criterion 1 sets it aside
        _utc(row["vintage_from_utc"]).date(),
        (_utc(row["vintage_to_utc"]) + timedelta(days=1, microseconds=-1)).date(),
        market_of(site_file, row["market"]),
        row["site_id"] or "",
        False if rate is None else row["conveys_rate"],
        row["is_sole_claim"],
        row["is_delivered"],
        row["goes_to_reporter"],
        row["registry"] or "",
        row["cancellation_id"] or "",
        site_file.reporter[0] if is_reporter else beneficiary,
    )
    return Held(instrument, rate, row["claimed_from_utc"], row["claimed_to_utc"])


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def quarter_days(quarter: str) -> tuple[date, date]:
    """Return the first day of a quarter and the day after its last.

    Examples
    --------
    >>> [day.isoformat() for day in quarter_days("2026Q4")]
    ['2026-10-01', '2027-01-01']

    """
    year, number = int(quarter[:4]), int(quarter[5:])
    return date(year, 3 * number - 2, 1), date(year + number // 4, 3 * number % 12 + 1, 1)


def _is_claimed_in(one: Held, quarter: str) -> bool:
    start, end = quarter_days(quarter)
    begins = one.claimed_from is None or _utc(one.claimed_from).date() < end
    return begins and (one.claimed_to is None or _utc(one.claimed_to - timedelta(microseconds=1)).date() >= start)


def _purchases(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> dict[str, list[Site]]:
    """Return the purchase of every site by quarter in order of date, with its mean factors weighted by the purchase."""
    rows = connection.execute(
        """
        SELECT bought.quarter, bought.site_id, sum(bought.purchased_facility_mwh) AS mwh,
            sum(bought.purchased_facility_mwh * rest.intensity_gco2e_per_kwh_facility) AS market_kg,
            sum(bought.purchased_facility_mwh * location.intensity_gco2e_per_kwh_facility) AS location_kg,
            bool_and(fact.factor_kind = 'residual') AS has_residual
        FROM purchase_hour AS bought
        JOIN core.factor_hour AS rest
            ON rest.site_id = bought.site_id AND rest.hour_utc = bought.hour_utc AND rest.method = 'market'
        JOIN core.factor_hour AS location
            ON location.site_id = bought.site_id AND location.hour_utc = bought.hour_utc
            AND location.method = 'location'
        JOIN ref.factor AS fact ON fact.factor_id = rest.factor_id
        GROUP BY bought.quarter, bought.site_id ORDER BY bought.quarter, bought.site_id
        """
    ).fetchall()
    found: dict[str, dict[str, Site]] = {}
    for quarter, site_id, mwh, market, location, has_residual in rows:
        rest = market / mwh if mwh else 0.0
        # without a residual mix the rest carries what the hours say too: the location-based factor stands in there
        found.setdefault(quarter, {})[site_id] = Site(
            site_id,
            market_of(site_file, site_file.sites[site_id].market),
            mwh,
            rest if not has_residual else (location / mwh if mwh else 0.0),
            rest if has_residual else None,
        )
    empty = {
        site_id: Site(site_id, market_of(site_file, site.market), 0.0, 0.0, 0.0)
        for site_id, site in site_file.sites.items()
    }
    return {quarter: list((empty | of).values()) for quarter, of in found.items()}


def _assessed(
    offered: Sequence[Held], sites: Sequence[Site], quarter: str, site_file: SiteFile
) -> tuple[Assessment, ...]:
    markets = {site.site_id: site.market for site in sites}
    start, end = quarter_days(quarter)
    use = Use(
        site_file.reporter[0],
        start,
        end,
        frozenset(market for market in markets.values() if market),
        residual_is_known=all(site.residual_gco2e_per_kwh is not None for site in sites),
        vintage_months=site_file.vintage_months,
    )
    found = assess([one.instrument for one in offered], use)
    return tuple(_of_its_site(one, markets) for one in found)


def _of_its_site(one: Assessment, markets: Mapping[str, str]) -> Assessment:
    """Hold an instrument of one site against the market of that site, not of any."""
    place, market = one.instrument.site_id, one.instrument.market
    if not place or not market or markets[place] == market:
        return one
    results, remarks = list(one.results), list(one.remarks)
    results[4] = FAILED
    remarks[4] = f"issued in {market}, site {place} consumes in {markets[place] or 'no market'}"
    return Assessment(one.instrument, tuple(results), tuple(remarks))


def _instrument_rows(
    quarter: str,
    assessed: Iterable[Assessment],
    before: Mapping[str, float],
    left: Mapping[str, float],
    used: Mapping[str, float],
    rates: Mapping[str, float | None],
) -> list[dict[str, Any]]:
    return [
        {
            "quarter": quarter,
            "instrument_id": one.instrument.instrument_id,
            "instrument_kind": one.instrument.kind,
            "market": one.instrument.market or None,
            "site_id": one.instrument.site_id or None,
            "offered_facility_mwh": before[one.instrument.instrument_id],
            "used_facility_mwh": used.get(one.instrument.instrument_id, 0.0),
            "left_facility_mwh": left[one.instrument.instrument_id],
            "intensity_gco2e_per_kwh_facility": rates[one.instrument.instrument_id],
            "is_accepted": one.is_accepted,
            **{f"criterion_{number}": result for number, result in enumerate(one.results, 1)},
            "failed_criteria": "; ".join(one.failed),
        }
        for one in assessed
    ]


def _cover_rows(
    quarter: str, sites: Sequence[Site], found: MarketBased, assessed: Sequence[Assessment]
) -> list[dict[str, Any]]:
    kinds = {one.instrument.instrument_id: one.instrument.kind for one in assessed}
    markets = {site.site_id: site.market or None for site in sites}
    bought = {site.site_id: site.purchased_mwh for site in sites}
    rows = [
        {
            "quarter": quarter,
            "site_id": part.site_id,
            "method": "market",
            "market": markets[part.site_id],
            "cover_kind": "instrument",
            "instrument_id": part.instrument_id,
            "instrument_kind": kinds[part.instrument_id],
            "covered_facility_mwh": part.energy_mwh,
            "intensity_gco2e_per_kwh_facility": part.intensity_gco2e_per_kwh,
            "emissions_kgco2e": part.emissions_kgco2e,
            "note": None,
        }
        for part in found.covers
    ]
    rows += [
        {
            "quarter": quarter,
            "site_id": site,
            "method": "market",
            "market": markets[site],
            "cover_kind": "uncovered",
            "instrument_id": None,
            "instrument_kind": None,
            "covered_facility_mwh": energy,
            "intensity_gco2e_per_kwh_facility": found.uncovered_gco2e_per_kwh[site],
            "emissions_kgco2e": energy * found.uncovered_gco2e_per_kwh[site],
            "note": NO_RESIDUAL if site in found.without_residual else "residual mix",
        }
        for site, energy in found.uncovered_mwh.items()
        if bought[site] > 0
    ]
    return rows


def _shares(quarter: str, sites: Sequence[Site], found: MarketBased) -> list[dict[str, Any]]:
    """Return which part of a site's purchase instruments cover, their rates weighted by it, and the uncovered part."""
    covered: dict[str, float] = defaultdict(float)
    emissions: dict[str, float] = defaultdict(float)
    for part in found.covers:
        covered[part.site_id] += part.energy_mwh
        emissions[part.site_id] += part.emissions_kgco2e
    return [
        {
            "quarter": quarter,
            "site_id": site.site_id,
            "share": covered[site.site_id] / site.purchased_mwh,
            "part_gco2e_per_kwh": emissions[site.site_id] / site.purchased_mwh,
            "rest": found.uncovered_mwh[site.site_id] / site.purchased_mwh,
        }
        for site in sites
        if covered.get(site.site_id)
    ]


_BLEND = """
UPDATE core.factor_hour AS used
SET intensity_gco2e_per_kwh_facility =
        part.part_gco2e_per_kwh + part.rest * used.intensity_gco2e_per_kwh_facility,
    note = concat_ws('; ', nullif(used.note, ''), concat(
        round(100 * part.share, 1), ' % of the purchase of ', part.quarter, ' covered by instruments, the rest by this '
        'factor of ', round(used.intensity_gco2e_per_kwh_facility, 3), ' g/kWh: view market_coverage'))
FROM covered_quarter AS part
JOIN ref.calendar_hour AS calendar ON calendar.quarter = part.quarter
WHERE used.method = 'market' AND used.site_id = part.site_id AND used.hour_utc = calendar.hour_utc
"""


def _blend(connection: duckdb.DuckDBPyConnection, site_file: SiteFile, shares: list[dict[str, Any]]) -> None:
    """Let each hour of a covered quarter carry the covered share at its rates and the rest at its own factor."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE covered_quarter (quarter VARCHAR, site_id VARCHAR, share DOUBLE, "
        "part_gco2e_per_kwh DOUBLE, rest DOUBLE)"
    )
    insert_rows(connection, "covered_quarter", shares)
    rows = connection.execute(
        "SELECT DISTINCT part.site_id, fact.boundary, fact.factor_attribution, fact.gases, fact.gwp_set "
        "FROM covered_quarter AS part JOIN ref.calendar_hour AS calendar ON calendar.quarter = part.quarter "
        "JOIN core.factor_hour AS used ON used.site_id = part.site_id AND used.hour_utc = calendar.hour_utc "
        "JOIN ref.factor AS fact ON fact.factor_id = used.factor_id "
        "WHERE used.method = 'market' AND part.rest > 0 ORDER BY ALL"
    ).fetchall()
    for site_id, boundary, attribution, gases, gwp_set in rows:
        basis = factor_basis(boundary, attribution, gases, gwp_set)
        if unnamed_mixes([basis, factor_basis("direct", attribution, gases, gwp_set)], site_file.basis_mix or ""):
            raise FactorError(
                f"Site {site_id}: instruments carry direct rates, and what they leave uncovered a {boundary} factor. "
                "Set boundary: direct where the zone has such a factor, or name basis_mix: direct+lifecycle in "
                "site.yaml."
            )
    connection.execute(_BLEND)
