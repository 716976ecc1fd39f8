"""The registry, the decorator, the escapes, the words, and the names of columns."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pint
import pytest

from energy import units
from energy.errors import UnitError
from energy.units import quantity as q


@units.takes("kgCO2e", energy_it="kWh_it", pue="kWh_facility/kWh_it", intensity="kgCO2e/kWh_facility")
def emissions(energy_it, pue, intensity):
    return energy_it * pue * intensity


def value_of(amount, unit):
    return amount.m_as(units.parse_unit(unit))


# --- the demonstration of the design -----------------------------------------------------------------------------


def test_demonstration_of_the_design():
    e, pue, factor = q(100, "kWh_it"), q(1.3, "kWh_facility/kWh_it"), q(385, "gCO2e/kWh_facility")
    assert str((e * pue).to("kWh_facility")) == "130.0 kWh_facility"
    assert value_of(e * pue * factor, "kgCO2e") == pytest.approx(50.05, rel=1e-12)
    assert value_of(q(400, "W_chip/chip") * q(8, "chip") * q(3, "h"), "kWh_chip") == pytest.approx(9.6, rel=1e-12)
    assert value_of(q(1, "kWh_it") + q(3.6, "MJ_it"), "kWh_it") == pytest.approx(2.0, rel=1e-12)
    water = e * q(0.5, "L/kWh_it") + e * pue * q(3, "L/kWh_facility")
    assert value_of(water, "L") == pytest.approx(440.0, rel=1e-12)


def test_one_registry_is_the_application_registry():
    assert pint.get_application_registry().get() is units.ureg
    assert isinstance(q(1, "kWh_it"), pint.Quantity)


def test_pickle_comes_back_to_our_registry():
    back = pickle.loads(pickle.dumps(q(2.0, "MWh_it")))
    assert value_of(back + q(1.0, "MWh_it"), "kWh_it") == 3000.0


def test_pickle_in_a_fresh_process():
    data = pickle.dumps(q(2.0, "MWh_it"))
    code = f"import energy.units, pickle; print(pickle.loads({data!r}))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "2.0 MWh_it\n"
    )


def test_import_of_the_package_loads_neither_pint_nor_numpy():
    code = "import sys, energy; print([m for m in ('pint', 'numpy', 'energy.units') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_stripped_units_are_an_error():
    with pytest.raises(pint.UnitStrippedWarning):
        np.asarray(q(np.array([1.0]), "kWh_it"))


def test_the_tests_turn_warnings_into_errors():
    with pytest.raises(UserWarning, match="probe"):
        warnings.warn("probe", UserWarning, stacklevel=1)


# --- look-ups ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "kWh_it",
        "gCO2e/kWh_facility",
        "chip*h",
        "m³",
        "USD/chip/h",
        "W/K",
        "1/h",
        "uJ_chip",
        "PFLOP*d/s",
        "%",
        "°C",
        "1",
    ],
)
def test_unit_text_is_read_back(text):
    unit = units.parse_unit(text)
    again = units.parse_unit(units.unit_text(unit))
    assert again == unit
    assert units.parse_unit(f"{unit:~P}") == unit


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "kWh_it + 1",
        "2*kWh_it",
        "kwh",
        "(h)",
        "h; import os",
        "x" * 500,
        "kWh it",
        "m**m",
        "nan",
        "INF",
        "m***2",
        "/h",
        "h*",
    ],
)
def test_unit_text_that_is_none(text):
    with pytest.raises(UnitError):
        units.parse_unit(text)


def test_unknown_unit_names_the_nearest():
    with pytest.raises(UnitError, match=r"Nearest: .*watt_hour"):
        units.parse_unit("watt_hours_itt")


def test_degc_inside_a_compound_is_a_difference():
    assert units.parse_unit("W/degC") == units.parse_unit("W/K")


def test_scale():
    assert units.scale("MWh_it", "kWh_it") == 1000.0
    assert units.scale("W_it*h", "kWh_it") == 0.001
    assert units.scale("kW_it*h", "kWh_it") == 1.0
    assert units.scale("gCO2e/kWh_facility", "kgCO2e/MWh_facility") == 1.0
    assert units.scale("L", "m3") == 0.001
    assert units.scale("degC", "degC") == 1.0
    for a, b in (("kWh_it", "kWh"), ("degC", "K"), ("kg", "kgCO2e"), ("byte", "FLOP")):
        with pytest.raises(UnitError):
            units.scale(a, b)


def test_same_dimension_sees_the_boundary():
    assert units.same_dimension("J_it", "kWh_it")
    assert not units.same_dimension("kWh_it", "kWh")
    assert not units.same_dimension("kWh_chip", "kWh_it")


@pytest.mark.parametrize(
    "unit", ["", "chip", "token", "request", "kWh_facility/kWh_it", "kWh_it/kWh_chip", "kWh_generation/kWh_facility"]
)
def test_bare_numbers_are_clear(unit):
    assert units.takes_bare_number(unit)


@pytest.mark.parametrize(
    "unit", ["%", "kWh_it", "Mtoken", "FLOP", "B", "h", "degC", "MWh_facility/kWh_it", "chip*h", "token/s", "USD"]
)
def test_bare_numbers_are_not_clear(unit):
    assert not units.takes_bare_number(unit)


def test_quantity_refuses_text():
    with pytest.raises(UnitError, match=r"units\.read"):
        q("5 kWh", "kWh_it")


# --- the decorator -----------------------------------------------------------------------------------------------


def test_takes_converts_and_wraps():
    result = emissions(q(1.0, "MWh_it"), 1.3, q(385.0, "gCO2e/kWh_facility"))
    assert result.units == units.parse_unit("kgCO2e")
    assert result.magnitude == pytest.approx(500.5, rel=1e-12)
    assert (
        emissions(intensity=q(0.385, "kgCO2e/kWh_facility"), pue=1.3, energy_it=q(1000.0, "kWh_it")).magnitude
        == result.magnitude
    )


def test_result_dimension_follows_from_the_quantities():
    arguments = (q(2.0, "MJ_it"), q(1.2, "kWh_facility/kWh_it"), q(0.4, "tCO2e/MWh_facility"))
    traced = emissions.kernel(*arguments)
    assert traced.dimensionality == units.parse_unit(emissions.result_unit).dimensionality
    assert value_of(traced, "kgCO2e") == pytest.approx(emissions(*arguments).magnitude, rel=1e-12)


def test_declared_unit_passes_the_array_itself():
    seen = []

    @units.takes(None, energy="kWh_it")
    def look(energy):
        seen.append(energy)

    array = np.ones(3)
    look(q(array, "kWh_it"))
    look(q(array, "kW_it*h"))
    look(q(array, "Wh_it"))
    assert seen[0] is array
    assert seen[1] is array
    np.testing.assert_array_equal(seen[2], [0.001] * 3)
    np.testing.assert_array_equal(array, np.ones(3))


def test_kernel_keeps_name_documentation_and_plain_numbers():
    assert emissions.__name__ == "emissions"
    assert emissions.kernel(1000.0, 1.3, 0.385) == pytest.approx(500.5)
    assert emissions.argument_units["energy_it"] == "kWh_it"


def test_takes_several_results_and_plain_arguments():
    @units.takes(("kWh_facility", "", None), energy_it="kWh_it", pue="kWh_facility/kWh_it")
    def split(energy_it, pue=1.5, *, label="x"):
        return energy_it * pue, 1 / pue, label

    total, share, label = split(q(3.0, "kWh_it"), label="night")
    assert str(total) == "4.5 kWh_facility"
    assert share.dimensionless
    assert label == "night"
    with pytest.raises(UnitError, match="label takes no quantity"):
        split(q(3.0, "kWh_it"), label=q(1, "h"))


def test_none_passes_only_where_it_is_the_default():
    @units.takes(None, energy="kWh_it", limit="kWh_it")
    def look(energy, limit=None):
        return energy, limit

    assert look(q(1, "kWh_it"), None) == (1, None)
    with pytest.raises(UnitError, match="energy takes kWh"):
        look(None)


@pytest.mark.parametrize(
    ("energy", "pue", "intensity", "says"),
    [
        (q(1, "kWh_facility"), 1.3, q(385, "gCO2e/kWh_facility"), r"energy_it takes kWh \(IT\), got kWh \(facil"),
        (q(1, "kWh_chip"), 1.3, q(385, "gCO2e/kWh_facility"), "multiply by the node overhead"),
        (q(1, "kWh"), 1.3, q(385, "gCO2e/kWh_facility"), "say where it was measured"),
        (q(1, "kW_it"), 1.3, q(385, "gCO2e/kWh_facility"), "multiply by the time first"),
        (q(1, "kWh_it"), 1.3, q(385, "gCO2e/kWh_generation"), "as_purchased"),
        (q(1, "kWh_it"), 1.3, q(385, "g/kWh_facility"), "mass is not CO2e"),
        (q(1, "kWh_it"), q(1.3, ""), q(385, "gCO2e/kWh_facility"), "got a plain ratio"),
        (1.0, 1.3, q(385, "gCO2e/kWh_facility"), "number without unit"),
        ("1 kWh", 1.3, q(385, "gCO2e/kWh_facility"), r"units\.read"),
        (q(1, "kWh_it"), True, q(385, "gCO2e/kWh_facility"), "got bool"),
        (q(1, "kWh_it"), np.array([True]), q(385, "gCO2e/kWh_facility"), "pue takes"),
        (q(1, "kWh_it"), [1.2], q(385, "gCO2e/kWh_facility"), "got list"),
    ],
)  # fmt: skip
def test_wrong_argument_is_named_with_the_missing_step(energy, pue, intensity, says):
    with pytest.raises(UnitError, match=says) as caught:
        emissions(energy, pue, intensity)
    assert "\n" not in str(caught.value)


def test_factor_at_the_meter_on_it_energy_says_pue():
    @units.takes("gCO2e", energy_it="kWh_it", carbon_usage="gCO2e/kWh_it")
    def emitted(energy_it, carbon_usage):
        return energy_it * carbon_usage

    with pytest.raises(UnitError, match="per kWh at the meter: multiply by PUE"):
        emitted(q(1, "kWh_it"), q(385, "gCO2e/kWh_facility"))


def test_unit_error_is_a_type_error():
    with pytest.raises(TypeError):
        emissions(q(1, "h"), 1.3, q(385, "gCO2e/kWh_facility"))


def test_temperature_only_by_the_canonical_unit():
    @units.takes("W", temperature="degC", loss="W/K")
    def heat(temperature, loss):
        return (20 - temperature) * loss

    assert heat(q(10.0, "degC"), q(2.0, "W/K")).magnitude == 20.0
    with pytest.raises(UnitError, match="a temperature is given in degC"):
        heat(q(283.15, "K"), q(2.0, "W/K"))


def test_another_registry_is_refused():
    foreign = pint.UnitRegistry(str(units.DEFINITION_FILE))
    with pytest.raises(UnitError, match="another pint registry"):
        emissions(foreign.Quantity(1, "Wh_it"), 1.3, q(385, "gCO2e/kWh_facility"))


def test_declaration_errors_come_at_once():
    with pytest.raises(UnitError, match="not a parameter"):
        units.takes("kWh_it", enregy="kWh_it")(lambda energy: energy)
    with pytest.raises(UnitError, match="named parameters"):
        units.takes("kWh_it")(lambda *energy: energy)
    with pytest.raises(UnitError, match="No unit"):
        units.takes("kWh_itt")


def test_wrong_number_of_arguments_is_pythons_own_error():
    with pytest.raises(TypeError, match="positional argument"):
        emissions(q(1, "kWh_it"), 1.3, q(385, "gCO2e/kWh_facility"), 4)
    with pytest.raises(TypeError, match="unexpected keyword"):
        emissions(q(1, "kWh_it"), 1.3, q(385, "gCO2e/kWh_facility"), foo=4)


def test_eight_threads_get_right_results():
    forms = ["Wh_it", "kWh_it", "MWh_it", "J_it", "MJ_it", "kW_it*h", "W_it*d", "GJ_it"]

    @units.takes("kWh_facility", energy_it="kWh_it", pue="kWh_facility/kWh_it")
    def at_meter(energy_it, pue):
        return energy_it * pue

    def work(number):
        form = forms[number % 8]
        kwh = float(number + 1)
        amount = q(kwh * units.scale("kWh_it", form), form)
        read = units.read(f"{kwh} kWh", "MWh_it").value
        return at_meter(amount, 1.25).magnitude / kwh, value_of(read, "kWh_it") / kwh

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(800)))
    np.testing.assert_allclose(results, [(1.25, 1.0)] * 800, rtol=1e-12)


# --- the two escapes ---------------------------------------------------------------------------------------------


def test_as_purchased_keeps_the_number_and_leaves_a_line():
    notes: list[str] = []
    result = units.as_purchased(q(0.385, "tCO2e/MWh_generation"), notes)
    assert units.to_json(result) == {"value": 0.385, "unit": "tCO2e/MWh_facility"}
    assert len(notes) == 1
    assert "as purchased" in notes[0]


@pytest.mark.parametrize("unit", ["gCO2e/kWh_facility", "kWh_generation", "gCO2e/kWh", "kWh_generation/kWh_facility"])
def test_as_purchased_refuses_what_is_no_production_factor(unit):
    with pytest.raises(UnitError, match="as_purchased"):
        units.as_purchased(q(1.0, unit))


def test_counted_at_goes_up_and_leaves_a_line():
    notes: list[str] = []
    overhead = q(130.0, "kWh_facility") - units.counted_at(q(0.1, "MWh_it"), "facility", notes)
    assert value_of(overhead, "kWh_facility") == pytest.approx(30.0)
    assert value_of(units.counted_at(q(7.0, "W_chip/chip"), "it"), "W_it/chip") == 7.0
    assert "number unchanged" in notes[0]


@pytest.mark.parametrize(
    ("unit", "boundary"),
    [
        ("kWh_facility", "it"),
        ("kWh_it", "it"),
        ("kWh", "facility"),
        ("kWh_facility/kWh_it", "facility"),
        ("kWh_it", "meter"),
        ("gCO2e/kWh_it", "facility"),
        ("chip", "it"),
    ],
)
def test_counted_at_refuses(unit, boundary):
    with pytest.raises(UnitError, match="counted_at"):
        units.counted_at(q(1.0, unit), boundary)


def test_escapes_refuse_bare_numbers():
    with pytest.raises(UnitError, match="got float"):
        units.as_purchased(0.4)  # type: ignore[arg-type]
    with pytest.raises(UnitError, match="got float"):
        units.counted_at(0.4, "it")  # type: ignore[arg-type]


# --- words and JSON ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1200.0, "kWh_it", "1.2 MWh (IT)"),
        (999.6, "kWh_facility", "1 MWh (facility)"),
        (0.24e-3, "kWh_it", "240 mWh (IT)"),
        (0.0, "kWh_it", "0 kWh (IT)"),
        (-1.5, "MW_it", "\u22121.5 MW (IT)"),
        (700.0, "W_chip/chip", "700 W (chip) per chip"),
        (1e9, "gCO2e", "1 ktCO₂e"),
        (0.5, "mL", "0.5 mL"),
        (12345678.0, "L", "12\u202f346 m³"),
        (385.0, "gCO2e/kWh_facility", "385 gCO₂e per kWh (facility)"),
        (1.3, "kWh_facility/kWh_it", "1.3 kWh (facility) per kWh (IT)"),
        (2_500_000.0, "USD", "2.5 M USD"),
        (1850.0, "USD", "1\u202f850 USD"),
        (2e12, "token", "2 T token"),
        (989e12, "FLOP/s", "989 TFLOP per s"),
        (3.35e12, "B/s", "3.35 TB per s"),
        (80.0, "GiB", "80 GiB"),
        (3.6e6, "J_it", "3.6 MJ (IT)"),
        (35.0, "%", "35 %"),
        (0.35, "", "0.35"),
        (21.5, "degC", "21.5 °C"),
        (90.0, "min", "1.5 h"),
        (math.nan, "kWh_it", "no data"),
        (2.5e-7, "USD/token", "0.00000025 USD per token"),
        (8.0, "chip", "8 chip"),
    ],
)
def test_display(value, unit, text):
    assert units.display(q(value, unit)) == text


def test_display_never_shows_our_spelling_of_boundaries():
    for tag in ("chip", "it", "facility", "generation"):
        assert f"_{tag}" not in units.display(q(1.0, f"kWh_{tag}"))


def test_display_refuses_arrays_and_infinity():
    with pytest.raises(UnitError):
        units.display(q(np.ones(2), "kWh_it"))
    with pytest.raises(UnitError, match="division by zero"):
        units.display(q(math.inf, "kWh_it"))
    with pytest.raises(UnitError):
        units.display(3.0)  # type: ignore[arg-type]


def test_json():
    assert units.to_json(q(1.5, "kWh_it")) == {"value": 1.5, "unit": "kWh_it"}
    array = units.to_json(q(np.array([1.0, np.nan]), "gCO2e/kWh_facility"))
    assert json.dumps(array, allow_nan=False) == '{"value": [1.0, null], "unit": "gCO2e/kWh_facility"}'
    assert units.to_json(q(np.float64(2.0), "chip*h")) == {"value": 2.0, "unit": "chip*h"}
    with pytest.raises(UnitError, match="infinite"):
        units.to_json(q(math.inf, "kWh_it"))
    with pytest.raises(UnitError):
        units.to_json(3.0)  # type: ignore[arg-type]


# --- names of columns --------------------------------------------------------------------------------------------

COLUMNS = {
    "energy_it_kwh": "kWh_it",
    "energy_it_low_kwh": "kWh_it",
    "energy_it_kwh_low": "kWh_it",
    "energy_it_high80_kwh": "kWh_it",
    "energy_facility_mwh": "MWh_facility",
    "heat_kwh": "kWh",
    "power_chip_w": "W_chip",
    "power_facility_mw": "MW_facility",
    "energy_chip_mj": "MJ_chip",
    "energy_chip_millij": "mJ_chip",
    "energy_chip_microj": "uJ_chip",
    "power_chip_milliw": "mW_chip",
    "intensity_gco2e_per_kwh_facility": "gCO2e/kWh_facility",
    "intensity_gco2e_per_kwh_generation": "gCO2e/kWh_generation",
    "emissions_kgco2e": "kgCO2e",
    "refrigerant_kg": "kg",
    "wue_l_per_kwh_it": "L/kWh_it",
    "water_m3": "m**3",
    "cost_usd": "USD",
    "price_usd_per_chip_h": "USD/chip/h",
    "price_eur_per_mwh_facility": "EUR/MWh_facility",
    "rate_usd_per_eur": "USD/EUR",
    "energy_it_j_per_token": "J_it/token",
    "chip_h": "chip*h",
    "installed_chip_h": "chip*h",
    "covered_chip_ms": "chip*ms",
    "duration_s": "s",
    "share_pct": "%",
    "supply_c": "degC",
    "approach_k": "K",
    "work_flop": "FLOP",
    "memory_gb": "GB",
    "memory_gib": "GiB",
    "bandwidth_gb_per_s": "GB/s",
    "throughput_token_per_s_per_chip": "token/s/chip",
    "pue": "kWh_facility/kWh_it",
    "pue_low": "kWh_facility/kWh_it",
    "design_pue": "kWh_facility/kWh_it",
    "node_overhead": "kWh_it/kWh_chip",
    "node_overhead_high": "kWh_it/kWh_chip",
}


@pytest.mark.parametrize(("name", "unit"), COLUMNS.items())
def test_name_and_unit_agree(name, unit):
    said = units.unit_of_column(name)
    assert said is not None
    assert units.scale(said, unit) == 1.0
    units.check_column_unit(name, unit)


@pytest.mark.parametrize(
    "name", ["project", "start_utc", "chip_id", "job_key", "chips", "kwh", "host", "utilization", "chip", "note"]
)
def test_name_without_unit(name):
    assert units.unit_of_column(name) is None
    units.check_column_unit(name, None)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("energy_it_kwh", "kWh_facility"),
        ("energy_it_kwh", "MWh_it"),
        ("energy_kwh", "kWh_it"),
        ("energy_it_kwh", "kWh"),
        ("energy_chip_mj", "mJ_chip"),
        ("emissions_kg", "kgCO2e"),
        ("intensity_gco2e_per_kwh", "gCO2e/kWh_facility"),
        ("start_utc", "h"),
        ("energy", "kWh_it"),
        ("energy_it_kwh", None),
        ("cost_usd", "EUR"),
        ("supply_c", "K"),
        ("pue", ""),
    ],
)
def test_name_and_unit_disagree(name, unit):
    with pytest.raises(UnitError, match=name):
        units.check_column_unit(name, unit)


def test_plain_counts_need_no_suffix():
    units.check_column_unit("chip_count", "chip")
    units.check_column_unit("row_count", "")


def test_power_of_one_chip_may_leave_its_count_out():
    units.check_column_unit("power_chip_w", "W_chip")
    units.check_column_unit("power_chip_w", "W_chip/chip")


def test_division_by_no_unit_is_an_error():
    with pytest.raises(UnitError, match="_per_"):
        units.unit_of_column("energy_it_kwh_per_foo")
