"""Scope 1 of fuels and leaks, and category 3 of what was bought: beside Scope 2, by hand-made reckoning."""

import pytest
from tiny_fleet import Fleet, host, site

from energy.errors import EnergyError
from energy.ledger.intake import rebuild
from energy.ledger.other_scopes import shares_of_quarters, upstream_rates


@pytest.fixture
def fleet(tmp_path):
    """One job of 8 H100 for two hours in Singapore, whose zone has a lifecycle factor and losses."""
    made = Fleet(tmp_path / "ledger", {"a": site([host("a-1", 8)], zone="SGP")})
    row = {"id": "1", "host": "a-1", "project": "p", "chips": 8}
    row |= {"start": "2026-02-05T10:00:00Z", "end": "2026-02-05T12:00:00Z"}
    made.ingest(made.jobs([row], "2026-02-05 10:00", "2026-02-05 13:00"))
    return made


def by_scope(fleet, scope):
    return fleet.rows(f"SELECT * FROM emissions_by_scope WHERE scope = '{scope}' ORDER BY quarter, category, owner")


def changed(fleet, top=(), **keys):
    fleet.top |= dict(top)
    fleet.sites["a"] |= keys
    fleet.describe()
    rebuild(fleet.folder, threads=1)


def test_losses_are_those_of_output_of_the_lifecycle_factor(fleet):
    (factor,) = {
        row["f"] for row in fleet.rows("SELECT max(intensity_gco2e_per_kwh_facility) AS f FROM core.factor_hour")
    }
    bought = fleet.total("energy_facility_kwh", "owner", view="energy_monthly")
    rows = [row for row in by_scope(fleet, "3") if row["category"].startswith("3 C")]
    assert {row["owner"]: float(row["emissions_kgco2e"]) for row in rows} == pytest.approx(
        {owner: energy * 0.02 / 0.98 * factor / 1000 for owner, energy in bought.items()}, rel=1e-9
    )
    assert {row["method"] for row in rows} == {"location"}


def test_what_is_not_held_is_null_and_says_why(fleet):
    rows = {row["category"][:3]: row for row in fleet.rows("SELECT * FROM upstream_factors")}
    assert rows["3 B"]["upstream_gco2e_per_kwh_facility"] is None
    assert "no direct factor of zone SGP" in rows["3 B"]["note"]
    assert not [row for row in by_scope(fleet, "3") if row["category"].startswith("3 B")]


def test_scope_2_is_the_same_in_both_views(fleet):
    shown = fleet.total("emissions_kgco2e", "method", view="emissions_by_scope", where="scope = '2'")
    assert shown == fleet.total("emissions_kgco2e", "method", view="emissions_quarterly")


def test_fuel_is_spread_over_the_days_of_its_period_and_owned_by_nobody(fleet):
    fuels = [{"fuel": "diesel", "volume_l": 2000, "from": "2026-03-22", "to": "2026-04-11"}]
    changed(fleet, {"gwp_set": "AR6"}, fuels=fuels)
    rows = by_scope(fleet, "1")
    assert [(row["quarter"], row["owner"], row["method"]) for row in rows] == [
        ("2026Q1", "unallocated", None),
        ("2026Q2", "unallocated", None),
    ]
    assert [float(row["emissions_kgco2e"]) for row in rows] == pytest.approx([2706.2] * 2, rel=1e-4)
    upstream = [row for row in by_scope(fleet, "3") if row["category"].startswith("3 A")]
    assert [float(row["emissions_kgco2e"]) for row in upstream] == pytest.approx([624.09] * 2, rel=1e-4)


def test_a_leak_is_its_mass_by_its_warming_potential(fleet):
    loss = {"refrigerant": "R-134a", "lost_kg": 2, "from": "2026-01-01", "to": "2026-04-01"}
    changed(fleet, {"gwp_set": "AR6"}, refrigerants=[loss])
    (row,) = by_scope(fleet, "1")
    assert (row["category"], float(row["emissions_kgco2e"])) == ("fugitive emissions", pytest.approx(3060.0))


def test_carbon_dioxide_of_biomass_stands_outside_the_scopes(fleet):
    fuels = [{"fuel": "biodiesel", "heat_kwh": 293.07107, "from": "2026-01-01", "to": "2026-04-01"}]
    changed(fleet, {"gwp_set": "AR6"}, fuels=fuels)
    (row,) = fleet.rows("SELECT * FROM core.other_emission WHERE scope = '1'")
    assert row["biogenic_co2_kg"] == pytest.approx(73.84, rel=1e-6)
    assert float(row["emissions_kgco2e"]) < 1


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ({"fuel": "diesel"}, "volume_l or heat_kwh"),
        ({"fuel": "diesel", "volume_l": 1, "heat_kwh": 1}, "one of them"),
        ({"fuel": "natural gas", "volume_l": 1}, "give heat_kwh"),
        ({"fuel": "deisel", "volume_l": 1}, "diesel"),
        ({"fuel": "diesel", "volume_l": -1}, "volume_l"),
        ({"fuel": "diesel", "volume_l": 1, "to": "2026-01-01"}, "not after"),
    ],
)
def test_a_fuel_that_cannot_be_right_is_one_line(fleet, use, words):
    with pytest.raises(EnergyError, match=words):
        changed(fleet, {"gwp_set": "AR6"}, fuels=[{"from": "2026-01-01", "to": "2026-04-01"} | use])


def test_fuels_without_a_set_of_potentials_are_refused(fleet):
    with pytest.raises(EnergyError, match="gwp_set is missing"):
        changed(fleet, fuels=[{"fuel": "diesel", "volume_l": 1, "from": "2026-01-01", "to": "2026-04-01"}])


def test_a_factor_of_another_basis_is_not_taken_off_unless_the_mix_is_named():
    refused, _ = upstream_rates("USA", 2023, "nearest earlier", "")
    assert refused.upstream_gco2e_per_kwh_facility is None
    assert "name it in basis_mix" in refused.note
    named, _ = upstream_rates("USA", 2023, "nearest earlier", "AR5+unstated")
    assert named.upstream_gco2e_per_kwh_facility > 0


def test_printed_factors_of_the_united_kingdom_are_taken_as_they_are():
    upstream, lost = upstream_rates("GBR", 2025, "exact", "")
    assert upstream.upstream_gco2e_per_kwh_facility == pytest.approx(45.9)
    assert lost.upstream_gco2e_per_kwh_facility == pytest.approx(18.53 + 3.97)
    assert upstream_rates("GBR", 2026, "exact", "")[0].upstream_gco2e_per_kwh_facility is None


def test_shares_of_quarters_add_up_to_one():
    from datetime import date

    shares = shares_of_quarters(date(2025, 12, 31), date(2027, 1, 2))
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares) == ["2025Q4", "2026Q1", "2026Q2", "2026Q3", "2026Q4", "2027Q1"]
