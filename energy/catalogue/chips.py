"""Chips: one per form factor, with power, memory and rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import fold, index, listed
from energy.catalogue._records import Verified, build
from energy.errors import AmbiguousNameError, CatalogueError, UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Chip(Verified):
    """One accelerator or processor in one form factor. None is unknown, never zero.

    ``tdp_w`` is what ``tdp_kind`` says, counted at ``power_boundary`` (``chip``: board, ``it``: whole system).
    ``idle_status`` is ``read``, ``recalled`` or ``default`` (a rule of thumb), or empty where idle power is unknown.
    Rates are dense peaks: ``sparsity_2_4`` is ``yes`` where sparse weights could double them. ``die_area_mm2`` is what
    ``die_area_scope`` says.
    """

    chip_id: str
    vendor: str
    family: str
    name: str
    form_factor: str
    status_of_product: str
    launch_year: int | None
    process_node: str
    die_area_mm2: float | None
    die_area_scope: str
    transistors_billion: float | None
    tdp_w: float | None
    tdp_kind: str
    tdp_min_config_w: float | None
    tdp_max_config_w: float | None
    power_boundary: str
    typical_w: float | None
    measured_max_w: float | None
    idle_w: float | None
    idle_low_w: float | None
    idle_high_w: float | None
    idle_status: str
    idle_range_status: str
    idle_note: str
    memory_type: str
    memory_gb: float | None
    memory_bandwidth_gb_per_s: float | None
    on_chip_sram_mb: float | None
    on_chip_sram_kind: str
    fp64_tflops: float | None
    fp64_matrix_tflops: float | None
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None
    fp8_tflops: float | None
    fp6_tflops: float | None
    fp4_tflops: float | None
    int8_tops: float | None
    int4_tops: float | None
    sparsity_2_4: str
    matrix_unit: str
    interconnect: str
    link_gb_per_s_per_direction: float | None
    scale_up_domain_size: int | None
    host_link: str
    software_stacks: tuple[str, ...]
    liquid_cooling_required: str
    second_source_agrees: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str


@cache
def all_chips() -> tuple[Chip, ...]:
    """Return all chips, in the order of the table.

    Examples
    --------
    >>> len({chip.chip_id for chip in all_chips()}) == len(all_chips())
    True

    """
    return tuple(build(Chip, row, {"name": "chip"}) for row in _tables.rows("chips"))


@cache
def _by_id() -> Mapping[str, Chip]:
    return {chip.chip_id: chip for chip in all_chips()}


@cache
def chip_aliases() -> tuple[tuple[str, str, str], ...]:
    """Return (alias, chip_id, dialect) of all aliases; the dialect is empty where the alias holds everywhere.

    Examples
    --------
    >>> ("NVIDIA H100 80GB HBM3", "nvidia_h100_sxm5_80", "") in chip_aliases()
    True

    """
    rows = _tables.rows("chip_aliases")
    aliases = tuple((row.text("alias"), row.text("chip_id"), row.text("dialect")) for row in rows)
    for row, (alias, chip_id, _) in zip(rows, aliases, strict=True):
        if chip_id not in _by_id():
            raise CatalogueError(f"chip_aliases.csv, line {row.line}: {alias!r} means {chip_id!r}, which is no chip.")
    return aliases


def chip_dialects() -> tuple[str, ...]:
    """Return the dialects: log formats whose short names hold only inside them.

    Examples
    --------
    >>> chip_dialects()
    ('alibaba-2020', 'alibaba-2023', 'gcp')

    """
    return tuple(sorted({dialect for _, _, dialect in chip_aliases() if dialect}))


@cache
def _names(dialect: str) -> Mapping[str, str]:
    own = [(alias, chip_id) for alias, chip_id, scope in chip_aliases() if scope == dialect]
    if dialect:
        return index(own, f"Chip ({dialect})")
    given = [
        (name, chip.chip_id) for chip in all_chips() for name in (chip.chip_id, chip.name, f"{chip.vendor} {chip.name}")
    ]
    return index(given + own, "Chip")


@cache
def _ambiguous() -> Mapping[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for row in _tables.rows("chip_ambiguous"):
        key, chip_id = fold(row.text("name")), row.text("chip_id")
        if key in _names(""):
            raise CatalogueError(
                f"chip_ambiguous.csv, line {row.line}: {row.text('name')!r} is also a name of one chip."
            )
        if chip_id not in result.get(key, ()):
            result[key] = (*result.get(key, ()), chip_id)
    return result


@cache
def _known() -> tuple[str, ...]:
    """Return the names that an error may suggest."""
    names = [name for chip in all_chips() for name in (chip.name, chip.chip_id)]
    return tuple(names + [alias for alias, _, dialect in chip_aliases() if not dialect])


def chip(name: str, *, dialect: str | None = None) -> Chip:
    """Return the chip that a name means, exactly.

    Parameters
    ----------
    name : str
        Identifier, product name or alias. Case and the kind of separator do not matter; anything else does.
    dialect : str, optional
        Log format whose own short names hold besides, for example ``alibaba-2023``.

    Raises
    ------
    AmbiguousNameError
        When the name fits several form factors or is a vendor or family; the message lists them.
    UnknownNameError
        When the name or the dialect is not in the catalogue; the message gives the nearest names.

    Examples
    --------
    >>> chip("NVIDIA A100-SXM4-80GB").chip_id
    'nvidia_a100_sxm4_80'
    >>> chip("P100", dialect="alibaba-2023").chip_id
    'nvidia_p100_pcie_16'
    >>> chip("H100")
    Traceback (most recent call last):
    ...
    energy.errors.AmbiguousNameError: The chip name 'H100' fits several chips: nvidia_h100_sxm5_80, \
nvidia_h100_pcie_80, nvidia_h100_nvl_94. Name one of them.

    """
    key = fold(name)
    if not key:
        raise UnknownNameError("The chip name is empty: give a name of the catalogue.")
    if dialect is not None:
        if dialect not in chip_dialects():
            hint = did_you_mean(dialect, chip_dialects())
            raise UnknownNameError(f"The dialect {dialect!r} is not known: {', '.join(chip_dialects())}.{hint}")
        if key in _names(dialect):
            return _by_id()[_names(dialect)[key]]
    if key in _names(""):
        return _by_id()[_names("")[key]]
    _refuse_ambiguous(name, key)
    scopes = ", ".join(scope for scope in chip_dialects() if key in _names(scope))
    scoped = f" It is a name in the dialect {scopes}." if scopes else ""
    raise UnknownNameError(f"The chip {name!r} is not in the catalogue.{scoped}{did_you_mean(name, _known())}")


def _refuse_ambiguous(name: str, key: str) -> None:
    if key in _ambiguous():
        fits = ", ".join(_ambiguous()[key])
        raise AmbiguousNameError(f"The chip name {name!r} fits several chips: {fits}. Name one of them.")
    members = [
        c.chip_id for c in all_chips() if key in (fold(c.family), fold(c.vendor), fold(f"{c.vendor} {c.family}"))
    ]
    if members:
        text = f"{name!r} is a vendor or family, not one chip: {listed(members)}. Name one of them."
        raise AmbiguousNameError(text)
