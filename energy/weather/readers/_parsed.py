"""What a format's reader hands over, and the one way from there to a year: gaps, doubles and ranges are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from energy.errors import WeatherError, did_you_mean
from energy.weather import psychrometrics as air
from energy.weather.year import HOUR, Convention, Instants, Kind, WeatherYear, weather_year

Numbers = NDArray[np.float64]
Fill = Literal["refuse", "leave", "interpolate"]

#: the longest gap that is interpolated, h
LONGEST_GAP_H = 6
MOST_HUMID = 1.1  # relative humidity that formats allow; above 1 it is a reading of saturated air
#: what hourly values of outside air can be: lowest, highest, unit
RANGES: dict[str, tuple[float, float, str]] = {
    "dry_bulb_c": (-90.0, 65.0, "C"),
    "dew_point_c": (-99.0, 45.0, "C"),
    "relative_humidity": (0.0, MOST_HUMID, ""),
    "pressure_pa": (40_000.1, 114_999.9, "Pa"),
    "ghi_w_per_m2": (0.0, 1500.0, "W/m2"),
    "dni_w_per_m2": (0.0, 1500.0, "W/m2"),
    "dhi_w_per_m2": (0.0, 1500.0, "W/m2"),
    "wind_speed_m_per_s": (0.0, 80.0, "m/s"),
    "cloud_cover": (0.0, 1.0, ""),
}
_REMEDY = 'Correct the file, or ask for fill="interpolate" (gaps up to {longest} h) or fill="leave" (they stay null).'


@dataclass(slots=True)
class Parsed:
    """A file as it is: labels in UTC, columns in the units of their names, NaN where a cell is empty or a code.

    ``about`` are further fields of :class:`~energy.weather.year.WeatherYear`: place, elevation, source and so on;
    ``open_ended`` are columns whose last hour no file of the format has.
    """

    name: str
    times: Instants
    columns: dict[str, Numbers]
    kind: Kind
    convention: Convention
    about: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    open_ended: tuple[str, ...] = ()


def finished(parsed: Parsed, fill: Fill = "refuse", about: Mapping[str, Any] | None = None) -> WeatherYear:
    """Return the year of a parsed file.

    Parameters
    ----------
    parsed : Parsed
    fill : refuse, leave or interpolate
        What to do with missing hours, missing values and values that air does not have.
    about : mapping, optional
        Fields that the caller gives in place of those of the file.

    Raises
    ------
    WeatherError
        Hours do not follow each other, are double, lack or have impossible values, and nothing else was asked for.

    """
    if fill not in get_args(Fill):
        raise WeatherError(
            f"fill={fill!r} is not known: {', '.join(get_args(Fill))}.{did_you_mean(str(fill), get_args(Fill))}"
        )
    given = parsed.about | {name: value for name, value in (about or {}).items() if value is not None}
    for name, words in (("place", "the name of the place"), ("elevation_m", "its metres above sea level")):
        if given.get(name) is None:
            raise WeatherError(f"{parsed.name} does not say {name}: give {name}, {words}.")
    notes = [*parsed.notes, *given.pop("notes", ())]
    times, found = _on_the_hour(parsed, fill, notes)
    found = _in_range(parsed.name, times, _without_empty(parsed.name, found, notes), fill, notes)
    _humidity_from_dew_point(found, notes)
    columns: dict[str, Any] = {**_filled(parsed, times, found, fill, notes)}
    if columns["relative_humidity"] is None and columns["dew_point_c"] is None:
        columns["relative_humidity"] = np.full(times.size, np.nan)
        notes.append("no humidity in the file: it is null, and cooling that depends on it cannot be computed")
    return weather_year(
        times=times,
        kind=given.pop("kind", parsed.kind),
        convention=given.pop("convention", parsed.convention),
        notes=tuple(notes),
        **given,
        **columns,
    )


def _rows(count: int) -> str:
    return f"{count} h" if count != 1 else "1 h"


def _on_the_hour(parsed: Parsed, fill: Fill, notes: list[str]) -> tuple[Instants, dict[str, Numbers]]:
    """Return labels an hour apart with their columns: doubles and gaps are refused, or named in the notes."""
    times, columns = parsed.times, parsed.columns
    if times.size == 0:
        raise WeatherError(f"{parsed.name} has no hours of weather.")
    steps = np.diff(times)
    if (steps == np.timedelta64(0, "s")).any():
        times, columns = _single(parsed, fill, notes)
        steps = np.diff(times)
    if (steps < np.timedelta64(0, "s")).any():
        place = int(np.argmax(steps < np.timedelta64(0, "s")))
        raise WeatherError(
            f"{parsed.name}: after {times[place]}Z comes {times[place + 1]}Z. Sort the rows, and remove doubles."
        )
    if steps.size and (steps % HOUR != np.timedelta64(0, "s")).any():
        smallest = int(steps.min().astype(np.int64)) // 60
        raise WeatherError(
            f"{parsed.name} has steps of {smallest} min and not of an hour: give hourly values, means over each hour."
        )
    hours = ((times - times[0]) // HOUR).astype(np.int64)
    count = int(hours[-1]) + 1
    lacking = count - hours.size
    if not lacking:
        return times, columns
    after = times[int(np.argmax(steps > HOUR))]
    if fill == "refuse" or lacking > count / 2:
        remedy = _REMEDY.format(longest=LONGEST_GAP_H) if fill == "refuse" else "Give the hours of one stretch of time."
        raise WeatherError(f"{parsed.name} lacks {_rows(lacking)} of {count}, the first after {after}Z. {remedy}")
    notes.append(f"{_rows(lacking)} of {count} are absent from the file, the first after {after}Z")
    whole = {name: np.full(count, np.nan) for name in columns}
    for name, values in columns.items():
        whole[name][hours] = values
    return times[0] + np.arange(count) * HOUR, whole


def _single(parsed: Parsed, fill: Fill, notes: list[str]) -> tuple[Instants, dict[str, Numbers]]:
    """Leave out hours that stand twice with the same values, where that was asked for."""
    again = np.flatnonzero(np.diff(parsed.times) == np.timedelta64(0, "s")) + 1
    same = all(np.array_equal(values[again], values[again - 1], equal_nan=True) for values in parsed.columns.values())
    first = parsed.times[again[0]]
    if fill == "refuse" or not same:
        values = "the same values" if same else "other values"
        remedy = 'Remove one of each pair, or ask for fill="leave".' if same else "Remove the wrong one of each pair."
        raise WeatherError(
            f"{parsed.name}: {first}Z and {again.size - 1} more hours are double, with {values}. {remedy}"
        )
    notes.append(f"{_rows(again.size)} that stand twice with the same values are left out once, first {first}Z")
    kept = np.ones(parsed.times.size, dtype=bool)
    kept[again] = False
    return parsed.times[kept], {name: values[kept] for name, values in parsed.columns.items()}


def _without_empty(name: str, columns: dict[str, Numbers], notes: list[str]) -> dict[str, Numbers]:
    """Leave out columns that hold nothing at all; the dry bulb has to hold something."""
    empty = [column for column, values in columns.items() if np.isnan(values).all()]
    if "dry_bulb_c" in empty or "dry_bulb_c" not in columns:
        raise WeatherError(f"{name} has no dry bulb in any hour: a year of weather needs it.")
    if empty:
        notes.append(f"not in the file, or in no hour of it: {', '.join(empty)}")
    return {column: values for column, values in columns.items() if column not in empty}


def _in_range(
    name: str, times: Instants, columns: dict[str, Numbers], fill: Fill, notes: list[str]
) -> dict[str, Numbers]:
    """Refuse what no air has, or read it as missing where that was asked for; more than saturated is saturated."""
    found = dict(columns)
    for column, values in columns.items():
        low, high, unit = RANGES[column]
        wrong = (values < low) | (values > high)
        if not wrong.any():
            continue
        place = int(np.argmax(wrong))
        limits = f"{low:g} to {high:g} {unit}".rstrip()
        first = f"{values[place]:g} at {times[place]}Z"
        said = f"{column} of {_rows(int(wrong.sum()))} lies outside {limits}, the first {first}"
        if fill == "refuse":
            raise WeatherError(f"{name}: {said}. Check the unit. {_REMEDY.format(longest=LONGEST_GAP_H)}")
        notes.append(f"{said}: read as missing")
        found[column] = np.where(wrong, np.nan, values)
    humidity = found.get("relative_humidity")
    if humidity is not None and (humidity > 1.0).any():
        notes.append(f"relative humidity above 100 % of {_rows(int((humidity > 1.0).sum()))} is read as 100 %")
        found["relative_humidity"] = np.where(humidity > 1.0, 1.0, humidity)
    return found


def _humidity_from_dew_point(columns: dict[str, Numbers], notes: list[str]) -> None:
    """Complete missing relative humidity from the dew point of the same hour."""
    if "relative_humidity" not in columns or "dew_point_c" not in columns:
        return
    lacks = (
        np.isnan(columns["relative_humidity"]) & ~np.isnan(columns["dew_point_c"]) & ~np.isnan(columns["dry_bulb_c"])
    )
    if lacks.any():
        dew, dry = (air.saturation_pressure_pa(columns[one][lacks]) for one in ("dew_point_c", "dry_bulb_c"))
        columns["relative_humidity"][lacks] = np.minimum(dew / dry, 1.0)
        notes.append(f"relative humidity of {_rows(int(lacks.sum()))} is that of the dew point")


def _filled(
    parsed: Parsed, times: Instants, columns: dict[str, Numbers], fill: Fill, notes: list[str]
) -> dict[str, Numbers | None]:
    """Return all columns of a year, gaps refused, left or interpolated."""
    kept: dict[str, Numbers | None] = dict.fromkeys(RANGES)
    if "relative_humidity" in columns:
        columns = {column: values for column, values in columns.items() if column != "dew_point_c"}
    for column, values in columns.items():
        kept[column] = values
        lacks = np.isnan(values)
        if column in parsed.open_ended and not lacks[-2:-1].any():
            lacks[-1] = False
        if not lacks.any():
            continue
        if fill == "refuse":
            first = times[int(np.argmax(lacks))]
            raise WeatherError(
                f"{parsed.name}: {column} of {_rows(int(lacks.sum()))} is missing, the first at {first}Z. "
                + _REMEDY.format(longest=LONGEST_GAP_H)
            )
        words = "null"
        if fill == "interpolate":
            kept[column], words = _interpolated(parsed.name, times, column, values, lacks)
        notes.append(f"{column} of {_rows(int(lacks.sum()))} is missing: {words}")
    return kept


def _interpolated(
    name: str, times: Instants, column: str, values: Numbers, lacks: NDArray[np.bool_]
) -> tuple[Numbers, str]:
    """Return values with short gaps filled by a straight line; longer gaps, and gaps at an end, are refused."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lacks, [False]]).astype(np.int8)))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    at_end = (starts == 0) | (starts + lengths == values.size)
    bad = (lengths > LONGEST_GAP_H) | at_end
    if bad.any():
        place = int(np.argmax(bad))
        raise WeatherError(
            f"{name}: {column} is missing for {_rows(int(lengths[place]))} from {times[starts[place]]}Z on: only gaps "
            f'up to {LONGEST_GAP_H} h within the year are interpolated. Correct the file, or ask for fill="leave".'
        )
    hours, known = np.arange(values.size), ~np.isnan(values)
    result = values.copy()
    result[lacks] = np.interp(hours[lacks], hours[known], values[known])
    return result, f"interpolated, the longest gap {_rows(int(lengths.max()))}"
