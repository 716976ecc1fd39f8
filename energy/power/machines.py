"""Power of whole machines as their makers state it: wafer systems, IPU machines, racks, slices of pods, computers.

A machine of which a maximum or a typical power is published needs no model of its parts: idle, typical and greatest
power follow from it, at its plug. What it leaves out (hosts, storage) stands in its note. Where only cards or chips
were added up, the watts stay at the boundary of the chip.
"""

from __future__ import annotations

from dataclasses import dataclass

from energy.catalogue.chips import chip as chip_of
from energy.catalogue.nodes import Node, all_nodes
from energy.catalogue.nodes import node as node_of
from energy.errors import PowerError
from energy.power.accelerators import Span

#: Machines whose published power is that of their cards or chips together, as their notes say.
_CHIPS_ONLY = ("tpu_v4_pod", "c2_server_8")
#: Typical over rated power of a node in training: 0.76 (arXiv 2506.14551), up to 0.82 (arXiv 2412.08602).
TYPICAL = Span(0.76, 0.55, 0.90)
#: Idle over greatest power of a node: 0.22 to 0.33 in logs of H100, H200, B200 and A100 nodes (MLPerf).
IDLE = Span(0.27, 0.12, 0.45)
#: A published typical or greatest power is met within so much.
_PUBLISHED = 0.15


@dataclass(frozen=True, slots=True)
class MachinePower:
    """Watts of a machine in three states with 95 % ranges; ``boundary`` is ``it``, its plug, or ``chip``, its chips."""

    node_id: str
    boundary: str
    chips: int
    idle_w: Span
    typical_w: Span
    greatest_w: Span
    source: str
    status: str
    note: str


def machine_power(name: str) -> MachinePower:
    """Return the power of a machine from what is published of the whole.

    Parameters
    ----------
    name : str
        Any name of a node, rack, pod or computer of the catalogue.

    Raises
    ------
    UnknownNameError
        The machine is not known; the message gives the nearest names.
    PowerError
        Neither its greatest nor its typical power is published.

    Notes
    -----
    Typical is 0.76 (0.55 to 0.90) of the greatest power, idle 0.27 (0.12 to 0.45), where the maker does not say.

    Examples
    --------
    >>> rack = machine_power("GroqRack")
    >>> rack.boundary, rack.chips, rack.typical_w.value, rack.greatest_w.value
    ('it', 72, 29700.0, 35000.0)

    """
    found = node_of(name)
    if found.max_kw is None and found.typical_kw is None:
        raise PowerError(
            f"Neither the greatest nor the typical power of {found.node_id} is published: build it up from its chips "
            "with energy.power.node."
        )
    greatest, typical = _greatest(found), _typical(found)
    idle = _idle(found, greatest)
    return MachinePower(
        node_id=found.node_id,
        boundary="chip" if found.node_id in _CHIPS_ONLY else "it",
        chips=found.accelerator_count or 0,
        idle_w=idle,
        typical_w=typical,
        greatest_w=greatest,
        source="; ".join(found.source),
        status="estimate",
        note=found.note,
    )


def _greatest(found: Node) -> Span:
    if found.max_kw is not None:
        watts = found.max_kw * 1e3
        return Span(watts, max(watts * (1.0 - _PUBLISHED), (found.typical_kw or 0.0) * 1e3), watts)
    watts = (found.typical_kw or 0.0) * 1e3
    return Span(watts / TYPICAL.value, watts / TYPICAL.high, watts / TYPICAL.low)


def _typical(found: Node) -> Span:
    if found.typical_kw is None:
        watts = (found.max_kw or 0.0) * 1e3
        return Span(*(share * watts for share in TYPICAL))
    watts = found.typical_kw * 1e3
    high = watts * (1.0 + _PUBLISHED)
    return Span(watts, watts * (1.0 - _PUBLISHED), high if found.max_kw is None else min(high, found.max_kw * 1e3))


def _idle(found: Node, greatest: Span) -> Span:
    if found.idle_kw is not None:
        watts = found.idle_kw * 1e3
        return Span(watts, watts * (1.0 - _PUBLISHED), watts * (1.0 + _PUBLISHED))
    return Span(*(share * greatest.value for share in IDLE))


def slice_hosts(chip: str, chips: int) -> int:
    """Return the hosts of a slice of a pod: those that carry so many of a cloud's own chips.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    chips : int
        Chips of the slice.

    Raises
    ------
    PowerError
        The catalogue has no host of the chip, or the slice is not made of whole hosts.

    Examples
    --------
    >>> slice_hosts("TPU v5p", 512), slice_hosts("TPU v5e", 256)
    (128, 32)

    """
    known = chip_of(chip)
    carried = [
        one.accelerator_count
        for one in all_nodes()
        if one.kind == "server" and one.accelerator_chip_id == known.chip_id and one.accelerator_count
    ]
    if not carried:
        raise PowerError(f"The catalogue has no host that carries {known.chip_id}: give chips and hosts.")
    each = carried[0] or 1
    if chips < 1 or chips % each:
        raise PowerError(f"A slice of {chips} {known.chip_id} is not made of whole hosts: give a multiple of {each}.")
    return chips // each
