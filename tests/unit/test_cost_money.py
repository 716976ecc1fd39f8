"""Prices on a date, checkpoints and interruptions, cost of a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.catalogue.prices import price
from energy.cost.interruptions import (
    checkpoint_interval,
    checkpoint_interval_daly,
    checkpoint_size,
    checkpoint_time,
    elapsed_time,
    job_mean_time,
)
from energy.cost.money import (
    ExchangeRate,
    Interruptions,
    amortised_cost,
    electricity_cost,
    owned,
    rental_cost,
    rented,
    with_interruptions,
)
from energy.cost.prices import RENTALS, electricity_price_on, purchase_price, rental_price, span
from energy.errors import CostError, PriceNotKnownError, UnitError, UnknownNameError
from energy.units import quantity

H100 = "nvidia_h100_sxm5_80"
OFTEN = Interruptions(
    machine_mean_time_s=48 * 3600.0, chips_per_machine=8, checkpoint_time_s=60.0, restart_time_s=600.0
)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2025", "2025-01-01", "2025-12-31"),
        ("2025-H2", "2025-07-01", "2025-12-31"),
        ("2025-03-17", "2025-03-17", "2025-03-17"),
    ],
)
def test_spans(text, first, last):
    assert [one.isoformat() for one in span(text)] == [first, last]


@pytest.mark.parametrize("text", ["", "Jan 2025", "2025-13", "2025-02-30", "2025-Q5", "25", "2025-3"])
def test_other_dates_are_refused(text):
    with pytest.raises(CostError, match="is no date"):
        span(text)


def test_the_nearest_day_counts_and_says_where_it_lies():
    early, late = rental_price(H100, "spot", "2020"), rental_price(H100, "spot", "2026-01-01")
    assert early.usd == late.usd == price("p0265").usd_spot_per_chip_hour
    assert (early.direction, late.direction) == ("later", "earlier")
    assert (early.days_apart, late.days_apart) == (1035, 763)
    assert "763 days earlier" in late.note
    assert "2023-11" in late.note
    same = rental_price(H100, "spot", "2023-11-14")
    assert (same.direction, same.days_apart) == ("same", 0)


def test_a_range_is_that_of_the_prices_behind_it():
    found = rental_price(H100, "on_demand", "2025-03")
    values = [price(one).usd_on_demand_per_chip_hour for one in found.price_ids]
    assert len(values) > 3
    assert (found.low_usd, found.high_usd) == (min(values), max(values))
    assert found.usd == np.median(values)
    assert all(one.startswith("2025-03") for one in found.dates)


def test_a_recalled_price_is_an_estimate():
    recalled = rental_price("nvidia_b200_sxm", "on_demand", "2025")
    assert recalled.status == "estimate"
    assert "recalled" in recalled.note
    assert rental_price(H100, "on_demand", "2025-03").status == "catalogue"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "sport"}, "Nearest: spot"),
        ({"chip": "nvidia_h101_sxm5_80"}, "Nearest: nvidia_h100_sxm5_80"),
        ({"provider": "Lamda Labs"}, "Nearest: Lambda Labs"),
        ({"provider": "Microsoft Azure", "region": "East UK"}, "Known of it: East US"),
        ({"chip": "amd_mi300x", "kind": "spot"}, "Known of the chip: on_demand"),
        ({"chip": "cerebras_wse3"}, "no rental"),
    ],
)
def test_prices_that_nobody_printed(asked, message):
    with pytest.raises(UnknownNameError) as caught:
        rental_price(**{"chip": H100, "kind": "on_demand", "date": "2025"} | asked)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_kind_stands_in_for_another():
    """Each price comes from its own column, whatever else the row has."""
    for kind, (family, column) in RENTALS.items():
        found = rental_price(H100, kind, "2024-06")
        assert {price(one).kind for one in found.price_ids} == {family}
        assert found.usd == pytest.approx(np.median([getattr(price(one), column) for one in found.price_ids]))


def test_undated_prices_only_when_allowed():
    undated = next(
        one
        for one in map(price, [f"p{n:04}" for n in range(1, 337)])
        if not one.price_date and one.usd_on_demand_per_chip_hour and one.kind == "rental"
    )
    dated = rental_price(undated.chip_id, "on_demand", "2025", provider=None)
    assert undated.price_id not in dated.price_ids
    with pytest.raises(UnknownNameError, match="without a date"):
        rental_price(undated.chip_id, "on_demand", "2025", provider=undated.provider)
    allowed = rental_price(undated.chip_id, "on_demand", "2025", provider=undated.provider, undated=True)
    assert allowed.direction == "undated"
    assert allowed.days_apart is None


def test_electricity_by_region_and_consumer():
    assert electricity_price_on("DE", "2026-03", "wholesale").direction == "earlier"
    with pytest.raises(UnknownNameError, match="Known: household, wholesale"):
        electricity_price_on("DE", "2024")
    with pytest.raises(UnknownNameError, match="Nearest: Virginia"):
        electricity_price_on("Virginnia", "2024")


def test_purchase():
    found = purchase_price(H100, "2023-05-29")
    assert found.low_usd <= found.usd <= found.high_usd
    with pytest.raises(UnknownNameError, match="give it"):
        purchase_price("nvidia_rubin", "2025")


positive = st.floats(1.0, 1e6)


@given(positive, st.floats(1e3, 1e8))
def test_youngs_interval_loses_least(delta, mean):
    best = float(checkpoint_interval.kernel(delta, mean))
    lost = [delta / tau + tau / (2 * mean) for tau in (best * 0.9, best, best * 1.1)]
    assert lost[1] <= min(lost[0], lost[2]) + 1e-12


@given(st.floats(1.0, 100.0))
def test_daly_tends_to_young_for_short_checkpoints(delta):
    mean = delta * 1e6
    assert float(checkpoint_interval_daly.kernel(delta, mean)) == pytest.approx(
        float(checkpoint_interval.kernel(delta, mean)), rel=2e-3
    )


def test_daly_for_checkpoints_that_take_too_long():
    assert float(checkpoint_interval_daly.kernel(250.0, 100.0)) == 100.0


def test_elapsed_time_against_a_simulation():
    """Exponential interruptions that lose half an interval and a restart each, drawn one by one."""
    generator = np.random.default_rng(7)
    useful, delta, tau, restart, mean = 3.6e6, 60.0, 2000.0, 600.0, 36_000.0
    work = useful * (1 + delta / tau)
    runs = []
    for _ in range(200):
        clock, done = 0.0, 0.0
        while done < work:
            step = generator.exponential(mean)
            if done + step >= work:
                clock += work - done
                break
            clock += step
            done += step - tau / 2 - restart
        runs.append(clock)
    assert float(elapsed_time.kernel(useful, delta, tau, restart, mean)) == pytest.approx(np.mean(runs), rel=0.01)


@given(positive, st.floats(0.0, 100.0), st.floats(100.0, 1e4), st.floats(0.0, 1e3), st.floats(1e5, 1e9))
def test_interruptions_never_save_time(useful, delta, tau, restart, mean):
    assert float(elapsed_time.kernel(useful, delta, tau, restart, mean)) >= useful


def test_a_run_that_never_ends_is_refused():
    with pytest.raises(CostError, match="never ends"):
        elapsed_time.kernel(3600.0, 60.0, 3600.0, 600.0, 1800.0)
    with pytest.raises(CostError, match="never ends"):
        rented(H100, 8 * 5000, 10, "spot", "2023-11", interruptions=OFTEN)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_no_number_of_interruptions_is_zero_or_unknown(bad):
    for call in (
        lambda: checkpoint_interval.kernel(bad, 1.0),
        lambda: checkpoint_interval.kernel(1.0, bad),
        lambda: checkpoint_interval_daly.kernel(bad, 1.0),
        lambda: job_mean_time.kernel(1.0, bad),
        lambda: checkpoint_time.kernel(1.0, bad),
        lambda: checkpoint_size.kernel(bad),
        lambda: elapsed_time.kernel(1.0, 1.0, bad, 1.0, 1e6),
    ):
        with pytest.raises(CostError):
            call()


def test_units_hold_at_the_boundary():
    hour = quantity(1, "h")
    assert rental_cost(8, hour, quantity(2, "USD/chip/h")).to("USD").magnitude == 16.0
    assert checkpoint_time(quantity(1, "TB"), quantity(20, "GB/s")).to("s").magnitude == pytest.approx(50.0)
    assert elapsed_time(hour, 0 * hour, hour, 0 * hour, 1e12 * hour).to("h").magnitude == pytest.approx(1.0)
    with pytest.raises(UnitError):
        electricity_cost(quantity(1, "kWh_it"), quantity(0.1, "USD/kWh_facility"))
    with pytest.raises(UnitError):
        rental_cost(8, quantity(1, "kWh_it"), quantity(2, "USD/chip/h"))
    with pytest.raises(UnitError):
        amortised_cost(8, hour, quantity(3, "USD/kWh_facility"), hour, 0.8)


def test_a_rented_run_is_the_product():
    run = rented(H100, [8, 16], [10.0, 20.0], "on_demand", "2025-03", provider="RunPod")
    usd = run.prices[0].usd
    np.testing.assert_allclose(run.cost, [8 * 10 * usd, 16 * 20 * usd])
    np.testing.assert_array_equal(run.parts["interruptions"], 0.0)
    assert "2025-03-03" in run.notes[0]


def test_spot_needs_and_takes_its_interruptions():
    with pytest.raises(CostError, match="Interruptions"):
        rented(H100, 8, 10, "spot", "2023-11")
    run = rented(H100, [8, 80, 400], 100, "spot", "2023-11", interruptions=OFTEN)
    assert np.all(np.diff(run.elapsed_h) > 0)
    np.testing.assert_allclose(sum(run.parts.values()), run.cost)
    assert run.parts["interruptions"][0] > 0
    assert "Young" in run.notes[1]


def test_an_owned_run_adds_hardware_and_electricity():
    run = owned(H100, 8, [100.0, 200.0], [1000.0, 0.001], "US-VA", "2023", purchase_usd_per_chip=30_000.0)
    np.testing.assert_allclose(sum(run.parts.values()), run.cost)
    assert run.parts["electricity"][0] == pytest.approx(89.2)
    assert run.parts["hardware"][1] == pytest.approx(2 * run.parts["hardware"][0])
    assert any("Written off" in note for note in run.notes)
    assert np.all(run.low <= run.cost)
    assert np.all(run.cost <= run.high)


@pytest.mark.parametrize(
    "asked",
    [{"chips": 0}, {"elapsed_h": float("nan")}, {"energy_facility_kwh": -1}, {"lifetime_h": 0}, {"in_use": 1.2}],
)
def test_owned_runs_with_impossible_numbers(asked):
    usual = {"chips": 8, "elapsed_h": 10.0, "energy_facility_kwh": 5.0, "purchase_usd_per_chip": 3e4}
    with pytest.raises(CostError):
        owned(H100, region="US-VA", date="2023", **usual | asked)


def test_other_currencies_only_with_a_dated_rate():
    run = rented(H100, 8, 10, "on_demand", "2025-03", provider="RunPod")
    euro = run.converted(ExchangeRate("EUR", 0.92, "2025-03-03"))
    np.testing.assert_allclose(euro.cost, run.cost * 0.92)
    assert euro.currency == "EUR"
    with pytest.raises(CostError, match="already"):
        euro.converted(ExchangeRate("EUR", 0.92, "2025-03-03"))
    for rate, date in ((0.0, "2025"), (float("nan"), "2025"), (0.9, "today")):
        with pytest.raises(CostError):
            run.converted(ExchangeRate("EUR", rate, date))


# --- prices that the caller says ---


def test_a_given_price_needs_no_row_and_no_date():
    run = rented(H100, 64, 100, "of our own", "", price_usd_per_chip_h=2.0)
    assert run.cost.tolist() == run.low.tolist() == run.high.tolist() == [12_800.0]
    assert run.prices[0].direction == "given" and run.prices[0].price_ids == ()
    own = owned(H100, 8, 10, 100.0, None, "", electricity_usd_per_kwh_facility=0.1, purchase_usd_per_chip=3e4)
    assert own.parts["electricity"].tolist() == [10.0]


@pytest.mark.parametrize("usd", [0.0, -1.0, float("nan"), float("inf")])
def test_a_given_price_is_a_finite_number_above_zero(usd):
    with pytest.raises(CostError, match="above zero"):
        rented(H100, 8, 10, "x", "", price_usd_per_chip_h=usd)
    with pytest.raises(CostError, match="above zero"):
        owned(H100, 8, 10, 5.0, None, "", electricity_usd_per_kwh_facility=usd, purchase_usd_per_chip=3e4)


def test_electricity_without_a_price_and_a_region_is_refused():
    with pytest.raises(CostError, match="give a region"):
        owned(H100, 8, 10, 5.0, None, "2024", purchase_usd_per_chip=3e4)


def test_a_gap_in_the_table_is_told_from_a_misspelling():
    with pytest.raises(PriceNotKnownError, match="Known of it"):
        rental_price(H100, "on_demand", "2025", provider="Salad")
    with pytest.raises(UnknownNameError, match="Nearest: RunPod") as caught:
        rental_price(H100, "on_demand", "2025", provider="Runpodd")
    assert not isinstance(caught.value, PriceNotKnownError)


@given(st.floats(1.0, 1e4), st.integers(1, 512), st.floats(0.01, 1.0))
def test_interruptions_only_add_hours_and_more_of_them_add_more(useful, chips, rate):
    often = Interruptions(86400.0 / rate, chips_per_machine=8, checkpoint_time_s=30.0, restart_time_s=60.0)
    more = Interruptions(86400.0 / (rate * 1.5), chips_per_machine=8, checkpoint_time_s=30.0, restart_time_s=60.0)
    (one,), _ = with_interruptions(useful, chips, often)
    (two,), _ = with_interruptions(useful, chips, more)
    assert useful < one < two
