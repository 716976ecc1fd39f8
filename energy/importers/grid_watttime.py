"""Answers of the WattTime API (v3, historical or forecast) saved as JSON: marginal CO2 in lb/MWh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from energy.carbon.hours import UNITS, GridHours, IntensityOfHours
from energy.errors import InputFileError, did_you_mean
from energy.importers.base import Context
from energy.importers.grid_text import Asked, GridFormat, built, hours_of
from energy.importers.text_input import json_documents
from energy.importers.times import parse_instant
from energy.units import quantity

_SIGNAL, _UNITS = "co2_moer", "lbs_co2_per_mwh"


def _matches(path: Path, names: Sequence[str]) -> bool:
    del names
    with path.open("rb") as stream:
        head = stream.read(1 << 12).lstrip()
    return head.startswith(b"{") and b'"point_time"' in head


def _read(path: Path, asked: Asked) -> GridHours:
    context = Context(site_id=None, timezone=None, hosts={}, chip_of_name=lambda name, host: None, sites=())
    documents = [value for _, value in json_documents(path, context)]
    answer = documents[0] if len(documents) == 1 else None
    meta = answer.get("meta") if isinstance(answer, dict) else None
    points = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(meta, dict) or not isinstance(points, list) or not points:
        raise InputFileError(f"{path.name} is no answer of WattTime: one JSON object with `meta` and rows in `data`.")
    _say(path, meta, "signal_type", _SIGNAL)
    _say(path, meta, "units", _UNITS)
    start, values = _points(path, points)
    seconds = meta.get("data_point_period_seconds")
    if not isinstance(seconds, int) or seconds <= 0:
        raise InputFileError(
            f"{path.name}: meta.data_point_period_seconds is {seconds!r}: the length of a row is needed."
        )
    grams = float(quantity(1.0, "lbCO2e/MWh_generation").to("gCO2e/kWh_generation").magnitude)
    on, found = hours_of(
        path, start, np.full(start.shape, seconds * 1000), {"value": values * grams}, np.arange(1, start.size + 1)
    )
    intensity = IntensityOfHours(
        "direct",
        "production",
        "marginal",
        "CO2 only",
        "none",
        UNITS["production"],
        "given",
        "WattTime",
        found["value"],
    )
    return built(
        path,
        FORMAT.name,
        asked.zone or str(meta.get("region") or "not named"),
        on,
        publisher="WattTime",
        intensity=(intensity,),
        notes=("marginal: what one kWh more or less changes, never for an inventory",),
    )


def _say(path: Path, meta: dict[str, Any], key: str, wanted: str) -> None:
    given = str(meta.get(key))
    if given != wanted:
        raise InputFileError(
            f"{path.name}: meta.{key} is {given!r} and must be {wanted!r}: another signal has another unit or meaning."
            f"{did_you_mean(given, [wanted])}"
        )


def _points(path: Path, points: Sequence[Any]) -> tuple[Any, Any]:
    starts, values = [], []
    for number, point in enumerate(points, 1):
        time = point.get("point_time") if isinstance(point, dict) else None
        start = parse_instant(time, None) if isinstance(time, str) else "is no text"
        value = point.get("value") if isinstance(point, dict) else None
        if isinstance(start, str):
            raise InputFileError(f"{path.name}, point {number} of data: point_time {time!r} {start}.")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputFileError(f"{path.name}, point {number} of data: value {value!r} is no number.")
        starts.append(start)
        values.append(np.nan if value is None else float(value))
    return np.array(starts, dtype=np.int64), np.array(values)


FORMAT = GridFormat(
    "watttime",
    "answer of the WattTime API v3 as JSON: marginal CO2 in lb/MWh",
    "keys as the documentation of the API shows them; no answer of the service was at hand. That the signal is CO2 of "
    "combustion per MWh generated is recalled",
    _matches,
    _read,
)
