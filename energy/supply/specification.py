"""What a supply file may say: load, plants, battery, grid, shifting, generators. Unknown keys are errors."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from energy.errors import EnergyError, SupplyError, did_you_mean
from energy.units import read, scale, unit_of_column, unit_text

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Series:
    """One value for all hours, or a column of a CSV file whose name carries its unit."""

    unit: str
    constant: float | None = None
    file: str = ""
    column: str = ""

    def hours(self, count: int, folder: Path) -> Numbers:
        """Return the value of each hour in ``unit``.

        Raises
        ------
        SupplyError
            The file cannot be read, has another number of rows, an empty cell, or a column of another unit.
        """
        if self.constant is not None:
            return np.full(count, self.constant)
        values = column_of(folder / self.file, self.column, self.unit)
        if values.size != count:
            raise SupplyError(f"{self.file} has {values.size} rows, and there are {count} hours: one row an hour.")
        return values


def column_of(path: Path, column: str, unit: str) -> Numbers:
    """Return a column of a CSV file in a unit.

    Raises
    ------
    SupplyError
        The file cannot be read, lacks the column, the column's name has another unit, or a cell is no number.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            rows = list(reader)
    except OSError as error:
        raise SupplyError(f"{path} cannot be read: {error.strerror}. Check the path.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise SupplyError(f"{path} is no CSV text in UTF-8: {error}.") from None
    names = list(reader.fieldnames or [])
    if column not in names:
        raise SupplyError(f"{path.name} has no column {column}.{did_you_mean(column, names)}")
    said = unit_of_column(column)
    if said is None and unit:
        raise SupplyError(f"{path.name}, column {column}: its name carries no unit, such as one for {unit}.")
    try:
        factor = scale(said, unit) if said is not None else 1.0
        values = np.array([float(row[column] or "nan") for row in rows], dtype=np.float64)
    except EnergyError as error:
        raise SupplyError(f"{path.name}, column {column}: {error}") from None
    except (TypeError, ValueError):
        raise SupplyError(f"{path.name}, column {column}: a cell is no number.") from None
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise SupplyError(f"{path.name}, column {column}, row {first + 1}: no number. Nothing is put in its place.")
    return values * factor


def _number(value: Any, unit: str, least: float, most: float) -> float:
    if isinstance(value, bool) or value is None:
        raise ValueError("a number with its unit is due" if unit else "a number is due")
    try:
        found = float(read(value, unit).value.magnitude)
    except EnergyError as error:
        raise ValueError(str(error).removeprefix("value: ").rstrip(".")) from None
    if not (math.isfinite(found) and least <= found <= most):
        limits = f"{least:g} or more" if math.isinf(most) else f"from {least:g} to {most:g}"
        raise ValueError(f"{found:g} {unit_text(unit)} is out of place: {limits}")
    return found


def _amount(unit: str, least: float = 0.0, most: float = math.inf) -> BeforeValidator:
    return BeforeValidator(lambda value: _number(value, unit, least, most))


def _series(unit: str, least: float = 0.0, most: float = math.inf) -> BeforeValidator:
    def parsed(value: Any) -> Series:
        if not isinstance(value, dict):
            return Series(unit, constant=_number(value, unit, least, most))
        if set(value) != {"file", "column"} or not all(isinstance(one, str) for one in value.values()):
            raise ValueError("give one value with its unit, or file: and column:")
        return Series(unit, file=value["file"], column=value["column"])

    return BeforeValidator(parsed)


Share = Annotated[float, _amount("", 0.0, 1.0)]
Degrees = Annotated[float, _amount("", -360.0, 360.0)]
PowerKw = Annotated[float, _amount("kW_facility")]
Metres = Annotated[float, _amount("m", -500.0, 9000.0)]
Speed = Annotated[float, _amount("m/s")]
Price = Annotated[Series, _series("USD/kWh_facility", -math.inf)]
Intensity = Annotated[Series, _series("kgCO2e/kWh_facility")]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class WeatherFile(_Section):
    """A file that ``energy.weather.readers`` reads, with what it does not say itself; or a year that pvlib ships."""

    file: str | None = None
    typical: str | None = None
    place: str | None = None
    latitude_deg: Degrees | None = None
    longitude_deg: Degrees | None = None
    elevation: Metres | None = None
    standard_offset_h: Annotated[float, _amount("", -14.0, 14.0)] | None = None
    convention: Literal["beginning", "ending", "instant"] | None = None
    kind: Literal["historical", "typical", "synthesised"] | None = None
    clear_sky: bool = False


class Photovoltaics(_Section):
    """One array."""

    capacity: Annotated[float, _amount("kW")]
    mounting: Literal["open rack", "roof", "single axis"]
    tilt_deg: Degrees
    azimuth_deg: Degrees
    dc_ac_ratio: Annotated[float, _amount("")] | None = None
    inverter_efficiency: Share | None = None
    losses: Share | None = None
    module: Literal["standard", "premium", "thin film"] | None = None
    albedo: Share | None = None


class Wind(_Section):
    """Turbines: a profile of shares of the capacity, or a cubic curve over the weather's wind."""

    capacity: PowerKw
    profile: Annotated[Series, _series("", 0.0, 1.0)] | None = None
    measured_height: Metres | None = None
    hub_height: Metres | None = None
    shear_exponent: Annotated[float, _amount("", 0.0, 1.0)] | None = None
    cut_in: Speed | None = None
    rated: Speed | None = None
    cut_out: Speed | None = None
    losses: Share = 0.0


class BatteryPart(_Section):
    """One battery; powers at the AC side."""

    capacity: Annotated[float, _amount("kWh")]
    charge_power: PowerKw
    discharge_power: PowerKw
    charge_efficiency: Share
    discharge_efficiency: Share
    c_rate_per_h: Annotated[float, _amount("")] | None = None
    minimum_state: Share = 0.0
    maximum_state: Share = 1.0
    initial_state: Share | None = None
    self_discharge_per_h: Share = 0.0
    calendar_fade_per_year: Share | None = None
    cycle_fade_per_full_cycle: Share | None = None


class Grid(_Section):
    """What energy of the grid costs and emits by hour."""

    price: Price | None = None
    sold_price: Price | None = None
    intensity: Intensity | None = None
    marginal_intensity: Annotated[Series, _series("kgCO2e/kWh_facility", -math.inf)] | None = None
    carbon_free_share: Annotated[Series, _series("", 0.0, 1.0)] | None = None
    limit: PowerKw | None = None
    sold_limit: PowerKw | None = None


class DispatchPart(_Section):
    """What the optimum makes least, and whether the battery may charge from the grid."""

    goal: Literal["cost", "carbon", "matching"]
    charge_from_grid: bool = False


class Shifting(_Section):
    """Load that may wait."""

    flexible_share: Share
    latest_h: Annotated[int, _amount("", 0.0, 8784.0)]
    capacity: Annotated[float, _amount("kW_it")]
    pue: Annotated[float, _amount("kWh_facility/kWh_it", 1.0)]
    by: Literal["price", "intensity", "marginal_intensity"]


class Generators(_Section):
    """Emergency generators: fuel as delivered, or their runs and two numbers of the maker's sheet."""

    fuel: Annotated[float, _amount("L")] | None = None
    rated_power: PowerKw | None = None
    output: PowerKw | None = None
    duration: Annotated[float, _amount("h")] | None = None
    standing_fuel: Annotated[float, _amount("L/h/kW_facility")] | None = None
    fuel_per_energy: Annotated[float, _amount("L/kWh_facility")] | None = None
    fuel_name: str
    gwp_set: Literal["AR4", "AR5", "AR6"]


class SupplyFile(_Section):
    """A supply file as a whole."""

    load: Annotated[Series, _series("kW_facility")]
    name: str = ""
    weather: WeatherFile | None = None
    photovoltaics: Photovoltaics | None = None
    wind: Wind | None = None
    battery: BatteryPart | None = None
    grid: Grid | None = None
    dispatch: DispatchPart | None = None
    shifting: Shifting | None = None
    generators: Generators | None = None


def supply_file(data: Any, file_name: str) -> SupplyFile:
    """Return a checked supply file from what its YAML holds.

    Parameters
    ----------
    data : mapping
        As YAML reads it.
    file_name : str
        For messages.

    Raises
    ------
    SupplyError
        A key is unknown, missing or empty, or a value cannot be read; one line with the place and the remedy.

    Examples
    --------
    >>> supply_file({"load": "1 MW"}, "site.yaml").load.constant
    1000.0

    """
    if not isinstance(data, Mapping):
        raise SupplyError(f"{file_name}: keys and values are due, such as load: 1 MW.")
    _refuse_keys(data, file_name)
    try:
        return SupplyFile.model_validate(dict(data))
    except ValidationError as error:
        first = min(error.errors(), key=lambda item: item["type"] == "missing")
        place = ".".join(str(part) for part in first["loc"][:2])
        message = "is missing: add it" if first["type"] == "missing" else first["msg"].removeprefix("Value error, ")
        if first["type"] == "literal_error":
            message += f", got {first['input']!r}"
        joint = " " if first["type"] == "missing" else ": "
        raise SupplyError(" ".join(f"{file_name}: {place}{joint}{message}.".split())[:400]) from None


def _refuse_keys(data: Mapping[Any, Any], file_name: str) -> None:
    sections = dict(_sections())
    for key, part in data.items():
        if key not in SupplyFile.model_fields:
            raise SupplyError(f"{file_name}: {key}: no such key.{did_you_mean(str(key), SupplyFile.model_fields)}")
        if part is None:
            raise SupplyError(f"{file_name}: {key} is empty: give it a value, or leave it out.")
        if key in sections and not isinstance(part, Mapping):
            raise SupplyError(f"{file_name}: {key}: give keys under it, such as {next(iter(sections[key]))}.")
        for inner, value in part.items() if key in sections else ():
            if inner not in sections[key]:
                raise SupplyError(f"{file_name}: {key}.{inner}: no such key.{did_you_mean(str(inner), sections[key])}")
            if value is None:
                raise SupplyError(f"{file_name}: {key}.{inner} is empty: give it a value, or leave it out.")


def _sections() -> Iterator[tuple[str, list[str]]]:
    for name, field in SupplyFile.model_fields.items():
        kind = field.annotation
        members: tuple[Any, ...] = get_args(kind) if isinstance(kind, UnionType) else ()
        for one in members:
            if isinstance(one, type) and issubclass(one, _Section):
                yield name, list(one.model_fields)
