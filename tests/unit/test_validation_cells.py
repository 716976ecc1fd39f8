"""Cells of published tables: commas between thousands are read, decimal commas are refused, empty is unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy.errors import CostError
from energy.validation.cells import number


@given(value=st.integers(-(10**12), 10**12), decimals=st.integers(0, 3))
def test_a_number_is_the_same_with_and_without_commas_between_thousands(value, decimals):
    exact = value / 10**decimals
    assert number({"x": f"{exact:,.{decimals}f}"}, "x") == pytest.approx(exact)
    assert number({"x": f"{exact:.{decimals}f}"}, "x") == pytest.approx(exact)


@pytest.mark.parametrize("text", ["1,5", "0,25", "12,34,567", "1,2345", ",5", "1.234,5", "one"])
def test_a_comma_elsewhere_is_no_number(text):
    with pytest.raises(CostError, match="no number"):
        number({"x": text}, "x")


@pytest.mark.parametrize("text", ["", " ", "n/a", "NaN", "-", "inf"])
def test_what_is_not_given_is_unknown_and_never_zero(text):
    assert number({"x": text}, "x") is None
