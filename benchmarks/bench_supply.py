"""How long hourly years of cooling, sun and battery take, and the best dispatch of a year.

Run: ``python benchmarks/bench_supply.py``. Seconds are of one core's own work; the best of several runs counts, after
the libraries are loaded. Figures are shown, never asserted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from energy.facility.design import Design
from energy.facility.results import facility_year
from energy.supply.battery import Battery
from energy.supply.dispatch import greedy
from energy.supply.optimum import Terms, optimal
from energy.supply.photovoltaics import PhotovoltaicSystem, photovoltaic_years
from energy.supply.shifting import in_time
from energy.supply.typical import tmy3_weather

SITES = 100
SYSTEM = PhotovoltaicSystem(3000.0, "single axis", 0.0, 180.0)
HALL = Design("bench", "hyperscale", 1000.0, 0.9)
BATTERY = Battery(4000.0, 1000.0, 1000.0, 0.95, 0.95, 0.1, 0.9, 0.1)


def best_s(work: Callable[[], Any], runs: int) -> float:
    """Return the shortest of several runs in seconds of processor time."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    weather = tmy3_weather("723170TYA.CSV")
    # a hundred places of their own: no two have the same sun
    many = [replace(weather, latitude_deg=36.1 + 0.01 * place, longitude_deg=-79.95) for place in range(SITES)]
    hours = np.arange(weather.hours)
    load = 1000.0 + 100.0 * np.sin(2.0 * np.pi * hours / 24.0)
    price = 0.08 + 0.03 * np.sin(2.0 * np.pi * (hours - 12) / 24.0)

    def years(weathers: list[Any]) -> Any:
        drawn = np.stack([facility_year(HALL, one).facility_kw for one in weathers])
        found = photovoltaic_years(weathers, [SYSTEM] * len(weathers))
        made = np.stack([one.power_facility_kw for one in found])
        return greedy(drawn, made, [BATTERY] * len(weathers))

    years([weather])
    print(
        f"one site, cooling, sun and greedy battery: {best_s(lambda: years([weather]), 5):.3f} s; target 0.3, aim 0.15"
    )
    print(f"{SITES} sites, the same: {best_s(lambda: years(many), 2):.2f} s; target 6, aim 3")
    generation = years([weather]).generation_facility_kwh
    for name, terms in {
        "own surplus": Terms(price),
        "charging from the grid": Terms(price, may_charge_from_grid=True),
        "selling too": Terms(price, 0.5 * price, may_charge_from_grid=True),
    }.items():
        seconds = best_s(lambda terms=terms: optimal(load, generation, BATTERY, terms), 3)  # type: ignore[misc]
        print(f"best dispatch of a year, {name}: {seconds:.2f} s; target 1.2")
    for rule in ("greedy", "optimum"):
        seconds = best_s(lambda rule=rule: in_time(0.2 * load, 0.5 * load, price, latest_h=24, rule=rule), 2)  # type: ignore[misc]
        print(f"a year of load that may wait 24 h, {rule}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
