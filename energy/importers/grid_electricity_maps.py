"""Hourly CSV of Electricity Maps, with the headers since 2025 and those before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from energy.carbon.hours import UNITS, GridHours, IntensityOfHours
from energy.importers.grid_text import (
    Asked,
    GridFormat,
    built,
    chosen_zone,
    estimated_fraction,
    hours_of,
    need,
    read_text_table,
)
from energy.importers.grid_times import utc_ms

_TIME = "Datetime (UTC)"
_ZONE = ("Zone id", "Zone Id")
_ESTIMATED = ("Data estimated", "Data Estimated")
_INTENSITY = {
    "direct": ("Carbon intensity gCO₂eq/kWh (direct)", "Carbon Intensity gCO₂eq/kWh (direct)"),
    "lifecycle": (
        "Carbon intensity gCO₂eq/kWh (Life cycle)",
        "Carbon Intensity gCO₂eq/kWh (Life cycle)",
        "Carbon Intensity gCO₂eq/kWh (LCA)",
    ),
}
_PUBLISHER = "Electricity Maps"


def _matches(path: Path, names: Sequence[str]) -> bool:
    del path
    return _TIME in names and any("gCO₂eq/kWh" in name for name in names)


def _read(path: Path, asked: Asked) -> GridHours:
    table = read_text_table(path)
    zone_column = _one_of(table.names, _ZONE)
    columns = {boundary: _one_of(table.names, spelt) for boundary, spelt in _INTENSITY.items()}
    estimated_column = _one_of(table.names, _ESTIMATED)
    need(path, table.names, [_TIME, zone_column, *columns.values()], "an hourly file of Electricity Maps")
    zones = table.texts(zone_column)
    zone = chosen_zone(path, zones, asked.zone, zone_column)
    table = table.only(np.array([name == zone for name in zones]))
    values = {boundary: table.numbers(column) for boundary, column in columns.items()}
    says = estimated_column in table.names
    if says:
        values["estimated"] = np.array(
            [text.casefold() in ("true", "1") for text in table.texts(estimated_column)], float
        )
    on, found = hours_of(path, utc_ms(table, _TIME), None, values, table.lines)
    intensity = [
        IntensityOfHours(
            boundary,
            "consumption",
            "average",
            "CO2e",
            "unstated",
            UNITS["consumption"],
            "given",
            _PUBLISHER,
            found[boundary],
        )
        for boundary in columns
    ]
    return built(
        path,
        FORMAT.name,
        zone,
        on,
        publisher=_PUBLISHER,
        intensity=intensity,
        estimated=estimated_fraction(found["estimated"], found["lifecycle"]) if says else None,
        notes=("consumption-based: imports are traced; licence of the publisher, not for redistribution",),
    )


def _one_of(names: Sequence[str], spelt: Sequence[str]) -> str:
    return next((name for name in spelt if name in names), spelt[0])


FORMAT = GridFormat(
    "electricity-maps",
    "hourly CSV of Electricity Maps: consumption-based intensity, direct and life cycle",
    "headers and rows as public programs and their tests show them; no file of the publisher was at hand",
    _matches,
    _read,
)
