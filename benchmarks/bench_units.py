"""What the units cost: the decorator on three scalars, and on a million rows against the bare kernel.

Run: ``python benchmarks/bench_units.py``. Prints medians; times are shown, never asserted.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from energy.units import display, quantity, read, takes

Array = NDArray[np.float64] | float
ROWS = 1_000_000


@takes("kgCO2e", energy_it="kWh_it", pue="kWh_facility/kWh_it", intensity="kgCO2e/kWh_facility")
def emissions(energy_it: Array, pue: Array, intensity: Array) -> Array:
    """Return emissions: energy_it x pue x intensity."""
    return energy_it * pue * intensity


def median_us(action: Callable[[], object], calls: int, repeats: int = 31) -> float:
    """Return the median time of one call in microseconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            action()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    ratio, factor, other = (
        quantity(1.3, "kWh_facility/kWh_it"),
        quantity(0.4, "kgCO2e/kWh_facility"),
        quantity(2.0, "MWh_it"),
    )
    energy, other_factor = quantity(2.0, "kWh_it"), quantity(400.0, "gCO2e/kWh_facility")
    bare = median_us(lambda: emissions.kernel(2.0, 1.3, 0.4), 2000)
    same = median_us(lambda: emissions(energy, ratio, factor), 2000)
    converted = median_us(lambda: emissions(other, ratio, other_factor), 2000)
    print(f"three scalars: bare {bare:.2f} µs, declared units {same:.2f} µs, two of them converted {converted:.2f} µs")

    rows, pues, factors = np.full(ROWS, 2.0), np.full(ROWS, 1.3), np.full(ROWS, 0.4)
    row_quantities = (
        quantity(rows, "kWh_it"),
        quantity(pues, "kWh_facility/kWh_it"),
        quantity(factors, "kgCO2e/kWh_facility"),
    )
    in_mwh = (quantity(rows, "MWh_it"), *row_quantities[1:])
    # Alternate, so that a busy machine slows both alike.
    ratios, ratios_converted = [], []
    for _ in range(31):
        before = median_us(lambda: emissions.kernel(rows, pues, factors), 3, 3)
        declared = median_us(lambda: emissions(*row_quantities), 3, 3)
        after = median_us(lambda: emissions.kernel(rows, pues, factors), 3, 3)
        ratios.append(2 * declared / (before + after))
        ratios_converted.append(median_us(lambda: emissions(*in_mwh), 3, 3) / after)
    print(
        f"1e6 rows against the bare kernel: declared units {statistics.median(ratios):.3f}, "
        f"one argument converted {statistics.median(ratios_converted):.3f}"
    )
    print(f"quantity(): {median_us(lambda: quantity(2.0, 'kWh_it'), 2000):.2f} µs")
    print(f"read(): {median_us(lambda: read('385 gCO2e/kWh', 'gCO2e/kWh_facility'), 1000):.1f} µs")
    print(f"display(): {median_us(lambda: display(energy), 200):.0f} µs")


if __name__ == "__main__":
    main()
