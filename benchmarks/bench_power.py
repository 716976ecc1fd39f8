"""How long the watts of a million chip states take.

Run: ``python benchmarks/bench_power.py``. Seconds are of one core's own work; the best of several runs counts. Figures
are shown, never asserted.
"""

from __future__ import annotations

import time

import numpy as np

from energy.power.states import States, state_power

COUNT = 1_000_000
TARGET_S = 0.5


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(5), COUNT).T
    names = ("idle", "idle_context", "busy", "communication", "stall")
    states = States(**dict(zip(names, shares, strict=True)), compute=rng.random(COUNT), memory=rng.random(COUNT))
    times = []
    for _ in range(5):
        start = time.process_time()
        state_power("nvidia_b200_sxm", states, "bf16")
        times.append(time.process_time() - start)
    print(f"{COUNT:,} chip states with both bands: {min(times):.3f} s on one core; target {TARGET_S} s on two")


if __name__ == "__main__":
    main()
