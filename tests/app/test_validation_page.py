"""The page Validation: what it says is what ships, and what ships is what the suites find."""

from __future__ import annotations

import pytest
from app_helpers import words

from energy.report.numbers import THIN
from energy.ui import validation_data
from energy.validation.results import shipped, summary
from energy.validation.suites import SUITES, run

PAGE = "validation.py"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


def test_every_suite_ships_its_results():
    assert set(shipped()["suites"]) == set(SUITES)


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_each_suite_is_shown_with_its_figures(start, suite):
    test = start(None, PAGE, suite=suite)
    seen, found = plain(test), shipped()["suites"][suite]
    assert f"half of the rows are within {found['median_ape_pct']:.1f} %" in seen
    assert f"of {found['rows']:,}".replace(",", " ") in seen
    assert "energy validate" in seen and test.query_params["suite"] == suite


@pytest.mark.parametrize("suite", sorted(SUITES))
def test_bins_and_groups_hold_every_answered_row(suite):
    found = shipped()["suites"][suite]
    rows = sum(one[2] for each in found["quantities"].values() for one in each["bins"])
    assert rows == found["answered"] <= found["rows"]
    assert all(0 <= one[3] <= one[2] for each in found["quantities"].values() for one in each["bins"])
    assert sum(line[3] for line in validation_data.csv_rows(suite)[1:]) == found["answered"]
    for group in validation_data.groups_of(suite):
        assert (
            sum(int(row.cells[1].value) for row in validation_data.group_table(suite, group).rows) <= found["answered"]
        )


@pytest.mark.parametrize("suite", ["standards", "pue", "pv", "training-energy", "diffusion-energy"])
def test_what_ships_is_what_the_suite_finds(shared_folder, suite):
    assert _near(summary(run(suite, shared_folder / SUITES[suite].data)), shipped()["suites"][suite])


def _near(found, kept):
    """Tell whether nested results agree: counts exactly, numbers to the sixth digit."""
    if isinstance(found, dict):
        return set(found) == set(kept) and all(_near(found[name], kept[name]) for name in found)
    if isinstance(found, list | tuple):
        return len(found) == len(kept) and all(_near(one, other) for one, other in zip(found, kept, strict=True))
    if isinstance(found, float) and isinstance(kept, float):
        return found == pytest.approx(kept, rel=1e-5, abs=1e-9)
    return found == kept


def test_a_bad_link_names_what_it_could_not_read(start):
    seen = plain(start(None, PAGE, suite="nothing", by="colour", quantity="weight"))
    assert "No suite named nothing" in seen and "No by named colour" in seen and "No quantity named weight" in seen


def test_another_suite_takes_its_own_groups_and_quantities(start):
    test = start(None, PAGE, by="kind")
    (suite,) = [one for one in test.selectbox if one.label == "Suite"]
    suite.set_value("pv").run()
    assert not test.exception and "photovoltaic" in test.title[0].value.casefold()
