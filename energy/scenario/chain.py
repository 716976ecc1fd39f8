"""The whole chain of a scenario for many rows at once: cost, power, node, site, purchase, emissions, water, money.

Rows differ in numbers (:data:`VARIED`); everything else is one scenario's. The figures are those of
:func:`energy.scenario.training.training_run`, row by row, as columns; rows that cannot run have a reason instead.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy.cost.estimates import Figure
from energy.cost.money import with_interruptions
from energy.cost.requests import Request, clock_of
from energy.cost.rows import Answers, answers
from energy.power.boards import board_parts, is_at_plug
from energy.power.node import node_overheads
from energy.power.profile import profile_power
from energy.power.training import usual_node
from energy.scenario.columns import Column
from energy.scenario.costing import Elapsed, elapsed_of, money_of
from energy.scenario.site_rows import site_columns
from energy.scenario.specification import Prices, Scenario, Site
from energy.scenario.training import overhead_given, request_of

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Sizes of the engine: key of the scenario -> field of the request.
SIZES = {
    "system.chips": "chips",
    "work.sequence_length": "sequence_length",
    "work.global_batch": "global_batch_size",
    "work.expert_imbalance": "expert_imbalance",
    "software.micro_batch": "micro_batch_size",
    "software.tensor_parallel": "tensor_parallel_size",
    "software.pipeline_parallel": "pipeline_parallel_size",
    "software.virtual_stages": "virtual_stages",
    "software.data_parallel": "data_parallel_size",
    "software.context_parallel": "context_parallel_size",
    "software.expert_parallel": "expert_parallel_size",
}
#: Keys whose numbers may differ from row to row without a pass of their own.
VARIED = (
    *SIZES,
    "work.tokens",
    "work.chip_hours",
    "system.power_per_chip",
    "system.node_overhead",
    "site.pue",
    "site.wue_withdrawn",
    "site.wue_consumed",
    "site.grid_water",
    "site.intensity",
    "prices.chip_hour",
)
#: Layout as it was chosen: column -> field of the layouts.
LAYOUT = {
    "tensor_parallel": "tensor_parallel_size",
    "pipeline_parallel": "pipeline_parallel_size",
    "virtual_stages": "virtual_stages",
    "data_parallel": "data_parallel_size",
    "context_parallel": "context_parallel_size",
    "expert_parallel": "expert_parallel_size",
    "micro_batch": "micro_batch_size",
    "global_batch": "global_batch_size",
}

Varied = Mapping[str, Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Figures by name as columns of the rows that can run; ``rows`` says which, ``reasons`` why the others cannot."""

    rows: Rows
    figures: dict[str, Column]
    layout: dict[str, Numbers]
    reasons: dict[int, str]
    not_told: dict[str, str]


def chain(scenario: Scenario, varied: Varied, folder: Path = Path(), groups: NDArray[np.intp] | None = None) -> Chain:
    r"""Return what many rows of one scenario take.

    Parameters
    ----------
    scenario : Scenario
        What all rows have in common, with the numbers of the first row.
    varied : mapping of str to array, shape (n,)
        Key of :data:`VARIED` -> number of each row, in the unit of its field.
    folder : Path
        Where the files lie that the scenario names.
    groups : array of int, shape (n,), optional
        Rows of one number have equal sizes, so that the cost engine answers them once.

    Returns
    -------
    Chain

    Raises
    ------
    EnergyError
        What no row can be: one line.

    Examples
    --------
    >>> from energy.scenario.specification import parse_scenario
    >>> text = "work: {model: Llama 3.1 8B, tokens: 1e12}\nsystem: {chip: H100 SXM, chips: 64}"
    >>> found = chain(parse_scenario(text), {"system.chips": np.array([64.0, 128.0])})
    >>> bool(found.figures["training_time"].value[0] > found.figures["training_time"].value[1])
    True

    """
    n = len(next(iter(varied.values())))
    request = request_of(scenario)
    figures: dict[str, Column] = {}
    is_given = scenario.work.chip_hours is not None and scenario.system.power_per_chip_w is not None
    if is_given:
        rows, known, layout, in_step, reasons = _Engine(np.arange(n), {}, {}, np.ones(n), {})
    else:
        sizes = {field: varied[key] for key, field in SIZES.items() if key in varied}
        rows, known, layout, in_step, reasons = _engine_rows(scenario, request, sizes, n, groups)
    figures |= known  # a copy: what is kept stays as it is
    mine = {key: values[rows] for key, values in varied.items()}
    if not len(rows):
        return Chain(rows, {}, {}, reasons, {})
    if not is_given:
        _add_time(figures, request, scenario, mine, in_step)
    _add_given(figures, scenario, request, mine)
    not_told: dict[str, str] = {}
    if "chip_hours" in figures:
        _add_whole(figures, scenario, request, mine, folder, not_told)
    return Chain(rows, figures, layout, reasons, not_told)


class _Engine(NamedTuple):
    """What the cost engine and the power model say of rows."""

    rows: Rows
    figures: dict[str, Column]
    layout: dict[str, Numbers]
    tokens_per_step: Numbers
    reasons: dict[int, str]


#: Answers of the engine that are kept for the next template or the next move of a slider, the oldest first.
_KEPT: OrderedDict[tuple[object, ...], _Engine] = OrderedDict()
_MOST_KEPT = 8
_NOT_OF_THE_ENGINE = {"tokens", "chip_hours", "power_per_chip_w", "node_overhead", "cooling"}


def _engine_rows(
    scenario: Scenario, request: Request, sizes: Varied, n: int, groups: NDArray[np.intp] | None
) -> _Engine:
    """Return the engine's answer of each row: rows of a group are answered once."""
    if not sizes:
        groups = np.zeros(n, dtype=np.intp)
    if groups is None:
        return _engine(scenario, request, sizes, n)
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    if len(first) == n:
        return _engine(scenario, request, sizes, n)
    found = _engine(scenario, request, {name: values[first] for name, values in sizes.items()}, len(first))
    place = np.full(len(first), -1, dtype=np.intp)
    place[found.rows] = np.arange(len(found.rows))
    at = place[group.ravel()]
    rows = np.flatnonzero(at >= 0)
    where = at[rows]
    reasons = {row: found.reasons[int(group.ravel()[row])] for row in np.flatnonzero(at < 0).tolist()}
    return _Engine(
        rows,
        {name: column[where] for name, column in found.figures.items()},
        {name: values[where] for name, values in found.layout.items()},
        found.tokens_per_step[where],
        reasons,
    )


def _engine(scenario: Scenario, request: Request, sizes: Varied, n: int) -> _Engine:
    parts = (
        scenario.work.model_dump_json(exclude=_NOT_OF_THE_ENGINE),
        scenario.system.model_dump_json(exclude=_NOT_OF_THE_ENGINE),
        scenario.software.model_dump_json(),
    )
    key = (*parts, scenario.dates.year, *((name, values.tobytes()) for name, values in sizes.items()))
    if key in _KEPT:
        _KEPT.move_to_end(key)
        return _KEPT[key]
    found = answers(request, sizes or {"chips": np.full(n, request.chips)})
    layout = {name: getattr(found.layouts, field) for name, field in LAYOUT.items()}
    figures = _of_the_engine(found, request, sizes) if len(found.rows) else {}
    made = _Engine(found.rows, figures, layout, found.layouts.tokens_per_step, found.reasons)
    if scenario.work.config is None:  # a file may be written anew
        _KEPT[key] = made
    while len(_KEPT) > _MOST_KEPT:
        _KEPT.popitem(last=False)
    return made


def _of(varied: Varied, key: str, common: float | None, count: int) -> Numbers:
    """Return the number of each row: its own, or the one of all."""
    return varied[key] if key in varied else np.full(count, np.nan if common is None else common)


def _of_the_engine(found: Answers, request: Request, sizes: Varied) -> dict[str, Column]:
    """Return rates, memory and watts of the cost engine and the power model."""
    figures: dict[str, Column] = {}
    chips = sizes["chips"][found.rows] if "chips" in sizes else np.full(len(found.rows), request.chips)
    step = figures["step_time"] = Column(found.step_s, "s", found.step_ends_s)
    in_step = found.layouts.tokens_per_step
    figures["throughput"] = step.over(in_step, "token/s")
    figures["throughput_per_chip"] = step.over(in_step / chips, "token/s")
    for kind, used in (("model", found.model_flop_utilisation), ("hardware", found.hardware_flop_utilisation)):
        figures[f"{kind}_flop_utilisation"] = step.over(used * found.step_s * 100.0, "%")
    by_model = found.model_flop_utilisation * found.step_s * found.peak_flop_per_s / 1e12
    figures["model_flop_rate_per_chip"] = step.over(by_model, "TFLOP/s")
    figures["memory_per_chip"] = Column(found.memory_bytes, "byte", found.memory_ends_bytes).times(2.0**-30, "GiB")
    watts = profile_power(
        request.chip,
        found.profile,
        request.precision,
        power_limit_w=request.power_limit_w,
        clock=clock_of(request),
    )
    ends = (watts.power_chip_low80_w, watts.power_chip_high80_w, watts.power_chip_low_w, watts.power_chip_high_w)
    figures["power_per_chip"] = Column(watts.power_chip_w, "W_chip/chip", ends)
    return figures


def _add_time(figures: dict[str, Column], request: Request, scenario: Scenario, mine: Varied, in_step: Numbers) -> None:
    """Add the time of whole runs, where their tokens are told."""
    if scenario.work.tokens is None:
        return
    chips = _of(mine, "system.chips", request.chips, len(in_step))
    steps = _of(mine, "work.tokens", scenario.work.tokens, len(in_step)) / in_step
    figures["training_time"] = figures["step_time"].times(steps / 86400.0, "day")
    figures["chip_hours"] = figures["step_time"].times(steps * chips / 3600.0, "h")


def _add_given(figures: dict[str, Column], scenario: Scenario, request: Request, mine: Varied) -> None:
    """Put chip-hours and watts that are given in place of the modelled ones."""
    count = len(next(iter(mine.values())))
    if scenario.work.chip_hours is not None:
        hours = _of(mine, "work.chip_hours", scenario.work.chip_hours, count)
        chips = _of(mine, "system.chips", request.chips, count)
        figures["training_time"] = Column.exact(hours / chips / 24.0, "day")
        figures["chip_hours"] = Column.exact(hours, "h")
    if scenario.system.power_per_chip_w is not None:
        watts = _of(mine, "system.power_per_chip", scenario.system.power_per_chip_w, count)
        figures["power_per_chip"] = Column.exact(watts, "W_chip/chip")
    if "throughput_per_chip" in figures:
        by_token = figures["throughput_per_chip"].over(1.0, "s/token")
        figures["energy_chips_per_token"] = by_token.joined(figures["power_per_chip"], 1.0, "J_chip/token")


def _add_whole(
    figures: dict[str, Column],
    scenario: Scenario,
    request: Request,
    mine: Varied,
    folder: Path,
    not_told: dict[str, str],
) -> None:
    """Add energy, site and money of whole runs."""
    hours, watts = figures["chip_hours"], figures["power_per_chip"]
    count = len(hours.value)
    chips = _of(mine, "system.chips", request.chips, count)
    elapsed = elapsed_of(scenario, request, float(hours.value[0] / chips[0]))
    factor = np.ones(count)
    if elapsed.interruptions is not None:
        useful = hours.value / chips
        factor = with_interruptions(useful, chips, elapsed.interruptions)[0] / useful
        figures["elapsed_time"] = figures["training_time"].times(factor, "day")
    energy = figures["energy_chips"] = hours.joined(watts, factor / 1000.0, "kWh_chip")
    site = scenario.site
    is_placed = site != Site() or scenario.supply is not None
    overhead = _overhead(scenario, request, mine, watts.value)
    if overhead is not None and (is_placed or scenario.system.node_overhead is not None):
        figures["node_overhead"] = overhead
        figures["energy_it"] = energy.joined(overhead, 1.0, "kWh_it")
        if is_placed:
            elapsed_h = hours.value / chips * factor
            figures |= site_columns(scenario, mine, figures["energy_it"], elapsed_h, folder)
    elif is_placed:
        not_told["energy_it"] = "the node overhead (system.node_overhead, a number or modelled) is not given"
    if scenario.prices != Prices():
        _add_cost(figures, scenario, request, mine, factor, elapsed, not_told)


def _overhead(scenario: Scenario, request: Request, mine: Varied, power_chip_w: Numbers) -> Column | None:
    """Return the node overhead of each row: given, modelled from its watts, 1 at a plug; None: not said."""
    said = overhead_given(scenario)
    if said is None:
        return None
    if isinstance(said, str):
        chips = _of(mine, "system.chips", request.chips, len(power_chip_w))
        usual = usual_node(request.chip).chip_count
        in_node = np.full(len(chips), request.chips_per_node) if request.chips_per_node else np.minimum(usual, chips)
        value, low, high = np.empty((3, len(chips)))
        for count in np.unique(in_node).astype(int).tolist():  # a row with fewer chips than a node is a smaller node
            some = np.flatnonzero(in_node == count)
            parts = board_parts(request.chip, count, cooling=scenario.system.cooling)
            (value[some], _, _, low[some], high[some]), _ = node_overheads(parts, power_chip_w[some])
        return Column.banded(value, low, high, "kWh_it/kWh_chip")
    if is_at_plug(scenario.system.chip):
        return Column.exact(np.ones(len(power_chip_w)), "kWh_it/kWh_chip")
    return Column.exact(_of(mine, "system.node_overhead", said, len(power_chip_w)), "kWh_it/kWh_chip")


def _figure(column: Column) -> Figure:
    """Return the first row as a single figure."""
    ends = (None,) * 4 if column.ends is None else tuple(float(one[0]) for one in column.ends)
    return Figure.with_ends(float(column.value[0]), column.unit, ends, "estimate", ())


def _add_cost(
    figures: dict[str, Column],
    scenario: Scenario,
    request: Request,
    mine: Varied,
    factor: Numbers,
    elapsed: Elapsed,
    not_told: dict[str, str],
) -> None:
    """Add money: prices of a chip-hour and of a kWh are those of the first row, since they are the same for all."""
    firsts = {name: _figure(one) for name, one in figures.items()}
    common = replace(request, chips=float(_of(mine, "system.chips", request.chips, 1)[0]))
    money = money_of(scenario, common, firsts, replace(elapsed, factor=float(factor[0])))
    if money.cost.value is None:
        not_told["cost"] = money.cost.reason or "not known"
        return
    hours = figures["chip_hours"].times(factor, "h")
    if money.kind != "owned":
        usd = money.cost.value / hours.value[0]
        if "prices.chip_hour" in mine and scenario.prices.chip_hour_usd is not None:
            usd = usd * mine["prices.chip_hour"] / scenario.prices.chip_hour_usd
        figures["cost"] = hours.times(usd, "USD")
        return
    watts, facility = figures["power_per_chip"], figures["energy_facility"].value
    hardware = money.parts_usd["hardware"] / hours.value[0] * hours.value
    electricity = money.parts_usd["electricity"] / facility[0] * facility
    cost = hardware + electricity
    shared = hours.joined(watts, 1.0 / watts.value, "h", share=electricity / cost)
    figures["cost"] = shared.times(cost / shared.value, "USD")
