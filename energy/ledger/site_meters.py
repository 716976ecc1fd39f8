"""Meter readings of a site with own plants: what was bought, and what own plants gave, by hour."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SiteFileError, did_you_mean
from energy.ledger.site_facility import digest

Numbers = NDArray[np.float64]
Hours = NDArray[np.datetime64]
_GRID, _SELF = "grid_facility_kwh", "self_consumed_facility_kwh"
_GENERATION, _EXPORT = "generation_facility_kwh", "exported_facility_kwh"


@dataclass(frozen=True, slots=True, eq=False)
class Metered:
    """Flows of the hours that were asked for, kWh at the meter; None: it was not metered."""

    grid_facility_kwh: Numbers
    self_consumed_facility_kwh: Numbers
    generation_facility_kwh: Numbers | None
    excess_facility_kwh: Numbers | None
    source: str


def metered(keys: Any, where: str, folder: Path, hours: Hours) -> Metered:
    """Return the flows of a site by its meters.

    Parameters
    ----------
    keys : mapping
        ``file``: a CSV of the ledger's folder with ``start_utc``, ``grid_facility_kwh``, and either
        ``self_consumed_facility_kwh`` or both ``generation_facility_kwh`` and ``exported_facility_kwh``.
    where : str
        Key of ``site.yaml``, for messages.
    folder : Path
    hours : array of datetime64, shape (n,)
        Starts of UTC hours that are needed.

    Returns
    -------
    Metered

    Raises
    ------
    SiteFileError
        The file cannot be read, lacks a column or an hour, or a value is no energy.

    """
    if not isinstance(keys, Mapping) or set(keys) != {"file"}:
        raise SiteFileError(f"{where}: write file: and the name of a CSV in the ledger's folder.")
    name = str(keys["file"])
    rows, columns = _rows(folder / name, where, name)
    starts = _starts(rows, where, name)
    order = np.argsort(starts, kind="stable")
    twice = np.flatnonzero(np.diff(starts[order]).astype(np.int64) == 0)
    if twice.size:
        raise SiteFileError(f"{where}: {name} has the hour {starts[order][twice[0]]}Z twice. Correct the file.")
    absent = np.setdiff1d(hours, starts)
    if absent.size:
        raise SiteFileError(
            f"{where}: {name} has no row for {absent.size} h with energy, first {absent[0]}Z. Add them: nothing is "
            "put in their place."
        )
    place = order[np.searchsorted(starts[order], hours)]

    def column(key: str) -> Numbers:
        return _column(rows, key, where, name)[place]

    source = f"meter readings of {name}{digest(folder / name)}"
    grid = column(_GRID)
    if _SELF in columns:
        return Metered(grid, column(_SELF), None, None, source)
    generation, exported = column(_GENERATION), column(_EXPORT)
    if bool(np.any(exported > generation)):
        first = hours[exported > generation][0]
        raise SiteFileError(f"{where}: {name}: more is exported than own plants gave in the hour {first}Z. Correct it.")
    return Metered(grid, generation - exported, generation, exported, source)


def _rows(path: Path, where: str, name: str) -> tuple[list[dict[str, str]], list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            rows, columns = list(reader), list(reader.fieldnames or [])
    except OSError as error:
        raise SiteFileError(
            f"{where}: {name} cannot be read: {error.strerror}. Put it in the ledger's folder."
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise SiteFileError(f"{where}: {name} is no CSV text in UTF-8: {error}.") from None
    needed = ["start_utc", _GRID, *([_SELF] if _SELF in columns else [_GENERATION, _EXPORT])]
    lacking = [column for column in needed if column not in columns]
    if lacking:
        raise SiteFileError(
            f"{where}: {name} has no column {lacking[0]}: it needs start_utc, {_GRID}, and {_SELF}, or {_GENERATION} "
            f"with {_EXPORT}.{did_you_mean(lacking[0], columns)}"
        )
    return rows, columns


def _starts(rows: list[dict[str, str]], where: str, name: str) -> Hours:
    """Return the starts of the rows; a time without an offset is UTC, as the heading says."""
    found = []
    for number, row in enumerate(rows, start=2):
        try:
            moment = datetime.fromisoformat(row["start_utc"].strip())
        except (ValueError, AttributeError):
            raise SiteFileError(f"{where}: {name}, line {number}: {row['start_utc']!r} is no time.") from None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if moment.minute or moment.second or moment.microsecond:
            raise SiteFileError(f"{where}: {name}, line {number}: {row['start_utc']} is no whole hour of UTC.")
        found.append(np.datetime64(moment.replace(tzinfo=None), "h"))
    return np.array(found, dtype="datetime64[h]")


def _column(rows: list[dict[str, str]], key: str, where: str, name: str) -> Numbers:
    try:
        values = np.array([float(row[key]) for row in rows], dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if not bool(np.all(np.isfinite(values) & (values >= 0.0))):
        raise SiteFileError(f"{where}: {name}, {key}: a cell is no energy of zero or more. Correct the file.")
    return values
