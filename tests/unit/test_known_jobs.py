"""Runs of known formats in the ledger: whose they are, and which two rows say the same of one run."""

import json

import pytest
from ingest_helpers import ledger, rejects, rows, take
from known_samples import POD, SITE

SACCT = "JobID|User|Account|State|Start|End|Elapsed|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList"
RUN = "1|u|p|{state}|2026-01-05T08:00:00|{end}|01:00:00|1|cpu=8,gres/gpu=2,node=1|{joules}|h-1"
DONE = "2026-01-05T09:00:00"


@pytest.fixture
def folder(tmp_path):
    return ledger(tmp_path / "ledger", SITE)


def sacct(folder, name, joules, end=DONE):
    path = folder.parent / name
    path.write_text(
        f"{SACCT}\n{RUN.format(end=end, joules=joules, state='COMPLETED' if end == DONE else 'RUNNING')}\n",
        encoding="utf-8",
    )
    return take(folder, "slurm-sacct", path, timezone="UTC")


def energies(folder):
    return [float(row["kwh"]) for row in rows(folder, "SELECT energy_it_kwh AS kwh FROM core.job ORDER BY 1")]


@pytest.mark.parametrize(("first", "second"), [(3_600_000, 7_200_000), (3_600_000, 0), (0, 3_600_000)])
def test_another_energy_at_the_plug_is_a_contradiction_and_no_duplicate(folder, first, second):
    sacct(folder, "a.txt", first)
    before = rows(folder, "SELECT * FROM jobs")
    done = sacct(folder, "b.txt", second)
    assert (done.rows_accepted, done.rows_duplicate, done.rows_rejected) == (0, 0, 1)
    (_, reason), *_ = rejects(folder)
    assert reason.startswith("contradicts row 2 of batch 1, which has energy_it_kwh ")
    assert reason.endswith("`energy withdraw 1`")
    assert rows(folder, "SELECT * FROM jobs") == before


def test_the_same_energy_again_is_a_duplicate(folder):
    sacct(folder, "a.txt", 3_600_000)
    done = sacct(folder, "b.txt", "3600000 ")
    assert (done.rows_accepted, done.rows_duplicate, done.rows_rejected) == (0, 1, 0)
    assert energies(folder) == [1.0]


def test_the_energy_of_a_run_that_has_ended_takes_the_place_of_the_first(folder):
    sacct(folder, "a.txt", 1_800_000, end="Unknown")
    done = sacct(folder, "b.txt", 3_600_000)
    assert (done.rows_accepted, done.rows_rejected) == (1, 0), rejects(folder)
    assert energies(folder) == [1.0]


@pytest.mark.parametrize(
    ("name", "owner", "kind"),
    [
        ("__idle__", "idle", "idle"),
        ("__unallocated__", "unallocated", "unallocated"),
        ("__unmounted__",) + 2 * ("unallocated",),
    ],
)
def test_what_opencost_gives_to_nobody(folder, name, owner, kind):
    special = POD | {"name": f"cl/{name}/{name}", "properties": {"node": "h-1", "namespace": name}}
    path = folder.parent / "o.json"
    path.write_text(json.dumps({"code": 200, "data": [{"pod": POD, name: special}]}), encoding="utf-8")
    take(folder, "opencost", path)
    shown = rows(folder, "SELECT owner, CAST(sum(chip_h) AS DOUBLE) AS h FROM jobs GROUP BY 1 ORDER BY 1")
    assert [tuple(row.values()) for row in shown] == sorted([("bio", 1.0), (owner, 1.0)])
    lines = "SELECT DISTINCT owner_kind, owner FROM energy_hourly WHERE job_key IS NOT NULL ORDER BY 1"
    assert {tuple(row.values()) for row in rows(folder, lines)} == {("project", "bio"), (kind, owner)}
    (balance,) = rows(folder, "SELECT accounted_chip_h, installed_chip_h, difference_chip_h FROM reconciliation")
    assert balance["difference_chip_h"] == 0


def test_readings_that_an_own_measurement_replaces_are_named_and_no_difference(folder, tmp_path):
    """The run holds the host whole, and no allocation names its boards; half the hour nobody holds it."""
    lines = ["ts,host,gpu,power_w,gpu_util_pct"]
    lines += [f"2026-01-05T{8 + m // 60:02d}:{m % 60:02d}:00Z,h-1,{gpu},500,80" for m in range(120) for gpu in (0, 1)]
    path = tmp_path / "p.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    take(folder, "power", path)
    sql = (
        "SELECT read_energy_chip_kwh, replaced_energy_chip_kwh, owned_energy_chip_kwh, difference_energy_chip_kwh FROM "
    )
    assert [float(value) for value in rows(folder, sql + "reconciliation")[0].values()] == [2, 0, 2, 0]
    sacct(folder, "a.txt", 4_500_000)
    found = [float(value) for value in rows(folder, sql + "reconciliation")[0].values()]
    assert found == pytest.approx([1, 1, 1, 0], abs=1e-9)
    assert found[3] == 0
