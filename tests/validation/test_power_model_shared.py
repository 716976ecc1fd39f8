"""Power by time with a kernel against two production clusters, and against the readings of the synthetic quarter."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from energy.catalogue import chip
from energy.power.utilisation import WORKING_SHARE, held_power, levels_of, use_power

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("fit_fleet_power", SCRIPTS / "fit_fleet_power.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def clusters(script, shared_folder):
    return script.clusters(shared_folder / "data")


def test_the_working_share_is_that_of_the_clusters(clusters):
    shares = [cluster.share for cluster in clusters.values()]
    ends = np.mean([cluster.quantiles for cluster in clusters.values()], axis=0)
    assert WORKING_SHARE.value == pytest.approx(np.mean(shares), abs=0.005)
    assert (WORKING_SHARE.low80, WORKING_SHARE.high80) == pytest.approx(ends[:2], abs=0.01)
    assert (WORKING_SHARE.low, WORKING_SHARE.high) == pytest.approx(ends[2:], abs=0.01)


def test_each_cluster_is_predicted_from_the_other_within_a_tenth(script, clusters):
    errors = script.left_out_errors(clusters)
    assert {name: round(100 * error, 1) for name, error in errors.items()} == {"kalos": -8.9, "seren": 9.5}


@pytest.mark.parametrize(("name", "use", "power"), [("kalos", 0.698, 191.6), ("seren", 0.661, 168.6)])
def test_a_cluster_s_mean_is_inside_the_range(clusters, name, use, power):
    cluster, levels = clusters[name], levels_of("nvidia_a100_sxm4_80")
    assert (cluster.use, cluster.power_chip_w) == pytest.approx((use, power), abs=0.05)
    (found,) = use_power(levels, [cluster.use], [False])
    running = held_power(levels)
    low, high = ((1 - cluster.use) * levels.idle.low + cluster.use * end for end in (running.low, running.high))
    assert low < cluster.power_chip_w < high
    assert found == pytest.approx(cluster.power_chip_w, rel=0.05)
    # utilisation times the maximum, as is often done, is far off
    assert cluster.use * 400 > 1.4 * cluster.power_chip_w


def test_four_fifths_of_production_readings_lie_in_the_80_percent_range(clusters, shared_folder):
    """By the quantiles of the other cluster: single readings of 15 s while kernels ran."""
    with (shared_folder / "data/inputs/acme_power/acme_power_percentiles.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    levels = levels_of("nvidia_a100_sxm4_80")
    way = levels.working_w - levels.context.value
    for name, other in (("kalos", "seren"), ("seren", "kalos")):
        power = np.sort([float(row[f"{name}_gpu_power_w"]) for row in rows])
        none = np.mean([float(row[f"{name}_dcgm_gpu_util_pct"]) <= 0 for row in rows])
        places = (power[round(none * power.size) :] - levels.context.value) / way
        low80, high80, low, high = clusters[other].quantiles
        inside80, inside95 = (np.mean((places >= a) & (places <= b)) for a, b in ((low80, high80), (low, high)))
        assert 0.70 <= inside80 <= 0.90
        assert 0.88 <= inside95 <= 0.99


def test_the_synthetic_week_by_its_utilisation(shared_folder):
    """Chip-hours of the week: the model says less than the synthetic boards draw, whose utilisation is a load."""
    source = shared_folder / "data/inputs/synthetic_quarter"
    with (source / "nodes.csv").open(newline="") as file:
        models = {row["host"]: row["gpu_model"] for row in csv.DictReader(file)}
    table = pq.read_table(source / "gpu_power_1min_week.parquet")
    hosts, power = np.array(table["host"].to_pylist()), table["power_w"].to_numpy().astype(np.float64)
    use = table["gpu_util_pct"].to_numpy() / 100.0
    hour = table["ts"].cast("int64").to_numpy() // 3_600_000_000
    inside, hours, read, said = 0, 0, 0.0, 0.0
    for host in sorted(set(hosts)):
        levels = levels_of(chip(models[host]).chip_id)
        running = held_power(levels)
        mine = hosts == host
        key = hour[mine] * 64 + table["gpu"].to_numpy()[mine]
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        mean_use, mean_power = (np.bincount(place, values[mine]) / count for values in (use, power))
        low, high = (
            (1 - mean_use) * at_rest + mean_use * end
            for at_rest, end in ((levels.idle.low, running.low), (levels.context.high, running.high))
        )
        is_busy = mean_use > 0.05
        inside += int(((mean_power >= low) & (mean_power <= high) & is_busy).sum())
        hours += int(is_busy.sum())
        read += float(mean_power[is_busy].sum())
        said += float(use_power(levels, mean_use, mean_use > 0)[is_busy].sum())
    assert inside / hours > 0.95
    assert -0.25 < said / read - 1 < 0
