"""Links between chips: what a group of ranks shares, inside the scale-up domain and beyond it, and what it costs.

Ranks are laid out tensor, context, data, pipeline (the innermost first, as Megatron and MaxText do), so the product of
the inner sizes says how far apart the members of a group lie: a group crosses the domain when its span is larger.

Inside one domain a collective takes what :mod:`energy.cost.kernels.collectives` says of the chip's surface and the rate
of its links that serve the group. Across domains it runs in both at once, and the slower counts:

    time = start-up inside + start-up across + max(moving inside, wire / (ports of the members in one domain))

since a pipelined ring goes on over all network ports of the group's members in one domain together (NCCL rings;
docs/cost.md); in an all-to-all each chip uses its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy import catalogue
from energy.cost.kernels.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    KINDS,
    host_link_bytes_per_s,
    lender_of,
    surfaces,
)
from energy.cost.mapping import Mapping
from energy.errors import CostError

Numbers = NDArray[np.float64]
Whole = NDArray[np.intp]

#: What collectives reach of the rated network (large messages), and the start-up of a step across it, in seconds.
REACHED_OUTSIDE, LATENCY_OUTSIDE_S = 0.80, 8e-6
#: Bytes that a layer's collective gathers in usual runs, for the text of a warning.
_USUAL_MESSAGE = 32e6
#: Chips of the usual server, and PCIe 4.0 x16 one way (31.5 GB/s less its framing), where no link is known; shown.
_USUAL_SERVER, _PCIE_BYTES_PER_S = 8.0, 31e9
#: One way, per chip, where neither node nor user says: ports of the usual server of that year, in Gbit/s.
_PORT_GBIT_PER_S = ((2022, 400.0), (2020, 200.0), (0, 50.0))
#: Scenarios a pass: all intermediate arrays stay in the cache of one core.
_BLOCK = 1 << 12
# Numbers as arrays: see energy.cost.kernels.collectives.
_NOTHING, _ONE, _TWO = np.array(0.0), np.array(1.0), np.array(2.0)
#: Of so few scenarios, looking for groups of one costs more than to evaluate them.
_FEW = 64
#: How chips of a domain are joined: by their own link, by a bridge between a few cards, by the kind of link that their
#: family has, by their slots, not at all, or nobody knows.
_OWN, _BRIDGE, _FAMILY, _SLOT, _NONE, _ASSUMED = range(6)


@dataclass(frozen=True, slots=True, eq=False)
class Fabric:
    """Links of each scenario's system, arrays ``(n,)``; make it with :meth:`of`. Bandwidths are one way, per chip.

    ``axis_share`` is the part of the scale-up bandwidth that a group along one axis has: all of it behind a switch, two
    of the links of a torus. ``is_mesh``: chips are joined in pairs, so that a group of g has (g - 1) / (domain - 1).
    ``is_assumed``: the catalogue knows no network of the chip, and that of the usual server of its year is taken.
    ``joined`` says where the link inside comes from (see :func:`warnings_of`), ``surface`` which measured surface of
    :func:`energy.cost.kernels.collectives.surfaces` its collectives have. ``has_torus`` and ``has_mesh``: some of
    these scenarios, or of those that they were taken from, may.
    """

    domain_size: Numbers
    inside_bytes_per_s: Numbers
    axis_share: Numbers
    is_mesh: NDArray[np.bool_]
    outside_bytes_per_s: Numbers
    is_assumed: NDArray[np.bool_]
    joined: Whole
    surface: Whole
    has_torus: bool
    has_mesh: bool

    @classmethod
    def of(
        cls,
        chips: Sequence[str],
        *,
        chips_per_node: ArrayLike | None = None,
        outside_gbit_per_s_per_chip: ArrayLike | None = None,
    ) -> Self:
        """Return the fabric of chips, from the links and nodes of the catalogue.

        Parameters
        ----------
        chips : sequence of str
            Names of the catalogue, one for each scenario.
        chips_per_node : array_like, optional
            Chips that share the scale-up link, where it is another than the usual one; NaN keeps the usual.
        outside_gbit_per_s_per_chip : array_like, optional
            Network rate of a chip one way; NaN keeps that of the usual server.

        Raises
        ------
        UnknownNameError
            When a chip is not known.

        Examples
        --------
        >>> fabric = Fabric.of(["nvidia_h100_sxm5_80", "google_tpu_v5e"])
        >>> fabric.domain_size.tolist(), (fabric.inside_bytes_per_s / 1e9).tolist()
        ([8.0, 256.0], [450.0, 180.0])

        """
        known = [_chip_fabric(one) for one in chips]
        parts: list[Any] = [np.array([row[place] for row in known]) for place in range(len(_ARRAYS))]
        made = cls(*[*parts, *_shapes(known)])
        domain, outside = made.domain_size, made.outside_bytes_per_s
        if chips_per_node is not None:
            size = np.broadcast_to(np.asarray(chips_per_node, np.float64), domain.shape)
            # A torus or a rack is larger than its nodes; a server's switch ends at the server, a bridge before it.
            told = np.isfinite(size) & (domain <= 16) & (made.joined != _NONE)
            domain = np.where(told, np.where(made.joined == _BRIDGE, np.minimum(domain, size), size), domain)
        if outside_gbit_per_s_per_chip is not None:
            rate = np.broadcast_to(np.asarray(outside_gbit_per_s_per_chip, np.float64), domain.shape)
            outside = np.where(np.isfinite(rate), rate * 1e9 / 8, outside)
        return replace(made, domain_size=domain, outside_bytes_per_s=outside)

    def __len__(self) -> int:
        return len(self.domain_size)

    def __getitem__(self, index: slice | NDArray[np.generic] | Sequence[int]) -> Self:
        """Return the fabrics at ``index``."""
        parts: list[Any] = [getattr(self, name)[index] for name in _ARRAYS]
        return type(self)(*[*parts, self.has_torus, self.has_mesh])


def _shapes(known: Sequence[tuple[Any, ...]]) -> tuple[bool, bool]:
    """Return whether some fabric is a torus, and whether some joins its chips in pairs."""
    return any(row[2] < 1.0 for row in known), any(row[3] for row in known)


_ARRAYS = tuple(one.name for one in fields(Fabric) if not one.name.startswith("has_"))


@cache
def _chip_fabric(name: str) -> tuple[float, float, float, bool, float, bool, int, int]:
    """Return the fields of a fabric for one chip."""
    chip = catalogue.chip(name)
    outside = [one for one in catalogue.all_links() if chip.chip_id in one.chip_ids and one.scope == "scale-out"]
    nodes = [one for one in catalogue.all_nodes() if one.accelerator_chip_id == chip.chip_id]
    wide, assumed = _outside(chip.launch_year, outside, nodes)
    domain, inside = _inside(chip, nodes)
    surface = 0 if inside.is_mesh or inside.axis_share < 1.0 else surfaces().position.get(lender_of(chip.chip_id)[0], 0)
    return domain, inside.bytes_per_s, inside.axis_share, inside.is_mesh, wide, assumed, inside.joined, surface


class _Inside(NamedTuple):
    """Links inside a domain: rate of a chip one way, part of it along one axis, whether in pairs, where it is from."""

    bytes_per_s: float
    axis_share: float
    is_mesh: bool
    joined: int


def _inside(chip: catalogue.Chip, nodes: Sequence[catalogue.Node]) -> tuple[float, _Inside]:
    """Return the scale-up domain of a chip and the links inside it."""
    domain = float(chip.scale_up_domain_size or 1)
    sizes = [one.scale_up_domain_size for one in nodes if one.scale_up_domain_size]
    if sizes and domain <= 1:
        domain = float(max(sizes))
    links = [one for one in catalogue.all_links() if "scale-up" in one.scope]
    own = next((one for one in links if chip.chip_id in one.chip_ids), None)
    if own is not None and own.bandwidth_gb_per_s_per_direction is not None:
        found = _of_link(own)
        return domain, found._replace(joined=_BRIDGE) if "bridge" in chip.interconnect else found
    if chip.link_gb_per_s_per_direction is not None:
        joined = _BRIDGE if "bridge" in chip.interconnect else _OWN
        return domain, _Inside(chip.link_gb_per_s_per_direction * 1e9, 1.0, False, joined)
    if domain > 1 and (like := _of_family(chip, links, domain)) is not None:
        return domain, like
    if (slot := host_link_bytes_per_s(chip.chip_id)) is not None:
        return max(domain, _USUAL_SERVER), _Inside(slot, 1.0, False, _SLOT)
    if chip.interconnect == "none":
        return 1.0, _Inside(_PCIE_BYTES_PER_S, 1.0, False, _NONE)
    domain = domain if domain > 1 else _USUAL_SERVER
    return domain, _Inside(_PCIE_BYTES_PER_S, 1.0, False, _ASSUMED)


def _of_link(link: catalogue.Link) -> _Inside:
    rate, share = (link.bandwidth_gb_per_s_per_direction or 0.0) * 1e9, 1.0
    if link.per == "link":
        count = float(link.lanes_or_links.split()[0]) if link.lanes_or_links[:1].isdigit() else 4.0
        rate, share = rate * count, 2.0 / count
    return _Inside(rate, share, link.name.startswith(("Infinity", "RoCE on chip")), _OWN)


def _of_family(chip: catalogue.Chip, links: Sequence[catalogue.Link], domain: float) -> _Inside | None:
    """Return the links of a chip that has the kind of link of another of its family: one between each two chips."""
    family = {one.chip_id for one in catalogue.all_chips() if (one.vendor, one.family) == (chip.vendor, chip.family)}
    for link in links:
        same = link.name.startswith(chip.interconnect) and family.intersection(link.chip_ids)
        if chip.interconnect and same and " links of " in link.lanes_or_links and _of_link(link).is_mesh:
            each = float(link.lanes_or_links.split(" links of ")[1].split()[0])
            return _Inside(each * 1e9 * (domain - 1.0), 1.0, True, _FAMILY)
    return None


def _outside(year: int | None, links: Sequence[catalogue.Link], nodes: Sequence[catalogue.Node]) -> tuple[float, bool]:
    """Return the network rate of a chip in bytes/s, and whether it is assumed."""
    for link in links:
        if link.per == "chip" and link.bandwidth_gb_per_s_per_direction:
            return link.bandwidth_gb_per_s_per_direction * 1e9, False
    for node in nodes:
        if node.scale_out_gbit_per_s_total and node.accelerator_count and node.kind != "cloud_instance":
            return node.scale_out_gbit_per_s_total / node.accelerator_count * 1e9 / 8, False
    for first, gbit in _PORT_GBIT_PER_S:
        if (year or 0) >= first:
            return gbit * 1e9 / 8, True
    raise CostError("There is no usual network of any year: name the rate of the network.")


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Ranks that talk to each other: how many, how many of them in one domain, and the links that they have.

    Arrays of one shape, ``(n,)`` or ``(groups, n)``; of the last two ``(n,)``. ``link_bytes_per_s`` is the rated
    scale-up bandwidth of a chip that serves the group, ``hops`` the links that a message of an all-to-all crosses in
    the mean, ``port_bytes_per_s`` the network rate of a chip, ``surface`` that of its measured collectives.
    """

    size: Numbers
    inside: Numbers
    link_bytes_per_s: Numbers
    hops: Numbers
    port_bytes_per_s: Numbers
    surface: Whole

    @property
    def crosses(self) -> NDArray[np.bool_]:
        """Return where the group leaves its scale-up domain."""
        return np.asarray(self.inside < self.size)

    def taken(self, index: int | Whole, part: slice = slice(None)) -> Self:
        """Return some of several groups, and of those some scenarios."""
        size, inside, link, hops = (
            one[..., part][index] for one in (self.size, self.inside, self.link_bytes_per_s, self.hops)
        )
        return type(self)(size, inside, link, hops, self.port_bytes_per_s[part], self.surface[part])


def group(fabric: Fabric, size: Numbers, stride: Numbers, chips: Numbers | None = None) -> Group:
    """Return the group of ``size`` ranks that lie ``stride`` apart, of ``chips`` in all.

    On a torus a group spans as many axes as its size asks for, of a cube of all chips of the slice. Where chips are
    joined in pairs, a group has the links between its own members alone.

    Parameters
    ----------
    fabric : Fabric
        Links of ``n`` scenarios.
    size, stride : array of float
        Of shape ``(n,)`` or ``(groups, n)``.
    chips : array of float, optional
        Chips of the whole run; those of the group's span where left out.

    Examples
    --------
    >>> fabric = Fabric.of(["nvidia_h100_sxm5_80"])
    >>> tensor = group(fabric, np.array([16.0]), np.array([1.0]))
    >>> tensor.inside.tolist(), tensor.crosses.tolist()
    ([8.0], [True])

    """
    inside = np.minimum(np.maximum(np.floor(fabric.domain_size / stride), _ONE), size)
    shares, hops = np.ones(inside.shape), np.ones(inside.shape)
    if fabric.has_torus:
        whole = np.minimum(fabric.domain_size, size * stride if chips is None else np.maximum(chips, 2.0))
        axes = np.round(1.0 / fabric.axis_share)
        spanned = np.round(axes * np.log(np.maximum(inside, 2.0)) / np.log(np.maximum(whole, 2.0)))
        spanned = np.clip(spanned, 1.0, axes)
        shares = spanned / axes
        # A message crosses a quarter of each ring in the mean.
        hops = np.where(axes > 1.0, np.maximum(spanned * inside ** (1.0 / spanned) / 4.0, 1.0), 1.0)
    if fabric.has_mesh:
        pairs = np.maximum(inside - 1.0, 1.0) / np.maximum(fabric.domain_size - 1.0, 1.0)
        shares = np.where(fabric.is_mesh, pairs, shares)
    return Group(size, inside, shares * fabric.inside_bytes_per_s, hops, fabric.outside_bytes_per_s, fabric.surface)


#: Times that the bytes of each kind of collective go round.
_WAYS = np.array([2.0 if kind == ALL_REDUCE else 1.0 for kind in range(len(KINDS))])


def collective_s(one: Group, kind: Whole, message_bytes: Numbers, sent_once: Numbers | float = 1.0) -> Numbers:
    """Return the time of collectives of groups, in seconds.

    Parameters
    ----------
    one : Group
        Of shape ``(n,)`` or ``(groups, n)``.
    kind : array of int
        Positions in :data:`energy.cost.kernels.collectives.KINDS`; of the group's shape, or ``(groups, 1)``.
    message_bytes : array of float
        Whole tensor, or what a rank sends in all of an all-to-all.
    sent_once : array of float, optional
        Part of an all-to-all's bytes that crosses when each domain is sent one copy of what several of its ranks need.

    Returns
    -------
    array
        Of the group's shape; nothing for a group of one.

    Examples
    --------
    >>> eight = group(Fabric.of(["nvidia_a100_sxm4_80"]), np.array([8.0]), np.array([1.0]))
    >>> 1.0e-3 < float(collective_s(eight, np.array([ALL_GATHER]), np.array([300e6]))[0]) < 1.6e-3
    True

    """
    exchange = np.asarray(kind == ALL_TO_ALL)
    ways = _WAYS[kind]
    others = one.size - _ONE
    wire = ways * message_bytes * others / one.size
    near, far = wire, wire / one.inside
    if np.count_nonzero(exchange):
        near = np.where(exchange, message_bytes * (one.inside - _ONE) / one.size * one.hops, near)
        far = np.where(exchange, message_bytes * sent_once * (one.size - one.inside) / one.size, far)
    doublings = np.log2(one.inside)
    start, time = surfaces().time_s(one.surface, kind, doublings, near, one.link_bytes_per_s)
    moving = time - start
    crosses = one.inside < one.size
    if np.count_nonzero(crosses):
        moving = moving * (one.inside > _ONE)
        across = far / (one.port_bytes_per_s * REACHED_OUTSIDE)
        moving = np.where(crosses, np.maximum(moving, across), moving)
        start = start + ways * LATENCY_OUTSIDE_S * np.log2(np.ceil(one.size / one.inside))
    return np.asarray((start + moving) * (others > _NOTHING))


def gather_s(one: Group, whole_bytes: Numbers) -> Numbers:
    """Return the time of an all-gather to ``whole_bytes`` on each rank, in seconds."""
    return collective_s(one, np.array([ALL_GATHER]), whole_bytes)


def reduce_s(one: Group, whole_bytes: Numbers) -> Numbers:
    """Return the time of an all-reduce of ``whole_bytes`` on each rank, in seconds."""
    return collective_s(one, np.array([ALL_REDUCE]), whole_bytes)


#: Rows of :class:`Groups`.
TENSOR, DATA, CONTEXT, EXPERT, PIPELINE = range(5)
_ROWS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of a mapping, in rows of one :class:`Group`: tensor, data, context, expert, pipeline.

    Of the ring of context ranks and of the pipeline a row is the pair that hands over to each other. Fully sharded
    weights are split over all data ranks, but on a torus over those of one slice, of which there are ``slices``.
    ``tensor`` and ``data`` are groups of shape ``(n,)``.
    """

    rows: Group
    slices: Numbers

    @classmethod
    def of(cls, fabric: Fabric, mapping: Mapping) -> Self:
        """Return the groups of a mapping's ranks.

        Examples
        --------
        >>> mapping = Mapping.of(sequence_length=4096, micro_batch_size=1, global_batch_size=64, precision="bf16",
        ...                      tensor_parallel_size=8, data_parallel_size=4)
        >>> groups = Groups.of(Fabric.of(["nvidia_h100_sxm5_80"]), mapping)
        >>> groups.tensor.crosses.tolist(), groups.data.crosses.tolist()
        ([False], [True])

        """
        m = mapping
        t, c, p = m.tensor_parallel_size, m.context_parallel_size, m.pipeline_parallel_size
        ranks = c * m.data_parallel_size
        sizes, strides = np.ones((_ROWS, len(m))), np.ones((_ROWS, len(m)))
        sizes[TENSOR], sizes[DATA], sizes[EXPERT] = t, ranks, m.expert_parallel_size
        sizes[CONTEXT], sizes[PIPELINE] = np.minimum(c, _TWO), np.minimum(p, _TWO)
        # A ring of context ranks that crosses the domain is as slow as its hand-over across, and so is a chain of
        # stages, whose first two may lie in one domain. Experts are not split by tensor ranks: their group starts at
        # the innermost rank.
        half_ring, half_chain = t * c / _TWO, t * ranks * np.maximum(p / _TWO, _ONE)
        strides[DATA], strides[CONTEXT], strides[PIPELINE] = t, np.maximum(half_ring, _ONE), half_chain
        slices = np.ones(1)
        if fabric.has_torus:
            sliced = (fabric.axis_share < 1.0) & (m.zero_stage >= 3)
            held = np.minimum(np.maximum(np.floor(fabric.domain_size / t), 1.0), ranks)
            sizes[DATA] = np.where(sliced, held, ranks)
            slices = np.where(sliced, ranks / held, 1.0)
        return cls(group(fabric, sizes, strides, m.chips), slices)

    @property
    def together(self) -> list[bool]:
        """Return, for each row, whether a group of any scenario has more than one rank."""
        return [bool(one) for one in self.rows.size.max(axis=1) > 1.0]

    @property
    def tensor(self) -> Group:
        """Return the tensor ranks."""
        return self.rows.taken(TENSOR)

    @property
    def data(self) -> Group:
        """Return the data ranks, with those of context; of fully sharded weights those of one slice."""
        return self.rows.taken(DATA)


def collectives_s(
    groups: Groups, asked: Sequence[tuple[int, ArrayLike, ArrayLike]], sent_once: Numbers
) -> list[Numbers]:
    """Return the time of several collectives at once, in seconds: of those whose groups have more than one rank.

    Parameters
    ----------
    groups : Groups
        Of ``n`` scenarios.
    asked : sequence of (row, kind, bytes)
        Row of ``groups``, positions in ``KINDS`` and bytes of each scenario, numbers or arrays ``(n,)``.
    sent_once : array of float
        As for :func:`collective_s`.

    Returns
    -------
    list of array
        In the order asked, each ``(n,)``.

    """
    rows, n = groups.rows, groups.rows.size.shape[1]
    few = n <= _FEW
    together = [True] * _ROWS if few else groups.together
    used = [one for one in asked if together[one[0]]]
    time = np.zeros((len(used), n))
    kind, size = np.empty((len(used), n), np.intp), np.empty((len(used), n))
    for line, (_, own, message) in enumerate(used):
        kind[line], size[line] = own, message
    chosen = np.array([one[0] for one in used], np.intp)
    for start in range(0, n if used else 0, _BLOCK):
        part = slice(start, start + _BLOCK)
        once = sent_once[part] if len(sent_once) > 1 else sent_once
        time[:, part] = collective_s(rows.taken(chosen, part), kind[:, part], size[:, part], once)
    if few:
        return list(time)
    lines, nothing = iter(time), np.zeros(n)
    return [next(lines) if together[one[0]] else nothing for one in asked]


_JOINED = {
    _FAMILY: "The catalogue knows the links between these chips by their family: {domain} of them in pairs, {rate}.",
    _SLOT: "These chips have no link of their own that the catalogue knows: {domain} of them over their slots, {rate}, "
    "are assumed in one server.",
    _NONE: "These chips have no link between each other: they talk over the network alone.",
    _ASSUMED: "The catalogue knows no link between these chips: {domain} of them over PCIe, {rate}, are assumed.",
}


def warnings_of(fabric: Fabric, mapping: Mapping, groups: Groups) -> list[str]:
    """Return what to know of a scenario's layout, for its first scenario: one line each."""
    said = []
    t, inside = float(groups.tensor.size[0]), float(groups.tensor.inside[0])
    if inside < t:
        cost = "they use the network alone"
        if inside > 1:
            one = group(fabric[np.array([0])], np.array([inside]), np.array([1.0]))
            near = gather_s(one, np.array([_USUAL_MESSAGE]))[0]
            slower = float(gather_s(groups.tensor, np.full(len(mapping), _USUAL_MESSAGE))[0] / near)
            cost = f"each takes {slower:.1f} times as long as inside, where {inside:g} or fewer stay"
        said.append(
            f"tensor_parallel_size {t:g} is beyond the scale-up domain of {fabric.domain_size[0]:g} chips: of its "
            f"collectives {cost}."
        )
    if float(mapping.chips[0]) > 1 and (joined := _JOINED.get(int(fabric.joined[0]))) is not None:
        rate = f"{fabric.inside_bytes_per_s[0] / 1e9:g} GB/s one way per chip"
        said.append(joined.format(domain=f"{fabric.domain_size[0]:g}", rate=rate))
    crosses = len(mapping) and float(mapping.chips[0]) > float(fabric.domain_size[0])
    if fabric.is_assumed[0] and crosses:
        said.append(
            f"The catalogue knows no network of this chip: {fabric.outside_bytes_per_s[0] * 8 / 1e9:g} Gbit/s one way "
            "per chip is assumed."
        )
    return said
