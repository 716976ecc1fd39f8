"""Slurm accounting: what counts as a run, on which hosts, with which GPUs and energy; and how it may be broken."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_helpers import at, context

from energy.errors import EnergyError, InputFileError
from energy.importers.kinds import columns_of
from energy.importers.slurm_sacct import importer
from energy.importers.slurm_text import seconds_of, seconds_of_all

SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "h-[001-004]", chip: NVIDIA H100 80GB HBM3, chips: 8}
      - {pattern: "a-[001-002]", chip: NVIDIA A100-SXM4-80GB, chips: 4}
      - {pattern: "cpu-001", chip: NVIDIA H100 80GB HBM3, chips: 0}
"""
NAMES = "JobIDRaw|JobID|User|Account|JobName|State|Submit|Start|End|Elapsed|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList"
GOOD = {
    "JobIDRaw": "7",
    "JobID": "7",
    "User": "ann",
    "Account": "bio",
    "JobName": "fold",
    "State": "COMPLETED",
    "Submit": "2026-01-05T08:00:00",
    "Start": "2026-01-05T08:00:00",
    "End": "2026-01-05T10:00:00",
    "Elapsed": "02:00:00",
    "NNodes": "1",
    "AllocTRES": "billing=8,cpu=8,gres/gpu:h100=4,gres/gpu=4,mem=64G,node=1",
    "ConsumedEnergyRaw": "7200000",
    "NodeList": "h-001",
}
QUICK = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def line(**changes):
    return "|".join(str(value) for value in (GOOD | changes).values())


def read(folder, *lines, header=NAMES, raw=None, **changes):
    path = Path(folder) / "sacct.txt"
    path.write_bytes(raw if raw is not None else ("\n".join([header, *lines]) + "\n").encode())
    about = context(SITE, **({"timezone": "UTC"} | changes))
    batches = list(importer.read(path, None, about))
    assert all(batch.table.schema == columns_of("jobs") for batch in batches)
    rows = pa.concat_tables([batch.table for batch in batches]).to_pylist()
    refused = pa.concat_tables([batch.rejects for batch in batches]).to_pylist()
    return rows, [(one["row_number"], one["reason"]) for one in refused], about.notes


def test_one_run(tmp_path):
    rows, refused, notes = read(tmp_path, line())
    assert refused == []
    assert rows == [
        {
            "row_number": 2,
            "job_id": "7",
            "site_id": "hall",
            "host": "h-001",
            "user_name": "ann",
            "project": "bio",
            "job_type": None,
            "state": "COMPLETED",
            "submit_utc": at("2026-01-05T08:00:00"),
            "start_utc": at("2026-01-05T08:00:00"),
            "end_utc": at("2026-01-05T10:00:00"),
            "chip_name_given": "h100",
            "chip_id": "nvidia_h100_sxm5_80",
            "node_count": 1,
            "chip_count": 4.0,
            "energy_chip_kwh": None,
            "energy_it_kwh": 2.0,
        }
    ]
    assert any("at the plug" in note for note in notes)


def test_columns_in_any_order_and_separators_at_the_end(tmp_path):
    names = list(GOOD)[::-1]
    row = "|".join(GOOD[name] for name in names)
    expected = read(tmp_path, line())[0]
    assert read(tmp_path, row, header="|".join(names))[0] == expected
    assert read(tmp_path, row + "|", header="|".join(names) + "|")[0] == expected
    assert read(tmp_path, row, header="|".join(names) + "|")[0] == expected
    assert read(tmp_path, row + "|", header="|".join(names))[0] == expected
    assert read(tmp_path, line().replace("|", ";"), header=NAMES.replace("|", ";"))[0] == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        gzip.compress,
        lambda data: data[:-1],
        lambda data: data.replace(b"fold", b"f\xf6ld"),  # a column that is not read
    ],
)
def test_other_writing_of_the_same(tmp_path, change):
    data = (NAMES + "\n" + line() + "\n").encode()
    assert read(tmp_path, raw=change(data))[0] == read(tmp_path, line())[0]


def test_what_is_left_out(tmp_path):
    rows, refused, notes = read(
        tmp_path,
        line(JobID="7.batch", JobIDRaw="7.batch"),
        line(JobID="7.extern"),
        line(JobID="7.0"),
        NAMES,
        "",
        line(JobID="8_[5-9]", State="PENDING", Start="Unknown", End="Unknown", Elapsed="00:00:00", AllocTRES=""),
        line(
            JobID="9",
            State="CANCELLED by 1002",
            Start="None",
            Elapsed="00:00:00",
            AllocTRES="",
            NodeList="None assigned",
        ),
        line(JobID="10", State="CANCELLED", End=GOOD["Start"], Elapsed="00:00:00", AllocTRES="", NodeList=""),
        line(JobID="11", State="PENDING"),
        line(JobID="12_3", State="CANCELLED by 1002"),
    )
    assert refused == []
    assert [(row["job_id"], row["state"], row["row_number"]) for row in rows] == [("12_3", "CANCELLED", 11)]
    assert "3 steps left out: they repeat their job" in notes
    assert "1 repeated headers left out" in notes
    assert "3 jobs left out: they never ran" in notes


def test_several_hosts(tmp_path):
    rows, refused, _ = read(tmp_path, line(NodeList="h-[001-002,004]", NNodes=3, AllocTRES="cpu=1,gres/gpu=24,node=3"))
    assert refused == []
    assert [(row["host"], row["chip_count"], row["node_count"]) for row in rows] == [
        ("h-001", 8.0, 1),
        ("h-002", 8.0, 1),
        ("h-004", 8.0, 1),
    ]
    assert sum(row["energy_it_kwh"] for row in rows) == pytest.approx(2.0, rel=1e-12)


def test_suspended_runs_are_told(tmp_path):
    header = NAMES.replace("Elapsed", "ElapsedRaw")
    _, _, notes = read(tmp_path, line(Elapsed="7200"), line(JobID=8, Elapsed="3600"), header=header)
    assert any(note.startswith("1 runs whose Elapsed is not End - Start") for note in notes)


def test_one_unknown_host_refuses_the_whole_run(tmp_path):
    rows, refused, _ = read(tmp_path, line(NodeList="h-[003-005]"), line(JobID=8))
    assert [row["job_id"] for row in rows] == ["8"]
    assert refused == [(2, "host h-005 is in no site: add it to hosts in site.yaml, or ingest an inventory")]


def test_without_hosts(tmp_path):
    rows, refused, _ = read(tmp_path, line(NodeList=""), site_id=None)
    assert rows == []
    assert "pass --site" in refused[0][1]
    rows, refused, _ = read(tmp_path, line(NodeList="", NNodes=3, AllocTRES="gres/gpu=4"), site_id="hall")
    assert (rows[0]["host"], rows[0]["node_count"], rows[0]["site_id"]) == (None, 3, "hall")


@pytest.mark.parametrize(
    ("tres", "count", "chip"),
    [
        ("cpu=8,gres/gpu:h100=4,gres/gpu=4", 4, "nvidia_h100_sxm5_80"),
        ("cpu=8,gres/gpu=4", 4, "nvidia_h100_sxm5_80"),
        ("cpu=8,gres/gpu:h100=4", 4, "nvidia_h100_sxm5_80"),
        ("cpu=8,gres/gpu:big=4", 4, "nvidia_h100_sxm5_80"),  # a label of the site: the host settles it
        ("cpu=8,mem=4G", 0, "nvidia_h100_sxm5_80"),
        ("cpu=8,gres/gpumem=40G,gres/gpuutil=90,gres/gpu=2", 2, "nvidia_h100_sxm5_80"),
        ("cpu=8,gres/gpu:1g.10gb=9,gres/gpu=9", 9, None),
    ],
)
def test_gpus(tmp_path, tres, count, chip):
    rows, refused, _ = read(tmp_path, line(AllocTRES=tres))
    assert refused == []
    assert (rows[0]["chip_count"], rows[0]["chip_id"]) == (count, chip)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"AllocTRES": "gres/gpu=9"}, "takes 9 chips of a host that has 8"),
        ({"AllocTRES": "gres/gpu:1g.10gb=57"}, "takes 57 chips"),
        ({"AllocTRES": "gres/gpu:h100=4,gres/gpu=8"}, "4 GPUs by type and 8 in all"),
        ({"AllocTRES": "gres/gpu:h100=4,gres/gpu:a100=4,gres/gpu=8"}, "several types"),
        ({"AllocTRES": "gres/gpu=four"}, "no number of GPUs"),
        ({"AllocTRES": ""}, "AllocTRES is empty"),
        ({"AllocTRES": "gres/gpu:a100=4"}, "fits several chips"),
        ({"AllocTRES": "gres/gpu:t4=4"}, "the log says"),
        ({"NodeList": "h-[001-"}, "cannot be read"),
        ({"NodeList": "h-[1-99999999]"}, "more than"),
        ({"Start": "yesterday"}, "no ISO 8601 time"),
        ({"End": "2026-01-05T07:00:00"}, "ends before it starts"),
        ({"End": "Unknown", "Elapsed": ""}, "has ended but has no End"),
        ({"Start": "Unknown", "End": "Unknown"}, "8.000000 GPU-hours"),
        ({"ConsumedEnergyRaw": "-5"}, "ConsumedEnergyRaw is -5"),
        ({"ConsumedEnergyRaw": "nan"}, "not a finite number"),
        ({"ConsumedEnergyRaw": "1,5"}, "decimal point"),
        ({"JobID": ""}, "has no id"),
    ],
)
def test_refused(tmp_path, changes, words):
    rows, refused, _ = read(tmp_path, line(**changes), line(JobID=8))
    assert [row["job_id"] for row in rows] == ["8"]
    assert [number for number, _ in refused] == [2]
    assert words in refused[0][1]


@pytest.mark.parametrize(
    ("joules", "kwh"),
    [("18446744073709551614", None), ("0", None), ("", None), ("3600000", 1.0), ("999999999999999", None)],
)
def test_energy(tmp_path, joules, kwh):
    assert read(tmp_path, line(ConsumedEnergyRaw=joules))[0][0]["energy_it_kwh"] == kwh


@pytest.mark.parametrize(("shown", "kwh"), [("3.60M", 1.0), ("7.2G", 2000.0), ("16.00E", None), ("0", None)])
def test_energy_for_people(tmp_path, shown, kwh):
    header = NAMES.replace("ConsumedEnergyRaw", "ConsumedEnergy")
    changes = {"End": "2026-01-25T08:00:00"}
    assert read(tmp_path, line(ConsumedEnergyRaw=shown, **changes), header=header)[0][0]["energy_it_kwh"] == kwh


def test_running_and_elapsed(tmp_path):
    rows, refused, notes = read(
        tmp_path,
        line(JobID=1, State="RUNNING", End="Unknown"),
        line(JobID=2, End="Unknown", Elapsed="1-00:00:01"),
        line(JobID=3, Start="Unknown", Elapsed="00:30:00"),
    )
    assert refused == []
    assert [(row["start_utc"].hour, row["end_utc"]) for row in rows] == [
        (8, None),
        (8, at("2026-01-06T08:00:01")),
        (9, at("2026-01-05T10:00:00")),
    ]
    assert "2 times told by the elapsed time" in notes


def test_local_time(tmp_path):
    rows, _, _ = read(tmp_path, line(), timezone="Europe/Berlin")
    assert rows[0]["start_utc"] == at("2026-01-05T07:00:00")
    with pytest.raises(InputFileError, match="--timezone"):
        read(tmp_path, line(), timezone=None)
    times = {"Start": "2026-10-25T01:00:00", "End": "2026-10-25T02:30:00", "Submit": "2026-10-25T02:10:00"}
    rows, refused, _ = read(tmp_path, line(**times, Elapsed="02:30:00"), timezone="Europe/Berlin")
    assert refused == []
    assert (rows[0]["end_utc"], rows[0]["submit_utc"]) == (at("2026-10-25T01:30:00"), None)
    rows, refused, _ = read(tmp_path, line(**times, Elapsed=""), timezone="Europe/Berlin")
    assert "occurs twice" in refused[0][1]
    counted = {"Submit": "1767600000", "Start": "1767600000", "End": "1767603600"}
    assert read(tmp_path, line(**counted), timezone=None)[0][0]["end_utc"] == at("2026-01-05T09:00:00")


def test_requeued_runs_are_runs(tmp_path):
    rows, _, _ = read(tmp_path, line(State="REQUEUED"), line(Start="2026-01-05T11:00:00", End="2026-01-05T12:00:00"))
    assert [(row["job_id"], row["start_utc"].hour) for row in rows] == [("7", 8), ("7", 11)]


def test_separator_in_a_name(tmp_path):
    rows, refused, notes = read(
        tmp_path,
        line(JobName="a|b|c"),
        line(JobID=8, JobName="x|", NodeList="", AllocTRES="gres/gpu=1"),
        site_id="hall",
    )
    assert refused == []
    assert {row["job_id"]: row["host"] for row in rows} == {"7": "h-001", "8": None}
    assert any("realigned" in note for note in notes)
    header = NAMES + "|Comment"
    _, refused, _ = read(tmp_path, line() + "|ok", line(JobName="a|b") + "|no", header=header)
    assert [number for number, _ in refused] == [3]
    assert "cannot be told apart" in refused[0][1]


def test_cut_off_last_line(tmp_path):
    data = (NAMES + "\n" + line() + "\n" + line()[:60]).encode()
    rows, refused, _ = read(tmp_path, raw=data)
    assert len(rows) == 1
    assert refused[0][0] == 3
    assert "cut off" in refused[0][1]


def test_line_numbers_among_broken_lines(tmp_path):
    rows, refused, _ = read(tmp_path, "", "a|b", line(JobID=4), "", line(JobID="6", JobName="|"), "x", line(JobID=8))
    assert sorted(row["row_number"] for row in rows) == [4, 6, 8]
    assert all(str(row["row_number"]) == row["job_id"] for row in rows)
    assert [number for number, _ in refused] == [3, 7]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"  \n \n", "nothing but blanks"),
        (NAMES.encode() + b"\n", "no rows"),
        (NAMES.encode(), "no rows"),
        (b"<!DOCTYPE html><html>JobID|State|Elapsed", "web page"),
        (b"JobID  State  Elapsed\n----- ------ ------\n1 COMPLETED 00:01:00\n", "--parsable2"),
        (line().encode() + b"\n", "no line names JobID"),
        (b"JobID|State|Elapsed\n1|COMPLETED|00:01:00\n", "no column alloctres"),
        (b"JobID|State|State|AllocTRES\n1|A|B|cpu=1\n", "occurs twice"),
        ((NAMES + "\n" + line(User="X")).encode().replace(b"X", b"J\xf6rg"), "line 2: byte"),
        (NAMES.encode("utf-16"), "no rows"),
        (gzip.compress(NAMES.encode() * 50)[:-30], "unpacked"),
    ],
)
def test_no_such_log(tmp_path, data, words):
    with pytest.raises(InputFileError) as caught:
        read(tmp_path, raw=data)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_detect():
    path = Path("sacct.txt")
    assert importer.detect(path, b"Welcome\n" + NAMES.encode() + b"\n" + line().encode())
    assert importer.detect(path, b"job_id,host,start\n1,a,b\n") is None
    assert importer.detect(path, b"") is None
    assert importer.detect(path, bytes(range(256))) is None


CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            "|",
            "Unknown",
            "None",
            "nan",
            "-1",
            "0",
            "1e999",
            "18446744073709551614",
            "h-[001-002]",
            "h-[1-",
            "[",
            "]",
            "gres/gpu=8",
            "gres/gpu:h100=99999999999999999999",
            "gres/gpu:=1",
            "9999-12-31T23:59:59",
            "1-1:1:1",
            "PENDING",
            "2026-03-29T02:30:00",
            "9999999999",
            "0001-01-01T00:00:00",
            "16.00E",
            "\r",
            "\x00",
            "é",
            "\u2028",
            ".",
        ]
    ),
    st.text(max_size=10),
)


@QUICK
@given(
    lines=st.lists(st.dictionaries(st.sampled_from(list(GOOD)), CELLS, max_size=4), max_size=5),
    zone=st.sampled_from([None, "UTC", "Europe/Berlin"]),
    cut=st.integers(0, 60),
    tail=st.one_of(st.binary(max_size=60), st.just(b"\n")),
)
def test_whatever_it_holds(tmp_path, lines, zone, cut, tail):
    text = "\n".join([NAMES, *(line(**changes) for changes in lines)])
    data = text.encode("utf-8", "surrogatepass")
    try:
        read(tmp_path, raw=data[: len(data) - cut] + tail, timezone=zone, site_id="hall")
    except EnergyError as error:
        assert str(error)
        assert "\n" not in str(error)


SPANS = st.one_of(
    st.none(),
    st.from_regex(r"(?:[0-9]{1,3}-)?(?:[0-9]{1,3}:)?[0-9]{1,2}:[0-9]{2}(?:\.[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(
        ["", "INVALID", "00:00:00", "99:59:59", "1:2:3:4:", "0a:00:00", "٠١:00:00", "é:00:00", " 01:00:00"]
    ),
    st.text(max_size=9),
)


@given(st.lists(SPANS, max_size=12), st.integers(0, 3))
def test_spans_read_at_once_are_those_read_one_by_one(texts, skip):
    """Whatever stands in the column, in a slice of it too, the fast way says what the slow one says."""
    seconds, known = seconds_of_all(pa.array(texts, pa.string())[skip:])
    expected = [None if text is None else seconds_of(text.strip()) for text in texts[skip:]]
    assert [int(value) if good else None for value, good in zip(seconds, known, strict=True)] == expected
