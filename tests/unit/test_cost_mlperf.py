"""Time to train of MLPerf benchmarks: laws that any fit must keep, names, and rows with dirt."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.catalogue import _tables
from energy.cost.mlperf import GROUPS, LEVELS, ask, columns, physics, theta, time_to_train
from energy.cost.mlperf_convergence import curve, monotone, samples_to_target
from energy.cost.mlperf_names import benchmark_name, benchmarks, part, round_year, taken_as
from energy.errors import CostError, UnknownNameError
from energy.validation.mlperf import NEEDED, cases, mlperf

H100 = "nvidia_h100_sxm5_80"
ROW = {
    "round": "v4.1",
    "submitter": "X",
    "benchmark": "bert",
    "accelerator": "nvidia_h100_sxm",
    "accelerator_name": "NVIDIA H100-SXM5-80GB",
    "total_accelerators": "8",
    "nodes": "1",
    "accelerators_per_node": "8",
    "global_batch_size": "448",
    "time_to_train_minutes": "5.5",
}


@pytest.mark.parametrize("name", sorted(benchmarks()))
def test_more_samples_for_a_larger_batch(name):
    batch, samples = curve(name)
    assert np.all(np.diff(batch) > 0)
    assert np.all(np.diff(samples) >= 0)
    asked = np.geomspace(batch[0] / 4, batch[-1] * 4, 200)
    found, _ = samples_to_target(name, asked)
    assert np.all(np.diff(found) >= -1e-6 * found[1:])
    at_points, inside = samples_to_target(name, batch)
    np.testing.assert_allclose(at_points, samples, rtol=1e-9)
    assert inside.all()


def test_outside_of_the_points_is_said():
    batch, _ = curve("bert")
    _, inside = samples_to_target("bert", [batch[0] / 2, batch[0], batch[-1], batch[-1] * 2])
    assert inside.tolist() == [False, True, True, False]
    found = time_to_train("bert", H100, 8, round_name="v4.1", global_batch_size=[448, 5e4])
    assert "extrapolated" not in found.notes[0]
    assert "extrapolated" in found.notes[1]


def test_a_target_that_changed_has_its_own_curve():
    assert samples_to_target("rnnt", 1024, round_year("v1.0"))[0] > samples_to_target("rnnt", 1024)[0]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_monotone_keeps_mean_and_order(values):
    array = np.array(values)
    found = monotone(array, np.ones(len(array)))
    assert np.all(np.diff(found) >= -1e-12)
    assert found.mean() == pytest.approx(array.mean(), abs=1e-9)
    if np.all(np.diff(array) >= 0):
        np.testing.assert_allclose(found, array)


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(benchmarks())),
    st.sampled_from([H100, "nvidia_b200_sxm", "google_tpu_v5p", "amd_mi355x", "graphcore_bow", "nvidia_l40s"]),
    st.integers(1, 4096),
    st.sampled_from(["", "v2.1", "v5.1", "v6.0"]),
)
def test_every_pair_is_answered_with_ordered_bands(name, chip, chips, round_name):
    found = time_to_train(name, chip, chips, round_name=round_name)
    ends = [found.low_min, found.low80_min, found.time_min, found.high80_min, found.high_min]
    values = np.concatenate(ends)
    assert np.all(np.isfinite(values))
    assert values[0] > 0
    assert np.all(np.diff(values) > 0)


def test_many_scenarios_are_the_single_ones():
    names = ["bert", "gpt3", "resnet", "bert"]
    chips = [H100, "google_tpu_v5p", "nvidia_a100_sxm4_80", "nvidia_b200_sxm"]
    counts = [8, 512, 64, 8]
    together = time_to_train(names, chips, counts, round_name=["v3.1", "v4.0", "v2.0", "v4.1"])
    for place, round_name in enumerate(["v3.1", "v4.0", "v2.0", "v4.1"]):
        alone = time_to_train(names[place], chips[place], counts[place], round_name=round_name)
        assert alone.time_min[0] == pytest.approx(together.time_min[place], rel=1e-12)
        assert alone.notes[0] == together.notes[place]


def test_physics_scales_with_chips_and_samples():
    one, two = (physics(ask("gpt3", H100, n, round_name="v4.1", global_batch_size=2048))[0][0] for n in (512, 1024))
    assert one / two == pytest.approx(2.0)  # without an overhead of steps
    few = ask("bert", H100, 4096, round_name="v4.1", global_batch_size=3072)
    seconds, samples, _ = physics(few)
    assert seconds[0] > samples[0] / 3072 * benchmarks()["bert"].number("step_overhead_s")


def test_narrow_formats_never_double_the_rate():
    early, late = (
        physics(ask("llama31_8b", "nvidia_b200_sxm", 8, round_name=one, global_batch_size=32))[0][0]
        for one in ("v2.0", "v5.1")
    )
    assert 1.5 < early / late < 4.0


def test_what_nobody_measured_has_a_wider_band():
    asked = [("bert", H100, 8), ("bert", H100, 10**6), ("gpt_oss_20b", H100, 8), ("bert", "aws_trainium2", 8)]
    found = time_to_train(*map(list, zip(*asked, strict=True)))
    assert [LEVELS[one] for one in found.level] == ["seen", "count", "benchmark", "family"]
    width = found.high80_min / found.low80_min
    assert width[0] <= width[1] < width[3] < width[2]
    assert "family" in found.notes[3]


def test_an_unknown_round_has_a_wider_band_and_is_said():
    found = time_to_train("bert", H100, 8, round_name=["v4.1", ""])
    width = found.high80_min / found.low80_min
    assert width[0] < width[1]
    assert "No round" in found.notes[1]
    assert "No round" not in found.notes[0]


def test_the_batch_that_is_assumed_is_one_that_was_submitted():
    for name, row in benchmarks().items():
        batch = ask(name, H100, [1, 8, 64, 512, 4096]).batch
        assert np.all(np.diff(batch) >= 0), name
        assert batch[0] >= row.number("batch_low") * 0.999
        assert batch[-1] <= row.number("batch_high") * 1.001


def test_no_coefficient_is_of_a_row_or_a_submitter():
    groups = {group for own in GROUPS.values() for group in own}
    assert not groups & {"submitter", "system", "round", "source"}
    rows = _tables.rows("mlperf_coefficients")
    assert {row.text("group") for row in rows} <= groups
    for row in rows:
        assert "|" not in row.text("key") or len(row.text("key").split("|")) == 2


def test_unseen_groups_add_nothing():
    known, new = ("bert", part(H100)), ("bert", part("tenstorrent_n300"))
    coefficients = theta([known, new])
    assert not np.array_equal(coefficients[0], coefficients[1])
    assert np.all(np.isfinite(coefficients))


def test_trend_stops_beyond_the_rounds_seen():
    far, farther = (columns(ask("bert", H100, 8, round_name=one))[0] for one in ("v8.0", "v9.0"))
    np.testing.assert_array_equal(far, farther)


@pytest.mark.parametrize(
    ("name", "year", "found"),
    [
        ("ssd", 2021.9, "ssd_resnet34"),
        ("ssd", 2022.5, "retinanet"),
        ("retinanet", 2025.4, "retinanet"),
        ("gnn", 2024.5, "rgat"),
        ("Llama2-70B-LoRA", None, "llama2_70b_lora"),
        ("3d-unet", None, "unet3d"),
        ("stable diffusion", None, "stable_diffusion"),
    ],
)
def test_benchmark_names(name, year, found):
    assert benchmark_name(name, year) == found


@pytest.mark.parametrize(
    ("name", "chip"),
    [
        ("nvidia_v100_sxm3_32gb_450w", "nvidia_v100_sxm2_32"),
        ("NVIDIA A100-SXM4-80GB (500W)", "nvidia_a100_sxm4_80"),
        ("google_tpu_v6e_trillium", "google_tpu_v6e"),
        ("AMD Instinct MI325X 256GB HBM3E DLC", "amd_mi325x"),
        ("nvidia_gb300_nvl72", "nvidia_gb300"),
        ("habana_gaudi", "intel_gaudi1"),
    ],
)
def test_accelerator_names(name, chip):
    assert part(name).name == chip


def test_a_loose_name_says_what_it_was_taken_as():
    assert taken_as("nvidia_h100") == f"nvidia_h100 is taken as {H100}."
    assert f"taken as {H100}" in time_to_train("bert", "nvidia_h100", 8).notes[0]
    assert taken_as("NVIDIA H100 80GB HBM3") == ""


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"benchmark": "berth"}, UnknownNameError, "Nearest: bert"),
        ({"chip": "nvidia_b201"}, UnknownNameError, "Nearest: nvidia_gb200"),
        ({"chips": 0}, CostError, "0 chips"),
        ({"chips": -8}, CostError, "-8 chips"),
        ({"chips": float("nan")}, CostError, "nan chips"),
        ({"chips": float("inf")}, CostError, "inf chips"),
        ({"global_batch_size": 0}, CostError, "0 samples of a step"),
        ({"nodes": -1}, CostError, "-1 nodes"),
        ({"round_name": "summer"}, CostError, "'summer' is no round"),
        ({"round_name": "v0.8"}, CostError, "v0.8"),
        ({"chip": "intel_loihi2"}, CostError, "no 16-bit rate"),
        ({"chips": [8, 8], "nodes": [1, 1, 1]}, CostError, "different lengths"),
    ],
)
def test_bad_input_is_one_line(asked, error, message):
    usual = {"benchmark": "bert", "chip": H100, "chips": 8}
    with pytest.raises(error) as caught:
        time_to_train(**usual | asked)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"benchmark": "chess"}, "no benchmark of MLPerf"),
        ({"accelerator": "abacus", "accelerator_name": "abacus"}, "not in the catalogue"),
        ({"time_to_train_minutes": ""}, "prints no time"),
        ({"time_to_train_minutes": "0"}, "no measurement"),
        ({"time_to_train_minutes": "soon"}, "no number"),
        ({"total_accelerators": "0", "nodes": ""}, "0 accelerators"),
        ({"round": "next"}, "no round"),
    ],
)
def test_rows_without_an_answer_say_why(change, reason):
    found, failures = cases([ROW, ROW | change])
    assert len(found) == len(failures) == 1
    assert reason in failures[0].reason
    assert failures[0].row_id == "line 3"


@pytest.mark.parametrize("column", ["round", "global_batch_size", "nodes", "submitter", "accelerators_per_node"])
def test_blank_columns_are_answered(column, tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerow(ROW | {column: ""})
    outcome = mlperf(path)
    assert not outcome.failures
    assert 2 < outcome.compared[0].predicted < 15


def test_only_the_needed_columns_are_needed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",".join(NEEDED) + "\nbert,nvidia_h100_sxm,8,5.5\nchess,nvidia_h100_sxm,8,5.5\n", encoding="utf-8")
    outcome = mlperf(path)
    assert len(outcome.compared) == len(outcome.failures) == 1
    assert "No round" in outcome.compared[0].note


def test_counts_come_from_nodes_where_the_total_is_blank():
    found, _ = cases([ROW | {"total_accelerators": "", "nodes": "4"}])
    assert found[0].chips == 32
    assert "nodes" in found[0].note


def test_processors_count_as_sockets():
    cpu = {"accelerator": "cpu", "accelerator_name": "N/A", "total_accelerators": "0", "nodes": "16"}
    cpu |= {"host_cpus_per_node": "2", "host_cpu": "Intel(R) Xeon(R) Platinum 8480+ @ 2.0GHz"}
    found, _ = cases([ROW | cpu])
    assert (found[0].chip, found[0].chips) == ("intel_xeon_8480p", 32)
    _, failures = cases([ROW | cpu | {"host_cpu": "abacus"}])
    assert "abacus" in failures[0].reason


@pytest.mark.parametrize(
    "odd", [{"nodes": "-1"}, {"nodes": "0"}, {"host_cpus_per_node": "-2"}, {"host_cpus_per_node": "0"}]
)
def test_an_odd_count_costs_its_own_row_only(odd, tmp_path):
    cpu = {"accelerator": "cpu", "accelerator_name": "N/A", "total_accelerators": "0", "nodes": "16"}
    cpu |= {"host_cpus_per_node": "2", "host_cpu": "Intel(R) Xeon(R) Platinum 8480+ @ 2.0GHz"}
    found, failures = cases([ROW, ROW | cpu, ROW | cpu | odd])
    assert len(found) == 2 and "both have to be above zero" in failures[0].reason
    assert all(one.chips > 0 for one in found)
