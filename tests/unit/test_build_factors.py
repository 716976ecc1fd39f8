"""PUE and emission factors through the whole ingest: periods, residual mixes, hours, policies, refusals."""

from __future__ import annotations

import pytest
from tiny_fleet import BUSY_HIGH_W, BUSY_KW, BUSY_W, H100, Fleet, at, host, job, site

from energy import report
from energy.account import chain
from energy.catalogue.profiles import profile
from energy.errors import FactorError, SiteFileError, SqlUnitError
from energy.ledger.bases import mixed_methods
from energy.ledger.reader import Ledger
from energy.units import quantity

DAY = ("2026-01-05 00:00", "2026-01-06 00:00")
HELD = ("2026-01-05 10:00", "2026-01-05 11:00")
METER_KWH = BUSY_KW[H100] * 1.25 * 1.2


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-12)


def fleet_of(tmp_path, **changes):
    return Fleet(tmp_path / "ledger", {"a": site([host("h1", 1)], **changes)})


def one_job(fleet, held=HELD, window=DAY):
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *held)], *window))


def emissions(fleet):
    return fleet.total("emissions_kgco2e", "method", view="emission_lines", where="owner = 'p'")


def test_two_pue_periods_meet_at_their_instant(tmp_path):
    periods = [
        {"to": "2026-01-05T11:00:00Z", "value": 1.2},
        {"from": "2026-01-05T11:00:00Z", "value": 1.5, "low": 1.4, "high": 1.6},
    ]
    fleet = fleet_of(tmp_path, pue=periods)
    one_job(fleet, ("2026-01-05 10:30", "2026-01-05 11:30"))
    facility = fleet.total("energy_facility_kwh", "hour_utc", where="owner = 'p'")
    half = 0.5 * BUSY_KW[H100] * 1.25
    assert facility == near({at("2026-01-05 10:00"): half * 1.2, at("2026-01-05 11:00"): half * 1.5})
    late = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p' ORDER BY hour_utc DESC LIMIT 1")[0]
    assert float(late["energy_facility_high_kwh"]) == near(0.5 * BUSY_HIGH_W / 1000 * 1.25 * 1.6)


def test_a_pue_period_with_an_offset_begins_at_its_instant_of_utc(tmp_path):
    """Midnight of Berlin is 23:00 UTC of the day before."""
    periods = [
        {"to": "2026-01-05T00:00:00+01:00", "value": 1.2},
        {"from": "2026-01-05T00:00:00+01:00", "value": 1.5},
    ]
    fleet = fleet_of(tmp_path, pue=periods)
    one_job(fleet, ("2026-01-04 22:00", "2026-01-05 00:00"), ("2026-01-04 22:00", "2026-01-05 01:00"))
    assert fleet.total("energy_facility_kwh", "hour_utc", where="owner = 'p'") == near(
        {at("2026-01-04 22:00"): BUSY_KW[H100] * 1.25 * 1.2, at("2026-01-04 23:00"): BUSY_KW[H100] * 1.25 * 1.5}
    )


@pytest.mark.parametrize(
    ("periods", "message"),
    [
        ([{"to": "2026-01-05T10:00:00Z", "value": 1.2}], "Site a has no PUE from 2026-01-05T10:00Z to 2026-01-06"),
        (
            [{"to": "2026-01-05T10:00:00Z", "value": 1.2}, {"from": "2026-01-05T09:00:00Z", "value": 1.2}],
            "two (PUE )?periods overlap",
        ),
    ],
)
def test_hours_without_one_pue_are_refused_and_nothing_is_published(tmp_path, periods, message):
    fleet = fleet_of(tmp_path, pue=periods)
    with pytest.raises(SiteFileError, match=message) as caught:
        one_job(fleet)
    assert "\n" not in str(caught.value)
    assert not (fleet.folder / "ledger.duckdb").exists()


def test_a_refused_build_leaves_the_published_version_as_it_is(tmp_path):
    fleet = fleet_of(tmp_path, pue=[{"to": "2026-01-06", "value": 1.2}])
    one_job(fleet)
    before = (Ledger(fleet.folder).version, fleet.total("energy_facility_kwh", "owner"))
    later = fleet.jobs(
        [job("2", "h1", 1, "2026-01-06 01:00", "2026-01-06 02:00")], "2026-01-06 00:00", "2026-01-07 00:00"
    )
    with pytest.raises(SiteFileError, match="Site a has no PUE from 2026-01-06T00:00Z"):
        fleet.ingest(later)
    assert (Ledger(fleet.folder).version, fleet.total("energy_facility_kwh", "owner")) == before


def test_germany_location_is_of_production_and_market_is_the_residual_mix_consumed(tmp_path):
    fleet = fleet_of(tmp_path, zone="DEU")
    one_job(fleet)
    # Ember and Our World in Data 2023, per kWh generated; AIB 2024, per kWh consumed
    assert emissions(fleet) == near({"location": METER_KWH * 0.38095, "market": METER_KWH * 0.72456})
    notes = {row["method"]: row for row in fleet.rows("SELECT * FROM factors_used")}
    assert "restated as purchased" in notes["location"]["note"]
    assert "restated" not in (notes["market"]["note"] or "")
    assert "CO2 only" in notes["market"]["note"]
    assert (notes["location"]["factor_attribution"], notes["market"]["factor_attribution"]) == (
        "production",
        "consumption",
    )


def test_a_zone_without_residual_mix_takes_the_grid_s_and_says_so(tmp_path):
    fleet = fleet_of(tmp_path, zone="GBR")
    one_job(fleet)
    assert emissions(fleet) == near({"location": METER_KWH * 0.237589, "market": METER_KWH * 0.237589})
    notes = {row["method"]: row["note"] for row in fleet.rows("SELECT method, note FROM factors_used")}
    assert "no residual mix is known" in notes["market"]
    assert "no residual mix" not in notes["location"]


def test_the_nearest_earlier_year_is_said(tmp_path):
    fleet = fleet_of(tmp_path)
    one_job(fleet)
    # eGRID 2023 for RFC East; Green-e of 2016 for its residual mix
    assert emissions(fleet) == near({"location": METER_KWH * 0.271779, "market": METER_KWH * 0.344032})
    said = {row["method"]: row["year_note"] for row in fleet.rows("SELECT method, year_note FROM factors_used")}
    assert said == {
        "location": "factor of 2023 for activity in 2026: 3 years earlier",
        "market": "factor of 2016 for activity in 2026: 10 years earlier",
    }


@pytest.mark.parametrize("hour", [0, 5, 18, 23])
@pytest.mark.parametrize(("month", "day"), [(1, 5), (7, 31)])
def test_hours_take_the_mean_of_their_month_and_utc_hour(tmp_path, month, day, hour):
    fleet = fleet_of(tmp_path, zone="CAMX", hourly_zone="US-CISO")
    start = f"2026-{month:02}-{day:02} {hour:02}:00"
    one_job(fleet, (start, start.replace(":00", ":30")), (start, start.replace(":00", ":30")))
    kwh = METER_KWH / 2
    assert emissions(fleet)["hourly"] == near(kwh * profile("US-CISO").values[month - 1, hour] / 1000)


def test_hours_over_midnight_of_a_month_change_both(tmp_path):
    fleet = fleet_of(tmp_path, zone="CAMX", hourly_zone="US-CISO", timezone="America/Los_Angeles")
    fleet.top["reporting_timezone"] = "America/Los_Angeles"
    span = ("2026-01-31 23:00", "2026-02-01 01:00")
    one_job(fleet, span, span)
    values = profile("US-CISO").values
    by_hour = fleet.total("emissions_kgco2e", "hour_utc", view="emission_lines", where="method = 'hourly'")
    assert by_hour == near(
        {
            at("2026-01-31 23:00"): METER_KWH * values[0, 23] / 1000,
            at("2026-02-01 00:00"): METER_KWH * values[1, 0] / 1000,
        }
    )


def test_an_exact_policy_without_that_year_is_refused_in_one_line(tmp_path):
    fleet = fleet_of(tmp_path)
    fleet.top["factor_policy"] = "exact"
    with pytest.raises(
        FactorError, match=r"Zone RFCE has no location factor .* for 2026 .* it has 2018, 2022, 2023"
    ) as caught:
        one_job(fleet)
    assert "\n" not in str(caught.value)
    assert not (fleet.folder / "ledger.duckdb").exists()


def test_each_year_takes_its_own_factor(tmp_path):
    fleet = fleet_of(tmp_path)
    one_job(fleet, ("2022-12-31 23:00", "2023-01-01 01:00"), ("2022-12-31 23:00", "2023-01-01 01:00"))
    by_hour = fleet.total("emissions_kgco2e", "hour_utc", view="emission_lines", where="method = 'location'")
    assert by_hour == near({at("2022-12-31 23:00"): METER_KWH * 0.299478, at("2023-01-01 00:00"): METER_KWH * 0.271779})


def test_two_sites_keep_their_own_factors_and_pue(tmp_path):
    fleet = Fleet(
        tmp_path / "ledger",
        {
            "a": site([host("h1", 1)]),
            "b": site([host("h2", 1)], zone="ERCT", pue=2.0, node_overhead=1.5),
        },
    )
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h2", 1, *HELD)], *HELD))
    location = fleet.total("emissions_kgco2e", "site_id", view="emissions_quarterly", where="method = 'location'")
    assert location == near({"a": METER_KWH * 0.271779, "b": BUSY_KW[H100] * 1.5 * 2.0 * 0.351221})


def test_the_ledger_says_what_the_page_for_newcomers_says(tmp_path):
    fleet = fleet_of(tmp_path)
    one_job(fleet)
    steps = chain(
        quantity(BUSY_W[H100], "W_chip/chip"),
        quantity(1.0, "chip"),
        quantity(60.0, "min"),
        1.25,
        1.2,
        {"location": quantity(271.779, "gCO2e/kWh_facility"), "market": quantity(344.032, "gCO2e/kWh_facility")},
    )
    (line,) = fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")
    for name in ("chip", "it", "facility"):
        assert float(line[f"energy_{name}_kwh"]) == near(steps[f"energy_{name}"].to(f"kWh_{name}").magnitude)
    assert emissions(fleet) == near(
        {method: steps[f"emissions_{method}"].to("kgCO2e").magnitude for method in ("location", "market")}
    )


def test_each_emission_line_names_its_factor_year_and_boundary(small_ledger):
    from energy.ledger import Ledger

    with Ledger(small_ledger) as ledger:
        lines = ledger.rows(
            "SELECT count(*) AS n, count(factor_id) AS factor, count(factor_year) AS year, "
            "count(boundary) AS boundary, count(factor_attribution) AS attribution, "
            "count(gases) AS gases FROM emission_lines"
        )[0]
        found = ledger.rows("SELECT DISTINCT method, factor_id, factor_year, boundary FROM emission_lines ORDER BY ALL")
    assert len(set(lines.values())) == 1
    assert lines["n"] > 0
    assert {"method": "location", "factor_id": "egrid2022-ERCT", "factor_year": 2022, "boundary": "direct"} in found


# --- bases of two sites that meet in one total ---
def two_countries(tmp_path, **top):
    sites = {"d": site([host("h1", 1)], zone="DEU"), "t": site([host("h2", 1)], zone="ERCT")}
    tmp_path.mkdir(exist_ok=True)
    fleet = Fleet(tmp_path / "ledger", sites, top)
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h2", 1, *HELD)], *DAY))
    return fleet


NAMED = "direct+lifecycle, AR5+unstated, production+consumption, CO2+CO2e"


def test_a_total_over_two_countries_says_which_mix_it_would_make(tmp_path):
    """DEU has a life-cycle average and a residual mix by consumption; ERCT direct ones by production."""
    fleet = two_countries(tmp_path)
    with Ledger(fleet.folder) as ledger:
        assert mixed_methods(ledger) == {"location", "market"}
        cells = {cell.id: cell for cell in report.build(ledger, "2026Q1").cells()}
    for method, mix in (("location", "AR5+unstated, direct+lifecycle"), ("market", "production+consumption")):
        total = cells[f"scope2.by_site.total.{method}"]
        assert (total.value, total.mark) == (None, "not added")
        assert total.reason.endswith(f"basis_mix: {mix}")
        assert all(cells[f"scope2.by_site.{name}.{method}"].value > 0 for name in ("d", "t"))


def test_a_named_mix_is_added(tmp_path):
    fleet = two_countries(tmp_path, basis_mix=NAMED)
    with Ledger(fleet.folder) as ledger:
        assert mixed_methods(ledger) == frozenset()
        cells = {cell.id: cell for cell in report.build(ledger, "2026Q1").cells()}
    for method in ("location", "market"):
        parts = [cells[f"scope2.by_site.{name}.{method}"].value for name in ("d", "t")]
        assert cells[f"scope2.by_site.total.{method}"].value == sum(parts)


def test_views_keep_bases_apart(tmp_path):
    fleet = two_countries(tmp_path, basis_mix=NAMED)
    for view in ("emissions_quarterly", "emissions_monthly", "emissions_hourly"):
        rows = fleet.rows(f"SELECT DISTINCT method, basis FROM {view} ORDER BY method, basis")
        assert [(row["method"], row["basis"]) for row in rows if row["method"] == "location"] == [
            ("location", "direct, production, CO2e, AR5"),
            ("location", "lifecycle, production, CO2e, GWP set unstated"),
        ]


@pytest.mark.parametrize("text", ["direct", "direct+lifecycel"])
def test_a_mix_of_unknown_words_is_refused(tmp_path, text):
    with pytest.raises(SiteFileError, match="basis_mix"):
        two_countries(tmp_path, basis_mix=text)


def test_sql_adds_bases_only_where_the_mix_is_named(tmp_path):
    total = "SELECT sum(emissions_kgco2e) AS emissions_kgco2e FROM emissions_quarterly WHERE method = 'location'"
    with Ledger(two_countries(tmp_path / "strict").folder) as ledger:
        with pytest.raises(SqlUnitError, match="Bases are not added"):
            ledger.sql(total)
        parts = ledger.sql(total.replace("SELECT", "SELECT basis,") + " GROUP BY basis").rows()
    with Ledger(two_countries(tmp_path / "named", basis_mix=NAMED).folder) as ledger:
        ((whole,),) = ledger.sql(total).rows()
    assert whole == sum(part for _, part in parts)
    assert len(parts) == 2
