"""Recompute a report from the ledger and name every value that is not the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy.errors import ReportError
from energy.report import json_twin
from energy.report.build import build
from energy.report.model import SCHEMA
from energy.report.period import Reader

_HEAD = ("run_id", "ledger_version", "code_version", "status", "boundary", "entity", "empty", "inputs", "period")
_FIELDS = ("value", "unit", "low", "high", "mark", "factor_ids")


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the report and its recomputation differ; ``None`` where a side has no such place."""

    id: str
    reported: str | None
    recomputed: str | None

    @property
    def text(self) -> str:
        """The difference in one line."""
        sides = ["absent" if side is None else side for side in (self.reported, self.recomputed)]
        return f"{self.id}: reported {sides[0]}, recomputed {sides[1]}"


def verify(report_json: Path, reader: Reader) -> list[Difference]:
    """Compare a ``report.json`` with what the ledger gives now.

    Parameters
    ----------
    report_json : pathlib.Path
        The report's machine-readable twin.
    reader : Reader
        The ledger, best the version that the report names.

    Returns
    -------
    list of Difference
        Empty when every value, unit, range, mark and row is the same. A difference in ``ledger_version`` says that
        the ledger was published again since.

    Raises
    ------
    ReportError
        When the file is not such a report.
    """
    reported = load_document(report_json)
    recomputed = json_twin.document(build(reader, str(reported["quarter"])))
    out = [
        Difference(name, _short(reported.get(name)), _short(recomputed.get(name)))
        for name in _HEAD
        if reported.get(name) != recomputed.get(name)
    ]
    out += _compare(dict(_cells(reported)), dict(_cells(recomputed)))
    out += _compare(dict(_rows(reported)), dict(_rows(recomputed)))
    return out


def load_document(path: Path) -> dict[str, Any]:
    """Read a ``report.json``.

    Raises
    ------
    ReportError
        When it cannot be read or has another schema.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ReportError(f"{path} is not a report: it is not JSON in UTF-8 ({error}).") from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or "quarter" not in found:
        schema = found.get("schema") if isinstance(found, dict) else None
        raise ReportError(f"{path} is not a report: its schema is {schema}, not {SCHEMA}.")
    _check_shape(path, found)
    return found


def _check_shape(path: Path, document: dict[str, Any]) -> None:
    """Refuse a document that was cut or edited so that its parts cannot be walked."""
    try:
        for _ in (*_cells(document), *_rows(document)):
            pass
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = type(error).__name__
        raise ReportError(
            f"{path} is damaged: a part is missing or of another kind ({name}: {error}). Write the report again."
        ) from error


def _cells(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give every value by its id, and every chart's data by the chart's."""
    for section in document.get("sections", []):
        for block in section["blocks"]:
            cells = list(block.get("figures", []))
            cells += [cell for row in block.get("rows", []) for cell in row["cells"]]
            for cell in cells:
                yield cell["id"], _short({name: cell[name] for name in _FIELDS if name in cell}) or ""
            if block["kind"] == "chart":
                yield block["id"], _short([block["categories"], block["series"]]) or ""


def _rows(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, rows in document.get("data", {}).items():
        for number, row in enumerate(rows, start=1):
            yield f"data.{name}.{number}", _short(row) or ""


def _compare(reported: dict[str, str], recomputed: dict[str, str]) -> list[Difference]:
    ids = [*reported, *(name for name in recomputed if name not in reported)]
    return [
        Difference(name, reported.get(name), recomputed.get(name))
        for name in ids
        if reported.get(name) != recomputed.get(name)
    ]


def _short(value: Any) -> str | None:
    """Return a value as one line of text that is equal only for equal values."""
    if value is None:
        return None
    if isinstance(value, dict) and set(value) <= {"value", "unit"} and value.get("value") is not None:
        return f"{value['value']} {value['unit']}" if value.get("unit") else str(value["value"])
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
