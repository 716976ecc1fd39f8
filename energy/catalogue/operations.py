"""Energy per operation, and the best matrix rates that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import find, grouped
from energy.catalogue._records import Verified, build
from energy.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Operation(Verified):
    """Energy of one operation in one number format.

    ``basis`` separates published estimates, library scalings, published layouts, recollections and figures derived from
    the rated power of a chip (``chip_id``). Arithmetic alone costs 5 to 50 times less than the whole chip: the two are
    never to be mixed in one sum. Scaled values were not measured.
    """

    operation_id: str
    operation: str
    number_format: str
    bits: int | None
    process_node_nm: float | None
    energy_pj: float
    basis: str
    applies_to: str
    chip_id: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str

    @property
    def whole_chip(self) -> bool:
        """Say whether the value is the share of a whole chip at its rated power, memory included."""
        return bool(self.chip_id)

    @property
    def status(self) -> str:
        """Return ``catalogue``, ``derived`` from rated power, or ``estimate`` where a recalled value is in it."""
        if self.confidence == "recalled" or "energy_pj" in self.recalled_fields:
            return "estimate"
        return "derived" if self.whole_chip or "scaled" in self.basis else "catalogue"


@dataclass(frozen=True, slots=True)
class AchievedRate:
    """The best matrix rate that was measured on a chip, against its dense peak: an upper bound for real kernels."""

    chip_id: str
    number_format: str
    achieved_tflops: float
    peak_dense_tflops: float
    fraction_of_peak: float
    software: str
    source: tuple[str, ...]
    status: str
    note: str


@cache
def all_operations() -> tuple[Operation, ...]:
    """Return the energies of all operations, in the order of the table.

    Examples
    --------
    >>> all_operations()[0].operation_id
    'add_int_45nm_1'

    """
    return tuple(build(Operation, row) for row in _tables.rows("energy_per_op"))


@cache
def _by_id() -> Mapping[str, Operation]:
    return {one.operation_id: one for one in all_operations()}


def operation(name: str) -> Operation:
    """Return one operation by its identifier.

    Raises
    ------
    AmbiguousNameError
        When the name is that of an operation in several formats; the message lists them.
    UnknownNameError
        When it is not in the catalogue; the message gives the nearest identifiers.

    Examples
    --------
    >>> operation("add_int_45nm_1").energy_pj
    0.03

    """
    names = grouped((text, one.operation_id) for one in all_operations() for text in (one.operation_id, one.operation))
    return _by_id()[find(name, names, "operation", _by_id())]


def operations_for(
    *,
    operation: str | None = None,
    number_format: str | None = None,
    bits: int | None = None,
    chip_id: str | None = None,
) -> tuple[Operation, ...]:
    """Return the operations that fit all that is given; empty where none does.

    Parameters
    ----------
    operation : str, optional
        Such as ``add``, ``mul``, ``fma``, ``dram_read``.
    number_format : str, optional
        ``fp``, ``bf``, ``int`` or ``any``.
    bits : int, optional
        Width of the format.
    chip_id : str, optional
        Chip of the whole-chip figures.

    Examples
    --------
    >>> found = operations_for(operation="mul", number_format="fp", bits=32)
    >>> [one.energy_pj for one in found if one.process_node_nm == 45]
    [3.7]

    """
    wanted = {"operation": operation, "number_format": number_format, "bits": bits, "chip_id": chip_id}
    given = {name: value for name, value in wanted.items() if value is not None}
    return tuple(one for one in all_operations() if all(getattr(one, name) == value for name, value in given.items()))


@cache
def all_achieved() -> tuple[AchievedRate, ...]:
    """Return the measured matrix rates: single facts, for few chips.

    Examples
    --------
    >>> {one.number_format for one in all_achieved()} <= {"bf16", "fp8"}
    True

    """
    return tuple(build(AchievedRate, row) for row in _tables.rows("achievable_matmul"))


def achieved(chip_id: str, number_format: str) -> AchievedRate:
    """Return the best matrix rate that was measured on a chip.

    Raises
    ------
    UnknownNameError
        When none was measured for this chip and format; nothing is taken instead.

    Examples
    --------
    >>> achieved("nvidia_a100_sxm4_80", "bf16").fraction_of_peak
    0.8692

    """
    for one in all_achieved():
        if (one.chip_id, one.number_format) == (chip_id, number_format):
            return one
    have = ", ".join(f"{one.chip_id} {one.number_format}" for one in all_achieved())
    raise UnknownNameError(f"No measured matrix rate of {chip_id} in {number_format}; there are: {have}.")
