"""Known formats of readings: what is read of the shared samples, and the totals that a ledger shows of them.

Printed totals are asked of the views of a ledger that took the file in, to the digits that are printed.
"""

import csv
import json

import numpy as np
import pytest
from ingest_helpers import ledger, rows, take
from reading_helpers import AT, read

from energy.importers.kepler import outermost, part_of
from energy.ledger.diagnosis import doctor
from energy.ledger.telemetry import read_day

KWH_PER_J = 1 / 3.6e6
SITE = """\
factor_policy: nearest any
sites:
  siteA:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "gpu-h-[001-006]", chip: NVIDIA H100 80GB HBM3, chips: 8}
      - {pattern: "gpu-a-[001-009]", chip: NVIDIA A100-SXM4-80GB, chips: 8}
"""
HOUR = "hour_utc = TIMESTAMPTZ '2026-01-05 08:00Z'"
FIRST_KEY = "SELECT device_index, device_key FROM core.device ORDER BY 1"


@pytest.fixture(scope="module")
def inputs(shared_folder):
    return shared_folder / "data/inputs"


@pytest.fixture
def folder(tmp_path):
    return ledger(tmp_path / "ledger", SITE)


def expected(folder):
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def printed(kwh, text_value):
    """Tell whether a number is the stated one to the digits that are printed."""
    digits = len(str(text_value).partition(".")[2])
    return round(float(kwh), digits) == text_value


def shown(folder, where=HOUR):
    """Return (minutes, kWh) by board and tier, as the views show them."""
    sql = (
        "SELECT device_index, tier, CAST(sum(chip_h) AS DOUBLE) * 60 AS minutes, "
        "CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh "
        f"FROM device_coverage WHERE {where} AND tier <> 'missing' GROUP BY ALL ORDER BY ALL"
    )
    return {(row["device_index"], row["tier"]): (row["minutes"], row["kwh"]) for row in rows(folder, sql)}


def total(found, device):
    """Return kWh of a board over all tiers: with its short gaps bridged."""
    return sum(kwh for (index, _), (_, kwh) in found.items() if index == device)


def samples(folder, device):
    """Return times (ms of the day) and watts of a board, as the ledger keeps them."""
    (path,) = [row["partition_path"] for row in rows(folder, "SELECT partition_path FROM raw.telemetry_file")]
    keys = {row["device_index"]: row["device_key"] for row in rows(folder, FIRST_KEY)}
    day = read_day(folder / path)
    mine = day["device_key"] == keys[device]
    return day["time_ms"][mine].astype(np.int64), day["power_milliw"][mine] / 1000


@pytest.fixture
def prometheus(folder, inputs):
    take(folder, "prometheus-range", inputs / "prometheus_range/query_range_power_and_energy.json")
    return folder, expected(inputs / "prometheus_range")


def test_prometheus_power(prometheus):
    """What was read, and with its gap bridged. The ledger holds readings; the trapezoid is another rule of its samples.

    The gap lies between equal powers, so that the mean of its sides and the last one held are the same.
    """
    folder, stated = prometheus
    found = shown(folder)
    minutes, kwh = found[0, "integrated"]
    assert minutes == pytest.approx(stated["gpu0"]["measured_coverage_min"], abs=1e-6)
    assert printed(kwh, stated["gpu0"]["kwh_measured_only_hold"])
    assert found[0, "modelled"][0] == pytest.approx(60 - minutes, abs=1e-6)
    assert printed(total(found, 0), stated["gpu0"]["kwh_hold_last_bridged"])
    times, watts = samples(folder, 0)
    assert printed(np.trapezoid(watts, times / 1000) * KWH_PER_J, stated["gpu0"]["kwh_trapezoid_bridged"])


def test_prometheus_counter_that_restarts(prometheus):
    folder, stated = prometheus
    found = shown(folder)
    minutes, kwh = found[1, "measured"]
    assert minutes == pytest.approx(59, abs=1e-6)
    assert printed(kwh, stated["gpu1"]["kwh"])
    assert found[1, "modelled"][0] == pytest.approx(1, abs=1e-6)
    assert "bridged 0.5 kWh" in stated["gpu1"]["note"]
    assert total(found, 1) == pytest.approx(0.5, abs=1e-9)
    assert any("counter fell 1" in finding.text for finding in doctor(folder).findings)


def test_prometheus_nan_is_a_gap(prometheus):
    folder, stated = prometheus
    found = shown(folder)
    assert found[2, "modelled"][0] == pytest.approx(3, abs=1e-6)
    assert printed(total(found, 2), stated["gpu2"]["kwh_bridged"])


def test_dcgm_counters(folder, inputs):
    stated = expected(inputs / "dcgm_exporter")
    for path in sorted((inputs / "dcgm_exporter").glob("scrape_2026*.prom")):
        take(folder, "dcgm", path)
    found = shown(folder)
    for device in (0, 1):
        minutes, kwh = found[device, "measured"]
        assert minutes * 60 == pytest.approx(stated["between_scrapes_s"], abs=1e-6)
        assert printed(kwh / KWH_PER_J, stated["gpu_energy_j"][f"gpu{device}"])
        assert printed(kwh, stated["kwh"][f"gpu{device}"])


def test_dcgm_mig_is_one_board(folder, inputs):
    take(folder, "dcgm", inputs / "dcgm_exporter/scrape_mig.prom", time=AT)
    ((minutes, kwh),) = shown(folder).values()
    assert kwh / minutes * 60_000 == pytest.approx(expected(inputs / "dcgm_exporter")["mig_board_power_w"], abs=1e-6)


def test_nvidia_smi(folder, inputs):
    """The stated span ends with the last reading, which the ledger holds for its interval of 5 s besides."""
    stated = expected(inputs / "nvidia_smi")
    name = "nvidia_smi_query_5s.csv"
    done = take(folder, "nvidia-smi", inputs / "nvidia_smi" / name, host="gpu-h-001", timezone="UTC")
    assert done.rows_rejected == 0
    assert any("1 readings without value" in note for note in done.notes)
    found = shown(folder)
    for device in (0, 1):
        times, watts = samples(folder, device)
        assert times[-1] - times[0] == pytest.approx(stated["span_s"] * 1000, abs=10)
        interval_s = sum(minutes for (index, _), (minutes, _) in found.items() if index == device) * 60
        interval_s -= (times[-1] - times[0]) / 1000
        assert interval_s == pytest.approx(5, abs=0.01)
        in_span = total(found, device) - watts[-1] * interval_s * KWH_PER_J
        assert in_span == pytest.approx(stated["kwh_hold_last"][str(device)], rel=1e-3)
        line = np.trapezoid(watts, times / 1000) * KWH_PER_J
        assert line == pytest.approx(stated["kwh_trapezoid"][str(device)], rel=1e-3)
        # with the jitter taken away, to the printed digits
        even = np.rint(times / 5000) * 5
        assert printed((watts[:-1] * np.diff(even)).sum() * KWH_PER_J, stated["kwh_hold_last"][str(device)])
        assert printed(np.trapezoid(watts, even) * KWH_PER_J, stated["kwh_trapezoid"][str(device)])
    assert [key for key in found if key[1] == "modelled"] == [(1, "modelled")]


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


def test_wrong_numbers_04_wrap(folder, tmp_path, shared_folder):
    """One board stands for each domain; the range comes from the mapping, and is said with the ambiguous hour."""
    given = table(shared_folder / "data/cases/wrong_numbers/04_counter_wrap.csv")
    lines = [f"{row['time_utc']},gpu-h-001,{row['domain'][-1]},{row['energy_uj']}" for row in given]
    path, rules = tmp_path / "c.csv", tmp_path / "c.yaml"
    path.write_text("\n".join(["time,host,gpu,total", *lines]) + "\n", encoding="utf-8")
    (span,) = {row["max_energy_range_uj"] for row in given}
    rules.write_text(
        f"format: power\ninterval: 60 s\ncounter_range: {span} uJ_chip\ncolumns:\n  time_utc: time\n  host: host\n"
        "  device_index: gpu\n  counter: {column: total, unit: uJ_chip}\n",
        encoding="utf-8",
    )
    take(folder, "power", path, mapping=str(rules))
    found = shown(folder, "hour_utc < TIMESTAMPTZ '2026-01-01 00:00Z'")
    assert {key: kwh / KWH_PER_J for key, (_, kwh) in found.items()} == {(0, "measured"): pytest.approx(48_000)}
    faults = rows(
        folder,
        "SELECT device_key, restart_count, wrap_count, ambiguous_wrap_count, least_energy_chip_kwh AS least "
        "FROM core.counter_hour WHERE restart_count + wrap_count + ambiguous_wrap_count > 0 ORDER BY 1",
    )
    assert [tuple(row.values())[1:4] for row in faults] == [(0, 1, 0), (0, 0, 1)]
    assert float(faults[1]["least"]) / KWH_PER_J == pytest.approx(10_000)
    assert any("perhaps once more (at least 0.00277778 kWh" in finding.text for finding in doctor(folder).findings)
