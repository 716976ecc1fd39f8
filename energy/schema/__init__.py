"""The field registry: every column declared once, and what is generated from it."""

from __future__ import annotations

from energy.schema.fields import ATTRIBUTIONS, FIELDS, METHODS, OWNER_KINDS, TIERS
from energy.schema.model import Column, Field, Table
from energy.schema.tables import TABLES, table

__all__ = [
    "ATTRIBUTIONS",
    "FIELDS",
    "METHODS",
    "OWNER_KINDS",
    "TABLES",
    "TIERS",
    "Column",
    "Field",
    "Table",
    "table",
]
