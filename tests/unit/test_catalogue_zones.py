"""Zones, factors and profiles: places, refusals, complete bases, missing is not zero."""

import numpy as np
import pytest

from energy.catalogue import (
    all_factors,
    all_profiles,
    all_zones,
    factor,
    factors_for,
    profile,
    zone,
    zone_match,
    zones_by_id,
)
from energy.errors import AmbiguousNameError, FactorError, UnknownNameError


@pytest.mark.parametrize(
    ("name", "hint", "zone_id"),
    [
        ("SWE", None, "SWE"),
        ("Sweden", None, "SWE"),
        ("sweden", None, "SWE"),
        ("SE", None, "SWE"),
        ("SE3", None, "SWE"),
        ("stockholm county", "SE", "SWE"),
        ("aws eu-north-1", None, "SWE"),
        ("eu-north-1", "aws", "SWE"),
        ("aws eu-north-1", "aws", "SWE"),
        ("aws us-east-1", None, "SRVC"),
        ("us-east-1", "aws", "SRVC"),
        ("Virginia", "US", "SRVC"),
        ("US-VA", None, "SRVC"),
        ("Georgia", "US", "SRSO"),
        ("Georgia", "GE", "GEO"),
        ("Georgia", "United States", "SRSO"),
        ("NA", None, "NAM"),
        ("DE", None, "DEU"),
        ("CA", None, "CAN"),
        ("camx", None, "CAMX"),
        ("gcp europe-west3", None, "DEU"),
        ("azure westeurope", None, "NLD"),
        ("ERCOT", None, "US-ERCO"),
        ("NO2", None, "NOR"),
        ("DK1", None, "DNK"),
        ("IT-NORD", None, "ITA"),
        ("AU-NSW", None, "AUS"),
        ("Quebec", None, "CAN"),
        ("oci uk-london-1", None, "GBR"),
        ("Google Cloud us-central1", None, "MROW"),
        ("us-central1", "Google Cloud", "MROW"),
        ("azure West Europe", None, "NLD"),
        ("amazon eu-west-1", None, "IRL"),
        ("World", None, "WLD"),
        ("Kosovo", None, "XKX"),
        ("DRC", None, "COD"),
        ("South Korea", None, "KOR"),
        ("US-OK", None, "SPSO"),
        ("Puerto Rico", None, "PRI"),
    ],
)
def test_places(name, hint, zone_id):
    assert zone(name, hint=hint).zone_id == zone_id


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("virgina", "US"),
        ("Atlantis", None),
        ("", None),
        ("  ", None),
        ("Virginia", "DE"),
        ("eu-north-1", None),
        ("SE5", None),
        ("NO6", None),
        ("aws us-east-9", None),
        ("us-east-1", "azure"),
    ],
)
def test_unknown_places_are_refused(name, hint):
    with pytest.raises(UnknownNameError) as caught:
        zone(name, hint=hint)
    assert not isinstance(caught.value, AmbiguousNameError)
    assert "\n" not in str(caught.value)


def test_the_nearest_place_is_given():
    with pytest.raises(UnknownNameError, match="Nearest: Virginia"):
        zone("virgina", hint="US")
    with pytest.raises(UnknownNameError, match="hint 'Atlantis'"):
        zone("Virginia", hint="Atlantis")


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("Georgia", "GEO"),
        ("New York", "NYUP"),
        ("Hawaii", "HIOA"),
        ("Korea", "PRK"),
        ("Congo", "COD"),
        ("Pennsylvania", "RFCW"),
        ("Washington", "NWPP"),
    ],
)
def test_ambiguous_places_are_refused(name, fits):
    with pytest.raises(AmbiguousNameError, match=fits):
        zone(name)


def test_a_place_inside_a_zone_says_so():
    for name in ("SE3", "aws eu-north-1", "US-VA", "Stockholm"):
        match = zone_match(name)
        assert match.relation == "part_of"
        assert match.note
    assert zone_match("SE3").status == "estimate"
    assert zone_match("Sweden").relation == "same"
    assert zone_match("aws us-east-1").hourly_zone_id == "US-PJM"
    assert zone_match("Virginia").hourly_zone_id == "US-PJM"


def test_namibia_is_no_missing_value():
    assert zone("NA").name == "Namibia"
    assert zones_by_id()["NAM"].iso2 == "NA"
    assert len(factors_for("NAM", "location")) > 15
    assert not any(one.iso2 == "" for one in all_zones() if one.kind == "country")


def test_the_world_stands_in_for_no_place():
    world = zone("World")
    assert (world.kind, world.country_zone_id) == ("world", "WLD")
    for one in all_zones():
        assert one.zone_id == "WLD" or "WLD" not in (one.annual_zone_id, one.hourly_zone_id, one.country_zone_id)


def test_every_country_has_its_years_and_no_impossible_zero():
    countries = [one for one in all_zones() if one.kind == "country"]
    assert len(countries) == 214
    years = {one.zone_id: [f.year for f in factors_for(one.zone_id, "location")] for one in countries}
    assert sum(map(len, years.values())) > 4900
    assert years["SWE"] == list(range(2000, 2024))
    assert not set(range(2000, 2010)) & set(years["BDI"])  # Burundi: the source prints zeros
    assert not set(range(2013, 2023)) & set(years["CAF"])
    assert min(f.value for f in all_factors()) > 10


def test_links_lead_somewhere():
    with_profile = {one.zone_id for one in all_profiles()}
    for one in all_zones():
        assert one.country_zone_id in zones_by_id()
        assert one.status in ("catalogue", "estimate")
        assert one.source
        if one.annual_zone_id:
            assert factors_for(one.annual_zone_id, "location")
        if one.hourly_zone_id:
            assert one.hourly_zone_id in with_profile
    assert zone("CAMX").hourly_zone_id == "US-CISO"
    assert zone("US-CISO").annual_zone_id == "CAMX"
    assert zone("US-PJM").annual_zone_id == ""


def test_factors_state_their_whole_basis():
    for one in all_factors():
        assert one.kind in ("location", "residual")
        assert one.boundary in ("direct", "lifecycle")
        assert (one.attribution, one.unit) in (
            ("production", "gCO2e/kWh_generation"),
            ("consumption", "gCO2e/kWh_facility"),
        )
        assert one.gases in ("CO2e", "CO2 only")
        assert (one.gwp_set == "none") == (one.gases == "CO2 only")
        assert one.value > 0
        assert one.low is None  # no source at hand gives a range; an empty cell is not zero
        assert one.high is None
        for text in (one.publisher, one.source, one.edition, one.licence, one.status):
            assert text
        assert factor(one.factor_id) is one
    assert len({one.factor_id for one in all_factors()}) == len(all_factors())


def test_factors_are_sorted_by_year_and_edition():
    for one in all_zones():
        for kind in ("location", "residual"):
            found = factors_for(one.zone_id, kind)
            assert [(f.year, f.edition) for f in found] == sorted((f.year, f.edition) for f in found)
    assert [f.factor_id for f in factors_for("CAMX", "location")] == [
        "egrid2018-CAMX",
        "egrid2022-CAMX",
        "egrid2023r2-CAMX",
    ]


def test_full_disclosure_has_no_residual_mix():
    assert zone("Austria").full_disclosure
    assert factors_for("AUT", "residual") == ()
    assert not zone("Germany").full_disclosure


def test_wrong_identifiers_are_refused():
    with pytest.raises(UnknownNameError, match="Nearest: DEU"):
        factors_for("deu", "location")
    with pytest.raises(UnknownNameError, match="location or residual"):
        factors_for("DEU", "marginal")
    with pytest.raises(UnknownNameError, match="egrid2022-CAMX"):
        factor("egrid2022-CAM")


def test_profiles():
    zones = {one.zone_id for one in all_profiles()}
    assert len(zones) == 24
    assert zones >= {"US-CISO", "US-PJM", "US-ERCO", "US-MISO", "DEU", "FRA", "GBR", "SWE", "NOR", "IRL", "ITA"}
    assert {one.zone_id for one in all_profiles() if one.boundary == "direct"} == zones - {"CHE"}
    for one in all_profiles():
        assert one.values.shape == (12, 24)
        assert np.isfinite(one.values).all()
        assert (one.values > 0).all()
        assert not one.values.flags.writeable
        assert (0.98 if one.zone_id == "IRL" else 0.997) < one.coverage <= 1
        assert one.unit == "gCO2e/kWh_generation"
        assert one.licence
    assert (profile("DEU", "lifecycle").values > profile("DEU").values).all()
    assert profile("US-PJM").coverage < 1  # missing hours are missing, not zero
    with pytest.raises(FactorError, match="US-CISO"):
        profile("CAMX")
    with pytest.raises(FactorError, match=r"no hourly profile \(direct\)"):
        profile("CHE")  # the source has no thermal generation of Switzerland: unknown, not zero
    assert profile("CHE", "lifecycle").values.mean() < 30
    with pytest.raises(UnknownNameError):
        profile("US-CIS")
    with pytest.raises(UnknownNameError, match="direct or lifecycle"):
        profile("DEU", "marginal")
