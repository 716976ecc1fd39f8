import gzip

from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

LABELS = 'gpu="0",UUID="GPU-1",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="h-1"'
POWER, ENERGY, USE = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_UTIL"
SCRAPE = (
    f"# HELP {POWER} Power draw (in W).\n# TYPE {POWER} gauge\n{POWER}{{{LABELS}}} 612.345\n"
    f"{ENERGY}{{{LABELS}}} 987654321000\n{USE}{{{LABELS}}} 98\n"
)


def test_one_row_of_all_metrics(tmp_path):
    rows, rejects, notes = read_text("dcgm", tmp_path, SCRAPE)
    assert rows == [
        {
            "row_number": 3,
            "host": "h-1",
            "uuid": "GPU-1",
            "device_index": 0,
            "chip_name_given": "NVIDIA H100 80GB HBM3",
            "time_ms": AT_MS,
            "power_milliw": 612_345,
            "utilisation_pct": 98.0,
            "counter_microj": 987_654_321_000_000,
            "scope": "board",
        }
    ]
    assert rejects == []
    assert notes == []


def test_activity_of_the_parts_is_read_as_percent_into_the_same_row(tmp_path):
    names = ("SM_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE")
    values = (0.5, 0.25, 1.0)
    text = "".join(f"DCGM_FI_PROF_{name}{{{LABELS}}} {value}\n" for name, value in zip(names, values, strict=True))
    (row,), rejects, _ = read_text("dcgm", tmp_path, SCRAPE + text)
    assert [row[f"{part}_active_pct"] for part in ("sm", "tensor", "dram")] == [50.0, 25.0, 100.0]
    assert row["power_milliw"] == 612_345
    assert rejects == []
    _, rejects, _ = read_text("dcgm", tmp_path, SCRAPE + f"DCGM_FI_PROF_SM_ACTIVE{{{LABELS}}} 50\n")
    assert "over 100 %" in rejects[0]["reason"]


def test_detected():
    assert "DCGM_FI_DEV_POWER_USAGE" in detected("dcgm", SCRAPE)
    assert detected("dcgm", gzip.compress(SCRAPE.encode())) is not None
    assert detected("dcgm", b"\x1f\x8b no gzip") is None
    assert detected("dcgm", "up 1\n") is None
    assert detected("dcgm", '{"metric": "DCGM_FI_DEV_POWER_USAGE"}') is None
    assert detected("dcgm", b"\xff\xfe" + SCRAPE.encode("utf-16-le")) is not None


def test_times(tmp_path):
    rows = read_text("dcgm", tmp_path, SCRAPE, "scrape_2026-01-05T080100Z.prom", time=None)[0]
    assert rows[0]["time_ms"] == AT_MS + 60_000
    rows = read_text("dcgm", tmp_path, SCRAPE, "scrape_2026-01-05_09-00-00.prom", time=None, timezone="Europe/Berlin")
    assert rows[0][0]["time_ms"] == AT_MS
    assert read_text("dcgm", tmp_path, SCRAPE, "s_1767600000.prom", time=None)[0][0]["time_ms"] == AT_MS
    own = f"{POWER}{{{LABELS}}} 600 1767600030000\n{POWER}{{{LABELS}}} 600 1767600060.5\n"
    times = [row["time_ms"] for row in read_text("dcgm", tmp_path, own, time=None)[0]]
    assert times == [AT_MS + 30_000, AT_MS + 60_500]
    assert "--time" in error("dcgm", tmp_path, SCRAPE, time=None)
    assert "--time" in error("dcgm", tmp_path, SCRAPE, "s_2026-01-05T080000.prom", time=None, timezone=None)
    assert "2010" in error("dcgm", tmp_path, SCRAPE, time="1999-01-01T00:00:00Z")


def test_no_value_codes_are_gaps(tmp_path):
    codes = [
        "9223372036854775794",
        "9.223372036854776e+18",
        "2147483634",
        "140737488355328",
        "NaN",
        "1.8446744073709552e+19",
    ]
    text = "".join(f"{POWER}{{{LABELS}}} {code}\n" for code in codes)
    rows, rejects, notes = read_text("dcgm", tmp_path, text)
    assert (rows, rejects) == ([], [])
    assert notes == ["input: 6 readings without value (N/A, NaN or a code) are gaps, not zero."]
    counter = read_text("dcgm", tmp_path, f"{ENERGY}{{{LABELS}}} 2147483634\n")[0]
    assert counter[0]["counter_microj"] == 2_147_483_634_000


def test_mig_instances_are_parts_of_one_board(tmp_path):
    text = "".join(
        f'{POWER}{{{LABELS},GPU_I_PROFILE="{profile}",GPU_I_ID="{number}"}} 214.5\n'
        for number, profile in ((7, "1g.10gb"), (3, "3g.40gb"))
    )
    rows = read_text("dcgm", tmp_path, text)[0]
    assert [row["instance"] for row in rows] == ["7:1g.10gb", "3:3g.40gb"]
    assert {(row["uuid"], row["power_milliw"]) for row in rows} == {("GPU-1", 214_500)}


def test_pods_come_and_go(tmp_path):
    same = "".join(f'{POWER}{{{LABELS},pod="{pod}"}} 600\n' for pod in "ab")
    assert len(read_text("dcgm", tmp_path, same)[0]) == 1
    other = f'{POWER}{{{LABELS},pod="a"}} 600\n{POWER}{{{LABELS},pod="b"}} 500\n'
    rows, rejects, _ = read_text("dcgm", tmp_path, other)
    assert len(rows) == 1
    assert rejects[0]["row_number"] == 2
    assert "same board and time" in rejects[0]["reason"]


def test_refused_samples(tmp_path):
    lines = [
        f"{POWER}{{{LABELS}}} 612345",
        f"{POWER}{{{LABELS}}} 0",
        f"{POWER}{{{LABELS}}} -3",
        f"{POWER}{{{LABELS}}} +Inf",
        f"{USE}{{{LABELS}}} 101",
        f'{POWER}{{gpu="0"',
        f"{POWER}{{{LABELS}}}",
        f"{POWER}{{{LABELS}}} 600 1767600",
        f"{POWER}{{{LABELS}}} 640,00",
        f'{POWER}{{Hostname="h"}} 600',
        f'{POWER}{{gpu="x",UUID="y"}} 600',
        "?garbage",
    ]
    rows, rejects, _ = read_text("dcgm", tmp_path, "\r\n".join(lines) + "\r\n")
    assert rows == []
    assert [reject["row_number"] for reject in rejects] == list(range(1, len(lines) + 1))
    words = ["twice", "0 W", "finite", "finite", "over 100", "not closed", "no number", "2010", "no number"]
    words += ["no board", "no device index", "names no metric"]
    for reject, word in zip(rejects, words, strict=True):
        assert word in reject["reason"]


def test_escapes_and_openmetrics(tmp_path):
    text = f'{POWER}{{UUID="GPU-1",Hostname="a\\"b\\\\c"}} 6e2 # {{trace="x"}} 1\n# EOF\n'
    assert read_text("dcgm", tmp_path, text)[0][0]["host"] == 'a"b\\c'


def test_encodings(tmp_path):
    for raw in (b"\xef\xbb\xbf" + SCRAPE.encode(), SCRAPE.encode("utf-16"), SCRAPE.replace("\n", "\r\n").encode()):
        assert len(read_text("dcgm", tmp_path, raw)[0]) == 1
    rows, _, notes = read_text("dcgm", tmp_path, SCRAPE.replace("h-1", "rä-1").encode("latin-1"))
    assert rows[0]["host"] == "rä-1"
    assert notes == ["input is not UTF-8: read as Latin-1."]


def test_cut_last_line_is_noted(tmp_path):
    assert "line 5: the last line has no end" in read_text("dcgm", tmp_path, SCRAPE.rstrip())[2][0]


def test_instant_power_is_no_second_power(tmp_path):
    rows, rejects, _ = read_text("dcgm", tmp_path, SCRAPE + f"{POWER}_INSTANT{{{LABELS}}} 590\n")
    assert [row["power_milliw"] for row in rows] == [612_345]
    assert rejects == []


def test_packed(tmp_path):
    assert len(read_text("dcgm", tmp_path, gzip.compress(SCRAPE.encode()))[0]) == 1


def test_refused_files(tmp_path):
    assert "web page" in error("dcgm", tmp_path, "<!DOCTYPE html><html>log in</html>")
    assert "empty" in error("dcgm", tmp_path, "")
    assert "blank" in error("dcgm", tmp_path, "\n \n")
    assert "holds no sample" in error("dcgm", tmp_path, "up 1\n")
    assert "--host" in error("dcgm", tmp_path, f'{POWER}{{gpu="0"}} 600\n', host=None)
    assert "no end of line" in error("dcgm", tmp_path, b"a" * 6_000_000)
    assert "cannot be unpacked" in error("dcgm", tmp_path, b"\x1f\x8b\x08\x00garbage")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(SCRAPE))
def test_whatever_it_holds(tmp_path, raw):
    survives("dcgm", tmp_path, raw)
