"""Numbers for people: the golden table of the visual design, and rules that hold for every value."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import UnknownNameError
from energy.report import numbers
from energy.report.numbers import MINUS, THIN

CASES = Path(__file__).parents[1] / "golden" / "number_cases.csv"


def cases(rule):
    with CASES.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["rule"] == rule]


def number(text):
    return Decimal(text) if text else None


@pytest.mark.parametrize("row", cases("figure"), ids=lambda row: f"{row['value']}{row['family']}")
def test_figure_is_as_in_the_golden_table(row):
    low, high = number(row["low_or_base"]), number(row["high"])
    got = numbers.figure(number(row["value"]), low, high, row["family"])
    assert got == (row["text"], row["unit"], row["range_text"])


@pytest.mark.parametrize("row", cases("change"), ids=lambda row: row["text"])
def test_change_is_as_in_the_golden_table(row):
    assert numbers.change(number(row["value"]), number(row["low_or_base"])) == row["text"]


@pytest.mark.parametrize("row", cases("share"), ids=lambda row: row["text"])
def test_share_is_as_in_the_golden_table(row):
    assert numbers.share(number(row["value"]), number(row["low_or_base"])) == row["text"]


def test_floats_give_the_same_text_as_decimals():
    assert numbers.figure(909e6, 842e6, 981e6, "Wh") == numbers.figure(
        Decimal("909e6"), Decimal("842e6"), Decimal("981e6"), "Wh"
    )


def test_half_rounds_away_from_zero_on_both_sides():
    assert numbers.plain(Decimal("0.5"), 0) == "1"
    assert numbers.plain(Decimal("-2.5"), 0) == f"{MINUS}3"
    assert numbers.plain(2.675, 2) == "2.68"


def test_thousands_are_grouped_and_a_rounded_zero_has_no_sign():
    assert numbers.plain(1234567, 0) == f"1{THIN}234{THIN}567"
    assert numbers.plain(Decimal("-0.001"), 1) == "0.0"
    assert numbers.plain(0, 1, sign=True) == "0.0"


def test_an_unknown_family_is_named_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Nearest: Wh"):
        numbers.step(1, "wh")


@given(st.decimals(min_value=Decimal("0.01"), max_value=Decimal("1e14"), places=3))
def test_prefix_keeps_the_value_between_1_and_1000(value):
    factor, _ = numbers.step(value, "Wh")
    assert Decimal("0.999") <= value / factor < 1000 or factor in (Decimal("1e12"), Decimal("1e-3"))


@given(st.decimals(min_value=-(10**15), max_value=10**15, places=4), st.integers(min_value=-3, max_value=4))
def test_plain_is_within_half_of_its_last_digit(value, decimals):
    text = numbers.plain(value, decimals).replace(THIN, "").replace(MINUS, "-")
    assert abs(Decimal(text) - value) <= Decimal(1).scaleb(-decimals) / 2
