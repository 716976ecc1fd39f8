"""Suite ``node-power``: watts of a node at its plug, in training, in inference, and at rest.

Rows are results of MLPerf that measured power; watts of training are AC but for rows that say DC, which are compared
with the watts behind the supplies. Beside such a file, single published points (``node_power_points.csv``) are read
too; none of them took part in the fit, though several restate a row that did.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from energy.cost.mlperf_names import benchmarks
from energy.errors import EnergyError, PowerError
from energy.power.benchmarks import BenchmarkPower, benchmark_power
from energy.power.node import NodePower
from energy.power.node import node_power as power_of_node
from energy.power.states import States, state_power
from energy.power.submissions import Submission, accelerator, system_parts
from energy.validation.statistics import Compared, Failure, Outcome, each_row, read_rows
from energy.validation.training_rows import Row, number, words
from energy.validation.watts import compared_w

NEEDED = (
    *("suite", "accelerator", "accelerators_per_node", "nodes", "host_cpu", "cooling", "power_mode", "benchmark"),
    *("scenario", "measured_at", "average_node_power_w"),
)
POINTS_FILE = "node_power_points.csv"
NEEDED_POINTS = ("device", "item", "scope", "state", "power_w", "cooling")
#: What a chip does in training of which nothing is said, and at its most.
TYPICAL = States(busy=0.95, communication=0.05, compute=0.4, memory=0.3)
FULL = States(busy=1.0, compute=0.8, memory=0.5)
_LIMIT = re.compile(r"_(\d+)w\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One row: what was submitted, the watts of a node where they are printed, and whose it is."""

    row_id: str
    submission: Submission
    power_w: float | None
    low_power_w: float | None
    is_dc: bool
    submitter: str
    system: str


def measured_rows(path: Path) -> list[MeasuredRow]:
    """Return the rows of a file with the columns of mlperf_power.csv.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    return [_measured(row, place) for place, row in enumerate(read_rows(path, NEEDED))]


def _limit_w(system: str) -> float | None:
    """Return the board limit that the name of a system states: aedk_15w is set to 15 W."""
    found = _LIMIT.search(system)
    return None if found is None else float(found[1])


def _row_id(place: int) -> str:
    return f"line {place + 2}"


def _measured(row: Row, place: int) -> MeasuredRow:
    mode = "max_q" if words(row, "power_mode").startswith("max_q") else words(row, "power_mode")
    return MeasuredRow(
        _row_id(place),
        Submission(
            suite=words(row, "suite"),
            accelerator=words(row, "accelerator"),
            chips_per_node=int(number(row, "accelerators_per_node") or 0),
            benchmark=words(row, "benchmark"),
            scenario=words(row, "scenario"),
            nodes=int(number(row, "nodes") or 0),
            host_cpu=words(row, "host_cpu"),
            cooling=words(row, "cooling"),
            power_mode=mode,
            round_name=words(row, "round"),
            power_limit_w=_limit_w(words(row, "system")),
        ),
        number(row, "average_node_power_w"),
        number(row, "low_power_w"),
        words(row, "measured_at").startswith("DC"),
        words(row, "submitter"),
        words(row, "system"),
    )


def result_rows(path: Path) -> tuple[list[Compared], list[Failure]]:
    """Return rows of a file with the columns of mlperf_power.csv, predicted against measured."""
    compared: list[Compared] = []
    failures: list[Failure] = []
    for place, cells in enumerate(read_rows(path, NEEDED)):
        try:
            row = _measured(cells, place)
            if row.power_w is None or not row.power_w > 0.0:
                raise PowerError("The row prints no mean power of a node.")
            compared.append(_compared(row, benchmark_power([row.submission]), row.power_w))
        except EnergyError as error:
            failures.append(Failure(_row_id(place), str(error)))
    return compared, failures


def _compared(row: MeasuredRow, found: BenchmarkPower, measured_w: float) -> Compared:
    one = row.submission
    plug = float(found.power_it_w[0])
    predicted = float(found.power_dc_chip_w[0]) if row.is_dc else plug
    edges = (found.power_it_low80_w, found.power_it_high80_w, found.power_it_low_w, found.power_it_high_w)
    low80, high80, low, high = (float(edge[0]) * predicted / plug for edge in edges)
    groups = (
        ("kind", one.suite),
        ("submitter", f"{one.suite}: {row.submitter}"),
        ("power_mode", f"{one.suite}: {one.power_mode}"),
        ("chip", accelerator(one.accelerator).chip_id or one.accelerator),
        ("host", system_parts(one).host_class),
        ("scenario", one.scenario),
    )
    found_row = compared_w(row.row_id, measured_w, predicted, (low80, high80, low, high), groups)
    return replace(found_row, quantity="power_dc_chip_w" if row.is_dc else "power_it_w")


def point_rows(path: Path) -> tuple[list[Compared], list[Failure]]:
    """Return single points of a file with the columns of node_power_points.csv, predicted against measured."""
    return each_row(read_rows(path, NEEDED_POINTS), _point, where=f"{path.name} ")


def _point(row: Row, row_id: str) -> Compared:
    state, measured = words(row, "state"), number(row, "power_w")
    if not words(row, "scope").startswith("node"):
        raise PowerError(f"{words(row, 'scope')} is not the plug of a node: another boundary, or no node.")
    if "rating" in state:
        raise PowerError("A rating, not a measurement.")
    if measured is None or not measured > 0.0:
        raise PowerError("The row prints no power_w above zero.")
    chips = re.search(r"(\d+)-GPU", words(row, "item"))
    if chips is None:
        raise PowerError("The row does not say how many chips the node has.")
    base = Submission("training", words(row, "device"), int(chips[1]), "", cooling=words(row, "cooling"))
    kind, watts = _of_state(base, state, words(row, "source"))
    groups = (("kind", f"point: {kind}"), ("chip", accelerator(base.accelerator).chip_id))
    return replace(compared_w(row_id, measured, watts[0], watts[1:], groups, state), quantity="power_it_w")


def _of_state(base: Submission, state: str, source: str) -> tuple[str, tuple[float, float, float, float, float]]:
    """Return the kind of a point, and watts with low and high of 80 % and of 95 %."""
    if "idle" in state:
        return "idle", _node_edges(base, States(idle=1.0), 0.0)
    if state.startswith("inference "):
        benchmark, scenario = state.removeprefix("inference ").split(" ")
        return "inference", _benchmark_edges([replace(base, suite="inference", benchmark=benchmark, scenario=scenario)])
    many = re.search(r"on (\d+) nodes", state)
    dated = re.search(r"MLPerf Training (v\d+\.\d+)", source)
    named = [name for name in re.findall(r"\w+", state) if name in {*benchmarks(), "ssd"}]
    if named:
        nodes, round_name = int(many[1]) if many else 1, dated[1] if dated else ""
        rows = [replace(base, benchmark=name, nodes=nodes, round_name=round_name, scenario="train") for name in named]
        return "training", _benchmark_edges(rows)
    return "training", _node_edges(base, FULL if "maximum" in state else TYPICAL, 0.3)


def _node_edges(base: Submission, states: States, host_load: float) -> tuple[float, float, float, float, float]:
    chip = accelerator(base.accelerator).chip_id
    found: NodePower = power_of_node(system_parts(base), state_power(chip, states), host_load=host_load)
    return (
        float(found.power_it_w),
        float(found.power_it_low80_w),
        float(found.power_it_high80_w),
        float(found.power_it_low_w),
        float(found.power_it_high_w),
    )


def _benchmark_edges(rows: list[Submission]) -> tuple[float, float, float, float, float]:
    found = benchmark_power(rows)
    return (
        float(np.mean(found.power_it_w)),
        float(np.mean(found.power_it_low80_w)),
        float(np.mean(found.power_it_high80_w)),
        float(np.mean(found.power_it_low_w)),
        float(np.mean(found.power_it_high_w)),
    )


def node_power(path: Path) -> Outcome:
    """Return predicted against measured power of nodes, of a file of results or of points, by its columns.

    Raises
    ------
    InputFileError
        When the file cannot be read, or has the columns of neither.
    """
    if {"scope", "state"} <= set(read_rows(path, ())[0]):
        compared, failures = point_rows(path)
        return Outcome("node-power", path.name, tuple(compared), tuple(failures))
    compared, failures = result_rows(path)
    points = path.with_name(POINTS_FILE)
    if points.is_file():
        more, without = point_rows(points)
        compared, failures = compared + more, failures + without
    return Outcome("node-power", path.name, tuple(compared), tuple(failures))
