"""Hourly grid data from files: which format a file is of, its hours, and hours as Parquet for later use."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from energy.carbon.hours import UNITS, GridHours, HourGaps, IntensityOfHours
from energy.errors import InputFileError, UnknownNameError, did_you_mean
from energy.importers import (
    grid_eia930,
    grid_electricity_maps,
    grid_entsoe,
    grid_neso,
    grid_table,
    grid_watttime,
)
from energy.importers.grid_text import Asked, GridFormat
from energy.importers.tabular import header_of, is_parquet
from energy.importers.text_input import check_readable

_KEY = b"energy.grid_hours"
_FORMATS = (
    grid_electricity_maps.FORMAT,
    grid_entsoe.FORMAT,
    grid_eia930.FORMAT,
    grid_neso.FORMAT,
    grid_watttime.FORMAT,
    grid_table.FORMAT,
)
OWN = "grid-hours"


def grid_formats() -> Mapping[str, GridFormat]:
    """Return the formats of hourly grid data by name.

    Examples
    --------
    >>> list(grid_formats())[:3]
    ['electricity-maps', 'entsoe-generation', 'eia930-balance']

    """
    return {one.name: one for one in _FORMATS}


def grid_hours(
    path: Path,
    file_format: str | None = None,
    zone: str | None = None,
    *,
    timezone: str | None = None,
    boundary: str | None = None,
    attribution: str | None = None,
) -> GridHours:
    """Return the hours of a file of grid data.

    Parameters
    ----------
    path : Path
        CSV (plain or packed), JSON of WattTime, or Parquet that :func:`write_hours` wrote.
    file_format : str, optional
        A name of :func:`grid_formats`; by default told by the header.
    zone : str, optional
        Of a file with several; names the zone of one that has none.
    timezone : str, optional
        IANA zone of times that carry none.
    boundary, attribution : str, optional
        Of a generic table whose header does not say them.

    Returns
    -------
    GridHours
        With gaps counted, never filled.

    Raises
    ------
    InputFileError
        The file is of no known format, or cannot be read.
    UnknownNameError
        There is no format of that name.

    """
    check_readable(path)
    if file_format in (None, OWN) and is_parquet(path):
        return _read_hours(path)
    asked = Asked(zone, timezone, boundary, attribution)
    return _format_of(path, file_format).read(path, asked)


def format_name(path: Path) -> str | None:
    """Return the grid format that a file is of by its header; None where it is none.

    Raises
    ------
    InputFileError
        The file cannot be read.
    """
    check_readable(path)
    if is_parquet(path):
        return OWN if _is_own(path) else None
    try:
        return _format_of(path, None).name
    except InputFileError:
        return None


def _is_own(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        return _KEY in (parquet.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False


def _format_of(path: Path, file_format: str | None) -> GridFormat:
    known = grid_formats()
    if file_format is not None:
        if file_format not in known:
            raise UnknownNameError(
                f"No grid format {file_format!r}: {', '.join(known)}.{did_you_mean(file_format, known)}"
            )
        return known[file_format]
    if grid_watttime.FORMAT.matches(path, ()):
        return grid_watttime.FORMAT
    names = header_of(path)
    found = [one for one in _FORMATS if one is not grid_watttime.FORMAT and one.matches(path, names)]
    if found:
        return found[0]
    raise InputFileError(
        f"{path.name} is of no known grid format ({', '.join(known)}); its header is {', '.join(names)[:200]}. "
        "Name the format with --format, or the columns as docs/carbon.md says."
    )


def write_hours(hours: GridHours, path: Path) -> None:
    """Write hours as Parquet: a column an intensity and a technology, with unit and basis in their names and metadata.

    Raises
    ------
    InputFileError
        The file exists already.
    """
    import pyarrow as pa
    import pyarrow.parquet as parquet

    if path.exists():
        raise InputFileError(f"{path} exists: name another file, or remove it first.")
    columns = {"hour_utc": pa.array(hours.hour_utc.astype("datetime64[ms]"), pa.timestamp("ms", "UTC"))}
    columns |= {column_of(one): _nullable(one.values_gco2e_per_kwh) for one in hours.intensity}
    columns |= {
        f"generation_{name.replace(' ', '_')}_mwh": _nullable(one) for name, one in hours.generation_mwh.items()
    }
    about = {
        "zone": hours.zone,
        "publisher": hours.publisher,
        "source_file": hours.source_file,
        "file_format": hours.file_format,
        "status": hours.status,
        "gaps": asdict(hours.gaps),
        "estimated_fraction": hours.estimated_fraction,
        "notes": hours.notes,
        "intensity": [
            {name: getattr(one, name) for name in _SERIES} | {"column": column_of(one)} for one in hours.intensity
        ],
        "generation": {name: f"generation_{name.replace(' ', '_')}_mwh" for name in hours.generation_mwh},
    }
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about).encode()})
    staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        parquet.write_table(table, staged)
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


_SERIES = ("boundary", "attribution", "kind", "gases", "gwp_set", "status", "publisher")


def column_of(one: IntensityOfHours) -> str:
    """Return the name of a column of intensity, unit included."""
    kind = "marginal_" if one.kind == "marginal" else ""
    per = one.unit.partition("/")[2].casefold()
    return f"intensity_{kind}{one.boundary}_{one.attribution}_gco2e_per_{per}"


def _nullable(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> object:
    import pyarrow as pa

    return pa.array(values, pa.float64(), from_pandas=True)


def _read_hours(path: Path) -> GridHours:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputFileError(f"{path.name}: no whole Parquet file ({' '.join(str(error).split())[:160]}).") from error
    text = (table.schema.metadata or {}).get(_KEY)
    if text is None:
        raise InputFileError(
            f"{path.name} is a Parquet file that `energy grid FILE --parquet OUT` did not write: export it as CSV with "
            "columns named as in docs/carbon.md."
        )
    about = json.loads(text)

    def values(column: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        found = np.array(table.column(column).to_numpy(), dtype=np.float64)
        found.setflags(write=False)
        return found

    hour = (
        np.array(table.column("hour_utc").cast(pa.int64()).to_numpy()).astype("datetime64[ms]").astype("datetime64[h]")
    )
    return GridHours(
        zone=about["zone"],
        hour_utc=hour,
        intensity=tuple(
            IntensityOfHours(
                **{name: one[name] for name in _SERIES},
                unit=UNITS[one["attribution"]],
                values_gco2e_per_kwh=values(one["column"]),
            )
            for one in about["intensity"]
        ),
        generation_mwh={name: values(column) for name, column in about["generation"].items()},
        publisher=about["publisher"],
        source_file=about["source_file"],
        file_format=about["file_format"],
        status=about["status"],
        gaps=HourGaps(**about["gaps"]),
        estimated_fraction=about["estimated_fraction"],
        notes=tuple(about["notes"]),
        first_line=np.arange(1, hour.size + 1),
    )
