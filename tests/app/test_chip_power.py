"""The power of a chip on the catalogue's page: states, ranges, curve with text, and what has none."""

from __future__ import annotations

import pytest
from app_helpers import words

PAGE = "catalogue.py"


def plain(test):
    return " ".join(words(test).split())


@pytest.mark.parametrize(
    ("entry", "said", "curves"),
    [
        ("nvidia_h100_sxm5_80", "counted inside a node (chip)", 1),
        ("cerebras_wse3", "counted at its plug (IT)", 1),
        ("intel_loihi2", "share of the highest rate of events", 1),
        ("amd_alveo_u280", "a design works", 0),
        ("aws_trainium3", "no power is published", 1),
    ],
)
def test_a_chip_shows_its_watts_by_state_and_its_curve(start, entry, said, curves):
    test = start(None, PAGE, kind="chips", entry=entry)
    assert not test.exception
    assert said in plain(test)
    assert "95 %" in plain(test)
    assert len(test.get("plotly_chart")) == curves


def test_what_is_no_chip_has_no_watts_by_state(start):
    test = start(None, PAGE, kind="memories")
    assert "W by state" not in plain(test)
