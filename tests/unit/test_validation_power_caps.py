"""``energy validate power-caps``: an odd cell costs its own row only."""

from __future__ import annotations

import csv

import pytest

from energy.validation.power_caps import NEEDED, power_caps

WORK = {"gpu": "nvidia_v100_sxm2_32", "dataset": "a", "network": "b", "batch_size": "64"}
ROWS = [
    WORK | {"power_limit_w": limit, "average_gpu_power_w": power}
    for limit, power in (("300", "280"), ("200", "195"), ("150", "148"))
]


def outcome_of(tmp_path, rows):
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, NEEDED)
        writer.writeheader()
        writer.writerows(rows)
    return power_caps(path)


@pytest.mark.parametrize("column", ["power_limit_w", "average_gpu_power_w"])
@pytest.mark.parametrize("cell", ["abc", "∞", "", "-1", "0"])
def test_an_odd_cell_costs_its_own_row_only(tmp_path, column, cell):
    usual = outcome_of(tmp_path, ROWS)
    found = outcome_of(tmp_path, [*ROWS, ROWS[1] | {column: cell}])
    assert len(usual.compared) == 2 and found.compared == usual.compared
    assert found.failures[-1].row_id == "line 5"


def test_work_without_any_limit_is_not_answered(tmp_path):
    found = outcome_of(tmp_path, [row | {"power_limit_w": "none"} for row in ROWS])
    assert not found.compared and all("prints a power_limit_w" in one.reason for one in found.failures)
