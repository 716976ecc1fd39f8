"""Suite ``inference-energy``: board power of chips that serve language models, given batch and token rate."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from energy.errors import PowerError
from energy.power.serving import serving_power
from energy.validation.diffusion_energy import NEEDED as DIFFUSION
from energy.validation.diffusion_energy import diffusion_energy
from energy.validation.serving_rows import NEEDED, kind_of, measured_w, work_of
from energy.validation.statistics import Compared, Outcome, each_row, read_rows
from energy.validation.training_rows import Row, words
from energy.validation.watts import compared_w


def inference_energy(path: Path) -> Outcome:
    """Return predicted against measured watts of one board, of a file with the columns of inference_energy.csv.

    Energy per token is these watts over the token rate, so its relative error is the same. A file with the columns of
    diffusion_energy.csv is answered as the suite ``diffusion-energy`` does.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    if set(DIFFUSION) <= set(columns_of(path)):
        return replace(diffusion_energy(path), suite="inference-energy")
    compared, failures = each_row(read_rows(path, NEEDED), _compared)
    return Outcome("inference-energy", path.name, tuple(compared), tuple(failures))


def _compared(row: Row, row_id: str) -> Compared:
    work, note = work_of(row)
    found = serving_power(work)
    measured = measured_w(row)
    if measured is None or not measured > 0:
        raise PowerError("The row prints no power.")
    kind = kind_of(row)
    version = words(row, "dataset")[-2:]
    groups = (
        ("kind", kind),
        ("version", version),
        ("kind version", f"{kind} {version}"),
        ("chip", str(work.chip[0])),
        ("task", words(row, "task")),
        ("model", words(row, "model")),
    )
    bands = (
        float(found.power_chip_low80_w[0]),
        float(found.power_chip_high80_w[0]),
        float(found.power_chip_low_w[0]),
        float(found.power_chip_high_w[0]),
    )
    return compared_w(row_id, measured, float(found.power_chip_w[0]), bands, groups, note)


def columns_of(path: Path) -> list[str]:
    """Return the columns of a CSV file; none where it cannot be read, which its reader then says."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return []
