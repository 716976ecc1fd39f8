"""The mix by hour is that of the hours whose intensity the catalogue holds."""

import numpy as np
import pytest

from energy.carbon.mix import mix_intensity
from energy.catalogue.mixes import generation_mix
from energy.catalogue.profiles import intensity_sets
from energy.errors import UnknownNameError


@pytest.mark.parametrize("about", intensity_sets(), ids=lambda one: one.profile_set)
def test_each_set_has_its_mix_over_the_same_hours(about):
    mix = generation_mix(about.zone_id)
    assert mix.n_hours == about.n_hours
    for name, values in mix.by_hour_mwh.items():
        # each hour of day has the same number of hours but for a few that are missing
        assert np.mean(values) == pytest.approx(mix.mean_mwh[name], rel=2e-3, abs=0.02)
        assert (values >= 0).all()
    assert mix_intensity(mix.by_hour_mwh, "lifecycle").storage == ()


def test_the_mix_gives_the_mean_intensity_of_the_hours_weighted_by_generation():
    from energy.catalogue.hourly import hours

    mix = generation_mix("US-PJM")
    found = mix_intensity({name: [value] for name, value in mix.mean_mwh.items()}, "lifecycle")
    simple = float(np.nanmean(hours("US-PJM", 2022, "lifecycle").values))
    assert found.intensity_gco2e_per_kwh[0] == pytest.approx(simple, rel=0.02)


def test_an_unknown_zone_is_refused():
    with pytest.raises(UnknownNameError, match="Nearest"):
        generation_mix("US-PJN")
