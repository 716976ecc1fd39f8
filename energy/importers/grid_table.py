"""The generic table of hours: what each column is stands in its name, unit included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from energy.carbon.hours import UNITS, Flows, GridHours, IntensityOfHours, check_boundary
from energy.errors import InputFileError, UnitError, did_you_mean
from energy.importers.grid_text import (
    Asked,
    GridFormat,
    Instants,
    Numbers,
    TextTable,
    built,
    chosen_zone,
    hours_of,
    known_technologies,
    need,
    read_text_table,
)
from energy.importers.grid_times import Mask, any_ms, utc_ms

_UTC = ("time_utc", "hour_utc", "datetime_utc")
_LOCAL = "time"
_INTENSITY = re.compile(r"([a-z][a-z _]*?) ?\((.+)\)")
_GENERATION = re.compile(r"generation_([a-z][a-z_]*)_(mwh|gwh|kwh)|generation ([a-z][a-z _]*?) ?\((.+)\)")
_WORDS = {
    "intensity": "",
    "direct": "boundary",
    "lifecycle": "boundary",
    "production": "attribution",
    "consumption": "attribution",
    "average": "kind",
    "marginal": "kind",
}
# Pounds of what is not said: marginal series are printed so.
_BARE_POUNDS = ("lb/mwh", "lbs/mwh")
_ENERGY_MWH = {"mwh": 1.0, "gwh": 1000.0, "kwh": 0.001}
_OTHER = {"other": "unknown"}


@dataclass(frozen=True, slots=True)
class _Column:
    """What a column of intensity is."""

    name: str
    boundary: str
    attribution: str
    kind: str
    gases: str
    grams: float


def _matches(path: Path, names: Sequence[str]) -> bool:
    del path
    return any(name in names for name in (*_UTC, _LOCAL)) and any(
        name.casefold().startswith(("intensity", "generation", "marginal", "direct", "lifecycle")) for name in names
    )


def _read(path: Path, asked: Asked) -> GridHours:
    table = read_text_table(path)
    zone = asked.zone or ""
    if "zone" in table.names:
        zones = table.texts("zone")
        zone = chosen_zone(path, zones, asked.zone, "zone")
        table = table.only(np.array([name == zone for name in zones]))
    if not zone:
        raise InputFileError(f"{path.name} has no column zone: name its zone with --zone.")
    start, told = times(table, asked.timezone)
    columns = [_column(path, name, asked) for name in table.names if _is_intensity(name)]
    made = {name: told_of for name in table.names if (told_of := _technology(path, name)) is not None}
    values = {one.name: table.numbers(one.name) * one.grams for one in columns}
    values |= {name: table.numbers(name) * scale for name, (_, scale) in made.items()}
    if not values:
        raise InputFileError(
            f"{path.name} has no column of intensity or generation, such as `intensity direct (gCO2e/kWh)` or "
            f"generation_coal_mwh; it has {', '.join(table.names)}."
        )
    hour_ms = np.full(int(told.sum()), 3_600_000) if made else None
    on, found = hours_of(
        path, start[told], hour_ms, {name: one[told] for name, one in values.items()}, table.lines[told]
    )
    present, absent = known_technologies({technology: found[name] for name, (technology, _) in made.items()})
    intensity = [
        IntensityOfHours(
            one.boundary,
            one.attribution,
            one.kind,
            one.gases,
            "none" if one.gases == "CO2 only" else "unstated",
            UNITS[one.attribution],
            "given",
            path.name,
            found[one.name],
        )
        for one in columns
    ]
    return built(
        path,
        FORMAT.name,
        zone,
        on,
        publisher=f"not stated ({path.name})",
        intensity=intensity,
        generation=present,
        notes=[f"no value in any hour: {', '.join(absent)}"] if absent else (),
        untold=table.lines[~told].tolist(),
    )


def times(table: TextTable, timezone: str | None) -> tuple[Instants, Mask]:
    """Return the start of each row of a table in ms UTC, and which can be told.

    Raises
    ------
    InputFileError
        There is no column of times, or its texts are none.
    """
    name = next((name for name in _UTC if name in table.names), None)
    if name is not None:
        return utc_ms(table, name), np.ones(table.table.num_rows, dtype=bool)
    need(table.path, table.names, [_LOCAL], "a table of hours (or time_utc)")
    return any_ms(table, _LOCAL, timezone)


def _is_intensity(name: str) -> bool:
    match = _INTENSITY.fullmatch(name)
    return name.casefold().startswith("intensity") or (match is not None and "intensity" in match[1].split())


def _column(path: Path, name: str, asked: Asked) -> _Column:
    match = _INTENSITY.fullmatch(name)
    if match is None:
        raise InputFileError(
            f"{path.name}: column {name!r} does not say its unit: write it as `intensity direct (gCO2e/kWh)`."
        )
    said = {"boundary": asked.boundary, "attribution": asked.attribution, "kind": "average"}
    for word in match[1].split():
        if word not in _WORDS:
            raise InputFileError(f"{path.name}: {word!r} in column {name!r} says nothing.{did_you_mean(word, _WORDS)}")
        if _WORDS[word]:
            said[_WORDS[word]] = word
    for what, choices in (("boundary", "direct or lifecycle"), ("attribution", "production or consumption")):
        if said[what] is None:
            raise InputFileError(
                f"{path.name}: column {name!r} does not say its {what}: write {choices} into its name, or give "
                f"--{what}. Nothing is assumed."
            )
    boundary, attribution = check_boundary(str(said["boundary"])), str(said["attribution"])
    if attribution not in UNITS:
        raise InputFileError(f"No attribution {attribution!r}: production or consumption.")
    gases, grams = _grams(path, name, match[2])
    return _Column(name, boundary, attribution, str(said["kind"]), gases, grams)


def _grams(path: Path, name: str, unit: str) -> tuple[str, float]:
    """Return the gases that a unit names, and how many g CO2e/kWh it is."""
    from energy.errors import QuantityTextError
    from energy.units import read

    if unit.casefold() in _BARE_POUNDS:
        return "not stated", _grams(path, name, "lbCO2e/MWh")[1]
    try:
        found = read(f"1 {unit}", "gCO2e/kWh_generation", field=f"the unit of column {name}")
    except (QuantityTextError, UnitError) as error:
        raise InputFileError(f"{path.name}: {error}") from error
    return ("CO2 only" if found.co2_only else "CO2e"), float(found.value.to("gCO2e/kWh_generation").magnitude)


def _technology(path: Path, name: str) -> tuple[str, float] | None:
    """Return technology and scale to MWh of a column of generation; None for another column."""
    if not name.casefold().startswith("generation"):
        return None
    match = _GENERATION.fullmatch(name)
    unit = "" if match is None else (match[2] or match[4]).casefold()
    if match is None or unit not in _ENERGY_MWH:
        raise InputFileError(
            f"{path.name}: column {name!r} is no generation of an hour: write it as generation_coal_mwh or "
            "`generation coal (MWh)`; kWh and GWh are read too."
        )
    technology = (match[1] or match[3]).replace("_", " ")
    return _OTHER.get(technology, technology), _ENERGY_MWH[unit]


def read_flows(path: Path, timezone: str | None = None) -> Flows:
    """Return flows between zones: a table of ``time_utc``, ``from``, ``to``, ``flow_mwh``, a row an hour and link.

    Parameters
    ----------
    path : Path
    timezone : str, optional
        IANA zone of times without one, in a column ``time``.

    Raises
    ------
    InputFileError
        The file cannot be read, lacks a column, or joins a zone with itself.
    """
    import pyarrow.compute as pc

    table = read_text_table(path)
    need(path, table.names, ["from", "to", "flow_mwh"], "a table of flows")
    ends = pc.binary_join_element_wise(*(_names(table, column) for column in ("from", "to")), "\t").dictionary_encode()
    links = tuple((str(a), str(b)) for a, b in (text.split("\t") for text in ends.dictionary.to_pylist()))
    group = np.asarray(ends.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    for number, (a, b) in enumerate(links):
        if not a or not b or a == b:
            line = table.lines[np.flatnonzero(group == number)[0]]
            raise InputFileError(f"{path.name}, line {line}: a flow from {a!r} to {b!r} joins no two zones.")
    start, told = times(table, timezone)
    flow = table.numbers("flow_mwh")
    moments = np.unique(start[told])
    return _flows_on_hours(path, links, group[told], start[told], flow[told], moments)


def _names(table: TextTable, column: str) -> Any:
    import pyarrow.compute as pc

    return pc.fill_null(pc.utf8_trim_whitespace(table.table.column(column).combine_chunks()), "")


def _flows_on_hours(
    path: Path,
    links: tuple[tuple[str, str], ...],
    group: Instants,
    start: Instants,
    flow: Numbers,
    moments: Instants,
) -> Flows:
    """Put each link's rows on hours; a time that a link states twice with two values is unknown for that link."""
    out = np.full((len(links), moments.size), np.nan)
    place = np.searchsorted(moments, start)
    out[group, place] = flow
    clash = out[group, place] != flow
    out[group[clash], place[clash]] = np.nan
    on, found = hours_of(
        path, moments, np.full(moments.shape, 3_600_000), dict(zip(map(str, range(len(links))), out, strict=True))
    )
    return Flows(on.hour_utc, links, np.vstack(list(found.values())), path.name, on.gaps)


FORMAT = GridFormat(
    "grid-table",
    "any table of hours whose column names say what they hold, unit included",
    "this package's own",
    _matches,
    _read,
)
