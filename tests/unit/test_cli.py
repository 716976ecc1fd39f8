"""The command line as a stranger meets it: what works, what is wrong and how that is said."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from energy import cli, errors

COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
PLAIN_ENV = {key: value for key, value in os.environ.items() if key != "ENERGY_DEBUG"}


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line on stderr."""
        assert self.err.endswith("\n"), self.err
        assert self.err.count("\n") == 1, f"more than one line on stderr:\n{self.err}"
        return self.err.rstrip("\n")


@pytest.fixture
def energy(monkeypatch, capsys, tmp_path) -> Iterator[Callable[..., Outcome]]:
    """Run one command in this process, from an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ENERGY_DEBUG", raising=False)

    def run(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["energy", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = capsys.readouterr()
        return Outcome(int(left.value.code or 0), captured.out, captured.err)

    return run


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


# --- what works ---


def test_version(energy):
    assert re.fullmatch(r"energy \d+\.\d+\.\d+\n", energy("--version").out)


def test_demo_says_where_and_what_next(energy, own_ledger, monkeypatch):
    from energy import demo

    full = demo.run_demo
    monkeypatch.setattr(demo, "run_demo", lambda folder, progress: full(folder, scale=0.02, progress=progress))
    done = energy("demo", own_ledger)
    assert (done.code, done.err) == (0, "")
    assert f"energy doctor {own_ledger}" in done.out
    as_json = energy("demo", own_ledger, "--json").document
    assert as_json["schema"] == "demo/1"
    assert as_json["ledger"] == str(own_ledger)
    assert all(Path(name).is_file() for name in as_json["files"])


def test_init_writes_a_site_file_that_can_be_read(energy, tmp_path):
    from energy.ledger.site_file import read_site_file

    done = energy("init", "mine", "--zone", "Sweden")
    assert (done.code, done.err) == (0, "")
    assert "energy ingest jobs FILE --ledger mine" in done.out
    assert read_site_file(tmp_path / "mine").sites["site-a"].zone == "SWE"


def test_init_says_when_a_zone_stands_for_a_place(energy):
    assert "Zone SRVC stands for Virginia" in energy("init", "text", "--zone", "Virginia").out
    document = energy("init", "json", "--zone", "Virginia", "--json").document
    assert (document["schema"], document["zone"]) == ("init/1", "SRVC")
    assert "SRVC" in document["note"]


def test_init_quotes_paths_for_the_shell(energy):
    assert "--ledger 'my ledger'" in energy("init", "my ledger").out


def test_ingest_of_the_same_file_changes_nothing(energy, own_ledger):
    before = files_of(own_ledger)
    done = energy("ingest", "hosts", own_ledger / "inputs" / "nodes.csv", "--ledger", own_ledger)
    assert done.code == 0
    assert done.out.startswith("nodes.csv: the same file was ingested before")
    assert "nothing changed" in done.out
    assert files_of(own_ledger) == before


def test_ingest_stores_what_is_right_and_says_what_is_not(energy, own_ledger, tmp_path):
    new = tmp_path / "more.csv"
    new.write_text("host,gpu_model,gpus,site\nnew-001,NVIDIA H100 80GB HBM3,8,site-a\nnew-002,H100,8,site-a\n")
    document = energy("ingest", "hosts", new, "--ledger", own_ledger, "--json").document
    assert document["schema"] == "ingest/1"
    (file,) = document["files"]
    assert (file["rows_read"], file["rows_accepted"], file["rows_rejected"]) == (2, 1, 1)
    assert file["mapping"] == "host-inventory"
    with new.open("a") as file:
        file.write("new-003,T4,4,site-a\n")
    text = energy("ingest", "hosts", new, "--ledger", own_ledger)
    assert text.code == 0
    assert "more.csv: 1 of 3 rows stored as batch " in text.out
    assert "(mapping host-inventory); 1 there already, 1 refused." in text.out
    assert re.search(r"first refused: more.csv, (line|row) 3: The chip name 'H100' fits several chips", text.out)
    assert f"by reason: energy doctor {own_ledger}" in text.out


def test_a_file_of_which_nothing_is_right_leaves_with_1(energy, own_ledger, tmp_path):
    new = tmp_path / "wrong.csv"
    new.write_text("host,gpu_model,gpus,site\nnew-001,H100,8,site-a\n")
    done = energy("ingest", "hosts", new, "--ledger", own_ledger, "--json")
    assert done.code == 1
    assert done.document["files"][0]["rows_rejected"] == 1
    assert re.match(
        r"energy: All 1 rows were refused; first wrong\.csv, (line|row) 2: The chip name 'H100' fits", done.line
    )
    assert ".." not in done.line


def test_rebuild_and_withdraw_make_versions(energy, own_ledger):
    assert energy("rebuild", "--ledger", own_ledger).out == "Published version 2.\n"
    assert energy("rebuild", "--ledger", own_ledger, "--json").document == {
        "schema": "rebuild/1",
        "ledger": str(own_ledger),
        "ledger_version": 3,
    }
    taken = energy("withdraw", "4", "--ledger", own_ledger, "--json").document
    assert taken == {
        "schema": "withdraw/1",
        "ledger": str(own_ledger),
        "batch_id": 4,
        "file_name": "gpu_power_1min_week.parquet",
    }
    assert "Took back batch 3 (job_gpu_alloc_week.csv)." in energy("withdraw", "3", "--ledger", own_ledger).out


def test_report_writes_what_was_asked_for(energy, own_ledger, tmp_path):
    done = energy("report", "2026q1", "--ledger", own_ledger, "--out", "made", "--format", "JSON, csv", "--json")
    assert done.code == 0, done.err
    document = done.document
    assert (document["schema"], document["quarter"], document["empty"]) == ("report-files/1", "2026Q1", False)
    written = {path.name for path in (tmp_path / "made").iterdir()}
    assert written == {Path(name).name for name in document["files"]}
    assert written == {"report.json", "report.csv", "energy_monthly.csv", "emissions_monthly.csv"}


def test_report_of_a_quarter_without_rows_says_so(energy, own_ledger):
    done = energy("report", "2027Q3", "--ledger", own_ledger)
    assert (done.code, done.err) == (0, "")
    assert "No data." in done.out
    assert energy("report", "2027Q3", "--ledger", own_ledger, "--json").document["empty"] is True


def test_verify_is_equal_then_not(energy, own_ledger, tmp_path):
    twin = own_ledger / "report" / "report.json"
    done = energy("verify", twin, "--ledger", own_ledger)
    assert (done.code, done.out) == (0, "Equal: every value of report.json is what version 1 of the ledger gives.\n")
    assert energy("verify", twin, "--ledger", own_ledger, "--json").document == {
        "schema": "verify/1",
        "ledger_version": 1,
        "equal": True,
        "differences": [],
    }
    altered = json.loads(twin.read_text(encoding="utf-8"))
    altered["entity"] = "Somebody Else"
    (tmp_path / "altered.json").write_text(json.dumps(altered), encoding="utf-8")
    done = energy("verify", "altered.json", "--ledger", own_ledger, "--json")
    assert done.code == 1
    assert done.document["equal"] is False
    assert len(done.document["differences"]) == 1
    assert "altered.json differs from its recomputation in 1 places: entity: reported Somebody Else" in done.line


def test_verify_uses_the_version_that_the_report_names(energy, own_ledger):
    energy("withdraw", "4", "--ledger", own_ledger)
    assert energy("verify", own_ledger / "report" / "report.json", "--ledger", own_ledger).code == 0


def test_explain_gives_steps(energy, small_ledger):
    done = energy("explain", "front.scope2_location", "--ledger", small_ledger)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" 1. ")
    document = energy("explain", "front.scope2_location", "--ledger", small_ledger, "--json").document
    assert (document["schema"], document["cell"]) == ("explain/1", "front.scope2_location")
    first, last = document["steps"][0], document["steps"][-1]
    assert {"step", "value", "unit", "low", "high", "text", "status", "source", "subtotal"} <= set(first)
    assert (first["unit"], last["unit"]) == ("kWh_chip", "kgCO2e")


def test_doctor_gives_findings_and_the_next_command(energy, small_ledger):
    done = energy("doctor", small_ledger)
    assert done.code == 0
    assert done.out.startswith(f"Ledger {small_ledger}, version 1\n")
    document = energy("doctor", small_ledger, "--json").document
    assert (document["schema"], document["version"]) == ("doctor/1", 1)
    assert {finding["level"] for finding in document["findings"]} <= {"missing", "check", "good"}
    assert document["next"].startswith("energy ")


def test_doctor_of_an_empty_folder_says_how_to_start(energy, tmp_path):
    (tmp_path / "fresh").mkdir()
    assert "Next: energy init fresh" in energy("doctor", "fresh").out
    energy("init", "fresh")
    assert "Next: energy ingest jobs FILE --ledger fresh" in energy("doctor", "fresh").out


@pytest.mark.parametrize("kind", ["chips", "nodes", "zones", "factors"])
def test_catalogue_is_a_table_with_header_and_legend(energy, kind):
    lines = energy("catalogue", kind).out.splitlines()
    entries = energy("catalogue", kind, "--json").document["entries"]
    assert lines[0].split() == list(entries[0])
    assert len(lines) == len(entries) + 4
    second = lines[0].index(list(entries[0])[1])
    assert {line[second - 2 : second] for line in lines[: len(entries) + 1]} == {"  "}, "columns are not aligned"
    assert lines[-2].startswith("Status: catalogue, read from its source")
    assert "None" not in " ".join(lines).split()


def test_catalogue_says_what_is_not_known_and_what_is_unverified(energy):
    text = energy("catalogue", "chips", "TPU v5p").out
    assert re.search(r"^tdp_w +540 W  \(recalled, unverified\)$", text, re.MULTILINE)
    assert re.search(r"^typical_w +not known$", text, re.MULTILINE)
    assert re.search(r"^idle_w .*\(default: a rule of thumb\)$", text, re.MULTILINE)
    document = energy("catalogue", "chips", "TPU v5p", "--json").document
    fields = {row["field"]: row for row in document["entry"]}
    assert (document["schema"], document["kind"]) == ("catalogue-entry/1", "chips")
    assert fields["typical_w"]["value"] is None
    assert fields["tdp_w"] == {"field": "tdp_w", "value": 540.0, "unit": "W", "status": "recalled, unverified"}


def test_catalogue_says_when_a_zone_stands_for_a_place(energy):
    assert energy("catalogue", "zones", "SE3").out.startswith("asked ")
    assert not energy("catalogue", "zones", "Sweden").out.startswith("asked ")


@pytest.mark.parametrize(
    "words", [("chips", "nvidia_h100_sxm5_80"), ("nodes", "dgx_h100"), ("factors", "egrid2022-CAMX")]
)
def test_catalogue_shows_one_entry_with_its_source(energy, words):
    assert re.search(r"^source +\S", energy("catalogue", *words).out, re.MULTILINE)


# --- what is wrong ---

TWIN = "LEDGER/report/report.json"
WRONG: list[tuple[str, int, str]] = [
    # usage: the words cannot be understood
    ("nosuch", 2, "No such command 'nosuch'"),
    ("report 2026Q1", 2, "Missing option '--ledger'"),
    ("report --ledger LEDGER", 2, "Missing argument 'QUARTER'"),
    ("ingest jobs --ledger LEDGER", 2, "FILE is missing"),
    ("withdraw one --ledger LEDGER", 2, "Invalid value for 'BATCH'"),
    ("doctor LEDGER --nosuch", 2, "No such option: --nosuch"),
    ("explain --ledger LEDGER", 2, "Missing argument 'CELL'"),
    ("catalogue", 2, "Missing argument 'KIND'"),
    # stated errors: the words are clear, the thing is not there or not right
    ("report 2026Q5 --ledger LEDGER", 1, "is not a quarter. Write it as 2026Q1. The ledger holds"),
    ("report hello --ledger LEDGER", 1, '"hello" is not a quarter'),
    ("report 2026Q1 --ledger absent", 1, "No ledger at absent. Build the example with `energy demo`"),
    ("report 2026Q1 --ledger file.txt", 1, "No ledger at file.txt"),
    ("report 2026Q1 --ledger empty", 1, "holds no data yet"),
    ("report 2026Q1 --ledger LEDGER --format pdf", 1, "No report format named pdf; known are html, json, csv"),
    ("report 2026Q1 --ledger LEDGER --format ,", 1, "--format names no format"),
    ("report 2026Q1 --ledger LEDGER --out file.txt", 1, "file.txt is a file: name a folder with --out"),
    ("report 2026Q1 --ledger LEDGER --out file.txt/in", 1, "file.txt/in: Not a directory. Check the path"),
    ("verify absent.json --ledger LEDGER", 1, "absent.json cannot be read: No such file"),
    ("verify file.txt --ledger LEDGER", 1, "file.txt is not a report"),
    ("verify no_version.json --ledger LEDGER", 1, "names no version of a ledger"),
    ("verify other_schema.json --ledger LEDGER", 1, "its schema is other/1, not report/1"),
    ("verify old_version.json --ledger LEDGER", 1, "no longer has version 99; it has 1"),
    (f"verify {TWIN} --ledger empty", 1, "holds no data yet"),
    ("explain front.scope2_locatoin --ledger LEDGER", 1, "Nearest: front.scope2_location"),
    ("explain front.pue --ledger LEDGER --quarter 2031Q1", 1, "has no rows"),
    ("explain front.pue --ledger absent", 1, "No ledger at absent"),
    ("doctor absent", 1, "No folder absent. Start a ledger with `energy init absent`"),
    ("doctor file.txt", 1, "No folder file.txt"),
    ("init LEDGER", 1, "is there already; nothing was changed"),
    ("init file.txt", 1, "file.txt is a file; choose a folder"),
    ("init fresh --zone Germanny", 1, "Nearest: Germany"),
    ("demo file.txt", 1, "file.txt is a file"),
    ("demo own", 1, "own holds something other than the example; nothing was changed"),
    ("ingest jbos LEDGER/inputs/jobs_2026q1.parquet --ledger LEDGER", 1, "No importer named jbos. Nearest: jobs"),
    ("ingest jobs absent.csv --ledger LEDGER", 1, "absent.csv: no such file"),
    ("ingest jobs empty --ledger LEDGER", 1, "empty is a folder without files"),
    ("ingest jobs blank.csv --ledger LEDGER", 1, "blank.csv is empty (0 bytes)"),
    ("ingest jobs file.txt --ledger empty", 1, "No site.yaml in empty: start one with `energy init empty`"),
    ("ingest jobs file.txt --ledger LEDGER", 1, "no built-in mapping fits its columns"),
    ("ingest jobs file.txt --ledger LEDGER --mapping acme-job", 1, "Nearest: acme-jobs"),
    ("ingest jobs file.txt --ledger LEDGER --mapping gpu-power", 1, "gpu-power is for power, not for jobs"),
    ("ingest jobs file.txt --ledger LEDGER --site site-c --mapping acme-jobs", 1, "No site site-c in site.yaml"),
    ("ingest jobs file.txt --ledger LEDGER --timezone Mars/X --mapping acme-jobs", 1, "Mars/X is no IANA time zone"),
    ("ingest jobs file.txt --ledger LEDGER --covers-from soon", 1, "--covers-from soon is no date"),
    ("withdraw 99 --ledger LEDGER", 1, "No batch 99 in the ledger; batches: 1 (nodes.csv)"),
    ("withdraw 1 --ledger absent", 1, "No site.yaml in absent"),
    ("rebuild --ledger empty", 1, "No site.yaml in empty"),
    ("catalogue chip", 1, "No catalogue of chip. Nearest: chips"),
    ("catalogue chips H100", 1, "fits several chips: nvidia_h100_sxm5_80"),
    ("catalogue chips nvidia-h101", 1, "is not in the catalogue. Nearest:"),
    ("catalogue zones Atlantis", 1, "All of them: `energy catalogue zones`"),
    ("catalogue zones Georgia", 1, "fits several zones"),
    ("catalogue factors nope", 1, "All of them: `energy catalogue factors`"),
]


@pytest.fixture
def place(tmp_path) -> Path:
    """A folder with the things that strangers name by mistake."""
    (tmp_path / "file.txt").write_text("a,b\n1,2\n")
    (tmp_path / "blank.csv").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("mine")
    report = {"schema": "report/1", "quarter": "2026Q1"}
    for name, document in {
        "no_version": report,
        "other_schema": report | {"schema": "other/1"},
        "old_version": report | {"ledger_version": 99},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    return tmp_path


@pytest.mark.parametrize(("words", "code", "message"), WRONG, ids=[row[0] for row in WRONG])
def test_wrong_use_is_said_and_leaves_nothing(energy, small_ledger, place, words, code, message):
    before = files_of(small_ledger), files_of(place)
    done = energy(*(word.replace("LEDGER", str(small_ledger)) for word in words.split()))
    assert done.code == code, done.err
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    if code == 1:
        assert done.line.startswith("energy: ")
    assert (files_of(small_ledger), files_of(place)) == before


@pytest.mark.parametrize("words", [row[0] for row in WRONG if row[1] == 1 and not row[0].startswith("catalogue chip ")])
def test_errors_are_the_same_with_json(energy, small_ledger, place, words):
    done = energy(*(word.replace("LEDGER", str(small_ledger)) for word in words.split()), "--json")
    assert (done.code, done.out) == (1, "")
    assert done.line.startswith("energy: ")


def test_no_command_shows_the_help(energy):
    done = energy()
    assert done.code == 2
    assert "Commands:" in done.out + done.err


def raising(monkeypatch, error: BaseException) -> None:
    from energy.catalogue import listing

    def fail(kind: str) -> None:
        raise error

    monkeypatch.setattr(listing, "entries", fail)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (errors.LedgerError("two\nlines"), "energy: two lines"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "energy: No space left on device. Check the path, its permissions and the free space.",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "there"),
            "energy: there: Permission denied. Check the path, its permissions and the free space.",
        ),
        (
            ZeroDivisionError("x\ny"),
            "energy: internal error (ZeroDivisionError: x). Run again with ENERGY_DEBUG=1 and report what it prints.",
        ),
    ],
)
def test_every_failure_is_one_line(energy, monkeypatch, error, line):
    raising(monkeypatch, error)
    done = energy("catalogue", "chips")
    assert (done.code, done.out, done.line) == (1, "", line)


@pytest.mark.parametrize("made_of_it", [None, RuntimeError("Query interrupted"), errors.LedgerError("closed")])
def test_ctrl_c_is_one_line_whatever_a_library_makes_of_it(energy, monkeypatch, made_of_it):
    from energy.catalogue import listing

    def interrupted(kind: str) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            if made_of_it is None:
                raise
            raise made_of_it from None

    monkeypatch.setattr(listing, "entries", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    done = energy("catalogue", "chips")
    assert (done.code, done.line) == (1, "energy: stopped; the published ledger is as it was.")
    assert signal.getsignal(signal.SIGINT) is handler


def test_debug_shows_the_traceback_of_internal_errors_only(energy, monkeypatch):
    raising(monkeypatch, ZeroDivisionError("x"))
    monkeypatch.setattr(sys, "argv", ["energy", "catalogue", "chips"])
    monkeypatch.setenv("ENERGY_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main()
    raising(monkeypatch, errors.LedgerError("stated"))
    with pytest.raises(SystemExit, match="1"):
        cli.main()


def test_a_read_only_ledger_can_be_reported_and_the_missing_mark_is_said(energy, own_ledger, monkeypatch):
    from energy.ledger import store

    def refuse(folder: Path, version: int) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(store, "pin", refuse)
    done = energy("report", "2026Q1", "--ledger", own_ledger, "--out", "made", "--format", "json")
    assert done.code == 0
    assert done.line == "energy: note: version 1 could not be marked as reported (Permission denied)."


# --- what only shows in a process of its own ---


def start(*words: object, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "energy.cli", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=PLAIN_ENV, **options)


def test_a_reader_that_leaves_is_no_error():
    process = start("catalogue", "factors", stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    _, err = process.communicate()
    assert (process.returncode, err) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said():
    with Path("/dev/full").open("w") as full:
        process = start("catalogue", "factors", stdout=full)
        _, err = process.communicate()
    assert process.returncode != 0
    assert err.startswith("energy: No space left on device.")
    assert "Traceback" not in err


def test_ctrl_c_is_one_line_and_publishes_nothing(tmp_path):
    process = start("demo", tmp_path / "demo", stdout=subprocess.PIPE)
    for _ in range(600):
        if (tmp_path / "demo" / ".build-1.duckdb").exists():
            break
        time.sleep(0.05)
    time.sleep(0.3)  # let it be at work
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert err == "energy: stopped; the published ledger is as it was.\n"
    left = {path.name for path in (tmp_path / "demo").iterdir()}
    assert left <= {"site.yaml", "inputs", ".lock", "telemetry"}


def test_nothing_is_said_on_stderr_without_a_terminal(own_ledger):
    process = start("rebuild", "--ledger", own_ledger, stdout=subprocess.PIPE)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "Published version 2.\n", "")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the superuser")
def test_a_read_only_folder_is_named(energy, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o555)
    done = energy("init", "closed")
    assert (done.code, done.line.split(".")[0]) == (1, "energy: closed/site")


# --- help ---


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_names_every_option_and_argument(energy, name):
    done = energy(name, "--help")
    assert (done.code, done.err) == (0, "")
    for parameter in COMMANDS[name].params:
        shown = parameter.opts[0] if parameter.param_type_name == "option" else str(parameter.metavar)
        assert shown in done.out
        assert parameter.help, f"{name} {shown} has no help text"


def test_no_summary_is_cut_short(energy):
    listed = energy("--help").out.partition("Commands:")[2]
    assert "..." not in listed
    assert all(name in listed for name in COMMANDS)


def test_every_command_prints_json():
    without = [
        name for name, command in COMMANDS.items() if "--json" not in {o for p in command.params for o in p.opts}
    ]
    assert without == ["app"]  # becomes the server: it has no result to print
