"""Power of readings that give no power: activity of the chip's parts, or the share of time with a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from energy.importers.kinds import ACTIVITY
from energy.ledger.telemetry import NONE, Arrays
from energy.power.readings import BY_ACTIVITY, BY_KERNEL_TIME, DAY_MS, MEASURED, Ints
from energy.power.utilisation import Levels, Share, activity_power, use_power

Numbers = npt.NDArray[np.float64]
_SPAN_BITS = 30  # from a day before to two days after are 2.6e8 ms < 2**30


class Curve(NamedTuple):
    """Levels of a device while its host holds one kind of chip, times in ms of the day.

    From a day before it to a day after it, so that neighbours judge the readings beside midnight alike.
    """

    device_key: int
    start_ms: int
    end_ms: int
    levels: Levels


class HeldSpans(NamedTuple):
    """When devices were held by jobs: device, [start, end) in ms of the day, from the day before to the day after."""

    device_key: Ints
    start_ms: Ints
    end_ms: Ints


class Model(NamedTuple):
    """What the model of a day needs besides the chips."""

    spans: HeldSpans
    share: Share


def is_held(device_key: Ints, time_ms: Ints, spans: HeldSpans) -> npt.NDArray[np.bool_]:
    """Return whether a job holds each row's device at its time.

    Parameters
    ----------
    device_key, time_ms : int array
        Of the rows; times from -86,400,000 up to 172,800,000.
    spans : HeldSpans
        May overlap.

    Examples
    --------
    >>> one = lambda *values: np.array(values, dtype=np.int64)
    >>> is_held(one(1, 1, 2), one(5, 10, 5), HeldSpans(one(1), one(5), one(10))).tolist()
    [True, False, False]

    """

    def key(device: Ints, time: Ints) -> Ints:
        return (device.astype(np.int64) << _SPAN_BITS) + np.clip(time.astype(np.int64), -DAY_MS, 2 * DAY_MS) + DAY_MS

    at = key(device_key, time_ms)
    begun = np.searchsorted(np.sort(key(spans.device_key, spans.start_ms)), at, side="right")
    ended = np.searchsorted(np.sort(key(spans.device_key, spans.end_ms)), at, side="right")
    return np.asarray(begun > ended, dtype=bool)


def modelled_rows(rows: Arrays, curves: list[Curve], model: Model, power: Ints, tier: Ints) -> npt.NDArray[np.bool_]:
    """Give rows without power or energy the watts of a model, in place; return which rows say something.

    Parameters
    ----------
    rows : Arrays
        In order of device and time.
    curves : list of Curve
        Of the devices.
    model : Model
        When devices are held, and how far they work.
    power, tier : int array
        Milliwatts (-1: not known) and tier codes of the rows; changed.

    Returns
    -------
    bool array
        False for a counter alone, whose interval is not known, and for a chip that is not disclosed.
    """
    active = [rows[name] for name in ACTIVITY if name in rows]
    silent = (power == NONE) & (tier != MEASURED)
    keep = np.ones(power.size, bool)
    if not silent.any():
        return keep
    told = ~np.isnan(rows["utilisation_pct"])
    for values in active:
        told |= ~np.isnan(values)
    keep[silent & ~told] = False
    at = np.flatnonzero(silent & told)
    if at.size:
        names = ("device_key", "time_ms", "utilisation_pct", *(name for name in ACTIVITY if name in rows))
        watts, codes = _watts({name: rows[name][at] for name in names}, curves, model)
        is_known = np.isfinite(watts)
        keep[at[~is_known]] = False
        power[at] = np.where(is_known, np.rint(np.nan_to_num(watts) * 1000), 0).astype(np.int64)
        tier[at] = codes
    return keep


def _watts(rows: Arrays, curves: list[Curve], model: Model) -> tuple[Numbers, Ints]:
    """Return watts and tier codes of rows in order of device and time; NaN where the chip is not known then."""
    size = rows["time_ms"].size
    watts, codes = np.full(size, np.nan), np.full(size, BY_KERNEL_TIME, np.int64)
    held = is_held(rows["device_key"], rows["time_ms"], model.spans)
    begin = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="left")
    finish = np.searchsorted(rows["device_key"], [curve.device_key for curve in curves], side="right")
    for curve, first, last in zip(curves, begin.tolist(), finish.tolist(), strict=True):
        time = rows["time_ms"][first:last]
        at = first + np.flatnonzero((time >= curve.start_ms) & (time < curve.end_ms))
        if not at.size:
            continue
        use = rows["utilisation_pct"][at].astype(np.float64) / 100.0
        watts[at] = use_power(curve.levels, use, held[at], model.share)
        if any(name in rows for name in ACTIVITY):
            active, tensor, dram = (_fraction(rows, name, at) for name in ACTIVITY)
            by_parts = activity_power(curve.levels, active, tensor, dram, held[at])
            read = np.isfinite(by_parts)
            watts[at[read]], codes[at[read]] = by_parts[read], BY_ACTIVITY
    return watts, codes


def _fraction(rows: Arrays, name: str, at: npt.NDArray[np.intp]) -> Numbers:
    return rows[name][at].astype(np.float64) / 100.0 if name in rows else np.full(at.size, np.nan)
