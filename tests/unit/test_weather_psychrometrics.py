"""Moist air against printed tables, against a search by halves, and by what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.errors import WeatherError
from energy.weather import psychrometrics as air

temperatures = st.floats(-40.0, 50.0)
humidities = st.floats(0.01, 1.0)
pressures = st.floats(70_000.0, 104_000.0)


@pytest.mark.parametrize(
    ("temperature_c", "pressure_kpa"),
    [(-40.0, 0.01285), (-20.0, 0.10326), (0.0, 0.6112), (20.0, 2.3389), (50.0, 12.3513), (100.0, 101.4191)],
)
def test_saturation_is_that_of_the_printed_table(temperature_c, pressure_kpa):
    # ASHRAE Fundamentals, chapter 1, table 3
    found = float(air.saturation_pressure_pa(temperature_c)) / 1000.0
    assert found == pytest.approx(pressure_kpa, rel=6e-4)


def by_halves(dry_c, ratio, pressure_pa):
    """Return the wet bulb by halving, an independent search on the printed equation."""

    def too_moist(wet_c):
        saturated = air.humidity_ratio_of_vapour(air.saturation_pressure_pa(wet_c), pressure_pa)
        if wet_c < 0.0:
            found = ((2830.0 - 0.24 * wet_c) * saturated - 1.006 * (dry_c - wet_c)) / (
                2830.0 + 1.86 * dry_c - 2.1 * wet_c
            )
        else:
            found = ((2501.0 - 2.326 * wet_c) * saturated - 1.006 * (dry_c - wet_c)) / (
                2501.0 + 1.86 * dry_c - 4.186 * wet_c
            )
        return found > ratio

    low, high = -90.0, dry_c
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if too_moist(middle) else (middle, high)
    return 0.5 * (low + high)


@settings(deadline=None, max_examples=60)
@given(temperatures, humidities, pressures)
def test_wet_bulb_solves_the_printed_equation(dry_c, humidity, pressure_pa):
    ratio = float(air.humidity_ratio(dry_c, humidity, pressure_pa))
    found = float(air.wet_bulb_c(dry_c, ratio, pressure_pa))
    expected = by_halves(dry_c, ratio, pressure_pa)
    near_freezing = min(abs(found), abs(expected)) < 0.7  # the equations over ice and over water do not meet
    assert found == pytest.approx(expected, abs=0.7 if near_freezing else 1e-5)


@settings(deadline=None, max_examples=60)
@given(temperatures, humidities, pressures)
def test_dew_point_wet_bulb_and_dry_bulb_stand_in_order(dry_c, humidity, pressure_pa):
    ratio = air.humidity_ratio(dry_c, humidity, pressure_pa)
    wet = float(air.wet_bulb_c(dry_c, ratio, pressure_pa))
    dew = float(air.dew_point_c(air.vapour_pressure_pa(ratio, pressure_pa)))
    assert dew <= wet + 2e-3  # saturation over ice and over water differ by 0.01 % at 0 C
    assert wet <= dry_c


@settings(deadline=None, max_examples=60)
@given(temperatures, humidities, humidities, pressures)
def test_moister_air_has_no_lower_wet_bulb(dry_c, one, other, pressure_pa):
    ratios = air.humidity_ratio(dry_c, np.sort([one, other]), pressure_pa)
    low, high = air.wet_bulb_c(dry_c, ratios, pressure_pa)
    assert low <= high + 1e-6


@settings(deadline=None, max_examples=60)
@given(st.floats(-60.0, 60.0))
def test_dew_point_undoes_saturation(temperature_c):
    assert float(air.dew_point_c(air.saturation_pressure_pa(temperature_c))) == pytest.approx(temperature_c, abs=2e-3)


def test_missing_stays_missing_and_dry_air_has_no_dew_point():
    assert np.isnan(air.wet_bulb_c(np.array([np.nan, 20.0]), np.array([0.01, np.nan]), 101325.0)).all()
    assert float(air.dew_point_c(0.0)) == -np.inf


def test_percent_and_kelvin_are_refused():
    with pytest.raises(WeatherError, match="divide percent by 100"):
        air.humidity_ratio(20.0, 55.0, 101325.0)
    with pytest.raises(WeatherError, match="degrees Celsius"):
        air.saturation_pressure_pa(293.15)
