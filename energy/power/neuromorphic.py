"""Power of chips that compute by events: idle floor plus events per second times the energy of an event.

The energy of an event is the published power at the published rate of operations where a chip has both; else the sum of
what a published layout spends on one (two loads, an operation, a store, a message), at 22 nm, which other chips meet
within a factor of five. Sparse activity lowers the rate and so the power; the floor stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue.chips import chip as chip_of
from energy.catalogue.operations import operation
from energy.errors import PowerError
from energy.power.accelerators import Device, DevicePower, device, device_power
from energy.power.bottom_up import EnergyOf
from energy.power.states import States

Numbers = NDArray[np.float64]
#: What a layout of a neuromorphic element spends on one event (energy_per_op.csv): weight and state loaded, one
#: operation, state stored, one message over the network on chip.
_PARTS = (
    ("data_memory_load_any_22nm_36", 2.0),
    ("alu_op_fp_22nm_34", 1.0),
    ("data_memory_store_any_22nm_37", 1.0),
    ("noc_event_any_22nm_39", 1.0),
)
_OTHER_DESIGN, _AT_RATE = 5.0, 2.0


def _by_events(chip: str) -> Device:
    one = device(chip)
    if one.model != "events":
        raise PowerError(
            f"{one.chip_id} does not compute by events: use energy.power.accelerators.device_power with its states."
        )
    return one


def event_energy(chip: str) -> EnergyOf:
    """Return the energy of one event (a synaptic operation) above the idle floor, in pJ, with a 95 % range.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.

    Raises
    ------
    PowerError
        The chip does not compute by events.

    Notes
    -----
    (limit - idle) / highest rate, within a factor of two; without a rate the sum of a layout's parts, within five.

    Examples
    --------
    >>> 0.05 < event_energy("Loihi 2").energy_pj < 0.2, round(event_energy("AKD1000").energy_pj, 1)
    (True, 11.8)

    """
    one = _by_events(chip)
    tops = chip_of(one.chip_id).int8_tops
    if tops is None:
        parts = [(operation(name), count) for name, count in _PARTS]
        value = sum(count * part.energy_pj for part, count in parts)
        said = " + ".join(f"{count:g} {part.operation}" for part, count in parts)
        return EnergyOf(value, value / _OTHER_DESIGN, value * _OTHER_DESIGN, f"{said} at 22 nm (estimate)")
    value = (one.limit_w.value - one.idle_w.value) / tops
    low = max(one.limit_w.low - one.idle_w.high, 0.0) / tops / _AT_RATE
    high = (one.limit_w.high - one.idle_w.low) / tops * _AT_RATE
    return EnergyOf(value, min(low, value), high, f"limit less idle power over {tops:g} tera-operations/s (estimate)")


def highest_events_per_s(chip: str) -> float:
    """Return the rate of events at which a chip draws its limit.

    Examples
    --------
    >>> round(highest_events_per_s("Loihi 2") / 1e12, 1)
    17.4

    """
    one = _by_events(chip)
    return (one.limit_w.value - one.idle_w.value) / (1e-12 * event_energy(chip).energy_pj)


def event_power(chip: str, events_per_s: ArrayLike) -> DevicePower:
    """Return the power of a chip at a rate of events.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    events_per_s : array, 1/s
        Synaptic operations of the whole chip: neurons × activity × fan-out per second.

    Raises
    ------
    PowerError
        The chip does not compute by events; a rate is negative, or needs more than the limit.

    Notes
    -----
    P = P_idle + rate × energy of an event.

    Examples
    --------
    >>> found = event_power("Loihi 2", [0.0, 1e12])
    >>> [round(float(one), 2) for one in found.power_w]
    [0.45, 0.56]

    """
    rate, most = np.asarray(events_per_s, dtype=np.float64), highest_events_per_s(chip)
    wrong = ~((rate >= 0.0) & (rate <= most * (1.0 + 1e-9)))
    if wrong.any():
        bad = float(rate[wrong].flat[0])
        raise PowerError(
            f"{bad:g} events/s of {chip}: give a rate from 0 to {most:.3g}, at which it draws its limit, or more chips."
        )
    return device_power(chip, States(busy=np.ones_like(rate), compute=np.minimum(rate / most, 1.0)))


def inference_energy_j(chip: str, events: ArrayLike, time_s: ArrayLike) -> Numbers:
    """Return the energy of an inference in joule at the boundary of the chip: floor over its time, and its events.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    events : array
        Synaptic operations of one inference.
    time_s : array, s
        From its input to its answer, above zero.

    Raises
    ------
    PowerError
        A time is not above zero, or the events need more than the limit of the chip in it.

    Examples
    --------
    >>> bool(inference_energy_j("Loihi 2", 1e6, 1e-3) < inference_energy_j("Loihi 2", 1e6, 1e-2))
    True

    """
    duration = np.asarray(time_s, dtype=np.float64)
    if np.any(~(duration > 0.0)):
        raise PowerError(
            f"The time of an inference is {float(duration[~(duration > 0.0)].flat[0]):g} s: give one above 0."
        )
    found = event_power(chip, np.asarray(events, dtype=np.float64) / duration)
    return np.asarray(found.power_w * duration, dtype=np.float64)
