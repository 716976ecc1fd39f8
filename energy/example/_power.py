"""The one-minute GPU power of five nodes in the example week. All synthetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy.example._fleet import (
    GAPS,
    MODELS,
    NOTEBOOKS,
    PRETRAIN,
    PROJECTS,
    SAMPLE_SECONDS,
    SAMPLES,
    WEEK_END,
    WEEK_START,
    IntegerArray,
    Node,
    stream,
)
from energy.example._schedule import Schedule

POWER_STREAM = 100
KNOT = 15  # minutes between two knots of the slow variation


@dataclass(frozen=True)
class Series:
    """Power of every GPU of the metered nodes: arrays of shape (GPUs, samples), power in tenths of a watt."""

    host: list[str]
    gpu: list[int]
    power: IntegerArray
    utilisation: IntegerArray
    present: npt.NDArray[np.bool_]


def metered_nodes(nodes: list[Node]) -> list[int]:
    """Return the places of the metered nodes: the first of each model, by name of the host.

    Parameters
    ----------
    nodes : list of Node
        The hosts of the fleet.

    Returns
    -------
    list of int
        Places in ``nodes``.

    Examples
    --------
    >>> from energy.example._fleet import nodes_of
    >>> [nodes_of(1.0)[place].host for place in metered_nodes(nodes_of(1.0))]
    ['a100-001', 'b200-001', 'h100-001', 'mi300x-001', 'p100-001']

    """
    return sorted(
        (place for place, node in enumerate(nodes) if node.host.endswith("-001")), key=lambda i: nodes[i].host
    )


def jobs_in_week(schedule: Schedule, metered: list[int]) -> IntegerArray:
    """Return the places of the jobs that ran on a metered node in the week, by host and start.

    Parameters
    ----------
    schedule : Schedule
        All jobs.
    metered : list of int
        Places of the metered nodes.

    Returns
    -------
    numpy.ndarray of int64
        Places in ``schedule``.

    Examples
    --------
    >>> from energy.example._fleet import nodes_of
    >>> from energy.example._schedule import make_schedule
    >>> len(jobs_in_week(make_schedule(1, 0.01, nodes_of(0.01)), []))
    0

    """
    parts = []
    for place in metered:
        inside = (schedule.host == place) & (schedule.start < WEEK_END) & (schedule.end > WEEK_START)
        hits = np.flatnonzero(inside)
        parts.append(hits[np.argsort(schedule.start[hits], kind="stable")])
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def make_series(seed: int, schedule: Schedule, nodes: list[Node], gaps: bool) -> Series:
    """Draw the power of every GPU of the metered nodes.

    Parameters
    ----------
    seed : int
        Same seed, same series.
    schedule : Schedule
        All jobs.
    nodes : list of Node
        The hosts of the fleet.
    gaps : bool
        Whether some samples are missing.

    Returns
    -------
    Series
        With ``present`` false where a sample is missing.

    Examples
    --------
    >>> from energy.example._fleet import nodes_of
    >>> from energy.example._schedule import make_schedule
    >>> nodes = nodes_of(0.01)
    >>> make_series(1, make_schedule(1, 0.01, nodes), nodes, gaps=False).power.shape
    (36, 10080)

    """
    random = stream(seed, POWER_STREAM)
    metered = metered_nodes(nodes)
    host = [nodes[place].host for place in metered for _ in range(nodes[place].gpus)]
    gpu = [index for place in metered for index in range(nodes[place].gpus)]
    idle = np.array([MODELS[nodes[place].model].idle for place in metered for _ in range(nodes[place].gpus)])
    power = idle[:, None] + random.integers(-4, 5, (len(host), SAMPLES))
    utilisation = np.zeros((len(host), SAMPLES), dtype=np.int64)
    first_row = {place: host.index(nodes[place].host) for place in metered}
    for job in jobs_in_week(schedule, metered).tolist():
        model = MODELS[int(schedule.model[job])]
        # Sample times t with start <= t < end, even when the job began before the week.
        first = -(-(int(schedule.start[job]) - WEEK_START) // SAMPLE_SECONDS)
        last = -(-(int(schedule.end[job]) - WEEK_START) // SAMPLE_SECONDS)
        bits = int(schedule.gpu_mask[job])
        rows = first_row[int(schedule.host[job])] + np.flatnonzero([bits >> n & 1 for n in range(model.gpus)])
        levels = _levels(random, int(schedule.project[job]), len(rows), last - first)
        low, high = max(0, first), min(SAMPLES, last)
        levels = levels[:, low - first : high - first]
        power[rows, low:high] += (model.limit - model.idle) * levels // 1_000
        # Utilisation says how often a kernel runs, so it fills up before power does.
        utilisation[rows, low:high] = np.minimum(100, levels * 13 // 100)
    return Series(host, gpu, power, utilisation, _present(host, gpu, gaps))


def _levels(random: np.random.Generator, project: int, gpus: int, count: int) -> IntegerArray:
    """Draw how hard a job drives its GPUs, in thousandths of the way from idle to the power limit."""
    entry = PROJECTS[project]
    base = int(random.integers(entry.lowest_level, entry.highest_level + 1))
    knots = base + random.integers(-60, 61, count // KNOT + 2)
    if project == NOTEBOOKS:
        # A notebook holds its GPU while its user thinks.
        knots = np.where(random.integers(0, 100, len(knots)) < 35, knots, 12)
    minute = np.arange(count)
    before, share = minute // KNOT, minute % KNOT
    slow = (knots[before] * (KNOT - share) + knots[before + 1] * share) // KNOT
    # Loading data before the first step, and writing a checkpoint every 45 minutes.
    slow = np.where(minute < 2, slow * 3 // 10, slow)
    if project == PRETRAIN:
        slow = np.where(minute % 45 == 44, slow * 45 // 100, slow)
    offset = random.integers(-15, 16, (gpus, 1))
    noise = random.integers(-12, 13, (gpus, count))
    result: IntegerArray = np.clip(slow[None, :] + offset + noise, 0, 1_040)
    return result


def _present(host: list[str], gpu: list[int], gaps: bool) -> npt.NDArray[np.bool_]:
    """Return which samples the monitoring kept."""
    present = np.ones((len(host), SAMPLES), dtype=np.bool_)
    for gap in GAPS if gaps else ():
        rows = [row for row, name in enumerate(host) if name == gap.host and gap.gpu in (None, gpu[row])]
        low, high = (gap.start - WEEK_START) // SAMPLE_SECONDS, (gap.end - WEEK_START) // SAMPLE_SECONDS
        present[rows, low:high] = False
    return present
