"""Fit the tables of chip power in ``datasets/`` to measurements.

Run from the repository: ``python scripts/fit_power.py [SHARED] [--only kernel]`` (default ``../shared``), after
``curate_catalogue.py`` has declared the tables. The same input gives the same coefficients up to the rounding of the
linear algebra. Nothing is fitted to a row or a source: errors in the tables are of shapes, models, data sets or chips
that were left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fit_power_caps
import fit_power_gemm
import fit_power_serving
import numpy as np
from catalogue_fields import FIELDS
from catalogue_io import read, write
from numpy.typing import NDArray
from power_points import states

from energy.catalogue import _tables
from energy.power import gemm as power_gemm
from energy.power import states as power_states

ROOT = Path(__file__).resolve().parent.parent
WIDER = 1.3
KINDS = ("kernel", "caps", "serving", "states")


def _write(table: str, rows: list[dict[str, Any]]) -> None:
    write(ROOT / "datasets" / f"{table}.csv", [field["name"] for field in FIELDS[table]], rows)
    print(f"{table}: {len(rows)} rows", file=sys.stderr)


def _transfer(model: str, by_step: dict[int, NDArray[np.float64]], source: str) -> None:
    """Replace the rows of one model in the table of errors on chips that were left out."""
    path = ROOT / "datasets/power_transfer.csv"
    rows: list[dict[str, Any]] = [*(row for row in read(path) if row["model"] != model)] if path.exists() else []
    widest: dict[str, Any] = {}
    if 1 not in by_step:  # nobody was measured so near: the farther kin stands for it, which is cautious
        by_step = {1: by_step[2]} | by_step
    for step in (1, 2, 3):
        if step in by_step:
            size = np.abs(by_step[step])
            widest = {
                "rows": len(size),
                "mape_fraction": round(float(np.abs(np.expm1(by_step[step])).mean()), 4),
                "band80_ln": round(max(float(np.quantile(size, 0.8)), widest.get("band80_ln", 0.0)), 4),
                "band95_ln": round(max(float(np.quantile(size, 0.95)), widest.get("band95_ln", 0.0)), 4),
            }
            rows.append({"model": model, "kin_step": step, **widest, "source": source, "status": "derived"})
        else:
            widest = {name: round(widest[name] * WIDER, 4) for name in ("band80_ln", "band95_ln")} if widest else {}
            note = f"nobody was measured at this distance: {WIDER} times the band of the nearer kin"
            rows.append(
                {"model": model, "kin_step": step, **widest, "source": source, "status": "estimate", "note": note}
            )
    _write("power_transfer", sorted(rows, key=lambda row: (row["model"], int(row["kin_step"]))))


def _forget() -> None:
    for cached in (
        _tables.rows,
        power_states._fitted,
        power_states._curve,
        power_states._points,
        power_gemm._fitted,
        power_gemm._surfaces,
    ):
        cached.cache_clear()


def _kernel(shared: Path) -> None:
    data = fit_power_gemm.load(shared / "data/kernels")
    pooled = fit_power_gemm.together(data)
    _write("power_chip", [fit_power_gemm.fit(key, rows, surface=False)[0] for key, rows in pooled.items()])
    fits = [fit_power_gemm.fit(key, rows, surface=True) for key, rows in {**data, **pooled}.items()]
    _write("power_gemm", [row for row, _ in fits])
    _write("power_gemm_surface", [line for _, lines in fits for line in lines])
    _forget()
    for width in ("wide", "narrow"):
        some = {key: rows for key, rows in pooled.items() if (key[1] in power_states.WIDE) == (width == "wide")}
        _transfer(f"kernel_{width}", fit_power_gemm.left_out(some), "aiconfig")


def _serving(shared: Path) -> None:
    terms, by_step = fit_power_serving.fit(shared / "validation/inference_energy.csv")
    _write("power_serving", terms)
    _transfer("serving", by_step, "mlenergy")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and write the tables that are asked for."""
    parser = argparse.ArgumentParser(description="Fit the tables of chip power.")
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT / "../shared")
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args(arguments)
    if options.only in (None, "states"):
        _write("power_states", states(options.shared))
    if options.only in (None, "caps"):
        _write("power_caps", fit_power_caps.fit(options.shared / "validation/gpu_power_caps.csv"))
    if options.only in (None, "kernel"):
        _kernel(options.shared)
    if options.only in (None, "serving"):
        _write("power_serving_models", fit_power_serving.models())
        _forget()
        _serving(options.shared)


if __name__ == "__main__":
    main()
