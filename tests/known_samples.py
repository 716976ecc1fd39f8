"""A small good file of each known format, with a board or node of the host h-1, for tests of the whole kind."""

import json

AT_S = 1_767_600_000  # 2026-01-05T08:00:00Z
BOARD = 'gpu="0",UUID="GPU-1",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="h-1"'
SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "h-1", chip: NVIDIA H100 80GB HBM3, chips: 2}
"""
RUN = {
    "timestamp": "2026-01-05T08:10:00",
    "project_name": "é",
    "run_id": "r-1",
    "duration": "600",
    "emissions": "0.25",
    "energy_consumed": "0.65",
    "gpu_energy": "0.5",
    "country_iso_code": "DEU",
    "gpu_count": "1",
    "gpu_model": "1 x NVIDIA H100 80GB HBM3",
}
POD = {
    "name": "pod-é",
    "properties": {"node": "h-1", "namespace": "bio", "controllerKind": "job"},
    "start": "2026-01-05T08:00:00Z",
    "end": "2026-01-05T09:00:00Z",
    "minutes": 60,
    "gpuHours": 1,
    "gpuCount": 1,
}
SAMPLES = {
    "amd-smi": json.dumps(
        [
            {
                "gpu": gpu,
                "power": {"socket_power": {"value": 640, "unit": "W"}},
                "energy": {"total_energy_consumption": {"value": 9000.5, "unit": "J"}},
                "usage": {"gfx_activity": {"value": 98, "unit": "%"}},
            }
            for gpu in (0, 1)
        ],
        indent=1,
    ),
    "codecarbon": ",".join(RUN) + "\n" + ",".join(RUN.values()) + "\n",
    "dcgm": "".join(
        f"DCGM_FI_DEV_POWER_USAGE{{{BOARD}}} {watts} {AT_S + 60 * minute}000\n"
        for minute, watts in enumerate((500, 510, 520))
    ),
    "ipmi-dcmi": "epoch,host,watts,state\n"
    + "".join(f"{AT_S + 60 * minute},h-1,{6300 + minute},activated\n" for minute in range(3)),
    "kepler": "".join(
        f'kepler_node_cpu_joules_total{{node_name="h-1",zone="{zone}",path="/sys/class/powercap/intel-rapl:0"}} 9e5\n'
        for zone in ("package", "dram")
    ),
    "nvidia-smi": "timestamp, index, name, uuid, power.draw [W], utilization.gpu [%]\n"
    + "".join(
        f"2026/01/05 08:0{minute}:00.000, 0, NVIDIA H100 80GB HBM3, GPU-1, 640.00 W, 99 %\n" for minute in range(3)
    ),
    "opencost": json.dumps({"code": 200, "data": [{"pod-é": POD}]}, ensure_ascii=False),
    "prometheus-range": json.dumps(
        {
            "status": "success",
            "data": {
                "resultType": "matrix",
                "result": [
                    {
                        "metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "Hostname": "h-1", "gpu": "0", "UUID": "G"},
                        "values": [[AT_S, "500"], [AT_S + 60, "510"]],
                    }
                ],
            },
        }
    ),
    "redfish": json.dumps(
        {
            "@odata.type": "#Power.v1_7_1.Power",
            "@odata.id": "/redfish/v1/Chassis/1/Power",
            "PowerControl": [{"MemberId": "0", "Name": "Server Power Control", "PowerConsumedWatts": 6342}],
        }
    ),
    "slurm-job-exporter": "".join(
        f'slurm_job_power_gpu{{account="é",gpu="{gpu}",gpu_type="NVIDIA H100 80GB HBM3",slurmjobid="9",user="t"}} 3e5\n'
        for gpu in (0, 1)
    ),
    "slurm-sacct": "JobID|User|Account|State|Start|End|Elapsed|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList\n"
    "1|u|p|COMPLETED|2026-01-05T08:00:00|2026-01-05T09:00:00|01:00:00|1|cpu=8,gres/gpu=1,node=1|0|h-1\n"
    "2|é|p|COMPLETED|2026-01-05T09:00:00|2026-01-05T10:00:00|01:00:00|1|cpu=8,gres/gpu=1,node=1|0|h-1\n",
}
LINES = ("codecarbon", "dcgm", "ipmi-dcmi", "kepler", "nvidia-smi", "slurm-job-exporter", "slurm-sacct")
JSON = ("amd-smi", "opencost", "prometheus-range", "redfish")
