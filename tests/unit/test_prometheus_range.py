import json

import pytest
from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

POWER, ENERGY = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
LABELS = {"Hostname": "h-1", "gpu": "0", "UUID": "GPU-1", "instance": "10.0.0.1:9400"}


def series(values, name=POWER, **labels):
    return {"metric": {"__name__": name, **LABELS, **labels}, "values": values}


def answer(*all_series, **more):
    return {"status": "success", "data": {"resultType": "matrix", "result": list(all_series)}, **more}


GOOD = answer(series([[1767600000, "80"], [1767600060.5, "700"]]), series([[1767600000, "5000"]], ENERGY))


@pytest.mark.parametrize("indent", [None, 1])
def test_series(tmp_path, indent):
    rows, rejects, notes = read_text("prometheus_range", tmp_path, json.dumps(GOOD, indent=indent))
    assert (rejects, notes) == ([], [])
    board = {"host": "h-1", "uuid": "GPU-1", "device_index": 0, "scope": "board"}
    assert rows == [
        {"row_number": 1, **board, "time_ms": AT_MS, "power_milliw": 80_000},
        {"row_number": 2, **board, "time_ms": AT_MS + 60_500, "power_milliw": 700_000},
        {"row_number": 3, **board, "time_ms": AT_MS, "counter_microj": 5_000_000},
    ]


def test_nan_is_a_gap_and_warnings_are_noted(tmp_path):
    values = [[1767600000, "NaN"], [1767600060, "9223372036854775794"], [1767600120, "300"]]
    text = json.dumps(answer(series(values), warnings=["partial"]))
    rows, rejects, notes = read_text("prometheus_range", tmp_path, text)
    assert [row["row_number"] for row in rows] == [3]
    assert rejects == []
    assert "Prometheus warns: partial" in notes[0]
    assert "2 samples without value" in notes[1]


def test_both_ways_of_reading_agree(tmp_path):
    values = [[1767600000 + 60 * k, f"{100 + k}.5"] for k in range(50)] + [[1767609000, "NaN"], [1767609060, "0"]]
    fast = read_text("prometheus_range", tmp_path, json.dumps(answer(series(values))))
    slow = read_text("prometheus_range", tmp_path, json.dumps(answer(series([*values, [1767609120, "+Inf", 1]]))))
    assert fast[0] == slow[0]
    assert [reject["row_number"] for reject in fast[1]] == [52]
    assert [reject["row_number"] for reject in slow[1]] == [52, 53]


def test_refused_samples(tmp_path):
    values = [
        [1767600000, "+Inf"],
        [1767600060, "-1"],
        [1767600120, "0"],
        [17676, "300"],
        [1767600180, "1e9"],
        ["x"],
        None,
    ]
    rows, rejects, _ = read_text(
        "prometheus_range", tmp_path, json.dumps(answer(series([*values, [1767600240, "300"]])))
    )
    assert len(rows) == 1
    assert [reject["row_number"] for reject in rejects] == [1, 2, 3, 4, 5, 6, 7]
    for reject, word in zip(rejects, ["finite", "below", "0 W", "2010", "more than", "sample", "sample"], strict=True):
        assert word in reject["reason"]


def test_refused_series(tmp_path):
    bad = [
        {"metric": LABELS, "values": [[1767600000, "80"]]},
        series([[1767600000, "80"]], "DCGM_FI_DEV_SM_CLOCK"),
        {"metric": {"__name__": POWER}, "values": [[1767600000, "80"]]},
        {"values": [[1767600000, "80"]]},
        7,
    ]
    rows, rejects, _ = read_text("prometheus_range", tmp_path, json.dumps(answer(*bad, series([[1767600000, "80"]]))))
    assert len(rows) == 1
    for reject, word in zip(rejects, ["__name__", "not among", "no board", "no metric", "object"], strict=True):
        assert word in reject["reason"]


def test_host_of_the_target(tmp_path):
    one = series([[1767600000, "80"]])
    del one["metric"]["Hostname"]
    assert read_text("prometheus_range", tmp_path, json.dumps(answer(one)), host=None)[0][0]["host"] == "10.0.0.1"


def test_other_shapes(tmp_path):
    vector = {"status": "success", "data": {"resultType": "vector", "result": []}}
    vector["data"]["result"] = [{"metric": series([])["metric"], "value": [1767600000, "80"]}]
    assert len(read_text("prometheus_range", tmp_path, json.dumps(vector))[0]) == 1
    assert len(read_text("prometheus_range", tmp_path, json.dumps(GOOD["data"]["result"]))[0]) == 3
    assert read_text("prometheus_range", tmp_path, json.dumps(answer(series([]))))[0] == []


def test_refused_files(tmp_path):
    text = json.dumps(GOOD)
    assert "cut off" in error("prometheus_range", tmp_path, text[:-40])
    assert "cut off" in error("prometheus_range", tmp_path, text[:-2])
    assert "no valid JSON" in error("prometheus_range", tmp_path, text.replace(":", "=", 1))
    assert "follows" in error("prometheus_range", tmp_path, text + text)
    assert "web page" in error("prometheus_range", tmp_path, "<html>")
    bad = '{"status":"error","errorType":"timeout","error":"query timed out"}'
    assert "query timed out" in error("prometheus_range", tmp_path, bad)
    assert "no series" in error("prometheus_range", tmp_path, json.dumps(answer()))
    assert "scalar" in error("prometheus_range", tmp_path, '{"status":"success","data":{"resultType":"scalar"}}')


def test_series_over_many_blocks(tmp_path):
    values = [[1767600000 + k, f"{100 + k % 400}.25"] for k in range(400_000)]
    rows = read_text("prometheus_range", tmp_path, json.dumps(answer(series(values), series(values[:2], ENERGY))))[0]
    assert len(rows) == 400_002
    assert sum(row["power_milliw"] for row in rows[:-2]) == sum(100_250 + k % 400 * 1000 for k in range(400_000))


def test_detected():
    assert detected("prometheus_range", json.dumps(GOOD, indent=2))
    assert detected("prometheus_range", '[{"metric": {}}]')
    assert detected("prometheus_range", '{"status": 1}') is None


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(json.dumps(GOOD)))
def test_whatever_it_holds(tmp_path, raw):
    survives("prometheus_range", tmp_path, raw)
