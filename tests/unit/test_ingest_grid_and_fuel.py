"""Hourly grid series and fuel purchases on their way into the ledger: what is used, what stands in, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_fleet import Fleet, host, job, site

from energy.carbon.category3 import upstream_of_fuel
from energy.carbon.combustion import combustion
from energy.carbon.fuel_amounts import fuel_amount
from energy.errors import EnergyError
from energy.ledger.intake import Request, ingest
from energy.units import quantity

HEAD = (
    "Datetime (UTC),Country,Zone name,Zone id,Carbon intensity gCO₂eq/kWh (direct),Carbon intensity gCO₂eq/kWh (Life "
    "cycle),Carbon-free energy percentage (CFE%),Renewable energy percentage (RE%),Data source,Data estimated,Data "
    "estimation method\n"
)


def french(path: Path, hours=range(24), day="2026-01-05", add="") -> Path:
    rows = "".join(f"{day} {h:02}:00:00,France,France,FR,{20 + h},{40 + h},90,40,x,False,\n" for h in hours)
    path.write_text(HEAD + rows + add, encoding="utf-8")
    return path


@pytest.fixture
def fleet(tmp_path):
    made = Fleet(tmp_path / "ledger", {"hall": site([host("h1", 8)], zone="FRA")}, {"gwp_set": "AR6"})
    made.ingest(
        made.jobs([job("1", "h1", 8, "2026-01-05 08:00", "2026-01-05 12:00")], "2026-01-05 08:00", "2026-01-05 12:00")
    )
    return made


def hourly(fleet) -> dict[int, tuple[float, str, str]]:
    sql = (
        "SELECT hour_utc, intensity_gco2e_per_kwh_facility AS g, factor_id, basis, emissions_kgco2e, "
        "energy_facility_kwh FROM emission_lines WHERE method = 'hourly' AND owner_kind = 'project'"
    )
    return {row["hour_utc"].hour: row for row in fleet.rows(sql)}


# --- grid hours ---


def test_hours_of_a_series_are_the_factors_of_the_hourly_method(fleet, tmp_path):
    assert hourly(fleet) == {}
    (done,) = ingest(fleet.folder, [Request("grid-hours", french(tmp_path / "em.csv"))], threads=1)
    assert done.rows_rejected == 0
    found = hourly(fleet)
    assert {h: row["g"] for h, row in found.items()} == {h: 40.0 + h for h in range(8, 12)}
    for row in found.values():
        assert row["factor_id"].startswith("grid-hours-batch-") and row["basis"].startswith("lifecycle, consumption")
        assert float(row["emissions_kgco2e"]) == pytest.approx(float(row["energy_facility_kwh"]) * row["g"] / 1000)


def test_the_same_file_twice_changes_nothing_and_a_withdrawal_takes_it_back(fleet, tmp_path):
    from energy.ledger import withdraw

    file = french(tmp_path / "em.csv")
    (first,) = ingest(fleet.folder, [Request("grid-hours", file)], threads=1)
    before = fleet.rows("SELECT * FROM emission_lines ORDER BY ALL")
    (again,) = ingest(fleet.folder, [Request("grid-hours", file)], threads=1)
    assert again.batch_id is None or again.rows_accepted == 0
    assert fleet.rows("SELECT * FROM emission_lines ORDER BY ALL") == before
    withdraw(fleet.folder, first.batch_id or 2)
    assert hourly(fleet) == {}


def test_an_hour_without_a_value_has_what_is_named_in_its_place(fleet, tmp_path):
    add = "2026-01-05 09:00:00,France,France,FR,1,2,90,40,x,False,\n"
    (done,) = ingest(fleet.folder, [Request("grid-hours", french(tmp_path / "em.csv", (8, 9, 11), add=add))], threads=1)
    assert done.rows_rejected == 1 and "contradict" in str(done.first_reject)
    found = hourly(fleet)
    assert [h for h, row in sorted(found.items()) if row["factor_id"].startswith("grid-hours")] == [8, 11]
    notes = {row["factor_id"]: row["note"] for row in fleet.rows("SELECT * FROM factors_used WHERE method = 'hourly'")}
    assert any("no ingested series covers the hour" in str(note) for note in notes.values())


def test_a_series_of_another_zone_or_without_one_is_never_guessed(fleet, tmp_path):
    with pytest.raises(EnergyError, match="no zone 'FRA' in Zone id; it has FR"):
        ingest(fleet.folder, [Request("grid-hours", french(tmp_path / "a.csv"), zone="FRA")], threads=1)
    table = tmp_path / "table.csv"
    table.write_text("hour_utc,intensity (gCO2e/kWh)\n2026-01-05T08:00Z,50\n")
    with pytest.raises(EnergyError) as caught:
        ingest(fleet.folder, [Request("grid-hours", table)], threads=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"zone": "Narnia"}, {"boundary": "some"}, {"attribution": "both"}, {"boundary": "direct"}]
)
def test_wrong_options_are_one_line(fleet, tmp_path, options):
    file = french(tmp_path / "em.csv")
    try:
        ingest(fleet.folder, [Request("grid-hours", file, **options)], threads=1)
    except EnergyError as error:
        assert "\n" not in str(error)
    else:
        assert options == {"boundary": "direct"}  # the file states both
    with pytest.raises(EnergyError, match="leave it out"):
        ingest(fleet.folder, [Request("jobs", file, zone="FRA")], threads=1)


# --- fuel purchases ---

INVOICES = """document_id,date,from,to,site,fuel,amount,unit,supplier
A1,2026-01-20,,,hall,diesel,1000,L,Total
A2,,2026-01-01,2026-04-01,hall,natural gas,500,m3,Engie
A7,2026-02-01,,,hall,natural gas,10,therm,X
"""


def scopes(fleet) -> dict[tuple[str, str], float]:
    sql = "SELECT scope, category, sum(emissions_kgco2e) AS kg FROM emissions_by_scope WHERE scope = '1' GROUP BY ALL"
    return {(row["scope"], row["category"]): float(row["kg"]) for row in fleet.rows(sql)}


def test_purchases_are_scope_1_by_the_factors_of_their_fuel(fleet, tmp_path):
    file = tmp_path / "fuel.csv"
    file.write_text(INVOICES)
    (done,) = ingest(fleet.folder, [Request("fuel-purchases", file)], threads=1)
    assert done.rows_rejected == 0 and done.rows_accepted == 3
    wanted = combustion("diesel", quantity(1000.0, "L"), "AR6").emissions.magnitude
    heat = fuel_amount("natural gas", 500.0, "m3").amount + quantity(293.07107017, "kWh")
    wanted += combustion("natural gas", heat, "AR6").emissions.magnitude
    assert scopes(fleet) == {("1", "stationary combustion"): pytest.approx(wanted)}
    upstream = fleet.rows(
        "SELECT sum(emissions_kgco2e) AS kg FROM emissions_by_scope WHERE category = '3 A upstream of fuels'"
    )
    by_hand = upstream_of_fuel("diesel", quantity(1000.0, "L"))[0] + upstream_of_fuel("natural gas", heat)[0]
    assert float(upstream[0]["kg"]) == pytest.approx(by_hand.magnitude)
    before = scopes(fleet)
    ingest(fleet.folder, [Request("fuel-purchases", file)], threads=1)
    assert scopes(fleet) == before


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("B1,2026-02-01,,,hall,deisel,10,L,X", "Nearest: diesel"),
        ("B1,2026-02-01,,,hall,natural gas,10,kWh,X", "kWh HHV"),
        ("B1,2026-02-01,,,nowhere,diesel,10,gal,X", "nowhere is not in site.yaml"),
        ('B1,2026-02-01,,,hall,diesel,"1,000",L,X', "no number"),
        ("B1,2026-02-01,,,hall,diesel,-5,L,X", "no number of zero or more"),
        ("B1,,,,hall,diesel,5,L,X", ""),
        (",2026-02-01,,,hall,diesel,5,L,X", "document_id"),
        ("A1,2026-01-20,,,hall,diesel,900,L,Total", "contradicts"),
    ],
)
def test_a_row_that_cannot_be_right_is_refused_with_its_reason_and_the_others_stand(fleet, tmp_path, row, said):
    file = tmp_path / "fuel.csv"
    file.write_text(INVOICES + row + "\n")
    (done,) = ingest(fleet.folder, [Request("fuel-purchases", file)], threads=1)
    assert done.rows_rejected == 1 and said in str(done.first_reject) and done.rows_accepted == 3


def test_without_a_set_of_potentials_purchases_are_not_reckoned(tmp_path):
    made = Fleet(tmp_path / "ledger", {"hall": site([host("h1", 8)], zone="FRA")})
    made.ingest(
        made.jobs([job("1", "h1", 8, "2026-01-05 08:00", "2026-01-05 12:00")], "2026-01-05 08:00", "2026-01-05 12:00")
    )
    file = tmp_path / "fuel.csv"
    file.write_text(INVOICES)
    with pytest.raises(EnergyError, match="gwp_set is missing"):
        ingest(made.folder, [Request("fuel-purchases", file)], threads=1)


def test_a_fuel_without_an_upstream_factor_has_a_null_line_with_its_reason(fleet, tmp_path):
    file = tmp_path / "fuel.csv"
    row = "E1,2026-01-20,,,hall,ethanol,1000,kWh HHV,X"
    file.write_text(INVOICES.splitlines()[0] + "\n" + row + "\n")
    ingest(fleet.folder, [Request("fuel-purchases", file)], threads=1)
    (line,) = fleet.rows("SELECT * FROM core.other_emission WHERE category = '3 A upstream of fuels'")
    assert line["emissions_kgco2e"] is None and line["basis"] is None and line["biogenic_co2_kg"] is None
    assert "not reckoned" in line["note"] and "ethanol" in line["note"]
    (burnt,) = fleet.rows("SELECT * FROM core.other_emission WHERE category = 'stationary combustion'")
    assert burnt["emissions_kgco2e"] > 0 and burnt["biogenic_co2_kg"] > 0


@settings(deadline=None)
@given(litres=st.floats(0.01, 1e6))
def test_the_same_volume_in_other_units_is_the_same_amount(litres):
    one = fuel_amount("diesel", litres, "L").amount
    assert fuel_amount("diesel", litres / 3.785411784, "gal (US)").amount.magnitude == pytest.approx(one.magnitude)


@settings(deadline=None)
@given(heat=st.floats(0.01, 1e6))
def test_the_same_heat_in_other_units_is_the_same_amount(heat):
    one = fuel_amount("natural gas", heat, "kWh HHV").amount.to("kWh").magnitude
    assert fuel_amount("natural gas", heat / 293.07107017, "MMBtu").amount.to("kWh").magnitude == pytest.approx(one)
    assert fuel_amount("natural gas", heat / 29.307107017, "therm").amount.to("kWh").magnitude == pytest.approx(one)
    net = fuel_amount("natural gas", heat, "kWh LHV").amount.to("kWh").magnitude
    assert net > one  # the same number by the net value holds more by the gross one
