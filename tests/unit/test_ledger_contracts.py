"""Certificates and contracts in the ledger: each once, assessed, used once, and what they leave on the residual mix."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from tiny_fleet import Fleet, host, site

from energy.carbon.instruments import Instrument as Assessed
from energy.carbon.instruments import Use, assess
from energy.carbon.market import Site, market_based
from energy.errors import EnergyError
from energy.ledger.intake import Request, ingest, rebuild, withdraw

PLAIN = (
    "instrument_id,instrument_kind,energy_mwh,intensity_gco2e_per_kwh,vintage_from,vintage_to,market,site,registry,"
    "cancellation_id,beneficiary,conveys_rate,is_sole_claim,is_delivered,goes_to_reporter"
)
REPORTER = "Example Ltd"


def certificate(name, mwh, market="US", start="2026-01-01", end="2027-01-01", rate=0, site_id="", **changes):
    """Write one row of the plain table: a certificate that meets every criterion."""
    cells = {
        "instrument_id": name,
        "instrument_kind": "certificate",
        "energy_mwh": mwh,
        "intensity_gco2e_per_kwh": rate,
        "vintage_from": start,
        "vintage_to": end,
        "market": market,
        "site": site_id,
        "registry": "M-RETS",
        "cancellation_id": f"R-{name}",
        "beneficiary": REPORTER,
    } | changes
    return ",".join(str(cells.get(column, "")) for column in PLAIN.split(","))


@pytest.fixture
def fleet(tmp_path):
    """Two sites of one market with a residual mix; each job takes 8 H100 for two hours in each of two quarters."""
    made = Fleet(
        tmp_path / "ledger",
        {
            "a": site([host("a-1", 8)], zone="RFCE", residual_zone="RFCE", market="US"),
            "b": site([host("b-1", 8)], zone="CAMX", residual_zone="CAMX", market="US"),
        },
        {"reporter": REPORTER, "factor_policy": "nearest any"},
    )
    rows = [
        {"id": f"{place}-{month}", "host": f"{place}-1", "project": project, "chips": 8}
        | {"start": f"2026-0{month}-05T10:30:00Z", "end": f"2026-0{month}-05T12:30:00Z"}
        for month, project in ((2, "p"), (5, "q"))
        for place in ("a", "b")
    ]
    made.ingest(made.jobs(rows, "2026-02-05 10:00", "2026-05-05 13:00"))
    return made


def bring(fleet, format_name, *lines, header=PLAIN, name="statement.csv", **options):
    path = fleet.folder.parent / name
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    fleet.describe()
    (done,) = ingest(fleet.folder, [Request(format_name, path, **options)], threads=1)
    return done


def totals(fleet, method="market"):
    where = f"method = '{method}'"
    return fleet.total("emissions_kgco2e", "quarter", "site_id", view="emissions_quarterly", where=where)


def purchases(fleet):
    return fleet.total("energy_facility_kwh / 1000", "quarter", "site_id", view="energy_monthly")


def factors(fleet):
    """Return the residual mix of each site, as the catalogue has it."""
    rows = fleet.rows(
        "SELECT DISTINCT used.site_id, fact.factor_kind, "
        "CAST(coalesce(fact.intensity_gco2e_per_kwh_generation, 0) AS DOUBLE) AS rest "
        "FROM core.factor_hour AS used JOIN ref.factor AS fact USING (factor_id) WHERE used.method = 'market'"
    )
    assert {row["factor_kind"] for row in rows} == {"residual"}
    return {row["site_id"]: row["rest"] for row in rows}


def test_without_instruments_nothing_of_the_market_method_is_stored(fleet):
    assert fleet.rows("SELECT * FROM market_coverage") == []
    assert fleet.rows("SELECT * FROM instruments") == []
    bought = purchases(fleet)
    for (quarter, place), found in totals(fleet).items():
        assert found == pytest.approx(bought[quarter, place] * factors(fleet)[place], rel=1e-9)


def test_a_certificate_covers_sites_in_their_order_and_the_next_quarter_gets_what_is_left(fleet):
    bought = purchases(fleet)
    first = bought["2026Q1", "a"] + bought["2026Q1", "b"] / 2
    done = bring(fleet, "certificates", certificate("c-1", first), certificate("c-2", bought["2026Q1", "b"], rate=12.5))
    assert (done.rows_accepted, done.rows_rejected) == (2, 0)
    found = totals(fleet)
    assert found["2026Q1", "a"] == pytest.approx(0, abs=1e-9)
    assert found["2026Q1", "b"] == pytest.approx(bought["2026Q1", "b"] / 2 * 12.5, rel=1e-9)
    # half of the second certificate is left for the second quarter's first site
    half = bought["2026Q1", "b"] / 2
    rest = bought["2026Q2", "a"] - half
    assert found["2026Q2", "a"] == pytest.approx(half * 12.5 + rest * factors(fleet)["a"], rel=1e-9)
    assert found["2026Q2", "b"] == pytest.approx(bought["2026Q2", "b"] * factors(fleet)["b"], rel=1e-9)
    used = fleet.total("used_facility_mwh", "instrument_id", view="instruments")
    assert used == pytest.approx({"c-1": first, "c-2": bought["2026Q1", "b"]})


def test_the_sum_over_owners_is_that_of_the_function(fleet):
    bought = purchases(fleet)
    rows = [("c-1", 0.4 * bought["2026Q1", "a"], 3.0, "a"), ("c-2", 0.7 * bought["2026Q1", "b"], 30.0, "")]
    bring(fleet, "certificates", *(certificate(name, mwh, rate=rate, site_id=at) for name, mwh, rate, at in rows))
    instruments = [
        Assessed(
            name,
            "certificate",
            mwh,
            rate,
            date(2026, 1, 1),
            date(2027, 1, 1),
            "US",
            at,
            registry="M-RETS",
            cancellation_id=name,
            beneficiary=REPORTER,
        )
        for name, mwh, rate, at in rows
    ]
    use = Use(REPORTER, date(2026, 1, 1), date(2026, 4, 1), frozenset({"US"}))
    expected = market_based(
        [Site(place, "US", bought["2026Q1", place], 0.0, factors(fleet)[place]) for place in ("a", "b")],
        assess(instruments, use),
    )
    found = sum(value for (quarter, _), value in totals(fleet).items() if quarter == "2026Q1")
    assert found == pytest.approx(expected.market_kgco2e, rel=1e-9)
    shown = fleet.rows(
        "SELECT cover_kind, sum(covered_facility_mwh) AS mwh FROM market_coverage WHERE quarter = '2026Q1' "
        "AND method = 'market' GROUP BY cover_kind"
    )
    assert {row["cover_kind"]: float(row["mwh"]) for row in shown} == pytest.approx(
        {
            "instrument": sum(part.energy_mwh for part in expected.covers),
            "uncovered": sum(expected.uncovered_mwh.values()),
        }
    )


def test_other_methods_stay_as_they_were(fleet):
    before = fleet.rows("SELECT * FROM emissions_monthly WHERE method = 'location' ORDER BY ALL")
    bring(fleet, "certificates", certificate("c-1", 1000))
    assert fleet.rows("SELECT * FROM emissions_monthly WHERE method = 'location' ORDER BY ALL") == before
    assert sum(totals(fleet).values()) == 0


def test_surplus_changes_nothing_and_is_shown(fleet):
    bought = sum(purchases(fleet).values())
    bring(fleet, "certificates", certificate("c-1", 5 * bought))
    assert set(totals(fleet).values()) == {0.0}
    rows = fleet.rows("SELECT quarter, left_facility_mwh FROM instruments ORDER BY quarter")
    assert float(rows[-1]["left_facility_mwh"]) == pytest.approx(4 * bought)


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({"beneficiary": "Another Ltd"}, "3. tracked"),
        ({"cancellation_id": ""}, "3. tracked"),
        ({"market": "AIB"}, "5. same market"),
        ({"market": ""}, "5. same market"),
        ({"start": "2024-01-01", "end": "2025-01-01"}, "4. vintage"),
        ({"rate": ""}, "1. conveys"),
        ({"is_sole_claim": "no"}, "2. only instrument"),
        ({"instrument_kind": "contract", "conveys_rate": "yes", "is_sole_claim": "yes"}, "7. all instruments"),
        ({"instrument_kind": "supplier rate", "conveys_rate": "yes", "is_sole_claim": "yes"}, "6. supplier rate"),
    ],
)
def test_an_instrument_that_fails_a_criterion_is_set_aside_and_listed(fleet, changes, failed):
    before = totals(fleet)
    bring(fleet, "certificates", certificate("c-1", 1000, **changes))
    assert totals(fleet) == before
    rows = fleet.rows("SELECT * FROM instruments")
    assert rows
    assert all(not row["is_accepted"] and row["failed_criteria"].startswith(failed) for row in rows)


def test_one_that_is_bound_to_a_site_of_another_market_is_set_aside(fleet):
    fleet.sites["b"]["market"] = "AIB"
    before = totals(fleet)
    bring(fleet, "certificates", certificate("c-1", 1000, market="AIB", site_id="a"))
    assert totals(fleet) == before
    (row, *_) = fleet.rows("SELECT * FROM instruments")
    assert "issued in AIB, site a consumes in US" in row["failed_criteria"]


def test_places_of_issue_belong_to_the_market_that_the_site_file_states(fleet):
    fleet.top["markets"] = {"North": ["NO", "SE"]}
    for place in fleet.sites.values():
        place["market"] = "North"
    bring(fleet, "certificates", certificate("c-1", 1000, market="SE"), certificate("c-2", 1000, market="ES"))
    accepted = {row["instrument_id"]: row["is_accepted"] for row in fleet.rows("SELECT * FROM instruments")}
    assert accepted == {"c-1": True, "c-2": False}


def test_a_range_that_overlaps_an_earlier_one_is_claimed_once(fleet):
    bring(fleet, "certificates", certificate("x-001..x-100", 100), certificate("x-100..x-120", 21))
    rows = fleet.rows("SELECT DISTINCT instrument_id, is_accepted, criterion_2 FROM instruments ORDER BY 1")
    assert [tuple(row.values()) for row in rows] == [
        ("x-001..x-100", True, "passed"),
        ("x-100..x-120", False, "failed"),
    ]


def test_the_same_statement_twice_counts_once_and_another_one_contradicts(fleet):
    assert bring(fleet, "certificates", certificate("c-1", 10)).rows_accepted == 1
    before = totals(fleet)
    assert bring(fleet, "certificates", certificate("c-1", 10)).batch_id is None
    again = bring(fleet, "certificates", certificate("c-1", 10), certificate("c-2", 1), name="later.csv")
    assert again.rows_rejected == 0
    assert [row["n"] for row in fleet.rows("SELECT count(*) AS n FROM core.certificate")] == [2]
    other = bring(fleet, "certificates", certificate("c-1", 11), name="other.csv")
    assert (other.rows_accepted, other.rows_rejected) == (0, 1)
    assert "contradicts" in other.first_reject
    withdraw(fleet.folder, other.batch_id, threads=1)
    withdraw(fleet.folder, again.batch_id, threads=1)
    assert totals(fleet) == before


def test_a_certificate_that_is_cancelled_later_is_used_from_then_on(fleet):
    before = totals(fleet)
    bring(fleet, "certificates", certificate("c-1", 1000, cancellation_id="", beneficiary=""))
    assert totals(fleet) == before
    done = bring(fleet, "certificates", certificate("c-1", 1000), name="cancelled.csv")
    assert done.rows_rejected == 0
    assert sum(totals(fleet).values()) == 0


def test_no_reporter_is_one_line_and_nothing_is_published(fleet):
    del fleet.top["reporter"]
    version = fleet.rows("SELECT count(*) AS n FROM raw.batch")
    with pytest.raises(EnergyError, match="names no reporter"):
        bring(fleet, "certificates", certificate("c-1", 10))
    assert fleet.rows("SELECT count(*) AS n FROM raw.batch") == version


def test_direct_rates_beside_a_lifecycle_rest_need_a_name(fleet):
    fleet.sites["a"] |= {"zone": "SGP", "residual_zone": "SGP"}
    with pytest.raises(EnergyError, match=r"direct\+lifecycle"):
        bring(fleet, "certificates", certificate("c-1", 0.001, site_id="a"))
    fleet.top["basis_mix"] = "direct+lifecycle"
    bring(fleet, "certificates", certificate("c-1", 0.001, site_id="a"))
    notes = {row["note"] for row in fleet.rows("SELECT note FROM market_coverage WHERE cover_kind = 'uncovered'")}
    assert "no residual mix is known: the location-based factor stands in" in notes


def test_a_contract_takes_the_energy_of_its_deliveries_month_by_month(fleet):
    terms = {"instrument_kind": "contract", "conveys_rate": "yes", "is_sole_claim": "yes", "goes_to_reporter": "yes"}
    bring(fleet, "contracts", certificate("ppa-1", "", **terms), name="terms.csv")
    hours = [f"ppa-1,2026-02-0{day}T00:00:00Z,0.0005" for day in (1, 2, 3)]
    bring(fleet, "deliveries", *hours, header="contract_id,hour_utc,energy_mwh", name="hours.csv")
    rows = fleet.rows(
        "SELECT quarter, instrument_id, CAST(offered_facility_mwh AS DOUBLE) AS mwh, is_accepted FROM instruments "
        "ORDER BY quarter"
    )
    assert tuple(rows[0].values()) == ("2026Q1", "ppa-1 2026-02", pytest.approx(0.0015), True)
    assert fleet.total("covered_facility_mwh", view="market_coverage", where="cover_kind = 'instrument'") == {
        "all": pytest.approx(0.0015)
    }


def test_deliveries_without_terms_cover_nothing(fleet):
    before = totals(fleet)
    bring(fleet, "deliveries", "2026-02-01T00:00:00Z,5", header="hour_utc,energy_mwh", name="ppa-9.csv")
    assert totals(fleet) == before
    (row, *_) = fleet.rows("SELECT * FROM instruments")
    assert (row["instrument_id"], row["is_accepted"]) == ("ppa-9 2026-02", False)


def test_a_site_that_is_gone_is_named(fleet):
    bring(fleet, "certificates", certificate("c-1", 10, site_id="b"))
    fleet.sites["a"]["hosts"].append({"pattern": "b-1", "chip": "NVIDIA H100 80GB HBM3", "chips": 8})
    del fleet.sites["b"]
    fleet.describe()
    with pytest.raises(EnergyError, match="no site b, which instrument c-1 covers"):
        rebuild(fleet.folder, threads=1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (certificate("c-1", 0), "above zero"),
        (certificate("c-1", "ten"), "no number of zero or more"),
        (certificate("c-1", ""), "only a contract may leave it"),
        (certificate("c-1", 1, start="2026-13-01"), "no date"),
        (certificate("c-1", 1, end="2026-01-01"), "ends before it begins"),
        (certificate("c-1", 1, site_id="c"), "not in site.yaml"),
        (certificate("c-1", 1, instrument_kind="certificat"), "certificate"),
        (certificate("", 1), "instrument_id is empty"),
        (certificate("c-1", 1, is_sole_claim="perhaps"), "write yes or no"),
    ],
)
def test_a_row_that_cannot_be_right_is_refused_with_its_reason(fleet, line, reason):
    done = bring(fleet, "certificates", line, certificate("good", 1))
    assert (done.rows_accepted, done.rows_rejected) == (1, 1)
    assert reason in done.first_reject


def test_a_table_of_another_kind_is_one_line(fleet):
    with pytest.raises(EnergyError, match="of no known layout"):
        bring(fleet, "certificates", "1,2", header="a,b")


def statement(shared_folder, name):
    return shared_folder / "data" / "inputs" / "certificates" / name


@pytest.fixture
def shared_fleet(fleet):
    fleet.top |= {
        "reporter": ["Example Compute GmbH", "Example Compute Pte Ltd", "Example Compute - Retirement"],
        "markets": {"Europe": ["NO", "SE", "ES"]},
    }
    fleet.sites["a"]["market"] = "Europe"
    fleet.describe()
    return fleet


def test_the_shared_statements_give_the_stated_totals(shared_fleet, shared_folder):
    expected = json.loads(Path(statement(shared_folder, "expected.json")).read_text())
    names = {
        "go_claimable_mwh_q1_2026": "guarantees_of_origin_cancellation.csv",
        "rec_retired_mwh": "recs_retirement_us.csv",
        "irec_mwh": "irec_redemption.csv",
        "granular_mwh": "granular_certificates_hourly.csv",
    }
    done = ingest(
        shared_fleet.folder, [Request("certificates", statement(shared_folder, name)) for name in names.values()]
    )
    assert [one.rows_rejected for one in done] == [0, 0, 0, 0]
    found = {
        row["file_name"]: row["mwh"]
        for row in shared_fleet.rows(
            "SELECT batch.file_name, CAST(sum(held.energy_facility_mwh) AS DOUBLE) AS mwh "
            "FROM core.certificate AS held JOIN raw.batch AS batch USING (batch_id) "
            "WHERE held.cancellation_id IS NOT NULL GROUP BY batch.file_name"
        )
    }
    assert found == {name: expected[key] for key, name in names.items()}


def test_the_vintage_rule_decides_on_the_older_guarantees(shared_fleet, shared_folder):
    request = Request("certificates", statement(shared_folder, "guarantees_of_origin_cancellation.csv"))
    ingest(shared_fleet.folder, [request], threads=1)
    sql = "SELECT CAST(sum(offered_facility_mwh) AS DOUBLE) AS mwh FROM instruments WHERE is_accepted"
    assert [row["mwh"] for row in shared_fleet.rows(sql)] == [4000.0]
    shared_fleet.top["vintage_months"] = 12
    shared_fleet.describe()
    rebuild(shared_fleet.folder, threads=1)
    assert [row["mwh"] for row in shared_fleet.rows(sql)] == [5500.0]


def test_the_shared_hours_of_a_contract_follow_the_local_clock(shared_fleet, shared_folder):
    folder = shared_folder / "data" / "inputs" / "ppa"
    expected = json.loads((folder / "expected.json").read_text())
    path = folder / "ppa_hour_ending_dst.csv"
    with pytest.raises(EnergyError, match="--timezone"):
        ingest(shared_fleet.folder, [Request("deliveries", path)], threads=1)
    (done,) = ingest(shared_fleet.folder, [Request("deliveries", path, timezone="Europe/Berlin")], threads=1)
    assert done.rows_rejected == 0
    (row,) = shared_fleet.rows(
        "SELECT count(*) AS hours, sum(CAST(energy_facility_mwh AS DECIMAL(18, 6))) AS mwh, "
        "strftime(timezone('UTC', min(hour_utc)), '%Y-%m-%dT%H:%MZ') AS first FROM core.delivery_hour"
    )
    assert (row["hours"], row["mwh"]) == (expected["hours"], Decimal(str(expected["day_mwh"])))
    assert expected["first_interval_utc"].startswith(row["first"])


def test_the_report_shows_what_covers_what_is_set_aside_and_what_is_left(fleet):
    from energy.ledger.reader import Ledger
    from energy.report.build import build

    bought = purchases(fleet)
    hour = {"start": "2026-02-05T11:00:00Z", "end": "2026-02-05T12:00:00Z"}
    lines = [certificate("good", bought["2026Q1", "a"] / 2), certificate("bad", 1, beneficiary="Another Ltd", **hour)]
    bring(fleet, "certificates", *lines)
    with Ledger(fleet.folder, threads=1) as ledger:
        report = build(ledger, "2026Q1")
    (section,) = [one for one in report.sections if one.id == "scope2"]
    tables = {block.id: block for block in section.blocks if hasattr(block, "rows")}
    covered = [[cell.value for cell in row.cells] for row in tables["scope2.coverage"].rows]
    assert [row[2] for row in covered] == ["good", "not covered", "not covered"]
    assert float(covered[0][4]) == pytest.approx(500 * bought["2026Q1", "a"])
    words = {row.cells[0].value: row.cells[-1].value for row in tables["scope2.instruments"].rows}
    assert words["good"] == "accepted"
    assert words["bad"].startswith("set aside: 3. tracked")
    shown = [row for row in tables["scope2.treatment"].rows if row.key.startswith("a.market")]
    assert "50.0 % of the purchase of 2026Q1 covered by instruments" in shown[0].cells[3].value


def test_hourly_matching_covers_only_the_hour_of_the_generation(fleet):
    bought = {
        (row["site_id"], f"{row['hour_utc']:%d %H}"): float(row["mwh"])
        for row in fleet.rows(
            "SELECT site_id, hour_utc, sum(energy_facility_kwh) / 1000 AS mwh FROM energy_hourly "
            "WHERE quarter = '2026Q1' AND month = '2026-02' GROUP BY site_id, hour_utc"
        )
    }
    rest = factors(fleet)
    both = bought["a", "05 11"] + bought["b", "05 11"]
    hour = {"start": "2026-02-05T11:00:00Z", "end": "2026-02-05T12:00:00Z"}
    idle = {"start": "2026-02-05T15:00:00Z", "end": "2026-02-05T16:00:00Z"}
    lines = [certificate("h-1", both / 4, **hour), certificate("h-2", 1000, **idle)]
    bring(fleet, "certificates", *lines)
    found = totals(fleet, "hourly matched")
    for place in ("a", "b"):
        open_mwh = purchases(fleet)["2026Q1", place] - bought[place, "05 11"] / 4 - bought[place, "05 15"]
        assert found["2026Q1", place] == pytest.approx(open_mwh * rest[place], rel=1e-9)
    # by the year the other certificate covers everything, hours apart from it too
    assert totals(fleet)["2026Q1", "a"] == pytest.approx(0, abs=1e-9)
    notes = {
        row["note"] for row in fleet.rows("SELECT DISTINCT note FROM factors_used WHERE method = 'hourly matched'")
    }
    assert all("not in force" in note for note in notes)
    assert {key[0] for key in found} == {"2026Q1"}


def test_what_a_site_has_of_its_own_covers_first_in_its_hour(fleet):
    mwh = {
        row["site_id"]: float(row["mwh"])
        for row in fleet.rows(
            "SELECT site_id, sum(energy_facility_kwh) / 1000 AS mwh FROM energy_hourly "
            "WHERE hour_utc = TIMESTAMPTZ '2026-02-05 11:00:00+00' GROUP BY site_id"
        )
    }
    hour = {"start": "2026-02-05T11:00:00Z", "end": "2026-02-05T12:00:00Z"}
    bring(
        fleet,
        "certificates",
        certificate("h-1", mwh["a"] / 2, rate=10, site_id="a", **hour),
        certificate("h-2", mwh["a"] / 2 + mwh["b"], rate=30, **hour),
    )
    factor = {
        row["site_id"]: row["f"]
        for row in fleet.rows(
            "SELECT site_id, intensity_gco2e_per_kwh_facility AS f FROM core.factor_hour "
            "WHERE method = 'hourly matched' AND hour_utc = TIMESTAMPTZ '2026-02-05 11:00:00+00'"
        )
    }
    assert factor == pytest.approx({"a": 20.0, "b": 30.0})


def test_hours_of_a_contract_match_and_certificates_of_a_month_do_not(fleet):
    bring(fleet, "certificates", certificate("m-1", 1000, start="2026-02-01", end="2026-03-01"))
    assert totals(fleet, "hourly matched") == {}
    terms = {"instrument_kind": "contract", "conveys_rate": "yes", "is_sole_claim": "yes", "goes_to_reporter": "yes"}
    bring(fleet, "contracts", certificate("ppa-1", "", **terms), name="terms.csv")
    hours = [f"ppa-1,2026-02-05T{hour}:00:00Z,100" for hour in (10, 11, 12)]
    bring(fleet, "deliveries", *hours, header="contract_id,hour_utc,energy_mwh", name="hours.csv")
    in_hours = "method = '{}' AND timezone('UTC', hour_utc) BETWEEN '2026-02-05 10:00' AND '2026-02-05 12:00'"
    found = fleet.rows(f"SELECT * FROM core.factor_hour WHERE {in_hours.format('hourly matched')}")
    assert {row["intensity_gco2e_per_kwh_facility"] for row in found} == {0.0}
    assert len(found) == 6
    shown = fleet.rows("SELECT note FROM market_coverage WHERE method = 'hourly matched' AND cover_kind = 'instrument'")
    assert all("surplus of all markets" in row["note"] for row in shown)


def test_the_same_hours_of_another_file_are_equal_whatever_their_digits(fleet):
    rows = [f"p,2026-03-01,{hour},{0.1234567891234567 * hour},kWh" for hour in range(1, 25)]
    header = "contract_id,delivery_date,hour_ending,energy,unit"
    first = bring(fleet, "deliveries", *rows, header=header, name="one.csv", timezone="Europe/Berlin")
    again = bring(fleet, "deliveries", *rows, "", header=header, name="two.csv", timezone="Europe/Berlin")
    assert (first.rows_accepted, first.rows_rejected) == (24, 0)
    assert again.rows_rejected == 0
    assert [row["n"] for row in fleet.rows("SELECT count(*) AS n FROM core.delivery_hour")] == [24]


def test_a_report_in_every_format_shows_hours_that_match_beside_no_total(fleet, tmp_path):
    from energy.ledger.reader import Ledger
    from energy.report import build, write

    hour = {"start": "2026-02-05T11:00:00Z", "end": "2026-02-05T12:00:00Z"}
    bring(fleet, "certificates", certificate("h-1", 0.001, **hour))
    with Ledger(fleet.folder, threads=1) as ledger:
        report = build(ledger, "2026Q1")
        write(report, tmp_path / "report")
    (section,) = [one for one in report.sections if one.id == "scope2"]
    (table,) = [block for block in section.blocks if getattr(block, "id", "") == "scope2.coverage"]
    said = [[cell.value for cell in row.cells][1:4] for row in table.rows]
    assert any(
        row[:2] == ["hourly matched", "instruments of the same hour"] and "not in force" in row[2] for row in said
    )
    (totals_table,) = [block for block in section.blocks if getattr(block, "id", "") == "scope2.by_site"]
    assert "hourly matched" not in {column.key for column in totals_table.columns}
