"""Reading users' text: every trap that was found in pint, and the spellings that people use."""

from __future__ import annotations

import math

import numpy as np
import pytest

from energy import units
from energy.errors import EnergyError, QuantityTextError, UnitError
from energy.units.spellings import spellings


def value(text, unit):
    return units.read(text, unit).value.magnitude


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("20 MW", "kW_it", 20000.0),
        ("20MW", "MW_facility", 20.0),
        ("2e12 token", "token", 2e12),
        ("2 million tokens", "token", 2e6),
        ("15 T token", "Ttoken", 15.0),
        ("1_500 kWh", "kWh_it", 1500.0),
        (".5 kWh", "kWh_it", 0.5),
        ("-3 kWh", "kWh_it", -3.0),
        ("3 Wh", "kWh_it", 0.003),
        ("3.6 MJ", "kWh_it", 1.0),
        ("5 kW·h", "kWh_it", 5.0),
        ("1.2 MWh (IT)", "kWh_it", 1200.0),
        ("1.2 kilowatt hours", "kWh", 1.2),
        ("385 gCO2e/kWh", "gCO2e/kWh_facility", 385.0),
        ("385 gCO2eq/kWh", "gCO2e/kWh_facility", 385.0),
        ("385 gCO2-eq per kWh", "gCO2e/kWh_facility", 385.0),
        ("385 g CO₂e / kWh", "gCO2e/kWh_facility", 385.0),
        ("0.385 kg CO2e/kWh", "gCO2e/kWh_facility", 385.0),
        ("0.385 tonnes CO2e per MWh", "gCO2e/kWh_facility", 385.0),
        ("1000 lb CO2e/MWh", "kgCO2e/MWh_generation", 453.59237),
        ("5 tCO2e", "kgCO2e", 5000.0),
        ("1 MtCO2e", "tCO2e", 1e6),
        ("3 PFLOP/s-day", "FLOP", 3e15 * 86400),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("2 USD/chip-hour", "USD/chip/h", 2.0),
        ("2 USD/(chip h)", "USD/chip/h", 2.0),
        ("2 USD per chip per hour", "USD/chip/h", 2.0),
        ("5 MUSD", "USD", 5e6),
        ("0.5 USD per million tokens", "USD/Mtoken", 0.5),
        ("1.8 L/kWh", "L/kWh_it", 1.8),
        ("2 m3", "L", 2000.0),
        ("2 m³", "L", 2000.0),
        ("30 %", "", 0.3),
        ("0.3", "", 0.3),
        ("20 degC", "degC", 20.0),
        ("20 °C", "degC", 20.0),
        ("5 K", "K", 5.0),
        ("80 GiB", "B", 80 * 2.0**30),
        ("4 μs", "us", 4.0),
        ("0.02 per hour", "1/h", 0.02),
        ("400 W/chip", "W_chip/chip", 400.0),
        ("\u202f12\u202fkWh\u00a0", "kWh_it", 12.0),
    ],
)
def test_what_people_write(text, unit, expected):
    reading = units.read(text, unit)
    assert reading.value.units == units.parse_unit(unit)
    assert reading.value.magnitude == pytest.approx(expected, rel=1e-14)
    assert reading.given_text == text


TRAPS = {
    "1,5 kWh": ("kWh_it", "comma"),
    "1,500 kWh": ("kWh_it", "comma"),
    "0.12 €/kWh": ("EUR/kWh_facility", "write '0.12 EUR/kWh'"),
    "5 $/h": ("USD/h", "write '5 USD/h'"),
    "M$": ("USD", "number first"),
    "5 M$": ("USD", "write '5 MUSD'"),
    "$5": ("USD", "number first"),
    "2 h 30 min": ("h", "several numbers"),
    "2h 30min": ("h", "several numbers"),
    "1 200 kWh": ("kWh_it", "several numbers"),
    "kWh": ("kWh_it", "number first"),
    "": ("kWh_it", "number first"),
    "9**9**9 kWh": ("kWh_it", "no product"),
    "9^9^9": ("chip", "not a spelling"),
    "5 kWh**9**9": ("kWh_it", "no product"),
    "5 MT CO2e": ("tCO2e", "tCO2e"),
    "5 MTCO2e": ("tCO2e", "tCO2e"),
    "5 mt": ("t", "metric ton"),
    "1 mWh": ("kWh_it", "did you mean MWh"),
    "1 mJ": ("J", "not a spelling"),
    "1 kwh": ("kWh_it", "did you mean kWh"),
    "989 TFLOPS": ("FLOP/s", "TFLOP/s"),
    "1e24 FLOPs": ("FLOP", "TFLOP"),
    "2 USD/GPU-hour": ("USD/chip/h", "chip"),
    "nan kWh": ("kWh_it", "finite"),
    "inf": ("chip", "finite"),
    "-inf kWh": ("kWh_it", "finite"),
    "1e999 kWh": ("kWh_it", "out of the range"),
    "1e-999 kWh": ("kWh_it", "out of the range"),
    "1e308 GWh": ("J_it", "out of range"),
    "8": ("kWh_it", "no unit"),
    "0.3": ("%", "no unit"),
    "1.5.3 kWh": ("kWh_it", "not a spelling"),
    "0x10 kWh": ("kWh_it", "not a spelling"),
    "5 kWh kWh": ("kWh_it", "not a spelling"),
    "5 kWh/": ("kWh_it", "no product"),
    "5 kWh/h/h/h/h": ("kWh_it", "too many divisions"),
    "5 W/degC": ("W/K", "written K"),
    "5 degF": ("degC", "write degC"),
    "٣ kWh": ("kWh_it", "number first"),
    "5 kWh\nfoo": ("kWh_it", "one line"),
    "5 k\u200bWh": ("kWh_it", "one line"),
    "5\x00 kWh": ("kWh_it", "one line"),
    "1" * 5000: ("chip", "longer"),
    "__import__('os') kWh": ("kWh_it", "number first"),
}


@pytest.mark.parametrize("text", TRAPS)
def test_traps_are_refused_with_a_remedy(text):
    unit, says = TRAPS[text]
    with pytest.raises(QuantityTextError) as caught:
        units.read(text, unit, field="my_field")
    message = str(caught.value)
    assert says in message
    assert message.startswith("my_field: ")
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("text", "unit", "says"),
    [
        ("385 g/kWh", "gCO2e/kWh_facility", "mass is not CO2e"),
        ("5 kgCO2e", "kg", "not a mass"),
        ("385 gCO2e/kWh_it", "gCO2e/kWh_facility", "divide by PUE"),
        ("385 gCO2e/kWh_generation", "gCO2e/kWh_facility", "as_purchased"),
        ("5 kWh (facility)", "kWh_it", "divide by PUE"),
        ("5 kW", "kWh_it", "multiply by the time"),
        ("400 W", "W_chip/chip", "divide by the number of chips"),
        ("5 EUR", "USD", "exchange rate"),
        ("20 degC", "K", "difference of temperatures K"),
        ("293 K", "degC", "a temperature is written degC"),
        ("1.3 kWh_facility/kWh", "kWh_facility/kWh_it", "do not match"),
        ("5 kWh_it", "kWh", "no measurement boundary"),
        ("5 h", "chip", "another thing"),
    ],
)
def test_other_thing_or_other_boundary(text, unit, says):
    with pytest.raises(UnitError, match=says) as caught:
        units.read(text, unit, field="my_field")
    assert str(caught.value).startswith("my_field: ")


def test_boundary_from_the_field_is_marked():
    reading = units.read("385 gCO2e/kWh", "gCO2e/kWh_facility")
    assert reading.boundary_from_field
    assert reading.marks == ("boundary from the field",)
    assert not units.read("385 gCO2e/kWh_facility", "gCO2e/kWh_facility").boundary_from_field
    assert not units.read("5 kgCO2e", "kgCO2e").boundary_from_field
    assert units.read("1.2", "kWh_facility/kWh_it").boundary_from_field
    assert units.read("1.2 kWh/kWh", "kWh_facility/kWh_it").boundary_from_field


@pytest.mark.parametrize("text", ["385 gCO2/kWh", "385 g CO2 per kWh", "0.385 kgCO₂/kWh", "0.385 tCO2/MWh"])
def test_co2_alone_is_read_and_marked(text):
    reading = units.read(text, "gCO2e/kWh_facility")
    assert reading.value.magnitude == pytest.approx(385.0)
    assert reading.co2_only
    assert "CO2 only" in reading.marks


@pytest.mark.parametrize("number", [8, 8.0, np.float64(8), np.int32(8)])
def test_bare_numbers_where_they_are_clear(number):
    assert value(number, "chip") == 8.0
    assert value(number, "kWh_facility/kWh_it") == 8.0
    with pytest.raises(QuantityTextError, match="no unit"):
        units.read(number, "kWh_it")


@pytest.mark.parametrize("thing", [True, None, [1], {"value": 1}, 1j, math.nan, math.inf])
def test_other_things_are_refused(thing):
    with pytest.raises(QuantityTextError):
        units.read(thing, "chip")


def test_a_quantity_is_taken_at_its_own_boundary_only():
    assert units.read(units.quantity(2.0, "MWh_it"), "kWh_it").value.magnitude == 2000.0
    with pytest.raises(UnitError, match="say where it was measured"):
        units.read(units.quantity(2.0, "MWh"), "kWh_it")


def test_result_is_frozen():
    reading = units.read("8 chips", "chip")
    with pytest.raises(AttributeError):
        reading.co2_only = True  # type: ignore[misc]


def test_every_spelling_is_a_unit_and_no_dangerous_one_is_in_the_list():
    table = spellings()
    for unit in set(table.values()):
        units.parse_unit(unit)
    for dangerous in (
        "mWh",
        "mW",
        "mJ",
        "mt",
        "MT",
        "kt_it",
        "a",
        "kn",
        "FLOPS",
        "$",
        "€",
        "M",
        "ton",
        "tons",
        "C",
        "F",
    ):
        assert dangerous not in table


def test_every_spelling_reads_as_its_unit():
    for spelling, unit in spellings().items():
        try:
            reading = units.read(f"2 {spelling}", unit)
        except EnergyError as error:
            pytest.fail(f"{spelling}: {error}")
        assert reading.value.magnitude == pytest.approx(2.0)


def test_units_that_differ_only_by_case_have_distinct_meanings_on_purpose():
    assert units.scale(spellings()["ML"], spellings()["mL"]) == pytest.approx(1e9)
    assert units.scale(spellings()["Mg" if "Mg" in spellings() else "t"], "mg") == pytest.approx(1e9)
