"""``energy validate pue``: an odd cell costs its own row only."""

from __future__ import annotations

import csv

import pytest

from energy.validation.pue import pue

ROW = {
    "row_id": "a",
    "kind": "operator_reported",
    "statistic": "annual",
    "pue": "1.10",
    "wue_l_per_kwh": "",
    "ashrae_climate_zone": "",
    "latitude_deg": "50.1",
    "longitude_deg": "8.7",
    "operator": "x",
    "site": "Frankfurt",
}


def outcome_of(tmp_path, *rows):
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerows(rows)
    return pue(path)


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"pue": "0"}, "it is 1 or more"),
        ({"pue": "-1"}, "it is 1 or more"),
        ({"pue": "0.9"}, "it is 1 or more"),
        ({"pue": ""}, "prints no pue"),
        ({"pue": "low"}, "no number"),
        ({"latitude_deg": ""}, "no coordinates"),
        ({"kind": "other"}, "kind"),
    ],
)
def test_an_odd_cell_costs_its_own_row_only(tmp_path, odd, reason):
    found = outcome_of(tmp_path, ROW, ROW | odd | {"row_id": "b"})
    assert [one.row_id for one in found.compared] == ["a"]
    assert [one.row_id for one in found.failures] == ["b"]
    assert reason in found.failures[0].reason
