"""Readers of hourly grid data: what each format means, and what is counted, left unknown or refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.carbon.hours import intensity_of_mix
from energy.errors import EnergyError, FactorError, InputFileError, UnknownNameError
from energy.importers.grid_files import grid_formats, grid_hours, write_hours

NEW = (
    "Datetime (UTC),Country,Zone name,Zone id,Carbon intensity gCO₂eq/kWh (direct),"
    "Carbon intensity gCO₂eq/kWh (Life cycle),Carbon-free energy percentage (CFE%),Renewable energy percentage (RE%),"
    "Data source,Data estimated,Data estimation method\n"
)
OLD = (
    "Datetime (UTC),Country,Zone Name,Zone Id,Carbon Intensity gCO₂eq/kWh (direct),"
    "Carbon Intensity gCO₂eq/kWh (LCA),Low Carbon Percentage,Renewable Percentage,Data Source,Data Estimated,"
    "Data Estimation Method\n"
)
EIA = [
    "Balancing Authority",
    "Data Date",
    "Hour Number",
    "Local Time at End of Hour",
    "UTC Time at End of Hour",
    "Demand (MW)",
    "Net Generation (MW) from Coal",
    "Net Generation (MW) from Hydropower and Pumped Storage",
    "Net Generation (MW) from Coal (Imputed)",
    "Net Generation (MW) from Coal (Adjusted)",
    "Net Generation (MW) from Hydropower and Pumped Storage (Adjusted)",
]
NESO = "DATETIME,GAS,COAL,NUCLEAR,WIND,WIND_EMB,HYDRO,IMPORTS,BIOMASS,OTHER,SOLAR,STORAGE,GENERATION,CARBON_INTENSITY\n"


def written(folder: Path, text: str, name: str = "grid.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def wide(rows: list[tuple[str, ...]], columns: tuple[str, ...] = ("Fossil Gas", "Solar")) -> str:
    head = ",".join(["Area", "MTU", *(f"{name}  - Actual Aggregated [MW]" for name in columns)])
    return "\n".join([head, *(",".join(("Germany (DE)", *row)) for row in rows)]) + "\n"


def quarters(first: str, count: int, minutes: int = 15) -> list[tuple[str, str]]:
    """Return ends of intervals of a local clock as ENTSO-E writes them."""
    start = np.datetime64(first, "m") + np.arange(count + 1) * np.timedelta64(minutes, "m")
    texts = [one.item().strftime("%d.%m.%Y %H:%M") for one in start]
    return list(pairwise(texts))


# --- Electricity Maps ---


@pytest.mark.parametrize("head", [NEW, OLD])
def test_electricity_maps_is_consumption_based_with_both_boundaries_and_the_estimated_share(tmp_path, head):
    rows = "".join(
        f"2024-01-01 0{hour}:00:00,France,France,FR,{30 + hour},{50 + hour},90,40,x,{hour == 1},\n" for hour in range(4)
    )
    found = grid_hours(written(tmp_path, head + rows))
    assert (found.file_format, found.zone) == ("electricity-maps", "FR")
    assert found.series("direct").values_gco2e_per_kwh.tolist() == [30, 31, 32, 33]
    lifecycle = found.series("lifecycle")
    assert (lifecycle.attribution, lifecycle.unit) == ("consumption", "gCO2e/kWh_facility")
    assert lifecycle.values_gco2e_per_kwh[0] == 50
    assert found.estimated_fraction == 0.25
    assert not found.generation_mwh


def test_missing_repeated_and_contradicting_hours_are_counted_and_never_filled(tmp_path):
    def row(hour: int, direct: int) -> str:
        return f"2024-01-01 0{hour}:00:00,France,France,FR,{direct},60,90,40,x,false,\n"

    text = NEW + row(0, 30) + row(0, 30) + row(1, 31) + row(1, 99) + row(4, 34) + row(5, 35).replace("35", "")
    found = grid_hours(written(tmp_path, text))
    values = found.series("direct").values_gco2e_per_kwh
    assert np.isnan(values).tolist() == [False, True, True, True, False, True]
    gaps = found.gaps
    assert (gaps.missing_hours, gaps.conflicting_hours, gaps.repeated_rows) == (2, 1, 1)


def test_five_minute_rows_become_hours_and_a_part_of_an_hour_is_unknown(tmp_path):
    times = np.datetime64("2024-01-01T00:00") + np.arange(20) * np.timedelta64(5, "m")
    rows = "".join(f"{str(one).replace('T', ' ')}:00,F,F,FR,{place},1,1,1,x,,\n" for place, one in enumerate(times))
    found = grid_hours(written(tmp_path, NEW + rows))
    values = found.series("direct").values_gco2e_per_kwh
    assert values[0] == np.mean(np.arange(12))
    assert np.isnan(values[1])
    assert found.gaps.partial_hours == 1


# --- ENTSO-E ---


def test_quarter_hours_in_mw_are_averaged_to_mwh_of_the_hour(tmp_path):
    rows = [
        (f"{a} - {b} (UTC)", str(power), "0")
        for (a, b), power in zip(quarters("2020-01-01", 4), (4, 8, 12, 16), strict=True)
    ]
    found = grid_hours(written(tmp_path, wide(rows)))
    assert found.file_format == "entsoe-generation"
    assert found.generation_mwh["gas"].tolist() == [10.0]
    assert str(found.hour_utc[0]) == "2020-01-01T00"


@pytest.mark.parametrize(("day", "local_hours"), [("2020-03-29", 23), ("2020-10-25", 25), ("2020-06-01", 24)])
@pytest.mark.parametrize("mark", ["cell", "header", "option"])
def test_a_local_day_of_23_24_or_25_hours_is_as_many_hours_of_utc(tmp_path, day, local_hours, mark):
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("Europe/Brussels")
    start = np.datetime64(day, "D").item()
    from datetime import UTC, datetime, timedelta

    first = datetime(start.year, start.month, start.day, tzinfo=zone).astimezone(UTC)
    rows = []
    for hour in range(local_hours):
        ends = [(first + timedelta(hours=hour + more)).astimezone(zone).strftime("%d.%m.%Y %H:%M") for more in (0, 1)]
        rows.append((f"{ends[0]} - {ends[1]}{' (CET/CEST)' if mark == 'cell' else ''}", str(hour), "1"))
    text = wide(rows)
    if mark == "header":
        text = text.replace("MTU", "MTU (CET/CEST)", 1)
    found = grid_hours(written(tmp_path, text), timezone="Europe/Brussels" if mark == "option" else None)
    assert found.hour_utc.size == local_hours
    assert found.generation_mwh["gas"].tolist() == list(range(local_hours))
    assert found.hour_utc[0] == np.datetime64(first.replace(tzinfo=None), "h")
    assert found.unknown_hours == 0


def test_an_hour_that_the_clocks_repeat_and_the_file_has_once_is_unknown_and_counted(tmp_path):
    rows = [(f"{a} - {b} (CET/CEST)", "5", "1") for a, b in quarters("2020-10-25T00:00", 6, 60)]
    found = grid_hours(written(tmp_path, wide(rows)))
    assert found.gaps.conflicting_hours == 1
    assert found.unknown_hours == 2
    assert np.isnan(found.generation_mwh["gas"]).sum() == 2


def test_a_time_that_does_not_exist_is_passed_over_when_empty_and_refused_with_a_value(tmp_path):
    rows = [
        (f"{a} - {b} (CET/CEST)", "n/e" if " 02:00 - " in f"{a} - {b}" else "5", "n/e")
        for a, b in quarters("2020-03-29", 5, 60)
    ]
    found = grid_hours(written(tmp_path, wide(rows)))
    assert found.generation_mwh["gas"].tolist() == [5, 5, 5, 5]
    with pytest.raises(InputFileError, match="clocks go forward"):
        grid_hours(written(tmp_path, wide([(row[0], "5", "1") for row in rows])))


def test_times_without_a_zone_are_refused(tmp_path):
    rows = [(f"{a} - {b}", "5", "1") for a, b in quarters("2020-01-01", 4)]
    with pytest.raises(InputFileError, match="--timezone"):
        grid_hours(written(tmp_path, wide(rows)))


def test_the_long_export_is_the_same_as_the_wide_one(tmp_path):
    ends = quarters("2020-10-25T00:00", 12) + quarters("2020-10-25T02:00", 8)
    powers = np.arange(len(ends))
    local = [f"{a} - {b} (CET/CEST)" for a, b in ends]
    first = grid_hours(
        written(tmp_path, wide([(text, str(p), str(2 * p)) for text, p in zip(local, powers, strict=True)]))
    )
    lines = ["MTU (CET/CEST),Area,Production Type,Generation (MW)"]
    for name, factor in (("Fossil Gas", 1), ("Solar", 2)):
        for (a, b), power in zip(ends, powers, strict=True):
            both = [text.replace(".", "/") + ":00" for text in (a, b)]
            lines.append(f"{both[0]} - {both[1]},Germany (DE),{name},{factor * power}")
    second = grid_hours(written(tmp_path, "\n".join(lines) + "\n", "long.csv"))
    assert first.hour_utc.tolist() == second.hour_utc.tolist()
    assert first.hour_utc.size == 5
    for name in ("gas", "solar"):
        assert first.generation_mwh[name].tolist() == second.generation_mwh[name].tolist()


def test_the_monthly_file_is_utc_with_the_length_of_each_row(tmp_path):
    head = "DateTime(UTC)\tResolutionCode\tAreaCode\tAreaDisplayName\tAreaTypeCode\tAreaMapCode\tProductionType\t"
    lines = [head + "ActualGenerationOutput[MW]\tActualConsumption[MW]\tUpdateTime(UTC)"]
    for minute, power in ((0, 1), (15, 2), (30, 3), (45, 6)):
        for kind, factor in (("Fossil Gas", 1), ("Solar", 10)):
            cells = (f"2026-02-01 00:{minute:02}:00", "PT15M", "10Y", "Austria (AT)", "BZN", "AT", kind, factor * power)
            lines.append("\t".join([*map(str, cells), "", "2026-02-05 10:48:37"]))
    lines.append("2026-02-01 01:00:00\tPT60M\t10Y\tAustria (AT)\tBZN\tAT\tSolar\t7\t\t2026-02-05 10:48:37")
    found = grid_hours(written(tmp_path, "\n".join(lines) + "\n"))
    assert (found.file_format, found.zone) == ("entsoe-generation", "AT (BZN)")
    assert found.generation_mwh["solar"].tolist() == [30, 7]
    np.testing.assert_array_equal(found.generation_mwh["gas"], [3, np.nan])
    with pytest.raises(InputFileError, match="PT1D"):
        grid_hours(written(tmp_path, "\n".join(lines).replace("PT60M", "PT1D") + "\n"))


def test_local_times_of_a_table_are_read_in_the_zone_that_is_named(tmp_path):
    hours = ["00:00", "01:00", "02:00", "02:00", "03:00"]
    text = "time,generation_coal_mwh\n" + "".join(f"2026-10-25 {one},{place}\n" for place, one in enumerate(hours))
    found = grid_hours(written(tmp_path, text), zone="X", timezone="Europe/Berlin")
    assert found.generation_mwh["coal"].tolist() == [0, 1, 2, 3, 4]
    assert str(found.hour_utc[0]) == "2026-10-24T22"
    offsets = text.replace(" 02:00,2", "T02:00+02:00,2").replace(" 02:00,3", "T02:00+01:00,3")
    with pytest.raises(InputFileError, match="in every row"):
        grid_hours(written(tmp_path, offsets), zone="X", timezone="Europe/Berlin")


def test_marks_of_each_row_tell_the_repeated_hour(tmp_path):
    lines = ["MTU (CET/CEST),Area,Production Type,Generation (MW)"]
    for start, end, mark in (("02", "03", "CEST"), ("02", "03", "CET")):
        lines.append(f"25/10/2020 {start}:00:00 ({mark}) - 25/10/2020 {end}:00:00 ({mark}),DE,Nuclear,{len(mark)}")
    found = grid_hours(written(tmp_path, "\n".join(lines) + "\n"))
    assert found.hour_utc.astype(str).tolist() == ["2020-10-25T00", "2020-10-25T01"]
    assert found.generation_mwh["nuclear"].tolist() == [4, 3]


def test_types_without_any_value_are_named_and_unknown_types_refused(tmp_path):
    rows = [(f"{a} - {b} (UTC)", "5", "n/e") for a, b in quarters("2020-01-01", 4)]
    found = grid_hours(written(tmp_path, wide(rows)))
    assert list(found.generation_mwh) == ["gas"]
    assert any("Solar" in note for note in found.notes)
    with pytest.raises(InputFileError, match=r"Fossil Gaz.*shift the mix.*Nearest"):
        grid_hours(written(tmp_path, wide(rows, ("Fossil Gaz", "Solar"))))


# --- EIA-930 ---


def eia(*rows: tuple[str, str, str, str, str, str], head: list[str] | None = None) -> str:
    lines = [",".join(head or EIA)]
    for authority, end, raw, imputed, coal, hydro in rows:
        cells = (authority, "01/01/2022", "1", end, end, "1", raw, hydro, imputed, coal, hydro)
        lines.append(",".join(f'"{cell}"' for cell in cells))
    return "\n".join(lines) + "\n"


def test_eia930_stamps_are_the_end_of_the_hour_and_adjusted_columns_win(tmp_path):
    text = eia(
        ("CISO", "01/01/2022 1:00:00 AM", "900", "", "1,000", "5"),
        ("CISO", "01/01/2022 2:00:00 AM", "", "800", "800", "-5"),
        ("PJM", "01/01/2022 1:00:00 AM", "1", "", "1", "1"),
    )
    path = written(tmp_path, text)
    with pytest.raises(InputFileError, match=r"2 zones.*--zone"):
        grid_hours(path)
    found = grid_hours(path, zone="ciso")
    assert found.hour_utc.astype(str).tolist() == ["2022-01-01T00", "2022-01-01T01"]
    assert found.generation_mwh["coal"].tolist() == [1000, 800]
    assert found.estimated_fraction == 0.5
    mixed, left_out = intensity_of_mix(found, "direct")
    assert left_out.negative_mwh == {"hydro": -5}
    assert mixed.series("direct").values_gco2e_per_kwh[1] == pytest.approx(760)


def test_eia930_sources_of_the_later_edition_are_known_and_others_refused(tmp_path):
    head = [name.replace("Hydropower and Pumped Storage", "Solar witho Integrated  Battery Storage") for name in EIA]
    row = ("CISO", "01/01/2022 1:00:00 AM", "1", "", "1", "7")
    assert grid_hours(written(tmp_path, eia(row, head=head))).generation_mwh["solar"].tolist() == [7]
    head = [name.replace("Hydropower and Pumped Storage", "Fusion") for name in EIA]
    with pytest.raises(InputFileError, match="Fusion"):
        grid_hours(written(tmp_path, eia(row, head=head)))


# --- NESO ---


def neso(scale: float = 1.0) -> str:
    rows = [
        f"2024-01-01T00:{minute:02}:00,{10000 * scale},0,{5000 * scale},{4000 * scale},{1000 * scale},0,3000,0,0,0,0,"
        f"{20000 * scale},{100 + minute}\n"
        for minute in (0, 30)
    ]
    return NESO + "".join(rows)


def test_the_mix_of_neso_has_the_published_intensity_and_generation_without_imports(tmp_path):
    found = grid_hours(written(tmp_path, neso()))
    assert found.generation_mwh["wind"].tolist() == [5000]
    assert "imports" not in found.generation_mwh
    direct = found.series("direct")
    assert direct.values_gco2e_per_kwh.tolist() == [115]
    assert (direct.attribution, direct.gases) == ("consumption", "CO2 only")


def test_a_mix_in_gw_is_not_taken_for_mw(tmp_path):
    with pytest.raises(InputFileError, match="no MW of Great Britain"):
        grid_hours(written(tmp_path, neso(0.001)))


# --- marginal ---


def answer(**meta: object) -> str:
    about = {
        "region": "CAISO_NORTH",
        "signal_type": "co2_moer",
        "units": "lbs_co2_per_mwh",
        "data_point_period_seconds": 300,
    }
    points = [{"point_time": f"2024-01-01T00:{5 * n:02}:00+00:00", "value": 1000.0 if n else -200.0} for n in range(12)]
    return json.dumps({"data": points, "meta": about | meta})


def test_marginal_pounds_per_mwh_are_grams_per_kwh_and_negative_ones_stay(tmp_path):
    found = grid_hours(written(tmp_path, answer(), "moer.json"))
    series = found.series("direct", kind="marginal")
    assert series.values_gco2e_per_kwh[0] == pytest.approx(900 * 0.45359237)
    assert found.zone == "CAISO_NORTH"
    with pytest.raises(FactorError, match="no average direct"):
        found.series("direct")


@pytest.mark.parametrize(
    "meta", [{"units": "lbs_per_kwh"}, {"signal_type": "health_damage"}, {"data_point_period_seconds": None}]
)
def test_another_signal_or_unit_is_refused(tmp_path, meta):
    with pytest.raises(InputFileError, match="meta"):
        grid_hours(written(tmp_path, answer(**meta), "moer.json"))


# --- the generic table ---


def test_units_stand_in_the_header(tmp_path):
    text = (
        "time_utc,zone,intensity direct production (kgCO2e/MWh),intensity marginal direct production (lb/MWh),"
        "generation_coal_mwh,generation wind (GWh)\n2024-01-01T00:00Z,X,300,1000,5,0.01\n"
    )
    found = grid_hours(written(tmp_path, text))
    assert found.series("direct").values_gco2e_per_kwh.tolist() == [300]
    marginal = found.series("direct", kind="marginal")
    assert marginal.values_gco2e_per_kwh[0] == pytest.approx(453.59237)
    assert marginal.gases == "not stated"
    assert found.generation_mwh["wind"].tolist() == [10]


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("time_utc,intensity (gCO2e/kWh)", "boundary"),
        ("time_utc,intensity direct (gCO2e/kWh)", "attribution"),
        ("time_utc,intensity direct production (g/kWh)", "CO2e"),
        ("time_utc,intensity direct production (gCO2e/kW)", "kW"),
        ("time_utc,intensity", "unit"),
        ("time_utc,intensity derict production (gCO2e/kWh)", "Nearest: direct"),
        ("time_utc,generation_coal", "generation_coal_mwh"),
        ("time,intensity direct production (gCO2e/kWh)", "carry no zone"),
        ("when,value", "no known grid format"),
    ],
)
def test_what_a_header_does_not_say_is_never_assumed(tmp_path, head, says):
    with pytest.raises(InputFileError, match=says):
        grid_hours(written(tmp_path, f"{head}\n2024-01-01T00:00,1\n"), zone="X")


def test_what_the_header_lacks_can_be_told(tmp_path):
    path = written(tmp_path, "time_utc,intensity (gCO2/kWh)\n2024-01-01T00:00,1\n")
    found = grid_hours(path, zone="X", boundary="direct", attribution="consumption")
    assert found.series("direct").gases == "CO2 only"


@pytest.mark.parametrize("cell", ["12 g", "nan", "inf", "1,5;"])
def test_a_cell_that_is_no_number_is_named_with_its_line(tmp_path, cell):
    text = f'time_utc,generation_coal_mwh\n2024-01-01T00:00,1\n2024-01-01T01:00,"{cell}"\n'
    with pytest.raises(InputFileError, match="line 3"):
        grid_hours(written(tmp_path, text), zone="X")


@pytest.mark.parametrize("year", ["1924", "2924", "9999"])
def test_a_year_that_cannot_be_is_refused_before_its_hours_fill_the_memory(tmp_path, year):
    text = f"time_utc,generation_coal_mwh\n2024-01-01T00:00,1\n{year}-01-01T00:00,1\n"
    with pytest.raises(InputFileError, match="between 2000 and 2100"):
        grid_hours(written(tmp_path, text), zone="X")


@pytest.mark.parametrize("text", ["", "time_utc,generation_coal_mwh\n", "<html></html>", '{"point_time"', "a,a\n1,2\n"])
def test_files_that_are_none_end_in_one_line(tmp_path, text):
    with pytest.raises(EnergyError) as caught:
        grid_hours(written(tmp_path, text), zone="X")
    assert "\n" not in str(caught.value)


def test_formats_have_names_and_wrong_ones_are_refused(tmp_path):
    assert len(grid_formats()) == 6
    with pytest.raises(UnknownNameError, match="Nearest: electricity-maps"):
        grid_hours(written(tmp_path, NEW), "electricity-map")


@given(values=st.lists(st.one_of(st.none(), st.floats(-1e4, 1e6)), min_size=1, max_size=30))
def test_hours_come_back_from_parquet_as_they_were(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("hours")
    hours = np.datetime64("2024-02-28T20", "h") + np.arange(len(values))
    rows = "".join(
        f"{hour}:00,{'' if one is None else repr(one)},{place}\n"
        for place, (hour, one) in enumerate(zip(hours, values, strict=True))
    )
    first = grid_hours(written(folder, "time_utc,generation_coal_mwh,generation_wind_mwh\n" + rows), zone="X")
    first, _ = intensity_of_mix(first, "lifecycle")
    write_hours(first, folder / "out.parquet")
    second = grid_hours(folder / "out.parquet")
    assert second.hour_utc.tolist() == first.hour_utc.tolist()
    for name, made in first.generation_mwh.items():
        np.testing.assert_array_equal(second.generation_mwh[name], made)
    one, other = first.series("lifecycle"), second.series("lifecycle")
    np.testing.assert_array_equal(one.values_gco2e_per_kwh, other.values_gco2e_per_kwh)
    assert (one.unit, one.status, one.gases, one.gwp_set) == (other.unit, other.status, other.gases, other.gwp_set)
    assert (first.gaps, first.notes, first.zone) == (second.gaps, second.notes, second.zone)
    with pytest.raises(InputFileError, match="exists"):
        write_hours(first, folder / "out.parquet")


# --- dirt: whatever a file holds, it is read or refused in one line ---

SAMPLES = {
    "electricity-maps": NEW + "2024-01-01 00:00:00,France,France,FR,30,60,90,40,x,false,\n" * 2,
    "entsoe-generation": wide([(f"{a} - {b} (CET/CEST)", "5", "n/e") for a, b in quarters("2020-10-25", 8, 30)]),
    "eia930-balance": eia(("CISO", "01/01/2022 1:00:00 AM", "900", "", "1,000", "5")),
    "neso-generation-mix": neso(),
    "watttime": answer(),
    "grid-table": (
        "time_utc,zone,intensity direct production (gCO2e/kWh),generation_coal_mwh\n2024-01-01T00:00Z,X,3,5\n"
    ),
}


@pytest.mark.parametrize("name", list(SAMPLES))
@given(
    cuts=st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 12), st.sampled_from(list(',;"\n\t -9.eZ+:{}[]x\x00é')))
    )
)
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path_factory, name, cuts):
    text = SAMPLES[name]
    for place, length, put in cuts:
        at = place % (len(text) + 1)
        text = text[:at] + put + text[at + length :]
    path = written(tmp_path_factory.mktemp("dirt"), text)
    for file_format in (None, name):
        try:
            found = grid_hours(path, file_format)
        except EnergyError as error:
            assert len(str(error).splitlines()) == 1
        else:
            assert found.hour_utc.size
