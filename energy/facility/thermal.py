"""Thermal classes of air and of liquid: what supply temperature the equipment is made for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from energy.catalogue import _tables

Kind = Literal["air", "liquid"]


@dataclass(frozen=True, slots=True)
class ThermalClass:
    """Bounds of the supply temperature, C; None where a class has no lower one."""

    name: str
    kind: str
    supply_min_c: float | None
    supply_max_c: float
    status: str
    note: str


@cache
def thermal_classes(kind: Kind) -> tuple[ThermalClass, ...]:
    """Return the classes of air or liquid, the coolest upper bound first.

    Examples
    --------
    >>> [one.name for one in thermal_classes("air")][:3]
    ['H1', 'recommended', 'A1']

    """
    found = [
        ThermalClass(
            row.text("class"),
            row.text("kind"),
            row.maybe_number("supply_min_c"),
            row.number("supply_max_c"),
            row.text("status"),
            row.text("note"),
        )
        for row in _tables.rows("facility_thermal_classes")
        if row.text("kind") == kind
    ]
    return tuple(sorted(found, key=lambda one: one.supply_max_c))


def class_needed(kind: Kind, supply_c: float) -> ThermalClass | None:
    """Return the least class whose upper bound allows a supply temperature, or None where none does.

    Parameters
    ----------
    kind : air or liquid
    supply_c : float, C

    Examples
    --------
    >>> class_needed("air", 27.0).name, class_needed("liquid", 32.0).name, class_needed("air", 60.0)
    ('recommended', 'W32', None)

    """
    # classes for special equipment, and of the loop behind the heat exchanger, are another scale
    usual = [one for one in thermal_classes(kind) if one.name[0] not in "HS"]
    return next((one for one in usual if supply_c <= one.supply_max_c), None)
