"""Published MLPerf Training results against the engine: the figures that the project promises."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from energy.validation.statistics import document
from energy.validation.suites import run


@pytest.fixture(scope="module")
def found(shared_folder: Path) -> dict:
    return document(run("mlperf", shared_folder / "validation" / "mlperf_training.csv"))


@pytest.fixture(scope="module")
def fitted(shared_folder: Path):
    """The script, single results, their design, target, coefficients and noise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
        import fit_mlperf as script

    results = script.read_rows(shared_folder / "validation" / "mlperf_training.csv", script.NEEDED)
    kept = script.once(script.cases(results)[0])
    asked = script.ask(kept)
    seconds, _, _ = script.mlperf.physics(asked)
    target = np.log([one.measured_min * 60.0 for one in kept]) - np.log(seconds)
    design = script.Design(asked)
    return script, kept, design, target, *design.fit(target)


def test_every_row_is_answered(found):
    assert found["answered"] == found["rows"] == 1452
    assert found["failures"] == []


def test_available_systems(found):
    assert found["groups"]["availability"]["available"]["median_ape_pct"] <= 6


def test_every_benchmark(found):
    for name, figures in found["groups"]["benchmark"].items():
        assert figures["median_ape_pct"] <= 15, name


def test_bands_hold_about_their_share(found):
    assert 70 <= found["inside_80pct"] <= 90
    assert found["inside_95pct"] >= 90


def _left_out(fitted, level: str) -> np.ndarray:
    script, kept, design, target, _, noise = fitted
    groups = {**script.left_out_groups(kept), "submitter": [one.submitter for one in kept]}[level]
    available = np.array([one.availability.startswith("available") for one in kept])
    return np.abs(np.expm1(-design.left_out(target, noise, groups)[available])) * 100.0


@pytest.mark.parametrize(("level", "limit"), [("count", 12), ("submitter", 10), ("chip", 20), ("family", 25)])
def test_out_of_sample(fitted, level, limit):
    assert np.median(_left_out(fitted, level)) <= limit


def test_leaving_out_by_formula_is_leaving_out(fitted):
    """The closed form agrees with a fit without the rows, for a chip on a benchmark."""
    script, kept, design, target, _, noise = fitted
    groups = script.left_out_groups(kept)["chip"]
    away = np.array([group == ("gpt3", "google_tpu_v5p") for group in groups])
    inner = np.linalg.solve(design.kernel[np.ix_(~away, ~away)] + np.diag(noise[~away]), target[~away])
    alone = target[away] - design.kernel[np.ix_(away, ~away)] @ inner
    np.testing.assert_allclose(design.left_out(target, noise, groups)[away], alone, atol=1e-6)


def test_a_round_is_foretold_by_those_before(fitted):
    """Results of v4.0 from all earlier ones: what the next round will see."""
    script, kept, design, target, _, noise = fitted
    year = np.array([script.round_year(one.round_name) for one in kept])
    for name, limit in (("v3.1", 12), ("v4.0", 12), ("v5.0", 18), ("v5.1", 25)):
        before, then = year < script.round_year(name) - 0.1, np.abs(year - script.round_year(name)) < 0.01
        inner = np.linalg.solve(design.kernel[np.ix_(before, before)] + np.diag(noise[before]), target[before])
        error = target[then] - design.kernel[np.ix_(then, before)] @ inner
        assert np.median(np.abs(np.expm1(-error))) * 100 <= limit, name


def test_the_script_gives_the_tables_again(fitted, shared_folder):
    script, _, design, _, beta, _ = fitted
    from energy.catalogue import _tables

    table = {
        (row.text("column"), row.text("group"), row.text("key")): row.number("ln_factor")
        for row in _tables.rows("mlperf_coefficients")
    }
    for name, value in zip(design.names, beta, strict=True):
        assert value == pytest.approx(table.get(name, 0.0), abs=2e-3), name
    results = script.read_rows(shared_folder / "validation" / "mlperf_training.csv", script.NEEDED)
    points = script.convergence(script.read(shared_folder / "validation" / "mlperf_convergence.csv"), results)
    stored = {
        (row.text("benchmark"), row.text("until_round"), row.number("global_batch_size")): row.number("samples")
        for row in _tables.rows("mlperf_convergence")
    }
    made = {(one["benchmark"], one["until_round"], float(one["global_batch_size"])): one["samples"] for one in points}
    assert set(made) == set(stored)
    assert all(float(made[key]) == pytest.approx(stored[key], rel=1e-3) for key in made)


def test_a_carried_result_counts_once(fitted, shared_folder):
    _, kept, *_ = fitted
    with (shared_folder / "validation" / "mlperf_training.csv").open(encoding="utf-8") as file:
        rows = sum(1 for _ in csv.DictReader(file))
    assert rows - 100 < len(kept) <= rows - 71
