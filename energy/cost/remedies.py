"""Does it fit, and if not, which single change of the mapping would make it fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from energy.cost.architecture import Architecture
from energy.cost.mapping import OFFLOADS, RECOMPUTE, SCHEDULES, Mapping
from energy.cost.memory import State, chip_memory
from energy.errors import CostError


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change of a scenario, in words, with what a chip needs in GiB after it."""

    change: str
    needed_gib: float


def what_would_fit(
    architecture: Architecture, mapping: Mapping, memory_gb: float, scenario: int = 0
) -> tuple[Remedy, ...]:
    """Return the single changes that make a scenario fit, the number of chips and the batch kept, least saving first.

    Tried are recompute, sequence parallelism, ZeRO stages, smaller micro batches, more tensor, pipeline and context
    parallelism (fewer data ranks for it), other schedules, offload to the host (where the chip has a link to one), and
    moments in 16 and 8 bits.

    Parameters
    ----------
    architecture : Architecture
        One, or as many as scenarios.
    mapping : Mapping
        The scenarios.
    memory_gb : float
        Memory of a chip, as sold.
    scenario : int
        Which one.

    Examples
    --------
    >>> mapping = Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=128, precision="bf16",
    ...                      tensor_parallel_size=4, pipeline_parallel_size=4, data_parallel_size=4, zero_stage=1,
    ...                      sequence_parallel=True)
    >>> found = what_would_fit(Architecture.of_model("Llama 3.1 70B"), mapping, 80)
    >>> [one.change for one in found][:2]
    ['pipeline_parallel_size 8 with data_parallel_size 2', 'offload optimizer']

    """
    shape = architecture[scenario if len(architecture) > 1 else 0]
    one = mapping[scenario]
    found = []
    for change, other in _changes(one):
        if not other.usable(shape)[0]:
            continue
        held = chip_memory(shape, other)
        if held.fits(memory_gb)[0]:
            found.append(Remedy(change, float(held.needed_gib[0])))
    for optimiser in ("adam_bf16_moments", "adam_8bit"):
        held = chip_memory(shape, one, State.of(one, optimiser))
        if held.fits(memory_gb)[0]:
            found.append(Remedy(f"optimiser {optimiser}", float(held.needed_gib[0])))
    return tuple(sorted(found, key=lambda remedy: -remedy.needed_gib))


def _changes(one: Mapping) -> Iterator[tuple[str, Mapping]]:
    for code in range(int(one.recompute[0]) + 1, len(RECOMPUTE)):
        yield f"recompute {RECOMPUTE[code]}", _with(one, recompute=code)
    if one.tensor_parallel_size[0] > 1 and not one.sequence_parallel[0]:
        yield "sequence_parallel true", _with(one, sequence_parallel=1)
    for stage in range(int(one.zero_stage[0]) + 1, 4):
        yield f"zero_stage {stage}", _with(one, zero_stage=stage)
    size = one.micro_batch_size[0]
    for smaller in (size / 2, size / 4, 1.0):
        if smaller >= 1 and smaller < size and smaller == np.floor(smaller):
            yield f"micro_batch_size {smaller:g}", _with(one, micro_batch_size=smaller)
    yield from _other_memory(one)
    data = one.data_parallel_size[0]
    for name in ("tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size"):
        for factor in (2.0, 4.0, 8.0):
            if data % factor == 0:
                more = getattr(one, name)[0] * factor
                change = f"{name} {more:g} with data_parallel_size {data / factor:g}"
                yield change, _with(one, data_parallel_size=data / factor, **{name: more})


def _other_memory(one: Mapping) -> Iterator[tuple[str, Mapping]]:
    """Yield schedules that keep fewer micro batches, and tensors in the memory of the host."""
    if one.pipeline_parallel_size[0] > 1 and one.schedule[0] == 0:
        for name in ("v-half", "v-min"):
            changed = _with(one, schedule=SCHEDULES.index(name), virtual_stages=2.0)
            yield f"schedule {name} with virtual_stages 2", changed
    if one.offload[0] == 0:
        for name in OFFLOADS[1:]:
            yield f"offload {name}", _with(one, offload=OFFLOADS.index(name))


def _with(one: Mapping, **changes: float) -> Mapping:
    arrays = {f.name: getattr(one, f.name) for f in fields(Mapping)}
    return Mapping(**arrays | {name: np.array([value], arrays[name].dtype) for name, value in changes.items()})


def check_fits(architecture: Architecture, mapping: Mapping, memory_gb: float, state: State | None = None) -> None:
    """Raise where a scenario needs more memory than a chip has.

    Parameters
    ----------
    architecture : Architecture
        One, or as many as scenarios.
    mapping : Mapping
        The scenarios.
    memory_gb : float
        Memory of a chip, as sold.
    state : State, optional
        As for :func:`energy.cost.memory.chip_memory`.

    Raises
    ------
    CostError
        For the first scenario: its need, the three largest culprits, and what would make it fit.

    Examples
    --------
    >>> mapping = Mapping.of(sequence_length=2048, micro_batch_size=1, global_batch_size=8, precision="bf16",
    ...                      data_parallel_size=8)
    >>> check_fits(Architecture.of_model("Llama 2 70B"), mapping, 80)
    Traceback (most recent call last):
    ...
    energy.errors.CostError: A chip would need 1,203 GiB of its 80 GiB: optimiser 771 GiB, gradients 257 GiB, \
weights 128 GiB. No single change makes it fit: combine more tensor and pipeline ranks, zero_stage 3 and recompute full.

    """
    held = chip_memory(architecture, mapping, state)
    over = ~held.fits(memory_gb)
    if not over.any():
        return
    place = int(np.argmax(over))
    largest = [one for one in held.culprits(place).items() if one[0] != "allocator"][:3]
    culprits = ", ".join(f"{name.replace('_', ' ')} {size / 2**30:,.0f} GiB" for name, size in largest)
    changes = what_would_fit(architecture, mapping, memory_gb, place) if state is None else ()
    if changes:
        remedy = (
            "What would fit: " + "; ".join(f"{one.change} ({one.needed_gib:,.0f} GiB)" for one in changes[:3]) + "."
        )
    else:
        remedy = (
            "No single change makes it fit: combine more tensor and pipeline ranks, zero_stage 3 and recompute full."
        )
    where = f"Scenario {place}: a" if len(over) > 1 else "A"
    raise CostError(
        f"{where} chip would need {held.needed_gib[place]:,.0f} GiB of its {memory_gb:,.0f} GiB: {culprits}. {remedy}"
    )
