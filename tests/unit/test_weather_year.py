"""A year of weather: what its labels mean, what is derived, what is refused, and how it maps to other years."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.errors import WeatherError
from energy.weather.synthesis import synthesised_year
from energy.weather.year import weather_year

ABOUT = {"place": "a hall", "elevation_m": 100.0, "source": "test", "kind": "historical", "convention": "beginning"}
MONTHS = [1.0, 3.0, 7.0, 11.0, 16.0, 20.0, 22.0, 21.0, 17.0, 11.0, 6.0, 2.0]


def made(**changed):
    hours = np.arange("2023-01-01T00", "2024-01-01T00", dtype="datetime64[h]")
    day = np.arange(hours.size)
    parts = {"times": hours, "dry_bulb_c": 10.0 + day / 1000.0, "relative_humidity": np.full(hours.size, 0.5)}
    return weather_year(**{**ABOUT, **parts, **changed})


def test_an_ending_label_stands_for_the_hour_before():
    label = np.array(["2026-03-01T01:00"], dtype="datetime64[m]")
    found = made(times=label, dry_bulb_c=[5.0], relative_humidity=[0.5], convention="ending")
    assert found.start_utc[0] == np.datetime64("2026-03-01T00:00:00")
    assert found.sun_utc[0] == np.datetime64("2026-03-01T00:30:00")


@settings(deadline=None, max_examples=60)
@given(st.integers(-12, 14))
def test_the_same_instants_in_any_zone_are_the_same_year(offset):
    zone = timezone(timedelta(hours=offset))
    times = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(5)]
    values = {"dry_bulb_c": np.arange(5.0), "relative_humidity": np.full(5, 0.4)}
    here = made(times=times, **values)
    there = made(times=[moment.astimezone(zone) for moment in times], **values)
    assert np.array_equal(here.start_utc, there.start_utc)
    assert np.array_equal(here.wet_bulb_c, there.wet_bulb_c)


@pytest.mark.parametrize("unit", ["h", "m", "s", "ms", "ns"])
def test_any_unit_of_the_index_is_read(unit):
    times = np.array(["2026-01-01T00", "2026-01-01T01"], dtype=f"datetime64[{unit}]")
    assert made(times=times, dry_bulb_c=[1.0, 2.0], relative_humidity=[0.5, 0.5]).start_utc.dtype == "datetime64[s]"


def test_what_no_air_has_is_refused():
    with pytest.raises(WeatherError, match="has no zone"):
        made(times=[datetime(2026, 1, 1)], dry_bulb_c=[1.0], relative_humidity=[0.5])
    with pytest.raises(WeatherError, match="divide percent"):
        made(relative_humidity=np.full(8760, 50.0))
    with pytest.raises(WeatherError, match="Pa"):
        made(pressure_pa=np.full(8760, 1013.25))
    with pytest.raises(WeatherError, match="above its dry bulb"):
        made(relative_humidity=None, dew_point_c=np.full(8760, 30.0))
    with pytest.raises(WeatherError, match="neither"):
        made(relative_humidity=None)
    with pytest.raises(WeatherError, match="rise"):
        made(times=np.zeros(8760, dtype="datetime64[h]"))
    with pytest.raises(WeatherError, match="shape"):
        made(dry_bulb_c=[1.0])


def test_dew_point_and_humidity_give_the_same_air():
    one = made()
    other = made(relative_humidity=None, dew_point_c=one.dew_point_c)
    assert other.relative_humidity == pytest.approx(one.relative_humidity, abs=1e-6)
    assert other.wet_bulb_c == pytest.approx(one.wet_bulb_c, abs=1e-4)


def test_missing_hours_are_null_and_counted():
    humid = np.full(8760, 0.5)
    humid[:3] = np.nan
    found = made(relative_humidity=humid)
    assert found.missing_h == 3
    assert np.isnan(found.wet_bulb_c[:3]).all()
    assert not np.isnan(found.wet_bulb_c[3:]).any()


@pytest.mark.parametrize(("year", "hours"), [(2023, 8760), (2024, 8784), (2100, 8760)])
def test_a_year_maps_to_any_other_by_month_day_and_hour(year, hours):
    source = made()
    found = source.for_year(year)
    assert found.hours == hours
    assert found.start_utc[0] == np.datetime64(f"{year}-01-01T00:00:00")
    assert found.dry_bulb_c[-1] == source.dry_bulb_c[-1]
    march = np.flatnonzero(found.start_utc == np.datetime64(f"{year}-03-01T00:00:00"))[0]
    assert found.dry_bulb_c[march] == source.dry_bulb_c[59 * 24]
    if hours == 8784:
        assert np.array_equal(found.dry_bulb_c[59 * 24 : 60 * 24], source.dry_bulb_c[58 * 24 : 59 * 24])
    assert np.array_equal(found.for_year(2023).dry_bulb_c, source.dry_bulb_c)


@pytest.mark.parametrize("year", [-5, 0, 24, 1899, 2101, 20245])
def test_a_slip_of_the_pen_is_no_year(year):
    with pytest.raises(WeatherError, match=f"The year {year} is none of 1900 to 2100"):
        made().for_year(year)


def test_a_file_that_begins_at_its_offset_maps_too_and_half_a_year_does_not():
    shifted = np.arange("2023-01-01T05", "2024-01-01T05", dtype="datetime64[h]")
    assert made(times=shifted).for_year(2025).hours == 8760
    half = made(times=shifted[:4000], dry_bulb_c=np.ones(4000), relative_humidity=np.full(4000, 0.5))
    with pytest.raises(WeatherError, match="a year of hours is needed"):
        half.for_year(2025)


def synthesised(seed=1, **changed):
    parts = {"mean_temp_c": MONTHS, "daily_range_k": [9.0] * 12, "relative_humidity": [0.7] * 12}
    about = {"place": "a town", "elevation_m": 50.0, "source": "test"}
    return synthesised_year(**{**about, **parts, **changed}, seed=seed)


def test_synthesised_hours_keep_the_months_are_seeded_and_marked():
    found = synthesised()
    month = found.start_utc.astype("datetime64[M]").astype(int) % 12
    means = [found.dry_bulb_c[month == one].mean() for one in range(12)]
    humid = [found.relative_humidity[month == one].mean() for one in range(12)]
    assert means == pytest.approx(MONTHS, abs=1e-9)
    assert humid == pytest.approx([0.7] * 12, abs=2e-3)
    assert found.kind == "synthesised"
    assert "synthesised" in found.notes[0]
    assert np.array_equal(found.dry_bulb_c, synthesised().dry_bulb_c)
    assert not np.array_equal(found.dry_bulb_c, synthesised(seed=2).dry_bulb_c)


def test_the_warmest_hour_is_in_the_afternoon_of_the_place():
    found = synthesised(standard_offset_h=-7.0)
    mean = found.dry_bulb_c.reshape(365, 24).mean(axis=0)
    assert (int(np.argmax(mean)) - 7) % 24 in (14, 15)


def test_eleven_months_are_refused():
    with pytest.raises(WeatherError, match="twelve"):
        synthesised(mean_temp_c=MONTHS[:11])
    with pytest.raises(WeatherError, match="twelve"):
        synthesised(mean_temp_c="warm")
    with pytest.raises(WeatherError, match="divide percent"):
        synthesised(relative_humidity=[70.0] * 12)
    with pytest.raises(WeatherError, match="below 0"):
        synthesised(daily_range_k=[-1.0] * 12)


# --- single hours of any years


@settings(deadline=None, max_examples=40)
@given(st.integers(2019, 2028), st.sampled_from(["historical", "typical"]), st.integers(0, 400))
def test_single_hours_are_those_of_the_mapped_year(year, kind, first):
    source = made(kind=kind)
    whole = source.for_year(year)
    hours = whole.start_utc[first::97]
    found = source.at(hours)
    assert np.array_equal(found.dry_bulb_c, whole.dry_bulb_c[first::97])
    assert np.array_equal(found.start_utc, hours)
    assert source.has(hours).all() == (kind == "historical" and year == 2023)
    assert any("mapped by month, day and hour" in note for note in found.notes) != source.has(hours).all()


def test_a_source_over_two_years_gives_each_hour_its_own():
    hours = np.arange("2023-01-01T00", "2024-03-01T00", dtype="datetime64[h]")
    source = made(times=hours, dry_bulb_c=np.arange(hours.size) / 1000.0, relative_humidity=np.full(hours.size, 0.5))
    asked = np.array(["2024-02-29T05", "2023-02-01T05", "2024-02-01T05", "2025-02-01T05"], dtype="datetime64[h]")
    own = [float((one - hours[0]).astype(np.int64)) / 1000.0 for one in asked[:3]]
    found = source.at(asked)
    assert found.dry_bulb_c[:3].tolist() == own
    assert source.has(asked).tolist() == [True, True, True, False]
    assert found.dry_bulb_c[3] == own[1]


def test_hours_that_a_short_source_has_not_are_refused():
    hours = np.arange("2026-01-01T00", "2026-04-01T00", dtype="datetime64[h]")
    source = made(times=hours, dry_bulb_c=np.full(hours.size, 5.0), relative_humidity=np.full(hours.size, 0.5))
    assert source.at(hours[100:200]).hours == 100
    with pytest.raises(WeatherError, match="has no row for 2026-04-01T00Z and 1 more hours that are asked for"):
        source.at(np.arange("2026-03-31T22", "2026-04-01T02", dtype="datetime64[h]"))
