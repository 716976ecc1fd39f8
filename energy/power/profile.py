r"""Watts of chips in training: the utilisation profile of the cost engine, state by state.

    P = compute × busy(rate, memory) + memory_bound × busy(0, reached) + communication × waiting + idle × context

A profile says shares of a step; each share is a state of :mod:`energy.power.states` of its own, since watts are not
linear in the load. Board power only: host, memory of the host, network, fans and supplies are the node's overhead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.profile import Profile
from energy.errors import PowerError
from energy.power.accelerators import Device, power_of
from energy.power.boards import board_device, is_plain
from energy.power.caps import cap_of, capped_power
from energy.power.phases import MEMORY_WHILE_COMPUTING, phases
from energy.power.states import (
    COMMUNICATION,
    OVERSHOOT,
    Bands,
    Curve,
    StatePower,
    States,
    curve_of,
    idle_watts,
    state_power,
)

Numbers = NDArray[np.float64]

#: A 95 % band over an 80 % band of the same errors (normal).
_WIDE_OVER_NARROW = 1.53
_STATES = ("busy", "communication", "stall", "compute", "memory")


def profile_power(
    chip: str, profile: Profile, precision: str, *, power_limit_w: float | None = None, clock: ArrayLike = 1.0
) -> StatePower:
    """Return the mean board power of chips during training steps.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    profile : Profile
        Of :func:`energy.cost.profile.profile`, arrays ``(n,)``.
    precision : str
        Of the matrix products: the rate is a share of the dense peak in it.
    power_limit_w : float, W, optional
        Enforced limit of a board; nothing changes at the vendor's maximum or above.
    clock : array_like
        Clock under that limit over the one without, which the profile was made with
        (:func:`energy.cost.requests.clock_of`).

    Returns
    -------
    StatePower
        Watts of one board ``(n,)`` with 80 % and 95 % bands, source and status (``estimate``: shares are estimates); of
        a system at its plug (`energy.power.boards.is_at_plug`) those of its share of the plug.

    Raises
    ------
    PowerError
        The shares do not add up to one, or the limit is not above the idle power, or watts of the chip are not known.
    UnknownNameError
        The chip or precision is not known.

    Notes
    -----
    Bands: those of the chip's curve, what the estimates of two states (waiting, memory beside products) do between
    their ends, and under a limit those of capped boards; in ln watts, as independent. Each is held between bare idle
    and 1.1 times the limit.

    Examples
    --------
    >>> one = Profile(*(np.array([x]) for x in (0.7, 0.6, 0.1, 0.15, 0.05)))
    >>> found = profile_power("nvidia_h100_sxm5_80", one, "bf16")
    >>> bool(450 < found.power_chip_w[0] < 700), found.status
    (True, 'estimate')

    """
    board = _board(chip, precision)
    limit = _limit(board, power_limit_w)
    mean, (low, high) = _mean(board, profile, limit, clock), _ends(board, profile, limit, clock)
    assumed = np.maximum(np.log(high / mean), np.log(mean / low))
    cap = cap_of(board.like_chip_id).bands if limit < board.limit_w else Bands(0.0, 0.0)
    most = np.maximum(board.most_w if limit == board.limit_w else OVERSHOOT * limit, mean)

    def bound(sign: float, own: Numbers | float, capped: float, states: Numbers) -> Numbers:
        width = np.sqrt(own**2 + capped**2 + states**2)
        return np.asarray(np.clip(mean * np.exp(sign * width), board.bare_w, most))

    low80, high80, low95, high95 = _own_widths(board, profile, clock)
    narrow = assumed / _WIDE_OVER_NARROW
    return StatePower(
        mean,
        bound(-1.0, low80, cap.ln80, narrow),
        bound(1.0, high80, cap.ln80, narrow),
        bound(-1.0, low95, cap.ln95, assumed),
        bound(1.0, high95, cap.ln95, assumed),
        board.source,
        "estimate",
    )


class _Board(NamedTuple):
    """What draws the power: a board on the curve of states, or what `energy.power.boards` says of it."""

    curve: Curve | None
    device: Device
    like_chip_id: str
    precision: str
    limit_w: float
    bare_w: float
    most_w: float
    source: str


def _board(chip: str, precision: str) -> _Board:
    one = board_device(chip)
    if is_plain(chip):
        curve = curve_of(chip, precision)
        bare = idle_watts(curve.chip_id, curve, curve.power_limit_w).idle_w
        most = OVERSHOOT * curve.power_limit_w
        return _Board(curve, one, curve.chip_id, curve.precision, curve.power_limit_w, bare, most, curve.source)
    found = power_of(one, States(idle=1.0), precision)
    bare, most = float(found.power_w), OVERSHOOT * one.limit_w.high
    source = "; ".join(part for part in (found.source, f"power_devices.csv: {one.device}", one.note) if part)
    return _Board(None, one, one.like_chip_id, precision, one.limit_w.value, bare, most, source)


def _watts(board: _Board, states: States) -> Numbers:
    if board.curve is not None:
        return state_power(board.curve.chip_id, states, board.precision).power_chip_w
    return power_of(board.device, states, board.precision).power_w


def board_watts(chip: str, states: States, precision: str) -> Numbers:
    """Return the watts of what an estimate counts as one chip, in states, without a limit and without ranges.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    states : States
        Shares of time and loads, of any one shape.
    precision : str
        Of the matrix products.

    Raises
    ------
    UnknownNameError, PowerError
        As `profile_power`.

    Examples
    --------
    >>> bool(board_watts("nvidia_gh200_96", States(busy=1.0, compute=0.6, memory=0.3), "bf16") < 700)
    True

    """
    return _watts(_board(chip, precision), states)


def _own_widths(board: _Board, profile: Profile, clock: ArrayLike) -> tuple[Numbers | float, ...]:
    """Return the widths of the bands of the watts alone in ln watts: low80, high80, low, high; none negative."""
    if board.curve is not None:
        bands = board.curve.bands
        return bands.ln80, bands.ln80, bands.ln95, bands.ln95
    split = phases(profile, clock=clock)
    found = power_of(board.device, split.states, board.precision)  # errors of the phases of one chip go together
    mean = (split.shares * found.power_w).sum(axis=0)
    edges = (found.power_low80_w, found.power_high80_w, found.power_low_w, found.power_high_w)
    return tuple(np.abs(np.log((split.shares * edge).sum(axis=0) / mean)) for edge in edges)


def _limit(board: _Board, power_limit_w: float | None) -> float:
    if power_limit_w is None:
        return board.limit_w
    if not (power_limit_w > board.bare_w and np.isfinite(power_limit_w)):
        raise PowerError(
            f"The limit of {board.device.chip_id} is {power_limit_w:g} W and its idle power {board.bare_w:g} W: give a "
            "limit above."
        )
    return min(power_limit_w, board.limit_w)


def _mean(
    board: _Board,
    profile: Profile,
    limit: float,
    clock: ArrayLike,
    *,
    beside: float | None = None,
    waiting: float = 1.0,
) -> Numbers:
    """Return watts ``(n,)``; ``waiting`` scales the watts of waiting for other chips."""
    split = phases(profile, clock=clock, memory_while_computing=beside)
    # Only the first phase differs between scenarios: the others are evaluated once.
    first, rest = _rows(split.states, 0, 1), _rows(split.states, 1, len(split.shares), scenarios=1)
    watts = [_watts(board, one) for one in (first, rest)]
    if limit < board.limit_w:
        cap = cap_of(board.like_chip_id)
        how = cap.ceiling_fraction, cap.sharpness, cap.floor_fraction
        watts = [capped_power.kernel(one, limit, *how) for one in watts]
    others = (split.shares[1:] * watts[1] * np.array([[1.0], [waiting], [1.0]])).sum(axis=0)
    return np.asarray(split.shares[0] * watts[0][0] + others)


def _rows(states: States, start: int, stop: int, scenarios: int | None = None) -> States:
    """Return some phases of states of shape ``(4, n)``: of the first scenarios, or of all."""
    return States(**{one: np.asarray(getattr(states, one))[start:stop, :scenarios] for one in _STATES})


def _ends(board: _Board, profile: Profile, limit: float, clock: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return watts with both estimates of states at their low, and at their high end."""
    value, low, high = COMMUNICATION
    _, least, most = MEMORY_WHILE_COMPUTING
    return (
        _mean(board, profile, limit, clock, beside=least, waiting=low / value),
        _mean(board, profile, limit, clock, beside=most, waiting=high / value),
    )
