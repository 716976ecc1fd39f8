"""Suite ``memory``: memory of a chip in published training runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from energy.cost.footprint import footprint
from energy.cost.training import plan
from energy.errors import CostError, EnergyError
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.validation.training_rows import Row, case_of, framework_of, kind_of, number, words

NEEDED = ("chip", "n_chips", "model_name", "precision", "memory_used_gb_per_chip")
#: Stacks that print what their allocator holds, without what driver and libraries do.
_ALLOCATOR_ONLY = ("titan",)


def memory(path: Path) -> Outcome:
    """Return predicted against printed memory in GiB of a chip, of the rows that print it.

    A row without a layout gets the one that the search of training chooses, and its note says so.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    found: list[Compared] = []
    failures: list[Failure] = []
    for place, row in enumerate(read_rows(path, NEEDED)):
        row_id = words(row, "row_id") or f"line {place + 2}"
        try:
            printed = number(row, "memory_used_gb_per_chip")
            if printed is None:
                continue
            found.append(_compared(row, row_id, printed))
        except EnergyError as error:
            failures.append(Failure(row_id, str(error)))
    return Outcome("memory", path.name, tuple(found), tuple(failures))


def not_printed(row: Row) -> tuple[str, ...]:
    """Return the culprits that a row's memory leaves out, by its stack or by what its notes say was read.

    Examples
    --------
    >>> not_printed({"framework": "torchtitan"}), not_printed({"notes": "torch.cuda.max_memory_allocated"})
    (('framework',), ('framework', 'allocator'))

    """
    notes = words(row, "notes").casefold()
    if re.search(r"memory[ _]allocated|allocated memory", notes):
        return "framework", "allocator"
    only_allocator = any(word in framework_of(row).casefold() for word in _ALLOCATOR_ONLY)
    return ("framework",) if only_allocator or re.search(r"memory[ _]reserved|reserved memory", notes) else ()


def _compared(row: Row, row_id: str, printed: float) -> Compared:
    if printed <= 0:
        raise CostError(f"memory_used_gb_per_chip is {printed:g}: a chip holds more than nothing.")
    if kind_of(row) == "convolution":
        raise CostError(f"{words(row, 'model_name')} is an image network: memory is counted of transformers only.")
    case = case_of(row)
    request, notes = case.request, case.notes
    asked = request
    if request.micro_batch_size is None:
        # The fastest micro batch is the largest that fits, which says nothing of what a run held.
        request, notes = replace(request, micro_batch_size=1.0), (*notes, "Micro batch 1 is assumed.")
    one = replace(plan(request), asked=asked)
    held = footprint(one)
    outside = sum(held.culprits[name] for name in not_printed(row))
    groups = (("kind", kind_of(row)), ("chip", case.request.chip), ("stack", one.family), ("source", case.source))
    note = " ".join((*notes, *one.notes))
    total, low80, high80, low, high = (
        (size - outside) / 2.0**30 for size in (held.total, held.low80, held.high80, held.low, held.high)
    )
    return Compared(row_id, "memory_gib", printed, total, low80, high80, low, high, groups, note)
