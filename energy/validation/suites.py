"""The suites of ``energy validate`` by name, and where their data lie if none are given."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from energy.errors import InputFileError, UnknownNameError, did_you_mean
from energy.resources import resource

if TYPE_CHECKING:
    from energy.validation.statistics import Outcome


class Suite(NamedTuple):
    """One suite: what it compares, and its usual file; its function has the name of its module and suite."""

    compares: str
    data: str


SUITES = {
    "training": Suite("step time of published training runs", "validation/training_throughput.csv"),
    "memory": Suite("memory of a chip in published training runs", "validation/training_throughput.csv"),
    "mlperf": Suite("time to train of MLPerf results", "validation/mlperf_training.csv"),
    "gemm": Suite("time of measured matrix products", "data/kernels/gemm_latency.parquet"),
    "power": Suite("board power of measured matrix products", "data/kernels/gemm_power.parquet"),
    "inference-energy": Suite("board power in serving language models", "validation/inference_energy.csv"),
    "diffusion-energy": Suite("board power in making images and videos", "validation/diffusion_energy.csv"),
    "training-energy": Suite("energy of published training runs", "validation/training_energy.csv"),
    "node-power": Suite("power of nodes at the plug, training and inference", "validation/mlperf_power.csv"),
    "power-caps": Suite("board power under a power limit", "validation/gpu_power_caps.csv"),
    "standards": Suite("worked examples of accounting standards", "validation/standards_examples.json"),
    "pue": Suite("annual PUE and WUE of a published model and of operators", "validation/pue_wue.csv"),
    "pv": Suite("photovoltaic energy of PVWatts and of pvlib's chain", "validation/pv_yield.csv"),
}


def run(name: str, data: Path | None = None) -> Outcome:
    """Return what a suite finds in a file.

    Parameters
    ----------
    name : str
        Of :data:`SUITES`.
    data : Path, optional
        A file with the suite's columns; without it that of the reference data beside the checkout.

    Raises
    ------
    UnknownNameError
        When there is no such suite.
    InputFileError
        When the file is absent or cannot be read.
    """
    if name not in SUITES:
        raise UnknownNameError(f"There is no suite {name!r}: {', '.join(SUITES)}.{did_you_mean(name, SUITES)}")
    path = data if data is not None else resource("datasets").parent.parent / "shared" / SUITES[name].data
    if not path.is_file():
        hint = "" if data is not None else " The reference data are not part of the package: give a file with --data."
        raise InputFileError(f"{path if data is not None else path.name} is no file.{hint}")
    module = name.replace("-", "_")
    outcome: Outcome = getattr(import_module(f"energy.validation.{module}"), module)(path)
    return outcome
