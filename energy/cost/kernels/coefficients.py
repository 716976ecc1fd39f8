"""What the kernel models know of a chip: rates by precision, bandwidth, cache, compute units, and its measured kin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy import catalogue
from energy.catalogue import _tables
from energy.errors import CostError, UnknownNameError, did_you_mean

Floats = NDArray[np.float64]


class KernelTime(NamedTuple):
    """Time of each kernel in seconds, and the relative standard deviation of that answer (0.05 is 5 %)."""

    time_s: Floats
    sigma_fraction: Floats


@dataclass(frozen=True, slots=True)
class Precision:
    """Number format of a matrix product: bytes of an input and an output element, and the rates that serve it.

    ``fields`` are the columns of the catalogue, first known counts. ``like`` is the measured format whose coefficients
    describe it best where it was not measured itself.
    """

    name: str
    fields: tuple[str, ...]
    input_bytes: float
    output_bytes: float
    like: tuple[str, ...]


# Scales of block formats are counted: 16 values of 4 bits share one byte (4.5 bits), 32 of 6 bits one byte (6.25).
PRECISIONS: Mapping[str, Precision] = {
    one.name: one
    for one in (
        Precision("fp64", ("fp64_matrix_tflops", "fp64_tflops"), 8, 8, ("bf16",)),
        Precision("fp32", ("fp32_tflops",), 4, 4, ("bf16",)),
        Precision("tf32", ("tf32_tflops",), 4, 4, ("bf16",)),
        Precision("fp16", ("fp16_tflops",), 2, 2, ("bf16",)),
        Precision("bf16", ("bf16_tflops",), 2, 2, ("bf16",)),
        Precision("fp8", ("fp8_tflops",), 1, 2, ("fp8", "bf16")),
        Precision("fp8_block", ("fp8_tflops",), 1, 2, ("fp8_block", "fp8", "bf16")),
        Precision("fp6", ("fp6_tflops",), 0.78125, 2, ("fp8", "bf16")),
        Precision("fp4", ("fp4_tflops",), 0.5625, 2, ("fp4", "fp8", "bf16")),
        Precision("int8", ("int8_tops",), 1, 4, ("fp8", "bf16")),
        Precision("int4", ("int4_tops",), 0.5, 4, ("fp8", "bf16")),
    )
}
_ALIASES = {
    "bfloat16": "bf16",
    "half": "fp16",
    "float16": "fp16",
    "float32": "fp32",
    "float64": "fp64",
    "nvfp4": "fp4",
    "mxfp4": "fp4",
    "mxfp6": "fp6",
    "mxfp8": "fp8_block",
    "float8": "fp8",
}


@dataclass(frozen=True, slots=True)
class KernelChip:
    """One chip as the kernel models see it. None is unknown, never zero."""

    chip_id: str
    vendor: str
    family: str
    launch_year: int | None
    peaks_flop_per_s: Mapping[str, float]
    bandwidth_bytes_per_s: float | None
    cache_bytes: float | None
    compute_units: float | None
    stacked_memory: bool


def precision(name: str) -> Precision:
    """Return the precision that a name means.

    Raises
    ------
    UnknownNameError
        When there is none of this name; the message lists all.

    Examples
    --------
    >>> precision("bfloat16").name, precision("nvfp4").input_bytes
    ('bf16', 0.5625)

    """
    key = name.strip().lower()
    key = _ALIASES.get(key, key)
    if key not in PRECISIONS:
        hint = did_you_mean(name, PRECISIONS)
        raise UnknownNameError(f"The precision {name!r} is not known; there are {', '.join(PRECISIONS)}.{hint}")
    return PRECISIONS[key]


@cache
def _rows() -> Mapping[str, _tables.Row]:
    return {row.text("chip_id"): row for row in _tables.rows("kernel_chips")}


@cache
def measured_names() -> Mapping[str, str]:
    """Return the chip of each name in the kernel measurements.

    Examples
    --------
    >>> measured_names()["NVIDIA H100 SXM"]
    'nvidia_h100_sxm5_80'

    """
    return {row.text("measured_name"): chip_id for chip_id, row in _rows().items() if row.text("measured_name")}


def measured_chips(ids: Iterable[str], chip: KernelChip) -> dict[str, KernelChip]:
    """Return the chips among measured ones that may lend another their coefficients.

    A card that the catalogue does not have lends to its own family only: it was measured on young software.

    Examples
    --------
    >>> list(measured_chips(["nvidia_l40s", "intel_arc_pro_b60"], kernel_chip("amd_mi300x")))
    ['nvidia_l40s']

    """
    known = {one: kernel_chip(one) for one in sorted(ids)}
    family = (chip.vendor, chip.family)
    return {
        name: one
        for name, one in known.items()
        if (one.vendor, one.family) == family or not _rows()[name].text("vendor")
    }


@cache
def kernel_chip(name: str) -> KernelChip:
    """Return what the kernel models know of a chip: of the catalogue, or named only in the kernel measurements.

    Parameters
    ----------
    name : str
        Identifier, product name or alias of the catalogue, or a name of the kernel measurements.

    Raises
    ------
    UnknownNameError
        When no chip has this name; the message gives the nearest.

    Examples
    --------
    >>> kernel_chip("NVIDIA H100 SXM").compute_units
    132.0
    >>> kernel_chip("Intel Arc Pro B60").peaks_flop_per_s["bf16"]
    98300000000000.0

    """
    chip_id = measured_names().get(name, name)
    row = _rows().get(chip_id)
    if row is not None and row.text("vendor"):
        return _outside_catalogue(row)
    chip = catalogue.chip(chip_id)
    row = _rows().get(chip.chip_id)
    peaks = {}
    for one in PRECISIONS.values():
        known = [value for field in one.fields if (value := getattr(chip, field)) is not None]
        if known:
            peaks[one.name] = known[0] * 1e12
    bandwidth, cached = chip.memory_bandwidth_gb_per_s, chip.on_chip_sram_mb
    return KernelChip(
        chip.chip_id,
        chip.vendor,
        chip.family,
        chip.launch_year,
        peaks,
        None if bandwidth is None else bandwidth * 1e9,
        None if cached is None else cached * 1e6,
        None if row is None else row.maybe_number("compute_units"),
        chip.memory_type.startswith("HBM"),
    )


def _outside_catalogue(row: _tables.Row) -> KernelChip:
    fields = (("bf16", "bf16_tflops"), ("fp8", "fp8_tflops"), ("fp8_block", "fp8_tflops"))
    peaks = {name: value * 1e12 for name, field in fields if (value := row.maybe_number(field)) is not None}
    return KernelChip(
        row.text("chip_id"),
        row.text("vendor"),
        row.text("family"),
        row.integer("launch_year"),
        peaks,
        row.number("memory_bandwidth_gb_per_s") * 1e9,
        row.number("cache_mb") * 1e6,
        row.number("compute_units"),
        False,
    )


def supports(chip: str, name: str) -> bool:
    """Say whether a chip has a rate in a precision.

    Examples
    --------
    >>> supports("nvidia_h100_sxm5_80", "fp8"), supports("nvidia_a100_sxm4_80", "fp8")
    (True, False)

    """
    return precision(name).name in kernel_chip(chip).peaks_flop_per_s


def peak_flop_per_s(chip: KernelChip, name: str) -> float:
    """Return the dense peak of a chip in a precision, in FLOP/s.

    Raises
    ------
    CostError
        When the chip lacks the precision; the message names those it has.

    Examples
    --------
    >>> peak_flop_per_s(kernel_chip("nvidia_a100_sxm4_80"), "fp8")
    Traceback (most recent call last):
    ...
    energy.errors.CostError: The chip nvidia_a100_sxm4_80 has no rate in fp8; it has fp64, fp32, tf32, fp16, bf16, \
int8, int4: choose one of them.

    """
    wanted = precision(name).name
    if wanted not in chip.peaks_flop_per_s:
        have = ", ".join(chip.peaks_flop_per_s)
        rest = f"it has {have}: choose one of them." if have else "the catalogue has no rate of it in any precision."
        raise CostError(f"The chip {chip.chip_id} has no rate in {wanted}; {rest}")
    return chip.peaks_flop_per_s[wanted]


def bandwidth_bytes_per_s(chip: KernelChip) -> float:
    """Return the memory bandwidth of a chip, in bytes/s.

    Raises
    ------
    CostError
        When the catalogue does not know it.

    Examples
    --------
    >>> bandwidth_bytes_per_s(kernel_chip("nvidia_h100_sxm5_80"))
    3350000000000.0

    """
    if chip.bandwidth_bytes_per_s is None:
        text = f"The memory bandwidth of {chip.chip_id} is not in the catalogue: choose a chip that has it."
        raise CostError(text)
    return chip.bandwidth_bytes_per_s


def kin(chip: KernelChip, measured: Mapping[str, KernelChip]) -> tuple[str, int]:
    """Return the measured chip that resembles another most, and how far away it is.

    Parameters
    ----------
    chip : KernelChip
        Chip to describe.
    measured : mapping of str to KernelChip
        Chips that were measured, by identifier.

    Returns
    -------
    tuple of str and int
        Identifier, and 0 the chip itself, 1 another of its family, 2 another of its maker, 3 another maker's.

    Examples
    --------
    >>> kin(kernel_chip("nvidia_h20"), {n: kernel_chip(n) for n in ("nvidia_h100_sxm5_80", "nvidia_a100_sxm4_80")})
    ('nvidia_h100_sxm5_80', 1)

    """
    if not measured:
        raise CostError("No kernel was measured in a comparable precision.")

    def far(other: KernelChip) -> tuple[int, bool, float, float, str]:
        step = 3 if other.vendor != chip.vendor else 2
        if _generation(other) == _generation(chip):
            step = 1
        step = 0 if other.chip_id == chip.chip_id else step
        if other.launch_year is None or chip.launch_year is None:
            years = float("inf")
        else:
            years = abs(other.launch_year - chip.launch_year)
        memory = other.stacked_memory != chip.stacked_memory
        return step, memory, years if step > 1 else 0.0, _distance(chip, other), other.chip_id

    best = min(far(one) for one in measured.values())
    return best[4], best[0]


def _generation(chip: KernelChip) -> tuple[str, str, bool]:
    # Cards with GDDR share the name of a generation with data-centre chips, not its matrix units.
    return chip.vendor, chip.family.removesuffix(" Ultra"), chip.stacked_memory


def _distance(one: KernelChip, other: KernelChip) -> float:
    """Return how different two chips are in balance: the ratio of rate to bandwidth, and bandwidth, as logarithms."""
    if one.bandwidth_bytes_per_s is None or other.bandwidth_bytes_per_s is None:
        return 0.0
    bandwidth = abs(np.log(one.bandwidth_bytes_per_s / other.bandwidth_bytes_per_s))
    common = [p for p in one.peaks_flop_per_s if p in other.peaks_flop_per_s]
    rates = [abs(np.log(one.peaks_flop_per_s[p] / other.peaks_flop_per_s[p])) for p in common]
    return float(bandwidth + (min(rates) if rates else 1.0))


@cache
def _transfers() -> Mapping[tuple[str, int], tuple[float, float]]:
    return {
        (row.text("kernel"), row.integer("kin_step")): (row.number("sigma_fraction"), row.number("band95_ln"))
        for row in _tables.rows("kernel_transfer")
    }


def transfer(kernel: str, step: int, *, calibrating: bool = False) -> tuple[float, float]:
    """Return sigma and the 95 % band of a chip that was not measured.

    Parameters
    ----------
    kernel : str
        ``gemm``, ``attention`` or ``collective``.
    step : int
        How far the measured kin is: 1 same family, 2 same maker, 3 another maker.
    calibrating : bool, optional
        Whether chips are left out just now: then both are NaN, since that calibration is what gives them.

    Returns
    -------
    tuple of float
        Relative standard deviation that covers 80 % of the errors on chips left out of the fit; logarithmic error that
        95 % stay within.

    Examples
    --------
    >>> transfer("gemm", 1)[0] < transfer("gemm", 2)[0] < transfer("gemm", 3)[0]
    True

    """
    return (float("nan"), float("nan")) if calibrating else _transfers()[kernel, step]


def positive(**sizes: object) -> tuple[Floats, ...]:
    """Return sizes as arrays of one shape, after a check that all are finite and above zero.

    Raises
    ------
    CostError
        When one is not; the message names it and the first wrong value.

    Examples
    --------
    >>> positive(m=[1, 2], n=4)[1]
    array([4., 4.])
    >>> positive(m=0)
    Traceback (most recent call last):
    ...
    energy.errors.CostError: The size m is 0: give a finite number above zero.

    """
    arrays = []
    for name, value in sizes.items():
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
        wrong = ~(np.isfinite(array) & (array > 0))
        if wrong.any():
            raise CostError(f"The size {name} is {array[wrong][0]:g}: give a finite number above zero.")
        arrays.append(array)
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in zip(sizes, arrays, strict=True))
        raise CostError(f"The sizes have different shapes: {shapes}; give arrays of one shape, or numbers.") from None
