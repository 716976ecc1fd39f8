"""Columns of free tables: which quantity a heading names, and the factor from its unit to ours."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from energy.errors import EnergyError, WeatherError, did_you_mean

Numbers = NDArray[np.float64]

#: field of a year: (its unit, other names of it)
QUANTITIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "dry_bulb_c": (
        "degC",
        (
            *("dry_bulb", "dry_bulb_temperature", "temp_air", "air_temperature", "temperature_2m", "temperature"),
            *("temp", "t2m", "ambient_temperature", "outdoor_temperature", "outside_temperature"),
        ),
    ),
    "dew_point_c": (
        "degC",
        ("dew_point", "dewpoint", "temp_dew", "dew_point_temperature", "dew_point_2m", "dewpoint_2m"),
    ),
    "relative_humidity": ("", ("relative_humidity", "rh", "rhum", "relative_humidity_2m", "relativehumidity_2m")),
    "pressure_pa": ("Pa", ("pressure", "surface_pressure", "station_pressure", "air_pressure")),
    "ghi_w_per_m2": ("W/m**2", ("ghi", "global_horizontal_irradiance", "shortwave_radiation")),
    "dni_w_per_m2": ("W/m**2", ("dni", "direct_normal_irradiance")),
    "dhi_w_per_m2": ("W/m**2", ("dhi", "diffuse_horizontal_irradiance", "diffuse_radiation")),
    "wind_speed_m_per_s": ("m/s", ("wind_speed", "windspeed", "wind_speed_10m", "windspeed_10m", "wspd")),
    "cloud_cover": ("", ("cloud_cover", "cloudcover", "total_cloud_cover", "sky_cover")),
}
_FIELD_OF = {name: field for field, (_, names) in QUANTITIES.items() for name in names}
_IN_BRACKETS = re.compile(r"^(.*?)\s*[(\[]([^()\[\]]*)[)\]]$")
_WORDS = re.compile(r"[\s_\-]+")
# endings of names of columns, and what people and programs write, in the spelling of units.txt or of _FACTORS
_SPELT = {
    **dict.fromkeys(("c", "°c", "degc", "deg c", "celsius", "deg_c"), "degC"),
    **dict.fromkeys(("f", "°f", "degf", "deg f", "fahrenheit", "deg_f"), "degF"),
    **dict.fromkeys(("k", "kelvin"), "K"),
    **dict.fromkeys(("pct", "percent", "%"), "%"),
    **dict.fromkeys(("fraction", "1", "-", "0-1"), ""),
    **dict.fromkeys(("pa",), "Pa"),
    **dict.fromkeys(("hpa", "mbar", "mb", "millibar"), "hPa"),
    **dict.fromkeys(("kpa",), "kPa"),
    **dict.fromkeys(("w_per_m2", "w/m2", "w/m²", "w/m^2", "w m-2", "w/m**2"), "W/m**2"),
    **dict.fromkeys(("kw_per_m2", "kw/m2", "kw/m²", "kw/m^2"), "kW/m**2"),
    **dict.fromkeys(("wh_per_m2", "wh/m2", "wh/m²", "wh/m^2"), "Wh/m**2"),
    **dict.fromkeys(("kj_per_m2", "kj/m2", "kj/m²"), "kJ/m**2"),
    **dict.fromkeys(("m_per_s", "m/s", "ms", "mps", "m s-1"), "m/s"),
    **dict.fromkeys(("km_per_h", "km/h", "kmh", "kph"), "km/h"),
    **dict.fromkeys(("mph", "mp/h", "mi/h"), "mph"),
    **dict.fromkeys(("kn", "kt", "knots"), "kn"),
    **dict.fromkeys(("tenths",), "tenths"),
    **dict.fromkeys(("okta", "oktas", "eighths"), "okta"),
}
# what units.txt does not carry: (unit, unit of the field) -> factor, added after it. Sums of an hour are means of it.
_FACTORS: dict[tuple[str, str], tuple[float, float]] = {
    ("degF", "degC"): (5.0 / 9.0, -160.0 / 9.0),
    ("K", "degC"): (1.0, -273.15),
    ("hPa", "Pa"): (100.0, 0.0),
    ("mph", "m/s"): (0.44704, 0.0),
    ("kn", "m/s"): (1852.0 / 3600.0, 0.0),
    ("tenths", ""): (0.1, 0.0),
    ("okta", ""): (0.125, 0.0),
    ("Wh/m**2", "W/m**2"): (1.0, 0.0),
    ("kJ/m**2", "W/m**2"): (1000.0 / 3600.0, 0.0),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A column that holds a quantity: its field, the factor to the field's unit, and what is added after it."""

    column: str
    field: str
    factor: float
    added: float

    def converted(self, values: Numbers) -> Numbers:
        """Return values in the unit of the field."""
        return values if (self.factor, self.added) == (1.0, 0.0) else values * self.factor + self.added


def folded(name: str) -> str:
    """Return a name in lower case with underscores.

    Examples
    --------
    >>> folded(" Dry-Bulb  temperature")
    'dry_bulb_temperature'

    """
    return _WORDS.sub("_", name.strip().casefold())


def heading(column: str, file: str, field: str = "") -> Heading | None:
    """Return which quantity a heading names, and how its values are converted; None where it names none.

    Parameters
    ----------
    column : str
        ``dry_bulb_c``, ``Dry bulb (°F)``, ``wind_speed_10m [km/h]``.
    file : str
        Of the table, for messages.
    field : str, optional
        The quantity, where the name does not say it; the unit is still the heading's.

    Raises
    ------
    WeatherError
        The heading names a quantity and no unit, or one of another kind.

    Examples
    --------
    >>> heading("Temp (°F)", "t.csv").field, heading("wind_speed_m_per_s", "t.csv").factor, heading("Remarks", "t.csv")
    ('dry_bulb_c', 1.0, None)

    """
    bracketed = _IN_BRACKETS.match(column.strip())
    if bracketed:
        name, written = folded(bracketed[1]), bracketed[2].strip().casefold()
        known = field or _FIELD_OF.get(name, "")
        return _heading(column, file, known, written) if known else None
    name = folded(column)
    if field:
        ending = max((one for one in _SPELT if name.endswith(f"_{one}")), key=len, default="")
        return _heading(column, file, field, ending)
    for cut in sorted((at for at, sign in enumerate(name) if sign == "_"), reverse=False):
        known, ending = _FIELD_OF.get(name[:cut], ""), name[cut + 1 :]
        if known and ending in _SPELT:
            return _heading(column, file, known, ending)
    known = _FIELD_OF.get(name, "")
    if not known:
        return None
    # a plain name is a fraction where the field is one
    return _heading(column, file, known, "fraction" if QUANTITIES[known][0] == "" else "")


def _heading(column: str, file: str, field: str, written: str) -> Heading:
    wanted = QUANTITIES[field][0]
    if written == "":
        raise WeatherError(
            f"{file}: the column {column!r} names no unit. Write it behind the name, as {field}, or in brackets."
        )
    unit = _SPELT.get(written, written)
    if unit == wanted:
        return Heading(column, field, 1.0, 0.0)
    if (unit, wanted) in _FACTORS:
        return Heading(column, field, *_FACTORS[unit, wanted])
    from energy.units import scale

    try:
        return Heading(column, field, float(scale(unit, wanted)), 0.0)
    except EnergyError:
        raise WeatherError(
            f"{file}: the column {column!r} has the unit {written!r}, which {field} does not take."
            f"{did_you_mean(written, _SPELT)}"
        ) from None


def headings(columns: list[str], file: str, named: dict[str, str]) -> list[Heading]:
    """Return the columns that hold weather.

    Parameters
    ----------
    columns : list of str
        Headings of the file.
    file : str
        For messages.
    named : dict
        Heading to field, where a heading does not say what it is.

    Raises
    ------
    WeatherError
        A named heading or field does not exist, a unit is absent, or two columns are the same quantity.

    """
    for column, field in named.items():
        if column not in columns:
            raise WeatherError(f"{file} has no column {column!r}.{did_you_mean(column, columns)}")
        if field not in QUANTITIES:
            raise WeatherError(f"{field!r} is no quantity of weather.{did_you_mean(field, QUANTITIES)}")
    taken = set(named.values())
    found = []
    for column in columns:
        one = heading(column, file, named.get(column, ""))
        if one is not None and (column in named or one.field not in taken):
            found.append(one)
    for one in found:
        twins = [other.column for other in found if other.field == one.field]
        if len(twins) > 1:
            raise WeatherError(
                f"{file}: {', '.join(twins)} are all {one.field}. Say which to take, as "
                f"columns={{{twins[0]!r}: {one.field!r}}}."
            )
    return found
