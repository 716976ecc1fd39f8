r"""Time of collectives: start-up plus bytes over a rate, by kind, size of the group and shape of the network.

With \(n\) chips, a message of \(S\) bytes (the whole tensor: what each chip holds after an all-gather, before a
reduce-scatter), \(\alpha\) seconds a step, \(B\) bytes/s a chip one way and an efficiency \(e\):

    ring, reduce-scatter or all-gather    (n - 1) alpha + (n - 1) / n S / (B e)
    ring, all-reduce                      twice that
    tree, all-reduce                      2 ceil(log2 n) alpha + 2 S / (B e)
    switch that adds up, all-reduce       2 alpha + S / (B e)
    all-to-all over a switch              alpha + (n - 1) / n S / (B e)
    all-to-all over a torus               S times the mean hops of a message / (B e)
    beyond one domain of g chips          reduce-scatter inside, all-reduce of S / g between, all-gather inside

Inside a node of a measured chip, start-up, rate and a correction over the message size come from
``kernel_collective.csv`` (``scripts/fit_kernels.py``, medians by key of AIConfigurator's measurements).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from energy.catalogue import _tables
from energy.cost.kernels.coefficients import Floats, KernelTime, kernel_chip, kin, measured_chips, positive, transfer
from energy.errors import CostError, UnknownNameError, did_you_mean

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "point_to_point")
ALGORITHMS = ("ring", "tree", "best", "switch", "torus")
KNOTS_BYTES = tuple(float(2**power) for power in range(9, 30, 2))
# Rate that a collective reaches over the rate of the link, and how sure that is: an estimate for what was not measured,
# from the measured switches (0.69 to 0.78 of NVLink for eight chips).
EFFICIENCY = 0.75
EFFICIENCY_SIGMA = 0.25
_UNITS = {"all_reduce": 2.0, "all_gather": 1.0, "reduce_scatter": 1.0, "all_to_all": 1.0}


def _kind(kind: str) -> str:
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise UnknownNameError(f"The collective {kind!r} is not known; there are {', '.join(KINDS)}.{hint}")
    return kind


def wire_bytes(kind: str, message_bytes: ArrayLike, group_size: ArrayLike) -> Floats:
    """Return the bytes that each chip sends in a ring.

    Examples
    --------
    >>> wire_bytes("all_reduce", 8e9, 8), wire_bytes("all_gather", 8e9, [1, 8])
    (array([1.4e+10]), array([0.e+00, 7.e+09]))

    """
    size, count = positive(message_bytes=message_bytes, group_size=group_size)
    if _kind(kind) in _UNITS:
        return np.asarray(_UNITS[kind] * (count - 1) / count * size)
    return np.where(count > 1, size, 0.0)


class Link(NamedTuple):
    """What a collective needs to know of a network: bytes/s of a chip one way, and seconds of a step."""

    bandwidth_bytes_per_s: ArrayLike
    latency_s: ArrayLike
    efficiency: ArrayLike = EFFICIENCY
    algorithm: str = "best"


def collective_time_s(
    kind: str,
    message_bytes: ArrayLike,
    group_size: ArrayLike,
    bandwidth_bytes_per_s: ArrayLike,
    latency_s: ArrayLike,
    *,
    algorithm: str = "best",
    efficiency: ArrayLike = EFFICIENCY,
    torus_dimensions: int = 3,
) -> KernelTime:
    """Return the time of a collective over one kind of link, from the rates of a datasheet.

    Parameters
    ----------
    kind : str
        ``all_reduce``, ``all_gather``, ``reduce_scatter``, ``all_to_all``, ``broadcast`` or ``point_to_point``.
    message_bytes : array of float
        Whole tensor, in bytes.
    group_size : array of float
        Chips that take part; one chip takes no time.
    bandwidth_bytes_per_s : array of float
        Rate of all links of one chip that serve the group, one way.
    latency_s : array of float
        Start-up of one step, in seconds.
    algorithm : str, optional
        ``ring``, ``tree``, ``best`` of both, ``switch`` (adds up in the network) or ``torus``.
    efficiency : array of float, optional
        Share of the rate that large messages reach.
    torus_dimensions : int, optional
        Dimensions of the torus.

    Raises
    ------
    CostError
        When a number is not finite and above zero (``latency_s`` may be zero).
    UnknownNameError
        When the kind or the algorithm is not known.

    Examples
    --------
    >>> collective_time_s("all_reduce", 1e9, [1, 8], 450e9, 10e-6, efficiency=1.0).time_s.round(5)
    array([0.     , 0.00403])

    """
    if algorithm not in ALGORITHMS:
        hint = did_you_mean(algorithm, ALGORITHMS)
        raise UnknownNameError(f"The algorithm {algorithm!r} is not known; there are {', '.join(ALGORITHMS)}.{hint}")
    size, count, rate, share = positive(
        message_bytes=message_bytes,
        group_size=group_size,
        bandwidth_bytes_per_s=bandwidth_bytes_per_s,
        efficiency=efficiency,
    )
    step = np.asarray(latency_s, dtype=np.float64)
    if not (np.isfinite(step) & (step >= 0)).all():
        raise CostError("The latency of a step is negative or not finite: give seconds, zero or more.")
    moved = size / (rate * share)
    time = np.where(count > 1, _time(_kind(kind), algorithm, count, step, moved, torus_dimensions), 0.0)
    return KernelTime(time, np.where(count > 1, EFFICIENCY_SIGMA, 0.0))


def _time(kind: str, algorithm: str, count: Floats, step: Floats, moved: Floats, dimensions: int) -> Floats:
    ring_share, levels = (count - 1) / count, np.ceil(np.log2(np.maximum(count, 2)))
    if kind == "point_to_point":
        return np.asarray(step + moved)
    if kind == "broadcast":
        return np.asarray(levels * step + moved)
    hops = count - 1
    if algorithm == "torus":
        side = count ** (1 / dimensions)
        hops = dimensions * np.ceil(side / 2)
        if kind == "all_to_all":
            # A message crosses a quarter of each ring on average; all 2 d links of a chip carry traffic at once.
            return np.asarray(hops * step + moved * ring_share * np.maximum(dimensions * side / 4, 1.0))
    if kind == "all_to_all":
        return np.asarray(step + ring_share * moved)
    if kind != "all_reduce":
        return np.asarray(hops * step + ring_share * moved)
    ring = 2 * (hops * step + ring_share * moved)
    tree = 2 * (levels * step + moved)
    by_name = {"ring": ring, "torus": ring, "tree": tree, "switch": 2 * step + moved, "best": np.minimum(ring, tree)}
    return np.asarray(by_name[algorithm])


def group_bandwidth_bytes_per_s(
    total_bytes_per_s: ArrayLike, group_size: ArrayLike, domain_size: int, *, direct: bool
) -> Floats:
    """Return the rate of one chip that serves a group inside a domain.

    A switch gives any group the full rate. Direct links of all to all (Infinity Fabric of eight) give each pair its own
    share of the total: a group of g chips can use g - 1 of them.

    Examples
    --------
    >>> group_bandwidth_bytes_per_s(448e9, [2, 8], 8, direct=True)
    array([6.40e+10, 4.48e+11])

    """
    total, count = positive(total_bytes_per_s=total_bytes_per_s, group_size=group_size)
    if not direct or domain_size < 2:
        return np.array(total)
    return np.asarray(total * np.clip(count - 1, 1, domain_size - 1) / (domain_size - 1))


def hierarchical_time_s(
    kind: str, message_bytes: ArrayLike, group_size: ArrayLike, domain_size: ArrayLike, inner: Link, outer: Link
) -> KernelTime:
    """Return the time of a collective over several scale-up domains.

    The group has ``domain_size`` chips in each domain (all of it, where the group fits). All-reduce: reduce-scatter
    inside, all-reduce of the part between, all-gather inside. All-gather and reduce-scatter: the part between, then
    the whole inside. All-to-all: both at the same time, the slower counts.

    Parameters
    ----------
    kind : str
        As for `collective_time_s`.
    message_bytes, group_size, domain_size : array of float
        Whole tensor in bytes, chips of the group, chips of it in one domain.
    inner, outer : Link
        Network inside a domain, and between domains with the rate that one chip has of it.

    Raises
    ------
    CostError
        When the chips of a domain do not divide the group.

    Examples
    --------
    >>> inner, outer = Link(450e9, 3e-6), Link(50e9, 10e-6)
    >>> near = hierarchical_time_s("all_reduce", 1e9, 8, 8, inner, outer).time_s[0]
    >>> far = hierarchical_time_s("all_reduce", 1e9, 64, 8, inner, outer).time_s[0]
    >>> bool(far > near)
    True

    """
    size, count, domain = positive(message_bytes=message_bytes, group_size=group_size, domain_size=domain_size)
    near = np.minimum(domain, count)
    if (uneven := count % near != 0).any():
        at = int(np.argmax(uneven))
        raise CostError(
            f"A group of {count[at]:g} does not fill domains of {near[at]:g}: give a multiple, or a divisor."
        )
    far = count / near

    def over(link: Link, kind: str, message: Floats, chips: Floats) -> Floats:
        rate, step, share, algorithm = link
        return collective_time_s(kind, message, chips, rate, step, efficiency=share, algorithm=algorithm).time_s

    if _kind(kind) == "all_reduce":
        # Inside one domain, the whole all-reduce: a switch that adds up is not taken apart.
        apart = over(inner, "reduce_scatter", size, near) + over(inner, "all_gather", size, near)
        time = np.where(far == 1, over(inner, kind, size, near), apart + over(outer, kind, size / near, far))
    elif kind == "all_to_all":
        # Of all that a chip sends, 1 / far stays inside its domain.
        time = np.maximum(over(inner, kind, size / far, near), over(outer, kind, size, far))
    elif kind == "point_to_point":
        time = np.where(far == 1, over(inner, kind, size, near), over(outer, kind, size, far))
    else:
        part = size if kind == "broadcast" else size / near
        time = over(inner, kind, size, near) + over(outer, kind, part, far)
    return KernelTime(time, np.where(count > 1, EFFICIENCY_SIGMA, 0.0))


@cache
def _fitted() -> tuple[_tables.Row, ...]:
    return _tables.rows("kernel_collective")


def node_collective_time_s(
    chip: str,
    kind: str,
    message_bytes: ArrayLike,
    group_size: int,
    *,
    bandwidth_bytes_per_s: float | None = None,
    excluded: frozenset[str] = frozenset(),
) -> KernelTime:
    """Return the time of a collective inside a node, as measured on this chip or its measured kin.

    A kin lends start-up, correction and efficiency over the link; the rate of the link is the chip's own. A group size
    that was not measured takes the nearest one, with the steps and bytes of its own size.

    Parameters
    ----------
    chip, kind : str
        Chip; ``all_reduce``, ``all_gather``, ``reduce_scatter`` or ``all_to_all``.
    message_bytes : array of float
        Whole tensor, in bytes.
    group_size : int
        Chips that take part.
    bandwidth_bytes_per_s : float, optional
        Rate of the scale-up links of one chip, one way; that of the catalogue where it is not given.
    excluded : frozenset of str, optional
        Chips that count as not measured: for calibration; sigma is then NaN.

    Raises
    ------
    CostError
        When the chip has no scale-up link and was not measured: use `collective_time_s` with its host link.

    Examples
    --------
    >>> time = node_collective_time_s("nvidia_h100_sxm5_80", "all_reduce", 2.0**29, 8).time_s[0]
    >>> bool(1.9e-3 < time < 2.3e-3)
    True

    """
    (size,) = positive(message_bytes=message_bytes)
    if group_size < 2:
        return KernelTime(np.zeros(size.shape), np.zeros(size.shape))
    own = kernel_chip(chip)
    rows = [row for row in _fitted() if row.text("operation") == _kind(kind) and row.text("chip_id") not in excluded]
    linked = [row for row in rows if row.text("chip_id") == own.chip_id or row.maybe_number("efficiency") is not None]
    if not linked:
        known = ", ".join(sorted({row.text("operation") for row in _fitted()}))
        raise CostError(f"No {kind} was measured inside a node; measured are {known}: use collective_time_s.")
    lender, distance = kin(own, measured_chips({row.text("chip_id") for row in linked}, own))
    mine = [row for row in linked if row.text("chip_id") == lender]
    row = min(mine, key=lambda one: abs(np.log2(one.integer("group_size") / group_size)))
    rate = row.number("bus_gb_per_s") * 1e9
    if distance > 0:
        rate = _link_rate(own.chip_id, bandwidth_bytes_per_s) * row.number("efficiency")
    elif bandwidth_bytes_per_s is not None and row.maybe_number("efficiency") is not None:
        rate = bandwidth_bytes_per_s * row.number("efficiency")
    steps = np.log2(group_size) / np.log2(row.integer("group_size"))
    prior = row.number("latency_us") * 1e-6 * steps + wire_bytes(kind, size, group_size) / rate
    values = np.array(row.text("ln_ratio_permille").split(";"), dtype=np.float64) / 1000
    correction = np.interp(np.log2(size), np.log2(KNOTS_BYTES), values)
    sigma = row.number("sigma_fraction")
    if distance > 0 or row.integer("group_size") != group_size:
        sigma = transfer("collective", max(distance, 1), calibrating=bool(excluded))[0]
    return KernelTime(prior * np.exp(correction), np.full(size.shape, sigma))


def _link_rate(chip_id: str, given: float | None) -> float:
    from energy import catalogue

    if given is not None:
        return given
    known = catalogue.chip(chip_id).link_gb_per_s_per_direction
    if known is None:
        text = f"The chip {chip_id} has no scale-up link in the catalogue: give bandwidth_bytes_per_s of its host link."
        raise CostError(text)
    return known * 1e9
