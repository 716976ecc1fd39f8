"""A fleet of several kinds of hosts, small files of known formats for it, and what a ledger says of them."""

import pytest
from ingest_helpers import ledger, rows

H100 = "NVIDIA H100 80GB HBM3"
SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: {overhead}
    hosts:
      - {{pattern: "h-[1-3]", chip: NVIDIA H100 80GB HBM3, chips: 2}}
      - {{pattern: "a-1", chip: NVIDIA A100-SXM4-80GB, chips: 8}}
      - {{pattern: "mi-1", chip: AMD Instinct MI300X, chips: 8}}
      - {{pattern: "p-1", chip: Tesla P100-PCIE-16GB, chips: 1}}
"""
AT_MS = 1_767_600_000_000  # 2026-01-05T08:00:00Z
MINUTE = 60_000
POWER, COUNTER, USE = (f"DCGM_FI_DEV_{name}" for name in ("POWER_USAGE", "TOTAL_ENERGY_CONSUMPTION", "GPU_UTIL"))
DEVICES = (
    "SELECT device.host, device.device_index, reading.tier, sum(covered_chip_ms) / 1000 AS s, "
    "CAST(sum(energy_chip_microj) AS DOUBLE) / 1000000 AS j FROM core.device_hour AS reading "
    "JOIN core.device AS device ON device.device_key = reading.device_key GROUP BY ALL ORDER BY ALL"
)
FAULTS = (
    "SELECT sum(restart_count) AS fell, sum(stuck_count) AS stood, sum(jump_count) AS jumped FROM core.counter_hour"
)
SACCT = "JobID|User|Account|State|Start|End|Elapsed|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList"
CODECARBON = (
    "timestamp,project_name,run_id,duration,emissions,gpu_energy,energy_consumed,country_iso_code,gpu_count,gpu_model\n"
)


def fleet(tmp_path):
    """Make a ledger of the fleet."""
    return ledger(tmp_path / "ledger", SITE.format(overhead=1.25))


def read(folder):
    """Return seconds and joules by host, board and tier."""
    return {
        (row["host"], row["device_index"], row["tier"]): (float(row["s"]), pytest.approx(row["j"], rel=1e-12))
        for row in rows(folder, DEVICES)
    }


def faults(folder):
    return tuple(int(value) for value in rows(folder, FAULTS)[0].values())


def sample(metric, minute, value, host="h-1", gpu=0, uuid=None, **labels):
    """Make one line of a scrape with its time."""
    said = {"gpu": gpu, "UUID": uuid or f"GPU-{host}-{gpu}", "Hostname": host, "modelName": H100} | labels
    text = ",".join(f'{name}="{one}"' for name, one in said.items() if one is not None)
    return f"{metric}{{{text}}} {value} {AT_MS + round(minute * MINUTE)}"


def board(powers=(), counters=(), **labels):
    """Make the lines of one board: (minute, watts) and (minute, joules)."""
    return [sample(POWER, minute, watts, **labels) for minute, watts in powers] + [
        sample(COUNTER, minute, round(joules * 1000), **labels) for minute, joules in counters
    ]


def scrape(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sacct(path, *lines):
    path.write_text("\n".join([SACCT, *lines]) + "\n", encoding="utf-8")
    return path


def run(number, hosts="h-1", gpus=2, joules=0, start="00:00:00", end="02:00:00", nodes=1, kind="", account="p"):
    times = f"2026-01-05T{start}|2026-01-05T{end}|"
    tres = f"cpu=8,gres/gpu{kind}={gpus},node={nodes}"
    return f"{number}|u|{account}|COMPLETED|{times}|{nodes}|{tres}|{joules}|{hosts}"


def ipmi(path, watts, minutes=60):
    lines = [f"{AT_MS // 1000 + 60 * minute},h-1,{watts},activated" for minute in range(minutes)]
    path.write_text("\n".join(["epoch,host,watts,state", *lines]) + "\n", encoding="utf-8")
    return path
