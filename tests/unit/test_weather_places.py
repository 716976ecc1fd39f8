"""The package's own weather: what each name gives, what never stands in silently, how far synthesised months err."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.catalogue import weather as tables
from energy.errors import UnknownNameError, WeatherError
from energy.resources import resource
from energy.weather.choice import station_months_c
from energy.weather.places import all_weather, distances_km, find_weather, weather_near, weather_of
from energy.weather.readers import read_weather

MEASURED = [one for one in all_weather() if one.kind == "historical" and one.year == 2023]


def months_of(year):
    """Return monthly means on the place's standard time."""
    local = year.start_utc + np.timedelta64(round(year.standard_offset_h * 3600), "s")
    month = local.astype("datetime64[M]").astype(int) % 12
    return np.array([year.dry_bulb_c[month == one].mean() for one in range(12)])


# --- what there is ---


def test_there_are_the_places_that_a_data_centre_needs():
    hourly = {one.place for one in all_weather() if one.basis == "hourly file"}
    assert len(hourly) >= 16
    places = [one for one in tables.all_weather_places() if one.kind == "place"]
    assert len(places) >= 38
    assert len(tables.all_weather_places()) - len(places) == 19
    assert len(tables.all_weather_stations()) == 68


def test_the_folder_of_weather_stays_small():
    files = list(resource("datasets").glob("weather_*"))
    assert len(files) == 5
    assert sum(path.stat().st_size for path in files) < 1.5e6


def test_the_file_of_hours_is_what_its_description_says():
    parquet = pytest.importorskip("pyarrow.parquet")
    package = json.loads((resource("datasets") / "datapackage.json").read_text(encoding="utf-8"))
    (entry,) = [one for one in package["resources"] if one["path"] == tables.HOURS_FILE]
    schema = parquet.read_schema(resource("datasets") / tables.HOURS_FILE)
    names = [field["name"] for field in entry["schema"]["fields"]]
    assert schema.names == names
    assert {str(kind) for kind in schema.types} == {"int16"}
    assert names == [f"{one.weather_id} {field}" for one in tables.all_weather_hours() for field in one.quantities]
    steps = {"0.1 C": 10.0, "0.001": 1000.0, "10 Pa": 0.1, "W/m2": 1.0, "0.1 m/s": 10.0, "0.01": 100.0}
    for field in entry["schema"]["fields"]:
        assert steps[field["unit"]] == tables.STEPS[field["name"].split(" ")[1]], field


@pytest.mark.parametrize("choice", all_weather(), ids=lambda one: f"{one.basis.split()[0]}-{one.key}")
def test_every_weather_can_be_read_and_names_its_licence_and_source(choice):
    year = choice.read()
    assert year.hours in (8760, 8784)
    assert year.missing_h == 0
    assert year.kind == choice.kind
    assert year.licence
    assert year.source
    assert year.for_year(2026).hours == 8760
    assert year.dry_bulb_c.min() > -50
    assert year.dry_bulb_c.max() < 55
    assert (year.wet_bulb_c <= year.dry_bulb_c + 1e-9).all()


@pytest.mark.parametrize("name", ["frankfurt_2024", "frankfurt_2023", "sydney_2023"])
def test_hours_are_those_of_the_reference_data(shared_folder, name):
    place, year = name.rsplit("_", 1)
    found = weather_of(place, int(year))
    path = shared_folder / f"data/weather/openmeteo_{name}.csv"
    file = read_weather(path, convention="instant", place=place, elevation_m=found.elevation_m)
    assert np.array_equal(found.start_utc, file.start_utc)
    assert found.convention == "instant"
    assert found.dry_bulb_c == pytest.approx(file.dry_bulb_c, abs=1e-9)
    assert found.relative_humidity == pytest.approx(file.relative_humidity, abs=1e-9)
    assert found.cloud_cover == pytest.approx(file.cloud_cover, abs=1e-9)
    assert found.wind_speed_m_per_s == pytest.approx(file.wind_speed_m_per_s, abs=0.05 + 1e-9)


def test_typical_hours_are_those_of_the_original_epw(shared_folder):
    found = weather_of("Ashburn")
    file = read_weather(shared_folder / "data/weather/raw_USA_VA_Leesburg.Exec.epw")
    assert (found.convention, found.standard_offset_h) == (file.convention, file.standard_offset_h)
    assert np.array_equal(found.start_utc, file.start_utc)
    assert np.array_equal(found.sun_utc, file.sun_utc)
    assert found.dni_w_per_m2 == pytest.approx(file.dni_w_per_m2)
    assert found.pressure_pa == pytest.approx(file.pressure_pa, abs=5.0)
    assert found.wet_bulb_c == pytest.approx(file.wet_bulb_c, abs=0.01)


# --- names ---


@pytest.mark.parametrize(
    ("name", "kind", "year"),
    [
        ("Frankfurt", "historical", 2024),
        ("frankfurt", "historical", 2024),
        ("NEW YORK", "historical", 2023),
        ("São Paulo", "historical", 2023),
        ("sao paulo", "historical", 2023),
        ("Ashburn (Leesburg), Virginia", "typical", None),
        ("Zurich", "synthesised", None),
        ("ASHRAE zone 4A", "synthesised", None),
        ("4a", "synthesised", None),
        ("Lulea.AP", "synthesised", None),
    ],
)
def test_a_name_gives_its_own_weather_and_says_which_kind(name, kind, year):
    found = find_weather(name)
    assert (found.kind, found.year, found.distance_km) == (kind, year, 0.0)


@pytest.mark.parametrize("name", ["Frankfrt", "Helsinky", "zone 9Z", "aws eu-centrl-1", ""])
def test_an_unknown_name_is_one_line(name):
    with pytest.raises(UnknownNameError) as caught:
        weather_of(name)
    assert "\n" not in str(caught.value)
    assert not name or "Nearest" in str(caught.value)


@pytest.mark.parametrize("name", ["aws eu-central-1", "Luleå, Sweden", "Council Bluffs", "azure westeurope"])
def test_nothing_stands_in_unless_it_is_asked_for(name):
    with pytest.raises(WeatherError, match=r"no weather of its own: .* km away, .*Allow it with within_km=") as caught:
        weather_of(name)
    allowed = float(str(caught.value).split("within_km=")[1].split(",")[0])
    found = find_weather(name, within_km=allowed)
    assert 0.0 < found.distance_km <= allowed
    assert f"{found.distance_km:.0f} km from {found.asked}, stands in" in found.read().notes[-1]
    with pytest.raises(WeatherError, match="no weather within"):
        weather_of(name, within_km=max(0.0, found.distance_km - 1.5))


def test_a_year_or_kind_that_is_not_there_is_refused_with_what_there_is():
    with pytest.raises(
        WeatherError, match=r"Frankfurt has historical 2024, historical 2023, a synthesised year, and none"
    ):
        weather_of("Frankfurt", 2019)
    with pytest.raises(WeatherError, match="none of kind typical"):
        weather_of("Frankfurt", kind="typical")
    with pytest.raises(WeatherError, match="Nearest: typical"):
        weather_of("Frankfurt", kind="typicl")
    with pytest.raises(WeatherError, match="Years there are: 2023, 2024"):
        weather_near(50.0, 8.0, year=1999, within_km=10)
    with pytest.raises(WeatherError, match="zero or more"):
        weather_near(50.0, 8.0, within_km=float("nan"))
    with pytest.raises(WeatherError, match="no latitude"):
        weather_near(95.0, 8.0, within_km=10)
    assert weather_of("Frankfurt", kind="synthesised").kind == "synthesised"


def test_the_better_kind_is_taken_near_by_and_the_nearest_far_away():
    near = weather_near(47.37, 8.54, within_km=100)
    assert (near.basis, near.place) == ("monthly normals", "Zürich Kloten")
    far = weather_near(65.0, 22.0, within_km=3000)
    assert far.basis == "degree days of a station"


# --- synthesised years ---


def test_synthesised_hours_are_marked_seeded_and_meet_their_normals():
    found = weather_of("Helsinki")
    assert any("synthesised from monthly normals, seed 1" in note for note in found.notes)
    assert np.array_equal(found.dry_bulb_c, weather_of("Helsinki").dry_bulb_c)
    assert not np.array_equal(found.dry_bulb_c, weather_of("Helsinki", seed=2).dry_bulb_c)
    normals = tables.weather_normals()["helsinki-vantaa"]
    month = found.start_utc.astype("datetime64[M]").astype(int) % 12
    means = [found.dry_bulb_c[month == one].mean() for one in range(12)]
    assert means == pytest.approx(normals.mean_temp_c, abs=1e-6)


def test_months_of_synthesised_years_err_by_less_than_1_4_k_against_measured_ones():
    errors = []
    for choice in MEASURED:
        made = weather_of(choice.place, kind="synthesised")
        errors.append(float(np.abs(months_of(made) - months_of(choice.read())).mean()))
    assert len(errors) == 16
    assert np.mean(errors) < 0.9  # 0.83 K; the year 2023 was not the mean of 2020 to 2024
    assert max(errors) < 1.4


def test_months_of_stations_err_by_less_than_1_4_k_against_normals():
    stations = tables.all_weather_stations()
    latitudes = [one.latitude_deg for one in stations]
    longitudes = [one.longitude_deg for one in stations]
    errors = []
    for place in tables.all_weather_places():
        if place.latitude_deg is None or "2020-2024" not in place.normals:
            continue
        distance = distances_km(place.latitude_deg, place.longitude_deg, latitudes, longitudes)
        if distance.min() < 40.0:
            normals = np.array(tables.weather_normals()[place.place_id].mean_temp_c)
            errors.append(float(np.abs(station_months_c(stations[int(np.argmin(distance))]) - normals).mean()))
    assert len(errors) == 14
    assert np.mean(errors) < 1.3  # 1.2 K


def test_southern_stations_have_their_winter_in_july():
    for station in tables.all_weather_stations():
        months = station_months_c(station)
        if abs(station.latitude_deg) > 25.0:
            assert (int(np.argmin(months)) == 6) == (station.latitude_deg < 0.0), station.place


# --- distances ---

latitudes = st.floats(-90.0, 90.0)
longitudes = st.floats(-180.0, 180.0)


@given(latitudes, longitudes, latitudes, longitudes)
def test_distance_is_symmetric_zero_to_itself_and_half_the_globe_at_most(one, east, other, west):
    there = distances_km(one, east, [other, one], [west, east])
    back = distances_km(other, west, [one], [east])
    assert there[0] == pytest.approx(back[0], abs=1e-6)
    assert there[1] == 0.0
    assert 0.0 <= there[0] <= 20_016.0
