"""Time of operations that only move bytes: normalisation, activation, residual, optimiser, softmax when not fused."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from energy.catalogue import _tables
from energy.cost.kernels.coefficients import (
    Floats,
    KernelTime,
    bandwidth_bytes_per_s,
    kernel_chip,
    kin,
    measured_chips,
    positive,
)

# Share of the bandwidth of an operation that streams its bytes once. The measured kernels show 0.74 to 0.87 for the
# operands of matrix products on chips with HBM (kernel_gemm.csv) and 0.90 for a large key-value cache on the H200.
STREAM_EFFICIENCY = 0.80
STREAM_SIGMA = 0.15


@cache
def _launch() -> dict[str, float]:
    """Return the time of an empty kernel in seconds by measured chip: that of its 16-bit matrix products."""
    rows = _tables.rows("kernel_gemm")
    return {row.text("chip_id"): row.number("launch_us") * 1e-6 for row in rows if row.text("precision") == "bf16"}


def launch_s(chip: str) -> float:
    """Return the time of an empty kernel on a chip, or on its measured kin, in seconds.

    Examples
    --------
    >>> 1e-6 < launch_s("nvidia_h100_sxm5_80") < 1e-5
    True

    """
    own = kernel_chip(chip)
    return _launch()[kin(own, measured_chips(_launch(), own))[0]]


def memory_bound_time_s(
    chip: str, moved_bytes: ArrayLike, launches: ArrayLike = 1.0, *, efficiency: float = STREAM_EFFICIENCY
) -> KernelTime:
    """Return the time of operations that move bytes: bytes over the reached bandwidth, plus launches.

    Parameters
    ----------
    chip : str
        Chip.
    moved_bytes : array of float
        Bytes read and written.
    launches : array of float, optional
        Kernels that it takes; 0 where they overlap with others (CUDA graphs).
    efficiency : float, optional
        Share of the memory bandwidth that is reached.

    Raises
    ------
    CostError
        When the bytes are not finite and above zero, or the bandwidth of the chip is not known.

    Examples
    --------
    >>> time = memory_bound_time_s("nvidia_h100_sxm5_80", 3.35e12 * 0.8, launches=0).time_s
    >>> time.round(6)
    array([1.])

    """
    moved, share = positive(moved_bytes=moved_bytes, efficiency=efficiency)
    rate = bandwidth_bytes_per_s(kernel_chip(chip)) * share
    time: Floats = np.asarray(moved / rate + np.asarray(launches, dtype=np.float64) * launch_s(chip))
    return KernelTime(time, np.full(time.shape, STREAM_SIGMA))
