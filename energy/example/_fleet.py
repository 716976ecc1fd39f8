"""What the example fleet consists of: models, nodes, projects and the calendar. All of it is synthetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntegerArray: TypeAlias = npt.NDArray[np.int64]

DAY = 86_400
QUARTER_START = 1_767_225_600  # 2026-01-01T00:00:00Z
QUARTER_END = 1_775_001_600  # 2026-04-01T00:00:00Z
WEEK_START = QUARTER_START + 4 * DAY  # Monday 2026-01-05
WEEK_END = WEEK_START + 7 * DAY
SAMPLE_SECONDS = 60
SAMPLES = (WEEK_END - WEEK_START) // SAMPLE_SECONDS


@dataclass(frozen=True)
class Model:
    """One GPU model of the fleet; powers in tenths of a watt so that all arithmetic is on integers."""

    name: str
    prefix: str
    nodes: int
    gpus: int
    arrivals: int
    idle: int
    limit: int


@dataclass(frozen=True)
class Project:
    """One project: how many jobs, of which sizes, how long, and how hard they drive a GPU (in thousandths)."""

    name: str
    job_type: str
    weight: int
    size_weights: tuple[int, int, int, int]
    length: float
    lowest_level: int
    highest_level: int


@dataclass(frozen=True)
class Node:
    """One host of the fleet."""

    host: str
    model: int
    gpus: int
    site: str


@dataclass(frozen=True)
class Gap:
    """Samples that the monitoring lost; ``gpu`` is None when the whole host is missing."""

    host: str
    gpu: int | None
    start: int
    end: int


# `arrivals` includes the days before the quarter that fill the machines; most of those jobs are dropped again.
MODELS = (
    Model("NVIDIA H100 80GB HBM3", "h100", 24, 8, 26_650, 700, 7_000),
    Model("NVIDIA A100-SXM4-80GB", "a100", 16, 8, 17_950, 620, 4_000),
    Model("NVIDIA B200", "b200", 6, 8, 6_640, 1_400, 10_000),
    Model("AMD Instinct MI300X", "mi300x", 4, 8, 4_430, 1_400, 7_500),
    Model("Tesla P100-PCIE-16GB", "p100", 8, 4, 8_450, 300, 2_500),
)

PROJECTS = (
    Project("bio", "Bio", 102, (61, 12, 14, 13), 0.70, 450, 850),
    Project("llm-eval", "Eval", 340, (65, 12, 13, 10), 0.28, 350, 800),
    Project("llm-pretrain", "Pretrain", 80, (46, 10, 17, 27), 2.40, 780, 960),
    Project("recsys", "Recsys", 80, (61, 12, 14, 13), 0.75, 350, 700),
    Project("robotics", "Robotics", 60, (62, 13, 13, 12), 0.75, 300, 750),
    Project("shared-notebooks", "Notebooks", 98, (74, 12, 7, 7), 1.60, 60, 260),
    Project("speech", "Speech", 80, (60, 13, 14, 13), 0.75, 500, 850),
    Project("vision", "Vision", 160, (60, 12, 14, 14), 0.72, 600, 900),
)
NOTEBOOKS = 5
PRETRAIN = 2

# A whole host goes silent in one night, and one GPU of another host in one evening.
GAPS = (
    Gap("a100-001", None, WEEK_START + DAY + 7_800, WEEK_START + DAY + 16_800),
    Gap("h100-001", 3, WEEK_START + 2 * DAY + 68_700, WEEK_START + 2 * DAY + 71_100),
)


def nodes_of(scale: float) -> list[Node]:
    """Return the hosts of a fleet scaled by ``scale``; each model keeps at least one.

    Parameters
    ----------
    scale : float
        1.0 gives the whole fleet of 58 nodes.

    Returns
    -------
    list of Node
        In the order of ``MODELS``.

    Examples
    --------
    >>> len(nodes_of(1.0)), sum(node.gpus for node in nodes_of(1.0))
    (58, 432)

    """
    return [
        Node(f"{model.prefix}-{index + 1:03d}", place, model.gpus, "site-b" if index % 3 == 0 else "site-a")
        for place, model in enumerate(MODELS)
        for index in range(max(1, round(model.nodes * scale)))
    ]


def stream(seed: int, part: int) -> np.random.Generator:
    """Return the random numbers of one part, so that a change of one part leaves the others as they were.

    Parameters
    ----------
    seed : int
        The seed of the whole example.
    part : int
        The number of the part.

    Returns
    -------
    numpy.random.Generator
        Always PCG64, which gives the same numbers on every machine.

    Examples
    --------
    >>> bool(stream(1, 0).integers(1000) == stream(1, 0).integers(1000))
    True

    """
    return np.random.Generator(np.random.PCG64([seed, part]))


def draw(random: np.random.Generator, weights: Any, count: int) -> IntegerArray:
    """Draw ``count`` places with integer weights; integers only, so that no machine rounds differently.

    Parameters
    ----------
    random : numpy.random.Generator
        Where the numbers come from.
    weights : array_like of int
        One weight for each place.
    count : int
        How many draws.

    Returns
    -------
    numpy.ndarray of int64
        Places from 0 to ``len(weights) - 1``.

    Examples
    --------
    >>> draw(stream(1, 0), [0, 1, 0], 3).tolist()
    [1, 1, 1]

    """
    borders = np.cumsum(np.asarray(weights, dtype=np.int64))
    return np.searchsorted(borders, random.integers(0, borders[-1], count), side="right").astype(np.int64)
