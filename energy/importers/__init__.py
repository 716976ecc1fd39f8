"""Readers of outside formats, one file each, found by the entry-point group ``energy.importers``.

An importer turns a file into batches of typed rows with row numbers, and into refused rows with a reason. It knows
nothing of the ledger's tables beyond the field names, and never imports duckdb.
"""

from __future__ import annotations

from energy.importers.base import Batch, Context, HostPeriod, Importer, Reject, importer, importer_names
from energy.importers.base import detect as detect

__all__ = ["Batch", "Context", "HostPeriod", "Importer", "Reject", "importer", "importer_names"]
