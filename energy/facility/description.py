"""A site's YAML, once parsed: its design and its weather. Unknown keys are errors with the nearest key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from energy.errors import FacilityError, did_you_mean
from energy.facility.cases import CHAIN, PLANT
from energy.facility.design import Design, ItPower, LiquidDesign
from energy.facility.operators import Published, published
from energy.facility.power_chain import Place, Redundancy, Stage, stage
from energy.facility.refrigerants import Leakage, leakage
from energy.facility.reuse import Reuse
from energy.units import read
from energy.weather.places import weather_of as catalogue_weather
from energy.weather.readers import read_weather
from energy.weather.synthesis import synthesised_year
from energy.weather.year import WeatherYear

Values = Mapping[str, Any]
_KEYS = (
    "name",
    "case",
    "rated_it",
    "it_load",
    "weather",
    "cooling",
    "power_chain",
    "liquid",
    "heat_reuse",
    "refrigerants",
    "published",
)
_NUMBERS = ("latitude_deg", "longitude_deg", "standard_offset_h")
_TEXTS = ("format", "fill", "zone", "convention", "place", "source", "licence", "kind")
_FILE = ("file", "elevation", *_NUMBERS, *_TEXTS)
_MONTHS = ("mean_temp_c", "daily_range_k", "relative_humidity", "pressure_pa")
_NORMALS = ("place", "elevation", "source", "licence", "seed", *_NUMBERS, *_MONTHS)
_STAGE = ("name", "component", "size", "redundancy", "needed", "place")
_LIQUID = ("technology", "it_power", "heat_sink", "chiller")
_LIQUID_VALUES = ("capture_fraction", "supply_c", "rise_k", "pump_fraction", "server_fan_fraction")
_REUSE = ("share", "needed_c", "exchanger_k", "second_law")
_LEAK = ("machine", "refrigerant", "charge", "cooling", "leak_fraction_per_y")


def design_of(values: Any, where: str) -> Design:
    """Return the design that a parsed YAML describes.

    Parameters
    ----------
    values : mapping
        As read from YAML.
    where : str
        Name of the file, for messages.

    Raises
    ------
    FacilityError
        A key is unknown or absent, or a value does not hold.
    UnknownNameError
        A case, component, technology, machine or refrigerant is not known.

    Examples
    --------
    >>> design_of({"name": "a", "case": "hyperscale", "rated_it": "20 MW", "it_load": 0.8}, "a.yaml").rated_it_kw
    20000.0

    """
    top = _group(values, _KEYS, where)
    rated = _needed(top, "rated_it", where)
    load = _number(_needed(top, "it_load", where), f"{where}: it_load")
    if not 0.0 < load <= 1.0:
        raise FacilityError(f"{where}: it_load {load:g} lies outside 0 to 1: it is a fraction of rated_it.")
    cooling = _group(top.get("cooling", {}), (*PLANT, *CHAIN), f"{where}: cooling")
    given = {name: _number(value, f"{where}: cooling: {name}") for name, value in cooling.items()}
    chain = _group(top.get("power_chain", {}), ("stages", *CHAIN), f"{where}: power_chain")
    given |= {name: _number(value, f"{where}: {name}") for name, value in chain.items() if name != "stages"}
    stages = tuple(_stage(one, where) for one in _list(chain, "stages", where)) if "stages" in chain else None
    return Design(
        name=str(_needed(top, "name", where)),
        case_id=str(_needed(top, "case", where)),
        rated_it_kw=_amount(rated, "kW_it", f"{where}: rated_it"),
        it_load=load,
        values=given,
        stages=stages,
        liquid=_liquid(top["liquid"], where) if "liquid" in top else None,
        reuse=_reuse(top["heat_reuse"], where) if "heat_reuse" in top else None,
        leaks=tuple(_leak(one, where) for one in _list(top, "refrigerants", where)) if "refrigerants" in top else (),
        published=_published(top["published"], where) if "published" in top else None,
    )


def weather_of(values: Any, where: str, folder: Path) -> WeatherYear:
    """Return the weather that a parsed YAML names: a place of the catalogue, an hourly file, or monthly normals.

    Parameters
    ----------
    values : mapping
        The site's YAML; its group ``weather`` is read.
    where : str
        Name of the file, for messages.
    folder : Path
        What a relative path of a weather file starts from.

    Raises
    ------
    FacilityError
        There is no group ``weather``, or a key is unknown or absent.
    WeatherError
        The weather cannot be read.

    """
    place = f"{where}: weather"
    group = _needed(_group(values, _KEYS, where), "weather", where)
    if isinstance(group, Mapping) and not {"file", "mean_temp_c"} & set(group):
        return _of_catalogue(group, place)
    if not isinstance(group, Mapping) or ("file" in group) == ("mean_temp_c" in group):
        raise FacilityError(f"{place}: give place, or file, an hourly table, or mean_temp_c and the other normals.")
    if "file" in group:
        return _of_file(_group(group, _FILE, place), place, folder)
    known = _group(group, _NORMALS, place)
    given: dict[str, Any] = {name: _needed(known, name, place) for name in _MONTHS[:3]}
    given |= {name: str(_needed(known, name, place)) for name in ("place", "source")}
    given |= {name: _number(known[name], f"{place}: {name}") for name in _NUMBERS if name in known}
    if "licence" in known:
        given["licence"] = str(known["licence"])
    return synthesised_year(
        **given,
        elevation_m=_amount(_needed(known, "elevation", place), "m", f"{place}: elevation"),
        pressure_pa=known.get("pressure_pa"),
        seed=_whole(_needed(known, "seed", place), f"{place}: seed"),
    )


def _of_file(values: Values, place: str, folder: Path) -> WeatherYear:
    """Return the weather of a file of any known format; what the file says of itself may be left out."""
    path = Path(str(values["file"])).expanduser()
    given: dict[str, Any] = {name: str(values[name]) for name in _TEXTS if values.get(name) is not None}
    given |= {name: _number(values[name], f"{place}: {name}") for name in _NUMBERS if name in values}
    if "elevation" in values:
        given["elevation_m"] = _amount(values["elevation"], "m", f"{place}: elevation")
    return read_weather(path if path.is_absolute() else folder / path, **given)


def _of_catalogue(values: Values, place: str) -> WeatherYear:
    """Return the weather that the package has of a place; another place stands in only within ``within_km``."""
    known = _group(values, ("place", "year", "within_km", "kind"), place)
    year, near, kind = known.get("year"), known.get("within_km"), known.get("kind")
    return catalogue_weather(
        str(_needed(known, "place", place)),
        None if year is None else _whole(year, f"{place}: year"),
        kind=None if kind is None else str(kind),  # type: ignore[arg-type]  # refused there where it is no kind
        within_km=None if near is None else _number(near, f"{place}: within_km"),
    )


def _liquid(values: Any, where: str) -> LiquidDesign:
    place = f"{where}: liquid"
    group = _group(values, (*_LIQUID, *_LIQUID_VALUES), place)
    power = str(_needed(group, "it_power", place))
    if power not in get_args(ItPower):
        known = " or ".join(get_args(ItPower))
        raise FacilityError(f"{place}: it_power is {power!r}: say of which servers rated_it is, {known}.")
    return LiquidDesign(
        technology=str(_needed(group, "technology", place)),
        it_power=power,  # type: ignore[arg-type]  # checked above
        heat_sink=_needed(group, "heat_sink", place),
        chiller=_needed(group, "chiller", place),
        values={name: _number(group[name], f"{place}: {name}") for name in _LIQUID_VALUES if name in group},
    )


def _reuse(values: Any, where: str) -> Reuse:
    place = f"{where}: heat_reuse"
    group = _group(values, _REUSE, place)
    share = _needed(group, "share", place)
    if isinstance(share, list):
        share = tuple(_number(one, f"{place}: share") for one in share)
    second = group.get("second_law")
    return Reuse(
        share=share if isinstance(share, tuple) else _number(share, f"{place}: share"),
        needed_c=_number(_needed(group, "needed_c", place), f"{place}: needed_c"),
        exchanger_k=_number(_needed(group, "exchanger_k", place), f"{place}: exchanger_k"),
        second_law=None if second is None else _number(second, f"{place}: second_law"),
    )


def _stage(values: Any, where: str) -> Stage:
    place = f"{where}: power_chain: stages"
    group = _group(values, _STAGE, place)
    name = str(_needed(group, "name", place))
    where_, redundancy = str(group.get("place", "hall")), str(group.get("redundancy", "N"))
    for value, known in ((where_, get_args(Place)), (redundancy, get_args(Redundancy))):
        if value not in known:
            raise FacilityError(
                f"{place}: {name} has {value!r}: one of {', '.join(known)}.{did_you_mean(value, known)}"
            )
    return stage(
        name,
        str(_needed(group, "component", place)),
        size=_number(_needed(group, "size", place), f"{place}: size"),
        redundancy=redundancy,  # type: ignore[arg-type]  # checked above
        needed=_whole(group.get("needed", 1), f"{place}: needed"),
        place=where_,  # type: ignore[arg-type]  # checked above
    )


def _leak(values: Any, where: str) -> Leakage:
    place = f"{where}: refrigerants"
    group = _group(values, _LEAK, place)
    share = group.get("leak_fraction_per_y")
    return leakage(
        str(_needed(group, "machine", place)),
        str(_needed(group, "refrigerant", place)),
        charge_kg=_amount(group["charge"], "kg", f"{place}: charge") if "charge" in group else None,
        cooling_kw=_amount(group["cooling"], "kW", f"{place}: cooling") if "cooling" in group else None,
        leak_fraction_per_y=None if share is None else _number(share, f"{place}: leak_fraction_per_y"),
    )


def _published(values: Any, where: str) -> Published:
    place = f"{where}: published"
    group = _group(values, ("provider", "region", "year"), place)
    provider, region = str(_needed(group, "provider", place)), str(_needed(group, "region", place))
    return published(provider, region, _whole(_needed(group, "year", place), f"{place}: year"))


def _group(values: Any, known: tuple[str, ...], where: str) -> Values:
    if not isinstance(values, Mapping):
        raise FacilityError(f"{where} must be a group of keys: {', '.join(known)}.")
    for key in values:
        if key not in known:
            raise FacilityError(f"{where}: there is no key {key!r}.{did_you_mean(str(key), known)}")
    return values


def _list(values: Values, name: str, where: str) -> list[Any]:
    found = values[name]
    if not isinstance(found, list):
        raise FacilityError(f"{where}: {name} must be a list, each entry after a dash.")
    return found


def _needed(values: Values, name: str, where: str) -> Any:
    if values.get(name) is None:
        raise FacilityError(f"{where}: {name} is missing. Add it.")
    return values[name]


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FacilityError(f"{where} is {value!r}: give a number in the unit of its name, without text.")
    if not math.isfinite(value):
        raise FacilityError(f"{where} is {value!r}: give a finite number.")
    return float(value)


def _whole(value: Any, where: str) -> int:
    number = _number(value, where)
    if number < 0.0 or number != int(number):
        raise FacilityError(f"{where} is {value!r}: give a whole number from 0 on.")
    return int(number)


def _amount(value: Any, unit: str, where: str) -> float:
    reader: Callable[..., Any] = read
    return float(reader(value, unit, field=where).value.magnitude)
