"""What stands around the chips of a node: processors, memory, adapters, switches, board, fans, supplies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from energy.catalogue import _tables
from energy.catalogue.chips import Chip
from energy.catalogue.chips import chip as chip_of
from energy.catalogue.nodes import Node, all_nodes
from energy.catalogue.nodes import node as node_of_catalogue
from energy.errors import PowerError, UnknownNameError, did_you_mean
from energy.power.states import Bands

#: Chips on a board of their own that a switch or a full mesh joins, with two large processors beside them.
_PLATFORM = ("SXM", "SXM2", "SXM4", "SXM5", "OAM", "mezzanine", "custom")
_CARDS = ("PCIe", "PCIe LP", "FPGA")
#: Superchips whose board power already holds the processor and its memory.
_MODULES = ("nvidia_gh200_96", "nvidia_gh200_144")
#: How much wider the range is where nobody says which parts stand around the chips; an estimate.
WIDER_UNKNOWN = 1.3
#: Links that a switch joins inside a node; the first two generations were wired chip to chip.
_SWITCHED_LINKS = ("NVLink 3", "NVLink 4", "NVLink 5", "NVLink 6")
#: Classes whose hosts clouds split into instances; a whole one has about so many virtual processors.
_SHARED_HOSTS = ("server", "server_large", "half_platform")
_VCPU_OF_HOST = 192


class Term(NamedTuple):
    """One coefficient of ``power_node.csv``, with its range and where it comes from."""

    value: float
    low: float
    high: float
    source: str
    status: str


@cache
def terms() -> Mapping[str, Term]:
    """Return the coefficients of the parts of a node.

    Examples
    --------
    >>> terms()["fan_share_air"].value > terms()["fan_share_liquid"].value
    True

    """
    return MappingProxyType(
        {
            row.text("term"): Term(
                row.number("value"),
                row.number("value_low"),
                row.number("value_high"),
                row.text("source"),
                row.text("status"),
            )
            for row in _tables.rows("power_node")
        }
    )


def term(name: str) -> Term:
    """Return one coefficient.

    Raises
    ------
    PowerError
        The table has none of this name.

    Examples
    --------
    >>> term("fan_share_immersion").value
    0.0

    """
    if name not in terms():
        raise PowerError(f"power_node.csv has no term {name}: run scripts/fit_power_node.py.")
    return terms()[name]


@dataclass(frozen=True, slots=True)
class NodeParts:
    """One node: how many chips, and what stands around them.

    Watts of single parts are behind the supplies (boundary ``chip``), the node's are at its plug (``it``).
    ``known`` says that the node is one of the catalogue; else the parts are those that are usual for its
    ``host_class``. ``bands`` are those of the watts around the chips.
    """

    name: str
    chip_id: str
    chip_count: int
    host_class: str
    cpu_count: float
    cpu_tdp_w: float
    dram_gb: float
    network_gbit_per_s: float
    switch_gb_per_s: float
    board_w: float
    scale: float
    cooling: str
    supply_efficiency: float
    rated_w: float
    known: bool
    bands: Bands
    source: str
    status: str


@cache
def _classes() -> Mapping[str, _tables.Row]:
    return MappingProxyType({row.text("host_class"): row for row in _tables.rows("power_node_hosts")})


def host_classes() -> tuple[str, ...]:
    """Return the classes of hosts.

    Examples
    --------
    >>> "platform" in host_classes()
    True

    """
    return tuple(_classes())


def host_class_of(chip: Chip, chip_count: int) -> str:
    """Return the class of host that usually carries so many of a chip.

    Examples
    --------
    >>> host_class_of(chip_of("nvidia_h100_sxm5_80"), 8), host_class_of(chip_of("nvidia_l4"), 1)
    ('platform', 'server')

    """
    if chip.power_boundary != "chip":
        return "whole_system"
    if chip.form_factor == "SoC":
        return "embedded"
    if chip.chip_id in _MODULES:
        return "module"
    if chip.form_factor == "superchip":
        return "superchip"
    if chip.form_factor in _PLATFORM:
        return "platform" if chip_count >= 8 else "half_platform"
    if chip.form_factor in _CARDS or "PCIe" in chip.form_factor:
        return "server_large" if chip_count >= 4 and (chip.tdp_w or 0.0) >= 200.0 else "server"
    return "server"


def cooling_kind(text: str) -> str:
    """Return how a node is cooled, from the words of a catalogue or a submission; empty where they do not say.

    Examples
    --------
    >>> cooling_kind("single-phase immersion (no server fans)"), cooling_kind("air with rear-door heat exchanger")
    ('immersion', 'air')
    >>> cooling_kind("direct water cooling"), cooling_kind("")
    ('liquid', '')

    """
    words = text.casefold()
    if "immersion" in words:
        return "immersion"
    if "air" in words or "active" in words:
        return "air"
    if "liquid" in words or "water" in words:
        return "liquid"
    return "passive" if "passive" in words else ""


COOLING = ("air", "liquid", "immersion", "passive")


def usual_parts(chip: str, chip_count: int, *, cooling: str | None = None, host_class: str | None = None) -> NodeParts:
    """Return a node of which only the chips are known: its parts are those that are usual.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    chip_count : int
        Chips in the node, at least 1.
    cooling : str, optional
        air, liquid, immersion or passive; without it liquid where the chip needs it, else air.
    host_class : str, optional
        Of `host_classes`; without it the class that usually carries the chips.

    Raises
    ------
    PowerError
        The count is below 1.
    UnknownNameError
        The chip, class or kind of cooling is not known; the message gives the nearest names.

    Examples
    --------
    >>> found = usual_parts("nvidia_h100_sxm5_80", 8)
    >>> found.host_class, found.cooling, found.known, found.switch_gb_per_s
    ('platform', 'air', False, 3600.0)

    """
    known = chip_of(chip)
    if chip_count < 1:
        raise PowerError(f"A node of {known.chip_id} has {chip_count} chips: give at least 1.")
    kind = host_class if host_class is not None else host_class_of(known, chip_count)
    way = cooling or ("liquid" if known.liquid_cooling_required.startswith("yes") else "air")
    for word, what, names in ((kind, "class of hosts", host_classes()), (way, "kind of cooling", COOLING)):
        if word not in names:
            raise UnknownNameError(f"The {what} {word!r} is not known: {', '.join(names)}.{did_you_mean(word, names)}")
    row = _classes()[kind]
    switched = kind in ("platform", "superchip") and known.interconnect[:8] in _SWITCHED_LINKS
    return _rated(
        NodeParts(
            name=f"{chip_count} x {known.chip_id}",
            chip_id=known.chip_id,
            chip_count=chip_count,
            host_class=kind,
            cpu_count=row.number("cpu_count") + row.number("cpu_per_chip") * chip_count,
            cpu_tdp_w=row.number("cpu_tdp_w"),
            dram_gb=row.number("dram_gb") + row.number("dram_gb_per_chip") * chip_count,
            network_gbit_per_s=_network(known, chip_count, kind),
            switch_gb_per_s=chip_count * _or(known.link_gb_per_s_per_direction, 0.0) if switched else 0.0,
            board_w=row.number("board_w") + row.number("board_w_per_chip") * chip_count,
            scale=row.number("scale"),
            cooling=way,
            supply_efficiency=row.number("supply_efficiency"),
            rated_w=1.0,
            known=False,
            bands=_bands(kind, WIDER_UNKNOWN),
            source=f"power_node_hosts.csv: usual parts of {kind} ({row.text('source')})",
            status="estimate",
        ),
        None,
    )


def _network(chip: Chip, chip_count: int, kind: str) -> float:
    """Return the adapters of a host in Gbit/s: on platforms those of a server of the catalogue with the same chips."""
    if kind == "platform":
        for one in all_nodes():
            same = one.accelerator_chip_id == chip.chip_id and one.accelerator_count == chip_count
            if same and one.kind == "server" and one.scale_out_gbit_per_s_total is not None:
                return one.scale_out_gbit_per_s_total
    row = _classes()[kind]
    return row.number("network_gbit_per_s") + row.number("network_gbit_per_s_per_chip") * chip_count


def _rated(parts: NodeParts, max_w: float | None) -> NodeParts:
    """Return the parts with the rating of all supplies, spare ones too: a multiple of the most that they carry."""
    limit = chip_of(parts.chip_id).tdp_w or 0.0
    host = parts.cpu_count * parts.cpu_tdp_w + parts.dram_gb * term("dram_w_per_gb").high + parts.board_w
    most = max_w if max_w is not None else (parts.chip_count * limit + host) * 1.2
    return replace(parts, rated_w=most * term("supply_rating_ratio").value)


def catalogue_parts(name: str) -> NodeParts:
    """Return a node of the catalogue: its own processors, memory, adapters and cooling; what is empty there is usual.

    Parameters
    ----------
    name : str
        Any name of a node of the catalogue. A rack is told per rack: all its chips.

    Raises
    ------
    UnknownNameError
        The node is not known; the message gives the nearest names.
    PowerError
        The catalogue does not say which chips it holds, or how many.

    Examples
    --------
    >>> found = catalogue_parts("DGX H100")
    >>> found.chip_count, found.cpu_tdp_w, found.dram_gb, found.known
    (8, 350.0, 2000.0, True)

    """
    found = node_of_catalogue(name)
    if not found.accelerator_chip_id or not found.accelerator_count:
        raise PowerError(f"The catalogue does not say which chips {found.node_id} holds: give chip and count.")
    usual = usual_parts(found.accelerator_chip_id, found.accelerator_count, cooling=cooling_kind(found.cooling) or None)
    if usual.host_class == "whole_system":
        return replace(usual, name=found.node_id, known=True)
    tdp = catalogue_tdp_w(found.host_cpu) if found.host_cpu else None
    told = found.kind != "cloud_instance" and found.host_cpu != ""
    if found.kind == "cloud_instance" and usual.host_class in _SHARED_HOSTS:
        usual = _part_of_host(usual, found)
    parts = replace(
        usual,
        name=found.node_id,
        cpu_tdp_w=usual.cpu_tdp_w if tdp is None else tdp,
        cpu_count=_or(found.host_cpu_count, usual.cpu_count) if usual.host_class != "module" else 0.0,
        dram_gb=_or(found.host_dram_gb, usual.dram_gb)
        if usual.host_class not in ("module", "superchip")
        else usual.dram_gb,
        network_gbit_per_s=_or(found.scale_out_gbit_per_s_total, usual.network_gbit_per_s),
        known=told,
        bands=_bands(usual.host_class) if told else usual.bands,
        source=f"nodes.csv: {found.node_id} ({'; '.join(found.source)}); {usual.source}",
    )
    return _rated(parts, None if found.max_kw is None else found.max_kw * 1000.0)


def _part_of_host(usual: NodeParts, found: Node) -> NodeParts:
    """Return the share of a host that an instance with few cards is: by its virtual processors, or by its cards."""
    by_cards = found.accelerator_count / 8.0 if found.accelerator_count else 0.0
    share = min(1.0, max(by_cards, (found.vcpu or 0) / _VCPU_OF_HOST))
    return replace(
        usual,
        cpu_count=usual.cpu_count * share,
        board_w=usual.board_w * share,
        dram_gb=usual.dram_gb * share,
        network_gbit_per_s=usual.network_gbit_per_s * share,
    )


def _bands(host_class: str, wider: float = 1.0) -> Bands:
    row = _classes()[host_class]
    return Bands(wider * row.number("band80_ln"), wider * row.number("band95_ln"))


def _or(value: float | None, usual: float) -> float:
    return usual if value is None else float(value)


def catalogue_tdp_w(name: str) -> float | None:
    """Return the maximum power of a processor that the catalogue has by this very name; None where it has not.

    Examples
    --------
    >>> catalogue_tdp_w("Xeon Platinum 8480C"), catalogue_tdp_w("Xeon Platinum 8462Y+")
    (350.0, None)

    """
    for text in (name, name.upper().removesuffix("C") + "+"):  # 8480C is the 8480+ made for cloud nodes
        try:
            known = chip_of(text)
        except UnknownNameError:
            continue
        return known.tdp_w if known.form_factor == "socket" else None
    return None
