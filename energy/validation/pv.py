"""Suite ``pv``: photovoltaic energy against PVWatts' own hours and pvlib's chain."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from energy.errors import EnergyError, InputFileError, SupplyError
from energy.supply.photovoltaics import PVWATTS_LOSSES, PhotovoltaicSystem, photovoltaic_year
from energy.supply.typical import tmy3_weather
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.weather.year import WeatherYear, weather_year

Numbers = NDArray[np.float64]

NEEDED = (
    *("row_id", "latitude_deg", "longitude_deg", "weather_file", "dc_capacity_kw", "array", "tilt_deg", "azimuth_deg"),
    *("dc_ac_ratio", "inverter_efficiency", "system_losses_pct", "quantity", "value"),
)
_PVWATTS_FIRST = "Month,Day,Hour"
_TMY3 = re.compile(r"\d{6}TYA?\.CSV")
_QUANTITIES = {
    "plane of array irradiation": ("plane_kwh_per_m2", "plane_w_per_m2"),
    "DC energy": ("energy_dc_kwh", "power_dc_kw"),
    "AC energy": ("energy_facility_kwh", "power_facility_kw"),
}


def pv(path: Path) -> Outcome:
    """Return predicted against published yields of a file with the columns of pv_yield.csv.

    Rows of PVWatts are run on the hours of PVWatts' own file, which has to lie in ``../data/weather`` or beside; the
    note of each says how far single hours are off, and the outcome has it for AC power. Nothing is fitted.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    compared: list[Compared] = []
    failures: list[Failure] = []
    hourly: list[tuple[str, float]] = []
    for row in read_rows(path, NEEDED):
        try:
            one, error = _compared(row, path.parent)
            compared.append(one)
            if error is not None and one.quantity == "energy_facility_kwh":
                hourly.append(("hourly_rmse_pct_of_capacity", 100.0 * error))
        except (EnergyError, ValueError, OSError) as error:
            failures.append(Failure(row["row_id"], " ".join(str(error).split())))
    return Outcome("pv", path.name, tuple(compared), tuple(failures), tuple(hourly))


def _compared(row: dict[str, str], folder: Path) -> tuple[Compared, float | None]:
    """Return one row, each a year of its own weather and array, and the error of its hours over the capacity."""
    quantity, _, per = row["quantity"].partition(" per DC kW")
    if quantity not in _QUANTITIES:
        raise SupplyError(f"the quantity {row['quantity']!r} is none of {', '.join(_QUANTITIES)}")
    if not float(row["value"]) > 0.0:
        raise SupplyError(f"a yield of {row['value']} is no measurement")
    name, hourly = _QUANTITIES[quantity]
    tmy3 = _TMY3.search(row["weather_file"])
    if tmy3 is not None:
        weather, published = tmy3_weather(tmy3[0]), None
        if "without the half-hour shift" in per:
            weather = replace(weather, irradiance_offset_h=1.0)
    else:
        weather, published = pvwatts_hours(_weather_file(folder, row["weather_file"]))
    system = _system(row, "sandia" if tmy3 is not None else "fuentes")
    found = photovoltaic_year(weather, system)
    total = float(getattr(found, hourly).sum()) * (1e-3 if name == "plane_kwh_per_m2" else 1.0)
    value = total / system.capacity_dc_kw if "per DC kW" in row["quantity"] else total
    groups = (("reference", "pvlib chain" if tmy3 is not None else "PVWatts"), ("quantity", name))
    error, note = None, ""
    if published is not None:
        scale, of = (1000.0, "1000 W/m2") if name == "plane_kwh_per_m2" else (system.capacity_dc_kw, "DC capacity")
        error = hourly_rmse(getattr(found, hourly), published[hourly], scale)
        note = f"hourly RMSE {error:.3%} of {of} over {published[hourly].size} h"
    return Compared(row["row_id"], name, float(row["value"]), value, None, None, None, None, groups, note), error


def _system(row: dict[str, str], cell_model: str) -> PhotovoltaicSystem:
    losses = row["system_losses_pct"]
    fields = ("dc_capacity_kw", "tilt_deg", "azimuth_deg", "dc_ac_ratio", "inverter_efficiency")
    capacity, tilt, azimuth, ratio, efficiency = (float(row[name]) for name in fields)
    if "fixed" not in row["array"]:
        raise SupplyError(f"the array {row['array']!r} is no fixed one")
    return PhotovoltaicSystem(
        capacity_dc_kw=capacity,
        mounting="roof" if "roof" in row["array"] else "open rack",
        tilt_deg=tilt,
        azimuth_deg=azimuth,
        dc_ac_ratio=ratio,
        inverter_efficiency=efficiency,
        losses=PVWATTS_LOSSES if losses == "pvwatts defaults" else float(losses) / 100.0,
        cell_model="sandia" if cell_model == "sandia" else "fuentes",
        albedo=0.25 if cell_model == "sandia" else 0.2,  # defaults of the two chains
    )


def hourly_rmse(found: Numbers, published: Numbers, scale: float) -> float:
    """Return the root mean square of the hours' errors over a scale, such as the capacity.

    Examples
    --------
    >>> hourly_rmse(np.array([1.0, 2.0]), np.array([1.0, 4.0]), 10.0).__round__(4)
    0.1414

    """
    return float(np.sqrt(np.mean((found - published) ** 2))) / scale


def _weather_file(folder: Path, name: str) -> Path:
    for place in (folder / name, folder.parent / "data" / "weather" / name):
        if place.is_file():
            return place
    raise InputFileError(f"{name} lies neither beside the file nor in ../data/weather")


def pvwatts_hours(path: Path) -> tuple[WeatherYear, dict[str, Numbers]]:
    """Return the weather of an hourly file of PVWatts, and its plane irradiance, DC and AC power.

    The file has no humidity, which its sun does not need: saturated air stands in and a note says so.

    Raises
    ------
    InputFileError
        The file is none of PVWatts.
    """
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    start = next((at for at, line in enumerate(lines) if line.replace('"', "").startswith(_PVWATTS_FIRST)), None)
    if start is None:
        raise InputFileError(f"{path.name} is no hourly file of PVWatts: no line begins with {_PVWATTS_FIRST}.")
    heads = {cells[0].rstrip(":"): cells[1:] for cells in csv.reader(lines[:start]) if cells}
    rows = [cells for cells in csv.reader(lines[start + 1 :]) if cells and cells[0].isdigit()]
    columns = np.array(rows, dtype=np.float64).T
    latitude = float(heads["Lat (deg N)"][0])
    longitude = -float(heads["Long (deg W)"][0])
    zone = np.timedelta64(round(longitude / 15.0), "h")  # local standard time
    days = [np.datetime64(f"2023-{int(month):02}-{int(day):02}") for month, day in zip(*columns[:2], strict=True)]
    times = np.array(days).astype("datetime64[h]") + columns[2].astype("timedelta64[h]") - zone
    if len(rows) != 8760 or any(b - a != np.timedelta64(1, "h") for a, b in pairwise(times)):
        raise InputFileError(f"{path.name} has {len(rows)} hours that do not follow each other: a year of them is due.")
    weather = weather_year(
        times=times,
        dry_bulb_c=columns[5],
        relative_humidity=np.ones(len(rows)),
        place=path.stem,
        elevation_m=float(heads["Elev (m)"][0]),
        source=path.name,
        kind="typical",
        convention="beginning",
        latitude_deg=latitude,
        longitude_deg=longitude,
        dni_w_per_m2=columns[3],
        dhi_w_per_m2=columns[4],
        wind_speed_m_per_s=columns[6],
        notes=("no humidity in the file: saturated air stands in, which photovoltaics do not use",),
    )
    return weather, {
        "plane_w_per_m2": columns[7],
        "power_dc_kw": columns[9] / 1000.0,
        "power_facility_kw": columns[10] / 1000.0,
    }
