"""The page Site: it shows the site's year, links hold its whole state, a link or file that is wrong is named."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from app_helpers import words
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.errors import EnergyError, WeatherError
from energy.facility.cases import all_cases
from energy.facility.description import design_of, weather_of
from energy.facility.results import facility_year, liquid_against_air
from energy.importers.yaml_text import parse_yaml
from energy.report.numbers import THIN
from energy.ui import site_data, site_tables, site_weather, tables
from energy.ui.site_data import SiteAsked

PAGE = "site.py"
PHOENIX = "phoenix-arizona-typical"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


def asked(**changed):
    given_ = {
        "case_id": "large_waterside",
        "load": 0.8,
        "rated_mw": 20.0,
        "supply_high_c": None,
        "supply_low_c": None,
        "liquid": "direct_to_chip",
        "capture": None,
        "loop_supply_c": None,
        "loop": "dry-water-cooled",
    }
    return SiteAsked(**(given_ | changed))


@pytest.fixture(scope="module")
def phoenix():
    return site_weather.choices()[PHOENIX].read()


@pytest.fixture(scope="module")
def found(phoenix):
    return site_data.found_of(asked(), phoenix)


# --- the page ---


def test_the_first_view_needs_no_ledger_and_has_the_year_s_figures_first(start, found):
    test = start(None, PAGE)
    seen = plain(test)
    one = found.year.annual
    assert f"Annual PUE {one.pue:.2f}" in seen
    assert f"WUE, withdrawn {one.wue_withdrawn_l_per_kwh_it:.2f} L/kWh" in seen
    assert "PUE alone would mislead" in seen
    assert "Outside the fitted range." in seen
    low, _, high = found.bounds.pue
    assert f"{low:.2f} – {high:.2f}" in seen
    assert "95 % range, all on one scale" not in seen  # these are 5th to 95th percentiles, and the page says so
    assert seen.index("Annual PUE") < seen.index("PUE alone would mislead") < seen.index("PUE is highest on")
    assert len(test.get("plotly_chart")) == 7


def test_the_whole_state_stands_in_the_address_and_a_link_shows_it_again(start):
    test = start(None, PAGE, weather="frankfurt-2023", cooling="hyperscale", liquid="rear_door", load="55", rated="3.5",
                 supply="24", coldest="12", capture="60", water="18", loop="tower")  # fmt: skip
    first = plain(test)
    assert "could not be read" not in first
    assert "A site in Frankfurt" in first
    again = start(None, PAGE, **dict(test.query_params.items()))
    assert plain(again) == first
    weather = site_weather.choices()["frankfurt-2023"].read()
    own = asked(case_id="hyperscale", liquid="rear_door", load=0.55, rated_mw=3.5, supply_high_c=24.0,
                supply_low_c=12.0, capture=0.6, loop_supply_c=18.0, loop="tower")  # fmt: skip
    assert f"Annual PUE {site_data.found_of(own, weather).year.annual.pue:.2f}" in first


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("weather", "phoenix-arizona-typicl", "Nearest: phoenix-arizona-typical"),
        ("cooling", "hyperscal", "Nearest: hyperscale"),
        ("rated", "abc", "`rated` is abc"),
        ("rated", "-1", "`rated` is -1"),
        ("rated", "nan", "`rated` is nan"),
        ("load", "250", "No load named 250"),
        ("liquid", "<b>x</b>", "No liquid named <b>x</b>"),
    ],
)
def test_a_bad_value_of_a_link_is_named_and_the_rest_is_shown(start, name, value, says):
    test = start(None, PAGE, **{"supply": "30", name: value})
    seen = plain(test)
    assert says.replace("`", "") in seen
    assert "could not be read" in seen
    assert "Annual PUE" in seen
    assert test.query_params["supply"] == "30"
    assert test.query_params[name] != value


def test_an_option_that_another_choice_takes_away_is_said(start):
    test = start(None, PAGE, cooling="large_waterside", loop="tower")
    select = next(one for one in test.selectbox if one.label == "Cooling")
    select.set_value("midsize_air_cooled").run()
    seen = plain(test)
    assert "loop was tower, which the other choices do not allow: now dry-air-cooled" in seen
    assert "Annual PUE" in seen


def test_air_alone_asks_for_a_liquid_to_compare_with(start):
    seen = plain(start(None, PAGE, liquid="none"))
    assert "Choose a liquid cooling above" in seen
    assert "Liquid against air" not in seen


def test_synthesised_weather_is_marked_and_no_water_is_said(start):
    seen = plain(start(None, PAGE, weather="normals-helsinki-vantaa", cooling="small_direct_expansion", liquid="none"))
    assert "Synthesised weather." in seen
    assert "A site in Helsinki" in seen


def test_a_file_of_one_s_own_is_shown_and_a_bad_one_is_refused_in_one_line(start):
    test = start(None, PAGE)
    test.file_uploader[0].set_value(("bad.csv", b"a,b\n1,2\n", "text/csv")).run()
    seen = plain(test)
    assert "File not used." in seen
    assert "Nothing was stored." in seen
    assert "A site in Phoenix" in seen
    hours = np.datetime64("2023-01-01T00", "m") + np.arange(8760) * np.timedelta64(60, "m")
    text = "# place: a roof\n# elevation_m: 50\nstart_utc,dry_bulb_c,rh_pct\n"
    text += "".join(f"{one}Z,{10 + 8 * np.sin(at / 1394.0):.2f},70\n" for at, one in enumerate(hours))
    test.file_uploader[0].set_value(("roof.csv", text.encode(), "text/csv")).run()
    seen = plain(test)
    assert "A site in a roof" in seen
    assert "A link to this page does not carry the file" in seen
    assert "No operator published a PUE or WUE whose place is not known" in seen


def test_short_weather_is_refused():
    text = b"# place: a roof\n# elevation_m: 50\nstart_utc,dry_bulb_c,rh_pct\n2026-01-01T00:00Z,10,80\n"
    with pytest.raises(WeatherError, match="1 h"):
        site_weather.uploaded("roof.csv", text)


# --- what the tables say ---


@pytest.mark.parametrize("case_id", [one.case_id for one in all_cases()])
@pytest.mark.parametrize("technology", ["none", "direct_to_chip", "rear_door"])
def test_every_option_that_is_offered_can_be_computed(phoenix, case_id, technology):
    for loop in site_data.loop_options(case_id):
        for high in (None, 15.0, 45.0):
            design = site_data.design_of(asked(case_id=case_id, liquid=technology, loop=loop, supply_high_c=high), "x")
            year = facility_year(design, phoenix)
            assert year.annual.pue >= 1.0
        if technology == "none":
            break


def test_the_months_add_up_to_the_year_and_to_the_meter(found):
    table = site_tables.months_table(found)
    *parts, whole = table.rows
    for column in (1, *range(3, 15)):
        total = sum(row.cells[column].value for row in parts)
        assert float(total) == pytest.approx(float(whole.cells[column].value), rel=1e-7)
    assert float(whole.cells[1].value) == pytest.approx(found.year.annual.energy_facility_kwh, rel=1e-8)
    months = sum(float(cell.value) for cell in whole.cells[3:])
    assert months == pytest.approx(found.year.annual.energy_facility_kwh, rel=1e-7)


def test_liquid_and_air_compute_the_same_and_the_difference_is_that_of_total_power(found, phoenix):
    air, wet, less = site_tables.comparison(found).rows
    keys = [column.key for column in site_tables.comparison(found).columns]
    computing, facility = keys.index("computing"), keys.index("facility")
    assert float(air.cells[computing].value) == pytest.approx(float(wet.cells[computing].value), rel=1e-8)
    assert less.cells[computing].value == 0
    stated = liquid_against_air(found.design, phoenix)
    assert float(wet.cells[facility].value) == pytest.approx(stated["liquid"].energy_facility_kwh, rel=1e-8)
    assert float(air.cells[facility].value) == pytest.approx(stated["air"].energy_facility_kwh, rel=1e-8)
    assert found.saved_fraction == pytest.approx(stated["energy_saved_fraction"], rel=1e-12)


def test_site_power_is_pue_for_air_and_counts_the_fans_that_went_for_liquid(found, phoenix):
    air = site_data.found_of(asked(liquid="none"), phoenix)
    power = {one.cell.id: one.cell.value for one in site_tables.figures_of(air)}
    assert power["site.power"] == power["site.pue"]
    with_liquid = {one.cell.id: one.cell.value for one in site_tables.figures_of(found)}
    assert with_liquid["site.power"] < with_liquid["site.pue"]


def test_the_way_back_of_each_figure_ends_in_the_figure_and_its_parts_add_up(found):
    shown = {one.cell.id: one.cell.value for one in site_tables.figures_of(found)}
    for name, steps in site_tables.steps_of(found).items():
        assert steps[-1].cell.value == shown[name]
    *parts, whole = site_tables.steps_of(found)["site.energy"]
    assert float(sum(step.cell.value for step in parts)) == pytest.approx(float(whole.cell.value), rel=1e-7)
    loop = next(step for step in parts if step.step == "Loop pumps")
    assert loop.status == "estimate"


@pytest.mark.parametrize(
    ("weather", "changed"),
    [
        (PHOENIX, {}),
        ("frankfurt-2023", {"liquid": "none", "supply_high_c": 24.0}),
        ("sao-paulo-2023", {"case_id": "hyperscale", "supply_low_c": 10.0, "capture": 0.35, "loop_supply_c": 25.0}),
    ],
)
def test_the_site_file_gives_the_figures_of_the_page(weather, changed, tmp_path):
    choice = site_weather.choices()[weather]
    text = site_data.site_yaml(asked(**changed), choice)
    values = parse_yaml(text, "site.yaml", EnergyError)
    again = facility_year(design_of(values, "site.yaml"), weather_of(values, "site.yaml", tmp_path))
    here = site_data.found_of(asked(**changed), choice.read()).year
    assert again.annual == here.annual


def test_no_site_file_where_its_place_would_name_other_weather():
    choices = site_weather.choices()
    offered = {key: site_data.site_yaml(asked(), choice) is not None for key, choice in choices.items()}
    assert offered["frankfurt-2023"]
    assert offered["frankfurt-2024"]
    assert not offered["normals-frankfurt"]


def test_the_hours_file_holds_every_hour_with_units_and_its_energy_is_the_year_s(found):
    rows = list(csv.DictReader(io.StringIO(tables.csv_bytes(site_tables.hour_rows(found)).decode())))
    assert len(rows) == found.year.weather.hours
    total = sum(float(row["power_facility_kw"]) for row in rows)
    assert total == pytest.approx(found.year.annual.energy_facility_kwh, rel=1e-6)
    assert all(re.search(r"_(utc|c|kw|kwh_it)$|^pue$", name) for name in rows[0])


def test_published_figures_name_their_operator_region_and_distance(found):
    near = site_tables.published_near(39.0, -77.5)
    assert {one.printed.provider for one in near} >= {"aws"}
    assert all(one.distance_km <= site_tables.NEAR_KM for one in near)
    assert [one.distance_km for one in near] == sorted(one.distance_km for one in near)
    rows = site_tables.published_table(near, found).rows
    assert rows[0].cells[4].value == site_tables.figures_of(found)[0].cell.value
    for row, one in zip(rows[1:], near, strict=True):
        value, mark = row.cells[4].value, row.cells[4].mark
        assert (value is None) is (one.printed.pue is None) is (mark == "no data")
    assert site_tables.published_near(None, None) == []


# --- hours on a clock ---


@settings(deadline=None, max_examples=30)
@given(offset=st.sampled_from([-12.0, -7.0, -3.5, 0.0, 1.0, 5.5, 9.0, 14.0]), year=st.sampled_from([2023, 2024]))
def test_every_hour_has_one_cell_and_none_is_lost(offset, year):
    start = np.arange(f"{year}-01-01T00", f"{year + 1}-01-01T00", dtype="datetime64[h]").astype("datetime64[s]")
    values = np.arange(start.size, dtype=float)
    grid = site_weather.by_day(start, offset, values)
    inside = grid.values[~np.isnan(grid.values)]
    assert sorted(inside.tolist()) == values.tolist()
    sums = site_weather.month_sums(site_weather.months_of(start, offset), values)
    assert sums.sum() == pytest.approx(values.sum())
    if offset == 0.0:
        assert not np.isnan(grid.values).any()
