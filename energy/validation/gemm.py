"""Suite ``gemm``: time of measured matrix products."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from energy.cost.kernels.validation import GEMM_COLUMNS, compare_gemm
from energy.errors import InputFileError
from energy.validation.statistics import Compared, Failure, Outcome, read_rows


def gemm(path: Path) -> Outcome:
    """Return predicted against measured time of products in a CSV or Parquet file.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    table = _parquet(path) if path.suffix == ".parquet" else _text(path)
    compared = compare_gemm(table)
    labels = [np.asarray(table[name]).astype(str) for name in ("chip", "dtype")]
    found: list[Compared] = []
    failures: list[Failure] = []
    columns = (compared.predicted_s, compared.low80_s, compared.high80_s, compared.low95_s, compared.high95_s)
    values = zip(compared.measured_s.tolist(), *(one.tolist() for one in columns), strict=True)
    for place, (measured, predicted, low80, high80, low, high) in enumerate(values):
        row_id = f"line {place + 2}"
        if place in compared.reasons or not measured > 0:
            failures.append(Failure(row_id, compared.reasons.get(place, "no time was measured")))
            continue
        groups = (("chip", str(labels[0][place])), ("dtype", str(labels[1][place])))
        found.append(Compared(row_id, "time_s", measured, predicted, low80, high80, low, high, groups))
    return Outcome("gemm", path.name, tuple(found), tuple(failures))


def _parquet(path: Path) -> dict[str, Any]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputFileError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}.") from None
    missing = [name for name in GEMM_COLUMNS if name not in table.column_names]
    if missing:
        raise InputFileError(f"{path} lacks the column {missing[0]}: this suite needs {', '.join(GEMM_COLUMNS)}.")
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in GEMM_COLUMNS}


def _text(path: Path) -> dict[str, Any]:
    rows = read_rows(path, GEMM_COLUMNS)
    found: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in ("chip", "dtype")}
    for name in ("m", "n", "k", "latency_ms"):
        found[name] = np.array([_number(row[name]) for row in rows])
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
