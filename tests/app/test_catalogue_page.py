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


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_row_has_a_key_of_its_own_that_the_look_up_knows(kind):
    from energy.catalogue.listing import entries, one

    found = browse.rows(kind)
    assert len(found) == len(entries(kind))
    for key in list(found)[:: max(1, len(found) // 20)]:
        assert one(kind, key)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "sources"])
def test_each_row_names_source_and_licence(kind):
    for key, row in browse.rows(kind).items():
        assert row["source"], key
        assert row["licence"], key
        assert browse.origins(kind, key), key


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


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("chips", "nvidia_h100_sxm5_80"),
        ("zones", "CAMX"),
        ("zones", "SWE"),
        ("factors", "egrid2022-CAMX"),
        ("factors", "greene2025-CAMX-residual"),
        ("cloud-regions", "aws af-south-1"),
    ],
)
def test_lines_for_the_site_file_are_read_by_it(kind, key):
    import yaml

    from energy.ledger.site_file import parse_site_file

    lines = list(browse.site_lines(kind, key))
    assert lines
    document = yaml.safe_load("\n".join(lines))
    site = {"zone": "SWE", "pue": 1.2, "node_overhead": 1.2} | document["sites"]["my-site"]
    parsed = parse_site_file(yaml.safe_dump({"sites": {"my-site": site}}))
    assert parsed.sites["my-site"]


@pytest.mark.parametrize("kind", ["models", "prices", "sources", "losses"])
def test_what_a_site_file_cannot_name_gives_no_lines(kind):
    assert not browse.site_lines(kind, next(iter(browse.rows(kind))))


def test_the_spread_keeps_units_apart_and_takes_the_latest_of_each_publisher():
    from energy.catalogue import all_factors

    several = 0
    for zone in sorted({factor.zone_id for factor in all_factors()}):
        for group in browse.spread(zone):
            assert len({factor.unit for factor in group}) == 1
            for factor in group:
                same = [
                    other
                    for other in all_factors()
                    if (other.zone_id, other.publisher, other.kind, other.boundary, other.attribution, other.gases)
                    == (zone, factor.publisher, factor.kind, factor.boundary, factor.attribution, factor.gases)
                ]
                assert factor.year == max(other.year for other in same)
            several += len(group) > 1
        if several > 3:
            break
    assert several


def test_a_zone_with_several_factors_has_a_chart_with_text(start):
    test = start(None, PAGE, kind="zones", entry="CAMX")
    assert "Public factors of WECC California (CAMX) lie" in plain(test)
    assert len(test.get("plotly_chart")) == 1


def test_a_zone_with_one_factor_says_so(start):
    zone = next(zone for zone in browse.rows("zones") if [len(group) for group in browse.spread(zone)] == [1])
    test = start(None, PAGE, kind="zones", entry=zone)
    assert "One public factor is known for" in plain(test)
    assert not test.get("plotly_chart")
