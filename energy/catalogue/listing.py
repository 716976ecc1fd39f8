"""The catalogue as rows for people and programs: value, source, status, and what is unverified."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from energy.catalogue.chips import all_chips, chip
from energy.catalogue.factors import all_factors, factor
from energy.catalogue.nodes import all_nodes, node
from energy.catalogue.zones import all_zones, zone
from energy.errors import UnknownNameError, did_you_mean

_Look = tuple[Callable[[], Sequence[Any]], Callable[[str], Any], tuple[str, ...]]
KINDS: dict[str, _Look] = {
    "chips": (all_chips, chip, ("chip_id", "name", "form_factor", "tdp_w", "status")),
    "nodes": (all_nodes, node, ("node_id", "name", "accelerator_count", "accelerator_chip_id", "status")),
    "zones": (all_zones, zone, ("zone_id", "kind", "name", "hourly_zone_id", "status")),
    "factors": (all_factors, factor, ("factor_id", "zone_id", "kind", "year", "value", "unit", "boundary", "status")),
}


def _kind(kind: str) -> _Look:
    if kind not in KINDS:
        near = did_you_mean(kind, KINDS)
        raise UnknownNameError(f"No catalogue of {kind}.{near} Catalogues: {', '.join(KINDS)}.")
    return KINDS[kind]


def entries(kind: str) -> list[dict[str, Any]]:
    """Return all entries of a catalogue with their main columns; None where a value is not known.

    Raises
    ------
    UnknownNameError
        There is no such catalogue.

    Examples
    --------
    >>> entries("chips")[0]["chip_id"]
    'nvidia_p100_sxm2'

    """
    listed, _, columns = _kind(kind)
    return [{name: _plain(getattr(entry, name)) for name in columns} for entry in listed()]


def one(kind: str, name: str) -> list[dict[str, Any]]:
    """Return one entry, field by field, with the status of each: ``recalled`` means unverified.

    Raises
    ------
    UnknownNameError
        With the nearest names; AmbiguousNameError where a name fits several.

    Examples
    --------
    >>> [row["value"] for row in one("chips", "NVIDIA H100 80GB HBM3") if row["field"] == "form_factor"]
    ['SXM5']

    """
    _, look_up, _ = _kind(kind)
    entry = look_up(name)
    recalled = getattr(entry, "recalled_fields", frozenset())
    rows = []
    for field in dataclasses.fields(entry):
        value = _plain(getattr(entry, field.name))
        if field.name in ("recalled_fields",):
            continue
        status = "recalled, unverified" if field.name in recalled or "all" in recalled else ""
        if field.name.startswith("idle_") and field.name.endswith("_w"):
            status = getattr(entry, "idle_status" if field.name == "idle_w" else "idle_range_status", "") or status
        rows.append({"field": field.name, "value": "not known" if value is None else value, "status": status})
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return "; ".join(str(part) for part in value)
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    return value
