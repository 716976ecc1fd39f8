"""Suite ``training``: step time of published training runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.cost.convolution import image_network, image_step_s
from energy.cost.stack import Factor, Terms, factor_of, stack_family, terms
from energy.cost.training import Plan, answer, plan, widened
from energy.errors import CostError, EnergyError
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.validation.training_rows import (
    Row,
    case_of,
    chip_of,
    framework_of,
    kind_of,
    measured_s,
    number,
    precision_of,
    source_of,
    words,
    year_of,
)

Numbers = NDArray[np.float64]
NEEDED = ("chip", "n_chips", "model_name", "precision")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A row with its time before any factor, what was measured, and the terms of its factor."""

    row_id: str
    source: str
    kind: str
    chip: str
    family: str
    measured_s: float
    physics_s: float
    terms: Terms
    spread_ln: float
    kernel_sigma: float
    note: str


def prepare(rows: Sequence[Row]) -> tuple[list[Prepared], list[Failure]]:
    """Return the rows with the time that physics gives, all at once, and those that have none."""
    plans: list[Plan] = []
    kept: list[tuple[Row, float, str]] = []
    images: list[Prepared] = []
    failures: list[Failure] = []
    for place, row in enumerate(rows):
        row_id = words(row, "row_id") or f"line {place + 2}"
        try:
            if kind_of(row) == "convolution":
                images.append(_image(row, row_id))
                continue
            case = case_of(row)
            one = plan(case.request)
            measured = measured_s(row, one)
            if measured is None or not measured > 0:
                raise CostError("The row prints no time, rate or utilisation.")
        except EnergyError as error:
            failures.append(Failure(row_id, str(error)))
            continue
        plans.append(one)
        kept.append((row, measured, " ".join((*case.notes, *one.notes))))
    if not plans:
        return images, failures
    physics = answer(plans, factors=False)
    found = [
        _prepared(row, one, measured, (float(seconds), float(sigma)), note)
        for (row, measured, note), one, seconds, sigma in zip(
            kept, plans, physics.time_s, physics.kernel_sigma, strict=True
        )
    ]
    return [*found, *images], failures


def _prepared(row: Row, one: Plan, measured: float, physics: tuple[float, float], note: str) -> Prepared:
    request = one.request
    own = terms(one.family, request.chip, request.kind, request.precision, year=request.year)
    return Prepared(
        words(row, "row_id"),
        source_of(row),
        request.kind,
        request.chip,
        one.family,
        measured,
        physics[0],
        own,
        one.spread_ln,
        physics[1],
        note,
    )


def _image(row: Row, row_id: str) -> Prepared:
    """Return a row of an image network."""
    notes: list[str] = []
    chip = chip_of(row, notes)
    precision = precision_of(row, chip, notes)
    chips = number(row, "n_chips") or 1.0
    rate = number(row, "samples_per_s_total")
    if rate is None:
        raise CostError("The row prints no images/s.")
    batch = number(row, "micro_batch_seqs") or (number(row, "global_batch_seqs") or 0.0) / chips or 64.0
    batch = min(batch, 256.0)
    network = image_network(words(row, "model_name"))
    family = stack_family(framework_of(row), chip)
    seconds = image_step_s(network, chip, precision, batch, chips)
    own = terms(family, chip, "convolution", precision, year=year_of(row))
    measured = batch * chips / rate
    return Prepared(
        row_id, source_of(row), "convolution", chip, family, measured, seconds, own, 0.0, 0.3, " ".join(notes)
    )


def compared(prepared: Sequence[Prepared], factor: Factor) -> tuple[Compared, ...]:
    """Return prepared rows with a factor and its bands."""
    found = []
    spread, sigma = (np.array([getattr(one, name) for one in prepared]) for name in ("spread_ln", "kernel_sigma"))
    wider = widened(factor, spread, sigma)
    for one, by, near, far in zip(prepared, wider.factor, wider.ln80, wider.ln95, strict=True):
        time = one.physics_s * float(by)
        low80, high80, low, high = (time * float(np.exp(width)) for width in (-near, near, -far, far))
        groups = (
            ("kind", one.kind),
            ("chip", one.chip),
            ("stack", one.family),
            ("source", one.source),
        )
        found.append(
            Compared(one.row_id, "step_time_s", one.measured_s, time, low80, high80, low, high, groups, one.note)
        )
    return tuple(found)


def training(path: Path) -> Outcome:
    """Return predicted against measured step time of the rows of a file with the columns of training_throughput.csv.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    prepared, failures = prepare(read_rows(path, NEEDED))
    factor = factor_of([one.terms for one in prepared])
    return Outcome("training", path.name, compared(prepared, factor), tuple(failures))
