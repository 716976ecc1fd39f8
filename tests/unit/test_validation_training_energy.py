"""Suites ``training-energy`` and ``diffusion-energy``: what is answered from what, and what is not."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest

from energy.errors import InputFileError, PowerError
from energy.power.diffusion import Sample, diffusion_power, diffusion_utilisation, sample_flop
from energy.power.training_profile import Utilisation
from energy.validation.diffusion_energy import diffusion_energy
from energy.validation.inference_energy import inference_energy
from energy.validation.statistics import Outcome, document
from energy.validation.training_energy import scope_watts, training_energy

RUN = {
    "model": "a run",
    "params_b": "70",
    "active_params_b": "70",
    "tokens_b": "1000",
    "accelerator": "nvidia_h100_sxm",
    "accelerator_hours": "1000000",
    "power_per_accelerator_w": "",
    "power_basis": "GPU boards only, sampled",
    "pue": "1.2",
    "reported_energy_mwh": "600",
    "energy_scope": "GPU only, before PUE",
    "mfu_reported": "0.4",
    "independent_of_tdp": "yes",
}
PICTURE = {
    "task": "text-to-image",
    "model": "some/model",
    "params_b": "2",
    "gpu": "H100",
    "n_gpus": "1",
    "inference_steps": "20",
    "image_height": "1024",
    "image_width": "1024",
    "throughput_images_per_sec": "1.0",
    "gpu_power_total_w": "500",
}


def written(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def told(tmp_path: Path, **changes: str) -> Outcome:
    return training_energy(written(tmp_path / "runs.csv", RUN | changes))


def group(one, name: str) -> str:
    return dict(one.groups)[name]


def test_boards_are_hours_times_our_power(tmp_path):
    (one,) = told(tmp_path).compared
    watts = scope_watts("nvidia_h100_sxm5_80", "boards", Utilisation(0.4, 0.4, 0.4))
    assert one.predicted == pytest.approx(1e6 * watts.value / 1e3)
    assert (one.quantity, one.measured, group(one, "scope")) == ("energy_chip_kwh", 600e3, "boards")
    assert one.low < one.low80 < one.predicted < one.high80 < one.high


def test_the_measured_power_of_a_row_is_not_used(tmp_path):
    first, second = (told(tmp_path, power_per_accelerator_w=watts).compared[0].predicted for watts in ("300", "900"))
    assert first == second


def test_each_scope_is_wider_than_the_one_before(tmp_path):
    boards = told(tmp_path).compared[0]
    system = told(tmp_path, energy_scope="system", power_basis="measured system average").compared[0]
    facility = told(tmp_path, energy_scope="facility (incl. PUE)", power_basis="measured system average").compared[0]
    assert boards.predicted < system.predicted < facility.predicted
    assert facility.predicted == pytest.approx(1.2 * system.predicted)
    assert [one.quantity for one in (boards, system, facility)] == [
        "energy_chip_kwh",
        "energy_it_kwh",
        "energy_facility_kwh",
    ]


def test_a_utilisation_comes_from_the_row_else_from_its_work_else_from_published_runs(tmp_path):
    reported, counted, usual = (
        told(tmp_path, mfu_reported=mfu, tokens_b=tokens).compared[0]
        for mfu, tokens in (("0.4", "1000"), ("", "3300"), ("", ""))
    )
    assert "as reported" in reported.note
    assert "six operations" in counted.note
    assert "as in published runs" in usual.note
    assert counted.predicted == pytest.approx(reported.predicted, rel=0.02), "70e9 x 3.3e12 x 6 in 1e6 h is 0.39"
    assert usual.high - usual.low > reported.high - reported.low


def test_an_impossible_utilisation_is_not_believed(tmp_path):
    (one,) = told(tmp_path, mfu_reported="", tokens_b="900000").compared
    assert "not reported" in one.note


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accelerator_hours": ""}, "prints no accelerator_hours.*chip-hours, at an MFU"),
        ({"energy_scope": "facility (incl. PUE)", "pue": ""}, "prints no pue"),
        ({"energy_scope": "", "power_basis": ""}, "does not say what its energy covers"),
        ({"reported_energy_mwh": "", "power_per_accelerator_w": ""}, "nothing was measured"),
        ({"accelerator": ""}, "names no accelerator"),
        ({"accelerator": "nvidia_h9000"}, "h9000"),
        ({"accelerator_hours": "many"}, "no number"),
        ({"independent_of_tdp": "time only"}, "carries no energy"),
        ({"independent_of_tdp": ""}, "write yes, partly, no"),
        ({"mfu_reported": "45.7"}, "between 0 and 1"),
        ({"independent_of_tdp": "no", "reported_energy_mwh": ""}, "prints no energy"),
    ],
)
def test_a_row_that_cannot_be_answered_says_why(tmp_path, changes, words):
    found = told(tmp_path, **changes)
    assert found.compared == ()
    (failure,) = found.failures
    assert re.search(words, failure.reason), failure.reason


@pytest.mark.parametrize("kind", ["yes", "no"])
@pytest.mark.parametrize("energy", ["0", "-600"])
def test_an_energy_that_cannot_be_is_no_measurement(tmp_path, kind, energy):
    odd = RUN | {"independent_of_tdp": kind, "reported_energy_mwh": energy, "power_per_accelerator_w": "600"}
    found = training_energy(written(tmp_path / "runs.csv", RUN, odd))
    assert len(found.compared) == 1 and "is no measurement" in found.failures[0].reason
    assert document(found)["answered"] == 1


def test_arithmetic_is_scored_apart_and_without_bands(tmp_path):
    changes = {
        "independent_of_tdp": "no",
        "power_per_accelerator_w": "700",
        "energy_scope": "hours x TDP x PUE",
        "reported_energy_mwh": "840",
    }
    (one,) = told(tmp_path, **changes).compared
    assert one.predicted == pytest.approx(1e6 * 700 * 1.2 / 1e3)
    assert (one.low, one.high, group(one, "energy")) == (None, None, "arithmetic")


def test_a_file_of_other_columns_is_refused(tmp_path):
    with pytest.raises(InputFileError, match="lacks the column"):
        training_energy(written(tmp_path / "other.csv", {"model": "x"}))


def test_published_runs(shared_folder):
    """All measured runs with hours inside the 95 % range, and their mean error within 12 %."""
    found = training_energy(shared_folder / "validation/training_energy.csv")
    measured = [one for one in found.compared if group(one, "energy") == "measured"]
    assert {group(one, "run").split(" (")[0] for one in measured} == {
        "T5-11B",
        "GShard-600B",
        "GPT-3 175B",
        "PaLM 540B",
    }
    assert all(one.low <= one.measured <= one.high for one in measured)
    assert document(found)["groups"]["energy"]["measured"]["mape_pct"] <= 12.0
    assert document(found)["groups"]["energy"]["arithmetic"]["mape_pct"] <= 1.0
    assert any("OLMo 7B" in one.row_id and "at an MFU of" in one.reason for one in found.failures)


# --- diffusion ---


def test_more_of_the_peak_draws_more_and_stays_below_the_limit():
    watts = diffusion_power("nvidia_b200_sxm", [0.01, 0.1, 0.3, 0.9]).power_chip_w
    assert watts[0] > 253.0
    assert all(low < high for low, high in pairwise(watts))
    assert watts[-1] <= 1000.0


def test_a_chip_that_was_not_measured_has_a_wider_band():
    known, other = (diffusion_power(name, 0.2) for name in ("nvidia_h100_sxm5_80", "amd_mi300x"))
    assert (known.status, other.status) == ("derived", "estimate")
    assert other.power_chip_high_w / other.power_chip_low_w > known.power_chip_high_w / known.power_chip_low_w


def test_the_same_work_on_more_chips_uses_less_of_each():
    flop = sample_flop("x", 2.0, Sample(1024, 1024, 1, 20))
    one, two = (float(diffusion_utilisation("nvidia_h100_sxm5_80", flop, 1.0, chips)) for chips in (1, 2))
    assert one == pytest.approx(2.0 * two)


@pytest.mark.parametrize("used", [0.0, -1.0, float("nan")])
def test_no_work_is_refused(used):
    with pytest.raises(PowerError, match="above zero"):
        diffusion_power("nvidia_h100_sxm5_80", used)


def test_pictures_are_answered_by_both_suites(tmp_path):
    path = written(tmp_path / "pictures.csv", PICTURE, PICTURE | {"throughput_images_per_sec": ""})
    found = diffusion_energy(path)
    assert (len(found.compared), len(found.failures)) == (1, 1)
    assert "throughput_images_per_sec" in found.failures[0].reason
    assert inference_energy(path).compared == found.compared


def test_published_pictures_and_videos(shared_folder):
    found = document(diffusion_energy(shared_folder / "validation/diffusion_energy.csv"))
    assert found["answered"] == found["rows"] == 654
    assert found["mape_pct"] <= 12.0
    assert 70.0 <= found["inside_80pct"] <= 90.0
    assert found["inside_95pct"] >= 92.0
