"""Known formats of readings, read from the shared samples, give the totals that their ``expected.json`` states."""

import csv
import json

import numpy as np
import pytest
from reading_helpers import AT, read

from energy.importers.counters import (
    AMBIGUOUS,
    RESTART,
    WRAP,
    energy_of_counters,
    energy_of_power,
    totals_of_counters,
)
from energy.importers.kepler import outermost, part_of

MICROJ_PER_KWH = 3.6e12
MINUTE = 60_000
BOARD_MOST = 1_400_000  # mW: twice the maximum of the board with the most power in these files


@pytest.fixture(scope="module")
def inputs(shared_folder):
    return shared_folder / "data/inputs"


def expected(folder):
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def printed(kwh, text_value):
    """Tell whether a number is the stated one to the digits that are printed."""
    digits = len(str(text_value).partition(".")[2])
    return round(float(kwh), digits) == text_value


def series(rows, column, device, scope="board"):
    """Return times and values of one board."""
    chosen = [row for row in rows if row.get("device_index") == device and column in row and row["scope"] == scope]
    return np.array([row["time_ms"] for row in chosen]), np.array([row[column] for row in chosen])


def totals(times, power, interval_ms, rule):
    one = np.zeros(times.size, dtype=np.int64)
    return energy_of_power(one, times, power, interval_ms, rule)


def kwh(microj):
    return microj[0] / MICROJ_PER_KWH


@pytest.fixture(scope="module")
def range_rows(inputs):
    return read("prometheus_range", inputs / "prometheus_range/query_range_power_and_energy.json", host=None, time=None)


def test_prometheus_power(inputs, range_rows):
    stated = expected(inputs / "prometheus_range")
    rows, rejects, notes = range_rows
    assert rejects == []
    assert "partial results" in notes[0]
    times, power = series(rows, "power_milliw", 0)
    hold, line = (totals(times, power, MINUTE, rule) for rule in ("hold", "trapezoid"))
    assert hold.measured_ms[0] == stated["gpu0"]["measured_coverage_min"] * MINUTE
    assert printed(kwh(hold.measured_microj), stated["gpu0"]["kwh_measured_only_hold"])
    assert printed(kwh(hold.bridged_microj), stated["gpu0"]["kwh_hold_last_bridged"])
    assert printed(kwh(line.bridged_microj), stated["gpu0"]["kwh_trapezoid_bridged"])


def test_prometheus_counter_that_restarts(inputs, range_rows):
    stated = expected(inputs / "prometheus_range")["gpu1"]["kwh"]
    times, counter = series(range_rows[0], "counter_microj", 1)
    found = energy_of_counters(np.zeros(times.size, dtype=np.int64), times, counter, BOARD_MOST)
    assert np.flatnonzero(found.flags == RESTART).tolist() == [39]
    total = totals_of_counters(found)
    assert printed(kwh(total.measured_microj), stated)
    assert total.measured_ms[0] == 59 * MINUTE
    assert kwh(total.bridged_microj) == pytest.approx(0.5, abs=1e-9)


def test_prometheus_nan_is_a_gap(inputs, range_rows):
    stated = expected(inputs / "prometheus_range")["gpu2"]["kwh_bridged"]
    times, power = series(range_rows[0], "power_milliw", 2)
    assert times.size == 59
    for rule in ("hold", "trapezoid"):
        assert printed(kwh(totals(times, power, MINUTE, rule).bridged_microj), stated)


def test_dcgm_counters(inputs):
    folder = inputs / "dcgm_exporter"
    stated = expected(folder)
    rows = []
    for name in ("scrape_2026-01-05T080000Z.prom", "scrape_2026-01-05T080100Z.prom"):
        rows += read("dcgm", folder / name, host=None, time=None)[0]
    for device in (0, 1):
        times, counter = series(rows, "counter_microj", device)
        found = energy_of_counters(np.zeros(2, dtype=np.int64), times, counter, BOARD_MOST)
        assert times[1] - times[0] == stated["between_scrapes_s"] * 1000
        assert printed(found.energy_microj[0] / 1e6, stated["gpu_energy_j"][f"gpu{device}"])
        assert printed(kwh(found.energy_microj), stated["kwh"][f"gpu{device}"])


def test_dcgm_mig_is_one_board(inputs):
    folder = inputs / "dcgm_exporter"
    rows = read("dcgm", folder / "scrape_mig.prom", time=AT)[0]
    assert len({row["instance"] for row in rows}) == 3
    boards = {(row["uuid"], row["time_ms"]): row["power_milliw"] for row in rows}
    assert sum(boards.values()) / 1000 == expected(folder)["mig_board_power_w"]


def test_nvidia_smi(inputs):
    folder = inputs / "nvidia_smi"
    stated = expected(folder)
    rows, rejects, notes = read("nvidia_smi", folder / "nvidia_smi_query_5s.csv")
    assert rejects == []
    assert "1 readings without value" in notes[0]
    for device in (0, 1):
        times, power = series(rows, "power_milliw", device)
        hold, line = (totals(times, power, 5000, rule) for rule in ("hold", "trapezoid"))
        assert hold.bridged_ms[0] == pytest.approx(stated["span_s"] * 1000, abs=10)
        assert kwh(hold.bridged_microj) == pytest.approx(stated["kwh_hold_last"][str(device)], rel=1e-3)
        assert kwh(line.bridged_microj) == pytest.approx(stated["kwh_trapezoid"][str(device)], rel=1e-3)
        # with the jitter taken away, to the printed digits
        even = np.rint(times / 5000).astype(np.int64) * 5000
        assert printed(kwh(totals(even, power, 5000, "hold").bridged_microj), stated["kwh_hold_last"][str(device)])
        assert printed(kwh(totals(even, power, 5000, "trapezoid").bridged_microj), stated["kwh_trapezoid"][str(device)])


def test_superchip_module_is_no_second_board(inputs):
    rows = read("nvidia_smi", inputs / "nvidia_smi/nvidia_smi_nounits_superchip.csv")[0]
    assert [row["scope"] for row in rows[:2]] == ["board", "module"]
    assert [row["power_milliw"] for row in rows[:2]] == [610_100, 905_000]


@pytest.mark.parametrize(
    ("format_name", "file", "values"),
    [
        ("slurm_job_exporter", "slurm_job_exporter.prom", [302_176, 72_894]),
        ("amd_smi", "amd_smi_metric_power_energy.json", [548_000]),
        ("amd_smi", "amd_smi_old_no_units.json", [203_000]),
        ("amd_smi", "rocm_smi.json", [133_000, 131_000]),
        ("redfish", "chassis_power.json", [6_342_000]),
        ("redfish", "environment_metrics.json", [6_342_000]),
        ("ipmi_dcmi", "freeipmi_dcmi_statistics.txt", [6_342_000]),
        ("ipmi_dcmi", "ipmitool_dcmi_power_reading.txt", [6_342_000]),
    ],
)
def test_powers(inputs, format_name, file, values):
    rows, rejects, _ = read(format_name, inputs / format_name / file)
    assert rejects == []
    assert [row["power_milliw"] for row in rows] == values


def test_dcmi_log_leaves_out_the_deactivated_zero(inputs):
    rows, rejects, notes = read("ipmi_dcmi", inputs / "ipmi_dcmi/dcmi_power_log.csv", host=None)
    assert len(rows) == 11
    assert min(row["power_milliw"] for row in rows) == 6_300_000
    assert rejects == []
    assert len(notes) == 1


def test_kepler(inputs):
    rows, _, notes = read("kepler", inputs / "kepler/kepler_current.prom", host=None)
    assert {row["part"]: row["counter_microj"] / 1e6 for row in rows} == {
        "package-0": 400_000,
        "package-0/core": 300_000,
    }
    assert outermost(row["part"] for row in rows) == ["package-0"]
    assert len(notes) == 4
    rows, _, notes = read("kepler", inputs / "kepler/kepler_before_0_10.prom", host=None)
    assert rows == []
    assert "1.925e+06 J" in notes[0]


def table(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_case_mig_board_once(shared_folder):
    folder = shared_folder / "data/cases/mig_instances_repeat_board_power"
    stated = json.loads((folder / "case.json").read_text(encoding="utf-8"))["expected"]
    boards = {(row["uuid"], row["ts_utc"]): float(row["power_w"]) for row in table(folder / "samples.csv")}
    times = np.array([np.datetime64(at.removesuffix("Z"), "ms").astype(np.int64) for _, at in sorted(boards)])
    power = np.array([round(boards[key] * 1000) for key in sorted(boards)])
    assert printed(kwh(totals(times, power, 10 * MINUTE, "hold").bridged_microj), stated["board_kwh"])


def test_case_counter_absent(shared_folder):
    folder = shared_folder / "data/cases/energy_counter_absent"
    stated = json.loads((folder / "case.json").read_text(encoding="utf-8"))["expected"]
    rows = table(folder / "samples.csv")
    times = np.array([np.datetime64(row["ts_utc"].removesuffix("Z"), "ms").astype(np.int64) for row in rows])
    power = np.array([round(float(row["power_w"]) * 1000) for row in rows])
    found = kwh(totals(times, power, MINUTE, "hold").bridged_microj)
    assert found == pytest.approx(stated["kwh_hold_last"], rel=stated["tolerance_rel"])
    assert all(row["total_energy_mj"] == "" for row in rows)


def test_wrong_numbers_03_meter_domains(shared_folder):
    rows = table(shared_folder / "data/cases/wrong_numbers/03_meter_domains.csv")
    sums = {}
    for host in ("h1", "h2"):
        parts = {}
        for row in rows:
            if row["host"] == host:
                number = "".join(filter(str.isdigit, row["path"].rpartition("pkg")[2].partition("/")[0]))
                prefix = "intel-rapl-mmio" if row["interface"] == "mmio" else "intel-rapl"
                parts[part_of(row["domain"], f"{prefix}:{number}" if number else "")] = float(row["power_w"])
        sums[host] = sum(parts[name] for name in outermost(parts))
        if host == "h2":
            packages = sum(parts[name] for name in outermost(parts) if name.startswith("package"))
            assert packages == 119.5
    assert sums == {"h1": 9.61, "h2": 133.5}


def test_wrong_numbers_04_wrap(shared_folder):
    rows = table(shared_folder / "data/cases/wrong_numbers/04_counter_wrap.csv")
    device = np.array([int(row["domain"].removeprefix("pkg")) for row in rows])
    times = np.array([np.datetime64(row["time_utc"].removesuffix("Z"), "ms").astype(np.int64) for row in rows])
    counter = np.array([int(row["energy_uj"]) for row in rows])
    span = np.array([int(row["max_energy_range_uj"]) for row in rows])
    found = energy_of_counters(device, times, counter, 500_000, range_microj=span)
    assert found.energy_microj[:4].tolist() == [12_000_000_000] * 4
    assert found.flags.tolist() == [0, WRAP, 0, 0, AMBIGUOUS]
    assert found.known.tolist() == [True] * 4 + [False]
    assert found.least_microj[4] == 10_000_000_000
    assert totals_of_counters(found).measured_microj.tolist() == [48_000_000_000, 0]


def test_wrong_numbers_07_no_counter(shared_folder):
    rows = table(shared_folder / "data/cases/wrong_numbers/07_no_counter.csv")
    times = np.array([int(row["time_s"]) * 1000 for row in rows])
    power = np.array([int(row["power_w"]) * 1000 for row in rows])
    assert totals(times, power, 10_000, "trapezoid").bridged_microj.tolist() == [13_700_000_000]
    assert totals(times, power, 10_000, "hold").bridged_microj[0] == pytest.approx(13.7e9, rel=0.05)
