"""Error statistics of predicted against measured, and the document of ``energy validate``."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from energy.errors import EnergyError, InputFileError

Numbers = NDArray[np.float64]
Given = TypeVar("Given")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Compared:
    """One answered row: measured and predicted in the same unit, bands where the suite has them (else None)."""

    row_id: str
    quantity: str
    measured: float
    predicted: float
    low80: float | None
    high80: float | None
    low: float | None
    high: float | None
    groups: tuple[tuple[str, str], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One row without an answer, and why."""

    row_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a suite found, row by row; ``suite`` names it, ``data`` the file, ``further`` what only this suite says."""

    suite: str
    data: str
    compared: tuple[Compared, ...]
    failures: tuple[Failure, ...]
    further: tuple[tuple[str, float], ...] = ()


def read_rows(path: Path, needed: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file.

    Raises
    ------
    InputFileError
        When it cannot be read, has no rows, or lacks a needed column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or []
            rows = [{key: value or "" for key, value in row.items() if key is not None} for row in reader]
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputFileError(f"{path} is no CSV text in UTF-8: {error}.") from None
    missing = [name for name in needed if name not in columns]
    if missing:
        raise InputFileError(f"{path} lacks the column {missing[0]}: a file of this suite has {', '.join(needed)}.")
    if not rows:
        raise InputFileError(f"{path} has no rows.")
    return rows


def each_row(
    rows: Sequence[Given],
    work: Callable[[Given, str], Item],
    named: Callable[[Given], str] = lambda _: "",
    where: str = "",
) -> tuple[list[Item], list[Failure]]:
    """Return what a function makes of each row of a file, and the rows of which it says why it cannot.

    Parameters
    ----------
    rows : sequence
        Of :func:`read_rows`.
    work : callable
        Of a row and its name in messages: its line, after what ``where`` says, before what ``named`` says.
    """
    found: list[Item] = []
    failures: list[Failure] = []
    for line, row in enumerate(rows, 2):
        row_id = f"{where}line {line}{named(row)}"
        try:
            found.append(work(row, row_id))
        except EnergyError as error:
            failures.append(Failure(row_id, str(error)))
    return found, failures


def figures(compared: Sequence[Compared], rows: int) -> dict[str, Any]:
    """Return the statistics of answered rows; null where there are none to say it of.

    ``mape_pct`` and its quantiles are of absolute errors over the measured value, ``bias_pct`` is the mean signed one;
    shares count answered rows, of bands those that have one.

    Examples
    --------
    >>> one = Compared("a", "time_s", 10.0, 11.0, 9.0, 12.0, None, None, ())
    >>> found = figures([one], 2)
    >>> found["rows"], found["answered"], round(found["mape_pct"], 6), found["inside_80pct"], found["inside_95pct"]
    (2, 1, 10.0, 100.0, None)

    """
    if not compared:
        nothing = ("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "within_10pct")
        return {"rows": rows, "answered": 0, **dict.fromkeys((*nothing, "inside_80pct", "inside_95pct"))}
    measured = np.array([one.measured for one in compared])
    error = (np.array([one.predicted for one in compared]) / measured - 1.0) * 100.0
    size = np.abs(error)
    return {
        "rows": rows,
        "answered": len(compared),
        "mape_pct": float(size.mean()),
        "median_ape_pct": float(np.median(size)),
        "p90_ape_pct": float(np.quantile(size, 0.9)),
        "bias_pct": float(error.mean()),
        "within_10pct": float((size <= 10.0).mean() * 100.0),
        "inside_80pct": _inside(compared, "low80", "high80"),
        "inside_95pct": _inside(compared, "low", "high"),
    }


def _inside(compared: Sequence[Compared], low: str, high: str) -> float | None:
    banded = [one for one in compared if getattr(one, low) is not None and getattr(one, high) is not None]
    if not banded:
        return None
    inside = [bool(getattr(one, low) <= one.measured <= getattr(one, high)) for one in banded]
    return 100.0 * sum(inside) / len(banded)


def document(outcome: Outcome) -> dict[str, Any]:
    """Return the document of ``energy validate --json`` without its schema (design, section 8)."""
    compared = outcome.compared
    grouped: dict[str, dict[str, list[Compared]]] = {}
    for one in compared:
        for name, value in one.groups:
            grouped.setdefault(name, {}).setdefault(value, []).append(one)
    groups = {
        name: {value: figures(rows, len(rows)) for value, rows in sorted(values.items())}
        for name, values in grouped.items()
    }
    return {
        "suite": outcome.suite,
        "data": outcome.data,
        **figures(compared, len(compared) + len(outcome.failures)),
        **dict(outcome.further),
        "groups": groups,
        "failures": [{"row": one.row_id, "reason": one.reason} for one in outcome.failures],
    }


ROW_COLUMNS = ("row_id", "quantity", "measured", "predicted", "low80", "high80", "low", "high", "error_pct")


def write_rows(outcome: Outcome, path: Path) -> None:
    """Write every answered row, and those without an answer, as CSV; the file is complete or absent."""
    names = list(dict.fromkeys(name for one in outcome.compared for name, _ in one.groups))
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*ROW_COLUMNS, *names, "note"])
            writer.writerows(_lines(outcome, names))
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputFileError(f"{path} cannot be written: {error.strerror}.") from None


def _lines(outcome: Outcome, names: Sequence[str]) -> Iterable[list[object]]:
    for one in outcome.compared:
        groups: Mapping[str, str] = dict(one.groups)
        error = (one.predicted / one.measured - 1.0) * 100.0
        bands = [one.low80, one.high80, one.low, one.high]
        values = [f"{value:.6g}" if value is not None else "" for value in (one.measured, one.predicted, *bands, error)]
        yield [one.row_id, one.quantity, *values, *(groups.get(name, "") for name in names), one.note]
    for failure in outcome.failures:
        yield [failure.row_id, "", "", "", "", "", "", "", "", *("" for _ in names), f"not answered: {failure.reason}"]
