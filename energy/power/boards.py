"""What the ledger and an estimate count as one chip: the device that its readings are of, and the node around it.

Of most chips that is the board with its limit and the curve of states. It is another thing where ``power_devices.csv``
says so: a system at its plug, around which nothing is added; a chip whose maker measured its mean and its most; one of
which nobody published a limit; one that follows events, conversions or a design. Of a superchip whose published limit
is the module's it is the GPU alone, since that is what a board reading covers; the processor then stands around it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from energy.catalogue.chips import chip as chip_of
from energy.errors import PowerError
from energy.power.accelerators import Device, device
from energy.power.node import parts_of
from energy.power.node_parts import NodeParts
from energy.power.scopes import alone_of, superchip

AT_PLUG = "it"


@cache
def board_device(chip: str) -> Device:
    """Return the device that board readings of a chip cover.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.

    Raises
    ------
    UnknownNameError
        The chip is not known; the message gives the nearest names.
    PowerError
        The table has no row of it.

    Examples
    --------
    >>> board_device("nvidia_gh200_96").limit_w.value, board_device("nvidia_gh200_96").device
    (700.0, 'GPU of a module')
    >>> board_device("nvidia_h100_sxm5_80").device
    'board'

    """
    one = device(chip)
    alone = alone_of(one.chip_id)
    if not alone:
        return one
    twin = device(alone)
    return replace(
        one,
        device="GPU of a module",
        limit_w=superchip(one.chip_id).gpu_limit_w,
        idle_w=twin.idle_w,
        like_chip_id=alone,
        source=f"{one.source}; {twin.source}",
        status="estimate",
        note=f"the GPU alone, as {alone}; processor and memory stand around it",
    )


@cache
def is_plain(chip: str) -> bool:
    """Return whether a chip is a board whose own limit and idle power the curve of states takes as they are.

    Examples
    --------
    >>> is_plain("nvidia_h100_sxm5_80"), is_plain("google_tpu_v3"), is_plain("nvidia_gh200_96")
    (True, False, False)

    """
    one, known = board_device(chip), chip_of(chip)
    return (
        one.model == "curve"
        and one.boundary != AT_PLUG
        and one.typical_w is None
        and one.like_chip_id == one.chip_id
        and one.limit_w.value == known.tdp_w
        and known.idle_w is not None
    )


def is_at_plug(chip: str) -> bool:
    """Return whether the watts of a chip are those of a system at its plug, around which no node stands.

    Examples
    --------
    >>> is_at_plug("WSE-3 (CS-3)"), is_at_plug("nvidia_h100_sxm5_80")
    (True, False)

    """
    return board_device(chip).boundary == AT_PLUG


def board_parts(chip: str, chip_count: int, node: str | None = None, *, cooling: str | None = None) -> NodeParts:
    """Return the node around the boards of `board_device`.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    chip_count : int
        Boards of the node, above 0.
    node : str, optional
        A node of the catalogue; else parts that are usual for such boards.
    cooling : str, optional
        air, liquid, immersion or passive, of parts that are usual; without it what the chip needs.

    Returns
    -------
    NodeParts
        Nothing around a system whose watts are at its plug; the processors of superchips around their GPUs.

    Raises
    ------
    UnknownNameError
        The chip or node is not known; the message gives the nearest names.
    PowerError
        The node holds other chips, or another number of them.

    Examples
    --------
    >>> board_parts("nvidia_gh200_96", 2).cpu_count, board_parts("WSE-3 (CS-3)", 1).host_class
    (2.0, 'whole_system')

    """
    chip_id = chip_of(chip).chip_id
    if is_at_plug(chip_id):
        return parts_of(chip=chip_id, chips_per_node=chip_count, host_class="whole_system")
    if node is not None:
        parts = parts_of(node, cooling=cooling)
    else:
        parts = parts_of(chip=chip_id, chips_per_node=chip_count, cooling=cooling)
    if (parts.chip_id, parts.chip_count) != (chip_id, chip_count):
        raise PowerError(f"it holds {parts.chip_count} {parts.chip_id}, not {chip_count} {chip_id}")
    if not alone_of(chip_id):
        return parts
    processor = superchip(chip_id).processor_limit_w.value
    return replace(parts, cpu_count=float(chip_count), cpu_tdp_w=processor)
