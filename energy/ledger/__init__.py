"""The ledger: DuckDB versions in a folder, ingest, build, query. The only room that imports duckdb."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from energy.ledger.diagnosis import doctor
    from energy.ledger.intake import ingest, withdraw
    from energy.ledger.reader import Ledger
    from energy.ledger.start import init

_PLACES = {
    "Ledger": "energy.ledger.reader",
    "doctor": "energy.ledger.diagnosis",
    "ingest": "energy.ledger.intake",
    "init": "energy.ledger.start",
    "withdraw": "energy.ledger.intake",
}
__all__ = ["Ledger", "doctor", "ingest", "init", "withdraw"]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'energy.ledger' has no attribute {name!r}")
