"""The catalogue as lists and entries: every kind, units, marks, prices by chip and region."""

import pytest

from energy.catalogue.listing import KINDS, entries, entry_lines, one, table_lines
from energy.errors import AmbiguousNameError, UnknownNameError

NAMES = {
    "chips": "NVIDIA H100 80GB HBM3",
    "nodes": "DGX H100",
    "links": "NVLink 4",
    "memories": "HBM3e",
    "operations": "add_int_45nm_1",
    "models": "Llama 3.1 8B",
    "software": "sw01",
    "prices": "p0001",
    "electricity-prices": "e0001",
    "zones": "SE3",
    "factors": "egrid2022-CAMX",
    "profiles": "US-PJM",
    "cloud-regions": "aws us-east-1",
    "marginal": "Texas",
    "losses": "Germany",
    "weather": "Frankfurt",
    "sources": "owid_2025",
}


def test_every_kind_has_a_name_here():
    assert set(NAMES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_lists(kind):
    rows = entries(kind)
    assert rows
    lines = table_lines(kind, rows)
    assert len(lines) == len(rows) + 4
    assert lines[0].split() == list(rows[0])
    assert not any("None" in line.split() for line in lines)


@pytest.mark.parametrize(("kind", "name"), NAMES.items())
def test_entries(kind, name):
    rows = one(kind, name)
    assert all(set(row) == {"field", "value", "unit", "status"} for row in rows)
    fields = [row["field"] for row in rows]
    assert len(fields) == len(set(fields))
    assert "source" in fields
    assert any(row["field"] == "licence" if kind == "sources" else row["field"] == "status" for row in rows)
    assert all(entry_lines(rows))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"zones"}))
def test_what_is_unknown_is_refused_with_the_way_to_all(kind):
    with pytest.raises(UnknownNameError, match=f"All of them: `energy catalogue {kind}`"):
        one(kind, "nothing of that name")


@pytest.mark.parametrize(
    ("kind", "name", "field", "unit", "status"),
    [
        ("chips", "TPU v5p", "tdp_w", "W", "recalled, unverified"),
        ("chips", "A100 SXM4 80GB", "idle_w", "W", "read"),
        ("nodes", "dgx_1_p100", "max_kw", "kW_it", "recalled, unverified"),
        ("links", "nvlink4", "year", "year", "recalled, unverified"),
        ("operations", "derived_google_tpu_v5p_int8", "energy_pj", "pJ", "recalled, unverified"),
        ("models", "Llama 3.1 8B", "params_total_from_shape", "billion", "derived: from the shape"),
        ("factors", "egrid2022-CAMX", "value", "gCO2e/kWh_generation", ""),
        ("factors", "aib2024-DEU-residual", "value", "gCO2e/kWh_facility", ""),
        ("cloud-regions", "aws us-east-1", "zone_id", "", "recalled, unverified"),
        ("cloud-regions", "aws us-east-1", "pue 2023", "kWh_facility/kWh_it", "WUE is one fleet-wide figure"),
        ("losses", "Germany", "td_loss_pct_of_output", "% of output", ""),
        ("electricity-prices", "e0208", "price_usd_per_kwh", "USD/kWh", "recalled, unverified"),
    ],
)
def test_units_and_marks(kind, name, field, unit, status):
    (row,) = [row for row in one(kind, name) if row["field"] == field]
    assert row["unit"] == unit
    assert row["status"].startswith(status)
    assert bool(row["status"]) == bool(status)


def test_what_nobody_published_is_not_known():
    (row,) = [row for row in one("chips", "TPU v5p") if row["field"] == "typical_w"]
    assert row["value"] is None
    assert "typical_w" in entry_lines([row])[0]
    assert entry_lines([row])[0].endswith("not known")


def test_prices_are_found_by_chip_and_by_region():
    rows = one("prices", "NVIDIA B200")
    assert {row["unit"] for row in rows} <= {"USD/(chip h)", "USD/chip"}
    assert any("estimate" in row["status"] for row in rows)
    assert {row["unit"] for row in one("electricity-prices", "US-VA")} == {"USD/kWh"}
    with pytest.raises(AmbiguousNameError, match="nvidia_h100_sxm5_80"):
        one("prices", "H100")
    with pytest.raises(UnknownNameError, match="No price of TrueNorth"):
        one("prices", "TrueNorth")


def test_a_direct_intensity_that_is_not_known_says_so():
    rows = {row["field"]: row for row in one("profiles", "CHE")}
    assert rows["direct_mean"]["value"] is None
    assert rows["lifecycle_low"]["value"] > 10


def test_unknown_kinds_are_refused_with_all():
    with pytest.raises(UnknownNameError, match=r"Nearest: chips.*electricity-prices"):
        entries("chip")
