"""Energy of a run from the power of its nodes over time, by two rules.

MLPerf Training multiplies the mean power over the *whole logging window*, which often starts about a minute before the
run, by the time to train. This project counts what the nodes drew from the start to the stop of the run. The two are
equal where the log is cut to the run; on runs of a few minutes MLPerf's figure is lower by a fifth and more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import PowerError
from energy.units import takes

Numbers = NDArray[np.float64]


class RunEnergy(NamedTuple):
    """Energy of one node in one run, in J_it, by both rules, and what they rest on."""

    energy_run_it_j: float
    energy_window_it_j: float
    power_run_it_w: float
    power_window_it_w: float
    run_s: float

    @property
    def window_over_run(self) -> float:
        """Return the figure by MLPerf's rule over ours."""
        return self.energy_window_it_j / self.energy_run_it_j


@takes("J_it", power="W_it", duration="s")
def constant_power_energy(power: Any, duration: Any) -> Any:
    """Return mean power times time.

    Parameters
    ----------
    power : Quantity, W_it
        Mean power at the plug.
    duration : Quantity, s
        Time.

    Raises
    ------
    UnitError
        The power is not one at the plug.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(constant_power_energy(quantity(7.0, "kW_it"), quantity(60.0, "s")).to("kJ_it"))
    420.0 kJ_it

    """
    return power * duration


def run_energy(time_since_start_s: ArrayLike, power_it_w: ArrayLike, run_s: float) -> RunEnergy:
    """Return the energy of a run by our rule, and by MLPerf's.

    Parameters
    ----------
    time_since_start_s : array, s
        Times of the samples, ascending; 0 is the start of the run, negative ones are before it.
    power_it_w : array, W
        Power of the node at the plug at these times.
    run_s : float, s
        Time from start to stop of the run.

    Raises
    ------
    PowerError
        Times do not ascend, powers are negative or missing, or fewer than two samples lie within the run.

    Notes
    -----
    Ours: trapezoids between samples from 0 to run_s, ends interpolated; where the log ends before the run does, its
    last power holds. MLPerf's: mean of all samples × run_s.

    Examples
    --------
    >>> found = run_energy([-60, -30, 0, 60, 120], [2000, 2000, 7000, 7000, 7000], 120.0)
    >>> found.energy_run_it_j, round(found.window_over_run, 3)
    (840000.0, 0.714)

    """
    time, power = (np.asarray(one, dtype=np.float64) for one in (time_since_start_s, power_it_w))
    if time.ndim != 1 or time.shape != power.shape or not np.all(np.diff(time) > 0.0):
        raise PowerError("The times of a trace must ascend, one for each power: sort them and drop repeats.")
    if not np.all(power >= 0.0):
        raise PowerError("The trace has a power that is negative or missing: leave such samples out.")
    inside = (time > 0.0) & (time < run_s)
    if not run_s > 0.0 or np.sum((time >= 0.0) & (time <= run_s)) < 2:
        raise PowerError(f"Fewer than two samples lie within the run of {run_s:g} s: give a longer or denser trace.")
    at = np.concatenate([[0.0], time[inside], [run_s]])
    energy = float(np.trapezoid(np.interp(at, time, power), at))
    mean_window = float(power.mean())
    window = float(constant_power_energy.kernel(mean_window, run_s))
    return RunEnergy(energy, window, energy / run_s, mean_window, run_s)
