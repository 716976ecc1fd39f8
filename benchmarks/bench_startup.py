"""What a start costs: bare Python, ``import energy``, ``energy --help``, each in fresh interpreters.

Run: ``python benchmarks/bench_startup.py``. Prints medians and their distance to bare Python; times are shown, never
asserted. The starts are interleaved, so that a busy machine slows all alike.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

STARTS = 9
COMMANDS = {
    "bare python": ["-c", "pass"],
    "import energy": ["-c", "import energy"],
    "energy --help": ["-m", "energy.cli", "--help"],
    "energy catalogue chips T4": ["-m", "energy.cli", "catalogue", "chips", "T4"],
}
TARGETS_S = {"import energy": 0.15, "energy --help": 0.40}


def seconds(arguments: list[str]) -> float:
    """Return the wall time of one start."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    """Measure and print."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(STARTS + 1):
        for name, arguments in COMMANDS.items():
            taken[name].append(seconds(arguments))
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first fills the caches
    bare = medians["bare python"]
    print(f"median of {STARTS} fresh interpreters")
    for name, median in medians.items():
        more = median - bare
        target = TARGETS_S.get(name)
        words = ""
        if target is not None:
            words = f"  target: within {target:.2f} s of bare Python, {'met' if more <= target else 'MISSED'}"
        print(f"{name:26} {median * 1000:6.0f} ms  {more * 1000:+6.0f} ms{words}")


if __name__ == "__main__":
    main()
