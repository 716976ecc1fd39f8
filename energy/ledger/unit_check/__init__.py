"""Units of SQL: the unit of each column of a query is inferred from the columns' units, never guessed.

Rules and examples are in ``docs/sql_units.md``.
"""

from __future__ import annotations

from energy.ledger.unit_check.inference import ColumnUnit, infer
from energy.ledger.unit_check.scalars import MACRO_STATEMENTS, MACROS
from energy.ledger.unit_check.views import check_view, to_spark

__all__ = ["MACROS", "MACRO_STATEMENTS", "ColumnUnit", "check_view", "infer", "to_spark"]
