"""What becomes of files: the same one twice, overlapping ones, corrected ones, several at once."""

import shutil

import pytest
from ingest_helpers import (
    GOOD,
    H100,
    SITE,
    at,
    content,
    job,
    ledger,
    leftovers,
    reading,
    rejects,
    rows,
    table,
    take,
    telemetry,
    totals,
)

from energy.catalogue import chip
from energy.errors import EnergyError, LedgerError, SiteFileError
from energy.ledger import store
from energy.ledger.intake import Request, ingest, rebuild, withdraw


@pytest.fixture
def folder(tmp_path):
    return ledger(tmp_path / "ledger")


WINDOW = {"covers_from": at("2026-01-05"), "covers_to": at("2026-01-07")}


def jobs(folder, name, *lines, **options):
    return take(folder, "jobs", table(folder.parent / name, "jobs", *lines), **(WINDOW | options))


def power(folder, name, *lines, **options):
    return take(folder, "power", table(folder.parent / name, "power", *lines), **options)


def held(folder):
    """Return job id, start, end, chips of what ran."""
    found = rows(folder, "SELECT job_id, host, start_utc, end_utc, chip_count FROM core.job ORDER BY ALL")
    return [(row["job_id"], f"{row['end_utc']:%H:%M}" if row["end_utc"] else None) for row in found]


@pytest.mark.parametrize("format_name", ["jobs", "power", "allocations", "hosts"])
def test_the_same_file_twice_changes_nothing(folder, format_name):
    lines = [reading(0), reading(1)] if format_name == "power" else [GOOD[format_name]]
    path = table(folder.parent / "a.csv", format_name, *lines)
    first = take(folder, format_name, path)
    assert (first.batch_id, first.rows_accepted, first.rows_rejected) == (1, len(lines), 0)
    before = content(folder)
    again = take(folder, format_name, path)
    assert again.batch_id is None
    assert "ingested before as batch 1: nothing changed" in again.notes[0]
    assert store.versions(folder) == [1]
    shutil.copy(path, folder.parent / "b.csv")  # the same bytes under another name
    assert take(folder, format_name, folder.parent / "b.csv").batch_id is None
    assert content(folder) == before


def test_the_same_file_twice_in_one_call(folder):
    path = table(folder.parent / "a.csv", "jobs", job())
    results = ingest(folder, [Request("jobs", path), Request("jobs", path)])
    assert [result.batch_id for result in results] == [1, None]
    assert held(folder) == [("1", "10:00")]


def test_overlapping_files_count_each_run_once(folder):
    jobs(folder, "a.csv", job(1), job(2))
    both = jobs(folder, "b.csv", job(2), job(3))
    assert (both.rows_accepted, both.rows_duplicate, both.rows_rejected) == (1, 1, 0)
    assert held(folder) == [("1", "10:00"), ("2", "10:00"), ("3", "10:00")]


def test_overlapping_readings_count_once(folder):
    power(folder, "a.csv", *(reading(minute) for minute in range(4)))
    once = totals(folder)
    both = power(folder, "b.csv", *(reading(minute) for minute in range(2, 4)))
    assert (both.rows_accepted, both.rows_duplicate) == (0, 2)
    assert totals(folder) == once
    more = power(folder, "c.csv", *(reading(minute) for minute in range(2, 6)))
    assert (more.rows_accepted, more.rows_duplicate) == (2, 2)


@pytest.mark.parametrize("kind", ["jobs", "power", "allocations", "hosts"])
def test_taking_one_of_two_overlapping_files_back_leaves_what_the_other_says(folder, kind):
    """What the first file gave and the second repeats is still there when the first is gone."""
    lines = {
        "jobs": [job(number) for number in range(1, 4)],
        "power": [reading(minute) for minute in range(4)],
        "allocations": [GOOD["allocations"].replace("1,", f"{number},", 1) for number in range(1, 4)],
        "hosts": [f"x-{number},{H100},8,hall" for number in range(1, 4)],
    }[kind]
    options = WINDOW if kind == "jobs" else {}
    alone = ledger(folder.parent / "alone")
    second = table(folder.parent / "second.csv", kind, *lines[1:])
    take(alone, kind, second, **options)
    take(folder, kind, table(folder.parent / "first.csv", kind, *lines[:-1]), **options)
    take(folder, kind, second, **options)
    withdraw(folder, 1)
    assert totals(folder) == totals(alone)
    names = "SELECT count(*) AS n FROM core.host"
    assert rows(folder, names) == rows(alone, names)


def test_a_running_job_is_closed_by_a_later_log(folder):
    running = job(1, state="RUNNING", end_time="")
    jobs(folder, "a.csv", running)
    assert held(folder) == [("1", None)]
    hours = totals(folder)
    later = jobs(folder, "b.csv", job(1))
    assert (later.rows_accepted, later.rows_rejected) == (1, 0)
    assert held(folder) == [("1", "10:00")]
    assert totals(folder) != hours
    only = ledger(folder.parent / "only")
    jobs(only, "c.csv", job(1))
    assert totals(folder) == totals(only)


def test_an_older_log_that_comes_later_changes_nothing(folder):
    jobs(folder, "b.csv", job(1))
    before = totals(folder)
    older = jobs(folder, "a.csv", job(1, state="RUNNING", end_time=""))
    assert (older.rows_accepted, older.rows_duplicate, older.rows_rejected) == (0, 1, 0)
    assert totals(folder) == before


def test_a_requeued_job_counts_each_of_its_runs(folder):
    second = job(1, start_time="2026-01-05T12:00:00Z", end_time="2026-01-05T13:00:00Z")
    done = jobs(folder, "a.csv", job(1, state="PREEMPTED"), second)
    assert (done.rows_accepted, done.rows_rejected) == (2, 0)
    hours = rows(folder, "SELECT sum(chip_h) AS h FROM jobs")[0]["h"]
    assert float(hours) == 4 * (2 + 1)


def test_a_job_of_several_hosts_counts_on_each(folder):
    done = jobs(folder, "a.csv", job(1), job(1, host="h100-002"))
    assert done.rows_accepted == 2
    assert float(rows(folder, "SELECT sum(chip_h) AS h FROM jobs")[0]["h"]) == 16


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gpu_num": 5}, "which has chip_count 4.0 for the same job_id"),
        ({"end_time": "2026-01-05T11:00:00Z"}, "which has end_utc 2026-01-05 10:00:00+00"),
        ({"project": "q"}, "which has project p for"),
    ],
)
def test_a_contradiction_is_refused_and_says_what_it_contradicts(folder, change, words):
    jobs(folder, "a.csv", job(7), job(1))
    before = totals(folder)
    odd = jobs(folder, "b.csv", job(1, **change))
    assert (odd.rows_accepted, odd.rows_rejected) == (0, 1)
    ((line, reason),) = rejects(folder)
    assert line == 2
    assert reason.startswith("contradicts row 3 of batch 1, ")
    assert words in reason
    assert "`energy withdraw 1`" in reason
    assert totals(folder) == before


def test_contradictions_inside_one_file(folder):
    twice = jobs(folder, "a.csv", job(1), job(1), job(1, gpu_num=5), job(1, gpu_num=5), job(1))
    assert (twice.rows_accepted, twice.rows_duplicate, twice.rows_rejected) == (1, 2, 2)
    assert [line for line, _ in rejects(folder)] == [4, 5]
    assert "contradicts row 2 of this file" in rejects(folder)[0][1]
    assert held(folder) == [("1", "10:00")]


def test_three_reports_of_one_run_in_one_file(folder):
    open_run = job(1, state="RUNNING", end_time="")
    done = jobs(folder, "a.csv", open_run, job(1), job(1, end_time="2026-01-05T11:00:00Z"), open_run)
    assert (done.rows_accepted, done.rows_duplicate, done.rows_rejected) == (2, 1, 1)
    assert held(folder) == [("1", "10:00")]


def test_contradicting_readings_are_refused(folder):
    power(folder, "a.csv", reading(0), reading(1))
    odd = power(folder, "b.csv", reading(1, power=400), reading(2), reading(2, power=300), reading(3), reading(3))
    assert (odd.rows_accepted, odd.rows_duplicate, odd.rows_rejected) == (2, 1, 2)
    first, second = rejects(folder)
    assert first[0] == 2
    assert "at 2026-01-05T08:01:00.000Z is stored (500 W, 80 % used)" in first[1]
    assert "`energy withdraw 1`" in first[1]
    assert second[0] == 4
    assert "is in row 3 of this file" in second[1]


def test_all_files_or_none(folder):
    good = table(folder.parent / "good.csv", "power", reading(0), reading(1))
    bad = folder.parent / "bad.csv"
    for text in ("job_id\n1\n", "", JOBS_WITHOUT_ZONE):
        bad.write_text(text)
        with pytest.raises(EnergyError, match=r"bad\.csv"):
            ingest(folder, [Request("power", good), Request("jobs", bad)])
        assert store.versions(folder) == []
        assert leftovers(folder) == []
        assert telemetry(folder) == set()


JOBS_WITHOUT_ZONE = (
    "job_id,user,project,host,gpu_model,node_num,gpu_num,type,state,submit_time,start_time,end_time\n"
    f"1,u,p,h100-001,{H100},1,4,T,COMPLETED,2026-01-05,2026-01-05T08:00:00,2026-01-05T10:00:00\n"
)


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_withdraw_and_ingest_again_gives_the_first_result_to_the_last_digit(folder, batch):
    files = [
        ("jobs", table(folder.parent / "j.csv", "jobs", job(1), job(2, host="h100-002", gpu_num=3))),
        (
            "allocations",
            table(
                folder.parent / "a.csv",
                "allocations",
                *(f"1,h100-001,{gpu},2026-01-05T08:00:00Z,2026-01-05T10:00:00Z" for gpu in range(4)),
            ),
        ),
        (
            "power",
            table(
                folder.parent / "p.csv",
                "power",
                *(
                    reading(minute, gpu=gpu, power=300.1 + minute * 7.3 + gpu)
                    for minute in range(90)
                    for gpu in range(8)
                ),
            ),
        ),
    ]
    for format_name, path in files:
        take(folder, format_name, path)
    before = content(folder)
    assert withdraw(folder, batch) == files[batch - 1][1].name
    assert content(folder) != before
    assert take(folder, *files[batch - 1]).batch_id is not None
    again = content(folder)
    for name in ("energy_hourly", "jobs"):  # a run may have another number now
        for row in (*before[name], *again[name]):
            row.pop("job_key", None)
    assert again == before


def test_withdraw_of_everything_leaves_an_empty_ledger(folder):
    jobs(folder, "a.csv", job())
    withdraw(folder, 1)
    assert totals(folder) == []
    with pytest.raises(LedgerError, match="No batch 1 in the ledger; batches: none"):
        withdraw(folder, 1)
    assert store.versions(folder) == [1, 2]


def test_withdraw_of_an_unknown_batch_lists_those_that_there_are(folder):
    jobs(folder, "a.csv", job())
    with pytest.raises(LedgerError, match=r"No batch 4 in the ledger; batches: 1 \(a\.csv\)"):
        withdraw(folder, 4)


def test_refused_rows_are_tried_again_after_site_yaml_is_mended(folder):
    lines = [job(1), job(2, host="new-001")]
    first = jobs(folder, "a.csv", *lines)
    assert (first.rows_accepted, first.rows_rejected) == (1, 1)
    again = jobs(folder, "a.csv", *lines)
    assert again.batch_id is None  # nothing was mended, so nothing is new
    assert "1 refused row(s) are still refused, first: a.csv, line 3: host new-001 is in no site" in again.notes[1]
    assert store.versions(folder) == [1]
    ledger(folder, SITE.replace("a100-001", "new-001").replace("NVIDIA A100-SXM4-80GB", H100))
    mended = jobs(folder, "a.csv", *lines)
    assert (mended.rows_accepted, mended.rows_rejected) == (2, 0)
    assert rejects(folder) == []
    assert rows(folder, "SELECT batch_id, rows_read, rows_accepted, rows_rejected FROM raw.batch") == [
        {"batch_id": 1, "rows_read": 2, "rows_accepted": 2, "rows_rejected": 0}
    ]
    assert jobs(folder, "a.csv", *lines).batch_id is None


def test_a_second_retry_still_looks_at_the_refused_rows(folder):
    lines = [job(1), job(2, host="new-001"), job(3, host="new-002")]
    jobs(folder, "a.csv", *lines)
    text = SITE.replace(
        "h100-[001-003]", 'h100-[001-003]", chip: NVIDIA H100 80GB HBM3, chips: 8}\n      - {pattern: "new-001'
    )
    ledger(folder, text)
    second = jobs(folder, "a.csv", *lines)
    assert (second.rows_accepted, second.rows_rejected) == (2, 1)
    ledger(folder, text.replace('"new-001', '"new-[001-002]'))
    third = jobs(folder, "a.csv", *lines)
    assert (third.rows_accepted, third.rows_rejected) == (3, 0)
    assert held(folder) == [("1", "10:00"), ("2", "10:00"), ("3", "10:00")]


def test_refused_readings_are_tried_again_too(folder):
    lines = [reading(minute, host) for minute in range(3) for host in ("h100-001", "new-001")]
    first = power(folder, "a.csv", *lines)
    assert (first.rows_accepted, first.rows_rejected) == (3, 3)
    ledger(folder, SITE.replace("a100-001", "new-001").replace("NVIDIA A100-SXM4-80GB", H100))
    assert power(folder, "a.csv", *lines).rows_accepted == 6
    whole = ledger(folder.parent / "whole", (folder / "site.yaml").read_text())
    power(whole, "a.csv", *lines)
    assert totals(folder) == totals(whole)


# --- site.yaml changes under the stored rows ---


def test_rebuild_follows_a_new_pue(folder):
    jobs(folder, "a.csv", job())
    before = float(rows(folder, "SELECT sum(energy_facility_kwh) AS e FROM energy_hourly")[0]["e"])
    ledger(folder, SITE.replace("pue: 1.2", "pue: 1.5"))
    assert rebuild(folder) == 2
    after = float(rows(folder, "SELECT sum(energy_facility_kwh) AS e FROM energy_hourly")[0]["e"])
    assert after == pytest.approx(before * 1.5 / 1.2)


def test_a_known_file_is_built_again_when_site_yaml_has_changed(folder):
    jobs(folder, "a.csv", job())
    ledger(folder, SITE.replace("pue: 1.2", "pue: 1.5"))
    assert jobs(folder, "a.csv", job()).batch_id is None
    assert store.versions(folder) == [1, 2]
    assert jobs(folder, "a.csv", job()).batch_id is None
    assert store.versions(folder) == [1, 2]


def test_rebuild_follows_a_corrected_chip(folder):
    jobs(folder, "a.csv", job(gpu_model=""))
    power(folder, "p.csv", reading(0), reading(1))
    ledger(folder, SITE.replace(H100, "NVIDIA B200"))
    rebuild(folder)
    fresh = ledger(folder.parent / "fresh", (folder / "site.yaml").read_text())
    jobs(fresh, "a.csv", job(gpu_model=""))
    power(fresh, "p.csv", reading(0), reading(1))
    assert totals(folder) == totals(fresh)


def test_rebuild_follows_a_host_to_its_site(folder):
    both = SITE + "  annex: {zone: ERCT, pue: 1.3, node_overhead: 1.1}\n"
    ledger(folder, both)
    jobs(folder, "a.csv", job(), job(2, host="h100-002"))
    power(folder, "p.csv", *(reading(minute, host) for minute in range(3) for host in ("h100-001", "h100-002")))
    group = f'{{pattern: "h100-001", chip: {H100}, chips: 8}}'
    moved = both.replace("h100-[001-003]", "h100-[002-003]").replace(
        "overhead: 1.1}", f"overhead: 1.1, hosts: [{group}]}}"
    )
    ledger(folder, moved)
    rebuild(folder)
    fresh = ledger(folder.parent / "fresh", moved)
    jobs(fresh, "a.csv", job(), job(2, host="h100-002"))
    power(fresh, "p.csv", *(reading(minute, host) for minute in range(3) for host in ("h100-001", "h100-002")))
    sites = "SELECT site_id, owner, tier, sum(chip_h) AS h, sum(energy_chip_kwh) AS e FROM energy_hourly "
    sites += "GROUP BY ALL ORDER BY ALL"
    assert rows(folder, sites) == rows(fresh, sites)
    assert {row["site_id"] for row in rows(folder, sites)} == {"hall", "annex"}


@pytest.mark.parametrize("format_name", ["jobs", "power", "hosts"])
def test_rows_whose_place_is_gone_stop_the_build(folder, format_name):
    """Rows that no site has would drop out of every total without a word."""
    jobs(folder, "x.csv", job(host="h100-003"))
    if format_name == "jobs":
        jobs(folder, "a.csv", job())
    elif format_name == "power":
        power(folder, "a.csv", reading(0), reading(1))
    else:
        take(folder, "hosts", table(folder.parent / "a.csv", "hosts", GOOD["hosts"]))
    before = totals(folder)
    old, new = ("hall:", "palace:") if format_name == "hosts" else ("h100-[001-003]", "h100-[002-003]")
    ledger(folder, SITE.replace(old, new))
    with pytest.raises(SiteFileError, match=r"(put it back|Put the site back).*energy withdraw") as caught:
        rebuild(folder)
    assert "\n" not in str(caught.value)
    assert totals(folder) == before


def test_jobs_without_host_keep_their_site(folder):
    jobs(folder, "a.csv", job(host="", gpu_model=H100), site="hall")
    ledger(folder, SITE.replace("hall:", "palace:"))
    with pytest.raises(SiteFileError, match="no site hall, but 1 jobs of batch 1 ran there"):
        rebuild(folder)


def test_a_chip_that_the_log_contradicts_stops_the_build(folder):
    jobs(folder, "a.csv", job())
    ledger(folder, SITE.replace(H100, "NVIDIA B200"))
    with pytest.raises(SiteFileError, match=r"site\.yaml gives host h100-001 nvidia_b200.*say nvidia_h100_sxm5_80"):
        rebuild(folder)


def test_a_host_that_was_rebuilt_is_what_it_was_at_the_time(folder):
    groups = (
        f"      - {{pattern: h-1, chip: {H100}, chips: 8, to: 2026-01-06}}\n"
        "      - {pattern: h-1, chip: NVIDIA B200, chips: 4, from: 2026-01-06}\n"
    )
    ledger(folder, SITE + groups)
    late = {"start_time": "2026-01-06T08:00:00Z", "end_time": "2026-01-06T09:00:00Z"}
    done = jobs(
        folder,
        "a.csv",
        job(1, host="h-1", gpu_model="", gpu_num=8),
        job(2, host="h-1", gpu_model="", **late),
        job(3, host="h-1", **late),
        job(4, host="h-1", gpu_model="", gpu_num=8, **late),
    )
    assert done.rows_accepted == 2
    found = rows(folder, "SELECT job_id, chip_id FROM core.job ORDER BY 1")
    assert [row["chip_id"] for row in found] == ["nvidia_h100_sxm5_80", chip("NVIDIA B200").chip_id]
    assert "gives host h-1 nvidia_b200" in rejects(folder)[0][1]
    assert "8 chips of a host that has 4" in rejects(folder)[1][1]


# --- options ---


def test_site_option_places_rows_without_host(folder):
    bare = jobs(folder, "a.csv", job(host=""))
    assert (bare.rows_accepted, bare.rows_rejected) == (0, 1)
    assert "--site SITE" in rejects(folder)[0][1]
    placed = jobs(folder, "a.csv", job(host=""), site="hall")
    assert (placed.rows_accepted, placed.rows_rejected) == (1, 0)
    assert rows(folder, "SELECT DISTINCT site_id FROM jobs") == [{"site_id": "hall"}]


def test_unknown_site_names_the_nearest(folder):
    with pytest.raises(SiteFileError, match=r"No site hal in site\.yaml\. Nearest: hall\. Sites: hall\."):
        jobs(folder, "a.csv", job(), site="hal")


def test_timezone_option_reads_times_without_zone(folder):
    naive = job(submit_time="", start_time="2026-01-05T09:00:00", end_time="2026-01-05T11:00:00")
    with pytest.raises(EnergyError, match=r"a\.csv: times in column start_time carry no zone.*--timezone"):
        jobs(folder, "a.csv", naive)
    with pytest.raises(EnergyError, match=r"Europe/Berlyn is no IANA time zone"):
        jobs(folder, "a.csv", naive, timezone="Europe/Berlyn")
    jobs(folder, "a.csv", naive, timezone="Europe/Berlin")
    assert held(folder) == [("1", "10:00")]


def test_window_of_the_log(folder):
    jobs(folder, "a.csv", job(), covers_from=None, covers_to=None)
    found = rows(folder, "SELECT from_utc, to_utc FROM core.log_window")[0]
    assert (found["from_utc"], found["to_utc"]) == (at("2026-01-05T08:00"), at("2026-01-06"))
    told = ledger(folder.parent / "told")
    running = job(1, state="RUNNING", end_time="")
    jobs(told, "b.csv", running, covers_from=at("2026-01-05"), covers_to=at("2026-01-05T12:00"))
    assert float(rows(told, "SELECT sum(chip_h) AS h FROM jobs")[0]["h"]) == 4 * 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"covers_from": at("2026-02-01"), "covers_to": at("2026-01-01")}, "before it starts"),
        ({"covers_from": at("2026-02-01"), "covers_to": None}, "before it starts"),
        ({"covers_from": at("2026-02-01").replace(tzinfo=None)}, "carries no zone"),
    ],
)
def test_windows_that_cannot_be(folder, options, words):
    with pytest.raises(EnergyError, match=words) as caught:
        jobs(folder, "a.csv", job(), **options)
    assert "a.csv" in str(caught.value)
    assert store.versions(folder) == []


def test_a_log_in_which_nothing_ran(folder):
    never = job(1, state="CANCELLED", start_time="", end_time="2026-01-05T10:00:00Z")
    done = jobs(folder, "a.csv", never, covers_from=None, covers_to=None)
    assert done.rows_accepted == 1
    assert rows(folder, "SELECT count(*) AS n FROM core.job")[0]["n"] == 0
    bare = ledger(folder.parent / "bare")
    with pytest.raises(EnergyError, match=r"b\.csv: no job has a start.*--covers-from"):
        jobs(
            bare,
            "b.csv",
            job(1, state="PENDING", submit_time="", start_time="", end_time=""),
            covers_from=None,
            covers_to=None,
        )


def test_a_file_that_changes_while_it_is_read_is_refused(folder, monkeypatch):
    from energy.ledger import intake

    path = table(folder.parent / "a.csv", "jobs", job())
    real = intake._store_rows

    def append(*arguments):
        with path.open("a", encoding="utf-8") as file:
            file.write(job(2) + "\n")
        return real(*arguments)

    monkeypatch.setattr(intake, "_store_rows", append)
    with pytest.raises(EnergyError, match=r"a\.csv changed while it was read"):
        take(folder, "jobs", path)
    assert store.versions(folder) == []


def test_readings_around_midnight_need_two_in_some_day_only(folder):
    lines = ["2026-01-04T23:59:30Z,h100-001,0,500,80", reading(0), reading(1)]
    done = power(folder, "a.csv", *lines)
    assert done.rows_accepted == 3
    assert "sampling interval 60 s, found in the file" in done.notes
    alone = ledger(folder.parent / "alone")
    with pytest.raises(EnergyError, match=r"b\.csv: the sampling interval cannot be found.*interval: 60 s"):
        power(alone, "b.csv", reading(0))
