"""The curated tables against the shared reference tables they were taken from."""

import csv
import math
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from energy.catalogue import _tables, all_chips, all_factors, all_nodes, all_zones, factor, profile
from energy.resources import resource

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("ENERGY_SHARED", ROOT / "../shared"))
pytestmark = pytest.mark.skipif(
    not (SHARED / "data").is_dir(),
    reason="the shared reference data is absent: set ENERGY_SHARED or put it in ../shared",
)
POUND_KG = 0.45359237


def shared(path):
    with (SHARED / "data" / path).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def curated(table):
    with (resource("datasets") / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    ("table", "path", "key"), [("chips", "chips/chips.csv", "chip_id"), ("nodes", "chips/nodes.csv", "node_id")]
)
def test_rows_equal_the_shared_rows(table, path, key):
    original = {row[key]: row for row in shared(path)}
    own = {"idle_w", "recalled_fields", "note"}
    for row in curated(table):
        for column in set(row) & set(original[row[key]]) - own:
            assert row[column] == original[row[key]][column], (row[key], column)
        flagged = set(original[row[key]]["recalled_fields"].split(";"))
        assert set(row["recalled_fields"].split(";")) <= flagged | {""}
        # Nothing recalled is passed off as read.
        lost = (flagged & set(row)) - set(row["recalled_fields"].split(";")) - {""}
        assert lost <= {"idle_w"}


def test_measured_idle_power_is_the_shared_value():
    original = {row["chip_id"]: row for row in shared("chips/chips.csv")}
    for one in all_chips():
        if one.idle_status in ("read", "recalled"):
            assert one.idle_w == float(original[one.chip_id]["idle_w"])
            assert one.idle_note == original[one.chip_id]["idle_kind"]
            assert "modelled" not in one.idle_note.split(",")[0]
    assert len(all_nodes()) > 50


def test_country_factors_are_the_latest_years_of_one_edition():
    table = defaultdict(dict)
    for row in shared("grid/country_annual_carbon_intensity.csv"):
        if row["source"] == "owid_2025":
            table[row["iso3"]][int(row["year"])] = float(row["gco2e_per_kwh"])
    for zone in all_zones():
        if zone.kind != "country":
            continue
        mine = {f.year: f.value for f in all_factors() if f.zone_id == zone.zone_id and f.source == ("owid_2025",)}
        assert mine == {year: table[zone.zone_id][year] for year in sorted(table[zone.zone_id])[-3:]}


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


def test_residual_factors_equal_the_shared_rows():
    table = {(row["edition"], row["zone"]): row for row in shared("grid/residual_mix.csv")}
    residuals = [one for one in all_factors() if one.kind == "residual"]
    assert len(residuals) == 9  # single facts: the publishers' tables are not ours to redistribute
    for one in residuals:
        row = table[one.edition, one.zone_id]
        assert (one.value, one.year) == (float(row["gco2_per_kwh"]), int(row["data_year"]))


def test_no_share_alike_row_is_carried():
    for table in ("factors_annual", "zones", "intensity_sets", "chips"):
        for row in curated(table):
            for key in row["source"].split(";"):
                assert not key.startswith(("ember_2026", "odbl", "electricity_maps"))
    assert "CC BY-SA" not in {one.licence for one in all_factors()}


@pytest.mark.parametrize(
    ("zone_id", "name", "file", "year"),
    [
        ("US-CISO", "US-CISO", "us_eia930_2022", 2022),
        ("US-PJM", "US-PJM", "us_eia930_2022", 2022),
        ("US-ERCO", "US-ERCO", "us_eia930_2022", 2022),
        ("DEU", "DE", "eu_entsoe_2019_2020", 2020),
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
