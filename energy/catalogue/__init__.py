"""Typed readers of ``datasets/``: hardware, models, prices, grid zones, factors and hourly intensity.

Names are loaded when they are first used (PEP 562), so importing this package reads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy.lazy import attributes

if TYPE_CHECKING:
    from energy.catalogue.chips import Chip, all_chips, chip, chip_aliases, chip_dialects
    from energy.catalogue.cloud import (
        CloudRegion,
        CloudYear,
        all_cloud_regions,
        all_cloud_years,
        cloud_region,
        cloud_region_by_name,
        cloud_years,
    )
    from energy.catalogue.electricity_prices import (
        ElectricityPrice,
        all_electricity_prices,
        electricity_price,
        electricity_prices_for,
    )
    from energy.catalogue.factors import Factor, all_factors, factor, factors_for
    from energy.catalogue.grid_losses import Losses, all_losses, losses
    from energy.catalogue.hourly import IntensityHours, hours, hours_available
    from energy.catalogue.links import Link, all_links, link
    from energy.catalogue.marginal import MarginalProfile, MarginalSet, all_marginal, marginal_profile, marginal_set
    from energy.catalogue.memories import Memory, all_memories, memory
    from energy.catalogue.models import Model, all_models, model
    from energy.catalogue.nodes import Node, all_nodes, node
    from energy.catalogue.operations import (
        AchievedRate,
        Operation,
        achieved,
        all_achieved,
        all_operations,
        operation,
        operations_for,
    )
    from energy.catalogue.parameters import Parameters, cache_bytes_per_token, parameters_of
    from energy.catalogue.prices import Price, all_prices, price, prices_for
    from energy.catalogue.profiles import (
        IntensityProfile,
        IntensitySet,
        all_profiles,
        intensity_set,
        intensity_sets,
        profile,
    )
    from energy.catalogue.software import SoftwareGain, all_software_gains, software_gain
    from energy.catalogue.sources import Source, all_sources, source
    from energy.catalogue.zones import Zone, ZoneMatch, all_zones, zone, zone_match, zones_by_id

_HOMES = {
    "chips": ("Chip", "all_chips", "chip", "chip_aliases", "chip_dialects"),
    "cloud": (
        "CloudRegion",
        "CloudYear",
        "all_cloud_regions",
        "all_cloud_years",
        "cloud_region",
        "cloud_region_by_name",
        "cloud_years",
    ),
    "electricity_prices": (
        "ElectricityPrice",
        "all_electricity_prices",
        "electricity_price",
        "electricity_prices_for",
    ),
    "factors": ("Factor", "all_factors", "factor", "factors_for"),
    "hourly": ("IntensityHours", "hours", "hours_available"),
    "links": ("Link", "all_links", "link"),
    "grid_losses": ("Losses", "all_losses", "losses"),
    "marginal": ("MarginalProfile", "MarginalSet", "all_marginal", "marginal_profile", "marginal_set"),
    "memories": ("Memory", "all_memories", "memory"),
    "models": ("Model", "all_models", "model"),
    "nodes": ("Node", "all_nodes", "node"),
    "operations": (
        "AchievedRate",
        "Operation",
        "achieved",
        "all_achieved",
        "all_operations",
        "operation",
        "operations_for",
    ),
    "parameters": ("Parameters", "cache_bytes_per_token", "parameters_of"),
    "prices": ("Price", "all_prices", "price", "prices_for"),
    "profiles": ("IntensityProfile", "IntensitySet", "all_profiles", "intensity_set", "intensity_sets", "profile"),
    "software": ("SoftwareGain", "all_software_gains", "software_gain"),
    "sources": ("Source", "all_sources", "source"),
    "zones": ("Zone", "ZoneMatch", "all_zones", "zone", "zone_match", "zones_by_id"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AchievedRate",
    "Chip",
    "CloudRegion",
    "CloudYear",
    "ElectricityPrice",
    "Factor",
    "IntensityHours",
    "IntensityProfile",
    "IntensitySet",
    "Link",
    "Losses",
    "MarginalProfile",
    "MarginalSet",
    "Memory",
    "Model",
    "Node",
    "Operation",
    "Parameters",
    "Price",
    "SoftwareGain",
    "Source",
    "Zone",
    "ZoneMatch",
    "achieved",
    "all_achieved",
    "all_chips",
    "all_cloud_regions",
    "all_cloud_years",
    "all_electricity_prices",
    "all_factors",
    "all_links",
    "all_losses",
    "all_marginal",
    "all_memories",
    "all_models",
    "all_nodes",
    "all_operations",
    "all_prices",
    "all_profiles",
    "all_software_gains",
    "all_sources",
    "all_zones",
    "cache_bytes_per_token",
    "chip",
    "chip_aliases",
    "chip_dialects",
    "cloud_region",
    "cloud_region_by_name",
    "cloud_years",
    "electricity_price",
    "electricity_prices_for",
    "factor",
    "factors_for",
    "hours",
    "hours_available",
    "intensity_set",
    "intensity_sets",
    "link",
    "losses",
    "marginal_profile",
    "marginal_set",
    "memory",
    "model",
    "node",
    "operation",
    "operations_for",
    "parameters_of",
    "price",
    "prices_for",
    "profile",
    "software_gain",
    "source",
    "zone",
    "zone_match",
    "zones_by_id",
]

__getattr__, __dir__ = attributes(__name__, _HOME_OF)
