"""Suite ``diffusion-energy``: board power of chips that make images and videos, given the rate at which they do."""

from __future__ import annotations

from pathlib import Path

from energy.errors import PowerError
from energy.power.diffusion import Sample, diffusion_power, diffusion_utilisation, sample_flop
from energy.validation.serving_rows import CHIPS
from energy.validation.statistics import Compared, Outcome, each_row, read_rows
from energy.validation.training_rows import Row, number, words
from energy.validation.watts import compared_w

NEEDED = ("task", "model", "params_b", "gpu", "n_gpus", "inference_steps", "gpu_power_total_w")


def diffusion_energy(path: Path) -> Outcome:
    """Return predicted against measured watts of one board, of a file with the columns of diffusion_energy.csv.

    Energy per image or video is these watts over the rate, so its relative error is the same.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    compared, failures = each_row(read_rows(path, NEEDED), _compared)
    return Outcome("diffusion-energy", path.name, tuple(compared), tuple(failures))


def work_of(row: Row) -> tuple[str, float, float]:
    """Return chip, utilisation and measured watts of one board of a row.

    Raises
    ------
    PowerError
        A number is missing.
    """
    chip = CHIPS.get(words(row, "gpu"), words(row, "gpu"))
    video = words(row, "task") == "text-to-video"
    kind = "video" if video else "image"
    sample = Sample(
        _needed(row, f"{kind}_height"),
        _needed(row, f"{kind}_width"),
        _needed(row, "num_frames") if video else 1.0,
        _needed(row, "inference_steps"),
    )
    flop = sample_flop(words(row, "model"), _needed(row, "params_b"), sample)
    chips = _needed(row, "n_gpus")
    used = diffusion_utilisation(chip, flop, _needed(row, f"throughput_{kind}s_per_sec"), chips)
    return chip, float(used), _needed(row, "gpu_power_total_w") / chips


def _needed(row: Row, name: str) -> float:
    value = number(row, name)
    if value is None or not value > 0.0:
        raise PowerError(f"The row prints no {name} above zero.")
    return value


def _compared(row: Row, row_id: str) -> Compared:
    chip, used, measured = work_of(row)
    found = diffusion_power(chip, used)
    bands = (
        float(found.power_chip_low80_w),
        float(found.power_chip_high80_w),
        float(found.power_chip_low_w),
        float(found.power_chip_high_w),
    )
    groups = (
        ("kind", words(row, "task")),
        ("chip", chip),
        ("chips", words(row, "n_gpus")),
        ("model", words(row, "model")),
    )
    return compared_w(row_id, measured, float(found.power_chip_w), bands, groups, f"MFU {used:.3f} of denoising")
