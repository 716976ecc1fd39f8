"""Suite ``mlperf``: time to train of published MLPerf Training results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from energy.cost.mlperf import LEVELS, time_to_train
from energy.cost.mlperf_names import benchmark_name, fold, part, round_year
from energy.errors import CostError, EnergyError
from energy.validation.statistics import Compared, Failure, Outcome, each_row, read_rows
from energy.validation.training_rows import Row, number, words

NEEDED = ("benchmark", "accelerator", "total_accelerators", "time_to_train_minutes")
#: A batch of the translation model below this counts packed sequences of 256 tokens, not tokens.
_SEQUENCES_BELOW, _TOKENS_OF_A_SEQUENCE = 10_000.0, 256.0


@dataclass(frozen=True, slots=True)
class Case:
    """A row as the engine takes it, and what was measured; blank numbers are NaN."""

    row_id: str
    benchmark: str
    chip: str
    chips: float
    round_name: str
    global_batch_size: float
    nodes: float
    measured_min: float
    submitter: str
    availability: str
    note: str


def cases(rows: Sequence[Row]) -> tuple[list[Case], list[Failure]]:
    """Return the rows that can be asked for, and those that cannot with the reason.

    Examples
    --------
    >>> row = {"benchmark": "ssd", "accelerator": "nvidia_a100_sxm_80gb", "total_accelerators": "8", "round": "v1.1",
    ...        "time_to_train_minutes": "8.0"}
    >>> found, failures = cases([row, row | {"time_to_train_minutes": ""}])
    >>> found[0].benchmark, failures[0].reason
    ('ssd_resnet34', 'The row prints no time_to_train_minutes.')

    """
    return each_row(rows, _case)


def _case(row: Row, row_id: str) -> Case:
    round_name = words(row, "round")
    year = round_year(round_name) if round_name else None
    benchmark = benchmark_name(words(row, "benchmark"), year)
    notes: list[str] = []
    if fold(words(row, "benchmark")) == "ssd" and not round_name:
        notes.append(f"ssd without a round is taken as {benchmark}.")
    nodes = number(row, "nodes")
    chip, chips = _accelerators(row, nodes, notes)
    measured = number(row, "time_to_train_minutes")
    if measured is None:
        raise CostError("The row prints no time_to_train_minutes.")
    if not measured > 0:
        raise CostError(f"A time to train of {measured:g} min is no measurement.")
    batch = number(row, "global_batch_size")
    if batch is not None and benchmark == "transformer" and batch < _SEQUENCES_BELOW:
        batch *= _TOKENS_OF_A_SEQUENCE
    blank = float("nan")
    return Case(
        row_id,
        benchmark,
        chip,
        chips,
        round_name,
        batch if batch is not None and batch > 0 else blank,
        nodes if nodes is not None and nodes > 0 else blank,
        measured,
        words(row, "submitter"),
        words(row, "availability"),
        " ".join(notes),
    )


def _accelerators(row: Row, nodes: float | None, notes: list[str]) -> tuple[str, float]:
    """Return which and how many; of a system of processors its sockets."""
    name = words(row, "accelerator") or words(row, "accelerator_name")
    chips = number(row, "total_accelerators") or 0.0
    if fold(name) in ("cpu", "na", "") and not chips and words(row, "host_cpu"):
        sockets = number(row, "host_cpus_per_node")
        if nodes is None or sockets is None:
            raise CostError("The row names processors but not how many: nodes and host_cpus_per_node are empty.")
        if not (nodes > 0 and sockets > 0):
            raise CostError(f"{nodes:g} nodes of {sockets:g} processors: both have to be above zero.")
        notes.append("Processors: sockets are counted.")
        return _processor(words(row, "host_cpu")), nodes * sockets
    per_node = number(row, "accelerators_per_node")
    if not chips and nodes and per_node:
        chips = nodes * per_node
        notes.append("Accelerators counted from nodes.")
    if not chips > 0:
        raise CostError(f"{chips:g} accelerators: total_accelerators is empty or zero.")
    return _known(name, words(row, "accelerator_name")), chips


def _known(name: str, submitted: str) -> str:
    """Return the name that the catalogue knows, the normalised one first."""
    try:
        part(name)
    except EnergyError:
        if not submitted:
            raise
        try:
            part(submitted)
        except EnergyError:
            part(name)
        return submitted
    return name


def _processor(text: str) -> str:
    """Return the processor that a system description means: the generation by its number."""
    folded = text.casefold()
    if re.search(r"\b8[45]\d\d|sapphire rapids|emerald rapids", folded):
        return "intel_xeon_8480p"
    if re.search(r"\b8[23]\d\d|cooper lake|ice lake|cascade lake", folded):
        return "intel_xeon_8380"
    raise CostError(f"The processor {text!r} is not known: no 16-bit rate of it is at hand.")


def mlperf(path: Path) -> Outcome:
    """Return predicted against measured time to train of the rows of a file with the columns of mlperf_training.csv.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    found, failures = cases(read_rows(path, NEEDED))
    if not found:
        return Outcome("mlperf", path.name, (), tuple(failures))
    answer = time_to_train(
        [one.benchmark for one in found],
        [one.chip for one in found],
        [one.chips for one in found],
        round_name=[one.round_name for one in found],
        global_batch_size=[one.global_batch_size for one in found],
        nodes=[one.nodes for one in found],
    )
    bands = (answer.time_min, answer.low80_min, answer.high80_min, answer.low_min, answer.high_min)
    values = zip(found, *(one.tolist() for one in bands), answer.level.tolist(), answer.notes, strict=True)
    compared = tuple(
        Compared(
            one.row_id,
            "time_to_train_minutes",
            one.measured_min,
            time,
            low80,
            high80,
            low,
            high,
            (
                (
                    "availability",
                    "available" if one.availability.startswith("available") else one.availability or "blank",
                ),
                ("benchmark", one.benchmark),
                ("chip", part(one.chip).name),
                ("round", one.round_name or "blank"),
                ("level", LEVELS[level]),
            ),
            " ".join(text for text in (one.note, note) if text),
        )
        for one, time, low80, high80, low, high, level, note in values
    )
    return Outcome("mlperf", path.name, compared, tuple(failures))
