"""Links between chips: what a group of ranks shares, inside the scale-up domain and beyond it, and what it costs.

Ranks are laid out tensor, context, data, pipeline (the innermost first, as Megatron and MaxText do), so the product of
the inner sizes says how far apart the members of a group lie: a group crosses the domain when its span is larger.

    time of a ring = 2 or 1 times (g - 1) / g * bytes / bandwidth + steps * latency

Bandwidth of a group inside one domain is the chip's scale-up rate times what collectives reach of it; across domains a
pipelined ring is as fast as the slower of that and of all network ports of the group's members in one domain together
(NCCL rings; docs/cost.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy import catalogue
from energy.cost.mapping import Mapping
from energy.errors import CostError

Numbers = NDArray[np.float64]

#: What collectives of eight reach of the rated bandwidth inside a domain, and across the network (large messages). The
#: first is the middle of the measured ones (``kernel_collective.csv``: A100 0.68, H100 0.75, B200 0.69, GB200 0.63).
REACHED_INSIDE, REACHED_OUTSIDE = 0.70, 0.80
#: Likewise groups of two and of four, over what eight reach.
_SMALL_GROUPS = ((1.0, 2.0, 3.0), (0.76, 0.93, 1.0))
#: Start-up of a collective inside a domain, more for each doubling of the group, and of a step across the network, in
#: seconds.
_START_S, LATENCY_INSIDE_S, LATENCY_OUTSIDE_S = 12e-6, 2e-6, 8e-6
#: Bytes that a layer's collective gathers in usual runs, for the text of a warning.
_USUAL_MESSAGE = 32e6
#: Chips of the usual server, and PCIe 4.0 x16 one way (31.5 GB/s less its framing), where no link is known; shown.
_USUAL_SERVER, _PCIE_BYTES_PER_S = 8.0, 31e9
#: One way, per chip, where neither node nor user says: ports of the usual server of that year, in Gbit/s.
_PORT_GBIT_PER_S = ((2022, 400.0), (2020, 200.0), (0, 50.0))


@dataclass(frozen=True, slots=True, eq=False)
class Fabric:
    """Links of each scenario's system, arrays ``(n,)``; make it with :meth:`of`. Bandwidths are one way, per chip.

    ``axis_share`` is the part of the scale-up bandwidth that a group along one axis has: all of it behind a switch, two
    of the links of a torus. ``is_mesh``: chips are joined in pairs, so that a group of g has (g - 1) / (domain - 1).
    ``is_assumed``: the catalogue knows no network of the chip, and that of the usual server of its year is taken.
    ``is_inside_assumed``: it knows no link between chips either, and PCIe of the usual server is taken.
    """

    domain_size: Numbers
    inside_bytes_per_s: Numbers
    axis_share: Numbers
    is_mesh: NDArray[np.bool_]
    outside_bytes_per_s: Numbers
    is_assumed: NDArray[np.bool_]
    is_inside_assumed: NDArray[np.bool_]

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
        made = cls(*(np.array([row[place] for row in known]) for place in range(len(fields(cls)))))
        domain, outside = made.domain_size, made.outside_bytes_per_s
        if chips_per_node is not None:
            size = np.broadcast_to(np.asarray(chips_per_node, np.float64), domain.shape)
            # A torus or a rack is larger than its nodes; a server's switch ends at the server.
            domain = np.where(np.isfinite(size) & (domain <= 16), size, domain)
        if outside_gbit_per_s_per_chip is not None:
            rate = np.broadcast_to(np.asarray(outside_gbit_per_s_per_chip, np.float64), domain.shape)
            outside = np.where(np.isfinite(rate), rate * 1e9 / 8, outside)
        return replace(made, domain_size=domain, outside_bytes_per_s=outside)

    def __len__(self) -> int:
        return len(self.domain_size)

    def __getitem__(self, index: slice | NDArray[np.generic] | Sequence[int]) -> Self:
        """Return the fabrics at ``index``."""
        return type(self)(*(getattr(self, one.name)[index] for one in fields(self)))


@cache
def _chip_fabric(name: str) -> tuple[float, float, float, bool, float, bool, bool]:
    """Return the fields of a fabric for one chip."""
    chip = catalogue.chip(name)
    inside = [one for one in catalogue.all_links() if chip.chip_id in one.chip_ids and "scale-up" in one.scope]
    outside = [one for one in catalogue.all_links() if chip.chip_id in one.chip_ids and one.scope == "scale-out"]
    nodes = [one for one in catalogue.all_nodes() if one.accelerator_chip_id == chip.chip_id]
    domain = float(chip.scale_up_domain_size or 1)
    sizes = [one.scale_up_domain_size for one in nodes if one.scale_up_domain_size]
    if sizes and domain <= 1:
        domain = float(max(sizes))
    rate = (chip.link_gb_per_s_per_direction or 0.0) * 1e9
    share, mesh = 1.0, False
    for link in inside[:1]:
        if link.bandwidth_gb_per_s_per_direction is None:
            continue
        rate = link.bandwidth_gb_per_s_per_direction * 1e9
        if link.per == "link":
            links = float(link.lanes_or_links.split()[0]) if link.lanes_or_links[:1].isdigit() else 4.0
            rate, share = rate * links, 2.0 / links
        mesh = link.name.startswith("Infinity") or link.name.startswith("RoCE on chip")
    unknown = rate <= 0
    if unknown:
        domain, rate = domain if domain > 1 else _USUAL_SERVER, _PCIE_BYTES_PER_S
    wide, assumed = _outside(chip.launch_year, outside, nodes)
    return domain, rate, share, mesh, wide, assumed, unknown


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
    """Ranks that talk to each other: how many, how many of them in one domain, and what bandwidth they share."""

    size: Numbers
    inside: Numbers
    bytes_per_s: Numbers
    latency_s: Numbers

    @property
    def crosses(self) -> NDArray[np.bool_]:
        """Return where the group leaves its scale-up domain."""
        return self.inside < self.size


def group(fabric: Fabric, size: Numbers, stride: Numbers, chips: Numbers | None = None) -> Group:
    """Return the group of ``size`` ranks that lie ``stride`` apart, of ``chips`` in all.

    On a torus a group spans as many axes as its size asks for, of a cube of all chips of the slice.

    Examples
    --------
    >>> fabric = Fabric.of(["nvidia_h100_sxm5_80"])
    >>> tensor = group(fabric, np.array([16.0]), np.array([1.0]))
    >>> tensor.inside.tolist(), tensor.crosses.tolist()
    ([8.0], [True])

    """
    inside = np.clip(np.floor(fabric.domain_size / stride), 1.0, size)
    whole = np.minimum(fabric.domain_size, size * stride if chips is None else np.maximum(chips, 2.0))
    axes = np.round(1.0 / fabric.axis_share)
    spanned = np.round(axes * np.log(np.maximum(inside, 2.0)) / np.log(np.maximum(whole, 2.0)))
    share = np.clip(spanned, 1.0, axes) / axes
    pairs = np.where(fabric.is_mesh, (inside - 1.0) / np.maximum(fabric.domain_size - 1.0, 1.0), 1.0)
    doublings = np.log2(inside)
    reached = REACHED_INSIDE * np.where(fabric.is_mesh, 1.0, np.interp(doublings, *_SMALL_GROUPS))
    near = np.maximum(fabric.inside_bytes_per_s * share * pairs, 1.0) * reached
    far = fabric.outside_bytes_per_s * inside * REACHED_OUTSIDE
    crosses = inside < size
    rate = np.where(crosses, np.where(inside > 1, np.minimum(near, far), far), near)
    nodes = np.ceil(size / inside)
    # Trees inside a domain take about the logarithm of its size; a ring over nodes takes each of them.
    latency = _START_S + LATENCY_INSIDE_S * doublings + LATENCY_OUTSIDE_S * np.where(crosses, np.log2(nodes), 0.0)
    return Group(size, inside, rate, latency)


def gather_s(one: Group, whole_bytes: Numbers) -> Numbers:
    """Return the time of an all-gather to, or a reduce-scatter of, ``whole_bytes`` on each rank, in seconds.

    Examples
    --------
    >>> eight = group(Fabric.of(["nvidia_a100_sxm4_80"]), np.array([8.0]), np.array([1.0]))
    >>> float(gather_s(eight, np.array([300e6]))[0] * 1e3) < 2
    True

    """
    moved = (one.size - 1.0) / one.size * whole_bytes / one.bytes_per_s
    return np.where(one.size > 1, moved + one.latency_s, 0.0)


def reduce_s(one: Group, whole_bytes: Numbers) -> Numbers:
    """Return the time of an all-reduce of ``whole_bytes`` on each rank, in seconds: a scatter and a gather."""
    return 2.0 * gather_s(one, whole_bytes)


def exchange_s(fabric: Fabric, one: Group, sent_bytes: Numbers, sent_once: ArrayLike = 1.0) -> Numbers:
    """Return the time of an all-to-all in which each rank sends ``sent_bytes`` in all, in seconds.

    What goes to ranks of the same domain uses the scale-up link, the rest each chip's own port; both at once.
    ``sent_once`` is the part of the bytes that crosses when each domain is sent one copy of what several of its ranks
    need.

    Examples
    --------
    >>> fabric = Fabric.of(["nvidia_h100_sxm5_80"])
    >>> wide = group(fabric, np.array([16.0]), np.array([1.0]))
    >>> bool(exchange_s(fabric, wide, np.array([1e9]))[0] > 0.008)
    True

    """
    near = fabric.inside_bytes_per_s * REACHED_INSIDE * np.where(fabric.is_mesh, (one.inside - 1) / 7.0, 1.0)
    inside = sent_bytes * (one.inside - 1.0) / one.size / np.maximum(near, 1.0)
    outside = (
        sent_bytes
        * np.asarray(sent_once)
        * (one.size - one.inside)
        / one.size
        / (fabric.outside_bytes_per_s * REACHED_OUTSIDE)
    )
    return np.where(one.size > 1, np.maximum(inside, outside) + one.latency_s, 0.0)


def send_s(fabric: Fabric, stride: Numbers, sent_bytes: Numbers) -> Numbers:
    """Return the time to hand ``sent_bytes`` to the rank ``stride`` further, in seconds."""
    near = stride < fabric.domain_size
    pair = np.where(fabric.is_mesh, 1.0 / np.maximum(fabric.domain_size - 1.0, 1.0), 1.0)
    rate = np.where(
        near, fabric.inside_bytes_per_s * pair * REACHED_INSIDE, fabric.outside_bytes_per_s * REACHED_OUTSIDE
    )
    return sent_bytes / rate + np.where(near, LATENCY_INSIDE_S, LATENCY_OUTSIDE_S)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of a mapping.

    ``shards`` is the group that fully sharded weights are split over: all data ranks, but on a torus those of one
    slice, of which there are ``slices``.
    """

    tensor: Group
    context: Group
    data: Group
    shards: Group
    slices: Numbers
    expert: Group
    pipeline_stride: Numbers

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
        m, one = mapping, np.ones_like(mapping.tensor_parallel_size)
        ranks = m.context_parallel_size * m.data_parallel_size
        data = group(fabric, ranks, m.tensor_parallel_size, m.chips)
        sliced = data.crosses & (fabric.axis_share < 1.0)
        shards, slices = data, one
        if sliced.any():
            shards = group(fabric, np.where(sliced, data.inside, data.size), m.tensor_parallel_size, m.chips)
            slices = np.where(sliced, data.size / data.inside, 1.0)
        alone = Group(one, one, one, np.zeros_like(one))

        def of(size: Numbers, stride: Numbers) -> Group:
            return group(fabric, size, stride, m.chips) if (size > 1).any() else alone

        return cls(
            tensor=of(m.tensor_parallel_size, one),
            context=of(m.context_parallel_size, m.tensor_parallel_size),
            data=data,
            shards=shards,
            slices=slices,
            # Experts are not split by tensor ranks: their group starts at the innermost rank.
            expert=of(m.expert_parallel_size, one),
            pipeline_stride=m.tensor_parallel_size * ranks,
        )


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
    if fabric.is_inside_assumed[0] and float(mapping.chips[0]) > 1:
        said.append(
            f"The catalogue knows no link between these chips: {fabric.domain_size[0]:g} of them over PCIe, "
            f"{fabric.inside_bytes_per_s[0] / 1e9:g} GB/s one way per chip, are assumed."
        )
    crosses = len(mapping) and float(mapping.chips[0]) > float(fabric.domain_size[0])
    if fabric.is_assumed[0] and crosses:
        said.append(
            f"The catalogue knows no network of this chip: {fabric.outside_bytes_per_s[0] * 8 / 1e9:g} Gbit/s one way "
            "per chip is assumed."
        )
    return said
