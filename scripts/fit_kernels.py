"""Fit the coefficient tables of kernels in ``datasets/`` to the measured kernels.

Run from the repository: ``python scripts/fit_kernels.py [SHARED_KERNELS] [--only gemm]`` (default
``../shared/data/kernels``), after ``curate_catalogue.py`` has declared the tables. The same input gives the same
coefficients up to the rounding of the linear algebra. Rows far from the median of their neighbours are screened
(``fit_robust.screened``) and left out of the fit, not out of the errors that are printed and stored.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fit_attention
import fit_collectives
import fit_gemm
import numpy as np
from catalogue_fields import FIELDS
from catalogue_io import read, write
from fit_robust import summary

from energy.catalogue import _tables
from energy.cost.kernels import attention, collectives, gemm

ROOT = Path(__file__).resolve().parent.parent
WIDER = 1.3
KINDS = ("gemm", "attention", "collective")


def _write(table: str, rows: list[dict[str, Any]]) -> None:
    write(ROOT / "datasets" / f"{table}.csv", [field["name"] for field in FIELDS[table]], rows)
    print(f"{table}: {len(rows)} rows", file=sys.stderr)


def _transfer(kernel: str, by_step: dict[int, list[tuple[str, str, Any]]]) -> None:
    """Replace the rows of one kernel in the table of errors on chips that were left out."""
    kept = [row for row in read(ROOT / "datasets/kernel_transfer.csv") if row["kernel"] != kernel]
    rows: list[dict[str, Any]] = []
    for step, parts in sorted(by_step.items()):
        errors = np.concatenate([part[2] for part in parts])
        chips = sorted({part[0] for part in parts})
        rows.append(
            {
                "kernel": kernel,
                "kin_step": step,
                "rows": len(errors),
                **summary(errors),
                "source": "aiconfig",
                "status": "derived",
                "note": f"left out in turn: {', '.join(chips)}",
            }
        )
    if 3 not in by_step:
        rows.append(_other_makers(kernel, rows[-1]))
    order = {name: place for place, name in enumerate(KINDS)}
    _write("kernel_transfer", sorted([*kept, *rows], key=lambda row: (order[row["kernel"]], int(row["kin_step"]))))


def _other_makers(kernel: str, nearest: dict[str, Any]) -> dict[str, Any]:
    """Return the row of makers that nobody measured: the errors between generations of one maker, widened."""
    return {
        "kernel": kernel,
        "kin_step": 3,
        "sigma_fraction": round(nearest["sigma_fraction"] * WIDER, 4),
        "band95_ln": round(nearest["band95_ln"] * WIDER, 4),
        "source": "aiconfig",
        "status": "estimate",
        "note": f"no other maker was measured: {WIDER} times the errors between generations of one maker",
    }


def _gemm(folder: Path) -> None:
    data = fit_gemm.load(folder)
    fits = [fit_gemm.fit(chip_id, wanted, rows) for (chip_id, wanted), rows in data.items()]
    _write("kernel_gemm", [row for row, _ in fits])
    _write("kernel_gemm_surface", [row for _, surface in fits for row in surface])
    for cached in (_tables.rows, gemm._fitted, gemm._surfaces, gemm.model):
        cached.cache_clear()
    _transfer("gemm", fit_gemm.left_out(data))


def _attention(folder: Path) -> None:
    data = fit_attention.load(folder)
    _write("kernel_attention", [fit_attention.fit(key, rows) for key, rows in data.items()])
    for cached in (_tables.rows, attention._fitted, attention._kept):
        cached.cache_clear()
    _transfer("attention", fit_attention.left_out(data))


def _collective(folder: Path) -> None:
    data = fit_collectives.load(folder)
    _write("kernel_collective", [fit_collectives.fit(key, size, time) for key, (size, time) in data.items()])
    for cached in (_tables.rows, collectives.surfaces, collectives.lender_of):
        cached.cache_clear()
    _transfer("collective", fit_collectives.left_out(data))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and write the tables that are asked for."""
    parser = argparse.ArgumentParser(description="Fit the coefficient tables of kernels.")
    parser.add_argument("kernels", nargs="?", type=Path, default=ROOT / "../shared/data/kernels")
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args(arguments)
    if options.only in (None, "gemm"):
        _gemm(options.kernels)
    if options.only in (None, "attention"):
        _attention(options.kernels)
    if options.only in (None, "collective"):
        _collective(options.kernels)


if __name__ == "__main__":
    main()
