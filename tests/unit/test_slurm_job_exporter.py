from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

LABELS = 'account="v",gpu="0",gpu_type="NVIDIA A100-SXM4-40GB",slurmjobid="900110",user="tom"'
TEXT = f"# HELP slurm_job_power_gpu Power in mW\nslurm_job_power_gpu{{{LABELS}}} 302176.0\n"
TEXT += f"slurm_job_utilization_gpu{{{LABELS}}} 66.5\n"


def test_milliwatts(tmp_path):
    rows, rejects, _ = read_text("slurm_job_exporter", tmp_path, TEXT)
    assert rejects == []
    assert rows == [
        {
            "row_number": 2,
            "host": "node-1",
            "device_index": 0,
            "chip_name_given": "NVIDIA A100-SXM4-40GB",
            "time_ms": AT_MS,
            "power_milliw": 302_176,
            "utilisation_pct": 66.5,
            "scope": "board",
        }
    ]


def test_board_of_two_jobs_is_read_once(tmp_path):
    two = "".join(f'slurm_job_power_gpu{{gpu="0",slurmjobid="{job}"}} 302176\n' for job in (1, 2))
    assert len(read_text("slurm_job_exporter", tmp_path, two)[0]) == 1


def test_what_is_absent(tmp_path):
    assert "--host" in error("slurm_job_exporter", tmp_path, TEXT, host=None)
    assert "--time" in error("slurm_job_exporter", tmp_path, TEXT, time=None)
    rejects = read_text("slurm_job_exporter", tmp_path, 'slurm_job_power_gpu{slurmjobid="1"} 302176\n')[1]
    assert "keep the label gpu" in rejects[0]["reason"]
    assert detected("slurm_job_exporter", TEXT)
    assert detected("slurm_job_exporter", "DCGM_FI_DEV_GPU_UTIL 1") is None


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(TEXT))
def test_whatever_it_holds(tmp_path, raw):
    survives("slurm_job_exporter", tmp_path, raw)
