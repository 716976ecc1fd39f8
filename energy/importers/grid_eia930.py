"""Six-month BALANCE file of EIA-930: net generation of US balancing authorities by energy source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from energy.carbon.hours import HOUR_MS, GridHours
from energy.errors import InputFileError, did_you_mean
from energy.importers.grid_text import (
    Asked,
    GridFormat,
    Numbers,
    TextTable,
    added,
    built,
    chosen_zone,
    estimated_fraction,
    hours_of,
    known_technologies,
    need,
    read_text_table,
)
from energy.importers.grid_times import utc_ms

_ZONE, _TIME = "Balancing Authority", "UTC Time at End of Hour"
_PATTERN = "%m/%d/%Y %I:%M:%S %p"
_COLUMN = re.compile(r"Net Generation \(MW\) from (.+?)( \(Adjusted\)| \(Imputed\))?")
# Batteries within a solar or wind plant are counted with it, as EIA does.
_TECHNOLOGIES = {
    "Coal": "coal",
    "Natural Gas": "gas",
    "Nuclear": "nuclear",
    "All Petroleum Products": "oil",
    "Hydropower and Pumped Storage": "hydro",
    "Hydropower Excluding Pumped Storage": "hydro",
    "Pumped Storage": "pumped storage",
    "Solar": "solar",
    "Solar without Integrated Battery Storage": "solar",
    "Solar with Integrated Battery Storage": "solar",
    "Wind": "wind",
    "Wind without Integrated Battery Storage": "wind",
    "Wind with Integrated Battery Storage": "wind",
    "Battery Storage": "battery storage",
    "Other Energy Storage": "storage",
    "Unknown Energy Storage": "storage",
    "Geothermal": "geothermal",
    "Other Fuel Sources": "unknown",
    "Unknown Fuel Sources": "unknown",
}
_BOTH = "hydro holds pumped storage, which this edition does not tell apart"


def _matches(path: Path, names: Sequence[str]) -> bool:
    del path
    return _ZONE in names and _TIME in names


def _columns(path: Path, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the columns by ending (as reported, adjusted, imputed): technology name of EIA -> column."""
    found: dict[str, dict[str, str]] = {"": {}, "(Adjusted)": {}, "(Imputed)": {}}
    for name in names:
        # headers of EIA have two blanks and a cut-off "with" in places
        match = _COLUMN.fullmatch(" ".join(name.split()).replace("Solar witho Integrated", "Solar with Integrated"))
        if match is None:
            continue
        source = match[1]
        if source not in _TECHNOLOGIES:
            raise InputFileError(
                f"{path.name}: EIA-930 has no energy source {source!r} ({name}), and left out it would shift the mix."
                f"{did_you_mean(source, _TECHNOLOGIES)} Nothing was read."
            )
        found[(match[2] or "").strip()][source] = name
    if not found[""]:
        need(path, names, ["Net Generation (MW) from Coal"], "a BALANCE file of EIA-930")
    return found


def _read(path: Path, asked: Asked) -> GridHours:
    table = read_text_table(path)
    need(path, table.names, [_ZONE, _TIME], "a BALANCE file of EIA-930")
    columns = _columns(path, table.names)
    zones = table.texts(_ZONE)
    zone = chosen_zone(path, zones, asked.zone, _ZONE)
    table = table.only(np.array([name == zone for name in zones]))
    kind = "(Adjusted)" if columns["(Adjusted)"] else ""
    made, absent = _numbers(table, columns[kind])
    if not made:
        raise InputFileError(f"{path.name}: {zone} has no net generation by energy source in any hour.")
    values = added([(_TECHNOLOGIES[source], column) for source, column in made.items()])
    imputed, _ = _numbers(table, columns["(Imputed)"])
    marked = np.any([np.isfinite(one) for one in imputed.values()], axis=0).astype(float) if imputed else None
    if columns["(Imputed)"]:
        values["imputed"] = np.zeros(table.table.num_rows) if marked is None else marked
    start = utc_ms(table, _TIME, _PATTERN) - HOUR_MS
    on, found = hours_of(path, start, np.full(start.shape, HOUR_MS), values, table.lines)
    share = found.pop("imputed", None)
    known = np.sum([found[name] for name in found], axis=0)
    notes = [f"columns {'adjusted by EIA' if kind else 'as reported'}; stamps are the end of the hour"]
    notes += [_BOTH] if "Hydropower and Pumped Storage" in made else []
    notes += [f"no value in any hour: {', '.join(absent)}"] if absent else []
    return built(
        path,
        FORMAT.name,
        zone,
        on,
        publisher="US EIA",
        generation=found,
        estimated=None if share is None else estimated_fraction(share, known),
        notes=notes,
    )


def _numbers(table: TextTable, columns: Mapping[str, str]) -> tuple[dict[str, Numbers], tuple[str, ...]]:
    return known_technologies({source: table.numbers(name, grouped=True) for source, name in columns.items()})


FORMAT = GridFormat(
    "eia930-balance",
    "six-month BALANCE file of EIA-930: net generation by energy source, hour ending in UTC",
    "headers as public programs read them, both editions; no file of the publisher was at hand",
    _matches,
    _read,
)
