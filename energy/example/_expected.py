"""What a ledger must find in the example: recomputed from the finished tables alone, by the plainest method.

Apart from the calendar and the list of gaps it takes nothing from the generator, so it can disagree with it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.example._fleet import GAPS, MODELS, QUARTER_END, QUARTER_START, SAMPLE_SECONDS, WEEK_END, WEEK_START

if TYPE_CHECKING:
    import pyarrow as pa

RULE = "each sample is held for 60 s; it belongs to the job whose [start,end) holds the sample time"
ALLOCATIONS = "job_gpu_alloc_week.csv names the GPU index of every job on the five nodes of the power file"
IDLE = "(idle)"


def expected_totals(
    jobs: pa.Table, nodes: pa.Table, power: pa.Table, allocations: pa.Table, gaps: bool
) -> dict[str, Any]:
    """Return the totals that a correct ledger finds in the four tables.

    Parameters
    ----------
    jobs, nodes, power, allocations : pyarrow.Table
        As :func:`energy.example.quarter.generate` gives them.
    gaps : bool
        Whether the power table has gaps, which are then listed.

    Returns
    -------
    dict
        What ``expected.json`` holds.

    Examples
    --------
    >>> from energy.example import generate
    >>> quarter = generate(seed=1, scale=0.01)
    >>> total = quarter.expected["gpu_hours_total"]
    >>> abs(total - sum(quarter.expected["gpu_hours_in_quarter"].values())) < 0.01
    True

    """
    seconds = _gpu_seconds(jobs)
    kwh = _energy(nodes, power, allocations)
    starts = _seconds(jobs, "start_time")
    return {
        "period": [_text(QUARTER_START), _text(QUARTER_END)],
        "jobs": jobs.num_rows,
        "running_at_end": jobs["end_time"].null_count,
        "started_before_quarter": sum(start < QUARTER_START for start in starts),
        "gpu_hours_in_quarter": {key: round(seconds[key] / 3_600, 4) for key in sorted(seconds)},
        "gpu_hours_total": round(sum(seconds.values()) / 3_600, 4),
        "installed_gpu_hours": _installed(nodes),
        "week_power": {
            "window": [_text(WEEK_START), _text(WEEK_END)],
            "rule": RULE,
            "kwh": {key: round(math.fsum(kwh[key]), 6) for key in sorted(kwh)},
            "kwh_total": round(math.fsum(value for values in kwh.values() for value in values), 6),
            "allocations": ALLOCATIONS,
            "gaps": [
                {"host": gap.host, "gpu": gap.gpu, "start": _text(gap.start), "end": _text(gap.end)}
                for gap in (GAPS if gaps else ())
            ],
        },
    }


def _gpu_seconds(jobs: pa.Table) -> dict[str, int]:
    """Add GPUs times seconds inside the quarter for each project and model; integers, so the sum is exact."""
    totals: dict[str, int] = defaultdict(int)
    columns = zip(
        jobs["project"].to_pylist(),
        jobs["gpu_model"].to_pylist(),
        jobs["gpu_num"].to_pylist(),
        _seconds(jobs, "start_time"),
        _seconds(jobs, "end_time"),
        strict=True,
    )
    for project, model, gpus, start, end in columns:
        first = max(start, QUARTER_START)
        last = QUARTER_END if end is None else min(end, QUARTER_END)
        totals[f"{project} | {model}"] += gpus * max(0, last - first)
    return totals


def _energy(nodes: pa.Table, power: pa.Table, allocations: pa.Table) -> dict[str, list[float]]:
    """Give each sample to the job that holds its GPU at its time; kWh of each sample by model and project."""
    holders: dict[tuple[str, int], list[tuple[int, int, str]]] = defaultdict(list)
    columns = [allocations[name].to_pylist() for name in ("host", "gpu", "project")]
    times = [_seconds(allocations, "start_time"), _seconds(allocations, "end_time")]
    for host, gpu, project, start, end in zip(*columns, *times, strict=True):
        holders[host, gpu].append((start, end, project))
    model_of = dict(zip(nodes["host"].to_pylist(), nodes["gpu_model"].to_pylist(), strict=True))
    sample_time = np.array(_seconds(power, "ts"))
    sample_gpu = power["gpu"].to_numpy()
    sample_host = power["host"].to_pylist()
    sample_kwh = power["power_w"].to_numpy().astype(np.float64) * SAMPLE_SECONDS / 3.6e6
    hosts = sorted(set(sample_host))
    host_number = np.array([hosts.index(name) for name in sample_host])
    totals: dict[str, list[float]] = defaultdict(list)
    for number, host in enumerate(hosts):
        on_host = host_number == number
        for gpu in np.unique(sample_gpu[on_host]).tolist():
            rows = np.flatnonzero(on_host & (sample_gpu == gpu))
            left = np.ones(len(rows), dtype=np.bool_)
            for start, end, project in holders[host, gpu]:
                held = (sample_time[rows] >= start) & (sample_time[rows] < end)
                left &= ~held
                totals[f"{model_of[host]} | {project}"] += sample_kwh[rows[held]].tolist()
            totals[f"{model_of[host]} | {IDLE}"] += sample_kwh[rows[left]].tolist()
    return {key: values for key, values in totals.items() if values}


def _installed(nodes: pa.Table) -> dict[str, int]:
    """Return the GPU-hours that the quarter could have had."""
    hours = (QUARTER_END - QUARTER_START) // 3_600
    pairs = list(zip(nodes["gpu_model"].to_pylist(), nodes["gpus"].to_pylist(), strict=True))
    return {
        name: hours * sum(gpus for model, gpus in pairs if model == name) for name in sorted(m.name for m in MODELS)
    }


def _seconds(table: pa.Table, column: str) -> list[Any]:
    """Return times as whole seconds since 1970, None where there is none."""
    import pyarrow as pa

    return [None if time is None else time // 1_000_000 for time in table[column].cast(pa.int64()).to_pylist()]


def _text(seconds: int) -> str:
    """Return a time as ISO 8601 in UTC."""
    return f"{np.datetime64(seconds, 's')}Z"
