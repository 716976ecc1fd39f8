"""Power of chips and of their usual node in training where only the model FLOPs utilisation is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from energy.catalogue.chips import chip as chip_of
from energy.catalogue.nodes import Node, all_nodes
from energy.power.accelerators import DevicePower, device_power, usual_precision
from energy.power.node import parts_of
from energy.power.node_parts import NodeParts, cooling_kind
from energy.power.phases import phases
from energy.power.training_profile import Utilisation, training_profile


def training_power(chip: str, mfu: Utilisation, wanted: str | None = None) -> DevicePower:
    """Return the mean power of a chip in training from its model FLOPs utilisation.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    mfu : Utilisation
        With its range; the same number thrice where it is reported.
    wanted : str, optional
        Precision; the widest matrix format of the chip without it.

    Returns
    -------
    DevicePower
        Watts ``(1,)``; status ``estimate``.

    Raises
    ------
    PowerError
        The utilisation is out of range, or the watts of the chip are not known.

    Examples
    --------
    >>> found = training_power("nvidia_a100_sxm4_80", Utilisation(0.4, 0.3, 0.5))
    >>> bool(250 < found.power_w[0] < 400)
    True

    """
    name = usual_precision(chip) if wanted is None else wanted
    value, low, high = (_mean(chip, share, name) for share in mfu)
    edges = (
        np.minimum(value.power_low80_w, low.power_low80_w),
        np.maximum(value.power_high80_w, high.power_high80_w),
        np.minimum(value.power_low_w, low.power_low_w),
        np.maximum(value.power_high_w, high.power_high_w),
    )
    return DevicePower(value.device, value.power_w, *edges, f"{value.source}; power_training.csv", "estimate")


def _mean(chip: str, mfu: float, wanted: str) -> DevicePower:
    """Return the mean over the phases of a step; errors of the phases of one chip go together."""
    found = phases(training_profile(mfu))
    watts = device_power(chip, found.states, wanted)
    edges = (watts.power_low80_w, watts.power_high80_w, watts.power_low_w, watts.power_high_w)
    power, low80, high80, low, high = (
        np.asarray((found.shares * one).sum(axis=0), dtype=np.float64) for one in (watts.power_w, *edges)
    )
    return DevicePower(watts.device, power, low80, high80, low, high, watts.source, watts.status)


#: Chips of a node where the catalogue has none: eight on a platform, four beside the host of a cloud's own chip.
_USUAL_COUNT, _CLOUD_COUNT = 8, 4
#: A host with so much memory is one of two large processors and not the small server of single cards.
_LARGE_HOST_GB = 256.0


def usual_node(chip: str) -> NodeParts:
    """Return the node that carries a chip in training: the first server of the catalogue that does, else a usual one.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.

    Returns
    -------
    NodeParts
        A server whose chips are joined without switches has none; the host of a cloud's own chips is one of two large
        processors where the catalogue says so.

    Raises
    ------
    UnknownNameError
        The chip is not known; the message gives the nearest names.

    Examples
    --------
    >>> usual_node("nvidia_h100_sxm5_80").name, usual_node("nvidia_v100_sxm2_16").switch_gb_per_s
    ('dgx_h100', 0.0)
    >>> usual_node("google_tpu_v4").host_class, usual_node("google_tpu_v3").host_class
    ('half_platform', 'server')

    """
    known = chip_of(chip)
    cloud = known.form_factor == "cloud only"
    found = next((one for one in all_nodes() if _carries(one, known.chip_id)), None)
    if found is None:
        return parts_of(chip=known.chip_id, chips_per_node=_CLOUD_COUNT if cloud else _USUAL_COUNT)
    if cloud and (found.host_cpu_count or 0) >= 2 and (found.host_dram_gb or 0.0) >= _LARGE_HOST_GB:
        return parts_of(
            chip=known.chip_id,
            chips_per_node=found.accelerator_count or _CLOUD_COUNT,
            cooling=cooling_kind(found.cooling) or None,
            host_class="half_platform",
        )
    parts = parts_of(found.node_id)
    if "switch" in found.scale_up_interconnect.casefold():
        return parts
    return replace(parts, switch_gb_per_s=0.0)


def _carries(node: Node, chip_id: str) -> bool:
    return node.kind == "server" and node.accelerator_chip_id == chip_id and node.host_cpu != ""
