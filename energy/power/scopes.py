"""What a reading of power covers: board, module, all dies of a package, or a board that each of its instances repeats.

Four traps of telemetry, each with the function that gets it right: a superchip's module holds GPU, processor and memory
(:func:`superchip`); instances of a board (MIG) repeat its power (:func:`board_power_once`,
:func:`share_among_instances`); a package of two dies reports on the first only (:func:`package_power`); a mean and an
instant are different readings of one sensor (:func:`reading_scope`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue.chips import chip as chip_of
from energy.errors import PowerError, UnknownNameError, did_you_mean
from energy.power.accelerators import Span

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReadingScope:
    """What one field of a tool reports.

    ``covers`` is ``board``, ``module`` (GPU, processor, memory) or ``package`` (all dies); ``time`` says whether it is
    a mean, an instant or a counter; ``warning`` names the trap.
    """

    field: str
    covers: str
    time: str
    warning: str
    source: str


_NVIDIA = "nvidia-smi --help-query-gpu"
_MODULE = "module: GPU, processor and memory; never add it to power.draw, which is in it"
_AMD = "github.com/ROCm/rocm_smi_lib: 'N/A (Secondary die)'"

_SECOND = "mean of about a second on newer chips, an instant on older ones"
_REPEATED = "each MIG instance repeats it: take it once for each board"
_DIES = "one die of a package reports for all; the others N/A or 0"
_DCGM = "NVIDIA/dcgm-exporter, default counters"
_SCOPES = (
    ReadingScope("power.draw", "board", _SECOND, "on a superchip the GPU alone", _NVIDIA),
    ReadingScope("power.draw.average", "board", "mean of the last second", "", _NVIDIA),
    ReadingScope("power.draw.instant", "board", "instant", "samples of instants miss bursts between them", _NVIDIA),
    ReadingScope("module.power.draw", "module", _SECOND, _MODULE, _NVIDIA),
    ReadingScope("module.power.draw.average", "module", "mean of the last second", _MODULE, _NVIDIA),
    ReadingScope("module.power.draw.instant", "module", "instant", _MODULE, _NVIDIA),
    ReadingScope("DCGM_FI_DEV_POWER_USAGE", "board", _SECOND, _REPEATED, _DCGM),
    ReadingScope("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "board", "counter", _REPEATED, _DCGM),
    ReadingScope("Average Graphics Package Power (W)", "package", "mean", _DIES, _AMD),
    ReadingScope("Current Socket Graphics Package Power (W)", "package", "instant", _DIES, _AMD),
    ReadingScope("socket_power", "package", _SECOND, _DIES, _AMD),
)
#: Fields of tools and what they cover.
FIELDS: Mapping[str, ReadingScope] = MappingProxyType({one.field: one for one in _SCOPES})


def reading_scope(field: str) -> ReadingScope:
    """Return what a field of a tool covers.

    Parameters
    ----------
    field : str
        As the tool names it.

    Raises
    ------
    UnknownNameError
        The field is not known; the message gives the nearest.

    Examples
    --------
    >>> reading_scope("module.power.draw").covers, reading_scope("power.draw").covers
    ('module', 'board')

    """
    if field not in FIELDS:
        raise UnknownNameError(f"What {field!r} covers is not known.{did_you_mean(field, FIELDS)}")
    return FIELDS[field]


@dataclass(frozen=True, slots=True)
class Superchip:
    """A module of GPUs and a processor: what each reading of it may be at most, with 95 % ranges.

    ``module_limit_w`` holds GPUs, processor and their memory; ``gpu_limit_w`` one GPU alone.
    """

    chip_id: str
    gpus: int
    processor_id: str
    gpu_limit_w: Span
    processor_limit_w: Span
    module_limit_w: Span
    source: str
    status: str


#: GPUs of a module, and a chip with the same GPU on a board of its own where the catalogue's power is the module's.
_SUPERCHIPS = {
    "nvidia_gh200_96": (1, "nvidia_h100_sxm5_80"),
    "nvidia_gh200_144": (1, "nvidia_h200_sxm"),
    "nvidia_gb200": (2, ""),
    "nvidia_gb300": (2, ""),
}
_PROCESSOR = "nvidia_grace"


def alone_of(chip_id: str) -> str:
    """Return the chip with the same GPU on a board of its own, where the catalogue's power is a module's; else "".

    Examples
    --------
    >>> alone_of("nvidia_gh200_96"), alone_of("nvidia_gb200")
    ('nvidia_h100_sxm5_80', '')

    """
    return _SUPERCHIPS.get(chip_id, (0, ""))[1]


def superchip(chip: str) -> Superchip:
    """Return the limits of a superchip's module and of one of its GPUs: two boundaries, of which one holds the other.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.

    Raises
    ------
    PowerError
        The chip is no superchip.
    UnknownNameError
        The chip is not known; the message gives the nearest names.

    Notes
    -----
    GH200: the catalogue's limit is that of the module; its GPU has the limit of the same GPU on a board of its own, up
    to the module's less an idle processor. GB200: the catalogue's limit is one GPU's; the module is two of them and a
    processor.

    Examples
    --------
    >>> one, two = superchip("nvidia_gh200_96"), superchip("nvidia_gb200")
    >>> one.module_limit_w.value, one.gpu_limit_w.value, two.gpu_limit_w.value, two.module_limit_w.value
    (1000.0, 700.0, 1200.0, 2650.0)

    """
    known, processor = chip_of(chip), chip_of(_PROCESSOR)
    if known.chip_id not in _SUPERCHIPS or known.tdp_w is None or processor.tdp_w is None:
        raise PowerError(f"{known.chip_id} is no superchip, whose module holds more: {', '.join(_SUPERCHIPS)} are.")
    gpus, alone = _SUPERCHIPS[known.chip_id]
    around = Span(processor.tdp_w, 0.8 * processor.tdp_w, 1.25 * processor.tdp_w)
    source = f"{'; '.join(known.source)}; processor: {'; '.join(processor.source)}"
    if alone:
        module = Span(known.tdp_w, known.tdp_min_config_w or known.tdp_w, known.tdp_w)
        board = chip_of(alone).tdp_w or known.tdp_w
        gpu = Span(board, min(board, module.low), known.tdp_w - 0.1 * processor.tdp_w)
    else:
        gpu = Span(known.tdp_w, known.tdp_w, known.tdp_w)
        module = Span(*(gpus * known.tdp_w + edge for edge in around))
    return Superchip(known.chip_id, gpus, _PROCESSOR, gpu, around, module, source, "estimate")


def processor_power(chip: str, power_module_w: ArrayLike, power_gpu_w: ArrayLike) -> Numbers:
    """Return what is left of a module's power for processor and memory, from readings of both.

    Parameters
    ----------
    chip : str
        A superchip, by any name of the catalogue.
    power_module_w : array, W
        Module readings (``module.power.draw``).
    power_gpu_w : array, W
        Readings of its GPUs together (``power.draw``).

    Raises
    ------
    PowerError
        The GPUs draw more than the module: the two columns were exchanged, or are of different times.

    Examples
    --------
    >>> processor_power("nvidia_gh200_96", [720.0], [560.0])
    array([160.])

    """
    superchip(chip)
    module, gpu = np.asarray(power_module_w, dtype=np.float64), np.asarray(power_gpu_w, dtype=np.float64)
    rest = module - gpu
    if np.any(~(rest >= 0.0)):
        at = int(np.flatnonzero(~(np.atleast_1d(rest) >= 0.0))[0])
        raise PowerError(
            f"Reading {at}: the GPUs of {chip} draw {np.atleast_1d(gpu)[at]:g} W and their module "
            f"{np.atleast_1d(module)[at]:g} W, which holds them: were the columns exchanged?"
        )
    return rest


def board_power_once(
    board: ArrayLike, power_w: ArrayLike, *, tolerance: float = 0.01
) -> tuple[NDArray[np.str_], Numbers]:
    """Return boards and their power, each once, from readings of one time that instances of a board repeat.

    Parameters
    ----------
    board : array of str
        Board of each reading (its UUID).
    power_w : array, W
        Reading: of the whole board, whichever instance carries it.
    tolerance : float
        Greatest relative difference between readings of one board.

    Raises
    ------
    PowerError
        Readings of one board differ by more: they are not repeats of one board's power.

    Examples
    --------
    >>> board_power_once(["a", "a", "a", "b"], [214.5, 214.5, 214.5, 60.0])[1]
    array([214.5,  60. ])

    """
    names = np.asarray(board, dtype=np.str_)
    watts = np.asarray(power_w, dtype=np.float64)
    found, place = np.unique(names, return_inverse=True)
    least, most = np.full(len(found), np.inf), np.full(len(found), -np.inf)
    np.minimum.at(least, place, watts)
    np.maximum.at(most, place, watts)
    wrong = ~(most - least <= tolerance * most)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise PowerError(
            f"Readings of the board {found[at]} at one time go from {least[at]:g} to {most[at]:g} W: instances repeat "
            f"the power of their board, so they differ by at most {100 * tolerance:g} %; are these several boards?"
        )
    return found, most


def share_among_instances(
    power_board_w: float, slices: ArrayLike, active: ArrayLike, *, slices_total: int = 7, power_idle_w: float = 0.0
) -> tuple[Numbers, float]:
    """Return the power of each instance of a board and what belongs to none; together they are the board's.

    Parameters
    ----------
    power_board_w : float, W
        Reading of the board.
    slices : array, ``(n,)``
        Compute slices of each instance (1 of ``1g.10gb``).
    active : array, ``(n,)``, 0 to 1
        Share of time in which the instance's engine worked.
    slices_total : int
        Slices of the board.
    power_idle_w : float, W
        Idle power of the board, which is shared by slices held.

    Returns
    -------
    tuple of array and float
        Watts of each instance, and unassigned watts: the idle power of slices that nobody holds.

    Raises
    ------
    PowerError
        Slices exceed the board's, or a share is out of range, or the idle power is above the reading.

    Notes
    -----
    Idle power by slices held over all slices; the rest by slices × activity, and by slices where none worked.

    Examples
    --------
    >>> watts, rest = share_among_instances(214.5, [1, 1, 3], [0.02, 0.0, 0.85], power_idle_w=70.0)
    >>> round(float(watts.sum()) + rest, 9), bool(watts[2] > watts[0] > watts[1] > 0)
    (214.5, True)

    """
    held, work = np.asarray(slices, dtype=np.float64), np.asarray(active, dtype=np.float64)
    if held.sum() > slices_total or np.any(held <= 0.0):
        raise PowerError(f"The instances hold {held.sum():g} slices of a board of {slices_total}: give each above 0.")
    if np.any(~((work >= 0.0) & (work <= 1.0))):
        raise PowerError("A share of activity is not between 0 and 1.")
    if not 0.0 <= power_idle_w <= power_board_w:
        raise PowerError(f"The board draws {power_board_w:g} W, less than its idle power of {power_idle_w:g} W.")
    weight = held * work
    weight = weight / weight.sum() if weight.sum() > 0.0 else held / held.sum()
    shares = power_idle_w * held / slices_total + (power_board_w - power_idle_w) * weight
    return shares, power_board_w - float(shares.sum())


#: Dies of a package that the tools of its maker show as devices of their own.
_DIES_OF_PACKAGE = MappingProxyType({"amd_mi250": 2, "amd_mi250x": 2})


def dies_of(chip_id: str) -> int:
    """Return how many devices the tools of its maker show of one package.

    Parameters
    ----------
    chip_id : str
        Of the catalogue, which counts packages.

    Examples
    --------
    >>> dies_of("amd_mi250x"), dies_of("amd_mi300x")
    (2, 1)

    """
    return _DIES_OF_PACKAGE.get(chip_id, 1)


def package_power(package: ArrayLike, power_w: ArrayLike) -> tuple[NDArray[np.str_], Numbers]:
    """Return packages and their power from readings of their dies at one time, of which only the first reports.

    Parameters
    ----------
    package : array of str
        Package of each die.
    power_w : array, W
        Reading of the die; NaN or 0 where a die reports none.

    Returns
    -------
    tuple of arrays
        Packages, and the watts of all their dies; NaN where no die reports.

    Raises
    ------
    PowerError
        Two dies of a package report power: it is not known whether each is of the whole package.

    Examples
    --------
    >>> package_power(["a", "a", "b", "b"], [480.0, float("nan"), 0.0, 210.0])[1]
    array([480., 210.])

    """
    names, watts = np.asarray(package, dtype=np.str_), np.asarray(power_w, dtype=np.float64)
    found, place = np.unique(names, return_inverse=True)
    reports = np.isfinite(watts) & (watts > 0.0)
    count = np.bincount(place, weights=reports, minlength=len(found))
    if np.any(count > 1):
        at = found[int(np.flatnonzero(count > 1)[0])]
        raise PowerError(f"Two dies of {at} report power: say whether each reads the whole package, and give it once.")
    total = np.bincount(place, weights=np.where(reports, watts, 0.0), minlength=len(found))
    return found, np.where(count > 0, total, np.nan)
