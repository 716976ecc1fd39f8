"""Reading and writing of CSV files for the curation script."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def number(text: str) -> float | None:
    """Return the number of a cell; an empty cell is unknown, never zero."""
    return float(text) if text else None


def short(value: float) -> float:
    """Round away the noise of binary arithmetic, nothing that a source printed."""
    return float(f"{value:.9g}")


def one(rows: Iterable[dict[str, str]], **where: str) -> dict[str, str]:
    """Return the only row with these cells; the script stops when there is not exactly one."""
    hits = [row for row in rows if all(row[column] == value for column, value in where.items())]
    if len(hits) != 1:
        raise SystemExit(f"{len(hits)} rows for {where}: expected one")
    return hits[0]


def write(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a CSV file with these columns; a cell that a row lacks is empty, one that no column takes is an error."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", extrasaction="raise", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
