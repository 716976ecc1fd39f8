r"""Power of a node at its plug: chips, and what stands around them, through fans and supplies.

With n chips of watts \(p\), and the watts of processors, memory, adapters, switches and board \(h\), all behind the
supplies, and the share f that fans add:

    P_dc = (n p + h (load)) (1 + f),   P_plug = P_dc + loss of the supplies (P_dc)

Board, node and facility are three boundaries: watts of chips are ``W_chip``, those of a node ``W_it``, and nothing adds
them. Coefficients: ``power_node.csv`` and ``power_node_hosts.csv``, by ``scripts/fit_power_node.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import PowerError
from energy.power.node_parts import NodeParts, catalogue_parts, term, usual_parts
from energy.power.states import Bands, StatePower, _share
from energy.power.supplies import loss_scale, supply_input
from energy.units import takes

Numbers = NDArray[np.float64]
#: Share of the way from idle to full that the processors of a host stand at, where nothing is said: value, low, high.
HOST_LOAD = (0.3, 0.0, 1.0)
#: Load from which memory, adapters, switches and board of a host are awake.
AWAKE_FROM = 0.1


@takes(
    "W_it",
    power_chip="W_chip/chip",
    chip_count="chip",
    power_host="W_chip",
    fan_share="",
    power_rated="W_chip",
    supply_scale="",
    counted="W_it/W_chip",
)
def plug_power(
    power_chip: Any,
    chip_count: Any,
    power_host: Any,
    fan_share: Any,
    power_rated: Any,
    supply_scale: Any,
    counted: Any = 1.0,
) -> Any:
    """Return the power of a node at its plug.

    Parameters
    ----------
    power_chip : Quantity, W_chip/chip
        Mean board power of its chips.
    chip_count : Quantity, chip
        Chips in the node.
    power_host : Quantity, W_chip
        All other parts behind the supplies, without fans.
    fan_share : float or array
        Fans and pumps inside the node over the watts of all other parts.
    power_rated : Quantity, W_chip
        Rating of all its supplies.
    supply_scale : float or array
        Of `energy.power.supplies.loss_scale`.
    counted : Quantity, W_it/W_chip
        1: a watt of a part is counted at the plug.

    Returns
    -------
    Quantity, W_it
        Same shape as the inputs broadcast; rises with every input but the rating.

    Raises
    ------
    UnitError
        An argument is of another boundary: node watts where a chip's are wanted, or the other way round.

    Notes
    -----
    P = (n p + h)(1 + f), then the loss of the supplies.

    Examples
    --------
    >>> from energy.units import quantity
    >>> board, eight = quantity(600.0, "W_chip/chip"), quantity(8.0, "chip")
    >>> host, rated = quantity(1000.0, "W_chip"), quantity(20000.0, "W_chip")
    >>> print(round(plug_power(board, eight, host, 0.0, rated, 1.0), 0))
    6102.0 W_it

    """
    power_dc = (chip_count * power_chip + power_host) * (1.0 + fan_share)
    return supply_input.kernel(power_dc, power_rated, supply_scale, counted)


class HostWatts(NamedTuple):
    """Watts around the chips of a node, behind its supplies, without fans."""

    processors_chip_w: Numbers
    memory_chip_w: Numbers
    network_chip_w: Numbers
    switches_chip_w: Numbers
    board_chip_w: Numbers

    @property
    def total_chip_w(self) -> Numbers:
        """Return their sum."""
        return np.asarray(sum(self), dtype=np.float64)


def host_watts(parts: NodeParts, host_load: ArrayLike = HOST_LOAD[0]) -> HostWatts:
    """Return the watts of processors, memory, adapters, switches and board of a node.

    Parameters
    ----------
    parts : NodeParts
        The node.
    host_load : array, 0 to 1
        Share of the way from idle to full of the processors.

    Raises
    ------
    PowerError
        The load is no share.

    Notes
    -----
    Processors: count × TDP × (idle + load (full − idle)); the idle share dominates. The other parts draw a share of
    their watts at rest and all of them from a little load on: 1 − (1 − rest) exp(−load / 0.1). All times the scale of
    the class.

    Examples
    --------
    >>> watts = host_watts(usual_parts("nvidia_h100_sxm5_80", 8), [0.0, 1.0])
    >>> bool(watts.processors_chip_w[1] < 3 * watts.processors_chip_w[0])
    True

    """
    load = _share("host_load", host_load, 1.0)
    idle, full = term("cpu_idle_fraction").value, term("cpu_full_fraction").value
    scale = parts.scale
    awake = scale * (1.0 - (1.0 - term("host_rest_fraction").value) * np.exp(-load / AWAKE_FROM))
    return HostWatts(
        scale * parts.cpu_count * parts.cpu_tdp_w * (idle + load * (full - idle)),
        awake * parts.dram_gb * term("dram_w_per_gb").value,
        awake * parts.network_gbit_per_s * term("network_w_per_gbit_per_s").value,
        awake * (parts.chip_count if parts.switch_gb_per_s > 0.0 else 0) * term("switch_w_per_chip").value,
        awake * parts.board_w,
    )


@dataclass(frozen=True, slots=True, eq=False)
class NodePower:
    """Watts of a node at its plug with both bands, and its parts behind the supplies; arrays of the chips' shape.

    ``parts_chip_w``: chips, processors, memory, network, switches, board, fans. ``supply_loss_w`` is what is missing to
    the plug.
    """

    power_it_w: Numbers
    power_it_low80_w: Numbers
    power_it_high80_w: Numbers
    power_it_low_w: Numbers
    power_it_high_w: Numbers
    parts_chip_w: dict[str, Numbers]
    supply_loss_w: Numbers
    source: str
    status: str


def parts_of(
    node: str | None = None,
    *,
    chip: str | None = None,
    chips_per_node: int | None = None,
    cooling: str | None = None,
    host_class: str | None = None,
) -> NodeParts:
    """Return a node by its name in the catalogue, or by its chips where the node is not known.

    Raises
    ------
    PowerError
        Neither or both are given.
    UnknownNameError
        A name is not known; the message gives the nearest names.

    Examples
    --------
    >>> parts_of("DGX H100").known, parts_of(chip="nvidia_h100_sxm5_80", chips_per_node=8).known
    (True, False)

    """
    if node is not None:
        if chip is not None or chips_per_node is not None:
            raise PowerError(f"Give the node {node!r}, or chip and chips_per_node, not both.")
        found = catalogue_parts(node)
        if cooling is None and host_class is None:
            return found
        raise PowerError(f"The catalogue says how {node!r} is cooled and built: give chip and chips_per_node instead.")
    if chip is None or chips_per_node is None:
        raise PowerError("A node is a name of the catalogue, or chip and chips_per_node: give one of the two.")
    return usual_parts(chip, chips_per_node, cooling=cooling, host_class=host_class)


def node_power(parts: NodeParts, chips: StatePower, *, host_load: ArrayLike = HOST_LOAD[0]) -> NodePower:
    """Return the power of nodes at the plug from what their chips draw.

    Parameters
    ----------
    parts : NodeParts
        The node: `parts_of`.
    chips : StatePower
        Mean board watts of its chips: `energy.power.states.state_power`; arrays of any shape.
    host_load : array, 0 to 1
        Share of the way from idle to full of the host's processors.

    Returns
    -------
    NodePower
        Status ``derived`` only where chips and node were both measured, else ``estimate``.

    Raises
    ------
    PowerError
        The load of the host is no share.

    Notes
    -----
    The bands join those of the chips and of what stands around them as independent, each by its share of the watts.

    Examples
    --------
    >>> from energy.power.states import States, state_power
    >>> work = States(busy=1.0, compute=0.4, memory=0.3)
    >>> found = node_power(parts_of("DGX H100"), state_power("nvidia_h100_sxm5_80", work))
    >>> bool(6000 < found.power_it_w < 10200), bool(found.power_it_low_w < found.power_it_low80_w < found.power_it_w)
    (True, True)
    >>> sorted(found.parts_chip_w)
    ['board', 'chips', 'fans', 'memory', 'network', 'processors', 'switches']

    """
    if parts.host_class == "whole_system":
        return _whole_system(parts, chips)
    host = host_watts(parts, host_load)
    fan = term(f"fan_share_{parts.cooling}").value
    scale = loss_scale(parts.supply_efficiency)
    at_plug = np.asarray(
        plug_power.kernel(chips.power_chip_w, parts.chip_count, host.total_chip_w, fan, parts.rated_w, scale),
        dtype=np.float64,
    )
    dc = (parts.chip_count * chips.power_chip_w + host.total_chip_w) * (1.0 + fan)
    shape = at_plug.shape
    listed = {
        "chips": np.broadcast_to(parts.chip_count * chips.power_chip_w, shape),
        **{
            name.removesuffix("_chip_w"): np.broadcast_to(np.asarray(value, dtype=np.float64), shape)
            for name, value in host._asdict().items()
        },
        "fans": np.broadcast_to(dc * fan / (1.0 + fan), shape),
    }
    share = listed["chips"] / (listed["chips"] + host.total_chip_w)
    low80, high80, low, high = (
        at_plug * np.exp(sign * np.hypot(share * np.log(edge / chips.power_chip_w), (1.0 - share) * width))
        for sign, edge, width in _edges(chips, parts.bands)
    )
    source = f"{chips.source}; {parts.source}; power_node.csv"
    return NodePower(at_plug, low80, high80, low, high, listed, at_plug - dc, source, "estimate")


def _edges(chips: StatePower, bands: Bands) -> tuple[tuple[float, Numbers, float], ...]:
    return (
        (-1.0, chips.power_chip_low80_w, bands.ln80),
        (1.0, chips.power_chip_high80_w, bands.ln80),
        (-1.0, chips.power_chip_low_w, bands.ln95),
        (1.0, chips.power_chip_high_w, bands.ln95),
    )


def _whole_system(parts: NodeParts, chips: StatePower) -> NodePower:
    """Return the watts of systems whose chip power is that of the whole system at its plug: nothing is added."""
    count = parts.chip_count
    edges = (
        chips.power_chip_w,
        chips.power_chip_low80_w,
        chips.power_chip_high80_w,
        chips.power_chip_low_w,
        chips.power_chip_high_w,
    )
    source = f"{chips.source}; {parts.chip_id}: power is that of the whole system, nothing is added"
    nothing = np.zeros_like(np.asarray(chips.power_chip_w, dtype=np.float64))
    at_plug, low80, high80, low, high = (np.asarray(count * edge, dtype=np.float64) for edge in edges)
    return NodePower(at_plug, low80, high80, low, high, {"chips": at_plug}, nothing, source, "estimate")


@dataclass(frozen=True, slots=True)
class NodeOverhead:
    """Plug watts over board watts of a node (W_it per W_chip), 80 % and 95 % range, and where it comes from."""

    node_overhead: float
    node_overhead_low80: float
    node_overhead_high80: float
    node_overhead_low: float
    node_overhead_high: float
    source: str
    status: str


def node_overhead(parts: NodeParts, power_chip_w: float, *, host_load: float = HOST_LOAD[0]) -> NodeOverhead:
    """Return plug watts over the watts of all boards of a node, at a load of its chips.

    Parameters
    ----------
    parts : NodeParts
        The node: `parts_of`.
    power_chip_w : float, W_chip/chip
        Mean board power of its chips. The ratio falls as it rises, since the host hardly follows.
    host_load : float, 0 to 1
        Share of the way from idle to full of the host's processors.

    Raises
    ------
    PowerError
        The power is not above zero.

    Notes
    -----
    P_plug / (n p). The range is that of what stands around the chips alone: board watts that were read are exact here.
    It starts at 1: a plug cannot deliver less than the boards take.

    Examples
    --------
    >>> node = parts_of(chip="nvidia_h100_sxm5_80", chips_per_node=8)
    >>> busy, idle = node_overhead(node, 650.0), node_overhead(node, 75.0)
    >>> 1.2 < busy.node_overhead < 1.6 < idle.node_overhead
    True

    """
    (value, low80, high80, low, high), found = node_overheads(parts, power_chip_w, host_load=host_load)
    return NodeOverhead(float(value), float(low80), float(high80), float(low), float(high), found.source, found.status)


def node_overheads(
    parts: NodeParts, power_chip_w: ArrayLike, *, host_load: float = HOST_LOAD[0]
) -> tuple[tuple[Numbers, ...], NodePower]:
    """Return plug watts over the watts of all boards, for arrays of board watts; see :func:`node_overhead`.

    Returns
    -------
    tuple
        Value, low80, high80, low and high in W_it per W_chip, each of the shape of the watts; and the node's power.

    Raises
    ------
    PowerError
        A power is not above zero.

    Examples
    --------
    >>> ratios, _ = node_overheads(parts_of(chip="nvidia_h100_sxm5_80", chips_per_node=8), [650.0, 75.0])
    >>> bool(ratios[0][0] < ratios[0][1])
    True

    """
    exact = np.asarray(power_chip_w, dtype=np.float64)
    if not np.all(exact > 0.0):
        least = float(np.min(exact))
        raise PowerError(f"The board power is {least:g} W: the overhead of a node needs chips that draw power.")
    found = node_power(
        parts, StatePower(exact, exact, exact, exact, exact, "board power given", "given"), host_load=host_load
    )
    boards = parts.chip_count * exact
    watts = (
        found.power_it_w,
        found.power_it_low80_w,
        found.power_it_high80_w,
        found.power_it_low_w,
        found.power_it_high_w,
    )
    return tuple(np.maximum(one / boards, 1.0) for one in watts), found
