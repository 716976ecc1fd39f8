"""Quantities with unit and measurement boundary: one registry, reading, checking, words.

The measurement boundary is a part of the unit, as a tag that multiplies: ``kWh_chip``, ``kWh_it``, ``kWh_facility``,
``kWh_generation``. See ``docs/units.md``.
"""

from __future__ import annotations

from energy.units.boundaries import as_purchased, counted_at
from energy.units.columns import check_column_unit, is_instant_column, unit_of_column
from energy.units.decorator import UnitFunction, takes
from energy.units.reading import Reading, read
from energy.units.registry import (
    DEFINITION_FILE,
    Quantity,
    dimension,
    is_offset,
    parse_unit,
    quantity,
    root_factor,
    same_dimension,
    scale,
    takes_bare_number,
    unit_text,
    ureg,
)
from energy.units.steps import missing_step
from energy.units.words import display, on_ladder, to_json, words

__all__ = [
    "DEFINITION_FILE",
    "Quantity",
    "Reading",
    "UnitFunction",
    "as_purchased",
    "check_column_unit",
    "counted_at",
    "dimension",
    "display",
    "is_instant_column",
    "is_offset",
    "missing_step",
    "on_ladder",
    "parse_unit",
    "quantity",
    "read",
    "root_factor",
    "same_dimension",
    "scale",
    "takes",
    "takes_bare_number",
    "to_json",
    "unit_of_column",
    "unit_text",
    "ureg",
    "words",
]
