"""The catalogue's page: every kind, search by any name, what nobody verified, lines for site.yaml, spread."""

from __future__ import annotations

import pytest
from app_helpers import markup, words

from energy.catalogue import browse
from energy.catalogue.listing import KINDS
from energy.report import numbers

PAGE = "catalogue.py"


def plain(test):
    return " ".join(words(test).split())


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_shows_its_entries_without_a_ledger(start, kind):
    test = start(None, PAGE, kind=kind)
    seen = plain(test)
    assert "could not be computed" not in seen
    count = " ".join(numbers.plain(len(browse.rows(kind)), 0).split())
    assert f"Entries {count} of" in seen
    assert "Sources" in seen


def test_unverified_fields_are_named_in_words(start):
    seen = plain(start(None, PAGE, kind="chips", entry="nvidia_h100_sxm5_80"))
    assert "recalled, unverified" in seen
    assert "With fields not verified" in seen


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("chips", "H1000", "The chip 'H1000' is not in the catalogue. Nearest:"),
        ("zones", "Swedn", "Nearest: Sweden"),
        ("chips", "NVIDIA H100 80GB HBM3", "means nvidia_h100_sxm5_80"),
        ("chips", "<script>", "is not in the catalogue"),
        ("cloud-regions", "us-esat-1", "Nearest:"),
    ],
)
def test_a_search_finds_other_names_and_says_the_nearest(start, kind, text, said):
    test = start(None, PAGE, kind=kind, search=text)
    assert said in plain(test)
    assert not test.exception
    assert "<script>" not in markup(test)


def test_a_search_narrows_the_list(start):
    test = start(None, PAGE, kind="chips", search="h100")
    assert "Shown" in plain(test)
    options = test.selectbox(key="catalogue.entry").options
    assert options
    assert all("h100" in option.casefold() for option in options[:1])


def test_bad_values_of_a_link_are_named(start):
    seen = plain(start(None, PAGE, kind="chps", entry="nvidia_h100"))
    assert "No kind named chps. Nearest: chips" in seen
    assert "No entry named nvidia_h100." in seen


def test_another_kind_is_no_bad_link(start):
    test = start(None, PAGE, kind="chips", entry="nvidia_t4")
    test.selectbox(key="catalogue.kind").set_value("zones").run()
    assert "could not be read" not in plain(test)
    assert not test.exception
    test.text_input(key="catalogue.search").set_value("Sweden").run()
    assert "could not be read" not in plain(test)


def test_a_zone_with_several_factors_has_a_chart_with_text(start):
    test = start(None, PAGE, kind="zones", entry="CAMX")
    assert "Public factors of WECC California (CAMX) lie" in plain(test)
    assert len(test.get("plotly_chart")) == 1


def test_a_zone_with_one_factor_says_so(start):
    zone = next(zone for zone in browse.rows("zones") if [len(group) for group in browse.spread(zone)] == [1])
    test = start(None, PAGE, kind="zones", entry=zone)
    assert "One public factor is known for" in plain(test)
    assert not test.get("plotly_chart")
