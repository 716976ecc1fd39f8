r"""Watts of chips in training: the utilisation profile of the cost engine, state by state.

    P = compute × busy(rate, memory) + memory_bound × busy(0, reached) + communication × waiting + idle × context

A profile says shares of a step; each share is a state of :mod:`energy.power.states` of its own, since watts are not
linear in the load. Board power only: host, memory of the host, network, fans and supplies are the node's overhead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.passes import MEMORY_REACHED
from energy.cost.profile import Profile
from energy.errors import PowerError
from energy.power.caps import cap_of, capped_power
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

#: Share of the memory bandwidth that matrix products and attention use beside their arithmetic: value, low, high. An
#: estimate: operands of products of thousands in each direction, read a few times because the cache is smaller.
MEMORY_WHILE_COMPUTING = (0.10, 0.0, 0.30)
#: A 95 % band over an 80 % band of the same errors (normal).
_WIDE_OVER_NARROW = 1.53
_STATES = ("busy", "communication", "stall", "compute", "memory")


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """A profile as pure states: ``shares`` of time, array ``(4, n)``, and the states that they are shares of.

    The rows are computing, moving data, waiting for other chips, waiting for the pipeline or the host.
    """

    shares: Numbers
    states: States


def phases(profile: Profile, *, clock: ArrayLike = 1.0, memory_while_computing: float | None = None) -> Phases:
    """Return the states of chips that a utilisation profile means.

    Parameters
    ----------
    profile : Profile
        Shares of a step and rate while computing, arrays ``(n,)``.
    clock : array_like
        Clock under a limit over the one without it: the rate is counted at the full clock.
    memory_while_computing : float, optional
        Share of the memory bandwidth beside products; the estimate of :data:`MEMORY_WHILE_COMPUTING` without it.

    Returns
    -------
    Phases
        Shares that add up to one in each column, and states of shape ``(4, n)``.

    Raises
    ------
    PowerError
        The shares do not add up to one.

    Examples
    --------
    >>> one = Profile(*(np.array([x]) for x in (0.7, 0.6, 0.1, 0.15, 0.05)))
    >>> found = phases(one)
    >>> found.shares[:, 0].tolist(), np.asarray(found.states.compute)[:, 0].tolist()
    ([0.7, 0.1, 0.15, 0.05], [0.6, 0.0, 0.0, 0.0])

    """
    shares = np.stack(
        [np.atleast_1d(one) for one in (profile.compute, profile.memory_bound, profile.communication, profile.idle)]
    )
    total = shares.sum(axis=0)
    if not np.all(np.abs(total - 1.0) <= 1e-6):
        bad = float(total[~(np.abs(total - 1.0) <= 1e-6)][0])
        raise PowerError(f"The shares of a step add up to {bad:g}: compute, memory_bound, communication, idle make 1.")
    beside = MEMORY_WHILE_COMPUTING[0] if memory_while_computing is None else memory_while_computing
    rate = np.atleast_1d(profile.compute_rate / np.asarray(clock, np.float64))
    nothing, whole = np.zeros_like(shares), np.ones_like(rate)
    compute, memory, busy = nothing.copy(), nothing.copy(), nothing.copy()
    waiting, stall = nothing.copy(), nothing.copy()
    compute[0], memory[0], memory[1] = rate, beside, MEMORY_REACHED
    busy[0], busy[1], waiting[2], stall[3] = whole, whole, whole, whole
    return Phases(shares, States(busy=busy, communication=waiting, stall=stall, compute=compute, memory=memory))


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
        Watts of one board ``(n,)`` with 80 % and 95 % bands, source and status (``estimate``: shares are estimates).

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
    curve = curve_of(chip, precision)
    limit = _limit(chip, curve, power_limit_w)
    mean, (low, high) = _mean(curve, profile, limit, clock), _ends(curve, profile, limit, clock)
    assumed = np.maximum(np.log(high / mean), np.log(mean / low))
    cap = cap_of(curve.chip_id).bands if limit < curve.power_limit_w else Bands(0.0, 0.0)
    near = np.sqrt(curve.bands.ln80**2 + cap.ln80**2 + (assumed / _WIDE_OVER_NARROW) ** 2)
    wide = np.sqrt(curve.bands.ln95**2 + cap.ln95**2 + assumed**2)
    bare = idle_watts(curve.chip_id, curve, curve.power_limit_w).idle_w
    most = np.maximum(OVERSHOOT * limit, mean)

    def bound(width: Numbers) -> Numbers:
        return np.asarray(np.clip(mean * np.exp(width), bare, most))

    return StatePower(mean, bound(-near), bound(near), bound(-wide), bound(wide), curve.source, "estimate")


def _limit(chip: str, curve: Curve, power_limit_w: float | None) -> float:
    if power_limit_w is None:
        return curve.power_limit_w
    bare = idle_watts(chip, curve, curve.power_limit_w).idle_w
    if not (power_limit_w > bare and np.isfinite(power_limit_w)):
        raise PowerError(
            f"The limit of {curve.chip_id} is {power_limit_w:g} W and its idle power {bare:g} W: give a limit above."
        )
    return min(power_limit_w, curve.power_limit_w)


def _mean(
    curve: Curve,
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
    watts = [state_power(curve.chip_id, one, curve.precision).power_chip_w for one in (first, rest)]
    if limit < curve.power_limit_w:
        cap = cap_of(curve.chip_id)
        how = cap.ceiling_fraction, cap.sharpness, cap.floor_fraction
        watts = [capped_power.kernel(one, limit, *how) for one in watts]
    others = (split.shares[1:] * watts[1] * np.array([[1.0], [waiting], [1.0]])).sum(axis=0)
    return np.asarray(split.shares[0] * watts[0][0] + others)


def _rows(states: States, start: int, stop: int, scenarios: int | None = None) -> States:
    """Return some phases of states of shape ``(4, n)``: of the first scenarios, or of all."""
    return States(**{one: np.asarray(getattr(states, one))[start:stop, :scenarios] for one in _STATES})


def _ends(curve: Curve, profile: Profile, limit: float, clock: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return watts with both estimates of states at their low, and at their high end."""
    value, low, high = COMMUNICATION
    _, least, most = MEMORY_WHILE_COMPUTING
    return (
        _mean(curve, profile, limit, clock, beside=least, waiting=low / value),
        _mean(curve, profile, limit, clock, beside=most, waiting=high / value),
    )
