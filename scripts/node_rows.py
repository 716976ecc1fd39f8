"""Rows of node power as arrays: what is fitted, and the watts that parameters give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import node_priors
import numpy as np
from numpy.typing import NDArray

from energy.power import benchmarks, submissions
from energy.power.benchmarks import HOST_BUSY, HOST_REST, KINDS
from energy.power.node import HostWatts, host_watts, plug_power
from energy.power.node_parts import NodeParts, term
from energy.power.states import state_power
from energy.power.submissions import Submission
from energy.power.supplies import loss_scale
from energy.validation.node_power import MeasuredRow, measured_rows

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
FANS = ("air", "liquid")
WAITING = (0.7, 2.0)


@dataclass
class Parameters:
    """Parameters by kind and name: logarithms to start at, the pull that holds them there, and how often used."""

    names: dict[tuple[str, str], int] = field(default_factory=dict)
    start: list[float] = field(default_factory=list)
    pull: list[float] = field(default_factory=list)
    uses: dict[tuple[str, str], int] = field(default_factory=dict)

    def place(self, kind: str, name: str, value: float, weight: float) -> int:
        """Return the place of a parameter, which is new the first time."""
        key = (kind, name)
        self.uses[key] = self.uses.get(key, 0) + 1
        if key not in self.names:
            self.names[key] = len(self.start)
            self.start.append(float(np.log(value)))
            self.pull.append(weight)
        return self.names[key]


@dataclass(frozen=True)
class Measured:
    """One measured row: at the plug (ac), behind the supplies (dc), or the least power of a system (idle)."""

    submission: Submission
    watts: float
    at: str
    submitter: str
    system: str


def gather(shared: Path) -> list[Measured]:
    """Return the rows that print watts, and for each system in inference the least of its low powers as idle."""
    found = measured_rows(shared / "validation/mlperf_power.csv")
    rows = [_measured(one, one.power_w, "dc" if one.is_dc else "ac") for one in found if one.power_w is not None]
    least: dict[tuple[str, str], MeasuredRow] = {}
    for one in found:
        key = (one.system, one.submitter)
        if not one.low_power_w or one.submission.suite != "inference":
            continue
        if key not in least or one.low_power_w < (least[key].low_power_w or 0.0):
            least[key] = one
    return rows + [_measured(one, one.low_power_w, "idle") for one in least.values() if one.low_power_w]


def _measured(one: MeasuredRow, watts: float, at: str) -> Measured:
    return Measured(one.submission, watts, at, one.submitter, f"{one.submitter} {one.system}")


@dataclass
class RowPlaces:
    """Where the parameters of each row stand; -1: none."""

    activity: dict[str, Places]
    host: Places
    fan: Places
    supply: Places
    tier: Places
    waiting: int
    rest: int


class Rows:
    """Measured rows as arrays, the parameters by name, and the watts that they give."""

    def __init__(self, rows: Sequence[Measured]) -> None:
        self.parts = [submissions.system_parts(one.submission) for one in rows]
        both = list(zip(rows, self.parts, strict=True))
        self.ln_watts = np.log([one.watts for one in rows])
        self.at = np.array([one.at for one in rows])
        self.suite = np.array([one.submission.suite for one in rows])
        self.submitter = np.array([one.submitter for one in rows])
        self.system = np.array([one.system for one in rows])
        self.chip = np.array([one.submission.accelerator for one in rows])
        self.level = np.array([benchmarks.measured_level(one.submission, node) for one, node in both])
        self.host_class = np.array([node.host_class for node in self.parts])
        self.parameters = Parameters()
        self.places = _places(both, self.parameters)
        self._load(both)

    def _load(self, both: Sequence[tuple[Measured, NodeParts]]) -> None:
        """Keep what does not depend on parameters."""
        self._limit = np.array([benchmarks.limit_of(one.submission) for one, _ in both])
        idle = self.at == "idle"
        occupied = np.array([benchmarks.occupied_share(one.submission) for one, _ in both])
        self._occupied = np.where(idle, 0.0, occupied)
        self._count = np.array([float(node.chip_count) for _, node in both])
        around = [_around(one, node) for one, node in both]
        self._processors = np.array([float(one.processors_chip_w) for one in around])
        self._others = np.array([float(one.total_chip_w) for one in around]) - self._processors
        self._rest = np.where(idle, term("host_rest_fraction").value, 1.0)
        self._rated = np.array([node.rated_w for _, node in both])
        self._scale = loss_scale([node.supply_efficiency for _, node in both])
        waits = [_waiting_w(one.submission, node) for one, node in both]
        self._stalled, self._collective = (np.array(values) for values in zip(*waits, strict=True))
        host = self._others + self._processors
        self.host_share = host / (host + node_priors.ACTIVITY["idle", "any"][0] * self._limit * self._count)

    def ln_of(self, theta: Floats) -> Floats:
        """Return the logarithms of watts, where each row was measured."""
        factor = np.exp(np.append(theta, 0.0))  # place -1: a factor of one
        at, idle = self.places, self.at == "idle"
        value = {kind: np.prod(factor[places], axis=1) for kind, places in at.activity.items()}
        activity = value["activity"] * value["stream"]
        inference = benchmarks.chip_watts(
            self._limit, value["idle"], value["full"], value["max_q"], activity, self._occupied
        )
        waiting = min(factor[at.waiting], 1.0)
        training = self._stalled + waiting * (self._collective - self._stalled)
        chip = np.where(self.suite == "training", training, inference)
        fan = np.where(at.fan >= 0, factor[at.fan], 0.0)
        awake = np.where(idle, factor[at.rest] / self._rest, 1.0)
        around = (self._others * awake + self._processors * factor[at.tier]) * factor[at.host]
        scale = self._scale * factor[at.supply]
        plug = plug_power.kernel(chip, self._count, around, fan, self._rated, scale)
        behind = (self._count * chip + around) * (1.0 + fan)
        return np.asarray(np.log(np.where(self.at == "dc", behind, plug)))


def _places(both: Sequence[tuple[Measured, NodeParts]], parameters: Parameters) -> RowPlaces:
    place = parameters.place
    wanted: dict[str, list[list[int]]] = {kind: [] for kind in KINDS}
    for one, node in both:
        for kind, own in benchmarks.names_of(one.submission, node).items():
            used = (
                []
                if one.submission.suite == "training"
                else [name for name in own if (kind, name) != ("activity", "any")]
            )
            wanted[kind].append([place(kind, name, *_prior(kind, name)) for name in used])
    return RowPlaces(
        {kind: _padded(lists) for kind, lists in wanted.items()},
        np.array([place("host", node.host_class, 1.0, 0.5) for _, node in both]),
        np.array([_fan_at(node, parameters) for _, node in both]),
        np.array([place("supply", node.host_class, 1.0, 5.0) for _, node in both]),
        np.array([_tier_at(one.submission, node, parameters) for one, node in both]),
        place("waiting", "any", *WAITING),
        place("rest", "any", term("host_rest_fraction").value, 5.0),
    )


def _fan_at(node: NodeParts, parameters: Parameters) -> int:
    if node.cooling not in FANS:
        return -1
    return parameters.place("fan", node.cooling, term(f"fan_share_{node.cooling}").value, 10.0)


def _tier_at(one: Submission, node: NodeParts, parameters: Parameters) -> int:
    named = submissions.processor(one.host_cpu) if node.host_class in submissions.NAMED_PROCESSOR else None
    return parameters.place("tier", named.tier, 1.0, 1.0) if named is not None and named.tier else -1


def _prior(kind: str, name: str) -> tuple[float, float]:
    if kind == "full" and name != benchmarks.ANY and not submissions.accelerator(name).chip_id:
        return 1.0, node_priors.UNKNOWN_FULL
    return node_priors.ACTIVITY.get((kind, name), (1.0, node_priors.NARROWER[kind]))


def _padded(lists: Sequence[Sequence[int]]) -> Places:
    width = max(1, *(len(one) for one in lists))
    return np.array([[*one, *[-1] * (width - len(one))] for one in lists], dtype=np.intp)


def _around(one: Measured, node: NodeParts) -> HostWatts:
    return host_watts(node, HOST_REST if one.at == "idle" else HOST_BUSY)


def _waiting_w(one: Submission, node: NodeParts) -> tuple[float, float]:
    """Return the watts of a chip in training if it never, and if it always, waits in collectives while it waits."""
    if one.suite != "training":
        return 0.0, 0.0
    chips = one.nodes * one.chips_per_node
    work = benchmarks.training_work(one.benchmark, one.accelerator, chips, one.chips_per_node, one.round_name)
    none, all_of_it = (
        float(state_power(node.chip_id, benchmarks.training_states(work, share)).power_chip_w) for share in (0.0, 1.0)
    )
    return none, all_of_it
