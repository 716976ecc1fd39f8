"""Overhead of nodes of which ``site.yaml`` states none: by the model of a node, following the power of its boards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from energy.errors import EnergyError, SiteFileError
from energy.power.boards import board_parts
from energy.power.node import node_overhead
from energy.power.utilisation import held_power, levels_of


@dataclass(frozen=True, slots=True)
class NodeLine:
    """Plug watts over board watts of one kind of node, as lines in the mean board power p: slope + fixed_w / p.

    Attributes
    ----------
    slope, slope_low, slope_high : float
        Plug watts that come with one more watt at the boards; and of the ends of the 95 % range.
    fixed_w, fixed_low_w, fixed_high_w : float, W
        Plug watts without boards, for one chip.
    value, low, high : float
        The ratio while kernels run.
    source : str
        The node of the catalogue, or the parts that are usual.
    """

    slope: float
    slope_low: float
    slope_high: float
    fixed_w: float
    fixed_low_w: float
    fixed_high_w: float
    value: float
    low: float
    high: float
    source: str


@cache
def node_line(chip_id: str, chips: int, node: str | None = None) -> NodeLine:
    """Return how the plug of a node follows its boards: through bare idle and work, in between a line.

    Parameters
    ----------
    chip_id : str
        Chip of the boards.
    chips : int
        Boards of the node, above 0.
    node : str, optional
        Name of a node of the catalogue; else parts that are usual for such boards.

    Raises
    ------
    SiteFileError
        The model does not know such a node.

    Examples
    --------
    >>> line = node_line("nvidia_h100_sxm5_80", 8)
    >>> line.slope + line.fixed_w / 650 < 1.6 < line.slope + line.fixed_w / 80
    True

    """
    try:
        parts = board_parts(chip_id, chips, node)
        levels = levels_of(chip_id)
        idle_w, running_w, working_w = levels.idle.value, held_power(levels).value, levels.working_w
        rest, usual, work = (node_overhead(parts, power) for power in (idle_w, running_w, working_w))
    except EnergyError as error:
        named = f"node {node}" if node is not None else f"nodes of {chips} {chip_id}"
        raise SiteFileError(f"The overhead of {named} cannot be estimated: {error} State node_overhead.") from error
    lines = [
        _through(idle_w, at_rest, working_w, at_work)
        for at_rest, at_work in (
            (rest.node_overhead, work.node_overhead),
            (rest.node_overhead_low, work.node_overhead_low),
            (rest.node_overhead_high, work.node_overhead_high),
        )
    ]
    (slope, fixed), (slope_low, fixed_low), (slope_high, fixed_high) = lines
    where = f"node {parts.name}" if parts.known else f"parts usual for {parts.host_class}"
    source = f"{chips} {chip_id}: {where}; {parts.source}"
    ends = (usual.node_overhead, usual.node_overhead_low, usual.node_overhead_high)
    return NodeLine(slope, slope_low, slope_high, fixed, fixed_low, fixed_high, *ends, source)


def _through(idle_w: float, at_rest: float, working_w: float, at_work: float) -> tuple[float, float]:
    """Return slope, and plug watts without boards, of the line through two ratios."""
    slope = (working_w * at_work - idle_w * at_rest) / (working_w - idle_w)
    return slope, idle_w * at_rest - slope * idle_w
