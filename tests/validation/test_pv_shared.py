"""Photovoltaics against PVWatts' own hours and pvlib's chain: the limits that the project promises."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from energy.errors import SupplyError
from energy.supply.photovoltaics import PhotovoltaicSystem, photovoltaic_year
from energy.validation.pv import hourly_rmse, pvwatts_hours
from energy.validation.statistics import document
from energy.validation.suites import SUITES, run
from energy.weather.readers import read_weather

HOURS_FILE = "data/weather/pvwatts_8760_golden_co_rackmount.csv"
GOLDEN = PhotovoltaicSystem(4.0, "open rack", 20.0, 180.0)


@pytest.fixture(scope="module")
def golden(shared_folder):
    return pvwatts_hours(shared_folder / HOURS_FILE)


def test_annual_energy_is_within_a_thousandth(shared_folder):
    outcome = run("pv", shared_folder / SUITES["pv"].data)
    assert not outcome.failures
    for one in outcome.compared:
        assert one.predicted == pytest.approx(one.measured, rel=1e-3), one.row_id
    assert document(outcome)["hourly_rmse_pct_of_capacity"] <= 0.2


@pytest.mark.parametrize(
    ("name", "scale", "most"), [("power_facility_kw", 4.0, 2e-3), ("plane_w_per_m2", 1000.0, 2e-3)]
)
def test_hours_are_within_two_thousandths(golden, name, scale, most):
    weather, published = golden
    found = getattr(photovoltaic_year(weather, GOLDEN), name)
    assert hourly_rmse(found, published[name], scale) <= 2e-3
    # and no hour is far off by itself
    assert np.abs(found - published[name]).max() <= 0.02 * scale


@pytest.mark.parametrize("minutes", [-30, 30])
def test_another_clock_fits_worse(golden, minutes):
    """The half hour of the interval is what the hours themselves say: no other shift comes near."""
    weather, published = golden
    shifted = replace(weather, irradiance_offset_h=0.5 + minutes / 60.0)
    right, wrong = (photovoltaic_year(one, GOLDEN).power_facility_kw for one in (weather, shifted))
    errors = [hourly_rmse(one, published["power_facility_kw"], 4.0) for one in (right, wrong)]
    assert errors[1] > 10.0 * errors[0]


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_wrong_by_an_hour_is_refused_without_global_irradiance(golden, hours):
    weather, _ = golden
    wrong = replace(weather, start_utc=weather.start_utc + np.timedelta64(hours, "h"))
    with pytest.raises(SupplyError, match="hours without sun"):
        photovoltaic_year(wrong, GOLDEN)


def test_every_typical_year_at_hand_closes(shared_folder):
    with (shared_folder / "data/weather/index.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["file"].startswith("tmy_")]
    assert len(rows) >= 7
    for row in rows:
        weather = read_weather(
            shared_folder / "data/weather" / row["file"],
            place=row["location"],
            elevation_m=float(row["elevation_m"]),
            kind="typical",
            standard_offset_h=float(row["source_utc_offset_h"]),
            latitude_deg=float(row["latitude_deg"]),
            longitude_deg=float(row["longitude_deg"]),
        )
        year = photovoltaic_year(weather, PhotovoltaicSystem(1.0, "open rack", 30.0, 180.0))
        assert 1000.0 < year.energy_facility_kwh < 2000.0, row["file"]
        assert any("differ by" in note for note in year.notes)
