"""Actual generation per production type of the ENTSO-E Transparency Platform: wide, long and monthly exports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from energy.carbon.hours import GridHours
from energy.errors import InputFileError, did_you_mean
from energy.importers.grid_text import (
    Asked,
    GridFormat,
    Instants,
    Numbers,
    TextTable,
    added,
    built,
    chosen_zone,
    hours_of,
    known_technologies,
    need,
    read_text_table,
)
from energy.importers.grid_times import Mask, local_ms, utc_ms
from energy.importers.times import zone_of

_TYPE, _AMOUNT, _ZONE = "Production Type", "Generation (MW)", "Area"
_WIDE = re.compile(r"(.+?) - Actual (Aggregated|Consumption) \[MW\]")
_TIME = re.compile(r"MTU(?: \((.+)\))?")
# "01.01.2020 00:00 - 01.01.2020 00:15 (CET/CEST)"; "01/01/2025 00:00:00 (CET) - 01/01/2025 00:15:00 (CET)"
_DAY = r"(?P<d{0}>\d\d)[./](?P<m{0}>\d\d)[./](?P<y{0}>\d{{4}}) (?P<t{0}>\d\d:\d\d)(?::\d\d)?(?: \((?P<z{0}>[A-Z/]+)\))?"
_INTERVAL = rf"^{_DAY.format(1)} - {_DAY.format(2)}$"
_FIXED_H = {"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
_PAIRS = {"CET/CEST": "Europe/Brussels", "WET/WEST": "Europe/Lisbon", "EET/EEST": "Europe/Helsinki"}
_TECHNOLOGIES = {
    "Biomass": "biomass",
    "Energy storage": "storage",
    "Fossil Brown coal/Lignite": "coal",
    "Fossil Coal-derived gas": "gas",
    "Fossil Gas": "gas",
    "Fossil Hard coal": "coal",
    "Fossil Oil": "oil",
    "Fossil Oil shale": "oil",
    "Fossil Peat": "coal",
    "Geothermal": "geothermal",
    "Hydro Pumped Storage": "pumped storage",
    "Hydro Run-of-river and poundage": "hydro",
    "Hydro Run-of-river and pondage": "hydro",
    "Hydro Water Reservoir": "hydro",
    "Marine": "unknown",
    "Nuclear": "nuclear",
    "Other": "unknown",
    "Other renewable": "unknown",
    "Solar": "solar",
    "Waste": "unknown",
    "Wind Offshore": "wind",
    "Wind Onshore": "wind",
}
# Monthly files of the platform's file library: UTC, one row a type and time.
_BULK = (
    "DateTime(UTC)",
    "ResolutionCode",
    "AreaMapCode",
    "AreaTypeCode",
    "ProductionType",
    "ActualGenerationOutput[MW]",
)
_MINUTES = {"PT15M": 15, "PT30M": 30, "PT60M": 60}
_NOTES = (
    "coal-derived gas counts as gas, peat as coal, oil shale as oil; waste, marine and other as unknown",
    "columns of consumption are not subtracted",
)


def _spelt(name: str) -> str:
    return " ".join(name.split())


def _matches(path: Path, names: Sequence[str]) -> bool:
    del path
    spelt = [_spelt(name) for name in names]
    return set(_BULK) <= set(spelt) or (
        any(_TIME.fullmatch(name) for name in spelt)
        and (any(_WIDE.fullmatch(name) for name in spelt) or {_TYPE, _AMOUNT} <= set(spelt))
    )


def _technology(path: Path, name: str) -> str:
    if name not in _TECHNOLOGIES:
        raise InputFileError(
            f"{path.name}: ENTSO-E has no production type {name!r}, and left out it would shift the mix."
            f"{did_you_mean(name, _TECHNOLOGIES)} Nothing was read."
        )
    return _TECHNOLOGIES[name]


def _read(path: Path, asked: Asked) -> GridHours:
    table = read_text_table(path)
    if set(_BULK) <= set(table.names):
        return _bulk(path, table, asked)
    need(path, table.names, [_ZONE], "a generation file of ENTSO-E")
    zones = table.texts(_ZONE)
    zone = chosen_zone(path, zones, asked.zone, _ZONE)
    table = table.only(np.array([name == zone for name in zones]))
    long = {_TYPE, _AMOUNT} <= {_spelt(name) for name in table.names}
    kinds, group = _kinds(table, _TYPE) if long else ((), np.zeros(table.table.num_rows, dtype=np.int64))
    columns = {} if long else _wide(path, table)
    if not long and not columns:
        need(path, table.names, ["Fossil Gas - Actual Aggregated [MW]"], "a generation file of ENTSO-E")
    amounts = {"": table.numbers(_AMOUNT)} if long else columns
    has_value = np.any([np.isfinite(one) for one in amounts.values()], axis=0)
    start, length, told = _intervals(table, asked, group, has_value)
    lost = np.unique(start[~told & has_value] // 3_600_000).size
    untold = table.lines[~told & has_value]
    if long:
        rows = _pivot(start[told], length[told], group[told], kinds, amounts[""][told], table.lines[told])
    else:
        rows = _Rows(start[told], length[told], {name: one[told] for name, one in columns.items()}, table.lines[told])
    return _hours(path, zone, rows, int(lost), untold.tolist())


def _bulk(path: Path, table: TextTable, asked: Asked) -> GridHours:
    """Return the hours of a monthly file, whose times are UTC and whose rows say how long they are."""
    areas = [f"{area} ({kind})" for area, kind in zip(table.texts(_BULK[2]), table.texts(_BULK[3]), strict=True)]
    zone = chosen_zone(path, areas, asked.zone, f"{_BULK[2]} ({_BULK[3]})")
    table = table.only(np.array([area == zone for area in areas]))
    codes = table.texts(_BULK[1])
    for code in sorted(set(codes) - set(_MINUTES)):
        raise InputFileError(f"{path.name}: {code!r} in {_BULK[1]} is none of {', '.join(_MINUTES)}. Nothing was read.")
    length = np.array([_MINUTES[code] for code in codes], dtype=np.int64) * 60_000
    kinds, group = _kinds(table, _BULK[4])
    rows = _pivot(utc_ms(table, _BULK[0]), length, group, kinds, table.numbers(_BULK[5]), table.lines)
    return _hours(path, zone, rows, 0)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows by time with a column for each production type, and the first line of each."""

    start: Instants
    length: Instants
    columns: Mapping[str, Numbers]
    lines: Instants


def _hours(path: Path, zone: str, rows: _Rows, lost: int, untold: Sequence[int] = ()) -> GridHours:
    present, absent = known_technologies(rows.columns)
    if not present:
        raise InputFileError(f"{path.name}: {zone} has no generation in any row.")
    values = added([(_technology(path, name), one) for name, one in present.items()])
    on, found = hours_of(path, rows.start, rows.length, values, rows.lines)
    gaps = replace(on.gaps, conflicting_hours=on.gaps.conflicting_hours + lost)
    return built(
        path,
        FORMAT.name,
        zone,
        on,
        publisher="ENTSO-E",
        generation=found,
        gaps=gaps,
        notes=[*_NOTES, *([f"no value in any hour: {', '.join(absent)}"] if absent else [])],
        untold=untold,
    )


def _wide(path: Path, table: TextTable) -> dict[str, Numbers]:
    found = {}
    for name in table.names:
        match = _WIDE.fullmatch(_spelt(name))
        if match is not None and match[2] == "Aggregated":
            _technology(path, match[1])
            found[match[1]] = table.numbers(name)
    return found


def _kinds(table: TextTable, column: str) -> tuple[tuple[str, ...], Instants]:
    """Return the production types of a long file, and the number of each row's."""
    names = [_spelt(name) for name in table.texts(column)]
    kinds, group = np.unique(np.array(names), return_inverse=True)
    for kind in kinds.tolist():
        _technology(table.path, kind)
    return tuple(kinds.tolist()), group.astype(np.int64)


def _pivot(
    start: Instants, length: Instants, group: Instants, kinds: Sequence[str], amount: Numbers, lines: Instants
) -> _Rows:
    """Return one row for each time (and each repetition of it) with a column for each production type."""
    order = np.lexsort((np.arange(start.size), start, group))
    start, length, group, amount, lines = start[order], length[order], group[order], amount[order], lines[order]
    first = np.concatenate([[True], (np.diff(start) != 0) | (np.diff(group) != 0)])
    rank = np.arange(start.size) - np.flatnonzero(first)[np.cumsum(first) - 1]
    times = np.stack([start, length, rank])
    rows, place = np.unique(times, axis=1, return_inverse=True)
    out = np.full((len(kinds), rows.shape[1]), np.nan)
    out[group, place.ravel()] = amount
    # a repetition says of the other types what the first row says of them
    again = np.flatnonzero(rows[2] > 0)
    where = np.searchsorted(rows[0], rows[0][again])
    out[:, again] = np.where(np.isnan(out[:, again]), out[:, where], out[:, again])
    first_line = np.full(rows.shape[1], np.iinfo(np.int64).max)
    np.minimum.at(first_line, place.ravel(), lines)
    return _Rows(rows[0], rows[1], dict(zip(kinds, out, strict=True)), first_line)


def _intervals(table: TextTable, asked: Asked, group: Instants, has_value: Mask) -> tuple[Instants, Instants, Mask]:
    """Return start and length of each row in ms UTC, and whether its time can be told."""
    import pyarrow.compute as pc

    column = _time_column(table)
    texts = pc.utf8_trim_whitespace(table.table.column(column).combine_chunks())
    parts = pc.extract_regex(texts, _INTERVAL)
    bad = ~np.asarray(pc.is_valid(parts).to_numpy(zero_copy_only=False), dtype=bool)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise InputFileError(
            f"{table.path.name}, line {table.lines[at]}, column {column}: {str(texts[at].as_py())[:60]!r} is no "
            "interval such as 01.01.2020 00:00 - 01.01.2020 00:15. Nothing was read."
        )
    start, end = (_clock(table, column, parts, side) for side in ("1", "2"))
    labels = _labels(table, column, parts, asked)
    out, told = start.copy(), np.ones(start.shape, dtype=bool)
    for label in np.unique(labels).tolist():
        rows = labels == label
        if label in _FIXED_H:
            out[rows] = start[rows] - _FIXED_H[label] * 3_600_000
        else:
            zone = _zone(table, label)
            out[rows], told[rows] = local_ms(start[rows], zone, table.path.name, group[rows], has_value[rows])
    return out, _lengths(end - start), told


def _lengths(length: Instants) -> Instants:
    """Return the lengths; where the clocks change between the two ends, the file's usual one."""
    usual = (length > 0) & (length <= 3_600_000)
    if not usual.any():
        return length
    values, counts = np.unique(length[usual], return_counts=True)
    return np.where(usual, length, values[np.argmax(counts)])


def _time_column(table: TextTable) -> str:
    found = next((name for name in table.names if _TIME.fullmatch(_spelt(name))), None)
    if found is None:
        need(table.path, table.names, ["MTU"], "a generation file of ENTSO-E")
    return str(found)


def _clock(table: TextTable, column: str, parts: Any, side: str) -> Instants:
    import pyarrow as pa
    import pyarrow.compute as pc

    year, month, day, time = (pc.struct_field(parts, f"{name}{side}") for name in "ymdt")
    date = pc.binary_join_element_wise(year, month, day, "-")
    text = pc.binary_join_element_wise(date, time, "T")
    try:
        found = pc.cast(text, pa.timestamp("ms"))
    except pa.ArrowInvalid as error:
        raise InputFileError(
            f"{table.path.name}, column {column}: a date or time is none ({' '.join(str(error).split())[:120]}). "
            "Nothing was read."
        ) from error
    return np.asarray(pc.cast(found, pa.int64()).to_numpy(zero_copy_only=False))


def _labels(table: TextTable, column: str, parts: Any, asked: Asked) -> Any:
    """Return each row's zone: the mark of its start, of its end, of the header, or the one that was named."""
    import pyarrow.compute as pc

    match = _TIME.fullmatch(_spelt(column))
    header = (match[1] if match else None) or ""
    found = np.full(table.table.num_rows, header, dtype=object)
    for side in ("2", "1"):
        marks = np.asarray(pc.struct_field(parts, f"z{side}").to_pylist(), dtype=object)
        use = np.array([bool(mark) for mark in marks])
        found[use] = marks[use]
    blank = found == ""
    if blank.any():
        if asked.timezone is None:
            raise InputFileError(
                f"{table.path.name}: column {column} does not say the zone of its times: name it with --timezone ZONE "
                "(IANA, such as Europe/Brussels or UTC). Nothing was read."
            )
        found[blank] = asked.timezone
    return found.astype(str)


def _zone(table: TextTable, label: str) -> tzinfo:
    if label in _PAIRS:
        return ZoneInfo(_PAIRS[label])
    if label.upper() == label:
        known = (*_PAIRS, *_FIXED_H)
        raise InputFileError(
            f"{table.path.name}: the zone {label!r} of its times is not known; known are {', '.join(known)}."
            f"{did_you_mean(label, known)}"
        )
    return zone_of(label)


FORMAT = GridFormat(
    "entsoe-generation",
    "actual generation per production type of the ENTSO-E Transparency Platform: MW by market time unit",
    "headers and intervals of all three exports as public programs read them; no file of the platform was at hand",
    _matches,
    _read,
)
