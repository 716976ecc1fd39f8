"""Typical years that ship with pvlib, for checks and examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from energy.errors import InputFileError
from energy.supply.extra import needs
from energy.weather.year import WeatherYear, weather_year


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
    from pvlib.iotools import read_tmy3

    path = Path(pvlib.__file__).parent / "data" / name
    if not path.is_file():
        raise InputFileError(f"pvlib ships no {name}: 723170TYA.CSV and 703165TY.csv are there.")
    data, about = read_tmy3(path, coerce_year=2023, map_variables=True)
    hours = np.datetime64("2023-01-01T01", "s") + np.arange(len(data)) * np.timedelta64(3600, "s")
    return weather_year(
        times=hours - np.timedelta64(round(about["TZ"] * 3600.0), "s"),
        dry_bulb_c=data["temp_air"].to_numpy(),
        relative_humidity=data["relative_humidity"].to_numpy() / 100.0,
        pressure_pa=data["pressure"].to_numpy() * 100.0,
        place=str(about["Name"]).strip('"'),
        elevation_m=float(about["altitude"]),
        source=name,
        kind="typical",
        convention="ending",
        latitude_deg=float(about["latitude"]),
        longitude_deg=float(about["longitude"]),
        ghi_w_per_m2=data["ghi"].to_numpy(),
        dni_w_per_m2=data["dni"].to_numpy(),
        dhi_w_per_m2=data["dhi"].to_numpy(),
        wind_speed_m_per_s=data["wind_speed"].to_numpy(),
    )
