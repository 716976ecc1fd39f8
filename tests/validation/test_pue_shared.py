"""PUE and WUE against the published model and operators' figures; nothing is fitted."""

from __future__ import annotations

import csv

import pytest

from energy.validation.statistics import document
from energy.validation.suites import SUITES, run


@pytest.fixture(scope="module")
def found(shared_folder):
    if not (shared_folder / SUITES["pue"].data).is_file():
        pytest.skip(f"no published PUE at {shared_folder}")
    return document(run("pue", shared_folder / SUITES["pue"].data))


def test_the_published_model_is_met(found):
    assert found["groups"]["kind"]["published_model"]["answered"] == 196
    assert found["published_model_pue_mape_pct"] <= 3.0
    assert found["published_model_wue_mean_absolute_error_l_per_kwh_it"] <= 0.06


def test_operators_are_met_by_one_set_of_parameters(found):
    assert found["groups"]["kind"]["operator_reported"]["answered"] >= 100
    assert found["operator_pue_median_absolute_error"] <= 0.06


def test_a_file_without_its_weather_answers_nothing_and_says_why(shared_folder, tmp_path):
    rows = list(csv.DictReader((shared_folder / SUITES["pue"].data).read_text(encoding="utf-8").splitlines()))
    row = next(row for row in rows if row["kind"] == "published_model") | {"ashrae_climate_zone": "9Z"}
    path = tmp_path / "validation" / "pue.csv"
    path.parent.mkdir()
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(row))
        writer.writeheader()
        writer.writerow(row)
    outcome = run("pue", path)
    assert not outcome.compared
    assert "9Z" in outcome.failures[0].reason
