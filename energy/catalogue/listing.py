"""The catalogue as rows for people and programs: value, source, status, and what is unverified."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from energy.catalogue.chips import all_chips, chip
from energy.catalogue.factors import all_factors, factor
from energy.catalogue.nodes import all_nodes, node
from energy.catalogue.zones import all_zones, zone, zone_match
from energy.errors import AmbiguousNameError, UnknownNameError, did_you_mean

_Look = tuple[Callable[[], Sequence[Any]], Callable[[str], Any], tuple[str, ...]]
KINDS: dict[str, _Look] = {
    "chips": (all_chips, chip, ("chip_id", "name", "form_factor", "tdp_w", "idle_w", "idle_status", "status")),
    "nodes": (all_nodes, node, ("node_id", "name", "accelerator_count", "accelerator_chip_id", "max_kw", "status")),
    "zones": (all_zones, zone, ("zone_id", "kind", "name", "hourly_zone_id", "status")),
    "factors": (all_factors, factor, ("factor_id", "zone_id", "kind", "year", "value", "unit", "boundary", "status")),
}
UNVERIFIED = "recalled, unverified"
_IDLE_STATUS = {"recalled": UNVERIFIED, "default": "default: a rule of thumb", "read": "read"}
_LEGEND = "Status: catalogue, read from its source; derived, computed from values read; estimate, recalled or assumed."


def _kind(kind: str) -> _Look:
    if kind not in KINDS:
        near = did_you_mean(kind, KINDS)
        raise UnknownNameError(f"No catalogue of {kind}.{near} Catalogues: {', '.join(KINDS)}.")
    return KINDS[kind]


def entries(kind: str) -> list[dict[str, Any]]:
    """Return all entries of a catalogue with their main columns; None where a value is not known.

    For chips and nodes ``unverified`` names the fields that are recalled and that nobody verified.

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
    rows = []
    for entry in listed():
        row = {name: _plain(getattr(entry, name)) for name in columns}
        if hasattr(entry, "recalled_fields"):
            row["unverified"] = _plain(entry.recalled_fields)
        rows.append(row)
    return rows


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
    >>> one("zones", "SE3")[0]["status"]
    'part_of'

    """
    _, look_up, _ = _kind(kind)
    try:
        entry = look_up(name)
    except AmbiguousNameError:
        raise
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} All of them: `energy catalogue {kind}`.") from error
    rows = _asked(name) if kind == "zones" else []
    for field in dataclasses.fields(entry):
        if field.name == "recalled_fields":
            continue
        value = _plain(getattr(entry, field.name))
        rows.append({"field": field.name, "value": value, "status": _status(entry, field.name)})
    return rows


def _asked(name: str) -> list[dict[str, Any]]:
    """Return how a place stands to the zone that serves it, where it is not the zone itself."""
    match = zone_match(name)
    if match.relation == "same":
        return []
    return [{"field": "asked", "value": f"{name}: {match.note}".rstrip(": "), "status": match.relation}]


def _status(entry: Any, field: str) -> str:
    if field.startswith("idle_") and field.endswith("_w"):
        given = getattr(entry, "idle_status" if field == "idle_w" else "idle_range_status", "")
        return _IDLE_STATUS.get(given, given)
    recalled: frozenset[str] = getattr(entry, "recalled_fields", frozenset())
    identity = field in ("chip_id", "node_id", "source", "confidence", "note")
    return UNVERIFIED if field in recalled or ("all" in recalled and not identity) else ""


def table_lines(kind: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return entries as aligned lines: header, rows, and what the statuses mean.

    Examples
    --------
    >>> for line in table_lines("chips", [{"chip_id": "a", "tdp_w": 70.0}, {"chip_id": "b", "tdp_w": None}])[:3]:
    ...     print(line)
    chip_id      tdp_w
    a               70
    b        not known

    """
    names = list(rows[0])
    numeric = {name for name in names if any(_is_number(row[name]) for row in rows)}
    cells = [names, *([_text(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    lines = [
        "  ".join(
            text.rjust(width) if name in numeric else text.ljust(width)
            for name, text, width in zip(names, line, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    legend = _LEGEND
    if "idle_status" in names:
        legend += " Idle power: read, recalled, or default (a rule of thumb)."
    if "unverified" in names:
        legend += " Unverified: fields that are recalled and that nobody verified."
    return [*lines, "", legend, f"One entry, with its source: energy catalogue {kind} NAME"]


def entry_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return one entry as lines of text: field, value, status.

    Examples
    --------
    >>> entry_lines([{"field": "tdp_w", "value": None, "status": ""}])
    ['tdp_w  not known']

    """
    width = max(len(row["field"]) for row in rows)
    return [
        f"{row['field']:{width}}  {_text(row['value'])}{'  (' + row['status'] + ')' if row['status'] else ''}".rstrip()
        for row in rows
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    """Return a value for people; years are no amounts and nothing is rounded away."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return "; ".join(str(part) for part in value)
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    return value
