"""``energy validate pv``: an odd cell costs its own row only."""

from __future__ import annotations

import csv

import pytest

from energy.validation.pv import NEEDED, pv
from energy.validation.statistics import document

ROW = {
    "row_id": "a",
    "quantity": "AC energy",
    "weather_file": "absent.csv",
    "dc_capacity_kw": "4",
    "array": "fixed open rack",
    "tilt_deg": "20",
    "azimuth_deg": "180",
    "dc_ac_ratio": "1.2",
    "inverter_efficiency": "0.96",
    "system_losses_pct": "14.08",
    "value": "6000",
}


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"value": "0"}, "no measurement"),
        ({"value": "-3"}, "no measurement"),
        ({"value": "nan"}, "no measurement"),
        ({"value": "much"}, "much"),
        ({"quantity": "AC enrgy"}, "AC enrgy"),
        ({}, "absent.csv"),
    ],
)
def test_an_odd_cell_costs_its_own_row_only(tmp_path, odd, reason):
    columns = list(dict.fromkeys((*NEEDED, *ROW)))
    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerow(ROW | odd)
    found = document(pv(tmp_path / "rows.csv"))
    assert (found["rows"], found["answered"], found["mape_pct"]) == (1, 0, None)
    assert reason in found["failures"][0]["reason"]
