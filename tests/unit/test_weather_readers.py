"""Files of weather: what each format's labels mean, what is refused or filled, and what gives the same year."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.errors import WeatherError
from energy.weather.readers import FORMATS, format_of, read_weather, write_table
from energy.weather.readers._units import heading
from energy.weather.year import weather_year

HOUR = np.timedelta64(3600, "s")
SITE = {"place": "a hall", "elevation_m": 100.0}
LOCATION = "LOCATION,Somewhere,VA,USA,{source},724055,39.0,-77.5,{zone},119.0"
FIELDS = ("dry_bulb_c", "relative_humidity", "pressure_pa", "ghi_w_per_m2", "wind_speed_m_per_s", "cloud_cover")


def epw_row(year, month, day, hour, **changed):
    cells = dict.fromkeys(range(35), "0") | {0: year, 1: month, 2: day, 3: hour, 4: 0, 5: "?9?9"}
    cells |= {6: 10.0 + hour / 10, 7: 5.0, 8: 70, 9: 99_800, 13: 100, 14: 50, 15: 60, 21: 3.1, 22: 5}
    cells |= {int(name[1:]): value for name, value in changed.items()}
    return ",".join(str(cells[at]) for at in range(35))


def epw(rows, zone="-5.0", source="SRC-TMYx"):
    head = [LOCATION.format(zone=zone, source=source), "DESIGN CONDITIONS,0", "COMMENTS 1,none"]
    return "\n".join([*head, "DATA PERIODS,1,1,Data,Sunday, 1/ 1,12/31", *rows]) + "\n"


def days(count=2, year=2010, **changed):
    return [epw_row(year, 1, 1 + at // 24, at % 24 + 1, **changed) for at in range(24 * count)]


def saved(folder, text, name="w.txt"):
    path = Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return path


def table(times, heading_of_time="start_utc", dry=None, more=""):
    dry = [5.0 + at / 10 for at in range(len(times))] if dry is None else dry
    rows = [f"{time},{one},80" for time, one in zip(times, dry, strict=True)]
    return "\n".join([f"{heading_of_time},dry_bulb_c,relative_humidity_pct{more}", *rows]) + "\n"


def stamps(first, count, zone=UTC):
    start = datetime.fromisoformat(first).replace(tzinfo=UTC)
    return [(start + timedelta(hours=at)).astimezone(zone).isoformat() for at in range(count)]


# --- EPW ---


def test_hours_of_epw_end_with_their_label_and_the_sun_is_in_their_middle(tmp_path):
    found = read_weather(saved(tmp_path, epw(days())))
    assert found.convention == "ending"
    assert found.start_utc[0] == np.datetime64("2021-01-01T05:00:00")
    assert found.sun_utc[0] == np.datetime64("2021-01-01T05:30:00")
    assert found.dry_bulb_c[:2].tolist() == pytest.approx([10.1, 10.2])
    assert found.relative_humidity[0] == pytest.approx(0.7)
    assert found.cloud_cover[0] == pytest.approx(0.5)
    assert (found.latitude_deg, found.elevation_m, found.standard_offset_h) == (39.0, 119.0, -5.0)


def test_a_year_that_was_keeps_its_calendar_and_a_typical_one_gets_one(tmp_path):
    measured = read_weather(saved(tmp_path, epw(days(year=2019), source="Custom-Station")))
    assert (measured.kind, str(measured.start_utc[0])) == ("historical", "2019-01-01T05:00:00")
    mixed = [epw_row(2010, 1, 31, hour) for hour in range(1, 25)] + [epw_row(2003, 2, 1, hour) for hour in range(1, 25)]
    typical = read_weather(saved(tmp_path, epw(mixed, source="Custom-Station")))
    assert (typical.kind, str(typical.start_utc[0])) == ("typical", "2021-01-31T05:00:00")
    assert "2003 to 2010" in typical.notes[0]


def test_a_typical_year_with_29_february_gets_a_leap_calendar(tmp_path):
    rows = [epw_row(2008, 2, day, hour) for day in (28, 29) for hour in range(1, 25)]
    rows += [epw_row(2011, 3, 1, hour) for hour in range(1, 25)]
    found = read_weather(saved(tmp_path, epw(rows)))
    assert found.hours == 72
    assert str(found.start_utc[24]) == "2020-02-29T05:00:00"


@pytest.mark.parametrize(
    ("place", "code", "field"),
    [
        ("c6", "99.9", "dry_bulb_c"),
        ("c8", "999", "relative_humidity"),
        ("c9", "999999", "pressure_pa"),
        ("c13", "9999", "ghi_w_per_m2"),
        ("c21", "999", "wind_speed_m_per_s"),
        ("c22", "99", "cloud_cover"),
    ],
)
def test_codes_of_missing_values_are_named_and_filled_only_when_asked(tmp_path, place, code, field):
    rows = days()
    rows[5] = epw_row(2010, 1, 1, 6, c7="99.9", **{place: code})
    path = saved(tmp_path, epw(rows))
    with pytest.raises(WeatherError, match=rf"{field} of 1 h is missing, the first at 2021-01-01T11:00:00Z") as caught:
        read_weather(path)
    assert "\n" not in str(caught.value)
    left = read_weather(path, fill="leave")
    assert np.isnan(getattr(left, field)[5])
    assert np.isnan(getattr(left, field)).sum() == 1
    drawn = read_weather(path, fill="interpolate")
    around = getattr(drawn, field)
    assert around[5] == pytest.approx((around[4] + around[6]) / 2)
    assert any(f"{field} of 1 h is missing: interpolated" in note for note in drawn.notes)


def test_missing_humidity_is_that_of_the_dew_point(tmp_path):
    rows = days()
    rows[5] = epw_row(2010, 1, 1, 6, c8="999", c7="10.6")
    found = read_weather(saved(tmp_path, epw(rows)))
    assert found.relative_humidity[5] == pytest.approx(1.0)
    assert any("dew point" in note for note in found.notes)


def test_a_column_without_any_value_is_none_and_said(tmp_path):
    found = read_weather(saved(tmp_path, epw(days(c13="9999", c9="999999"))))
    assert found.ghi_w_per_m2 is None
    assert "pressure_pa, ghi_w_per_m2" in found.notes[1]
    assert found.pressure_pa[0] == pytest.approx(99_904, abs=5)


def test_long_gaps_and_gaps_at_the_ends_are_not_interpolated(tmp_path):
    long = [row for at, row in enumerate(days(c7="99.9")) if not 10 <= at < 17]
    with pytest.raises(WeatherError, match="lacks 7 h of 48"):
        read_weather(saved(tmp_path, epw(long)))
    with pytest.raises(WeatherError, match="missing for 7 h"):
        read_weather(saved(tmp_path, epw(long)), fill="interpolate")
    assert read_weather(saved(tmp_path, epw(long)), fill="leave").missing_h == 7
    first = days()
    first[0] = epw_row(2010, 1, 1, 1, c6="99.9", c7="99.9")
    with pytest.raises(WeatherError, match="only gaps"):
        read_weather(saved(tmp_path, epw(first)), fill="interpolate")


def test_gaps_of_hours_are_filled_and_counted(tmp_path):
    rows = [row for at, row in enumerate(days()) if at not in (10, 30, 31)]
    found = read_weather(saved(tmp_path, epw(rows)), fill="interpolate")
    whole = read_weather(saved(tmp_path, epw(days())))
    assert np.array_equal(found.start_utc, whole.start_utc)
    assert found.missing_h == 0
    assert found.notes[1].startswith("3 h of 48 are absent")


def test_doubles_are_refused_or_left_out_where_they_are_equal(tmp_path):
    rows = days()
    double = [*rows[:10], rows[9], *rows[10:]]
    with pytest.raises(WeatherError, match="double, with the same values"):
        read_weather(saved(tmp_path, epw(double)))
    assert read_weather(saved(tmp_path, epw(double)), fill="leave").hours == 48
    double[9] = epw_row(2010, 1, 1, 10, c6="30")
    with pytest.raises(WeatherError, match="other values"):
        read_weather(saved(tmp_path, epw(double)), fill="interpolate")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"c6": "75"}, "dry_bulb_c of 1 h lies outside -90 to 65 C, the first 75"),
        ({"c8": "150"}, "relative_humidity of 1 h lies outside"),
        ({"c13": "-20"}, "ghi_w_per_m2 of 1 h lies outside 0 to 1500 W/m2"),
        ({"c6": "warm"}, "line 10, column dry_bulb_c: 'warm' is no number"),
        ({"c1": "13"}, "2010-13-01 is no date|2021-13-01 is no date"),
        ({"c3": "25"}, "an hour lies outside"),
    ],
)
def test_what_no_air_has_is_named_in_one_line(tmp_path, changed, words):
    rows = days()
    rows[5] = epw_row(2010, 1, 1, 6, **changed)
    with pytest.raises(WeatherError, match=words) as caught:
        read_weather(saved(tmp_path, epw(rows)))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_cut_off_or_has_other_steps_is_refused(tmp_path):
    rows = days()
    with pytest.raises(WeatherError, match=r"line 52: 9 cells"):
        read_weather(saved(tmp_path, epw([*rows[:-1], rows[-1][:30]])))
    with pytest.raises(WeatherError, match="2 records an hour"):
        read_weather(saved(tmp_path, epw(rows).replace("PERIODS,1,1", "PERIODS,1,2")))
    with pytest.raises(WeatherError, match="no rows"):
        read_weather(saved(tmp_path, epw([])))
    swapped = [*rows[:3], rows[4], rows[3], *rows[5:]]
    with pytest.raises(WeatherError, match="Sort the rows"):
        read_weather(saved(tmp_path, epw(swapped)))


# --- other formats ---


def pvgis(offset="Irradiance Time Offset (h): 0.1761\n", minute="00"):
    head = f"Latitude (decimal degrees): 45.000\nLongitude (decimal degrees): 8.000\nElevation (m): 250.0\n{offset}\n"
    columns = "time(UTC),T2m,RH,G(h),Gb(n),Gd(h),IR(h),WS10m,WD10m,SP\n"
    rows = [f"20180101:{hour:02}{minute},2.0,94.38,0.0,-0.0,0.0,283,0.75,257.0,99870.0\n" for hour in range(3)]
    return (
        head
        + "month,year\n1,2018\n"
        + columns
        + "".join(rows)
        + "\nT2m: 2-m air temperature\n\nPVGIS (c) European Union\n"
    )


def test_pvgis_labels_are_instants_and_the_sun_comes_after_them(tmp_path):
    found = read_weather(saved(tmp_path, pvgis()))
    assert (found.convention, found.irradiance_offset_h) == ("instant", pytest.approx(0.1761))
    assert str(found.start_utc[0]) == "2021-01-01T00:00:00"
    assert str(found.sun_utc[0]) == "2021-01-01T00:10:34"
    late = read_weather(saved(tmp_path, pvgis(offset="", minute="10")))
    assert str(late.sun_utc[0]) == "2021-01-01T00:10:00"
    assert any("no irradiance offset" in note for note in late.notes)


def open_meteo(offset_s=0, unit="°C", dry=(10.0, 11.0, 12.0)):
    head = "latitude,longitude,elevation,utc_offset_seconds,timezone,timezone_abbreviation\n52.5,13.4,38.0"
    head += f",{offset_s},Somewhere,GMT\n\ntime,temperature_2m ({unit}),relative_humidity_2m (%),"
    head += "shortwave_radiation (W/m²),wind_speed_10m (km/h),cloud_cover (%)\n"
    start = datetime(2023, 6, 1, tzinfo=UTC) + timedelta(seconds=offset_s)
    rows = [f"{(start + timedelta(hours=at)):%Y-%m-%dT%H:%M},{one},50,{100 * at},36,25" for at, one in enumerate(dry)]
    return head + "\n".join(rows) + "\n"


def test_open_meteo_names_its_zone_and_its_sums_belong_to_the_hour_before(tmp_path):
    found = read_weather(saved(tmp_path, open_meteo(7200)))
    assert str(found.start_utc[0]) == "2023-06-01T00:00:00"
    assert found.ghi_w_per_m2[:2].tolist() == [100.0, 200.0]
    assert np.isnan(found.ghi_w_per_m2[2])
    assert found.wind_speed_m_per_s[0] == pytest.approx(10.0)
    assert found.cloud_cover[0] == pytest.approx(0.25)
    warm = read_weather(saved(tmp_path, open_meteo(0, "°F", (50.0, 51.8, 53.6))))
    assert warm.dry_bulb_c == pytest.approx(found.dry_bulb_c)


@given(st.integers(-12 * 4, 14 * 4))
def test_open_meteo_in_any_zone_is_the_same_year(tmp_path_factory, quarters):
    folder = tmp_path_factory.getbasetemp()
    here = read_weather(saved(folder, open_meteo(0), "here.csv"))
    there = read_weather(saved(folder, open_meteo(quarters * 900), "there.csv"))
    assert np.array_equal(here.start_utc, there.start_utc)
    assert np.array_equal(here.ghi_w_per_m2, there.ghi_w_per_m2, equal_nan=True)


def pvwatts():
    head = (
        "PVWatts: Hourly PV Performance Data,,,,\nLat (deg N):,39.73,,,\nLong (deg W):,105.18,,,\nElev (m):,1820,,,\n"
    )
    columns = (
        "Month,Day,Hour,Beam Irradiance (W/m^2),Diffuse Irradiance (W/m^2),Ambient Temperature (C),Wind Speed (m/s)\n"
    )
    return head + columns + "1,1,0,0,0,-17,3\n1,1,1,0,10,-16,3\nTotals,,,0,10,0,0\n"


def test_pvwatts_needs_its_standard_time_and_has_no_humidity(tmp_path):
    path = saved(tmp_path, pvwatts())
    with pytest.raises(WeatherError, match=r"standard_offset_h, its hours from UTC \(-7 by its longitude\)"):
        read_weather(path)
    found = read_weather(path, standard_offset_h=-7.0)
    assert (str(found.start_utc[0]), found.convention, found.longitude_deg) == (
        "2021-01-01T07:00:00",
        "beginning",
        -105.18,
    )
    assert found.missing_h == 2
    assert any("no humidity" in note for note in found.notes)


def test_formats_are_told_apart_by_content_and_a_wrong_one_is_named(tmp_path):
    texts = {
        "epw": epw(days()),
        "pvgis": pvgis(),
        "open-meteo": open_meteo(),
        "pvwatts": pvwatts(),
        "table": "time,x\n",
    }
    assert {name: format_of(text.splitlines()) for name, text in texts.items()} == {name: name for name in texts}
    assert set(texts) | {"tmy3"} == set(FORMATS)
    with pytest.raises(WeatherError, match="not of the format tmy3: it looks like epw"):
        read_weather(saved(tmp_path, epw(days())), format="tmy3")
    with pytest.raises(WeatherError, match="Nearest: epw"):
        read_weather(saved(tmp_path, epw(days())), format="ewp")
    with pytest.raises(WeatherError, match="fixes zone"):
        read_weather(saved(tmp_path, epw(days())), zone="UTC")
    with pytest.raises(WeatherError, match="Nearest: interpolate"):
        read_weather(saved(tmp_path, epw(days())), fill="interpolat")


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "empty"), (b"PK\x03\x04zip", "unpack it"), (b"\x00\x01\x02", "no text"), (b"\n\n", "empty")],
)
def test_what_is_no_text_is_refused(tmp_path, data, words):
    path = tmp_path / "w"
    path.write_bytes(data)
    with pytest.raises(WeatherError, match=words):
        read_weather(path)
    with pytest.raises(WeatherError, match="cannot be read"):
        read_weather(tmp_path / "absent")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_text_in_other_encodings_and_line_ends_is_the_same_year(tmp_path, encoding):
    text = epw(days()).replace("Somewhere", "Zürich")
    path = tmp_path / "w.epw"
    path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    found = read_weather(path)
    assert found.place == "Zürich, VA, USA"[: len(found.place)]
    assert np.array_equal(found.dry_bulb_c, read_weather(saved(tmp_path, text)).dry_bulb_c)


# --- tables ---


@given(st.integers(-12 * 60, 14 * 60))
def test_the_same_instants_in_any_zone_are_the_same_year(tmp_path_factory, minutes):
    folder = tmp_path_factory.getbasetemp()
    here = read_weather(saved(folder, table(stamps("2026-01-01", 5)), "a.csv"), **SITE)
    zone = timezone(timedelta(minutes=minutes))
    text = table(stamps("2026-01-01", 5, zone), "time")
    there = read_weather(saved(folder, text, "b.csv"), convention="beginning", **SITE)
    assert np.array_equal(here.start_utc, there.start_utc)
    assert np.array_equal(here.wet_bulb_c, there.wet_bulb_c)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_seconds_since_1970_in_any_unit_are_read(tmp_path, unit):
    instants = np.array(["2026-01-01T00", "2026-01-01T01"], dtype=f"datetime64[{unit}]").astype(np.int64)
    text = table([str(one) for one in instants], f"time_unix_{unit}")
    found = read_weather(saved(tmp_path, text), convention="beginning", **SITE)
    assert found.start_utc.tolist() == [datetime(2026, 1, 1), datetime(2026, 1, 1, 1)]


def test_a_convention_moves_nothing_but_the_stamps(tmp_path):
    path = saved(tmp_path, table(stamps("2026-01-01", 6), "time"))
    begins = read_weather(path, convention="beginning", **SITE)
    ends = read_weather(path, convention="ending", **SITE)
    assert np.array_equal(begins.start_utc - HOUR, ends.start_utc)
    for field in ("dry_bulb_c", "relative_humidity", "wet_bulb_c", "dew_point_c"):
        assert np.array_equal(getattr(begins, field), getattr(ends, field))


def test_times_without_a_zone_or_a_convention_are_refused_with_the_remedy(tmp_path):
    naive = table([f"2026-01-01T{hour:02}:00" for hour in range(3)], "time")
    path = saved(tmp_path, naive)
    with pytest.raises(WeatherError, match=r"no zone.*start_utc.*Europe/Berlin.*standard_offset_h"):
        read_weather(path, convention="beginning", **SITE)
    with pytest.raises(WeatherError, match="Give convention"):
        read_weather(path, zone="UTC", **SITE)
    standard = read_weather(path, convention="beginning", standard_offset_h=5.5, **SITE)
    assert str(standard.start_utc[0]) == "2025-12-31T18:30:00"
    with pytest.raises(WeatherError, match="IANA"):
        read_weather(path, convention="beginning", zone="Mars/Base", **SITE)
    mixed = saved(tmp_path, table(["2026-01-01T00:00Z", "2026-01-01T01:00"], "time"))
    with pytest.raises(WeatherError, match="some times have a zone"):
        read_weather(mixed, convention="beginning", **SITE)


def test_a_clock_with_summer_time_has_days_of_23_and_25_hours(tmp_path):
    autumn = [f"2025-10-26T{hour:02}:00" for hour in (0, 1, 2, 2, 3)]
    found = read_weather(saved(tmp_path, table(autumn, "time")), convention="beginning", zone="Europe/Berlin", **SITE)
    assert [str(one)[:16] for one in found.start_utc] == [f"2025-10-{day}" for day in ("25T22:00", "25T23:00")] + [
        f"2025-10-26T{hour:02}:00" for hour in (0, 1, 2)
    ]
    spring = [f"2025-03-30T{hour:02}:00" for hour in (0, 1, 3, 4)]
    found = read_weather(saved(tmp_path, table(spring, "time")), convention="beginning", zone="Europe/Berlin", **SITE)
    assert found.hours == 4
    with pytest.raises(WeatherError, match="never shows 2025-03-30T02:00"):
        bad = table(["2025-03-30T01:00", "2025-03-30T02:00"], "time")
        read_weather(saved(tmp_path, bad), convention="beginning", zone="Europe/Berlin", **SITE)


@pytest.mark.parametrize(
    ("name", "field", "given", "wanted"),
    [
        ("Temperature (°F)", "dry_bulb_c", 50.0, 10.0),
        ("temp_air_k", "dry_bulb_c", 283.15, 10.0),
        ("Dew point [degC]", "dew_point_c", 3.0, 3.0),
        ("relative_humidity_pct", "relative_humidity", 50.0, 0.5),
        ("relative_humidity", "relative_humidity", 0.5, 0.5),
        ("pressure (hPa)", "pressure_pa", 1013.25, 101_325.0),
        ("surface_pressure [kPa]", "pressure_pa", 101.325, 101_325.0),
        ("GHI (kW/m2)", "ghi_w_per_m2", 0.5, 500.0),
        ("ghi_kj_per_m2", "ghi_w_per_m2", 1800.0, 500.0),
        ("wind_speed_10m (km/h)", "wind_speed_m_per_s", 36.0, 10.0),
        ("wind_speed_kn", "wind_speed_m_per_s", 10.0, 5.144444),
        ("cloud cover (okta)", "cloud_cover", 4.0, 0.5),
        ("cloud_cover_tenths", "cloud_cover", 5.0, 0.5),
    ],
)
def test_headings_carry_their_units(name, field, given, wanted):
    found = heading(name, "t.csv")
    assert found is not None
    assert found.field == field
    assert found.converted(np.array([given]))[0] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("start_utc,temperature\n2026-01-01T00:00Z,1\n", "names no unit"),
        ("start_utc,temperature (mi)\n2026-01-01T00:00Z,1\n", "unit 'mi'"),
        ("start_utc,humid\n2026-01-01T00:00Z,1\n", "no column for the dry bulb"),
        ("start_utc,temp_c,dry_bulb_c\n2026-01-01T00:00Z,1,1\n", "are all dry_bulb_c"),
        ("start_utc,temp_c,temp_c\n2026-01-01T00:00Z,1,1\n", "stands twice"),
        ("start_utc,temp_c,rh_pct\n2026-01-01T00:00Z,1\n", "a row has 2 cells"),
        ("start_utc,temp_c,rh_pct\n2026-01-01T00:00Z,warm,1\n", "line 2, column temp_c"),
        ("start_utc,temp_c,rh_pct\nyesterday,1,1\n", "'yesterday' is no time"),
        ("hour,temp_c,rh_pct\n1,1,1\n", "no column of times"),
        ("# plaice: x\nstart_utc,temp_c,rh_pct\n", "no key 'plaice'. Nearest: place"),
        ("# kind: guess\nstart_utc,temp_c,rh_pct\n2026-01-01T00:00Z,1,1\n", "kind is 'guess'"),
        ("start_utc,temp_c,rh_pct\n", "no rows"),
    ],
)
def test_a_broken_table_is_one_line_that_names_it(tmp_path, text, words):
    with pytest.raises(WeatherError, match=words) as caught:
        read_weather(saved(tmp_path, text), **SITE)
    assert "\n" not in str(caught.value)


def test_headings_that_are_not_known_are_named_by_the_caller(tmp_path):
    path = saved(tmp_path, "start_utc;Outside [°F];Feuchte [%]\n2026-01-01T00:00Z;50;80\n")
    found = read_weather(path, columns={"Outside [°F]": "dry_bulb_c", "Feuchte [%]": "relative_humidity"}, **SITE)
    assert (found.dry_bulb_c[0], found.relative_humidity[0]) == (pytest.approx(10.0), pytest.approx(0.8))
    with pytest.raises(WeatherError, match="no column 'Outsid'"):
        read_weather(path, columns={"Outsid": "dry_bulb_c"}, **SITE)
    with pytest.raises(WeatherError, match="Nearest: dry_bulb_c"):
        read_weather(path, columns={"Outside [°F]": "dry_bulb"}, **SITE)


def test_a_table_without_place_or_elevation_asks_for_them(tmp_path):
    path = saved(tmp_path, table(stamps("2026-01-01", 3)))
    with pytest.raises(WeatherError, match="does not say place"):
        read_weather(path)
    with pytest.raises(WeatherError, match="does not say elevation_m"):
        read_weather(path, place="x")


finite = st.floats(-40.0, 45.0).map(lambda one: round(one, 3))


@given(st.lists(finite, min_size=2, max_size=30), st.data())
def test_a_year_survives_the_way_through_a_table(tmp_path_factory, dry, data):
    size = len(dry)
    share = st.lists(st.floats(0.01, 1.0), min_size=size, max_size=size)
    wind = st.one_of(st.none(), st.lists(st.floats(0.0, 40.0), min_size=size, max_size=size))
    missing = data.draw(st.sets(st.integers(0, size - 1), max_size=size - 1))
    values = np.array([np.nan if at in missing else one for at, one in enumerate(dry)])
    convention = data.draw(st.sampled_from(["beginning", "ending", "instant"]))
    made = weather_year(
        times=np.datetime64("2026-02-28T20", "s") + np.arange(size) * HOUR,
        dry_bulb_c=values,
        relative_humidity=data.draw(share),
        pressure_pa=np.full(size, 98_765.4),
        wind_speed_m_per_s=data.draw(wind),
        source="drawn",
        kind="historical",
        convention=convention,
        latitude_deg=1.25,
        irradiance_offset_h=0.1761,
        notes=("made: by chance",),
        **SITE,
    )
    path = tmp_path_factory.getbasetemp() / "round.csv"
    write_table(made, path)
    found = read_weather(path, fill="leave")
    assert np.array_equal(found.start_utc, made.start_utc)
    for field in FIELDS:
        one, other = getattr(found, field), getattr(made, field)
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other, equal_nan=True), field
    for name in ("place", "source", "kind", "elevation_m", "latitude_deg", "irradiance_offset_h"):
        assert getattr(found, name) == getattr(made, name)
    assert set(made.notes) <= set(found.notes)


def test_a_table_that_cannot_be_written_says_so(tmp_path):
    made = read_weather(saved(tmp_path, epw(days())))
    with pytest.raises(WeatherError, match="cannot be written"):
        write_table(made, tmp_path / "absent" / "w.csv")


@pytest.mark.parametrize("column", ["hour_ending", "hour_beginning"])
def test_months_days_and_hours_are_standard_time(tmp_path, column):
    text = f"month,day,{column},temp_air_c,rh_pct\n1,1,1,5,80\n1,1,2,6,80\n"
    with pytest.raises(WeatherError, match="standard_offset_h"):
        read_weather(saved(tmp_path, text), **SITE)
    found = read_weather(saved(tmp_path, text), standard_offset_h=-5.0, **SITE)
    assert str(found.start_utc[0]) == f"2021-01-01T0{5 if column == 'hour_ending' else 6}:00:00"


def samples():
    plain = table(stamps("2026-01-01", 6))
    offsets = table(stamps("2026-01-01", 6, timezone(timedelta(hours=2))), "time")
    parts = "year,month,day,hour_ending,temp_air_c,rh_pct\n2020,2,29,1,5,80\n2020,2,29,2,6,80\n"
    return (epw(days(1)), pvgis(), open_meteo(), pvwatts(), plain, offsets, parts)


@given(st.sampled_from(samples()), st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path_factory, text, data):
    """Whatever is cut, doubled or overwritten: a year that air can have, or one line, never anything else."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = start + data.draw(st.integers(0, 40))
        patch = st.sampled_from(
            ["", ",", "\n", "9999", "-1e9", "1e400", "nan", "Z", "\x00", '"', "#", "é", text[start:stop] * 2]
        )
        text = text[:start] + data.draw(patch) + text[stop:]
    path = saved(tmp_path_factory.getbasetemp(), text, "damaged.csv")
    fill = data.draw(st.sampled_from(["refuse", "leave", "interpolate"]))
    zone = data.draw(st.sampled_from([None, -7.0]))
    try:
        found = read_weather(path, fill=fill, standard_offset_h=zone, **SITE)
    except WeatherError as error:
        assert "\n" not in str(error)
        return
    assert np.all(np.diff(found.start_utc) == HOUR)
    assert not np.any(found.dry_bulb_c > 65.0)
    assert not np.any((found.relative_humidity < 0.0) | (found.relative_humidity > 1.0))


# --- real files ---


def test_the_original_epw_agrees_with_the_reference_table(shared_folder):
    folder = shared_folder / "data/weather"
    found = read_weather(folder / "raw_USA_VA_Leesburg.Exec.epw")
    other = read_weather(folder / "tmy_ashburn_leesburg_va.csv", standard_offset_h=-5.0, **SITE)
    assert (found.hours, found.kind, found.missing_h) == (8760, "typical", 0)
    assert np.array_equal(found.start_utc, other.start_utc)
    for field in (
        "dry_bulb_c",
        "relative_humidity",
        "pressure_pa",
        "ghi_w_per_m2",
        "dni_w_per_m2",
        "wind_speed_m_per_s",
    ):
        assert getattr(found, field) == pytest.approx(getattr(other, field), abs=1e-9), field


@pytest.mark.parametrize("name", ["703165TY.csv", "723170TYA.CSV"])
def test_tmy3_agrees_with_the_reader_of_pvlib(name):
    pvlib = pytest.importorskip("pvlib")
    path = Path(pvlib.__file__).parent / "data" / name
    data, about = pvlib.iotools.read_tmy3(path, coerce_year=2021, map_variables=True)
    found = read_weather(path)
    assert (found.latitude_deg, found.standard_offset_h) == (about["latitude"], about["TZ"])
    labels = data.index.tz_convert("UTC").tz_localize(None).to_numpy().astype("datetime64[s]")
    assert np.array_equal(found.start_utc[:-1] + HOUR, labels[:-1])
    assert found.dry_bulb_c == pytest.approx(data["temp_air"].to_numpy())
    assert found.ghi_w_per_m2 == pytest.approx(data["ghi"].to_numpy())
    assert found.pressure_pa == pytest.approx(data["pressure"].to_numpy() * 100.0)


def test_pvgis_and_pvwatts_files_are_read(shared_folder):
    folder = shared_folder / "data/weather"
    piedmont = read_weather(folder / "pvgis_tmy_45n_8e_2005_2023.csv")
    assert (piedmont.hours, piedmont.irradiance_offset_h, piedmont.missing_h) == (8760, 0.1761, 0)
    golden = read_weather(folder / "pvwatts_8760_golden_co_rackmount.csv", standard_offset_h=-7.0)
    assert golden.hours == 8760
    assert golden.dni_w_per_m2.sum() == 2_041_421
    leap = read_weather(folder / "openmeteo_frankfurt_2024.csv", convention="instant", **SITE)
    assert leap.hours == 8784
