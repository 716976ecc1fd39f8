"""OpenCost: GPU-hours by project, idle power kept apart, and what the CSV export cannot say."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ingest_helpers import at, context

from energy.errors import EnergyError, InputFileError
from energy.importers.kinds import columns_of
from energy.importers.opencost import importer

HEADER = "Date,Namespace,ControllerKind,ControllerName,Pod,Container,CPUCoreRequestAverage,GPUs,GPUCost,Labels"
GOOD = {
    "name": "cl/bio/pod-1",
    "properties": {"cluster": "cl", "node": "h100-001", "namespace": "bio", "controllerKind": "job", "pod": "pod-1"},
    "window": {"start": "2026-01-05T00:00:00Z", "end": "2026-01-06T00:00:00Z"},
    "start": "2026-01-05T10:00:00Z",
    "end": "2026-01-05T11:30:00Z",
    "minutes": 90,
    "gpuCount": 2.0,
    "gpuHours": 3.0,
}
QUICK = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def answer(*allocations):
    return {"code": 200, "data": [{f"a{number}": one for number, one in enumerate(allocations)}]}


def read(folder, content, **changes):
    path = Path(folder) / "opencost"
    if isinstance(content, dict | list):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    about = context(**changes)
    batches = list(importer.read(path, None, about))
    assert all(batch.table.schema == columns_of("jobs") for batch in batches)
    assert all(batch.table.num_rows + batch.rejects.num_rows == batch.rows_read for batch in batches)
    rows = pa.concat_tables([batch.table for batch in batches]).to_pylist()
    refused = pa.concat_tables([batch.rejects for batch in batches]).to_pylist()
    return rows, [(one["row_number"], one["reason"]) for one in refused], about.notes


def gpu_hours(row):
    return row["chip_count"] * (row["end_utc"] - row["start_utc"]).total_seconds() / 3600


def test_one_allocation(tmp_path):
    rows, refused, notes = read(tmp_path, answer(GOOD))
    assert (refused, notes) == ([], [])
    assert {name: value for name, value in rows[0].items() if value is not None} == {
        "row_number": 1,
        "job_id": "cl/bio/pod-1",
        "site_id": "hall",
        "host": "h100-001",
        "project": "bio",
        "job_type": "job",
        "start_utc": at("2026-01-05T10:00:00"),
        "end_utc": at("2026-01-05T11:30:00"),
        "chip_id": "nvidia_h100_sxm5_80",
        "node_count": 1,
        "chip_count": 2.0,
    }


def test_idle_is_real_and_of_nobody(tmp_path):
    idle = GOOD | {"name": "cl/__idle__/__idle__", "properties": {"node": "h100-001", "namespace": "__idle__"}}
    row = read(tmp_path, answer(idle))[0][0]
    assert (row["project"], row["job_type"]) == (None, "__idle__")
    assert gpu_hours(row) == 3.0


def test_hours_spread_over_the_window(tmp_path):
    half = GOOD | {"end": "2026-01-05T13:00:00Z"}
    rows, _, notes = read(tmp_path, answer(half))
    assert gpu_hours(rows[0]) == 3.0
    assert rows[0]["chip_count"] == 1.0
    assert any("part of their window" in note for note in notes)


def test_other_shapes(tmp_path):
    without_hours = {key: value for key, value in GOOD.items() if key != "gpuHours"}
    for shape in (
        answer(without_hours),
        [{"a": GOOD}],
        {"code": 200, "data": {"a": GOOD}},
        {"code": 200, "data": [None, {"allocations": {"a": GOOD}, "window": {}}]},
    ):
        assert [gpu_hours(row) for row in read(tmp_path, shape)[0]] == [3.0]
    by_namespace = GOOD | {"name": "bio", "properties": {"cluster": "cl"}}
    row = read(tmp_path, answer(by_namespace), site_id="hall")[0][0]
    assert (row["project"], row["host"], row["site_id"]) == ("bio", None, "hall")
    labelled = GOOD | {
        "properties": GOOD["properties"] | {"labels": {"nvidia_com_gpu_product": "NVIDIA H100 80GB HBM3"}}
    }
    assert read(tmp_path, answer(labelled))[0][0]["chip_name_given"] == "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gpuHours": float("nan")}, "not a finite number"),
        ({"gpuHours": -1}, "gpuHours is -1"),
        ({"gpuHours": "3,5"}, "decimal point"),
        ({"gpuHours": 1e4}, "of a host that has 8"),
        ({"gpuHours": None, "minutes": None}, "average while the pod ran"),
        ({"gpuHours": None, "gpuCount": None}, "no gpuHours"),
        ({"start": "soon"}, "no ISO 8601"),
        ({"start": None, "window": None}, "no start"),
        ({"end": "2026-01-05T09:00:00Z"}, "ends before"),
        ({"end": "2026-01-05T10:00:00Z"}, "no time from start to end"),
        ({"properties": {"node": "nowhere", "namespace": "x"}}, "in no site"),
        ({"properties": None}, "pass --site"),
    ],
)
def test_refused(tmp_path, changes, words):
    rows, refused, _ = read(tmp_path, answer(GOOD, GOOD | changes))
    assert len(rows) == 1
    assert [number for number, _ in refused] == [2]
    assert words in refused[0][1]


def test_allocation_that_is_none(tmp_path):
    rows, refused, _ = read(tmp_path, answer(GOOD, 5, "x"))
    assert (len(rows), [number for number, _ in refused]) == (1, [2, 3])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "empty"),
        (json.dumps(answer(GOOD))[:-30], "line 1, column"),
        ("<html>Sign in</html>", "web page"),
        ({"code": 500, "message": "no\ncost model"}, "code 500: no cost model"),
        ({"code": 200, "data": []}, "no allocations"),
        ({"code": 200, "data": ["x"]}, "not allocations"),
        ("[" * 100_000, "JSON|nested"),
        ("Date,Namespace\n2026-01-05,bio\n", "no column gpus"),
        (HEADER + "\n", "no rows"),
    ],
)
def test_no_such_file(tmp_path, content, words):
    with pytest.raises(InputFileError) as caught:
        read(tmp_path, content, site_id="hall")
    assert any(word in str(caught.value) for word in words.split("|"))
    assert "\n" not in str(caught.value)


def test_csv_without_hours(tmp_path):
    lines = [HEADER, '2026-01-05,bio,job,p,pod-1,c,4,1,12,"{""a"":""b""}"', HEADER, "2026-01-05,web,,,pod-2,c,4,0,0,"]
    rows, refused, _ = read(tmp_path, "\ufeff" + "\r\n".join(lines), site_id="hall")
    assert [number for number, _ in refused] == [2]
    assert "at most 24 GPU-hours a day" in refused[0][1]
    assert [(row["row_number"], row["project"], row["chip_count"]) for row in rows] == [(4, "web", 0.0)]


def test_csv_with_minutes(tmp_path):
    lines = [HEADER + ",Minutes", "2026-01-05,bio,job,p,pod-1,c,4,1,12,,90"]
    row = read(tmp_path, "\n".join(lines), site_id="hall")[0][0]
    assert gpu_hours(row) == pytest.approx(1.5, rel=1e-12)


def test_detect():
    path = Path("x")
    assert importer.detect(path, json.dumps(answer(GOOD)).encode())
    assert importer.detect(path, (HEADER + "\n").encode())
    assert importer.detect(path, b'{"data": {"result": []}}') is None
    assert importer.detect(path, b"a,b\n") is None
    assert importer.detect(path, b"") is None


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(
            ["h100-001", "__idle__", "2026-01-05T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-05", "\ud800"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["node", "namespace", "start", "x"]), inner)
    ),
    max_leaves=5,
)


def bring_in(folder, content):
    try:
        read(folder, content, site_id="hall")
    except EnergyError as error:
        assert str(error)
        assert "\n" not in str(error)


@QUICK
@given(st.dictionaries(st.sampled_from([*GOOD, "name"]), VALUES), st.integers(0, 3))
def test_any_values(tmp_path, changes, cut):
    text = json.dumps(answer(GOOD, GOOD | changes))
    bring_in(tmp_path, text[: len(text) - cut])


@QUICK
@example(text='[{"node": "\\ud800"}]')
@given(st.one_of(VALUES.map(json.dumps), st.text(max_size=80), st.text('{}[]:,"01eE.-ntf<', max_size=30)))
def test_anything(tmp_path, text):
    bring_in(tmp_path, text)


@QUICK
@given(st.lists(st.text(',"\n0123456789-T:Zé;', max_size=40), max_size=4))
def test_any_lines(tmp_path, lines):
    bring_in(tmp_path, "\n".join([HEADER + ",Minutes,Start,End", *lines]))
