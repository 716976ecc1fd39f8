"""How long a year of cooling takes, for one site and for a hundred.

Run: ``python benchmarks/bench_facility.py``. Seconds are of one core's own work; the best of several runs counts.
Figures are shown, never asserted. Memory stays small: a hundred sites go in chunks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from energy.facility.cooling import Outdoors
from energy.facility.design import Design
from energy.facility.results import annual_range, facility_year
from energy.facility.site_year import facility_hours
from energy.weather.synthesis import synthesised_year
from energy.weather.year import WeatherYear

SITES, CHUNK = 100, 10
ONE_S, HUNDRED_S = 0.1, 4.0
CASES = ("hyperscale", "large_waterside", "midsize_waterside", "small_air_cooled", "small_direct_expansion")
MONTHS = np.array([0.0, 2.0, 7.0, 12.0, 17.0, 22.0, 25.0, 24.0, 20.0, 13.0, 7.0, 2.0])


def _weather(shift_k: float = 0.0) -> WeatherYear:
    return synthesised_year(
        place="bench",
        mean_temp_c=MONTHS + shift_k,
        daily_range_k=[10.0] * 12,
        relative_humidity=[0.65] * 12,
        elevation_m=100.0,
        source="bench",
        seed=1,
    )


def _best(work: Callable[[], object], runs: int = 5) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    year = _weather()
    for name in CASES:
        design = Design(name, name, 1000.0, 0.8)
        seconds = _best(lambda design=design: facility_year(design, year))  # type: ignore[misc]  # bound now
        print(f"{name}: one year by hour {seconds:.4f} s, target {ONE_S} s")
    design = Design("hyperscale", "hyperscale", 1000.0, 0.8)
    print(f"range of 256 samples: {_best(lambda: annual_range(design, year), 2):.2f} s")
    years = [_weather(shift) for shift in np.linspace(-8.0, 8.0, SITES)]
    names = Outdoors.__slots__
    table = {name: np.array([getattr(one, name) for one in years]) for name in names}
    facility = design.facility()

    def hundred() -> None:
        for first in range(0, SITES, CHUNK):
            chunk = Outdoors(**{name: values[first : first + CHUNK] for name, values in table.items()})
            facility_hours(facility, chunk, np.full(8760, 0.8)).facility.sum(axis=1)

    print(f"{SITES} sites x 8,760 h: {_best(hundred, 3):.2f} s, target {HUNDRED_S} s")


if __name__ == "__main__":
    main()
