r"""Power of what draws it under the name of any chip of the catalogue: board, card, package, module, or a whole system.

What a device is, up to which limit it draws, how sure that is, and by which law its power follows its work is in
``power_devices.csv``. The laws, with bare idle power \(P_0\) and limit \(L\):

    curve        the states of :mod:`energy.power.states`, with the device's own limit
    events       P0 + (L - P0) × rate of events over the highest      (neuromorphic chips)
    conversions  P0 + (L - P0) × rate of products over the highest    (analogue chips)
    design       P0 + f (L - P0): a programmable array draws what its design does, and hardly by load
    processor    P0 + f (L - P0)

A whole system, or a share of one, is counted at its plug (``it``): no node overhead is added to it, and its watts are
never added to watts of boards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.catalogue.chips import chip as chip_of
from energy.cost.kernels.coefficients import kernel_chip, precision
from energy.errors import PowerError
from energy.power.phases import phases
from energy.power.states import OVERSHOOT, Curve, StatePower, States, _share, curve_of, idle_watts, state_power
from energy.power.training_profile import training_profile, usual_utilisation

Numbers = NDArray[np.float64]
#: A 95 % band over an 80 % band of the same errors (normal).
_WIDE_OVER_NARROW = 1.53
#: Preferred precision of a curve: the first that the chip has.
_PREFERRED = ("bf16", "fp16", "fp8", "int8", "fp4", "tf32", "fp32")


class Span(NamedTuple):
    """A value and its 95 % range."""

    value: float
    low: float
    high: float


#: Dynamic share of a device that does not follow load, estimates: configured or held, and working. Loaders of designs
#: report anything from a fifth of the card's dynamic power to all of it, and processors run near their rating.
_DESIGN = {"held": Span(0.2, 0.05, 0.4), "working": Span(0.6, 0.2, 1.0)}
_PROCESSOR = {"held": Span(0.1, 0.0, 0.3), "working": Span(0.85, 0.5, 1.0)}
#: Energy of an event or product where only the power at the highest rate is published: within a factor of two.
_PER_EVENT = 2.0


@dataclass(frozen=True, slots=True)
class Device:
    """What draws power under the name of a chip; watts at ``boundary`` (``chip`` in a node, ``it`` at a plug)."""

    chip_id: str
    device: str
    boundary: str
    model: str
    limit_w: Span
    idle_w: Span
    typical_w: float | None
    like_chip_id: str
    source: str
    status: str
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class DevicePower:
    """Watts of one device with both bands, arrays of the states' shape, at the boundary of the device."""

    device: Device
    power_w: Numbers
    power_low80_w: Numbers
    power_high80_w: Numbers
    power_low_w: Numbers
    power_high_w: Numbers
    source: str
    status: str

    @property
    def unit(self) -> str:
        """Return the unit, which carries the boundary."""
        return f"W_{self.device.boundary}/chip"

    def state_power(self) -> StatePower:
        """Return the watts as those of a chip in a node.

        Raises
        ------
        PowerError
            They are counted at a plug: of a whole system or a share of one.
        """
        if self.device.boundary != "chip":
            raise PowerError(
                f"The watts of {self.device.chip_id} are those of a {self.device.device} at its plug, not of a chip in "
                "a node: count them as IT, and add no node overhead."
            )
        edges = (self.power_low80_w, self.power_high80_w, self.power_low_w, self.power_high_w)
        return StatePower(self.power_w, *edges, self.source, self.status)


@cache
def device(chip: str) -> Device:
    """Return what draws power under the name of a chip.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.

    Raises
    ------
    UnknownNameError
        The chip is not known; the message gives the nearest names.
    PowerError
        The table has no row of it.

    Examples
    --------
    >>> one = device("WSE-3 (CS-3)")
    >>> one.device, one.boundary, one.limit_w.value
    ('system', 'it', 23000.0)

    """
    chip_id = chip_of(chip).chip_id
    row = _rows().get(chip_id)
    if row is None:
        raise PowerError(f"power_devices.csv has no row of {chip_id}: run scripts/curate_catalogue.py.")

    def span(name: str) -> Span:
        return Span(row.number(f"{name}_w"), row.number(f"{name}_low_w"), row.number(f"{name}_high_w"))

    texts = {
        name: row.text(name) for name in ("device", "boundary", "model", "like_chip_id", "source", "status", "note")
    }
    typical = row.maybe_number("typical_w")
    return Device(chip_id, limit_w=span("limit"), idle_w=span("idle"), typical_w=typical, **texts)


@cache
def _rows() -> dict[str, _tables.Row]:
    return {row.text("chip_id"): row for row in _tables.rows("power_devices")}


def usual_precision(chip: str) -> str:
    """Return the precision whose power curve is shown of a chip where none is named: the widest matrix format it has.

    Examples
    --------
    >>> usual_precision("nvidia_p100_sxm2"), usual_precision("nvidia_h100_sxm5_80"), usual_precision("google_tpu_v1")
    ('fp16', 'bf16', 'int8')

    """
    has = kernel_chip(chip_of(chip).chip_id).peaks_flop_per_s
    return next((name for name in _PREFERRED if name in has), "bf16")


def device_power(
    chip: str, states: States, wanted: str | None = None, *, power_limit_w: float | None = None
) -> DevicePower:
    """Return the mean power of what draws it under the name of a chip, from the time it spends in states.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    states : States
        Shares of time, and loads while busy. Of chips that compute by events or conversions, ``compute`` is their rate
        over the highest, and memory plays no part; a configured design and a processor do not follow load.
    wanted : str, optional
        Precision of the products; the widest matrix format of the chip without it.
    power_limit_w : float, W, optional
        Enforced limit, where it is known: then the range of the limit is gone.

    Returns
    -------
    DevicePower
        Never below idle; status ``estimate`` where limit or law is one.

    Raises
    ------
    UnknownNameError
        The chip or precision is not known; the message gives the nearest names.
    PowerError
        Shares do not add up to one or are out of range, or the limit is not above the idle power.

    Notes
    -----
    The laws are at the head of this module. The band of the curve and the range of the limit are independent: they join
    as the root of the sum of squares of their logarithms.

    Examples
    --------
    >>> found = device_power("google_tpu_v5p", States(busy=1.0, compute=0.5, memory=0.3))
    >>> bool(found.power_low_w < found.power_w < found.power_high_w), found.status, found.unit
    (True, 'estimate', 'W_chip/chip')

    """
    return power_of(device(chip), states, wanted, power_limit_w=power_limit_w)


def power_of(
    one: Device, states: States, wanted: str | None = None, *, power_limit_w: float | None = None
) -> DevicePower:
    """Return the mean power of a device, as `device_power` does for the one of a chip.

    Parameters
    ----------
    one : Device
        Of `device`, or of `energy.power.boards.board_device`.
    states : States
        Shares of time, and loads while busy.
    wanted : str, optional
        Precision of the products; the widest matrix format of the chip without it.
    power_limit_w : float, W, optional
        Enforced limit, where it is known: then the range of the limit is gone.

    Raises
    ------
    UnknownNameError, PowerError
        As `device_power`.

    Examples
    --------
    >>> one = device("google_tpu_v3")
    >>> bool(one.idle_w.value < power_of(one, States(busy=1.0, compute=0.4)).power_w <= one.limit_w.value)
    True

    """
    if power_limit_w is not None:
        one = replace(one, limit_w=Span(power_limit_w, power_limit_w, power_limit_w))
    name = precision(wanted).name if wanted is not None else usual_precision(one.chip_id)
    if one.model == "curve":
        return _by_curve(one, states, name)
    return _by_share(one, states)


def _by_curve(one: Device, states: States, wanted: str) -> DevicePower:
    curve = curve_of(one.like_chip_id, wanted)
    limit, idle = one.limit_w, _idle(one, curve)
    found = state_power(one.like_chip_id, states, wanted, power_limit_w=limit.value, idle_w=idle.value)
    share = _share("idle", states.idle, 1.0 + 1e-9)
    if one.typical_w is not None and limit.value > one.typical_w:
        power = _bent(one, states, wanted, idle.value)
    else:
        power = found.power_chip_w
    rest = power - share * idle.value
    own = one.chip_id == one.like_chip_id
    widths = (curve.bands.ln80, curve.bands.ln95)
    at_limit = np.log(limit.value / limit.low), np.log(limit.high / limit.value)

    def edge(side: int, narrow: bool) -> Numbers:
        scale = _WIDE_OVER_NARROW if narrow else 1.0
        sign = (-1.0, 1.0)[side]
        width = np.hypot(widths[0] if narrow else widths[1], at_limit[side] / scale)
        at_idle = idle.value + (idle[1 + side] - idle.value) / scale
        bound = np.asarray(share * at_idle + rest * np.exp(sign * width))
        return np.asarray(np.clip(bound, min(idle.low, idle.value), OVERSHOOT * limit.high), dtype=np.float64)

    edges = edge(0, True), edge(1, True), edge(0, False), edge(1, False)
    status = found.status if own and one.status == "catalogue" else "estimate"
    return DevicePower(one, power, *edges, f"{found.source}; limit: {one.source}", status)


def _bent(one: Device, states: States, wanted: str, idle_w: float) -> Numbers:
    """Return the mean power of a chip whose maker measured its mean in usual work, which the borrowed curve must meet.

    The share of the way from idle to the limit is raised to a power that makes usual training draw that mean; both ends
    stay.
    """
    limit_w = one.limit_w.value
    exponent = _exponent(one, wanted, idle_w)

    def bent(state: States) -> Numbers:
        found = state_power(one.like_chip_id, state, wanted, power_limit_w=limit_w, idle_w=idle_w).power_chip_w
        return np.asarray(idle_w + (limit_w - idle_w) * ((found - idle_w) / (limit_w - idle_w)) ** exponent)

    held = np.asarray(states.idle_context) + np.asarray(states.stall)
    busy = np.ones_like(np.asarray(states.busy, dtype=np.float64) + np.asarray(states.compute))
    return np.asarray(
        np.asarray(states.idle) * idle_w
        + held * bent(States(idle_context=1.0))
        + np.asarray(states.busy) * bent(States(busy=busy, compute=states.compute, memory=states.memory))
        + np.asarray(states.communication) * bent(States(communication=1.0)),
        dtype=np.float64,
    )


@cache
def _exponent(one: Device, wanted: str, idle_w: float) -> float:
    """Return the exponent of `_bent`, by bisection."""
    found = phases(training_profile(usual_utilisation().value))
    limit_w = one.limit_w.value
    watts = state_power(one.like_chip_id, found.states, wanted, power_limit_w=limit_w, idle_w=idle_w).power_chip_w
    way, shares = (watts - idle_w) / (limit_w - idle_w), found.shares
    target = ((one.typical_w or limit_w) - idle_w) / (limit_w - idle_w)
    low, high = 0.1, 10.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if float((shares * way**middle).sum()) > target else (low, middle)
    return (low + high) / 2.0


def _idle(one: Device, curve: Curve) -> Span:
    """Return idle power: measured where it was, else the device's; the range holds both."""
    if one.chip_id != one.like_chip_id or one.limit_w.value != curve.power_limit_w:
        return one.idle_w
    measured = idle_watts(one.chip_id, curve, curve.power_limit_w).idle_w
    return Span(measured, min(one.idle_w.low, measured), max(one.idle_w.high, measured))


def _by_share(one: Device, states: States) -> DevicePower:
    names = ("idle", "idle_context", "busy", "communication", "stall")
    shares = {name: _share(name, getattr(states, name), 1.0 + 1e-9) for name in names}
    total = sum(shares.values())
    if np.any(np.abs(total - 1.0) > 1e-6):
        bad = float(np.asarray(total)[np.abs(total - 1.0) > 1e-6].flat[0])
        raise PowerError(f"The shares of time add up to {bad:g}: {', '.join(names)} make 1.")
    limit, idle = one.limit_w, one.idle_w
    if not 0.0 < idle.value < limit.value:
        raise PowerError(
            f"The limit of {one.chip_id} is {limit.value:g} W and its idle power {idle.value:g} W: give a limit above."
        )
    held = 1.0 - shares["idle"] - shares["busy"]
    value, low, high = _dynamic(one.model, shares["busy"], held, _share("compute", states.compute, 1.0 + 1e-9))
    power = idle.value + value * (limit.value - idle.value)
    least = np.minimum(idle.low + low * max(limit.low - idle.low, 0.0), power)
    most = np.maximum(idle.high + high * max(limit.high - idle.high, 0.0), power)
    low80, high80 = power - (power - least) / _WIDE_OVER_NARROW, power + (most - power) / _WIDE_OVER_NARROW
    value_w, *edges = (np.asarray(item, dtype=np.float64) for item in (power, low80, high80, least, most))
    source = f"{one.device} by {one.model}, limit and idle power: {one.source}"
    return DevicePower(one, value_w, edges[0], edges[1], edges[2], edges[3], source, "estimate")


def _dynamic(model: str, busy: Numbers, held: Numbers, rate: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the share of the way from idle to the limit: value, low, high."""
    if model in ("events", "conversions"):
        value = busy * rate
        return value, value / _PER_EVENT, np.minimum(value * _PER_EVENT, busy)
    spans = {"design": _DESIGN, "processor": _PROCESSOR}[model]
    value, low, high = (
        busy * working + held * waiting for working, waiting in zip(spans["working"], spans["held"], strict=True)
    )
    return value, low, high


class Shown(NamedTuple):
    """One state that is shown of a chip: its name, what it means, and the state."""

    state: str
    meaning: str
    states: States


_SHOWN = {
    "curve": (
        Shown("idle", "no process on the chip", States(idle=1.0)),
        Shown("idle with context", "a process holds it, no kernel runs", States(idle_context=1.0)),
        Shown("stall", "waits for host, storage or pipeline", States(stall=1.0)),
        Shown("communication", "waits for other chips' data", States(communication=1.0)),
        Shown("memory-bound", "80 % of the bandwidth, 5 % of the peak", States(busy=1.0, memory=0.8, compute=0.05)),
        Shown("compute-bound", "70 % of the peak, 20 % of the bandwidth", States(busy=1.0, compute=0.7, memory=0.2)),
    ),
    "events": (
        Shown("idle", "no events", States(idle=1.0)),
        Shown("half rate", "half of the highest rate of events", States(busy=1.0, compute=0.5)),
        Shown("full rate", "the highest rate of events", States(busy=1.0, compute=1.0)),
    ),
    "conversions": (
        Shown("idle", "no products", States(idle=1.0)),
        Shown("half rate", "half of the highest rate of products", States(busy=1.0, compute=0.5)),
        Shown("full rate", "the highest rate of products", States(busy=1.0, compute=1.0)),
    ),
    "design": (
        Shown("idle", "powered, nothing configured", States(idle=1.0)),
        Shown("configured", "a design is loaded and waits", States(idle_context=1.0)),
        Shown("running", "a design works; load plays a small part", States(busy=1.0)),
    ),
    "processor": (
        Shown("idle", "no work", States(idle=1.0)),
        Shown("busy", "all cores work", States(busy=1.0)),
    ),
}


def shown_states(chip: str, wanted: str | None = None) -> tuple[tuple[Shown, DevicePower], ...]:
    """Return the states that are shown of a chip with their watts.

    Raises
    ------
    UnknownNameError
        The chip or precision is not known; the message gives the nearest names.

    Examples
    --------
    >>> [state.state for state, _ in shown_states("Loihi 2")]
    ['idle', 'half rate', 'full rate']

    """
    return tuple((shown, device_power(chip, shown.states, wanted)) for shown in _SHOWN[device(chip).model])


def power_curve(chip: str, load: ArrayLike, wanted: str | None = None) -> DevicePower:
    """Return the power of a busy chip against its load, for a plot.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    load : array, 0 to 1
        Rate over the dense peak; of chips that compute by events or conversions, over the highest rate.
    wanted : str, optional
        Precision; the widest matrix format of the chip without it.

    Raises
    ------
    UnknownNameError
        The chip or precision is not known; the message gives the nearest names.

    Examples
    --------
    >>> watts = power_curve("nvidia_h100_sxm5_80", [0.0, 0.5, 1.0]).power_w
    >>> bool(watts[0] < watts[1] < watts[2])
    True

    """
    loads = np.asarray(load, dtype=np.float64)
    return device_power(chip, States(busy=np.ones_like(loads), compute=loads), wanted)
