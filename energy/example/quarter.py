"""A whole quarter of a mixed fleet, made from a seed: what ``energy demo`` runs on.

ALL VALUES ARE SYNTHETIC. No host, user, job or power value was measured anywhere, and none may be quoted as a
measurement. Sizes, run times, states and power levels are drawn so that the tables look like a public trace: half of
the jobs complete, a third fail, most jobs are short and on one GPU, a few long ones hold most GPU time.

The files (all times in UTC, whole seconds):

``jobs_2026q1.parquet``
    About 57,600 jobs of 2026-Q1 on 58 nodes with 432 GPUs. Running jobs have no end; some started before the quarter.
    No GPU is given out twice.
``nodes.csv``
    The nodes: host, GPU model, number of GPUs, site.
``gpu_power_1min_week.parquet``
    Power of each GPU of five nodes, every minute, in the week from 2026-01-05. With ``gaps``, two and a
    half hours of one host and 40 minutes of one GPU are missing, as real monitoring loses samples: a gap is not zero.
``job_gpu_alloc_week.csv``
    Which job held which GPU of these five nodes in that week.
``expected.json``
    What a correct ledger finds, recomputed from the tables by a plain method.

Same seed, same bytes: random numbers come from PCG64 and are used with integer arithmetic or with + - * / only, as
``exp`` and its like may round differently on another machine.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import EnergyError
from energy.example._expected import expected_totals
from energy.example._fleet import (
    MODELS,
    PROJECTS,
    SAMPLE_SECONDS,
    SAMPLES,
    WEEK_START,
    IntegerArray,
    Node,
    draw,
    nodes_of,
    stream,
)
from energy.example._power import Series, jobs_in_week, make_series, metered_nodes
from energy.example._schedule import RUNNING, STATES, Schedule, make_schedule

if TYPE_CHECKING:
    import pyarrow as pa

JOBS_FILE = "jobs_2026q1.parquet"
NODES_FILE = "nodes.csv"
POWER_FILE = "gpu_power_1min_week.parquet"
ALLOCATIONS_FILE = "job_gpu_alloc_week.csv"
EXPECTED_FILE = "expected.json"

LARGEST_SCALE = 10.0
NAMES_STREAM = 200
FIRST_JOB_ID = 5_800_000
USERS_PER_PROJECT = 48
CPUS_PER_GPU = 12


@dataclass(frozen=True)
class ExampleQuarter:
    """The tables of the example quarter and the totals that a ledger must find in them. All values are synthetic."""

    jobs: pa.Table
    nodes: pa.Table
    power: pa.Table
    allocations: pa.Table
    expected: dict[str, Any]


def generate(seed: int = 2026, scale: float = 1.0, gaps: bool = True) -> ExampleQuarter:
    """Make the example quarter in memory.

    Parameters
    ----------
    seed : int, default 2026
        Same seed, same tables.
    scale : float, default 1.0
        Number of jobs and nodes relative to the whole fleet, above 0 and up to 10. Each model keeps at least one
        node, so the power week always has five nodes.
    gaps : bool, default True
        Whether the power week has gaps.

    Returns
    -------
    ExampleQuarter
        Four Arrow tables and the expected totals.

    Raises
    ------
    EnergyError
        When the seed is negative or the scale out of range.

    Examples
    --------
    >>> quarter = generate(seed=1, scale=0.02)
    >>> quarter.nodes.num_rows, quarter.power.column_names
    (5, ['ts', 'host', 'gpu', 'power_w', 'gpu_util_pct'])

    """
    if seed < 0:
        raise EnergyError(f"seed {seed} is negative; give a whole number from 0.")
    if not (math.isfinite(scale) and 0 < scale <= LARGEST_SCALE):
        raise EnergyError(f"scale {scale} is out of range; give a number above 0 and up to {LARGEST_SCALE:g}.")
    nodes = nodes_of(scale)
    schedule = make_schedule(seed, scale, nodes)
    job_ids = FIRST_JOB_ID + np.cumsum(stream(seed, NAMES_STREAM).integers(1, 9, len(schedule.start)))
    series = make_series(seed, schedule, nodes, gaps)
    jobs = _jobs_table(seed, schedule, job_ids, nodes)
    nodes_table = _nodes_table(nodes)
    power = _power_table(series)
    allocations = _allocations_table(schedule, job_ids, nodes)
    expected = expected_totals(jobs, nodes_table, power, allocations, gaps)
    return ExampleQuarter(jobs, nodes_table, power, allocations, expected)


def write(folder: Path, seed: int = 2026, scale: float = 1.0, gaps: bool = True) -> list[Path]:
    """Write the example quarter as five files; the same arguments give the same bytes.

    Parameters
    ----------
    folder : pathlib.Path
        Made when absent. Files of the same names are replaced.
    seed, scale, gaps
        As for :func:`generate`.

    Returns
    -------
    list of pathlib.Path
        The files: jobs, nodes, power, allocations, expected totals.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(Path(folder), scale=0.01)][:2]
    ['jobs_2026q1.parquet', 'nodes.csv']

    """
    quarter = generate(seed, scale, gaps)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write_parquet(quarter.jobs, folder / JOBS_FILE, dictionaries=["user", "project", "host", "gpu_model"])
    _write_csv(quarter.nodes, folder / NODES_FILE)
    _write_parquet(quarter.power, folder / POWER_FILE, dictionaries=["ts", "host", "power_w"])
    _write_csv(quarter.allocations, folder / ALLOCATIONS_FILE)
    text = json.dumps(quarter.expected, indent=1) + "\n"
    (folder / EXPECTED_FILE).write_bytes(text.encode())
    return [folder / name for name in (JOBS_FILE, NODES_FILE, POWER_FILE, ALLOCATIONS_FILE, EXPECTED_FILE)]


def _jobs_table(seed: int, schedule: Schedule, job_ids: IntegerArray, nodes: list[Node]) -> pa.Table:
    """Return one row for each job."""
    import pyarrow as pa

    running = schedule.state == RUNNING
    return pa.table(
        {
            "job_id": pa.array([str(number) for number in job_ids.tolist()], pa.large_string()),
            "user": _names(_users(seed), _draw_users(seed, schedule.project)),
            "project": _names([project.name for project in PROJECTS], schedule.project),
            "host": _names([node.host for node in nodes], schedule.host),
            "gpu_model": _names([model.name for model in MODELS], schedule.model),
            "node_num": pa.array(np.ones(len(job_ids), dtype=np.int64)),
            "gpu_num": pa.array(schedule.gpus),
            "cpu_num": pa.array(schedule.gpus * CPUS_PER_GPU),
            "type": _names([project.job_type for project in PROJECTS], schedule.project),
            "state": _names(list(STATES), schedule.state),
            "submit_time": _times(schedule.submit),
            "start_time": _times(schedule.start),
            "end_time": _times(schedule.end, running),
        }
    )


def _users(seed: int) -> list[str]:
    """Return the users, those of one project after those of another."""
    codes = stream(seed, NAMES_STREAM + 1).permutation(1 << 16)[: USERS_PER_PROJECT * len(PROJECTS)]
    return [f"u{code:04x}" for code in codes.tolist()]


def _draw_users(seed: int, project: IntegerArray) -> IntegerArray:
    """Give each job a user of its project; a few users submit most jobs, and anybody uses the notebooks."""
    random = stream(seed, NAMES_STREAM + 2)
    count = len(project)
    # The square of a uniform number favours the first users; shifted integers keep it exact.
    skewed = random.integers(0, 1 << 20, count) ** 2 * USERS_PER_PROJECT >> 40
    notebooks = np.array([entry.job_type == "Notebooks" for entry in PROJECTS])[project]
    anywhere = draw(random, [entry.weight for entry in PROJECTS], count)
    users: IntegerArray = np.where(notebooks, anywhere, project) * USERS_PER_PROJECT + skewed
    return users


def _nodes_table(nodes: list[Node]) -> pa.Table:
    """Return one row for each node."""
    import pyarrow as pa

    return pa.table(
        {
            "host": pa.array([node.host for node in nodes], pa.large_string()),
            "gpu_model": pa.array([MODELS[node.model].name for node in nodes], pa.large_string()),
            "gpus": pa.array([node.gpus for node in nodes], pa.int64()),
            "site": pa.array([node.site for node in nodes], pa.large_string()),
        }
    )


def _power_table(series: Series) -> pa.Table:
    """Return one row for each sample, minute after minute as a monitoring system exports them."""
    import pyarrow as pa

    sample, row = np.nonzero(series.present.T)
    hosts = sorted(set(series.host))
    host_of_row = np.array([hosts.index(name) for name in series.host])
    return pa.table(
        {
            "ts": _times(WEEK_START + SAMPLE_SECONDS * np.arange(SAMPLES)[sample]),
            "host": _names(hosts, host_of_row[row]),
            "gpu": pa.array(np.array(series.gpu, dtype=np.int8)[row]),
            "power_w": pa.array((series.power[row, sample] / 10).astype(np.float32)),
            "gpu_util_pct": pa.array(series.utilisation[row, sample].astype(np.int8)),
        }
    )


def _allocations_table(schedule: Schedule, job_ids: IntegerArray, nodes: list[Node]) -> pa.Table:
    """Return one row for each GPU that a job held on a metered node in the week."""
    import pyarrow as pa

    places = jobs_in_week(schedule, metered_nodes(nodes))
    held = (schedule.gpu_mask[places][:, None] >> np.arange(8)) & 1
    which, gpu = np.nonzero(held)
    rows = places[which]
    return pa.table(
        {
            "job_id": pa.array([str(number) for number in job_ids[rows].tolist()], pa.large_string()),
            "project": _names([project.name for project in PROJECTS], schedule.project[rows]),
            "host": _names([node.host for node in nodes], schedule.host[rows]),
            "gpu": pa.array(gpu.astype(np.int64)),
            "start_time": _times(schedule.start[rows]),
            "end_time": _times(schedule.end[rows]),
        }
    )


def _names(known: list[str], places: IntegerArray) -> Any:
    """Return a text column from the places of its values."""
    import pyarrow as pa

    return pa.array(known, pa.large_string()).take(pa.array(places))


def _times(seconds: IntegerArray, absent: Any = None) -> Any:
    """Return a time column in UTC; ``absent`` marks rows without a time."""
    import pyarrow as pa

    return pa.array(seconds * 1_000_000, mask=absent).cast(pa.timestamp("us", tz="UTC"))


def _write_parquet(table: pa.Table, path: Path, dictionaries: list[str]) -> None:
    """Write Parquet with every option that shapes the bytes fixed, so that they do not follow a library's default."""
    import pyarrow.parquet as pq

    pq.write_table(
        table,
        path,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=9,
        use_dictionary=dictionaries,
        write_statistics=True,
        row_group_size=1 << 20,
    )


def _write_csv(table: pa.Table, path: Path) -> None:
    """Write CSV with the same line ends everywhere; our values hold no comma and no quote."""
    columns = [_texts(table[name]) for name in table.column_names]
    lines = [",".join(table.column_names), *(",".join(row) for row in zip(*columns, strict=True))]
    path.write_bytes(("\n".join(lines) + "\n").encode())


def _texts(column: Any) -> list[str]:
    """Return the values of a column as text, times as ISO 8601 with the offset."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        seconds = column.cast(pa.int64()).to_numpy() // 1_000_000
        return [f"{text}+00:00" for text in np.datetime_as_string(seconds.astype("datetime64[s]")).tolist()]
    return [str(value) for value in column.to_pylist()]
