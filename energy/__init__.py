"""The ledger of AI's energy.

Importing this package loads none of its parts (PEP 562): ``import energy`` stays within 0.15 s of bare Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from energy import account, carbon, catalogue, facility, importers, ledger, power, provenance, report, schema, units
    from energy.ledger.reader import open_ledger as open  # noqa: A004, F401

__version__ = "0.1.0"
__all__ = [
    "account",
    "carbon",
    "catalogue",
    "facility",
    "importers",
    "ledger",
    "power",
    "provenance",
    "report",
    "schema",
    "units",
]


if not TYPE_CHECKING:  # a type checker sees the imports above instead

    def __getattr__(name: str) -> Any:
        if name == "open":  # not in __all__: a star import must not hide the built-in one
            return importlib.import_module("energy.ledger.reader").open_ledger
        if name in __all__:
            return importlib.import_module(f"energy.{name}")
        raise AttributeError(f"module 'energy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
