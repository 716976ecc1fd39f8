"""Watts of a chip from what monitoring says of it, in three depths; the less is known, the wider the range.

- Activity of the chip's parts (DCGM's SM, tensor and DRAM activity) is a load: the curve of ``power.states``.
- ``GPU_UTIL`` only says that some kernel ran. While one runs, a chip works for a part of the time and waits for the
  rest with its clocks up; how large that part is, two production clusters tell (`WORKING_SHARE`).
- A chip of which only the scheduler knows that a job holds it is taken as one on which kernels run all the time.

The levels between which a chip moves are bare idle, idle with context, and working at a stated load (`DEFAULT_LOAD`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.catalogue.chips import chip as chip_of
from energy.errors import PowerError
from energy.power.accelerators import Device, DevicePower, power_of
from energy.power.boards import board_device, is_plain
from energy.power.states import OVERSHOOT, Curve, States, busy_power, curve_of, idle_watts, load_of
from energy.units import takes

Numbers = NDArray[np.float64]


class Load(NamedTuple):
    """Rate over the dense peak, and share of the memory bandwidth."""

    compute: float
    memory: float


#: Load of a chip that works and of which nothing else is known. Compute: pre-training runs report 0.20 to 0.46 of peak
#: (training_energy.csv, read); memory: an estimate. The curve is flat here: 0.3 to 0.6 of peak are within 7 % of power.
DEFAULT_LOAD = Load(0.4, 0.3)
#: Lightest load that a chip with all its multiprocessors active is taken to have (estimate): the low end of its range.
LIGHT_LOAD = Load(0.1, 0.1)
#: Ends of an 80 % range, as a share of the way to those of a 95 % range (normal errors: 1.2816 / 1.9600).
NARROWER = 0.654


class Share(NamedTuple):
    """A share with the ends of its 80 % and 95 % ranges."""

    value: float
    low80: float
    high80: float
    low: float
    high: float


#: How far a chip on which kernels run stands on the way from idle with context (0) to working at the default load (1).
#: Value: mean of two production clusters of A100 (0.57 and 0.49); range: that of single readings there while kernels
#: ran. ``scripts/fit_fleet_power.py`` reckons it again.
WORKING_SHARE = Share(0.53, 0.03, 1.12, -0.03, 1.19)
WORKING_SOURCE = "acme_trace: boards of two production clusters while GPU_UTIL says that kernels run, 15 s readings"


class Watts(NamedTuple):
    """Board watts of one chip with the ends of its 80 % and 95 % ranges."""

    value: float
    low80: float
    high80: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Levels:
    """Watts between which one chip moves, and where they come from.

    Attributes
    ----------
    idle : Watts
        Bare idle: no process on the chip.
    context : Watts
        A process holds the chip, no kernel runs.
    working_w : float, W
        Kernels at the default load.
    light_w : float, W
        Kernels at the lightest load that full activity is taken to mean.
    widths : tuple of float
        Signed widths of the bands at the default load in ln watts: low80, high80, low, high.
    most_w : float, W
        The most that a board of it may show for a moment.
    curve : Curve or None
        For loads that are known; None where the watts of ``device`` follow another law or limit.
    device : Device
        What the watts are of (`energy.power.boards`): a board, or a system at its plug.
    source, status : str
        Of the watts.
    """

    chip_id: str
    limit_w: float
    idle: Watts
    context: Watts
    working_w: float
    light_w: float
    widths: tuple[float, float, float, float]
    most_w: float
    curve: Curve | None
    device: Device
    source: str
    status: str

    @property
    def limit_high_w(self) -> float:
        """Return the highest limit that is possible: the limit itself where it is known."""
        return self.limit_w if self.curve is not None else self.device.limit_w.high

    def busy_w(self, compute: ArrayLike, memory: ArrayLike) -> Numbers:
        """Return watts at loads that are known: rate over the dense peak, share of the bandwidth."""
        if self.curve is None:
            rate, moved = np.broadcast_arrays(np.asarray(compute, np.float64), np.asarray(memory, np.float64))
            return power_of(self.device, States(busy=np.ones_like(rate), compute=rate, memory=moved)).power_w
        base, load = self.context.value / self.limit_w, load_of(self.curve, compute, memory)
        return np.asarray(busy_power.kernel(self.limit_w, base, self.curve.ceiling_fraction, load), dtype=np.float64)


@cache
def levels_of(chip: str) -> Levels:
    """Return the levels of a chip.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.

    Raises
    ------
    UnknownNameError
        The chip is not known; the message gives the nearest names.
    PowerError
        ``power_devices.csv`` has no row of it.

    Notes
    -----
    Boards with a limit and an idle power of their own: the curve of states. Others, as systems at their plug, chips
    whose maker measured their mean, and those of which nobody published a limit: the law and range of their device.

    Examples
    --------
    >>> found = levels_of("nvidia_a100_sxm4_80")
    >>> found.idle.value, found.context.value, round(found.working_w)
    (62.0, 80.0, 371)
    >>> round(levels_of("google_tpu_v3").working_w) < 262
    True

    """
    return _of_curve(chip) if is_plain(chip) else _of_device(board_device(chip))


def _of_curve(chip: str) -> Levels:
    curve = curve_of(chip)
    limit = curve.power_limit_w
    known = chip_of(chip)
    watts = idle_watts(chip, curve, limit)
    # a rule of thumb that lies above what was read with a process on the chip is held down to it, range and all
    is_held_down = known.idle_w is not None and watts.idle_w == watts.context_w < known.idle_w
    idle_high = watts.idle_w if is_held_down else known.idle_high_w
    idle = _measured_range(curve.chip_id, "idle", watts.idle_w, known.idle_low_w, idle_high)
    # a context that nobody measured is the base of a curve: from bare idle to what the curve's band allows
    upper = watts.context_w * float(np.exp(curve.bands.ln95))
    context = _measured_range(curve.chip_id, "idle_context", watts.context_w, watts.idle_w, upper)
    base = watts.context_w / limit
    working, light = (
        float(busy_power.kernel(limit, base, curve.ceiling_fraction, load_of(curve, load.compute, load.memory)))
        for load in (DEFAULT_LOAD, LIGHT_LOAD)
    )
    return Levels(
        *(curve.chip_id, limit, idle, context, working, light),
        *(curve.bands.widths, OVERSHOOT * limit, curve, board_device(chip), curve.source, curve.status),
    )


def _of_device(one: Device) -> Levels:
    idle, context, working, light = (
        power_of(one, states)
        for states in (
            States(idle=1.0),
            States(idle_context=1.0),
            States(busy=1.0, compute=DEFAULT_LOAD.compute, memory=DEFAULT_LOAD.memory),
            States(busy=1.0, compute=LIGHT_LOAD.compute, memory=LIGHT_LOAD.memory),
        )
    )
    power = float(working.power_w)
    low80, high80, low, high = (float(np.log(edge / power)) for edge in _edges_of(working))
    return Levels(
        *(one.chip_id, one.limit_w.value, _watts_of(idle), _watts_of(context), power, float(light.power_w)),
        *((low80, high80, low, high), OVERSHOOT * one.limit_w.high, None, one, working.source, working.status),
    )


def _edges_of(power: DevicePower) -> tuple[float, float, float, float]:
    edges = (power.power_low80_w, power.power_high80_w, power.power_low_w, power.power_high_w)
    low80, high80, low, high = (float(edge) for edge in edges)
    return low80, high80, low, high


def _watts_of(power: DevicePower) -> Watts:
    return Watts(float(power.power_w), *_edges_of(power))


def _around(value: float, low: float, high: float) -> Watts:
    """Return a value with its 95 % range, and the 80 % range inside it."""
    return Watts(value, value - NARROWER * (value - low), value + NARROWER * (high - value), low, high)


def _measured_range(chip_id: str, state: str, value: float, low: float | None, high: float | None) -> Watts:
    """Return idle watts with the range of the measurement where it gives one, else with what is passed."""
    ends = [value, *(end for end in (low, high) if end is not None)]
    for row in _tables.rows("power_states"):
        if (row.text("chip_id"), row.text("state")) == (chip_id, state):
            cells = (row.maybe_number("power_chip_low_w"), row.maybe_number("power_chip_high_w"))
            measured = [cell for cell in cells if cell is not None]
            ends = [value, *measured] if measured else ends
    return _around(value, min(ends), max(ends))


def share_of(value: float, low: float, high: float) -> Share:
    """Return a working share that somebody states with its 95 % range.

    Parameters
    ----------
    value, low, high : float, 0 to 1

    Raises
    ------
    PowerError
        The ends do not enclose the value, or lie outside 0 to 1.

    Examples
    --------
    >>> share_of(0.8, 0.6, 0.9).low
    0.6

    """
    if not 0.0 <= low <= value <= high <= 1.0:
        raise PowerError(
            f"A working share of {value:g} ({low:g} to {high:g}): give shares from 0 to 1, low, value, high in order."
        )
    narrow = _around(value, low, high)
    return Share(value, narrow.low80, narrow.high80, low, high)


@takes("W_chip/chip", context_power="W_chip/chip", working_power="W_chip/chip", working_share="")
def running_power(context_power: Any, working_power: Any, working_share: Any) -> Any:
    """Return the mean board power of a chip on which kernels run, of unknown load.

    Parameters
    ----------
    context_power : Quantity, W_chip/chip
        Of a chip that a process holds while no kernel runs.
    working_power : Quantity, W_chip/chip
        At the default load.
    working_share : float or array
        Share of the way from the one to the other.

    Returns
    -------
    Quantity, W_chip/chip
        Same shape as the inputs broadcast.

    Raises
    ------
    UnitError
        An argument is not a power per chip.

    Notes
    -----
    P = P_context + s (P_working - P_context). The share s is estimated from the means of two production clusters
    (AcmeTrace, read): each predicted from the other is 9 % too low and 10 % too high.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(running_power(quantity(80.0, "W_chip/chip"), quantity(380.0, "W_chip/chip"), 0.5))
    230.0 W_chip/chip

    """
    return context_power + working_share * (working_power - context_power)


def held_power(levels: Levels, share: Share = WORKING_SHARE) -> Watts:
    """Return the power of a chip that a job holds and on which kernels run, of unknown load.

    Parameters
    ----------
    levels : Levels
        Of the chip.
    share : Share
        How far it works in the mean.

    Returns
    -------
    Watts
        The range is that of single readings, joined with the error of the curve as independent in ln watts, between
        bare idle and 1.1 times the limit. So it says where one reading lies; the mean of many lies nearer to the value.

    Examples
    --------
    >>> found = held_power(levels_of("nvidia_a100_sxm4_80"))
    >>> round(found.value), found.low >= 60.2, round(found.high)
    (234, True, 440)

    """
    values = [running_power.kernel(levels.context.value, levels.working_w, part) for part in share]
    value = float(values[0])
    ends = zip(values[1:], levels.widths, strict=True)
    return Watts(value, *(_joined(levels, value, end, band) for end, band in ends))


def _joined(levels: Levels, value: float, end: float, band: float) -> float:
    """Return the end of a range from two independent deviations in ln watts, on the side of the band's sign."""
    spread = np.log(max(end, levels.idle.low) / value)
    width = float(np.hypot(spread, band))
    return float(np.clip(value * np.exp(width if band > 0 else -width), levels.idle.low, levels.most_w))


def active_power_range(levels: Levels) -> Watts:
    """Return the power of a chip whose multiprocessors are active all the time, at the default load.

    Parameters
    ----------
    levels : Levels
        Of the chip.

    Returns
    -------
    Watts
        Its low ends reach down to the lightest load; ratios of its ends to its value are the band of activity readings.

    Examples
    --------
    >>> found = active_power_range(levels_of("nvidia_h100_sxm5_80"))
    >>> found.low < found.low80 < found.value < found.high80 <= found.high
    True

    """
    to_low80, to_high80, to_low, to_high = levels.widths
    value = levels.working_w
    low80 = value - NARROWER * (value - levels.light_w)
    most = levels.most_w
    return Watts(
        value,
        max(min(low80, value * float(np.exp(to_low80))), levels.idle.low),
        min(value * float(np.exp(to_high80)), most),
        max(min(levels.light_w, value * float(np.exp(to_low))), levels.idle.low),
        min(value * float(np.exp(to_high)), most),
    )


def use_power(levels: Levels, use: ArrayLike, is_held: ArrayLike, share: Share = WORKING_SHARE) -> Numbers:
    """Return board watts by the share of time in which some kernel ran (``GPU_UTIL``).

    Parameters
    ----------
    levels : Levels
        Of the chip.
    use : array, 0 to 1
        Share of time with any kernel.
    is_held : array of bool
        Whether a job holds the chip: without a kernel it then stands with context, else bare.
    share : Share
        How far it works while kernels run.

    Returns
    -------
    array of float, W

    Notes
    -----
    P = (1 - u) P_0 + u P_running, with P_0 bare idle or idle with context: linear in u, since u is a share of time.

    Examples
    --------
    >>> a100 = levels_of("nvidia_a100_sxm4_80")
    >>> use_power(a100, [0.0, 0.0, 0.698], [False, True, False]).round().tolist()
    [62.0, 80.0, 182.0]

    """
    rest = np.where(np.asarray(is_held, dtype=bool), levels.context.value, levels.idle.value)
    running = running_power.kernel(levels.context.value, levels.working_w, share.value)
    return np.asarray(rest + np.asarray(use, dtype=np.float64) * (running - rest), dtype=np.float64)


def activity_power(
    levels: Levels, multiprocessors: ArrayLike, tensor: ArrayLike, dram: ArrayLike, is_held: ArrayLike
) -> Numbers:
    """Return board watts by the activity of the chip's parts.

    Parameters
    ----------
    levels : Levels
        Of the chip.
    multiprocessors : array, 0 to 1
        Share of cycles in which a multiprocessor has a warp (``DCGM_FI_PROF_SM_ACTIVE``); NaN where not read.
    tensor, dram : array, 0 to 1
        Share of cycles in which the tensor pipe, the memory interface is active; NaN where not read.
    is_held : array of bool
        Whether a job holds the chip.

    Returns
    -------
    array of float, W
        NaN where none of the three was read.

    Notes
    -----
    P = (1 - a) P_0 + a P(load). The chip works in the share of time that its multiprocessors are active; tensor and
    DRAM activity over that share are the loads meanwhile, limited to 1. A load that was not read is the default one.
    Where the multiprocessors were not read, they are taken as active all the time: the loads are then means, and the
    law's bend makes the watts an upper estimate. No measured row checks it as a whole; the curve is fitted to kernels.

    Examples
    --------
    >>> h100 = levels_of("nvidia_h100_sxm5_80")
    >>> watts = activity_power(h100, [1.0, 0.5, np.nan], [0.6, np.nan, np.nan], [0.4, np.nan, np.nan], [True] * 3)
    >>> bool(watts[0] > watts[1] > h100.context.value), bool(np.isnan(watts[2]))
    (True, True)

    """
    active, pipe, moved = (np.asarray(values, dtype=np.float64) for values in (multiprocessors, tensor, dram))
    is_read = ~(np.isnan(active) & np.isnan(pipe) & np.isnan(moved))
    part = np.where(np.isnan(active), 1.0, active)
    loads = [
        np.where(np.isnan(read), usual, np.clip(np.divide(read, part, out=np.zeros_like(part), where=part > 0), 0, 1))
        for read, usual in ((pipe, DEFAULT_LOAD.compute), (moved, DEFAULT_LOAD.memory))
    ]
    busy = levels.busy_w(loads[0], loads[1])
    rest = np.where(np.asarray(is_held, dtype=bool), levels.context.value, levels.idle.value)
    return np.where(is_read, rest + part * (busy - rest), np.nan)
