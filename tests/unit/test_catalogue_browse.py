"""The catalogue to look through: keys, sources and licences of every row, lines for site.yaml, spread of sources."""

from __future__ import annotations

import pytest

from energy.catalogue import browse
from energy.catalogue.listing import KINDS


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
