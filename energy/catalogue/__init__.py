"""Typed readers of ``datasets/``: chips, nodes, zones, factors and hourly profiles.

Names are loaded when they are first used (PEP 562), so importing this package reads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from energy.catalogue.chips import Chip, all_chips, chip, chip_aliases, chip_dialects
    from energy.catalogue.factors import Factor, all_factors, factor, factors_for
    from energy.catalogue.nodes import Node, all_nodes, node
    from energy.catalogue.profiles import IntensityProfile, all_profiles, profile
    from energy.catalogue.zones import Zone, ZoneMatch, all_zones, zone, zone_match, zones_by_id

_HOMES = {
    "chips": ("Chip", "all_chips", "chip", "chip_aliases", "chip_dialects"),
    "factors": ("Factor", "all_factors", "factor", "factors_for"),
    "nodes": ("Node", "all_nodes", "node"),
    "profiles": ("IntensityProfile", "all_profiles", "profile"),
    "zones": ("Zone", "ZoneMatch", "all_zones", "zone", "zone_match", "zones_by_id"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Chip",
    "Factor",
    "IntensityProfile",
    "Node",
    "Zone",
    "ZoneMatch",
    "all_chips",
    "all_factors",
    "all_nodes",
    "all_profiles",
    "all_zones",
    "chip",
    "chip_aliases",
    "chip_dialects",
    "factor",
    "factors_for",
    "node",
    "profile",
    "zone",
    "zone_match",
    "zones_by_id",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
