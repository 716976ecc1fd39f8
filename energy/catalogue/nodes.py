"""Nodes: servers, racks, pods and cloud instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import fold, index
from energy.errors import UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Node:
    """One node. Powers are of the whole node at its plug, in kW (IT); None is unknown, never zero."""

    node_id: str
    vendor: str
    name: str
    kind: str
    year: int | None
    accelerator_chip_id: str
    accelerator_count: int | None
    host_cpu: str
    host_cpu_count: int | None
    host_dram_gb: float | None
    max_kw: float | None
    typical_kw: float | None
    idle_kw: float | None
    cooling: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str

    @property
    def status(self) -> str:
        """Return ``catalogue``, or ``estimate`` where the whole row is recalled."""
        return "catalogue" if self.confidence == "read" else "estimate"

    def is_recalled(self, field: str) -> bool:
        """Say whether the value of a field is general knowledge that nobody verified.

        Examples
        --------
        >>> node("dgx_1_p100").is_recalled("max_kw")
        True

        """
        return "all" in self.recalled_fields or field in self.recalled_fields


@cache
def all_nodes() -> tuple[Node, ...]:
    """Return all nodes, in the order of the table.

    Examples
    --------
    >>> all_nodes()[0].name
    'DGX-1 (P100)'

    """
    return tuple(_node(row) for row in _tables.rows("nodes"))


def _node(row: _tables.Row) -> Node:
    return Node(
        node_id=row.text("node_id"),
        vendor=row.text("vendor"),
        name=row.text("system"),
        kind=row.text("kind"),
        year=row.maybe_integer("year"),
        accelerator_chip_id=row.text("accelerator_chip_id"),
        accelerator_count=row.maybe_integer("accelerator_count"),
        host_cpu=row.text("host_cpu"),
        host_cpu_count=row.maybe_integer("host_cpu_count"),
        host_dram_gb=row.maybe_number("host_dram_gb"),
        max_kw=row.maybe_number("max_kw"),
        typical_kw=row.maybe_number("typical_kw"),
        idle_kw=row.maybe_number("idle_kw"),
        cooling=row.text("cooling"),
        source=row.words("source"),
        confidence=row.text("confidence"),
        recalled_fields=frozenset(row.words("recalled_fields")),
        note=row.text("note"),
    )


@cache
def _names() -> Mapping[str, str]:
    names = []
    for one in all_nodes():
        names += [(one.node_id, one.node_id), (one.name, one.node_id), (f"{one.vendor} {one.name}", one.node_id)]
        if one.vendor == "Azure":  # bills write the size as Standard_ND96isr_H100_v5
            names.append((f"Standard {one.name}", one.node_id))
    return index(names, "Node")


def node(name: str) -> Node:
    """Return the node that a name means, exactly.

    Raises
    ------
    UnknownNameError
        When the name is not in the catalogue; the message gives the nearest names.

    Examples
    --------
    >>> node("p5.48xlarge").accelerator_chip_id, node("DGX H100").max_kw
    ('nvidia_h100_sxm5_80', 10.2)

    """
    key = fold(name)
    if not key:
        raise UnknownNameError("The node name is empty: give a name of the catalogue.")
    if key not in _names():
        known = [text for one in all_nodes() for text in (one.name, one.node_id)]
        raise UnknownNameError(f"The node {name!r} is not in the catalogue.{did_you_mean(name, known)}")
    return next(one for one in all_nodes() if one.node_id == _names()[key])
