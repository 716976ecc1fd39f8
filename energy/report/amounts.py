"""Exact sums with their range, and the rule that two accounting bases are never added unsaid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from energy.errors import BasisError
from energy.provenance import Basis, combine_all, factor_basis
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


def basis_of(row: LedgerRow) -> Basis:
    """Return the accounting basis of a row of factors.

    Examples
    --------
    >>> row = {"boundary": "direct", "factor_attribution": "production", "gases": "CO2e", "gwp_set": "AR5"}
    >>> basis_of(row).words
    'direct, production, CO2e, AR5'

    """
    return factor_basis(row["boundary"], row["factor_attribution"], row["gases"], row["gwp_set"])


def not_added_or_total(
    rows: Sequence[LedgerRow], quantity: str, bases: Sequence[Basis] = (), named: str = ""
) -> Amount:
    """Add, or say which bases forbid it; ``named`` is the setting ``basis_mix``."""
    try:
        combine_all(bases, named)
    except BasisError as error:
        return Amount(None, mark="not added", reason=str(error))
    return total(rows, quantity)
