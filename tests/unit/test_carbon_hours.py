"""Hours of grid data: whole hours of rows, months, mixes, and zones that trade."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.carbon.hours import (
    HOUR_MS,
    Flows,
    GridHours,
    HourGaps,
    by_hour_of_day,
    intensity_of_mix,
    month_hour,
    monthly,
    on_hours,
    traded_hours,
)
from energy.errors import FactorError, InputFileError
from energy.importers.grid_table import read_flows

FIRST = np.datetime64("2024-01-01T00", "h")


def hours_of(zone: str, **generation: list[float]) -> GridHours:
    count = len(next(iter(generation.values())))
    made = {name.replace("_", " "): np.array(values, dtype=float) for name, values in generation.items()}
    return GridHours(zone, FIRST + np.arange(count), (), made, "us", "x.csv", "table", "given", HourGaps(), None, ())


def flows(*links: tuple[str, str, list[float]]) -> Flows:
    table = np.array([values for _, _, values in links], dtype=float)
    return Flows(FIRST + np.arange(table.shape[1]), tuple((a, b) for a, b, _ in links), table, "f.csv", HourGaps())


@given(
    parts=st.sampled_from([1, 2, 4, 12]),
    values=st.lists(st.floats(-1e5, 1e5), min_size=48, max_size=48),
    order=st.randoms(use_true_random=False),
)
def test_the_mean_of_whole_hours_keeps_the_energy_whatever_the_order_of_the_rows(parts, values, order):
    count = 48 // parts * parts
    start = np.arange(count) * (HOUR_MS // parts)
    place = list(range(count))
    order.shuffle(place)
    row = np.array(values[:count])
    found = on_hours(start[place], None, row[None, place])
    assert found.values.sum() == pytest.approx(row.sum() / parts, abs=1e-6)
    assert found.gaps == HourGaps()


@given(gone=st.sets(st.integers(1, 46), max_size=20))
def test_each_row_that_is_gone_makes_its_hour_unknown_and_no_other(gone):
    keep = np.array([place for place in range(48) if place not in gone])
    found = on_hours(keep * (HOUR_MS // 2), np.full(keep.size, HOUR_MS // 2), np.ones((1, keep.size)))
    lost = {place // 2 for place in gone}
    assert set(np.flatnonzero(np.isnan(found.values[0])).tolist()) == lost
    assert found.gaps.missing_hours + found.gaps.partial_hours == len(lost)


def test_rows_of_different_lengths_are_weighed_by_their_length():
    found = on_hours([0, HOUR_MS // 2, HOUR_MS * 3 // 4], [HOUR_MS // 2, HOUR_MS // 4, HOUR_MS // 4], [[1.0, 3.0, 5.0]])
    assert found.values.tolist() == [[2.5]]


@pytest.mark.parametrize(("start", "length"), [([0], [2 * HOUR_MS]), ([HOUR_MS // 2], [HOUR_MS]), ([0], [0]), ([], [])])
def test_rows_that_are_no_part_of_one_hour_are_refused(start, length):
    with pytest.raises(FactorError):
        on_hours(start, length, np.ones((1, len(start))))


def test_means_by_month_and_hour_leave_out_what_is_unknown():
    hour = FIRST + np.arange(24 * 40)
    values = np.arange(hour.size, dtype=float)
    values[:24] = np.nan
    table = month_hour(hour, values)
    assert table.shape == (12, 24)
    assert np.isnan(table[2:]).all()
    assert table[0, 5] == pytest.approx(np.mean(np.arange(1, 31) * 24 + 5))
    assert by_hour_of_day(hour, values)[5] == pytest.approx(np.mean(np.arange(1, 40) * 24 + 5))
    january, february = monthly(hour, values)
    assert (january.month, january.hours, january.known_hours) == ("2024-01", 744, 720)
    assert february.mean_gco2e_per_kwh == pytest.approx(values[744:].mean())


def test_what_a_mix_leaves_out_is_said():
    one = hours_of("X", coal=[10, -2, np.nan], wind=[10, 5, 5], pumped_storage=[3, 3, 3])
    found, _ = intensity_of_mix(one, "direct")
    series = found.series("direct")
    assert series.values_gco2e_per_kwh.tolist() == [380, 0, 0]
    assert (series.status, series.attribution, series.gases) == ("derived", "production", "CO2 only")
    said = " ".join(found.notes)
    assert "2 MWh of negative generation" in said
    assert "not known in 1 hours" in said
    assert "pumped storage" in said
    with pytest.raises(FactorError, match="compute it"):
        one.series("direct")


def test_both_boundaries_stand_beside_each_other_and_never_replace_the_published_one():
    found, _ = intensity_of_mix(hours_of("X", gas=[1.0]), "direct")
    found, _ = intensity_of_mix(found, "lifecycle")
    assert [one.boundary for one in found.intensity] == ["direct", "lifecycle"]
    again, _ = intensity_of_mix(found, "direct")
    assert len(again.intensity) == 2


@given(
    made=st.lists(st.floats(1, 1e4), min_size=6, max_size=6),
    flow=st.lists(st.floats(-1, 1), min_size=6, max_size=6),
)
def test_emissions_of_zones_that_trade_are_those_of_what_they_made(made, flow):
    zones = [hours_of(name, coal=made[:3], wind=made[3:]) for name in "AB"]
    moved = [part * min(made) / 2 for part in flow]
    found = traded_hours(zones, flows(("A", "B", moved[:3]), ("B", "A", moved[3:])), "lifecycle")
    generated = 2 * np.array(made[:3]) * 820 + 2 * np.array(made[3:]) * 11
    assert found.traded.emissions_kgco2e.sum(axis=0) == pytest.approx(generated)
    assert found.left_out_hours == 0


def test_importers_take_over_the_intensity_of_where_their_energy_was_made():
    zones = [hours_of("A", coal=[100, 100]), hours_of("B", wind=[50, 50])]
    found = traded_hours(zones, flows(("A", "B", [50, np.nan]), ("A", "sink", [10, 10])), "lifecycle")
    one, other = (zone.series("lifecycle") for zone in found.zones)
    assert one.values_gco2e_per_kwh[0] == 820
    assert other.values_gco2e_per_kwh[0] == pytest.approx((50 * 820 + 50 * 11) / 100)
    assert other.attribution == "consumption"
    assert other.unit == "gCO2e/kWh_facility"
    assert np.isnan(other.values_gco2e_per_kwh[1])
    assert found.left_out_hours == 1


def test_an_hour_in_which_a_technology_of_any_zone_is_unknown_is_left_out_of_trade():
    zones = [hours_of("A", coal=[100, 100], wind=[10, np.nan]), hours_of("B", wind=[50, 50])]
    found = traded_hours(zones, flows(("A", "B", [50, 50])), "direct")
    assert found.left_out_hours == 1
    for zone in found.zones:
        assert np.isnan(zone.series("direct").values_gco2e_per_kwh).tolist() == [False, True]


def test_energy_of_a_zone_without_generation_is_refused_by_name():
    with pytest.raises(FactorError, match="Zone C gives energy"):
        traded_hours([hours_of("A", coal=[1.0])], flows(("C", "A", [5.0])))
    with pytest.raises(FactorError, match="given twice"):
        traded_hours([hours_of("A", coal=[1.0]), hours_of("A", coal=[1.0])], flows(("A", "B", [0.5])))
    later = Flows(FIRST + np.arange(50, 51), (("A", "B"),), np.ones((1, 1)), "f.csv", HourGaps())
    with pytest.raises(FactorError, match="share no hour"):
        traded_hours([hours_of("A", coal=[1.0])], later)


def test_a_table_of_flows_is_read_by_link_and_hour(tmp_path: Path):
    path = tmp_path / "flows.csv"
    path.write_text(
        "time_utc,from,to,flow_mwh\n2024-01-01T00:00Z,A,B,5\n2024-01-01T02:00Z,A,B,-3\n2024-01-01T00:00Z,B,C,1\n"
        "2024-01-01T02:00Z,B,C,1\n2024-01-01T02:00Z,B,C,9\n"
    )
    found = read_flows(path)
    assert found.links == (("A", "B"), ("B", "C"))
    np.testing.assert_array_equal(found.flow_mwh, [[5, np.nan, -3], [1, np.nan, np.nan]])
    path.write_text("time_utc,from,to,flow_mwh\n2024-01-01T00:00Z,A,A,5\n")
    with pytest.raises(InputFileError, match="line 2"):
        read_flows(path)


# --- against the shared hours ---


@pytest.mark.parametrize("file", ["eu_entsoe_2019_2020", "us_eia930_2022"])
def test_the_derived_columns_of_the_shared_hours_come_out_to_the_printed_digits(shared_folder, tmp_path, file):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet

    from energy.importers.grid_files import grid_hours

    table = pyarrow.parquet.read_table(shared_folder / f"data/grid/hourly/{file}.parquet")
    made = [name for name in table.column_names if name.endswith("_mwh") and name != "total_mwh"]
    path = tmp_path / "hours.csv"
    for zone in pc.unique(table["zone"]).to_pylist():
        given = table.filter(pc.equal(table["zone"], zone))
        text = pc.strftime(given["datetime_utc"], "%Y-%m-%dT%H:%M")
        columns = {"time_utc": text, "zone": given["zone"], **{f"generation_{name}": given[name] for name in made}}
        pyarrow.csv.write_csv(pa.table(columns), path)
        found = grid_hours(path)
        hour = given["datetime_utc"].cast(pa.timestamp("s")).to_numpy().astype("datetime64[h]")
        place = (hour - found.hour_utc[0]).astype(int)
        for boundary, column in (("direct", "gco2_per_kwh_direct"), ("lifecycle", "gco2e_per_kwh_lifecycle")):
            values = intensity_of_mix(found, boundary)[0].series(boundary).values_gco2e_per_kwh[place]
            printed = np.asarray(given[column].to_numpy(), dtype=float)
            # printed with two decimals and kept in single precision
            np.testing.assert_allclose(values, printed, rtol=6e-8, atol=0.0050001)
