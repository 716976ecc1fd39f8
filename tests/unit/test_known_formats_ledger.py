"""Every known format, brought to a ledger: the same again, taken back, packed, and under a wrong name."""

import gzip
import json

import pytest
from ingest_helpers import at, content, ledger, rows, take
from known_ledger import CODECARBON, DEVICES, H100, SITE, board, fleet, ipmi, run, sacct, scrape

from energy.errors import EnergyError
from energy.ledger.intake import withdraw


@pytest.fixture
def folder(tmp_path):
    return fleet(tmp_path)


def _formats(folder):
    """Write one small file of each format; return its options."""
    minutes = range(5)
    scrape(folder / "dcgm", *board([(m, 500) for m in minutes], [(m, m * 31_000.0) for m in minutes]))
    lines = [run(1, joules=7_200_000), run(2, "h-[2-3]", 2, nodes=2), run(3, "a-1", 2, kind=":1g.10gb")]
    sacct(folder / "slurm-sacct", *lines)
    smi = "timestamp, index, uuid, power.draw [W]\n" + "".join(
        f"2026/01/05 08:0{m}:00.000, 0, GPU-x, {500 + m}.00 W\n" for m in minutes
    )
    (folder / "nvidia-smi").write_text(smi, encoding="utf-8")
    ipmi(folder / "ipmi-dcmi", 1500, 5)
    answer = {"@odata.type": "#Power.v1_7_1.Power", "PowerControl": [{"PowerConsumedWatts": 1500}]}
    (folder / "redfish").write_text(json.dumps(answer), encoding="utf-8")
    amd = [{"gpu": 0, "power": {"socket_power": {"value": 548, "unit": "W"}}}]
    (folder / "amd-smi").write_text(json.dumps(amd), encoding="utf-8")
    scrape(folder / "slurm-job-exporter", 'slurm_job_power_gpu{gpu="0",slurmjobid="1"} 302176.0')
    text = CODECARBON + f"2026-01-05T10:30:00,bio,r1,7200,0.1,0.5,0.7,DEU,1,1 x {H100}\n"
    (folder / "codecarbon").write_text(text, encoding="utf-8")
    return {"host": "h-1", "time": at("2026-01-05 08:00"), "timezone": "UTC"}


FORMATS = ("dcgm", "slurm-sacct", "nvidia-smi", "ipmi-dcmi", "redfish", "amd-smi", "slurm-job-exporter", "codecarbon")


def whole(folder):
    """Return everything that follows from the files; the number of a run is of the file that told it last."""
    views = {name: [row | {"job_key": 0} for row in shown] for name, shown in content(folder).items()}
    return views, rows(folder, DEVICES), rows(folder, "SELECT * FROM core.node_hour")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_once_and_the_same_again(folder, tmp_path, name):
    here = _formats(tmp_path)
    path = tmp_path / name
    first = take(folder, name, path, **here)
    assert first.rows_accepted > 0, first.first_reject
    assert first.rows_rejected == 0, first.first_reject
    told = whole(folder)
    assert take(folder, name, path, **here).batch_id is None
    withdraw(folder, 1, threads=1)
    assert rows(folder, "SELECT count(*) AS n FROM core.energy_hour")[0]["n"] == 0
    assert rows(folder, "SELECT count(*) AS n FROM core.node_hour")[0]["n"] == 0
    assert rows(folder, "SELECT count(*) AS n FROM core.counter_hour")[0]["n"] == 0
    take(folder, name, path, **here)
    assert whole(folder) == told
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    done = take(folder, name, packed, **here)
    assert done.rows_duplicate == first.rows_accepted
    assert whole(folder) == told
    other = ledger(tmp_path / "other", SITE.format(overhead=1.25))
    take(other, name, packed, **here)
    assert whole(other) == told


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_another_format_changes_no_total(folder, tmp_path, name):
    """It is refused, whole or row by row, and never read as numbers."""
    here = _formats(tmp_path)
    other = "dcgm" if name != "dcgm" else "slurm-sacct"
    try:
        done = take(folder, name, tmp_path / other, **here)
    except EnergyError as error:
        assert "\n" not in str(error)
    else:
        assert done.rows_accepted == 0
