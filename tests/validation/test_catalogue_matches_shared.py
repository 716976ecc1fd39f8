"""The curated tables against the shared reference tables they were taken from."""

import csv
import math
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from energy.catalogue import (
    _tables,
    all_chips,
    all_factors,
    all_marginal,
    all_models,
    all_nodes,
    all_zones,
    factor,
    hours,
    marginal_profile,
    parameters_of,
    profile,
)
from energy.resources import resource

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("ENERGY_SHARED", ROOT / "../shared"))
pytestmark = pytest.mark.skipif(
    not (SHARED / "data").is_dir(),
    reason="the shared reference data is absent: set ENERGY_SHARED or put it in ../shared",
)
POUND_KG = 0.45359237
US = [f"US-{name}" for name in ("CISO", "PJM", "ERCO", "AZPS", "BPAT", "MISO", "NYIS", "SOCO")]
EUROPE = {
    "DEU": "DE", "AUT": "AT", "BEL": "BE", "CZE": "CZ", "DNK": "DK", "ESP": "ES", "FIN": "FI", "FRA": "FR",
    "GBR": "GB", "IRL": "IE", "ITA": "IT", "NLD": "NL", "POL": "PL",
}  # fmt: skip


def shared(path):
    with (SHARED / "data" / path).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def curated(table):
    with (resource("datasets") / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    ("table", "path", "key", "own_key"),
    [
        ("chips", "chips/chips.csv", "chip_id", "chip_id"),
        ("nodes", "chips/nodes.csv", "node_id", "node_id"),
        ("links", "chips/interconnects.csv", "interconnect_id", "link_id"),
        ("memories", "chips/memories.csv", "memory_id", "memory_id"),
        ("energy_per_op", "chips/energy_per_op.csv", "entry_id", "operation_id"),
        ("models", "models/models.csv", "model_id", "model_id"),
        ("prices", "chips/prices.csv", "price_id", "price_id"),
        ("electricity_prices", "chips/electricity_prices.csv", "price_id", "price_id"),
    ],
)
def test_rows_equal_the_shared_rows(table, path, key, own_key):
    original = {row[key]: row for row in shared(path)}
    rows = {row[own_key]: row for row in curated(table)}
    assert list(rows) == list(original)
    own = {"idle_w", "recalled_fields", "note", "is_estimate", "tied_embeddings", "source"}
    for name, row in rows.items():
        before = original[name]
        # Every layer is a mixture (paper, table 9): with every second one the layers make half of what is published.
        corrected = {"moe_every"} if name == "switch_c" else set()
        for column in set(row) & set(before) - own - corrected:
            same = row[column] == before[column].strip() or float(row[column]) == float(before[column])
            assert same, (name, column)
        assert row["source"] == before["source"].replace("chips.csv", "chips_table")
        for column in {"is_estimate", "tied_embeddings"} & set(row):
            assert {"true": "yes", "false": "no", "": ""}[row[column]] == before[column]
        # Nothing recalled is passed off as read; a derived figure may be marked where the shared one is not.
        whole = "all" if before["confidence"] == "recalled" else ""
        flagged = {{"notes": "note"}.get(field, field) for field in before.get("recalled_fields", whole).split(";")} - {
            ""
        }
        mine = set(row["recalled_fields"].split(";")) - {""}
        assert (flagged & {*row, "all"}) - mine <= {"idle_w"}
        assert mine - flagged <= ({"energy_pj"} if table == "energy_per_op" else set())


def test_figures_derived_from_unverified_power_are_marked():
    by_id = {row["chip_id"]: row for row in shared("chips/chips.csv")}
    for row in curated("energy_per_op"):
        if row["chip_id"] and "tdp_w" in by_id[row["chip_id"]]["recalled_fields"].split(";"):
            assert row["recalled_fields"] == "energy_pj"


def test_links_name_the_chips_of_the_shared_table():
    original = {row["interconnect_id"]: row["chips_using_it"] for row in shared("chips/interconnects.csv")}
    for row in curated("links"):
        parts = [part.strip() for part in (row["chip_ids"] + ";" + row["used_by"]).split(";")]
        assert sorted(filter(None, parts)) == sorted(
            part.strip() for part in original[row["link_id"]].split(";") if part
        )


def test_measured_idle_power_is_the_shared_value():
    original = {row["chip_id"]: row for row in shared("chips/chips.csv")}
    for one in all_chips():
        if one.idle_status in ("read", "recalled"):
            assert one.idle_w == float(original[one.chip_id]["idle_w"])
            assert one.idle_note == original[one.chip_id]["idle_kind"]
            assert "modelled" not in one.idle_note.split(",")[0]
    assert len(all_nodes()) > 50


def test_country_factors_are_all_years_of_one_edition():
    table = defaultdict(dict)
    for row in shared("grid/country_annual_carbon_intensity.csv"):
        if row["source"] == "owid_2025" and row["iso3"] and float(row["gco2e_per_kwh"]) != 0:
            table[row["iso3"]][int(row["year"])] = float(row["gco2e_per_kwh"])
    mine = defaultdict(dict)
    for one in all_factors():
        if one.source == ("owid_2025",):
            mine[one.zone_id][one.year] = one.value
    assert mine == table
    assert set(table) == {one.zone_id for one in all_zones() if one.kind in ("country", "world")}


def test_egrid_factors_follow_from_the_gas_rates():
    rows = [row for row in shared("grid/us_egrid_subregions.csv") if row["edition"] == "eGRID2022"]
    for row in rows:
        one = factor(f"egrid2022-{row['subregion']}")
        rate = float(row["co2_lb_per_mwh"]) + 28 * float(row["ch4_lb_per_mwh"]) + 265 * float(row["n2o_lb_per_mwh"])
        assert one.value == float(row["co2e_total_output_kg_per_mwh"])
        assert one.value == pytest.approx(rate * POUND_KG, abs=0.001)
    published = {"CAMX": 429.983, "RFCE": 599.17, "US": 770.884}
    for name, rate in published.items():
        assert factor(f"egrid2023r2-{name}").value == pytest.approx(rate * POUND_KG, abs=0.001)
    assert len(rows) == sum(one.edition == "eGRID2022" for one in all_factors())
    for row in shared("grid/us_egrid_subregions.csv"):
        if row["edition"] == "eGRID2018":
            assert factor(f"egrid2018-{row['subregion']}").value == float(row["co2e_total_output_kg_per_mwh"])


def test_residual_factors_equal_the_shared_rows():
    table = {(row["edition"], row["zone"]): row for row in shared("grid/residual_mix.csv")}
    residuals = [one for one in all_factors() if one.kind == "residual"]
    assert len(residuals) == 15  # single facts: the publishers' tables are not ours to redistribute
    for one in residuals:
        row = table[one.edition, one.zone_id]
        assert (one.value, one.year) == (float(row["gco2_per_kwh"]), int(row["data_year"]))


def test_the_script_writes_what_is_there(tmp_path):
    """Nobody edits the tables by hand, and the same input gives the same bytes."""
    parquet = pytest.importorskip("pyarrow.parquet")
    script = ROOT / "scripts/curate_catalogue.py"
    subprocess.run([sys.executable, script, SHARED / "data", "--out", tmp_path], check=True, capture_output=True)
    for made in sorted(tmp_path.iterdir()):
        kept = resource("datasets") / made.name
        if made.suffix == ".parquet":  # its bytes name the version of the writer
            assert parquet.read_table(made).equals(parquet.read_table(kept))
        else:
            assert made.read_bytes() == kept.read_bytes(), made.name


def test_no_share_alike_row_is_carried():
    for table in ("factors_annual", "zones", "intensity_sets", "chips", "cloud_regions", "marginal_sets", "td_losses"):
        for row in curated(table):
            for key in row["source"].split(";"):
                assert not key.startswith(("ember_2026", "odbl", "electricity_maps"))
    assert "CC BY-SA" not in {one.licence for one in all_factors()}
    # of a table that is share-alike throughout only single facts are cited
    assert len(curated("achievable_matmul")) == 8 < len(shared("chips/achievable_matmul.csv")) / 2


@pytest.mark.parametrize(
    ("zone_id", "name", "file", "year"),
    [
        *((zone, zone, "us_eia930_2022", 2022) for zone in US),
        *((own, zone, "eu_entsoe_2019_2020", 2020) for own, zone in EUROPE.items()),
        *((own, zone, "eu_entsoe_2019_2020", 2019) for own, zone in {"NOR": "NO", "SWE": "SE"}.items()),
    ],
)
def test_profiles_follow_from_the_hours(zone_id, name, file, year):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = SHARED / f"data/grid/hourly/{file}.parquet"
    table = parquet.read_table(path, filters=[("zone", "=", name)]).to_pydict()
    stamps = table["datetime_utc"]
    generation = np.array(table["total_mwh"], dtype=float)
    place = np.array([(t.month - 1) * 24 + t.hour if t.year == year else -1 for t in stamps])
    for boundary, column in (("direct", "gco2_per_kwh_direct"), ("lifecycle", "gco2e_per_kwh_lifecycle")):
        intensity = np.array([math.nan if v is None else v for v in table[column]], dtype=float)
        use = (place >= 0) & np.isfinite(intensity) & (generation > 0)
        one = profile(zone_id, boundary)
        weight = np.bincount(place[use], generation[use], 288)
        mean = np.bincount(place[use], (generation * intensity)[use], 288) / weight
        assert one.n_hours == use.sum()
        assert np.abs(one.values.ravel() - mean).max() < 0.01


@pytest.mark.parametrize("zone_id", US)
def test_whole_years_are_the_shared_hours(zone_id):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = SHARED / "data/grid/hourly/us_eia930_2022.parquet"
    table = parquet.read_table(path, filters=[("zone", "=", zone_id)]).sort_by("datetime_utc").to_pydict()
    for boundary, column in (("direct", "gco2_per_kwh_direct"), ("lifecycle", "gco2e_per_kwh_lifecycle")):
        original = np.array([math.nan if v is None else v for v in table[column]], dtype=float)
        mine = hours(zone_id, 2022, boundary)
        assert mine.values.shape == (8760,)
        assert [str(t) for t in mine.hour_utc[:2]] == [t.strftime("%Y-%m-%dT%H") for t in table["datetime_utc"][:2]]
        assert (np.isnan(mine.values) == np.isnan(original)).all()
        assert np.nanmax(np.abs(mine.values - original)) < 0.051


def test_marginal_series_follow_from_the_hours():
    parquet = pytest.importorskip("pyarrow.parquet")
    path = SHARED / "data/grid/hourly/us_avert_marginal_2023.parquet"
    table = parquet.read_table(path).to_pydict()
    regions, values = np.array(table["avert_region"]), np.array(table["gco2_per_kwh"], dtype=float)
    place = (np.array(table["month"]) - 1) * 24 + np.array(table["hour_of_year"]) % 24
    assert {one.region for one in all_marginal()} == set(regions) - {"AKGD", "HIMS", "HIOA"}
    for one in all_marginal():
        use = regions == one.region
        mean = np.bincount(place[use], values[use], 288) / np.bincount(place[use], minlength=288)
        assert np.abs(marginal_profile(one.region).values.ravel() - mean).max() < 0.001
        assert one.n_negative_hours == (values[use] < 0).sum()
        assert one.low_gco2_per_kwh == pytest.approx(values[use].min(), abs=0.05)


def test_cloud_regions_and_their_years_are_the_shared_ones():
    original = {(row["provider"], row["region"]): row for row in shared("grid/cloud_regions.csv")}
    rows = curated("cloud_regions")
    assert len(rows) == len(original)
    for row in rows:
        before = original[row["provider"], row["region"]]
        assert row["country_zone_id"] == before["country_iso3"]
        assert row["zone_id"] == (before["egrid_subregion"] or before["country_iso3"])
        if before["egrid_subregion_confidence"]:
            assert "zone_id" in row["recalled_fields"] or row["recalled_fields"] == "all"
    years = shared("grid/cloud_region_annual.csv")
    mine = curated("cloud_region_annual")
    assert len(mine) == len(years)
    for row, before in zip(mine, years, strict=True):
        assert [row[name] for name in ("pue", "wue_l_per_kwh")] == [before[name] for name in ("pue", "wue_l_per_kwh")]
        assert row["note"] == before["note"] or (not before["note"] and "published 0" in row["note"])
        printed = before["provider_grid_hourly_weighted_gco2e_per_kwh"]
        assert row["grid_gco2e_per_kwh"] == ("" if printed == "0.0" else printed)
        assert (row["suspect"] == "true") >= before["note"].startswith("suspect")


def test_losses_are_the_shared_ones():
    original = {row["iso3"]: row for row in shared("grid/td_losses.csv")}
    rows = curated("td_losses")
    assert {row["zone_id"] for row in rows} == set(original)
    for row in rows:
        assert row["td_loss_pct_of_output"] == original[row["zone_id"]]["td_loss_pct_of_output"]
        assert (row["status"] == "estimate") == (original[row["zone_id"]]["confidence"] == "recalled")


def test_parameters_from_shape_equal_the_shared_computation():
    original = {row["model_id"]: row for row in shared("models/models.csv")}
    for one in all_models():
        counted, before = parameters_of(one), original[one.model_id]
        assert (counted is not None) == bool(before["params_from_architecture_b"])
        if counted is not None:
            assert counted.total / 1e9 == pytest.approx(float(before["params_from_architecture_b"]), rel=0.003)
            assert counted.active / 1e9 == pytest.approx(float(before["active_from_architecture_b"]), rel=0.003)


def test_an_average_day_is_near_an_independent_annual_figure():
    # CAMX is wider than the balancing area and imports are outside both: same order, not equal.
    assert float(profile("US-CISO").values.mean()) == pytest.approx(factor("egrid2022-CAMX").value, rel=0.25)
    assert float(profile("US-ERCO").values.mean()) == pytest.approx(factor("egrid2022-ERCT").value, rel=0.25)


def test_aliases_marked_as_read_occur_in_the_shared_files():
    rows = [r for r in _tables.rows("chip_aliases") if r.text("status") == "catalogue" and not r.text("dialect")]
    missing = {row.text("alias") for row in rows}
    files = [
        *(SHARED / "data/inputs").rglob("*"),
        *(SHARED / "validation").rglob("*"),
        *(SHARED / "data/kernels").glob("*"),
    ]
    for path in sorted(files):
        if path.suffix in (".csv", ".json", ".prom", ".txt", ".parquet"):
            text = path.read_bytes()
            missing -= {alias for alias in missing if alias.encode() in text}
    assert not missing
