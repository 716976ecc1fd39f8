"""Power against the measurements: errors on shapes, models, data sets and chips that were left out of the fit."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from energy.catalogue import _tables
from energy.power.serving import joined, loads
from energy.power.states import busy_power, curve_of, load_of
from energy.validation.serving_rows import NEEDED, measured_w, work_of
from energy.validation.statistics import document, read_rows
from energy.validation.suites import SUITES, run

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def shared(shared_folder):
    if not (shared_folder / "validation/inference_energy.csv").is_file():
        pytest.skip(f"no measured energy at {shared_folder}")
    return shared_folder


@pytest.fixture(scope="module")
def fit(shared):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith(("fit_", "power_points"))]:
        del sys.modules[name]


def suite(shared, name):
    return document(run(name, shared / SUITES[name].data))


def test_products_of_shapes_left_out(fit, shared):
    module = fit("fit_power_gemm")
    data = module.load(shared / "data/kernels")
    key = ("nvidia_b200_sxm", "fp4", "trtllm")
    row, _ = module.fit(key, data[key], surface=True)
    stored = next(
        one
        for one in _tables.rows("power_gemm")
        if tuple(one.text(name) for name in ("chip_id", "precision", "library")) == key
    )
    assert row["mape_fraction"] == pytest.approx(stored.number("mape_fraction"), abs=0.002)
    own = [one for one in _tables.rows("power_gemm") if one.text("library") != "any"]
    weights = [one.number("steady_rows") for one in own]
    assert np.average([one.number("mape_fraction") for one in own], weights=weights) <= 0.08


def test_suite_power_answers_every_row_and_steady_ones_well(shared):
    found = suite(shared, "power")
    assert found["answered"] == found["rows"]
    steady = found["groups"]["reading"]["steady"]
    assert steady["mape_pct"] <= 8.0
    assert 70.0 <= steady["inside_80pct"] <= 90.0
    assert abs(steady["bias_pct"]) <= 3.0


def test_serving_of_models_left_out(fit, shared):
    module = fit("fit_power_serving")
    terms, by_step = module.fit(shared / "validation/inference_energy.csv")
    values = {row["term"]: row["value"] for row in terms}
    assert values["left_out_mape dense"] <= 0.10
    assert values["left_out_mape all"] <= 0.14
    assert all(np.abs(np.expm1(errors)).mean() <= 0.20 for errors in by_step.values()), "whole chips left out"
    stored = {row.text("term"): float(row.text("value")) for row in _tables.rows("power_serving")}
    assert stored == pytest.approx(values, abs=2e-3), "the table is what the script fits"


def test_suite_inference_energy_answers_every_row(shared):
    found = suite(shared, "inference-energy")
    assert found["answered"] == found["rows"] == 794
    assert found["groups"]["kind"]["dense"]["mape_pct"] <= 10.0
    assert found["mape_pct"] <= 14.0


def test_caps_of_data_sets_left_out(fit, shared):
    rows = fit("fit_power_caps").fit(shared / "validation/gpu_power_caps.csv")
    own = [row for row in rows if row["chip_id"] != "any"]
    weights = [row["rows"] for row in own]
    assert np.average([row["mape_power_fraction"] for row in own], weights=weights) <= 0.04
    assert rows[-1]["mape_power_fraction"] <= 0.05, "whole cards left out"
    assert suite(shared, "power-caps")["mape_pct"] <= 4.0


def test_percentiles_of_a_production_cluster_lie_between_idle_and_overshoot(shared):
    from energy.power.states import OVERSHOOT, curve_of, idle_watts

    one = curve_of("nvidia_a100_sxm4_80")
    found = idle_watts("nvidia_a100_sxm4_80", one, 400.0)
    path = shared / "data/chips/gpu_power_percentiles_a100.csv"
    lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    watts = {(cells[0], int(cells[2])): float(cells[3]) for cells in lines}
    for cluster in ("Kalos", "Seren"):
        assert found.idle_w == pytest.approx(watts[cluster, 5], rel=0.02)
        assert found.context_w <= watts[cluster, 50] * 1.05
        assert watts[cluster, 99] <= OVERSHOOT * 400.0


def test_the_nearest_generation_is_the_nearest_kin(shared):
    """Serving on A100 and H100, which no curve of states was fitted to: by the curves of each measured chip."""
    rows = read_rows(shared / SUITES["inference-energy"].data, NEEDED)
    work, watts = joined([work_of(row)[0] for row in rows]), np.array([measured_w(row) for row in rows])
    load = loads(work)
    memory = np.minimum(load["weights"] + load["cache"], 1.3)
    compute = np.minimum(load["decode"] + load["prompt"], 1.3)
    for chip_id in ("nvidia_a100_sxm4_40", "nvidia_h100_sxm5_80"):
        at, own = work.chip == chip_id, curve_of(chip_id)
        errors = {}
        for donor in ("nvidia_h200_sxm", "nvidia_b200_sxm", "nvidia_gb200"):
            one = curve_of(donor)
            busy = busy_power.kernel(
                own.power_limit_w, one.base_fraction, one.ceiling_fraction, load_of(one, compute[at], memory[at])
            )
            errors[donor] = float(np.abs(busy / watts[at] - 1.0).mean())
        assert at.sum() > 100
        assert own.kin_id == min(errors, key=lambda name: errors[name]), errors
        assert errors[own.kin_id] < 0.3
        assert min(error for name, error in errors.items() if name != own.kin_id) > 2.0 * errors[own.kin_id]
