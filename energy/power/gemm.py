"""Power of dense matrix products while they repeat: the curve of the chip's states and a correction by shape.

The correction, the coefficients and the errors are fitted per chip, precision and library of kernels by
``scripts/fit_power.py`` on the steady readings of AIConfigurator (``power_gemm.csv``, ``power_gemm_surface.csv``). It
is the scope of the suite ``power``; for work as a whole take ``states``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.catalogue.chips import chip as chip_of
from energy.cost.kernels.coefficients import bandwidth_bytes_per_s, kernel_chip, peak_flop_per_s, precision
from energy.cost.kernels.gemm import GRID, gemm_time_s
from energy.errors import PowerError
from energy.power.states import COEFFICIENTS, Bands, busy_power, curve_of

Numbers = NDArray[np.float64]
ANY_LIBRARY = "any"


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """Loads of products, arrays ``(n,)``: of the compute peak, of the memory, of the cache; and the time in seconds."""

    compute: Numbers
    memory: Numbers
    cached: Numbers
    time_s: Numbers


def loads(chip: str, wanted: str, m: ArrayLike, n: ArrayLike, k: ArrayLike, time_s: ArrayLike) -> Loads:
    """Return the loads of products C[m, n] = A[m, k] B[k, n] that repeat without pause.

    Operands reach the memory once they outgrow the cache: with w = bytes / cache, the share w² / (1 + w²) of them does.

    Parameters
    ----------
    chip, wanted : str
        Chip and precision.
    m, n, k : array
        Sizes.
    time_s : array, s
        Time of one product.

    Examples
    --------
    >>> one = loads("nvidia_h200_sxm", "bf16", [4096.0], [4096.0], [4096.0], [2.1e-4])
    >>> round(float(one.compute[0]), 2)
    0.66

    """
    sizes = [np.asarray(size, dtype=np.float64) for size in (m, n, k)]
    time = np.asarray(time_s, dtype=np.float64)
    if np.any(~(time > 0.0)):
        raise PowerError("The time of a product is not above zero: give seconds.")
    known, format_ = kernel_chip(chip), precision(wanted)
    moved = format_.input_bytes * sizes[2] * (sizes[0] + sizes[1]) + format_.output_bytes * sizes[0] * sizes[1]
    share = moved / time / bandwidth_bytes_per_s(known)
    if known.cache_bytes is None:
        outside = np.ones_like(moved)
    else:
        outgrown = (moved / known.cache_bytes) ** 2
        outside = outgrown / (1.0 + outgrown)
    compute = 2.0 * sizes[0] * sizes[1] * sizes[2] / time / peak_flop_per_s(known, wanted)
    return Loads(compute, share * outside, share * (1.0 - outside), time)


def prior_fraction(values: dict[str, float], found: Loads) -> Numbers:
    """Return power over the limit of products, before the correction by shape.

    ``gap_us`` is the pause between two kernels of the measurement, in which the load is absent.

    Examples
    --------
    >>> found = Loads(np.array([0.0]), np.array([0.0]), np.array([0.0]), np.array([1e-3]))
    >>> values = dict.fromkeys(COEFFICIENTS, 0.5) | {"ceiling_fraction": 1.0, "gap_us": 5.0}
    >>> prior_fraction(values, found)
    array([0.5])

    """
    load = values["compute_gain"] * found.compute ** values["compute_exponent"]
    load = load + values["memory_gain"] * found.memory ** values["memory_exponent"]
    load = load + values["cache_gain"] * found.cached ** values["memory_exponent"]
    load = load * (found.time_s / (found.time_s + values["gap_us"] * 1e-6))
    return np.asarray(busy_power.kernel(1.0, values["base_fraction"], values["ceiling_fraction"], load))


@dataclass(frozen=True, slots=True, eq=False)
class GemmPower:
    """Board watts of products and the half widths of their bands in ln; ``measured`` where the chip itself was."""

    power_chip_w: Numbers
    bands: Bands
    measured: bool
    limit_w: float
    source: str


@cache
def _fitted() -> dict[tuple[str, str, str], _tables.Row]:
    return {
        (row.text("chip_id"), row.text("precision"), row.text("library")): row for row in _tables.rows("power_gemm")
    }


@cache
def _surfaces() -> dict[tuple[str, str, str], Numbers]:
    parts: dict[tuple[str, str, str], dict[int, Numbers]] = {}
    for row in _tables.rows("power_gemm_surface"):
        values = np.array(row.text("ln_ratio_permille").split(";"), dtype=np.float64) / 1000
        key = (row.text("chip_id"), row.text("precision"), row.text("library"))
        parts.setdefault(key, {})[row.integer("m")] = values
    return {key: np.concatenate([by_m[int(m)] for m in GRID.knots[0]]) for key, by_m in parts.items()}


def gemm_power(
    chip: str,
    wanted: str,
    m: ArrayLike,
    n: ArrayLike,
    k: ArrayLike,
    time_s: ArrayLike | None = None,
    *,
    library: str = ANY_LIBRARY,
    power_limit_w: float | None = None,
) -> GemmPower:
    """Return the board power while a matrix product repeats.

    Parameters
    ----------
    chip, wanted : str
        Chip by any name of the catalogue or of the kernel measurements, and precision.
    m, n, k : array
        Sizes, of one shape ``(n,)``.
    time_s : array, s, optional
        Measured time of one product; without it the time of the kernel model.
    library : str, optional
        Library of kernels, as measured (``trtllm``, ``vllm``); one that was not measured counts as any.
    power_limit_w : float, W, optional
        Enforced limit; without it the vendor's maximum.

    Raises
    ------
    UnknownNameError, CostError
        The chip or precision is not known, or the chip lacks it.
    PowerError
        A time is not above zero, or the catalogue has no maximum power.

    Examples
    --------
    >>> power = gemm_power("nvidia_h200_sxm", "bf16", [8192, 16], [8192, 4096], [8192, 4096]).power_chip_w
    >>> bool(power[1] < power[0] <= 700.0)
    True

    """
    known = kernel_chip(chip)
    sizes = [np.atleast_1d(np.asarray(size, dtype=np.float64)) for size in (m, n, k)]
    time = gemm_time_s(known.chip_id, wanted, *sizes).time_s if time_s is None else np.asarray(time_s, np.float64)
    found = loads(known.chip_id, wanted, sizes[0], sizes[1], sizes[2], time)
    name = precision(wanted).name
    key = next(
        (one for one in ((known.chip_id, name, library), (known.chip_id, name, ANY_LIBRARY)) if one in _fitted()), None
    )
    limit = chip_of(known.chip_id).tdp_w if power_limit_w is None else power_limit_w
    if limit is None:
        raise PowerError(f"The catalogue has no maximum power of {known.chip_id}: give power_limit_w.")
    if key is None:
        one = curve_of(known.chip_id, name)
        values = {term: getattr(one, term) for term in COEFFICIENTS} | {"gap_us": 0.0}
        return GemmPower(limit * prior_fraction(values, found), one.bands, False, limit, one.source)
    row = _fitted()[key]
    values = {term: row.number(term) for term in (*COEFFICIENTS, "gap_us")}
    shape = np.exp(GRID.value(_surfaces()[key][None], 0, sizes))
    bands = Bands(row.number("band80_ln"), row.number("band95_ln"))
    # The limiter holds: a correction above the limit is no reading.
    fraction = np.minimum(prior_fraction(values, found) * shape, 1.0)
    source = f"power_gemm.csv: {', '.join(key)} ({row.text('source')})"
    return GemmPower(limit * fraction, bands, True, limit, source)
