"""Exact sums with their range, and the rule that two accounting bases are never added unsaid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from energy.report.model import Mark

LedgerRow: TypeAlias = Mapping[str, Any]

ZERO = Decimal(0)
_RATIO_STEP = Decimal("1e-12")

# Name of a quantity -> columns of value, low and high, and its unit.
QUANTITIES: dict[str, tuple[str, str, str, str]] = {
    "energy_chip": ("energy_chip_kwh", "energy_chip_low_kwh", "energy_chip_high_kwh", "kWh_chip"),
    "energy_it": ("energy_it_kwh", "energy_it_low_kwh", "energy_it_high_kwh", "kWh_it"),
    "energy_facility": (
        "energy_facility_kwh",
        "energy_facility_low_kwh",
        "energy_facility_high_kwh",
        "kWh_facility",
    ),
    "emissions": ("emissions_kgco2e", "emissions_low_kgco2e", "emissions_high_kgco2e", "kgCO2e"),
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum with its range; ``value`` is ``None`` where nothing is known, and ``mark`` and ``reason`` say why."""

    value: Decimal | None
    low: Decimal | None = None
    high: Decimal | None = None
    mark: Mark = ""
    reason: str = ""

    def over(self, divisor: Decimal | None, factor: int = 1) -> Amount:
        """Return this amount per something, to 12 decimals."""
        if self.value is None:
            return self
        if not divisor:
            return Amount(None, mark="not applicable", reason="There is nothing to divide by.")
        return Amount(
            ratio(self.value * factor, divisor),
            None if self.low is None else ratio(self.low * factor, divisor),
            None if self.high is None else ratio(self.high * factor, divisor),
        )


def ratio(part: Decimal, whole: Decimal) -> Decimal:
    """Divide and keep 12 decimals, so that the quotient is the same everywhere.

    Examples
    --------
    >>> ratio(Decimal(1), Decimal(3))
    Decimal('0.333333333333')

    """
    return (part / whole).quantize(_RATIO_STEP)


def add(rows: Iterable[LedgerRow], column: str) -> Decimal | None:
    """Add a column exactly; ``None`` where no row has a value, which is not zero.

    Examples
    --------
    >>> add([{"x": Decimal("0.1")}, {"x": None}], "x"), add([{"x": None}], "x")
    (Decimal('0.1'), None)

    """
    known = [row[column] for row in rows if row[column] is not None]
    return sum(known, ZERO) if known else None


def total(rows: Sequence[LedgerRow], quantity: str) -> Amount:
    """Add a quantity and the ends of its range.

    The ends are added as if every error had one direction: the widest range that the lines allow.
    """
    value_column, low_column, high_column, _ = QUANTITIES[quantity]
    value = add(rows, value_column)
    if value is None:
        why = "The lines have chip-hours and no known energy." if rows else "The ledger has no lines here."
        return Amount(None, mark="no data", reason=why)
    low, high = add(rows, low_column), add(rows, high_column)
    if low is None or high is None or not low <= value <= high:
        return Amount(value)  # lines without a range among the others: the ends would be too small
    return Amount(value, low, high)


@dataclass(frozen=True, slots=True, order=True)
class FactorBasis:
    """What units cannot see of a factor: two of them are added only when the mix is named."""

    boundary: str
    gases: str
    gwp_set: str

    @classmethod
    def of(cls, row: LedgerRow) -> FactorBasis:
        """Read the basis of a row of factors."""
        return cls(row["boundary"] or "not stated", gas_class(row["gases"]), row["gwp_set"] or "not stated")

    @property
    def text(self) -> str:
        """The basis in words."""
        sets = "no GWP set needed" if self.gases == "CO2 only" else f"GWP set {self.gwp_set}"
        return f"{self.boundary}, {self.gases}, {sets}"


def gas_class(gases: str | None) -> str:
    """Say whether a factor holds CO2 alone or also the other gases.

    Examples
    --------
    >>> gas_class("CO2"), gas_class("CO2, CH4, N2O"), gas_class("CO2e"), gas_class(None)
    ('CO2 only', 'CO2e', 'CO2e', 'not stated')

    """
    if not gases:
        return "not stated"
    return "CO2 only" if re.fullmatch(r"co2( only)?", gases.strip(), re.IGNORECASE) else "CO2e"


def mixes(bases: Iterable[FactorBasis]) -> tuple[str, ...]:
    """Name the mixes that adding these bases would make; empty when they agree.

    Potentials of gases matter only where there are other gases than CO2.

    Examples
    --------
    >>> mixes([FactorBasis("direct", "CO2e", "AR5"), FactorBasis("lifecycle", "CO2e", "AR5")])
    ('direct+lifecycle',)

    """
    found = list(bases)
    parts = (
        {basis.boundary for basis in found if basis.boundary != "not stated"},
        {basis.gases.removesuffix(" only") for basis in found if basis.gases != "not stated"},
        {basis.gwp_set for basis in found if basis.gases != "CO2 only" and re.fullmatch(r"AR\d", basis.gwp_set)},
    )
    return tuple("+".join(sorted(part)) for part in parts if len(part) > 1)


def unnamed_mixes(found: Iterable[str], allowed: str) -> tuple[str, ...]:
    """Return the mixes that the setting ``basis_mix`` does not name.

    Examples
    --------
    >>> unnamed_mixes(["direct+lifecycle"], ""), unnamed_mixes(["direct+lifecycle"], "direct+lifecycle, AR5+AR6")
    (('direct+lifecycle',), ())

    """
    named = {word.lower() for word in re.split(r"[+,;\s]+", allowed) if word}
    return tuple(mix for mix in found if not {part.lower() for part in mix.split("+")} <= named)


def not_added_or_total(rows: Sequence[LedgerRow], quantity: str, blocked: Sequence[str] = ()) -> Amount:
    """Add, or say which mixes of bases forbid it."""
    if not blocked:
        return total(rows, quantity)
    return Amount(
        None,
        mark="not added",
        reason=f"Not added: the factors mix {', '.join(blocked)}. Name the mix in basis_mix of site.yaml to add them.",
    )
