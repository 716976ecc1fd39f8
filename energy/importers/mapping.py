"""Mappings: small YAML files that say which column of an outside table is which field, in which unit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from energy.errors import EnergyError, MappingError, did_you_mean
from energy.importers.yaml_text import parse_yaml, read_text
from energy.resources import resource

BOUNDARIES = ("chip", "it", "facility", "generation")

FIELDS_OF_FORMAT: dict[str, dict[str, bool]] = {
    # field -> must be mapped
    "jobs": {
        "job_id": True,
        "start_utc": True,
        "end_utc": True,
        "chip_count": True,
        "chip_share": False,
        "submit_utc": False,
        "host": False,
        "user_name": False,
        "project": False,
        "job_type": False,
        "state": False,
        "chip_name": False,
        "node_count": False,
        "energy": False,
    },
    "power": {
        "time_utc": True,
        "host": True,
        "device_index": True,
        "power": False,
        "utilisation": False,
        "sm_active": False,
        "tensor_active": False,
        "dram_active": False,
        "energy": False,
        "counter": False,
    },
    "allocations": {"job_id": True, "host": True, "device_index": True, "start_utc": True, "end_utc": True},
    "hosts": {"host": True, "chip_name": True, "chip_count": True, "site": False, "from_utc": False, "to_utc": False},
}

_NEEDS_BOUNDARY = ("power", "energy", "counter")
_TIMES = ("submit_utc", "start_utc", "end_utc", "time_utc", "from_utc", "to_utc")
_DIMENSION = {
    ("power", "power"): "mW_chip",
    ("power", "energy"): "uJ_chip",
    ("power", "counter"): "uJ_chip",
    ("jobs", "energy"): "kWh_chip",
}
SHARES = ("utilisation", "sm_active", "tensor_active", "dram_active")
_READINGS = ("power", *SHARES, "energy", "counter")


class ColumnRule(BaseModel):
    """How one column is read: its name in the file, its unit, the origin of counted times, words for "no value"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: str
    unit: str | None = None
    origin: str | None = None
    open_end: float | None = None


class Mapping(BaseModel):
    """How one outside table is read.

    Attributes
    ----------
    format : str
        Importer that the mapping is for.
    columns : dict
        Field -> column name or rule.
    dialect : str or None
        Whose short chip names are meant, such as ``alibaba-2023``; names that are ambiguous elsewhere are clear there.
    timezone : str or None
        Zone of times that carry none; ``--timezone`` wins.
    interval : str or None
        Sampling interval of readings such as ``60 s``; taken from the file where it is not given, and said so.
    counter_range : str or None
        A counter of energy counts from 0 to just below this and begins again, such as ``262143.328850 J_chip``; a fall
        of a counter whose range is not given is a restart.
    note : str or None
        Origin of the format.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["jobs", "power", "allocations", "hosts"]
    name: str = "given"
    note: str | None = None
    dialect: str | None = None
    timezone: str | None = None
    interval: str | None = None
    counter_range: str | None = None
    columns: dict[str, ColumnRule]
    sha256: str = ""

    @field_validator("columns", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: {"column": rule} if isinstance(rule, str) else rule for key, rule in value.items()}

    def source_columns(self) -> list[str]:
        """Return the file's columns that the mapping uses, each once."""
        return list(dict.fromkeys(rule.column for rule in self.columns.values()))


def _check(mapping: Mapping, where: str) -> Mapping:
    known = FIELDS_OF_FORMAT[mapping.format]
    for name, rule in mapping.columns.items():
        if name not in known:
            raise MappingError(
                f"{where}: {mapping.format} has no field {name}.{did_you_mean(name, known)} Fields: {', '.join(known)}."
            )
        if name in _NEEDS_BOUNDARY:
            _check_boundary(where, name, rule)
            _check_dimension(where, name, rule, _DIMENSION[mapping.format, name])
        else:
            _check_plain_unit(where, name, rule)
    missing = [name for name, needed in known.items() if needed and name not in mapping.columns]
    if missing:
        raise MappingError(f"{where}: the mapping names no column for {', '.join(missing)}. Add it under columns.")
    if mapping.format == "power" and not any(name in mapping.columns for name in _READINGS):
        raise MappingError(f"{where}: map at least one of {', '.join(_READINGS)} under columns.")
    if mapping.counter_range is not None:
        if "counter" not in mapping.columns:
            raise MappingError(f"{where}: counter_range belongs to a counter: map counter under columns, or remove it.")
        counter_range_microj(mapping, where)
    return mapping


def counter_range_microj(mapping: Mapping, where: str) -> int | None:
    """Return the range of a mapping's counter in whole µJ, or ``None`` where it is not given.

    Raises
    ------
    MappingError
        It is no energy at the board, or is not between 1 J and 9.2e12 J.
    """
    from energy import units

    if mapping.counter_range is None:
        return None
    try:
        value = float(units.read(mapping.counter_range, "uJ_chip", field="counter_range").value.magnitude)
    except EnergyError as error:
        raise MappingError(f"{where}: mapping: {error}") from error
    if not 1e6 <= value < 9.2e18:
        raise MappingError(
            f"{where}: mapping: counter_range must be between 1 J and 9.2e12 J, got {mapping.counter_range}: "
            "correct it."
        )
    return round(value)


def _check_boundary(where: str, name: str, rule: ColumnRule) -> None:
    if rule.unit is None or rule.unit.rpartition("_")[2] not in BOUNDARIES:
        example = {"power": "W_chip", "counter": "mJ_chip"}.get(name, "kWh_chip")
        raise MappingError(
            f"{where}: {name} (column {rule.column}) needs a unit with its measurement boundary, such as {example}; "
            f"boundaries: {', '.join(BOUNDARIES)}."
        )
    if not rule.unit.endswith("_chip"):
        raise MappingError(
            f"{where}: {name} is in {rule.unit}; this importer reads readings of boards (…_chip) only. "
            "Readings of node plugs and meters must not be given to single chips."
        )


def _check_dimension(where: str, name: str, rule: ColumnRule, wanted: str) -> None:
    from energy import units

    try:
        units.scale(str(rule.unit), wanted)
    except EnergyError as error:
        raise MappingError(f"{where}: {name} (column {rule.column}) in {rule.unit}: {error}") from error


def _check_plain_unit(where: str, name: str, rule: ColumnRule) -> None:
    """Refuse units that are absent where two are in use, or that nothing would look at."""
    place = f"{where}: {name} (column {rule.column})"
    if name in SHARES:
        if rule.unit not in ("%", "percent", "1"):
            raise MappingError(f'{place} needs its unit: "%" for 0 to 100, "1" for 0 to 1; got {rule.unit}.')
    elif name == "chip_share":
        try:
            scale = float(str(rule.unit))
        except ValueError:
            scale = 0.0
        if not 0 < scale <= 1:
            raise MappingError(f'{place} needs its unit as a number: "1", or "0.001" for thousandths; got {rule.unit}.')
    elif name not in _TIMES and (rule.unit, rule.origin, rule.open_end) != (None, None, None):
        raise MappingError(f"{place} takes no unit, origin or open_end: remove them.")
    elif rule.unit is None and (rule.origin is not None or rule.open_end is not None):
        raise MappingError(f"{place}: origin and open_end belong to counted times: add `unit: s`, or remove them.")


def _parse(text: str, where: str) -> Mapping:
    data = parse_yaml(text, where, MappingError)
    if not isinstance(data, dict):
        raise MappingError(f"{where}: a mapping is a YAML table with format and columns.")
    try:
        mapping = Mapping.model_validate(data)
    except ValidationError as error:
        first = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"]) or "mapping"
        hint = did_you_mean(str(first["loc"][-1]), Mapping.model_fields) if first["type"] == "extra_forbidden" else ""
        raise MappingError(f"{where}: {key}: {first['msg'][:200]}.{hint}") from error
    mapping = mapping.model_copy(update={"sha256": hashlib.sha256(text.encode()).hexdigest()})
    return _check(mapping, where)


@cache
def built_in_mappings() -> tuple[Mapping, ...]:
    """Return the mappings that come with the package, in the order in which they are tried."""
    folder = resource("datasets/mappings")
    return tuple(_parse(path.read_text(encoding="utf-8"), path.name) for path in sorted(folder.glob("*.yaml")))


def load_mapping(name_or_path: str, format_name: str) -> Mapping:
    """Return a mapping by file, or by the name of a built-in one.

    Raises
    ------
    MappingError
        Names the file, the key and the rule.
    """
    path = Path(name_or_path)
    if path.is_file():
        mapping = _parse(read_text(path, MappingError), path.name)
    else:
        known = {mapping.name: mapping for mapping in built_in_mappings()}
        if name_or_path not in known:
            raise MappingError(
                f"No mapping file {name_or_path}, and no built-in mapping of that name."
                f"{did_you_mean(name_or_path, known)} Built in: {', '.join(known)}."
            )
        mapping = known[name_or_path]
    if mapping.format != format_name:
        raise MappingError(f"Mapping {name_or_path} is for {mapping.format}, not for {format_name}.")
    return mapping


def match_mapping(header: Sequence[str], format_name: str, file_name: str) -> Mapping:
    """Return the built-in mapping whose columns the file has.

    Raises
    ------
    MappingError
        No mapping fits: names what the nearest one lacks, and how to write one.
    """
    candidates = [mapping for mapping in built_in_mappings() if mapping.format == format_name]
    have = set(header)
    best: tuple[int, Mapping] | None = None
    for mapping in candidates:
        lacking = [column for column in mapping.source_columns() if column not in have]
        if not lacking:
            return mapping
        if best is None or len(lacking) < best[0]:
            best = (len(lacking), mapping)
    lack = ""
    if best is not None:
        missing = [column for column in best[1].source_columns() if column not in have]
        lack = f" The nearest built-in one, {best[1].name}, needs {', '.join(missing)} besides."
    raise MappingError(
        f"{file_name}: no built-in mapping fits its columns ({', '.join(header) or 'none'}).{lack} "
        "Write a mapping and pass it with --mapping FILE (docs/importers.md), or see whether "
        "`energy ingest --detect FILE` knows its format."
    )
