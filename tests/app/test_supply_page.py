"""The page Supply: its figures are those of `energy supply`, every hour balances, the optimum comes on demand."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from app_helpers import words

from energy.errors import SupplyError
from energy.report.numbers import THIN
from energy.supply import extra
from energy.supply.site_supply import site_supply
from energy.supply.specification import supply_file
from energy.supply.typical import tmy3_weather
from energy.ui import site_run, site_weather, supply_data, supply_tables, tables
from energy.ui.supply_data import SupplyAsked

pytest.importorskip("pvlib", reason="the libraries of sites are not installed: pip install 'energy[site]'")
pytest.importorskip("scipy", reason="the libraries of sites are not installed: pip install 'energy[site]'")

PAGE = "supply.py"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


def asked(**changed):
    given = {
        "load_kw": 1000.0,
        "pv_kw": 3000.0,
        "mounting": "single axis",
        "tilt_deg": 0.0,
        "faces": "equator",
        "wind_kw": 500.0,
        "battery_kwh": 4000.0,
        "battery_kw": 1000.0,
        "round_trip": 0.9,
        "price": 0.08,
        "peak_price": None,
        "sold_price": None,
        "zone": "own",
        "intensity_g": 390.0,
        "share": 0.35,
    }
    return SupplyAsked(**(given | changed))


@pytest.fixture(scope="module")
def greensboro():
    return tmy3_weather("723170TYA.CSV")


@pytest.fixture(scope="module")
def found(greensboro):
    return supply_data.supply_of(asked(), greensboro)


# --- the page ---


def test_the_first_view_has_the_score_beside_annual_matching_and_no_optimum(start):
    test = start(None, PAGE)
    seen = plain(test)
    assert seen.index("24/7 score") < seen.index("Annual matching") < seen.index("Excess")
    assert "How far is the greedy rule from the optimum?" in seen
    assert "Optimum less rule" not in seen
    assert len(test.get("plotly_chart")) == 2
    assert "the largest error of any hour is" in seen


def test_the_optimum_comes_by_the_button_stands_in_the_address_and_goes_with_a_change(start):
    test = start(None, PAGE)
    next(one for one in test.button if one.label == "Compute the optimum").click().run()
    seen = plain(test)
    assert "above the optimum of the cost of energy" in seen
    assert test.query_params["optimum"] == "yes"
    assert len(test.get("plotly_chart")) == 3
    again = start(None, PAGE, **dict(test.query_params.items()))
    assert "above the optimum of the cost of energy" in plain(again)
    next(one for one in test.number_input if one.label == "PV, kW (DC)").set_value(2000.0).run()
    assert "How far is the greedy rule from the optimum?" in plain(test)
    assert "optimum" not in test.query_params


def test_the_whole_state_stands_in_the_address(start):
    test = start(None, PAGE, weather="frankfurt-2023", load_kw="500", pv_kw="750", mounting="roof", tilt="15",
                 faces="east", wind_kw="0", battery_kwh="0", battery_kw="0", round_trip="85", price="none", peak="none",
                 sold="0.02", zone="own", intensity="250", carbon_free="40", week="3", goal="matching",
                 grid="no")  # fmt: skip
    first = plain(test)
    assert "could not be read" not in first
    assert "no data no price is stated" in first
    assert "Full cycles of the battery no data" in first
    again = start(None, PAGE, **dict(test.query_params.items()))
    assert plain(again) == first


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("pv_kw", "-5", "pv_kw is -5"),
        ("battery_kwh", "1e99", "battery_kwh is 1e99"),
        ("price", "cheap", "price is cheap"),
        ("weather", "normals-helsinki-vantaa", "No weather named normals-helsinki-vantaa"),
        ("optimum", "maybe", "optimum is maybe"),
        ("week", "60", "No week named 60"),
    ],
)
def test_a_bad_value_of_a_link_is_named_and_the_rest_is_shown(start, name, value, says):
    test = start(None, PAGE, **{"load_kw": "700", name: value})
    seen = plain(test)
    assert says in seen
    assert "could not be read" in seen
    assert "24/7 score" in seen
    assert test.query_params["load_kw"] == "700"


def test_without_the_libraries_of_sites_one_line_says_the_remedy(start, monkeypatch):
    site_run.supply.clear()
    monkeypatch.setattr(extra, "find_spec", lambda name: None)
    seen = plain(start(None, PAGE, pv_kw="1234"))
    assert "Not computed. This needs pvlib: install with pip install 'energy[site]'" in seen
    assert "Error" not in seen
    assert "Annual matching" not in seen


def test_an_optimum_without_its_price_asks_for_it(start):
    seen = plain(start(None, PAGE, price="none", optimum="yes"))
    assert "The optimum of the cost of energy needs a price: state it above" in seen


def test_hours_of_one_s_own_take_the_place_of_the_load(start):
    test = start(None, PAGE, pv_kw="0", wind_kw="0", battery_kwh="0", battery_kw="0")
    text = "load_facility_mw\n" + "2\n" * 8760
    test.file_uploader[0].set_value(("load.csv", text.encode(), "text/csv")).run()
    seen = plain(test)
    assert "load.csv: load by hour in place of the values above" in seen
    assert "Year 17 520" in seen
    test.file_uploader[0].set_value(("load.csv", b"power\n1\n", "text/csv")).run()
    assert "has no column whose name says its unit" in plain(test)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"load_facility_kw,peak_facility_mw\n1,1\n", "2 columns of load"),
        (b"load_facility_kw\n-1\n", "below zero"),
        (b"load_facility_kw\nx\n", "no number"),
        (b"\xff\xfe\x00", "no CSV text"),
        (b"", "no column"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_by_name(text, says):
    with pytest.raises(SupplyError, match=says):
        supply_data.hours_file("hours.csv", text)


def test_a_file_of_other_length_is_refused(greensboro):
    short = supply_data.hours_file("hours.csv", b"load_facility_kw\n1\n2\n")
    with pytest.raises(SupplyError, match="2 rows"):
        supply_data.supply_of(asked(), greensboro, short)


# --- what it says ---


def test_the_figures_are_those_of_a_supply_file(found):
    efficiency = float(np.sqrt(0.9))
    values = {
        "weather": {"typical": "723170TYA.CSV"},
        "load": "1 MW",
        "photovoltaics": {"capacity": "3 MW", "mounting": "single axis", "tilt_deg": 0, "azimuth_deg": 180},
        "wind": {
            "capacity": "500 kW",
            "measured_height": "10 m",
            "hub_height": "100 m",
            "shear_exponent": 0.143,
            "cut_in": "3 m/s",
            "rated": "12 m/s",
            "cut_out": "25 m/s",
            "losses": 0.1,
        },
        "battery": {
            "capacity": "4 MWh",
            "charge_power": "1 MW",
            "discharge_power": "1 MW",
            "charge_efficiency": efficiency,
            "discharge_efficiency": efficiency,
        },
        "grid": {"price": "0.08 USD/kWh", "intensity": "390 gCO2e/kWh", "carbon_free_share": 0.35},
        "dispatch": {"goal": "matching"},
    }
    stated = site_supply(supply_file(values, "a.yaml"), Path()).figures
    rule = stated["greedy"]
    one = found.dispatch
    for name in ("generation", "charge", "discharge", "grid", "excess"):
        here = float(getattr(one, f"{name}_facility_kwh").sum())
        assert here == pytest.approx(rule[f"{name}_energy"].value, rel=1e-12)
    assert found.with_grid.score == pytest.approx(rule["score_24_7"].value, rel=1e-12)
    assert found.own.score == pytest.approx(rule["score_24_7_own_plants"].value, rel=1e-12)
    assert found.own.annual_matching == pytest.approx(rule["annual_matching"].value, rel=1e-12)
    assert supply_tables.cost_usd(found, one) == pytest.approx(rule["energy_cost"].value, rel=1e-12)
    assert supply_tables.emissions_kgco2e(found, one) == pytest.approx(rule["emissions_average"].value, rel=1e-12)
    best, terms = supply_data.optimum_of(found, "matching", charge_from_grid=False)
    assert best.value == pytest.approx(stated["optimum"]["goal_of_optimum"].value, rel=1e-6)
    assert supply_data.gap_pct(best, terms, one) == pytest.approx(stated["optimum"]["gap_of_greedy"].value, abs=1e-4)


def test_the_way_back_of_each_figure_ends_in_the_figure(found):
    shown = {one.cell.id: one.cell.value for one in supply_tables.figures_of(found)}
    ways = supply_tables.steps_of(found)
    assert set(ways) == {"supply.generation", "supply.cost", "supply.emissions"}
    for name, steps in ways.items():
        assert steps[-1].cell.value == shown[name]
    bought, mean, emitted = (float(step.cell.value) for step in ways["supply.emissions"])
    assert bought * mean / 1000.0 == pytest.approx(emitted, rel=1e-7)


def test_the_months_add_up_and_the_year_balances(found):
    table = supply_tables.months_table(found)
    keys = [column.key for column in table.columns]
    *months, year = table.rows
    for place, key in enumerate(keys):
        if key in ("month", "score"):
            continue
        total = sum(float(row.cells[place].value) for row in months)
        assert total == pytest.approx(float(year.cells[place].value), rel=1e-7, abs=1e-6)
    value = {key: cell.value for key, cell in zip(keys, year.cells, strict=True)}
    into = value["pv"] + value["wind"] + value["discharge"] + value["grid"]
    out = value["load"] + value["charge"] + value["excess"]
    assert float(into) == pytest.approx(float(out), rel=1e-8)
    assert float(value["score"]) == pytest.approx(found.own.score, rel=1e-8)


@pytest.mark.parametrize("from_grid", [False, True])
def test_the_optimum_is_never_dearer_and_its_week_makes_the_load(greensboro, from_grid):
    dear = supply_data.supply_of(asked(peak_price=0.2), greensboro)
    best, terms = supply_data.optimum_of(dear, "cost", charge_from_grid=from_grid)
    assert best.value <= terms.value_of(dear.dispatch) * (1.0 + 1e-9)
    assert supply_tables.cost_usd(dear, best.dispatch) == pytest.approx(best.value, rel=1e-9)
    assert best.dispatch.balance_error_kwh < 1e-6
    for dispatch in (dear.dispatch, best.dispatch):
        week = supply_tables.week_of(dear, dispatch, 27)
        made = week.direct + week.discharge + week.grid
        assert (made >= week.load - 1e-6).all()
        if dispatch is dear.dispatch or not from_grid:
            assert made == pytest.approx(week.load, abs=1e-6)


@pytest.mark.parametrize("number", [1, 27, 52])
@pytest.mark.parametrize("key", ["frankfurt-2024", "mumbai-2023", "phoenix-arizona-typical"])
def test_a_week_has_168_hours_from_a_midnight(key, number):
    weather = site_weather.choices()[key].read()
    here = supply_data.supply_of(asked(), weather)
    week = supply_tables.week_of(here, here.dispatch, number)
    assert week.load.size == week.clock.size == 168
    assert str(week.clock[0])[11:13] == "00"
    assert supply_tables.week_options(weather.start_utc, weather.standard_offset_h)[str(number)].startswith(
        f"{number},"
    )


def test_the_evening_has_its_price_and_an_unknown_price_stays_unknown(greensboro):
    dear = supply_data.supply_of(asked(peak_price=0.2), greensboro)
    clock = supply_data.hour_of_day(greensboro)
    assert set(dear.price[(clock >= 16) & (clock < 21)]) == {0.2}
    assert set(dear.price[(clock < 16) | (clock >= 21)]) == {0.08}
    unknown = supply_data.supply_of(asked(price=None, intensity_g=None), greensboro)
    assert unknown.price is None
    assert supply_tables.cost_usd(unknown, unknown.dispatch) is None
    assert list(supply_data.goals(unknown)) == ["matching"]
    with pytest.raises(SupplyError, match="needs a price"):
        supply_data.terms_of(unknown, "cost", charge_from_grid=False)


def test_intensity_of_a_zone_is_its_average_day_of_the_month(greensboro):
    here = supply_data.supply_of(asked(zone="US-PJM"), greensboro)
    profile = supply_data.profile_of("US-PJM")
    row = 4000
    month = int(str(greensboro.start_utc[row])[5:7]) - 1
    hour = int(str(greensboro.start_utc[row])[11:13])
    assert here.intensity[row] * 1000.0 == pytest.approx(profile.values[month, hour])
    assert any("US-PJM" in note and profile.boundary in note for note in here.notes)


def test_every_weather_that_is_offered_has_sun():
    for key in site_weather.options(with_sun=True):
        here = supply_data.supply_of(asked(), site_weather.choices()[key].read())
        assert here.sun.energy_facility_kwh > 0.0


def test_the_hours_file_balances_row_by_row(found):
    rows = list(csv.DictReader(io.StringIO(tables.csv_bytes(supply_tables.hour_rows(found, found.dispatch)).decode())))
    assert len(rows) == found.weather.hours
    for row in rows[::97]:
        flow = {name: float(row[f"{name}_facility_kwh"]) for name in
                ("load", "photovoltaics", "wind", "charge", "discharge", "grid", "excess")}  # fmt: skip
        gap = flow["photovoltaics"] + flow["wind"] + flow["discharge"] + flow["grid"]
        assert gap == pytest.approx(flow["load"] + flow["charge"] + flow["excess"], abs=1e-4)
