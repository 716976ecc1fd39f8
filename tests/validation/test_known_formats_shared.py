"""The shared samples of known formats, brought to a ledger, give the totals that their ``expected.json`` states."""

import json
from datetime import UTC, datetime

import pytest
from ingest_helpers import ledger, rejects, rows, take

from energy.ledger.intake import Request, ingest

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
      - {pattern: "cpu-011", chip: NVIDIA H100 80GB HBM3, chips: 0}
      - {pattern: "mi-1", chip: AMD Instinct MI300X, chips: 8}
      - {pattern: "ws-1", chip: Tesla P100-PCIE-16GB, chips: 1}
"""
AT = datetime(2026, 1, 5, 8, tzinfo=UTC)
BOARDS = (
    "SELECT device.device_index, reading.tier, sum(covered_chip_ms) / 1000.0 AS s, "
    "CAST(sum(energy_chip_microj) AS DOUBLE) / 1000000 AS j FROM core.device_hour AS reading "
    "JOIN core.device AS device ON device.device_key = reading.device_key "
    "WHERE hour_utc < TIMESTAMPTZ '2026-01-05 09:00Z' GROUP BY ALL ORDER BY ALL"
)
POWER = "DCGM_FI_DEV_POWER_USAGE"


@pytest.fixture(scope="module")
def inputs(shared_folder):
    return shared_folder / "data/inputs"


@pytest.fixture(scope="module")
def cases(shared_folder):
    return shared_folder / "data/cases"


@pytest.fixture
def folder(tmp_path):
    return ledger(tmp_path / "ledger", SITE)


def boards(folder):
    """Return seconds and joules by board and tier, from 08:00 to 09:00."""
    return {(row["device_index"], row["tier"]): (float(row["s"]), row["j"]) for row in rows(folder, BOARDS)}


def close(value, relative=1e-9):
    return pytest.approx(value, rel=relative)


def expected(folder, name="expected.json"):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_slurm(folder, inputs):
    told = expected(inputs / "slurm_sacct")
    done = take(folder, "slurm-sacct", inputs / "slurm_sacct/sacct_parsable2.txt", timezone="UTC")
    assert done.rows_rejected == 0, done.first_reject
    hours = {
        (row["owner"], row["chip_id"] is None): float(row["h"])
        for row in rows(
            folder,
            "SELECT owner, chip_id, sum(chip_h) AS h FROM energy_hourly "
            "WHERE quarter = '2026Q1' AND job_key IS NOT NULL GROUP BY ALL",
        )
    }
    names = {"llm-pretrain": False, "vision": False, "bio (whole GPUs)": False, "bio (1g.10gb MIG instances)": True}
    assert hours == {
        (name.split(" (")[0], part): pytest.approx(told["gpu_hours"][name], abs=5e-7) for name, part in names.items()
    }
    energy = {
        row["job_id"]: row["j"]
        for row in rows(
            folder, "SELECT job_id, CAST(sum(energy_it_kwh) AS DOUBLE) * 3.6e6 AS j FROM core.job GROUP BY job_id"
        )
    }
    assert energy == {
        key.split(" (")[0]: None if joules is None else close(joules)
        for key, joules in told["reported_job_energy_j"].items()
    }
    own = rows(
        folder,
        "SELECT job.job_id, CAST(sum(line.energy_it_kwh) AS DOUBLE) * 3.6e6 AS j FROM energy_hourly AS line "
        "JOIN core.job AS job ON job.job_key = line.job_key WHERE attribution = 'job' GROUP BY ALL ORDER BY ALL",
    )
    assert {row["job_id"]: row["j"] for row in own} == {
        "900101": close(523314720),
        "900130+0": close(80640000),
        "900190": close(645120000),
    }


@pytest.mark.parametrize("together", [True, False])
def test_dcgm_counters_over_two_files(folder, inputs, together):
    told = expected(inputs / "dcgm_exporter")
    paths = sorted((inputs / "dcgm_exporter").glob("scrape_2026*.prom"))
    requests = [Request("dcgm", path) for path in paths]
    for part in [requests] if together else [[request] for request in reversed(requests)]:
        ingest(folder, part, threads=1)
    counted = {key: joules for key, (_, joules) in boards(folder).items() if key[1] == "measured"}
    assert counted == {(gpu, "measured"): close(told["gpu_energy_j"][f"gpu{gpu}"]) for gpu in (0, 1)}


def test_dcgm_instances_are_one_board(folder, inputs):
    told = expected(inputs / "dcgm_exporter")
    take(folder, "dcgm", inputs / "dcgm_exporter/scrape_mig.prom", time=AT)
    assert boards(folder) == {(0, "integrated"): (30.0, close(told["mig_board_power_w"] * 30))}


def test_nvidia_smi_of_a_superchip_uses_the_board(folder, inputs):
    path = inputs / "nvidia_smi/nvidia_smi_nounits_superchip.csv"
    done = take(folder, "nvidia-smi", path, host="gpu-h-001", timezone="UTC")
    assert any("modules with a processor" in note for note in done.notes)
    ((seconds, joules),) = boards(folder).values()
    assert 610 < joules / seconds < 616


@pytest.mark.parametrize(
    ("name", "path", "host", "watts"),
    [
        ("slurm-job-exporter", "slurm_job_exporter/slurm_job_exporter.prom", "gpu-a-001", [302.176, 72.894]),
        ("amd-smi", "amd_smi/amd_smi_metric_power_energy.json", "mi-1", [548]),
        ("amd-smi", "amd_smi/amd_smi_old_no_units.json", "mi-1", [203]),
        ("amd-smi", "amd_smi/rocm_smi.json", "mi-1", [133, 131]),
    ],
)
def test_watts(folder, inputs, name, path, host, watts):
    take(folder, name, inputs / path, host=host, time=AT)
    assert [joules / seconds for seconds, joules in boards(folder).values()] == [close(value) for value in watts]


@pytest.mark.parametrize(
    ("name", "path", "seconds", "mean_w"),
    [
        ("redfish", "redfish/chassis_power.json", 30, 6342),
        ("redfish", "redfish/environment_metrics.json", 30, 6342),
        ("ipmi-dcmi", "ipmi_dcmi/dcmi_power_log.csv", 660, 69500 / 11),
        ("ipmi-dcmi", "ipmi_dcmi/ipmitool_dcmi_power_reading.txt", 30, 6342),
        ("ipmi-dcmi", "ipmi_dcmi/freeipmi_dcmi_statistics.txt", 30, 6342),
    ],
)
def test_plugs(folder, inputs, name, path, seconds, mean_w):
    take(folder, name, inputs / path, host="gpu-h-001", time=AT, timezone="UTC")
    node = rows(folder, "SELECT host, covered_ms, CAST(energy_it_microj AS DOUBLE) AS e FROM core.node_hour")
    assert [(row["host"], float(row["covered_ms"])) for row in node] == [("gpu-h-001", seconds * 1000)]
    assert node[0]["e"] / seconds / 1e6 == close(mean_w)
    assert boards(folder) == {}


@pytest.mark.parametrize("name", ["kepler_current.prom", "kepler_before_0_10.prom"])
def test_kepler_is_noted_and_not_stored(folder, inputs, name):
    done = take(folder, "kepler", inputs / "kepler" / name, time=AT, host="gpu-h-001")
    assert done.rows_accepted == 0
    assert any("noted, not stored" in note for note in done.notes)


def test_opencost(folder, inputs):
    told = expected(inputs / "opencost")["gpu_hours"]
    take(folder, "opencost", inputs / "opencost/allocation.json")
    shown = rows(
        folder, "SELECT owner, CAST(sum(chip_h) AS DOUBLE) AS h FROM energy_hourly WHERE host = 'gpu-h-001' GROUP BY 1"
    )
    assert {row["owner"]: row["h"] for row in shown} == {
        "llm-pretrain": close(told["llm-pretrain"]),
        "bio": close(told["bio"]),
        "idle": close(told["__idle__"]),
    }


def test_codecarbon_names_what_cannot_be_counted(folder, inputs):
    path = inputs / "codecarbon_emissions/shifted_append_synthetic.csv"
    done = take(folder, "codecarbon", path, timezone="UTC", site="siteA")
    total = expected(inputs / "codecarbon_emissions")["energy_kwh"]
    assert any(f"is {total:g} kWh by CodeCarbon" in note for note in done.notes)
    assert [line for line, _ in rejects(folder)] == [3]
    assert rows(folder, "SELECT * FROM core.log_window") == []


def test_every_run_of_a_requeued_job(folder, cases):
    told = expected(cases / "slurm_requeued_runs", "case.json")["expected"]
    path = cases / "slurm_requeued_runs/sacct_duplicates.txt"
    assert take(folder, "slurm-sacct", path, timezone="UTC", site="siteA").rows_accepted == told["runs"]
    hours = rows(folder, "SELECT CAST(sum(chip_h) AS DOUBLE) AS h FROM jobs")[0]["h"]
    assert hours == pytest.approx(told["gpu_hours"], abs=5e-7)


def test_slurm_energy_is_of_the_allocation_once(tmp_path, cases):
    """As the case is, it has no times and is refused with its numbers; with times its energy is what it says."""
    folder = ledger(tmp_path / "ledger", SITE.replace("chips: 1}", "chips: 4}"))
    told = expected(cases / "slurm_energy_field_mixed_up", "case.json")["expected"]
    path = cases / "slurm_energy_field_mixed_up/sacct.txt"
    done = take(folder, "slurm-sacct", path, timezone="UTC", site="siteA")
    assert done.rows_rejected == 1
    assert f"{told['gpu_hours']} GPU-hours, {told['energy_j']} J" in done.first_reject
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    times = "|2026-02-01T00:00:00|2026-02-01T00:02:02|ws-1"
    whole = tmp_path / "sacct.txt"
    whole.write_text("\n".join([f"{header}|Start|End|NodeList", *(line + times for line in lines)]) + "\n")
    take(folder, "slurm-sacct", whole, timezone="UTC")
    job = rows(
        folder,
        "SELECT CAST(sum(chip_h) AS DOUBLE) AS h, CAST(sum(energy_it_kwh) AS DOUBLE) AS kwh FROM energy_hourly "
        "WHERE job_key IS NOT NULL",
    )
    assert job[0]["h"] == pytest.approx(told["gpu_hours"], abs=5e-7)
    assert job[0]["kwh"] == pytest.approx(told["kwh"], abs=1e-9)


def scrape(path, samples):
    """Write (host, board, ms, watts, more labels) as an exporter does."""
    lines = [
        f'{POWER}{{gpu="{gpu}",Hostname="{host}"{more}}} {watts} {time_ms}'
        for host, gpu, time_ms, watts, more in samples
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def table(path):
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    return [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]


def ms(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_no_counter_is_not_no_energy(folder, tmp_path, cases):
    told = expected(cases / "energy_counter_absent", "case.json")["expected"]
    samples = [
        (row["host"], row["gpu"], ms(row["ts_utc"]), row["power_w"], "")
        for row in table(cases / "energy_counter_absent/samples.csv")
    ]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", samples))
    ((key, (_, joules)),) = boards(folder).items()
    assert key == (0, "integrated")
    assert joules / 3.6e6 == pytest.approx(told["kwh_hold_last"], rel=told["tolerance_rel"])


def test_instances_repeat_the_power_of_their_board(folder, tmp_path, cases):
    told = expected(cases / "mig_instances_repeat_board_power", "case.json")["expected"]
    samples = [
        (
            row["host"],
            0,
            ms(row["ts_utc"]),
            row["power_w"],
            f',UUID="{row["uuid"]}",GPU_I_ID="{row["gpu_i_id"]}",GPU_I_PROFILE="{row["gpu_i_profile"]}"',
        )
        for row in table(cases / "mig_instances_repeat_board_power/samples.csv")
    ]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", samples))
    ((_, joules),) = boards(folder).values()
    assert joules / 3.6e6 == close(told["board_kwh"])


def test_wrong_number_7(folder, tmp_path, cases):
    rows_ = table(cases / "wrong_numbers/07_no_counter.csv")
    start = ms("2026-01-05T08:00:00+00:00")
    samples = [("ws-1", 0, start + 1000 * int(row["time_s"]), row["power_w"], "") for row in rows_]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", samples))
    ((key, (_, joules)),) = boards(folder).items()
    assert key == (0, "integrated")
    assert joules - 120 * 10 == pytest.approx(13_700, rel=0.05)  # the last reading is held for 10 s more


def test_wrong_number_4(folder, tmp_path, cases):
    """A counter that falls gives no energy for that minute, and never a negative one or a giant."""
    samples = [row for row in table(cases / "wrong_numbers/04_counter_wrap.csv") if row["domain"] == "pkg0"]
    lines = []
    for row in samples:
        labels = f'{{gpu="0",Hostname="gpu-h-001"}} {{}} {ms(row["time_utc"])}'
        lines.append(f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{labels}".replace("{}", str(int(row["energy_uj"]) / 1000)))
        lines.append(f"{POWER}{labels}".replace("{}", "200"))
    path = tmp_path / "r.prom"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    take(folder, "dcgm", path)
    read = rows(folder, "SELECT CAST(sum(energy_chip_microj) AS DOUBLE) / 1000000 AS j FROM core.device_hour")
    assert read[0]["j"] == close(48_000 + 12_000)  # four minutes, and the last reading held for one more
    assert rows(folder, "SELECT restart_count AS n FROM core.counter_hour")[0]["n"] == 1


def test_wrong_number_5(tmp_path, cases):
    """Eight processes that each measured the whole machine are one measurement."""
    folder = ledger(tmp_path / "ledger", SITE.replace("gpu-h-[001-006]", "n[1-2]"))
    head = (
        "timestamp,project_name,run_id,duration,emissions,gpu_energy,energy_consumed,country_iso_code,gpu_count,"
        "gpu_model,tracking_mode,host"
    )
    lines = []
    for row in table(cases / "wrong_numbers/05_eight_ranks.csv"):
        seconds = (ms(row["end_utc"]) - ms(row["start_utc"])) / 1000
        energy, run = row["energy_kwh"], f"{row['run_id']}-{row['node']}-{row['rank']}"
        lines.append(
            f"{row['end_utc'][:-1]},p,{run},{seconds:.0f},1,{energy},{energy},DEU,8,8 x NVIDIA H100 80GB HBM3,machine,"
            f"{row['node']}"
        )
    path = tmp_path / "emissions.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    take(folder, "codecarbon", path, timezone="UTC")
    total = rows(folder, "SELECT CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly")[0]["kwh"]
    assert total == close(601.2)
