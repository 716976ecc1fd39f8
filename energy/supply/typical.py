"""Typical years that ship with pvlib, for checks and examples."""

from __future__ import annotations

from pathlib import Path

from energy.errors import InputFileError
from energy.supply.extra import needs
from energy.weather.readers import read_weather
from energy.weather.year import WeatherYear

YEAR = 2023


def tmy3_weather(name: str) -> WeatherYear:
    """Return a typical year (TMY3) that ships with pvlib, by the name of its file.

    Parameters
    ----------
    name : str
        ``723170TYA.CSV`` is Greensboro NC, ``703165TY.csv`` Sand Point AK.

    Returns
    -------
    WeatherYear
        Of the calendar of 2023.

    Raises
    ------
    InputFileError
        pvlib has no such file.

    Examples
    --------
    >>> tmy3_weather("723170TYA.CSV").latitude_deg
    36.1

    """
    needs("pvlib")
    import pvlib

    path = Path(pvlib.__file__).parent / "data" / name
    if not path.is_file():
        raise InputFileError(f"pvlib ships no {name}: 723170TYA.CSV and 703165TY.csv are there.")
    return read_weather(path).for_year(YEAR)
