"""The page Grid: hours, mix, zones side by side, spread; one boundary at a time, source and licence beside each."""

from __future__ import annotations

import re

import pytest
from app_helpers import markup, words

from energy.catalogue.mixes import generation_mix
from energy.catalogue.profiles import all_profiles, intensity_set, profile
from energy.report.numbers import THIN
from energy.ui import grid_data

PAGE = "grid.py"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


@pytest.mark.parametrize("zone", [one.zone_id for one in all_profiles() if one.boundary == "lifecycle"])
def test_every_zone_shows_its_charts_without_a_ledger(start, zone):
    test = start(None, PAGE, zone=zone, boundary="lifecycle")
    seen = plain(test)
    assert "could not be" not in seen
    found = grid_data.extremes(profile(zone, "lifecycle"))
    assert f"{found.mean:.0f}" in seen
    assert grid_data.when(found.low_at) in seen
    charts = len(test.get("plotly_chart"))
    assert charts == 5 or (charts == 4 and f"No spread of factors for {zone}" in seen)
    about = intensity_set(zone)
    assert seen.count(f"Licence: {about.licence}") == 2
    assert about.publisher in seen


@pytest.mark.parametrize("boundary", ["direct", "lifecycle"])
def test_the_switch_changes_every_figure_and_no_ratio_spans_both(start, boundary):
    test = start(None, PAGE, zone="US-CISO", boundary=boundary, place="CAMX")
    seen = plain(test)
    assert f"Public {boundary} factors of" in seen
    ratio = float(re.search(r"differ ([\d.]+) times", seen)[1])
    from energy.carbon.spread import spread
    from energy.units import quantity

    values = [
        line.intensity_gco2e_per_kwh_facility
        for line in spread("CAMX", quantity(1.0, "GWh_facility"), 2026)
        if line.boundary == boundary
    ]
    assert ratio == pytest.approx(max(values) / min(values), abs=0.051)
    table = grid_data.spread_table(spread("CAMX", quantity(1.0, "GWh_facility"), 2026), boundary)
    for row in table.rows:
        _, _, held, where, *_ = row.cells
        assert (held.mark == "not applicable") is (where.value != boundary)


def test_a_zone_without_a_boundary_says_why_and_leads_to_the_other(start):
    test = start(None, PAGE, zone="CHE", boundary="direct")
    seen = plain(test)
    assert "has no direct intensity by hour" in seen
    assert "Not known is not zero" in seen
    after = plain(test.button[0].click().run())
    assert "has no direct intensity" not in after
    assert "Mean of the hours" in after


def test_a_cloud_region_has_its_provider_s_figure_in_no_ratio(start):
    test = start(None, PAGE, zone="FIN", boundary="lifecycle", place="gcp europe-north1")
    seen = plain(test)
    assert "gcp-europe-north1-" in seen
    assert "does not state the boundary" in seen


@pytest.mark.parametrize(
    ("place", "says"), [("Atlantis", "Atlantis"), ("Swedn", "Nearest: Sweden"), ("<b>x</b>", "<b>x</b>")]
)
def test_an_unknown_place_is_said_and_the_rest_of_the_page_stays(start, place, says):
    test = start(None, PAGE, zone="FRA", place=place)
    seen = plain(test)
    assert says in seen
    assert "Mean of the hours" in seen
    assert "<b>x</b>" not in markup(test)


def test_bad_values_of_a_link_are_named_and_good_ones_are_kept(start):
    test = start(None, PAGE, zone="US-PJN", boundary="direct")
    seen = plain(test)
    assert "No zone named US-PJN. Nearest: US-PJM" in seen
    assert test.query_params["boundary"] == "direct"
    good = start(None, PAGE, zone="DEU", boundary="direct", place="aws eu-central-1", year="2023")
    assert "could not be read" not in plain(good)
    assert good.query_params["zone"] == "DEU"
    assert good.query_params["year"] == "2023"


def test_every_block_has_its_download(start):
    test = start(None, PAGE, zone="FRA", boundary="lifecycle")
    assert len(test.get("download_button")) == 4


# --- what the tables say ---


def test_the_table_of_hours_is_the_profile_and_absent_hours_are_no_data():
    one = profile("US-PJM", "direct")
    table = grid_data.month_table(one)
    assert len(table.rows) == 12
    for month, row in enumerate(table.rows):
        assert [float(cell.value) for cell in row.cells[1:]] == pytest.approx(one.values[month].tolist(), abs=0.051)
    assert grid_data._cell("x", float("nan")).mark == "no data"


def test_shares_of_the_mix_add_up_and_what_is_not_named_is_last():
    mix = generation_mix("IRL")
    table = grid_data.mix_table(mix)
    assert float(sum(row.cells[2].value for row in table.rows)) == pytest.approx(1, abs=1e-3)
    assert table.rows[-1].key == "unknown"


def test_zones_side_by_side_have_one_boundary_and_rise():
    for boundary in ("direct", "lifecycle"):
        zones = grid_data.side_by_side(boundary)
        assert {one.boundary for one, _ in zones} == {boundary}
        means = [found.mean for _, found in zones]
        assert means == sorted(means)
        assert len(grid_data.zones_table(zones, boundary).rows) == len(zones)
