"""The example that a stranger runs first: whole, repeatable, and careful with other people's folders."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from energy.demo import QUARTER, SITE_FILE, run_demo
from energy.errors import LedgerError
from energy.ledger import Ledger

SCALE = 0.02


def contents(folder: Path) -> dict[str, str]:
    """Return the hash of every file but the lock."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_it_holds_inputs_ledger_and_report(small_ledger):
    names = {path.name for path in small_ledger.iterdir()}
    assert {"site.yaml", "inputs", "ledger.duckdb", "telemetry", "report"} <= names
    report = json.loads((small_ledger / "report" / "report.json").read_text(encoding="utf-8"))
    assert (report["quarter"], report["empty"], report["ledger_version"]) == (QUARTER, False, 1)


def test_the_ledger_finds_what_the_inputs_hold(small_ledger):
    expected = json.loads((small_ledger / "inputs" / "expected.json").read_text(encoding="utf-8"))
    with Ledger(small_ledger) as ledger:
        rows = ledger.rows(
            "SELECT sum(chip_h) AS chip_h FROM energy_hourly WHERE quarter = ? AND job_key IS NOT NULL", [QUARTER]
        )
        readings = ledger.rows("SELECT sum(energy_chip_microj) AS energy FROM core.device_hour")
    assert float(rows[0]["chip_h"]) == pytest.approx(expected["gpu_hours_total"], abs=0.01)
    read_kwh = float(readings[0]["energy"]) / 3.6e12
    # the last sample before a gap is held for its interval by both; each sample is a whole milliwatt here
    assert read_kwh == pytest.approx(expected["week_power"]["kwh_total"], rel=1e-5)


def test_running_it_again_changes_nothing(own_ledger):
    before = contents(own_ledger)
    result = run_demo(own_ledger, scale=SCALE)
    assert contents(own_ledger) == before
    assert result.report.ledger_version == 1


def test_steps_are_told(own_ledger):
    steps: list[str] = []
    run_demo(own_ledger, scale=SCALE, progress=steps.append)
    assert steps[0] == "generating a quarter of jobs and a week of power readings"
    assert steps[-1] == "writing the report"


def test_text_says_where_and_what_next(own_ledger):
    folder = own_ledger.rename(own_ledger.with_name("with space"))
    text = run_demo(folder, scale=SCALE).text()
    assert "Carbon report, 2026 Q1" in text
    assert str(folder / "report" / "report.html") in text
    assert f"energy doctor '{folder}'" in text, "a path with a space must be quoted for the shell"
    assert f"--ledger '{folder}'" in text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("site.yaml", b"sites: {}\n"),
        ("site.yaml", b"caf\xe9"),
        ("notes.txt", b"mine"),
        ("site.yaml", SITE_FILE.encode() + b"# changed\n"),
    ],
)
def test_a_folder_with_something_else_is_left_alone(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LedgerError, match="something other than the example; nothing was changed"):
        run_demo(tmp_path, scale=SCALE)
    assert contents(tmp_path) == {name: hashlib.sha256(content).hexdigest()}


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(LedgerError, match="is a file"):
        run_demo(tmp_path / "taken", scale=SCALE)


def test_an_interrupted_run_is_taken_up(tmp_path):
    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "site.yaml").write_text(SITE_FILE, encoding="utf-8")
    assert run_demo(folder, scale=SCALE).report.ledger_version == 1


def test_document_names_the_figures(small_ledger, own_ledger):
    document = run_demo(own_ledger, scale=SCALE).document()
    assert document["quarter"] == QUARTER
    assert all(Path(name).is_file() for name in document["files"])
    assert {"front.energy_facility", "front.scope2_location"} <= {figure["id"] for figure in document["figures"]}
