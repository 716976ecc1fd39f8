"""Uploads: into a ledger of this session alone, within limits, all or nothing, and gone with the session."""

from __future__ import annotations

import gc
import gzip
import time
from pathlib import Path

import pytest
from app_helpers import words

from energy.errors import UploadError
from energy.ui import session_folders, session_ledger, state
from energy.ui.session_ledger import Description, Hosts, SessionLedger, Upload

HOSTS = (Hosts("h-[1-2]", "NVIDIA H100 80GB HBM3", 8),)
SITE = Description("DEU", 1.25, 1.3, "UTC", HOSTS, "nearest earlier")
_READ = "SELECT sum(energy_chip_kwh) AS kwh FROM core.energy_hour WHERE tier = 'integrated'"
POWER_HEAD = "ts,host,gpu,power_w,gpu_util_pct\n"


def power(watts="300", count=60, host="h-1"):
    """One-minute readings of one board, an hour by default."""
    rows = (f"2026-01-05T{place // 60:02d}:{place % 60:02d}:00Z,{host},0,{watts},90\n" for place in range(count))
    return (POWER_HEAD + "".join(rows)).encode()


def jobs(count=3):
    """Jobs of an hour each, in the layout of the built-in mapping."""
    head = "job_id,user,project,type,state,host,gpu_model,gpu_num,node_num,submit_time,start_time,end_time\n"
    rows = (
        f"{place},ana,wonder,train,COMPLETED,h-1,NVIDIA H100 80GB HBM3,8,1,2026-01-05T0{place}:00:00Z,"
        f"2026-01-05T0{place}:00:00Z,2026-01-05T0{place + 1}:00:00Z\n"
        for place in range(count)
    )
    return (head + "".join(rows)).encode()


@pytest.fixture
def own():
    """A private ledger that is removed at the end of the test."""
    made = []

    def make():
        made.append(SessionLedger())
        return made[-1]

    yield make
    for one in made:
        one.remove()


def energy_kwh(folder):
    from energy.ledger import Ledger

    with Ledger(folder) as ledger:
        return float(ledger.rows(_READ)[0]["kwh"])


def left_over(ledger):
    return sorted(path.name for path in ledger._home.iterdir())


def test_a_file_is_found_out_read_and_counted(own):
    ledger = own()
    (result,) = ledger.take(SITE, [Upload("power.csv", power())])
    assert (result.format, result.rows_accepted) == ("power", 60)
    assert ledger.files == ("power.csv",)
    assert energy_kwh(ledger.folder) == pytest.approx(0.3, rel=1e-12)  # 300 W for an hour
    assert session_folders.is_private(ledger.folder)


def test_the_folder_is_for_its_user_alone(own):
    ledger = own()
    ledger.take(SITE, [Upload("power.csv", power())])
    for folder in (ledger._home, ledger._home.parent):
        assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("power.csv", power("273.51 W"), "power.csv, line 2"),
        ("power.csv", power(host="elsewhere"), "elsewhere"),
        ("notes.txt", b"a,b\n1,2\n", "no known format"),
        ("empty.csv", b"", "empty"),
        ("torn.csv.gz", gzip.compress(power())[:60], "cannot be unpacked"),
        ("torn.parquet", b"PAR1" + b"\0" * 40, "not a whole Parquet file"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_and_leaves_nothing(own, name, content, part):
    ledger = own()
    with pytest.raises(UploadError) as caught:
        ledger.take(SITE, [Upload("good.csv", power()), Upload(name, content)])
    said = str(caught.value)
    assert part in said
    assert said.endswith("Nothing was stored.")
    assert said.count("Nothing was stored") == 1
    assert "\n" not in said
    assert str(ledger._home.parent) not in said
    assert ledger.folder is None
    assert left_over(ledger) == []


def test_a_refused_file_leaves_the_ledger_as_it_was(own):
    ledger = own()
    ledger.take(SITE, [Upload("power.csv", power())])
    folder, before = ledger.folder, (ledger.size_bytes, ledger.row_count, ledger.files)
    with pytest.raises(UploadError):
        ledger.take(SITE, [Upload("more.csv", power("x"))])
    assert (ledger.size_bytes, ledger.row_count, ledger.files) == before
    assert ledger.folder == folder
    assert left_over(ledger) == [folder.name]


def test_the_other_rows_are_kept_only_when_asked_for(own):
    content = power() + b"2026-01-05T01:00:00Z,h-1,0,many,90\n"
    ledger = own()
    with pytest.raises(UploadError, match=r"line 62: .*choose to store its other rows"):
        ledger.take(SITE, [Upload("power.csv", content)])
    (result,) = ledger.take(SITE, [Upload("power.csv", content)], keep_good_rows=True)
    assert (result.rows_accepted, result.rows_rejected) == (60, 1)


def test_files_brought_one_by_one_give_what_they_give_together(own):
    first, second = Upload("a.csv", power(host="h-1")), Upload("b.csv", power(host="h-2"))
    one, other = own(), own()
    one.take(SITE, [first])
    one.take(SITE, [second])
    other.take(SITE, [first, second])
    assert energy_kwh(one.folder) == energy_kwh(other.folder) > 0
    assert len(left_over(one)) == 1


def test_an_upload_is_what_the_command_line_makes_of_the_same_file(own, tmp_path):
    from energy.ledger.intake import Request, ingest

    ledger = own()
    ledger.take(SITE, [Upload("power.csv", power())])
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "site.yaml").write_text(session_ledger.site_text(SITE))
    (tmp_path / "power.csv").write_bytes(power())
    ingest(tmp_path / "ledger", [Request("power", tmp_path / "power.csv")])
    assert energy_kwh(ledger.folder) == energy_kwh(tmp_path / "ledger") > 0


def test_jobs_power_and_an_inventory_are_read_together_in_any_order(own):
    from dataclasses import replace

    inventory = b"host,gpu_model,gpus,site\nh-1,NVIDIA H100 80GB HBM3,8,site\n"
    files = [Upload("power.csv", power()), Upload("jobs.csv", jobs()), Upload("nodes.csv", inventory)]
    results = own().take(replace(SITE, hosts=()), files)
    assert {one.format: one.rows_accepted for one in results} == {"power": 60, "jobs": 3, "hosts": 1}


def test_another_description_makes_the_ledger_anew_from_the_same_rows(own):
    from dataclasses import replace

    from energy.ledger import Ledger

    def overhead(folder):
        with Ledger(folder) as opened:
            return {row["node_overhead"] for row in opened.rows("SELECT DISTINCT node_overhead FROM core.energy_hour")}

    ledger = own()
    ledger.take(SITE, [Upload("power.csv", power())])
    before = energy_kwh(ledger.folder)
    assert ledger.take(replace(SITE, node_overhead=1.5), []) == []
    assert energy_kwh(ledger.folder) == before
    assert overhead(ledger.folder) == {1.5}


def test_no_query_of_one_session_reads_the_files_of_another(own, small_ledger):
    from energy.errors import SqlError
    from energy.ledger import Ledger

    ledger = own()
    ledger.take(SITE, [Upload("power.csv", power())])
    file = ledger.folder / "ledger.duckdb"
    with Ledger(small_ledger) as served:
        for text in (
            f"SELECT * FROM '{file}'",
            f"SELECT * FROM read_blob('{file}')",
            f"SELECT * FROM glob('{ledger._home}/*')",
            f"ATTACH '{file}' AS other",
        ):
            with pytest.raises(SqlError):
                served.sql(text)


# --- limits ---
@pytest.mark.parametrize(
    ("limit", "most", "part"),
    [
        ("MOST_FILE_BYTES", 1000, "a file may have"),
        ("MOST_SESSION_BYTES", 1000, "in this session"),
        ("MOST_ROWS", 30, "rows in this session"),
        ("MOST_UNPACKED_BYTES", 1000, "when unpacked"),
    ],
)
def test_each_limit_refuses_what_is_over_it(own, monkeypatch, limit, most, part):
    monkeypatch.setattr(session_ledger, limit, most)
    ledger = own()
    with pytest.raises(UploadError, match=part):
        ledger.take(SITE, [Upload("power.csv", power())])
    assert left_over(ledger) == []


def test_a_small_packed_file_of_endless_zeros_is_stopped_while_it_is_counted(own, monkeypatch):
    monkeypatch.setattr(session_ledger, "MOST_UNPACKED_BYTES", 3 << 20)
    content = gzip.compress(b"0" * (64 << 20))
    assert len(content) < 100_000
    with pytest.raises(UploadError, match="when unpacked"):
        own().take(SITE, [Upload("bomb.csv.gz", content)])


def test_the_rows_of_a_session_add_up_over_its_files(own, monkeypatch):
    monkeypatch.setattr(session_ledger, "MOST_ROWS", 100)
    ledger = own()
    ledger.take(SITE, [Upload("a.csv", power(host="h-1"))])
    with pytest.raises(UploadError, match="rows in this session"):
        ledger.take(SITE, [Upload("b.csv", power(host="h-2"))])


def test_a_server_holds_so_many_and_counts_none_that_are_gone(own, monkeypatch):
    gc.collect()
    alive = sum(not one.is_gone for one in session_ledger._ledgers)
    monkeypatch.setattr(session_ledger, "MOST_LEDGERS", alive + 1)
    first = own()
    with pytest.raises(UploadError, match="Try again later"):
        own()
    first.remove()
    own()


def test_the_app_s_own_setting_is_the_limit_of_a_file():
    import tomllib

    folder = Path(__file__).resolve().parents[2]
    settings = tomllib.loads((folder / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["maxUploadSize"] << 20 == session_ledger.MOST_FILE_BYTES


@pytest.mark.parametrize("name", ["../../../etc/x.csv", "/etc/x.csv", "..\\..\\x.csv", "x\0.csv", "..", "", "a" * 400])
def test_no_name_of_a_file_leaves_its_folder(tmp_path, name):
    safe = session_ledger.file_name(name)
    assert (tmp_path / safe).resolve().parent == tmp_path.resolve()
    assert len(safe) <= 120
    (tmp_path / safe).write_bytes(b"")


@pytest.mark.parametrize("text", ["h-1; H100", "h-1; H100; eight", "h-1;; 8", "h-1; H100; -1", "h-1; H100; 8; 9"])
def test_hosts_that_cannot_be_read_are_named(text):
    with pytest.raises(UploadError, match="line 1"):
        session_ledger.read_hosts(text)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"pue": 0.9}, "PUE"),
        ({"zone": "Nowhere"}, "Nowhere"),
        ({"timezone": "Mars/Base"}, "Mars/Base"),
        ({"hosts": (Hosts("h-1", "H100 from the moon", 8),)}, "H100 from the moon"),
        ({"zone": "{file: /etc/passwd}"}, "file"),
    ],
)
def test_a_site_that_does_not_hold_is_refused(own, changes, part):
    from dataclasses import replace

    with pytest.raises(UploadError, match=part) as caught:
        own().take(replace(SITE, **changes), [Upload("power.csv", power())])
    assert str(caught.value).endswith("Nothing was stored.")


# --- the end ---
def test_the_files_go_with_the_last_mention_of_the_session():
    ledger = SessionLedger()
    ledger.take(SITE, [Upload("power.csv", power())])
    home = ledger._home
    assert home.is_dir()
    del ledger
    gc.collect()
    assert not home.exists()


def gone(ledger, within_s=5.0):
    """Tell whether the files went while this waited."""
    end_s = time.monotonic() + within_s
    while not ledger.is_gone and time.monotonic() < end_s:
        time.sleep(0.02)
    return ledger.is_gone


def test_the_files_go_when_the_reader_stays_away_though_nobody_else_comes(monkeypatch):
    monkeypatch.setattr(session_folders, "MOST_AWAY_S", 0.3)
    monkeypatch.setattr(session_folders, "LOOK_EVERY_S", 0.02)
    there = [True]
    ledger = SessionLedger(lambda: there[0])
    assert not gone(ledger, within_s=0.6)
    there[0] = False
    assert gone(ledger)
    ledger.remove()


def test_a_reader_who_comes_back_in_time_keeps_the_files(monkeypatch):
    monkeypatch.setattr(session_folders, "MOST_AWAY_S", 1.0)
    monkeypatch.setattr(session_folders, "LOOK_EVERY_S", 0.02)
    there = [False]
    ledger = SessionLedger(lambda: there[0])
    assert not gone(ledger, within_s=0.3)
    there[0] = True
    assert not gone(ledger, within_s=1.2)
    ledger.remove()
    assert ledger.is_gone


def test_the_files_go_by_age(monkeypatch):
    monkeypatch.setattr(session_folders, "MOST_AGE_S", 0.05)
    ledger = SessionLedger()
    assert gone(ledger)
    with pytest.raises(UploadError, match="Bring its files again"):
        ledger.take(SITE, [Upload("power.csv", power())])
    ledger.remove()


def test_what_a_killed_server_left_is_swept_and_nothing_else(tmp_path):
    import os

    dead, alive = tmp_path / "energy-app-4194399-x", tmp_path / f"energy-app-{os.getpid()}-x"
    fresh, other = tmp_path / "energy-app-4194398-y", tmp_path / "energy-app-notes"
    for folder in (dead, alive, fresh, other):
        (folder / "session-1").mkdir(parents=True)
    long_ago = time.time() - 2 * session_folders.MOST_AGE_S
    for folder in (dead, alive, other):
        os.utime(folder, (long_ago, long_ago))
    session_folders._sweep(tmp_path)
    assert [folder.exists() for folder in (dead, alive, fresh, other)] == [False, True, True, True]


# --- in the app ---
def bring(test, *files, zone="DEU", pue=1.25, hosts="h-[1-2]; NVIDIA H100 80GB HBM3; 8"):
    """Fill the form of the page and send it."""
    test.file_uploader[0].set_value([(name, content, "text/csv") for name, content in files])
    test.text_input(key="upload.zone").set_value(zone)
    test.number_input(key="upload.pue").set_value(pue)
    test.text_area(key="upload.hosts").set_value(hosts)
    next(one for one in test.button if one.label == "Read the files").click()
    return test.run()


def flat(test):
    return " ".join(words(test).split())


def test_an_upload_is_shown_on_every_page_of_the_ledger_and_labelled(start, small_ledger):
    test = bring(start(small_ledger, "fleet.py"), ("power.csv", power()))
    seen = flat(test)
    assert "Stored for this session." in seen
    assert "power.csv: power, 60 of 60 rows" in seen
    for page in ("overview.py", "fleet.py", "report.py", "sql.py"):
        test.switch_page(str(Path(state.__file__).parent / "pages" / page)).run()
        seen = flat(test)
        assert "Your upload. Every figure here is of your files" in seen, page
        assert "Ledger: your upload" in seen, page
        assert "could not be computed" not in seen, page
        assert test.get("download_button"), page


def test_the_reader_can_go_back_and_forth_and_remove_it(start, small_ledger):
    test = start(small_ledger, "fleet.py")
    served = flat(test)
    test = bring(test, ("power.csv", power()))
    folder = test.session_state[state._PRIVATE]._home
    test.radio(key="ledger.which").set_value("The served ledger").run()
    assert "Every figure here is of your files" not in flat(test)
    for figure in ("llm-pretrain", "Ledger: ledger, version 1"):
        assert figure in served
        assert figure in flat(test)
    test.radio(key="ledger.which").set_value("Your upload").run()
    assert "Every figure here is of your files" in flat(test)
    test.button(key="ledger.remove").click().run()
    assert "Every figure here is of your files" not in flat(test)
    assert "llm-pretrain" in flat(test)
    assert not folder.exists()
    assert not [one for one in test.radio if one.key == "ledger.which"]


def test_no_other_session_sees_it(start, small_ledger):
    one, other = start(small_ledger, "fleet.py"), start(small_ledger, "fleet.py")
    before = flat(other)
    one = bring(one, ("secret-project.csv", power()))
    assert flat(other.run()) == before
    assert not [field for field in other.radio if field.key == "ledger.which"]
    folder = one.session_state[state._PRIVATE].folder
    assert str(folder) not in state.recent()
    assert str(folder) not in flat(one)
    # not even to somebody who knows its folder
    other.text_input(key="ledger.typed").set_value(str(folder))
    other.button(key="ledger.go").click().run()
    assert other.error
    other.session_state["ledger.folder"] = str(folder)
    assert "Your upload is no longer here" in flat(other.run())


def test_two_sessions_each_see_their_own(start, small_ledger):
    one = bring(start(small_ledger, "fleet.py"), ("a.csv", power("300")))
    other = bring(start(small_ledger, "fleet.py"), ("b.csv", power("600")))
    folders = [test.session_state[state._PRIVATE].folder for test in (one, other)]
    assert energy_kwh(folders[1]) == pytest.approx(2 * energy_kwh(folders[0]), rel=1e-12)
    assert "a.csv" not in flat(other)
    one_again = flat(one.run())
    assert "b.csv" not in one_again


def test_a_refused_file_leaves_the_page_as_it_was(start, small_ledger):
    test = bring(start(small_ledger, "fleet.py"), ("jobs.csv", power("273.51 W")))
    seen = flat(test)
    assert "Upload refused. jobs.csv, line 2: " in seen
    assert "Nothing was stored." in seen
    assert "Every figure here is of your files" not in seen
    assert state._PRIVATE not in test.session_state


def test_what_is_not_given_is_asked_for(start, small_ledger):
    test = bring(start(small_ledger, "fleet.py"), ("power.csv", power()), zone="", pue=None)
    assert "Grid zone or place and PUE are not given" in flat(test)


def test_without_a_served_ledger_one_can_still_bring_files(start):
    test = start(None, "fleet.py")
    assert "No ledger here yet" in flat(test)
    seen = flat(bring(test, ("power.csv", power())))
    assert "Every figure here is of your files" in seen


def test_an_upload_that_is_gone_is_said_and_leads_back(start, small_ledger):
    test = bring(start(small_ledger, "fleet.py"), ("power.csv", power()))
    test.session_state[state._PRIVATE].remove()
    assert "Your upload is no longer here" in flat(test.run())
    test.button(key="ledger.back").click().run()
    assert "llm-pretrain" in flat(test)
