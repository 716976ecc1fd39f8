"""Print how daily means scatter about their months in hourly years: the constants of ``energy.weather.synthesis``.

Run from the repository: ``python scripts/fit_weather_scatter.py [SHARED_DATA]`` (default ``../shared/data``). The error
is that of places left out one at a time.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from energy.weather.psychrometrics import saturation_pressure_pa

ROOT = Path(__file__).resolve().parent.parent


def detrended(values: np.ndarray, month: np.ndarray) -> np.ndarray:
    """Return daily values less a straight line in each month."""
    found = values.copy()
    for one in range(12):
        inside = month == one
        days = np.arange(int(inside.sum()))
        found[inside] -= np.polyval(np.polyfit(days, values[inside], 1), days)
    return found


def place(path: Path) -> list[float]:
    """Return half the range of months, scatter and memory of temperature, the same of humidity, scatter in a day."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    size = len(rows) // 24 * 24
    dry = np.array([float(row["temp_air_c"]) for row in rows[:size]]).reshape(-1, 24)
    humid = np.clip([float(row["relative_humidity_pct"]) for row in rows[:size]], 1.0, 100.0).reshape(-1, 24) / 100.0
    vapour = saturation_pressure_pa(dry) * humid
    mean = dry.mean(axis=1)
    month = np.minimum(np.arange(mean.size) * 12 // mean.size, 11)
    months = np.array([mean[month == one].mean() for one in range(12)])
    warm = detrended(mean, month)
    moist = detrended(np.log(vapour.mean(axis=1) / saturation_pressure_pa(mean)), month)
    return [
        float(months.max() - months.min()) / 2.0,
        float(warm.std()),
        float(np.corrcoef(warm[1:], warm[:-1])[0, 1]),
        float(moist.std()),
        float(np.corrcoef(moist[1:], moist[:-1])[0, 1]),
        float(np.log(vapour).std(axis=1).mean()),
    ]


def main() -> None:
    """Print the line of scatter over amplitude with its error, and the medians of the rest."""
    folder = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "../shared/data") / "weather"
    files = sorted([*folder.glob("tmy_*.csv"), *folder.glob("openmeteo_*_2023.csv")])
    found = np.array([place(path) for path in files])
    sides = np.column_stack([np.ones(len(files)), found[:, 0]])
    line, *_ = np.linalg.lstsq(sides, found[:, 1], rcond=None)
    leverage = np.diag(sides @ np.linalg.inv(sides.T @ sides) @ sides.T)
    left_out = (sides @ line - found[:, 1]) / (1.0 - leverage)
    print(f"{len(files)} hourly years: scatter = {line[0]:.2f} K + {line[1]:.2f} A")
    print(f"left out one place at a time: {np.sqrt(np.mean(left_out**2)):.2f} K root mean square")
    names = ("memory of days", "scatter of humidity", "memory of humidity", "scatter within a day")
    for name, values in zip(names, found[:, 2:].T, strict=True):
        print(f"{name}: median {np.median(values):.2f} ({values.min():.2f} to {values.max():.2f})")


if __name__ == "__main__":
    main()
