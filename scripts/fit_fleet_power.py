"""How far boards of production clusters work while kernels run: prints the figures of ``power.utilisation``.

    python scripts/fit_fleet_power.py ../shared/data

Two clusters of A100 publish percentile curves of board power and of ``GPU_UTIL`` (AcmeTrace, 15 s readings, months;
the curves need not cover the same weeks). With bare idle while no kernel runs, the mean power while kernels run
follows, and its place on the way from idle with context to working at the default load. Each cluster is also predicted
from the other.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from energy.power.utilisation import levels_of

CHIP = "nvidia_a100_sxm4_80"
CLUSTERS = ("kalos", "seren")
QUANTILES = (0.10, 0.90, 0.025, 0.975)


class Cluster(NamedTuple):
    """Means of one cluster, its working share, and quantiles of the share in single readings while kernels ran."""

    power_chip_w: float
    use: float
    share: float
    quantiles: tuple[float, ...]


def clusters(data: Path) -> dict[str, Cluster]:
    """Return what the percentile curves say."""
    with (data / "inputs" / "acme_power" / "acme_power_percentiles.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    known = levels_of(CHIP)
    way = known.working_w - known.context.value
    found = {}
    for name in CLUSTERS:
        power = np.sort([float(row[f"{name}_gpu_power_w"]) for row in rows])
        percent = np.array([float(row[f"{name}_dcgm_gpu_util_pct"]) for row in rows])
        use = float(percent.mean() / 100)
        running = (power.mean() - (1 - use) * known.idle.value) / use
        # the readings without a kernel are taken to be those of least power
        while_running = power[round(float((percent <= 0).mean()) * power.size) :]
        places = (np.quantile(while_running, QUANTILES) - known.context.value) / way
        share = (running - known.context.value) / way
        found[name] = Cluster(float(power.mean()), use, float(share), tuple(places.tolist()))
    return found


def predicted_w(cluster: Cluster, share: float) -> float:
    """Return the mean power of a cluster by its use, with a working share."""
    known = levels_of(CHIP)
    running = known.context.value + share * (known.working_w - known.context.value)
    return cluster.use * running + (1 - cluster.use) * known.idle.value


def left_out_errors(found: dict[str, Cluster]) -> dict[str, float]:
    """Return the relative error of each cluster's mean power with the share of the others."""
    errors = {}
    for name, cluster in found.items():
        others = [other.share for key, other in found.items() if key != name]
        errors[name] = predicted_w(cluster, float(np.mean(others))) / cluster.power_chip_w - 1
    return errors


def main() -> None:
    """Print the working share, its range, and the errors."""
    found = clusters(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
    share = float(np.mean([cluster.share for cluster in found.values()]))
    ends = np.mean([cluster.quantiles for cluster in found.values()], axis=0)
    print("share", round(share, 2), "low80, high80, low, high", ends.round(2).tolist())
    errors = left_out_errors(found)
    for name, cluster in found.items():
        print(
            f"{name}: {cluster.power_chip_w:.1f} W at GPU_UTIL {100 * cluster.use:.1f} %, share {cluster.share:.3f}; "
            f"with the mean share {100 * (predicted_w(cluster, share) / cluster.power_chip_w - 1):+.1f} %, left out "
            f"{100 * errors[name]:+.1f} %"
        )


if __name__ == "__main__":
    main()
