from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

IPMITOOL = """
    Instantaneous power reading:                  6342 Watts
    Minimum during sampling period:               2210 Watts
    IPMI timestamp:                           Mon Jan  5 08:00:00 2026
    Sampling period:                          00000060 Seconds.
    Power reading state is:                   activated

"""
FREEIPMI = """Current Power                        : 6342 Watts
Average Power over sampling duration : 6100 watts
Time Stamp                           : 01/05/2026 - 08:00:00
Power Measurement                    : Active
"""
LOG = "epoch,host,watts,state\n1767600000,h-1,6300,activated\n1767600060,h-1,6320,activated\n"
LOG += "1767600120,h-1,0,deactivated\n"


def test_texts(tmp_path):
    for text, line in ((IPMITOOL, 2), (FREEIPMI, 1)):
        rows, rejects, _ = read_text("ipmi_dcmi", tmp_path, text, time=None)
        assert rejects == []
        assert rows == [{"row_number": line, "host": "node-1", "time_ms": AT_MS, "power_milliw": 6_342_000}]


def test_answers_after_each_other(tmp_path):
    rows = read_text("ipmi_dcmi", tmp_path, IPMITOOL + IPMITOOL.replace("08:00:00", "08:01:00"))[0]
    assert [row["time_ms"] for row in rows] == [AT_MS, AT_MS + 60_000]


def test_log(tmp_path):
    rows, rejects, notes = read_text("ipmi_dcmi", tmp_path, LOG, host=None)
    assert [(row["host"], row["power_milliw"]) for row in rows] == [("h-1", 6_300_000), ("h-1", 6_320_000)]
    assert rejects == []
    assert "1 readings without value" in notes[0]


def test_deactivated_is_no_reading(tmp_path):
    off = IPMITOOL.replace("6342", "0").replace(" activated", " deactivated")
    rows, rejects, notes = read_text("ipmi_dcmi", tmp_path, off)
    assert (rows, rejects, len(notes)) == ([], [], 1)


def test_steady_zero_is_refused(tmp_path):
    for text in (IPMITOOL.replace("6342", "0"), FREEIPMI.replace("6342", "0"), LOG.replace("6300", "0")):
        assert "0 W although active" in read_text("ipmi_dcmi", tmp_path, text)[1][0]["reason"]


def test_controller_without_clock(tmp_path):
    text = IPMITOOL.replace("Mon Jan  5 08:00:00 2026", "Thu Jan  1 00:00:42 1970")
    assert read_text("ipmi_dcmi", tmp_path, text)[0][0]["time_ms"] == AT_MS
    assert "--time" in error("ipmi_dcmi", tmp_path, text, time=None)


def test_other_logs(tmp_path):
    text = "timestamp;hostname;power\r\n2026-01-05T08:00:00Z;h;6300,5\r\n"
    assert read_text("ipmi_dcmi", tmp_path, text)[0][0]["power_milliw"] == 6_300_500
    text = LOG + "epoch,host,watts,state\n1767600180,h-1,N/A,activated\n1767600240,h-1"
    rows, rejects, notes = read_text("ipmi_dcmi", tmp_path, text)
    assert len(rows) == 2
    assert rejects[0]["row_number"] == 7
    assert "2 values where the header names 4" in rejects[0]["reason"]
    assert len(notes) == 2


def test_refused(tmp_path):
    assert "--host" in error("ipmi_dcmi", tmp_path, IPMITOOL, host=None)
    assert "--timezone" in error("ipmi_dcmi", tmp_path, IPMITOOL, timezone=None)
    assert "no column watts" in error("ipmi_dcmi", tmp_path, "epoch,host\n1,2\n")
    assert "no reading" in error("ipmi_dcmi", tmp_path, "Error: no DCMI capable\nbye: now\n")
    assert "web page" in error("ipmi_dcmi", tmp_path, "<html>")
    assert "unit" in read_text("ipmi_dcmi", tmp_path, IPMITOOL.replace("6342 Watts", "6342 BTU"))[1][0]["reason"]
    assert "no ISO" in read_text("ipmi_dcmi", tmp_path, IPMITOOL.replace("Mon Jan  5", "Mo 5."))[1][0]["reason"]


def test_detected():
    assert detected("ipmi_dcmi", IPMITOOL)
    assert detected("ipmi_dcmi", FREEIPMI)
    assert detected("ipmi_dcmi", LOG)
    assert detected("ipmi_dcmi", "time,power\n1,2\n") is None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(IPMITOOL) | damaged(FREEIPMI) | damaged(LOG))
def test_whatever_it_holds(tmp_path, raw):
    survives("ipmi_dcmi", tmp_path, raw)
