"""Rows that cannot be right: refused with their line, the rule and what to do. Never a default in their place."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingest_helpers import GOOD, H100, SITE, context, job, ledger, read, reading, rows, table, take

from energy.errors import InputFileError, MappingError
from energy.importers import HostPeriod

B200 = "NVIDIA B200"


def refused(tmp_path, format_name, line, **changes):
    """Import a good line and the given one; return the reason for the latter, after looking at its line."""
    good = reading(0) if format_name == "power" else GOOD[format_name]
    accepted, found = read(format_name, table(tmp_path / "a.csv", format_name, good, line), **changes)
    assert accepted.num_rows == 1, "the row was accepted"
    ((number, reason),) = found
    assert number == 3
    assert "\n" not in reason
    return reason


JOBS = [
    ({"job_id": ""}, "the job has no id"),
    ({"host": "h100-009"}, "host h100-009 is in no site: add it to hosts in site.yaml"),
    ({"host": "h100-[001-002]"}, "is several hosts: give one row per host"),
    ({"host": ""}, "pass --site SITE"),
    ({"gpu_model": "NVIDIA A10G-24"}, "'NVIDIA A10G-24' is not in the catalogue. Nearest: "),
    ({"gpu_model": "A1000"}, "'A1000' is not in the catalogue"),
    ({"gpu_model": "H100"}, "'H100' fits several chips: nvidia_h100_sxm5_80, nvidia_h100_pcie_80"),
    ({"gpu_model": "NVIDIA"}, "is a vendor or family"),
    ({"gpu_model": "NVIDIA A10"}, "the log says nvidia_a10"),
    ({"gpu_model": B200}, "gives host h100-001 nvidia_h100_sxm5_80: correct one"),
    ({"gpu_num": 9}, "the job takes 9 chips of a host that has 8: correct the log or site.yaml"),
    ({"gpu_num": ""}, "gpu_num is empty: a run needs its number of chips"),
    ({"gpu_num": -1}, "gpu_num is -1; it must be between 0 and"),
    ({"gpu_num": "4 GPUs"}, "`4 GPUs` in gpu_num, a column of numbers"),
    ({"gpu_num": "nan"}, "gpu_num is not a finite number"),
    ({"node_num": 2}, "node_num is over 1 but the row names one host: give one row per host"),
    ({"node_num": 1.5}, "node_num is 1.5; it must be a whole number"),
    ({"end_time": "2026-01-05T07:59:59Z"}, "the job ends before it starts: correct the times"),
    ({"end_time": "2026-01-05T08:30:00+02:00"}, "the job ends before it starts"),
    ({"end_time": ""}, "the state is COMPLETED but the run has no end: give it"),
    ({"end_time": "", "state": "CANCELLED by 1000"}, "the state is CANCELLED by 1000 but the run has no end"),
    ({"end_time": "", "state": "NODE_FAIL"}, "but the run has no end"),
    ({"start_time": ""}, "the state is COMPLETED but the run has no start: give it"),
    ({"start_time": "", "end_time": "", "state": "RUNNING"}, "the state is RUNNING but the run has no start"),
    ({"start_time": "1999-01-05T08:00:00Z"}, "start_time is not between 2010 and 2100: correct it, or check unit and"),
    ({"end_time": "2400-01-05T08:00:00Z"}, "end_time is not between 2010 and 2100"),
    ({"start_time": "05.01.2026 08:00"}, "start_time 05.01.2026 08:00 is no ISO 8601 time: write it as"),
    ({"start_time": "1767600000"}, "start_time 1767600000 is no ISO 8601 time"),
]


@pytest.mark.parametrize(("changes", "words"), JOBS)
def test_jobs(tmp_path, changes, words):
    assert words in refused(tmp_path, "jobs", job(2, **changes))


POWER = [
    (reading(1).replace("2026-01-05T08:01:00Z", ""), "the reading has no time"),
    (reading(1, host="h-9"), "host h-9 is in no site: add it to hosts in site.yaml"),
    (reading(1, host=""), "the reading names no host"),
    (reading(1, gpu=8), "device 8 of host h100-001, which has 8 (0 to 7): correct the index"),
    (reading(1, host="cpu-001"), "device 0 of host cpu-001, which has 0: correct the index"),
    (reading(1, gpu=-1), "gpu is -1; it must be between 0 and 65535"),
    (reading(1, gpu=0.5), "gpu is 0.5; it must be a whole number"),
    (reading(1, gpu=1e300), "gpu is 1e+300; it must be between 0 and 65535"),
    (reading(1, gpu="GPU-1"), "`GPU-1` in gpu, a column of numbers"),
    (reading(1, gpu=""), "the reading has no device index"),
    (reading(1, power="273.51 W"), "`273.51 W` in power_w, a column of numbers: write the number with a decimal point"),
    (reading(1, power='"273,51"'), "`273,51` in power_w, a column of numbers: write the number with a decimal point"),
    (reading(1, power="[N/A]"), "`[N/A]` in power_w"),
    (reading(1, power="nan"), "power_w is not a finite number: leave the row out"),
    (reading(1, power="NaN"), "power_w is not a finite number"),
    (reading(1, power="inf"), "power_w is not a finite number"),
    (reading(1, power="-Infinity"), "power_w is not a finite number"),
    (reading(1, power="1e999"), "power_w is not a finite number"),
    (reading(1, power=-0.1), "power_w is -0.1; it must be between 0 and"),
    (reading(1, power=273510), "273510 W is over twice the board's maximum of 700 W: check the unit in the mapping"),
    (reading(1, power=1e250), "1e+250 W is over twice the board's maximum of 700 W"),
    (reading(1, use=101), "gpu_util_pct is over 100 %: correct it, or check its unit in the mapping"),
    (reading(1, use=-1), "gpu_util_pct is -1"),
    (reading(1, power="", use=""), "no reading in the row: leave it out; a gap is not zero"),
]


@pytest.mark.parametrize(("line", "words"), POWER)
def test_power(tmp_path, line, words):
    assert words in refused(tmp_path, "power", line)


ALLOCATION = dict(zip(["job_id", "host", "gpu", "start_time", "end_time"], GOOD["allocations"].split(","), strict=True))
ALLOCATIONS = [
    ({"job_id": ""}, "the row names no job"),
    ({"host": ""}, "the row names no host"),
    ({"host": "h-9"}, "host h-9 is in no site"),
    ({"gpu": ""}, "the row has no device index"),
    ({"gpu": 8}, "device 8 of host h100-001, which has 8 (0 to 7)"),
    ({"gpu": 0.5}, "gpu is 0.5; it must be a whole number"),
    ({"start_time": ""}, "the allocation has no start"),
    ({"end_time": "2026-01-05T07:00:00Z"}, "the allocation ends before it starts: correct the times"),
]


@pytest.mark.parametrize(("changes", "words"), ALLOCATIONS)
def test_allocations(tmp_path, changes, words):
    line = ",".join(str(value) for value in (ALLOCATION | changes).values())
    assert words in refused(tmp_path, "allocations", line)


HOSTS = [
    (f",{H100},8,hall", "the row names no host"),
    (f"x-2,{H100},,hall", "the host has no number of chips; write 0"),
    (f"x-2,{H100},7.5,hall", "gpus is 7.5; it must be a whole number"),
    (f"x-2,{H100},1e12,hall", "gpus is 1e+12; it must be between 0 and 4096"),
    (f"x-2,{H100},-8,hall", "gpus is -8; it must be between 0 and 4096"),
    ("x-2,,8,hall", "the host has chips but names none: write its chip"),
    ("x-2,H100,8,hall", "'H100' fits several chips"),
    ("x-2,H1000 turbo,8,hall", "is not in the catalogue"),
    (f"x-2,{H100},8,hal", "site hal is not in site.yaml. Nearest: hall. Add it under sites"),
    (f"x-2,{H100},8,", "the row names no site: pass --site SITE"),
]


@pytest.mark.parametrize(("line", "words"), HOSTS)
def test_hosts(tmp_path, line, words):
    assert words in refused(tmp_path, "hosts", line)


# --- rows that are odd and right ---


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu_num": 0, "host": "cpu-001", "gpu_model": ""},
        {"gpu_num": "0.25"},
        {"gpu_num": " +4.0 "},
        {"project": "", "user": "", "type": "", "state": ""},
        {"state": "RUNNING", "end_time": ""},
        {"state": "CANCELLED by 1000", "start_time": ""},
        {"state": "PENDING", "start_time": "", "end_time": "", "host": "h100-001"},
        {"end_time": "2026-01-05T08:00:00Z"},
        {"start_time": "2026-01-05T09:00:00+01:00", "end_time": "2026-01-05T04:00:00.123456-05:00"},
        {"start_time": "2026-01-05 08:00:00Z"},
        {"gpu_model": "nvidia h100 80gb hbm3"},
        {"node_num": ""},
    ],
)
def test_odd_and_right_jobs(tmp_path, changes):
    accepted, found = read("jobs", table(tmp_path / "a.csv", "jobs", job(1, **changes)))
    assert found == []
    assert accepted.num_rows == 1


def test_a_job_without_chips_gets_no_chip_energy(tmp_path):
    folder = ledger(tmp_path / "ledger")
    path = table(tmp_path / "a.csv", "jobs", job(1, gpu_num=0, host="cpu-001", gpu_model=""))
    assert take(folder, "jobs", path).rows_accepted == 1
    assert rows(folder, "SELECT * FROM energy_hourly WHERE job_key IS NOT NULL") == []


def test_a_chip_that_is_listed_as_undisclosed_is_unknown_and_not_refused(tmp_path):
    folder = ledger(
        tmp_path / "ledger", "undisclosed_chips: [G2]\n" + SITE.replace(f"chip: {H100}, chips: 0", "chip: G2, chips: 4")
    )
    take(
        folder,
        "jobs",
        table(tmp_path / "a.csv", "jobs", job(1, gpu_model="G2", host="cpu-001"), job(2, gpu_model="G2")),
    )
    found = rows(folder, "SELECT job_id, chip_id FROM core.job ORDER BY 1")
    assert [row["chip_id"] for row in found] == [None, "nvidia_h100_sxm5_80"]
    energy = rows(folder, "SELECT DISTINCT tier, energy_chip_kwh FROM energy_hourly WHERE host = 'cpu-001'")
    assert energy == [{"tier": "missing", "energy_chip_kwh": None}]


def test_of_an_unknown_board_only_the_impossible_is_refused(tmp_path):
    hosts = {"h-1": (HostPeriod("hall", None, 8),)}
    path = table(tmp_path / "a.csv", "power", reading(0, "h-1", power=20_000), reading(1, "h-1", power=273_510))
    accepted, found = read("power", path, hosts=hosts)
    assert accepted["power_milliw"].to_pylist() == [20_000_000]
    assert "more than any device draws (100000 W)" in found[0][1]


def test_readings_are_whole_milliwatts(tmp_path):
    accepted, _ = read("power", table(tmp_path / "a.csv", "power", reading(0, power=273.5146)))
    assert accepted["power_milliw"].to_pylist() == [273_515]


def test_half_a_million_refused_rows_do_not_take_long_or_stop(tmp_path):
    size = 500_000
    path = tmp_path / "a.parquet"
    stamps = pa.array(range(1_767_600_000, 1_767_600_000 + size)).cast(pa.timestamp("s", "UTC"))
    columns = {"ts": stamps, "host": ["nowhere"] * size, "gpu": [0] * size, "power_w": [1.0] * size}
    pq.write_table(pa.table(columns | {"gpu_util_pct": [1] * size}), path)
    accepted, found = read("power", path)
    assert accepted.num_rows == 0
    assert len(found) == size


# --- times ---


def time_of(tmp_path, text, **changes):
    """Return the instant that a text of a job's start is read as, or why it is refused."""
    path = table(tmp_path / "a.csv", "jobs", job(1, start_time=text, end_time="", submit_time="", state="RUNNING"))
    accepted, found = read("jobs", path, **changes)
    return f"{accepted['start_utc'][0].as_py():%Y-%m-%dT%H:%M:%S}" if accepted.num_rows else found[0][1]


@pytest.mark.parametrize(
    ("text", "timezone", "instant"),
    [
        ("2026-01-31T14:05:00Z", None, "2026-01-31T14:05:00"),
        ("2026-01-31T14:05:00+05:45", None, "2026-01-31T08:20:00"),
        ("2026-01-31 14:05", "UTC", "2026-01-31T14:05:00"),
        ("2026-01-31T14:05:00", "Europe/Berlin", "2026-01-31T13:05:00"),
        ("2026-07-31T14:05:00", "Europe/Berlin", "2026-07-31T12:05:00"),
        ("2026-07-31T14:05:00", "America/New_York", "2026-07-31T18:05:00"),
        ("2026-07-31T14:05:00", "Asia/Kathmandu", "2026-07-31T08:20:00"),
        # the hour before and the hour after each change of clocks
        ("2026-03-29T01:59:59", "Europe/Berlin", "2026-03-29T00:59:59"),
        ("2026-03-29T03:00:00", "Europe/Berlin", "2026-03-29T01:00:00"),
        ("2026-10-25T01:59:59", "Europe/Berlin", "2026-10-24T23:59:59"),
        ("2026-10-25T03:00:00", "Europe/Berlin", "2026-10-25T02:00:00"),
        ("2026-03-08T01:59:59", "America/New_York", "2026-03-08T06:59:59"),
        ("2026-03-08T03:00:00", "America/New_York", "2026-03-08T07:00:00"),
        ("2026-11-01T00:59:59", "America/New_York", "2026-11-01T04:59:59"),
        ("2026-11-01T02:00:00", "America/New_York", "2026-11-01T07:00:00"),
        # an offset wins over the zone, and makes the double hour clear
        ("2026-10-25T02:30:00+01:00", "Europe/Berlin", "2026-10-25T01:30:00"),
    ],
)
def test_times(tmp_path, text, timezone, instant):
    assert time_of(tmp_path, text, timezone=timezone) == instant


@pytest.mark.parametrize(
    ("text", "timezone", "why"),
    [
        ("2026-03-29T02:00:00", "Europe/Berlin", "does not exist there (clocks go forward)"),
        ("2026-03-29T02:59:59", "Europe/Berlin", "does not exist there (clocks go forward)"),
        ("2026-10-25T02:00:00", "Europe/Berlin", "occurs twice there (clocks go back)"),
        ("2026-10-25T02:59:59", "Europe/Berlin", "occurs twice there (clocks go back)"),
        ("2026-03-08T02:30:00", "America/New_York", "does not exist there (clocks go forward)"),
        ("2026-11-01T01:30:00", "America/New_York", "occurs twice there (clocks go back)"),
        ("2026-04-05T01:45:00", "Australia/Lord_Howe", "occurs twice there (clocks go back)"),
    ],
)
def test_hours_that_are_none_or_two(tmp_path, text, timezone, why):
    reason = time_of(tmp_path, text, timezone=timezone)
    assert why in reason
    assert "give the time in UTC or with its offset" in reason
    assert f"in {timezone} " in reason


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"])
@pytest.mark.parametrize("kind", ["text", "timestamp", "mixed text"])
def test_every_quarter_of_an_hour_of_a_year_by_three_ways(tmp_path, zone, kind):
    """A whole year of local times: what is refused is what Python's own zones find absent or double."""
    from datetime import UTC, datetime, timedelta
    from zoneinfo import ZoneInfo

    local = [datetime(2026, 1, 1) + timedelta(minutes=15 * number) for number in range(365 * 96)]
    wanted = {}
    for number, moment in enumerate(local, 1):
        early, late = (moment.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1))
        if early.utcoffset() == late.utcoffset():
            wanted[number] = early.astimezone(UTC)
    texts = [moment.isoformat() for moment in local]
    if kind == "mixed text":  # one that Arrow cannot read sends all of them through Python
        texts = [text.replace("-01-01T00:00:00", "-01-01T00") for text in texts]
    stamps = pa.array(local).cast(pa.timestamp("us")) if kind == "timestamp" else pa.array(texts)
    size = len(local)
    columns = {"ts": stamps, "host": ["h100-001"] * size, "gpu": [0] * size, "power_w": [1.0] * size}
    pq.write_table(pa.table(columns | {"gpu_util_pct": [1] * size}), tmp_path / "a.parquet")
    accepted, found = read("power", tmp_path / "a.parquet", timezone=zone)
    times = dict(zip(accepted["row_number"].to_pylist(), accepted["time_ms"].to_pylist(), strict=True))
    assert times == {number: round(moment.timestamp() * 1000) for number, moment in wanted.items()}
    assert len(found) == size - len(wanted)


@pytest.mark.parametrize("second", ["2026-01-05T10:00:00", "2026-01-05 10:00", "2026-01-05"])
def test_mixed_times_with_and_without_zone(tmp_path, second):
    lines = [job(1), job(2, end_time=second)]
    path = table(tmp_path / "a.csv", "jobs", *lines)
    with pytest.raises(InputFileError, match=r"end_time carry no zone: name it with --timezone ZONE"):
        read("jobs", path)
    accepted, found = read("jobs", path, timezone="UTC")
    assert accepted.num_rows + len(found) == 2


def counted(tmp_path, rule, *values):
    """Read counted times of a device by a mapping with this rule."""
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        "format: power\ncolumns:\n  host: host\n  device_index: gpu\n  power: {column: power_w, unit: W_chip}\n"
        f"  time_utc: {rule}\n"
    )
    lines = [f"{value},h100-001,0,500,80" for value in values]
    return read("power", table(tmp_path / "a.csv", "power", *lines), mapping)


@pytest.mark.parametrize(
    ("unit", "value"), [("s", "1767600000"), ("ms", "1767600000000"), ("us", "1767600000000000"), ("s", "1.7676e9")]
)
def test_counted_times(tmp_path, unit, value):
    accepted, found = counted(tmp_path, f'{{column: ts, unit: {unit}, origin: "1970-01-01T00:00:00Z"}}', value)
    assert found == []
    assert accepted["time_ms"].to_pylist() == [1_767_600_000_000]


@pytest.mark.parametrize("value", ["1767600000000", "12", "-5", "1e300", "-1e300", "nan", "soon"])
def test_counted_times_of_another_unit_are_refused(tmp_path, value):
    accepted, found = counted(tmp_path, '{column: ts, unit: s, origin: "1970-01-01T00:00:00Z"}', value)
    assert accepted.num_rows == 0
    assert "ts" in found[0][1]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{column: ts, unit: s}", "Column ts counts s: add the `origin`, for Unix time `origin: 1970-01-01T00:00:00Z`"),
        ('{column: ts, unit: h, origin: "1970-01-01T00:00:00Z"}', "unit h is no unit of counted times; use s, ms, us"),
        ('{column: ts, unit: s, origin: "1970-01-01"}', "origin 1970-01-01 carries no zone"),
        ('{column: ts, unit: s, origin: "noon"}', "origin noon is no ISO 8601 time"),
        ('{column: ts, origin: "1970-01-01T00:00:00Z"}', "origin and open_end belong to counted times: add `unit: s`"),
    ],
)
def test_counted_times_without_unit_or_origin(tmp_path, rule, words):
    with pytest.raises(MappingError) as caught:
        counted(tmp_path, rule, "1767600000")
    assert words in str(caught.value)


# --- hosts over time ---


def test_a_host_is_what_it_was_at_the_time(tmp_path):
    change = 1_767_600_000_000
    periods = (
        HostPeriod("hall", "nvidia_h100_sxm5_80", 8, None, change),
        HostPeriod("hall", "nvidia_b200", 4, change + 60_000, None),
    )
    hosts = {"h-1": periods}
    before, gap, after = "2026-01-05T07:00:00Z", "2026-01-05T08:00:30Z", "2026-01-05T09:00:00Z"
    lines = [
        job(number, host="h-1", gpu_model="", start_time=start) for number, start in enumerate((before, gap, after))
    ]
    accepted, found = read("jobs", table(tmp_path / "a.csv", "jobs", *lines), hosts=hosts)
    assert accepted["chip_id"].to_pylist() == ["nvidia_h100_sxm5_80", "nvidia_b200"]
    assert found == [
        (3, "host h-1 is in no site at 2026-01-05T08:00Z: correct its from and to in site.yaml or in the inventory")
    ]


def test_context_of_the_helpers_is_complete():
    assert set(context().hosts) == {"h100-001", "h100-002", "h100-003", "a100-001", "cpu-001"}
    assert math.isfinite(context().hosts["h100-001"][0].chip_count)
