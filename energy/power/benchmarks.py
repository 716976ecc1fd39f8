r"""Power of a node that runs a benchmark of MLPerf, from its description: training and inference.

Training: the states of its chips follow from the cost engine. With the time to train of one node \(T_1\) and of all
\(T_N\) (`energy.cost.mlperf`), a chip does for the share e = T_1 / (N T_N) what the chips of one node do; the rest it
waits, mostly in collectives. Loads while busy are the benchmark's FLOPs and bytes over time and peaks.

Inference: a chip stands between idle and the most that its board takes, at the activity of benchmark and scenario:

    p = p_idle + a (q p_full - p_idle),   q = 1, or the share that tuned (MaxQ) submissions keep

With one stream a query occupies one chip, with several up to eight. Coefficients by kind, chip, benchmark and scenario
are pooled (``power_node_activity.csv``, by ``scripts/fit_power_node.py``): none is of a row or a submitter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.cost.mlperf import EIGHT_BITS_FROM, FOUR_BITS_FROM, NARROW_PART, time_to_train
from energy.cost.mlperf_names import benchmark_name, benchmarks, part, round_year
from energy.errors import PowerError, did_you_mean
from energy.power.node import host_watts, plug_power
from energy.power.node_parts import NodeParts, term
from energy.power.states import Bands, States, state_power
from energy.power.submissions import Submission, accelerator, system_parts
from energy.power.supplies import loss_scale

Numbers = NDArray[np.float64]
SUITES = ("training", "inference")
MODES = ("default", "max_q")
SCENARIOS = ("offline", "server", "single_stream", "multi_stream")
#: Queries that are under way at once, by the rules of MLPerf Inference; the others fill all chips.
_STREAMS = {"single_stream": 1.0, "multi_stream": 8.0}
#: Share of a host's way from idle to full while a benchmark runs, and at rest.
HOST_BUSY, HOST_REST = 0.3, 0.0
ANY = "any"
#: Benchmarks with a target of 99.9 % of the reference accuracy need wider formats.
HIGH_ACCURACY = "high_accuracy"


def family(benchmark: str) -> str:
    """Return a benchmark without its accuracy target.

    Examples
    --------
    >>> family("bert-99.9"), family("resnet50")
    ('bert', 'resnet50')

    """
    return benchmark.casefold().removesuffix("-99.9").removesuffix("-99")


@cache
def coefficients() -> Mapping[tuple[str, str], float]:
    """Return the activity coefficients by kind and name.

    Examples
    --------
    >>> 0.3 < coefficients()["max_q", "any"] < 1.0
    True

    """
    return MappingProxyType(
        {(row.text("kind"), row.text("name")): row.number("value") for row in _tables.rows("power_node_activity")}
    )


#: Kinds of coefficients of inference that multiply, each with the names of a row from the widest to the narrowest.
KINDS = ("idle", "full", "max_q", "activity", "stream")


def names_of(one: Submission, parts: NodeParts) -> dict[str, tuple[str, ...]]:
    """Return the names of the coefficients of an inference row, from the widest to the narrowest.

    Coefficients of one kind multiply; a narrower one that is not known counts as 1.

    Examples
    --------
    >>> row = Submission("inference", "nvidia_h100_sxm", 8, "bert-99", "server", power_mode="max_q")
    >>> names_of(row, system_parts(row))["activity"]
    ('any', 'bert', 'bert|max_q', 'bert|nvidia', 'server')
    >>> names_of(row, system_parts(row))["stream"]
    ()

    """
    work, host = family(one.benchmark), parts.host_class
    narrow = () if one.power_mode == "default" else (f"{work}|{one.power_mode}",)
    maker = re.split(r"[_ ]", one.accelerator, maxsplit=1)[0]
    exact = (HIGH_ACCURACY, f"{HIGH_ACCURACY}|{maker}") if one.benchmark.endswith("-99.9") else ()
    narrow = (*narrow, *exact, f"{work}|{maker}", *((f"{work}|{host}",) if host == "embedded" else ()))
    streams = (one.scenario, f"{one.scenario}|{host}", f"{one.scenario}|{work}")
    return {
        "idle": (ANY, one.accelerator),
        "full": (ANY, one.accelerator),
        "max_q": () if one.power_mode == "default" else (ANY, one.accelerator),
        "activity": (ANY, work, *narrow, *((one.scenario,) if one.scenario == "server" else ())),
        "stream": streams if one.scenario in _STREAMS else (),
    }


def chip_watts(
    limit_w: Numbers, idle: Numbers, full: Numbers, kept: Numbers, activity: Numbers, occupied: Numbers
) -> Numbers:
    """Return the mean board watts of chips in inference, never above their limit or their measured most.

    Parameters
    ----------
    limit_w : array, W
        Maximum power.
    idle, full : array
        Watts at rest, and the most, over the limit.
    kept : array
        Share of the most that a tuned submission keeps; 1 otherwise.
    activity : array
        Share of the way from idle to the most.
    occupied : array
        Share of the chips that have work.

    Examples
    --------
    >>> one = np.ones(1)
    >>> float(chip_watts(100.0 * one, 0.1 * one, 0.9 * one, one, one, 0.5 * one)[0])
    50.0

    """
    rest = limit_w * idle
    busy = rest + activity * np.maximum(limit_w * full * kept - rest, 0.0)
    most = limit_w * np.maximum(full, 1.0)
    return np.asarray(rest + occupied * (np.minimum(busy, most) - rest))


def limit_of(one: Submission) -> float:
    """Return the maximum power of one of its chips in W: as it was set, else as usual.

    Examples
    --------
    >>> limit_of(Submission("inference", "nvidia_l4", 1, "bert-99"))
    72.0

    """
    return accelerator(one.accelerator).limit_w if one.power_limit_w is None else one.power_limit_w


def occupied_share(one: Submission) -> float:
    """Return the share of the chips that have work: all, or as many as there are streams.

    Examples
    --------
    >>> occupied_share(Submission("inference", "nvidia_t4", 16, "bert-99", "multi_stream"))
    0.5

    """
    return min(1.0, _STREAMS.get(one.scenario, np.inf) / one.chips_per_node)


class TrainingWork(NamedTuple):
    """What the chips of a training submission do, from the cost engine."""

    efficiency: float
    compute: float
    memory: float


@cache
def training_work(
    benchmark: str, accelerator_name: str, chips: int, chips_per_node: int, round_name: str
) -> TrainingWork:
    """Return scaling efficiency against one node, and the loads of a chip on one node, by the cost engine.

    Raises
    ------
    UnknownNameError
        The benchmark or the chip is not known.

    Examples
    --------
    >>> few, many = (training_work("llama2_70b_lora", "nvidia_h100_sxm", n, 8, "v4.0") for n in (8, 512))
    >>> few.efficiency, bool(0.1 < many.efficiency < 0.6)
    (1.0, True)

    """
    counts = [chips_per_node, chips]
    found = time_to_train(benchmark, accelerator_name, counts, round_name=round_name)
    year = round_year(round_name) if round_name else None
    row = benchmarks()[benchmark_name(benchmark, year)]
    one, dated = part(accelerator_name), row.number("last_year") if year is None else year
    bits, narrow = row.number("narrowest_bits"), one.peak16_flop_per_s
    if bits <= 8 and dated > EIGHT_BITS_FROM:
        narrow = max(narrow, one.peak8_flop_per_s)
    if bits <= 4 and dated > FOUR_BITS_FROM:
        narrow = max(narrow, one.peak4_flop_per_s)
    chip_s = float(found.time_min[0]) * 60.0 * chips_per_node
    samples = float(found.samples[0])
    ideal_s = row.number("flop_per_sample") * ((1.0 - NARROW_PART) / one.peak16_flop_per_s + NARROW_PART / narrow)
    moved_s = row.number("bytes_per_sample") / one.bandwidth_bytes_per_s
    efficiency = float(found.time_min[0] * chips_per_node / (found.time_min[1] * chips))
    return TrainingWork(
        min(efficiency, 1.0), min(samples * ideal_s / chip_s, 1.0), min(samples * moved_s / chip_s, 1.0)
    )


def training_states(work: TrainingWork, waiting: float) -> States:
    """Return the states of a chip in a training benchmark.

    Parameters
    ----------
    work : TrainingWork
        Of `training_work`.
    waiting : float, 0 to 1
        Share of the time without work that passes in collectives; in the rest no kernel runs.

    Examples
    --------
    >>> states = training_states(TrainingWork(0.6, 0.4, 0.3), 0.75)
    >>> float(states.busy), round(float(states.communication), 9), round(float(states.stall), 9)
    (0.6, 0.3, 0.1)

    """
    rest = 1.0 - work.efficiency
    return States(
        busy=work.efficiency,
        communication=rest * waiting,
        stall=rest * (1.0 - waiting),
        compute=work.compute,
        memory=work.memory,
    )


@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkPower:
    """Watts of one node at its plug while a benchmark runs, behind its supplies, of a chip, and both bands."""

    power_it_w: Numbers
    power_dc_chip_w: Numbers
    power_chip_w: Numbers
    power_it_low80_w: Numbers
    power_it_high80_w: Numbers
    power_it_low_w: Numbers
    power_it_high_w: Numbers
    status: str


def benchmark_power(rows: Sequence[Submission]) -> BenchmarkPower:
    """Return the power of nodes that run benchmarks; arrays of one entry for each submission.

    Parameters
    ----------
    rows : sequence of Submission
        Training and inference may be mixed.

    Raises
    ------
    UnknownNameError
        A name is not known; the message gives the nearest.
    PowerError
        A row is of no known suite, mode or scenario, or a maximum power is not known.

    Examples
    --------
    >>> rows = [Submission("inference", "nvidia_h200_sxm", 8, "llama2-70b-99", "offline", power_mode=mode)
    ...         for mode in ("default", "max_q")]
    >>> found = benchmark_power(rows)
    >>> bool(found.power_it_w[0] > found.power_it_w[1] > 2500)
    True

    """
    for one in rows:
        _known(one)
    parts = [system_parts(one) for one in rows]
    chips = np.array([_chip_w(one, node) for one, node in zip(rows, parts, strict=True)])
    plug, dc = plug_watts(parts, chips, HOST_BUSY)
    bands = [_bands(band_level(one, node)) for one, node in zip(rows, parts, strict=True)]
    low80, high80, low, high = (
        plug * np.exp(sign * np.array([getattr(one, name) for one in bands]))
        for sign, name in ((-1, "ln80"), (1, "ln80"), (-1, "ln95"), (1, "ln95"))
    )
    return BenchmarkPower(plug, dc, chips, low80, high80, low, high, "estimate")


def _known(one: Submission) -> None:
    for what, value, names in (
        ("suite", one.suite, SUITES),
        ("power mode", one.power_mode, MODES),
        ("scenario", one.scenario, SCENARIOS if one.suite == "inference" else ("train", "offline")),
    ):
        if value not in names:
            raise PowerError(f"The {what} {value!r} is not known: {', '.join(names)}.{did_you_mean(value, names)}")


def plug_watts(parts: Sequence[NodeParts], power_chip_w: Numbers, host_load: float) -> tuple[Numbers, Numbers]:
    """Return watts at the plug and behind the supplies of several nodes, one mean board power each.

    Examples
    --------
    >>> from energy.power.node_parts import usual_parts
    >>> plug, dc = plug_watts([usual_parts("nvidia_h100_sxm5_80", 8)], np.array([600.0]), 0.3)
    >>> bool(plug[0] > dc[0] > 4800)
    True

    """
    count = np.array([one.chip_count for one in parts], dtype=np.float64)
    host = np.array([float(host_watts(one, host_load).total_chip_w) for one in parts])
    fan = np.array([term(f"fan_share_{one.cooling}").value for one in parts])
    rated = np.array([one.rated_w for one in parts])
    scale = loss_scale([one.supply_efficiency for one in parts])
    dc = (count * power_chip_w + host) * (1.0 + fan)
    return np.asarray(plug_power.kernel(power_chip_w, count, host, fan, rated, scale)), np.asarray(dc)


def _chip_w(one: Submission, parts: NodeParts) -> float:
    if one.suite == "training":
        work = training_work(
            one.benchmark, one.accelerator, one.nodes * one.chips_per_node, one.chips_per_node, one.round_name
        )
        return float(state_power(parts.chip_id, training_states(work, coefficients()["waiting", ANY])).power_chip_w)
    known = coefficients()
    value = {
        kind: float(np.prod([known.get((kind, name), 1.0) for name in names])) if names else 1.0
        for kind, names in names_of(one, parts).items()
    }
    limit = np.array(limit_of(one))
    idle, full, kept = (np.array(value[kind]) for kind in ("idle", "full", "max_q"))
    activity = np.array(value["activity"] * value["stream"])
    return float(chip_watts(limit, idle, full, kept, activity, np.array(occupied_share(one))))


#: Classes of hosts whose errors are told together.
BAND_GROUPS = {
    "platform": "platform",
    "half_platform": "platform",
    "server": "server",
    "server_large": "server",
}


def band_level(one: Submission, parts: NodeParts) -> str:
    """Return the level of the bands: training, or the group of hosts, or chip where nobody measured the chip.

    Examples
    --------
    >>> row = Submission("inference", "nvidia_h100_sxm", 8, "bert-99")
    >>> band_level(row, system_parts(row))
    'platform'

    """
    if one.suite == "inference" and ("full", one.accelerator) not in coefficients():
        return "chip"
    return measured_level(one, parts)


def measured_level(one: Submission, parts: NodeParts) -> str:
    """Return the level of the bands of a chip that was measured."""
    if one.suite == "training":
        return "training"
    return BAND_GROUPS.get(parts.host_class, "small")


def _bands(level: str) -> Bands:
    for row in _tables.rows("power_node_bands"):
        if row.text("level") == level:
            return Bands(row.number("band80_ln"), row.number("band95_ln"))
    raise PowerError(f"power_node_bands.csv has no row {level}: run scripts/fit_power_node.py.")
