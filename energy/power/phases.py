"""A utilisation profile as pure states: what chips do in a training step, one state at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.passes import MEMORY_REACHED
from energy.cost.profile import Profile
from energy.errors import PowerError
from energy.power.states import States

Numbers = NDArray[np.float64]

#: Share of the memory bandwidth that matrix products and attention use beside their arithmetic: value, low, high. An
#: estimate: operands of products of thousands in each direction, read a few times because the cache is smaller.
MEMORY_WHILE_COMPUTING = (0.10, 0.0, 0.30)


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
