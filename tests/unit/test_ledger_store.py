"""Versions: published by a link, read-only, cleaned after a killed writer, kept while they are needed."""

import threading
import time

import pytest
from ingest_helpers import job, ledger, leftovers, reading, rows, table, take, telemetry, totals

from energy.errors import EnergyError, LedgerError
from energy.ledger import store
from energy.ledger.intake import Request, ingest, withdraw
from energy.ledger.reader import Ledger


@pytest.fixture
def folder(tmp_path):
    return ledger(tmp_path / "ledger")


def publish(folder, number=1):
    path = table(folder.parent / f"jobs-{number}.csv", "jobs", job(number))
    return take(folder, "jobs", path)


def test_version_is_published_by_a_relative_link_and_is_read_only(folder):
    publish(folder)
    link = folder / store.LINK_NAME
    assert link.is_symlink()
    assert str(link.readlink()) == "ledger-1.duckdb"  # relative: the folder may be moved
    assert store.published(folder).stat().st_mode & 0o777 == 0o444
    moved = folder.rename(folder.parent / "moved")
    assert rows(moved, "SELECT count(*) AS n FROM jobs")[0]["n"] == 1


def test_nothing_is_left_behind_by_a_good_build(folder):
    publish(folder)
    take(folder, "power", table(folder.parent / "p.csv", "power", reading(0), reading(1)))
    assert leftovers(folder) == []
    listed = {row["partition_path"] for row in rows(folder, "SELECT partition_path FROM raw.telemetry_file")}
    assert telemetry(folder) == listed


def test_last_versions_and_reported_ones_are_kept(folder):
    publish(folder, 1)
    store.pin(folder, 1)
    store.pin(folder, 1)
    for number in range(2, store.KEPT_VERSIONS + 4):
        publish(folder, number)
    last = store.KEPT_VERSIONS + 3
    assert store.versions(folder) == [1, *range(last - store.KEPT_VERSIONS + 1, last + 1)]
    assert store.pinned(folder) == {1}
    with Ledger(folder, version=1) as earlier:
        assert len(earlier.rows("SELECT * FROM jobs")) == 1
    with pytest.raises(LedgerError, match="no longer has version 2; it has 1, "):
        Ledger(folder, version=2)
    with pytest.raises(LedgerError, match="no longer has version 2"):
        store.pin(folder, 2)


def test_telemetry_of_removed_versions_goes_and_of_kept_ones_stays(folder):
    publish(folder, 1)
    power = table(folder.parent / "p.csv", "power", reading(0), reading(1))
    batch = take(folder, "power", power).batch_id
    first = telemetry(folder)
    withdraw(folder, batch)
    assert telemetry(folder) == first  # an earlier version still lists it
    for number in range(2, store.KEPT_VERSIONS + 2):
        publish(folder, number)
    assert telemetry(folder) == set()


def test_reader_holds_its_version_while_a_new_one_is_published(folder):
    publish(folder, 1)
    with Ledger(folder) as before:
        publish(folder, 2)
        with Ledger(folder) as after:
            assert (before.version, after.version) == (1, 2)
            assert len(before.rows("SELECT * FROM jobs")) == 1
            assert len(after.rows("SELECT * FROM jobs")) == 2
        for number in range(3, store.KEPT_VERSIONS + 3):
            publish(folder, number)  # the file that the reader holds is removed meanwhile
        assert len(before.rows("SELECT * FROM jobs")) == 1


def test_orphans_of_a_killed_writer_are_cleaned(folder):
    publish(folder, 1)
    take(folder, "power", table(folder.parent / "p.csv", "power", reading(0), reading(1)))
    good, before = telemetry(folder), totals(folder)
    (folder / ".build-3.duckdb").write_bytes(b"half")
    (folder / ".build-3.duckdb.wal").write_bytes(b"half")
    (folder / ".build-spill").mkdir()
    (folder / ".build-stage").mkdir()
    (folder / ".build-stage" / "1-2.parquet").write_bytes(b"half")
    orphan = folder / "telemetry/site=hall/date=2026-01-09/part-0.parquet"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"half")
    (orphan.parent / ".staged.parquet").write_bytes(b"half")
    assert totals(folder) == before  # readers do not mind
    publish(folder, 2)
    assert leftovers(folder) == []
    assert telemetry(folder) == good


def test_a_version_that_was_renamed_and_never_linked_is_cleaned(folder):
    publish(folder, 1)
    # killed between the rename and the swap of the link
    (folder / "ledger-2.duckdb").write_bytes(b"whole but not published")
    (folder / ".build-link").symlink_to("ledger-2.duckdb")
    assert len(rows(folder, "SELECT * FROM jobs")) == 1
    publish(folder, 2)
    assert store.versions(folder) == [1, 2]
    assert len(rows(folder, "SELECT * FROM jobs")) == 2


def test_the_first_version_that_was_never_linked_is_cleaned(folder):
    (folder / "ledger-1.duckdb").write_bytes(b"whole but not published")
    (folder / ".build-link").symlink_to("ledger-1.duckdb")
    with pytest.raises(LedgerError, match="holds no data yet"):
        store.published(folder)
    publish(folder, 1)
    assert len(rows(folder, "SELECT * FROM jobs")) == 1


@pytest.mark.parametrize("kind", ["no link", "link to nothing"])
def test_a_lost_link_never_costs_a_version(folder, kind):
    publish(folder, 1)
    publish(folder, 2)
    (folder / store.LINK_NAME).unlink()
    if kind == "link to nothing":
        (folder / store.LINK_NAME).symlink_to("ledger-7.duckdb")
    for act in (lambda: publish(folder, 3), lambda: Ledger(folder)):
        with pytest.raises(LedgerError, match=r"lost its link .*`ln -sf ledger-2\.duckdb ") as caught:
            act()
        assert "\n" not in str(caught.value)
    assert store.versions(folder) == [1, 2]


def test_going_back_to_an_earlier_version_keeps_the_later_ones(folder):
    publish(folder, 1)
    publish(folder, 2)
    (folder / store.LINK_NAME).unlink()
    (folder / store.LINK_NAME).symlink_to("ledger-1.duckdb")
    publish(folder, 3)
    assert store.versions(folder) == [1, 2, 3]
    assert [row["job_id"] for row in rows(folder, "SELECT job_id FROM jobs ORDER BY 1")] == ["1", "3"]


def test_second_writer_waits_for_the_first(folder, tmp_path):
    publish(folder, 1)
    second = table(tmp_path / "jobs-2.csv", "jobs", job(2))
    entered, order = threading.Event(), []

    def hold():
        with store.locked(folder):
            entered.set()
            time.sleep(0.4)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    take(folder, "jobs", second)
    order.append("second")
    thread.join()
    assert order == ["first", "second"]


def test_second_writer_gives_up_with_one_line(folder, monkeypatch):
    publish(folder, 1)
    monkeypatch.setattr(store, "_LOCK_WAIT_S", 0.1)
    with store.locked(folder), pytest.raises(LedgerError, match="Another writer is at work") as caught:
        publish(folder, 2)
    assert "\n" not in str(caught.value)
    assert store.versions(folder) == [1]


@pytest.mark.parametrize("where", ["importing", "building", "publishing"])
def test_a_failing_build_leaves_nothing(folder, tmp_path, monkeypatch, where):
    publish(folder, 1)
    power = table(tmp_path / "p.csv", "power", reading(0), reading(1))
    before = totals(folder)
    names = sorted(path.name for path in folder.iterdir())

    def fail(*_args, **_options):
        raise KeyboardInterrupt

    if where == "importing":
        jobs = tmp_path / "bad.csv"
        jobs.write_text("what\n1\n")
        with pytest.raises(EnergyError):
            ingest(folder, [Request("power", power), Request("jobs", jobs)])
    else:
        place = "energy.ledger.intake.build" if where == "building" else "energy.ledger.store._publish"
        monkeypatch.setattr(place, fail)
        with pytest.raises(KeyboardInterrupt):
            take(folder, "power", power)
    assert [name for name in sorted(path.name for path in folder.iterdir()) if name != "telemetry"] == names
    assert telemetry(folder) == set()
    assert totals(folder) == before


def test_a_damaged_version_is_one_line_and_removes_nothing(folder):
    publish(folder, 1)
    take(folder, "power", table(folder.parent / "p.csv", "power", reading(0), reading(1)))
    files = telemetry(folder)
    version = store.published(folder)
    version.chmod(0o644)
    version.write_bytes(b"DUCK or not" * 1000)
    for act in (lambda: publish(folder, 2), lambda: Ledger(folder)):
        with pytest.raises(LedgerError) as caught:
            act()
        assert "\n" not in str(caught.value)
    assert telemetry(folder) == files
    assert leftovers(folder) == []


def test_numbers_of_versions_are_not_used_again(folder):
    publish(folder, 1)
    store.pin(folder, 1)
    publish(folder, 2)
    store.pin(folder, 2)
    (folder / store.LINK_NAME).unlink()
    (folder / store.LINK_NAME).symlink_to("ledger-1.duckdb")
    (folder / "ledger-2.duckdb").unlink()
    publish(folder, 3)
    assert store.versions(folder) == [1, 3]


def test_the_list_of_reported_versions_says_what_is_wrong_with_it(folder):
    publish(folder, 1)
    (folder / store.PINNED_FILE).write_text("one\n")
    with pytest.raises(LedgerError, match="holds more than numbers"):
        store.pinned(folder)


def test_folders_that_are_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match=r"No ledger at .*energy init"):
        store.published(tmp_path / "nowhere")
    with pytest.raises(LedgerError, match=r"holds no data yet.*energy ingest"):
        store.published(ledger(tmp_path / "empty"))
    with pytest.raises(EnergyError, match=r"No site\.yaml in .*energy init"):
        (tmp_path / "bare").mkdir()
        take(tmp_path / "bare", "jobs", table(tmp_path / "j.csv", "jobs", job()))
    assert list((tmp_path / "bare").iterdir()) == []


def test_readers_with_other_settings_stand_side_by_side(folder):
    """Each reader has settings of its own; in one DuckDB instance they would have to agree."""
    publish(folder)
    with Ledger(folder, threads=1) as one, Ledger(folder, threads=2) as two, Ledger(folder) as three:
        seen = [[row["n"] for row in reader.rows("SELECT count(*) AS n FROM raw.job")] for reader in (one, two, three)]
        used = [reader.rows("SELECT current_setting('threads') AS n")[0]["n"] for reader in (one, two)]
        zone = "SELECT current_setting('TimeZone') AS z"
        zones = {row["z"] for reader in (one, two, three) for row in reader.rows(zone)}
    assert seen[0] == seen[1] == seen[2]
    assert used == [1, 2]
    assert zones == {"UTC"}
