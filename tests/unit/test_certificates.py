"""Statements of registers: ranges with both ends, states, odd rows; hours of a contract by the local clock."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import EnergyError
from energy.importers.base import Context, importer
from energy.ledger.instrument_ranges import claimed_twice

GO = (
    "certificate_id_from,certificate_id_to,volume_mwh,production_start,production_end,technology_code,"
    "issuing_country,status"
)
REC = "Serial Number Start,Serial Number End,Quantity,Vintage,Status,Fuel Type,Account"
GRANULAR = (
    "certificate_bundle_id_range_start,certificate_bundle_id_range_end,bundle_quantity_wh,face_value,energy_source,"
    "production_starting_interval,production_ending_interval,certificate_status,storage_efficiency_factor"
)


def read(folder, name, header, *lines, **told):
    path = folder / "statement.csv"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    context = Context(site_id=None, timezone=told.get("timezone"), hosts={}, chip_of_name=lambda name, _: name)
    (batch,) = importer(name).read(path, None, context)
    assert batch.rows_read == batch.table.num_rows + batch.rejects.num_rows
    return batch.table.to_pylist(), [row["reason"] for row in batch.rejects.to_pylist()]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("101,200,99,2026-01-01,2026-01-31,T020000,NO,Cancelled", "its end is included"),
        ("200,101,100,2026-01-01,2026-01-31,T020000,NO,Cancelled", "runs backwards"),
        ("a1,b2,2,2026-01-01,2026-01-31,T020000,NO,Cancelled", "not numbers of one series"),
        ("101,200,,2026-01-01,2026-01-31,T020000,NO,Cancelled", "volume_mwh is empty"),
        ("101,200,100,2026-02-01,2026-01-01,T020000,NO,Cancelled", "ends before it begins"),
        ("101,200,100,01/02/2026,2026-01-31,T020000,NO,Cancelled", "no date"),
        ("101,200,-100,2026-01-01,2026-01-31,T020000,NO,Cancelled", "zero or more"),
    ],
)
def test_a_guarantee_that_contradicts_itself_is_refused(tmp_path, row, reason):
    good = "1,100,100,2026-01-01,2026-01-31,T020000,NO,Cancelled"
    rows, reasons = read(tmp_path, "certificates", GO, good, row)
    assert len(rows) == 1
    assert [reason in one for one in reasons] == [True]


@pytest.mark.parametrize(("status", "counts"), [("Cancelled", True), ("Transferred", False), ("Issued", False)])
def test_only_what_is_cancelled_has_a_cancellation(tmp_path, status, counts):
    (row,), _ = read(tmp_path, "certificates", GO, f"1,100,100,2026-01-01,2026-01-31,T020000,NO,{status}")
    assert (row["cancellation_id"] is not None) == counts
    assert row["vintage_to_utc"] == datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(("code", "rate"), [("T020000", 0.0), ("T050000", None), ("", None)])
def test_the_rate_is_known_only_where_nothing_is_burnt(tmp_path, code, rate):
    (row,), _ = read(tmp_path, "certificates", GO, f"1,100,100,2026-01-01,2026-01-31,{code},NO,Cancelled")
    assert row["intensity_gco2e_per_kwh_facility"] == rate


def test_months_and_grouped_numbers_of_a_retirement(tmp_path):
    rows, reasons = read(
        tmp_path,
        "certificates",
        REC,
        'R-US-1-000001,R-US-1-002000,"2,000",12/2025,Retired,Wind,Example',
        'R-US-1-002001,R-US-1-002001,"1",13/2025,Retired,Wind,Example',
        "R1-5,R1-6,2,01/2026,Active,Biogas,Example",
    )
    first, last = rows
    assert first["vintage_to_utc"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert (first["market"], first["energy_facility_mwh"]) == ("US", 2000.0)
    assert (last["market"], last["intensity_gco2e_per_kwh_facility"], last["cancellation_id"]) == (None, None, None)
    assert ["month and year" in one for one in reasons] == [True]


def test_face_value_and_storage_of_granular_certificates(tmp_path):
    when = "2026-02-01T09:00:00Z,2026-02-01T10:00:00Z,Cancelled"
    rows, reasons = read(
        tmp_path,
        "certificates",
        GRANULAR,
        f"1,10,10000,1000,solar_pv,{when},",
        f"11,20,10,1000,solar_pv,{when},",
        f"21,30,10,1,solar_pv,{when},0.9",
        f"31,40,10,,solar_pv,{when},",
    )
    assert [row["energy_facility_mwh"] for row in rows] == [0.01]
    assert [reason.split(":")[0] for reason in reasons] == [
        "the range holds 10,000 Wh (its end is included), the row says 10",
        "a certificate of energy out of storage",
        "face_value is empty",
    ]


HOURS = "delivery_date,hour_ending,energy,unit"


def test_the_long_day_names_an_hour_twice_summer_time_first(tmp_path):
    labels = [1, 2, 3, 3, *range(4, 25)]  # Berlin, clocks go back at 3: two hours end when clocks show 2 or 3
    ends = [1, 2, 2, *range(3, 25)]
    assert len(labels) == len(ends) == 25
    lines = [f"2026-10-25,{label},1,MWh" for label in ends]
    rows, reasons = read(tmp_path, "deliveries", HOURS, *lines, timezone="Europe/Berlin")
    assert reasons == []
    hours = [row["hour_utc"] for row in rows]
    assert hours == sorted(set(hours))
    assert len(hours) == 25
    _, wrong = read(
        tmp_path, "deliveries", HOURS, *(f"2026-10-25,{label},1,MWh" for label in labels), timezone="Europe/Berlin"
    )
    assert len(wrong) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2026-03-29,2,1,MWh", "clocks go forward"),
        ("2026-03-29,25,1,MWh", "1 to 24"),
        ("2026-03-29,5,1,MW", "use Wh, kWh, MWh or GWh"),
        ("2026-03-29,5,,MWh", "is empty"),
        ("2026-03-29,5,-1,MWh", "zero or more"),
    ],
)
def test_an_hour_that_is_none_is_refused(tmp_path, line, reason):
    rows, reasons = read(tmp_path, "deliveries", HOURS, line, timezone="Europe/Berlin")
    assert rows == []
    assert reason in reasons[0]


@pytest.mark.parametrize("name", ["certificates", "contracts", "deliveries"])
@pytest.mark.parametrize("text", ["", "<html></html>", "a;b\n1;2\n", "[]"])
def test_what_is_no_statement_is_one_line(tmp_path, name, text):
    path = tmp_path / "statement.csv"
    path.write_text(text, encoding="utf-8")
    context = Context(site_id=None, timezone="UTC", hosts={}, chip_of_name=lambda name, _: name)
    with pytest.raises(EnergyError) as raised:
        list(importer(name).read(path, None, context))
    assert "\n" not in str(raised.value)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 15)), max_size=8))
def test_a_number_is_claimed_by_one_range_at_most(ranges):
    names = sorted({f"x-{first}..x-{first + more}" for first, more in ranges})
    twice = claimed_twice(("R", name) for name in names)
    kept = [name for name in names if name not in twice]
    spans = [tuple(int(end[2:]) for end in name.split("..")) for name in kept]
    claimed = [number for first, last in spans for number in range(first, last + 1)]
    assert len(claimed) == len(set(claimed))
    if len(names) > 0:
        assert kept
