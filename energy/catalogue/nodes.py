"""Nodes: servers, racks, pods and cloud instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import fold, index
from energy.catalogue._records import Verified, build
from energy.errors import UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Node(Verified):
    """One node. Powers are of the whole node at its plug, in kW (IT); None is unknown, never zero.

    For cloud instances no rated power is published: derive it from the chips.
    """

    node_id: str
    vendor: str
    name: str
    kind: str
    year: int | None
    accelerator_chip_id: str
    accelerator_count: int | None
    host_cpu: str
    host_cpu_count: int | None
    vcpu: int | None
    host_dram_gb: float | None
    scale_up_interconnect: str
    scale_up_domain_size: int | None
    nics: str
    scale_out_gbit_per_s_total: float | None
    max_kw: float | None
    typical_kw: float | None
    idle_kw: float | None
    rack_units: float | None
    cooling: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str


@cache
def all_nodes() -> tuple[Node, ...]:
    """Return all nodes, in the order of the table.

    Examples
    --------
    >>> all_nodes()[0].name
    'DGX-1 (P100)'

    """
    return tuple(build(Node, row, {"name": "system"}) for row in _tables.rows("nodes"))


@cache
def _names() -> Mapping[str, str]:
    names = []
    for one in all_nodes():
        names += [(one.node_id, one.node_id), (one.name, one.node_id), (f"{one.vendor} {one.name}", one.node_id)]
        if one.vendor == "Azure":  # bills write the size as Standard_ND96isr_H100_v5
            names.append((f"Standard {one.name}", one.node_id))
        if one.kind == "cloud_instance":  # "f1.16xlarge (8 FPGAs)" is f1.16xlarge in a bill
            names.append((one.name.partition(" (")[0], one.node_id))
    names += [(row.text("alias"), row.text("node_id")) for row in _tables.rows("node_aliases")]
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
