"""Which reconciliations do not agree: lines are rounded to 12 decimals, so a sum may differ by a trace."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from energy.report.amounts import ZERO
from energy.report.facts import QuarterFacts

_ABSOLUTE = Decimal("1e-6")
_RELATIVE = Decimal("1e-9")
_PAIRS = (("difference_chip_h", "accounted_chip_h"), ("difference_energy_chip_kwh", "owned_energy_chip_kwh"))


def disagreeing(facts: QuarterFacts) -> list[dict[str, Any]]:
    """Return the rows of site and month whose two sides differ by more than rounding."""
    return [row for row in facts.reconciliation if any(_apart(row[part], row[whole]) for part, whole in _PAIRS)]


def _apart(difference: Decimal | None, whole: Decimal | None) -> bool:
    return difference is not None and abs(difference) > max(_ABSOLUTE, _RELATIVE * abs(whole or ZERO))
