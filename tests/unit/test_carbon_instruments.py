"""The eight quality criteria and the market-based total: energy is conserved, used once, never netted or negative."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.carbon.instruments import CRITERIA, NOT_STATED, Instrument, Use, assess, set_aside
from energy.carbon.market import Site, market_based, overlaps
from energy.errors import FactorError

USE = Use("Example Ltd", date(2026, 1, 1), date(2026, 4, 1), frozenset({"US", "AIB"}))
GOOD = Instrument(
    "REC-1", "certificate", 100.0, 0.0, date(2026, 1, 1), date(2026, 4, 1), "US",
    registry="M-RETS", cancellation_id="R-1", beneficiary="Example Ltd",
)  # fmt: skip
CONTRACT = replace(
    GOOD, instrument_id="PPA-1", kind="contract", registry="", cancellation_id="R-2", conveys_rate=True,
    is_sole_claim=True, goes_to_reporter=True,
)  # fmt: skip
RATE = replace(
    GOOD, instrument_id="TARIFF-1", kind="supplier rate", registry="", cancellation_id="", beneficiary="",
    conveys_rate=True, is_sole_claim=True, is_delivered=True, intensity_gco2e_per_kwh=50.0,
)  # fmt: skip

BREAKS = {
    1: replace(CONTRACT, conveys_rate=False),
    2: replace(CONTRACT, is_sole_claim=False),
    3: replace(GOOD, beneficiary="Somebody Else"),
    4: replace(GOOD, vintage_from=date(2024, 1, 1), vintage_to=date(2025, 1, 1)),
    5: replace(GOOD, market="Japan"),
    6: replace(RATE, is_delivered=False, cancellation_id="R-9", beneficiary="Example Ltd"),
    7: replace(CONTRACT, goes_to_reporter=False),
}
UNSTATED = {
    1: replace(CONTRACT, conveys_rate=None),
    2: replace(CONTRACT, is_sole_claim=None),
    3: replace(GOOD, cancellation_id=""),
    5: replace(GOOD, market=""),
    6: replace(RATE, is_delivered=None, cancellation_id="R-9", beneficiary="Example Ltd"),
    7: replace(CONTRACT, goes_to_reporter=None),
}


@pytest.mark.parametrize("one", [GOOD, CONTRACT, RATE], ids=lambda one: one.kind)
def test_an_instrument_that_meets_all_criteria_is_accepted(one):
    found = assess([one], USE)[0]
    assert found.is_accepted, found.failed
    assert len(found.results) == len(CRITERIA) == 8


@pytest.mark.parametrize("number", BREAKS)
def test_each_criterion_sets_aside_alone_and_says_why(number):
    found = assess([BREAKS[number]], USE)[0]
    assert [line.partition(".")[0] for line in found.failed] == [str(number)]
    assert len(found.failed[0]) > len(CRITERIA[number - 1]) + 5


@pytest.mark.parametrize("number", UNSTATED)
def test_what_is_not_stated_is_not_passed(number):
    found = assess([UNSTATED[number]], USE)[0]
    assert not found.is_accepted
    assert found.results[number - 1] == NOT_STATED


def test_an_unknown_residual_mix_that_nobody_discloses_sets_all_aside():
    silent = replace(USE, residual_is_known=False, absence_is_disclosed=False)
    assert set_aside(assess([GOOD, CONTRACT], silent)) == {f"8. {CRITERIA[7]}": 2}
    assert assess([GOOD], replace(silent, absence_is_disclosed=True))[0].is_accepted


def test_a_certificate_is_used_once_by_identifier_and_by_cancellation():
    twice = assess([GOOD, GOOD, replace(GOOD, instrument_id="REC-2")], USE)
    assert [one.is_accepted for one in twice] == [True, False, False]
    assert "used already" in twice[1].failed[0]
    assert "R-1" in twice[2].failed[0]


@pytest.mark.parametrize(
    ("months", "vintage", "accepted"),
    [
        (None, (date(2026, 10, 1), date(2027, 1, 1)), True),
        (None, (date(2025, 12, 1), date(2026, 1, 1)), False),
        (2, (date(2025, 12, 1), date(2026, 1, 1)), True),
        (2, (date(2025, 10, 1), date(2025, 11, 1)), False),
    ],
)
def test_vintage_is_held_against_the_stated_rule(months, vintage, accepted):
    one = replace(GOOD, vintage_from=vintage[0], vintage_to=vintage[1])
    assert assess([one], replace(USE, vintage_months=months))[0].is_accepted is accepted


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "certificat"}, "Nearest: certificate"),
        ({"energy_mwh": 0.0}, "above zero"),
        ({"energy_mwh": float("nan")}, "above zero"),
        ({"intensity_gco2e_per_kwh": -5.0}, "zero or more"),
        ({"vintage_to": date(2026, 1, 1)}, "not after it begins"),
        ({"instrument_id": ""}, "without identifier"),
    ],
)
def test_an_impossible_instrument_is_refused_in_one_line(change, says):
    with pytest.raises(FactorError, match=says) as refused:
        replace(GOOD, **change)
    assert "\n" not in str(refused.value)


amounts = st.lists(st.floats(0, 1e6).map(lambda x: round(x, 3)), min_size=0, max_size=12)


@given(supply=amounts, demand=amounts)
def test_overlaps_conserve_and_never_exceed_either_side(supply, demand):
    supply, demand = np.array(supply), np.array(demand)
    row, column, amount = overlaps(supply, demand)
    assert amount.sum() == pytest.approx(min(supply.sum(), demand.sum()), abs=1e-6)
    taken, met = np.zeros(supply.size), np.zeros(demand.size)
    np.add.at(taken, row, amount)
    np.add.at(met, column, amount)
    assert (taken <= supply + 1e-6).all()
    assert (met <= demand + 1e-6).all()
    assert (amount > 0).all()


@st.composite
def fleets(draw):
    markets = ["US", "AIB"]
    sites = [
        Site(
            f"s{number}", draw(st.sampled_from(markets)), draw(st.integers(0, 500)) * 1.0, 400.0,
            draw(st.sampled_from([None, 500.0])), draw(st.sampled_from([0.0, 7.0])),
        )
        for number in range(draw(st.integers(1, 4)))
    ]  # fmt: skip
    instruments = [
        replace(
            GOOD, instrument_id=f"i{number}", cancellation_id=f"c{number}", energy_mwh=draw(st.integers(1, 400)) * 1.0,
            intensity_gco2e_per_kwh=draw(st.sampled_from([0.0, 30.0])), market=draw(st.sampled_from(markets)),
            site_id=draw(st.sampled_from(["", sites[0].site_id])),
            beneficiary=draw(st.sampled_from(["Example Ltd", "Other"])),
        )
        for number in range(draw(st.integers(0, 6)))
    ]  # fmt: skip
    return sites, instruments


@given(fleet=fleets())
def test_every_megawatt_hour_is_covered_once_or_uncovered_and_no_instrument_gives_more_than_it_has(fleet):
    sites, instruments = fleet
    found = market_based(sites, assess(instruments, USE))
    for site in sites:
        covered = sum(one.energy_mwh for one in found.covers if one.site_id == site.site_id)
        assert covered + found.uncovered_mwh[site.site_id] == pytest.approx(site.purchased_mwh + site.null_power_mwh)
    for one in instruments:
        given_out = sum(part.energy_mwh for part in found.covers if part.instrument_id == one.instrument_id)
        is_aside = one.beneficiary != "Example Ltd"
        left = found.surplus_mwh.get(one.instrument_id, 0.0)
        assert given_out + left == pytest.approx(0.0 if is_aside else one.energy_mwh)
    assert found.market_kgco2e >= 0
    assert found.location_kgco2e == pytest.approx(sum(site.purchased_mwh for site in sites) * 400.0)
    assert len(found.set_aside) == sum(one.beneficiary != "Example Ltd" for one in instruments)


@given(fleet=fleets(), more=st.integers(1, 10_000))
def test_certificates_beyond_consumption_change_no_total(fleet, more):
    sites, _ = fleet
    enough = [
        replace(GOOD, instrument_id=market, cancellation_id=market, energy_mwh=1e5, market=market)
        for market in ("US", "AIB")
    ]
    too_many = [*enough, replace(GOOD, instrument_id="z", cancellation_id="z", energy_mwh=float(more))]
    first, second = (market_based(sites, assess(those, USE)) for those in (enough, too_many))
    assert first.market_kgco2e == pytest.approx(second.market_kgco2e)
    null_power = sum(
        site.null_power_mwh * (site.location_gco2e_per_kwh if site.residual_gco2e_per_kwh is None else 500.0)
        for site in sites
    )
    assert second.market_kgco2e == pytest.approx(null_power)


def test_null_power_carries_the_residual_mix_in_the_market_total_and_nothing_in_the_other():
    kept = market_based([Site("a", "US", 0.0, 400.0, 500.0)], [])
    sold = market_based([Site("a", "US", 0.0, 400.0, 500.0, null_power_mwh=10.0)], [])
    assert (kept.market_kgco2e, kept.location_kgco2e) == (0.0, 0.0)
    assert (sold.market_kgco2e, sold.location_kgco2e) == (5000.0, 0.0)


def test_without_a_residual_mix_the_location_factor_stands_in_and_the_site_is_named():
    found = market_based([Site("a", "US", 10.0, 400.0, None), Site("b", "US", 10.0, 400.0, 500.0)], [])
    assert found.market_kgco2e == 9000.0
    assert found.without_residual == ("a",)


@pytest.mark.parametrize(
    ("sites", "instruments", "says"),
    [
        ([Site("a", "US", -1.0, 400.0, None)], [], "not netted"),
        ([Site("a", "US", float("nan"), 400.0, None)], [], "gross purchases"),
        ([Site("a", "US", 1.0, 400.0, None)] * 2, [], "occurs twice"),
        ([Site("oregon", "US", 1.0, 400.0, None)], [replace(GOOD, site_id="oregn")], "Nearest: oregon"),
    ],
)
def test_wrong_fleets_are_refused(sites, instruments, says):
    with pytest.raises(FactorError, match=says):
        market_based(sites, assess(instruments, USE))


def test_an_empty_period_or_reporter_is_refused():
    with pytest.raises(FactorError, match="ends"):
        assess([GOOD], replace(USE, ends=USE.starts))
    with pytest.raises(FactorError, match="reporter"):
        assess([GOOD], replace(USE, reporter=" "))
