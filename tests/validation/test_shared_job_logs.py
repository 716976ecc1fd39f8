"""Shared samples of job logs against the totals that were taken by hand, and reported wrong numbers of other tools."""

import csv
import json
from collections import defaultdict
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from ingest_helpers import context

from energy.importers import codecarbon, opencost, slurm_sacct

SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "gpu-h-[001-010]", chip: NVIDIA H100 80GB HBM3, chips: 8}
      - {pattern: "gpu-a-[001-010]", chip: NVIDIA A100-SXM4-80GB, chips: 8}
      - {pattern: "cpu-011", chip: NVIDIA H100 80GB HBM3, chips: 0}
      - {pattern: "n[1-2]", chip: NVIDIA H100 80GB HBM3, chips: 8}
"""
PRINTED = 5e-7  # the expected values have six digits after the point


def read(importer, path, timezone="UTC"):
    """Rows, refusals and notes of one file."""
    about = context(SITE, timezone=timezone, site_id="hall")
    assert importer.detect(path, path.read_bytes()[:65_536])
    batches = list(importer.read(path, None, about))
    rows = pa.concat_tables([batch.table for batch in batches]).to_pylist()
    return rows, pa.concat_tables([batch.rejects for batch in batches]).to_pylist(), about.notes


def hours(row, start=None, end=None):
    """Hours of a run within a period; a run without an end lasts to the end of the period."""
    begin = max(row["start_utc"], start or row["start_utc"])
    stop = min(row["end_utc"] or end, end or row["end_utc"])
    return max(0.0, (stop - begin).total_seconds() / 3600)


def chip_hours(rows, key, start=None, end=None):
    """Chip-hours by owner, without owners that hold none."""
    total = defaultdict(float)
    for row in rows:
        total[key(row)] += row["chip_count"] * hours(row, start, end)
    return {name: value for name, value in total.items() if value}


@pytest.fixture
def sacct(shared_folder):
    folder = shared_folder / "data" / "inputs" / "slurm_sacct"
    rows, refused, notes = read(slurm_sacct.importer, folder / "sacct_parsable2.txt")
    assert refused == []
    return rows, notes, json.loads((folder / "expected.json").read_text())


def test_sacct_gpu_hours_of_the_quarter(sacct):
    rows, _, expected = sacct
    start, end = (datetime.fromisoformat(text).astimezone(UTC) for text in expected["period"])

    def owner(row):
        name = row["project"]
        if name == "bio":
            name += " (1g.10gb MIG instances)" if row["chip_name_given"] == "1g.10gb" else " (whole GPUs)"
        return name

    assert chip_hours(rows, owner, start, end) == pytest.approx(expected["gpu_hours"], rel=0, abs=PRINTED)


def test_sacct_energies(sacct):
    rows, notes, expected = sacct
    joules = defaultdict(list)
    for row in rows:
        joules[row["job_id"], row["start_utc"]].append(row["energy_it_kwh"])
    first = {}
    for (job_id, _), parts in sorted(joules.items()):
        total = None if None in parts else sum(parts) * 3.6e6
        first[f"{job_id} (2nd record)" if job_id in first else job_id] = total
    for name, value in expected["reported_job_energy_j"].items():
        found = first[name.removesuffix(" (whole job)")]
        assert found == (None if value is None else pytest.approx(value, rel=1e-12)), name
    assert first["900140"] is None  # 0 J on a GPU job was not measured
    assert "3 steps left out: they repeat their job" in notes


def test_sacct_requeued_runs(shared_folder):
    folder = shared_folder / "data" / "cases" / "slurm_requeued_runs"
    expected = json.loads((folder / "case.json").read_text())["expected"]
    rows, refused, _ = read(slurm_sacct.importer, folder / "sacct_duplicates.txt")
    assert (len(rows), refused) == (expected["runs"], [])
    assert sum(row["chip_count"] * hours(row) for row in rows) == pytest.approx(expected["gpu_hours"], abs=PRINTED)


def test_sacct_energy_field(shared_folder, tmp_path):
    folder = shared_folder / "data" / "cases" / "slurm_energy_field_mixed_up"
    expected = json.loads((folder / "case.json").read_text())["expected"]
    rows, refused, _ = read(slurm_sacct.importer, folder / "sacct.txt")
    assert rows == []  # without Start the run has no place in time; the reason says what it was
    assert len(refused) == 1
    assert f"{expected['gpu_hours']} GPU-hours, {expected['energy_j']} J" in refused[0]["reason"]
    header, *lines = (folder / "sacct.txt").read_text().splitlines()
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([f"{header}|Start", *(f"{line}|2026-02-01T00:00:00" for line in lines)]) + "\n")
    rows, refused, _ = read(slurm_sacct.importer, path)
    assert (len(rows), refused) == (1, [])
    row = rows[0]
    assert row["job_id"] == expected["job"]
    assert row["energy_it_kwh"] == pytest.approx(expected["kwh"], abs=5e-10)
    assert row["chip_count"] * hours(row) == pytest.approx(expected["gpu_hours"], abs=PRINTED)
    assert row["energy_it_kwh"] * 1000 / hours(row) == pytest.approx(expected["mean_w"], abs=0.5)


def test_opencost(shared_folder):
    folder = shared_folder / "data" / "inputs" / "opencost"
    expected = json.loads((folder / "expected.json").read_text())["gpu_hours"]
    rows, refused, _ = read(opencost.importer, folder / "allocation.json", timezone=None)
    assert refused == []
    assert chip_hours(rows, lambda row: row["project"] or row["job_type"]) == pytest.approx(expected, rel=1e-12)
    rows, refused, _ = read(opencost.importer, folder / "opencost_export.csv", timezone=None)
    assert rows == []  # the CSV does not say how long the pods ran: never 24 hours for 1.5
    assert [one["row_number"] for one in refused] == [2, 3, 4]
    assert all("does not say how long" in one["reason"] for one in refused)


def test_codecarbon_rows_that_lost_cells(shared_folder):
    folder = shared_folder / "data" / "inputs" / "codecarbon_emissions"
    expected = json.loads((folder / "expected.json").read_text())
    rows, refused, notes = read(codecarbon.importer, folder / expected["file"])
    assert (len(rows), refused) == (2, [])
    assert any(f" {expected['energy_kwh']} kWh" in note for note in notes)
    assert any(note.startswith("lines that lost their empty cells: 3") for note in notes)


def test_codecarbon_real_files(shared_folder):
    folder = shared_folder / "data" / "inputs" / "codecarbon_emissions"
    path = folder / "real_v2.4.3rc1_examples.csv"
    rows, refused, _ = read(codecarbon.importer, path)
    assert refused == []
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    last = {line["run_id"]: line["gpu_energy"] for line in lines if line["run_id"]}
    found = {row["job_id"]: row["energy_chip_kwh"] for row in rows if row["job_id"] != "codecarbon"}
    assert found == {name: float(value) or None for name, value in last.items()}
    assert [row["row_number"] for row in rows if row["job_id"] == "codecarbon"] == [3, 7]  # two runs without id
    rows, refused, _ = read(codecarbon.importer, folder / "real_current_headers.csv")
    assert (len(rows), refused) == (1, [])
    rows, refused, _ = read(codecarbon.importer, folder / "real_old_v1_headers.csv")
    assert rows == []
    assert "no gpu_energy" in refused[0]["reason"]


@pytest.mark.parametrize(("scope", "total"), [("machine", 601.2), ("process", 8 * 601.2)])
def test_eight_ranks(shared_folder, tmp_path, scope, total):
    path = shared_folder / "data" / "cases" / "wrong_numbers" / "05_eight_ranks.csv"
    with path.open(newline="", encoding="utf-8") as file:
        ranks = list(csv.DictReader(file))
    lines = ["timestamp,run_id,duration,emissions,gpu_energy,energy_consumed,gpu_count,tracking_mode,node,rank"]
    for one in ranks:
        start, end = (datetime.fromisoformat(one[name]) for name in ("start_utc", "end_utc"))
        lines.append(
            f"{end:%Y-%m-%dT%H:%M:%S},{one['run_id']},{(end - start).total_seconds()},1,{one['energy_kwh']},"
            f"{one['energy_kwh']},8,{scope},{one['node']},{one['rank']}"
        )
    log = tmp_path / "emissions.csv"
    log.write_text("\n".join(lines) + "\n")
    rows, refused, _ = read(codecarbon.importer, log)
    assert refused == []
    assert sum(row["energy_chip_kwh"] for row in rows) == pytest.approx(total, rel=1e-12)
    assert len({(row["job_id"], row["host"], row["start_utc"]) for row in rows}) == len(rows)
