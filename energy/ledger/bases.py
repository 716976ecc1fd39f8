"""Which methods of a ledger stand on several accounting bases that ``basis_mix`` does not name."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Protocol

from energy.provenance import Basis, factor_basis, unnamed_mixes

_BASES = """
SELECT DISTINCT used.method, fact.boundary, fact.factor_attribution, fact.gases, fact.gwp_set
FROM core.factor_hour AS used
JOIN ref.factor AS fact ON fact.factor_id = used.factor_id
"""
_SETTING = "SELECT key_value FROM ref.setting WHERE key_name = 'basis_mix'"


class Reader(Protocol):
    """Whatever answers SQL with rows."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts."""


def mixed_methods(reader: Reader) -> frozenset[str]:
    """Return the methods whose emissions may not be added over all sites and times of this ledger.

    Parameters
    ----------
    reader : Reader
        A published version.

    Examples
    --------
    >>> class One:
    ...     def rows(self, sql):
    ...         words = {"factor_attribution": "production", "gases": "CO2e", "gwp_set": "AR5"}
    ...         found = [{"method": "location", "boundary": b, **words} for b in ("direct", "lifecycle")]
    ...         return found if "factor_hour" in sql else []
    >>> sorted(mixed_methods(One()))
    ['location']

    """
    bases: dict[str, set[Basis]] = defaultdict(set)
    for row in reader.rows(_BASES):
        bases[row["method"]].add(factor_basis(row["boundary"], row["factor_attribution"], row["gases"], row["gwp_set"]))
    named = next((row["key_value"] for row in reader.rows(_SETTING)), "")
    return frozenset(method for method, found in bases.items() if unnamed_mixes(found, named))
