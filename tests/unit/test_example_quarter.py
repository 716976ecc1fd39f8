"""The example quarter: repeatable, feasible, and true to its own expected totals."""

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from energy.errors import EnergyError
from energy.example import generate, write
from energy.example._fleet import nodes_of
from energy.example._schedule import make_schedule

QUARTER = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
WEEK = (datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 12, tzinfo=UTC))
LIMIT_WATTS = {"h100": 700, "a100": 400, "b200": 1000, "mi300x": 750, "p100": 250}
IDLE_WATTS = {"h100": 70, "a100": 62, "b200": 140, "mi300x": 140, "p100": 30}
SMALL = 0.02


@pytest.fixture(scope="module")
def whole():
    return generate()


@pytest.fixture(scope="module")
def small():
    return generate(seed=7, scale=SMALL)


def test_same_seed_gives_the_same_bytes(tmp_path):
    first = write(tmp_path / "first", seed=3, scale=SMALL)
    second = write(tmp_path / "second", seed=3, scale=SMALL)
    assert [path.name for path in first] == [
        "jobs_2026q1.parquet",
        "nodes.csv",
        "gpu_power_1min_week.parquet",
        "job_gpu_alloc_week.csv",
        "expected.json",
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_another_seed_gives_other_jobs():
    assert not generate(seed=1, scale=SMALL).jobs.equals(generate(seed=2, scale=SMALL).jobs)


def test_files_hold_the_tables(tmp_path, small):
    jobs, nodes, power, allocations, expected = write(tmp_path, seed=7, scale=SMALL)
    assert pq.read_table(jobs).equals(small.jobs)
    assert pq.read_table(power).equals(small.power)
    assert pa_csv.read_csv(nodes).to_pylist() == small.nodes.to_pylist()
    assert json.loads(expected.read_text()) == small.expected
    types = {"job_id": pa.string(), "start_time": pa.timestamp("us", "UTC"), "end_time": pa.timestamp("us", "UTC")}
    read = pa_csv.read_csv(allocations, convert_options=pa_csv.ConvertOptions(column_types=types))
    assert read.to_pylist() == small.allocations.to_pylist()


def test_columns_have_the_types_of_a_real_export(small):
    time, text = pa.timestamp("us", tz="UTC"), pa.large_string()
    texts = dict.fromkeys(("job_id", "user", "project", "host", "gpu_model", "type", "state"), text)
    numbers = dict.fromkeys(("node_num", "gpu_num", "cpu_num"), pa.int64())
    times = dict.fromkeys(("submit_time", "start_time", "end_time"), time)
    found = {field.name: field.type for field in small.jobs.schema}
    assert found == texts | numbers | times
    found = {field.name: field.type for field in small.power.schema}
    assert found == {"ts": time, "host": text, "gpu": pa.int8(), "power_w": pa.float32(), "gpu_util_pct": pa.int8()}


def test_whole_quarter_has_its_shape(whole):
    jobs, nodes = whole.jobs, whole.nodes
    assert nodes.num_rows == 58
    assert sum(nodes["gpus"].to_pylist()) == 432
    assert jobs.num_rows == pytest.approx(57_600, rel=0.01)
    assert len(set(jobs["job_id"].to_pylist())) == jobs.num_rows
    assert len(set(jobs["project"].to_pylist())) == 8
    assert len(set(jobs["host"].to_pylist())) == 58
    shares = {row["values"]: row["counts"] / jobs.num_rows for row in jobs["state"].value_counts().to_pylist()}
    known = {"COMPLETED": 0.55, "FAILED": 0.31, "CANCELLED": 0.12, "TIMEOUT": 0.02, "NODE_FAIL": 0.005}
    assert {name: shares[name] for name in known} == pytest.approx(known, abs=0.01)
    assert 50 <= whole.expected["running_at_end"] <= 100
    assert 150 <= whole.expected["started_before_quarter"] <= 300
    assert 400_000 <= whole.expected["gpu_hours_total"] <= 450_000
    assert sum(whole.expected["installed_gpu_hours"].values()) == 933_120


def test_numbers_of_the_demo_are_the_same_on_every_machine(whole):
    assert whole.jobs.num_rows == 57_599
    assert whole.expected["gpu_hours_total"] == 436_503.1078


def test_most_jobs_are_short_and_few_hold_most_time(whole):
    gpus = whole.jobs["gpu_num"].to_numpy()
    seconds = job_seconds(whole.jobs)
    assert (gpus == 1).mean() > 0.55
    assert np.median(seconds) < 3_600
    assert seconds.max() <= 10 * 86_400
    held = gpus * seconds
    assert held[gpus == 8].sum() / held.sum() > 0.5


def job_seconds(jobs):
    starts, ends = jobs["start_time"].to_pylist(), jobs["end_time"].to_pylist()
    return np.array([((end or QUARTER[1]) - start).total_seconds() for start, end in zip(starts, ends, strict=True)])


def test_times_are_in_order(whole):
    for row in whole.jobs.select(["submit_time", "start_time", "end_time", "state"]).to_pylist():
        assert row["submit_time"] <= row["start_time"] < QUARTER[1]
        assert (row["end_time"] is None) == (row["state"] == "RUNNING")
        assert row["end_time"] is None or row["start_time"] < row["end_time"] <= QUARTER[1]


def test_no_host_gives_out_more_gpus_than_it_has(whole):
    changes = defaultdict(list)
    for row in whole.jobs.to_pylist():
        # An end sorts before a start at the same second, as the interval is half open.
        changes[row["host"]].append((row["start_time"], 1, row["gpu_num"]))
        changes[row["host"]].append((row["end_time"] or QUARTER[1], 0, -row["gpu_num"]))
    size = dict(zip(whole.nodes["host"].to_pylist(), whole.nodes["gpus"].to_pylist(), strict=True))
    for host, events in changes.items():
        held = 0
        for _, _, change in sorted(events):
            held += change
            assert 0 <= held <= size[host]
        assert held == 0


@pytest.mark.parametrize("seed", [1, 2026])
def test_no_gpu_is_given_out_twice(seed):
    nodes = nodes_of(0.1)
    schedule = make_schedule(seed, 0.1, nodes)
    held = defaultdict(list)
    for job, mask in enumerate(schedule.gpu_mask.tolist()):
        gpus = [gpu for gpu in range(nodes[schedule.host[job]].gpus) if mask >> gpu & 1]
        assert len(gpus) == schedule.gpus[job] == mask.bit_count()
        for gpu in gpus:
            held[int(schedule.host[job]), gpu].append((int(schedule.start[job]), int(schedule.end[job])))
    for spans in held.values():
        spans.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_allocations_agree_with_jobs(whole):
    jobs = {row["job_id"]: row for row in whole.jobs.to_pylist()}
    gpus_of, spans = defaultdict(list), defaultdict(list)
    for row in whole.allocations.to_pylist():
        job = jobs[row["job_id"]]
        names = ("project", "host", "start_time", "end_time")
        assert [row[name] for name in names] == [job[name] for name in names]
        gpus_of[row["job_id"]].append(row["gpu"])
        spans[row["host"], row["gpu"]].append((row["start_time"], row["end_time"]))
    metered = set(whole.power["host"].to_pylist())
    in_week = {
        name
        for name, job in jobs.items()
        if job["host"] in metered and job["start_time"] < WEEK[1] and (job["end_time"] or QUARTER[1]) > WEEK[0]
    }
    assert set(gpus_of) == in_week
    assert all(len(set(gpus)) == len(gpus) == jobs[name]["gpu_num"] for name, gpus in gpus_of.items())
    for held in spans.values():
        held.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(held))


def test_expected_gpu_hours_equal_a_plain_loop(small):
    hours = defaultdict(float)
    for row in small.jobs.to_pylist():
        inside = min(row["end_time"] or QUARTER[1], QUARTER[1]) - max(row["start_time"], QUARTER[0])
        if inside > timedelta(0):
            hours[f"{row['project']} | {row['gpu_model']}"] += row["gpu_num"] * inside.total_seconds() / 3_600
    found = {key: value for key, value in small.expected["gpu_hours_in_quarter"].items() if value}
    assert found == pytest.approx(hours, abs=1e-4)
    assert small.expected["gpu_hours_total"] == pytest.approx(sum(hours.values()), abs=1e-4)


@pytest.mark.parametrize("gaps", [True, False])
def test_expected_energy_equals_a_plain_loop(gaps):
    quarter = generate(seed=7, scale=SMALL, gaps=gaps)
    holder = {}
    for row in quarter.allocations.to_pylist():
        start = max(row["start_time"], WEEK[0])
        minute = WEEK[0] + timedelta(minutes=-(-(start - WEEK[0]).total_seconds() // 60))
        while minute < min(row["end_time"], WEEK[1]):
            holder[row["host"], row["gpu"], minute] = row["project"]
            minute += timedelta(minutes=1)
    model = dict(zip(quarter.nodes["host"].to_pylist(), quarter.nodes["gpu_model"].to_pylist(), strict=True))
    kwh = defaultdict(float)
    columns = [quarter.power[name].to_pylist() for name in ("host", "gpu", "ts", "power_w")]
    for host, gpu, time, watts in zip(*columns, strict=True):
        kwh[f"{model[host]} | {holder.get((host, gpu, time), '(idle)')}"] += watts * 60 / 3.6e6
    assert quarter.expected["week_power"]["kwh"] == pytest.approx(kwh, abs=1e-6)
    assert quarter.expected["week_power"]["kwh_total"] == pytest.approx(sum(kwh.values()), abs=1e-6)


def test_power_lies_between_idle_and_limit(whole):
    host = np.array(whole.power["host"].to_pylist())
    watts = whole.power["power_w"].to_numpy()
    utilisation = whole.power["gpu_util_pct"].to_numpy()
    assert set(host) == {f"{prefix}-001" for prefix in LIMIT_WATTS}
    for prefix, limit in LIMIT_WATTS.items():
        here = watts[host == f"{prefix}-001"]
        assert here.min() >= IDLE_WATTS[prefix] - 0.5
        assert here.max() <= 1.05 * limit
        idle = here[utilisation[host == f"{prefix}-001"] == 0]
        assert idle.max() <= IDLE_WATTS[prefix] + 0.02 * limit
    assert np.abs(watts - np.round(watts, 1)).max() < 1e-4
    assert utilisation.min() == 0
    assert utilisation.max() <= 100


def test_gaps_are_missing_samples_and_change_nothing_else(small):
    complete = generate(seed=7, scale=SMALL, gaps=False)
    assert complete.power.num_rows == 36 * 10_080
    assert small.power.num_rows == complete.power.num_rows - 8 * 150 - 40
    assert complete.expected["week_power"]["gaps"] == []
    assert complete.jobs.equals(small.jobs)
    lost = np.zeros(complete.power.num_rows, dtype=bool)
    host, gpu = np.array(complete.power["host"].to_pylist()), complete.power["gpu"].to_numpy()
    time = complete.power["ts"].cast(pa.int64()).to_numpy().astype("datetime64[us]")
    for gap in small.expected["week_power"]["gaps"]:
        start, end = (np.datetime64(gap[name].removesuffix("Z")) for name in ("start", "end"))
        one_gpu = True if gap["gpu"] is None else gpu == gap["gpu"]
        lost |= (host == gap["host"]) & one_gpu & (time >= start) & (time < end)
    assert complete.power.filter(pa.array(~lost)).equals(small.power.combine_chunks())


def test_gaps_of_the_demo_fall_into_running_jobs(whole):
    for gap in whole.expected["week_power"]["gaps"]:
        start, end = (datetime.fromisoformat(gap[name]) for name in ("start", "end"))
        assert any(
            row["host"] == gap["host"]
            and gap["gpu"] in (None, row["gpu"])
            and row["start_time"] <= start
            and row["end_time"] >= end
            for row in whole.allocations.to_pylist()
        )


@pytest.mark.parametrize(("seed", "scale"), [(-1, 1.0), (1, 0.0), (1, -2.0), (1, float("nan")), (1, 11.0)])
def test_wrong_arguments_are_named(seed, scale):
    with pytest.raises(EnergyError, match=r"seed -1|scale"):
        generate(seed=seed, scale=scale)
