import json

import pytest
from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

NEW = [
    {
        "gpu": 0,
        "power": {"socket_power": {"value": 548, "unit": "W"}, "gfx_voltage": {"value": "N/A", "unit": "mV"}},
        "energy": {"total_energy_consumption": {"value": 123456.789, "unit": "J"}},
        "usage": {"gfx_activity": {"value": 97, "unit": "%"}},
    },
    {"gpu": 1, "power": {"socket_power": "N/A"}, "energy": "N/A", "usage": "N/A"},
]
ROCM = {
    "card0": {
        "Average Graphics Package Power (W)": "131.0",
        "Current Socket Graphics Package Power (W)": "133.0",
        "Accumulated Energy (uJ)": "1004108.41",
        "Energy counter": "65628",
        "GPU use (%)": "97",
        "Serial Number": "692231000131",
    },
    "card1": {"Average Graphics Package Power (W)": "N/A", "GPU use (%)": "0"},
    "system": {"Driver version": "6.8.5"},
}
BOARD = {"host": "node-1", "time_ms": AT_MS, "scope": "board"}


@pytest.mark.parametrize("wrap", [list, lambda boards: {"gpu_data": list(boards)}])
def test_values_with_units(tmp_path, wrap):
    rows, rejects, notes = read_text("amd_smi", tmp_path, json.dumps(wrap(NEW)))
    assert rejects == []
    values = {"power_milliw": 548_000, "counter_microj": 123_456_789_000, "utilisation_pct": 97.0}
    assert rows == [{"row_number": 1, "device_index": 0, **BOARD, **values}]
    assert "1 readings without value" in notes[0]


def test_texts_with_units(tmp_path):
    old = [{"gpu": 0, "power": {"socket_power": "203 W"}, "energy": {"total_energy_consumption": "1.004 J"}}]
    row = read_text("amd_smi", tmp_path, json.dumps(old))[0][0]
    assert (row["power_milliw"], row["counter_microj"]) == (203_000, 1_004_000)


def test_rocm_smi(tmp_path):
    rows, rejects, _ = read_text("amd_smi", tmp_path, json.dumps(ROCM))
    assert rejects == []
    assert rows[0]["power_milliw"] == 133_000
    assert rows[0]["counter_microj"] == 1_004_108
    assert rows[0]["serial"] == "692231000131"
    assert rows[1] == {"row_number": 2, "device_index": 1, **BOARD, "utilisation_pct": 0.0}


def test_codes_and_zero(tmp_path):
    for value in (65535, 4294967295, "18446744073709551615"):
        board = {"gpu": 0, "power": {"socket_power": value}}
        rows, rejects, notes = read_text("amd_smi", tmp_path, json.dumps([board]))
        assert (rows, rejects, len(notes)) == ([], [], 1)
    rows, rejects, _ = read_text("amd_smi", tmp_path, json.dumps([{"gpu": 0, "power": {"socket_power": "0 W"}}]))
    assert rows == []
    assert "0 W" in rejects[0]["reason"]


def test_documents_after_each_other(tmp_path):
    text = "\n".join(json.dumps([{**NEW[0], "timestamp": 1767600000 + 5 * k}]) for k in range(3))
    rows = read_text("amd_smi", tmp_path, text, time=None)[0]
    assert [row["time_ms"] for row in rows] == [AT_MS, AT_MS + 5000, AT_MS + 10_000]


def test_refused(tmp_path):
    text = json.dumps(NEW)
    assert "cut off" in error("amd_smi", tmp_path, text[:-30])
    assert "no board" in error("amd_smi", tmp_path, "{}")
    assert "--host" in error("amd_smi", tmp_path, text, host=None)
    assert "--time" in error("amd_smi", tmp_path, text, time=None)
    assert "web page" in error("amd_smi", tmp_path, "<html>")
    assert "no valid JSON" in error("amd_smi", tmp_path, "GPU  POWER  548 W" + "x" * 99)
    rejects = read_text("amd_smi", tmp_path, '[7, {"gpu": "x"}, {"gpu": null, "power": {}}]')[1]
    for reject, word in zip(rejects, ["no object", "no device index", "no number and no UUID"], strict=True):
        assert word in reject["reason"]


def test_detected():
    assert detected("amd_smi", json.dumps(NEW, indent=2))
    assert detected("amd_smi", json.dumps(ROCM))
    assert detected("amd_smi", '{"status": "success"}') is None
    assert detected("amd_smi", "gpu,power") is None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(json.dumps(NEW)) | damaged(json.dumps(ROCM)))
def test_whatever_it_holds(tmp_path, raw):
    survives("amd_smi", tmp_path, raw)
