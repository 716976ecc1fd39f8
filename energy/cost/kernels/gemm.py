r"""Time of dense matrix products, C[m, n] = A[m, k] B[k, n]: a physical prior and a measured correction.

Prior, with the tiles \(t_m \times t_n\) of usual kernels, \(U\) compute units, peak \(P\), bandwidth \(W\):

    waves    w = ceil(m / t_m) ceil(n / t_n) s / U        (s: parts that k is split into, 1 or 4)
    compute  T = max(q ceil(w) + (1 - q) w, 1) 2 t_m t_n (k / s + k_fill) U / (P e) (1 + 64 c (1 / t_m + 1 / t_n))
    memory   M = bytes / (W e_m), faster by r while the operands fit into the cache
    time       = launch + (T^p + M^p)^(1/p), T of the best tile

The eight coefficients (launch, e, c, k_fill, q, e_m, r, p) and a correction over (m, n, k) are fitted per chip and
precision by ``scripts/fit_kernels.py`` on the measured kernels of AIConfigurator (``kernel_gemm.csv``,
``kernel_gemm_surface.csv``). A chip or precision that was not measured takes the coefficients of its measured kin with
its own peak, bandwidth, cache and compute units, and a wider sigma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables, all_achieved
from energy.cost.kernels.coefficients import (
    PRECISIONS,
    Floats,
    KernelChip,
    KernelTime,
    bandwidth_bytes_per_s,
    kernel_chip,
    kin,
    measured_chips,
    peak_flop_per_s,
    positive,
    precision,
    transfer,
)
from energy.cost.kernels.surface import BLOCK, Grid
from energy.errors import CostError

TILES = ((64, 64), (128, 128), (128, 256), (256, 128))
_SPLIT = 4.0
_SPLIT_S = 0.5e-6  # one more pass that adds the parts up
GRID = Grid(
    (
        (1, 16, 32, 64, 96, 128, 192, 256, 512, 768, 1024, 2048, 4096, 8192, 32768),
        (128, 512, 1024, 2048, 3072, 4096, 8192, 16384, 32768, 65536),
        (128, 256, 512, 1024, 2048, 4096, 16384, 65536),
    )
)
FITTED = (
    "launch_us",
    "compute_efficiency",
    "tile_loss",
    "fill_k",
    "quantisation",
    "memory_efficiency",
    "cache_speedup",
    "sharpness",
)
# Without a count of units the waves are not rounded, and only tiny products see how many units there are.
_UNKNOWN_UNITS = 100.0
_NO_CACHE_BYTES = 1.0


@dataclass(frozen=True, slots=True)
class GemmParameters:
    """Parameters of the prior: arrays of one entry per point, or numbers for all."""

    launch_us: Floats | float
    compute_efficiency: Floats | float
    tile_loss: Floats | float
    fill_k: Floats | float
    quantisation: Floats | float
    memory_efficiency: Floats | float
    cache_speedup: Floats | float
    sharpness: Floats | float
    peak_flop_per_s: Floats | float
    bandwidth_bytes_per_s: Floats | float
    cache_bytes: Floats | float
    compute_units: Floats | float
    input_bytes: Floats | float
    output_bytes: Floats | float


def prior_time_s(one: GemmParameters, m: Floats, n: Floats, k: Floats) -> Floats:
    """Return the time of the prior in seconds: see the head of this module.

    Examples
    --------
    >>> big = np.array([8192.0])
    >>> time = prior_time_s(model("nvidia_h100_sxm5_80", "bf16").parameters(0), big, big, big)
    >>> bool(2 * 8192**3 / 989.4e12 < time[0] < 2 * 2 * 8192**3 / 989.4e12)
    True

    """
    per_unit = one.peak_flop_per_s * one.compute_efficiency / one.compute_units
    split_s = _SPLIT_S + 2 * 4 * m * n * _SPLIT / (2 * one.bandwidth_bytes_per_s)
    best = None
    for rows, columns in TILES:
        second_per_k = 2.0 * rows * columns * (1 + 64 * one.tile_loss * (1 / rows + 1 / columns)) / per_unit
        waves = np.ceil(m / rows) * np.ceil(n / columns) / one.compute_units
        whole = _rounds(waves, one.quantisation) * (k + one.fill_k) * second_per_k
        parts = _rounds(waves * _SPLIT, one.quantisation) * (k / _SPLIT + one.fill_k) * second_per_k + split_s
        fastest = np.minimum(whole, parts)
        best = fastest if best is None else np.minimum(best, fastest)
    assert best is not None
    moved = one.input_bytes * (m + n) * k + one.output_bytes * m * n
    cached = 1.0 / (1.0 + (moved / one.cache_bytes) ** 4)
    memory = moved / (one.bandwidth_bytes_per_s * one.memory_efficiency) * (cached / one.cache_speedup + 1 - cached)
    larger, smaller = np.maximum(best, memory), np.minimum(best, memory)
    joined = larger * (1 + (smaller / larger) ** one.sharpness) ** (1 / one.sharpness)
    return np.asarray(one.launch_us * 1e-6 + joined, dtype=np.float64)


def _rounds(waves: Floats, quantisation: Floats | float) -> Floats:
    return np.asarray(np.maximum(quantisation * np.ceil(waves) + (1 - quantisation) * waves, 1.0))


@dataclass(frozen=True, slots=True)
class GemmModel:
    """Coefficients of several pairs of chip and precision, ready for many products: see `models`.

    ``kin_steps`` say how far the measured kin of each pair is: 0 measured itself, 1 same family, 2 same maker or
    another format, 3 another maker.
    ``band95`` is the logarithmic error that 95 % of the rows left out of the fit stay within.
    """

    pairs: tuple[tuple[str, str], ...]
    columns: GemmParameters
    singles: tuple[GemmParameters, ...]
    surface: Floats
    sigma: Floats
    band95: Floats
    kin_ids: tuple[str, ...]
    kin_steps: tuple[int, ...]

    def parameters(self, which: NDArray[np.intp] | int) -> GemmParameters:
        """Return the parameters of one pair as numbers, or of an array of pairs as arrays."""
        if not isinstance(which, np.ndarray):
            return self.singles[which]
        taken = {one.name: np.asarray(getattr(self.columns, one.name))[which] for one in fields(GemmParameters)}
        return GemmParameters(**taken)

    def time_s(self, which: NDArray[np.intp] | int, m: ArrayLike, n: ArrayLike, k: ArrayLike) -> KernelTime:
        """Return time and sigma of products.

        Parameters
        ----------
        which : array of int or int
            Position in ``pairs`` of each product, or one for all.
        m, n, k : array of float
            Rows and columns of the result, and the length that is summed over. Numbers or arrays of one shape.

        Raises
        ------
        CostError
            When a size is not finite and above zero.

        Examples
        --------
        >>> both = models([("nvidia_h100_sxm5_80", "bf16"), ("nvidia_a100_sxm4_80", "bf16")])
        >>> fast, slow = both.time_s(np.array([0, 1]), 4096, 4096, 4096).time_s
        >>> bool(2 < slow / fast < 4)
        True

        """
        sizes = positive(m=m, n=n, k=k)
        flat = [one.ravel() for one in np.broadcast_arrays(*sizes, np.asarray(which))]
        result = np.empty(flat[0].size)
        for start in range(0, result.size, BLOCK):
            part = slice(start, start + BLOCK)
            own = flat[3][part] if np.ndim(which) else which
            three = [one[part] for one in flat[:3]]
            correction = GRID.value(self.surface, own, three)
            result[part] = prior_time_s(self.parameters(own), three[0], three[1], three[2]) * np.exp(correction)
        sigma = self.sigma[flat[3]]
        shape = np.broadcast_shapes(sizes[0].shape, np.shape(which))
        return KernelTime(result.reshape(shape), sigma.reshape(shape))


@cache
def _fitted() -> dict[tuple[str, str], _tables.Row]:
    return {(row.text("chip_id"), row.text("precision")): row for row in _tables.rows("kernel_gemm")}


@cache
def _surfaces() -> dict[tuple[str, str], Floats]:
    parts: dict[tuple[str, str], dict[int, Floats]] = {}
    for row in _tables.rows("kernel_gemm_surface"):
        values = np.array(row.text("ln_ratio_permille").split(";"), dtype=np.float64) / 1000
        parts.setdefault((row.text("chip_id"), row.text("precision")), {})[row.integer("m")] = values
    return {pair: np.concatenate([by_m[int(m)] for m in GRID.knots[0]]) for pair, by_m in parts.items()}


def _donor(chip: KernelChip, wanted: str, excluded: frozenset[str]) -> tuple[tuple[str, str], int]:
    """Return the measured pair to take coefficients of: first the nearest chip, then the nearest precision."""
    found = []
    for order, like in enumerate(PRECISIONS[wanted].like):
        ids = {chip_id for chip_id, name in _fitted() if name == like} - excluded
        if lenders := measured_chips(ids, chip):
            chip_id, step = kin(chip, lenders)
            found.append((step, order, (chip_id, like)))
    if not found:
        raise CostError(f"No matrix product was measured in a precision like {wanted} on a chip like {chip.chip_id}.")
    step, _, pair = min(found)
    return pair, step


def _efficiency(chip: KernelChip, wanted: str, donor: tuple[str, str]) -> float:
    """Return the efficiency of the kin, scaled to the best rate that was measured on this chip where one was."""
    row = _fitted()[donor]
    best = [
        one.fraction_of_peak for one in all_achieved() if (one.chip_id, one.number_format) == (chip.chip_id, donor[1])
    ]
    if not best or wanted not in (donor[1], "fp16"):
        return row.number("compute_efficiency")
    return row.number("compute_efficiency") * best[0] / row.number("best_fraction_of_peak")


class _Pair(NamedTuple):
    """One chip and precision with the coefficients that describe it."""

    name: tuple[str, str]
    parameters: GemmParameters
    surface: Floats
    band: tuple[float, float]
    kin_id: str
    kin_step: int


def _pair(name: str, wanted: str, excluded: frozenset[str]) -> _Pair:
    chip, format_ = kernel_chip(name), precision(wanted)
    peak, bandwidth = peak_flop_per_s(chip, format_.name), bandwidth_bytes_per_s(chip)
    donor, step = _donor(chip, format_.name, excluded)
    row = _fitted()[donor]
    # 16-bit formats run at one rate on one unit; any other change of format is as far as another generation.
    same = donor[1] == format_.name or (donor[1], format_.name) == ("bf16", "fp16")
    step = step if same else max(step, 2)
    values = {one: row.number(one) for one in FITTED}
    if step > 0:
        values["compute_efficiency"] = _efficiency(chip, format_.name, donor)
    if chip.compute_units is None:
        values["quantisation"] = 0.0
    parameters = GemmParameters(
        **values,
        peak_flop_per_s=peak,
        bandwidth_bytes_per_s=bandwidth,
        cache_bytes=_NO_CACHE_BYTES if chip.cache_bytes is None else chip.cache_bytes,
        compute_units=_UNKNOWN_UNITS if chip.compute_units is None else chip.compute_units,
        input_bytes=format_.input_bytes,
        output_bytes=format_.output_bytes,
    )
    band = (row.number("sigma_fraction"), row.number("band95_ln"))
    if step > 0:
        band = transfer("gemm", step, calibrating=bool(excluded))
    surface = _surfaces()[donor] if same else np.zeros(GRID.size)
    return _Pair((chip.chip_id, format_.name), parameters, surface, band, donor[0], step)


def models(pairs: Sequence[tuple[str, str]], *, excluded: frozenset[str] = frozenset()) -> GemmModel:
    """Return the model of several pairs of chip and precision.

    Parameters
    ----------
    pairs : sequence of (chip, precision)
        Chips by any name of the catalogue or of the kernel measurements.
    excluded : frozenset of str, optional
        Chips that count as not measured: for calibration with chips left out. Sigma is then NaN where it is the result
        of such a calibration.

    Raises
    ------
    CostError
        When a chip lacks the precision, or its memory bandwidth is not known.
    UnknownNameError
        When a chip or precision is not known; the message gives the nearest names.

    Examples
    --------
    >>> models([("nvidia_h20", "fp8"), ("amd_mi300x", "bf16")]).kin_steps
    (1, 3)

    """
    if not pairs:
        raise CostError("No chip is given: name at least one chip and precision.")
    found = [_pair(name, wanted, excluded) for name, wanted in pairs]
    names = [one.name for one in fields(GemmParameters)]
    columns = {name: np.array([getattr(one.parameters, name) for one in found]) for name in names}
    return GemmModel(
        tuple(one.name for one in found),
        GemmParameters(**columns),
        tuple(one.parameters for one in found),
        np.array([one.surface for one in found]),
        np.array([one.band[0] for one in found]),
        np.array([one.band[1] for one in found]),
        tuple(one.kin_id for one in found),
        tuple(one.kin_step for one in found),
    )


@cache
def model(chip: str, wanted: str) -> GemmModel:
    """Return the model of one chip and precision, kept for the next call: see `models`.

    Examples
    --------
    >>> model("nvidia_h100_sxm5_80", "bf16").kin_steps
    (0,)

    """
    return models([(chip, wanted)])


def gemm_time_s(
    chip: str | Sequence[str], wanted: str | Sequence[str], m: ArrayLike, n: ArrayLike, k: ArrayLike
) -> KernelTime:
    """Return the time of matrix products C[m, n] = A[m, k] B[k, n], launch included.

    Parameters
    ----------
    chip, wanted : str or sequence of str
        Chip and precision of all products, or of each. For very many products of several chips, make `models` once and
        call its ``time_s`` with positions.
    m, n, k : array of float
        Sizes; numbers or arrays of one shape ``(n,)``.

    Returns
    -------
    KernelTime
        Seconds and relative sigma, calibrated on shapes (or chips) that were left out of the fit.

    Raises
    ------
    CostError
        When the chip lacks the precision or a size is not finite and above zero.
    UnknownNameError
        When the chip or the precision is not known.

    Examples
    --------
    >>> time, sigma = gemm_time_s("nvidia_h100_sxm5_80", "bf16", [4096, 8192], 4096, 4096)
    >>> bool((2 * np.array([4096, 8192]) * 4096**2 / time / 989.4e12 > 0.6).all())
    True

    """
    if isinstance(chip, str) and isinstance(wanted, str):
        return model(chip, wanted).time_s(0, m, n, k)
    count = len(wanted) if isinstance(chip, str) else len(chip)
    chips = [chip] * count if isinstance(chip, str) else list(chip)
    formats = [wanted] * count if isinstance(wanted, str) else list(wanted)
    if len(chips) != len(formats):
        raise CostError(f"There are {len(chips)} chips and {len(formats)} precisions: give one each.")
    position = {pair: at for at, pair in enumerate(dict.fromkeys(zip(chips, formats, strict=True)))}
    which = np.array([position[pair] for pair in zip(chips, formats, strict=True)], dtype=np.intp)
    return models(list(position)).time_s(which, m, n, k)
