"""The suite of worked examples: own copies of printed figures, and what it says when a figure is wrong or unknown."""

from __future__ import annotations

import json

import pytest

from energy.errors import InputFileError
from energy.validation.standards import WORKED, standards

# Printed in the standards, or constructed from printed factors; the shared file holds more of them.
OWN = [
    {
        "id": "scope3_cat3_uk_2025",
        "inputs": {"kwh": 1_000_000},
        "expected": {
            "cat3_td_loss_t": 18.53, "cat3_wtt_generation_t": 45.9, "cat3_wtt_td_t": 3.97, "cat3_total_t": 68.4,
        },
    },
    {
        "id": "sci_embodied_time_share",
        "inputs": {
            "total_embodied_kg": 1000, "lifespan_years": 4, "hours_per_year": 8760, "reserved_h": 1,
            "resource_share": 1,
        },
        "expected": {"embodied_gco2e": 28.538813},
    },
    {
        "id": "cfe_score_three_hours",
        "inputs": {"load": [10, 10, 10], "contracted_cfe": [4, 18, 0], "grid_cfe": [0.5, 0.5, 0.2]},
        "expected": {"hourly": [0.7, 1.0, 0.2], "score": 0.633333, "excess": 8, "annual_matching": 0.733333},
    },
]  # fmt: skip


def _file(tmp_path, examples):
    path = tmp_path / "examples.json"
    path.write_text(json.dumps(examples), encoding="utf-8")
    return path


def test_own_copies_of_printed_examples_are_met_to_the_printed_digits(tmp_path):
    found = standards(_file(tmp_path, OWN))
    assert found.failures == ()
    assert len(found.compared) == 4 + 1 + 6
    for row in found.compared:
        assert row.predicted == pytest.approx(row.measured, rel=1e-6), row.row_id


def test_a_wrong_figure_fails_and_an_unknown_example_is_not_answered(tmp_path):
    wrong = json.loads(json.dumps(OWN[0]))
    wrong["expected"]["cat3_total_t"] = 68.5
    found = standards(_file(tmp_path, [wrong, {"id": "of_nobody", "inputs": {}, "expected": {"x": 1}}]))
    assert [one.row_id for one in found.failures] == ["scope3_cat3_uk_2025: cat3_total_t", "of_nobody"]


@pytest.mark.parametrize("text", ["", "{", '{"id": 1}', '[{"id": "x"}]'])
def test_a_file_that_holds_no_examples_is_refused(tmp_path, text):
    path = tmp_path / "examples.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError, match=r"examples\.json"):
        standards(path)


def test_every_shared_example_is_wired_and_met(shared_folder):
    path = shared_folder / "validation/standards_examples.json"
    found = standards(path)
    assert found.failures == ()
    assert {one["id"] for one in json.loads(path.read_text(encoding="utf-8"))} == set(WORKED)
