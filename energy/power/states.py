r"""Power of a chip from what it does: time shares of states, each with its watts.

Busy, with the rate over the dense peak \(u_c\), the share of the memory bandwidth \(u_m\), and that of operands that
stay in the cache \(u_l\), all of one chip under an enforced limit \(L\):

    P = L (p0 + (s - p0) (1 - exp(-(k_m u_m^g + k_l u_l^g + k_c u_c^h))))

The coefficients are fitted per chip and precision by ``scripts/fit_power.py`` on measured kernels
(``power_chip.csv``). A chip that was not measured takes those of its nearest kin, as shares of its own limit, with the
band of chips that were left out of the fit (``power_transfer.csv``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.catalogue.chips import Chip, all_chips
from energy.catalogue.chips import chip as chip_of
from energy.cost.kernels.coefficients import PRECISIONS, KernelChip, kernel_chip, kin, precision
from energy.errors import PowerError
from energy.units import takes

Numbers = NDArray[np.float64]
COEFFICIENTS = (
    *("base_fraction", "ceiling_fraction", "memory_gain", "cache_gain", "memory_exponent"),
    *("compute_gain", "compute_exponent"),
)
#: Formats of 16 bits and more: their power is known better, since a narrow product is often over before its load shows.
WIDE = ("fp64", "fp32", "tf32", "fp16", "bf16")
#: Share of the ceiling that a chip draws while it waits in a collective: value, low, high; an estimate.
COMMUNICATION = (0.65, 0.60, 0.70)
#: Boards overshoot their limit for moments: the 99th percentile of A100 in production is 440 of 400 W (acme_trace).
OVERSHOOT = 1.10


class Bands(NamedTuple):
    """Half widths in ln watts of the 80 % and the 95 % band, of measurements that were left out of the fit."""

    ln80: float
    ln95: float

    @property
    def widths(self) -> tuple[float, float, float, float]:
        """Return the signed widths in the order low80, high80, low, high."""
        return -self.ln80, self.ln80, -self.ln95, self.ln95


@dataclass(frozen=True, slots=True)
class Curve:
    """Coefficients of one chip and precision, and where they come from.

    ``kin_step`` is 0 where the chip itself was measured, 1 for another of its family, 2 of its maker, 3 of another.
    """

    chip_id: str
    precision: str
    power_limit_w: float
    base_fraction: float
    ceiling_fraction: float
    memory_gain: float
    cache_gain: float
    memory_exponent: float
    compute_gain: float
    compute_exponent: float
    bands: Bands
    kin_id: str
    kin_step: int
    source: str
    status: str


@takes(
    "W_chip/chip",
    power_limit="W_chip/chip",
    base_fraction="",
    ceiling_fraction="",
    load="",
)
def busy_power(power_limit: Any, base_fraction: Any, ceiling_fraction: Any, load: Any) -> Any:
    """Return the board power of a busy chip: from the base up to the ceiling, saturating with the load.

    Parameters
    ----------
    power_limit : Quantity, W_chip/chip
        Enforced limit.
    base_fraction, ceiling_fraction : float or array
        Shares of the limit without load and at full load.
    load : float or array
        Weighted sum of the loads: see `load_of`; not below zero.

    Returns
    -------
    Quantity, W_chip/chip
        Same shape as the inputs broadcast; rises with the load, between base and ceiling.

    Raises
    ------
    UnitError
        The limit is not a power per chip.

    Notes
    -----
    P = L (p0 + (s - p0) (1 - exp(-load))).

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(round(busy_power(quantity(700.0, "W_chip/chip"), 0.2, 1.0, 1.0), 1))
    494.0 W_chip/chip

    """
    return power_limit * (base_fraction - (ceiling_fraction - base_fraction) * np.expm1(-load))


def load_of(curve: Curve, compute: ArrayLike, memory: ArrayLike, cached: ArrayLike = 0.0) -> Numbers:
    """Return the weighted sum of the loads of a busy chip.

    Parameters
    ----------
    curve : Curve
        Of the chip and precision.
    compute, memory, cached : array, 0 to 1
        Rate over the dense peak of the precision; bytes/s over the memory bandwidth that reach the memory, and that
        stay in the cache.

    Raises
    ------
    PowerError
        A load is negative, not finite or above 1.5 (measured rates exceed nominal ones by up to a third).

    Examples
    --------
    >>> one = curve_of("nvidia_h200_sxm", "bf16")
    >>> bool(load_of(one, 0.7, 0.1) > load_of(one, 0.3, 0.1))
    True

    """
    rate, moved, kept = (
        _share(name, value) for name, value in (("compute", compute), ("memory", memory), ("cached", cached))
    )
    exponent = curve.memory_exponent
    load = curve.compute_gain * rate**curve.compute_exponent + curve.memory_gain * moved**exponent
    if kept.any():
        load = load + curve.cache_gain * kept**exponent
    return np.asarray(load, dtype=np.float64)


def _share(name: str, value: ArrayLike, most: float = 1.5) -> Numbers:
    found = np.asarray(value, dtype=np.float64)
    wrong = ~((found >= 0.0) & (found <= most))
    if wrong.any():
        bad = float(found[wrong].flat[0])
        raise PowerError(f"The share {name} is {bad:g}: give a share from 0 to 1 (up to {most:g} for a measured rate).")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Shares of time by state, arrays of one shape (or numbers) that add up to one, and the loads while busy.

    ``idle``: no process on the chip; ``idle_context``: a process holds it, no kernel runs; ``busy``: kernels run, at
    ``compute`` of the dense peak and ``memory`` of the bandwidth; ``communication``: waits for other chips' data;
    ``stall``: waits for the host, storage or the pipeline.
    """

    idle: ArrayLike = 0.0
    idle_context: ArrayLike = 0.0
    busy: ArrayLike = 0.0
    communication: ArrayLike = 0.0
    stall: ArrayLike = 0.0
    compute: ArrayLike = 0.0
    memory: ArrayLike = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class StatePower:
    """Board watts of chips, with the 80 % and 95 % bands; arrays of the states' shape."""

    power_chip_w: Numbers
    power_chip_low80_w: Numbers
    power_chip_high80_w: Numbers
    power_chip_low_w: Numbers
    power_chip_high_w: Numbers
    source: str
    status: str


def state_power(
    chip: str, states: States, wanted: str = "bf16", *, power_limit_w: float | None = None, idle_w: float | None = None
) -> StatePower:
    """Return the mean board power of chips that spend their time in states.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    states : States
        Shares of time and loads.
    wanted : str
        Precision of the products, for the dense peak.
    power_limit_w : float, W, optional
        Enforced limit of the board; without it the vendor's maximum.
    idle_w : float, W, optional
        Bare idle power of these boards, where it was measured.

    Raises
    ------
    PowerError
        Shares do not add up to one, or a share is out of range; the limit is not above the idle power.
    CatalogueError
        The catalogue has no maximum power of the chip.

    Notes
    -----
    P = sum over states of share × watts. The bands are those of the busy curve around the whole, since errors of the
    states of one chip go together; they are held between bare idle and 1.1 times the limit.

    Examples
    --------
    >>> found = state_power("nvidia_h100_sxm5_80", States(busy=0.8, communication=0.2, compute=0.5, memory=0.3))
    >>> bool(72 < found.power_chip_low_w < found.power_chip_w < 700)
    True

    """
    one = curve_of(chip, wanted)
    limit = one.power_limit_w if power_limit_w is None else power_limit_w
    watts = idle_watts(chip, one, limit)
    bare = watts.idle_w if idle_w is None else idle_w
    if not 0.0 < bare < limit:
        raise PowerError(
            f"The limit of {one.chip_id} is {limit:g} W and its idle power {bare:g} W: give a limit above."
        )
    context = max(watts.context_w, bare)
    shares = {name: _share(name, getattr(states, name), 1.0 + 1e-9) for name in _SHARES}
    total = sum(shares.values())
    if np.any(np.abs(total - 1.0) > 1e-6):
        bad = float(np.asarray(total)[np.abs(total - 1.0) > 1e-6].flat[0])
        raise PowerError(
            f"The shares of time add up to {bad:g}: idle, idle_context, busy, communication, stall make 1."
        )
    busy = busy_power.kernel(limit, context / limit, one.ceiling_fraction, load_of(one, states.compute, states.memory))
    power = (
        shares["idle"] * bare
        + (shares["idle_context"] + shares["stall"]) * context
        + shares["busy"] * busy
        + shares["communication"] * max(COMMUNICATION[0] * one.ceiling_fraction * limit, context)
    )
    return _with_bands(np.asarray(power, dtype=np.float64), one, bare, limit)


_SHARES = ("idle", "idle_context", "busy", "communication", "stall")


def _with_bands(power: Numbers, one: Curve, bare: float, limit: float) -> StatePower:
    def bound(width: float) -> Numbers:
        return np.asarray(np.minimum(np.maximum(power * np.exp(width), bare), OVERSHOOT * limit), dtype=np.float64)

    low80, high80, low, high = (bound(width) for width in one.bands.widths)
    return StatePower(power, low80, high80, low, high, one.source, one.status)


class IdleWatts(NamedTuple):
    """Watts of a chip without work: bare, and with a process that holds it."""

    idle_w: float
    context_w: float


def idle_watts(chip: str, one: Curve, power_limit_w: float) -> IdleWatts:
    """Return the idle power of a chip: measured where it was, else the catalogue's, and the base of its curve.

    A rule of thumb of the catalogue never lies above what was read of the chip while a process held it.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    one : Curve
        Its curve.
    power_limit_w : float, W
        Enforced limit.

    Raises
    ------
    PowerError
        Neither measurements nor the catalogue know its idle power.

    Examples
    --------
    >>> idle_watts("nvidia_a100_sxm4_80", curve_of("nvidia_a100_sxm4_80", "bf16"), 400.0).idle_w
    62.0

    """
    measured = _points()
    known = _known(chip)
    idle = measured.get((one.chip_id, "idle"), known.idle_w)
    if idle is None:
        raise PowerError(f"The idle power of {one.chip_id} is not in the catalogue: give idle_w.")
    context = measured.get((one.chip_id, "idle_context"))
    if context is None:
        return IdleWatts(idle, max(one.base_fraction * power_limit_w, idle))
    return IdleWatts(min(idle, context), context)


@cache
def _points() -> dict[tuple[str, str], float]:
    return {
        (row.text("chip_id"), row.text("state")): row.number("power_chip_w") for row in _tables.rows("power_states")
    }


@cache
def _known(name: str) -> Chip:
    return chip_of(name)


@cache
def _fitted() -> dict[tuple[str, str], _tables.Row]:
    return {(row.text("chip_id"), row.text("precision")): row for row in _tables.rows("power_chip")}


def transfer(model: str, step: int) -> Bands:
    """Return the bands of chips predicted from kin at a distance: of chips that were left out of the fit.

    Examples
    --------
    >>> transfer("kernel_wide", 1).ln80 < transfer("kernel_wide", 3).ln80
    True

    """
    for row in _tables.rows("power_transfer"):
        if row.text("model") == model and row.integer("kin_step") == step:
            return Bands(row.number("band80_ln"), row.number("band95_ln"))
    raise PowerError(f"power_transfer.csv has no row of {model} at step {step}: run scripts/fit_power.py.")


def _nearest(chip: KernelChip, measured: dict[str, KernelChip]) -> tuple[str, int]:
    """Return the measured chip that stands nearest to a chip, and how far: `kin`, and of one maker by generation.

    A late member of a generation (H200 of 2024) is as old as the next generation, so launch years of single chips tell
    nothing there; the years between the first chips of both generations do. On A100 in serving, which took no part in
    the fit, the curve of H200 errs by a third of what that of B200 does (docs/power.md).
    """
    found, step = kin(chip, measured)
    if step != 2:
        return found, step
    alike = [
        one
        for one, other in measured.items()
        if (other.vendor, other.stacked_memory) == (chip.vendor, measured[found].stacked_memory)
    ]
    own = _generation_year(chip.vendor, chip.family)
    years = {one: abs(_generation_year(measured[one].vendor, measured[one].family) - own) for one in alike}
    return kin(chip, {one: measured[one] for one in alike if years[one] == min(years.values())})


@cache
def _generation_year(vendor: str, family: str) -> float:
    """Return the year of the first chip of a generation; infinite where no chip of it has one."""
    whole = family.removesuffix(" Ultra")
    years = [
        one.launch_year
        for one in all_chips()
        if (one.vendor, one.family.removesuffix(" Ultra")) == (vendor, whole) and one.launch_year is not None
    ]
    return float(min(years, default=float("inf")))


def _donor(chip: KernelChip, wanted: str, excluded: frozenset[str]) -> tuple[tuple[str, str], int]:
    """Return the measured pair to take coefficients of: the nearest chip, then the nearest precision."""
    best = None
    for order, like in enumerate((*PRECISIONS[wanted].like, "bf16")):
        ids = {chip_id for chip_id, name in _fitted() if name == like} - excluded
        if not ids:
            continue
        chip_id, step = _nearest(chip, {one: kernel_chip(one) for one in sorted(ids)})
        if best is None or (step, order) < best[0]:
            best = ((step, order), (chip_id, like))
    if best is None:
        raise PowerError(f"power_chip.csv has no chip to stand for {chip.chip_id}: run scripts/fit_power.py.")
    return best[1], best[0][0]


def curve_of(chip: str, wanted: str = "bf16", *, excluded: frozenset[str] = frozenset()) -> Curve:
    """Return the power curve of a chip in a precision.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    wanted : str
        Precision of the products.
    excluded : frozenset of str, optional
        Chips that count as not measured, for calibration with chips left out.

    Raises
    ------
    UnknownNameError
        The chip or precision is not known; the message gives the nearest names.
    CatalogueError
        The catalogue has no maximum power of the chip.

    Examples
    --------
    >>> curve_of("nvidia_h200_sxm", "bf16").kin_step, curve_of("nvidia_h100_sxm5_80", "bf16").kin_id
    (0, 'nvidia_h200_sxm')
    >>> curve_of("amd_mi300x", "bf16").status
    'estimate'

    """
    return _curve(chip, precision(wanted).name, excluded)


@cache
def _curve(chip: str, wanted: str, excluded: frozenset[str]) -> Curve:
    known = _known(chip)
    if known.tdp_w is None:
        raise PowerError(f"The catalogue has no maximum power of {known.chip_id}: its watts cannot be estimated.")
    donor, step = _donor(kernel_chip(known.chip_id), wanted, excluded)
    row = _fitted()[donor]
    same = donor[1] == wanted or {donor[1], wanted} == {"bf16", "fp16"}
    step = step if same or step > 0 else 1
    bands = Bands(row.number("band80_ln"), row.number("band95_ln"))
    if step > 0 and not excluded:
        bands = transfer("kernel_wide" if wanted in WIDE else "kernel_narrow", step)
    values = {name: row.number(name) for name in COEFFICIENTS}
    source = f"power_chip.csv: {donor[0]} {donor[1]} ({row.text('source')})"
    status = row.text("status") if step == 0 else "estimate"
    return Curve(
        known.chip_id,
        wanted,
        known.tdp_w,
        **values,
        bands=bands,
        kin_id=donor[0],
        kin_step=step,
        source=source,
        status=status,
    )
