"""Suite ``power-caps``: board power and time under a power limit, from the same work at the highest limit."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from energy.errors import EnergyError, PowerError
from energy.power.caps import cap_of, capped_power, slow_down
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.validation.training_rows import Row, number, words
from energy.validation.watts import compared_w

CHIPS = {"nvidia_p100_pcie": "nvidia_p100_pcie_16"}
NEEDED = ("gpu", "dataset", "network", "batch_size", "power_limit_w", "average_gpu_power_w")
_WORK = ("gpu", "dataset", "network", "batch_size", "optimizer")


def _key(row: Row) -> tuple[str, ...]:
    return tuple(words(row, name) for name in _WORK)


def _limit_w(row: Row) -> float | None:
    """Return the limit of a row; None where it states none, which its own comparison refuses."""
    try:
        return number(row, "power_limit_w")
    except EnergyError:
        return None


def _needed(row: Row, name: str) -> float:
    value = number(row, name)
    if value is None or not value > 0:
        raise PowerError(f"The row prints no {name} above zero.")
    return value


def power_caps(path: Path) -> Outcome:
    """Return predicted against measured power under a limit, of a file with the columns of gpu_power_caps.csv.

    The row of the highest limit of each work is an input, and counts as not answered.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    rows = read_rows(path, NEEDED)
    best: dict[tuple[str, ...], Row] = {}
    for row in rows:
        limit, known = _limit_w(row), best.get(_key(row))
        if limit is not None and (known is None or limit > (_limit_w(known) or 0.0)):
            best[_key(row)] = row
    compared: list[Compared] = []
    failures: list[Failure] = []
    for place, row in enumerate(rows):
        row_id, top = f"line {place + 2}", best.get(_key(row))
        if row is top:
            failures.append(Failure(row_id, "The highest limit of this work: its power is an input."))
            continue
        if top is None:
            failures.append(Failure(row_id, "No row of this work prints a power_limit_w."))
            continue
        try:
            compared.append(_compared(row, top, row_id))
        except EnergyError as error:
            failures.append(Failure(row_id, str(error)))
    return Outcome("power-caps", path.name, tuple(compared), tuple(failures))


def _compared(row: Row, top: Row, row_id: str) -> Compared:
    chip = CHIPS.get(words(row, "gpu"), words(row, "gpu"))
    one = cap_of(chip)
    before, measured = _needed(top, "average_gpu_power_w"), _needed(row, "average_gpu_power_w")
    limit = _needed(row, "power_limit_w")
    power = float(capped_power.kernel(before, limit, one.ceiling_fraction, one.sharpness, one.floor_fraction))
    note = ""
    times = number(row, "time_per_epoch_s"), number(top, "time_per_epoch_s")
    if times[0] and times[1]:
        slower = float(slow_down.kernel(before, power, one.slow_linear, one.slow_square))
        note = f"time {slower:.3f} predicted, {times[0] / times[1]:.3f} measured"
    low80, high80, low, high = (power * float(np.exp(width)) for width in one.bands.widths)
    bites = "limit bites" if before > 0.9 * limit else "limit does not bite"
    groups = (("chip", chip), ("dataset", words(row, "dataset")), ("limit", bites))
    return compared_w(row_id, measured, power, (low80, high80, low, high), groups, note)
