r"""Power of a chip from the energy of its operations and bytes: a cross-check of the measured curves from below.

    P = idle with context + FLOP/s × e_flop + 8 bytes/s × e_memory + 8 bytes/s × e_link

The energy of an operation is that of the arithmetic alone (``energy_per_op.csv``, mostly recalled or scaled), 5 to 50
times below a whole chip's: registers, caches, wires, clocks and leakage are missing. So the sum is a floor, and its
difference to the measured curve is what a chip spends on moving and controlling. For a part that nobody measured
(a new memory, a narrow format, an optical link) it says how many watts it adds or saves, not what the chip draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from energy.catalogue.chips import Chip
from energy.catalogue.chips import chip as chip_of
from energy.catalogue.links import link as link_of
from energy.catalogue.memories import memory as memory_of
from energy.catalogue.operations import operations_for
from energy.cost.kernels.coefficients import bandwidth_bytes_per_s, kernel_chip, peak_flop_per_s, precision
from energy.errors import PowerError
from energy.power.accelerators import Device, device, device_power
from energy.power.states import States
from energy.units import takes

#: Memory of the catalogue that a chip's own words for its memory mean, where they are no name of it.
_OWN_WORDS = {
    "on-chip SRAM": "sram_on_chip_7nm",
    "on-wafer SRAM": "sram_on_chip_7nm",
    "SRAM plus LPDDR5": "sram_on_chip_7nm",
    "LPDDR unified": "lpddr5x",
    "LPDDR5": "lpddr5x",
    "LPDDR": "lpddr5x",
    "HBM": "hbm1",
    "DDR4": "ddr4",
}


class EnergyOf(NamedTuple):
    """Energy of one operation or bit in pJ, with range, and where it comes from."""

    energy_pj: float
    low_pj: float
    high_pj: float
    source: str


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """Watts of a busy chip from below (parts and sum), from above (the measured curve), and the difference.

    ``missing_fraction`` is the share of the dynamic power of the curve (above idle with context) that the sum of
    operations does not explain; None without load. All values are estimates.
    """

    context_chip_w: float
    arithmetic_chip_w: float
    memory_chip_w: float
    link_chip_w: float
    bottom_up_chip_w: float
    bottom_up_low_chip_w: float
    bottom_up_high_chip_w: float
    top_down_chip_w: float
    missing_fraction: float | None
    sources: tuple[str, ...]


@cache
def operation_energy(wanted: str) -> EnergyOf:
    """Return the energy of one floating-point operation of a matrix unit in a precision, arithmetic alone.

    A multiply-add counts as two operations. A format without an entry takes the nearest entry, times the square of the
    ratio of widths, which multipliers follow roughly.

    Parameters
    ----------
    wanted : str
        Precision.

    Raises
    ------
    UnknownNameError
        The precision is not known; the message gives the nearest.
    PowerError
        The catalogue has no matrix unit at all.

    Examples
    --------
    >>> operation_energy("bf16").energy_pj, operation_energy("int4").energy_pj < operation_energy("int8").energy_pj
    (0.1, True)

    """
    name = precision(wanted).name
    bits = int("".join(letter for letter in name if letter.isdigit()) or 16)
    known = [one for one in operations_for(operation="tensor_core_mac") if one.bits is not None]
    if not known:
        raise PowerError("energy_per_op.csv has no matrix unit: the energy of an operation cannot be told.")
    kind = "int" if name.startswith("int") else "fp"
    best = min(known, key=lambda one: (one.number_format != kind, abs((one.bits or 0) - bits)))
    assert best.bits is not None
    value = best.energy_pj / 2.0 * (bits / best.bits) ** 2
    # Sources of one operation differ by a factor of two either way (README of the table).
    return EnergyOf(value, value / 2.0, value * 2.0, f"{best.operation_id} ({best.status})")


@cache
def memory_energy(name: str) -> EnergyOf:
    """Return the energy of a bit read from a memory technology.

    Raises
    ------
    UnknownNameError
        The technology is not in the catalogue; the message gives the nearest.
    PowerError
        Its energy is not known.

    Examples
    --------
    >>> memory_energy("HBM3e")[:3], memory_energy("cxl_dram").energy_pj
    ((4.0, 3.5, 9.0), 20.0)

    """
    one = memory_of(name)
    if one.energy_pj_per_bit is None:
        raise PowerError(f"The energy of a bit of {one.memory_id} is not in the catalogue.")
    value = one.energy_pj_per_bit
    low = value if one.energy_pj_per_bit_low is None else one.energy_pj_per_bit_low
    high = value if one.energy_pj_per_bit_high is None else one.energy_pj_per_bit_high
    return EnergyOf(value, low, high, f"{one.memory_id} ({one.energy_scope})")


@cache
def link_energy(name: str) -> EnergyOf:
    """Return the energy of a bit sent over a link, copper or optical; the range is a factor of 1.5 either way.

    Raises
    ------
    UnknownNameError
        The link is not in the catalogue; the message gives the nearest.
    PowerError
        Its energy is not known.

    Examples
    --------
    >>> link_energy("optics_pluggable").energy_pj
    20.0

    """
    one = link_of(name)
    if one.energy_pj_per_bit is None:
        raise PowerError(f"The energy of a bit over {one.link_id} is not in the catalogue: choose a link that has it.")
    value = one.energy_pj_per_bit
    return EnergyOf(value, value / 1.5, value * 1.5, f"{one.link_id} ({'; '.join(one.source)})")


@takes("W_chip", energy="J_chip/bit", rate="B/s")
def bit_power(energy: Any, rate: Any) -> Any:
    """Return the power of moving bytes: what a memory or a link of an energy per bit draws at a rate.

    Parameters
    ----------
    energy : Quantity, J_chip/bit
        Energy of one bit, both ends of a link included.
    rate : Quantity, B/s
        Bytes per second that are moved.

    Returns
    -------
    Quantity, W_chip
        Same shape as the inputs broadcast.

    Raises
    ------
    UnitError
        An argument is something else.

    Notes
    -----
    P = 8 × energy × rate: eight bits to a byte.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(round(bit_power(quantity(20.0, "pJ_chip/bit"), quantity(100.0, "GB/s")), 3))
    16.0 W_chip

    """
    return 8.0 * energy * rate


class Moved(NamedTuple):
    """Watts of moving bytes over a memory or link, with range, and what it is."""

    power_chip_w: float
    power_chip_low_w: float
    power_chip_high_w: float
    source: str


def moving(per_bit: EnergyOf, bytes_per_s: float) -> Moved:
    """Return the watts of moving bytes at a rate, such as those of memory behind CXL or of an optical link.

    Parameters
    ----------
    per_bit : EnergyOf
        Of `memory_energy` or `link_energy`.
    bytes_per_s : float, byte/s
        Not below zero.

    Raises
    ------
    PowerError
        The rate is negative or not finite.

    Examples
    --------
    >>> cxl, optical = memory_energy("cxl_dram"), link_energy("optics_cpo")
    >>> moving(cxl, 63e9).power_chip_w, moving(optical, 100e9).power_chip_w
    (10.08, 4.0)

    """
    if not 0.0 <= bytes_per_s < float("inf"):
        raise PowerError(f"The rate is {bytes_per_s:g} bytes/s: give one of zero or above.")
    value, low, high = (
        round(float(bit_power.kernel(1e-12 * energy, bytes_per_s)), 9)
        for energy in (per_bit.energy_pj, per_bit.low_pj, per_bit.high_pj)
    )
    return Moved(value, low, high, per_bit.source)


def own_memory(chip: Chip) -> str:
    """Return the memory technology of the catalogue that a chip has.

    Raises
    ------
    PowerError
        The catalogue does not say what memory it has.

    Examples
    --------
    >>> own_memory(chip_of("nvidia_h100_sxm5_80")), own_memory(chip_of("amd_alveo_u280"))
    ('HBM3', 'HBM2')

    """
    said = chip.memory_type.split(" (")[0]
    if not said:
        raise PowerError(f"The catalogue does not say what memory {chip.chip_id} has: name a memory technology.")
    return _OWN_WORDS.get(said, said)


def _comparable(one: Device) -> None:
    """Refuse what has no two estimates."""
    if one.boundary != "chip":
        raise PowerError(
            f"The power of {one.chip_id} is that of a {one.device} at its plug: operations and bytes of its chips "
            "leave out what stands around them."
        )
    if one.model not in ("curve", "design"):
        raise PowerError(
            f"The power of {one.chip_id} is told from its whole chip ({one.model}): there is no second way."
        )


def cross_check(
    chip: str,
    wanted: str,
    compute: float,
    memory: float,
    *,
    memory_technology: str | None = None,
    link: str | None = None,
    link_bytes_per_s: float = 0.0,
) -> CrossCheck:
    """Return the power of a busy chip from below and from above.

    Parameters
    ----------
    chip, wanted : str
        Chip by any name of the catalogue, and precision.
    compute, memory : float, 0 to 1
        Rate over the dense peak, and bytes/s over the memory bandwidth.
    memory_technology : str, optional
        Memory of the catalogue that the bytes come from, such as ``cxl_dram``; without it the chip's own.
    link : str, optional
        Link of the catalogue.
    link_bytes_per_s : float, byte/s
        Sent over it.

    Raises
    ------
    UnknownNameError, CatalogueError, PowerError
        A name or a value is not in the catalogue, or a share is out of range.

    Examples
    --------
    >>> found = cross_check("nvidia_h200_sxm", "bf16", 0.7, 0.1)
    >>> found.bottom_up_chip_w < found.top_down_chip_w
    True

    """
    known, kernel = chip_of(chip), kernel_chip(chip_of(chip).chip_id)
    _comparable(device(known.chip_id))
    top = device_power(known.chip_id, States(busy=1.0, compute=compute, memory=memory), wanted).state_power()
    context = float(device_power(known.chip_id, States(idle_context=1.0), wanted).power_w)
    per_flop = operation_energy(wanted)
    per_bit = memory_energy(memory_technology or own_memory(known))
    rate = compute * peak_flop_per_s(kernel, wanted)
    moved = 8.0 * memory * bandwidth_bytes_per_s(kernel)
    sent, per_link = 0.0, EnergyOf(0.0, 0.0, 0.0, "no link")
    if link is not None:
        sent, per_link = 8.0 * link_bytes_per_s, link_energy(link)
    value = 1e-12 * (rate * per_flop.energy_pj + moved * per_bit.energy_pj + sent * per_link.energy_pj)
    low = 1e-12 * (rate * per_flop.low_pj + moved * per_bit.low_pj + sent * per_link.low_pj)
    high = 1e-12 * (rate * per_flop.high_pj + moved * per_bit.high_pj + sent * per_link.high_pj)
    power = float(top.power_chip_w)
    return CrossCheck(
        context_chip_w=context,
        arithmetic_chip_w=1e-12 * rate * per_flop.energy_pj,
        memory_chip_w=1e-12 * moved * per_bit.energy_pj,
        link_chip_w=1e-12 * sent * per_link.energy_pj,
        bottom_up_chip_w=context + value,
        bottom_up_low_chip_w=context + low,
        bottom_up_high_chip_w=context + high,
        top_down_chip_w=power,
        missing_fraction=1.0 - value / (power - context) if power > context else None,
        sources=(per_flop.source, per_bit.source, per_link.source, top.source),
    )
