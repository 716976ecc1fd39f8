import json

from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

CONTROL = {"MemberId": "0", "Name": "Server Power Control", "PowerConsumedWatts": 6342, "PowerCapacityWatts": 13200}
POWER = {
    "@odata.type": "#Power.v1_7_1.Power",
    "@odata.id": "/redfish/v1/Chassis/Self/Power",
    "PowerControl": [CONTROL],
    "PowerSupplies": [{"PowerInputWatts": 1610}, {"PowerInputWatts": None}],
}
ENVIRONMENT = {
    "@odata.type": "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
    "PowerWatts": {"Reading": 6342.0, "ReadingUnits": "W"},
    "EnergykWh": {"Reading": 48211.7},
}


def test_power(tmp_path):
    rows, rejects, _ = read_text("redfish", tmp_path, json.dumps(POWER))
    assert rejects == []
    assert rows == [{"row_number": 1, "host": "node-1", "time_ms": AT_MS, "power_milliw": 6_342_000}]


def test_environment(tmp_path):
    row = read_text("redfish", tmp_path, json.dumps(ENVIRONMENT))[0][0]
    assert row["power_milliw"] == 6_342_000
    assert row["counter_microj"] == 173_562_120_000_000_000


def test_several_controls(tmp_path):
    parts = [{"Name": "CPU Sub-system Power", "PowerConsumedWatts": 400}, CONTROL]
    assert (
        read_text("redfish", tmp_path, json.dumps({**POWER, "PowerControl": parts}))[0][0]["power_milliw"] == 6_342_000
    )
    rejects = read_text("redfish", tmp_path, json.dumps({**POWER, "PowerControl": [CONTROL, CONTROL]}))[1]
    assert "none is plainly the whole node's" in rejects[0]["reason"]


def test_null_is_a_gap_and_zero_is_refused(tmp_path):
    null = {**POWER, "PowerControl": [{**CONTROL, "PowerConsumedWatts": None}]}
    rows, rejects, notes = read_text("redfish", tmp_path, json.dumps(null))
    assert (rows, rejects, len(notes)) == ([], [], 1)
    zero = {**POWER, "PowerControl": [{**CONTROL, "PowerConsumedWatts": 0}]}
    assert "0 W" in read_text("redfish", tmp_path, json.dumps(zero))[1][0]["reason"]


def test_log_of_answers(tmp_path):
    lines = [json.dumps({**ENVIRONMENT, "Timestamp": f"2026-01-05T08:0{k}:00+00:00"}) for k in range(3)]
    rows = read_text("redfish", tmp_path, "\n".join(lines), time=None)[0]
    assert [(row["row_number"], row["time_ms"]) for row in rows] == [(1 + k, AT_MS + 60_000 * k) for k in range(3)]


def test_refused(tmp_path):
    answers = [
        {"error": {"message": "no session"}},
        {**ENVIRONMENT, "@odata.id": "/redfish/v1/Systems/1/Processors/GPU_1/EnvironmentMetrics"},
        {"Id": "Thermal"},
        7,
        {**ENVIRONMENT, "PowerWatts": {"Reading": 5e9}, "EnergykWh": None},
    ]
    rows, rejects, _ = read_text("redfish", tmp_path, json.dumps(answers))
    assert rows == []
    words = ["no session", "part of the node", "neither", "no object", "more than any node"]
    for reject, word in zip(rejects, words, strict=True):
        assert word in reject["reason"]
    assert "--host" in error("redfish", tmp_path, json.dumps(POWER), host=None)
    assert "--time" in error("redfish", tmp_path, json.dumps(POWER), time=None)
    assert "cut off" in error("redfish", tmp_path, json.dumps(POWER)[:-20])
    assert "web page" in error("redfish", tmp_path, "<html><body>401</body></html>")


def test_detected():
    assert detected("redfish", json.dumps(POWER, indent=1))
    assert detected("redfish", '{"PowerConsumedWatts": 1}')
    assert detected("redfish", '{"status": "success"}') is None
    assert detected("redfish", "power") is None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(json.dumps(POWER)) | damaged(json.dumps(ENVIRONMENT)))
def test_whatever_it_holds(tmp_path, raw):
    survives("redfish", tmp_path, raw)
