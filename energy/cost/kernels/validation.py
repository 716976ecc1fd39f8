"""Predicted against measured kernels: what ``energy validate gemm`` and ``energy validate attention`` compare.

Nothing is fitted here. Bands are those of the coefficient tables: 80 % and 95 % of the errors on shapes that were left
out of the fit lie within them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.kernels import attention, gemm
from energy.cost.kernels.coefficients import Floats, KernelTime
from energy.errors import CostError, EnergyError

GEMM_COLUMNS = ("chip", "dtype", "m", "n", "k", "latency_ms")
ATTENTION_COLUMNS = (
    "chip",
    "op",
    "attn_dtype",
    "kv_cache_dtype",
    "head_dim",
    "window_size",
    "batch_size",
    "input_len",
    "num_heads",
    "num_key_value_heads",
    "step",
    "latency_ms",
)
Z80 = 1.2816  # 80 % of a normal distribution lie within so many standard deviations


@dataclass(frozen=True, slots=True)
class KernelComparison:
    """Measured and predicted seconds of each row with two bands; NaN where a row cannot be answered.

    ``reasons`` say why, by position of the row.
    """

    measured_s: Floats
    predicted_s: Floats
    low80_s: Floats
    high80_s: Floats
    low95_s: Floats
    high95_s: Floats
    reasons: Mapping[int, str]


def _column(table: Mapping[str, ArrayLike], name: str, columns: tuple[str, ...]) -> NDArray[np.generic]:
    if name not in table:
        raise CostError(f"The table of kernels has no column {name}: it needs {', '.join(columns)}.")
    return np.asarray(table[name])


def _comparison(
    measured: Floats, time: Floats, band80: Floats, band95: Floats, why: dict[int, str]
) -> KernelComparison:
    return KernelComparison(
        measured,
        time,
        time * np.exp(-band80),
        time * np.exp(band80),
        time * np.exp(-band95),
        time * np.exp(band95),
        why,
    )


def _labels(*columns: NDArray[np.generic]) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    """Return the distinct combinations of text columns, and the position of each row's own."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        known, inverse = np.unique(column.astype(str), return_inverse=True)
        codes = codes * len(known) + inverse
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return [tuple(str(column[at]) for column in columns) for at in first], which


def compare_gemm(table: Mapping[str, ArrayLike]) -> KernelComparison:
    """Return measured and predicted time of matrix products.

    Parameters
    ----------
    table : mapping of str to array
        Columns ``chip``, ``dtype``, ``m``, ``n``, ``k``, ``latency_ms``, as in the kernel measurements.

    Raises
    ------
    CostError
        When a column is missing. A row that cannot be answered (chip, precision, size) is NaN, with the reason.

    Examples
    --------
    >>> row = {"chip": ["NVIDIA H100 SXM"], "dtype": ["bfloat16"], "m": [4096], "n": [4096], "k": [4096]}
    >>> found = compare_gemm({**row, "latency_ms": [0.1743]})
    >>> bool(found.low80_s[0] < found.measured_s[0] < found.high80_s[0])
    True

    """
    columns = {name: _column(table, name, GEMM_COLUMNS) for name in GEMM_COLUMNS}
    m, n, k, latency = (columns[name].astype(np.float64) for name in ("m", "n", "k", "latency_ms"))
    time, band80, band95 = (np.full(len(m), np.nan) for _ in range(3))
    why: dict[int, str] = {}
    pairs, which = _labels(columns["chip"], columns["dtype"])
    sound = np.isfinite(m) & np.isfinite(n) & np.isfinite(k) & (m > 0) & (n > 0) & (k > 0)
    why.update(dict.fromkeys(np.flatnonzero(~sound).tolist(), "a size is not finite and above zero"))
    for place, pair in enumerate(pairs):
        rows = (which == place) & sound
        try:
            model = gemm.models([(pair[0], pair[1])])
        except EnergyError as error:
            why.update(dict.fromkeys(np.flatnonzero(rows).tolist(), str(error)))
            continue
        found = model.time_s(0, m[rows], n[rows], k[rows])
        time[rows], band80[rows] = found.time_s, found.sigma_fraction * Z80
        band95[rows] = model.band95[0]
    return _comparison(latency * 1e-3, time, band80, band95, why)


def compare_attention(table: Mapping[str, ArrayLike]) -> KernelComparison:
    """Return measured and predicted time of attention kernels.

    Parameters
    ----------
    table : mapping of str to array
        Columns as in the kernel measurements; ``step`` are tokens in the cache before the input.

    Raises
    ------
    CostError
        When a column is missing. A row that cannot be answered is NaN, with the reason.

    Examples
    --------
    >>> row = {"chip": ["NVIDIA H200 SXM"], "op": ["context_attention"], "attn_dtype": ["bfloat16"]}
    >>> row |= {"kv_cache_dtype": ["bfloat16"], "head_dim": [128], "window_size": [0], "batch_size": [1]}
    >>> row |= {"input_len": [8192], "num_heads": [32], "num_key_value_heads": [8], "step": [0], "latency_ms": [0.9]}
    >>> found = compare_attention(row)
    >>> bool(found.low95_s[0] < found.predicted_s[0] < found.high95_s[0])
    True

    """
    columns = {name: _column(table, name, ATTENTION_COLUMNS) for name in ATTENTION_COLUMNS}
    numbers = {name: columns[name].astype(np.float64) for name in ATTENTION_COLUMNS[4:]}
    time, band80, band95 = (np.full(len(numbers["step"]), np.nan) for _ in range(3))
    why: dict[int, str] = {}
    labels, which = _labels(columns["chip"], columns["attn_dtype"], columns["kv_cache_dtype"])
    sound = _sound(numbers)
    why.update(dict.fromkeys(np.flatnonzero(~sound).tolist(), "a size is out of range, or the heads do not divide"))
    for place, (chip, products, kept) in enumerate(labels):
        rows = (which == place) & sound
        own = {name: values[rows] for name, values in numbers.items()}
        try:
            found, band = _attention(chip, products, kept, own)
        except EnergyError as error:
            why.update(dict.fromkeys(np.flatnonzero(rows).tolist(), str(error)))
            continue
        time[rows], band80[rows], band95[rows] = found.time_s, found.sigma_fraction * Z80, band
    return _comparison(numbers["latency_ms"] * 1e-3, time, band80, band95, why)


def _sound(numbers: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return the rows whose sizes can be: finite, above zero where they must be, and heads that divide."""
    finite = np.all([np.isfinite(values) for name, values in numbers.items() if name != "latency_ms"], axis=0)
    above = ("batch_size", "input_len", "num_heads", "num_key_value_heads", "head_dim")
    positive = np.all([numbers[name] > 0 for name in above], axis=0)
    possible = finite & positive & (numbers["step"] >= 0) & (numbers["window_size"] >= 0)
    groups = np.divide(numbers["num_heads"], numbers["num_key_value_heads"], out=np.zeros(len(finite)), where=possible)
    return np.asarray(possible & (groups == np.floor(groups)) & (groups >= 1))


def _attention(chip: str, products: str, kept: str, own: Mapping[str, Floats]) -> tuple[KernelTime, Floats]:
    shape = attention.attention_shape(
        own["batch_size"],
        own["num_heads"],
        own["num_key_value_heads"],
        own["head_dim"],
        own["input_len"],
        own["input_len"] + own["step"],
        window=own["window_size"],
    )
    return attention.attention_bands(chip, products, shape, kv_precision=kept)
