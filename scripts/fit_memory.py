"""Fit the one number of memory that is not counted: the share of all tensors that a caching allocator reserves besides.

Run from the repository: ``python scripts/fit_memory.py [training_throughput.csv]`` (default
``../shared/validation/training_throughput.csv``). It prints the share (``energy.cost.memory.ALLOCATOR_SHARE``), the
errors of each source left out of the fit, and the quantiles of those errors that are the bands of
``energy.cost.footprint``. The same input gives the same numbers. Rows of one source count as the square root of their
number; large errors count linearly. Rows that print no micro batch, length or layout are in the fit with what is
assumed of them, and have a band of their own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.cost.footprint import TOLD_LN80, footprint, half_widths
from energy.cost.requests import memory_gb_of
from energy.cost.training import plan
from energy.validation.memory import NEEDED, not_printed
from energy.validation.statistics import read_rows
from energy.validation.training_rows import case_of, kind_of, number

ROOT = Path(__file__).resolve().parent.parent
Floats = NDArray[np.float64]
#: ln: errors beyond 5 % count linearly.
HUBER = 0.05
SHARES = np.arange(0.0, 0.4001, 0.0025)


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows as arrays: source, printed bytes, tensors, what tools show besides, memory of the chip, if all was told."""

    source: NDArray[np.str_]
    printed: Floats
    tensors: Floats
    besides: Floats
    room: Floats
    told: NDArray[np.bool_]

    def errors_ln(self, share: float) -> Floats:
        """Return ln(predicted / printed)."""
        shown = np.minimum(self.tensors * (1.0 + share) + self.besides, np.maximum(self.room, self.tensors))
        return np.asarray(np.log(shown / self.printed))


def counted(path: Path) -> Counted:
    """Return the rows that print memory, with what is counted of them."""
    found: list[tuple[str, float, float, float, float, bool]] = []
    for row in read_rows(path, NEEDED):
        printed = number(row, "memory_used_gb_per_chip")
        left_out = not_printed(row)
        if printed is None or kind_of(row) == "convolution" or "allocator" in left_out:
            continue
        case = case_of(row)
        asked = case.request
        one = replace(plan(replace(asked, micro_batch_size=asked.micro_batch_size or 1.0)), asked=asked)
        held = footprint(one).culprits
        tensors = sum(held.values()) - held["allocator"] - held["framework"]
        outside = sum(held[name] for name in left_out)
        besides = held["framework"] - outside
        room = (memory_gb_of(asked) or np.inf) * 2.0**30 - outside
        found.append((case.source, printed * 2.0**30, tensors, besides, room, half_widths(one)[0] == TOLD_LN80))
    sizes = np.array([one[1:5] for one in found]).T
    source, told = np.array([one[0] for one in found]), np.array([one[5] for one in found])
    return Counted(source, sizes[0], sizes[1], sizes[2], sizes[3], told)


def fitted(rows: Counted, use: NDArray[np.bool_]) -> float:
    """Return the share with the least robust error."""
    _, inverse, many = np.unique(rows.source, return_inverse=True, return_counts=True)
    weight = use / np.sqrt(many[inverse])

    def cost(share: float) -> float:
        size = np.abs(rows.errors_ln(share))
        return float((weight * np.where(size < HUBER, size**2 / 2, HUBER * (size - HUBER / 2))).sum())

    return float(SHARES[int(np.argmin([cost(float(share)) for share in SHARES]))])


def main() -> None:
    """Print the fit, the errors left out, and the bands."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/validation/training_throughput.csv"
    rows = counted(path)
    everything = np.ones(len(rows.printed), np.bool_)
    print(f"share {fitted(rows, everything):.4f} of {len(rows.printed)} rows")
    left_out = np.empty(len(rows.printed))
    for source in np.unique(rows.source):
        own = rows.source == source
        share = fitted(rows, ~own)
        left_out[own] = rows.errors_ln(share)[own]
        error = 100.0 * np.abs(np.expm1(left_out[own])).mean()
        print(f"left out {source}: share {share:.4f}, {own.sum()} rows, MAPE {error:.1f} %")
    for name, group in (("told", rows.told), ("assumed", ~rows.told)):
        size = np.abs(left_out[group])
        print(f"band {name}: ln80 {np.quantile(size, 0.8):.3f}, ln95 {np.quantile(size, 0.95):.3f}, {group.sum()} rows")


if __name__ == "__main__":
    main()
