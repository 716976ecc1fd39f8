"""Cloud regions, losses, whole years and marginal series: units, marks, what is missing."""

import numpy as np
import pytest

from energy.catalogue import (
    all_cloud_regions,
    all_cloud_years,
    all_losses,
    all_marginal,
    cloud_region,
    cloud_region_by_name,
    cloud_years,
    hours,
    hours_available,
    intensity_set,
    losses,
    marginal_profile,
    marginal_set,
    profile,
    zone_match,
    zones_by_id,
)
from energy.errors import FactorError, UnknownNameError


def test_every_region_resolves_as_a_zone():
    assert len(all_cloud_regions()) == 193
    for one in all_cloud_regions():
        match = zone_match(f"{one.provider} {one.region}")
        assert match.zone.zone_id == one.zone_id
        assert match.relation == "part_of"
        assert match.note
        assert cloud_region(one.provider, one.region) is one
        assert zones_by_id()[one.zone_id].country_zone_id == one.country_zone_id
        # the eGRID assignment is recalled: never passed off as read
        assert (one.status == "estimate") == (bool(one.egrid_subregion) or one.confidence == "recalled")


def test_case_6_is_the_region_and_never_the_world():
    north = zone_match("aws eu-north-1")
    assert north.zone.zone_id == "SWE"
    assert zone_match("aws us-east-1").zone.zone_id == "SRVC"
    assert {one.zone_id for one in all_cloud_regions()}.isdisjoint({"WLD"})


@pytest.mark.parametrize(
    ("provider", "region", "message"),
    [
        ("aws", "us-east-9", "us-east-1"),
        ("awss", "us-east-1", "Nearest: aws"),
        ("azure", "us-east-1", "of azure is not"),
        ("gcp", "", "of gcp is not"),
    ],
)
def test_unknown_regions_are_refused(provider, region, message):
    with pytest.raises(UnknownNameError, match=message):
        cloud_region(provider, region)


def test_names_of_providers():
    assert cloud_region("Google Cloud", "us-central1") is cloud_region("gcp", "US-Central1")
    assert cloud_region("azure", "West Europe") is cloud_region("azure", "westeurope")
    with pytest.raises(UnknownNameError, match="give provider and region"):
        cloud_region_by_name("us-east-1")


def test_published_years_keep_their_doubts():
    years = all_cloud_years()
    assert len(years) == 344
    for one in years:
        assert one.pue is None or 1 <= one.pue < 2
        assert one.grid_gco2e_per_kwh is None or one.grid_gco2e_per_kwh > 0  # a printed zero is no factor
        assert one.suspect == (one.status == "estimate")
        assert one.note or not one.suspect
    montreal = {one.year: one for one in cloud_years("gcp", "northamerica-northeast1")}
    assert montreal[2021].suspect
    assert montreal[2021].grid_gco2e_per_kwh is None
    # two rows of one year: one is that of another country, and comes last
    ireland = [one for one in cloud_years("azure", "northeurope") if one.year == 2022]
    assert [one.suspect for one in ireland] == [False, True]
    # AWS repeats one number of the whole fleet for every region
    assert all(one.note for one in years if one.provider == "aws" and one.year in (2022, 2023) and one.wue_l_per_kwh)
    assert cloud_years("aws", "nowhere") == ()


def test_losses_are_of_output():
    assert len(all_losses()) == 61
    assert losses("SE3").zone_id == "SWE"
    assert losses("CAMX").zone_id == "USA"
    assert 0 < losses("USA").fraction_of_output < 0.1
    assert losses("Brazil").status == "estimate"  # recalled
    with pytest.raises(FactorError, match="NAM"):
        losses("Namibia")


def test_whole_years():
    assert len(hours_available()) == 8
    pjm = hours("US-PJM", 2022)
    assert pjm.values.shape == pjm.hour_utc.shape == (8760,)
    assert int(np.isnan(pjm.values).sum()) == 23  # missing is missing, not zero
    assert not pjm.values.flags.writeable
    assert (pjm.unit, pjm.gases, pjm.about.licence) == ("gCO2e/kWh_generation", "CO2 only", "US public domain")
    assert np.nanmin(hours("US-CISO", 2022, "lifecycle").values - hours("US-CISO", 2022).values) > 0
    with pytest.raises(FactorError, match="US-PJM 2022"):
        hours("US-PJM", 2023)
    with pytest.raises(FactorError, match="no hours of DEU"):
        hours("DEU", 2020)
    with pytest.raises(UnknownNameError, match="Nearest: US-PJM"):
        hours("US-PJ", 2022)
    with pytest.raises(UnknownNameError, match="direct or lifecycle"):
        hours("US-PJM", 2022, "marginal")


def test_whole_years_agree_with_the_average_days():
    for zone_id, year in hours_available():
        values = hours(zone_id, year).values
        months = hours(zone_id, year).hour_utc.astype("datetime64[M]").astype(int) % 12
        for month in range(12):
            # plain mean against mean weighted by generation
            assert np.nanmean(values[months == month]) == pytest.approx(profile(zone_id).values[month].mean(), rel=0.05)


def test_marginal_series_keep_what_is_negative():
    assert len(all_marginal()) == 14
    texas = marginal_set("Texas")
    assert texas.low_gco2_per_kwh == pytest.approx(-1143.1)
    assert texas.n_negative_hours == 8
    assert "UTC" not in texas.time_base
    assert {one.region for one in all_marginal()}.isdisjoint({"AKGD", "HIMS", "HIOA"})  # constants, no marginal rates
    made = marginal_profile("AVERT SW")
    assert (made.unit, made.values.shape) == ("gCO2/kWh", (12, 24))
    assert not made.values.flags.writeable
    with pytest.raises(UnknownNameError, match="Nearest"):
        marginal_set("Texass")


def test_profiles_state_their_gaps():
    assert intensity_set("IRL").coverage == pytest.approx(1 - 120 / 8784, abs=1e-4)
    assert "88 of about 120 TWh" in intensity_set("NLD").note
    assert "55.9" in intensity_set("SWE").note
    assert intensity_set("DEU").hours_file == ""
    # Sweden's derived intensity is too high, as its note says
    assert profile("SWE", "lifecycle").values.mean() == pytest.approx(55.9, rel=0.05)
