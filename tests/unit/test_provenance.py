"""Status, source, range, basis: how they combine."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest

from energy.errors import BasisError, EnergyError
from energy.provenance import (
    BASIS_VALUES,
    Basis,
    Provenance,
    Range,
    Source,
    Status,
    combine,
    combine_all,
    factor_basis,
    merge,
    read_mixes,
    status_of,
    unnamed_mixes,
    weakest,
)


def test_weakest_status_wins_in_any_order():
    order = ["given", "catalogue", "derived", "estimate", "default"]
    assert [status.value for status in Status] == order
    for a, b in itertools.product(range(5), repeat=2):
        assert weakest([order[a], order[b]]).value == order[max(a, b)]


def test_status_errors():
    with pytest.raises(EnergyError, match="Nearest: default"):
        status_of("defualt")
    with pytest.raises(EnergyError, match="no status"):
        weakest([])


def test_source_is_cited_and_recalled_is_said():
    assert Source("x", "Title", recalled=True).cited() == "Title (recalled, unverified)"
    with pytest.raises(EnergyError, match="needs an id"):
        Source("", "Title")


def test_sum_of_correlated_parts_adds_the_ends():
    total = Range(10, 9, 12, 9.5, 11) + Range(1, 0.5, 2, 0.75, 1.5)
    assert total == Range(11.0, 9.5, 14.0, 10.25, 12.5)
    assert Range.sum([]) == Range.exact(0.0)


def test_one_unknown_range_makes_the_sum_unknown():
    total = Range(10, 9, 12, 9.5, 11) + Range(1, 0.5, 2)
    assert (total.low, total.high, total.low80, total.high80) == (9.5, 14.0, None, None)
    unknown = total + Range(1)
    assert not unknown.known
    assert unknown.value == 12.0


def test_product():
    assert Range(2, 1, 3) * Range(10, 8, 12) == Range(20, 8, 36)
    assert Range(2, 1, 3) * 10 == 10 * Range(2, 1, 3) == Range(20, 10, 30)
    assert Range(2, 1, 3) * -1 == Range(-2, -3, -1)
    assert Range(1, -1, 2) * Range(1, -2, 3) == Range(1, -4, 6)
    assert not (Range(2, 1, 3) * Range(4)).known


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((1, 2, 3), "enclose"),
        ((4, 2, 3), "enclose"),
        ((1, 0, None), "both ends"),
        ((math.nan,), "None"),
        ((1, -math.inf, 2), "None"),
        ((1, 0.5, 2, 0.4, 1.5), "enclose"),
        ((1, 0.5, 2, 0.6, None), "both ends"),
    ],
)
def test_ranges_that_are_none(arguments, says):
    with pytest.raises(EnergyError, match=says):
        Range(*arguments)


def test_range_refuses_other_things():
    with pytest.raises(TypeError):
        Range(1, 0, 2) + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        Range(1, 0, 2) * True  # type: ignore[operator]


@pytest.mark.parametrize("name", BASIS_VALUES)
def test_every_field_of_a_basis_raises_and_can_be_mixed_by_name(name):
    first, second, *_ = BASIS_VALUES[name]
    a, b = Basis(**{name: first}), Basis(**{name: second})
    with pytest.raises(BasisError) as caught:
        combine(a, b)
    message = str(caught.value)
    assert name in message
    assert first in message
    assert second in message
    assert "mix=" in message
    mixed = combine(b, a, mix="on purpose")
    assert getattr(mixed, name) == f"{first} + {second}"
    assert mixed.described().endswith(f"{first} + {second} (mix: on purpose)")
    assert combine(a, a) == a
    assert combine(a, Basis()) == combine(Basis(), a) == a


def test_a_named_mix_takes_its_own_parts_without_a_new_name():
    mixed = combine(Basis(gwp_set="AR5"), Basis(gwp_set="AR6"), mix="two sets")
    assert combine(mixed, Basis(gwp_set="AR5")) == mixed
    assert combine(Basis(gwp_set="AR6"), mixed) == mixed
    with pytest.raises(BasisError):
        combine(mixed, Basis(gwp_set="AR4"))


def test_a_name_without_a_difference_is_no_mix():
    assert combine(Basis(gwp_set="AR5"), Basis(boundary="direct"), mix="unused").mix is None


def test_basis_values_are_checked():
    with pytest.raises(BasisError, match="Nearest: AR5"):
        Basis(gwp_set="ar5")
    with pytest.raises(BasisError, match="without a name"):
        Basis(gwp_set="AR5 + AR6")


def test_merge():
    made = merge(
        [
            Provenance(Status.GIVEN, ("a",), Basis(gwp_set="AR6"), notes=("CO2 only",)),
            Provenance(Status.ESTIMATE, ("b", "a"), Basis(boundary="direct"), recalled=True, notes=("CO2 only", "x")),
        ]
    )
    assert made == Provenance(
        Status.ESTIMATE, ("a", "b"), Basis(gwp_set="AR6", boundary="direct"), recalled=True, notes=("CO2 only", "x")
    )
    with pytest.raises(BasisError):
        merge([Provenance("given", basis=Basis(water="consumed")), Provenance("given", basis=Basis(water="withdrawn"))])
    with pytest.raises(EnergyError):
        merge([])


def test_provenance_needs_neither_numpy_nor_pint():
    code = "import sys, energy.provenance; print([m for m in ('pint', 'numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- the mixes that a setting names ---
AIB = factor_basis("direct", "consumption", "CO2 only", "none")
GREEN_E = factor_basis("direct", "production", "CO2 only", "none")
EGRID = factor_basis("direct", "production", "CO2e", "AR5")
WORLD = factor_basis("lifecycle", "production", "CO2e", "unstated")


@pytest.mark.parametrize(
    ("bases", "needed"),
    [
        ((EGRID, EGRID), ()),
        ((AIB, GREEN_E), ("production+consumption",)),
        ((EGRID, WORLD), ("AR5+unstated", "direct+lifecycle")),
        ((GREEN_E, EGRID), ("CO2 only+CO2e",)),
    ],
)
def test_a_sum_needs_each_mix_named(bases, needed):
    assert unnamed_mixes(bases, "") == needed
    assert unnamed_mixes(bases, ", ".join(needed)) == ()
    for left_out in range(len(needed)):
        some = ", ".join(mix for place, mix in enumerate(needed) if place != left_out)
        assert unnamed_mixes(bases, some) == (needed[left_out],)
        with pytest.raises(BasisError, match="Name the mix in basis_mix"):
            combine_all(bases, some)
    whole = combine_all(bases, ", ".join(needed))
    assert bool(whole.mix) == bool(needed)


def test_methods_never_mix_whatever_is_named():
    two = (Basis(method="location"), Basis(method="market"))
    assert unnamed_mixes(two, "location+market") == ("location+market",)


@pytest.mark.parametrize(("text", "words"), [("direct+lifecycel", "Nearest: lifecycle"), ("direct", "joins nothing")])
def test_a_setting_that_names_no_mix_is_refused(text, words):
    with pytest.raises(BasisError, match=words):
        read_mixes(text)
