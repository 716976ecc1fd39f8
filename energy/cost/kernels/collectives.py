r"""Time of collectives inside one scale-up domain: measured surfaces, and start-up plus bytes over a rate elsewhere.

With \(n\) chips, a message of \(S\) bytes (the whole tensor: what each chip holds after an all-gather, before a
reduce-scatter, or sends in all of an all-to-all), a link of \(B\) bytes/s a chip one way, start-up \(t_0\) and an
efficiency \(e\):

    wire = (n - 1) / n S, an all-reduce twice that           x = wire / (B e t_0)
    time = t_0 (1 + x) exp(c(x))

\(t_0\), \(e\) and the correction \(c\) between knots of log2 x come from ``kernel_collective.csv`` for groups of two,
four and eight (``scripts/fit_kernels.py``, medians by key of AIConfigurator's measurements); between them they are
interpolated in the logarithm of the size, beyond eight the start-up goes on growing by the last doubling. (1 + x)
exp(c) never falls, so that a time rises with the bytes and falls with the bandwidth, on whichever link. A pair's
all-to-all, in which each sends half, is what a hand-over from one chip to another takes. Links that nobody measured
have a constant start-up and efficiency and no correction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy import catalogue
from energy.catalogue import _tables
from energy.cost.kernels.coefficients import Floats, KernelTime, kernel_chip, kin, measured_chips, positive, transfer
from energy.errors import CostError, UnknownNameError, did_you_mean

Whole = NDArray[np.intp]

# Numbers as arrays: NumPy converts a Python number anew in every operation, which is most of a call of one scenario.
_NOTHING, _ONE, _TWO = np.array(0.0), np.array(1.0), np.array(2.0)

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL = range(4)
GROUP_SIZES = (2, 4, 8)
#: Knots of log2(wire time over start-up): one for each whole number.
LOWEST_KNOT, HIGHEST_KNOT = -8, 8
KNOTS = HIGHEST_KNOT - LOWEST_KNOT + 1
_LOWEST, _SPAN, _LAST_CELL = np.array(float(LOWEST_KNOT)), np.array(KNOTS - 1.0), np.array(KNOTS - 2)
_KINDS, _SIZES = np.array(len(KINDS)), np.array(len(GROUP_SIZES))
#: What collectives reach of the rate of a link that was not measured: the middle of the measured switches (eight chips:
#: A100 0.65 to 0.72, H100 0.69 to 1.0, B200 0.61 to 0.75); how sure that is; and their start-up, of which each doubling
#: of the group adds the second number: estimates.
EFFICIENCY, EFFICIENCY_SIGMA = 0.70, 0.25
_START_S = (12e-6, 2e-6)
#: Cards without a link of their own take this machine's, whose cards talk directly. The other measured one (L40S) has
#: no direct way between them, and four and eight of its cards reach a fifth and a twentieth of that.
HOST_LENDER = "nvidia_rtx_pro_6000_server"


def kind_code(kind: str) -> int:
    """Return the position of a kind in :data:`KINDS`.

    Raises
    ------
    UnknownNameError
        When there is none of this name; the message gives the nearest.

    Examples
    --------
    >>> kind_code("all_gather")
    1

    """
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise UnknownNameError(f"The collective {kind!r} is not known; there are {', '.join(KINDS)}.{hint}")
    return KINDS.index(kind)


def wire_bytes(kind: str, message_bytes: ArrayLike, group_size: ArrayLike) -> Floats:
    """Return the bytes that each chip sends in a ring.

    Examples
    --------
    >>> wire_bytes("all_reduce", 8e9, 8), wire_bytes("all_gather", 8e9, [1, 8])
    (array([1.4e+10]), array([0.e+00, 7.e+09]))

    """
    size, count = positive(message_bytes=message_bytes, group_size=group_size)
    ways = 2.0 if kind_code(kind) == ALL_REDUCE else 1.0
    return np.asarray(ways * (count - 1) / count * size)


@cache
def host_link_bytes_per_s(chip: str) -> float | None:
    """Return the rate of the slot that a chip sits in, one way; None where the catalogue names no PCIe of it.

    Examples
    --------
    >>> host_link_bytes_per_s("nvidia_l40s"), host_link_bytes_per_s("apple_m2_ultra")
    (31000000000.0, None)

    """
    found = re.search(r"PCIe (\d\.\d) x(\d+)", catalogue.chip(chip).host_link)
    if found is None:
        return None
    for link in catalogue.all_links():
        if link.name == "PCIe" and link.generation == f"{found[1]} x16" and link.bandwidth_gb_per_s_per_direction:
            return link.bandwidth_gb_per_s_per_direction * 1e9 * int(found[2]) / 16
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Surfaces:
    """Coefficients of every measured chip by kind and group size, and first those of a link that nobody measured.

    Arrays ``(surfaces x kinds x group sizes,)``, the last fastest; of ``ln_ratio`` with the knots behind them.
    ``start_growth_s`` and ``efficiency_growth`` are what the next larger group has more. ``position`` is the surface of
    each measured chip.
    """

    position: Mapping[str, int]
    start_s: Floats
    start_growth_s: Floats
    efficiency: Floats
    efficiency_growth: Floats
    ln_ratio: Floats
    sigma_fraction: Floats

    def time_s(
        self, surface: Whole, kind: Whole, doublings: Floats, wire: Floats, link_bytes_per_s: Floats
    ) -> tuple[Floats, Floats]:
        """Return start-up and whole time of collectives, in seconds.

        Parameters
        ----------
        surface, kind : array of int
            Position of the chip's surface, and of the kind in :data:`KINDS`.
        doublings : array of float
            log2 of the group's size; below 1 counts as 1.
        wire : array of float
            Bytes that each chip sends, as of `wire_bytes`.
        link_bytes_per_s : array of float
            Rated links of a chip that serve the group, one way.

        Returns
        -------
        tuple of two arrays
            Of the common shape. The whole time is never below the start-up.

        Examples
        --------
        >>> known = surfaces()
        >>> at = np.array([known.position["nvidia_h100_sxm5_80"]])
        >>> start, time = known.time_s(at, np.array([ALL_GATHER]), np.array([3.0]), np.array([7e8]), np.array([450e9]))
        >>> bool(start[0] < 2e-5 and 1.9e-3 < time[0] < 2.4e-3)
        True

        """
        upper = (doublings >= _TWO).astype(np.intp)
        more = np.maximum(doublings - _ONE, _NOTHING) - upper
        at = (surface * _KINDS + kind) * _SIZES + upper
        start = self.start_s[at] + more * self.start_growth_s[at]
        share = np.minimum(more, _ONE)
        reached = self.efficiency[at] + share * self.efficiency_growth[at]
        ratio = np.maximum(wire, _ONE) / (link_bytes_per_s * reached * start)
        knot = np.minimum(np.maximum(np.log2(ratio) - _LOWEST, _NOTHING), _SPAN)
        cell = np.minimum(knot.astype(np.intp), _LAST_CELL)
        part = knot - cell
        cell += at * KNOTS
        low, high = self.ln_ratio[cell], self.ln_ratio[cell + 1]
        own = low + part * (high - low)
        cell += KNOTS
        low, high = self.ln_ratio[cell], self.ln_ratio[cell + 1]
        own += share * (low + part * (high - low) - own)
        return start, start * (_ONE + ratio) * np.exp(own)


@cache
def surfaces() -> Surfaces:
    """Return the surfaces of the table, kept for the next call.

    Examples
    --------
    >>> "nvidia_a100_sxm4_80" in surfaces().position
    True

    """
    return _made(frozenset())


def _made(excluded: frozenset[str]) -> Surfaces:
    """Return the surfaces of chips that were measured and are not left out; each size that one lacks is its kin's."""
    rows = {
        (row.text("chip_id"), row.text("operation"), row.integer("group_size")): row
        for row in _tables.rows("kernel_collective")
        if row.text("chip_id") not in excluded
    }
    chips = sorted({chip_id for chip_id, _, _ in rows})
    shape = (len(chips) + 1, len(KINDS), len(GROUP_SIZES))
    start, efficiency, sigma = np.empty(shape), np.full(shape, EFFICIENCY), np.full(shape, EFFICIENCY_SIGMA)
    ln_ratio = np.zeros((*shape, KNOTS))
    start[0] = _START_S[0] + _START_S[1] * np.log2(GROUP_SIZES)
    # An all-reduce over a link that nobody measured is a reduce-scatter and an all-gather.
    start[0, ALL_REDUCE] *= 2.0
    for place, chip_id in enumerate(chips, 1):
        for kind, name in enumerate(KINDS):
            for size, count in enumerate(GROUP_SIZES):
                row = _row(rows, chip_id, name, count)
                if row is None:
                    start[place, kind, size] = start[0, kind, size]
                    continue
                start[place, kind, size] = row.number("latency_us") * 1e-6
                measured = row.maybe_number("efficiency")
                efficiency[place, kind, size] = row.number("bus_gb_per_s") if measured is None else measured
                sigma[place, kind, size] = row.number("sigma_fraction")
                ln_ratio[place, kind, size] = [float(one) / 1000 for one in row.text("ln_ratio_permille").split(";")]
    grown = [np.diff(one, axis=2, append=one[:, :, -1:]).ravel() for one in (start, efficiency)]
    # Knots of a further size behind the last, so that a weight of zero has something to weigh.
    knots = np.concatenate([ln_ratio.ravel(), np.zeros(KNOTS)])
    return Surfaces(
        {chip_id: place for place, chip_id in enumerate(chips, 1)},
        start.ravel(),
        grown[0],
        efficiency.ravel(),
        grown[1],
        knots,
        sigma.ravel(),
    )


Key = tuple[str, str, int]


def _row(rows: Mapping[Key, _tables.Row], chip_id: str, kind: str, count: int) -> _tables.Row | None:
    """Return the row of a chip, or of its nearest kin of the same generation that was measured in this size."""
    if (chip_id, kind, count) in rows:
        return rows[chip_id, kind, count]
    own = kernel_chip(chip_id)
    others = {one for one, other, size in rows if (other, size) == (kind, count)}
    linked = [one for one in others if rows[one, kind, count].maybe_number("efficiency") is not None]
    lenders = measured_chips(linked, own)
    if not lenders:
        return None
    lender, distance = kin(own, lenders)
    return rows[lender, kind, count] if distance == 1 else None


@cache
def lender_of(chip: str, excluded: frozenset[str] = frozenset()) -> tuple[str, int]:
    """Return the measured chip whose surface a chip has, and how far away it is; an empty name where none lends.

    A chip with links of its own takes those of the nearest of its maker; a card in a slot those of the measured
    machine whose cards talk directly. Direct links and tori of other makers were not measured.

    Examples
    --------
    >>> lender_of("nvidia_h20"), lender_of("amd_mi300x"), lender_of("nvidia_t4")[0]
    (('nvidia_h100_sxm5_80', 1), ('', 3), 'nvidia_rtx_pro_6000_server')

    """
    own = kernel_chip(chip)
    known = surfaces().position.keys() - excluded
    if own.chip_id in known:
        return own.chip_id, 0
    rates = _link_rates()
    if rates[own.chip_id] is None:
        slot = HOST_LENDER in known and host_link_bytes_per_s(own.chip_id) is not None
        return (HOST_LENDER, 2 if own.vendor == "NVIDIA" else 3) if slot else ("", 3)
    linked = {one for one in known if rates.get(one) is not None}
    lenders = {one: made for one, made in measured_chips(linked, own).items() if made.vendor == own.vendor}
    return kin(own, lenders) if lenders else ("", 3)


def node_collective_time_s(
    chip: str,
    kind: str,
    message_bytes: ArrayLike,
    group_size: ArrayLike,
    *,
    bandwidth_bytes_per_s: float | None = None,
    excluded: frozenset[str] = frozenset(),
) -> KernelTime:
    """Return the time of a collective inside a node, as measured on this chip or its measured kin.

    A kin lends start-up, correction and efficiency over the link; the rate of the link is the chip's own.

    Parameters
    ----------
    chip, kind : str
        Chip; ``all_reduce``, ``all_gather``, ``reduce_scatter`` or ``all_to_all``.
    message_bytes, group_size : array of float
        Whole tensor in bytes, and chips that take part; one chip takes no time.
    bandwidth_bytes_per_s : float, optional
        Rate of the links of one chip, one way; that of the catalogue where it is not given.
    excluded : frozenset of str, optional
        Chips that count as not measured: for calibration; sigma is then NaN.

    Raises
    ------
    CostError
        When the catalogue knows neither a link between such chips nor their slot: give the rate.

    Examples
    --------
    >>> time = node_collective_time_s("nvidia_h100_sxm5_80", "all_reduce", 2.0**29, [2, 8]).time_s
    >>> bool(1.9e-3 < time[1] < 2.3e-3)
    True

    """
    size, count = positive(message_bytes=message_bytes, group_size=group_size)
    code = kind_code(kind)
    own = kernel_chip(chip)
    lender, distance = lender_of(own.chip_id, excluded)
    known = surfaces() if not excluded else _made(excluded)
    surface = known.position.get(lender, 0)
    rate = _link_rate(own.chip_id, bandwidth_bytes_per_s)
    doublings = np.log2(np.maximum(count, 2.0))
    whole = np.zeros(size.shape, np.intp)
    _, time = known.time_s(
        whole + surface, whole + code, doublings, wire_bytes(kind, size, count), np.full(size.shape, rate)
    )
    nearest = np.rint(np.clip(doublings, 1, len(GROUP_SIZES))).astype(np.intp) - 1
    sigma = known.sigma_fraction[(surface * len(KINDS) + code) * len(GROUP_SIZES) + nearest]
    other = transfer("collective", max(distance, 1), calibrating=bool(excluded))[0]
    exact = (distance == 0) & np.isin(count, GROUP_SIZES)
    together = count > 1
    return KernelTime(np.where(together, time, 0.0), np.where(together, np.where(exact, sigma, other), 0.0))


@cache
def _link_rates() -> Mapping[str, float | None]:
    return {one.chip_id: one.link_gb_per_s_per_direction for one in catalogue.all_chips()}


def _link_rate(chip_id: str, given: float | None) -> float:
    if given is not None:
        return given
    if chip_id not in _link_rates():
        # Of a card that only the kernel measurements have, efficiencies are over 1 GB/s.
        return 1e9
    known = _link_rates()[chip_id]
    rate = host_link_bytes_per_s(chip_id) if known is None else known * 1e9
    if rate is None:
        text = f"The chip {chip_id} has no scale-up link in the catalogue: give bandwidth_bytes_per_s of its host link."
        raise CostError(text)
    return rate
