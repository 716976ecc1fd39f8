"""Laws that hold for dirt of every kind in files of every format, from the file to the totals of a ledger.

Each kind of dirt is brought in by a host of its own, beside a clean file of the same content: one version of one ledger
then says what every kind did.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from dirt_kinds import DIRT, FILES, H100, WRITING, file_bytes, of_host
from ingest_helpers import HEADERS, content, context, ledger, leftovers, rows, telemetry
from known_samples import JSON, SAMPLES

from energy.errors import EnergyError
from energy.importers import importer
from energy.importers.mapping import match_mapping
from energy.importers.tabular import header_of
from energy.ledger.intake import Request, ingest

TIME = datetime(2026, 1, 5, 8, tzinfo=UTC)
SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {{pattern: "{pattern}", chip: NVIDIA H100 80GB HBM3, chips: 2}}
"""
CLEAN = 1  # number of the host of the clean file; those of dirt follow
AMOUNTS = {
    "runs": "SELECT host, count(*) AS runs, sum(chip_count * (epoch(end_utc) - epoch(start_utc))) / 3600 AS chip_h, "
    "sum(energy_chip_kwh) AS energy_chip_kwh, sum(energy_it_kwh) AS energy_it_kwh FROM core.job GROUP BY 1",
    "boards": "SELECT device.host, sum(covered_chip_ms) AS covered_ms, sum(energy_chip_microj) AS microj "
    "FROM core.device_hour AS hour JOIN core.device AS device ON device.device_key = hour.device_key "
    "WHERE tier IN ('measured', 'integrated') GROUP BY 1",
    "nodes": "SELECT host, sum(covered_ms) AS node_ms, sum(energy_it_microj) AS node_microj FROM core.node_hour "
    "GROUP BY 1",
    "given out": "SELECT host, count(*) AS allocations, sum(epoch(end_utc) - epoch(start_utc)) AS given_s "
    "FROM core.allocation GROUP BY 1",
    "inventory": "SELECT host, sum(installed_chip_count) AS installed FROM core.host GROUP BY 1",
    "shown": "SELECT host, sum(chip_h) AS shown_chip_h FROM energy_hourly WHERE owner_kind <> 'idle' GROUP BY 1",
}


def amounts(folder):
    """Return by host what a version holds of hours and energies."""
    found = {}
    for sql in AMOUNTS.values():
        for row in rows(folder, sql):
            host = row.pop("host")
            found.setdefault(host, {}).update({name: float(value or 0) for name, value in row.items()})
    return found


VALUES_OF_THEIR_OWN = {  # a number with a smaller unit, a host without chips and a run without chips are no dirt
    *(("ipmi-dcmi", "mW"), ("redfish", "mW"), ("hosts", "0"), ("jobs", "0")),
}


@dataclass
class Case:
    """One kind of dirt in a file of one format: its host, its file, and what became of it."""

    kind: str
    host: str
    request: Request
    result: object = None
    error: EnergyError | None = None


def told(name, host):
    """Return the options that a file of a known format may need; generic files tell all themselves."""
    return {"host": host, "site": "hall", "timezone": "UTC", "time": TIME} if name in SAMPLES else {"site": "hall"}


def cases(folder, name):
    """Write the files of a format: clean ones, and one for each kind of dirt."""
    kinds = {"clean": lambda text, _: text} | DIRT
    for number, (kind, change) in enumerate(kinds.items(), CLEAN):
        data = change(of_host(FILES[name], number), name)
        if data is None:
            continue
        path = folder / f"{number}.txt"
        path.write_bytes(file_bytes(data))
        yield Case(kind, f"h-{number}", Request(name, path, **told(name, f"h-{number}")))


def file_error(case):
    """Return why a file cannot be read at all; None where it can."""
    request = case.request
    site = SITE.format(pattern="h-[1-99]")
    options = told(request.format, case.host)
    asked = {"site_id": options.pop("site"), **options}
    try:
        mapping = None
        if request.format in HEADERS:
            mapping = match_mapping(header_of(request.path), request.format, request.path.name)
        for _ in importer(request.format).read(request.path, mapping, context(site, **asked)):
            pass
    except EnergyError as error:
        return error
    return None


@pytest.fixture(scope="module", params=FILES)
def taken(request, tmp_path_factory):
    """Bring all files of one format into one ledger: those that can be read at once, each other one alone."""
    name = request.param
    place = tmp_path_factory.mktemp(name)
    # an inventory tells its hosts itself
    folder = ledger(place / "ledger", SITE.format(pattern="z-1" if name == "hosts" else "h-[1-99]"))
    listed = list(cases(place, name))
    for case in listed:
        case.error = file_error(case)
    whole = [case for case in listed if case.error is None]
    for case, result in zip(whole, ingest(folder, [case.request for case in whole], threads=1), strict=True):
        case.result = result
    return SimpleNamespace(name=name, folder=folder, cases=listed, place=place, amounts=amounts(folder))


def clean(taken):
    return next(case for case in taken.cases if case.kind == "clean")


def test_the_clean_file_is_whole(taken):
    case = clean(taken)
    assert case.result.rows_rejected == 0
    assert case.result.rows_accepted == case.result.rows_read or taken.name == "kepler"
    assert taken.amounts.get(case.host) or taken.name == "kepler"


def test_nothing_is_invented(taken):
    most = taken.amounts.get(clean(taken).host, {})
    for case in taken.cases:
        for what, amount in taken.amounts.get(case.host, {}).items():
            assert amount <= most.get(what, 0) * (1 + 1e-12), (case.kind, what)


def test_nothing_is_lost_in_silence(taken):
    """Where less is stored than the clean file holds, rows are refused or a note says so."""
    best = clean(taken)
    for case in taken.cases:
        have, most = taken.amounts.get(case.host, {}), taken.amounts.get(best.host, {})
        if (taken.name, case.kind) in VALUES_OF_THEIR_OWN:
            continue
        less = [what for what, amount in most.items() if have.get(what, 0) < amount * (1 - 1e-12)]
        if not less or case.error is not None:
            continue
        new = set(case.result.notes) - set(best.result.notes)
        assert case.result.rows_rejected or new, (case.kind, less)


def test_another_writing_of_a_known_format_says_the_same(taken):
    if taken.name not in SAMPLES:
        pytest.skip("a table that a mapping describes is UTF-8, and its lines are as its header")
    for case in taken.cases:
        if case.kind in WRITING and case.error is None:
            assert case.result.rows_rejected == 0, (case.kind, case.result.first_reject)
            assert taken.amounts.get(case.host) == taken.amounts.get(clean(taken).host), case.kind
    refused = [case.kind for case in taken.cases if case.kind in WRITING and case.error is not None]
    assert refused in ([], ["latin-1"])


def test_what_cannot_be_read_is_one_line_and_stores_nothing(taken):
    failed = [case for case in taken.cases if case.error is not None]
    assert {case.kind for case in failed} >= {"nothing", "web page", "cut off in the middle of gzip"}
    before, files = (taken.folder / "ledger.duckdb").resolve(), telemetry(taken.folder)
    good = taken.place / "good.txt"
    good.write_bytes(file_bytes(of_host(FILES[taken.name], 98)))
    for case in failed:
        assert "\n" not in str(case.error), case.kind
    bad = next(case for case in failed if case.kind == "web page")
    with pytest.raises(EnergyError) as caught:
        ingest(taken.folder, [Request(taken.name, good, **told(taken.name, "h-98")), bad.request], threads=1)
    assert "\n" not in str(caught.value)
    assert bad.request.path.name in str(caught.value)
    assert (taken.folder / "ledger.duckdb").resolve() == before
    assert telemetry(taken.folder) <= files
    assert amounts(taken.folder) == taken.amounts
    assert leftovers(taken.folder) == []


def test_the_same_again_under_other_names_changes_nothing(taken):
    """Files copied under another name, packed, or overlapping with what is known: every total stays."""
    again = []
    for case in taken.cases:
        if case.error is None:
            path = taken.place / f"copy of {case.request.path.name}"
            path.write_bytes(case.request.path.read_bytes())
            again.append(Request(taken.name, path, **told(taken.name, case.host)))
    before = content(taken.folder)
    assert [result.batch_id for result in ingest(taken.folder, again, threads=1)] == [None] * len(again)
    text = of_host(FILES[taken.name], CLEAN)
    lines = text.splitlines()
    part = taken.place / "part.txt"
    part.write_text("\n".join(lines[:3]) + "\n" if taken.name not in JSON else text + "\n", encoding="utf-8")
    packed = taken.place / "packed.bin"
    packed.write_bytes(file_bytes(WRITING["gzip"](text, taken.name)))
    options = told(taken.name, f"h-{CLEAN}")
    done = ingest(taken.folder, [Request(taken.name, path, **options) for path in (part, packed)], threads=1)
    assert [result.rows_rejected for result in done] == [0, 0]
    assert amounts(taken.folder) == taken.amounts
    assert {name: len(shown) for name, shown in content(taken.folder).items()} == {
        name: len(shown) for name, shown in before.items()
    }


# local times without zone, on days of 23 and 25 hours

BERLIN = ZoneInfo("Europe/Berlin")
DAYS = {"23 hours": datetime(2026, 3, 28, 23, tzinfo=UTC), "25 hours": datetime(2026, 10, 24, 22, tzinfo=UTC)}


def local(moment, sign="-", between="T"):
    return f"{moment.astimezone(BERLIN):%Y{sign}%m{sign}%d{between}%H:%M:%S}"


def day_of_readings(name, first):
    """Write a reading of 500 W each quarter of an hour, for six hours, by the clock on the wall."""
    moments = [first + timedelta(minutes=15 * number) for number in range(25)]
    if name == "power":
        return HEADERS[name] + "".join(f"\n{local(moment)},h-1,0,500," for moment in moments) + "\n"
    if name == "ipmi-dcmi":
        return "time,host,watts" + "".join(f"\n{local(moment)},h-1,500" for moment in moments) + "\n"
    lines = [f"{local(moment, '/', ' ')}.000, 0, GPU-1, 500.00 W" for moment in moments]
    return "\n".join(["timestamp, index, uuid, power.draw [W]", *lines]) + "\n"


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("name", ["nvidia-smi", "ipmi-dcmi", "power"])
def test_readings_by_the_clock_on_the_wall(tmp_path, name, day):
    """Hours that the clock shows twice are refused, never guessed; no hour is counted that was not."""
    folder, path = ledger(tmp_path / "ledger", SITE.format(pattern="h-1")), tmp_path / "input"
    path.write_text(day_of_readings(name, DAYS[day]), encoding="utf-8")
    host = {} if name == "power" else {"host": "h-1"}
    done = ingest(folder, [Request(name, path, timezone="Europe/Berlin", **host)], threads=1)[0]
    assert (done.rows_read, done.rows_rejected) == (25, 8 if day == "25 hours" else 0)
    assert done.rows_accepted == 25 - done.rows_rejected
    if done.rows_rejected:
        assert "occurs twice" in done.first_reject
    found = amounts(folder)["h-1"]
    covered_s = (found.get("covered_ms", 0) + found.get("node_ms", 0)) / 1000
    joules = (found.get("microj", 0) + found.get("node_microj", 0)) / 1e6
    assert joules == pytest.approx(500 * covered_s)
    assert covered_s == 25 * 900 if day == "23 hours" else 15 * 900 <= covered_s <= 25 * 900


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("hours", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["slurm-sacct", "jobs", "codecarbon"])
def test_runs_by_the_clock_on_the_wall(tmp_path, name, hours, day):
    """A run has its true hours, or is refused: the elapsed time settles what the clock leaves open."""
    folder, path = ledger(tmp_path / "ledger", SITE.format(pattern="h-1")), tmp_path / "input"
    start, end = DAYS[day], DAYS[day] + timedelta(hours=hours, minutes=30)
    if name == "jobs":
        text = f"{HEADERS[name]}\n1,u,p,h-1,{H100},1,1,T,COMPLETED,,{local(start)},{local(end)}\n"
    elif name == "codecarbon":
        text = FILES[name].replace("2026-01-05T08:10:00", local(end)).replace(",600,", f",{hours * 3600 + 1800},")
    else:
        head, row, _ = FILES[name].split("\n", 2)
        row = row.replace("2026-01-05T08:00:00", local(start)).replace("2026-01-05T09:00:00", local(end))
        text = f"{head}\n{row.replace('|01:00:00|', f'|0{hours}:30:00|')}\n"
    path.write_text(text, encoding="utf-8")
    host = {"host": "h-1"} if name == "codecarbon" else {}
    done = ingest(folder, [Request(name, path, timezone="Europe/Berlin", **host)], threads=1)[0]
    twice = day == "25 hours" and hours in (2, 3)
    if twice and name != "slurm-sacct":
        assert done.rows_rejected == 1
        assert "occurs twice" in done.first_reject
    else:
        assert done.rows_rejected == 0
        assert amounts(folder)["h-1"]["chip_h"] == pytest.approx(hours + 0.5)


def test_a_run_of_another_length_than_slurm_says_is_noted(tmp_path):
    """Where the zone is another, an end that falls into the change of the clock gives other hours: a note says so."""
    folder, path = ledger(tmp_path / "ledger", SITE.format(pattern="h-1")), tmp_path / "input"
    for number, elapsed in enumerate(("01:00:00", "01:00:02", "1-01:00:00")):
        path.write_text(FILES["slurm-sacct"].replace("|01:00:00|", f"|{elapsed}|"), encoding="utf-8")
        done = ingest(folder, [Request("slurm-sacct", path, timezone="UTC")], threads=1)[0]
        assert any("Elapsed is not End - Start" in note for note in done.notes) is (number > 0)


# what snapshots do not say


def test_equal_snapshots_of_two_hosts_and_two_times_are_four(tmp_path):
    """A polled answer that names neither host nor time may be the same byte for byte."""
    folder, path = ledger(tmp_path / "ledger", SITE.format(pattern="h-[1-2]")), tmp_path / "answer.json"
    path.write_text(FILES["redfish"], encoding="utf-8")
    asked = [
        Request("redfish", path, host=host, time=TIME + timedelta(minutes=minute))
        for host in ("h-1", "h-2")
        for minute in (0, 1)
    ]
    assert [result.rows_accepted for result in ingest(folder, asked, threads=1)] == [1, 1, 1, 1]
    assert [result.batch_id for result in ingest(folder, asked, threads=1)] == [None] * 4
    for minute in (2, 3):
        named = tmp_path / f"answer-2026-01-05T080{minute}00Z.json"
        named.write_bytes(path.read_bytes())
        assert ingest(folder, [Request("redfish", named, host="h-1")], threads=1)[0].rows_accepted == 1
    assert {host: found["node_ms"] for host, found in amounts(folder).items()} == {"h-1": 240_000, "h-2": 120_000}
