"""How long one scenario takes through its whole chain, its draws, and all first hours of a month.

Run: ``python benchmarks/bench_scenario.py``. Seconds are of one core's own work; the best of several runs counts, after
the libraries are loaded. Figures are shown, never asserted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from energy.scenario import read_scenario, training_run
from energy.scenario.compare import compare
from energy.scenario.uncertainty import DRAWS, draws
from energy.scenario.when import starts_of

EXAMPLES = Path(__file__).parents[1] / "datasets" / "examples" / "scenarios"


def best_s(work: Callable[[], Any], runs: int = 5) -> float:
    """Return the shortest of several runs in seconds of processor time."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print the seconds."""
    published = read_scenario(EXAMPLES / "llama-2-70b-as-published.yaml")
    virginia = read_scenario(EXAMPLES / "llama-3.1-405b-virginia.yaml")
    desert = read_scenario(EXAMPLES / "desert-sun-and-battery.yaml")
    for name, scenario in (("given chip-hours", published), ("facility, hours", virginia), ("sun, battery", desert)):
        print(f"one scenario, {name:20}{best_s(lambda one=scenario: training_run(one)):10.4f} s")
    first, second = training_run(virginia), training_run(desert)
    print(f"{DRAWS:,} draws of two runs{best_s(lambda: draws((first, second))):22.4f} s")
    print(f"difference by cause{best_s(lambda: compare(first, second)):27.4f} s")
    print(f"720 first hours of a run{best_s(lambda: starts_of(virginia, 720)):22.4f} s")


if __name__ == "__main__":
    main()
