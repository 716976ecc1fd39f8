"""The suite of node power: what is compared, at which boundary, in which group, and what is not answered."""

from __future__ import annotations

import csv

import pytest

from energy.errors import InputFileError
from energy.power.benchmarks import benchmark_power
from energy.validation.node_power import NEEDED, NEEDED_POINTS, measured_rows, node_power
from energy.validation.statistics import document

COLUMNS = (*NEEDED, "round", "submitter", "system", "low_power_w")
TRAINING = {
    "suite": "training",
    "round": "v4.0",
    "submitter": "Somebody",
    "system": "one",
    "accelerator": "nvidia_h100_sxm",
    "accelerators_per_node": "8",
    "nodes": "1",
    "cooling": "single-phase immersion (no server fans)",
    "power_mode": "default",
    "benchmark": "bert",
    "scenario": "train",
    "measured_at": "AC side of node supply",
    "average_node_power_w": "6900",
}
INFERENCE = TRAINING | {
    "suite": "inference",
    "accelerator": "nvidia_h200_sxm",
    "cooling": "",
    "power_mode": "max_q (power or clock limited)",
    "benchmark": "llama2-70b-99",
    "scenario": "offline",
    "average_node_power_w": "6100",
}


def written(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def results(tmp_path):
    def make(*rows):
        return written(tmp_path / "results.csv", COLUMNS, rows)

    return make


def test_training_and_inference_are_told_apart_and_by_submitter(results):
    found = document(node_power(results(TRAINING, INFERENCE)))
    assert found["suite"] == "node-power"
    assert set(found["groups"]["kind"]) == {"training", "inference"}
    assert set(found["groups"]["submitter"]) == {"training: Somebody", "inference: Somebody"}
    assert set(found["groups"]["power_mode"]) == {"training: default", "inference: max_q"}


def test_a_row_behind_the_supplies_is_compared_there(results):
    ac, dc = node_power(results(TRAINING, TRAINING | {"measured_at": "DC side of node supply"})).compared
    assert (ac.quantity, dc.quantity) == ("power_it_w", "power_dc_chip_w")
    assert dc.predicted < ac.predicted
    assert dc.low / dc.predicted == pytest.approx(ac.low / ac.predicted)


def test_the_measured_watts_are_no_input(results):
    one, other = node_power(results(TRAINING, TRAINING | {"average_node_power_w": "1", "low_power_w": "1"})).compared
    assert one.predicted == other.predicted


def test_the_mode_of_a_row_is_an_input(results):
    tuned, plain = node_power(results(INFERENCE, INFERENCE | {"power_mode": "default"})).compared
    assert tuned.predicted < plain.predicted


def test_a_limit_in_the_name_of_a_system_is_read(results):
    edge = INFERENCE | {
        "accelerator": "qualcomm_cloud_ai_100_edge",
        "accelerators_per_node": "1",
        "host_cpu": "Qualcomm Snapdragon 865",
        "power_mode": "default",
        "benchmark": "bert-99",
    }
    path = results(edge | {"system": "aedk_15w-qaic-v1.4"}, edge | {"system": "aedk_25w"}, edge)
    assert [row.submission.power_limit_w for row in measured_rows(path)] == [15.0, 25.0, None]
    small, large, _ = node_power(path).compared
    assert small.predicted < large.predicted


def test_rows_without_an_answer_are_counted_with_their_reason(results):
    rows = (
        TRAINING | {"average_node_power_w": ""},
        TRAINING | {"accelerator": "nvidia_h999"},
        TRAINING | {"benchmark": "bertt"},
        INFERENCE | {"power_mode": "turbo"},
        INFERENCE | {"accelerators_per_node": ""},
    )
    found = node_power(results(*rows))
    assert not found.compared
    assert [one.row_id for one in found.failures] == [f"line {place}" for place in range(2, 7)]
    assert all("\n" not in one.reason for one in found.failures)


@pytest.mark.parametrize("column", ["nodes", "accelerators_per_node", "average_node_power_w"])
@pytest.mark.parametrize("cell", ["abc", "∞", "-1", ""])
def test_an_odd_cell_costs_its_own_row_only(results, column, cell):
    usual = node_power(results(TRAINING, INFERENCE))
    found = node_power(results(TRAINING, INFERENCE, TRAINING | {column: cell}))
    assert found.compared[:2] == usual.compared and len(usual.compared) == 2
    assert len(found.compared) + len(found.failures) == 3


def test_points_beside_the_results_are_read_too_and_boards_are_no_nodes(tmp_path):
    point = {"device": "nvidia_h100_sxm", "item": "8-GPU node", "scope": "node AC side", "cooling": "immersion"}
    rows = (
        point | {"state": "single-node training, mean of bert, resnet", "power_w": "6900"},
        point | {"state": "idle, before run", "power_w": "2230"},
        point | {"state": "manufacturer rating", "power_w": "10200"},
        point | {"item": "GPU", "scope": "board", "state": "idle, no context", "power_w": "72"},
    )
    written(tmp_path / "node_power_points.csv", (*NEEDED_POINTS, "source"), rows)
    written(tmp_path / "results.csv", COLUMNS, [TRAINING])
    found = node_power(tmp_path / "results.csv")
    assert [dict(one.groups)["kind"] for one in found.compared] == ["training", "point: training", "point: idle"]
    assert [one.reason.split(" ")[0] for one in found.failures] == ["A", "board"]
    alone = node_power((tmp_path / "node_power_points.csv").rename(tmp_path / "mine.csv"))
    assert len(alone.compared) == 2, "a file of points is told by its columns"


def test_a_mean_over_benchmarks_is_the_mean_of_them(tmp_path):
    point = {
        "device": "nvidia_h100_sxm",
        "item": "8-GPU node",
        "scope": "node AC side",
        "cooling": "immersion",
        "power_w": "6900",
        "source": "MLPerf Training v4.0",
        "state": "training, mean of bert, resnet",
    }
    path = written(tmp_path / "node_power_points.csv", (*NEEDED_POINTS, "source"), [point])
    results_path = written(tmp_path / "r.csv", COLUMNS, [TRAINING, TRAINING | {"benchmark": "resnet"}])
    rows = [row.submission for row in measured_rows(results_path)]
    assert node_power(path).compared[0].predicted == pytest.approx(float(benchmark_power(rows).power_it_w.mean()))


def test_a_file_of_something_else_is_refused(tmp_path):
    path = written(tmp_path / "other.csv", ("a", "b"), [{"a": "1", "b": "2"}])
    with pytest.raises(InputFileError, match="lacks the column suite"):
        node_power(path)
