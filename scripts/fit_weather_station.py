"""Print how the yearly swing of months follows from a station's degree days: constants of ``energy.weather.choice``.

Run from the repository: ``python scripts/fit_weather_station.py``. It reads the package's own tables: stations within
40 km of a place with monthly normals. The error is that of months at stations left out one at a time.
"""

from __future__ import annotations

import numpy as np

from energy.catalogue.weather import WeatherStation, all_weather_places, all_weather_stations, weather_normals
from energy.weather.choice import month_means_c
from energy.weather.places import distances_km

NEAR_KM = 40.0
MIDDLES = np.array([15, 45, 74, 105, 135, 166, 196, 227, 258, 288, 319, 349])


def swing_k(months_c: np.ndarray) -> float:
    """Return the amplitude of the cosine of a year that fits twelve months best."""
    turn = 2.0 * np.pi * MIDDLES / 365.0
    _, cosine, sine = np.linalg.lstsq(np.column_stack([np.ones(12), np.cos(turn), np.sin(turn)]), months_c)[0]
    return float(np.hypot(cosine, sine))


def pairs() -> list[tuple[WeatherStation, np.ndarray]]:
    """Return each place with its nearest station, where that is near enough."""
    stations = all_weather_stations()
    latitudes, longitudes = ([getattr(one, name) for one in stations] for name in ("latitude_deg", "longitude_deg"))
    found = []
    for place in all_weather_places():
        if place.latitude_deg is None or place.longitude_deg is None:
            continue
        distance = distances_km(place.latitude_deg, place.longitude_deg, latitudes, longitudes)
        if distance.min() <= NEAR_KM:
            months = np.array(weather_normals()[place.place_id].mean_temp_c)
            found.append((stations[int(np.argmin(distance))], months))
    return found


def main() -> None:
    """Print the line of the swing, and how far months are off with it and without it."""
    known = pairs()
    sides = np.array([[1.0, station.amplitude_k, abs(station.latitude_deg)] for station, _ in known])
    swings = np.array([swing_k(months) for _, months in known])
    keys = np.array([station.wmo for station, _ in known])
    raw, left_out = [], []
    for place, (station, months) in enumerate(known):
        others = keys != keys[place]
        line = np.linalg.lstsq(sides[others], swings[others])[0]
        swing = max(float(sides[place] @ line), 0.0)
        raw.append(np.abs(month_means_c(station.annual_mean_c, station.amplitude_k, station.latitude_deg) - months))
        left_out.append(np.abs(month_means_c(station.annual_mean_c, swing, station.latitude_deg) - months))
    line = np.linalg.lstsq(sides, swings)[0]
    print(f"{len(known)} places, {len(set(keys))} stations")
    print(f"swing = {line[0]:.2f} K + {line[1]:.2f} a + {line[2]:.3f} K |lat|")
    print(f"mean absolute error of a month: {np.mean(raw):.2f} K as derived, {np.mean(left_out):.2f} K left out")


if __name__ == "__main__":
    main()
