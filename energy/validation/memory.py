"""Suite ``memory``: memory of a chip in published training runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from energy.cost.memory import FRAMEWORK_BYTES, chip_memory
from energy.cost.training import plan
from energy.errors import EnergyError
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.validation.training_rows import case_of, framework_of, kind_of, number, words

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
            case = case_of(row)
            request, notes = case.request, case.notes
            if request.micro_batch_size is None:
                # The fastest micro batch is the largest that fits, which says nothing of what a run held.
                request, notes = replace(request, micro_batch_size=1.0), (*notes, "Micro batch 1 is assumed.")
            one = plan(request)
            held = float(chip_memory(case.request.architecture, one.mapping).total[0])
        except EnergyError as error:
            failures.append(Failure(row_id, str(error)))
            continue
        if any(word in framework_of(row).casefold() for word in _ALLOCATOR_ONLY):
            held -= FRAMEWORK_BYTES
        groups = (("kind", kind_of(row)), ("chip", case.request.chip), ("stack", one.family), ("source", case.source))
        note = " ".join((*notes, *one.notes))
        predicted = held / 2.0**30
        found.append(Compared(row_id, "memory_gib", printed, predicted, None, None, None, None, groups, note))
    return Outcome("memory", path.name, tuple(found), tuple(failures))
