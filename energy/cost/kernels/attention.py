r"""Time of attention: fused kernels over a prompt, one query over a cache, and unfused attention.

Over a prompt, with blocks of 128 queries on \(U\) compute units, peak \(P\), bandwidth \(W\)
and \(X\) exponentials a second and unit:

    blocks  w = batch heads ceil(queries / 128) / U
    compute T = max(q ceil(w) + (1 - q) w, 1) 128 (pairs / queries + fill) (2 (d_qk + d_v) U / P + 1 / X) / e
    memory  M = bytes of queries, keys, values and output / (W e_m)
    time      = launch + (T^p + M^p)^(1/p)

``pairs`` are the query-key pairs under the mask: causal ones end at the last key, a window keeps the last ``window``
keys. One query over a cache reads all keys and values in its window once, never faster than 0.9 of the memory bandwidth
beyond what the on-chip cache holds; its parts of 512 keys are the blocks. The six
coefficients and a correction over (length, batch x heads, query heads per key head) are fitted by
``scripts/fit_kernels.py`` on the measured kernels of AIConfigurator (``kernel_attention.csv``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
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

_QUERIES = 128.0
_KEYS = 512.0
# Softmax takes one exponential a pair, on units that grow with the compute units, not with the matrix rate: 16 a cycle
# at 1.75 GHz (an estimate; it is why attention gains less than matrix products from one generation to the next).
_EXPONENTIALS_PER_UNIT_S = 28e9
# The H200 levels off at 4.3 of 4.8 TB/s for large caches. The correction may not fall below: rows of the B200 and the
# GB200 print more than their memory can give, and are left out of the fit.
_LARGE_CACHE_EFFICIENCY = 0.9
GRIDS = {
    "context": Grid(
        ((16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384), (1, 8, 32, 128, 512, 2048, 8192), (1, 4, 16, 64))
    ),
    "generation": Grid(
        ((1, 32, 128, 512, 1024, 4096, 16384, 65536, 131072), (1, 4, 16, 64, 256, 1024, 8192), (1, 4, 16, 24, 32, 128))
    ),
}
FITTED = ("launch_us", "compute_efficiency", "fill_length", "quantisation", "memory_efficiency", "sharpness")
# Five matrix products instead of two: an estimate, counted, not measured (arXiv 2307.08691 counts the same).
BACKWARD_RATIO = 2.5
BACKWARD_SIGMA = 0.15
_UNKNOWN_UNITS = 100.0


@dataclass(frozen=True, slots=True)
class AttentionParameters:
    """Coefficients of one kind of kernel on one chip."""

    launch_us: float
    compute_efficiency: float
    fill_length: float
    quantisation: float
    memory_efficiency: float
    sharpness: float
    peak_flop_per_s: float
    bandwidth_bytes_per_s: float
    compute_units: float
    input_bytes: float
    cache_bytes_per_value: float
    on_chip_bytes: float


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """Shapes of attention, arrays of one shape ``(n,)``; ``windowed`` says where a window hides keys."""

    batch: Floats
    heads: Floats
    kv_heads: Floats
    query_dim: Floats
    value_dim: Floats
    query_length: Floats
    kv_length: Floats
    keys_per_query: Floats
    windowed: NDArray[np.bool_]

    def taken(self, rows: NDArray[np.intp]) -> AttentionShape:
        """Return some of the shapes."""
        return AttentionShape(*(getattr(self, name)[rows] for name in self.__slots__))


def keys_per_query(query_length: ArrayLike, kv_length: ArrayLike, *, causal: bool, window: ArrayLike = 0) -> Floats:
    """Return the mean number of keys that a query sees.

    Parameters
    ----------
    query_length, kv_length : array of float
        Queries, and keys up to the last query, in tokens.
    causal : bool
        Whether a query sees only the keys up to itself; the last query sees the last key.
    window : array of float, optional
        Longest distance that is seen, in tokens; 0 is none.

    Raises
    ------
    CostError
        When there are fewer keys than queries under a causal mask, or the window is negative.

    Examples
    --------
    >>> keys_per_query(4, 4, causal=True), keys_per_query(4, 4, causal=True, window=2)
    (array([2.5]), array([1.75]))

    """
    queries, keys = positive(query_length=query_length, kv_length=kv_length)
    width = np.broadcast_to(np.asarray(window, dtype=np.float64), queries.shape)
    if not (np.isfinite(width) & (width >= 0)).all():
        raise CostError("The window of attention is negative or not finite: give tokens, or 0 for none.")
    width = np.where(width == 0, np.inf, width)
    if not causal:
        return np.asarray(np.minimum(keys, width), dtype=np.float64)
    if (keys < queries).any():
        at = int(np.argmax(keys < queries))
        raise CostError(f"{queries[at]:g} queries but {keys[at]:g} keys under a causal mask: give as many or more.")
    first = keys - queries  # keys before the first query
    rising = np.clip(width - first, 0.0, queries)  # queries that do not yet reach the window
    total = rising * first + rising * (rising + 1) / 2 + (queries - rising) * np.where(np.isinf(width), 0.0, width)
    return np.asarray(total / queries, dtype=np.float64)


def context_prior_s(one: AttentionParameters, shape: AttentionShape) -> Floats:
    """Return the time of the prior of a fused kernel over many queries, in seconds."""
    width = shape.query_dim + shape.value_dim
    waves = shape.batch * shape.heads * np.ceil(shape.query_length / _QUERIES) / one.compute_units
    per_pair = 2 * width * one.compute_units / one.peak_flop_per_s + 1 / _EXPONENTIALS_PER_UNIT_S
    block = _QUERIES * (shape.keys_per_query + one.fill_length) * per_pair / one.compute_efficiency
    compute = _rounds(waves, one.quantisation) * block
    queries = shape.batch * shape.heads * shape.query_length * width * one.input_bytes
    keys = shape.batch * shape.kv_heads * shape.kv_length * width * one.cache_bytes_per_value
    memory = (queries + keys) / (one.bandwidth_bytes_per_s * one.memory_efficiency)
    return _joined(one, compute, memory)


def generation_prior_s(one: AttentionParameters, shape: AttentionShape) -> Floats:
    """Return the time of the prior of one query over a cache, in seconds."""
    width = shape.query_dim + shape.value_dim
    compute = shape.batch * shape.heads * shape.keys_per_query * 2 * width
    compute = compute / (one.peak_flop_per_s * one.compute_efficiency)
    read = shape.batch * shape.kv_heads * (shape.keys_per_query + one.fill_length) * width * one.cache_bytes_per_value
    waves = shape.batch * shape.kv_heads * np.ceil(shape.keys_per_query / _KEYS) / one.compute_units
    memory = read / (one.bandwidth_bytes_per_s * one.memory_efficiency) * _rounds(waves, one.quantisation) / waves
    return _joined(one, compute, memory)


def _rounds(waves: Floats, quantisation: float) -> Floats:
    return np.asarray(np.maximum(quantisation * np.ceil(waves) + (1 - quantisation) * waves, 1.0))


def _joined(one: AttentionParameters, compute: Floats, memory: Floats) -> Floats:
    larger, smaller = np.maximum(compute, memory), np.minimum(compute, memory)
    joined = larger * (1 + (smaller / larger) ** one.sharpness) ** (1 / one.sharpness)
    return np.asarray(one.launch_us * 1e-6 + joined, dtype=np.float64)


def floor_s(one: AttentionParameters, shape: AttentionShape) -> Floats:
    """Return the least time of one query over a cache: what exceeds the on-chip cache comes from the memory."""
    width = shape.query_dim + shape.value_dim
    read = shape.batch * shape.kv_heads * shape.keys_per_query * width * one.cache_bytes_per_value
    beyond = np.maximum(read - one.on_chip_bytes, 0.0)
    return np.asarray(beyond / (one.bandwidth_bytes_per_s * _LARGE_CACHE_EFFICIENCY))


PRIORS = {"context": context_prior_s, "generation": generation_prior_s}


def coordinates(operation: str, shape: AttentionShape) -> list[Floats]:
    """Return the three sizes of the correction: length, batch x heads, query heads per key head."""
    if operation == "context":
        return [shape.query_length, shape.batch * shape.heads, shape.heads / shape.kv_heads]
    return [shape.keys_per_query, shape.batch * shape.kv_heads, shape.heads / shape.kv_heads]


@dataclass(frozen=True, slots=True)
class _Kind:
    parameters: AttentionParameters
    surface: Floats
    sigma: float
    band95: float


@cache
def _fitted() -> tuple[_tables.Row, ...]:
    return _tables.rows("kernel_attention")


def _row(
    chip: KernelChip,
    operation: str,
    formats: tuple[str, str],
    head_dim: float,
    windowed: bool,
    excluded: frozenset[str],
) -> tuple[_tables.Row, int]:
    """Return the measured kernel that resembles the wanted one most, and how far away its chip is."""
    rows = [row for row in _fitted() if row.text("operation") == operation and row.text("chip_id") not in excluded]
    lenders = measured_chips({row.text("chip_id") for row in rows}, chip)
    chip_id, step = kin(chip, lenders)

    def far(row: _tables.Row) -> tuple[bool, bool, float, bool]:
        width = abs(np.log2(row.integer("head_dim") / head_dim))
        own = (row.text("precision"), row.text("kv_precision"))
        return own[1] != formats[1], own[0] != formats[0], width, row.flag("windowed") != windowed

    return min((row for row in rows if row.text("chip_id") == chip_id), key=far), step


def _kind(
    name: str, operation: str, formats: tuple[str, str], head_dim: float, windowed: bool, excluded: frozenset[str]
) -> _Kind:
    chip, (wanted, kept) = kernel_chip(name), formats
    # 16-bit formats run at one rate; another format counts as another generation, another width as another chip.
    looked = ("bf16" if wanted == "fp16" else wanted, "bf16" if kept == "fp16" else kept)
    row, step = _row(chip, operation, looked, head_dim, windowed, excluded)
    if (row.text("precision"), row.text("kv_precision")) != looked:
        step = max(step, 2)
    elif row.integer("head_dim") != head_dim:
        step = max(step, 1)
    values = {one: row.number(one) for one in FITTED}
    if chip.compute_units is None:
        values["quantisation"] = 0.0
    parameters = AttentionParameters(
        **values,
        peak_flop_per_s=peak_flop_per_s(chip, wanted),
        bandwidth_bytes_per_s=bandwidth_bytes_per_s(chip),
        compute_units=chip.compute_units or _UNKNOWN_UNITS,
        input_bytes=PRECISIONS[wanted].output_bytes,
        cache_bytes_per_value=PRECISIONS[kept].input_bytes,
        on_chip_bytes=0.0 if chip.cache_bytes is None else chip.cache_bytes,
    )
    surface = np.array(row.text("ln_ratio_permille").split(";"), dtype=np.float64) / 1000
    band = (row.number("sigma_fraction"), row.number("band95_ln"))
    if step > 0:
        band = transfer("attention", step, calibrating=bool(excluded))
    return _Kind(parameters, surface, *band)


_kept = cache(_kind)


def attention_shape(
    batch: ArrayLike,
    heads: ArrayLike,
    kv_heads: ArrayLike,
    head_dim: ArrayLike,
    query_length: ArrayLike,
    kv_length: ArrayLike,
    *,
    causal: bool = True,
    window: ArrayLike = 0,
    value_dim: ArrayLike | None = None,
) -> AttentionShape:
    """Return checked shapes, all of one shape: the parameters are those of `attention_time_s`.

    Examples
    --------
    >>> attention_shape(1, 32, 8, 128, 4, 4).keys_per_query
    array([2.5])

    """
    sizes = positive(
        batch=batch,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        value_dim=head_dim if value_dim is None else value_dim,
        query_length=query_length,
        kv_length=kv_length,
    )
    *arrays, windows = np.broadcast_arrays(*sizes, np.asarray(window, dtype=np.float64))
    if (uneven := arrays[1] % arrays[2] != 0).any():
        at = int(np.argmax(uneven))
        text = f"{arrays[1][at]:g} query heads cannot share {arrays[2][at]:g} key heads: one must divide the other."
        raise CostError(text)
    seen = keys_per_query(arrays[5], arrays[6], causal=causal, window=windows)
    limited = (windows > 0) & (windows < arrays[6])
    return AttentionShape(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5], arrays[6], seen, limited)


def attention_time_s(
    chip: str,
    wanted: str,
    batch: ArrayLike,
    heads: ArrayLike,
    kv_heads: ArrayLike,
    head_dim: ArrayLike,
    query_length: ArrayLike,
    kv_length: ArrayLike,
    *,
    causal: bool = True,
    window: ArrayLike = 0,
    kv_precision: str | None = None,
    value_dim: ArrayLike | None = None,
) -> KernelTime:
    """Return the time of fused attention, forward: over a prompt, or with one query over a cache.

    Parameters
    ----------
    chip, wanted : str
        Chip and precision of the products (keys, values and the probabilities).
    batch, heads, kv_heads, head_dim : array of float
        Sequences, query heads, key-value heads, width of a head.
    query_length, kv_length : array of float
        Queries and keys of one sequence, in tokens. One query is the decoding kernel.
    causal : bool, optional
        Whether a query sees only the keys up to itself.
    window : array of float, optional
        Width of a sliding window in tokens; 0 is none.
    kv_precision : str, optional
        Format of the cache; that of the products where it is not given.
    value_dim : array of float, optional
        Width of a value where it differs from that of a key (MLA).

    Raises
    ------
    CostError
        When the chip lacks the precision, a size is wrong, or kv_heads does not divide heads.

    Examples
    --------
    >>> time = attention_time_s("nvidia_h200_sxm", "bf16", 1, 32, 8, 128, 8192, 8192).time_s
    >>> rate = 4 * 32 * 128 * 8192**2 / 2 / time[0]
    >>> bool(0.4 < rate / 989.4e12 < 0.9)
    True

    """
    shape = attention_shape(
        batch, heads, kv_heads, head_dim, query_length, kv_length, causal=causal, window=window, value_dim=value_dim
    )
    return attention_bands(chip, wanted, shape, kv_precision=kv_precision)[0]


def attention_bands(
    chip: str,
    wanted: str,
    shape: AttentionShape,
    *,
    kv_precision: str | None = None,
    excluded: frozenset[str] = frozenset(),
) -> tuple[KernelTime, Floats]:
    """Return the time of shapes as `attention_time_s` does, and the logarithmic error that 95 % stay within.

    Parameters
    ----------
    chip, wanted : str
        Chip and precision of the products.
    shape : AttentionShape
        From `attention_shape`.
    kv_precision : str, optional
        Format of the cache; that of the products where it is not given.
    excluded : frozenset of str, optional
        Chips that count as not measured: for calibration; bands of unmeasured chips are then NaN.

    Examples
    --------
    >>> time, band = attention_bands("nvidia_h200_sxm", "bf16", attention_shape(1, 32, 8, 128, 1, 4096))
    >>> bool(time.sigma_fraction[0] < band[0])
    True

    """
    formats = (precision(wanted).name, precision(kv_precision or wanted).name)
    time, sigma, band = (np.empty(shape.batch.shape) for _ in range(3))
    single = shape.query_length == 1
    for head_dim, one_query, windowed in product(np.unique(shape.query_dim), (False, True), (False, True)):
        found = (shape.query_dim == head_dim) & (single == one_query) & (shape.windowed == windowed)
        operation = "generation" if one_query else "context"
        positions = np.flatnonzero(found)
        for start in range(0, positions.size, BLOCK):
            rows = positions[start : start + BLOCK]
            kind = _kept(chip, operation, formats, float(head_dim), windowed, excluded)
            own = shape.taken(rows)
            correction = GRIDS[operation].value(kind.surface[None], 0, coordinates(operation, own))
            time[rows] = PRIORS[operation](kind.parameters, own) * np.exp(correction)
            if one_query:
                time[rows] = np.maximum(time[rows], floor_s(kind.parameters, own))
            sigma[rows], band[rows] = kind.sigma, kind.band95
    return KernelTime(time, sigma), band


def attention_backward_time_s(forward: KernelTime) -> KernelTime:
    """Return the time of the backward pass of fused attention: 2.5 times the forward one, an estimate.

    Backward does five matrix products where forward does two (arXiv 2307.08691); that it runs at the efficiency of the
    forward pass is an assumption, and sigma is wider for it.

    Examples
    --------
    >>> attention_backward_time_s(KernelTime(np.array([1.0]), np.array([0.0])))
    KernelTime(time_s=array([2.5]), sigma_fraction=array([0.15]))

    """
    return KernelTime(forward.time_s * BACKWARD_RATIO, np.hypot(forward.sigma_fraction, BACKWARD_SIGMA))


def unfused_bytes(
    batch: ArrayLike, heads: ArrayLike, query_length: ArrayLike, kv_length: ArrayLike, bytes_per_value: float
) -> Floats:
    """Return the bytes that unfused attention moves for its score matrices besides the two products, forward.

    Scores are written, read and written by the softmax, and read by the second product: four passes; a mask adds a read
    and a write. Unfused kernels do not save the masked half.

    Examples
    --------
    >>> unfused_bytes(1, 32, 2048, 2048, 2)
    array([1.61061274e+09])

    """
    sizes = positive(batch=batch, heads=heads, query_length=query_length, kv_length=kv_length)
    return np.asarray(6 * bytes_per_value * np.prod(np.stack(sizes), axis=0), dtype=np.float64)
