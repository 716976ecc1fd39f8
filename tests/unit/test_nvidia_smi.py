import pytest
from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

HEADER = "timestamp, index, name, uuid, power.draw [W], power.limit [W], utilization.gpu [%], utilization.memory [%]\n"
LINE = "2026/01/05 08:00:00.123, 1, NVIDIA H100 80GB HBM3, GPU-1, 640.00 W, 700.00 W, 99 %, 4 %\n"


def test_units_in_cells(tmp_path):
    rows, rejects, _ = read_text("nvidia_smi", tmp_path, HEADER + LINE)
    assert rejects == []
    assert rows == [
        {
            "row_number": 2,
            "host": "node-1",
            "uuid": "GPU-1",
            "device_index": 1,
            "chip_name_given": "NVIDIA H100 80GB HBM3",
            "time_ms": AT_MS + 123,
            "power_milliw": 640_000,
            "utilisation_pct": 99.0,
            "scope": "board",
        }
    ]


@pytest.mark.parametrize("word", ["[N/A]", "[Not Supported]", "[Unknown Error]", "N/A", "[GPU is lost]", ""])
def test_gaps(tmp_path, word):
    line = LINE.replace("640.00 W", word).replace("99 %", word)
    rows, rejects, notes = read_text("nvidia_smi", tmp_path, HEADER + line + LINE)
    assert len(rows) == 1
    assert rejects == []
    assert "1 readings without value" in notes[0]


def test_module_is_no_second_board(tmp_path):
    text = "timestamp, uuid, power.draw.average [W], power.draw.instant [W], module.power.draw.average [W]\n"
    text += (
        "2026/01/05 08:00:00.000, GPU-9, 610.10, 600.40, 905.00\n2026/01/05 08:01:00.000, GPU-9, [N/A], 601.0, [N/A]\n"
    )
    rows = read_text("nvidia_smi", tmp_path, text)[0]
    assert [(row["scope"], row["power_milliw"]) for row in rows] == [
        ("board", 610_100),
        ("module", 905_000),
        ("board", 601_000),
    ]


def test_local_time(tmp_path):
    rows = read_text("nvidia_smi", tmp_path, HEADER + LINE, timezone="Europe/Berlin")[0]
    assert rows[0]["time_ms"] == AT_MS + 123 - 3_600_000
    assert "--timezone" in error("nvidia_smi", tmp_path, HEADER + LINE, timezone=None)
    twice = LINE.replace("2026/01/05 08", "2025/10/26 02")
    rejects = read_text("nvidia_smi", tmp_path, HEADER + twice, timezone="Europe/Berlin")[1]
    assert "occurs twice" in rejects[0]["reason"]


def test_header_again_and_cut_lines(tmp_path):
    text = HEADER + LINE + HEADER + LINE.replace("00.123", "05.123") + LINE[:60]
    rows, rejects, notes = read_text("nvidia_smi", tmp_path, text)
    assert [row["row_number"] for row in rows] == [2, 4]
    assert rejects[0]["row_number"] == 5
    assert "it was cut" in rejects[0]["reason"]
    assert "no end" in notes[0]


def test_without_header(tmp_path):
    assert read_text("nvidia_smi", tmp_path, LINE.replace(", 700.00 W", ""))[0][0]["power_milliw"] == 640_000
    assert "no header" in error("nvidia_smi", tmp_path, LINE)  # power and limit look alike
    assert "no header" in error("nvidia_smi", tmp_path, "2026/01/05 08:00:00.123, 1, 640.00\n")


def test_other_separators_and_decimals(tmp_path):
    text = (HEADER + LINE).replace(",", ";").replace("640.00", "640,50")
    assert read_text("nvidia_smi", tmp_path, text)[0][0]["power_milliw"] == 640_500
    text = HEADER + LINE.replace("640.00 W", "640000 mW")
    assert read_text("nvidia_smi", tmp_path, text)[0][0]["power_milliw"] == 640_000


def test_refused_values(tmp_path):
    for power, word in (("0.00 W", "0 W"), ("640000 W", "twice"), ("640 Q", "unit"), ("x", "no number")):
        rows, rejects, _ = read_text("nvidia_smi", tmp_path, HEADER + LINE.replace("640.00 W", power))
        assert word in rejects[0]["reason"]
        assert "power_milliw" not in rows[0]
        assert rows[0]["utilisation_pct"] == 99


def test_refused_files(tmp_path):
    assert "--host" in error("nvidia_smi", tmp_path, HEADER + LINE, host=None)
    assert "no column timestamp" in error("nvidia_smi", tmp_path, "index, power.draw [W]\n0, 5 W\n")
    assert "uuid or index" in error("nvidia_smi", tmp_path, "timestamp, power.draw [W]\n2026/01/05 08:00:00, 5 W\n")
    assert "no column power.draw" in error("nvidia_smi", tmp_path, "timestamp, index, fan.speed\n")
    assert "no reading" in error("nvidia_smi", tmp_path, HEADER)
    assert "web page" in error("nvidia_smi", tmp_path, "<html>")


def test_detected():
    assert detected("nvidia_smi", b"\xef\xbb\xbf" + HEADER.encode())
    assert detected("nvidia_smi", LINE)
    assert detected("nvidia_smi", "ts,host,gpu,power_w\n") is None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(HEADER + LINE * 2))
def test_whatever_it_holds(tmp_path, raw):
    survives("nvidia_smi", tmp_path, raw)
