"""The market method of the ledger and of the function are one: equal sums on random rows, nothing used twice."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.carbon.instruments import Instrument, Use, assess
from energy.carbon.market import Site, market_based
from energy.ledger import build
from energy.ledger.contracts import cover
from energy.ledger.site_file import SiteFile
from energy.schema import METHODS, TABLES
from energy.schema.ddl import create_table

SITES = {"a": "US", "b": "US", "c": "EU"}
HOURS = [datetime(2026, 3, 31, 21, tzinfo=UTC) + timedelta(hours=shift) for shift in range(6)]  # over a quarter's edge
QUARTERS = {"2026Q1": (date(2026, 1, 1), date(2026, 4, 1)), "2026Q2": (date(2026, 4, 1), date(2026, 7, 1))}
SITE_FILE = SiteFile.model_validate(
    {
        "reporter": "R",
        "sites": {site: {"zone": "RFCE", "pue": 1.2, "market": market} for site, market in SITES.items()},
    }
)
FOLDER = Path(build.__file__).parent / "sql"
energies = st.floats(0.1, 1e5)
rates = st.one_of(st.just(0.0), st.floats(0.01, 1500))


def quarter_of(hour):
    return f"2026Q{(hour.month + 2) // 3}"


@st.composite
def worlds(draw):
    """Draw lines of energy, factors by site and hour, shares bought from the grid, and certificates."""
    lines = draw(
        st.lists(
            st.tuples(st.sampled_from(HOURS), st.sampled_from(sorted(SITES)), st.sampled_from("pq"), energies),
            min_size=1,
            max_size=15,
        )
    )
    shares = {(site, hour): draw(st.one_of(st.just(1.0), st.floats(0, 1))) for site in SITES for hour in HOURS}
    factors = {(site, hour): draw(rates) for site in SITES for hour in HOURS}
    whole = 1.5 * sum(energy for *_, energy in lines) / 1000
    instruments = draw(
        st.lists(
            st.tuples(
                st.floats(0.001, 1.0),
                rates,
                st.sampled_from(["US", "EU", "AIB"]),
                st.sampled_from([None, *SITES]),
                st.sampled_from([2025, 2026]),
                st.sampled_from(["R", "other"]),
            ),
            max_size=6,
        )
    )
    return lines, shares, factors, [(part * whole, *rest) for part, *rest in instruments]


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        for layer in ("raw", "ref", "core"):
            opened.execute(f"CREATE SCHEMA {layer}")
        for table in TABLES.values():
            if table.kind == "table":
                opened.execute(create_table(table))
        for view in (table for table in TABLES.values() if table.kind == "view"):
            opened.execute(f"CREATE VIEW {view.full_name} AS {(FOLDER / f'{view.name}.sql').read_text()}")
        put(
            opened,
            "ref.calendar_hour",
            *(
                {
                    "hour_utc": hour,
                    "local_date": f"{hour:%Y-%m-%d}",
                    "local_hour": hour.hour,
                    "month": f"{hour:%Y-%m}",
                    "quarter": quarter_of(hour),
                    "year": hour.year,
                }
                for hour in HOURS
            ),
        )
        words = ("basis", "source", "edition", "licence", "publisher", "zone_id")
        facts = {"factor_kind": "residual", "factor_year": 2026, "boundary": "direct", "gases": "CO2e"}
        facts |= {"factor_attribution": "production", "gwp_set": "AR5", "status": "catalogue"}
        put(opened, "ref.factor", {"factor_id": "f"} | facts | dict.fromkeys(words, "-"))
        put(opened, "ref.factor", {"factor_id": "g"} | facts | dict.fromkeys(words, "other"))
        yield opened


def put(connection, table, *records):
    if records:
        marks = ", ".join([f"({', '.join('?' * len(records[0]))})"] * len(records))
        values = [value for record in records for value in record.values()]
        connection.execute(f"INSERT INTO {table} ({', '.join(records[0])}) VALUES {marks}", values)


def load(connection, world):
    lines, shares, factors, instruments = world
    for name in ("energy_hour", "pue_hour", "supply_hour", "factor_hour", "certificate", "instrument", "market_cover"):
        connection.execute(f"DELETE FROM core.{name}")
    places = [{"site_id": site, "hour_utc": hour} for site in SITES for hour in HOURS]
    known = {"source": "t", "status": "given"}
    put(
        connection,
        "core.pue_hour",
        *(place | {"pue": 1.0, "pue_low": 1.0, "pue_high": 1.0} | known for place in places),
    )
    put(
        connection,
        "core.supply_hour",
        *(place | {"grid_share": shares[place["site_id"], place["hour_utc"]]} | known for place in places),
    )
    put(
        connection,
        "core.factor_hour",
        *(
            place
            | {"method": method, "factor_id": "f", "year_policy": "exact", "year_note": "-"}
            | {"intensity_gco2e_per_kwh_facility": factors[place["site_id"], place["hour_utc"]]}
            for place in places
            for method in ("location", "market")
        ),
    )
    ends = {f"node_overhead{end}": 1.0 for end in ("", "_low", "_high")} | {"node_overhead_status": "given"}
    put(
        connection,
        "core.energy_hour",
        *(
            {"hour_utc": hour, "site_id": site, "owner_kind": "project", "owner": owner, "tier": "measured"}
            | {"attribution": "device", "chip_h": 1.0}
            | {f"energy_chip{end}_kwh": energy for end in ("", "_low", "_high")}
            | ends
            for hour, site, owner, energy in lines
        ),
    )
    put(
        connection,
        "core.certificate",
        *(
            {"batch_id": 1, "row_number": number, "instrument_id": f"i{number}", "instrument_kind": "certificate"}
            | {"energy_facility_mwh": mwh, "intensity_gco2e_per_kwh_facility": rate, "market": market, "site_id": site}
            | {
                "vintage_from_utc": datetime(year, 1, 1, tzinfo=UTC),
                "vintage_to_utc": datetime(year + 1, 1, 1, tzinfo=UTC),
            }
            | {"registry": "X", "cancellation_id": f"c{number}", "beneficiary": whom}
            for number, (mwh, rate, market, site, year, whom) in enumerate(instruments)
        ),
    )


def expected(world):
    """Reckon quarter by quarter with the functions: totals, and what is left of each instrument."""
    lines, shares, factors, instruments = world
    left = {
        f"i{number}": Instrument(
            f"i{number}",
            "certificate",
            mwh,
            rate,
            date(year, 1, 1),
            date(year + 1, 1, 1),
            market,
            site or "",
            registry="X",
            cancellation_id=f"c{number}",
            beneficiary=whom,
        )
        for number, (mwh, rate, market, site, year, whom) in enumerate(instruments)
        if site is None or SITES[site] == market
    }
    totals = {}
    for quarter, (start, end) in QUARTERS.items():
        bought, weighed = defaultdict(float), defaultdict(float)
        for hour, site, _, energy in lines:
            if quarter_of(hour) == quarter:
                amount = energy * shares[site, hour] / 1000
                bought[site] += amount
                weighed[site] += amount * factors[site, hour]
        if not any(quarter_of(hour) == quarter for hour, *_ in lines):
            continue
        sites = [
            Site(site, SITES[site], bought[site], 0.0, weighed[site] / bought[site] if bought[site] else 0.0)
            for site in SITES
        ]
        use = Use("R", start, end, frozenset(SITES.values()))
        found = market_based(sites, assess(list(left.values()), use))
        totals[quarter] = found.market_kgco2e
        for name in {part.instrument_id for part in found.covers}:
            rest = found.surplus_mwh.get(name, 0.0)
            one = left.pop(name)
            if rest > 0:
                names = Instrument.__slots__
                left[name] = Instrument(**{key: getattr(one, key) for key in names} | {"energy_mwh": rest})
        left = dict(sorted(left.items()))
    return totals


@settings(deadline=None, max_examples=60)
@given(world=worlds())
def test_owners_add_up_to_the_market_based_total(connection, world):
    load(connection, world)
    connection.execute((FOLDER / "build" / "75_purchase.sql").read_text())
    cover(connection, SITE_FILE)
    found = dict(
        connection.execute(
            "SELECT quarter, CAST(sum(emissions_kgco2e) AS DOUBLE) FROM emission_lines WHERE method = 'market' "
            "GROUP BY quarter"
        ).fetchall()
    )
    for quarter, total in expected(world).items():
        assert math.isclose(found[quarter], total, rel_tol=1e-9, abs_tol=1e-6), quarter


@settings(deadline=None, max_examples=60)
@given(world=worlds())
def test_no_instrument_covers_more_than_it_is_and_no_site_more_than_it_buys(connection, world):
    load(connection, world)
    connection.execute((FOLDER / "build" / "75_purchase.sql").read_text())
    cover(connection, SITE_FILE)
    lines, shares, _, instruments = world
    used = dict(
        connection.execute(
            "SELECT instrument_id, sum(covered_facility_mwh) FROM market_coverage WHERE method = 'market' "
            "AND instrument_id IS NOT NULL GROUP BY instrument_id"
        ).fetchall()
    )
    for name, amount in used.items():
        assert float(amount) <= instruments[int(name[1:])][0] * (1 + 1e-9) + 1e-11
    if not instruments:
        return
    bought = defaultdict(float)
    for hour, site, _, energy in lines:
        bought[quarter_of(hour), site] += energy * shares[site, hour] / 1000
    shown = {
        (quarter, site): amount
        for quarter, site, amount in connection.execute(
            "SELECT quarter, site_id, sum(covered_facility_mwh) FROM market_coverage WHERE method = 'market' "
            "GROUP BY quarter, site_id"
        ).fetchall()
    }
    for key, amount in bought.items():
        assert math.isclose(shown.get(key, 0.0), amount, rel_tol=1e-9, abs_tol=1e-11)


SUMS = (
    "chip_h",
    *(
        f"{what}{end}_{unit}"
        for what, unit in (("energy_facility", "kwh"), ("emissions", "kgco2e"))
        for end in ("", "_low", "_high")
    ),
)
VIEWS = {
    "emissions_quarterly": "quarter, site_id, owner_kind, owner, scope, category, method, basis",
    "emissions_monthly": "month, quarter, site_id, owner_kind, owner, chip_id, tier, scope, category, method, basis",
}


@pytest.mark.parametrize("view", VIEWS)
@settings(deadline=None, max_examples=30)
@given(world=worlds(), hourly=st.sets(st.sampled_from(HOURS)), unknown=st.sets(st.integers(0, 14)))
def test_a_view_by_owner_says_to_the_last_digit_what_its_lines_add_up_to(connection, view, world, hourly, unknown):
    load(connection, world)
    for number in unknown:  # lines whose energy is not known
        values = ", ".join(f"energy_chip{end}_kwh = NULL" for end in ("", "_low", "_high"))
        connection.execute(f"UPDATE core.energy_hour SET {values}, tier = 'missing' WHERE rowid % 15 = {number}")
    for hour in hourly:  # hours in which one site has a third method, of another basis
        connection.execute(
            "INSERT INTO core.factor_hour SELECT site_id, hour_utc, 'hourly', 'g', "
            "intensity_gco2e_per_kwh_facility + 1, year_policy, year_note, note FROM core.factor_hour "
            "WHERE site_id = 'a' AND method = 'market' AND hour_utc = ?",
            [hour],
        )
    keys, sums = VIEWS[view], ", ".join(SUMS)
    added = ", ".join(f"CAST(sum({name}) AS DECIMAL(38, 12)) AS {name}" for name in SUMS)
    shown = connection.execute(f"SELECT {keys}, {sums} FROM {view} ORDER BY ALL").fetchall()
    lines = connection.execute(f"SELECT {keys}, {added} FROM emission_lines GROUP BY {keys} ORDER BY ALL").fetchall()
    assert shown == lines


def test_the_views_by_owner_know_every_method_that_an_hour_may_have():
    side_by_side = set(METHODS) - {"marginal"}
    text = (FOLDER / "site_hourly.sql").read_text()
    assert {name for name in METHODS if f".method = '{name}'" in text} == side_by_side
    text = (FOLDER / "emissions_monthly.sql").read_text()
    assert {name for name in METHODS if f"'{name}' AS method" in text} == side_by_side
