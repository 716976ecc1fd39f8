"""Software stacks: which family a framework belongs to, what it overlaps, and the factor that its users measured.

The factor multiplies the time that physics gives. It is fitted by ``scripts/fit_training.py`` on published runs as a
sum of few shrunken terms (all stacks, family, chip family, family on chip family, kind of work, precision width), so
that a stack seen once stays near what its relatives do; never for one row or one source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from energy import catalogue
from energy.catalogue import _tables
from energy.cost.step import Overlap
from energy.errors import UnknownNameError, did_you_mean

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stack:
    """What is known of a family before anything is fitted.

    ``tensor``, ``data``, ``expert`` and ``pipeline`` are the parts of communication that it hides; ``step_s`` and
    ``layer_launch_s`` cost of the host in seconds; ``operations_fused`` the part of memory-bound traffic that its
    compiler saves; ``attention_fused`` whether it has a fused kernel; ``zero_stage`` what it shards if not told;
    ``data_rate`` see :class:`energy.cost.step.Overlap`; ``attention_generation`` of its kernel (FlashAttention 1 to 3);
    ``interleaves`` whether a search may cut a pipeline rank into pieces; ``routing_s`` what the host waits in each
    mixture layer and micro batch for the counts of routed tokens before it can launch more, nothing where a graph is
    compiled.
    Estimates from the stacks' documentation, the same for every row; ``data_rate`` of ``deepspeed``,
    ``operations_fused`` of ``llm_foundry`` and ``routing_s`` were chosen with sight of their published runs.
    """

    name: str
    words: str
    tensor: float
    data: float
    expert: float
    pipeline: float
    step_s: float
    layer_launch_s: float
    operations_fused: float
    attention_fused: bool
    zero_stage: int
    data_rate: float = 1.0
    attention_generation: int = 3
    interleaves: bool = False
    routing_s: float = 3e-3


#: Time of an attention kernel over the measured ones, by generation of FlashAttention and chip family: the first two
#: do not use what Hopper added (arXiv 2205.14135, 2307.08691, 2407.08608). Sizes of the first generation chosen with
#: sight of the long-sequence runs of MPT, of the second estimated from the papers.
_ATTENTION_SLOWDOWN = {(1, "Ampere"): 2.5, (1, "Hopper"): 4.0, (2, "Ampere"): 1.1, (2, "Hopper"): 1.9}


def attention_slowdown(family: str, chip: str) -> float:
    """Return the time of a stack's attention kernel over the measured one on a chip.

    Examples
    --------
    >>> attention_slowdown("llm_foundry", "nvidia_h100_sxm5_80"), attention_slowdown("nemo", "nvidia_h100_sxm5_80")
    (4.0, 1.0)

    """
    return _ATTENTION_SLOWDOWN.get((stack(family).attention_generation, chip_family(chip)), 1.0)


#: Families, the more special words first. The last takes what no other does.
STACKS: Mapping[str, Stack] = MappingProxyType(
    {
        one.name: one
        for one in (
            Stack("megatron_deepspeed", r"megatron.deepspeed|deepspeed.*megatron", 0, 0, 0, 0, 0.05, 2e-3, 0, False, 1),
            Stack("nemo", r"nemo|megatron.bridge", 0.6, 0.9, 0.5, 0.7, 0.01, 6e-4, 0.3, True, 1, 1.0, 3, True),
            Stack("primus", r"primus", 0.0, 0.8, 0.0, 0.5, 0.02, 1e-3, 0.2, True, 1, 1.0, 3, True),
            Stack("megatron_core", r"megatron.core|mcore", 0.6, 0.8, 0.0, 0.5, 0.02, 1e-3, 0.2, True, 1, 1.0, 3, True),
            Stack("megatron", r"megatron", 0, 0, 0, 0, 0.05, 2e-3, 0, False, 0, 1.0, 3, True),
            Stack("deepspeed", r"deepspeed|zero.?3", 0, 0.7, 0, 0, 0.05, 2.5e-3, 0, True, 3, 0.12, 2),
            Stack("torchtitan", r"titan", 0.3, 0.9, 0, 0.5, 0.02, 1e-3, 0.2, True, 3, 1.0, 2),
            Stack("llm_foundry", r"foundry|composer", 0, 0.9, 0, 0, 0.03, 2e-3, -0.4, True, 3, 1.0, 1),
            Stack("habana", r"habana|gaudi|synapse", 0.3, 0.8, 0, 0, 0.02, 1e-3, 0.3, True, 3, routing_s=0),
            Stack(
                "xla",
                r"maxtext|jax|xla|tpu|praxis|flax|t5x",
                *(0.6, 0.9, 0.5, 0.5, 0.005, 1e-4, 0.5, True, 3),
                routing_s=0,
            ),
            Stack("poplar", r"poplar|popart|graphcore|ipu", 0, 0.5, 0, 0, 0.005, 1e-4, 0.5, True, 1, routing_s=0),
            Stack("tensorflow", r"tensorflow|keras|tf_", 0, 0.5, 0, 0, 0.02, 1e-3, 0.2, True, 0, routing_s=0),
            Stack("meta", r"meta internal", 0.3, 0.9, 0, 0.7, 0.02, 1e-3, 0.3, True, 2, 1.0, 2, True),
            Stack(
                "pytorch",
                r"torch|fsdp|hugging|transformers|cuda|rocm|lightning",
                *(0, 0.9, 0, 0, 0.03, 2e-3, -0.4, True, 3, 1.0, 2),
            ),
            Stack("other", r"", 0, 0.7, 0, 0.3, 0.03, 1.5e-3, 0.0, True, 1, 1.0, 2, True),
        )
    }
)
_BY_VENDOR = {"Google": "xla", "Graphcore": "poplar", "Intel": "habana"}


def stack_family(framework: str, chip: str = "") -> str:
    """Return the family of a framework's name; without a name, of the chip's usual one.

    Parameters
    ----------
    framework : str
        What a source prints: framework, version, stack. What no family knows is ``other``, whose band is wider.
    chip : str, optional
        Chip of the catalogue, for an empty name.

    Examples
    --------
    >>> stack_family("Megatron-Bridge 26.04"), stack_family("MaxText"), stack_family("", "google_tpu_v5e")
    ('nemo', 'xla', 'xla')
    >>> stack_family("something new")
    'other'

    """
    text = framework.casefold().strip()
    if text in STACKS:
        return text
    if not text:
        return _BY_VENDOR.get(catalogue.chip(chip).vendor, "other") if chip else "other"
    return next(one.name for one in STACKS.values() if re.search(one.words, text))


def engine_family(family: str, zero_stage: float | None) -> str:
    """Return the family whose engine runs: Megatron-DeepSpeed without ZeRO is Megatron's own.

    Examples
    --------
    >>> engine_family("megatron_deepspeed", 0), engine_family("megatron_deepspeed", 1)
    ('megatron', 'megatron_deepspeed')

    """
    return "megatron" if family == "megatron_deepspeed" and zero_stage == 0 else family


def stack(name: str) -> Stack:
    """Return a family by name.

    Raises
    ------
    UnknownNameError
        When there is none; the message gives the nearest.

    Examples
    --------
    >>> stack("xla").zero_stage
    3

    """
    if name not in STACKS:
        raise UnknownNameError(f"The stack {name!r} is not known: {', '.join(STACKS)}.{did_you_mean(name, STACKS)}")
    return STACKS[name]


def overlap_of(names: Sequence[str]) -> Overlap:
    """Return the settings of families as arrays.

    Examples
    --------
    >>> overlap_of(["nemo", "megatron"]).tensor.tolist()
    [0.6, 0.0]

    """
    known = [stack(one) for one in names]
    return Overlap(*(np.array([float(getattr(one, field.name)) for one in known]) for field in fields(Overlap)))


def chip_family(chip: str) -> str:
    """Return the family that chips share a factor in: of TPUs each version, of GPUs the generation.

    Examples
    --------
    >>> chip_family("nvidia_h200_sxm"), chip_family("google_tpu_v5e")
    ('Hopper', 'google_tpu_v5e')

    """
    one = catalogue.chip(chip)
    return one.chip_id if one.family == "TPU" else one.family


#: Kinds of work that stacks treat differently, and widths of number formats.
KINDS = ("dense", "moe", "hybrid", "encoder", "convolution", "adapters")


def width_class(precision: str) -> str:
    """Return the width of a format: ``4``, ``8``, ``16`` or ``32`` bits."""
    return {"fp4": "4", "fp8": "8", "int8": "8", "fp32": "32", "tf32": "32"}.get(precision, "16")


Terms = tuple[tuple[str, str, float], ...]


def terms(family: str, chip: str, kind: str, precision: str, *, year: float | None = None) -> Terms:
    """Return the terms of a scenario's factor: what it is of, its key, and the year for what changes with time.

    Parameters
    ----------
    family, chip, kind, precision : str
        Stack family, chip of the catalogue, one of :data:`KINDS`, format.
    year : float, optional
        When it runs, for example 2026.25; NaN in the term where it is not told, which means the middle of what was
        seen.

    Examples
    --------
    >>> terms("nemo", "nvidia_h100_sxm5_80", "dense", "fp8")[4][:2]
    ('stack_chip', 'nemo|Hopper')

    """
    generation, width = chip_family(chip), width_class(precision)
    when = _UNKNOWN_YEAR if year is None else year
    # Dense is what the other kinds are measured against; a stack that nobody named has no factor of its own.
    named = 0.0 if family == "other" else 1.0
    return (
        ("all", "", 1.0),
        ("stack", family, named),
        ("chip", generation, 1.0),
        ("part", chip, 1.0),
        ("stack_chip", f"{family}|{generation}", named),
        ("kind", kind, 0.0 if kind == "dense" else 1.0),
        ("stack_kind", f"{family}|{kind}", named),
        ("chip_width", f"{generation}|{width}", 1.0),
        (YEARLY, f"{family}|{kind}", when),
        (BAND, f"{family}|{kind}|{generation}", 0.0),
    )


#: The term whose number is a year: its factor changes with time.
YEARLY = "stack_kind_year"
#: The group that has only a band of its own, no factor.
BAND = "stack_kind_chip"
_UNKNOWN_YEAR = float("nan")


def year_weight(year: float, low: float, high: float) -> float:
    """Return the years from the middle of what was seen, not beyond it.

    Examples
    --------
    >>> year_weight(2030.0, 2025.0, 2026.0), year_weight(float("nan"), 2025.0, 2026.0)
    (0.5, 0.0)

    """
    return 0.0 if year != year else min(max(year, low), high) - (low + high) / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """Factor of each scenario, and how well it is known: ``sources`` that saw its stack on its chip family."""

    factor: Numbers
    sources: NDArray[np.int64]
    ln80: Numbers
    ln95: Numbers


@cache
def _fitted() -> Mapping[tuple[str, str], _tables.Row]:
    return {(row.text("term"), row.text("key")): row for row in _tables.rows("stack_factors")}


def factor_of(scenarios: Sequence[Terms]) -> Factor:
    """Return the factors of scenarios given by their :func:`terms`, with half widths of the bands of ln time.

    A term that was never seen adds nothing and makes the band wider: the band is that of the most special group
    whose members were left out source by source, see :mod:`energy.cost.bands`.
    """
    from energy.cost.bands import half_widths

    table = _fitted()
    distinct = {one: place for place, one in enumerate(dict.fromkeys(scenarios))}
    logs, seen, near, far = [], [], [], []
    for one in distinct:
        logs.append(sum(_part(table[name, key], name, number) for name, key, number in one if (name, key) in table))
        keys = {name: key for name, key, _ in one}
        pair = table.get(("stack_chip", keys["stack_chip"]))
        seen.append(pair.integer("sources") if pair else 0)
        narrow, wide = half_widths(keys, table)
        near.append(narrow)
        far.append(wide)
    at = np.array([distinct[one] for one in scenarios], np.intp)
    return Factor(np.exp(np.array(logs))[at], np.array(seen, np.int64)[at], np.array(near)[at], np.array(far)[at])


def _part(row: _tables.Row, name: str, number: float) -> float:
    value = row.number("ln_factor")
    return value * (year_weight(number, row.number("year_low"), row.number("year_high")) if name == YEARLY else number)
