"""A writer that is killed at any moment leaves the published version whole, and nothing that the next one minds."""

import random
import shutil
import subprocess
import sys
import time

import pytest
from ingest_helpers import at, ledger, leftovers, telemetry, totals

from energy.demo import SITE_FILE
from energy.example import write
from energy.ledger import store
from energy.ledger.intake import Request, ingest
from energy.ledger.reader import Ledger

KILLS = 20
WRITER = """
import sys
from pathlib import Path
import energy.ledger.intake as intake, energy.ledger.telemetry, energy.ledger.readings, pyarrow.parquet, duckdb
folder, allocations, power = map(Path, sys.argv[1:])
print("ready", flush=True)
intake.ingest(folder, [intake.Request("allocations", allocations), intake.Request("power", power)])
print("done", flush=True)
"""


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    root = tmp_path_factory.mktemp("kill")
    jobs, nodes, power, allocations, _ = write(root / "inputs", scale=0.01)
    folder = ledger(root / "ledger", SITE_FILE)
    window = {"covers_from": at("2026-01-01"), "covers_to": at("2026-04-01")}
    ingest(folder, [Request("hosts", nodes), Request("jobs", jobs, **window)])
    return folder, [allocations, power]


def copy(folder, target):
    return shutil.copytree(folder, target, symlinks=True)


def finish(folder, files):
    ingest(folder, [Request("allocations", files[0]), Request("power", files[1])])


def start(folder, files):
    """Start a writer; return when its imports are done and its work begins."""
    command = [sys.executable, "-c", WRITER, str(folder), *map(str, files)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "ready\n"
    return writer


def listed(folder):
    with Ledger(folder) as opened:
        return {row["partition_path"] for row in opened.rows("SELECT partition_path FROM raw.telemetry_file")}


@pytest.mark.slow
def test_kill_at_random_moments(example, tmp_path):
    folder, files = example
    before = totals(folder)
    whole = copy(folder, tmp_path / "whole")
    writer = start(whole, files)
    started = time.monotonic()
    assert writer.communicate()[0] == "done\n"
    length = time.monotonic() - started
    after = totals(whole)
    assert after != before

    draw = random.Random(2026)
    killed = 0
    victim = copy(folder, tmp_path / "victim")
    for number in range(KILLS):
        writer = start(victim, files)  # after the first, it also has to clean what the one before left
        time.sleep(length * (number + draw.random()) / KILLS)  # one in each twentieth of the run
        writer.kill()
        done = writer.communicate()[0] == "done\n"
        killed += not done
        published = store.version_of(store.published(victim))
        assert totals(victim) == (before if published == 1 else after), number
        if published > 1 or done or number % 5 == 4:
            finish(victim, files)
            assert totals(victim) == after, number
            assert leftovers(victim) == []
            assert telemetry(victim) == listed(victim)
            shutil.rmtree(victim)
            copy(folder, victim)
    finish(victim, files)
    assert totals(victim) == after
    assert killed > KILLS // 2  # else the writer was never caught at work
