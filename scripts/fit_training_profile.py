"""Write ``datasets/power_training.csv``: what chips do in training, by model FLOPs utilisation.

Run from the repository: ``python scripts/fit_training_profile.py [training_throughput.csv]`` (default
``../shared/validation/training_throughput.csv``). For each published run the cost engine says how its step divides over
the states; a row of the table holds the medians of the runs of one band of utilisation. No power is read.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from catalogue_fields import FIELDS
from catalogue_io import Row, write

from energy.cost.profile import profile
from energy.cost.training import Plan, answer, plan
from energy.errors import EnergyError
from energy.validation.statistics import read_rows
from energy.validation.training import NEEDED
from energy.validation.training_rows import case_of, kind_of

ROOT = Path(__file__).resolve().parent.parent
EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0)
STATES = ("compute", "compute_rate", "memory_bound", "communication", "idle")


def plans(path: Path) -> list[Plan]:
    """Return the runs of transformers that the cost engine can plan."""
    found = []
    for row in read_rows(path, NEEDED):
        if kind_of(row) == "convolution":
            continue
        try:
            found.append(plan(case_of(row).request))
        except EnergyError:
            continue
    return found


def table(path: Path) -> list[Row]:
    """Return one row for each band of utilisation."""
    result = answer(plans(path))
    found = profile(result.step, result.work)
    values = {name: getattr(found, name) for name in STATES}
    mfu = values["compute"] * values["compute_rate"]
    return [_row(values, mfu, (mfu >= low) & (mfu < high)) for low, high in pairwise(EDGES)]


def _row(values: dict[str, np.ndarray], mfu: np.ndarray, chosen: np.ndarray) -> Row:
    middle = {name: float(np.median(value[chosen])) for name, value in values.items()}
    shares = [name for name in STATES if name != "compute_rate"]
    total = sum(middle[name] for name in shares)  # medians of shares need not add up
    rounded = {name: round(middle[name] / total, 4) for name in shares}
    rounded["idle"] = round(1.0 - sum(rounded[name] for name in shares if name != "idle"), 4)
    return {
        "mfu": round(float(np.median(mfu[chosen])), 4),
        **rounded,
        "compute_rate": round(middle["compute_rate"], 4),
        "rows": int(chosen.sum()),
        "source": "train_runs",
        "status": "derived",
        "note": "",
    }


def main(arguments: Sequence[str]) -> None:
    """Write the table."""
    path = Path(arguments[0]) if arguments else ROOT / "../shared/validation/training_throughput.csv"
    columns = [field["name"] for field in FIELDS["power_training"]]
    write(ROOT / "datasets/power_training.csv", columns, table(path))


if __name__ == "__main__":
    main(sys.argv[1:])
