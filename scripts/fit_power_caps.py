"""Fit power and slow-down under a power limit: three and two coefficients per card, and for all cards together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from catalogue_io import read
from fit_robust import parameters
from numpy.typing import NDArray
from power_points import CARDS

from energy.power.caps import ANY_CHIP, capped_power, slow_down

Floats = NDArray[np.float64]
START = np.log([0.95, 8.0, 0.3])
PULL = np.full(3, 0.3)  # in rows


def load(path: Path) -> dict[str, NDArray[Any]]:
    """Return the epochs below the highest limit of their work, with power and time at that limit."""
    rows = read(path)
    work = ("gpu", "dataset", "network", "batch_size", "optimizer")
    best: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        key = tuple(row[name] for name in work)
        if key not in best or float(row["power_limit_w"]) > float(best[key]["power_limit_w"]):
            best[key] = row
    kept = [(row, best[tuple(row[name] for name in work)]) for row in rows]
    kept = [(row, top) for row, top in kept if row is not top]
    return {
        "gpu": np.array([row["gpu"] for row, _ in kept]),
        "dataset": np.array([row["dataset"] for row, _ in kept]),
        "limit": np.array([float(row["power_limit_w"]) for row, _ in kept]),
        "power": np.array([float(row["average_gpu_power_w"]) for row, _ in kept]),
        "time": np.array([float(row["time_per_epoch_s"]) for row, _ in kept]),
        "top_power": np.array([float(top["average_gpu_power_w"]) for _, top in kept]),
        "top_time": np.array([float(top["time_per_epoch_s"]) for _, top in kept]),
    }


def _power(theta: Floats, rows: dict[str, NDArray[Any]]) -> Floats:
    found: Floats = capped_power.kernel(rows["top_power"], rows["limit"], *np.exp(theta))
    return found


def _fit(rows: dict[str, NDArray[Any]]) -> tuple[Floats, Floats]:
    theta = parameters(lambda at: np.log(_power(at, rows) / rows["power"]), START, PULL)
    missing = np.log(rows["top_power"] / rows["power"])
    slower = np.log(rows["time"] / rows["top_time"])
    table = np.stack([missing, missing * np.abs(missing)], axis=1)
    slope = np.linalg.solve(table.T @ table + 1e-3 * np.eye(2), table.T @ slower)
    if slope[1] < 0:
        slope = np.array([float(missing @ slower / (missing @ missing + 1e-3)), 0.0])
    return theta, slope


def _part(rows: dict[str, NDArray[Any]], which: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    return {name: values[which] for name, values in rows.items()}


def _left_out(rows: dict[str, NDArray[Any]], by: str) -> tuple[Floats, Floats]:
    """Return errors of power, and of time with measured power, of whole groups left out."""
    power, time = np.empty(len(rows["limit"])), np.empty(len(rows["limit"]))
    for group in np.unique(rows[by]):
        test = rows[by] == group
        theta, slope = _fit(_part(rows, ~test))
        own = _part(rows, test)
        power[test] = np.log(_power(theta, own) / own["power"])
        slower = slow_down.kernel(own["top_power"], _power(theta, own), *slope)
        time[test] = np.log(slower * own["top_time"] / own["time"])
    return power, time


def fit(path: Path) -> list[dict[str, Any]]:
    """Return the rows of ``power_caps``; errors are of whole data sets (for ``any``: whole cards) left out."""
    rows = load(path)
    result = []
    for name, chip_id in [*CARDS.items(), ("nvidia_quadro_rtx_6000", "nvidia_quadro_rtx_6000"), (ANY_CHIP, ANY_CHIP)]:
        own = rows if name == ANY_CHIP else _part(rows, rows["gpu"] == name)
        theta, slope = _fit(own)
        power, time = _left_out(own, "gpu" if name == ANY_CHIP else "dataset")
        result.append(
            {
                "chip_id": chip_id,
                "ceiling_fraction": round(float(np.exp(theta[0])), 4),
                "sharpness": round(float(np.exp(theta[1])), 3),
                "floor_fraction": round(float(np.exp(theta[2])), 4),
                "slow_linear": round(float(slope[0]), 4),
                "slow_square": round(float(slope[1]), 4),
                "rows": len(power),
                "mape_power_fraction": round(float(np.abs(np.expm1(power)).mean()), 4),
                "mape_time_fraction": round(float(np.abs(np.expm1(time)).mean()), 4),
                "band80_ln": round(float(np.quantile(np.abs(power), 0.8)), 4),
                "band95_ln": round(float(np.quantile(np.abs(power), 0.95)), 4),
                "band95_time_ln": round(float(np.quantile(np.abs(time), 0.95)), 4),
                "source": "zeus_nsdi23",
                "status": "derived",
                "note": "errors: whole cards left out" if name == ANY_CHIP else "errors: whole data sets left out",
            }
        )
        print({key: value for key, value in result[-1].items() if key not in ("source", "status")}, file=sys.stderr)
    return result
