"""The jobs of the example quarter and their places: a feasible schedule, no GPU given out twice. All synthetic."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy.example._fleet import (
    DAY,
    MODELS,
    PROJECTS,
    QUARTER_END,
    QUARTER_START,
    IntegerArray,
    Node,
    draw,
    stream,
)

STATES = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "RUNNING")
STATE_WEIGHTS = (547, 308, 120, 20, 5)
TIMEOUT = 3
RUNNING = 5
SIZES = np.array([1, 2, 4, 8], dtype=np.int64)

# Jobs from before the quarter fill the machines; the longest job lasts as long as this, so the start is settled.
WARM_UP = 10 * DAY
# An export for a quarter also holds jobs that ended shortly before it.
LOOK_BACK = 5 * 3_600
LONGEST_JOB = 10 * DAY
# Jobs on eight GPUs run this much longer than others and so hold most GPU time.
EIGHT_GPU_LENGTH = 2.8
LONGEST_QUEUE = 10 * 3_600

# Quantiles of run time and of the wait for the scheduler, in seconds; straight lines between them.
LENGTH_LEVELS = np.array([0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.996, 0.999, 1.0])
LENGTH_SECONDS = np.array([8, 60, 320, 850, 2_300, 6_300, 15_500, 27_500, 47_000, 90_000, 170_000, 350_000, 720_000.0])
WAIT_LEVELS = np.array([0, 0.3, 0.6, 0.8, 0.95, 1.0])
WAIT_SECONDS = np.array([2, 25, 80, 500, 3_600, 12_000.0])

# Work days from nine to nine are busier than nights and week-ends.
HOUR_WEIGHTS = np.array([5, 4, 4, 4, 4, 4, 5, 6, 9, 12, 13, 13, 11, 12, 13, 13, 13, 12, 10, 9, 8, 7, 6, 6])
WEEKDAY_WEIGHTS = np.array([10, 10, 10, 10, 9, 6, 6])


@dataclass(frozen=True)
class Schedule:
    """The placed jobs, one array for each column, in the order of submission.

    ``gpu_mask`` has bit n set when the job holds GPU n of its host; times are seconds since 1970 in UTC; ``end`` of
    a job that still runs when the quarter ends is the true later end, which no file shows.
    """

    host: IntegerArray
    model: IntegerArray
    project: IntegerArray
    gpus: IntegerArray
    state: IntegerArray
    submit: IntegerArray
    start: IntegerArray
    end: IntegerArray
    gpu_mask: IntegerArray


@dataclass(frozen=True)
class Requests:
    """What the users of one model ask for, in the order of submission."""

    project: IntegerArray
    gpus: IntegerArray
    state: IntegerArray
    submit: IntegerArray
    wait: IntegerArray
    length: IntegerArray


def make_schedule(seed: int, scale: float, nodes: list[Node]) -> Schedule:
    """Draw the jobs and place them.

    Parameters
    ----------
    seed : int
        Same seed, same schedule.
    scale : float
        Number of jobs relative to the whole fleet.
    nodes : list of Node
        The hosts, in the order of the models.

    Returns
    -------
    Schedule
        Jobs that started before the end of the quarter and ended after shortly before its start.

    Examples
    --------
    >>> from energy.example._fleet import nodes_of
    >>> schedule = make_schedule(1, 0.01, nodes_of(0.01))
    >>> bool((schedule.start < schedule.end).all())
    True

    """
    parts = [_schedule_of_model(seed, scale, place, nodes) for place in range(len(MODELS))]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Schedule.__dataclass_fields__}
    kept = (columns["start"] < QUARTER_END) & (columns["end"] > QUARTER_START - LOOK_BACK)
    # A stable order by submission, so that job numbers rise as a real scheduler gives them out.
    order = np.flatnonzero(kept)[np.argsort(columns["submit"][kept], kind="stable")]
    return Schedule(**{name: column[order] for name, column in columns.items()})


def _schedule_of_model(seed: int, scale: float, place: int, nodes: list[Node]) -> Schedule:
    """Draw and place the jobs of one model."""
    requests = _draw_requests(stream(seed, place), max(1, round(MODELS[place].arrivals * scale)), MODELS[place].gpus)
    hosts = [index for index, node in enumerate(nodes) if node.model == place]
    host, start, mask = _place(requests, hosts, MODELS[place].gpus)
    end = start + requests.length
    # Nobody waits longer than this for a full pool in our fleet: such a job is taken as submitted later.
    submit = np.maximum(requests.submit, start - LONGEST_QUEUE + requests.wait)
    state = np.where(end > QUARTER_END, RUNNING, requests.state)
    model = np.full(len(host), place, dtype=np.int64)
    return Schedule(host, model, requests.project, requests.gpus, state, submit, start, end, mask)


def _draw_requests(random: np.random.Generator, count: int, largest: int) -> Requests:
    """Draw what the users of one pool of GPUs ask for."""
    project = draw(random, [entry.weight for entry in PROJECTS], count)
    gpus = np.minimum(_draw_sizes(random, project), largest)
    state = draw(random, STATE_WEIGHTS, count)
    factors = np.array([entry.length for entry in PROJECTS])[project] * np.where(gpus == 8, EIGHT_GPU_LENGTH, 1.0)
    length = (_quantiles(random.random(count), LENGTH_LEVELS, LENGTH_SECONDS) * factors).astype(np.int64)
    # A job that hit its time limit ran for whole hours.
    length = np.where(state == TIMEOUT, -(-length // 3_600) * 3_600, length)
    length = np.clip(length, 5, LONGEST_JOB)
    wait = _quantiles(random.random(count), WAIT_LEVELS, WAIT_SECONDS).astype(np.int64)
    return Requests(project, gpus, state, _draw_submissions(random, count), wait, length)


def _draw_sizes(random: np.random.Generator, project: IntegerArray) -> IntegerArray:
    """Draw the number of GPUs of each job from the sizes that its project uses."""
    borders = np.cumsum(np.array([entry.size_weights for entry in PROJECTS], dtype=np.int64), axis=1)[project]
    hits = random.integers(0, borders[:, -1])
    sizes: IntegerArray = SIZES[(hits[:, None] >= borders).sum(axis=1)]
    return sizes


def _draw_submissions(random: np.random.Generator, count: int) -> IntegerArray:
    """Draw sorted submission times with the rhythm of days and weeks."""
    hours = np.arange((WARM_UP + QUARTER_END - QUARTER_START) // 3_600)
    first_weekday = ((QUARTER_START - WARM_UP) // DAY + 3) % 7  # 1970-01-01 was a Thursday
    weights = HOUR_WEIGHTS[hours % 24] * WEEKDAY_WEIGHTS[(hours // 24 + first_weekday) % 7]
    seconds = draw(random, weights, count) * 3_600 + random.integers(0, 3_600, count)
    submissions: IntegerArray = np.sort(seconds) + (QUARTER_START - WARM_UP)
    return submissions


def _quantiles(
    levels: npt.NDArray[np.float64], known: npt.NDArray[np.float64], values: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Read off quantiles by straight lines; only + - * /, which round alike on every machine, unlike exp."""
    place = np.clip(np.searchsorted(known, levels, side="right") - 1, 0, len(known) - 2)
    share = (levels - known[place]) / (known[place + 1] - known[place])
    result: npt.NDArray[np.float64] = values[place] + share * (values[place + 1] - values[place])
    return result


def _place(requests: Requests, hosts: list[int], gpus: int) -> tuple[IntegerArray, IntegerArray, IntegerArray]:
    """Give each job a host, a start and GPUs, in the order of submission.

    For each host we keep (free from, GPU) sorted. As every job only moves these times forward, no GPU can be given
    out twice.
    """
    free = [[(QUARTER_START - WARM_UP, gpu) for gpu in range(gpus)] for _ in hosts]
    host_of, start_of, mask_of = [], [], []
    asked = zip(requests.submit.tolist(), requests.wait.tolist(), requests.gpus.tolist(), strict=True)
    for number, ((submit, wait, needed), length) in enumerate(zip(asked, requests.length.tolist(), strict=True)):
        ready = submit + wait
        chosen = _choose_host(free, ready, needed, number)
        entries = free[chosen]
        start = max(ready, entries[needed - 1][0] + 1 + wait % 20)
        available = bisect_right(entries, (start, gpus))
        taken = sorted(entry[1] for entry in entries[:available])[:needed]
        end = start + length
        free[chosen] = sorted([entry for entry in entries if entry[1] not in taken] + [(end, gpu) for gpu in taken])
        host_of.append(hosts[chosen])
        start_of.append(start)
        mask_of.append(sum(1 << gpu for gpu in taken))
    return np.array(host_of, dtype=np.int64), np.array(start_of, dtype=np.int64), np.array(mask_of, dtype=np.int64)


def _choose_host(free: list[list[tuple[int, int]]], ready: int, needed: int, number: int) -> int:
    """Choose the fullest host that can start the job at once, otherwise the one that can start it first.

    Filling hosts up keeps others whole for jobs that need all GPUs. The search begins at another host for each job so
    that the first host is not always the busiest.
    """
    best, best_left = -1, 1 << 30
    earliest, earliest_time = 0, 1 << 62
    count = len(free)
    for step in range(count):
        place = (number + step) % count
        time = free[place][needed - 1][0]
        if time < ready - 20:
            left = bisect_right(free[place], (ready, 1 << 30)) - needed
            if left < best_left:
                best, best_left = place, left
        elif time < earliest_time:
            earliest, earliest_time = place, time
    return best if best >= 0 else earliest
