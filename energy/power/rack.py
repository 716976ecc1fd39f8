"""Power of a rack at its input: nodes, switches, and what the rack itself adds.

What is IT and what is the facility's: nodes, switches, shelves of supplies, fans and the pumps *inside* the rack are
fed by the rack and belong to IT, so they stand below the PUE. Distribution units that feed several racks, their pumps,
chillers and fans of the room belong to the facility, and the PUE holds them. Liquid cooling therefore takes the power
of fans out of IT and puts part of it into the facility: the PUE of a liquid-cooled site is not comparable with that of
an air-cooled one, total energy is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import PowerError
from energy.power.node import NodePower
from energy.power.node_parts import term
from energy.power.states import Bands
from energy.units import takes

Numbers = NDArray[np.float64]


@takes(
    "W_it",
    power_nodes="W_it",
    power_switches="W_it",
    shelf_efficiency="",
    cooling_share="",
)
def rack_input(power_nodes: Any, power_switches: Any, shelf_efficiency: Any, cooling_share: Any) -> Any:
    """Return the power of a rack at its input.

    Parameters
    ----------
    power_nodes : Quantity, W_it
        Sum of its nodes at their plugs: at the busbar, where a shelf of the rack feeds them.
    power_switches : Quantity, W_it
        Switches in the rack at their plugs.
    shelf_efficiency : float or array, 0 to 1
        Output over input of supplies of the rack; 1 where nodes take AC themselves.
    cooling_share : float or array
        Pumps and fans of the rack itself over the watts of nodes and switches.

    Returns
    -------
    Quantity, W_it
        Rises with every watt; never below their sum.

    Raises
    ------
    UnitError
        Watts of chips are given where those of a plug are wanted.

    Notes
    -----
    P = (nodes + switches)(1 + c) / efficiency.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(rack_input(quantity(80.0, "kW_it"), quantity(10.0, "kW_it"), 0.9, 0.0).to("kW_it"))
    100.0 kW_it

    """
    return (power_nodes + power_switches) * (1.0 + cooling_share) / shelf_efficiency


@dataclass(frozen=True, slots=True, eq=False)
class RackPower:
    """Watts of a rack at its input with both bands, and its parts at the plug of each; arrays of the nodes' shape."""

    power_it_w: Numbers
    power_it_low80_w: Numbers
    power_it_high80_w: Numbers
    power_it_low_w: Numbers
    power_it_high_w: Numbers
    parts_it_w: dict[str, Numbers]
    source: str
    status: str


def switch_watts(chip_count: int, network_gbit_per_s_per_chip: float, tiers: int = 1) -> float:
    """Return the share of scale-out switches that so many chips need, in W at the switches' plugs.

    Parameters
    ----------
    chip_count : int
        Chips.
    network_gbit_per_s_per_chip : float, Gbit/s
        Rate of the adapters of one chip, one way.
    tiers : int
        Tiers of switches; 1: leaves alone. Each further tier doubles the ports that a chip uses between switches.

    Raises
    ------
    PowerError
        A number is negative, or there is no tier.

    Notes
    -----
    Chips × rate × (2 tiers − 1) × W per Gbit/s of a port. Measured: a leaf that served 64 H100 with 400 Gbit/s each
    drew 691 W (MLPerf Training v4.1); what a submitter of v4.0 estimated for 512 chips is ten times that per chip, so
    optics and tiers decide.

    Examples
    --------
    >>> round(switch_watts(64, 400.0))
    691

    """
    if chip_count < 0 or not network_gbit_per_s_per_chip >= 0.0 or tiers < 1:
        raise PowerError(
            f"{chip_count} chips with {network_gbit_per_s_per_chip:g} Gbit/s in {tiers} tiers: give counts."
        )
    return chip_count * network_gbit_per_s_per_chip * (2 * tiers - 1) * term("fabric_w_per_gbit_per_s").value


def rack_power(
    node: NodePower,
    nodes: int,
    *,
    switches_w: float = 0.0,
    shelf_efficiency: float = 1.0,
    cooling: str = "air",
) -> RackPower:
    """Return the power of a rack of like nodes.

    Parameters
    ----------
    node : NodePower
        One of its nodes: `energy.power.node.node_power`; arrays of any shape.
    nodes : int
        Nodes in the rack.
    switches_w : float, W_it
        Switches in the rack at their plugs: `switch_watts`, or measured.
    shelf_efficiency : float
        Output over input of supplies of the rack that stand before those of the nodes; 1: there are none.
    cooling : str
        air: fans are inside the nodes, the rack adds none; liquid: pumps of a distribution unit inside the rack. A unit
        that stands outside and serves several racks belongs to the facility: say air here, and the PUE holds it.

    Raises
    ------
    PowerError
        There is no node, a power is negative, or the efficiency is not above 0 and up to 1.

    Notes
    -----
    The bands are those of the node: nodes of one kind err together. Switches and pumps add half their watts.

    Examples
    --------
    >>> from energy.power.node import node_power, parts_of
    >>> from energy.power.states import States, state_power
    >>> chips = state_power("nvidia_h100_sxm5_80", States(busy=1.0, compute=0.4, memory=0.3))
    >>> node = node_power(parts_of("DGX H100"), chips)
    >>> rack = rack_power(node, 4, switches_w=1400.0)
    >>> bool(rack.power_it_w > 4 * node.power_it_w), sorted(rack.parts_it_w)
    (True, ['cooling', 'nodes', 'shelf_loss', 'switches'])

    """
    if nodes < 1 or not switches_w >= 0.0:
        raise PowerError(f"A rack of {nodes} nodes with switches of {switches_w:g} W: give at least one node.")
    if not 0.0 < shelf_efficiency <= 1.0:
        raise PowerError(f"The efficiency of the rack's supplies is {shelf_efficiency:g}: give a share up to 1.")
    if cooling not in ("air", "liquid"):
        raise PowerError(f"A rack is cooled by air or liquid, not {cooling!r}: immersion tanks belong to the facility.")
    pumps = term("rack_pump_share").value if cooling == "liquid" else 0.0
    own = nodes * node.power_it_w
    total = np.asarray(rack_input.kernel(own, switches_w, shelf_efficiency, pumps), dtype=np.float64)
    inside = own + switches_w
    parts = {
        "nodes": own,
        "switches": np.full_like(own, switches_w),
        "cooling": inside * pumps,
        "shelf_loss": total - inside * (1.0 + pumps),
    }
    share = own / total
    half = Bands(0.5, 0.5)
    low80, high80, low, high = (
        total * np.exp(sign * np.hypot(share * np.log(edge / node.power_it_w), (1.0 - share) * width))
        for sign, edge, width in (
            (-1.0, node.power_it_low80_w, half.ln80),
            (1.0, node.power_it_high80_w, half.ln80),
            (-1.0, node.power_it_low_w, half.ln95),
            (1.0, node.power_it_high_w, half.ln95),
        )
    )
    return RackPower(total, low80, high80, low, high, parts, f"{node.source}; rack: power_node.csv", "estimate")
