"""Published training runs against the engine: the figures that the project promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from energy.validation.statistics import document
from energy.validation.suites import run


@pytest.fixture(scope="module")
def found(shared_folder: Path) -> dict:
    return document(run("training", shared_folder / "validation" / "training_throughput.csv"))


def test_every_row_is_answered(found):
    assert found["answered"] == found["rows"] == 752
    assert found["failures"] == []


def test_dense_runs(found):
    dense = found["groups"]["kind"]["dense"]
    assert dense["mape_pct"] <= 10
    assert dense["median_ape_pct"] <= 6


def test_table_5_of_korthikanti(found):
    assert found["groups"]["source"]["korthikanti-tab5"]["mape_pct"] <= 4


def test_mixtures(found):
    assert found["groups"]["kind"]["moe"]["mape_pct"] <= 20


def test_bands_hold_about_their_share(found):
    assert 70 <= found["inside_80pct"] <= 90
    assert found["inside_95pct"] >= 90


def test_physics_alone_is_near_before_any_factor(shared_folder):
    """Dense runs whose stack is fast are met within a quarter in the median without a fitted number of training."""
    import numpy as np

    from energy.validation.statistics import read_rows
    from energy.validation.training import NEEDED, prepare

    rows, _ = prepare(read_rows(shared_folder / "validation" / "training_throughput.csv", NEEDED))
    for family in ("megatron", "nemo", "xla"):
        ratios = [one.physics_s / one.measured_s for one in rows if one.family == family and one.kind == "dense"]
        assert len(ratios) > 30
        assert 0.85 < np.median(ratios) < 1.15, family


def test_the_script_gives_the_table_again(shared_folder, monkeypatch):
    import numpy as np

    from energy.catalogue import _tables
    from energy.validation.statistics import read_rows
    from energy.validation.training import NEEDED, prepare

    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import fit_training as script

    rows, _ = prepare(read_rows(shared_folder / "validation" / "training_throughput.csv", NEEDED))
    design = script.Design(rows)
    target = np.log([one.measured_s / one.physics_s for one in rows])
    beta = design.fit(target, script.weights(rows))
    stored = {(row.text("term"), row.text("key")): row.number("ln_factor") for row in _tables.rows("stack_factors")}
    for term, place in design.names.items():
        assert beta[place] == pytest.approx(stored[term], abs=2e-3), term


def test_the_page_says_what_the_suite_finds(found):
    page = (Path(__file__).resolve().parents[2] / "docs" / "validation.md").read_text(encoding="utf-8")
    names = ("mape_pct", "median_ape_pct", "bias_pct", "inside_80pct", "inside_95pct")
    for label, figures in (("all", found), ("kind dense", found["groups"]["kind"]["dense"])):
        line = f"| {label} | {figures['answered']} | " + " | ".join(f"{figures[name]:.1f}" for name in names) + " |"
        assert line in page, "renew it: python -m energy.validation.docs docs"
