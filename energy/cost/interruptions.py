"""Checkpoints and interruptions: what a run that can be stopped takes longer.

A checkpoint takes delta; the work between two of them tau; the mean time between interruptions is M, the restart R.

    optimal tau = sqrt(2 delta M)                         (Young, Commun. ACM 17, 530, 1974)
    elapsed = useful (1 + delta / tau) / (1 - (tau / 2 + R) / M)

Each interruption loses half an interval of work and a restart. Daly (Future Gener. Comput. Syst. 22, 303, 2006) gives
terms of higher order, which matter as delta nears M.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from energy.errors import CostError
from energy.units import takes


def _positive(name: str, value: Any, unit: str) -> None:
    array = np.asarray(value, np.float64)
    bad = ~((array > 0) & ~np.isnan(array))
    if bad.any():
        raise CostError(f"{name} of {float(array[bad].flat[0]):g} {unit}: give a number above zero.")


def _not_negative(name: str, value: Any, unit: str) -> None:
    array = np.asarray(value, np.float64)
    bad = ~(array >= 0)
    if bad.any():
        raise CostError(f"{name} of {float(array[bad].flat[0]):g} {unit}: give zero or more.")


@takes("s", checkpoint_time="s", mean_time_between_interruptions="s")
def checkpoint_interval(checkpoint_time: Any, mean_time_between_interruptions: Any) -> Any:
    """Return the time of work between checkpoints that loses least: sqrt(2 delta M) (Young 1974).

    Parameters
    ----------
    checkpoint_time : Quantity, s
        Time that a checkpoint stops the work.
    mean_time_between_interruptions : Quantity, s
        Of the whole job, see :func:`job_mean_time`.

    Raises
    ------
    CostError
        When either is not positive.

    Examples
    --------
    >>> from energy.units import quantity
    >>> checkpoint_interval(quantity(60, "s"), quantity(10, "h")).to("min").magnitude.round(1)
    np.float64(34.6)

    """
    _positive("A checkpoint", checkpoint_time, "s")
    _positive("A mean time between interruptions", mean_time_between_interruptions, "s")
    return np.sqrt(2.0 * np.asarray(checkpoint_time) * mean_time_between_interruptions)


@takes("s", checkpoint_time="s", mean_time_between_interruptions="s")
def checkpoint_interval_daly(checkpoint_time: Any, mean_time_between_interruptions: Any) -> Any:
    """Return the interval with the terms of higher order: M where a checkpoint takes 2 M or longer (Daly 2006, eq. 37).

        sqrt(2 delta M) (1 + sqrt(delta / 2M) / 3 + delta / 18M) - delta

    Examples
    --------
    >>> from energy.units import quantity
    >>> checkpoint_interval_daly(quantity(60, "s"), quantity(10, "h")).to("min").magnitude.round(1)
    np.float64(34.0)

    """
    _positive("A checkpoint", checkpoint_time, "s")
    _positive("A mean time between interruptions", mean_time_between_interruptions, "s")
    delta, mean = np.asarray(checkpoint_time, np.float64), np.asarray(mean_time_between_interruptions, np.float64)
    share = delta / (2.0 * mean)
    found = np.sqrt(2.0 * delta * mean) * (1.0 + np.sqrt(share) / 3.0 + share / 9.0) - delta
    return np.where(delta < 2.0 * mean, found, mean)


@takes("s", machine_mean_time="s", machines="")
def job_mean_time(machine_mean_time: Any, machines: Any) -> Any:
    """Return the mean time between interruptions of a job that any of its machines stops: M / machines.

    Machines are taken as independent; a provider that takes back many at once interrupts less often than this.

    Examples
    --------
    >>> from energy.units import quantity
    >>> float(job_mean_time(quantity(100, "h"), 20).to("h").magnitude)
    5.0

    """
    _positive("A mean time between interruptions", machine_mean_time, "s")
    _positive("A number of machines", machines, "machines")
    return np.asarray(machine_mean_time, np.float64) / machines


@takes("s", checkpoint_size="byte", write_rate="byte/s")
def checkpoint_time(checkpoint_size: Any, write_rate: Any) -> Any:
    """Return the time to write a checkpoint at a rate, of the whole job; what is written beside the work costs less.

    Examples
    --------
    >>> from energy.units import quantity
    >>> float(checkpoint_time(checkpoint_size.kernel(70e9) * quantity(1, "byte"), quantity(20, "GB/s")).magnitude)
    49.0

    """
    _positive("A checkpoint", checkpoint_size, "bytes")
    _positive("A rate", write_rate, "byte/s")
    return np.asarray(checkpoint_size, np.float64) / write_rate


@takes("byte", parameters="", bytes_per_parameter="byte")
def checkpoint_size(parameters: Any, bytes_per_parameter: Any = 14.0) -> Any:
    """Return the size of a checkpoint.

    Parameters
    ----------
    parameters : float or array
        Trained parameters.
    bytes_per_parameter : Quantity, byte
        14 by default: weights in 16 bits, master weights and both moments of Adam in 32.

    Examples
    --------
    >>> print(checkpoint_size(70e9))
    980000000000.0 B

    """
    _positive("A number of parameters", parameters, "parameters")
    return np.asarray(parameters, np.float64) * bytes_per_parameter


@takes("s", useful_time="s", checkpoint_time="s", interval="s", restart_time="s", mean_time_between_interruptions="s")
def elapsed_time(
    useful_time: Any, checkpoint_time: Any, interval: Any, restart_time: Any, mean_time_between_interruptions: Any
) -> Any:
    """Return the expected time of a run with checkpoints and interruptions.

    Parameters
    ----------
    useful_time : Quantity, s
        Time that the work itself takes.
    checkpoint_time, interval, restart_time : Quantity, s
        Time of a checkpoint, work between two of them, time from an interruption until the work goes on.
    mean_time_between_interruptions : Quantity, s
        Of the job.

    Raises
    ------
    CostError
        When a number is not positive, or each interruption loses as much as lies between two: it never ends.

    Examples
    --------
    >>> from energy.units import quantity
    >>> hour, minute = quantity(1, "h"), quantity(1, "min")
    >>> elapsed_time(100 * hour, 1 * minute, 35 * minute, 10 * minute, 10 * hour).to("h").magnitude.round(1)
    np.float64(107.8)

    """
    _not_negative("A useful time", useful_time, "s")
    _not_negative("A checkpoint", checkpoint_time, "s")
    _positive("An interval", interval, "s")
    _not_negative("A restart", restart_time, "s")
    _positive("A mean time between interruptions", mean_time_between_interruptions, "s")
    lost = np.asarray(interval, np.float64) / 2.0 + restart_time
    kept = 1.0 - lost / mean_time_between_interruptions
    if np.any(kept <= 0.0):
        worst = float(np.max(lost / np.asarray(mean_time_between_interruptions, np.float64)))
        text = f"Each interruption loses {worst:.3g} times the time between two, so that the run never ends"
        raise CostError(f"{text}: checkpoint more often, restart faster, or use fewer machines.")
    return np.asarray(useful_time, np.float64) * (1.0 + np.asarray(checkpoint_time) / interval) / kept
