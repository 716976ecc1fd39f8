"""The ledger: DuckDB versions in a folder, ingest, build, query. The only room that imports duckdb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy.lazy import attributes

if TYPE_CHECKING:
    from energy.ledger.diagnosis import doctor
    from energy.ledger.intake import ingest, withdraw
    from energy.ledger.reader import Ledger
    from energy.ledger.start import init

_HOME_OF = {
    "Ledger": "reader",
    "doctor": "diagnosis",
    "ingest": "intake",
    "init": "start",
    "withdraw": "intake",
}
__all__ = ["Ledger", "doctor", "ingest", "init", "withdraw"]

__getattr__, __dir__ = attributes(__name__, _HOME_OF)
