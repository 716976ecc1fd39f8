"""Ten mistakes that public tools make and that must raise here (the Python side)."""

from __future__ import annotations

import pint
import pytest

from energy import units
from energy.errors import BasisError, UnitError
from energy.provenance import Basis, combine
from energy.units import quantity as q

IT = q(100.0, "kWh_it")
PUE = q(1.3, "kWh_facility/kWh_it")
GRID = q(385.0, "gCO2e/kWh_facility")


@units.takes("kWh_facility", energy_it="kWh_it", pue="kWh_facility/kWh_it")
def at_meter(energy_it, pue):
    return energy_it * pue


@units.takes("kgCO2e", energy_facility="kWh_facility", intensity="kgCO2e/kWh_facility")
def emitted(energy_facility, intensity):
    return energy_facility * intensity


@units.takes("L", energy_it="kWh_it", wue="L/kWh_it")
def water(energy_it, wue):
    return energy_it * wue


@units.takes("kWh_it", node_power="W_it", duration="h")
def node_energy(node_power, duration):
    return node_power * duration / 1000


def test_1_pue_twice():
    with pytest.raises(pint.DimensionalityError):
        (IT * PUE * PUE).to("kWh_facility")
    with pytest.raises(UnitError, match="divide by PUE"):
        at_meter(at_meter(IT, PUE), PUE)
    with pytest.raises(UnitError, match="twice"):
        emitted(IT * PUE * PUE, GRID)


def test_2_grid_factor_on_it_energy():
    with pytest.raises(pint.DimensionalityError):
        (IT * GRID).to("kgCO2e")
    with pytest.raises(UnitError, match="multiply by PUE"):
        emitted(IT, GRID)


def test_3_board_watts_and_wall_watts():
    with pytest.raises(pint.DimensionalityError):
        q(1.0, "W_chip") + q(1.0, "W_it")


def test_4_wue_on_facility_energy():
    with pytest.raises(pint.DimensionalityError):
        (q(1.0, "kWh_facility") * q(1.8, "L/kWh_it")).to("L")
    with pytest.raises(UnitError, match="divide by PUE"):
        water(q(1.0, "kWh_facility"), q(1.8, "L/kWh_it"))


def test_5_pue_on_chip_energy():
    with pytest.raises(pint.DimensionalityError):
        (q(1.0, "kWh_chip") * PUE).to("kWh_facility")
    with pytest.raises(UnitError, match="node overhead"):
        at_meter(q(1.0, "kWh_chip"), PUE)


def test_6_mass_and_co2e():
    with pytest.raises(pint.DimensionalityError):
        q(1.0, "kg") + q(1.0, "kgCO2e")
    with pytest.raises(UnitError, match="mass is not CO2e"):
        units.read("385 g/kWh", "gCO2e/kWh_facility")


def test_7_power_of_one_chip_for_the_nodes():
    with pytest.raises(UnitError, match="number of chips"):
        node_energy(q(700.0, "W_chip/chip"), q(1.0, "h"))
    with pytest.raises(pint.DimensionalityError):
        (q(700.0, "W_chip/chip") * q(1.0, "h")).to("kWh_chip")


def test_8_production_factor_on_facility_energy():
    factor = q(385.0, "gCO2e/kWh_generation")
    with pytest.raises(pint.DimensionalityError):
        (IT * PUE * factor).to("kgCO2e")
    with pytest.raises(UnitError, match="as_purchased"):
        emitted(IT * PUE, factor)
    assert emitted(IT * PUE, units.as_purchased(factor)).magnitude == pytest.approx(50.05)


def test_9_two_currencies():
    with pytest.raises(pint.DimensionalityError):
        q(1.0, "USD") + q(1.0, "EUR")
    assert (q(2.0, "EUR") * q(1.13, "USD/EUR")).to("USD").magnitude == pytest.approx(2.26)


def test_10_kwh_in_a_column_of_mwh():
    with pytest.raises(UnitError, match="energy_it_mwh says MWh_it"):
        units.check_column_unit("energy_it_mwh", "kWh_it")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Basis(gwp_set="AR5"), Basis(gwp_set="AR6")),
        (Basis(boundary="direct"), Basis(boundary="lifecycle")),
        (Basis(embodied="whole"), Basis(embodied="amortised")),
    ],
)
def test_10_what_units_cannot_see(a, b):
    with pytest.raises(BasisError):
        combine(a, b)


def test_energy_without_a_place_is_not_electricity_at_one():
    with pytest.raises(pint.DimensionalityError):
        IT + q(1.0, "kWh")
