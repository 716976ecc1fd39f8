"""Sun, irradiance and photovoltaics: against pvlib itself, and the guards against years that come out as nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.errors import SupplyError
from energy.supply.cell_temperature import fuentes_c
from energy.supply.irradiance import irradiance_of
from energy.supply.photovoltaics import PhotovoltaicSystem, photovoltaic_year, photovoltaic_years
from energy.supply.sun import sun_of_hours
from energy.supply.typical import tmy3_weather

HOUR = np.timedelta64(3600, "s")
LIGHT = ("dni_w_per_m2", "dhi_w_per_m2", "ghi_w_per_m2", "cloud_cover")
SYSTEM = PhotovoltaicSystem(1000.0, "open rack", 30.0, 180.0)


@pytest.fixture(scope="module")
def greensboro():
    return tmy3_weather("723170TYA.CSV")


@pytest.fixture(scope="module")
def north():
    """Sand Point, Alaska: low sun, many hours at the horizon."""
    return tmy3_weather("703165TY.csv")


def hours_of(year=2024):
    return np.arange(f"{year}-01-01T00:30", f"{year + 1}-01-01T00:30", 3600, dtype="datetime64[s]")


@pytest.mark.parametrize(
    ("latitude", "longitude"), [(39.7, -105.2), (1.3, 103.8), (-33.9, 151.2), (64.1, -21.9), (-77.8, 166.7)]
)
def test_sun_is_where_pvlib_puts_it(latitude, longitude):
    import pandas as pd
    from pvlib import solarposition

    instants = hours_of()
    expected = solarposition.spa_python(
        pd.DatetimeIndex(instants, tz="UTC"), latitude, longitude, pressure=101325.0, temperature=12.0
    )
    found = sun_of_hours(instants, latitude, longitude, 101325.0, 12.0, is_mean=False)
    assert np.abs(found.zenith_deg - expected["apparent_zenith"].to_numpy()).max() < 0.01
    high = expected["apparent_zenith"].to_numpy() < 89.0
    apart = (found.azimuth_deg - expected["azimuth"].to_numpy() + 180.0) % 360.0 - 180.0
    # the azimuth turns fast where the sun stands overhead
    assert np.abs(apart * np.sin(np.radians(found.zenith_deg)))[high].max() < 0.01


@given(latitude=st.floats(-89.0, 89.0), longitude=st.floats(-180.0, 180.0))
@settings(max_examples=15, deadline=None)
def test_daylight_of_a_year_is_half_of_it_and_a_little_more(latitude, longitude):
    daylight = sun_of_hours(hours_of(2023), latitude, longitude, 101325.0, 12.0).daylight
    assert daylight.min() >= 0.0
    assert daylight.max() <= 1.0 + 1e-12
    # refraction and the disc lengthen days; close to the poles by most
    assert 0.495 < daylight.mean() < 0.56


def test_longitude_turns_the_clock_and_nothing_else():
    instants = hours_of(2023)
    here = sun_of_hours(instants, 40.0, 0.0, 101325.0, 12.0, is_mean=False)
    west = sun_of_hours(instants + 6 * HOUR, 40.0, -90.0, 101325.0, 12.0, is_mean=False)
    # six hours later the declination has moved by 0.1 degrees at most
    up = here.zenith_deg < 89.0
    assert up.sum() > 4000
    assert np.abs(here.zenith_deg - west.zenith_deg)[up].max() < 0.2


def test_sunrise_hours_take_the_sun_of_their_lit_part(greensboro):
    mean = irradiance_of([greensboro])
    instant = sun_of_hours(
        greensboro.sun_utc, 36.1, -79.95, greensboro.pressure_pa, greensboro.dry_bulb_c, is_mean=False
    )
    partial = sun_of_hours(greensboro.sun_utc, 36.1, -79.95, greensboro.pressure_pa, greensboro.dry_bulb_c)
    edge = (partial.daylight > 0.0) & (partial.daylight < 0.5)
    assert edge.sum() > 300
    assert (instant.zenith_deg[edge] > 90.0).all()  # the middle of the hour lies in the night
    assert (partial.zenith_deg[edge] < 90.5).all()
    assert mean.zenith_deg.max() < 90.0


def test_cells_are_as_warm_as_pvlib_says():
    import pandas as pd
    from pvlib import temperature

    rng = np.random.default_rng(3)
    count = 400
    sun, air, wind = rng.uniform(5.0, 1100.0, count), rng.uniform(-20.0, 40.0, count), rng.uniform(0.0, 15.0, count)
    index = pd.date_range("2023-06-01", periods=count, freq="h", tz="UTC")
    expected = temperature.fuentes(*(pd.Series(one, index) for one in (sun, air, wind)), 45.0).to_numpy()
    before = np.arange(count) - 1
    found = fuentes_c(sun, np.where(before < 0, 0.0, sun[before]), air, air[np.maximum(before, 0)], wind, before, 45.0)
    # pvlib begins the first hour at 20 C and stops at ten steps of its own
    assert np.abs(found - expected)[3:].max() < 0.02


@pytest.mark.parametrize("mounting", ["open rack", "roof", "single axis"])
def test_energy_by_parts_adds_up(greensboro, north, mounting):
    for weather in (greensboro, north):
        year = photovoltaic_year(weather, replace(SYSTEM, mounting=mounting, tilt_deg=10.0))
        parts = dict(year.energy_parts_kwh)
        whole = parts.pop("plane")
        assert sum(parts.values()) == pytest.approx(whole, rel=1e-12)
        assert sum(year.plane_parts_kwh_per_m2.values()) * 1000.0 == pytest.approx(whole, rel=1e-12)
        assert parts["delivered"] == pytest.approx(year.power_facility_kw.sum(), rel=1e-12)
        assert min(parts[name] for name in ("reflection", "losses", "conversion", "clipping")) >= 0.0


def test_low_sun_does_not_turn_a_year_into_nothing(north):
    """Below the horizon pvlib answers NaN, which spreads through cell temperatures and becomes 0 at the inverter."""
    year = photovoltaic_year(north, replace(SYSTEM, mounting="single axis", tilt_deg=0.0))
    assert np.isfinite(year.power_facility_kw).all()
    assert np.isfinite(year.cell_c).all()
    assert 500_000.0 < year.energy_facility_kwh < 1_200_000.0
    assert (year.power_facility_kw > 0.0).sum() > 3_500


@pytest.mark.parametrize("name", ["dry_bulb_c", "pressure_pa", "wind_speed_m_per_s", "dni_w_per_m2", "dhi_w_per_m2"])
def test_missing_weather_is_missing_power_and_not_none(greensboro, name):
    values = getattr(greensboro, name).copy()
    noon = int(np.argmax(photovoltaic_year(greensboro, SYSTEM).power_facility_kw))
    values[noon] = np.nan
    year = photovoltaic_year(replace(greensboro, **{name: values}), SYSTEM)
    assert np.isnan(year.power_facility_kw[noon])
    assert year.missing_h == 1
    assert np.isfinite(np.delete(year.power_facility_kw, noon)).all()


@given(factor=st.floats(0.01, 1e4))
@settings(max_examples=10, deadline=None)
def test_doubling_the_plant_doubles_every_hour(greensboro, factor):
    one = photovoltaic_year(greensboro, SYSTEM)
    many = photovoltaic_year(greensboro, replace(SYSTEM, capacity_dc_kw=1000.0 * factor))
    np.testing.assert_allclose(many.power_facility_kw, one.power_facility_kw * factor, rtol=1e-9, atol=1e-9)


def test_many_places_at_once_are_the_same_as_one_by_one(greensboro, north):
    systems = [SYSTEM, replace(SYSTEM, mounting="single axis", tilt_deg=0.0, module="premium", cell_model="sandia")]
    together = photovoltaic_years([greensboro, north], systems)
    for weather, system, found in zip((greensboro, north), systems, together, strict=True):
        np.testing.assert_array_equal(found.power_facility_kw, photovoltaic_year(weather, system).power_facility_kw)


def test_the_same_instants_give_the_same_power_on_any_row(greensboro):
    shift = 100
    turned = greensboro.taken(np.arange(shift, greensboro.hours))
    whole = photovoltaic_year(greensboro, SYSTEM).power_facility_kw[shift:]
    np.testing.assert_allclose(photovoltaic_year(turned, SYSTEM).power_facility_kw[1:], whole[1:], rtol=1e-12)


def test_clear_sky_is_an_upper_bound_and_says_so(greensboro):
    real, clear = photovoltaic_year(greensboro, SYSTEM), photovoltaic_year(greensboro, SYSTEM, clear_sky=True)
    assert clear.is_upper_bound
    assert not real.is_upper_bound
    assert any("upper bound" in note for note in clear.notes)
    assert clear.energy_facility_kwh > 1.1 * real.energy_facility_kwh


def test_global_alone_and_clouds_alone_say_what_they_are(greensboro):
    alone = replace(greensboro, dni_w_per_m2=None, dhi_w_per_m2=None)
    split = photovoltaic_year(alone, SYSTEM)
    assert split.source == "from global"
    assert split.energy_facility_kwh == pytest.approx(
        photovoltaic_year(greensboro, SYSTEM).energy_facility_kwh, rel=0.05
    )
    cloudy = replace(alone, ghi_w_per_m2=None, cloud_cover=np.full(greensboro.hours, 0.5))
    rough = photovoltaic_year(cloudy, SYSTEM)
    assert rough.source == "from clouds"
    assert any("rough" in note for note in rough.notes)


@pytest.mark.parametrize("hours", [-2, -1, 1, 2])
def test_a_wrong_clock_is_refused(greensboro, hours):
    wrong = replace(greensboro, start_utc=greensboro.start_utc + hours * HOUR)
    with pytest.raises(SupplyError, match="time zone"):
        photovoltaic_year(wrong, SYSTEM)


def test_a_wrong_hemisphere_is_refused(greensboro):
    with pytest.raises(SupplyError, match="check its time zone"):
        photovoltaic_year(replace(greensboro, latitude_deg=-36.1), SYSTEM)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"latitude_deg": None}, "latitude"),
        ({"wind_speed_m_per_s": None}, "wind"),
        (dict.fromkeys(LIGHT), "neither irradiance nor cloud"),
    ],
)
def test_what_is_not_known_is_said(greensboro, change, message):
    with pytest.raises(SupplyError, match=message):
        photovoltaic_year(replace(greensboro, **change), SYSTEM)


@pytest.mark.parametrize(
    "change",
    [
        {"capacity_dc_kw": 0.0},
        {"capacity_dc_kw": float("nan")},
        {"tilt_deg": 91.0},
        {"losses": 1.2},
        {"mounting": "rooftop"},
        {"module": "premum"},
    ],
)
def test_a_plant_that_is_none_is_refused(change):
    with pytest.raises(SupplyError):
        replace(SYSTEM, **change)
