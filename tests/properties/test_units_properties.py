"""Properties: results do not depend on the units in which they were said; the reader never guesses and never hangs."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy import units
from energy.errors import BasisError, EnergyError, QuantityTextError, UnitError
from energy.provenance import BASIS_VALUES, Basis, Range, combine
from energy.units import quantity as q
from energy.units.spellings import spellings

numbers = st.floats(min_value=1e-6, max_value=1e9, allow_nan=False)
energies = st.sampled_from(["Wh_it", "kWh_it", "MWh_it", "GWh_it", "J_it", "MJ_it", "kW_it*h", "W_it*d"])
intensities = st.sampled_from(
    ["gCO2e/kWh_facility", "kgCO2e/MWh_facility", "tCO2e/GWh_facility", "lbCO2e/MWh_facility", "gCO2e/J_facility"]
)
readable = st.sampled_from(sorted(spellings().items()))
NUMBER = re.compile(r"[+-]?([0-9]+(_[0-9]+)*(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@units.takes("kgCO2e", energy_it="kWh_it", pue="kWh_facility/kWh_it", intensity="kgCO2e/kWh_facility")
def emissions(energy_it, pue, intensity):
    return energy_it * pue * intensity


@given(numbers, energies, numbers, intensities)
def test_result_is_the_same_in_any_unit(energy, energy_unit, intensity, intensity_unit):
    canonical = emissions(q(energy, "kWh_it"), 1.25, q(intensity, "kgCO2e/kWh_facility")).magnitude
    restated = emissions(
        q(energy * units.scale("kWh_it", energy_unit), energy_unit),
        1.25,
        q(intensity * units.scale("kgCO2e/kWh_facility", intensity_unit), intensity_unit),
    ).magnitude
    assert math.isclose(canonical, restated, rel_tol=1e-12)


@given(numbers, energies, energies)
def test_conversion_there_and_back(value, first, second):
    assert math.isclose(units.scale(first, second) * units.scale(second, first), 1.0, rel_tol=1e-14)
    there = q(value, first).m_as(units.parse_unit(second))
    assert math.isclose(there, value * units.scale(first, second), rel_tol=1e-12)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200), readable)
def test_written_and_read_back(value, spelling):
    text, unit = spelling
    reading = units.read(f"{value!r} {text}", unit)
    assert reading.value.magnitude == value
    assert units.parse_unit(units.to_json(reading.value)["unit"]) == reading.value.units


@given(numbers, energies)
def test_what_people_see_can_be_pasted_back(value, unit):
    amount = q(value, unit)
    text = units.display(amount, digits=17).replace("\u202f", "_")
    if re.search(r"(^|[0-9])_|\b(mWh|mJ)\b", text.split(" ")[0]) or "mWh" in text or "mJ" in text:
        return  # thousands before the last step of the ladder, and milli, which the reader refuses
    assert math.isclose(units.read(text, unit).value.m, value, rel_tol=1e-12)


@given(
    st.text(max_size=120), st.sampled_from(["kWh_it", "chip", "", "degC", "gCO2e/kWh_facility", "kWh_facility/kWh_it"])
)
def test_arbitrary_text_gives_a_number_of_the_grammar_or_a_stated_error(text, unit):
    try:
        reading = units.read(text, unit)
    except (QuantityTextError, UnitError) as error:
        assert "\n" not in str(error)
    else:
        assert NUMBER.match(text.strip())
        assert math.isfinite(reading.value.magnitude)


@given(st.text(alphabet="0123456789.,eE+-_*^/ kMWhgCO2e()$€µ%·tpersdaychip", max_size=60))
def test_text_of_near_misses(text):
    for unit in ("kWh_it", "chip"):
        try:
            reading = units.read(text, unit)
        except (QuantityTextError, UnitError):
            continue
        stripped = text.strip()
        number = NUMBER.match(stripped)
        assert number
        rest = " ".join(stripped[number.end() :].split())
        assert "," not in text
        assert rest == "" or all(
            part.strip("() ") in spellings() or part in spellings()
            for part in re.split(r"\s*(?:[*/·]|\bper\b)\s*", rest)
            if part
        )
        assert math.isfinite(reading.value.magnitude)


@given(st.text(max_size=80))
def test_unit_texts_never_hang_or_escape(text):
    try:
        units.parse_unit(text)
    except UnitError as error:
        assert "\n" not in str(error)


@given(st.from_regex(r"\A[a-z][a-z0-9]{0,8}(_[a-z0-9]{1,8}){0,5}\Z"))
def test_any_column_name_has_a_known_unit_or_none(name):
    try:
        said = units.unit_of_column(name)
    except UnitError:
        return
    if said is not None:
        units.check_column_unit(name, said)


@st.composite
def ranges(draw):
    low, value, high = sorted(draw(st.tuples(*[st.floats(-1e6, 1e6)] * 3)))
    return Range(value, low, high) if draw(st.booleans()) else Range(value)


@given(st.lists(ranges(), max_size=6))
def test_sum_encloses_and_does_not_depend_on_order(parts):
    total = Range.sum(parts)
    assert total == Range.sum(reversed(parts))
    assert total.known == all(part.known for part in parts)


@given(ranges(), ranges())
def test_product_encloses_and_commutes(a, b):
    assert a * b == b * a
    assert (a * b).known == (a.known and b.known)


bases = st.builds(Basis, **{name: st.sampled_from((None, *allowed)) for name, allowed in BASIS_VALUES.items()})


@given(bases, bases)
def test_bases_combine_the_same_both_ways(a, b):
    differs = [n for n in BASIS_VALUES if getattr(a, n) and getattr(b, n) and getattr(a, n) != getattr(b, n)]
    if differs:
        with pytest.raises(BasisError):
            combine(a, b)
        assert combine(a, b, mix="m") == combine(b, a, mix="m")
        assert combine(a, b, mix="m").mix == "m"
    else:
        assert combine(a, b) == combine(b, a)


def test_errors_share_one_base():
    assert issubclass(UnitError, EnergyError)
    assert issubclass(QuantityTextError, EnergyError)
